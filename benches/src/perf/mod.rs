//! The program `perf`: how long samples take between two processes, and how many get through.
//!
//! In: a command line. Out: a summary, JSON lines, an HTML file. Owned: nothing between two commands.
//!
//! | file | has |
//! |---|---|
//! | `options`, `qos`, `participant`, `quantity` | the command line |
//! | `load` | the sample that is sent |
//! | `receive` | the ways of receiving it |
//! | `roundtrip`, `throughput` | the side that runs a measurement |
//! | `respond` | the other side, `pong` and `subscribe`: it learns by `control` what to do |
//! | `floor` | the same round trip by raw sockets |
//! | `meter`, `tally`, `intake`, `schedule`, `sending`, `clock`, `usage`, `losses` | measuring itself: pure, or one look at the system |
//! | `record`, `machine` | results and their JSON |
//! | `course` | what happens beside the measurement: intervals, progress |
//! | `pair`, `strace` | both sides on one machine, and their system calls |
//! | `summary`, `report` | results for people |
//!
//! The two sides have an ordinary participant each. Beside the topics that are measured, two topics with text carry what they
//! have to tell each other; during a measurement these are silent but for one message an interval. Whatever is done for each sample takes no lock and
//! allocates nothing, so that the program measures the library and not itself.

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

/// What any part of the program may fail with; `main` prints it.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// What went wrong, and what to do about it.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// As an error.
    #[must_use]
    #[expect(clippy::new_ret_no_self, reason = "nobody needs it unboxed")]
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

/// Does what the command line says.
///
/// # Errors
///
/// What went wrong, and what to do about it.
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
