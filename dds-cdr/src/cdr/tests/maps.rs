//! Maps.

use super::types::Label;
use super::*;
use crate::cdr::{
    Bounded, DecodeError, DecodeErrorKind, EncodeError, MapKey, OrDefault, Trimmed, TypeInfo, TypeKind, WString,
};
use dds_macros::DdsType;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

fn label(level: u8) -> Label {
    Label { text: "l".into(), level }
}

/// XTYPES 1.3, 7.4.3.5.3: rule 16 for XCDR1, rule 14 for maps of primitives in XCDR2. Other maps follow 7.4.1.1.4, like
/// Fast DDS (3.6.1): length in bytes, count, entries.
#[test]
fn map_count_precedes_entries() {
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

/// Fast DDS writes no length in bytes here, because it only considers the type of the values.
#[test]
fn map_with_string_keys_has_dheader() {
    let map = BTreeMap::from([("a".to_owned(), 7_u8)]);
    assert_eq!(body(&map, Encoding::Xcdr2, ByteOrder::Big), hex("0000000b 00000001 00000002 6100 07"));
}

#[test]
fn duplicate_map_key_is_an_error() {
    let bytes = hex("00000002 0001 07 00 0001 08");
    let error = BTreeMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (7, DecodeErrorKind::DuplicateKey));
    let error = HashMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    // Entries of the reused map do not hide the duplicate.
    for mut map in [BTreeMap::from([(1_u16, 7_u8), (2, 8)]), BTreeMap::from([(1, 7)])] {
        let error = map.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    }
}

#[test]
fn map_count_beyond_input_is_an_error() {
    let bytes = hex("ffffffff 0001");
    let error = BTreeMap::<u16, u8>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::LengthBeyondInput { length: u32::MAX });
}

#[test]
fn map_values_keep_their_memory() {
    let map = BTreeMap::from([("a".to_owned(), vec![1_u32, 2]), ("b".to_owned(), vec![3])]);
    let bytes = body(&map, Encoding::Xcdr2, ByteOrder::HOST);
    let mut reused = map.clone();
    let memory = |map: &BTreeMap<String, Vec<u32>>| map.values().map(Vec::as_ptr).collect::<Vec<_>>();
    let before = memory(&reused);
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
    assert_eq!((memory(&reused), &reused), (before.clone(), &map));
    // One key fewer, and one more.
    let mut other = reused;
    other.remove("b");
    other.insert("c".to_owned(), vec![4]);
    other.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
    assert_eq!((memory(&other)[0], &other), (before[0], &map));
}

/// The sender's hash map has its own order of entries. Keys and values of the receiver still keep their memory.
#[test]
fn hash_map_values_keep_memory_in_any_order() {
    fn keep<K>(keys: Vec<K>)
    where
        K: MapKey + Encode + for<'de> Decode<'de> + Hash + Eq + Clone + Debug,
    {
        // Other hashes give another order. Some maps exceed the list on the stack.
        let sent: HashMap<K, Vec<u32>> = keys.iter().cloned().zip((1..).map(|count| vec![count; 3])).collect();
        let mut reused: HashMap<K, Vec<u32>> = keys.iter().map(|key| (key.clone(), vec![9; 7])).collect();
        let memory = |map: &HashMap<K, Vec<u32>>| keys.iter().map(|key| map[key].as_ptr()).collect::<Vec<_>>();
        let before = memory(&reused);
        for encoding in ENCODINGS {
            for order in ORDERS {
                reused.decode_into(&mut Decoder::new(&body(&sent, encoding, order), encoding, order)).unwrap();
                assert_eq!((memory(&reused), &reused), (before.clone(), &sent));
            }
        }
        // One key is replaced.
        let Some((first, others)) = keys.split_first() else { return };
        let mut fewer = sent.clone();
        fewer.remove(first);
        let bytes = body(&fewer, Encoding::Xcdr2, ByteOrder::HOST);
        reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::HOST)).unwrap();
        assert_eq!(reused, fewer);
        assert!(others.iter().zip(&before[1..]).all(|(key, place)| reused[key].as_ptr() == *place));
        let bytes = body(&sent, Encoding::Xcdr1, ByteOrder::HOST);
        reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::HOST)).unwrap();
        assert_eq!(reused, sent);
    }

    let texts = |count| (0..count).map(|number| format!("{number} ä€𝄞")).collect::<Vec<_>>();
    keep(Vec::<u8>::new());
    keep((0_u16..200).collect());
    keep(vec![true, false]);
    keep(texts(40));
    keep(texts(200));
    keep(texts(20).into_iter().map(WString::from).collect());
    keep(texts(20).into_iter().map(Bounded::<_, 16>).collect());
    keep(texts(20).into_iter().map(|text| Bounded::<_, 16>(WString::from(text))).collect());
    keep(texts(20).into_iter().map(Trimmed::<_, 16>).collect());
    keep(texts(20).into_iter().map(|text| Trimmed::<_, 16>(WString::from(text))).collect());
    keep(texts(20).into_iter().map(|text| OrDefault(Bounded::<_, 16>(text))).collect());
}

/// The count is the same and all keys are known, but one key occurs twice. The missing entry must not survive.
#[test]
fn duplicate_key_does_not_keep_a_missing_entry() {
    for count in [2_usize, 100] {
        let keys = (0..count).map(|number| format!("{number}")).collect::<Vec<_>>();
        let mut map: HashMap<String, u32> = keys.iter().cloned().zip(0..).collect();
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::HOST);
        e.length(count).unwrap();
        for key in keys[1..].iter().chain([&keys[1]]) {
            key.encode(&mut e).unwrap();
            7_u32.encode(&mut e).unwrap();
        }
        let error = map.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::HOST)).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    }
}

/// Values without a size all have the same address.
#[test]
fn maps_of_empty_values_round_trip() {
    #[derive(DdsType, Debug, Clone, PartialEq)]
    #[dds(crate = "crate", nested, appendable)]
    struct Nothing {}
    let map: HashMap<u8, Nothing> = (0..5).map(|key| (key, Nothing {})).collect();
    let bytes = body(&map, Encoding::Xcdr2, ByteOrder::Big);
    let mut reused = map.clone();
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap();
    assert_eq!(reused, map);
}

/// The keys are a text that exceeds the stack buffer, and an invalid text.
#[test]
fn map_key_lookup_checks_like_decoding() {
    let long = WString::from("ä".repeat(500).as_str());
    let map = HashMap::from([(long.clone(), 1_u8)]);
    let bytes = body(&map, Encoding::Xcdr2, ByteOrder::Little);
    let mut reused = HashMap::from([(long, 2_u8)]);
    reused.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Little)).unwrap();
    assert_eq!(reused, map);
    // Half a character: U+D834 alone.
    let bytes = hex("00000001 00000002 d834 01");
    let mut map = HashMap::from([(WString::from("a"), 2_u8)]);
    let error = map.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::InvalidUtf16);
    let bytes = hex("00000001 00000003 616200 01");
    let mut map = HashMap::from([(Bounded::<String, 1>("a".into()), 2_u8)]);
    let error = map.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 1, length: 2 });
}

thread_local! {
    static DECODED: Cell<u32> = const { Cell::new(0) };
}

/// A value with nested values that counts how often a value is decoded.
macro_rules! counted {
    ($name:ident $map:ident) => {
        #[derive(Debug, Default, PartialEq)]
        struct $name($map<String, Self>);

        impl<'de> Decode<'de> for $name {
            const SIZE_MIN: usize = 4;

            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                DECODED.set(DECODED.get() + 1);
                $map::decode(d).map(Self)
            }

            fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
                DECODED.set(DECODED.get() + 1);
                self.0.decode_into(d)
            }
        }

        impl $name {
            fn times(&mut self, bytes: &[u8]) -> (u32, Result<(), DecodeErrorKind>) {
                DECODED.set(0);
                let result = self.decode_into(&mut Decoder::new(bytes, Encoding::Xcdr1, ByteOrder::Big));
                (DECODED.get(), result.map_err(|error| error.kind()))
            }
        }
    };
}

counted!(Sorted BTreeMap);
counted!(Hashed HashMap);

/// Encodes nested maps with these keys. The value of the first key is the next map.
fn maps_in_maps(levels: usize, keys: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Big);
    let key_of_all = |e: &mut Encoder<'_>, key: &str| key.to_owned().encode(e).unwrap();
    for _ in 0..levels {
        e.length(keys.len()).unwrap();
        key_of_all(&mut e, keys[0]);
    }
    e.length(0).unwrap();
    for _ in 0..levels {
        for key in &keys[1..] {
            key_of_all(&mut e, key);
            e.length(0).unwrap();
        }
    }
    bytes
}

/// Without this property, reordered or new keys double the cost with each nesting level.
#[test]
fn each_map_value_is_decoded_once() {
    let (levels, times) = if cfg!(miri) { (4, 1 + 4 * 3) } else { (20, 1 + 20 * 3) };
    let (mut sorted, mut hashed) = (Sorted::default(), Hashed::default());
    for keys in [["a", "b", "c"], ["a", "c", "b"], ["a", "b", "d"], ["b", "a", "d"], ["b", "x", "a"], ["b", "a", "x"]] {
        let bytes = maps_in_maps(levels, &keys);
        let mut fresh = Sorted::default();
        assert_eq!(fresh.times(&bytes), (times, Ok(())));
        for _ in 0..2 {
            assert_eq!(sorted.times(&bytes), (times, Ok(())), "{keys:?}");
            assert_eq!(sorted, fresh);
            assert_eq!(hashed.times(&bytes), (times, Ok(())), "{keys:?}");
            let mut fresh = Hashed::default();
            fresh.times(&bytes).1.unwrap();
            assert_eq!(hashed, fresh);
        }
    }
    // Duplicate keys, known or unknown, before and after the first difference.
    for keys in [["b", "a", "b"], ["b", "b", "a"], ["b", "y", "y"], ["b", "a", "a"], ["y", "b", "y"]] {
        let bytes = maps_in_maps(levels, &keys);
        for _ in 0..2 {
            let (decoded, result) = sorted.times(&bytes);
            assert!(decoded <= times && result == Err(DecodeErrorKind::DuplicateKey), "{keys:?}");
            let (decoded, result) = hashed.times(&bytes);
            assert!(decoded <= times && result == Err(DecodeErrorKind::DuplicateKey), "{keys:?}");
        }
        sorted.times(&maps_in_maps(levels, &["b", "a", "x"])).1.unwrap();
        hashed.times(&maps_in_maps(levels, &["b", "a", "x"])).1.unwrap();
    }
}

/// Values keep their memory although the order changes or other keys arrive.
#[test]
fn map_values_keep_memory_after_unknown_key() {
    let memory = |value: &Vec<u32>| value.as_ptr();
    let encoded = |entries: &[(&str, u32)]| {
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::HOST);
        e.length(entries.len()).unwrap();
        for (key, value) in entries {
            (*key).to_owned().encode(&mut e).unwrap();
            vec![*value].encode(&mut e).unwrap();
        }
        bytes
    };
    let bytes = encoded(&[("a", 1), ("x", 2), ("c", 3)]);
    let before = || [("a", 7), ("b", 8), ("c", 9)].map(|(key, value)| (key.to_owned(), vec![value; 3]));
    let after = [("a", 1), ("c", 3), ("x", 2)].map(|(key, value)| (key.to_owned(), vec![value]));
    let mut sorted = BTreeMap::from(before());
    let places = [memory(&sorted["a"]), memory(&sorted["c"])];
    sorted.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::HOST)).unwrap();
    assert_eq!([memory(&sorted["a"]), memory(&sorted["c"])], places);
    assert_eq!(sorted, BTreeMap::from(after.clone()));
    let mut hashed = HashMap::from(before());
    let places = [memory(&hashed["a"]), memory(&hashed["c"])];
    hashed.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::HOST)).unwrap();
    assert_eq!([memory(&hashed["a"]), memory(&hashed["c"])], places);
    assert_eq!(hashed, HashMap::from(after));
}

#[test]
fn map_bound_counts_entries() {
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", mutable)]
    struct Limited {
        #[dds(bound = 1)]
        map: BTreeMap<u8, u8>,
    }
    let mut bytes = Vec::new();
    let long = Limited { map: BTreeMap::from([(1, 1), (2, 2)]) };
    let error = long.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error, EncodeError::BoundExceeded { bound: 1, length: 2 });
    // Length code 4: the count of the map is not its length.
    let bytes = hex("00000010 40000000 00000008 00000002 01010202");
    let error = Limited::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 1, length: 2 });
    let TypeKind::Struct(description) = Limited::DESCRIPTION.kind() else { panic!() };
    assert!(matches!(description.members()[0].ty().kind(), TypeKind::Map { bound: Some(1), .. }));
}
