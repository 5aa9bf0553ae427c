//! Latencies that participants publish: in `top`, in the metrics of `serve`, and at a collector.

use crate::serving::{await_that, get, serve};
use crate::support::{Domain, LiveOutput, Pose, pose, pose_reader};
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DomainParticipant};
use dds_tools::Stop;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// A robot and a planner that publish their latencies.
struct Measured {
    _participants: [DomainParticipant; 2],
    writer: DataWriter<Pose>,
    reader: DataReader<Pose>,
}

impl Measured {
    fn new(domain: &Domain) -> Self {
        let (robot, planner) = (domain.join_with_latencies("robot"), domain.join_with_latencies("planner"));
        let writer = robot.writer_builder("robot/pose").qos(Preset::Event).build().unwrap();
        let reader = pose_reader(&planner, "robot/pose");
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        Self { _participants: [robot, planner], writer, reader }
    }

    fn sample(&self) {
        self.writer.write(&pose(7, 1.0)).unwrap();
        self.writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        self.reader.take().unwrap();
    }
}

#[test]
fn top_shows_latencies_of_other_programs_and_own_delays() {
    let domain = Domain::new();
    let measured = Measured::new(&domain);
    let (stop, output) = (Stop::new(), LiveOutput::default());
    std::thread::scope(|scope| {
        let top = scope.spawn(|| domain.run_into(&["top", "robot/pose", "--json", "--every", "0.2"], &output, &stop));
        let ender = crate::support::Ender(stop.clone());
        // Different periods have the figures, because the reports come once a second.
        let mut missing = vec!["delay", "write_to_reception", "reception_to_take", "acknowledgment"];
        await_that(|| {
            measured.sample();
            // The last line may be incomplete.
            for line in output.text().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                let topic = &line["topics"][0];
                missing.retain(|name| {
                    let figures = if *name == "delay" { &topic["delay"] } else { &topic["latencies"][name] };
                    let is_found = figures["count"].as_u64() > Some(0);
                    if is_found {
                        assert!(figures["p50_ns"].as_u64() <= figures["p99_ns"].as_u64(), "{figures}");
                        assert_eq!(figures["is_estimated"], false, "{figures}");
                    }
                    !is_found
                });
            }
            missing.is_empty().then_some(())
        });
        drop(ender);
        top.join().unwrap().unwrap();
    });
}

#[test]
fn prometheus_reads_latencies_of_other_programs() {
    let domain = Domain::new();
    let measured = Measured::new(&domain);
    serve(&domain, &[], |address| {
        let labels = format!("topic=\"robot/pose\",endpoint=\"{}\",kind=\"acknowledgment\"", measured.writer.guid());
        let labels = format!("{labels},crosses_hosts=\"false\"");
        let text = await_that(|| {
            measured.sample();
            let (_, text) = get(address, "/metrics", "");
            text.contains(&format!("dds_latency_seconds_count{{{labels}}} ")).then_some(text)
        });
        let value = |name: &str, more: &str| -> f64 {
            let start = format!("dds_latency_seconds_{name}{{{labels}{more}}} ");
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            line.unwrap_or_else(|| panic!("no {start} in {text}")).parse().unwrap()
        };
        let total = value("count", "");
        assert!(total > 0.0 && value("sum", "") > 0.0, "{text}");
        assert_eq!(value("bucket", ",le=\"+Inf\""), total);
        assert_eq!(value("bucket", ",le=\"0.000001\""), 0.0, "no acknowledgment comes within a microsecond");
        assert!(value("bucket", ",le=\"10\"") <= total);
        assert!(text.contains("# TYPE dds_latency_seconds histogram\n"), "{text}");
    });
}

/// Accepts one request, answers with `status`, and returns the request.
fn request_of(listener: &TcpListener, status: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (mut request, mut part) = (String::new(), [0; 65_536]);
    loop {
        let len = stream.read(&mut part).unwrap();
        assert!(len > 0, "the request ends early: {request}");
        request.push_str(std::str::from_utf8(&part[..len]).unwrap());
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let expected = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        if body.len() >= expected.parse().unwrap() {
            break;
        }
    }
    let response = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
    // A slow machine may answer too late, and the exporter repeats its request.
    let _ = stream.write_all(response.as_bytes());
    request
}

/// Returns the data points of a metric.
fn points<'v>(body: &'v Value, name: &str, kind: &str) -> Vec<&'v Value> {
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let metric = metrics.iter().find(|metric| metric["name"] == name).unwrap();
    metric[kind]["dataPoints"].as_array().unwrap().iter().collect()
}

fn attribute<'v>(point: &'v Value, name: &str) -> &'v str {
    let attributes = point["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == name);
    found.and_then(|attribute| attribute["value"]["stringValue"].as_str()).unwrap()
}

#[test]
fn collector_receives_metrics_by_otlp() {
    let domain = Domain::new();
    let measured = Measured::new(&domain);
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", collector.local_addr().unwrap());
    serve(&domain, &["--otlp", &url, "--otlp-every", "0.2"], |_| {
        let body = await_that(|| {
            measured.sample();
            let request = request_of(&collector, "200 OK");
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("Content-Type: application/json"), "{head}");
            let body: Value = serde_json::from_str(body).unwrap();
            let kinds = points(&body, "dds_latency_seconds", "histogram");
            let is_complete = kinds.len() >= 3 && !points(&body, "dds_topic_delay_p99_seconds", "gauge").is_empty();
            is_complete.then_some(body)
        });
        for point in points(&body, "dds_latency_seconds", "histogram") {
            let (counts, bounds) = (point["bucketCounts"].as_array().unwrap(), &point["explicitBounds"]);
            assert_eq!(counts.len(), bounds.as_array().unwrap().len() + 1);
            let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
            assert_eq!(counts.iter().map(number).sum::<u64>(), number(&point["count"]), "{point}");
            assert!(number(&point["timeUnixNano"]) > 1_600_000_000_000_000_000, "{point}");
            assert_eq!(attribute(point, "topic"), "robot/pose");
        }
        let samples = points(&body, "dds_topic_samples_total", "sum");
        let of_pose = samples.into_iter().find(|point| attribute(point, "topic") == "robot/pose").unwrap();
        assert!(of_pose["asDouble"].as_f64() > Some(0.0), "{of_pose}");
    });
}

#[test]
fn problem_names_the_collector_that_refuses_metrics() {
    let domain = Domain::new();
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/otlp", collector.local_addr().unwrap());
    serve(&domain, &["--otlp", &url, "--otlp-every", "0.1"], |address: SocketAddr| {
        request_of(&collector, "404 Not Found");
        let problem = await_that(|| {
            let state: Value = serde_json::from_str(&get(address, "/api/state", "").1).unwrap();
            Some(state["problems"][0].as_str()?.to_owned())
        });
        let expected = format!("the collector {url} has no metrics: it answered with status 404; start its OTLP/HTTP");
        assert!(problem.starts_with(&expected), "{problem}");
        drop(collector);
    });
}
