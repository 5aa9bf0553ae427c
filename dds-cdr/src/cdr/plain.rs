//! Structs whose memory is their encoding.
//!
//! The members of a final struct lie on the wire as `repr(C)` has them in memory, if there is no padding between them and
//! the value begins where its largest number may: then it is copied as a whole, and a sequence of such structs too. Whether
//! it begins there depends on what stands in front of it; where it does not, or the byte order is not that of this machine,
//! the members are taken one by one. So the bytes are the same in any case.

use super::collection::try_array;
use super::copy::copy;
use super::{Decode, DecodeError, Decoder, Encoder};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A struct that is its own encoding, marked `#[dds(plain)]`; or a number, or an array of either.
///
/// That there is no padding, and that any bytes are a value, is what `zerocopy` says.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` is not its encoding",
    note = "in a `#[dds(plain)]` struct there can be numbers, arrays of them, and other such structs",
    note = "such a struct is `#[repr(C)]`, and derives `FromBytes`, `IntoBytes` and `Immutable` of the crate `zerocopy`"
)]
pub trait Plain: FromBytes + IntoBytes + Immutable {
    /// The alignment of the first number, in bytes.
    const FIRST: usize;
    /// The size of the largest number, in bytes.
    const LARGEST: usize;
    /// Whether all numbers lie where the encoding has them. (A machine may align them less.)
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

/// The larger one.
#[doc(hidden)]
#[must_use]
pub const fn larger(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl Encoder<'_> {
    /// Writes values as they lie in memory, if they are their encoding here; else writes nothing and says `false`.
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
    /// Takes a value as it lies in memory, if it is its encoding here; else takes nothing.
    ///
    /// # Errors
    /// The input ends before.
    #[inline]
    pub fn plain<T: Plain>(&mut self) -> Result<Option<T>, DecodeError> {
        let bytes = self.plain_bytes::<T>(1)?;
        Ok(bytes.and_then(|bytes| T::read_from_bytes(bytes).ok()))
    }

    /// Takes values into those that are there already, as [`Decoder::plain`]; `false` if nothing was taken.
    ///
    /// # Errors
    /// The input ends before.
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

    /// Takes the elements of a sequence.
    ///
    /// # Errors
    /// Those of the elements.
    #[inline]
    pub fn plain_elements<T: Plain + Decode<'de>>(
        &mut self,
        elements: &mut Vec<T>,
        count: usize,
    ) -> Result<(), DecodeError> {
        elements.truncate(count);
        let Some(bytes) = self.plain_bytes::<T>(count)? else {
            elements.iter_mut().try_for_each(|element| element.decode_into(self))?;
            // The length was compared with the size of the elements, which is not less in memory. Those without any size take
            // no memory.
            elements.reserve(count - elements.len());
            while elements.len() < count {
                elements.push(T::decode(self)?);
            }
            return Ok(());
        };
        let (known, new) = bytes.split_at_checked(size_of_val(elements.as_slice())).unwrap_or((&[], bytes));
        copy(elements.as_mut_slice().as_mut_bytes(), known);
        elements.extend(new.chunks_exact(size_of::<T>()).filter_map(|bytes| T::read_from_bytes(bytes).ok()));
        Ok(())
    }

    /// Takes the elements of an array.
    ///
    /// # Errors
    /// Those of the elements.
    #[inline]
    pub fn plain_array<T: Plain + Decode<'de>, const N: usize>(&mut self) -> Result<[T; N], DecodeError> {
        match self.plain_bytes::<T>(N)?.and_then(|bytes| <[T; N]>::read_from_bytes(bytes).ok()) {
            Some(array) => Ok(array),
            None => try_array(|| T::decode(self)),
        }
    }

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
