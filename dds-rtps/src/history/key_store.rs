//! Payloads to decode the keys of instances from.
//!
//! Life cycle: the first change of an instance creates a copy. A serialized key replaces it. It is released with its
//! instance, and its memory is reused. Bound: [`KEY_BYTES_MAX`] for all instances of one endpoint.

use crate::concurrent::{Payload, SlotRing};

/// The most bytes that the keys of all instances have together.
///
/// Until an instance is disposed of, its key is a copy of its first sample. This is enough for a quarter of a million
/// instances of a few hundred bytes, or for some dozens of images.
const KEY_BYTES_MAX: usize = 64 << 20;

/// How many slots of former instances are kept: as many as commonly come and go while the application holds a batch.
const SPARE_SLOTS_MAX: usize = 64;

/// A payload to decode the key of an instance from.
#[derive(Debug, Clone)]
pub struct KeyPayload {
    /// The bytes, from the encapsulation header on.
    pub payload: Payload,
    /// Whether the payload is a serialized key. Otherwise it is a whole sample.
    pub is_key: bool,
}

/// The memory for the keys of one endpoint's instances.
#[derive(Debug)]
pub(super) struct KeyStore {
    /// The bytes of all keys.
    bytes: usize,
    /// Slots of former keys.
    spare: SlotRing,
}

impl KeyStore {
    pub(super) const fn new() -> Self {
        Self { bytes: 0, spare: SlotRing::new(SPARE_SLOTS_MAX) }
    }

    /// Whether a payload should be kept in place of `key`. A serialized key replaces a sample.
    pub(super) fn should_store(key: Option<&KeyPayload>, is_key: bool) -> bool {
        match key {
            // A serialized key is shorter than a sample, and the key of an instance never changes.
            Some(known) => is_key && !known.is_key,
            None => true,
        }
    }

    /// Keeps a copy of `payload` in `key`. Returns `false` if there is no space for it.
    ///
    /// The payload itself cannot be kept: its pool would lose the slot for the life of the instance, and a shared
    /// receive buffer is much larger than a key.
    pub(super) fn keep(&mut self, key: &mut Option<KeyPayload>, payload: &Payload, is_key: bool) -> bool {
        // The copy of a former key is released, so its bytes do not count.
        let former = key.as_ref().map_or(0, |key| key.payload.len());
        debug_assert!(former <= self.bytes, "every key is counted");
        if self.bytes - former + payload.len() > KEY_BYTES_MAX {
            return false;
        }
        self.release(key);
        let mut slot = self.spare.acquire();
        let buffer = slot.buffer();
        buffer.clear();
        buffer.extend_from_slice(payload.bytes());
        self.bytes += payload.len();
        *key = Some(KeyPayload { payload: slot.freeze(), is_key });
        true
    }

    /// Releases the key of a freed instance.
    pub(super) fn release(&mut self, key: &mut Option<KeyPayload>) {
        if let Some(key) = key.take() {
            self.bytes -= key.payload.len();
            self.spare.remember(key.payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialized_key_replaces_sample_not_vice_versa() {
        let (mut store, mut key) = (KeyStore::new(), None);
        assert!(KeyStore::should_store(key.as_ref(), false));
        assert!(store.keep(&mut key, &Payload::copy_of(b"sample"), false));
        assert!(!KeyStore::should_store(key.as_ref(), false) && KeyStore::should_store(key.as_ref(), true));
        assert!(store.keep(&mut key, &Payload::copy_of(b"key"), true));
        assert!(!KeyStore::should_store(key.as_ref(), true));
        assert_eq!((key.as_ref().unwrap().payload.bytes(), store.bytes), (&b"key"[..], 3));
        store.release(&mut key);
        assert_eq!((key.is_none(), store.bytes), (true, 0));
    }

    #[test]
    fn keys_have_a_total_limit() {
        let (mut store, mut keys) = (KeyStore::new(), [None, None, None]);
        let half = Payload::copy_of(&vec![0; KEY_BYTES_MAX / 2]);
        let kept = keys.iter_mut().map(|key| store.keep(key, &half, false)).collect::<Vec<_>>();
        assert_eq!(kept, [true, true, false]);
        assert!(store.keep(&mut keys[0], &half, true), "it replaces its former key");
        store.release(&mut keys[1]);
        assert!(store.keep(&mut keys[2], &half, false));
    }

    #[test]
    fn memory_of_former_key_is_reused() {
        let (mut store, mut key) = (KeyStore::new(), None);
        store.keep(&mut key, &Payload::copy_of(b"one"), true);
        let memory = key.as_ref().unwrap().payload.bytes().as_ptr();
        store.release(&mut key);
        store.keep(&mut key, &Payload::copy_of(b"two"), true);
        assert_eq!(key.unwrap().payload.bytes().as_ptr(), memory);
    }
}
