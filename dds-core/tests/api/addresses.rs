//! IP versions, ports and peers, end to end on this host.

use crate::support::{Notes, PATIENCE, World, has_ipv6};
use dds_core::builtin::BuiltinTopic;
use dds_core::config::IpFamilies;
use dds_core::error::CreateErrorKind;
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, DomainParticipantBuilder, Scope};
use std::collections::HashSet;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Note {
    bytes: Vec<u8>,
}

/// Sends notes of several lengths reliably from one participant to the other.
fn talk(from: &DomainParticipant, to: &DomainParticipant) {
    let reader = to.reader_builder::<Note>("note").qos(Preset::Event.reader()).build().unwrap();
    let writer = from.writer_builder("note").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for len in [1, 2_000, 300_000] {
        let note = Note { bytes: vec![len as u8; len] };
        writer.write(&note).unwrap();
        assert!(reader.next_sample().block_for(PATIENCE).unwrap().data == Some(note), "{len} bytes");
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

fn speaking(world: &World, families: IpFamilies) -> DomainParticipantBuilder {
    world.builder().udp_only(true).ip_families(families)
}

/// Exchanges notes in both directions between participants with these IP versions.
fn talk_by(families: [IpFamilies; 2]) -> [DomainParticipant; 2] {
    let world = World::new();
    let participants = families.map(|families| speaking(&world, families).build().unwrap());
    let [a, b] = &participants;
    talk(a, b);
    talk(b, a);
    participants
}

#[test]
fn participants_communicate_by_ipv6_alone() {
    if !has_ipv6() {
        return;
    }
    let participants = talk_by([IpFamilies::V6; 2]);
    assert_eq!(participants.map(|participant| participant.traffic().send_failed), [0, 0]);
}

#[test]
fn dual_stack_reaches_single_stack_participant() {
    if !has_ipv6() {
        return;
    }
    for other in [IpFamilies::V4, IpFamilies::V6, IpFamilies::Both] {
        talk_by([IpFamilies::Both, other]);
    }
}

#[test]
fn dual_stack_participant_sends_each_sample_once() {
    if !has_ipv6() {
        return;
    }
    let world = World::new();
    let [from, to] = [(); 2].map(|()| speaking(&world, IpFamilies::Both).build().unwrap());
    let reader = to.reader_builder::<Note>("note").qos(Preset::SensorData.reader()).build().unwrap();
    let writer = from.writer_builder("note").qos(Preset::SensorData.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let before = from.traffic().sent;
    for count in 0..100 {
        writer.write(&Note { bytes: vec![count] }).unwrap();
    }
    // Discovery adds a few datagrams to those of the samples.
    let sent = from.traffic().sent - before;
    assert!((100..150).contains(&sent), "{sent}");
}

#[test]
fn peer_is_found_at_configured_port() {
    if !has_ipv6() {
        return;
    }
    let world = World::new();
    // A participant that announces itself only to the given peers.
    let told = |peers: Vec<String>| {
        let builder = world.builder().domain_tag("addresses").udp_only(true).scope(Scope::PeersOnly);
        builder.ip_families(IpFamilies::Both).peers(peers).build().unwrap()
    };
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        // No participant listens on this port.
        let silent = told(vec!["127.0.0.1:9".to_owned()]);
        let seeking = told((0..64).map(|index| format!("{host}:{}", 7410 + 2 * index)).collect());
        talk(&seeking, &silent);
    }
}

#[test]
fn invalid_peer_fails_and_error_names_it() {
    let error = World::new().builder().peers(["[::1"]).build().unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::InvalidPeer { peer: "[::1".to_owned() });
    let error = World::new().builder().peers(["10.300.1.1"]).build().unwrap_err();
    assert!(error.to_string().contains("the peer `10.300.1.1` is not an address"), "{error}");
}

#[test]
fn unknown_interface_is_a_warning_that_names_the_present_ones() {
    let builder = World::new().builder().interfaces(["eth999", "127.0.0.1"]);
    let (_participant, lines) = Notes::of_warnings().take(|| builder.build().unwrap());
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains("no active interface has the name or address eth999; active interfaces: lo"), "{line}");
}

/// Creates more participants than there are well-known ports, in a domain that no other test uses.
fn crowd(domain_id: u32, scope: Scope, count: usize) -> Vec<DomainParticipant> {
    let builder = || DomainParticipant::builder(domain_id).ignore_environment().scope(scope);
    (0..count).map(|_| builder().build().unwrap()).collect()
}

/// Waits until each participant of `all` has discovered this many others.
fn wait_until_known(all: &[DomainParticipant], others: usize) {
    for participant in all {
        let found = participant.reader(&BuiltinTopic::PARTICIPANT).unwrap();
        let mut known = HashSet::new();
        while known.len() < others {
            known.extend(found.next_sample().block_for(PATIENCE).unwrap().data.map(|data| data.key));
        }
    }
}

#[test]
#[ignore = "half a minute of both cores: .ci/run crowd"]
fn all_130_participants_of_host_find_each_other() {
    let all = crowd(9, Scope::Host, 130);
    wait_until_known(&all, 129);
}

/// Without multicast, each participant still discovers those at well-known ports, and is discovered by them.
#[test]
#[ignore = "ten seconds of both cores: .ci/run crowd"]
fn without_multicast_all_participants_are_found() {
    let all = crowd(10, Scope::PeersOnly, 123);
    wait_until_known(&all[..120], 122);
    wait_until_known(&all[120..], 120);
}

/// The standard ports of 120 participants are in use. The tests of the sockets check the ports searched without
/// multicast.
#[test]
fn participants_beyond_standard_ports_are_found() {
    // Few programs use this domain. Its project-specific ports belong to standard domains with distant numbers.
    const DOMAIN_ID: u32 = 173;
    #[allow(clippy::disallowed_methods, reason = "only takes the ports of others")]
    let bind = |port: u16| std::net::UdpSocket::bind(("0.0.0.0", port)).ok();
    let first = 7400 + 250 * DOMAIN_ID as u16;
    // A port that another process holds already is equally unavailable to these participants.
    let _taken: Vec<_> = (0..120).map(|index| bind(first + 10 + 2 * index)).collect();
    let world = World::new();
    let build = || {
        let builder = DomainParticipant::builder(DOMAIN_ID).ignore_environment().scope(Scope::Host);
        builder.domain_tag(world.tag()).udp_only(true).build().unwrap()
    };
    let [a, b] = [build(), build()];
    talk(&a, &b);
    talk(&b, &a);
}
