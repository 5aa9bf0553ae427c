//! Types of peers: requests, replies, bounds, and their effect on matching.

use super::hostile::announcement;
use super::network::{Network, config, prefix};
use super::{reader, writer};
use dds_macros::DdsType;
use dds_rtps::cdr::{TypeInfo, WString};
use dds_rtps::discovery::data::{PublicationData, SubscriptionData};
use dds_rtps::discovery::{KnownTypes, MatchResult, ParticipantEvent};
use dds_rtps::participant::{ParticipantConfig, TypeResolution};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, SequenceNumber, VendorId};
use dds_rtps::wire::{Heartbeat, MessageBuilder};
use dds_rtps::xtypes::{
    Complete, EquivalenceHash, Form, GraphType, MemberFlags, Minimal, PrimitiveType, StructMember, StructType,
    TypeDefinition, TypeFlags, TypeGraph, TypeIdentifier, TypeInformation, TypeObject, TypeWithSize,
};
use std::sync::Arc;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct Short {
    id: u32,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct Long {
    id: u32,
    more: Vec<Inner>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct Other {
    id: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable, nested)]
struct Inner {
    x: f32,
}

fn graph<T: TypeInfo>() -> TypeGraph {
    TypeGraph::of(T::DESCRIPTION).unwrap()
}

fn writer_of(graph: &TypeGraph) -> PublicationData {
    let mut data = writer(1, DataWriterQos::default());
    data.endpoint.type_information = Some(Arc::clone(graph.information()));
    data
}

fn reader_of(graph: &TypeGraph) -> SubscriptionData {
    let mut data = reader(2, DataReaderQos::default());
    data.endpoint.type_information = Some(Arc::clone(graph.information()));
    data
}

/// A writer and a reader of different types, and the final match at the reader's participant.
///
/// `loses` selects the lost datagrams.
struct Pair {
    network: Network,
    a: usize,
    b: usize,
}

impl Pair {
    /// `tells` is true if the writer's participant describes its type.
    fn new(ours: &TypeGraph, theirs: &TypeGraph, tells: bool) -> Self {
        Self::of(ours, writer_of(theirs), tells.then_some(theirs))
    }

    /// `told` is the type that the writer's participant describes.
    fn of(ours: &TypeGraph, theirs: PublicationData, told: Option<&TypeGraph>) -> Self {
        Self::in_network(Network::new(), config(2), ours, theirs, told)
    }

    /// `asker` is the configuration of the reader's participant.
    fn in_network(
        mut network: Network,
        asker: ParticipantConfig,
        ours: &TypeGraph,
        theirs: PublicationData,
        told: Option<&TypeGraph>,
    ) -> Self {
        let (a, b) = (network.start(config(1)), network.start(asker));
        network.run_for(Duration::from_secs(1));
        network.with(a, |participant, now| {
            // A participant cannot describe a type that it has not added.
            if let Some(told) = told {
                participant.add_type(told);
            }
            participant.add_writer(now, theirs);
        });
        network.with(b, |participant, now| {
            participant.add_type(ours);
            participant.add_reader(now, reader_of(ours));
        });
        Self { network, a, b }
    }

    fn result(&self) -> Option<MatchResult> {
        let matching = self.network.participant(self.b).matching();
        matching.results().next().map(|(_, _, result)| result.clone())
    }
}

#[test]
fn differing_type_matches_after_its_answer() {
    let mut pair = Pair::new(&graph::<Short>(), &graph::<Long>(), true);
    pair.network.run_for(Duration::from_secs(1));
    assert_eq!(pair.result(), Some(MatchResult::Matched));
    assert_eq!(pair.network.participant(pair.a).counters().type_requests_answered, 1, "one question for all of it");
}

#[test]
fn equal_types_match_without_request() {
    let mut pair = Pair::new(&graph::<Long>(), &graph::<Long>(), true);
    pair.network.run_for(Duration::from_secs(1));
    assert_eq!(pair.result(), Some(MatchResult::Matched));
    assert_eq!(pair.network.participant(pair.a).counters().type_requests_answered, 0);
}

#[test]
fn incompatible_type_is_reported_once() {
    let mut pair = Pair::new(&graph::<Short>(), &graph::<Other>(), true);
    pair.network.run_for(Duration::from_secs(1));
    let Some(MatchResult::Type(difference)) = pair.result() else { panic!("{:?}", pair.result()) };
    assert_eq!(difference.to_string(), "id: the writer has string, the reader uint32");
    let told = |event: &ParticipantEvent| matches!(event, ParticipantEvent::InconsistentTopic { .. });
    assert_eq!(pair.network.events(pair.b).iter().filter(|event| told(event)).count(), 1);
}

#[test]
fn undescribed_type_falls_back_to_names() {
    let mut pair = Pair::new(&graph::<Short>(), &graph::<Other>(), false);
    pair.network.run_for(Duration::from_secs(1));
    assert_eq!(pair.result(), Some(MatchResult::Matched), "both say that they have the type of these tests");
    assert_eq!(pair.network.participant(pair.b).counters().types_unavailable, 1);
}

#[test]
fn unanswered_type_request_is_sent_three_times() {
    let mut pair = Pair::new(&graph::<Short>(), &graph::<Other>(), true);
    // All traffic of the type lookup service is lost. Its four endpoints have 0003 in their ids.
    let is_of_service = |bytes: &[u8]| bytes.windows(4).any(|id| matches!(id, [0, 3, 0 | 1, 0xc3 | 0xc4]));
    pair.network.loses = Box::new(move |_, bytes| is_of_service(bytes));
    pair.network.run_for(Duration::from_millis(2_500));
    assert_eq!(pair.result(), Some(MatchResult::TypePending));
    pair.network.run_for(Duration::from_secs(2));
    assert_eq!(pair.result(), Some(MatchResult::Matched));
    assert_eq!(pair.network.participant(pair.b).counters().types_unavailable, 1);
}

/// Cyclone DDS 0.10 (seen with 0.10.2) sends a related request identity that does not belong to the requester.
#[test]
fn reply_with_foreign_request_id_is_used() {
    let alters = |bytes: &mut [u8]| {
        let asker = [&prefix(2).0[..], &EntityId::TYPE_REQUEST_WRITER.0].concat();
        let answerer = [&prefix(1).0[..], &EntityId::TYPE_REPLY_WRITER.0].concat();
        let is_answer = bytes.windows(4).any(|id| id == EntityId::TYPE_REPLY_WRITER.0);
        if let (true, Some(at)) = (is_answer, bytes.windows(16).position(|window| window == asker)) {
            bytes[at..at + 16].copy_from_slice(&answerer);
        }
    };
    let run = |theirs: &TypeGraph, tells| {
        let mut network = Network::new();
        network.alters = alters;
        let told = if tells { theirs } else { &graph::<Short>() };
        let mut pair = Pair::in_network(network, config(2), &graph::<Short>(), writer_of(theirs), Some(told));
        pair.network.run_for(Duration::from_millis(800));
        let early = pair.result();
        pair.network.run_for(Duration::from_secs(5));
        (early, pair.result(), pair.network.participant(pair.b).counters().types_unavailable)
    };
    assert_eq!(run(&graph::<Long>(), true), (Some(MatchResult::Matched), Some(MatchResult::Matched), 0));
    let (early, late, unavailable) = run(&graph::<Other>(), true);
    assert!(matches!((early, late, unavailable), (Some(MatchResult::Type(_)), Some(MatchResult::Type(_)), 0)));
    // Types missing from such a reply stay pending, because it may answer another participant.
    assert_eq!(run(&graph::<Other>(), false), (Some(MatchResult::TypePending), Some(MatchResult::Matched), 1));
}

/// Versions before 11 crash when they parse such a description.
#[test]
fn old_cyclone_suppresses_crashing_types() {
    let is_described = |theirs: &TypeGraph, cyclone: Option<&str>| {
        let mut network = Network::new();
        let (a, b) = (network.start(config(1)), network.start(config(2)));
        if let Some(version) = cyclone {
            let prefix = GuidPrefix::new(VendorId::CYCLONE, [3; 10]);
            network.deliver(a, &announcement_of_cyclone(prefix, version));
            let known = network.participant(a).participant(prefix).unwrap();
            assert_eq!(known.product_version, version);
        }
        network.run_for(Duration::from_secs(1));
        network.with(a, |participant, now| {
            participant.add_type(theirs);
            participant.add_writer(now, writer_of(theirs));
        });
        network.with(b, |participant, now| {
            participant.add_type(&graph::<Short>());
            participant.add_reader(now, reader_of(&graph::<Short>()));
        });
        network.run_for(Duration::from_secs(5));
        let result = network.participant(b).matching().results().next().map(|(_, _, result)| result.clone());
        assert_eq!(result, Some(MatchResult::Matched), "names decide if need be");
        let (told, asked) = (network.participant(a).counters(), network.participant(b).counters());
        assert_eq!(told.types_withheld > 0, asked.types_unavailable > 0);
        asked.types_unavailable == 0
    };
    let dangerous =
        [graph::<WithBytes>(), graph::<WithSmallArrays>(), graph::<WithWideString>(), graph::<WithSmallMember>()];
    for ty in &dangerous {
        assert!(is_described(ty, None) && is_described(ty, Some("11.0.1")));
        assert!(!is_described(ty, Some("0.10.2")), "{ty:?}");
    }
    assert!(is_described(&graph::<Long>(), Some("0.10.2")), "which has nothing of the kind");
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct WithBytes {
    id: u32,
    bytes: Vec<u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct WithSmallArrays {
    id: u32,
    arrays: std::collections::BTreeMap<u32, [i8; 3]>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct WithWideString {
    id: u32,
    name: WString,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct WithSmallMember {
    id: u32,
    inner: Small,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable, nested)]
struct Small {
    x: u8,
}

fn announcement_of_cyclone(prefix: GuidPrefix, version: &str) -> Vec<u8> {
    // The parameter replaces another one of the same length.
    let text = format!("vm/{version}/Linux/Linux\0");
    let mut value = [&[0; 20], &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    value.resize(value.len().next_multiple_of(4), 0);
    let room = vec![0x5a; value.len() - 4];
    let mut bytes = announcement(prefix, |data| {
        data.vendor = VendorId::CYCLONE;
        data.user_data.clone_from(&room);
    });
    let at = bytes.windows(room.len()).position(|window| window == room).unwrap() - 8;
    bytes[at..at + 2].copy_from_slice(&0x8007_u16.to_le_bytes());
    bytes[at + 4..at + 4 + value.len()].copy_from_slice(&value);
    bytes
}

/// Cyclone DDS requests once, by multicast. Its first HEARTBEAT may arrive first on another socket.
#[test]
fn request_behind_first_heartbeat_is_answered() {
    let mut network = Network::new();
    // All traffic of the request writers is lost, up to the first request.
    network.loses = Box::new(|_, bytes| bytes.windows(4).any(|id| id == EntityId::TYPE_REQUEST_WRITER.0));
    // Writers of ours and of Fast DDS announce irrelevant changes of a reader. Those of Cyclone DDS do not.
    let mut asker = config(2);
    asker.prefix = GuidPrefix::new(VendorId::CYCLONE, [2; 10]);
    let from = asker.prefix;
    let mut pair =
        Pair::in_network(network, asker, &graph::<Short>(), writer_of(&graph::<Long>()), Some(&graph::<Long>()));
    pair.network.run_for(Duration::from_millis(50));
    pair.network.deliver(pair.a, &first_heartbeat_of_questions(from));
    pair.network.loses = Box::new(|_, _| false);
    pair.network.run_for(Duration::from_millis(900));
    assert_eq!(pair.result(), Some(MatchResult::Matched), "before the question is put again");
    assert_eq!(pair.network.participant(pair.a).counters().type_requests_answered, 1);
}

/// Returns a HEARTBEAT that announces one request.
fn first_heartbeat_of_questions(from: GuidPrefix) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(from);
    message.info_dst(prefix(1));
    message.heartbeat(&Heartbeat {
        reader_id: EntityId::TYPE_REQUEST_READER,
        writer_id: EntityId::TYPE_REQUEST_WRITER,
        first_sn: SequenceNumber(1),
        last_sn: SequenceNumber(1),
        count: 1,
        is_final: false,
        liveliness: false,
        group_info: None,
    });
    bytes
}

/// Type information of `ShapeType` in Dust DDS 0.16 (dust16_to_fastdds.pcap, first SEDP datagram).
///
/// Its hashes differ from Cyclone's and ours. Its headers share their length with the following member (XTypes 1.3,
/// 7.4.3.4.2, LC = 5).
const DUST: [u8; 92] = [
    0x58, 0, 0, 0, // the whole
    1, 0x10, 0, 0x50, 0x24, 0, 0, 0, // minimal
    0x14, 0, 0, 0, 0xf1, 0xab, 0x9c, 0xa7, 0x87, 0x94, 0xeb, 0xe0, 0x30, 0x1b, 0xf9, 0x78, 0xfc, 0x85, 0x4e,
    0, // hash
    0x75, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, // 117 bytes, no dependencies
    2, 0x10, 0, 0x50, 0x24, 0, 0, 0, // complete
    0x14, 0, 0, 0, 0xf2, 0x3a, 0x84, 0x59, 0x10, 0x93, 0xe7, 0xb8, 0x40, 0xc3, 0xcd, 0x31, 0xfe, 0x26, 0x1f,
    0, // hash
    0xbe, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, // 190 bytes, no dependencies
];

#[test]
fn foreign_type_hashes_match_by_name() {
    let information = TypeInformation::from_bytes(&DUST).unwrap();
    assert_eq!((information.minimal.ty.size, information.complete.ty.size), (117, 190));
    let mut dust = writer(1, DataWriterQos::default());
    dust.endpoint.type_information = Some(Arc::new(information));
    let mut pair = Pair::of(&graph::<Short>(), dust, None);
    pair.network.run_for(Duration::from_secs(1));
    assert_eq!(pair.result(), Some(MatchResult::Matched));
}

#[test]
fn type_is_resolved_with_its_dependencies() {
    let (ours, theirs) = (graph::<Short>(), graph::<Long>());
    let Pair { mut network, b, .. } = Pair::new(&ours, &theirs, true);
    network.run_for(Duration::from_secs(1));
    let endpoint = Guid::new(prefix(1), writer_of(&theirs).endpoint.guid.entity_id);
    let first = network.with(b, |participant, now| participant.resolve_type(now, endpoint));
    assert_eq!(first, TypeResolution::Asked, "only the minimal description was needed to match");
    network.run_for(Duration::from_secs(1));
    assert!(network.events(b).contains(&ParticipantEvent::TypesDescribed { prefix: prefix(1) }));
    let TypeResolution::Known { root, types } =
        network.with(b, |participant, now| participant.resolve_type(now, endpoint))
    else {
        panic!("it was told");
    };
    assert_eq!((root, types.len()), (theirs.information().complete.ty.id.clone(), 2));
    let nobody = Guid::new(prefix(1), EntityId::PARTICIPANT);
    let none = network.with(b, |participant, now| participant.resolve_type(now, nobody));
    assert_eq!(none, TypeResolution::NoEndpoint);
}

/// A type of sixty others, each with a description of about 4 KiB.
fn large_type() -> TypeGraph {
    let described = |name: &str, members: Vec<(String, [TypeIdentifier; 2])>| {
        let minimal = TypeObject::Minimal(structure::<Minimal>(name, &members, 0));
        let complete = TypeObject::Complete(structure::<Complete>(name, &members, 1));
        let ids = (minimal.identifier().unwrap(), complete.identifier().unwrap());
        GraphType { minimal_id: ids.0, minimal, complete_id: ids.1, complete }
    };
    let number = || [TypeIdentifier::Primitive(PrimitiveType::Int32), TypeIdentifier::Primitive(PrimitiveType::Int32)];
    let part = |part: u32| {
        let members = (0..200).map(|member| (format!("part {part} member {member}"), number())).collect();
        described(&format!("Part{part}"), members)
    };
    let parts: Vec<GraphType> = (0..60).map(part).collect();
    let members = parts
        .iter()
        .zip(0..)
        .map(|(part, index): (_, u32)| (format!("part{index}"), [part.minimal_id.clone(), part.complete_id.clone()]));
    let whole = described("Whole", members.collect());
    TypeGraph::of_types(std::iter::once(whole).chain(parts).collect()).unwrap()
}

fn structure<F: Form>(name: &str, members: &[(String, [TypeIdentifier; 2])], form: usize) -> TypeDefinition<F> {
    let member = |(id, (name, ty)): (u32, &(String, [TypeIdentifier; 2]))| StructMember {
        id,
        flags: MemberFlags(1),
        ty: ty[form].clone(),
        detail: F::of_member(name),
    };
    TypeDefinition::Struct(StructType {
        flags: TypeFlags::APPENDABLE,
        base: TypeIdentifier::None,
        detail: F::of_type(name),
        members: (0..).zip(members).map(member).collect(),
    })
}

#[test]
fn type_reply_is_bounded() {
    let (ours, theirs) = (graph::<Short>(), large_type());
    let Pair { mut network, a, b } = Pair::new(&ours, &theirs, true);
    network.run_for(Duration::from_secs(2));
    let endpoint = Guid::new(prefix(1), writer_of(&theirs).endpoint.guid.entity_id);
    network.with(b, |participant, now| participant.resolve_type(now, endpoint));
    network.run_for(Duration::from_secs(3));
    let resolution = network.with(b, |participant, now| participant.resolve_type(now, endpoint));
    let TypeResolution::Known { types, .. } = resolution else { panic!("{:?}", network.participant(b).counters()) };
    assert_eq!(types.len(), 61);
    let answers = network.participant(a).counters().type_requests_answered;
    assert!(answers > 2, "{answers}: what had no room in one answer is asked for again");
    assert_eq!(network.participant(b).counters().types_unavailable, 0);
}

fn made_up(number: u32) -> TypeIdentifier {
    let mut hash = [0; 14];
    hash[..4].copy_from_slice(&number.to_le_bytes());
    TypeIdentifier::Minimal(EquivalenceHash(hash))
}

/// Announcements may name any number of types.
#[test]
fn missing_types_are_bounded() {
    let mut types = KnownTypes::default();
    for number in 0..10_000 {
        assert!(types.add_missing(prefix(1), &made_up(number), std::iter::empty()));
        assert!(types.add_missing(prefix(2), &made_up(0), [&made_up(number)].into_iter()));
        // A participant with this many missing types counts as describing none.
        assert_eq!(types.is_unavailable(prefix(3), &made_up(20_000)), number > 1_024);
        types.set_unavailable(prefix(3), made_up(number));
    }
    let missing = types.take_missing();
    assert_eq!(missing.values().map(|types| types.len()).collect::<Vec<_>>(), [1_024, 1_024]);
    assert!(types.is_unavailable(prefix(3), &made_up(0)));
    assert!(!types.is_unavailable(prefix(4), &made_up(0)));
    types.add_missing(prefix(3), &made_up(20_000), std::iter::empty());
    assert!(types.take_missing().is_empty(), "a peer without this many types receives no further requests");
    types.forget(prefix(3));
    assert!(!types.is_unavailable(prefix(3), &made_up(0)));
}

/// A peer without the type lookup service announces thousands of types. Requests to other peers continue.
#[test]
fn undescribing_peer_does_not_delay_others() {
    // The third participant has no type lookup service: the last four bits of its PID_BUILTIN_ENDPOINT_SET are cleared.
    let alters = |bytes: &mut [u8]| {
        let set = bytes.windows(4).position(|parameter| parameter == [0x58, 0, 4, 0]);
        if let Some(at) = set.filter(|_| bytes[8..20] == prefix(3).0) {
            bytes[at + 5] &= 0x0f;
        }
    };
    let mut network = Network::new();
    network.alters = alters;
    let (ours, theirs) = (graph::<Short>(), graph::<Other>());
    let mut pair = {
        let (flooding, asking) = (network.start(config(3)), network.start(config(2)));
        network.run_for(Duration::from_secs(1));
        network.with(asking, |participant, now| {
            participant.add_type(&ours);
            participant.add_reader(now, reader_of(&ours));
        });
        for endpoint in 0..5 {
            let with_size = |number| TypeWithSize { id: made_up(1_000 * endpoint + number), size: 0 };
            let mut information = TypeInformation::clone(theirs.information());
            information.minimal.ty = with_size(1);
            information.minimal.dependencies = (2..1_000).map(with_size).collect();
            let TypeIdentifier::Complete(hash) = &mut information.complete.ty.id else { panic!() };
            hash.0[0] ^= 0xff;
            let mut data = writer(10 + endpoint, DataWriterQos::default());
            data.endpoint.type_information = Some(Arc::new(information));
            network.with(flooding, |participant, now| participant.add_writer(now, data));
        }
        network.run_for(Duration::from_secs(2));
        let results = network.participant(asking).matching().results();
        let results: Vec<MatchResult> = results.map(|(_, _, result)| result.clone()).collect();
        assert_eq!(results, vec![MatchResult::Matched; 5], "names decide of the one that describes nothing");
        let known = network.participant(asking).participant(prefix(3)).unwrap();
        assert_eq!(known.builtin_endpoints.0 & 0xf000, 0);
        let a = network.start(config(1));
        network.with(a, |participant, now| {
            participant.add_type(&theirs);
            participant.add_writer(now, writer_of(&theirs));
        });
        Pair { network, a, b: asking }
    };
    pair.network.run_for(Duration::from_secs(2));
    let results = pair.network.participant(pair.b).matching().results();
    let differing = results.filter(|(_, _, result)| matches!(result, MatchResult::Type(_)));
    assert_eq!(differing.count(), 1, "it was asked, and does not fit");
    assert_eq!(pair.network.participant(pair.a).counters().type_requests_answered, 1);
}
