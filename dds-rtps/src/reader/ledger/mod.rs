//! The ledger of losses: it explains each sequence number of each writer.
//!
//! Two equations hold for every writer, at every moment:
//!
//! - `last - first + 1` numbers = received + not received ([`NotReceived`], by cause) + awaited;
//! - received = delivered + waiting for an earlier change + not delivered ([`Undelivered`], by reason).
//!
//! A sample that arrives in order costs nothing here. All numbers between the first and the next one count as received,
//! except those that [`WriterTally`](tally::WriterTally) noted as missing. Only missing and dropped changes are
//! counted.
//!
//! Life cycle: a row per writer from the match on. The last [`DEPARTED_MAX`] unmatched writers keep their rows, the
//! rows of earlier ones are added up, so the total stays complete. Bound: the matched writers and [`DEPARTED_MAX`].

pub(crate) mod tally;

use crate::history::{RejectReason, RemovalCounts};
use crate::types::{Guid, SequenceNumber};
use tally::{WriterPosition, WriterTally};

/// Most unmatched writers that keep a row of their own.
pub const DEPARTED_MAX: usize = 16;

/// Sequence numbers of which no complete change arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct NotReceived {
    /// Best effort: later changes arrived and these did not. Reliable: the writer no longer has them.
    pub never_came: u64,
    /// Replaced by a reliable writer before they arrived (HISTORY KEEP_LAST). They do not count as lost.
    pub replaced: u64,
    /// Some fragments did not arrive in time, or other samples needed the memory.
    pub fragments: u64,
    /// Announced by GAP as irrelevant: replaced or expired before they were sent, or written before the match.
    pub irrelevant: u64,
    /// Rejected by this reader's content filter, which the writer evaluated and reported by GAP.
    ///
    /// If the writer reported that out of order, they count as irrelevant.
    pub filtered: u64,
}

/// Received changes that the application does not get, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Undelivered {
    /// Replaced by newer changes of their instance (HISTORY KEEP_LAST) before the application read them.
    pub overwritten_unread: u64,
    /// Replaced after the application read them and before it took them.
    pub overwritten_read: u64,
    /// Rejected by the reader's content filter.
    pub filtered: u64,
    /// Too soon after another change of their instance (TIME_BASED_FILTER).
    pub too_soon: u64,
    /// Expired on arrival, or before they were taken (LIFESPAN).
    pub expired: u64,
    /// No space: RESOURCE_LIMITS max_samples.
    pub rejected_samples: u64,
    /// No space: RESOURCE_LIMITS max_instances.
    pub rejected_instances: u64,
    /// No space: RESOURCE_LIMITS max_samples_per_instance.
    pub rejected_samples_per_instance: u64,
    /// Removed before they were taken, some time after their instance had ended (READER_DATA_LIFECYCLE).
    pub purged: u64,
    /// Another writer owned their instance (OWNERSHIP EXCLUSIVE).
    pub not_owner: u64,
    /// Older than samples of their instance that the application has seen (DESTINATION_ORDER BY_SOURCE_TIMESTAMP).
    pub superseded: u64,
    /// Received before: from their own writer, or from a service that replays its samples (DURABILITY).
    pub known: u64,
    /// The payload does not match the type, or is larger than accepted.
    pub not_decodable: u64,
    /// They waited for a missing change when their writer left.
    pub stranded: u64,
    /// Their coherent set was incomplete, or did not fit as a whole (PRESENTATION).
    pub incoherent: u64,
    /// Best effort: the reader was busy and its bounded inbox was full. They count as lost.
    pub inbox_overflow: u64,
}

/// Row of one writer, or the sum of several rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct WriterLosses {
    /// The writer; `None`: the row is a sum.
    pub writer: Option<Guid>,
    /// First sequence number that counts. In a sum: 0.
    pub first: SequenceNumber,
    /// Last known sequence number; `first - 1`: none is known. In a sum: 0.
    pub last: SequenceNumber,
    /// Known sequence numbers: from `first` to `last`, and those before a restart of the writer at another number.
    ///
    /// A jump of more than a million (2^20) numbers counts as 2^20. Numbers announced further ahead than that do not
    /// count yet. So one number in a damaged or forged datagram does not spoil the ledger.
    pub known: u64,
    /// Known numbers that arrived.
    pub received: u64,
    /// Known numbers that will not arrive.
    pub not_received: NotReceived,
    /// Known numbers that are missing and still expected.
    pub awaited: u64,
    /// Received changes that wait: for an earlier one, for space, or for the end of their coherent set.
    pub waiting: u64,
    /// Received changes that the application does not get.
    pub undelivered: Undelivered,
}

/// Ledger of losses of a reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Losses {
    /// Rows of the matched writers.
    pub writers: Vec<WriterLosses>,
    /// Rows of the last unmatched writers, at most [`DEPARTED_MAX`], the most recent one last.
    pub departed: Vec<WriterLosses>,
    /// Sum of the rows of writers unmatched earlier, and of samples removed after their writer was unmatched.
    pub departed_before: WriterLosses,
    /// Announcements that failed the plausibility check; see
    /// [`ReaderCounters::doubtful`](super::ReaderCounters::doubtful).
    pub doubtful: u64,
}

impl NotReceived {
    /// Sum of all causes.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.lost().saturating_add(self.replaced).saturating_add(self.irrelevant).saturating_add(self.filtered)
    }

    const fn lost(&self) -> u64 {
        self.never_came.saturating_add(self.fragments)
    }

    fn since(mut self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub);
        self
    }

    fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    fn combine(&mut self, other: &Self, operation: fn(u64, u64) -> u64) {
        for (own, other) in [
            (&mut self.never_came, other.never_came),
            (&mut self.replaced, other.replaced),
            (&mut self.fragments, other.fragments),
            (&mut self.irrelevant, other.irrelevant),
            (&mut self.filtered, other.filtered),
        ] {
            *own = operation(*own, other);
        }
    }
}

impl Undelivered {
    /// Each reason, as a count and a short description.
    #[must_use]
    pub const fn reasons(&self) -> [(u64, &'static str); 16] {
        [
            (
                self.overwritten_unread,
                "replaced by newer ones before they were read (raise HISTORY depth, or read faster)",
            ),
            (self.overwritten_read, "replaced by newer ones after they were read"),
            (self.filtered, "rejected by the content filter"),
            (self.too_soon, "too soon after the previous one (TIME_BASED_FILTER)"),
            (self.expired, "expired (LIFESPAN)"),
            (self.purged, "not taken before their ended instance was purged (READER_DATA_LIFECYCLE)"),
            (self.rejected_samples, "without space (RESOURCE_LIMITS max_samples)"),
            (self.rejected_instances, "without space (RESOURCE_LIMITS max_instances)"),
            (self.rejected_samples_per_instance, "without space (RESOURCE_LIMITS max_samples_per_instance)"),
            (self.not_owner, "of a writer that does not own the instance (OWNERSHIP)"),
            (self.superseded, "older than a sample already read (DESTINATION_ORDER)"),
            (self.known, "received before from another writer (DURABILITY)"),
            (self.not_decodable, "not decodable as the reader's type"),
            (self.stranded, "waiting for missing ones when their writer left"),
            (self.incoherent, "of incomplete coherent sets (PRESENTATION)"),
            (self.inbox_overflow, "while the reader was busy for too long (take smaller batches)"),
        ]
    }

    /// Sum of all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        let mut total = 0_u64;
        for (count, _) in self.reasons() {
            total = total.saturating_add(count);
        }
        total
    }

    /// Counts one change that did not fit.
    pub(crate) fn reject(&mut self, reason: RejectReason) {
        *match reason {
            RejectReason::Samples => &mut self.rejected_samples,
            RejectReason::Instances => &mut self.rejected_instances,
            RejectReason::SamplesPerInstance => &mut self.rejected_samples_per_instance,
        } += 1;
    }

    /// Adds the samples of a writer that the history removed.
    pub(crate) fn add_removed(&mut self, removed: &RemovalCounts) {
        self.overwritten_unread += removed.overwritten_unread;
        self.overwritten_read += removed.overwritten_read;
        self.expired += removed.expired;
        self.too_soon += removed.too_soon;
        self.purged += removed.purged;
        self.not_owner += removed.not_owner;
        self.superseded += removed.superseded;
        // The history rejects a sample by itself only if the delivery of a pending one finds no space.
        self.rejected_samples += removed.rejected;
    }

    fn since(mut self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub);
        self
    }

    fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    fn combine(&mut self, other: &Self, operation: fn(u64, u64) -> u64) {
        for (own, other) in [
            (&mut self.overwritten_unread, other.overwritten_unread),
            (&mut self.overwritten_read, other.overwritten_read),
            (&mut self.filtered, other.filtered),
            (&mut self.too_soon, other.too_soon),
            (&mut self.expired, other.expired),
            (&mut self.purged, other.purged),
            (&mut self.rejected_samples, other.rejected_samples),
            (&mut self.rejected_instances, other.rejected_instances),
            (&mut self.rejected_samples_per_instance, other.rejected_samples_per_instance),
            (&mut self.not_owner, other.not_owner),
            (&mut self.superseded, other.superseded),
            (&mut self.known, other.known),
            (&mut self.not_decodable, other.not_decodable),
            (&mut self.stranded, other.stranded),
            (&mut self.incoherent, other.incoherent),
            (&mut self.inbox_overflow, other.inbox_overflow),
        ] {
            *own = operation(*own, other);
        }
    }
}

impl WriterLosses {
    /// Received changes that lie in the history or were taken.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.received.saturating_sub(self.waiting).saturating_sub(self.undelivered.total())
    }

    /// Missing sequence numbers that the reader was entitled to. Samples that their writer replaced are not lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.not_received.lost()
    }

    /// Row of a matched writer. `waiting_in_set` changes wait for the end of their coherent set.
    pub(crate) fn new(
        writer: Guid,
        position: WriterPosition,
        tally: &WriterTally,
        waiting_in_set: u64,
        removed: &RemovalCounts,
    ) -> Self {
        let mut not_received = tally.not_received;
        // All numbers below the position count as received unless they were noted as missing.
        let below = tally.known_before.saturating_add(distance(position.first, position.next));
        let received = below.saturating_sub(not_received.total()).saturating_add(position.received_ahead);
        not_received.irrelevant = not_received.irrelevant.saturating_add(position.irrelevant_ahead);
        // Before the first change the range is empty: `last` is `first - 1`.
        let last = position.last.max(position.first.previous());
        let known = tally.known_before.saturating_add(distance(position.first, last.next()));
        let mut undelivered = tally.undelivered;
        undelivered.add_removed(removed);
        Self {
            writer: Some(writer),
            first: position.first,
            last,
            known,
            received,
            not_received,
            awaited: known.saturating_sub(received).saturating_sub(not_received.total()),
            waiting: position.waiting.saturating_add(waiting_in_set),
            undelivered,
        }
    }

    /// Ends the row of an unmatched writer. `is_entitled`: its missing changes are losses; otherwise they are history.
    pub(crate) fn close(&mut self, is_entitled: bool) {
        // A reader that was not entitled to them has lost nothing.
        let missing = if is_entitled { &mut self.not_received.never_came } else { &mut self.not_received.irrelevant };
        *missing = missing.saturating_add(self.awaited);
        self.undelivered.stranded = self.undelivered.stranded.saturating_add(self.waiting);
        (self.awaited, self.waiting) = (0, 0);
    }

    /// Difference between this row and an earlier one, count by count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        // The interval begins after the last number of the earlier row.
        let first = if self.known > earlier.known { earlier.last.next().max(self.first) } else { self.first };
        Self {
            writer: self.writer,
            first: if self.writer.is_some() { first } else { self.first },
            last: self.last,
            known: self.known.saturating_sub(earlier.known),
            received: self.received.saturating_sub(earlier.received),
            not_received: self.not_received.since(&earlier.not_received),
            awaited: self.awaited.saturating_sub(earlier.awaited),
            waiting: self.waiting.saturating_sub(earlier.waiting),
            undelivered: self.undelivered.since(&earlier.undelivered),
        }
    }

    /// Adds another row. The result is a sum.
    pub fn add(&mut self, other: &Self) {
        // A sum has no writer and no range of numbers.
        *self = Self { writer: None, first: SequenceNumber::ZERO, last: SequenceNumber::ZERO, ..*self };
        for (own, other) in [
            (&mut self.known, other.known),
            (&mut self.received, other.received),
            (&mut self.awaited, other.awaited),
            (&mut self.waiting, other.waiting),
        ] {
            *own = own.saturating_add(other);
        }
        self.not_received.add(&other.not_received);
        self.undelivered.add(&other.undelivered);
    }
}

impl Losses {
    /// Sum of all rows, those of unmatched writers included.
    #[must_use]
    pub fn total(&self) -> WriterLosses {
        let mut total = WriterLosses::default();
        // Writers that have left count as well: a total must not shrink when a writer leaves.
        for row in self.writers.iter().chain(&self.departed) {
            total.add(row);
        }
        total.add(&self.departed_before);
        total
    }
}

/// Count of sequence numbers in `from .. to`.
pub(crate) fn distance(from: SequenceNumber, to: SequenceNumber) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}
