//! Looks up the changes of one writer by sequence number.

use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Marks a removed sequence number that still has an entry.
const REMOVED: u32 = u32::MAX;

/// How many removed entries are tolerated before the index is packed. For fewer, packing is not worth a pass.
const REMOVED_MIN: usize = 64;

/// Sequence numbers in ascending order, each with the slot of its change.
///
/// Sequence numbers are appended at the back and removed anywhere. A removal in the middle leaves a removed entry; both
/// ends are never removed entries. Bound: at most as many removed entries as others, plus [`REMOVED_MIN`]. A ring
/// indexed by `number - first` would have no such bound: one old sample of a quiet instance would make it grow forever.
///
/// Cost: append and removal take O(1) on average. Lookup takes O(1) without gaps, otherwise O(log n).
#[derive(Debug, Default)]
pub(super) struct SequenceIndex {
    entries: VecDeque<(SequenceNumber, u32)>,
    removed: usize,
}

impl SequenceIndex {
    /// How many sequence numbers are stored.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.removed
    }

    /// Appends a sequence number, which must be higher than all before.
    pub(super) fn push(&mut self, number: SequenceNumber, slot: u32) {
        debug_assert!(self.entries.back().is_none_or(|&(last, _)| last < number), "sequence numbers grow");
        self.entries.push_back((number, slot));
    }

    /// The lowest sequence number and its slot.
    pub(super) fn first(&self) -> Option<(SequenceNumber, u32)> {
        self.entries.front().copied()
    }

    /// The highest sequence number and its slot.
    pub(super) fn last(&self) -> Option<(SequenceNumber, u32)> {
        self.entries.back().copied()
    }

    /// The slot of a sequence number.
    pub(super) fn get(&self, number: SequenceNumber) -> Option<u32> {
        let &(found, slot) = self.entries.get(self.position_from(number))?;
        if found == number && slot != REMOVED { Some(slot) } else { None }
    }

    /// The sequence numbers from `number` on, in order.
    pub(super) fn iter_from(&self, number: SequenceNumber) -> impl Iterator<Item = (SequenceNumber, u32)> + '_ {
        self.entries.range(self.position_from(number)..).copied().filter(|&(_, slot)| slot != REMOVED)
    }

    /// Removes a sequence number. Returns its slot.
    pub(super) fn remove(&mut self, number: SequenceNumber) -> Option<u32> {
        let position = self.position_from(number);
        let entry = self.entries.get_mut(position)?;
        if entry.0 != number || entry.1 == REMOVED {
            return None;
        }
        // The entry stays as a mark, because a removal in the middle would move all entries behind it.
        let slot = std::mem::replace(&mut entry.1, REMOVED);
        self.removed += 1;
        self.trim_front();
        while self.entries.back().is_some_and(|entry| entry.1 == REMOVED) {
            self.entries.pop_back();
            self.removed -= 1;
        }
        // Once the marks are the majority, one pass removes them. So a removal costs a constant on average.
        if self.removed > self.len() + REMOVED_MIN {
            self.entries.retain(|entry| entry.1 != REMOVED);
            self.removed = 0;
        }
        Some(slot)
    }

    /// Removes the lowest sequence number if it is at most `limit`. Returns its slot.
    pub(super) fn pop_up_to(&mut self, limit: SequenceNumber) -> Option<u32> {
        let &(number, slot) = self.entries.front()?;
        if number > limit {
            return None;
        }
        debug_assert!(slot != REMOVED, "both ends are stored changes");
        self.entries.pop_front();
        if self.removed > 0 {
            self.trim_front();
        }
        Some(slot)
    }

    fn trim_front(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.1 == REMOVED) {
            self.entries.pop_front();
            self.removed -= 1;
        }
    }

    /// The position of the first entry that is at least `number`.
    #[inline]
    fn position_from(&self, number: SequenceNumber) -> usize {
        let Some(&(first, _)) = self.entries.front() else { return 0 };
        // Adjacent sequence numbers differ by at least one, so this is the last possible position. Without gaps it is
        // the position.
        let Ok(furthest) = usize::try_from(number.0.saturating_sub(first.0)) else { return 0 };
        match self.entries.get(furthest) {
            Some(entry) if entry.0 == number => furthest,
            _ => self.search(number),
        }
    }

    #[cold]
    fn search(&self, number: SequenceNumber) -> usize {
        self.entries.partition_point(|entry| entry.0 < number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(index: &SequenceIndex, from: i64) -> Vec<i64> {
        index.iter_from(SequenceNumber(from)).map(|(number, _)| number.0).collect()
    }

    #[test]
    fn lookup_works_with_and_without_gaps() {
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
    fn lookup_skips_missing_numbers() {
        let mut index = SequenceIndex::default();
        for at in 1..=4 {
            index.push(SequenceNumber(2 * at), at as u32);
        }
        assert_eq!([2, 4, 6, 8].map(|number| index.get(SequenceNumber(number))), [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([3, 5].map(|number| index.get(SequenceNumber(number))), [None; 2]);
        assert_eq!(numbers(&index, 3), [4, 6, 8]);
        assert_eq!(index.remove(SequenceNumber(4)), Some(2));
    }

    #[test]
    fn one_old_number_does_not_grow_the_index() {
        let mut index = SequenceIndex::default();
        index.push(SequenceNumber(1), 0);
        for number in 2..100_000 {
            index.push(SequenceNumber(number), 1);
            index.push(SequenceNumber(number + 1_000_000_000_000), 2);
            index.remove(SequenceNumber(number + 1_000_000_000_000));
            if number > 2 {
                index.remove(SequenceNumber(number - 1));
            }
            assert!(index.entries.len() <= 2 * REMOVED_MIN);
        }
        assert_eq!(numbers(&index, 0), [1, 99_999]);
    }

    #[test]
    fn pop_removes_following_gaps() {
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
    fn both_ends_are_stored_changes() {
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
