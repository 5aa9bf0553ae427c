//! State of a reader for one best-effort writer: late changes are dropped, missing ones are lost.

use super::denied_jump::{JumpCounts, JumpMonitor, REORDER_NUMBERS};
use super::plausibility::JUMP_MAX;
use super::reliable::NumberCheck;
use crate::reader::ledger::distance;
use crate::reader::ledger::tally::{WriterPosition, WriterTally};
use crate::types::{Instant, SequenceNumber};
use crate::wire::Gap;

/// State for one best-effort writer.
#[derive(Debug)]
pub(crate) struct BestEffortState {
    /// Number after the last delivered one; `None` before the first one.
    next: Option<SequenceNumber>,
    /// First number that counts in the ledger.
    first: SequenceNumber,
    /// Last number, if it was implausible.
    doubted: Option<SequenceNumber>,
    /// Lower numbers deny a jump to a forged number. `None` before the first jump and the first late number.
    jumps: Option<Box<JumpMonitor>>,
}

impl BestEffortState {
    pub(super) fn new() -> Self {
        Self { next: None, first: SequenceNumber::FIRST, doubted: None, jumps: None }
    }

    /// Number after the last delivered one; `None` before the first one.
    pub(super) fn next(&self) -> Option<SequenceNumber> {
        self.next
    }

    pub(super) fn position(&self) -> WriterPosition {
        WriterPosition::in_order(self.first, self.next.unwrap_or(self.first))
    }

    /// Whether a number can be accepted.
    ///
    /// A number is implausible if it is further from the last one than a writer gets between two samples that arrive.
    /// It counts if the following number agrees: then the writer has restarted. Otherwise another host sent it.
    pub(super) fn check_number(&mut self, now: Instant, number: SequenceNumber) -> NumberCheck {
        let Some(next) = self.next else { return NumberCheck::New };
        if number >= next && distance(next, number) <= JUMP_MAX {
            self.doubted = None;
            return NumberCheck::New;
        }
        if number < next {
            // The last jump may have been forged, or the writer has begun again at lower numbers.
            if self.jumps.get_or_insert_default().is_denial(now, number, next) {
                return NumberCheck::New;
            }
            if distance(number, next) <= JUMP_MAX {
                self.doubted = None;
                return NumberCheck::Duplicate;
            }
        }
        // Two numbers in a row from the same place: the writer restarted there.
        let agrees = match self.doubted {
            Some(before) => before <= number && distance(before, number) <= JUMP_MAX,
            None => false,
        };
        self.doubted = Some(number);
        if agrees { NumberCheck::New } else { NumberCheck::Implausible }
    }

    /// Accepts a number. Returns how many numbers before it are lost.
    pub(super) fn accept(&mut self, now: Instant, number: SequenceNumber, tally: &mut WriterTally) -> u64 {
        let lost = match self.next {
            Some(next) if number >= next => self.skip(now, next, number, tally),
            Some(next) => {
                self.doubted = None;
                let jumps = self.jumps.get_or_insert_default();
                let (first, continued) = jumps.retract(number, next, self.first, tally);
                self.first = first;
                self.skip(now, continued, number, tally)
            }
            // A best-effort reader is entitled to no sample before its first one.
            None => {
                self.first = number;
                0
            }
        };
        self.next = Some(number.next());
        lost
    }

    /// Whether a GAP skips no more numbers than one message may. The next sample decides about a longer one.
    pub(super) fn is_plausible(&self, gap: &Gap) -> bool {
        match self.next {
            Some(next) => distance(next, gap.gap_list.base()) <= JUMP_MAX,
            None => true,
        }
    }

    /// Skips the numbers of a GAP that continues the stream: they are irrelevant, not lost.
    pub(super) fn skip_gap(&mut self, now: Instant, gap: &Gap, tally: &mut WriterTally) {
        let Some(next) = self.next else { return };
        debug_assert!(gap.gap_start <= next, "the GAP continues the stream");
        let end = gap.gap_list.base().max(next);
        let skipped = distance(next, end);
        tally.count_irrelevant(skipped);
        self.next = Some(end);
        self.note_jump(now, next, self.first, JumpCounts { skipped, irrelevant: skipped, ..JumpCounts::default() });
    }

    /// Drops incomplete samples and skips all numbers before them. Returns how many numbers are lost.
    ///
    /// If nothing was delivered yet, numbers before the `lowest` sample do not count.
    pub(super) fn drop_incomplete(
        &mut self,
        now: Instant,
        lowest: SequenceNumber,
        highest: SequenceNumber,
        tally: &mut WriterTally,
    ) -> u64 {
        debug_assert!(lowest <= highest, "at least one incomplete sample is dropped");
        if self.next.is_none() {
            self.first = lowest;
        }
        let expected = self.next.replace(highest.next()).unwrap_or(lowest);
        // All of them were delivered or counted before.
        if highest < expected {
            return 0;
        }
        let before = self.skip(now, expected, lowest, tally);
        before + self.skip(now, expected.max(lowest), highest, tally) + 1
    }

    /// Remembers a jump, unless the last one is too short to matter and nothing is remembered.
    fn note_jump(&mut self, now: Instant, from: SequenceNumber, first: SequenceNumber, counted: JumpCounts) {
        if self.jumps.is_some() || counted.skipped > REORDER_NUMBERS {
            self.jumps.get_or_insert_default().note_jump(now, from, first, counted);
        }
    }

    /// The stream continues at `number` instead of `expected`. Returns how many numbers were skipped.
    ///
    /// Of more than [`JUMP_MAX`] numbers only that many count, and the row of the ledger begins after them: they cannot
    /// be told from numbers that never existed.
    fn skip(&mut self, now: Instant, expected: SequenceNumber, number: SequenceNumber, tally: &mut WriterTally) -> u64 {
        let skipped = distance(expected, number);
        if skipped == 0 {
            return 0;
        }
        let (first, mut known_before) = (self.first, 0);
        if skipped > JUMP_MAX {
            known_before = distance(first, expected) + JUMP_MAX;
            tally.restart(known_before);
            self.first = number;
        }
        let lost = skipped.min(JUMP_MAX);
        self.note_jump(now, expected, first, JumpCounts { skipped, lost, irrelevant: 0, known_before });
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_number_counts_when_the_next_agrees() {
        let (mut state, mut tally) = (BestEffortState::new(), WriterTally::default());
        assert_eq!(state.accept(Instant::ZERO, SequenceNumber(5), &mut tally), 0);
        assert_eq!(state.check_number(Instant::ZERO, SequenceNumber(5)), NumberCheck::Duplicate);
        assert_eq!(state.check_number(Instant::ZERO, SequenceNumber(1 << 40)), NumberCheck::Implausible);
        assert_eq!(state.check_number(Instant::ZERO, SequenceNumber(6)), NumberCheck::New);
        assert_eq!(state.check_number(Instant::ZERO, SequenceNumber(1 << 40)), NumberCheck::Implausible);
        assert_eq!(state.check_number(Instant::ZERO, SequenceNumber((1 << 40) + 1)), NumberCheck::New);
    }

    #[test]
    fn skipped_numbers_are_lost_up_to_the_limit() {
        let (mut state, mut tally) = (BestEffortState::new(), WriterTally::default());
        state.accept(Instant::ZERO, SequenceNumber(1), &mut tally);
        assert_eq!(state.accept(Instant::ZERO, SequenceNumber(4), &mut tally), 2);
        assert_eq!(state.accept(Instant::ZERO, SequenceNumber(1 << 40), &mut tally), JUMP_MAX);
        assert_eq!((tally.known_before, state.position().first), (4 + JUMP_MAX, SequenceNumber(1 << 40)));
    }
}
