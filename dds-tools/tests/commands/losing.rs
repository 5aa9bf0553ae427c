//! `loss` and `top`.

use crate::support::{Domain, Pose, pose, pose_reader, pose_writer};
use dds_core::qos::DataWriterQos;
use dds_tools::Stop;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Runs a command while `robot` writes 200 samples, and returns its lines of JSON.
fn lines_while_writing(arguments: &[&str]) -> Vec<Value> {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    let stop = Stop::new();
    let text = std::thread::scope(|scope| {
        let command = scope.spawn(|| domain.run_with(arguments, "", &stop));
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        // The reader may learn of the writer later. Until then, a sample replaces the one before (KEEP_LAST 1).
        writer.write(&pose(1, 0.0)).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        for number in 0..200 {
            writer.write(&pose(1, f64::from(number))).unwrap();
        }
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        // The reader has all samples. The command counts them within a step, and ends its period.
        std::thread::sleep(Duration::from_millis(700));
        stop.request();
        command.join().unwrap().unwrap()
    });
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn loss_accounts_for_each_sample() {
    let lines = lines_while_writing(&["loss", "--json", "--every", "0.2"]);
    let total = lines.iter().find(|line| line["topic"] == "robot/pose" && line["total"] == true).unwrap();
    assert_eq!((&total["received"], &total["lost"]), (&total["known"], &0.into()), "{total}");
    assert!(total["received"].as_u64().unwrap() >= 200, "{total}");
    assert_eq!(total["writers"][0]["participant"], "robot");
    let of_socket = lines.iter().find(|line| line["participant"] == "robot");
    if cfg!(target_os = "linux") {
        assert!(of_socket.is_some_and(|line| line["socket_dropped"].is_u64()), "{lines:?}");
    }
}

#[test]
fn loss_without_topic_names_next_step() {
    let error = Domain::new().run(&["loss", "--for", "0.2"]).result.unwrap_err().to_string();
    assert_eq!(error, "no topic with a writer arrived; `dds ls` lists the topics of the domain");
}

#[test]
fn top_shows_rates_of_topics() {
    let lines = lines_while_writing(&["top", "--json", "--every", "0.2"]);
    let of_topic = |line: &Value| line["topics"].as_array().unwrap().first().cloned();
    let topics: Vec<Value> = lines.iter().filter_map(of_topic).collect();
    assert!(topics.iter().any(|topic| topic["rate_hz"].as_f64().unwrap() > 0.0), "{topics:?}");
    let last = topics.last().unwrap();
    assert_eq!(
        (&last["topic"], &last["types"][0], &last["writers"]),
        (&"robot/pose".into(), &"Pose".into(), &1.into())
    );
    assert_eq!(lines.last().unwrap()["participants"][0]["participant"], "robot");
}

#[test]
fn top_names_unmatched_pairs() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let best_effort = DataWriterQos::default().best_effort();
    let _writer = robot.writer_builder::<Pose>("robot/pose").qos(best_effort).build().unwrap();
    let _reader = pose_reader(&planner, "robot/pose");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        let text = domain.run(&["top", "--json", "--every", "0.1", "--for", "1.5"]).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        if last["problems"].as_array().unwrap().iter().any(|problem| problem.as_str().unwrap().contains("RELIABILITY"))
        {
            return;
        }
    }
    panic!("no screen named the obstacle");
}

#[test]
fn top_without_terminal_names_other_commands() {
    let error = Domain::new().run(&["top"]).result.unwrap_err().to_string();
    assert!(error.contains("--json") && error.contains("dds hz"), "{error}");
}
