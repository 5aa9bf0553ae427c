//! ECDSA of ring.

use super::EcdsaKey;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, EcdsaVerificationAlgorithm,
    UnparsedPublicKey,
};

/// Whether `signature`, in DER, is one of `bytes`.
pub(crate) fn verifies(key: EcdsaKey, bytes: &[u8], signature: &[u8]) -> bool {
    let is_valid = |algorithm: &'static EcdsaVerificationAlgorithm, point: &[u8]| {
        UnparsedPublicKey::new(algorithm, point).verify(bytes, signature).is_ok()
    };
    // ring reads the point each time. Encoding it takes less than 1 % of the verification, so no key keeps it.
    match key {
        EcdsaKey::P256Sha256(key) => is_valid(&ECDSA_P256_SHA256_ASN1, key.to_encoded_point(false).as_bytes()),
        EcdsaKey::P384Sha256(key) => is_valid(&ECDSA_P384_SHA256_ASN1, key.to_encoded_point(false).as_bytes()),
        EcdsaKey::P384Sha384(key) => is_valid(&ECDSA_P384_SHA384_ASN1, key.to_encoded_point(false).as_bytes()),
    }
}
