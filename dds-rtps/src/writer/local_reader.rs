//! The state that a writer keeps for one local reader.

use super::slow_reader::Standing;
use crate::concurrent::LocalLink;
use crate::types::{Guid, SequenceNumber};
use std::sync::Arc;

/// A reader of the same participant, which receives changes instead of datagrams.
#[derive(Debug)]
pub(super) struct LocalReader {
    pub(super) guid: Guid,
    pub(super) link: Arc<LocalLink>,
    pub(super) reliable: bool,
    /// First relevant sequence number of the reader.
    pub(super) first_relevant: SequenceNumber,
    pub(super) standing: Standing,
}

impl LocalReader {
    /// Returns up to which change the reader has all changes.
    pub(super) fn acknowledged(&self) -> SequenceNumber {
        self.link.acknowledged().max(self.first_relevant.previous())
    }
}
