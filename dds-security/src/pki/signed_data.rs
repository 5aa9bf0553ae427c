//! The signature of a document, as CMS (RFC 5652).

use super::bounds::is_bounded;
use super::certificate::encoded;
use super::public_key::Hash;
use super::{Certificate, Issuer, SignatureError};
use crate::access::SubjectName;
use cms::cert::{CertificateChoices, IssuerAndSerialNumber};
use cms::content_info::{CmsVersion, ContentInfo};
use cms::signed_data::{
    CertificateSet, EncapsulatedContentInfo, SignedData, SignerIdentifier, SignerInfo, SignerInfos,
};
use der::asn1::{Any, ObjectIdentifier, OctetString, OctetStringRef, SetOfVec};
use der::oid::AssociatedOid;
use der::{Decode, Encode};
use std::fmt;
use x509_cert::attr::Attribute;
use x509_cert::ext::pkix::SubjectKeyIdentifier;
use x509_cert::spki::AlgorithmIdentifierOwned;

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");

/// Most signers of a document. Each one costs a verification.
const SIGNERS_MAX: usize = 8;

/// A document was not signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignError {
    /// The signature has no encoding, because a part of the authority's certificate is too long.
    Encoding,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authority's certificate has a part that is too long: create another authority")
    }
}

impl std::error::Error for SignError {}

/// Verifies that an authority signed `content`. `signature` is the CMS message without its content.
pub(super) fn verify(content: &[u8], signature: &[u8], authority: &Certificate) -> Result<(), SignatureError> {
    if !is_bounded(signature) {
        return Err(SignatureError::Malformed);
    }
    let info = ContentInfo::from_der(signature).map_err(|_| SignatureError::Malformed)?;
    if info.content_type != SIGNED_DATA {
        return Err(SignatureError::Malformed);
    }
    let data: SignedData = info.content.decode_as().map_err(|_| SignatureError::Malformed)?;
    // With a second copy inside, the verifier and the reader could see different documents.
    if data.encap_content_info.econtent.is_some() {
        return Err(SignatureError::NotDetached);
    }
    let signers = data.signer_infos.0.as_slice();
    // Each signer costs an operation, and the file decides about their number.
    if signers.is_empty() || signers.len() > SIGNERS_MAX {
        return Err(SignatureError::NoSigner);
    }
    let mut signers = signers.iter().filter(|signer| is_from(&signer.sid, authority)).peekable();
    if signers.peek().is_none() {
        return Err(SignatureError::OtherSigner { authority: authority.subject_text() });
    }
    // Several signers may name the authority. One of them with a valid signature is enough.
    let mut result = Err(SignatureError::Forged);
    for signer in signers {
        result = verify_signer(signer, content, data.encap_content_info.econtent_type, authority);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Whether a signer is the authority itself.
fn is_from(signer: &SignerIdentifier, authority: &Certificate) -> bool {
    let content = &authority.parsed.tbs_certificate;
    match signer {
        SignerIdentifier::IssuerAndSerialNumber(id) => {
            let [named, own] = [&id.issuer, &content.issuer].map(SubjectName::from_x509);
            named.is_same_authority(&own) && id.serial_number == content.serial_number
        }
        SignerIdentifier::SubjectKeyIdentifier(id) => {
            let extensions = content.extensions.as_deref().unwrap_or_default();
            let own = extensions.iter().find(|extension| extension.extn_id == SubjectKeyIdentifier::OID);
            own.and_then(|extension| SubjectKeyIdentifier::from_der(extension.extn_value.as_bytes()).ok())
                .is_some_and(|own| own == *id)
        }
    }
}

fn verify_signer(
    signer: &SignerInfo,
    content: &[u8],
    content_type: ObjectIdentifier,
    authority: &Certificate,
) -> Result<(), SignatureError> {
    let unsupported = || SignatureError::Algorithm(signer.digest_alg.oid.to_string());
    let hash = Hash::from_oid(signer.digest_alg.oid).ok_or_else(unsupported)?;
    let is_signed = |bytes: &[u8]| {
        let algorithm = signer.signature_algorithm.oid;
        authority.public_key().verifies_with(algorithm, hash, bytes, signer.signature.as_bytes())
    };
    // Without attributes, the signature covers the content itself (RFC 5652, 5.4).
    let Some(attributes) = &signer.signed_attrs else {
        return if is_signed(content) { Ok(()) } else { Err(SignatureError::Forged) };
    };
    // The signature covers the attributes, and they cover the content (RFC 5652, 5.4).
    if only_value(attributes.as_slice(), CONTENT_TYPE)?.decode_as::<ObjectIdentifier>() != Ok(content_type) {
        return Err(SignatureError::Malformed);
    }
    let digest = only_value(attributes.as_slice(), MESSAGE_DIGEST)?;
    let digest = digest.decode_as::<OctetStringRef<'_>>().map_err(|_| SignatureError::Malformed)?;
    // The hash of a document is no secret, so the comparison need not take constant time.
    if digest.as_bytes() != hash.of(content) {
        return Err(SignatureError::Changed);
    }
    // The message has them under an implicit tag, but the signature covers a SET OF (RFC 5652, 5.4).
    if is_signed(&encoded(attributes)) { Ok(()) } else { Err(SignatureError::Forged) }
}

/// Returns the value of an attribute that must exist once, with one value.
fn only_value(attributes: &[Attribute], oid: ObjectIdentifier) -> Result<&Any, SignatureError> {
    let mut found = attributes.iter().filter(|attribute| attribute.oid == oid);
    // Two attributes of one kind could contradict each other.
    let (Some(attribute), None) = (found.next(), found.next()) else { return Err(SignatureError::Malformed) };
    match attribute.values.as_slice() {
        [value] => Ok(value),
        _ => Err(SignatureError::Malformed),
    }
}

/// Signs `content`, and returns the CMS message without it.
pub(super) fn sign(content: &[u8], issuer: &Issuer) -> Result<Vec<u8>, SignError> {
    build(content, issuer).map_err(|_| SignError::Encoding)
}

fn build(content: &[u8], issuer: &Issuer) -> der::Result<Vec<u8>> {
    let certificate = &issuer.certificate().parsed;
    let hash = issuer.key().hash();
    let digest_alg = AlgorithmIdentifierOwned { oid: hash.oid(), parameters: None };
    // RFC 5652, 5.3 requires both attributes as soon as there are any.
    let signed_attrs = SetOfVec::try_from(vec![
        attribute(CONTENT_TYPE, &DATA)?,
        attribute(MESSAGE_DIGEST, &OctetString::new(hash.of(content))?)?,
    ])?;
    let signer = SignerInfo {
        version: CmsVersion::V1,
        sid: SignerIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
            issuer: certificate.tbs_certificate.issuer.clone(),
            serial_number: certificate.tbs_certificate.serial_number.clone(),
        }),
        digest_alg: digest_alg.clone(),
        signature: OctetString::new(issuer.key().sign(&signed_attrs.to_der()?))?,
        signed_attrs: Some(signed_attrs),
        signature_algorithm: issuer.key().public().signature_algorithm(),
        unsigned_attrs: None,
    };
    let data = SignedData {
        version: CmsVersion::V1,
        digest_algorithms: SetOfVec::try_from(vec![digest_alg])?,
        encap_content_info: EncapsulatedContentInfo { econtent_type: DATA, econtent: None },
        certificates: Some(CertificateSet(SetOfVec::try_from(vec![CertificateChoices::Certificate(
            certificate.clone(),
        )])?)),
        crls: None,
        signer_infos: SignerInfos(SetOfVec::try_from(vec![signer])?),
    };
    ContentInfo { content_type: SIGNED_DATA, content: Any::encode_from(&data)? }.to_der()
}

fn attribute<T: der::EncodeValue + der::Tagged>(oid: ObjectIdentifier, value: &T) -> der::Result<Attribute> {
    Ok(Attribute { oid, values: SetOfVec::try_from(vec![Any::encode_from(value)?])? })
}
