//! Missed deadlines of a reader or writer (DDS 1.4, 2.2.4.1: REQUESTED_ and OFFERED_DEADLINE_MISSED).

use crate::types::InstanceHandle;

/// Deadlines missed since the last report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissedDeadlines {
    /// How many periods, of all instances.
    pub count: u64,
    /// The instance of the last one.
    pub last: InstanceHandle,
}

impl MissedDeadlines {
    pub(super) fn note(&mut self, instance: InstanceHandle, periods: u64) {
        debug_assert!(periods > 0, "a missed deadline has a period");
        self.count = self.count.saturating_add(periods);
        self.last = instance;
    }

    /// Takes the report, if a deadline was missed.
    pub(super) fn take(&mut self) -> Option<Self> {
        if self.count == 0 {
            return None;
        }
        Some(std::mem::take(self))
    }
}
