//! Structs whose memory is their encoding have the same bytes as other structs.

use super::round_trip::round_trips;
use super::*;
use crate::cdr::{DecodeErrorKind, Plain};
use dds_macros::DdsType;
use proptest::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes};

macro_rules! point_and_cloud {
    ($point:ident, $pair:ident, $cloud:ident, [$($derive:ident),*], [$($plain:meta),*]) => {
        #[derive(DdsType, Debug, Clone, Copy, PartialEq, $($derive),*)]
        #[dds(crate = "crate", nested)]
        $(#[$plain])*
        #[repr(C)]
        struct $point {
            x: f32,
            y: f32,
            stamp: u64,
            intensity: [u16; 4],
        }

        #[derive(DdsType, Debug, Clone, Copy, PartialEq, $($derive),*)]
        #[dds(crate = "crate", nested)]
        $(#[$plain])*
        #[repr(C)]
        struct $pair {
            number: u64,
            point: $point,
        }

        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate")]
        struct $cloud {
            /// Varies the alignment of the following members.
            before: Vec<u8>,
            origin: $point,
            points: Vec<$point>,
            grid: [[$pair; 2]; 2],
            maybe: Option<$pair>,
            pairs: Vec<[$pair; 2]>,
        }

        impl $cloud {
            fn new(before: usize, count: usize, seed: u64) -> Self {
                let point = |index: usize| $point {
                    x: index as f32,
                    y: 0.5,
                    stamp: seed ^ index as u64,
                    intensity: [1, 2, seed as u16, index as u16],
                };
                let pair = |index| $pair { number: seed, point: point(index) };
                Self {
                    before: vec![7; before],
                    origin: point(before),
                    points: (0..count).map(point).collect(),
                    grid: [[pair(1), pair(2)], [pair(3), pair(4)]],
                    maybe: (before % 2 == 0).then(|| pair(5)),
                    pairs: vec![[pair(6), pair(7)]; count % 3],
                }
            }
        }
    };
}

point_and_cloud!(Point, Pair, Cloud, [FromBytes, IntoBytes, Immutable], [dds(plain)]);
point_and_cloud!(SlowPoint, SlowPair, SlowCloud, [], []);

proptest! {
    #[test]
    fn plain_struct_is_encoded_like_others(
        before in 0_usize..9,
        count in 0_usize..9,
        other in 0_usize..9,
        seed in any::<u64>(),
    ) {
        let (cloud, slow) = (Cloud::new(before, count, seed), SlowCloud::new(before, count, seed));
        round_trips(&cloud, &Cloud::new(other, other, 3));
        for encoding in ENCODINGS {
            for order in ORDERS {
                let bytes = body(&cloud, encoding, order);
                assert_eq!(bytes, body(&slow, encoding, order));
                for length in (0..bytes.len()).step_by(if cfg!(miri) { 32 } else { 1 }) {
                    assert!(Cloud::decode(&mut Decoder::new(&bytes[..length], encoding, order)).is_err());
                }
            }
        }
    }
}

#[test]
fn plain_count_beyond_input_is_an_error() {
    let bytes = hex("00000002 00000000 00000000 0000000000000000 0000000000000000 00000000");
    let error = Vec::<Point>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::LengthBeyondInput { length: 2 });
}

#[test]
fn plain_struct_has_known_layout() {
    const { assert!(Point::FIRST == 4 && Point::LARGEST == 8 && Pair::FIRST == 8) };
    // On machines that align 8-byte numbers to 4, `stamp` is not at the offset of XCDR1.
    assert_eq!(Point::IS_LAID_OUT, std::mem::offset_of!(Point, stamp) % 8 == 0);
}
