//! ECDSA of RustCrypto.

use super::EcdsaKey;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use sha2::{Digest, Sha256, Sha384};

/// Whether `signature`, in DER, is one of `bytes`.
pub(crate) fn verifies(key: EcdsaKey, bytes: &[u8], signature: &[u8]) -> bool {
    match key {
        EcdsaKey::P256Sha256(key) => p256::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&Sha256::digest(bytes), &signature).is_ok()),
        EcdsaKey::P384Sha256(key) => p384::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&Sha256::digest(bytes), &signature).is_ok()),
        EcdsaKey::P384Sha384(key) => p384::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&Sha384::digest(bytes), &signature).is_ok()),
    }
}
