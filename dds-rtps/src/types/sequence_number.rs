//! Sequence numbers of changes (RTPS 2.5, 8.3.5.4 and 9.3.2.2).

use std::fmt;

/// The number of a change within its writer, from 1 (RTPS 2.5, 8.3.5.4). 64 bits never wrap in practice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SequenceNumber(pub i64);

impl SequenceNumber {
    /// Before the first change.
    pub const ZERO: Self = Self(0);
    /// The first change of a writer.
    pub const FIRST: Self = Self(1);
    /// The highest sequence number on the wire.
    pub const MAX: Self = Self(i64::MAX);
    /// SEQUENCENUMBER_UNKNOWN: high word -1, low word 0 (RTPS 2.5, 9.3.2.2).
    pub const UNKNOWN: Self = Self(-(1 << 32));

    /// The next sequence number; saturates at [`SequenceNumber::MAX`].
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The previous sequence number.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// `self + count`; saturates at [`SequenceNumber::MAX`].
    #[must_use]
    pub const fn plus(self, count: i64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// Whether a change may have this sequence number.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.0 >= 1
    }

    /// The two words of the wire: high (signed), low (unsigned).
    #[must_use]
    pub const fn to_words(self) -> (i32, u32) {
        ((self.0 >> 32) as i32, self.0 as u32)
    }

    /// The inverse of [`SequenceNumber::to_words`].
    #[must_use]
    pub const fn from_words(high: i32, low: u32) -> Self {
        Self(((high as i64) << 32) | low as i64)
    }
}

impl fmt::Debug for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_past_32_bits() {
        for number in [1, 0xffff_ffff, 0x1_0000_0000, i64::MAX, -(1 << 32)] {
            let (high, low) = SequenceNumber(number).to_words();
            assert_eq!(SequenceNumber::from_words(high, low), SequenceNumber(number));
        }
        assert_eq!(SequenceNumber::UNKNOWN.to_words(), (-1, 0));
    }

    #[test]
    fn next_saturates() {
        assert_eq!(SequenceNumber::MAX.next(), SequenceNumber::MAX);
    }
}
