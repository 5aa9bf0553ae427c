//! A stored change.
//!
//! Its record in the database. All numbers are little endian:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | kind: 0 is a sample, 1 is a dispose |
//! | 1 | 1 | flags: 1 if there is an instance, 2 if there is a payload |
//! | 2 | 16 | key hash of the instance, or zeros |
//! | 18 | 16 | GUID of the original writer |
//! | 34 | 8 | its original sequence number |
//! | 42 | 8 | source timestamp, nanoseconds since 1970; the lowest number if absent |
//! | 50 | 8 | lifespan, nanoseconds; the highest number is infinite |
//! | 58 | | payload as received, with its encapsulation header |

use dds_core::relay::{ChangeKind, Payload};
use dds_core::writer::{SampleIdentity, SequenceNumber};
use dds_core::{Duration, Guid, InstanceHandle, Time};

/// A change that the service stores, or may store.
#[derive(Debug, Clone)]
pub(crate) struct RelayedChange {
    pub(crate) disposes: bool,
    /// Nil if the topic has no key, or if the service cannot determine the instance.
    pub(crate) instance: InstanceHandle,
    /// The original writer and its sequence number.
    pub(crate) identity: SampleIdentity,
    pub(crate) source_timestamp: Time,
    pub(crate) lifespan: Duration,
    /// The encoded sample, or the encoded key of a disposed instance.
    pub(crate) payload: Option<Payload>,
}

const HAS_INSTANCE: u8 = 1;
const HAS_PAYLOAD: u8 = 2;

impl RelayedChange {
    pub(crate) fn kind(&self) -> ChangeKind {
        if self.disposes { ChangeKind::NotAliveDisposed } else { ChangeKind::Alive }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.payload {
            Some(payload) => payload.len(),
            None => 0,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let payload = self.payload.as_ref().map(Payload::bytes);
        let instance = self.instance.as_bytes();
        let mut record = Vec::with_capacity(58 + self.len());
        let mut flags = 0;
        if instance.is_some() {
            flags |= HAS_INSTANCE;
        }
        // An empty payload and an absent one differ: a dispose without its key has none.
        if payload.is_some() {
            flags |= HAS_PAYLOAD;
        }
        record.push(u8::from(self.disposes));
        record.push(flags);
        record.extend_from_slice(instance.unwrap_or(&[0; 16]));
        record.extend_from_slice(&self.identity.writer.to_bytes());
        record.extend_from_slice(&self.identity.sequence_number.0.to_le_bytes());
        // A record has no optional fields, so one value of each range stands for its absence.
        let timestamp = if self.source_timestamp.is_valid() { self.source_timestamp.as_unix_nanos() } else { i64::MIN };
        record.extend_from_slice(&timestamp.to_le_bytes());
        let lifespan = if self.lifespan.is_infinite() { i64::MAX } else { self.lifespan.as_nanos() };
        record.extend_from_slice(&lifespan.to_le_bytes());
        record.extend_from_slice(payload.unwrap_or_default());
        record
    }

    /// Decodes a record. Returns `None` if it is malformed.
    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let (kind, rest) = record.split_first()?;
        let (has, rest) = rest.split_first()?;
        let (instance, rest) = rest.split_first_chunk::<16>()?;
        let (writer, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (timestamp, rest) = rest.split_first_chunk::<8>()?;
        let (lifespan, payload) = rest.split_first_chunk::<8>()?;
        let timestamp = i64::from_le_bytes(*timestamp);
        let lifespan = i64::from_le_bytes(*lifespan);
        // Only a damaged record has these values. Unknown flags are accepted, they carry no bytes.
        if *kind > 1 || lifespan < 0 {
            return None;
        }
        let payload = if has & HAS_PAYLOAD != 0 { Some(Payload::copy_of(payload)) } else { None };
        Some(Self {
            disposes: *kind == 1,
            instance: match has & HAS_INSTANCE {
                0 => InstanceHandle::NIL,
                _ => InstanceHandle::from_key_hash(*instance),
            },
            identity: SampleIdentity {
                writer: Guid::from_bytes(*writer),
                sequence_number: SequenceNumber(i64::from_le_bytes(*number)),
            },
            source_timestamp: if timestamp == i64::MIN { Time::INVALID } else { Time::from_unix_nanos(timestamp) },
            lifespan: if lifespan == i64::MAX { Duration::INFINITE } else { Duration::from_nanos(lifespan) },
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_round_trips_and_rejects_other_bytes() {
        let change = RelayedChange {
            disposes: true,
            instance: InstanceHandle::from_key_hash([3; 16]),
            identity: SampleIdentity { writer: Guid::from_bytes([4; 16]), sequence_number: SequenceNumber(77) },
            source_timestamp: Time::from_unix_nanos(1_700_000_000_123_456_789),
            lifespan: Duration::from_millis(1500),
            payload: Some(Payload::copy_of(&[0, 1, 0, 0, 9])),
        };
        let bare = RelayedChange {
            disposes: false,
            instance: InstanceHandle::NIL,
            source_timestamp: Time::INVALID,
            lifespan: Duration::INFINITE,
            payload: None,
            ..change.clone()
        };
        for change in [change, bare] {
            let record = change.encode();
            let read = RelayedChange::decode(&record).unwrap();
            assert_eq!(
                (read.disposes, read.instance, read.identity),
                (change.disposes, change.instance, change.identity)
            );
            assert_eq!((read.source_timestamp, read.lifespan), (change.source_timestamp, change.lifespan));
            assert_eq!(read.payload.map(|p| p.bytes().to_vec()), change.payload.map(|p| p.bytes().to_vec()));
            (0..58).for_each(|len| assert!(RelayedChange::decode(&record[..len]).is_none()));
        }
        assert!(RelayedChange::decode(&[9; 80]).is_none());
    }
}
