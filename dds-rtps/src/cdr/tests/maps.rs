//! Maps.

use super::types::Label;
use super::*;
use crate::cdr::{DecodeErrorKind, EncodeError, TypeInfo, TypeKind};
use dds_macros::DdsType;
use std::collections::{BTreeMap, HashMap};

fn label(level: u8) -> Label {
    Label { text: "l".into(), level }
}

/// XTYPES 1.3, 7.4.3.5.3: rule 16 for XCDR1, rule 14 for maps of primitives in XCDR2; others as 7.4.1.1.4 wants it, and
/// Fast DDS (3.6.1) writes it: length in bytes, count, entries.
#[test]
fn entries_follow_their_count() {
    let primitives = BTreeMap::from([(1_u16, 1.0_f64), (2, 2.0)]);
    let bytes = |encoding| body(&primitives, encoding, ByteOrder::Big);
    assert_eq!(bytes(Encoding::Xcdr1), hex("00000002 0001 0000 3ff0000000000000 0002 000000000000 4000000000000000"));
    assert_eq!(bytes(Encoding::Xcdr2), hex("00000002 0001 0000 3ff0000000000000 0002 0000 4000000000000000"));

    let others = BTreeMap::from([(5_i32, label(1))]);
    let bytes = |encoding| body(&others, encoding, ByteOrder::Big);
    assert_eq!(bytes(Encoding::Xcdr1), hex("00000001 00000005 00000002 6c00 01"));
    assert_eq!(
        bytes(Encoding::Xcdr2),
        hex("00000013 /* map */ 00000001 00000005 00000007 /* label */ 00000002 6c00 01")
    );
}

/// Fast DDS has no length in bytes here: it asks about the values only.
#[test]
fn a_key_that_is_not_primitive_asks_for_a_length_too() {
    let map = BTreeMap::from([("a".to_owned(), 7_u8)]);
    assert_eq!(body(&map, Encoding::Xcdr2, ByteOrder::Big), hex("0000000b 00000001 00000002 6100 07"));
}

#[test]
fn a_key_comes_once() {
    let bytes = hex("00000002 0001 07 00 0001 08");
    let error = BTreeMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (7, DecodeErrorKind::DuplicateKey));
    let error = HashMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    // Nor does what was there before hide that.
    for mut map in [BTreeMap::from([(1_u16, 7_u8), (2, 8)]), BTreeMap::from([(1, 7)])] {
        let error = map.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    }
}

#[test]
fn a_count_that_the_input_cannot_hold_is_an_error() {
    let bytes = hex("ffffffff 0001");
    let error = BTreeMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::LengthBeyondInput { length: u32::MAX });
}

#[test]
fn values_keep_their_memory() {
    let map = BTreeMap::from([("a".to_owned(), vec![1_u32, 2]), ("b".to_owned(), vec![3])]);
    let bytes = body(&map, Encoding::Xcdr2, ByteOrder::HOST);
    let mut reused = map.clone();
    let memory = |map: &BTreeMap<String, Vec<u32>>| map.values().map(Vec::as_ptr).collect::<Vec<_>>();
    let before = memory(&reused);
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
    assert_eq!((memory(&reused), &reused), (before.clone(), &map));
    // A key less, and one more.
    let mut other = reused;
    other.remove("b");
    other.insert("c".to_owned(), vec![4]);
    other.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
    assert_eq!((memory(&other)[0], &other), (before[0], &map));

    let hashed: HashMap<String, Vec<u32>> = map.into_iter().collect();
    let bytes = body(&hashed, Encoding::Xcdr1, ByteOrder::HOST);
    let mut reused = hashed.clone();
    let before = reused["a"].as_ptr();
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::HOST)).unwrap();
    assert_eq!((reused["a"].as_ptr(), reused), (before, hashed));
}

#[test]
fn bounds_count_entries() {
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", mutable)]
    struct Bounded {
        #[dds(bound = 1)]
        map: BTreeMap<u8, u8>,
    }
    let mut bytes = Vec::new();
    let long = Bounded { map: BTreeMap::from([(1, 1), (2, 2)]) };
    let error = long.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error, EncodeError::BoundExceeded { bound: 1, length: 2 });
    // LC 4: the count of the map is not its length.
    let bytes = hex("00000010 40000000 00000008 00000002 01010202");
    let error = Bounded::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 1, length: 2 });
    let TypeKind::Struct(description) = Bounded::DESCRIPTION.kind() else { panic!() };
    assert!(matches!(description.members()[0].ty().kind(), TypeKind::Map { bound: Some(1), .. }));
}
