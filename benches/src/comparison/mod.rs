//! The program `comparison`: the same work between two processes of several libraries.
//!
//! In: a command line. Out: `comparison.json`, and pictures of it. Owned: nothing between two commands.
//!
//! | file | content |
//! |---|---|
//! | `command` | the command line |
//! | `run` | measures all libraries in turns |
//! | `process` | a started process, its lines and its end |
//! | `role` | the four roles of a process, equal for all libraries |
//! | `peers` | the libraries in Rust |
//! | `other` | the libraries in C and C++, as programs with the same roles |
//! | `record` | the results and their JSON |
//! | `picture` | the results as SVG |
//!
//! A process receives by the fastest callback of its library, and writes replies from there. Only RustDDS has no
//! callbacks, so a thread waits on its stream. Each module of a library documents the settings that differ from
//! the defaults.

#[cfg(feature = "comparison")]
pub mod command;
#[cfg(feature = "comparison")]
pub mod peers;
pub mod picture;
#[cfg(feature = "comparison")]
mod process;
pub mod record;
#[cfg(feature = "comparison")]
pub mod role;
#[cfg(feature = "comparison")]
pub mod run;
