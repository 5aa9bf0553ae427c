//! One module for each command.

pub mod call;
pub mod check;
pub mod durability;
pub mod echo;
mod elsewhere;
pub(crate) mod endpoint_row;
pub mod info;
pub mod list;
pub mod loss;
pub mod measure;
pub mod perf;
pub mod play;
mod play_clock;
mod play_keys;
pub mod publish;
mod qos_table;
pub mod record;
mod recorded_topic;
pub mod recover;
mod sample_pacer;
pub mod security;
pub mod serve;
pub mod shapes;
pub mod show;
mod stalled;
mod statistics;
mod text;
pub mod top;
pub mod why;

use crate::error::ToolError;
use crate::options::{Command, CommandLine};
use crate::stop::Stop;
use clap::CommandFactory;
use std::io::{BufRead, Write};

/// Runs a command until it is done or `stop` is due.
///
/// # Errors
/// [`ToolError`] with the reason and the next step.
pub fn run(
    command: &Command,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    match command {
        Command::Ls(options) => list::topics(options, output, notes, stop),
        Command::Ps(options) => list::participants(options, output, notes, stop),
        Command::Show(options) => show::run(options, output, stop),
        Command::Why(options) => why::run(options, output, stop),
        Command::Check(options) => check::run(options, output, notes, stop),
        Command::Echo(options) => echo::run(options, output, notes, stop),
        Command::Pub(options) => publish::run(options, input, output, notes, stop),
        Command::Call(options) => call::run(options, output, stop),
        Command::Hz(options) => measure::run(measure::Quantity::Rate, options, output, notes, stop),
        Command::Bw(options) => measure::run(measure::Quantity::Bandwidth, options, output, notes, stop),
        Command::Delay(options) => measure::run(measure::Quantity::Delay, options, output, notes, stop),
        Command::Perf(command) => perf::run(command, output, stop),
        Command::Loss(options) => loss::run(options, output, stop),
        Command::Top(options) => top::run(options, output, stop),
        Command::Record(options) => record::run(options, output, notes, stop),
        Command::Play(options) => play::run(options, output, notes, stop),
        Command::Serve(options) => serve::run(options, output, notes, stop),
        Command::Durability(options) => durability::run(options, output, stop),
        Command::Shapes(options) => shapes::run(options, output, stop),
        Command::Info(options) => info::run(options, output),
        Command::Recover(options) => recover::run(options, output, notes),
        Command::Security(command) => security::run(command, output),
        Command::Completions { shell } => {
            // The generator panics if a write fails.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut CommandLine::command(), "dds", &mut script);
            output.write_all(&script).map_err(ToolError::output)
        }
        Command::Man { command } => write_manual_page(command.as_deref(), output),
    }
}

/// Writes the manual page of the program, or of one command.
fn write_manual_page(command: Option<&str>, mut output: &mut dyn Write) -> Result<(), ToolError> {
    let mut page = CommandLine::command();
    if let Some(name) = command {
        // The commands get their full names and the global options only now.
        page.build();
        page = match page.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return Err(ToolError::value(format!("there is no command {name}; `dds help` lists the commands"))),
        };
    }
    clap_mangen::Man::new(page).render(&mut output).map_err(ToolError::output)
}
