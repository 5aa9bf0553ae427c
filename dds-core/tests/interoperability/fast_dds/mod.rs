//! Interoperability with Fast DDS, the default of ROS 2, as Debian packages it.
//!
//! It covers both directions, reliable and best effort, small and fragmented samples, history for late joiners, and
//! ends of instances.
//!
//! The test needs its own network and the program of `peer.cpp`, which `DDS_TEST_FAST_DDS` names: `.ci/run fast_dds`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

const PATIENCE: Duration = Duration::from_secs(30);
/// After this silence no further sample of a best-effort writer is expected.
const QUIET: Duration = Duration::from_secs(3);
const INSTANCES: u32 = 3;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Load {
    #[dds(key)]
    id: i32,
    number: u32,
    text: String,
    #[dds(octet)]
    bytes: Vec<u8>,
}

/// Reliability and durability, with the names of `peer.cpp`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Reliable,
    History,
    BestEffort,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::History => "history",
            Self::BestEffort => "best-effort",
        }
    }

    fn writer(self, participant: &DomainParticipant) -> DataWriter<Load> {
        // Otherwise an unregister would also dispose the instance.
        let mut qos = DataWriterQos::default().keep_all();
        qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
        let qos = match self {
            Self::Reliable => qos.reliable(),
            Self::History => qos.reliable().transient_local(),
            Self::BestEffort => qos.best_effort(),
        };
        participant.writer_builder("load").qos(qos).build().unwrap()
    }

    fn reader(self, participant: &DomainParticipant) -> DataReader<Load> {
        let qos = DataReaderQos::default().keep_all();
        let qos = match self {
            Self::Reliable => qos.reliable(),
            Self::History => qos.reliable().transient_local(),
            Self::BestEffort => qos.best_effort(),
        };
        participant.reader_builder("load").qos(qos).build().unwrap()
    }
}

/// A process of Fast DDS.
struct Fast {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Fast {
    fn start(role: &str, count: u32, len: usize, kind: Kind) -> Self {
        let program = std::env::var("DDS_TEST_FAST_DDS").expect("the program of peer.cpp");
        let mut command = Command::new(program);
        command.args([role, &count.to_string(), &len.to_string(), kind.name()]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Self { process, said }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn expect(&mut self, line: &str) {
        assert_eq!(self.line(), line);
    }

    fn go_on(&mut self) {
        writeln!(self.process.stdin.as_mut().unwrap()).unwrap();
    }
}

impl Drop for Fast {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        if std::thread::panicking() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

fn load(number: u32, len: usize) -> Load {
    let bytes = (0..len).map(|index| number.wrapping_add(index as u32) as u8).collect();
    Load { id: (number % INSTANCES) as i32, number, text: "hello".to_owned(), bytes }
}

/// Our writer, Fast DDS's reader.
fn to_fast(count: u32, len: usize, kind: Kind) {
    let participant = DomainParticipant::new(0).unwrap();
    let writer = kind.writer(&participant);
    let comes_first = kind != Kind::History;
    let mut fast = comes_first.then(|| Fast::start("sub", count, len, kind));
    if comes_first {
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    }
    for number in 0..count {
        writer.write(&load(number, len)).unwrap();
        if kind == Kind::BestEffort {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    let fast = fast.get_or_insert_with(|| Fast::start("sub", count, len, kind));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    if kind == Kind::History {
        // Ends of instances are part of the history as well, so they are written after the samples have arrived.
        writer.acknowledged().block_for(PATIENCE).unwrap();
    }
    writer.dispose(&1).unwrap();
    writer.unregister_instance(&2).unwrap();
    let got: u32 = fast.line().strip_prefix("got ").unwrap().parse().unwrap();
    assert!(if kind == Kind::BestEffort { got > 0 } else { got == count }, "{got} of {count}");
    fast.expect("done");
    if kind != Kind::BestEffort {
        writer.acknowledged().block_for(PATIENCE).unwrap();
    }
}

/// Fast DDS's writer, our reader.
fn from_fast(count: u32, len: usize, kind: Kind) {
    let participant = DomainParticipant::new(0).unwrap();
    let mut early = (kind != Kind::History).then(|| kind.reader(&participant));
    let mut fast = Fast::start("pub", count, len, kind);
    if early.is_none() {
        fast.expect("written");
    }
    let reader = early.get_or_insert_with(|| kind.reader(&participant));
    let mut next = 0;
    while next < count && kind != Kind::BestEffort {
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(sample.data == Some(load(next, len)), "not sample {next}");
        next += 1;
    }
    if kind != Kind::History {
        fast.expect("written");
    }
    fast.go_on();
    if kind == Kind::BestEffort {
        // Fast DDS does not always send the ends of instances of fragmented samples.
        let mut received = 0;
        while let Ok(sample) = reader.next_sample().block_for(QUIET) {
            let Some(data) = sample.data else { continue };
            assert!(data.number >= next && data == load(data.number, len), "sample {} instead of {next}", data.number);
            next = data.number + 1;
            received += 1;
        }
        assert!(received > 0);
    } else {
        let end = || reader.next_sample().block_for(PATIENCE).unwrap().info.instance_state;
        assert_eq!([end(), end()], [InstanceState::NotAliveDisposed, InstanceState::NotAliveNoWriters]);
    }
    fast.expect("done");
}

macro_rules! cases {
    ($($name:ident: $test:ident($count:expr, $len:expr, $kind:ident);)*) => {$(
        #[test]
        #[ignore = "needs Fast DDS: .ci/run fast_dds"]
        fn $name() {
            $test($count, $len, Kind::$kind);
        }
    )*};
}

cases! {
    reliable_samples_to_fast_dds: to_fast(2_000, 100, Reliable);
    reliable_samples_from_fast_dds: from_fast(2_000, 100, Reliable);
    large_reliable_samples_to_fast_dds: to_fast(30, 1_000_000, Reliable);
    large_reliable_samples_from_fast_dds: from_fast(30, 1_000_000, Reliable);
    best_effort_samples_to_fast_dds: to_fast(300, 1_000, BestEffort);
    best_effort_samples_from_fast_dds: from_fast(300, 1_000, BestEffort);
    best_effort_fragments_to_fast_dds: to_fast(100, 100_000, BestEffort);
    best_effort_fragments_from_fast_dds: from_fast(100, 100_000, BestEffort);
    history_to_a_late_reader_of_fast_dds: to_fast(100, 1_000, History);
    history_from_a_writer_of_fast_dds: from_fast(100, 1_000, History);
    large_history_to_a_late_reader_of_fast_dds: to_fast(10, 1_000_000, History);
    large_history_from_a_writer_of_fast_dds: from_fast(10, 1_000_000, History);
}
