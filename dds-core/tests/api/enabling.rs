//! Entities that are created disabled and enabled later (DDS 1.4, 2.2.2.1.1.7).

use crate::support::{PATIENCE, Woken, World};
use dds_core::condition::WaitSet;
use dds_core::error::QosErrorKind;
use dds_core::error::{CreateError, CreateErrorKind, ReadErrorKind, ReturnCode, WaitErrorKind, WriteErrorKind};
use dds_core::qos::{
    DataReaderQos, DataWriterQos, DomainParticipantQos, EntityFactory, History, PolicyId, Preset, PublisherQos,
    Reliability, SubscriberQos, TopicQos,
};
use dds_core::reader::States;
use dds_core::status::StatusMask;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Entity, Publisher, Subscriber};
use futures_core::Stream;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Pose {
    #[dds(key)]
    robot: u32,
}

const DISABLED: EntityFactory = EntityFactory::MANUAL;

fn groups_that_make_disabled(participant: &DomainParticipant) -> (Publisher, Subscriber) {
    let publisher = participant.publisher(PublisherQos::default().entity_factory(DISABLED)).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default().entity_factory(DISABLED)).unwrap();
    (publisher, subscriber)
}

fn is_refused(result: Result<(), CreateError>) -> bool {
    let Err(error) = result else { return false };
    error.kind() == &CreateErrorKind::FactoryNotEnabled && error.return_code() == ReturnCode::PreconditionNotMet
}

#[test]
fn disabled_endpoint_fails_until_enabled() {
    let participant = World::new().participant();
    let (publisher, subscriber) = groups_that_make_disabled(&participant);
    let writer = publisher.writer::<Pose>("t").unwrap();
    let reader = subscriber.reader::<Pose>("t").unwrap();
    assert!(publisher.is_enabled() && subscriber.is_enabled() && !writer.is_enabled() && !reader.is_enabled());

    let written = [
        writer.write(&Pose { robot: 1 }),
        writer.try_write(&Pose { robot: 1 }),
        writer.dispose(&1),
        writer.unregister_instance(&1),
        writer.assert_liveliness(),
        writer.register_instance(&1).map(drop),
        writer.loan().map(drop),
        writer.loan_encoded(dds_core::cdr::Encoding::Xcdr1, 8).map(drop),
    ];
    for error in written.map(Result::unwrap_err) {
        assert_eq!(
            (error.kind(), error.return_code()),
            (&WriteErrorKind::NotEnabled, ReturnCode::NotEnabled),
            "{error}"
        );
    }
    let asynchronous = pin!(writer.write_async(&Pose { robot: 1 })).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(asynchronous, Poll::Ready(Err(error)) if error.kind() == &WriteErrorKind::NotEnabled));
    let read = [reader.read().map(drop), reader.take().map(drop), reader.take_next().map(drop)];
    for error in read.map(Result::unwrap_err) {
        assert_eq!(
            (error.kind(), error.return_code()),
            (&ReadErrorKind::NotEnabled, ReturnCode::NotEnabled),
            "{error}"
        );
    }
    let waits = [
        writer.wait_for_readers(1).block_for(PATIENCE),
        writer.acknowledged().block_for(PATIENCE),
        reader.wait_for_writers(1).block_for(PATIENCE),
        reader.readable().block_for(PATIENCE),
        reader.historical_data().block_for(PATIENCE),
        reader.next_sample().block_for(PATIENCE).map(drop),
    ];
    assert!(waits.into_iter().all(|wait| wait.unwrap_err().kind() == &WaitErrorKind::NotEnabled));
    assert!(reader.set_qos(reader.qos().keep_last(9)).is_ok(), "none of these has settled anything");
    assert!(writer.set_qos(writer.qos().keep_last(9)).is_ok());
    // Calls that affect no peer work: statuses, conditions, QoS and lookups.
    assert_eq!(writer.publication_matched().total_count, 0);
    assert_eq!(reader.subscription_matched().total_count, 0);
    assert_eq!((writer.status_changes(), reader.status_changes()), (StatusMask::NONE, StatusMask::NONE));
    assert!(subscriber.lookup_datareader::<Pose>("t").is_some());
    assert!(participant.contains_entity(writer.instance_handle()) && writer.matched_subscriptions().is_empty());

    writer.enable().unwrap();
    writer.enable().unwrap();
    writer.write(&Pose { robot: 1 }).unwrap();
    reader.enable().unwrap();
    writer.write(&Pose { robot: 2 }).unwrap();
    assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Pose { robot: 2 }));
}

#[test]
fn stream_of_disabled_reader_waits_until_enabled() {
    let participant = World::new().participant();
    let (_publisher, subscriber) = groups_that_make_disabled(&participant);
    let [reader, closed] = [(); 2].map(|()| subscriber.reader::<Pose>("t").unwrap());
    let (woken, told) = (Arc::<Woken>::default(), Arc::<Woken>::default());
    let (waker, of_closed) = (Waker::from(Arc::clone(&woken)), Waker::from(Arc::clone(&told)));
    let mut poses = pin!(reader.stream());
    let mut next = || poses.as_mut().poll_next(&mut Context::from_waker(&waker));
    let mut ends = pin!(closed.sample_stream());
    assert!(next().is_pending() && ends.as_mut().poll_next(&mut Context::from_waker(&of_closed)).is_pending());
    assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap_err().kind(), &WaitErrorKind::NotEnabled);

    reader.enable().unwrap();
    assert_eq!((woken.news(), told.news()), (1, 0));
    let writer = participant.writer::<Pose>("t").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert!(next().is_pending());
    writer.write(&Pose { robot: 1 }).unwrap();
    assert_eq!((woken.news(), next()), (1, Poll::Ready(Some(Pose { robot: 1 }))));

    closed.close();
    assert_eq!(told.news(), 1);
    assert!(matches!(ends.as_mut().poll_next(&mut Context::from_waker(&of_closed)), Poll::Ready(None)));
}

#[test]
fn immutable_qos_may_change_before_enable() {
    let participant = World::new().participant();
    let (publisher, subscriber) = groups_that_make_disabled(&participant);
    let writer = publisher.writer::<Pose>("t").unwrap();
    let reader = subscriber.reader::<Pose>("t").unwrap();
    let late = subscriber.reader_builder::<Pose>("t").qos(Preset::State).build().unwrap();
    writer.set_qos(Preset::State.writer().keep_last(7)).unwrap();
    reader.set_qos(Preset::Event.reader()).unwrap();
    assert_eq!(writer.qos().history, History::KeepLast { depth: 7 });
    let inconsistent = writer.set_qos(writer.qos().keep_last(0)).unwrap_err();
    assert_ne!(inconsistent.return_code(), ReturnCode::ImmutablePolicy, "{inconsistent}");

    writer.enable().unwrap();
    reader.enable().unwrap();
    let error = writer.set_qos(writer.qos().keep_last(8)).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    let error = reader.set_qos(reader.qos().reliability(Reliability::BestEffort)).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::Reliability });

    // They follow the QoS at the time of enabling, not the QoS at creation.
    (1..=9).for_each(|_| writer.write(&Pose { robot: 1 }).unwrap());
    assert_eq!(reader.take().unwrap().len(), 9, "KEEP_ALL");
    late.enable().unwrap();
    late.set_qos(late.qos()).unwrap();
    assert_eq!(late.next_sample().block_for(PATIENCE).unwrap().data, Some(Pose { robot: 1 }), "transient local");
}

#[test]
fn writer_uses_encoding_of_qos_at_enable() {
    use dds_core::cdr::Encoding;
    use dds_core::qos::DataRepresentation;
    let participant = World::new().participant();
    let (publisher, _) = groups_that_make_disabled(&participant);
    let writer = publisher.writer::<Pose>("t").unwrap();
    let reader = participant.reader::<Pose>("t").unwrap();
    let mut qos = writer.qos();
    qos.representation = vec![DataRepresentation::Xcdr2];
    writer.set_qos(qos).unwrap();
    writer.enable().unwrap();
    writer.write(&Pose { robot: 1 }).unwrap();
    let samples = reader.take().unwrap();
    assert_eq!(samples.iter().next().unwrap().encoded().unwrap().encoding, Encoding::Xcdr2);
}

#[test]
fn disabled_entities_are_not_announced() {
    for udp in [false, true] {
        let world = World::new();
        let (from, to) = (world.builder().udp_only(udp).build().unwrap(), world.participant());
        let (publisher, _) = groups_that_make_disabled(&from);
        let disabled = publisher.writer::<Pose>("t").unwrap();
        let enabled = from.writer::<Pose>("t").unwrap();
        let reader = to.reader::<Pose>("t").unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        // Announcements keep their order. An announcement of the disabled endpoint would have produced a match too.
        let guids = |reader: &DataReader<Pose>| {
            reader.matched_publications().iter().map(|found| found.guid).collect::<Vec<_>>()
        };
        assert_eq!(guids(&reader), [enabled.guid()]);
        disabled.enable().unwrap();
        reader.wait_for_writers(2).block_for(PATIENCE).unwrap();
        assert!(guids(&reader).contains(&disabled.guid()));
    }
}

#[test]
fn enable_descends_as_each_factory_allows() {
    let world = World::new();
    let participant = world.builder().enabled(false).build().unwrap();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let other = participant.publisher(PublisherQos::default().entity_factory(DISABLED)).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let topic = participant.topic::<Pose>("t", TopicQos::default()).unwrap();
    let enabled: Vec<Box<dyn Entity>> = vec![
        Box::new(publisher.writer(&topic).unwrap()),
        Box::new(subscriber.reader(&topic).unwrap()),
        Box::new(participant.writer(&topic).unwrap()),
        Box::new(participant.reader(&topic).unwrap()),
        Box::new(publisher.clone()),
        Box::new(other.clone()),
        Box::new(subscriber.clone()),
        Box::new(topic.clone()),
        Box::new(participant.builtin_subscriber()),
    ];
    let left: DataWriter<Pose> = other.writer(&topic).unwrap();
    assert!(enabled.iter().all(|entity| !entity.is_enabled()) && !participant.is_enabled());
    // Entities of a disabled factory cannot be enabled.
    assert!(enabled.iter().all(|entity| is_refused(entity.enable())) && is_refused(left.enable()));

    participant.enable().unwrap();
    assert!(enabled.iter().all(|entity| entity.is_enabled()));
    assert!(!left.is_enabled(), "its publisher does not enable new writers");
    left.enable().unwrap();
    let reader = participant.reader::<Pose>("t").unwrap();
    left.write(&Pose { robot: 3 }).unwrap();
    assert_eq!(reader.take_next().unwrap().unwrap().data, Some(Pose { robot: 3 }));
}

#[test]
fn participant_without_autoenable_child_disabled() {
    let world = World::new();
    let qos = DomainParticipantQos::default().entity_factory(DISABLED);
    let participant = world.builder().qos(qos).build().unwrap();
    assert!(participant.is_enabled() && participant.builtin_subscriber().is_enabled());
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let writer = publisher.writer::<Pose>("t").unwrap();
    let reader = participant.reader::<Pose>("t").unwrap();
    assert!(!publisher.is_enabled() && !writer.is_enabled() && !reader.is_enabled());
    assert!(is_refused(writer.enable()));
    publisher.enable().unwrap();
    assert!(writer.is_enabled(), "its publisher enables it");
    // The policy may change at any time. It applies to entities that are created later.
    participant.set_qos(DomainParticipantQos::default()).unwrap();
    assert!(!reader.is_enabled() && participant.reader::<Pose>("t").unwrap().is_enabled());
    publisher.set_qos(PublisherQos::default().entity_factory(DISABLED)).unwrap();
    assert!(!publisher.writer::<Pose>("t").unwrap().is_enabled());
}

#[test]
fn disabled_participant_is_invisible_and_blind() {
    let world = World::new();
    let early = world.participant();
    let hidden = world.builder().enabled(false).build().unwrap();
    let late = world.participant();
    hidden.set_qos(DomainParticipantQos::default().user_data(*b"first")).unwrap();
    let topic = hidden.find_topic::<Pose>("t").block_for(PATIENCE).unwrap_err();
    assert_eq!(topic.kind(), &WaitErrorKind::NotEnabled);
    // When these two match, an announced hidden participant would have been discovered as well.
    let (writer, reader) = (early.writer::<Pose>("t").unwrap(), late.reader::<Pose>("t").unwrap());
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let seen = |by: &DomainParticipant| by.discovered_participants().iter().map(|found| found.key).collect::<Vec<_>>();
    assert_eq!((seen(&early), seen(&late), seen(&hidden)), (vec![late.guid()], vec![early.guid()], Vec::new()));
    assert!(!hidden.ignore_participant(early.instance_handle()));

    let waiting = hidden.reader::<Pose>("t").unwrap();
    hidden.enable().unwrap();
    waiting.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let found = early.discovered_participants().into_iter().find(|found| found.key == hidden.guid()).unwrap();
    assert_eq!(found.user_data, b"first");
}

#[test]
fn disabled_entity_notifies_nothing_till_enabled() {
    let participant = World::new().participant();
    let (publisher, subscriber) = groups_that_make_disabled(&participant);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let count = move |_: &DataReader<Pose>| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let reader = subscriber.reader_builder::<Pose>("t").delivery(dds_core::listener::Delivery::Inline).on_data(count);
    let reader = reader.build().unwrap();
    let writer = publisher.writer_builder::<Pose>("t").qos(Preset::State).build().unwrap();
    writer.enable().unwrap();
    writer.write(&Pose { robot: 1 }).unwrap();
    let set = WaitSet::new(&participant);
    let condition = reader.read_condition(States::ANY);
    set.attach(&condition);
    assert!(set.wait().block_for(dds_core::Duration::ZERO).is_err() && calls.load(Ordering::Relaxed) == 0);
    reader.enable().unwrap();
    writer.write(&Pose { robot: 2 }).unwrap();
    set.wait().block_for(PATIENCE).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn disabled_entity_can_be_closed_and_dropped() {
    let world = World::new();
    let participant = world.builder().enabled(false).build().unwrap();
    let writer = participant.writer::<Pose>("t").unwrap();
    let reader = participant.reader::<Pose>("t").unwrap();
    writer.close();
    assert_eq!(writer.write(&Pose { robot: 1 }).unwrap_err().kind(), &WriteErrorKind::Closed);
    assert_eq!(writer.enable().unwrap_err().kind(), &CreateErrorKind::Closed);
    drop(reader);
    drop(writer);
    // No entity uses the name any more, so it may have another type.
    participant.raw_topic("t", "Other", TopicQos::default()).unwrap();
    participant.shutdown().block_for(PATIENCE).unwrap();
    assert_eq!(participant.enable().unwrap_err().kind(), &CreateErrorKind::Closed);
    drop(world.builder().enabled(false).build().unwrap());
}

#[test]
fn threads_may_enable_concurrently() {
    for _ in 0..20 {
        let participant = World::new().participant();
        let (publisher, _) = groups_that_make_disabled(&participant);
        let writer = publisher.writer::<Pose>("t").unwrap();
        let reader = participant.reader_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
        writer.set_qos(Preset::Event.writer()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    writer.enable().unwrap();
                    writer.write(&Pose { robot: 1 }).unwrap();
                });
            }
        });
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        writer.write(&Pose { robot: 2 }).unwrap();
        let last = reader.take().unwrap().into_data().last();
        assert_eq!(last, Some(Pose { robot: 2 }));
        assert_eq!(writer.publication_matched().total_count, 1);
    }
}

#[test]
fn factories_have_default_qos() {
    let participant = World::new().participant();
    let (publisher, subscriber) = groups_that_make_disabled(&participant);
    let error = publisher.set_default_writer_qos(DataWriterQos::default().keep_last(0)).unwrap_err();
    assert_eq!(publisher.default_writer_qos(), DataWriterQos::default(), "{error}");
    publisher.set_default_writer_qos(Preset::Event).unwrap();
    subscriber.set_default_reader_qos(Preset::Event).unwrap();
    participant.set_default_writer_qos(Preset::SensorData).unwrap();
    participant.set_default_reader_qos(Preset::SensorData).unwrap();
    assert_eq!(publisher.writer::<Pose>("t").unwrap().qos(), Preset::Event.writer());
    assert_eq!(subscriber.reader::<Pose>("t").unwrap().qos(), Preset::Event.reader());
    assert_eq!(participant.writer::<Pose>("t").unwrap().qos(), Preset::SensorData.writer());
    assert_eq!(participant.reader::<Pose>("t").unwrap().qos(), Preset::SensorData.reader());
    let spec = dds_core::TopicSpec::<Pose>::new("t", Preset::State);
    assert_eq!(publisher.writer(&spec).unwrap().qos(), Preset::State.writer());
    let own = subscriber.reader_builder::<Pose>("t").qos(DataReaderQos::default()).build().unwrap();
    assert_eq!(own.qos(), DataReaderQos::default());
    assert_eq!(subscriber.default_reader_qos(), Preset::Event.reader());
    assert_eq!(participant.default_reader_qos(), Preset::SensorData.reader());
}

#[test]
fn participant_default_qos_applies_to_children() {
    let world = World::new();
    let participant = world.participant();
    let (publisher, subscriber) = (PublisherQos::default().partition(["a"]), SubscriberQos::default().partition(["b"]));
    let topic = TopicQos::default().topic_data([7]);
    assert_eq!(participant.default_publisher_qos(), PublisherQos::default());
    let earlier = participant.publisher(None).unwrap();
    participant.set_default_publisher_qos(publisher.clone()).unwrap();
    participant.set_default_subscriber_qos(subscriber.clone()).unwrap();
    participant.set_default_topic_qos(topic.clone()).unwrap();
    participant.set_default_topic_qos(TopicQos::default().keep_last(0)).unwrap_err();
    assert_eq!(participant.default_publisher_qos(), publisher);
    assert_eq!(participant.default_subscriber_qos(), subscriber);
    assert_eq!(participant.default_topic_qos(), topic);
    assert_eq!(participant.publisher(None).unwrap().qos(), publisher);
    assert_eq!(participant.subscriber(None).unwrap().qos(), subscriber);
    assert_eq!(participant.topic::<Pose>("t", None).unwrap().qos(), topic);
    assert_eq!(participant.publisher(PublisherQos::default()).unwrap().qos(), PublisherQos::default());
    assert_eq!(earlier.qos(), PublisherQos::default(), "those that are there keep theirs");
    // A participant uses the QoS of its builder.
    let qos = DomainParticipantQos::default().user_data([1]);
    let default = world.builder().qos(qos.clone());
    assert_eq!([&default, &default].map(|builder| builder.clone().build().unwrap().qos()), [qos.clone(), qos]);
}
