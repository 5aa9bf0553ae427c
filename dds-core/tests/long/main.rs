//! Tests that take long, or that count memory. The long ones have a short version for `cargo test`, and a stage of
//! `.ci/run` for the full run.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[cfg(feature = "security-pki")]
#[path = "../support/keystore.rs"]
mod keystore;
mod large_data;
mod lossy;
mod million;
#[cfg(feature = "sim")]
mod mutations;
#[cfg(feature = "security-pki")]
mod protected;
#[cfg(target_os = "linux")]
mod rounds;
#[cfg(feature = "sim")]
#[path = "../simulated/mod.rs"]
mod simulated;
#[cfg(target_os = "linux")]
mod soak;
#[path = "../support/mod.rs"]
mod support;

/// Counts the bytes in use, and all that were ever allocated.
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);
