//! Scaling of writers and readers with the number of threads.
//!
//! `cargo bench -p benches --bench threads` runs each form on one thread and on all cores (`-- 4` sets the number), in
//! turns. It prints samples per second and the ratio of the two. All samples have 2 bytes, are best effort, and stay in
//! one process. The thread that writes a sample also takes it, so no thread waits for another.
//!
//! - *Topics of their own*: each thread has a writer and a reader of its own topic.
//! - *Participants of their own*: each thread has its own participant too.
//! - *One topic*: each thread has a writer and a reader in its own partition.
//! - *The floor*: random number generators that share nothing. It shows how far the machine scales.
//!
//! `-- --test` runs each form once, for a moment.

use benches::pair::Small;
use dds_core::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos};
use dds_core::{DataReader, DataWriter, DomainParticipant, Sample, Scope};
use std::error::Error;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 64;

/// Turns of one thread and of several. The medians are printed.
const TURNS: usize = 15;

const TURN: Duration = Duration::from_millis(200);

/// Samples between two checks for the end of the turn.
const RUN: u64 = 64;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One step of a thread.
type Work = Box<dyn FnMut() + Send>;

/// Creates the work of this number of threads.
type Make = fn(usize) -> Outcome<Vec<Work>>;

/// One thread's writer and reader.
struct Lane {
    writer: DataWriter<Small>,
    reader: DataReader<Small>,
    taken: Vec<Sample<Small>>,
}

impl Lane {
    fn new(participant: &DomainParticipant, topic: &str, partition: &str) -> Outcome<Self> {
        let publisher = participant.publisher(PublisherQos::default().partition([partition]))?;
        let subscriber = participant.subscriber(SubscriberQos::default().partition([partition]))?;
        let qos = DataReaderQos::default().keep_last(1).best_effort();
        let reader = subscriber.reader_builder::<Small>(topic).qos(qos).build()?;
        let qos = DataWriterQos::default().keep_last(1).best_effort();
        let writer = publisher.writer_builder::<Small>(topic).qos(qos).build()?;
        writer.wait_for_readers(1).block_for(Duration::from_secs(10))?;
        Ok(Self { writer, reader, taken: Vec::new() })
    }

    fn pass(&mut self) {
        self.writer.write(&Small::default()).expect("there is room");
        let taken = self.reader.take_into(&mut self.taken).expect("it is open");
        assert_eq!(taken, 1, "it is there when `write` returns");
    }

    fn work(mut self) -> Work {
        Box::new(move || self.pass())
    }
}

fn participant() -> Outcome<DomainParticipant> {
    Ok(DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).build()?)
}

fn topics(threads: usize) -> Outcome<Vec<Work>> {
    let participant = participant()?;
    (0..threads).map(|number| Ok(Lane::new(&participant, &format!("{number} of {threads}"), "")?.work())).collect()
}

fn participants(threads: usize) -> Outcome<Vec<Work>> {
    (0..threads)
        .map(|number| Ok(Lane::new(&participant()?, &format!("own {number} of {threads}"), "")?.work()))
        .collect()
}

fn one_topic(threads: usize) -> Outcome<Vec<Work>> {
    let participant = participant()?;
    (0..threads)
        .map(|number| Ok(Lane::new(&participant, &format!("one of {threads}"), &format!("lane {number}"))?.work()))
        .collect()
}

/// Steps that take about as long as a sample.
fn floor(threads: usize) -> Outcome<Vec<Work>> {
    let work = |number| -> Work {
        let mut state = number as u64 + 1;
        Box::new(move || {
            for _ in 0..256 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
            }
            black_box(state);
        })
    };
    Ok((0..threads).map(work).collect())
}

/// Steps per second of all threads together.
fn rate(works: &mut [Work], turn: Duration) -> f64 {
    let (start, over) = (Barrier::new(works.len() + 1), AtomicBool::new(false));
    let run = |work: &mut Work| {
        start.wait();
        let (began, mut done) = (Instant::now(), 0);
        while !over.load(Ordering::Relaxed) {
            for _ in 0..RUN {
                work();
            }
            done += RUN;
        }
        done as f64 / began.elapsed().as_secs_f64()
    };
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> = works.iter_mut().map(|work| scope.spawn(move || run(work))).collect();
        start.wait();
        std::thread::sleep(turn);
        over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("its work does not panic")).sum()
    })
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let cores = std::thread::available_parallelism()?.get();
    let threads = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(cores.max(2));
    let (turns, turn) = if test { (1, Duration::from_millis(5)) } else { (TURNS, TURN) };
    let forms: [(&str, Make); 4] = [
        ("the floor", floor),
        ("topics of their own", topics),
        ("participants of their own", participants),
        ("one topic", one_topic),
    ];
    println!("medians of {turns} turns of {turn:?}, {cores} cores");
    for (name, make) in forms {
        let (mut one, mut several) = (make(1)?, make(threads)?);
        let (mut ones, mut all) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            ones.push(rate(&mut one, turn));
            all.push(rate(&mut several, turn));
        }
        let ratio = median(all.iter().zip(&ones).map(|(all, one)| all / one).collect());
        let (one, all) = (median(ones), median(all));
        println!("{name:<26} 1 thread {one:>10.0}/s, {threads} threads {all:>10.0}/s, {ratio:.2} of one");
    }
    Ok(())
}
