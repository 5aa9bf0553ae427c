//! Keys of maps, and their lookup without a copy of the received key.

use super::construct::whole_characters;
use super::{Bounded, Char16, Decode, DecodeError, Decoder, Trimmed, WString};
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// A value that can be the key of a map: an integer, a bool, a char, a string or an enum (XTYPES 1.3, 7.2.2.4.3).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a DDS map",
    note = "a map key is an integer, bool, char, String, or an enum without data"
)]
pub trait MapKey: Sized {
    /// Decodes a key and returns its value. `scratch` keeps the memory of owned keys for the whole map.
    #[doc(hidden)]
    fn find<'de, 'm, V, S: BuildHasher>(
        map: &'m mut HashMap<Self, V, S>,
        scratch: &mut Option<Self>,
        d: &mut Decoder<'de>,
    ) -> Result<Option<&'m mut V>, DecodeError>
    where
        Self: Decode<'de> + Hash + Eq,
    {
        // The scratch value keeps its allocation from key to key.
        d.present_into(scratch)?;
        Ok(scratch.as_ref().and_then(|key| map.get_mut(key)))
    }

    /// Decodes a key and returns whether it equals this one.
    #[doc(hidden)]
    fn is_next<'de>(&self, scratch: &mut Option<Self>, d: &mut Decoder<'de>) -> Result<bool, DecodeError>
    where
        Self: Decode<'de> + PartialEq,
    {
        d.present_into(scratch)?;
        Ok(scratch.as_ref() == Some(self))
    }
}

/// A text as received, or converted to UTF-8. A short converted text needs no allocation.
enum KeyText<'de> {
    Received(&'de str),
    Converted(SmallVec<[u8; 64]>),
}

impl KeyText<'_> {
    fn as_str(&self) -> &str {
        match self {
            Self::Received(text) => text,
            Self::Converted(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
        }
    }

    /// Truncates the text to `len_max` bytes.
    fn cut(&mut self, len_max: usize) {
        match self {
            Self::Received(text) => *text = text.get(..len_max).unwrap_or(text),
            Self::Converted(bytes) => bytes.truncate(len_max),
        }
    }
}

/// A key that is a text.
trait TextKey: Borrow<str> {
    /// Decodes the text of a key.
    fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError>;
}

macro_rules! keys {
    (plain: $($key:ty),*; text: $([$($parameter:tt)*] $text:ty),*;) => {
        $(
            impl MapKey for $key {}
        )*
        $(
            impl<$($parameter)*> MapKey for $text {
                fn find<'de, 'm, V, S: BuildHasher>(
                    map: &'m mut HashMap<Self, V, S>,
                    _: &mut Option<Self>,
                    d: &mut Decoder<'de>,
                ) -> Result<Option<&'m mut V>, DecodeError>
                where
                    Self: Decode<'de> + Hash + Eq,
                {
                    let text = <Self as TextKey>::take_text(d)?;
                    Ok(map.get_mut::<str>(text.as_str()))
                }

                fn is_next<'de>(&self, _: &mut Option<Self>, d: &mut Decoder<'de>) -> Result<bool, DecodeError>
                where
                    Self: Decode<'de> + PartialEq,
                {
                    let text = <Self as TextKey>::take_text(d)?;
                    let own: &str = Borrow::borrow(self);
                    // Bytes compare faster than `str`, which has the same equality.
                    Ok(text.as_str().as_bytes() == own.as_bytes())
                }
            }
        )*
    };
}

keys! {
    plain: bool, u8, u16, u32, u64, i8, i16, i32, i64, char, Char16;
    text: [] String, [] WString, ['a] &'a str,
        [const BOUND: u32] Bounded<String, BOUND>, [const BOUND: u32] Bounded<WString, BOUND>,
        ['a, const BOUND: u32] Bounded<&'a str, BOUND>,
        [const BOUND: u32] Trimmed<String, BOUND>, [const BOUND: u32] Trimmed<WString, BOUND>,
        ['a, const BOUND: u32] Trimmed<&'a str, BOUND>;
}

macro_rules! narrow {
    ($([$($parameter:tt)*] $text:ty),*) => {$(
        impl<$($parameter)*> TextKey for $text {
            fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
                <&str>::decode(d).map(KeyText::Received)
            }
        }

        impl<$($parameter)* const BOUND: u32> TextKey for Bounded<$text, BOUND> {
            fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
                let text = <&str>::decode(d)?;
                d.check_bound(text.len(), BOUND)?;
                Ok(KeyText::Received(text))
            }
        }

        impl<$($parameter)* const BOUND: u32> TextKey for Trimmed<$text, BOUND> {
            fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
                let mut text = <$text as TextKey>::take_text(d)?;
                // Cut before the lookup: two keys that agree after the cut are one key.
                let len_max = whole_characters(text.as_str(), BOUND);
                text.cut(len_max);
                Ok(text)
            }
        }
    )*};
}

narrow! { [] String, ['a,] &'a str }

impl TextKey for WString {
    fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
        let mut bytes = SmallVec::new();
        d.wide_characters(|character| bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()))?;
        Ok(KeyText::Converted(bytes))
    }
}

impl<const BOUND: u32> TextKey for Bounded<WString, BOUND> {
    fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
        let text = WString::take_text(d)?;
        d.check_bound(text.as_str().encode_utf16().count(), BOUND)?;
        Ok(text)
    }
}

impl<const BOUND: u32> TextKey for Trimmed<WString, BOUND> {
    fn take_text<'de>(d: &mut Decoder<'de>) -> Result<KeyText<'de>, DecodeError> {
        let mut text = WString::take_text(d)?;
        let len_max = super::construct::bytes_of_units(text.as_str(), BOUND);
        text.cut(len_max);
        Ok(text)
    }
}

macro_rules! borrow_text {
    ($([$($parameter:tt)*] $text:ty),*) => {$(
        /// Compares and hashes like the text.
        impl<$($parameter)*> Borrow<str> for $text {
            fn borrow(&self) -> &str {
                Borrow::<str>::borrow(&self.0)
            }
        }
    )*};
}

borrow_text! {
    [const BOUND: u32] Bounded<String, BOUND>, [const BOUND: u32] Bounded<WString, BOUND>,
    [const BOUND: u32] Bounded<&str, BOUND>,
    [const BOUND: u32] Trimmed<String, BOUND>, [const BOUND: u32] Trimmed<WString, BOUND>,
    [const BOUND: u32] Trimmed<&str, BOUND>
}

/// Compares and hashes like the text.
impl Borrow<str> for WString {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}
