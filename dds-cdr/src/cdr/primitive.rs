//! Numbers, bools and chars.

use super::copy::{append, copy};
use super::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode,
    TypeDescription, TypeInfo, TypeKind, WholeKey,
};
use zerocopy::{FromBytes, IntoBytes, TryFromBytes};

/// A value of fixed size that a [`Run`](super::Run) can hold: every CDR primitive except the one-byte `char`.
///
/// Implemented only for `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `bool`, [`Char16`](super::Char16) and
/// [`F128`](super::F128).
pub trait Primitive: sealed::Sealed + Copy + 'static {
    /// Size in bytes, on the wire and in memory.
    const SIZE: usize = size_of::<Self>();

    /// Returns the run in `bytes` without a copy. `None` if it is not aligned or not valid. Ignores the byte order.
    #[doc(hidden)]
    fn run_of(bytes: &[u8]) -> Option<&[Self]> {
        let _ = bytes;
        None
    }

    /// Returns the value at the start of `bytes`; zero if they are too few.
    #[doc(hidden)]
    fn read(bytes: &[u8], order: ByteOrder) -> Self;

    /// Returns the offset and the error of the first invalid value in `bytes`.
    #[doc(hidden)]
    fn first_fault(bytes: &[u8]) -> Option<(usize, DecodeErrorKind)> {
        let _ = bytes;
        None
    }
}

/// A [`Primitive`] with the same bytes in memory and on the wire, except for their order. Runs are copied as a whole.
///
/// Implemented only for `u8` to `u64`, `i8` to `i64`, `f32`, `f64` and `bool`.
pub trait InMemory: Primitive {
    /// Returns the bytes of a run, in the byte order of the machine.
    #[doc(hidden)]
    fn bytes_of(run: &[Self]) -> &[u8];

    /// Fills `run` from `bytes`, which has the same size.
    #[doc(hidden)]
    fn fill(run: &mut [Self], bytes: &[u8], order: ByteOrder) {
        for (value, bytes) in run.iter_mut().zip(bytes.chunks_exact(Self::SIZE)) {
            *value = Self::read(bytes, order);
        }
    }
}

/// A number of `N` bytes.
pub(super) trait Number<const N: usize>: Sized {
    /// Returns the bytes in this order.
    fn to_bytes(self, order: ByteOrder) -> [u8; N];
    /// Creates the number from bytes in this order.
    fn from_bytes(bytes: [u8; N], order: ByteOrder) -> Self;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for crate::cdr::Char16 {}
    impl Sealed for crate::cdr::F128 {}
}

/// Decodes an array of numbers with one copy.
fn array_of<T: InMemory + FromBytes, const N: usize>(d: &mut Decoder<'_>) -> Result<[T; N], DecodeError> {
    let order = d.order();
    let bytes = d.numbers::<T>(N)?;
    if order.is_host() || T::SIZE == 1 {
        // Needs no alignment, in contrast to a reference.
        if let Ok(array) = <[T; N]>::read_from_bytes(bytes) {
            return Ok(array);
        }
    }
    // The loop serves the other byte order, and types whose bits must be checked.
    let mut chunks = bytes.chunks_exact(T::SIZE);
    Ok(std::array::from_fn(|_| T::read(chunks.next().unwrap_or_default(), order)))
}

/// Decodes a sequence of numbers with one copy, into memory that is not zeroed before.
fn elements_of<T: Primitive>(elements: &mut Vec<T>, count: usize, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let order = d.order();
    let bytes = d.numbers::<T>(count)?;
    // Cleared after the input is known to suffice, so an error leaves the old elements.
    elements.clear();
    // A copy of all bytes is far cheaper than a loop: 32 000 bytes, element by element, cost more than all other
    // steps of a sample.
    match T::run_of(bytes) {
        // `run_of` also fails if the payload is not aligned in memory for the type.
        Some(run) if order.is_host() || T::SIZE == 1 => append(elements, run),
        _ => elements.extend(bytes.chunks_exact(T::SIZE).map(|number| T::read(number, order))),
    }
    Ok(())
}

macro_rules! number {
    ($($number:ty, $kind:ident, $name:literal;)*) => {$(
        impl sealed::Sealed for $number {}

        impl Primitive for $number {
            #[inline]
            fn run_of(bytes: &[u8]) -> Option<&[Self]> {
                <[Self]>::ref_from_bytes(bytes).ok()
            }

            #[inline]
            fn read(bytes: &[u8], order: ByteOrder) -> Self {
                Self::from_bytes(bytes.first_chunk().copied().unwrap_or_default(), order)
            }
        }

        impl InMemory for $number {
            #[inline]
            fn bytes_of(run: &[Self]) -> &[u8] {
                run.as_bytes()
            }

            #[inline]
            fn fill(run: &mut [Self], bytes: &[u8], order: ByteOrder) {
                // One copy in the host's byte order, for the same reason.
                if order.is_host() && run.as_bytes().len() == bytes.len() {
                    copy(run.as_mut_bytes(), bytes);
                    return;
                }
                for (number, bytes) in run.iter_mut().zip(bytes.chunks_exact(Self::SIZE)) {
                    *number = Self::read(bytes, order);
                }
            }
        }

        impl Number<{ size_of::<$number>() }> for $number {
            #[inline]
            fn to_bytes(self, order: ByteOrder) -> [u8; size_of::<$number>()] {
                match order {
                    ByteOrder::Little => self.to_le_bytes(),
                    ByteOrder::Big => self.to_be_bytes(),
                }
            }

            #[inline]
            fn from_bytes(bytes: [u8; size_of::<$number>()], order: ByteOrder) -> Self {
                match order {
                    ByteOrder::Little => Self::from_le_bytes(bytes),
                    ByteOrder::Big => Self::from_be_bytes(bytes),
                }
            }
        }

        impl Encode for $number {
            const IS_PRIMITIVE: bool = true;
            const LENGTH_CODE: LengthCode = LengthCode::of_number(size_of::<$number>());

            #[inline]
            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                let order = e.order();
                e.number(self.to_bytes(order));
                Ok(())
            }

            #[inline]
            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                self.encode(e)
            }

            #[inline]
            fn encode_elements(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                e.numbers(elements);
                Ok(())
            }

            #[inline]
            fn encode_key_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                e.numbers(elements);
                Ok(())
            }
        }

        impl<'de> Decode<'de> for $number {
            const IS_PRIMITIVE: bool = true;
            const SIZE_MIN: usize = size_of::<$number>();

            #[inline]
            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                d.number()
            }

            #[inline]
            fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
                Ok(Self::default())
            }

            #[inline]
            fn decode_elements(
                elements: &mut Vec<Self>,
                count: usize,
                d: &mut Decoder<'de>,
            ) -> Result<(), DecodeError> {
                elements_of(elements, count, d)
            }

            #[inline]
            fn decode_array<const N: usize>(d: &mut Decoder<'de>) -> Result<[Self; N], DecodeError> {
                array_of(d)
            }

            #[inline]
            fn decode_dimensions_into(elements: &mut [Self], d: &mut Decoder<'de>) -> Result<(), DecodeError> {
                let order = d.order();
                Self::fill(elements, d.numbers::<Self>(elements.len())?, order);
                Ok(())
            }
        }

        plain_value!($number, $kind, $name);
    )*};
}

/// The type description of a `u8` member that is marked `#[dds(octet)]`. Its values have the type `u8`.
#[derive(Debug, Clone, Copy)]
pub enum Octet {}

impl TypeInfo for Octet {
    const TYPE_NAME: &'static str = "octet";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = &TypeDescription::new("octet", TypeKind::Octet);
}

/// Implements the type description and the key traits of a `Copy` type.
macro_rules! plain_value {
    ($value:ty, $kind:ident, $name:literal) => {
        impl TypeInfo for $value {
            const TYPE_NAME: &'static str = $name;
            const HAS_KEY: bool = false;
            const DESCRIPTION: &'static TypeDescription = &TypeDescription::new($name, TypeKind::$kind);
        }

        impl WholeKey<'_> for $value {
            #[inline]
            fn copy_key(&self) -> Self {
                *self
            }
        }

        impl KeyMember for $value {
            type Key = Self;

            #[inline]
            fn to_key(&self) -> Self {
                *self
            }

            #[inline]
            fn encode_key_member(key: &Self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                key.encode(e)
            }

            #[inline]
            fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Self::decode(d)
            }
        }
    };
}

pub(super) use plain_value;

number! {
    u8, UInt8, "uint8";
    u16, UInt16, "uint16";
    u32, UInt32, "uint32";
    u64, UInt64, "uint64";
    i8, Int8, "int8";
    i16, Int16, "int16";
    i32, Int32, "int32";
    i64, Int64, "int64";
    f32, Float32, "float32";
    f64, Float64, "float64";
}

impl sealed::Sealed for bool {}

impl Primitive for bool {
    #[inline]
    fn run_of(bytes: &[u8]) -> Option<&[Self]> {
        <[Self]>::try_ref_from_bytes(bytes).ok()
    }

    #[inline]
    fn read(bytes: &[u8], _: ByteOrder) -> Self {
        bytes.first().is_some_and(|byte| *byte != 0)
    }

    #[inline]
    fn first_fault(bytes: &[u8]) -> Option<(usize, DecodeErrorKind)> {
        // The check without a position is fast. The position matters only for an error.
        if Self::run_of(bytes).is_some() {
            return None;
        }
        for (offset, value) in bytes.iter().copied().enumerate() {
            if value > 1 {
                return Some((offset, DecodeErrorKind::InvalidBool { value }));
            }
        }
        None
    }
}

impl InMemory for bool {
    #[inline]
    fn bytes_of(run: &[Self]) -> &[u8] {
        run.as_bytes()
    }
}

impl Encode for bool {
    const IS_PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = LengthCode::Bytes1;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.number([u8::from(*self)]);
        Ok(())
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }

    #[inline]
    fn encode_elements(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.bytes(elements.as_bytes());
        Ok(())
    }
}

impl<'de> Decode<'de> for bool {
    const IS_PRIMITIVE: bool = true;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let before = d.position();
        match d.number::<u8, 1>()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::new(before, DecodeErrorKind::InvalidBool { value })),
        }
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(false)
    }

    fn decode_elements(elements: &mut Vec<Self>, count: usize, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        let before = d.position();
        let bytes = d.bytes(count)?;
        if let Some((offset, kind)) = Self::first_fault(bytes) {
            return Err(DecodeError::new(before + offset, kind));
        }
        elements.clear();
        // The compiler turns this loop into one copy.
        elements.extend(bytes.iter().map(|byte| *byte != 0));
        Ok(())
    }
}

plain_value!(bool, Bool, "boolean");

/// A CDR `char` has one byte: it holds the characters of Latin-1.
impl Encode for char {
    const IS_PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = LengthCode::Bytes1;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let byte = u8::try_from(*self).map_err(|_| EncodeError::NotAChar8 { character: *self })?;
        e.number([byte]);
        Ok(())
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for char {
    const IS_PRIMITIVE: bool = true;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.number::<u8, 1>().map(char::from)
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok('\0')
    }
}

plain_value!(char, Char8, "char8");
