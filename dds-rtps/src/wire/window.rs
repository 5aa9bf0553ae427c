//! A set of requested numbers: a base and 256 bits, as on the wire, but with removal.

use super::set::{FragmentNumberSet, SequenceNumberSet};

const WORDS: usize = 4;
const BITS: i64 = 64 * WORDS as i64;

/// Numbers from `base` on, at most 256 apart. Bit `i % 64` of word `i / 64` represents `base + i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Window {
    base: i64,
    words: [u64; WORDS],
}

impl Window {
    /// Creates an empty window.
    pub(crate) fn new(base: i64) -> Self {
        Self { base, words: [0; WORDS] }
    }

    pub(crate) fn base(&self) -> i64 {
        self.base
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words == [0; WORDS]
    }

    /// Returns the lowest member that is at least `from`.
    pub(crate) fn first_from(&self, from: i64) -> Option<i64> {
        // Numbers below the base start at the base; numbers beyond the window find no word.
        let skip = from.saturating_sub(self.base).clamp(0, BITS);
        let (mut place, bit) = ((skip / 64) as usize, skip % 64);
        let mut mask = u64::MAX << bit;
        while let Some(word) = self.words.get(place) {
            let word = word & mask;
            if word != 0 {
                return Some(self.base + 64 * place as i64 + i64::from(word.trailing_zeros()));
            }
            // Only the first word has bits before `from`.
            mask = u64::MAX;
            place += 1;
        }
        None
    }

    /// Returns the highest member.
    pub(crate) fn last(&self) -> Option<i64> {
        let (place, word) = self.words.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(self.base + 64 * place as i64 + i64::from(63 - word.leading_zeros()))
    }

    pub(crate) fn contains(&self, number: i64) -> bool {
        let Some((place, mask)) = self.place(number) else { return false };
        match self.words.get(place) {
            Some(word) => word & mask != 0,
            None => false,
        }
    }

    /// Whether a number lies in the window, as a member or not.
    pub(crate) fn reaches(&self, number: i64) -> bool {
        self.place(number).is_some()
    }

    /// Adds a number; returns false if it lies outside of the window.
    pub(crate) fn insert(&mut self, number: i64) -> bool {
        let Some((place, mask)) = self.place(number) else { return false };
        let Some(word) = self.words.get_mut(place) else {
            debug_assert!(false, "`place` returns the index of a word");
            return false;
        };
        *word |= mask;
        true
    }

    pub(crate) fn remove(&mut self, number: i64) {
        if let Some((place, mask)) = self.place(number) {
            if let Some(word) = self.words.get_mut(place) {
                *word &= !mask;
            }
        }
    }

    /// Whether both windows have a common member.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        let mut from = other.base;
        // The bases differ, so the words of the two windows cannot be compared directly.
        while let Some(number) = other.first_from(from) {
            if self.contains(number) {
                return true;
            }
            from = number + 1;
        }
        false
    }

    /// Whether all members of another window lie in this window.
    pub(crate) fn reaches_all(&self, other: &Self) -> bool {
        let (Some(first), Some(last)) = (other.first_from(other.base), other.last()) else { return true };
        // The numbers between them are in reach as well.
        self.reaches(first) && self.reaches(last)
    }

    /// Adds the members of another window that lie in this window.
    pub(crate) fn insert_all(&mut self, other: &Self) {
        let mut from = other.base;
        while let Some(number) = other.first_from(from) {
            self.insert(number);
            from = number + 1;
        }
    }

    /// Removes the members of another window.
    pub(crate) fn remove_all(&mut self, other: &Self) {
        let mut from = other.base;
        while let Some(number) = other.first_from(from) {
            self.remove(number);
            from = number + 1;
        }
    }

    /// Returns the number of members.
    pub(crate) fn len(&self) -> u32 {
        let mut len = 0;
        for word in self.words {
            len += word.count_ones();
        }
        len
    }

    /// Removes all members from `number` on; returns whether there was any.
    pub(crate) fn remove_from(&mut self, number: i64) -> bool {
        let mut any = false;
        while let Some(found) = self.first_from(number) {
            self.remove(found);
            any = true;
        }
        any
    }

    /// Removes all members up to and including `number`.
    pub(crate) fn remove_up_to(&mut self, number: i64) {
        while let Some(first) = self.first_from(self.base) {
            if first > number {
                return;
            }
            self.remove(first);
        }
    }

    fn place(&self, number: i64) -> Option<(usize, u64)> {
        // Numbers from the network may lie anywhere, so the difference may overflow.
        let offset = number.checked_sub(self.base)?;
        if !(0..BITS).contains(&offset) {
            return None;
        }
        Some(((offset / 64) as usize, 1 << (offset % 64)))
    }
}

impl From<&SequenceNumberSet> for Window {
    fn from(set: &SequenceNumberSet) -> Self {
        let mut window = Self::new(set.base().0);
        for number in set.iter() {
            let is_in_window = window.insert(number.0);
            debug_assert!(is_in_window, "a set has no more bits than a window");
        }
        window
    }
}

impl From<&FragmentNumberSet> for Window {
    fn from(set: &FragmentNumberSet) -> Self {
        let mut window = Self::new(set.base().into());
        for number in set.iter() {
            let is_in_window = window.insert(number.into());
            debug_assert!(is_in_window, "a set has no more bits than a window");
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SequenceNumber;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn members_are_ordered_across_words() {
        let mut set = SequenceNumberSet::empty(SequenceNumber(1 << 40));
        for offset in [0, 1, 63, 64, 200, 255] {
            assert!(set.insert(SequenceNumber((1 << 40) + offset)));
        }
        let mut window = Window::from(&set);
        assert_eq!((window.last(), Window::new(7).last()), (Some((1 << 40) + 255), None));
        let mut offsets = Vec::new();
        while let Some(number) = window.first_from(0) {
            offsets.push(number - (1 << 40));
            window.remove(number);
        }
        assert_eq!(offsets, [0, 1, 63, 64, 200, 255]);
        assert!(window.is_empty());
    }

    #[test]
    fn numbers_outside_of_the_window_are_not_members() {
        let mut window = Window::new(10);
        assert!(!window.insert(9));
        assert!(!window.insert(266));
        assert!(window.insert(265));
        assert!(window.contains(265) && !window.contains(9) && !window.contains(i64::MIN));
        assert_eq!(window.first_from(266), None);
        assert_eq!(window.first_from(i64::MAX), None);
        window.remove_up_to(264);
        assert!(!window.is_empty());
        window.remove_up_to(265);
        assert!(window.is_empty());
    }

    /// Operation on a window, with numbers relative to its base and to the base of another window.
    #[derive(Debug, Clone)]
    enum WindowOperation {
        Insert(i64),
        Remove(i64),
        RemoveFrom(i64),
        RemoveUpTo(i64),
        InsertAll(i64, Vec<i64>),
        RemoveAll(i64, Vec<i64>),
    }

    fn acts() -> impl Strategy<Value = WindowOperation> {
        let number = || -70..BITS + 70;
        let other = || (-300..300_i64, vec(0..BITS, 0..20));
        prop_oneof![
            4 => number().prop_map(WindowOperation::Insert),
            1 => number().prop_map(WindowOperation::Remove),
            1 => number().prop_map(WindowOperation::RemoveFrom),
            1 => number().prop_map(WindowOperation::RemoveUpTo),
            3 => other().prop_map(|(ahead, members)| WindowOperation::InsertAll(ahead, members)),
            2 => other().prop_map(|(ahead, members)| WindowOperation::RemoveAll(ahead, members)),
        ]
    }

    /// A window at this distance from another one's base, and its members.
    fn other(base: i64, ahead: i64, members: &[i64]) -> (Window, BTreeSet<i64>) {
        let mut window = Window::new(base + ahead);
        let numbers: BTreeSet<i64> = members.iter().map(|member| base + ahead + member).collect();
        for &number in &numbers {
            assert!(window.insert(number));
        }
        (window, numbers)
    }

    fn check(window: &Window, naive: &BTreeSet<i64>) {
        assert_eq!((window.is_empty(), window.last()), (naive.is_empty(), naive.last().copied()));
        for number in window.base() - 3..window.base() + BITS + 3 {
            assert_eq!(window.contains(number), naive.contains(&number), "{number}");
            assert_eq!(window.first_from(number), naive.range(number..).next().copied(), "from {number}");
        }
    }

    proptest! {
        #[test]
        fn window_has_the_members_of_an_ordered_set(base in -500..1_i64 << 40, acts in vec(acts(), 1..60)) {
            let (mut window, mut naive) = (Window::new(base), BTreeSet::new());
            let in_reach = base..base + BITS;
            for act in acts {
                match act {
                    WindowOperation::Insert(at) => {
                        prop_assert_eq!(window.insert(base + at), in_reach.contains(&(base + at)));
                        naive.extend(Some(base + at).filter(|number| in_reach.contains(number)));
                    }
                    WindowOperation::Remove(at) => {
                        window.remove(base + at);
                        naive.remove(&(base + at));
                    }
                    WindowOperation::RemoveFrom(at) => {
                        let removed = naive.split_off(&(base + at));
                        prop_assert_eq!(window.remove_from(base + at), !removed.is_empty());
                    }
                    WindowOperation::RemoveUpTo(at) => {
                        window.remove_up_to(base + at);
                        naive = naive.split_off(&(base + at + 1));
                    }
                    WindowOperation::InsertAll(ahead, members) => {
                        let (other, numbers) = other(base, ahead, &members);
                        let fits = numbers.iter().all(|number| in_reach.contains(number));
                        prop_assert_eq!(window.reaches_all(&other), fits);
                        prop_assert_eq!(window.intersects(&other), !naive.is_disjoint(&numbers));
                        window.insert_all(&other);
                        naive.extend(numbers.into_iter().filter(|number| in_reach.contains(number)));
                    }
                    WindowOperation::RemoveAll(ahead, members) => {
                        let (other, numbers) = other(base, ahead, &members);
                        window.remove_all(&other);
                        naive.retain(|number| !numbers.contains(number));
                    }
                }
                check(&window, &naive);
            }
        }
    }
}
