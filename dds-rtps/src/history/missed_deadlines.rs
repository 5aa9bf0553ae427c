//! What a reader or writer says of its deadlines (DDS 1.4, 2.2.4.1: REQUESTED_ and OFFERED_DEADLINE_MISSED).

use crate::types::InstanceHandle;

/// Deadlines that were missed since they were last told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissedDeadlines {
    /// How many periods, of all instances.
    pub count: u64,
    /// The instance of the last one.
    pub last: InstanceHandle,
}

impl MissedDeadlines {
    pub(super) fn note(&mut self, instance: InstanceHandle, periods: u64) {
        self.count = self.count.saturating_add(periods);
        self.last = instance;
    }

    /// What was noted since the last time, if anything.
    pub(super) fn take(&mut self) -> Option<Self> {
        (self.count > 0).then(|| std::mem::take(self))
    }
}
