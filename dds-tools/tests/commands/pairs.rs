//! `perf`, `durability` and `shapes`: commands with a side of their own.

use crate::support::{Domain, Ender, LiveOutput};
use clap::Parser;
use dds_core::DdsType;
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability};
use dds_tools::options::CommandLine;
use dds_tools::{Stop, ToolError};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Runs a command in the background while `look` runs. Returns its output.
fn beside(domain: &Domain, arguments: &[&str], look: impl FnOnce(&LiveOutput)) -> String {
    let (stop, output) = (Stop::new(), LiveOutput::default());
    std::thread::scope(|scope| {
        let side = scope.spawn({
            let (stop, output) = (stop.clone(), output.clone());
            move || domain.run_into(arguments, &output, &stop)
        });
        let ender = Ender(stop);
        look(&output);
        drop(ender);
        side.join().unwrap().unwrap();
    });
    output.text()
}

/// Waits until a command has printed the wanted text.
fn await_text(output: &LiveOutput, is_wanted: impl Fn(&str) -> bool) {
    let start = Instant::now();
    while !is_wanted(&output.text()) {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", output.text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn last_line(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn perf_measures_round_trips() {
    let domain = Domain::new();
    for extra in [&[][..], &["--best-effort"]] {
        beside(&domain, &[&["perf", "pong"], extra].concat(), |_| {
            let ping = ["perf", "ping", "--count", "200", "--size", "3k", "--every", "0.01", "--json"];
            let text = domain.run(&[&ping[..], extra].concat()).unwrap();
            let total = last_line(&text);
            assert_eq!(total["total"], true);
            assert_eq!(total["samples"].as_u64().unwrap() + total["lost"].as_u64().unwrap(), 200, "{text}");
            assert!(!extra.is_empty() || total["lost"] == 0, "{text}");
            let time = &total["round_trip_ns"];
            assert!(time["min"].as_u64() > Some(0) && time["min"].as_u64() <= time["p99"].as_u64(), "{text}");
        });
    }
    let error = domain.run(&["perf", "ping", "--wait", "0.2"]).result.unwrap_err().to_string();
    assert!(error.starts_with("no `dds perf pong` arrived"), "{error}");
}

#[test]
fn perf_counts_every_published_sample() {
    let domain = Domain::new();
    std::thread::scope(|scope| {
        let domain = &domain;
        let subscribe = ["perf", "subscribe", "--count", "5000", "--for", "60", "--json"];
        let subscriber = scope.spawn(move || domain.run(&subscribe).unwrap());
        let publish = ["perf", "publish", "--count", "5000", "--size", "1k"];
        let text = domain.run(&publish).unwrap();
        assert!(text.lines().last().unwrap().starts_with("total: 5000 samples, "), "{text}");
        assert!(!text.contains("lost"), "the writer cannot know the losses: {text}");
        let total = last_line(&subscriber.join().unwrap());
        assert_eq!((&total["samples"], &total["lost"]), (&5000.into(), &0.into()), "{total}");
        assert!(
            total["bytes_per_second"].as_f64() > Some(0.0) && total["delay_ns"]["p50"].as_u64() > Some(0),
            "{total}"
        );
    });
}

#[test]
fn durability_keeps_samples_for_late_readers() {
    #[derive(DdsType, Debug, PartialEq)]
    struct Mission {
        target: String,
    }
    let domain = Domain::new();
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("durable.redb");
    let service = ["durability", "--json", "--database", database.to_str().unwrap()];
    let text = beside(&domain, &service, |_| {
        let robot = domain.join("robot");
        let qos = DataWriterQos::default().reliable().durability(Durability::Persistent);
        let writer = robot.writer_builder::<Mission>("mission").qos(qos).build().unwrap();
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        writer.write(&Mission { target: "dock 4".to_owned() }).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
    });
    assert_eq!(last_line(&text)["database_problem"], Value::Null, "{text}");
    // The database outlives the service and the writer.
    let text = beside(&domain, &["durability", "--database", database.to_str().unwrap()], |_| {
        let qos = DataReaderQos::default().reliable().durability(Durability::Persistent);
        let reader = domain.join("late").reader_builder::<Mission>("mission").qos(qos).build().unwrap();
        let mission = reader.next_sample().block_for(Duration::from_secs(30)).unwrap();
        assert_eq!(mission.data, Some(Mission { target: "dock 4".to_owned() }));
        assert!(domain.run(&["ps"]).unwrap().contains("dds durability"));
    });
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup();
    assert_eq!(lines.len(), text.lines().count(), "an equal line says nothing new: {text}");
    let error = domain.run(&["durability", "--database", "/nowhere/durable.redb"]).result.unwrap_err();
    assert!(matches!(error, ToolError::Value { .. }) && error.to_string().contains("/nowhere"), "{error}");
}

#[test]
fn perf_ends_exactly_at_its_count() {
    let domain = Domain::new();
    std::thread::scope(|scope| {
        let domain = &domain;
        let subscribe = ["perf", "subscribe", "--count", "70", "--for", "60", "--json"];
        let subscriber = scope.spawn(move || domain.run(&subscribe).unwrap());
        let error = domain.run(&["perf", "publish", "--count", "200", "--wait", "60"]).result.err();
        assert!(error.is_none(), "{error:?}");
        let total = last_line(&subscriber.join().unwrap());
        assert_eq!(total["samples"], 70, "{total}");
    });
    // `pong` prints nothing.
    for unused in [&["--json"][..], &["--every", "1"]] {
        assert!(CommandLine::try_parse_from([&["dds", "perf", "pong"], unused].concat()).is_err());
    }
}

#[test]
fn shapes_move_and_leave() {
    let domain = Domain::new();
    let text = beside(&domain, &["shapes", "circle", "--subscribe"], |output| {
        let text = domain.run(&["echo", "Circle", "--for", "0.1", "--type-wait", "30"]).unwrap();
        assert_eq!(text, "", "the subscriber describes the type");
        // The publisher waits for no reader, so it runs until the subscriber has printed some of its shapes.
        let publish = ["shapes", "circle", "--color", "RED", "--size", "12", "--rate", "100"];
        beside(&domain, &publish, |_| await_text(output, |text| text.lines().count() > 2));
        await_text(output, |text| text.ends_with("left\n"));
    });
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 2 && lines[0].starts_with("Circle     RED        ") && lines[0].ends_with(" [12]"), "{text}");
    assert_ne!(lines[0], lines[1]);
    assert_eq!(lines[lines.len() - 1], "Circle     RED        left");
}
