//! Session keys, and the two operations that they have: seal and open.

use super::footer::Footer;
use super::{CryptoHeader, KeyMaterial, OpenError, ReceiverKey, TransformationKind};
use aes_gcm::aead::{AeadInPlace, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Tag};
use hmac::Mac;
// Only for its feature: the copy of the key that each MAC needs is then overwritten.
use polyval as _;
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

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

/// An expanded key. It is overwritten when it is dropped.
#[allow(clippy::large_enum_variant, reason = "most keys have 256 bits, and a box would cost each use a cache miss")]
pub(crate) enum Cipher {
    Aes128(Aes128Gcm),
    Aes256(Aes256Gcm),
}

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
                result = cipher.open(header, footer.common, &mut [], mac);
                if result.is_ok() {
                    break;
                }
            }
        }
        result
    }
}

impl Drop for Cipher {
    /// `aes` overwrites its round keys, but `ghash` has its key in a union, which drops nothing.
    ///
    /// So a key of zeros takes its place.
    fn drop(&mut self) {
        /// It does not compile if `aes` leaves round keys in memory.
        const fn assert_overwritten<T: ZeroizeOnDrop>() {}
        const {
            assert_overwritten::<aes::Aes128>();
            assert_overwritten::<aes::Aes256>();
        }
        match self {
            Self::Aes128(key) => *key = Aes128Gcm::new(&Default::default()),
            Self::Aes256(key) => *key = Aes256Gcm::new(&Default::default()),
        }
        // The compiler would leave out a write that no later code reads.
        std::hint::black_box(&*self);
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
        if kind.key_len() == 16 {
            Aes128Gcm::new_from_slice(derived.get(..16)?).ok().map(Self::Aes128)
        } else {
            Aes256Gcm::new_from_slice(&derived[..]).ok().map(Self::Aes256)
        }
    }

    pub(crate) fn of_receiver(material: &KeyMaterial, receiver: &ReceiverKey, id: [u8; 4]) -> Option<Self> {
        let key = receiver.key.get(..material.kind.key_len())?;
        Self::derive(material.kind, key, b"SessionReceiverKey", material.salt(), id)
    }

    pub(crate) fn seal(&self, header: &CryptoHeader, associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        let iv = header.iv();
        let sealed = match self {
            Self::Aes128(key) => key.encrypt_in_place_detached(&iv.into(), associated, bytes),
            Self::Aes256(key) => key.encrypt_in_place_detached(&iv.into(), associated, bytes),
        };
        sealed.expect("a message is shorter than the 64 GiB that AES-GCM takes").into()
    }

    fn open(
        &self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), OpenError> {
        let (iv, tag) = (header.iv(), Tag::from(*mac));
        match self {
            Self::Aes128(key) => key.decrypt_in_place_detached(&iv.into(), associated, bytes, &tag),
            Self::Aes256(key) => key.decrypt_in_place_detached(&iv.into(), associated, bytes, &tag),
        }
        .map_err(|_| OpenError::Forged)
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
