//! Topics as objects, as constants and without a type.

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Encoded, Encoding, Raw};
use dds_core::condition::WaitSet;
use dds_core::error::DecodeErrorKind;
use dds_core::error::{CreateErrorKind, ReturnCode, WriteErrorKind};
use dds_core::qos::{DataRepresentation, DataWriterQos, History, Preset, PublisherQos, SubscriberQos, TopicQos};
use dds_core::status::StatusMask;
use dds_core::{DdsType, InstanceHandle, InstanceState, TopicSpec};
use dds_rtps::cdr::encode_payload;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    name: String,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Text {
    line: String,
}

const TEXT: TopicSpec<Text> = TopicSpec::new("text", Preset::Command);

fn text(line: &str) -> Text {
    Text { line: line.to_owned() }
}

#[test]
fn topic_spec_gives_name_type_and_qos() {
    let participant = World::new().participant();
    let (writer, reader) = (participant.writer(&TEXT).unwrap(), participant.reader(&TEXT).unwrap());
    assert_eq!((writer.topic_name(), writer.type_name()), ("text", "Text"));
    assert_eq!(writer.qos(), Preset::Command.writer());
    assert_eq!(reader.qos(), Preset::Command.reader());
    let deeper = participant.reader_builder(&TEXT).qos(Preset::Command.reader().keep_last(20)).build().unwrap();
    assert_eq!(deeper.qos().history, History::KeepLast { depth: 20 });
}

#[test]
fn topic_keeps_its_type_without_endpoints() {
    let participant = World::new().participant();
    let topic = participant.topic::<Text>("t", TopicQos::default()).unwrap();
    let error = participant.writer::<Pose>("t").unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::TypeConflict { .. }), "{error}");
    let error = participant.raw_topic("t", "Pose", TopicQos::default()).unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::TypeConflict { .. }), "{error}");
    drop(topic);
    participant.writer::<Pose>("t").unwrap();
}

#[test]
fn impossible_topics_are_refused() {
    let participant = World::new().participant();
    let error = participant.raw_topic("t", "", TopicQos::default()).unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::InvalidTypeName);
    let qos = TopicQos::default().keep_last(0);
    let error = participant.topic::<Text>("t", qos).unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::InconsistentQos(_)), "{error}");
}

#[test]
fn samples_pass_raw_bridge_unchanged() {
    for bridge_by_udp in [false, true] {
        let world = World::new();
        let ends = world.participant();
        let bridge = if bridge_by_udp { world.udp_participant() } else { ends.clone() };
        let from = bridge.raw_topic("from", "Pose", TopicQos::default()).unwrap();
        let to = bridge.raw_topic("to", "Pose", TopicQos::default()).unwrap();
        let inlet = bridge.reader_builder(&from).qos(Preset::Event).build().unwrap();
        let outlet = bridge.writer_builder(&to).qos(Preset::Event).build().unwrap();
        let reader = ends.reader_builder::<Pose>("to").qos(Preset::Event).build().unwrap();
        let writer = ends.writer_builder::<Pose>("from").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        outlet.wait_for_readers(1).block_for(PATIENCE).unwrap();
        for robot in 0..10 {
            let pose = Pose { robot, name: format!("robot {robot}") };
            writer.write(&pose).unwrap();
            let raw: Raw = inlet.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
            outlet.write_encoded(raw.as_encoded()).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.data.as_ref(), Some(&pose));
            assert_ne!(sample.info.instance_handle, InstanceHandle::NIL);
        }
    }
}

#[test]
fn encoded_sample_joins_instance_of_its_key() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
    let pose = Pose { robot: 7, name: "a".to_owned() };
    let mut bytes = Vec::new();
    encode_payload(&pose, Encoding::Xcdr1, &mut bytes).unwrap();
    writer.write(&pose).unwrap();
    writer.write_encoded(Encoded::new(&bytes).unwrap()).unwrap();
    writer.dispose(&7).unwrap();
    let samples = reader.take().unwrap();
    let mut handles: Vec<_> = samples.iter().map(|sample| sample.info().instance_handle).collect();
    assert_eq!(handles.len(), 2);
    handles.dedup();
    assert_eq!(handles.len(), 1);
    let ended = samples.iter().all(|sample| sample.info().instance_state == InstanceState::NotAliveDisposed);
    assert!(ended, "{samples:?}");
}

#[test]
fn encoded_samples_are_validated() {
    let participant = World::new().participant();
    let writer = participant.writer::<Pose>("t").unwrap();
    let refused = |bytes: &[u8]| {
        let sample = Encoded { encoding: Encoding::Xcdr1, bytes };
        writer.write_encoded(sample).unwrap_err().kind().clone()
    };
    let kind_of = |bytes: &[u8]| match refused(bytes) {
        WriteErrorKind::NotASample(error) => error.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind_of(&[]), DecodeErrorKind::Truncated);
    assert_eq!(kind_of(&[0, 1, 0]), DecodeErrorKind::Truncated);
    assert_eq!(kind_of(&[0, 1, 0, 0, 7, 0]), DecodeErrorKind::Truncated);
    assert_eq!(kind_of(&[0, 3, 0, 0, 7, 0, 0, 0]), DecodeErrorKind::Framing { identifier: 3 });
    assert_eq!(kind_of(&[9, 9, 0, 0]), DecodeErrorKind::Representation { identifier: 0x0909 });
    let other = WriteErrorKind::OtherEncoding { offered: Encoding::Xcdr1, given: Encoding::Xcdr2 };
    assert_eq!(refused(&[0, 7, 0, 0, 7, 0, 0, 0]), other);
}

#[test]
fn raw_writer_uses_encoding_of_its_qos() {
    let participant = World::new().participant();
    let topic = participant.raw_topic("t", "Text", TopicQos::default()).unwrap();
    let qos = DataWriterQos::default().representation([DataRepresentation::Xcdr2]);
    let writer = participant.writer_builder(&topic).qos(qos).build().unwrap();
    let reader = participant.reader::<Text>("t").unwrap();
    let mut bytes = Vec::new();
    encode_payload(&text("second version"), Encoding::Xcdr2, &mut bytes).unwrap();
    writer.write_encoded(Encoded::new(&bytes).unwrap()).unwrap();
    assert_eq!(reader.take_next().unwrap().unwrap().data, Some(text("second version")));
}

#[test]
fn endpoints_return_their_topic_object() {
    let participant = World::new().participant();
    let topic = participant.topic::<Pose>("pose", TopicQos::default().topic_data(*b"octets")).unwrap();
    let (writer, reader) = (participant.writer(&topic).unwrap(), participant.reader(&topic).unwrap());
    for known in [writer.topic().unwrap(), reader.topic().unwrap()] {
        assert_eq!((known.name(), known.qos()), (topic.name(), topic.qos()));
    }
    assert!(participant.writer::<Pose>("pose").unwrap().topic().is_none());
    assert!(participant.reader::<Pose>("pose").unwrap().topic().is_none());
}

#[test]
fn topic_is_an_entity() {
    let world = World::new();
    let (one, other) = (world.participant(), world.participant());
    let topic = one.topic::<Text>("entity", TopicQos::default()).unwrap();
    let writer = one.writer(&topic).unwrap();
    assert!(one.contains_entity(topic.instance_handle()) && !other.contains_entity(topic.instance_handle()));
    assert!(topic.is_enabled() && topic.status_changes() == StatusMask::NONE);

    // Its status, by its condition.
    let conflict = other.raw_topic("entity", "Other", TopicQos::default()).unwrap();
    let reader = other.reader(&conflict).unwrap();
    let set = WaitSet::new(&one);
    let condition = topic.status_condition();
    set.attach(&condition);
    set.wait().block_for(PATIENCE).unwrap();
    assert_eq!(topic.status_changes(), StatusMask::INCONSISTENT_TOPIC);
    assert_eq!(topic.inconsistent_topic().total_count, 1);
    assert_eq!(topic.status_changes(), StatusMask::NONE, "it was read");
    drop(reader);

    // A closed topic keeps nothing alive, but endpoints created from it live on.
    topic.close();
    topic.closed().block_for(PATIENCE).unwrap();
    assert!(topic.is_closed() && !one.contains_entity(topic.instance_handle()));
    let error = one.reader(&topic).unwrap_err();
    assert_eq!((error.kind(), error.return_code()), (&CreateErrorKind::Closed, ReturnCode::AlreadyDeleted), "{error}");
    assert!(matches!(topic.enable().unwrap_err().kind(), CreateErrorKind::Closed));
    writer.write(&text("a")).unwrap();
    drop(writer);
    one.raw_topic("entity", "Other", TopicQos::default()).unwrap();
    let contained = one.topic::<Text>("contained", TopicQos::default()).unwrap();
    one.close_contained();
    assert!(contained.is_closed());
}

#[test]
fn weak_handles_keep_nothing_alive() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let topic = participant.topic::<Text>("weak", TopicQos::default()).unwrap();
    let (writer, reader) = (publisher.writer(&topic).unwrap(), subscriber.reader(&topic).unwrap());
    let weak = (topic.downgrade(), publisher.downgrade(), subscriber.downgrade());
    let endpoints = (writer.downgrade(), reader.downgrade());
    drop((topic, publisher, subscriber));
    assert!(
        weak.0.upgrade().is_some() && weak.1.upgrade().is_some() && weak.2.upgrade().is_some(),
        "endpoints hold them"
    );
    endpoints.0.upgrade().unwrap().write(&text("b")).unwrap();
    assert_eq!(endpoints.1.upgrade().unwrap().take_next().unwrap().unwrap().data, Some(text("b")));
    drop((writer, reader));
    assert!(endpoints.0.upgrade().is_none() && endpoints.1.upgrade().is_none());
    assert!(weak.0.upgrade().is_none() && weak.1.upgrade().is_none() && weak.2.upgrade().is_none());
    let weak = participant.downgrade();
    drop(participant);
    assert!(weak.upgrade().is_none());
}

#[test]
fn topic_is_looked_up_by_name_and_type() {
    let participant = World::new().participant();
    assert!(participant.lookup_topic::<Text>("looked/up").is_none());
    let reader = participant.reader::<Text>("looked/up").unwrap();
    assert!(participant.lookup_topic::<Text>("looked/up").is_none(), "a name makes no object");
    let topic = participant.topic::<Text>("looked/up", TopicQos::default().topic_data([1])).unwrap();
    let found = participant.lookup_topic::<Text>("looked/up").unwrap();
    assert_eq!((found.guid(), found.qos().topic_data), (topic.guid(), vec![1]));
    assert!(participant.lookup_topic::<Pose>("looked/up").is_none(), "of another type");
    drop((topic, found, reader));
    assert!(participant.lookup_topic::<Text>("looked/up").is_none());
}

#[test]
fn entities_return_their_participant() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let topic = participant.topic::<Text>("mine", TopicQos::default()).unwrap();
    let guid = participant.guid();
    drop(participant);
    for participant in [publisher.participant(), subscriber.participant(), topic.participant()] {
        assert!(participant.guid() == guid && !participant.is_closed());
    }
}
