//! AES-GCM and AES-GMAC: a key, and the two operations that it has.
//!
//! | feature | encryption | authentication alone |
//! |---|---|---|
//! | none | RustCrypto: Rust alone | RustCrypto |
//! | `ring` | ring: assembly and C, several times as fast for long payloads | RustCrypto |
//!
//! ring authenticates bytes without encryption block by block, which takes more than twice as long.

#[cfg(feature = "ring")]
mod assembly;
mod rust_crypto;

use super::cipher::MAC_LEN;
#[cfg(feature = "ring")]
use assembly::RingKey;
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
    #[cfg(feature = "ring")]
    Ring(RingKey),
}

impl GcmKey {
    /// Expands a key of 16 or 32 bytes. `None` for any other length.
    pub(super) fn new(key: &[u8], encrypts: bool) -> Option<Self> {
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
            #[cfg(feature = "ring")]
            Self::Ring(key) => key.open(iv, associated, bytes, mac),
        }
    }
}

#[cfg(all(test, feature = "ring"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_libraries_seal_and_open_alike(
            key in any::<[u8; 32]>(),
            is_short in any::<bool>(),
            iv in any::<[u8; 12]>(),
            associated in proptest::collection::vec(any::<u8>(), 0..300),
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
            changed in any::<prop::sample::Index>(),
        ) {
            let key = if is_short { &key[..16] } else { &key[..] };
            let one = RustCryptoKey::new(key).unwrap();
            let other = RingKey::new(key).unwrap();
            let (mut by_one, mut by_other) = (bytes.clone(), bytes.clone());
            let mac = one.seal(iv, &associated, &mut by_one);
            prop_assert_eq!(other.seal(iv, &associated, &mut by_other), mac);
            prop_assert_eq!(&by_one, &by_other);
            let mut forged = mac;
            forged[changed.index(16)] ^= 1;
            prop_assert!(other.open(iv, &associated, &mut by_other.clone(), &forged).is_err());
            prop_assert!(other.open(iv, &associated, &mut by_other, &mac).is_ok());
            prop_assert!(one.open(iv, &associated, &mut by_one, &mac).is_ok());
            prop_assert_eq!(&by_one, &bytes);
            prop_assert_eq!(&by_other, &bytes);
        }
    }

    #[test]
    fn keys_of_other_lengths_are_refused() {
        for len in [0, 15, 17, 24, 31, 33] {
            assert!(RustCryptoKey::new(&vec![0; len]).is_none(), "{len}");
            assert!(RingKey::new(&vec![0; len]).is_none(), "{len}");
        }
    }
}
