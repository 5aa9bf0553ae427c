//! Any bytes as documents, certificates, keys, tokens and protected messages of DDS Security: a value or an error.
//!
//! The first byte selects the parser. An accepted message survives its encoding, a forged token authenticates no
//! participant, and only the signed text leaves a signed document. No key opens the input, and a sealed message opens
//! only to the sealed bytes.

#![no_main]

use dds_security::access::{Governance, Permissions};
use dds_security::authentication::{
    DataHolder, GenericMessage, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant, PeerHandshake,
    TokenByteOrder,
};
use dds_security::crypto::message::HeaderBinding;
use dds_security::crypto::{
    Audience, KeyMaterial, OpenError, ReceiveKey, ReceiverKey, SendKey, TransformationKind, message, payload,
    submessage,
};
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
    match selector % 11 {
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
        8 => open(bytes),
        9 => seal_and_change(bytes),
        // No input has the signature of the authority.
        _ => assert!(OcspResponses::from_der(bytes, &WORLD.authority, NOW).is_err()),
    }
});

/// Id of a submessage.
const DATA: u8 = 0x15;

const KINDS: [TransformationKind; 4] = [
    TransformationKind::Aes128Gmac,
    TransformationKind::Aes128Gcm,
    TransformationKind::Aes256Gmac,
    TransformationKind::Aes256Gcm,
];

/// Key material with an id, and with a key for MACs of this receiver if wanted.
fn material(kind: TransformationKind, sender_key_id: [u8; 4], has_receiver: bool) -> KeyMaterial {
    let receiver = has_receiver.then_some(ReceiverKey { id: [9; 4], key: [4; 32] });
    KeyMaterial { kind, revision: [0; 3], sender_key_id, master_salt: [2; 32], master_sender_key: [3; 32], receiver }
}

/// Opens the input as a message, a submessage and a payload. The first key has the id in the header of the input. The
/// second one has another id. No input has the MAC of either.
fn open(bytes: &[u8]) {
    let mut out = Vec::new();
    for (kind, has_receiver) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let mut with_key = |key_id: [u8; 4], open: &dyn Fn(&mut ReceiveKey, &mut Vec<u8>) -> Result<(), OpenError>| {
            let [a, b, c, d] = key_id;
            for id in [key_id, [!a, b, c, d]] {
                assert!(open(&mut ReceiveKey::new(material(kind, id, has_receiver)), &mut out).is_err());
                assert!(out.is_empty(), "a refused input leaves bytes");
            }
        };
        if let Ok(parsed) = message::parse(bytes) {
            with_key(parsed.crypto.key_id, &|key, out| parsed.open(key, out));
        }
        if let Ok(header) = submessage::header(bytes) {
            with_key(header.key_id, &|key, out| submessage::open(key, bytes, out).map(|_| ()));
        }
        if let Ok(header) = payload::header(bytes) {
            with_key(header.key_id, &|key, out| payload::open(key, bytes, out));
        }
    }
}

/// A key of a sender, the material of its receiver, and a changed byte.
struct Sealing {
    sender: SendKey,
    material: KeyMaterial,
    change: u8,
    at: usize,
}

impl Sealing {
    /// The first bytes select the kind, MACs for the receiver, and the change. Returns the bytes behind them too.
    fn select(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[kind, change, low, high], plain) = bytes.split_first_chunk()?;
        let material = material(KINDS[usize::from(kind % 4)], [1; 4], false);
        let sender = SendKey::starting_at(material.clone(), [5; 12]).expect("the kind has a key");
        let at = usize::from(u16::from_le_bytes([low, high]));
        if kind & 4 == 0 {
            return Some((Self { sender, material, change, at }, plain));
        }
        let sender = sender.authenticating_origin();
        let material = sender.add_receiver([8; 12]).expect("random numbers").expect("it has few receivers");
        Some((Self { sender, material, change, at }, plain))
    }

    /// Returns the plain bytes, if the sealed ones open. Once a byte is changed, they open to the same or not at all:
    /// no MAC covers unused flags and paddings.
    fn open(
        &self,
        mut sealed: Vec<u8>,
        open: impl Fn(&mut ReceiveKey, &[u8], &mut Vec<u8>) -> Result<(), OpenError>,
    ) -> Option<Vec<u8>> {
        let mut key = ReceiveKey::new(self.material.clone());
        let (mut plain, mut changed) = (Vec::new(), Vec::new());
        let opened = open(&mut key, &sealed, &mut plain);
        let at = self.at % sealed.len();
        sealed[at] ^= self.change;
        if open(&mut key, &sealed, &mut changed).is_ok() {
            assert!(opened.is_ok() && changed == plain, "a changed byte {at} changes the opened bytes");
        } else {
            assert!(changed.is_empty(), "a refused input leaves bytes");
        }
        opened.is_ok().then_some(plain)
    }
}

/// Seals the input as a message, a submessage and a payload, and changes one byte of each.
fn seal_and_change(bytes: &[u8]) {
    let Some((sealing, plain)) = Sealing::select(bytes) else { return };
    let encrypts = sealing.material.kind.encrypts();
    for binding in [HeaderBinding::InfoSource, HeaderBinding::Authenticated { pre_shared: false }] {
        let before = [b"RTPS\x02\x05\x01\x10", &[6; 12][..], plain].concat();
        let mut sealed = before.clone();
        if message::seal(&sealing.sender, binding, &mut sealed, Audience::All).is_ok() {
            let opened = sealing.open(sealed, |key, bytes, out| message::parse(bytes)?.open(key, out));
            // The plain bytes may contain a postfix, and only encryption hides it.
            assert!(opened == Some(before) || !encrypts);
        }
    }
    let mut sealed = [&[DATA, 1, 0, 0][..], plain].concat();
    if !plain.is_empty() && submessage::seal(&sealing.sender, &mut sealed, 0, Audience::All).is_ok() {
        let opened = sealing.open(sealed, |key, bytes, out| submessage::open(key, bytes, out).map(|_| ()));
        assert!(opened.is_some_and(|opened| opened[4..].starts_with(plain) && opened.len() < plain.len() + 8));
    }
    let mut sealed = plain.to_vec();
    payload::seal(&sealing.sender, &mut sealed);
    let opened = sealing.open(sealed, payload::open);
    assert!(opened.is_some_and(|opened| opened.starts_with(plain) && opened.len() < plain.len() + 4));
}

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
