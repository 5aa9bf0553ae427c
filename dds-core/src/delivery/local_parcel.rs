//! A change between a writer and a reader of the same process.

use crate::delivery::LocalPath;
use dds_rtps::history::CacheChange;
use dds_rtps::types::SequenceNumber;
use std::sync::Arc;

/// A change that a writer offers to a reader of the same process.
pub(crate) struct LocalParcel<'a> {
    /// The change. A reader that keeps it takes it out.
    pub(crate) change: &'a mut CacheChange,
    /// Sequence number of the change that was offered before this one.
    pub(crate) previous: SequenceNumber,
    /// Path for reports of progress. `None` if the writer does not wait for it.
    pub(crate) path: Option<&'a Arc<LocalPath>>,
}
