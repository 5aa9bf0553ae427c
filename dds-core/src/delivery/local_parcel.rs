//! A change between a writer and a reader of the same process.

use crate::delivery::LocalPath;
use dds_rtps::history::CacheChange;
use dds_rtps::types::SequenceNumber;
use std::sync::Arc;

/// A change that a writer offers to a reader of the same process.
pub(crate) struct LocalParcel<'a> {
    /// A reader that keeps the change takes it out.
    pub(crate) change: &'a mut CacheChange,
    /// The change that was offered before this one.
    pub(crate) previous: SequenceNumber,
    /// Where the reader reports progress; `None` for a writer that does not wait for it.
    pub(crate) path: Option<&'a Arc<LocalPath>>,
}
