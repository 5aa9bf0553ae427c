//! Topics of types that know serde and nothing of DDS (feature `serde`).
//!
//! In: values with `Serialize`, bytes for types with `Deserialize`. Out: XCDR1, as a derived type of the same shape has
//! it. Owned: nothing.

mod deserializer;
mod serializer;

use crate::cdr::{
    Decode, DecodeError, DecodeErrorKind, DecodeOwned, Decoder, Encode, EncodeError, Encoder, Encoding, Extensibility,
    TypeDescription, TypeInfo,
};
use crate::qos::DataRepresentation;
use deserializer::CdrDeserializer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serializer::CdrSerializer;
use std::fmt;

/// A sample of a [`serde_topic`](crate::DomainParticipant::serde_topic): a value of a type that has serde's `Serialize` and
/// `Deserialize` instead of [`DdsType`](crate::DdsType).
///
/// It is encoded in XCDR1 as a final type, keyless, and meets derived types and those of other vendors with the same
/// type name and shape:
///
/// | Rust | on the wire (IDL) |
/// |---|---|
/// | `bool`, `i8`–`i64`, `u8`–`u64`, `f32`, `f64`, `char` | `boolean`, `int8`–`int64`, `uint8`–`uint64`, `float`, `double`, `char` |
/// | `String`, `&str` | `string` |
/// | `Vec` and other sequences; bytes | `sequence`; `sequence<octet>` |
/// | maps | `map` |
/// | struct, tuple struct | struct, with the fields in the order of definition |
/// | `Option` as a field of those | `@optional` member; its id is the field's place, from 0 |
/// | array, tuple | the elements, one after the other |
/// | newtype struct | what is in it |
/// | enum without data | enum of 32 bits; its numbers are the places of the variants, from 0 |
/// | enum with data | union; its discriminator is the place of the variant, from 0, in 32 bits |
/// | `()`, unit struct | nothing |
///
/// Refused when they are written or read: 128-bit numbers, an `Option` elsewhere, sequences and maps that do not know their
/// length, and what depends on field names, such as `flatten` and `skip_serializing_if`. XCDR2 is refused too: it puts a
/// length in front of some sequences and not of others, by the type of their elements, which serde does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Serde<T>(pub T);

/// The encodings that a serde topic can have.
pub(crate) const REPRESENTATIONS: &[DataRepresentation] = &[DataRepresentation::Xcdr1];

impl<T: Serialize> Encode for Serde<T> {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if e.encoding() != Encoding::Xcdr1 {
            return Err(EncodeError::Unrepresentable { what: "a serde type in XCDR2" });
        }
        self.0.serialize(CdrSerializer::new(e)).map_err(|Refused(error)| error)
    }

    fn encode_key(&self, _e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>> Decode<'de> for Serde<T> {
    const EXTENSIBILITY: Option<Extensibility> = Some(Extensibility::Final);

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        if d.encoding() != Encoding::Xcdr1 {
            return Err(d.error(DecodeErrorKind::Unrepresentable { what: "a serde type in XCDR2" }));
        }
        match T::deserialize(CdrDeserializer::new(d)) {
            Ok(value) => Ok(Self(value)),
            Err(Malformed::Input(error)) => Err(error),
            Err(Malformed::Type(what)) => Err(d.error(DecodeErrorKind::Unrepresentable { what })),
        }
    }
}

impl<T: DeserializeOwned + 'static> DecodeOwned for Serde<T> {}

/// Only as much as writing a sample needs: the topic has the name, and there is no key.
impl<T> TypeInfo for Serde<T> {
    const TYPE_NAME: &'static str = "Serde";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::of_struct(Self::TYPE_NAME, Extensibility::Final, &[]);
}

/// Why a value was not written.
#[derive(Debug)]
struct Refused(EncodeError);

impl From<EncodeError> for Refused {
    fn from(error: EncodeError) -> Self {
        Self(error)
    }
}

impl Refused {
    fn type_cannot(what: &'static str) -> Self {
        Self(EncodeError::Unrepresentable { what })
    }
}

impl serde::ser::Error for Refused {
    fn custom<M: fmt::Display>(message: M) -> Self {
        tracing::debug!(%message, "a type's Serialize refuses its value");
        Self::type_cannot("a value that its own Serialize refuses")
    }
}

/// Why a value was not read.
#[derive(Debug)]
enum Malformed {
    /// The bytes are no such value.
    Input(DecodeError),
    /// The type asks for what the encoding cannot tell.
    Type(&'static str),
}

impl From<DecodeError> for Malformed {
    fn from(error: DecodeError) -> Self {
        Self::Input(error)
    }
}

impl serde::de::Error for Malformed {
    fn custom<M: fmt::Display>(message: M) -> Self {
        tracing::debug!(%message, "a type's Deserialize refuses a value");
        Self::Type("a value that its own Deserialize refuses")
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Type(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Refused {}
impl std::error::Error for Malformed {}
