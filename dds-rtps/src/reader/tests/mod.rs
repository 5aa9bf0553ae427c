//! Scripts: submessages at given times, and the answers and samples of the reader.

mod coherent;
mod crowd;
mod denied_data;
mod fragments;
mod group_gate;
mod hostile;
mod in_place;
mod instances;
mod known;
mod ledger;
mod liveliness;
mod local;
mod ordering;
mod origins;
mod repair;

use super::*;
use crate::concurrent::{LocalLink, Payload};
use crate::history::{
    HistoryLimits, HistorySample, InstanceSelection, InstanceState, Operation, RejectReason, Selection, SelectionOrder,
    States, ViewState,
};
use crate::output::Datagram;
use crate::qos::{DataReaderQos, History, ResourceLimits};
use crate::types::{
    Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use crate::wire::{
    AckNack, Data, DataFrag, Gap, Heartbeat, InlineQos, Message, NackFrag, SequenceNumberSet, SerializedPayload,
    Submessage,
};

const READER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 9, 7]));
const WRITER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 2]));
const OTHER: Guid = Guid::new(GuidPrefix([3; 12]), EntityId([0, 0, 1, 2]));

fn at(millis: u64) -> Now {
    let nanos = millis * 1_000_000;
    Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(1_000_000_000_000 + nanos as i64) }
}

fn sn(number: i64) -> SequenceNumber {
    SequenceNumber(number)
}

fn source(writer: Guid) -> Source {
    Source { writer, timestamp: None, vendor: VendorId::CYCLONE, reply: None }
}

/// A payload of a keyless topic.
fn body(value: u8) -> [u8; 8] {
    [0, 1, 0, 0, value, 0, 0, 0]
}

/// A payload with a key in its first sixteen bytes, for [`KeySource::LeadingBytes`].
fn keyed(key: u8, value: u8) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend([key; 16]);
    bytes.push(value);
    bytes
}

fn handle(key: u8) -> InstanceHandle {
    InstanceHandle::from_key_hash([key; 16])
}

fn data(number: i64, payload: SerializedPayload<'_>) -> Data<'_> {
    Data {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        writer_sn: sn(number),
        inline_qos: None,
        payload,
        non_standard_payload: false,
    }
}

/// The inline QoS STATUS_INFO and, if there is one, KEY_HASH.
fn status_qos(status: u8, key_hash: Option<[u8; 16]>) -> Vec<u8> {
    let mut bytes = vec![0x71, 0, 4, 0, 0, 0, 0, status];
    if let Some(hash) = key_hash {
        bytes.extend([0x70, 0, 16, 0]);
        bytes.extend(hash);
    }
    bytes.extend([1, 0, 0, 0]);
    bytes
}

fn heartbeat(first: i64, last: i64, count: i32) -> Heartbeat {
    Heartbeat {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        first_sn: sn(first),
        last_sn: sn(last),
        count,
        is_final: false,
        liveliness: false,
        group_info: None,
    }
}

/// A GAP of `start .. base` and the numbers of `more`.
fn gap(start: i64, base: i64, more: &[i64]) -> Gap {
    let mut gap_list = SequenceNumberSet::empty(sn(base));
    for &number in more {
        assert!(gap_list.insert(sn(number)));
    }
    Gap {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        gap_start: sn(start),
        gap_list,
        group_info: None,
        filtered_count: None,
    }
}

/// A reader with the steps of a script.
struct Script {
    reader: StatefulReader,
    millis: u64,
    heartbeats: i32,
}

/// Content of one datagram of the reader.
#[derive(Debug, PartialEq, Eq)]
struct SentDatagram {
    to: Vec<Locator>,
    prefix: GuidPrefix,
    ack_nack: Option<AckNack>,
    nack_frags: Vec<NackFrag>,
}

impl SentDatagram {
    /// Base and members of the ACKNACK.
    fn requested(&self) -> (i64, Vec<i64>) {
        let set = &self.ack_nack.as_ref().unwrap().reader_sn_state;
        (set.base().0, set.iter().map(|number| number.0).collect())
    }
}

impl Script {
    fn new(config: ReaderConfig) -> Self {
        Self { reader: StatefulReader::new(config), millis: 0, heartbeats: 0 }
    }

    fn best_effort() -> Self {
        let mut script = Self::new(keep_all(config(KeySource::None)));
        script.match_remote(WRITER, false);
        script
    }

    /// RELIABLE, TRANSIENT_LOCAL, KEEP_ALL; has matched the writer and received its HEARTBEAT 1..0.
    fn reliable() -> Self {
        let mut script = Self::new(transient_local(keep_all(config(KeySource::None))));
        script.match_remote(WRITER, true);
        script.heartbeat(1, 0);
        script.sent();
        script
    }

    fn match_remote(&mut self, guid: Guid, reliable: bool) -> bool {
        let unicast = vec![locator(guid)];
        let writer = WriterProxyConfig { reliable, unicast, ..WriterProxyConfig::new(guid) };
        let matched = self.reader.match_writer(self.now(), writer);
        // Scripts check events after the match.
        self.reader.events.forget_liveliness();
        matched
    }

    fn now(&self) -> Now {
        at(self.millis)
    }

    fn later(&mut self, millis: u64) -> &mut Self {
        self.millis += millis;
        self.reader.handle_timeout(self.now());
        self
    }

    /// A sample without key of [`WRITER`].
    fn sample(&mut self, number: i64) -> Handled {
        let bytes = body(number as u8);
        self.reader.handle_data(self.now(), &source(WRITER), &data(number, SerializedPayload::Data(&bytes)), &())
    }

    fn samples(&mut self, numbers: impl IntoIterator<Item = i64>) {
        for number in numbers {
            self.sample(number);
        }
    }

    /// A sample with a key.
    fn write(&mut self, writer: Guid, number: i64, key: u8, value: u8) -> Handled {
        let bytes = keyed(key, value);
        self.reader.handle_data(self.now(), &source(writer), &data(number, SerializedPayload::Data(&bytes)), &())
    }

    /// A change with a status and a key payload.
    fn end(&mut self, writer: Guid, number: i64, key: u8, status: u8) -> Handled {
        let bytes = keyed(key, 0);
        let qos = status_qos(status, None);
        let change = Data {
            inline_qos: Some(InlineQos { bytes: &qos, little_endian: true }),
            ..data(number, SerializedPayload::Key(&bytes))
        };
        self.reader.handle_data(self.now(), &source(writer), &change, &())
    }

    fn heartbeat(&mut self, first: i64, last: i64) -> Handled {
        self.heartbeats += 1;
        let count = self.heartbeats;
        self.reader.handle_heartbeat(self.now(), &source(WRITER), &heartbeat(first, last, count))
    }

    /// As [`Script::heartbeat`], addressed to this reader alone.
    fn heartbeat_by_name(&mut self, first: i64, last: i64) -> Handled {
        self.heartbeats += 1;
        let heartbeat = Heartbeat { reader_id: READER.entity_id, ..heartbeat(first, last, self.heartbeats) };
        self.reader.handle_heartbeat(self.now(), &source(WRITER), &heartbeat)
    }

    fn final_heartbeat(&mut self, first: i64, last: i64) -> Handled {
        self.heartbeats += 1;
        let heartbeat = Heartbeat { is_final: true, ..heartbeat(first, last, self.heartbeats) };
        self.reader.handle_heartbeat(self.now(), &source(WRITER), &heartbeat)
    }

    fn gap(&mut self, start: i64, base: i64, more: &[i64]) -> Handled {
        self.reader.handle_gap(self.now(), &source(WRITER), &gap(start, base, more))
    }

    fn fragment(&mut self, fragment: &DataFrag<'_>) -> Handled {
        self.reader.handle_data_frag(self.now(), &source(WRITER), fragment)
    }

    /// All datagrams that the reader sends now.
    fn sent(&mut self) -> Vec<SentDatagram> {
        let mut all = Vec::new();
        let mut datagram = Datagram::new();
        while self.reader.poll_transmit(self.now(), &mut datagram) {
            assert!(all.len() < 100, "the reader never stops sending");
            let mut bytes = Vec::new();
            datagram.copy_to(&mut bytes);
            let message = Message::parse(&bytes).unwrap();
            assert_eq!(message.header.prefix, READER.prefix);
            let mut sent = SentDatagram {
                to: datagram.destinations().to_vec(),
                prefix: GuidPrefix::UNKNOWN,
                ack_nack: None,
                nack_frags: Vec::new(),
            };
            for submessage in message.submessages() {
                match submessage.unwrap() {
                    Submessage::InfoDestination(prefix) => sent.prefix = prefix,
                    Submessage::AckNack(ack_nack) => sent.ack_nack = Some(ack_nack),
                    Submessage::NackFrag(nack_frag) => sent.nack_frags.push(nack_frag),
                    other => panic!("unexpected {other:?}"),
                }
            }
            all.push(sent);
        }
        all
    }

    /// Base and members of the one ACKNACK that the reader sends now.
    fn requested(&mut self) -> (i64, Vec<i64>) {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.first().unwrap().requested()
    }

    fn take(&mut self) -> Vec<HistorySample> {
        let mut samples = Vec::new();
        let selection = Selection { order: SelectionOrder::ByArrival, ..Selection::default() };
        self.reader.select(self.now(), &selection, Operation::Take, &mut samples);
        samples
    }

    /// Sequence numbers of the taken samples.
    fn taken(&mut self) -> Vec<i64> {
        self.take().iter().map(|sample| sample.info.sequence_number.0).collect()
    }

    fn events(&mut self) -> Vec<StatefulReaderEvent> {
        std::iter::from_fn(|| self.reader.poll_event()).collect()
    }

    /// Lost samples by the events since the last call.
    fn lost(&mut self) -> u64 {
        let count = |event: &StatefulReaderEvent| match event {
            StatefulReaderEvent::SampleLost { count, .. } => *count,
            _ => 0,
        };
        self.events().iter().map(count).sum()
    }
}

/// BEST_EFFORT, VOLATILE, KEEP_LAST 1.
fn config(key: KeySource) -> ReaderConfig {
    ReaderConfig::new(READER, key, &DataReaderQos::default())
}

fn locator(guid: Guid) -> Locator {
    Locator::udp_v4([127, 0, 0, 1].into(), 7000 + u16::from(guid.prefix.0[0]))
}

fn keep_all(config: ReaderConfig) -> ReaderConfig {
    limited(config, ResourceLimits::default())
}

fn limited(config: ReaderConfig, limits: ResourceLimits) -> ReaderConfig {
    ReaderConfig { limits: HistoryLimits::new(History::KeepAll, limits), ..config }
}

fn transient_local(config: ReaderConfig) -> ReaderConfig {
    ReaderConfig { reliable: true, wants_history: true, ..config }
}

fn volatile(config: ReaderConfig) -> ReaderConfig {
    ReaderConfig { reliable: true, wants_history: false, ..config }
}
