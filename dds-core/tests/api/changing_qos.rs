//! QoS changes at run time. Permitted changes are announced and matched again; others are refused by name.

use crate::support::{PATIENCE, World};
use dds_core::builtin::BuiltinTopic;
use dds_core::error::QosErrorKind;
use dds_core::error::ReturnCode;
use dds_core::qos::{
    DataReaderQos, DataWriterQos, DomainParticipantQos, PolicyId, Preset, Reliability, TopicQos, WriterDataLifecycle,
};
use dds_core::status::ReaderEvent;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
}

fn on_every_way(body: impl Fn(&DomainParticipant, &DomainParticipant)) {
    let one = World::new().participant();
    body(&one, &one);
    let world = World::new();
    body(&world.udp_participant(), &world.udp_participant());
}

fn next<T: dds_core::cdr::DecodeOwned>(reader: &DataReader<T>) -> T {
    reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap()
}

#[test]
fn endpoints_rematch_when_policies_change() {
    on_every_way(|from, to| {
        let second = Duration::from_secs(1);
        let writer = from.writer::<Pose>("t").unwrap();
        let reader = to.reader_builder::<Pose>("t").qos(DataReaderQos::default().deadline(second)).build().unwrap();
        let events = reader.events();
        let matched = |expected| loop {
            match events.next_event().block_for(PATIENCE).unwrap() {
                ReaderEvent::Matched(status) if status.current_count == expected => return,
                _ => {}
            }
        };
        writer.set_qos(writer.qos().deadline(second)).unwrap();
        matched(1);
        assert_eq!(writer.qos().deadline, second);
        writer.set_qos(writer.qos().deadline(Duration::INFINITE)).unwrap();
        matched(0);
        reader.set_qos(reader.qos().deadline(Duration::INFINITE)).unwrap();
        matched(1);
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer.write(&Pose { robot: 7 }).unwrap();
        assert_eq!(next(&reader), Pose { robot: 7 });
    });
}

#[test]
fn qos_changes_are_announced() {
    let world = World::new();
    let (watcher, robot) = (world.participant(), world.participant());
    let participants = watcher.reader(&BuiltinTopic::PARTICIPANT).unwrap();
    let writers = watcher.reader_builder(&BuiltinTopic::PUBLICATION).qos(Preset::Event).build().unwrap();
    let readers = watcher.reader_builder(&BuiltinTopic::SUBSCRIPTION).qos(Preset::Event).build().unwrap();
    let topic = robot.topic::<Pose>("t", TopicQos::default().topic_data([1])).unwrap();
    let writer = robot.writer(&topic).unwrap();
    let reader = robot.reader(&topic).unwrap();
    assert_eq!(next(&writers).topic_data, [1]);
    assert_eq!(next(&readers).topic_data, [1]);

    writer.set_qos(writer.qos().user_data([2]).ownership_strength(9)).unwrap();
    let found = next(&writers);
    assert_eq!((&found.qos.user_data[..], found.qos.ownership_strength), (&[2][..], 9));
    reader.set_qos(reader.qos().user_data([3])).unwrap();
    assert_eq!(next(&readers).qos.user_data, [3]);

    topic.set_qos(topic.qos().topic_data([4])).unwrap();
    let (writer, reader) = (next(&writers), next(&readers));
    assert_eq!((&writer.topic_data[..], &writer.qos.user_data[..]), (&[4][..], &[2][..]));
    assert_eq!((&reader.topic_data[..], &reader.qos.user_data[..]), (&[4][..], &[3][..]));
    assert_eq!(topic.qos().topic_data, [4]);

    while next(&participants).key != dds_core::Entity::guid(&robot) {}
    robot.set_qos(DomainParticipantQos::default().user_data([5])).unwrap();
    assert_eq!(next(&participants).user_data, [5]);
    assert_eq!(robot.qos().user_data, [5]);
}

#[test]
fn changed_lifespan_applies_to_later_samples() {
    let participant = World::new().participant();
    let writer = participant.writer_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    let reader = participant.reader_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    writer.write(&Pose { robot: 1 }).unwrap();
    writer.set_qos(writer.qos().lifespan(Duration::ZERO)).unwrap();
    writer.write(&Pose { robot: 2 }).unwrap();
    writer.set_qos(writer.qos().lifespan(Duration::INFINITE)).unwrap();
    writer.write(&Pose { robot: 3 }).unwrap();
    let robots: Vec<_> = reader.take().unwrap().into_data().map(|pose| pose.robot).collect();
    assert_eq!(robots, [1, 3]);
}

#[test]
fn unregister_follows_current_qos() {
    let participant = World::new().participant();
    let writer = participant.writer_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    let reader = participant.reader_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    let state_after = |writer: &DataWriter<Pose>| {
        writer.write(&Pose { robot: 1 }).unwrap();
        writer.unregister_instance(&1).unwrap();
        reader.take().unwrap().iter().next().unwrap().info().instance_state
    };
    assert_eq!(state_after(&writer), InstanceState::NotAliveDisposed);
    let keep = WriterDataLifecycle::KEEP;
    writer.set_qos(writer.qos().writer_data_lifecycle(keep)).unwrap();
    assert_eq!(state_after(&writer), InstanceState::NotAliveNoWriters);
}

#[test]
fn immutable_policy_change_is_refused_by_name() {
    let participant = World::new().participant();
    let writer = participant.writer::<Pose>("t").unwrap();
    let reader = participant.reader::<Pose>("t").unwrap();
    let topic = participant.topic::<Pose>("t", TopicQos::default()).unwrap();
    let before: (DataWriterQos, DataReaderQos, TopicQos) = (writer.qos(), reader.qos(), topic.qos());

    let error = writer.set_qos(writer.qos().user_data([1]).keep_all()).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    assert_eq!(error.return_code(), ReturnCode::ImmutablePolicy);
    assert!(error.to_string().starts_with("writer of topic \"t\": HISTORY cannot change"), "{error}");
    let error = reader.set_qos(reader.qos().reliability(Reliability::RELIABLE)).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::Reliability });
    let error = topic.set_qos(topic.qos().transient_local()).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::Durability });
    let error = reader.set_qos(reader.qos().time_based_filter(Duration::from_secs(1)).deadline(Duration::ZERO));
    assert!(matches!(error.unwrap_err().kind(), QosErrorKind::DeadlineBelowFilter { .. }));
    let error = participant.set_qos(DomainParticipantQos::default().user_data(vec![0; 20_000])).unwrap_err();
    assert!(matches!(error.kind(), QosErrorKind::TooLong { policy: PolicyId::UserData, .. }));

    assert_eq!((writer.qos(), reader.qos(), topic.qos()), before);
    assert_eq!(participant.qos(), DomainParticipantQos::default());
}
