//! Strings, bits, and values that are copied as a whole.

use super::Encoder;
use crate::cdr::enumerated::{beyond, size_of_bits};
use crate::cdr::{Encode, EncodeError, Plain};

impl Encoder<'_> {
    /// Encodes a wide string.
    pub(in crate::cdr) fn wide_text(&mut self, text: &str) -> Result<(), EncodeError> {
        if let Some(position) = text.find('\0') {
            return Err(EncodeError::InteriorNul { position });
        }
        // The length is in bytes, as Cyclone DDS has it. Fast CDR counts characters.
        self.length(2 * text.encode_utf16().count())?;
        for unit in text.encode_utf16() {
            unit.encode(self)?;
        }
        Ok(())
    }

    /// Encodes bits in the fewest bytes for `bit_bound` bits.
    ///
    /// # Errors
    /// A bit exceeds `bit_bound`.
    #[inline]
    pub fn bits(&mut self, bits: u64, bit_bound: u8) -> Result<(), EncodeError> {
        // A reader would refuse such bits, or take them for members of a newer type.
        if bits & beyond(bit_bound) != 0 {
            return Err(EncodeError::TooManyBits { bit_bound });
        }
        match size_of_bits(bit_bound) {
            1 => (bits as u8).encode(self),
            2 => (bits as u16).encode(self),
            4 => (bits as u32).encode(self),
            _ => bits.encode(self),
        }
    }

    /// Writes values as they are in memory. Returns `false` and writes nothing if that is not their encoding here.
    #[inline]
    pub fn plain<T: Plain>(&mut self, values: &[T]) -> bool {
        let is_plain = T::IS_LAID_OUT && self.order().is_host() && !values.is_empty();
        // At another position the encoding has padding that the memory does not have.
        if !is_plain || !self.will_be_aligned(T::FIRST, T::LARGEST) {
            return false;
        }
        self.align(T::FIRST);
        self.bytes(T::memory_of(values));
        true
    }
}
