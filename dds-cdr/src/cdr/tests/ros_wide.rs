//! `wstring` of ROS 2.

use super::*;
use crate::cdr::{Bounded, DecodeErrorKind, EncodeError, RosWString, TypeInfo, TypeKind};
use dds_macros::DdsType;
use proptest::prelude::*;

fn error_of(body: &[u8]) -> (usize, DecodeErrorKind) {
    let error = RosWString::decode(&mut Decoder::new(body, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    (error.offset(), error.kind())
}

/// Bytes of ROS 2 Jazzy and Kilted with Fast DDS, and of Jazzy with Cyclone DDS.
#[test]
fn ros_wide_string_has_four_bytes_for_each_unit() {
    let bytes = hex("05000000 68000000 e9000000 ac200000 3dd80000 00de0000");
    assert_eq!(body(&RosWString::from("hé€😀"), Encoding::Xcdr1, ByteOrder::Little), bytes);
    let mut d = Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Little);
    assert_eq!(RosWString::decode(&mut d).unwrap().as_str(), "hé€😀");
    assert_eq!(d.remaining(), 0);
    assert_eq!(body(&RosWString::default(), Encoding::Xcdr1, ByteOrder::Big), hex("00000000"));
}

#[test]
fn malformed_ros_wide_strings_are_errors() {
    assert_eq!(error_of(&hex("00000001 0000d83d")), (4, DecodeErrorKind::InvalidUtf16));
    assert_eq!(error_of(&hex("00000002 0000d83d 00000061")), (8, DecodeErrorKind::InvalidUtf16));
    assert_eq!(error_of(&hex("00000001 0000de00")), (4, DecodeErrorKind::InvalidUtf16));
    assert_eq!(error_of(&hex("00000001 00010000")), (4, DecodeErrorKind::InvalidUtf16));
    assert_eq!(error_of(&hex("00000001 00000000")), (4, DecodeErrorKind::InteriorNul));
    assert_eq!(error_of(&hex("ffffffff 00000061")), (4, DecodeErrorKind::LengthBeyondInput { length: u32::MAX }));
    let mut bytes = Vec::new();
    let error = RosWString::from("a\0").encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Big));
    assert_eq!(error, Err(EncodeError::InteriorNul { position: 1 }));
}

#[test]
fn bounded_ros_wide_string_counts_units() {
    let mut bytes = Vec::new();
    let mut encode = |text: &str| {
        Bounded::<RosWString, 2>(text.into()).encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr1, ByteOrder::Big))
    };
    assert_eq!(encode("😀"), Ok(()));
    assert!(encode("a😀").is_err());
    let description = Bounded::<RosWString, 2>::DESCRIPTION;
    assert!(matches!(description.kind(), TypeKind::RosWString { bound: Some(2) }));
}

#[derive(DdsType, Debug, PartialEq, Default, Clone)]
#[dds(crate = "crate")]
struct Spoken {
    before: u8,
    #[dds(bound = 8)]
    text: RosWString,
    all: Vec<RosWString>,
    after: u16,
}

proptest! {
    #[test]
    fn ros_wide_string_survives_a_round_trip(text in "[^\0]{0,8}", other in "[^\0]{0,8}") {
        prop_assume!(text.encode_utf16().count() <= 8);
        let spoken = Spoken {
            before: 1,
            text: text.as_str().into(),
            all: vec![other.as_str().into(), text.as_str().into()],
            after: 2,
        };
        for encoding in ENCODINGS {
            let bytes = body(&spoken, encoding, ByteOrder::Little);
            let mut d = Decoder::new(&bytes, encoding, ByteOrder::Little);
            prop_assert_eq!(&Spoken::decode(&mut d).unwrap(), &spoken);
            prop_assert_eq!(d.remaining(), 0);
        }
    }
}
