//! Tests that run each example and check its output. No datagram leaves the machine.
//!
//! The unit test in `unit_test_with_sim` runs as a test of its own. The stage `compose` of `.ci/run` runs `compose`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::disallowed_methods, reason = "the tests wait for real processes")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for a line. It allows for a busy machine; only a failing test reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// A command that runs an example in a domain of its own. Cargo builds the examples beside this test.
fn example(name: &str, tag: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(name);
    assert!(path.exists(), "{} is not built: run `cargo test -p dds-core` without --test", path.display());
    let mut command = Command::new(path);
    command.env("DDS_SCOPE", "host").env("DDS_DOMAIN_TAG", format!("{tag}-{}", std::process::id()));
    command.stdin(Stdio::null());
    command
}

/// Runs an example to its end and returns its output.
fn output(name: &str, arguments: &[&str]) -> String {
    let output = example(name, name).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

/// A running example. Dropping it kills it.
struct Running {
    process: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A finished test has dropped the receiver.
                let _ = sender.send(line);
            }
        });
        Self { process, lines: receiver }
    }

    /// Waits for a line with a text.
    fn wait_for(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error}: no line with \"{text}\" in {seen:#?}"),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn hello_subscriber_prints_poses_of_publisher() {
    let mut subscriber = Running::start(&mut example("hello", "hello"));
    let _publisher = Running::start(example("hello", "hello").arg("publish"));
    let first = subscriber.wait_for("Pose { robot: 7, x: ");
    assert_ne!(subscriber.wait_for("Pose { robot: 7, x: "), first);
}

#[test]
fn hello_late_subscriber_gets_the_last_pose() {
    let publisher = Running::start(example("hello", "late").arg("publish"));
    std::thread::sleep(Duration::from_secs(1));
    let line = Running::start(&mut example("hello", "late")).wait_for("Pose { robot: 7, x: ");
    assert!(!line.contains("x: 0.0"), "{line}");
    drop(publisher);
}

/// A command that Ctrl-C ends. A shell starts background processes with SIGINT ignored; `env` restores the default.
#[cfg(unix)]
fn interruptible(name: &str, tag: &str) -> Command {
    let example = example(name, tag);
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(example.get_program());
    command.envs(example.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    command
}

/// Sends SIGINT and expects a clean end.
#[cfg(unix)]
fn interrupt(mut running: Running) {
    let interrupted = Command::new("kill").args(["-INT", &running.process.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    // A signal that the program does not handle is no success.
    assert!(running.process.wait().unwrap().success());
}

#[test]
#[cfg(unix)]
fn tokio_service_ctrl_c_shuts_down_cleanly() {
    let mut services = [(); 2].map(|()| Running::start(&mut interruptible("tokio_service", "tokio")));
    services.iter_mut().for_each(|service| drop(service.wait_for("2 writers")));
    // The first one that breaks the silence is heard by both.
    let mut heard = [(); 2].map(|()| HashSet::new());
    while heard[0].is_disjoint(&heard[1]) {
        for (service, lines) in services.iter_mut().zip(&mut heard) {
            lines.insert(service.wait_for(" is alive"));
        }
    }
    for service in services {
        interrupt(service);
    }
}

#[test]
#[cfg(unix)]
fn rover_station_drives_robot_and_sees_it_leave() {
    let robot = Running::start(interruptible("rover", "rover").arg("robot"));
    let mut station = Running::start(interruptible("rover", "rover").arg("station"));
    station.wait_for("with 921600 bytes");
    let at = |line: String| line.strip_prefix("robot 7 is at ").unwrap().parse::<f64>().unwrap();
    let start = at(station.wait_for("robot 7 is at "));
    // The station waits for the robot, so the first order arrives: forward.
    let moved = loop {
        let place = at(station.wait_for("robot 7 is at "));
        if place != start {
            break place;
        }
    };
    assert!(start > 0.0 || moved > start, "from {start} to {moved}");
    interrupt(robot);
    station.wait_for("robot 7 has left");
    interrupt(station);
}

#[test]
fn camera_counts_each_dropped_image() {
    let text = output("camera", &[]);
    assert!(text.contains("image 30: 1280x720, 2764800 bytes, center 30"), "{text}");
    let seen: u32 = text.lines().find_map(|line| line.strip_suffix(" of 30 images seen")?.parse().ok()).unwrap();
    assert!((1..30).contains(&seen), "{text}");
    assert!(text.contains("30 of 30 samples received"), "{text}");
    assert!(text.contains(&format!("{} replaced by newer ones", 30 - seen)), "{text}");
}

#[test]
fn qos_cookbook_each_pair_exchanges_a_sample() {
    let text = output("qos_cookbook", &[]);
    assert_eq!(text.lines().filter(|line| line.ends_with(": received Some((1, 20.0))")).count(), 13, "{text}");
}

#[test]
fn types_tour_old_and_new_types_understand_each_other() {
    let text = output("types_tour", &[]);
    for expected in [
        "new reader: Some(StatusV2 { robot: RobotId(7), mode: Driving, task: Goto { point: Point { x: 1.0, y: 2.0 } }",
        "battery: 100, uptime: 0ns })",
        "old reader: Some(StatusV1 { robot: RobotId(7), mode: Error, task: Say(\"help\")",
        "[Disposed(RobotId(7))]",
    ] {
        assert!(text.contains(expected), "no \"{expected}\" in {text}");
    }
}

#[test]
fn monitor_prints_endpoints_and_rates() {
    let mut monitor = Running::start(example("monitor", "monitor").arg("60"));
    let _publisher = Running::start(example("hello", "monitor").arg("publish"));
    monitor.wait_for("topic \"robot/pose\": 1 writers, 0 readers, ");
    monitor.wait_for("match");
    let _subscriber = Running::start(&mut example("hello", "monitor"));
    monitor.wait_for("topic \"robot/pose\": 1 writers, 1 readers, ");
}

#[test]
fn requester_gets_its_reply_in_both_orders() {
    let replier = Running::start(&mut example("replier", "replier-first"));
    Running::start(&mut example("requester", "replier-first")).wait_for("2 + 3 = 5");
    drop(replier);
    let mut requester = Running::start(&mut example("requester", "requester-first"));
    std::thread::sleep(Duration::from_millis(300));
    let _replier = Running::start(&mut example("replier", "requester-first"));
    requester.wait_for("2 + 3 = 5");
    assert!(requester.process.wait().unwrap().success());
}

#[test]
fn recorded_poses_are_replayed() {
    let file = std::env::temp_dir().join(format!("dds-record-{}", std::process::id()));
    let arguments = [file.to_str().unwrap(), "robot/pose", "Pose"];
    let publisher = Running::start(example("hello", "record").arg("publish"));
    let mut recorder = Running::start(example("record_replay", "record").arg("record").args(arguments).arg("5"));
    recorder.wait_for("5 samples recorded");
    drop(publisher);
    let mut subscriber = Running::start(&mut example("hello", "replay"));
    let mut player = Running::start(example("record_replay", "replay").arg("replay").args(arguments));
    subscriber.wait_for("Pose { robot: 7, x: ");
    player.wait_for("5 samples replayed");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn launched_processes_meet_and_end() {
    let text = output("launch", &[]);
    for expected in ["robot 0 is at 0", "robot 1 is at 1", "robot 2 is at 2", "all processes have ended"] {
        assert!(text.contains(expected), "no \"{expected}\" in {text}");
    }
}

#[test]
#[cfg(feature = "rt")]
fn real_time_loop_ends_after_its_rounds() {
    let text = output("real_time_loop", &["50"]);
    assert!(text.contains("50 rounds, at most "), "{text}");
}

/// A program is short if the library does the work. All lines of code count, also those of its types.
#[test]
fn programs_stay_short() {
    for (program, lines_max) in [
        (include_str!("../../examples/tokio_service.rs"), 18),
        (include_str!("../../examples/replier.rs"), 20),
        (include_str!("../../examples/requester.rs"), 20),
    ] {
        let lines = program.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        assert!(lines <= lines_max, "{lines} lines, at most {lines_max}");
    }
}
