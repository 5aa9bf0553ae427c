//! Which numbers were spoken of a moment ago, so that nobody asks for them, or sends them, twice in that time.
//!
//! Bound: [`ROUNDS_MAX`] windows of 256 numbers. Where numbers jump to and fro faster than these can follow, further ones
//! count as spoken of until the oldest window has passed: that is no loss, only a wait.

use super::window::Window;
use crate::types::{Duration, Instant};
use std::collections::VecDeque;

const ROUNDS_MAX: usize = 8;

/// So many rounds share the time for which a number counts as recent.
const ROUNDS_IN_SPAN: u32 = 4;

/// Numbers, and when each of them was noted last, to a quarter of the time for which that matters.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<Round>);

/// What was noted within a short time.
#[derive(Debug)]
struct Round {
    numbers: Window,
    began: Instant,
    at: Instant,
}

impl Recent {
    /// Notes a number, which [`Recent::contains`] for `span` from now on.
    pub(crate) fn note(&mut self, now: Instant, number: i64, span: Duration) {
        if let Some(last) = self.0.back_mut().filter(|last| last.takes(now, number, span)) {
            last.numbers.insert(number);
            last.at = now;
            return;
        }
        self.0.retain(|round| round.is_within(now, span));
        if self.0.len() < ROUNDS_MAX {
            let mut numbers = Window::new(number);
            numbers.insert(number);
            self.0.push_back(Round { numbers, began: now, at: now });
        }
    }

    /// Whether a number was noted less than `span` ago, or cannot be noted now.
    pub(crate) fn contains(&self, now: Instant, number: i64, span: Duration) -> bool {
        let rounds = self.0.iter().filter(|round| round.is_within(now, span));
        let (mut count, mut any) = (0, false);
        for round in rounds {
            count += 1;
            any |= round.numbers.contains(number);
        }
        any || (count >= ROUNDS_MAX && !self.0.back().is_some_and(|last| last.takes(now, number, span)))
    }

    /// When a number was noted, if that was once.
    pub(crate) fn noted_at(&self, number: i64) -> Option<Instant> {
        let mut rounds = self.0.iter().filter(|round| round.numbers.contains(number));
        rounds.next().filter(|_| rounds.next().is_none()).map(|round| round.at)
    }

    /// When the first of the numbers is not recent any more.
    pub(crate) fn until(&self, now: Instant, span: Duration) -> Option<Instant> {
        self.0.iter().filter(|round| round.is_within(now, span)).filter_map(|round| round.at.after(span)).min()
    }
}

impl Round {
    fn takes(&self, now: Instant, number: i64, span: Duration) -> bool {
        now.since(self.began) < span.scale(1, ROUNDS_IN_SPAN) && self.numbers.reaches(number)
    }

    fn is_within(&self, now: Instant, span: Duration) -> bool {
        self.at.after(span).is_none_or(|until| now < until)
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
