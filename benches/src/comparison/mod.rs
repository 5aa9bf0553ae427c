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
//!
//! Two variables of the environment change the work of this implementation, Cyclone DDS and Fast DDS, for the bench
//! target `protection`. `BEST_EFFORT` selects best effort. `ENCLAVE` is a folder with an identity and signed documents.

#[cfg(feature = "comparison")]
pub mod command;
#[cfg(any(feature = "comparison", feature = "security"))]
pub mod peers;
pub mod picture;
#[cfg(any(feature = "comparison", feature = "security"))]
mod process;
pub mod record;
#[cfg(any(feature = "comparison", feature = "security"))]
pub mod role;
#[cfg(any(feature = "comparison", feature = "security"))]
pub mod run;
