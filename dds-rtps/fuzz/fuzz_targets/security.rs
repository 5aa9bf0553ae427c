//! Any bytes as documents, certificates, keys and tokens of DDS Security: a value or an error.
//!
//! The first byte selects the parser. An accepted message survives its encoding, a forged token authenticates no
//! participant, and only the signed text leaves a signed document.

#![no_main]

use dds_security::access::{Governance, Permissions};
use dds_security::authentication::{
    TokenByteOrder, DataHolder, GenericMessage, PeerHandshake, HandshakeTime, LocalIdentity, LocalParticipant,
    HandshakeRemote,
};
use dds_security::crypto::KeyMaterial;
use dds_security::pki::{Certificate, OcspResponses, PrivateKey, RevocationList, verify_document};
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

const AUTHORITY: &str = include_str!("../../../dds-security/tests/vectors/handshake/identity_ca.cert.pem");
const CERTIFICATE: &str = include_str!("../../../dds-security/tests/vectors/handshake/cert.pem");
const KEY: &str = include_str!("../../../dds-security/tests/vectors/handshake/key.pem");
const SIGNER: &str = include_str!("../../../dds-security/tests/pki/ec.ca.pem");
const DOCUMENT: &str = include_str!("../../../dds-security/tests/documents/governance.xml");

/// 2030-01-01.
const NOW: i64 = 1_893_456_000;

/// GUIDs of the participants that have sent the captured Request and Reply. Others would end each input early.
const REQUESTER: [u8; 16] = *b"\xb5\x8d\xb0\x4e\x4b\x3b\x02\x14\x0e\x82\xf9\xfa\0\0\x01\xc1";
const REPLIER: [u8; 16] = *b"\xff\x09\x07\xe1\x6f\x83\x14\x8f\x4c\x8e\x51\xf7\0\0\x01\xc1";

/// Participants in both roles.
struct World {
    authority: Certificate,
    signer: Certificate,
    handshakes: [PeerHandshake; 2],
    /// The challenge of the Request that waits for its Reply.
    challenge1: Vec<u8>,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let handshake = |local, remote| {
        let identity = LocalIdentity::new(AUTHORITY, CERTIFICATE, KEY, Vec::new(), NOW).expect("the files are valid");
        let local = Arc::new(LocalParticipant { identity, guid: local, participant_data: Vec::new() });
        PeerHandshake::new(local, HandshakeRemote { guid: remote, vendor: [1, 0x10] }, [7; 32])
    };
    // The side with the lower GUID sends the Request.
    let initiator = handshake([0x80; 16], REPLIER);
    let request = initiator.clone().poll(HandshakeTime { elapsed: Duration::ZERO, unix: NOW });
    let challenge1 = request.as_ref().and_then(|request| request.binary("challenge1")).expect("it begins").to_vec();
    World {
        authority: Certificate::from_pem(AUTHORITY).expect("the file is valid"),
        signer: Certificate::from_pem(SIGNER).expect("the file is valid"),
        handshakes: [initiator, handshake([0xff; 16], REQUESTER)],
        challenge1,
    }
});

fuzz_target!(|input: &[u8]| {
    let Some((selector, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match selector % 9 {
        0 => {
            if let Ok(message) = GenericMessage::parse(bytes) {
                let again = GenericMessage::parse(&message.to_payload(TokenByteOrder::Big));
                assert_eq!(again.as_ref(), Ok(&message));
                message.tokens.iter().take(2).for_each(handle);
            }
        }
        1 => {
            if let Ok(token) = DataHolder::parse(bytes, TokenByteOrder::Little) {
                handle(&token);
            }
        }
        2 => {
            if let Ok(document) = verify_document(bytes, &WORLD.signer) {
                assert!(document.lines().eq(DOCUMENT.lines()));
            }
        }
        3 => {
            if let Ok(certificate) = Certificate::from_der(bytes) {
                let _ = certificate.check_identity(&WORLD.authority, NOW);
                let _ = certificate.check_authority(NOW);
                black_box(certificate.to_pem());
            }
        }
        4 => drop(black_box((Certificate::from_pem(&text), RevocationList::from_pem(&text, &WORLD.signer)))),
        5 => drop(black_box(PrivateKey::from_pem(&text))),
        6 => drop(black_box((Governance::parse(&text), Permissions::parse(&text)))),
        7 => drop(black_box(KeyMaterial::from_token(bytes))),
        // No input has the signature of the authority.
        _ => assert!(OcspResponses::from_der(bytes, &WORLD.authority, NOW).is_err()),
    }
});

/// Passes a token to both roles. No input has the signature of another participant.
fn handle(token: &DataHolder) {
    let mut token = token.clone();
    if token.class_id.ends_with("+Reply") {
        // No input can guess the challenge.
        for (_, value) in token.binary_properties.iter_mut().filter(|(name, _)| name == "challenge1") {
            **value = WORLD.challenge1.clone();
        }
    }
    for handshake in &WORLD.handshakes {
        let mut handshake = handshake.clone();
        for elapsed in [0, 1000].map(Duration::from_millis) {
            let time = HandshakeTime { elapsed, unix: NOW };
            let _ = handshake.handle(&token, time);
            while handshake.poll(time).is_some() {}
        }
        assert!(handshake.peer().is_none());
    }
}
