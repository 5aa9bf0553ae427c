//! Which fragments of a sample were received. Fragment numbers start at 1.

/// Received fragments of one sample, one bit each.
#[derive(Debug)]
pub(super) struct ReceivedFragments {
    /// Bit `i % 64` of word `i / 64`: fragment number `i + 1` was received.
    words: Vec<u64>,
    fragment_count: u32,
    received: u32,
    /// All fragments below this number were received.
    first_missing: u32,
    /// Highest received number; 0: none.
    highest: u32,
}

impl ReceivedFragments {
    /// No fragment of `fragment_count` was received. Reuses the memory of `words`.
    pub(super) fn none_of(fragment_count: u32, mut words: Vec<u64>) -> Self {
        words.clear();
        words.resize((fragment_count as usize).div_ceil(64), 0);
        Self { words, fragment_count, received: 0, first_missing: 1, highest: 0 }
    }

    pub(super) fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Fragments of the sample, received or not.
    pub(super) fn fragment_count(&self) -> u32 {
        self.fragment_count
    }

    /// How many fragments were received.
    pub(super) fn len(&self) -> u32 {
        self.received
    }

    pub(super) fn is_complete(&self) -> bool {
        self.received == self.fragment_count
    }

    pub(super) fn first_missing(&self) -> u32 {
        self.first_missing
    }

    pub(super) fn highest(&self) -> u32 {
        self.highest
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        debug_assert!(number > 0, "fragment numbers start at 1");
        let index = number - 1;
        match self.words.get((index / 64) as usize) {
            Some(word) => word & (1 << (index % 64)) != 0,
            None => false,
        }
    }

    pub(super) fn contains_all(&self, first: u32, last: u32) -> bool {
        (first..=last).all(|number| self.contains(number))
    }

    /// Marks `first ..= last` as received.
    pub(super) fn insert(&mut self, first: u32, last: u32) {
        debug_assert!(0 < first && last <= self.fragment_count, "the caller checked the fragment numbers");
        for number in first..=last {
            let index = number - 1;
            let Some(word) = self.words.get_mut((index / 64) as usize) else {
                debug_assert!(false, "there is a bit for each fragment");
                continue;
            };
            let bit = 1 << (index % 64);
            self.received += u32::from(*word & bit == 0);
            *word |= bit;
        }
        // The search starts where it ended before, so all fragments of a sample cost one pass over the words.
        self.first_missing = self.next_missing(self.first_missing).unwrap_or(self.fragment_count + 1);
        self.highest = self.highest.max(last);
    }

    /// First missing number from `from` on.
    pub(super) fn next_missing(&self, from: u32) -> Option<u32> {
        let mut index = from - 1;
        while index < self.fragment_count {
            let word = self.words.get((index / 64) as usize)?;
            // Bits beyond the last fragment look missing as well.
            let missing = !word >> (index % 64);
            if missing != 0 {
                let found = index + missing.trailing_zeros();
                return if found < self.fragment_count { Some(found + 1) } else { None };
            }
            index = (index / 64 + 1) * 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_fragments_count_once() {
        let mut fragments = ReceivedFragments::none_of(130, vec![u64::MAX]);
        fragments.insert(2, 3);
        fragments.insert(3, 3);
        assert_eq!((fragments.len(), fragments.first_missing(), fragments.highest()), (2, 1, 3));
        fragments.insert(1, 1);
        assert_eq!((fragments.len(), fragments.first_missing()), (3, 4));
        assert!(fragments.contains_all(1, 3) && !fragments.contains(4));
    }

    #[test]
    fn next_missing_crosses_words_and_ends_with_the_sample() {
        let mut fragments = ReceivedFragments::none_of(130, Vec::new());
        fragments.insert(1, 129);
        assert_eq!((fragments.next_missing(1), fragments.next_missing(64)), (Some(130), Some(130)));
        fragments.insert(130, 130);
        assert_eq!((fragments.next_missing(1), fragments.first_missing()), (None, 131));
        assert!(fragments.is_complete());
    }
}
