//! Compares bytes of types and samples with those of other implementations.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod long_runs;
mod type_objects;
