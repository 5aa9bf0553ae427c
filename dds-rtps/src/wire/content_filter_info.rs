//! CONTENT_FILTER_INFO: the readers' filters that a writer has evaluated for a sample (RTPS 2.5, 9.6.4.1).
//!
//! ```text
//! 0   numBitmaps       u32
//! 4   bitmaps          numBitmaps words of u32: bit 1 << (31 - i % 32) of word i / 32: filter i was passed
//! ..  numSignatures    u32
//! ..  signatures       16 octets each: the MD5 of a filter
//! ```
//!
//! Our writers and readers do not use it yet. A writer sends a sample if the filter of any reader accepts it, and each
//! reader evaluates its own filter. That takes some 100 ns, against 16 octets of signature for each filter in each
//! sample. The results of another vendor's writer are ignored, right or wrong.

use super::cursor::Cursor;
use super::{WireError, parameter_id};

/// Signature of a content filter: the MD5 of its topic names, class, expression and parameters.
pub type FilterSignature = [u8; 16];

/// Filters that a writer has evaluated for a sample. A reader evaluates other filters itself.
///
/// It borrows from the message, so it is no longer than that. A lookup searches it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentFilterInfo<'a> {
    bitmaps: &'a [u8],
    signatures: &'a [u8],
    little_endian: bool,
}

impl<'a> ContentFilterInfo<'a> {
    /// Most filter results of one sample; otherwise signatures could fill a datagram. The readers of other filters
    /// evaluate them.
    pub const RESULTS_MAX: usize = 64;

    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let bitmap_count = cursor.u32()? as usize;
        // A forged count saturates, and then the message is too short for it.
        let bitmaps = cursor.slice(bitmap_count.saturating_mul(4))?;
        let signature_count = cursor.u32()? as usize;
        let signatures = cursor.slice(signature_count.saturating_mul(size_of::<FilterSignature>()))?;
        Ok(Self { bitmaps, signatures, little_endian: cursor.little_endian() })
    }

    /// Returns each filter and whether the sample passed it. A filter without a bit is left out.
    pub fn results(&self) -> impl Iterator<Item = (FilterSignature, bool)> + use<'a> {
        let mut words = Cursor::new(self.bitmaps, 0, self.little_endian);
        let mut signatures = Cursor::new(self.signatures, 0, self.little_endian);
        let mut word = 0;
        (0_u32..).map_while(move |index| {
            if index % 32 == 0 {
                word = words.u32().ok()?;
            }
            // Bit 0 is the highest bit of the first word.
            let passed = word & (1 << (31 - index % 32)) != 0;
            Some((signatures.bytes().ok()?, passed))
        })
    }

    /// Whether the sample passed the filter of this signature; `None` if the writer has not evaluated it.
    #[must_use]
    pub fn passed(&self, signature: &FilterSignature) -> Option<bool> {
        for (found, passed) in self.results() {
            if found == *signature {
                return Some(passed);
            }
        }
        None
    }

    /// Appends the parameter, little endian, with the first [`Self::RESULTS_MAX`] results.
    pub(super) fn build(buffer: &mut Vec<u8>, results: &[(FilterSignature, bool)]) {
        let results = results.get(..Self::RESULTS_MAX).unwrap_or(results);
        let words = results.chunks(32);
        let len = 8 + 4 * words.len() + size_of::<FilterSignature>() * results.len();
        debug_assert!(u16::try_from(len).is_ok(), "`RESULTS_MAX` results fit into a parameter");
        buffer.extend_from_slice(&parameter_id::CONTENT_FILTER_INFO.to_le_bytes());
        buffer.extend_from_slice(&(len as u16).to_le_bytes());
        buffer.extend_from_slice(&(words.len() as u32).to_le_bytes());
        for chunk in words {
            let mut word = 0_u32;
            for (index, (_, passed)) in chunk.iter().enumerate() {
                if *passed {
                    word |= 1 << (31 - index);
                }
            }
            buffer.extend_from_slice(&word.to_le_bytes());
        }
        buffer.extend_from_slice(&(results.len() as u32).to_le_bytes());
        for (signature, _) in results {
            buffer.extend_from_slice(signature);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(bytes: &[u8], little_endian: bool) -> Result<ContentFilterInfo<'_>, WireError> {
        ContentFilterInfo::parse(&mut Cursor::new(bytes, 0, little_endian))
    }

    #[test]
    fn layout() {
        let (a, b) = (*b"aaaaaaaaaaaaaaaa", *b"bbbbbbbbbbbbbbbb");
        let mut little = Vec::new();
        ContentFilterInfo::build(&mut little, &[(a, false), (b, true)]);
        assert_eq!(little, b"\x55\0\x2c\0\x01\0\0\0\0\0\0\x40\x02\0\0\0aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb");
        let big = b"\0\0\0\x01\x40\0\0\0\0\0\0\x02aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb";
        for info in [parse(&little[4..], true).unwrap(), parse(big, false).unwrap()] {
            assert_eq!((info.passed(&a), info.passed(&b)), (Some(false), Some(true)));
            assert_eq!(info.passed(&[0; 16]), None);
        }
        for len in 0..big.len() {
            assert!(parse(&big[..len], false).is_err(), "{len}");
        }
    }

    #[test]
    fn filter_counts_beyond_the_value_are_rejected() {
        assert!(parse(b"\xff\xff\xff\xff\0\0\0\0", false).is_err());
        assert!(parse(b"\0\0\0\0\xff\xff\xff\xff", false).is_err());
        assert!(parse(b"\x40\0\0\0\0\0\0\0\0\0\0\0", false).is_err());
    }

    #[test]
    fn filter_without_a_bit_has_no_result() {
        let info = parse(b"\0\0\0\0\0\0\0\x01aaaaaaaaaaaaaaaa", false).unwrap();
        assert_eq!((info.results().count(), info.passed(b"aaaaaaaaaaaaaaaa")), (0, None));
    }

    proptest! {
        #[test]
        fn results_come_back(results in proptest::collection::vec(any::<([u8; 16], bool)>(), 0..100)) {
            let mut bytes = Vec::new();
            ContentFilterInfo::build(&mut bytes, &results);
            let kept = results.len().min(ContentFilterInfo::RESULTS_MAX);
            prop_assert_eq!(bytes.len() % 4, 0);
            let info = parse(&bytes[4..], true).unwrap();
            prop_assert_eq!(info.results().collect::<Vec<_>>(), &results[..kept]);
        }
    }
}
