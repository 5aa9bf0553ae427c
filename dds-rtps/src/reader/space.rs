//! Changes that wait for space in the history (RELIABILITY with HISTORY KEEP_ALL; DDS 1.4, 2.2.3.14).
//!
//! Many things make space: a take, an expired lifespan (which also a read discovers), the end of an instance by any
//! writer. So the reader does not track them. It compares the occupancy of the history before and after each such call.

use crate::history::{Occupancy, ReaderHistory};

/// Whether a writer's change waits for space, and how full the history was then.
#[derive(Debug, Default)]
pub(crate) struct SpaceWait {
    is_waiting: bool,
    /// Occupancy at the last comparison. Meaningless while no change waits.
    last_seen: Occupancy,
}

impl SpaceWait {
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// A change did not fit.
    pub(crate) fn start(&mut self, history: &ReaderHistory) {
        (self.is_waiting, self.last_seen) = (true, history.occupancy());
    }

    /// Stops waiting, to retry; `false`: no change waits.
    pub(crate) fn stop(&mut self, history: &ReaderHistory) -> bool {
        let was_waiting = std::mem::take(&mut self.is_waiting);
        if was_waiting {
            // The retry itself may make space, which shows against this value.
            self.last_seen = history.occupancy();
        }
        was_waiting
    }

    /// A change still waits after a retry.
    pub(crate) fn keep_waiting(&mut self) {
        self.is_waiting = true;
    }

    /// Whether the history is emptier than at the last comparison.
    pub(crate) fn has_space(&mut self, history: &ReaderHistory) -> bool {
        let now = history.occupancy();
        now.has_shrunk_since(&std::mem::replace(&mut self.last_seen, now))
    }
}
