//! Results in the JSON files of `--json` and `report`: one object in each line, version [`VERSION`].
//!
//! Each line has `format` ("dds-perf"), `version`, and `kind`: an `interval` or a `result`. New fields do not need a
//! new version; readers ignore unknown fields. `benches/PERF.md` describes each field.

use crate::perf::losses::Reasons;
use crate::perf::machine::Environment;
use crate::perf::meter::{Snapshot, empty_histogram};
use crate::perf::qos::Qos;
use crate::perf::usage::Usage;
use crate::perf::{Failure, Result};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Value of `format` in each line.
pub const FORMAT: &str = "dds-perf";
/// Version of the fields and their meaning.
pub const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The record.
    #[serde(flatten)]
    pub record: Record,
}

/// The record of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// An interval of a measurement.
    Interval(Box<Interval>),
    /// The result of a measurement.
    Result(Box<Outcome>),
}

/// The path of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// There and back.
    Roundtrip,
    /// One way.
    Throughput,
}

/// An interval of a measurement in a receiving process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The [`Outcome::run`] that it belongs to.
    pub run: String,
    /// The [`Outcome::case`] in it.
    pub case: u32,
    /// Which process.
    pub process: u64,
    /// Its end, in seconds from the start of the measurement.
    pub at: f64,
    /// How long it was.
    pub seconds: f64,
    /// Samples, or round trips.
    pub samples: u64,
    /// … a second.
    pub samples_per_second: f64,
    /// Their payload, in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// Without the distribution.
    pub latency: Option<Latency>,
    /// Of the process.
    pub usage: Usage,
}

/// The result of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the command's run: its time in microseconds since 1970 and its process, in hexadecimal.
    pub run: String,
    /// Counts the sizes of a command, from 0.
    pub case: u32,
    /// For people.
    pub label: String,
    /// Which way.
    pub pattern: Pattern,
    /// Where, when, with what.
    pub environment: Environment,
    /// How.
    pub settings: Settings,
    /// From the first measured sample to the last one, where they were received.
    pub seconds: f64,
    /// Samples that were written (round trips: that were begun), times the readers that should get them.
    pub expected: u64,
    /// Samples among them that were received. A repeated sample counts once.
    pub received: u64,
    /// Expected samples that were not received: lost by best effort or replaced by KEEP_LAST before they were sent.
    pub lost: u64,
    /// Of the received: overtaken by newer ones.
    pub out_of_order: u64,
    /// Not of the received: there already.
    pub duplicates: u64,
    /// Not written, or not sent back, because a `write` failed.
    pub write_failed: u64,
    /// Received a second.
    pub samples_per_second: f64,
    /// Their payload, in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// Kind of the latencies: `roundtrip`, `one_way` or `one_way_two_clocks`.
    ///
    /// The last has the error of the synchronization between the two hosts.
    pub latency_of: LatencyKind,
    /// Latencies from the time at which each sample was due.
    pub latency: Latency,
    /// Samples with a negative latency, because clocks are not synchronized. Their latency counts as 0.
    pub before_sent: u64,
    /// Of raw UDP sockets, in turns with the DDS.
    pub floor: Option<Latency>,
    /// By how much a sender with a rate began later than the sample was due.
    pub send_delay: Option<Latency>,
    /// From the start of the participant until the other side's was found and its topics matched, in milliseconds.
    pub discovery_ms: f64,
    /// The first one is the process that ran the command.
    pub processes: Vec<ProcessShare>,
    /// For each process, with `--system-calls`.
    pub system_calls: Vec<SystemCalls>,
}

/// Kind of the latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// Round trips, by one clock.
    Roundtrip,
    /// One way, by the monotonic clock of one host.
    OneWay,
    /// One way, by the clocks of two hosts.
    OneWayTwoClocks,
}

/// How it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Bytes of a sample.
    pub size: u64,
    /// Of the topics.
    pub qos: Qos,
    /// Samples a second that were asked for; none: as fast as possible.
    pub rate: Option<f64>,
    /// Topics.
    pub topics: u32,
    /// Writers of each topic.
    pub writers: u32,
    /// Readers of each topic, in all processes.
    pub readers: u32,
    /// How the writers wrote.
    pub write: String,
    /// The scope of the participant.
    pub scope: String,
    /// The versions of IP.
    pub ip: String,
    /// The faults of the process that ran the command.
    pub faults: Option<String>,
}

/// Latencies in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// How many.
    pub samples: u64,
    /// The least.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The median.
    pub p50: u64,
    /// 90 % are no longer.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// 99.99 %.
    pub p99_99: u64,
    /// The longest.
    pub max: u64,
    /// All of them with three digits: value and count, by value. Empty in intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<(u64, u64)>,
}

impl Latency {
    /// With the distribution.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let recorded = histogram.iter_recorded();
        let distribution = recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        Self { distribution, ..Self::brief(histogram) }
    }

    /// Without it.
    #[must_use]
    pub fn brief(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| histogram.value_at_quantile(quantile);
        Self {
            samples: histogram.len(),
            min: histogram.min(),
            mean: histogram.mean(),
            deviation: histogram.stdev(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: histogram.max(),
            distribution: Vec::new(),
        }
    }

    /// The distribution again.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = empty_histogram();
        for (value, count) in &self.distribution {
            histogram.saturating_record_n(*value, *count);
        }
        histogram
    }
}

/// The part of one process in a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// `ping`, `pong`, `publish` or `subscribe`.
    pub role: String,
    /// The host's name.
    pub host: String,
    /// Its number there.
    pub pid: u32,
    /// How it receives.
    pub receive: String,
    /// The cores that it may use; empty: all.
    pub cores: Vec<usize>,
    /// `None` if other work is included, as with `--floor`.
    pub usage: Option<Usage>,
    /// Received samples, if the process measures.
    pub received: Option<Received>,
    /// Number of failed writes.
    pub write_failed: u64,
    /// Causes of losses and repairs.
    #[serde(default)]
    pub reasons: Reasons,
}

/// Samples that one process received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// For the first time.
    pub samples: u64,
    /// Their payload.
    pub bytes: u64,
    /// Of them: overtaken by newer ones.
    pub out_of_order: u64,
    /// Not of them: there already.
    pub duplicates: u64,
    /// Of them: with a latency below zero.
    pub before_sent: u64,
    /// From the first to the last.
    pub seconds: f64,
    /// Of all.
    pub latency: Latency,
}

impl Received {
    /// As a snapshot has it.
    #[must_use]
    pub fn of(between: &Snapshot) -> Self {
        Self {
            samples: between.samples,
            bytes: between.bytes,
            out_of_order: between.late,
            duplicates: between.repeated,
            before_sent: between.before_sent,
            seconds: between.nanoseconds() as f64 / 1e9,
            latency: Latency::of(&between.histogram()),
        }
    }
}

/// System calls of one process for each sample, over the measured part alone: the difference of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemCalls {
    /// Of which process.
    pub role: String,
    /// In all.
    pub per_sample: f64,
    /// By name.
    pub by_name: BTreeMap<String, f64>,
}

/// Appends lines to a file, if there is one.
#[derive(Debug, Default)]
pub struct Journal {
    file: Option<(PathBuf, File)>,
}

impl Journal {
    /// Opens or creates the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the system fails.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| Failure::new(format!("--json {}: {error}", path.display())))?;
        Ok(Self { file: Some((path.to_owned(), file)) })
    }

    /// Appends one line.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn append(&mut self, record: Record) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let line = Line { format: FORMAT.to_owned(), version: VERSION, record };
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        file.write_all(text.as_bytes()).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    }
}

/// All records of a file.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or if a line is not a record of a known version.
pub fn read(path: &Path) -> Result<Vec<Record>> {
    let file = File::open(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let mut records = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| Failure::new(format!("{}:{}: {what}", path.display(), at + 1));
        records.push(parse(&line).map_err(wrong)?);
    }
    Ok(records)
}

/// One record of a line.
fn parse(line: &str) -> std::result::Result<Record, String> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    let head: Head = serde_json::from_str(line).map_err(|error| format!("expected a JSON object: {error}"))?;
    match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(1..=VERSION)) => {}
        (Some(FORMAT), Some(version)) => {
            return Err(format!(
                "version {version} is newer than {VERSION}, which this program knows: use a newer one"
            ));
        }
        _ => return Err("this was not written by `perf --json`".to_owned()),
    }
    serde_json::from_str::<Line>(line).map(|line| line.record).map_err(|error| error.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::perf::qos::HistoryOption;

    pub(crate) fn outcome(label: &str, latencies: &[u64]) -> Outcome {
        let mut histogram = empty_histogram();
        latencies.iter().for_each(|latency| histogram.saturating_record(*latency));
        let share = ProcessShare {
            role: "ping".into(),
            host: "here".into(),
            pid: 7,
            receive: "inline".into(),
            cores: vec![0],
            usage: Some(Usage { user_us: 10, system_us: 20, ..Usage::default() }),
            received: None,
            write_failed: 0,
            reasons: Reasons { socket_dropped: Some(7), lost: vec!["3 samples, for a reason".into()] },
        };
        Outcome {
            run: "5f-7".into(),
            case: 0,
            label: label.into(),
            pattern: Pattern::Roundtrip,
            environment: Environment::here(),
            settings: Settings {
                size: 64,
                qos: Qos {
                    reliable: true,
                    history: HistoryOption::KeepLast(1),
                    transient_local: false,
                    latency_budget_ns: 0,
                    max_samples: 10,
                },
                rate: None,
                topics: 1,
                writers: 1,
                readers: 1,
                write: "value".into(),
                scope: "host".into(),
                ip: "auto".into(),
                faults: None,
            },
            seconds: 1.0,
            expected: latencies.len() as u64,
            received: latencies.len() as u64,
            lost: 0,
            out_of_order: 0,
            duplicates: 0,
            write_failed: 0,
            samples_per_second: latencies.len() as f64,
            megabytes_per_second: 0.5,
            latency_of: LatencyKind::Roundtrip,
            latency: Latency::of(&histogram),
            before_sent: 0,
            floor: None,
            send_delay: None,
            discovery_ms: 4.5,
            processes: vec![share.clone(), ProcessShare { role: "pong".into(), ..share }],
            system_calls: Vec::new(),
        }
    }

    pub(crate) fn interval(at: f64, p50: u64) -> Interval {
        Interval {
            run: "5f-7".into(),
            case: 0,
            process: 1,
            at,
            seconds: 1.0,
            samples: 100,
            samples_per_second: 100.0,
            megabytes_per_second: 0.01,
            latency: Some(Latency { samples: 100, p50, p99: 2 * p50, max: 3 * p50, ..Latency::default() }),
            usage: Usage::default(),
        }
    }

    #[test]
    fn file_round_trips() {
        let path = std::env::temp_dir().join(format!("dds-perf-journal-{}.jsonl", std::process::id()));
        let records = [
            Record::Interval(Box::new(interval(1.0, 5000))),
            Record::Result(Box::new(outcome("a", &[1000, 2000, 3000, 2000]))),
        ];
        for record in &records {
            Journal::open(Some(&path)).unwrap().append(record.clone()).unwrap();
        }
        let again = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again, records);
    }

    #[test]
    fn distribution_restores_the_histogram() {
        let latencies: Vec<u64> = (1..5000).map(|n| n * n * 37).collect();
        let latency = outcome("a", &latencies).latency;
        assert_eq!(Latency::of(&latency.histogram()), latency);
        assert_eq!(latency.distribution.iter().map(|(_, count)| count).sum::<u64>(), latencies.len() as u64);
    }

    #[test]
    fn unknown_format_or_version_is_rejected() {
        assert!(parse("{").unwrap_err().contains("a JSON object"));
        assert!(parse("{\"a\": 1}").unwrap_err().contains("was not written"));
        assert!(parse("{\"format\": \"dds-perf\", \"version\": 2}").unwrap_err().contains("newer"));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let record = Record::Interval(Box::new(interval(1.0, 5000)));
        let line = Line { format: FORMAT.to_owned(), version: VERSION, record: record.clone() };
        let text = serde_json::to_string(&line).unwrap().replacen('{', "{\"moon\": \"full\", ", 1);
        assert_eq!(parse(&text), Ok(record));
    }
}
