//! Bytes of types and samples: equal to those of other implementations, and written without allocations.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod allocations;
mod long_runs;
mod type_objects;
