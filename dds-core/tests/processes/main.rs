//! Several processes and hosts, and features of a process: forks, ends, and thread priorities.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod fork;
mod hosts;
#[cfg(target_os = "linux")]
mod interfaces_down;
#[cfg(all(target_os = "linux", feature = "rt"))]
mod priority_inversion;
#[cfg(all(target_os = "linux", feature = "shm"))]
mod sharing;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod threads;
