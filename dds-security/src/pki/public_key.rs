//! Keys that verify: ECDSA with P-256 and P-384, and RSA.

use super::ecdsa::{self, EcdsaKey};
use super::rsa_key::RSA_BITS;
use der::asn1::{Any, ObjectIdentifier};
use der::{Decode, Encode};
use p256::pkcs8::EncodePublicKey;
use rsa::pkcs1::DecodeRsaPublicKey;
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Sign, Pss, RsaPublicKey};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

pub(super) const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const PRIME256V1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const SECP384R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
const ECDSA_WITH_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");
pub(super) const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const RSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");
const RSA_WITH_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.12");
const RSA_WITH_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.13");

/// A hash function of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(super) fn from_oid(oid: ObjectIdentifier) -> Option<Self> {
        match oid {
            SHA256 => Some(Self::Sha256),
            SHA384 => Some(Self::Sha384),
            SHA512 => Some(Self::Sha512),
            _ => None,
        }
    }

    pub(super) fn oid(self) -> ObjectIdentifier {
        match self {
            Self::Sha256 => SHA256,
            Self::Sha384 => SHA384,
            Self::Sha512 => SHA512,
        }
    }

    /// Its name in the header of a signed message (RFC 8551, 3.5.3.2).
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha-256",
            Self::Sha384 => "sha-384",
            Self::Sha512 => "sha-512",
        }
    }

    pub(super) fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

/// A key of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PublicKey {
    P256(p256::ecdsa::VerifyingKey),
    P384(p384::ecdsa::VerifyingKey),
    Rsa(RsaPublicKey),
}

impl PublicKey {
    /// Reads the key of a certificate. `None` for other algorithms, curves and key lengths.
    pub(super) fn from_spki(info: &SubjectPublicKeyInfoOwned) -> Option<Self> {
        let bytes = info.subject_public_key.as_bytes()?;
        match info.algorithm.oid {
            EC_PUBLIC_KEY => match info.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok()? {
                PRIME256V1 => p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok().map(Self::P256),
                SECP384R1 => p384::ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok().map(Self::P384),
                _ => None,
            },
            RSA_ENCRYPTION => {
                let key = RsaPublicKey::from_pkcs1_der(bytes).ok()?;
                // Shorter keys are weak. Longer ones would let a peer cause costly operations.
                RSA_BITS.contains(&key.n().bits()).then_some(Self::Rsa(key))
            }
            _ => None,
        }
    }

    /// Name of the algorithm in tokens of DDS Security.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "EC-prime256v1",
            Self::P384(_) => "EC-secp384r1",
            // DDS Security 1.1 has this one name for RSA keys of any length.
            Self::Rsa(_) => "RSA-2048",
        }
    }

    pub(super) fn bits(&self) -> usize {
        match self {
            Self::P256(_) => 256,
            Self::P384(_) => 384,
            Self::Rsa(key) => key.n().bits(),
        }
    }

    /// Verifies the signature of a certificate or a list: the algorithm names the hash.
    pub(super) fn verifies(&self, algorithm: &AlgorithmIdentifierOwned, bytes: &[u8], signature: &[u8]) -> bool {
        // PSS counts with SHA-256 only, so its parameters need no look: others fail to verify.
        let hash = match algorithm.oid {
            ECDSA_WITH_SHA256 | RSA_WITH_SHA256 | RSA_PSS => Hash::Sha256,
            ECDSA_WITH_SHA384 | RSA_WITH_SHA384 => Hash::Sha384,
            RSA_WITH_SHA512 => Hash::Sha512,
            // Forgers can find collisions of SHA-1 and MD5, so these are not supported.
            _ => return false,
        };
        self.verifies_with(algorithm.oid, hash, bytes, signature)
    }

    /// Verifies a signature with the hash that a CMS signer names.
    pub(super) fn verifies_with(
        &self,
        algorithm: ObjectIdentifier,
        hash: Hash,
        bytes: &[u8],
        signature: &[u8],
    ) -> bool {
        // A peer chooses the algorithm, so it must fit the key. Some signers write the id of the key there.
        match (self, algorithm, hash) {
            (Self::P256(key), ECDSA_WITH_SHA256 | EC_PUBLIC_KEY, Hash::Sha256) => {
                ecdsa::verifies(EcdsaKey::P256Sha256(*key), bytes, signature)
            }
            (Self::P384(key), ECDSA_WITH_SHA256 | EC_PUBLIC_KEY, Hash::Sha256) => {
                ecdsa::verifies(EcdsaKey::P384Sha256(*key), bytes, signature)
            }
            (Self::P384(key), ECDSA_WITH_SHA384 | EC_PUBLIC_KEY, Hash::Sha384) => {
                ecdsa::verifies(EcdsaKey::P384Sha384(*key), bytes, signature)
            }
            (Self::Rsa(key), RSA_PSS, Hash::Sha256) => verifies_pss(key, bytes, signature),
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA256, Hash::Sha256) => {
                key.verify(Pkcs1v15Sign::new::<Sha256>(), &hash.of(bytes), signature).is_ok()
            }
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA384, Hash::Sha384) => {
                key.verify(Pkcs1v15Sign::new::<Sha384>(), &hash.of(bytes), signature).is_ok()
            }
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA512, Hash::Sha512) => {
                key.verify(Pkcs1v15Sign::new::<Sha512>(), &hash.of(bytes), signature).is_ok()
            }
            _ => false,
        }
    }

    /// Verifies a signature of a handshake: ECDSA with the hash of the curve's size, or RSASSA-PSS-SHA256.
    #[cfg(feature = "authentication")]
    pub(crate) fn verifies_handshake(&self, bytes: &[u8], signature: &[u8]) -> bool {
        // The key alone decides, so a peer cannot choose a weaker algorithm.
        match self {
            Self::P256(key) => ecdsa::verifies(EcdsaKey::P256Sha256(*key), bytes, signature),
            Self::P384(key) => ecdsa::verifies(EcdsaKey::P384Sha384(*key), bytes, signature),
            Self::Rsa(key) => verifies_pss(key, bytes, signature),
        }
    }

    /// The key information of a certificate.
    pub(super) fn to_spki(&self) -> der::Result<SubjectPublicKeyInfoOwned> {
        let document = match self {
            Self::P256(key) => key.to_public_key_der(),
            Self::P384(key) => key.to_public_key_der(),
            Self::Rsa(key) => key.to_public_key_der(),
        };
        SubjectPublicKeyInfoOwned::from_der(document.map_err(|_| der::ErrorKind::Failed)?.as_bytes())
    }

    /// The algorithm of certificates, lists and documents that the private key signs.
    pub(super) fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let (oid, parameters) = match self {
            Self::P256(_) => (ECDSA_WITH_SHA256, None),
            Self::P384(_) => (ECDSA_WITH_SHA384, None),
            // RFC 4055, 5.
            Self::Rsa(_) => (RSA_WITH_SHA256, Some(Any::null())),
        };
        AlgorithmIdentifierOwned { oid, parameters }
    }
}

/// Verifies a signature of RSASSA-PSS with SHA-256.
fn verifies_pss(key: &RsaPublicKey, bytes: &[u8], signature: &[u8]) -> bool {
    let digest = Sha256::digest(bytes);
    // The salt has the length of the hash, the longest one (the default of OpenSSL), or 20 bytes (of RFC 8017).
    let longest = (key.n().bits() - 1).div_ceil(8).saturating_sub(digest.len() + 2);
    [32, longest, 20]
        .into_iter()
        .any(|salt_len| key.verify(Pss::new_with_salt::<Sha256>(salt_len), &digest, signature).is_ok())
}

/// The identifier of a key: the SHA-256 of its bits, shortened to 20 bytes (RFC 7093).
pub(super) fn key_identifier(info: &SubjectPublicKeyInfoOwned) -> der::Result<[u8; 20]> {
    let bytes = info.subject_public_key.as_bytes().map_or_else(|| info.to_der(), |bytes| Ok(bytes.to_vec()))?;
    let hash = Sha256::digest(bytes);
    let mut identifier = [0; 20];
    // The value only helps to find a key and proves nothing, so 160 bits are enough.
    identifier.copy_from_slice(&hash[..20]);
    Ok(identifier)
}
