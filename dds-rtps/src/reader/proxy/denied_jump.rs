//! Denied jumps: a best-effort reader that followed a forged or damaged number returns to the writer.
//!
//! A number far ahead moves the reader at once, because a best-effort reader cannot ask. If it was forged, the next
//! numbers of the writer lie before it. They deny the jump if they cannot merely be late:
//!
//! - Each of them is one that the jump skipped, so that no sample arrives twice.
//! - No number after the jump comes with them.
//! - [`DENIAL_RUN`] of them ascend for [`REORDER_TIME`], or one comes [`LATE_MAX`] after the jump.
//! - The jump is longer than [`REORDER_NUMBERS`]: shorter ones cost no more samples than that.
//!
//! A writer that starts again with the same GUID continues nothing. Its numbers count after [`RESTART_TIME`].

use crate::reader::ledger::distance;
use crate::reader::ledger::tally::WriterTally;
use crate::types::{Duration, Instant, SequenceNumber};

/// A jump over fewer numbers is never denied: the network may have reordered them, and the writer soon passes them.
pub(super) const REORDER_NUMBERS: u64 = 16;

/// How much later than its successor a datagram may arrive without being a denial, as on two paths.
const REORDER_TIME: Duration = Duration::from_millis(200);

/// This many ascending numbers deny a jump.
const DENIAL_RUN: u32 = 3;

/// No datagram arrives this much later than its successor.
const LATE_MAX: Duration = Duration::from_secs(10);

/// This many numbers after the jump confirm it.
const CONFIRMING_NUMBERS: u64 = 64;

/// How long a run of lower numbers must last to show a restart. A second, slower path ends sooner.
const RESTART_TIME: Duration = Duration::from_secs(2);

/// This many consecutive numbers show a restart.
const RESTART_RUN: u32 = 8;

/// The last jump, and its effect on the ledger.
#[derive(Debug, Clone, Copy)]
struct Jump {
    from: SequenceNumber,
    /// End of the first jump: all numbers up to it were skipped.
    first_to: SequenceNumber,
    /// End of the last jump. Few numbers followed it.
    to: SequenceNumber,
    at: Instant,
    /// First number of the ledger's row before.
    first: SequenceNumber,
    /// Its effect on the ledger, with that of later jumps.
    counted: JumpCounts,
}

/// Numbers of a jump, and its effect on the ledger.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JumpCounts {
    pub(super) skipped: u64,
    pub(super) lost: u64,
    pub(super) irrelevant: u64,
    /// Numbers that left the row, because the writer seemed to continue elsewhere.
    pub(super) known_before: u64,
}

impl JumpCounts {
    fn add(&mut self, other: Self) {
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.lost = self.lost.saturating_add(other.lost);
        self.irrelevant = self.irrelevant.saturating_add(other.irrelevant);
        self.known_before = self.known_before.saturating_add(other.known_before);
    }
}

/// Ascending numbers before the reader's next one.
#[derive(Debug, Clone, Copy)]
struct LowerRun {
    since: Instant,
    last: SequenceNumber,
    /// Numbers in the run, and how many of them follow each other directly.
    count: u32,
    consecutive: u32,
    /// The reader's next number. The run ends when it moves.
    next: SequenceNumber,
}

impl LowerRun {
    fn starting_with(number: SequenceNumber, next: SequenceNumber, now: Instant) -> Self {
        Self { since: now, last: number, count: 1, consecutive: 1, next }
    }

    fn add(&mut self, number: SequenceNumber) {
        if number > self.last {
            self.consecutive = if number == self.last.next() { self.consecutive.saturating_add(1) } else { 1 };
            self.count = self.count.saturating_add(1);
            self.last = number;
        }
    }
}

/// The last jump of a reader, and the lower numbers after it.
#[derive(Debug, Default)]
pub(super) struct JumpMonitor {
    jump: Option<Jump>,
    run: Option<LowerRun>,
}

impl JumpMonitor {
    /// The reader moved from `from` over `counted.skipped` numbers. `first`: first number of the ledger's row before.
    #[cold]
    pub(super) fn note_jump(&mut self, now: Instant, from: SequenceNumber, first: SequenceNumber, counted: JumpCounts) {
        let is_long = counted.skipped > REORDER_NUMBERS;
        let to = from.plus(i64::try_from(counted.skipped).unwrap_or(i64::MAX));
        match self.unconfirmed(from) {
            Some(jump) => {
                jump.counted.add(counted);
                if is_long {
                    (jump.to, jump.at) = (to, now);
                }
            }
            None if is_long => self.jump = Some(Jump { from, first_to: to, to, at: now, first, counted }),
            None => {}
        }
    }

    /// The last jump, if few numbers followed it until `next`.
    fn unconfirmed(&mut self, next: SequenceNumber) -> Option<&mut Jump> {
        // Enough numbers behind the jump show that the writer is there.
        match self.jump {
            Some(jump) if distance(jump.to, next) > CONFIRMING_NUMBERS => self.jump = None,
            _ => {}
        }
        self.jump.as_mut()
    }

    /// Whether a number before `next` shows that the writer is there.
    #[cold]
    pub(super) fn is_denial(&mut self, now: Instant, number: SequenceNumber, next: SequenceNumber) -> bool {
        debug_assert!(number < next, "the caller checks it");
        let run = match &mut self.run {
            // An older number ends the run, so that a forged one near the end does not hide the writer.
            Some(run) if run.next == next && number >= run.last => {
                run.add(number);
                *run
            }
            run => *run.insert(LowerRun::starting_with(number, next, now)),
        };
        let age = now.since(run.since);
        if run.consecutive >= RESTART_RUN && age >= RESTART_TIME {
            return true;
        }
        let Some(jump) = self.unconfirmed(next) else { return false };
        if number < jump.from || number >= jump.first_to {
            return false;
        }
        now.since(jump.at) >= LATE_MAX || run.count >= DENIAL_RUN && age >= REORDER_TIME
    }

    /// The reader returns from `next` to `number`. Corrects the ledger.
    ///
    /// Returns the first number of its row, and where the stream continues.
    #[cold]
    pub(super) fn retract(
        &mut self,
        number: SequenceNumber,
        next: SequenceNumber,
        first: SequenceNumber,
        tally: &mut WriterTally,
    ) -> (SequenceNumber, SequenceNumber) {
        self.run = None;
        match self.jump.take() {
            Some(jump) if jump.from <= number => {
                tally.retract(jump.counted.lost, jump.counted.irrelevant, jump.counted.known_before);
                // The other numbers arrived, and stay in the count of known ones.
                tally.restart(distance(jump.from, next).saturating_sub(jump.counted.skipped));
                (jump.first, jump.from)
            }
            _ => {
                // The writer has restarted: the row of the ledger begins here.
                tally.restart(distance(first, next));
                (number, number)
            }
        }
    }
}
