//! The liveliness that a writer offers, and whether it keeps it (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! An automatic writer does nothing here, because its participant asserts its liveliness. A manual-by-topic writer must
//! write or assert within its lease. For a manual-by-participant writer, any such writer of its participant may do so.
//! The assertion goes out as data, as a HEARTBEAT with the liveliness flag, or as a message of the participant.
//! Best-effort readers receive such a HEARTBEAT as well (RTPS 2.5, 8.3.8.6).
//!
//! An assertion costs one store. The lease is checked when it may end.

use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::Instant;
use std::sync::Arc;

/// The liveliness that one writer offers.
#[derive(Debug)]
pub(crate) struct OfferedLiveliness {
    offered: Liveliness,
    /// Shared by all manual-by-participant writers of the participant.
    assertion_clock: Option<Arc<AssertionClock>>,
    /// Time of the last assertion.
    asserted: Instant,
    /// When to check the lease; `None` for never, or not before the next assertion.
    check_at: Option<Instant>,
    alive: bool,
    /// The lease was lost, and the event has not been polled yet.
    lost_event: bool,
    /// The participant must be notified of an assertion.
    notifies: bool,
    /// A HEARTBEAT must carry an assertion.
    heartbeat_due: bool,
}

impl OfferedLiveliness {
    /// Creates the state. The lease starts with the first assertion.
    pub(crate) fn new(offered: Liveliness, assertion_clock: Option<Arc<AssertionClock>>) -> Self {
        let is_shared = offered.kind == LivelinessKind::ManualByParticipant;
        // Only writers of this kind renew the leases of each other.
        let assertion_clock = if is_shared { assertion_clock } else { None };
        Self {
            offered,
            assertion_clock,
            asserted: Instant::ZERO,
            check_at: None,
            alive: true,
            lost_event: false,
            notifies: false,
            heartbeat_due: false,
        }
    }

    /// Returns whether the lease can be lost. An automatic writer and one with an infinite lease cannot lose it.
    #[inline]
    fn is_limited(&self) -> bool {
        self.offered.kind != LivelinessKind::Automatic && !self.offered.lease_duration.is_infinite()
    }

    /// Returns the time of the last assertion, by any entity that may give it.
    fn last(&self) -> Instant {
        match &self.assertion_clock {
            Some(clock) => clock.last().max(self.asserted),
            None => self.asserted,
        }
    }

    /// Notes on the shared clock that this writer does not wait for an assertion any more.
    fn leave_waiting_leases(&self) {
        if let Some(clock) = &self.assertion_clock {
            clock.remove_waiting_lease();
        }
    }

    /// Returns whether the writer keeps its lease.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Returns whether the participant must be notified of an assertion. It is notified once.
    #[inline]
    pub(crate) fn take_notification(&mut self) -> bool {
        std::mem::take(&mut self.notifies)
    }

    /// Asserts liveliness by a HEARTBEAT to all remote readers, if the writer is manual by topic.
    pub(crate) fn assert_by_heartbeat(&mut self) {
        self.heartbeat_due |= self.offered.kind == LivelinessKind::ManualByTopic;
    }

    /// Returns whether a HEARTBEAT must carry an assertion.
    #[inline]
    pub(crate) fn is_heartbeat_due(&self) -> bool {
        self.heartbeat_due
    }

    /// Returns whether this HEARTBEAT must carry an assertion. One HEARTBEAT does.
    pub(crate) fn take_heartbeat(&mut self) -> bool {
        std::mem::take(&mut self.heartbeat_due)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    pub(crate) fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.lost_event)
    }

    /// Notes an assertion.
    #[inline]
    pub(crate) fn assert(&mut self, now: Instant) {
        if !self.is_limited() {
            return;
        }
        // The timer may be late. A lease that has ended stays lost.
        if self.check_at.is_some_and(|at| at <= now) {
            self.check(now);
        }
        // One store on the path of a sample; the timer computes the end of the lease.
        self.asserted = now;
        if self.check_at.is_none() {
            self.restart_lease();
        }
        if let Some(clock) = &self.assertion_clock {
            self.notifies |= clock.assert(now);
        }
    }

    #[cold]
    fn restart_lease(&mut self) {
        // The clock counts the writers that wait for an assertion of another one.
        if !std::mem::replace(&mut self.alive, true) {
            self.leave_waiting_leases();
        }
        self.check_at = self.last().after(self.offered.lease_duration);
    }

    pub(crate) fn check(&mut self, now: Instant) {
        if self.check_at.is_none_or(|at| at > now) {
            return;
        }
        // An assertion since the last check extends the lease. The check itself costs the asserting thread nothing.
        self.check_at = self.last().after(self.offered.lease_duration);
        if self.check_at.is_some_and(|at| at <= now) {
            self.alive = false;
            self.lost_event = true;
            self.check_at = None;
            if let Some(clock) = &self.assertion_clock {
                clock.add_waiting_lease();
            }
            // Another writer may have asserted just before this one started to wait for it.
            self.renew(now);
        }
    }

    /// Renews a lost lease if another writer or the participant has asserted liveliness since.
    pub(crate) fn renew(&mut self, now: Instant) {
        if !self.alive && self.last().after(self.offered.lease_duration).is_some_and(|end| end > now) {
            self.restart_lease();
        }
    }
}

impl Drop for OfferedLiveliness {
    fn drop(&mut self) {
        if !self.alive {
            self.leave_waiting_leases();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Duration;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn manual_by_topic(lease_ms: i64) -> OfferedLiveliness {
        let lease_duration = Duration::from_nanos(lease_ms * 1_000_000);
        OfferedLiveliness::new(Liveliness { kind: LivelinessKind::ManualByTopic, lease_duration }, None)
    }

    #[test]
    fn lease_starts_with_first_assertion_and_is_lost_once() {
        let mut liveliness = manual_by_topic(100);
        assert_eq!(liveliness.deadline(), None);
        liveliness.assert(at(0));
        liveliness.check(at(99));
        assert!(liveliness.is_alive() && !liveliness.take_event());
        liveliness.check(at(100));
        assert!(!liveliness.is_alive() && liveliness.take_event());
        liveliness.check(at(300));
        assert!(!liveliness.take_event());
        liveliness.assert(at(400));
        assert!(liveliness.is_alive());
        assert_eq!(liveliness.deadline(), Some(at(500)));
    }

    #[test]
    fn late_assertion_does_not_hide_a_lost_lease() {
        let mut liveliness = manual_by_topic(100);
        liveliness.assert(at(0));
        liveliness.assert(at(150));
        assert!(liveliness.take_event() && liveliness.is_alive());
    }

    #[test]
    fn only_manual_by_topic_writer_asserts_by_heartbeat() {
        let mut liveliness = manual_by_topic(100);
        liveliness.assert_by_heartbeat();
        assert!(liveliness.is_heartbeat_due() && liveliness.take_heartbeat() && !liveliness.is_heartbeat_due());
        let mut automatic = OfferedLiveliness::new(Liveliness::default(), None);
        automatic.assert_by_heartbeat();
        assert!(!automatic.is_heartbeat_due());
    }
}
