//! Interoperability with the security plugins of Cyclone DDS in Debian: handshakes in both roles, and the kinds of
//! protection that both sides support.
//!
//! The tests need their own network, and the program of `old_cyclone/peer.c`, which `DDS_TEST_OLD_CYCLONE` names:
//! `.ci/run cyclone`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::keystore::{Keystore, Kinds};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

const PATIENCE: Duration = Duration::from_secs(40);
/// Folder of the plugins in Debian, inside a folder of libraries.
const PLUGINS: &str = "libddsc0debian";
/// All tests use domain 0.
static TURN: Mutex<()> = Mutex::new(());

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Octets {
    #[dds(octet)]
    data: Vec<u8>,
    number: i32,
}

/// Makes a fleet whose governance has these kinds: messages, discovery and liveliness, submessages, payloads.
fn fleet(rtps: &'static str, discovery: &'static str, metadata: &'static str, data: &'static str) -> Keystore {
    let kinds = Kinds { rtps, discovery, liveliness: discovery, metadata, data };
    Keystore::new(&["one", "other"], kinds, |text| text)
}

fn participant(fleet: &Keystore, name: &str) -> DomainParticipant {
    DomainParticipant::builder(0).credentials(fleet.credentials(name)).build().unwrap()
}

/// Returns the folder of the plugins, which is not on the path of the loader. Each architecture has its own.
fn plugins() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("folders of libraries").flatten();
    let mut found = folders.map(|folder| folder.path().join(PLUGINS)).filter(|path| path.is_dir());
    found.next().expect("the plugins of the package libddsc0debian")
}

/// A process of Cyclone DDS that answers questions.
struct SecureCyclone(Child);

impl SecureCyclone {
    fn start(enclave: &Path) -> Self {
        let program = std::env::var("DDS_TEST_OLD_CYCLONE").expect("the program of peer.c");
        let plugins = plugins();
        let library = |name: &str, function: &str| {
            let plugins = plugins.display();
            format!(
                "<Library path=\"{plugins}/libdds_security_{name}.so\" initFunction=\"init_{function}\" \
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

/// Creates endpoints for questions and answers, and waits for those of Cyclone DDS.
fn endpoints(participant: &DomainParticipant) -> (DataWriter<Octets>, DataReader<Octets>) {
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
    (questions, answers)
}

/// Sends questions of several lengths, and asserts that Cyclone DDS returns all of them.
fn ask((questions, answers): &(DataWriter<Octets>, DataReader<Octets>)) {
    for (number, len) in (0..).zip([0, 3, 100, 1_000, 5_000, 100_000, 1, 1, 1, 20_000]) {
        let question = Octets { data: vec![number as u8; len], number };
        questions.write(&question).unwrap();
        let answer = answers.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(answer, question);
    }
}

const SIGN_ORIGIN: &str = "SIGN_WITH_ORIGIN_AUTHENTICATION";
const ENCRYPT_ORIGIN: &str = "ENCRYPT_WITH_ORIGIN_AUTHENTICATION";

/// Both roles of the handshake follow from the names, whose hashes decide which GUID is lower.
#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_answers_with_each_kind_of_protection() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = [
        ("NONE", "NONE", "NONE", "NONE"),
        ("SIGN", "NONE", "NONE", "NONE"),
        ("ENCRYPT", "NONE", "NONE", "NONE"),
        ("NONE", "NONE", "SIGN", "NONE"),
        ("NONE", "ENCRYPT", "ENCRYPT", "NONE"),
        ("SIGN", "ENCRYPT", "ENCRYPT", "NONE"),
        ("NONE", "NONE", "NONE", "SIGN"),
        ("NONE", "NONE", "NONE", "ENCRYPT"),
        ("NONE", "NONE", "SIGN", "ENCRYPT"),
        ("SIGN", "ENCRYPT", "ENCRYPT", "ENCRYPT"),
        (SIGN_ORIGIN, "NONE", "NONE", "NONE"),
        (ENCRYPT_ORIGIN, "NONE", "NONE", "NONE"),
        ("NONE", "NONE", SIGN_ORIGIN, "NONE"),
        ("NONE", ENCRYPT_ORIGIN, ENCRYPT_ORIGIN, "NONE"),
        (SIGN_ORIGIN, ENCRYPT_ORIGIN, ENCRYPT_ORIGIN, "ENCRYPT"),
    ];
    for (rtps, discovery, metadata, data) in kinds {
        let fleet = fleet(rtps, discovery, metadata, data);
        for (own, theirs) in [("one", "other"), ("other", "one")] {
            println!("rtps {rtps}, discovery {discovery}, metadata {metadata}, data {data}, {own} here");
            let cyclone = SecureCyclone::start(&fleet.enclave(theirs));
            ask(&endpoints(&participant(&fleet, own)));
            cyclone.end();
        }
    }
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_reads_on_after_an_expulsion() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, discovery, metadata, data) in
        [("SIGN", "ENCRYPT", "ENCRYPT", "ENCRYPT"), (SIGN_ORIGIN, ENCRYPT_ORIGIN, ENCRYPT_ORIGIN, "NONE")]
    {
        let fleet = fleet(rtps, discovery, metadata, data);
        let cyclone = SecureCyclone::start(&fleet.enclave("other"));
        let [one, expelled] = [(); 2].map(|()| participant(&fleet, "one"));
        let asked = endpoints(&one);
        ask(&asked);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(40);
        while one.discovered_participants().len() < 2 {
            assert!(std::time::Instant::now() < end, "the other participant is not found");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert!(one.ignore_participant(expelled.instance_handle()));
        // Keys would have changed by then, which Cyclone DDS does not follow.
        std::thread::sleep(std::time::Duration::from_secs(1));
        ask(&asked);
        cyclone.end();
    }
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_of_another_fleet_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let [ours, theirs] = [(); 2].map(|()| fleet("SIGN", "NONE", "NONE", "NONE"));
    // The name `one` has the lower GUID, so Cyclone DDS begins, and this side sees a wrong certificate.
    let cyclone = SecureCyclone::start(&theirs.enclave("one"));
    let participant = participant(&ours, "other");
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
