//! The type of a topic's samples, whoever knows it.

#[cfg(feature = "dynamic")]
use super::dynamic::DynamicType;
use super::key::do_hashes_agree;
#[cfg(feature = "dynamic")]
use super::walk::key_hash_by;
use super::walk::key_hash_of_payload;
use super::{DecodeError, Extensibility, TypeDescription};
use crate::InstanceHandle;

/// The type of a topic's samples: constant data of the program, or made at run time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyType {
    /// A type of the program.
    Described(&'static TypeDescription),
    /// A type that is made at run time.
    #[cfg(feature = "dynamic")]
    Dynamic(DynamicType),
}

impl AnyType {
    /// The name under which the type is announced.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Described(ty) => ty.name(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.name(),
        }
    }

    /// Whether its samples belong to instances.
    #[must_use]
    pub fn has_key(&self) -> bool {
        match self {
            Self::Described(ty) => ty.has_key(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.has_key(),
        }
    }

    /// How it may grow.
    #[must_use]
    pub fn extensibility(&self) -> Extensibility {
        match self {
            Self::Described(ty) => ty.extensibility(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.extensibility(),
        }
    }

    /// Whether the key hashes of XCDR1 and XCDR2 are the same for all its keys; see
    /// [`key_hashes_agree`](super::key_hashes_agree).
    #[must_use]
    pub fn key_hashes_agree(&self) -> bool {
        match self {
            Self::Described(ty) => do_hashes_agree(*ty),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => do_hashes_agree(ty.view()),
        }
    }

    /// The key hash that goes with a payload; see [`key_hash_of_payload`](super::key_hash_of_payload).
    ///
    /// # Errors
    /// The payload is not a value of this type, as far as it had to be read to find the key.
    pub fn key_hash_of_payload(
        &self,
        payload: &[u8],
        is_key: bool,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, DecodeError> {
        match self {
            Self::Described(ty) => key_hash_of_payload(ty, payload, is_key, scratch),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) if !ty.has_key() => Ok(InstanceHandle::NIL),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => key_hash_by(ty.view(), ty.extensibility(), payload, is_key, scratch),
        }
    }

    /// What the program knows of it as constant data; `None` of a type that is made at run time.
    #[must_use]
    pub const fn description(&self) -> Option<&'static TypeDescription> {
        match self {
            Self::Described(ty) => Some(ty),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(_) => None,
        }
    }
}

impl From<&'static TypeDescription> for AnyType {
    fn from(ty: &'static TypeDescription) -> Self {
        Self::Described(ty)
    }
}

#[cfg(feature = "dynamic")]
impl From<DynamicType> for AnyType {
    fn from(ty: DynamicType) -> Self {
        Self::Dynamic(ty)
    }
}
