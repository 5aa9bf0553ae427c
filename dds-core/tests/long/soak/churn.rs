//! Entities that are created and deleted continuously.

use super::Soak;
use super::flow::{FLOWS, Flow, Order, parcel};
use dds_core::qos::{PublisherQos, SubscriberQos};
use dds_core::{DomainParticipant, Duration};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Longer than discovery takes, even on a busy machine. An entity that takes longer is abandoned.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an entity lives.
const LIFE: std::time::Duration = std::time::Duration::from_millis(30);

/// Creates and deletes entities until the time is over.
pub(crate) fn churn(soak: &Soak) {
    let mut sender = soak.process << 32 | 1000;
    for turn in 0.. {
        if soak.is_over() {
            return;
        }
        let flow = &FLOWS[turn / 7 % FLOWS.len()];
        sender += 1;
        match turn % 7 {
            0 => reads(flow, &soak.participant, soak),
            1 => writes(flow, &soak.participant, sender, soak),
            2 => comes_and_goes(flow, turn, sender, soak),
            3 => holds_up(flow, soak),
            4 => groups(turn, soak),
            5 => changes(flow, soak),
            _ => leaves_at_once(flow, soak),
        }
    }
}

fn note(soak: &Soak, entities: u64) {
    soak.meter.made.fetch_add(entities, Ordering::Relaxed);
}

/// A reader that joins late, takes its samples, and closes.
fn reads(flow: &Flow, participant: &DomainParticipant, soak: &Soak) {
    let reader = flow.reader(participant);
    note(soak, 1);
    let mut order = Order::new(flow);
    // The writers may be about to end.
    let _ = reader.wait_for_writers(2).block_for(PATIENCE);
    let _ = reader.historical_data().block_for(PATIENCE);
    let started = Instant::now();
    while started.elapsed() < LIFE {
        order.look(&reader, soak);
        std::thread::yield_now();
    }
}

/// A writer that writes samples, and closes when they have arrived.
fn writes(flow: &Flow, participant: &DomainParticipant, sender: u64, soak: &Soak) {
    let writer = flow.writer(participant);
    note(soak, 1);
    let _ = writer.wait_for_readers(2).block_for(PATIENCE);
    let mut parcel = parcel(sender);
    (0..20).for_each(|_| {
        flow.write(&writer, &mut parcel, soak);
    });
    if sender % 2 == 0 {
        let _ = writer.acknowledged().block_for(PATIENCE);
    }
}

/// Creates and deletes a whole participant.
fn comes_and_goes(flow: &Flow, turn: usize, sender: u64, soak: &Soak) {
    let participant = soak.builder().udp_only(turn % 2 == 0).build().unwrap();
    note(soak, 1);
    match turn % 3 {
        0 => writes(flow, &participant, sender, soak),
        1 => reads(flow, &participant, soak),
        _ => {
            let (_writer, _reader) = (flow.writer(&participant), flow.reader(&participant));
            note(soak, 2);
            participant.close();
        }
    }
}

/// A reader that takes nothing and blocks its writers until it closes.
fn holds_up(flow: &Flow, soak: &Soak) {
    let reader = flow.reader(&soak.participant);
    note(soak, 1);
    let _ = reader.wait_for_writers(2).block_for(PATIENCE);
    std::thread::sleep(LIFE);
}

/// Publishers and subscribers with instances of their own.
fn groups(turn: usize, soak: &Soak) {
    let partition = || [format!("soak-{}-{turn}", soak.process)];
    let publisher = soak.participant.publisher(PublisherQos::default().partition(partition())).unwrap();
    let subscriber = soak.participant.subscriber(SubscriberQos::default().partition(partition())).unwrap();
    let writer = publisher.writer_builder::<super::flow::Parcel>("groups").build().unwrap();
    let reader = subscriber.reader_builder::<super::flow::Parcel>("groups").build().unwrap();
    note(soak, 4);
    let _ = writer.wait_for_readers(1).block_for(PATIENCE);
    for key in 0..20 {
        writer.register_instance(&key).unwrap();
        writer.dispose(&key).unwrap();
        writer.unregister_instance(&key).unwrap();
    }
    drop(reader.take().unwrap());
    drop(publisher);
}

/// Entities that announce changed QoS again and again.
fn changes(flow: &Flow, soak: &Soak) {
    let (writer, reader) = (flow.writer(&soak.participant), flow.reader(&soak.participant));
    note(soak, 2);
    for number in 0..10u8 {
        writer.set_qos(writer.qos().user_data([number])).unwrap();
        reader.set_qos(reader.qos().user_data([number])).unwrap();
        drop(reader.take().unwrap());
    }
}

/// Entities that close before any peer has discovered them.
fn leaves_at_once(flow: &Flow, soak: &Soak) {
    for _ in 0..5 {
        let _pair = (flow.reader(&soak.participant), flow.writer(&soak.participant));
        note(soak, 2);
    }
}
