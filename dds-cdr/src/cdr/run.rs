//! Runs of numbers, bools and wide characters that stay in the received bytes.

use super::copy::copy_of;
use super::{
    ByteOrder, Char16, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, F128, InMemory, KeyMember,
    LengthCode, Primitive, TypeDescription, TypeInfo, WholeKey,
};
use std::fmt;
use std::marker::PhantomData;

/// A sequence of primitive values as it lies in a sample: at any alignment, in either byte order.
///
/// Encoded like a `Vec<T>`. Made by decoding, which looks whether all of it are values (of `bool` only 0 and 1 are), or of
/// a slice: of `u16` for [`Char16`], of `u128` for [`F128`], of the same type for all others.
///
/// ```
/// use dds_cdr::cdr::{ByteOrder, Decode, Decoder, Encoding, Run};
///
/// // Two numbers of two bytes, big endian: nothing is copied until they are asked for.
/// let bytes = [0, 0, 0, 2, 0x12, 0x34, 0x56, 0x78];
/// let run = Run::<u16>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big))?;
/// assert_eq!((run.len(), run.get(1), run.to_vec()), (2, Some(0x5678), vec![0x1234, 0x5678]));
/// # Ok::<(), dds_cdr::cdr::DecodeError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Run<'a, T> {
    /// A whole number of values, all of them valid.
    bytes: &'a [u8],
    order: ByteOrder,
    value: PhantomData<T>,
}

impl<'a, T: Primitive> Run<'a, T> {
    /// Takes `count` values, without a length in front.
    #[inline]
    pub(super) fn take(d: &mut Decoder<'a>, count: usize) -> Result<Self, DecodeError> {
        let order = d.order();
        let bytes = d.numbers::<T>(count)?;
        match T::first_fault(bytes) {
            None => Ok(Self { bytes, order, value: PhantomData }),
            Some((offset, kind)) => Err(DecodeError::new(d.position() - bytes.len() + offset, kind)),
        }
    }

    /// How many values there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The value at `index`, counted from 0.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let value = self.bytes.get(index.checked_mul(T::SIZE)?..)?.get(..T::SIZE)?;
        Some(T::read(value, self.order))
    }

    /// The values, one after the other.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + use<'a, T> {
        let order = self.order;
        self.bytes.chunks_exact(T::SIZE).map(move |value| T::read(value, order))
    }

    /// Whether the bytes are in the order of this machine, or have none.
    #[inline]
    fn is_of_host(&self) -> bool {
        self.order.is_host() || T::SIZE == 1
    }

    /// Leaves the first `count` values, if there are more.
    pub(super) fn truncate(&mut self, count: usize) {
        self.bytes = self.bytes.get(..count.saturating_mul(T::SIZE)).unwrap_or(self.bytes);
    }

    /// A copy of the values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let run = if self.is_of_host() { T::run_of(self.bytes) } else { None };
        run.map_or_else(|| self.iter().collect(), copy_of)
    }
}

impl<'a, T: InMemory> Run<'a, T> {
    /// The values as a slice, if they lie aligned and in the byte order of this machine.
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

/// Of the bits of each ([`F128::from_bits`]).
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
        if self.is_empty() {
            return Ok(());
        }
        if self.order == e.order() || T::SIZE == 1 {
            e.align(T::SIZE);
            e.bytes(self.bytes);
            return Ok(());
        }
        self.iter().try_for_each(|value| value.encode(e))
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

/// As part of a key, it is what a `Vec` of the same is.
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
