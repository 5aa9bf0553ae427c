//! Where other implementations do not write what XTYPES 1.3 says: what we write, that we do not take theirs for something
//! else without a word, and where it can be read, that it is. Others of this kind stand beside what they are about:
//! wide strings (`wide`), empty strings without their NUL (`hostile`), padding that is not counted (`vectors`), the long
//! header that Cyclone DDS always sends and the id it ends a list with (`vectors`, `mutable`), keys (`keys`); with types of
//! every kind `dds-core/tests/generated/run.rs`.

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

/// Enums as elements, in XCDR2: XTYPES 1.3, 7.4.3.5.3, rule 12, has a DHEADER before elements that are no primitives, and
/// Cyclone DDS writes one. Fast-CDR (`serialize` of enums in `Cdr.h`) writes none: its count is taken for the DHEADER.
#[test]
fn sequences_of_enums_of_fast_dds_are_refused_in_xcdr2() {
    let gears = Gears { gears: vec![Gear::First, Gear::Neutral], last: 5 };
    let ours = "0000000c /* DHEADER */ 00000002 00000007 00000000 00000005";
    assert_eq!(body(&gears, Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    let fast = "00000002 00000007 00000000 00000005";
    assert_eq!(read::<Gears>(Encoding::Xcdr2, fast), Err(DecodeErrorKind::Truncated));
    // In XCDR1 all agree.
    assert_eq!(body(&gears, Encoding::Xcdr1, ByteOrder::Big), hex(fast));
    assert_eq!(read::<Gears>(Encoding::Xcdr1, fast), Ok(gears));
}

/// The same of arrays.
#[test]
fn arrays_of_enums_of_fast_dds_are_refused_in_xcdr2() {
    let gears = [Gear::First, Gear::Neutral];
    assert_eq!(body(&gears, Encoding::Xcdr2, ByteOrder::Big), hex("00000008 /* DHEADER */ 00000007 00000000"));
    let fast = "00000007 00000000";
    let refused = DecodeErrorKind::LengthBeyondInput { length: 7 };
    assert_eq!(read::<[Gear; 2]>(Encoding::Xcdr2, fast), Err(refused));
    assert_eq!(read::<[Gear; 2]>(Encoding::Xcdr1, fast), Ok(gears));
}

/// Maps whose values are primitives and whose keys are not, in XCDR2: Fast-CDR asks about the values only, and leaves the
/// DHEADER out that 7.4.3.5.3, rule 15, has.
#[test]
fn maps_of_strings_to_numbers_of_fast_dds_are_refused_in_xcdr2() {
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

/// The members of a mutable union count from 1, as the discriminator is member 0 (RTI Connext has it so). OpenDDS gives the
/// first member 0 too: then there are two discriminators, of which the first counts, and the member has its default.
#[test]
fn the_first_member_of_mutable_unions_of_opendds_is_not_found() {
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

/// XTYPES 1.3, 7.2.2.4.4.4.8, has key members understood by everybody, so that a header could say so. Cyclone DDS does not
/// set the bit, as RTI Connext cannot read it there; nor do we. Set it is read all the same, in both encodings.
#[test]
fn key_members_do_not_say_that_they_must_be_understood_but_may() {
    let keyed = Keyed { id: 7, value: 8 };
    let ours = "00000010 20000000 00000007 20000001 00000008";
    assert_eq!(body(&keyed, Encoding::Xcdr2, ByteOrder::Big), hex(ours));
    let others = "00000010 a0000000 /* with bit 31 */ 00000007 20000001 00000008";
    assert_eq!(read::<Keyed>(Encoding::Xcdr2, others), Ok(keyed));
    let ours = "0000 0004 00000007 0001 0004 00000008 3f02 0000";
    assert_eq!(body(&Keyed { id: 7, value: 8 }, Encoding::Xcdr1, ByteOrder::Big), hex(ours));
    // With 0x4000, and ended as Cyclone DDS ends it.
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

/// Enums of few bits in XCDR1: as many bytes as they need (XTYPES 1.3, 7.4.3.2.1, and the C library of Cyclone DDS). Its
/// Python writes four.
#[test]
fn enums_of_few_bits_of_cyclones_python_are_misread_in_xcdr1() {
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

/// RTPS 2.5, 10.5, and XTYPES 1.3, 7.4.1.1.1 and 7.4.2: 8 bytes are aligned to 8 in XCDR1 and to 4 in XCDR2, counted from
/// behind the encapsulation header; peers that count it along would be 4 bytes off.
#[test]
fn alignment_counts_from_behind_the_header() {
    let sample = Aligned { a: 1, b: 2 };
    let mut payload = Vec::new();
    crate::cdr::encode_payload(&sample, Encoding::Xcdr1, &mut payload).unwrap();
    assert_eq!(payload.len(), 4 + 16);
    crate::cdr::encode_payload(&sample, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(payload.len(), 4 + 12);
}
