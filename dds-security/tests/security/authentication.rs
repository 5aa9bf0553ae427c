//! Handshakes over a network that loses, repeats, reorders and reflects tokens, with restarts and forgers.

use dds_security::authentication::{
    DataHolder, HandshakeError, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant, PeerHandshake,
    TokenByteOrder,
};
use dds_security::pki::{CertificateError, Issuer, KeyAlgorithm, PrivateKey, Validity};
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const UNIX: i64 = 1_893_456_000;

const VALIDITY: Validity = Validity { not_before: UNIX - 1000, not_after: UNIX + 1000 };

fn authority() -> &'static Issuer {
    static AUTHORITY: OnceLock<Issuer> = OnceLock::new();
    AUTHORITY.get_or_init(|| Issuer::generate("identity CA", VALIDITY).unwrap())
}

fn identity(name: &str, authority: &Issuer) -> LocalIdentity {
    identity_with(name, authority, &PrivateKey::generate().unwrap())
}

fn identity_with(name: &str, authority: &Issuer, key: &PrivateKey) -> LocalIdentity {
    let certificate = authority.issue(name, key, VALIDITY).unwrap().to_pem();
    let ca = authority.certificate().to_pem();
    let permissions = format!("permissions of {name}").into_bytes();
    LocalIdentity::new(&ca, &certificate, &key.to_pem(), permissions, UNIX).unwrap()
}

fn with_guid(identity: LocalIdentity, guid: [u8; 16]) -> Arc<LocalParticipant> {
    let participant_data = [&[0, 0x15, 0, 4, 2, 5, 0, 0, 0, 0x50, 0, 16][..], &guid, &[0, 1, 0, 0]].concat();
    Arc::new(LocalParticipant { identity, guid, participant_data })
}

fn participant(name: &str, authority: &Issuer) -> Arc<LocalParticipant> {
    participant_with(identity(name, authority))
}

fn participant_with(identity: LocalIdentity) -> Arc<LocalParticipant> {
    let mut guid = [0; 16];
    guid[..12].copy_from_slice(&identity.prefix(*b"a candidate!"));
    guid[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
    with_guid(identity, guid)
}

/// Two participants, the one with the lower GUID first.
fn pair() -> &'static [Arc<LocalParticipant>; 2] {
    static PAIR: OnceLock<[Arc<LocalParticipant>; 2]> = OnceLock::new();
    PAIR.get_or_init(|| {
        let mut pair = ["robot", "station"].map(|name| participant(name, authority()));
        pair.sort_by_key(|participant| participant.guid);
        pair
    })
}

fn handshake(local: &Arc<LocalParticipant>, remote: &LocalParticipant, random: u8) -> PeerHandshake {
    PeerHandshake::new(Arc::clone(local), HandshakeRemote { guid: remote.guid, vendor: [1, 0xdd] }, [random; 32])
}

fn both() -> [PeerHandshake; 2] {
    let [low, high] = pair();
    [handshake(low, high, 1), handshake(high, low, 2)]
}

fn at(elapsed_ms: u64) -> HandshakeTime {
    HandshakeTime { elapsed: Duration::from_millis(elapsed_ms), unix: UNIX }
}

/// Passes a token through its form on the wire.
fn on_wire(token: &DataHolder) -> DataHolder {
    DataHolder::parse(&token.to_bytes(TokenByteOrder::Little), TokenByteOrder::Little).unwrap()
}

/// Runs both sides over a network without faults, until nothing is due within the time.
fn settle(sides: &mut [PeerHandshake; 2], from_ms: u64, for_ms: u64) {
    for now in (from_ms..from_ms + for_ms).step_by(50).map(at) {
        for side in [0, 1] {
            while let Some(token) = sides[side].poll(now) {
                let _ = sides[1 - side].handle(&on_wire(&token), now);
            }
        }
    }
}

fn assert_agreed(sides: &[PeerHandshake; 2]) {
    let [one, other] = sides.each_ref().map(|side| side.peer().unwrap());
    assert_eq!(one.secret.key_exchange_material(), other.secret.key_exchange_material());
    for (side, peer) in [one, other].into_iter().enumerate() {
        let expected = &pair()[1 - side];
        assert_eq!(peer.certificate, *expected.identity.certificate());
        assert_eq!(peer.participant_data, expected.participant_data);
    }
}

#[test]
fn three_tokens_are_enough() {
    let mut sides = both();
    let request = sides[0].poll(at(0)).unwrap();
    assert_eq!(sides[0].poll(at(0)), None);
    sides[1].handle(&request, at(0)).unwrap();
    let reply = sides[1].poll(at(0)).unwrap();
    assert_eq!(sides[1].poll(at(0)), None, "a side that was asked asks no more");
    sides[0].handle(&reply, at(0)).unwrap();
    let final_token = sides[0].poll(at(0)).unwrap();
    assert_eq!((sides[0].poll(at(10_000)), sides[0].deadline()), (None, None));
    sides[1].handle(&final_token, at(0)).unwrap();
    assert_eq!((sides[1].poll(at(10_000)), sides[1].deadline()), (None, None));
    assert_agreed(&sides);
    assert_eq!(sides[1].peer().unwrap().permissions, pair()[0].identity_permissions());
    // Late copies change nothing and are no errors.
    for (side, token) in [(1, &request), (1, &final_token), (0, &reply)] {
        sides[side].handle(token, at(20_000)).unwrap();
    }
    assert_eq!(sides[0].poll(at(20_000)), Some(final_token), "the Final may have been lost");
    assert_eq!(sides.each_ref().map(PeerHandshake::generation), [1, 1]);
}

/// The names that both sides sent, as text: of the signature and of the agreement.
fn algorithms(token: &DataHolder) -> [String; 2] {
    ["c.dsign_algo", "c.kagree_algo"].map(|name| String::from_utf8_lossy(token.binary(name).unwrap()).into_owned())
}

#[test]
fn identities_of_all_algorithms_prove_themselves_to_each_other() {
    // The names of versions 1.1 and 1.2 for the signature.
    let of_algorithm = [
        (KeyAlgorithm::EcP256, ["ECDSA-SHA256", "ECDSA+P256+SHA256"], "EC-prime256v1"),
        (KeyAlgorithm::EcP384, ["ECDSA+P384+SHA384"; 2], "EC-secp384r1"),
        (KeyAlgorithm::Rsa2048, ["RSASSA-PSS-SHA256", "RSASSA-PSS-MGF1SHA256+2048+SHA256"], "RSA-2048"),
    ];
    let keys = of_algorithm.map(|(algorithm, ..)| PrivateKey::generate_for(algorithm).unwrap());
    for authority_key in &keys {
        let authority = Issuer::with_key("CA", authority_key.clone(), VALIDITY).unwrap();
        for (own, other) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (2, 1), (2, 2)] {
            let mut pair = [("robot", own), ("station", other)]
                .map(|(name, key)| (participant_with(identity_with(name, &authority, &keys[key])), key));
            pair.sort_by_key(|(participant, _)| participant.guid);
            let [(low, of_low), (high, of_high)] = &pair;
            let mut sides = [handshake(low, high, 1), handshake(high, low, 2)];
            // A secret is as hard to find as the stronger key.
            let is_strong = [of_low, of_high].contains(&&1);
            sides[0].note_requirement(*of_high == 1);
            let request = sides[0].poll(at(0)).unwrap();
            let agreement = if is_strong { "ECDHE-CEUM+P384" } else { "ECDH+prime256v1-CEUM" };
            // Only participants of version 1.2 know P-384, so they use the names of that version.
            let signature_of = |key: usize| of_algorithm[key].1[usize::from(is_strong)];
            assert_eq!(algorithms(&request), [signature_of(*of_low), agreement]);
            sides[1].handle(&request, at(0)).unwrap();
            let reply = sides[1].poll(at(0)).unwrap();
            // The answer agrees in the way that the Request proposes.
            assert_eq!(algorithms(&reply), [signature_of(*of_high), agreement]);
            sides[0].handle(&reply, at(0)).unwrap();
            settle(&mut sides, 0, 1000);
            let [one, two] = sides.each_ref().map(|side| side.peer().unwrap());
            assert_eq!(one.secret.key_exchange_material(), two.secret.key_exchange_material());
            assert_eq!(one.certificate.algorithm(), of_algorithm[*of_high].2);
        }
    }
}

/// Two participants, the one with the lower GUID first. The other one has a key of an algorithm.
fn pair_with(algorithm: KeyAlgorithm) -> [Arc<LocalParticipant>; 2] {
    let keys = [KeyAlgorithm::EcP256, algorithm].map(|algorithm| PrivateKey::generate_for(algorithm).unwrap());
    let mut names = ["robot", "station"].map(|name| (participant(name, authority()).guid, name));
    names.sort();
    [0, 1].map(|side| participant_with(identity_with(names[side].1, authority(), &keys[side])))
}

#[test]
fn identity_with_p384_takes_no_weaker_agreement() {
    let [low, high] = pair_with(KeyAlgorithm::EcP384);
    let mut sides = [handshake(&low, &high, 1), handshake(&high, &low, 2)];
    let request = sides[0].poll(at(0)).unwrap();
    let refused = sides[1].handle_if(&request, at(0), |_| panic!("a refused proposal costs no operation"));
    assert_eq!(refused, Err(HandshakeError::WeakAgreement("ECDHE-CEUM+P256")));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("weaker than the key of this one with P-384: issue both identities"), "{text}");
    // An announcement that comes late is early enough.
    sides[0].note_requirement(true);
    settle(&mut sides, 0, 5_000);
    let [one, other] = sides.each_ref().map(|side| side.peer().unwrap());
    assert_eq!(one.secret, other.secret);
}

/// A forger claims requirements in the name of the other side, before and between the true announcements. It also asks
/// for Requests again and again, so that each one is the first.
#[test]
fn forged_requirements_keep_no_participant_out() {
    for (algorithm, agreement) in
        [(KeyAlgorithm::EcP384, "ECDHE-CEUM+P384"), (KeyAlgorithm::EcP256, "ECDH+prime256v1-CEUM")]
    {
        let ([low, high], is_true) = (pair_with(algorithm), algorithm == KeyAlgorithm::EcP384);
        let mut sides = [handshake(&low, &high, 1), handshake(&high, &low, 2)];
        let question = handshake(&high, &low, 3).poll(at(0)).unwrap();
        let (mut keys, mut replies) = (0, Vec::new());
        for now in (0..10_000).step_by(10).map(at) {
            for claim in [!is_true, is_true, !is_true] {
                sides[0].note_requirement(claim);
            }
            sides[0].handle(&question, now).unwrap();
            keys += usize::from(sides[0].key_bits_of_poll(now).is_some());
            for side in [0, 1] {
                while let Some(token) = sides[side].poll(now) {
                    // A participant of version 1.1 does not know P-384.
                    let is_unknown = token.binary("c.kagree_algo") == Some(b"ECDHE-CEUM+P384") && !is_true;
                    if side == 1 && token.class_id.ends_with("+Reply") {
                        replies.push(algorithms(&token)[1].clone());
                    }
                    if !is_unknown {
                        let _ = sides[1 - side].handle(&token, now);
                    }
                }
            }
        }
        let [one, other] = sides.each_ref().map(|side| side.peer().unwrap());
        assert_eq!(one.secret, other.secret);
        assert!(!replies.is_empty() && replies.iter().all(|reply| reply == agreement), "{replies:?}");
        assert!((1..=6).contains(&keys), "{keys} keys: one for each agreement, and those of two renewals");
    }
}

/// The other side has refused the other agreement, and would again.
#[test]
fn renewal_proposes_the_agreement_that_has_served() {
    for is_announced_late in [false, true] {
        let [low, high] = pair_with(KeyAlgorithm::EcP384);
        let mut sides = [handshake(&low, &high, 1), handshake(&high, &low, 2)];
        if is_announced_late {
            sides[0].poll(at(0)).unwrap();
        }
        sides[0].note_requirement(true);
        settle(&mut sides, 0, 5_000);
        assert_eq!(sides[0].generation(), 1);
        for (random, start) in [(3, 10_000), (4, 30_000), (5, 50_000)] {
            sides[1] = handshake(&high, &low, random);
            let question = sides[1].poll(at(start)).unwrap();
            sides[0].handle(&question, at(start)).unwrap();
            let request = sides[0].poll(at(start)).unwrap();
            assert_eq!(algorithms(&request)[1], "ECDHE-CEUM+P384", "{random}");
            sides[1].handle(&request, at(start)).unwrap();
            settle(&mut sides, start, 1_000);
            assert_eq!(sides[0].peer().map(|peer| &peer.secret), sides[1].peer().map(|peer| &peer.secret));
        }
        assert_eq!(sides[0].generation(), 4);
    }
}

#[test]
fn caller_learns_the_agreement_that_costs() {
    let [low, high] = pair();
    let mut sides = [handshake(low, high, 1), handshake(high, low, 2)];
    sides[0].note_requirement(true);
    assert_eq!(sides[0].key_bits_of_poll(at(0)), Some(384));
    let request = sides[0].poll(at(0)).unwrap();
    assert_eq!(sides[0].key_bits_of_poll(at(99)), None, "nothing is due");
    assert_eq!(sides[0].key_bits_of_poll(at(100)), Some(256), "the other proposal has its turn");
    let mut asked = Vec::new();
    let mut handle = |side: usize, token: &DataHolder, sides: &mut [PeerHandshake; 2]| {
        let permits = |bits| {
            asked.push(bits);
            true
        };
        sides[side].handle_if(token, at(0), permits).unwrap();
        sides[side].poll(at(0))
    };
    let reply = handle(1, &request, &mut sides).unwrap();
    let last = handle(0, &reply, &mut sides).unwrap();
    handle(1, &last, &mut sides);
    assert_eq!(asked, [384; 3]);
}

#[test]
fn names_of_version_1_2_are_answered_with_such_names() {
    let [_, high] = pair();
    let mut sides = both();
    let mut request = sides[0].poll(at(0)).unwrap();
    request.binary_properties.retain(|(name, _)| name != "hash_c1");
    for (name, value) in &mut request.binary_properties {
        match name.as_str() {
            "c.dsign_algo" => *value = b"ECDSA+P256+SHA256".to_vec().into(),
            "c.kagree_algo" => *value = b"ECDHE-CEUM+P256".to_vec().into(),
            _ => {}
        }
    }
    sides[1].handle(&request, at(0)).unwrap();
    assert_eq!(algorithms(&sides[1].poll(at(0)).unwrap()), ["ECDSA+P256+SHA256", "ECDHE-CEUM+P256"]);
    // The name must be that of the certificate's key.
    for (name, value) in &mut request.binary_properties {
        if name == "c.dsign_algo" {
            *value = b"ECDSA+P384+SHA384".to_vec().into();
        }
    }
    let mut side = handshake(high, &pair()[0], 3);
    assert_eq!(side.handle(&request, at(0)), Err(HandshakeError::Algorithm("ECDSA+P384+SHA384".to_owned())));
}

/// The signed document, which the test knows by its name.
trait Named {
    fn identity_permissions(&self) -> Vec<u8>;
}

impl Named for LocalParticipant {
    fn identity_permissions(&self) -> Vec<u8> {
        let subject = self.identity.certificate().subject_text();
        format!("permissions of {}", subject.strip_prefix("CN=").unwrap()).into_bytes()
    }
}

#[test]
fn lost_tokens_are_repeated() {
    for lost in 0..6 {
        let mut sides = both();
        let mut count = 0;
        for now in (0..5000).step_by(50).map(at) {
            for side in [0, 1] {
                while let Some(token) = sides[side].poll(now) {
                    count += 1;
                    if count - 1 != lost {
                        let _ = sides[1 - side].handle(&token, now);
                    }
                }
            }
        }
        assert_agreed(&sides);
    }
}

#[test]
fn deadlines_are_the_times_of_tokens() {
    let mut sides = both();
    let mut times = Vec::new();
    let mut now = Duration::ZERO;
    while times.len() < 8 {
        now = now.max(sides[0].deadline().unwrap());
        let time = HandshakeTime { elapsed: now, unix: UNIX };
        assert!(sides[0].poll(time).is_some() && sides[0].poll(time).is_none());
        times.push(now.as_millis());
    }
    assert_eq!(times, [0, 100, 300, 700, 1500, 3100, 6100, 9100]);
}

#[test]
fn busy_participants_get_each_token_less_often() {
    let mut sides = both();
    sides.iter_mut().for_each(|side| side.set_pause(Duration::from_millis(800)));
    let count = |side: &mut PeerHandshake, now| std::iter::from_fn(|| side.poll(at(now))).count();
    assert_eq!([0, 799, 800].map(|now| count(&mut sides[0], now)), [1, 0, 1]);
    // Copies of a Request get their answers as seldom.
    let mut sides = both();
    sides[1].set_pause(Duration::from_millis(800));
    let request = sides[0].poll(at(0)).unwrap();
    let mut answers = |now| {
        sides[1].handle(&request, at(now)).unwrap();
        std::iter::from_fn(|| sides[1].poll(at(now))).filter(PeerHandshake::is_reply_or_final).count()
    };
    assert_eq!([0, 400, 799, 800].map(&mut answers), [1, 0, 0, 1]);
    // Without a pause of its own, a handshake has the shortest one.
    let mut sides = both();
    sides[0].set_pause(Duration::ZERO);
    assert_eq!([0, 99, 100].map(|now| count(&mut sides[0], now)), [1, 0, 1]);
}

#[test]
fn time_of_an_answer_counts_from_the_first_token() {
    let mut sides = both();
    let request = sides[0].poll(at(0)).unwrap();
    assert!(sides[0].poll(at(100)).is_some(), "the Request is repeated");
    sides[1].handle(&request, at(110)).unwrap();
    let reply = std::iter::from_fn(|| sides[1].poll(at(110))).find(PeerHandshake::is_reply_or_final).unwrap();
    assert_eq!(sides[0].take_answer_time(), None);
    sides[0].handle(&reply, at(120)).unwrap();
    assert_eq!(sides[0].take_answer_time(), Some(Duration::from_millis(120)));
    assert_eq!(sides[0].take_answer_time(), None);
    let last = sides[0].poll(at(120)).unwrap();
    sides[1].handle(&last, at(150)).unwrap();
    assert_eq!(sides[1].take_answer_time(), Some(Duration::from_millis(40)));
}

#[test]
fn restart_is_a_new_proof() {
    for restarted in [0, 1] {
        let mut sides = both();
        settle(&mut sides, 0, 1000);
        let before = sides[1 - restarted].peer().unwrap().secret.clone();
        let [low, high] = pair();
        sides[restarted] = if restarted == 0 { handshake(low, high, 3) } else { handshake(high, low, 3) };
        settle(&mut sides, 10_000, 20_000);
        assert_agreed(&sides);
        assert_ne!(sides[1 - restarted].peer().unwrap().secret, before);
        assert_eq!(sides[1 - restarted].generation(), 2);
    }
}

#[test]
fn values_that_are_optional_may_lack() {
    let without = |mut token: DataHolder, names: &[&str]| {
        token.binary_properties.retain(|(name, _)| !names.contains(&name.as_str()));
        token
    };
    let mut sides = both();
    let request = without(sides[0].poll(at(0)).unwrap(), &["hash_c1"]);
    sides[1].handle(&request, at(0)).unwrap();
    let reply = without(sides[1].poll(at(0)).unwrap(), &["hash_c1", "hash_c2", "dh1"]);
    sides[0].handle(&reply, at(0)).unwrap();
    let final_token = without(sides[0].poll(at(0)).unwrap(), &["hash_c1", "hash_c2", "dh1", "dh2"]);
    sides[1].handle(&final_token, at(0)).unwrap();
    assert_agreed(&sides);
}

#[test]
fn changed_values_are_refused_and_change_nothing() {
    let mut sides = both();
    let tokens_of = |sides: &mut [PeerHandshake; 2]| {
        let request = sides[0].poll(at(0)).unwrap();
        let mut steps = vec![(1, request.clone(), sides.clone())];
        sides[1].handle(&request, at(0)).unwrap();
        let reply = sides[1].poll(at(0)).unwrap();
        steps.push((0, reply.clone(), sides.clone()));
        sides[0].handle(&reply, at(0)).unwrap();
        let final_token = sides[0].poll(at(0)).unwrap();
        steps.push((1, final_token, sides.clone()));
        steps
    };
    for (side, token, before) in tokens_of(&mut sides) {
        for index in 0..token.binary_properties.len() {
            let name = token.binary_properties[index].0.clone();
            for change in 0..4 {
                let mut changed = token.clone();
                let value = &mut changed.binary_properties[index].1;
                match change {
                    0 => value[0] ^= 1,
                    1 => value.push(0),
                    2 => value.clear(),
                    _ => {
                        let value = value.clone();
                        changed.binary_properties.push((name.clone(), value));
                    }
                }
                let mut sides = before.clone();
                let result = sides[side].handle(&changed, at(0));
                // The first token has no signature: its challenge is verified by the last one.
                let is_free = token.class_id.ends_with("+Req") && name == "challenge1" && change == 0;
                assert_eq!(result.is_ok(), is_free, "{name} of {} with change {change}", token.class_id);
                assert_eq!(sides[side].generation(), before[side].generation());
                // The true token still counts.
                sides[side].handle(&token, at(200)).unwrap();
                settle(&mut sides, 200, 5000);
                assert_agreed(&sides);
            }
        }
    }
}

#[test]
fn other_identities_cannot_use_the_guid() {
    let [low, high] = pair();
    // A member of the fleet with the GUID of another one.
    let mallory = with_guid(identity("mallory", authority()), low.guid);
    let mut forger = handshake(&mallory, high, 5);
    let mut side = handshake(high, low, 2);
    let request = forger.poll(at(0)).unwrap();
    assert_eq!(side.handle(&request, at(0)), Err(HandshakeError::Guid));
    let mallory = with_guid(identity("mallory", authority()), high.guid);
    let mut forger = handshake(&mallory, low, 5);
    let mut side = handshake(low, high, 2);
    forger.handle(&side.poll(at(0)).unwrap(), at(0)).unwrap();
    assert_eq!(side.handle(&forger.poll(at(0)).unwrap(), at(0)), Err(HandshakeError::Guid));
    // An outsider with the right subject, but another authority of the same name.
    let other_authority = Issuer::generate("identity CA", VALIDITY).unwrap();
    let subject = low.identity.certificate().subject_text();
    let outsider = with_guid(identity(subject.strip_prefix("CN=").unwrap(), &other_authority), low.guid);
    let mut forger = handshake(&outsider, high, 5);
    let mut side = handshake(high, low, 2);
    let expected = Err(HandshakeError::Certificate(CertificateError::Signature));
    assert_eq!(side.handle(&forger.poll(at(0)).unwrap(), at(0)), expected);
}

#[test]
fn certificate_must_be_valid_at_the_time_of_the_handshake() {
    let mut sides = both();
    let request = sides[0].poll(at(0)).unwrap();
    let late = HandshakeTime { elapsed: Duration::ZERO, unix: VALIDITY.not_after + 1 };
    let result = sides[1].handle(&request, late);
    assert!(matches!(result, Err(HandshakeError::Certificate(CertificateError::Expired(_)))), "{result:?}");
}

#[test]
fn sniffed_certificates_keep_no_participant_out() {
    let [low, high] = pair();
    let mut sides = both();
    // A forger has the certificate of the other side, but not its key. It begins as often as it can.
    let mut forged = handshake(low, high, 77).poll(at(0)).unwrap();
    let mut is_final_lost = false;
    for now in (0..20_000_u64).step_by(10) {
        if now % 20 == 10 {
            let (_, value) = forged.binary_properties.iter_mut().find(|(name, _)| name == "challenge1").unwrap();
            value[..8].copy_from_slice(&now.to_le_bytes());
            let _ = sides[1].handle(&forged, at(now));
        }
        // The first 5 seconds belong to the forger alone.
        for side in if now < 5000 { 1..2 } else { 0..2 } {
            while let Some(token) = sides[side].poll(at(now)) {
                let is_lost = now < 5000 || token.class_id.ends_with("+Final") && !is_final_lost;
                is_final_lost |= is_lost && now >= 5000;
                if !is_lost {
                    let _ = sides[1 - side].handle(&on_wire(&token), at(now));
                }
            }
        }
    }
    assert!(is_final_lost);
    assert_agreed(&sides);
    // Nor does it undo a proof.
    settle(&mut sides, 60_000, 100);
    let generations = sides.each_ref().map(PeerHandshake::generation);
    let forged = handshake(low, high, 78).poll(at(0)).unwrap();
    sides[1].handle(&forged, at(70_000)).unwrap();
    settle(&mut sides, 70_000, 20_000);
    assert_eq!(sides.each_ref().map(PeerHandshake::generation), generations);
    assert_agreed(&sides);
}

#[test]
fn forged_requests_to_begin_change_no_keys() {
    let [low, high] = pair();
    let mut sides = both();
    settle(&mut sides, 0, 1000);
    let mut forged = handshake(high, low, 9).poll(at(0)).unwrap();
    assert!(forged.class_id.ends_with("+AuthReq"));
    sides[0].handle(&forged, at(10_000)).unwrap();
    assert!(sides[0].deadline().is_some(), "the other side may have restarted");
    // The forger announces each challenge that it sees.
    for now in (10_000..60_000).step_by(50).map(at) {
        for side in [0, 1] {
            while let Some(token) = sides[side].poll(now) {
                if let Some(seen) = token.binary("challenge2") {
                    forged.binary_properties[0].1.copy_from_slice(seen);
                }
                let _ = sides[1 - side].handle(&on_wire(&token), now);
            }
        }
        sides[0].handle(&forged, now).unwrap();
    }
    assert_eq!(sides.each_ref().map(PeerHandshake::generation), [1, 1]);
    // Each challenge has 32 bytes.
    forged.binary_properties[0].1.push(0);
    assert_eq!(sides[0].handle(&forged, at(70_000)), Err(HandshakeError::Mismatch("future_challenge")));
    forged.binary_properties.clear();
    assert_eq!(sides[0].handle(&forged, at(70_000)), Err(HandshakeError::Missing("future_challenge")));
}

#[test]
fn secrets_are_not_shown() {
    let mut sides = both();
    settle(&mut sides, 0, 1000);
    let text = format!("{:?}", sides[0]);
    assert!(text.contains("SharedSecret { .. }") && !text.contains("seed") && text.len() < 2000, "{text}");
}

/// What the network does next.
#[derive(Debug, Clone)]
enum Event {
    /// One side is polled, and its token goes into the network.
    Poll(usize),
    /// A token of the network arrives at the other side, and leaves the network.
    Deliver(prop::sample::Index),
    /// A token arrives, and stays in the network.
    Repeat(prop::sample::Index),
    /// A token arrives at the side that has sent it.
    Reflect(prop::sample::Index),
    /// A token is lost.
    Lose(prop::sample::Index),
    /// A byte of a token changes.
    Change(prop::sample::Index, prop::sample::Index),
    /// One side starts again.
    Restart(usize, u8),
    /// Time passes.
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (0..2_usize).prop_map(Event::Poll),
        4 => index().prop_map(Event::Deliver),
        2 => index().prop_map(Event::Repeat),
        1 => index().prop_map(Event::Reflect),
        1 => index().prop_map(Event::Lose),
        1 => (index(), index()).prop_map(|(token, byte)| Event::Change(token, byte)),
        1 => (0..2_usize, any::<u8>()).prop_map(|(side, random)| Event::Restart(side, random)),
        2 => (1..800_u64).prop_map(Event::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_network_ends_in_one_secret(events in proptest::collection::vec(event(), 0..60)) {
        let [low, high] = pair();
        let mut sides = both();
        // Sender and token.
        let mut network: Vec<(usize, DataHolder)> = Vec::new();
        let mut now = 0;
        for event in events {
            match event {
                Event::Poll(side) => network.extend(sides[side].poll(at(now)).map(|token| (side, token))),
                Event::Wait(time) => now += time,
                Event::Restart(side, random) => {
                    let (local, remote) = if side == 0 { (low, high) } else { (high, low) };
                    sides[side] = handshake(local, remote, random);
                }
                _ if network.is_empty() => {}
                Event::Deliver(index) => {
                    let (side, token) = network.remove(index.index(network.len()));
                    let _ = sides[1 - side].handle(&token, at(now));
                }
                Event::Repeat(index) => {
                    let (side, token) = &network[index.index(network.len())];
                    let _ = sides[1 - side].handle(token, at(now));
                }
                Event::Reflect(index) => {
                    let (side, token) = &network[index.index(network.len())];
                    let before = sides[*side].generation();
                    let _ = sides[*side].handle(token, at(now));
                    prop_assert_eq!(sides[*side].generation(), before);
                }
                Event::Lose(index) => drop(network.remove(index.index(network.len()))),
                Event::Change(index, byte) => {
                    let index = index.index(network.len());
                    let mut bytes = network[index].1.to_bytes(TokenByteOrder::Big);
                    let byte = byte.index(bytes.len());
                    bytes[byte] ^= 1;
                    if let Ok(token) = DataHolder::parse(&bytes, TokenByteOrder::Big) {
                        network[index].1 = token;
                    }
                }
            }
            for (side, expected) in [(0, high), (1, low)] {
                if let Some(peer) = sides[side].peer() {
                    prop_assert_eq!(&peer.certificate, expected.identity.certificate());
                    prop_assert_eq!(&peer.participant_data, &expected.participant_data);
                    prop_assert_eq!(&peer.permissions, &expected.identity_permissions());
                }
            }
        }
        settle(&mut sides, now, 60_000);
        assert_agreed(&sides);
    }

    #[test]
    fn any_bytes_are_a_token_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for order in [TokenByteOrder::Big, TokenByteOrder::Little] {
            if let Ok(token) = DataHolder::parse(&bytes, order) {
                let again = DataHolder::parse(&token.to_bytes(order), order).unwrap();
                prop_assert_eq!(&again, &token);
                let mut sides = both();
                prop_assert!(sides[0].handle(&token, at(0)).is_err());
            }
        }
    }
}
