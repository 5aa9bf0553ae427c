//! Any sample of a derived type: what decodes encodes, and comes back as the same bytes.

#![no_main]

use dds_macros::DdsType;
use dds_rtps::cdr::{self, Decode, Encode, Encoding, TypeInfo};
use libfuzzer_sys::fuzz_target;

macro_rules! everything {
    ($name:ident, $inner:ident, $extensibility:literal) => {
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
        }
    };
}

everything!(Final, InnerFinal, "final");
everything!(Appendable, InnerAppendable, "appendable");
everything!(Mutable, InnerMutable, "mutable");

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
