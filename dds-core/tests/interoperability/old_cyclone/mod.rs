//! Interoperability with the C version of Cyclone DDS in Debian.
//!
//! Versions before 11 do not know 8-bit integers in type descriptions and crash with a segmentation fault. No test may
//! crash it. Each mismatch must be reported, and the documented remedies must help.
//!
//! The test needs its own network and the program of `peer.c`, which `DDS_TEST_OLD_CYCLONE` names: `.ci/run cyclone`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use dds_core::qos::DataReaderQos;
use dds_core::{DataReader, DdsType, DomainParticipant, Duration};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(DdsType, Debug, PartialEq)]
struct Bytes {
    data: Vec<u8>,
    number: i32,
}

#[derive(DdsType, Debug, PartialEq)]
struct Octets {
    #[dds(octet)]
    data: Vec<u8>,
    number: i32,
}

#[derive(DdsType, Debug, PartialEq)]
struct Signed {
    value: i8,
    number: i32,
}

struct Cyclone {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Cyclone {
    fn start() -> Self {
        let program = std::env::var("DDS_TEST_OLD_CYCLONE").expect("the program of peer.c");
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Self { process, said }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Ends the process. It must not have crashed before.
    fn end(mut self) {
        drop(self.process.stdin.take());
        assert_eq!(self.line(), "alive");
        assert!(self.process.wait().unwrap().success());
    }
}

fn reader<T: DdsType + 'static>(participant: &DomainParticipant, topic: &str) -> DataReader<T> {
    participant.reader_builder(topic).qos(DataReaderQos::default().reliable()).build().unwrap()
}

fn next<T: DdsType + dds_core::cdr::DecodeOwned + 'static>(reader: &DataReader<T>) -> T {
    reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap()
}

/// Waits until the report on a topic contains this text.
fn told(participant: &DomainParticipant, topic: &str, what: &str) {
    let end = Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let reports: Vec<String> = participant.explain(topic).iter().map(ToString::to_string).collect();
        if reports.iter().any(|report| report.contains(what)) {
            return;
        }
        assert!(Instant::now() < end, "missing text `{what}` in {reports:#?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn type_descriptions_do_not_crash_old_cyclone() {
    let mut cyclone = Cyclone::start();
    let version = cyclone.line();
    let is_old = version.starts_with("0.");
    println!("Cyclone DDS {version}");
    let participant = DomainParticipant::new(0).unwrap();
    let (bytes, signed) = (reader::<Bytes>(&participant, "Bytes"), reader::<Signed>(&participant, "Signed"));
    if is_old {
        told(&participant, "Bytes", "`#[dds(octet)]`");
        told(&participant, "Signed", "describes int8 as char");
        assert_eq!((bytes.matched_publications().len(), signed.matched_publications().len()), (0, 0));
    } else {
        assert_eq!((next(&bytes).data, next(&signed).value), (vec![0, 127, 255], -7));
    }
    // A crashed peer would send nothing.
    let octets = reader::<Octets>(&participant, "Octets");
    assert_eq!(next(&octets).data, [0, 127, 255]);
    if is_old {
        // The documented remedy helps.
        let by_name = DomainParticipant::builder(0).type_information(false).build().unwrap();
        assert_eq!(next(&reader::<Bytes>(&by_name, "Bytes")).data, [0, 127, 255]);
        assert_eq!(next(&reader::<Signed>(&by_name, "Signed")).value, -7);
    }
    cyclone.end();
}
