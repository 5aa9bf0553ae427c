//! A change of an instance: what a write, dispose or unregister becomes (RTPS 2.5, 8.2.1.2).

use super::Payload;
use crate::types::{Duration, Guid, InstanceHandle, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// What happened to the instance (RTPS 2.5, 8.2.1.2; the bits of STATUS_INFO, 9.6.4.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A value was written.
    Alive,
    /// The instance was disposed of.
    NotAliveDisposed,
    /// The writer no longer updates the instance.
    NotAliveUnregistered,
    /// Both at once.
    NotAliveDisposedUnregistered,
}

impl ChangeKind {
    /// The kind that the STATUS_INFO bits name: 1 disposed, 2 unregistered.
    #[must_use]
    pub const fn from_status_info(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Alive,
            1 => Self::NotAliveDisposed,
            2 => Self::NotAliveUnregistered,
            _ => Self::NotAliveDisposedUnregistered,
        }
    }

    /// The STATUS_INFO bits.
    #[must_use]
    pub const fn to_status_info(self) -> u32 {
        match self {
            Self::Alive => 0,
            Self::NotAliveDisposed => 1,
            Self::NotAliveUnregistered => 2,
            Self::NotAliveDisposedUnregistered => 3,
        }
    }
}

/// Who wrote a change that another writer hands over (RTPS 2.5, 9.6.4.8, PID_ORIGINAL_WRITER_INFO): a durability service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Its writer, and its number there. The same change has the same name, whoever hands it over.
    pub identity: SampleIdentity,
    /// How long after its source timestamp it may be handed out; infinite: for ever.
    pub lifespan: Duration,
}

/// One change in a history cache (RTPS 2.5, 8.2.1.2).
#[derive(Debug, Clone)]
pub struct CacheChange {
    /// What happened.
    pub kind: ChangeKind,
    /// Who wrote it.
    pub writer: Guid,
    /// Its number within the writer.
    pub sequence_number: SequenceNumber,
    /// The instance; nil for keyless topics.
    pub instance: InstanceHandle,
    /// When it was written, by the writer's clock; [`Time::INVALID`] if the writer did not say.
    pub source_timestamp: Time,
    /// The sample that this one answers, if it is a reply.
    pub related_sample: Option<SampleIdentity>,
    /// Who wrote it, if that was not `writer`. Boxed, because hardly any change has one.
    pub origin: Option<Box<Origin>>,
    /// The encoded sample, or the encoded key of a change that is not alive. `None`: there was no payload at all.
    pub payload: Option<Payload>,
}

impl CacheChange {
    /// The name of the change, whoever hands it over.
    #[must_use]
    pub fn identity(&self) -> SampleIdentity {
        let own = SampleIdentity { writer: self.writer, sequence_number: self.sequence_number };
        self.origin.as_ref().map_or(own, |origin| origin.identity)
    }
}
