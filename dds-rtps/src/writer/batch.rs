//! Which changes may leave: all of them, or those that a batch has been closed behind.
//!
//! A datagram costs its sender a system call and its receiver a wake, whatever is in it. Under LATENCY_BUDGET (DDS 1.4,
//! 2.2.3.8) small changes wait for others to share one with. A batch opens with a change and is closed
//!
//! - by the next change, if there is no room for that in the same datagram;
//! - by a change that goes out in fragments, and takes all before it along;
//! - when its first change has waited for the budget;
//! - when the writer, if it is suspended, is so no more, or holds back 64 KiB;
//! - when somebody waits for acknowledgements, for room, or asks for it ([`StatefulWriter::flush`]).

#[cfg(doc)]
use super::WriterConfig;
use super::config::NewChange;
use super::layout::room_for_changes;
use super::stateful::StatefulWriter;
use crate::types::{Duration, Instant, Now, SequenceNumber};

/// What a suspended writer holds back at most, in bytes: as much as a few datagrams take.
const SUSPENDED_LEN_MAX: usize = 64 << 10;

/// The changes that wait for company.
#[derive(Debug)]
pub(super) struct Batch {
    /// How long a change may wait. Zero: none does.
    budget: Duration,
    /// Changes wait for as long as this is set, whatever the budget.
    suspended: bool,
    /// Up to where changes may leave.
    released: SequenceNumber,
    /// What the changes behind that will take in a datagram, at most.
    len: usize,
    /// When the first of them has waited for long enough; `None`: there are none, or they wait for ever.
    deadline: Option<Instant>,
    /// The newest change has joined others that waited already.
    has_joined: bool,
}

impl Batch {
    pub(super) fn new(budget: Duration) -> Self {
        Self { budget, suspended: false, released: SequenceNumber::ZERO, len: 0, deadline: None, has_joined: false }
    }

    /// Changes how long a change may wait, from the next one on.
    pub(super) fn set_budget(&mut self, budget: Duration) {
        self.budget = budget;
    }

    /// Whether changes wait for company at all.
    pub(super) fn is_on(&self) -> bool {
        self.suspended || self.budget > Duration::ZERO
    }

    /// Up to where changes may leave.
    pub(super) fn released(&self) -> SequenceNumber {
        self.released
    }

    /// When [`Batch::handle_timeout`] is to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// `number` has been written, and takes at most `len` bytes of a datagram that has room for `len_max`.
    pub(super) fn add(&mut self, now: Instant, number: SequenceNumber, len: usize, len_max: usize) {
        let len_max = if self.suspended { SUSPENDED_LEN_MAX } else { len_max };
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

    /// Everything up to `number`, the newest change, may leave.
    #[inline]
    pub(super) fn release(&mut self, number: SequenceNumber) {
        self.released = number;
        self.len = 0;
        self.deadline = None;
        self.has_joined = false;
    }

    /// Time has passed, and the newest change is `last`.
    pub(super) fn handle_timeout(&mut self, now: Instant, last: SequenceNumber) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.release(last);
        }
    }
}

impl StatefulWriter {
    /// The newest change waits for others, unless it fills a datagram.
    pub(super) fn add_to_batch(&mut self, now: Now) {
        let Some(stored) = self.history.get(self.last) else { return self.flush() };
        let payload_len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
        if payload_len > usize::from(self.destinations.fragment_size) {
            return self.flush();
        }
        let room = room_for_changes(self.destinations.message_len_max());
        self.batch.add(now.instant, self.last, self.sender().len_of(&stored.change), room);
    }

    /// While a writer is suspended (DDS 1.4, 2.2.2.4.1.8), small changes wait for each other, more than fit into one
    /// datagram. What has waited leaves when it is no more.
    pub fn set_suspended(&mut self, suspended: bool) {
        if self.batch.suspended != suspended {
            self.batch.suspended = suspended;
            self.flush();
        }
    }

    /// Lets everything that was written leave now, whatever LATENCY_BUDGET says.
    pub fn flush(&mut self) {
        self.batch.release(self.last);
    }

    /// Whether the newest change has only joined others that wait for company, so that there is nothing to be sent or told, and no
    /// deadline, that there was not before it was written. May say no though it is so.
    #[must_use]
    #[inline]
    pub fn has_only_gathered(&self) -> bool {
        let has_events = self.acknowledged_event || self.space_freed_event || self.refused;
        let by_time = self.mortal || self.history.watches_deadline() || self.slow_readers.any();
        self.batch.has_joined && !self.has_more_to_send() && self.queue.is_empty() && !has_events && !by_time
    }

    /// Whether writing `change` would drop one that has not left yet, because it waits in a batch. To be flushed and sent
    /// before: a change that was written in time is not to be lost by waiting for company.
    #[must_use]
    pub fn would_drop_waiting(&self, change: &NewChange) -> bool {
        self.batch.is_on()
            && self.next <= self.last
            && self
                .history
                .next_replaced(change.instance, self.acknowledged())
                .is_some_and(|replaced| replaced >= self.next)
    }

    /// Whether something that may leave is still here: it waits for the readers' answers, the clock, or the socket.
    #[must_use]
    pub fn has_more_to_send(&self) -> bool {
        self.next <= self.batch.released()
    }

    /// Changes how long small changes may wait for others ([`WriterConfig::batch_window`]), from the next one on.
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
        // There is no room for it, nor for any other one.
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
