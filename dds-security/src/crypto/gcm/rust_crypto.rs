//! AES-GCM of RustCrypto.

use super::{Forged, IV_LEN};
use crate::crypto::cipher::MAC_LEN;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Tag};
use zeroize::ZeroizeOnDrop;

/// An expanded key. It is overwritten when it is dropped.
#[allow(clippy::large_enum_variant, reason = "most keys have 256 bits, and a box would cost each use a cache miss")]
pub(crate) enum RustCryptoKey {
    Aes128(Aes128Gcm),
    Aes256(Aes256Gcm),
}

const _: () = {
    /// It does not compile if the library leaves keys in memory.
    const fn assert_overwritten<T: ZeroizeOnDrop>() {}
    assert_overwritten::<Aes128Gcm>();
    assert_overwritten::<Aes256Gcm>();
};

impl RustCryptoKey {
    /// Expands a key of 16 or 32 bytes. `None` for any other length.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128Gcm::new_from_slice(key).ok().map(Self::Aes128),
            _ => Aes256Gcm::new_from_slice(key).ok().map(Self::Aes256),
        }
    }

    /// Encrypts `bytes` in place, and returns their MAC. The MAC also covers `associated`.
    pub(crate) fn seal(&self, iv: [u8; IV_LEN], associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        let sealed = match self {
            Self::Aes128(key) => key.encrypt_inout_detached(&iv.into(), associated, bytes.into()),
            Self::Aes256(key) => key.encrypt_inout_detached(&iv.into(), associated, bytes.into()),
        };
        sealed.expect("a message is shorter than the 64 GiB that AES-GCM takes").into()
    }

    /// Verifies and decrypts `bytes` in place. They have no meaning after an error.
    pub(crate) fn open(
        &self,
        iv: [u8; IV_LEN],
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), Forged> {
        let tag = Tag::from(*mac);
        match self {
            Self::Aes128(key) => key.decrypt_inout_detached(&iv.into(), associated, bytes.into(), &tag),
            Self::Aes256(key) => key.decrypt_inout_detached(&iv.into(), associated, bytes.into(), &tag),
        }
        .map_err(|_| Forged)
    }
}
