//! Remembers recently noted numbers, so that no number is requested or sent twice in a short time.
//!
//! Bound: [`ROUNDS_MAX`] windows of 256 numbers. If numbers jump faster than these windows can follow, further
//! numbers count as recent until the oldest window has expired. This costs a delay and no data. Numbers that are
//! acknowledged need no record, so the owner forgets them ([`Recent::forget_below`]).

use super::window::Window;
use crate::types::{Duration, Instant, earliest};
use std::collections::VecDeque;

const ROUNDS_MAX: usize = 8;

/// Number of rounds into which the recent time is divided.
const ROUNDS_IN_SPAN: u32 = 4;

/// Numbers and the time of their last note, with a resolution of a quarter of the recent time.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<RecentRound>);

/// Numbers that were noted within a short time.
#[derive(Debug)]
struct RecentRound {
    numbers: Window,
    began: Instant,
    at: Instant,
}

impl Recent {
    /// Notes a number; [`Recent::contains`] it for `span` from now on.
    pub(crate) fn note(&mut self, now: Instant, number: i64, span: Duration) {
        if let Some(last) = self.0.back_mut() {
            // A round covers a quarter of the span, so all its numbers may share the time of the last one.
            if last.accepts(now, number, span) {
                last.numbers.insert(number);
                last.at = now;
                return;
            }
        }
        self.0.retain(|round| round.is_within(now, span));
        // Without a free round the number is not noted. `contains` then takes it for a recent one.
        if self.0.len() < ROUNDS_MAX {
            let mut numbers = Window::new(number);
            numbers.insert(number);
            self.0.push_back(RecentRound { numbers, began: now, at: now });
        }
    }

    /// Whether a number was noted less than `span` ago, or cannot be noted now.
    pub(crate) fn contains(&self, now: Instant, number: i64, span: Duration) -> bool {
        let mut count = 0;
        for round in &self.0 {
            if !round.is_within(now, span) {
                continue;
            }
            if round.numbers.contains(number) {
                return true;
            }
            count += 1;
        }
        // Without a free round, a number that the last one does not accept counts as recent.
        match self.0.back() {
            Some(last) => count >= ROUNDS_MAX && !last.accepts(now, number, span),
            None => false,
        }
    }

    /// Forgets the windows whose numbers are all below `number`, so that they take no room.
    pub(crate) fn forget_below(&mut self, number: i64) {
        self.0.retain(|round| round.numbers.last().is_some_and(|last| last >= number));
    }

    /// Returns when a number was noted, if it was noted in exactly one round.
    pub(crate) fn noted_at(&self, number: i64) -> Option<Instant> {
        let mut noted_at = None;
        for round in &self.0 {
            if round.numbers.contains(number) {
                // Noted twice: an answer may belong to either note, so neither measures a delay.
                if noted_at.is_some() {
                    return None;
                }
                noted_at = Some(round.at);
            }
        }
        noted_at
    }

    /// Returns when the first of the recent numbers expires.
    pub(crate) fn until(&self, now: Instant, span: Duration) -> Option<Instant> {
        let mut until = None;
        for round in &self.0 {
            if round.is_within(now, span) {
                until = earliest(until, round.at.after(span));
            }
        }
        until
    }
}

impl RecentRound {
    fn accepts(&self, now: Instant, number: i64, span: Duration) -> bool {
        now.since(self.began) < span.scale(1, ROUNDS_IN_SPAN) && self.numbers.reaches(number)
    }

    fn is_within(&self, now: Instant, span: Duration) -> bool {
        match self.at.after(span) {
            Some(until) => now < until,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_millis(8);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn number_is_recent_for_its_span() {
        let mut recent = Recent::default();
        recent.note(at(0), 5, SPAN);
        recent.note(at(3), 6, SPAN);
        assert!(recent.contains(at(7), 5, SPAN) && !recent.contains(at(8), 5, SPAN));
        assert!(recent.contains(at(10), 6, SPAN) && !recent.contains(at(11), 6, SPAN));
        assert!(!recent.contains(at(4), 7, SPAN));
        assert_eq!(recent.until(at(4), SPAN), Some(at(8)));
        assert_eq!(recent.until(at(9), SPAN), Some(at(11)));
        assert_eq!(recent.until(at(11), SPAN), None);
    }

    #[test]
    fn forgotten_numbers_take_no_room() {
        let mut recent = Recent::default();
        for number in 0..100_000 {
            assert!(!recent.contains(at(0), number, SPAN), "{number} was not noted yet");
            recent.note(at(0), number, SPAN);
            recent.forget_below(number - 300);
        }
        assert!(recent.contains(at(7), 99_999, SPAN) && recent.contains(at(7), 99_700, SPAN));
    }

    #[test]
    fn jumping_numbers_count_as_recent() {
        let mut recent = Recent::default();
        for round in 0..100 {
            for number in [1, 1 << 40, 1 << 20] {
                if !recent.contains(at(0), number + round, SPAN) {
                    recent.note(at(0), number + round, SPAN);
                }
            }
        }
        assert_eq!(recent.0.len(), ROUNDS_MAX);
        assert!(recent.contains(at(7), 1 << 50, SPAN) && !recent.contains(at(8), 1 << 50, SPAN));
    }
}
