//! The results of a comparison, as JSON.

use crate::perf::{Failure, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The results of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The command that makes the file.
    pub command: String,
    /// Start of the run, UTC.
    pub date: String,
    /// The commit of this implementation.
    pub commit: String,
    /// The processor.
    pub processor: String,
    /// Number of cores.
    pub cores: usize,
    /// The operating system.
    pub kernel: String,
    /// Number of turns. In each turn, each library does each work once.
    pub turns: u32,
    /// Milliseconds of one measurement.
    pub millis: u64,
    /// The libraries and their results.
    pub libraries: Vec<Contender>,
}

/// A library with one of its transports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// Name of the library.
    pub name: String,
    /// Name of its transport.
    pub transport: String,
    /// Its version.
    pub version: String,
    /// Its results, in the order of [`WORK`].
    pub results: Vec<Outcome>,
}

/// Results of one work of one library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The work.
    pub work: Work,
    /// Median over all turns: nanoseconds of a round trip, or samples per second. Null if no turn succeeded.
    pub median: Option<f64>,
    /// The result of each successful turn. For round trips, it is the median of the turn.
    pub turns: Vec<f64>,
    /// 99th percentile of the round trips of each successful turn, in nanoseconds.
    pub p99: Vec<f64>,
    /// The reason of each failed turn.
    pub failures: Vec<String>,
}

/// A work: reliable samples of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The direction.
    pub pattern: Pattern,
    /// Bytes of a sample.
    pub size: usize,
}

/// The direction of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// There and back, one after the other.
    Roundtrip,
    /// One way, as fast as possible.
    Throughput,
}

/// The compared work.
pub const WORK: [Work; 5] = [
    Work { pattern: Pattern::Roundtrip, size: 64 },
    Work { pattern: Pattern::Roundtrip, size: 16 << 10 },
    Work { pattern: Pattern::Roundtrip, size: 1 << 20 },
    Work { pattern: Pattern::Throughput, size: 64 },
    Work { pattern: Pattern::Throughput, size: 16 << 10 },
];

impl Outcome {
    /// An outcome without turns.
    #[must_use]
    pub fn new(work: Work) -> Self {
        Self { work, median: None, turns: Vec::new(), p99: Vec::new(), failures: Vec::new() }
    }

    /// Computes the median of the turns.
    pub fn conclude(&mut self) {
        let mut values = self.turns.clone();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        self.median = match values.len() {
            0 => None,
            len if len % 2 == 1 => Some(values[middle]),
            _ => Some(f64::midpoint(values[middle - 1], values[middle])),
        };
    }
}

/// Reads a file of results.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or is not a file of results.
pub fn read(file: &Path) -> Result<Comparison> {
    let describe = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| describe(&error))?;
    serde_json::from_str(&text).map_err(|error| describe(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_no_odd_and_even_turns() {
        let median = |turns: &[f64]| {
            let mut outcome = Outcome { turns: turns.to_vec(), ..Outcome::new(WORK[0]) };
            outcome.conclude();
            outcome.median
        };
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }
}
