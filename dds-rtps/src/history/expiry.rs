//! The samples of a reader whose LIFESPAN ends, by when it does.
//!
//! Each writer has a lifespan of its own, and a late sample ends before earlier ones, so the order of arrival says nothing. A
//! heap does, and each sample knows its place in it: whatever leaves the cache leaves the heap at once, so that nothing has
//! to be swept. Adding and removing cost the logarithm of the samples that are here, mostly less: those that come last end
//! last. Samples without a lifespan are not here, and a reader that has only those has no heap. Nothing is allocated once it
//! has been as large as it gets.
//!
//! Bound: an entry of 24 bytes for each sample that ends, and 4 bytes for each place of the slab.

use crate::types::Instant;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// Places of the slab, the one whose sample ends first in front.
#[derive(Debug)]
pub(super) struct Expiry {
    heap: Vec<Entry>,
    /// Where in the heap the sample of each place is.
    index: Vec<u32>,
    /// Numbers the entries.
    count: u64,
    #[cfg(test)]
    pub(super) steps: u64,
}

/// Of two that end together, the one that came first goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    expires: Instant,
    number: u64,
    place: u32,
}

impl Expiry {
    pub(super) const fn new() -> Self {
        Self {
            heap: Vec::new(),
            index: Vec::new(),
            count: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// When the first of all samples ends.
    pub(super) fn first(&self) -> Option<Instant> {
        self.heap.first().map(|entry| entry.expires)
    }

    /// The sample that ends first, if it has ended by now. It stays until it is forgotten.
    pub(super) fn first_due(&self, now: Instant) -> Option<u32> {
        self.heap.first().filter(|entry| entry.expires <= now).map(|entry| entry.place)
    }

    /// The sample at this place, which is not here yet, ends then.
    pub(super) fn note(&mut self, place: u32, expires: Instant) {
        let len = place as usize + 1;
        if self.index.len() < len {
            self.index.resize(len, ABSENT);
        }
        self.count += 1;
        self.heap.push(Entry { expires, number: self.count, place });
        self.rise(self.heap.len() - 1);
    }

    /// The sample at this place is gone.
    pub(super) fn forget(&mut self, place: u32) {
        let Some(index) = self.index.get_mut(place as usize) else { return };
        let at = std::mem::replace(index, ABSENT) as usize;
        let Some(&gone) = self.heap.get(at) else { return };
        self.heap.swap_remove(at);
        // The last one stands in its place, and may belong above it or below.
        match self.heap.get(at) {
            Some(moved) if *moved < gone => self.rise(at),
            Some(_) => self.sink(at),
            None => {}
        }
    }

    /// Brings an entry up to where none above it ends later.
    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        self.note_index(at);
    }

    /// Brings an entry down to where none below it ends earlier.
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

    /// Whatever comes and goes, by chance from a seed: the first one is the first.
    #[test]
    fn the_first_to_end_is_in_front_whatever_has_gone() {
        let (mut dice, mut expiry, mut model) = (SplitMix64::new(3), Expiry::new(), BTreeMap::new());
        let first = |model: &BTreeMap<u32, (Instant, u64)>| {
            model.iter().map(|(&place, &order)| (order, place)).min().map(|((expires, _), place)| (expires, place))
        };
        for number in 0..50_000 {
            let place = (dice.draw() % 40) as u32;
            if model.contains_key(&place) || dice.draw() % 4 == 0 {
                model.remove(&place);
                expiry.forget(place);
            } else {
                let expires = Instant::from_nanos(dice.draw() % 50);
                model.insert(place, (expires, number));
                expiry.note(place, expires);
            }
            let now = Instant::from_nanos(dice.draw() % 60);
            let expected = first(&model);
            assert_eq!(expiry.first(), expected.map(|(expires, _)| expires));
            assert_eq!(expiry.first_due(now), expected.filter(|(expires, _)| *expires <= now).map(|(_, place)| place));
            assert_eq!(expiry.heap.len(), model.len());
        }
        expiry.forget(1_000);
    }

    #[test]
    fn what_ends_in_the_order_of_its_coming_costs_one_step_to_note() {
        let mut expiry = Expiry::new();
        (0..10_000).for_each(|place| expiry.note(place, Instant::from_nanos(place.into())));
        assert_eq!(expiry.steps, 9_999);
    }
}
