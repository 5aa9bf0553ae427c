//! The sequence numbers of a writer that only end coherent sets (RTPS 2.5, 8.7.5).
//!
//! Life cycle: the end of a set creates such a change. It is useful while a sample of the set is stored; without one a
//! late joiner has nothing to end. Bound: twice the sets with stored samples, plus [`USELESS_MAX`]. They are reviewed
//! together, so that each costs the same however many there are.

use super::change_store::ChangeStore;
use crate::types::SequenceNumber;

/// Limit of useless ends between two reviews.
///
/// Ends that a reader has not acknowledged stay a while: it may wait for the end of a set that it has.
const USELESS_MAX: usize = 256;

/// The ends of coherent sets.
#[derive(Debug, Default)]
pub(super) struct SetEnds {
    /// How many ends are stored.
    stored: usize,
    /// The first sequence number and the end of each set, in order.
    sets: Vec<(SequenceNumber, SequenceNumber)>,
    /// How many ends were useful at the last review.
    useful: usize,
}

impl SetEnds {
    /// How many ends are stored.
    pub(super) fn stored(&self) -> usize {
        self.stored
    }

    /// Notes that an end was removed.
    pub(super) fn note_removed(&mut self) {
        debug_assert!(self.stored > 0, "the end was stored");
        self.stored -= 1;
    }

    /// Notes that a set has ended. Returns whether it is time for a review.
    pub(super) fn add(&mut self, first: SequenceNumber, end: SequenceNumber) -> bool {
        self.stored += 1;
        self.sets.push((first, end));
        self.sets.len() > 2 * self.useful + USELESS_MAX / 4
    }

    /// Forgets useless ends. Returns those that are still stored, which the caller removes.
    ///
    /// The latest ends after `acknowledged` stay, as long as they are few.
    pub(super) fn review(&mut self, acknowledged: SequenceNumber, changes: &ChangeStore) -> Vec<SequenceNumber> {
        let mut to_spare = USELESS_MAX / 8;
        let mut useless = Vec::new();
        // From the latest to the first, because the latest are spared.
        self.sets.reverse();
        self.sets.retain(|&(first, end)| {
            if end > acknowledged && to_spare > 0 {
                to_spare -= 1;
                return true;
            }
            let is_stored = changes.contains(end);
            let has_samples = match changes.next_from(first) {
                Some(number) => number < end,
                None => false,
            };
            if is_stored && !has_samples {
                useless.push(end);
            }
            is_stored && has_samples
        });
        self.sets.reverse();
        self.useful = self.sets.len();
        useless
    }
}
