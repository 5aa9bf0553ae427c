//! Keys that verify: ECDSA with P-256, and RSA.

use der::asn1::ObjectIdentifier;
use der::{Decode, Encode};
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use p256::ecdsa::{Signature, VerifyingKey};
use rsa::pkcs1::DecodeRsaPublicKey;
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Sign, Pss, RsaPublicKey};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

pub(super) const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(super) const PRIME256V1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
pub(super) const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");
const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const RSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");
const RSA_WITH_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.12");
const RSA_WITH_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.13");

/// Bits of the shortest RSA key that is accepted. `rsa` accepts at most 4096.
const RSA_BITS_MIN: usize = 2048;

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
    P256(VerifyingKey),
    Rsa(RsaPublicKey),
}

impl PublicKey {
    /// Reads the key of a certificate. `None` for other algorithms, curves and key lengths.
    pub(super) fn from_spki(info: &SubjectPublicKeyInfoOwned) -> Option<Self> {
        let bytes = info.subject_public_key.as_bytes()?;
        match info.algorithm.oid {
            EC_PUBLIC_KEY => {
                let curve = info.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok()?;
                if curve != PRIME256V1 {
                    return None;
                }
                VerifyingKey::from_sec1_bytes(bytes).ok().map(Self::P256)
            }
            RSA_ENCRYPTION => {
                let key = RsaPublicKey::from_pkcs1_der(bytes).ok()?;
                (key.n().bits() >= RSA_BITS_MIN).then_some(Self::Rsa(key))
            }
            _ => None,
        }
    }

    /// Name of the algorithm in tokens of DDS Security.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "EC-prime256v1",
            Self::Rsa(_) => "RSA-2048",
        }
    }

    /// Verifies the signature of a certificate or a list: the algorithm names the hash.
    pub(super) fn verifies(&self, algorithm: &AlgorithmIdentifierOwned, bytes: &[u8], signature: &[u8]) -> bool {
        let hash = match algorithm.oid {
            ECDSA_WITH_SHA256 | RSA_WITH_SHA256 | RSA_PSS => Hash::Sha256,
            RSA_WITH_SHA384 => Hash::Sha384,
            RSA_WITH_SHA512 => Hash::Sha512,
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
        let digest = hash.of(bytes);
        match (self, algorithm, hash) {
            (Self::P256(_), ECDSA_WITH_SHA256 | EC_PUBLIC_KEY, Hash::Sha256) => self.verifies_ecdsa(&digest, signature),
            (Self::Rsa(_), RSA_PSS, Hash::Sha256) => self.verifies_pss(&digest, signature),
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA256, Hash::Sha256) => {
                key.verify(Pkcs1v15Sign::new::<Sha256>(), &digest, signature).is_ok()
            }
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA384, Hash::Sha384) => {
                key.verify(Pkcs1v15Sign::new::<Sha384>(), &digest, signature).is_ok()
            }
            (Self::Rsa(key), RSA_ENCRYPTION | RSA_WITH_SHA512, Hash::Sha512) => {
                key.verify(Pkcs1v15Sign::new::<Sha512>(), &digest, signature).is_ok()
            }
            _ => false,
        }
    }

    /// Verifies a signature of a handshake: ECDSA-SHA256 or RSASSA-PSS-SHA256.
    #[cfg(feature = "authentication")]
    pub(crate) fn verifies_handshake(&self, bytes: &[u8], signature: &[u8]) -> bool {
        let digest = Hash::Sha256.of(bytes);
        match self {
            Self::P256(_) => self.verifies_ecdsa(&digest, signature),
            Self::Rsa(_) => self.verifies_pss(&digest, signature),
        }
    }

    fn verifies_ecdsa(&self, digest: &[u8], signature: &[u8]) -> bool {
        let Self::P256(key) = self else { return false };
        Signature::from_der(signature).is_ok_and(|signature| key.verify_prehash(digest, &signature).is_ok())
    }

    fn verifies_pss(&self, digest: &[u8], signature: &[u8]) -> bool {
        let Self::Rsa(key) = self else { return false };
        // The salt has the length of the hash, the longest one (the default of OpenSSL), or 20 bytes (of RFC 8017).
        let longest = (key.n().bits() - 1).div_ceil(8).saturating_sub(digest.len() + 2);
        [32, longest, 20]
            .into_iter()
            .any(|salt_len| key.verify(Pss::new_with_salt::<Sha256>(salt_len), digest, signature).is_ok())
    }
}

/// The algorithm of signatures that this crate makes.
pub(super) fn ecdsa_with_sha256() -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned { oid: ECDSA_WITH_SHA256, parameters: None }
}

/// Reads the key information that a P-256 key has.
pub(super) fn spki_of(key: &VerifyingKey) -> der::Result<SubjectPublicKeyInfoOwned> {
    use p256::pkcs8::EncodePublicKey;
    let document = key.to_public_key_der().map_err(|_| der::ErrorKind::Failed)?;
    SubjectPublicKeyInfoOwned::from_der(document.as_bytes())
}

/// The identifier of a key: the SHA-256 of its bits, shortened to 20 bytes (RFC 7093).
pub(super) fn key_identifier(info: &SubjectPublicKeyInfoOwned) -> der::Result<[u8; 20]> {
    let bytes = info.subject_public_key.as_bytes().map_or_else(|| info.to_der(), |bytes| Ok(bytes.to_vec()))?;
    let hash = Sha256::digest(bytes);
    let mut identifier = [0; 20];
    identifier.copy_from_slice(&hash[..20]);
    Ok(identifier)
}
