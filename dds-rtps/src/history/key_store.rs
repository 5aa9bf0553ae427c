//! What the keys of instances can be decoded from.
//!
//! Life cycle: a copy is made by the first change of an instance, replaced by a serialized key if one comes, and given up
//! with the instance; its memory is used again. Bound: [`KEY_BYTES_MAX`] for all instances of one endpoint.

use crate::concurrent::{Payload, SlotRing};

/// How many bytes the keys of all instances may have, in all. Until an instance is disposed of its key lies in a copy of
/// its first sample: this is for a quarter of a million instances of a few hundred bytes, or some dozens of images.
const KEY_BYTES_MAX: usize = 64 << 20;

/// How many slots of former instances are remembered: as many as commonly come and go while a batch is held.
const SPARE_SLOTS_MAX: usize = 64;

/// A payload from which an instance's key can be decoded.
#[derive(Debug, Clone)]
pub struct KeyPayload {
    /// The bytes, from the encapsulation header on.
    pub payload: Payload,
    /// Whether they are a serialized key; else they are a whole sample.
    pub is_key: bool,
}

/// The memory for the keys of one endpoint's instances.
#[derive(Debug)]
pub(super) struct KeyStore {
    /// What all keys have in bytes.
    bytes: usize,
    /// Slots of former keys.
    spare: SlotRing,
}

impl KeyStore {
    pub(super) const fn new() -> Self {
        Self { bytes: 0, spare: SlotRing::new(SPARE_SLOTS_MAX) }
    }

    /// Whether `payload` would be of use beside what `key` holds already: a serialized key takes the place of a sample.
    pub(super) fn is_wanted(key: Option<&KeyPayload>, is_key: bool) -> bool {
        key.is_none_or(|known| is_key && !known.is_key)
    }

    /// Keeps a copy of `payload` in `key`: a slot that stays taken for the life of an instance would be lost to its pool,
    /// and a shared receive buffer is much larger than a key. `false`: there is no room for it.
    pub(super) fn keep(&mut self, key: &mut Option<KeyPayload>, payload: &Payload, is_key: bool) -> bool {
        let before = key.as_ref().map_or(0, |key| key.payload.len());
        if self.bytes - before + payload.len() > KEY_BYTES_MAX {
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

    /// The instance is gone, or its key comes from elsewhere.
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
    fn a_serialized_key_takes_the_place_of_a_sample_and_not_the_other_way() {
        let (mut store, mut key) = (KeyStore::new(), None);
        assert!(KeyStore::is_wanted(key.as_ref(), false));
        assert!(store.keep(&mut key, &Payload::copy_of(b"sample"), false));
        assert!(!KeyStore::is_wanted(key.as_ref(), false) && KeyStore::is_wanted(key.as_ref(), true));
        assert!(store.keep(&mut key, &Payload::copy_of(b"key"), true));
        assert!(!KeyStore::is_wanted(key.as_ref(), true));
        assert_eq!((key.as_ref().unwrap().payload.bytes(), store.bytes), (&b"key"[..], 3));
        store.release(&mut key);
        assert_eq!((key.is_none(), store.bytes), (true, 0));
    }

    #[test]
    fn keys_have_a_bound_in_all() {
        let (mut store, mut keys) = (KeyStore::new(), [None, None, None]);
        let half = Payload::copy_of(&vec![0; KEY_BYTES_MAX / 2]);
        let kept = keys.iter_mut().map(|key| store.keep(key, &half, false)).collect::<Vec<_>>();
        assert_eq!(kept, [true, true, false]);
        assert!(store.keep(&mut keys[0], &half, true), "in place of what it had");
        store.release(&mut keys[1]);
        assert!(store.keep(&mut keys[2], &half, false));
    }

    #[test]
    fn the_memory_of_a_former_key_is_used_again() {
        let (mut store, mut key) = (KeyStore::new(), None);
        store.keep(&mut key, &Payload::copy_of(b"one"), true);
        let memory = key.as_ref().unwrap().payload.bytes().as_ptr();
        store.release(&mut key);
        store.keep(&mut key, &Payload::copy_of(b"two"), true);
        assert_eq!(key.unwrap().payload.bytes().as_ptr(), memory);
    }
}
