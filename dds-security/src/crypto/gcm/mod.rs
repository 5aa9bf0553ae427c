//! AES-GCM of one library: a key, and the two operations that it has.
//!
//! | feature | library |
//! |---|---|
//! | none | RustCrypto: Rust alone |
//! | `ring` | ring: assembly and C, several times as fast for long payloads |

#[cfg(feature = "ring")]
mod assembly;
// Tests compare both libraries.
#[cfg(any(test, not(feature = "ring")))]
mod rust_crypto;

#[cfg(feature = "ring")]
pub(super) use assembly::RingKey as GcmKey;
#[cfg(not(feature = "ring"))]
pub(super) use rust_crypto::RustCryptoKey as GcmKey;

/// Bytes of the initialization vector.
pub(super) const IV_LEN: usize = 12;

/// Bytes that are not authentic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forged;

#[cfg(all(test, feature = "ring"))]
mod tests {
    use super::{assembly, rust_crypto};
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
            let one = rust_crypto::RustCryptoKey::new(key).unwrap();
            let other = assembly::RingKey::new(key).unwrap();
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
            assert!(rust_crypto::RustCryptoKey::new(&vec![0; len]).is_none(), "{len}");
            assert!(assembly::RingKey::new(&vec![0; len]).is_none(), "{len}");
        }
    }
}
