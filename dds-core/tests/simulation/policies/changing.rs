//! Changes every mutable policy (DDS 1.4, 2.2.3, column "changeable") while endpoints are matched. Peers receive the
//! new value. Endpoints whose match depends on it unmatch and match again.

use super::Pose;
use crate::robot_and_station::RobotAndStation;
use dds_core::builtin::{BuiltinTopic, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData};
use dds_core::qos::{
    DataReaderQos, DataWriterQos, EntityFactory, PublisherQos, ReaderDataLifecycle, SubscriberQos, WriterDataLifecycle,
};
use dds_core::{DataReader, Duration};

const SECOND: Duration = Duration::from_secs(1);

/// The newest announcement of an endpoint.
fn last<T: dds_core::cdr::DecodeOwned>(reader: &DataReader<T>) -> Option<T> {
    reader.take().unwrap().into_data().last()
}

#[test]
fn changed_writer_policies_are_announced() {
    type Change = (&'static str, fn(DataWriterQos) -> DataWriterQos);
    let changes: [Change; 7] = [
        ("USER_DATA", |qos| qos.user_data([7])),
        ("DEADLINE", |qos| qos.deadline(SECOND)),
        ("LATENCY_BUDGET", |qos| qos.latency_budget(SECOND)),
        ("OWNERSHIP_STRENGTH", |qos| qos.ownership_strength(7)),
        ("TRANSPORT_PRIORITY", |qos| qos.transport_priority(7)),
        ("LIFESPAN", |qos| qos.lifespan(SECOND)),
        ("all at once", |qos| qos.user_data([8]).deadline(Duration::from_secs(2)).ownership_strength(8)),
    ];
    let world = RobotAndStation::new(21);
    let announced = world.station.reader(&BuiltinTopic::PUBLICATION).unwrap();
    // Both budgets must stay compatible in all changes.
    let request = DataReaderQos::default().latency_budget(Duration::from_secs(9));
    let _reader = world.station.reader_builder::<Pose>("pose").qos(request).build().unwrap();
    let writer = world.robot.writer::<Pose>("pose").unwrap();
    world.run(2000);
    assert_eq!(last(&announced).map(|data: PublicationBuiltinTopicData| data.qos.user_data), Some(vec![]));
    for (name, change) in changes {
        let expected = change(writer.qos());
        // Every change adds to the ones before.
        writer.set_qos(expected.clone()).unwrap();
        world.run(2000);
        let data = last(&announced).unwrap();
        assert_eq!(data.key, writer.guid());
        let told = (&data.qos.user_data, data.qos.deadline, data.qos.latency_budget, data.qos.lifespan);
        assert_eq!(
            told,
            (&expected.user_data, expected.deadline, expected.latency_budget, expected.lifespan),
            "{name}"
        );
        let told = (data.qos.ownership_strength, data.qos.transport_priority);
        assert_eq!(told, (expected.ownership_strength, expected.transport_priority), "{name}");
        // None of these changes may end the match.
        assert_eq!(writer.publication_matched().current_count, 1, "{name}");
    }
    // This policy concerns only the writer.
    let kept = WriterDataLifecycle::KEEP;
    writer.set_qos(writer.qos().writer_data_lifecycle(kept)).unwrap();
    assert!(!writer.qos().writer_data_lifecycle.autodispose_unregistered_instances);
}

#[test]
fn changed_reader_policies_are_announced() {
    type Change = (&'static str, fn(DataReaderQos) -> DataReaderQos);
    let changes: [Change; 4] = [
        ("USER_DATA", |qos| qos.user_data([7])),
        ("DEADLINE", |qos| qos.deadline(Duration::from_secs(3))),
        ("LATENCY_BUDGET", |qos| qos.latency_budget(SECOND)),
        ("TIME_BASED_FILTER", |qos| qos.time_based_filter(SECOND)),
    ];
    let world = RobotAndStation::new(21);
    let announced = world.station.reader(&BuiltinTopic::SUBSCRIPTION).unwrap();
    let offer = DataWriterQos::default().deadline(SECOND);
    let _writer = world.station.writer_builder::<Pose>("pose").qos(offer).build().unwrap();
    let reader = world.robot.reader::<Pose>("pose").unwrap();
    world.run(2000);
    assert!(last(&announced).is_some());
    for (name, change) in changes {
        let expected = change(reader.qos());
        reader.set_qos(expected.clone()).unwrap();
        world.run(2000);
        let data: SubscriptionBuiltinTopicData = last(&announced).unwrap();
        assert_eq!(data.key, reader.guid());
        let told = (&data.qos.user_data, data.qos.deadline, data.qos.latency_budget, data.qos.time_based_filter);
        let own = (&expected.user_data, expected.deadline, expected.latency_budget, expected.time_based_filter);
        assert_eq!(told, own, "{name}");
        assert_eq!(reader.subscription_matched().current_count, 1, "{name}");
    }
    let purges = ReaderDataLifecycle::default().autopurge_disposed_samples_delay(SECOND);
    reader.set_qos(reader.qos().reader_data_lifecycle(purges)).unwrap();
    assert_eq!(reader.qos().reader_data_lifecycle, purges);
}

#[test]
fn changed_group_policies_are_announced() {
    let world = RobotAndStation::new(21);
    let (writers, readers) = (
        world.station.reader(&BuiltinTopic::PUBLICATION).unwrap(),
        world.station.reader(&BuiltinTopic::SUBSCRIPTION).unwrap(),
    );
    let publisher = world.robot.publisher(PublisherQos::default()).unwrap();
    let subscriber = world.robot.subscriber(SubscriberQos::default()).unwrap();
    let _writer = publisher.writer::<Pose>("pose").unwrap();
    let _reader = subscriber.reader::<Pose>("pose").unwrap();
    world.run(2000);
    publisher.set_qos(PublisherQos::default().partition(["a"]).group_data([1])).unwrap();
    subscriber.set_qos(SubscriberQos::default().partition(["b"]).group_data([2])).unwrap();
    world.run(2000);
    let (writer, reader) = (last(&writers).unwrap(), last(&readers).unwrap());
    assert_eq!((&writer.partition[..], &writer.group_data[..]), (&["a".to_owned()][..], &[1][..]));
    assert_eq!((&reader.partition[..], &reader.group_data[..]), (&["b".to_owned()][..], &[2][..]));
    // This policy affects only endpoints that are created later.
    let by_hand = EntityFactory::MANUAL;
    publisher.set_qos(publisher.qos().entity_factory(by_hand)).unwrap();
    assert!(!publisher.writer::<Pose>("other").unwrap().is_enabled());
}

/// DEADLINE, LATENCY_BUDGET and PARTITION affect matching and may change.
///
/// Both sides count each end and each begin of a match.
#[test]
fn qos_change_unmatches_and_rematches() {
    let world = RobotAndStation::new(21);
    let publisher = world.robot.publisher(PublisherQos::default()).unwrap();
    let writer = publisher.writer::<Pose>("pose").unwrap();
    let reader = world.station.reader::<Pose>("pose").unwrap();
    world.run(2000);
    let counts = || {
        let (writer, reader) = (writer.publication_matched(), reader.subscription_matched());
        assert_eq!((writer.total_count, writer.current_count), (reader.total_count, reader.current_count));
        (writer.total_count, writer.current_count)
    };
    assert_eq!(counts(), (1, 1));
    let incompatible = || {
        let (offered, requested) = (writer.offered_incompatible_qos(), reader.requested_incompatible_qos());
        assert_eq!(offered.policies, requested.policies);
        offered.policies.iter().map(|(policy, count)| (policy.name(), *count)).collect::<Vec<_>>()
    };
    let expect = |expected: (u32, u32)| {
        world.run(2000);
        assert_eq!(counts(), expected);
    };
    // The reader requests a deadline that the writer does not offer.
    reader.set_qos(reader.qos().deadline(SECOND)).unwrap();
    expect((1, 0));
    writer.set_qos(writer.qos().deadline(SECOND)).unwrap();
    expect((2, 1));
    // The writer's budget is now longer than the requested one.
    writer.set_qos(writer.qos().latency_budget(SECOND)).unwrap();
    expect((2, 0));
    assert_eq!(incompatible(), [("DEADLINE", 1), ("LATENCY_BUDGET", 1)]);
    reader.set_qos(reader.qos().latency_budget(SECOND)).unwrap();
    expect((3, 1));
    // Different partitions prevent a match without an incompatible policy.
    publisher.set_qos(PublisherQos::default().partition(["elsewhere"])).unwrap();
    expect((3, 0));
    publisher.set_qos(PublisherQos::default().partition([""])).unwrap();
    expect((4, 1));
    assert_eq!(incompatible(), [("DEADLINE", 1), ("LATENCY_BUDGET", 1)], "partitions are no conflict");
}
