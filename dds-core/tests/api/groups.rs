//! Publishers and subscribers, and partitions that apply to all their endpoints and change.

use crate::support::{PATIENCE, World};
use dds_core::error::QosErrorKind;
use dds_core::error::{CreateErrorKind, QosError, ReadErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::qos::{PolicyId, Presentation, Preset, PublisherQos, ResourceLimits, SubscriberQos};
use dds_core::reader::States;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::future::Future;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    x: f64,
}

fn on_every_way(body: impl Fn(&DomainParticipant, &DomainParticipant)) {
    let one = World::new().participant();
    body(&one, &one);
    let world = World::new();
    body(&world.udp_participant(), &world.udp_participant());
}

/// Waits until the number of matched peers is `count`.
fn wait_for_count(matched: &mpsc::Receiver<usize>, count: usize) {
    while matched.recv_timeout(PATIENCE.to_std().unwrap()).unwrap() != count {}
}

fn passes(writer: &DataWriter<Pose>, reader: &DataReader<Pose>, x: f64) {
    writer.write(&Pose { x }).unwrap();
    // A writer that left causes a sample without data.
    let data = std::iter::from_fn(|| Some(reader.next_sample().block_for(PATIENCE).unwrap().data));
    assert_eq!(data.flatten().next(), Some(Pose { x }));
}

#[test]
fn partition_change_unmatches_and_rematches() {
    on_every_way(|from, to| {
        let publisher = from.publisher(PublisherQos::default().partition(["a"])).unwrap();
        let subscriber = to.subscriber(SubscriberQos::default().partition(["a"])).unwrap();
        let (tell, readers) = mpsc::channel();
        let count = move |writer: &DataWriter<Pose>, _| {
            tell.send(writer.matched_subscriptions().len()).unwrap();
        };
        let writer = publisher.writer_builder::<Pose>("t").qos(Preset::Event).on_event(count).build().unwrap();
        let (tell, writers) = mpsc::channel();
        let count = move |reader: &DataReader<Pose>, _| {
            tell.send(reader.matched_publications().len()).unwrap();
        };
        let reader = subscriber.reader_builder::<Pose>("t").qos(Preset::Event).on_event(count).build().unwrap();
        let elsewhere = to.reader_builder::<Pose>("t").qos(Preset::Event).build().unwrap();
        wait_for_count(&readers, 1);
        wait_for_count(&writers, 1);
        passes(&writer, &reader, 1.0);

        publisher.set_qos(publisher.qos().partition(["b"])).unwrap();
        wait_for_count(&readers, 0);
        wait_for_count(&writers, 0);
        writer.write(&Pose { x: 2.0 }).unwrap();
        subscriber.set_qos(subscriber.qos().partition(["[a-b]"])).unwrap();
        wait_for_count(&readers, 1);
        wait_for_count(&writers, 1);
        passes(&writer, &reader, 3.0);
        assert!(elsewhere.take().unwrap().is_empty());
        assert_eq!(publisher.qos().partition, ["b"]);
    });
}

#[test]
fn closing_group_closes_only_its_endpoints() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let inside = (publisher.writer::<Pose>("t").unwrap(), subscriber.reader::<Pose>("t").unwrap());
    let outside = (participant.writer::<Pose>("t").unwrap(), participant.reader::<Pose>("t").unwrap());
    publisher.close_contained();
    assert!(!publisher.is_closed());
    assert_eq!(inside.0.write(&Pose { x: 0.0 }).unwrap_err().kind(), &WriteErrorKind::Closed);
    let again = publisher.writer::<Pose>("t").unwrap();
    publisher.close();
    subscriber.close();
    assert!(again.is_closed());
    assert_eq!(inside.1.take().unwrap_err().kind(), &ReadErrorKind::Closed);
    assert_eq!(publisher.writer::<Pose>("t").unwrap_err().kind(), &CreateErrorKind::Closed);
    assert_eq!(subscriber.reader::<Pose>("t").unwrap_err().kind(), &CreateErrorKind::Closed);
    passes(&outside.0, &outside.1, 1.0);
}

#[test]
fn endpoint_keeps_its_group_alive() {
    let participant = World::new().participant();
    let writer = participant.publisher(PublisherQos::default()).unwrap().writer::<Pose>("t").unwrap();
    let reader = participant.subscriber(SubscriberQos::default()).unwrap().reader::<Pose>("t").unwrap();
    passes(&writer, &reader, 1.0);
}

#[test]
fn immutable_group_policies_are_refused() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default().partition(["a"])).unwrap();
    let presentation = Presentation::default().ordered_access(true);
    let error: QosError = publisher.set_qos(publisher.qos().presentation(presentation).partition(["b"])).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::Presentation });
    assert_eq!(publisher.qos().partition, ["a"]);
}

#[test]
fn publisher_waits_for_all_acknowledgments() {
    on_every_way(|from, to| {
        let publisher = from.publisher(PublisherQos::default()).unwrap();
        publisher.acknowledged().block_for(PATIENCE).unwrap();
        // The readers have space for one sample. They acknowledge the second one only after the first is taken.
        let limits = ResourceLimits::NONE.max_samples(1);
        let pairs: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|topic| {
                let qos = Preset::Event.reader().resource_limits(limits);
                let reader = to.reader_builder::<Pose>(topic).qos(qos).build().unwrap();
                let writer = publisher.writer_builder::<Pose>(topic).qos(Preset::Event).build().unwrap();
                writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
                writer.write(&Pose { x: 1.0 }).unwrap();
                writer.write(&Pose { x: 2.0 }).unwrap();
                (writer, reader)
            })
            .collect();
        let brief = Duration::from_millis(5);
        let mut acknowledged = std::pin::pin!(publisher.acknowledged());
        let mut poll = || acknowledged.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        for (_, reader) in &pairs {
            assert!(poll().is_pending());
            let error = publisher.acknowledged().block_for(brief).unwrap_err();
            assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
            reader.next_sample().block_for(PATIENCE).unwrap();
        }
        publisher.acknowledged().block_for(PATIENCE).unwrap();
        // Samples that are written later do not extend the present wait.
        pairs.iter().for_each(|(writer, _)| writer.write(&Pose { x: 3.0 }).unwrap());
        assert_eq!(poll(), Poll::Ready(Ok(())));
        assert!(publisher.acknowledged().block_for(brief).is_err());
        pairs.iter().for_each(|(writer, _)| writer.close());
        publisher.acknowledged().block_for(PATIENCE).unwrap();
        assert_eq!(pairs[0].0.publisher().unwrap().guid(), publisher.guid());
        publisher.close();
        assert_eq!(publisher.acknowledged().block_for(PATIENCE).unwrap_err().kind(), &WaitErrorKind::Closed);
    });
}

#[test]
fn endpoints_return_their_group() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let (writer, reader) = (publisher.writer::<Pose>("pose").unwrap(), subscriber.reader::<Pose>("pose").unwrap());
    assert_eq!(writer.publisher().map(|publisher| publisher.guid()), Some(publisher.guid()));
    assert_eq!(reader.subscriber().map(|subscriber| subscriber.guid()), Some(subscriber.guid()));
    assert!(participant.writer::<Pose>("pose").unwrap().publisher().is_none());
    assert!(participant.reader::<Pose>("pose").unwrap().subscriber().is_none());
}

#[test]
fn endpoints_are_looked_up_by_topic_and_type() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let outside = participant.writer::<Pose>("t").unwrap();
    assert!(publisher.lookup_datawriter::<Pose>("t").is_none() && subscriber.lookup_datareader::<Pose>("t").is_none());
    let (first, second) = (publisher.writer::<Pose>("t").unwrap(), publisher.writer::<Pose>("t").unwrap());
    let reader = subscriber.reader::<Pose>("t").unwrap();
    assert_eq!(publisher.lookup_datawriter::<Pose>("t").unwrap().guid(), first.guid());
    assert_eq!(subscriber.lookup_datareader::<Pose>("t").unwrap().guid(), reader.guid());
    assert!(publisher.lookup_datawriter::<Pose>("other").is_none());
    assert!(publisher.lookup_datawriter::<dds_core::cdr::Raw>("t").is_none(), "of another type");
    drop(first);
    assert_eq!(publisher.lookup_datawriter::<Pose>("t").unwrap().guid(), second.guid());
    second.close();
    assert!(publisher.lookup_datawriter::<Pose>("t").is_none());
    drop(outside);
}

#[test]
fn subscriber_lists_readers_with_samples() {
    let participant = World::new().participant();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let readers = ["a", "b", "c"].map(|topic| subscriber.reader::<Pose>(topic).unwrap());
    let writers = ["a", "b", "c"].map(|topic| participant.writer::<Pose>(topic).unwrap());
    let with =
        |states| subscriber.readers(states).iter().map(|reader| reader.topic_name().to_owned()).collect::<Vec<_>>();
    assert_eq!(with(States::ANY), [""; 0]);
    writers[2].write(&Pose { x: 1.0 }).unwrap();
    writers[0].write(&Pose { x: 1.0 }).unwrap();
    assert_eq!(with(States::NOT_READ), ["a", "c"], "in the order in which they were made");
    readers[0].read().unwrap();
    assert_eq!(
        (with(States::NOT_READ), with(States::ANY)),
        (vec!["c".to_owned()], vec!["a".to_owned(), "c".to_owned()])
    );
    readers[2].take().unwrap();
    assert_eq!(with(States::ANY), ["a"]);
}
