//! Every kind of discriminator (XTYPES 1.3, 7.2.2.4.4.3). Each union has a case of several labels, one of a single
//! label, and a default case.

use super::round_trip::round_trips;
use super::*;
use crate::cdr::{Char16, DecodeErrorKind, EncodeError, TypeInfo, TypeKind, Union, UnionCase};
use dds_macros::DdsType;

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested, bit_bound = 8)]
enum Small {
    A,
    B,
    C = 100,
    D,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested, bit_bound = 16)]
enum Medium {
    A = -5,
    B,
    C = 1000,
    D,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(crate = "crate", nested, bitmask, bit_bound = 10, flags(A, B = 9))]
struct Rights(u16);

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(crate = "crate", nested, bitmask, flags(A, B = 63))]
struct Wide(u64);

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested)]
enum Large {
    A = i32::MIN as isize,
    B,
    C = i32::MAX as isize,
    D = 0,
}

/// Defines a module with a union of each extensibility, and its test.
macro_rules! discriminators {
    ($($module:ident: $ty:ty, $value:ty, $one:pat => $one_value:expr, $two:pat => $two_value:expr, $three:pat => $three_value:expr,
        $other:expr;)*) => {$(
        mod $module {
            use super::*;

            macro_rules! union_of {
                ($name:ident, $holder:ident, $extensibility:ident) => {
                    #[derive(DdsType, Debug, Clone, PartialEq)]
                    #[dds(crate = "crate", nested, $extensibility, discriminator = $ty)]
                    enum $name {
                        #[dds(case = [$one_value, $two_value])]
                        Several(#[dds(discriminator)] $value, u64),
                        #[dds(case = $three_value)]
                        Single(String),
                        #[dds(default)]
                        Other {
                            #[dds(discriminator)]
                            label: $value,
                            value: u16,
                        },
                    }

                    #[derive(DdsType, Debug, Clone, PartialEq)]
                    #[dds(crate = "crate", $extensibility)]
                    struct $holder {
                        before: u8,
                        union: $name,
                        list: Vec<$name>,
                        maybe: Option<$name>,
                        last: u32,
                    }

                    impl $holder {
                        fn every_case_round_trips() {
                            let values = [
                                $name::Several($one_value, u64::MAX),
                                $name::Several($two_value, 1),
                                $name::Single("s".into()),
                                $name::Other { label: $other, value: 7 },
                            ];
                            for value in &values {
                                let list = values.to_vec();
                                let sample =
                                    Self { before: 1, union: value.clone(), list, maybe: Some(value.clone()), last: 2 };
                                let other = Self { before: 9, list: vec![], maybe: None, last: 9, ..sample.clone() };
                                round_trips(&sample, &other);
                            }
                            assert_eq!(values.map(|value| value.discriminator()), [$one_value, $two_value, $three_value, $other]);
                            // A discriminator that selects another case is an error.
                            let wrong = [$name::Several($other, 1), $name::Other { label: $three_value, value: 1 }];
                            for value in wrong {
                                let mut bytes = Vec::new();
                                let error = value.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big));
                                assert!(matches!(error, Err(EncodeError::OtherCase { .. })));
                            }
                        }
                    }
                };
            }

            union_of!(Final, InFinal, final);
            union_of!(Appendable, InAppendable, appendable);
            union_of!(Mutable, InMutable, mutable);

            #[test]
            fn discriminator_selects_each_case() {
                InAppendable::every_case_round_trips();
                // Miri takes ten seconds for each.
                if !cfg!(miri) {
                    InFinal::every_case_round_trips();
                    InMutable::every_case_round_trips();
                }
            }
        }
    )*};
}

discriminators! {
    int8: i8, i8, -128 => -128, -1 => -1, 127 => 127, 5;
    uint8: u8, u8, 0 => 0, 128 => 128, 255 => 255, 5;
    octet: octet, u8, 0 => 0, 128 => 128, 255 => 255, 5;
    int16: i16, i16, -32768 => -32768, -4 => -4, 32767 => 32767, 5;
    uint16: u16, u16, 0 => 0, 32768 => 32768, 65535 => 65535, 5;
    int32: i32, i32, -2_147_483_648 => -2_147_483_648, -1 => -1, 2_147_483_647 => 2_147_483_647, 5;
    uint32: u32, u32, 0 => 0, 2_147_483_648 => 2_147_483_648, 4_294_967_295 => 4_294_967_295, 5;
    int64: i64, i64, -9_223_372_036_854_775_808 => -9_223_372_036_854_775_808, -1 => -1, 9_223_372_036_854_775_807 => 9_223_372_036_854_775_807, 5;
    uint64: u64, u64, 0 => 0, 9_223_372_036_854_775_808 => 9_223_372_036_854_775_808, 18_446_744_073_709_551_615 => 18_446_744_073_709_551_615, 5;
    char8: char, char, '\0' => '\0', 'a' => 'a', 'ÿ' => 'ÿ', 'z';
    char16: Char16, Char16, Char16(0) => Char16(0), Char16(0x20ac) => Char16(0x20ac), Char16(0xffff) => Char16(0xffff), Char16(0x61);
    enum8: Small, Small, Small::A => Small::A, Small::B => Small::B, Small::C => Small::C, Small::D;
    enum16: Medium, Medium, Medium::A => Medium::A, Medium::B => Medium::B, Medium::C => Medium::C, Medium::D;
    enum32: Large, Large, Large::A => Large::A, Large::B => Large::B, Large::C => Large::C, Large::D;
    bitmask16: bitmask<Rights>, Rights, Rights(0) => Rights(0), Rights::A => Rights::A, Rights::B => Rights::B, Rights(0x201);
    bitmask64: bitmask<Wide>, Wide, Wide(0) => Wide(0), Wide::A => Wide::A, Wide::B => Wide::B, Wide(u64::MAX);
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, discriminator = bool)]
enum ByBool {
    #[dds(case = true)]
    Yes(u16),
    #[dds(default, case = false)]
    No(u8),
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested, discriminator = Char16)]
enum ByWide {
    #[dds(case = [Char16(0x20ac), Char16(0x61)])]
    Number(u32),
    #[dds(case = Char16(0xffff))]
    Nothing,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested, discriminator = Medium)]
enum ByMedium {
    #[dds(case = [Medium::A, Medium::C])]
    Number(u32),
    #[dds(case = Medium::D)]
    Nothing,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested, discriminator = bitmask<Rights>)]
enum ByRights {
    #[dds(case = [Rights::A, Rights::B])]
    Number(u32),
    #[dds(case = Rights(0x201))]
    Nothing,
}

/// Bytes by hand. XTYPES 1.3, 7.4.3.5.3, rule 27: the discriminator as a value of its type, then the aligned member.
#[test]
fn discriminator_is_encoded_like_its_type() {
    for encoding in ENCODINGS {
        let bytes = |value: &dyn Fn(&mut Encoder<'_>)| {
            let mut bytes = Vec::new();
            value(&mut Encoder::new(&mut bytes, encoding, ByteOrder::Big));
            bytes
        };
        // `wchar`, 2 bytes (7.4.1.1.1): the euro sign, two bytes of padding, the number.
        assert_eq!(bytes(&|e| ByWide::Number(1).encode(e).unwrap()), hex("20ac 0000 00000001"));
        assert_eq!(bytes(&|e| ByWide::Nothing.encode(e).unwrap()), hex("ffff"));
        assert_eq!(value::<ByWide>(&hex("0061 0000 00000001"), encoding, ByteOrder::Big), ByWide::Number(1));
        // An enum of 16 bits: 2 bytes, -5 in two's complement.
        assert_eq!(bytes(&|e| ByMedium::Number(1).encode(e).unwrap()), hex("fffb 0000 00000001"));
        // A bitmask of 10 bits: 2 bytes.
        assert_eq!(bytes(&|e| ByRights::Number(1).encode(e).unwrap()), hex("0001 0000 00000001"));
        assert_eq!(bytes(&|e| ByRights::Nothing.encode(e).unwrap()), hex("0201"));
        // `boolean`, 1 byte.
        assert_eq!(bytes(&|e| ByBool::Yes(7).encode(e).unwrap()), hex("01 00 0007"));
        assert_eq!(bytes(&|e| ByBool::No(7).encode(e).unwrap()), hex("00 07"));
    }
    let bytes = hex("0062");
    let error = ByWide::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::UnknownDiscriminator { value: 0x62 });
    round_trips(&ByBool::Yes(7), &ByBool::No(1));
    round_trips(&ByBool::No(7), &ByBool::No(1));
}

#[test]
fn description_has_labels_as_numbers() {
    let TypeKind::Union(description) = ByWide::DESCRIPTION.kind() else { panic!() };
    assert!(matches!(description.discriminator().kind(), TypeKind::Char16));
    let labels: Vec<_> = description.cases().iter().map(UnionCase::labels).collect();
    assert_eq!(labels, [&[0x20ac, 0x61][..], &[0xffff]]);
    let TypeKind::Union(description) = ByRights::DESCRIPTION.kind() else { panic!() };
    assert!(matches!(description.discriminator().kind(), TypeKind::Bitmask(_)));
    let labels: Vec<_> = description.cases().iter().map(UnionCase::labels).collect();
    assert_eq!(labels, [&[1, 0x200][..], &[0x201]]);
}
