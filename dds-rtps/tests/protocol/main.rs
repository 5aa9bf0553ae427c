//! The protocol between its state machines, and the tables in `docs` that name tests.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod bounds;
mod captures;
mod discovery_data;
mod large_samples;
mod long_paths;
#[path = "../support/named_tests.rs"]
mod named_tests;
mod overflows;
mod participant;
mod presentation;
mod reliable_protocol;
mod small_samples;
#[path = "../support/mod.rs"]
mod support;
mod wire_round_trip;
mod writer;
mod writer_reader;
