//! Batches: which changes may be sent, and which wait to share a datagram.
//!
//! A datagram costs its sender a system call and its receiver a wake-up, however small it is. Under LATENCY_BUDGET (DDS
//! 1.4, 2.2.3.8) small changes wait to share one. A change opens a batch. These events close it:
//!
//! - The next change does not fit into the same datagram.
//! - A change must go out in fragments. It takes all earlier changes with it.
//! - The first change has waited for the budget.
//! - A suspended writer resumes, or holds back 64 KiB.
//! - The caller waits for acknowledgments or for room, or flushes ([`StatefulWriter::flush`]).

use crate::types::{Duration, Instant, SequenceNumber};
#[cfg(doc)]
use crate::writer::StatefulWriter;

/// Most bytes that a suspended writer holds back: about a few datagrams.
const SUSPENDED_LEN_MAX: usize = 64 << 10;

/// The changes that wait in a batch.
#[derive(Debug)]
pub(crate) struct SendBatch {
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

impl SendBatch {
    pub(crate) fn new(budget: Duration) -> Self {
        Self { budget, suspended: false, released: SequenceNumber::ZERO, len: 0, deadline: None, has_joined: false }
    }

    /// Sets how long a change may wait, from the next one on.
    pub(crate) fn set_budget(&mut self, budget: Duration) {
        self.budget = budget;
    }

    /// Suspends or resumes the writer. Returns whether that is a change.
    pub(crate) fn set_suspended(&mut self, suspended: bool) -> bool {
        std::mem::replace(&mut self.suspended, suspended) != suspended
    }

    /// Returns whether the newest change joined waiting ones.
    #[inline]
    pub(crate) fn has_joined(&self) -> bool {
        self.has_joined
    }

    /// Returns whether changes wait at all.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.suspended || self.budget > Duration::ZERO
    }

    /// Returns up to which change the writer may send.
    #[inline]
    pub(crate) fn released(&self) -> SequenceNumber {
        self.released
    }

    /// Returns when to call [`SendBatch::handle_timeout`].
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Adds the change `number`, which takes at most `len` bytes of a datagram with room for `len_max`.
    pub(crate) fn add(&mut self, now: Instant, number: SequenceNumber, len: usize, len_max: usize) {
        let len_max = if self.suspended { SUSPENDED_LEN_MAX } else { len_max };
        // The change fits into no datagram of the batch, so all earlier changes go with it.
        if len > len_max {
            return self.release(number);
        }
        if self.len + len > len_max {
            self.release(number.previous());
        }
        self.has_joined = self.len > 0;
        // The first change of a batch sets the deadline, because it waits longest.
        if self.len == 0 && !self.suspended {
            self.deadline = now.after(self.budget);
        }
        self.len += len;
    }

    /// Releases all changes up to `number`, the newest one.
    #[inline]
    pub(crate) fn release(&mut self, number: SequenceNumber) {
        self.released = number;
        self.len = 0;
        self.deadline = None;
        self.has_joined = false;
    }

    /// Advances time. `last` is the newest change.
    pub(crate) fn handle_timeout(&mut self, now: Instant, last: SequenceNumber) {
        match self.deadline {
            Some(deadline) if deadline <= now => self.release(last),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN_MAX: usize = 1000;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn batch() -> SendBatch {
        SendBatch::new(Duration::from_millis(5))
    }

    #[test]
    fn change_without_room_closes_batch_and_opens_next() {
        let mut batch = batch();
        for number in 1..=3 {
            batch.add(at(number as u64), SequenceNumber(number), 300, LEN_MAX);
        }
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber::ZERO, Some(at(6))));
        batch.add(at(4), SequenceNumber(4), 300, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(3), Some(at(9))));
        batch.add(at(5), SequenceNumber(5), 700, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(3), Some(at(9))));
    }

    #[test]
    fn change_joins_only_a_waiting_batch() {
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
    fn oversized_change_releases_all_before_it() {
        let mut batch = batch();
        batch.add(at(0), SequenceNumber(1), 100, LEN_MAX);
        batch.add(at(0), SequenceNumber(2), LEN_MAX + 1, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber(2), None));
    }

    #[test]
    fn batch_window_closes_batch_once() {
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
    fn infinite_window_waits_for_full_datagram_or_flush() {
        let mut batch = SendBatch::new(Duration::INFINITE);
        batch.add(at(0), SequenceNumber(1), 100, LEN_MAX);
        assert_eq!((batch.released(), batch.deadline()), (SequenceNumber::ZERO, None));
        batch.release(SequenceNumber(1));
        assert_eq!(batch.released(), SequenceNumber(1));
    }
}
