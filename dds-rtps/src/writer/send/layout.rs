//! Layout of one message of a writer in a datagram.

use super::gap_run::GapRun;
use super::payload_len;
use crate::cdr::AnyType;
use crate::history::{CacheChange, ChangeKind, PresentationInfo};
use crate::output::Datagram;
use crate::types::{EntityId, Guid, GuidPrefix, InstanceHandle, SequenceNumber, Time};
use crate::wire::{
    DataFragHeader, DataHeader, Gap, Header, Heartbeat, HeartbeatFrag, InlineQosWriter, MessageBuilder, PayloadEnd,
    PayloadKind,
};
use std::ops::Range;

/// Longest payload that is copied behind its header. Longer ones are gathered.
///
/// A gathered piece costs a look-up in the system call and a reference count in the pool. Copying this size is cheaper.
const COPY_MAX: usize = 1024;

/// Bytes of a change beside its payload and its inline QoS: INFO_TS 12, DATA 24.
const CHANGE_OVERHEAD: usize = 36;

/// Most bytes of the headers of a lent change: INFO_TS, DATA and inline QoS. A transport leaves more room for them.
const LENT_HEADERS_MAX: usize = 200;

/// Bytes of the parameters of the inline QoS. The sentinel ends a list with at least one.
const KEY_HASH_LEN: usize = 20;
const STATUS_INFO_LEN: usize = 8;
const RELATED_SAMPLE_LEN: usize = 56;
/// GUID and sequence number of the original writer, the empty list of its QoS, and LIFESPAN.
const ORIGIN_LEN: usize = 44;
/// COHERENT_SET, GROUP_COHERENT_SET and GROUP_SEQ_NUM 12 each, WRITER_GROUP_INFO 8. The HEARTBEAT grows by 32.
const PRESENTED_LEN: usize = 44 + 32;
const SENTINEL_LEN: usize = 4;

/// Bytes that may follow the last change: a HEARTBEAT 32, a GAP 64.
const TAIL_LEN: usize = 96;

/// A GAP without a list for one reader: INFO_DST 16 before and after it, header 4, GAP 20 + 12 + 8.
const ADDRESSED_GAP_LEN: usize = 76;

/// Returns the bytes for changes in a message of at most `len_max` bytes.
pub(crate) const fn room_for_changes(len_max: usize) -> usize {
    len_max.saturating_sub(Header::WIRE_LEN + TAIL_LEN)
}

/// The writer, and the fields that each of its changes carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender<'a> {
    pub(crate) guid: Guid,
    pub(crate) keyed: bool,
    /// As [`WriterConfig::hashed_type`](crate::writer::WriterConfig::hashed_type).
    pub(crate) hashed_type: Option<&'a AnyType>,
    /// As [`WriterConfig::hides_keys`](crate::writer::WriterConfig::hides_keys).
    pub(crate) hides_keys: bool,
    /// Encoded parameters for each change; may be empty.
    pub(crate) inline_qos: &'a [u8],
}

/// A message under construction.
#[derive(Debug)]
pub(crate) struct Layout<'d> {
    datagram: &'d mut Datagram,
    sender: Sender<'d>,
    reader_id: EntityId,
    /// Most bytes of a message that small changes share.
    len_max: usize,
    timestamp: Option<Time>,
    gap_run: GapRun,
    gaps: u64,
    has_content: bool,
    /// The last submessage must stay the last.
    is_closed: bool,
}

impl<'d> Layout<'d> {
    /// Starts a message for `reader_id`, and replaces the content of the datagram.
    pub(crate) fn new(datagram: &'d mut Datagram, sender: Sender<'d>, reader_id: EntityId, len_max: usize) -> Self {
        datagram.clear();
        // The memory of the datagram is reused, so a steady state allocates nothing.
        MessageBuilder::new(datagram.buffer()).header(sender.guid.prefix);
        Self {
            datagram,
            reader_id,
            len_max,
            timestamp: None,
            gap_run: GapRun::new(sender.guid.entity_id, reader_id),
            gaps: 0,
            has_content: false,
            is_closed: false,
            sender,
        }
    }

    /// Directs the following submessages to this participant alone.
    pub(crate) fn participant(&mut self, prefix: GuidPrefix) {
        MessageBuilder::new(self.datagram.buffer()).info_dst(prefix);
    }

    /// Returns whether the message has content yet.
    pub(crate) fn has_content(&self) -> bool {
        self.has_content
    }

    /// Returns the number of GAPs in the message.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Returns whether a change fits. The first one always does.
    pub(crate) fn has_room_for(&self, change: &CacheChange) -> bool {
        // The tail must fit behind any change, because a HEARTBEAT may follow.
        let len = self.sender.len_of(change) + TAIL_LEN;
        !self.has_content || (!self.is_closed && self.datagram.len() + len <= self.len_max)
    }

    /// Returns whether a change and the headers before it have at most `len_max` bytes in a message.
    pub(crate) fn is_within(&self, change: &CacheChange, len_max: usize) -> bool {
        // The present content of the datagram does not count: the change may go into a message of its own.
        Header::WIRE_LEN + self.sender.len_of(change) <= len_max
    }

    /// Whether the headers of a change fit in front of lent memory.
    pub(crate) fn has_short_headers(&self, change: &CacheChange) -> bool {
        self.sender.len_of(change) - payload_len(change) <= LENT_HEADERS_MAX
    }

    /// Adds a whole change.
    pub(crate) fn change(&mut self, change: &CacheChange) {
        self.timestamp(change.source_timestamp);
        let header = DataHeader {
            reader_id: self.reader_id,
            writer_id: self.sender.guid.entity_id,
            writer_sn: change.sequence_number,
            payload: match (&change.payload, change.kind) {
                (None, _) => PayloadKind::None,
                (Some(_), ChangeKind::Alive) => PayloadKind::Data,
                (Some(_), _) => PayloadKind::Key,
            },
            non_standard_payload: false,
        };
        let len = payload_len(change);
        let sender = self.sender;
        let key = sender.key_of(change, self.datagram.buffer());
        let end = MessageBuilder::new(self.datagram.buffer())
            .data(&header, len, |inline_qos| put_inline_qos(inline_qos, sender, change, key));
        self.payload(change, 0..len, end);
    }

    /// Adds `count` fragments of a change, from number `first` on. Returns their bytes of payload.
    pub(crate) fn fragments(&mut self, change: &CacheChange, fragment_size: u16, first: u32, count: u16) -> usize {
        self.timestamp(change.source_timestamp);
        let len = payload_len(change);
        let header = DataFragHeader {
            reader_id: self.reader_id,
            writer_id: self.sender.guid.entity_id,
            writer_sn: change.sequence_number,
            fragment_starting_num: first,
            fragments_in_submessage: count,
            fragment_size,
            sample_size: u32::try_from(len).expect("write refuses payloads whose length has more than 32 bits"),
            is_key: change.kind != ChangeKind::Alive,
            non_standard_payload: false,
        };
        let sender = self.sender;
        // Only the first fragment carries the inline QoS, for the whole sample.
        let key = if first == 1 { Some(sender.key_of(change, self.datagram.buffer())) } else { None };
        let end = MessageBuilder::new(self.datagram.buffer()).data_frag(&header, |inline_qos| {
            if let Some(key) = key {
                put_inline_qos(inline_qos, sender, change, key);
            }
        });
        let range = header.payload_range();
        let len = range.len();
        self.payload(change, range, end);
        len
    }

    /// Adds the irrelevant changes `first ..= last`. They must follow all earlier ones.
    pub(crate) fn gap(&mut self, first: SequenceNumber, last: SequenceNumber) {
        self.gap_because(first, last, false);
    }

    /// As [`Self::gap`]. `is_filtered`: the reader's content filter excludes the changes.
    pub(crate) fn gap_because(&mut self, first: SequenceNumber, last: SequenceNumber, is_filtered: bool) {
        // A GAP that still waits in the run counts as content, so the message is sent.
        self.has_content = true;
        if let Some(gap) = self.gap_run.add(first, last, is_filtered) {
            self.put_gap(&gap);
        }
    }

    /// Adds a GAP for one reader, whose content filter excludes `first ..= last`.
    ///
    /// The following submessages go to its participant alone, until [`Self::all_participants`] is called.
    pub(crate) fn filtered_for(&mut self, reader: Guid, first: SequenceNumber, last: SequenceNumber) {
        // The addressed GAP would otherwise precede older ones.
        self.finish_gaps();
        self.has_content = true;
        self.participant(reader.prefix);
        let mut run = GapRun::new(self.sender.guid.entity_id, reader.entity_id);
        run.add(first, last, true);
        if let Some(gap) = run.finish() {
            self.put_gap(&gap);
        }
    }

    /// Returns whether a GAP for one of several readers fits.
    pub(crate) fn has_room_for_gap(&self) -> bool {
        !self.is_closed && self.datagram.len() + ADDRESSED_GAP_LEN + TAIL_LEN <= self.len_max
    }

    /// Adds a HEARTBEAT.
    pub(crate) fn heartbeat(&mut self, heartbeat: &Heartbeat) {
        self.finish_gaps();
        // Nothing can follow a payload that ends with the message.
        if !self.is_closed {
            self.has_content = true;
            MessageBuilder::new(self.datagram.buffer()).heartbeat(heartbeat);
        }
    }

    /// Adds a handshake HEARTBEAT in front of another one.
    ///
    /// It is for one reader; `prefix` names its participant if the message goes to several.
    pub(crate) fn handshake(&mut self, prefix: Option<GuidPrefix>, heartbeat: &Heartbeat) {
        self.finish_gaps();
        if !self.is_closed {
            if let Some(prefix) = prefix {
                self.participant(prefix);
            }
            MessageBuilder::new(self.datagram.buffer()).heartbeat(heartbeat);
        }
    }

    /// Directs the following submessages to all participants again.
    pub(crate) fn all_participants(&mut self) {
        if !self.is_closed {
            self.participant(GuidPrefix::UNKNOWN);
        }
    }

    /// Adds a HEARTBEAT_FRAG.
    pub(crate) fn heartbeat_frag(&mut self, sequence_number: SequenceNumber, last_fragment_num: u32, count: i32) {
        let heartbeat_frag = HeartbeatFrag {
            reader_id: self.reader_id,
            writer_id: self.sender.guid.entity_id,
            writer_sn: sequence_number,
            last_fragment_num,
            count,
        };
        if !self.is_closed {
            MessageBuilder::new(self.datagram.buffer()).heartbeat_frag(&heartbeat_frag);
        }
    }

    /// Adds the pending GAPs. Call it last.
    pub(crate) fn finish_gaps(&mut self) {
        if let Some(gap) = self.gap_run.finish() {
            self.put_gap(&gap);
        }
    }

    /// Returns the datagram of the message.
    pub(crate) fn datagram(&mut self) -> &mut Datagram {
        self.datagram
    }

    fn put_gap(&mut self, gap: &Gap) {
        self.gaps += 1;
        MessageBuilder::new(self.datagram.buffer()).gap(gap);
    }

    #[inline]
    fn timestamp(&mut self, timestamp: Time) {
        // A message starts without a timestamp, so an invalid one needs no INFO_TS.
        let current = self.timestamp.unwrap_or(Time::INVALID);
        if current != timestamp {
            MessageBuilder::new(self.datagram.buffer()).info_ts(Some(timestamp));
            self.timestamp = Some(timestamp);
        }
    }

    fn payload(&mut self, change: &CacheChange, range: Range<usize>, end: PayloadEnd) {
        self.has_content = true;
        // A length that is no multiple of 4 can only be expressed by the end of the message.
        self.is_closed = end.must_be_last();
        let Some(payload) = &change.payload else { return };
        if range.len() <= COPY_MAX {
            let bytes = payload.bytes().get(range).unwrap_or_default();
            MessageBuilder::new(self.datagram.buffer()).payload(bytes, end);
        } else {
            // The slot is shared by reference, and the system gathers the bytes.
            self.datagram.gather(payload.clone(), range);
            MessageBuilder::new(self.datagram.buffer()).end_payload(end);
        }
    }
}

impl Sender<'_> {
    /// The sender of messages without changes.
    pub(crate) fn of_heartbeats(guid: Guid) -> Self {
        Self { guid, keyed: false, hashed_type: None, hides_keys: false, inline_qos: &[] }
    }

    /// Returns the most bytes that a whole change takes in a message.
    pub(crate) fn len_of(&self, change: &CacheChange) -> usize {
        let key_hash = if self.keyed { KEY_HASH_LEN } else { 0 };
        let status_info = if change.kind == ChangeKind::Alive { 0 } else { STATUS_INFO_LEN };
        let related = if change.related_sample.is_some() { RELATED_SAMPLE_LEN } else { 0 };
        let origin = if change.origin.is_some() { ORIGIN_LEN } else { 0 };
        let presented = if change.presented.is_some() { PRESENTED_LEN } else { 0 };
        let parameters = key_hash + status_info + related + origin + presented + self.inline_qos.len();
        let inline_qos = if parameters > 0 { parameters + SENTINEL_LEN } else { 0 };
        // Submessages start at multiples of 4 bytes (RTPS 2.5, 9.4.1).
        let payload = payload_len(change).next_multiple_of(4);
        CHANGE_OVERHEAD + inline_qos + payload
    }

    /// Returns the key hash that a change carries.
    #[inline]
    fn key_of(&self, change: &CacheChange, scratch: &mut Vec<u8>) -> InstanceHandle {
        match (self.hashed_type, &change.payload) {
            (Some(ty), Some(payload)) => {
                let is_key = change.kind != ChangeKind::Alive;
                if self.hides_keys {
                    let hidden = ty.hidden_key_hash_of_payload(payload.bytes(), is_key, scratch);
                    return hidden.unwrap_or(InstanceHandle::NIL);
                }
                ty.key_hash_of_payload(payload.bytes(), is_key, scratch).unwrap_or(change.instance)
            }
            _ => change.instance,
        }
    }
}

fn put_inline_qos(inline_qos: &mut InlineQosWriter<'_>, sender: Sender<'_>, change: &CacheChange, key: InstanceHandle) {
    if sender.keyed {
        if let Some(key_hash) = key.as_bytes() {
            inline_qos.key_hash(key_hash);
        }
    }
    if change.kind != ChangeKind::Alive {
        inline_qos.status_info(change.kind.to_status_info());
    }
    if let Some(request) = change.related_sample {
        inline_qos.related_sample_identity(request);
    }
    if let Some(origin) = &change.origin {
        inline_qos.original_writer(origin.identity, |_| {});
        if !origin.lifespan.is_infinite() {
            inline_qos.lifespan(origin.lifespan);
        }
    }
    if let Some(presented) = &change.presented {
        put_presented(inline_qos, presented);
    }
    inline_qos.encoded(sender.inline_qos);
}

/// Adds the parameters of a coherent set (RTPS 2.5, 9.6.4.2 to 9.6.4.5).
///
/// The end of a writer's set carries no parameter, as in Zenzen DDS. The end of a group's set names that set, and no
/// set of the writer.
#[cold]
fn put_presented(inline_qos: &mut InlineQosWriter<'_>, presented: &PresentationInfo) {
    if let Some(first) = presented.set {
        inline_qos.coherent_set(first);
    }
    let Some(group) = presented.group else { return };
    if presented.is_end {
        inline_qos.coherent_set(SequenceNumber::UNKNOWN);
    }
    if let Some(first) = group.set {
        inline_qos.group_coherent_set(first);
    }
    inline_qos.group_sequence_number(group.number).writer_group_info(group.writers);
}
