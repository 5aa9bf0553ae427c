//! QoS of the measured topics: the options, and the form in control messages.

use crate::perf::quantity::Span;
use clap::Args;
use dds_core::Duration;
use dds_core::qos::{DataReaderQos, DataWriterQos, Reliability, ResourceLimits};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// QoS options.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "QoS")]
pub struct QosOptions {
    /// Do not repair lost samples. Default: reliable
    #[arg(long, short = 'b')]
    pub best_effort: bool,

    /// `keep-last:N` or `keep-all`. Default: keep-all; keep-last:1 for round trips as fast as
    /// possible
    #[arg(long, value_name = "HISTORY")]
    pub history: Option<HistoryOption>,

    /// Late-joining readers receive the history of the writer
    #[arg(long)]
    pub transient_local: bool,

    /// How long the writer may hold samples back to send several at once
    #[arg(long, default_value = "0", value_name = "TIME")]
    pub latency_budget: Span,

    /// Most samples that a keep-all writer stores until they are acknowledged; then `write` blocks. Default: 10000, and
    /// at most 64 MiB
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_samples: Option<u32>,
}

/// HISTORY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryOption {
    /// The newest samples, up to this number.
    KeepLast(u32),
    /// All samples until they are acknowledged.
    KeepAll,
}

impl FromStr for HistoryOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected keep-all, or keep-last:N with N from 1, found `{text}`");
        match text.split_once(':') {
            None if text == "keep-all" => Ok(Self::KeepAll),
            None if text == "keep-last" => Ok(Self::KeepLast(1)),
            Some(("keep-last", depth)) => {
                depth.parse().ok().filter(|depth| *depth > 0).map(Self::KeepLast).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

/// The QoS that both sides use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// RELIABILITY.
    pub reliable: bool,
    /// HISTORY.
    pub history: HistoryOption,
    /// DURABILITY: transient-local instead of volatile.
    pub transient_local: bool,
    /// LATENCY_BUDGET.
    pub latency_budget_ns: u64,
    /// RESOURCE_LIMITS of a writer that keeps all.
    pub max_samples: u32,
}

/// Default limits of a writer's samples that are not acknowledged yet.
const KEPT_SAMPLES_MAX: usize = 10_000;
const KEPT_BYTES_MAX: usize = 64 << 20;
/// `max_blocking_time`: under full load a writer blocks until its readers acknowledge.
const BLOCKING_TIME: Duration = Duration::from_secs(10);

impl QosOptions {
    /// Applies the defaults of the work. `size_max` is the size of the largest sample.
    #[must_use]
    pub fn resolve(&self, default_history: HistoryOption, size_max: usize) -> Qos {
        let kept = (KEPT_BYTES_MAX / size_max.max(1)).clamp(4, KEPT_SAMPLES_MAX);
        Qos {
            reliable: !self.best_effort,
            history: self.history.unwrap_or(default_history),
            transient_local: self.transient_local,
            latency_budget_ns: u64::try_from(self.latency_budget.0.as_nanos()).unwrap_or(u64::MAX),
            max_samples: self.max_samples.unwrap_or(kept as u32),
        }
    }
}

impl Qos {
    /// QoS of the writers.
    #[must_use]
    pub fn writer(&self) -> DataWriterQos {
        let qos = DataWriterQos::default().latency_budget(std::time::Duration::from_nanos(self.latency_budget_ns));
        let qos = match self.history {
            HistoryOption::KeepLast(depth) => qos.keep_last(depth),
            HistoryOption::KeepAll => {
                let limits = ResourceLimits::NONE.max_samples(self.max_samples);
                qos.keep_all().resource_limits(limits)
            }
        };
        let qos = match self.reliable {
            true => qos.reliability(Reliability::Reliable { max_blocking_time: BLOCKING_TIME }),
            false => qos.best_effort(),
        };
        if self.transient_local { qos.transient_local() } else { qos }
    }

    /// QoS of the readers.
    #[must_use]
    pub fn reader(&self) -> DataReaderQos {
        let qos = match self.history {
            HistoryOption::KeepLast(depth) => DataReaderQos::default().keep_last(depth),
            HistoryOption::KeepAll => DataReaderQos::default().keep_all(),
        };
        // A reader that requests a shorter latency budget would not match.
        let qos = qos.latency_budget(std::time::Duration::from_nanos(self.latency_budget_ns));
        let qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        if self.transient_local { qos.transient_local() } else { qos }
    }
}

/// A line of a table.
impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reliable { "reliable" } else { "best effort" })?;
        match self.history {
            HistoryOption::KeepLast(depth) => write!(f, ", keep last {depth}")?,
            HistoryOption::KeepAll => f.write_str(", keep all")?,
        }
        if self.transient_local {
            f.write_str(", transient local")?;
        }
        if self.latency_budget_ns > 0 {
            write!(f, ", latency budget {:?}", std::time::Duration::from_nanos(self.latency_budget_ns))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: QosOptions = QosOptions {
        best_effort: false,
        history: None,
        transient_local: false,
        latency_budget: Span(std::time::Duration::ZERO),
        max_samples: None,
    };

    #[test]
    fn history_parses_as_in_the_help() {
        assert_eq!("keep-last:7".parse(), Ok(HistoryOption::KeepLast(7)));
        assert_eq!("keep-all".parse(), Ok(HistoryOption::KeepAll));
        assert!(["keep-last:0", "keep-last:x", "all"].iter().all(|text| text.parse::<HistoryOption>().is_err()));
    }

    #[test]
    fn keep_all_limits_large_samples_by_bytes() {
        assert_eq!(OPTIONS.resolve(HistoryOption::KeepAll, 64).max_samples, 10_000);
        assert_eq!(OPTIONS.resolve(HistoryOption::KeepAll, 1 << 20).max_samples, 64);
        assert_eq!(OPTIONS.resolve(HistoryOption::KeepAll, 64 << 20).max_samples, 4);
    }

    #[test]
    fn offered_qos_is_consistent_and_printable() {
        let options = QosOptions { transient_local: true, ..OPTIONS };
        let qos = options.resolve(HistoryOption::KeepLast(3), 64);
        assert_eq!(qos.to_string(), "reliable, keep last 3, transient local");
        assert!(qos.writer().check().is_ok() && qos.reader().check().is_ok());
    }
}
