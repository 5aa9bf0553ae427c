//! Processes of this host that end without a notice. Peers detect the end long before the lease, and not before it
//! happens.

#![allow(clippy::disallowed_methods, reason = "it is about real processes")]

use crate::support::PATIENCE;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DdsType, DomainParticipant, DomainParticipantBuilder, Duration, InstanceState, Scope};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read;
use std::process::{Child, Command, Stdio};

const TAG: &str = "DDS_CRASH_TEST_TAG";
const ROBOT: &str = "DDS_CRASH_TEST_ROBOT";

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
}

fn builder(tag: &str) -> DomainParticipantBuilder {
    // The lease never ends here, so a lost participant was detected by the end of its process.
    let builder = DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag.to_owned());
    builder.lease(Duration::INFINITE)
}

/// The other process. It writes one sample, and lives until the test ends or kills it.
#[test]
#[ignore = "is started by the others"]
fn robot() {
    let (Ok(tag), Ok(robot)) = (std::env::var(TAG), std::env::var(ROBOT)) else { return };
    let participant = builder(&tag).build().unwrap();
    let qos = DataWriterQos::default().reliable().transient_local();
    let writer = participant.writer_builder::<Pose>("poses").qos(qos).build().unwrap();
    writer.write(&Pose { robot: robot.parse().unwrap() }).unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

struct Robot(Child);

impl Robot {
    fn start(tag: &str, robot: u32) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "crash::robot", "--ignored", "--nocapture"])
            .env(TAG, tag)
            .env(ROBOT, robot.to_string());
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().try_into().unwrap()), signal).unwrap();
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn next(reader: &DataReader<Pose>) -> (InstanceState, Option<u32>) {
    let sample = reader.next_sample().block_for(PATIENCE).unwrap();
    (sample.info.instance_state, reader.key_value(sample.info.instance_handle))
}

#[test]
fn killed_process_unmatches_but_stopped_does_not() {
    let tag = format!("crash-{}", std::process::id());
    let participant = builder(&tag).build().unwrap();
    let qos = DataReaderQos::default().reliable().transient_local().keep_all();
    let reader = participant.reader_builder::<Pose>("poses").qos(qos).build().unwrap();
    let (stopped, killed) = (Robot::start(&tag, 1), Robot::start(&tag, 2));
    let mut seen = [next(&reader).1.unwrap(), next(&reader).1.unwrap()];
    seen.sort_unstable();
    assert_eq!(seen, [1, 2]);
    stopped.send(Signal::SIGSTOP);
    killed.send(Signal::SIGKILL);
    assert_eq!(next(&reader).0, InstanceState::NotAliveNoWriters);
    assert_eq!(reader.subscription_matched().current_count, 1, "the stopped one is looked after as well");
    assert_eq!(reader.liveliness_changed().alive_count, 1);
    stopped.send(Signal::SIGKILL);
    assert_eq!(next(&reader).0, InstanceState::NotAliveNoWriters);
    assert_eq!(participant.discovered_participants().len(), 0);
}
