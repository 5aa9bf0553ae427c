//! Runs: sequences that refer to the received bytes.

use super::*;
use crate::cdr::{
    Bounded, Char16, DecodeErrorKind, F128, Primitive, Run, TypeInfo, encode_payload, instance_of_payload, key_hash_of,
};
use dds_macros::DdsType;
use proptest::prelude::*;
use std::fmt::Debug;

/// Checks that a run reads and writes the bytes of a `Vec`.
///
/// Tests all alignments and pairs of byte orders.
fn is_like_a_vec<T>(values: &[T])
where
    T: Primitive + Encode + for<'de> Decode<'de> + TypeInfo + PartialEq + Debug,
{
    for encoding in ENCODINGS {
        for order in ORDERS {
            for offset in 0..3_usize {
                let write = |values: &dyn Fn(&mut Encoder<'_>)| {
                    let mut bytes = Vec::new();
                    let mut e = Encoder::new(&mut bytes, encoding, order);
                    e.bytes(&vec![0; offset]);
                    values(&mut e);
                    bytes
                };
                let bytes = write(&|e| values.to_vec().encode(e).unwrap());
                let mut d = Decoder::new(&bytes, encoding, order);
                d.bytes(offset).unwrap();
                let run = Run::<T>::decode(&mut d).unwrap();
                assert_eq!((run.len(), d.remaining()), (values.len(), 0));
                assert!(run == *values && run.to_vec() == values && run.iter().eq(values.iter().copied()));
                assert_eq!((run.get(0), run.get(values.len())), (values.first().copied(), None));
                assert_eq!(write(&|e| run.encode(e).unwrap()), bytes);
                for other in ORDERS {
                    assert_eq!(body(&run, encoding, other), body(&values.to_vec(), encoding, other));
                }
            }
        }
    }
    assert!(Run::<T>::DESCRIPTION.is_encoded_like(Vec::<T>::DESCRIPTION));
}

proptest! {
    #[test]
    fn run_of_any_primitive_equals_vec(bits in proptest::collection::vec(any::<u128>(), 0..9)) {
        is_like_a_vec::<bool>(&bits.iter().map(|bits| bits % 2 == 1).collect::<Vec<_>>());
        is_like_a_vec::<u8>(&bits.iter().map(|bits| *bits as u8).collect::<Vec<_>>());
        is_like_a_vec::<i16>(&bits.iter().map(|bits| *bits as i16).collect::<Vec<_>>());
        is_like_a_vec::<Char16>(&bits.iter().map(|bits| Char16(*bits as u16)).collect::<Vec<_>>());
        is_like_a_vec::<i32>(&bits.iter().map(|bits| *bits as i32).collect::<Vec<_>>());
        is_like_a_vec::<u64>(&bits.iter().map(|bits| *bits as u64).collect::<Vec<_>>());
        is_like_a_vec::<f64>(&bits.iter().map(|bits| *bits as f64).collect::<Vec<_>>());
        is_like_a_vec::<F128>(&bits.iter().map(|bits| F128::from_bits(*bits)).collect::<Vec<_>>());
    }
}

/// Decoding a run checks its bools, so later reads cannot fail.
#[test]
fn invalid_bools_are_no_run() {
    let bytes = hex("00000003 01 02 00");
    let decoder = || Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    let error = Run::<bool>::decode(&mut decoder()).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (5, DecodeErrorKind::InvalidBool { value: 2 }));
    assert_eq!(error, Vec::<bool>::decode(&mut decoder()).unwrap_err());
    let bytes = hex("00000003 01 00 01");
    let run: Run<'_, bool> = value(&bytes, Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(run.as_slice(), Some(&[true, false, true][..]));
}

/// Bytes by hand. 16 bytes are aligned to 8 in XCDR1 and to 4 in XCDR2 (XTYPES 1.3, 7.4.1.1.1 and 7.4.2).
///
/// A sequence of primitives has no DHEADER (7.4.3.5.3, rule 12).
#[test]
fn run_is_encoded_like_sequence() {
    let one = hex("00000001 00000000 3fff0000000000000000000000000000");
    let run: Run<'_, F128> = value(&one, Encoding::Xcdr1, ByteOrder::Big);
    assert_eq!(run.to_vec(), [F128::from(1.0)]);
    let one = hex("00000001 3fff0000000000000000000000000000");
    let run: Run<'_, F128> = value(&one, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(run.get(0), Some(F128::from(1.0)));
    let units = hex("02000000 3412 7856");
    let run: Run<'_, Char16> = value(&units, Encoding::Xcdr2, ByteOrder::Little);
    assert_eq!(run.to_vec(), [Char16(0x1234), Char16(0x5678)]);
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", appendable)]
struct Samples {
    #[dds(key)]
    ids: Vec<u32>,
    flags: Vec<bool>,
    #[dds(bound = 4)]
    units: Vec<Char16>,
    #[dds(bound = 2, try_construct = "trim")]
    floats: Vec<F128>,
    rows: Vec<Bounded<Vec<bool>, 2>>,
    maybe: Option<Vec<bool>>,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, view_of = Samples)]
struct SamplesView<'a> {
    #[dds(key)]
    ids: Run<'a, u32>,
    flags: Run<'a, bool>,
    #[dds(bound = 4)]
    units: Run<'a, Char16>,
    #[dds(bound = 2, try_construct = "trim")]
    floats: Run<'a, F128>,
    rows: Vec<Bounded<Run<'a, bool>, 2>>,
    maybe: Option<Run<'a, bool>>,
}

#[test]
fn view_can_have_runs() {
    let samples = Samples {
        ids: vec![1, 2],
        flags: vec![true, false],
        units: vec![Char16(0x20ac)],
        floats: vec![F128::from(1.0), F128::from(-2.0)],
        rows: vec![Bounded(vec![true]), Bounded(vec![])],
        maybe: Some(vec![false]),
    };
    assert!(SamplesView::DESCRIPTION.is_encoded_like(Samples::DESCRIPTION));
    let (mut payload, mut again, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        encode_payload(&samples, encoding, &mut payload).unwrap();
        let view: SamplesView<'_> = decode_payload(&payload).unwrap();
        assert_eq!(view.flags.as_slice(), Some(&samples.flags[..]));
        assert_eq!((view.units.to_vec(), view.floats.to_vec()), (samples.units.clone(), samples.floats.clone()));
        assert_eq!((view.rows[0].to_vec(), view.maybe.unwrap().to_vec()), (vec![true], vec![false]));
        encode_payload(&view, encoding, &mut again).unwrap();
        assert_eq!(again, payload);
        // The same as part of a key.
        let instance = key_hash_of(&samples, Encoding::Xcdr2, &mut scratch).unwrap();
        assert_eq!(key_hash_of(&view, Encoding::Xcdr2, &mut scratch).unwrap(), instance);
        assert_eq!(instance_of_payload(SamplesView::DESCRIPTION, &payload, false, &mut scratch).unwrap(), instance);
        assert_eq!(crate::cdr::Keyed::key(&view), samples.ids);
    }
}

#[test]
fn run_from_slice_is_encoded_and_bounded() {
    let (flags, units, floats) = ([true], [0x20ac], [F128::from(1.0).to_bits(), 7]);
    let view = SamplesView {
        ids: Run::from(&[7][..]),
        flags: Run::from(&flags[..]),
        units: Run::from(&units[..]),
        floats: Run::from(&floats[..]),
        rows: vec![],
        maybe: None,
    };
    for encoding in ENCODINGS {
        for order in ORDERS {
            let read: Samples = value(&body(&view, encoding, order), encoding, order);
            assert_eq!((read.ids, read.flags, read.units), (vec![7], vec![true], vec![Char16(0x20ac)]));
            assert_eq!(read.floats, [F128::from(1.0), F128::from_bits(7)]);
        }
    }
    // Bounds apply to runs in both directions.
    let long = SamplesView { units: Run::from(&[1, 2, 3, 4, 5][..]), ..view };
    assert!(encode_payload(&long, Encoding::Xcdr2, &mut Vec::new()).is_err());
    let floats = vec![F128::default(); 3];
    let bytes = body(&floats, Encoding::Xcdr2, ByteOrder::Big);
    let mut run: Run<'_, F128> = value(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    crate::cdr::Trim::trim(&mut run, 2);
    assert_eq!(run.len(), 2);
    let rows = hex("0000000b 00000001 00000003 010101");
    let error = Vec::<Bounded<Run<'_, bool>, 2>>::decode(&mut Decoder::new(&rows, Encoding::Xcdr2, ByteOrder::Big));
    assert_eq!(error.unwrap_err().kind(), DecodeErrorKind::BoundExceeded { bound: 2, length: 3 });
}
