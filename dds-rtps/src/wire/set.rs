//! SequenceNumberSet and FragmentNumberSet: a base and at most 256 bits (RTPS 2.5, 9.4.2.6 and 9.4.2.8).

use crate::types::SequenceNumber;

/// The most bits that a set can have.
pub const SET_BITS_MAX: u32 = 256;

/// Sequence numbers from `base` on, at most 256 apart. Bit `i` stands for `base + i`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceNumberSet {
    base: SequenceNumber,
    bit_count: u32,
    words: [u32; 8],
}

impl SequenceNumberSet {
    /// A set without members. `base` counts all the same: an ACKNACK acknowledges what lies below it.
    #[must_use]
    pub const fn empty(base: SequenceNumber) -> Self {
        Self { base, bit_count: 0, words: [0; 8] }
    }

    /// The base.
    #[must_use]
    pub const fn base(&self) -> SequenceNumber {
        self.base
    }

    /// How many bits the set spans.
    #[must_use]
    pub const fn bit_count(&self) -> u32 {
        self.bit_count
    }

    /// Adds a member; `false` if it does not lie within `base .. base + 256`.
    pub fn insert(&mut self, number: SequenceNumber) -> bool {
        let Some(offset) = number.0.checked_sub(self.base.0) else { return false };
        let Some(offset) = u32::try_from(offset).ok().filter(|&offset| offset < SET_BITS_MAX) else { return false };
        insert_bit(&mut self.words, &mut self.bit_count, offset);
        true
    }

    /// Whether `number` is a member.
    #[must_use]
    pub fn contains(&self, number: SequenceNumber) -> bool {
        let offset = number.0.checked_sub(self.base.0).and_then(|offset| u32::try_from(offset).ok());
        offset.is_some_and(|offset| offset < self.bit_count && bit(&self.words, offset))
    }

    /// The members in growing order.
    pub fn iter(&self) -> impl Iterator<Item = SequenceNumber> + '_ {
        (0..self.bit_count).filter(|&offset| bit(&self.words, offset)).map(|offset| self.base.plus(offset.into()))
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// Fragment numbers (from 1) from `base` on, at most 256 apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentNumberSet {
    base: u32,
    bit_count: u32,
    words: [u32; 8],
}

impl FragmentNumberSet {
    /// A set without members.
    #[must_use]
    pub const fn empty(base: u32) -> Self {
        Self { base, bit_count: 0, words: [0; 8] }
    }

    /// The base.
    #[must_use]
    pub const fn base(&self) -> u32 {
        self.base
    }

    /// How many bits the set spans.
    #[must_use]
    pub const fn bit_count(&self) -> u32 {
        self.bit_count
    }

    /// Adds a member; `false` if it does not lie within `base .. base + 256`.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(offset) = number.checked_sub(self.base).filter(|&offset| offset < SET_BITS_MAX) else { return false };
        insert_bit(&mut self.words, &mut self.bit_count, offset);
        true
    }

    /// The members in growing order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.bit_count)
            .filter(|&offset| bit(&self.words, offset))
            .filter_map(|offset| self.base.checked_add(offset))
    }
}

/// Bit 0 is the highest bit of the first word.
fn bit(words: &[u32; 8], offset: u32) -> bool {
    words.get((offset / 32) as usize).is_some_and(|word| word & (1 << (31 - offset % 32)) != 0)
}

fn insert_bit(words: &mut [u32; 8], bit_count: &mut u32, offset: u32) {
    if let Some(word) = words.get_mut((offset / 32) as usize) {
        *word |= 1 << (31 - offset % 32);
        *bit_count = (*bit_count).max(offset + 1);
    }
}
