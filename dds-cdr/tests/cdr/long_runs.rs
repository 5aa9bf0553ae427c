//! Payloads whose long runs go to memory of their own have the same bytes as others.

use dds_cdr::cdr::{Encode, Encoding, LongRuns, TypeInfo, decode_payload, encode_payload, encode_payload_beside};
use dds_macros::DdsType;
use proptest::prelude::*;

/// Memory that cannot grow.
#[derive(Debug)]
struct Fixed {
    bytes: Vec<u8>,
    room: usize,
}

impl LongRuns for Fixed {
    fn append(&mut self, before: &[u8], run: &[u8]) -> bool {
        let fits = self.bytes.len() + before.len() + run.len() <= self.room;
        if fits {
            self.bytes.extend_from_slice(before);
            self.bytes.extend_from_slice(run);
        }
        fits
    }

    fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", final)]
struct Plain {
    id: u8,
    pixels: Vec<u8>,
    time: u64,
    points: Vec<f64>,
    name: String,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", appendable)]
struct Appendable {
    before: u16,
    inner: Vec<Plain>,
    after: Option<u64>,
    maybe: Option<Vec<u8>>,
    last: u8,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", mutable)]
struct Mutable {
    first: u8,
    values: Vec<u32>,
    nested: Appendable,
    last: u16,
}

fn plain(lens: [usize; 3], seed: u8) -> Plain {
    Plain {
        id: seed,
        pixels: (0..lens[0]).map(|at| at as u8 ^ seed).collect(),
        time: 0x0102_0304_0506_0708,
        points: (0..lens[1]).map(|at| at as f64).collect(),
        name: "n".repeat(lens[2]),
    }
}

fn appendable(lens: [usize; 3], seed: u8) -> Appendable {
    Appendable {
        before: 7,
        inner: vec![plain(lens, seed), plain([lens[2], lens[1], lens[0]], 1)],
        after: Some(9),
        maybe: Some(vec![seed; lens[0]]),
        last: 3,
    }
}

/// Compares both ways, with room for `room` bytes. Returns the bytes that went to the fixed memory.
fn compare<T: Encode + TypeInfo>(sample: &T, encoding: Encoding, room: usize) -> usize {
    let (mut expected, mut buffer) = (Vec::new(), vec![9; 5]);
    encode_payload(sample, encoding, &mut expected).unwrap();
    let mut fixed = Fixed { bytes: Vec::new(), room };
    encode_payload_beside(sample, encoding, &mut buffer, &mut fixed).unwrap();
    let moved = fixed.bytes.len();
    fixed.bytes.extend_from_slice(&buffer);
    assert!(fixed.bytes == expected, "{encoding:?}, {moved} of {} bytes moved", expected.len());
    moved
}

#[test]
fn long_runs_move_with_the_bytes_before_them() {
    let image = plain([100_001, 0, 3], 5);
    // Header, id, padding, length, pixels.
    assert_eq!(compare(&image, Encoding::Xcdr1, usize::MAX), 4 + 4 + 4 + 100_001);
    assert_eq!(compare(&image, Encoding::Xcdr1, 100_000), 0, "it does not fit");
    assert_eq!(compare(&plain([100, 200, 5], 1), Encoding::Xcdr1, usize::MAX), 0, "no run is long");
    let mut payload = Vec::new();
    encode_payload(&image, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(decode_payload::<Plain>(&payload).unwrap(), image);
}

#[test]
fn long_value_in_a_parameter_stays_in_the_buffer() {
    // XCDR1 may extend the header in front of it.
    let sample = Mutable { first: 1, values: vec![7; 50_000], nested: appendable([0, 0, 0], 1), last: 2 };
    assert_eq!(compare(&sample, Encoding::Xcdr1, usize::MAX), 0);
    assert!(compare(&sample, Encoding::Xcdr2, usize::MAX) > 200_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 64 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn payloads_are_the_same_for_any_lengths_and_room(
        lens in [0_usize..80_000, 0_usize..12_000, 0_usize..70_000],
        seed in any::<u8>(),
        room in prop_oneof![Just(usize::MAX), 0_usize..400_000],
    ) {
        for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
            compare(&plain(lens, seed), encoding, room);
            compare(&appendable(lens, seed), encoding, room);
            let mutable = Mutable { first: seed, values: vec![5; lens[1]], nested: appendable(lens, seed), last: 9 };
            compare(&mutable, encoding, room);
        }
    }
}
