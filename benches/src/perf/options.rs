//! Command line options.

use crate::perf::load::{LOAD_MIN, WriteForm};
use crate::perf::participant::{Place, name_of};
use crate::perf::qos::{HistoryOption, Qos, QosOptions};
use crate::perf::quantity::{Rate, Sizes, Span};
use crate::perf::record::Settings;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Measures this DDS between two processes, on one host or on several.
///
/// Round trips: `pong` on one side, `ping` on the other. One way and throughput: `subscribe` and `publish`. Options of
/// the work (sizes, QoS, rate, duration) belong to `ping` and `publish`, which send them to the other side. `run`
/// starts both sides on this machine, isolated from other DDS programs. It needs no network and no setup.
#[derive(Debug, Parser)]
#[command(
    name = "perf",
    version,
    after_help = "\
Examples:
  perf run roundtrip                                  64 bytes, reliable, as fast as possible, 5 s.
  perf run roundtrip --size 64,64k,1M --floor         beside raw UDP sockets, in turns.
  perf run throughput --size 64..64k*4 --json r.jsonl a sweep; results as JSON lines.
  perf run throughput --rate 10k --best-effort        latency at a fixed rate, counted from when samples were due.
  perf report r.jsonl                                 one HTML file: distributions, courses, comparison.

Across hosts:
  perf pong                    on one host
  perf ping --size 1k          on another one"
)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send samples to `perf pong` and measure how long each takes there and back.
    Ping(Ping),
    /// Send every sample back to `perf ping`.
    Pong(Responder),
    /// Send samples to `perf subscribe` as fast as possible, or at a rate.
    Publish(Publish),
    /// Receive what `perf publish` sends, and measure.
    Subscribe(Responder),
    /// Both sides on this machine, with one command.
    Run {
        /// What to measure.
        #[command(subcommand)]
        what: Run,
    },
    /// Make one HTML file of the results in JSON files.
    Report(Report),
}

/// What to measure between two processes of this machine.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// How long a sample takes there and back.
    Roundtrip {
        /// The work.
        #[command(flatten)]
        ping: Ping,
        /// The other process.
        #[command(flatten)]
        peer: Peer,
    },
    /// How many samples a second arrive, and how old they are then.
    Throughput {
        /// The work.
        #[command(flatten)]
        publish: Publish,
        /// The other process.
        #[command(flatten)]
        peer: Peer,
    },
}

/// What concerns the process that `run` starts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The other process")]
pub struct Peer {
    /// Its cores. Default: those of --cpu
    #[arg(long, value_delimiter = ',', value_name = "CORES")]
    pub peer_cpu: Vec<usize>,

    /// How it receives. Default: as --receive
    #[arg(long, value_name = "HOW")]
    pub peer_receive: Option<crate::perf::receive::ReceiveMode>,

    /// Count the system calls of both processes for each sample, in two short runs under strace
    #[arg(long)]
    pub system_calls: bool,
}

/// The options of `pong` and `subscribe`.
#[derive(Debug, Clone, Args)]
pub struct Responder {
    /// Where.
    #[command(flatten)]
    pub place: Place,

    /// End when standard input ends: for programs that start this one
    #[arg(long, hide = true)]
    pub until_stdin_ends: bool,
}

/// The options of `ping`.
#[derive(Debug, Clone, Args)]
pub struct Ping {
    /// The work.
    #[command(flatten)]
    pub work: Work,
    /// QoS.
    #[command(flatten)]
    pub qos: QosOptions,
    /// Where.
    #[command(flatten)]
    pub place: Place,

    /// Also measure raw UDP sockets with the same payload, in turns of 100 ms with the DDS.
    /// The sockets use blocking send and recv. Not with --rate
    #[arg(long, conflicts_with = "rate", help_heading = "Work")]
    pub floor: bool,

    /// The host of `perf pong`, for --floor across hosts
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1", help_heading = "Work")]
    pub floor_host: String,
}

impl Ping {
    /// KEEP_LAST 1 for one sample at a time. At a rate, several samples may be in flight.
    #[must_use]
    pub fn default_history(&self) -> HistoryOption {
        if self.work.rate.is_some() { HistoryOption::KeepAll } else { HistoryOption::KeepLast(1) }
    }

    /// Time after which a round trip of the raw sockets counts as lost. It has no repair.
    #[must_use]
    pub fn floor_timeout(&self) -> Duration {
        self.work.timeout.map_or(Duration::from_millis(500), |timeout| timeout.0)
    }
}

/// The options of `publish`.
#[derive(Debug, Clone, Args)]
pub struct Publish {
    /// The work.
    #[command(flatten)]
    pub work: Work,

    /// Writers of each topic, each with a thread of its own
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Work")]
    pub writers: u32,

    /// Readers of each topic in each subscribing process
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Work")]
    pub readers: u32,

    /// How many `perf subscribe` to wait for
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Work")]
    pub processes: u32,

    /// QoS.
    #[command(flatten)]
    pub qos: QosOptions,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// Options that `ping` and `publish` share.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Work")]
pub struct Work {
    /// Bytes of a sample, at least 24: `64`, `1k`, a list `64,1k,1M`, a range that doubles `64..1M` or has a factor
    /// `64..1M*4`; k, M and G are powers of 1024
    #[arg(long, short, default_value = "64", value_name = "SIZES")]
    pub size: Sizes,

    /// Samples a second, in all: `100`, `10k`. Latency then counts from the time at which each sample was due, even if
    /// it was sent later. Default: as fast as possible
    #[arg(long, short, value_name = "RATE")]
    pub rate: Option<Rate>,

    /// How to wait for the time at which a sample is due
    #[arg(long, value_enum, default_value_t = Pace::Sleep)]
    pub pace: Pace,

    /// How long to measure each size
    #[arg(long, short, default_value = "5s", value_name = "TIME")]
    pub duration: Span,

    /// How many samples of each size, instead of a duration
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// How long to send before anything is measured
    #[arg(long, default_value = "500ms", value_name = "TIME")]
    pub warm_up: Span,

    /// Length of the intervals
    #[arg(long, default_value = "1s", value_name = "TIME")]
    pub interval: Span,

    /// Topics, each with its own writers and readers
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub topics: u32,

    /// How samples are written
    #[arg(long, value_enum, default_value_t = WriteForm::Value)]
    pub write: WriteForm,

    /// Time after which a round trip counts as lost, and longest wait for the last samples. Default: 500ms for best
    /// effort, 10s for reliable
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Span>,

    /// How long to wait for the other side
    #[arg(long, default_value = "30s", value_name = "TIME")]
    pub wait: Span,

    /// A name for the results. Default: the most important options
    #[arg(long, value_name = "TEXT", help_heading = "Results")]
    pub label: Option<String>,

    /// Append the results to this file, one JSON object in each line
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long, short, help_heading = "Results")]
    pub quiet: bool,
}

impl Work {
    /// Checks that clap cannot do.
    ///
    /// # Errors
    ///
    /// Returns the mistake with advice.
    pub fn check(&self) -> Result<(), String> {
        if let Some(size) = self.size.0.iter().find(|size| **size < LOAD_MIN) {
            return Err(format!(
                "--size: expected at least {LOAD_MIN} bytes (number, time, writer and length), found {size}"
            ));
        }
        if self.interval.0 < Duration::from_millis(10) {
            return Err("--interval: expected at least 10ms".into());
        }
        if self.count.is_none() && self.duration.0.is_zero() {
            return Err("--duration: expected more than 0, or --count".into());
        }
        Ok(())
    }

    /// How long to wait for samples in flight.
    #[must_use]
    pub fn timeout(&self, qos: &Qos) -> Duration {
        let default = if qos.reliable { Duration::from_secs(10) } else { Duration::from_millis(500) };
        self.timeout.map_or(default, |timeout| timeout.0)
    }

    /// The settings in the results; `endpoints` are the writers and readers of each topic.
    #[must_use]
    pub fn settings(&self, place: &Place, size: usize, qos: Qos, endpoints: (u32, u32)) -> Settings {
        Settings {
            size: size as u64,
            qos,
            rate: self.rate.map(|rate| rate.0),
            topics: self.topics,
            writers: endpoints.0,
            readers: endpoints.1,
            write: name_of(self.write),
            scope: place.scope.map_or_else(|| "subnet".to_owned(), name_of),
            ip: name_of(place.ip),
            faults: place.faults.as_ref().map(|faults| faults.text().to_owned()),
        }
    }
}

/// How a sender waits for the time at which a sample is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pace {
    /// Sleeps: the system wakes it some microseconds late, which counts as latency and is reported separately.
    Sleep,
    /// Spins: exact, but it keeps a core busy.
    Spin,
}

/// The options of `report`.
#[derive(Debug, Clone, Args)]
pub struct Report {
    /// Files that were written with --json
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The HTML file to write
    #[arg(long, short, default_value = "perf.html", value_name = "FILE")]
    pub output: PathBuf,

    /// Its title
    #[arg(long, default_value = "DDS performance")]
    pub title: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_definition_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn size_below_minimum_is_rejected() {
        let Command::Ping(ping) = Options::try_parse_from(["perf", "ping", "--size", "8"]).unwrap().command else {
            panic!("it is a ping")
        };
        assert!(ping.work.check().unwrap_err().contains("at least 24 bytes"));
    }

    #[test]
    fn floor_conflicts_with_rate() {
        assert!(Options::try_parse_from(["perf", "run", "roundtrip", "--floor", "--rate", "1k"]).is_err());
    }
}
