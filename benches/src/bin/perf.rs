//! Measures this DDS between two processes: `cargo run --release -p benches --features perf --bin perf -- --help`.

use benches::perf::{main as run, options::Options};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("perf: {error}");
            ExitCode::FAILURE
        }
    }
}
