//! How long it takes until a reader's answer is here.
//!
//! An ACKNACK does not say which HEARTBEAT it answers. But it speaks of numbers that the reader knew nothing of before a certain
//! HEARTBEAT, or the sample with it, had come: so it took no longer than since then. What is missing keeps a reader from
//! speaking of what came after it, so some answers seem to take much too long: the shortest of the last ones counts.

use crate::types::{Duration, Instant, SequenceNumber, Shortest};
use std::collections::VecDeque;

/// HEARTBEATs that are remembered until something speaks of their numbers.
const HEARTBEATS_MAX: usize = 16;

/// The way to a reader and back, its own time included.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// HEARTBEATs that announced more than those before them. Bound: [`HEARTBEATS_MAX`].
    announced: VecDeque<Announced>,
    shortest: Shortest,
}

#[derive(Debug, Clone, Copy)]
struct Announced {
    last: SequenceNumber,
    at: Instant,
    /// Another one said the same since: nobody knows which of them is answered.
    is_repeated: bool,
}

impl RoundTrip {
    /// A HEARTBEAT goes out that ends with `last`.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber) {
        if let Some(before) = self.announced.back_mut().filter(|before| before.last >= last) {
            before.is_repeated = true;
        } else if self.announced.len() < HEARTBEATS_MAX {
            self.announced.push_back(Announced { last, at: now, is_repeated: false });
        }
    }

    /// The reader shows that it has heard of everything up to `number`.
    pub(super) fn note_answer(&mut self, now: Instant, number: SequenceNumber) {
        let mut answered = None;
        while let Some(heartbeat) = self.announced.front().copied().filter(|heartbeat| heartbeat.last <= number) {
            self.announced.pop_front();
            answered = Some(heartbeat);
        }
        if let Some(heartbeat) = answered.filter(|heartbeat| !heartbeat.is_repeated) {
            self.shortest.note(now.since(heartbeat.at));
        }
    }

    /// The reader shows that it has what was sent so long ago.
    pub(super) fn note_shown(&mut self, took: Duration) {
        self.shortest.note(took);
    }

    /// The shortest of the last answers; zero as long as nothing is known.
    pub(super) fn shortest(&self) -> Duration {
        self.shortest.get().unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn asked(round_trip: &mut RoundTrip, last: i64, sent: u64, answered: u64) {
        round_trip.note_heartbeat(at(sent), SequenceNumber(last));
        round_trip.note_answer(at(answered), SequenceNumber(last));
    }

    #[test]
    fn answers_that_something_missing_held_back_do_not_count() {
        let mut round_trip = RoundTrip::default();
        asked(&mut round_trip, 1, 0, 60);
        asked(&mut round_trip, 2, 100, 400);
        assert_eq!(round_trip.shortest(), Duration::from_millis(60));
        // An answer to an earlier one says nothing.
        round_trip.note_heartbeat(at(500), SequenceNumber(3));
        round_trip.note_answer(at(501), SequenceNumber(2));
        assert_eq!(round_trip.shortest(), Duration::from_millis(60));
    }

    #[test]
    fn a_heartbeat_that_was_sent_again_shows_nothing() {
        let mut round_trip = RoundTrip::default();
        round_trip.note_heartbeat(at(0), SequenceNumber(1));
        asked(&mut round_trip, 1, 100, 101);
        assert_eq!(round_trip.shortest(), Duration::ZERO);
    }

    #[test]
    fn only_so_many_heartbeats_are_remembered() {
        let mut round_trip = RoundTrip::default();
        (40..1000).for_each(|number| round_trip.note_heartbeat(at(0), SequenceNumber(number)));
        assert_eq!(round_trip.announced.len(), HEARTBEATS_MAX);
    }
}
