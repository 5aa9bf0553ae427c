//! Keys and key hashes.

use super::types::*;
use super::*;
use crate::InstanceHandle;
use crate::cdr::{
    AnyType, KeyHasher, Keyed, TypeInfo, decode_key_payload, encode_key_payload, encode_payload, instance_of_payload,
    key_hash_of, key_hash_of_key, key_hash_of_payload, key_hashes_agree,
};
use dds_macros::DdsType;

/// Returns the key hash of an encoding.
///
/// Checks that all ways to compute the hash or the instance agree.
pub(super) fn key_hash<T: Keyed + TypeInfo + Encode>(sample: &T, encoding: Encoding) -> Vec<u8> {
    let (mut scratch, mut payload) = (Vec::new(), Vec::new());
    let hash = key_hash_of(sample, encoding, &mut scratch).unwrap();
    assert_eq!(key_hash_of_key::<T>(&sample.key(), encoding, &mut scratch).unwrap(), hash);
    let instance = key_hash_of(sample, Encoding::Xcdr2, &mut scratch).unwrap();
    assert!(hash == instance || !key_hashes_agree(T::DESCRIPTION));
    let hasher = KeyHasher::new(T::DESCRIPTION, true);
    assert_eq!(hasher.of_sample(sample, &mut scratch).unwrap(), instance);
    assert_eq!(hasher.of_key::<T>(&sample.key(), &mut scratch).unwrap(), instance);
    for is_key in [false, true] {
        match is_key {
            false => encode_payload(sample, encoding, &mut payload).unwrap(),
            true => encode_key_payload::<T>(&sample.key(), encoding, &mut payload).unwrap(),
        }
        assert_eq!(instance_of_payload(T::DESCRIPTION, &payload, is_key, &mut scratch).unwrap(), instance);
        assert_eq!(hasher.of_payload(&payload, is_key, &mut scratch).unwrap(), instance);
        scratch = vec![7; 3];
        assert_eq!(key_hash_of_payload(T::DESCRIPTION, &payload, is_key, &mut scratch).unwrap(), hash);
        assert_eq!(scratch, [7; 3]);
    }
    hash.as_bytes().unwrap().to_vec()
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Pose {
    x: f64,
    #[dds(key)]
    robot: u32,
}

fn shape() -> ShapeType {
    ShapeType { color: "BLUE".into(), x: 1, y: 2, shapesize: 3, additional_payload_size: vec![255; 3] }
}

#[test]
fn small_key_is_its_own_hash() {
    for encoding in ENCODINGS {
        assert_eq!(key_hash(&Pose { x: 1.0, robot: 7 }, encoding), hex("00000007 00000000 00000000 00000000"));
    }
}

#[test]
fn hidden_key_hash_shows_no_short_key() {
    let (sample, mut payload, mut scratch) = (Badge { id: 7 }, Vec::new(), vec![7; 3]);
    let ty = AnyType::from(Badge::DESCRIPTION);
    for encoding in ENCODINGS {
        assert_eq!(key_hash(&sample, encoding)[..4], [0, 0, 0, 7]);
        encode_payload(&sample, encoding, &mut payload).unwrap();
        let hidden = ty.hidden_key_hash_of_payload(&payload, false, &mut scratch).unwrap();
        encode_key_payload::<Badge>(&sample.key(), encoding, &mut payload).unwrap();
        assert_eq!(ty.hidden_key_hash_of_payload(&payload, true, &mut scratch), Ok(hidden));
        assert_eq!(hidden.as_bytes(), Some(&md5::compute([0, 0, 0, 7]).0));
        assert_eq!(scratch, [7; 3]);
    }
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Badge {
    #[dds(key)]
    id: u32,
}

/// Captured from Fast DDS: MD5 of `00000005 424c5545 00`.
#[test]
fn unbounded_short_key_is_hashed_with_md5() {
    for encoding in ENCODINGS {
        assert_eq!(key_hash(&shape(), encoding), md5::compute(hex("00000005 424c5545 00")).0);
        assert!(key_hash(&shape(), encoding).starts_with(&hex("cac217c3")));
    }
}

#[test]
fn view_has_the_key_of_its_type() {
    let view = ShapeView { color: "BLUE", x: 9, y: 9, shapesize: 9, additional_payload_size: &[] };
    let key: String = view.key();
    assert_eq!(key, "BLUE");
    assert_eq!(key_hash(&view, Encoding::Xcdr2), key_hash(&shape(), Encoding::Xcdr2));
}

/// Captured from Cyclone DDS.
#[test]
#[cfg(target_endian = "little")]
fn serialized_key_is_framed_like_data() {
    let mut bytes = Vec::new();
    encode_key_payload::<ShapeType>(&"BLUE".to_owned(), Encoding::Xcdr2, &mut bytes).unwrap();
    assert_eq!(bytes, hex("0009 0003 09000000 05000000 424c554500 000000"));
    assert_eq!(decode_key_payload::<ShapeType>(&bytes).unwrap(), "BLUE");
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Keyless {
    x: u32,
}

#[test]
fn keyless_sample_has_nil_instance() {
    let mut scratch = Vec::new();
    assert_eq!(key_hash_of(&Keyless { x: 1 }, Encoding::Xcdr1, &mut scratch).unwrap(), InstanceHandle::NIL);
    let instance = instance_of_payload(Keyless::DESCRIPTION, &[], false, &mut scratch).unwrap();
    assert_eq!(instance, InstanceHandle::NIL);
}

/// A key whose alignment and order matter: XCDR1 uses the order of definition, XCDR2 the order of ids.
#[derive(DdsType, Debug)]
#[dds(crate = "crate", appendable)]
struct OutOfOrder {
    #[dds(id = 9, key)]
    a: u8,
    #[dds(id = 3)]
    skipped: Vec<String>,
    #[dds(id = 2, key)]
    b: u32,
}

#[test]
fn key_hash_orders_members_by_encoding() {
    let sample = OutOfOrder { a: 1, skipped: vec!["text".into(); 3], b: 2 };
    assert_eq!(key_hash(&sample, Encoding::Xcdr1), hex("01 000000 00000002 00000000 00000000"));
    assert_eq!(key_hash(&sample, Encoding::Xcdr2), hex("00000002 01 000000 00000000 00000000"));
    assert_eq!(sample.key(), (1, 2));
    let mut bytes = Vec::new();
    encode_key_payload::<OutOfOrder>(&(1, 2), Encoding::Xcdr2, &mut bytes).unwrap();
    // The serialized key always has the order of definition.
    assert_eq!(bytes[8], 1);
    assert_eq!(decode_key_payload::<OutOfOrder>(&bytes).unwrap(), (1, 2));
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Aligned {
    #[dds(key)]
    a: u8,
    #[dds(key)]
    b: u64,
}

/// Writers of XCDR1 and XCDR2 write the same instance, although they send different key hashes.
#[test]
fn instance_is_the_same_in_both_encodings() {
    assert!(!key_hashes_agree(Aligned::DESCRIPTION) && !key_hashes_agree(OutOfOrder::DESCRIPTION));
    assert!(!key_hashes_agree(Arrays::DESCRIPTION));
    assert!(key_hashes_agree(ShapeType::DESCRIPTION) && key_hashes_agree(Outer::DESCRIPTION));
    let sample = Aligned { a: 1, b: 2 };
    assert_ne!(key_hash(&sample, Encoding::Xcdr1), key_hash(&sample, Encoding::Xcdr2));
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    let hasher = KeyHasher::new(Aligned::DESCRIPTION, true);
    let instances = ENCODINGS.map(|encoding| {
        encode_payload(&sample, encoding, &mut payload).unwrap();
        hasher.of_payload(&payload, false, &mut scratch).unwrap()
    });
    assert_eq!(instances[0], instances[1]);
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", appendable)]
struct Planned {
    before: [f64; 2],
    point: Pose,
    #[dds(key)]
    small: u8,
    #[dds(key)]
    wide: [u64; 2],
    #[dds(key)]
    text: String,
    after: Vec<u8>,
}

/// The key plan and the walk give the same result, also for truncated payloads.
#[test]
fn key_plan_finds_the_key_of_the_walk() {
    let planned = Planned {
        before: [1.0, 2.0],
        point: Pose { x: 1.0, robot: 3 },
        small: 7,
        wide: [1, 2],
        text: "text".into(),
        after: vec![1, 2, 3],
    };
    same_errors(&planned);
    same_errors(&Aligned { a: 1, b: 2 });
    same_errors(&shape());
}

fn same_errors<T: Keyed + TypeInfo + Encode>(sample: &T) {
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    let hasher = KeyHasher::new(T::DESCRIPTION, true);
    for encoding in ENCODINGS {
        key_hash(sample, encoding);
        encode_payload(sample, encoding, &mut payload).unwrap();
        payload[3] = 0;
        let delimiter = (encoding == Encoding::Xcdr2).then(|| payload[4]);
        for length in 0..payload.len() {
            let walked = instance_of_payload(T::DESCRIPTION, &payload[..length], false, &mut scratch);
            assert_eq!(hasher.of_payload(&payload[..length], false, &mut scratch), walked, "{length} bytes");
        }
        for delimiter in delimiter.into_iter().flat_map(|delimiter| 0..=delimiter) {
            payload[4] = delimiter;
            let walked = instance_of_payload(T::DESCRIPTION, &payload, false, &mut scratch);
            assert_eq!(hasher.of_payload(&payload, false, &mut scratch), walked, "delimiter {delimiter}");
        }
    }
}

#[test]
fn longest_short_key_depends_on_alignment() {
    let sample = Aligned { a: 1, b: 2 };
    assert_eq!(key_hash(&sample, Encoding::Xcdr1), hex("01 00000000000000 0000000000000002"));
    assert_eq!(key_hash(&sample, Encoding::Xcdr2), hex("01 000000 00000000 00000002 00000000"));
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, appendable)]
struct Inner {
    #[dds(key)]
    id: u16,
    note: String,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, appendable)]
struct Whole {
    x: u16,
    gear: Gear,
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", appendable)]
struct Outer {
    before: Vec<Inner>,
    #[dds(key)]
    inner: Inner,
    #[dds(key)]
    whole: Whole,
}

#[test]
fn nested_key_is_not_delimited_in_the_hash() {
    let inner = Inner { id: 5, note: "n".into() };
    let sample = Outer { before: vec![inner.clone(); 2], inner, whole: Whole { x: 6, gear: Gear::First } };
    for encoding in ENCODINGS {
        assert_eq!(key_hash(&sample, encoding), hex("0005 0006 00000007 0000000000000000"));
    }
    let key: (u16, Whole) = sample.key();
    assert_eq!(key, (5, Whole { x: 6, gear: Gear::First }));
    let mut bytes = Vec::new();
    for encoding in ENCODINGS {
        encode_key_payload::<Outer>(&key, encoding, &mut bytes).unwrap();
        assert_eq!(decode_key_payload::<Outer>(&bytes).unwrap(), key);
    }
}

/// Bytes of Cyclone DDS (`cyclonedds` 11.0.1 from PyPI).
#[test]
fn nested_serialized_key_is_framed_like_data() {
    let key = (5, Whole { x: 6, gear: Gear::First });
    let key_of = |encoding| {
        let mut bytes = Vec::new();
        Outer::encode_key_value(&key, &mut Encoder::new(&mut bytes, encoding, ByteOrder::Big)).unwrap();
        bytes
    };
    assert_eq!(key_of(Encoding::Xcdr1), hex("0005 0006 00000007"));
    assert_eq!(
        key_of(Encoding::Xcdr2),
        hex("00000014 /* outer */ 00000002 0005 /* inner */ 0000 00000008 0006 0000 00000007 /* whole */")
    );
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Arrays {
    #[dds(key)]
    gears: [Gear; 2],
    #[dds(key)]
    bytes: [u8; 3],
    #[dds(key, bound = 1)]
    text: String,
    #[dds(key)]
    wholes: [Whole; 2],
}

/// Bytes of Cyclone DDS (`cyclonedds` 11.0.1 from PyPI).
#[test]
fn array_in_serialized_key_is_framed_like_data() {
    let sample = Arrays {
        gears: [Gear::Neutral, Gear::First],
        bytes: [1, 2, 3],
        text: "t".into(),
        wholes: [Whole { x: 1, gear: Gear::Neutral }, Whole { x: 2, gear: Gear::First }],
    };
    let expected = [
        "0000000000000007010203000000000274000001000000000002000000000007",
        "00000008000000000000000701020300000000027400000000000018 00000008 0001000000000000 00000008 0002000000000007",
    ];
    for (encoding, expected) in ENCODINGS.into_iter().zip(expected) {
        let mut bytes = Vec::new();
        sample.encode_key(&mut Encoder::new(&mut bytes, encoding, ByteOrder::Big)).unwrap();
        assert_eq!(bytes, hex(expected));
        assert_eq!(key_hash(&sample, encoding).len(), 16);
    }
}

#[test]
fn instance_is_found_behind_members_of_any_kind() {
    let sample = super::round_trip::sample();
    for encoding in ENCODINGS {
        let expected = md5::compute(hex("fffffffffffffffe 00000005 6e616d65 00"));
        assert_eq!(key_hash(&sample, encoding), expected.0);
    }
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate")]
struct Collections {
    filler: Option<String>,
    #[dds(key)]
    gears: [Gear; 2],
    #[dds(key)]
    bytes: [u8; 3],
    #[dds(key, bound = 1)]
    text: String,
}

#[test]
fn enum_collection_keeps_dheader_in_xcdr2_hash() {
    let sample = Collections {
        filler: Some("f".into()),
        gears: [Gear::Neutral, Gear::First],
        bytes: [1, 2, 3],
        text: "t".into(),
    };
    let (gears, rest) = ("00000000 00000007", "010203 00 00000002 7400");
    assert_eq!(key_hash(&sample, Encoding::Xcdr1), md5::compute(hex(&format!("{gears} {rest}"))).0);
    assert_eq!(key_hash(&sample, Encoding::Xcdr2), md5::compute(hex(&format!("00000008 {gears} {rest}"))).0);
}

/// A keyed type, final so that its key is its number alone.
#[derive(DdsType, Debug)]
#[dds(crate = "crate", nested, final)]
struct Joint {
    angle: f64,
    #[dds(key)]
    id: u16,
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", final)]
struct Arm {
    #[dds(key)]
    joints: [Joint; 2],
    #[dds(key)]
    grid: [[Joint; 1]; 2],
    #[dds(key, bound = 4)]
    tools: Vec<Joint>,
    load: f32,
}

#[test]
fn collection_of_keyed_elements_contributes_their_keys() {
    let joint = |id| Joint { angle: 0.5, id };
    let arm = Arm { joints: [joint(1), joint(2)], grid: [[joint(3)], [joint(4)]], tools: vec![joint(5)], load: 1.0 };
    assert_eq!(arm.key(), ([1, 2], [[3], [4]], vec![5]));
    let (joints, grid, tools) = ("0001 0002", "0003 0004", "00000001 0005");
    assert_eq!(key_hash(&arm, Encoding::Xcdr1), md5::compute(hex(&format!("{joints}{grid}{tools}"))).0);
    let delimited = format!("00000004{joints} 00000004{grid} 00000006{tools}");
    assert_eq!(key_hash(&arm, Encoding::Xcdr2), md5::compute(hex(&delimited)).0);
}

#[test]
fn bound_counts_keyed_elements() {
    let arm = |tools| {
        let joint = |id| Joint { angle: 0.5, id };
        Arm { joints: [joint(1), joint(2)], grid: [[joint(3)], [joint(4)]], tools, load: 1.0 }
    };
    let mut bytes = Vec::new();
    let tools = |count| (0..count).map(|id| Joint { angle: 0.0, id }).collect();
    encode_key_payload::<Arm>(&arm(tools(4)).key(), Encoding::Xcdr2, &mut bytes).unwrap();
    assert_eq!(decode_key_payload::<Arm>(&bytes).unwrap(), arm(tools(4)).key());
    assert!(encode_key_payload::<Arm>(&arm(tools(5)).key(), Encoding::Xcdr2, &mut bytes).is_err());
}

/// A struct without key members, in whose members are keys.
#[derive(DdsType, Debug)]
#[dds(crate = "crate", nested, final, member_keys)]
struct Hand {
    joints: [Joint; 2],
    side: u8,
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", final)]
struct Robot {
    #[dds(key)]
    left: Hand,
    #[dds(key)]
    others: Vec<Hand>,
    load: f32,
}

#[test]
fn struct_with_member_keys_contributes_these() {
    let hand = |id| Hand { joints: [Joint { angle: 0.5, id }, Joint { angle: 1.5, id: id + 1 }], side: 9 };
    let robot = Robot { left: hand(1), others: vec![hand(3)], load: 1.0 };
    assert_eq!(robot.key(), (([1, 2], 9), vec![([3, 4], 9)]));
    let (left, other) = ("0001 0002 09", "0003 0004 09");
    let expected = format!("{left} 000000 00000001 {other}");
    assert_eq!(key_hash(&robot, Encoding::Xcdr1), md5::compute(hex(&expected)).0);
    let expected = format!("00000004{left} 000000 0000000d 00000001 00000004{other}");
    assert_eq!(key_hash(&robot, Encoding::Xcdr2), md5::compute(hex(&expected)).0);
}

/// A union without a key, in whose members are keys.
#[derive(DdsType, Debug)]
#[dds(crate = "crate", nested, appendable, discriminator = u8, member_keys)]
enum Tool {
    #[dds(case = 1)]
    Joint(Joint),
    #[dds(case = [2, 3], bound = 2)]
    Joints(#[dds(discriminator)] u8, Vec<Joint>),
    #[dds(default)]
    Other {
        #[dds(discriminator)]
        number: u8,
        code: u16,
    },
    #[dds(case = 9)]
    Nothing,
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", nested, mutable, member_keys)]
enum Slot {
    #[dds(case = 4)]
    Tool(Tool),
    Empty,
}

#[derive(DdsType, Debug)]
#[dds(crate = "crate", final)]
struct Bench {
    #[dds(key)]
    tool: Tool,
    load: f32,
    #[dds(key)]
    slots: [Slot; 2],
}

/// XTypes 1.3, 7.6.8, step 3: the rule for the members of the key holder applies to unions as well.
#[test]
fn union_with_member_keys_contributes_these() {
    let joint = |id| Joint { angle: 0.5, id };
    let bench =
        Bench { tool: Tool::Joint(joint(1)), load: 1.0, slots: [Slot::Empty, Slot::Tool(Tool::Joint(joint(2)))] };
    assert_eq!(format!("{:?}", bench.key().0), "Joint { value: 1 }");
    let expected = "01 00 0001 00000005 00000004 01 00 0002";
    assert_eq!(key_hash(&bench, Encoding::Xcdr1), md5::compute(hex(expected)).0);
    let expected = "01 00 0001 0000000c 00000005 00000004 01 00 0002";
    assert_eq!(key_hash(&bench, Encoding::Xcdr2), md5::compute(hex(expected)).0);
}

#[test]
fn derived_and_dynamic_keys_of_unions_agree() {
    let tools: [fn() -> Tool; 5] = [
        || Tool::Joint(Joint { angle: 1.5, id: 7 }),
        || Tool::Joints(2, Vec::new()),
        || Tool::Joints(3, vec![Joint { angle: 2.5, id: 8 }, Joint { angle: 3.5, id: 9 }]),
        || Tool::Other { number: 77, code: 0x1234 },
        || Tool::Nothing,
    ];
    for tool in tools {
        for slot in tools {
            let bench = Bench { tool: tool(), load: 1.0, slots: [Slot::Tool(slot()), Slot::Empty] };
            #[cfg(feature = "dynamic")]
            {
                super::dynamic::agrees(&bench);
                super::dynamic::key_agrees(&bench);
            }
            for encoding in ENCODINGS {
                key_hash(&bench, encoding);
                let (mut bytes, mut again) = (Vec::new(), Vec::new());
                encode_key_payload::<Bench>(&bench.key(), encoding, &mut bytes).unwrap();
                let key = decode_key_payload::<Bench>(&bytes).unwrap();
                assert_eq!(key, bench.key());
                encode_key_payload::<Bench>(&key, encoding, &mut again).unwrap();
                assert_eq!(again, bytes);
            }
        }
    }
}

#[test]
fn key_of_a_union_refuses_what_its_value_refuses() {
    let bench = |tool| Bench { tool, load: 1.0, slots: [Slot::Empty, Slot::Empty] };
    let joint = || Joint { angle: 0.5, id: 1 };
    for tool in [
        Tool::Joints(1, Vec::new()),
        Tool::Other { number: 3, code: 0 },
        Tool::Joints(2, vec![joint(), joint(), joint()]),
    ] {
        let mut bytes = Vec::new();
        assert!(encode_key_payload::<Bench>(&bench(tool).key(), Encoding::Xcdr2, &mut bytes).is_err());
    }
    // A mutable union in a key without its member. The first bytes are those of the tool.
    let mut bytes = Vec::new();
    encode_key_payload::<Bench>(&bench(Tool::Nothing).key(), Encoding::Xcdr2, &mut bytes).unwrap();
    assert!(decode_key_payload::<Bench>(&bytes).is_ok());
    let discriminator = bytes.iter().rposition(|byte| *byte == 5).unwrap();
    bytes[discriminator] = 4;
    assert!(decode_key_payload::<Bench>(&bytes).is_err());
}
