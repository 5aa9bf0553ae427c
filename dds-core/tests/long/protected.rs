//! A protected sample allocates nothing after warm-up, neither on the side of its writer nor on that of its reader.
//!
//! The tests of `dds-security` count what the transforms of single messages allocate. This one counts the whole path.

#![allow(clippy::disallowed_methods, reason = "the test runs in real time")]

use crate::ALLOCATOR;
use crate::keystore::{Keystore, Kinds};
use crate::support::{PATIENCE, World, alone};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DdsType, DomainParticipant};
use std::time::Instant;

/// After these samples each buffer has its length, and each pool has been used.
const WARM_UP: usize = 1_000;
const WINDOW: usize = 300;
/// Discovery and timers allocate at times. An allocation on the path of a sample occurs in all windows.
const WINDOWS: usize = 10;

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Small {
    number: u64,
    bytes: [u8; 56],
}

/// Returns the bytes that the best window of samples has allocated.
fn fewest_bytes(robot: &DomainParticipant, station: &DomainParticipant) -> usize {
    let writer = robot.writer_builder::<Small>("small").qos(DataWriterQos::default().reliable()).build().unwrap();
    let reader = station.reader_builder::<Small>("small").qos(DataReaderQos::default().reliable()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let (mut samples, mut number) = (Vec::new(), 0);
    let mut pass = || {
        number += 1;
        writer.write(&Small { number, bytes: [7; 56] }).unwrap();
        let start = Instant::now();
        while reader.take_into(&mut samples).unwrap() == 0 {
            assert!(start.elapsed().as_secs() < 60, "sample {number} does not arrive");
            std::thread::yield_now();
        }
        assert_eq!(samples[0].data.as_ref().map(|data| data.number), Some(number));
    };
    (0..WARM_UP).for_each(|_| pass());
    let mut fewest = usize::MAX;
    for _ in 0..WINDOWS {
        let before = ALLOCATOR.total_allocated();
        (0..WINDOW).for_each(|_| pass());
        fewest = fewest.min(ALLOCATOR.total_allocated() - before);
        if fewest == 0 {
            break;
        }
    }
    fewest
}

#[test]
fn protected_sample_after_warm_up_allocates_nothing() {
    // The counter belongs to the process.
    if !alone("protected::protected_sample_after_warm_up_allocates_nothing") {
        return;
    }
    let origin = "ENCRYPT_WITH_ORIGIN_AUTHENTICATION";
    let kinds = [
        Kinds::NONE,
        Kinds { rtps: "SIGN", ..Kinds::NONE },
        Kinds { rtps: "ENCRYPT", ..Kinds::NONE },
        Kinds { metadata: "SIGN", ..Kinds::NONE },
        Kinds { metadata: "ENCRYPT", ..Kinds::NONE },
        Kinds { data: "SIGN", ..Kinds::NONE },
        Kinds { data: "ENCRYPT", ..Kinds::NONE },
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "ENCRYPT" },
        Kinds { rtps: origin, metadata: origin, ..Kinds::NONE },
    ];
    let mut over_budget = Vec::new();
    for kinds in kinds {
        let keystore = Keystore::with(kinds);
        for memory in [0, 64 << 20] {
            let world = World::new();
            let [robot, station] = ["robot", "station"].map(|name| {
                let builder = world.builder().shared_memory(memory).credentials(keystore.credentials(name));
                builder.build().unwrap()
            });
            let bytes = fewest_bytes(&robot, &station);
            if bytes > 0 {
                over_budget.push(format!("{kinds:?}, {memory} bytes of shared memory: {bytes} bytes"));
            }
        }
    }
    // Proof that the counter works.
    let before = ALLOCATOR.total_allocated();
    drop(std::hint::black_box(vec![0_u8; 1000]));
    assert!(ALLOCATOR.total_allocated() >= before + 1000);
    assert!(over_budget.is_empty(), "in the best of {WINDOWS} windows of {WINDOW} samples:\n{over_budget:#?}");
}
