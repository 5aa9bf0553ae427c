//! One entry of a history cache: a write, a dispose or an unregister (RTPS 2.5, 8.2.1.2).

use crate::concurrent::{GroupPosition, Payload};
use crate::types::{Duration, Guid, InstanceHandle, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// The effect of a change on its instance (RTPS 2.5, 8.2.1.2; STATUS_INFO, 9.6.4.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The writer wrote a sample.
    Alive,
    /// The writer disposed of the instance.
    NotAliveDisposed,
    /// The writer unregistered the instance.
    NotAliveUnregistered,
    /// The writer disposed of and unregistered the instance.
    NotAliveDisposedUnregistered,
}

impl ChangeKind {
    /// The kind for STATUS_INFO bits: 1 disposed, 2 unregistered.
    #[must_use]
    pub const fn from_status_info(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Alive,
            1 => Self::NotAliveDisposed,
            2 => Self::NotAliveUnregistered,
            _ => Self::NotAliveDisposedUnregistered,
        }
    }

    /// The STATUS_INFO bits of this kind.
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

/// The original writer of a change that a durability service hands over (RTPS 2.5, 9.6.4.8, PID_ORIGINAL_WRITER_INFO).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginalWriterInfo {
    /// The original writer and its sequence number. They identify the change, whichever writer hands it over.
    pub identity: SampleIdentity,
    /// LIFESPAN of the change, counted from its source timestamp. May be infinite.
    pub lifespan: Duration,
}

/// The coherent set and the group position of a change (RTPS 2.5, 8.7.5 and 8.7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PresentationInfo {
    /// The coherent set of the change: the sequence number of its first change. `None`: no set.
    pub set: Option<SequenceNumber>,
    /// The position among the changes of all writers of the publisher, under PRESENTATION with GROUP scope.
    pub group: Option<GroupPosition>,
    /// There is no change: the sequence number only ends the coherent set of this writer.
    pub is_end: bool,
}

/// One change in a history cache (RTPS 2.5, 8.2.1.2).
#[derive(Debug, Clone)]
pub struct CacheChange {
    /// Kind of the change: a write, a dispose or an unregistration.
    pub kind: ChangeKind,
    /// The writer that sent the change.
    pub writer: Guid,
    /// The sequence number of the change within `writer`.
    pub sequence_number: SequenceNumber,
    /// The instance; nil for keyless topics.
    pub instance: InstanceHandle,
    /// When the change was written, by the writer's clock; [`Time::INVALID`] if unknown.
    pub source_timestamp: Time,
    /// The request that this sample answers, if it is a reply.
    pub related_sample: Option<SampleIdentity>,
    /// The original writer, if that is not `writer`. Boxed, because hardly any change has one.
    pub origin: Option<Box<OriginalWriterInfo>>,
    /// The coherent set and group position. Boxed, because most changes have none.
    pub presented: Option<Box<PresentationInfo>>,
    /// The encoded sample, or the encoded key of a change that is not alive; `None` without a payload.
    pub payload: Option<Payload>,
}

impl CacheChange {
    /// Whether there is no change, but only the end of a coherent set (RTPS 2.5, 8.7.5).
    #[must_use]
    pub fn is_end_of_set(&self) -> bool {
        self.presented.as_ref().is_some_and(|presented| presented.is_end)
    }

    /// Moves the change out of a reference and leaves one without a payload.
    ///
    /// Passing a reference is cheaper: moving the whole struct through each call costs more than all other work on a
    /// small sample.
    #[must_use]
    #[inline]
    pub fn take(&mut self) -> Self {
        Self { origin: self.origin.take(), presented: self.presented.take(), payload: self.payload.take(), ..*self }
    }

    /// The original writer and sequence number, whichever writer hands the change over.
    #[must_use]
    pub fn identity(&self) -> SampleIdentity {
        match &self.origin {
            Some(origin) => origin.identity,
            None => SampleIdentity { writer: self.writer, sequence_number: self.sequence_number },
        }
    }
}
