//! TypeInformation: the identifiers of an endpoint's type and of its dependencies (XTYPES 1.3, 7.6.3.2.1).
//!
//! ```text
//! length   of the whole value (a mutable struct; no encapsulation header in the parameter)
//! 0x1001   minimal:  length, (length, identifier, size of the TypeObject), number of dependencies, dependencies
//! 0x1002   complete: the same
//! ```
//!
//! Member lengths are written with length code 4, like Cyclone DDS. Dust DDS uses length code 5; both are accepted.

use super::identifier::TypeIdentifier;
use super::record::record;
use crate::cdr::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Encoding, LengthCode,
};

/// The type information that an endpoint announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeInformation {
    /// Identifiers of minimal TypeObjects.
    pub minimal: TypeWithDependencies,
    /// Identifiers of complete TypeObjects.
    pub complete: TypeWithDependencies,
}

/// The identifiers of a type and of its dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeWithDependencies {
    /// The type.
    pub ty: TypeWithSize,
    /// The number of dependencies; -1 if unknown. May exceed the length of the list.
    pub dependency_count: i32,
    /// Some or all dependencies.
    pub dependencies: Vec<TypeWithSize>,
}

/// The identifier of a type and the size of its TypeObject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeWithSize {
    /// The identifier.
    pub id: TypeIdentifier,
    /// Bytes of the serialized TypeObject; 0 if unknown (observed from Cyclone DDS).
    pub size: u32,
}

impl TypeInformation {
    /// Encodes the value of the parameter.
    ///
    /// # Errors
    /// The encoding is longer than `u32::MAX` bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        self.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
        Ok(bytes)
    }

    /// Decodes the value of the parameter. Unknown members are skipped.
    ///
    /// # Errors
    /// The bytes are not valid type information, or one of the two descriptions is missing.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Decoder::new(bytes, Encoding::Xcdr2, ByteOrder::Little))
    }
}

impl TypeWithDependencies {
    /// Takes the type from the front and its dependencies from the rest. `None` if `types` is empty.
    #[must_use]
    pub fn of(types: Vec<TypeWithSize>) -> Option<Self> {
        let mut types = types.into_iter();
        let ty = types.next()?;
        let dependencies: Vec<TypeWithSize> = types.collect();
        // -1 stands for an unknown number (XTYPES 1.3, 7.6.3.2.1).
        let dependency_count = i32::try_from(dependencies.len()).unwrap_or(-1);
        Some(Self { ty, dependency_count, dependencies })
    }
}

record! {
    appendable TypeWithSize { id size }
    appendable TypeWithDependencies { ty dependency_count dependencies }
}

impl Encode for TypeInformation {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.mutable(|e| {
            // Length code 4, as Cyclone DDS writes it. Readers accept 5 as well.
            e.member(MINIMAL, false, LengthCode::NextInt, |e| self.minimal.encode(e))?;
            e.member(COMPLETE, false, LengthCode::NextInt, |e| self.complete.encode(e))
        })
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for TypeInformation {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let (mut minimal, mut complete) = (None, None);
        d.members(|d, id| {
            match id {
                MINIMAL => minimal = Some(Decode::decode(d)?),
                COMPLETE => complete = Some(Decode::decode(d)?),
                // A later version may add members. One that must be understood is an error.
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        match (minimal, complete) {
            (Some(minimal), Some(complete)) => Ok(Self { minimal, complete }),
            _ => Err(d.error(DecodeErrorKind::MissingMember)),
        }
    }
}

const MINIMAL: u32 = 0x1001;
const COMPLETE: u32 = 0x1002;
