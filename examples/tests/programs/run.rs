//! Tests of all examples except `shapes`. No example sends datagrams to the network.

use crate::running::{Running, example, text};
#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn hello_world_receives_each_sample() {
    let output = example("hello_world").args(["--samples", "100"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("received 100 of 100 samples from process"), "{text}");
    // On a busy machine, the path in memory may open after the last answer.
    assert!(text.contains(" through shared memory\n") || text.contains(" by UDP\n"), "{text}");
    assert!(text.contains("Hello number 99!"), "{text}");
    assert!(text.contains("p50") && text.contains("p99.9"), "{text}");
}

#[test]
fn hello_world_rejects_unknown_arguments() {
    let output = example("hello_world").arg("listen").output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output).contains("usage"), "{}", text(&output));
}

#[test]
fn robot_prints_poses_and_shuts_down_cleanly() {
    let output = example("robot").args(["--rounds", "5"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("robot 1: ") && text.contains("robot 2: "), "{text}");
    assert!(text.contains("scans, nearest obstacle 0.0"), "{text}");
    assert!(text.ends_with("clean shutdown\n"), "{text}");
}

/// A command that runs an example with the default action of SIGINT.
#[cfg(target_os = "linux")]
fn interruptible(name: &str, arguments: &str) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(example(name).get_program()).args(arguments.split_whitespace());
    command.env("DDS_SCOPE", "host").env("DDS_DOMAIN_TAG", format!("{name}-{}", std::process::id()));
    command.stdin(Stdio::null());
    command
}

#[cfg(target_os = "linux")]
fn interrupt(running: &Running) {
    let interrupted = Command::new("kill").args(["-INT", &running.process.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
}

#[test]
#[cfg(target_os = "linux")]
fn robot_ctrl_c_shuts_down_cleanly() {
    let mut robot = Running::start(&mut interruptible("robot", ""));
    robot.wait_for(|line| line.starts_with("robot 2: "));
    interrupt(&robot);
    robot.wait_for(|line| line == "clean shutdown");
    assert!(robot.process.wait().unwrap().success());
}

/// The participant of `shapes` leaves before the program ends.
#[test]
#[cfg(target_os = "linux")]
fn shapes_leave_and_say_done_after_sigint() {
    for arguments in ["-S -t Circle", "-P -t Circle -c RED"] {
        let mut shapes = Running::start(&mut interruptible("shapes", arguments));
        shapes.wait_for(|line| line.starts_with("Create "));
        interrupt(&shapes);
        shapes.wait_for(|line| line == "Done.");
        assert!(shapes.process.wait().unwrap().success(), "{arguments}");
    }
}

/// SIGINT ends these examples at once: they do not catch the signal, and the exit status shows it.
///
/// A shell starts background processes with SIGINT ignored, and their children inherit that. `env` restores the default
/// for the examples.
#[test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "the test waits for real processes")]
fn sigint_ends_examples_at_once() {
    let examples = [("hello_world", "subscribe"), ("hello_world", "publish")];
    for (name, arguments) in examples {
        let mut running = Running::start(&mut interruptible(name, arguments));
        std::thread::sleep(Duration::from_millis(300));
        assert!(running.process.try_wait().unwrap().is_none(), "{name} {arguments} ended without a signal");
        interrupt(&running);
        let started = std::time::Instant::now();
        let status = loop {
            // The limit allows for a busy machine. Only a failing test reaches it.
            assert!(started.elapsed() < Duration::from_secs(60), "{name} {arguments} does not end");
            match running.process.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert_eq!(status.signal(), Some(2), "{name} {arguments}: expected SIGINT, found {status}");
    }
}

#[test]
fn bad_network_same_seed_prints_same_table() {
    let run = |seed: &str| {
        let output = example("bad_network").arg(seed).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let table = run("1");
    assert_eq!(run("1"), table);
    assert_ne!(run("2"), table);
    let arrived = |network: &str, topic: &str| {
        table.lines().any(|line| line.starts_with(network) && line.contains(topic) && line.contains(" 120 of 120 "))
    };
    // Map tiles are RELIABLE and KEEP_ALL, so none may be lost.
    assert!(arrived("hall Wi-Fi", "map tile") && arrived("LTE", "map tile"), "{table}");
}

#[test]
fn doctor_prints_each_obstacle() {
    let output = example("doctor").env("DDS_DOMAIN_TAG", format!("doctor-{}", std::process::id())).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for expected in [
        "RELIABILITY: the writer offers BestEffort, the reader requests Reliable",
        "the types do not fit: ranges: the writer has double, the reader float",
        "no partition in common: here none, there cellar",
        "\"fitting\" (dds-core) match",
        "3 ranges of ",
        "its topic is called \"scans\"",
    ] {
        assert!(text.contains(expected), "without \"{expected}\": {text}");
    }
}

#[test]
fn configured_environment_overrides_file() {
    let run = |domain: Option<&str>| {
        let mut command = example("configured");
        command.env("DDS_DOMAIN_TAG", format!("configured-{}", std::process::id()));
        command.envs(domain.map(|domain| ("DDS_DOMAIN", domain)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let said = run(None);
    for expected in [
        "domain 0\n",
        r#"seen as "robot 7", forgotten after 5s, with [("team", "red"), ("example", "configured")"#,
        "KeepLast { depth: 3 }, deadline 1s",
        "RELIABILITY cannot change",
        "did you mean \"pose\"?",
    ] {
        assert!(said.contains(expected), "without \"{expected}\": {said}");
    }
    assert!(run(Some("3")).contains("domain 3\n"));
}
