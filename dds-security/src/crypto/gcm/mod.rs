//! AES-GCM and AES-GMAC: a key, and the two operations that it has.
//!
//! | feature | library | advantage |
//! |---|---|---|
//! | `graviola` | graviola: assembly in Rust, on processors that it supports | encryption and authentication, several times as fast |
//! | `ring` | ring: assembly and C | encryption, several times as fast |
//! | none | RustCrypto: Rust alone | |
//!
//! The first row that applies wins. ring authenticates bytes without encryption block by block, which takes more than
//! twice as long as RustCrypto. So it only encrypts.

#[cfg(feature = "graviola")]
mod by_graviola;
#[cfg(feature = "ring")]
mod by_ring;
mod rust_crypto;

use super::cipher::MAC_LEN;
#[cfg(feature = "graviola")]
use by_graviola::GraviolaKey;
#[cfg(feature = "ring")]
use by_ring::RingKey;
use rust_crypto::RustCryptoKey;

/// Bytes of the initialization vector.
pub(super) const IV_LEN: usize = 12;

/// Bytes that are not authentic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forged;

/// An expanded key. It is overwritten when it is dropped.
#[allow(clippy::large_enum_variant, reason = "a box would cost each use a cache miss")]
pub(super) enum GcmKey {
    RustCrypto(RustCryptoKey),
    #[cfg(feature = "graviola")]
    Graviola(GraviolaKey),
    #[cfg(feature = "ring")]
    Ring(RingKey),
}

impl GcmKey {
    /// Expands a key of 16 or 32 bytes. `None` for any other length.
    pub(super) fn new(key: &[u8], encrypts: bool) -> Option<Self> {
        #[cfg(feature = "graviola")]
        if let Some(key) = GraviolaKey::new(key) {
            return Some(Self::Graviola(key));
        }
        #[cfg(feature = "ring")]
        if encrypts {
            return RingKey::new(key).map(Self::Ring);
        }
        #[cfg(not(feature = "ring"))]
        let _ = encrypts;
        RustCryptoKey::new(key).map(Self::RustCrypto)
    }

    /// Encrypts `bytes` in place, and returns their MAC. The MAC also covers `associated`.
    pub(super) fn seal(&self, iv: [u8; IV_LEN], associated: &[u8], bytes: &mut [u8]) -> [u8; MAC_LEN] {
        match self {
            Self::RustCrypto(key) => key.seal(iv, associated, bytes),
            #[cfg(feature = "graviola")]
            Self::Graviola(key) => key.seal(iv, associated, bytes),
            #[cfg(feature = "ring")]
            Self::Ring(key) => key.seal(iv, associated, bytes),
        }
    }

    /// Verifies and decrypts `bytes` in place. They have no meaning after an error.
    pub(super) fn open(
        &self,
        iv: [u8; IV_LEN],
        associated: &[u8],
        bytes: &mut [u8],
        mac: &[u8; MAC_LEN],
    ) -> Result<(), Forged> {
        match self {
            Self::RustCrypto(key) => key.open(iv, associated, bytes, mac),
            #[cfg(feature = "graviola")]
            Self::Graviola(key) => key.open(iv, associated, bytes, mac),
            #[cfg(feature = "ring")]
            Self::Ring(key) => key.open(iv, associated, bytes, mac),
        }
    }
}

#[cfg(test)]
#[cfg(any(feature = "graviola", feature = "ring"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The libraries beside RustCrypto that this build and this processor have.
    fn others(key: &[u8]) -> Vec<GcmKey> {
        let mut others = Vec::new();
        #[cfg(feature = "graviola")]
        others.extend(GraviolaKey::new(key).map(GcmKey::Graviola));
        #[cfg(feature = "ring")]
        others.extend(RingKey::new(key).map(GcmKey::Ring));
        others
    }

    proptest! {
        #[test]
        fn all_libraries_seal_and_open_alike(
            key in any::<[u8; 32]>(),
            is_short in any::<bool>(),
            iv in any::<[u8; 12]>(),
            associated in proptest::collection::vec(any::<u8>(), 0..1000),
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
            changed in any::<prop::sample::Index>(),
        ) {
            let key = if is_short { &key[..16] } else { &key[..] };
            let one = RustCryptoKey::new(key).unwrap();
            let mut by_one = bytes.clone();
            let mac = one.seal(iv, &associated, &mut by_one);
            let mut forged = mac;
            forged[changed.index(16)] ^= 1;
            for other in others(key) {
                let mut by_other = bytes.clone();
                prop_assert_eq!(other.seal(iv, &associated, &mut by_other), mac);
                prop_assert_eq!(&by_one, &by_other);
                prop_assert!(other.open(iv, &associated, &mut by_other.clone(), &forged).is_err());
                prop_assert!(other.open(iv, &associated, &mut by_other, &mac).is_ok());
                prop_assert_eq!(&by_other, &bytes);
            }
            prop_assert!(one.open(iv, &associated, &mut by_one, &mac).is_ok());
            prop_assert_eq!(&by_one, &bytes);
        }
    }

    #[test]
    fn keys_of_other_lengths_are_refused() {
        for len in [0, 15, 17, 24, 31, 33] {
            assert!(RustCryptoKey::new(&vec![0; len]).is_none(), "{len}");
            assert!(others(&vec![0; len]).is_empty(), "{len}");
        }
    }

    /// Otherwise the other tests compare nothing.
    #[test]
    fn common_processors_have_each_library() {
        let count = usize::from(cfg!(feature = "graviola")) + usize::from(cfg!(feature = "ring"));
        if cfg!(all(target_arch = "x86_64", not(miri))) {
            assert_eq!(others(&[0; 32]).len(), count);
        }
    }
}
