//! The keys of the senders whose messages were authentic.

use crate::crypto::{ReceiveKey, TransformationKind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most senders whose keys are kept.
///
/// Only participants with the passphrase get in. Each needs about 5 KiB. The sender that was silent for longest makes
/// room for a new one; its next message costs a few microseconds more, and its replays are not known any more.
const SENDERS_MAX: usize = 1024;

/// Names a sender and one of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SenderId {
    /// Version, vendor and GUID prefix.
    pub(super) sender: [u8; 16],
    pub(super) kind: TransformationKind,
    pub(super) passphrase: usize,
}

/// One sender.
pub(super) struct KnownSender {
    key: Mutex<ReceiveKey>,
    last_use: AtomicU64,
}

impl KnownSender {
    pub(super) fn new(key: ReceiveKey) -> Self {
        Self { key: Mutex::new(key), last_use: AtomicU64::new(0) }
    }

    pub(super) fn key(&self) -> MutexGuard<'_, ReceiveKey> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The senders by their names.
#[derive(Default)]
pub(super) struct KnownSenders {
    /// The standard map has a secret seed.
    known: Mutex<HashMap<SenderId, Arc<KnownSender>>>,
    uses: AtomicU64,
}

impl KnownSenders {
    /// Returns a known sender.
    pub(super) fn known(&self, id: &SenderId) -> Option<Arc<KnownSender>> {
        let peer = self.lock().get(id).map(Arc::clone)?;
        peer.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(peer)
    }

    /// Keeps a sender whose message was authentic. Returns the other one if another thread was faster.
    #[cold]
    pub(super) fn keep(&self, id: SenderId, peer: KnownSender) -> Result<(), Arc<KnownSender>> {
        let mut known = self.lock();
        if let Some(faster) = known.get(&id) {
            return Err(Arc::clone(faster));
        }
        // The longest silence is the best sign that a participant has left.
        if known.len() >= SENDERS_MAX {
            let silent = known.iter().min_by_key(|(_, peer)| peer.last_use.load(Ordering::Relaxed));
            if let Some(silent) = silent.map(|(id, _)| *id) {
                known.remove(&silent);
            }
        }
        peer.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        known.insert(id, Arc::new(peer));
        debug_assert!(known.len() <= SENDERS_MAX, "the removal has made room");
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SenderId, Arc<KnownSender>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::KeyMaterial;

    #[test]
    fn silent_sender_makes_room() {
        let peers = KnownSenders::default();
        let kind = TransformationKind::Aes256Gcm;
        let id = |number: u32| {
            let mut sender = [0; 16];
            sender[..4].copy_from_slice(&number.to_be_bytes());
            SenderId { sender, kind, passphrase: 0 }
        };
        let material = KeyMaterial::generate(kind).unwrap();
        for number in 0..SENDERS_MAX as u32 + 10 {
            // The first one is never silent.
            assert!(number == 0 || peers.known(&id(0)).is_some());
            assert!(peers.keep(id(number), KnownSender::new(ReceiveKey::new(material.clone()))).is_ok());
        }
        assert_eq!(peers.len(), SENDERS_MAX);
        assert!(peers.known(&id(0)).is_some() && peers.known(&id(1)).is_none());
        assert!(peers.keep(id(0), KnownSender::new(ReceiveKey::new(material))).is_err());
    }
}
