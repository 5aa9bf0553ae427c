//! ECDSA: whether a signature is valid.
//!
//! | feature | verification |
//! |---|---|
//! | `graviola` | graviola: assembly in Rust, on processors that it supports |
//! | `ring` | ring: assembly and C |
//! | none | RustCrypto: Rust alone, several times slower |
//!
//! The first row that applies wins. RustCrypto signs with all features: signatures of the others have random parts, and
//! simulations need equal signatures in each run.
//!
//! All libraries accept the same signatures: strict DER, numbers above zero and below the order of the curve, and
//! either value of `s`. The tests compare them.

#[cfg(feature = "graviola")]
mod by_graviola;
#[cfg(feature = "ring")]
mod by_ring;
#[cfg(any(test, not(feature = "ring")))]
mod rust_crypto;

/// A key that verifies, and the hash function of its signatures.
#[derive(Debug, Clone, Copy)]
pub(super) enum EcdsaKey {
    P256Sha256(p256::ecdsa::VerifyingKey),
    /// Tools sign with SHA-256 by default, also with a key of P-384.
    P384Sha256(p384::ecdsa::VerifyingKey),
    P384Sha384(p384::ecdsa::VerifyingKey),
}

/// Whether `signature`, in DER, is one of `bytes`.
pub(super) fn verifies(key: EcdsaKey, bytes: &[u8], signature: &[u8]) -> bool {
    #[cfg(feature = "graviola")]
    if let Some(is_valid) = by_graviola::verifies(key, bytes, signature) {
        return is_valid;
    }
    #[cfg(feature = "ring")]
    return by_ring::verifies(key, bytes, signature);
    #[cfg(not(feature = "ring"))]
    rust_crypto::verifies(key, bytes, signature)
}

#[cfg(test)]
#[cfg(any(feature = "graviola", feature = "ring"))]
mod tests;
