//! AES-GCM of graviola.

use super::{Forged, IV_LEN};
use crate::crypto::cipher::MAC_LEN;
use graviola::aead::AesGcm;

/// An expanded key. The library overwrites it when it is dropped.
pub(crate) struct GraviolaKey(AesGcm);

impl GraviolaKey {
    /// Expands a key of 16 or 32 bytes. `None` for any other length, and on a processor that the library does not
    /// support.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        // The library would panic.
        let is_usable = matches!(key.len(), 16 | 32) && graviola::util::is_cpu_supported();
        is_usable.then(|| Self(AesGcm::new(key)))
    }

    /// Encrypts `bytes` in place, and returns their MAC. The MAC also covers `associated`.
    pub(crate) fn seal(&self, iv: [u8; IV_LEN], associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        let mut mac = [0; MAC_LEN];
        self.0.encrypt(&iv, associated, bytes, &mut mac);
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
        self.0.decrypt(&iv, associated, bytes, mac).map_err(|_| Forged)
    }
}
