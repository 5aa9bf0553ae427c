//! A robot to look at, and a way to run a command.

use clap::Parser;
use dds_core::qos::{DataReaderQos, Ownership, Preset, TopicQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Scope};
use dds_durability::DurabilityService;
use dds_tools::commands::play::{self, PlayKey};
use dds_tools::options::{Command, CommandLine};
use dds_tools::{Stop, ToolError, commands};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine. Only a failing test waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Type of the topic `robot/pose`.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
pub(crate) struct Pose {
    #[dds(key)]
    pub(crate) robot: u32,
    pub(crate) x: f64,
    pub(crate) tags: Vec<String>,
}

/// The output of a command.
pub(crate) struct Printed {
    pub(crate) result: Result<(), ToolError>,
    pub(crate) output: String,
    pub(crate) notes: String,
}

impl Printed {
    /// Returns the output of a command that must have succeeded.
    pub(crate) fn unwrap(self) -> String {
        if let Err(error) = self.result {
            panic!("{error}\n{}{}", self.output, self.notes);
        }
        self.output
    }
}

/// The output of a command that still runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveOutput(Arc<Mutex<Vec<u8>>>);

impl LiveOutput {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for LiveOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Ends a command, also if the test fails.
pub(crate) struct Ender(pub(crate) Stop);

impl Drop for Ender {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// A domain of one test: a tag that no other test has.
pub(crate) struct Domain {
    tag: String,
}

impl Domain {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { tag: format!("dds-tools-{}-{number}", std::process::id()) }
    }

    /// Creates the domain of peers that have no tag.
    pub(crate) fn without_tag() -> Self {
        Self { tag: String::new() }
    }

    /// Joins the domain.
    pub(crate) fn join(&self, name: &str) -> DomainParticipant {
        self.join_domain(0, name)
    }

    /// Joins the domain as a participant that publishes its latencies.
    pub(crate) fn join_with_latencies(&self, name: &str) -> DomainParticipant {
        self.join_with(name, |builder| builder.publish_latencies(true))
    }

    /// Joins the domain with other settings.
    pub(crate) fn join_with(
        &self,
        name: &str,
        change: impl FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder,
    ) -> DomainParticipant {
        self.build(change(DomainParticipant::builder(0)), name)
    }

    /// Joins another domain with the same tag.
    pub(crate) fn join_domain(&self, domain: u32, name: &str) -> DomainParticipant {
        self.build(DomainParticipant::builder(domain), name)
    }

    /// Joins the domain as the participant of a durability service.
    pub(crate) fn join_as_service(&self, name: &str) -> DomainParticipant {
        self.build(DurabilityService::participant(0), name)
    }

    fn build(&self, builder: DomainParticipantBuilder, name: &str) -> DomainParticipant {
        builder.scope(Scope::Host).name(name).domain_tag(&self.tag).build().unwrap()
    }

    /// Runs a command until its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        self.run_with(arguments, "", &Stop::new())
    }

    /// Repeats a command until it succeeds with the wanted output. A busy machine discovers the domain later.
    pub(crate) fn run_until(&self, arguments: &[&str], is_wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let printed = self.run(arguments);
            if printed.result.is_ok() && is_wanted(&printed.output) {
                return printed.output;
            }
            if start.elapsed() > PATIENCE {
                panic!("not the wanted output: {}", printed.unwrap());
            }
        }
    }

    /// Runs a command with an input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str, stop: &Stop) -> Printed {
        run_line(self.line(arguments).into_iter(), input, stop)
    }

    /// Runs a command whose output other threads read.
    pub(crate) fn run_into(&self, arguments: &[&str], output: &LiveOutput, stop: &Stop) -> Result<(), ToolError> {
        let arguments = CommandLine::try_parse_from(self.line(arguments)).unwrap();
        commands::run(&arguments.command, &mut &b""[..], &mut output.clone(), &mut Vec::new(), stop)
    }

    /// Runs `dds play` with keys, which are there from the start.
    pub(crate) fn play_with_keys(&self, arguments: &[&str], keys: &[PlayKey]) -> Printed {
        let arguments = CommandLine::try_parse_from(self.line(&[&["play"], arguments].concat())).unwrap();
        let Command::Play(options) = arguments.command else { panic!("no play") };
        let (sender, keys_of_user) = channel();
        keys.iter().for_each(|key| sender.send(*key).unwrap());
        let mut notes = Vec::new();
        let result = play::steered(&options, &keys_of_user, &mut notes, &Stop::new()).map(|_| ());
        Printed { result, output: String::new(), notes: String::from_utf8(notes).unwrap() }
    }

    pub(crate) fn line<'l>(&'l self, arguments: &[&'l str]) -> Vec<&'l str> {
        let network = ["--domain", "0", "--scope", "host", "--tag", &self.tag];
        [&["dds"], arguments, &network].concat()
    }
}

/// Checks that `dds why` names EXCLUSIVE ownership of a new reader first. The writers of the topic offer SHARED.
pub(crate) fn assert_ownership_is_named(domain: &Domain, topic: &str, type_name: &str) {
    let planner = domain.join("planner");
    let raw = planner.raw_topic(topic, type_name, TopicQos::default()).unwrap();
    let mut qos = DataReaderQos::default();
    qos.ownership = Ownership::Exclusive;
    let _reader = planner.reader_builder(&raw).qos(qos).build().unwrap();
    let reason = "OWNERSHIP: the writer offers Shared, the reader requests Exclusive";
    domain.run_until(&["why", topic, "--json"], |text| {
        let first = text.lines().next().unwrap_or("null");
        let first: serde_json::Value = serde_json::from_str(first).unwrap();
        let obstacle = &first["obstacles"][0];
        obstacle["reason"] == reason && obstacle["next_step"] == "give both sides the same OWNERSHIP"
    });
}

/// Runs a command without a network.
pub(crate) fn run_local(arguments: &[&str]) -> Printed {
    run_line(["dds"].iter().chain(arguments).copied(), "", &Stop::new())
}

fn run_line<'a>(line: impl Iterator<Item = &'a str>, input: &str, stop: &Stop) -> Printed {
    let arguments = CommandLine::try_parse_from(line).unwrap();
    let (mut output, mut notes) = (Vec::new(), Vec::new());
    let result = commands::run(&arguments.command, &mut input.as_bytes(), &mut output, &mut notes, stop);
    Printed { result, output: String::from_utf8(output).unwrap(), notes: String::from_utf8(notes).unwrap() }
}

/// Creates a writer that keeps its samples for late readers.
pub(crate) fn pose_writer(participant: &DomainParticipant) -> DataWriter<Pose> {
    participant.writer_builder::<Pose>("robot/pose").qos(Preset::State).build().unwrap()
}

/// Creates a reader that receives every sample.
pub(crate) fn pose_reader(participant: &DomainParticipant, topic: &str) -> DataReader<Pose> {
    participant.reader_builder::<Pose>(topic).qos(Preset::Event).build().unwrap()
}

/// Returns a pose.
pub(crate) fn pose(robot: u32, x: f64) -> Pose {
    Pose { robot, x, tags: vec![format!("robot {robot}")] }
}
