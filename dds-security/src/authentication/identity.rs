//! The identity of a participant, and the GUID that follows from it (DDS Security 1.1, 9.3.3).

use super::DataHolder;
use crate::pki::{Certificate, CertificateError, KeyError, OcspResponses, PrivateKey, RevocationList};
#[cfg(feature = "pkcs11")]
use crate::pki::{Pkcs11Error, Pkcs11Key, Pkcs11Uri};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Duration;

/// Class of identity tokens and, with a suffix, of handshake tokens.
pub(super) const CLASS: &str = "DDS:Auth:PKI-DH:1.0";

/// Class of permissions tokens.
const PERMISSIONS_CLASS: &str = "DDS:Access:Permissions:1.0";

/// The files by which a participant proves its identity, checked.
///
/// Certificates and keys have the form PEM. The private key is overwritten when the value is dropped.
#[derive(Debug, Clone)]
pub struct LocalIdentity {
    pub(super) certificate: Certificate,
    pub(super) certificate_pem: Vec<u8>,
    pub(super) key: IdentityKey,
    pub(super) authority: Certificate,
    pub(super) revoked: Option<RevocationList>,
    pub(super) answers: Option<OcspResponses>,
    /// The signed document.
    pub(super) permissions: Vec<u8>,
}

/// The private key of an identity.
#[derive(Debug, Clone)]
pub(super) enum IdentityKey {
    File(PrivateKey),
    #[cfg(feature = "pkcs11")]
    Token(Box<Pkcs11Key>),
}

impl IdentityKey {
    /// Signs values of a handshake.
    pub(super) fn sign_handshake(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::File(key) => Ok(key.sign_handshake(bytes)),
            #[cfg(feature = "pkcs11")]
            Self::Token(key) => key.sign_handshake(bytes).map_err(|error| error.to_string()),
        }
    }
}

/// A file of an identity is faulty.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdentityError {
    /// The certificate of the identity authority.
    Authority(CertificateError),
    /// The certificate of the participant.
    Certificate(CertificateError),
    /// The private key.
    Key(KeyError),
    /// The private key in a PKCS #11 token.
    #[cfg(feature = "pkcs11")]
    Token(Pkcs11Error),
    /// The list of revoked certificates, or the responses of OCSP.
    Revocation(CertificateError),
}

/// A participant with its identity, GUID and discovery data.
#[derive(Debug, Clone)]
pub struct LocalParticipant {
    /// The identity.
    pub identity: LocalIdentity,
    /// GUID, whose prefix is that of [`LocalIdentity::prefix`].
    pub guid: [u8; 16],
    /// Discovery data in PL_CDR, big endian, with the GUID.
    pub participant_data: Vec<u8>,
}

impl LocalIdentity {
    /// Reads and checks the files. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`IdentityError`] names the file and the fault.
    pub fn new(
        authority: &str,
        certificate: &str,
        key: &str,
        permissions: Vec<u8>,
        now: i64,
    ) -> Result<Self, IdentityError> {
        Self::with_key_of_file(authority, certificate, permissions, now, || PrivateKey::from_pem(key))
    }

    /// As [`Self::new`], with an encrypted private key and its password.
    ///
    /// # Errors
    /// [`IdentityError`] names the file and the fault.
    pub fn with_encrypted_key(
        authority: &str,
        certificate: &str,
        (key, password): (&str, &str),
        permissions: Vec<u8>,
        now: i64,
    ) -> Result<Self, IdentityError> {
        Self::with_key_of_file(authority, certificate, permissions, now, || {
            PrivateKey::from_encrypted_pem(key, password)
        })
    }

    fn with_key_of_file(
        authority: &str,
        certificate: &str,
        permissions: Vec<u8>,
        now: i64,
        key: impl FnOnce() -> Result<PrivateKey, KeyError>,
    ) -> Result<Self, IdentityError> {
        Self::with_key(authority, certificate, permissions, now, |certificate| {
            // The closure runs late, so a fault of the certificate is reported before one of the key.
            let key = key().map_err(IdentityError::Key)?;
            // With the key of another identity, each handshake would fail, and only peers would see why.
            certificate.check_key(&key).map_err(IdentityError::Certificate)?;
            Ok(IdentityKey::File(key))
        })
    }

    /// As [`Self::new`], with a private key in a PKCS #11 token, which signs once.
    ///
    /// # Errors
    /// [`IdentityError`] names the file or the token, and the fault.
    #[cfg(feature = "pkcs11")]
    pub fn with_pkcs11_key(
        authority: &str,
        certificate: &str,
        key: &Pkcs11Uri,
        permissions: Vec<u8>,
        now: i64,
    ) -> Result<Self, IdentityError> {
        Self::with_key(authority, certificate, permissions, now, |certificate| {
            let key = Pkcs11Key::open(key, certificate).map_err(IdentityError::Token)?;
            Ok(IdentityKey::Token(Box::new(key)))
        })
    }

    fn with_key(
        authority: &str,
        certificate: &str,
        permissions: Vec<u8>,
        now: i64,
        key: impl FnOnce(&Certificate) -> Result<IdentityKey, IdentityError>,
    ) -> Result<Self, IdentityError> {
        let authority = Certificate::from_pem(authority).map_err(IdentityError::Authority)?;
        // `check_identity` checks the authority again, but its error would name the wrong file.
        authority.check_authority(now).map_err(IdentityError::Authority)?;
        let certificate = Certificate::from_pem(certificate).map_err(IdentityError::Certificate)?;
        certificate.check_identity(&authority, now).map_err(IdentityError::Certificate)?;
        let key = key(&certificate)?;
        // The file may have text around the certificate. Peers get the certificate only.
        let certificate_pem = certificate.to_pem().into_bytes();
        Ok(Self { certificate, certificate_pem, key, authority, revoked: None, answers: None, permissions })
    }

    /// The time that a PKCS #11 token has spent on signatures of this identity so far. Zero for a key in a file.
    #[must_use]
    pub fn time_in_token(&self) -> Duration {
        match &self.key {
            IdentityKey::File(_) => Duration::ZERO,
            #[cfg(feature = "pkcs11")]
            IdentityKey::Token(key) => key.busy(),
        }
    }

    /// Refuses the certificates of a list in the form PEM.
    ///
    /// # Errors
    /// [`IdentityError::Revocation`] if the list is faulty or has the own certificate.
    pub fn with_revocation_list(mut self, list: &str) -> Result<Self, IdentityError> {
        let list = RevocationList::from_pem(list, &self.authority).map_err(IdentityError::Revocation)?;
        // Peers with this list refuse the participant, so it fails before its first handshake.
        list.check(&self.certificate).map_err(IdentityError::Revocation)?;
        self.revoked = Some(list);
        Ok(self)
    }

    /// Refuses the certificates that responses of OCSP in DER call revoked or unknown. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`IdentityError::Revocation`] if a response is faulty, or is so about the own certificate.
    pub fn with_ocsp_responses(mut self, responses: &[u8], now: i64) -> Result<Self, IdentityError> {
        let answers = OcspResponses::from_der(responses, &self.authority, now).map_err(IdentityError::Revocation)?;
        // Peers with these responses refuse the participant, so it fails before its first handshake.
        answers.check(&self.certificate).map_err(IdentityError::Revocation)?;
        self.answers = Some(answers);
        Ok(self)
    }

    /// Whether the authority has promised a newer list of revoked certificates by now. The old one still counts.
    #[must_use]
    pub fn has_old_list(&self, now: i64) -> bool {
        self.revoked.as_ref().and_then(RevocationList::next_update).is_some_and(|next| next < now)
    }

    /// Whether the authority has promised a newer answer of OCSP by now. The old one still counts.
    #[must_use]
    pub fn has_old_answers(&self, now: i64) -> bool {
        self.answers.as_ref().and_then(OcspResponses::first_update).is_some_and(|next| next < now)
    }

    /// The certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The certificate of the authority.
    #[must_use]
    pub fn authority(&self) -> &Certificate {
        &self.authority
    }

    /// Returns the GUID prefix of this identity for a prefix that the participant has chosen.
    #[must_use]
    pub fn prefix(&self, candidate: [u8; 12]) -> [u8; 12] {
        adjusted_prefix(&self.certificate, candidate)
    }

    /// Returns the identity token for discovery (DDS Security 1.1, 9.3.2.1).
    #[must_use]
    pub fn identity_token(&self) -> DataHolder {
        // Nothing protects discovery yet, so these values are hints. The handshake proves the certificate.
        let mut token = DataHolder::new(CLASS);
        for (name, value) in [
            ("dds.cert.sn", self.certificate.subject_text()),
            ("dds.cert.algo", self.certificate.algorithm().to_owned()),
            ("dds.ca.sn", self.authority.subject_text()),
            ("dds.ca.algo", self.authority.algorithm().to_owned()),
        ] {
            token.properties.push((name.to_owned(), value));
        }
        token
    }

    /// Returns the permissions token for discovery. It has no properties, because some versions of Fast DDS refuse it
    /// with them.
    #[must_use]
    pub fn permissions_token(&self) -> DataHolder {
        DataHolder::new(PERMISSIONS_CLASS)
    }

    /// Checks the certificate of another participant: issuer, validity, revocation.
    ///
    /// # Errors
    /// [`CertificateError`] if it does not count.
    pub fn check_peer(&self, certificate: &Certificate, now: i64) -> Result<(), CertificateError> {
        // Revocation looks for serial numbers, which are unique below one authority. So the issuer comes first.
        certificate.check_identity(&self.authority, now)?;
        self.check_revocation(certificate)
    }

    /// Checks a certificate that [`Self::check_peer`] has accepted before: validity and revocation may have changed.
    ///
    /// # Errors
    /// [`CertificateError`] if it no longer counts.
    pub fn check_peer_again(&self, certificate: &Certificate, now: i64) -> Result<(), CertificateError> {
        // A verified signature stays valid, so only the clock and the lists need another look.
        self.authority.check_time(now)?;
        certificate.check_time(now)?;
        self.check_revocation(certificate)
    }

    fn check_revocation(&self, certificate: &Certificate) -> Result<(), CertificateError> {
        self.revoked.as_ref().map_or(Ok(()), |list| list.check(certificate))?;
        self.answers.as_ref().map_or(Ok(()), |answers| answers.check(certificate))
    }
}

/// Returns the GUID prefix of a certificate's subject.
///
/// Its first half follows from the subject, so no other identity can use it. The second half follows from the
/// candidate, so participants of one identity differ.
#[must_use]
pub fn adjusted_prefix(certificate: &Certificate, candidate: [u8; 12]) -> [u8; 12] {
    let half = subject_half(certificate);
    // All bytes of the candidate count, although only six of the hash remain.
    let rest = Sha256::digest(candidate);
    let mut prefix = [0; 12];
    // Peers compare this half with the certificate (DDS Security 1.1, 9.3.3).
    prefix[..6].copy_from_slice(&half);
    prefix[6..].copy_from_slice(&rest[..6]);
    prefix
}

/// The half of the GUID prefix that follows from the subject: a set bit, and 47 bits of its hash.
pub(super) fn subject_half(certificate: &Certificate) -> [u8; 6] {
    let hash = Sha256::digest(certificate.subject_der());
    let mut half = [0; 6];
    let mut high = 0x80;
    // The set bit takes the first place, so the bits of the hash move by one.
    for (place, byte) in half.iter_mut().zip(hash) {
        *place = high | byte >> 1;
        high = byte << 7;
    }
    half
}

/// Whether the class of a token is one of this plugin, in any version 1.
pub(super) fn is_class(class: &str, suffix: &str) -> bool {
    let version = class.strip_suffix(suffix).and_then(|class| class.strip_prefix("DDS:Auth:PKI-DH:1."));
    // Minor versions are compatible, so their number does not matter.
    version.is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authority(error) => write!(f, "identity authority: {error}"),
            Self::Certificate(error) => write!(f, "identity: {error}"),
            Self::Key(error) => write!(f, "private key: {error}"),
            #[cfg(feature = "pkcs11")]
            Self::Token(error) => write!(f, "private key: {error}"),
            Self::Revocation(error) => write!(f, "revoked certificates: {error}"),
        }
    }
}

impl std::error::Error for IdentityError {}
