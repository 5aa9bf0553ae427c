//! Structs whose memory is their encoding.
//!
//! A final struct has the same layout on the wire as with `repr(C)` in memory, under two conditions. There is no
//! padding between its members, and the value starts at an address that is aligned for its largest number. Then the
//! struct is copied as a whole, and so are sequences of such structs.
//! The start depends on the preceding values. If it is not aligned, or the byte order is not the machine's, the members
//! are copied one by one. The bytes are the same in both cases.

use super::collection::try_array;
use super::copy::copy;
use super::{Decode, DecodeError, Decoder, Encoder};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A struct marked `#[dds(plain)]` whose memory is its encoding, a number, or an array of either.
///
/// The traits of `zerocopy` prove that there is no padding and that any bytes are a valid value.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` is not its encoding",
    note = "a `#[dds(plain)]` struct contains only numbers, arrays of them, and other plain structs",
    note = "such a struct is `#[repr(C)]`, and derives `FromBytes`, `IntoBytes` and `Immutable` of the crate `zerocopy`"
)]
pub trait Plain: FromBytes + IntoBytes + Immutable {
    /// The alignment of the first number, in bytes.
    const FIRST: usize;
    /// The size of the largest number, in bytes.
    const LARGEST: usize;
    /// Whether memory and encoding have the same layout. Some machines align numbers less than the encoding.
    const IS_LAID_OUT: bool;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const FIRST: usize = size_of::<Self>();
            const LARGEST: usize = size_of::<Self>();
            const IS_LAID_OUT: bool = true;
        }
    )*};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const FIRST: usize = T::FIRST;
    const LARGEST: usize = T::LARGEST;
    const IS_LAID_OUT: bool = T::IS_LAID_OUT;
}

/// Returns the larger number.
#[doc(hidden)]
#[must_use]
pub const fn larger(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl Encoder<'_> {
    /// Writes values as they are in memory. Returns `false` and writes nothing if that is not their encoding here.
    #[inline]
    pub fn plain<T: Plain>(&mut self, values: &[T]) -> bool {
        let is_plain = T::IS_LAID_OUT && self.order().is_host() && !values.is_empty();
        if !is_plain || !self.will_be_aligned(T::FIRST, T::LARGEST) {
            return false;
        }
        self.align(T::FIRST);
        self.bytes(values.as_bytes());
        true
    }
}

impl<'de> Decoder<'de> {
    /// Reads a value as it is in memory. Returns `None` and reads nothing if that is not its encoding here.
    ///
    /// # Errors
    /// The input ends inside of the value.
    #[inline]
    pub fn plain<T: Plain>(&mut self) -> Result<Option<T>, DecodeError> {
        let bytes = self.plain_bytes::<T>(1)?;
        Ok(bytes.and_then(|bytes| T::read_from_bytes(bytes).ok()))
    }

    /// Reads values in place, like [`Decoder::plain`]. Returns `false` if nothing was read.
    ///
    /// # Errors
    /// The input ends inside of the values.
    #[inline]
    pub fn plain_into<T: Plain>(&mut self, values: &mut [T]) -> Result<bool, DecodeError> {
        match self.plain_bytes::<T>(values.len())? {
            Some(bytes) if bytes.len() == size_of_val(values) => {
                copy(values.as_mut_bytes(), bytes);
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
        copy(elements.as_mut_slice().as_mut_bytes(), known);
        elements.extend(new.chunks_exact(size_of::<T>()).filter_map(|bytes| T::read_from_bytes(bytes).ok()));
        Ok(())
    }

    /// Reads the elements of an array.
    ///
    /// # Errors
    /// Errors of the elements.
    #[inline]
    pub fn plain_array<T: Plain + Decode<'de>, const N: usize>(&mut self) -> Result<[T; N], DecodeError> {
        match self.plain_bytes::<T>(N)?.and_then(|bytes| <[T; N]>::read_from_bytes(bytes).ok()) {
            Some(array) => Ok(array),
            None => try_array(|| T::decode(self)),
        }
    }

    /// Reads the bytes of `count` values, if their memory is their encoding here.
    #[inline]
    fn plain_bytes<T: Plain>(&mut self, count: usize) -> Result<Option<&'de [u8]>, DecodeError> {
        let is_plain = T::IS_LAID_OUT && self.order().is_host() && count != 0 && size_of::<T>() != 0;
        if !is_plain || !self.will_be_aligned(T::FIRST, T::LARGEST) {
            return Ok(None);
        }
        let Some(size) = count.checked_mul(size_of::<T>()) else { return Ok(None) };
        self.align(T::FIRST)?;
        self.bytes(size).map(Some)
    }
}
