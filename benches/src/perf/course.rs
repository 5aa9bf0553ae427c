//! Intervals of a measurement, and its progress bar.

use crate::perf::clock;
use crate::perf::meter::{Meter, Snapshot};
use crate::perf::quantity::{count_text, micros_text};
use crate::perf::record::{Interval, Latency, Received};
use crate::perf::usage::Usage;
use dds_core::DomainParticipant;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::time::Duration;

/// Divides the measurement of one process into intervals.
pub struct Watch {
    meters: Vec<Arc<Meter>>,
    participant: DomainParticipant,
    name: Name,
    length: u64,
    began: u64,
    at_begin: (Snapshot, Usage),
    last: u64,
    at_last: (Snapshot, Usage),
}

/// Origin of the intervals.
#[derive(Debug, Clone)]
pub struct Name {
    /// The run.
    pub run: String,
    /// The size in it.
    pub case: u32,
    /// The process.
    pub process: u64,
}

impl Watch {
    /// Starts the first interval.
    #[must_use]
    pub fn begin(name: Name, meters: Vec<Arc<Meter>>, participant: &DomainParticipant, length: Duration) -> Self {
        for meter in &meters {
            meter.restart();
        }
        let participant = participant.clone();
        let at_begin = (Snapshot::of(meters.iter().map(|meter| &**meter)), Usage::now(&participant.traffic()));
        let (began, at_last) = (clock::now(), at_begin.clone());
        let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { meters, participant, name, length, began, at_begin, last: began, at_last }
    }

    /// End of the current interval, in nanoseconds of the monotonic clock.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.last.saturating_add(self.length)
    }

    /// Returns the current interval if it has ended.
    pub fn tick(&mut self) -> Option<Interval> {
        if clock::now() >= self.due() { Some(self.interval()) } else { None }
    }

    fn interval(&mut self) -> Interval {
        let now = clock::now();
        let at_now = (self.snapshot(), self.usage());
        let between = at_now.0.since(&self.at_last.0);
        let seconds = (now - self.last) as f64 / 1e9;
        let interval = Interval {
            run: self.name.run.clone(),
            case: self.name.case,
            process: self.name.process,
            at: (now - self.began) as f64 / 1e9,
            seconds,
            samples: between.samples,
            samples_per_second: between.samples as f64 / seconds,
            megabytes_per_second: between.bytes as f64 / 1e6 / seconds,
            latency: (between.samples > 0).then(|| Latency::brief(&between.histogram())),
            usage: at_now.1.since(&self.at_last.1),
        };
        (self.last, self.at_last) = (now, at_now);
        interval
    }

    /// Number of samples since the start.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.meters.iter().map(|meter| meter.samples()).sum::<u64>() - self.at_begin.0.samples
    }

    /// Waits for `expected` samples, or until no sample arrives for `timeout`.
    pub fn drain(&self, expected: u64, timeout: Duration) {
        let (mut seen, mut since) = (self.samples(), std::time::Instant::now());
        while seen < expected && since.elapsed() < timeout {
            std::thread::sleep(Duration::from_millis(2));
            if self.samples() > seen {
                (seen, since) = (self.samples(), std::time::Instant::now());
            }
        }
    }

    /// Results since the start, and the last interval if it is at least half complete.
    pub fn end(&mut self) -> (Received, Usage, Option<Interval>) {
        let is_half = clock::now() - self.last >= self.length / 2;
        let rest = if is_half { Some(self.interval()) } else { None };
        (Received::of(&self.snapshot().since(&self.at_begin.0)), self.usage().since(&self.at_begin.1), rest)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.meters.iter().map(|meter| &**meter))
    }

    fn usage(&self) -> Usage {
        Usage::now(&self.participant.traffic())
    }
}

/// A progress bar, which only a terminal shows.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Creates a bar of this number of steps.
    #[must_use]
    pub fn new(steps: u64, title: &str, quiet: bool) -> Self {
        if quiet || !stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(steps);
        // The template is a valid constant. Otherwise the bar keeps its default style.
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        Self(Some(bar))
    }

    /// Sets the number of completed steps.
    pub fn set(&self, steps: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(steps);
        }
    }

    /// Shows the results of an interval.
    pub fn tell(&self, interval: &Interval) {
        let Some(bar) = &self.0 else { return };
        let rate = count_text(interval.samples_per_second as u64);
        let latency = interval.latency.as_ref().map_or_else(String::new, |latency| {
            format!(", p50 {} p99 {} µs", micros_text(latency.p50), micros_text(latency.p99))
        });
        bar.set_message(format!("{rate}/s{latency}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
