//! Processes that are killed, stopped, disconnected and restarted, and all ways in which one can end.
//!
//! Some tests take long or need root. `.ci/run processes` runs those ten times as long, with `DDS_TEST_LONG`.

#![allow(clippy::disallowed_methods, reason = "it is about processes and real time")]

mod child;
mod program;

use child::{Child, ip, make_hosts};
use dds_core::{DataReader, Duration, Guid};
use nix::sys::signal::Signal;
use program::{Count, ROOM, builder, reader_qos, writer_qos};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration as StdDuration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A tag that separates the tests from each other.
fn new_tag(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Begin of a tag: the processes use shared memory where the system has it. Their tests have the plain names.
const ANY: &str = "any";

/// Begin of a tag: the processes use UDP alone.
const UDP: &str = "udp";

/// Whether the processes of a carrier must share memory.
fn shares(carrier: &str) -> bool {
    carrier == ANY && cfg!(all(target_os = "linux", feature = "shm"))
}

/// A tenth of `whole`, unless `DDS_TEST_LONG` requests all of it.
fn seconds(whole: u64) -> StdDuration {
    let is_long = std::env::var_os("DDS_TEST_LONG").is_some();
    StdDuration::from_millis(if is_long { 1000 * whole } else { 100 * whole })
}

fn set(name: &'static str, value: impl ToString) -> (&'static str, String) {
    (name, value.to_string())
}

/// The counts of one writer after the other, as a reader gets them.
fn take(reader: &DataReader<Count>, into: &mut Vec<(u32, Vec<u32>)>) {
    for Count { process, count } in reader.take().unwrap().into_data() {
        match into.last_mut().filter(|(known, _)| *known == process) {
            Some((_, counts)) => counts.push(count),
            None => into.push((process, vec![count])),
        }
    }
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn killed_writer_restarts_without_duplicates() {
    kill_writers(ANY);
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn killed_writer_on_udp_restarts_without_duplicates() {
    kill_writers(UDP);
}

fn kill_writers(carrier: &str) {
    let tag = new_tag(carrier);
    let participant = builder(&tag, 2000).build().unwrap();
    let reader = participant.reader_builder("counts").qos(reader_qos().transient_local()).build().unwrap();
    let mut received: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut known: Vec<Guid> = Vec::new();
    for round in 1..=3 {
        // A short lease, so that a killed process expires within the test.
        let settings = [set("SAMPLES", 1_000_000), set("HISTORY", 1), set("LEASE_MS", 500)];
        let mut writer = Child::start(&tag, "writes", &settings);
        writer.wait_for("begins");
        let started = Instant::now();
        let is_shared = || reader.explain_matches().iter().any(|report| report.shared_memory);
        while received.len() < round || received[round - 1].1.len() < 100 || is_shared() != shares(carrier) {
            take(&reader, &mut received);
            assert!(started.elapsed() < child::LIMIT, "{received:?}");
        }
        writer.signal(Signal::SIGKILL);
        assert!(!writer.end().success());
        // Its lease ends, and no trace of it remains.
        while reader.subscription_matched().current_count > 0 {
            // Record the GUIDs, because a restarted writer must not reuse one.
            known.extend(reader.matched_publications().iter().map(|publication| publication.guid));
            assert!(started.elapsed() < child::LIMIT, "a ghost");
            std::thread::sleep(StdDuration::from_millis(10));
        }
        assert!(participant.discovered_participants().is_empty(), "a ghost");
        take(&reader, &mut received);
    }
    assert_eq!(received.len(), 3, "each process has its turn, and none comes back");
    for (_, counts) in &received {
        assert_eq!(*counts, (0..counts.len() as u32).collect::<Vec<_>>());
    }
    known.sort_unstable();
    known.dedup();
    let mut prefixes: Vec<_> = known.iter().map(|guid| guid.prefix).collect();
    prefixes.dedup();
    assert_eq!(prefixes.len(), 3, "a process that is started again has another name");
}

/// Result of a run in which one of two readers is stopped.
///
/// It contains the longest pause of the other reader in ms and the writer's output. It also contains the samples that
/// the stopped reader missed.
struct Stopped {
    longest_pause: u64,
    writer_said: Vec<String>,
    missed: u64,
}

fn stop_one_of_two_readers(carrier: &str, stops: bool, demotes: bool) -> Stopped {
    let tag = new_tag(carrier);
    let stop = seconds(10);
    let samples = set("SAMPLES", 500 + 3 * stop.as_millis());
    let mut steady = Child::start(&tag, "reads", std::slice::from_ref(&samples));
    let mut other = Child::start(&tag, "reads", std::slice::from_ref(&samples));
    steady.wait_for("reads as");
    let stopped = other.wait_for("reads as");
    let mut settings = vec![samples, set("READERS", 2)];
    settings.extend(demotes.then(|| set("DEMOTE_MS", 100)));
    let mut writer = Child::start(&tag, "writes", &settings);
    writer.wait_for("begins");
    // The stop must come in the middle of the stream.
    other.wait_for("has read 200");
    if stops {
        other.signal(Signal::SIGSTOP);
        // A busy machine fills the writer's history late. So the stop lasts from then on.
        let noticed = if demotes { "slow readers: 1".to_owned() } else { format!("waits for {stopped}") };
        writer.wait_for(&noticed);
        std::thread::sleep(stop);
        other.signal(Signal::SIGCONT);
    }
    let longest_pause = steady.wait_for("longest pause").parse().unwrap();
    steady.wait_for("has read all");
    let mut missed = 0;
    other.wait_for("longest pause");
    for line in other.seen() {
        missed += line.strip_prefix("misses ").map_or(0, |count| count.parse::<u64>().unwrap());
    }
    other.wait_for("has read all");
    let shared: u64 = writer.wait_for("has shared").parse().unwrap();
    assert_eq!(shared > 0, shares(carrier), "{shared} datagrams went through shared memory");
    writer.wait_for("has written");
    Stopped { longest_pause, writer_said: writer.seen().to_vec(), missed }
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn stopped_reader_blocks_writer_without_loss() {
    stop_reader(ANY);
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn stopped_reader_on_udp_blocks_writer_without_loss() {
    stop_reader(UDP);
}

fn stop_reader(carrier: &str) {
    // The writer says that it waits for the stopped reader.
    let outcome = stop_one_of_two_readers(carrier, true, false);
    assert_eq!(outcome.missed, 0);
    let pause = u128::from(outcome.longest_pause);
    assert!(pause >= seconds(10).as_millis() / 3, "the other reader waits too: {pause}");
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn demoted_stopped_reader_delays_no_peer() {
    demote_stopped_reader(ANY);
}

#[test]
#[ignore = "takes long: .ci/run processes"]
fn demoted_stopped_reader_on_udp_delays_no_peer() {
    demote_stopped_reader(UDP);
}

fn demote_stopped_reader(carrier: &str) {
    let undisturbed = stop_one_of_two_readers(carrier, false, true);
    let outcome = stop_one_of_two_readers(carrier, true, true);
    println!("longest pause {} ms, without a stopped reader {} ms", outcome.longest_pause, undisturbed.longest_pause);
    assert_eq!(undisturbed.missed, 0);
    assert!(outcome.writer_said.iter().any(|said| said == "slow readers: 0"), "{:?}", outcome.writer_said);
    // The writer blocks once, for as long as its QoS allows. A busy machine adds to that, but much less than the stop
    // of the reader.
    let allowed = 100 + 2 * u128::from(undisturbed.longest_pause) + seconds(10).as_millis() / 2;
    assert!(u128::from(outcome.longest_pause) < allowed, "{} of {allowed} ms", outcome.longest_pause);
}

#[test]
#[ignore = "needs root: .ci/run processes"]
fn unplugged_cable_delays_without_loss() {
    let tag = new_tag("hosts");
    make_hosts("pulled");
    let down = seconds(20);
    let samples = set("SAMPLES", 1000 + 2 * down.as_millis());
    let mut reader = Child::start_on("pulled-b", &tag, "reads", std::slice::from_ref(&samples));
    reader.wait_for("reads as");
    let mut writer = Child::start_on("pulled-a", &tag, "writes", &[samples]);
    reader.wait_for("has read 500");
    ip("pulled-a", "link set link1 down");
    std::thread::sleep(down);
    ip("pulled-a", "link set link1 up");
    let pause: u128 = reader.wait_for("longest pause").parse().unwrap();
    assert!(pause >= down.as_millis(), "the cable was out for {} ms, and the reader noticed {pause}", down.as_millis());
    reader.wait_for("has read all");
    assert!(reader.seen().iter().all(|line| !line.starts_with("misses")), "{:?}", reader.seen());
    writer.wait_for("has written");
}

/// Asserts whether peers notice the end at once, or only when the lease ends.
fn end_of(carrier: &str, role: &str, notices_at_once: bool) {
    let tag = new_tag(carrier);
    let participant = builder(&tag, 60_000).build().unwrap();
    let reader = participant.reader_builder::<Count>("counts").qos(reader_qos()).build().unwrap();
    let writer = participant.writer_builder::<Count>("counts").qos(writer_qos()).build().unwrap();
    // A lease of an hour cannot be the cause of a fast end.
    let lease = if notices_at_once { 3_600_000 } else { 500 };
    let mut process = Child::start(&tag, role, &[set("LEASE_MS", lease)]);
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    let matched = Instant::now();
    while writer.explain_matches().iter().any(|report| report.shared_memory) != shares(carrier) {
        assert!(matched.elapsed() < child::LIMIT, "{:?}", writer.explain_matches());
        std::thread::sleep(StdDuration::from_millis(1));
    }
    // The process may end once it has received this sample: then both know each other.
    writer.write(&Count { process: 0, count: 0 }).unwrap();
    process.wait_for("ends");
    let status = process.end();
    assert!(status.success(), "{role}: {status}");
    let started = Instant::now();
    let only_we =
        || participant.discovered_participants().is_empty() && writer.publication_matched().current_count == 1;
    while !only_we() {
        assert!(
            started.elapsed() < StdDuration::from_secs(20),
            "{role}: {:?} and {:?} are still there",
            participant.discovered_participants(),
            writer.publication_matched()
        );
        std::thread::sleep(StdDuration::from_millis(5));
    }
    let received = reader.take().unwrap().into_data().filter(|count: &Count| count.process != 0).count();
    assert_eq!(received, 10, "{role}: all samples from before the end have arrived");
    reader.close();
    // No reader is left, so the writer waits for no acknowledgment.
    (0..2 * ROOM).for_each(|count| writer.write(&Count { process: 0, count }).unwrap());
}

const CLEAN_ENDS: [&str; 3] = ["shuts down", "drops", "keeps in a thread"];

const ENDS_WITHOUT_DROPS: [&str; 4] = ["keeps in a static", "forgets", "exits", "exits while a thread waits"];

#[test]
fn clean_process_end_unmatches_at_once() {
    CLEAN_ENDS.into_iter().for_each(|role| end_of(ANY, role, true));
}

#[test]
fn clean_process_end_unmatches_on_udp_at_once() {
    CLEAN_ENDS.into_iter().for_each(|role| end_of(UDP, role, true));
}

#[test]
fn process_without_drops_expires_with_lease() {
    ENDS_WITHOUT_DROPS.into_iter().for_each(|role| end_of(ANY, role, false));
}

#[test]
fn process_without_drops_expires_on_udp_with_lease() {
    ENDS_WITHOUT_DROPS.into_iter().for_each(|role| end_of(UDP, role, false));
}

/// The program that the other processes run.
#[test]
#[ignore = "is run by the other tests"]
fn program() {
    program::run();
}
