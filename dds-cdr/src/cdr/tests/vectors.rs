//! Bytes checked by hand, with explanations.

use super::types::*;
use super::*;
use crate::cdr::{DecodeErrorKind, encode_payload};
use dds_macros::DdsType;

fn blue() -> ShapeType {
    ShapeType { color: "BLUE".into(), x: 12, y: 34, shapesize: 20, additional_payload_size: Vec::new() }
}

fn payload<T: Encode + crate::cdr::TypeInfo>(value: &T, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_payload(value, encoding, &mut bytes).unwrap();
    bytes
}

#[test]
#[cfg(target_endian = "little")]
fn final_struct_in_xcdr1_is_plain_cdr() {
    let expected = hex("0001 0000 \
         05000000 424c5545 00 000000 /* 5 with the NUL, BLUE, NUL, 3 to align */ \
         0c000000 22000000 14000000 00000000");
    assert_eq!(payload(&blue(), Encoding::Xcdr1), expected);
    assert_eq!(expected.len(), 32);
    assert_eq!(decode_payload::<ShapeType>(&expected).unwrap(), blue());
}

#[test]
#[cfg(target_endian = "little")]
fn appendable_struct_in_xcdr2_is_delimited() {
    let expected = hex("0009 0000 \
         1c000000 /* 28 bytes follow */ \
         05000000 424c5545 00 000000 0c000000 22000000 14000000 00000000");
    assert_eq!(payload(&blue(), Encoding::Xcdr2), expected);
    assert_eq!(expected.len(), 36);
    assert_eq!(decode_payload::<ShapeType>(&expected).unwrap(), blue());
}

#[test]
fn payload_padding_is_added_and_counted() {
    let shape = ShapeType { additional_payload_size: vec![255; 5], ..blue() };
    for encoding in ENCODINGS {
        let bytes = payload(&shape, encoding);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(bytes[3], 3);
        assert_eq!(decode_payload::<ShapeType>(&bytes).unwrap(), shape);
    }
}

#[test]
fn uncounted_or_absent_padding_is_accepted() {
    let shape = ShapeType { additional_payload_size: vec![255; 5], ..blue() };
    let mut bytes = payload(&shape, Encoding::Xcdr1);
    bytes[3] = 0;
    assert_eq!(decode_payload::<ShapeType>(&bytes).unwrap(), shape);
    bytes.truncate(bytes.len() - 3);
    assert_eq!(decode_payload::<ShapeType>(&bytes).unwrap(), shape);
    // Other bits of the options have no meaning.
    bytes[2] = 0xff;
    bytes[3] = 0xfc;
    assert_eq!(decode_payload::<ShapeType>(&bytes).unwrap(), shape);
}

#[test]
fn alignment_is_8_in_xcdr1_and_4_in_xcdr2() {
    let point = Point { x: 1.0, y: 2.0 };
    let x = "3f800000";
    let y = "40000000 00000000";
    assert_eq!(body(&point, Encoding::Xcdr1, ByteOrder::Big), hex(&format!("{x} 00000000 {y}")));
    assert_eq!(body(&point, Encoding::Xcdr2, ByteOrder::Big), hex(&format!("{x} {y}")));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Sequences {
    numbers: Vec<u16>,
    gears: Vec<Gear>,
    strings: Vec<String>,
    array: [[u8; 2]; 2],
    names: [[String; 1]; 2],
}

#[test]
fn non_primitive_collection_has_dheader_in_xcdr2() {
    let value = Sequences {
        numbers: vec![1, 2],
        gears: vec![Gear::Reverse],
        strings: vec!["a".into()],
        array: [[1, 2], [3, 4]],
        names: [["b".into()], ["c".into()]],
    };
    let expected = hex("00000002 0001 0002            /* numbers */ \
         00000008 00000001 ffffffff    /* 8 bytes: one gear, -1 */ \
         0000000a 00000001 00000002 61 00 /* 10 bytes: one string */ \
         01020304                      /* one run */ \
         0000 0000000e 00000002 62 00 0000 00000002 63 00 /* to align; 14 bytes; no length for the inner dimension */");
    assert_eq!(body(&value, Encoding::Xcdr2, ByteOrder::Big), expected);
    assert_eq!(super::value::<Sequences>(&expected, Encoding::Xcdr2, ByteOrder::Big), value);
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Optionals {
    first: u8,
    #[dds(id = 5)]
    absent: Option<u32>,
    present: Option<f64>,
    #[dds(id = 0x4000)]
    far: Option<u16>,
    last: u8,
}

#[test]
fn optional_member_has_parameter_header_in_xcdr1() {
    let value = Optionals { first: 1, absent: None, present: Some(2.0), far: Some(3), last: 4 };
    let expected = hex("01 000000 \
         0005 0000                    /* id 5, absent */ \
         0006 0008 40000000 00000000  /* id 6, 8 bytes, alignment counts from here: none */ \
         7f01 0008 00004000 00000002 0003 /* the id needs the long form */ \
         04");
    assert_eq!(body(&value, Encoding::Xcdr1, ByteOrder::Big), expected);
    assert_eq!(super::value::<Optionals>(&expected, Encoding::Xcdr1, ByteOrder::Big), value);
}

#[test]
fn long_parameter_header_of_cyclone_is_read() {
    let bytes = hex("01 000000 \
         7f01 0008 00000005 00000000 \
         7f01 0008 00000006 00000008 40000000 00000000 \
         7f01 0008 00004000 00000002 0003 04");
    let value: Optionals = super::value(&bytes, Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(value, Optionals { first: 1, absent: None, present: Some(2.0), far: Some(3), last: 4 });
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Marked {
    mark: Option<Empty>,
    number: u8,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested)]
struct Empty {}

#[test]
fn optional_empty_struct_stays_present_in_xcdr1() {
    for order in ORDERS {
        let present = Marked { mark: Some(Empty {}), number: 7 };
        let bytes = body(&present, Encoding::Xcdr1, order);
        assert_eq!(value::<Marked>(&bytes, Encoding::Xcdr1, order), present);
        let absent = Marked { mark: None, number: 7 };
        assert_eq!(value::<Marked>(&body(&absent, Encoding::Xcdr1, order), Encoding::Xcdr1, order), absent);
    }
    let present = Marked { mark: Some(Empty {}), number: 7 };
    let bytes = body(&present, Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(bytes, hex("0000 0004 /* id 0, 4 bytes */ 0000 0000 /* filler */ 07"));
    #[cfg(feature = "dynamic")]
    {
        let mut payload = Vec::new();
        encode_payload(&present, Encoding::Xcdr1, &mut payload).unwrap();
        super::dynamic::agrees_on::<Marked>(&payload).unwrap();
    }
}

#[test]
fn optional_member_has_bool_in_xcdr2() {
    let value = Optionals { first: 1, absent: None, present: Some(2.0), far: Some(3), last: 4 };
    let expected = hex("01 00 01 00 /* to align */ 40000000 00000000 01 00 0003 04");
    assert_eq!(body(&value, Encoding::Xcdr2, ByteOrder::Big), expected);
}

#[test]
fn optional_value_over_64_kib_has_long_header() {
    let tree = Tree { value: 1, children: vec![Tree::default(); 10_000], next: None };
    let long = Tree { value: 0, children: Vec::new(), next: Some(Box::new(tree)) };
    for order in ORDERS {
        let bytes = body(&long, Encoding::Xcdr1, order);
        assert!(bytes.len() > 65_536);
        assert_eq!(value::<Tree>(&bytes, Encoding::Xcdr1, order), long);
    }
}

#[test]
fn char_outside_latin_1_is_refused() {
    assert_eq!(body(&'\u{e9}', Encoding::Xcdr1, ByteOrder::Little), [0xe9]);
    assert_eq!(value::<char>(&[0xe9], Encoding::Xcdr1, ByteOrder::Little), '\u{e9}');
    let mut bytes = Vec::new();
    let error = '\u{20ac}'.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Little)).unwrap_err();
    assert_eq!(error, crate::cdr::EncodeError::NotAChar8 { character: '\u{20ac}' });
}

#[test]
fn value_over_bound_is_refused_both_ways() {
    let shape = ShapeType { color: "B".repeat(129), ..blue() };
    let mut bytes = Vec::new();
    let error = encode_payload(&shape, Encoding::Xcdr1, &mut bytes).unwrap_err();
    assert_eq!(error, crate::cdr::EncodeError::BoundExceeded { bound: 128, length: 129 });
    #[derive(DdsType)]
    #[dds(crate = "crate", appendable, name = "ShapeType")]
    struct Unbounded {
        color: String,
        rest: [u32; 4],
    }
    let bytes = payload(&Unbounded { color: shape.color, rest: [0; 4] }, Encoding::Xcdr1);
    let error = decode_payload::<ShapeType>(&bytes).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 128, length: 129 });
}

#[test]
fn string_with_interior_nul_is_refused() {
    let mut bytes = Vec::new();
    let error = "a\0b".encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Little)).unwrap_err();
    assert_eq!(error, crate::cdr::EncodeError::InteriorNul { position: 1 });
}
