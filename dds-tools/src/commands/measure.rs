//! `dds hz`, `dds bw` and `dds delay`: rates, bytes and delays of a topic.

use super::text::{bytes_text, nanos_text, write_json};
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::MeasureOptions;
use crate::stop::Stop;
use crate::topic_access::topic_type;
use crate::topic_reader::{TopicChange, TopicReader, delay_nanos};
use dds_core::SampleInfo;
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// The measured quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Samples for each second, and the time between them.
    Rate,
    /// Bytes for each second, and the size of samples.
    Bandwidth,
    /// Time from the source timestamp to the reception. Clocks of different hosts may differ.
    Delay,
}

/// The statistics of one period, or of the whole command.
struct PeriodStatistics {
    start: Instant,
    samples: u64,
    bytes: u64,
    /// Nanoseconds between samples, bytes of a sample, or nanoseconds of delay.
    values: Histogram<u64>,
    /// Samples that came before the time of their source timestamp: the clocks of the hosts differ.
    early: u64,
}

impl PeriodStatistics {
    fn new() -> Result<Self, ToolError> {
        // Three digits make an error of at most 0.1 %.
        let values = Histogram::new(3).map_err(|error| ToolError::value(format!("no histogram: {error}")))?;
        Ok(Self { start: Instant::now(), samples: 0, bytes: 0, values, early: 0 })
    }

    fn add(&mut self, bytes: usize, value: Option<u64>) {
        self.samples += 1;
        self.bytes += bytes as u64;
        if let Some(value) = value {
            // The histogram grows to any value. `saturating_record` would not let it grow.
            let _ = self.values.record(value);
        }
    }

    fn per_second(&self, quantity: u64) -> f64 {
        quantity as f64 / self.start.elapsed().as_secs_f64().max(f64::EPSILON)
    }
}

/// Prints a line for each period, and one for the whole time at the end.
///
/// # Errors
/// [`ToolError::NoTopic`] if the topic has no endpoint, [`ToolError::NothingArrived`] if no sample arrived.
pub fn run(quantity: Quantity, options: &MeasureOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let ty = match topic_type(&participant, &mut watch, &options.topic, &options.ty, stop) {
        Ok(ty) => Some(ty),
        // The measurement needs no type.
        Err(ToolError::NoType { .. }) => None,
        Err(error) => return Err(error),
    };
    let mut reader =
        TopicReader::new(&participant, &options.topic, &watch.view().endpoints_of(&options.topic), ty.as_ref())?;
    let stop = stop.after(options.end.duration);
    let (mut period, mut total) = (PeriodStatistics::new()?, PeriodStatistics::new()?);
    let mut last = None;
    let is_complete = |total: &PeriodStatistics| options.end.count.is_some_and(|count| total.samples >= count);
    while !stop.is_due() && !is_complete(&total) {
        let left = options.every.saturating_sub(period.start.elapsed());
        reader.wait(stop.step().min(left.max(Duration::from_millis(1))));
        if watch.update()? {
            reader.cover(&watch.view().endpoints_of(&options.topic))?;
        }
        reader.take(|info, change| {
            let TopicChange::Sample(sample) = change else { return Ok(()) };
            if is_complete(&total) {
                return Ok(());
            }
            let len = sample.bytes.len();
            let value = match quantity {
                Quantity::Rate => interval(info, &mut last),
                Quantity::Bandwidth => Some(len as u64),
                Quantity::Delay => delay(info, &mut period, &mut total),
            };
            period.add(len, value);
            total.add(len, value);
            Ok(())
        })?;
        if period.start.elapsed() >= options.every {
            print(quantity, options, &period, false, output)?;
            period = PeriodStatistics::new()?;
        }
    }
    if total.samples == 0 {
        return Err(ToolError::NothingArrived {
            awaited: format!("sample of topic \"{}\"", options.topic),
            next_step: "`dds show` lists its endpoints, and `dds why` the obstacles between them",
        });
    }
    print(quantity, options, &total, true, output)
}

/// Returns the time since the last sample, by the reception timestamps.
fn interval(info: &SampleInfo, last: &mut Option<i64>) -> Option<u64> {
    let now = info.reception_timestamp.as_unix_nanos();
    let before = last.replace(now)?;
    // A clock that was set back gives no interval.
    u64::try_from(now - before).ok()
}

/// Returns the time from the source timestamp to the reception, if both are known.
fn delay(info: &SampleInfo, period: &mut PeriodStatistics, total: &mut PeriodStatistics) -> Option<u64> {
    match u64::try_from(delay_nanos(info)?) {
        Ok(delay) => Some(delay),
        Err(_) => {
            period.early += 1;
            total.early += 1;
            None
        }
    }
}

fn print(
    quantity: Quantity,
    options: &MeasureOptions,
    found: &PeriodStatistics,
    is_total: bool,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let values = &found.values;
    if options.output.json {
        return write_json(output, &to_json(quantity, found, is_total));
    }
    let label = if is_total { "total: " } else { "" };
    let percentiles = |text: fn(f64) -> String| {
        let at = |quantile| text(values.value_at_quantile(quantile) as f64);
        format!("min {} p50 {} p99 {} max {}", text(values.min() as f64), at(0.5), at(0.99), text(values.max() as f64))
    };
    let line = match quantity {
        Quantity::Rate => format!("{:.1} Hz, interval {}", found.per_second(found.samples), percentiles(nanos_text)),
        Quantity::Bandwidth => format!(
            "{}/s, {:.1} Hz, size {}",
            bytes_text(found.per_second(found.bytes)),
            found.per_second(found.samples),
            percentiles(bytes_text)
        ),
        Quantity::Delay if found.early > 0 => format!(
            "delay {}; {} samples arrived before their source timestamp: the clocks differ",
            percentiles(nanos_text),
            found.early
        ),
        Quantity::Delay => format!("delay {}", percentiles(nanos_text)),
    };
    writeln!(output, "{label}{} samples, {line}", found.samples)
        .and_then(|()| output.flush())
        .map_err(ToolError::output)
}

fn to_json(quantity: Quantity, found: &PeriodStatistics, is_total: bool) -> Value {
    let values = &found.values;
    let unit = match quantity {
        Quantity::Rate => "interval_ns",
        Quantity::Bandwidth => "size_bytes",
        Quantity::Delay => "delay_ns",
    };
    json!({
        "total": is_total,
        "samples": found.samples,
        "rate_hz": found.per_second(found.samples),
        "bytes_per_second": found.per_second(found.bytes),
        "before_source_timestamp": found.early,
        unit: {
            "min": values.min(),
            "p50": values.value_at_quantile(0.5),
            "p90": values.value_at_quantile(0.9),
            "p99": values.value_at_quantile(0.99),
            "p99.9": values.value_at_quantile(0.999),
            "max": values.max(),
            "mean": values.mean(),
            "stdev": values.stdev(),
        },
    })
}
