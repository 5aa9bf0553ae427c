//! Pre-shared keys in a network where an outsider sees, changes and repeats every datagram.

use crate::simulated::{Node, Random, World};
use crate::support::Notes;
use dds_core::driver::Socket;
use dds_core::error::{CreateErrorKind, Missing, WaitErrorKind};
use dds_core::qos::Preset;
use dds_core::security::{Passphrase, PreSharedKey};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration};
use dds_rtps::types::GuidPrefix;
use dds_rtps::wire::MessageBuilder;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const PATIENCE: Duration = Duration::from_secs(60);
const TEXT: &str = "a passphrase of this test";
/// Held by each test: `tracing` may miss a line that another thread writes for the first time at the same instant.
static TURN: Mutex<()> = Mutex::new(());
/// Bytes of the longest datagram: a fragment with its headers, the HEARTBEATs of new readers, and the protection.
const LONGEST: usize = 1484;

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Block {
    #[dds(key)]
    number: u32,
    bytes: Vec<u8>,
}

fn block(number: u32, len: usize) -> Block {
    Block { number, bytes: vec![number as u8; len] }
}

fn key(id: u32, text: &str) -> PreSharedKey {
    PreSharedKey::new(Passphrase::new(id, text).unwrap())
}

fn builder() -> DomainParticipantBuilder {
    DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO)
}

/// Two participants with the same key, whose datagrams are recorded.
struct Link {
    world: World,
    robot: (DomainParticipant, Node),
    station: (DomainParticipant, Node),
    writer: DataWriter<Block>,
    reader: DataReader<Block>,
}

impl Link {
    fn new() -> Self {
        let world = World::new(1);
        let [robot, station] = [(); 2].map(|()| {
            let node = world.node();
            node.record();
            (node.build(builder().pre_shared_key(key(1, TEXT))), node)
        });
        let writer = robot.0.writer_builder("blocks").qos(Preset::Event.writer()).build().unwrap();
        let reader = station.0.reader_builder("blocks").qos(Preset::Event.reader()).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        Self { world, robot, station, writer, reader }
    }

    /// Writes blocks, and asserts that they arrive once, in order and unchanged.
    fn pass(&self, numbers: std::ops::Range<u32>) {
        let written: Vec<_> = numbers.map(|number| block(number, number as usize * 7 % 500)).collect();
        written.iter().for_each(|block| self.writer.write(block).unwrap());
        let mut arrived = Vec::new();
        let is_done = || {
            arrived.extend(self.reader.take().unwrap().into_data());
            arrived.len() >= written.len()
        };
        assert!(self.world.pass_until(PATIENCE, is_done), "reliable samples do not arrive");
        assert_eq!(arrived, written);
    }
}

#[test]
fn protected_samples_of_all_sizes_arrive_and_nothing_is_readable() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (seed, signing) in [(0, false), (1, false), (2, true)] {
        let interference = Interference { occupied: 0.5, ..Interference::default() };
        let simulation = Simulation::with_interference(seed, interference);
        simulation.set_network(Conditions { loss: 0.1, ..Conditions::default() });
        let seen = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&seen);
        simulation.intercept(move |passing| {
            assert_eq!((&passing.bytes[..4], passing.bytes[20]), (&b"RTPS"[..], 0x33), "a plain message");
            let names_topic = passing.bytes.windows(6).any(|part| part == b"blocks");
            assert!(signing || !names_topic, "the topic is readable");
            assert!(passing.bytes.len() <= LONGEST, "a datagram of {} bytes", passing.bytes.len());
            counted.fetch_add(1, Ordering::Relaxed);
            true
        });
        let build = |host| {
            let key = key(1, TEXT);
            let key = if signing { key.signing_only() } else { key };
            simulation.build(host, builder().pre_shared_key(key)).unwrap()
        };
        let (robot, station) = (build("robot"), build("station"));
        let writer = robot.writer_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
        let reader = station.reader_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let mut written = Vec::new();
        for (number, len) in (0..).zip([0, 1, 100, 1_000, 40_000, 300_000, 10, 10, 10, 70_000, 5]) {
            written.push(block(number, len));
            writer.write(&written[number as usize]).unwrap();
        }
        writer.acknowledged().block_for(PATIENCE).unwrap();
        let received: Vec<Block> = reader.take().unwrap().into_data().collect();
        assert_eq!(received, written, "seed {seed}");
        assert!(seen.load(Ordering::Relaxed) > 300);
        assert_eq!(robot.traffic().rejected + station.traffic().rejected, 0);
    }
}

#[test]
fn participants_without_the_key_see_nothing_and_log_why() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let world = World::new(3);
    let ((), lines) = Notes::of_warnings().take(|| {
        let nodes = [(); 4].map(|()| world.node());
        let robot = nodes[0].build(builder().pre_shared_key(key(1, TEXT)));
        let others = [
            nodes[1].build(builder()),
            nodes[2].build(builder().pre_shared_key(key(1, "a guess of an outsider"))),
            nodes[3].build(builder().pre_shared_key(key(2, TEXT))),
        ];
        let writer = robot.writer_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
        let reads = others.iter().map(|other| other.reader_builder::<Block>("blocks").qos(Preset::Event).build());
        let readers: Vec<_> = reads.map(Result::unwrap).collect();
        writer.write(&block(1, 10)).unwrap();
        world.pass(Duration::from_secs(8));
        for (other, reader) in others.iter().zip(&readers) {
            assert!(other.discovered_participants().is_empty());
            assert!(reader.take().unwrap().is_empty());
        }
        assert!(robot.discovered_participants().is_empty());
        let counts = others.each_ref().map(|other| (other.traffic().secure > 0, other.traffic().rejected > 0));
        assert_eq!(counts, [(true, false), (false, true), (false, true)]);
        // A wait says it too.
        let missing = |reader: &DataReader<Block>| {
            let error = reader.wait_for_writers(1).block_for(Duration::from_millis(100)).unwrap_err();
            match error.kind() {
                WaitErrorKind::Timeout { missing, .. } => missing.clone(),
                other => panic!("{other:?}"),
            }
        };
        let missing: Vec<_> = readers.iter().map(missing).collect();
        for (missing, part) in missing.iter().zip(["has no key", "compare the passphrases", "compare passphrase id"]) {
            assert!(matches!(missing, Missing::Protection { report } if report.contains(part)), "{missing}");
        }
    });
    for part in [
        "a participant protects its messages, and this one has no key",
        "it is not protected (give that participant the pre-shared key",
        "its authentication code is wrong",
        "its sender uses an unknown key",
    ] {
        let count = lines.iter().filter(|line| line.contains(part)).count();
        assert!((1..=4).contains(&count), "{part}: {count} in {lines:#?}");
    }
    assert!(!lines.concat().contains(TEXT));
}

/// An outsider repeats, cuts, splices, renames and reflects all that it has recorded.
#[test]
fn outsider_changes_nothing_with_recorded_datagrams() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let link = Link::new();
    link.pass(0..40);
    let (of_robot, of_station) = (link.robot.1.recorded(), link.station.1.recorded());
    assert!(of_robot.len() > 20 && of_station.len() > 5);
    let before = [&link.robot.0, &link.station.0].map(DomainParticipant::traffic);
    let mut random = Random(11);
    let (mut sent, mut copies) = (0, 0);
    for _ in 0..1500 {
        let mut bytes = random.one_of(if random.clone().once_in(2) { &of_robot } else { &of_station }).clone();
        let other = random.one_of(&of_robot).clone();
        match random.below(6) {
            // A replay, or a reflection to its own sender.
            0 => {}
            1 => bytes.truncate(random.below(bytes.len())),
            2 => {
                let at = 8 + random.below(12);
                bytes[at] ^= 1 << random.below(8);
            }
            3 => {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            // The header of one datagram with the content of another.
            4 => bytes = [&bytes[..20 + random.below(60)], &other[other.len().min(40)..]].concat(),
            // A plain submessage behind the protected ones.
            _ => bytes.extend_from_slice(&[0x0e, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        }
        let to = if random.once_in(2) { &link.robot.1 } else { &link.station.1 };
        to.feed(&bytes, if random.once_in(2) { Socket::UserUnicast } else { Socket::MetatrafficUnicast });
        sent += 1;
        copies += u64::from(of_robot.contains(&bytes) || of_station.contains(&bytes));
    }
    let after = [&link.robot.0, &link.station.0].map(DomainParticipant::traffic);
    let refused: u64 = (0..2).map(|at| after[at].rejected - before[at].rejected).sum();
    let reflected: u64 = (0..2).map(|at| after[at].reflected - before[at].reflected).sum();
    // A participant knows its own messages by their name, and drops them too. Copies, and datagrams that differ from
    // them in unused bits only, do not count as refused.
    assert!(refused + reflected + copies >= sent - 20, "{refused} refused, {reflected} reflected of {sent}");
    assert!(refused > sent / 4);
    assert!(link.reader.take().unwrap().is_empty());
    assert_eq!(link.robot.0.discovered_participants().len(), 1);
    link.pass(40..80);
}

/// A multicast message goes out on each link. A host with two links gets it twice, its sender included.
#[test]
fn copies_of_authentic_datagrams_count_as_no_refusals() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (link, lines) = Notes::of_warnings().take(|| {
        let link = Link::new();
        link.pass(0..20);
        let of_robot = link.robot.1.recorded();
        assert!(of_robot.len() > 10);
        for bytes in of_robot {
            for (_, node) in [&link.robot, &link.station] {
                node.feed(&bytes, Socket::MetatrafficUnicast);
                node.feed(&bytes, Socket::UserUnicast);
            }
        }
        link
    });
    assert_eq!((link.robot.0.traffic().rejected, link.station.0.traffic().rejected), (0, 0));
    assert!(link.robot.0.traffic().reflected > 20);
    assert_eq!(lines, Vec::<String>::new());
    link.pass(20..30);
}

#[test]
fn plain_message_in_the_name_of_a_peer_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let link = Link::new();
    link.pass(0..5);
    let mut forged = Vec::new();
    let mut builder = MessageBuilder::new(&mut forged);
    builder.header(link.robot.0.guid().prefix);
    builder.info_dst(GuidPrefix::UNKNOWN);
    let before = link.station.0.traffic().rejected;
    link.station.1.feed(&forged, Socket::UserUnicast);
    assert_eq!(link.station.0.traffic().rejected - before, 1);
    link.pass(5..10);
}

#[test]
fn fleet_changes_its_passphrase_while_it_runs() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let world = World::new(4);
    let (old, new) = (Passphrase::new(1, TEXT).unwrap(), Passphrase::new(2, "the next passphrase").unwrap());
    let keys = [
        PreSharedKey::new(old.clone()).also_accepting(new.clone()),
        PreSharedKey::new(new.clone()).also_accepting(old),
        PreSharedKey::new(new),
    ];
    for pair in keys.windows(2) {
        let nodes = [(); 2].map(|()| world.node());
        let [one, other] = [0, 1].map(|at| nodes[at].build(builder().pre_shared_key(pair[at].clone())));
        assert!(world.pass_until(PATIENCE, || {
            one.discovered_participants().len() == 1 && other.discovered_participants().len() == 1
        }));
        drop((one, other));
    }
}

#[test]
fn property_sets_the_key_and_stays_secret() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let world = World::new(5);
    let nodes = [(); 2].map(|()| world.node());
    let property = ("dds.sec.crypto.rtps_psk_secret_passphrase", format!("data:,1:{TEXT}"));
    let one = nodes[0].build(builder().property(property.0, property.1).property("shift", "7"));
    let other = nodes[1].build(builder().pre_shared_key(key(1, TEXT)));
    assert!(world.pass_until(PATIENCE, || !other.discovered_participants().is_empty()));
    let properties = format!("{:?}", other.discovered_participants());
    assert!(properties.contains("shift") && !properties.contains("dds.sec"), "{properties}");
    drop(one);
    for (name, value) in
        [("dds.sec.auth.private_key", "file:key.pem"), ("dds.sec.crypto.rtps_psk_secret_passphrase", "x")]
    {
        let error = builder().property(name, value).build().unwrap_err();
        assert!(matches!(error.kind(), CreateErrorKind::Security { .. }), "{error}");
    }
}
