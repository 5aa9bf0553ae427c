//! What the tests with secured peers of other vendors share: a fleet, and a participant that asks a peer.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::keystore::{Keystore, Kinds};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::security::{SecurityEvent, SecuritySeverity};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

pub(crate) const PATIENCE: Duration = Duration::from_secs(40);
pub(crate) const SIGN_ORIGIN: &str = "SIGN_WITH_ORIGIN_AUTHENTICATION";
pub(crate) const ENCRYPT_ORIGIN: &str = "ENCRYPT_WITH_ORIGIN_AUTHENTICATION";
/// All tests use domain 0.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

#[derive(DdsType, Debug, PartialEq, Clone)]
pub(crate) struct Octets {
    #[dds(octet)]
    pub(crate) data: Vec<u8>,
    pub(crate) number: i32,
}

/// Makes a fleet whose governance has these kinds: messages, discovery and liveliness, submessages, payloads.
pub(crate) fn fleet(
    rtps: &'static str,
    discovery: &'static str,
    metadata: &'static str,
    data: &'static str,
) -> Keystore {
    let kinds = Kinds { rtps, discovery, liveliness: discovery, metadata, data };
    Keystore::new(&["one", "other"], kinds, |text| text)
}

pub(crate) fn participant(fleet: &Keystore, name: &str) -> DomainParticipant {
    DomainParticipant::builder(0).credentials(fleet.credentials(name)).build().unwrap()
}

/// A participant that publishes its decisions.
pub(crate) fn observed_participant(fleet: &Keystore, name: &str) -> DomainParticipant {
    let credentials = fleet.credentials(name).publish_events(SecuritySeverity::Informational);
    DomainParticipant::builder(0).credentials(credentials).build().unwrap()
}

/// A process of another vendor that answers questions.
pub(crate) struct SecurePeer(Child);

impl SecurePeer {
    /// Starts a program, and waits for its first line.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let said = process.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, said).read_line(&mut line).unwrap();
        assert!(!line.is_empty() && !line.contains("error"), "{line}");
        Self(process)
    }

    /// Ends the process. It must not have failed before.
    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        let mut rest = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest.trim(), "alive");
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for SecurePeer {
    fn drop(&mut self) {
        // After a failed test. Otherwise it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A writer of questions and a reader of answers.
pub(crate) type Asked = (DataWriter<Octets>, DataReader<Octets>);

/// Creates endpoints for questions and answers, and waits for those of the peer.
pub(crate) fn endpoints(participant: &DomainParticipant) -> Asked {
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

/// Sends questions of several lengths, and asserts that the peer returns all of them.
pub(crate) fn ask((questions, answers): &Asked) {
    for (number, len) in (0..).zip([0, 3, 100, 1_000, 5_000, 100_000, 1, 1, 1, 20_000]) {
        let question = Octets { data: vec![number as u8; len], number };
        questions.write(&question).unwrap();
        let answer = answers.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(answer, question);
    }
}

/// Cuts a participant off. Waits until the other one publishes that its keys stay, because of a peer of another vendor.
pub(crate) fn expel(one: &DomainParticipant, expelled: &DomainParticipant) {
    let events = one
        .reader_builder::<SecurityEvent>(SecurityEvent::TOPIC)
        .qos(DataReaderQos::default().reliable().keep_all())
        .build()
        .unwrap();
    events.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(40);
    while one.discovered_participants().len() < 2 {
        assert!(std::time::Instant::now() < end, "the other participant is not found");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(one.ignore_participant(expelled.instance_handle()));
    loop {
        let event = events.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        if event.message.contains("takes no new ones") {
            return;
        }
    }
}

/// Waits until the participant says that it refuses the handshake of the peer.
pub(crate) fn refuse(participant: &DomainParticipant) {
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
}

/// Lets a peer answer questions with each kind of protection, in both roles of the handshake.
pub(crate) fn answers_with_each_kind_of_protection(start: impl Fn(&Path) -> SecurePeer) {
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
            let peer = start(&fleet.enclave(theirs));
            ask(&endpoints(&participant(&fleet, own)));
            peer.end();
        }
    }
}
