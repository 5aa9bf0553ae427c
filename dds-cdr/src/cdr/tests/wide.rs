//! `wchar`, `wstring`, `long double`.

use super::*;
use crate::cdr::{Char16, DecodeErrorKind, EncodeError, F128, WString};
use proptest::prelude::*;

fn error_of<'de, T: Decode<'de> + std::fmt::Debug>(body: &'de [u8]) -> (usize, DecodeErrorKind) {
    let error = T::decode(&mut Decoder::new(body, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    (error.offset(), error.kind())
}

/// XTYPES 1.3, 7.4.1.1.2: twice the number of units, the units, and no NUL. Cyclone DDS 11 writes the same.
#[test]
fn wide_string_is_byte_length_and_units() {
    for encoding in ENCODINGS {
        assert_eq!(body(&WString::from("ab"), encoding, ByteOrder::Big), hex("00000004 0061 0062"));
        assert_eq!(body(&WString::from("ab"), encoding, ByteOrder::Little), hex("04000000 6100 6200"));
        // Beyond U+FFFF a character has two units.
        assert_eq!(body(&WString::from("𝄞"), encoding, ByteOrder::Little), hex("04000000 34d8 1edd"));
        assert_eq!(body(&WString::new(), encoding, ByteOrder::Big), hex("00000000"));
    }
}

/// A known difference: Fast DDS 3.6 counts units. Its `"ab"` is cut in half, and the next value is misread.
#[test]
fn fast_dds_wide_string_is_misread() {
    let fast = hex("00000002 0061 0062");
    let mut d = Decoder::new(&fast, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(WString::decode(&mut d).unwrap().as_str(), "a");
    assert_eq!(d.remaining(), 2);
    let odd = hex("00000001 0061");
    assert_eq!(error_of::<WString>(&odd), (4, DecodeErrorKind::InvalidUtf16));
}

#[test]
fn malformed_wide_strings_are_errors() {
    assert_eq!(error_of::<WString>(&hex("00000006 0061 d834 0062")), (6, DecodeErrorKind::InvalidUtf16));
    assert_eq!(error_of::<WString>(&hex("00000004 0061 0000")), (6, DecodeErrorKind::InteriorNul));
    assert_eq!(error_of::<WString>(&hex("00000006 0061 0000")), (4, DecodeErrorKind::LengthBeyondInput { length: 6 }));
    let error = WString::from("a\0").encode(&mut Encoder::new(&mut Vec::new(), Encoding::Xcdr1, ByteOrder::Big));
    assert_eq!(error, Err(EncodeError::InteriorNul { position: 1 }));
}

/// XTYPES 1.3, 7.4.1.1.1, table 31: two bytes, aligned to two.
#[test]
fn wide_char_is_one_unit() {
    assert_eq!(body(&Char16::try_from('é').unwrap(), Encoding::Xcdr2, ByteOrder::Big), hex("00e9"));
    assert_eq!(Char16::try_from('𝄞'), Err(EncodeError::NotAChar16 { character: '𝄞' }));
    assert_eq!(body(&vec![Char16(0x61)], Encoding::Xcdr2, ByteOrder::Big), hex("00000001 0061"));
}

/// XTYPES 1.3, 7.4.1.1.1 and 7.4.2: 16 bytes, aligned to 8 in XCDR1 and to 4 in XCDR2.
#[test]
fn long_double_has_maximum_alignment() {
    #[derive(dds_macros::DdsType, Debug, PartialEq)]
    #[dds(crate = "crate")]
    struct Long {
        a: u8,
        b: F128,
    }
    let long = Long { a: 1, b: F128::from(-2.5) };
    let number = "c0004000000000000000000000000000";
    assert_eq!(body(&long, Encoding::Xcdr1, ByteOrder::Big), hex(&format!("01 00000000000000 {number}")));
    assert_eq!(body(&long, Encoding::Xcdr2, ByteOrder::Big), hex(&format!("01 000000 {number}")));
    let little = hex("01 000000 000000000000000000000000004000c0");
    assert_eq!(value::<Long>(&little, Encoding::Xcdr2, ByteOrder::Little), long);
}

#[test]
fn f64_converts_to_f128_without_loss() {
    let bits = |number: f64| F128::from(number).to_bits();
    assert_eq!(bits(0.0), 0);
    assert_eq!(bits(-0.0), 1 << 127);
    assert_eq!(bits(1.0), 0x3fff << 112);
    assert_eq!(bits(1.5), 0x3fff_8000 << 96);
    assert_eq!(bits(f64::INFINITY), 0x7fff << 112);
    assert_eq!(bits(f64::NAN) >> 111, 0xffff);
    // 2^-1074 is the smallest subnormal number, 2^-1022 the smallest normal one.
    assert_eq!(bits(f64::from_bits(1)), (16383 - 1074) << 112);
    assert_eq!(bits(f64::MIN_POSITIVE), (16383 - 1022) << 112);
    assert_eq!(bits(f64::from_bits(3)), (16383 - 1073) << 112 | 1 << 111);
}

proptest! {
    #[test]
    fn wide_strings_round_trip(text in "[^\\x00]{0,9}", other in "[^\\x00]{0,9}") {
        for encoding in ENCODINGS {
            for order in ORDERS {
                let bytes = body(&WString::from(text.as_str()), encoding, order);
                assert_eq!(bytes.len(), 4 + 2 * WString::from(text.as_str()).len());
                let mut read = WString::from(other.as_str());
                read.decode_into(&mut Decoder::new(&bytes, encoding, order)).unwrap();
                assert_eq!(read.as_str(), text);
            }
        }
    }
}
