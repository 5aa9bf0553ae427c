//! The command line of `comparison`.

use super::peers::Library;
use super::role::Role;
use super::{picture, record, run};
use crate::perf::{Failure, Result};
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Compares libraries between two processes.
#[derive(Debug, Parser)]
#[command(name = "comparison")]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures all libraries in turns
    Run(run::Run),
    /// Draws the pictures of a file of results
    Draw {
        /// The file
        results: PathBuf,
        /// Receives `comparison-light.svg` and `comparison-dark.svg`
        directory: PathBuf,
    },
    /// One process of a library; `run` starts it
    Peer {
        /// The library
        #[arg(value_enum)]
        library: Library,
        /// The role
        #[command(flatten)]
        role: Role,
    },
}

/// Runs the command of the command line.
///
/// # Errors
///
/// Returns an error text with advice.
pub fn main(options: Options) -> Result<()> {
    match options.command {
        Command::Run(options) => run::run(&options),
        Command::Draw { results, directory } => {
            let comparison = record::read(&results)?;
            for theme in picture::THEMES {
                let file = directory.join(format!("comparison-{}.svg", theme.name));
                std::fs::write(&file, picture::svg(&comparison, &theme))
                    .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
            }
            Ok(())
        }
        Command::Peer { library, role } => role.run(library),
    }
}
