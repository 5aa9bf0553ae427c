//! The time of the last liveliness assertion of a participant, shared with the leases that it renews.

use super::sync::{AtomicU32, AtomicU64, Ordering, fence_before_read};
use crate::types::Instant;

/// No reader requests a notification.
const NEVER: u64 = u64::MAX;

/// The last liveliness assertion of a participant, for all of its writers with one kind of LIVELINESS.
///
/// An assertion is one store, however many leases it renews. A lease reads it when it is about to end. An ended lease
/// waits here for the next assertion. These are atomics and not mail, as in a [`LocalLink`](super::LocalLink): only the
/// newest value counts, and no thread enters the state of another.
///
/// Life cycle: created with the participant, dropped with the last endpoint that uses it.
#[derive(Debug)]
pub struct AssertionClock {
    /// The last assertion; 0 before the first.
    last: AtomicU64,
    /// How many leases have ended and wait for an assertion.
    waiting: AtomicU32,
    /// From this instant on an assertion is reported even if no lease waits.
    notify_at: AtomicU64,
    /// The last assertion that was reported to waiting leases.
    reported: AtomicU64,
}

impl AssertionClock {
    /// A clock without any assertion.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            notify_at: AtomicU64::new(NEVER),
            reported: AtomicU64::new(0),
        }
    }

    /// Notes an assertion. Returns whether a notification is due now.
    pub fn assert(&self, now: Instant) -> bool {
        // Sequentially consistent with `add_waiting_lease`: either this sees the lease, or the lease sees this.
        self.last.fetch_max(now.as_nanos(), Ordering::SeqCst);
        fence_before_read();
        self.waiting.load(Ordering::SeqCst) > 0 || now.as_nanos() >= self.notify_at.load(Ordering::SeqCst)
    }

    /// Notes one of many assertions with a plain store. Returns whether a lease waits.
    ///
    /// A lease that begins to wait at the same moment may miss this assertion and see the next one.
    #[inline]
    pub fn assert_often(&self, now: Instant) -> bool {
        self.last.store(now.as_nanos(), Ordering::Relaxed);
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// The last assertion; [`Instant::ZERO`] before the first.
    #[must_use]
    pub fn last(&self) -> Instant {
        Instant::from_nanos(self.last.load(Ordering::SeqCst))
    }

    /// Counts an ended lease. The caller must then read [`AssertionClock::last`] again.
    pub fn add_waiting_lease(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        fence_before_read();
    }

    /// Stops counting a lease that was renewed or given up.
    pub fn remove_waiting_lease(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a lease waits.
    #[must_use]
    pub fn has_waiting_leases(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Whether a lease waits and the last assertion was not reported yet. Marks it as reported then.
    pub fn take_unreported(&self) -> bool {
        if !self.has_waiting_leases() {
            return false;
        }
        let last = self.last.load(Ordering::SeqCst);
        // Several threads may ask at once, and only one of them gets the answer to report.
        self.reported.swap(last, Ordering::SeqCst) < last
    }

    /// Sets from when on assertions are reported even if no lease waits; `None`: never.
    pub fn notify_from(&self, instant: Option<Instant>) {
        self.notify_at.store(instant.map_or(NEVER, Instant::as_nanos), Ordering::SeqCst);
    }
}

impl Default for AssertionClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn waiting_lease_sees_each_assertion_once() {
        let clock = AssertionClock::new();
        assert!(!clock.assert(at(5)) && !clock.take_unreported());
        clock.add_waiting_lease();
        assert!(clock.assert(at(7)));
        assert_eq!(clock.last(), at(7));
        assert!(clock.take_unreported() && !clock.take_unreported());
        assert!(clock.assert_often(at(8)) && clock.take_unreported());
        clock.remove_waiting_lease();
        assert!(!clock.assert(at(9)) && !clock.has_waiting_leases());
    }

    #[test]
    fn notification_may_start_at_an_instant() {
        let clock = AssertionClock::new();
        clock.notify_from(Some(at(10)));
        assert!(!clock.assert(at(9)));
        assert!(clock.assert(at(10)));
        clock.notify_from(None);
        assert!(!clock.assert(at(11)));
    }

    #[test]
    fn last_assertion_never_goes_back() {
        let clock = AssertionClock::new();
        clock.assert(at(9));
        clock.assert(at(3));
        assert_eq!(clock.last(), at(9));
    }
}
