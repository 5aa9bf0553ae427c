//! Tests of the commands against participants of this process.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod browser;
mod checking;
mod cyclone;
mod ending;
mod fast_dds;
mod fast_dds_3;
mod hosts;
mod latencies;
mod looking;
mod losing;
mod pairs;
mod picture;
mod problems;
mod program;
mod recording;
mod ros;
mod samples;
mod security;
mod serving;
mod support;
