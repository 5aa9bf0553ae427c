//! Topics of types that implement serde and know nothing of DDS.

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Decode, DecodeErrorKind, Encode, EncodeError, Encoding, TypeInfo, decode_payload, encode_payload};
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos, PolicyId, Preset, TopicQos};
use dds_core::{CreateErrorKind, DdsType, Raw, Serde, WriteErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Defines one shape twice, for serde and for the derive.
macro_rules! both {
    ($(struct $name:ident / $other:ident { $($field:ident: $kind:ty | $other_kind:ty,)* })*) => {$(
        #[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
        struct $name { $($field: $kind,)* }

        #[derive(DdsType, Debug, Clone, PartialEq, Default)]
        struct $other { $($field: $other_kind,)* }
    )*};
}

both! {
    struct Inner / DerivedInner {
        a: u8 | u8,
        b: f64 | f64,
    }
    struct Outer / DerivedOuter {
        flag: bool | bool,
        small: i8 | i8,
        number: u16 | u16,
        text: String | String,
        absent: Option<i64> | Option<i64>,
        present: Option<String> | Option<String>,
        list: Vec<Inner> | Vec<DerivedInner>,
        octets: Vec<u8> | Vec<u8>,
        array: [i32; 3] | [i32; 3],
        texts: Vec<String> | Vec<String>,
        inner: Inner | DerivedInner,
        letter: char | char,
        last: u64 | u64,
    }
}

fn outer() -> Outer {
    Outer {
        flag: true,
        small: -3,
        number: 515,
        text: "hello".to_owned(),
        absent: None,
        present: Some("there".to_owned()),
        list: vec![Inner { a: 1, b: 2.5 }, Inner { a: 2, b: -1.0 }],
        octets: vec![9, 8, 7],
        array: [1, -2, 3],
        texts: vec![String::new(), "x".to_owned()],
        inner: Inner { a: 3, b: f64::MAX },
        letter: 'é',
        last: u64::MAX,
    }
}

fn bytes<T: Encode + TypeInfo>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_payload(value, Encoding::Xcdr1, &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: T) -> Vec<u8> {
    let value = Serde(value);
    let bytes = bytes(&value);
    assert_eq!(decode_payload::<Serde<T>>(&bytes).unwrap(), value);
    bytes
}

#[test]
fn serde_type_encodes_like_derived_type() {
    let encoded = round_trip(outer());
    let derived: DerivedOuter = decode_payload(&encoded).unwrap();
    assert_eq!((derived.text.as_str(), derived.letter, derived.last), ("hello", 'é', u64::MAX));
    assert_eq!((derived.absent, derived.present.as_deref()), (None, Some("there")));
    assert_eq!(bytes(&derived), encoded);
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
enum Shape {
    Nothing,
    Circle(f32),
    Line(i16, i16),
    Box { width: u32, name: Option<String> },
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Meters(f64);

#[test]
fn every_serde_data_form_survives() {
    assert_eq!(round_trip(Shape::Nothing), [0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(round_trip(Shape::Line(1, -1)), [0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0xff, 0xff]);
    round_trip(Shape::Circle(1.5));
    round_trip(Shape::Box { width: 7, name: Some("crate".to_owned()) });
    round_trip(vec![Shape::Nothing, Shape::Circle(0.0)]);
    round_trip(BTreeMap::from([("a".to_owned(), 1_u32), ("b".to_owned(), 2)]));
    assert_eq!(round_trip(Meters(1.0)), round_trip(1.0_f64));
    round_trip((1_u8, "two".to_owned(), 3.0_f32));
    round_trip(());
    let leaf = |name: &str| Tree { name: name.to_owned(), children: Vec::new() };
    round_trip(Tree { name: "root".to_owned(), children: vec![leaf("a"), leaf("b")] });
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Sparse {
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<u8>,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Flat {
    #[serde(flatten)]
    inner: Inner,
}

#[test]
fn unsupported_serde_form_is_refused_by_name() {
    let refused = |result: Result<(), EncodeError>| match result.unwrap_err() {
        EncodeError::Unrepresentable { what } => what,
        other => panic!("{other}"),
    };
    let mut buffer = Vec::new();
    let encode = |value: &dyn Fn(&mut Vec<u8>) -> Result<(), EncodeError>, buffer: &mut Vec<u8>| refused(value(buffer));
    let xcdr1 = Encoding::Xcdr1;
    assert!(encode(&|b| encode_payload(&Serde(1_u128), xcdr1, b), &mut buffer).contains("128 bits"));
    assert!(encode(&|b| encode_payload(&Serde(vec![Some(1_u8)]), xcdr1, b), &mut buffer).contains("Option"));
    assert!(encode(&|b| encode_payload(&Serde(Sparse { a: None }), xcdr1, b), &mut buffer).contains("left out"));
    let flat = Serde(Flat { inner: Inner::default() });
    assert!(encode(&|b| encode_payload(&flat, xcdr1, b), &mut buffer).contains("length"));
    assert!(encode(&|b| encode_payload(&Serde(1_u8), Encoding::Xcdr2, b), &mut buffer).contains("XCDR2"));

    let unreadable = |error: dds_core::cdr::DecodeError| match error.kind() {
        DecodeErrorKind::Unrepresentable { what } => what,
        other => panic!("{other}"),
    };
    let anything = decode_payload::<Serde<serde_json::Value>>(&[0, 1, 0, 0, 1, 0, 0, 0]).unwrap_err();
    assert!(unreadable(anything).contains("told what comes"));
    let other_variant = decode_payload::<Serde<Shape>>(&[0, 1, 0, 0, 9, 0, 0, 0]).unwrap_err();
    assert!(unreadable(other_variant).contains("Deserialize"));
}

#[test]
fn hostile_bytes_are_errors() {
    let whole = round_trip(outer());
    for len in 0..whole.len() {
        let mut cut = whole[..len].to_vec();
        // The padding that the header counts is part of the payload.
        if let Some(padding) = cut.get_mut(3) {
            *padding = 0;
        }
        let _ = decode_payload::<Serde<Outer>>(&cut);
    }
    let endless = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0x7f];
    assert!(decode_payload::<Serde<Vec<u64>>>(&endless).is_err());
    assert!(decode_payload::<Serde<String>>(&endless).is_err());
    // A tree with one child at each level. The decoder stops before untrusted bytes exhaust the stack.
    let mut deep = vec![0, 1, 0, 0];
    for _ in 0..100_000 {
        deep.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    }
    let error = decode_payload::<Serde<Tree>>(&deep).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::NestingTooDeep);
}

/// Values that occupy no bytes: any realistic count is accepted, but not every count that untrusted bytes may claim.
#[test]
fn values_without_bytes_are_bounded() {
    round_trip(vec![(); 1_000]);
    round_trip(vec![vec![((), ())], vec![((), ()); 70_000]]);
    let endless = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff];
    let error = decode_payload::<Serde<Vec<()>>>(&endless).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::TooManyNothings);
    let error = decode_payload::<Serde<Vec<u8>>>(&endless).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Truncated);
}

#[test]
fn serde_topic_matches_derived_topic_both_ways() {
    for by_udp in [false, true] {
        let world = World::new();
        let participant = if by_udp { world.udp_participant() } else { world.participant() };
        let topic = participant.serde_topic::<Outer>("t", "DerivedOuter", TopicQos::default()).unwrap();
        let serde_reader = participant.reader_builder(&topic).qos(Preset::Event).build().unwrap();
        let serde_writer = participant.writer(&topic).unwrap();
        let reader = participant.reader_builder::<DerivedOuter>("t").qos(Preset::Event).build().unwrap();
        let writer = participant.writer::<DerivedOuter>("t").unwrap();
        serde_writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();

        serde_writer.write(&Serde(outer())).unwrap();
        let derived = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(bytes(&derived), bytes(&Serde(outer())));
        assert_eq!(serde_reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().0, outer());
        writer.write(&derived).unwrap();
        assert_eq!(serde_reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Serde(outer())));
    }
}

#[test]
fn only_supported_encoding_is_offered() {
    let participant = World::new().participant();
    let topic = participant.serde_topic::<Inner>("t", "Inner", TopicQos::default()).unwrap();
    assert_eq!(participant.reader(&topic).unwrap().qos().representation, [DataRepresentation::Xcdr1]);
    assert_eq!(participant.writer(&topic).unwrap().qos().representation, [DataRepresentation::Xcdr1]);
    let second = [DataRepresentation::Xcdr2];
    let error = participant.reader_builder(&topic).qos(DataReaderQos::default().representation(second)).build();
    let unsupported = CreateErrorKind::Unsupported { policy: PolicyId::DataRepresentation };
    assert_eq!(error.unwrap_err().kind(), &unsupported);
    let error = participant.writer_builder(&topic).qos(DataWriterQos::default().representation(second)).build();
    assert_eq!(error.unwrap_err().kind(), &unsupported);
    let error = participant.writer(&participant.serde_topic::<u128>("u", "U", TopicQos::default()).unwrap()).unwrap();
    let error = error.write(&Serde(1)).unwrap_err();
    assert!(matches!(error.kind(), WriteErrorKind::Encode(EncodeError::Unrepresentable { .. })), "{error}");
    // A raw topic still accepts either encoding.
    let raw = participant.raw_topic("raw", "Inner", TopicQos::default()).unwrap();
    let _: dds_core::DataReader<Raw> =
        participant.reader_builder(&raw).qos(DataReaderQos::default().representation(second)).build().unwrap();
}

#[test]
fn borrowing_type_borrows_text() {
    let encoded = bytes(&Serde("borrowed".to_owned()));
    let text = decode_payload::<Serde<&str>>(&encoded).unwrap();
    assert_eq!(text.0, "borrowed");
    assert!(
        <Serde<&str> as Decode>::decode(&mut dds_core::cdr::Decoder::new(
            &[],
            Encoding::Xcdr2,
            dds_core::cdr::ByteOrder::Little
        ))
        .is_err()
    );
}
