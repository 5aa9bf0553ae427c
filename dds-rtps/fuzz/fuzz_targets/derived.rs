//! Any values of derived types: a round trip returns the same value.
//!
//! Other versions of the type read the shared members. Decoding damaged bytes returns an error or another value.

#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use dds_macros::DdsType;
use dds_rtps::cdr::{self, Bounded, DecodeOwned, Encode, Encoding, TypeInfo};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

macro_rules! version {
    ($name:ident, $inner:ident, $union:ident, $extensibility:literal, { $($more:tt)* }) => {
        #[derive(DdsType, Arbitrary, Debug, Clone, PartialEq)]
        #[dds(crate = "dds_rtps", nested, extensibility = $extensibility, discriminator = u8)]
        enum $union {
            Number(i64),
            #[dds(case = [5, 6])]
            Text(#[dds(discriminator)] u8, String),
            List(Vec<$inner>),
            #[dds(default)]
            Other(#[dds(discriminator)] u8),
        }

        #[derive(DdsType, Arbitrary, Debug, Clone, PartialEq, Default)]
        #[dds(crate = "dds_rtps", nested, extensibility = $extensibility)]
        struct $inner {
            flag: bool,
            maybe: Option<u16>,
            bytes: Vec<u8>,
        }

        #[derive(DdsType, Arbitrary, Debug, Clone, PartialEq)]
        #[dds(crate = "dds_rtps", extensibility = $extensibility)]
        struct $name {
            #[dds(key, id = 0)]
            id: u32,
            #[dds(key, id = 1)]
            name: String,
            #[dds(id = 2)]
            small: i8,
            #[dds(id = 3)]
            wide: [u64; 2],
            #[dds(id = 4)]
            inner: $inner,
            #[dds(id = 5)]
            inners: Vec<$inner>,
            #[dds(id = 6)]
            maybe: Option<Box<$inner>>,
            #[dds(id = 7)]
            union: $union,
            #[dds(id = 8)]
            map: BTreeMap<u8, $inner>,
            #[dds(id = 9)]
            words: Vec<u16>,
            $($more)*
        }
    };
}

version!(Final, InnerFinal, UnionFinal, "final", {});
version!(Appendable, InnerAppendable, UnionAppendable, "appendable", {});
version!(Mutable, InnerMutable, UnionMutable, "mutable", {});
version!(AppendableLater, InnerAppendableLater, UnionAppendableLater, "appendable", {
    #[dds(id = 10)]
    more: Vec<String>,
    #[dds(id = 11)]
    last: Option<u64>,
});
version!(MutableLater, InnerMutableLater, UnionMutableLater, "mutable", {
    #[dds(id = 10)]
    more: Vec<String>,
    #[dds(id = 11)]
    last: Option<u64>,
});

/// Another's view of it: some members only, bounded, in another order.
#[derive(DdsType, Debug, Clone)]
#[dds(crate = "dds_rtps", extensibility = "mutable")]
struct Part {
    #[dds(id = 9, try_construct = "trim", bound = 3)]
    words: Vec<u16>,
    #[dds(id = 3)]
    wide: [u64; 2],
    #[dds(id = 2)]
    small: i8,
    #[dds(key, id = 1)]
    name: Bounded<String, 5>,
    #[dds(key, id = 0)]
    id: u32,
}

/// Where bytes are turned over, and where the payload ends.
#[derive(Arbitrary, Debug)]
struct Damage {
    flips: Vec<(u16, u8)>,
    end: Option<u16>,
}

impl Damage {
    fn apply(&self, payload: &mut Vec<u8>) {
        for (at, bits) in &self.flips {
            let at = usize::from(*at) % payload.len().max(1);
            if let Some(byte) = payload.get_mut(at) {
                *byte ^= bits;
            }
        }
        if let Some(end) = self.end {
            payload.truncate(usize::from(end) % (payload.len() + 1));
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut rest = Unstructured::new(bytes);
    let _ = match rest.arbitrary::<u8>() {
        Ok(0..50) => check::<Final>(&mut rest, |_, _| {}),
        Ok(50..100) => check::<Appendable>(&mut rest, |value, payload| {
            // Absent members at the end take their defaults. XCDR1 does not encode the end of a struct.
            let Ok(later) = cdr::decode_payload::<AppendableLater>(payload) else {
                return assert!(payload[1] < 6, "a version with more members reads XCDR2");
            };
            assert_eq!((later.id, &later.words, later.more.len(), later.last), (value.id, &value.words, 0, None));
        }),
        Ok(100..150) => check::<AppendableLater>(&mut rest, |value, payload| {
            let earlier = cdr::decode_payload::<Appendable>(payload).expect("a version with fewer members reads it");
            assert_eq!((earlier.id, &earlier.name, &earlier.words), (value.id, &value.name, &value.words));
        }),
        Ok(150..200) => check::<Mutable>(&mut rest, |value, payload| {
            let later = cdr::decode_payload::<MutableLater>(payload).expect("a version with more members reads it");
            assert_eq!((later.id, &later.words, later.more.len(), later.last), (value.id, &value.words, 0, None));
            check_part(value.id, value.small, &value.words, payload);
        }),
        Ok(_) => check::<MutableLater>(&mut rest, |value, payload| {
            let earlier = cdr::decode_payload::<Mutable>(payload).expect("a version with fewer members reads it");
            assert_eq!((earlier.id, &earlier.name, &earlier.words), (value.id, &value.name, &value.words));
            check_part(value.id, value.small, &value.words, payload);
        }),
        Err(_) => Ok(()),
    };
});

fn check_part(id: u32, small: i8, words: &[u16], payload: &[u8]) {
    // Decoding fails for an unknown must-understand member and for a name over its bound.
    if let Ok(part) = cdr::decode_payload::<Part>(payload) {
        assert_eq!((part.id, part.small, &part.words[..]), (id, small, &words[..words.len().min(3)]));
    }
}

fn check<T>(rest: &mut Unstructured<'_>, others: impl Fn(&T, &[u8])) -> arbitrary::Result<()>
where
    T: for<'a> Arbitrary<'a> + DecodeOwned + Encode + TypeInfo + PartialEq + std::fmt::Debug,
{
    let value: T = rest.arbitrary()?;
    let damage: Damage = rest.arbitrary()?;
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        // The stored discriminator of a union may belong to another case, and a string may contain a NUL.
        if cdr::encode_payload(&value, encoding, &mut payload).is_err() {
            return Ok(());
        }
        let back = cdr::decode_payload::<T>(&payload).expect("an encoded value is legal");
        assert_eq!(back, value);
        others(&value, &payload);
        let instance = cdr::instance_of_payload(T::DESCRIPTION, &payload, false, &mut scratch);
        let of_value = cdr::key_hash_of(&value, Encoding::Xcdr2, &mut scratch);
        assert_eq!(instance.ok(), of_value.ok());
        damage.apply(&mut payload);
        let _ = cdr::decode_payload::<T>(&payload);
        let _ = cdr::instance_of_payload(T::DESCRIPTION, &payload, false, &mut scratch);
    }
    Ok(())
}
