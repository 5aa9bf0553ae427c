//! `dds hz`, `dds bw` and `dds delay`: rates, bytes and delays of a topic.

use super::statistics::PeriodStatistics;
use super::text::{bytes_text, nanos_text, write_json};
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::MeasureOptions;
use crate::stop::Stop;
use crate::topic_access::topic_type;
use crate::topic_reader::{TopicChange, TopicReader, delay_nanos};
use dds_core::SampleInfo;
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
                Quantity::Bandwidth => i64::try_from(len).ok(),
                Quantity::Delay => delay_nanos(info),
            };
            let now = Instant::now();
            period.add(now, len, value);
            total.add(now, len, value);
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
fn interval(info: &SampleInfo, last: &mut Option<i64>) -> Option<i64> {
    let now = info.reception_timestamp.as_unix_nanos();
    let before = last.replace(now)?;
    // A clock that was set back gives no interval.
    Some(now - before).filter(|interval| *interval >= 0)
}

fn print(
    quantity: Quantity,
    options: &MeasureOptions,
    found: &PeriodStatistics,
    is_total: bool,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let (rate, bytes_per_second) = found.rates_until(Instant::now());
    if options.output.json {
        let unit = match quantity {
            Quantity::Rate => "interval_ns",
            Quantity::Bandwidth => "size_bytes",
            Quantity::Delay => "delay_ns",
        };
        return write_json(output, &found.to_json(unit, is_total, (rate, bytes_per_second)));
    }
    let label = if is_total { "total: " } else { "" };
    let line = match quantity {
        Quantity::Rate => format!("{rate:.1} Hz, interval {}", found.percentiles(nanos_text)),
        Quantity::Bandwidth => {
            let (bytes, sizes) = (bytes_text(bytes_per_second), found.percentiles(bytes_text));
            format!("{bytes}/s, {rate:.1} Hz, size {sizes}")
        }
        Quantity::Delay => found.delay_text(),
    };
    writeln!(output, "{label}{} samples, {line}", found.samples)
        .and_then(|()| output.flush())
        .map_err(ToolError::output)
}
