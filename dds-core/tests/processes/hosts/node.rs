//! Hosts, and the program that runs on them.

use dds_core::qos::Preset;
use dds_core::{DataReader, DdsType, DomainParticipant};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than any step takes on a busy machine. Only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(60);

/// Prefix of the program's lines. The test runner writes other lines.
const MARK: &str = "@ ";

/// Network namespaces with cables between them, created by `.ci/hosts`.
pub(crate) struct Hosts {
    name: String,
}

impl Hosts {
    pub(crate) fn new(name: &str, links: &[&str]) -> Self {
        let hosts = Self { name: name.to_owned() };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/hosts");
        succeed(Command::new(script).arg(name).args(links));
        hosts
    }

    fn namespace(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// Runs `ip ARGUMENTS` on a host.
    pub(crate) fn ip(&self, host: &str, arguments: &str) {
        succeed(Command::new("ip").arg("-n").arg(self.namespace(host)).args(arguments.split(' ')));
    }

    /// Runs `PROGRAM ARGUMENTS` on a host.
    pub(crate) fn run(&self, host: &str, program: &str, arguments: &str) {
        succeed(self.on(host).arg(program).args(arguments.split(' ')));
    }

    /// The link-local address of an interface.
    pub(crate) fn link_local(&self, host: &str, interface: &str) -> String {
        let output = self.on(host).args(["ip", "-6", "-o", "addr", "show", "dev", interface, "scope", "link"]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let address = text.split_whitespace().find(|word| word.starts_with("fe80:")).unwrap();
        address.split('/').next().unwrap().to_owned()
    }

    fn on(&self, host: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(host)]);
        command
    }

    /// Starts the program on a host.
    pub(crate) fn start(&self, host: &str, environment: &[(&str, &str)]) -> Node {
        let mut command = self.on(host);
        command.arg(std::env::current_exe().unwrap()).args(["--exact", "hosts::program", "--ignored", "--nocapture"]);
        command.env("DDS_TEST_NODE", host).envs(environment.iter().copied());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(MARK) {
                    // The test may have finished reading.
                    let _ = sender.send(line.to_owned());
                }
            }
        });
        let commands = process.stdin.take();
        let mut node = Node { host: host.to_owned(), process, commands, said, seen: Vec::new() };
        node.wait_for("ready");
        node
    }
}

fn succeed(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// The program, running on a host. Dropping it ends it.
pub(crate) struct Node {
    host: String,
    process: Child,
    /// `None` once the program has to end.
    commands: Option<ChildStdin>,
    said: Receiver<String>,
    seen: Vec<String>,
}

impl Node {
    pub(crate) fn tell(&mut self, command: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{command}").unwrap();
    }

    /// Waits for a line with this beginning, unless it has been read already.
    pub(crate) fn wait_for(&mut self, beginning: &str) -> String {
        loop {
            if let Some(line) = self.seen.iter().find(|line| line.starts_with(beginning)) {
                return line.clone();
            }
            match self.said.recv_timeout(LIMIT) {
                Ok(line) => self.seen.push(line),
                Err(error) => panic!("{error} on {} while waiting for {beginning}: {:?}", self.host, self.seen),
            }
        }
    }

    /// Returns whether the output contains this line, up to the last line that was waited for.
    pub(crate) fn has_said(&self, line: &str) -> bool {
        self.seen.iter().any(|seen| seen == line)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.process.wait();
    }
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Word {
    from: String,
    text: String,
}

/// Prints received samples, and executes the commands of standard input: `say TEXT`, `traffic`.
pub(crate) fn run() {
    let Ok(host) = std::env::var("DDS_TEST_NODE") else { return };
    let participant = DomainParticipant::builder(0).name(&host).udp_only(true).build().unwrap();
    let reader = participant.reader_builder("chat").qos(Preset::Event.reader().transient_local()).build().unwrap();
    let writer = participant.writer_builder("chat").qos(Preset::Event.writer().transient_local()).build().unwrap();
    let listening = reader.clone();
    std::thread::spawn(move || listen(&listening));
    println!("{MARK}ready");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("say", text)) => writer.write(&Word { from: host.clone(), text: text.to_owned() }).unwrap(),
            _ => {
                let traffic = participant.traffic();
                println!("{MARK}traffic: forbidden {}, {traffic:?}", traffic.send_forbidden);
            }
        }
    }
}

fn listen(reader: &DataReader<Word>) {
    while let Ok(sample) = reader.next_sample().block() {
        let Some(Word { from, text }) = sample.data else { continue };
        println!("{MARK}heard {text} of {from}");
    }
}
