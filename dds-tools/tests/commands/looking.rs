//! `ls`, `ps`, `show`, `completions` and `man`.

use crate::support::{Domain, Ender, PATIENCE, Pose, pose, pose_reader, pose_writer, run_local};
use dds_core::qos::DataWriterQos;
use dds_tools::{Stop, ToolError};
use std::collections::BTreeSet;
use std::time::Instant;

fn lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ls_prints_topics_with_their_endpoints() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let (_writer, _reader) = (pose_writer(&robot), pose_reader(&robot, "robot/other"));
    let text = domain.run_until(&["ls", "--wait", "0.8"], |text| text.lines().count() == 3);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["TOPIC", "TYPE", "WRITERS", "READERS"]);
    assert_eq!(rows[1], ["robot/other", "Pose", "0", "1"]);
    assert_eq!(rows[2], ["robot/pose", "Pose", "1", "0"]);

    let found = lines(&domain.run_until(&["ls", "pose", "--json", "--wait", "0.8"], |text| !text.is_empty()));
    let [topic] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(topic["topic"], "robot/pose");
    assert_eq!(topic["endpoints"][0]["participant"], "robot");
    assert_eq!(topic["endpoints"][0]["vendor"], "dds-core");
    assert_eq!(topic["endpoints"][0]["reliable"], true);

    let expected = "of robot (dds-core): reliable, transient local, keep last 1";
    domain.run_until(&["ls", "--long", "--wait", "0.8"], |text| text.contains(expected));
}

#[test]
fn ps_prints_participants() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = pose_writer(&robot);
    let has_writer = |text: &str| text.contains("\"writers\":1");
    let found = lines(&domain.run_until(&["ps", "--json", "--wait", "0.8"], has_writer));
    let [participant] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&participant["name"], &participant["vendor"]), (&"robot".into(), &"dds-core".into()));
    assert_eq!((&participant["writers"], &participant["readers"]), (&1.into(), &0.into()));
    assert_eq!(participant["process_id"], std::process::id());
    assert!(participant["process"].as_str().unwrap().starts_with("commands"), "{participant}");
    assert_eq!(participant["version"], env!("CARGO_PKG_VERSION"));
    let host = participant["host"].as_str().unwrap();
    let expected =
        [" robot ", host, &format!("({})", std::process::id()), concat!("dds-core ", env!("CARGO_PKG_VERSION"))];
    domain.run_until(&["ps", "--wait", "0.8"], |text| {
        text.lines().nth(1).is_some_and(|row| expected.iter().all(|part| row.contains(part)))
    });
}

#[test]
fn empty_list_has_a_header_and_says_why_it_is_empty() {
    let domain = Domain::new();
    for command in ["ls", "ps"] {
        let printed = domain.run(&[command, "--wait", "0.1"]);
        assert!(printed.notes.starts_with("no participant was found; "), "{}", printed.notes);
        assert_eq!(printed.unwrap().lines().count(), 1);
    }
    let robot = domain.join("robot");
    let _writer = pose_writer(&robot);
    domain.run_until(&["ls", "--wait", "0.8"], |text| text.contains("robot/pose"));
    let printed = domain.run(&["ls", "arm", "--wait", "0.8", "--json"]);
    assert_eq!((printed.notes.as_str(), printed.output.as_str()), ("no name of a topic contains \"arm\"\n", ""));
}

#[test]
fn show_prints_type_and_endpoints() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = pose_writer(&robot);
    let expected = ["struct Pose {", "@key", "double x;", "sequence<string> tags;", "writer ", "of robot (dds-core)"];
    domain.run_until(&["show", "robot/pose"], |text| expected.iter().all(|part| text.contains(part)));
    domain.run_until(&["show", "robot/pose", "--json"], |text| {
        lines(text)[0]["idl"].as_str().is_some_and(|idl| idl.contains("struct Pose"))
    });
}

#[test]
fn show_compares_all_policies_and_names_each_match() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let (_writer, _reader) = (pose_writer(&robot), pose_reader(&planner, "robot/pose"));
    let best_effort = DataWriterQos::default().best_effort().lifespan(dds_core::Duration::from_secs(7));
    let _weak = robot.writer_builder::<Pose>("robot/pose").qos(best_effort).build().unwrap();
    let text = domain.run_until(&["show", "robot/pose"], |text| text.contains("matches R1") && text.contains("W2"));
    let row = |name: &str| {
        let row = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
        row.unwrap_or_else(|| panic!("no row {name} in {text}")).split("  ").map(str::trim).filter(|it| !it.is_empty())
    };
    let mut reliability: Vec<_> = row("reliability ").collect();
    assert_eq!(reliability.pop(), Some("reliable"), "the reader");
    reliability.sort_unstable();
    assert_eq!(reliability, ["best effort", "reliable"]);
    let weak = row("reliability ").position(|value| value == "best effort").unwrap();
    assert!(row("ownership ").all(|value| value == "shared"), "a strength without effect: {text}");
    assert!(row("lifespan ").nth(weak).unwrap().starts_with("7"), "{text}");
    let others = ["matches R1", "matches no reader"];
    assert!(text.contains(&format!("W{} {}", 2 - weak, others[0])), "{text}");
    assert!(text.contains(&format!("W{} {}", weak + 1, others[1])), "{text}");
    let found = lines(&domain.run(&["show", "robot/pose", "--json"]).unwrap());
    assert_eq!(found[0]["matches"].as_array().unwrap().len(), 1, "{found:?}");
    assert_eq!(found[0]["endpoints"].as_array().unwrap().len(), 3);
    let lifespans = found[0]["endpoints"].as_array().unwrap().iter().map(|endpoint| &endpoint["qos"]["lifespan"]);
    assert!(lifespans.filter(|lifespan| !lifespan.is_null()).count() > 0, "{found:?}");
}

#[test]
fn unknown_topic_names_the_known_ones() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = pose_writer(&robot);
    let start = Instant::now();
    let error = loop {
        let error = domain.run(&["show", "robot/posse", "--wait", "0.8"]).result.unwrap_err();
        let knows_topic = matches!(&error, ToolError::NoTopic { known, .. } if known == &["robot/pose"]);
        if knows_topic || start.elapsed() > PATIENCE {
            break error;
        }
    };
    assert_eq!(error.to_string(), "no endpoint of topic \"robot/posse\" was found; known topics: robot/pose");
}

#[test]
fn why_names_each_obstacle_between_others() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let best_effort = DataWriterQos::default().best_effort();
    let _writer = robot.writer_builder::<Pose>("robot/pose").qos(best_effort).build().unwrap();
    let _reader = pose_reader(&planner, "robot/pose");
    let expected = ["topic \"robot/pose\"", "\"robot\"", "\"planner\"", "RELIABILITY", "BestEffort", "Reliable"];
    let has_pair = |text: &str| expected.iter().all(|part| text.contains(part));
    domain.run_until(&["why", "robot/pose", "--wait", "0.8"], has_pair);
    let found = lines(&domain.run_until(&["why", "--json", "--wait", "0.8"], |text| text.contains("RELIABILITY")));
    let [pair] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(pair["topic"], "robot/pose");
    assert!(pair["obstacles"][0]["reason"].as_str().unwrap().contains("RELIABILITY"), "{pair}");
    domain.run_until(&["show", "robot/pose", "--wait", "0.8"], |text| text.contains("RELIABILITY"));
}

#[test]
fn why_is_silent_about_matches() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let (_writer, _reader) = (pose_writer(&robot), pose_reader(&planner, "robot/pose"));
    let expected = "every writer matches every reader (topics: 1)\n";
    domain.run_until(&["why", "--wait", "0.8"], |text| text == expected);
}

#[test]
fn shells_get_completions_and_a_manual_page() {
    let bash = run_local(&["completions", "bash"]).unwrap();
    assert!(bash.contains("record") && bash.contains("--exclude"), "{bash}");
    let man = run_local(&["man"]).unwrap();
    assert!(man.contains(".TH dds 1"), "{man}");
    let man = run_local(&["man", "record"]).unwrap();
    assert!(man.contains(".TH dds-record 1") && man.contains("split\\-bytes"), "{man}");
    let error = run_local(&["man", "recrod"]).result.unwrap_err().to_string();
    assert_eq!(error, "there is no command recrod; `dds help` lists the commands");
}

/// Adds the names of all members, also of inner objects.
fn add_names(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                names.insert(name.clone());
                // Its names are those of the peer.
                if name != "properties" && name != "data" && name != "qos" {
                    add_names(value, names);
                }
            }
        }
        serde_json::Value::Array(elements) => elements.iter().for_each(|element| add_names(element, names)),
        _ => {}
    }
}

fn add_names_of_lines(text: &str, names: &mut BTreeSet<String>) {
    assert!(!text.is_empty());
    lines(text).iter().for_each(|line| add_names(line, names));
}

/// Adds the names of commands that need another side.
fn add_names_of_pairs(domain: &Domain, names: &mut BTreeSet<String>) {
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let end = Ender(stop.clone());
        for side in [["perf", "pong"], ["perf", "subscribe"], ["shapes", "circle"]] {
            let stop = stop.clone();
            scope.spawn(move || domain.run_with(&side, "", &stop));
        }
        for side in [&["perf", "ping"][..], &["perf", "publish"], &["shapes", "circle", "--subscribe"]] {
            let text = domain.run(&[side, &["--count", "5", "--json"]].concat()).unwrap();
            add_names_of_lines(&text, names);
        }
        drop(end);
    });
}

#[test]
fn members_of_json_are_those_of_the_book() {
    let domain = Domain::new();
    let robot = domain.join_with_latencies("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(7, 1.0)).unwrap();
    let lonely = pose_reader(&robot, "robot/lonely");
    let mut names = BTreeSet::new();
    for arguments in [
        &["ls"][..],
        &["ps"],
        &["show", "robot/pose"],
        &["why"],
        &["echo", "robot/pose", "--info", "--count", "1"],
        &["echo", "robot/pose", "--raw", "--info", "--count", "1"],
        &["hz", "robot/pose", "--count", "1"],
        &["bw", "robot/pose", "--count", "1"],
        &["delay", "robot/pose", "--count", "1"],
        &["loss", "robot/pose", "--for", "4", "--every", "0.5"],
        &["top", "robot/pose", "--for", "4", "--every", "0.5"],
        &["durability", "--for", "0"],
    ] {
        let text = domain.run(&[arguments, &["--json"]].concat()).unwrap();
        assert!(!text.is_empty(), "{arguments:?}");
        add_names_of_lines(&text, &mut names);
    }
    add_names_of_pairs(&domain, &mut names);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pose.mcap").display().to_string();
    let record = ["record", "robot/pose", "--output", &path, "--count", "1", "--json"];
    add_names_of_lines(&domain.run(&record).unwrap(), &mut names);
    add_names_of_lines(&run_local(&["info", &path, "--json"]).unwrap(), &mut names);
    drop(lonely);
    let page = include_str!("../../../book/src/reference/json.md");
    let missing: Vec<_> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty() && names.len() > 40, "{missing:?} of {names:?}");
}
