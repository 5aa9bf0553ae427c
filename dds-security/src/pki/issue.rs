//! New certificates: authorities and identities.

use super::public_key::key_identifier;
use super::{Certificate, CertificateError, KeyError, PrivateKey, Validity};
use der::asn1::{BitString, GeneralizedTime, OctetString, UtcTime};
use der::oid::AssociatedOid;
use der::{Encode, flagset::FlagSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use x509_cert::crl::{CertificateList, RevokedCert, TbsCertList};
use x509_cert::ext::Extension;
#[cfg(test)]
use x509_cert::ext::pkix::ExtendedKeyUsage;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, BasicConstraints, KeyUsage, KeyUsages, SubjectKeyIdentifier};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Time;
use x509_cert::{TbsCertificate, Version};

/// First second of the year 2050. Later times have another form (RFC 5280, 4.1.2.5).
const YEAR_2050: u64 = 2_524_608_000;

/// A certificate authority with its private key.
///
/// ```
/// use dds_security::pki::{Issuer, PrivateKey, Validity};
///
/// let validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };
/// let authority = Issuer::generate("identity CA", validity)?;
/// let key = PrivateKey::generate()?;
/// let robot = authority.issue("robot7", &key, validity)?;
/// robot.check_identity(authority.certificate(), 1_800_000_000)?;
/// assert_eq!(robot.subject_text(), "CN=robot7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Issuer {
    certificate: Certificate,
    key: PrivateKey,
}

/// A certificate was not issued.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IssueError {
    /// The common name is empty, or has more than 64 characters.
    CommonName(String),
    /// A time of the validity is before 1970 or after 9999, or its end is before its start.
    Validity,
    /// The authority's key is faulty, or the system has no random numbers.
    Key(KeyError),
    /// The authority's certificate is faulty.
    Authority(CertificateError),
}

impl Issuer {
    /// Creates an authority with a new key and a certificate that it signs itself.
    ///
    /// # Errors
    /// [`IssueError`] if the name or validity is faulty, or the system has no random numbers.
    pub fn generate(common_name: &str, validity: Validity) -> Result<Self, IssueError> {
        Self::with_key(common_name, PrivateKey::generate().map_err(IssueError::Key)?, validity)
    }

    /// Creates an authority with a key that exists.
    ///
    /// # Errors
    /// [`IssueError`] if the name or validity is faulty, or the system has no random numbers.
    pub fn with_key(common_name: &str, key: PrivateKey, validity: Validity) -> Result<Self, IssueError> {
        Self::with_name(&name_of(common_name)?, key, validity)
    }

    /// As [`with_key`](Self::with_key), with any name.
    pub(super) fn with_name(subject: &Name, key: PrivateKey, validity: Validity) -> Result<Self, IssueError> {
        let extensions = |identifier: [u8; 20]| -> der::Result<Vec<Extension>> {
            Ok(vec![
                extension(&BasicConstraints { ca: true, path_len_constraint: Some(0) }, true)?,
                extension(&KeyUsage(KeyUsages::KeyCertSign | KeyUsages::CRLSign | KeyUsages::DigitalSignature), true)?,
                extension(&SubjectKeyIdentifier(OctetString::new(identifier)?), false)?,
            ])
        };
        let certificate = build(subject, subject, &key, &key, validity, extensions)?;
        Ok(Self { certificate, key })
    }

    /// Takes the files of an authority.
    ///
    /// # Errors
    /// [`IssueError`] if they do not belong together.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, IssueError> {
        let certificate = Certificate::from_pem(certificate).map_err(IssueError::Authority)?;
        let key = PrivateKey::from_pem(key).map_err(IssueError::Key)?;
        certificate.check_key(&key).map_err(IssueError::Authority)?;
        Ok(Self { certificate, key })
    }

    /// Issues the certificate of an identity.
    ///
    /// # Errors
    /// [`IssueError`] if the name or validity is faulty, or the system has no random numbers.
    pub fn issue(&self, common_name: &str, key: &PrivateKey, validity: Validity) -> Result<Certificate, IssueError> {
        let issuer = &self.certificate.parsed.tbs_certificate;
        let authority = key_identifier(&issuer.subject_public_key_info).map_err(malformed)?;
        let extensions = |identifier: [u8; 20]| -> der::Result<Vec<Extension>> {
            Ok(vec![
                extension(&BasicConstraints { ca: false, path_len_constraint: None }, true)?,
                extension(&KeyUsage(FlagSet::from(KeyUsages::DigitalSignature)), true)?,
                extension(&SubjectKeyIdentifier(OctetString::new(identifier)?), false)?,
                extension(
                    &AuthorityKeyIdentifier {
                        key_identifier: Some(OctetString::new(authority)?),
                        ..AuthorityKeyIdentifier::default()
                    },
                    false,
                )?,
            ])
        };
        build(&name_of(common_name)?, &issuer.subject, key, &self.key, validity, extensions)
    }

    /// Issues the certificate of a responder, whose key answers about certificates of this authority (OCSP).
    ///
    /// # Errors
    /// [`IssueError`] if the name or validity is faulty, or the system has no random numbers.
    #[cfg(test)]
    pub(super) fn issue_responder(
        &self,
        common_name: &str,
        key: &PrivateKey,
        validity: Validity,
    ) -> Result<Certificate, IssueError> {
        let issuer = &self.certificate.parsed.tbs_certificate;
        let purposes = ExtendedKeyUsage(vec![super::certificate::OCSP_SIGNING]);
        let extensions = |_| Ok(vec![extension(&purposes, true)?]);
        build(&name_of(common_name)?, &issuer.subject, key, &self.key, validity, extensions)
    }

    /// Makes a list of revoked certificates in the form PEM, for `crl.pem`. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`IssueError`] if the time is faulty.
    pub fn revoke(&self, certificates: &[Certificate], now: i64) -> Result<String, IssueError> {
        self.revoke_until(certificates, now, None)
    }

    /// As [`revoke`](Self::revoke), and says when a newer list follows, in seconds since 1970.
    ///
    /// # Errors
    /// [`IssueError`] if a time is faulty.
    pub fn revoke_until(
        &self,
        certificates: &[Certificate],
        now: i64,
        next_update: Option<i64>,
    ) -> Result<String, IssueError> {
        let this_update = time_of(now)?;
        let algorithm = self.key.public().signature_algorithm();
        let entry = |certificate: &Certificate| RevokedCert {
            serial_number: certificate.parsed.tbs_certificate.serial_number.clone(),
            revocation_date: this_update,
            crl_entry_extensions: None,
        };
        let tbs_cert_list = TbsCertList {
            version: Version::V2,
            signature: algorithm.clone(),
            issuer: self.certificate.parsed.tbs_certificate.subject.clone(),
            this_update,
            next_update: next_update.map(time_of).transpose()?,
            revoked_certificates: (!certificates.is_empty()).then(|| certificates.iter().map(entry).collect()),
            crl_extensions: None,
        };
        let signature = self.key.sign(&tbs_cert_list.to_der().map_err(malformed)?);
        let signature = BitString::from_bytes(&signature).map_err(malformed)?;
        let list = CertificateList { tbs_cert_list, signature_algorithm: algorithm, signature };
        let bytes = list.to_der().map_err(malformed)?;
        der::pem::encode_string("X509 CRL", der::pem::LineEnding::LF, &bytes)
            .map_err(|_| IssueError::Authority(CertificateError::Malformed))
    }

    /// The certificate of the authority.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    #[cfg(test)]
    pub(super) fn certificate_mut(&mut self) -> &mut Certificate {
        &mut self.certificate
    }

    /// The private key of the authority.
    #[must_use]
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }
}

/// Builds and signs a certificate.
fn build(
    subject: &Name,
    issuer: &Name,
    key: &PrivateKey,
    signer: &PrivateKey,
    validity: Validity,
    extensions: impl FnOnce([u8; 20]) -> der::Result<Vec<Extension>>,
) -> Result<Certificate, IssueError> {
    if validity.not_after < validity.not_before {
        return Err(IssueError::Validity);
    }
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(|_| IssueError::Key(KeyError::NoRandomNumbers))?;
    // A serial number is positive, and begins with a bit that is set so that its length is known.
    serial[0] = serial[0] & 0x7f | 0x40;
    let subject_public_key_info = key.public().to_spki().map_err(malformed)?;
    let extensions = extensions(key_identifier(&subject_public_key_info).map_err(malformed)?).map_err(malformed)?;
    let algorithm = signer.public().signature_algorithm();
    let tbs_certificate = TbsCertificate {
        version: Version::V3,
        serial_number: SerialNumber::new(&serial).map_err(malformed)?,
        signature: algorithm.clone(),
        issuer: issuer.clone(),
        validity: x509_cert::time::Validity {
            not_before: time_of(validity.not_before)?,
            not_after: time_of(validity.not_after)?,
        },
        subject: subject.clone(),
        subject_public_key_info,
        issuer_unique_id: None,
        subject_unique_id: None,
        extensions: Some(extensions),
    };
    let signature = signer.sign(&tbs_certificate.to_der().map_err(malformed)?);
    let certificate = x509_cert::Certificate {
        tbs_certificate,
        signature_algorithm: algorithm,
        signature: BitString::from_bytes(&signature).map_err(malformed)?,
    };
    Certificate::from_der(&certificate.to_der().map_err(malformed)?).map_err(IssueError::Authority)
}

fn malformed(_: der::Error) -> IssueError {
    IssueError::Authority(CertificateError::Malformed)
}

/// Returns a name with a common name only.
fn name_of(common_name: &str) -> Result<Name, IssueError> {
    let faulty = || IssueError::CommonName(common_name.to_owned());
    let is_plain = common_name.chars().all(|c| !c.is_control());
    if common_name.trim() != common_name || common_name.is_empty() || common_name.chars().count() > 64 || !is_plain {
        return Err(faulty());
    }
    let mut escaped = String::from("CN=");
    for c in common_name.chars() {
        if matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '#' | '=') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Name::from_str(&escaped).map_err(|_| faulty())
}

fn time_of(seconds: i64) -> Result<Time, IssueError> {
    let seconds = u64::try_from(seconds).map_err(|_| IssueError::Validity)?;
    let since_1970 = Duration::from_secs(seconds);
    if seconds < YEAR_2050 {
        return UtcTime::from_unix_duration(since_1970).map(Time::UtcTime).map_err(|_| IssueError::Validity);
    }
    GeneralizedTime::from_unix_duration(since_1970).map(Time::GeneralTime).map_err(|_| IssueError::Validity)
}

fn extension<T: AssociatedOid + Encode>(value: &T, critical: bool) -> der::Result<Extension> {
    Ok(Extension { extn_id: T::OID, critical, extn_value: OctetString::new(value.to_der()?)? })
}

impl fmt::Display for IssueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommonName(name) => {
                write!(f, "invalid name `{name}`: expected 1 to 64 characters, without spaces at its ends")
            }
            Self::Validity => {
                f.write_str("invalid validity: expected an end after its start, and before the year 10000")
            }
            Self::Key(error) => error.fmt(f),
            Self::Authority(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IssueError {}
