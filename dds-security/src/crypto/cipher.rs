//! Session keys, and the two operations that they have: seal and open.

use super::footer::Footer;
use super::gcm::GcmKey;
use super::{CryptoHeader, KeyMaterial, OpenError, ReceiverKey, TransformationKind};
use hmac::Mac;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of an authentication code.
pub(crate) const MAC_LEN: usize = 16;

/// Returns HMAC-SHA256 of the parts, in their order.
pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut mac = <hmac::Hmac<Sha256> as Mac>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    Zeroizing::new(mac.finalize().into_bytes().into())
}

/// The keys of one session: the common one, and those for MACs of this receiver.
pub(crate) struct Session {
    pub(crate) id: [u8; 4],
    kind: TransformationKind,
    cipher: Cipher,
    /// By key id. Empty without such MACs, and before [`Self::derive_receivers`].
    receivers: Vec<([u8; 4], Cipher)>,
}

/// A derived key.
pub(crate) struct Cipher(GcmKey);

impl Session {
    /// Derives the common key of a session (DDS Security 1.1, 9.5.3.3.3). `None` if the material has no key.
    pub(crate) fn derive(material: &KeyMaterial, id: [u8; 4]) -> Option<Self> {
        let cipher = Cipher::derive(material.kind, material.sender_key(), b"SessionKey", material.salt(), id)?;
        Some(Self { id, kind: material.kind, cipher, receivers: Vec::new() })
    }

    /// Derives the keys for the MACs of this receiver.
    pub(crate) fn derive_receivers<'a>(
        &mut self,
        material: &KeyMaterial,
        receivers: impl Iterator<Item = &'a ReceiverKey>,
    ) {
        let of_receiver = |key: &ReceiverKey| Some((key.id, Cipher::of_receiver(material, key, self.id)?));
        self.receivers = receivers.filter_map(of_receiver).collect();
    }

    /// Protects `bytes` in place, and returns their MAC. The MAC also covers `associated`.
    ///
    /// A kind that only authenticates leaves the bytes as they are. `associated` must then be empty.
    pub(crate) fn seal(&self, header: &CryptoHeader, associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        debug_assert!(self.kind.encrypts() || associated.is_empty(), "GMAC takes one piece of bytes");
        if self.kind.encrypts() {
            self.cipher.seal(header, associated, bytes)
        } else {
            // GMAC is GCM without plain text: all bytes are associated data.
            self.cipher.seal(header, bytes, &mut [])
        }
    }

    /// Verifies and decrypts `bytes` in place.
    pub(crate) fn open(
        &self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), OpenError> {
        debug_assert!(self.kind.encrypts() || associated.is_empty(), "GMAC takes one piece of bytes");
        if self.kind.encrypts() {
            self.cipher.open(header, associated, bytes, mac)
        } else {
            self.cipher.open(header, bytes, &mut [], mac)
        }
    }

    /// Verifies a MAC for this receiver. One of several keys is enough: only the sender and this receiver know any of
    /// them.
    pub(crate) fn check_receiver(&self, header: &CryptoHeader, footer: &Footer<'_>) -> Result<(), OpenError> {
        let mut result = Err(OpenError::NotForThisReceiver);
        for (id, cipher) in &self.receivers {
            if let Some(mac) = footer.mac_for(*id) {
                // Other receivers know the common key and can add a wrong MAC, so each key is tried.
                result = cipher.open(header, footer.common, &mut [], mac);
                if result.is_ok() {
                    break;
                }
            }
        }
        result
    }
}

impl Cipher {
    fn derive(kind: TransformationKind, key: &[u8], label: &[u8], salt: &[u8], id: [u8; 4]) -> Option<Self> {
        if kind == TransformationKind::None {
            return None;
        }
        #[cfg(test)]
        tests::DERIVED.set(tests::DERIVED.get() + 1);
        let derived = hmac(key, &[label, salt, &id]);
        GcmKey::new(derived.get(..kind.key_len())?, kind.encrypts()).map(Self)
    }

    pub(crate) fn of_receiver(material: &KeyMaterial, receiver: &ReceiverKey, id: [u8; 4]) -> Option<Self> {
        let key = receiver.key.get(..material.kind.key_len())?;
        Self::derive(material.kind, key, b"SessionReceiverKey", material.salt(), id)
    }

    pub(crate) fn seal(&self, header: &CryptoHeader, associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        self.0.seal(header.iv(), associated, bytes)
    }

    fn open(
        &self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), OpenError> {
        self.0.open(header.iv(), associated, bytes, mac).map_err(|_| OpenError::Forged)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Session keys that this thread has derived.
        pub(crate) static DERIVED: Cell<usize> = const { Cell::new(0) };
    }
}
