//! `dds perf`: round trips and throughput between two processes.
//!
//! | command | topics |
//! |---|---|
//! | `ping` | writes `dds/perf/ping`, reads `dds/perf/pong` |
//! | `pong` | reads `dds/perf/ping`, writes the same samples to `dds/perf/pong` |
//! | `publish`, `subscribe` | `dds/perf/throughput` |
//!
//! The program `perf` of the workspace measures more: intervals of CPU time, sweeps, system calls, floors.

use super::sample_pacer::SamplePacer;
use super::statistics::PeriodStatistics;
use super::text::{bytes_text, nanos_text};
use crate::error::ToolError;
use crate::network;
use crate::options::{EndOptions, NetworkOptions, OutputOptions, period, rate, seconds, size};
use crate::stop::Stop;
use crate::topic_reader::delay_nanos;
use clap::{Args, Subcommand};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use serde_json::json;
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
/// Most bytes that a writer keeps of samples with a known size, unless its least samples take more.
const HISTORY_BYTES_MAX: u32 = 64 << 20;
/// Least samples that a writer keeps: it writes one while the readers acknowledge the other.
const HISTORY_SAMPLES_MIN: u32 = 2;
/// Most samples that a writer keeps.
const HISTORY_SAMPLES_MAX: u32 = 8192;
/// Most samples of any size that a side keeps: 64 of the largest take 4 GiB, of 1 MiB 64 MiB.
const UNKNOWN_SAMPLES_MAX: u32 = 64;
/// Bytes of a sample beside its payload: number, sender and the length of the payload.
const SAMPLE_HEADER_LEN: usize = 20;
/// Most bytes of a sample.
const SAMPLE_LEN_MAX: usize = 60_000_000;

/// A measurement between two processes.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum PerfCommand {
    /// Measure how long samples take to `dds perf pong` and back.
    Ping(PerfSendOptions),
    /// Send every sample back to `dds perf ping`.
    Pong(PerfSideOptions),
    /// Send samples to `dds perf subscribe` as fast as possible, or at a rate.
    Publish(PerfSendOptions),
    /// Receive the samples of `dds perf publish`: rate, bytes, delay and losses.
    Subscribe(PerfReportOptions),
}

/// Options of `perf ping` and `perf publish`.
#[derive(Debug, Clone, Args)]
pub struct PerfSendOptions {
    /// Bytes of a sample, from 20 to 60M, such as 64, 1k or 1M.
    #[arg(short, long, default_value = "64", value_parser = sample_len)]
    pub size: usize,
    /// Samples for each second. Without it, as fast as possible.
    #[arg(short, long, value_name = "HZ", value_parser = rate)]
    pub rate: Option<f64>,
    /// Seconds to wait for the other side.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub wait: Duration,
    /// Options of the report.
    #[command(flatten)]
    pub report: PerfReportOptions,
}

/// Options of all commands that print a measurement.
#[derive(Debug, Clone, Args)]
pub struct PerfReportOptions {
    /// Seconds between two lines.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = period)]
    pub every: Duration,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// Options of every side.
    #[command(flatten)]
    pub side: PerfSideOptions,
}

/// Options of every side, and all options of `perf pong`.
#[derive(Debug, Clone, Args)]
pub struct PerfSideOptions {
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

/// Reads the bytes of a sample.
fn sample_len(text: &str) -> Result<usize, String> {
    match size(text).map(usize::try_from) {
        Ok(Ok(len)) if (SAMPLE_HEADER_LEN..=SAMPLE_LEN_MAX).contains(&len) => Ok(len),
        _ => Err("expected a number of bytes from 20 to 60M, such as 64, 1k or 1M".to_owned()),
    }
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
    ResourceLimits::NONE.max_samples((HISTORY_BYTES_MAX / sample_len).clamp(HISTORY_SAMPLES_MIN, HISTORY_SAMPLES_MAX))
}

fn writer(
    participant: &DomainParticipant,
    topic: &str,
    options: &PerfSideOptions,
    limits: ResourceLimits,
) -> Result<DataWriter<PerfSample>, ToolError> {
    let qos = DataWriterQos::default().keep_all().resource_limits(limits);
    let qos = if options.best_effort { qos.best_effort() } else { qos.reliable() };
    Ok(participant.writer_builder::<PerfSample>(topic).qos(qos).build()?)
}

fn reader(
    participant: &DomainParticipant,
    topic: &str,
    options: &PerfSideOptions,
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
    let PerfSendOptions { size, rate, wait, report: shared } = options;
    let participant = network::join(&shared.side.network)?;
    let reader = reader(&participant, PONG_TOPIC, &shared.side)?;
    let writer = writer(&participant, PING_TOPIC, &shared.side, limits(*size))?;
    await_peer(*wait, stop, "pong", |step| {
        writer.wait_for_readers(1).block_for(step).is_ok() && reader.wait_for_writers(1).block_for(step).is_ok()
    })?;
    let mut sample = PerfSample { sender: sender_of(&writer), ..PerfSample::default() };
    sample.payload.resize(size - SAMPLE_HEADER_LEN, 0);
    let warm_up = stop.after(Some(WARM_UP));
    while !warm_up.is_due() {
        round_trip(&writer, &reader, &mut sample, &warm_up)?;
    }
    let stop = stop.after(duration_of(shared));
    let mut report = PerfReport::new(PerfValue::RoundTrip, shared)?;
    let mut pacer = SamplePacer::new(*rate);
    while !stop.is_due() && shared.side.end.count.is_none_or(|count| report.total.samples + report.total_lost < count) {
        pacer.wait(&stop);
        match round_trip(&writer, &reader, &mut sample, &stop)? {
            Some(time) => report.add(*size, i64::try_from(time.as_nanos()).ok()),
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

fn pong(options: &PerfSideOptions, stop: &Stop) -> Result<(), ToolError> {
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
    let PerfSendOptions { size, rate, wait, report: shared } = options;
    let participant = network::join(&shared.side.network)?;
    let writer = writer(&participant, THROUGHPUT_TOPIC, &shared.side, limits(*size))?;
    await_peer(*wait, stop, "subscribe", |step| writer.wait_for_readers(1).block_for(step).is_ok())?;
    let mut sample = PerfSample { sender: sender_of(&writer), ..PerfSample::default() };
    sample.payload.resize(size - SAMPLE_HEADER_LEN, 0);
    let end = stop.after(duration_of(shared));
    let mut report = PerfReport::new(PerfValue::Write, shared)?;
    let mut pacer = SamplePacer::new(*rate);
    while !end.is_due() && shared.side.end.count.is_none_or(|count| report.total.samples < count) {
        pacer.wait(&end);
        sample.number += 1;
        let start = Instant::now();
        if write(&writer, &sample, &end)? {
            report.add(*size, i64::try_from(start.elapsed().as_nanos()).ok());
        }
        report.print_period(output)?;
    }
    report.print_total("reader", output)?;
    let limit = stop.after(Some(ACKNOWLEDGMENT_TIME));
    while writer.acknowledged().block_for(limit.step()).is_err() && !limit.is_due() {}
    Ok(())
}

fn subscribe(options: &PerfReportOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let end = &options.side.end;
    let participant = network::join(&options.side.network)?;
    let reader = reader(&participant, THROUGHPUT_TOPIC, &options.side)?;
    let stop = stop.after(end.duration);
    let mut report = PerfReport::new(PerfValue::Delay, options)?;
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
                report.restart_clock();
            }
            report.add(encoded.bytes.len(), delay_nanos(sample.info()));
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

fn duration_of(options: &PerfReportOptions) -> Option<Duration> {
    match (options.side.end.duration, options.side.end.count) {
        (None, None) => Some(DEFAULT_DURATION),
        (duration, _) => duration,
    }
}

/// The measured value of each sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PerfValue {
    /// The time until the reply.
    RoundTrip,
    /// The time of a call of `write`. The writer does not know what the readers lose.
    Write,
    /// The time from the source timestamp to the reception.
    Delay,
}

/// The lines of a measurement.
struct PerfReport {
    value: PerfValue,
    every: Duration,
    is_json: bool,
    period: PeriodStatistics,
    period_lost: u64,
    total: PeriodStatistics,
    total_lost: u64,
}

impl PerfReport {
    fn new(value: PerfValue, options: &PerfReportOptions) -> Result<Self, ToolError> {
        let (period, total) = (PeriodStatistics::new()?, PeriodStatistics::new()?);
        let (every, is_json) = (options.every, options.output.json);
        Ok(Self { value, every, is_json, period, period_lost: 0, total, total_lost: 0 })
    }

    /// Starts the present period and the total now. Losses so far still count.
    fn restart_clock(&mut self) {
        let now = Instant::now();
        (self.period.start, self.total.start) = (now, now);
    }

    fn add(&mut self, bytes: usize, value: Option<i64>) {
        let now = Instant::now();
        self.period.add(now, bytes, value);
        self.total.add(now, bytes, value);
    }

    fn add_lost(&mut self, lost: u64) {
        self.period_lost += lost;
        self.total_lost += lost;
    }

    /// Prints the period if its time is over, and a sample came or got lost.
    fn print_period(&mut self, output: &mut dyn Write) -> Result<(), ToolError> {
        if self.period.start.elapsed() < self.every {
            return Ok(());
        }
        if self.period.samples + self.period_lost > 0 {
            let rates = self.period.rates_until(Instant::now());
            let line = self.line(&self.period, self.period_lost, rates, false);
            write_line(output, &line)?;
        }
        (self.period, self.period_lost) = (PeriodStatistics::new()?, 0);
        Ok(())
    }

    fn print_total(&self, awaited: &str, output: &mut dyn Write) -> Result<(), ToolError> {
        // If all samples were lost, the other side runs, and the losses are the result.
        if self.total.samples == 0 && self.total_lost == 0 {
            let next_step = "start the other side with the same options; `dds why` explains missing matches";
            return Err(ToolError::NothingArrived { awaited: awaited.to_owned(), next_step });
        }
        write_line(output, &self.line(&self.total, self.total_lost, self.total.rates_of_arrivals(), true))
    }

    /// Returns the line of a period or of the total.
    fn line(&self, found: &PeriodStatistics, lost: u64, rates: (f64, f64), is_total: bool) -> String {
        let lost = if self.value == PerfValue::Write { None } else { Some(lost) };
        if self.is_json {
            let unit = match self.value {
                PerfValue::RoundTrip => "round_trip_ns",
                PerfValue::Write => "write_ns",
                PerfValue::Delay => "delay_ns",
            };
            let mut line = found.to_json(unit, is_total, rates);
            if let Some(lost) = lost {
                line["lost"] = json!(lost);
            }
            return line.to_string();
        }
        let label = if is_total { "total: " } else { "" };
        let (rate, bytes) = (rates.0, bytes_text(rates.1));
        let lost = lost.map(|lost| format!(", lost {lost}")).unwrap_or_default();
        let values = match self.value {
            PerfValue::RoundTrip => format!("round trip {}", found.percentiles(nanos_text)),
            PerfValue::Write => format!("write {}", found.percentiles(nanos_text)),
            PerfValue::Delay => found.delay_text(),
        };
        format!("{label}{} samples, {rate:.0} Hz, {bytes}/s{lost}, {values}", found.samples)
    }
}

fn write_line(output: &mut dyn Write, line: &str) -> Result<(), ToolError> {
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(ToolError::output)
}

#[cfg(test)]
mod tests {
    use super::{
        HISTORY_SAMPLES_MAX, HISTORY_SAMPLES_MIN, PerfReport, PerfSample, PerfValue, SAMPLE_HEADER_LEN, limits,
        sample_len,
    };
    use crate::options::PerfReportOptions;
    use clap::Parser;
    use dds_core::cdr::Encoding;
    use dds_core::dynamic::{DynamicData, DynamicType};
    use dds_core::qos::ResourceLimits;

    #[derive(Parser)]
    struct ReportLine {
        #[command(flatten)]
        options: PerfReportOptions,
    }

    fn report(value: PerfValue, arguments: &[&str]) -> PerfReport {
        let line = ReportLine::parse_from([&["report"], arguments].concat());
        PerfReport::new(value, &line.options).unwrap()
    }

    #[test]
    fn losses_before_the_first_sample_count() {
        for form in [&[][..], &["--json"]] {
            let (mut report, mut output) = (report(PerfValue::Delay, form), Vec::new());
            report.add_lost(3);
            report.restart_clock();
            report.add(100, Some(-5));
            report.print_total("sample", &mut output).unwrap();
            let text = String::from_utf8(output).unwrap();
            let expected = if form.is_empty() {
                ["lost 3, ", "1 samples arrived before"]
            } else {
                ["\"lost\":3", "\"before_source_timestamp\":1"]
            };
            assert!(expected.iter().all(|part| text.contains(part)), "{text}");
        }
    }

    #[test]
    fn writer_reports_no_losses() {
        for form in [&[][..], &["--json"]] {
            let (mut report, mut output) = (report(PerfValue::Write, form), Vec::new());
            report.add(100, Some(5));
            report.print_total("reader", &mut output).unwrap();
            let text = String::from_utf8(output).unwrap();
            assert!(text.contains("samples") && !text.contains("lost"), "{text}");
        }
    }

    #[test]
    fn samples_have_a_least_and_a_most_length() {
        assert_eq!((sample_len("20"), sample_len("1M"), sample_len("60M")), (Ok(20), Ok(1_000_000), Ok(60_000_000)));
        for text in ["19", "61M", "1T", "-1", ""] {
            assert!(sample_len(text).is_err(), "{text}");
        }
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
        assert_eq!(limits(16 << 20), ResourceLimits::NONE.max_samples(4));
        assert_eq!(limits(usize::MAX), ResourceLimits::NONE.max_samples(HISTORY_SAMPLES_MIN));
    }
}
