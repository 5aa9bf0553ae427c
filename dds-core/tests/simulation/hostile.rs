//! Invalid data from the network is dropped and counted, and honest traffic goes on.

use crate::simulated::{Node, Random, World};
use dds_core::config::ChecksumKind;
use dds_core::driver::Socket;
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Guid};
use dds_rtps::types::{EntityId, GuidPrefix, Locator, SequenceNumber};
use dds_rtps::wire::{AckNack, Heartbeat, MessageBuilder, SequenceNumberSet, Transform, Transformed};
#[cfg(not(feature = "rt"))]
use dds_rtps::wire::{FragmentNumberSet, NackFrag};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(feature = "rt"))]
use std::sync::mpsc;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Note {
    count: u32,
    text: String,
}

fn note(count: u32) -> Note {
    Note { count, text: "x".repeat(count as usize % 50) }
}

const PATIENCE: Duration = Duration::from_secs(20);
/// An address of no participant that announces it.
const THIRD_PARTY: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 99);

/// Two participants on two hosts, with a writer and a reader that match.
struct Link {
    world: World,
    from: (DomainParticipant, Node),
    to: (DomainParticipant, Node),
    writer: DataWriter<Note>,
    reader: DataReader<Note>,
}

impl Link {
    fn new(build: impl Fn(&World, &Node) -> DomainParticipant) -> Self {
        let world = World::new(1);
        let [from, to] = [(); 2].map(|()| {
            let node = world.node();
            (build(&world, &node), node)
        });
        let writer = from.0.writer_builder("note").qos(Preset::Event.writer()).build().unwrap();
        let reader = to.0.reader_builder("note").qos(Preset::Event.reader()).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        Self { world, from, to, writer, reader }
    }

    fn plain() -> Self {
        Self::new(|world, node| node.build(world.builder()))
    }

    /// Writes `counts`, and asserts that they arrive in order and unchanged.
    fn pass(&self, counts: std::ops::Range<u32>) {
        counts.clone().for_each(|count| self.writer.write(&note(count)).unwrap());
        let mut arrived = Vec::new();
        let is_done = || {
            arrived.extend(self.reader.take().unwrap().into_data());
            arrived.len() >= counts.len()
        };
        assert!(self.world.pass_until(PATIENCE, is_done), "reliable samples do not arrive");
        assert_eq!(arrived, counts.map(note).collect::<Vec<_>>());
    }
}

/// A message of `source`, with the submessages that `build` adds after the header.
fn message(source: GuidPrefix, build: impl FnOnce(&mut MessageBuilder<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = MessageBuilder::new(&mut bytes);
    builder.header(source);
    build(&mut builder);
    bytes
}

#[test]
fn damaged_messages_are_counted_and_repaired() {
    for kind in [ChecksumKind::Crc32c, ChecksumKind::Crc64, ChecksumKind::Md5] {
        let link = Link::new(|world, node| node.build(world.builder().message_checksums(kind)));
        let damaged = Arc::new(AtomicU64::new(0));
        let (counter, mut random) = (Arc::clone(&damaged), Random(7));
        link.world.damage(move |bytes| {
            // Behind the header extension, because a changed bit there might switch the checksum off.
            if bytes.len() > 60 && random.once_in(4) {
                let bit = 60 * 8 + random.below((bytes.len() - 60) * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
        link.pass(0..200);
        let counted = link.from.0.traffic().damaged + link.to.0.traffic().damaged;
        assert!(counted > 20, "{kind:?}");
        assert_eq!(counted, damaged.load(Ordering::Relaxed), "{kind:?}");
    }
}

/// One bit can turn the header extension into another submessage, which removes the checksum.
#[test]
fn message_without_its_checksum_is_repaired() {
    let link = Link::new(|world, node| node.build(world.builder().message_checksums(ChecksumKind::Crc32c)));
    let damaged = Arc::new(AtomicU64::new(0));
    let (counter, mut random) = (Arc::clone(&damaged), Random(11));
    link.world.damage(move |bytes| {
        if bytes.len() > 60 && bytes[20] == 0 && random.once_in(4) {
            // PAD, or an unknown submessage, which is skipped. The sample is damaged as well.
            bytes[20] ^= if random.once_in(2) { 0x01 } else { 0x40 };
            let last = bytes.len() - 6;
            bytes[last] ^= 0x10;
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    link.pass(0..200);
    let counted = link.from.0.traffic().damaged + link.to.0.traffic().damaged;
    assert!(counted > 20, "{counted}");
    assert_eq!(counted, damaged.load(Ordering::Relaxed));
}

/// A single forged message must not silence a peer permanently, and neither must a stop of checksums.
#[test]
fn checksum_requirement_ends_after_some_messages() {
    let link = Link::plain();
    link.pass(0..5);
    let mut forged = Vec::new();
    let plain = message(link.from.0.guid().prefix, |builder| builder.info_ts(None));
    // A correct checksum from this peer makes the participant require one from it.
    let sealed = Transform::Checksum(ChecksumKind::Crc32c).seal([&plain[..]].into_iter(), &mut forged);
    assert_eq!(sealed, Transformed::Replaced);
    let before = link.to.0.traffic().damaged;
    link.to.1.feed(&forged, Socket::UserUnicast);
    link.pass(5..50);
    let dropped = link.to.0.traffic().damaged - before;
    assert_eq!(dropped, 8);
}

#[test]
fn secured_submessages_are_skipped_and_counted() {
    let link = Link::plain();
    let before = link.to.0.traffic();
    // SEC_PREFIX, SEC_BODY, SEC_POSTFIX, then SRTPS_PREFIX and SRTPS_POSTFIX around nothing.
    for id in [0x31, 0x30, 0x32, 0x33, 0x34] {
        let mut bytes = message(link.from.0.guid().prefix, |_| {});
        bytes.extend_from_slice(&[id, 1, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        link.to.1.feed(&bytes, Socket::UserUnicast);
    }
    assert_eq!(link.to.0.traffic().secure - before.secure, 5);
    link.pass(0..5);
}

#[test]
fn unknown_must_understand_drops_only_its_sample() {
    let link = Link::plain();
    link.pass(0..1);
    // DATA with inline QoS: the unknown parameter 0x7fff has the must-understand bit.
    let mut bytes = message(link.from.0.guid().prefix, |_| {});
    let body = [
        &[0, 0, 16, 0][..],
        &EntityId::UNKNOWN.0,
        &link.writer.guid().entity_id.0,
        &[0, 0, 0, 0, 2, 0, 0, 0],
        &[0xff, 0x7f, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        &[0, 1, 0, 0, 77, 0, 0, 0, 1, 0, 0, 0, 0],
    ]
    .concat();
    bytes.extend_from_slice(&[0x15, 0x07]);
    bytes.extend_from_slice(&(body.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&body);
    link.to.1.feed(&bytes, Socket::UserUnicast);
    assert!(link.reader.take().unwrap().is_empty());
    // The writer sent number 2 with a parameter that this reader does not understand. The reader counts that number as
    // received.
    link.writer.write(&note(1)).unwrap();
    link.pass(2..5);
}

/// Answers that arrive while the application is inside of the writer.
///
/// All ACKNACKs of a reader take one place in the inbox, or one for each change with missing fragments. The test sends
/// more than four times the capacity of the inbox, and none is refused.
///
/// With the feature `rt` the delivering thread waits instead, and lends its priority to the thread inside.
#[test]
#[cfg(not(feature = "rt"))]
fn acknacks_to_busy_writer_merge_per_reader() {
    const BEGIN: i32 = 1_000_000_000;
    let link = Link::plain();
    link.pass(0..3);
    let reader: Guid = link.reader.guid();
    let (reader_id, writer_id) = (reader.entity_id, link.writer.guid().entity_id);
    let asks_for_fragment = |count, number: i64| {
        let mut missing = FragmentNumberSet::empty(1);
        let _ = missing.insert(1);
        NackFrag { reader_id, writer_id, writer_sn: SequenceNumber(number), fragment_number_state: missing, count }
    };
    let (entered, inside) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let writer = &link.writer;
        scope.spawn(move || {
            writer.inside(|| {
                entered.send(()).unwrap();
                may_leave.recv().unwrap();
            })
        });
        inside.recv().unwrap();
        for count in BEGIN..BEGIN + 600 {
            link.from.1.feed(&ask(&link, count, None), Socket::UserUnicast);
            let asked = asks_for_fragment(count, i64::from(count % 3) + 1);
            link.from.1.feed(&message(reader.prefix, |message| message.nack_frag(&asked)), Socket::UserUnicast);
        }
        leave.send(()).unwrap();
    });
    assert_eq!(link.from.0.traffic().inbox_full, 0);
    // The writer answers the request. It still accepts the reader, which uses other counts.
    let sent = link.from.0.traffic().sent;
    link.world.pass(Duration::from_secs(1));
    assert!(link.from.0.traffic().sent > sent, "nothing was repaired");
    link.pass(3..20);
    link.writer.acknowledged().block_for(PATIENCE).unwrap();
}

/// A request of `reader_guid` to the writer of `link`, in a message that asks for answers at `reply`.
fn ask(link: &Link, count: i32, reply: Option<Locator>) -> Vec<u8> {
    let reader: Guid = link.reader.guid();
    let mut missing = SequenceNumberSet::empty(SequenceNumber(1));
    let _ = missing.insert(SequenceNumber(1));
    let ack_nack = AckNack {
        reader_id: reader.entity_id,
        writer_id: link.writer.guid().entity_id,
        reader_sn_state: missing,
        count,
        is_final: true,
    };
    message(reader.prefix, |message| {
        if let Some(reply) = reply {
            message.info_reply(&[reply], &[]);
        }
        message.ack_nack(&ack_nack);
    })
}

#[test]
fn writer_honors_reply_locator_on_reader_host() {
    let link = Link::plain();
    link.pass(0..3);
    let theirs = Locator::udp_v4(link.to.1.address(), 9_000);
    link.from.1.feed(&ask(&link, 1_000, Some(theirs)), Socket::UserUnicast);
    link.world.pass(Duration::from_secs(1));
    assert_eq!(link.world.take_astray(), [theirs], "the repair");
    assert_eq!(link.from.0.traffic().replies_refused, 0);

    // An address of a third party would make the writer an amplifier.
    let foreign = Locator::udp_v4(THIRD_PARTY, 7_411);
    link.from.1.feed(&ask(&link, 1_001, Some(foreign)), Socket::UserUnicast);
    link.world.pass(Duration::from_secs(1));
    assert!(link.world.take_astray().is_empty(), "a third party was sent something");
    assert_eq!(link.from.0.traffic().replies_refused, 1);

    // Without INFO_REPLY the locators of discovery apply again.
    link.from.1.feed(&ask(&link, 1_002, Some(theirs)), Socket::UserUnicast);
    link.from.1.feed(&ask(&link, 1_003, None), Socket::UserUnicast);
    link.world.pass(Duration::from_secs(1));
    link.world.take_astray();
    link.pass(3..6);
    assert!(link.world.take_astray().is_empty());
}

#[test]
fn reader_honors_reply_locator_on_writer_host() {
    let link = Link::plain();
    link.pass(0..3);
    let heartbeat = |count: i32, reply: Option<Locator>| {
        let writer = link.writer.guid();
        let heartbeat = Heartbeat {
            writer_id: writer.entity_id,
            first_sn: SequenceNumber(1),
            last_sn: SequenceNumber(3),
            count,
            ..heartbeat_of_nothing()
        };
        message(writer.prefix, |message| {
            if let Some(reply) = reply {
                message.info_reply(&[reply], &[]);
            }
            message.heartbeat(&heartbeat);
        })
    };
    let theirs = Locator::udp_v4(link.from.1.address(), 9_000);
    link.to.1.feed(&heartbeat(1_000, Some(theirs)), Socket::UserUnicast);
    link.world.pass(Duration::from_secs(1));
    assert_eq!(link.world.take_astray(), [theirs], "the acknowledgment");

    let foreign = Locator::udp_v4(THIRD_PARTY, 7_411);
    // The reader refuses the foreign locator and uses the discovered one.
    link.to.1.feed(&heartbeat(1_001, Some(foreign)), Socket::UserUnicast);
    link.to.1.feed(&heartbeat(1_002, None), Socket::UserUnicast);
    link.world.pass(Duration::from_secs(1));
    assert!(link.world.take_astray().is_empty(), "a third party was sent something");
    assert_eq!(link.to.0.traffic().replies_refused, 1);
}

#[test]
fn discovery_honors_reply_locator_on_own_host() {
    let link = Link::plain();
    let writer = Guid::new(link.from.0.guid().prefix, EntityId::SEDP_PUBLICATIONS_WRITER);
    let heartbeat = |count: i32, reply: Locator| {
        let heartbeat = Heartbeat {
            writer_id: writer.entity_id,
            reader_id: EntityId::SEDP_PUBLICATIONS_READER,
            first_sn: SequenceNumber(1),
            last_sn: SequenceNumber(1),
            count,
            ..heartbeat_of_nothing()
        };
        message(writer.prefix, |message| {
            message.info_reply(&[reply], &[]);
            message.heartbeat(&heartbeat);
        })
    };
    let theirs = Locator::udp_v4(link.from.1.address(), 9_000);
    link.to.1.feed(&heartbeat(1_000, theirs), Socket::MetatrafficUnicast);
    link.world.pass(Duration::from_secs(1));
    assert_eq!(link.world.take_astray(), [theirs]);
    link.to.1.feed(&heartbeat(1_001, Locator::udp_v4(THIRD_PARTY, 7_410)), Socket::MetatrafficUnicast);
    link.world.pass(Duration::from_secs(1));
    assert!(link.world.take_astray().is_empty());
    assert_eq!(link.to.0.traffic().replies_refused, 1);
}

fn heartbeat_of_nothing() -> Heartbeat {
    Heartbeat {
        reader_id: EntityId::UNKNOWN,
        writer_id: EntityId::UNKNOWN,
        first_sn: SequenceNumber(1),
        last_sn: SequenceNumber(0),
        count: 0,
        is_final: false,
        liveliness: false,
        group_info: None,
    }
}
