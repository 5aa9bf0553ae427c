//! The life of entities: closing, waiting for the end, and dropping anywhere.

use crate::support::{PATIENCE, World};
use dds_core::error::{CreateErrorKind, ReadErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::listener::{AnyEndpoint, DataReaderListener, PublisherListener, SubscriberListener, TopicListener};
use dds_core::listener::{Delivery, Weak};
use dds_core::qos::{DataReaderQos, Preset, PublisherQos, SubscriberQos};
use dds_core::status::StatusMask;
use dds_core::{DataReader, DdsType, DomainParticipant, Duration, Entity};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::mpsc;
use std::time::Instant;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

#[test]
fn participant_lists_contained_entities() {
    let world = World::new();
    let (one, other) = (world.participant(), world.participant());
    let publisher = one.publisher(PublisherQos::default()).unwrap();
    let subscriber = one.subscriber(SubscriberQos::default()).unwrap();
    let (writer, reader) = (publisher.writer::<Count>("t").unwrap(), subscriber.reader::<Count>("t").unwrap());
    let entities: Vec<Box<dyn Entity>> = vec![
        Box::new(writer.clone()),
        Box::new(reader.clone()),
        Box::new(publisher.clone()),
        Box::new(subscriber.clone()),
    ];
    for entity in &entities {
        assert!(one.contains_entity(entity.instance_handle()));
        assert!(!other.contains_entity(entity.instance_handle()));
        assert!(entity.status_changes().is_empty() || entity.guid() == writer.guid() || entity.guid() == reader.guid());
    }
    one.close_contained();
    assert!(!one.is_closed());
    for entity in &entities {
        assert!(entity.is_closed());
        assert!(!one.contains_entity(entity.instance_handle()));
        entity.closed().block_for(PATIENCE).unwrap();
    }
    one.writer::<Count>("t").unwrap();
}

#[test]
fn after_close_calls_fail_and_waits_end() {
    let participant = World::new().participant();
    let writer = participant.writer::<Count>("t").unwrap();
    let reader = participant.reader::<Count>("u").unwrap();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let mut stream = reader.stream();
    let mut samples = reader.sample_stream();
    let mut events = writer.events();
    let weak = participant.downgrade();
    std::thread::scope(|scope| {
        let waits = [
            scope.spawn(|| writer.wait_for_readers(1).block_for(PATIENCE)),
            scope.spawn(|| reader.wait_for_writers(1).block_for(PATIENCE)),
            scope.spawn(|| reader.readable().block_for(PATIENCE)),
            scope.spawn(|| reader.next_sample().block_for(PATIENCE).map(|_| ())),
        ];
        let iterator = scope.spawn(|| reader.iter().count());
        participant.close();
        for wait in waits {
            assert_eq!(wait.join().unwrap().unwrap_err().kind(), &WaitErrorKind::Closed);
        }
        assert_eq!(iterator.join().unwrap(), 0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        assert!(std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await.is_none());
        assert!(std::future::poll_fn(|context| Pin::new(&mut samples).poll_next(context)).await.is_none());
        assert!(std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context)).await.is_none());
    });
    assert_eq!(writer.write(&Count { count: 0 }).unwrap_err().kind(), &WriteErrorKind::Closed);
    assert_eq!(writer.publication_matched(), Default::default());
    assert_eq!(reader.take().unwrap_err().kind(), &ReadErrorKind::Closed);
    assert_eq!(reader.subscription_matched(), Default::default());
    assert_eq!(participant.reader::<Count>("u").unwrap_err().kind(), &CreateErrorKind::Closed);
    assert_eq!(publisher.writer::<Count>("u").unwrap_err().kind(), &CreateErrorKind::Closed);
    assert_eq!(participant.publisher(PublisherQos::default()).unwrap_err().kind(), &CreateErrorKind::Closed);
    // A closed participant exists until its last handle is dropped.
    assert!(weak.upgrade().unwrap().is_closed());
}

/// A writer with unacknowledged samples drains in the background, but its waits end at once.
#[test]
fn closed_writer_ends_waits_while_draining() {
    let world = World::new();
    let participant = world.builder().linger(Duration::ZERO).build().unwrap();
    let mut limits = DataReaderQos::default().reliable().keep_all();
    limits.resource_limits.max_samples = Some(1);
    let reader = participant.reader_builder::<Count>("t").qos(limits).build().unwrap();
    let writer = participant.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (0..3).for_each(|count| writer.write(&Count { count }).unwrap());
    std::thread::scope(|scope| {
        let waits = [
            scope.spawn(|| writer.wait_for_readers(2).block_for(PATIENCE)),
            scope.spawn(|| writer.acknowledged().block_for(PATIENCE)),
        ];
        writer.close();
        for wait in waits {
            assert_eq!(wait.join().unwrap().unwrap_err().kind(), &WaitErrorKind::Closed);
        }
    });
    writer.closed().block_for(PATIENCE).unwrap();
    // The written samples still arrive.
    let taken: Vec<u64> =
        (0..3).map(|_| reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count).collect();
    assert_eq!(taken, [0, 1, 2]);
}

fn reliable_pair(from: &DomainParticipant, to: &DomainParticipant) -> (dds_core::DataWriter<Count>, DataReader<Count>) {
    let reader = to.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

#[test]
fn shutdown_delivers_all_and_sends_disposal() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let world = World::new();
        let (from, to) = (world.udp_participant(), world.udp_participant());
        let (writer, reader) = reliable_pair(&from, &to);
        for count in 0..100 {
            writer.write(&Count { count }).unwrap();
        }
        // The writer is still open. The participant closes it.
        from.shutdown().await.unwrap();
        from.shutdown().await.unwrap();
        assert!(from.is_closed() && writer.is_closed());
        from.closed().await.unwrap();
        for count in 0..100 {
            assert_eq!(reader.next_sample().await.unwrap().data, Some(Count { count }));
        }
        // Peers do not wait until its lease expires, which would exceed the time of this test.
        while !to.discovered_participants().is_empty() {
            reader.events().next_event().await.unwrap();
        }
    });
}

#[test]
fn listener_cannot_shut_down_its_participant() {
    for delivery in [Delivery::EventThread, Delivery::Inline] {
        let participant = World::new().builder().delivery(delivery).build().unwrap();
        let weak = participant.downgrade();
        let (send, told) = mpsc::channel();
        let _reader = participant
            .reader_builder::<Count>("t")
            .on_data(move |_| {
                let participant = weak.upgrade().unwrap();
                send.send(participant.shutdown().block().unwrap_err().kind().clone()).unwrap();
            })
            .build()
            .unwrap();
        let writer = participant.writer::<Count>("t").unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer.write(&Count { count: 1 }).unwrap();
        let expected =
            if delivery == Delivery::Inline { WaitErrorKind::InListener } else { WaitErrorKind::WouldDeadlock };
        assert_eq!(told.recv().unwrap(), expected);
        assert!(!participant.is_closed());
    }
}

/// Checks that nothing of a participant remains once its last thread has returned.
#[allow(clippy::disallowed_methods, reason = "a thread that has ended leaves a little later")]
fn ends(participant: &Weak<DomainParticipant>) {
    let started = Instant::now();
    while participant.upgrade().is_some() {
        assert!(started.elapsed() < PATIENCE.to_std().unwrap(), "a participant without users lives on");
        std::thread::yield_now();
    }
}

/// Drops its last handles at the end of its async main function, with data in flight.
async fn program() -> Weak<DomainParticipant> {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let (writer, reader) = reliable_pair(&from, &to);
    writer.write(&Count { count: 1 }).unwrap();
    assert_eq!(reader.next_sample().await.unwrap().data, Some(Count { count: 1 }));
    writer.write(&Count { count: 2 }).unwrap();
    tokio::task::yield_now().await;
    from.downgrade()
}

#[tokio::main(flavor = "current_thread")]
async fn main_of_one_thread() -> Weak<DomainParticipant> {
    program().await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main_of_several_threads() -> Weak<DomainParticipant> {
    // Also on a worker thread, not only on the blocking thread.
    tokio::spawn(program()).await.unwrap();
    program().await
}

#[test]
fn last_drop_may_happen_in_tokio_main() {
    ends(&main_of_one_thread());
    ends(&main_of_several_threads());
}

#[test]
fn last_drop_may_happen_in_async_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let weak = runtime.block_on(async {
        let task = tokio::spawn(async {
            let participant = World::new().participant();
            let (writer, _reader) = reliable_pair(&participant, &participant);
            writer.write(&Count { count: 1 }).unwrap();
            participant.downgrade()
        });
        task.await.unwrap()
    });
    ends(&weak);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let weak = runtime.block_on(async {
        let participant = World::new().participant();
        let _reader = participant.reader::<Count>("t").unwrap();
        participant.downgrade()
    });
    ends(&weak);
}

/// A listener drops the last handle of everything, on any thread that runs it.
#[test]
fn last_drop_may_happen_in_listener() {
    for delivery in [Delivery::EventThread, Delivery::Inline] {
        for udp in [false, true] {
            let world = World::new();
            let participant = world.builder().delivery(delivery).udp_only(udp).build().unwrap();
            let other = world.udp_participant();
            let from = if udp { &other } else { &participant };
            let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
            let (give, given) = mpsc::channel::<(DomainParticipant, DataReader<Count>)>();
            let (send, told) = mpsc::channel();
            let reader = participant
                .reader_builder::<Count>("t")
                .qos(Preset::Event)
                .on_data(move |_| {
                    drop(given.recv().unwrap());
                    send.send(()).unwrap();
                })
                .build()
                .unwrap();
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            give.send((participant.clone(), reader)).unwrap();
            let weak = participant.downgrade();
            drop(participant);
            writer.write(&Count { count: 1 }).unwrap();
            told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
            drop(writer);
            // The sender is part of the closure, which the reader owns.
            assert!(told.recv_timeout(PATIENCE.to_std().unwrap()).is_err());
            ends(&weak);
        }
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test is about the end of a real thread")]
fn last_drop_may_happen_while_thread_ends() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<(DomainParticipant, DataReader<Count>)>> =
            const { std::cell::RefCell::new(None) };
    }
    let weak = std::thread::spawn(|| {
        let participant = World::new().participant();
        let reader = participant.reader::<Count>("t").unwrap();
        let weak = participant.downgrade();
        KEPT.set(Some((participant, reader)));
        weak
    });
    assert!(weak.join().unwrap().upgrade().is_none());
}

/// A listener that stays in its first call until the test releases it. Then it reports the state of the entities it was
/// given.
struct Stays {
    entered: mpsc::Sender<()>,
    released: mpsc::Receiver<()>,
    seen: mpsc::Sender<(bool, bool)>,
    participant: Weak<DomainParticipant>,
}

impl Stays {
    fn call(&mut self, reader: &DataReader<Count>) {
        self.entered.send(()).unwrap();
        // Returns an error if the test is over.
        let _ = self.released.recv();
        let more = reader.clone();
        self.seen.send((more.is_closed(), self.participant.upgrade().is_some())).unwrap();
    }
}

impl DataReaderListener<Count> for Stays {
    fn on_data_available(&mut self, reader: &DataReader<Count>) {
        self.call(reader);
    }
}

impl SubscriberListener for Stays {
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        self.call(reader.downcast_ref().unwrap());
    }
}

impl PublisherListener for Stays {}
impl TopicListener for Stays {}

/// A callback only borrows its entities. If it owned the participant, the shutdown would run on the callback's thread,
/// possibly after the application ended.
#[test]
fn last_drop_ends_participant_during_callback() {
    for is_of_participant in [false, true] {
        let world = World::new();
        let (from, to) = (world.udp_participant(), world.udp_participant());
        let (writer, reader) = reliable_pair(&from, &to);
        let (entered, inside) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let (send, seen) = mpsc::channel();
        let weak = from.downgrade();
        let listener = Stays { entered, released, seen: send, participant: weak.clone() };
        let subscriber = from.subscriber(SubscriberQos::default()).unwrap();
        let topic = from.topic::<Count>("own", None).unwrap();
        let own = subscriber.reader::<Count>(&topic).unwrap();
        if is_of_participant {
            from.set_listener(StatusMask::DATA_AVAILABLE, listener).unwrap();
        } else {
            own.set_listener(StatusMask::DATA_AVAILABLE, listener).unwrap();
        }
        let source = from.writer::<Count>("own").unwrap();
        source.wait_for_readers(1).block_for(PATIENCE).unwrap();
        source.write(&Count { count: 0 }).unwrap();
        inside.recv().unwrap();
        (0..3).for_each(|count| writer.write(&Count { count }).unwrap());
        drop((writer, source, own, topic, subscriber, from));
        assert!(weak.upgrade().is_none(), "it lives on");
        // All of these samples are acknowledged.
        let taken: Vec<_> = reader.take().unwrap().into_data().map(|count| count.count).collect();
        assert_eq!(taken, [0, 1, 2]);
        // The disposal was sent. The lease would expire later than this test may last.
        while !to.discovered_participants().is_empty() {
            reader.events().next_event().block_for(PATIENCE).unwrap();
        }
        drop(release);
        assert_eq!(seen.recv().unwrap(), (true, false), "a lent handle is closed and revives no participant");
    }
}
