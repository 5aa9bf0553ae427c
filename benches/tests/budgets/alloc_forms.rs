//! The allocation budget of each form of writing and reading: after warm-up a sample causes no heap allocation.

use crate::window::{WINDOW_SAMPLES, WINDOWS, fewest_blocks};
use dds_core::cdr::Encoding;
use dds_core::cdr::{Bounded, WString};
use dds_core::condition::WaitSet;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::reader::States;
use dds_core::writer::{SampleIdentity, SequenceNumber, WriteOptions};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Sample, Scope};
use dhat::Profiler;
use futures_util::Stream;
use futures_util::stream::{StreamExt, select_all};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// No benchmark uses this domain.
const DOMAIN_ID: u32 = 61;

const INSTANCES: usize = 1000;
/// Readers in a common wait, beside the one that receives samples.
const OTHERS: usize = 100;
/// Samples of a batch; a divisor of the samples of a window.
const BATCH: usize = 20;
const RANGES: usize = 200;

#[derive(DdsType, Debug, Default)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// The key has more than 16 bytes, so its key hash is an MD5.
#[derive(DdsType, Debug, Default)]
struct Scan {
    #[dds(key)]
    sensor: [u32; 5],
    ranges: Vec<f32>,
}

/// Nested collections. Decoding into a value of the same shape reuses all of its memory.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Nested {
    hashed: HashMap<String, Vec<String>>,
    wide: HashMap<WString, u32>,
    bounded: HashMap<Bounded<String, 8>, BTreeMap<String, String>>,
    by_number: HashMap<u16, HashMap<i64, String>>,
    sorted: BTreeMap<String, Vec<HashMap<String, u8>>>,
    sorted_wide: BTreeMap<WString, String>,
    lists: Vec<Vec<String>>,
    maybe: Option<HashMap<String, Box<[String; 2]>>>,
    last: u64,
}

/// Encoded length of a scan: header, key, count, ranges.
const SCAN_LEN: usize = 4 + 20 + 4 + 4 * RANGES;

fn pose(number: usize) -> Pose {
    Pose { robot: (number % INSTANCES) as u32, x: number as f64 }
}

/// A writer and a reader of one topic, with reused memory for samples.
struct TestPair<T> {
    writer: DataWriter<T>,
    reader: DataReader<T>,
    taken: Vec<Sample<T>>,
}

impl<T: DdsType + dds_core::cdr::DecodeOwned> TestPair<T> {
    fn new(participant: &DomainParticipant, topic: &str, reliable: bool) -> Self {
        let (writer, reader) = (DataWriterQos::default().keep_last(1), DataReaderQos::default().keep_last(1));
        let (writer, reader) = if reliable {
            (writer.reliable(), reader.reliable())
        } else {
            (writer.best_effort(), reader.best_effort())
        };
        let reader = participant.reader_builder::<T>(topic).qos(reader).build().expect("a reader");
        let writer = participant.writer_builder::<T>(topic).qos(writer).build().expect("a writer");
        let limit = std::time::Duration::from_secs(10);
        writer.wait_for_readers(1).block_for(limit).expect("they meet in their participant");
        reader.wait_for_writers(1).block_for(limit).expect("they meet in their participant");
        Self { writer, reader, taken: Vec::new() }
    }

    /// Waits for the written samples and takes them.
    fn take(&mut self) {
        self.reader.readable().block().expect("the sample arrives");
        self.reader.take_into(&mut self.taken).expect("the reader is open");
        assert!(!self.taken.is_empty());
    }
}

/// Forms that are over budget.
struct Budget {
    over: Vec<String>,
    way: &'static str,
}

impl Budget {
    fn check(&mut self, form: &str, pass: impl FnMut(usize)) {
        self.check_beside(0, form, pass);
    }

    /// Checks a form in which code outside this project allocates `others_blocks` for each sample.
    fn check_beside(&mut self, others_blocks: u64, form: &str, pass: impl FnMut(usize)) {
        let blocks = fewest_blocks(pass);
        if blocks > others_blocks * WINDOW_SAMPLES as u64 {
            self.over.push(format!("{form}, {}: {blocks} blocks", self.way));
        }
    }
}

/// A single test, because the counter belongs to the process.
#[test]
fn writing_and_reading_after_warm_up_allocate_nothing() {
    let _turn = crate::turn();
    let _profiler = Profiler::builder().testing().build();
    let mut over = Vec::new();
    for (udp_only, reliable, way) in [
        (false, true, "reliable, in-process"),
        (false, false, "best effort, in-process"),
        (true, true, "reliable, UDP"),
    ] {
        let builder = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(udp_only);
        let participant = builder.build().expect("a participant");
        let mut budget = Budget { over, way };
        writing(&mut budget, &mut TestPair::new(&participant, "writing", reliable));
        instances(&mut budget, &mut TestPair::new(&participant, "instances", reliable));
        loans(&mut budget, &mut TestPair::new(&participant, "loans", reliable));
        reading(&mut budget, &mut TestPair::new(&participant, "reading", reliable));
        waiting(&mut budget, &participant, &mut TestPair::new(&participant, "waiting", reliable));
        nested(&mut budget, &mut TestPair::new(&participant, "nested", reliable));
        merged(&mut budget, &participant, &TestPair::new(&participant, "merged", reliable));
        wait_set_of_many(&mut budget, &participant, &mut TestPair::new(&participant, "one of many", reliable));
        batches(&mut budget, &participant, reliable);
        over = budget.over;
    }
    // Proof that the counter works.
    assert!(fewest_blocks(|number| drop(Box::new(number))) >= WINDOW_SAMPLES as u64);
    assert!(over.is_empty(), "in the best of {WINDOWS} windows of {WINDOW_SAMPLES} samples:\n{over:#?}");
}

fn writing(budget: &mut Budget, way: &mut TestPair<Pose>) {
    budget.check("write, 1000 instances", |number| {
        way.writer.write(&pose(number)).expect("there is room");
        way.take();
    });
    let request = SampleIdentity { writer: dds_core::Guid::UNKNOWN, sequence_number: SequenceNumber(1) };
    let handles: Vec<_> =
        (0..INSTANCES as u32).map(|robot| way.writer.register_instance(&robot).expect("no limit")).collect();
    budget.check("write_with", |number| {
        let options = WriteOptions::new().instance(handles[number % INSTANCES]).related_sample(request);
        way.writer.write_with(&pose(number), options).expect("there is room");
        way.take();
    });
    budget.check("write_async, ready", |number| {
        let pose = pose(number);
        let written = pin!(way.writer.write_async(&pose)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(written, Poll::Ready(Ok(())));
        way.take();
    });
}

/// The maps of the sample and of the taken value have different hash seeds.
/// So the order of their entries differs.
fn nested(budget: &mut Budget, way: &mut TestPair<Nested>) {
    let keys = || (0..6).map(|number| format!("key {number}"));
    let names = |count: usize| keys().take(count).collect::<Vec<_>>();
    let mut sample = Nested {
        hashed: keys().zip((0..).map(names)).collect(),
        wide: keys().map(|key| WString::from(key + " ä€")).zip(0..).collect(),
        bounded: keys().map(Bounded).map(|key| (key, keys().map(|key| (key.clone(), key)).take(3).collect())).collect(),
        by_number: (0..3).map(|number| (number, (0..5).zip(keys()).collect())).collect(),
        sorted: keys().map(|key| (key, vec![keys().zip(0..5).collect(), HashMap::new()])).collect(),
        sorted_wide: keys().map(|key| (WString::from(key.as_str()), key)).collect(),
        lists: vec![names(3), vec![], names(1)],
        maybe: Some(keys().map(|key| (key.clone(), Box::new([key.clone(), key]))).collect()),
        last: 0,
    };
    budget.check("take_into, maps and strings in each other", |number| {
        sample.last = number as u64;
        way.writer.write(&sample).expect("there is room");
        way.take();
        assert_eq!(way.taken[0].data.as_ref(), Some(&sample));
    });
}

fn instances(budget: &mut Budget, way: &mut TestPair<Pose>) {
    budget.check("write, dispose, unregister", |number| {
        let pose = pose(number);
        way.writer.write(&pose).expect("there is room");
        way.take();
        way.writer.dispose(&pose.robot).expect("there is room");
        way.take();
        way.writer.unregister_instance(&pose.robot).expect("it is registered");
        way.writer.acknowledged().block().expect("the writer is open");
    });
    budget.check("register, look up, unregister", |number| {
        let robot = pose(number).robot;
        let instance = way.writer.register_instance(&robot).expect("no limit");
        assert_eq!(way.writer.lookup_instance(&robot), Some(instance));
        assert_eq!(way.writer.key_value(instance), Some(robot));
        way.writer.unregister_instance(&robot).expect("it is registered");
        way.writer.acknowledged().block().expect("the writer is open");
    });
}

fn loans(budget: &mut Budget, way: &mut TestPair<Scan>) {
    budget.check("loan", |number| {
        let mut scan = way.writer.loan().expect("one at a time");
        scan.sensor[0] = number as u32 % 8;
        scan.ranges.clear();
        scan.ranges.extend((0..RANGES).map(|at| at as f32));
        scan.write().expect("there is room");
        way.take();
    });
    budget.check("loan_encoded", |number| {
        let mut bytes = way.writer.loan_encoded(Encoding::Xcdr1, SCAN_LEN).expect("one at a time");
        bytes[4..].fill(0);
        bytes[4..8].copy_from_slice(&(number as u32 % 8).to_ne_bytes());
        bytes[24..28].copy_from_slice(&(RANGES as u32).to_ne_bytes());
        bytes.write().expect("there is room");
        way.take();
    });
    budget.check("loans that are dropped", |_| {
        drop(way.writer.loan().expect("one at a time"));
        drop(way.writer.loan_encoded(Encoding::Xcdr1, SCAN_LEN).expect("one at a time"));
    });
}

fn reading(budget: &mut Budget, way: &mut TestPair<Pose>) {
    let TestPair { writer, reader, .. } = way;
    let write = |number| {
        writer.write(&pose(number)).expect("there is room");
        reader.readable().block().expect("the sample arrives");
    };
    budget.check("read, then take", |number| {
        write(number);
        assert!(!reader.read().expect("open").is_empty());
        assert!(!reader.take().expect("open").is_empty());
    });
    budget.check("read_next, take", |number| {
        write(number);
        assert!(reader.read_next().expect("open").is_some());
        assert!(!reader.take().expect("open").is_empty());
    });
    budget.check("take_next", |number| {
        write(number);
        assert!(reader.take_next().expect("open").is_some());
    });
    let condition = reader.read_condition(States::NOT_READ);
    budget.check("select", |number| {
        write(number);
        let selected = reader.select().condition(&condition).max_samples(1).read().expect("open");
        let robot = selected.iter().next().expect("it is not read yet").info().instance_handle;
        drop(selected);
        assert!(!reader.select().instance(robot).states(States::READ).take().expect("open").is_empty());
        assert!(reader.select().next_instance(dds_core::InstanceHandle::NIL).take().expect("open").is_empty());
    });
}

fn waiting(budget: &mut Budget, participant: &DomainParticipant, way: &mut TestPair<Pose>) {
    let TestPair { writer, reader, taken } = way;
    let set = WaitSet::new(participant);
    let condition = reader.read_condition(States::NOT_READ);
    set.attach(&condition);
    budget.check("WaitSet", |number| {
        writer.write(&pose(number)).expect("there is room");
        assert!(set.wait().block().expect("it is triggered").contains(&condition));
        reader.take_into(taken).expect("open");
    });
    assert!(set.detach(&condition));
    budget.check("next_sample", |number| {
        writer.write(&pose(number)).expect("there is room");
        assert!(reader.next_sample().block().expect("it arrives").data.is_some());
    });
    let mut stream = pin!(reader.stream());
    budget.check("stream", |number| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(stream.as_mut().poll_next(&mut context).is_pending());
        writer.write(&pose(number)).expect("there is room");
        reader.readable().block().expect("the sample arrives");
        assert!(matches!(stream.as_mut().poll_next(&mut context), Poll::Ready(Some(_))));
    });
}

/// Creates readers that receive no samples.
fn others(participant: &DomainParticipant, of: &str) -> Vec<DataReader<Pose>> {
    let other = |number| participant.reader(&format!("{of}, other {number}")).expect("a reader");
    (0..OTHERS).map(other).collect()
}

fn merged(budget: &mut Budget, participant: &DomainParticipant, way: &TestPair<Pose>) {
    let others = others(participant, "merged");
    let mut all = select_all(others.iter().chain([&way.reader]).map(DataReader::stream));
    let mut context = Context::from_waker(Waker::noop());
    // `select_all` allocates a task for each item. The streams allocate nothing.
    budget.check_beside(1, "merged streams", |number| {
        // A poll may return `Pending` once before the sample, to be fair to other tasks.
        while all.poll_next_unpin(&mut context).is_ready() {}
        way.writer.write(&pose(number)).expect("there is room");
        way.reader.readable().block().expect("the sample arrives");
        while all.poll_next_unpin(&mut context).is_pending() {}
    });
}

fn wait_set_of_many(budget: &mut Budget, participant: &DomainParticipant, way: &mut TestPair<Pose>) {
    let others = others(participant, "one of many");
    let set = WaitSet::new(participant);
    let of = |reader: &DataReader<Pose>| reader.read_condition(States::NOT_READ);
    let conditions: Vec<_> = others.iter().chain([&way.reader]).map(of).collect();
    for condition in &conditions {
        set.attach(condition);
    }
    budget.check("WaitSet of many readers", |number| {
        way.writer.write(&pose(number)).expect("there is room");
        let active = set.wait().block().expect("it is triggered");
        assert!(active.len() == 1 && active.contains(&conditions[OTHERS]));
        drop(active);
        way.take();
    });
}

/// Several samples in one datagram: until it is full, until a time, or until `flush`.
fn batches(budget: &mut Budget, participant: &DomainParticipant, reliable: bool) {
    for (form, budgeted, flushed) in [
        ("LATENCY_BUDGET of 1 ms", Duration::from_millis(1), false),
        ("LATENCY_BUDGET of 1 ms, flush", Duration::from_millis(1), true),
        ("batching, flush", Duration::from_secs(1), true),
    ] {
        let (writer, reader) = (DataWriterQos::default().keep_all(), DataReaderQos::default().keep_all());
        let (writer, reader) = if reliable {
            (writer.reliable(), reader.reliable())
        } else {
            (writer.best_effort(), reader.best_effort())
        };
        let by_budget = form.starts_with("LATENCY_BUDGET");
        // A reader only matches writers that offer at most its latency budget.
        let (writer, reader) = if by_budget {
            (writer.latency_budget(budgeted), reader.latency_budget(budgeted))
        } else {
            (writer, reader)
        };
        let reader = participant.reader_builder::<Pose>(form).qos(reader).build().expect("a reader");
        let builder = participant.writer_builder::<Pose>(form).qos(writer);
        let builder = if by_budget { builder } else { builder.batching(budgeted) };
        let writer = builder.build().expect("a writer");
        let limit = std::time::Duration::from_secs(10);
        writer.wait_for_readers(1).block_for(limit).expect("they meet in their participant");
        reader.wait_for_writers(1).block_for(limit).expect("they meet in their participant");
        let mut taken = Vec::new();
        budget.check(form, |number| {
            writer.write(&pose(number)).expect("there is room");
            if (number + 1) % BATCH == 0 {
                if flushed {
                    writer.flush().expect("it is open");
                }
                let mut missing = BATCH;
                while missing > 0 {
                    reader.readable().block().expect("the samples arrive");
                    missing -= reader.take_into(&mut taken).expect("open");
                }
            }
        });
    }
}
