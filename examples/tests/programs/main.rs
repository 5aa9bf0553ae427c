//! The examples run, and do what they say.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod run;
mod running;
mod shapes;
