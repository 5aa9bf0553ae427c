//! Samples from one byte to many MiB arrive whole, within the process and by UDP.

use crate::support::{PATIENCE, World};
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Blob {
    bytes: Vec<u8>,
}

const MIB: usize = 1 << 20;

/// Sizes around the points where behavior changes: an empty sample, one datagram, the system's buffers.
const SIZES: [usize; 9] = [1, 1_300, 8_000, 65_000, 65_536, 300_000, MIB, 4 * MIB + 1, 16 * MIB];

fn blob(len: usize) -> Blob {
    Blob { bytes: (0..len).map(|index| (index ^ (index >> 8) ^ (index >> 16)) as u8).collect() }
}

/// Attempts of a best-effort sample.
///
/// On a busy machine the receive thread may not run for any time, and a best-effort sample is lost without a fault.
/// Simulated tests assert that this is not the rule.
const TRIES: usize = 20;

/// Long enough for any sample. A sample that takes longer is lost.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// How samples are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Reliable,
    /// One of this many attempts has to arrive.
    BestEffort(usize),
}

fn arrive(from: &DomainParticipant, to: &DomainParticipant, way: Way, sizes: &[usize]) {
    let (to_read, to_write) = match way {
        Way::Reliable => (Preset::Event.reader(), Preset::Event.writer()),
        Way::BestEffort(_) => (Preset::Default.reader().best_effort(), Preset::Default.writer().best_effort()),
    };
    let reader = to.reader_builder::<Blob>("blob").qos(to_read).build().unwrap();
    let writer = from.writer_builder::<Blob>("blob").qos(to_write).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    for &len in sizes {
        let sent = blob(len);
        let send = |patience| {
            writer.write(&sent).unwrap();
            reader.next_sample().block_for(patience)
        };
        let received = match way {
            Way::Reliable => send(PATIENCE).unwrap(),
            Way::BestEffort(1) => send(PATIENCE).expect("nothing is in its way"),
            Way::BestEffort(tries) => (0..tries).find_map(|_| send(LOST_AFTER).ok()).expect("one of many arrives"),
        };
        assert!(received.data.unwrap() == sent, "{len} bytes arrive with other content");
    }
}

#[test]
fn local_best_effort_samples_arrive_up_to_64_mib() {
    let participant = World::new().participant();
    arrive(&participant, &participant, Way::BestEffort(1), &[&SIZES[..], &[64 * MIB]].concat());
}

#[test]
fn local_reliable_samples_arrive_up_to_64_mib() {
    let participant = World::new().participant();
    arrive(&participant, &participant, Way::Reliable, &[&SIZES[..], &[64 * MIB]].concat());
}

#[test]
fn udp_reliable_samples_of_every_size_arrive() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.udp_participant());
    arrive(&from, &to, Way::Reliable, &SIZES);
}

#[test]
fn udp_best_effort_samples_of_every_size_arrive() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.udp_participant());
    arrive(&from, &to, Way::BestEffort(TRIES), &SIZES);
}

#[test]
fn large_samples_of_dropped_writer_arrive() {
    for preset in [Preset::State, Preset::Event] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.udp_participant());
        let reader = to.reader_builder::<Blob>("blob").qos(preset.reader()).build().unwrap();
        let writer = from.writer_builder::<Blob>("blob").qos(preset.writer()).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        let sent = blob(16 * MIB);
        writer.write(&sent).unwrap();
        drop(writer);
        let received = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert!(received == sent);
    }
}

#[test]
#[ignore = "takes a gigabyte of memory"]
fn udp_samples_of_64_mib_arrive() {
    for way in [Way::BestEffort(TRIES), Way::Reliable] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.udp_participant());
        arrive(&from, &to, way, &[64 * MIB]);
    }
}
