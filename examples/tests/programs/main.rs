//! Tests that run the examples and check their output.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod protected;
mod run;
mod running;
mod shapes;
