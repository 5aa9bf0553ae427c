//! Statuses that a reader counts itself. Reading one resets its changes.

use super::reader_actor::ReaderActor;
use crate::infrastructure::{DeadlineCounter, LivelinessChangedStatus, SampleLostStatus, SampleRejectedStatus};

impl ReaderActor {
    /// Returns the status and resets its changes.
    pub(crate) fn read_lost(&mut self) -> SampleLostStatus {
        self.lost.since(&mut self.lost_read)
    }

    pub(crate) fn lost(&self) -> SampleLostStatus {
        self.lost
    }

    /// Returns the status and resets its changes.
    pub(crate) fn read_liveliness(&mut self) -> LivelinessChangedStatus {
        self.liveliness_read.read(self.rtps.liveliness()).0
    }

    /// Returns the status and resets its changes.
    pub(crate) fn read_rejected(&mut self) -> SampleRejectedStatus {
        self.rejected.since(&mut self.rejected_read)
    }

    pub(crate) fn rejected(&self) -> SampleRejectedStatus {
        self.rejected
    }

    pub(crate) fn deadlines(&mut self) -> &mut DeadlineCounter {
        &mut self.deadlines
    }
}
