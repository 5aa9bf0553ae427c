//! Type of a topic's samples, constant or created at run time.

#[cfg(feature = "dynamic")]
use super::dynamic::DynamicType;
use super::key::do_hashes_agree;
use super::walk::{HashForm, key_hash_by, key_hash_of_payload};
use super::{DecodeError, Extensibility, TypeDescription};
use crate::InstanceHandle;

/// Type of a topic's samples.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyType {
    /// A type that the program defines, as constant data.
    Described(&'static TypeDescription),
    /// A type that is created at run time.
    #[cfg(feature = "dynamic")]
    Dynamic(DynamicType),
}

impl AnyType {
    /// Returns the name that discovery announces.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Described(ty) => ty.name(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.name(),
        }
    }

    /// Returns whether the samples belong to instances.
    #[must_use]
    pub fn has_key(&self) -> bool {
        match self {
            Self::Described(ty) => ty.has_key(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.has_key(),
        }
    }

    /// Returns the extensibility.
    #[must_use]
    pub fn extensibility(&self) -> Extensibility {
        match self {
            Self::Described(ty) => ty.extensibility(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => ty.extensibility(),
        }
    }

    /// Returns whether all keys have the same hash in XCDR1 and XCDR2; see
    /// [`key_hashes_agree`](super::key_hashes_agree).
    #[must_use]
    pub fn key_hashes_agree(&self) -> bool {
        match self {
            Self::Described(ty) => do_hashes_agree(*ty),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => do_hashes_agree(ty.view()),
        }
    }

    /// Returns the key hash of a payload; see [`key_hash_of_payload`](super::key_hash_of_payload).
    ///
    /// # Errors
    /// The payload is not a value of this type. Bytes after the last key member are not checked.
    pub fn key_hash_of_payload(
        &self,
        payload: &[u8],
        is_key: bool,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, DecodeError> {
        match self {
            Self::Described(ty) => key_hash_of_payload(ty, payload, is_key, scratch),
            #[cfg(feature = "dynamic")]
            // `key_hash_of_payload` has the same check for described types.
            Self::Dynamic(ty) if !ty.has_key() => Ok(InstanceHandle::NIL),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => {
                key_hash_by(ty.view(), ty.extensibility(), payload, is_key, HashForm::Readable, scratch)
            }
        }
    }

    /// Returns the key hash of a payload that shows no key: the MD5 also of a short one.
    ///
    /// Topics with protected keys use it (DDS Security 1.1, is_key_protected).
    ///
    /// The content of `scratch` stays, as for [`key_hash_of_payload`](super::key_hash_of_payload).
    ///
    /// # Errors
    /// As [`Self::key_hash_of_payload`].
    pub fn hidden_key_hash_of_payload(
        &self,
        payload: &[u8],
        is_key: bool,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, DecodeError> {
        let form = HashForm::Hidden;
        match self {
            Self::Described(ty) if !ty.has_key() => Ok(InstanceHandle::NIL),
            Self::Described(ty) => key_hash_by(*ty, ty.extensibility(), payload, is_key, form, scratch),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) if !ty.has_key() => Ok(InstanceHandle::NIL),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(ty) => key_hash_by(ty.view(), ty.extensibility(), payload, is_key, form, scratch),
        }
    }

    /// Returns the constant description; `None` for a type that is created at run time.
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
