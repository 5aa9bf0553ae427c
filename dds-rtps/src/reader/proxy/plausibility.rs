//! Plausibility check: limits the harm of forged sequence numbers.
//!
//! A GAP or HEARTBEAT makes a reader skip numbers, and any host can send one in a writer's name. Without DDS Security a
//! reader cannot tell them apart, but a writer that is alive has the last word:
//!
//! - An announcement more than [`JUMP_MAX`] numbers away counts only if the writer, which is asked, does not contradict
//!   it for a second.
//! - Nearer numbers are skipped at once. They are expected again if the writer denies for half a second that it has
//!   come so far.
//!
//! Two attacks remain: the writer lets go of samples that a misled reader seemed to acknowledge, and the reader
//! believes complete samples in the writer's name.

use crate::reader::ledger::distance;
use crate::types::{Duration, Instant, SequenceNumber};

/// How far a writer may advance between two of its messages to be believed at once.
///
/// A million samples: no writer sends more in the tenth of a second between two of its HEARTBEATs.
pub(crate) const JUMP_MAX: u64 = 1 << 20;

/// How long an implausible announcement must stand. A writer that is alive and elsewhere answers sooner, as it is
/// asked.
const IMPLAUSIBLE_FOR: Duration = Duration::from_secs(1);

/// How long HEARTBEATs must deny skipped numbers. Several may be overtaken on their way, but hardly all of this time.
///
/// A forged message silences a reader for little longer.
const DENIED_FOR: Duration = Duration::from_millis(500);

/// Numbers `from .. to` that the reader skipped on an announcement, without a sample after them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkippedRange {
    pub(super) from: SequenceNumber,
    pub(super) to: SequenceNumber,
    /// First number of the ledger's row before.
    pub(super) first: SequenceNumber,
    pub(super) lost: u64,
    pub(super) irrelevant: u64,
    /// Numbers that left the row of the ledger, because the writer seemed to continue elsewhere.
    pub(super) known_before: u64,
}

impl SkippedRange {
    /// No numbers yet, starting at `from`.
    pub(super) const fn starting_at(from: SequenceNumber, first: SequenceNumber) -> Self {
        Self { from, to: from, first, lost: 0, irrelevant: 0, known_before: 0 }
    }
}

/// Position of the reader, as [`Plausibility::check_denial`] needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReaderPosition {
    /// First undelivered number.
    pub(super) next: SequenceNumber,
    /// Whether no later number is known.
    pub(super) window_is_empty: bool,
    /// Last announced number.
    pub(super) announced: SequenceNumber,
    /// Whether the history had no space for the first undelivered change.
    pub(super) is_refused: bool,
}

/// Result of comparing a HEARTBEAT with earlier announcements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Denial {
    /// The HEARTBEAT does not contradict them.
    None,
    /// It does. The reader requests a HEARTBEAT at this instant.
    RequestHeartbeatAt(Option<Instant>),
    /// The writer never announced the range: the reader expects it again.
    Retract(SkippedRange),
    /// The writer never wrote numbers near the announced ones.
    Forget {
        /// The reader began with a forged sample: it must begin again where the writer is.
        is_astray: bool,
    },
}

/// Which announcements of one writer the reader accepts.
#[derive(Debug, Default)]
pub(super) struct Plausibility {
    /// Since when an implausible announcement awaits its confirmation.
    implausible_since: Option<Instant>,
    /// Since when the writer denies the last skipped range.
    denied_since: Option<Instant>,
    /// A sample decided where the stream begins, and no HEARTBEAT has confirmed that the writer came so far.
    start_is_unconfirmed: bool,
    /// The last numbers before the window that were skipped on an announcement alone.
    skipped: Option<SkippedRange>,
    /// Below this number that many losses were reported and retracted. They are not reported again.
    reported: (SequenceNumber, u64),
}

impl Plausibility {
    /// A sample decided where the stream begins.
    pub(super) fn start_with_sample(&mut self) {
        self.start_is_unconfirmed = true;
    }

    /// A HEARTBEAT decided that the stream begins at `first`. The writer may still deny that.
    pub(super) fn start_with_heartbeat(&mut self, first: SequenceNumber) {
        let range = SkippedRange::starting_at(SequenceNumber::FIRST, SequenceNumber::FIRST);
        self.skipped = Some(SkippedRange { to: first, ..range });
    }

    /// The reader moved back over the skipped numbers.
    pub(super) fn forget_skipped(&mut self) {
        self.skipped = None;
    }

    /// Whether the writer may have written `last`, when `known_end` is the last known number.
    ///
    /// On `false` the caller requests a HEARTBEAT.
    pub(super) fn is_plausible(&mut self, now: Instant, known_end: SequenceNumber, last: SequenceNumber) -> bool {
        if distance(known_end, last) <= JUMP_MAX {
            // A number near the known end confirms the position: an earlier implausible one was forged.
            self.implausible_since = None;
            return true;
        }
        let since = *self.implausible_since.get_or_insert(now);
        if now.since(since) >= IMPLAUSIBLE_FOR {
            self.implausible_since = None;
            return true;
        }
        false
    }

    /// Accepts the position of the first message of a writer: there is nothing to compare it with.
    pub(super) fn clear_implausible(&mut self) {
        self.implausible_since = None;
    }

    /// Compares the last number of a HEARTBEAT with the position of the reader.
    ///
    /// If HEARTBEATs contradict the position for half a second, the reader returns to its earlier position.
    pub(super) fn check_denial(&mut self, now: Instant, last: SequenceNumber, reader: ReaderPosition) -> Denial {
        // A HEARTBEAT at or beyond the position confirms it for good.
        self.start_is_unconfirmed &= last.next() < reader.next;
        // A skipped range can be retracted until a later change arrives.
        let denied = match self.skipped {
            Some(skipped) if skipped.to == reader.next && reader.window_is_empty && last.next() < reader.next => {
                Some(skipped)
            }
            _ => None,
        };
        let is_astray = self.start_is_unconfirmed && reader.window_is_empty && is_far(last, reader.next);
        if denied.is_none() && !is_astray && !is_far(last, reader.announced) {
            // A contradicting HEARTBEAT before was merely overtaken on its way.
            self.denied_since = None;
            return Denial::None;
        }
        // A change waits for space: the position cannot move back before it is delivered.
        if reader.is_refused {
            return Denial::None;
        }
        let Some(since) = self.denied_since else {
            self.denied_since = Some(now);
            return Denial::RequestHeartbeatAt(Some(now));
        };
        if now.since(since) < DENIED_FOR {
            return Denial::RequestHeartbeatAt(since.after(DENIED_FOR));
        }
        self.denied_since = None;
        match denied {
            Some(skipped) => {
                self.skipped = None;
                self.reported = (skipped.to, skipped.lost);
                Denial::Retract(skipped)
            }
            None => Denial::Forget { is_astray },
        }
    }

    /// Whether the last HEARTBEAT denied an announcement, and later ones have to confirm that.
    pub(super) fn is_denied(&self) -> bool {
        self.denied_since.is_some()
    }

    /// Remembers a skipped range. Returns how many of its losses the application does not know yet.
    pub(super) fn note_skipped(&mut self, skipped: SkippedRange) -> u64 {
        debug_assert!(skipped.from < skipped.to, "a skipped range has numbers");
        let (below, count) = self.reported;
        // Losses that were reported before their range was retracted must not be reported twice.
        let reported = if skipped.from < below { count.min(skipped.lost) } else { 0 };
        self.reported.1 -= reported;
        self.skipped = Some(match self.skipped {
            Some(before) if before.to == skipped.from => SkippedRange {
                to: skipped.to,
                lost: before.lost.saturating_add(skipped.lost),
                irrelevant: before.irrelevant.saturating_add(skipped.irrelevant),
                known_before: before.known_before.saturating_add(skipped.known_before),
                ..before
            },
            _ => skipped,
        });
        skipped.lost - reported
    }
}

/// Whether a writer whose last number is `last` has never been at `number`.
fn is_far(last: SequenceNumber, number: SequenceNumber) -> bool {
    distance(last.next(), number) > JUMP_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: SequenceNumber = SequenceNumber(1 << 40);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn far_announcement_counts_after_a_second_without_denial() {
        let mut check = Plausibility::default();
        assert!(check.is_plausible(at(0), SequenceNumber(5), SequenceNumber(100)));
        assert!(!check.is_plausible(at(0), SequenceNumber(5), FAR));
        assert!(!check.is_plausible(at(900), SequenceNumber(5), FAR));
        assert!(check.is_plausible(at(1000), SequenceNumber(5), FAR));
        // A plausible announcement in between starts the second again.
        assert!(!check.is_plausible(at(1100), SequenceNumber(5), FAR));
        assert!(check.is_plausible(at(1200), SequenceNumber(5), SequenceNumber(6)));
        assert!(!check.is_plausible(at(2200), SequenceNumber(5), FAR));
    }

    #[test]
    fn skipped_range_is_retracted_after_half_a_second_of_denial() {
        let mut check = Plausibility::default();
        let (next, last) = (SequenceNumber(10), SequenceNumber(4));
        let range = SkippedRange::starting_at(SequenceNumber(5), SequenceNumber::FIRST);
        assert_eq!(check.note_skipped(SkippedRange { to: next, lost: 5, ..range }), 5);
        let reader = ReaderPosition { next, window_is_empty: true, announced: last, is_refused: false };
        assert!(matches!(check.check_denial(at(0), last, reader), Denial::RequestHeartbeatAt(_)));
        assert!(matches!(check.check_denial(at(499), last, reader), Denial::RequestHeartbeatAt(_)));
        let Denial::Retract(retracted) = check.check_denial(at(500), last, reader) else { panic!("not retracted") };
        assert_eq!((retracted.from, retracted.to, retracted.lost), (SequenceNumber(5), next, 5));
        // The same losses are reported once.
        assert_eq!(check.note_skipped(SkippedRange { to: next, lost: 7, ..range }), 2);
    }
}
