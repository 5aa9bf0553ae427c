//! Invalid input of peers, and runs that a seed determines.

use super::network::{Network, address, answer_to, config, prefix};
use super::{reader, told, writer, writer_id};
use crate::support::{CAPTURES, capture};
use dds_rtps::discovery::data::ParticipantData;
use dds_rtps::discovery::{BuiltinPairTopic, HostAddress};
use dds_rtps::output::Datagram;
use dds_rtps::participant::{Participant, ParticipantLocators};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, HashSeed, Locator, LocatorKind, SequenceNumber, VendorId};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// The generator of Numerical Recipes: its upper half is random enough and equal on all machines.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

#[test]
fn damaged_datagrams_are_only_counted() {
    let mut state = 0x0dd5;
    let mut network = Network::new();
    let a = network.start(config(1));
    network.with(a, |participant, now| {
        participant.add_writer(now, writer(1, DataWriterQos::default()));
        participant.add_reader(now, reader(2, DataReaderQos::default()));
    });
    for name in CAPTURES {
        for packet in capture(name).iter().filter(|packet| packet.payload.len() < 1_500).take(60) {
            for _ in 0..20 {
                let mut bytes = packet.payload.clone();
                for _ in 0..random(&mut state, 4) {
                    let at = random(&mut state, bytes.len());
                    bytes[at] = [0, 0xff, bytes[at] ^ 1, 0x7f][random(&mut state, 4)];
                }
                network.deliver(a, &bytes);
            }
        }
        network.run_for(Duration::from_secs(1));
        network.events(a);
    }
    // All invented entries expire with their lease, unless the lease was invented too.
    let counters = network.participant(a).counters();
    assert!(counters.malformed_participants > 0 && counters.foreign > 0, "{counters:?}");
}

#[test]
fn flood_of_participants_is_bounded() {
    let mut network = Network::new();
    let mut small = config(1);
    small.limits.participants_max = 50;
    let a = network.start(small);
    for number in 0..200_u8 {
        let prefix = GuidPrefix::new(VendorId::CYCLONE, [number; 10]);
        network.deliver(a, &announcement(prefix, |_| {}));
    }
    assert_eq!(network.participant(a).participants().count(), 50);
    // None has answered, so each of the others took the place of one.
    let counters = network.participant(a).counters();
    assert_eq!((counters.participants_displaced, counters.participants_refused), (150, 0));
    // After one lease all of them are gone and there is space for others.
    network.run_for(Duration::from_secs(21));
    assert_eq!(network.participant(a).participants().count(), 0);
    network.deliver(a, &announcement(prefix(7), |_| {}));
    assert_eq!(network.participant(a).participants().count(), 1);
}

#[test]
fn flood_of_participants_displaces_none_that_has_answered() {
    let mut network = Network::new();
    let mut small = config(1);
    small.limits.participants_max = 50;
    let a = network.start(small);
    let ghost = |number: u8| GuidPrefix::new(VendorId::CYCLONE, [number; 10]);
    (0..200).for_each(|number| network.deliver(a, &announcement(ghost(number), |_| {})));
    // Ten others come between the forged ones, and stay.
    for number in 0..10 {
        network.deliver(a, &announcement(ghost(200 + number), |_| {}));
        network.answer_challenge(a, ghost(200 + number));
        (0..200).for_each(|number| network.deliver(a, &announcement(ghost(number), |_| {})));
    }
    let known: BTreeSet<_> = network.participant(a).participants().map(|data| data.prefix).collect();
    assert_eq!(known.len(), 50);
    (200..210).for_each(|number| assert!(known.contains(&ghost(number)), "{number}"));
}

#[test]
fn unresponsive_peer_is_dropped_despite_lease() {
    let mut network = Network::new();
    let a = network.start(config(1));
    for number in [1, 2] {
        let prefix = GuidPrefix::new(VendorId::CYCLONE, [number; 10]);
        network.deliver(a, &announcement(prefix, |data| data.lease_duration = Duration::INFINITE));
        if number == 2 {
            network.answer_challenge(a, prefix);
        }
    }
    network.run_for(Duration::from_secs(99));
    assert_eq!(network.participant(a).participants().count(), 2);
    network.run_for(Duration::from_secs(1_000));
    assert_eq!(network.participant(a).participants().count(), 1);
    let before = network.sent();
    network.run_for(Duration::from_secs(1_000));
    println!("{} datagrams in 1000 s to one that has answered once", network.sent() - before);
}

#[test]
fn silent_participants_are_evicted_for_others() {
    let mut network = Network::new();
    let mut small = config(1);
    small.limits.participants_max = 3;
    let a = network.start(small);
    let ghost = |number: u8| {
        let prefix = GuidPrefix::new(VendorId::CYCLONE, [number; 10]);
        announcement(prefix, |data| data.lease_duration = Duration::INFINITE)
    };
    for number in 1..=3 {
        network.deliver(a, &ghost(number));
        network.answer_challenge(a, GuidPrefix::new(VendorId::CYCLONE, [number; 10]));
    }
    network.run_for(Duration::from_secs(60));
    network.with(a, |participant, now| {
        participant.handle_traffic(now, GuidPrefix::new(VendorId::CYCLONE, [1; 10]));
    });
    network.run_for(Duration::from_secs(39));
    network.events(a);
    network.deliver(a, &ghost(4));
    assert_eq!(network.participant(a).counters().participants_refused, 1);
    network.run_for(Duration::from_secs(1));
    for number in 4..=6 {
        network.deliver(a, &ghost(number));
        // Otherwise the next one takes its place.
        if number < 6 {
            network.answer_challenge(a, GuidPrefix::new(VendorId::CYCLONE, [number; 10]));
        }
    }
    assert_eq!(told(&network.events(a)), ["lost 02 Displaced", "found 04", "lost 03 Displaced", "found 05"]);
    let counters = network.participant(a).counters();
    assert_eq!((counters.participants_displaced, counters.participants_refused), (2, 2));
}

#[test]
fn unknown_locator_kinds_are_ignored() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let usable = Locator::udp_v4(address(7).into(), 7410);
    let odd = [
        Locator { kind: LocatorKind::Other(16), ..usable },
        Locator { kind: LocatorKind::Other(i32::MIN), ..usable },
        Locator { kind: LocatorKind::Invalid, ..usable },
        Locator { kind: LocatorKind::Reserved, ..usable },
        Locator { port: 0, ..usable },
        Locator { port: 70_000, ..usable },
        Locator { port: u32::MAX, ..usable },
    ];
    let announced = announcement(prefix(7), |data| {
        data.metatraffic_unicast = [&odd[..], &[usable], &odd[..]].concat();
        data.metatraffic_multicast.extend(odd);
        data.default_unicast.extend(odd);
    });
    network.deliver(a, &announced);
    assert_eq!(told(&network.events(a)), ["found 07"]);
    let route = network.participant(a).route(prefix(7)).unwrap();
    assert_eq!(route.unicast[..], [usable]);
    assert!(route.multicast.iter().all(|locator| locator.to_socket_addr().is_some()));
}

#[test]
fn only_existing_builtin_endpoints_are_matched() {
    let mut network = Network::new();
    let a = network.start(config(1));
    // The announcement of Zenzen DDS: no endpoints for participant messages.
    let without_messages = announcement(prefix(7), |data| data.builtin_endpoints.0 = 0x3f);
    network.deliver(a, &without_messages);
    let remote_readers = |network: &Network, topic| network.participant(a).builtin(topic).writer().remote_readers();
    assert_eq!(remote_readers(&network, BuiltinPairTopic::Subscriptions), 1);
    assert_eq!(remote_readers(&network, BuiltinPairTopic::Messages), 0);
    // Without messages, three challenges come from the writer of publications.
    for _ in 0..3 {
        assert_eq!(remote_readers(&network, BuiltinPairTopic::Publications), 0);
        network.answer_challenge_of(a, prefix(7), EntityId::SEDP_PUBLICATIONS_WRITER);
    }
    assert_eq!(remote_readers(&network, BuiltinPairTopic::Publications), 1);
    // A participant can change its builtin endpoints.
    network.deliver(a, &announcement(prefix(7), |data| data.builtin_endpoints.0 = 0xc03));
    assert_eq!(remote_readers(&network, BuiltinPairTopic::Publications), 0);
    assert_eq!(remote_readers(&network, BuiltinPairTopic::Messages), 1);
}

/// Each move needs a challenge that the peer answers, after which it ignores the earlier announcements.
#[test]
fn peer_that_moves_on_and_on_draws_few_repetitions() {
    let mut network = Network::new();
    let [a, b] = [1, 2].map(|number| network.start(config(number)));
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    // Without messages, the challenges come from the writer of publications.
    let at = |host: u8| {
        announcement(prefix(7), |data| {
            data.builtin_endpoints.0 = 0x3f;
            data.metatraffic_unicast = vec![Locator::udp_v4([10, 0, 0, host].into(), 7410)];
        })
    };
    // Each repetition has a number of its own.
    let announced = Rc::new(RefCell::new(BTreeSet::new()));
    let noted = Rc::clone(&announced);
    network.loses = Box::new(move |_, bytes| {
        if bytes[8..20] == prefix(1).0 {
            noted.borrow_mut().extend(publications(bytes));
        }
        false
    });
    // Until its first address is valid, another one needs no move.
    network.deliver(a, &at(50));
    for _ in 0..5 {
        network.run_for(Duration::from_millis(100));
        network.answer_challenge_of(a, prefix(7), EntityId::SEDP_PUBLICATIONS_WRITER);
    }
    assert_eq!(network.participant(a).builtin(BuiltinPairTopic::Publications).writer().remote_readers(), 2);
    network.run_for(Duration::from_secs(1));
    let (first, begun) = (announced.take().len(), network.now.instant);
    for host in 51..150 {
        let address = Locator::udp_v4([10, 0, 0, host].into(), 7410);
        // An answer to another HEARTBEAT counts as a guess. The announcement brings the next challenge.
        let moves = (0..1_000).any(|round| {
            if round % 100 == 0 {
                network.deliver(a, &at(host));
            }
            network.run_for(Duration::from_millis(2));
            network.answer_challenge_of(a, prefix(7), EntityId::SEDP_PUBLICATIONS_WRITER);
            network.participant(a).route(prefix(7)).unwrap().unicast[0] == address
        });
        assert!(moves, "it stays where it was before {address}");
    }
    let seconds = network.now.instant.since(begun).as_nanos() / 1_000_000_000;
    network.run_for(Duration::from_secs(5));
    let repeated = announced.take().len() as i64;
    println!("{first} announcements at first, {repeated} in {seconds} s of moves");
    // Eight at once, one in each second of the moves, and the last one.
    assert!((1..=10 + seconds).contains(&repeated), "{repeated} repetitions in {seconds} s");
    // The others know the writer all the time.
    assert!(network.participant(b).matching().writer(Guid::new(prefix(1), writer_id(1))).is_some());
}

/// Returns the numbers of the writers' announcements in a datagram.
fn publications(bytes: &[u8]) -> Vec<SequenceNumber> {
    let Ok(message) = dds_rtps::wire::Message::parse(bytes) else { return Vec::new() };
    let submessages = message.submessages().flatten();
    let numbers = submessages.filter_map(|submessage| match submessage {
        dds_rtps::wire::Submessage::Data(data) if data.writer_id == EntityId::SEDP_PUBLICATIONS_WRITER => {
            Some(data.writer_sn)
        }
        _ => None,
    });
    numbers.collect()
}

#[test]
fn peer_without_usable_locators_gets_nothing() {
    let mut network = Network::new();
    let a = network.start(config(1));
    network.run_for(Duration::from_millis(150));
    let before = network.sent();
    let unreachable = announcement(prefix(7), |data| {
        data.metatraffic_unicast = vec![Locator::udp_v6(std::net::Ipv6Addr::LOCALHOST, 7410)];
        data.metatraffic_multicast.clear();
    });
    network.deliver(a, &unreachable);
    network.run_for(Duration::from_secs(2));
    assert_eq!(told(&network.events(a)), ["found 07"]);
    assert_eq!(network.sent(), before);
}

/// An announcement may name the locators of victims beside that of its sender. None is in a network of the participant.
#[test]
fn answer_makes_only_its_own_locator_valid() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let locators = [7, 8, 9].map(|host| Locator::udp_v4([192, 0, 2, host].into(), 7410));
    let bytes = announcement(prefix(2), |data| data.metatraffic_unicast = locators.to_vec());
    network.deliver(a, &bytes);
    network.run_for(Duration::from_millis(50));
    // The last challenge went to the last locator.
    network.answer_challenge(a, prefix(2));
    let route = network.participant(a).route(prefix(2)).unwrap();
    assert_eq!(route.unicast.to_vec(), locators[2..]);
}

/// A peer that is reached by multicast alone has shown only the host from which its answer came.
#[test]
fn peer_with_multicast_alone_makes_no_other_host_valid() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let [own, victim] = [7, 8].map(|host| Locator::udp_v4([192, 0, 2, host].into(), 7411));
    let bytes = announcement(prefix(2), |data| {
        data.metatraffic_unicast.clear();
        data.default_unicast = vec![victim, own];
    });
    network.deliver(a, &bytes);
    network.run_for(Duration::from_millis(50));
    let multicast = network.participant(a).route(prefix(2)).unwrap().multicast.to_vec();
    let challenge = network.heartbeat_at(multicast[0]).unwrap();
    network.deliver_from(Some(own.to_socket_addr().unwrap().ip()), a, &answer_to(&challenge, prefix(2)));
    assert_eq!(network.reply_locators(a, prefix(2)), [own]);
}

/// An INFO_REPLY may name the locators of victims, and the receiver of user data asks no challenge.
#[test]
fn answers_go_only_to_the_host_that_has_answered() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let [own, victim] = [7, 8].map(|host| Locator::udp_v4([192, 0, 2, host].into(), 7410));
    let bytes = announcement(prefix(2), |data| {
        data.metatraffic_unicast = vec![victim, own];
        data.default_unicast = vec![victim, own];
    });
    network.deliver(a, &bytes);
    network.run_for(Duration::from_millis(50));
    assert_eq!(network.reply_locators(a, prefix(2)), []);
    network.answer_challenge_at(a, prefix(2), own);
    assert_eq!(network.reply_locators(a, prefix(2)), [own, own]);
}

fn reached(network: &Network, index: usize) -> Vec<Locator> {
    network.participant(index).route(prefix(2)).unwrap().unicast.to_vec()
}

/// Answers all challenges to a locator.
fn answer_at(network: &mut Network, index: usize, locator: Locator) {
    for _ in 0..20 {
        network.run_for(Duration::from_millis(100));
        network.answer_challenge_at(index, prefix(2), locator);
    }
}

fn on_hosts(network: [u8; 3], own: u8) -> ParticipantLocators {
    let [a, b, c] = network;
    ParticipantLocators {
        metatraffic_unicast: vec![Locator::udp_v4([a, b, c, own].into(), 7410)],
        metatraffic_multicast: Vec::new(),
        default_unicast: Vec::new(),
        announce_to: Vec::new(),
        host_addresses: vec![HostAddress { address: [a, b, c, own].into(), prefix_len: 24 }],
    }
}

/// The interfaces of this host change while a new address is challenged.
#[test]
fn move_ends_at_no_address_that_was_not_challenged() {
    let mut network = Network::new();
    let a = network.start(config(1));
    let [former, one, other] =
        [[10, 0, 0, 2], [192, 0, 2, 8], [198, 51, 100, 9]].map(|host| Locator::udp_v4(host.into(), 7410));
    network.deliver(a, &announcement(prefix(2), |data| data.metatraffic_unicast = vec![former]));
    answer_at(&mut network, a, former);
    network.deliver(a, &announcement(prefix(2), |data| data.metatraffic_unicast = vec![one, other]));
    network.run_for(Duration::from_millis(50));
    // Only one of them is left behind these interfaces.
    network.with(a, |participant, now| participant.set_locators(now, on_hosts([192, 0, 2], 1)));
    answer_at(&mut network, a, other);
    assert_eq!(reached(&network, a), [former]);
    answer_at(&mut network, a, one);
    assert_eq!(reached(&network, a), [one]);
}

#[test]
fn forged_withdrawal_is_ignored() {
    let mut network = Network::new();
    let [a, b, c] = [1, 2, 3].map(|number| network.start(config(number)));
    for index in [b, c] {
        network.with(index, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    }
    network.run_for(Duration::from_secs(1));
    let victim = Guid::new(prefix(2), writer_id(1));
    assert!(network.participant(a).matching().writer(victim).is_some());
    // A forged withdrawal: the third participant sends the second one's withdrawal of its writer.
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&said);
    network.loses = Box::new(move |_, bytes| {
        heard.borrow_mut().push(bytes.to_vec());
        true
    });
    network.with(b, |participant, now| participant.remove_writer(now, victim.entity_id));
    for mut bytes in said.take() {
        bytes[8..20].copy_from_slice(&prefix(3).0);
        network.deliver(a, &bytes);
    }
    assert_eq!(network.participant(a).counters().foreign, 1);
    assert!(network.participant(a).matching().writer(victim).is_some(), "it is still there");
}

/// A forged announcement takes the number of the next one. Both count until a HEARTBEAT confirms the number.
#[test]
fn forged_endpoint_does_not_hide_the_next_one() {
    let mut network = Network::new();
    let [a, b] = [1, 2].map(|number| network.start(config(number)));
    network.with(a, |participant, now| participant.add_reader(now, reader(5, DataReaderQos::default())));
    network.run_for(Duration::from_secs(1));
    network.events(a);
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&said);
    network.loses = Box::new(move |_, bytes| {
        heard.borrow_mut().push(bytes.to_vec());
        true
    });
    network.with(b, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    let real = said.borrow().first().unwrap().clone();
    // The forger knows the participant and its next number, and announces another writer.
    let mut forged = real[..data_end(&real)].to_vec();
    let (old, new) = (writer_id(1).0, writer_id(9).0);
    while let Some(at) = forged.windows(4).position(|window| window == old) {
        forged[at..at + 4].copy_from_slice(&new);
    }
    for bytes in [&forged, &real, &real, &forged] {
        network.deliver(a, bytes);
    }
    assert_eq!(told(&network.events(a)), ["writer 02/9", "writer 02/1"]);
}

/// Returns the end of the first DATA of a message.
fn data_end(bytes: &[u8]) -> usize {
    let message = dds_rtps::wire::Message::parse(bytes).unwrap();
    let mut submessages = message.submessages();
    for submessage in submessages.by_ref() {
        if matches!(submessage.unwrap(), dds_rtps::wire::Submessage::Data(_)) {
            break;
        }
    }
    submessages.offset()
}

#[test]
fn same_seed_and_script_give_same_datagrams() {
    let run = || {
        let mut network = Network::new();
        let log = Rc::new(RefCell::new(DefaultHasher::new()));
        let hasher = Rc::clone(&log);
        network.loses = Box::new(move |number, bytes| {
            bytes.hash(&mut *hasher.borrow_mut());
            number % 7 == 0
        });
        let all: Vec<usize> = (1..=6).map(|number| network.start(config(number))).collect();
        for (number, &index) in all.iter().enumerate() {
            network.with(index, |participant, now| {
                participant.add_writer(now, writer(number as u32, DataWriterQos::default()));
                participant.add_reader(now, reader(100, DataReaderQos::default().reliable()));
            });
        }
        network.run_for(Duration::from_secs(10));
        let events: Vec<String> = all.iter().flat_map(|&index| told(&network.events(index))).collect();
        let digest = log.borrow().finish();
        (digest, events)
    };
    let (digest, events) = run();
    assert_eq!(run(), (digest, events.clone()));
    let matches = events.iter().filter(|event| event.starts_with("writer") || event.starts_with("reader"));
    assert_eq!(matches.count(), 72, "six writers and six readers, on both sides");
}

/// Returns the announcement of an invented participant.
pub(crate) fn announcement(prefix: GuidPrefix, change: impl FnOnce(&mut ParticipantData)) -> Vec<u8> {
    let mut invented = config(9);
    invented.prefix = prefix;
    let now = Network::new().now;
    let mut participant = Participant::new(invented, 1, HashSeed::fixed(1));
    participant.start(now);
    let mut datagram = Datagram::new();
    assert!(participant.poll_transmit(now, &mut datagram));
    let mut bytes = Vec::new();
    datagram.copy_to(&mut bytes);
    // The payload follows the encapsulation header of the only DATA, which ends the message.
    let start = bytes.windows(8).position(|window| window == [0, 3, 0, 0, 0x50, 0, 16, 0]).unwrap();
    let mut data = ParticipantData::decode(&bytes[start..], prefix).unwrap().data;
    change(&mut data);
    let mut payload = Vec::new();
    data.encode(&mut payload);
    // The DATA's length gives its former end. As the last submessage it may use zero, which means "to the end of the
    // message".
    let message = dds_rtps::wire::Message::parse(&bytes).unwrap();
    let mut submessages = message.submessages();
    let mut data_start = submessages.offset();
    while let Some(Ok(submessage)) = submessages.next() {
        if matches!(submessage, dds_rtps::wire::Submessage::Data(_)) {
            break;
        }
        data_start = submessages.offset();
    }
    bytes[data_start + 2..data_start + 4].fill(0);
    bytes.truncate(start);
    bytes.extend_from_slice(&payload);
    bytes
}
