//! Best-effort readers of other processes that can be reached. Such a reader misses samples, without repair, before it
//! knows the writer and after it has heard of the writer's disposal.

use dds_rtps::types::{Duration, Guid, Instant, SequenceNumber};
use dds_rtps::writer::StatefulWriter;

/// Delay between the last sample to a best-effort reader of another process and the disposal of its writer.
///
/// Samples and discovery use different sockets and may overtake each other.
const SETTLE: Duration = Duration::from_millis(20);

/// Reachability of remote best-effort readers.
#[derive(Debug, Default)]
pub(super) struct ReachableReaders {
    /// Readers whose participant has not acknowledged the writer yet.
    unaware: Vec<Guid>,
    settles_at: Option<Instant>,
}

impl ReachableReaders {
    /// Adds a matched reader, which may have matched before.
    pub(super) fn add(&mut self, reader: Guid, is_unaware: bool) {
        // A reader that matches again may have been listed before.
        self.remove(reader);
        if is_unaware {
            self.unaware.push(reader);
        }
    }

    /// Removes a reader that knows the writer or has left.
    pub(super) fn remove(&mut self, reader: Guid) {
        self.unaware.retain(|known| *known != reader);
    }

    /// Returns whether a matched reader can be reached.
    pub(super) fn contains(&self, reader: Guid) -> bool {
        !self.unaware.contains(&reader)
    }

    /// Returns how many of `matched` readers can be reached.
    pub(super) fn count_of(&self, matched: usize) -> usize {
        matched.saturating_sub(self.unaware.len())
    }

    /// Computes the delay of the disposal when the writer is closed. `before` is the time of the writer's last visit,
    /// at the latest of its last write.
    pub(super) fn close(&mut self, rtps: &StatefulWriter, before: Instant, now: Instant) {
        let has_just_written = rtps.last_sequence_number() > SequenceNumber::ZERO && now.since(before) < SETTLE;
        let must_settle = has_just_written && rtps.has_best_effort_readers();
        self.settles_at = if must_settle { now.after(SETTLE) } else { None };
    }

    /// Time at which the last samples have reached their readers. `None` if no wait is needed.
    pub(super) fn settles_at(&self) -> Option<Instant> {
        self.settles_at
    }
}
