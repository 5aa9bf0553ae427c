//! Pointers and optional values: encoded like the value that they contain.

use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode, TypeDescription, TypeInfo,
    WholeKey,
};
use std::sync::Arc;

macro_rules! pointer {
    ($([$($parameters:tt)*] $pointer:ty;)*) => {$(
        impl<$($parameters)* T: Encode + ?Sized> Encode for $pointer {
            const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

            #[inline]
            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                (**self).encode(e)
            }

            #[inline]
            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                (**self).encode_key(e)
            }
        }

        impl<$($parameters)* T: TypeInfo + ?Sized> TypeInfo for $pointer {
            const TYPE_NAME: &'static str = T::TYPE_NAME;
            const HAS_KEY: bool = T::HAS_KEY;
            const DESCRIPTION: &'static TypeDescription = T::DESCRIPTION;
        }
    )*};
}

pointer! {
    ['a,] &'a T;
    [] Box<T>;
    [] Arc<T>;
}

impl<'k, T: WholeKey<'k>> WholeKey<'k> for Arc<T> {
    fn copy_key(&self) -> Self {
        Self::clone(self)
    }
}

impl<T: KeyMember> KeyMember for Arc<T> {
    type Key = T::Key;

    fn to_key(&self) -> T::Key {
        (**self).to_key()
    }

    fn encode_key_member(key: &T::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        T::encode_key_member(key, e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<T::Key, DecodeError> {
        T::decode_key_member(d)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Arc<T> {
    // Not that of `T`: the constant of a type that contains itself would depend on itself.
    const SIZE_MIN: usize = 1;
    const EXTENSIBILITY: Option<super::Extensibility> = T::EXTENSIBILITY;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.nested(size_of::<T>(), T::decode).map(Self::new)
    }

    /// Decodes in place if no other `Arc` shares the value.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        // A shared value must not change under its other owners.
        if let Some(value) = Self::get_mut(self) {
            // A pointer is where a type can contain itself, so it counts a level.
            return d.nested(size_of::<T>(), |d| value.decode_into(d));
        }
        *self = Self::decode(d)?;
        Ok(())
    }

    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        T::missing(d).map(Self::new)
    }
}

impl<T: KeyMember + ?Sized> KeyMember for &T {
    type Key = T::Key;

    fn to_key(&self) -> T::Key {
        (**self).to_key()
    }

    fn encode_key_member(key: &T::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        T::encode_key_member(key, e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<T::Key, DecodeError> {
        T::decode_key_member(d)
    }
}

impl<'k, T: WholeKey<'k>> WholeKey<'k> for Box<T> {
    fn copy_key(&self) -> Self {
        Self::new((**self).copy_key())
    }
}

impl<T: KeyMember> KeyMember for Box<T> {
    type Key = Box<T::Key>;

    fn to_key(&self) -> Self::Key {
        Box::new((**self).to_key())
    }

    fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        T::encode_key_member(key, e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
        T::decode_key_member(d).map(Box::new)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Box<T> {
    const SIZE_MIN: usize = 1;
    const EXTENSIBILITY: Option<super::Extensibility> = T::EXTENSIBILITY;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.nested(size_of::<T>(), T::decode).map(Self::new)
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        d.nested(size_of::<T>(), |d| (**self).decode_into(d))
    }

    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        T::missing(d).map(Self::new)
    }
}

/// The member is marked as optional, not its type.
impl<T: TypeInfo> TypeInfo for Option<T> {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = T::DESCRIPTION;
}
