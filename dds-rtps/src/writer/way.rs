//! How long the way to a reader and back is, at most.
//!
//! [`RoundTrip`](super::round_trip) wants to know exactly, and learns nothing where HEARTBEATs are repeated before their answers can be
//! here, or where all that are sent within a long sample say the same. Here the first of them counts, and a NACK_FRAG as well: it
//! speaks of a fragment that the reader can only have missed because something came that was sent later. What is found so may be
//! too long, so the shortest of the last ones counts, and only ways that are long anyway are judged by it.

use crate::types::{Duration, Instant, SequenceNumber, Shortest};
use std::collections::VecDeque;

/// HEARTBEATs that are remembered until something speaks of their numbers.
const HEARTBEATS_MAX: usize = 16;

/// The way to a reader and back, its own time included, or a longer one.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// HEARTBEATs that announced more than those before them. Bound: [`HEARTBEATS_MAX`].
    announced: VecDeque<Announced>,
    shortest: Shortest,
}

#[derive(Debug, Clone, Copy)]
struct Announced {
    last: SequenceNumber,
    /// So many fragments of the change behind that had been sent.
    fragments: u32,
    /// When that was said first. Another HEARTBEAT may have said the same since, and it may be that which is answered: then the
    /// answer took no longer either.
    at: Instant,
}

impl Announced {
    fn place(&self) -> (SequenceNumber, u32) {
        (self.last, self.fragments)
    }
}

impl Way {
    /// A HEARTBEAT goes out that ends with `last`, behind so many fragments of the next change.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber, fragments: u32) {
        let is_news = self.announced.back().is_none_or(|before| before.place() < (last, fragments));
        if is_news && self.announced.len() < HEARTBEATS_MAX {
            self.announced.push_back(Announced { last, fragments, at: now });
        }
    }

    /// The reader shows that it has heard of everything up to `number`, and so many fragments of the next change.
    pub(super) fn note_answer(&mut self, now: Instant, number: SequenceNumber, fragments: u32) {
        let mut answered = None;
        let is_known = |heartbeat: &Announced| heartbeat.place() <= (number, fragments);
        while let Some(heartbeat) = self.announced.front().copied().filter(is_known) {
            self.announced.pop_front();
            answered = Some(heartbeat);
        }
        if let Some(heartbeat) = answered {
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
        // An answer to an earlier one says nothing.
        way.note_heartbeat(at(500), SequenceNumber(3), 0);
        way.note_answer(at(501), SequenceNumber(2), 0);
        assert_eq!(way.shortest(), Duration::from_millis(60));
    }

    /// Nobody knows which of them is answered: on a way that takes longer than the patience of who asks, it is always the first.
    #[test]
    fn of_a_heartbeat_that_was_sent_again_the_first_time_counts_until_more_is_known() {
        let mut way = Way::default();
        way.note_heartbeat(at(0), SequenceNumber(1), 0);
        asked(&mut way, 1, 100, 101);
        assert_eq!(way.shortest(), Duration::from_millis(101));
        asked(&mut way, 2, 200, 201);
        assert_eq!(way.shortest(), Duration::from_millis(1));
    }

    /// Of a long sample the HEARTBEATs all say the same.
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
