//! Lists of revoked certificates.

use super::certificate::encoded;
use super::{Certificate, CertificateError, pem};
use der::Decode;
use x509_cert::crl::CertificateList;

/// A list of certificates that an authority has revoked (CRL).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationList {
    list: CertificateList,
}

impl RevocationList {
    /// Reads a list in the form PEM (`X509 CRL`), and verifies that the authority signed it.
    ///
    /// An old list still counts: its certificates stay revoked.
    ///
    /// # Errors
    /// [`CertificateError`] if the text has no list, or the authority did not sign it.
    pub fn from_pem(text: &str, authority: &Certificate) -> Result<Self, CertificateError> {
        let block = *pem::blocks(text, "X509 CRL").first().ok_or(CertificateError::Missing)?;
        let bytes = pem::decode(block).ok_or(CertificateError::Malformed)?;
        let list = CertificateList::from_der(&bytes).map_err(|_| CertificateError::Malformed)?;
        let content = &list.tbs_cert_list;
        if content.issuer != authority.parsed.tbs_certificate.subject {
            return Err(CertificateError::OtherIssuer {
                issuer: content.issuer.to_string(),
                authority: authority.subject_text(),
            });
        }
        let signature = list.signature.as_bytes().ok_or(CertificateError::Malformed)?;
        if content.signature != list.signature_algorithm
            || !authority.public_key().verifies(&list.signature_algorithm, &encoded(content), signature)
        {
            return Err(CertificateError::Signature);
        }
        // A list of changes, or one for some certificates only, would look complete.
        let extensions = content.crl_extensions.as_deref().unwrap_or_default();
        if let Some(unknown) = extensions.iter().find(|extension| extension.critical) {
            return Err(CertificateError::Extension(unknown.extn_id.to_string()));
        }
        Ok(Self { list })
    }

    /// Checks that the list does not have a certificate of its authority.
    ///
    /// # Errors
    /// [`CertificateError::Revoked`] if it has.
    pub fn check(&self, certificate: &Certificate) -> Result<(), CertificateError> {
        let serial = &certificate.parsed.tbs_certificate.serial_number;
        let revoked = self.list.tbs_cert_list.revoked_certificates.as_deref().unwrap_or_default();
        let is_revoked = certificate.parsed.tbs_certificate.issuer == self.list.tbs_cert_list.issuer
            && revoked.iter().any(|entry| entry.serial_number == *serial);
        if is_revoked { Err(CertificateError::Revoked) } else { Ok(()) }
    }
}
