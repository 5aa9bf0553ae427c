//! Settings of a participant that affect its datagrams, on the simulated network.

use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DdsType, DomainParticipant, DomainParticipantBuilder, Duration};
use dds_rtps::wire::{Message, Submessage};
use std::sync::{Arc, Mutex};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Map {
    cells: Vec<u8>,
}

fn simulation() -> Simulation {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    simulation
}

fn builder() -> DomainParticipantBuilder {
    DomainParticipant::builder(0).ignore_environment()
}

/// The fragment sizes of a sample of 20 000 bytes. Empty: it was sent unfragmented.
fn fragment_sizes(writer: DomainParticipantBuilder) -> Vec<u16> {
    let simulation = simulation();
    let seen: Arc<Mutex<Vec<u16>>> = Arc::default();
    let noted = Arc::clone(&seen);
    simulation.intercept(move |passing| {
        let Ok(message) = Message::parse(&passing.bytes) else { return true };
        for submessage in message.submessages().flatten() {
            if let Submessage::DataFrag(fragments) = submessage {
                noted.lock().unwrap().push(fragments.fragment_size);
            }
        }
        true
    });
    let from = simulation.build("one", writer).unwrap();
    let to = simulation.build("other", builder()).unwrap();
    let reader = to.reader_builder::<Map>("map").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder::<Map>("map").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    let map = Map { cells: vec![7; 20_000] };
    writer.write(&map).unwrap();
    assert_eq!(reader.next_sample().block().unwrap().data, Some(map));
    let mut sizes = seen.lock().unwrap().clone();
    sizes.dedup();
    sizes
}

#[test]
fn samples_use_configured_fragment_size() {
    assert_eq!(fragment_sizes(builder()), [1344]);
    assert_eq!(fragment_sizes(builder().fragment_size(1000)), [1000]);
    assert_eq!(fragment_sizes(builder().fragment_size(0)), [64], "the smallest there is");
    assert_eq!(fragment_sizes(builder().fragment_size(u16::MAX)), [0; 0], "it fits into one");
}

/// Datagrams that a participant without peers sends in a minute.
fn announcements(participant: DomainParticipantBuilder) -> usize {
    let simulation = simulation();
    let count: Arc<Mutex<usize>> = Arc::default();
    let counted = Arc::clone(&count);
    let _alone = simulation.build("one", participant).unwrap();
    simulation.run_for(Duration::from_secs(10));
    simulation.intercept(move |_| {
        *counted.lock().unwrap() += 1;
        true
    });
    simulation.run_for(Duration::from_secs(60));
    *count.lock().unwrap()
}

#[test]
fn announcements_follow_configured_period() {
    let usual = announcements(builder());
    assert!((18..=22).contains(&usual), "every 3 s: {usual}");
    let often = announcements(builder().announcement_period(Duration::from_millis(500)));
    assert!((108..=132).contains(&often), "every 0.5 s: {often}");
    let rare = announcements(builder().announcement_period(Duration::from_secs(3600)));
    assert!((18..=22).contains(&rare), "six or seven in a lease of 20 s: {rare}");
    let always = announcements(builder().announcement_period(Duration::ZERO));
    assert!((5_400..=6_700).contains(&always), "no more often than every 10 ms: {always}");
}
