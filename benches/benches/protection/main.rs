//! The cost of DDS Security by UDP.
//!
//! ```sh
//! .ci/netns cargo bench -p benches --features security,dds-core/graviola --bench protection
//! ```
//!
//! It has three parts:
//!
//! - `pairs`: two participants of this process. It prints the round trip of 64 bytes for each governance, and the part
//!   of each protection and message. It also prints the throughput of 1 MiB beside that without protection, and the
//!   time from the start to the match.
//! - `beside`: the same round trips and throughput between two processes, also of Cyclone DDS and Fast DDS with their
//!   security plugins. The script `benches/protection` builds them and runs this part.
//! - `crowd`: 50 participants with identities of their own start at once.
//!
//! All kinds take turns, and the best turn counts, because other programs disturb some of them.
//!
//! `-- crowd` measures that part alone. `-- --test` does a little of everything once, and prints no times.

#![allow(clippy::unwrap_used, reason = "a failure ends the program")]

mod beside;
#[path = "../../../dds-core/tests/support/keystore.rs"]
mod keystore;

use clap::{Parser, ValueEnum};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Scope};
use keystore::{Keystore, Kinds};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Measures the cost of DDS Security.
#[derive(Debug, Parser)]
struct Options {
    /// Only these parts
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Does a little of everything once, and prints no times
    #[arg(long)]
    test: bool,
    /// `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
    #[command(flatten)]
    beside: beside::Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Two participants of this process
    Pairs,
    /// Two processes, beside other libraries
    Beside,
    /// Many participants that start at once
    Crowd,
}

/// How much work the program does.
#[derive(Clone, Copy)]
struct Work {
    turns: usize,
    round_trips: usize,
    large_samples: usize,
    starts: usize,
    crowd: usize,
}

impl Work {
    const MEASURED: Self = Self { turns: 15, round_trips: 2_000, large_samples: 40, starts: 2, crowd: 50 };
    const TEST: Self = Self { turns: 1, round_trips: 50, large_samples: 2, starts: 1, crowd: 5 };
}

#[derive(DdsType, Debug, Clone)]
struct Small {
    bytes: [u8; 64],
}

#[derive(DdsType, Debug, Clone)]
struct Large {
    #[dds(octet)]
    bytes: Vec<u8>,
}

/// The governance of a row, and how many protections of a message lie inside of each other.
const ROWS: [(&str, Kinds, u32); 6] = [
    ("none", Kinds::NONE, 0),
    ("rtps SIGN", Kinds { rtps: "SIGN", ..Kinds::NONE }, 1),
    ("rtps ENCRYPT", Kinds { rtps: "ENCRYPT", ..Kinds::NONE }, 1),
    ("metadata ENCRYPT", Kinds { metadata: "ENCRYPT", ..Kinds::NONE }, 1),
    ("data ENCRYPT", Kinds { data: "ENCRYPT", ..Kinds::NONE }, 1),
    (
        "all",
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "ENCRYPT" },
        3,
    ),
];

fn builder(tag: &str) -> DomainParticipantBuilder {
    DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag).shared_memory(0)
}

/// A tag that no other pair has.
fn new_tag() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("protection-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn participants(keystore: &Keystore) -> [DomainParticipant; 2] {
    let tag = new_tag();
    ["robot", "station"].map(|name| builder(&tag).credentials(keystore.credentials(name)).build().unwrap())
}

fn matched<T: DdsType>(writer: &DataWriter<T>, reader: &DataReader<T>) {
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The median round trip of 64 bytes, in microseconds. The answer is written where the question arrives.
fn round_trip([robot, station]: &[DomainParticipant; 2], count: usize) -> f64 {
    let writer_qos = DataWriterQos::default().best_effort();
    let reader_qos = DataReaderQos::default().best_effort();
    let answers_out = station.writer_builder::<Small>("answers").qos(writer_qos.clone()).build().unwrap();
    let writer = answers_out.clone();
    let mut asked = Vec::new();
    let answering = move |reader: &DataReader<Small>| {
        if reader.take_into(&mut asked).is_ok_and(|taken| taken > 0) {
            let _ = writer.write(&Small { bytes: [2; 64] });
        }
    };
    let questions_in =
        station.reader_builder::<Small>("questions").qos(reader_qos.clone()).on_data(answering).build().unwrap();
    let questions = robot.writer_builder::<Small>("questions").qos(writer_qos).build().unwrap();
    let answers = robot.reader_builder::<Small>("answers").qos(reader_qos).build().unwrap();
    matched(&questions, &questions_in);
    matched(&answers_out, &answers);
    let mut times = Vec::new();
    let mut got = Vec::new();
    // The first tenth warms up.
    for round in 0..count + count / 10 {
        let start = Instant::now();
        questions.write(&Small { bytes: [1; 64] }).unwrap();
        while answers.take_into(&mut got).unwrap() == 0 {
            if start.elapsed() > Duration::from_millis(100) {
                break; // Best effort: it was lost.
            }
            std::thread::yield_now();
        }
        if round >= count / 10 {
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    median(times)
}

/// The throughput of 1 MiB, in MiB a second.
fn throughput([robot, station]: &[DomainParticipant; 2], count: usize) -> f64 {
    let writer_qos = DataWriterQos::default().reliable().keep_last(4);
    let reader_qos = DataReaderQos::default().reliable().keep_last(4);
    let writer = robot.writer_builder::<Large>("large").qos(writer_qos).build().unwrap();
    let reader = station.reader_builder::<Large>("large").qos(reader_qos).build().unwrap();
    matched(&writer, &reader);
    let sample = Large { bytes: vec![7; 1 << 20] };
    let pass = |count: usize| {
        for _ in 0..count {
            writer.write(&sample).unwrap();
            reader.next_sample().block_for(PATIENCE).unwrap();
        }
    };
    pass(5);
    let start = Instant::now();
    pass(count);
    count as f64 / start.elapsed().as_secs_f64()
}

/// The time from the first call to the match of two endpoints, in milliseconds.
fn start_to_match(keystore: &Keystore) -> f64 {
    let start = Instant::now();
    let [robot, station] = participants(keystore);
    let writer = robot.writer_builder::<Small>("start").build().unwrap();
    let reader = station.reader_builder::<Small>("start").build().unwrap();
    matched(&writer, &reader);
    start.elapsed().as_secs_f64() * 1e3
}

/// The name of a participant of the crowd.
fn identity(number: usize) -> String {
    format!("robot_{number}")
}

/// The time in which participants that start at once match the endpoints of all others, in seconds.
fn crowd(keystore: &Keystore, count: usize) -> f64 {
    let (tag, start) = (new_tag(), Instant::now());
    let member = |number: usize| {
        let credentials = keystore.credentials(&identity(number));
        let participant = builder(&tag).credentials(credentials).build().unwrap();
        let writer = participant.writer_builder::<Small>("crowd").build().unwrap();
        let reader = participant.reader_builder::<Small>("crowd").build().unwrap();
        (participant, writer, reader)
    };
    let crowd: Vec<_> = (0..count).map(member).collect();
    for (_, writer, reader) in &crowd {
        writer.wait_for_readers(count).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(count).block_for(PATIENCE).unwrap();
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some(beside::PEER) {
        return beside::take_role().unwrap();
    }
    let options = Options::parse();
    let is_test = options.test;
    let work = if is_test { Work::TEST } else { Work::MEASURED };
    let has = |part: Part| options.parts.is_empty() || options.parts.contains(&part);
    if has(Part::Pairs) {
        measure_pairs(work, is_test);
    }
    if has(Part::Beside) {
        beside::compare(&options.beside, is_test);
    }
    if has(Part::Crowd) {
        measure_crowd(work, is_test);
    }
}

/// The part of a round trip that each level of protection adds to each message.
fn added(trip: f64, plain: f64, levels: u32) -> f64 {
    (trip - plain) / 2.0 / f64::from(levels.max(1))
}

/// Measures two participants with each governance.
fn measure_pairs(work: Work, is_test: bool) {
    let keystores = ROWS.map(|(_, kinds, _)| Keystore::with(kinds));
    let (mut trips, mut rates, mut starts) = ([f64::MAX; 6], [0_f64; 6], [const { Vec::new() }; 6]);
    for _ in 0..work.turns {
        for (row, keystore) in keystores.iter().enumerate() {
            let pair = participants(keystore);
            trips[row] = trips[row].min(round_trip(&pair, work.round_trips));
            rates[row] = rates[row].max(throughput(&pair, work.large_samples));
            drop(pair);
            (0..work.starts).for_each(|_| starts[row].push(start_to_match(keystore)));
        }
    }
    if is_test {
        return;
    }
    println!("protection        64 B round trip   added, each level   1 MiB          of plain   start to match");
    for (row, (name, _, levels)) in ROWS.iter().enumerate() {
        let added = added(trips[row], trips[0], *levels);
        let (trip, rate, share) = (trips[row], rates[row], rates[row] / rates[0]);
        let start = median(std::mem::take(&mut starts[row]));
        println!("{name:<17} {trip:>12.1} µs   {added:>14.2} µs   {rate:>6.0} MiB/s   {share:>8.2}   {start:>11.1} ms");
    }
}

/// Measures the start of many participants at once.
fn measure_crowd(work: Work, is_test: bool) {
    let kinds = Kinds { rtps: "SIGN", discovery: "ENCRYPT", metadata: "ENCRYPT", ..Kinds::NONE };
    let identities: Vec<_> = (0..work.crowd).map(identity).collect();
    let identities: Vec<_> = identities.iter().map(String::as_str).collect();
    let keystore = Keystore::new(&identities, kinds, |text| text);
    let of_crowd = (0..3).map(|_| crowd(&keystore, work.crowd)).fold(f64::MAX, f64::min);
    if !is_test {
        println!("{} participants that start at once match after {of_crowd:.2} s", work.crowd);
    }
}
