//! The key of a sender, and the one before it.

use dds_security::crypto::{CryptoHeader, KeyMaterial, ReceiveKey};

/// The key of a sender, and the one before it, whose bytes may still be on their way.
#[derive(Default)]
pub(super) struct KeyHistory {
    current: Option<ReceiveKey>,
    retired: Option<ReceiveKey>,
}

impl KeyHistory {
    /// Sets the key, unless it is the current one. Returns the id of a key that is forgotten thereby.
    ///
    /// `refuses_replays`: its sender numbers all protected bytes.
    pub(super) fn set(&mut self, material: KeyMaterial, refuses_replays: bool) -> Option<[u8; 4]> {
        // A repeated exchange must not reset the window against replays.
        if self.current().is_some_and(|current| *current.material() == material) {
            return None;
        }
        let key = if refuses_replays { ReceiveKey::refusing_replays(material) } else { ReceiveKey::new(material) };
        let forgotten = std::mem::replace(&mut self.retired, self.current.replace(key));
        debug_assert!(self.current.is_some(), "a retired key has a successor");
        forgotten.map(|key| key.material().sender_key_id)
    }

    pub(super) fn current(&self) -> Option<&ReceiveKey> {
        self.current.as_ref()
    }

    pub(super) fn current_mut(&mut self) -> Option<&mut ReceiveKey> {
        self.current.as_mut()
    }

    pub(super) fn has_retired(&self) -> bool {
        self.retired.is_some()
    }

    /// Forgets the key before the current one. Returns its id.
    pub(super) fn forget_retired(&mut self) -> Option<[u8; 4]> {
        self.retired.take().map(|key| key.material().sender_key_id)
    }

    /// Both keys, the current one first.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut ReceiveKey> {
        self.current.iter_mut().chain(&mut self.retired)
    }

    /// The key that protected bytes name.
    pub(super) fn named_by(&mut self, header: &CryptoHeader) -> Option<&mut ReceiveKey> {
        self.all_mut().find(|key| key.is_named_by(header))
    }
}
