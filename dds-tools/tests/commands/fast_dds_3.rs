//! The commands with topics of Fast DDS 3, which describes its types. The program has no definition of them.
//!
//! The test needs the packages of `.ci/ros_kilted.txt`: `.ci/run ros2`.

#![allow(clippy::disallowed_methods, reason = "the peer is another process")]

use crate::recording::assert_replay_has_the_same_bytes;
use crate::support::{Domain, assert_ownership_is_named, run_local};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

const TOPIC: &str = "rt/nested";

/// A node, which ends with this value.
struct Node {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Node {
    fn start(role: &str) -> Self {
        let python = std::env::var_os("DDS_TEST_ROS_PYTHON").expect("Python with the packages of ROS 2 Kilted");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/fast_dds_3.py");
        let mut command = Command::new(python);
        command.args([script, role]).env("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp").stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut node = Self { process, said };
        assert_eq!(node.line(), "ready");
        node
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn number_of(sample: &Value) -> i64 {
    sample["basic_types_value"]["int32_value"].as_i64().unwrap()
}

#[test]
#[ignore = "needs ROS 2 Kilted: .ci/run ros2"]
fn commands_understand_fast_dds_3_topics_without_idl() {
    // Peers of Fast DDS have no tag.
    let domain = Domain::without_tag();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fast.mcap");
    let file = file.to_str().unwrap();
    let publisher = Node::start("publish");

    let text = domain.run_until(&["ls", TOPIC, "--json"], |text| !text.is_empty());
    let topic: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&topic["topic"], &topic["endpoints"][0]["vendor"]), (&json!(TOPIC), &json!("Fast DDS")), "{text}");
    let text = domain.run_until(&["ps", "--json"], |text| text.contains("Fast DDS"));
    let node: Value = serde_json::from_str(text.lines().find(|line| line.contains("Fast DDS")).unwrap()).unwrap();
    assert!(node["version"].as_str().is_some_and(|version| version.starts_with("3.")), "{text}");
    assert_eq!(node["process_id"], publisher.process.id(), "{text}");
    let expected = ["struct Nested_ {", "struct BasicTypes_ {", "int32_value;", "of / (Fast DDS): reliable, volatile"];
    domain.run_until(&["show", TOPIC], |text| expected.iter().all(|part| text.contains(part)));
    domain.run_until(&["why", TOPIC], |text| text.contains("no reader was found (writers: 1)"));
    assert_ownership_is_named(&domain, TOPIC, topic["types"][0].as_str().unwrap());

    let echo = ["echo", TOPIC, "--json", "--count", "20", "--for", "60"];
    let text = domain.run_until(&echo, |text| text.lines().count() == 20);
    let numbers: Vec<i64> = text.lines().map(|line| number_of(&serde_json::from_str(line).unwrap())).collect();
    assert!(numbers.is_sorted() && numbers[0] < numbers[19], "{numbers:?}");

    domain.run(&["record", TOPIC, "--output", file, "--count", "20", "--for", "60", "--type-wait", "30"]).unwrap();
    let content: Value = serde_json::from_str(&run_local(&["info", file, "--json"]).unwrap()).unwrap();
    assert_eq!((&content["samples"], &content["schema"]), (&json!(20), &json!("omgidl")));
    drop(publisher);
    assert_replay_has_the_same_bytes(file.as_ref(), 20);

    let mut subscriber = Node::start("subscribe");
    let play = ["play", file, "--rate", "10", "--readers-wait", "30"];
    domain.run(&play).unwrap();
    let received: Vec<i64> = (0..20).map(|_| subscriber.line().parse().unwrap()).collect();
    assert!(received.is_sorted() && received[0] < received[19], "{received:?}");
}
