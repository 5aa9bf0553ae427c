//! SequenceNumberSet and FragmentNumberSet: a base and at most 256 bits (RTPS 2.5, 9.4.2.6 and 9.4.2.8).
//!
//! ```text
//!  SequenceNumberSet              FragmentNumberSet
//!  0   base, high   i32           0   base      u32
//!  4   base, low    u32           4   numBits   u32, at most 256
//!  8   numBits      u32           8   bitmap    (numBits + 31) / 32 words of u32
//!  12  bitmap
//! ```
//!
//! Bit `i` of the set is `1 << (31 - i % 32)` of word `i / 32`.

use super::cursor::Cursor;
use super::fields::Fields;
use super::{WireError, WireErrorKind};
use crate::types::SequenceNumber;

/// Most bits of a set.
pub const SET_BITS_MAX: u32 = 256;

/// Sequence numbers from `base` on, at most 256 apart. Bit `i` represents `base + i`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceNumberSet {
    base: SequenceNumber,
    bit_count: u32,
    /// Bits from `bit_count` on are zero.
    words: [u32; 8],
}

impl SequenceNumberSet {
    /// Creates an empty set. Its `base` has a meaning: an ACKNACK acknowledges all numbers below it.
    #[must_use]
    pub const fn empty(base: SequenceNumber) -> Self {
        Self { base, bit_count: 0, words: [0; 8] }
    }

    /// Returns the base.
    #[must_use]
    pub const fn base(&self) -> SequenceNumber {
        self.base
    }

    /// Returns the number of bits that the set spans.
    #[must_use]
    pub const fn bit_count(&self) -> u32 {
        self.bit_count
    }

    /// Adds a member; returns false if it lies outside of `base .. base + 256`.
    pub fn insert(&mut self, number: SequenceNumber) -> bool {
        let Some(offset) = number.0.checked_sub(self.base.0) else { return false };
        let Ok(offset) = u32::try_from(offset) else { return false };
        if offset >= SET_BITS_MAX {
            return false;
        }
        insert_bit(&mut self.words, &mut self.bit_count, offset);
        true
    }

    /// Whether `number` is a member.
    #[must_use]
    pub fn contains(&self, number: SequenceNumber) -> bool {
        let Some(offset) = number.0.checked_sub(self.base.0) else { return false };
        let Ok(offset) = u32::try_from(offset) else { return false };
        offset < self.bit_count && bit(&self.words, offset)
    }

    /// Returns the members in ascending order. The cost depends on the members, not on the span.
    pub fn iter(&self) -> impl Iterator<Item = SequenceNumber> + '_ {
        members(&self.words).map(|offset| self.base.plus(offset.into()))
    }

    /// Whether the set has no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words == [0; 8]
    }

    /// Returns the bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        12 + 4 * self.bit_count.div_ceil(32) as usize
    }

    /// Reads a set with a base of at least `least_base`, whose last bit represents an existing number.
    pub(super) fn parse(cursor: &mut Cursor<'_>, least_base: SequenceNumber) -> Result<Self, WireError> {
        let out_of_range = cursor.error(WireErrorKind::SetRange);
        let base = cursor.sequence_number()?;
        let (bit_count, words) = parse_bits(cursor)?;
        // So `base + i` does not overflow for any member.
        let runs_over = base.0.checked_add(i64::from(bit_count).saturating_sub(1)).is_none();
        if base < least_base || runs_over {
            return Err(out_of_range);
        }
        Ok(Self { base, bit_count, words })
    }

    #[inline]
    pub(super) fn put<const N: usize>(&self, fields: &mut Fields<N>) {
        put_bits(fields.sequence_number(self.base), self.bit_count, &self.words);
    }
}

/// Fragment numbers (from 1) from `base` on, at most 256 apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentNumberSet {
    base: u32,
    bit_count: u32,
    /// Bits from `bit_count` on are zero.
    words: [u32; 8],
}

impl FragmentNumberSet {
    /// Creates an empty set.
    #[must_use]
    pub const fn empty(base: u32) -> Self {
        Self { base, bit_count: 0, words: [0; 8] }
    }

    /// Returns the base.
    #[must_use]
    pub const fn base(&self) -> u32 {
        self.base
    }

    /// Returns the number of bits that the set spans.
    #[must_use]
    pub const fn bit_count(&self) -> u32 {
        self.bit_count
    }

    /// Adds a member; returns false if it lies outside of `base .. base + 256`.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(offset) = number.checked_sub(self.base) else { return false };
        if offset >= SET_BITS_MAX {
            return false;
        }
        insert_bit(&mut self.words, &mut self.bit_count, offset);
        true
    }

    /// Whether `number` is a member.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        let Some(offset) = number.checked_sub(self.base) else { return false };
        offset < self.bit_count && bit(&self.words, offset)
    }

    /// Returns the members in ascending order. The cost depends on the members, not on the span.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        members(&self.words).filter_map(|offset| self.base.checked_add(offset))
    }

    /// Whether the set has no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words == [0; 8]
    }

    /// Returns the bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        8 + 4 * self.bit_count.div_ceil(32) as usize
    }

    /// Reads a set with a base of at least 1, whose last bit represents an existing number.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let out_of_range = cursor.error(WireErrorKind::SetRange);
        let base = cursor.u32()?;
        let (bit_count, words) = parse_bits(cursor)?;
        // So `base + i` does not overflow for any member.
        if base == 0 || base.checked_add(bit_count.saturating_sub(1)).is_none() {
            return Err(out_of_range);
        }
        Ok(Self { base, bit_count, words })
    }

    #[inline]
    pub(super) fn put<const N: usize>(&self, fields: &mut Fields<N>) {
        put_bits(fields.u32(self.base), self.bit_count, &self.words);
    }
}

/// Bit 0 is the highest bit of the first word.
fn bit(words: &[u32; 8], offset: u32) -> bool {
    match words.get((offset / 32) as usize) {
        Some(word) => word & (1 << (31 - offset % 32)) != 0,
        None => false,
    }
}

fn insert_bit(words: &mut [u32; 8], bit_count: &mut u32, offset: u32) {
    debug_assert!(offset < SET_BITS_MAX, "the caller checks the offset");
    if let Some(word) = words.get_mut((offset / 32) as usize) {
        *word |= 1 << (31 - offset % 32);
        // The count ends at the last member, which keeps the set short on the wire.
        *bit_count = (*bit_count).max(offset + 1);
    }
}

/// Returns the offsets of the bits that are set, in ascending order.
fn members(words: &[u32; 8]) -> impl Iterator<Item = u32> + '_ {
    (0_u32..).step_by(32).zip(words).flat_map(|(start, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            // Bit 0 of the set is the highest bit of the word. Without a bit, the shift by 32 is `None`.
            let position = left.leading_zeros();
            left &= !(0x8000_0000_u32.checked_shr(position)?);
            Some(start + position)
        })
    })
}

/// Reads numBits and the bitmap. Bits past numBits are cleared, because peers may send anything there.
fn parse_bits(cursor: &mut Cursor<'_>) -> Result<(u32, [u32; 8]), WireError> {
    let too_long = cursor.error(WireErrorKind::SetTooLong);
    let bit_count = cursor.u32()?;
    if bit_count > SET_BITS_MAX {
        return Err(too_long);
    }
    let mut words = [0; 8];
    for word in words.iter_mut().take(bit_count.div_ceil(32) as usize) {
        *word = cursor.u32()?;
    }
    // A peer may set bits behind the last one. They are no members.
    if bit_count % 32 != 0 {
        if let Some(last) = words.get_mut((bit_count / 32) as usize) {
            *last &= !(u32::MAX >> (bit_count % 32));
        }
    }
    Ok((bit_count, words))
}

#[inline]
fn put_bits<const N: usize>(fields: &mut Fields<N>, bit_count: u32, words: &[u32; 8]) {
    fields.u32(bit_count);
    for &word in words.iter().take(bit_count.div_ceil(32) as usize) {
        fields.u32(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sequence_set(base: i64, members: &[i64]) -> SequenceNumberSet {
        let mut set = SequenceNumberSet::empty(SequenceNumber(base));
        for &member in members {
            assert!(set.insert(SequenceNumber(member)));
        }
        set
    }

    fn bytes_of(set: &SequenceNumberSet) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut fields = Fields::<44>::new();
        set.put(&mut fields);
        fields.append_to(&mut bytes);
        bytes
    }

    #[test]
    fn first_bit_is_the_highest_of_the_first_word() {
        let set = sequence_set(7, &[7, 9, 39]);
        assert_eq!(set.bit_count(), 33);
        assert_eq!(bytes_of(&set), [0, 0, 0, 0, 7, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0xa0, 0, 0, 0, 0x80]);
        assert_eq!(set.wire_len(), 20);
    }

    #[test]
    fn members_outside_of_256_bits_are_rejected() {
        let mut set = SequenceNumberSet::empty(SequenceNumber(10));
        assert!(!set.insert(SequenceNumber(9)) && !set.insert(SequenceNumber(266)));
        assert!(set.is_empty() && set.insert(SequenceNumber(265)) && !set.is_empty());
        assert_eq!(set.bit_count(), 256);
        let mut fragments = FragmentNumberSet::empty(1);
        assert!(!fragments.insert(0) && !fragments.insert(257) && fragments.insert(256));
        assert!(fragments.contains(256) && !fragments.contains(255) && !fragments.contains(0));
    }

    #[test]
    fn bits_past_the_count_are_not_members() {
        let bytes = [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        let set = SequenceNumberSet::parse(&mut Cursor::new(&bytes, 0, true), SequenceNumber::FIRST).unwrap();
        assert_eq!(set, sequence_set(1, &[1, 2]));
    }

    #[test]
    fn sequence_set_past_the_last_number_is_rejected() {
        let kind = |bytes: &[u8]| {
            SequenceNumberSet::parse(&mut Cursor::new(bytes, 0, false), SequenceNumber::FIRST).map_err(|e| e.kind)
        };
        let last = [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert!(kind(&[&last[..], &[0, 0, 0, 1, 0x80, 0, 0, 0]].concat()).is_ok());
        assert_eq!(kind(&[&last[..], &[0, 0, 0, 2, 0x80, 0, 0, 0]].concat()), Err(WireErrorKind::SetRange));
        assert_eq!(kind(&[0; 12]), Err(WireErrorKind::SetRange));
        assert_eq!(kind(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1]), Err(WireErrorKind::SetTooLong));
    }

    #[test]
    fn fragment_set_past_the_last_number_is_rejected() {
        let kind = |bytes: &[u8]| FragmentNumberSet::parse(&mut Cursor::new(bytes, 0, false)).map_err(|e| e.kind);
        assert!(kind(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0x80, 0, 0, 0]).is_ok());
        assert_eq!(kind(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0x80, 0, 0, 0]), Err(WireErrorKind::SetRange));
        assert_eq!(kind(&[0; 8]), Err(WireErrorKind::SetRange));
    }

    proptest! {
        #[test]
        fn members_come_back_in_order(base in 1_i64..i64::MAX - 256, offsets in proptest::collection::btree_set(0_i64..256, 0..64)) {
            let members: Vec<i64> = offsets.iter().map(|offset| base + offset).collect();
            let set = sequence_set(base, &members);
            let bytes = bytes_of(&set);
            let mut cursor = Cursor::new(&bytes, 0, true);
            prop_assert_eq!(&SequenceNumberSet::parse(&mut cursor, SequenceNumber::FIRST).unwrap(), &set);
            prop_assert!(cursor.rest().is_empty());
            prop_assert_eq!(set.iter().map(|number| number.0).collect::<Vec<_>>(), members);
        }
    }
}
