//! Rates, bytes and percentiles of the samples of a period.

use super::text::nanos_text;
use crate::error::ToolError;
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::time::Instant;

/// The samples of one period, or of a whole command, with a measured value of each.
pub(super) struct PeriodStatistics {
    pub(super) start: Instant,
    /// When the first and the last sample came.
    arrivals: Option<(Instant, Instant)>,
    pub(super) samples: u64,
    pub(super) bytes: u64,
    /// Nanoseconds, or bytes of a sample.
    values: Histogram<u64>,
    /// Samples that came before the time of their source timestamp: the clocks of the hosts differ.
    early: u64,
}

impl PeriodStatistics {
    pub(super) fn new() -> Result<Self, ToolError> {
        // Three digits make an error of at most 0.1 %.
        let values = Histogram::new(3).map_err(|error| ToolError::value(format!("no histogram: {error}")))?;
        Ok(Self { start: Instant::now(), arrivals: None, samples: 0, bytes: 0, values, early: 0 })
    }

    /// Adds a sample that came at `now`. A negative value counts as early.
    pub(super) fn add(&mut self, now: Instant, bytes: usize, value: Option<i64>) {
        self.arrivals = Some((self.arrivals.map_or(now, |(first, _)| first), now));
        self.samples += 1;
        self.bytes += bytes as u64;
        match value.map(u64::try_from) {
            None => {}
            // The histogram grows to any value. `saturating_record` would not let it grow.
            Some(Ok(value)) => drop(self.values.record(value)),
            Some(Err(_)) => self.early += 1,
        }
    }

    /// Returns samples and bytes for each second of a period that ends at `now`.
    pub(super) fn rates_until(&self, now: Instant) -> (f64, f64) {
        let seconds = (now - self.start).as_secs_f64().max(1e-9);
        (self.samples as f64 / seconds, self.bytes as f64 / seconds)
    }

    /// Returns the same without the time before the first and after the last sample.
    pub(super) fn rates_of_arrivals(&self) -> (f64, f64) {
        let Some((first, last)) = self.arrivals.filter(|(first, last)| first < last) else { return (0.0, 0.0) };
        let rate = (self.samples - 1) as f64 / (last - first).as_secs_f64();
        (rate, rate * self.bytes as f64 / self.samples as f64)
    }

    /// Returns minimum, percentiles and maximum of the values, each as `text` writes it.
    pub(super) fn percentiles(&self, text: fn(f64) -> String) -> String {
        let values = &self.values;
        let at = |quantile| text(values.value_at_quantile(quantile) as f64);
        format!("min {} p50 {} p99 {} max {}", text(values.min() as f64), at(0.5), at(0.99), text(values.max() as f64))
    }

    /// Returns the percentiles of a delay, and a note if samples came early.
    pub(super) fn delay_text(&self) -> String {
        let delay = format!("delay {}", self.percentiles(nanos_text));
        match self.early {
            0 => delay,
            early => format!("{delay}; {early} samples arrived before their source timestamp: the clocks differ"),
        }
    }

    /// Returns the figures as JSON. `unit` is the name of the values.
    pub(super) fn to_json(&self, unit: &str, is_total: bool, (rate, bytes_per_second): (f64, f64)) -> Value {
        let values = &self.values;
        let at = |quantile| values.value_at_quantile(quantile);
        json!({
            "total": is_total,
            "samples": self.samples,
            "rate_hz": rate,
            "bytes_per_second": bytes_per_second,
            "before_source_timestamp": self.early,
            unit: {
                "min": values.min(),
                "p50": at(0.5),
                "p90": at(0.9),
                "p99": at(0.99),
                "p99.9": at(0.999),
                "max": values.max(),
                "mean": values.mean(),
                "stdev": values.stdev(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PeriodStatistics;
    use std::time::Duration;

    #[test]
    fn rates_of_few_samples_are_those_of_their_distances() {
        let mut period = PeriodStatistics::new().unwrap();
        let start = period.start;
        assert_eq!(period.rates_of_arrivals(), (0.0, 0.0));
        period.add(start + Duration::from_secs(1), 100, None);
        assert_eq!(period.rates_of_arrivals(), (0.0, 0.0));
        for second in 2..=3 {
            period.add(start + Duration::from_secs(second), 100, None);
        }
        assert_eq!(period.rates_of_arrivals(), (1.0, 100.0));
        assert_eq!(period.rates_until(start + Duration::from_secs(6)), (0.5, 50.0));
    }

    #[test]
    fn early_samples_are_counted_and_are_no_delays() {
        let mut period = PeriodStatistics::new().unwrap();
        period.add(period.start, 100, Some(5000));
        assert!(!period.delay_text().contains("before"));
        period.add(period.start, 100, Some(-1));
        assert!(period.delay_text().ends_with("; 1 samples arrived before their source timestamp: the clocks differ"));
        let json = period.to_json("delay_ns", true, (0.0, 0.0));
        assert_eq!((&json["samples"], &json["before_source_timestamp"]), (&2.into(), &1.into()));
        // The histogram has three digits.
        assert!(json["delay_ns"]["min"].as_u64() > Some(4990), "{json}");
    }
}
