//! Newtypes, conversions of types and members, and generated views.

use super::types::*;
use super::*;
use crate::cdr::{DecodeErrorKind, EncodeError, Keyed, Run, encode_payload, key_hash_of};
use dds_macros::DdsType;
use std::collections::BTreeMap;

fn payload_of<T: Encode + TypeInfo>(value: &T, encoding: Encoding) -> Vec<u8> {
    let mut payload = Vec::new();
    encode_payload(value, encoding, &mut payload).unwrap();
    payload
}

#[derive(DdsType, Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[dds(crate = "crate")]
struct RobotId(u32);

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Label(#[dds(bound = 4)] String);

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable)]
struct Named {
    #[dds(key)]
    robot: RobotId,
    label: Label,
    others: Vec<RobotId>,
    pairs: [RobotId; 2],
    by_id: BTreeMap<RobotId, u8>,
    next: Option<RobotId>,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable)]
struct NamedByNumbers {
    #[dds(key)]
    robot: u32,
    #[dds(bound = 4)]
    label: String,
    others: Vec<u32>,
    pairs: [u32; 2],
    by_id: BTreeMap<u32, u8>,
    next: Option<u32>,
}

fn named() -> Named {
    Named {
        robot: RobotId(7),
        label: Label("ab".into()),
        others: vec![RobotId(1), RobotId(2)],
        pairs: [RobotId(3), RobotId(4)],
        by_id: BTreeMap::from([(RobotId(5), 6)]),
        next: Some(RobotId(8)),
    }
}

#[test]
fn newtype_member_is_encoded_as_its_field() {
    let numbers = NamedByNumbers {
        robot: 7,
        label: "ab".into(),
        others: vec![1, 2],
        pairs: [3, 4],
        by_id: BTreeMap::from([(5, 6)]),
        next: Some(8),
    };
    for encoding in ENCODINGS {
        let payload = payload_of(&named(), encoding);
        assert_eq!(payload, payload_of(&numbers, encoding));
        assert_eq!(decode_payload::<Named>(&payload), Ok(named()));
        let (mut one, mut two) = (Vec::new(), Vec::new());
        assert_eq!(key_hash_of(&named(), encoding, &mut one), key_hash_of(&numbers, encoding, &mut two));
    }
    assert!(Named::DESCRIPTION.is_encoded_like(NamedByNumbers::DESCRIPTION));
    assert_eq!(named().key(), RobotId(7));
}

#[test]
fn newtype_checks_its_bound() {
    let mut bytes = Vec::new();
    let long = Label("too long".into()).encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big));
    assert_eq!(long, Err(EncodeError::BoundExceeded { bound: 4, length: 8 }));
    let bytes = body(&"too long".to_owned(), Encoding::Xcdr2, ByteOrder::Big);
    let read = Label::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big));
    assert_eq!(read.map_err(|error| error.kind()), Err(DecodeErrorKind::BoundExceeded { bound: 4, length: 8 }));
}

/// A topic type with another name.
#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", name = "Square")]
struct Shape(ShapeType);

fn assert_topic<T: crate::cdr::DdsType + Keyed>() {}

#[test]
fn newtype_of_a_topic_type_is_a_topic_type() {
    assert_topic::<Shape>();
    assert_eq!((Shape::TYPE_NAME, Shape::DESCRIPTION.name()), ("Square", "Square"));
    assert!(Shape::DESCRIPTION.has_members_of(ShapeType::DESCRIPTION));
    let shape = ShapeType { color: "RED".into(), x: 1, y: 2, shapesize: 3, additional_payload_size: vec![4] };
    let payload = payload_of(&shape, Encoding::Xcdr2);
    let read = decode_payload::<Shape>(&payload).unwrap();
    assert_eq!((read.0.key(), read.key()), (shape.key(), shape.key()));
    assert_eq!(payload_of(&read, Encoding::Xcdr2), payload);
}

/// A type with private invariants.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", into = u8, try_from = u8)]
enum Percent {
    Of(u8),
}

impl From<&Percent> for u8 {
    fn from(Percent::Of(percent): &Percent) -> Self {
        *percent
    }
}

impl TryFrom<u8> for Percent {
    type Error = ();

    fn try_from(percent: u8) -> Result<Self, ()> {
        if percent <= 100 { Ok(Self::Of(percent)) } else { Err(()) }
    }
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable)]
struct Battery {
    #[dds(key)]
    level: Percent,
    #[dds(with = celsius)]
    temperature: Celsius,
    #[dds(with = celsius)]
    limit: Option<Celsius>,
    #[dds(with = celsius, try_construct = "use_default", default = Celsius(20.0))]
    checked: Celsius,
}

/// Stands for a type of another crate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Celsius(f64);

mod celsius {
    use super::Celsius;

    pub(super) type Wire = crate::cdr::Bounded<String, 8>;

    pub(super) fn to_wire(value: &Celsius) -> Wire {
        crate::cdr::Bounded(value.0.to_string())
    }

    pub(super) fn from_wire(wire: Wire) -> Option<Celsius> {
        wire.0.parse().ok().map(Celsius)
    }
}

fn battery() -> Battery {
    Battery { level: Percent::Of(80), temperature: Celsius(21.5), limit: Some(Celsius(60.0)), checked: Celsius(5.0) }
}

#[test]
fn converted_members_round_trip() {
    for encoding in ENCODINGS {
        for battery in [battery(), Battery { limit: None, ..battery() }] {
            let payload = payload_of(&battery, encoding);
            assert_eq!(decode_payload::<Battery>(&payload).as_ref(), Ok(&battery));
            let mut other = Battery { level: Percent::Of(1), ..self::battery() };
            crate::cdr::decode_payload_into(&payload, &mut other).unwrap();
            assert_eq!(other, battery);
        }
    }
    assert_eq!(battery().key(), Percent::Of(80));
}

#[derive(DdsType)]
#[dds(crate = "crate", mutable)]
struct BatteryOfTexts {
    #[dds(key)]
    level: u8,
    temperature: String,
    limit: Option<String>,
    checked: String,
}

#[test]
fn refused_conversion_is_an_error_or_the_default() {
    let texts = |level, temperature: &str, checked: &str| {
        let (temperature, checked) = (temperature.to_owned(), checked.to_owned());
        let battery = BatteryOfTexts { level, temperature, limit: None, checked };
        crate::cdr::decode_payload::<Battery>(&payload_of(&battery, Encoding::Xcdr2)).map_err(|error| error.kind())
    };
    assert_eq!(texts(101, "1", "1"), Err(DecodeErrorKind::InvalidValue));
    assert_eq!(texts(100, "warm", "1"), Err(DecodeErrorKind::InvalidValue));
    let read = texts(100, "1", "warm").unwrap();
    assert_eq!((read.temperature, read.checked), (Celsius(1.0), Celsius(20.0)));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Final {
    #[dds(with = celsius)]
    required: Celsius,
    #[dds(with = celsius)]
    optional: Option<Celsius>,
}

#[test]
fn converted_members_of_final_structs_round_trip() {
    for encoding in ENCODINGS {
        for optional in [None, Some(Celsius(2.0))] {
            let value = Final { required: Celsius(1.0), optional };
            assert_eq!(decode_payload::<Final>(&payload_of(&value, encoding)), Ok(value));
        }
    }
}

/// Text, bytes and numbers are borrowed in the view.
#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, view = ScanView, view_derive(Debug))]
struct Scan {
    #[dds(key, bound = 16)]
    sensor: String,
    #[dds(octet)]
    raw: Vec<u8>,
    ranges: Vec<f32>,
    names: Vec<String>,
    note: Option<String>,
    #[dds(view = PointView)]
    points: Vec<Point>,
    robot: RobotId,
    #[dds(non_serialized)]
    cached: u64,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested, view = PointView, view_derive(Debug, Clone))]
struct Point {
    label: String,
    x: f64,
}

#[test]
fn generated_view_borrows_from_the_sample() {
    let scan = Scan {
        sensor: "front".into(),
        raw: vec![1, 2],
        ranges: vec![0.5, 1.5],
        names: vec!["a".into(), "b".into()],
        note: Some("n".into()),
        points: vec![Point { label: "p".into(), x: 2.0 }],
        robot: RobotId(3),
        cached: 0,
    };
    for encoding in ENCODINGS {
        let payload = payload_of(&scan, encoding);
        let view: ScanView<'_> = crate::cdr::decode_payload(&payload).unwrap();
        assert_eq!((view.sensor, view.raw, view.note), ("front", &[1, 2][..], Some("n")));
        let ranges: Run<'_, f32> = view.ranges;
        assert_eq!(ranges.iter().sum::<f32>(), 2.0);
        assert_eq!((view.names.as_slice(), view.points[0].label), (&["a", "b"][..], "p"));
        assert_eq!((view.points[0].x, view.robot), (2.0, RobotId(3)));
        let range = payload.as_ptr_range();
        assert!(range.contains(&view.sensor.as_ptr()) && range.contains(&view.raw.as_ptr()));
    }
    assert!(ScanView::DESCRIPTION.is_encoded_like(Scan::DESCRIPTION));
}
