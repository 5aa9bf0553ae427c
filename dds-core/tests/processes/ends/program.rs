//! Roles of the other processes.

use super::child::MARK;
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, Reliability, ResourceLimits};
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration, Scope};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::time::Instant;

/// Room in a writer that waits for its readers.
pub(crate) const ROOM: u32 = 200;

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Count {
    pub(crate) process: u32,
    pub(crate) count: u32,
}

/// Participants that see only those of one test.
pub(crate) fn builder(tag: &str, lease_ms: u64) -> DomainParticipantBuilder {
    settle(DomainParticipant::builder(0), tag, lease_ms)
}

pub(crate) fn settle(builder: DomainParticipantBuilder, tag: &str, lease_ms: u64) -> DomainParticipantBuilder {
    let builder = builder.ignore_environment().domain_tag(tag);
    let scope = if tag.starts_with("hosts") { Scope::Subnet } else { Scope::Host };
    builder.scope(scope).udp_only(tag.starts_with("udp")).lease(Duration::from_millis(lease_ms))
}

pub(crate) fn writer_qos() -> DataWriterQos {
    let limits = ResourceLimits::NONE.max_samples(ROOM);
    let mut qos = DataWriterQos::default().keep_all().resource_limits(limits);
    qos.reliability = Reliability::Reliable { max_blocking_time: Duration::from_millis(200) };
    qos
}

pub(crate) fn reader_qos() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

pub(crate) fn say(line: impl std::fmt::Display) {
    println!("{MARK}{line}");
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// Runs the role that the environment names.
pub(crate) fn run() {
    let Ok(role) = std::env::var("DDS_TEST_ROLE") else { return };
    let tag = std::env::var("DDS_TEST_TAG").unwrap();
    let participant = builder(&tag, setting("LEASE_MS").unwrap_or(60_000)).build().unwrap();
    match role.as_str() {
        "writes" => writes(&participant),
        "reads" => reads(&participant),
        _ => ends(&role, participant),
    }
}

/// Writes one number each millisecond to a given number of readers.
///
/// A write that fails for lack of room is repeated.
fn writes(participant: &DomainParticipant) {
    let mut qos = writer_qos();
    if setting("HISTORY").is_some() {
        qos = qos.transient_local().resource_limits(ResourceLimits::default());
    }
    if setting("PERSISTENT").is_some() {
        let history = dds_core::qos::History::KeepAll;
        let service = dds_core::qos::DurabilityService::default().history(history);
        qos = qos.durability(Durability::Persistent).durability_service(service);
        qos.resource_limits = ResourceLimits::default();
    }
    let slow_reader = match setting("DEMOTE_MS") {
        Some(after) => SlowReader::Demote { after: Duration::from_millis(after) },
        None => SlowReader::Block,
    };
    let writer: DataWriter<Count> =
        participant.writer_builder("counts").qos(qos).slow_reader(slow_reader).build().unwrap();
    let readers = setting("READERS").unwrap_or(1);
    writer.wait_for_readers(usize::try_from(readers).unwrap()).block().unwrap();
    say("begins");
    let process = std::process::id();
    let mut slow = 0;
    for count in 0..u32::try_from(setting("SAMPLES").unwrap()).unwrap() {
        let mut said = false;
        while let Err(error) = writer.write(&Count { process, count }) {
            let WriteErrorKind::Timeout { slowest, .. } = error.kind() else { panic!("{error}") };
            if !std::mem::replace(&mut said, true) {
                say(format!("waits for {}", slowest.map_or_else(String::new, |reader| reader.to_string())));
            }
        }
        let status = writer.slow_readers();
        if std::mem::replace(&mut slow, status.current_count) != status.current_count {
            say(format!("slow readers: {}", status.current_count));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    writer.acknowledged().block().unwrap();
    say(format!("has shared {}", participant.traffic().sent_shared));
    say("has written");
    // The loop ends when the process is killed.
    loop {
        std::thread::park();
    }
}

/// Takes a given number of samples, and prints the longest pause between two in ms.
fn reads(participant: &DomainParticipant) {
    let reader: DataReader<Count> = participant.reader_builder("counts").qos(reader_qos()).build().unwrap();
    say(format!("reads as {}", dds_core::Entity::guid(&reader)));
    let samples = u32::try_from(setting("SAMPLES").unwrap()).unwrap();
    let mut next = 0;
    let mut longest = std::time::Duration::ZERO;
    let mut last: Option<Instant> = None;
    while next < samples {
        let Some(Count { count, .. }) = reader.next_sample().block().unwrap().data else { continue };
        let gap = last.map_or(std::time::Duration::ZERO, |last| last.elapsed());
        last = Some(Instant::now());
        longest = longest.max(gap);
        if count < next {
            return say(format!("failed: {count} comes after {next} was expected"));
        }
        if count > next {
            say(format!("misses {}", count - next));
        }
        next = count + 1;
        if count % 100 == 0 {
            say(format!("has read {count}"));
        }
    }
    say(format!("longest pause {}", longest.as_millis()));
    // Any further sample is a duplicate.
    if reader.next_sample().block_for(Duration::from_millis(300)).is_ok_and(|sample| sample.data.is_some()) {
        say("failed: more than was written");
    }
    say("has read all");
}

/// Entities of a program.
type Entities = (DomainParticipant, DataWriter<Count>, DataReader<Count>);

static KEPT: OnceLock<Entities> = OnceLock::new();

thread_local! {
    static MINE: RefCell<Option<Entities>> = const { RefCell::new(None) };
}

/// Creates the entities, leaves samples in flight, and ends the process as `role` says.
fn ends(role: &str, participant: DomainParticipant) {
    let writer: DataWriter<Count> = participant.writer_builder("counts").qos(writer_qos()).build().unwrap();
    let reader = participant.reader_builder("counts").qos(reader_qos());
    let reader = reader.on_data(|reader: &DataReader<Count>| drop(reader.read()));
    let reader = reader.build().unwrap();
    writer.wait_for_readers(2).block().unwrap();
    while !reader.read().unwrap().into_data().any(|count: Count| count.process == 0) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // The other process knows this writer once it has acknowledged a sample. Nothing waits for the rest.
    writer.write(&Count { process: std::process::id(), count: 0 }).unwrap();
    writer.acknowledged().block().unwrap();
    (1..10).for_each(|count| writer.write(&Count { process: std::process::id(), count }).unwrap());
    say("ends");
    match role {
        "shuts down" => participant.shutdown().block().unwrap(),
        "drops" => {}
        "keeps in a static" => {
            let _ = KEPT.set((participant, writer, reader));
        }
        "keeps in a thread" => {
            let thread = std::thread::spawn(move || MINE.set(Some((participant, writer, reader))));
            thread.join().unwrap();
        }
        "forgets" => std::mem::forget((participant, writer, reader)),
        "exits" => std::process::exit(0),
        "exits while a thread waits" => {
            let waiting = reader.clone();
            std::thread::spawn(move || drop(waiting.wait_for_writers(99).block()));
            std::thread::spawn(move || while writer.write(&Count { process: 0, count: 0 }).is_ok() {});
            std::thread::sleep(std::time::Duration::from_millis(50));
            std::process::exit(0);
        }
        other => panic!("no such role: {other}"),
    }
}
