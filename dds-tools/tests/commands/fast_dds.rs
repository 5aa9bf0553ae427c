//! The commands with topics of Fast DDS 2, which does not describe the types of generated code.
//!
//! The test needs the program of `dds-core/tests/interoperability/fast_dds/peer.cpp`: `.ci/run fast_dds`.

#![allow(clippy::disallowed_methods, reason = "the peer is another process")]

use crate::recording::assert_replay_has_the_same_bytes;
use crate::support::{Domain, assert_ownership_is_named, run_local};
use dds_tools::Stop;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Samples of the peer. Each has 8 octets.
const SAMPLES: &str = "9";

/// A process of Fast DDS, which ends with this value.
struct Fast {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Fast {
    fn start(role: &str) -> Self {
        let program = std::env::var("DDS_TEST_FAST_DDS").expect("the program of peer.cpp");
        let mut command = Command::new(program);
        command.args([role, SAMPLES, "8", "history"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Self { process, said }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Fast {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn commands_understand_fast_dds_topics() {
    let idl = concat!(env!("CARGO_MANIFEST_DIR"), "/../dds-core/tests/interoperability/fast_dds/Load.idl");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fast.mcap");
    let file = file.to_str().unwrap();
    let mut publisher = Fast::start("pub");
    assert_eq!(publisher.line(), "written");

    let text = run_local(&["ls", "load", "--json", "--domain", "0", "--wait", "2"]).unwrap();
    let topic: Value = serde_json::from_str(text.lines().next().expect("the topic")).unwrap();
    assert_eq!((&topic["topic"], &topic["endpoints"][0]["vendor"]), (&"load".into(), &"Fast DDS".into()), "{text}");
    let text = run_local(&["show", "load", "--domain", "0", "--wait", "2"]).unwrap();
    assert!(text.contains("no endpoint describes this type") && text.contains("reliable, transient local"), "{text}");
    let text = run_local(&["why", "load", "--domain", "0", "--wait", "2"]).unwrap();
    assert!(text.contains("no reader was found (writers: 1)"), "{text}");
    // Peers of Fast DDS have no tag.
    let domain = Domain::without_tag();
    assert_ownership_is_named(&domain, "load", topic["types"][0].as_str().unwrap());
    let echo = ["echo", "load", "--type", idl, "--count", SAMPLES, "--json", "--domain", "0", "--for", "30"];
    let text = run_local(&echo).unwrap();
    let mut numbers: Vec<u64> = text.lines().map(|line| number_of(&serde_json::from_str(line).unwrap())).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..9).collect::<Vec<_>>());

    // Without the IDL, the samples stay encoded.
    let text = run_local(&["echo", "load", "--raw", "--count", SAMPLES, "--domain", "0", "--for", "30"]).unwrap();
    assert!(text.lines().count() == 9 && text.lines().all(|line| line.contains(&hexadecimal("hello"))), "{text}");
    let raw = folder.path().join("raw.mcap");
    let raw = raw.to_str().unwrap();
    let line = ["record", "load", "--output", raw, "--type-wait", "1", "--count", SAMPLES, "--for", "30"];
    run_local(&[&line[..], &["--domain", "0"]].concat()).unwrap();

    std::thread::scope(|scope| {
        let stop = Stop::new();
        let recorder = scope.spawn({
            let stop = stop.clone();
            let domain = &domain;
            move || domain.run_with(&["record", "--output", file, "--type", idl, "load"], "", &stop)
        });
        std::thread::sleep(Duration::from_secs(3));
        writeln!(publisher.process.stdin.as_mut().unwrap()).unwrap();
        assert_eq!(publisher.line(), "done");
        std::thread::sleep(Duration::from_millis(500));
        stop.request();
        let printed = recorder.join().unwrap();
        assert!(printed.notes.contains("load: 9 samples, 0 lost, 2 ends of instances"), "{}", printed.notes);
        printed.unwrap();
    });
    drop(publisher);
    assert_replay_has_the_same_bytes(file.as_ref(), 9);
    assert_replay_has_the_same_bytes(raw.as_ref(), 9);

    let mut subscriber = Fast::start("sub");
    run_local(&["play", file, "--rate", "1000", "--readers-wait", "20", "--domain", "0"]).unwrap();
    assert_eq!(subscriber.line(), format!("got {SAMPLES}"));
    drop(subscriber);

    let mut subscriber = Fast::start("sub");
    run_local(&["play", raw, "--rate", "1000", "--readers-wait", "20", "--domain", "0"]).unwrap();
    // The subscriber ends with an instance, whose key is unknown without the IDL.
    let dispose = ["pub", "load", "{id: 0}", "--dispose", "--type", idl, "--readers-wait", "20", "--domain", "0"];
    run_local(&dispose).unwrap();
    assert_eq!(subscriber.line(), format!("got {SAMPLES}"));
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn number_of(sample: &Value) -> u64 {
    assert_eq!((&sample["text"], sample["bytes"].as_array().unwrap().len()), (&"hello".into(), 8));
    sample["number"].as_u64().unwrap()
}
