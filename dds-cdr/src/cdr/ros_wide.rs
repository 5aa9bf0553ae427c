//! `wstring` of ROS 2: four bytes for each UTF-16 unit.
//!
//! A wide string is the number of its units, and each unit as a `u32`. No NUL ends it. These are the bytes of a
//! `sequence<uint32>`, unlike `wstring` of DDS ([`WString`]). ROS 2 Jazzy and Kilted send them with Fast DDS, and Jazzy
//! sends them with Cyclone DDS.

use super::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, LengthCode, Measured, Trim,
    TypeDescription, TypeInfo, TypeKind, WString,
};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A `wstring` of ROS 2: text that is encoded as UTF-16 with four bytes for each unit.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::RosWString;
///
/// let text = RosWString::from("tür");
/// assert_eq!((text.as_str(), text.len()), ("tür", 3));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RosWString(
    /// The text.
    pub WString,
);

impl From<&str> for RosWString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for RosWString {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<RosWString> for String {
    fn from(text: RosWString) -> Self {
        text.0.into_string()
    }
}

impl Deref for RosWString {
    type Target = WString;

    fn deref(&self) -> &WString {
        &self.0
    }
}

impl DerefMut for RosWString {
    fn deref_mut(&mut self) -> &mut WString {
        &mut self.0
    }
}

impl fmt::Debug for RosWString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RosWString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Measured for RosWString {
    fn measure(&self) -> usize {
        self.len()
    }
}

impl Trim for RosWString {
    fn trim(&mut self, bound: u32) {
        self.0.trim(bound);
    }
}

impl Encode for RosWString {
    const LENGTH_CODE: LengthCode = LengthCode::Shared4;

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let text = self.as_str();
        if let Some(position) = text.find('\0') {
            return Err(EncodeError::InteriorNul { position });
        }
        // The middleware of ROS sends each UTF-16 unit as a number of four bytes, and counts the units.
        e.length(self.len())?;
        for unit in text.encode_utf16() {
            u32::from(unit).encode(e)?;
        }
        Ok(())
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for RosWString {
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut text = Self::default();
        text.decode_into(d)?;
        Ok(text)
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        let text = self.as_mut_string();
        text.clear();
        // A unit has four bytes, so a hostile count fails before anything is allocated.
        let count = d.length(4)?;
        let mut first_half = None;
        for _ in 0..count {
            let invalid = DecodeErrorKind::InvalidUtf16;
            let Ok(unit) = u16::try_from(u32::decode(d)?) else {
                return Err(DecodeError::new(d.position() - 4, invalid));
            };
            let units = match first_half.take() {
                Some(half) => [half, unit],
                // The first half of a surrogate pair waits for the second one.
                None if (0xd800..0xdc00).contains(&unit) => {
                    first_half = Some(unit);
                    continue;
                }
                // `decode_utf16` takes one character, so the zero is never reached.
                None => [unit, 0],
            };
            match char::decode_utf16(units).next() {
                Some(Ok('\0')) => return Err(DecodeError::new(d.position() - 4, DecodeErrorKind::InteriorNul)),
                Some(Ok(character)) => text.push(character),
                Some(Err(_)) | None => return Err(DecodeError::new(d.position() - 4, invalid)),
            }
        }
        match first_half {
            Some(_) => Err(DecodeError::new(d.position() - 4, DecodeErrorKind::InvalidUtf16)),
            None => Ok(()),
        }
    }

    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::default())
    }
}

impl TypeInfo for RosWString {
    const TYPE_NAME: &'static str = "wstring";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::new(Self::TYPE_NAME, TypeKind::RosWString { bound: None });
}
