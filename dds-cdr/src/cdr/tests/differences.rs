//! Deviations of other implementations from XTYPES 1.3.
//!
//! Each test shows our bytes, and that foreign bytes are read correctly or refused, but not silently misread. Other
//! deviations are tested in `wide` (wide strings), `hostile` (empty strings without a NUL), `keys` (keys) and `vectors`
//! (uncounted padding). The long header and the list end of Cyclone DDS are tested in `vectors` and `mutable`.
//! `dds-core/tests/generated/run.rs` tests types of every kind.

use super::types::Gear;
use super::*;
use crate::cdr::DecodeErrorKind;
use dds_macros::DdsType;
use std::collections::BTreeMap;

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Gears {
    gears: Vec<Gear>,
    last: u32,
}

fn read<T: for<'de> Decode<'de>>(encoding: Encoding, bytes: &str) -> Result<T, DecodeErrorKind> {
    let bytes = hex(bytes);
    T::decode(&mut Decoder::new(&bytes, encoding, ByteOrder::Big)).map_err(|error| error.kind())
}

/// XTYPES 1.3, 7.4.3.5.3, rule 12: enum elements have a DHEADER in XCDR2.
///
/// Cyclone DDS writes it. Fast-CDR (`serialize` of enums in `Cdr.h`) omits it, so its count is taken for the DHEADER.
#[test]
fn fast_dds_enum_sequence_is_refused_in_xcdr2() {
    let gears = Gears { gears: vec![Gear::First, Gear::Neutral], last: 5 };
    let ours = "0000000c /* DHEADER */ 00000002 00000007 00000000 00000005";
    assert_eq!(body(&gears, Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    let fast = "00000002 00000007 00000000 00000005";
    assert_eq!(read::<Gears>(Encoding::Xcdr2, fast), Err(DecodeErrorKind::Truncated));
    // In XCDR1 all implementations agree.
    assert_eq!(body(&gears, Encoding::Xcdr1, ByteOrder::Big), hex(fast));
    assert_eq!(read::<Gears>(Encoding::Xcdr1, fast), Ok(gears));
}

/// The same for arrays.
#[test]
fn fast_dds_enum_array_is_refused_in_xcdr2() {
    let gears = [Gear::First, Gear::Neutral];
    assert_eq!(body(&gears, Encoding::Xcdr2, ByteOrder::Big), hex("00000008 /* DHEADER */ 00000007 00000000"));
    let fast = "00000007 00000000";
    let refused = DecodeErrorKind::LengthBeyondInput { length: 7 };
    assert_eq!(read::<[Gear; 2]>(Encoding::Xcdr2, fast), Err(refused));
    assert_eq!(read::<[Gear; 2]>(Encoding::Xcdr1, fast), Ok(gears));
}

/// XTYPES 1.3, 7.4.3.5.3, rule 15: maps from strings to primitives have a DHEADER in XCDR2.
///
/// Fast-CDR omits it, because it only considers the type of the values.
#[test]
fn fast_dds_string_map_is_refused_in_xcdr2() {
    type Map = BTreeMap<String, u32>;
    let map = Map::from([("a".into(), 7)]);
    let ours = "00000010 /* DHEADER */ 00000001 00000002 6100 0000 00000007";
    assert_eq!(body(&map, Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    let fast = "00000001 00000002 6100 0000 00000007";
    assert_eq!(read::<Map>(Encoding::Xcdr2, fast), Err(DecodeErrorKind::Truncated));
    assert_eq!(read::<Map>(Encoding::Xcdr1, fast), Ok(map));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", nested, mutable)]
enum Choice {
    #[dds(case = 1)]
    Number(u32),
}

/// Member ids of a mutable union start at 1, because the discriminator has id 0.
///
/// RTI Connext does the same. OpenDDS also gives id 0 to the first member. Then the first of two discriminators counts,
/// and the member has its default.
#[test]
fn opendds_first_mutable_union_member_is_lost() {
    let ours = "00000010 20000000 /* id 0, LC 2 */ 00000001 20000001 /* id 1 */ 00000007";
    assert_eq!(body(&Choice::Number(7), Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    assert_eq!(read::<Choice>(Encoding::Xcdr2, ours), Ok(Choice::Number(7)));
    let open_dds = "00000010 20000000 00000001 20000000 00000007";
    assert_eq!(read::<Choice>(Encoding::Xcdr2, open_dds), Ok(Choice::Number(0)));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", mutable)]
struct Keyed {
    #[dds(key)]
    id: u32,
    value: u32,
}

/// XTYPES 1.3, 7.2.2.4.4.4.8: key members are must-understand, so a header could have the flag.
///
/// Cyclone DDS does not set it, because RTI Connext cannot read it there; this crate does not set it either. Both
/// encodings accept it.
#[test]
fn must_understand_key_member_is_read_not_sent() {
    let keyed = Keyed { id: 7, value: 8 };
    let ours = "00000010 20000000 00000007 20000001 00000008";
    assert_eq!(body(&keyed, Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    let others = "00000010 a0000000 /* with bit 31 */ 00000007 20000001 00000008";
    assert_eq!(read::<Keyed>(Encoding::Xcdr2, others), Ok(keyed));
    let ours = "0000 0004 00000007 0001 0004 00000008 3f02 0000";
    assert_eq!(body(&Keyed { id: 7, value: 8 }, Encoding::Xcdr1, ByteOrder::Big), hex(ours));
    // With the flag 0x4000, and the end marker of Cyclone DDS.
    let others = "4000 0004 00000007 0001 0004 00000008 7f02 0000";
    assert_eq!(read::<Keyed>(Encoding::Xcdr1, others), Ok(Keyed { id: 7, value: 8 }));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Modes {
    mode: Mode,
    last: u8,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested, bit_bound = 8)]
enum Mode {
    Off,
    On,
}

/// XTYPES 1.3, 7.4.3.2.1: small enums have the fewest bytes in XCDR1 too.
///
/// The C library of Cyclone DDS does the same, but its Python package writes four bytes.
#[test]
fn cyclone_python_small_enum_is_misread_in_xcdr1() {
    let modes = Modes { mode: Mode::On, last: 5 };
    assert_eq!(body(&modes, Encoding::Xcdr1, ByteOrder::Big), hex("01 05"));
    assert_eq!(body(&modes, Encoding::Xcdr2, ByteOrder::Big), hex("01 05"));
    assert_eq!(read::<Modes>(Encoding::Xcdr1, "00000001 05"), Ok(Modes { mode: Mode::Off, last: 0 }));
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
struct Aligned {
    a: u8,
    b: u64,
}

/// RTPS 2.5, 10.5, and XTYPES 1.3, 7.4.1.1.1 and 7.4.2: numbers of 8 bytes are aligned to 8 in XCDR1 and to 4 in XCDR2.
///
/// Alignment starts behind the encapsulation header. A peer that includes the header is 4 bytes off.
#[test]
fn alignment_starts_behind_the_header() {
    let sample = Aligned { a: 1, b: 2 };
    let mut payload = Vec::new();
    crate::cdr::encode_payload(&sample, Encoding::Xcdr1, &mut payload).unwrap();
    assert_eq!(payload.len(), 4 + 16);
    crate::cdr::encode_payload(&sample, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(payload.len(), 4 + 12);
}
