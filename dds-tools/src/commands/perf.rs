//! `dds perf`: round trips and throughput between two processes.
//!
//! | command | topics |
//! |---|---|
//! | `ping` | writes `dds/perf/ping`, reads `dds/perf/pong` |
//! | `pong` | reads `dds/perf/ping`, writes the same samples to `dds/perf/pong` |
//! | `publish`, `subscribe` | `dds/perf/throughput` |
//!
//! The program `perf` of the workspace measures more: intervals of CPU time, sweeps, system calls, floors.

use super::publish::Pace;
use super::text::{bytes_text, nanos_text, write_json};
use crate::error::ToolError;
use crate::network;
use crate::options::{EndOptions, NetworkOptions, OutputOptions, period, rate, sample_size, seconds};
use crate::stop::Stop;
use crate::topic_reader::delay_nanos;
use clap::{Args, Subcommand};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

const PING_TOPIC: &str = "dds/perf/ping";
const PONG_TOPIC: &str = "dds/perf/pong";
const THROUGHPUT_TOPIC: &str = "dds/perf/throughput";
/// Duration without `--for` and `--count`.
const DEFAULT_DURATION: Duration = Duration::from_secs(5);
/// Time for caches, memory and congestion windows before the measurement.
const WARM_UP: Duration = Duration::from_millis(500);
/// Time after which a round trip counts as lost.
const REPLY_TIME: Duration = Duration::from_secs(1);
/// Time for the acknowledgments of the last samples.
const ACKNOWLEDGMENT_TIME: Duration = Duration::from_secs(10);
/// Most bytes and samples that a writer keeps of samples with a known size.
const HISTORY_BYTES_MAX: u32 = 64 << 20;
const HISTORY_SAMPLES_MAX: u32 = 8192;
/// Most samples of any size that a side keeps: 64 of the largest take 4 GiB, of 1 MiB 64 MiB.
const UNKNOWN_SAMPLES_MAX: u32 = 64;
/// Bytes of a sample beside its payload: number, sender and the length of the payload.
const SAMPLE_HEADER_LEN: usize = 20;

/// A measurement between two processes.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum PerfCommand {
    /// Measure how long samples take to `dds perf pong` and back.
    Ping(PerfSendOptions),
    /// Send every sample back to `dds perf ping`.
    Pong(PerfPongOptions),
    /// Send samples to `dds perf subscribe` as fast as possible, or at a rate.
    Publish(PerfSendOptions),
    /// Receive the samples of `dds perf publish`: rate, bytes, delay and losses.
    Subscribe(PerfAnswerOptions),
}

/// Options of `perf ping` and `perf publish`.
#[derive(Debug, Clone, Args)]
pub struct PerfSendOptions {
    /// Bytes of a sample, from 20 to 60M, such as 64, 1k or 1M.
    #[arg(short, long, default_value = "64", value_parser = sample_size)]
    pub size: usize,
    /// Samples for each second. Without it, as fast as possible.
    #[arg(short, long, value_name = "HZ", value_parser = rate)]
    pub rate: Option<f64>,
    /// Seconds to wait for the other side.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub wait: Duration,
    /// What both sides have.
    #[command(flatten)]
    pub common: PerfAnswerOptions,
}

/// Options of all commands that print a measurement.
#[derive(Debug, Clone, Args)]
pub struct PerfAnswerOptions {
    /// Seconds between two lines.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = period)]
    pub every: Duration,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// What every side has.
    #[command(flatten)]
    pub side: PerfPongOptions,
}

/// Options of every side, and all options of `perf pong`.
#[derive(Debug, Clone, Args)]
pub struct PerfPongOptions {
    /// Use best-effort endpoints. Both sides need the same.
    #[arg(long)]
    pub best_effort: bool,
    /// The end. `ping` and `publish` end after 5 seconds, the other side with Ctrl-C.
    #[command(flatten)]
    pub end: EndOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// A sample of a measurement.
#[derive(DdsType, Debug, Clone, Default)]
#[dds(name = "DdsPerfSample", extensibility = "final")]
struct PerfSample {
    number: u64,
    /// Tells the samples of several `ping` apart.
    sender: u64,
    #[dds(octet)]
    payload: Vec<u8>,
}

/// Measures until the end of the options.
///
/// # Errors
/// [`ToolError::NothingArrived`] without the other side.
pub fn run(command: &PerfCommand, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    match command {
        PerfCommand::Ping(options) => ping(options, output, stop),
        PerfCommand::Pong(options) => pong(options, stop),
        PerfCommand::Publish(options) => publish(options, output, stop),
        PerfCommand::Subscribe(options) => subscribe(options, output, stop),
    }
}

/// Returns the limits of a history that blocks its writer rather than fill the memory.
fn limits(sample_len: usize) -> ResourceLimits {
    let sample_len = u32::try_from(sample_len).unwrap_or(u32::MAX).max(1);
    ResourceLimits::NONE.max_samples((HISTORY_BYTES_MAX / sample_len).clamp(16, HISTORY_SAMPLES_MAX))
}

fn writer(
    participant: &DomainParticipant,
    topic: &str,
    options: &PerfPongOptions,
    limits: ResourceLimits,
) -> Result<DataWriter<PerfSample>, ToolError> {
    let qos = DataWriterQos::default().keep_all().resource_limits(limits);
    let qos = if options.best_effort { qos.best_effort() } else { qos.reliable() };
    Ok(participant.writer_builder::<PerfSample>(topic).qos(qos).build()?)
}

fn reader(
    participant: &DomainParticipant,
    topic: &str,
    options: &PerfPongOptions,
) -> Result<DataReader<PerfSample>, ToolError> {
    // A peer decides about the size of its samples.
    let limits = ResourceLimits::NONE.max_samples(UNKNOWN_SAMPLES_MAX);
    let qos = DataReaderQos::default().keep_all().resource_limits(limits);
    let qos = if options.best_effort { qos.best_effort() } else { qos.reliable() };
    Ok(participant.reader_builder::<PerfSample>(topic).qos(qos).build()?)
}

/// Waits until `is_there` returns true for a wait of the given length.
fn await_peer(
    wait: Duration,
    stop: &Stop,
    peer: &str,
    mut is_there: impl FnMut(Duration) -> bool,
) -> Result<(), ToolError> {
    let limit = stop.after(Some(wait));
    while !is_there(limit.step()) {
        if limit.is_due() {
            return Err(ToolError::NothingArrived {
                awaited: format!("`dds perf {peer}`"),
                next_step: "start it with the same --best-effort; `dds why` explains which endpoints do not match",
            });
        }
    }
    Ok(())
}

/// Writes a sample. A writer whose reader is behind tries again until the end. Returns whether the sample was written.
fn write(writer: &DataWriter<PerfSample>, sample: &PerfSample, stop: &Stop) -> Result<bool, ToolError> {
    loop {
        match writer.write(sample) {
            Ok(()) => return Ok(true),
            Err(error) if matches!(error.kind(), WriteErrorKind::Timeout { .. }) && !stop.is_due() => {}
            Err(error) if matches!(error.kind(), WriteErrorKind::Timeout { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

fn ping(options: &PerfSendOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let PerfSendOptions { size, rate, wait, common } = options;
    let participant = network::join(&common.side.network)?;
    let reader = reader(&participant, PONG_TOPIC, &common.side)?;
    let writer = writer(&participant, PING_TOPIC, &common.side, limits(*size))?;
    await_peer(*wait, stop, "pong", |step| {
        writer.wait_for_readers(1).block_for(step).is_ok() && reader.wait_for_writers(1).block_for(step).is_ok()
    })?;
    let mut sample = PerfSample { sender: sender_of(&writer), ..PerfSample::default() };
    sample.payload.resize(size - SAMPLE_HEADER_LEN, 0);
    let warm_up = stop.after(Some(WARM_UP));
    while !warm_up.is_due() {
        round_trip(&writer, &reader, &mut sample, &warm_up)?;
    }
    let stop = stop.after(duration_of(common));
    let mut report = PerfReport::new("round_trip_ns", common)?;
    let mut pace = Pace::new(*rate);
    while !stop.is_due() && common.side.end.count.is_none_or(|count| report.total.samples + report.total.lost < count) {
        pace.wait(&stop);
        match round_trip(&writer, &reader, &mut sample, &stop)? {
            Some(time) => report.add(*size, u64::try_from(time.as_nanos()).ok()),
            // The end of the command is no loss.
            None if stop.is_due() => break,
            None => report.add_lost(1),
        }
        report.print_period(output)?;
    }
    report.print_total("reply of `dds perf pong`", output)
}

/// Sends the next sample. Returns the time until its reply, or `None` if it did not come.
fn round_trip(
    writer: &DataWriter<PerfSample>,
    reader: &DataReader<PerfSample>,
    sample: &mut PerfSample,
    stop: &Stop,
) -> Result<Option<Duration>, ToolError> {
    sample.number += 1;
    let start = Instant::now();
    if !write(writer, sample, stop)? {
        return Ok(None);
    }
    while !stop.is_due() && start.elapsed() < REPLY_TIME {
        // A time-out is no failure: the loop looks at the request to stop.
        let _ = reader.readable().block_for(stop.step());
        let samples = reader.take()?;
        let time = start.elapsed();
        // Replies to earlier samples and to other `ping` arrive as well.
        let is_reply = |found: &PerfSample| (found.number, found.sender) == (sample.number, sample.sender);
        if samples.into_iter().filter_map(|found| found.data).any(|found| is_reply(&found)) {
            return Ok(Some(time));
        }
    }
    Ok(None)
}

fn pong(options: &PerfPongOptions, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let few = ResourceLimits::NONE.max_samples(UNKNOWN_SAMPLES_MAX);
    let writer = writer(&participant, PONG_TOPIC, options, few)?;
    let reader = reader(&participant, PING_TOPIC, options)?;
    let stop = stop.after(options.end.duration);
    let mut answered = 0;
    while !stop.is_due() && options.end.count.is_none_or(|count| answered < count) {
        // A time-out is no failure: the loop looks at the request to stop.
        let _ = reader.readable().block_for(stop.step());
        for sample in reader.take()?.iter() {
            if options.end.count == Some(answered) {
                break;
            }
            let Some(encoded) = sample.encoded() else { continue };
            match writer.write_encoded(encoded) {
                Ok(()) => answered += 1,
                // A `ping` that has stopped must not hold back the others.
                Err(error) if matches!(error.kind(), WriteErrorKind::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    // The last reply may be on its way.
    let _ = writer.acknowledged().block_for(REPLY_TIME);
    Ok(())
}

fn publish(options: &PerfSendOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let PerfSendOptions { size, rate, wait, common } = options;
    let participant = network::join(&common.side.network)?;
    let writer = writer(&participant, THROUGHPUT_TOPIC, &common.side, limits(*size))?;
    await_peer(*wait, stop, "subscribe", |step| writer.wait_for_readers(1).block_for(step).is_ok())?;
    let mut sample = PerfSample { sender: sender_of(&writer), ..PerfSample::default() };
    sample.payload.resize(size - SAMPLE_HEADER_LEN, 0);
    let end = stop.after(duration_of(common));
    let mut report = PerfReport::new("write_ns", common)?;
    let mut pace = Pace::new(*rate);
    while !end.is_due() && common.side.end.count.is_none_or(|count| report.total.samples < count) {
        pace.wait(&end);
        sample.number += 1;
        let start = Instant::now();
        if write(&writer, &sample, &end)? {
            report.add(*size, u64::try_from(start.elapsed().as_nanos()).ok());
        }
        report.print_period(output)?;
    }
    report.print_total("reader", output)?;
    let limit = stop.after(Some(ACKNOWLEDGMENT_TIME));
    while writer.acknowledged().block_for(limit.step()).is_err() && !limit.is_due() {}
    Ok(())
}

fn subscribe(options: &PerfAnswerOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let end = &options.side.end;
    let participant = network::join(&options.side.network)?;
    let reader = reader(&participant, THROUGHPUT_TOPIC, &options.side)?;
    let stop = stop.after(end.duration);
    let mut report = PerfReport::new("delay_ns", options)?;
    let mut lost = 0;
    while !stop.is_due() && end.count.is_none_or(|count| report.total.samples < count) {
        // A time-out is no failure: the loop looks at the request to stop.
        let _ = reader.readable().block_for(stop.step());
        for sample in reader.take()?.iter() {
            if end.count == Some(report.total.samples) {
                break;
            }
            let Some(encoded) = sample.encoded() else { continue };
            if report.total.samples == 0 {
                // The time before the first sample belongs to no period.
                report = PerfReport::new("delay_ns", options)?;
            }
            let delay = delay_nanos(sample.info()).and_then(|delay| u64::try_from(delay).ok());
            report.add(encoded.bytes.len(), delay);
        }
        let losses = reader.losses().total();
        // The writer sends a rejected sample again only to a reliable reader.
        let rejected = if options.side.best_effort { losses.undelivered.rejected_samples } else { 0 };
        let lost_now = losses.lost() + rejected;
        report.add_lost(lost_now.saturating_sub(lost));
        lost = lost.max(lost_now);
        report.print_period(output)?;
    }
    report.print_total("sample of `dds perf publish`", output)
}

/// Returns a number that tells the samples of a writer from those of others.
fn sender_of(writer: &DataWriter<PerfSample>) -> u64 {
    writer.guid().to_bytes()[4..12].iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

fn duration_of(options: &PerfAnswerOptions) -> Option<Duration> {
    match (options.side.end.duration, options.side.end.count) {
        (None, None) => Some(DEFAULT_DURATION),
        (duration, _) => duration,
    }
}

/// The samples of one period, or of the whole measurement.
struct PerfPeriod {
    start: Instant,
    /// When the first and the last sample came.
    arrivals: Option<(Instant, Instant)>,
    samples: u64,
    bytes: u64,
    lost: u64,
    times: Histogram<u64>,
}

impl PerfPeriod {
    fn new() -> Result<Self, ToolError> {
        // Three digits make an error of at most 0.1 %.
        let times = Histogram::new(3).map_err(|error| ToolError::value(format!("no histogram: {error}")))?;
        Ok(Self { start: Instant::now(), arrivals: None, samples: 0, bytes: 0, lost: 0, times })
    }

    fn add(&mut self, now: Instant, bytes: usize, time: Option<u64>) {
        self.arrivals = Some((self.arrivals.map_or(now, |(first, _)| first), now));
        self.samples += 1;
        self.bytes += bytes as u64;
        if let Some(time) = time {
            // The histogram grows to any value. `saturating_record` would not let it grow.
            let _ = self.times.record(time);
        }
    }

    fn to_json(&self, unit: &str, is_total: bool, (rate, bytes_per_second): (f64, f64)) -> Value {
        let at = |quantile| self.times.value_at_quantile(quantile);
        json!({
            "total": is_total,
            "samples": self.samples,
            "lost": self.lost,
            "rate_hz": rate,
            "bytes_per_second": bytes_per_second,
            unit: {
                "min": self.times.min(), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999),
                "max": self.times.max(), "mean": self.times.mean(),
            },
        })
    }

    /// Returns samples and bytes for each second of a period that ends now.
    fn rates_until(&self, now: Instant) -> (f64, f64) {
        let seconds = (now - self.start).as_secs_f64().max(1e-9);
        (self.samples as f64 / seconds, self.bytes as f64 / seconds)
    }

    /// Returns the same without the time before the first and after the last sample.
    fn rates_of_arrivals(&self) -> (f64, f64) {
        let Some((first, last)) = self.arrivals.filter(|(first, last)| first < last) else { return (0.0, 0.0) };
        let rate = (self.samples - 1) as f64 / (last - first).as_secs_f64();
        (rate, rate * self.bytes as f64 / self.samples as f64)
    }

    fn line(&self, unit: &str, (rate, bytes_per_second): (f64, f64)) -> String {
        let times = &self.times;
        let at = |quantile| nanos_text(times.value_at_quantile(quantile) as f64);
        let name = unit.trim_end_matches("_ns").replace('_', " ");
        let (least, most) = (nanos_text(times.min() as f64), nanos_text(times.max() as f64));
        format!(
            "{} samples, {rate:.0} Hz, {}/s, lost {}, {name} min {least} p50 {} p99 {} max {most}",
            self.samples,
            bytes_text(bytes_per_second),
            self.lost,
            at(0.5),
            at(0.99)
        )
    }
}

/// The lines of a measurement.
struct PerfReport {
    /// The name of the measured time in JSON.
    unit: &'static str,
    every: Duration,
    is_json: bool,
    period: PerfPeriod,
    total: PerfPeriod,
}

impl PerfReport {
    fn new(unit: &'static str, options: &PerfAnswerOptions) -> Result<Self, ToolError> {
        let (period, total) = (PerfPeriod::new()?, PerfPeriod::new()?);
        Ok(Self { unit, every: options.every, is_json: options.output.json, period, total })
    }

    fn add(&mut self, bytes: usize, time: Option<u64>) {
        let now = Instant::now();
        self.period.add(now, bytes, time);
        self.total.add(now, bytes, time);
    }

    fn add_lost(&mut self, lost: u64) {
        self.period.lost += lost;
        self.total.lost += lost;
    }

    /// Prints the period if its time is over and a sample came.
    fn print_period(&mut self, output: &mut dyn Write) -> Result<(), ToolError> {
        if self.period.start.elapsed() < self.every {
            return Ok(());
        }
        if self.period.samples + self.period.lost > 0 {
            self.print(&self.period, false, output)?;
        }
        self.period = PerfPeriod::new()?;
        Ok(())
    }

    fn print_total(&self, awaited: &str, output: &mut dyn Write) -> Result<(), ToolError> {
        if self.total.samples == 0 {
            let next_step = "start the other side with the same options; `dds why` explains missing matches";
            return Err(ToolError::NothingArrived { awaited: awaited.to_owned(), next_step });
        }
        self.print(&self.total, true, output)
    }

    fn print(&self, period: &PerfPeriod, is_total: bool, output: &mut dyn Write) -> Result<(), ToolError> {
        let rates = if is_total { period.rates_of_arrivals() } else { period.rates_until(Instant::now()) };
        if self.is_json {
            return write_json(output, &period.to_json(self.unit, is_total, rates));
        }
        let label = if is_total { "total: " } else { "" };
        writeln!(output, "{label}{}", period.line(self.unit, rates))
            .and_then(|()| output.flush())
            .map_err(ToolError::output)
    }
}

#[cfg(test)]
mod tests {
    use super::{HISTORY_SAMPLES_MAX, PerfPeriod, PerfSample, SAMPLE_HEADER_LEN, limits};
    use dds_core::cdr::Encoding;
    use dds_core::dynamic::{DynamicData, DynamicType};
    use dds_core::qos::ResourceLimits;
    use std::time::Duration;

    #[test]
    fn rates_of_few_samples_are_those_of_their_distances() {
        let mut period = PerfPeriod::new().unwrap();
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
    fn header_of_a_sample_has_its_length() {
        let ty = DynamicType::of::<PerfSample>().unwrap();
        // The payload of DDS begins with the encapsulation header.
        let payload = DynamicData::new(&ty).to_payload(Encoding::Xcdr1).unwrap();
        assert_eq!(payload.len() - 4, SAMPLE_HEADER_LEN);
    }

    #[test]
    fn histories_have_a_limit() {
        assert_eq!(limits(64), ResourceLimits::NONE.max_samples(HISTORY_SAMPLES_MAX));
        assert_eq!(limits(1 << 20), ResourceLimits::NONE.max_samples(64));
        assert_eq!(limits(usize::MAX), ResourceLimits::NONE.max_samples(16));
    }
}
