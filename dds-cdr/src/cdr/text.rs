//! Strings: a length that includes the NUL, the bytes, and the NUL.

use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode, TypeDescription, TypeInfo,
    TypeKind, WholeKey,
};

impl Encode for str {
    const LENGTH_CODE: LengthCode = LengthCode::Shared1;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // As in decoding, `contains` is vectorized, and the position matters only for an error.
        if self.as_bytes().contains(&0) {
            let position = self.find('\0').unwrap_or_default();
            return Err(EncodeError::InteriorNul { position });
        }
        // The length counts the NUL (XTYPES 1.3, 7.4.3).
        e.length(self.len() + 1)?;
        e.bytes(self.as_bytes());
        e.bytes(&[0]);
        Ok(())
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl Encode for String {
    const LENGTH_CODE: LengthCode = LengthCode::Shared1;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_str().encode(e)
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_str().encode(e)
    }
}

impl<'de> Decode<'de> for &'de str {
    // The length alone. Some senders write an empty string without its NUL.
    const SIZE_MIN: usize = 4;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.string()
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok("")
    }
}

impl<'de> Decode<'de> for String {
    const SIZE_MIN: usize = 4;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.string().map(Self::from)
    }

    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        let text = d.string()?;
        // The allocation of the previous sample serves again.
        self.clear();
        self.push_str(text);
        Ok(())
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }
}

impl TypeInfo for str {
    const TYPE_NAME: &'static str = "string";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::new(Self::TYPE_NAME, TypeKind::String { bound: None });
}

impl TypeInfo for String {
    const TYPE_NAME: &'static str = str::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = str::DESCRIPTION;
}

impl KeyMember for str {
    type Key = String;

    fn to_key(&self) -> String {
        self.to_owned()
    }

    fn encode_key_member(key: &String, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        key.encode(e)
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<String, DecodeError> {
        String::decode(d)
    }
}

impl KeyMember for String {
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

impl WholeKey<'_> for String {
    fn copy_key(&self) -> Self {
        self.clone()
    }
}
