//! Datagrams of other implementations, fed to a participant of ours.

use super::network::{Network, config};
use super::{reader, told, writer};
use crate::support::{CAPTURES, capture};
use dds_rtps::discovery::{MatchResult, ParticipantEvent};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{Duration, EntityId, VendorId};
use dds_rtps::wire::{Message, Submessage};

/// Feeds a capture to a participant. Returns its events, except for found and lost participants.
fn hear(name: &str, writes: DataWriterQos, reads: DataReaderQos) -> (Network, Vec<ParticipantEvent>) {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.with(a, |participant, now| {
        let offered = writes.representation([dds_rtps::qos::DataRepresentation::Xcdr2]);
        participant.add_writer(now, writer(1, offered));
        participant.add_reader(now, reader(2, reads));
    });
    network.events(a);
    for packet in capture(name) {
        // Datagrams for the other participant of the pair are delivered here as well: the test rewrites their
        // destination.
        network.deliver(a, &for_all_participants(&packet.payload));
        if let Ok(message) = Message::parse(&packet.payload) {
            network.answer_challenge(a, message.header.prefix);
        }
    }
    let events = network.events(a);
    (network, events)
}

/// Returns the datagram with an INFO_DST that addresses all participants.
fn for_all_participants(payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    let mut starts = Vec::new();
    if let Ok(message) = Message::parse(payload) {
        let mut submessages = message.submessages();
        loop {
            let start = submessages.offset();
            match submessages.next() {
                Some(Ok(Submessage::InfoDestination(_))) => starts.push(start + 4),
                Some(_) => {}
                None => break,
            }
        }
    }
    for start in starts {
        bytes[start..start + 12].fill(0);
    }
    bytes
}

#[test]
fn cyclone_pair_is_found_matched_and_lost() {
    let (_, events) =
        hear("cyclone_xcdr2_reliable_dispose", DataWriterQos::default(), DataReaderQos::default().reliable());
    let found = events.iter().filter(|event| match event {
        ParticipantEvent::ParticipantDiscovered { participant } => {
            participant.vendor == VendorId::CYCLONE && participant.builtin_endpoints.0 == 0xfc3f
        }
        _ => false,
    });
    assert_eq!(found.count(), 2);
    let readers: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ParticipantEvent::ReaderMatched { reader, .. } => Some(reader),
            _ => None,
        })
        .collect();
    assert_eq!(readers.len(), 1);
    assert_eq!(readers[0].data.endpoint.guid.entity_id, EntityId([0, 0, 2, 7]));
    assert!(readers[0].route.same_host && readers[0].route.unicast[0].is_loopback());
    let words = told(&events);
    assert!(words.iter().any(|word| word.starts_with("writer")), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with("no writer")), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with("lost") && word.ends_with("Left")), "{words:?}");
}

#[test]
fn incompatible_cyclone_writer_names_policy() {
    let (_, events) = hear("cyclone_incompatible_qos", DataWriterQos::default(), DataReaderQos::default().reliable());
    let words = told(&events);
    assert!(words.iter().any(|word| word.starts_with("requested of") && word.ends_with("[Reliability]")), "{words:?}");
}

#[test]
fn cyclone_partitions_prevent_match() {
    let exclusive = dds_rtps::qos::Ownership::Exclusive;
    let second = Duration::from_secs(1);
    let (network, events) = hear(
        "cyclone_partition_ownership",
        DataWriterQos::default().ownership(exclusive).deadline(second),
        DataReaderQos::default().ownership(exclusive),
    );
    assert!(!told(&events).iter().any(|word| word.starts_with("writer") || word.starts_with("reader")));
    let results: Vec<&MatchResult> = network.participant(0).matching().results().map(|(_, _, result)| result).collect();
    assert!(results.contains(&&MatchResult::Partition), "{results:?}");
}

#[test]
fn fast_dds_disposal_without_payload_is_accepted() {
    let (_, events) =
        hear("fastdds_xcdr2_reliable_dispose", DataWriterQos::default(), DataReaderQos::default().reliable());
    let of_fast = events.iter().find_map(|event| match event {
        ParticipantEvent::ParticipantDiscovered { participant } if participant.vendor == VendorId::EPROSIMA => {
            Some(participant.prefix)
        }
        _ => None,
    });
    let lost = events.iter().any(|event| {
        matches!(event, ParticipantEvent::ParticipantLost { prefix, cause }
            if Some(*prefix) == of_fast && *cause == dds_rtps::discovery::ParticipantLoss::Left)
    });
    assert!(lost, "{:?}", told(&events));
}

#[test]
fn no_capture_contains_malformed_data() {
    for name in CAPTURES {
        let (network, events) = hear(name, DataWriterQos::default(), DataReaderQos::default());
        let participant = network.participant(0);
        let counters = participant.counters();
        assert_eq!(counters.malformed_participants, 0, "{name}");
        assert_eq!(counters.malformed_endpoints, 0, "{name}");
        assert_eq!(counters.foreign, 0, "{name}");
        assert!(events.iter().any(|event| matches!(event, ParticipantEvent::ParticipantDiscovered { .. })), "{name}");
    }
}
