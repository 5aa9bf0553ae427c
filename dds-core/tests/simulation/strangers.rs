//! Datagrams of an unknown peer, through the public API of a simulated world. The participant drops and counts them,
//! spends little work on them, and honest traffic goes on.

use crate::simulated::{Node, World};
use dds_core::driver::Socket;
use dds_core::matching::Obstacle;
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset};
use dds_core::stats::TrafficCounters;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Guid};
use dds_rtps::discovery::data::{EndpointData, ParticipantData, PublicationData, SubscriptionData};
use dds_rtps::discovery::{BuiltinEndpoints, BuiltinPairTopic};
use dds_rtps::types::{EntityId, GuidPrefix, Locator, SequenceNumber, VendorId};
use dds_rtps::wire::{AckNack, MessageBuilder, SequenceNumberSet};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Note {
    count: u32,
    octets: Vec<u8>,
}

fn note(count: u32) -> Note {
    Note { count, octets: vec![count as u8; if count % 10 == 9 { 5_000 } else { 50 }] }
}

const PATIENCE: Duration = Duration::from_secs(20);
const LITTLE_ENDIAN: u8 = 1;

/// A robot that writes to its station, and an unknown peer.
struct Stage {
    world: World,
    robot: (DomainParticipant, Node),
    station: (DomainParticipant, Node),
    writer: DataWriter<Note>,
    reader: DataReader<Note>,
    said: std::cell::Cell<u32>,
}

impl Stage {
    fn new() -> Self {
        Self::with(Preset::Event.writer(), Preset::Event.reader())
    }

    fn with(writer: DataWriterQos, reader: DataReaderQos) -> Self {
        let world = World::new(1);
        let (robot, station) = (world.participant(), world.participant());
        let writer = robot.0.writer_builder("note").qos(writer).build().unwrap();
        let reader = station.0.reader_builder("note").qos(reader).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        let stage = Self { world, robot, station, writer, reader, said: 0.into() };
        stage.honest_traffic_goes_on();
        stage
    }

    /// Asserts that ten more samples arrive, and that no further endpoint matches.
    fn honest_traffic_goes_on(&self) {
        self.honest_samples_arrive();
        assert_eq!(self.writer.publication_matched().current_count, 1);
        assert_eq!(self.reader.subscription_matched().current_count, 1);
    }

    /// Asserts that ten more samples arrive soon, complete and in order.
    fn honest_samples_arrive(&self) {
        // Counts continue over all calls, so that a late sample of an earlier call is detected.
        let first = self.said.replace(self.said.get() + 10);
        (first..first + 10).for_each(|count| self.writer.write(&note(count)).unwrap());
        let mut arrived = Vec::new();
        let all = || {
            arrived.extend(self.reader.take().unwrap().into_data());
            arrived.len() >= 10
        };
        assert!(self.world.pass_until(PATIENCE, all), "only {} honest samples arrive", arrived.len());
        assert_eq!(arrived, (first..first + 10).map(note).collect::<Vec<_>>());
        self.writer.acknowledged().block_for(PATIENCE).unwrap();
    }

    fn robot_prefix(&self) -> GuidPrefix {
        self.robot.0.guid().prefix
    }

    /// Sends a submessage of the robot's writer to the station's reader.
    ///
    /// `body` follows the two entity ids.
    fn to_station(&self, id: u8, flags: u8, before: &[u8], body: &[u8]) -> TrafficCounters {
        let before_it = self.station.0.traffic();
        let (reader, writer) = (self.reader.guid().entity_id, self.writer.guid().entity_id);
        let body = [before, &reader.0, &writer.0, body].concat();
        self.station.1.feed(&raw(self.robot_prefix(), id, flags, &body), Socket::UserUnicast);
        since(self.station.0.traffic(), before_it)
    }

    /// Sends a submessage of the station's reader to the robot's writer.
    fn to_robot(&self, id: u8, flags: u8, body: &[u8]) -> TrafficCounters {
        let before = self.robot.0.traffic();
        let (reader, writer) = (self.reader.guid().entity_id, self.writer.guid().entity_id);
        let body = [&reader.0[..], &writer.0, body].concat();
        self.robot.1.feed(&raw(self.station.0.guid().prefix, id, flags, &body), Socket::UserUnicast);
        since(self.robot.0.traffic(), before)
    }
}

fn since(now: TrafficCounters, before: TrafficCounters) -> TrafficCounters {
    let mut change = now;
    change.malformed -= before.malformed;
    change.sent_bytes -= before.sent_bytes;
    change.sent -= before.sent;
    change.reflected -= before.reflected;
    change
}

/// A message with one submessage of arbitrary content.
fn raw(source: GuidPrefix, id: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    MessageBuilder::new(&mut bytes).header(source);
    bytes.extend([id, flags | LITTLE_ENDIAN]);
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn number(number: i64) -> [u8; 8] {
    let [high, low] = [(number >> 32) as u32, number as u32].map(u32::to_le_bytes);
    [high, low].concat().try_into().unwrap()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const ACKNACK: u8 = 0x06;
const HEARTBEAT: u8 = 0x07;
const GAP: u8 = 0x08;
const NACK_FRAG: u8 = 0x12;
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;

#[test]
fn extreme_sequence_numbers_are_rejected() {
    let stage = Stage::new();
    let payload = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
    for bad in [0, -1, i64::MIN, i64::MIN + 1] {
        let counted = stage.to_station(DATA, 4, &[0, 0, 16, 0], &[&number(bad)[..], &payload].concat());
        assert_eq!(counted.malformed, 1, "{bad}");
    }
    // Legal, and far beyond the range that a reader keeps for later.
    for far in [i64::MAX, i64::MAX - 1, 1 << 62, 1 << 40, 1 << 32] {
        let kept_out = stage.reader.counters().out_of_window;
        stage.to_station(DATA, 4, &[0, 0, 16, 0], &[&number(far)[..], &payload].concat());
        assert_eq!(stage.reader.counters().out_of_window, kept_out + 1, "{far}");
        stage.honest_traffic_goes_on();
    }
}

#[test]
fn heartbeat_jumps_request_slowly() {
    let stage = Stage::new();
    let heartbeat =
        |first: i64, last: i64, count: u32| [&number(first)[..], &number(last), &count.to_le_bytes()].concat();
    for (first, last) in [(0, 5), (-1, 5), (5, 3), (i64::MAX, 1), (i64::MIN, i64::MAX)] {
        let counted = stage.to_station(HEARTBEAT, 0, &[], &heartbeat(first, last, 1_000));
        assert_eq!(counted.malformed, 1, "{first} to {last}");
    }
    // The HEARTBEAT announces that all numbers exist. The reader requests some of them, and repeats that slowly.
    let before = stage.station.0.traffic();
    stage.to_station(HEARTBEAT, 0, &[], &heartbeat(1, i64::MAX, 2_000));
    stage.world.pass(Duration::from_secs(10));
    let asked = since(stage.station.0.traffic(), before);
    assert!(asked.sent < 200 && asked.sent_bytes < 30_000, "{asked:?}");
    let arrived = || stage.reader.take().unwrap().into_data().count();
    (0..10).for_each(|count| stage.writer.write(&note(count)).unwrap());
    stage.world.pass(Duration::from_secs(1));
    assert_eq!(arrived(), 10);
}

#[test]
fn malformed_number_sets_are_rejected() {
    let stage = Stage::new();
    let count = 9_999_u32.to_le_bytes();
    let set = |base: i64, bits: u32, words_sent: usize| {
        [&number(base)[..], &bits.to_le_bytes(), &words(&vec![u32::MAX; words_sent])].concat()
    };
    // Too many bits, absent bits, an invalid base, an invalid end.
    for (base, bits, sent) in [(1, 257, 9), (1, u32::MAX, 0), (1, 256, 1), (-5, 32, 1), (i64::MAX - 3, 256, 8)] {
        let counted = stage.to_robot(ACKNACK, 0, &[&set(base, bits, sent)[..], &count].concat());
        assert_eq!(counted.malformed, 1, "ACKNACK {base} {bits}");
        let counted = stage.to_station(GAP, 0, &[], &[&number(1)[..], &set(base, bits, sent)].concat());
        assert_eq!(counted.malformed, 1, "GAP {base} {bits}");
    }
    for (base, bits, sent) in [(0, 32, 1), (1, 257, 9), (u32::MAX, 256, 8)] {
        let set = [&words(&[base, bits])[..], &words(&vec![u32::MAX; sent])].concat();
        let counted = stage.to_robot(NACK_FRAG, 0, &[&number(1)[..], &set, &count].concat());
        assert_eq!(counted.malformed, 1, "NACK_FRAG {base} {bits}");
    }
    stage.honest_traffic_goes_on();
}

#[test]
fn acknacks_of_unsent_numbers_are_ignored() {
    let stage = Stage::new();
    for (round, base) in [1_000, 1 << 33, i64::MAX].into_iter().enumerate() {
        let body = [&number(base)[..], &0_u32.to_le_bytes(), &(500 + round as u32).to_le_bytes()].concat();
        let refused = stage.writer.counters().malformed;
        stage.to_robot(ACKNACK, 0, &body);
        assert_eq!(stage.writer.counters().malformed, refused + 1, "{base}");
        stage.honest_traffic_goes_on();
    }
}

#[test]
fn inconsistent_fragments_are_dropped() {
    let stage = Stage::new();
    let fragment_of = |sample: i64, start: u32, count: u16, size: u16, whole: u32, payload: usize| {
        let mut body = number(sample).to_vec();
        body.extend(start.to_le_bytes());
        body.extend(count.to_le_bytes());
        body.extend(size.to_le_bytes());
        body.extend(whole.to_le_bytes());
        body.extend(vec![7; payload]);
        stage.to_station(DATA_FRAG, 0, &[0, 0, 28, 0], &body)
    };
    let fragment = |start, count, size, whole, payload| fragment_of(100, start, count, size, whole, payload);
    for (start, count, size, whole, payload) in [
        (0, 1, 100, 1_000, 100),
        (1, 0, 100, 1_000, 0),
        (1, 1, 0, 1_000, 100),
        (11, 1, 100, 1_000, 100),
        (u32::MAX, 1, 100, 1_000, 100),
        (1, u16::MAX, 1_000, 1_000, 100),
        (1, 1, 100, 0, 100),
        (1, 1, 1_000, 10_000, 100),
    ] {
        let counted = fragment(start, count, size, whole, payload);
        assert_eq!(counted.malformed, 1, "{start} {count} {size} {whole} {payload}");
    }
    // Legal, but of impossible samples: no assembly begins, so they take no memory.
    fragment(1, 1, 1, u32::MAX, 1);
    fragment(60_000, 1, u16::MAX, u32::MAX, usize::from(u16::MAX) - 100);
    // Two fragments that contradict each other, of a sample without other fragments.
    let refused = stage.reader.counters().malformed;
    fragment_of(101, 1, 1, 100, 1_000, 100);
    fragment_of(101, 1, 1, 200, 2_000, 200);
    assert_eq!(stage.reader.counters().malformed, refused + 1);
    for _ in 0..3 {
        stage.honest_traffic_goes_on();
    }
}

#[test]
fn truncated_datagrams_are_dropped() {
    let stage = Stage::new();
    stage.robot.1.record();
    stage.honest_traffic_goes_on();
    let recorded = stage.robot.1.recorded();
    for bytes in recorded.iter().take(40) {
        let steps = (bytes.len() / 200).max(1);
        for end in (0..bytes.len()).step_by(steps) {
            // The last submessage may extend to the end of the datagram. The reader already has its sequence number.
            stage.station.1.send(&bytes[..end], Socket::UserUnicast);
            stage.station.1.send(&bytes[..end], Socket::MetatrafficUnicast);
        }
        stage.world.pass(Duration::from_millis(20));
    }
    let traffic = stage.station.0.traffic();
    assert!(traffic.malformed > 0 && traffic.not_rtps > 0, "{traffic:?}");
    stage.honest_traffic_goes_on();
}

#[test]
fn reflected_own_datagrams_are_ignored() {
    let stage = Stage::new();
    stage.station.1.record();
    for _ in 0..4 {
        stage.honest_traffic_goes_on();
        stage.world.pass(Duration::from_secs(5));
    }
    let recorded = stage.station.1.recorded();
    let before = stage.station.0.traffic();
    for bytes in &recorded {
        stage.station.1.feed(bytes, Socket::UserUnicast);
        stage.station.1.feed(bytes, Socket::MetatrafficUnicast);
    }
    let counted = since(stage.station.0.traffic(), before).reflected;
    assert!(recorded.len() > 10 && counted >= 2 * recorded.len() as u64, "{counted} of {}", recorded.len());
    stage.honest_traffic_goes_on();
}

/// A participant that does not exist.
pub(crate) fn ghost(number: u32) -> ParticipantData {
    let mut name = [0; 10];
    name[..4].copy_from_slice(&number.to_be_bytes());
    let mut data = ParticipantData::new(GuidPrefix::new(VendorId::CYCLONE, name));
    data.metatraffic_unicast = vec![Locator::udp_v4([10, 77, 0, 99].into(), 9_000)];
    data.default_unicast = data.metatraffic_unicast.clone();
    data.builtin_endpoints = BuiltinPairTopic::ALL.into_iter().fold(BuiltinEndpoints::NONE, |set, topic| {
        let (writer, reader) = topic.bits();
        set.union(writer).union(reader)
    });
    data
}

pub(crate) fn announcement(data: &ParticipantData) -> Vec<u8> {
    let mut payload = Vec::new();
    data.encode(&mut payload);
    let ids = [EntityId::SPDP_READER.0, EntityId::SPDP_WRITER.0].concat();
    let body = [&[0, 0, 16, 0][..], &ids, &number(1), &payload].concat();
    raw(data.prefix, DATA, 4, &body)
}

#[test]
fn forged_announcement_causes_no_amplification() {
    let stage = Stage::new();
    stage.world.take_astray_bytes();
    let mut data = ghost(1);
    // One address in a network of the victim is enough, and gets all datagrams.
    data.metatraffic_unicast = (92..=99).map(|host| Locator::udp_v4([10, 77, 0, host].into(), 9_000)).collect();
    data.lease_duration = Duration::from_secs(100_000);
    let bytes = announcement(&data);
    stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast);
    assert_eq!(stage.robot.0.discovered_participants().len(), 2);
    stage.world.pass(Duration::from_secs(1));
    let at_once = stage.world.take_astray_bytes();
    stage.world.pass(Duration::from_secs(60));
    let later = stage.world.take_astray_bytes();
    println!("{} bytes bring {at_once} within a second, then {} a second", bytes.len(), later / 60);
    // The victim sends its announcement, a challenge and the announcements of its endpoints, and repeats the challenge.
    stage.world.pass(Duration::from_secs(140));
    let in_all = at_once + later + stage.world.take_astray_bytes();
    println!("{in_all} in all");
    assert!(in_all <= 10 * bytes.len(), "{in_all}");
    // The peer never answers, so it is dropped, even with a long lease.
    assert_eq!(stage.robot.0.discovered_participants().len(), 1);
    stage.world.pass(Duration::from_secs(1_000));
    assert_eq!(stage.world.take_astray_bytes(), 0);
    // While the peer is known, all further announcements together cause less than the size of a few.
    stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast);
    stage.world.pass(Duration::from_secs(10));
    stage.world.take_astray_bytes();
    (0..20).for_each(|_| stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast));
    stage.world.pass(Duration::from_millis(1));
    let again = stage.world.take_astray_bytes();
    println!("{again} for 20 more");
    assert!(again < 4 * bytes.len(), "{again}");
    stage.honest_traffic_goes_on();
}

/// Announces a reader of the robot's topic in the name of an unknown peer. Returns the bytes of that.
fn announce_reader(stage: &Stage, stranger: &ParticipantData, qos: DataReaderQos, locators: &[Locator]) -> usize {
    let guid = Guid::new(stranger.prefix, EntityId([0, 0, 9, 4]));
    let mut endpoint = EndpointData::new(guid, "note", stage.writer.type_name());
    endpoint.unicast_locators = locators.to_vec();
    let mut payload = Vec::new();
    SubscriptionData::new(endpoint, qos).encode(&mut payload);
    let ids = [EntityId::SEDP_SUBSCRIPTIONS_READER.0, EntityId::SEDP_SUBSCRIPTIONS_WRITER.0].concat();
    let body = [&[0, 0, 16, 0][..], &ids, &number(1), &payload].concat();
    let data = raw(stranger.prefix, DATA, 4, &body);
    let heartbeat = raw(stranger.prefix, HEARTBEAT, 2, &[&ids[..], &number(1), &number(1), &[1, 0, 0, 0]].concat());
    stage.robot.1.feed(&data, Socket::MetatrafficUnicast);
    stage.robot.1.feed(&heartbeat, Socket::MetatrafficUnicast);
    data.len() + heartbeat.len()
}

/// Writes for 20 seconds. Returns the bytes that went to addresses without a participant.
fn astray_while_writing(stage: &Stage) -> usize {
    for _ in 0..20 {
        stage.honest_samples_arrive();
        stage.world.pass(Duration::from_secs(1));
    }
    stage.world.take_astray_bytes()
}

/// Returns the addresses from which `explain_matches` misses an answer.
fn no_answer_from(writer: &DataWriter<Note>) -> Vec<String> {
    let mut missing = Vec::new();
    for report in writer.explain_matches() {
        for obstacle in report.obstacles {
            if let Obstacle::NoAnswer { locators } = obstacle {
                missing.extend(locators.iter().map(ToString::to_string));
            }
        }
    }
    missing
}

#[test]
fn forged_reader_draws_no_samples_to_its_address() {
    let best_effort = DataReaderQos::default().best_effort();
    for qos in [best_effort, DataReaderQos::default().reliable()] {
        let stage = Stage::new();
        let stranger = ghost(7);
        let bytes = announcement(&stranger);
        stage.world.take_astray_bytes();
        stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast);
        let sent = bytes.len() + announce_reader(&stage, &stranger, qos, &[]);
        let astray = astray_while_writing(&stage);
        println!("{sent} bytes bring {astray}");
        assert!(astray <= 10 * sent, "{astray}");
        assert_eq!(stage.writer.publication_matched().current_count, 1);
        assert_eq!(no_answer_from(&stage.writer), ["udp/10.77.0.99:9000"]);
        // The same reader gets samples once its address has answered.
        stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast);
        stage.robot.1.answer_challenge(stranger.prefix);
        assert_eq!(stage.writer.publication_matched().current_count, 2);
    }
}

#[test]
fn valid_peer_draws_no_samples_to_another_host() {
    let stage = Stage::new();
    let mut stranger = ghost(8);
    let victim = Locator::udp_v4([10, 77, 0, 98].into(), 9_000);
    stranger.default_unicast = vec![victim];
    stage.robot.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    stage.robot.1.answer_challenge(stranger.prefix);
    stage.world.take_astray();
    announce_reader(&stage, &stranger, DataReaderQos::default().best_effort(), &[]);
    announce_reader(&stage, &stranger, DataReaderQos::default().best_effort(), &[victim]);
    astray_while_writing(&stage);
    assert!(!stage.world.take_astray().contains(&victim));
    assert_eq!(stage.writer.publication_matched().current_count, 1);
}

#[test]
fn answers_go_to_other_ports_of_a_host_that_has_answered() {
    let stage = Stage::new();
    let stranger = ghost(8);
    let other_port = Locator { port: 9_001, ..stranger.metatraffic_unicast[0] };
    let ask = |count: i32| {
        let mut missing = SequenceNumberSet::empty(SequenceNumber(1));
        let _ = missing.insert(SequenceNumber(1));
        let (reader_id, writer_id) = (EntityId([0, 0, 9, 4]), stage.writer.guid().entity_id);
        let mut bytes = Vec::new();
        let mut message = MessageBuilder::new(&mut bytes);
        message.header(stranger.prefix);
        message.info_reply(&[other_port], &[]);
        message.ack_nack(&AckNack { reader_id, writer_id, reader_sn_state: missing, count, is_final: true });
        let before = stage.robot.0.traffic().replies_refused;
        stage.robot.1.feed(&bytes, Socket::UserUnicast);
        stage.world.pass(Duration::from_secs(1));
        (stage.robot.0.traffic().replies_refused - before, stage.world.take_astray().contains(&other_port))
    };
    stage.robot.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    assert_eq!(ask(1), (1, false));
    stage.robot.1.answer_challenge(stranger.prefix);
    announce_reader(&stage, &stranger, DataReaderQos::default().reliable(), &[]);
    assert_eq!(stage.writer.publication_matched().current_count, 2);
    assert_eq!(ask(2), (0, true));
}

#[test]
fn guessed_answers_validate_no_address() {
    let stage = Stage::new();
    let stranger = ghost(9);
    stage.robot.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    announce_reader(&stage, &stranger, DataReaderQos::default().best_effort(), &[]);
    // Numbers of real changes, of challenges, and beyond both.
    for guess in [1, 2, 5, 1 << 10, (1 << 16) + 1, (1 << 16) + 2, 1 << 20, i64::MAX] {
        stage.robot.1.guess_challenge(stranger.prefix, guess);
    }
    assert_eq!(stage.writer.publication_matched().current_count, 1);
    stage.honest_traffic_goes_on();
}

#[test]
fn forged_move_redirects_no_samples() {
    let stage =
        Stage::with(DataWriterQos::default().best_effort(), DataReaderQos::default().best_effort().keep_last(100));
    let bytes = announcement(&ParticipantData { prefix: stage.station.0.guid().prefix, ..ghost(5) });
    stage.world.take_astray_bytes();
    stage.robot.1.feed(&bytes, Socket::MetatrafficUnicast);
    // Without repair, a sample that goes elsewhere is lost.
    let astray = astray_while_writing(&stage);
    println!("{} bytes bring {astray}", bytes.len());
    assert!(astray <= 10 * bytes.len(), "{astray}");
}

#[test]
fn repeated_requests_are_answered_rarely() {
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(200);
    let stage = Stage::with(qos, DataReaderQos::default().reliable().transient_local().keep_all());
    (0..15).for_each(|_| stage.honest_traffic_goes_on());
    let mut missing = SequenceNumberSet::empty(SequenceNumber(1));
    (1..=150).for_each(|number| assert!(missing.insert(SequenceNumber(number))));
    let (before, begun) = (stage.robot.0.traffic(), stage.world.simulation.now());
    let mut asked = 0;
    for count in 5_000..5_100_u32 {
        let set = [&number(1)[..], &150_u32.to_le_bytes(), &words(&[u32::MAX; 5])].concat();
        stage.to_robot(ACKNACK, 0, &[&set[..], &count.to_le_bytes()].concat());
        asked += 80;
    }
    let answered = since(stage.robot.0.traffic(), before).sent_bytes;
    let elapsed = stage.world.simulation.now() - begun;
    println!("{asked} bytes of requests bring {answered} bytes in {elapsed}");
    // All samples take 125 KB. They go to the reader, not to the requester, once per response time, which is at least a
    // millisecond.
    let times = elapsed.as_nanos() as u64 / 1_000_000 + 1;
    assert!(answered < times * 130_000, "{answered} in {elapsed}");
    stage.honest_traffic_goes_on();
}

/// A disposal of the participant `key` in the name of `source`.
fn disposal(source: GuidPrefix, key: GuidPrefix) -> Vec<u8> {
    // DATA of SPDP with a key instead of data, and status info 3.
    let key = [&[0, 3, 0, 0, 0x50, 0, 16, 0][..], &key.0, &[0, 0, 1, 0xc1], &[1, 0, 0, 0]].concat();
    let status = [0x71, 0, 4, 0, 0, 0, 0, 3, 1, 0, 0, 0];
    let ids = [EntityId::SPDP_READER.0, EntityId::SPDP_WRITER.0].concat();
    let body = [&[0, 0, 16, 0][..], &ids, &number(2), &status, &key].concat();
    raw(source, DATA, 2 | 8, &body)
}

#[test]
fn forged_participant_dispose_is_ignored() {
    let stage = Stage::new();
    let stranger = ghost(3);
    stage.station.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    // The key is the robot's, the sender is another.
    let forged = disposal(stranger.prefix, stage.robot_prefix());
    stage.station.1.feed(&forged, Socket::MetatrafficUnicast);
    stage.world.pass(Duration::from_millis(100));
    assert_eq!(stage.station.0.discovered_participants().len(), 2);
    assert_eq!(stage.station.0.discovery_counters().unwrap().foreign, 1);
    stage.honest_traffic_goes_on();
}

/// A volatile reader would get its samples again from a writer that has left and returned.
#[test]
fn participant_dispose_of_another_host_loses_and_repeats_no_sample() {
    let stage = Stage::new();
    let forged = disposal(stage.robot_prefix(), stage.robot_prefix());
    // No socket for user data reads its sender, so such a socket must not believe it either.
    for socket in [Socket::MetatrafficUnicast, Socket::UserUnicast] {
        for _ in 0..20 {
            stage.station.1.feed(&forged, socket);
            stage.honest_traffic_goes_on();
        }
        stage.world.pass(Duration::from_secs(20));
    }
    let counters = stage.station.0.discovery_counters().unwrap();
    assert_eq!(counters.claims_refuted, 2);
    assert_eq!(stage.reader.subscription_matched().total_count, 1);
    assert_eq!(stage.writer.publication_matched().total_count, 1);
}

#[test]
fn forged_guid_does_not_take_over_participant() {
    let stage = Stage::new();
    let named = |prefix| ParticipantData { prefix, ..ghost(5) };
    // The robot at another address. Datagrams to it are lost until the robot announces itself again.
    stage.station.1.feed(&announcement(&named(stage.robot_prefix())), Socket::MetatrafficUnicast);
    stage.honest_traffic_goes_on();
    // The station itself.
    let before = stage.station.0.traffic();
    stage.station.1.feed(&announcement(&named(stage.station.0.guid().prefix)), Socket::MetatrafficUnicast);
    assert_eq!(since(stage.station.0.traffic(), before).reflected, 1);
    stage.honest_traffic_goes_on();
    assert_eq!(stage.station.0.discovered_participants().len(), 1);
}

#[test]
fn forged_endpoint_of_participant_is_ignored() {
    let stage = Stage::new();
    let stranger = ghost(4);
    stage.station.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    stage.station.1.answer_challenge(stranger.prefix);
    // The unknown peer announces a writer with the robot's prefix, and then one of its own.
    for (owner, matches) in [(stage.robot_prefix(), 1), (stranger.prefix, 2)] {
        let guid = Guid::new(owner, EntityId([0, 0, 9, 3]));
        let endpoint = EndpointData::new(guid, "note", stage.writer.type_name());
        let data = PublicationData::new(endpoint, Preset::Event.writer(), true);
        let mut payload = Vec::new();
        data.encode(&mut payload);
        let ids = [EntityId::SEDP_PUBLICATIONS_READER.0, EntityId::SEDP_PUBLICATIONS_WRITER.0].concat();
        let body = [&[0, 0, 16, 0][..], &ids, &number(i64::from(matches)), &payload].concat();
        stage.station.1.feed(&raw(stranger.prefix, DATA, 4, &body), Socket::MetatrafficUnicast);
        let heartbeat = [&ids[..], &number(1), &number(i64::from(matches)), &(matches as u32).to_le_bytes()].concat();
        stage.station.1.feed(&raw(stranger.prefix, HEARTBEAT, 2, &heartbeat), Socket::MetatrafficUnicast);
        let matched = || stage.reader.matched_publications().len() == matches as usize;
        stage.world.pass(Duration::from_millis(100));
        assert!(matched(), "{} instead of {matches}", stage.reader.matched_publications().len());
        assert_eq!(stage.station.0.discovery_counters().unwrap().foreign, 1);
    }
}

/// A datagram in the name of the robot or the station, from another address. The robot's next sample has the number
/// `next`. The third argument differs in each call.
type Forgery = fn(&Stage, i64, u32);

/// A valid note without octets.
const EMPTY_NOTE: [u8; 12] = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
/// A HEARTBEAT or ACKNACK with a higher count makes the honest ones look old.
const HIGH_COUNT: u32 = 1 << 30;

fn forge_data(stage: &Stage, at: i64) {
    stage.to_station(DATA, 4, &[0, 0, 16, 0], &[&number(at)[..], &EMPTY_NOTE].concat());
}

fn forge_gap(stage: &Stage, first: i64, end: i64) {
    stage.to_station(GAP, 0, &[], &[&number(first)[..], &number(end), &0_u32.to_le_bytes()].concat());
}

fn forge_heartbeat(stage: &Stage, first: i64, last: i64, count: u32) {
    stage.to_station(HEARTBEAT, 0, &[], &[&number(first)[..], &number(last), &count.to_le_bytes()].concat());
}

/// The first of two fragments. The second one never comes.
fn forge_fragment(stage: &Stage, at: i64) {
    let (start, count, size, whole) = (1_u32, 1_u16, 1_000_u16, 2_000_u32);
    let fields = [&start.to_le_bytes()[..], &count.to_le_bytes(), &size.to_le_bytes(), &whole.to_le_bytes()].concat();
    stage.to_station(DATA_FRAG, 0, &[0, 0, 28, 0], &[&number(at)[..], &fields, &[7; 1_000]].concat());
}

fn forge_acknack(stage: &Stage, base: i64, count: u32) {
    stage.to_robot(ACKNACK, 0, &[&number(base)[..], &0_u32.to_le_bytes(), &count.to_le_bytes()].concat());
}

fn announce_elsewhere(node: &Node, prefix: GuidPrefix) {
    node.feed(&announcement(&ParticipantData { prefix, ..ghost(5) }), Socket::MetatrafficUnicast);
}

const FORGERIES: [(&str, Forgery); 15] = [
    ("DATA with the next number", |stage, next, _| forge_data(stage, next)),
    ("DATA a little ahead", |stage, next, _| forge_data(stage, next + 20)),
    ("DATA far ahead", |stage, next, _| forge_data(stage, next + 100_000)),
    ("fragment of the next sample", |stage, next, _| forge_fragment(stage, next)),
    ("fragment far ahead", |stage, next, _| forge_fragment(stage, next + 100_000)),
    ("GAP over the next samples", |stage, next, _| forge_gap(stage, next, next + 200)),
    ("GAP over all samples", |stage, next, _| forge_gap(stage, 1, next + 1_000_000)),
    ("HEARTBEAT without the next samples", |stage, next, count| {
        forge_heartbeat(stage, next + 200, next + 300, HIGH_COUNT + count);
    }),
    ("HEARTBEAT with many more", |stage, next, count| {
        forge_heartbeat(stage, 1, next + 1_000_000, HIGH_COUNT + count);
    }),
    ("HEARTBEAT with a high count", |stage, next, count| forge_heartbeat(stage, 1, next - 1, HIGH_COUNT + count)),
    ("ACKNACK of all samples", |stage, next, count| forge_acknack(stage, next, HIGH_COUNT + count)),
    ("ACKNACK of no sample", |stage, _, count| forge_acknack(stage, 1, HIGH_COUNT + count)),
    ("disposal of the participant", |stage, _, _| {
        let forged = disposal(stage.robot_prefix(), stage.robot_prefix());
        stage.station.1.feed(&forged, Socket::MetatrafficUnicast);
    }),
    ("announcement of the writer elsewhere", |stage, _, _| announce_elsewhere(&stage.station.1, stage.robot_prefix())),
    ("announcement of the reader elsewhere", |stage, _, _| {
        announce_elsewhere(&stage.robot.1, stage.station.0.guid().prefix);
    }),
];

/// The longest time without an honest sample. The robot writes one in each `period`, and an unknown peer forges.
fn longest_silence(stage: &Stage, period: Duration, forge: Forgery) -> Duration {
    let rounds = (Duration::from_secs(6).as_nanos() / period.as_nanos()) as u32;
    let (mut heard, mut longest) = (stage.world.simulation.now(), Duration::ZERO);
    for round in 0..rounds {
        let count = stage.said.replace(stage.said.get() + 1);
        if round % (rounds / 3) == 5 {
            // Numbers begin with 1, and counts with 0.
            forge(stage, i64::from(count) + 1, round);
        }
        stage.writer.write(&note(count)).unwrap();
        stage.world.pass(period);
        let now = stage.world.simulation.now();
        longest = longest.max(now - heard);
        if stage.reader.take().unwrap().into_data().any(|note| !note.octets.is_empty()) {
            heard = now;
        }
    }
    longest
}

#[test]
fn forged_datagrams_silence_no_reader_for_a_second() {
    let best_effort = || (DataWriterQos::default().best_effort(), DataReaderQos::default().best_effort().keep_last(10));
    let reliable = || (Preset::Event.writer(), Preset::Event.reader());
    for (name, forge) in FORGERIES {
        for period in [Duration::from_millis(5), Duration::from_millis(100)] {
            for (kind, (writer, reader)) in [("reliable", reliable()), ("best effort", best_effort())] {
                let silence = longest_silence(&Stage::with(writer, reader), period, forge);
                println!("{name}, {kind}, each {period}: {silence}");
                assert!(silence < Duration::from_secs(1), "{name}, {kind}, each {period}: {silence}");
            }
        }
    }
}

#[test]
fn endpoint_flood_is_bounded() {
    const EACH: u32 = 5_000;
    let stage = Stage::new();
    let stranger = ghost(6);
    stage.station.1.feed(&announcement(&stranger), Socket::MetatrafficUnicast);
    stage.station.1.answer_challenge(stranger.prefix);
    let endpoint = |number: u32, kind: u8| {
        let [_, high, middle, low] = number.to_be_bytes();
        let guid = Guid::new(stranger.prefix, EntityId([high, middle, low, kind]));
        EndpointData::new(guid, "note", stage.writer.type_name())
    };
    let announce = |number: u32, ids: [EntityId; 2], payload: &[u8]| {
        let ids = ids.map(|id| id.0).concat();
        let body = [&[0, 0, 16, 0][..], &ids, &self::number(number.into()), payload].concat();
        stage.station.1.send(&raw(stranger.prefix, DATA, 4, &body), Socket::MetatrafficUnicast);
    };
    for number in 1..=EACH {
        let mut payload = Vec::new();
        PublicationData::new(endpoint(number, 3), Preset::Event.writer(), true).encode(&mut payload);
        announce(number, [EntityId::SEDP_PUBLICATIONS_READER, EntityId::SEDP_PUBLICATIONS_WRITER], &payload);
        payload.clear();
        SubscriptionData::new(endpoint(number, 4), Preset::Event.reader()).encode(&mut payload);
        announce(number, [EntityId::SEDP_SUBSCRIPTIONS_READER, EntityId::SEDP_SUBSCRIPTIONS_WRITER], &payload);
        if number % 50 == 0 {
            stage.world.pass(Duration::from_millis(5));
        }
    }
    stage.world.pass(Duration::from_millis(50));
    // The participant knows 4 096 of its writers and readers together. Half of these are writers, beside the robot's.
    let known = stage.reader.matched_publications().len() - 1;
    let counters = stage.station.0.discovery_counters().unwrap();
    println!("{known} writers, {} refused", counters.endpoints_refused);
    assert_eq!(counters.endpoints_refused, u64::from(2 * EACH) - 4_096);
    assert_eq!(known, 2_048);
    stage.honest_samples_arrive();
}

#[test]
fn participant_flood_is_bounded() {
    let stage = Stage::new();
    for number in 0..3_000 {
        let mut data = ghost(100 + number);
        data.lease_duration = Duration::from_secs(5);
        stage.station.1.send(&announcement(&data), Socket::MetatrafficUnicast);
        if number % 100 == 0 {
            stage.world.pass(Duration::from_millis(5));
        }
    }
    stage.world.pass(Duration::from_millis(50));
    assert_eq!(stage.station.0.discovered_participants().len(), 1_024);
    let counters = stage.station.0.discovery_counters().unwrap();
    assert_eq!((counters.participants_displaced, counters.participants_refused), (3_001 - 1_024, 0));
    stage.honest_traffic_goes_on();
    stage.world.pass(Duration::from_secs(10));
    assert_eq!(stage.station.0.discovered_participants().len(), 1);
    stage.honest_traffic_goes_on();
}
