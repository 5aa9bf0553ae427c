//! Cost of one peer of a protocol endpoint with many peers, without threads and sockets.

use dds_rtps::concurrent::Payload;
use dds_rtps::history::{Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::reader::{KeySource, ReaderConfig, Source, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{
    EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{AckNack, Data, Heartbeat, SequenceNumberSet, SerializedPayload};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};

/// A constant time: the effects of time are not measured.
const NOW: Now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };

/// The time of writing of samples whose latency is measured: 100 µs before their reception.
const WRITTEN: Time = Time::from_unix_nanos((1 << 60) - 100_000);

const GROUP: [u8; 4] = [239, 255, 0, 1];

const WRITER: EntityId = EntityId([0, 0, 1, 3]);

const READER: EntityId = EntityId([0, 0, 1, 4]);

fn participant(number: usize) -> GuidPrefix {
    let mut prefix = [1; 12];
    prefix[8..].copy_from_slice(&(number as u32).to_be_bytes());
    GuidPrefix(prefix)
}

/// A reliable reader that many remote writers match. One of them writes.
#[derive(Debug)]
pub struct ManyWriters {
    reader: StatefulReader,
    writer: Source,
    number: i64,
    datagram: Datagram,
    taken: Vec<dds_rtps::history::HistorySample>,
}

impl ManyWriters {
    /// Matches `writers`. Each has announced an empty history.
    #[must_use]
    pub fn new(writers: usize) -> Self {
        Self::matched(writers, None, None)
    }

    /// Matches a writer whose samples have source timestamps. The reader keeps histograms of their latencies, or none.
    #[must_use]
    pub fn of_latencies(has_histograms: bool) -> Self {
        Self::matched(1, has_histograms.then_some(Time::from_unix_nanos(0)), Some(WRITTEN))
    }

    fn matched(writers: usize, latencies_since: Option<Time>, timestamp: Option<Time>) -> Self {
        let qos = DataReaderQos::default().reliable();
        let guid = Guid::new(participant(writers), READER);
        let config = ReaderConfig { latencies_since, ..ReaderConfig::new(guid, KeySource::None, &qos) };
        let mut reader = StatefulReader::new(config);
        for number in 0..writers {
            let guid = Guid::new(participant(number), WRITER);
            let unicast = vec![Locator::udp_v4([10, 0, 0, 1].into(), 7411)];
            reader.match_writer(NOW, WriterProxyConfig { reliable: true, unicast, ..WriterProxyConfig::new(guid) });
        }
        let writer = Source { timestamp, ..source(Guid::new(participant(0), WRITER)) };
        let mut many = Self { reader, writer, number: 0, datagram: Datagram::new(), taken: Vec::new() };
        for number in 0..writers {
            let writer = source(Guid::new(participant(number), WRITER));
            many.reader.handle_heartbeat(NOW, &writer, &heartbeat(0, 1));
        }
        many.settle();
        many
    }

    /// One writer sends a sample with a HEARTBEAT. The reader answers, and the sample is taken.
    pub fn pass(&mut self) {
        self.number += 1;
        let data = Data {
            reader_id: EntityId::UNKNOWN,
            writer_id: WRITER,
            writer_sn: SequenceNumber(self.number),
            inline_qos: None,
            payload: SerializedPayload::Data(&[0, 1, 0, 0, 1, 2, 3, 4]),
            non_standard_payload: false,
        };
        self.reader.handle_data(NOW, &self.writer, &data, &());
        self.reader.handle_heartbeat(NOW, &self.writer, &heartbeat(self.number, self.number as i32 + 1));
        self.settle();
        self.taken.clear();
        self.reader.select(NOW, &Selection::default(), Operation::Take, &mut self.taken);
    }

    fn settle(&mut self) {
        while self.reader.poll_transmit(NOW, &mut self.datagram) {}
        while self.reader.poll_event().is_some() {}
    }
}

fn source(writer: Guid) -> Source {
    Source { writer, timestamp: None, vendor: VendorId::OURS, reply: None }
}

fn heartbeat(last: i64, count: i32) -> Heartbeat {
    Heartbeat {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER,
        first_sn: SequenceNumber::FIRST,
        last_sn: SequenceNumber(last),
        count,
        is_final: false,
        liveliness: false,
        group_info: None,
    }
}

/// Location of the readers of [`ManyReaders`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Each in its own participant; one multicast address reaches all.
    ByGroup,
    /// All in one participant.
    ByHost,
}

/// A writer that many remote readers match. One of them answers.
#[derive(Debug)]
pub struct ManyReaders {
    writer: StatefulWriter,
    reader: Guid,
    count: i32,
    sent: u32,
    datagram: Datagram,
}

impl ManyReaders {
    /// Matches `readers` that are reliable. Each has answered once.
    #[must_use]
    pub fn new(readers: usize) -> Self {
        Self::answered(Self::matched(readers, Reached::ByGroup, true), readers)
    }

    /// Matches a reliable reader. The writer keeps a histogram of its acknowledgment times, or none.
    #[must_use]
    pub fn of_latencies(has_histogram: bool) -> Self {
        Self::answered(Self::created(1, Reached::ByGroup, true, has_histogram), 1)
    }

    fn answered(mut many: Self, readers: usize) -> Self {
        many.write();
        for number in 0..readers {
            many.answer(Guid::new(participant(number), READER));
        }
        many
    }

    /// Matches `readers` that have not answered.
    #[must_use]
    pub fn matched(readers: usize, reached: Reached, reliable: bool) -> Self {
        Self::created(readers, reached, reliable, false)
    }

    fn created(readers: usize, reached: Reached, reliable: bool, measures_latency: bool) -> Self {
        let qos = DataWriterQos::default();
        let qos = if reliable { qos.reliable() } else { qos.best_effort() };
        let guid = Guid::new(participant(readers), WRITER);
        let config = WriterConfig { measures_latency, ..WriterConfig::new(guid, false, &qos) };
        let writer = StatefulWriter::new(config);
        let reader = Guid::new(participant(0), READER);
        let mut many = Self { writer, reader, count: 0, sent: 0, datagram: Datagram::new() };
        for number in 0..readers {
            let unicast = vec![Locator::udp_v4([10, 0, 0, 2].into(), 7411)];
            let [key_high, key_low] = (number as u16).to_be_bytes();
            let (guid, multicast) = match reached {
                Reached::ByGroup => (Guid::new(participant(number), READER), vec![Locator::udp_v4(GROUP.into(), 7401)]),
                Reached::ByHost => (Guid::new(participant(0), EntityId([0, key_high, key_low, 4])), Vec::new()),
            };
            let reader = ReaderProxyConfig { reliable, multicast, ..ReaderProxyConfig::new(guid, unicast) };
            many.writer.match_reader(NOW, reader);
        }
        many.settle();
        many
    }

    /// Writes and sends a sample. Returns the number of datagrams.
    ///
    /// # Panics
    ///
    /// Panics if the sample cannot be written.
    pub fn write(&mut self) -> u32 {
        self.sent = 0;
        let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0, 1, 2, 3, 4]));
        self.writer.write(NOW, change).expect("KEEP_LAST has room");
        self.settle();
        self.sent
    }

    /// One reader acknowledges all samples.
    pub fn pass(&mut self) {
        self.answer(self.reader);
    }

    /// Writes a sample, and one reader acknowledges it.
    pub fn pass_with_sample(&mut self) {
        self.write();
        self.answer(self.reader);
    }

    fn answer(&mut self, reader: Guid) {
        self.count += 1;
        let ack_nack = AckNack {
            reader_id: READER,
            writer_id: WRITER,
            reader_sn_state: SequenceNumberSet::empty(self.writer.last_sequence_number().next()),
            count: self.count,
            is_final: true,
        };
        self.writer.handle_acknack(NOW, reader.into(), &ack_nack);
        self.settle();
    }

    fn settle(&mut self) {
        while self.writer.poll_transmit(NOW, &mut self.datagram) {
            self.sent += 1;
        }
        while self.writer.poll_event().is_some() {}
    }
}
