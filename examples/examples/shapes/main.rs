//! The shapes program that every DDS vendor ships: publishes or receives moving shapes, and prints what happens in the
//! form that the interoperability suite of the OMG reads.
//!
//! ```text
//! shapes -P -t Square            publishes a blue square 30 times a second
//! shapes -S -t Square            prints the squares that arrive
//! shapes -h                      the options
//! ```
//!
//! It has no options for USER_DATA, TOPIC_DATA, GROUP_DATA, LATENCY_BUDGET, TRANSPORT_PRIORITY, LIVELINESS, DESTINATION_ORDER,
//! RESOURCE_LIMITS, DURABILITY_SERVICE, ENTITY_FACTORY, READER_DATA_LIFECYCLE and TYPE_CONSISTENCY_ENFORCEMENT, since the suite has
//! none: these are as the standard's defaults have them. WRITER_DATA_LIFECYCLE follows `--final-instance-state`.
//!
//! It ends with 0 after its rounds, with 1 if its arguments are wrong, with 2 if it cannot begin and with 3 if it cannot go on. Each line is
//! written at once, by whichever thread.

mod options;
mod publisher;
mod shape;
mod statuses;
mod subscriber;

use clap::Parser;
use clap::error::ErrorKind;
use dds_core::qos::TopicQos;
use dds_core::{CreateError, DomainParticipant, FilterError};
use options::Options;
use shape::Shape;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

const WRONG_ARGUMENTS: u8 = 1;
const CANNOT_BEGIN: u8 = 2;
const CANNOT_GO_ON: u8 = 3;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(answer) => {
            // Whoever reads us may be gone already; there is nobody left to tell.
            let _ = answer.print();
            let asked_for = answer.kind() == ErrorKind::DisplayHelp;
            return if asked_for { ExitCode::SUCCESS } else { ExitCode::from(WRONG_ARGUMENTS) };
        }
    };
    options.warnings().iter().for_each(|warning| say(warning));
    match run(&options) {
        Ok(()) => {
            say("Done.");
            ExitCode::SUCCESS
        }
        Err(error) => fail(error.as_ref()),
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut builder = DomainParticipant::builder(options.domain_id);
    if let Some(period) = options.announcement_period() {
        builder = builder.announcement_period(period);
    }
    if let Some(size) = options.datafrag_size {
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
    run(&participant, &topics, options)
}

/// Writes one line at once, so that lines of several threads do not mix.
fn say(line: &str) {
    // As above.
    let _ = io::stdout().write_all(format!("{line}\n").as_bytes());
}

fn fail(error: &(dyn Error + 'static)) -> ExitCode {
    eprintln!("shapes: {error}");
    let cannot_begin = error.is::<CreateError>() || error.is::<FilterError>();
    ExitCode::from(if cannot_begin { CANNOT_BEGIN } else { CANNOT_GO_ON })
}
