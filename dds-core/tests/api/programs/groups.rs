//! Partitions with patterns, and coherent sets of the writers of a group.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::DataReader;
use dds_core::qos::{AccessScope, Presentation, Preset, PublisherQos, SubscriberQos};
use dds_core::reader::States;

#[test]
fn partition_patterns_choose_partitions() {
    let participant = World::new().participant();
    let robots = [1, 2].map(|robot| {
        let publisher = participant.publisher(PublisherQos::default().partition([format!("robot/{robot}")])).unwrap();
        publisher.writer_builder::<Pose>("pose").qos(Preset::Event).build().unwrap()
    });
    let readers = ["robot/*", "robot/2", "station"].map(|partition| {
        let subscriber = participant.subscriber(SubscriberQos::default().partition([partition])).unwrap();
        subscriber.reader_builder::<Pose>("pose").qos(Preset::Event).build().unwrap()
    });
    robots[1].wait_for_readers(2).block_for(PATIENCE).unwrap();
    for (writer, robot) in robots.iter().zip(1..) {
        writer.write(&pose(robot, 0.0)).unwrap();
    }
    let seen = readers.each_ref().map(|reader| reader.take().unwrap().into_data().map(|p| p.robot).collect::<Vec<_>>());
    assert_eq!(seen, [vec![1, 2], vec![2], vec![]]);
    assert_eq!(readers[0].subscriber().unwrap().qos().partition, ["robot/*"]);
}

#[test]
fn group_coherent_set_is_read_within_access() {
    let world = World::new();
    let (robot, station) = (world.participant(), world.participant());
    let mut together = Presentation::default();
    (together.access_scope, together.coherent_access, together.ordered_access) = (AccessScope::Group, true, true);
    let publisher = robot.publisher(PublisherQos::default().presentation(together).partition(["robot/7"])).unwrap();
    let subscriber =
        station.subscriber(SubscriberQos::default().presentation(together).partition(["robot/*"])).unwrap();
    let topics = ["base", "arm"];
    let writers = topics.map(|topic| publisher.writer_builder::<Pose>(topic).qos(Preset::Event).build().unwrap());
    let readers = topics.map(|topic| subscriber.reader_builder::<Pose>(topic).qos(Preset::Event).build().unwrap());
    writers.iter().for_each(|writer| writer.wait_for_readers(1).block_for(PATIENCE).unwrap());
    readers.iter().for_each(|reader| reader.wait_for_writers(1).block_for(PATIENCE).unwrap());
    let posture = publisher.coherent_changes().unwrap();
    writers[1].write(&pose(7, 1.0)).unwrap();
    writers[0].write(&pose(7, 2.0)).unwrap();
    writers[1].write(&pose(7, 3.0)).unwrap();
    posture.end().unwrap();
    readers.iter().for_each(|reader| reader.readable().block_for(PATIENCE).unwrap());
    let access = subscriber.access().unwrap();
    let seen: Vec<_> = access
        .readers(States::NOT_READ)
        .iter()
        .map(|reader| {
            let reader = reader.downcast_ref::<DataReader<Pose>>().unwrap();
            (reader.topic_name().to_owned(), reader.take_next().unwrap().unwrap().data.unwrap().x)
        })
        .collect();
    assert_eq!(seen, [("arm".to_owned(), 1.0), ("base".to_owned(), 2.0), ("arm".to_owned(), 3.0)]);
}
