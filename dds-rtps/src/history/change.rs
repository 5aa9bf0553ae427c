//! A change of an instance: what a write, dispose or unregister becomes (RTPS 2.5, 8.2.1.2).

use crate::concurrent::{GroupPosition, Payload};
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
pub struct OriginalWriterInfo {
    /// Its writer, and its number there. The same change has the same name, whoever hands it over.
    pub identity: SampleIdentity,
    /// How long after its source timestamp it may be handed out; infinite: for ever.
    pub lifespan: Duration,
}

/// Where a change stands in what its publisher presents together (RTPS 2.5, 8.7.5 and 8.7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PresentationInfo {
    /// The coherent set that it belongs to, by the number of its first change within this writer; `None`: to none.
    pub set: Option<SequenceNumber>,
    /// Its place among the changes of all writers of its publisher, under PRESENTATION with scope GROUP.
    pub group: Option<GroupPosition>,
    /// There is no change at all: it ends the set of this writer, and uses up a number for that.
    pub is_end: bool,
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
    pub origin: Option<Box<OriginalWriterInfo>>,
    /// What it is presented together with. Boxed, because only coherent sets and groups have it.
    pub presented: Option<Box<PresentationInfo>>,
    /// The encoded sample, or the encoded key of a change that is not alive. `None`: there was no payload at all.
    pub payload: Option<Payload>,
}

impl CacheChange {
    /// Whether it is none: a number that only ends a coherent set (RTPS 2.5, 8.7.5).
    #[must_use]
    pub fn is_end_of_set(&self) -> bool {
        self.presented.as_ref().is_some_and(|presented| presented.is_end)
    }

    /// Moves the change out; what stays has no payload. For who has it by reference: moving all of it from hand to hand costs more
    /// than anything else that is done with a small sample.
    #[must_use]
    #[inline]
    pub fn take(&mut self) -> Self {
        Self { origin: self.origin.take(), presented: self.presented.take(), payload: self.payload.take(), ..*self }
    }

    /// The name of the change, whoever hands it over.
    #[must_use]
    pub fn identity(&self) -> SampleIdentity {
        let own = SampleIdentity { writer: self.writer, sequence_number: self.sequence_number };
        self.origin.as_ref().map_or(own, |origin| origin.identity)
    }
}
