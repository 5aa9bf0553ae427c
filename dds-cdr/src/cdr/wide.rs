//! `wchar` and `wstring`: UTF-16 units.
//!
//! A wide string is its length in bytes, twice the number of units, and the units. No NUL ends it (XTYPES 1.3,
//! 7.4.1.1.2; so do Cyclone DDS and, in XCDR2, RTI Connext). Fast DDS counts units instead of bytes, and RTI Connext
//! sends four bytes per unit in XCDR1. Their bytes are ambiguous, so neither is supported.

use super::primitive::plain_value;
use super::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode, Primitive,
    TypeDescription, TypeInfo, TypeKind, WholeKey,
};
use std::fmt;

/// A `wchar`: one UTF-16 unit, which is a character or half of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Char16(
    /// The unit.
    pub u16,
);

impl TryFrom<char> for Char16 {
    type Error = EncodeError;

    /// Fails for characters of two units, from U+10000.
    fn try_from(character: char) -> Result<Self, EncodeError> {
        // A character above U+FFFF needs two units.
        u16::try_from(u32::from(character)).map(Self).map_err(|_| EncodeError::NotAChar16 { character })
    }
}

impl Primitive for Char16 {
    #[inline]
    fn read(bytes: &[u8], order: ByteOrder) -> Self {
        Self(u16::read(bytes, order))
    }
}

impl Encode for Char16 {
    const IS_PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = u16::LENGTH_CODE;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode(e)
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode(e)
    }
}

impl<'de> Decode<'de> for Char16 {
    const IS_PRIMITIVE: bool = true;
    const SIZE_MIN: usize = 2;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        u16::decode(d).map(Self)
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::default())
    }
}

plain_value!(Char16, Char16, "char16");

/// A `wstring`: text that is encoded as UTF-16. In memory it is a [`String`].
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::WString;
///
/// let text = WString::from("tür");
/// assert_eq!((text.as_str(), text.len()), ("tür", 3));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WString(String);

impl WString {
    /// Creates an empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text for changes.
    pub fn as_mut_string(&mut self) -> &mut String {
        &mut self.0
    }

    /// Returns the text without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the number of UTF-16 units, which a bound limits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.encode_utf16().count()
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for WString {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<WString> for String {
    fn from(text: WString) -> Self {
        text.0
    }
}

impl fmt::Debug for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Encode for WString {
    const LENGTH_CODE: LengthCode = LengthCode::Shared1;

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.wide_text(&self.0)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for WString {
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut text = Self::new();
        text.decode_into(d)?;
        Ok(text)
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        self.0.clear();
        // Character by character, because the text is converted from UTF-16 on the way.
        d.wide_characters(|character| self.0.push(character))
    }

    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }
}

impl TypeInfo for WString {
    const TYPE_NAME: &'static str = "wstring";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::new(Self::TYPE_NAME, TypeKind::WString { bound: None });
}

impl KeyMember for WString {
    type Key = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn encode_key_member(key: &Self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        key.encode(e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Self::decode(d)
    }
}

impl WholeKey<'_> for WString {
    fn copy_key(&self) -> Self {
        self.clone()
    }
}
