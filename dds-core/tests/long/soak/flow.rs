//! Streams of samples: their content, their QoS, and the expected result.

use super::Soak;
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, History, Reliability, ResourceLimits};
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

/// Longest wait of a writer for room, and of a reader for a sample.
const WAIT: Duration = Duration::from_millis(200);
/// Instances of senders that a receiver remembers: more than exist at once.
const REMEMBERED_MAX: usize = 1024;
/// Instances of a stream of states. Other streams have one.
const KEYS: u64 = 64;

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Parcel {
    #[dds(key)]
    key: u32,
    sender: u64,
    count: u64,
    filling: Vec<u8>,
}

/// A stream.
pub(crate) struct Flow {
    topic: &'static str,
    /// Bytes of each sample.
    len: usize,
    reliable: bool,
    /// History depth. `None`: KEEP_ALL, within a resource limit.
    depth: Option<u32>,
    transient_local: bool,
    /// The writer does not wait for slow readers.
    demotes: bool,
}

const fn flow(topic: &'static str, len: usize, reliable: bool, depth: Option<u32>) -> Flow {
    Flow { topic, len, reliable, depth, transient_local: false, demotes: false }
}

pub(crate) const FLOWS: [Flow; 8] = [
    flow("reliable/small", 16, true, None),
    flow("reliable/medium", 4_000, true, None),
    flow("reliable/large", 300_000, true, None),
    flow("effort/small", 16, false, Some(10)),
    flow("effort/medium", 4_000, false, Some(10)),
    flow("effort/large", 300_000, false, Some(2)),
    Flow { transient_local: true, ..flow("state", 100, true, Some(1)) },
    Flow { demotes: true, ..flow("demoting", 1_000, true, None) },
];

impl Flow {
    fn limits(&self) -> ResourceLimits {
        if self.depth.is_some() {
            return ResourceLimits::NONE;
        }
        ResourceLimits::NONE.max_samples(if self.len > 100_000 { 8 } else { 256 })
    }

    fn history(&self) -> History {
        self.depth.map_or(History::KeepAll, |depth| History::KeepLast { depth })
    }

    fn reliability(&self) -> Reliability {
        if self.reliable { Reliability::Reliable { max_blocking_time: WAIT } } else { Reliability::BestEffort }
    }

    fn durability(&self) -> Durability {
        if self.transient_local { Durability::TransientLocal } else { Durability::Volatile }
    }

    pub(crate) fn writer(&self, participant: &DomainParticipant) -> DataWriter<Parcel> {
        let qos = DataWriterQos::default().reliability(self.reliability()).history(self.history());
        let qos = qos.durability(self.durability()).resource_limits(self.limits());
        let slow_reader = match self.demotes {
            true => SlowReader::Demote { after: Duration::from_millis(50) },
            false => SlowReader::Block,
        };
        participant.writer_builder(self.topic).qos(qos).slow_reader(slow_reader).build().unwrap()
    }

    pub(crate) fn reader(&self, participant: &DomainParticipant) -> DataReader<Parcel> {
        let qos = DataReaderQos::default().reliability(self.reliability()).history(self.history());
        let qos = qos.durability(self.durability()).resource_limits(self.limits());
        participant.reader_builder(self.topic).qos(qos).build().unwrap()
    }

    /// Writes one sample, and returns whether there was room.
    pub(crate) fn write(&self, writer: &DataWriter<Parcel>, parcel: &mut Parcel, soak: &Soak) -> bool {
        parcel.filling.resize(self.len, 1);
        parcel.key = self.key(parcel.count);
        match writer.write(parcel) {
            Ok(()) => {
                parcel.count += 1;
                soak.meter.written.fetch_add(1, Ordering::Relaxed);
                soak.meter.written_bytes.fetch_add(self.len as u64, Ordering::Relaxed);
                true
            }
            // A full history is legal, because readers may block this writer.
            Err(error) if matches!(error.kind(), WriteErrorKind::Timeout { .. }) => {
                soak.meter.timeouts.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(error) => panic!("{}: {error}", self.topic),
        }
    }

    fn key(&self, count: u64) -> u32 {
        if self.transient_local { (count % KEYS) as u32 } else { 0 }
    }

    /// Writes as fast as there is room.
    pub(crate) fn send(&self, number: u64, soak: &Soak) {
        let writer = self.writer(&soak.participant);
        let mut parcel = parcel(soak.process << 32 | number);
        while !soak.is_over() {
            self.write(&writer, &mut parcel, soak);
            // Dispose now and then, so that instances end and begin again.
            if self.transient_local && parcel.count % 100 == 0 {
                writer.dispose(&self.key(parcel.count)).unwrap();
            }
            if !self.reliable && parcel.count % 10 == 0 {
                // No reader holds this writer back, and other threads need the processor too.
                std::thread::yield_now();
            }
        }
    }

    /// Takes samples as fast as they arrive.
    pub(crate) fn receive(&self, _number: u64, soak: &Soak) {
        let reader = self.reader(&soak.participant);
        let mut order = Order::new(self);
        while !soak.is_over() {
            // No sample may arrive for a while.
            let _ = reader.readable().block_for(WAIT);
            order.look(&reader, soak);
        }
        let lost = reader.sample_lost().total_count;
        println!("soak {}: {}: {} received, {lost} lost", soak.process, self.topic, order.received);
        // A stream without any sample would make the other checks meaningless.
        assert!(order.received > 0, "nothing came of {}", self.topic);
    }

    /// Returns whether every sample of a sender must arrive.
    fn is_complete(&self) -> bool {
        self.reliable && self.depth.is_none() && !self.demotes
    }
}

/// The first sample of a sender.
pub(crate) fn parcel(sender: u64) -> Parcel {
    Parcel { key: 0, sender, count: 0, filling: Vec::new() }
}

/// Checks the order of the samples of one reader.
pub(crate) struct Order<'a> {
    flow: &'a Flow,
    /// The next count of each instance of a sender, the most recently received last.
    next: VecDeque<((u64, u32), u64)>,
    received: u64,
}

impl<'a> Order<'a> {
    pub(crate) fn new(flow: &'a Flow) -> Self {
        Self { flow, next: VecDeque::new(), received: 0 }
    }

    /// Takes and checks all samples.
    pub(crate) fn look(&mut self, reader: &DataReader<Parcel>, soak: &Soak) {
        let samples = reader.take().unwrap();
        for parcel in samples.into_data() {
            assert_eq!(parcel.filling.len(), self.flow.len);
            self.note(parcel.sender, parcel.key, parcel.count);
            soak.meter.received.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn note(&mut self, sender: u64, key: u32, count: u64) {
        self.received += 1;
        // Search from the end, because the recent senders are the active ones.
        let known = self.next.iter().rposition(|&(known, _)| known == (sender, key));
        let next = known.and_then(|at| self.next.remove(at)).map(|(_, next)| next);
        let topic = self.flow.topic;
        if let Some(next) = next {
            assert!(
                count >= next,
                "{topic}: {count} of {sender:x} comes after {next} was expected: doubled, or out of order"
            );
            assert!(
                count == next || !self.flow.is_complete(),
                "{topic}: {count} of {sender:x} comes, {next} is missing"
            );
        }
        // The first sample of an unknown sender may have any count, because the reader may be late.
        self.next.push_back(((sender, key), count + 1));
        if self.next.len() > REMEMBERED_MAX {
            self.next.pop_front();
        }
    }
}
