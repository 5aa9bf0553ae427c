//! Batches: which changes may be sent, and which wait to share a datagram.
//!
//! A datagram costs its sender a system call and its receiver a wake-up, however small it is. Under LATENCY_BUDGET (DDS
//! 1.4, 2.2.3.8) small changes wait to share one. A change opens a batch. These events close it:
//!
//! - The next change does not fit into the same datagram.
//! - A change must go out in fragments. It takes all earlier changes with it.
//! - The first change has waited for the budget.
//! - A suspended writer resumes, or holds back 64 KiB.
//! - The caller waits for acknowledgements or for room, or flushes ([`StatefulWriter::flush`]).

#[cfg(doc)]
use super::WriterConfig;
use super::config::NewChange;
use super::layout::room_for_changes;
use super::stateful::StatefulWriter;
use crate::types::{Duration, Instant, Now, SequenceNumber};

/// Most bytes that a suspended writer holds back: about a few datagrams.
const SUSPENDED_LEN_MAX: usize = 64 << 10;

/// The changes that wait in a batch.
#[derive(Debug)]
pub(super) struct Batch {
    /// How long a change may wait. With zero no change waits.
    budget: Duration,
    /// The writer is suspended: changes wait regardless of the budget.
    suspended: bool,
    /// Changes up to this one may be sent.
    released: SequenceNumber,
    /// Most bytes that the waiting changes take in a datagram.
    len: usize,
    /// When the first waiting change must be sent; `None` without one, or if it waits without a limit.
    deadline: Option<Instant>,
    /// The newest change joined waiting ones.
    has_joined: bool,
}

impl Batch {
    pub(super) fn new(budget: Duration) -> Self {
        Self { budget, suspended: false, released: SequenceNumber::ZERO, len: 0, deadline: None, has_joined: false }
    }

    /// Sets how long a change may wait, from the next one on.
    pub(super) fn set_budget(&mut self, budget: Duration) {
        self.budget = budget;
    }

    /// Returns whether changes wait at all.
    pub(super) fn is_on(&self) -> bool {
        self.suspended || self.budget > Duration::ZERO
    }

    /// Returns up to which change the writer may send.
    pub(super) fn released(&self) -> SequenceNumber {
        self.released
    }

    /// Returns when to call [`Batch::handle_timeout`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Adds the change `number`, which takes at most `len` bytes of a datagram with room for `len_max`.
    pub(super) fn add(&mut self, now: Instant, number: SequenceNumber, len: usize, len_max: usize) {
        let len_max = if self.suspended { SUSPENDED_LEN_MAX } else { len_max };
        // The change fits into no datagram of the batch, so all earlier changes go with it.
        if len > len_max {
            return self.release(number);
        }
        if self.len + len > len_max {
            self.release(number.previous());
        }
        self.has_joined = self.len > 0;
        if self.len == 0 && !self.suspended {
            self.deadline = now.after(self.budget);
        }
        self.len += len;
    }

    /// Releases all changes up to `number`, the newest one.
    #[inline]
    pub(super) fn release(&mut self, number: SequenceNumber) {
        self.released = number;
        self.len = 0;
        self.deadline = None;
        self.has_joined = false;
    }

    /// Advances time. `last` is the newest change.
    pub(super) fn handle_timeout(&mut self, now: Instant, last: SequenceNumber) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.release(last);
        }
    }
}

impl StatefulWriter {
    /// Adds the newest change to the batch, or releases all changes if it fills a datagram.
    pub(super) fn add_to_batch(&mut self, now: Now) {
        let Some(stored) = self.history.get(self.last) else { return self.flush() };
        let payload_len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
        if payload_len > usize::from(self.destinations.fragment_size) {
            return self.flush();
        }
        let room = room_for_changes(self.destinations.message_len_max());
        self.batch.add(now.instant, self.last, self.sender().len_of(&stored.change), room);
    }

    /// Suspends or resumes the writer (DDS 1.4, 2.2.2.4.1.8).
    ///
    /// While it is suspended, small changes wait for each other, also more than fit into one datagram. They are sent
    /// when it resumes.
    pub fn set_suspended(&mut self, suspended: bool) {
        if self.batch.suspended != suspended {
            self.batch.suspended = suspended;
            self.flush();
        }
    }

    /// Releases all written changes now, regardless of LATENCY_BUDGET.
    pub fn flush(&mut self) {
        self.batch.release(self.last);
    }

    /// Returns whether the newest change only joined other waiting changes.
    ///
    /// Then there is no new data, event or deadline. May return `false` although this is the case.
    #[must_use]
    #[inline]
    pub fn has_only_gathered(&self) -> bool {
        let has_events = self.acknowledged_event || self.space_freed_event || self.refused;
        let by_time = self.mortal || self.history.watches_deadline() || self.slow_readers.any();
        self.batch.has_joined && !self.has_more_to_send() && self.queue.is_empty() && !has_events && !by_time
    }

    /// Returns whether writing `change` would drop an unsent change of the batch.
    ///
    /// Flush and send before the write, so that waiting in a batch causes no loss.
    #[must_use]
    pub fn would_drop_waiting(&self, change: &NewChange) -> bool {
        self.batch.is_on()
            && self.next <= self.last
            && self
                .history
                .next_replaced(change.instance, self.acknowledged())
                .is_some_and(|replaced| replaced >= self.next)
    }

    /// Returns whether a released change is unsent. It waits for answers of the readers, the pacer or the socket.
    #[must_use]
    pub fn has_more_to_send(&self) -> bool {
        self.next <= self.batch.released()
    }

    /// Sets how long small changes may wait for others ([`WriterConfig::batch_window`]), from the next one on.
    pub fn set_batch_window(&mut self, window: Duration) {
        self.batch.set_budget(window);
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN_MAX: usize = 1000;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn batch() -> Batch {
        Batch::new(Duration::from_millis(5))
    }

    #[test]
    fn a_change_that_has_no_room_closes_the_batch_and_opens_the_next() {
        let mut batch = batch();
        (1..=3).for_each(|number| batch.add(at(number as u64), SequenceNumber(number), 300, LEN_MAX));
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber::ZERO, Some(at(6))));
        batch.add(at(4), SequenceNumber(4), 300, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(3), Some(at(9))));
        batch.add(at(5), SequenceNumber(5), 700, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(3), Some(at(9))));
    }

    #[test]
    fn only_who_finds_others_waiting_has_joined_them() {
        let mut batch = batch();
        let mut add = |number, len| {
            batch.add(at(0), SequenceNumber(number), len, LEN_MAX);
            batch.has_joined
        };
        assert!(!add(1, 600));
        assert!(add(2, 300));
        // Neither this change nor any other fits.
        assert!(!add(3, 500));
        assert!(!add(4, LEN_MAX + 1));
        assert!(!add(5, 10));
    }

    #[test]
    fn a_change_that_fits_into_no_datagram_takes_all_before_it_along() {
        let mut batch = batch();
        batch.add(at(0), SequenceNumber(1), 100, LEN_MAX);
        batch.add(at(0), SequenceNumber(2), LEN_MAX + 1, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(2), None));
    }

    #[test]
    fn time_closes_a_batch_once() {
        let mut batch = batch();
        batch.add(at(0), SequenceNumber(1), 100, LEN_MAX);
        batch.handle_timeout(at(4), SequenceNumber(1));
        assert_eq!(batch.released(), SequenceNumber::ZERO);
        batch.handle_timeout(at(5), SequenceNumber(1));
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(1), None));
        batch.handle_timeout(at(50), SequenceNumber(2));
        assert_eq!(batch.released(), SequenceNumber(1));
    }

    #[test]
    fn an_infinite_budget_waits_for_a_full_datagram_or_a_word() {
        let mut batch = Batch::new(Duration::INFINITE);
        batch.add(at(0), SequenceNumber(1), 100, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber::ZERO, None));
        batch.release(SequenceNumber(1));
        assert_eq!(batch.released(), SequenceNumber(1));
    }
}
