//! Runs of numbers, bools and wide characters that refer to the received bytes.

use super::copy::copy_of;
use super::{
    ByteOrder, Char16, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, F128, InMemory, KeyMember,
    LengthCode, Primitive, TypeDescription, TypeInfo, WholeKey,
};
use std::fmt;
use std::marker::PhantomData;

/// A sequence of primitive values inside of a sample, at any alignment and in any byte order.
///
/// It is encoded like a `Vec<T>`. Decoding creates it and checks that all values are valid (a `bool` is 0 or 1). It can
/// also be created from a slice: of `u16` for [`Char16`], of `u128` for [`F128`], and of the same type for all others.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::Run;
///
/// let run = Run::from(&[0x1234_u16, 0x5678][..]);
/// assert_eq!((run.len(), run.get(1), run.to_vec()), (2, Some(0x5678), vec![0x1234, 0x5678]));
/// ```
#[derive(Clone, Copy)]
pub struct Run<'a, T> {
    /// A whole number of valid values.
    bytes: &'a [u8],
    order: ByteOrder,
    value: PhantomData<T>,
}

impl<'a, T: Primitive> Run<'a, T> {
    /// Reads `count` values, without a length.
    #[inline]
    pub(super) fn take(d: &mut Decoder<'a>, count: usize) -> Result<Self, DecodeError> {
        let order = d.order();
        let bytes = d.numbers::<T>(count)?;
        debug_assert_eq!(bytes.len(), count * T::SIZE, "a run has whole values");
        match T::first_fault(bytes) {
            None => Ok(Self { bytes, order, value: PhantomData }),
            // Checked once here, so that later reads of single values cannot fail.
            Some((offset, kind)) => Err(DecodeError::new(d.position() - bytes.len() + offset, kind)),
        }
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Returns whether there are no values.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the value at `index`, from 0.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let value = self.bytes.get(index.checked_mul(T::SIZE)?..)?.get(..T::SIZE)?;
        Some(T::read(value, self.order))
    }

    /// Returns an iterator over the values.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + use<'a, T> {
        let order = self.order;
        self.bytes.chunks_exact(T::SIZE).map(move |value| T::read(value, order))
    }

    /// Returns whether the bytes have the order of this machine, or no order.
    #[inline]
    fn is_of_host(&self) -> bool {
        self.order.is_host() || T::SIZE == 1
    }

    /// Keeps at most the first `count` values.
    pub(super) fn truncate(&mut self, count: usize) {
        // A shorter run stays as it is.
        self.bytes = self.bytes.get(..count.saturating_mul(T::SIZE)).unwrap_or(self.bytes);
    }

    /// Returns a copy of the values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let run = if self.is_of_host() { T::run_of(self.bytes) } else { None };
        run.map_or_else(|| self.iter().collect(), copy_of)
    }
}

impl<'a, T: InMemory> Run<'a, T> {
    /// Returns the values as a slice, if they are aligned and in the byte order of this machine.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.is_of_host() { T::run_of(self.bytes) } else { None }
    }
}

impl<T> Default for Run<'_, T> {
    fn default() -> Self {
        Self { bytes: &[], order: ByteOrder::HOST, value: PhantomData }
    }
}

impl<'a, T: InMemory> From<&'a [T]> for Run<'a, T> {
    fn from(run: &'a [T]) -> Self {
        Self { bytes: T::bytes_of(run), order: ByteOrder::HOST, value: PhantomData }
    }
}

impl<'a> From<&'a [u16]> for Run<'a, Char16> {
    fn from(units: &'a [u16]) -> Self {
        Self { bytes: u16::bytes_of(units), order: ByteOrder::HOST, value: PhantomData }
    }
}

/// Refers to the bits of the numbers ([`F128::from_bits`]).
impl<'a> From<&'a [u128]> for Run<'a, F128> {
    fn from(bits: &'a [u128]) -> Self {
        Self { bytes: zerocopy::IntoBytes::as_bytes(bits), order: ByteOrder::HOST, value: PhantomData }
    }
}

impl<T: Primitive + PartialEq> PartialEq for Run<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Primitive + PartialEq> PartialEq<[T]> for Run<'_, T> {
    fn eq(&self, other: &[T]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<T: Primitive + fmt::Debug> fmt::Debug for Run<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'de, T: Primitive> Decode<'de> for Run<'de, T> {
    const SIZE_MIN: usize = 4;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let count = d.length(T::SIZE)?;
        Self::take(d, count)
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::default())
    }
}

impl<T: Primitive + Encode> Encode for Run<'_, T> {
    const LENGTH_CODE: LengthCode = <[T]>::LENGTH_CODE;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.length(self.len())?;
        // An empty run has no padding either.
        if self.is_empty() {
            return Ok(());
        }
        // In the same byte order, the received bytes are the encoding.
        if self.order == e.order() || T::SIZE == 1 {
            e.align(T::SIZE);
            e.bytes(self.bytes);
            return Ok(());
        }
        for value in self.iter() {
            value.encode(e)?;
        }
        Ok(())
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<T: TypeInfo> TypeInfo for Run<'_, T> {
    const TYPE_NAME: &'static str = <[T]>::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = <[T]>::DESCRIPTION;
}

/// A key contains it as a `Vec`.
impl<T> KeyMember for Run<'_, T>
where
    T: Primitive + Encode + for<'k> WholeKey<'k> + for<'de> Decode<'de>,
{
    type Key = Vec<T>;

    fn to_key(&self) -> Vec<T> {
        self.to_vec()
    }

    fn encode_key_member(key: &Vec<T>, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        key.encode_key(e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Vec<T>, DecodeError> {
        Vec::decode(d)
    }
}
