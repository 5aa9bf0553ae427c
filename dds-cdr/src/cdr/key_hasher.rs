//! Computes the instances of many samples of one type.

use super::key::{hash_of_bytes, is_short};
use super::key_plan::KeyPlan;
use super::shape::Shape;
use super::walk::key_of_payload;
use super::{AnyType, DecodeError, Decoder, Encode, EncodeError, Encoder, Encoding, Extensibility, Keyed, TypeInfo};
use crate::InstanceHandle;

/// Computes the instances of samples of one type, in any encoding. Analyzes the type once.
///
/// The XCDR2 key hash identifies an instance. The XCDR1 hash may differ ([`key_hashes_agree`]); [`key_hash_of`]
/// computes it.
///
/// [`key_hashes_agree`]: super::key_hashes_agree
/// [`key_hash_of`]: super::key_hash_of
#[derive(Debug, Clone)]
pub struct KeyHasher {
    /// The type; `None` without a key.
    ty: Option<AnyType>,
    /// Whether every key fits into its hash.
    is_short: bool,
    in_xcdr1: Option<KeyPlan>,
    in_xcdr2: Option<KeyPlan>,
}

impl KeyHasher {
    /// Analyzes the type.
    #[must_use]
    pub fn new(ty: impl Into<AnyType>, has_key: bool) -> Self {
        let ty = ty.into();
        match &ty {
            _ if !has_key => Self::keyless(),
            AnyType::Described(described) => Self::of_shape(*described, ty),
            #[cfg(feature = "dynamic")]
            AnyType::Dynamic(dynamic) => {
                let dynamic = dynamic.clone();
                Self::of_shape(dynamic.view(), ty)
            }
        }
    }

    fn of_shape<S: Shape>(shape: S, ty: AnyType) -> Self {
        Self {
            ty: Some(ty),
            // Known once for the type, because the longest possible key decides.
            is_short: is_short(shape, Encoding::Xcdr2),
            in_xcdr1: KeyPlan::new(shape, Encoding::Xcdr1),
            in_xcdr2: KeyPlan::new(shape, Encoding::Xcdr2),
        }
    }

    /// Creates the hasher of a topic without a key or with an unknown type: every instance is [`InstanceHandle::NIL`].
    #[must_use]
    pub const fn keyless() -> Self {
        Self { ty: None, is_short: false, in_xcdr1: None, in_xcdr2: None }
    }

    /// Returns the instance of a sample; [`InstanceHandle::NIL`] if its type has no key.
    ///
    /// # Errors
    /// A key member does not fit its type.
    #[inline]
    pub fn of_sample<T: Encode + TypeInfo>(
        &self,
        sample: &T,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, EncodeError> {
        if self.ty.is_none() {
            return Ok(InstanceHandle::NIL);
        }
        scratch.clear();
        sample.encode_key(&mut Encoder::for_key_hash(scratch, Encoding::Xcdr2))?;
        Ok(hash_of_bytes(self.is_short, scratch))
    }

    /// Returns the instance of a key.
    ///
    /// # Errors
    /// A key member does not fit its type.
    #[inline]
    pub fn of_key<T: Keyed + TypeInfo>(
        &self,
        key: &T::Key,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, EncodeError> {
        scratch.clear();
        T::encode_key_value(key, &mut Encoder::for_key_hash(scratch, Encoding::Xcdr2))?;
        Ok(hash_of_bytes(self.is_short, scratch))
    }

    /// Returns the instance of the sample in `payload`, as [`instance_of_payload`](super::instance_of_payload) does.
    ///
    /// # Errors
    /// The payload is not a value of this type. Bytes after the last key member are not checked.
    #[inline]
    pub fn of_payload(
        &self,
        payload: &[u8],
        is_key: bool,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, DecodeError> {
        match &self.ty {
            None => Ok(InstanceHandle::NIL),
            Some(AnyType::Described(ty)) => self.of_shaped(*ty, ty.extensibility(), payload, is_key, scratch),
            #[cfg(feature = "dynamic")]
            Some(AnyType::Dynamic(ty)) => self.of_shaped(ty.view(), ty.extensibility(), payload, is_key, scratch),
        }
    }

    #[inline]
    fn of_shaped<S: Shape>(
        &self,
        ty: S,
        extensibility: Extensibility,
        payload: &[u8],
        is_key: bool,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, DecodeError> {
        let d = Decoder::of_payload_for(payload, Some(extensibility))?;
        // The offsets depend on the alignment, so each encoding has a plan of its own.
        let plan = match d.encoding() {
            Encoding::Xcdr1 => self.in_xcdr1.as_ref(),
            Encoding::Xcdr2 => self.in_xcdr2.as_ref(),
        };
        // A serialized key has other offsets. Such payloads are rare, so the walk reads them.
        if let (Some(plan), false) = (plan, is_key) {
            if self.is_short && plan.is_of_numbers() {
                // A short key is its own hash, so no buffer is needed. Padding stays zero.
                let mut hash = [0; 16];
                if plan.copy_short(&d, &mut hash).is_some() {
                    return Ok(InstanceHandle::from_key_hash(hash));
                }
            } else {
                scratch.clear();
                if let Some(result) = plan.copy(d.clone(), scratch) {
                    return result.map(|()| hash_of_bytes(self.is_short, scratch));
                }
            }
        }
        // Without a plan that matches the payload, the walk finds the key or the exact error.
        scratch.clear();
        key_of_payload(ty, d, is_key, Encoder::for_key_hash(scratch, Encoding::Xcdr2))?;
        Ok(hash_of_bytes(self.is_short, scratch))
    }
}
