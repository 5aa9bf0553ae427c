//! Keys that sign: ECDSA with P-256.

use super::pem;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::pkcs8::EncodePrivateKey;
use p256::{SecretKey, pkcs8};
use std::fmt;
use zeroize::Zeroizing;

/// A private key of an identity or a certificate authority. It is overwritten when it is dropped.
///
/// ```
/// use dds_security::pki::PrivateKey;
///
/// let key = PrivateKey::generate()?;
/// let same = PrivateKey::from_pem(&key.to_pem())?;
/// assert!(key.is_same_as(&same));
/// # Ok::<(), dds_security::pki::KeyError>(())
/// ```
#[derive(Clone)]
pub struct PrivateKey {
    key: SigningKey,
}

/// A file has no private key that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// It has no private key in the form PEM.
    Missing,
    /// The key is encrypted.
    Encrypted,
    /// It is an RSA key, or an EC key of another curve.
    Algorithm,
    /// The bytes are no key.
    Malformed,
    /// The system has no random numbers for a new key.
    NoRandomNumbers,
}

impl PrivateKey {
    /// Creates a random key.
    ///
    /// # Errors
    /// [`KeyError::NoRandomNumbers`] if the system has none.
    pub fn generate() -> Result<Self, KeyError> {
        let mut random = Zeroizing::new([0; 32]);
        getrandom::fill(&mut random[..]).map_err(|_| KeyError::NoRandomNumbers)?;
        let secret = scalar_from(&random, b"identity");
        Ok(Self { key: SigningKey::from(secret) })
    }

    /// Reads a key in PKCS #8 (`PRIVATE KEY`) or SEC 1 (`EC PRIVATE KEY`).
    ///
    /// # Errors
    /// [`KeyError`] if the text has no such key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        if let Some(block) = pem::blocks(text, "PRIVATE KEY").first() {
            let bytes = pem::decode(block).ok_or(KeyError::Malformed)?;
            let info = pkcs8::PrivateKeyInfo::try_from(&bytes[..]).map_err(|_| KeyError::Malformed)?;
            let secret = SecretKey::try_from(info).map_err(|_| KeyError::Algorithm)?;
            return Ok(Self { key: SigningKey::from(secret) });
        }
        if let Some(block) = pem::blocks(text, "EC PRIVATE KEY").first() {
            if block.contains("ENCRYPTED") {
                return Err(KeyError::Encrypted);
            }
            let bytes = pem::decode(block).ok_or(KeyError::Malformed)?;
            let secret = SecretKey::from_sec1_der(&bytes).map_err(|_| KeyError::Algorithm)?;
            return Ok(Self { key: SigningKey::from(secret) });
        }
        if !pem::blocks(text, "ENCRYPTED PRIVATE KEY").is_empty() {
            return Err(KeyError::Encrypted);
        }
        let is_rsa = !pem::blocks(text, "RSA PRIVATE KEY").is_empty();
        Err(if is_rsa { KeyError::Algorithm } else { KeyError::Missing })
    }

    /// Writes the key in PKCS #8.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        let secret = SecretKey::from(&self.key);
        secret.to_pkcs8_pem(pkcs8::LineEnding::LF).expect("a key of 32 bytes has a text form")
    }

    /// Whether another key is the same.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.verifying_key() == other.verifying_key()
    }

    /// Signs bytes, and returns the signature in DER.
    pub(crate) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        let signature: Signature = self.key.sign(bytes);
        signature.to_der().as_bytes().to_vec()
    }

    pub(crate) fn verifying_key(&self) -> &VerifyingKey {
        self.key.verifying_key()
    }
}

/// Derives a private scalar from random bytes. Equal bytes and labels give equal scalars.
pub(crate) fn scalar_from(random: &[u8; 32], label: &[u8]) -> SecretKey {
    // A number is no scalar with a probability of 2^-32.
    let mut attempt = 0_u8;
    loop {
        let bytes = crate::crypto::hmac(random, &[label, &[attempt]]);
        if let Ok(secret) = SecretKey::from_slice(&bytes[..]) {
            return secret;
        }
        attempt = attempt.wrapping_add(1);
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").finish_non_exhaustive()
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the file has no private key: expected a line `-----BEGIN PRIVATE KEY-----`",
            Self::Encrypted => {
                "the private key is encrypted, which is not supported: decrypt it with `openssl pkcs8` into a file of mode 600"
            }
            Self::Algorithm => "the private key is not for EC P-256 (prime256v1): issue the identity with such a key",
            Self::Malformed => "the private key is malformed: copy the file again",
            Self::NoRandomNumbers => "the system has no random numbers",
        })
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_survives_its_text_and_stays_hidden() {
        let key = PrivateKey::generate().unwrap();
        assert!(PrivateKey::from_pem(&key.to_pem()).unwrap().is_same_as(&key));
        assert!(!PrivateKey::generate().unwrap().is_same_as(&key));
        assert_eq!(format!("{key:?}"), "PrivateKey { .. }");
    }

    #[test]
    fn faulty_keys_name_their_fault() {
        let error = |text: &str| PrivateKey::from_pem(text).unwrap_err();
        assert_eq!(error(""), KeyError::Missing);
        assert_eq!(error("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), KeyError::Malformed);
        let label = "ENCRYPTED PRIVATE KEY";
        assert_eq!(error(&format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n")), KeyError::Encrypted);
        let label = "RSA PRIVATE KEY";
        assert_eq!(error(&format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n")), KeyError::Algorithm);
    }
}
