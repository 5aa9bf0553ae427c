//! Values survive encoding and decoding: unions, bits, maps, wide text.

use super::kinds::*;
use super::round_trip::{keys_agree, round_trips};
use super::types::{Gear, Label, Point};
use super::*;
use crate::cdr::{Char16, DecodeOwned, F128, TypeInfo, WString, encode_payload, instance_of_payload};
use proptest::collection::{btree_map, hash_map, vec};
use proptest::prelude::*;

fn finite() -> impl Strategy<Value = f64> {
    -1e9_f64..1e9
}

fn text() -> impl Strategy<Value = String> {
    "[^\\x00]{0,8}".prop_filter("the bound counts bytes", |text| text.len() <= 8)
}

fn point() -> impl Strategy<Value = Point> {
    (any::<i16>(), finite()).prop_map(|(x, y)| Point { x: x.into(), y })
}

fn label() -> impl Strategy<Value = Label> {
    (text(), any::<u8>()).prop_map(|(text, level)| Label { text, level })
}

fn f128() -> impl Strategy<Value = F128> {
    any::<u128>().prop_map(F128::from_bits)
}

macro_rules! union_strategy {
    ($name:ident, $function:ident) => {
        fn $function() -> impl Strategy<Value = $name> {
            let leaf = prop_oneof![
                (1..=2, finite()).prop_map(|(kind, value)| $name::Number { kind, value }),
                text().prop_map($name::Text),
                point().prop_map($name::Point),
                Just($name::Nothing),
                (7.., any::<u8>()).prop_map(|(kind, value)| $name::Other(kind, value)),
            ];
            leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map($name::Nested))
        }
    };
}

union_strategy!(FinalUnion, final_union);
union_strategy!(AppendableUnion, appendable_union);
union_strategy!(MutableUnion, mutable_union);

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![any::<bool>().prop_map(Plain::Flag), f128().prop_map(Plain::Wide), Just(Plain::Nothing)]
}

fn by_gear() -> impl Strategy<Value = ByGear> {
    prop_oneof![text().prop_map(ByGear::Text), vec(any::<u16>(), 0..4).prop_map(ByGear::Numbers)]
}

fn by_char() -> impl Strategy<Value = ByChar> {
    prop_oneof![any::<u16>().prop_map(ByChar::A), label().prop_map(ByChar::BOrC), Just(ByChar::Rest)]
}

type Unions = (FinalUnion, AppendableUnion, MutableUnion, ByGear, ByChar, [Plain; 2]);
type Numbers = (u8, i64, u16, u32, u64, F128);
type Maps = (
    std::collections::BTreeMap<u16, f64>,
    std::collections::BTreeMap<String, Vec<Label>>,
    std::collections::HashMap<i64, String>,
    Option<std::collections::BTreeMap<bool, WString>>,
);
type Lists = (Vec<u16>, Vec<MutableUnion>, String, Option<FinalUnion>);

fn parts() -> impl Strategy<Value = (Unions, Numbers, Maps, Lists)> {
    (
        (final_union(), appendable_union(), mutable_union(), by_gear(), by_char(), [plain(), plain()]),
        (any::<u8>(), any::<i64>(), any::<u16>(), any::<u32>(), any::<u64>(), f128()),
        (
            btree_map(any::<u16>(), finite(), 0..4),
            btree_map(text(), vec(label(), 0..3), 0..4),
            hash_map(any::<i64>(), text(), 0..4),
            prop::option::of(btree_map(any::<bool>(), text().prop_map(WString::from), 0..3)),
        ),
        (vec(any::<u16>(), 0..4), vec(mutable_union(), 0..3), text(), prop::option::of(final_union())),
    )
}

macro_rules! sample_of {
    ($ty:ident, $parts:expr) => {{
        let ((a, b, c, by_gear, by_char, plain), (byte, long, short, int, bits, float), maps, lists) = $parts;
        let (numbers, names, unordered, maybe_map) = maps;
        let (units, unions, wide, maybe) = lists;
        $ty {
            before: byte,
            boxed: Box::new(b.clone()),
            a,
            b,
            c,
            by_bool: if byte % 2 == 0 { ByBool::Yes(long) } else { ByBool::No },
            by_gear,
            by_char,
            by_u64: if byte % 3 == 0 { ByU64::Largest(byte) } else { ByU64::Rest(short as i16) },
            plain,
            rights: Rights(byte),
            twelve: Twelve(short & 0xfff),
            twenties: vec![Twenty(int & 0xf_ffff); usize::from(byte % 3)],
            all: [[All(bits), All(1)], [All::TOP, All(0)]],
            packed: Packed { low: byte & 7, flag: byte > 9, signed: short as i16 % 16, high: int & 0xf_ffff },
            numbers,
            names,
            unordered,
            units: units.into_iter().map(Char16).collect(),
            wide: wide.into(),
            float,
            floats: [float, F128::from(1.5)],
            maybe,
            maybe_map,
            unions,
            last: bits,
        }
    }};
}

/// Checks that a truncated payload is an error, and a changed one a value or an error.
fn is_robust<T: Encode + DecodeOwned + TypeInfo>(sample: &T, changes: &[(prop::sample::Index, u8)]) {
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        encode_payload(sample, encoding, &mut payload).unwrap();
        let padding = usize::from(std::mem::take(&mut payload[3]));
        for length in 0..payload.len() - padding {
            assert!(decode_payload::<T>(&payload[..length]).is_err());
            let _ = instance_of_payload(T::DESCRIPTION, &payload[..length], false, &mut scratch);
        }
        for (index, byte) in changes {
            let index = index.index(payload.len());
            payload[index] = *byte;
        }
        let _ = decode_payload::<T>(&payload);
        for is_key in [false, true] {
            let _ = instance_of_payload(T::DESCRIPTION, &payload, is_key, &mut scratch);
        }
    }
}

macro_rules! round_trips_of {
    ($($test:ident, $ty:ident;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 32 }))]
            $(#[test]
            fn $test(
                sample in parts(),
                other in parts(),
                changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            ) {
                let sample = sample_of!($ty, sample);
                round_trips(&sample, &sample_of!($ty, other));
                keys_agree(&sample);
                is_robust(&sample, &changes);
            })*
        }
    };
}

round_trips_of! {
    other_kinds_in_final_structs_round_trip, OthersFinal;
    other_kinds_in_appendable_structs_round_trip, OthersAppendable;
    other_kinds_in_mutable_structs_round_trip, OthersMutable;
}

#[test]
fn nested_unions_end_at_the_nesting_limit() {
    use crate::cdr::{DecodeErrorKind, NESTING_MAX};
    for encoding in ENCODINGS {
        let nested = |depth| {
            let mut value = FinalUnion::Nothing;
            for _ in 0..depth {
                value = FinalUnion::Nested(vec![value]);
            }
            body(&value, encoding, ByteOrder::Big)
        };
        let _: FinalUnion = value(&nested(NESTING_MAX), encoding, ByteOrder::Big);
        let error =
            FinalUnion::decode(&mut Decoder::new(&nested(NESTING_MAX + 1), encoding, ByteOrder::Big)).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::NestingTooDeep);
    }
}

#[test]
fn enum_and_union_labels_keep_their_values() {
    assert_eq!(body(&ByGear::Text("a".into()), Encoding::Xcdr1, ByteOrder::Big), hex("ffffffff 00000002 6100"));
    assert_eq!(body(&Gear::Reverse, Encoding::Xcdr1, ByteOrder::Big), hex("ffffffff"));
}
