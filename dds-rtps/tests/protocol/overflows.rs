//! Fast small reliable samples to a reader whose receive buffer overflows: their throughput, in virtual time.

use dds_rtps::concurrent::Payload;
use dds_rtps::history::{Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::reader::{KeySource, ReaderConfig, Source, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{
    Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{Message, Receiver, Submessage};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::collections::VecDeque;

const US: u64 = 1_000;

/// Time from a send call to the arrival, and of the receive thread for a datagram.
const DELAY: u64 = 20 * US;
const DATAGRAM: u64 = 3 * US;

/// Bytes that the system adds to each datagram in a receive buffer.
const DATAGRAM_COST: usize = 1 << 10;

/// A writer and a reader on one host.
#[derive(Clone, Copy, Debug)]
struct Load {
    len: usize,
    is_batched: bool,
    /// Time of the writing thread and of the receive thread for a sample.
    write_nanos: u64,
    sample_nanos: u64,
    /// Most bytes in the receive buffer of the reader.
    buffer: usize,
}

/// Datagrams on their way, with their arrival times.
#[derive(Default)]
struct Way {
    datagrams: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
}

impl Way {
    fn push(&mut self, at: u64, bytes: Vec<u8>) {
        self.bytes += bytes.len() + DATAGRAM_COST;
        self.datagrams.push_back((at, bytes));
    }

    fn next(&self) -> Option<u64> {
        self.datagrams.front().map(|(at, _)| *at)
    }

    fn pop(&mut self, now: u64) -> Option<Vec<u8>> {
        if self.next()? > now {
            return None;
        }
        let (_, bytes) = self.datagrams.pop_front()?;
        self.bytes -= bytes.len() + DATAGRAM_COST;
        Some(bytes)
    }
}

struct Host {
    load: Load,
    nanos: u64,
    writer: StatefulWriter,
    reader: StatefulReader,
    there: Way,
    back: Way,
    datagram: Datagram,
    dropped: u64,
    /// Until this time all datagrams to the reader are dropped.
    drops_until: u64,
    /// Time at which the receive thread has handled its datagrams.
    free_at: u64,
}

fn guid(number: u8, kind: u8) -> Guid {
    Guid::new(GuidPrefix::new(VendorId::OURS, [number; 10]), EntityId([0, 0, 1, kind]))
}

impl Host {
    fn new(load: Load) -> Self {
        let mut config = WriterConfig::new(guid(1, 3), false, &DataWriterQos::default().keep_all());
        if load.is_batched {
            config.batch_window = Duration::from_millis(1);
        }
        let qos = DataReaderQos::default().reliable().keep_all();
        let mut host = Self {
            load,
            nanos: 1_000_000,
            writer: StatefulWriter::new(config),
            reader: StatefulReader::new(ReaderConfig::new(guid(2, 4), KeySource::None, &qos)),
            there: Way::default(),
            back: Way::default(),
            datagram: Datagram::new(),
            dropped: 0,
            drops_until: 0,
            free_at: 0,
        };
        let unicast = vec![Locator::udp_v4([127, 0, 0, 1].into(), 7411)];
        let now = host.now();
        let proxy = ReaderProxyConfig {
            reliable: true,
            same_host: true,
            ..ReaderProxyConfig::new(guid(2, 4), unicast.clone())
        };
        host.writer.match_reader(now, proxy);
        assert!(host.reader.match_writer(now, WriterProxyConfig { unicast, ..WriterProxyConfig::new(guid(1, 3)) }));
        host
    }

    fn now(&self) -> Now {
        Now { instant: Instant::from_nanos(self.nanos), time: Time::from_unix_nanos(self.nanos as i64) }
    }

    fn speak(&mut self) {
        let (now, arrival) = (self.now(), self.nanos + DELAY);
        while self.writer.poll_transmit(now, &mut self.datagram) {
            let mut bytes = Vec::new();
            self.datagram.copy_to(&mut bytes);
            let is_full = self.there.bytes + bytes.len() + DATAGRAM_COST > self.load.buffer;
            if is_full || self.nanos < self.drops_until {
                self.dropped += 1;
            } else {
                self.there.push(arrival, bytes);
            }
        }
        while self.reader.poll_transmit(now, &mut self.datagram) {
            let mut bytes = Vec::new();
            self.datagram.copy_to(&mut bytes);
            self.back.push(arrival, bytes);
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        let now = self.now();
        let message = Message::parse(bytes).unwrap();
        let mut receiver = Receiver::new(&message.header);
        self.free_at = self.nanos + DATAGRAM;
        for submessage in message.submessages() {
            let submessage = submessage.unwrap();
            receiver.apply(&submessage);
            let source = Source { writer: guid(1, 3), timestamp: None, vendor: VendorId::OURS, reply: None };
            match &submessage {
                Submessage::Data(data) => {
                    self.free_at += self.load.sample_nanos;
                    self.reader.handle_data(now, &source, data, &());
                }
                Submessage::Gap(gap) => drop(self.reader.handle_gap(now, &source, gap)),
                Submessage::Heartbeat(heartbeat) => drop(self.reader.handle_heartbeat(now, &source, heartbeat)),
                _ => {}
            }
        }
    }

    fn arrive(&mut self) {
        if self.free_at <= self.nanos {
            if let Some(bytes) = self.there.pop(self.nanos) {
                self.receive(&bytes);
            }
        }
        if let Some(bytes) = self.back.pop(self.nanos) {
            for submessage in Message::parse(&bytes).unwrap().submessages() {
                let Submessage::AckNack(ack_nack) = submessage.unwrap() else { continue };
                self.writer.handle_acknack(self.now(), guid(2, 4).into(), &ack_nack);
            }
        }
    }

    /// Writes samples as fast as the writer sends them. After a third of them all datagrams are dropped for a while.
    ///
    /// Returns the samples per second.
    fn transfer(&mut self, samples: usize, outage: u64) -> u64 {
        let begun = self.nanos;
        let (mut written, mut received, mut writes_at) = (0, 0, self.nanos);
        let mut payload = vec![0; self.load.len];
        payload.splice(..4, [0, 1, 0, 0]);
        let mut taken = Vec::new();
        while received < samples {
            assert!(self.nanos < begun + 100_000_000 * US, "{received} of {samples} after 100 s");
            let may_write = written < samples && !self.writer.has_more_to_send();
            if may_write && writes_at <= self.nanos {
                let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&payload));
                self.writer.write(self.now(), change).unwrap();
                written += 1;
                writes_at = self.nanos + self.load.write_nanos;
                if written == samples / 3 {
                    self.drops_until = self.nanos + outage;
                }
            }
            self.speak();
            let there = self.there.next().map(|at| at.max(self.free_at));
            let deadlines = [self.writer.deadline(), self.reader.deadline()].map(|at| at.map(Instant::as_nanos));
            let can_write = written < samples && !self.writer.has_more_to_send();
            let writes = can_write.then_some(writes_at);
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
        samples as u64 * 1_000_000_000 / (self.nanos - begun)
    }
}

/// Most samples per second that the slower thread can handle.
fn possible(load: Load) -> u64 {
    let per_datagram = if load.is_batched { 60_000 / (load.len + 40) } else { 1 };
    let reader = load.sample_nanos + DATAGRAM / per_datagram as u64;
    1_000_000_000 / reader.max(load.write_nanos)
}

/// Transfers samples and returns the share of the possible throughput.
fn share_of_possible(load: Load, samples: usize, outage: u64) -> f64 {
    let mut host = Host::new(load);
    let rate = host.transfer(samples, outage);
    let share = rate as f64 / possible(load) as f64;
    let (writer, reader) = (host.writer.counters(), host.reader.counters());
    println!(
        "{load:?}, {outage} ns: {rate:>8} a second, {share:.2} of the possible; {} dropped, {} repairs, {} twice, {} \
         too far, {} heartbeats, {} acknacks, {} paced",
        host.dropped,
        writer.repairs,
        reader.duplicate,
        reader.out_of_window,
        writer.heartbeats,
        reader.ack_nacks,
        writer.paced
    );
    share
}

/// One overflow starts no row of further losses, whichever side is slower.
#[test]
fn throughput_survives_overflows() {
    let batched = |len, sample_nanos, buffer| Load { len, is_batched: true, write_nanos: 150, sample_nanos, buffer };
    let single =
        |len, sample_nanos| Load { len, is_batched: false, write_nanos: 4_000, sample_nanos, buffer: 416 << 10 };
    let loads = [
        (batched(64, 100, 4 << 20), 60_000),
        (batched(64, 300, 416 << 10), 60_000),
        (batched(1024, 300, 416 << 10), 20_000),
        (batched(64, 20_000, 416 << 10), 60_000),
        (single(64, 300), 10_000),
        (single(64, 20_000), 60_000),
        (single(1024, 20_000), 60_000),
    ];
    for (load, samples) in loads {
        for outage in [100 * US, 2_000 * US] {
            let share = share_of_possible(load, samples, outage);
            assert!(share > 0.5, "{share:.2} of the possible throughput with {load:?}");
        }
    }
}
