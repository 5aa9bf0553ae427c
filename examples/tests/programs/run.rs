//! The examples run and print what they promise. They stay on this host.

use crate::running::{Running, example, text};
#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn hello_world_gets_every_sample_from_another_process() {
    let output = example("hello_world").args(["--samples", "100"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("received 100 of 100 samples by UDP"), "{text}");
    assert!(text.contains("Hello number 99!"), "{text}");
    assert!(text.contains("p50") && text.contains("p99.9"), "{text}");
}

/// The two programs that everybody reads first are those of the README, and reach each other.
#[test]
fn the_programs_of_the_readme_meet() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(folder.join("../README.md")).unwrap();
    let mut shown = readme.split("```rust,no_run\n").skip(1).filter_map(|part| part.split_once("```"));
    for name in ["hello_publisher", "hello_subscriber"] {
        let file = std::fs::read_to_string(folder.join("examples").join(name).with_extension("rs")).unwrap();
        let (_, program) = file.split_once("\n\n").unwrap();
        assert_eq!(shown.next().map(|(program, _)| program), Some(program), "{name} is not what the README shows");
    }
    let tag = format!("readme-{}", std::process::id());
    let mut subscriber = Running::start(example("hello_subscriber").env("DDS_DOMAIN_TAG", &tag));
    let published = example("hello_publisher").env("DDS_DOMAIN_TAG", &tag).output().unwrap();
    assert!(published.status.success(), "{}", text(&published));
    subscriber.wait_for(|line| line == "Pose { robot: 7, x: 1.0 }");
}

#[test]
fn hello_world_refuses_what_it_does_not_know() {
    let output = example("hello_world").arg("listen").output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output).contains("usage"), "{}", text(&output));
}

#[test]
fn robots_are_seen_and_leave_in_good_order() {
    let output = example("robot").args(["--rounds", "5"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("robot 1: ") && text.contains("robot 2: "), "{text}");
    assert!(text.contains("scans, nearest obstacle 0.0"), "{text}");
    assert!(text.ends_with("stopped in good order\n"), "{text}");
}

#[test]
fn the_robots_stop_when_the_process_that_was_interrupted_is_gone() {
    let mut robot = Running::start(&mut example("robot"));
    robot.wait_for(|line| line.starts_with("robot 2: "));
    robot.process.kill().unwrap();
    robot.wait_for(|line| line == "stopped in good order");
}

/// Ctrl-C reaches all processes of a terminal's foreground group. Whoever is started in the background by a shell has it
/// ignored, and so has everything that it starts: the test may be, the examples must not. None of them catches the signal: it
/// ends them where they stand, and nothing is waited for, which their status says without a clock.
#[test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "it is about real processes")]
fn an_example_that_is_interrupted_leaves_at_once() {
    let examples =
        [("hello_world", "subscribe"), ("hello_world", "publish"), ("shapes", "-S -t Circle"), ("robot", "")];
    for (name, arguments) in examples {
        let example = example(name);
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(example.get_program()).args(arguments.split_whitespace());
        command.env("DDS_SCOPE", "host").env("DDS_DOMAIN_ID", "77").stdin(Stdio::null());
        let mut running = Running::start(&mut command);
        std::thread::sleep(Duration::from_millis(300));
        assert!(running.process.try_wait().unwrap().is_none(), "{name} {arguments} has ended by itself");
        let interrupted = Command::new("kill").args(["-INT", &running.process.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        let started = std::time::Instant::now();
        let status = loop {
            // On a busy machine; only a test that fails waits for so long.
            assert!(started.elapsed() < Duration::from_secs(60), "{name} {arguments} does not leave");
            match running.process.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert_eq!(status.signal(), Some(2), "{name} {arguments} has ended in another way: {status}");
    }
}

#[test]
fn bad_network_prints_the_same_table_for_the_same_seed() {
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
    // Reliable and KEEP_ALL: all of it arrives, even there.
    assert!(arrived("hall Wi-Fi", "map tile") && arrived("LTE", "map tile"), "{table}");
}

#[test]
fn doctor_names_every_obstacle() {
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
fn configured_takes_the_file_and_the_environment_beats_it() {
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
        r#"seen as "robot 7", forgotten after 5s, with [("team", "red"), ("example", "configured")]"#,
        "KeepLast { depth: 3 }, deadline 1s",
        "RELIABILITY cannot be changed",
        "did you mean \"pose\"?",
    ] {
        assert!(said.contains(expected), "without \"{expected}\": {said}");
    }
    assert!(run(Some("3")).contains("domain 3\n"));
}
