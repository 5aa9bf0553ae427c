//! From a submessage's payload to a change that can be kept: which instance, and in which memory.

use crate::cdr::{KeyHasher, append};
use crate::concurrent::{Payload, PayloadSource, SlotMut, SlotPool, SlotRing};
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind, OriginalWriterInfo, PresentationInfo, ReceivedChange};
use crate::reader::change_facts::ChangeFacts;
use crate::reader::config::KeySource;
use crate::types::{Duration, Guid, InstanceHandle, Instant, Now, SequenceNumber};
use crate::wire::{ParameterListReader, SerializedPayload};
use std::sync::Arc;

/// Payloads below this are copied into a slot of the reader; larger ones keep the receive buffer, where it can be shared.
/// A copy of 4 KiB costs less than the receive buffer that would lie still as long as the sample is kept.
const COPY_MAX: usize = 4096;

/// The most samples of a reader that may lie in receive buffers, none of which they fill by half. One that is taken soon is not
/// worth a copy; what piles up, or stays as the last sample of its instance, gets a slot of its size. Bound: a megabyte of
/// receive buffers for each reader, whatever its history.
pub(crate) const SHARED_PARTS_MAX: usize = 16;

/// Memory of slots for copies that are used again, and of those for copies of medium size. Slots are made as they are needed;
/// what an application holds beyond this comes from the heap.
pub(crate) const SPARE_BYTES: usize = 16 << 20;

/// Slots for large and reassembled samples that are used again: each keeps the memory of the largest sample it ever held.
const LARGE_SLOTS: usize = 16;

/// The encapsulation header: two bytes of identifier, two of options.
const ENCAPSULATION_LEN: usize = 4;

/// What a submessage came to.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// A change.
    Change(ReceivedChange),
    /// No change: it uses up its number, nothing is delivered.
    Nothing,
    /// A change that the content filter does not let in.
    Filtered,
    /// A change whose instance cannot be found.
    NotDecodable,
}

impl Inbound {
    /// With what it is presented together with. A number without a change still says where a set ends, or that it goes on.
    pub(crate) fn presented(self, now: Now, envelope: &Envelope, presented: PresentationInfo) -> Self {
        match self {
            Self::Change(mut received) => {
                let presented = PresentationInfo { is_end: false, ..presented };
                received.change.presented = (presented != PresentationInfo::default()).then(|| Box::new(presented));
                Self::Change(received)
            }
            Self::Nothing | Self::Filtered => {
                let mut received = change(now, envelope, InstanceHandle::NIL, None, false);
                received.change.kind = ChangeKind::Alive;
                received.change.presented = Some(Box::new(presented));
                Self::Change(received)
            }
            Self::NotDecodable => Self::NotDecodable,
        }
    }
}

/// What is known of a change before its payload is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope {
    pub(crate) writer: Guid,
    pub(crate) sequence_number: SequenceNumber,
    /// The writer's LIFESPAN.
    pub(crate) lifespan: Duration,
    pub(crate) facts: ChangeFacts,
    /// It may lie in the reader for long: many others do.
    pub(crate) piles_up: bool,
}

/// The memory of received payloads, and the way to an instance.
#[derive(Debug)]
pub(crate) struct Intake {
    key: KeySource,
    hasher: KeyHasher,
    pub(crate) filter: Option<Arc<Filter>>,
    small: SlotRing,
    /// For what came in a receive buffer and lies longer than that may be kept. By bytes alone: slots differ in size.
    fitting: SlotRing,
    pub(crate) large: SlotPool,
    scratch: Vec<u8>,
}

impl Intake {
    pub(crate) fn new(key: KeySource, filter: Option<Arc<Filter>>, spare_bytes: usize) -> Self {
        let hasher = match &key {
            KeySource::Type(ty) => KeyHasher::new(ty.clone(), ty.has_key()),
            _ => KeyHasher::keyless(),
        };
        Self {
            key,
            hasher,
            filter,
            small: SlotRing::with_budget(0, spare_bytes),
            fitting: SlotRing::with_budget(0, spare_bytes),
            large: SlotPool::new(LARGE_SLOTS),
            scratch: Vec::new(),
        }
    }

    /// Slots made because none was free.
    pub(crate) fn slots_made(&self) -> u64 {
        self.small.made() + self.fitting.made() + self.large.made()
    }

    /// A change that lies in a packet.
    pub(crate) fn receive(
        &mut self,
        now: Now,
        envelope: &Envelope,
        payload: SerializedPayload<'_>,
        packet: &dyn PayloadSource,
    ) -> Inbound {
        let instance = match self.instance(envelope, payload) {
            Ok(Some(instance)) => instance,
            Ok(None) => return Inbound::Nothing,
            Err(NotDecodable) => return Inbound::NotDecodable,
        };
        // Before it is copied.
        if !self.wants(payload) {
            return Inbound::Filtered;
        }
        let (payload, has_data) = match payload {
            SerializedPayload::None => (None, false),
            SerializedPayload::Data(bytes) => (Some(self.keep(bytes, packet, envelope.piles_up)), true),
            SerializedPayload::Key(bytes) => (Some(self.keep(bytes, packet, envelope.piles_up)), false),
        };
        Inbound::Change(change(now, envelope, instance, payload, has_data))
    }

    /// A change that was put together from fragments.
    pub(crate) fn receive_assembled(
        &mut self,
        now: Now,
        envelope: &Envelope,
        payload: Payload,
        is_key: bool,
    ) -> Inbound {
        let serialized = match is_key {
            true => SerializedPayload::Key(payload.bytes()),
            false => SerializedPayload::Data(payload.bytes()),
        };
        match self.instance(envelope, serialized) {
            Ok(Some(_)) if !self.wants(serialized) => Inbound::Filtered,
            Ok(Some(instance)) => Inbound::Change(change(now, envelope, instance, Some(payload), !is_key)),
            Ok(None) => Inbound::Nothing,
            Err(NotDecodable) => Inbound::NotDecodable,
        }
    }

    /// Whether the content filter lets a payload in. Without one, everything is wanted; so is what has no payload to ask.
    #[inline]
    fn wants(&self, payload: SerializedPayload<'_>) -> bool {
        let Some(filter) = &self.filter else { return true };
        match payload {
            SerializedPayload::None => true,
            SerializedPayload::Data(bytes) => filter.passes(bytes),
            SerializedPayload::Key(bytes) => filter.passes_key(bytes),
        }
    }

    /// Whether the content filter lets a change of this process in.
    #[inline]
    pub(crate) fn wants_local(&self, change: &CacheChange) -> bool {
        let Some(filter) = &self.filter else { return true };
        let Some(payload) = &change.payload else { return true };
        match change.kind {
            ChangeKind::Alive => filter.passes(payload.bytes()),
            _ => filter.passes_key(payload.bytes()),
        }
    }

    fn keep(&mut self, bytes: &[u8], packet: &dyn PayloadSource, piles_up: bool) -> Payload {
        let fill = |mut slot: SlotMut| {
            let buffer = slot.buffer();
            buffer.clear();
            append(buffer, bytes);
            slot
        };
        let ring = if bytes.len() < COPY_MAX {
            &mut self.small
        } else {
            match packet.share(bytes) {
                Some(payload) if !(piles_up && payload.is_small_part()) => return payload,
                Some(_) => &mut self.fitting,
                None => return self.large.freeze(fill(self.large.acquire())),
            }
        };
        let slot = fill(ring.acquire());
        ring.freeze(slot)
    }

    /// The instance; `None`: there is no change at all.
    fn instance(
        &mut self,
        envelope: &Envelope,
        payload: SerializedPayload<'_>,
    ) -> Result<Option<InstanceHandle>, NotDecodable> {
        let (bytes, is_key) = match payload {
            // A key without a status registers an instance, which is no news to a reader.
            SerializedPayload::None | SerializedPayload::Key(_) if envelope.facts.kind() == ChangeKind::Alive => {
                return Ok(None);
            }
            SerializedPayload::None => (None, true),
            SerializedPayload::Data(bytes) => (Some(bytes), false),
            SerializedPayload::Key(bytes) => (Some(bytes), true),
        };
        if let KeySource::None | KeySource::KeyHash = self.key {
            let readable = bytes.is_none_or(|bytes| is_key || bytes.len() >= ENCAPSULATION_LEN);
            let hash = envelope.facts.key_hash.filter(|_| matches!(self.key, KeySource::KeyHash));
            let instance = hash.map_or(InstanceHandle::NIL, InstanceHandle::from_key_hash);
            return if readable { Ok(Some(instance)) } else { Err(NotDecodable) };
        }
        let by_payload = bytes.and_then(|bytes| self.instance_of(bytes, is_key));
        let hash_counts = is_key || matches!(self.key, KeySource::KeyHashOrGuidParameter);
        let by_hash = || envelope.facts.key_hash.filter(|_| hash_counts).map(InstanceHandle::from_key_hash);
        by_payload.or_else(by_hash).map(Some).ok_or(NotDecodable)
    }

    /// The instance of a change of this process; `None` if it cannot be found. The writer knows it, unless one side handles
    /// the topic without its type and thus without a key.
    pub(crate) fn instance_of_local(&mut self, change: &CacheChange) -> Option<InstanceHandle> {
        match self.key {
            KeySource::None => Some(InstanceHandle::NIL),
            KeySource::KeyHash => Some(change.instance),
            _ if change.instance != InstanceHandle::NIL => Some(change.instance),
            _ => self.instance_of(change.payload.as_ref()?.bytes(), change.kind != ChangeKind::Alive),
        }
    }

    fn instance_of(&mut self, bytes: &[u8], is_key: bool) -> Option<InstanceHandle> {
        match self.key {
            KeySource::None | KeySource::KeyHash => Some(InstanceHandle::NIL),
            KeySource::Type(_) => self.hasher.of_payload(bytes, is_key, &mut self.scratch).ok(),
            KeySource::KeyHashOrGuidParameter => guid_parameter(bytes).map(InstanceHandle::from_key_hash),
            KeySource::LeadingBytes => {
                let body = bytes.get(ENCAPSULATION_LEN..)?;
                body.first_chunk::<16>().map(|key| InstanceHandle::from_key_hash(*key))
            }
        }
    }
}

/// The instance cannot be found.
struct NotDecodable;

/// ENDPOINT_GUID, else PARTICIPANT_GUID, of a parameter list with its encapsulation header.
fn guid_parameter(bytes: &[u8]) -> Option<[u8; 16]> {
    const ENDPOINT_GUID: u16 = 0x005a;
    const PARTICIPANT_GUID: u16 = 0x0050;
    let little_endian = match bytes.first_chunk::<2>()? {
        [0, 2] => false,
        [0, 3] => true,
        _ => return None,
    };
    let list = ParameterListReader::new(bytes.get(ENCAPSULATION_LEN..)?, little_endian);
    let mut found = None;
    for parameter in list.map_while(Result::ok) {
        let value = parameter.value.first_chunk::<16>();
        match parameter.id {
            ENDPOINT_GUID => return value.copied(),
            PARTICIPANT_GUID => found = value.copied(),
            _ => {}
        }
    }
    found
}

fn change(
    now: Now,
    envelope: &Envelope,
    instance: InstanceHandle,
    payload: Option<Payload>,
    has_data: bool,
) -> ReceivedChange {
    let facts = &envelope.facts;
    let lifespan = facts.lifespan.unwrap_or(envelope.lifespan);
    let change = CacheChange {
        kind: facts.kind(),
        writer: envelope.writer,
        sequence_number: envelope.sequence_number,
        instance,
        source_timestamp: facts.source_timestamp,
        related_sample: facts.related_sample,
        origin: facts.original.map(|identity| Box::new(OriginalWriterInfo { identity, lifespan })),
        presented: None,
        payload,
    };
    // A dispose does not expire: nobody would ever hear of it.
    let expires = if has_data { expiry(now, &change, lifespan) } else { None };
    ReceivedChange { change, has_data, expires, reception_timestamp: now.time }
}

/// When a sample expires, by the monotonic clock: its lifespan counts from the source timestamp. A writer whose clock is
/// ahead of ours gains nothing by it: what was written in the future counts as written now (DDS 1.4, 2.2.3.16 allows it; the
/// history counts what is more than 30 s ahead).
pub(crate) fn expiry(now: Now, change: &CacheChange, lifespan: Duration) -> Option<Instant> {
    if lifespan.is_infinite() {
        return None;
    }
    let age = if change.source_timestamp.is_valid() { now.time - change.source_timestamp } else { Duration::ZERO };
    now.instant.after(Duration::from_nanos(lifespan.as_nanos().saturating_sub(age.as_nanos())))
}
