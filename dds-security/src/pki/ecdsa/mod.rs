//! ECDSA: whether a signature is valid.
//!
//! | feature | verification | signatures and key agreement |
//! |---|---|---|
//! | none | RustCrypto: Rust alone | RustCrypto |
//! | `ring` | ring: assembly and C, faster (P-256: 5 times, P-384: 1.5) | RustCrypto |
//!
//! Signatures of ring have random parts, and its ephemeral keys serve once. Simulations need equal signatures in each
//! run, and the model checker copies handshakes with their keys.
//!
//! Both libraries accept the same signatures: strict DER, numbers above zero and below the order of the curve, and
//! either value of `s`. The tests compare them.

#[cfg(feature = "ring")]
mod assembly;
#[cfg(any(test, not(feature = "ring")))]
mod rust_crypto;

#[cfg(feature = "ring")]
pub(super) use assembly::verifies;
#[cfg(not(feature = "ring"))]
pub(super) use rust_crypto::verifies;

/// A key that verifies, and the hash function of its signatures.
#[derive(Debug, Clone, Copy)]
pub(super) enum EcdsaKey {
    P256Sha256(p256::ecdsa::VerifyingKey),
    /// Tools sign with SHA-256 by default, also with a key of P-384.
    P384Sha256(p384::ecdsa::VerifyingKey),
    P384Sha384(p384::ecdsa::VerifyingKey),
}

#[cfg(all(test, feature = "ring"))]
mod tests;
