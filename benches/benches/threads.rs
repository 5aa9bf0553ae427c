//! Whether writers and readers on several threads get more done than on one.
//!
//! `cargo bench -p benches --bench threads` runs each work on one thread and on as many as there are cores (`-- 4` says how many),
//! in turns, and tells samples per second and what the threads together do more than one alone. All samples are of 2 bytes, best
//! effort, in one process, and taken by the thread that wrote them, which so waits for nobody.
//!
//! *Topics of their own*: each thread has a participant's writer and reader of a topic that no other thread uses. *Participants of
//! their own*: and a participant. *One topic*: each thread writes by a writer of its own to a reader of its own, in a partition
//! of its own. *The floor*: as many steps of a random number generator, which share nothing: what the machine allows at that moment.
//! `-- --test` runs each once, for a moment.

use benches::pair::Small;
use dds_core::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos};
use dds_core::{DataReader, DataWriter, DomainParticipant, Sample, Scope};
use std::error::Error;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Apart from other benches.
const DOMAIN_ID: u32 = 64;

/// Turns of one thread and of several; medians of them are told.
const TURNS: usize = 15;

const TURN: Duration = Duration::from_millis(200);

/// Samples between two looks whether the turn is over.
const RUN: u64 = 64;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a thread does again and again.
type Work = Box<dyn FnMut() + Send>;

/// Makes the work of so many threads.
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

/// As much as a sample costs, about.
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

/// How often all together have done their work in a second.
fn rate(works: &mut [Work], turn: Duration) -> f64 {
    let (start, over) = (Barrier::new(works.len() + 1), AtomicBool::new(false));
    let run = |work: &mut Work| {
        start.wait();
        let (began, mut done) = (Instant::now(), 0);
        while !over.load(Ordering::Relaxed) {
            (0..RUN).for_each(|_| work());
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
