//! What a writer knows of one reader in its own process.

use super::slow_reader::Standing;
use crate::concurrent::LocalLink;
use crate::types::{Guid, SequenceNumber};
use std::sync::Arc;

/// A reader of this process, which is handed changes, not datagrams.
#[derive(Debug)]
pub(super) struct LocalReader {
    pub(super) guid: Guid,
    pub(super) link: Arc<LocalLink>,
    pub(super) reliable: bool,
    /// What lies before this is none of its business.
    pub(super) first_relevant: SequenceNumber,
    pub(super) standing: Standing,
}

impl LocalReader {
    /// Up to where it has everything.
    pub(super) fn acknowledged(&self) -> SequenceNumber {
        self.link.acknowledged().max(self.first_relevant.previous())
    }
}
