//! What endpoints announce of their types (XTYPES 1.3, 7.6.3.2.1): names, and those of what they depend on.
//!
//! ```text
//! length   of all of it (it is mutable, and stands in its parameter without an encapsulation header)
//! 0x1001   minimal:  length, (length, name, size of the TypeObject), number of dependencies, those dependencies
//! 0x1002   complete: the same
//! ```
//!
//! Lengths of members are written as Cyclone DDS does (length code 4); Dust DDS uses length code 5. Both are read.

use super::identifier::TypeIdentifier;
use super::record::record;
use crate::cdr::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Encoding, LengthCode,
};

/// What an endpoint announces of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeInformation {
    /// By minimal descriptions.
    pub minimal: TypeWithDependencies,
    /// By complete descriptions.
    pub complete: TypeWithDependencies,
}

/// The name of a type, and those of the types that it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeWithDependencies {
    /// The type.
    pub ty: TypeWithSize,
    /// How many it is made of; -1 if that is not known. There may be more than are listed.
    pub dependency_count: i32,
    /// Some or all of them.
    pub dependencies: Vec<TypeWithSize>,
}

/// The name of a type, and how large its TypeObject is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeWithSize {
    /// The name.
    pub id: TypeIdentifier,
    /// Bytes of the serialized TypeObject; 0 if that is not known (seen of Cyclone DDS).
    pub size: u32,
}

impl TypeInformation {
    /// Its bytes.
    ///
    /// # Errors
    /// There is more of it than 32 bits can say.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        self.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
        Ok(bytes)
    }

    /// Reads the value of a parameter. What else is in it is passed over.
    ///
    /// # Errors
    /// It is no type information, or lacks one of the two descriptions.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Decoder::new(bytes, Encoding::Xcdr2, ByteOrder::Little))
    }
}

impl TypeWithDependencies {
    /// The first is the type, the others what it is made of. `None`: there is none.
    #[must_use]
    pub fn of(types: Vec<TypeWithSize>) -> Option<Self> {
        let mut types = types.into_iter();
        let ty = types.next()?;
        let dependencies: Vec<TypeWithSize> = types.collect();
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
