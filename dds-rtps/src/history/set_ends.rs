//! The numbers in a writer's cache that only end coherent sets (RTPS 2.5, 8.7.5).
//!
//! Life cycle: such a number comes with the end of its set, and is of use as long as a sample of the set is there: without one a
//! late joiner has nothing to end. Bound: twice the sets of which samples are stored, and [`USELESS_MAX`], which are looked at
//! in one go so that each costs the same however many there are.

use super::CacheChange;
use super::writer::{NONE, StoredChange, WriterHistory};
use crate::types::SequenceNumber;

/// How many ends may wait, beside as many as were of use at the last review, until they are looked at again. What a reader
/// has not acknowledged stays for as long: it may wait for the end of a set that it has.
const USELESS_MAX: usize = 256;

/// Which sets have ended.
#[derive(Debug, Default)]
pub(super) struct SetEnds {
    /// How many ends are stored.
    pub(super) stored: usize,
    /// The first number and the end of each set, in growing order.
    sets: Vec<(SequenceNumber, SequenceNumber)>,
    /// How many were of use at the last review.
    useful: usize,
}

impl SetEnds {
    /// A set has ended. `true`: it is time to review them.
    pub(super) fn add(&mut self, first: SequenceNumber, end: SequenceNumber) -> bool {
        self.sets.push((first, end));
        self.sets.len() > 2 * self.useful + USELESS_MAX / 4
    }

    /// Forgets those that are not `useful`. Ends beyond `acknowledged` stay as long as they are few.
    pub(super) fn review(
        &mut self,
        acknowledged: SequenceNumber,
        mut is_useful: impl FnMut(SequenceNumber, SequenceNumber) -> bool,
    ) {
        let mut to_spare = USELESS_MAX / 8;
        self.sets.reverse();
        self.sets.retain(|&(first, end)| {
            let spared = end > acknowledged && to_spare > 0;
            to_spare -= usize::from(spared);
            spared || is_useful(first, end)
        });
        self.sets.reverse();
        self.useful = self.sets.len();
    }
}

impl WriterHistory {
    /// Takes in a number that ends the coherent set which began with `first`. It belongs to no instance, and counts for no
    /// limit: it goes with the last sample of its set at the latest, when the next ones end. All readers have acknowledged
    /// what lies up to `acknowledged`.
    pub fn insert_end_of_set(&mut self, change: CacheChange, first: SequenceNumber, acknowledged: SequenceNumber) {
        let number = change.sequence_number;
        let stored = StoredChange { change, expires: None, fragment_size: 0, instance: NONE, older: NONE, newer: NONE };
        let slot = self.add_slot(stored);
        self.index.push(number, slot);
        self.set_ends.stored += 1;
        if self.set_ends.add(first, number) {
            let (index, mut useless) = (&self.index, Vec::new());
            self.set_ends.review(acknowledged, |first, end| {
                let is_stored = index.get(end).is_some();
                let has_samples = index.iter_from(first).next().is_some_and(|(number, _)| number < end);
                if is_stored && !has_samples {
                    useless.push(end);
                }
                is_stored && has_samples
            });
            useless.into_iter().for_each(|end| drop(self.remove(end)));
        }
    }
}
