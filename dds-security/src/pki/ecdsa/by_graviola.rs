//! ECDSA of graviola.

use super::EcdsaKey;
use graviola::hashing::{Hash, Sha256, Sha384};
use graviola::signing::ecdsa::{Curve, P256, P384, VerifyingKey};

/// Whether `signature`, in DER, is one of `bytes`. `None` on a processor that the library does not support.
pub(crate) fn verifies(key: EcdsaKey, bytes: &[u8], signature: &[u8]) -> Option<bool> {
    // The library would panic.
    if !graviola::util::is_cpu_supported() {
        return None;
    }
    // RustCrypto reads the DER, so that all libraries accept the same encodings.
    let is_valid = match key {
        EcdsaKey::P256Sha256(key) => p256::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
            is_valid::<P256, Sha256>(key.to_encoded_point(false).as_bytes(), bytes, &signature.to_bytes())
        }),
        EcdsaKey::P384Sha256(key) => p384::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
            is_valid::<P384, Sha256>(key.to_encoded_point(false).as_bytes(), bytes, &signature.to_bytes())
        }),
        EcdsaKey::P384Sha384(key) => p384::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
            is_valid::<P384, Sha384>(key.to_encoded_point(false).as_bytes(), bytes, &signature.to_bytes())
        }),
    };
    Some(is_valid)
}

/// Whether `numbers`, of fixed length, are a signature of `bytes`.
fn is_valid<C: Curve, H: Hash>(point: &[u8], bytes: &[u8], numbers: &[u8]) -> bool {
    VerifyingKey::<C>::from_x962_uncompressed(point).is_ok_and(|key| key.verify::<H>(&[bytes], numbers).is_ok())
}
