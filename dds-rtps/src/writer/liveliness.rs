//! What a writer has promised of its liveliness, and whether it keeps it (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! An automatic writer has nothing to do here: its participant speaks for it. One that is manual by topic has to write or
//! assert within its lease, one that is manual by participant, or any other such writer of its participant. What goes out is
//! data, a HEARTBEAT with the liveliness flag, which best-effort readers get as well (RTPS 2.5, 8.3.8.6), or a message of
//! the participant.
//!
//! Every sign of life is one store; the lease is looked at when it may end.

use super::stateful::StatefulWriter;
use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Instant, Now};
use std::sync::Arc;

/// The promise of one writer.
#[derive(Debug)]
pub(super) struct Promise {
    offered: Liveliness,
    /// Shared by all writers of the participant that are manual by participant.
    assertion_clock: Option<Arc<AssertionClock>>,
    /// The last sign of life.
    asserted: Instant,
    /// When to look; `None`: never, or not before the next sign of life.
    check_at: Option<Instant>,
    alive: bool,
    /// It was broken, and the owner has not been told yet.
    lost_event: bool,
    /// The participant has to hear of a sign of life.
    calls: bool,
}

impl Promise {
    /// Nothing counts before the first sign of life.
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

    /// Whether it can be broken: an automatic writer, or one with an infinite lease, has promised nothing.
    #[inline]
    fn is_limited(&self) -> bool {
        self.offered.kind != LivelinessKind::Automatic && !self.offered.lease_duration.is_infinite()
    }

    /// The last sign of life, of whoever may give it.
    fn last(&self) -> Instant {
        self.assertion_clock.as_ref().map_or(self.asserted, |assertion_clock| assertion_clock.last().max(self.asserted))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    pub(super) fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.lost_event)
    }

    /// A sign of life.
    #[inline]
    pub(super) fn assert(&mut self, now: Instant) {
        if !self.is_limited() {
            return;
        }
        // The timer may be late: what is over is over.
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
        if !std::mem::replace(&mut self.alive, true) {
            self.assertion_clock.iter().for_each(|assertion_clock| assertion_clock.remove_waiting_lease());
        }
        self.check_at = self.last().after(self.offered.lease_duration);
    }

    pub(super) fn check(&mut self, now: Instant) {
        if self.check_at.is_none_or(|at| at > now) {
            return;
        }
        self.check_at = self.last().after(self.offered.lease_duration);
        if self.check_at.is_some_and(|at| at <= now) {
            self.alive = false;
            self.lost_event = true;
            self.check_at = None;
            self.assertion_clock.iter().for_each(|assertion_clock| assertion_clock.add_waiting_lease());
            // Somebody may have shown a sign of life just before this began to wait for it.
            self.look_again(now);
        }
    }

    /// Whether another writer of the participant, or the participant, has shown a sign of life since it was broken.
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
    /// The writer is alive (DDS 1.4, 2.2.2.4.2.22); the first time, its lease begins. If it is manual by topic, all readers
    /// of other processes hear of it by a HEARTBEAT.
    pub fn assert_liveliness(&mut self, now: Now) {
        self.liveliness_due |= self.promise.offered.kind == LivelinessKind::ManualByTopic && !self.proxies.is_empty();
        self.promise.assert(now.instant);
    }

    /// Whether the participant has to hear that its writer has shown that it is alive: to tell others, or another writer.
    #[inline]
    pub fn take_call(&mut self) -> bool {
        std::mem::take(&mut self.promise.calls)
    }

    /// Whether the writer keeps what it has promised (LIVELINESS).
    #[inline]
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.promise.alive
    }

    /// Its participant has shown that it is alive: a writer that is manual by participant may be again.
    pub fn look_at_liveliness(&mut self, now: Now) {
        self.promise.look_again(now.instant);
    }
}
