//! An indexed heap: numbered places, ordered by a key.
//!
//! Users are the samples of a cache by the end of their LIFESPAN, and the writers that a reader must answer by due
//! time. Another user is a writer, with its readers by their acknowledgments.
//!
//! Keys arrive in any order. The heap knows the first place, and each place knows its index in the heap. So a removed
//! place leaves the heap at once, without a search or a sweep. Adding and removing cost the logarithm of the length,
//! and mostly less, because new keys mostly belong at the end. The heap allocates only while it grows.
//!
//! Bound: an entry of 24 bytes for each ordered place, and 4 bytes for each place.

use super::Instant;

/// Places ordered by due time.
pub(crate) type DueHeap = Ranking<Instant>;

/// Index of a place that is not in the heap.
const ABSENT: u32 = u32::MAX;

/// Places in a heap, the lowest key first.
#[derive(Debug)]
pub(crate) struct Ranking<K> {
    heap: Vec<Entry<K>>,
    /// Index in the heap for each place.
    index: Vec<u32>,
    /// Numbers the entries.
    count: u64,
    #[cfg(test)]
    pub(crate) steps: u64,
}

/// An entry of the heap. Equal keys keep their order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<K> {
    key: K,
    number: u64,
    place: u32,
}

impl<K: Copy + Ord> Ranking<K> {
    pub(crate) const fn new() -> Self {
        Self {
            heap: Vec::new(),
            index: Vec::new(),
            count: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Returns the lowest key.
    #[inline]
    pub(crate) fn first(&self) -> Option<K> {
        Some(self.heap.first()?.key)
    }

    /// Returns whether the heap is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Returns the first place if its key is at most `limit`. The place stays until it is removed.
    pub(crate) fn first_due(&self, limit: K) -> Option<u32> {
        match self.heap.first() {
            Some(entry) if entry.key <= limit => Some(entry.place),
            _ => None,
        }
    }

    /// Adds a place that is not in the heap.
    pub(crate) fn note(&mut self, place: u32, key: K) {
        let len = place as usize + 1;
        if self.index.len() < len {
            self.index.resize(len, ABSENT);
        }
        debug_assert!(self.entry(place).is_none(), "a place has one entry");
        self.count += 1;
        self.heap.push(Entry { key, number: self.count, place });
        self.rise(self.heap.len() - 1);
    }

    /// Lowers the key of a place to `key`, or adds the place.
    #[inline]
    pub(crate) fn bring_forward(&mut self, place: u32, key: K) {
        match self.entry(place) {
            // Nothing to do, which is the usual case.
            Some(known) if known.key <= key => {}
            _ => self.set(place, Some(key)),
        }
    }

    /// Replaces the key of a place; `None` removes the place.
    pub(crate) fn set(&mut self, place: u32, key: Option<K>) {
        match (self.entry(place), key) {
            // An equal key keeps its order of arrival.
            (Some(known), Some(key)) if known.key == key => return,
            _ => {}
        }
        self.forget(place);
        if let Some(key) = key {
            self.note(place, key);
        }
    }

    /// Moves the entry of the place `from` to the place `to`, which is not in the heap.
    pub(crate) fn relocate(&mut self, from: u32, to: u32) {
        if let Some(&Entry { key, .. }) = self.entry(from) {
            self.forget(from);
            self.note(to, key);
        }
    }

    /// Removes all places.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.index.clear();
    }

    fn entry(&self, place: u32) -> Option<&Entry<K>> {
        let at = *self.index.get(place as usize)?;
        self.heap.get(at as usize)
    }

    /// Removes a place.
    pub(crate) fn forget(&mut self, place: u32) {
        let Some(index) = self.index.get_mut(place as usize) else { return };
        let at = std::mem::replace(index, ABSENT) as usize;
        // An absent place has the index `ABSENT`, beyond the end of the heap.
        let Some(&gone) = self.heap.get(at) else { return };
        debug_assert_eq!(gone.place, place, "the index and the heap name each other");
        self.heap.swap_remove(at);
        // The last entry has moved to this index, and may belong above or below it.
        match self.heap.get(at) {
            Some(moved) if *moved < gone => self.rise(at),
            Some(_) => self.sink(at),
            None => {}
        }
    }

    /// Moves an entry up until no entry above it is larger.
    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        self.note_index(at);
    }

    /// Moves an entry down until no entry below it is smaller.
    fn sink(&mut self, mut at: usize) {
        loop {
            let left = 2 * at + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let below = if right < self.heap.len() && self.is_before(right, left) { right } else { left };
            if !self.is_before(below, at) {
                break;
            }
            self.swap(at, below);
            at = below;
        }
        self.note_index(at);
    }

    fn is_before(&mut self, one: usize, other: usize) -> bool {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        self.heap[one] < self.heap[other]
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.note_index(one);
        self.note_index(other);
    }

    fn note_index(&mut self, at: usize) {
        let place = self.heap[at].place;
        self.index[place as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SplitMix64;
    use std::collections::BTreeMap;

    /// Random operations from a seed: the first entry is always the lowest.
    #[test]
    fn random_operations_keep_the_lowest_key_first() {
        let (mut dice, mut due_heap, mut model) = (SplitMix64::new(3), DueHeap::new(), BTreeMap::new());
        let first = |model: &BTreeMap<u32, (Instant, u64)>| {
            model.iter().map(|(&place, &order)| (order, place)).min().map(|((due, _), place)| (due, place))
        };
        for number in 0..50_000 {
            let place = (dice.draw() % 40) as u32;
            let due = Instant::from_nanos(dice.draw() % 50);
            match dice.draw() % 8 {
                0 => {
                    let to = 40 + place;
                    due_heap.forget(to);
                    due_heap.relocate(place, to);
                    model.remove(&to);
                    if let Some((due, _)) = model.remove(&place) {
                        model.insert(to, (due, number));
                    }
                }
                1 => {
                    due_heap.set(place, Some(due));
                    // An unchanged key keeps its order among equal keys.
                    if model.get(&place).is_none_or(|&(known, _)| due != known) {
                        model.insert(place, (due, number));
                    }
                }
                2..4 => {
                    due_heap.bring_forward(place, due);
                    if model.get(&place).is_none_or(|&(known, _)| due < known) {
                        model.insert(place, (due, number));
                    }
                }
                4 | 5 if !model.contains_key(&place) => {
                    due_heap.note(place, due);
                    model.insert(place, (due, number));
                }
                _ => {
                    due_heap.forget(place);
                    model.remove(&place);
                }
            }
            let now = Instant::from_nanos(dice.draw() % 60);
            let expected = first(&model);
            assert_eq!(due_heap.first(), expected.map(|(due, _)| due));
            assert_eq!(due_heap.first_due(now), expected.filter(|(due, _)| *due <= now).map(|(_, place)| place));
            assert_eq!(due_heap.heap.len(), model.len());
        }
        due_heap.forget(1_000);
    }

    #[test]
    fn ascending_keys_cost_one_step_each() {
        let mut due_heap = DueHeap::new();
        for place in 0..10_000 {
            due_heap.note(place, Instant::from_nanos(place.into()));
        }
        assert_eq!(due_heap.steps, 9_999);
    }
}
