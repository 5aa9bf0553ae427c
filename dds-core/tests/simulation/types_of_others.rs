//! Different types on both sides: matches, received samples, and reports of mismatches (XTYPES 1.3, 7.2.4 and 7.6.3).

use dds_core::matching::Obstacle;
use dds_core::matching::TypeDifferenceKind;
use dds_core::qos::{DataReaderQos, TypeConsistency, TypeConsistencyKind};
use dds_core::sim::Simulation;
use dds_core::{DdsType, DomainParticipant};
use std::time::Duration;

/// Of virtual time.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Short {
    #[dds(key)]
    id: u32,
    text: String,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Long {
    #[dds(key)]
    id: u32,
    text: String,
    more: Vec<i32>,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Renamed {
    #[dds(key)]
    id: u32,
    words: String,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Numbered {
    #[dds(key)]
    id: u32,
    text: i64,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Bounded {
    #[dds(key)]
    id: u32,
    #[dds(bound = 4)]
    text: String,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Listed {
    #[dds(bound = 2)]
    list: Vec<i32>,
}

#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Unlisted {
    list: Vec<i32>,
}

/// Contains itself, and is named twice.
#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct Tree {
    value: i32,
    children: Vec<Tree>,
}

/// The same with an additional member.
#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable)]
struct LaterTree {
    value: i32,
    children: Vec<LaterTree>,
    note: String,
}

#[derive(DdsType, Debug, PartialEq, Default)]
struct Bytes {
    data: Vec<u8>,
    rows: Vec<[u8; 2]>,
}

#[derive(DdsType, Debug, PartialEq, Default)]
struct Letter {
    value: char,
}

#[derive(DdsType, Debug, PartialEq, Default)]
struct Small {
    value: i8,
}

#[derive(DdsType, Debug, PartialEq, Default)]
struct Octets {
    #[dds(octet)]
    data: Vec<u8>,
    #[dds(octet)]
    rows: Vec<[u8; 2]>,
}

/// Bytes one level further down.
#[derive(DdsType, Debug, PartialEq, Default)]
struct OctetRows {
    data: Vec<u8>,
    #[dds(octet)]
    rows: Vec<[u8; 2]>,
}

#[derive(DdsType, Debug, PartialEq)]
enum FromOne {
    Count(i32),
    Weight(f32),
}

/// Numbered as in Cyclone DDS up to 11.0.
#[derive(DdsType, Debug, PartialEq)]
enum FromZero {
    #[dds(id = 0)]
    Count(i32),
    Weight(f32),
}

/// A different type with the name `Short` and the same encoding.
#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(appendable, name = "Short")]
struct OtherwiseShort {
    #[dds(key)]
    number: u32,
    words: String,
}

struct World {
    simulation: Simulation,
    from: DomainParticipant,
    to: DomainParticipant,
}

impl World {
    fn new(seed: u64) -> Self {
        let simulation = Simulation::new(seed);
        let participant = |host| simulation.participant(host, 0).unwrap();
        Self { from: participant("a"), to: participant("b"), simulation }
    }

    /// Mismatch of a writer of `W` and a reader of `R` after discovery. `None`: they match.
    fn obstacle<W: DdsType + 'static, R: DdsType + 'static>(self, consistency: TypeConsistency) -> Option<Obstacle> {
        let _writer = self.from.writer::<W>("t").unwrap();
        let qos = DataReaderQos::default().type_consistency(consistency);
        let reader = self.to.reader_builder::<R>("t").qos(qos).build().unwrap();
        self.simulation.run_for(PATIENCE);
        let [report] = &reader.explain_matches()[..] else { panic!("there is one writer") };
        report.obstacles.first().cloned()
    }
}

fn refused<W: DdsType + 'static, R: DdsType + 'static>(consistency: TypeConsistency) -> (String, TypeDifferenceKind) {
    match World::new(1).obstacle::<W, R>(consistency) {
        Some(Obstacle::Type { difference, .. }) => (difference.path, difference.kind),
        other => panic!("{other:?}"),
    }
}

fn accepted<W: DdsType + 'static, R: DdsType + 'static>(consistency: TypeConsistency) {
    assert_eq!(World::new(1).obstacle::<W, R>(consistency), None);
}

fn policy() -> TypeConsistency {
    TypeConsistency::default()
}

#[test]
fn added_or_missing_members_are_coerced() {
    let World { simulation: _simulation, from, to } = World::new(2);
    let long = from.writer::<Long>("long").unwrap();
    let short = to.reader::<Short>("long").unwrap();
    // Each side requests the type of its peer.
    long.wait_for_readers(1).block_for(PATIENCE).unwrap();
    short.wait_for_writers(1).block_for(PATIENCE).unwrap();
    long.write(&Long { id: 1, text: "a".into(), more: vec![1, 2] }).unwrap();
    let sample = short.next_sample().block_for(PATIENCE).unwrap().data;
    assert_eq!(sample, Some(Short { id: 1, text: "a".into() }));

    let short = from.writer::<Short>("short").unwrap();
    let long = to.reader::<Long>("short").unwrap();
    short.wait_for_readers(1).block_for(PATIENCE).unwrap();
    long.wait_for_writers(1).block_for(PATIENCE).unwrap();
    short.write(&Short { id: 2, text: "b".into() }).unwrap();
    let sample = long.next_sample().block_for(PATIENCE).unwrap().data;
    assert_eq!(sample, Some(Long { id: 2, text: "b".into(), more: vec![] }));
}

#[test]
fn recursive_types_are_requested_and_coerced() {
    let World { simulation: _simulation, from, to } = World::new(3);
    let writer = from.writer::<Tree>("trees").unwrap();
    let reader = to.reader::<LaterTree>("trees").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    writer.write(&Tree { value: 1, children: vec![Tree { value: 2, children: vec![] }] }).unwrap();
    let tree = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    assert_eq!((tree.value, tree.children[0].value, tree.note.as_str()), (1, 2, ""));
}

#[test]
fn other_member_type_raises_inconsistent_topic() {
    let kind = TypeDifferenceKind::Kind { writer: "int64".into(), reader: "string".into() };
    assert_eq!(refused::<Numbered, Short>(policy()), ("text".to_owned(), kind));

    let World { simulation, from, to } = World::new(4);
    let topic = to.topic::<Short>("t", None).unwrap();
    let _reader = to.reader(&topic).unwrap();
    let _writer = from.writer::<Numbered>("t").unwrap();
    simulation.run_for(PATIENCE);
    assert_eq!(topic.inconsistent_topic().total_count, 1);
}

#[test]
fn disallowed_coercion_rejects_unequal_types() {
    let consistency = policy().kind(TypeConsistencyKind::DisallowTypeCoercion);
    assert_eq!(refused::<Long, Short>(consistency), (String::new(), TypeDifferenceKind::NotEqual));
    accepted::<Short, Short>(consistency);
}

#[test]
fn member_names_count_unless_ignored() {
    let renamed = TypeDifferenceKind::Name { writer: "member with id 1".into(), reader: "text".into() };
    assert_eq!(refused::<Renamed, Short>(policy()), ("text".to_owned(), renamed));
    accepted::<Renamed, Short>(policy().ignore_member_names(true));
}

#[test]
fn string_bounds_count_unless_ignored() {
    accepted::<Short, Bounded>(policy());
    let kind = TypeDifferenceKind::Bound { writer: 0, reader: 4 };
    let consistency = policy().ignore_string_bounds(false);
    assert_eq!(refused::<Short, Bounded>(consistency), ("text".to_owned(), kind));
    accepted::<Bounded, Short>(consistency);
}

#[test]
fn sequence_bounds_count_unless_ignored() {
    accepted::<Unlisted, Listed>(policy());
    let kind = TypeDifferenceKind::Bound { writer: 0, reader: 2 };
    let consistency = policy().ignore_sequence_bounds(false);
    assert_eq!(refused::<Unlisted, Listed>(consistency), ("list".to_owned(), kind));
    accepted::<Listed, Unlisted>(consistency);
}

#[test]
fn wider_writer_type_matches_unless_prevented() {
    accepted::<Long, Short>(policy());
    let consistency = policy().prevent_type_widening(true);
    let (path, kind) = refused::<Long, Short>(consistency);
    assert_eq!(kind, TypeDifferenceKind::OnlyInWriter);
    assert!(path.starts_with("member with id 2"), "no local type has its name: {path}");
    accepted::<Short, Long>(consistency);
}

#[test]
fn forced_validation_requires_type_description() {
    let consistency = policy().force_type_validation(true);
    accepted::<Long, Short>(consistency);

    let World { simulation, from, to } = World::new(5);
    let raw = from.raw_topic("t", "Short", Default::default()).unwrap();
    let _writer = from.writer(&raw).unwrap();
    let qos = DataReaderQos::default().type_consistency(consistency);
    let reader = to.reader_builder::<Short>("t").qos(qos).build().unwrap();
    simulation.run_for(PATIENCE);
    assert_eq!(reader.subscription_matched().current_count, 0);
    // By its name alone it is accepted.
    let reader = to.reader::<Short>("t").unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
}

#[cfg(feature = "dynamic")]
#[test]
fn discovered_type_has_all_members() {
    use dds_rtps::xtypes::{TypeDefinition, TypeObject};

    let World { simulation: _simulation, from, to } = World::new(6);
    let _writer = from.writer::<Long>("t").unwrap();
    let found = to.discover_type_objects("t").block_for(PATIENCE).unwrap();
    let TypeObject::Complete(TypeDefinition::Struct(long)) = &*found.objects[&found.root] else { panic!("{found:?}") };
    assert_eq!(found.type_name, "Long");
    let members: Vec<&str> = long.members.iter().map(|member| member.detail.name.as_str()).collect();
    assert_eq!(members, ["id", "text", "more"]);
}

#[test]
fn octet_mismatch_names_the_attribute() {
    let of_writer = TypeDifferenceKind::OctetOrUInt8 { writer_has_octet: true };
    assert_eq!(refused::<Octets, Bytes>(policy()), ("data".to_owned(), of_writer.clone()));
    assert_eq!(refused::<OctetRows, Bytes>(policy()), ("rows".to_owned(), of_writer));
    let of_reader = TypeDifferenceKind::OctetOrUInt8 { writer_has_octet: false };
    assert_eq!(refused::<Bytes, OctetRows>(policy()), ("rows".to_owned(), of_reader.clone()));
    assert!(of_reader.to_string().contains("#[dds(octet)]"), "{of_reader}");
    accepted::<Octets, Octets>(policy());
}

#[test]
fn char_mismatch_names_affected_implementations() {
    let of_writer = TypeDifferenceKind::CharOrInt8 { writer_has_char: true };
    assert_eq!(refused::<Letter, Small>(policy()), ("value".to_owned(), of_writer));
    let of_reader = TypeDifferenceKind::CharOrInt8 { writer_has_char: false };
    assert_eq!(refused::<Small, Letter>(policy()), ("value".to_owned(), of_reader.clone()));
    assert!(of_reader.to_string().contains("Cyclone DDS before 11"), "{of_reader}");
}

#[test]
fn union_discriminator_mismatch_names_attribute() {
    let kind = TypeDifferenceKind::UnionIds { writer: 0, reader: 1 };
    assert_eq!(refused::<FromZero, FromOne>(policy()), (String::new(), kind.clone()));
    assert!(kind.to_string().contains("#[dds(id = 0)]"), "{kind}");
    let kind = TypeDifferenceKind::UnionIds { writer: 1, reader: 0 };
    assert_eq!(refused::<FromOne, FromZero>(policy()), (String::new(), kind));
    // The encoding contains no id, so the bytes are the same (7.4.3.5.3).
    accepted::<FromZero, FromOne>(policy().ignore_member_names(true));
}

#[test]
fn type_names_decide_without_type_description() {
    let simulation = Simulation::new(7);
    let nameless = DomainParticipant::builder(0).type_information(false);
    let (from, to) = (simulation.build("a", nameless).unwrap(), simulation.participant("b", 0).unwrap());

    let writer = from.writer::<OtherwiseShort>("t").unwrap();
    let reader = to.reader::<Short>("t").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    writer.write(&OtherwiseShort { number: 3, words: "c".into() }).unwrap();
    let sample = reader.next_sample().block_for(PATIENCE).unwrap().data;
    assert_eq!(sample, Some(Short { id: 3, text: "c".into() }));

    // The type would fit, but has a different name.
    let reader = from.reader::<Short>("long").unwrap();
    let _writer = to.writer::<Long>("long").unwrap();
    simulation.run_for(PATIENCE);
    let [report] = &reader.explain_matches()[..] else { panic!("there is one writer") };
    let names = Obstacle::TypeName { ours: "Short".into(), theirs: "Long".into() };
    assert_eq!(report.obstacles, [names]);

    #[cfg(feature = "dynamic")]
    let _writer = from.writer::<Short>("alone").unwrap();
    #[cfg(feature = "dynamic")]
    assert!(to.discover_type_objects("alone").block_for(PATIENCE).is_err(), "no endpoint describes it");
}
