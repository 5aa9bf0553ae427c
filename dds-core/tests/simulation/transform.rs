//! A transform of all messages, as DDS Security needs it: no parser and no queue may see a sealed byte.

use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DdsType, DomainParticipant, Duration};
use dds_rtps::wire::{MessageTransform, OpenedMessage, RejectedMessage};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Inverts bits of each byte. Sealed messages do not begin with `RTPS`.
#[derive(Debug)]
pub(crate) struct Xor(pub(crate) u8);

impl MessageTransform for Xor {
    fn front_len(&self) -> usize {
        3
    }

    fn seal(&self, message: &mut Vec<u8>) {
        message.drain(..self.front_len());
        assert!(message.starts_with(b"RTPS"), "the sender seals whole messages once");
        for byte in message {
            *byte ^= self.0;
        }
    }

    fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage> {
        // Something of its own in front, which no parser may see.
        let start = 5;
        scratch.resize(start, 0xff);
        scratch.extend(datagram.iter().map(|byte| byte ^ self.0));
        let is_own = scratch[start..].starts_with(b"RTPS");
        if is_own { Ok(OpenedMessage::Scratch { start }) } else { Err(RejectedMessage::default()) }
    }
}

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Block {
    #[dds(key)]
    number: u32,
    bytes: Vec<u8>,
}

fn participant(simulation: &Simulation, host: &str, mask: Option<u8>) -> DomainParticipant {
    let mut builder = DomainParticipant::builder(0);
    if let Some(mask) = mask {
        builder = builder.message_transform(Arc::new(Xor(mask)));
    }
    simulation.build(host, builder).unwrap()
}

/// A world with a tenth of all datagrams lost and cells often occupied.
///
/// Discovery data and samples therefore wait in inboxes.
fn busy_world(seed: u64) -> Simulation {
    let interference = Interference { occupied: 0.5, ..Interference::default() };
    let simulation = Simulation::with_interference(seed, interference);
    simulation.set_network(Conditions { loss: 0.1, ..Conditions::default() });
    simulation
}

#[test]
fn transform_carries_discovery_and_all_samples() {
    for seed in 0..8 {
        let simulation = busy_world(seed);
        let seen = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&seen);
        simulation.intercept(move |passing| {
            assert!(!passing.bytes.starts_with(b"RTPS"), "a plain message left the participant");
            counted.fetch_add(1, Ordering::Relaxed);
            true
        });
        let robot = participant(&simulation, "robot", Some(0x5a));
        let station = participant(&simulation, "station", Some(0x5a));
        let writer = robot.writer_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
        let reader = station.reader_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        let mut written = Vec::new();
        // Small samples, one datagram, and fragments. The last ones wait in the inbox of an occupied reader.
        for (number, len) in (0..).zip([0, 1, 100, 1_000, 40_000, 300_000, 10, 10, 10, 70_000, 5]) {
            let block = Block { number, bytes: vec![number as u8; len] };
            writer.write(&block).unwrap();
            written.push(block);
        }
        writer.acknowledged().block_for(Duration::from_secs(60)).unwrap();
        let received: Vec<Block> = reader.take().unwrap().into_data().collect();
        assert_eq!(received, written, "seed {seed}");
        assert!(seen.load(Ordering::Relaxed) > 20);
    }
}

#[test]
fn different_transforms_prevent_match() {
    let simulation = Simulation::new(1);
    let robot = participant(&simulation, "robot", Some(0x5a));
    let strangers = [participant(&simulation, "plain", None), participant(&simulation, "other", Some(0xff))];
    let writer = robot.writer::<Block>("blocks").unwrap();
    for stranger in &strangers {
        let reader = stranger.reader::<Block>("blocks").unwrap();
        simulation.run_for(Duration::from_secs(5));
        assert_eq!(writer.publication_matched().current_count, 0);
        assert_eq!(reader.subscription_matched().current_count, 0);
    }
    assert!(robot.traffic().rejected > 0, "rejected datagrams are counted");
}
