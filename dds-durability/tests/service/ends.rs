//! A service and a writer in processes of their own, which are killed.

#![allow(dead_code, reason = "the shared files serve other tests too")]
#![allow(clippy::disallowed_methods, reason = "it is about processes and real time")]

#[path = "../../../dds-core/tests/processes/ends/child.rs"]
mod child;
#[path = "../../../dds-core/tests/processes/ends/program.rs"]
mod program;

use child::Child;
use dds_core::DataReader;
use dds_durability::DurabilityService;
use nix::sys::signal::Signal;
use program::{Count, builder, reader_qos, say, settle};
use std::time::{Duration as StdDuration, Instant};

/// The counts of one writer after the other, as a reader gets them.
fn take(reader: &DataReader<Count>, into: &mut Vec<(u32, Vec<u32>)>) {
    for Count { process, count } in reader.take().unwrap().into_data() {
        match into.last_mut().filter(|(known, _)| *known == process) {
            Some((_, counts)) => counts.push(count),
            None => into.push((process, vec![count])),
        }
    }
}

/// The program that the other processes run.
#[test]
#[ignore = "is run by the other test"]
fn program() {
    if std::env::var("DDS_TEST_ROLE").is_ok_and(|role| role == "keeps") {
        return keeps(&std::env::var("DDS_TEST_TAG").unwrap());
    }
    program::run();
}

/// Runs a durability service, which prints the number of stored samples until it is killed.
fn keeps(tag: &str) {
    let participant = settle(DurabilityService::participant(0), tag, 1000).build().unwrap();
    let database = std::env::var_os("DATABASE").unwrap();
    let service = DurabilityService::builder().database(database).start(participant).unwrap();
    let mut said = None;
    loop {
        let changes = service.status().changes;
        if said.replace(changes) != Some(changes) {
            say(format!("keeps {changes}"));
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// The service is killed during its work again and again, and finally every process at once.
#[test]
#[ignore = "takes long: .ci/run processes"]
fn stored_samples_survive_kill_of_service() {
    const SAMPLES: u32 = 2000;
    let tag = format!("durable-{}", std::process::id());
    let database = std::env::temp_dir().join(format!("dds-{tag}.redb"));
    let _ = std::fs::remove_file(&database);
    let keep = || Child::start(&tag, "keeps", &[("DATABASE", database.display().to_string())]);
    // The service must be ready before the first sample.
    let mut service = keep();
    service.wait_for("keeps 0");
    let mut writer = Child::start(&tag, "writes", &[("SAMPLES", SAMPLES.to_string()), ("PERSISTENT", "1".to_owned())]);
    writer.wait_for("begins");
    let mut before = 0;
    for round in 0..5 {
        // The service has committed the number that it printed last. A transaction in progress is lost or stored as a
        // whole.
        let kept = loop {
            let kept: u32 = service.wait_for("keeps").parse().unwrap();
            if kept > (round + 1) * SAMPLES / 10 {
                break kept;
            }
        };
        service.signal(Signal::SIGKILL);
        assert!(!service.end().success());
        service = keep();
        let found: u32 = service.wait_for("keeps").parse().unwrap();
        assert!(found + 512 >= kept && found >= before, "{kept} were kept, {found} are left");
        before = found;
    }
    while service.wait_for("keeps").parse::<u32>().unwrap() < SAMPLES {}
    writer.signal(Signal::SIGKILL);
    service.signal(Signal::SIGKILL);
    assert!(!writer.end().success() && !service.end().success());
    // Now the database is the only source of the samples.
    let _service = keep();
    let participant = builder(&tag, 1000).build().unwrap();
    let qos = reader_qos().durability(dds_core::qos::Durability::Persistent);
    let reader = participant.reader_builder("counts").qos(qos).build().unwrap();
    let (mut received, started) = (Vec::new(), Instant::now());
    while received.first().is_none_or(|(_, counts): &(u32, Vec<u32>)| counts.len() < SAMPLES as usize) {
        take(&reader, &mut received);
        assert!(
            started.elapsed() < child::LIMIT,
            "{} came",
            received.iter().map(|(_, counts)| counts.len()).sum::<usize>()
        );
        std::thread::sleep(StdDuration::from_millis(10));
    }
    // Wait for possible duplicates.
    std::thread::sleep(StdDuration::from_millis(300));
    take(&reader, &mut received);
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].1, (0..SAMPLES).collect::<Vec<_>>(), "each once, and in order");
    let _ = std::fs::remove_file(&database);
}
