//! Reports that name each obstacle to a match before and after its repair, and counters of undelivered samples.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::DataWriter;
use dds_core::matching::Obstacle;
use dds_core::qos::{DataReaderQos, DataWriterQos, PolicyId, Preset};

#[test]
fn reported_obstacle_disappears_after_repair() {
    let world = World::new();
    let (robot, station) = (world.builder().name("robot").build().unwrap(), world.participant());
    let writer = robot.writer_builder::<Pose>("pose").qos(Preset::SensorData).build().unwrap();
    let strict = station.reader_builder::<Pose>("pose").qos(Preset::Command).build().unwrap();
    let status = strict.status_condition();
    let waits = dds_core::condition::WaitSet::new(&station);
    waits.attach(&status);
    waits.wait().block_for(PATIENCE).unwrap();
    let reports = station.explain("pose");
    let obstacles = &reports[0].obstacles;
    assert!(matches!(obstacles[..], [Obstacle::Qos { policy: PolicyId::Reliability, .. }]), "{obstacles:?}");
    let text = reports[0].to_string();
    assert!(text.contains("\"robot\"") && text.contains("RELIABILITY") && text.contains("offer more"), "{text}");

    drop(strict);
    let fitting = station.reader_builder::<Pose>("pose").qos(Preset::SensorData).build().unwrap();
    fitting.wait_for_writers(1).block_for(PATIENCE).unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert!(station.explain("pose").iter().all(|report| report.is_match()));
    writer.write(&pose(1, 1.0)).unwrap();
    assert_eq!(fitting.next_sample().block_for(PATIENCE).unwrap().data, Some(pose(1, 1.0)));
}

fn drive(writer: &DataWriter<Pose>, way: std::ops::Range<u32>) {
    way.for_each(|x| writer.write(&pose(1, f64::from(x))).unwrap());
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

#[test]
fn each_sample_is_delivered_or_counted() {
    let world = World::new();
    let (robot, station) = (world.participant(), world.participant());
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = robot.writer_builder::<Pose>("pose").qos(qos).build().unwrap();
    let reader = station.reader_builder("pose").qos(DataReaderQos::default().reliable().keep_last(2)).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    assert!(reader.explain_matches().iter().all(|report| report.is_match()));

    drive(&writer, 0..5);
    let positions: Vec<f64> = reader.take().unwrap().into_data().map(|pose: Pose| pose.x).collect();
    assert_eq!(positions, [3.0, 4.0]);
    let first = reader.losses();
    let [row] = first.writers[..] else { panic!("{first}") };
    assert_eq!((row.writer, row.known, row.received), (Some(writer.guid()), 5, 5));
    assert_eq!((row.delivered(), row.undelivered.overwritten_unread, row.lost()), (2, 3, 0));
    assert!(first.to_string().contains("replaced by newer ones"), "{first}");

    drive(&writer, 5..7);
    assert_eq!(reader.take().unwrap().len(), 2);
    let lately = reader.losses().since(&first).total();
    assert_eq!((lately.known, lately.delivered(), lately.undelivered.total()), (2, 2, 0));
    assert_eq!(reader.sample_lost().total_count, 0);
}
