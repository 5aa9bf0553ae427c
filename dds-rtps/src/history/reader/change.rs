//! Changes on their way into a reader history, samples on their way out, and the result of an addition.

use super::SampleInfo;
use crate::concurrent::Payload;
use crate::history::{CacheChange, ChangeKind, OriginalWriterInfo};
use crate::types::{Instant, Time};

/// Why a change was rejected (DDS 1.4, 2.2.4.1: SAMPLE_REJECTED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// RESOURCE_LIMITS max_samples.
    Samples,
    /// RESOURCE_LIMITS max_instances.
    Instances,
    /// RESOURCE_LIMITS max_samples_per_instance.
    SamplesPerInstance,
}

/// Result of adding a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Admission {
    /// The application can see something new: a sample, or an instance state.
    Visible,
    /// The change was received before, from its writer or from a service.
    Known,
    /// Nothing changed: an unregistration while others write, or a state that the instance already has.
    Unchanged,
    /// The LIFESPAN of the sample was over on arrival.
    Expired,
    /// Under order by source timestamp: the change is too old.
    ///
    /// It is older than a sample of its instance that was handed out, or than those that KEEP_LAST kept. A change that
    /// ends the instance is older than the newest change.
    Superseded,
    /// Another writer owns the instance, under EXCLUSIVE OWNERSHIP.
    NotOwner,
    /// TIME_BASED_FILTER keeps the sample pending until it is delivered or replaced.
    Held,
    /// The change ends an unknown instance and is ignored.
    UnknownInstance,
}

/// A change on its way into a reader history.
#[derive(Debug, Clone)]
pub struct ReceivedChange {
    /// The change.
    pub change: CacheChange,
    /// Whether the payload is a whole sample and not a key. With a change that is not alive, the sample is added first:
    /// a write and a dispose in one.
    pub has_data: bool,
    /// When the sample expires, by the monotonic clock.
    pub expires: Option<Instant>,
    /// When the change arrived.
    pub reception_timestamp: Time,
}

/// A change that was rejected, given back.
#[derive(Debug, Clone)]
pub struct RejectedChange {
    /// The limit that was reached.
    pub reason: RejectReason,
    /// The change.
    pub received: ReceivedChange,
}

/// A sample on its way out of a reader history.
#[derive(Debug, Clone)]
pub struct HistorySample {
    /// The encoded sample if [`SampleInfo::valid_data`]; otherwise a payload to decode the key from, if there is one.
    pub payload: Option<Payload>,
    /// Whether the payload is a serialized key. A sample without data may carry a whole sample to decode the key from.
    pub payload_is_key: bool,
    /// The metadata of the sample.
    pub info: SampleInfo,
    /// Kind of the change: a write, a dispose or an unregistration.
    pub kind: ChangeKind,
    /// The original writer, if another writer handed the sample over.
    pub origin: Option<Box<OriginalWriterInfo>>,
}
