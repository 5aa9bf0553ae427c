//! Memory that a world uses, and memory that stays allocated after it.
//!
//! The allocator counts for the whole process. The measured worlds therefore run one after the other in a process of
//! their own.

use super::scenario::Scenario;
use crate::ALLOCATOR;
use std::process::Command;

/// Number of measured worlds. An unmeasured world before them fills the permanent caches.
const WORLDS: u64 = 12;

/// Most memory that a world may use when all samples are acknowledged and taken.
const IN_USE_MAX: usize = 32 << 20;

/// Most memory that may remain: allocations that ending threads have not freed yet.
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
        println!("seed {seed}: {in_use} bytes in use at its end, {left} afterward");
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
