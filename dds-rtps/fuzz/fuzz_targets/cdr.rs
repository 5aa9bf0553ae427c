//! Any bytes as a sample of a derived type: a decoded value encodes, and its round trip returns the same bytes.

#![no_main]

use dds_macros::DdsType;
use dds_rtps::cdr::{self, Bounded, Char16, Decode, Encode, Encoding, F128, KeyHasher, TypeInfo, WString};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

#[derive(DdsType, Debug, Clone, Copy)]
#[dds(crate = "dds_rtps", bitmask, bit_bound = 12, flags(LOW, HIGH = 11))]
struct Mask(u16);

#[derive(DdsType, Debug, Clone, Copy)]
#[dds(crate = "dds_rtps", bitset)]
struct Packed {
    #[dds(bits = 3)]
    low: u8,
    #[dds(bits = 7)]
    signed: i16,
}

#[derive(DdsType, Debug, Clone, Copy, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[dds(crate = "dds_rtps", nested, plain)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    stamp: u64,
}

macro_rules! everything {
    ($name:ident, $base:ident, $inner:ident, $union:ident, $extensibility:literal) => {
        #[derive(DdsType, Debug, Clone)]
        #[dds(crate = "dds_rtps", nested, extensibility = $extensibility, discriminator = i16)]
        enum $union {
            Text(String),
            #[dds(case = [1, 2])]
            Mask(#[dds(discriminator)] i16, Mask),
            Nested(Vec<$union>),
            Nothing,
            #[dds(default)]
            Other(#[dds(discriminator)] i16, f64),
        }

        #[derive(DdsType, Debug, Clone)]
        #[dds(crate = "dds_rtps", nested, extensibility = $extensibility)]
        struct $inner {
            flag: bool,
            name: String,
        }

        #[derive(DdsType, Debug, Clone)]
        #[dds(crate = "dds_rtps", extensibility = $extensibility)]
        struct $base {
            #[dds(key)]
            id: u32,
            point: Point,
            points: Vec<Point>,
        }

        #[derive(DdsType, Debug, Clone)]
        #[dds(crate = "dds_rtps", extensibility = $extensibility)]
        struct $name {
            #[dds(base, key)]
            base: $base,
            #[dds(key)]
            text: String,
            small: i8,
            wide: f64,
            words: Vec<u16>,
            inner: $inner,
            list: Vec<$inner>,
            array: [i64; 3],
            maybe: Option<u64>,
            #[dds(key)]
            packed: Packed,
            union: $union,
            unions: [$union; 2],
            map: BTreeMap<u8, u16>,
            texts: BTreeMap<WString, $inner>,
            units: Vec<Char16>,
            names: Vec<Bounded<String, 3>>,
            #[dds(try_construct = "use_default", bound = 2)]
            few: Vec<u32>,
            #[dds(try_construct = "trim", bound = 2)]
            cut: String,
            long: F128,
            maybe_union: Option<Box<$union>>,
        }
    };
}

everything!(Final, BaseFinal, InnerFinal, UnionFinal, "final");
everything!(Appendable, BaseAppendable, InnerAppendable, UnionAppendable, "appendable");
everything!(Mutable, BaseMutable, InnerMutable, UnionMutable, "mutable");

fuzz_target!(|payload: &[u8]| {
    check::<Final>(payload);
    check::<Appendable>(payload);
    check::<Mutable>(payload);
    let mut scratch = Vec::new();
    for is_key in [false, true] {
        for description in [Final::DESCRIPTION, Appendable::DESCRIPTION, Mutable::DESCRIPTION] {
            let walked = cdr::instance_of_payload(description, payload, is_key, &mut scratch);
            let planned = KeyHasher::new(description, true).of_payload(payload, is_key, &mut scratch);
            assert_eq!(planned.ok(), walked.ok());
            let _ = cdr::key_hash_of_payload(description, payload, is_key, &mut scratch);
        }
    }
    let _ = cdr::decode_key_payload::<Final>(payload);
});

fn check<T: for<'de> Decode<'de> + Encode + TypeInfo>(payload: &[u8]) {
    let Ok(value) = cdr::decode_payload::<T>(payload) else { return };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    if let Ok(instance) = cdr::instance_of_payload(T::DESCRIPTION, payload, false, &mut first) {
        let of_value = cdr::key_hash_of(&value, Encoding::Xcdr2, &mut second);
        assert_eq!(of_value.expect("a decoded value is within the bounds"), instance);
    }
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        cdr::encode_payload(&value, encoding, &mut first).expect("a decoded value is within the bounds");
        let again = cdr::decode_payload::<T>(&first).expect("an encoded value is legal");
        cdr::encode_payload(&again, encoding, &mut second).expect("the same value was encoded before");
        assert_eq!(first, second);
    }
}
