//! Strings, bits, and values that are copied as a whole.

use super::Decoder;
use crate::cdr::collection::try_array;
use crate::cdr::copy::copy;
use crate::cdr::enumerated::{beyond, size_of_bits};
use crate::cdr::{Decode, DecodeError, DecodeErrorKind, Plain, Primitive};

impl<'de> Decoder<'de> {
    /// Reads the bytes of a string without its NUL. Length 0, which some peers send, is an empty string.
    pub(in crate::cdr) fn text(&mut self) -> Result<&'de [u8], DecodeError> {
        let length = self.length(1)?;
        let start = self.position();
        match self.bytes(length)?.split_last() {
            None => Ok(&[]),
            // `contains` is vectorized, `position` is not. The position matters only for an error.
            Some((0, text)) if !text.contains(&0) => Ok(text),
            Some((0, text)) => {
                let offset = text.iter().position(|byte| *byte == 0).unwrap_or_default();
                Err(DecodeError::new(start + offset, DecodeErrorKind::InteriorNul))
            }
            Some(_) => Err(DecodeError::new(start + length - 1, DecodeErrorKind::MissingNul)),
        }
    }

    /// Reads a string and checks its UTF-8.
    pub(in crate::cdr) fn string(&mut self) -> Result<&'de str, DecodeError> {
        let text = self.text()?;
        match std::str::from_utf8(text) {
            Ok(text) => Ok(text),
            Err(error) => {
                // The cursor is behind the NUL.
                let start = self.position() - text.len() - 1;
                Err(DecodeError::new(start + error.valid_up_to(), DecodeErrorKind::InvalidUtf8))
            }
        }
    }

    /// Reads the bytes of a wide string.
    pub(in crate::cdr) fn wide_text(&mut self) -> Result<&'de [u8], DecodeError> {
        let length = self.length(1)?;
        // Half a unit. The length is in bytes, as Cyclone DDS sends it.
        if length % 2 != 0 {
            return Err(self.error(DecodeErrorKind::InvalidUtf16));
        }
        self.bytes(length)
    }

    /// Decodes a wide string, and calls `take` with each character.
    pub(in crate::cdr) fn wide_characters(&mut self, mut take: impl FnMut(char)) -> Result<(), DecodeError> {
        let order = self.order();
        let bytes = self.wide_text()?;
        let units = bytes.chunks_exact(2).map(|unit| u16::read(unit, order));
        // Bytes of the valid characters, for the offset of an error.
        let mut done = 0;
        for character in char::decode_utf16(units) {
            let kind = match character {
                Ok('\0') => DecodeErrorKind::InteriorNul,
                Ok(character) => {
                    take(character);
                    done += 2 * character.len_utf16();
                    continue;
                }
                Err(_) => DecodeErrorKind::InvalidUtf16,
            };
            return Err(DecodeError::new(self.position() - bytes.len() + done, kind));
        }
        Ok(())
    }

    /// Decodes bits from the fewest bytes for `bit_bound` bits.
    ///
    /// # Errors
    /// The input ends, or a bit exceeds `bit_bound`.
    #[inline]
    pub fn bits(&mut self, bit_bound: u8) -> Result<u64, DecodeError> {
        let size = size_of_bits(bit_bound);
        let bits = match size {
            1 => u8::decode(self)?.into(),
            2 => u16::decode(self)?.into(),
            4 => u32::decode(self)?.into(),
            _ => u64::decode(self)?,
        };
        match bits & beyond(bit_bound) {
            0 => Ok(bits),
            bits => Err(DecodeError::new(self.position() - size, DecodeErrorKind::UnknownBits { bits })),
        }
    }

    /// Reads a value as it is in memory. Returns `None` and reads nothing if that is not its encoding here.
    ///
    /// # Errors
    /// The input ends inside of the value.
    #[inline]
    pub fn plain<T: Plain>(&mut self) -> Result<Option<T>, DecodeError> {
        let bytes = self.plain_bytes::<T>(1)?;
        Ok(bytes.and_then(T::from_memory))
    }

    /// Reads values in place, like [`Decoder::plain`]. Returns `false` if nothing was read.
    ///
    /// # Errors
    /// The input ends inside of the values.
    #[inline]
    pub fn plain_into<T: Plain>(&mut self, values: &mut [T]) -> Result<bool, DecodeError> {
        match self.plain_bytes::<T>(values.len())? {
            Some(bytes) if bytes.len() == size_of_val(values) => {
                copy(T::memory_of_mut(values), bytes);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Reads the elements of a sequence.
    ///
    /// # Errors
    /// Errors of the elements.
    #[inline]
    pub fn plain_elements<T: Plain + Decode<'de>>(
        &mut self,
        elements: &mut Vec<T>,
        count: usize,
    ) -> Result<(), DecodeError> {
        elements.truncate(count);
        let Some(bytes) = self.plain_bytes::<T>(count)? else {
            for element in elements.iter_mut() {
                element.decode_into(self)?;
            }
            // The length was checked against the encoded size of the elements, which is at most their size in memory.
            // Elements without a size need no memory.
            elements.reserve(count - elements.len());
            while elements.len() < count {
                elements.push(T::decode(self)?);
            }
            return Ok(());
        };
        // The first bytes replace existing elements, the others become new ones.
        let (known, new) = bytes.split_at_checked(size_of_val(elements.as_slice())).unwrap_or((&[], bytes));
        copy(T::memory_of_mut(elements), known);
        elements.extend(new.chunks_exact(size_of::<T>()).filter_map(T::from_memory));
        Ok(())
    }

    /// Reads the elements of an array.
    ///
    /// # Errors
    /// Errors of the elements.
    #[inline]
    pub fn plain_array<T: Plain + Decode<'de>, const N: usize>(&mut self) -> Result<[T; N], DecodeError> {
        match self.plain_bytes::<T>(N)?.and_then(T::array_from_memory) {
            Some(array) => Ok(array),
            None => try_array(|| T::decode(self)),
        }
    }

    /// Reads the bytes of `count` values, if their memory is their encoding here.
    #[inline]
    fn plain_bytes<T: Plain>(&mut self, count: usize) -> Result<Option<&'de [u8]>, DecodeError> {
        // The first three tests are constants or cheap, the alignment depends on the position.
        let is_plain = T::IS_LAID_OUT && self.order().is_host() && count != 0 && size_of::<T>() != 0;
        if !is_plain || !self.will_be_aligned(T::FIRST, T::LARGEST) {
            return Ok(None);
        }
        // The slow path then fails with the exact error.
        let Some(size) = count.checked_mul(size_of::<T>()) else { return Ok(None) };
        self.align(T::FIRST)?;
        self.bytes(size).map(Some)
    }
}
