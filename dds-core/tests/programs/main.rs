//! Whole programs against the public API, as applications write them: each exercises what belongs together, and says what
//! must come out.
//!
//! The first program of all, the smallest publisher and subscriber, is in the README and in `examples`.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod asynchronous;
mod borrowed;
mod bridge;
mod configured;
mod doctor;
mod filtered;
mod groups;
mod instances;
mod latched;
mod listening;
mod loaned;
mod node;
#[cfg(feature = "sim")]
mod simulated;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod tree;
#[cfg(feature = "dynamic")]
mod unknown_types;
mod wait_set;

use dds_core::DdsType;

/// Where a robot is: keyed.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

fn pose(robot: u32, x: f64) -> Pose {
    Pose { robot, x }
}

/// A line of a log: keyless.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Log {
    level: u8,
    text: String,
    octets: Vec<u8>,
}

fn log(text: &str) -> Log {
    Log { level: 1, text: text.to_owned(), octets: text.as_bytes().to_vec() }
}
