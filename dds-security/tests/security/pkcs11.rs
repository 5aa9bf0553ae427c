//! Identities whose private keys stay in a PKCS #11 token.

use crate::soft_hsm::{PIN, SoftHsm, with_soft_hsm};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use dds_security::authentication::{
    HandshakeError, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant, PeerHandshake,
};
use dds_security::keystore::{Fleet, FleetOptions, KEY_URI, check};
use dds_security::pki::{Certificate, Issuer, KeyAlgorithm, Pkcs11Error, Pkcs11Key, Pkcs11Uri, PrivateKey, Validity};
use std::sync::Arc;
use std::time::Duration;

const UNIX: i64 = 1_893_456_000;
const VALIDITY: Validity = Validity { not_before: UNIX - 1000, not_after: UNIX + 1000 };
const NOW: HandshakeTime = HandshakeTime { elapsed: Duration::ZERO, unix: UNIX };

fn participant(identity: LocalIdentity) -> Arc<LocalParticipant> {
    let mut guid = [0; 16];
    guid[..12].copy_from_slice(&identity.prefix(*b"a candidate!"));
    guid[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
    let participant_data = [&[0, 0x50, 0, 16][..], &guid, &[0, 1, 0, 0]].concat();
    Arc::new(LocalParticipant { identity, guid, participant_data })
}

/// Makes a key in a token, and the identity with it. No file has the key.
fn identity_in_token(hsm: &SoftHsm, authority: &Issuer, number: u8, algorithm: KeyAlgorithm) -> LocalIdentity {
    let key = PrivateKey::generate_for(algorithm).unwrap();
    let name = &format!("robot{number}");
    hsm.import(&key.to_pem(), "fleet", name, &format!("0{number}"));
    let certificate = authority.issue(name, &key, VALIDITY).unwrap().to_pem();
    drop(key);
    let uri: Pkcs11Uri = hsm.uri(&format!("token=fleet;object={name}")).parse().unwrap();
    let ca = authority.certificate().to_pem();
    LocalIdentity::with_pkcs11_key(&ca, &certificate, &uri, Vec::new(), UNIX).unwrap()
}

/// Runs a handshake, and returns the errors of both sides.
fn shake_hands(participants: &[Arc<LocalParticipant>; 2]) -> ([PeerHandshake; 2], Vec<HandshakeError>) {
    let mut sides = [0, 1].map(|side| {
        let remote = HandshakeRemote { guid: participants[1 - side].guid, vendor: [1, 0xdd] };
        let mut handshake = PeerHandshake::new(Arc::clone(&participants[side]), remote, [side as u8 + 1; 32]);
        handshake.note_requirement(true);
        handshake
    });
    let mut errors = Vec::new();
    for _ in 0..4 {
        for side in [0, 1] {
            while let Some(token) = sides[side].poll(NOW) {
                errors.extend(sides[1 - side].handle(&token, NOW).err());
            }
        }
    }
    (sides, errors)
}

fn assert_agreed(participants: &[Arc<LocalParticipant>; 2]) {
    let (sides, errors) = shake_hands(participants);
    let [one, other] = sides.each_ref().map(|side| side.peer().unwrap_or_else(|| panic!("{errors:?}")));
    assert_eq!(one.secret, other.secret);
}

#[test]
fn identities_in_tokens_prove_themselves() {
    with_soft_hsm("pkcs11::identities_in_tokens_prove_themselves", |hsm| {
        hsm.add_token("fleet");
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let algorithms = [KeyAlgorithm::EcP256, KeyAlgorithm::EcP384, KeyAlgorithm::Rsa2048];
        let all: Vec<_> = (0..)
            .zip(algorithms)
            .map(|(number, algorithm)| {
                let identity = identity_in_token(hsm, &authority, number, algorithm);
                assert!(identity.time_in_token() > Duration::ZERO, "the token has signed once");
                participant(identity)
            })
            .collect();
        for (one, other) in [(0, 1), (1, 2), (2, 0)] {
            let mut pair = [Arc::clone(&all[one]), Arc::clone(&all[other])];
            pair.sort_by_key(|participant| participant.guid);
            let times = || pair.each_ref().map(|participant| participant.identity.time_in_token());
            let before = times();
            assert_agreed(&pair);
            assert!(before.iter().zip(times()).all(|(before, after)| *before < after), "each side has signed");
        }
    });
}

#[test]
fn key_that_the_token_has_closed_is_opened_again() {
    with_soft_hsm("pkcs11::key_that_the_token_has_closed_is_opened_again", |hsm| {
        hsm.add_token("fleet");
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let mut pair =
            [1, 2].map(|number| participant(identity_in_token(hsm, &authority, number, KeyAlgorithm::EcP256)));
        pair.sort_by_key(|participant| participant.guid);
        assert_agreed(&pair);
        // Another part of the process ends the login that all sessions share. The library is the same one.
        let module = cryptoki::context::Pkcs11::new(hsm.module).unwrap();
        let slots = module.get_slots_with_initialized_token().unwrap();
        let session = module.open_rw_session(slots[0]).unwrap();
        session.logout().unwrap();
        assert_agreed(&pair);
        // The keys are gone.
        for object in session.find_objects(&[]).unwrap() {
            session.destroy_object(object).unwrap();
        }
        let (sides, errors) = shake_hands(&pair);
        assert!(sides.iter().all(|side| side.peer().is_none()));
        let [HandshakeError::OwnKey(text), ..] = &errors[..] else { panic!("{errors:?}") };
        assert!(text.contains("no private key of this name for EC P-256: correct object=NAME"), "{text}");
    });
}

#[test]
fn refused_pin_is_not_tried_again() {
    with_soft_hsm("pkcs11::refused_pin_is_not_tried_again", |hsm| {
        hsm.add_token("fleet");
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let mut pair =
            [1, 2].map(|number| participant(identity_in_token(hsm, &authority, number, KeyAlgorithm::EcP256)));
        pair.sort_by_key(|participant| participant.guid);
        let module = cryptoki::context::Pkcs11::new(hsm.module).unwrap();
        let session = module.open_rw_session(module.get_slots_with_initialized_token().unwrap()[0]).unwrap();
        let [old, new] = [PIN, "4321"].map(|pin| AuthPin::new(pin.into()));
        session.set_pin(&old, &new).unwrap();
        session.logout().unwrap();
        let refuses = || {
            let (_, errors) = shake_hands(&pair);
            matches!(&errors[..], [HandshakeError::OwnKey(text), ..] if text.contains("refuses the PIN"))
        };
        assert!(refuses());
        session.login(UserType::User, Some(&new)).unwrap();
        session.set_pin(&new, &old).unwrap();
        session.logout().unwrap();
        assert!(refuses(), "another attempt may lock a token");
    });
}

#[test]
fn faults_of_tokens_name_the_next_step() {
    with_soft_hsm("pkcs11::faults_of_tokens_name_the_next_step", |hsm| {
        ["fleet", "spare", "spare"].into_iter().for_each(|label| hsm.add_token(label));
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let [own, other] = [(); 2].map(|()| PrivateKey::generate().unwrap());
        for (key, object, id) in [(&own, "robot", "01"), (&other, "other", "02"), (&own, "twice", "03")] {
            hsm.import(&key.to_pem(), "fleet", object, id);
        }
        hsm.import(&other.to_pem(), "fleet", "twice", "04");
        let certificate = authority.issue("robot", &own, VALIDITY).unwrap();
        let rsa = PrivateKey::from_pem(include_str!("../pki/rsa.robot.key.pem")).unwrap();
        let of_rsa = authority.issue("robot", &rsa, VALIDITY).unwrap();
        let open = |uri: &str, certificate: &Certificate| Pkcs11Key::open(&uri.parse().unwrap(), certificate);
        let module = hsm.module;
        let pin_file = hsm.folder.join("pin").display().to_string();
        // A login lasts as long as a key is open, so these come first.
        let fault = |uri: &str| open(uri, &certificate).unwrap_err();
        let wrong = fault(&format!("pkcs11:token=fleet;object=robot?module-path={module}&pin-value=9999"));
        assert!(matches!(wrong, Pkcs11Error::Pin(_)) && wrong.to_string().contains("correct the file"), "{wrong}");
        let none = fault(&format!("pkcs11:token=fleet;object=robot?module-path={module}"));
        assert_eq!(none, Pkcs11Error::NoPin);
        let from_file = format!("pkcs11:token=fleet;object=robot?module-path={module}&pin-source=file:{pin_file}");
        assert!(matches!(fault(&from_file), Pkcs11Error::PinFile(..)));
        std::fs::write(&pin_file, "\n").unwrap();
        assert!(fault(&from_file).to_string().contains("the first line is empty"));
        std::fs::write(&pin_file, format!("{PIN}\nnotes\n")).unwrap();
        open(&from_file, &certificate).unwrap();
        assert!(matches!(fault("pkcs11:object=robot?module-path=/no.so&pin-value=1"), Pkcs11Error::Module(..)));
        assert_eq!(fault(&hsm.uri("token=ship;object=robot")).to_string().matches("fleet").count(), 1);
        assert!(matches!(fault(&hsm.uri("object=robot")), Pkcs11Error::SeveralTokens(_)));
        assert_eq!(fault(&hsm.uri("token=spare;object=robot")), Pkcs11Error::SeveralTokens("spare, spare".to_owned()));
        assert_eq!(fault(&hsm.uri("token=fleet;object=nothing")), Pkcs11Error::NoKey("EC P-256"));
        assert_eq!(fault(&hsm.uri("token=fleet;object=twice")), Pkcs11Error::SeveralKeys);
        assert_eq!(fault(&hsm.uri("token=fleet;object=other")), Pkcs11Error::OtherKey);
        assert_eq!(open(&hsm.uri("token=fleet;object=robot"), &of_rsa).unwrap_err(), Pkcs11Error::NoKey("RSA"));
        let key = open(&hsm.uri("token=fleet;object=twice;id=%03"), &certificate).unwrap();
        assert!(!format!("{key:?}").contains(PIN));
    });
}

#[test]
fn check_opens_the_key_of_an_enclave() {
    with_soft_hsm("pkcs11::check_opens_the_key_of_an_enclave", |hsm| {
        hsm.add_token("fleet");
        let folder = hsm.folder.join("keystore");
        let options = FleetOptions { identities: vec!["robot".to_owned()], ..FleetOptions::new(VALIDITY) };
        Fleet::create(&folder, &options).unwrap();
        let file = |name: &str| folder.join("enclaves/robot").join(name);
        let key = std::fs::read_to_string(file("key.pem")).unwrap();
        hsm.import(&key, "fleet", "robot", "01");
        std::fs::remove_file(file("key.pem")).unwrap();
        let findings = |uri: &str| {
            std::fs::write(file(KEY_URI), uri).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(file(KEY_URI), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            let checked = check(&folder, UNIX).unwrap();
            // A certificate of this test ends soon.
            let errors = checked.findings.into_iter().filter(|finding| finding.is_error);
            (errors.map(|finding| finding.message).collect::<Vec<_>>(), checked.identities.len())
        };
        assert_eq!(findings(&format!("{}\n", hsm.uri("token=fleet;object=robot"))), (Vec::new(), 1));
        let (errors, identities) = findings(&hsm.uri("token=fleet;object=robot2"));
        assert!(errors[0].contains("has no private key of this name") && identities == 0, "{errors:?}");
        let (errors, _) = findings("robot");
        assert!(errors[0].contains("expected a URI such as pkcs11:"), "{errors:?}");
        // A second call makes no other key.
        findings(&hsm.uri("token=fleet;object=robot"));
        Fleet::create(&folder, &options).unwrap();
        assert!(!file("key.pem").exists());
    });
}
