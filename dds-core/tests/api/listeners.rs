//! Listeners: which one is notified, on which thread, how it ends, and what a panic costs.

use crate::support::{PATIENCE, World};
use dds_core::condition::Condition;
use dds_core::condition::WaitSet;
use dds_core::error::{CreateErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::listener::Delivery;
use dds_core::listener::{
    AnyEndpoint, DataReaderListener, DataWriterListener, PublisherListener, SubscriberListener, TopicListener,
};
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset, PublisherQos, SubscriberQos, TopicQos};
use dds_core::status::{CountStatus, IncompatibleQosStatus, PeerStatus, ReaderEvent, StatusMask, WriterEvent};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Entity, Subscriber};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Other {
    text: String,
}

/// Records each callback as text.
#[derive(Clone)]
struct Log(Sender<String>);

impl Log {
    fn new() -> (Self, Receiver<String>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }
    fn note(&self, what: impl Into<String>) {
        // The test may be over.
        let _ = self.0.send(what.into());
    }
}

fn next(log: &Receiver<String>) -> String {
    log.recv_timeout(PATIENCE.to_std().unwrap()).unwrap()
}

/// Records every callback under its name. The `Cell` shows that a listener need not be `Sync`.
struct Noting {
    name: &'static str,
    log: Log,
    calls: Cell<u32>,
}

impl Noting {
    fn new(name: &'static str, log: &Log) -> Self {
        Self { name, log: log.clone(), calls: Cell::new(0) }
    }
    fn note(&self, what: &str) {
        self.calls.set(self.calls.get() + 1);
        self.log.note(format!("{} {what}", self.name));
    }
}

impl DataReaderListener<Count> for Noting {
    fn on_data_available(&mut self, reader: &DataReader<Count>) {
        self.note(&format!("data {}", reader.take().unwrap().len()));
    }
    fn on_subscription_matched(&mut self, _: &DataReader<Count>, status: PeerStatus) {
        self.note(&format!("matched {}", status.current_count));
    }
    fn on_requested_incompatible_qos(&mut self, _: &DataReader<Count>, status: IncompatibleQosStatus) {
        self.note(&format!("incompatible {}", status.total_count));
    }
}

impl DataWriterListener<Count> for Noting {
    fn on_publication_matched(&mut self, _: &DataWriter<Count>, status: PeerStatus) {
        self.note(&format!("matched {}", status.current_count));
    }
}

impl PublisherListener for Noting {
    fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, _: PeerStatus) {
        assert!(writer.downcast_ref::<DataWriter<Count>>().is_some());
        assert!(writer.downcast_ref::<DataWriter<Other>>().is_none());
        self.note(&format!("writer of {} matched", writer.topic_name()));
    }
    fn on_offered_incompatible_qos(&mut self, writer: &dyn AnyEndpoint, _: IncompatibleQosStatus) {
        self.note(&format!("writer of {} incompatible", writer.topic_name()));
    }
}

impl SubscriberListener for Noting {
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        self.note("data on readers");
        subscriber.notify_datareaders();
    }
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        let reader = reader.downcast_ref::<DataReader<Count>>().unwrap();
        self.note(&format!("data {}", reader.take().unwrap().len()));
    }
    fn on_subscription_matched(&mut self, reader: &dyn AnyEndpoint, _: PeerStatus) {
        self.note(&format!("reader of {} matched", reader.topic_name()));
    }
}

impl TopicListener for Noting {
    fn on_inconsistent_topic(&mut self, topic: &str, status: CountStatus) {
        self.note(&format!("inconsistent {topic} {}", status.total_count));
    }
}

fn inline() -> DomainParticipant {
    World::new().builder().delivery(Delivery::Inline).build().unwrap()
}

fn write(writer: &DataWriter<Count>, count: u64) {
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count }).unwrap();
}

#[test]
fn status_goes_to_lowest_interested_listener() {
    let participant = inline();
    let (log, told) = Log::new();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let reader = subscriber.reader::<Count>("t").unwrap();
    let writer_listener = (StatusMask::NONE, Noting::new("writer", &log));
    let all = StatusMask::ALL & !StatusMask::DATA_ON_READERS;
    participant.set_listener(all, Noting::new("participant", &log)).unwrap();
    subscriber.set_listener(StatusMask::MATCHED, Noting::new("subscriber", &log)).unwrap();
    reader.set_listener(StatusMask::DATA_AVAILABLE, Noting::new("reader", &log)).unwrap();
    let writer = publisher.writer_builder::<Count>("t").listener(writer_listener.0, writer_listener.1).build().unwrap();
    let mut matched = [next(&told), next(&told)];
    matched.sort();
    assert_eq!(matched, ["participant writer of t matched", "subscriber reader of t matched"]);
    write(&writer, 1);
    assert_eq!(next(&told), "reader data 1");
    // Without it, the listener of the next higher entity is notified.
    reader.remove_listener();
    write(&writer, 2);
    assert_eq!(next(&told), "participant data 1");
    publisher.set_listener(StatusMask::MATCHED, Noting::new("publisher", &log)).unwrap();
    subscriber.remove_listener();
    let late = participant.reader::<Count>("t").unwrap();
    let mut matched = [next(&told), next(&told)];
    matched.sort();
    assert_eq!(matched, ["participant reader of t matched", "publisher writer of t matched"]);
    participant.remove_listener();
    write(&writer, 3);
    assert_eq!(late.take().unwrap().len(), 1);
    assert!(told.try_recv().is_err());
}

#[test]
fn data_on_readers_precedes_data_available() {
    let participant = inline();
    let (log, told) = Log::new();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let mask = StatusMask::DATA_AVAILABLE;
    let _reader = subscriber.reader_builder::<Count>("t").listener(mask, Noting::new("reader", &log)).build().unwrap();
    let quiet = subscriber.reader::<Count>("quiet").unwrap();
    subscriber.set_listener(StatusMask::DATA_ON_READERS, Noting::new("subscriber", &log)).unwrap();
    let writer = participant.writer::<Count>("t").unwrap();
    write(&writer, 1);
    assert_eq!([next(&told), next(&told)], ["subscriber data on readers", "reader data 1"]);
    // This reader has no listener, so only the subscriber is notified.
    let other = participant.writer::<Count>("quiet").unwrap();
    write(&other, 1);
    assert_eq!(next(&told), "subscriber data on readers");
    assert_eq!(quiet.take().unwrap().len(), 1);
    assert!(told.try_recv().is_err());
}

/// A subscriber listener that implements only some methods suppresses no notification.
#[test]
fn default_data_on_readers_notifies_readers() {
    struct Nothing;
    impl SubscriberListener for Nothing {}
    let participant = inline();
    let (log, told) = Log::new();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    subscriber.set_listener(StatusMask::ALL, Nothing).unwrap();
    let mask = StatusMask::DATA_AVAILABLE;
    let _reader = subscriber.reader_builder::<Count>("t").listener(mask, Noting::new("reader", &log)).build().unwrap();
    write(&participant.writer::<Count>("t").unwrap(), 1);
    assert_eq!(next(&told), "reader data 1");
}

#[test]
fn subscriber_has_its_own_status() {
    let participant = World::new().participant();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let early = subscriber.reader::<Count>("early").unwrap();
    let condition = subscriber.status_condition();
    let late = subscriber.reader::<Count>("late").unwrap();
    let wait_set = WaitSet::new(&participant);
    wait_set.attach(&condition);
    for reader in [early, late] {
        assert!(subscriber.status_changes().is_empty() && !condition.is_triggered());
        write(&participant.writer::<Count>(reader.topic_name()).unwrap(), 1);
        assert!(wait_set.wait().block_for(PATIENCE).unwrap().contains(&condition));
        assert_eq!(subscriber.status_changes(), StatusMask::DATA_ON_READERS);
        reader.take().unwrap();
    }
    assert!(subscriber.status_changes().is_empty());
    subscriber.close();
    assert_eq!(wait_set.wait().block_for(PATIENCE).unwrap_err().kind(), &WaitErrorKind::Closed);
}

#[test]
fn listeners_run_on_event_thread_by_default() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let (log, told) = Log::new();
    to.set_listener(StatusMask::ALL, Noting::new("participant", &log)).unwrap();
    let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let _reader = to.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    assert_eq!(next(&told), "participant reader of t matched");
    write(&writer, 1);
    assert_eq!(next(&told), "participant data 1");
    let _incompatible = to.writer_builder::<Count>("u").qos(DataWriterQos::default().best_effort()).build().unwrap();
    let _reliable = from.reader_builder::<Count>("u").qos(DataReaderQos::default().reliable()).build().unwrap();
    assert_eq!(next(&told), "participant writer of u incompatible");
}

#[test]
fn topic_listener_receives_inconsistent_topic() {
    let world = World::new();
    let (here, there) = (world.participant(), world.participant());
    let (log, told) = Log::new();
    let topic = here.topic::<Count>("t", TopicQos::default()).unwrap();
    topic.set_listener(StatusMask::INCONSISTENT_TOPIC, Noting::new("topic", &log)).unwrap();
    let _writer = here.writer(&topic).unwrap();
    let _reader = there.reader::<Other>("t").unwrap();
    assert_eq!(next(&told), "topic inconsistent t 1");
    topic.remove_listener();
    here.set_listener(StatusMask::INCONSISTENT_TOPIC, Noting::new("participant", &log)).unwrap();
    let _another = there.reader::<Other>("t").unwrap();
    assert_eq!(next(&told), "participant inconsistent t 2");
    assert_eq!(topic.inconsistent_topic().total_count, 2);
}

#[test]
fn topic_stream_reports_inconsistent_topic() {
    let world = World::new();
    let (here, there) = (world.participant(), world.participant());
    let topic = here.topic::<Count>("t", None).unwrap();
    let events = topic.events();
    let _writer = here.writer(&topic).unwrap();
    for number in 1..=2 {
        let _reader = there.reader::<Other>("t").unwrap();
        let status = events.next_event().block_for(PATIENCE).unwrap();
        assert_eq!((status.total_count, status.total_count_change), (number, 1));
    }
    let status = topic.inconsistent_topic();
    assert_eq!((status.total_count, status.total_count_change), (2, 2), "a stream is no reading of the status");
    let status = topic.events().next_event().block_for(PATIENCE).unwrap();
    assert_eq!(status.total_count_change, 2, "each stream starts with the events before it");
    topic.close();
    assert!(events.next_event().block_for(PATIENCE).is_err());
}

/// Panics when it is notified of data.
struct Panicking;
impl DataReaderListener<Count> for Panicking {
    fn on_data_available(&mut self, _: &DataReader<Count>) {
        panic!("on purpose");
    }
}
impl SubscriberListener for Panicking {
    fn on_data_available(&mut self, _: &dyn AnyEndpoint) {
        panic!("on purpose");
    }
}

#[test]
fn panic_removes_listener_and_next_is_notified() {
    for delivery in [Delivery::Inline, Delivery::EventThread] {
        let participant = World::new().builder().delivery(delivery).build().unwrap();
        let (log, told) = Log::new();
        let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
        let reader = subscriber.reader::<Count>("t").unwrap();
        let events = reader.events();
        let mask = StatusMask::DATA_AVAILABLE;
        reader.set_listener(mask, Panicking).unwrap();
        subscriber.set_listener(mask, Panicking).unwrap();
        participant.set_listener(mask, Noting::new("participant", &log)).unwrap();
        let writer = participant.writer::<Count>("t").unwrap();
        let next_event = || events.next_event().block_for(PATIENCE).unwrap();
        let ReaderEvent::Matched(_) = next_event() else { panic!("another event") };
        let ReaderEvent::LivelinessChanged(_) = next_event() else { panic!("another event") };
        for panics in 1..=2 {
            write(&writer, panics);
            assert_eq!(next_event(), ReaderEvent::ListenerPanicked { message: "on purpose".to_owned() });
            assert_eq!(participant.listener_counters().panics, panics);
        }
        write(&writer, 3);
        // Three samples wait, and keep-last left only the newest.
        assert_eq!(next(&told), "participant data 1");
        assert!(!reader.is_closed());
    }
}

/// Panics when it is notified of a match.
struct PanickingAtMatches;
impl DataWriterListener<Count> for PanickingAtMatches {
    fn on_publication_matched(&mut self, _: &DataWriter<Count>, _: PeerStatus) {
        panic!("on purpose");
    }
}
impl PublisherListener for PanickingAtMatches {
    fn on_publication_matched(&mut self, _: &dyn AnyEndpoint, _: PeerStatus) {
        panic!("on purpose");
    }
}

/// A panic of a group's listener is an event of the notified member only.
#[test]
fn panic_of_listener_is_event_of_its_writer() {
    for (delivery, of_group) in
        [Delivery::Inline, Delivery::EventThread].into_iter().flat_map(|delivery| [(delivery, false), (delivery, true)])
    {
        let participant = World::new().builder().delivery(delivery).build().unwrap();
        let publisher = participant.publisher(PublisherQos::default()).unwrap();
        let [writer, other] = ["t", "u"].map(|topic| publisher.writer::<Count>(topic).unwrap());
        if of_group {
            publisher.set_listener(StatusMask::MATCHED, PanickingAtMatches).unwrap();
        } else {
            writer.set_listener(StatusMask::MATCHED, PanickingAtMatches).unwrap();
        }
        let _readers = ["t", "u"].map(|topic| {
            let events = if topic == "t" { writer.events() } else { other.events() };
            let reader = participant.reader::<Count>(topic).unwrap();
            let next_event = || events.next_event().block_for(PATIENCE).unwrap();
            let WriterEvent::Matched(_) = next_event() else { panic!("another event") };
            if topic == "t" {
                assert_eq!(next_event(), WriterEvent::ListenerPanicked { message: "on purpose".to_owned() });
            }
            assert!(events.next_event().block_for(Duration::ZERO).is_err());
            reader
        });
        assert_eq!(participant.listener_counters().panics, 1);
    }
}

#[test]
fn replaced_listener_is_dropped_and_not_called() {
    let participant = World::new().participant();
    let (log, told) = Log::new();
    let reader = participant.reader::<Count>("t").unwrap();
    let life = Arc::new(());
    struct Holding(Noting, #[expect(dead_code, reason = "it is held")] Arc<()>);
    impl DataReaderListener<Count> for Holding {
        fn on_data_available(&mut self, reader: &DataReader<Count>) {
            DataReaderListener::on_data_available(&mut self.0, reader);
        }
    }
    reader.set_listener(StatusMask::ALL, Holding(Noting::new("first", &log), Arc::clone(&life))).unwrap();
    reader.set_listener(StatusMask::ALL, Holding(Noting::new("second", &log), Arc::clone(&life))).unwrap();
    assert_eq!(Arc::strong_count(&life), 2);
    write(&participant.writer::<Count>("t").unwrap(), 1);
    assert_eq!(next(&told), "second data 1");
    reader.close();
    reader.closed().block_for(PATIENCE).unwrap();
    assert_eq!(Arc::strong_count(&life), 1);
    let error = reader.set_listener(StatusMask::ALL, Noting::new("late", &log)).unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::Closed);
}

#[test]
fn closing_participant_frees_all_listeners() {
    let participant = World::new().participant();
    let life = Arc::new(());
    struct Holding(#[expect(dead_code, reason = "it is held")] Arc<()>);
    impl DataReaderListener<Count> for Holding {}
    impl DataWriterListener<Count> for Holding {}
    impl PublisherListener for Holding {}
    impl SubscriberListener for Holding {}
    impl TopicListener for Holding {}
    let holding = || Holding(Arc::clone(&life));
    let (subscriber, publisher) = (
        participant.subscriber(SubscriberQos::default()).unwrap(),
        participant.publisher(PublisherQos::default()).unwrap(),
    );
    let (reader, writer) = (subscriber.reader::<Count>("t").unwrap(), publisher.writer::<Count>("t").unwrap());
    participant.set_listener(StatusMask::ALL, holding()).unwrap();
    subscriber.set_listener(StatusMask::ALL, holding()).unwrap();
    publisher.set_listener(StatusMask::ALL, holding()).unwrap();
    reader.set_listener(StatusMask::ALL, holding()).unwrap();
    writer.set_listener(StatusMask::ALL, holding()).unwrap();
    assert_eq!(Arc::strong_count(&life), 6);
    participant.close();
    let entities: [&dyn Entity; 5] = [&participant, &subscriber, &publisher, &reader, &writer];
    for entity in entities {
        entity.closed().block_for(PATIENCE).unwrap();
        assert!(entity.is_closed());
    }
    assert_eq!(Arc::strong_count(&life), 1);
}

#[test]
fn listener_may_close_reader_but_not_await_it() {
    let participant = World::new().participant();
    let (send, told) = mpsc::channel();
    struct Closing(Sender<WaitErrorKind>);
    impl DataReaderListener<Count> for Closing {
        fn on_data_available(&mut self, reader: &DataReader<Count>) {
            reader.close();
            self.0.send(reader.closed().block().unwrap_err().kind().clone()).unwrap();
        }
    }
    let reader = participant.reader::<Count>("t").unwrap();
    reader.set_listener(StatusMask::ALL, Closing(send)).unwrap();
    write(&participant.writer::<Count>("t").unwrap(), 1);
    assert_eq!(told.recv().unwrap(), WaitErrorKind::WouldDeadlock);
    reader.closed().block_for(PATIENCE).unwrap();
    // The listener is gone, and its sender with it.
    assert!(told.recv().is_err());
}

#[test]
fn closed_waits_for_running_callback() {
    let participant = World::new().participant();
    let (entered, in_call) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let finished = Arc::new(Mutex::new(false));
    struct Slow(Sender<()>, Receiver<()>, Arc<Mutex<bool>>);
    impl DataReaderListener<Count> for Slow {
        fn on_data_available(&mut self, _: &DataReader<Count>) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
            *self.2.lock().unwrap() = true;
        }
    }
    let reader = participant.reader::<Count>("t").unwrap();
    reader.set_listener(StatusMask::ALL, Slow(entered, may_leave, Arc::clone(&finished))).unwrap();
    write(&participant.writer::<Count>("t").unwrap(), 1);
    in_call.recv().unwrap();
    reader.close();
    assert!(reader.closed().block_for(dds_core::Duration::ZERO).is_err());
    leave.send(()).unwrap();
    reader.closed().block_for(PATIENCE).unwrap();
    assert!(*finished.lock().unwrap());
}

/// The group closes by itself, or with its participant.
#[test]
fn group_ends_when_its_listener_returns() {
    struct Slow(Sender<()>, Receiver<()>);
    impl Slow {
        fn new() -> (Self, Receiver<()>, Sender<()>) {
            let ((entered, in_call), (leave, may_leave)) = (mpsc::channel(), mpsc::channel());
            (Self(entered, may_leave), in_call, leave)
        }
        fn stay(&self) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
    }
    impl PublisherListener for Slow {
        fn on_publication_matched(&mut self, _: &dyn AnyEndpoint, _: PeerStatus) {
            self.stay();
        }
    }
    impl SubscriberListener for Slow {
        fn on_subscription_matched(&mut self, _: &dyn AnyEndpoint, _: PeerStatus) {
            self.stay();
        }
    }
    for by_participant in [false, true] {
        for is_publisher in [false, true] {
            let participant = World::new().participant();
            let publisher = participant.publisher(PublisherQos::default()).unwrap();
            let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
            let (slow, in_call, leave) = Slow::new();
            match is_publisher {
                true => publisher.set_listener(StatusMask::ALL, slow).unwrap(),
                false => subscriber.set_listener(StatusMask::ALL, slow).unwrap(),
            }
            let topic = participant.topic::<Count>("t", TopicQos::default()).unwrap();
            let _writer = publisher.writer(&topic).unwrap();
            let _reader = subscriber.reader(&topic).unwrap();
            in_call.recv().unwrap();
            let (entity, other): (&dyn Entity, &dyn Entity) =
                if is_publisher { (&publisher, &subscriber) } else { (&subscriber, &publisher) };
            if by_participant {
                participant.close();
            } else {
                entity.close();
                other.close();
            }
            other.closed().block_for(PATIENCE).unwrap();
            assert!(entity.closed().block_for(dds_core::Duration::ZERO).is_err());
            leave.send(()).unwrap();
            entity.closed().block_for(PATIENCE).unwrap();
            // The listener is gone, and its sender with it.
            assert!(in_call.recv().is_err());
        }
    }
}

/// Two inline listeners answer each other forever. A write still returns, and the event thread continues the exchange.
#[test]
fn listeners_writing_back_let_write_return() {
    const ROUNDS: u64 = 10_000;
    let participant = inline();
    let (done, told) = mpsc::channel();
    let ping = participant.writer_builder::<Count>("ping").qos(Preset::Event).build().unwrap();
    let (there, back) = (ping.clone(), participant.writer_builder::<Count>("pong").qos(Preset::Event).build().unwrap());
    let at_pong = back.clone();
    let _pong = participant
        .reader_builder::<Count>("ping")
        .qos(Preset::Event)
        .on_sample(move |sample| back.write(&sample.data.unwrap()).unwrap())
        .build()
        .unwrap();
    let _ping = participant
        .reader_builder::<Count>("pong")
        .qos(Preset::Event)
        .on_sample(move |sample| match sample.data.unwrap().count {
            ROUNDS => done.send(()).unwrap(),
            count => there.write(&Count { count: count + 1 }).unwrap(),
        })
        .build()
        .unwrap();
    at_pong.wait_for_readers(1).block_for(PATIENCE).unwrap();
    write(&ping, 0);
    told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
}

/// Each call of a listener writes the next sample of its topic, so its reader is never empty.
#[test]
fn endless_samples_let_other_listeners_run() {
    const ENOUGH: u64 = 10_000;
    const IN_A_ROW: u64 = 32;
    let participant = World::new().participant();
    let endless = participant.writer_builder::<Count>("endless").qos(Preset::Event).build().unwrap();
    let other = participant.writer_builder::<Count>("other").qos(Preset::Event).build().unwrap();
    let handled = Arc::new(AtomicU64::new(0));
    let (send, told) = mpsc::channel();
    let before = Arc::clone(&handled);
    let _other = participant
        .reader_builder::<Count>("other")
        .qos(Preset::Event)
        .on_sample(move |_| send.send(before.load(Ordering::Relaxed)).unwrap())
        .build()
        .unwrap();
    let (again, beside) = (endless.clone(), other.clone());
    let _endless = participant
        .reader_builder::<Count>("endless")
        .qos(Preset::Event)
        .on_sample(move |sample| {
            let count = sample.data.unwrap().count;
            handled.store(count + 1, Ordering::Relaxed);
            if count == 0 {
                beside.write(&Count { count: 0 }).unwrap();
            }
            // A starved listener ends the test, and does not hang it.
            if count < ENOUGH {
                again.write(&Count { count: count + 1 }).unwrap();
            }
        })
        .build()
        .unwrap();
    other.wait_for_readers(1).block_for(PATIENCE).unwrap();
    endless.wait_for_readers(1).block_for(PATIENCE).unwrap();
    write(&endless, 0);
    let before = told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
    assert!(before <= IN_A_ROW, "{before} samples before the call of another listener");
}

/// No new sample calls a listener again, so it must find the rest by itself.
#[test]
fn on_sample_continues_after_full_turn() {
    const WAITING: u64 = 100;
    let participant = World::new().participant();
    let (entered, in_call) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let (send, told) = mpsc::channel();
    let _reader = participant
        .reader_builder::<Count>("topic")
        .qos(Preset::Event)
        .on_sample(move |sample| {
            let count = sample.data.unwrap().count;
            if count == 0 {
                entered.send(()).unwrap();
                may_leave.recv().unwrap();
            }
            send.send(count).unwrap();
        })
        .build()
        .unwrap();
    let writer = participant.writer_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    write(&writer, 0);
    in_call.recv().unwrap();
    for count in 1..WAITING {
        write(&writer, count);
    }
    leave.send(()).unwrap();
    for count in 0..WAITING {
        assert_eq!(told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap(), count);
    }
}

/// The most event threads of a participant.
const EVENT_THREADS_MAX: usize = 8;

/// Listeners that wait until `open` has a message, and how many of them have been called.
fn waiting_readers(
    participant: &DomainParticipant,
    count: usize,
    called: &Sender<usize>,
    open: Receiver<()>,
) -> Vec<DataReader<Count>> {
    let open = Arc::new(Mutex::new(open));
    let reader = |index: usize| {
        let (called, open) = (called.clone(), Arc::clone(&open));
        let wait = move |reader: &DataReader<Count>| {
            drop(reader.take().unwrap());
            called.send(index).unwrap();
            // An error means that the test is over.
            let _ = open.lock().unwrap().recv();
        };
        let topic = format!("wait {index}");
        participant.reader_builder::<Count>(&topic).qos(Preset::Event).on_data(wait).build().unwrap()
    };
    (0..count).map(reader).collect()
}

#[test]
fn listener_may_wait_for_another_listener() {
    let participant = World::new().participant();
    let (called, calls) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let _waiting = waiting_readers(&participant, 1, &called, opened);
    let opens = move |reader: &DataReader<Count>| {
        drop(reader.take().unwrap());
        open.send(()).unwrap();
        called.send(1).unwrap();
    };
    let _other = participant.reader_builder::<Count>("open").qos(Preset::Event).on_data(opens).build().unwrap();
    let patience = PATIENCE.to_std().unwrap();
    let [first, other] = ["wait 0", "open"].map(|topic| {
        let writer = participant.writer_builder::<Count>(topic).qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer
    });
    // Twice, because a thread that is no longer needed ends.
    for count in 0..2 {
        write(&first, count);
        assert_eq!(calls.recv_timeout(patience), Ok(0));
        write(&other, count);
        assert_eq!(calls.recv_timeout(patience), Ok(1), "the first listener waits for this one");
    }
}

#[test]
fn blocked_listeners_take_a_bounded_number_of_threads() {
    let participant = World::new().participant();
    let (called, calls) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let waiting = waiting_readers(&participant, EVENT_THREADS_MAX + 1, &called, opened);
    let patience = PATIENCE.to_std().unwrap();
    for (index, _) in waiting.iter().enumerate() {
        let writer = participant.writer_builder::<Count>(&format!("wait {index}")).qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        write(&writer, 1);
    }
    let blocked: Vec<usize> = (0..EVENT_THREADS_MAX).map(|_| calls.recv_timeout(patience).unwrap()).collect();
    assert_eq!(blocked, (0..EVENT_THREADS_MAX).collect::<Vec<_>>());
    // Longer than the first eight needed for each other thread.
    let more = calls.recv_timeout(std::time::Duration::from_millis(300));
    assert!(more.is_err(), "a ninth thread has called listener {more:?}");
    open.send(()).unwrap();
    assert_eq!(calls.recv_timeout(patience), Ok(EVENT_THREADS_MAX), "one thread is free again");
    // All waits end.
    drop(open);
}

#[test]
fn blocking_write_fails_in_inline_listener() {
    let participant = inline();
    let mut qos = DataWriterQos::default().keep_all();
    qos.resource_limits.max_samples = Some(1);
    let mut reader_qos = DataReaderQos::default().reliable().keep_all();
    reader_qos.resource_limits.max_samples = Some(1);
    let _slow = participant.reader_builder::<Count>("full").qos(reader_qos).build().unwrap();
    let full = participant.writer_builder::<Count>("full").qos(qos).build().unwrap();
    full.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let (send, told) = mpsc::channel();
    let _reader = participant
        .reader_builder::<Count>("t")
        .on_data(move |_| {
            let refused = (0..10).find_map(|count| full.write(&Count { count }).err()).unwrap();
            send.send(refused.kind().clone()).unwrap();
        })
        .build()
        .unwrap();
    write(&participant.writer::<Count>("t").unwrap(), 1);
    assert!(matches!(told.recv().unwrap(), WriteErrorKind::Full { .. }));
}
