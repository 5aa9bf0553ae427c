//! Answers of a certificate authority about its certificates (OCSP, RFC 6960), as files.

use super::bounds::{is_bounded, split_value};
use super::certificate::encoded;
use super::public_key::Hash;
use super::{Certificate, CertificateError, PublicKey};
use der::Decode;
use der::asn1::{GeneralizedTime, OctetString};
use der::oid::{AssociatedOid, ObjectIdentifier};
use sha1::{Digest, Sha1};
use x509_cert::ext::Extension;
use x509_cert::serial_number::SerialNumber;
use x509_ocsp::{BasicOcspResponse, CertId, CertStatus, OcspResponse, OcspResponseStatus, SingleResponse};

/// Most certificates of responders in one response. Each costs an operation with a public key.
const RESPONDERS_MAX: usize = 4;

/// Seconds by which the clocks of a responder and of this host may differ.
const CLOCKS_DIFFER: i64 = 300;

/// Extensions that change nothing about an answer: the nonce of a request, which a file has none of.
const NONCE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.2");

/// The hash by which most responders name an authority. Nothing depends on its strength: the answers are signed.
const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");

/// The answers of an authority about its certificates: all responses of a file.
///
/// Any tool may have asked the responder, for example `openssl ocsp -respout ocsp.der`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcspResponses {
    answers: Vec<SingleResponse>,
}

impl OcspResponses {
    /// Reads responses in DER, one behind the other. Verifies that the authority has signed each one, or a responder
    /// whose certificate it has issued (RFC 6960, 4.2.2.2). Answers about certificates of other authorities are left
    /// out. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`CertificateError`] if the file has no response, or one that does not count.
    pub fn from_der(mut bytes: &[u8], authority: &Certificate, now: i64) -> Result<Self, CertificateError> {
        let mut answers = Vec::new();
        while !bytes.is_empty() {
            let (_, _, rest) = split_value(bytes).ok_or(CertificateError::OcspMalformed)?;
            let (response, _) = bytes.split_at(bytes.len() - rest.len());
            debug_assert!(rest.len() < bytes.len(), "each value has a tag and a length");
            answers.extend(read(response, authority, now)?);
            bytes = rest;
        }
        if answers.is_empty() { Err(CertificateError::OcspMalformed) } else { Ok(Self { answers }) }
    }

    /// Checks that the newest answer about a certificate of the authority is good. One without an answer passes.
    ///
    /// An old answer still counts: a revoked certificate stays so.
    ///
    /// # Errors
    /// [`CertificateError::Revoked`], or [`CertificateError::OcspUnknown`] if the authority does not know it.
    pub fn check(&self, certificate: &Certificate) -> Result<(), CertificateError> {
        match self.newest(certificate).map(|answer| answer.cert_status) {
            // Responses are optional, so a certificate without one counts.
            None | Some(CertStatus::Good(_)) => Ok(()),
            Some(CertStatus::Revoked(_)) => Err(CertificateError::Revoked),
            Some(CertStatus::Unknown(_)) => Err(CertificateError::OcspUnknown),
        }
    }

    /// When the authority will have a newer answer about a certificate, in seconds since 1970. `None` if it does not
    /// say so.
    #[must_use]
    pub fn next_update(&self, certificate: &Certificate) -> Option<i64> {
        self.newest(certificate)?.next_update.map(|time| unix(time.0))
    }

    /// When the authority will have a newer answer about any of the certificates, in seconds since 1970.
    #[must_use]
    pub fn first_update(&self) -> Option<i64> {
        let numbers = self.answers.iter().map(|answer| &answer.cert_id.serial_number);
        numbers.filter_map(|number| Some(unix(self.newest_about(number)?.next_update?.0))).min()
    }

    fn newest(&self, certificate: &Certificate) -> Option<&SingleResponse> {
        // The answers are about certificates of the authority, and the caller checks that it has issued this one. So
        // the number names it.
        self.newest_about(&certificate.parsed.tbs_certificate.serial_number)
    }

    fn newest_about(&self, number: &SerialNumber) -> Option<&SingleResponse> {
        let about = self.answers.iter().filter(|answer| answer.cert_id.serial_number == *number);
        about.max_by_key(|answer| unix(answer.this_update.0))
    }
}

fn unix(time: GeneralizedTime) -> i64 {
    time.to_unix_duration().as_secs().try_into().unwrap_or(i64::MAX)
}

/// Reads one response and verifies it.
fn read(bytes: &[u8], authority: &Certificate, now: i64) -> Result<Vec<SingleResponse>, CertificateError> {
    let malformed = |_| CertificateError::OcspMalformed;
    if !is_bounded(bytes) {
        return Err(CertificateError::OcspMalformed);
    }
    let response = OcspResponse::from_der(bytes).map_err(malformed)?;
    let content = match response.response_bytes {
        Some(content) if response.response_status == OcspResponseStatus::Successful => content,
        _ => return Err(CertificateError::OcspRefused),
    };
    let basic: &OctetString = &content.response;
    if content.response_type != BasicOcspResponse::OID || !is_bounded(basic.as_bytes()) {
        return Err(CertificateError::OcspMalformed);
    }
    let basic = BasicOcspResponse::from_der(basic.as_bytes()).map_err(malformed)?;
    // An old answer counts for longer than the certificate of its responder.
    let produced = unix(basic.tbs_response_data.produced_at.0);
    if produced > now.saturating_add(CLOCKS_DIFFER) || !is_signed(&basic, authority, produced) {
        return Err(CertificateError::OcspSignature);
    }
    let content = basic.tbs_response_data;
    let of_answers = content.responses.iter().flat_map(|answer| answer.single_extensions.iter().flatten());
    let mut extensions = content.response_extensions.iter().flatten().chain(of_answers);
    let is_unknown = |extension: &&Extension| extension.critical && extension.extn_id != NONCE;
    match extensions.find(is_unknown) {
        Some(unknown) => Err(CertificateError::Extension(unknown.extn_id.to_string())),
        None => Ok(content.responses.into_iter().filter(|answer| is_issuer(authority, &answer.cert_id)).collect()),
    }
}

/// Whether an authority may have issued the certificates that an answer is about (RFC 6960, 4.1.1).
///
/// Its key decides, because a name has several encodings. An answer with an unknown hash counts: otherwise a revoked
/// certificate would pass.
fn is_issuer(authority: &Certificate, about: &CertId) -> bool {
    let content = &authority.parsed.tbs_certificate;
    let key = content.subject_public_key_info.subject_public_key.as_bytes().unwrap_or_default();
    let hash = match about.hash_algorithm.oid {
        SHA1 => Sha1::digest(key).to_vec(),
        other => match Hash::from_oid(other) {
            Some(hash) => hash.of(key),
            None => return true,
        },
    };
    hash == about.issuer_key_hash.as_bytes()
}

/// Whether the authority has signed a response, or a responder of it that was valid then.
fn is_signed(basic: &BasicOcspResponse, authority: &Certificate, produced: i64) -> bool {
    let content = encoded(&basic.tbs_response_data);
    let Some(signature) = basic.signature.as_bytes() else { return false };
    let is_by = |key: &PublicKey| key.verifies(&basic.signature_algorithm, &content, signature);
    if is_by(authority.public_key()) {
        return true;
    }
    // Each certificate costs an operation, and the file decides about their number.
    let certificates = basic.certs.iter().flatten().take(RESPONDERS_MAX);
    let mut responders = certificates.filter_map(|certificate| Certificate::from_der(&encoded(certificate)).ok());
    responders.any(|responder| responder.check_responder(authority, produced).is_ok() && is_by(responder.public_key()))
}

#[cfg(test)]
mod tests {
    use super::super::{Issuer, PrivateKey, Validity};
    use super::*;
    use der::Encode;
    use der::asn1::{BitString, Null};
    use std::time::Duration;
    use x509_cert::spki::AlgorithmIdentifierOwned;
    use x509_ocsp::{OcspGeneralizedTime, ResponderId, ResponseData, RevokedInfo, Version};

    const VALIDITY: Validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };
    const NOW: i64 = 1_800_000_000;
    const GOOD: CertStatus = CertStatus::Good(Null);
    const UNKNOWN: CertStatus = CertStatus::Unknown(Null);

    fn time(unix: i64) -> OcspGeneralizedTime {
        OcspGeneralizedTime(GeneralizedTime::from_unix_duration(Duration::from_secs(unix as u64)).unwrap())
    }

    fn revoked() -> CertStatus {
        CertStatus::Revoked(RevokedInfo { revocation_time: time(NOW), revocation_reason: None })
    }

    fn algorithm(oid: ObjectIdentifier) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned { oid, parameters: None }
    }

    /// An answer about a certificate of an authority, with the time at which it is made.
    fn answer(authority: &Issuer, about: &Certificate, cert_status: CertStatus, made: i64) -> SingleResponse {
        let issuer = &authority.certificate().parsed.tbs_certificate;
        let hash = |bytes: &[u8]| OctetString::new(Sha1::digest(bytes).to_vec()).unwrap();
        let cert_id = CertId {
            hash_algorithm: algorithm(SHA1),
            issuer_name_hash: hash(&issuer.subject.to_der().unwrap()),
            issuer_key_hash: hash(issuer.subject_public_key_info.subject_public_key.as_bytes().unwrap()),
            serial_number: about.parsed.tbs_certificate.serial_number.clone(),
        };
        let (this_update, next_update) = (time(made), Some(time(made + 100)));
        SingleResponse { cert_id, cert_status, this_update, next_update, single_extensions: None }
    }

    fn response(signer: &PrivateKey, certs: Option<&Certificate>, responses: Vec<SingleResponse>) -> Vec<u8> {
        let tbs_response_data = ResponseData {
            version: Version::V1,
            responder_id: ResponderId::ByKey(OctetString::new([7; 20]).unwrap()),
            produced_at: time(NOW),
            responses,
            response_extensions: None,
        };
        let signature = BitString::from_bytes(&signer.sign(&tbs_response_data.to_der().unwrap())).unwrap();
        let certs = certs.map(|certificate| vec![certificate.parsed.clone()]);
        let signature_algorithm = signer.public().signature_algorithm();
        let basic = BasicOcspResponse { tbs_response_data, signature_algorithm, signature, certs };
        OcspResponse::successful(basic).unwrap().to_der().unwrap()
    }

    fn fleet() -> (Issuer, PrivateKey, [Certificate; 3]) {
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let key = PrivateKey::generate().unwrap();
        let certificates = ["one", "other", "third"].map(|name| authority.issue(name, &key, VALIDITY).unwrap());
        (authority, key, certificates)
    }

    #[test]
    fn newest_answer_of_all_responses_counts() {
        let (authority, _, [one, other, third]) = fleet();
        let first = response(
            authority.key(),
            None,
            vec![answer(&authority, &one, revoked(), NOW), answer(&authority, &other, GOOD, NOW)],
        );
        let read = |bytes: &[u8]| OcspResponses::from_der(bytes, authority.certificate(), NOW).unwrap();
        let of_first = read(&first);
        let check = |responses: &OcspResponses| [&one, &other, &third].map(|certificate| responses.check(certificate));
        assert_eq!(check(&of_first), [Err(CertificateError::Revoked), Ok(()), Ok(())]);
        assert_eq!((of_first.next_update(&other), of_first.next_update(&third)), (Some(NOW + 100), None));
        let answers = vec![answer(&authority, &one, GOOD, NOW - 5), answer(&authority, &other, UNKNOWN, NOW + 5)];
        let second = response(authority.key(), None, answers);
        for both in [[first.clone(), second.clone()].concat(), [second, first].concat()] {
            let unknown = Err(CertificateError::OcspUnknown);
            assert_eq!(check(&read(&both)), [Err(CertificateError::Revoked), unknown, Ok(())]);
            assert_eq!(read(&both).first_update(), Some(NOW + 100), "the older answers do not count");
        }
    }

    /// Two authorities may give the same number, and one responder may answer for both.
    #[test]
    fn answers_about_certificates_of_another_authority_are_left_out() {
        let (authority, _, [one, other, third]) = fleet();
        let (same_name, other_name) =
            (Issuer::generate("identity CA", VALIDITY).unwrap(), Issuer::generate("other CA", VALIDITY).unwrap());
        let mut of_other_key = answer(&authority, &one, revoked(), NOW);
        of_other_key.cert_id.issuer_key_hash = answer(&other_name, &one, GOOD, NOW).cert_id.issuer_key_hash;
        // It counts, because it may be about this authority.
        let mut of_unknown_hash = answer(&authority, &third, revoked(), NOW);
        of_unknown_hash.cert_id.hash_algorithm = authority.key().public().signature_algorithm();
        let of_others = [&same_name, &other_name].map(|issuer| answer(issuer, &one, revoked(), NOW));
        let mut by_sha256 = answer(&authority, &other, revoked(), NOW);
        let issuer = &authority.certificate().parsed.tbs_certificate;
        let hash = |bytes: &[u8]| OctetString::new(Hash::Sha256.of(bytes)).unwrap();
        by_sha256.cert_id.hash_algorithm = algorithm(Hash::Sha256.oid());
        by_sha256.cert_id.issuer_name_hash = hash(&issuer.subject.to_der().unwrap());
        by_sha256.cert_id.issuer_key_hash = hash(issuer.subject_public_key_info.subject_public_key.as_bytes().unwrap());
        let answers = [vec![of_other_key, of_unknown_hash, by_sha256], of_others.to_vec()].concat();
        let read =
            |answers| OcspResponses::from_der(&response(authority.key(), None, answers), authority.certificate(), NOW);
        let responses = read(answers).unwrap();
        assert_eq!((responses.check(&one), responses.check(&other)), (Ok(()), Err(CertificateError::Revoked)));
        assert_eq!(responses.check(&third), Err(CertificateError::Revoked));
        // A file without any answer about the authority is not the right one.
        assert_eq!(read(vec![answer(&other_name, &one, GOOD, NOW)]), Err(CertificateError::OcspMalformed));
    }

    #[test]
    fn only_the_authority_and_its_responders_answer() {
        let (authority, key, [one, ..]) = fleet();
        let read = |bytes: &[u8]| OcspResponses::from_der(bytes, authority.certificate(), NOW).map(|_| ());
        let answers = || vec![answer(&authority, &one, GOOD, NOW)];
        let responder = authority.issue_responder("responder", &key, VALIDITY).unwrap();
        assert_eq!(read(&response(&key, Some(&responder), answers())), Ok(()));
        // An identity is no responder, and another authority has no say.
        let foreign = Issuer::generate("identity CA", VALIDITY).unwrap();
        let of_foreign = foreign.issue_responder("responder", &key, VALIDITY).unwrap();
        for certificate in [None, Some(&one), Some(&of_foreign)] {
            assert_eq!(read(&response(&key, certificate, answers())), Err(CertificateError::OcspSignature));
        }
        assert_eq!(read(&response(foreign.key(), None, answers())), Err(CertificateError::OcspSignature));
        // An old answer counts for longer than its responder, and one from the future does not count.
        let read_at = |now| {
            let bytes = response(&key, Some(&responder), answers());
            OcspResponses::from_der(&bytes, authority.certificate(), now).map(|_| ())
        };
        assert_eq!(read_at(VALIDITY.not_after + 1), Ok(()));
        assert_eq!(read_at(NOW - 301), Err(CertificateError::OcspSignature));
        let short = Validity { not_after: NOW - 1, ..VALIDITY };
        let ended = authority.issue_responder("responder", &key, short).unwrap();
        assert_eq!(read(&response(&key, Some(&ended), answers())), Err(CertificateError::OcspSignature));
    }

    #[test]
    fn faulty_files_are_refused() {
        let (authority, _, [one, ..]) = fleet();
        let read = |bytes: &[u8]| OcspResponses::from_der(bytes, authority.certificate(), NOW).map(|_| ());
        let sound = response(authority.key(), None, vec![answer(&authority, &one, GOOD, NOW)]);
        assert_eq!(read(&sound), Ok(()));
        for len in 0..sound.len() {
            assert!(read(&sound[..len]).is_err(), "{len}");
        }
        for at in 0..sound.len() {
            let mut changed = sound.clone();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "{at}");
        }
        assert_eq!(read(&OcspResponse::try_later().to_der().unwrap()), Err(CertificateError::OcspRefused));
        let mut critical = answer(&authority, &one, GOOD, NOW);
        let extn_value = OctetString::new([5, 0]).unwrap();
        let extn_id = ObjectIdentifier::new_unwrap("1.2.3.4");
        critical.single_extensions = Some(vec![Extension { extn_id, critical: true, extn_value }]);
        let refused = read(&response(authority.key(), None, vec![critical]));
        assert_eq!(refused, Err(CertificateError::Extension("1.2.3.4".to_owned())));
    }
}
