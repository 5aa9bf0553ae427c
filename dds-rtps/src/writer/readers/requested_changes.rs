//! Whole changes that one reader requests.
//!
//! Bounds: one window of 256 requested sequence numbers, and one of recently sent ones.

use crate::types::{Duration, Instant, SequenceNumber};
use crate::wire::{Recent, Window};

/// Requested changes of one reader.
#[derive(Debug, Default)]
pub(crate) struct RequestedChanges {
    /// Requested sequence numbers that the writer has not sent yet.
    requested: Window,
    /// Bytes that the writer may still send in answer to the last request.
    answer_budget: u64,
    /// Sequence numbers sent a moment ago, which are not retransmitted at once.
    served: Recent,
}

impl RequestedChanges {
    /// Replaces the requests by those of a new ACKNACK. The writer sends at most `answer_budget` bytes in answer.
    pub(crate) fn replace(&mut self, requested: Window, answer_budget: u64) {
        self.requested = requested;
        self.answer_budget = answer_budget;
    }

    /// Forgets which acknowledged changes were sent. Their record would leave no room for later ones.
    pub(crate) fn acknowledge(&mut self, acknowledged: SequenceNumber) {
        self.served.forget_below(acknowledged.next().0);
    }

    /// Removes the requests for acknowledged changes.
    pub(crate) fn remove_up_to(&mut self, acknowledged: SequenceNumber) {
        self.requested.remove_up_to(acknowledged.0);
    }

    /// Removes the request for one change.
    pub(crate) fn remove(&mut self, number: SequenceNumber) {
        self.requested.remove(number.0);
    }

    /// Returns whether no request is open.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.requested.is_empty()
    }

    /// Returns the lowest requested sequence number that the writer may send now.
    pub(crate) fn next(&self, now: Instant, suppression: Duration) -> Option<SequenceNumber> {
        let mut from = self.requested.base();
        while let Some(number) = self.requested.first_from(from) {
            // The request may be older than the repair that is in flight.
            if !self.served.contains(now, number, suppression) {
                return Some(SequenceNumber(number));
            }
            from = number + 1;
        }
        None
    }

    /// Notes that the changes up to `last` are sent now, or never will be.
    pub(crate) fn serve_up_to(&mut self, now: Instant, last: SequenceNumber, suppression: Duration) {
        let mut from = self.requested.base();
        while let Some(number) = self.requested.first_from(from) {
            if number > last.0 {
                break;
            }
            self.served.note(now, number, suppression);
            self.requested.remove(number);
            from = number + 1;
        }
    }

    /// Notes that a requested change of `len` bytes was sent.
    ///
    /// The answer to one request is at most one window. A HEARTBEAT announces the rest, and the reader requests it
    /// again.
    pub(crate) fn note_answered(&mut self, len: usize) {
        self.answer_budget = self.answer_budget.saturating_sub(len as u64);
        // A longer answer would overflow the receive buffer and be lost in part.
        if self.answer_budget == 0 {
            self.requested = Window::default();
        }
    }

    /// Returns when a request for a recently sent change may be answered.
    pub(crate) fn deferred_until(&self, now: Instant, suppression: Duration) -> Option<Instant> {
        if self.requested.is_empty() { None } else { self.served.until(now, suppression) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPRESSION: Duration = Duration::from_millis(5);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn requests(numbers: &[i64], budget: u64) -> RequestedChanges {
        let mut requested = Window::new(numbers[0]);
        for &number in numbers {
            assert!(requested.insert(number));
        }
        let mut requests = RequestedChanges::default();
        requests.replace(requested, budget);
        requests
    }

    #[test]
    fn repeated_request_waits_for_suppression() {
        let mut requests = requests(&[3, 5], 1000);
        assert_eq!(requests.next(at(0), SUPPRESSION), Some(SequenceNumber(3)));
        requests.serve_up_to(at(0), SequenceNumber(4), SUPPRESSION);
        assert_eq!(requests.next(at(0), SUPPRESSION), Some(SequenceNumber(5)));
        let mut again = Window::new(3);
        again.insert(3);
        requests.replace(again, 1000);
        assert_eq!(requests.next(at(1), SUPPRESSION), None);
        let later = requests.deferred_until(at(1), SUPPRESSION).unwrap();
        assert_eq!(requests.next(later, SUPPRESSION), Some(SequenceNumber(3)));
    }

    #[test]
    fn answer_ends_with_its_budget() {
        let mut requests = requests(&[3, 4, 5], 1000);
        requests.note_answered(999);
        assert!(!requests.is_empty());
        requests.note_answered(1);
        assert!(requests.is_empty());
        assert_eq!(requests.deferred_until(at(0), SUPPRESSION), None);
    }
}
