//! A certificate, and whether a certificate authority issued it.

use super::bounds::is_bounded;
use super::legible::legible;
use super::{PrivateKey, PublicKey, pem};
use crate::access::SubjectName;
use der::asn1::ObjectIdentifier;
use der::oid::AssociatedOid;
use der::{Decode, Encode};
use std::fmt;
use x509_cert::Version;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints};
use x509_cert::name::Name;

/// Extensions that this crate knows. An unknown critical one refuses its certificate (RFC 5280, 4.2).
const KNOWN: [ObjectIdentifier; 4] = [
    BasicConstraints::OID,
    KeyUsage::OID,
    // Key identifiers only help to find the issuer.
    ObjectIdentifier::new_unwrap("2.5.29.14"),
    ObjectIdentifier::new_unwrap("2.5.29.35"),
];

/// Purpose of a certificate whose key answers about others (RFC 6960, 4.2.2.2).
pub(super) const OCSP_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.9");

/// Most bytes of a certificate in a token. Certificates of identities have about one kilobyte.
#[cfg(feature = "authentication")]
const PEER_LEN_MAX: usize = 8 << 10;

/// A period, in seconds since 1970. Both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// First second.
    pub not_before: i64,
    /// Last second.
    pub not_after: i64,
}

/// A certificate of an identity or a certificate authority.
///
/// Its key is EC P-256 or P-384, or RSA with 2048 to 4096 bits.
#[derive(Clone)]
pub struct Certificate {
    pub(super) parsed: x509_cert::Certificate,
    subject: SubjectName,
    key: PublicKey,
}

/// A certificate is faulty, or does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file has no certificate in the form PEM.
    Missing,
    /// The bytes are no certificate.
    Malformed,
    /// It has more bytes than a participant may send.
    TooLong,
    /// Its key is not EC P-256, EC P-384 or RSA with 2048 to 4096 bits.
    KeyAlgorithm,
    /// Another authority issued it. The names are those of its issuer and of the authority.
    OtherIssuer {
        /// The issuer that the certificate names.
        issuer: String,
        /// The subject of the authority.
        authority: String,
    },
    /// The authority did not sign it: another one has the same name, or the certificate was changed.
    Signature,
    /// The certificate that should be the authority's may not issue others.
    NoAuthority,
    /// The certificate of the authority may not sign lists of revoked certificates.
    NoRevoker,
    /// The certificate may not sign, so it is no identity.
    NoIdentity,
    /// It has a critical extension that is unknown here. The text is its object identifier.
    Extension(String),
    /// Its validity has not begun. The number is its first second since 1970.
    NotYetValid(i64),
    /// Its validity has ended. The number is its last second since 1970.
    Expired(i64),
    /// A list of the authority revokes it.
    Revoked,
    /// The private key belongs to another certificate.
    OtherKey,
    /// The file has no OCSP response in DER, or a malformed one.
    OcspMalformed,
    /// The OCSP responder has refused to answer.
    OcspRefused,
    /// Neither the authority nor a responder of it has signed the OCSP response.
    OcspSignature,
    /// The authority does not know the certificate, as its OCSP response says.
    OcspUnknown,
}

impl Certificate {
    /// Reads the first certificate of a text.
    ///
    /// # Errors
    /// [`CertificateError`] if it has none, or one with an unsupported key.
    pub fn from_pem(text: &str) -> Result<Self, CertificateError> {
        // Tools append the certificates of authorities, so only the first one counts.
        let block = *pem::blocks(text, "CERTIFICATE").first().ok_or(CertificateError::Missing)?;
        Self::from_der(&pem::decode(block).ok_or(CertificateError::Malformed)?)
    }

    /// Reads the first certificate of a text from another participant, which may send any bytes.
    #[cfg(feature = "authentication")]
    pub(crate) fn from_peer(text: &str) -> Result<Self, CertificateError> {
        let block = *pem::blocks(text, "CERTIFICATE").first().ok_or(CertificateError::Missing)?;
        let bytes = pem::decode(block).ok_or(CertificateError::Malformed)?;
        // Anyone can send a certificate, and parsing costs time before a signature is verified.
        if bytes.len() > PEER_LEN_MAX {
            return Err(CertificateError::TooLong);
        }
        Self::from_der(&bytes)
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// [`CertificateError`] if it is malformed or has an unsupported key.
    pub fn from_der(bytes: &[u8]) -> Result<Self, CertificateError> {
        // The decoder recurses, and sorts sets in quadratic time.
        if !is_bounded(bytes) {
            return Err(CertificateError::Malformed);
        }
        let parsed = x509_cert::Certificate::from_der(bytes).map_err(|_| CertificateError::Malformed)?;
        let key = PublicKey::from_spki(&parsed.tbs_certificate.subject_public_key_info)
            .ok_or(CertificateError::KeyAlgorithm)?;
        let subject = SubjectName::from_x509(&parsed.tbs_certificate.subject);
        Ok(Self { parsed, subject, key })
    }

    /// The name of the subject.
    #[must_use]
    pub fn subject(&self) -> &SubjectName {
        &self.subject
    }

    /// The name of the subject, as it stands in the certificate.
    #[must_use]
    pub fn subject_der(&self) -> Vec<u8> {
        encoded(&self.parsed.tbs_certificate.subject)
    }

    /// The name in the spelling of RFC 4514, as tokens and permissions have it.
    #[must_use]
    pub fn subject_text(&self) -> String {
        self.parsed.tbs_certificate.subject.to_string()
    }

    /// The period in which the certificate counts.
    #[must_use]
    pub fn validity(&self) -> Validity {
        // X.509 has no year after 9999, so the fallback is never used.
        let seconds = |time: x509_cert::time::Time| time.to_unix_duration().as_secs().try_into().unwrap_or(i64::MAX);
        let validity = self.parsed.tbs_certificate.validity;
        Validity { not_before: seconds(validity.not_before), not_after: seconds(validity.not_after) }
    }

    /// The algorithm of the key, as tokens name it: `EC-prime256v1`, `EC-secp384r1` or `RSA-2048`.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        self.key.algorithm()
    }

    /// The bits of the key: 256 or 384 of EC, or those of an RSA modulus.
    #[must_use]
    pub fn key_bits(&self) -> usize {
        self.key.bits()
    }

    /// The text form.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode::<x509_cert::Certificate>(&encoded(&self.parsed))
    }

    /// Checks that an authority issued this certificate for an identity, and that it counts at a time.
    ///
    /// The authority must be the direct issuer.
    ///
    /// # Errors
    /// [`CertificateError`] if that is not so.
    pub fn check_identity(&self, authority: &Self, now: i64) -> Result<(), CertificateError> {
        // The validity of the authority may have ended since the start of this participant.
        authority.check_authority(now)?;
        self.check_issued(authority, now)?;
        self.check_extensions(&[])
    }

    /// Checks that an authority issued this certificate for a responder, whose key answers about others.
    pub(super) fn check_responder(&self, authority: &Self, now: i64) -> Result<(), CertificateError> {
        self.check_issued(authority, now)?;
        self.check_extensions(&[ExtendedKeyUsage::OID])?;
        // Without this purpose, each identity of the authority could revoke others, or deny its own revocation.
        let purposes = self.extension::<ExtendedKeyUsage>()?;
        let answers = purposes.is_some_and(|purposes| purposes.0.contains(&OCSP_SIGNING));
        if answers { Ok(()) } else { Err(CertificateError::OcspSignature) }
    }

    /// Checks issuer, signature, purpose and validity, for a key that signs.
    fn check_issued(&self, authority: &Self, now: i64) -> Result<(), CertificateError> {
        let content = &self.parsed.tbs_certificate;
        if !authority.has_name(&content.issuer) {
            return Err(CertificateError::OtherIssuer {
                // Nothing has proved this text yet.
                issuer: legible(&content.issuer.to_string()),
                authority: authority.subject_text(),
            });
        }
        // The signature comes before the details: until then an attacker has chosen them.
        self.check_signature(authority)?;
        // A certificate without the extension does not restrict its key.
        let usage = self.extension::<KeyUsage>()?;
        if usage.is_some_and(|usage| !usage.digital_signature()) {
            return Err(CertificateError::NoIdentity);
        }
        self.check_time(now)
    }

    /// Whether a name is that of this authority. Tools encode one name in several ways, so its text decides.
    pub(super) fn has_name(&self, name: &Name) -> bool {
        self.subject.is_same_authority(&SubjectName::from_x509(name))
    }

    /// Checks that this certificate may issue others at a time.
    ///
    /// # Errors
    /// [`CertificateError`] if that is not so.
    pub fn check_authority(&self, now: i64) -> Result<(), CertificateError> {
        self.check_extensions(&[])?;
        let constraints = self.extension::<BasicConstraints>()?;
        // Certificates of version 1 have no extensions. The user has chosen them as authorities.
        let is_old = self.parsed.tbs_certificate.version != Version::V3;
        if constraints.map_or(!is_old, |constraints| !constraints.ca) {
            return Err(CertificateError::NoAuthority);
        }
        // An ordinary certificate must not issue identities, even if the user names it as authority.
        if self.extension::<KeyUsage>()?.is_some_and(|usage| !usage.key_cert_sign()) {
            return Err(CertificateError::NoAuthority);
        }
        // A name constraint may exclude any identity, and a root of a domain needs none.
        if self.extension::<NameConstraints>()?.is_some() {
            return Err(CertificateError::Extension(NameConstraints::OID.to_string()));
        }
        self.check_time(now)
    }

    /// Checks that this certificate may sign lists of revoked ones.
    pub(super) fn check_revoker(&self) -> Result<(), CertificateError> {
        let usage = self.extension::<KeyUsage>()?;
        if usage.is_some_and(|usage| !usage.crl_sign()) { Err(CertificateError::NoRevoker) } else { Ok(()) }
    }

    /// Checks that a private key belongs to this certificate.
    ///
    /// # Errors
    /// [`CertificateError::OtherKey`] if it does not.
    pub fn check_key(&self, key: &PrivateKey) -> Result<(), CertificateError> {
        // Public keys are no secret, so the comparison need not take constant time.
        if self.key == key.public() { Ok(()) } else { Err(CertificateError::OtherKey) }
    }

    pub(crate) fn public_key(&self) -> &PublicKey {
        &self.key
    }

    fn check_signature(&self, authority: &Self) -> Result<(), CertificateError> {
        let parsed = &self.parsed;
        // The outer algorithm is not signed, so it must repeat the inner one (RFC 5280, 4.1.1.2).
        if parsed.signature_algorithm != parsed.tbs_certificate.signature {
            return Err(CertificateError::Signature);
        }
        let signature = parsed.signature.as_bytes().ok_or(CertificateError::Malformed)?;
        // If the bytes were no strict DER, the new encoding differs and the check fails, which is safe.
        let is_signed =
            authority.key.verifies(&parsed.signature_algorithm, &encoded(&parsed.tbs_certificate), signature);
        if is_signed { Ok(()) } else { Err(CertificateError::Signature) }
    }

    pub(crate) fn check_time(&self, now: i64) -> Result<(), CertificateError> {
        let validity = self.validity();
        if now < validity.not_before {
            return Err(CertificateError::NotYetValid(validity.not_before));
        }
        if now > validity.not_after {
            return Err(CertificateError::Expired(validity.not_after));
        }
        Ok(())
    }

    /// Refuses critical extensions, unless they are known or among `allowed`.
    fn check_extensions(&self, allowed: &[ObjectIdentifier]) -> Result<(), CertificateError> {
        let extensions = self.parsed.tbs_certificate.extensions.as_deref().unwrap_or_default();
        // A critical extension may restrict the certificate, so RFC 5280, 4.2 forbids to ignore it.
        match extensions.iter().find(|extension| {
            extension.critical && !KNOWN.contains(&extension.extn_id) && !allowed.contains(&extension.extn_id)
        }) {
            Some(unknown) => Err(CertificateError::Extension(unknown.extn_id.to_string())),
            None => Ok(()),
        }
    }

    fn extension<T: AssociatedOid + for<'a> Decode<'a>>(&self) -> Result<Option<T>, CertificateError> {
        let extensions = self.parsed.tbs_certificate.extensions.as_deref().unwrap_or_default();
        let mut found = extensions.iter().filter(|extension| extension.extn_id == T::OID);
        let Some(first) = found.next() else { return Ok(None) };
        // Two extensions of one kind could contradict each other.
        if found.next().is_some() {
            return Err(CertificateError::Malformed);
        }
        let bytes = first.extn_value.as_bytes();
        if !is_bounded(bytes) {
            return Err(CertificateError::Malformed);
        }
        T::from_der(bytes).map(Some).map_err(|_| CertificateError::Malformed)
    }
}

/// Encodes a part of a certificate. It was decoded before, or consists of checked parts.
pub(super) fn encoded(part: &impl Encode) -> Vec<u8> {
    part.to_der().expect("a decoded part of a certificate can be encoded")
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("subject", &self.subject_text())
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.parsed == other.parsed
    }
}

impl Eq for Certificate {}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => {
                f.write_str("the file has no certificate: expected a line `-----BEGIN CERTIFICATE-----`")
            }
            Self::Malformed => f.write_str("the certificate is malformed: copy the file again"),
            Self::TooLong => f.write_str("the certificate has more than 8 KiB: issue one with fewer extensions"),
            Self::KeyAlgorithm => f.write_str(
                "the key of the certificate is not supported: expected EC P-256, EC P-384 or RSA with 2048 to 4096 bits",
            ),
            Self::OtherIssuer { issuer, authority } => write!(
                f,
                "`{issuer}` issued the certificate, but the authority is `{authority}`: use a certificate of that authority"
            ),
            Self::Signature => f.write_str(
                "the authority did not sign the certificate: another authority has the same name, or the file was changed",
            ),
            Self::NoAuthority => f.write_str(
                "the certificate of the authority may not issue others: expected basicConstraints CA:TRUE and keyCertSign",
            ),
            Self::NoRevoker => f.write_str(
                "the authority may not revoke certificates: issue its certificate with keyUsage cRLSign",
            ),
            Self::NoIdentity => f.write_str(
                "the certificate may not sign: issue it with keyUsage digitalSignature, or without keyUsage",
            ),
            Self::Extension(oid) => write!(f, "the certificate needs extension {oid}, which is not supported"),
            Self::NotYetValid(_) => {
                f.write_str("the validity of the certificate has not begun: compare the clock of this host")
            }
            Self::Expired(_) => f.write_str("the validity of the certificate has ended: issue a new one"),
            Self::Revoked => f.write_str("the authority has revoked the certificate: issue a new one"),
            Self::OcspMalformed => f.write_str("the file has no OCSP response: expected one in DER, as of `openssl ocsp -respout`"),
            Self::OcspRefused => f.write_str("the OCSP responder has refused to answer: ask it again"),
            Self::OcspSignature => f.write_str(
                "neither the authority nor a responder of it has signed the OCSP response: ask the authority's responder",
            ),
            Self::OcspUnknown => f.write_str("the OCSP responder does not know the certificate: issue a new one"),
            Self::OtherKey => {
                f.write_str("the private key belongs to another certificate: copy both files of one identity")
            }
        }
    }
}

impl std::error::Error for CertificateError {}

#[cfg(test)]
mod tests {
    use super::super::{Issuer, RevocationList, sign_document, verify_document};
    use super::*;
    use der::asn1::{Any, PrintableStringRef, SetOfVec};
    use x509_cert::attr::AttributeTypeAndValue;
    use x509_cert::name::{RdnSequence, RelativeDistinguishedName};

    const VALIDITY: Validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };
    const NOW: i64 = 1_800_000_000;

    /// A common name as a PrintableString. This crate writes UTF8String.
    fn printable(common_name: &str) -> Name {
        let oid = ObjectIdentifier::new_unwrap("2.5.4.3");
        let value = Any::encode_from(&PrintableStringRef::new(common_name).unwrap()).unwrap();
        let attributes = SetOfVec::try_from(vec![AttributeTypeAndValue { oid, value }]).unwrap();
        RdnSequence(vec![RelativeDistinguishedName(attributes)])
    }

    /// One tool writes the certificate of an authority, and another one those that it signs.
    #[test]
    fn encoding_of_the_name_of_an_authority_does_not_matter() {
        let key = PrivateKey::generate().unwrap();
        let authority = Issuer::with_key("Identity CA", key.clone(), VALIDITY).unwrap();
        let authority = authority.certificate();
        for name in ["Identity CA", "identity  ca"] {
            let issuer = Issuer::with_name(&printable(name), key.clone(), VALIDITY).unwrap();
            assert_ne!(issuer.certificate().subject_der(), authority.subject_der());
            let identity = issuer.issue("robot", &key, VALIDITY).unwrap();
            assert_eq!(identity.check_identity(authority, NOW), Ok(()), "{name}");
            let list = issuer.revoke(std::slice::from_ref(&identity), VALIDITY.not_before).unwrap();
            for known in [authority, issuer.certificate()] {
                let list = RevocationList::from_pem(&list, known).unwrap();
                assert_eq!(list.check(&identity), Err(CertificateError::Revoked), "{name}");
            }
        }
        let other = Issuer::with_name(&printable("other CA"), key.clone(), VALIDITY).unwrap();
        let identity = other.issue("robot", &key, VALIDITY).unwrap();
        let refused = identity.check_identity(authority, NOW);
        assert!(matches!(refused, Err(CertificateError::OtherIssuer { .. })), "{refused:?}");
        let list = other.revoke(std::slice::from_ref(&identity), VALIDITY.not_before).unwrap();
        let refused = RevocationList::from_pem(&list, authority);
        assert!(matches!(refused, Err(CertificateError::OtherIssuer { .. })), "{refused:?}");
    }

    /// The signature of a document names the issuer and the number of the authority's certificate.
    #[test]
    fn encoding_of_the_name_of_a_signer_does_not_matter() {
        let key = PrivateKey::generate().unwrap();
        let mut signer = Issuer::with_key("Permissions CA", key, VALIDITY).unwrap();
        let authority = signer.certificate().clone();
        signer.certificate_mut().parsed.tbs_certificate.issuer = printable("Permissions CA");
        let file = sign_document("<dds></dds>\n", &signer).unwrap();
        assert_eq!(verify_document(&file, &authority).as_deref(), Ok("<dds></dds>\r\n"));
    }
}
