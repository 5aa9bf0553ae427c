//! Bitmasks and bitsets.

use super::kinds::*;
use super::*;
use crate::cdr::{BitfieldValue, DecodeErrorKind, EncodeError, TypeInfo, TypeKind};
use proptest::prelude::*;

fn encoded<T: Encode>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    value.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big)).map(|()| bytes)
}

/// XTYPES 1.3, 7.4.1.1: an unsigned number with at least the bits.
#[test]
fn bitmask_size_follows_its_bit_bound() {
    assert_eq!(encoded(&(Rights::READ | Rights::ADMIN)), Ok(hex("81")));
    assert_eq!(encoded(&Twelve::HIGH), Ok(hex("0800")));
    assert_eq!(encoded(&Twenty(0xf_0000)), Ok(hex("000f0000")));
    assert_eq!(encoded(&All::TOP), Ok(hex("8000000000000000")));
    assert!((Rights::READ | Rights::WRITE).contains(&Rights::WRITE));
    assert!(!Rights::READ.contains(&Rights::WRITE));
}

#[test]
fn bits_beyond_bound_are_refused_both_ways() {
    assert_eq!(encoded(&Twelve(0x1000)), Err(EncodeError::TooManyBits { bit_bound: 12 }));
    let error = Twelve::decode(&mut Decoder::new(&hex("10ff"), Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (0, DecodeErrorKind::UnknownBits { bits: 0x1000 }));
    // Bits without a name are within the bound, so they are kept.
    assert_eq!(value::<Twelve>(&hex("0ff0"), Encoding::Xcdr1, ByteOrder::Big), Twelve(0xff0));
}

/// As elements, bitmasks are not primitive: `unions_bitmasks_and_arrays_equal_cyclone` has the bytes of Cyclone DDS.
#[test]
fn description_has_names_of_bits() {
    let TypeKind::Bitmask(mask) = Rights::DESCRIPTION.kind() else { panic!() };
    let flags: Vec<_> = mask.flags().iter().map(|flag| (flag.name(), flag.position())).collect();
    assert_eq!((mask.bit_bound(), flags), (8, vec![("READ", 0), ("WRITE", 1), ("ADMIN", 7)]));
    let TypeKind::Bitset(set) = Packed::DESCRIPTION.kind() else { panic!() };
    let fields: Vec<_> = set.fields().iter().map(|field| (field.name(), field.position(), field.bit_count())).collect();
    assert_eq!(fields, [("low", 0, 3), ("flag", 3, 1), ("signed", 4, 5), ("high", 9, 20)]);
    let values: Vec<_> = set.fields().iter().map(|field| (field.is_signed(), field.width())).collect();
    assert_eq!(values, [(false, 8), (false, 1), (true, 16), (false, 32)]);
    assert_eq!((set.bit_bound(), set.size()), (29, 4));
    assert!(!Rights::DESCRIPTION.is_encoded_like(u8::DESCRIPTION));
}

/// Fields start at the least significant bit, as in the `std::bitset` of Fast DDS.
#[test]
fn bitset_fields_are_adjacent() {
    let packed = Packed { low: 0b101, flag: true, signed: -1, high: 0b11 };
    // 0..11 11111 1 101
    assert_eq!(encoded(&packed), Ok(hex("000007fd")));
    assert_eq!(value::<Packed>(&hex("000007fd"), Encoding::Xcdr2, ByteOrder::Big), packed);
    assert_eq!(encoded(&Packed { low: 8, ..packed }), Err(EncodeError::TooManyBits { bit_bound: 3 }));
    assert_eq!(encoded(&Packed { signed: 16, ..packed }), Err(EncodeError::TooManyBits { bit_bound: 5 }));
    assert!(encoded(&Packed { signed: -16, ..packed }).is_ok());
    let error = Packed::decode(&mut Decoder::new(&hex("20000000"), Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::UnknownBits { bits: 0x2000_0000 });
}

proptest! {
    /// A value fits a bitfield if and only if it survives the conversion.
    #[test]
    fn bitfield_round_trips_if_it_fits(signed in any::<i32>(), unsigned in any::<u64>(), bits in 1_u8..=32) {
        let fits = i64::from(signed) >= -(1 << (bits - 1)) && i64::from(signed) < 1 << (bits - 1);
        assert_eq!(signed.to_bits(bits).is_ok(), fits);
        assert!(signed.to_bits(bits).is_ok_and(|low| i32::from_bits(low, bits) == signed) || !fits);
        assert_eq!(unsigned.to_bits(bits).ok(), (unsigned >> bits == 0).then_some(unsigned));
        assert_eq!(u64::from_bits(unsigned, 64), unsigned);
    }
}
