//! The shapes demo that every DDS vendor ships: publishes or receives moving shapes.
//!
//! It prints events in the format that the interoperability suite of the OMG parses.
//!
//! ```text
//! shapes -P -t Square            publishes a blue square 30 times a second
//! shapes -S -t Square            prints the squares that arrive
//! shapes -h                      prints the options
//! ```
//!
//! The suite has no options for USER_DATA, TOPIC_DATA, GROUP_DATA, LATENCY_BUDGET, TRANSPORT_PRIORITY, LIVELINESS,
//! DESTINATION_ORDER, RESOURCE_LIMITS, DURABILITY_SERVICE, ENTITY_FACTORY, READER_DATA_LIFECYCLE and
//! TYPE_CONSISTENCY_ENFORCEMENT. These policies have the defaults of the standard. WRITER_DATA_LIFECYCLE follows
//! `--final-instance-state`.
//!
//! SIGINT ends the program after the present round.
//!
//! Exit status: 0 after the last round or SIGINT, 1 for wrong arguments, 2 if the program cannot start, 3 if it cannot
//! continue.

mod interrupt;
mod options;
mod publisher;
mod shape;
mod statuses;
mod subscriber;

use clap::Parser;
use clap::error::ErrorKind;
use dds_core::DomainParticipant;
use dds_core::error::CreateError;
use dds_core::qos::TopicQos;
use interrupt::Interrupt;
use options::Options;
use shape::Shape;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

const WRONG_ARGUMENTS: u8 = 1;
const CANNOT_START: u8 = 2;
const CANNOT_CONTINUE: u8 = 3;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(answer) => {
            // If standard output is closed, the message has no reader.
            let _ = answer.print();
            let is_help = answer.kind() == ErrorKind::DisplayHelp;
            return if is_help { ExitCode::SUCCESS } else { ExitCode::from(WRONG_ARGUMENTS) };
        }
    };
    for warning in options.warnings() {
        say(&warning);
    }
    match run(&options) {
        Ok(()) => {
            say("Done.");
            ExitCode::SUCCESS
        }
        Err(error) => fail(error.as_ref()),
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let interrupt = Interrupt::catch()?;
    let mut builder = DomainParticipant::builder(options.domain_id);
    if let Some(period) = options.announcement_period() {
        builder = builder.announcement_period(period);
    }
    if let Some(size) = options.fragment_size() {
        builder = builder.fragment_size(size);
    }
    let participant = builder.build()?;
    participant.set_listener(statuses::shown(), statuses::Statuses)?;
    let mut topics = Vec::new();
    for topic in options.topic_names() {
        say(&format!("Create topic: {topic}"));
        topics.push(participant.topic::<Shape>(&topic, TopicQos::default())?);
    }
    let run = if options.publish { publisher::run } else { subscriber::run };
    run(&participant, &topics, options, &interrupt)
}

/// Writes a line in one call, so that lines of several threads do not mix.
fn say(line: &str) {
    // If standard output is closed, the line has no reader.
    let _ = io::stdout().write_all(format!("{line}\n").as_bytes());
}

fn fail(error: &(dyn Error + 'static)) -> ExitCode {
    eprintln!("shapes: {error}");
    let cannot_start = error.is::<CreateError>();
    ExitCode::from(if cannot_start { CANNOT_START } else { CANNOT_CONTINUE })
}
