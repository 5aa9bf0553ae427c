//! RTT samples of one reader.
//!
//! An ACKNACK does not name the HEARTBEAT that it answers. It may cover sequence numbers that the reader learned from a
//! certain HEARTBEAT, or from the sample sent with it. The RTT is then at most the time since that HEARTBEAT. A hole
//! keeps a reader from acknowledging later changes, so some answers seem much too late. The RTT estimate is therefore a
//! windowed minimum.

use crate::types::{Duration, Instant, SequenceNumber, Shortest};
use std::collections::VecDeque;

/// HEARTBEATs that the writer remembers until an answer covers their sequence numbers.
const HEARTBEATS_MAX: usize = 16;

/// The RTT estimate of a reader, which includes the reader's own delay.
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
    /// A later HEARTBEAT repeated the announcement, so the answered one is unknown.
    is_repeated: bool,
}

impl RoundTrip {
    /// Notes a HEARTBEAT that ends with `last`.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber) {
        if let Some(before) = self.announced.back_mut().filter(|before| before.last >= last) {
            before.is_repeated = true;
        } else if self.announced.len() < HEARTBEATS_MAX {
            self.announced.push_back(Announced { last, at: now, is_repeated: false });
        }
    }

    /// Notes an answer: the reader knows of all changes up to `number`.
    pub(super) fn note_answer(&mut self, now: Instant, number: SequenceNumber) {
        let mut answered = None;
        while let Some(heartbeat) = self.announced.front().copied().filter(|heartbeat| heartbeat.last <= number) {
            self.announced.pop_front();
            answered = Some(heartbeat);
        }
        // The answered HEARTBEAT must be certain, as in Karn's algorithm of TCP.
        if let Some(heartbeat) = answered.filter(|heartbeat| !heartbeat.is_repeated) {
            self.shortest.note(now.since(heartbeat.at));
        }
    }

    /// Notes that the reader has data that was sent `took` ago.
    pub(super) fn note_shown(&mut self, took: Duration) {
        self.shortest.note(took);
    }

    /// Returns the windowed minimum; zero if unknown.
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
        // An answer to an earlier HEARTBEAT changes nothing.
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
