//! A writer under a script: timed input, and the output as one line per datagram.

use dds_rtps::concurrent::Payload;
use dds_rtps::history::ChangeKind;
use dds_rtps::output::Datagram;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::{
    EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{
    AckNack, Data, DataFrag, FragmentNumberSet, Gap, Message, NackFrag, SequenceNumberSet, SerializedPayload,
    Submessage,
};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriteRefused, WriterConfig};
use std::fmt::Write;

const MS: u64 = 1_000_000;

/// Start of the script's clock.
pub(crate) const START_MS: u64 = 1_000_000;

pub(crate) struct Script {
    pub(crate) writer: StatefulWriter,
    pub(crate) datagram: Datagram,
    /// Time since the script's start.
    pub(crate) ms: u64,
    count: i32,
}

impl Script {
    pub(crate) fn new(keyed: bool, qos: &DataWriterQos) -> Self {
        Self::with(keyed, qos, |_| {})
    }

    pub(crate) fn with(keyed: bool, qos: &DataWriterQos, adjust: impl FnOnce(&mut WriterConfig)) -> Self {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, if keyed { 2 } else { 3 }]));
        let mut config = WriterConfig::new(guid, keyed, qos);
        adjust(&mut config);
        Self { writer: StatefulWriter::new(config), datagram: Datagram::new(), ms: 0, count: 0 }
    }

    pub(crate) fn now(&self) -> Now {
        Now {
            instant: Instant::from_nanos((START_MS + self.ms) * MS),
            time: Time::from_unix_nanos(((START_MS + self.ms) * MS) as i64),
        }
    }

    /// Advances the time and calls the writer at its deadlines.
    pub(crate) fn wait(&mut self, ms: u64) {
        let end = self.ms + ms;
        while let Some(deadline) = self.writer.deadline() {
            let deadline_ms = (deadline.as_nanos() / MS).saturating_sub(START_MS).max(self.ms);
            if deadline_ms > end {
                break;
            }
            self.ms = deadline_ms;
            self.writer.handle_timeout(self.now());
            if self.writer.deadline().is_some_and(|next| next <= deadline) {
                break;
            }
        }
        self.ms = end;
        self.writer.handle_timeout(self.now());
    }

    pub(crate) fn write_change(
        &mut self,
        kind: ChangeKind,
        instance: InstanceHandle,
        payload: &[u8],
    ) -> Result<i64, WriteRefused> {
        let payload = Some(Payload::copy_of(payload));
        let change = NewChange {
            kind,
            instance,
            payload,
            source_timestamp: None,
            related_sample: None,
            origin: None,
            must_be_registered: false,
        };
        self.writer.write(self.now(), change).map(|number| number.0)
    }

    /// Writes four bytes of a keyless topic.
    pub(crate) fn write(&mut self) -> i64 {
        self.write_change(ChangeKind::Alive, InstanceHandle::NIL, &[0, 1, 0, 0]).unwrap()
    }

    /// Writes a sample of `len` bytes.
    pub(crate) fn write_large(&mut self, len: usize) -> i64 {
        let payload: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
        self.write_change(ChangeKind::Alive, InstanceHandle::NIL, &payload).unwrap()
    }

    pub(crate) fn write_times(&mut self, count: usize) {
        for _ in 0..count {
            self.write();
        }
    }

    pub(crate) fn write_large_times(&mut self, count: usize, len: usize) {
        for _ in 0..count {
            self.write_large(len);
        }
    }

    pub(crate) fn write_key(&mut self, key: u8) -> Result<i64, WriteRefused> {
        self.write_change(ChangeKind::Alive, instance(key), &[0, 1, 0, key])
    }

    pub(crate) fn match_reader(&mut self, reader: ReaderProxyConfig) {
        self.writer.match_reader(self.now(), reader);
    }

    /// Returns all datagrams that the writer sends now, one line each.
    pub(crate) fn sent(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while self.writer.poll_transmit(self.now(), &mut self.datagram) {
            lines.push(line_of(&self.datagram));
            assert!(lines.len() < 10_000, "the writer never stops");
        }
        lines
    }

    /// Acknowledges everything below `base` and requests `missing`.
    pub(crate) fn acknack(&mut self, reader: u8, base: i64, missing: &[i64]) {
        self.count += 1;
        self.acknack_with(reader, self.count, base, missing, missing.is_empty());
    }

    pub(crate) fn acknack_with(&mut self, reader: u8, count: i32, base: i64, missing: &[i64], is_final: bool) {
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(base));
        for &number in missing {
            assert!(reader_sn_state.insert(SequenceNumber(number)));
        }
        let guid = reader_guid(reader);
        let writer_id = self.writer.guid().entity_id;
        let ack_nack = AckNack { reader_id: guid.entity_id, writer_id, reader_sn_state, count, is_final };
        self.writer.handle_acknack(self.now(), guid.into(), &ack_nack);
    }

    pub(crate) fn nack_frag(&mut self, reader: u8, number: i64, missing: &[u32]) {
        self.count += 1;
        self.nack_frag_with(reader, self.count, number, missing);
    }

    pub(crate) fn nack_frag_with(&mut self, reader: u8, count: i32, number: i64, missing: &[u32]) {
        let mut fragment_number_state = FragmentNumberSet::empty(missing[0]);
        for &fragment in missing {
            assert!(fragment_number_state.insert(fragment));
        }
        let guid = reader_guid(reader);
        let nack_frag = NackFrag {
            reader_id: guid.entity_id,
            writer_id: self.writer.guid().entity_id,
            writer_sn: SequenceNumber(number),
            fragment_number_state,
            count,
        };
        self.writer.handle_nack_frag(self.now(), guid.into(), &nack_frag);
    }
}

pub(crate) fn instance(key: u8) -> InstanceHandle {
    InstanceHandle::from_key_hash([key; 16])
}

/// Readers with this number or a higher one have our vendor id.
const OURS: u8 = 100;

pub(crate) fn reader_guid(number: u8) -> Guid {
    let prefix = match number >= OURS {
        true => GuidPrefix::new(VendorId::OURS, [number; 10]),
        false => GuidPrefix([number; 12]),
    };
    Guid::new(prefix, EntityId([0, 0, number, 4]))
}

/// A reader on another host, at its own port.
pub(crate) fn best_effort(number: u8) -> ReaderProxyConfig {
    let locator = Locator::udp_v4([10, 0, 0, number].into(), 7000 + u16::from(number));
    ReaderProxyConfig::new(reader_guid(number), vec![locator])
}

pub(crate) fn reliable(number: u8) -> ReaderProxyConfig {
    ReaderProxyConfig { reliable: true, ..best_effort(number) }
}

pub(crate) fn late_joiner(number: u8) -> ReaderProxyConfig {
    ReaderProxyConfig { wants_history: true, ..reliable(number) }
}

/// Formats a datagram: its destinations and its submessages.
pub(crate) fn line_of(datagram: &Datagram) -> String {
    let mut bytes = Vec::new();
    datagram.copy_to(&mut bytes);
    assert_eq!(bytes.len(), datagram.len());
    let mut line = String::new();
    for locator in datagram.destinations() {
        write!(line, "{}{}", if line.is_empty() { "" } else { "," }, locator.port).unwrap();
    }
    line.push(':');
    let message = Message::parse(&bytes).unwrap();
    for submessage in message.submessages() {
        write!(line, " {}", describe(&submessage.unwrap())).unwrap();
    }
    line
}

fn describe(submessage: &Submessage<'_>) -> String {
    match submessage {
        Submessage::Data(data) => describe_data(data),
        Submessage::DataFrag(frag) => describe_frag(frag),
        Submessage::Heartbeat(heartbeat) => {
            let range = format!("{}..{}", heartbeat.first_sn, heartbeat.last_sn);
            let is_final = if heartbeat.is_final { " final" } else { "" };
            let liveliness = if heartbeat.liveliness { " alive" } else { "" };
            format!("HB{}({range}{is_final}{liveliness})", addressee(heartbeat.reader_id))
        }
        Submessage::HeartbeatFrag(heartbeat) => {
            format!("HBF({} to {})", heartbeat.writer_sn, heartbeat.last_fragment_num)
        }
        Submessage::Gap(gap) => describe_gap(gap),
        Submessage::InfoTimestamp(_) => "TS".to_owned(),
        Submessage::InfoDestination(prefix) => format!("DST{}", prefix.0[0]),
        other => panic!("a writer does not send {other:?}"),
    }
}

fn addressee(reader_id: EntityId) -> String {
    if reader_id == EntityId::UNKNOWN { "*".to_owned() } else { reader_id.0[2].to_string() }
}

fn describe_data(data: &Data<'_>) -> String {
    let kind = match data.payload {
        SerializedPayload::None => "none",
        SerializedPayload::Data(_) => "",
        SerializedPayload::Key(_) => "key",
    };
    let mut line = format!("D{}({}{kind}", addressee(data.reader_id), data.writer_sn);
    if let Some(inline_qos) = &data.inline_qos {
        if let Some(hash) = inline_qos.key_hash() {
            write!(line, " k{}", hash[0]).unwrap();
        }
        let status = inline_qos.status_info();
        if status != 0 {
            write!(line, " s{status}").unwrap();
        }
    }
    line + ")"
}

fn describe_frag(frag: &DataFrag<'_>) -> String {
    let first = frag.fragment_starting_num;
    let last = first + u32::from(frag.fragments_in_submessage) - 1;
    let of = frag.sample_size.div_ceil(frag.fragment_size.into());
    let offset = (first - 1) as usize * usize::from(frag.fragment_size);
    for (index, &byte) in frag.payload.iter().enumerate() {
        assert_eq!(byte, ((offset + index) % 251) as u8, "the fragment holds other bytes");
    }
    let mut line = format!("F{}({} {first}-{last}/{of}", addressee(frag.reader_id), frag.writer_sn);
    if frag.is_key {
        line.push_str(" key");
    }
    if let Some(inline_qos) = &frag.inline_qos {
        write!(line, " k{:?} s{}", inline_qos.key_hash().map(|hash| hash[0]), inline_qos.status_info()).unwrap();
    }
    line + ")"
}

fn describe_gap(gap: &Gap) -> String {
    let mut line = format!("GAP{}({}..{}", addressee(gap.reader_id), gap.gap_start, gap.gap_list.base().previous());
    for number in gap.gap_list.iter() {
        write!(line, "+{number}").unwrap();
    }
    if let Some(count) = gap.filtered_count {
        write!(line, " filtered {count}").unwrap();
    }
    line + ")"
}
