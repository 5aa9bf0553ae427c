//! Samples from one byte to many MiB arrive whole, within the process and by UDP.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod support;

use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant};
use support::{PATIENCE, World};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Blob {
    bytes: Vec<u8>,
}

const MIB: usize = 1 << 20;

/// Around the sizes at which something changes: nothing, a datagram, the buffers of the system.
const SIZES: [usize; 9] = [1, 1_300, 8_000, 65_000, 65_536, 300_000, MIB, 4 * MIB + 1, 16 * MIB];

fn blob(len: usize) -> Blob {
    Blob { bytes: (0..len).map(|index| (index ^ (index >> 8) ^ (index >> 16)) as u8).collect() }
}

fn arrive(from: &DomainParticipant, to: &DomainParticipant, preset: Preset, sizes: &[usize]) {
    let reader = to.reader_builder::<Blob>("blob").qos(preset.reader()).build().unwrap();
    let writer = from.writer_builder::<Blob>("blob").qos(preset.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    for &len in sizes {
        let sent = blob(len);
        writer.write(&sent).unwrap();
        let received = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert!(received == sent, "{len} bytes arrive with other content");
    }
}

#[test]
fn best_effort_samples_of_every_size_arrive_within_the_process() {
    let participant = World::new().participant();
    arrive(&participant, &participant, Preset::Default, &SIZES);
}

#[test]
fn reliable_samples_of_every_size_arrive_by_udp() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.udp_participant());
    arrive(&from, &to, Preset::Event, &SIZES);
}

#[test]
#[ignore = "takes a gigabyte of memory"]
fn reliable_samples_of_64_mib_arrive_by_udp() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.udp_participant());
    arrive(&from, &to, Preset::Event, &[64 * MIB]);
}
