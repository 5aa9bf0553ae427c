//! Large reliable samples through a receive buffer that is much smaller than the samples.

use dds_rtps::concurrent::{BorrowedBytes, BorrowedPool, Payload};
use dds_rtps::history::{Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::reader::{KeySource, ReaderConfig, Source, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{
    Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{Message, Receiver, Submessage};
use dds_rtps::writer::{CongestionConfig, NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::collections::VecDeque;

const US: u64 = 1_000;
const MIB: usize = 1 << 20;

/// Default limit of a receive buffer in Linux, in the kernel's count.
const LINUX_DEFAULT: usize = 425_984;

/// Longest UDP datagram.
const UDP_MAX: usize = 65_507;

/// Overhead of a datagram in a receive buffer.
const OVERHEAD: usize = 832;

/// A reader's host: its receive buffer and the speed of its receive thread.
#[derive(Clone, Copy)]
struct Host {
    same_host: bool,
    /// Receive buffer in bytes, including headers.
    buffer: usize,
    /// Bytes that the receive thread handles in a microsecond.
    bytes_per_us: usize,
    /// Microseconds of every millisecond in which the thread gets no core.
    pause_us: u64,
    /// One in this many datagrams is lost on the way. 0 means none.
    lost: u64,
}

/// Random losses in both directions, per thousand datagrams.
#[derive(Clone, Copy)]
struct Chance {
    permille: u64,
    state: u64,
}

impl Chance {
    fn strikes(&mut self) -> bool {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % 1000 < self.permille
    }
}

/// A writer that sends as fast as it can, and a reader behind a receive buffer.
struct Link {
    host: Host,
    nanos: u64,
    /// Time at which the receive thread has handled all datagrams that it took.
    busy_until: u64,
    writer: StatefulWriter,
    reader: StatefulReader,
    buffer: VecDeque<Vec<u8>>,
    buffered: usize,
    datagrams: u64,
    dropped: u64,
    datagram: Datagram,
    chance: Chance,
    /// Whether the writer learns the free space of the buffer on request.
    tells: bool,
    told: u64,
    /// Longest message that the transport promises. 0: that of UDP.
    long_max: usize,
    /// The transport drops all messages that are longer than those of UDP.
    drops_long: bool,
}

fn guid(number: u8, kind: u8) -> Guid {
    Guid::new(GuidPrefix::new(VendorId::OURS, [number; 10]), EntityId([0, 0, 1, kind]))
}

impl Link {
    fn new(host: Host, congestion: CongestionConfig) -> Self {
        Self::with(host, congestion, &DataReaderQos::default().reliable().keep_all())
    }

    fn with(host: Host, congestion: CongestionConfig, qos: &DataReaderQos) -> Self {
        let writer = DataWriterQos::default().keep_all();
        let writer = WriterConfig { congestion, ..WriterConfig::new(guid(1, 3), false, &writer) };
        let reader = ReaderConfig::new(guid(2, 4), KeySource::None, qos);
        let reliable = reader.reliable;
        let mut link = Self {
            host,
            nanos: 1_000_000,
            busy_until: 0,
            writer: StatefulWriter::new(writer),
            reader: StatefulReader::new(reader),
            buffer: VecDeque::new(),
            buffered: 0,
            datagrams: 0,
            dropped: 0,
            datagram: Datagram::new(),
            chance: Chance { permille: 0, state: 1 },
            tells: false,
            told: 0,
            long_max: 0,
            drops_long: false,
        };
        let unicast = vec![Locator::udp_v4([127, 0, 0, 1].into(), 7411)];
        let now = link.now();
        let proxy = ReaderProxyConfig {
            reliable,
            same_host: host.same_host,
            ..ReaderProxyConfig::new(guid(2, 4), unicast.clone())
        };
        link.writer.match_reader(now, proxy);
        assert!(link.reader.match_writer(now, WriterProxyConfig { unicast, ..WriterProxyConfig::new(guid(1, 3)) }));
        link.run_until(|link| link.writer.is_acknowledged(SequenceNumber(0)));
        link
    }

    fn now(&self) -> Now {
        Now { instant: Instant::from_nanos(self.nanos), time: Time::from_unix_nanos(self.nanos as i64) }
    }

    /// The writer sends all that it may. A full buffer drops the excess.
    fn send(&mut self) {
        self.send_what_may();
        while self.tells && self.writer.waits_for_room(self.now()).is_some() {
            self.told += 1;
            if !self.writer.note_room(self.now(), Some(self.host.buffer - self.buffered)) {
                break;
            }
            self.send_what_may();
        }
    }

    fn send_what_may(&mut self) {
        let now = self.now();
        let long_max = self.long_max;
        self.writer.update_long_message_max(|locators| {
            assert_eq!(locators, [Locator::udp_v4([127, 0, 0, 1].into(), 7411)]);
            long_max
        });
        while self.writer.poll_transmit(now, &mut self.datagram) {
            self.datagrams += 1;
            if self.drops_long && self.datagram.len() > UDP_MAX {
                self.dropped += 1;
                continue;
            }
            // A prime step spreads the losses evenly over the datagrams.
            let lost = self.host.lost > 0 && (self.datagrams * 7919) % self.host.lost == 0;
            let lost = lost || self.chance.strikes();
            let len = self.datagram.len() + OVERHEAD;
            // As on Linux, an empty buffer accepts a datagram of any length.
            if lost || (self.buffered > 0 && self.buffered + len > self.host.buffer) {
                self.dropped += 1;
                continue;
            }
            self.buffered += len;
            let mut bytes = Vec::new();
            self.datagram.copy_to(&mut bytes);
            self.buffer.push_back(bytes);
        }
    }

    /// The receive thread takes one datagram. Its answers reach the writer at once.
    fn receive(&mut self) {
        let Some(bytes) = self.buffer.pop_front() else { return };
        self.buffered -= bytes.len() + OVERHEAD;
        let took = bytes.len() as u64 * US / self.host.bytes_per_us as u64;
        self.busy_until = self.nanos + took;
        // The thread gets no core in the first part of each millisecond.
        let in_ms = self.busy_until % (1000 * US);
        if in_ms < self.host.pause_us * US {
            self.busy_until += self.host.pause_us * US - in_ms;
        }
        let now = self.now();
        let message = Message::parse(&bytes).unwrap();
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages() {
            let submessage = submessage.unwrap();
            receiver.apply(&submessage);
            let source = Source {
                writer: guid(1, 3),
                timestamp: receiver.source_timestamp,
                vendor: VendorId::OURS,
                reply: None,
            };
            match &submessage {
                Submessage::Data(data) => drop(self.reader.handle_data(now, &source, data, &())),
                Submessage::DataFrag(frag) => drop(self.reader.handle_data_frag(now, &source, frag)),
                Submessage::Gap(gap) => drop(self.reader.handle_gap(now, &source, gap)),
                Submessage::Heartbeat(heartbeat) => drop(self.reader.handle_heartbeat(now, &source, heartbeat)),
                Submessage::HeartbeatFrag(frag) => drop(self.reader.handle_heartbeat_frag(now, &source, frag)),
                _ => {}
            }
            self.answer();
        }
    }

    fn answer(&mut self) {
        let now = self.now();
        while self.reader.poll_transmit(now, &mut self.datagram) {
            if self.chance.strikes() {
                continue;
            }
            let mut bytes = Vec::new();
            self.datagram.copy_to(&mut bytes);
            for submessage in Message::parse(&bytes).unwrap().submessages() {
                match submessage.unwrap() {
                    Submessage::AckNack(ack_nack) => self.writer.handle_acknack(now, guid(2, 4).into(), &ack_nack),
                    Submessage::NackFrag(nack_frag) => self.writer.handle_nack_frag(now, guid(2, 4).into(), &nack_frag),
                    _ => {}
                }
                self.send();
            }
        }
    }

    fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        // In virtual time, so a stalled transfer fails fast.
        let end = self.nanos + 60_000_000 * US;
        while !done(self) {
            assert!(self.nanos < end, "not done after a minute");
            self.send();
            let taken = (!self.buffer.is_empty()).then_some(self.busy_until);
            let deadlines = [self.writer.deadline(), self.reader.deadline()].map(|at| at.map(Instant::as_nanos));
            let next = deadlines.into_iter().chain([taken]).flatten().min().unwrap();
            self.nanos = self.nanos.max(next);
            let now = self.now();
            if self.busy_until <= self.nanos {
                self.receive();
            }
            self.writer.handle_timeout(now);
            self.reader.handle_timeout(now);
            self.answer();
        }
    }

    fn write(&mut self, sample: usize, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|index| (index / 3 + index / 1000 + sample) as u8).collect();
        // The encapsulation header of little-endian XCDR1.
        bytes.splice(..4, [0, 1, 0, 0]);
        let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&bytes));
        self.writer.write(self.now(), change).unwrap();
        bytes
    }

    /// Waits until everything is sent and read.
    fn settle(&mut self) {
        self.run_until(|link| link.writer.sent_up_to() == link.writer.last_sequence_number() && link.buffer.is_empty());
    }

    /// Sends samples of `len` bytes in succession. Returns the share of bytes that was sent twice, in percent.
    fn transfer(&mut self, samples: usize, len: usize) -> f64 {
        let before = self.writer.counters();
        for sample in 0..samples {
            let bytes = self.write(sample, len);
            self.run_until(|link| {
                let last = link.writer.last_sequence_number();
                // The last fragments may still wait in the receive buffer after the acknowledgment.
                link.writer.is_acknowledged(last) && link.writer.sent_up_to() == last && link.buffer.is_empty()
            });
            let mut taken = Vec::new();
            self.reader.select(self.now(), &Selection::default(), Operation::Take, &mut taken);
            assert_eq!(taken.len(), 1, "sample {sample} has lost something");
            assert!(taken[0].payload.as_ref().unwrap().bytes() == bytes, "sample {sample} is damaged");
        }
        let after = self.writer.counters();
        let repaired = after.fragment_bytes_repaired - before.fragment_bytes_repaired;
        100.0 * repaired as f64 / (after.fragment_bytes - before.fragment_bytes) as f64
    }
}

#[test]
fn large_sample_fits_smallest_receive_buffer() {
    for same_host in [true, false] {
        let host = Host { same_host, buffer: LINUX_DEFAULT, bytes_per_us: 1000, pause_us: 0, lost: 0 };
        for buffer in [LINUX_DEFAULT, 8 << 20] {
            let mut link = Link::new(Host { buffer, ..host }, CongestionConfig::default());
            let first = link.transfer(1, 16 * MIB);
            let later = link.transfer(2, 16 * MIB);
            println!("same host {same_host}, buffer {buffer}: {first:.2} %, then {later:.2} %");
            assert!(first < 10.0, "{first:.1} % of the first sample were sent twice; buffer {buffer}");
            assert!(later < 5.0, "{later:.1} % of later samples were sent twice; buffer {buffer}");
        }
    }
}

#[test]
fn pausing_receiver_loses_little() {
    for same_host in [true, false] {
        let host = Host { same_host, buffer: LINUX_DEFAULT, bytes_per_us: 2000, pause_us: 700, lost: 0 };
        let mut link = Link::new(host, CongestionConfig::default());
        let share = link.transfer(2, 16 * MIB);
        println!("same host {same_host}: {share:.2} %");
        assert!(share < 10.0, "{share:.1} % were sent twice");
    }
}

#[test]
fn oversized_window_shrinks_to_buffer_size() {
    let host = Host { same_host: true, buffer: LINUX_DEFAULT, bytes_per_us: 1000, pause_us: 0, lost: 0 };
    let mut link = Link::new(host, CongestionConfig { same_host: 8 << 20, ..CongestionConfig::default() });
    link.transfer(1, 16 * MIB);
    let share = link.transfer(3, 16 * MIB);
    println!("{share:.2} %");
    assert!(share < 10.0, "{share:.1} % were sent twice");
}

#[test]
fn repairs_barely_exceed_network_loss() {
    let host = Host { same_host: false, buffer: LINUX_DEFAULT, bytes_per_us: 1000, pause_us: 0, lost: 50 };
    let mut link = Link::new(host, CongestionConfig::default());
    let share = link.transfer(2, 16 * MIB);
    println!("{share:.2} %");
    assert!(share < 5.0, "{share:.1} % were sent twice for a loss of 2 %");
}

/// In virtual time an answer takes microseconds, so all measured time is needless waiting.
#[test]
fn loss_of_a_third_causes_no_stall() {
    for (same_host, permille, ms_max) in [(true, 100, 100), (true, 300, 600), (false, 100, 300), (false, 300, 1500)] {
        let host = Host { same_host, buffer: LINUX_DEFAULT, bytes_per_us: 1000, pause_us: 0, lost: 0 };
        let mut link = Link::new(host, CongestionConfig::default());
        link.chance = Chance { permille, state: 7 };
        let began = link.nanos;
        let share = link.transfer(8, MIB);
        let ms = (link.nanos - began) / 8 / 1_000_000;
        println!("same host {same_host}, {permille} of 1000: {ms} ms per sample, {share:.0} % were sent twice");
        assert!(ms < ms_max, "{ms} ms per sample");
    }
}

/// The receive buffer holds a few datagrams, and the reader takes a millisecond for each.
#[test]
fn tiny_receive_buffer_gets_all_with_few_repeats() {
    // The limit is hardly more than the reader's time to receive the sample once.
    for (same_host, buffer, ms_max) in
        [(false, 3 << 10, 450), (false, 16 << 10, 450), (false, 64 << 10, 600), (true, 16 << 10, 30)]
    {
        let bytes_per_us = if same_host { 60 } else { 1 };
        let host = Host { same_host, buffer, bytes_per_us, pause_us: 0, lost: 0 };
        let mut link = Link::new(host, CongestionConfig::default());
        let began = link.nanos;
        let first = link.transfer(4, 300_000);
        let later = link.transfer(4, 300_000);
        let ms = (link.nanos - began) / 8 / 1_000_000;
        println!("same host {same_host}, buffer {buffer}: {ms} ms, {first:.0} % sent twice, then {later:.0} %");
        assert!(first < 300.0 && later < 150.0, "buffer {buffer}: {first:.0} % were sent twice, then {later:.0} %");
        assert!(ms < ms_max, "buffer {buffer}: {ms} ms per sample");
    }
}

#[test]
fn best_effort_pacing_avoids_own_losses() {
    let best_effort = DataReaderQos::default().best_effort();
    // The default of Linux, and the size that it grants on request.
    for (window, buffer, pause_us) in [(208 << 10, LINUX_DEFAULT, 200), (4 << 20, 8 << 20, 900)] {
        let host = Host { same_host: true, buffer, bytes_per_us: 5000, pause_us, lost: 0 };
        let congestion = CongestionConfig { same_host: window, ..CongestionConfig::default() };
        let mut link = Link::with(host, congestion, &best_effort);
        link.transfer(3, MIB);
        link.transfer(2, 16 * MIB);
        assert_eq!(link.dropped, 0);
        let host = Host { same_host: false, ..host };
        let mut link = Link::with(host, CongestionConfig::default(), &best_effort);
        link.transfer(2, 16 * MIB);
        assert_eq!(link.dropped, 0);
    }
}

/// One reader is slower than the sending rate, and one is faster.
#[test]
fn best_effort_rate_follows_reported_space() {
    let best_effort = DataReaderQos::default().best_effort();
    for (window, buffer) in [(208 << 10, LINUX_DEFAULT), (4 << 20, 8 << 20)] {
        for (bytes_per_us, pause_us) in [(200, 300), (5000, 0)] {
            let host = Host { same_host: true, buffer, bytes_per_us, pause_us, lost: 0 };
            let congestion = CongestionConfig { same_host: window, ..CongestionConfig::default() };
            let mut link = Link::with(host, congestion, &best_effort);
            link.tells = true;
            let began = link.nanos;
            link.transfer(3, 16 * MIB);
            assert_eq!(link.dropped, 0, "by a reader of {bytes_per_us} bytes per us with a buffer of {buffer}");
            let ms = (link.nanos - began) / 1_000_000;
            println!("{bytes_per_us} bytes per us, buffer {buffer}: {ms} ms, asked {} times", link.told);
            // At the sending rate the slow reader would lose datagrams, and the fast one would need 90 ms. A small
            // buffer is reported full most of the time.
            let is_fast = bytes_per_us > 500 && window > 1 << 20;
            assert!(!is_fast || ms < 40, "{ms} ms");
        }
    }
}

/// A host whose memory takes messages of any length.
fn memory() -> Host {
    Host { same_host: true, buffer: 64 * MIB, bytes_per_us: 1000, pause_us: 0, lost: 0 }
}

#[test]
fn long_message_carries_whole_sample() {
    for qos in [DataReaderQos::default().reliable().keep_all(), DataReaderQos::default().keep_all()] {
        for len in [65_004, 65_600, 65_603, 100_000, 2 * MIB] {
            let mut link = Link::with(memory(), CongestionConfig::default(), &qos);
            link.long_max = len + 200;
            let before = link.datagrams;
            link.transfer(10, len);
            // The sample, and its HEARTBEAT for a reliable reader.
            assert!(link.datagrams - before <= 25, "{} messages", link.datagrams - before);
            assert_eq!(link.writer.counters().fragment_bytes, 0);
        }
    }
}

/// Memory that a transport has lent.
#[derive(Default)]
struct Lent(Vec<u8>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl BorrowedBytes for Lent {
    fn give_back(&mut self) {
        self.0 = Vec::new();
    }
}

/// Each sample is longer than other long messages, and two of them do not fit into the buffer.
#[test]
fn lent_samples_go_out_whole_when_their_reader_has_room() {
    for qos in [DataReaderQos::default().best_effort().keep_all(), DataReaderQos::default().reliable().keep_all()] {
        let host = Host { buffer: 9 * MIB, ..memory() };
        let mut link = Link::with(host, CongestionConfig::default(), &qos);
        (link.tells, link.long_max) = (true, MIB);
        let pool = BorrowedPool::<Lent>::new();
        let before = link.datagrams;
        for sample in 0..5 {
            let lent = pool.fill(|place| {
                place.0 = vec![sample; 6 * MIB];
                Ok::<(), ()>(())
            });
            let now = link.now();
            link.writer.write(now, NewChange::alive(InstanceHandle::NIL, lent.unwrap())).unwrap();
            link.send();
        }
        link.run_until(|link| {
            let last = link.writer.last_sequence_number();
            link.writer.is_acknowledged(last) && link.writer.sent_up_to() == last && link.buffer.is_empty()
        });
        let mut taken = Vec::new();
        link.reader.select(link.now(), &Selection::default(), Operation::Take, &mut taken);
        let first_bytes: Vec<u8> = taken.iter().map(|change| change.payload.as_ref().unwrap().bytes()[0]).collect();
        assert_eq!(first_bytes, [0, 1, 2, 3, 4]);
        if qos.reliability == DataReaderQos::default().best_effort().reliability {
            assert_eq!((link.dropped, link.datagrams - before), (0, 5));
            assert_eq!(link.writer.counters().fragment_bytes, 0);
        }
    }
}

#[test]
fn sample_longer_than_long_message_goes_out_in_fragments() {
    let mut link = Link::new(memory(), CongestionConfig::default());
    link.long_max = 100_000;
    link.transfer(3, 100_000);
    assert_eq!(link.writer.counters().fragment_bytes, 300_000);
    link.transfer(1, 90_000);
    assert_eq!(link.writer.counters().fragment_bytes, 300_000);
}

#[test]
fn lost_long_message_is_repaired_in_fragments() {
    let mut link = Link::new(memory(), CongestionConfig::default());
    link.long_max = 2 * MIB;
    link.chance = Chance { permille: 300, state: 7 };
    let began = link.nanos;
    link.transfer(30, MIB);
    let ms = (link.nanos - began) / 30 / 1_000_000;
    println!("{ms} ms per sample");
    assert!(ms < 600, "{ms} ms per sample");
    let counters = link.writer.counters();
    assert!(counters.fragment_bytes == 0 && counters.fragment_bytes_repaired > MIB as u64, "{counters:?}");
}

/// The transport promises long messages, and drops each of them: its memory is full.
#[test]
fn dropped_long_messages_delay_samples_but_lose_none() {
    let mut link = Link::new(memory(), CongestionConfig::default());
    (link.long_max, link.drops_long) = (2 * MIB, true);
    let began = link.nanos;
    link.transfer(10, MIB);
    let ms = (link.nanos - began) / 10 / 1_000_000;
    println!("{ms} ms per sample");
    assert!(ms < 100, "{ms} ms per sample");
    assert_eq!(link.dropped, 10, "each sample goes whole once");
}

/// The carrier changes between samples.
#[test]
fn fragments_and_long_messages_take_turns() {
    let mut link = Link::new(memory(), CongestionConfig::default());
    for turn in 0..6 {
        link.long_max = if turn % 2 == 0 { 0 } else { 2 * MIB };
        link.transfer(2, MIB);
    }
    assert_eq!(link.writer.counters().fragment_bytes, 6 * MIB as u64);
}

/// The transport ends while a large change waits between small ones.
#[test]
fn change_between_small_ones_follows_the_present_limit() {
    let mut link = Link::with(memory(), CongestionConfig::default(), &DataReaderQos::default().keep_all());
    for turn in 0..6 {
        let is_long = turn % 2 == 0;
        (link.long_max, link.drops_long) = if is_long { (2 * MIB, false) } else { (0, true) };
        // The large change is the last one, and the writer asks for the limit.
        let mut written = Vec::new();
        for (sample, len) in [100, MIB].into_iter().enumerate() {
            written.push(link.write(sample, len));
        }
        link.settle();
        // The answer to it is outdated.
        (link.long_max, link.drops_long) = if is_long { (0, true) } else { (2 * MIB, false) };
        for (sample, len) in [100, MIB, 100].into_iter().enumerate() {
            written.push(link.write(sample, len));
        }
        link.settle();
        let mut taken = Vec::new();
        link.reader.select(link.now(), &Selection::default(), Operation::Take, &mut taken);
        let taken: Vec<_> = taken.iter().map(|sample| sample.payload.as_ref().unwrap().bytes()).collect();
        assert!(taken == written, "{} of {} arrived", taken.len(), written.len());
    }
    assert_eq!(link.dropped, 0);
}

/// The batch window paces small changes, and long messages are paced without it.
#[test]
fn pacer_counts_long_message_once() {
    let [alone, batched] = [0, 1].map(|millis| {
        let mut link = Link::with(memory(), CongestionConfig::default(), &DataReaderQos::default().keep_all());
        link.writer.set_batch_window(Duration::from_millis(millis));
        link.long_max = 2 * MIB;
        let began = link.nanos;
        (0..30).for_each(|sample| drop(link.write(sample, MIB)));
        link.settle();
        assert_eq!(link.writer.counters().fragment_bytes, 0);
        (link.nanos - began) / 1_000_000
    });
    println!("{alone} ms without a batch window, {batched} ms with one");
    assert!(batched < alone + alone / 4, "{batched} ms, and {alone} ms without a batch window");
}

/// Datagrams for other hosts must fit into their frames.
#[test]
fn readers_on_other_hosts_get_no_long_message() {
    let mut link = Link::new(Host { same_host: false, ..memory() }, CongestionConfig::default());
    link.long_max = 2 * MIB;
    link.transfer(1, MIB);
    assert_eq!(link.writer.counters().fragment_bytes, MIB as u64);
}
