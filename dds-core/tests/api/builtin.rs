//! The built-in topics: discovery data as samples.

use crate::support::{PATIENCE, World};
use dds_core::builtin::{BuiltinTopic, ParticipantBuiltinTopicData, SubscriptionBuiltinTopicData, VendorId};
use dds_core::error::{CreateErrorKind, ReturnCode};
use dds_core::qos::{Preset, PublisherQos, TopicQos};
use dds_core::status::ReaderEvent;
use dds_core::{DataReader, DdsType, Guid, InstanceHandle, InstanceState, Sample};
use std::sync::mpsc;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

fn next<T: dds_core::cdr::DecodeOwned>(reader: &DataReader<T>) -> Sample<T> {
    reader.next_sample().block_for(PATIENCE).unwrap()
}

#[test]
fn participants_appear_with_data_and_disappear() {
    let world = World::new();
    let watcher = world.participant();
    let participants = watcher.reader(&BuiltinTopic::PARTICIPANT).unwrap();
    let qos = dds_core::qos::DomainParticipantQos::default().user_data([1, 2, 3]);
    let found = world.builder().name("robot").qos(qos).property("team", "red").build().unwrap();
    let sample = next(&participants);
    let data = sample.data.unwrap();
    assert_eq!((data.key, data.name.as_str(), &data.user_data[..]), (found.guid(), "robot", &[1, 2, 3][..]));
    assert_eq!(data.properties[0], ("team".to_owned(), "red".to_owned()));
    let of_process =
        |name: &str| data.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(of_process("dds.sys_info.process_id"), Some(std::process::id().to_string().as_str()));
    assert!(of_process("dds.sys_info.executable_filepath").is_some_and(|program| program.starts_with("api")));
    assert!(of_process("dds.sys_info.hostname").is_some_and(|host| !host.is_empty()));
    assert_eq!(data.product_version, env!("CARGO_PKG_VERSION"));
    assert!(data.vendor == VendorId::OURS && !data.locators.is_empty() && !data.discovery_locators.is_empty());
    assert_eq!(sample.info.instance_handle, found.instance_handle());
    assert_eq!(participants.key_value(sample.info.instance_handle).unwrap(), found.guid());
    assert_eq!(watcher.discovered_participants(), [data]);
    found.close();
    let gone = next(&participants);
    assert_eq!((gone.info.instance_state, gone.data), (InstanceState::NotAliveDisposed, None));
    assert_eq!(participants.key_value(gone.info.instance_handle).unwrap(), found.guid());
}

#[test]
fn endpoints_are_instances_of_builtin_topics() {
    let world = World::new();
    let (watcher, robot) = (world.participant(), world.participant());
    let writers = watcher.reader_builder(&BuiltinTopic::PUBLICATION).qos(Preset::Event).build().unwrap();
    let readers = watcher.reader_builder(&BuiltinTopic::SUBSCRIPTION).qos(Preset::Event).build().unwrap();
    let topics = watcher.reader_builder(&BuiltinTopic::TOPIC).qos(Preset::Event).build().unwrap();

    let topic = robot.topic::<Pose>("pose", TopicQos::default().topic_data([9])).unwrap();
    let publisher = robot.publisher(PublisherQos::default().partition(["p"]).group_data([7])).unwrap();
    let writer = publisher.writer_builder(&topic).qos(Preset::State.writer().user_data([5])).build().unwrap();
    let data = next(&writers).data.unwrap();
    assert_eq!((data.key, data.participant_key), (writer.guid(), robot.guid()));
    assert_eq!((data.topic_name.as_str(), data.type_name.as_str()), ("pose", "Pose"));
    assert_eq!(data.qos.durability, writer.qos().durability);
    assert_eq!((&data.topic_data[..], &data.group_data[..], &data.qos.user_data[..]), (&[9][..], &[7][..], &[5][..]));
    assert_eq!(data.partition, ["p"]);
    let found = next(&topics).data.unwrap();
    assert_eq!((found.name.as_str(), found.type_name.as_str(), &found.qos.topic_data[..]), ("pose", "Pose", &[9][..]));
    assert_eq!(found.qos.reliability, writer.qos().reliability);
    assert_eq!(watcher.discovered_topics()[0].key, found.key);

    let reader = robot.reader::<Pose>("pose").unwrap();
    assert_eq!(next(&readers).data.unwrap().key, reader.guid());
    // A change is a new value of the same instance.
    publisher.set_qos(publisher.qos().partition(["q"])).unwrap();
    assert_eq!(next(&writers).data.unwrap().partition, ["q"]);
    writer.close();
    let gone = next(&writers);
    assert_eq!(gone.info.instance_state, InstanceState::NotAliveDisposed);
    assert_eq!(writers.key_value(gone.info.instance_handle).unwrap(), writer.guid());
    // The reader still uses the topic.
    assert!(topics.take().unwrap().is_empty());
    reader.close();
    let gone = next(&topics);
    assert_eq!((gone.info.instance_state, gone.info.instance_handle), (InstanceState::NotAliveDisposed, found.key));
}

#[test]
fn matched_endpoints_are_described() {
    let world = World::new();
    let (robot, station) = (world.participant(), world.participant());
    for (from, to) in [(&robot, &station), (&robot, &robot)] {
        let writer = from.writer_builder::<Pose>("pose").qos(Preset::Event.writer().user_data([5])).build().unwrap();
        let reader = to.reader_builder::<Pose>("pose").qos(Preset::Event.reader().user_data([6])).build().unwrap();
        let (unmatched, other) = (from.writer::<Pose>("other").unwrap(), to.reader::<Pose>("other").unwrap());
        other.wait_for_writers(1).block_for(PATIENCE).unwrap();
        unmatched.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();

        let found = writer.matched_subscription_data(reader.instance_handle()).unwrap();
        assert_eq!((found.key, found.participant_key, &found.qos.user_data[..]), (reader.guid(), to.guid(), &[6][..]));
        assert_eq!((found.topic_name.as_str(), found.type_name.as_str()), ("pose", "Pose"));
        let found = reader.matched_publication_data(writer.instance_handle()).unwrap();
        assert_eq!(
            (found.key, found.participant_key, &found.qos.user_data[..]),
            (writer.guid(), from.guid(), &[5][..])
        );
        for stranger in [other.instance_handle(), writer.instance_handle(), InstanceHandle::NIL] {
            assert_eq!(writer.matched_subscription_data(stranger), None);
        }
        for stranger in [unmatched.instance_handle(), reader.instance_handle(), InstanceHandle::NIL] {
            assert_eq!(reader.matched_publication_data(stranger), None);
        }
        let events = reader.events();
        writer.close();
        assert_eq!(writer.matched_subscription_data(reader.instance_handle()), None);
        let is_gone = |event| matches!(event, ReaderEvent::Matched(status) if status.current_count == 0);
        while !is_gone(events.next_event().block_for(PATIENCE).unwrap()) {}
        assert_eq!(reader.matched_publication_data(writer.instance_handle()), None);
    }
}

#[test]
fn late_builtin_reader_gets_history_if_durable() {
    let world = World::new();
    let (watcher, robot) = (world.participant(), world.participant());
    let reader = watcher.reader::<Pose>("pose").unwrap();
    let _writer = robot.writer::<Pose>("pose").unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let late = watcher.reader(&BuiltinTopic::PUBLICATION).unwrap();
    assert_eq!(late.take().unwrap().into_data().map(|data| data.topic_name).collect::<Vec<_>>(), ["pose"]);
    let volatile = watcher.reader_builder(&BuiltinTopic::PUBLICATION).qos(Preset::Event).build().unwrap();
    assert!(volatile.take().unwrap().is_empty());
    let second = robot.writer::<Pose>("other").unwrap();
    assert_eq!(next(&late).data.unwrap().key, second.guid());
    assert_eq!(next(&volatile).data.unwrap().key, second.guid());
}

#[test]
fn builtin_topics_omit_own_entities() {
    let participant = World::new().participant();
    let endpoints = (participant.writer::<Pose>("pose").unwrap(), participant.reader::<Pose>("pose").unwrap());
    endpoints.0.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert!(participant.reader(&BuiltinTopic::PARTICIPANT).unwrap().take().unwrap().is_empty());
    assert!(participant.reader(&BuiltinTopic::PUBLICATION).unwrap().take().unwrap().is_empty());
    assert!(participant.reader(&BuiltinTopic::SUBSCRIPTION).unwrap().take().unwrap().is_empty());
    assert!(participant.reader(&BuiltinTopic::TOPIC).unwrap().take().unwrap().is_empty());
    assert!(participant.discovered_topics().is_empty() && participant.discovered_participants().is_empty());
}

#[test]
fn listeners_receive_builtin_topics() {
    let world = World::new();
    let watcher = world.participant();
    let (tell, heard) = mpsc::channel();
    let listener = move |sample: Sample<ParticipantBuiltinTopicData>| {
        let _ = tell.send((sample.data.map(|data| data.key), sample.info.instance_state));
    };
    let _reader = watcher.reader_builder(&BuiltinTopic::PARTICIPANT).on_sample(listener).build().unwrap();
    let guid: Guid = {
        let found = world.participant();
        let (key, state) = heard.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
        assert_eq!((key, state), (Some(found.guid()), InstanceState::Alive));
        found.guid()
    };
    let gone = heard.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
    assert_eq!(gone, (None, InstanceState::NotAliveDisposed), "{guid}");
}

#[test]
fn builtin_subscriber_has_one_reader_per_topic() {
    let world = World::new();
    let (watcher, other) = (world.participant(), world.participant());
    let builtin = watcher.builtin_subscriber();
    let name = BuiltinTopic::PARTICIPANT.name();
    let one = builtin.lookup_datareader::<ParticipantBuiltinTopicData>(name).unwrap();
    let same = watcher.builtin_subscriber().lookup_datareader::<ParticipantBuiltinTopicData>(name).unwrap();
    assert_eq!(one.guid(), same.guid());
    assert_eq!(next(&one).data.unwrap().key, other.guid());
    assert!(builtin.lookup_datareader::<SubscriptionBuiltinTopicData>(name).is_none());
    assert!(builtin.lookup_datareader::<Pose>("pose").is_none());

    let subscriber = watcher.subscriber(None).unwrap();
    let reader = subscriber.reader::<Pose>("pose").unwrap();
    assert_eq!(subscriber.lookup_datareader::<Pose>("pose").unwrap().guid(), reader.guid());
    assert!(subscriber.lookup_datareader::<dds_core::cdr::Raw>("pose").is_none());
    assert!(subscriber.lookup_datareader::<ParticipantBuiltinTopicData>(name).is_none());
    drop(reader);
    assert!(subscriber.lookup_datareader::<Pose>("pose").is_none());

    watcher.close();
    assert!(one.is_closed() && watcher.builtin_subscriber().is_closed());
    let name = BuiltinTopic::SUBSCRIPTION.name();
    assert!(watcher.builtin_subscriber().lookup_datareader::<SubscriptionBuiltinTopicData>(name).is_none());
}

#[test]
fn builtin_topics_refuse_writers_and_name_reuse() {
    let participant = World::new().participant();
    let error = participant.writer(&BuiltinTopic::TOPIC).unwrap_err();
    assert_eq!((error.kind(), error.return_code()), (&CreateErrorKind::BuiltinTopic, ReturnCode::PreconditionNotMet));
    let error = participant.writer::<Pose>("DCPSTopic").unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::TypeConflict { .. }), "{error}");
}

#[test]
fn ignored_topic_disappears_and_others_stay() {
    let world = World::new();
    let (watcher, robot) = (world.participant(), world.participant());
    let topics = watcher.reader(&BuiltinTopic::TOPIC).unwrap();
    let (ignored, heard) = (watcher.reader::<Pose>("ignored").unwrap(), watcher.reader::<Pose>("heard").unwrap());
    let _writers = (robot.writer::<Pose>("ignored").unwrap(), robot.writer::<Pose>("heard").unwrap());
    ignored.wait_for_writers(1).block_for(PATIENCE).unwrap();
    heard.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let found = watcher.discovered_topics().into_iter().find(|topic| topic.name == "ignored").unwrap();
    topics.take().unwrap();
    assert!(watcher.ignore_topic(found.key));
    assert!(!watcher.ignore_topic(found.key), "no endpoint has the topic any more");
    assert!(ignored.matched_publications().is_empty());
    assert_eq!(next(&topics).info.instance_handle, found.key);
    let again = (robot.writer::<Pose>("ignored").unwrap(), robot.writer::<Pose>("heard").unwrap());
    heard.wait_for_writers(2).block_for(PATIENCE).unwrap();
    assert!(ignored.matched_publications().is_empty());
    assert_eq!(heard.matched_publications().len(), 2);
    drop(again);
}

/// A silent participant sends no disposal. Its instances lose their writers, and are alive again when it returns.
#[cfg(feature = "sim")]
#[test]
fn silent_participant_loses_writers_and_returns() {
    let simulation = dds_core::sim::Simulation::new(1);
    let watcher = simulation.participant("station", 0).unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let participants = watcher.reader_builder(&BuiltinTopic::PARTICIPANT).qos(Preset::Event).build().unwrap();
    let writers = watcher.reader_builder(&BuiltinTopic::PUBLICATION).qos(Preset::Event).build().unwrap();
    let writer = robot.writer::<Pose>("pose").unwrap();
    assert_eq!(next(&participants).data.unwrap().key, robot.guid());
    assert_eq!(next(&writers).data.unwrap().key, writer.guid());

    simulation.host("robot").sleep_for(dds_core::Duration::from_secs(40));
    let silent = next(&participants);
    assert_eq!((silent.info.instance_state, silent.data), (InstanceState::NotAliveNoWriters, None));
    assert_eq!(next(&writers).info.instance_state, InstanceState::NotAliveNoWriters);
    assert!(watcher.discovered_topics().is_empty());

    let back = next(&participants);
    assert_eq!((back.data.unwrap().key, back.info.instance_state), (robot.guid(), InstanceState::Alive));
    assert_eq!(next(&writers).data.unwrap().key, writer.guid());
}
