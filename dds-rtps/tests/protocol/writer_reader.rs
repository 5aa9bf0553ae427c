//! Writers and readers over a network that loses, reorders and duplicates, in virtual time. Each seed is one repeatable
//! run.

use dds_rtps::concurrent::{LocalLink, Payload};
use dds_rtps::history::{HistoryLimits, Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::{DataReaderQos, DataWriterQos, Durability, History, ResourceLimits};
use dds_rtps::reader::{
    KeySource, LocalOutcome, ReaderConfig, Source, StatefulReader, StatefulReaderEvent, WriterProxyConfig,
};
use dds_rtps::types::{
    EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{Message, Receiver, Submessage};
use dds_rtps::writer::{
    FragmentSize, NewChange, ReaderProxyConfig, StatefulWriter, StatefulWriterEvent, WriteRefused, WriterConfig,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const WRITER_PORT: u16 = 7000;
const GROUP_PORT: u16 = 6999;
const SEEDS: u64 = 30;

/// xorshift64*: sufficient to shuffle datagrams.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// Faults of the network and size of the samples.
#[derive(Clone, Copy)]
struct Conditions {
    loss_percent: u64,
    duplicate_percent: u64,
    delay_max: u64,
    payload_max: u64,
    /// New samples go out once, to the group of all readers.
    by_group: bool,
}

const FAIR: Conditions =
    Conditions { loss_percent: 0, duplicate_percent: 0, delay_max: MS / 10, payload_max: 200, by_group: false };
const BAD: Conditions =
    Conditions { loss_percent: 20, duplicate_percent: 10, delay_max: 4 * MS, payload_max: 200, by_group: false };
const BAD_AND_LARGE: Conditions = Conditions { payload_max: 12_000, ..BAD };

/// QoS of a reader, and when both sides learn of each other.
#[derive(Clone, Copy)]
struct Wish {
    reliable: bool,
    wants_history: bool,
    history: History,
    max_samples: Option<u32>,
    /// Number of samples after which the writer matches it.
    joins_after: i64,
    /// The reader knows the writer before the writer knows the reader.
    knows_first: bool,
}

const RELIABLE: Wish = Wish {
    reliable: true,
    wants_history: false,
    history: History::KeepAll,
    max_samples: None,
    joins_after: 0,
    knows_first: false,
};
const BEST_EFFORT: Wish = Wish { reliable: false, ..RELIABLE };

/// A reader and the samples that it has taken.
struct Subscriber {
    reader: StatefulReader,
    wish: Wish,
    port: u16,
    /// Time at which it matches the writer: a little later than the writer matches it, if not before.
    matches_at: Option<u64>,
    /// The writer has matched it.
    joined: bool,
    taken: Vec<i64>,
    /// Number of samples reported as lost.
    lost: u64,
    /// Minimum interval between takes.
    take_pause: u64,
    takes_at: u64,
}

/// A datagram in flight: arrival, order, port, bytes.
type UnderWay = (u64, u64, u16, Vec<u8>);

struct Shuttle {
    random: Random,
    conditions: Conditions,
    nanos: u64,
    writer: StatefulWriter,
    subscribers: Vec<Subscriber>,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    sent: u64,
    datagram: Datagram,
}

fn guid(number: u8, entity: [u8; 4]) -> Guid {
    Guid::new(GuidPrefix::new(VendorId::OURS, [number; 10]), EntityId(entity))
}

fn locator(port: u16) -> Locator {
    Locator::udp_v4([10, 0, 0, 1].into(), port)
}

fn now_at(nanos: u64) -> Now {
    Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(1_000_000_000_000 + nanos as i64) }
}

fn payload_of(number: i64, len: usize) -> Payload {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(number.to_le_bytes());
    // An encoded payload is padded to a multiple of 4, because DATA cannot tell where it ends.
    bytes.extend((12..len.max(12).next_multiple_of(4)).map(|index| (index as i64 * 7 + number) as u8));
    Payload::copy_of(&bytes)
}

impl Shuttle {
    fn new(seed: u64, qos: &DataWriterQos, conditions: Conditions, wishes: &[Wish]) -> Self {
        let mut config = WriterConfig::new(guid(1, [0, 0, 1, 3]), false, qos);
        config.fragment_size = FragmentSize { same_host: 65_000, network: 500 };
        let subscribers = wishes.iter().enumerate().map(|(index, wish)| Subscriber::new(index as u8, *wish));
        Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            conditions,
            nanos: 0,
            writer: StatefulWriter::new(config),
            subscribers: subscribers.collect(),
            under_way: BinaryHeap::new(),
            sent: 0,
            datagram: Datagram::new(),
        }
    }

    fn now(&self) -> Now {
        now_at(self.nanos)
    }

    fn write(&mut self) -> Result<(), WriteRefused> {
        self.join();
        let number = self.writer.last_sequence_number().0 + 1;
        let len = self.random.below(self.conditions.payload_max) as usize;
        let change = NewChange::alive(InstanceHandle::NIL, payload_of(number, len));
        let written = self.writer.write(self.now(), change);
        // Sometimes a few samples wait together.
        if written.is_err() || self.random.percent(70) {
            self.transmit();
        }
        written.map(|_| ())
    }

    /// Lets the writer match the readers that are due.
    fn join(&mut self) {
        let written = self.writer.last_sequence_number().0;
        for index in 0..self.subscribers.len() {
            let subscriber = &mut self.subscribers[index];
            if subscriber.wish.joins_after != written || subscriber.joined {
                continue;
            }
            subscriber.joined = true;
            // The reader learns of the writer up to 5 ms later.
            subscriber.matches_at.get_or_insert(self.nanos + self.random.below(5 * MS));
            let unicast = vec![locator(subscriber.port)];
            let proxy = ReaderProxyConfig {
                reliable: subscriber.wish.reliable,
                wants_history: subscriber.wish.wants_history,
                multicast: if self.conditions.by_group { vec![locator(GROUP_PORT)] } else { Vec::new() },
                ..ReaderProxyConfig::new(subscriber.reader.guid(), unicast)
            };
            self.writer.match_reader(now_at(self.nanos), proxy);
        }
    }

    fn transmit(&mut self) {
        let mut datagram = std::mem::take(&mut self.datagram);
        let now = self.now();
        while self.writer.poll_transmit(now, &mut datagram) {
            self.send(&datagram);
        }
        for index in 0..self.subscribers.len() {
            while self.subscribers[index].reader.poll_transmit(now, &mut datagram) {
                self.send(&datagram);
            }
        }
        self.datagram = datagram;
    }

    fn send(&mut self, datagram: &Datagram) {
        let mut bytes = Vec::new();
        datagram.copy_to(&mut bytes);
        // 1472 bytes are the UDP payload of an Ethernet frame.
        assert!(bytes.len() <= 1472, "{} bytes do not fit into a frame", bytes.len());
        let ports = datagram.destinations().iter().flat_map(|destination| match destination.port as u16 {
            GROUP_PORT => self.subscribers.iter().map(|subscriber| subscriber.port).collect(),
            port => vec![port],
        });
        for port in ports {
            // Each copy has its own delay and may be lost alone, so copies also reorder.
            let copies = 1 + u64::from(self.random.percent(self.conditions.duplicate_percent));
            for _ in 0..copies {
                if self.random.percent(self.conditions.loss_percent) {
                    continue;
                }
                let arrival = self.nanos + 1000 + self.random.below(self.conditions.delay_max);
                self.sent += 1;
                self.under_way.push(Reverse((arrival, self.sent, port, bytes.clone())));
            }
        }
    }

    /// Advances the time: datagrams arrive, deadlines fire, readers take.
    fn run_until(&mut self, end: u64) {
        self.transmit();
        while let Some(next) = self.next_moment().filter(|&next| next <= end) {
            self.nanos = next.max(self.nanos);
            let now = self.now();
            while self.under_way.peek().is_some_and(|Reverse((arrival, ..))| *arrival <= self.nanos) {
                let Reverse((_, _, port, bytes)) = self.under_way.pop().unwrap();
                self.deliver(port, &bytes);
            }
            if self.writer.deadline().is_some_and(|deadline| deadline <= now.instant) {
                self.writer.handle_timeout(now);
            }
            for subscriber in &mut self.subscribers {
                subscriber.tick(now, self.writer.guid());
            }
            self.transmit();
        }
        self.nanos = self.nanos.max(end);
    }

    fn next_moment(&self) -> Option<u64> {
        let arrival = self.under_way.peek().map(|Reverse((arrival, ..))| *arrival);
        let writer = self.writer.deadline().map(Instant::as_nanos);
        let readers = self.subscribers.iter().filter_map(Subscriber::next_moment);
        // The clock always advances, so a deadline in the past causes no endless loop.
        readers.chain(arrival).chain(writer).map(|next| next.max(self.nanos + 1)).min()
    }

    fn deliver(&mut self, port: u16, bytes: &[u8]) {
        let now = self.now();
        let message = Message::parse(bytes).unwrap();
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages() {
            let submessage = submessage.unwrap();
            receiver.apply(&submessage);
            match self.subscribers.iter_mut().find(|subscriber| subscriber.port == port) {
                Some(subscriber) => subscriber.handle(now, &receiver, &submessage),
                None => match &submessage {
                    Submessage::AckNack(ack_nack) => {
                        self.writer.handle_acknack(now, receiver.source(ack_nack.reader_id).into(), ack_nack);
                    }
                    Submessage::NackFrag(nack_frag) => {
                        self.writer.handle_nack_frag(now, receiver.source(nack_frag.reader_id).into(), nack_frag);
                    }
                    _ => {}
                },
            }
        }
    }

    /// Writes `count` samples at random intervals, and waits while the history is full.
    fn write_all(&mut self, count: i64) {
        while self.writer.last_sequence_number().0 < count {
            let pause = self.random.below(2 * MS);
            if self.write() == Err(WriteRefused::Full) {
                let give_up = self.nanos + 60_000 * MS;
                while self.writer.poll_event() != Some(StatefulWriterEvent::SpaceFreed) {
                    assert!(self.nanos < give_up, "no room after a minute");
                    self.run_until(self.nanos + MS);
                }
            }
            self.run_until(self.nanos + pause);
        }
        self.join();
    }

    /// Runs until all readers have everything and no side has anything to send.
    fn settle(&mut self) {
        let end = self.nanos + 60_000 * MS;
        while self.nanos < end && self.next_moment().is_some() {
            self.run_until(self.nanos + 10 * MS);
        }
        assert_eq!(self.next_moment(), None, "the writer or the reader still has a deadline");
        assert!(self.writer.is_acknowledged(self.writer.last_sequence_number()));
        assert_eq!(self.writer.counters().malformed, 0, "the reader's requests make sense");
    }
}

impl Subscriber {
    fn new(index: u8, wish: Wish) -> Self {
        let mut limits = ResourceLimits::NONE;
        limits.max_samples = wish.max_samples;
        let config = ReaderConfig {
            reliable: wish.reliable,
            wants_history: wish.wants_history,
            limits: HistoryLimits::new(wish.history, limits),
            ..ReaderConfig::new(guid(10 + index, [0, 0, 1, 4]), KeySource::None, &DataReaderQos::default())
        };
        Self {
            reader: StatefulReader::new(config),
            wish,
            port: WRITER_PORT + 1 + u16::from(index),
            matches_at: wish.knows_first.then_some(0),
            joined: false,
            taken: Vec::new(),
            lost: 0,
            // A slow reader fills its history, which exercises the resource limit.
            take_pause: if wish.max_samples.is_some() { 3 * MS } else { 0 },
            takes_at: 0,
        }
    }

    fn next_moment(&self) -> Option<u64> {
        let takes_at = (!self.reader.history().is_empty()).then_some(self.takes_at);
        let deadline = self.reader.deadline().map(Instant::as_nanos);
        let matches_at = self.matches_at.filter(|&at| at != u64::MAX);
        [takes_at, deadline, matches_at].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Now, writer: Guid) {
        let nanos = now.instant.as_nanos();
        if self.matches_at.is_some_and(|at| at <= nanos) {
            // The reader matches only once.
            self.matches_at = Some(u64::MAX);
            let unicast = [locator(WRITER_PORT)].into_iter().collect();
            assert!(self.reader.match_writer(now, WriterProxyConfig { unicast, ..WriterProxyConfig::new(writer) }));
        }
        if self.reader.deadline().is_some_and(|deadline| deadline <= now.instant) {
            self.reader.handle_timeout(now);
        }
        if self.takes_at <= nanos {
            self.takes_at = nanos + self.take_pause;
            let mut samples = Vec::new();
            self.reader.select(now, &Selection::default(), Operation::Take, &mut samples);
            for sample in samples {
                let payload = sample.payload.unwrap();
                let number = sample.info.sequence_number.0;
                let written = payload_of(number, payload.len());
                assert!(payload.bytes() == written.bytes(), "sample {number} is damaged");
                self.taken.push(number);
            }
        }
        while let Some(event) = self.reader.poll_event() {
            if let StatefulReaderEvent::SampleLost { count, .. } = event {
                self.lost += count;
            }
        }
    }

    fn handle(&mut self, now: Now, receiver: &Receiver, submessage: &Submessage<'_>) {
        if !receiver.is_for(self.reader.guid().prefix) {
            return;
        }
        let source = |writer_id| Source {
            writer: receiver.source(writer_id),
            timestamp: receiver.source_timestamp,
            vendor: receiver.source_vendor,
            reply: None,
        };
        let reader = &mut self.reader;
        match submessage {
            Submessage::Data(data) => drop(reader.handle_data(now, &source(data.writer_id), data, &())),
            Submessage::DataFrag(frag) => drop(reader.handle_data_frag(now, &source(frag.writer_id), frag)),
            Submessage::Gap(gap) => drop(reader.handle_gap(now, &source(gap.writer_id), gap)),
            Submessage::Heartbeat(heartbeat) => {
                reader.handle_heartbeat(now, &source(heartbeat.writer_id), heartbeat);
            }
            Submessage::HeartbeatFrag(heartbeat) => {
                reader.handle_heartbeat_frag(now, &source(heartbeat.writer_id), heartbeat);
            }
            _ => {}
        }
    }

    fn assert_exactly(&self, first: i64, last: i64) {
        assert_eq!(self.taken, (first..=last).collect::<Vec<_>>());
        assert_eq!(self.lost, 0);
    }

    /// Checks that the reader has everything from `first` on. Samples sent to the group just before may be there too.
    fn assert_ends_with(&self, first: i64, last: i64) {
        let (early, promised) = self.taken.split_at(self.taken.partition_point(|&number| number < first));
        assert_eq!(promised, (first..=last).collect::<Vec<_>>());
        assert!(early.windows(2).all(|pair| pair[0] < pair[1]), "{early:?}");
        assert_eq!(self.lost, 0);
    }

    fn assert_growing(&self) {
        assert!(self.taken.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", self.taken);
    }
}

/// Runs `count` samples under many seeds.
fn for_all_seeds(qos: &DataWriterQos, conditions: Conditions, wishes: &[Wish], count: i64, check: impl Fn(&Shuttle)) {
    for seed in 0..SEEDS {
        // The output contains the seed of a failing run.
        println!("seed {seed}");
        let mut shuttle = Shuttle::new(seed, qos, conditions, wishes);
        shuttle.write_all(count);
        shuttle.settle();
        check(&shuttle);
    }
}

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

#[test]
fn fair_network_needs_no_repairs() {
    for_all_seeds(&keep_all(), FAIR, &[RELIABLE, BEST_EFFORT], 200, |shuttle| {
        // The best-effort reader matches late, so its first samples may be missing.
        shuttle.subscribers[0].assert_exactly(1, 200);
        shuttle.subscribers[1].assert_growing();
        assert_eq!(shuttle.writer.history_len(), 1);
    });
}

#[test]
fn reliable_readers_get_all_once_and_in_order() {
    for_all_seeds(&keep_all(), BAD, &[RELIABLE, RELIABLE], 300, |shuttle| {
        for subscriber in &shuttle.subscribers {
            subscriber.assert_exactly(1, 300);
        }
        assert_eq!(shuttle.writer.history_len(), 1);
    });
}

#[test]
fn large_samples_survive_fragment_loss() {
    for_all_seeds(&keep_all(), BAD_AND_LARGE, &[RELIABLE, BEST_EFFORT], 60, |shuttle| {
        shuttle.subscribers[0].assert_exactly(1, 60);
        shuttle.subscribers[1].assert_growing();
    });
}

#[test]
fn best_effort_samples_stay_unique_and_ordered() {
    for_all_seeds(&keep_all().best_effort(), BAD, &[BEST_EFFORT, BEST_EFFORT], 300, |shuttle| {
        for subscriber in &shuttle.subscribers {
            subscriber.assert_growing();
            assert!(subscriber.taken.len() > 50);
        }
        assert_eq!(shuttle.writer.counters().heartbeats, 0);
    });
}

#[test]
fn keep_last_skips_replaced_and_ends_with_last() {
    let qos = DataWriterQos::default().keep_last(3);
    for_all_seeds(&qos, BAD_AND_LARGE, &[RELIABLE, BEST_EFFORT], 100, |shuttle| {
        shuttle.subscribers[0].assert_growing();
        assert!(shuttle.subscribers[0].taken.ends_with(&[98, 99, 100]));
        shuttle.subscribers[1].assert_growing();
    });
}

#[test]
fn late_joiners_get_history_by_durability() {
    let late = Wish { joins_after: 100, ..RELIABLE };
    let late_with_history = Wish { wants_history: true, ..late };
    let after_the_last = Wish { joins_after: 200, ..late_with_history };
    let qos = keep_all().durability(Durability::TransientLocal);
    for_all_seeds(&qos, BAD, &[RELIABLE, late, late_with_history, after_the_last], 200, |shuttle| {
        shuttle.subscribers[0].assert_exactly(1, 200);
        shuttle.subscribers[1].assert_exactly(101, 200);
        shuttle.subscribers[2].assert_exactly(1, 200);
        shuttle.subscribers[3].assert_exactly(1, 200);
        assert_eq!(shuttle.writer.history_len(), 200);
    });
}

#[test]
fn late_joiner_gets_remaining_shallow_history() {
    let late = Wish { joins_after: 50, wants_history: true, ..RELIABLE };
    let qos = DataWriterQos::default().keep_last(10).durability(Durability::TransientLocal);
    for_all_seeds(&qos, BAD_AND_LARGE, &[late], 50, |shuttle| shuttle.subscribers[0].assert_exactly(41, 50));
}

#[test]
fn small_history_slows_writer_and_loses_nothing() {
    let limits = ResourceLimits::NONE.max_samples(8);
    for_all_seeds(&keep_all().resource_limits(limits), BAD, &[RELIABLE, RELIABLE], 100, |shuttle| {
        for subscriber in &shuttle.subscribers {
            subscriber.assert_exactly(1, 100);
        }
    });
}

#[test]
fn reader_without_space_gets_everything_finally() {
    let narrow = Wish { max_samples: Some(4), ..RELIABLE };
    for_all_seeds(&keep_all(), BAD, &[narrow, RELIABLE], 100, |shuttle| {
        for subscriber in &shuttle.subscribers {
            subscriber.assert_exactly(1, 100);
        }
    });
}

#[test]
fn unmatched_reader_leaves_writer_at_rest() {
    let mut shuttle = Shuttle::new(7, &keep_all(), BAD, &[RELIABLE]);
    shuttle.write_all(50);
    let reader = shuttle.subscribers[0].reader.guid();
    assert!(shuttle.writer.unmatch_reader(shuttle.now(), reader));
    assert!(shuttle.writer.is_acknowledged(SequenceNumber(50)));
    assert_eq!(shuttle.writer.deadline(), None);
}

/// Checks readers that learn of the writer before or after it learns of them.
///
/// A HEARTBEAT to several readers begins with the oldest reader's first relevant sequence number. New samples also
/// reach readers that do not know the writer yet. Neither may give a volatile reader history, nor make a reader count
/// history as lost.
#[test]
fn order_of_matching_does_not_matter() {
    let group = Conditions { by_group: true, ..BAD };
    let first = Wish { knows_first: true, ..RELIABLE };
    let wishes = [
        RELIABLE,
        Wish { joins_after: 30, ..first },
        Wish { joins_after: 60, ..RELIABLE },
        Wish { joins_after: 90, wants_history: true, ..first },
    ];
    let qos = keep_all().durability(Durability::TransientLocal);
    for_all_seeds(&qos, group, &wishes, 150, |shuttle| {
        shuttle.subscribers[0].assert_exactly(1, 150);
        shuttle.subscribers[1].assert_ends_with(31, 150);
        shuttle.subscribers[2].assert_ends_with(61, 150);
        shuttle.subscribers[3].assert_exactly(1, 150);
    });
}

/// Sends no datagram. The link applies back-pressure, whichever of the two histories is smaller.
#[test]
fn local_samples_stay_ordered_in_small_histories() {
    for (writer_max, reader_max) in [(4, 4), (2, 9), (9, 2)] {
        let limits = |max| ResourceLimits::NONE.max_samples(max);
        let qos = keep_all().resource_limits(limits(writer_max));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid(1, [0, 0, 1, 3]), false, &qos));
        let qos = DataReaderQos::default().reliable().keep_all().resource_limits(limits(reader_max));
        let reader = guid(1, [0, 0, 2, 4]);
        let mut reader = StatefulReader::new(ReaderConfig::new(reader, KeySource::None, &qos));
        let link = Arc::new(LocalLink::new());
        let first = writer.match_local(now_at(0), Arc::clone(&link), reader.guid(), true, false);
        let proxy = WriterProxyConfig::new(writer.guid());
        assert!(reader.match_local_writer(now_at(0), proxy, first, Some(Arc::clone(&link))));
        let mut random = Random(7);
        let mut taken = Vec::new();
        let mut millis = 0;
        while taken.len() < 500 {
            millis += 1;
            assert!(millis < 100_000, "it stands still");
            let now = now_at(millis * MS);
            if random.percent(60) {
                let change = NewChange::alive(InstanceHandle::NIL, payload_of(1, 12));
                if let Ok(number) = writer.write(now, change) {
                    let mut change = writer.change(number).unwrap().clone();
                    let _ = reader.handle_local(now, &mut change, number.previous());
                }
            }
            if random.percent(30) {
                let mut samples = Vec::new();
                let selection = Selection { samples_max: 3, ..Selection::default() };
                reader.select(now, &selection, Operation::Take, &mut samples);
                taken.extend(samples.iter().map(|sample| sample.info.sequence_number.0));
            }
            while let Some(event) = reader.poll_event() {
                let StatefulReaderEvent::LocalSpace { .. } = event else { continue };
                let from = link.take_request().unwrap();
                let again: Vec<_> = writer.changes_from(from).cloned().collect();
                again.into_iter().all(|mut change| {
                    let previous = change.sequence_number.previous();
                    reader.handle_local(now, &mut change, previous) == LocalOutcome::Accepted
                });
            }
            writer.handle_local_progress(now);
        }
        let expected: Vec<i64> = (1..).take(taken.len()).collect();
        assert_eq!(taken, expected);
        assert!(!writer.poll_transmit(now_at(millis * MS), &mut Datagram::new()));
    }
}
