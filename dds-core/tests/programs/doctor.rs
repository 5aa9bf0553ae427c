//! Why nothing arrives: reports that name what is in the way, before and after it is repaired.

use crate::support::{PATIENCE, World};
use crate::{Pose, pose};
use dds_core::qos::{PolicyId, Preset};
use dds_core::{Obstacle, Verdict};

#[test]
fn the_obstacle_is_named_and_gone_once_it_is_repaired() {
    let world = World::new();
    let (robot, station) = (world.builder().name("robot").build().unwrap(), world.participant());
    let writer = robot.writer_builder::<Pose>("pose").qos(Preset::SensorData).build().unwrap();
    let strict = station.reader_builder::<Pose>("pose").qos(Preset::Command).build().unwrap();
    let status = strict.status_condition();
    let waits = dds_core::WaitSet::new(&station);
    waits.attach(&status);
    waits.wait().block_for(PATIENCE).unwrap();
    let reports = station.explain("pose");
    let Verdict::NotMatched(obstacles) = &reports[0].verdict else { panic!("{reports:?}") };
    assert!(matches!(obstacles[..], [Obstacle::Qos { policy: PolicyId::Reliability, .. }]), "{obstacles:?}");
    let text = reports[0].to_string();
    assert!(text.contains("\"robot\"") && text.contains("RELIABILITY") && text.contains("offer more"), "{text}");

    drop(strict);
    let fitting = station.reader_builder::<Pose>("pose").qos(Preset::SensorData).build().unwrap();
    fitting.wait_for_writers(1).block_for(PATIENCE).unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert!(station.explain("pose").iter().all(|report| report.verdict == Verdict::Matched));
    writer.write(&pose(1, 1.0)).unwrap();
    assert_eq!(fitting.next_sample().block_for(PATIENCE).unwrap().data, Some(pose(1, 1.0)));
}
