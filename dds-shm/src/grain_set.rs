//! A set of grains, which finds free runs 64 grains at a time.

use std::ops::Range;

/// Grains in one word.
const WORD: usize = u64::BITS as usize;

/// Numbers below a fixed length.
#[derive(Debug)]
pub(crate) struct GrainSet {
    /// Bit `n % 64` of word `n / 64` is set if the set has `n`.
    words: Vec<u64>,
}

impl GrainSet {
    pub(crate) fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(WORD)] }
    }

    pub(crate) fn insert(&mut self, grains: Range<usize>) {
        for (index, bits) in words_of(grains) {
            if let Some(word) = self.words.get_mut(index) {
                *word |= bits;
            }
        }
    }

    pub(crate) fn remove(&mut self, grains: Range<usize>) {
        for (index, bits) in words_of(grains) {
            if let Some(word) = self.words.get_mut(index) {
                *word &= !bits;
            }
        }
    }

    /// The first number from `start` on that is not in the set. It may be beyond the length.
    pub(crate) fn next_absent(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(word) = self.words.get(at / WORD) {
            let absent = !word >> (at % WORD);
            if absent != 0 {
                return at + absent.trailing_zeros() as usize;
            }
            at = next_word(at);
        }
        at
    }

    /// The first number from `start` on that is in the set, or `end` if none below it is.
    pub(crate) fn next_present(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let present = self.words.get(at / WORD).map_or(0, |word| word >> (at % WORD));
            if present != 0 {
                return end.min(at + present.trailing_zeros() as usize);
            }
            at = next_word(at);
        }
        end
    }

    #[cfg(all(test, not(dds_loom)))]
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The first number of the next word.
const fn next_word(at: usize) -> usize {
    (at / WORD + 1) * WORD
}

/// The words of a range, with its bits in each.
fn words_of(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let words = range.start / WORD..range.end.div_ceil(WORD);
    words.map(move |index| {
        let first = range.start.saturating_sub(index * WORD);
        let count = (range.end - index * WORD).min(WORD) - first;
        (index, u64::MAX.checked_shr((WORD - count) as u32).unwrap_or(0) << first)
    })
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn set_equals_a_list_of_booleans(steps in prop::collection::vec((0_usize..200, 1_usize..150, any::<bool>()), 1..40)) {
            let (mut set, mut list) = (GrainSet::new(200), vec![false; 256]);
            for (start, len, is_inserted) in steps {
                let end = (start + len).min(200);
                list[start..end].fill(is_inserted);
                if is_inserted { set.insert(start..end) } else { set.remove(start..end) }
                let absent = list.iter().skip(start).position(|has| !has).map_or(256, |at| start + at);
                prop_assert_eq!(set.next_absent(start), absent);
                let present = list[start..end].iter().position(|has| *has).map_or(end, |at| start + at);
                prop_assert_eq!(set.next_present(start, end), present);
                prop_assert_eq!(set.count(), list.iter().filter(|has| **has).count());
            }
        }
    }
}
