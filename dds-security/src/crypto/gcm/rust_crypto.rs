//! AES-GCM of RustCrypto.

use super::{Forged, IV_LEN};
use crate::crypto::cipher::MAC_LEN;
use aes_gcm::aead::{AeadInPlace, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Tag};
// Only for its feature: the copy of the key that each MAC needs is then overwritten.
use polyval as _;
use zeroize::ZeroizeOnDrop;

/// An expanded key. It is overwritten when it is dropped.
#[allow(clippy::large_enum_variant, reason = "most keys have 256 bits, and a box would cost each use a cache miss")]
pub(crate) enum RustCryptoKey {
    Aes128(Aes128Gcm),
    Aes256(Aes256Gcm),
}

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
            Self::Aes128(key) => key.encrypt_in_place_detached(&iv.into(), associated, bytes),
            Self::Aes256(key) => key.encrypt_in_place_detached(&iv.into(), associated, bytes),
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
            Self::Aes128(key) => key.decrypt_in_place_detached(&iv.into(), associated, bytes, &tag),
            Self::Aes256(key) => key.decrypt_in_place_detached(&iv.into(), associated, bytes, &tag),
        }
        .map_err(|_| Forged)
    }
}

impl Drop for RustCryptoKey {
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
