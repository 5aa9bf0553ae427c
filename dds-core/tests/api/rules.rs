//! Externally visible rules of the runtime, each with its test.
//!
//! | rule | tested by |
//! |---|---|
//! | no user code runs inside a cell | `user_code_may_write_in_any_callback`; guard: `nested_entry_of_cells_is_refused` |
//! | a handler enters another cell only by `Cell::hand_over`, which never waits | the same guard, in every test; tidy: `cells_are_entered_from_outside`; exception: `hand_over_to_occupied_cell_never_waits`, models `handing_over_keeps_order_and_strands_nothing`, `handover_does_not_overtake_mail` |
//! | a local delivery is pushed inside the writer's cell | model `writer_order`; `timestamps_follow_sample_order` |
//! | a visitor leaves, fences and looks again | model `no_stranded_mail` |
//! | a visitor serves the waiting mail first | models `offer_keeps_order`, `read_your_write` |
//! | a waiter registers and looks in one visit | models `waiter_is_woken`, `data_beside_a_wait_wakes_it` |
//! | user code runs after every poke of its frame | `user_code_waits_for_all_pokes`; model `listeners_run_after_the_pokes`; with mail served first: `listener_sees_all_deliveries_of_its_write` |
//! | effects run in a loop | `million_chained_effects_need_a_small_stack`, `listeners_writing_back_let_write_return` |
//! | every hold of a cell is short | in steps: `no_cell_is_held_for_many_steps`; by the clock, printed with DDS_TEST_HOLDS=1; `holds_of_every_cell_kind_are_measured`, `a_planted_long_hold_shows_up_with_its_line` |
//! | a full socket blocks no caller | `full_socket_blocks_no_caller`; `full_socket_sends_later_in_order` and the tests beside it |
//! | clocks are read inside the cell | `timestamps_follow_sample_order` |
//! | a timer means "look", not "now" | all simulations, where timers fire late, twice and without cause: `interference_happens_only_if_requested` |
//! | control mail occupies no inbox space, or one entry for each peer | `signals_merge_and_need_no_room`; `acknacks_to_busy_writer_merge_per_reader` (hostile); HEARTBEATs, part of mail with samples: `busy_reader_blocks_no_caller` |
//! | a full inbox blocks no caller | `busy_reader_blocks_no_caller`; its losses are counted: `busy_reader_counts_dropped_samples` |
//! | a waiter that leaves passes its wake on | model `back_pressure_wakes` |
//! | a thread that must not wait gets an error | `receive_thread_refuses_every_wait`, `discovery_thread_refuses_every_wait`; `listener_cannot_shut_down_its_participant` |
//! | close takes the state out | model `close_races_push` |
//! | only handles and running frames are strong references | `dropped_participant_leaves_nothing`, `participant_rounds_leave_no_resources`, `endpoint_rounds_leave_no_resources` |
//! | a panic closes its cell only, or removes its listener only | `panic_in_cell_is_error_at_every_entry`; model `panic_closes`; `panic_removes_listener_and_next_is_notified` (listeners) |
//! | a panic of user code before the cell publishes nothing | `panic_in_encoder_publishes_nothing`; its slot: `slot_returns_after_panic_of_fill`; a thousand times: `panicking_user_code_leaves_no_resources` |
//! | handles know their process | `forked_child_gets_error`, `forked_child_may_drop_entities_of_parent` |
//! | every lock goes through one module | tidy: `actors_take_their_locks_from_the_sync_module` |
//!
//! The models are in `src/actor/models.rs`, and `.ci/run loom` runs them. Each model has a mutant that it must detect.

use crate::support::{PATIENCE, World, alone};
use dds_core::actor::EnterError;
use dds_core::cdr::{Encode, TypeInfo, ViewOf};
use dds_core::condition::WaitSet;
use dds_core::error::EncodeError;
use dds_core::error::{ReadErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use dds_rtps::cdr::{Encoder, TypeDescription};
use dds_rtps::link::Conditions;
use dds_rtps::transport::faults::Faults;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

fn matched(writer: &DataWriter<Count>, reader: &DataReader<Count>) {
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
}

static TALKATIVE: OnceLock<DataWriter<Noisy>> = OnceLock::new();

thread_local! {
    static TALKING: Cell<bool> = const { Cell::new(false) };
    static TALKED: Cell<u64> = const { Cell::new(0) };
}

/// Writes to the shared writer, unless this thread is inside such a write already. All user code below calls it.
fn talk() {
    let Some(writer) = TALKATIVE.get() else { return };
    if !TALKING.replace(true) {
        writer.write(&Noisy { count: 0 }).unwrap();
        TALKED.set(TALKED.get() + 1);
        TALKING.set(false);
    }
}

/// Writes whenever it is dropped.
#[derive(DdsType, Debug)]
struct Noisy {
    count: u64,
}

impl Drop for Noisy {
    fn drop(&mut self) {
        talk();
    }
}

/// A `Noisy` that writes while it is encoded.
struct TalksWhenEncoded;

impl TypeInfo for TalksWhenEncoded {
    const TYPE_NAME: &'static str = Noisy::TYPE_NAME;
    const HAS_KEY: bool = Noisy::HAS_KEY;
    const DESCRIPTION: &'static TypeDescription = Noisy::DESCRIPTION;
}

impl Encode for TalksWhenEncoded {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        talk();
        std::mem::ManuallyDrop::new(Noisy { count: 7 }).encode(e)
    }
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl ViewOf<Noisy> for TalksWhenEncoded {}

/// Writes whenever a log line is emitted.
struct TalksWhenLogged;

impl tracing::Subscriber for TalksWhenLogged {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        talk();
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        talk();
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        talk();
    }
    fn enter(&self, _: &tracing::span::Id) {
        talk();
    }
    fn exit(&self, _: &tracing::span::Id) {
        talk();
    }
}

/// The encoder, `Drop`, a log layer and wakers write to the writer that is at work. No call blocks or fails.
#[test]
fn user_code_may_write_in_any_callback() {
    struct Talks;
    impl Wake for Talks {
        fn wake(self: Arc<Self>) {
            talk();
        }
    }
    let participant = World::new().builder().delivery(Delivery::Inline).build().unwrap();
    let writer = participant.writer::<Noisy>("noise").unwrap();
    assert!(TALKATIVE.set(writer.clone()).is_ok());
    let reader = participant.reader_builder::<Noisy>("noise").on_event(|_, _| talk()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let talked_by = |f: &dyn Fn()| {
        let before = TALKED.get();
        f();
        TALKED.get() - before
    };
    assert!(talked_by(&|| writer.write_view(&TalksWhenEncoded).unwrap()) > 0, "the encoder");
    assert!(talked_by(&|| drop(reader.next_sample().block_for(PATIENCE).unwrap())) > 0, "the drop of a sample");
    reader.take().unwrap();
    let waker = Waker::from(Arc::new(Talks));
    assert!(pin!(reader.next_sample()).poll(&mut Context::from_waker(&waker)).is_pending());
    let wait = reader.readable();
    let mut wait = pin!(wait);
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    TALKING.set(true);
    let quiet = std::mem::ManuallyDrop::new(Noisy { count: 1 });
    TALKING.set(false);
    assert!(talked_by(&|| writer.write(&quiet).unwrap()) > 0, "the waker");
    tracing::subscriber::with_default(TalksWhenLogged, || {
        let made = || {
            let more = participant.reader::<Noisy>("noise").unwrap();
            writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
            more.close();
            drop(participant.writer::<Noisy>("noise").unwrap());
        };
        assert!(talked_by(&made) > 0, "the log");
    });
    assert!(!writer.is_closed() && !reader.is_closed());
}

/// A listener of reader A takes the sample that the same write delivered to reader B.
#[test]
fn listener_sees_all_deliveries_of_its_write() {
    let participant = World::new().builder().delivery(Delivery::Inline).build().unwrap();
    let writer = participant.writer::<Count>("t").unwrap();
    // One reader is created before and one after, so the order of the readers does not matter.
    let before = participant.reader::<Count>("t").unwrap();
    let late = Arc::new(OnceLock::<DataReader<Count>>::new());
    let (send, told) = mpsc::channel();
    let (at_before, at_late) = (before.clone(), Arc::clone(&late));
    let _listening = participant
        .reader_builder::<Count>("t")
        .on_data(move |_| {
            let count = |reader: &DataReader<Count>| reader.take().unwrap().len();
            send.send((count(&at_before), at_late.get().map(count))).unwrap();
        })
        .build()
        .unwrap();
    late.set(participant.reader::<Count>("t").unwrap()).unwrap();
    writer.wait_for_readers(3).block_for(PATIENCE).unwrap();
    for count in 0..10 {
        writer.write(&Count { count }).unwrap();
        assert_eq!(told.try_recv().unwrap(), (1, Some(1)));
    }
}

/// Large samples, lost datagrams and slow local readers, while the writer writes and all readers request repairs.
#[test]
fn no_cell_is_held_for_many_steps() {
    const SAMPLES: u64 = 300;
    #[derive(DdsType, Debug, Clone, PartialEq)]
    struct Block {
        count: u64,
        bytes: Vec<u8>,
    }
    let world = World::new();
    let faults = Faults { seed: 3, conditions: Conditions::immediate().lossy(0.2), blocked: 0.1, blocked_in_a_row: 1 };
    let from = world.builder().faults(faults).build().unwrap();
    let remotes = [world.udp_participant(), world.udp_participant(), world.udp_participant()];
    let mut slow = DataReaderQos::default().reliable().keep_all();
    slow.resource_limits = ResourceLimits::NONE.max_samples(4);
    let mut readers: Vec<_> =
        remotes.iter().map(|remote| remote.reader_builder::<Block>("t").qos(Preset::Event).build().unwrap()).collect();
    readers.push(from.reader_builder::<Block>("t").qos(slow).build().unwrap());
    let writer = from.writer_builder::<Block>("t").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(readers.len()).block_for(PATIENCE).unwrap();
    std::thread::scope(|scope| {
        for reader in &readers {
            scope.spawn(move || {
                for count in 0..SAMPLES {
                    let sample = reader.next_sample().block_for(PATIENCE).unwrap();
                    assert_eq!(sample.data.unwrap().count, count);
                }
            });
        }
        for count in 0..SAMPLES {
            // Every tenth sample has some 16 fragments of an Ethernet frame, or one of 64 KB and more.
            let len = if count % 10 == 0 { 200_000 } else { 100 };
            writer.write(&Block { count, bytes: vec![count as u8; len] }).unwrap();
        }
    });
    let holds = writer.holds();
    println!("writer\n{holds}");
    let others = readers.iter().map(DataReader::holds).fold(from.holds(), dds_core::actor::Holds::join);
    println!("readers and discovery\n{others}");
    if cfg!(debug_assertions) {
        assert!(holds.datagrams.count() > SAMPLES);
        // A visit serves signals first and then its own work, so it sends at most twice the share of one.
        assert!(holds.datagrams.max() <= 16, "{holds}");
        assert!(holds.redeliveries.max() <= 64 * readers.len() as u32, "{holds}");
        assert!(others.datagrams.max() <= 16, "{others}");
        // The capacity of an inbox, and the signals.
        assert!(holds.mail.max().max(others.mail.max()) <= 256 + 8, "{holds}\n{others}");
    }
}

/// The statistics of `DDS_TEST_HOLDS=1` cover each kind of cell and name the caller. Durations are not checked.
#[test]
#[cfg(debug_assertions)]
fn holds_of_every_cell_kind_are_measured() {
    if !alone("rules::holds_of_every_cell_kind_are_measured") {
        return;
    }
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let reader = to.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    (0..10).for_each(|count| writer.write(&Count { count }).unwrap());
    (0..10).for_each(|_| _ = reader.next_sample().block_for(PATIENCE).unwrap());
    let times = dds_core::actor::hold_times();
    for kind in ["WriterActor", "ReaderActor", "ParticipantActor"] {
        let times = times.iter().find(|times| times.kind().ends_with(kind)).unwrap();
        assert!(times.count() > 0, "{times}");
        // The records belong to the process. Other tests may hold their cells for a long time.
        let longest = times.longest().unwrap();
        assert!([file!(), "src/"].iter().any(|part| longest.at.file().contains(part)), "{times}");
    }
}

#[test]
fn full_socket_blocks_no_caller() {
    let world = World::new();
    let faults = Faults { seed: 5, blocked: 0.95, ..Faults::default() };
    let (from, to) = (world.builder().udp_only(true).faults(faults).build().unwrap(), world.udp_participant());
    let reader = to.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for count in 0..50 {
                    writer.write(&Count { count }).unwrap();
                    assert_eq!(writer.publication_matched().current_count, 1);
                }
            });
        }
    });
    let holds = writer.holds();
    assert!(holds.datagrams.max() <= 16, "{holds}");
    for _ in 0..200 {
        reader.next_sample().block_for(PATIENCE).unwrap();
    }
}

#[test]
fn timestamps_follow_sample_order() {
    const EACH: u64 = 2_000;
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let writer = &writer;
            scope.spawn(move || {
                (0..EACH).for_each(|count| writer.write(&Count { count: thread << 32 | count }).unwrap())
            });
        }
    });
    let samples: Vec<_> = reader.take().unwrap().into_iter().collect();
    assert_eq!(samples.len() as u64, 2 * EACH);
    assert!(samples.iter().map(|sample| sample.info.source_timestamp).is_sorted());
    for thread in 0..2 {
        let counts =
            samples.iter().map(|sample| sample.data.as_ref().unwrap().count).filter(|count| count >> 32 == thread);
        assert!(counts.is_sorted());
    }
}

/// While the application occupies a reader's cell and its inbox overflows, all others continue. Repairs replace the
/// dropped samples.
///
/// With the feature `rt`, the delivering thread waits instead and lends its priority to the thread inside.
#[test]
#[cfg(not(feature = "rt"))]
fn busy_reader_blocks_no_caller() {
    const SAMPLES: u64 = 1_000;
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let qos = Preset::Event;
    let busy = to.reader_builder::<Count>("t").qos(qos).build().unwrap();
    let free = to.reader_builder::<Count>("t").qos(qos).build().unwrap();
    let writer = from.writer_builder::<Count>("t").qos(qos).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    [&busy, &free].iter().for_each(|reader| reader.wait_for_writers(1).block_for(PATIENCE).unwrap());
    let (entered, inside) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let take = |reader: &DataReader<Count>| {
        for count in 0..SAMPLES {
            assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count }));
        }
    };
    std::thread::scope(|scope| {
        let at_busy = &busy;
        scope.spawn(move || {
            at_busy.inside(|| {
                entered.send(()).unwrap();
                may_leave.recv().unwrap();
            })
        });
        inside.recv().unwrap();
        scope.spawn(|| (0..SAMPLES).for_each(|count| writer.write(&Count { count }).unwrap()));
        // One receive thread delivers all samples and finds the other reader occupied each time.
        take(&free);
        leave.send(()).unwrap();
        take(&busy);
    });
    assert!(to.traffic().inbox_full > 0, "the inbox has not overflowed, so nothing was tested");
    assert_eq!(busy.sample_lost().total_count, 0);
}

/// The same with best effort: the ledger of losses counts samples without space in the inbox.
#[test]
#[cfg(not(feature = "rt"))]
fn busy_reader_counts_dropped_samples() {
    const SAMPLES: u64 = 1_000;
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let qos = DataReaderQos::default().keep_all();
    let busy = to.reader_builder::<Count>("t").qos(qos.clone()).build().unwrap();
    let free = to.reader_builder::<Count>("t").qos(qos.reliable()).build().unwrap();
    let writer = from.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    [&busy, &free].iter().for_each(|reader| reader.wait_for_writers(1).block_for(PATIENCE).unwrap());
    let next = |reader: &DataReader<Count>| reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count;
    // The ledger's row of a best-effort writer begins with the first received sample.
    writer.write(&Count { count: 0 }).unwrap();
    assert_eq!((next(&busy), next(&free)), (0, 0));
    let (entered, inside) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let at_busy = &busy;
        scope.spawn(move || {
            at_busy.inside(|| {
                entered.send(()).unwrap();
                may_leave.recv().unwrap();
            })
        });
        inside.recv().unwrap();
        scope.spawn(|| (1..SAMPLES).for_each(|count| writer.write(&Count { count }).unwrap()));
        // One thread delivers the samples to both readers, and the last sample is the last to overflow.
        while next(&free) + 1 < SAMPLES {}
        leave.send(()).unwrap();
    });
    writer.write(&Count { count: SAMPLES }).unwrap();
    let mut got = 1;
    while next(&busy) < SAMPLES {
        got += 1;
    }
    got += 1;
    let losses = busy.losses();
    let row = losses.total();
    assert_eq!(row.known, row.received + row.not_received.total() + row.awaited, "{row:?}");
    assert_eq!((row.known, row.delivered()), (SAMPLES + 1, got), "{row:?}");
    assert!(row.undelivered.inbox_overflow > 0, "the inbox has not overflowed, so nothing was tested");
    assert_eq!(row.lost() + row.undelivered.total(), busy.sample_lost().total_count);
    // Only samples that the socket dropped have really not arrived.
    assert!(row.lost() == 0 || losses.socket_dropped != Some(0), "{losses:?}");
    let cause = losses.likely_cause().unwrap();
    assert!(row.lost() > 0 || matches!(cause, dds_core::stats::LikelyCause::InboxOverflow { .. }), "{cause}");
}

/// Makes every blocking call in a waker.
///
/// A waker is application code that runs on a thread of the participant.
struct Waits {
    participant: DomainParticipant,
    reader: DataReader<Count>,
    full: DataWriter<Count>,
    _stuck: DataReader<Count>,
    wait_set: WaitSet,
    results: Mutex<mpsc::Sender<Refused>>,
}

/// The thread's name, the result of `write`, and the results of the waits.
type Refused = (String, WriteErrorKind, Vec<WaitErrorKind>);

impl Waits {
    /// Creates it in a participant of `world` with a reader of "t" and a full writer. Returns it with the receiver of
    /// its reports.
    fn new(world: &World) -> (Arc<Self>, mpsc::Receiver<Refused>) {
        let participant = world.udp_participant();
        let mut limited = DataWriterQos::default().keep_all();
        limited.resource_limits.max_samples = Some(1);
        let mut stuck = DataReaderQos::default().reliable().keep_all();
        stuck.resource_limits.max_samples = Some(1);
        let stuck = participant.reader_builder::<Count>("full").qos(stuck).build().unwrap();
        let full = participant.writer_builder::<Count>("full").qos(limited).build().unwrap();
        full.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let reader = participant.reader::<Count>("t").unwrap();
        let (results, told) = mpsc::channel();
        let wait_set = WaitSet::new(&participant);
        (Arc::new(Self { participant, reader, full, _stuck: stuck, wait_set, results: Mutex::new(results) }), told)
    }

    fn refused(told: &mpsc::Receiver<Refused>, thread: &str) {
        let (on, write, waits) = told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
        assert_eq!(on, thread);
        assert!(matches!(write, WriteErrorKind::Full { .. }), "{write}");
        assert_eq!(waits, vec![WaitErrorKind::WouldDeadlock; 8]);
    }
}

impl Wake for Waits {
    fn wake(self: Arc<Self>) {
        let full = (0..10).find_map(|count| self.full.write(&Count { count }).err()).unwrap();
        let kinds = [
            self.reader.wait_for_writers(9).block(),
            self.full.acknowledged().block(),
            self.wait_set.wait().block().map(|_| ()),
            self.reader.events().next_event().block().map(|_| ()),
            self.reader.closed().block(),
            self.participant.shutdown().block(),
            self.participant.find_topic::<Count>("unknown topic").block().map(|_| ()),
        ]
        .map(|result| result.unwrap_err().kind().clone());
        // Awaiting fails as well as blocking, because a wait on this thread would prevent the event it waits for.
        let awaited = match pin!(self.participant.shutdown()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ended) => ended.unwrap_err().kind().clone(),
            Poll::Pending => panic!("a thread waits for its own end"),
        };
        let kinds = [&kinds[..], &[awaited]].concat();
        let on = std::thread::current().name().unwrap_or_default().to_owned();
        self.results.lock().unwrap().send((on, full.kind().clone(), kinds)).unwrap();
    }
}

#[test]
fn receive_thread_refuses_every_wait() {
    let world = World::new();
    let (waits, told) = Waits::new(&world);
    let reader = waits.reader.clone();
    let from = world.udp_participant();
    let writer = from.writer::<Count>("t").unwrap();
    matched(&writer, &reader);
    let waker = Waker::from(waits);
    let mut readable = pin!(reader.readable());
    assert_eq!(readable.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
    writer.write(&Count { count: 1 }).unwrap();
    Waits::refused(&told, "dds-receive");
}

/// The thread of discovery and timers refuses every wait.
///
/// It wakes callers that wait for readers of other processes. A refused `shutdown` ends nothing, and works on another
/// thread.
#[test]
fn discovery_thread_refuses_every_wait() {
    let world = World::new();
    let (waits, told) = Waits::new(&world);
    let participant = waits.participant.clone();
    let writer = participant.writer::<Count>("far").unwrap();
    let waker = Waker::from(waits);
    {
        let mut matched = pin!(writer.wait_for_readers(1));
        assert_eq!(matched.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
        let far = world.udp_participant();
        let _reader = far.reader::<Count>("far").unwrap();
        Waits::refused(&told, "dds-io");
        assert!(matches!(matched.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(()))));
    }
    assert!(!participant.is_closed());
    participant.shutdown().block_for(PATIENCE).unwrap();
    assert!(participant.is_closed());
}

#[test]
fn panic_in_cell_is_error_at_every_entry() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let (writer, reader) = (from.writer::<Count>("t").unwrap(), to.reader::<Count>("t").unwrap());
    let healthy = to.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    // The healthy reader keeps no history: the writer must know it before it writes.
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    let waiting = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| reader.wait_for_writers(9).block_for(PATIENCE));
        assert_eq!(reader.inside(|| panic!("on purpose")), Err(EnterError::Failed));
        waiter.join().unwrap()
    });
    assert!(matches!(waiting.unwrap_err().kind(), WaitErrorKind::Internal { .. }));
    assert!(matches!(reader.take().unwrap_err().kind(), ReadErrorKind::Internal { .. }));
    assert_eq!(reader.subscription_matched(), Default::default());
    assert!(matches!(reader.readable().block().unwrap_err().kind(), WaitErrorKind::Internal { .. }));
    assert!(reader.is_closed());
    // The receive thread finds the closed cell and serves the other reader.
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count: 1 }).unwrap();
    assert_eq!(healthy.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count: 1 }));

    assert_eq!(writer.inside(|| panic!("on purpose")), Err(EnterError::Failed));
    assert!(matches!(writer.write(&Count { count: 2 }).unwrap_err().kind(), WriteErrorKind::Internal { .. }));
    assert_eq!(writer.publication_matched(), Default::default());
    assert!(matches!(writer.acknowledged().block().unwrap_err().kind(), WaitErrorKind::Internal { .. }));

    assert_eq!(from.inside(|| panic!("on purpose")), Err(EnterError::Failed));
    assert!(from.writer::<Count>("u").is_err());
    // All of it can be dropped.
}

#[test]
fn panic_in_encoder_publishes_nothing() {
    struct Panics;
    impl TypeInfo for Panics {
        const TYPE_NAME: &'static str = Count::TYPE_NAME;
        const HAS_KEY: bool = Count::HAS_KEY;
        const DESCRIPTION: &'static TypeDescription = Count::DESCRIPTION;
    }
    impl Encode for Panics {
        fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
            Count { count: 1 }.encode(e)?;
            panic!("on purpose");
        }
        fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
            self.encode(e)
        }
    }
    impl ViewOf<Count> for Panics {}
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    for count in 0..3 {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.write_view(&Panics)));
        assert!(panic.is_err());
        writer.write(&Count { count }).unwrap();
    }
    let taken: Vec<Count> = reader.take().unwrap().into_data().collect();
    assert_eq!(taken, [0, 1, 2].map(|count| Count { count }));
}

/// Nothing that belongs to a participant keeps it alive: timers, sockets, waits, conditions, streams, listeners.
#[test]
fn dropped_participant_leaves_nothing() {
    let life = Arc::new(());
    let world = World::new();
    let (one, other) = (world.participant(), world.udp_participant());
    let weak = one.downgrade();
    let held = Arc::clone(&life);
    let reader =
        one.reader_builder::<Count>("t").qos(Preset::Event).on_data(move |_| drop(Arc::clone(&held))).build().unwrap();
    let writer = other.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    matched(&writer, &reader);
    writer.write(&Count { count: 1 }).unwrap();
    let (condition, events) = (reader.status_condition(), reader.events());
    drop(one);
    assert!(weak.upgrade().is_some(), "a reader keeps its participant");
    drop(reader);
    assert!(weak.upgrade().is_none());
    assert_eq!(Arc::strong_count(&life), 1);
    assert!(events.next_event().block_for(PATIENCE).is_err());
    drop(condition);
}
