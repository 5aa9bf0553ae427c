//! Applied annotations (XTYPES 1.3, annex B).
//!
//! They are kept because they are part of the hashed bytes. Annotation types themselves are not supported.

use super::form::NameHash;
use super::identifier::TypeIdentifier;
use super::record::record;
use crate::cdr::{Char16, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

/// A user-defined annotation with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedAnnotation {
    /// The type of the annotation.
    pub annotation: TypeIdentifier,
    /// Values of its parameters.
    pub parameters: Option<Vec<AnnotationParameter>>,
}

/// A parameter of an annotation, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationParameter {
    /// Hash of the parameter's name.
    pub name_hash: NameHash,
    /// The value.
    pub value: AnnotationValue,
}

/// A value of an annotation's parameter. Floats are kept as bits, so that values can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a value of the type that it is named after")]
pub enum AnnotationValue {
    Bool(bool),
    Byte(u8),
    Int8(i8),
    UInt8(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float32(u32),
    Float64(u64),
    Char8(u8),
    Char16(Char16),
    Enumerated(i32),
    String8(String),
}

/// Standard annotations of a type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeAnnotations {
    /// `@verbatim`.
    pub verbatim: Option<Verbatim>,
}

/// Text for generated code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verbatim {
    /// The position of the text in the generated code.
    pub placement: String,
    /// The language of the generated code.
    pub language: String,
    /// The text.
    pub text: String,
}

/// Standard annotations of a member that its flags do not express.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberAnnotations {
    /// `@unit`.
    pub unit: Option<String>,
    /// `@min`.
    pub min: Option<AnnotationValue>,
    /// `@max`.
    pub max: Option<AnnotationValue>,
    /// `@hashid`. Empty: the name of the member is hashed.
    pub hash_id: Option<String>,
}

record! {
    appendable AppliedAnnotation { annotation ?parameters }
    appendable AnnotationParameter { name_hash value }
    appendable TypeAnnotations { ?verbatim }
    final_ Verbatim { placement language text }
    appendable MemberAnnotations { ?unit ?min ?max ?hash_id }
}

macro_rules! values {
    ($($kind:literal $variant:ident)+) => {
        impl Encode for AnnotationValue {
            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                match self {
                    $(Self::$variant(value) => {
                        <u8 as Encode>::encode(&$kind, e)?;
                        value.encode(e)
                    })+
                }
            }

            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                self.encode(e)
            }
        }

        impl<'de> Decode<'de> for AnnotationValue {
            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                match u8::decode(d)? {
                    $($kind => Decode::decode(d).map(Self::$variant),)+
                    other => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: other.into() })),
                }
            }
        }
    };
}

values! {
    0x01 Bool 0x02 Byte 0x0c Int8 0x0d UInt8 0x03 Int16 0x06 UInt16 0x04 Int32 0x07 UInt32 0x05 Int64 0x08 UInt64
    0x09 Float32 0x0a Float64 0x10 Char8 0x11 Char16 0x40 Enumerated 0x20 String8
}
