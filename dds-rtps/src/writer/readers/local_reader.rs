//! The state that a writer keeps for one local reader.

use crate::concurrent::LocalLink;
use crate::types::{Guid, SequenceNumber};
use crate::writer::ack::slow_readers::Standing;
use std::sync::Arc;

/// A reader of the same participant, which receives changes instead of datagrams.
#[derive(Debug)]
pub(crate) struct LocalReader {
    pub(crate) guid: Guid,
    link: Arc<LocalLink>,
    pub(crate) reliable: bool,
    /// First relevant sequence number of the reader.
    first_relevant: SequenceNumber,
    pub(crate) standing: Standing,
}

impl LocalReader {
    pub(crate) fn new(guid: Guid, link: Arc<LocalLink>, reliable: bool, first_relevant: SequenceNumber) -> Self {
        Self { guid, link, reliable, first_relevant, standing: Standing::default() }
    }

    /// Returns up to which change the reader has all changes.
    pub(crate) fn acknowledged(&self) -> SequenceNumber {
        self.link.acknowledged().max(self.first_relevant.previous())
    }
}
