//! Key hashes of one type and encoding, again and again.

use super::key::{hash_of_bytes, is_short};
use super::{Encode, EncodeError, Encoder, Encoding, Keyed, TypeDescription, TypeInfo};
use crate::types::InstanceHandle;

/// Hashes the keys of one type in one encoding. Whether a key is its own hash depends on the type alone, and is found out
/// once; [`key_hash_of`](super::key_hash_of) finds it out each time.
#[derive(Debug, Clone, Copy)]
pub struct KeyHasher {
    encoding: Encoding,
    has_key: bool,
    is_short: bool,
}

impl KeyHasher {
    /// Looks at the type.
    #[must_use]
    pub fn new(ty: &TypeDescription, has_key: bool, encoding: Encoding) -> Self {
        Self { encoding, has_key, is_short: has_key && is_short(ty, encoding) }
    }

    /// For a topic without a key, or whose type is not known here: every instance is [`InstanceHandle::NIL`].
    #[must_use]
    pub const fn keyless(encoding: Encoding) -> Self {
        Self { encoding, has_key: false, is_short: false }
    }

    /// The instance a sample belongs to; [`InstanceHandle::NIL`] if its type has no key.
    ///
    /// # Errors
    /// A key member does not fit its type.
    #[inline]
    pub fn of_sample<T: Encode + TypeInfo>(
        &self,
        sample: &T,
        scratch: &mut Vec<u8>,
    ) -> Result<InstanceHandle, EncodeError> {
        if !self.has_key {
            return Ok(InstanceHandle::NIL);
        }
        scratch.clear();
        sample.encode_key(&mut Encoder::for_key_hash(scratch, self.encoding))?;
        Ok(hash_of_bytes(self.is_short, scratch))
    }

    /// The instance that has this key.
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
        T::encode_key_value(key, &mut Encoder::for_key_hash(scratch, self.encoding))?;
        Ok(hash_of_bytes(self.is_short, scratch))
    }
}
