//! The common part of the state of a reader and a writer in their cells.

use crate::actor::{Awaitable, Effects, Poke, Ticket, Wakers};
use crate::driver::{Driver, Outgoing};
use crate::infrastructure::{Awaited, DeadlineCounter, IncompatibleQosStatus, MatchCounter, Notifier, mark};
use crate::qos::PolicyId;
use dds_rtps::history::MissedDeadlines;
use dds_rtps::types::{Guid, InstanceHandle, Now};
use std::sync::{Arc, Weak};
use std::task::Waker;

/// The state of an endpoint in its cell.
pub(crate) trait EndpointActor: Awaitable {
    /// Event of the endpoint for its streams and listeners.
    type Event;
    /// Counts that one event stream has reported already.
    type Reported: Default + Send;
    /// Marks of the statuses that have events, in the order of their listener calls.
    const STATUSES: &'static [u32];

    fn endpoint(&mut self) -> &mut EndpointState;

    /// Returns whether calls of the application reach the endpoint. A closed writer lives on to drain.
    #[inline]
    fn is_open(&self) -> bool {
        true
    }

    /// Returns a status as an event, and resets its changes.
    fn read_event(&mut self, mark: u32) -> Option<Self::Event>;

    /// Returns the change of a status since an earlier call with the same `reported`, if there is one.
    fn event_since(&mut self, mark: u32, reported: &mut Self::Reported) -> Option<Self::Event>;

    /// Returns whether the awaited event has happened, and registers the waiter if not.
    fn wait(&mut self, awaited: Awaited, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) -> bool;

    /// Removes a waiter that gives up.
    fn abandon(&mut self, awaited: Awaited, ticket: Ticket, effects: &mut Effects);
}

/// The common part of the state of a reader and a writer.
pub(crate) struct EndpointState {
    driver: Arc<dyn Driver>,
    last: Now,
    pub(crate) outgoing: Outgoing,
    peers: Vec<Guid>,
    matched: MatchCounter,
    pub(crate) waiting_for_match: Wakers,
    incompatible: IncompatibleQosStatus,
    deadlines: DeadlineCounter,
    pub(crate) notifier: Notifier,
}

impl EndpointState {
    pub(crate) fn new(driver: Arc<dyn Driver>, outgoing: Outgoing) -> Self {
        Self {
            last: driver.now(),
            driver,
            outgoing,
            peers: Vec::new(),
            matched: MatchCounter::default(),
            waiting_for_match: Wakers::new(),
            incompatible: IncompatibleQosStatus::default(),
            deadlines: DeadlineCounter::default(),
            notifier: Notifier::default(),
        }
    }

    /// Time of the last visit that needed one.
    #[inline]
    pub(crate) fn last(&self) -> Now {
        self.last
    }

    /// Reads the clock inside of the cell, so that timestamps have the order of the sequence numbers.
    ///
    /// The instant never goes back. The real-time clock goes back only if it is set back.
    #[inline]
    pub(crate) fn read_clock(&mut self, effects: &mut Effects) -> Now {
        let now = effects.read_clock(|| self.driver.now());
        self.advance(now)
    }

    /// Returns the time of the current batch of effects. It never goes back.
    #[inline]
    pub(crate) fn now(&mut self, effects: &mut Effects) -> Now {
        let now = effects.now(|| self.driver.now());
        self.advance(now)
    }

    #[inline]
    fn advance(&mut self, now: Now) -> Now {
        // A frame may have read the clock before another visitor did. Deadlines must not see time go back.
        self.last.instant = self.last.instant.max(now.instant);
        self.last.time = now.time;
        self.last
    }

    /// Reports a changed status.
    #[inline]
    pub(crate) fn mark(&mut self, mark: u32, effects: &mut Effects) {
        self.notifier.mark(mark, effects);
    }

    /// Matched endpoints.
    pub(crate) fn peers(&self) -> &[Guid] {
        &self.peers
    }

    pub(crate) fn matched(&mut self) -> &mut MatchCounter {
        &mut self.matched
    }

    /// Counts a match. If `is_reachable`, the waits for matches check again.
    pub(crate) fn note_match(&mut self, peer: Guid, is_reachable: bool, effects: &mut Effects) {
        // A peer that was announced again matches again.
        if self.peers.contains(&peer) {
            return;
        }
        // Bound: discovery limits the endpoints of peers.
        self.peers.push(peer);
        self.matched.matched(InstanceHandle::from(peer));
        if is_reachable {
            self.waiting_for_match.wake_all(effects);
        }
        self.mark(mark::MATCHED, effects);
    }

    /// Counts the end of a match.
    pub(crate) fn note_unmatch(&mut self, peer: Guid, effects: &mut Effects) {
        if let Some(at) = self.peers.iter().position(|known| *known == peer) {
            // The order of matches has no meaning, so the last one fills the gap.
            self.peers.swap_remove(at);
            self.matched.unmatched(InstanceHandle::from(peer));
            self.mark(mark::MATCHED, effects);
        }
        debug_assert_eq!(self.peers.len(), self.matched.current() as usize, "each matched peer is counted once");
    }

    pub(crate) fn incompatible(&mut self) -> &mut IncompatibleQosStatus {
        &mut self.incompatible
    }

    pub(crate) fn note_incompatible(&mut self, policies: &[PolicyId], effects: &mut Effects) {
        self.incompatible.note(policies);
        self.mark(mark::INCOMPATIBLE_QOS, effects);
    }

    pub(crate) fn deadlines(&mut self) -> &mut DeadlineCounter {
        &mut self.deadlines
    }

    pub(crate) fn note_missed_deadlines(&mut self, missed: MissedDeadlines, effects: &mut Effects) {
        self.deadlines.note(missed);
        self.mark(mark::DEADLINE_MISSED, effects);
    }

    /// Tells the sending side its cell.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>) {
        self.outgoing.attach(cell);
    }
}
