//! Implements the traits of derived types for dynamic data: encoding, decoding and keys.

use super::encode::{MemberSet, encode};
use super::{DynamicData, DynamicType, decode};
use crate::cdr::{
    AnyType, Decode, DecodeError, DecodeErrorKind, DecodeOwned, Decoder, Encode, EncodeError, Encoder, Encoding,
    Extensibility, Keyed, TypeDescription, TypeInfo,
};

impl DynamicData {
    /// Decodes a sample from a payload with its encapsulation header.
    ///
    /// ```
    /// # mod dds_core { pub use dds_cdr::cdr::{self, dynamic}; }
    /// use dds_core::cdr::Encoding;
    /// use dds_core::dynamic::{DynamicData, DynamicType};
    ///
    /// let count = DynamicType::structure("Count").member("count", DynamicType::int32()).build()?;
    /// let mut data = DynamicData::new(&count);
    /// data.set("count", -3)?;
    /// let payload = data.to_payload(Encoding::Xcdr2)?;
    /// assert_eq!(DynamicData::from_payload(&count, &payload)?, data);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The payload is not a value of this type. The error contains the position.
    pub fn from_payload(ty: &DynamicType, payload: &[u8]) -> Result<Self, DecodeError> {
        let mut d = Decoder::of_payload_for(payload, Some(ty.extensibility()))?;
        Self::read(ty, MemberSet::All, &mut d)
    }

    /// Decodes a serialized key. Members outside of the key have their defaults.
    ///
    /// # Errors
    /// The payload is not a key of this type. The error contains the position.
    pub fn from_key_payload(ty: &DynamicType, payload: &[u8]) -> Result<Self, DecodeError> {
        let mut d = Decoder::of_payload_for(payload, Some(ty.extensibility()))?;
        Self::read(ty, MemberSet::Key, &mut d)
    }

    /// Encodes a payload with an encapsulation header, in the byte order of this machine.
    ///
    /// # Errors
    /// A length exceeds `u32::MAX`.
    pub fn to_payload(&self, encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
        let mut payload = Vec::new();
        crate::cdr::encode_payload(self, encoding, &mut payload)?;
        Ok(payload)
    }

    fn read(ty: &DynamicType, set: MemberSet, d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let value = decode::decode(ty.view(), set, d)?;
        Ok(Self { ty: ty.clone(), value })
    }
}

/// The dynamic type of a topic, if it has one.
fn dynamic(ty: Option<&AnyType>) -> Option<&DynamicType> {
    match ty {
        Some(AnyType::Dynamic(ty)) => Some(ty),
        _ => None,
    }
}

/// Decoding requires a type, but the topic has no dynamic type.
fn untyped(d: &Decoder<'_>) -> DecodeError {
    d.error(DecodeErrorKind::Unrepresentable { what: "dynamic data of a topic without a dynamic type" })
}

impl Encode for DynamicData {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encode(self.ty.view(), &self.value, MemberSet::All, e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encode(self.ty.view(), &self.value, MemberSet::Key, e)
    }

    fn framing(&self) -> Option<Extensibility> {
        Some(self.ty.extensibility())
    }

    /// Compares addresses first, then structures.
    fn is_of(&self, ty: Option<&AnyType>) -> bool {
        // The topic decides the encoding, so a value of another type must not be written.
        dynamic(ty).is_some_and(|ty| self.ty.is_same_as(ty))
    }
}

/// Decoding requires a type: use [`DynamicData::from_payload`], or decode into an existing value.
impl<'de> Decode<'de> for DynamicData {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        // Without the topic, nothing tells the type of the bytes.
        Err(untyped(d))
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        self.value = decode::decode(self.ty.view(), MemberSet::All, d)?;
        Ok(())
    }

    fn decode_typed(payload: &'de [u8], ty: Option<&AnyType>) -> Result<Self, DecodeError> {
        match dynamic(ty) {
            Some(ty) => Self::from_payload(ty, payload),
            None => {
                let (d, _) = Decoder::of_payload(payload)?;
                Err(untyped(&d))
            }
        }
    }

    fn decode_typed_into(&mut self, payload: &'de [u8], ty: Option<&AnyType>) -> Result<(), DecodeError> {
        *self = Self::decode_typed(payload, ty)?;
        Ok(())
    }
}

impl DecodeOwned for DynamicData {}

/// A placeholder: the topic holds the real name and structure.
impl TypeInfo for DynamicData {
    const TYPE_NAME: &'static str = "DynamicData";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::of_struct(Self::TYPE_NAME, Extensibility::Final, &[]);
}

/// The key is dynamic data of the same type, with values in the key members only.
impl Keyed for DynamicData {
    type Key = Self;

    fn key(&self) -> Self {
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, Encoding::Xcdr2, crate::cdr::ByteOrder::HOST);
        // Encoding and decoding the key leaves only the key members, at every depth.
        if self.encode_key(&mut e).is_ok() {
            let mut d = Decoder::new(&bytes, Encoding::Xcdr2, crate::cdr::ByteOrder::HOST);
            if let Ok(key) = Self::read(&self.ty, MemberSet::Key, &mut d) {
                return key;
            }
        }
        // A value without an encoding cannot be written, and its writer reports that.
        Self::new(&self.ty)
    }

    fn encode_key_value(key: &Self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        key.encode_key(e)
    }

    fn decode_key_value(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Err(untyped(d))
    }

    fn framing_of_key(key: &Self) -> Option<Extensibility> {
        Some(key.ty.extensibility())
    }

    fn is_key_of(key: &Self, ty: Option<&AnyType>) -> bool {
        key.is_of(ty)
    }

    fn decode_typed_key(payload: &[u8], ty: Option<&AnyType>) -> Result<Self, DecodeError> {
        match dynamic(ty) {
            Some(ty) => Self::from_key_payload(ty, payload),
            None => {
                let (d, _) = Decoder::of_payload(payload)?;
                Err(untyped(&d))
            }
        }
    }
}
