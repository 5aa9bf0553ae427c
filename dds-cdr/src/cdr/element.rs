//! What becomes of elements, keys and values of collections that their type cannot hold, where no attribute can say it
//! (XTYPES 1.3, 7.2.2.7).
//!
//! Of a member, `#[dds(try_construct = "...")]` says it. Elements have no attributes, so their type says it instead. Without
//! either, what contains the value cannot be made, and in the end the sample is an error.

use super::bounded::wrapper;
use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LengthCode, MapKey, Measured, Trim, TryConstruct,
    TypeDescription, TypeInfo, TypeKind,
};
use std::ops::{Deref, DerefMut};

/// A value that is its default where the sender's is none of its type: `Vec<OrDefault<Gear>>` is
/// `sequence<@try_construct(USE_DEFAULT) Gear>`.
///
/// It stands for elements of sequences and arrays, keys and values of maps, and members of unions: a literal or a case that
/// this program does not know, bits without a name, too long a string (`OrDefault<Bounded<String, 8>>`), and structs with
/// such a member. For types that hold any value, as numbers and strings without a bound do, and for arrays, whose elements
/// speak for themselves, it is a compile error; and so it is as part of a key, which every sender must send.
///
/// ```compile_fail,E0080
/// use dds_cdr::cdr::{OrDefault, TypeInfo};
///
/// println!("{:?}", OrDefault::<u32>::DESCRIPTION); // every four bytes are a number
/// ```
///
/// Keys of a map that become the same one are an error, as they are when they are sent so.
///
/// ```
/// use dds_macros::DdsType;
/// use dds_cdr::cdr::{Encoding, OrDefault, decode_payload, encode_payload};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(crate = "dds_cdr", nested)]
/// enum Gear {
///     Neutral,
///     First,
/// }
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_cdr")]
/// struct Gears {
///     gears: Vec<OrDefault<Gear>>,
/// }
///
/// /// As another program has it, which knows more gears.
/// #[derive(DdsType)]
/// #[dds(crate = "dds_cdr")]
/// struct Sent {
///     gears: Vec<i32>,
/// }
///
/// let mut payload = Vec::new();
/// encode_payload(&Sent { gears: vec![1, 9] }, Encoding::Xcdr1, &mut payload)?;
/// let received: Gears = decode_payload(&payload)?;
/// assert_eq!(received.gears, [OrDefault(Gear::First), OrDefault(Gear::Neutral)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OrDefault<T>(
    /// The value.
    pub T,
);

/// A string, sequence or map of at most `BOUND` bytes, units or elements, of which as much is kept as that allows:
/// `Vec<Trimmed<String, 8>>` is `sequence<@try_construct(TRIM) string<8>>`.
///
/// Who sends it must keep to the bound, as with [`Bounded`](super::Bounded). Of a string whole characters are kept. A
/// `HashMap` cannot be trimmed, as it has no first entries, and no part of a key can, as two instances would become one:
/// both are compile errors. All of a sequence or map is read before it is cut: what is left out must be of its type too.
///
/// ```
/// use dds_cdr::cdr::{ByteOrder, Decode, Decoder, Encoding, Trimmed};
///
/// // A sequence of one string of five letters.
/// let bytes = b"\x01\0\0\0\x06\0\0\0robot\0";
/// let names = Vec::<Trimmed<String, 3>>::decode(&mut Decoder::new(bytes, Encoding::Xcdr1, ByteOrder::Little))?;
/// assert_eq!(names[0].as_str(), "rob");
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
        assert!(!is_array, "an array of arrays is one array: say it of the elements");
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
