//! The contents of the tokens, and their checks (DDS Security 1.1, 9.3.2.5).

use super::agreement::{Agreement, EphemeralKey, Spelling, is_signature_name, signature_name};
use super::handshake::HandshakeRemote;
use super::holder::{DataHolder, signed_bytes};
use super::identity::{CLASS, LocalParticipant, is_class, subject_half};
use super::secret::{AuthenticatedPeer, SharedSecret};
use crate::crypto::hmac;
use crate::pki::{Certificate, CertificateError, legible};
use sha2::{Digest, Sha256};
use std::fmt;

/// Cyclone DDS, which wants the public keys of MODP in DER.
const CYCLONE_DDS: [u8; 2] = [0x01, 0x10];

/// The properties that the hash of a side covers, in this order.
const CREDENTIALS: [&str; 5] = ["c.id", "c.perm", "c.pdata", "c.dsign_algo", "c.kagree_algo"];

/// Parameter with the GUID of a participant, and the end of a list.
const PID_PARTICIPANT_GUID: u16 = 0x0050;
const PID_SENTINEL: u16 = 1;

/// A token of a handshake was refused. The state of the handshake is as before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeError {
    /// Its class is not one of this plugin. The text is escaped and cut.
    Class(String),
    /// It has no value, or several values, of this name.
    Missing(&'static str),
    /// A value has a wrong length, or differs from the one that this side has sent.
    Mismatch(&'static str),
    /// The certificate of the other participant does not count.
    Certificate(CertificateError),
    /// The discovery data have another GUID than the participant, or one that another identity has.
    Guid,
    /// The algorithm of the signature or the agreement is unknown. The text is escaped and cut.
    Algorithm(String),
    /// The agreement that the other side proposes is weaker than the key of this side.
    WeakAgreement(&'static str),
    /// The public key for the agreement is invalid.
    PublicKey,
    /// The signature is wrong.
    Signature,
    /// The own key does not sign: why.
    OwnKey(String),
    /// It is a step of the other role, or of no known exchange.
    Unexpected,
    /// Too many handshakes were begun in the name of this participant.
    Busy,
    /// Its check needs operations with public keys, and the caller does not permit them now.
    Postponed,
}

/// Random values that follow from a seed.
#[derive(Clone)]
pub(super) struct Nonce {
    pub(super) challenge: [u8; 32],
    pub(super) ephemeral: zeroize::Zeroizing<[u8; 32]>,
}

impl Nonce {
    /// Derives the values for one Request. No other participant can foresee them.
    pub(super) fn for_request(&self, request_hash: &[u8; 32]) -> Self {
        // The challenge is public. Its own label keeps it independent of the secret key below.
        let challenge = *hmac(self.ephemeral.as_slice(), &[b"challenge", request_hash]);
        Self { challenge, ephemeral: hmac(self.ephemeral.as_slice(), &[b"ephemeral", request_hash]) }
    }
}

/// What one side presents: values as they are on the wire.
#[derive(Clone)]
pub(super) struct HandshakeCredentials {
    values: [Vec<u8>; 5],
    pub(super) hash: [u8; 32],
    pub(super) certificate: Certificate,
    pub(super) agreement: Agreement,
    spelling: Spelling,
}

impl HandshakeCredentials {
    /// The credentials of the own side.
    pub(super) fn own(local: &LocalParticipant, agreement: Agreement, spelling: Spelling) -> Self {
        let identity = &local.identity;
        let values = [
            identity.certificate_pem.clone(),
            identity.permissions.clone(),
            local.participant_data.clone(),
            signature_name(identity.certificate.public_key(), spelling).as_bytes().to_vec(),
            agreement.name(spelling).as_bytes().to_vec(),
        ];
        // Both sides hash the same five values, so a change on the way breaks the signature.
        let hash = hash_of(&values);
        Self { values, hash, certificate: identity.certificate.clone(), agreement, spelling }
    }

    /// Reads the credentials of another participant, with all checks that need no operation with public keys.
    fn read(token: &DataHolder, hash_name: &'static str, remote: &[u8; 16]) -> Result<Self, HandshakeError> {
        let mut values: [Vec<u8>; 5] = Default::default();
        // `required` refuses a name with two values: each side could hash another one.
        for (name, value) in CREDENTIALS.into_iter().zip(&mut values) {
            *value = required(token, name)?.to_vec();
        }
        let hash = hash_of(&values);
        // The other side may send its hash. It is always signed.
        check_optional(token, hash_name, &hash)?;
        let [id, _, participant_data, signature_name, agreement_name] = &values;
        let unknown = |name: &[u8]| HandshakeError::Algorithm(legible(&String::from_utf8_lossy(name)));
        let (agreement, spelling) = Agreement::from_name(agreement_name).ok_or_else(|| unknown(agreement_name))?;
        // It costs little, so it comes before the certificate.
        if guid_of(participant_data) != Some(*remote) {
            return Err(HandshakeError::Guid);
        }
        let text = std::str::from_utf8(id).map_err(|_| HandshakeError::Certificate(CertificateError::Malformed))?;
        let certificate = Certificate::from_peer(text).map_err(HandshakeError::Certificate)?;
        // Only the own GUID counts: one that another identity could have would let it speak in that name.
        if remote[..6] != subject_half(&certificate) {
            return Err(HandshakeError::Guid);
        }
        // The name must fit the key, because the key alone chooses the algorithm of the signature.
        if !is_signature_name(signature_name, certificate.public_key()) {
            return Err(unknown(signature_name));
        }
        Ok(Self { values, hash, certificate, agreement, spelling })
    }

    /// Checks that the authority has signed the certificate, which costs an operation with its public key.
    fn verified(self, local: &LocalParticipant, now: i64, permit: WorkPermit<'_>) -> Result<Self, HandshakeError> {
        // The permit comes first: the chain of the certificate is the first costly operation.
        permit.take(self.agreement)?;
        local.identity.check_peer(&self.certificate, now).map_err(HandshakeError::Certificate)?;
        Ok(self)
    }

    fn write(&self, token: &mut DataHolder) {
        for (name, value) in CREDENTIALS.into_iter().zip(&self.values) {
            token.add(name, value);
        }
    }

    fn into_peer(self, secret: SharedSecret) -> AuthenticatedPeer {
        let [_, permissions, participant_data, _, _] = self.values;
        AuthenticatedPeer { certificate: self.certificate, permissions, participant_data, secret }
    }
}

/// Decides whether operations with public keys are done now. The agreement has keys of this many bits.
pub(super) struct WorkPermit<'a>(pub(super) &'a mut dyn FnMut(usize) -> bool);

impl WorkPermit<'_> {
    pub(super) fn take(self, agreement: Agreement) -> Result<(), HandshakeError> {
        if (self.0)(agreement.key_bits()) { Ok(()) } else { Err(HandshakeError::Postponed) }
    }
}

/// A Request that this side has sent.
#[derive(Clone)]
pub(super) struct RequestExchange {
    pub(super) token: DataHolder,
    own: HandshakeCredentials,
    key: EphemeralKey,
    dh1: Vec<u8>,
    pub(super) challenge1: [u8; 32],
}

impl RequestExchange {
    pub(super) fn new(local: &LocalParticipant, agreement: Agreement, nonce: &Nonce) -> Self {
        let own = HandshakeCredentials::own(local, agreement, agreement.spelling_of_request());
        let key = EphemeralKey::derive(agreement, &nonce.ephemeral);
        // Only MODP has a form in DER, and Requests of this side never propose MODP.
        let (dh1, challenge1) = (key.public(false), nonce.challenge);
        let mut token = DataHolder::new(format!("{CLASS}+Req"));
        own.write(&mut token);
        token.add("hash_c1", &own.hash);
        token.add("dh1", &dh1);
        token.add("challenge1", &challenge1);
        Self { token, own, key, dh1, challenge1 }
    }

    /// The agreement that it proposes.
    pub(super) fn agreement(&self) -> Agreement {
        self.own.agreement
    }

    /// Whether a Reply answers this Request.
    pub(super) fn is_answered_by(&self, reply: &DataHolder) -> bool {
        reply.binary("challenge1") == Some(&self.challenge1)
    }

    /// Checks a Reply. Returns the Final and the authenticated participant.
    pub(super) fn finish(
        &self,
        reply: &DataHolder,
        local: &LocalParticipant,
        remote: &[u8; 16],
        now: i64,
        permit: WorkPermit<'_>,
    ) -> Result<(DataHolder, AuthenticatedPeer), HandshakeError> {
        // A forger without the Request does not know its challenge, and this comparison costs nothing.
        if !self.is_answered_by(reply) {
            return Err(HandshakeError::Unexpected);
        }
        // The signature covers the values of this side, so a Reply may leave them out.
        check_optional(reply, "hash_c1", &self.own.hash)?;
        check_optional(reply, "dh1", &self.dh1)?;
        let challenge2 = challenge(reply, "challenge2")?;
        let dh2 = required(reply, "dh2")?;
        let peer = HandshakeCredentials::read(reply, "hash_c2", remote)?.verified(local, now, permit)?;
        // Another agreement than the proposed one would be a downgrade.
        if peer.agreement != self.own.agreement {
            return Err(HandshakeError::Mismatch("c.kagree_algo"));
        }
        // An invalid point could reveal bits of the ephemeral key, which serves several Replies.
        peer.agreement.check_public(dh2)?;
        let transcript = Transcript {
            hash_c1: &self.own.hash,
            hash_c2: &peer.hash,
            challenge1: &self.challenge1,
            challenge2: &challenge2,
            dh1: &self.dh1,
            dh2,
        };
        // The signature comes before the agreement, so only the owner of the certificate triggers it.
        transcript.verify_reply(reply, &peer.certificate)?;
        let secret = self.key.agree(dh2)?;
        let final_token = transcript.sign_final(local)?;
        let secret = SharedSecret { secret: *secret, challenge1: self.challenge1, challenge2 };
        Ok((final_token, peer.into_peer(secret)))
    }
}

/// A Reply that this side has sent.
#[derive(Clone)]
pub(super) struct ReplyExchange {
    pub(super) token: DataHolder,
    own_hash: [u8; 32],
    peer: HandshakeCredentials,
    key: EphemeralKey,
    dh1: Vec<u8>,
    dh2: Vec<u8>,
    /// The Request and the challenges.
    pub(super) id: ReplyId,
}

/// The exchange to which a token belongs, without any key.
#[derive(Clone)]
pub(super) struct ReplyId {
    /// Hash of the Request. A forged one may have the challenge of the true one.
    pub(super) request_hash: [u8; 32],
    challenge1: [u8; 32],
    challenge2: [u8; 32],
}

impl ReplyId {
    pub(super) fn is_finished_by(&self, final_token: &DataHolder) -> bool {
        final_token.binary("challenge1") == Some(&self.challenge1)
            && final_token.binary("challenge2") == Some(&self.challenge2)
    }
}

impl ReplyExchange {
    /// Checks a Request and answers it.
    pub(super) fn new(
        request: &DataHolder,
        local: &LocalParticipant,
        HandshakeRemote { guid: remote, vendor }: &HandshakeRemote,
        nonce: &Nonce,
        now: i64,
        permit: WorkPermit<'_>,
    ) -> Result<Self, HandshakeError> {
        let challenge1 = challenge(request, "challenge1")?;
        let dh1 = required(request, "dh1")?.to_vec();
        let peer = HandshakeCredentials::read(request, "hash_c1", remote)?;
        // This check needs no operation with public keys, so it comes before the permit.
        if !peer.agreement.is_enough_for(local.identity.certificate.public_key()) {
            return Err(HandshakeError::WeakAgreement(peer.agreement.name(Spelling::V1_2)));
        }
        let peer = peer.verified(local, now, permit)?;
        peer.agreement.check_public(&dh1)?;
        // The Reply keeps the spelling of the Request: a peer of version 1.1 knows no other.
        let own = HandshakeCredentials::own(local, peer.agreement, peer.spelling);
        let key = EphemeralKey::derive(peer.agreement, &nonce.ephemeral);
        // Cyclone DDS wants the public number of MODP in DER. Other vendors want its bytes.
        let dh2 = key.public(*vendor == CYCLONE_DDS);
        let challenge2 = nonce.challenge;
        let transcript = Transcript {
            hash_c1: &peer.hash,
            hash_c2: &own.hash,
            challenge1: &challenge1,
            challenge2: &challenge2,
            dh1: &dh1,
            dh2: &dh2,
        };
        let mut token = DataHolder::new(format!("{CLASS}+Reply"));
        own.write(&mut token);
        token.add("hash_c2", &own.hash);
        token.add("dh2", &dh2);
        token.add("hash_c1", &peer.hash);
        token.add("dh1", &dh1);
        token.add("challenge1", &challenge1);
        token.add("challenge2", &challenge2);
        let signature = local.identity.key.sign_handshake(&transcript.reply_bytes());
        token.add("signature", &signature.map_err(HandshakeError::OwnKey)?);
        let own_hash = own.hash;
        let id = ReplyId { request_hash: hash_of_request(request), challenge1, challenge2 };
        Ok(Self { token, own_hash, peer, key, dh1, dh2, id })
    }

    /// The agreement that the other side has proposed.
    pub(super) fn agreement(&self) -> Agreement {
        self.peer.agreement
    }

    /// Checks a Final. Returns the authenticated participant.
    pub(super) fn finish(&self, final_token: &DataHolder) -> Result<AuthenticatedPeer, HandshakeError> {
        if !self.id.is_finished_by(final_token) {
            return Err(HandshakeError::Unexpected);
        }
        // These values are optional in a Final, but must not contradict the signed ones.
        check_optional(final_token, "hash_c1", &self.peer.hash)?;
        check_optional(final_token, "hash_c2", &self.own_hash)?;
        check_optional(final_token, "dh1", &self.dh1)?;
        check_optional(final_token, "dh2", &self.dh2)?;
        let transcript = Transcript {
            hash_c1: &self.peer.hash,
            hash_c2: &self.own_hash,
            challenge1: &self.id.challenge1,
            challenge2: &self.id.challenge2,
            dh1: &self.dh1,
            dh2: &self.dh2,
        };
        let signature = required(final_token, "signature")?;
        // `new` has verified the certificate, so only the signature is left.
        verify(&self.peer.certificate, &transcript.final_bytes(), signature)?;
        let secret = self.key.agree(&self.dh1)?;
        let secret = SharedSecret { secret: *secret, challenge1: self.id.challenge1, challenge2: self.id.challenge2 };
        Ok(self.peer.clone().into_peer(secret))
    }
}

/// The values that both sides sign.
struct Transcript<'a> {
    hash_c1: &'a [u8],
    hash_c2: &'a [u8],
    challenge1: &'a [u8],
    challenge2: &'a [u8],
    dh1: &'a [u8],
    dh2: &'a [u8],
}

impl Transcript<'_> {
    fn reply_bytes(&self) -> Vec<u8> {
        // The order is the reverse of a Final, so no signature serves in place of the other.
        signed_bytes(&[
            ("hash_c2", self.hash_c2),
            ("challenge2", self.challenge2),
            ("dh2", self.dh2),
            ("challenge1", self.challenge1),
            ("dh1", self.dh1),
            ("hash_c1", self.hash_c1),
        ])
    }

    fn final_bytes(&self) -> Vec<u8> {
        signed_bytes(&[
            ("hash_c1", self.hash_c1),
            ("challenge1", self.challenge1),
            ("dh1", self.dh1),
            ("challenge2", self.challenge2),
            ("dh2", self.dh2),
            ("hash_c2", self.hash_c2),
        ])
    }

    fn verify_reply(&self, reply: &DataHolder, certificate: &Certificate) -> Result<(), HandshakeError> {
        verify(certificate, &self.reply_bytes(), required(reply, "signature")?)
    }

    fn sign_final(&self, local: &LocalParticipant) -> Result<DataHolder, HandshakeError> {
        let mut token = DataHolder::new(format!("{CLASS}+Final"));
        for (name, value) in [
            ("hash_c1", self.hash_c1),
            ("hash_c2", self.hash_c2),
            ("dh1", self.dh1),
            ("dh2", self.dh2),
            ("challenge1", self.challenge1),
            ("challenge2", self.challenge2),
        ] {
            token.add(name, value);
        }
        let signature = local.identity.key.sign_handshake(&self.final_bytes());
        token.add("signature", &signature.map_err(HandshakeError::OwnKey)?);
        Ok(token)
    }
}

/// Returns a token that asks the other side to begin.
pub(super) fn authentication_request(challenge: &[u8; 32]) -> DataHolder {
    let mut token = DataHolder::new(format!("{CLASS}+AuthReq"));
    token.add("future_challenge", challenge);
    token
}

/// The step of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandshakeStep {
    AuthRequest,
    Request,
    Reply,
    Final,
}

impl HandshakeStep {
    pub(super) fn of(token: &DataHolder) -> Result<Self, HandshakeError> {
        let steps = [
            ("+AuthReq", Self::AuthRequest),
            ("+Req", Self::Request),
            ("+Reply", Self::Reply),
            ("+Final", Self::Final),
        ];
        let found = steps.into_iter().find(|(suffix, _)| is_class(&token.class_id, suffix));
        found.map(|(_, step)| step).ok_or_else(|| HandshakeError::Class(legible(&token.class_id)))
    }
}

fn required<'a>(token: &'a DataHolder, name: &'static str) -> Result<&'a [u8], HandshakeError> {
    token.binary(name).ok_or(HandshakeError::Missing(name))
}

pub(super) fn challenge(token: &DataHolder, name: &'static str) -> Result<[u8; 32], HandshakeError> {
    // A short challenge could repeat, and an old signature would fit it.
    required(token, name)?.try_into().map_err(|_| HandshakeError::Mismatch(name))
}

/// Checks a value that a token may leave out.
fn check_optional(token: &DataHolder, name: &'static str, expected: &[u8]) -> Result<(), HandshakeError> {
    // `binary` returns nothing for a repeated name, so presence is a question of its own.
    let is_present = token.binary_properties.iter().any(|(known, _)| known == name);
    if is_present && token.binary(name) != Some(expected) {
        return Err(HandshakeError::Mismatch(name));
    }
    Ok(())
}

fn hash_of(values: &[Vec<u8>; 5]) -> [u8; 32] {
    let properties: Vec<_> = CREDENTIALS.into_iter().zip(values.iter().map(Vec::as_slice)).collect();
    Sha256::digest(signed_bytes(&properties)).into()
}

/// Returns a hash of all values of a Request that its answer depends on.
pub(super) fn hash_of_request(request: &DataHolder) -> [u8; 32] {
    let names = CREDENTIALS.into_iter().chain(["dh1", "challenge1"]);
    // The hash only tells copies apart, so a missing value may count as empty.
    let values: Vec<_> = names.map(|name| (name, request.binary(name).unwrap_or_default())).collect();
    Sha256::digest(signed_bytes(&values)).into()
}

fn verify(certificate: &Certificate, bytes: &[u8], signature: &[u8]) -> Result<(), HandshakeError> {
    if certificate.public_key().verifies_handshake(bytes, signature) { Ok(()) } else { Err(HandshakeError::Signature) }
}

/// Returns the GUID in discovery data: a parameter list, big endian, without an encapsulation header.
fn guid_of(mut list: &[u8]) -> Option<[u8; 16]> {
    let mut found = None;
    while let Some(([p0, p1, l0, l1], rest)) = list.split_first_chunk::<4>() {
        let (pid, len) = (u16::from_be_bytes([*p0, *p1]), u16::from_be_bytes([*l0, *l1]));
        // Discovery ignores parameters behind the sentinel, so a GUID there must not count.
        if pid == PID_SENTINEL {
            break;
        }
        let (value, rest) = rest.split_at_checked(usize::from(len))?;
        if pid == PID_PARTICIPANT_GUID {
            // Two GUIDs would let each side see another one.
            if found.is_some() {
                return None;
            }
            found = Some(<[u8; 16]>::try_from(value).ok()?);
        }
        list = rest;
    }
    found
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(class) => write!(f, "the token has the unknown class `{class}`"),
            Self::Missing(name) => write!(f, "the token has not exactly one value `{name}`"),
            Self::Mismatch(name) => write!(f, "the value `{name}` of the token does not fit"),
            Self::Certificate(error) => write!(f, "identity of the other participant: {error}"),
            Self::Guid => {
                f.write_str("the GUID does not follow from the certificate: another participant speaks in this name")
            }
            Self::Algorithm(name) => write!(f, "the algorithm `{name}` is unknown or does not fit the certificate"),
            Self::WeakAgreement(name) => write!(
                f,
                "the other participant proposes {name}, which is weaker than the key of this one with P-384: \
                 issue both identities with the same algorithm"
            ),
            Self::PublicKey => f.write_str("the public key for the agreement is invalid"),
            Self::Signature => f.write_str("the signature of the token is wrong: it was changed or forged"),
            Self::OwnKey(fault) => write!(f, "the private key of this participant fails: {fault}"),
            Self::Unexpected => f.write_str("the token belongs to no known exchange"),
            Self::Busy => f.write_str("too many handshakes were begun in the name of this participant"),
            Self::Postponed => f.write_str("the check of the token has to wait, because too many others cost work"),
        }
    }
}

impl std::error::Error for HandshakeError {}

#[cfg(test)]
mod tests {
    use super::super::{GenericMessage, LocalIdentity};
    use super::*;

    /// 2030-01-01.
    const NOW: i64 = 1_893_456_000;

    /// The message that Cyclone DDS 0.10.2 or Fast DDS 2.9.1 has sent. `make.md` says how the files were made.
    macro_rules! captured {
        ($name:literal) => {
            GenericMessage::parse(include_bytes!(concat!("../../tests/vectors/handshake/", $name))).unwrap()
        };
    }

    /// A third participant of the authority in a folder.
    macro_rules! third_of {
        ($folder:literal) => {{
            let identity = LocalIdentity::new(
                include_str!(concat!("../../tests/vectors/handshake/", $folder, "identity_ca.cert.pem")),
                include_str!(concat!("../../tests/vectors/handshake/", $folder, "cert.pem")),
                include_str!(concat!("../../tests/vectors/handshake/", $folder, "key.pem")),
                Vec::new(),
                NOW,
            );
            LocalParticipant { identity: identity.unwrap(), guid: [0; 16], participant_data: Vec::new() }
        }};
    }

    fn local() -> LocalParticipant {
        third_of!("")
    }

    fn participant_guid(message: &GenericMessage) -> [u8; 16] {
        let mut guid = message.identity.0;
        guid[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
        guid
    }

    #[test]
    fn handshake_of_cyclone_is_verified() {
        let messages =
            [captured!("cyclone_request.bin"), captured!("cyclone_reply.bin"), captured!("cyclone_final.bin")];
        let authority = include_str!("../../tests/vectors/handshake/permissions_ca.cert.pem");
        verify_handshake(messages, Agreement::Ecdh, authority);
    }

    #[test]
    fn handshake_of_fast_dds_is_verified() {
        let messages =
            [captured!("fast_dds_request.bin"), captured!("fast_dds_reply.bin"), captured!("fast_dds_final.bin")];
        let authority = include_str!("../../tests/vectors/handshake/fast_dds/permissions_ca.cert.pem");
        verify_handshake(messages, Agreement::Modp, authority);
    }

    /// Verifies a handshake of `station` with `robot7`, and the permissions of the first one.
    fn verify_handshake([request, reply, last]: [GenericMessage; 3], agreement: Agreement, authority: &str) {
        let read = |message: &GenericMessage, name| {
            assert_eq!(message.class_id, GenericMessage::AUTHENTICATION);
            HandshakeCredentials::read(&message.tokens[0], name, &participant_guid(message)).unwrap()
        };
        let (one, other) = (read(&request, "hash_c1"), read(&reply, "hash_c2"));
        assert_eq!((one.certificate.subject_text(), one.agreement), ("CN=station".to_owned(), agreement));
        assert_eq!(other.certificate.subject_text(), "CN=robot7");
        let [request, reply, last] = [&request, &reply, &last].map(|message| &message.tokens[0]);
        assert_eq!(
            [request, reply, last].map(|token| HandshakeStep::of(token).unwrap()),
            [HandshakeStep::Request, HandshakeStep::Reply, HandshakeStep::Final]
        );
        let transcript = Transcript {
            hash_c1: &one.hash,
            hash_c2: &other.hash,
            challenge1: required(request, "challenge1").unwrap(),
            challenge2: required(reply, "challenge2").unwrap(),
            dh1: required(request, "dh1").unwrap(),
            dh2: required(reply, "dh2").unwrap(),
        };
        transcript.verify_reply(reply, &other.certificate).unwrap();
        let signature = required(last, "signature").unwrap();
        verify(&one.certificate, &transcript.final_bytes(), signature).unwrap();
        // Each side has signed its own token only.
        assert!(transcript.verify_reply(last, &other.certificate).is_err());
        assert!(verify(&other.certificate, &transcript.final_bytes(), signature).is_err());
        for (token, dh) in [(request, "dh1"), (reply, "dh2")] {
            agreement.check_public(required(token, dh).unwrap()).unwrap();
        }
        // The permissions are those of the file, and still signed.
        let authority = Certificate::from_pem(authority).unwrap();
        let permissions = required(request, "c.perm").unwrap();
        assert!(crate::pki::verify_document(permissions, &authority).unwrap().contains("<subject_name>CN=station<"));
    }

    #[test]
    fn request_of_cyclone_is_answered_for_its_own_guid_only() {
        answer_request(&captured!("cyclone_request.bin"), &local(), (CYCLONE_DDS, 256));
    }

    #[test]
    fn request_of_fast_dds_is_answered_for_its_own_guid_only() {
        answer_request(&captured!("fast_dds_request.bin"), &third_of!("fast_dds/"), ([1, 0x0f], 2048));
    }

    /// Answers a Request of a vendor, whose agreement has keys of this many bits.
    fn answer_request(request: &GenericMessage, local: &LocalParticipant, (vendor, key_bits): ([u8; 2], usize)) {
        let guid = participant_guid(request);
        let nonce = Nonce { challenge: [1; 32], ephemeral: zeroize::Zeroizing::new([2; 32]) };
        let answer = |guid, permits: &mut dyn FnMut(usize) -> bool| {
            let remote = HandshakeRemote { guid, vendor };
            ReplyExchange::new(&request.tokens[0], local, &remote, &nonce, NOW, WorkPermit(permits))
        };
        let mut asked = 0;
        for is_permitted in [true, false] {
            let error = answer(guid, &mut |bits| {
                assert_eq!(bits, key_bits);
                asked += 1;
                is_permitted
            });
            assert_eq!(error.err(), (!is_permitted).then_some(HandshakeError::Postponed));
        }
        assert_eq!(asked, 2);
        for index in 0..16 {
            let mut other = guid;
            other[index] ^= 1;
            let refused = answer(other, &mut |_| panic!("a forged Request costs no operation with public keys"));
            assert_eq!(refused.err(), Some(HandshakeError::Guid));
        }
    }

    #[test]
    fn other_requests_of_cyclone_have_their_class() {
        let message = captured!("cyclone_auth_request.bin");
        assert_eq!(message.class_id, GenericMessage::AUTHENTICATION_REQUEST);
        assert_eq!(HandshakeStep::of(&message.tokens[0]), Ok(HandshakeStep::AuthRequest));
        assert_eq!(
            authentication_request(&challenge(&message.tokens[0], "future_challenge").unwrap()),
            message.tokens[0]
        );
        assert_eq!(HandshakeStep::of(&DataHolder::new("DDS:Auth:PKI-DH:2.0+Req")).ok(), None);
    }

    #[test]
    fn errors_show_foreign_texts_escaped_and_cut() {
        let token = DataHolder::new(format!("DDS:\n\u{1b}[2J{}", "x".repeat(100_000)));
        let text = HandshakeStep::of(&token).unwrap_err().to_string();
        assert!(text.len() < 150 && !text.chars().any(char::is_control), "{text}");
        let mut request = captured!("cyclone_request.bin");
        let guid = participant_guid(&request);
        for (name, value) in &mut request.tokens[0].binary_properties {
            if name == "c.kagree_algo" {
                *value = [&b"\r\n"[..], &[0xff; 50_000]].concat().into();
            }
        }
        let nonce = Nonce { challenge: [1; 32], ephemeral: zeroize::Zeroizing::new([2; 32]) };
        request.tokens[0].binary_properties.retain(|(name, _)| name != "hash_c1");
        let remote = HandshakeRemote { guid, vendor: CYCLONE_DDS };
        let mut permits = |_| true;
        let permit = WorkPermit(&mut permits);
        let error = ReplyExchange::new(&request.tokens[0], &local(), &remote, &nonce, NOW, permit).err();
        let text = error.unwrap().to_string();
        assert!(text.contains("algorithm") && text.len() < 350 && !text.chars().any(char::is_control), "{text}");
    }

    #[test]
    fn guid_of_discovery_data_is_unique() {
        let guid = |list: &[u8]| guid_of(list);
        let one = [&[0, 0x50, 0, 16][..], &[7; 16]].concat();
        assert_eq!(guid(&one), Some([7; 16]));
        assert_eq!(guid(&[&one[..], &one].concat()), None);
        assert_eq!(guid(&[&[0, 1, 0, 0][..], &one].concat()), None);
        assert_eq!(guid(&[0, 0x50, 0, 17, 1]), None);
        assert_eq!(guid(&[]), None);
    }
}
