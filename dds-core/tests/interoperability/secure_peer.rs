//! What the tests with secured peers of other vendors share: a fleet, and a participant that asks a peer.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::keystore::{Keystore, Kinds};
use dds_core::matching::Obstacle;
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, PublisherQos, SubscriberQos};
use dds_core::security::{SecurityEvent, SecuritySeverity};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use dds_security::pki::KeyAlgorithm;
use std::io::{BufRead, BufReader, Read, Write};
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
        let (peer, line) = Self::start_any(command);
        assert!(!line.is_empty() && !line.contains("error"), "{line}");
        peer
    }

    /// Starts a program, and returns its first line, which may be an error.
    pub(crate) fn start_any(command: &mut Command) -> (Self, String) {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let said = process.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, said).read_line(&mut line).unwrap();
        (Self(process), line)
    }

    /// Writes a line to the standard input of the program.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Returns the number of answers that the program has written.
    fn count(&mut self) -> u32 {
        self.tell("count");
        let mut line = String::new();
        BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.trim().parse().unwrap_or_else(|error| panic!("{error}: {line}"))
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
    endpoints_in(participant, PublisherQos::default(), SubscriberQos::default())
}

/// As [`endpoints`], in groups with QoS.
fn endpoints_in(participant: &DomainParticipant, of_publisher: PublisherQos, of_subscriber: SubscriberQos) -> Asked {
    let publisher = participant.publisher(of_publisher).unwrap();
    let questions = publisher
        .writer_builder::<Octets>("Questions")
        .qos(DataWriterQos::default().reliable().keep_all())
        .build()
        .unwrap();
    let subscriber = participant.subscriber(of_subscriber).unwrap();
    let answers = subscriber
        .reader_builder::<Octets>("Answers")
        .qos(DataReaderQos::default().reliable().keep_all())
        .build()
        .unwrap();
    questions.wait_for_readers(1).block_for(PATIENCE).unwrap();
    answers.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (questions, answers)
}

/// Lengths of questions: those of the last ones fit in a datagram again.
pub(crate) const LENS: [usize; 10] = [0, 3, 100, 1_000, 5_000, 100_000, 1, 1, 1, 20_000];

/// Sends questions of several lengths, and asserts that the peer returns all of them.
pub(crate) fn ask(asked: &Asked) {
    ask_with(asked, &LENS);
}

fn ask_with((questions, answers): &Asked, lens: &[usize]) {
    for (number, len) in (0..).zip(lens.iter().copied()) {
        let question = Octets { data: vec![number as u8; len], number };
        questions.write(&question).unwrap();
        let answer = answers.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(answer, question);
    }
}

/// Asks a peer, and ends it before the endpoints and the participant.
///
/// The Fast DDS of Debian aborts if its only receiver disappears while it protects a message: `encode_rtps_message`
/// asserts that the list of receivers has an entry.
pub(crate) fn ask_and_end(participant: &DomainParticipant, peer: SecurePeer) {
    ask_with_and_end(participant, peer, &LENS);
}

fn ask_with_and_end(participant: &DomainParticipant, peer: SecurePeer, lens: &[usize]) {
    let asked = endpoints(participant);
    ask_with(&asked, lens);
    peer.end();
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

/// Lets a peer with an RSA key answer questions, in both roles of the handshake. The authorities have RSA keys too. The
/// long messages of this handshake are whole on one host, and have fragments between two hosts.
pub(crate) fn answers_with_rsa_identities(algorithms: &[KeyAlgorithm], command: impl Fn(&Path, &[&str]) -> Command) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds =
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "ENCRYPT" };
    for algorithm in algorithms.iter().copied() {
        let fleet = Keystore::with_keys(algorithm, &["one", "other"], kinds, |text| text);
        for (own, theirs) in [("one", "other"), ("other", "one")] {
            println!("{algorithm:?}, {own} here");
            let mut command = command(&fleet.enclave(theirs), &[]);
            let peer = SecurePeer::start(&mut command);
            ask_and_end(&participant(&fleet, own), peer);
            println!("on two hosts");
            let other = OtherHost::connect();
            let peer = SecurePeer::start(&mut other.on(&command));
            ask_and_end(&participant(&fleet, own), peer);
        }
    }
}

/// A host with a cable to this one: another network namespace.
struct OtherHost;

impl OtherHost {
    const NAME: &str = "other";

    fn connect() -> Self {
        for step in [
            "netns add other",
            "link add cable type veth peer name cable netns other",
            "addr add 10.77.1.1/24 dev cable",
            "link set cable up",
            "-n other addr add 10.77.1.2/24 dev cable",
            "-n other link set cable up",
            "-n other link set lo up",
            "-n other route add 224.0.0.0/4 dev cable",
        ] {
            let status = Command::new("ip").args(step.split(' ')).status().unwrap();
            assert!(status.success(), "ip {step}: {status}");
        }
        Self
    }

    /// Returns a command that runs another one there.
    fn on(&self, command: &Command) -> Command {
        let mut there = Command::new("ip");
        there.args(["netns", "exec", Self::NAME]).arg(command.get_program()).args(command.get_args());
        there.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        there
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        // The cable has two ends, and disappears with the first one.
        for step in ["link del cable", "netns del other"] {
            let _ = Command::new("ip").args(step.split(' ')).status();
        }
    }
}

/// Lets a peer join late, which reads the earlier questions. Readers that come after its answers read them too.
pub(crate) fn late_joiners_get_durable_samples(start: impl Fn(&Path, &[&str]) -> SecurePeer) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let fleet = fleet("SIGN", "ENCRYPT", "ENCRYPT", "ENCRYPT");
    for (own, theirs) in [("one", "other"), ("other", "one")] {
        println!("{own} here");
        let participant = participant(&fleet, own);
        let qos = DataWriterQos::default().reliable().keep_all().durability(Durability::TransientLocal);
        let questions = participant.writer_builder::<Octets>("Questions").qos(qos).build().unwrap();
        let asked: Vec<Octets> = (0..)
            .zip([0, 3, 100, 5_000, 100_000, 20_000])
            .map(|(number, len)| Octets { data: vec![number as u8; len], number })
            .collect();
        for question in &asked {
            questions.write(question).unwrap();
        }
        let peer = start(&fleet.enclave(theirs), &["durable"]);
        let answers_of = |participant: &DomainParticipant| {
            let qos = DataReaderQos::default().reliable().keep_all().durability(Durability::TransientLocal);
            let answers = participant.reader_builder::<Octets>("Answers").qos(qos).build().unwrap();
            for question in &asked {
                assert_eq!(&answers.next_sample().block_for(PATIENCE).unwrap().data.unwrap(), question);
            }
            answers
        };
        // The samples are old for the second reader, and for a participant that begins later. All of them outlive the
        // peer, as in `ask_and_end`.
        let _first = answers_of(&participant);
        let _second = answers_of(&participant);
        let late = self::participant(&fleet, own);
        let _of_late = answers_of(&late);
        peer.end();
    }
}

/// A fleet whose second identity may write and read in partitions `day*` only.
fn fleet_of_partitions() -> Keystore {
    let fleet = fleet("SIGN", "ENCRYPT", "ENCRYPT", "NONE");
    fleet.edit_permissions("other", |text| {
        assert!(text.contains("<partition>*<"), "{text}");
        text.replace("<partition>*<", "<partition>day*<")
    });
    fleet
}

/// Passes samples in a partition that the permissions allow. Returns the own side and the peer.
pub(crate) fn answers_in_an_allowed_partition(
    start: impl Fn(&Path, &[&str]) -> SecurePeer,
) -> (Keystore, DomainParticipant, Asked, SecurePeer) {
    let fleet = fleet_of_partitions();
    let peer = start(&fleet.enclave("other"), &["partition=day 1"]);
    let one = participant(&fleet, "one");
    // Nothing of the other partition arrives.
    let night = one.subscriber(SubscriberQos::default().partition(["night"])).unwrap();
    let of_night = night.reader_builder::<Octets>("Answers").qos(DataReaderQos::default().reliable()).build().unwrap();
    let qos = (PublisherQos::default().partition(["*"]), SubscriberQos::default().partition(["*"]));
    let asked = endpoints_in(&one, qos.0, qos.1);
    ask(&asked);
    assert!(of_night.matched_publications().is_empty() && of_night.take().unwrap().is_empty());
    (fleet, one, asked, peer)
}

/// Asserts that the own permissions refuse endpoints on this side, by file and rule.
pub(crate) fn own_permissions_refuse(fleet: &Keystore) {
    let other = participant(fleet, "other");
    let night = other.publisher(PublisherQos::default().partition(["night"])).unwrap();
    let error = night.writer_builder::<Octets>("Questions").build().unwrap_err().to_string();
    assert!(error.contains("permissions.p7s") && error.contains("writing topic \"Questions\" is denied"), "{error}");
}

/// Waits until a condition holds.
fn wait_until(mut is_done: impl FnMut() -> bool, failure: &str) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(40);
    while !is_done() {
        assert!(std::time::Instant::now() < end, "{failure}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Moves the writer of the peer into a partition that its permissions deny. Asserts that the report names the rule, and
/// that no answer arrives. Then the writer moves back, and is read again.
pub(crate) fn denied_writer_is_named((questions, answers): &Asked, peer: &mut SecurePeer) {
    peer.tell("night");
    wait_until(|| answers.matched_publications().is_empty(), "the writer still matches");
    let reports = answers.explain_matches();
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    let expected = "the permissions of its participant do not allow it: writing topic \"Answers\" is denied";
    assert!(reason.contains(expected), "{reason}");
    let before = peer.count();
    questions.write(&Octets { data: vec![1], number: 1 }).unwrap();
    wait_until(|| peer.count() > before, "the peer does not answer");
    peer.tell("day 2");
    let is_read_again = || {
        // The end of the instance is news as well.
        let arrived = answers.take().unwrap().into_data().count();
        let is_matched = !answers.matched_publications().is_empty();
        assert!(is_matched || arrived == 0, "an answer of the denied writer arrives");
        is_matched
    };
    wait_until(is_read_again, "the writer is not read again");
}

/// Kinds of protection: of messages, of discovery and liveliness, of submessages, and of payloads.
pub(crate) type Protection = (&'static str, &'static str, &'static str, &'static str);

/// Lets a peer answer questions with each kind of protection.
pub(crate) fn answers_with_each_kind_of_protection(start: impl Fn(&Path, &[&str]) -> SecurePeer) {
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
    answers_with_kinds_of_protection(&kinds, &LENS, start);
}

/// Lets a peer answer questions of these lengths, in both roles of the handshake.
pub(crate) fn answers_with_kinds_of_protection(
    kinds: &[Protection],
    lens: &[usize],
    start: impl Fn(&Path, &[&str]) -> SecurePeer,
) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, discovery, metadata, data) in kinds.iter().copied() {
        let fleet = fleet(rtps, discovery, metadata, data);
        for (own, theirs) in [("one", "other"), ("other", "one")] {
            println!("rtps {rtps}, discovery {discovery}, metadata {metadata}, data {data}, {own} here");
            let peer = start(&fleet.enclave(theirs), &[]);
            ask_with_and_end(&participant(&fleet, own), peer, lens);
        }
    }
}
