//! The processes of a case: this program again, or `peer.c`.

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than any case takes, even with the slowest pair on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Prefix of the program's lines. The test runner writes other lines.
const MARK: &str = "@ ";

const BATCH: usize = 64;

/// Implementation that runs in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    Cyclone,
}

/// A running process. Dropping it ends it.
pub(crate) struct Node {
    process: Child,
    /// `None` once the process has to end.
    commands: Option<ChildStdin>,
    said: Receiver<String>,
}

impl Node {
    /// Starts `role`, "pub" or "sub", for `count` samples of `len` bytes each.
    pub(crate) fn start(kind: Kind, role: &str, count: u32, len: usize) -> Self {
        let arguments = [role.to_owned(), count.to_string(), len.to_string()];
        let mut command = match kind {
            Kind::Ours => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", "lossy::program", "--ignored", "--nocapture"]);
                command.env("DDS_TEST_NODE", arguments.join(" "));
                command
            }
            Kind::Cyclone => {
                let mut command = Command::new(std::env::var("DDS_TEST_CYCLONE_C").unwrap());
                command.args(arguments);
                command
            }
        };
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A test runner surrounds the program of this implementation.
                let line = if kind == Kind::Ours { line.split_once(MARK).map(|(_, line)| line) } else { Some(&*line) };
                if line.is_some_and(|line| sender.send(line.to_owned()).is_err()) {
                    return;
                }
            }
        });
        let commands = process.stdin.take();
        Self { process, commands, said }
    }

    pub(crate) fn go(&mut self) {
        writeln!(self.commands.as_mut().unwrap()).unwrap();
    }

    /// Reads the next line, which must be or begin with `beginning`.
    pub(crate) fn expect(&mut self, beginning: &str) -> String {
        let line = self.said.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{beginning} does not come: {error}"));
        assert!(line.starts_with(beginning), "{line}");
        line
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.commands = None;
        if std::thread::panicking() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// As in `Load.idl`.
#[derive(DdsType, Debug, Clone, PartialEq)]
struct Load {
    number: u32,
    #[dds(octet)]
    bytes: Vec<u8>,
}

/// Bytes of which each sample is a window: sample i begins at i % 251.
fn octets(len: usize) -> Vec<u8> {
    (0..len + 251).map(|index| (index % 251) as u8).collect()
}

/// Runs the role that `DDS_TEST_NODE` names.
pub(crate) fn run() {
    let Ok(arguments) = std::env::var("DDS_TEST_NODE") else { return };
    let [role, count, len] = arguments.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let (count, len): (u32, usize) = (count.parse().unwrap(), len.parse().unwrap());
    // The firewall drops datagrams of UDP, so none may go through shared memory.
    let participant = DomainParticipant::builder(0).shared_memory(0).build().unwrap();
    if role == "pub" {
        let qos = DataWriterQos::default().reliable().keep_all();
        publish(&participant.writer_builder("lossy").qos(qos).build().unwrap(), count, len);
    } else {
        let qos = DataReaderQos::default().reliable().keep_all();
        subscribe(&participant.reader_builder("lossy").qos(qos).build().unwrap(), count, len);
    }
    println!("{MARK}done");
    // The peer may still need an answer.
    let _ = std::io::read_to_string(std::io::stdin());
}

fn publish(writer: &DataWriter<Load>, count: u32, len: usize) {
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    println!("{MARK}ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let octets = octets(len);
    let mut sample = Load { number: 0, bytes: vec![0; len] };
    for number in 0..count {
        sample.number = number;
        let begin = number as usize % 251;
        sample.bytes.copy_from_slice(&octets[begin..begin + len]);
        writer.write(&sample).unwrap();
    }
    writer.acknowledged().block_for(LIMIT).unwrap();
}

fn subscribe(reader: &DataReader<Load>, count: u32, len: usize) {
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    println!("{MARK}ready");
    let octets = octets(len);
    let mut samples = Vec::with_capacity(BATCH);
    let mut expected = 0;
    while expected < count {
        reader.readable().block_for(LIMIT).unwrap();
        reader.take_into(&mut samples).unwrap();
        for load in samples.drain(..).filter_map(|sample| sample.data) {
            let begin = expected as usize % 251;
            let same = load.number == expected && load.bytes[..] == octets[begin..begin + len];
            assert!(same, "{} of {} octets instead of {expected}", load.number, load.bytes.len());
            expected += 1;
        }
    }
}
