//! Instances that a reader knows (DDS 1.4, 2.2.2.5.3.16 and 2.2.2.5.3.30).

use crate::subscription::DataReader;
use dds_rtps::cdr::{AnyType, DecodeOwned, KeyHasher, Keyed, TypeInfo};
use dds_rtps::history::KeyPayload;
use dds_rtps::types::InstanceHandle;

/// Lookup of instances.
///
/// A reader knows an instance as long as it has samples of it, or one of its writers exists.
impl<T> DataReader<T> {
    /// Returns the handle of the instance with this key, if the reader knows it. `None` after `close`.
    #[must_use]
    pub fn lookup_instance(&self, key: &T::Key) -> Option<InstanceHandle>
    where
        T: Keyed + TypeInfo,
    {
        // Instances are identified by the key hash of XCDR2, for any encoding that their writers offer.
        let ty = self.handle().batches().ty()?;
        if !T::is_key_of(key, Some(ty)) {
            return None;
        }
        let instance = KeyHasher::new(ty.clone(), true).of_key::<T>(key, &mut Vec::new()).ok()?;
        if self.handle().contains_instance(instance) { Some(instance) } else { None }
    }

    /// Returns the key of an instance that this reader knows.
    ///
    /// For samples without data this is the only way to get the key. `None` for other instances, if the reader received
    /// only the key hash, and after `close`.
    #[must_use]
    #[doc(alias = "get_key_value")]
    pub fn key_value(&self, instance: InstanceHandle) -> Option<T::Key>
    where
        T: Keyed + DecodeOwned,
    {
        decode_key::<T>(&self.handle().instance_payload(instance)?, self.handle().batches().ty())
    }
}

/// Decodes the key from the payload that an endpoint keeps of an instance: a serialized key or a whole sample.
pub(crate) fn decode_key<T: Keyed + DecodeOwned>(known: &KeyPayload, ty: Option<&AnyType>) -> Option<T::Key> {
    // A disposal carries the key alone (`K` flag), a sample all of its members.
    if known.is_key {
        return T::decode_typed_key(known.payload.bytes(), ty).ok();
    }
    Some(T::decode_typed(known.payload.bytes(), ty).ok()?.key())
}
