//! Heap memory of topics, endpoints, matched pairs and cached samples: the numbers of `docs/performance.md`.
//!
//! The world is simulated, so no other allocation interferes and every run counts the same. `DDS_SAMPLES=1000000`
//! caches a million samples, and `-- --nocapture` prints the counts.

use crate::ALLOCATOR;
use crate::support::alone;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Topic};

/// Entities of each kind.
const COUNT: usize = 1_000;

/// Tables double, so this number fills them to the same degree as a million.
const SAMPLES: usize = 1_000_000 >> 5;

/// Factor above the documented value that fails the test.
const MARGIN: f64 = 1.05;

/// Without a key, because the payload alone counts.
#[derive(DdsType, Debug, Clone, PartialEq)]
struct Blob {
    bytes: Vec<u8>,
}

/// Bytes for each of the `count` values that `make` creates.
fn each<T>(count: usize, make: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATOR.allocated();
    let made = make();
    (ALLOCATOR.allocated().saturating_sub(before) / count, made)
}

fn world() -> Simulation {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    simulation
}

fn name(number: usize) -> String {
    format!("memory/{number:04}")
}

fn topics(participant: &DomainParticipant) -> Vec<Topic<Blob>> {
    (0..COUNT).map(|number| participant.topic(&name(number), None).unwrap()).collect()
}

fn readers(participant: &DomainParticipant) -> Vec<DataReader<Blob>> {
    (0..COUNT)
        .map(|number| {
            participant.reader_builder(&name(number)).qos(DataReaderQos::default().reliable()).build().unwrap()
        })
        .collect()
}

fn writers(participant: &DomainParticipant) -> Vec<DataWriter<Blob>> {
    (0..COUNT)
        .map(|number| {
            participant.writer_builder(&name(number)).qos(DataWriterQos::default().reliable()).build().unwrap()
        })
        .collect()
}

/// Name, measured bytes, and documented bytes.
struct Row(&'static str, usize, usize);

#[test]
fn entities_pairs_and_samples_fit_memory_budget() {
    if !alone("memory::entities_pairs_and_samples_fit_memory_budget") {
        return;
    }
    let mut rows = entities();
    rows.extend(remote_pairs());
    for (len, expected) in [(64, [296, 271, 272]), (1024, [1_252, 1_227, 1_228])] {
        let names = match len {
            64 => ["64 B: writer", "64 B: reader here, with the writer", "64 B: reader elsewhere"],
            _ => ["1 KiB: writer", "1 KiB: reader here, with the writer", "1 KiB: reader elsewhere"],
        };
        let counted = [written(len), delivered(len), received(len)];
        rows.extend((0..3).map(|at| Row(names[at], counted[at], expected[at])));
    }
    for Row(what, bytes, expected) in &rows {
        println!("{what:<40} {bytes:>8} ({expected} written down)");
    }
    let over = rows.iter().filter(|Row(_, bytes, expected)| *bytes as f64 > *expected as f64 * MARGIN);
    let over: Vec<_> =
        over.map(|Row(what, bytes, expected)| format!("{what}: {expected} bytes are now {bytes}")).collect();
    assert!(over.is_empty(), "{over:#?}");
}

/// A thousand entities of each kind in one participant without peers.
fn entities() -> Vec<Row> {
    let simulation = world();
    let participant = simulation.participant("one", 0).unwrap();
    let settle = || simulation.run_for(Duration::from_secs(5));
    settle();
    let (topic, topics) = each(COUNT, || topics(&participant));
    let (reader, readers) = each(COUNT, || {
        let made = readers(&participant);
        settle();
        made
    });
    let (matching_writer, writers) = each(COUNT, || {
        let made = writers(&participant);
        settle();
        made
    });
    assert!(writers.iter().all(|writer| writer.matched_subscriptions().len() == 1));
    drop(readers);
    settle();
    drop(writers);
    settle();
    let (writer, writers) = each(COUNT, || {
        let made = self::writers(&participant);
        settle();
        made
    });
    drop((topics, writers));
    vec![
        Row("topic", topic, 1_102),
        Row("reader", reader, 7_829),
        Row("writer", writer, 7_327),
        Row("pair here", matching_writer.saturating_sub(writer), 3_873),
    ]
}

/// Memory of the participants of a thousand writers and a thousand readers, for each other's endpoints.
///
/// The rows differ by the side that is created last.
fn remote_pairs() -> Vec<Row> {
    let simulation = world();
    let one = simulation.participant("one", 0).unwrap();
    let other = simulation.participant("other", 0).unwrap();
    let alone = simulation.participant("alone", 1).unwrap();
    let settle = || simulation.run_for(Duration::from_secs(10));
    settle();
    let (reader, _unmatched) = each(COUNT, || {
        let made = readers(&alone);
        settle();
        made
    });
    let _writers = writers(&one);
    settle();
    let (matched_reader, readers) = each(COUNT, || {
        let made = readers(&other);
        settle();
        made
    });
    assert!(readers.iter().all(|reader| reader.matched_publications().len() == 1));
    vec![Row("pair of two processes, both together", matched_reader - reader, 7_231)]
}

fn samples() -> usize {
    std::env::var("DDS_SAMPLES").map_or(SAMPLES, |count| count.parse().unwrap())
}

/// `len` bytes, including the length of 4 and the header of 4.
fn blob(len: usize) -> Blob {
    Blob { bytes: vec![7; len - 8] }
}

fn write(writer: &DataWriter<Blob>, len: usize) {
    let blob = blob(len);
    (0..samples()).for_each(|_| writer.write(&blob).unwrap());
}

/// Kept by a writer for late joiners.
fn written(len: usize) -> usize {
    let simulation = world();
    let participant = simulation.participant("one", 0).unwrap();
    let qos = DataWriterQos::default().reliable().keep_all().transient_local();
    let writer = participant.writer_builder::<Blob>("kept").qos(qos).build().unwrap();
    each(samples(), || write(&writer, len)).0
}

/// In the cache of a reader of the same participant, which shares the writer's memory.
fn delivered(len: usize) -> usize {
    let simulation = world();
    let participant = simulation.participant("one", 0).unwrap();
    let reader = participant.reader_builder::<Blob>("kept").qos(DataReaderQos::default().reliable().keep_all());
    let reader = reader.build().unwrap();
    let writer = participant.writer_builder::<Blob>("kept").qos(DataWriterQos::default().reliable().keep_all());
    let writer = writer.build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    let (bytes, ()) = each(samples(), || write(&writer, len));
    assert_eq!(reader.read().unwrap().len(), samples());
    bytes
}

/// In the cache of a reader of another process, after the writer has dropped them.
fn received(len: usize) -> usize {
    let simulation = world();
    let [one, other] = ["one", "other"].map(|host| simulation.participant(host, 0).unwrap());
    let reader = other.reader_builder::<Blob>("kept").qos(DataReaderQos::default().reliable().keep_all());
    let reader = reader.build().unwrap();
    let writer = one.writer_builder::<Blob>("kept").qos(DataWriterQos::default().reliable().keep_all());
    let writer = writer.build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    let (bytes, ()) = each(samples(), || {
        // One after the other, because samples out of order take additional room.
        for _ in 0..samples() {
            writer.write(&blob(len)).unwrap();
            simulation.run_for(Duration::from_millis(1));
        }
        writer.acknowledged().block().unwrap();
        simulation.run_for(Duration::from_secs(5));
    });
    assert_eq!(writer.counters().repairs, 0);
    assert_eq!(reader.read().unwrap().len(), samples());
    bytes
}
