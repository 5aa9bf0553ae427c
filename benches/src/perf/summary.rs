//! An outcome as a table.

use crate::perf::quantity::{bytes_text, count_text, micros_text};
use crate::perf::record::{Latency, LatencyKind, Outcome, Pattern};
use std::fmt::Write as _;
use std::io::Write as _;

/// Most readers whose losses are printed.
const REASONS_MAX: usize = 3;

/// Prints text. A closed pipe, as with `head`, is not an error: the results still go into their file.
///
/// # Errors
///
/// Returns an error if standard output fails for another reason.
pub fn print(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    let printed = writeln!(output, "{text}").and_then(|()| output.flush());
    match printed {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// The outcome in at most one screen.
#[must_use]
pub fn of(outcome: &Outcome) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(&mut text, outcome);
    text
}

fn write(text: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let Outcome { settings, environment, .. } = outcome;
    let what = match outcome.pattern {
        Pattern::Roundtrip => "round trips",
        Pattern::Throughput => "throughput",
    };
    let rate = settings.rate.map_or_else(|| "as fast as possible".to_owned(), |rate| format!("{rate} samples/s"));
    writeln!(text, "{what}, {}, {}, {rate}", bytes_text(settings.size), settings.qos)?;
    if settings.topics * settings.writers * settings.readers > 1 {
        writeln!(
            text,
            "  {} topics, each with {} writers and {} readers",
            settings.topics, settings.writers, settings.readers
        )?;
    }
    writeln!(
        text,
        "  {}, {} cores, {}, commit {} ({})",
        environment.processor, environment.cores, environment.kernel, environment.commit, environment.profile
    )?;
    if environment.profile != "release" {
        writeln!(text, "  NOTE: not built with --release; these figures say nothing about the library")?;
    }
    write_latencies(text, outcome)?;
    write_counts(text, outcome)?;
    write_reasons(text, outcome)?;
    write_processes(text, outcome)?;
    for calls in &outcome.system_calls {
        let mut names: Vec<_> = calls.by_name.iter().collect();
        names.sort_by(|a, b| b.1.total_cmp(a.1));
        let names: Vec<String> = names.iter().map(|(name, count)| format!("{name} {count:.2}")).collect();
        writeln!(text, "  {:<10} {:>5.2} system calls a sample: {}", calls.role, calls.per_sample, names.join(", "))?;
    }
    Ok(())
}

fn write_latencies(text: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let columns = ["µs", "min", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
    write!(text, "\n  {:<12}", columns[0])?;
    for column in columns.iter().skip(1) {
        write!(text, " {column:>9}")?;
    }
    writeln!(text)?;
    let name = match outcome.latency_of {
        LatencyKind::Roundtrip => "round trip",
        LatencyKind::OneWay | LatencyKind::OneWayTwoClocks => "one way",
    };
    write_row(text, name, &outcome.latency)?;
    if let Some(floor) = &outcome.floor {
        write_row(text, "raw UDP", floor)?;
        let ratio = |of: fn(&Latency) -> u64| of(&outcome.latency) as f64 / of(floor).max(1) as f64;
        let ratios = [
            ratio(|latency| latency.min),
            ratio(|latency| latency.p50),
            ratio(|latency| latency.p90),
            ratio(|latency| latency.p99),
        ];
        write!(text, "  {:<12}", "ratio")?;
        for ratio in ratios {
            write!(text, " {ratio:>9.2}")?;
        }
        writeln!(text)?;
    }
    if let Some(delay) = &outcome.send_delay {
        write_row(text, "sent late by", delay)?;
    }
    if outcome.latency_of == LatencyKind::OneWayTwoClocks {
        writeln!(text, "  One way by the clocks of two hosts: as good as these are synchronized (PTP, NTP).")?;
    }
    if outcome.before_sent > 0 {
        let count = count_text(outcome.before_sent);
        writeln!(text, "  {count} samples came before they were sent: the clocks differ by more than the latency.")?;
    }
    if outcome.pattern == Pattern::Throughput && outcome.settings.rate.is_none() {
        writeln!(text, "  Under full load, this is the time that samples wait in queues. Use --rate for latency.")?;
    }
    Ok(())
}

fn write_row(text: &mut String, name: &str, latency: &Latency) -> std::fmt::Result {
    let Latency { min, p50, p90, p99, p99_9, p99_99, max, .. } = latency;
    write!(text, "  {name:<12}")?;
    let mut all = [min, p50, p90, p99, p99_9, p99_99, max].into_iter();
    all.try_for_each(|value| write!(text, " {:>9}", micros_text(*value)))?;
    writeln!(text)
}

fn write_counts(text: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let Outcome { received, expected, lost, out_of_order, duplicates, write_failed, .. } = outcome;
    writeln!(
        text,
        "\n  {} samples/s, {:.1} MB/s, over {:.2} s; discovery took {:.1} ms",
        count_text(outcome.samples_per_second as u64),
        outcome.megabytes_per_second,
        outcome.seconds,
        outcome.discovery_ms
    )?;
    let (received, expected) = (count_text(*received), count_text(*expected));
    write!(text, "  {received} of {expected} received, {} lost", count_text(*lost))?;
    write!(text, ", {} out of order, {} twice", count_text(*out_of_order), count_text(*duplicates))?;
    if *write_failed > 0 {
        write!(text, ", {} could not be written", count_text(*write_failed))?;
    }
    writeln!(text)
}

/// Lost and repaired samples by cause.
fn write_reasons(text: &mut String, outcome: &Outcome) -> std::fmt::Result {
    for process in &outcome.processes {
        if let Some(dropped) = process.reasons.socket_dropped.filter(|dropped| *dropped > 0) {
            let dropped = count_text(dropped);
            writeln!(
                text,
                "  {}: its sockets had no room for {dropped} datagrams (see --receive-buffer)",
                process.role
            )?;
        }
        for reason in process.reasons.lost.iter().take(REASONS_MAX) {
            writeln!(text, "  {}: {}", process.role, reason.trim_end().replace('\n', "\n    "))?;
        }
    }
    Ok(())
}

fn write_processes(text: &mut String, outcome: &Outcome) -> std::fmt::Result {
    if outcome.processes.iter().all(|process| process.usage.is_none()) {
        return writeln!(text, "  processor time is not reported: the raw sockets used the same processes in turns");
    }
    let header = ["receives", "user µs", "system µs", "switches", "sent", "received", "memory"];
    write!(text, "\n  {:<10} {:<9}", "a sample", header[0])?;
    for column in header.iter().skip(1) {
        write!(text, " {column:>10}")?;
    }
    writeln!(text)?;
    for process in &outcome.processes {
        let Some(usage) = &process.usage else { continue };
        let samples = match &process.received {
            Some(received) => received.samples,
            None if outcome.pattern == Pattern::Throughput => outcome.expected / u64::from(outcome.settings.readers),
            None => outcome.received,
        };
        let each = |count: u64| count as f64 / samples.max(1) as f64;
        writeln!(
            text,
            "  {:<10} {:<9} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10}",
            process.role,
            process.receive,
            each(usage.user_us),
            each(usage.system_us),
            each(usage.voluntary_switches + usage.involuntary_switches),
            each(usage.datagrams_sent),
            each(usage.datagrams_received),
            bytes_text(usage.resident)
        )?;
    }
    writeln!(text, "  (switches: of threads; sent, received: datagrams; memory: resident at the end)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::record::tests::outcome;

    #[test]
    fn table_has_each_measured_value() {
        let mut outcome = outcome("a", &[10_000, 12_000, 14_000, 100_000]);
        outcome.floor = Some(outcome.latency.clone());
        outcome.lost = 3;
        let text = of(&outcome);
        for part in [
            "round trips, 64 B, reliable, keep last 1",
            "12.0",
            "100.0",
            "3 lost",
            "ratio",
            "1.00",
            "pong",
            "no room for 7",
            "for a reason",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
