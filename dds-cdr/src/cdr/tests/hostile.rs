//! Untrusted bytes: every fault is an error with its offset, and no fault costs memory.

use super::types::*;
use super::*;
use crate::cdr::{DecodeErrorKind, NESTING_MAX, TypeInfo, decode_key_payload, encode_payload, instance_of_payload};
use proptest::prelude::*;

fn kind_of<'de, T: Decode<'de> + std::fmt::Debug>(body: &'de [u8]) -> (usize, DecodeErrorKind) {
    let error = T::decode(&mut Decoder::new(body, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    (error.offset(), error.kind())
}

#[test]
fn truncated_payload_is_an_error() {
    let sample = super::round_trip::sample();
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        encode_payload(&sample, encoding, &mut payload).unwrap();
        payload[3] = 0;
        for length in 0..payload.len() {
            assert!(decode_payload::<AllFinal>(&payload[..length]).is_err());
            // The walk stops after the last key member, so it may succeed.
            let _ = instance_of_payload(AllFinal::DESCRIPTION, &payload[..length], false, &mut scratch);
            let _ = decode_key_payload::<AllFinal>(&payload[..length]);
        }
    }
}

proptest! {
    #[test]
    fn changed_bytes_are_a_value_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        xcdr2 in any::<bool>(),
        is_key in any::<bool>(),
    ) {
        let (mut payload, mut scratch) = (Vec::new(), Vec::new());
        let encoding = if xcdr2 { Encoding::Xcdr2 } else { Encoding::Xcdr1 };
        encode_payload(&super::round_trip::sample(), encoding, &mut payload).unwrap();
        for (index, byte) in changes {
            let index = index.index(payload.len());
            payload[index] = byte;
        }
        let _ = decode_payload::<AllFinal>(&payload);
        let _ = decode_payload::<AllAppendable>(&payload);
        let _ = decode_key_payload::<AllFinal>(&payload);
        let _ = instance_of_payload(AllFinal::DESCRIPTION, &payload, is_key, &mut scratch);
        let _ = instance_of_payload(AllAppendable::DESCRIPTION, &payload, is_key, &mut scratch);
        let _ = decode_payload::<AllMutable>(&payload);
        let _ = instance_of_payload(AllMutable::DESCRIPTION, &payload, is_key, &mut scratch);
    }

    #[test]
    fn changed_mutable_bytes_are_a_value_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        encoding in prop::sample::select(&ENCODINGS[..]),
        is_key in any::<bool>(),
    ) {
        let (mut payload, mut scratch) = (Vec::new(), Vec::new());
        encode_payload(&super::round_trip::mutable_sample(), encoding, &mut payload).unwrap();
        for (index, byte) in changes {
            let index = index.index(payload.len());
            payload[index] = byte;
        }
        let decoded = decode_payload::<AllMutable>(&payload);
        let instance = instance_of_payload(AllMutable::DESCRIPTION, &payload, is_key, &mut scratch);
        if let (Ok(decoded), Ok(instance)) = (decoded, instance) {
            // Walk and decoding find the same members, wherever they are now.
            let encoding = crate::cdr::Encapsulation::parse(&payload).unwrap().encoding;
            assert_eq!(crate::cdr::key_hash_of(&decoded, encoding, &mut scratch).unwrap(), instance);
        }
        let _ = decode_key_payload::<AllMutable>(&payload);
    }

    #[test]
    fn random_bytes_are_a_value_or_an_error(body in prop::collection::vec(any::<u8>(), 0..64)) {
        for encoding in ENCODINGS {
            for order in ORDERS {
                let _ = Tree::decode(&mut Decoder::new(&body, encoding, order));
                let _ = AllFinal::decode(&mut Decoder::new(&body, encoding, order));
                let _ = AllMutable::decode(&mut Decoder::new(&body, encoding, order));
                let _ = Scan::decode(&mut Decoder::new(&body, encoding, order));
            }
        }
        let _ = decode_payload::<Tree>(&body);
    }
}

#[test]
fn length_beyond_input_allocates_nothing() {
    // An allocation would be 16 GB or more.
    let bytes = hex("ffffffff 00000000");
    let beyond = DecodeErrorKind::LengthBeyondInput { length: u32::MAX };
    assert_eq!(kind_of::<Vec<u8>>(&bytes), (4, beyond));
    assert_eq!(kind_of::<Vec<u32>>(&bytes), (4, beyond));
    assert_eq!(kind_of::<Vec<Tree>>(&bytes), (4, beyond));
    assert_eq!(kind_of::<String>(&bytes), (4, beyond));
    assert_eq!(kind_of::<&str>(&bytes), (4, beyond));
    assert_eq!(kind_of::<Vec<Vec<[u64; 1000]>>>(&bytes), (4, beyond));
    // The count fits the input in bytes, but not in elements of 8 bytes.
    assert_eq!(kind_of::<Vec<u64>>(&hex("00000001 00000000")), (4, DecodeErrorKind::LengthBeyondInput { length: 1 }));
}

#[test]
fn large_elements_are_allocated_as_they_arrive() {
    #[derive(dds_macros::DdsType, Debug)]
    #[dds(crate = "crate")]
    struct Large {
        first: u8,
        second: Option<[[u64; 100]; 10]>,
    }
    // 200 000 elements of 8 kB in memory. Each needs at least 1 byte on the wire.
    let mut bytes = 200_000_u32.to_be_bytes().to_vec();
    bytes.resize(200_004, 1);
    let error = Vec::<Large>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert!(error.offset() < 100);
}

#[derive(dds_macros::DdsType, Debug, Default, PartialEq, Clone)]
#[dds(crate = "crate", nested, extensibility = "final")]
struct Nothing {}

#[derive(dds_macros::DdsType, Debug, Default, PartialEq, Clone)]
#[dds(crate = "crate", nested, extensibility = "appendable")]
struct NothingYet {
    nothing: Nothing,
}

#[derive(dds_macros::DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct BehindNothing {
    nothings: Vec<Nothing>,
    yet: Vec<NothingYet>,
    arrays: Vec<[[u8; 0]; 3]>,
    several: Vec<[Nothing; 2]>,
    #[dds(key)]
    id: u32,
}

#[test]
fn sequence_of_empty_values_may_exceed_input() {
    let sample = BehindNothing {
        nothings: vec![Nothing {}; 1_000],
        yet: vec![NothingYet::default(); 700],
        arrays: vec![[[]; 3]; 600],
        several: vec![[Nothing {}, Nothing {}]; 500],
        id: 7,
    };
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        encode_payload(&sample, encoding, &mut payload).unwrap();
        assert_eq!(decode_payload::<BehindNothing>(&payload).unwrap(), sample);
        let mut other =
            BehindNothing { nothings: vec![Nothing {}; 2_000], yet: vec![], arrays: vec![], several: vec![], id: 0 };
        other.decode_into(&mut Decoder::of_payload(&payload).unwrap().0).unwrap();
        assert_eq!(other, sample);
        let instance = instance_of_payload(BehindNothing::DESCRIPTION, &payload, false, &mut scratch).unwrap();
        assert_eq!(instance, crate::cdr::key_hash_of(&sample, encoding, &mut scratch).unwrap());
    }
}

#[test]
fn empty_values_have_a_budget_per_payload() {
    let too_many = DecodeErrorKind::TooManyEmptyValues;
    let most = u32::MAX.to_be_bytes();
    assert_eq!(kind_of::<Vec<Nothing>>(&most), (4, too_many));
    assert_eq!(kind_of::<Vec<[u8; 0]>>(&most), (4, too_many));
    assert_eq!(kind_of::<Vec<[[Nothing; 0]; 3]>>(&most), (4, too_many));
    assert_eq!(
        kind_of::<Vec<Vec<crate::cdr::OrDefault<NothingYet>>>>(&[&[0, 0, 0, 1], &most[..]].concat()),
        (8, too_many)
    );
    // The budget is for the whole payload: 30 times 100 000 values exceed it.
    let bytes = hex(&format!("0000001e {}", "000186a0".repeat(30)));
    assert_eq!(kind_of::<Vec<Vec<Nothing>>>(&bytes), (4 + 11 * 4, too_many));
    // The size in memory counts.
    #[derive(dds_macros::DdsType, Debug)]
    #[dds(crate = "crate", extensibility = "final")]
    struct Large {
        #[dds(non_serialized)]
        _scratch: Scratch,
    }
    #[derive(Debug)]
    struct Scratch(#[expect(dead_code, reason = "it takes memory")] [u64; 1_000]);
    impl Default for Scratch {
        fn default() -> Self {
            Self([0; 1_000])
        }
    }
    assert_eq!(kind_of::<Vec<Large>>(&hex("00000100")), (4, too_many), "256 times 8 kB");
    assert_eq!(
        Vec::<Large>::decode(&mut Decoder::new(&hex("00000080"), Encoding::Xcdr1, ByteOrder::Big)).unwrap().len(),
        128
    );
}

#[test]
fn key_walk_has_a_budget_for_empty_values() {
    let most = "ffffffff";
    for (front, offset) in [("", 8), ("00000000", 12), ("00000000 00000000", 16), ("00000000 00000000 00000000", 20)] {
        let bytes = hex(&format!("0000 0000 {front} {most} 00000000 00000000 00000000 00000007"));
        let error = instance_of_payload(BehindNothing::DESCRIPTION, &bytes, false, &mut Vec::new()).unwrap_err();
        assert_eq!((error.offset(), error.kind()), (offset, DecodeErrorKind::TooManyEmptyValues));
    }
}

/// A value that is discarded (`try_construct`) keeps its cost.
#[test]
fn discarded_value_keeps_its_budget_spent() {
    #[derive(dds_macros::DdsType, Debug, Default)]
    #[dds(crate = "crate", nested)]
    struct Tried {
        nothings: Vec<Nothing>,
        gear: Gear,
    }
    #[derive(dds_macros::DdsType, Debug)]
    #[dds(crate = "crate")]
    struct Tries {
        tried: Vec<crate::cdr::OrDefault<Tried>>,
    }
    let bytes = hex(&format!("0000001e {}", "000186a0 00000009".repeat(30)));
    assert_eq!(kind_of::<Tries>(&bytes), (4 + 5 * 8 + 4, DecodeErrorKind::TooManyEmptyValues));
}

#[test]
fn malformed_strings_are_errors() {
    assert_eq!(kind_of::<String>(&hex("00000002 6161")), (5, DecodeErrorKind::MissingNul));
    assert_eq!(kind_of::<String>(&hex("00000003 610000")), (5, DecodeErrorKind::InteriorNul));
    assert_eq!(kind_of::<&str>(&hex("00000003 61ff00")), (5, DecodeErrorKind::InvalidUtf8));
    assert_eq!(kind_of::<String>(&hex("000000")), (0, DecodeErrorKind::Truncated));
}

#[test]
fn empty_string_without_nul_is_accepted() {
    assert_eq!(value::<String>(&hex("00000000"), Encoding::Xcdr1, ByteOrder::Big), "");
}

#[test]
fn invalid_bools_and_enums_are_errors() {
    assert_eq!(kind_of::<bool>(&[2]), (0, DecodeErrorKind::InvalidBool { value: 2 }));
    assert_eq!(kind_of::<Vec<bool>>(&hex("00000002 0102")), (5, DecodeErrorKind::InvalidBool { value: 2 }));
    assert_eq!(kind_of::<Gear>(&hex("00000002")), (0, DecodeErrorKind::UnknownLiteral { value: 2 }));
}

#[test]
fn unknown_headers_are_refused() {
    let error = decode_payload::<ShapeType>(&hex("0004 0000 00000000")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Representation { identifier: 4 });
    assert_eq!(decode_payload::<ShapeType>(&hex("0001 00")).unwrap_err().kind(), DecodeErrorKind::Truncated);
    let error = decode_payload::<ShapeType>(&hex("0003 0000 00000000")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Framing { identifier: 3 });
    assert_eq!(decode_key_payload::<ShapeType>(&hex("0007 0000 00000000")).unwrap_err().kind(), {
        DecodeErrorKind::Framing { identifier: 7 }
    });
    assert_eq!(error.to_string(), "at byte 0: representation 0x0003 does not match the extensibility of the type");
}

#[test]
fn nesting_beyond_limit_is_refused() {
    // Each level is a tree with one child: its value, and the count 1.
    let bytes = hex("00000000 00000001").repeat(100_000);
    let (_, kind) = kind_of::<Tree>(&bytes);
    assert_eq!(kind, DecodeErrorKind::NestingTooDeep);
    let mut tree = Tree::default();
    // The sequence of the innermost tree is a level too.
    for _ in 1..NESTING_MAX {
        tree = Tree { children: vec![tree], ..Tree::default() };
    }
    let bytes = body(&tree, Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(value::<Tree>(&bytes, Encoding::Xcdr1, ByteOrder::Big), tree);
}

#[test]
fn large_values_count_for_several_nesting_levels() {
    #[derive(dds_macros::DdsType, Debug)]
    #[dds(crate = "crate")]
    struct Large {
        image: [u8; 8192],
        next: Option<Box<Large>>,
    }
    let mut value = Large { image: [0; 8192], next: None };
    for _ in 0..7 {
        value = Large { image: [0; 8192], next: Some(Box::new(value)) };
    }
    let bytes = body(&value, Encoding::Xcdr2, ByteOrder::Big);
    let read: Large = super::value(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    value = Large { image: read.image, next: Some(Box::new(Large { image: [0; 8192], next: Some(Box::new(read)) })) };
    let bytes = body(&value, Encoding::Xcdr2, ByteOrder::Big);
    let error = Large::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::NestingTooDeep);
}

#[derive(dds_macros::DdsType)]
#[dds(crate = "crate")]
struct BehindATree {
    tree: Tree,
    #[dds(key)]
    id: u32,
}

#[test]
fn key_walk_refuses_nesting_beyond_limit() {
    let bytes = [hex("0000 0000"), hex("00000000 00000001").repeat(100_000)].concat();
    let error = instance_of_payload(BehindATree::DESCRIPTION, &bytes, false, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::NestingTooDeep);
}

#[test]
fn delimiter_limits_the_values_inside() {
    // The delimiter of the shape is 8 bytes, but its string needs more. The rest of the input must not be used.
    let bytes = hex("0008 0000 00000008 00000005 424c5545 00 000000 0000000c 00000022 00000014 00000000");
    let error = decode_payload::<ShapeType>(&bytes).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (12, DecodeErrorKind::LengthBeyondInput { length: 5 }));
}
