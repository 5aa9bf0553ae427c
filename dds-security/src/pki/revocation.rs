//! Lists of revoked certificates.

use super::bounds::is_bounded;
use super::certificate::encoded;
use super::{Certificate, CertificateError, pem};
use crate::access::SubjectName;
use der::Decode;
use x509_cert::crl::CertificateList;
use x509_cert::time::Time;

/// The certificates that an authority has revoked: all lists (CRL) of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationList {
    lists: Vec<CertificateList>,
}

impl RevocationList {
    /// Reads all lists in the form PEM (`X509 CRL`), and verifies that the authority signed each one.
    ///
    /// An old list still counts: its certificates stay revoked.
    ///
    /// # Errors
    /// [`CertificateError`] if the text has no list, or one that the authority did not sign.
    pub fn from_pem(text: &str, authority: &Certificate) -> Result<Self, CertificateError> {
        let blocks = pem::blocks(text, "X509 CRL");
        if blocks.is_empty() {
            return Err(CertificateError::Missing);
        }
        authority.check_revoker()?;
        let lists = blocks.into_iter().map(|block| read(block, authority)).collect::<Result<_, _>>()?;
        Ok(Self { lists })
    }

    /// Checks that no list has a certificate of the authority.
    ///
    /// # Errors
    /// [`CertificateError::Revoked`] if one has.
    pub fn check(&self, certificate: &Certificate) -> Result<(), CertificateError> {
        let content = &certificate.parsed.tbs_certificate;
        let issuer = SubjectName::from_x509(&content.issuer);
        let is_revoked = self.lists.iter().map(|list| &list.tbs_cert_list).any(|list| {
            let revoked = list.revoked_certificates.as_deref().unwrap_or_default();
            SubjectName::from_x509(&list.issuer).is_same_authority(&issuer)
                && revoked.iter().any(|entry| entry.serial_number == content.serial_number)
        });
        if is_revoked { Err(CertificateError::Revoked) } else { Ok(()) }
    }

    /// When the authority will have a newer list, in seconds since 1970. `None` if it does not say so.
    #[must_use]
    pub fn next_update(&self) -> Option<i64> {
        let newest = self.lists.iter().map(|list| &list.tbs_cert_list).max_by_key(|list| unix(list.this_update));
        newest?.next_update.map(unix)
    }
}

fn unix(time: Time) -> i64 {
    time.to_unix_duration().as_secs().try_into().unwrap_or(i64::MAX)
}

/// Reads one list and verifies it.
fn read(block: &str, authority: &Certificate) -> Result<CertificateList, CertificateError> {
    let bytes = pem::decode(block).ok_or(CertificateError::Malformed)?;
    if !is_bounded(&bytes) {
        return Err(CertificateError::Malformed);
    }
    let list = CertificateList::from_der(&bytes).map_err(|_| CertificateError::Malformed)?;
    let content = &list.tbs_cert_list;
    if !authority.has_name(&content.issuer) {
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
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::super::{Issuer, PrivateKey, Validity};
    use super::*;

    const VALIDITY: Validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };

    /// Returns a list that revokes one certificate.
    fn list(issuer: &Issuer, revoked: &Certificate) -> String {
        issuer.revoke(std::slice::from_ref(revoked), VALIDITY.not_before).unwrap()
    }

    #[test]
    fn every_list_of_a_file_counts() {
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let key = PrivateKey::generate().unwrap();
        let [one, other, third] = ["one", "other", "third"].map(|name| authority.issue(name, &key, VALIDITY).unwrap());
        let text = [list(&authority, &one), list(&authority, &other)].concat();
        let lists = RevocationList::from_pem(&text, authority.certificate()).unwrap();
        assert_eq!(lists.check(&one), Err(CertificateError::Revoked));
        assert_eq!(lists.check(&other), Err(CertificateError::Revoked));
        assert_eq!(lists.check(&third), Ok(()));
        let foreign = Issuer::generate("identity CA", VALIDITY).unwrap();
        let text = [list(&authority, &one), list(&foreign, &other)].concat();
        let result = RevocationList::from_pem(&text, authority.certificate());
        assert_eq!(result, Err(CertificateError::Signature));
    }

    #[test]
    fn newest_list_tells_the_next_update() {
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let from = VALIDITY.not_before;
        let lists = [(from, None), (from + 10, Some(from + 20)), (from + 5, Some(from + 90))]
            .map(|(now, next)| authority.revoke_until(&[], now, next).unwrap());
        let next = |text: &str| RevocationList::from_pem(text, authority.certificate()).unwrap().next_update();
        assert_eq!((next(&lists[0]), next(&lists.concat())), (None, Some(from + 20)));
    }

    #[test]
    fn authority_must_be_allowed_to_revoke() {
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let key = PrivateKey::generate().unwrap();
        // The certificate of an identity has a keyUsage without cRLSign.
        let identity = authority.issue("one", &key, VALIDITY).unwrap();
        let issuer = Issuer::from_pem(&identity.to_pem(), &key.to_pem()).unwrap();
        let result = RevocationList::from_pem(&list(&issuer, &identity), &identity);
        assert_eq!(result, Err(CertificateError::NoRevoker));
    }
}
