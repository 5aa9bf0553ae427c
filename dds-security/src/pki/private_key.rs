//! Keys that sign: ECDSA with P-256 and P-384, and RSA.

use super::public_key::{EC_PUBLIC_KEY, Hash, RSA_ENCRYPTION};
use super::rsa_key::RsaKey;
use super::{PublicKey, pem};
use p256::ecdsa::signature::Signer;
use pkcs8::EncodePrivateKey;
use pkcs8::pkcs5::pbes2::Kdf;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The algorithm of a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// ECDSA with P-256 and SHA-256: fast, and known to all vendors.
    #[default]
    EcP256,
    /// ECDSA with P-384 and SHA-384, which DDS Security 1.2 adds.
    EcP384,
    /// RSA with 2048 bits.
    Rsa2048,
    /// RSA with 3072 bits.
    Rsa3072,
}

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
    pair: KeyPair,
}

#[derive(Clone)]
enum KeyPair {
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    Rsa(Arc<RsaKey>),
}

/// A file has no private key that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// It has no private key in the form PEM.
    Missing,
    /// The key is encrypted, and no password was given.
    Encrypted,
    /// The key is encrypted in the form of OpenSSL before version 1.
    OldEncryption,
    /// The password does not decrypt the key.
    Password,
    /// Its encryption is unknown or malformed, or the work for a password exceeds the limit.
    Encryption,
    /// Its algorithm, its curve or its length is not supported.
    Algorithm,
    /// The bytes are no key.
    Malformed,
    /// The system has no random numbers for a new key.
    NoRandomNumbers,
}

impl PrivateKey {
    /// Creates a random key for ECDSA with P-256.
    ///
    /// # Errors
    /// [`KeyError::NoRandomNumbers`] if the system has none.
    pub fn generate() -> Result<Self, KeyError> {
        Self::generate_for(KeyAlgorithm::EcP256)
    }

    /// Creates a random key. One for RSA takes some seconds in a build without optimization.
    ///
    /// # Errors
    /// [`KeyError::NoRandomNumbers`] if the system has none.
    pub fn generate_for(algorithm: KeyAlgorithm) -> Result<Self, KeyError> {
        let mut random = Zeroizing::new([0; 32]);
        getrandom::fill(&mut random[..]).map_err(|_| KeyError::NoRandomNumbers)?;
        let pair = match algorithm {
            KeyAlgorithm::EcP256 => KeyPair::P256(scalar_from(&random, b"identity").into()),
            KeyAlgorithm::EcP384 => KeyPair::P384(scalar_384_from(&random, b"identity").into()),
            KeyAlgorithm::Rsa2048 => KeyPair::Rsa(Arc::new(RsaKey::generate(2048)?)),
            KeyAlgorithm::Rsa3072 => KeyPair::Rsa(Arc::new(RsaKey::generate(3072)?)),
        };
        Ok(Self { pair })
    }

    /// Reads a key in PKCS #8 (`PRIVATE KEY`), SEC 1 (`EC PRIVATE KEY`) or PKCS #1 (`RSA PRIVATE KEY`).
    ///
    /// # Errors
    /// [`KeyError`] if the text has no such key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_pem_with(text, None)
    }

    /// As [`Self::from_pem`]; the key may also be encrypted in PKCS #8 (`ENCRYPTED PRIVATE KEY`, RFC 5958). The
    /// encryption is PBES2 with AES, and with PBKDF2 or scrypt, as OpenSSL writes it.
    ///
    /// # Errors
    /// [`KeyError`] if the text has no such key, or if the password is wrong.
    pub fn from_encrypted_pem(text: &str, password: &str) -> Result<Self, KeyError> {
        Self::from_pem_with(text, Some(password))
    }

    fn from_pem_with(text: &str, password: Option<&str>) -> Result<Self, KeyError> {
        let forms: [(&str, ReadKey); 3] =
            [("PRIVATE KEY", from_pkcs8), ("EC PRIVATE KEY", from_sec1), ("RSA PRIVATE KEY", from_pkcs1)];
        for (label, read) in forms {
            let Some(block) = pem::blocks(text, label).into_iter().next() else { continue };
            // The form of OpenSSL before version 1.
            if block.contains("ENCRYPTED") {
                return Err(KeyError::OldEncryption);
            }
            let bytes = pem::decode(block).ok_or(KeyError::Malformed)?;
            return Ok(Self { pair: read(&bytes)? });
        }
        // A plain key needs no password, so this form comes last.
        let block = pem::blocks(text, "ENCRYPTED PRIVATE KEY").into_iter().next().ok_or(KeyError::Missing)?;
        let password = password.ok_or(KeyError::Encrypted)?;
        let bytes = pem::decode(block).ok_or(KeyError::Malformed)?;
        Ok(Self { pair: from_encrypted(&bytes, password)? })
    }

    /// Writes the key in PKCS #8.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        let text = match &self.pair {
            KeyPair::P256(key) => p256::SecretKey::from(key).to_pkcs8_pem(pkcs8::LineEnding::LF),
            KeyPair::P384(key) => p384::SecretKey::from(key).to_pkcs8_pem(pkcs8::LineEnding::LF),
            KeyPair::Rsa(key) => return key.to_pem(),
        };
        text.expect("a key of 32 or 48 bytes has a text form")
    }

    /// Returns the name of its algorithm, as that of a [`KeyAlgorithm`]. RSA keys may have other lengths.
    #[cfg(feature = "keystore")]
    pub(crate) fn algorithm_text(&self) -> String {
        match &self.pair {
            KeyPair::P256(_) => KeyAlgorithm::EcP256.to_string(),
            KeyPair::P384(_) => KeyAlgorithm::EcP384.to_string(),
            KeyPair::Rsa(_) => format!("RSA with {} bits", self.public().bits()),
        }
    }

    /// Whether it counts as a key of an algorithm. An RSA key may be longer, because no algorithm names each length.
    #[cfg(feature = "keystore")]
    pub(crate) fn fits(&self, algorithm: KeyAlgorithm) -> bool {
        match (&self.pair, algorithm) {
            (KeyPair::P256(_), KeyAlgorithm::EcP256)
            | (KeyPair::P384(_), KeyAlgorithm::EcP384)
            // No RSA key is shorter.
            | (KeyPair::Rsa(_), KeyAlgorithm::Rsa2048) => true,
            (KeyPair::Rsa(_), KeyAlgorithm::Rsa3072) => self.public().bits() >= 3072,
            _ => false,
        }
    }

    /// Whether another key is the same.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        // The public halves decide, so the comparison of secrets is not needed.
        self.public() == other.public()
    }

    /// Signs a certificate or a document, with [`Self::hash`]. Signatures of ECDSA have the form DER.
    pub(crate) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.pair {
            KeyPair::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(bytes);
                signature.to_der().as_bytes().to_vec()
            }
            KeyPair::P384(key) => {
                let signature: p384::ecdsa::Signature = key.sign(bytes);
                signature.to_der().as_bytes().to_vec()
            }
            KeyPair::Rsa(key) => key.sign(bytes),
        }
    }

    /// Signs values of a handshake: as [`Self::sign`], but with the padding PSS if it is an RSA key.
    #[cfg(feature = "authentication")]
    pub(crate) fn sign_handshake(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.pair {
            KeyPair::Rsa(key) => key.sign_pss(bytes),
            _ => self.sign(bytes),
        }
    }

    /// The hash function of its signatures.
    pub(super) fn hash(&self) -> Hash {
        match &self.pair {
            KeyPair::P256(_) | KeyPair::Rsa(_) => Hash::Sha256,
            KeyPair::P384(_) => Hash::Sha384,
        }
    }

    pub(crate) fn public(&self) -> PublicKey {
        match &self.pair {
            KeyPair::P256(key) => PublicKey::P256(*key.verifying_key()),
            KeyPair::P384(key) => PublicKey::P384(*key.verifying_key()),
            KeyPair::Rsa(key) => PublicKey::Rsa(key.public()),
        }
    }
}

/// Reads a key in one of its forms.
type ReadKey = fn(&[u8]) -> Result<KeyPair, KeyError>;

fn from_pkcs8(bytes: &[u8]) -> Result<KeyPair, KeyError> {
    let info = pkcs8::PrivateKeyInfo::try_from(bytes).map_err(|_| KeyError::Malformed)?;
    match info.algorithm.oid {
        EC_PUBLIC_KEY => {
            // The file names its curve, and each library refuses the other one.
            let p256 = p256::SecretKey::try_from(info.clone()).map(|key| KeyPair::P256(key.into()));
            p256.or_else(|_| p384::SecretKey::try_from(info).map(|key| KeyPair::P384(key.into())))
                .map_err(|_| KeyError::Algorithm)
        }
        RSA_ENCRYPTION => from_pkcs1(info.private_key),
        _ => Err(KeyError::Algorithm),
    }
}

/// Most repetitions of PBKDF2. OpenSSL writes 2048, and 600 000 are recommended.
const ITERATIONS_MAX: u32 = 10_000_000;
/// Most memory of scrypt, in bytes.
const SCRYPT_MEMORY_MAX: u128 = 256 << 20;

fn from_encrypted(bytes: &[u8], password: &str) -> Result<KeyPair, KeyError> {
    let info = pkcs8::EncryptedPrivateKeyInfo::try_from(bytes).map_err(|_| KeyError::Encryption)?;
    let parameters = info.encryption_algorithm.pbes2().ok_or(KeyError::Encryption)?;
    // The file decides about the work.
    let is_bounded = match &parameters.kdf {
        Kdf::Pbkdf2(pbkdf2) => pbkdf2.iteration_count <= ITERATIONS_MAX,
        Kdf::Scrypt(scrypt) => {
            let lanes = u128::from(scrypt.block_size) * u128::from(scrypt.parallelization);
            u128::from(scrypt.cost_parameter).saturating_mul(128 * lanes) <= SCRYPT_MEMORY_MAX
        }
        _ => false,
    };
    if !is_bounded {
        return Err(KeyError::Encryption);
    }
    let decrypted = info.decrypt(password).map_err(|_| KeyError::Password)?;
    // A wrong password has a valid padding now and then, and then the bytes are no key.
    from_pkcs8(decrypted.as_bytes())
        .map_err(|error| if error == KeyError::Malformed { KeyError::Password } else { error })
}

fn from_sec1(bytes: &[u8]) -> Result<KeyPair, KeyError> {
    // SEC 1 may leave out the curve. Then the length of the number tells it.
    let p256 = p256::SecretKey::from_sec1_der(bytes).map(|key| KeyPair::P256(key.into()));
    p256.or_else(|_| p384::SecretKey::from_sec1_der(bytes).map(|key| KeyPair::P384(key.into())))
        .map_err(|_| KeyError::Algorithm)
}

fn from_pkcs1(bytes: &[u8]) -> Result<KeyPair, KeyError> {
    Ok(KeyPair::Rsa(Arc::new(RsaKey::from_pkcs1(bytes)?)))
}

/// Derives a private scalar of P-256 from random bytes. Equal bytes and labels give equal scalars.
pub(crate) fn scalar_from(random: &[u8; 32], label: &[u8]) -> p256::SecretKey {
    // A number is no scalar with a probability of 2^-32.
    let mut attempt = 0_u8;
    loop {
        let bytes = crate::crypto::hmac(random, &[label, &[attempt]]);
        if let Ok(secret) = p256::SecretKey::from_slice(&bytes[..]) {
            return secret;
        }
        attempt = attempt.wrapping_add(1);
    }
}

/// As [`scalar_from`], for P-384.
pub(crate) fn scalar_384_from(random: &[u8; 32], label: &[u8]) -> p384::SecretKey {
    // Even fewer numbers are no scalars of P-384, so the loop practically ends at once.
    let mut attempt = 0_u8;
    loop {
        let mut bytes = Zeroizing::new([0; 48]);
        // One HMAC has 32 bytes, and the scalar has 48.
        debug_assert_eq!(bytes.len(), 2 * 24, "two halves fill the scalar");
        for (half, places) in (0_u8..).zip(bytes.chunks_mut(24)) {
            places.copy_from_slice(&crate::crypto::hmac(random, &[label, b"384", &[attempt, half]])[..24]);
        }
        if let Ok(secret) = p384::SecretKey::from_slice(&bytes[..]) {
            return secret;
        }
        attempt = attempt.wrapping_add(1);
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcP256 => "EC P-256",
            Self::EcP384 => "EC P-384",
            Self::Rsa2048 => "RSA with 2048 bits",
            Self::Rsa3072 => "RSA with 3072 bits",
        })
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
                "the private key is encrypted: give its password, or decrypt it with `openssl pkcs8` into a file of mode 600"
            }
            Self::OldEncryption => {
                "the private key has an old encryption: convert it with `openssl pkcs8 -topk8` to an `ENCRYPTED PRIVATE KEY`"
            }
            Self::Password => "the password does not decrypt the private key: give the one with which it was encrypted",
            Self::Encryption => {
                "the encryption of the private key is not supported: encrypt it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
            }
            Self::Algorithm => {
                "the private key is not EC P-256, EC P-384 or RSA with 2048 to 4096 bits: issue the identity with such a key"
            }
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
        for algorithm in [KeyAlgorithm::EcP256, KeyAlgorithm::EcP384, KeyAlgorithm::Rsa2048] {
            let key = PrivateKey::generate_for(algorithm).unwrap();
            assert!(PrivateKey::from_pem(&key.to_pem()).unwrap().is_same_as(&key));
            assert!(!PrivateKey::generate().unwrap().is_same_as(&key));
            assert_eq!(format!("{key:?}"), "PrivateKey { .. }");
        }
    }

    #[test]
    fn faulty_keys_name_their_fault() {
        let error = |text: &str| PrivateKey::from_pem(text).unwrap_err();
        assert_eq!(error(""), KeyError::Missing);
        assert_eq!(error("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), KeyError::Malformed);
        let label = "ENCRYPTED PRIVATE KEY";
        assert_eq!(error(&format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n")), KeyError::Encrypted);
        let label = "RSA PRIVATE KEY";
        assert_eq!(error(&format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n")), KeyError::Malformed);
        let encrypted = "Proc-Type: 4,ENCRYPTED\n\nAAAA";
        assert_eq!(
            error(&format!("-----BEGIN {label}-----\n{encrypted}\n-----END {label}-----\n")),
            KeyError::OldEncryption
        );
    }

    #[test]
    fn encrypted_keys_need_their_password() {
        let plain = PrivateKey::from_pem(include_str!("../../tests/pki/ec.robot.key.pem")).unwrap();
        for text in [
            include_str!("../../tests/pki/ec.robot.pbkdf2.key.pem"),
            include_str!("../../tests/pki/ec.robot.scrypt.key.pem"),
        ] {
            assert!(PrivateKey::from_encrypted_pem(text, "open sesame").unwrap().is_same_as(&plain));
            assert_eq!(PrivateKey::from_pem(text).unwrap_err(), KeyError::Encrypted);
            // Some wrong passwords give a valid padding.
            for number in 0..300 {
                let error = PrivateKey::from_encrypted_pem(text, &number.to_string()).unwrap_err();
                assert_eq!(error, KeyError::Password, "{number}");
            }
        }
        assert!(PrivateKey::from_encrypted_pem(&plain.to_pem(), "unused").unwrap().is_same_as(&plain));
        // DES, which `openssl pkcs8 -v2 des3` writes.
        let old = include_str!("../../tests/pki/ec.robot.des3.key.pem");
        assert_eq!(PrivateKey::from_encrypted_pem(old, "open sesame").unwrap_err(), KeyError::Encryption);
        // More work than the limit.
        let endless = include_str!("../../tests/pki/ec.robot.endless.key.pem");
        assert_eq!(PrivateKey::from_encrypted_pem(endless, "open sesame").unwrap_err(), KeyError::Encryption);
    }
}
