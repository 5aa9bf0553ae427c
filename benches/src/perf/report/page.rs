//! The page: a section for round trips and one for one-way latencies, which are not comparable.

use super::Measured;
use super::axis::{Axis, percentile};
use super::figure::{COLORS, Figure, Line, escaped};
use crate::perf::machine::date_text;
use crate::perf::quantity::{bytes_text, count_text, micros_text};
use crate::perf::record::{Latency, LatencyKind, Outcome, Pattern};
use std::collections::BTreeSet;

const STYLE: &str = include_str!("page.css");
/// Most visible points of a line.
const POINTS_MAX: f64 = 400.0;

/// The whole page.
pub(super) fn of(title: &str, measured: &[Measured]) -> String {
    let title = escaped(title);
    let sections: String = [
        (Pattern::Roundtrip, "Round trips", "Time from the writing of a sample until its echo is there."),
        (
            Pattern::Throughput,
            "One way",
            "Time from when a sample was due until its reader had it; samples received a second.",
        ),
    ]
    .into_iter()
    .map(|(pattern, name, words)| {
        let own: Vec<&Measured> = measured.iter().filter(|one| one.outcome.pattern == pattern).collect();
        if own.is_empty() { String::new() } else { section(name, words, &own) }
    })
    .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>{sections}{}</body></html>\n",
        environments(measured)
    )
}

fn section(name: &str, words: &str, measured: &[&Measured]) -> String {
    let mut html = format!("<section><h2>{name}</h2><p class=\"soft\">{words}</p>");
    html += &legend(measured);
    html += &results(measured);
    html += &figure(
        "Latency by percentile",
        "The further right, the rarer: a line that stays low up to the right edge has no outliers. Dashed: raw UDP sockets, in turns with the DDS.",
        &percentiles(measured),
    );
    if measured.iter().any(|one| one.intervals.len() > 1) {
        html += &figure(
            "Latency over time",
            "The median (solid) and 99 % (dashed) of each interval.",
            &latency_course(measured),
        );
        html += &figure("Samples a second over time", "As received, in each interval.", &rate_course(measured));
    }
    html += &processes(measured);
    html += "</section>";
    html
}

fn figure(name: &str, words: &str, figure: &Figure) -> String {
    format!("<figure><h3>{name}</h3>{}<figcaption class=\"soft\">{words}</figcaption></figure>", figure.svg())
}

fn legend(measured: &[&Measured]) -> String {
    let item = |(number, one): (usize, &&Measured)| {
        let sign = if number < COLORS { "━" } else { "╍" };
        format!("<li><b class=\"c{}\">{sign}</b> {}</li>", number % COLORS, escaped(&one.outcome.label))
    };
    format!("<ul class=\"legend\">{}</ul>", measured.iter().enumerate().map(item).collect::<String>())
}

/// A table. The first row is the header.
fn table(rows: impl Iterator<Item = Vec<String>>) -> String {
    let row = |(at, cells): (usize, Vec<String>)| {
        let tag = if at == 0 { "th" } else { "td" };
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{cells}</tr>")
    };
    format!("<div class=\"wide\"><table>{}</table></div>", rows.enumerate().map(row).collect::<String>())
}

fn results(measured: &[&Measured]) -> String {
    let header = [
        "µs",
        "min",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "p99.99",
        "max",
        "p50 / raw UDP",
        "samples/s",
        "MB/s",
        "lost",
        "out of order",
        "twice",
    ];
    let row = |outcome: &Outcome| {
        let Latency { min, p50, p90, p99, p99_9, p99_99, max, .. } = outcome.latency;
        let mut cells = vec![outcome.label.clone()];
        cells.extend([min, p50, p90, p99, p99_9, p99_99, max].map(micros_text));
        let ratio = |floor: &Latency| format!("{:.2}", p50 as f64 / floor.p50.max(1) as f64);
        cells.push(outcome.floor.as_ref().map_or_else(|| "–".to_owned(), ratio));
        cells.push(count_text(outcome.samples_per_second as u64));
        cells.push(format!("{:.1}", outcome.megabytes_per_second));
        cells.extend([outcome.lost, outcome.out_of_order, outcome.duplicates].map(count_text));
        cells
    };
    let rows = measured.iter().map(|one| row(&one.outcome));
    table(std::iter::once(header.map(str::to_owned).to_vec()).chain(rows))
}

fn percentiles(measured: &[&Measured]) -> Figure {
    let floors = || measured.iter().filter_map(|one| one.outcome.floor.as_ref());
    let all = || measured.iter().map(|one| &one.outcome.latency).chain(floors()).filter(|latency| latency.samples > 0);
    let y = all().flat_map(|latency| [latency.min, latency.max]).map(micros);
    let samples = all().map(|latency| latency.samples).max().unwrap_or_default();
    let mut lines = Vec::new();
    for (number, Measured { outcome, .. }) in measured.iter().enumerate() {
        lines.push(distribution(&outcome.latency, number, &outcome.label, false));
        if let Some(floor) = &outcome.floor {
            lines.push(distribution(floor, number, &format!("raw UDP beside {}", outcome.label), true));
        }
    }
    Figure { x: Axis::percentiles(samples), y: Axis::logarithmic("µs", y.collect::<Vec<_>>().into_iter()), lines }
}

fn distribution(latency: &Latency, number: usize, name: &str, is_dashed: bool) -> Line {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    for (value, count) in &latency.distribution {
        // A bucket spans from the share of shorter samples to the share of samples that are not longer.
        let begin = percentile(below as f64 / latency.samples as f64);
        below += count;
        // The last sample represents half of its share, because a quantile of 1 is infinite here.
        let end = percentile((below as f64 - 0.5) / latency.samples as f64);
        let is_far = points.last().is_none_or(|(x, _)| end - x > 7.0 / POINTS_MAX);
        if is_far || below == latency.samples {
            points.push((begin, micros(*value)));
            points.push((end, micros(*value)));
        }
    }
    let quantiles = [
        (0.5, latency.p50, "p50"),
        (0.9, latency.p90, "p90"),
        (0.99, latency.p99, "p99"),
        (0.999, latency.p99_9, "p99.9"),
        (0.9999, latency.p99_99, "p99.99"),
    ];
    let has = |quantile: f64| latency.samples as f64 * (1.0 - quantile) >= 1.0;
    let marked = quantiles.into_iter().filter(|(quantile, ..)| has(*quantile)).map(|(quantile, value, text)| {
        ((percentile(quantile), micros(value)), format!("{name}: {text} = {} µs", micros_text(value)))
    });
    Line { name: name.to_owned(), number, is_dashed, points, marked: marked.collect() }
}

fn latency_course(measured: &[&Measured]) -> Figure {
    let mut lines = Vec::new();
    for (number, one) in measured.iter().enumerate() {
        for (is_dashed, what) in [(false, "p50"), (true, "p99")] {
            let of = |latency: &Latency| micros(if is_dashed { latency.p99 } else { latency.p50 });
            let points = one.intervals.iter().filter_map(|part| Some((part.at, of(part.latency.as_ref()?))));
            let name = format!("{}, {what}", one.outcome.label);
            lines.push(Line { name, number, is_dashed, points: points.collect(), marked: Vec::new() });
        }
    }
    let values: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y).collect();
    Figure { x: seconds(measured), y: Axis::logarithmic("µs", values.into_iter()), lines }
}

fn rate_course(measured: &[&Measured]) -> Figure {
    let line = |(number, one): (usize, &&Measured)| {
        let processes: BTreeSet<u64> = one.intervals.iter().map(|part| part.process).collect();
        // Only the first process is shown: the intervals of processes differ.
        let own = one.intervals.iter().filter(|part| Some(&part.process) == processes.first());
        let points = own.map(|part| (part.at, part.samples_per_second)).collect();
        Line { name: one.outcome.label.clone(), number, is_dashed: false, points, marked: Vec::new() }
    };
    let lines: Vec<Line> = measured.iter().enumerate().map(line).collect();
    let values: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y).collect();
    Figure { x: seconds(measured), y: Axis::linear("samples/s", values.into_iter()), lines }
}

fn seconds(measured: &[&Measured]) -> Axis {
    Axis::linear("seconds", measured.iter().flat_map(|one| &one.intervals).map(|part| part.at))
}

fn micros(nanoseconds: u64) -> f64 {
    nanoseconds.max(1) as f64 / 1000.0
}

/// Usage of each process per sample.
fn processes(measured: &[&Measured]) -> String {
    let header = [
        "a sample",
        "process",
        "receives",
        "user µs",
        "system µs",
        "switches",
        "datagrams sent",
        "received",
        "system calls",
        "memory",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for Measured { outcome, .. } in measured {
        for process in &outcome.processes {
            let Some(usage) = &process.usage else { continue };
            let each = |count: u64| format!("{:.3}", count as f64 / outcome.received.max(1) as f64);
            let calls = outcome.system_calls.iter().find(|calls| calls.role == process.role);
            rows.push(vec![
                outcome.label.clone(),
                process.role.clone(),
                process.receive.clone(),
                each(usage.user_us),
                each(usage.system_us),
                each(usage.voluntary_switches + usage.involuntary_switches),
                each(usage.datagrams_sent),
                each(usage.datagrams_received),
                calls.map_or_else(|| "–".to_owned(), |calls| format!("{:.2}", calls.per_sample)),
                bytes_text(usage.resident),
            ]);
        }
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("<h3>Resource usage</h3>{}", table(rows.into_iter()))
}

/// Environment and settings of each result.
fn environments(measured: &[Measured]) -> String {
    let one = |Measured { outcome, .. }: &Measured| {
        let Outcome { environment, settings, .. } = outcome;
        let clocks = match outcome.latency_of {
            LatencyKind::Roundtrip => "one clock, there and back",
            LatencyKind::OneWay => "the monotonic clock of one host",
            LatencyKind::OneWayTwoClocks => "the clocks of two hosts: as good as they are synchronized",
        };
        let rate = settings.rate.map_or_else(|| "as fast as possible".to_owned(), |rate| format!("{rate} samples/s"));
        let rows = [
            ("command", environment.command.join(" ")),
            ("commit", format!("{} ({}, {})", environment.commit, environment.program_version, environment.profile)),
            ("machine", format!("{}: {}, {} cores", environment.host, environment.processor, environment.cores)),
            ("kernel", environment.kernel.clone()),
            ("started", date_text(environment.started)),
            ("sample", bytes_text(settings.size)),
            ("QoS", settings.qos.to_string()),
            ("rate", rate),
            (
                "topics, writers and readers of each",
                format!("{}, {}, {}", settings.topics, settings.writers, settings.readers),
            ),
            ("scope, IP", format!("{}, {}", settings.scope, settings.ip)),
            ("faults", settings.faults.clone().unwrap_or_else(|| "none".to_owned())),
            ("latency by", clocks.to_owned()),
            ("discovery", format!("{:.1} ms", outcome.discovery_ms)),
        ];
        let rows: String = rows
            .iter()
            .map(|(name, value)| {
                format!("<tr><th class=\"left\">{name}</th><td class=\"left\">{}</td></tr>", escaped(value))
            })
            .collect();
        format!("<details><summary>{}</summary><table>{rows}</table></details>", escaped(&outcome.label))
    };
    format!("<section><h2>How it was measured</h2>{}</section>", measured.iter().map(one).collect::<String>())
}
