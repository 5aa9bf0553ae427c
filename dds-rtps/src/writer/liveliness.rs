//! The liveliness that a writer offers, and whether it keeps it (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! An automatic writer does nothing here, because its participant asserts its liveliness. A manual-by-topic writer must
//! write or assert within its lease. For a manual-by-participant writer, any such writer of its participant may do so.
//! The assertion goes out as data, as a HEARTBEAT with the liveliness flag, or as a message of the participant.
//! Best-effort readers receive such a HEARTBEAT as well (RTPS 2.5, 8.3.8.6).
//!
//! An assertion costs one store. The lease is checked when it may end.

use super::stateful::StatefulWriter;
use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Instant, Now};
use std::sync::Arc;

/// The liveliness that one writer offers.
#[derive(Debug)]
pub(super) struct Promise {
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
    calls: bool,
}

impl Promise {
    /// Creates the state. The lease starts with the first assertion.
    pub(super) fn new(offered: Liveliness, assertion_clock: Option<Arc<AssertionClock>>) -> Self {
        let assertion_clock = assertion_clock.filter(|_| offered.kind == LivelinessKind::ManualByParticipant);
        Self {
            offered,
            assertion_clock,
            asserted: Instant::ZERO,
            check_at: None,
            alive: true,
            lost_event: false,
            calls: false,
        }
    }

    /// Returns whether the lease can be lost. An automatic writer and one with an infinite lease cannot lose it.
    #[inline]
    fn is_limited(&self) -> bool {
        self.offered.kind != LivelinessKind::Automatic && !self.offered.lease_duration.is_infinite()
    }

    /// Returns the time of the last assertion, by any entity that may give it.
    fn last(&self) -> Instant {
        self.assertion_clock.as_ref().map_or(self.asserted, |assertion_clock| assertion_clock.last().max(self.asserted))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    pub(super) fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.lost_event)
    }

    /// Notes an assertion.
    #[inline]
    pub(super) fn assert(&mut self, now: Instant) {
        if !self.is_limited() {
            return;
        }
        // The timer may be late. A lease that has ended stays lost.
        if self.check_at.is_some_and(|at| at <= now) {
            self.check(now);
        }
        self.asserted = now;
        if self.check_at.is_none() {
            self.begin_anew();
        }
        self.calls |= self.assertion_clock.as_ref().is_some_and(|assertion_clock| assertion_clock.assert(now));
    }

    #[cold]
    fn begin_anew(&mut self) {
        // The clock counts the writers that wait for an assertion of another one.
        if !std::mem::replace(&mut self.alive, true) {
            self.assertion_clock.iter().for_each(|assertion_clock| assertion_clock.remove_waiting_lease());
        }
        self.check_at = self.last().after(self.offered.lease_duration);
    }

    pub(super) fn check(&mut self, now: Instant) {
        if self.check_at.is_none_or(|at| at > now) {
            return;
        }
        // An assertion since the last check extends the lease. The check itself costs the asserting thread nothing.
        self.check_at = self.last().after(self.offered.lease_duration);
        if self.check_at.is_some_and(|at| at <= now) {
            self.alive = false;
            self.lost_event = true;
            self.check_at = None;
            self.assertion_clock.iter().for_each(|assertion_clock| assertion_clock.add_waiting_lease());
            // Another writer may have asserted just before this one started to wait for it.
            self.look_again(now);
        }
    }

    /// Renews a lost lease if another writer or the participant has asserted liveliness since.
    fn look_again(&mut self, now: Instant) {
        if !self.alive && self.last().after(self.offered.lease_duration).is_some_and(|end| end > now) {
            self.begin_anew();
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.alive {
            self.assertion_clock.iter().for_each(|assertion_clock| assertion_clock.remove_waiting_lease());
        }
    }
}

impl StatefulWriter {
    /// Asserts the liveliness of the writer (DDS 1.4, 2.2.2.4.2.22). The first assertion starts its lease.
    ///
    /// If the writer is manual by topic, all remote readers receive a HEARTBEAT.
    pub fn assert_liveliness(&mut self, now: Now) {
        self.liveliness_due |= self.promise.offered.kind == LivelinessKind::ManualByTopic && !self.proxies.is_empty();
        self.promise.assert(now.instant);
    }

    /// Returns whether the participant must be notified of an assertion.
    ///
    /// It passes the assertion on to its peers, or to another of its writers.
    #[inline]
    pub fn take_call(&mut self) -> bool {
        std::mem::take(&mut self.promise.calls)
    }

    /// Returns whether the writer keeps the liveliness that it offers (LIVELINESS).
    #[inline]
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.promise.alive
    }

    /// Checks the lease after an assertion of the participant, which may renew a manual-by-participant writer.
    pub fn look_at_liveliness(&mut self, now: Now) {
        self.promise.look_again(now.instant);
    }
}
