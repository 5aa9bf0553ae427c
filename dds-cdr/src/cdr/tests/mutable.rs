//! Mutable structs: members with ids, in any order, with unknown and missing ones.

use super::types::{Gear, Point};
use super::*;
use crate::cdr::{
    DecodeError, DecodeErrorKind, Keyed, Run, TypeInfo, decode_key_payload, encode_payload, instance_of_payload,
    key_hash_of,
};
use dds_macros::DdsType;

#[derive(DdsType, Debug, PartialEq, Clone)]
#[dds(crate = "crate", mutable, nested)]
struct Inner {
    p: u8,
}

/// The type of the Cyclone DDS vectors.
#[derive(DdsType, Debug, PartialEq, Clone)]
#[dds(crate = "crate", extensibility = "mutable", autoid = "sequential")]
struct Kinds {
    flag: bool,
    #[dds(key)]
    id: i64,
    s: String,
    n: u16,
    d: f64,
    point: Point,
    inner: Inner,
    bytes: Vec<u8>,
    doubles: Vec<f64>,
    strings: Vec<String>,
    numbers: Vec<u32>,
    array: [u8; 4],
    short_array: [u8; 3],
    absent: Option<u32>,
    present: Option<u64>,
    gear: Gear,
}

fn kinds() -> Kinds {
    Kinds {
        flag: true,
        id: -2,
        s: "name".into(),
        n: 5,
        d: 1.5,
        point: Point { x: 1.0, y: 2.0 },
        inner: Inner { p: 9 },
        bytes: vec![1, 2, 3],
        doubles: vec![1.0],
        strings: vec!["a".into()],
        numbers: vec![7],
        array: [1, 2, 3, 4],
        short_array: [1, 2, 3],
        absent: None,
        present: Some(8),
        gear: Gear::First,
    }
}

/// Data and key of Cyclone DDS (`cyclonedds` 11.0.1 from PyPI, Python codec), created by `tests/vectors/make_cdr.py`.
const CYCLONE_XCDR1: [(&str, &str); 2] = [
    (
        "000200007f0100080000000000000004010000007f0100080000000100000008fffffffffffffffe7f01000800000002 \
         0000000c000000056e616d65000000007f0100080000000300000004000500007f01000800000004000000083ff80000 \
         000000007f01000800000005000000103f8000000000000040000000000000007f01000800000006000000147f010008 \
         0000000000000004090000007f0200007f010008000000070000000800000003010203007f0100080000000800000010 \
         00000001000000003ff00000000000007f010008000000090000000c0000000100000002610000007f0100080000000a \
         0000000800000001000000077f0100080000000b00000004010203047f0100080000000c00000004010203007f010008 \
         0000000e0000000800000000000000087f0100080000000f00000004000000077f020000",
        "000200007f0100080000000100000008fffffffffffffffe7f020000",
    ),
    (
        "00030000017f0800000000000400000001000000017f08000100000008000000feffffffffffffff017f080002000000 \
         0c000000050000006e616d6500000000017f0800030000000400000005000000017f0800040000000800000000000000 \
         0000f83f017f080005000000100000000000803f000000000000000000000040017f08000600000014000000017f0800 \
         000000000400000009000000027f0000017f080007000000080000000300000001020300017f08000800000010000000 \
         0100000000000000000000000000f03f017f0800090000000c000000010000000200000061000000017f08000a000000 \
         080000000100000007000000017f08000b0000000400000001020304017f08000c0000000400000001020300017f0800 \
         0e000000080000000800000000000000017f08000f0000000400000007000000027f0000",
        "00030000017f08000100000008000000feffffffffffffff027f0000",
    ),
];

/// See [`CYCLONE_XCDR1`].
const CYCLONE_XCDR2: [(&str, &str); 2] = [
    (
        "000a0000000000c8000000000100000030000001fffffffffffffffe50000002000000056e616d650000000010000003 \
         00050000300000043ff8000000000000400000050000000c3f8000004000000000000000400000060000000900000005 \
         000000000900000050000007000000030102030070000008000000013ff0000000000000500000090000000a00000001 \
         00000002610000006000000a00000001000000074000000b00000004010203044000000c00000003010203003000000e \
         00000000000000082000000f00000007",
        "000a00000000000c30000001fffffffffffffffe",
    ),
    (
        "000b0000c8000000000000000100000001000030feffffffffffffff02000050050000006e616d650000000003000010 \
         0500000004000030000000000000f83f050000400c0000000000803f0000000000000040060000400900000005000000 \
         00000000090000000700005003000000010203000800007001000000000000000000f03f090000500a00000001000000 \
         02000000610000000a00006001000000070000000b00004004000000010203040c00004003000000010203000e000030 \
         08000000000000000f00002007000000",
        "000b00000c00000001000030feffffffffffffff",
    ),
];

#[test]
fn cyclone_payload_is_read_with_same_instance() {
    let mut scratch = Vec::new();
    for (data, key) in CYCLONE_XCDR1.into_iter().chain(CYCLONE_XCDR2) {
        let (data, key) = (hex(data), hex(key));
        assert_eq!(decode_payload::<Kinds>(&data).unwrap(), kinds());
        assert_eq!(decode_key_payload::<Kinds>(&key).unwrap(), -2);
        for (payload, is_key) in [(&data, false), (&key, true)] {
            let instance = instance_of_payload(Kinds::DESCRIPTION, payload, is_key, &mut scratch).unwrap();
            assert_eq!(instance.as_bytes().unwrap().to_vec(), hex("fffffffffffffffe 0000000000000000"));
        }
    }
}

#[test]
fn xcdr2_bytes_equal_cyclone() {
    for ((data, key), order) in CYCLONE_XCDR2.into_iter().zip([ByteOrder::Big, ByteOrder::Little]) {
        assert_eq!(body(&kinds(), Encoding::Xcdr2, order), hex(data)[4..]);
        let mut bytes = Vec::new();
        Kinds::encode_key_value(&-2, &mut Encoder::new(&mut bytes, Encoding::Xcdr2, order)).unwrap();
        assert_eq!(bytes, hex(key)[4..]);
    }
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable)]
struct Short {
    #[dds(id = 1)]
    a: u8,
    #[dds(id = 2, must_understand)]
    b: f64,
    #[dds(id = 0x4000, must_understand)]
    c: u16,
}

/// XTYPES 1.3, 7.4.1.2: the length excludes the padding. Cyclone DDS includes it, and sends only long headers.
#[test]
fn xcdr1_prefers_the_short_member_header() {
    let value = Short { a: 1, b: 2.0, c: 3 };
    let expected = hex("0001 0001 01 000000 \
         4002 0008 40000000 00000000          /* must be understood; 8 bytes, alignment counts from here: none */ \
         7f01 0008 40004000 00000002 0003 0000 /* the long id says it too */ \
         3f02 0000");
    assert_eq!(body(&value, Encoding::Xcdr1, ByteOrder::Big), expected);
    assert_eq!(super::value::<Short>(&expected, Encoding::Xcdr1, ByteOrder::Big), value);
    assert_eq!(
        body(&value, Encoding::Xcdr2, ByteOrder::Big),
        hex("0000001a 00000001 01 000000 b0000002 40000000 00000000 90004000 0003")
    );
}

fn read<T: for<'de> Decode<'de>>(encoding: Encoding, bytes: &str) -> Result<T, DecodeError> {
    T::decode(&mut Decoder::new(&hex(bytes), encoding, ByteOrder::Big))
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable, name = "T")]
struct Some3 {
    a: u8,
    #[dds(default = 7)]
    b: u32,
    list: Vec<u32>,
}

#[test]
fn mutable_members_have_any_order_and_defaults() {
    let expected = Some3 { a: 5, b: 7, list: vec![9] };
    // The list comes first, with a length that differs from its count.
    let bytes = "00000017 40000002 00000008 00000001 00000009 00000000 05 0000";
    let bytes = bytes.replace("05 0000", "05").replace("00000017", "00000015");
    assert_eq!(read::<Some3>(Encoding::Xcdr2, &bytes).unwrap(), expected);
    let xcdr1 = "0002 0008 00000001 00000009 0000 0001 05 000000 3f02 0000";
    assert_eq!(read::<Some3>(Encoding::Xcdr1, xcdr1).unwrap(), expected);
    let mut reused = Some3 { a: 1, b: 2, list: vec![3, 4] };
    reused.decode_into(&mut Decoder::new(&hex(xcdr1), Encoding::Xcdr1, ByteOrder::Big)).unwrap();
    assert_eq!(reused, expected);
    let nothing = Some3 { a: 0, b: 7, list: Vec::new() };
    assert_eq!(read::<Some3>(Encoding::Xcdr2, "00000000").unwrap(), nothing);
    assert_eq!(read::<Some3>(Encoding::Xcdr1, "3f02 0000").unwrap(), nothing);
}

/// All length codes, in members that are unknown here.
#[test]
fn unknown_mutable_members_are_skipped() {
    let expected = Some3 { a: 5, b: 6, list: Vec::new() };
    let bytes = [
        "0000005a",
        "0000000a ff000000 1000000b ffff0000 2000000c ffffffff 3000000d ffffffff ffffffff",
        "4000000e 00000003 ffffff 00 5000000f 00000001 ff 000000 60000010 00000001 ffffffff",
        "70000011 00000001 ffffffff ffffffff 20000001 00000006 00000000 05",
    ]
    .concat();
    let bytes = bytes.replace("0000005a", &format!("{:08x}", hex(&bytes).len() - 4));
    assert_eq!(read::<Some3>(Encoding::Xcdr2, &bytes).unwrap(), expected);
    let bytes = [
        "000a 0003 ffffff 00 7f01 0008 0000000b 00000001 ff 000000 3f03 0004 ffffffff",
        "8000 0001 ff 000000 /* id 0 with the vendor flag is an unknown member */",
        "0001 0004 00000006 0000 0001 05 000000 7f02 0000",
    ]
    .concat();
    assert_eq!(read::<Some3>(Encoding::Xcdr1, &bytes).unwrap(), expected);
}

#[test]
fn unknown_must_understand_member_is_an_error() {
    let kind = DecodeErrorKind::MustUnderstand { id: 10 };
    let (xcdr2, short, long) =
        ("00000005 8000000a ff", "400a 0001 ff 000000 3f02 0000", "7f01 0008 4000000a 00000001 ff 000000 3f02 0000");
    for (encoding, bytes) in [(Encoding::Xcdr2, xcdr2), (Encoding::Xcdr1, short), (Encoding::Xcdr1, long)] {
        assert_eq!(read::<Some3>(encoding, bytes).unwrap_err().kind(), kind);
    }
}

#[test]
fn member_length_beyond_input_is_an_error() {
    let beyond = [
        (Encoding::Xcdr2, "00000008 40000001 ffffffff"),
        (Encoding::Xcdr2, "00000008 70000001 ffffffff"),
        (Encoding::Xcdr2, "00000004 30000001"),
        (Encoding::Xcdr1, "0001 0004 00"),
        (Encoding::Xcdr1, "7f01 0008 00000001 ffffffff"),
    ];
    for (encoding, bytes) in beyond {
        let kind = read::<Some3>(encoding, bytes).unwrap_err().kind();
        assert!(matches!(kind, DecodeErrorKind::LengthBeyondInput { .. }), "{kind:?}");
    }
    for (encoding, bytes) in [(Encoding::Xcdr1, "0000 0001 05"), (Encoding::Xcdr2, "00000004 20000001")] {
        assert!(read::<Some3>(encoding, bytes).is_err());
    }
    // A member must not read bytes of the next one.
    let kind = read::<Some3>(Encoding::Xcdr2, "0000000d 00000001 05 000000 00000000 05").unwrap_err().kind();
    assert_eq!(kind, DecodeErrorKind::Truncated);
}

#[derive(DdsType, Debug, PartialEq, Clone)]
#[dds(crate = "crate", mutable, nested)]
struct Part {
    #[dds(id = 9, key, bound = 4)]
    name: String,
    note: String,
    #[dds(id = 2, key)]
    number: u32,
}

#[derive(DdsType, Debug, PartialEq, Clone)]
#[dds(crate = "crate", mutable)]
struct Keys {
    filler: Vec<Inner>,
    #[dds(id = 7, key)]
    part: Part,
    #[dds(id = 3, key)]
    whole: Inner,
    rest: Option<Box<Inner>>,
}

#[test]
fn mutable_key_is_hashed_as_final() {
    let part = Part { name: "n".into(), note: "note".into(), number: 6 };
    let sample = Keys { filler: vec![Inner { p: 1 }; 3], part, whole: Inner { p: 2 }, rest: None };
    let hashed = ["00000002 6e 00 0000 00000006 02", "02 000000 00000006 00000002 6e 00"];
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    for (encoding, hashed) in ENCODINGS.into_iter().zip(hashed) {
        key_hash_of(&sample, encoding, &mut scratch).unwrap();
        assert_eq!(scratch, hex(hashed));
        super::keys::key_hash(&sample, encoding);
        encode_payload(&sample, encoding, &mut payload).unwrap();
        assert_eq!(decode_payload::<Keys>(&payload).unwrap(), sample);
        crate::cdr::encode_key_payload::<Keys>(&sample.key(), encoding, &mut payload).unwrap();
        assert_eq!(decode_key_payload::<Keys>(&payload).unwrap(), sample.key());
    }
}

#[test]
fn sample_without_its_key_is_an_error() {
    let bytes = hex("000a 0000 00000005 00000000 01");
    assert_eq!(decode_payload::<Kinds>(&bytes).unwrap_err().kind(), DecodeErrorKind::MissingMember);
    assert_eq!(decode_key_payload::<Kinds>(&bytes).unwrap_err().kind(), DecodeErrorKind::MissingMember);
    let error = instance_of_payload(Kinds::DESCRIPTION, &bytes, false, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MissingMember);
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable, autoid = "hash")]
struct Hashed {
    color: u8,
    #[dds(hashid = "shapesize")]
    size: u8,
    #[dds(id = 4)]
    four: u8,
}

/// The ids equal those of Cyclone DDS.
#[test]
fn hashed_member_ids_equal_cyclone() {
    let crate::cdr::TypeKind::Struct(description) = Hashed::DESCRIPTION.kind() else { panic!() };
    let ids: Vec<_> = description.members().iter().map(crate::cdr::MemberDescription::id).collect();
    assert_eq!(ids, [0x0fa5_dd70, 0x0477_90da, 4]);
    let value = Hashed { color: 1, size: 2, four: 3 };
    for encoding in ENCODINGS {
        for order in ORDERS {
            assert_eq!(super::value::<Hashed>(&body(&value, encoding, order), encoding, order), value);
        }
    }
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable, view_of = Log)]
struct LogView<'a> {
    #[dds(key, bound = 8)]
    source: &'a str,
    values: Run<'a, f32>,
    #[dds(bound = 2)]
    maybe: Option<&'a [u8]>,
}

#[derive(DdsType, Debug, PartialEq, Clone)]
#[dds(crate = "crate", mutable)]
struct Log {
    #[dds(key, bound = 8)]
    source: String,
    values: Vec<f32>,
    #[dds(bound = 2)]
    maybe: Option<Vec<u8>>,
}

#[test]
fn view_borrows_from_mutable_payload() {
    let log = Log { source: "s".into(), values: vec![1.0, 2.0], maybe: Some(vec![1, 2]) };
    for encoding in ENCODINGS {
        for order in ORDERS {
            let bytes = body(&log, encoding, order);
            let view: LogView<'_> = value(&bytes, encoding, order);
            assert_eq!((view.source, view.values.to_vec(), view.maybe), ("s", vec![1.0, 2.0], Some(&[1, 2][..])));
            assert_eq!(body(&view, encoding, order), bytes);
            let mut reused = log.clone();
            let memory = (reused.source.as_ptr(), reused.values.as_ptr(), reused.maybe.as_ref().map(Vec::as_ptr));
            reused.decode_into(&mut Decoder::new(&bytes, encoding, order)).unwrap();
            let after = (reused.source.as_ptr(), reused.values.as_ptr(), reused.maybe.as_ref().map(Vec::as_ptr));
            assert_eq!((reused, after), (log.clone(), memory));
        }
    }
    let long = Log { maybe: Some(vec![0; 3]), ..log };
    let mut bytes = Vec::new();
    assert!(encode_payload(&long, Encoding::Xcdr2, &mut bytes).is_err());
    let bytes = "00000017 50000000 00000002 7300 0000 50000002 00000003 000000";
    let kind = read::<Log>(Encoding::Xcdr2, bytes).unwrap_err().kind();
    assert_eq!(kind, DecodeErrorKind::BoundExceeded { bound: 2, length: 3 });
}
