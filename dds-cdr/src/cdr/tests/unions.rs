//! Unions.

use super::kinds::*;
use super::types::{Gear, Label, Point};
use super::*;
use crate::cdr::{
    DecodeError, DecodeErrorKind, Encapsulation, EncodeError, Keyed, TypeInfo, TypeKind, Union, decode_key_payload,
    encode_key_payload,
};
use dds_macros::DdsType;

fn decoded<'de, T: Decode<'de>>(body: &'de [u8], encoding: Encoding) -> Result<T, DecodeError> {
    T::decode(&mut Decoder::new(body, encoding, ByteOrder::Big))
}

/// XTYPES 1.3, 7.4.3.5.3. Mutable unions as RTI Connext writes them (`00000010 20000000 .. 20000001 ..`).
#[test]
fn discriminator_is_first_and_mutable_member_0() {
    let point = |ty: u8| {
        let point = Point { x: 1.0, y: 2.0 };
        let encode = |encoding| match ty {
            0 => body(&FinalUnion::Point(point.clone()), encoding, ByteOrder::Big),
            1 => body(&AppendableUnion::Point(point.clone()), encoding, ByteOrder::Big),
            _ => body(&MutableUnion::Point(point.clone()), encoding, ByteOrder::Big),
        };
        (encode(Encoding::Xcdr1), encode(Encoding::Xcdr2))
    };
    let values = "3f800000 4000000000000000";
    let plain = hex(&format!("00000004 {values}"));
    // In XCDR1 y is aligned to 8 bytes.
    let aligned = hex("00000004 3f800000 4000000000000000");
    assert_eq!(point(0), (aligned.clone(), plain.clone()));
    assert_eq!(point(1), (aligned, hex(&format!("00000010 00000004 {values}"))));
    assert_eq!(
        point(2),
        (
            hex(
                "0000 0004 /* discriminator */ 00000004 0003 0010 /* id 3 */ 3f800000 00000000 4000000000000000 3f02 0000"
            ),
            hex(&format!("0000001c 20000000 /* LC 2, id 0 */ 00000004 40000003 /* LC 4, id 3 */ 0000000c {values}")),
        )
    );
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested)]
enum CycloneFinal {
    #[dds(case = [1, 2])]
    Number(#[dds(discriminator)] i32, f64),
    #[dds(case = -3)]
    Text(String),
    #[dds(default)]
    Other(#[dds(discriminator)] i32, u8),
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate")]
enum Color {
    Red,
    Green,
    Blue = 5,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, appendable, discriminator = Color)]
enum CycloneAppendable {
    #[dds(case = Color::Red)]
    Number(f64),
    #[dds(case = [Color::Green, Color::Blue])]
    List(#[dds(discriminator)] Color, Vec<u16>),
}

/// Bytes of `cyclonedds` 11.0.1 from PyPI for these types, created by `tests/vectors/make_cdr.py`.
#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Holder {
    a: u8,
    f: CycloneFinal,
    g: CycloneAppendable,
    many: Vec<CycloneFinal>,
    pair: [CycloneAppendable; 2],
    rights: Twelve,
    masks: Vec<Twelve>,
    letter: char,
    grid: [[String; 2]; 3],
    numbers: [[i16; 2]; 3],
    colors: [[Color; 2]; 2],
    seqs: Vec<[u32; 2]>,
    text: Vec<[String; 2]>,
    bytes: Vec<[u8; 3]>,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable)]
struct MutableHolder {
    f: CycloneFinal,
    g: CycloneAppendable,
    many: Vec<CycloneFinal>,
    rights: Twelve,
    grid: [[String; 2]; 3],
    numbers: [[i16; 2]; 3],
}

fn grid() -> [[String; 2]; 3] {
    [["a", "b"], ["c", "d"], ["e", "f"]].map(|row| row.map(str::to_owned))
}

#[test]
fn unions_bitmasks_and_arrays_equal_cyclone() {
    let sample = Holder {
        a: 1,
        f: CycloneFinal::Number(2, 1.5),
        g: CycloneAppendable::List(Color::Blue, vec![7, 8]),
        many: vec![CycloneFinal::Text("hi".into()), CycloneFinal::Other(9, 4)],
        pair: [CycloneAppendable::Number(2.5), CycloneAppendable::List(Color::Green, vec![])],
        rights: Twelve::LOW | Twelve::HIGH,
        masks: vec![Twelve(2), Twelve(0)],
        letter: 'z',
        grid: grid(),
        numbers: [[1, 2], [3, 4], [5, 6]],
        colors: [[Color::Red, Color::Blue], [Color::Green, Color::Red]],
        seqs: vec![[1, 2], [3, 4]],
        text: vec![["a".into(), "b".into()]],
        bytes: vec![[1, 2, 3], [4, 5, 6]],
    };
    for payload in [
        "0000000001000000000000023ff800000000000000000005000000020007000800000002fffffffd0000000368690000000000090400 \
         000000000000400400000000000000000001000000000801000000000002000200007a00000000000002610000000000000262000000 \
         000000026300000000000002640000000000000265000000000000026600000100020003000400050006000000000000000000050000 \
         000100000000000000020000000100000002000000030000000400000001000000026100000000000002620000000000000201020304 \
         0506",
        "000100000100000002000000000000000000f83f05000000020000000700080002000000fdffffff0300000068690000090000000400 \
         000000000000000000000000044001000000000000000108000002000000020000007a00000002000000610000000200000062000000 \
         020000006300000002000000640000000200000065000000020000006600010002000300040005000600000000000000050000000100 \
         000000000000020000000100000002000000030000000400000001000000020000006100000002000000620000000200000001020304 \
         0506",
        "0006000001000000000000023ff80000000000000000000c0000000500000002000700080000001500000002fffffffd000000036869 \
         000000000009040000000000001c0000000c000000004004000000000000000000080000000100000000080100000000000800000002 \
         000200007a0000000000002e000000026100000000000002620000000000000263000000000000026400000000000002650000000000 \
         000266000001000200030004000500060000000000100000000000000005000000010000000000000014000000020000000100000002 \
         000000030000000400000016000000010000000e000000026100000000000002620000000000000a00000002010203040506",
        "000700000100000002000000000000000000f83f0c0000000500000002000000070008001500000002000000fdffffff030000006869 \
         000009000000040000001c0000000c000000000000000000000000000440080000000100000000000000010800000800000002000000 \
         020000007a0000002e000000020000006100000002000000620000000200000063000000020000006400000002000000650000000200 \
         000066000100020003000400050006000000100000000000000005000000010000000000000014000000020000000100000002000000 \
         030000000400000016000000010000000e000000020000006100000002000000620000000a00000002000000010203040506",
    ] {
        let payload = hex(payload);
        let header = Encapsulation::parse(&payload).unwrap();
        assert_eq!(decode_payload::<Holder>(&payload).unwrap(), sample);
        assert_eq!(body(&sample, header.encoding, header.order), payload[4..]);
    }
}

#[test]
fn unions_in_mutable_structs_equal_cyclone() {
    let sample = MutableHolder {
        f: CycloneFinal::Number(1, 1.5),
        g: CycloneAppendable::Number(2.5),
        many: vec![CycloneFinal::Text("hi".into())],
        rights: Twelve(2),
        grid: grid(),
        numbers: [[1, 2], [3, 4], [5, 6]],
    };
    for payload in [
        "000200007f010008000000000000001000000001000000003ff80000000000007f010008000000010000001000000000000000004004 \
         0000000000007f010008000000020000001000000001fffffffd00000003686900007f0100080000000300000004000200007f010008 \
         000000040000003000000002610000000000000262000000000000026300000000000002640000000000000265000000000000026600 \
         00007f010008000000050000000c0001000200030004000500067f020000",
        "00030000017f080000000000100000000100000000000000000000000000f83f017f0800010000001000000000000000000000000000 \
         000000000440017f0800020000001000000001000000fdffffff0300000068690000017f0800030000000400000002000000017f0800 \
         040000003000000002000000610000000200000062000000020000006300000002000000640000000200000065000000020000006600 \
         0000017f0800050000000c000000010002000300040005000600027f0000",
        "000a000000000098400000000000000c000000013ff800000000000040000001000000100000000c0000000040040000000000005000 \
         00020000000f00000001fffffffd00000003686900001000000300020000500000040000002e00000002610000000000000262000000 \
         0000000263000000000000026400000000000002650000000000000266000000400000050000000c000100020003000400050006",
        "000b000098000000000000400c00000001000000000000000000f83f01000040100000000c0000000000000000000000000004400200 \
         00500f00000001000000fdffffff03000000686900000300001002000000040000502e00000002000000610000000200000062000000 \
         0200000063000000020000006400000002000000650000000200000066000000050000400c000000010002000300040005000600",
    ] {
        let payload = hex(payload);
        let header = Encapsulation::parse(&payload).unwrap();
        assert_eq!(decode_payload::<MutableHolder>(&payload).unwrap(), sample);
        // In XCDR1, Cyclone DDS sends long headers for all members, which this crate writes only if needed.
        if header.encoding == Encoding::Xcdr2 {
            assert_eq!(body(&sample, header.encoding, header.order), payload[4..]);
        }
    }
}

#[test]
fn unknown_discriminator_is_default_or_error() {
    let bytes = hex("00000063 07");
    assert_eq!(decoded::<FinalUnion>(&bytes, Encoding::Xcdr1).unwrap(), FinalUnion::Other(0x63, 7));
    let error = decoded::<Plain>(&bytes, Encoding::Xcdr1).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (4, DecodeErrorKind::UnknownDiscriminator { value: 0x63 }));
    let error = decoded::<ByGear>(&hex("00000001"), Encoding::Xcdr1).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::UnknownLiteral { value: 1 });
    let error = decoded::<ByBool>(&hex("02"), Encoding::Xcdr2).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::InvalidBool { value: 2 });
}

#[test]
fn case_without_discriminator_sends_first_label() {
    assert_eq!(body(&ByU64::Rest(1), Encoding::Xcdr2, ByteOrder::Big), hex("0000000000000000 0001"));
    assert_eq!(body(&ByU64::Largest(1), Encoding::Xcdr2, ByteOrder::Big), hex("ffffffffffffffff 01"));
    assert_eq!(ByChar::Rest.discriminator(), 'z');
    assert_eq!(ByGear::Numbers(vec![]).discriminator(), Gear::First);
    assert_eq!(FinalUnion::Number { kind: 2, value: 0.0 }.discriminator(), 2);
    let read: ByGear = decoded(&hex("00000008 00000000 00000000"), Encoding::Xcdr2).unwrap();
    assert_eq!(read, ByGear::Numbers(vec![]));
}

#[test]
fn discriminator_of_another_case_is_refused() {
    let encode = |value: &FinalUnion| value.encode(&mut Encoder::new(&mut Vec::new(), Encoding::Xcdr1, ByteOrder::Big));
    let wrong = [FinalUnion::Number { kind: 4, value: 1.0 }, FinalUnion::Other(4, 1), FinalUnion::Other(-3, 1)];
    for (value, kind) in wrong.iter().zip([4, 4, -3]) {
        assert_eq!(encode(value), Err(EncodeError::OtherCase { value: kind }));
    }
    assert_eq!(encode(&FinalUnion::Number { kind: 2, value: 1.0 }), Ok(()));
}

#[test]
fn case_over_bound_is_refused_both_ways() {
    let long = FinalUnion::Text("123456789".into());
    let mut bytes = Vec::new();
    let error = long.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error, EncodeError::BoundExceeded { bound: 8, length: 9 });
    let bytes = hex("fffffffd 0000000a 313233343536373839 00");
    let error = decoded::<FinalUnion>(&bytes, Encoding::Xcdr1).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 8, length: 9 });
}

#[test]
fn mutable_union_has_any_order_and_skips_unknown() {
    let value = MutableUnion::Text("hi".into());
    let members = "50000002 00000003 686900 00 10000063 /* unknown */ 0001 0000 20000000 fffffffd";
    let bytes = hex(&format!("0000001c {members}"));
    assert_eq!(decoded::<MutableUnion>(&bytes, Encoding::Xcdr2).unwrap(), value);
    let must = hex(&format!("0000001c {}", members.replace("10000063", "90000063")));
    let error = decoded::<MutableUnion>(&must, Encoding::Xcdr2).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MustUnderstand { id: 0x63 });
    let without = decoded::<MutableUnion>(&hex("00000006 10000063 0001"), Encoding::Xcdr2).unwrap_err();
    assert_eq!(without.kind(), DecodeErrorKind::MissingMember);
}

#[test]
fn union_member_not_sent_has_its_default() {
    let read: MutableUnion = decoded(&hex("00000008 20000000 fffffffd"), Encoding::Xcdr2).unwrap();
    assert_eq!(read, MutableUnion::Text(String::new()));
    let read: AppendableUnion = decoded(&hex("00000004 00000004"), Encoding::Xcdr2).unwrap();
    assert_eq!(read, AppendableUnion::Point(Point { x: 0.0, y: 0.0 }));
    // A member of an appendable struct: 0 selects the default case.
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", appendable)]
    struct Grown {
        a: FinalUnion,
        b: ByGear,
        c: ByChar,
        d: Plain,
    }
    let read: Grown = decoded(&hex("00000000"), Encoding::Xcdr2).unwrap();
    let expected =
        Grown { a: FinalUnion::Other(0, 0), b: ByGear::Text(String::new()), c: ByChar::Rest, d: Plain::Flag(false) };
    assert_eq!(read, expected);
}

#[test]
fn decode_into_same_case_keeps_memory() {
    for encoding in ENCODINGS {
        let value = MutableUnion::Nested(vec![MutableUnion::Text("text".into()), MutableUnion::Nothing]);
        let bytes = body(&value, encoding, ByteOrder::HOST);
        let mut reused = value.clone();
        let memory = |value: &MutableUnion| match value {
            MutableUnion::Nested(inner) => match inner.first() {
                Some(MutableUnion::Text(text)) => (inner.as_ptr() as usize, text.as_ptr() as usize),
                _ => panic!(),
            },
            _ => panic!(),
        };
        let before = memory(&reused);
        reused.decode_into(&mut Decoder::new(&bytes, encoding, ByteOrder::HOST)).unwrap();
        assert_eq!((memory(&reused), &reused), (before, &value));
        let mut other = MutableUnion::Other(7, 7);
        other.decode_into(&mut Decoder::new(&bytes, encoding, ByteOrder::HOST)).unwrap();
        assert_eq!(other, value);
    }
}

macro_rules! keyed_union {
    ($name:ident, $extensibility:ident) => {
        #[derive(DdsType, Debug, PartialEq, Clone)]
        #[dds(crate = "crate", $extensibility, discriminator = i16, key)]
        enum $name {
            #[dds(case = 7)]
            Text(String),
            #[dds(default)]
            Rest(#[dds(discriminator)] i16, f64),
        }
    };
}

keyed_union!(KeyedFinal, final);
keyed_union!(KeyedAppendable, appendable);
keyed_union!(KeyedMutable, mutable);

fn has_key<T: Encode + Keyed<Key = i16> + TypeInfo>(sample: &T, key: i16) {
    let mut payload = Vec::new();
    assert_eq!(sample.key(), key);
    for encoding in ENCODINGS {
        assert_eq!(super::keys::key_hash(sample, encoding)[..2], key.to_be_bytes());
        encode_key_payload::<T>(&key, encoding, &mut payload).unwrap();
        assert_eq!(decode_key_payload::<T>(&payload).unwrap(), key);
    }
}

/// XTYPES 1.3, 7.2.2.4.4.4.8: `union switch (@key short)`.
#[test]
fn discriminator_can_be_the_key() {
    has_key(&KeyedFinal::Text("t".into()), 7);
    has_key(&KeyedAppendable::Rest(9, 1.5), 9);
    has_key(&KeyedMutable::Text("t".into()), 7);
    has_key(&KeyedMutable::Rest(-9, 1.5), -9);
}

#[test]
fn description_has_the_cases() {
    let TypeKind::Union(description) = MutableUnion::DESCRIPTION.kind() else { panic!() };
    let cases: Vec<_> = description
        .cases()
        .iter()
        .map(|case| (case.name(), case.id(), case.labels(), case.is_default(), case.ty().map(|ty| ty.name())))
        .collect();
    assert_eq!(
        cases,
        [
            ("Number", 1, &[1, 2][..], false, Some("float64")),
            ("Text", 2, &[-3], false, Some("string")),
            ("Point", 3, &[4], false, Some("Point")),
            ("Nothing", 0, &[5], false, None),
            ("Nested", 4, &[6], false, Some("sequence")),
            ("Other", 5, &[], true, Some("octet")),
        ]
    );
    assert_eq!(description.discriminator().name(), "int32");
    assert!(MutableUnion::DESCRIPTION.is_encoded_like(MutableUnion::DESCRIPTION));
    assert!(!MutableUnion::DESCRIPTION.is_encoded_like(FinalUnion::DESCRIPTION));
    assert!(!ByGear::DESCRIPTION.is_encoded_like(CycloneAppendable::DESCRIPTION));
}

#[test]
fn union_can_borrow() {
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", nested, discriminator = u8)]
    enum Owned {
        Text(String),
        Bytes(Vec<u8>),
        Numbers(Vec<f32>),
        Label(Label),
    }
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", nested, discriminator = u8, view_of = Owned)]
    enum View<'a> {
        Text(&'a str),
        Bytes(&'a [u8]),
        Numbers(crate::cdr::Run<'a, f32>),
        Label(Label),
    }
    let bytes = body(&Owned::Numbers(vec![1.5, 2.5]), Encoding::Xcdr2, ByteOrder::Little);
    let View::Numbers(run) = value(&bytes, Encoding::Xcdr2, ByteOrder::Little) else { panic!() };
    assert_eq!(run.to_vec(), [1.5, 2.5]);
    let bytes = body(&Owned::Text("text".into()), Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(value::<View<'_>>(&bytes, Encoding::Xcdr1, ByteOrder::Big), View::Text("text"));
    assert!(View::DESCRIPTION.is_encoded_like(Owned::DESCRIPTION));
}
