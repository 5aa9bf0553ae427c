//! Any sample of a derived type: what decodes encodes, and comes back as the same bytes.

#![no_main]

use dds_macros::DdsType;
use dds_rtps::cdr::{self, Char16, Decode, Encode, Encoding, F128, TypeInfo, WString};
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

macro_rules! everything {
    ($name:ident, $inner:ident, $union:ident, $extensibility:literal) => {
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
        struct $name {
            #[dds(key)]
            id: u32,
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
            wide: Vec<Char16>,
            long: F128,
            maybe_union: Option<Box<$union>>,
        }
    };
}

everything!(Final, InnerFinal, UnionFinal, "final");
everything!(Appendable, InnerAppendable, UnionAppendable, "appendable");
everything!(Mutable, InnerMutable, UnionMutable, "mutable");

fuzz_target!(|payload: &[u8]| {
    check::<Final>(payload);
    check::<Appendable>(payload);
    check::<Mutable>(payload);
    let mut scratch = Vec::new();
    for is_key in [false, true] {
        for description in [Final::DESCRIPTION, Appendable::DESCRIPTION, Mutable::DESCRIPTION] {
            let _ = cdr::instance_of_payload(description, payload, is_key, &mut scratch);
        }
    }
    let _ = cdr::decode_key_payload::<Final>(payload);
});

fn check<T: for<'de> Decode<'de> + Encode + TypeInfo>(payload: &[u8]) {
    let Ok(value) = cdr::decode_payload::<T>(payload) else { return };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        cdr::encode_payload(&value, encoding, &mut first).expect("what was decoded is within the bounds");
        let again = cdr::decode_payload::<T>(&first).expect("what was encoded is legal");
        cdr::encode_payload(&again, encoding, &mut second).expect("it was encoded before");
        assert_eq!(first, second);
    }
}
