//! The ends of commands: `--count` and `--for`.

use crate::support::{Domain, Ender, LiveOutput, PATIENCE, Printed, pose, pose_reader, pose_writer};
use clap::{CommandFactory, Parser};
use dds_tools::options::CommandLine;
use dds_tools::{Stop, ToolError};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Lines of all commands, and whether they take `--count` and `--for`. A command that looks once takes neither.
const LINES: [(&str, bool, bool); 29] = [
    ("ls", false, false),
    ("ls --watch", true, true),
    ("ps", false, false),
    ("ps --watch", true, true),
    ("show robot/pose", false, false),
    ("why", false, false),
    ("check robot.toml", false, false),
    ("echo robot/pose", true, true),
    ("pub robot/pose {}", true, true),
    ("call square", false, false),
    ("hz", true, true),
    ("bw", true, true),
    ("delay", true, true),
    ("perf ping", true, true),
    ("perf pong", true, true),
    ("perf publish", true, true),
    ("perf subscribe", true, true),
    ("loss", true, true),
    ("top", true, true),
    ("record --output drive.mcap", true, true),
    ("play drive.mcap", true, true),
    // Both serve others, so they count nothing of their own.
    ("serve", false, true),
    ("durability", false, true),
    ("shapes", true, true),
    ("info drive.mcap", false, false),
    ("recover drive.mcap --output new.mcap", false, false),
    ("security check fleet", false, false),
    ("completions bash", false, false),
    ("man", false, false),
];

#[test]
fn each_command_takes_or_refuses_an_end() {
    for (line, takes_count, takes_time) in LINES {
        let parse = |more: &[&str]| {
            let line = ["dds"].into_iter().chain(line.split(' ')).chain(more.iter().copied());
            CommandLine::try_parse_from(line).map(|_| ()).map_err(|error| error.exit_code())
        };
        let expected = |is_taken| if is_taken { Ok(()) } else { Err(2) };
        assert_eq!(parse(&[]), Ok(()), "{line}");
        assert_eq!(parse(&["--count", "1"]), expected(takes_count), "{line} --count 1");
        assert_eq!(parse(&["--for", "1"]), expected(takes_time), "{line} --for 1");
    }
    for command in CommandLine::command().get_subcommands() {
        let is_known = LINES.iter().any(|(line, ..)| line.split(' ').next() == Some(command.get_name()));
        assert!(is_known, "{} has no line", command.get_name());
    }
}

#[test]
fn each_command_has_json_and_options_for_the_network() {
    // These print text for a shell, or work on files.
    let without_json = ["completions", "man", "security"];
    let without_network = ["info", "recover", "completions", "man", "security"];
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        let parts: Vec<_> = command.get_subcommands().collect();
        for part in if parts.is_empty() || name == "security" { vec![command] } else { parts } {
            let has = |option: &str| part.get_arguments().any(|it| it.get_long() == Some(option));
            // `perf pong` prints nothing.
            let prints = part.get_name() != "pong" && !without_json.contains(&name);
            assert_eq!(has("json"), prints, "{name} {}", part.get_name());
            for option in ["domain", "peer", "scope", "interface", "tag"] {
                assert_eq!(has(option), !without_network.contains(&name), "{name} {}: --{option}", part.get_name());
            }
        }
    }
}

/// Runs a command that must end by itself.
fn ended(domain: &Domain, line: &[&str]) -> Printed {
    let (stop, (done, is_done)) = (Stop::new(), channel::<()>());
    std::thread::scope(|scope| {
        scope.spawn({
            let stop = stop.clone();
            move || {
                if is_done.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    stop.request();
                }
            }
        });
        let printed = domain.run_with(line, "", &stop);
        drop(done);
        assert!(!stop.is_requested(), "{line:?} does not end by itself");
        printed
    })
}

#[test]
fn commands_end_by_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.mcap"), folder.path().join("second.mcap"));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(1, 0.5)).unwrap();
    ended(&domain, &["record", "--output", first, "--count", "1"]).unwrap();
    for line in [
        &["ls", "--watch", "--wait", "0.1"][..],
        &["ps", "--watch", "--wait", "0.1"],
        &["echo", "robot/pose"],
        &["pub", "robot/pose", "{robot: 1}", "--rate", "100", "--readers", "0"],
        &["hz"],
        &["bw", "robot/pose"],
        &["delay", "robot/pose"],
        &["loss"],
        &["top", "--json"],
        &["record", "--output", second],
        &["play", first, "--loop", "--readers-wait", "0"],
        &["serve", "--bind", "127.0.0.1:0"],
        &["durability"],
        &["shapes"],
        &["shapes", "--subscribe"],
        &["perf", "pong"],
        &["perf", "subscribe"],
    ] {
        let start = Instant::now();
        match ended(&domain, &[line, &["--for", "0.5"]].concat()).result {
            // Discovery may take longer on a busy machine.
            Ok(()) | Err(ToolError::NothingArrived { .. }) => {}
            Err(error) => panic!("{line:?}: {error}"),
        }
        assert!(start.elapsed() >= Duration::from_millis(500), "{line:?} ends too early");
    }
}

#[test]
fn watched_list_ends_after_its_count() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let (stop, output) = (Stop::new(), LiveOutput::default());
    std::thread::scope(|scope| {
        let _ender = Ender(stop.clone());
        let list = scope.spawn({
            let (domain, output, stop) = (&domain, output.clone(), stop.clone());
            move || domain.run_into(&["ls", "--watch", "--count", "2", "--wait", "0.1", "--json"], &output, &stop)
        });
        // Each new reader is a change. The command prints nothing before the first one.
        let (start, mut readers) = (Instant::now(), Vec::new());
        while !list.is_finished() && start.elapsed() < PATIENCE {
            readers.push(pose_reader(&robot, "robot/pose"));
            std::thread::sleep(Duration::from_millis(300));
        }
        assert!(list.is_finished(), "{}", output.text());
        list.join().unwrap().unwrap();
    });
    let text = output.text();
    let endpoints = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    // A list is empty if the participant is known before its readers.
    assert!(endpoints.count() <= 2, "at most two lists of one topic: {text}");
}

#[test]
fn reports_end_after_their_count() {
    let domain = Domain::new();
    let writer = pose_writer(&domain.join("robot"));
    writer.write(&pose(1, 0.5)).unwrap();
    let text = ended(&domain, &["top", "--every", "0.2", "--count", "3", "--json"]).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    // The first reports come before the topic is known.
    let start = Instant::now();
    let text = loop {
        let printed = ended(&domain, &["loss", "robot/pose", "--every", "1", "--count", "3"]);
        match printed.result {
            Ok(()) => break printed.output,
            // Discovery takes longer than the three reports on a busy machine.
            Err(ToolError::NothingArrived { .. }) if start.elapsed() < PATIENCE => {}
            Err(error) => panic!("{error}"),
        }
    };
    let of_topic = |part: &str| text.lines().filter(|line| line.starts_with(part)).count();
    assert!((1..=3).contains(&of_topic("topic robot/pose: ")), "{text}");
    assert_eq!(of_topic("total: topic robot/pose: "), 1, "{text}");
}
