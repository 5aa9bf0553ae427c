//! Participants discover each other.

use super::network::{Network, address, answer_to, change_vendor, config, prefix};
use super::{reader, told, writer};
use dds_rtps::discovery::{BuiltinPairTopic, HostAddress};
use dds_rtps::participant::ParticipantLocators;
use dds_rtps::qos::{DataReaderQos, DataWriterQos, LivelinessKind};
use dds_rtps::types::{Duration, EntityId, Locator, PortMapping};
use dds_rtps::wire::{Message, Submessage};
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn two_participants_discover_each_other_at_once() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_millis(1_500));
    assert!(told(&network.events(a)).is_empty());
    let b = network.start(config(2));
    // One path for the announcement, one for the answer.
    network.run_for(Duration::from_millis(2));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert_eq!(told(&network.events(b)), ["found 01"]);
}

#[test]
fn lost_first_announcement_costs_100_ms() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_millis(500));
    network.loses = Box::new(|_, _| true);
    let b = network.start(config(2));
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_millis(99));
    assert!(network.events(b).is_empty());
    network.run_for(Duration::from_millis(3));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert_eq!(told(&network.events(b)), ["found 01"]);
}

#[test]
fn repeated_announcements_cause_no_events() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.start(config(2));
    network.run_for(Duration::from_secs(1));
    assert_eq!(network.events(a).len(), 1);
    let before = network.sent();
    network.run_for(Duration::from_secs(60));
    assert!(network.events(a).is_empty());
    let sent = network.sent() - before;
    // Each of two participants sends once in 3 s, and nothing else is sent.
    assert!((34..=46).contains(&sent), "{sent}");
}

#[test]
fn peer_without_multicast_is_found_by_port() {
    let alone = |number| {
        let mut config = config(number);
        config.metatraffic_multicast.clear();
        config.announce_to.clear();
        config
    };
    let mut network = Network::new();
    let a = network.start(alone(1));
    let mut seeking = alone(2);
    seeking.announce_to = PortMapping::default().participants_on(address(1).into(), 0, 5).collect();
    let b = network.start(seeking);
    network.run_for(Duration::from_millis(10));
    // Participant a sends only its answer.
    assert_eq!(told(&network.events(b)), ["found 01"]);
    assert_eq!(told(&network.events(a)), ["found 02"]);
}

/// The multicast announcements of a participant do not reach a peer without multicast.
#[test]
fn lost_answer_to_peer_without_multicast_is_repeated() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_millis(500));
    let mut seeking = config(2);
    seeking.metatraffic_multicast.clear();
    seeking.announce_to = PortMapping::default().participants_on(address(1).into(), 0, 5).collect();
    network.loses = Box::new(|_, bytes| bytes[8..20] == prefix(1).0);
    let b = network.start(seeking);
    network.run_for(Duration::from_millis(50));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert!(network.events(b).is_empty());
    network.loses = Box::new(|_, _| false);
    // The second announcement of the peer is answered again.
    network.run_for(Duration::from_millis(60));
    assert_eq!(told(&network.events(b)), ["found 01"]);
}

fn is_announcement(bytes: &[u8]) -> bool {
    Message::parse(bytes).unwrap().submessages().flatten().any(|submessage| match submessage {
        Submessage::Data(data) => data.writer_id == EntityId::SPDP_WRITER,
        _ => false,
    })
}

#[test]
fn repeated_announcements_are_answered_once_per_period() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_millis(500));
    let mut seeking = config(2);
    seeking.metatraffic_multicast.clear();
    // None of the addresses is in a network of the participant.
    seeking.metatraffic_unicast = (1..=8).map(|host| Locator::udp_v4([10, 9, 9, host].into(), 7410)).collect();
    seeking.announce_to = vec![Locator::udp_v4(address(1).into(), 7410)];
    seeking.announcement_period = Duration::from_millis(50);
    let answers = Rc::new(Cell::new(0));
    let counted = Rc::clone(&answers);
    network.loses = Box::new(move |_, bytes| {
        let is_lost = bytes[8..20] == prefix(1).0;
        counted.set(counted.get() + u32::from(is_lost && is_announcement(bytes)));
        is_lost
    });
    network.start(seeking);
    network.run_for(Duration::from_secs(2));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    // The participant answers the first announcement at all locators, and a single repetition at the first two.
    assert_eq!(answers.get(), 8 + 2);
}

/// A transform of messages makes each datagram longer.
#[test]
fn endpoint_announcements_keep_headroom() {
    let longest = |headroom| {
        let mut network = Network::new();
        let longest = Rc::new(Cell::new(0));
        let noted = Rc::clone(&longest);
        network.loses = Box::new(move |_, bytes| {
            noted.set(noted.get().max(bytes.len()));
            false
        });
        let mut talking = config(1);
        talking.headroom.bytes = headroom;
        let a = network.start(talking);
        for number in 1..=30 {
            // Every third announcement needs fragments.
            let data = vec![7; if number % 3 == 0 { 3_000 } else { 50 }];
            let writer = writer(number, DataWriterQos::default().user_data(data));
            network.with(a, |participant, now| participant.add_writer(now, writer));
        }
        let b = network.start(config(2));
        network.with(b, |participant, now| participant.add_reader(now, reader(1, DataReaderQos::default())));
        network.run_for(Duration::from_secs(5));
        assert_eq!(told(&network.events(b)).iter().filter(|event| event.starts_with("writer")).count(), 30);
        longest.get()
    };
    let without = longest(0);
    assert!(without > 1_472 - 200, "{without}");
    let with = longest(200);
    assert!(with <= 1_472 - 200, "{with}");
}

#[test]
fn other_domains_and_tags_are_ignored() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let mut other_domain = config(2);
    other_domain.domain_id = 7;
    network.start(other_domain);
    let mut tagged = config(3);
    tagged.domain_tag = "lab".to_owned();
    let c = network.start(tagged.clone());
    tagged.prefix = prefix(4);
    network.start(tagged);
    network.run_for(Duration::from_secs(4));
    assert!(network.events(a).is_empty());
    assert_eq!(told(&network.events(c)), ["found 04"]);
    assert!(network.participant(a).counters().other_domain > 0);
}

#[test]
fn own_announcements_are_ignored() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_secs(4));
    assert!(network.events(a).is_empty());
    assert!(network.participant(a).counters().own >= 3);
}

#[test]
fn changed_user_data_is_reported() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.events(a);
    network.with(b, |participant, now| participant.set_user_data(now, vec![1, 2, 3]));
    network.run_for(Duration::from_millis(5));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert_eq!(network.participant(a).participants().next().unwrap().user_data, [1, 2, 3]);
}

#[test]
fn excess_participants_are_refused_and_counted() {
    let mut network = Network::new();
    let mut small = config(1);
    small.limits.participants_max = 2;
    let a = network.start(small);
    for number in 2..=5 {
        network.start(config(number));
    }
    network.run_for(Duration::from_secs(1));
    let told = told(&network.events(a));
    let [found, lost] = ["found", "lost"].map(|word| told.iter().filter(|event| event.starts_with(word)).count());
    assert_eq!(found - lost, 2, "{told:?}");
    // Until the addresses of two are valid, the others take their places.
    let counters = network.participant(a).counters();
    assert!(counters.participants_refused > 0 && counters.participants_displaced as usize == lost, "{counters:?}");
    assert_eq!(network.participant(a).participants().count(), 2);
}

#[test]
fn ignored_participant_is_lost_and_stays_ignored() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.events(a);
    network.with(a, |participant, now| participant.ignore_participant(now, prefix(2)));
    network.run_for(Duration::from_secs(10));
    assert_eq!(told(&network.events(a)), ["lost 02 Ignored"]);
}

#[test]
fn peer_on_same_host_is_reached_by_loopback() {
    let on_one_host = |number: u8| {
        let mut config = config(number);
        let port = 7410 + 10 * u16::from(number);
        config.metatraffic_unicast =
            [address(9), [127, 0, 0, 1]].map(|address| Locator::udp_v4(address.into(), port)).to_vec();
        config.host_addresses = vec![HostAddress { address: address(9).into(), prefix_len: 24 }];
        config.default_unicast.clear();
        config
    };
    let mut network = Network::new();
    let a = network.start(on_one_host(1));
    network.start(on_one_host(2));
    network.run_for(Duration::from_millis(10));
    let route = network.participant(a).route(prefix(2)).unwrap();
    assert!(route.same_host);
    assert_eq!(route.unicast.to_vec(), [Locator::udp_v4([127, 0, 0, 1].into(), 7430)]);
}

fn locators(host: [u8; 4], announce_to: Vec<Locator>) -> ParticipantLocators {
    ParticipantLocators {
        metatraffic_unicast: vec![Locator::udp_v4(host.into(), 7410)],
        metatraffic_multicast: Vec::new(),
        default_unicast: vec![Locator::udp_v4(host.into(), 7411)],
        announce_to,
        host_addresses: vec![HostAddress { address: host.into(), prefix_len: 24 }],
    }
}

#[test]
fn moved_participant_is_reached_at_new_address() {
    // Without multicast, only known participants receive the announcement.
    let group = PortMapping::default().discovery_group(0).unwrap();
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.events(a);
    network.move_to(b, locators([10, 7, 7, 2], Vec::new()));
    // Any host may have sent the announcement, so the old address gets time to answer.
    network.run_for(Duration::from_millis(1_900));
    assert!(network.events(a).is_empty());
    network.run_for(Duration::from_millis(200));
    assert_eq!(told(&network.events(a)), ["found 02"]);
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast[0].to_string(), "udp/10.7.7.2:7410");
    assert_eq!(network.participant(b).participants().count(), 1);
    // With multicast again, the other participants also discover it soon.
    let mut back = locators([10, 0, 0, 2], vec![group]);
    back.metatraffic_multicast = vec![group];
    network.move_to(b, back);
    let c = network.start(config(3));
    network.run_for(Duration::from_millis(150));
    assert_eq!(network.participant(c).participants().count(), 2);
}

#[test]
fn participant_that_moves_on_before_it_answers_is_reached() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    let group = config(2).announce_to;
    // At the second address nothing arrives.
    network.move_to(b, locators([10, 7, 7, 2], group.clone()));
    network.lose_assertions();
    network.run_for(Duration::from_secs(3));
    network.move_to(b, locators([10, 8, 8, 2], group));
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(30));
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast[0].to_string(), "udp/10.8.8.2:7410");
}

/// A robot changes its network, and all its participants change their addresses at once.
#[test]
fn participants_that_move_together_reach_each_other() {
    let group = PortMapping::default().discovery_group(0).unwrap();
    let mut network = Network::new();
    let start = |network: &mut Network, number| {
        let mut config = config(number);
        (config.metatraffic_multicast, config.announce_to) = (vec![group], vec![group]);
        network.start(config)
    };
    let (a, b) = (start(&mut network, 1), start(&mut network, 2));
    network.run_for(Duration::from_secs(5));
    for (index, number) in [(a, 1), (b, 2)] {
        let moved = locators([10, 7, 7, number], vec![group]);
        network.move_to(index, ParticipantLocators { metatraffic_multicast: vec![group], ..moved });
    }
    network.run_for(Duration::from_secs(10));
    let reached = |at, other| network.participant(at).route(prefix(other)).unwrap().unicast[0].to_string();
    assert_eq!((reached(a, 2), reached(b, 1)), ("udp/10.7.7.2:7410".into(), "udp/10.7.7.1:7410".into()));
}

/// A robot gets its address after its start. The network drops multicast, and only the station names the robot.
#[test]
fn participant_that_gets_its_address_after_its_start_is_found_without_multicast() {
    let group = PortMapping::default().discovery_group(0).unwrap();
    let loopback = Locator::udp_v4([127, 0, 0, 1].into(), 7410);
    let first = Locator::udp_v4(address(2).into(), 7410);
    // If the answer to the next announcement of the station is lost, a later one is answered.
    for (loses_first_answer, within) in [(false, Duration::from_secs(4)), (true, Duration::from_secs(16))] {
        let mut network = Network::new();
        let mut station = config(1);
        station.announce_to = vec![first];
        let mut robot = config(2);
        robot.metatraffic_unicast = vec![loopback];
        robot.host_addresses.clear();
        let (a, b) = (network.start(station), network.start(robot));
        network.cut(a, group);
        network.cut(b, group);
        network.cut(b, loopback);
        network.mend(b, first);
        network.run_for(Duration::from_secs(2));
        assert!(network.participant(a).route(prefix(2)).unwrap().unicast.is_empty());
        let moved = locators(address(2), vec![group]);
        network.move_to(b, ParticipantLocators { metatraffic_multicast: vec![group], ..moved });
        network.cut(b, group);
        if loses_first_answer {
            let from_robot = |bytes: &[u8]| Message::parse(bytes).unwrap().header.prefix == prefix(2);
            network.loses = Box::new(move |_, bytes| from_robot(bytes));
            network.run_for(Duration::from_secs(4));
            network.loses = Box::new(|_, _| false);
        }
        network.run_for(within);
        for (at, other) in [(a, 2), (b, 1)] {
            let expected = Locator::udp_v4(address(other).into(), 7410);
            let route = network.participant(at).route(prefix(other)).unwrap();
            assert_eq!(route.unicast.to_vec(), [expected], "{at}");
        }
    }
}

#[test]
fn moved_participant_that_answers_late_is_reached() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.move_to(b, locators([10, 7, 7, 2], config(2).announce_to));
    network.lose_assertions();
    network.run_for(Duration::from_secs(60));
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(30));
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast[0].to_string(), "udp/10.7.7.2:7410");
}

/// Counts the challenges to new peers in ten seconds that do not use the topic of assertions.
fn challenges_of_other_topics(network: &mut Network) -> usize {
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    network.loses = Box::new(move |_, bytes| {
        let submessages = Message::parse(bytes).unwrap();
        let is_challenge = submessages.submessages().flatten().any(|submessage| match submessage {
            Submessage::Heartbeat(heartbeat) => heartbeat.first_sn.0 > 1 && heartbeat.first_sn.0 < 3_072,
            _ => false,
        });
        let is_of_assertions = bytes.windows(4).any(|id| id == EntityId::PARTICIPANT_MESSAGE_WRITER.0);
        counted.set(counted.get() + usize::from(is_challenge && !is_of_assertions));
        is_of_assertions
    });
    network.start(config(1));
    network.start(config(2));
    network.run_for(Duration::from_secs(10));
    count.get()
}

/// On a busy host, the answer to a challenge of the first topic may still come.
#[test]
fn silent_peer_of_this_vendor_is_challenged_on_one_topic() {
    let mut network = Network::new();
    assert_eq!(challenges_of_other_topics(&mut network), 0);
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(5));
    assert_eq!(told(&network.events(0)), ["found 02"]);
    assert!(!network.participant(0).route(prefix(2)).unwrap().is_unverified);
    let mut network = Network::new();
    network.alters = change_vendor;
    assert!(challenges_of_other_topics(&mut network) > 0);
}

#[test]
fn peer_is_reached_by_remaining_interface() {
    let mut network = Network::new();
    let mut both = config(1);
    let second = HostAddress { address: [10, 9, 0, 1].into(), prefix_len: 24 };
    both.host_addresses.push(second);
    let a = network.start(both.clone());
    let mut peer = config(2);
    peer.metatraffic_unicast.push(Locator::udp_v4([10, 9, 0, 2].into(), 7410));
    network.start(peer);
    network.run_for(Duration::from_millis(50));
    let reached = |network: &Network| {
        network.participant(a).route(prefix(2)).unwrap().unicast.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(reached(&network), ["udp/10.0.0.2:7410"]);
    let left = ParticipantLocators { host_addresses: vec![second], ..locators([10, 9, 0, 1], both.announce_to) };
    network.move_to(a, left);
    // At once: the peer may have lost its path to this participant, too, so no answer would arrive here.
    assert_eq!(reached(&network), ["udp/10.9.0.2:7410"]);
}

/// The locators of a participant on two networks.
fn two_locators(number: u8) -> [Locator; 2] {
    [[10, 0, 0, number], [10, 9, 0, number]].map(|host| Locator::udp_v4(host.into(), 7410))
}

/// Starts two participants that share two networks, and waits until both are at rest.
fn on_two_networks(mut network: Network) -> (Network, usize, usize) {
    let mut start = |number| {
        let mut both = config(number);
        both.metatraffic_unicast = two_locators(number).to_vec();
        both.host_addresses.push(HostAddress { address: [10, 9, 0, number].into(), prefix_len: 24 });
        network.start(both)
    };
    let (a, b) = (start(1), start(2));
    network.run_for(Duration::from_secs(60));
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast.to_vec(), two_locators(2)[..1]);
    (network, a, b)
}

/// A switch fails behind which the peer has its first address. Its announcements arrive from the other one.
#[test]
fn peer_is_reached_by_its_other_path_while_interfaces_stay() {
    // A reader of assertions of another vendor may be best effort.
    let best_effort = |bytes: &[u8]| bytes.windows(4).any(|id| id == EntityId::PARTICIPANT_MESSAGE_WRITER.0);
    for is_other_vendor in [false, true] {
        let mut network = Network::new();
        if is_other_vendor {
            network.alters = change_vendor;
            network.loses = Box::new(move |_, bytes| best_effort(bytes));
        }
        let (mut network, a, b) = on_two_networks(network);
        let reached = |network: &Network| network.participant(a).route(prefix(2)).unwrap().unicast.to_vec();
        let [first, second] = two_locators(2);
        network.cut(b, first);
        network.run_for(Duration::from_secs(30));
        assert_eq!(reached(&network), [second]);
        // What changes now arrives, and does not lead back.
        network.events(b);
        network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
        network.with(b, |participant, now| participant.add_reader(now, reader(1, DataReaderQos::default())));
        network.with(b, |participant, now| participant.set_user_data(now, vec![7]));
        network.run_for(Duration::from_secs(5));
        assert_eq!(told(&network.events(b)), ["writer 01/1"]);
        assert_eq!(network.participant(a).participants().next().unwrap().user_data, [7]);
        assert_eq!(reached(&network), [second]);
        network.mend(b, first);
        network.cut(b, second);
        network.run_for(Duration::from_secs(30));
        assert_eq!(reached(&network), [first]);
    }
}

/// The peer gives up its other locator while that is challenged. A late answer must not count.
#[test]
fn locator_that_is_no_longer_announced_is_not_used() {
    let (mut network, a, b) = on_two_networks(Network::new());
    let [first, second] = two_locators(2);
    network.cut(b, first);
    // Announcements arrive, and all answers get lost.
    network.loses =
        Box::new(|_, bytes| bytes.get(10) == Some(&2) && !bytes.windows(4).any(|id| id == EntityId::SPDP_WRITER.0));
    network.run_for(Duration::from_secs(30));
    for _ in 0..2 {
        network.answer_challenge_at(a, prefix(2), second);
        network.run_for(Duration::from_millis(100));
    }
    let last_challenge = network.heartbeat_at(second).unwrap();
    let group = config(2).announce_to;
    let mut alone = locators([10, 0, 0, 2], group.clone());
    alone.metatraffic_multicast = group;
    alone.host_addresses.push(HostAddress { address: [10, 9, 0, 2].into(), prefix_len: 24 });
    network.move_to(b, alone);
    network.run_for(Duration::from_secs(5));
    network.deliver(a, &answer_to(&last_challenge, prefix(2)));
    network.run_for(Duration::from_secs(5));
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast.to_vec(), [first]);
}

/// The path in use falls silent and lives again before another locator has answered.
#[test]
fn path_that_lives_again_is_not_replaced() {
    let (mut network, a, b) = on_two_networks(Network::new());
    let [first, second] = two_locators(2);
    network.cut(b, first);
    // Announcements arrive, and all answers get lost.
    network.loses =
        Box::new(|_, bytes| bytes.get(10) == Some(&2) && !bytes.windows(4).any(|id| id == EntityId::SPDP_WRITER.0));
    network.run_for(Duration::from_secs(30));
    for _ in 0..2 {
        network.answer_challenge_at(a, prefix(2), second);
        network.run_for(Duration::from_millis(100));
    }
    let last_challenge = network.heartbeat_at(second).unwrap();
    network.mend(b, first);
    network.run_for(Duration::from_secs(10));
    network.deliver(a, &answer_to(&last_challenge, prefix(2)));
    network.run_for(Duration::from_secs(5));
    let reached = |network: &Network| network.participant(a).route(prefix(2)).unwrap().unicast.to_vec();
    assert_eq!(reached(&network), [first]);
    // If it dies later, all locators are challenged again.
    network.loses = Box::new(|_, _| false);
    network.run_for(Duration::from_secs(30));
    network.cut(b, first);
    network.run_for(Duration::from_secs(30));
    assert_eq!(reached(&network), [second]);
}

#[test]
fn paths_to_a_peer_cost_few_datagrams() {
    let sent_in_100_s = |network: &mut Network| {
        let before = network.sent();
        network.run_for(Duration::from_secs(100));
        network.sent() - before
    };
    // Announcements come from the address in use, so there is no question.
    let (mut network, _, b) = on_two_networks(Network::new());
    let announcements = sent_in_100_s(&mut network);
    // They come from the other one: each side asks and answers each ten seconds.
    let [first, second] = two_locators(2);
    network.cut(b, second);
    network.mend(b, second);
    let with_questions = sent_in_100_s(&mut network);
    assert!((announcements + 10..=announcements + 20).contains(&with_questions), "{announcements}, {with_questions}");
    // Nothing reaches the peer any more, and its announcements go on.
    network.cut(b, first);
    network.cut(b, second);
    network.run_for(Duration::from_secs(100));
    let without_path = sent_in_100_s(&mut network);
    assert!(without_path <= announcements + 60, "{announcements}, {without_path}");
}

#[test]
fn twenty_participants_all_find_each_other() {
    let mut network = Network::new();
    let all: Vec<usize> = (1..=20).map(|number| network.start(config(number))).collect();
    network.run_for(Duration::from_millis(300));
    for index in all {
        assert_eq!(network.participant(index).participants().count(), 19);
    }
}

#[test]
fn liveliness_assertion_reaches_all_peers() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let b = network.start(config(2));
    network.run_for(Duration::from_millis(500));
    network.events(b);
    network.with(a, |participant, now| participant.assert_liveliness(now, LivelinessKind::ManualByParticipant));
    network.run_for(Duration::from_millis(5));
    assert_eq!(told(&network.events(b)), ["alive 01 ManualByParticipant"]);
    let messages = network.participant(a).builtin(BuiltinPairTopic::Messages).writer();
    assert_eq!(messages.counters().written, 1);
}
