//! Bounds on elements, keys and values of collections, which cannot have attributes.

use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode, Primitive, Run, TypeDescription,
    TypeInfo, WString, WholeKey,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};

/// A string, sequence or map of limited length, for use inside of a collection.
///
/// `BOUND` counts bytes of a string, units of a wide string, or elements.
///
/// `Vec<Bounded<String, 8>>` is `sequence<string<8>>`. For a member, `#[dds(bound = 8)]` has the same effect.
///
/// Only encoding and decoding check the bound, and fail with an error. [`Trimmed`](super::Trimmed) truncates longer
/// values, and `OrDefault<Bounded<String, 8>>` replaces them with an empty one.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::Bounded;
///
/// let name: Bounded<String, 8> = "robot".to_owned().into();
/// assert_eq!(name.len(), 5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bounded<T, const BOUND: u32>(
    /// The value.
    pub T,
);

/// A value with a length that can be bounded.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length that can be bounded",
    note = "strings, sequences and maps have one"
)]
pub trait Measured {
    /// Returns the bytes of a string, the units of a wide string, or the number of elements.
    fn measure(&self) -> usize;
}

macro_rules! measured {
    ($([$($parameters:tt)*] $value:ty;)*) => {$(
        impl<$($parameters)*> Measured for $value {
            fn measure(&self) -> usize {
                self.len()
            }
        }
    )*};
}

measured! {
    [] String;
    [] &str;
    [] WString;
    [T] Vec<T>;
    [T] &[T];
    [T: Primitive] Run<'_, T>;
    [K, V] BTreeMap<K, V>;
    [K, V, S] HashMap<K, V, S>;
}

/// Implements access to the value of a wrapper type that only adds a property.
macro_rules! wrapper {
    ($([$($parameters:tt)*] $wrapper:ident<$($arguments:ident),*>;)*) => {$(
        impl<$($parameters)*> $wrapper<$($arguments),*> {
            /// Returns the value without a copy.
            #[must_use]
            pub fn into_inner(self) -> T {
                self.0
            }
        }

        impl<$($parameters)*> From<T> for $wrapper<$($arguments),*> {
            fn from(value: T) -> Self {
                Self(value)
            }
        }

        impl<$($parameters)*> Deref for $wrapper<$($arguments),*> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<$($parameters)*> DerefMut for $wrapper<$($arguments),*> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }
    )*};
}

pub(super) use wrapper;

wrapper! {
    [T, const BOUND: u32] Bounded<T, BOUND>;
}

impl<T: Encode + Measured, const BOUND: u32> Encode for Bounded<T, BOUND> {
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.check_bound(self.0.measure(), BOUND)?;
        self.0.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // A key that readers refuse would create an instance that they never see.
        e.check_bound(self.0.measure(), BOUND)?;
        self.0.encode_key(e)
    }
}

impl<'de, T: Decode<'de> + Measured, const BOUND: u32> Decode<'de> for Bounded<T, BOUND> {
    const SIZE_MIN: usize = T::SIZE_MIN;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let value = T::decode(d)?;
        d.check_bound(value.measure(), BOUND)?;
        Ok(Self(value))
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        self.0.decode_into(d)?;
        d.check_bound(self.0.measure(), BOUND)
    }

    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        T::missing(d).map(Self)
    }
}

impl<T: TypeInfo, const BOUND: u32> TypeInfo for Bounded<T, BOUND> {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = {
        assert!(BOUND > 0, "a bound is at least 1");
        &T::DESCRIPTION.bounded(BOUND)
    };
}

impl<'k, T: WholeKey<'k>, const BOUND: u32> WholeKey<'k> for Bounded<T, BOUND> {
    fn copy_key(&self) -> Self {
        Self(self.0.copy_key())
    }
}

impl<T: KeyMember, const BOUND: u32> KeyMember for Bounded<T, BOUND>
where
    T::Key: Measured,
{
    type Key = Bounded<T::Key, BOUND>;

    fn to_key(&self) -> Self::Key {
        Bounded(self.0.to_key())
    }

    fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.check_bound(key.0.measure(), BOUND)?;
        T::encode_key_member(&key.0, e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
        let key = T::decode_key_member(d)?;
        d.check_bound(key.measure(), BOUND)?;
        Ok(Bounded(key))
    }
}
