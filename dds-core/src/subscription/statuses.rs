//! Statuses that only readers have.

use crate::actor::{Deferred, Effects};
use crate::infrastructure::{CountStatus, Counter, LivelinessChangedStatus, LivelinessRead, SampleRejectedStatus};
use dds_rtps::history::RejectReason;
use dds_rtps::reader::LivelinessCounts;
use dds_rtps::types::{Guid, InstanceHandle};
use std::sync::Arc;

/// Log line about samples that a reader drops for lack of room, written outside of all cells.
pub(super) struct Dropped {
    pub(super) reader: Guid,
    pub(super) writer: Guid,
    pub(super) reason: RejectReason,
}

impl Deferred for Dropped {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {
        let Self { reader, writer, reason } = *self;
        tracing::warn!(
            %reader,
            %writer,
            ?reason,
            "the reader has no room for a sample and drops it, and the writer does not learn of it; take samples sooner, \
             raise RESOURCE_LIMITS, or set `keep_all` to make a reliable writer wait"
        );
    }
}

/// Statuses that only readers have, with the values that the application read last.
#[derive(Default)]
pub(super) struct ReaderStatuses {
    lost: Counter,
    rejected: SampleRejectedStatus,
    rejected_read: u64,
    liveliness_read: LivelinessRead,
}

impl ReaderStatuses {
    pub(super) fn note_lost(&mut self, count: u64) {
        self.lost.note(count);
    }

    /// Returns whether these are the first rejected samples of the reader.
    pub(super) fn note_rejected(&mut self, count: u64, reason: RejectReason, instance: InstanceHandle) -> bool {
        let is_first = self.rejected.total_count == 0;
        self.rejected.note(count, reason, instance);
        is_first
    }

    pub(super) fn lost(&self) -> &Counter {
        &self.lost
    }

    pub(super) fn rejected(&self) -> SampleRejectedStatus {
        self.rejected
    }

    /// Returns the status and resets its changes.
    pub(super) fn read_lost(&mut self) -> CountStatus {
        self.lost.read()
    }

    /// Returns the status and resets its changes.
    pub(super) fn read_rejected(&mut self) -> SampleRejectedStatus {
        self.rejected.since(&mut self.rejected_read)
    }

    /// Returns the status and resets its changes. The protocol counts the writers.
    pub(super) fn read_liveliness(&mut self, counts: LivelinessCounts) -> LivelinessChangedStatus {
        self.liveliness_read.read(counts).0
    }
}
