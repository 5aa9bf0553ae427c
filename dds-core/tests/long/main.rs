//! Tests that take long. Each has a short version for `cargo test`, and a stage of `.ci/run` for the full run.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod large_data;
mod lossy;
mod million;
#[cfg(feature = "sim")]
mod mutations;
#[cfg(target_os = "linux")]
mod rounds;
#[cfg(feature = "sim")]
#[path = "../simulated/mod.rs"]
mod simulated;
#[cfg(target_os = "linux")]
mod soak;
#[path = "../support/mod.rs"]
mod support;

/// Counts the bytes in use.
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);
