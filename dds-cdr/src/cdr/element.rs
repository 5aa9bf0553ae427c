//! Elements, keys and values of collections that do not fit their type (XTYPES 1.3, 7.2.2.7).
//!
//! For a member, `#[dds(try_construct = "...")]` selects the action. Elements have no attributes, so a wrapper type
//! selects it. Without either, the containing value cannot be constructed, and the sample is an error.

use super::bounded::wrapper;
use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LengthCode, MapKey, Measured, Trim, TryConstruct,
    TypeDescription, TypeInfo, TypeKind,
};
use std::ops::{Deref, DerefMut};

/// An element that gets its default value if the received one does not fit its type.
///
/// `Vec<OrDefault<Gear>>` is `sequence<@try_construct(USE_DEFAULT) Gear>`.
///
/// Use it for elements of sequences and arrays, keys and values of maps, and members of unions. It replaces unknown
/// literals, cases and bits, strings over their bound (`OrDefault<Bounded<String, 8>>`), and structs that contain such
/// a member.
///
/// It is a compile error for types that hold any value, such as numbers and unbounded strings, and for arrays (wrap
/// their elements instead). It is also a compile error inside of a key, because every sender must send a valid key.
///
/// ```compile_fail,E0080
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::{OrDefault, TypeInfo};
///
/// println!("{:?}", OrDefault::<u32>::DESCRIPTION); // any four bytes are a valid number
/// ```
///
/// If two keys of a map both become the default, the map has a duplicate key, which is an error.
///
/// The documentation of `#[derive(DdsType)]` has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OrDefault<T>(
    /// The value.
    pub T,
);

/// A string, sequence or map that is truncated to `BOUND` bytes, units or elements when it is received.
///
/// `Vec<Trimmed<String, 8>>` is `sequence<@try_construct(TRIM) string<8>>`.
///
/// A sender must respect the bound, as with [`Bounded`](super::Bounded). Strings are truncated at a character boundary.
/// The whole sequence or map is decoded first, so the dropped elements must be valid too.
///
/// It is a compile error for a `HashMap`, which has no first entries. It is also a compile error inside of a key,
/// because two instances could become one.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::Trimmed;
///
/// let name: Trimmed<String, 8> = "robot".to_owned().into();
/// assert_eq!(name.len(), 5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Trimmed<T, const BOUND: u32>(
    /// The value.
    pub T,
);

wrapper! {
    [T] OrDefault<T>;
    [T, const BOUND: u32] Trimmed<T, BOUND>;
}

impl<T: Encode> Encode for OrDefault<T> {
    const IS_PRIMITIVE: bool = T::IS_PRIMITIVE;
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode_key(e)
    }
}

impl<'de, T: Decode<'de> + TypeInfo> Decode<'de> for OrDefault<T> {
    const IS_PRIMITIVE: bool = T::IS_PRIMITIVE;
    const SIZE_MIN: usize = T::SIZE_MIN;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        match d.try_construct(T::DESCRIPTION, false, T::decode)? {
            Some(value) => Ok(Self(value)),
            None => T::missing(d).map(Self),
        }
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        if d.try_construct(T::DESCRIPTION, false, |d| self.0.decode_into(d))?.is_none() {
            self.0 = T::missing(d)?;
        }
        Ok(())
    }

    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        T::missing(d).map(Self)
    }
}

impl<T: TypeInfo> TypeInfo for OrDefault<T> {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = {
        let is_array = matches!(T::DESCRIPTION.kind(), TypeKind::Array { .. });
        assert!(!is_array, "an array of arrays is one array: wrap its elements instead");
        &T::DESCRIPTION.try_construct(TryConstruct::UseDefault)
    };
}

impl<T: Encode + Measured, const BOUND: u32> Encode for Trimmed<T, BOUND> {
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.check_bound(self.0.measure(), BOUND)?;
        self.0.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.check_bound(self.0.measure(), BOUND)?;
        self.0.encode_key(e)
    }
}

impl<'de, T: Decode<'de> + Trim, const BOUND: u32> Decode<'de> for Trimmed<T, BOUND> {
    const SIZE_MIN: usize = T::SIZE_MIN;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut value = T::decode(d)?;
        value.trim(BOUND);
        Ok(Self(value))
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        self.0.decode_into(d)?;
        self.0.trim(BOUND);
        Ok(())
    }

    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        T::missing(d).map(Self)
    }
}

impl<T: TypeInfo, const BOUND: u32> TypeInfo for Trimmed<T, BOUND> {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = {
        assert!(BOUND > 0, "a bound is at least 1");
        &T::DESCRIPTION.bounded(BOUND).try_construct(TryConstruct::Trim)
    };
}

impl<T: MapKey> MapKey for OrDefault<T> {}
