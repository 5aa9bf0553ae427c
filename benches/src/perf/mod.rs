//! The program `perf`: latency and throughput of samples between two processes.
//!
//! In: a command line. Out: a summary, JSON lines, an HTML file. Owned: nothing between two commands.
//!
//! | file | content |
//! |---|---|
//! | `options`, `qos`, `participant`, `quantity` | the command line |
//! | `load` | the sample that is sent |
//! | `receive` | the ways of receiving it |
//! | `roundtrip`, `throughput` | the side that runs a measurement |
//! | `respond` | the other side, `pong` and `subscribe` |
//! | `control` | messages between the two sides |
//! | `floor` | the same round trip by raw sockets |
//! | `meter`, `tally`, `intake`, `schedule`, `sending`, `clock`, `usage`, `losses` | the measurement |
//! | `record`, `machine` | results and their JSON |
//! | `course` | intervals and progress |
//! | `pair`, `strace` | both sides on one machine, and their system calls |
//! | `summary`, `report` | results for people |
//!
//! Each side has an ordinary participant. Two topics beside the measured ones carry control messages. During a
//! measurement they carry one message per interval. The handling of a sample takes no lock and allocates nothing, so
//! the program measures the library and not itself.

pub mod clock;
pub mod control;
pub mod course;
pub mod floor;
pub mod intake;
pub mod load;
pub mod losses;
pub mod machine;
pub mod meter;
pub mod options;
pub mod pair;
pub mod participant;
pub mod qos;
pub mod quantity;
pub mod receive;
pub mod record;
pub mod report;
pub mod respond;
pub mod roundtrip;
pub mod schedule;
pub mod sending;
pub mod strace;
pub mod summary;
pub mod tally;
pub mod throughput;
pub mod usage;

use std::error::Error;
use std::fmt;

/// Result of each part of the program. `main` prints the error.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// An error text with advice.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// Creates a boxed error.
    #[must_use]
    #[expect(clippy::new_ret_no_self, reason = "callers only need the boxed error")]
    pub fn new(text: impl Into<String>) -> Box<dyn Error + Send + Sync> {
        Box::new(Self(text.into()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {}

/// Runs the command of the command line.
///
/// # Errors
///
/// Returns an error text with advice.
pub fn main(options: options::Options) -> Result<()> {
    use options::Command;
    match options.command {
        Command::Ping(ping) => roundtrip::run(&ping, &mut |_| Ok(())),
        Command::Pong(responder) => respond::run(record::Pattern::Roundtrip, &responder),
        Command::Publish(publish) => throughput::run(&publish, &mut |_| Ok(())),
        Command::Subscribe(responder) => respond::run(record::Pattern::Throughput, &responder),
        Command::Run { what } => pair::run(what),
        Command::Report(report) => report::run(&report),
    }
}
