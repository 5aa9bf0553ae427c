//! The protocol between its state machines, their heap use, and the tables in `docs` that name tests.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod bounds;
mod captured_samples;
mod captures;
mod discovery_data;
mod instance_memory;
mod large_samples;
mod long_paths;
#[path = "../support/named_tests.rs"]
mod named_tests;
mod overflows;
mod participant;
mod presentation;
mod reader_allocations;
mod reliable_protocol;
mod small_samples;
#[path = "../support/mod.rs"]
mod support;
mod wire_round_trip;
mod writer;
mod writer_allocations;
mod writer_reader;
