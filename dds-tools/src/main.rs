//! The program `dds`.

#![allow(clippy::print_stderr, reason = "the program reports its errors there")]

use clap::Parser;
use dds_tools::options::CommandLine;
use dds_tools::{Stop, ToolError, commands};
use std::io::{BufWriter, Write, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    let stop = Stop::new();
    let handler = {
        let stop = stop.clone();
        // A command that blocks in a read of the input does not see the first request.
        ctrlc::set_handler(move || {
            if stop.is_requested() {
                Stop::force();
            }
            stop.request();
        })
    };
    if let Err(error) = handler {
        eprintln!("dds: Ctrl-C cannot be handled: {error}");
        return ExitCode::FAILURE;
    }
    let mut output = BufWriter::new(stdout().lock());
    let result = commands::run(&arguments.command, &mut stdin().lock(), &mut output, &mut stderr().lock(), &stop)
        .and_then(|()| output.flush().map_err(ToolError::output));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The program that reads the output has ended, for example `head`.
        Err(error) if error.is_closed_output() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dds: {error}");
            ExitCode::FAILURE
        }
    }
}
