//! Statuses that only readers have.

use crate::infrastructure::{CountStatus, Counter, LivelinessChangedStatus, LivelinessRead, SampleRejectedStatus};
use dds_rtps::history::RejectReason;
use dds_rtps::reader::LivelinessCounts;
use dds_rtps::types::InstanceHandle;

/// Statuses that only readers have, and what the application has read of them.
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

    pub(super) fn note_rejected(&mut self, count: u64, reason: RejectReason, instance: InstanceHandle) {
        self.rejected.note(count, reason, instance);
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
