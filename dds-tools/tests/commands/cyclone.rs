//! The commands with topics of Cyclone DDS, whose types the program does not have.

#![allow(clippy::disallowed_methods, reason = "the peer is another process")]

use crate::recording::assert_replay_has_the_same_bytes;
use crate::support::{pose, pose_reader, pose_writer, run_local};
use dds_core::qos::{DataReaderQos, Ownership};
use dds_core::{DdsType, DomainParticipant};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

#[derive(DdsType, Debug, Default)]
#[dds(name = "lab::Reading", extensibility = "appendable")]
struct Reading {
    #[dds(key)]
    sensor: i32,
    name: String,
    raw: Vec<u8>,
}

/// A Python process with Cyclone DDS, which ends with this value.
pub(crate) struct Peer {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start(role: &str) -> Self {
        Self::run(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/cyclone.py"), &[role])
    }

    fn run(script: &str, arguments: &[&str]) -> Self {
        let python = std::env::var_os("DDS_TEST_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(python);
        let mut process = command.arg(script).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads the messages of `lab/reading` with the library of MCAP. Returns their number and encodings.
fn read_by_mcap(file: &str) -> String {
    let python = std::env::var_os("DDS_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/mcap_reader.py");
    let output = Command::new(python).args([script, file, "lab/reading"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn commands_understand_cyclone_topics() {
    let mut publisher = Peer::start("publish");
    assert_eq!(publisher.line(), "ready");
    let text = run_local(&["show", "lab/reading", "--wait", "3", "--domain", "0"]).unwrap();
    for expected in ["module lab {", "struct Reading {", "@key", "sequence<octet> raw;", "(Cyclone DDS): reliable"] {
        assert!(text.contains(expected) || text.contains(&expected.replace("octet", "uint8")), "{expected} in {text}");
    }
    let text = run_local(&["ls", "lab/", "--json", "--domain", "0"]).unwrap();
    let topic: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&topic["topic"], &topic["types"]), (&json!("lab/reading"), &json!(["lab::Reading"])));
    assert_eq!(topic["endpoints"][0]["vendor"], "Cyclone DDS");

    let text = run_local(&["ps", "--json", "--domain", "0"]).unwrap();
    let line = text.lines().find(|line| line.contains("Cyclone DDS")).expect("the peer");
    let peer: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&peer["process_id"], &peer["vendor"]),
        (&json!(publisher.process.id()), &json!("Cyclone DDS")),
        "{text}"
    );
    assert!(peer["process"].is_string() && peer["host"].is_string() && peer["version"].is_string(), "{text}");

    let text = run_local(&["echo", "lab/reading", "--json", "--count", "20", "--domain", "0"]).unwrap();
    for line in text.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        let number: i64 = sample["name"].as_str().unwrap().strip_prefix("reading ").unwrap().parse().unwrap();
        assert_eq!(sample, json!({"sensor": number % 3, "name": format!("reading {number}"), "raw": [1, 2, 3]}));
    }
    assert_eq!(text.lines().count(), 20);

    let planner = DomainParticipant::builder(0).build().unwrap();
    let mut qos = DataReaderQos::default();
    qos.ownership = Ownership::Exclusive;
    let reader = planner.reader_builder::<Reading>("lab/reading").qos(qos).build().unwrap();
    let text = run_local(&["why", "lab/reading", "--json", "--domain", "0"]).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let reason = "OWNERSHIP: the writer offers Shared, the reader requests Exclusive";
    assert_eq!(first["obstacles"][0]["reason"], reason, "{text}");
    assert_eq!(first["obstacles"][0]["next_step"], "give both sides the same OWNERSHIP", "{text}");
    drop((reader, planner));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cyclone.mcap");
    let file = file.to_str().unwrap();
    run_local(&["record", "--output", file, "--count", "20", "lab/*", "--domain", "0"]).unwrap();
    let content: Value = serde_json::from_str(&run_local(&["info", file, "--json"]).unwrap()).unwrap();
    assert_eq!((&content["samples"], &content["schema"]), (&json!(20), &json!("omgidl")));
    assert_eq!(read_by_mcap(file), "20 omgidl lab::Reading cdr");
    drop(publisher);
    assert_replay_has_the_same_bytes(file.as_ref(), 20);

    let mut subscriber = Peer::start("subscribe");
    assert_eq!(subscriber.line(), "ready");
    let value = r#"{"sensor": 7, "name": "from the shell", "raw": [255, 0]}"#;
    run_local(&["pub", "lab/reading", value, "--domain", "0"]).unwrap();
    let received: Value = serde_json::from_str(&subscriber.line()).unwrap();
    assert_eq!(received, serde_json::from_str::<Value>(value).unwrap());

    // The samples of the recording reach a reader of the other vendor.
    run_local(&["play", file, "--rate", "10", "--readers-wait", "10", "--domain", "0"]).unwrap();
    let received: Value = serde_json::from_str(&subscriber.line()).unwrap();
    assert!(received["name"].as_str().unwrap().starts_with("reading "), "{received}");
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_reads_published_latencies() {
    let robot = DomainParticipant::builder(0).publish_latencies(true).build().unwrap();
    let mut peer = Peer::start("latencies");
    assert_eq!(peer.line(), "ready");
    let (writer, reader) = (pose_writer(&robot), pose_reader(&robot, "robot/pose"));
    writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
    writer.write(&pose(7, 1.0)).unwrap();
    let report: Value = serde_json::from_str(&peer.line()).unwrap();
    let endpoint: String = reader.guid().to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        report,
        json!({ "endpoint": endpoint, "kind": "WRITE_TO_RECEPTION", "topic": "robot/pose", "counts": [1, 1] })
    );
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn call_reaches_service_of_rmw_cyclonedds() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../dds-ros2/tests/peers/cyclone.py");
    let mut server = Peer::run(script, &["server", "0"]);
    assert!(server.line().contains("serving"));
    // Cyclone DDS answers also before it knows the reader of the reply, and such a reply is lost.
    let text = run_local(&["call", "/flip", "{data: true}", "--within", "10", "--json", "--domain", "0"]).unwrap();
    let reply: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(reply["success"], false, "{text}");
}
