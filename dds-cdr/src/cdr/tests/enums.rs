//! Small enums. XCDR1 also has the fewest bytes, like the C library of Cyclone DDS; its Python package sends four
//! bytes.

use super::*;
use crate::cdr::{DecodeErrorKind, Keyed, TypeInfo, TypeKind, encode_payload};
use dds_macros::DdsType;

#[derive(DdsType, Debug, PartialEq, Clone, Copy)]
#[dds(crate = "crate", bit_bound = 8)]
enum Tiny {
    Off,
    On = 255,
}

#[derive(DdsType, Debug, PartialEq, Clone, Copy)]
#[dds(crate = "crate", bit_bound = 9)]
enum Small {
    Below = -256,
    Zero = 0,
    Above = 255,
}

macro_rules! holder {
    ($name:ident, $extensibility:literal) => {
        #[derive(DdsType, Debug, PartialEq, Clone)]
        #[dds(crate = "crate", extensibility = $extensibility)]
        struct $name {
            #[dds(key)]
            tiny: Tiny,
            #[dds(key)]
            small: Small,
            #[dds(key)]
            pair: [Tiny; 2],
            many: Vec<Small>,
            maybe: Option<Tiny>,
        }

        impl $name {
            fn sample() -> Self {
                Self {
                    tiny: Tiny::On,
                    small: Small::Below,
                    pair: [Tiny::Off, Tiny::On],
                    many: vec![Small::Zero, Small::Above],
                    maybe: Some(Tiny::On),
                }
            }
        }
    };
}

holder!(InFinal, "final");
holder!(InAppendable, "appendable");
holder!(InMutable, "mutable");

fn round_trips<T: Encode + Keyed + TypeInfo + crate::cdr::DecodeOwned + PartialEq + std::fmt::Debug>(sample: &T) {
    let mut payload = Vec::new();
    for encoding in ENCODINGS {
        for order in ORDERS {
            assert_eq!(&value::<T>(&body(sample, encoding, order), encoding, order), sample);
        }
        encode_payload(sample, encoding, &mut payload).unwrap();
        assert_eq!(&decode_payload::<T>(&payload).unwrap(), sample);
        // A short key is the hash itself: 1 byte, 1 byte of padding, 2 bytes, then the pair of 2 bytes.
        let hash = match encoding {
            Encoding::Xcdr1 => hex("ff 00 ff00 00ff 0000 0000000000000000"),
            Encoding::Xcdr2 => hex("ff 00 ff00 00000002 00ff 000000000000"),
        };
        assert_eq!(super::keys::key_hash(sample, encoding), hash);
    }
}

#[test]
fn small_enums_round_trip_everywhere() {
    round_trips(&InFinal::sample());
    round_trips(&InAppendable::sample());
    round_trips(&InMutable::sample());
}

#[test]
fn enum_size_follows_its_bit_bound() {
    assert_eq!(body(&Tiny::On, Encoding::Xcdr1, ByteOrder::Big), [255]);
    assert_eq!(body(&Small::Below, Encoding::Xcdr2, ByteOrder::Big), [0xff, 0]);
    let TypeKind::Enum(description) = Small::DESCRIPTION.kind() else { panic!() };
    assert_eq!((description.bit_bound(), description.size()), (9, 2));
    let error = Small::decode(&mut Decoder::new(&[0, 7], Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (0, DecodeErrorKind::UnknownLiteral { value: 7 }));
    // Member headers of mutable types have the length codes of 1 and 2 bytes.
    assert!(
        body(&InMutable::sample(), Encoding::Xcdr2, ByteOrder::Big)[4..]
            .starts_with(&hex("00000000 ff 000000 10000001 ff00"))
    );
}

#[derive(DdsType, Debug, PartialEq, Clone, Copy)]
#[dds(crate = "crate", bit_bound = 16)]
enum Wide {
    Zero,
    Above = 255,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable)]
struct Enums {
    #[dds(key)]
    tiny: Tiny,
    wide: Wide,
    pair: [Tiny; 2],
    many: Vec<Wide>,
}

/// Bytes of `cyclonedds` 11.0.1 from PyPI, created by `tests/vectors/make_cdr.py`.
#[test]
fn xcdr2_bytes_equal_cyclone() {
    let sample =
        Enums { tiny: Tiny::On, wide: Wide::Above, pair: [Tiny::Off, Tiny::On], many: vec![Wide::Zero, Wide::Above] };
    let vectors = [
        (
            ByteOrder::Big,
            "0000002c00000000ff0000001000000100ff0000500000020000000200ff0000500000030000000800000002000000ff",
        ),
        (
            ByteOrder::Little,
            "2c00000000000000ff00000001000010ff000000020000500200000000ff00000300005008000000020000000000ff00",
        ),
    ];
    for (order, expected) in vectors {
        assert_eq!(body(&sample, Encoding::Xcdr2, order), hex(expected));
        assert_eq!(value::<Enums>(&hex(expected), Encoding::Xcdr2, order), sample);
    }
}
