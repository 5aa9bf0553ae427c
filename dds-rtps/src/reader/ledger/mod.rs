//! The loss ledger: what became of each number of each writer.
//!
//! Two columns that add up for every writer, at every moment:
//!
//! - `last - first + 1` numbers = received + not received ([`NotReceived`], by cause) + awaited;
//! - received = delivered + waiting for an earlier one + not delivered ([`Undelivered`], by reason).
//!
//! A sample that arrives in order costs nothing here: what was received is what lies between the first number and the next
//! one and was not noted as missing. Only what is missing, and what is dropped, is counted.
//!
//! Life cycle: a row per writer from the match on. Rows of writers that have gone are kept, the last
//! [`DEPARTED_MAX`] of them one by one, the others as a sum, so that nothing is lost from the total. Bound: the matched
//! writers and that.

pub(crate) mod tally;

use crate::history::{RejectReason, RemovalCounts};
use crate::reader::ledger::tally::Tally;
use crate::reader::proxy::WriterProxy;
use crate::reader::stateful::StatefulReader;
use crate::types::{Guid, SequenceNumber};
use std::collections::VecDeque;

/// How many writers that have gone keep a row of their own.
pub const DEPARTED_MAX: usize = 16;

/// Numbers that never arrived, or not as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct NotReceived {
    /// Later ones came and these did not (best effort), or the writer has them no more (reliable).
    pub never_came: u64,
    /// Not all of their fragments came in time, or others needed the room.
    pub fragments: u64,
    /// Their writer has said that they are not for this reader (GAP): replaced or expired before they were sent, or written
    /// before the match.
    pub irrelevant: u64,
    /// Their writer has asked this reader's content filter, which does not let them pass, and has said so. Where it said so out of
    /// turn they are among the irrelevant ones.
    pub filtered: u64,
}

/// Changes that arrived and that the application does not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Undelivered {
    /// Replaced by newer ones of their instance (HISTORY KEEP_LAST) before anybody had looked at them.
    pub overwritten_unread: u64,
    /// Replaced after they had been read, before they were taken.
    pub overwritten_read: u64,
    /// Not wanted by the reader's content filter.
    pub filtered: u64,
    /// Too soon after another one of their instance (TIME_BASED_FILTER).
    pub too_soon: u64,
    /// Their lifespan was over, on arrival or before they were taken.
    pub expired: u64,
    /// No room: RESOURCE_LIMITS max_samples.
    pub rejected_samples: u64,
    /// No room: RESOURCE_LIMITS max_instances.
    pub rejected_instances: u64,
    /// No room: RESOURCE_LIMITS max_samples_per_instance.
    pub rejected_samples_per_instance: u64,
    /// Removed before they were taken, because their instance had ended long enough ago (READER_DATA_LIFECYCLE).
    pub purged: u64,
    /// Another writer owned their instance (OWNERSHIP EXCLUSIVE).
    pub not_owner: u64,
    /// Older than what the application had seen of their instance (DESTINATION_ORDER BY_SOURCE_TIMESTAMP).
    pub superseded: u64,
    /// They were here before: from their own writer, or from another service that stands in for it (DURABILITY).
    pub known: u64,
    /// Their payload does not fit the type, or is larger than accepted.
    pub not_decodable: u64,
    /// They waited for an earlier one when their writer went.
    pub stranded: u64,
    /// Something of their coherent set was missing, or it did not fit as a whole (PRESENTATION).
    pub incoherent: u64,
    /// Best effort: the reader was occupied, and what waits for it meanwhile has a bound. Lost, as if they had not come.
    pub inbox_overflow: u64,
}

/// The row of one writer, or the sum of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct WriterLosses {
    /// Whose; `None`: a sum.
    pub writer: Option<Guid>,
    /// The first number that counts. Of a sum: 0.
    pub first: SequenceNumber,
    /// The last one that is known of; `first - 1`: none is. Of a sum: 0.
    pub last: SequenceNumber,
    /// How many numbers there are: from the first to the last one, and, of a writer that has begun again elsewhere, those
    /// before that. Of more than a million (2^20) that are left out at once only that many count, and what is announced
    /// further ahead than that does not count yet: one number in a damaged or forged datagram must not spoil the ledger.
    pub known: u64,
    /// Of these: arrived.
    pub received: u64,
    /// Of these: will not arrive.
    pub not_received: NotReceived,
    /// Of these: missing, and still expected.
    pub awaited: u64,
    /// Of those received: wait for an earlier one, for room, or for the end of their coherent set.
    pub waiting: u64,
    /// Of those received: the application does not get them.
    pub undelivered: Undelivered,
}

/// The ledger of a reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Losses {
    /// The writers that are matched.
    pub writers: Vec<WriterLosses>,
    /// The last writers that have gone, at most [`DEPARTED_MAX`], the last one at the end.
    pub departed: Vec<WriterLosses>,
    /// The sum of those that went before them, and of what was removed from the cache after its writer had gone.
    pub departed_before: WriterLosses,
    /// Announcements of numbers that were too far away to be believed at once; see
    /// [`ReaderCounters::doubtful`](crate::reader::ReaderCounters::doubtful).
    pub doubtful: u64,
}

impl NotReceived {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.lost().saturating_add(self.irrelevant).saturating_add(self.filtered)
    }

    const fn lost(&self) -> u64 {
        self.never_came.saturating_add(self.fragments)
    }

    fn since(mut self, earlier: &Self) -> Self {
        self.each(earlier, u64::saturating_sub);
        self
    }

    fn add(&mut self, other: &Self) {
        self.each(other, u64::saturating_add);
    }

    fn each(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        for (own, other) in [
            (&mut self.never_came, other.never_came),
            (&mut self.fragments, other.fragments),
            (&mut self.irrelevant, other.irrelevant),
            (&mut self.filtered, other.filtered),
        ] {
            *own = operation(*own, other);
        }
    }
}

impl Undelivered {
    /// Each reason with a few words for it.
    #[must_use]
    pub const fn reasons(&self) -> [(u64, &'static str); 16] {
        [
            (
                self.overwritten_unread,
                "replaced by newer ones before they were read (raise HISTORY depth, or read faster)",
            ),
            (self.overwritten_read, "replaced by newer ones after they were read"),
            (self.filtered, "not wanted by the content filter"),
            (self.too_soon, "too soon after the one before (TIME_BASED_FILTER)"),
            (self.expired, "too old (LIFESPAN)"),
            (self.purged, "not taken until long after their instance had ended (READER_DATA_LIFECYCLE)"),
            (self.rejected_samples, "no room (RESOURCE_LIMITS max_samples)"),
            (self.rejected_instances, "no room (RESOURCE_LIMITS max_instances)"),
            (self.rejected_samples_per_instance, "no room (RESOURCE_LIMITS max_samples_per_instance)"),
            (self.not_owner, "of a writer that does not own the instance (OWNERSHIP)"),
            (self.superseded, "older than what had been seen (DESTINATION_ORDER)"),
            (self.known, "here before, by another way (DURABILITY)"),
            (self.not_decodable, "not readable as the reader's type"),
            (self.stranded, "waiting for missing ones when their writer went"),
            (self.incoherent, "of coherent sets of which something was missing (PRESENTATION)"),
            (self.inbox_overflow, "while the reader was occupied for too long (take in smaller batches)"),
        ]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.reasons().iter().fold(0, |sum, (count, _)| sum.saturating_add(*count))
    }

    /// One more that did not fit.
    pub(crate) fn reject(&mut self, reason: RejectReason) {
        *match reason {
            RejectReason::Samples => &mut self.rejected_samples,
            RejectReason::Instances => &mut self.rejected_instances,
            RejectReason::SamplesPerInstance => &mut self.rejected_samples_per_instance,
        } += 1;
    }

    fn add_removed(&mut self, removed: &RemovalCounts) {
        self.overwritten_unread += removed.overwritten_unread;
        self.overwritten_read += removed.overwritten_read;
        self.expired += removed.expired;
        self.too_soon += removed.too_soon;
        self.purged += removed.purged;
        self.not_owner += removed.not_owner;
        self.superseded += removed.superseded;
        self.rejected_samples += removed.rejected;
    }

    fn since(mut self, earlier: &Self) -> Self {
        self.each(earlier, u64::saturating_sub);
        self
    }

    fn add(&mut self, other: &Self) {
        self.each(other, u64::saturating_add);
    }

    fn each(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
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
    /// How many changes were received and lie in the cache or were taken.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.received.saturating_sub(self.waiting).saturating_sub(self.undelivered.total())
    }

    /// How many numbers are missing that the reader should have got: without those that are none of its business.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.not_received.lost()
    }

    fn new(proxy: &WriterProxy, tally: &Tally, removed: &RemovalCounts) -> Self {
        let extent = proxy.extent();
        let mut not_received = tally.not_received;
        let below = tally.known_before.saturating_add(distance(extent.first, extent.next));
        let received = below.saturating_sub(not_received.total()).saturating_add(extent.received_ahead);
        not_received.irrelevant = not_received.irrelevant.saturating_add(extent.irrelevant_ahead);
        let last = extent.last.max(extent.first.previous());
        let known = tally.known_before.saturating_add(distance(extent.first, last.next()));
        let mut undelivered = tally.undelivered;
        undelivered.add_removed(removed);
        Self {
            writer: Some(proxy.guid()),
            first: extent.first,
            last,
            known,
            received,
            not_received,
            awaited: known.saturating_sub(received).saturating_sub(not_received.total()),
            waiting: extent.waiting.saturating_add(tally.held()),
            undelivered,
        }
    }

    /// What is in this row and was not in an earlier one, number by number.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
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

    /// Adds another row. The result is the row of a sum.
    pub fn add(&mut self, other: &Self) {
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
    /// The sum of all rows, also of writers that have gone.
    #[must_use]
    pub fn total(&self) -> WriterLosses {
        let mut total = WriterLosses::default();
        self.writers.iter().chain(&self.departed).for_each(|row| total.add(row));
        total.add(&self.departed_before);
        total
    }
}

/// How far a reader has come with a writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// The first number that counts.
    pub(crate) first: SequenceNumber,
    /// The first one that is not dealt with.
    pub(crate) next: SequenceNumber,
    /// The last one that is known of.
    pub(crate) last: SequenceNumber,
    /// From `next` on: here.
    pub(crate) received_ahead: u64,
    /// From `next` on: known never to come.
    pub(crate) irrelevant_ahead: u64,
    /// Of those here: changes that wait.
    pub(crate) waiting: u64,
}

/// The rows of writers that have gone.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    rows: VecDeque<WriterLosses>,
    before: WriterLosses,
}

impl Departed {
    pub(crate) fn push(&mut self, row: WriterLosses) {
        if row.known == 0 && row.undelivered.total() == 0 {
            return;
        }
        self.rows.push_back(row);
        if self.rows.len() > DEPARTED_MAX {
            self.before.add(&self.rows.pop_front().unwrap_or_default());
        }
    }
}

impl StatefulReader {
    /// The loss ledger: for each writer what has become of its numbers. Cheap, but not for every sample: it goes over all
    /// matched writers.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let mut departed_before = self.departed.before;
        departed_before.undelivered.add_removed(&self.history.removed_of_others());
        Losses {
            writers: (0..self.proxies.len()).map(|at| self.losses_of(at)).collect(),
            departed: self.departed.rows.iter().copied().collect(),
            departed_before,
            doubtful: self.counters.doubtful,
        }
    }

    /// Changes of a writer, from number `first` to `last`, have come, and there was no room for them where they had to wait for
    /// the reader. Those that it has missed get this for a reason: they were received, and not delivered. Of a reliable writer
    /// they come again, and are nothing to be counted.
    ///
    /// Returns the first one of which that cannot be said yet, because the reader has not come so far: to be told again later.
    pub fn note_overflow(
        &mut self,
        writer: Guid,
        first: SequenceNumber,
        last: SequenceNumber,
    ) -> Option<SequenceNumber> {
        let at = self.find(writer)?;
        let proxy = &self.proxies[at];
        if proxy.repairs() {
            return None;
        }
        let extent = proxy.extent();
        let missed = distance(first.max(extent.first), last.next().min(extent.next));
        // One that came twice may have been taken in.
        let tally = &mut self.tallies[at];
        let missed = missed.min(tally.not_received.never_came);
        tally.not_received.never_came -= missed;
        tally.undelivered.inbox_overflow += missed;
        Some(first.max(extent.next)).filter(|&rest| rest <= last)
    }

    fn losses_of(&self, at: usize) -> WriterLosses {
        let proxy = &self.proxies[at];
        WriterLosses::new(proxy, &self.tallies[at], &self.history.removed_of(proxy.guid()))
    }

    /// The row of a writer that goes, as it stands for ever.
    pub(crate) fn close_row(&mut self, proxy: &WriterProxy, tally: &Tally) {
        let removed = self.history.unfollow_writer(proxy.guid());
        let mut row = WriterLosses::new(proxy, tally, &removed);
        // What is still missing will never come.
        let missing =
            if proxy.has_begun() { &mut row.not_received.never_came } else { &mut row.not_received.irrelevant };
        *missing = missing.saturating_add(row.awaited);
        row.undelivered.stranded = row.undelivered.stranded.saturating_add(row.waiting);
        (row.awaited, row.waiting) = (0, 0);
        self.departed.push(row);
    }
}

/// How many numbers lie in `from .. to`.
pub(crate) fn distance(from: SequenceNumber, to: SequenceNumber) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}
