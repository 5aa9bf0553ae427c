//! Many small reliable samples over networks with random loss: their retransmissions and their time, in virtual time.

use dds_rtps::concurrent::Payload;
use dds_rtps::history::{Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::reader::{KeySource, ReaderConfig, Source, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{
    EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{Message, Receiver, Submessage};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::collections::VecDeque;

const US: u64 = 1_000;
const LEN: usize = 1_000;

/// Time of the writing thread for a sample, and of the receive thread for a datagram.
const HANDLING: u64 = 4 * US;

/// A network between two hosts, or within one.
#[derive(Clone, Copy)]
struct Network {
    same_host: bool,
    /// Losses in both directions, per thousand datagrams.
    permille: u64,
    /// Delay in one direction.
    delay_us: u64,
}

/// Datagrams in flight in sending order, with their arrival times.
#[derive(Default)]
struct Way(VecDeque<(u64, Vec<u8>)>);

impl Way {
    fn next(&self) -> Option<u64> {
        self.0.front().map(|(at, _)| *at)
    }
}

struct Link {
    network: Network,
    dice: u64,
    nanos: u64,
    writer: StatefulWriter,
    reader: StatefulReader,
    there: Way,
    back: Way,
    datagram: Datagram,
    /// Bytes that the writer and the reader have sent.
    sent: u64,
    /// Time at which the receive thread has handled its datagrams.
    free_at: u64,
}

fn guid(number: u8, kind: u8) -> Guid {
    Guid::new(GuidPrefix::new(VendorId::OURS, [number; 10]), EntityId([0, 0, 1, kind]))
}

impl Link {
    fn new(network: Network, seed: u64) -> Self {
        let writer = WriterConfig::new(guid(1, 3), false, &DataWriterQos::default().keep_all());
        let qos = DataReaderQos::default().reliable().keep_all();
        let mut link = Self {
            network,
            dice: seed,
            nanos: 1_000_000,
            writer: StatefulWriter::new(writer),
            reader: StatefulReader::new(ReaderConfig::new(guid(2, 4), KeySource::None, &qos)),
            there: Way::default(),
            back: Way::default(),
            datagram: Datagram::new(),
            sent: 0,
            free_at: 0,
        };
        let unicast = vec![Locator::udp_v4([127, 0, 0, 1].into(), 7411)];
        let now = link.now();
        let proxy = ReaderProxyConfig {
            reliable: true,
            same_host: network.same_host,
            ..ReaderProxyConfig::new(guid(2, 4), unicast.clone())
        };
        link.writer.match_reader(now, proxy);
        assert!(link.reader.match_writer(now, WriterProxyConfig { unicast, ..WriterProxyConfig::new(guid(1, 3)) }));
        link
    }

    fn now(&self) -> Now {
        Now { instant: Instant::from_nanos(self.nanos), time: Time::from_unix_nanos(self.nanos as i64) }
    }

    fn is_lost(&mut self) -> bool {
        // xorshift64*
        self.dice ^= self.dice >> 12;
        self.dice ^= self.dice << 25;
        self.dice ^= self.dice >> 27;
        (self.dice.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % 1000 < self.network.permille
    }

    /// Both ends send their pending datagrams.
    fn speak(&mut self) {
        let (now, arrival) = (self.now(), self.nanos + self.network.delay_us * US);
        while self.writer.poll_transmit(now, &mut self.datagram) {
            let bytes = self.bytes();
            if !self.is_lost() {
                self.there.0.push_back((arrival, bytes));
            }
        }
        while self.reader.poll_transmit(now, &mut self.datagram) {
            let bytes = self.bytes();
            if !self.is_lost() {
                self.back.0.push_back((arrival, bytes));
            }
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.datagram.copy_to(&mut bytes);
        // As an interface counts: with the headers of UDP, IP and Ethernet.
        self.sent += bytes.len() as u64 + 42;
        bytes
    }

    fn arrive(&mut self) {
        let now = self.now();
        if self.free_at <= self.nanos && self.there.next().is_some_and(|at| at <= self.nanos) {
            let (_, bytes) = self.there.0.pop_front().unwrap();
            self.free_at = self.nanos + HANDLING;
            let message = Message::parse(&bytes).unwrap();
            let mut receiver = Receiver::new(&message.header);
            for submessage in message.submessages() {
                let submessage = submessage.unwrap();
                receiver.apply(&submessage);
                let source = Source { writer: guid(1, 3), timestamp: None, vendor: VendorId::OURS, reply: None };
                match &submessage {
                    Submessage::Data(data) => drop(self.reader.handle_data(now, &source, data, &())),
                    Submessage::Gap(gap) => drop(self.reader.handle_gap(now, &source, gap)),
                    Submessage::Heartbeat(heartbeat) => drop(self.reader.handle_heartbeat(now, &source, heartbeat)),
                    _ => {}
                }
            }
        }
        if self.back.next().is_some_and(|at| at <= self.nanos) {
            let (_, bytes) = self.back.0.pop_front().unwrap();
            for submessage in Message::parse(&bytes).unwrap().submessages() {
                if let Submessage::AckNack(ack_nack) = submessage.unwrap() {
                    self.writer.handle_acknack(now, guid(2, 4).into(), &ack_nack);
                }
            }
        }
    }

    /// Writes samples as fast as possible and waits for all acknowledgments.
    ///
    /// Returns the milliseconds, and the sent bytes per byte of payload.
    fn transfer(&mut self, samples: usize) -> (u64, f64) {
        let (begun, before) = (self.nanos, self.sent);
        let end = begun + 600_000_000 * US;
        let (mut written, mut received) = (0, 0);
        let mut writes_at = self.nanos;
        let mut payload = vec![0; LEN];
        payload.splice(..4, [0, 1, 0, 0]);
        let mut taken = Vec::new();
        while received < samples || !self.writer.is_acknowledged(SequenceNumber(samples as i64)) {
            assert!(self.nanos < end, "{received} of {samples} after ten minutes");
            if written < samples && writes_at <= self.nanos {
                let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&payload));
                self.writer.write(self.now(), change).unwrap();
                written += 1;
                writes_at += HANDLING;
            }
            self.speak();
            let there = self.there.next().map(|at| at.max(self.free_at));
            let deadlines = [self.writer.deadline(), self.reader.deadline()].map(|at| at.map(Instant::as_nanos));
            let writes = (written < samples).then_some(writes_at);
            let next = deadlines.into_iter().chain([writes, there, self.back.next()]).flatten().min().unwrap();
            self.nanos = self.nanos.max(next);
            self.arrive();
            self.writer.handle_timeout(self.now());
            self.reader.handle_timeout(self.now());
            self.reader.select(self.now(), &Selection::default(), Operation::Take, &mut taken);
            for sample in taken.drain(..) {
                received += 1;
                assert_eq!(sample.info.sequence_number, SequenceNumber(received as i64));
            }
        }
        ((self.nanos - begun) / 1_000_000, (self.sent - before) as f64 / (samples * LEN) as f64)
    }
}

/// Sends samples through such a network. Returns milliseconds and sent bytes per byte of payload.
fn measured(network: Network, samples: usize) -> (u64, f64) {
    let mut link = Link::new(network, 7);
    let (ms, share) = link.transfer(samples);
    let Network { same_host, permille, delay_us } = network;
    let (writer, reader) = (link.writer.counters(), link.reader.counters());
    println!(
        "same host {same_host}, {delay_us:>5} us, {permille:>3} of 1000: {ms:>6} ms, {share:.2} of the bytes; \
         {} repairs, {} twice, {} too far, {} heartbeats, {} acknacks",
        writer.repairs, reader.duplicate, reader.out_of_window, writer.heartbeats, reader.ack_nacks
    );
    (ms, share)
}

/// Headers take a tenth. The rest is the loss, the loss of repairs, and so on.
///
/// The time of a repair is that of a second or third attempt. If a third of all datagrams is lost, one sample in ten
/// needs four.
#[test]
fn retransmissions_barely_exceed_losses() {
    let networks = [(true, 20, [200, 400, 2_500]), (false, 500, [1_500, 2_500, 9_000])];
    for (same_host, delay_us, ms_max) in networks {
        for (permille, ms_max) in [10, 100, 300].into_iter().zip(ms_max) {
            let (ms, share) = measured(Network { same_host, permille, delay_us }, 20_000);
            let loss = permille as f64 / 1000.0;
            let limit = 1.12 + 1.2 * loss / (1.0 - loss);
            assert!(share < limit, "{share:.2} of the bytes instead of {limit:.2}");
            assert!(ms < ms_max, "{ms} ms");
        }
    }
}

/// A request and its answer are in flight for a while.
#[test]
fn delayed_samples_are_not_retransmitted_early() {
    for permille in [10, 100, 300] {
        let (_, share) = measured(Network { same_host: false, permille, delay_us: 30_000 }, 4_000);
        let loss = permille as f64 / 1000.0;
        let limit = 1.14 + 1.3 * loss / (1.0 - loss);
        assert!(share < limit, "{share:.2} of the bytes instead of {limit:.2}");
    }
}

/// Writes samples at a fixed rate. Returns how long each takes to arrive, in microseconds and ascending order.
fn latencies(network: Network, period_us: u64, samples: usize) -> Vec<u64> {
    let mut link = Link::new(network, 11);
    let mut payload = vec![0; LEN];
    payload.splice(..4, [0, 1, 0, 0]);
    let begun = link.nanos + 1_000_000 * US;
    let (mut written, mut taken, mut latencies) = (0, Vec::new(), Vec::new());
    while latencies.len() < samples {
        let writes_at = begun + written * period_us * US;
        let may_write = written < samples as u64;
        if may_write && writes_at <= link.nanos {
            let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&payload));
            link.writer.write(link.now(), change).unwrap();
            written += 1;
            continue;
        }
        link.speak();
        let there = link.there.next().map(|at| at.max(link.free_at));
        let deadlines = [link.writer.deadline(), link.reader.deadline()].map(|at| at.map(Instant::as_nanos));
        let writes = may_write.then_some(writes_at);
        let next = deadlines.into_iter().chain([writes, there, link.back.next()]).flatten().min().unwrap();
        link.nanos = link.nanos.max(next);
        link.arrive();
        link.writer.handle_timeout(link.now());
        link.reader.handle_timeout(link.now());
        link.reader.select(link.now(), &Selection::default(), Operation::Take, &mut taken);
        for _ in taken.drain(..) {
            let written_at = begun + latencies.len() as u64 * period_us * US;
            latencies.push((link.nanos - written_at) / US);
        }
    }
    latencies.sort_unstable();
    latencies
}

/// A lost sample costs a few round trips, and not the time until the next sample or HEARTBEAT.
#[test]
fn lost_sample_of_slow_stream_arrives_soon() {
    for period_us in [1_000, 20_000, 100_000] {
        let network = Network { same_host: true, permille: 200, delay_us: 50 };
        let latencies = latencies(network, period_us, 3_000);
        let percentile = |percent: usize| latencies[latencies.len() * percent / 100];
        println!("every {period_us} us: p50 {}, p90 {}, p99 {} us", percentile(50), percentile(90), percentile(99));
        assert!(percentile(99) <= 10_000, "p99 is {} us", percentile(99));
    }
}
