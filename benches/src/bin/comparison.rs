//! Compares libraries between two processes: the script `benches/comparison` builds and runs it.

use benches::comparison::command::{Options, main as run};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("comparison: {error}");
            ExitCode::FAILURE
        }
    }
}
