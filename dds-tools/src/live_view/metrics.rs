//! The figures for collectors: Prometheus text, and OTLP.
//!
//! OTLP is JSON over HTTP, which every collector accepts (OpenTelemetry Protocol, "OTLP/HTTP"). It is written here,
//! because the crates for it bring an HTTP client, protobuf and an async runtime.

use super::snapshot::Snapshot;
use super::topics::TopicFigures;
use dds_core::Guid;
use dds_core::stats::{LatencyKind, LatencyReport};
use serde_json::{Value, json};
use std::fmt::Write;

/// Upper ends of the latency buckets, in nanoseconds: from 1 µs to 10 s.
///
/// The reports have finer buckets. A bucket of a report counts in the first one that contains its longest time.
const LATENCY_BOUNDS: [u64; 22] = {
    let mut bounds = [0; 22];
    let (mut at, mut scale) = (0, 1_000);
    while at < 21 {
        bounds[at] = scale;
        bounds[at + 1] = 2 * scale;
        bounds[at + 2] = 5 * scale;
        (at, scale) = (at + 3, 10 * scale);
    }
    bounds[21] = scale;
    bounds
};

/// AGGREGATION_TEMPORALITY_CUMULATIVE of OTLP.
const CUMULATIVE: u32 = 2;

const LATENCY_NAME: &str = "dds_latency_seconds";
const LATENCY_HELP: &str =
    "Latencies that participants publish. With crosses_hosts, they contain the difference of the hosts' clocks.";

/// A figure of each topic.
struct TopicMetric {
    name: &'static str,
    is_counter: bool,
    help: &'static str,
    value: fn(&TopicFigures) -> Option<f64>,
}

const TOPIC_METRICS: [TopicMetric; 5] = [
    TopicMetric {
        name: "dds_topic_samples_total",
        is_counter: true,
        help: "Samples that this program received.",
        value: |it| Some(it.samples_total as f64),
    },
    TopicMetric {
        name: "dds_topic_bytes_total",
        is_counter: true,
        help: "Bytes of these samples.",
        value: |it| Some(it.bytes_total as f64),
    },
    TopicMetric {
        name: "dds_topic_lost_total",
        is_counter: true,
        help: "Samples that got lost on the way to this program.",
        value: |it| Some(it.lost_total as f64),
    },
    TopicMetric {
        name: "dds_topic_delay_p50_seconds",
        is_counter: false,
        help: "Median of the delay in the last second.",
        value: |it| Some(seconds(it.delay_p50_ns?)),
    },
    TopicMetric {
        name: "dds_topic_delay_p99_seconds",
        is_counter: false,
        help: "99th percentile of the delay.",
        value: |it| Some(seconds(it.delay_p99_ns?)),
    },
];

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Returns the counts of a report for each of [`LATENCY_BOUNDS`], and of the longer times.
fn bucket_counts(report: &LatencyReport) -> [u64; LATENCY_BOUNDS.len() + 1] {
    let mut counts = [0_u64; LATENCY_BOUNDS.len() + 1];
    for bucket in &report.buckets {
        let count = &mut counts[LATENCY_BOUNDS.partition_point(|bound| *bound < bucket.upper_ns)];
        *count = count.saturating_add(bucket.count);
    }
    counts
}

/// Returns the labels of a report.
fn latency_labels(report: &LatencyReport) -> [(&'static str, String); 4] {
    let kind = match report.kind {
        LatencyKind::WriteToReception => "write_to_reception",
        LatencyKind::ReceptionToTake => "reception_to_take",
        LatencyKind::Acknowledgment => "acknowledgment",
    };
    [
        ("topic", report.topic_name.clone()),
        ("endpoint", Guid::from_bytes(report.endpoint).to_string()),
        ("kind", kind.to_owned()),
        ("crosses_hosts", report.crosses_hosts.to_string()),
    ]
}

/// Returns the figures as Prometheus text, version 0.0.4.
pub(crate) fn prometheus(snapshot: &Snapshot, latencies: &[&LatencyReport]) -> String {
    let mut text = String::new();
    for TopicMetric { name, is_counter, help, value } in &TOPIC_METRICS {
        let kind = if *is_counter { "counter" } else { "gauge" };
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (topic, figures) in snapshot.topic_figures() {
            let _ = writeln!(text, "{name}{{topic=\"{}\"}} {}", escaped(topic), value(figures).unwrap_or(f64::NAN));
        }
    }
    let name = "dds_participant_socket_dropped_total";
    let _ = writeln!(text, "# HELP {name} Datagrams that its sockets dropped.\n# TYPE {name} counter");
    for (guid, participant, dropped) in snapshot.socket_drops() {
        let _ = writeln!(text, "{name}{{guid=\"{guid}\",participant=\"{}\"}} {dropped}", escaped(participant));
    }
    let (name, problems) = ("dds_problems", snapshot.problem_count());
    let _ = writeln!(text, "# HELP {name} Problems that the page lists.\n# TYPE {name} gauge\n{name} {problems}");
    let _ = writeln!(text, "# HELP {LATENCY_NAME} {LATENCY_HELP}\n# TYPE {LATENCY_NAME} histogram");
    for report in latencies {
        write_latency(&mut text, report);
    }
    text
}

fn write_latency(text: &mut String, report: &LatencyReport) {
    let labels = latency_labels(report).map(|(name, value)| format!("{name}=\"{}\"", escaped(&value))).join(",");
    let mut total = 0_u64;
    for (at, count) in bucket_counts(report).into_iter().enumerate() {
        total = total.saturating_add(count);
        let bound = LATENCY_BOUNDS.get(at).map_or_else(|| "+Inf".to_owned(), |bound| seconds(*bound).to_string());
        let _ = writeln!(text, "{LATENCY_NAME}_bucket{{{labels},le=\"{bound}\"}} {total}");
    }
    let _ = writeln!(text, "{LATENCY_NAME}_sum{{{labels}}} {}", seconds(report.sum_ns));
    let _ = writeln!(text, "{LATENCY_NAME}_count{{{labels}}} {total}");
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the figures as an ExportMetricsServiceRequest in JSON. Times are nanoseconds since 1970.
///
/// Its 64-bit integers are text, as the JSON of protobuf has them.
pub(crate) fn otlp(snapshot: &Snapshot, latencies: &[&LatencyReport], started: i64, now: i64) -> Value {
    let times = |mut point: Value| {
        point["timeUnixNano"] = now.to_string().into();
        point
    };
    let mut metrics = Vec::new();
    for TopicMetric { name, is_counter, help, value } in &TOPIC_METRICS {
        let point = |topic: &str, value: f64| {
            times(json!({
                "attributes": attributes([("topic", topic.to_owned())]),
                "startTimeUnixNano": started.to_string(),
                "asDouble": value,
            }))
        };
        let figures = snapshot.topic_figures();
        let points: Vec<Value> = figures.filter_map(|(topic, it)| Some(point(topic, value(it)?))).collect();
        let mut metric = json!({ "name": name, "description": help });
        if *is_counter {
            metric["sum"] = json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points });
        } else {
            metric["gauge"] = json!({ "dataPoints": points });
        }
        metrics.push(metric);
    }
    let bounds = LATENCY_BOUNDS.map(seconds);
    let histogram = |report: &&LatencyReport| {
        let counts = bucket_counts(report);
        times(json!({
            "attributes": attributes(latency_labels(report)),
            "count": counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)).to_string(),
            "sum": seconds(report.sum_ns),
            "min": seconds(report.min_ns),
            "max": seconds(report.max_ns),
            "bucketCounts": counts.map(|count| count.to_string()),
            "explicitBounds": bounds,
        }))
    };
    let points: Vec<Value> = latencies.iter().map(histogram).collect();
    metrics.push(json!({
        "name": LATENCY_NAME,
        "description": LATENCY_HELP,
        "unit": "s",
        "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": points },
    }));
    json!({ "resourceMetrics": [{
        "resource": { "attributes": attributes([("service.name", "dds serve".to_owned())]) },
        "scopeMetrics": [{
            "scope": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] })
}

fn attributes<const N: usize>(labels: [(&str, String); N]) -> Value {
    labels.into_iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
}

#[cfg(test)]
mod tests {
    use super::{LATENCY_BOUNDS, seconds};

    #[test]
    fn bounds_of_latencies_grow_from_microseconds_to_seconds() {
        assert!(LATENCY_BOUNDS.is_sorted());
        assert_eq!((LATENCY_BOUNDS[0], LATENCY_BOUNDS[1], LATENCY_BOUNDS[21]), (1_000, 2_000, 10_000_000_000));
        assert_eq!(seconds(LATENCY_BOUNDS[2]).to_string(), "0.000005");
    }
}
