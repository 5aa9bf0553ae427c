//! How much memory a world takes, and whether it gives it back.
//!
//! What is in use is counted for the whole process: the worlds that are measured live one after the other in a process of
//! their own.

use super::scenario::Scenario;
use crate::ALLOCATOR;
use std::process::Command;

/// How many worlds are measured. The first is none of them: it fills what is made once.
const WORLDS: u64 = 12;

/// The most that a world may have in use when everything is acknowledged and taken.
const IN_USE_MAX: usize = 32 << 20;

/// The most that may be left of it: what threads have not yet let go of that are just ending.
const LEFT_MAX: usize = 16 << 10;

#[test]
#[ignore = "is started by the other one, alone in its process"]
fn memory_of_consecutive_worlds() {
    for seed in 0..=WORLDS {
        let before = ALLOCATOR.allocated();
        let mut scenario = Scenario::new(seed);
        let complaints = scenario.run();
        assert!(complaints.is_empty(), "{complaints:?}");
        let in_use = ALLOCATOR.allocated().saturating_sub(before);
        drop((scenario, complaints));
        let left = ALLOCATOR.allocated().saturating_sub(before);
        println!("seed {seed}: {in_use} bytes in use at its end, {left} afterwards");
        assert!(in_use < IN_USE_MAX && (seed == 0 || left < LEFT_MAX), "of the world of seed {seed}");
    }
}

#[test]
fn world_memory_is_bounded_and_returned() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "oracle::memory::memory_of_consecutive_worlds", "--ignored", "--nocapture"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
