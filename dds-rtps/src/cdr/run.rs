//! Runs of numbers that stay in the received bytes.

use super::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LengthCode, Primitive, TypeDescription,
    TypeInfo,
};
use std::fmt;
use std::marker::PhantomData;

/// A sequence of numbers as it lies in a sample: at any alignment, in either byte order.
///
/// Encoded like a `Vec<T>`. Made by decoding, or of a slice.
#[derive(Clone, Copy)]
pub struct Run<'a, T> {
    bytes: &'a [u8],
    order: ByteOrder,
    number: PhantomData<T>,
}

impl<'a, T: Primitive> Run<'a, T> {
    /// How many numbers there are.
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

    /// The number at `index`, counted from 0.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let number = self.bytes.get(index.checked_mul(T::SIZE)?..)?.get(..T::SIZE)?;
        Some(T::read(number, self.order))
    }

    /// The numbers, one after the other.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + use<'a, T> {
        let order = self.order;
        self.bytes.chunks_exact(T::SIZE).map(move |number| T::read(number, order))
    }

    /// The numbers as a slice, if they lie aligned and in the byte order of this machine.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.order.is_host() || T::SIZE == 1 { T::run_of(self.bytes) } else { None }
    }

    /// A copy of the numbers.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.as_slice().map_or_else(|| self.iter().collect(), <[T]>::to_vec)
    }
}

impl<T> Default for Run<'_, T> {
    fn default() -> Self {
        Self { bytes: &[], order: ByteOrder::HOST, number: PhantomData }
    }
}

impl<'a, T: Primitive> From<&'a [T]> for Run<'a, T> {
    fn from(run: &'a [T]) -> Self {
        Self { bytes: T::bytes_of(run), order: ByteOrder::HOST, number: PhantomData }
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
        let order = d.order();
        Ok(Self { bytes: d.numbers::<T>(count)?, order, number: PhantomData })
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
        if let Some(run) = self.as_slice() {
            return run.encode(e);
        }
        e.length(self.len())?;
        self.iter().try_for_each(|number| number.encode(e))
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
