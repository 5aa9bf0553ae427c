//! The last sign of life of a participant, as its writers' leases see it.

use super::sync::{AtomicU32, AtomicU64, Ordering, then_look};
use crate::types::Instant;

/// No call is asked for by the clock.
const NEVER: u64 = u64::MAX;

/// Shared by all who look after leases of one participant's writers of one kind of LIVELINESS.
///
/// A sign of life is one store, however many leases it renews: they look here when they are about to end. Whoever has found
/// a lease ended waits here to be called. Atomics rather than mail, as in a [`LocalLink`](super::LocalLink): only the newest
/// value counts, and nobody enters another's state.
///
/// Life cycle: made with the participant, dropped with it and the last endpoint that holds it.
#[derive(Debug)]
pub struct AssertionClock {
    /// When the last sign of life came; 0 before the first.
    last: AtomicU64,
    /// How many leases have ended and wait for the next one.
    waiting: AtomicU32,
    /// From when on a sign of life is told, though nobody waits.
    notify_at: AtomicU64,
    /// The sign of life that was told last.
    told: AtomicU64,
}

impl AssertionClock {
    /// No sign of life so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            notify_at: AtomicU64::new(NEVER),
            told: AtomicU64::new(0),
        }
    }

    /// A sign of life. `true`: somebody wants to hear of it now.
    pub fn assert(&self, now: Instant) -> bool {
        // Sequentially consistent, against `wait`: either this sees who waits, or they see this.
        self.last.fetch_max(now.as_nanos(), Ordering::SeqCst);
        then_look();
        self.waiting.load(Ordering::SeqCst) > 0 || now.as_nanos() >= self.notify_at.load(Ordering::SeqCst)
    }

    /// A sign of life of which many come: a plain store. `true` as for [`AssertionClock::assert`], of who waits; one who begins to wait
    /// at this very moment may be told of the next one only.
    #[inline]
    pub fn assert_often(&self, now: Instant) -> bool {
        self.last.store(now.as_nanos(), Ordering::Relaxed);
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// The last sign of life; the beginning of time before the first.
    #[must_use]
    pub fn last(&self) -> Instant {
        Instant::from_nanos(self.last.load(Ordering::SeqCst))
    }

    /// One more lease has ended. To be followed by another look at [`AssertionClock::last`].
    pub fn add_waiting_lease(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        then_look();
    }

    /// One lease has begun again, or is given up.
    pub fn remove_waiting_lease(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether somebody waits.
    #[must_use]
    pub fn has_waiting_leases(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Whether somebody waits who has not been told of the last sign of life; from then on, they count as told.
    pub fn take_unreported(&self) -> bool {
        self.has_waiting_leases() && {
            let last = self.last.load(Ordering::SeqCst);
            self.told.swap(last, Ordering::SeqCst) < last
        }
    }

    /// From when on signs of life are to be told though nobody waits; `None`: not at all.
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
    fn who_waits_is_told_of_each_sign_of_life_once() {
        let assertion_clock = AssertionClock::new();
        assert!(!assertion_clock.assert(at(5)) && !assertion_clock.take_unreported());
        assertion_clock.add_waiting_lease();
        assert!(assertion_clock.assert(at(7)));
        assert_eq!(assertion_clock.last(), at(7));
        assert!(assertion_clock.take_unreported() && !assertion_clock.take_unreported());
        assert!(assertion_clock.assert_often(at(8)) && assertion_clock.take_unreported());
        assertion_clock.remove_waiting_lease();
        assert!(!assertion_clock.assert(at(9)) && !assertion_clock.has_waiting_leases());
    }

    #[test]
    fn a_call_may_be_asked_for_by_the_clock() {
        let assertion_clock = AssertionClock::new();
        assertion_clock.notify_from(Some(at(10)));
        assert!(!assertion_clock.assert(at(9)));
        assert!(assertion_clock.assert(at(10)));
        assertion_clock.notify_from(None);
        assert!(!assertion_clock.assert(at(11)));
    }

    #[test]
    fn a_sign_of_life_never_goes_back() {
        let assertion_clock = AssertionClock::new();
        assertion_clock.assert(at(9));
        assertion_clock.assert(at(3));
        assert_eq!(assertion_clock.last(), at(9));
    }
}
