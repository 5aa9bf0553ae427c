//! Participants leave or lose each other.

use super::hostile::announcement;
use super::network::{Network, change_vendor, config, prefix};
use super::{reader, told, writer};
use dds_rtps::discovery::ParticipantEvent;
use dds_rtps::output::Datagram;
use dds_rtps::participant::{Participant, ParticipantConfig};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{Duration, EntityId, Guid, HashSeed, Locator, Now, SequenceNumber};
use dds_rtps::wire::{AckNack, Message, MessageBuilder, SequenceNumberSet, Submessage};
use std::net::{IpAddr, Ipv4Addr};

/// Address of a host that no participant announces.
const STRANGER: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)));

/// Creates two participants with a matched writer and reader.
fn matched() -> (Network, usize, usize) {
    matched_in(Network::new())
}

fn matched_in(mut network: Network) -> (Network, usize, usize) {
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    network.with(b, |participant, now| participant.add_reader(now, reader(2, DataReaderQos::default())));
    network.run_for(Duration::from_millis(500));
    assert_eq!(network.events(a).len(), 2);
    network.events(b);
    (network, a, b)
}

#[test]
fn participant_disposal_unmatches_at_once() {
    let (mut network, a, b) = matched();
    network.with(b, |participant, now| participant.shutdown(now));
    network.run_for(Duration::from_millis(2));
    assert_eq!(told(&network.events(a)), ["no reader 02/2", "lost 02 Left"]);
    assert_eq!(network.participant(a).matching().readers().count(), 0);
    assert_eq!(network.participant(b).deadline(), None);
    network.run_for(Duration::from_secs(60));
    assert!(network.events(a).is_empty());
}

/// Returns a disposal in the name of the second participant.
fn forged_disposal(network: &Network) -> Vec<u8> {
    disposal_of(config(2), network.now)
}

#[test]
fn forged_disposal_is_refuted() {
    let (mut network, a, b) = matched();
    let forged = forged_disposal(&network);
    for _ in 0..50 {
        network.deliver_from(STRANGER, a, &forged);
        network.run_for(Duration::from_millis(100));
    }
    assert!(network.events(a).is_empty());
    let counters = network.participant(a).counters();
    assert_eq!((counters.claims_refuted, counters.claims_ignored), (1, 49));
    // The challenge takes numbers of a builtin writer. Later announcements arrive all the same.
    network.with(a, |participant, now| participant.add_writer(now, writer(5, DataWriterQos::default())));
    network.with(b, |participant, now| participant.add_reader(now, reader(6, DataReaderQos::default())));
    network.run_for(Duration::from_millis(500));
    assert_eq!(told(&network.events(a)), ["reader 02/2", "reader 02/6", "reader 02/6"]);
    assert!(told(&network.events(b)).contains(&"writer 01/5".to_owned()));
}

#[test]
fn forged_disposal_is_refuted_although_datagrams_get_lost() {
    let (mut network, a, _) = matched();
    network.loses = Box::new(|number, _| number % 3 == 0);
    let forged = forged_disposal(&network);
    network.deliver_from(STRANGER, a, &forged);
    network.run_for(Duration::from_secs(10));
    assert!(network.events(a).is_empty());
    assert_eq!(network.participant(a).counters().claims_refuted, 1);
}

/// Wrong answers from another host must not use up those of the participant.
#[test]
fn forged_disposal_is_refuted_beside_wrong_answers() {
    let (mut network, a, _) = matched();
    let mut wrong = Vec::new();
    let mut message = MessageBuilder::new(&mut wrong);
    message.header(prefix(2));
    message.ack_nack(&AckNack {
        reader_id: EntityId::PARTICIPANT_MESSAGE_READER,
        writer_id: EntityId::PARTICIPANT_MESSAGE_WRITER,
        reader_sn_state: SequenceNumberSet::empty(SequenceNumber(1 << 40)),
        count: 1,
        is_final: true,
    });
    let forged = forged_disposal(&network);
    network.deliver_from(STRANGER, a, &forged);
    for _ in 0..3_000 {
        // Two wrong answers are enough to end a challenge.
        (0..2).for_each(|_| network.deliver_from(STRANGER, a, &wrong));
        network.run_for(Duration::from_millis(1));
    }
    assert!(network.events(a).is_empty());
    assert_eq!(network.participant(a).counters().claims_refuted, 1);
}

/// The reader of liveliness assertions may be best effort, and then it answers nothing.
#[test]
fn forged_disposal_is_refuted_on_another_topic() {
    let mut network = Network::new();
    network.alters = change_vendor;
    network.lose_assertions();
    let a = network.start(config(1));
    network.start(config(2));
    network.run_for(Duration::from_secs(10));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    let forged = forged_disposal(&network);
    network.deliver_from(STRANGER, a, &forged);
    network.run_for(Duration::from_secs(5));
    assert!(network.events(a).is_empty());
    assert_eq!(network.participant(a).counters().claims_refuted, 1);
}

/// A participant behind address translation leaves from an address that it does not know.
#[test]
fn disposal_from_unknown_address_counts_after_silence() {
    let (mut network, a, b) = matched();
    let disposal = forged_disposal(&network);
    network.crash(b);
    network.deliver_from(STRANGER, a, &disposal);
    network.run_for(Duration::from_millis(1_900));
    assert!(network.events(a).is_empty());
    network.run_for(Duration::from_millis(200));
    assert_eq!(told(&network.events(a)), ["no reader 02/2", "lost 02 Left"]);
}

/// An unknown peer moves a participant to its own address, where it answers each challenge.
#[test]
fn forged_move_is_refuted() {
    let (mut network, a, _) = matched();
    let forged = announcement(prefix(2), |data| {
        data.metatraffic_unicast = vec![Locator::udp_v4([10, 0, 0, 9].into(), 7410)];
        data.default_unicast = vec![Locator::udp_v4([10, 0, 0, 9].into(), 7411)];
    });
    for _ in 0..50 {
        network.deliver_from(STRANGER, a, &forged);
        network.run_for(Duration::from_millis(100));
        network.answer_challenge(a, prefix(2));
    }
    assert!(network.events(a).is_empty());
    let route = network.participant(a).route(prefix(2)).unwrap();
    assert_eq!(route.unicast.to_vec(), [Locator::udp_v4([10, 0, 0, 2].into(), 7410)]);
}

/// An unknown peer must not keep out a participant that is not known yet.
#[test]
fn forged_disposal_of_unknown_participant_keeps_nothing_out() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let mut number = network.now;
    number.time = number.time + Duration::from_secs(1);
    let forged = disposal_of(config(2), number);
    network.deliver_from(STRANGER, a, &forged);
    network.start(config(2));
    network.run_for(Duration::from_millis(500));
    assert_eq!(told(&network.events(a)), ["found 02"]);
}

#[test]
fn late_announcement_revives_no_participant() {
    let (mut network, a, b) = matched();
    let late = announcement(prefix(2), |_| {});
    network.with(b, |participant, now| participant.shutdown(now));
    network.run_for(Duration::from_millis(2));
    network.events(a);
    network.deliver(a, &late);
    network.run_for(Duration::from_secs(2));
    assert!(network.events(a).is_empty());
    assert_eq!(network.participant(a).counters().late_announcements, 1);
    // A participant that uses the same GUID prefix later is found, because old prefixes are forgotten.
    network.run_for(Duration::from_secs(2));
    network.deliver(a, &late);
    assert_eq!(told(&network.events(a)), ["found 02"]);
}

#[test]
fn endpoint_withdrawn_before_acceptance_is_gone() {
    let (mut network, a, b) = matched();
    network.loses = Box::new(|_, _| true);
    network.with(b, |participant, now| participant.add_reader(now, reader(3, DataReaderQos::default())));
    // These two announcements wait at `a` for the lost one, and are then accepted at once.
    network.loses = Box::new(|_, _| false);
    let short_lived = reader(4, DataReaderQos::default());
    let id = short_lived.endpoint.guid.entity_id;
    network.with(b, |participant, now| participant.add_reader(now, short_lived));
    network.with(b, |participant, now| participant.remove_reader(now, id));
    network.run_for(Duration::from_secs(1));
    assert_eq!(told(&network.events(a)), ["reader 02/3"]);
    assert_eq!(network.participant(a).matching().readers().count(), 2);
}

#[test]
fn participant_disposal_needs_no_multicast() {
    let mut network = Network::new();
    let mut unicast_only = config(1);
    unicast_only.metatraffic_multicast.clear();
    let a = network.start(unicast_only);
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(200));
    network.events(a);
    network.with(b, |participant, now| participant.shutdown(now));
    network.run_for(Duration::from_millis(2));
    assert_eq!(told(&network.events(a)), ["lost 02 Left"]);
}

#[test]
fn crashed_participant_is_lost_with_its_lease() {
    let (mut network, a, b) = matched();
    network.crash(b);
    network.run_for(Duration::from_secs(16));
    assert!(network.events(a).is_empty());
    network.run_for(Duration::from_secs(5));
    assert_eq!(told(&network.events(a)), ["no reader 02/2", "lost 02 LeaseExpired"]);
}

#[test]
fn any_traffic_keeps_participant_alive() {
    let (mut network, a, b) = matched();
    network.crash(b);
    for _ in 0..10 {
        network.run_for(Duration::from_secs(10));
        network.with(a, |participant, now| participant.handle_traffic(now, prefix(2)));
    }
    assert!(network.events(a).is_empty());
    network.run_for(Duration::from_secs(21));
    assert_eq!(network.events(a).len(), 2);
}

#[test]
fn returning_participant_is_matched_again() {
    let (mut network, a, b) = matched();
    // For longer than a lease, b receives nothing and its peers receive nothing from it.
    network.loses = Box::new(|_, _| true);
    network.run_for(Duration::from_secs(30));
    assert_eq!(told(&network.events(a)), ["no reader 02/2", "lost 02 LeaseExpired"]);
    assert_eq!(told(&network.events(b)), ["no writer 01/1", "lost 01 LeaseExpired"]);
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(4));
    assert_eq!(told(&network.events(a)), ["found 02", "reader 02/2"]);
    assert_eq!(told(&network.events(b)), ["found 01", "writer 01/1"]);
}

#[test]
fn one_sided_loss_is_recovered() {
    let (mut network, a, b) = matched();
    // Datagrams of a are lost, those of b arrive.
    let from_a = prefix(1).0;
    network.loses = Box::new(move |_, bytes| bytes[8..20] == from_a);
    network.run_for(Duration::from_secs(30));
    assert!(network.events(a).is_empty());
    assert_eq!(told(&network.events(b)), ["no writer 01/1", "lost 01 LeaseExpired"]);
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(8));
    assert_eq!(told(&network.events(b)), ["found 01", "writer 01/1"]);
}

/// Participant `a` has lost `b`, whose datagrams are lost, and has withdrawn its writer. `b` still knows `a`.
fn withdrawn_during_one_sided_loss(network: Network) -> (Network, usize, usize) {
    let (mut network, a, b) = matched_in(network);
    let from_b = prefix(2).0;
    network.loses = Box::new(move |_, bytes| bytes[8..20] == from_b);
    network.run_for(Duration::from_secs(30));
    assert_eq!(told(&network.events(a)), ["no reader 02/2", "lost 02 LeaseExpired"]);
    let id = writer(1, DataWriterQos::default()).endpoint.guid.entity_id;
    network.with(a, |participant, now| participant.remove_writer(now, id));
    network.run_for(Duration::from_secs(1));
    assert!(network.events(b).is_empty());
    (network, a, b)
}

#[test]
fn withdrawal_during_one_sided_loss_is_reported() {
    let (mut network, _, b) = withdrawn_during_one_sided_loss(Network::new());
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(8));
    assert_eq!(told(&network.events(b)), ["no writer 01/1"]);
}

/// A challenge above all real changes makes the peer skip the disposal.
#[test]
fn withdrawal_before_a_raised_challenge_is_reported() {
    let mut of_another_vendor = Network::new();
    of_another_vendor.alters = change_vendor;
    let (mut network, a, b) = withdrawn_during_one_sided_loss(of_another_vendor);
    let from_a = prefix(1).0;
    // Challenges of the topic Messages are lost, so the topic of the writers has its turn. The disposal is lost, too:
    // only its repetition has a number above those of the challenge.
    network.loses = Box::new(move |_, bytes| bytes[8..20] == from_a && has_early_change(bytes));
    network.run_for(Duration::from_secs(30));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert_eq!(told(&network.events(b)), ["no writer 01/1"]);
}

#[test]
fn forged_participant_disposal_is_ignored() {
    let (mut network, a, b) = matched();
    let mut stranger = config(2);
    stranger.prefix = prefix(3);
    // A disposal of participant 3 whose key names participant 2.
    let mut forged = disposal_of(stranger, network.now);
    let key = Guid::new(prefix(3), EntityId::PARTICIPANT).to_bytes();
    let theirs = Guid::new(prefix(2), EntityId::PARTICIPANT).to_bytes();
    for at in 20..forged.len() - 15 {
        if forged[at..at + 16] == key {
            forged[at..at + 16].copy_from_slice(&theirs);
        }
    }
    network.deliver(a, &forged);
    assert!(network.events(a).is_empty());
    assert_eq!(network.participant(a).counters().foreign, 1);
    network.run_for(Duration::from_secs(1));
    assert!(network.events(b).is_empty());
}

#[test]
fn second_shutdown_sends_no_second_disposal() {
    let (mut network, _, b) = matched();
    network.with(b, |participant, now| participant.shutdown(now));
    let before = network.sent();
    network.with(b, |participant, now| participant.shutdown(now));
    network.run_for(Duration::from_millis(100));
    let after: Vec<ParticipantEvent> = network.events(b);
    assert!(after.is_empty());
    assert!(network.sent() - before <= 2, "what a still had under way is not answered by b");
}

/// Whether a datagram has anything of the topic Messages, or an early change of the topic of writers.
fn has_early_change(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return false };
    message.submessages().flatten().any(|submessage| match submessage {
        Submessage::Heartbeat(heartbeat) => heartbeat.writer_id == EntityId::PARTICIPANT_MESSAGE_WRITER,
        Submessage::Data(data) => {
            data.writer_id == EntityId::SEDP_PUBLICATIONS_WRITER && data.writer_sn < SequenceNumber(4_000)
        }
        _ => false,
    })
}

/// Returns the datagram in which a participant leaves.
fn disposal_of(config: ParticipantConfig, now: Now) -> Vec<u8> {
    let mut participant = Participant::new(config, 1, HashSeed::fixed(1));
    let mut datagram = Datagram::new();
    participant.start(now);
    assert!(participant.poll_transmit(now, &mut datagram));
    participant.shutdown(now);
    assert!(participant.poll_transmit(now, &mut datagram));
    let mut bytes = Vec::new();
    datagram.copy_to(&mut bytes);
    bytes
}
