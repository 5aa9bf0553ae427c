//! AES-GCM of ring.

use super::{Forged, IV_LEN};
use crate::crypto::cipher::MAC_LEN;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};

/// An expanded key. It is overwritten when it is dropped.
pub(crate) struct RingKey(LessSafeKey);

impl RingKey {
    /// Expands a key of 16 or 32 bytes. `None` for any other length.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let algorithm = if key.len() == 16 { &AES_128_GCM } else { &AES_256_GCM };
        UnboundKey::new(algorithm, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts `bytes` in place, and returns their MAC. The MAC also covers `associated`.
    pub(crate) fn seal(&self, iv: [u8; IV_LEN], associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        // The session counts its initialization vectors, so none is used twice.
        let nonce = Nonce::assume_unique_for_key(iv);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(associated), bytes);
        let tag = tag.expect("a message is shorter than the 64 GiB that AES-GCM takes");
        let mut mac = [0; MAC_LEN];
        mac.copy_from_slice(tag.as_ref());
        mac
    }

    /// Verifies and decrypts `bytes` in place. They have no meaning after an error.
    pub(crate) fn open(
        &self,
        iv: [u8; IV_LEN],
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), Forged> {
        let (nonce, tag) = (Nonce::assume_unique_for_key(iv), Tag::from(*mac));
        match self.0.open_in_place_separate_tag(nonce, Aad::from(associated), tag, bytes, 0..) {
            Ok(_) => Ok(()),
            Err(_) => Err(Forged),
        }
    }
}

impl Drop for RingKey {
    /// The library overwrites no key, so a key of zeros takes its place.
    fn drop(&mut self) {
        let algorithm = self.0.algorithm();
        let zeros = [0; 32];
        if let Some(Ok(key)) = zeros.get(..algorithm.key_len()).map(|zeros| UnboundKey::new(algorithm, zeros)) {
            self.0 = LessSafeKey::new(key);
        }
        // The compiler would leave out a write that no later code reads.
        std::hint::black_box(&*self);
    }
}
