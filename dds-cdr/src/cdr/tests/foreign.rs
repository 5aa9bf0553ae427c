//! Members of the standard library and of other crates.

use super::*;
use crate::cdr::{DecodeErrorKind, EncodeError, Keyed};
use dds_macros::DdsType;
use std::borrow::Cow;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::time::{Duration, SystemTime};

/// Encodes and decodes a value in each encoding and byte order.
fn round_trips<T: Encode + for<'de> Decode<'de> + PartialEq + Debug>(original: &T) {
    for encoding in ENCODINGS {
        for order in ORDERS {
            assert_eq!(&value::<T>(&body(original, encoding, order), encoding, order), original);
        }
    }
}

fn big_endian<T: Encode>(value: &T) -> Vec<u8> {
    body(value, Encoding::Xcdr2, ByteOrder::Big)
}

fn decoded<T: for<'de> Decode<'de>>(bytes: &[u8]) -> Result<T, DecodeErrorKind> {
    T::decode(&mut Decoder::new(bytes, Encoding::Xcdr2, ByteOrder::Big)).map_err(|error| error.kind())
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable)]
struct Everything {
    #[dds(key)]
    address: IpAddr,
    #[dds(key)]
    number: NonZero<u32>,
    timeout: Duration,
    at: SystemTime,
    v4: Ipv4Addr,
    v6: Option<Ipv6Addr>,
    sockets: Vec<SocketAddr>,
    socket_v4: SocketAddrV4,
    socket_v6: SocketAddrV6,
    byte: NonZero<i8>,
}

fn everything() -> Everything {
    Everything {
        address: Ipv4Addr::new(192, 168, 0, 7).into(),
        number: NonZero::<u32>::MIN,
        timeout: Duration::from_millis(1500),
        at: SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 5),
        v4: Ipv4Addr::LOCALHOST,
        v6: Some(Ipv6Addr::LOCALHOST),
        sockets: vec!["[2001:db8::1]:7400".parse().unwrap(), "10.0.0.1:7410".parse().unwrap()],
        socket_v4: "10.0.0.1:7411".parse().unwrap(),
        socket_v6: "[fe80::1]:7412".parse().unwrap(),
        byte: NonZero::<i8>::MAX,
    }
}

#[test]
fn members_of_std_round_trip() {
    let original = everything();
    round_trips(&original);
    assert_eq!(original.key(), (original.address, original.number));
    let mut payload = Vec::new();
    crate::cdr::encode_payload(&original, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(decode_payload::<Everything>(&payload), Ok(everything()));
}

#[test]
fn duration_and_time_have_the_members_of_the_dds_standard() {
    assert_eq!(big_endian(&Duration::new(2, 3)), hex("00000002 00000003"));
    let before = SystemTime::UNIX_EPOCH - Duration::from_millis(500);
    assert_eq!(big_endian(&before), hex("ffffffff 1dcd6500 /* -1 s + 0.5 s */"));
    round_trips(&before);
    round_trips(&(SystemTime::UNIX_EPOCH - Duration::from_secs(3)));
}

#[test]
fn duration_beyond_32_bits_of_seconds_is_refused() {
    let long = Duration::from_secs(1 << 31);
    let mut bytes = Vec::new();
    let encoded = long.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big));
    assert_eq!(encoded, Err(EncodeError::SecondsBeyond32Bits));
    assert_eq!(decoded::<Duration>(&hex("ffffffff 00000000")), Err(DecodeErrorKind::InvalidValue));
    assert_eq!(decoded::<SystemTime>(&hex("00000000 3b9aca00")), Err(DecodeErrorKind::InvalidValue));
}

#[test]
fn address_has_16_octets_and_keeps_its_version() {
    let v4: IpAddr = Ipv4Addr::new(10, 0, 0, 1).into();
    assert_eq!(big_endian(&v4), hex("00000000 00000000 0000ffff 0a000001"));
    round_trips(&v4);
    round_trips(&IpAddr::V6(Ipv6Addr::LOCALHOST));
    assert_eq!(big_endian(&Ipv4Addr::LOCALHOST), hex("7f000001"));
}

#[test]
fn zero_is_refused_as_non_zero() {
    assert_eq!(decoded::<NonZero<u16>>(&[0, 0]), Err(DecodeErrorKind::InvalidValue));
    assert_eq!(decoded::<NonZero<u16>>(&[1, 0]), Ok(NonZero::new(256).unwrap()));
    assert_eq!(big_endian(&vec![NonZero::<u8>::MAX]), hex("00000001 ff"));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested)]
struct Texts<'a> {
    text: Cow<'a, str>,
    bytes: Cow<'a, [u8]>,
}

#[test]
fn cow_borrows_from_the_sample() {
    let original = Texts { text: Cow::Owned("hello".to_owned()), bytes: Cow::Borrowed(&[1, 2]) };
    let bytes = big_endian(&original);
    let read: Texts<'_> = value(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(read, original);
    assert!(matches!(read, Texts { text: Cow::Borrowed(_), bytes: Cow::Borrowed(_) }));
}

#[cfg(feature = "uuid")]
#[test]
fn uuid_is_16_octets() {
    let id = uuid::Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    assert_eq!(big_endian(&id), hex("00112233 44556677 8899aabb ccddeeff"));
    round_trips(&id);
}

#[cfg(feature = "chrono")]
#[test]
fn chrono_agrees_with_std() {
    let time = chrono::DateTime::from_timestamp(1_700_000_000, 5).unwrap();
    assert_eq!(big_endian(&time), big_endian(&everything().at));
    round_trips(&time);
    for millis in [1500, -1500, -1000, -1, 0] {
        round_trips(&chrono::TimeDelta::milliseconds(millis));
    }
    assert_eq!(big_endian(&chrono::TimeDelta::milliseconds(1500)), big_endian(&everything().timeout));
}

#[cfg(feature = "jiff")]
#[test]
fn jiff_agrees_with_std() {
    let time = jiff::Timestamp::new(1_700_000_000, 5).unwrap();
    assert_eq!(big_endian(&time), big_endian(&everything().at));
    round_trips(&time);
    round_trips(&jiff::Timestamp::from_millisecond(-500).unwrap());
    for millis in [1500, -1500, -1000, -1, 0] {
        round_trips(&jiff::SignedDuration::from_millis(millis));
    }
}

#[cfg(feature = "glam")]
#[test]
fn glam_values_are_structs_of_their_numbers() {
    round_trips(&glam::DVec3::new(1.0, 2.0, 3.0));
    round_trips(&vec![glam::Vec2::new(1.0, 2.0)]);
    round_trips(&glam::Quat::from_xyzw(0.5, 0.5, 0.5, -0.5));
    assert_eq!(big_endian(&glam::Vec3::new(1.0, 0.0, 2.0)), hex("3f800000 00000000 40000000"));
}

#[cfg(feature = "nalgebra")]
#[test]
fn nalgebra_values_are_structs_of_their_numbers() {
    round_trips(&nalgebra::Vector3::new(1.0, 2.0, 3.0));
    round_trips(&nalgebra::Point2::new(1.0_f32, 2.0));
    let quaternion = nalgebra::Quaternion::new(1.0_f32, 0.0, 0.0, 2.0);
    assert_eq!(big_endian(&quaternion), hex("00000000 00000000 40000000 3f800000 /* x y z w */"));
    round_trips(&quaternion);
    assert_eq!(decoded::<nalgebra::UnitQuaternion<f32>>(&[0; 16]), Err(DecodeErrorKind::InvalidValue));
    let half = nalgebra::UnitQuaternion::new_normalize(quaternion);
    round_trips(&half);
}
