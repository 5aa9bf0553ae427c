//! Upper bound of the RTT of one reader.
//!
//! [`RoundTrip`](super::round_trip) measures exactly. It yields no RTT sample if the writer repeats HEARTBEATs before
//! answers can arrive. The same holds if all HEARTBEATs within a long sample announce the same. This module counts from
//! the first such HEARTBEAT, and accepts a NACK_FRAG too. A reader requests a fragment only after it received data that
//! was sent later. The result may be too long, so it is a windowed minimum. Only long paths are judged by it.

use crate::types::{Duration, Instant, SequenceNumber, Shortest};
use std::collections::VecDeque;

/// HEARTBEATs that the writer remembers until an answer covers their sequence numbers.
const HEARTBEATS_MAX: usize = 16;

/// An upper bound of the RTT, which includes the reader's own delay.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// HEARTBEATs that announced more than those before them. Bound: [`HEARTBEATS_MAX`].
    announced: VecDeque<Announced>,
    shortest: Shortest,
}

#[derive(Debug, Clone, Copy)]
struct Announced {
    last: SequenceNumber,
    /// Fragments of the next change that were sent before the HEARTBEAT.
    fragments: u32,
    /// Time of the first HEARTBEAT with this content.
    ///
    /// A later one may have repeated the content, and the reader may answer that one. Then the RTT is even shorter.
    at: Instant,
}

impl Announced {
    fn place(&self) -> (SequenceNumber, u32) {
        (self.last, self.fragments)
    }
}

impl Way {
    /// Notes a HEARTBEAT that ends with `last`, sent after `fragments` of the next change.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber, fragments: u32) {
        // A repeated announcement keeps the time of the first one, which makes the result an upper bound.
        let is_news = self.announced.back().is_none_or(|before| before.place() < (last, fragments));
        if is_news && self.announced.len() < HEARTBEATS_MAX {
            self.announced.push_back(Announced { last, fragments, at: now });
        }
    }

    /// Notes an answer: the reader knows of all changes up to `number`, and of `fragments` of the next one.
    pub(super) fn note_answer(&mut self, now: Instant, number: SequenceNumber, fragments: u32) {
        let mut answered = None;
        let is_known = |heartbeat: &Announced| heartbeat.place() <= (number, fragments);
        while let Some(heartbeat) = self.announced.front().copied().filter(is_known) {
            self.announced.pop_front();
            answered = Some(heartbeat);
        }
        if let Some(heartbeat) = answered {
            // The answer covers several HEARTBEATs. The last of them gives the shortest time.
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

    fn asked(way: &mut Way, last: i64, sent: u64, answered: u64) {
        way.note_heartbeat(at(sent), SequenceNumber(last), 0);
        way.note_answer(at(answered), SequenceNumber(last), 0);
    }

    #[test]
    fn answers_that_something_missing_held_back_hide_nothing() {
        let mut way = Way::default();
        asked(&mut way, 1, 0, 60);
        asked(&mut way, 2, 100, 400);
        assert_eq!(way.shortest(), Duration::from_millis(60));
        // An answer to an earlier HEARTBEAT changes nothing.
        way.note_heartbeat(at(500), SequenceNumber(3), 0);
        way.note_answer(at(501), SequenceNumber(2), 0);
        assert_eq!(way.shortest(), Duration::from_millis(60));
    }

    /// The writer does not know which of the two the reader answers. If the path is longer than the writer's patience,
    /// it is always the first.
    #[test]
    fn of_a_heartbeat_that_was_sent_again_the_first_time_counts_until_more_is_known() {
        let mut way = Way::default();
        way.note_heartbeat(at(0), SequenceNumber(1), 0);
        asked(&mut way, 1, 100, 101);
        assert_eq!(way.shortest(), Duration::from_millis(101));
        asked(&mut way, 2, 200, 201);
        assert_eq!(way.shortest(), Duration::from_millis(1));
    }

    /// All HEARTBEATs within a long sample announce the same.
    #[test]
    fn a_fragment_that_is_asked_for_shows_how_long_the_answer_took() {
        let mut way = Way::default();
        for (ms, fragments) in [(0, 10), (10, 20), (20, 30)] {
            way.note_heartbeat(at(ms), SequenceNumber(1), fragments);
        }
        way.note_answer(at(45), SequenceNumber(1), 9);
        assert_eq!(way.shortest(), Duration::ZERO, "nothing was sent later that it could know of");
        way.note_answer(at(45), SequenceNumber(1), 25);
        assert_eq!(way.shortest(), Duration::from_millis(35));
        way.note_answer(at(50), SequenceNumber(2), 0);
        assert_eq!(way.shortest(), Duration::from_millis(30));
    }

    #[test]
    fn only_so_many_heartbeats_are_remembered() {
        let mut way = Way::default();
        (40..1000).for_each(|number| way.note_heartbeat(at(0), SequenceNumber(number), 0));
        assert_eq!(way.announced.len(), HEARTBEATS_MAX);
    }
}
