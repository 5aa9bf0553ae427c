//! Fragments that one reader requests, and the outcome of their retransmission.
//!
//! Bounds: [`REQUESTS_MAX`] open requests, and [`SERVED_MAX`] answered ones.

use crate::types::{Duration, Instant, SequenceNumber, earliest};
use crate::wire::{SET_BITS_MAX, Window};
use crate::writer::congestion::window::CongestionWindow;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Open requests for fragments of one reader. The reader repeats a dropped request.
///
/// Each covers up to 256 fragments. Together they cover 2048 fragments, or 2.7 MB with the fragment size of the
/// network.
const REQUESTS_MAX: usize = 8;

/// Answered requests for fragments that the writer remembers while the fragments are in flight. A long path has many.
const SERVED_MAX: usize = 64;

/// Requests for fragments of one reader.
#[derive(Debug, Default)]
pub(crate) struct RequestedFragments {
    open: SmallVec<[FragmentRequest; 1]>,
    /// Completely answered requests. Kept until their outcome is known.
    served: VecDeque<ServedRequest>,
}

/// Request for fragments of one change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FragmentRequest {
    pub(crate) sequence_number: SequenceNumber,
    /// Numbers of the fragments, from 1, that are still to be sent.
    pub(crate) missing: Window,
    /// All fragments of the request.
    requested: Window,
    /// Earliest time of the answer; `None` for at once.
    not_before: Option<Instant>,
}

impl FragmentRequest {
    fn is_ripe(&self, now: Instant) -> bool {
        match self.not_before {
            Some(not_before) => not_before <= now,
            None => true,
        }
    }
}

/// Fragments that were retransmitted at `at` in answer to requests.
#[derive(Debug, Clone, Copy)]
struct ServedRequest {
    sequence_number: SequenceNumber,
    fragments: Window,
    at: Instant,
}

impl RequestedFragments {
    /// Returns whether no request is open.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether a request may be answered now.
    #[inline]
    pub(crate) fn is_ripe(&self, now: Instant) -> bool {
        for request in &self.open {
            if request.is_ripe(now) {
                return true;
            }
        }
        false
    }

    /// Returns the request to answer next: the lowest sequence number, for which the reader waits.
    pub(crate) fn next(&mut self, now: Instant) -> Option<&mut FragmentRequest> {
        let mut first: Option<&mut FragmentRequest> = None;
        for request in &mut self.open {
            // Of several requests for one change, the oldest comes first.
            let is_lower = match &first {
                Some(first) => request.sequence_number < first.sequence_number,
                None => true,
            };
            if is_lower && request.is_ripe(now) {
                first = Some(request);
            }
        }
        first
    }

    /// Returns when the first delayed request may be answered.
    pub(crate) fn deferred_until(&self, now: Instant) -> Option<Instant> {
        let mut first = None;
        for request in &self.open {
            if !request.is_ripe(now) {
                first = earliest(first, request.not_before);
            }
        }
        first
    }

    /// Drops the requests for acknowledged changes. The acknowledgment proves that retransmitted fragments arrived.
    pub(crate) fn acknowledge(&mut self, acknowledged: SequenceNumber, congestion: &mut CongestionWindow) {
        self.open.retain(|request| request.sequence_number > acknowledged);
        self.served.retain(|served| {
            if served.sequence_number > acknowledged {
                return true;
            }
            // The reader has the whole change, so no retransmitted fragment was lost.
            congestion.note_retransmitted(served.fragments.len(), 0);
            false
        });
    }

    /// Derives the outcome of retransmitted fragments from a NACK_FRAG: it requests the lost ones again.
    ///
    /// Fragments sent within `suppression` are left out, because the reader did not know of them yet.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        number: SequenceNumber,
        missing: &Window,
        suppression: Duration,
        congestion: &mut CongestionWindow,
    ) {
        self.served.retain_mut(|served| {
            if served.sequence_number != number {
                return true;
            }
            // A request so soon may have crossed the retransmission on its way, so it proves no loss.
            if served.at.after(suppression).is_none_or(|until| now < until) {
                return true;
            }
            // The next NACK_FRAG covers the fragments that do not fit into one set.
            let mut beyond = served.fragments;
            beyond.remove_up_to(missing.base() + i64::from(SET_BITS_MAX) - 1);
            let covered = served.fragments.len() - beyond.len();
            served.fragments.remove_all(&beyond);
            served.fragments.remove_all(missing);
            congestion.note_retransmitted(covered, covered - served.fragments.len());
            served.fragments = beyond;
            !beyond.is_empty()
        });
    }

    /// Adds a request for fragments of a change. Returns `false` if there is no room for it.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        sequence_number: SequenceNumber,
        mut missing: Window,
        suppression: Duration,
        is_long_path: bool,
    ) -> bool {
        // Fragments of another request are being sent already. The reader repeats its requests until they arrive.
        for open in &self.open {
            if open.sequence_number == sequence_number {
                missing.remove_all(&open.requested);
            }
        }
        if missing.is_empty() {
            return true;
        }
        let (missing, not_before) = self.without_served(now, sequence_number, missing, suppression);
        if not_before.is_some() && is_long_path {
            // A delayed answer would be out of date. The reader repeats its request.
            return true;
        }
        if self.open.len() >= REQUESTS_MAX {
            return false;
        }
        self.open.push(FragmentRequest { sequence_number, missing, requested: missing, not_before });
        true
    }

    /// Returns the requested fragments that were not sent just now.
    ///
    /// If all were, returns all of them and the time until which they wait. The reader repeats its requests while an
    /// earlier answer is in flight.
    fn without_served(
        &self,
        now: Instant,
        sequence_number: SequenceNumber,
        missing: Window,
        suppression: Duration,
    ) -> (Window, Option<Instant>) {
        let mut rest = missing;
        let mut wait_until = None;
        for served in &self.served {
            if served.sequence_number != sequence_number {
                continue;
            }
            let until = served.at.after(suppression);
            // Fragments that may still be on their way are not sent again.
            if until.is_some_and(|until| now < until) && served.fragments.intersects(&rest) {
                rest.remove_all(&served.fragments);
                wait_until = until;
            }
        }
        if rest.is_empty() { (missing, wait_until) } else { (rest, None) }
    }

    /// Drops the requests for a change that is gone.
    pub(crate) fn forget(&mut self, now: Instant, gone: SequenceNumber, together: Duration) {
        self.drop_answered(now, together);
        self.open.retain(|request| request.sequence_number != gone);
    }

    /// Drops answered requests, and remembers their fragments as sent.
    ///
    /// Fragments that were sent within `together` count as sent at once.
    pub(crate) fn drop_answered(&mut self, now: Instant, together: Duration) {
        let served = &mut self.served;
        self.open.retain(|request| {
            if !request.missing.is_empty() {
                return true;
            }
            for last in served.iter_mut() {
                // One entry for all fragments of a burst keeps the list short on a long path.
                let is_alike = last.sequence_number == request.sequence_number
                    && now.since(last.at) < together
                    && last.fragments.reaches_all(&request.requested);
                if is_alike {
                    last.fragments.insert_all(&request.requested);
                    return false;
                }
            }
            if served.len() == SERVED_MAX {
                served.pop_front();
            }
            let FragmentRequest { sequence_number, requested, .. } = *request;
            served.push_back(ServedRequest { sequence_number, fragments: requested, at: now });
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPRESSION: Duration = Duration::from_millis(5);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn fragments(numbers: &[i64]) -> Window {
        let mut window = Window::new(numbers[0]);
        for &number in numbers {
            assert!(window.insert(number));
        }
        window
    }

    /// Answers the next request at `now`.
    fn answer(requests: &mut RequestedFragments, now: Instant) {
        requests.next(now).unwrap().missing = Window::default();
        requests.drop_answered(now, Duration::ZERO);
    }

    #[test]
    fn answered_fragment_requests_are_bounded() {
        let mut requests = RequestedFragments::default();
        for number in 1..=SERVED_MAX as i64 + 10 {
            assert!(requests.add(at(0), SequenceNumber(number), fragments(&[1]), SUPPRESSION, false));
            answer(&mut requests, at(0));
        }
        let oldest = requests.served.front().unwrap().sequence_number;
        assert_eq!((requests.served.len(), oldest), (SERVED_MAX, SequenceNumber(11)));
    }

    #[test]
    fn open_fragment_requests_are_bounded() {
        let mut requests = RequestedFragments::default();
        for number in 1..=REQUESTS_MAX as i64 {
            assert!(requests.add(at(0), SequenceNumber(number), fragments(&[1]), SUPPRESSION, false));
        }
        assert!(!requests.add(at(0), SequenceNumber(100), fragments(&[1]), SUPPRESSION, false));
        assert!(requests.add(at(0), SequenceNumber(1), fragments(&[1]), SUPPRESSION, false), "it is open already");
    }

    #[test]
    fn lowest_change_is_answered_first() {
        let mut requests = RequestedFragments::default();
        for number in [7, 3, 5] {
            requests.add(at(0), SequenceNumber(number), fragments(&[1]), SUPPRESSION, false);
        }
        assert_eq!(requests.next(at(0)).unwrap().sequence_number, SequenceNumber(3));
        requests.forget(at(0), SequenceNumber(3), Duration::ZERO);
        assert_eq!(requests.next(at(0)).unwrap().sequence_number, SequenceNumber(5));
    }

    #[test]
    fn fragments_in_flight_are_sent_again_after_suppression() {
        let mut requests = RequestedFragments::default();
        requests.add(at(0), SequenceNumber(1), fragments(&[4, 6]), SUPPRESSION, false);
        answer(&mut requests, at(0));
        requests.add(at(1), SequenceNumber(1), fragments(&[4]), SUPPRESSION, false);
        assert!(!requests.is_ripe(at(1)));
        assert_eq!(requests.deferred_until(at(1)), Some(at(5)));
        assert!(requests.is_ripe(at(5)));
        // On a long path the reader repeats its request, so the writer keeps no delayed one.
        let mut requests = RequestedFragments::default();
        requests.add(at(0), SequenceNumber(1), fragments(&[4, 6]), SUPPRESSION, true);
        answer(&mut requests, at(0));
        assert!(requests.add(at(1), SequenceNumber(1), fragments(&[4]), SUPPRESSION, true));
        assert!(requests.is_empty());
    }
}
