//! Partitions with patterns: who is in which part of the domain.

use crate::support::{PATIENCE, World};
use crate::{Pose, pose};
use dds_core::qos::{Preset, PublisherQos, SubscriberQos};

#[test]
fn patterns_choose_among_partitions() {
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
