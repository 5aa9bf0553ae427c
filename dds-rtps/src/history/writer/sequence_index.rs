//! Finds the changes of one writer by their sequence numbers.

use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Marks a number that has been removed but still has its place.
const REMOVED: u32 = u32::MAX;

/// RemovalCounts places that are tolerated before the index is packed: below this, packing is not worth a pass.
const REMOVED_MIN: usize = 64;

/// Sequence numbers in growing order, each with the slot where its change lies.
///
/// Numbers are appended at the back and removed anywhere. A removal in the middle leaves an empty place; both ends are
/// always real. Bound: at most as many empty places as real ones, and [`REMOVED_MIN`]. That is why this is not simply a
/// ring indexed by `number - first`: one old sample of a quiet instance would make such a ring grow for ever.
///
/// Cost: append and removal O(1), spread over the passes that pack. Look-up O(1) without holes, else O(log n).
#[derive(Debug, Default)]
pub(super) struct SequenceIndex {
    places: VecDeque<(SequenceNumber, u32)>,
    removed: usize,
}

impl SequenceIndex {
    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.removed
    }

    /// Appends a number, which must be greater than all that were ever appended.
    pub(super) fn push(&mut self, number: SequenceNumber, slot: u32) {
        debug_assert!(self.places.back().is_none_or(|&(last, _)| last < number), "numbers grow");
        self.places.push_back((number, slot));
    }

    /// The lowest number.
    pub(super) fn first(&self) -> Option<(SequenceNumber, u32)> {
        self.places.front().copied()
    }

    /// The highest number.
    pub(super) fn last(&self) -> Option<(SequenceNumber, u32)> {
        self.places.back().copied()
    }

    /// The slot of a number.
    pub(super) fn get(&self, number: SequenceNumber) -> Option<u32> {
        let &(found, slot) = self.places.get(self.place_from(number))?;
        (found == number && slot != REMOVED).then_some(slot)
    }

    /// The numbers from `number` on, in growing order.
    pub(super) fn iter_from(&self, number: SequenceNumber) -> impl Iterator<Item = (SequenceNumber, u32)> + '_ {
        self.places.range(self.place_from(number)..).copied().filter(|&(_, slot)| slot != REMOVED)
    }

    /// Removes a number and says where its change lay.
    pub(super) fn remove(&mut self, number: SequenceNumber) -> Option<u32> {
        let place = self.places.get_mut(self.place_from(number)).filter(|place| place.0 == number)?;
        let slot = std::mem::replace(&mut place.1, REMOVED);
        if slot == REMOVED {
            return None;
        }
        self.removed += 1;
        self.trim_front();
        while self.places.back().is_some_and(|place| place.1 == REMOVED) {
            self.places.pop_back();
            self.removed -= 1;
        }
        if self.removed > self.len() + REMOVED_MIN {
            self.places.retain(|place| place.1 != REMOVED);
            self.removed = 0;
        }
        Some(slot)
    }

    /// Removes the lowest number, if it is at most `limit`, and says where its change lay.
    pub(super) fn pop_up_to(&mut self, limit: SequenceNumber) -> Option<u32> {
        let &(_, slot) = self.places.front().filter(|place| place.0 <= limit)?;
        self.places.pop_front();
        if self.removed > 0 {
            self.trim_front();
        }
        Some(slot)
    }

    fn trim_front(&mut self) {
        while self.places.front().is_some_and(|place| place.1 == REMOVED) {
            self.places.pop_front();
            self.removed -= 1;
        }
    }

    /// The first place whose number is at least `number`.
    #[inline]
    fn place_from(&self, number: SequenceNumber) -> usize {
        let Some(&(first, _)) = self.places.front() else { return 0 };
        // Numbers differ by at least one from place to place, so this is the furthest that the number can lie. Without
        // holes it lies exactly there.
        let Ok(furthest) = usize::try_from(number.0.saturating_sub(first.0)) else { return 0 };
        match self.places.get(furthest) {
            Some(place) if place.0 == number => furthest,
            _ => self.search(number),
        }
    }

    #[cold]
    fn search(&self, number: SequenceNumber) -> usize {
        self.places.partition_point(|place| place.0 < number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(index: &SequenceIndex, from: i64) -> Vec<i64> {
        index.iter_from(SequenceNumber(from)).map(|(number, _)| number.0).collect()
    }

    #[test]
    fn numbers_are_found_with_and_without_holes() {
        let mut index = SequenceIndex::default();
        for number in 10..20 {
            index.push(SequenceNumber(number), number as u32);
        }
        assert_eq!(index.get(SequenceNumber(15)), Some(15));
        assert_eq!(index.get(SequenceNumber(9)), None);
        assert_eq!(index.get(SequenceNumber(20)), None);
        assert_eq!(index.remove(SequenceNumber(12)), Some(12));
        assert_eq!(index.remove(SequenceNumber(12)), None);
        assert_eq!(index.get(SequenceNumber(12)), None);
        assert_eq!(index.get(SequenceNumber(19)), Some(19));
        assert_eq!(numbers(&index, 11), [11, 13, 14, 15, 16, 17, 18, 19]);
        assert_eq!(numbers(&index, -5).len(), 9);
        assert_eq!(index.len(), 9);
    }

    #[test]
    fn numbers_that_were_never_there_are_passed_over() {
        let mut index = SequenceIndex::default();
        (1..=4).for_each(|at| index.push(SequenceNumber(2 * at), at as u32));
        assert_eq!([2, 4, 6, 8].map(|number| index.get(SequenceNumber(number))), [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([3, 5].map(|number| index.get(SequenceNumber(number))), [None; 2]);
        assert_eq!(numbers(&index, 3), [4, 6, 8]);
        assert_eq!(index.remove(SequenceNumber(4)), Some(2));
    }

    #[test]
    fn one_old_number_does_not_make_the_index_grow() {
        let mut index = SequenceIndex::default();
        index.push(SequenceNumber(1), 0);
        for number in 2..100_000 {
            index.push(SequenceNumber(number), 1);
            index.push(SequenceNumber(number + 1_000_000_000_000), 2);
            index.remove(SequenceNumber(number + 1_000_000_000_000));
            if number > 2 {
                index.remove(SequenceNumber(number - 1));
            }
            assert!(index.places.len() <= 2 * REMOVED_MIN);
        }
        assert_eq!(numbers(&index, 0), [1, 99_999]);
    }

    #[test]
    fn the_lowest_number_is_popped_with_the_holes_behind_it() {
        let mut index = SequenceIndex::default();
        for number in 1..=4 {
            index.push(SequenceNumber(number), number as u32);
        }
        index.remove(SequenceNumber(2));
        assert_eq!(index.pop_up_to(SequenceNumber(1)), Some(1));
        assert_eq!(index.first(), Some((SequenceNumber(3), 3)));
        assert_eq!(index.len(), 2);
    }

    #[test]
    fn both_ends_are_always_real() {
        let mut index = SequenceIndex::default();
        for number in 1..=5 {
            index.push(SequenceNumber(number), number as u32);
        }
        for number in [2, 4, 1, 5] {
            index.remove(SequenceNumber(number));
        }
        assert_eq!(index.first(), Some((SequenceNumber(3), 3)));
        assert_eq!(index.last(), Some((SequenceNumber(3), 3)));
        assert_eq!(index.pop_up_to(SequenceNumber(2)), None);
        assert_eq!(index.pop_up_to(SequenceNumber(3)), Some(3));
        assert_eq!(index.first(), None);
        assert_eq!(index.len(), 0);
    }
}
