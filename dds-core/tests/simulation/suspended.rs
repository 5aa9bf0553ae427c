//! A process that is suspended for longer than every lease loses no living peer permanently.

use crate::simulated::World;
use dds_core::qos::{DataReaderQos, DataWriterQos, Liveliness, LivelinessKind};
use dds_core::{DdsType, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    x: u32,
}

#[test]
fn suspended_time_expires_no_lease() {
    let world = World::new(1);
    let ((robot, robot_host), (station, station_host)) = (world.participant(), world.participant());
    let liveliness = |kind| Liveliness::new(kind, Duration::from_secs(1));
    let writer = |kind| {
        let qos = DataWriterQos::default().reliable().liveliness(liveliness(kind));
        robot.writer_builder::<Pose>("poses").qos(qos).build().unwrap()
    };
    let (automatic, manual) = (writer(LivelinessKind::Automatic), writer(LivelinessKind::ManualByTopic));
    let reader = station.reader_builder::<Pose>("poses").qos(DataReaderQos::default().reliable()).build().unwrap();
    assert!(world.pass_until(Duration::from_secs(5), || reader.liveliness_changed().alive_count == 2));
    manual.assert_liveliness().unwrap();
    // No datagram is in flight, because a late one must not keep the peers alive.
    world.settle();
    // For a minute no thread runs anywhere. The participants' leases are 20 s.
    let minute = Duration::from_secs(60);
    [&robot_host, &station_host].into_iter().for_each(|node| node.freeze_for(minute));
    world.pass(minute + Duration::from_millis(500));
    let status = reader.liveliness_changed();
    assert_eq!((status.alive_count, status.not_alive_count), (2, 0));
    assert_eq!(reader.subscription_matched().total_count, 2);
    assert_eq!(automatic.publication_matched().total_count, 1);
    // The writer broke its promise, regardless of the cause.
    assert_eq!(automatic.liveliness_lost().total_count, 1);
    assert_eq!(manual.liveliness_lost().total_count, 1);
    // From then on time counts again.
    world.pass(Duration::from_secs(2));
    let status = reader.liveliness_changed();
    assert_eq!((status.alive_count, status.not_alive_count), (1, 1));
}
