//! ECDH with P-256 and P-384: by graviola with its feature and on processors that it supports, otherwise by RustCrypto.
//!
//! The ephemeral keys of ring serve once, and the model checker copies handshakes with their keys.

use p256::elliptic_curve::sec1::ToEncodedPoint;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Returns the public key, as a point without compression.
pub(super) fn public_256(key: &p256::SecretKey) -> Vec<u8> {
    #[cfg(feature = "graviola")]
    if let Some(key) = by_graviola::key_256(key) {
        return key.public_key_uncompressed().to_vec();
    }
    key.public_key().to_encoded_point(false).as_bytes().to_vec()
}

/// Returns the hash of the shared secret.
pub(super) fn secret_256(key: &p256::SecretKey, public: &p256::PublicKey) -> Zeroizing<[u8; 32]> {
    #[cfg(feature = "graviola")]
    if let Some(secret) = by_graviola::secret_256(key, public) {
        return secret;
    }
    let shared = p256::ecdh::diffie_hellman(key.to_nonzero_scalar(), public.as_affine());
    Zeroizing::new(Sha256::digest(shared.raw_secret_bytes()).into())
}

/// Returns the public key, as a point without compression.
pub(super) fn public_384(key: &p384::SecretKey) -> Vec<u8> {
    #[cfg(feature = "graviola")]
    if let Some(key) = by_graviola::key_384(key) {
        return key.public_key_uncompressed().to_vec();
    }
    key.public_key().to_encoded_point(false).as_bytes().to_vec()
}

/// Returns the hash of the shared secret.
pub(super) fn secret_384(key: &p384::SecretKey, public: &p384::PublicKey) -> Zeroizing<[u8; 32]> {
    #[cfg(feature = "graviola")]
    if let Some(secret) = by_graviola::secret_384(key, public) {
        return secret;
    }
    let shared = p384::ecdh::diffie_hellman(key.to_nonzero_scalar(), public.as_affine());
    Zeroizing::new(Sha256::digest(shared.raw_secret_bytes()).into())
}

#[cfg(feature = "graviola")]
mod by_graviola {
    use super::{Digest, Sha256, ToEncodedPoint, Zeroizing};

    /// Returns the key of the library. `None` on a processor that it does not support.
    pub(super) fn key_256(key: &p256::SecretKey) -> Option<graviola::key_agreement::p256::StaticPrivateKey> {
        // The library would panic.
        if !graviola::util::is_cpu_supported() {
            return None;
        }
        let bytes = Zeroizing::new(key.to_bytes());
        graviola::key_agreement::p256::StaticPrivateKey::from_bytes(&bytes).ok()
    }

    pub(super) fn secret_256(key: &p256::SecretKey, public: &p256::PublicKey) -> Option<Zeroizing<[u8; 32]>> {
        let key = key_256(key)?;
        let public = public.to_encoded_point(false);
        let public = graviola::key_agreement::p256::PublicKey::from_x962_uncompressed(public.as_bytes()).ok()?;
        let shared = key.diffie_hellman(&public).ok()?;
        Some(Zeroizing::new(Sha256::digest(shared.0).into()))
    }

    /// Returns the key of the library. `None` on a processor that it does not support.
    pub(super) fn key_384(key: &p384::SecretKey) -> Option<graviola::key_agreement::p384::StaticPrivateKey> {
        // The library would panic.
        if !graviola::util::is_cpu_supported() {
            return None;
        }
        let bytes = Zeroizing::new(key.to_bytes());
        graviola::key_agreement::p384::StaticPrivateKey::from_bytes(&bytes).ok()
    }

    pub(super) fn secret_384(key: &p384::SecretKey, public: &p384::PublicKey) -> Option<Zeroizing<[u8; 32]>> {
        let key = key_384(key)?;
        let public = public.to_encoded_point(false);
        let public = graviola::key_agreement::p384::PublicKey::from_x962_uncompressed(public.as_bytes()).ok()?;
        let shared = key.diffie_hellman(&public).ok()?;
        Some(Zeroizing::new(Sha256::digest(shared.0).into()))
    }
}

#[cfg(all(test, feature = "graviola"))]
mod tests {
    use super::*;
    use crate::pki::{scalar_384_from, scalar_from};
    use proptest::prelude::*;

    proptest! {
        // In a debug build, an agreement takes milliseconds.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn both_libraries_agree_on_the_same_secrets(one in any::<[u8; 32]>(), other in any::<[u8; 32]>()) {
            let (a, b) = (scalar_from(&one, b"test"), scalar_from(&other, b"test"));
            let shared = p256::ecdh::diffie_hellman(a.to_nonzero_scalar(), b.public_key().as_affine());
            let expected: [u8; 32] = Sha256::digest(shared.raw_secret_bytes()).into();
            prop_assert_eq!(*by_graviola::secret_256(&a, &b.public_key()).unwrap(), expected);
            prop_assert_eq!(*secret_256(&b, &a.public_key()), expected);
            prop_assert_eq!(public_256(&a), a.public_key().to_encoded_point(false).as_bytes().to_vec());

            let (a, b) = (scalar_384_from(&one, b"test"), scalar_384_from(&other, b"test"));
            let shared = p384::ecdh::diffie_hellman(a.to_nonzero_scalar(), b.public_key().as_affine());
            let expected: [u8; 32] = Sha256::digest(shared.raw_secret_bytes()).into();
            prop_assert_eq!(*by_graviola::secret_384(&a, &b.public_key()).unwrap(), expected);
            prop_assert_eq!(*secret_384(&b, &a.public_key()), expected);
            prop_assert_eq!(public_384(&a), a.public_key().to_encoded_point(false).as_bytes().to_vec());
        }
    }
}
