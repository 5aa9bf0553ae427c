//! Interoperability with the security plugins of Cyclone DDS in Debian: handshakes in both roles, and the kinds of
//! protection that both sides support.
//!
//! The tests need their own network, and the program of `old_cyclone/peer.c`, which `DDS_TEST_OLD_CYCLONE` names:
//! `.ci/run cyclone`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::security::Credentials;
use dds_core::{DdsType, DomainParticipant, Duration};
use dds_security::keystore::{Fleet, FleetOptions};
use dds_security::pki::Validity;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

const PATIENCE: Duration = Duration::from_secs(40);
/// Folder of the plugins in Debian, which is not on the path of the loader.
const PLUGINS: &str = "/usr/lib/x86_64-linux-gnu/libddsc0debian";
/// All tests use domain 0.
static TURN: Mutex<()> = Mutex::new(());

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Octets {
    #[dds(octet)]
    data: Vec<u8>,
    number: i32,
}

/// The files of a fleet whose governance has these kinds: messages, discovery and liveliness, submessages.
struct SecureFleet(PathBuf);

impl SecureFleet {
    fn new(rtps: &str, discovery: &str, metadata: &str, identities: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dds-cyclone-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
        let validity = Validity { not_before: now - 86_400, not_after: now + 86_400 };
        let options = |identities: &[&str]| FleetOptions {
            identities: identities.iter().map(|name| (*name).to_owned()).collect(),
            ..FleetOptions::new(validity)
        };
        Fleet::create(&folder, &options(&[])).unwrap();
        let path = folder.join("enclaves/governance.xml");
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (element, default, kind) in [
            ("rtps_protection_kind", "SIGN", rtps),
            ("discovery_protection_kind", "ENCRYPT", discovery),
            ("liveliness_protection_kind", "ENCRYPT", discovery),
            ("metadata_protection_kind", "ENCRYPT", metadata),
        ] {
            text = text.replace(&format!("<{element}>{default}<"), &format!("<{element}>{kind}<"));
        }
        std::fs::write(&path, text).unwrap();
        Fleet::create(&folder, &options(identities)).unwrap();
        Self(folder)
    }

    fn enclave(&self, name: &str) -> PathBuf {
        self.0.join("enclaves").join(name)
    }

    fn participant(&self, name: &str) -> DomainParticipant {
        let credentials = Credentials::from_keystore(self.enclave(name)).unwrap();
        DomainParticipant::builder(0).credentials(credentials).build().unwrap()
    }
}

impl Drop for SecureFleet {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A process of Cyclone DDS that answers questions.
struct SecureCyclone(Child);

impl SecureCyclone {
    fn start(enclave: &Path) -> Self {
        let program = std::env::var("DDS_TEST_OLD_CYCLONE").expect("the program of peer.c");
        let library = |name: &str, function: &str| {
            format!(
                "<Library path=\"{PLUGINS}/libdds_security_{name}.so\" initFunction=\"init_{function}\" \
                 finalizeFunction=\"finalize_{function}\"/>"
            )
        };
        let file = |name: &str| format!("file:{}", enclave.join(name).display());
        let security = format!(
            "<CycloneDDS><Domain><Tracing><Verbosity>warning</Verbosity><OutputFile>stderr</OutputFile></Tracing>\
             <Security><Authentication>{}<IdentityCertificate>{}</IdentityCertificate>\
             <IdentityCA>{}</IdentityCA><PrivateKey>{}</PrivateKey></Authentication>\
             <Cryptographic>{}</Cryptographic><AccessControl>{}<PermissionsCA>{}</PermissionsCA>\
             <Governance>{}</Governance><Permissions>{}</Permissions></AccessControl></Security></Domain></CycloneDDS>",
            library("auth", "authentication"),
            file("cert.pem"),
            file("identity_ca.cert.pem"),
            file("key.pem"),
            library("crypto", "crypto"),
            library("ac", "access_control"),
            file("permissions_ca.cert.pem"),
            file("governance.p7s"),
            file("permissions.p7s"),
        );
        let mut command = Command::new(program);
        command.env("CYCLONEDDS_URI", security).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut version = String::new();
        let said = process.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, said).read_line(&mut version).unwrap();
        assert!(!version.contains("error"), "{version}");
        Self(process)
    }

    /// Ends the process. It must not have failed before.
    fn end(mut self) {
        drop(self.0.stdin.take());
        let mut rest = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest.trim(), "alive");
        assert!(self.0.wait().unwrap().success());
    }
}

/// Sends questions of several lengths, and asserts that Cyclone DDS returns all of them.
fn ask(participant: &DomainParticipant) {
    let questions = participant
        .writer_builder::<Octets>("Questions")
        .qos(DataWriterQos::default().reliable().keep_all())
        .build()
        .unwrap();
    let answers = participant
        .reader_builder::<Octets>("Answers")
        .qos(DataReaderQos::default().reliable().keep_all())
        .build()
        .unwrap();
    questions.wait_for_readers(1).block_for(PATIENCE).unwrap();
    answers.wait_for_writers(1).block_for(PATIENCE).unwrap();
    for (number, len) in (0..).zip([0, 3, 100, 1_000, 5_000, 100_000, 1, 1, 1, 20_000]) {
        let question = Octets { data: vec![number as u8; len], number };
        questions.write(&question).unwrap();
        let answer = answers.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(answer, question);
    }
}

/// Both roles of the handshake follow from the names, whose hashes decide which GUID is lower.
#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_answers_with_each_kind_of_protection() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = [
        ("NONE", "NONE", "NONE"),
        ("SIGN", "NONE", "NONE"),
        ("ENCRYPT", "NONE", "NONE"),
        ("NONE", "NONE", "SIGN"),
        ("NONE", "ENCRYPT", "ENCRYPT"),
        ("SIGN", "ENCRYPT", "ENCRYPT"),
    ];
    for (rtps, discovery, metadata) in kinds {
        let fleet = SecureFleet::new(rtps, discovery, metadata, &["one", "other"]);
        for (own, theirs) in [("one", "other"), ("other", "one")] {
            println!("rtps {rtps}, discovery {discovery}, metadata {metadata}, {own} here");
            let cyclone = SecureCyclone::start(&fleet.enclave(theirs));
            ask(&fleet.participant(own));
            cyclone.end();
        }
    }
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_of_another_fleet_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let [ours, theirs] = [(); 2].map(|()| SecureFleet::new("SIGN", "NONE", "NONE", &["one", "other"]));
    // The name `one` has the lower GUID, so Cyclone DDS begins, and this side sees a wrong certificate.
    let cyclone = SecureCyclone::start(&theirs.enclave("one"));
    let participant = ours.participant("other");
    let answers = participant.reader_builder::<Octets>("Answers").build().unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(40);
    loop {
        let error = answers.wait_for_writers(1).block_for(Duration::from_secs(1)).unwrap_err().to_string();
        if error.contains("is refused: the handshake failed") {
            break;
        }
        assert!(std::time::Instant::now() < end, "{error}");
    }
    assert!(participant.discovered_participants().is_empty());
    cyclone.end();
}
