//! Cost of a write with many readers. It encodes once, and sends once for each destination, not for each reader.

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DdsType, DomainParticipant, Duration};
use std::collections::BTreeSet;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
}

const WRITES: u32 = 50;

fn readers(participant: &DomainParticipant, reliable: bool, count: usize) -> Vec<DataReader<Step>> {
    let qos = DataReaderQos::default().keep_all();
    let qos = if reliable { qos.reliable() } else { qos.best_effort() };
    (0..count).map(|_| participant.reader_builder("steps").qos(qos.clone()).build().unwrap()).collect()
}

/// Datagrams of each write, with `readers_each` readers in the own participant and in each of `hosts` other hosts.
fn sends_per_write(reliable: bool, readers_each: usize, hosts: usize) -> u64 {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let own = simulation.participant("writer", 0).unwrap();
    let peers: Vec<_> = (0..hosts).map(|host| simulation.participant(&format!("peer {host}"), 0).unwrap()).collect();
    let local = readers(&own, reliable, readers_each);
    let remote: Vec<_> = peers.iter().flat_map(|peer| readers(peer, reliable, readers_each)).collect();
    let qos = DataWriterQos::default().keep_all();
    let qos = if reliable { qos.reliable() } else { qos.best_effort() };
    let writer = own.writer_builder("steps").qos(qos).build().unwrap();
    writer.wait_for_readers(readers_each * (1 + hosts)).block().unwrap();
    simulation.run_for(Duration::from_secs(2));
    // Virtual time passes only in waits, so the participant sends nothing else in between.
    let before = own.traffic().sent;
    (0..WRITES).for_each(|number| writer.write(&Step { number }).unwrap());
    let sent = own.traffic().sent - before;
    simulation.run_for(Duration::from_secs(1));
    let mut places = BTreeSet::new();
    for reader in local.iter().chain(&remote) {
        let samples = reader.take().unwrap();
        let numbers: Vec<u32> = samples.iter().map(|sample| sample.decode().unwrap().unwrap().number).collect();
        assert_eq!(numbers, (0..WRITES).collect::<Vec<_>>());
        if local.iter().any(|own| std::ptr::eq(own, reader)) {
            places.insert(samples.iter().next().unwrap().encoded().unwrap().bytes.as_ptr());
            // The next sample must not reuse these slots.
            std::mem::forget(samples);
        }
    }
    assert_eq!(places.len(), 1, "one encoding for all readers here");
    assert_eq!(sent % u64::from(WRITES), 0, "{sent} datagrams");
    sent / u64::from(WRITES)
}

#[test]
fn readers_at_one_address_share_a_datagram() {
    for reliable in [false, true] {
        assert_eq!(sends_per_write(reliable, 1, 1), 1);
        assert_eq!(sends_per_write(reliable, 50, 1), 1, "reliable: {reliable}");
    }
}

#[test]
fn each_remote_host_costs_at_most_one_datagram() {
    for reliable in [false, true] {
        let sends = sends_per_write(reliable, 10, 4);
        assert!(sends <= 4, "{sends} datagrams for 4 hosts, reliable: {reliable}");
        assert_eq!(sends_per_write(reliable, 1, 4), sends);
    }
}
