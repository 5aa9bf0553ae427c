//! Names and descriptions of our types equal those of Cyclone DDS's Python package, byte by byte
//! (`tests/vectors/make_type_objects.py`).

#![allow(dead_code, reason = "these types are only described")]

use dds_cdr::cdr::{ByteOrder, Encode, Encoder, Encoding, TypeInfo};
use dds_cdr::xtypes::{
    Minimal, Mismatch, TypeConsistency, TypeDifferenceKind, TypeGraph, TypeIdentifier, TypeInformation, TypeObject,
    TypeSource, check_assignable,
};
use dds_macros::DdsType;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The type of the shapes demo, as in the demos of all vendors.
#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct ShapeType {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
    additional_payload_size: Vec<u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", name = "module::Primitives")]
struct Primitives {
    a: bool,
    #[dds(octet)]
    b: u8,
    c: i8,
    d: u8,
    e: i16,
    f: u16,
    g: i32,
    h: u32,
    i: i64,
    j: u64,
    k: f32,
    l: f64,
    m: char,
    n: String,
    #[dds(bound = 255)]
    o: String,
    #[dds(bound = 256)]
    p: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", mutable)]
struct Members {
    #[dds(key, id = 7)]
    first: i32,
    second: Option<i32>,
    #[dds(must_understand)]
    third: i32,
    #[dds(external)]
    fourth: i32,
    #[dds(hashid)]
    fifth: i32,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", mutable, autoid = "hash")]
struct Hashed {
    #[dds(key)]
    color: i32,
    shape: String,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "dds_cdr")]
enum Color {
    #[dds(name = "RED")]
    Red,
    #[dds(name = "GREEN")]
    Green,
    #[dds(name = "BLUE")]
    Blue,
}

#[derive(DdsType, Clone, Copy)]
#[dds(crate = "dds_cdr", appendable, bit_bound = 16)]
enum Level {
    #[dds(name = "HIGH")]
    High = 9,
    #[dds(name = "MIDDLE", default)]
    Middle = 5,
    #[dds(name = "LOW")]
    Low = 1,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", bitmask, flags(READ, ADMIN = 7, WRITE = 1))]
struct Rights(u8);

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct Enumerated {
    color: Color,
    level: Level,
    rights: Rights,
    #[dds(bound = 4)]
    colors: Vec<Color>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", name = "geometry::Point", nested)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct Collections {
    points: Vec<Point>,
    #[dds(bound = 300)]
    few: Vec<Point>,
    corners: [Point; 4],
    matrix: [[f32; 3]; 2],
    row: [u8; 1000],
    lists: Vec<dds_cdr::cdr::Bounded<Vec<i32>, 2>>,
    #[dds(bound = 3)]
    names: Vec<dds_cdr::cdr::Bounded<String, 8>>,
    maybe: Option<Point>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
enum Value {
    #[dds(name = "number", id = 0)]
    Number(f64),
    #[dds(name = "text", id = 1, case = [1, 7], bound = 80)]
    Text(String),
    #[dds(name = "place", id = 2, case = 9)]
    Place(Point),
    #[dds(name = "other", id = 3, default)]
    Other(Vec<u8>),
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", discriminator = Color, key)]
enum Length {
    #[dds(name = "red", id = 0, case = Color::Red)]
    Red(i16),
    #[dds(name = "blue", id = 1, case = [Color::Green, Color::Blue])]
    Blue(Color),
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", mutable)]
struct Unions {
    value: Value,
    lengths: Vec<Length>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct Base {
    #[dds(key)]
    id: u32,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct Derived {
    #[dds(base, key)]
    base: Base,
    name: String,
    point: Point,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct Node {
    value: i32,
    children: Vec<Node>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct Zebra {
    others: Vec<Antelope>,
    point: Point,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", appendable)]
struct Antelope {
    others: Vec<Zebra>,
    color: Color,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct Octets {
    #[dds(octet)]
    one: u8,
    #[dds(octet)]
    many: Vec<u8>,
    #[dds(octet, bound = 4)]
    few: Vec<u8>,
    #[dds(octet)]
    row: [u8; 3],
    #[dds(octet)]
    rows: Vec<[u8; 3]>,
    #[dds(octet)]
    maybe: Option<u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr", discriminator = octet)]
enum OctetUnion {
    #[dds(name = "bytes", id = 0, case = [1, 7], octet)]
    Bytes(Vec<u8>),
    #[dds(name = "number", default)]
    Number(u8),
}

/// Cyclone DDS uses a `typedef` here.
#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct Aliased {
    distance: f64,
    distances: Vec<f64>,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct FarAway {
    within: Aliased,
}

/// Compares the golden lines that describe a type with our description.
fn compare<T: TypeInfo>() {
    let graph = TypeGraph::of(T::DESCRIPTION).unwrap();
    let mut ours = BTreeSet::new();
    for ty in graph.types() {
        ours.insert(format!("minimal {} {}", hex(&ty.minimal_id), hex(&ty.minimal)));
        ours.insert(format!("complete {} {}", hex(&ty.complete_id), hex(&ty.complete)));
        for object in [&ty.minimal, &ty.complete] {
            assert_eq!(TypeObject::from_bytes(&object.to_bytes().unwrap()).as_ref(), Ok(object));
        }
    }
    let lines = |prefix: &str| -> BTreeSet<String> {
        let prefix = format!("{} {prefix}", T::TYPE_NAME);
        GOLDEN
            .lines()
            .filter(|line| line.starts_with(&prefix))
            .map(|line| line[T::TYPE_NAME.len() + 1..].to_owned())
            .collect()
    };
    let theirs: BTreeSet<String> = lines("minimal").union(&lines("complete")).cloned().collect();
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), theirs.difference(&ours).collect::<Vec<_>>());

    let announced = lines("information").pop_first().unwrap();
    let announced = TypeInformation::from_bytes(&bytes(announced.strip_prefix("information ").unwrap())).unwrap();
    let information = graph.information();
    assert_eq!(TypeInformation::from_bytes(&information.to_bytes().unwrap()).as_ref(), Ok(&**information));
    assert_eq!(
        (&announced.minimal.ty.id, &announced.complete.ty.id),
        (&information.minimal.ty.id, &information.complete.ty.id)
    );
    if announced.complete.dependencies.is_empty() {
        assert_eq!(announced, **information);
    }
}

/// Type objects of Cyclone DDS, and ours.
struct Described(HashMap<TypeIdentifier, TypeObject>);

impl TypeSource for Described {
    fn find(&self, id: &TypeIdentifier) -> Option<&TypeObject> {
        self.0.get(id)
    }
}

/// Checks that our reader type is assignable from Cyclone DDS's writer type of the same name.
fn fits<T: TypeInfo>() -> Result<(), Mismatch> {
    let mut known = Described(HashMap::new());
    for line in GOLDEN.lines() {
        if let [_, "minimal", id, object] = line.split(' ').collect::<Vec<_>>()[..] {
            let object = TypeObject::from_bytes(&bytes(object)).unwrap();
            let found = object.identifier().unwrap();
            // The name of mutually recursive types is not their own hash.
            if hex(&found) == id {
                known.0.insert(found, object);
            }
        }
    }
    let theirs = format!("{} information ", T::TYPE_NAME);
    let theirs = GOLDEN.lines().find_map(|line| line.strip_prefix(&theirs)).unwrap();
    let theirs = TypeInformation::from_bytes(&bytes(theirs)).unwrap().minimal.ty.id;
    let ours = TypeGraph::of(T::DESCRIPTION).unwrap();
    known.0.extend(ours.types().iter().map(|ty| (ty.minimal_id.clone(), ty.minimal.clone())));
    let ours = &ours.information().minimal.ty.id;
    assert_ne!(*ours, theirs, "Rust's aliases are none");
    check_assignable::<Minimal>(&known, ours, &theirs, &TypeConsistency::default())
}

/// XTYPES 1.3, 7.2.4.2: for a final type inside of another, its description counts, not the resolved type.
///
/// Cyclone DDS does the same.
#[test]
fn typedef_inside_nested_final_type_differs() {
    assert_eq!(fits::<Aliased>(), Ok(()));
    let Err(Mismatch::Differs(difference)) = fits::<FarAway>() else { panic!("nothing is unknown") };
    assert_eq!(difference.kind, TypeDifferenceKind::NotDelimited);
    assert!(difference.to_string().contains("typedef"), "{difference}");
}

fn hex<T: Encode>(value: &T) -> String {
    let mut bytes = Vec::new();
    value.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little)).unwrap();
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

macro_rules! types {
    ($($name:ident $ty:ident)+) => { $(
        #[test]
        fn $name() {
            compare::<$ty>();
        }
    )+ };
}

types! {
    a_struct_of_the_shapes_demo ShapeType
    all_primitives_and_strings Primitives
    everything_that_a_member_can_say Members
    ids_made_of_names Hashed
    enums_and_bitmasks Enumerated
    sequences_arrays_and_optionals Collections
    a_union_with_a_default_case Value
    unions_in_a_struct_and_a_discriminator_that_is_a_key Unions
    a_struct_that_extends_another Derived
    a_type_that_contains_itself Node
    types_that_contain_each_other Zebra
    octets_wherever_they_are Octets
    a_union_that_an_octet_selects OctetUnion
}

const GOLDEN: &str = include_str!("../vectors/cyclone_type_objects.golden");
