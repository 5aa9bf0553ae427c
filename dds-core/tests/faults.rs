//! Reliable delivery over a network that loses, repeats, reorders and refuses datagrams, discovery included.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

#[path = "support/faulty.rs"]
mod faulty;
mod support;

use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use faulty::{Faults, FaultyDriver};
use support::{PATIENCE, World};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Block {
    count: u32,
    bytes: Vec<u8>,
}

struct Link {
    writer: DataWriter<Block>,
    reader: DataReader<Block>,
    _participants: [DomainParticipant; 2],
}

fn link(faults: Faults) -> Link {
    let world = World::new();
    let participants = [1, 2].map(|seed| {
        let driver = FaultyDriver::new(Faults { seed: faults.seed + seed, ..faults });
        world.builder().udp_only(true).build_on(driver).unwrap()
    });
    let [from, to] = &participants;
    let reader = to.reader_builder("block").qos(Preset::Event.reader()).build().unwrap();
    let writer = from.writer_builder("block").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    Link { writer, reader, _participants: participants }
}

fn all_arrive_in_order(faults: Faults, samples: u32, len: usize) {
    let Link { writer, reader, .. } = &link(faults);
    let block = |count: u32| Block { count, bytes: (0..len).map(|index| (index as u32 ^ count) as u8).collect() };
    std::thread::scope(|scope| {
        scope.spawn(|| (0..samples).for_each(|count| writer.write(&block(count)).unwrap()));
        for count in 0..samples {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert!(sample.data == Some(block(count)), "sample {count} under {faults:?}");
        }
    });
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

#[test]
fn what_is_lost_is_repaired() {
    all_arrive_in_order(Faults { seed: 1, lost: 10, ..Faults::default() }, 200, 100);
}

#[test]
fn what_is_repeated_arrives_once() {
    all_arrive_in_order(Faults { seed: 2, repeated: 50, ..Faults::default() }, 200, 100);
}

#[test]
fn what_is_reordered_is_put_in_order() {
    all_arrive_in_order(Faults { seed: 3, late: 30, ..Faults::default() }, 200, 100);
}

#[test]
fn what_a_full_socket_refuses_is_sent_later_in_order() {
    all_arrive_in_order(Faults { seed: 4, refused: 30, ..Faults::default() }, 200, 100);
}

#[test]
fn fragments_survive_everything_at_once() {
    all_arrive_in_order(Faults { seed: 5, lost: 5, repeated: 10, late: 10, refused: 10 }, 20, 300_000);
}
