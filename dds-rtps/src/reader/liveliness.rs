//! Leases of the matched writers (LIVELINESS; DDS 1.4, 2.2.3.11; RTPS 2.5, 8.4.13).
//!
//! A writer's lease is the one that it offers: the status reports that the writer broke its own commitment (DDS 1.4,
//! 2.2.4.1). Its kind decides what renews it:
//!
//! | kind | renewed by |
//! |---|---|
//! | automatic | anything from its participant |
//! | manual by participant | an assertion message of its participant, data of any such writer of it |
//! | manual by topic | data of the writer itself, or a HEARTBEAT with the liveliness flag |
//!
//! To renew a lease is one store. The reader checks leases only when the earliest may end; samples do not reset the
//! timer. A local writer has no lease here: it reports its liveliness itself.
//!
//! Life cycle: a lease is created and dropped with its writer's proxy.

use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Duration, Guid, Instant, earliest};
use std::sync::Arc;

/// Shortest lease. A writer that offers less would be lost and found with each of its samples.
const LEASE_MIN: Duration = Duration::from_millis(1);

/// A check that is this late shows that this process did not run, and received nothing.
const LATE: Duration = Duration::from_millis(100);

/// Counts of alive and not alive writers (DDS 1.4, 2.2.4.1, LIVELINESS_CHANGED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LivelinessCounts {
    /// Matched writers that are alive.
    pub alive: u32,
    /// Matched writers that are not alive.
    pub not_alive: u32,
    /// Changes of either count.
    pub changes: u64,
    /// Writer of the last change.
    pub last: Option<Guid>,
}

/// Lease of one writer.
#[derive(Debug)]
pub(crate) struct WriterLease {
    kind: LivelinessKind,
    duration: Duration,
    /// When the writer itself last asserted its liveliness.
    asserted: Instant,
    /// Assertions that reach this participant in other ways.
    assertion_clock: Option<Arc<AssertionClock>>,
    alive: bool,
    /// When a late check extended the lease.
    extended: Option<Instant>,
}

impl WriterLease {
    /// Lease of a writer that is matched now. The match counts as an assertion.
    pub(crate) fn new(now: Instant, offered: Liveliness, assertion_clock: Option<Arc<AssertionClock>>) -> Self {
        let Liveliness { kind, lease_duration } = offered;
        let duration = lease_duration.max(LEASE_MIN);
        Self { kind, duration, asserted: now, assertion_clock, alive: true, extended: None }
    }

    /// Lease of a local writer, which reports its liveliness itself.
    pub(crate) fn unlimited() -> Self {
        Self::new(Instant::ZERO, Liveliness::default(), None)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Whether the lease can end.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        !self.duration.is_infinite()
    }

    /// Whether any message of the participant renews the lease.
    pub(crate) fn is_automatic(&self) -> bool {
        self.kind == LivelinessKind::Automatic
    }

    /// Renews the lease: the writer asserted its liveliness. `true`: it was not alive.
    #[inline]
    pub(crate) fn renew(&mut self, now: Instant) -> bool {
        self.asserted = now;
        if let (LivelinessKind::ManualByParticipant, Some(assertion_clock)) = (self.kind, &self.assertion_clock) {
            // Other readers of this participant notice it with the next message of the writer's participant.
            let _ = assertion_clock.assert(now);
        }
        !self.alive
    }

    /// Whether the participant's other assertions would renew an ended lease.
    pub(crate) fn can_renew(&self, now: Instant) -> bool {
        if self.alive {
            return false;
        }
        let Some(assertion_clock) = &self.assertion_clock else { return false };
        match assertion_clock.last().after(self.duration) {
            Some(end) => end > now,
            None => false,
        }
    }

    /// Last assertion, direct or by the participant.
    fn last_asserted(&self) -> Instant {
        // Both clocks count: the newest assertion decides.
        match &self.assertion_clock {
            Some(assertion_clock) => assertion_clock.last().max(self.asserted),
            None => self.asserted,
        }
    }

    /// When the lease ends without a further assertion.
    fn end(&self) -> Option<Instant> {
        if self.alive { self.last_asserted().after(self.duration) } else { None }
    }

    fn set_alive(&mut self, alive: bool) {
        if self.alive == alive {
            return;
        }
        self.alive = alive;
        if let Some(assertion_clock) = &self.assertion_clock {
            // An ended lease waits for the participant's next assertion.
            if alive { assertion_clock.remove_waiting_lease() } else { assertion_clock.add_waiting_lease() }
        }
    }

    /// Whether the lease has ended. A check with `is_late` extends it once instead.
    pub(crate) fn has_ended(&mut self, now: Instant, is_late: bool) -> bool {
        match self.end() {
            Some(end) if end <= now => {}
            _ => return false,
        }
        // Only once: otherwise a process that is always late keeps dead writers alive.
        if is_late && self.extended != Some(self.last_asserted()) {
            self.asserted = now;
            self.extended = Some(now);
            return false;
        }
        true
    }
}

impl Drop for WriterLease {
    fn drop(&mut self) {
        self.set_alive(true);
    }
}

/// Counts of alive writers, and when the next lease may end.
#[derive(Debug, Default)]
pub(crate) struct LivelinessMonitor {
    counts: LivelinessCounts,
    /// No lease ends before this instant.
    next_end: Option<Instant>,
}

impl LivelinessMonitor {
    pub(crate) fn counts(&self) -> LivelinessCounts {
        self.counts
    }

    /// When the leases must be checked.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.next_end
    }

    /// A writer is matched. It counts as alive.
    pub(crate) fn writer_matched(&mut self, writer: Guid, lease: &WriterLease) {
        debug_assert!(lease.is_alive(), "a matched writer begins alive");
        self.counts.alive += 1;
        self.note_change(writer);
        self.watch(lease);
    }

    pub(crate) fn writer_unmatched(&mut self, writer: Guid, alive: bool) {
        let count = if alive { &mut self.counts.alive } else { &mut self.counts.not_alive };
        *count = count.saturating_sub(1);
        self.note_change(writer);
    }

    /// A writer lost or regained its liveliness.
    pub(crate) fn writer_changed(&mut self, writer: Guid, lease: &mut WriterLease, alive: bool) {
        lease.set_alive(alive);
        if alive {
            self.counts.alive += 1;
            self.counts.not_alive = self.counts.not_alive.saturating_sub(1);
            self.watch(lease);
        } else {
            self.counts.alive = self.counts.alive.saturating_sub(1);
            self.counts.not_alive += 1;
        }
        self.note_change(writer);
    }

    /// Starts a check if a lease may have ended; the caller checks and [watches](Self::watch) each lease.
    /// `Some(true)`: the check is late.
    pub(crate) fn begin_check(&mut self, now: Instant) -> Option<bool> {
        // The caller watches all leases again, which sets the next end.
        let due = self.next_end.take_if(|due| *due <= now)?;
        Some(due.after(LATE).is_some_and(|late| late <= now))
    }

    /// Includes the end of a lease in the deadline.
    pub(crate) fn watch(&mut self, lease: &WriterLease) {
        self.next_end = earliest(self.next_end, lease.end());
    }

    fn note_change(&mut self, writer: Guid) {
        self.counts.changes += 1;
        self.counts.last = Some(writer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(kind: LivelinessKind) -> WriterLease {
        let offered = Liveliness { kind, lease_duration: Duration::from_millis(10) };
        WriterLease::new(Instant::ZERO, offered, None)
    }

    #[test]
    fn late_check_extends_a_lease_once() {
        let mut lease = limited(LivelinessKind::ManualByTopic);
        assert!(!lease.has_ended(Instant::from_nanos(500_000_000), true));
        assert!(lease.has_ended(Instant::from_nanos(900_000_000), true));
    }

    #[test]
    fn monitor_deadline_follows_the_earliest_lease() {
        let (mut monitor, lease) = (LivelinessMonitor::default(), limited(LivelinessKind::Automatic));
        monitor.writer_matched(Guid::UNKNOWN, &lease);
        let end = Instant::from_nanos(10_000_000);
        assert_eq!((monitor.deadline(), monitor.counts().alive), (Some(end), 1));
        assert_eq!(monitor.begin_check(Instant::from_nanos(9_999_999)), None);
        assert_eq!((monitor.begin_check(end), monitor.deadline()), (Some(false), None));
    }
}
