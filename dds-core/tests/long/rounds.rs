//! Participants and endpoints, created and deleted repeatedly. Threads, descriptors and memory return to their first
//! values.
//!
//! `DDS_TEST_ROUNDS` sets the number of rounds. `.ci/run rounds` runs ten thousand.

use crate::ALLOCATOR;
use crate::support::{PATIENCE, World, alone};
use dds_core::cdr::{Encode, TypeInfo, ViewOf};
use dds_core::condition::Condition;
use dds_core::condition::WaitSet;
use dds_core::error::EncodeError;
use dds_core::listener::Delivery;
use dds_core::listener::{
    AnyEndpoint, DataReaderListener, DataWriterListener, PublisherListener, SubscriberListener, TopicListener,
};
use dds_core::qos::{Preset, PublisherQos, SubscriberQos};
use dds_core::status::StatusMask;
use dds_core::{DataReader, DdsType, DomainParticipant, Entity};
use dds_rtps::cdr::{Encoder, TypeDescription};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rounds of each test, unless the environment sets another number.
const ROUNDS: usize = 100;

/// Most growth of the bytes in use, independent of the number of rounds.
///
/// It allows for caches that grow to their bound. With ten thousand rounds, each may leave 26 bytes.
const LEFT_MAX: usize = 256 << 10;

/// Most growth of resident memory, independent of the number of rounds.
///
/// It allows for memory that the allocator keeps, and for caches that grow to their bound.
const GROWTH_MAX: u64 = 12 << 20;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Load {
    count: u64,
    bytes: Vec<u8>,
}

/// A listener of all statuses, which holds a counted reference.
struct Listening(#[expect(dead_code, reason = "it is held")] Arc<()>);
impl DataReaderListener<Count> for Listening {
    fn on_data_available(&mut self, reader: &DataReader<Count>) {
        let _ = reader.take();
    }
}
impl DataWriterListener<Count> for Listening {}
impl TopicListener for Listening {}
impl PublisherListener for Listening {}
impl SubscriberListener for Listening {
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        let _ = reader.downcast_ref::<DataReader<Count>>().unwrap().take();
    }
}

fn rounds() -> usize {
    std::env::var("DDS_TEST_ROUNDS").ok().map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

fn entries(directory: &str) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

/// Resident memory in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Runs a few rounds to warm up, then the requested number, and compares the resources.
#[allow(clippy::disallowed_methods, reason = "a thread that has ended leaves /proc a little later")]
fn goes_round(mut round: impl FnMut(usize, &Arc<()>)) {
    let life = Arc::new(());
    // The first rounds fill caches and start threads.
    (0..10).for_each(|number| round(number, &life));
    let settle = |threads: usize, descriptors: usize| {
        let started = Instant::now();
        while entries("/proc/self/task") > threads || entries("/proc/self/fd") > descriptors {
            assert!(
                started.elapsed() < PATIENCE.to_std().unwrap(),
                "{} threads and {} descriptors, of {threads} and {descriptors}",
                entries("/proc/self/task"),
                entries("/proc/self/fd")
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    // The test's own threads: this one, and those of the harness.
    settle(3, usize::MAX);
    let (threads, descriptors, memory) = (entries("/proc/self/task"), entries("/proc/self/fd"), resident());
    let in_use = ALLOCATOR.allocated();
    let mut longest = Duration::ZERO;
    for number in 0..rounds() {
        let started = Instant::now();
        round(number, &life);
        longest = longest.max(started.elapsed());
        // Every wait within a round has this time limit, so a longer round means that an end hangs.
        assert!(longest < PATIENCE.to_std().unwrap(), "a round takes {longest:?}");
    }
    settle(threads, descriptors);
    // Every listener holds a reference, so a count of one means that all are dropped.
    assert_eq!(Arc::strong_count(&life), 1, "listeners are left");
    let growth = resident().saturating_sub(memory);
    let left = ALLOCATOR.allocated().saturating_sub(in_use);
    println!("{} rounds, the longest of {longest:?}: {left} bytes more in use, {growth} resident", rounds());
    assert!(left < LEFT_MAX, "{left} bytes more are in use after {} rounds", rounds());
    assert!(growth < GROWTH_MAX, "{growth} bytes more after {} rounds", rounds());
}

fn listen(participant: &DomainParticipant, life: &Arc<()>) -> Vec<Box<dyn Entity>> {
    let listening = || Listening(Arc::clone(life));
    let all = StatusMask::ALL;
    participant.set_listener(all, listening()).unwrap();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    publisher.set_listener(all, listening()).unwrap();
    subscriber.set_listener(all, listening()).unwrap();
    // Every level has a listener for all statuses, so that each dispatch path is used.
    let writer = publisher.writer_builder::<Count>("t").qos(Preset::State).listener(all, listening()).build().unwrap();
    let reader = subscriber.reader_builder::<Count>("t").qos(Preset::State).listener(all, listening()).build().unwrap();
    let plain = participant.reader_builder::<Count>("t").qos(Preset::State).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    (0..10).for_each(|count| writer.write(&Count { count }).unwrap());
    vec![Box::new(writer), Box::new(plain), Box::new(reader), Box::new(publisher), Box::new(subscriber)]
}

/// A [`Load`] whose encoder panics after it has written.
struct Panics(Load);

impl TypeInfo for Panics {
    const TYPE_NAME: &'static str = Load::TYPE_NAME;
    const HAS_KEY: bool = Load::HAS_KEY;
    const DESCRIPTION: &'static TypeDescription = Load::DESCRIPTION;
}

impl Encode for Panics {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode(e)?;
        // `resume_unwind` prints nothing to the console, which the harness would keep in memory.
        std::panic::resume_unwind(Box::new("on purpose"))
    }
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode_key(e)
    }
}

impl ViewOf<Load> for Panics {}

/// Each round has ten panics of an encoder and one of a listener. No slot and no thread stays behind.
#[test]
fn panicking_user_code_leaves_no_resources() {
    if !alone("rounds::panicking_user_code_leaves_no_resources") {
        return;
    }
    goes_round(|_, life| {
        let participant = World::new().participant();
        let held = Arc::clone(life);
        let writer = participant.writer_builder::<Load>("t").qos(Preset::State).build().unwrap();
        let panics = participant.reader_builder::<Load>("t").qos(Preset::State).on_data(move |_| {
            assert!(Arc::strong_count(&held) > 0);
            std::panic::resume_unwind(Box::new("on purpose"))
        });
        let _panics = panics.build().unwrap();
        let reader = participant.reader_builder::<Load>("t").qos(Preset::State).build().unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        let load = |count| Load { count, bytes: vec![1; 2_000] };
        for count in 0..10 {
            let write = AssertUnwindSafe(|| writer.write_view(&Panics(load(count))));
            // The failed write must not use a sequence number or a slot.
            assert!(catch_unwind(write).is_err());
        }
        writer.write(&load(10)).unwrap();
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(load(10)));
        while participant.listener_counters().panics == 0 {
            std::thread::yield_now();
        }
    });
}

/// Uses every way in which a participant can end, in turns.
#[test]
fn participant_rounds_leave_no_resources() {
    if !alone("rounds::participant_rounds_leave_no_resources") {
        return;
    }
    goes_round(|number, life| {
        let world = World::new();
        // The four combinations of delivery and of a remote peer take turns.
        let delivery = if number % 2 == 0 { Delivery::Inline } else { Delivery::EventThread };
        let participant = world.builder().delivery(delivery).build().unwrap();
        let other = (number % 4 < 2).then(|| world.udp_participant());
        let entities = listen(&participant, life);
        if let Some(other) = &other {
            let reader = other.reader_builder::<Count>("t").qos(Preset::State).build().unwrap();
            reader.next_sample().block_for(PATIENCE).unwrap();
        }
        match number % 5 {
            0 => drop(participant),
            1 => participant.close(),
            2 => participant.shutdown().block_for(PATIENCE).unwrap(),
            3 => entities.iter().rev().for_each(|entity| entity.close()),
            _ => drop((entities, participant)),
        }
    });
}

/// Creates and deletes endpoints beside a writer that writes continuously.
#[test]
fn endpoint_rounds_leave_no_resources() {
    if !alone("rounds::endpoint_rounds_leave_no_resources") {
        return;
    }
    let world = World::new();
    // Traffic runs during the whole round.
    goes_round(|number, life| {
        // The permanent entities are recreated now and then, so that threads can be counted in between.
        let (from, to) = (world.participant(), world.udp_participant());
        let stop = AtomicBool::new(false);
        let writer = from.writer_builder::<Count>("t").qos(Preset::SensorData).build().unwrap();
        let wait_set = WaitSet::new(&to);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut count = 0;
                while !stop.load(Ordering::Acquire) {
                    writer.write(&Count { count }).unwrap();
                    count += 1;
                }
            });
            for participant in [&from, &to, &from, &to] {
                let listening = || Listening(Arc::clone(life));
                let reader = participant.reader::<Count>("t").unwrap();
                let brief = participant.writer_builder::<Count>("t").qos(Preset::SensorData);
                let brief = brief.listener(StatusMask::ALL, listening()).build().unwrap();
                brief.write(&Count { count: 0 }).unwrap();
                let _events = reader.events();
                let condition = reader.status_condition();
                wait_set.attach(&condition);
                assert!(wait_set.wait().block_for(PATIENCE).unwrap().contains(&condition) || condition.is_triggered());
                reader.next_sample().block_for(PATIENCE).unwrap();
                reader.set_listener(StatusMask::ALL, listening()).unwrap();
                // Half of the rounds leave the condition attached to a deleted entity.
                if number % 2 == 0 {
                    wait_set.detach(&condition);
                }
                if number % 3 == 0 {
                    brief.close();
                    reader.close();
                    reader.closed().block_for(PATIENCE).unwrap();
                }
            }
            stop.store(true, Ordering::Release);
        });
    });
}
