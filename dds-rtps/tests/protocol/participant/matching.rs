//! Endpoints of two participants match.

use super::network::{Network, config, prefix};
use super::{name, reader, reader_id, told, writer, writer_id};
use dds_rtps::discovery::{BuiltinPairTopic, MatchResult, ParticipantEvent};
use dds_rtps::output::Datagram;
use dds_rtps::participant::{Participant, ParticipantConfig};
use dds_rtps::qos::{DataReaderQos, DataWriterQos, Liveliness, PolicyId};
use dds_rtps::types::{Duration, Guid, HashSeed, Locator};

/// Creates two participants that know each other.
fn acquainted() -> (Network, usize, usize) {
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.events(a);
    network.events(b);
    (network, a, b)
}

#[test]
fn writer_and_reader_match_on_both_sides() {
    let (mut network, a, b) = acquainted();
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    network.run_for(Duration::from_millis(50));
    assert!(network.events(b).is_empty());
    network.with(b, |participant, now| participant.add_reader(now, reader(2, DataReaderQos::default())));
    assert_eq!(told(&network.events(b)), ["writer 01/1"]);
    network.run_for(Duration::from_millis(2));
    let events = network.events(a);
    assert_eq!(told(&events), ["reader 02/2"]);
    let ParticipantEvent::ReaderMatched { writer, reader } = &events[0] else { panic!("{events:?}") };
    assert_eq!(*writer, writer_id(1));
    // The reader has no locators of its own, so those of its participant apply.
    assert_eq!(reader.route.unicast.to_vec(), network.participant(b).config().default_unicast);
    assert!(!reader.is_local && !reader.route.same_host);
}

#[test]
fn newcomers_receive_existing_endpoints() {
    let mut network = Network::new();
    let a = network.start(config(1));
    for number in 1..=10 {
        network.with(a, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
    }
    network.with(a, |participant, now| participant.remove_writer(now, writer_id(4)));
    network.run_for(Duration::from_secs(5));
    let b = network.start(config(2));
    network.with(b, |participant, now| participant.add_reader(now, reader(1, DataReaderQos::default())));
    network.run_for(Duration::from_millis(200));
    let told = told(&network.events(b));
    assert_eq!(told.len(), 10, "{told:?}");
    assert!(!told.contains(&"writer 01/4".to_owned()));
    assert_eq!(network.events(a).len(), 10);
}

#[test]
fn local_endpoints_match_without_network() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.with(a, |participant, now| {
        participant.add_writer(now, writer(1, DataWriterQos::default()));
        participant.add_reader(now, reader(2, DataReaderQos::default().reliable()));
    });
    let events = network.events(a);
    assert_eq!(told(&events), ["reader 01/2", "writer 01/1"]);
    assert!(matches!(&events[0], ParticipantEvent::ReaderMatched { reader, .. } if reader.is_local));
    network.with(a, |participant, now| participant.remove_reader(now, reader_id(2)));
    assert_eq!(told(&network.events(a)), ["no reader 01/2", "no writer 01/1"]);
}

#[test]
fn incompatible_qos_names_policies_on_both_sides() {
    let (mut network, a, b) = acquainted();
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default().best_effort())));
    let qos = DataReaderQos::default().reliable().transient_local();
    network.with(b, |participant, now| participant.add_reader(now, reader(2, qos)));
    network.run_for(Duration::from_millis(50));
    assert_eq!(told(&network.events(a)), ["offered to 02/2: [Durability, Reliability]"]);
    assert_eq!(told(&network.events(b)), ["requested of 01/1: [Durability, Reliability]"]);
    let result = network
        .participant(a)
        .matching()
        .result(Guid::new(prefix(1), writer_id(1)), Guid::new(prefix(2), reader_id(2)))
        .unwrap();
    assert_eq!(*result, MatchResult::Incompatible([PolicyId::Durability, PolicyId::Reliability].into_iter().collect()));
}

#[test]
fn partitions_match_only_once_they_overlap() {
    let (mut network, a, b) = acquainted();
    let mut writer = writer(1, DataWriterQos::default());
    writer.endpoint.partition = vec!["left".to_owned()];
    network.with(a, |participant, now| participant.add_writer(now, writer.clone()));
    network.with(b, |participant, now| {
        let mut reader = reader(2, DataReaderQos::default());
        reader.endpoint.partition = vec!["right".to_owned()];
        participant.add_reader(now, reader);
    });
    network.run_for(Duration::from_millis(50));
    assert!(network.events(a).is_empty() && network.events(b).is_empty());
    writer.endpoint.partition = vec!["r*t".to_owned()];
    network.with(a, |participant, now| participant.add_writer(now, writer));
    network.run_for(Duration::from_millis(50));
    assert_eq!(told(&network.events(a)), ["reader 02/2"]);
    assert_eq!(told(&network.events(b)), ["writer 01/1"]);
}

#[test]
fn removed_endpoints_are_unmatched() {
    let (mut network, a, b) = acquainted();
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    network.with(b, |participant, now| participant.add_reader(now, reader(2, DataReaderQos::default())));
    network.run_for(Duration::from_millis(50));
    network.events(a);
    network.events(b);
    assert!(network.with(a, |participant, now| participant.remove_writer(now, writer_id(1))));
    assert!(!network.with(a, |participant, now| participant.remove_writer(now, writer_id(1))));
    assert_eq!(told(&network.events(a)), ["no reader 02/2"]);
    network.run_for(Duration::from_millis(5));
    assert_eq!(told(&network.events(b)), ["no writer 01/1"]);
    assert_eq!(network.participant(b).matching().writers().count(), 0);
}

#[test]
fn changed_participant_locators_reach_matches() {
    let (mut network, a, b) = acquainted();
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    network.with(b, |participant, now| participant.add_reader(now, reader(2, DataReaderQos::default())));
    network.run_for(Duration::from_millis(50));
    network.events(a);
    // A second instance of the same participant announces another port for user data.
    let mut elsewhere = config(2);
    elsewhere.default_unicast = vec![Locator::udp_v4([10, 0, 0, 2].into(), 9999)];
    let mut participant = Participant::new(elsewhere, 1, HashSeed::fixed(1));
    participant.start(network.now);
    let mut datagram = Datagram::new();
    assert!(participant.poll_transmit(network.now, &mut datagram));
    let mut announcement = Vec::new();
    datagram.copy_to(&mut announcement);
    network.deliver(a, &announcement);
    let events = network.events(a);
    assert_eq!(told(&events), ["found 02", "reader 02/2"]);
    let ParticipantEvent::ReaderMatched { reader, .. } = &events[1] else { panic!() };
    assert_eq!(reader.route.unicast[0].port, 9999);
}

#[test]
fn loss_delays_but_does_not_prevent_matching() {
    for seed in 0..20_u64 {
        let mut network = Network::new();
        let mut state = seed;
        network.loses = Box::new(move |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 10 < 4
        });
        // Six announcements in succession may be lost. An expired lease is not part of this test.
        let patient = |config| ParticipantConfig { lease_duration: Duration::from_secs(100), ..config };
        let a = network.start(patient(config(1)));
        let b = network.start(patient(config(2)));
        for number in 1..=30 {
            network.with(a, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
            network.run_for(Duration::from_millis(7));
        }
        network.with(b, |participant, now| participant.add_reader(now, reader(1, DataReaderQos::default())));
        network.run_for(Duration::from_secs(30));
        let matched = |events: &[String], word: &str| events.iter().filter(|event| event.starts_with(word)).count();
        let (at_a, at_b) = (told(&network.events(a)), told(&network.events(b)));
        assert_eq!(matched(&at_b, "writer"), 30, "seed {seed}: {at_b:?}");
        assert_eq!(matched(&at_a, "reader"), 30, "seed {seed}: {at_a:?}");
    }
}

#[test]
fn acknowledged_endpoint_announcements_go_quiet() {
    let (mut network, a, b) = acquainted();
    for number in 1..=100 {
        network.with(a, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
    }
    network.run_for(Duration::from_secs(1));
    assert_eq!(network.participant(b).matching().writers().count(), 100);
    let publications = network.participant(a).builtin(BuiltinPairTopic::Publications).writer();
    assert!(publications.is_acknowledged(publications.last_sequence_number()));
    let before = network.sent();
    network.run_for(Duration::from_secs(30));
    let sent = network.sent() - before;
    assert!(sent <= 24, "{sent} datagrams, of which about 20 are announcements");
}

#[test]
fn withdrawn_endpoints_leave_nothing_behind() {
    let (mut network, a, b) = acquainted();
    for round in 0..500 {
        network.with(a, |participant, now| participant.add_writer(now, writer(round, DataWriterQos::default())));
        network.run_for(Duration::from_millis(3));
        network.with(a, |participant, now| participant.remove_writer(now, writer_id(round)));
        network.run_for(Duration::from_millis(3));
    }
    network.with(a, |participant, now| participant.add_writer(now, writer(501, DataWriterQos::default())));
    network.run_for(Duration::from_secs(1));
    let history = network.participant(a).builtin(BuiltinPairTopic::Publications).writer().history_len();
    assert!(history <= 16, "{history} changes kept for one writer");
    assert_eq!(network.participant(b).matching().writers().count(), 1);
    let late = network.start(config(3));
    network.run_for(Duration::from_millis(200));
    assert_eq!(network.participant(late).matching().writers().count(), 1);
}

#[test]
fn withdrawn_endpoints_free_space() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let mut small = config(2);
    small.limits.endpoints_max = 8;
    let b = network.start(small);
    network.run_for(Duration::from_millis(200));
    for round in 0..100 {
        network.with(a, |participant, now| participant.add_writer(now, writer(round, DataWriterQos::default())));
        network.run_for(Duration::from_millis(3));
        assert_eq!(network.participant(b).matching().writers().count(), 1, "round {round}");
        network.with(a, |participant, now| participant.remove_writer(now, writer_id(round)));
        network.run_for(Duration::from_millis(3));
    }
    assert_eq!(network.participant(b).matching().writers().count(), 0);
}

#[test]
fn endpoints_beyond_shared_bound_are_rejected() {
    let mut network = Network::new();
    let (a, c) = (network.start(config(1)), network.start(config(3)));
    let mut small = config(2);
    small.limits.endpoints_max = 8;
    let b = network.start(small);
    network.run_for(Duration::from_millis(200));
    for number in 1..=8 {
        network.with(a, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
    }
    network.run_for(Duration::from_millis(200));
    let seen = |network: &Network| {
        let participant = network.participant(b);
        let of_c = participant.matching().writers().any(|writer| name(writer.data.endpoint.guid) == "03/9");
        (participant.matching().writers().count(), of_c, participant.counters().endpoints_rejected)
    };
    assert_eq!(seen(&network), (8, false, 0));
    // The bound applies to all participants together.
    network.with(c, |participant, now| participant.add_writer(now, writer(9, DataWriterQos::default())));
    network.run_for(Duration::from_secs(1));
    assert_eq!(seen(&network), (8, false, 1));
    // There is space again for the next endpoint of any participant.
    network.with(a, |participant, now| participant.remove_writer(now, writer_id(4)));
    network.run_for(Duration::from_secs(1));
    assert_eq!(seen(&network), (7, false, 1));
    network.with(c, |participant, now| participant.add_writer(now, writer(9, DataWriterQos::default().user_data([1]))));
    network.run_for(Duration::from_secs(1));
    assert_eq!(seen(&network), (8, true, 1));
}

#[test]
fn excess_endpoints_are_refused_and_counted() {
    let mut network = Network::new();
    let mut small = config(1);
    small.limits.endpoints_per_participant_max = 3;
    let a = network.start(small);
    let b = network.start(config(2));
    for number in 1..=5 {
        network.with(b, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
    }
    network.run_for(Duration::from_millis(500));
    assert_eq!(network.participant(a).matching().writers().count(), 3);
    assert_eq!(network.participant(a).counters().endpoints_refused, 2);
    network.with(b, |participant, now| participant.remove_writer(now, writer_id(1)));
    network.with(b, |participant, now| participant.add_writer(now, writer(9, DataWriterQos::default())));
    network.run_for(Duration::from_millis(500));
    let names: Vec<String> =
        network.participant(a).matching().writers().map(|writer| name(writer.data.endpoint.guid)).collect();
    assert_eq!(names, ["02/2", "02/3", "02/9"]);
}

#[test]
fn ignored_endpoint_stays_unmatched() {
    let (mut network, a, b) = acquainted();
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    network.with(b, |participant, now| participant.add_reader(now, reader(2, DataReaderQos::default())));
    network.run_for(Duration::from_millis(50));
    network.events(b);
    network.with(b, |participant, now| participant.ignore_endpoint(now, Guid::new(prefix(1), writer_id(1))));
    assert_eq!(told(&network.events(b)), ["no writer 01/1"]);
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default().user_data([1]))));
    network.run_for(Duration::from_millis(50));
    assert!(network.events(b).is_empty());
}

#[test]
fn automatic_liveliness_runs_at_half_lease() {
    let (mut network, a, b) = acquainted();
    let lease = Liveliness::automatic(Duration::from_millis(400));
    network
        .with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default().liveliness(lease))));
    network.run_for(Duration::from_millis(2_010));
    let asserted = told(&network.events(b)).iter().filter(|event| *event == "alive 01 Automatic").count();
    assert!((10..=11).contains(&asserted), "{asserted}");
    network.with(a, |participant, now| participant.remove_writer(now, writer_id(1)));
    network.run_for(Duration::from_millis(10));
    network.events(b);
    network.run_for(Duration::from_secs(2));
    assert!(network.events(b).is_empty());
}

#[test]
fn largest_announcement_arrives_in_fragments() {
    let (mut network, a, b) = acquainted();
    let octets = vec![7; dds_rtps::qos::USER_DATA_MAX];
    let mut large = writer(1, DataWriterQos::default().user_data(octets.clone()));
    large.endpoint.topic_data = octets.clone();
    large.endpoint.group_data = octets;
    // Each name costs its length and 8 bytes, so 31 names of 255 bytes fill the bound of 8192.
    large.endpoint.partition = (0..31).map(|number| format!("{number:0255}")).collect();
    let mut expected = large.clone();
    expected.endpoint.guid.prefix = prefix(1);
    // Every tenth datagram is lost.
    network.loses = Box::new(|number, _| number % 10 == 0);
    network.with(a, |participant, now| participant.add_writer(now, large));
    network.run_for(Duration::from_secs(1));
    let found = network.participant(b).matching().writers().next().map(|writer| writer.data.clone());
    assert_eq!(found, Some(expected));
}

/// A best-effort reader gets no repairs, so samples sent before it knows the writer are lost.
#[test]
fn event_when_best_effort_reader_knows_writer() {
    let (mut network, a, b) = acquainted();
    let best_effort = DataReaderQos::default().best_effort();
    network.with(b, |participant, now| participant.add_reader(now, reader(2, best_effort.clone())));
    network.with(b, |participant, now| participant.add_reader(now, reader(3, DataReaderQos::default().reliable())));
    network.run_for(Duration::from_millis(500));
    // The writer matches at once. No announcement of it arrives for a while.
    network.loses = Box::new(|_, _| true);
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    assert_eq!(told(&network.events(a)), ["reader 02/2", "reader 02/3"]);
    network.run_for(Duration::from_millis(400));
    assert_eq!(network.known(a), []);
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(10));
    let theirs = |number| Guid::new(prefix(2), reader_id(number));
    assert_eq!(network.known(a), [(writer_id(1), theirs(2))]);
    // If the peer knew the writer before, a new reader of it causes the event at once.
    network.with(b, |participant, now| participant.add_reader(now, reader(4, best_effort)));
    network.run_for(Duration::from_millis(1));
    assert_eq!(told(&network.events(a)), ["reader 02/4"]);
    assert_eq!(network.known(a), [(writer_id(1), theirs(4))]);
}
