//! The statuses that a reader counts itself, as they are read.

use super::reader_actor::ReaderActor;
use crate::infrastructure::{DeadlineCounter, LivelinessChangedStatus, SampleLostStatus, SampleRejectedStatus};

impl ReaderActor {
    /// The status, whose change begins anew.
    pub(crate) fn read_lost(&mut self) -> SampleLostStatus {
        self.lost.since(&mut self.lost_read)
    }

    pub(crate) fn lost(&self) -> SampleLostStatus {
        self.lost
    }

    /// The status, whose change begins anew.
    pub(crate) fn read_liveliness(&mut self) -> LivelinessChangedStatus {
        self.liveliness_read.read(self.rtps.liveliness()).0
    }

    /// The status, whose change begins anew.
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
