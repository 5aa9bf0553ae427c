//! What happens to a writer.

use crate::infrastructure::{IncompatibleQosStatus, PublicationMatchedStatus};

/// What has happened to a writer: what its event listener is told.
///
/// Changes of one kind between two calls are told at once, with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriterEvent {
    /// A reader has matched, or does so no longer.
    Matched(PublicationMatchedStatus),
    /// A reader of the topic has a QoS that does not fit.
    IncompatibleQos(IncompatibleQosStatus),
}
