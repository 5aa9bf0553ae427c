//! Counts of one writer. [`WriterLosses`] makes a row of the ledger of them.

use super::{DEPARTED_MAX, NotReceived, Undelivered, WriterLosses};
use crate::history::Admission;
use crate::reader::event::LossCause;
use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Counts of one writer. A change that arrives in order and is kept changes none of them.
#[derive(Debug, Default)]
pub(crate) struct WriterTally {
    pub(crate) not_received: NotReceived,
    pub(crate) undelivered: Undelivered,
    /// Numbers known before the writer restarted at another number.
    pub(crate) known_before: u64,
}

impl WriterTally {
    pub(crate) fn count_lost(&mut self, count: u64, cause: LossCause) {
        let counter = match cause {
            LossCause::NeverArrived => &mut self.not_received.never_came,
            LossCause::Replaced => &mut self.not_received.replaced,
            LossCause::Fragments => &mut self.not_received.fragments,
            LossCause::NotDecodable => &mut self.undelivered.not_decodable,
            LossCause::Incoherent => &mut self.undelivered.incoherent,
        };
        *counter = counter.saturating_add(count);
    }

    pub(crate) fn count_irrelevant(&mut self, count: u64) {
        self.not_received.irrelevant = self.not_received.irrelevant.saturating_add(count);
    }

    /// Moves up to `count` numbers from irrelevant to filtered, of those counted since there were `before` of them.
    pub(crate) fn reclassify_filtered(&mut self, before: u64, count: u64) {
        debug_assert!(self.not_received.irrelevant >= before, "irrelevant numbers only grow while a GAP is handled");
        let filtered = self.not_received.irrelevant.saturating_sub(before).min(count);
        self.not_received.irrelevant -= filtered;
        self.not_received.filtered = self.not_received.filtered.saturating_add(filtered);
    }

    /// The row starts at another number. `known` numbers of the old range stay in the count.
    pub(crate) fn restart(&mut self, known: u64) {
        self.known_before = self.known_before.saturating_add(known);
    }

    /// Takes counts back: the writer denied the announcement that caused them.
    pub(crate) fn retract(&mut self, lost: u64, irrelevant: u64, known_before: u64) {
        self.known_before = self.known_before.saturating_sub(known_before);
        // All missing numbers of one reliable writer have the same cause.
        let replaced = lost.min(self.not_received.replaced);
        self.not_received.replaced -= replaced;
        self.not_received.never_came = self.not_received.never_came.saturating_sub(lost - replaced);
        // Some of them may have moved to the filtered ones since.
        let among_filtered = irrelevant.saturating_sub(self.not_received.irrelevant);
        self.not_received.filtered = self.not_received.filtered.saturating_sub(among_filtered);
        self.not_received.irrelevant = self.not_received.irrelevant.saturating_sub(irrelevant);
    }

    /// Counts a change that the history accepted without showing it.
    pub(crate) fn count_admission(&mut self, admission: Admission) {
        match admission {
            Admission::Expired => self.undelivered.expired += 1,
            Admission::NotOwner => self.undelivered.not_owner += 1,
            Admission::Superseded => self.undelivered.superseded += 1,
            Admission::Known => self.undelivered.known += 1,
            // A change without content is no loss. A change that the time filter holds back may still become visible:
            // the history counts it when a newer one replaces it.
            Admission::Visible | Admission::Unchanged | Admission::UnknownInstance | Admission::Held => {}
        }
    }
}

/// Position of a reader in the sequence numbers of one writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterPosition {
    /// First number that counts in the ledger.
    pub(crate) first: SequenceNumber,
    /// First number that was not delivered, lost or declared irrelevant.
    pub(crate) next: SequenceNumber,
    /// Last known number.
    pub(crate) last: SequenceNumber,
    /// Received numbers from `next` on.
    pub(crate) received_ahead: u64,
    /// Irrelevant numbers from `next` on.
    pub(crate) irrelevant_ahead: u64,
    /// Received changes from `next` on that wait for an earlier one.
    pub(crate) waiting: u64,
}

impl WriterPosition {
    /// Position in a stream without reordering: nothing is known from `next` on.
    pub(crate) fn in_order(first: SequenceNumber, next: SequenceNumber) -> Self {
        Self { first, next, last: next.previous(), received_ahead: 0, irrelevant_ahead: 0, waiting: 0 }
    }
}

/// Rows of unmatched writers.
#[derive(Debug, Default)]
pub(crate) struct UnmatchedRows {
    rows: VecDeque<WriterLosses>,
    /// Sum of the rows that are no longer kept one by one.
    before: WriterLosses,
}

impl UnmatchedRows {
    pub(crate) fn push(&mut self, row: WriterLosses) {
        debug_assert!(row.awaited == 0 && row.waiting == 0, "a closed row expects nothing");
        // A writer without changes is not worth one of the few rows.
        if row.known == 0 && row.undelivered.total() == 0 {
            return;
        }
        self.rows.push_back(row);
        if self.rows.len() > DEPARTED_MAX {
            if let Some(oldest) = self.rows.pop_front() {
                self.before.add(&oldest);
            }
        }
    }

    /// The rows, the most recent one last.
    pub(crate) fn rows(&self) -> Vec<WriterLosses> {
        self.rows.iter().copied().collect()
    }

    /// Sum of the rows that are no longer kept one by one.
    pub(crate) fn sum_of_earlier(&self) -> WriterLosses {
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filtered_numbers_move_out_of_irrelevant() {
        let mut tally = WriterTally::default();
        tally.count_irrelevant(3);
        tally.count_irrelevant(2);
        tally.reclassify_filtered(3, 10);
        assert_eq!((tally.not_received.irrelevant, tally.not_received.filtered), (3, 2));
    }

    #[test]
    fn retracted_counts_reach_the_filtered_ones() {
        let mut tally = WriterTally::default();
        tally.count_lost(4, LossCause::NeverArrived);
        tally.count_irrelevant(5);
        tally.reclassify_filtered(0, 2);
        tally.retract(4, 5, 0);
        assert_eq!(tally.not_received, NotReceived::default());
    }

    #[test]
    fn rows_beyond_the_bound_are_added_up() {
        let mut rows = UnmatchedRows::default();
        for known in 1..=DEPARTED_MAX as u64 + 2 {
            rows.push(WriterLosses { known, ..WriterLosses::default() });
        }
        rows.push(WriterLosses::default());
        assert_eq!((rows.rows().len(), rows.sum_of_earlier().known), (DEPARTED_MAX, 1 + 2));
    }
}
