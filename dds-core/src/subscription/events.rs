//! What happens to a reader beside data.

use crate::infrastructure::{IncompatibleQosStatus, SampleLostStatus, SubscriptionMatchedStatus};

/// What has happened to a reader beside data: what its event listener is told.
///
/// Changes of one kind between two calls are told at once, with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// A writer has matched, or does so no longer.
    Matched(SubscriptionMatchedStatus),
    /// A writer of the topic has a QoS that does not fit.
    IncompatibleQos(IncompatibleQosStatus),
    /// Samples were lost.
    SampleLost(SampleLostStatus),
}
