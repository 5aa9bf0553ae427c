//! Values survive encoding and decoding.

use super::types::*;
use super::*;
use crate::cdr::{
    DecodeOwned, Keyed, Run, TypeInfo, decode_key_payload, decode_payload_into, encode_key_payload, encode_payload,
};
use proptest::prelude::*;
use std::fmt::Debug;

/// Checks both encodings and byte orders, bodies and payloads, new values and decoding in place.
pub(super) fn round_trips<T: Encode + DecodeOwned + TypeInfo + Clone + PartialEq + Debug>(sample: &T, other: &T) {
    #[cfg(feature = "dynamic")]
    super::dynamic::agrees(sample);
    let mut payload = Vec::new();
    for encoding in ENCODINGS {
        for order in ORDERS {
            let bytes = body(sample, encoding, order);
            assert_eq!(&value::<T>(&bytes, encoding, order), sample);
            let mut reused = other.clone();
            let mut d = Decoder::new(&bytes, encoding, order);
            reused.decode_into(&mut d).unwrap();
            assert_eq!(&reused, sample);
            assert_eq!(d.remaining(), 0);
        }
        encode_payload(sample, encoding, &mut payload).unwrap();
        assert_eq!(&decode_payload::<T>(&payload).unwrap(), sample);
        let mut reused = other.clone();
        decode_payload_into(&payload, &mut reused).unwrap();
        assert_eq!(&reused, sample);
    }
}

pub(super) fn keys_agree<T: Encode + Keyed<Key: PartialEq + Debug> + TypeInfo>(sample: &T) {
    #[cfg(feature = "dynamic")]
    super::dynamic::key_agrees(sample);
    let mut payload = Vec::new();
    for encoding in ENCODINGS {
        super::keys::key_hash(sample, encoding);
        encode_key_payload::<T>(&sample.key(), encoding, &mut payload).unwrap();
        assert_eq!(decode_key_payload::<T>(&payload).unwrap(), sample.key());
    }
}

macro_rules! sample_of {
    ($ty:ident, $strategies:expr) => {{
        $strategies.prop_map(
            |((a, b, c, d, e), (name, text, strings), (bytes, doubles, rows, flags), (point, label, gear, maybe))| {
                $ty {
                    flag: a % 2 == 0,
                    id: b,
                    a,
                    b: a as i8,
                    c,
                    d: c as i16,
                    e: d,
                    name,
                    f: d as i32,
                    g: e.to_bits(),
                    h: d as f32,
                    i: e,
                    letter: char::from(a),
                    text,
                    gear,
                    point: point.clone(),
                    label: label.clone(),
                    bytes,
                    doubles,
                    flags,
                    strings: strings.clone(),
                    points: vec![point; usize::from(a % 3)],
                    labels: vec![label.clone(); usize::from(a % 4)],
                    gears: vec![gear; usize::from(a % 5)],
                    rows,
                    hash: [a, 1, 2, 3, a],
                    matrix: [[1, d as i16], [3, 4], [c as i16, 6]],
                    names: [[label.text.clone(), "b".into()], ["".into(), label.text.clone()]],
                    pairs: vec![[b as u64, 2]; usize::from(a % 2)],
                    pairs_of_strings: vec![[label.text.clone(), "f".into()]; usize::from(a % 3)],
                    maybe,
                    maybe_text: (a % 2 == 0).then_some(label.text),
                    maybe_many: (a % 3 == 0).then(|| vec![b as u64; strings.len()]),
                    boxed: Box::new(c),
                    last: b as u64,
                }
            },
        )
    }};
}

type Numbers = (u8, i64, u16, u32, f64);
type Texts = (String, String, Vec<String>);
type Lists = (Vec<u8>, Vec<f64>, Vec<Vec<u16>>, Vec<bool>);
type Nested = (Point, Label, Gear, Option<f64>);

fn parts() -> impl Strategy<Value = (Numbers, Texts, Lists, Nested)> {
    let finite = || -1e9_f64..1e9;
    let text = || "[^\\x00]{0,9}";
    (
        (any::<u8>(), any::<i64>(), any::<u16>(), any::<u32>(), finite()),
        (text(), text(), prop::collection::vec(text(), 0..4)),
        (
            prop::collection::vec(any::<u8>(), 0..20),
            prop::collection::vec(finite(), 0..5),
            prop::collection::vec(prop::collection::vec(any::<u16>(), 0..4), 0..4),
            prop::collection::vec(any::<bool>(), 0..4),
        ),
        (
            (any::<i16>(), finite()).prop_map(|(x, y)| Point { x: x.into(), y }),
            (text(), any::<u8>()).prop_map(|(text, level)| Label { text, level }),
            prop_oneof![Just(Gear::Reverse), Just(Gear::Neutral), Just(Gear::First)],
            prop::option::of(finite()),
        ),
    )
}

proptest! {
    #[test]
    fn final_structs_round_trip(sample in sample_of!(AllFinal, parts()), other in sample_of!(AllFinal, parts())) {
        round_trips(&sample, &other);
        keys_agree(&sample);
    }

    #[test]
    fn appendable_structs_round_trip(
        sample in sample_of!(AllAppendable, parts()),
        other in sample_of!(AllAppendable, parts()),
    ) {
        round_trips(&sample, &other);
        keys_agree(&sample);
    }

    #[test]
    fn mutable_structs_round_trip(
        sample in sample_of!(AllMutable, parts()),
        other in sample_of!(AllMutable, parts()),
    ) {
        round_trips(&sample, &other);
        keys_agree(&sample);
    }

    /// A run reads and writes the bytes of a `Vec`, at every alignment.
    #[test]
    fn run_is_a_sequence(ranges in prop::collection::vec(any::<i32>(), 0..9), frame in "[a-z]{0,5}") {
        let ranges: Vec<f32> = ranges.into_iter().map(|range| range as f32).collect();
        for encoding in ENCODINGS {
            for order in ORDERS {
                let scan = Scan { frame: &frame, ranges: Run::from(ranges.as_slice()) };
                let bytes = body(&scan, encoding, order);
                assert_eq!(bytes, body(&(Pair { frame: frame.clone(), ranges: ranges.clone() }), encoding, order));
                for offset in 0..4 {
                    let mut moved = vec![0; offset];
                    moved.extend_from_slice(&bytes);
                    let read: Scan<'_> = value(&moved[offset..], encoding, order);
                    assert_eq!(read, scan);
                    assert_eq!(read.ranges.to_vec(), ranges);
                    assert_eq!(read.ranges.get(1), ranges.get(1).copied());
                    assert!(read.ranges.as_slice().is_none_or(|run| run == ranges));
                    assert_eq!(body(&read, encoding, order), bytes);
                }
            }
        }
    }
}

/// [`Scan`] with owned data.
#[derive(dds_macros::DdsType)]
#[dds(crate = "crate", name = "Scan")]
struct Pair {
    frame: String,
    ranges: Vec<f32>,
}

#[test]
fn recursive_values_round_trip() {
    let leaf = Tree { value: 1, ..Tree::default() };
    let branch = Tree { value: 2, children: vec![leaf.clone(), leaf.clone()], next: Some(Box::new(leaf)) };
    let tree = Tree { value: 3, children: vec![branch.clone(); 3], next: Some(Box::new(branch)) };
    round_trips(&tree, &Tree::default());
}

#[test]
fn decode_into_keeps_memory() {
    let sample = sample();
    let bytes = body(&sample, Encoding::Xcdr2, ByteOrder::HOST);
    let mut reused = sample.clone();
    let memory = |sample: &AllFinal| {
        (sample.name.as_ptr(), sample.bytes.as_ptr(), sample.doubles.as_ptr(), sample.strings.as_ptr(), {
            sample.maybe_many.as_ref().map(Vec::as_ptr)
        })
    };
    let before = memory(&reused);
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
    assert_eq!(memory(&reused), before);
    assert_eq!(reused, sample);
}

macro_rules! sample_as {
    ($name:ident) => {
        $name {
            flag: true,
            id: -2,
            a: 3,
            b: -4,
            c: 5,
            d: -6,
            e: 7,
            name: "name".into(),
            f: -8,
            g: 9,
            h: 10.5,
            i: -11.25,
            letter: 'z',
            text: "text".into(),
            gear: Gear::First,
            point: Point { x: 1.0, y: 2.0 },
            label: Label { text: "l".into(), level: 1 },
            bytes: vec![1, 2, 3],
            doubles: vec![1.0, 2.0],
            flags: vec![true, false],
            strings: vec!["a".into(), String::new()],
            points: vec![Point { x: 3.0, y: 4.0 }; 2],
            labels: vec![Label { text: "m".into(), level: 2 }; 2],
            gears: vec![Gear::Reverse, Gear::Neutral],
            rows: vec![vec![1], vec![], vec![2, 3]],
            hash: [1, 2, 3, 4, 5],
            matrix: [[1, 2], [3, 4], [5, 6]],
            names: [["a".into(), "b".into()], ["c".into(), "d".into()]],
            pairs: vec![[1, 2], [3, 4]],
            pairs_of_strings: vec![["e".into(), "f".into()]],
            maybe: Some(1.5),
            maybe_text: None,
            maybe_many: Some(vec![1, 2]),
            boxed: Box::new(6),
            last: u64::MAX,
        }
    };
}

pub(super) fn sample() -> AllFinal {
    sample_as!(AllFinal)
}

pub(super) fn mutable_sample() -> AllMutable {
    sample_as!(AllMutable)
}
