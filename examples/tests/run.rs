//! The examples run and print what they promise. They stay on this host.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than anything here takes on a busy machine; it is waited for only by a test that fails.
const LIMIT: Duration = Duration::from_secs(60);

/// An example of this package, which cargo has built beside this test.
fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(name);
    assert!(path.exists(), "{} is not built: run `cargo test -p examples` without --test", path.display());
    let mut command = Command::new(path);
    command.env("DDS_SCOPE", "host").stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A running example whose lines are read as they come. Dropping it kills it.
struct Running {
    process: Child,
    lines: Receiver<String>,
    passed_over: Vec<String>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The test may have seen enough.
                let _ = sender.send(line);
            }
        });
        Self { process, lines: receiver, passed_over: Vec::new() }
    }

    fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) if is_it(&line) => return line,
                Ok(line) => self.passed_over.push(line),
                Err(error) => panic!("{error}; there was {:#?}", self.passed_over),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn hello_world_gets_every_sample_from_another_process() {
    let output = example("hello_world").args(["--samples", "100"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("received 100 of 100 samples by UDP"), "{text}");
    assert!(text.contains("Hello number 99!"), "{text}");
    assert!(text.contains("p50") && text.contains("p99.9"), "{text}");
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
/// ignored, and so has everything that it starts: the test may be, the examples must not.
#[test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "it is about how long a process takes to end")]
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
        while running.process.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(10), "{name} {arguments} does not leave");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn shapes(arguments: &[&str]) -> Command {
    let mut command = example("shapes");
    command.args(arguments);
    command
}

/// A domain for each test, so that they do not hear each other.
fn publisher_and_subscriber(domain: &str, publisher: &[&str], subscriber: &[&str]) -> (Running, Running) {
    let both = ["-t", "Square", "-d", domain];
    let subscriber = Running::start(shapes(&["-S"]).args(both).args(subscriber));
    let publisher = Running::start(shapes(&["-P"]).args(both).args(publisher));
    (publisher, subscriber)
}

#[test]
fn shapes_prints_the_lines_that_the_suite_waits_for() {
    let (mut publisher, mut subscriber) =
        publisher_and_subscriber("41", &["-w", "-c", "RED", "-z", "30"], &["--read-period", "20"]);
    publisher.wait_for(|line| line == "Create topic: Square");
    publisher.wait_for(|line| line == "Create writer for topic: Square color: RED");
    subscriber.wait_for(|line| line == "Create reader for topic: Square");
    publisher.wait_for(|line| {
        line == "on_publication_matched() topic: 'Square'  type: 'ShapeType' : matched readers 1 (change = 1)"
    });
    subscriber.wait_for(|line| {
        line == "on_subscription_matched() topic: 'Square'  type: 'ShapeType' : matched writers 1 (change = 1)"
    });
    let written = publisher.wait_for(|line| line.starts_with("Square     RED        ") && line.ends_with(" [30]"));
    assert_eq!(written.len(), "Square     RED        012 034 [30]".len());
    subscriber.wait_for(|line| line.starts_with("Square     RED        ") && line.ends_with(" [30]"));
}

#[test]
fn shapes_reports_incompatible_reliability() {
    let (mut publisher, mut subscriber) = publisher_and_subscriber("42", &["-b"], &["-r"]);
    publisher
        .wait_for(|line| line == "on_offered_incompatible_qos() topic: 'Square'  type: 'ShapeType' : 11 (RELIABILITY)");
    subscriber.wait_for(|line| {
        line == "on_requested_incompatible_qos() topic: 'Square'  type: 'ShapeType' : 11 (RELIABILITY)"
    });
}

#[test]
fn shapes_of_a_disposed_instance_are_told_as_disposed() {
    let (mut publisher, mut subscriber) = publisher_and_subscriber(
        "43",
        &["-x", "2", "--num-iterations", "40", "--write-period", "20", "--final-instance-state", "d", "-k", "0"],
        &["-x", "2", "--read-period", "20", "-k", "0"],
    );
    subscriber.wait_for(|line| line == "Square     BLUE       NOT_ALIVE_DISPOSED_INSTANCE_STATE");
    publisher.wait_for(|line| line == "Done.");
}

#[test]
fn shapes_of_an_unregistered_instance_have_no_writers() {
    let (_publisher, mut subscriber) = publisher_and_subscriber(
        "44",
        &["--num-iterations", "40", "--write-period", "20", "--final-instance-state", "u"],
        &["--read-period", "20"],
    );
    subscriber.wait_for(|line| line == "Square     BLUE       NOT_ALIVE_NO_WRITERS_INSTANCE_STATE");
}

#[test]
fn shapes_with_a_large_payload_arrive_whole() {
    let (_publisher, mut subscriber) =
        publisher_and_subscriber("45", &["--additional-payload-size", "100000", "-z", "0"], &["--read-period", "20"]);
    subscriber.wait_for(|line| line.ends_with("] {255}"));
}

#[test]
fn shapes_in_different_partitions_do_not_meet() {
    let (_apart, mut subscriber) = publisher_and_subscriber("46", &["-p", "a", "-c", "RED"], &["-p", "b*"]);
    let _publisher = Running::start(&mut shapes(&["-P", "-t", "Square", "-d", "46", "-p", "b1", "-c", "BLUE"]));
    subscriber.wait_for(|line| line.contains("matched writers 1"));
    subscriber.wait_for(|line| line.starts_with("Square     BLUE"));
    assert!(!subscriber.passed_over.iter().any(|line| line.contains("RED")), "{:#?}", subscriber.passed_over);
}

#[test]
fn shapes_says_what_it_does_not_support() {
    for arguments in
        [&["-P", "-t", "Square", "--coherent"][..], &["-S", "-t", "Square", "-c", "RED"], &["-S", "-D", "p"]]
    {
        let output = shapes(arguments).output().unwrap();
        let text = text(&output);
        assert_eq!(text.lines().filter(|line| line.contains("not supported")).count(), 1, "{text}");
        assert_eq!(output.status.code(), Some(1));
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
        "the type is called `Scan` here and `LaserScan` there",
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
