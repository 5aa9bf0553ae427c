//! The shapes program that every DDS vendor ships: publishes or receives moving shapes, and prints what happens in the
//! form that the interoperability suite of the OMG reads.
//!
//! ```text
//! shapes -P -t Square            publishes a blue square 30 times a second
//! shapes -S -t Square            prints the squares that arrive
//! shapes -h                      the options
//! ```

mod options;
mod publisher;
mod shape;
mod subscriber;

use dds_core::DomainParticipant;
use options::{Options, Role};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(answer) => {
            say(&answer.to_string());
            return answer.exit_code();
        }
    };
    let participant = match DomainParticipant::new(options.domain_id) {
        Ok(participant) => participant,
        Err(error) => return fail(2, &error),
    };
    let outcome = match options.role {
        Role::Publisher => publisher::run(&participant, &options),
        Role::Subscriber => subscriber::run(&participant, &options),
    };
    drop(participant);
    match outcome {
        Ok(()) => {
            say("Done.");
            ExitCode::SUCCESS
        }
        Err(error) => fail(3, error.as_ref()),
    }
}

/// Writes one line at once, so that lines of several threads do not mix.
fn say(line: &str) {
    // Whoever reads us may be gone already; there is nobody left to tell.
    let _ = io::stdout().write_all(format!("{line}\n").as_bytes());
}

fn fail(code: u8, error: &dyn std::error::Error) -> ExitCode {
    eprintln!("shapes: {error}");
    ExitCode::from(code)
}
