//! Builds changes from received payloads: finds the instance, applies the content filter, and keeps the payload in
//! memory.

use super::change_facts::ChangeFacts;
use super::config::KeySource;
use crate::cdr::{KeyHasher, append};
use crate::concurrent::{Payload, PayloadSource, SlotMut, SlotPool, SlotRing};
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind, OriginalWriterInfo, PresentationInfo, ReceivedChange};
use crate::types::{Duration, Guid, InstanceHandle, Instant, Now, SequenceNumber};
use crate::wire::{ParameterListReader, SerializedPayload};
use std::sync::Arc;

/// Payloads below this size, in bytes, are copied into a slot. Larger ones keep the receive buffer if it can be shared.
///
/// To copy 4 KiB costs less than a receive buffer that stays occupied as long as the sample is kept.
const COPY_MAX: usize = 4096;

/// Most samples that may keep receive buffers which none of them fills by half.
///
/// A sample that is taken soon is not worth a copy. When samples pile up, or stay as the last one of their instance,
/// they get slots of their size. With `SHARED_BUFFER_MAX`, the bound is about a megabyte for each reader, however large
/// its history is.
pub(crate) const SHARED_PARTS_MAX: usize = 16;

/// Largest receive buffer that a sample may keep without filling half of it: one for any UDP datagram.
///
/// A peer could send small samples in long messages, whose buffers have up to 2 MiB.
const SHARED_BUFFER_MAX: usize = 68 << 10;

/// Bytes of slots for small copies that are reused, and as many for copies of medium size.
///
/// Slots are created on demand. Payloads that the application holds beyond this come from the heap.
pub(crate) const SPARE_BYTES: usize = 16 << 20;

/// Slots for large and reassembled samples that are reused. Each keeps the memory of the largest sample it ever held.
const LARGE_SLOTS: usize = 16;

/// Encapsulation header: two bytes of identifier, two of options.
const ENCAPSULATION_LEN: usize = 4;

/// Result of a submessage with a complete payload.
#[derive(Debug)]
pub(crate) enum IncomingChange {
    /// A change to deliver.
    Change(ReceivedChange),
    /// No change: the sequence number is used up, and nothing is delivered.
    Nothing,
    /// The content filter rejects the change.
    Filtered,
    /// The instance of the change cannot be decoded.
    NotDecodable,
}

impl IncomingChange {
    /// Attaches the place of the change among coherent and ordered changes.
    ///
    /// A number without content becomes a change without payload: it still shows where a set ends or continues.
    pub(crate) fn with_presentation(self, now: Now, header: &ChangeHeader, presented: PresentationInfo) -> Self {
        match self {
            Self::Change(mut received) => {
                let presented = PresentationInfo { is_end: false, ..presented };
                received.change.presented =
                    if presented == PresentationInfo::default() { None } else { Some(Box::new(presented)) };
                Self::Change(received)
            }
            Self::Nothing | Self::Filtered => {
                let mut received = received_change(now, header, InstanceHandle::NIL, None, false);
                received.change.kind = ChangeKind::Alive;
                received.change.presented = Some(Box::new(presented));
                Self::Change(received)
            }
            Self::NotDecodable => Self::NotDecodable,
        }
    }
}

/// Facts about a change that are known before its payload is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeHeader {
    pub(crate) writer: Guid,
    pub(crate) sequence_number: SequenceNumber,
    /// LIFESPAN of the writer.
    pub(crate) lifespan: Duration,
    pub(crate) facts: ChangeFacts,
    /// Whether the reader may hold the change for long, because many others wait already.
    pub(crate) piles_up: bool,
}

/// Builds changes from payloads, and owns the memory of received payloads.
#[derive(Debug)]
pub(crate) struct ChangeBuilder {
    key: KeySource,
    hasher: KeyHasher,
    filter: Option<Arc<Filter>>,
    /// Slots of small copies.
    small: SlotRing,
    /// Slots of payloads whose receive buffer must not be kept. Limited by bytes, as the slots differ in size.
    medium: SlotRing,
    /// Slots of large and reassembled samples.
    large: SlotPool,
    scratch: Vec<u8>,
}

impl ChangeBuilder {
    pub(crate) fn new(key: KeySource, filter: Option<Arc<Filter>>, spare_bytes: usize) -> Self {
        let hasher = match &key {
            // A type without key members has one instance, as a topic without key.
            KeySource::Type(ty) => KeyHasher::new(ty.clone(), ty.has_key()),
            _ => KeyHasher::keyless(),
        };
        Self {
            key,
            hasher,
            filter,
            small: SlotRing::with_budget(0, spare_bytes),
            medium: SlotRing::with_budget(0, spare_bytes),
            large: SlotPool::new(LARGE_SLOTS),
            scratch: Vec::new(),
        }
    }

    /// Slots that were created because none was free.
    pub(crate) fn slots_created(&self) -> u64 {
        self.small.made() + self.medium.made() + self.large.made()
    }

    /// Pool of slots for fragmented samples.
    pub(crate) fn large_slots(&self) -> &SlotPool {
        &self.large
    }

    pub(crate) fn set_filter(&mut self, filter: Option<Arc<Filter>>) {
        self.filter = filter;
    }

    /// Builds a change from a payload that lies in `packet`.
    pub(crate) fn build(
        &mut self,
        now: Now,
        header: &ChangeHeader,
        payload: SerializedPayload<'_>,
        packet: &dyn PayloadSource,
    ) -> IncomingChange {
        let instance = match self.instance(header, payload) {
            Ok(Some(instance)) => instance,
            Ok(None) => return IncomingChange::Nothing,
            Err(NotDecodable) => return IncomingChange::NotDecodable,
        };
        // The filter reads the payload where it lies: a rejected one is not copied.
        if !self.passes_filter(payload) {
            return IncomingChange::Filtered;
        }
        let (payload, has_data) = match payload {
            SerializedPayload::None => (None, false),
            SerializedPayload::Data(bytes) => (Some(self.keep(bytes, packet, header.piles_up)), true),
            SerializedPayload::Key(bytes) => (Some(self.keep(bytes, packet, header.piles_up)), false),
        };
        IncomingChange::Change(received_change(now, header, instance, payload, has_data))
    }

    /// Builds a change from a payload that was assembled from fragments.
    pub(crate) fn build_assembled(
        &mut self,
        now: Now,
        header: &ChangeHeader,
        payload: Payload,
        is_key: bool,
    ) -> IncomingChange {
        let serialized =
            if is_key { SerializedPayload::Key(payload.bytes()) } else { SerializedPayload::Data(payload.bytes()) };
        match self.instance(header, serialized) {
            Ok(Some(_)) if !self.passes_filter(serialized) => IncomingChange::Filtered,
            Ok(Some(instance)) => {
                IncomingChange::Change(received_change(now, header, instance, Some(payload), !is_key))
            }
            Ok(None) => IncomingChange::Nothing,
            Err(NotDecodable) => IncomingChange::NotDecodable,
        }
    }

    /// Whether the content filter accepts a payload. A change without payload always passes.
    #[inline]
    fn passes_filter(&self, payload: SerializedPayload<'_>) -> bool {
        let Some(filter) = &self.filter else { return true };
        match payload {
            SerializedPayload::None => true,
            SerializedPayload::Data(bytes) => filter.passes(bytes),
            SerializedPayload::Key(bytes) => filter.passes_key(bytes),
        }
    }

    /// Whether the content filter accepts a change of a local writer.
    #[inline]
    pub(crate) fn passes_filter_local(&self, change: &CacheChange) -> bool {
        let Some(filter) = &self.filter else { return true };
        let Some(payload) = &change.payload else { return true };
        match change.kind {
            ChangeKind::Alive => filter.passes(payload.bytes()),
            _ => filter.passes_key(payload.bytes()),
        }
    }

    /// Keeps a payload: as a copy in a slot, or as a share of the receive buffer.
    fn keep(&mut self, bytes: &[u8], packet: &dyn PayloadSource, piles_up: bool) -> Payload {
        let ring = if bytes.len() < COPY_MAX {
            &mut self.small
        } else {
            match packet.share(bytes) {
                // Shares the receive buffer, unless the sample would occupy much more memory than it needs for long.
                Some(payload) if !wastes_memory(&payload, piles_up) => return payload,
                Some(_) => &mut self.medium,
                None => {
                    let slot = copy_into(self.large.acquire(), bytes);
                    return self.large.freeze(slot);
                }
            }
        };
        let slot = copy_into(ring.acquire(), bytes);
        ring.freeze(slot)
    }

    /// Instance of a change; `Ok(None)`: the submessage is no change at all.
    fn instance(
        &mut self,
        header: &ChangeHeader,
        payload: SerializedPayload<'_>,
    ) -> Result<Option<InstanceHandle>, NotDecodable> {
        let (bytes, is_key) = match payload {
            // A key without a status registers an instance, which changes nothing for a reader.
            SerializedPayload::None | SerializedPayload::Key(_) if header.facts.kind() == ChangeKind::Alive => {
                return Ok(None);
            }
            SerializedPayload::None => (None, true),
            SerializedPayload::Data(bytes) => (Some(bytes), false),
            SerializedPayload::Key(bytes) => (Some(bytes), true),
        };
        let key_hash = header.facts.key_hash;
        if let KeySource::None | KeySource::KeyHash = self.key {
            // The key does not come from the payload, so the payload is readable if it has its header.
            match bytes {
                Some(bytes) if !is_key && bytes.len() < ENCAPSULATION_LEN => return Err(NotDecodable),
                _ => {}
            }
            let instance = match (&self.key, key_hash) {
                (KeySource::KeyHash, Some(hash)) => InstanceHandle::from_key_hash(hash),
                _ => InstanceHandle::NIL,
            };
            return Ok(Some(instance));
        }
        if let Some(bytes) = bytes {
            if let Some(instance) = self.instance_of_payload(bytes, is_key) {
                return Ok(Some(instance));
            }
        }
        // A key hash never replaces the key of a sample: some peers compute it in ways of their own.
        match key_hash {
            Some(hash) if is_key || matches!(self.key, KeySource::KeyHashOrGuidParameter) => {
                Ok(Some(InstanceHandle::from_key_hash(hash)))
            }
            _ => Err(NotDecodable),
        }
    }

    /// Instance of a change of a local writer; `None`: it cannot be decoded.
    ///
    /// The writer knows the instance, unless one side handles the topic without its type and thus without a key.
    pub(crate) fn instance_of_local(&mut self, change: &CacheChange) -> Option<InstanceHandle> {
        match self.key {
            KeySource::None => Some(InstanceHandle::NIL),
            KeySource::KeyHash => Some(change.instance),
            // Writer and reader share the type: the handles are equal.
            _ if change.instance != InstanceHandle::NIL => Some(change.instance),
            _ => self.instance_of_payload(change.payload.as_ref()?.bytes(), change.kind != ChangeKind::Alive),
        }
    }

    fn instance_of_payload(&mut self, bytes: &[u8], is_key: bool) -> Option<InstanceHandle> {
        match self.key {
            KeySource::None | KeySource::KeyHash => Some(InstanceHandle::NIL),
            KeySource::Type(_) => self.hasher.of_payload(bytes, is_key, &mut self.scratch).ok(),
            KeySource::KeyHashOrGuidParameter => guid_parameter(bytes).map(InstanceHandle::from_key_hash),
            KeySource::LeadingBytes => {
                let body = bytes.get(ENCAPSULATION_LEN..)?;
                Some(InstanceHandle::from_key_hash(*body.first_chunk::<16>()?))
            }
        }
    }
}

/// The instance of a change cannot be decoded.
struct NotDecodable;

fn wastes_memory(payload: &Payload, piles_up: bool) -> bool {
    payload.is_small_part() && (piles_up || payload.memory() > SHARED_BUFFER_MAX)
}

fn copy_into(mut slot: SlotMut, bytes: &[u8]) -> SlotMut {
    let buffer = slot.buffer();
    buffer.clear();
    append(buffer, bytes);
    slot
}

/// ENDPOINT_GUID, else PARTICIPANT_GUID, of a parameter list with its encapsulation header.
fn guid_parameter(bytes: &[u8]) -> Option<[u8; 16]> {
    // The room `discovery`, which names all ids, lies above this one.
    const ENDPOINT_GUID: u16 = 0x005a;
    const PARTICIPANT_GUID: u16 = 0x0050;
    let little_endian = match bytes.first_chunk::<2>()? {
        [0, 2] => false,
        [0, 3] => true,
        _ => return None,
    };
    let list = ParameterListReader::new(bytes.get(ENCAPSULATION_LEN..)?, little_endian);
    // The endpoint GUID may stand behind the participant GUID in the list.
    let mut participant = None;
    for parameter in list.map_while(Result::ok) {
        let value = parameter.value.first_chunk::<16>();
        match parameter.id {
            ENDPOINT_GUID => return value.copied(),
            PARTICIPANT_GUID => participant = value.copied(),
            _ => {}
        }
    }
    participant
}

fn received_change(
    now: Now,
    header: &ChangeHeader,
    instance: InstanceHandle,
    payload: Option<Payload>,
    has_data: bool,
) -> ReceivedChange {
    let facts = &header.facts;
    let lifespan = facts.lifespan.unwrap_or(header.lifespan);
    let change = CacheChange {
        kind: facts.kind(),
        writer: header.writer,
        sequence_number: header.sequence_number,
        instance,
        source_timestamp: facts.source_timestamp,
        related_sample: facts.related_sample,
        origin: facts.original.map(|identity| Box::new(OriginalWriterInfo { identity, lifespan })),
        presented: None,
        payload,
    };
    // A dispose does not expire: LIFESPAN applies to data, and the application must see the end of an instance.
    let expires = if has_data { expiry(now, &change, lifespan) } else { None };
    ReceivedChange { change, has_data, expires, reception_timestamp: now.time }
}

/// When a sample expires, by the monotonic clock. Its lifespan counts from the source timestamp.
///
/// A source timestamp in the future counts as now (DDS 1.4, 2.2.3.16 allows it), so a writer gains nothing from a clock
/// that runs ahead. The history counts timestamps that are more than 30 s ahead.
pub(crate) fn expiry(now: Now, change: &CacheChange, lifespan: Duration) -> Option<Instant> {
    if lifespan.is_infinite() {
        return None;
    }
    // A clock ahead of ours gives the age zero, so such a sample is never dropped too early.
    let age = if change.source_timestamp.is_valid() { now.time - change.source_timestamp } else { Duration::ZERO };
    now.instant.after(Duration::from_nanos(lifespan.as_nanos().saturating_sub(age.as_nanos())))
}
