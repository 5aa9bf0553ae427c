//! An unknown peer forges announcements, handshakes and keys of participants with certificates.

use crate::keystore::{Keystore, Kinds};
use crate::simulated::{Node, World};
use crate::strangers::{announcement, ghost};
use dds_core::driver::Socket;
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use dds_rtps::discovery::BuiltinEndpoints;
use dds_rtps::discovery::data::{
    AlgorithmSets, ParticipantData, SecurityAlgorithms, SecurityAnnouncement, SecurityToken,
};
use dds_rtps::types::{EntityId, GuidPrefix, Locator};
use dds_rtps::wire::{DataHeader, Message, MessageBuilder, PayloadKind, SerializedPayload, Submessage};
use dds_security::authentication::{
    GenericMessage, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant, PeerHandshake, TokenByteOrder,
};
use dds_security::pki::KeyAlgorithm;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Crate {
    count: u32,
}

/// Two participants with identities, and a forger that sends to them.
struct Stage {
    world: World,
    /// The one with the lower GUID, which begins handshakes.
    initiator: (DomainParticipant, Node),
    replier: (DomainParticipant, Node),
    replier_name: &'static str,
    keystore: Keystore,
}

impl Stage {
    fn new(kinds: Kinds) -> Self {
        let (world, keystore) = (World::new(3), Keystore::with(kinds));
        let [robot, station] = ["robot", "station"].map(|name| {
            let node = world.node();
            node.record();
            let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials(name));
            (node.build(builder.name(name)), node)
        });
        let is_lower = robot.0.guid() < station.0.guid();
        let (initiator, replier) = if is_lower { (robot, station) } else { (station, robot) };
        let replier_name = if is_lower { "station" } else { "robot" };
        let stage = Self { world, initiator, replier, replier_name, keystore };
        assert!(stage.world.pass_until(PATIENCE, || stage.know_each_other()));
        stage
    }

    fn know_each_other(&self) -> bool {
        [&self.initiator.0, &self.replier.0].iter().all(|known| known.discovered_participants().len() == 1)
    }

    /// Creates a writer of the initiator and a reader of the replier.
    fn endpoints(&self, topic: &str) -> (DataWriter<Crate>, DataReader<Crate>) {
        let writer = self.initiator.0.writer_builder(topic).qos(Preset::Event.writer()).build().unwrap();
        let reader = self.replier.0.reader_builder(topic).qos(Preset::Event.reader()).build().unwrap();
        (writer, reader)
    }

    /// Asserts that new endpoints match in both directions of keys, and that their samples arrive.
    fn goes_on(&self, topic: &str) {
        let (writer, reader) = self.endpoints(topic);
        self.samples_pass(&writer, &reader);
    }

    fn samples_pass(&self, writer: &DataWriter<Crate>, reader: &DataReader<Crate>) {
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        (0..20).for_each(|count| writer.write(&Crate { count }).unwrap());
        let mut arrived = Vec::new();
        let is_done = || {
            arrived.extend(reader.take().unwrap().into_data());
            arrived.len() >= 20
        };
        assert!(self.world.pass_until(PATIENCE, is_done), "samples do not arrive");
        assert_eq!(arrived, (0..20).map(|count| Crate { count }).collect::<Vec<_>>());
    }

    /// What the initiator has announced in plain text.
    fn announced(&self) -> ParticipantData {
        let prefix = self.initiator.0.guid().prefix;
        let mut data = ParticipantData { security: Some(Box::new(identity())), ..ghost(1) };
        data.prefix = prefix;
        data
    }
}

fn identity() -> SecurityAnnouncement {
    let token = SecurityToken { class_id: "DDS:Auth:PKI-DH:1.0".to_owned(), ..SecurityToken::default() };
    SecurityAnnouncement { identity: Some(token), permissions: None, info: None, algorithms: None }
}

/// A forged participant that claims an identity.
fn pretender(number: u32) -> ParticipantData {
    let mut data = ghost(number);
    data.builtin_endpoints = data
        .builtin_endpoints
        .union(BuiltinEndpoints::STATELESS_MESSAGE_READER)
        .union(BuiltinEndpoints::STATELESS_MESSAGE_WRITER);
    data.security = Some(Box::new(identity()));
    data
}

/// A datagram with a message of a handshake.
fn stateless(sender: GuidPrefix, message: &GenericMessage) -> Vec<u8> {
    let payload = message.to_payload(TokenByteOrder::Little);
    let mut bytes = Vec::new();
    let mut builder = MessageBuilder::new(&mut bytes);
    builder.header(sender);
    let header = DataHeader {
        reader_id: EntityId::STATELESS_MESSAGE_READER,
        writer_id: EntityId::STATELESS_MESSAGE_WRITER,
        writer_sn: dds_rtps::types::SequenceNumber(1),
        payload: PayloadKind::Data,
        non_standard_payload: false,
    };
    let end = builder.data(&header, payload.len(), |_| {});
    builder.payload(&payload, end);
    bytes
}

/// The handshake messages in recorded datagrams, assembled from their fragments.
fn handshake_messages(recorded: &[Vec<u8>]) -> Vec<GenericMessage> {
    let mut fragments: BTreeMap<i64, (usize, Vec<u8>)> = BTreeMap::new();
    let mut messages = Vec::new();
    for bytes in recorded {
        let Ok(message) = Message::parse(bytes) else { continue };
        for submessage in message.submessages().flatten() {
            match submessage {
                Submessage::Data(data) if data.writer_id == EntityId::STATELESS_MESSAGE_WRITER => {
                    if let SerializedPayload::Data(payload) = data.payload {
                        messages.extend(GenericMessage::parse(payload));
                    }
                }
                Submessage::DataFrag(data) if data.writer_id == EntityId::STATELESS_MESSAGE_WRITER => {
                    let (len, known) = fragments.entry(data.writer_sn.0).or_default();
                    *len = data.sample_size as usize;
                    known.extend_from_slice(data.payload);
                    if known.len() >= *len {
                        messages.extend(GenericMessage::parse(known));
                    }
                }
                _ => {}
            }
        }
    }
    messages
}

fn steps<'a>(messages: &'a [GenericMessage], step: &'a str) -> impl Iterator<Item = &'a GenericMessage> {
    messages.iter().filter(move |message| message.tokens[0].class_id.ends_with(step))
}

#[test]
fn plain_announcement_changes_no_authenticated_participant() {
    for kinds in
        [Kinds { rtps: "SIGN", ..Kinds::NONE }, Kinds { discovery: "ENCRYPT", metadata: "SIGN", ..Kinds::NONE }]
    {
        let stage = Stage::new(kinds);
        stage.goes_on("before");
        // The announcements by the protected topic have arrived.
        stage.world.pass(Duration::from_secs(4));
        let known = || {
            let found = stage.replier.0.discovered_participants();
            found.iter().map(|participant| format!("{participant:?}")).collect::<Vec<_>>()
        };
        let before = known();
        stage.world.take_astray_bytes();
        // Other addresses, no protected endpoints, no identity, another name, an early end.
        let forged = ParticipantData {
            entity_name: "forged".to_owned(),
            lease_duration: Duration::from_millis(1),
            security: None,
            ..stage.announced()
        };
        for _ in 0..3 {
            stage.replier.1.feed(&announcement(&forged), Socket::MetatrafficUnicast);
        }
        stage.replier.1.feed(&disposal(forged.prefix), Socket::MetatrafficUnicast);
        assert_eq!(known(), before, "{kinds:?}");
        stage.goes_on("behind");
        assert_eq!(stage.world.take_astray_bytes(), 0, "{kinds:?}: datagrams go to the forged address");
        assert!(stage.know_each_other());
    }
}

/// The true disposal comes by the protected topic, so a participant that leaves is lost at once.
#[test]
fn participant_that_leaves_is_lost_before_its_lease_ends() {
    for kinds in [Kinds::NONE, Kinds { rtps: "SIGN", ..Kinds::NONE }, Kinds { discovery: "SIGN", ..Kinds::NONE }] {
        let stage = Stage::new(kinds);
        stage.goes_on("before");
        drop(stage.initiator);
        let is_alone = || stage.replier.0.discovered_participants().is_empty();
        assert!(stage.world.pass_until(Duration::from_secs(2), is_alone), "{kinds:?}");
    }
}

/// A disposal of a participant, as anyone can write it.
fn disposal(prefix: GuidPrefix) -> Vec<u8> {
    let mut bytes = announcement(&ParticipantData { prefix, ..ghost(1) });
    bytes.truncate(20);
    let mut key = Vec::new();
    dds_rtps::discovery::data::participant_key(prefix, &mut key);
    let mut body = vec![0, 0, 16, 0];
    body.extend(EntityId::SPDP_READER.0);
    body.extend(EntityId::SPDP_WRITER.0);
    // Sequence number 1 000, then STATUS_INFO with disposed and unregistered.
    body.extend([0, 0, 0, 0, 0xe8, 3, 0, 0]);
    body.extend([0x71, 0, 4, 0, 0, 0, 0, 3, 1, 0, 0, 0]);
    body.extend(key);
    // Little endian, with inline QoS, and with a key as payload.
    bytes.extend([0x15, 1 | 2 | 8]);
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn claimed_identity_causes_no_amplification() {
    let stage = Stage::new(Kinds { rtps: "SIGN", ..Kinds::NONE });
    for (participant, node) in [&stage.initiator, &stage.replier] {
        stage.world.take_astray_bytes();
        for number in 1..=2 {
            // One GUID is below that of the participant, and one above.
            let mut data = pretender(number);
            data.prefix.0[0] = if number == 1 { 0 } else { 0xff };
            data.metatraffic_unicast =
                (92..=99).map(|host| Locator::udp_v4([172, 16, 0, host].into(), 9_000)).collect();
            let bytes = announcement(&data);
            // A question costs its sender little.
            let mut token = dds_security::authentication::DataHolder::new("DDS:Auth:PKI-DH:1.0+AuthReq");
            token.binary_properties.push(("future_challenge".to_owned(), vec![7; 32].into()));
            let question = stateless(
                data.prefix,
                &GenericMessage {
                    identity: (dds_rtps::types::Guid::new(data.prefix, EntityId::PARTICIPANT).to_bytes(), 1),
                    destination_participant: participant.guid().to_bytes(),
                    class_id: GenericMessage::AUTHENTICATION_REQUEST.to_owned(),
                    tokens: vec![token],
                    ..GenericMessage::default()
                },
            );
            let mut sent = bytes.len();
            node.feed(&bytes, Socket::MetatrafficUnicast);
            for _ in 0..60 {
                node.feed(&question, Socket::MetatrafficUnicast);
                sent += question.len();
                stage.world.pass(Duration::from_millis(100));
            }
            stage.world.pass(Duration::from_secs(60));
            let drawn = stage.world.take_astray_bytes();
            println!("{sent} bytes draw {drawn}");
            // The credit of a new address, its last message, and the headers.
            assert!(drawn < 24_000 + 5 * sent, "{sent} bytes draw {drawn}");
        }
    }
    stage.goes_on("behind");
}

#[test]
fn claimed_identities_keep_no_participant_out() {
    let (world, keystore) = (World::new(5), Keystore::with(Kinds { rtps: "SIGN", ..Kinds::NONE }));
    let build = |name: &str| {
        let node = world.node();
        let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials(name));
        (node.build(builder), node)
    };
    let robot = build("robot");
    let claim = |number: u32| {
        let data = pretender(number);
        robot.1.feed(&announcement(&data), Socket::MetatrafficUnicast);
        let mut token = dds_security::authentication::DataHolder::new("DDS:Auth:PKI-DH:1.0+AuthReq");
        token.binary_properties.push(("future_challenge".to_owned(), vec![7; 32].into()));
        let question = GenericMessage {
            identity: (dds_rtps::types::Guid::new(data.prefix, EntityId::PARTICIPANT).to_bytes(), 1),
            destination_participant: robot.0.guid().to_bytes(),
            class_id: GenericMessage::AUTHENTICATION_REQUEST.to_owned(),
            tokens: vec![token],
            ..GenericMessage::default()
        };
        robot.1.feed(&stateless(data.prefix, &question), Socket::MetatrafficUnicast);
    };
    (1..=200).for_each(claim);
    let station = build("station");
    let mut number = 0;
    let is_known = || {
        // The forger goes on with a new GUID every 10 ms, and repeats the others.
        number += 1;
        claim(1 + number % 400);
        station.0.discovered_participants().len() == 1 && robot.0.discovered_participants().len() == 1
    };
    assert!(world.pass_until(PATIENCE, is_known), "the forger keeps the station out");
}

/// Announcements alone are the cheapest claim. Each has a new GUID, and no participant answers the handshake.
#[test]
fn flood_of_announcements_keeps_no_participant_out() {
    // One of both begins the handshake.
    for (flooded, late) in [("robot", "station"), ("station", "robot")] {
        let (world, keystore) = (World::new(5), Keystore::with(Kinds { rtps: "SIGN", ..Kinds::NONE }));
        let build = |name: &str| {
            let node = world.node();
            let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials(name));
            (node.build(builder), node)
        };
        let flooded = build(flooded);
        let mut number = 0;
        let mut announce = |count: u32| {
            for _ in 0..count {
                number += 1;
                flooded.1.feed(&announcement(&pretender(number)), Socket::MetatrafficUnicast);
            }
        };
        // More than the participants that it keeps.
        announce(3_000);
        world.pass(Duration::from_secs(1));
        let late = build(late);
        let start = world.simulation.now();
        let is_known = || {
            announce(10);
            [&flooded, &late].iter().all(|(participant, _)| participant.discovered_participants().len() == 1)
        };
        assert!(world.pass_until(PATIENCE, is_known), "the forger keeps {} out", late.0.guid());
        println!("known after {:?}", world.simulation.now() - start);
    }
}

/// A participant without security cannot prove the identity that a forger claims in its name.
#[test]
fn claimed_identity_keeps_no_guest_out() {
    let open = |text: String| text.replace("participants>false", "participants>true");
    let (world, keystore) = (World::new(7), Keystore::new(&["robot"], Kinds::NONE, open));
    let node = world.node();
    let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials("robot"));
    let robot = (node.build(builder), node);
    let is_cut = Arc::new(AtomicBool::new(true));
    let cut = Arc::clone(&is_cut);
    // The forger is faster than the guest, whose name begins with a vendor.
    world.simulation.intercept(move |passing| !cut.load(Ordering::Relaxed) || passing.bytes.get(8) != Some(&1));
    let (guest, _node) = world.participant();
    world.pass(Duration::from_secs(1));
    assert!(robot.0.discovered_participants().is_empty());
    is_cut.store(false, Ordering::Relaxed);
    let forged = ParticipantData { prefix: guest.guid().prefix, ..pretender(1) };
    robot.1.feed(&announcement(&forged), Socket::MetatrafficUnicast);
    assert!(robot.0.discovered_participants().is_empty(), "the guest has announced itself first");
    assert!(world.pass_until(PATIENCE, || robot.0.discovered_participants().len() == 1), "the guest stays out");
}

/// What a forger says about the algorithms of another participant.
fn forged_algorithms(round: usize) -> SecurityAlgorithms {
    let requires = |bits| AlgorithmSets { supported: bits, required: bits };
    match round % 3 {
        0 => SecurityAlgorithms::V1_1,
        1 => SecurityAlgorithms { agreement: requires(SecurityAlgorithms::ECDH_P384), ..SecurityAlgorithms::V1_1 },
        // No participant has these.
        _ => SecurityAlgorithms {
            certificates: requires(1 << 9),
            handshakes: requires(1 << 9),
            agreement: requires(1 << 9),
            supported_ciphers: 1 << 9,
            builtin_ciphers: 1 << 9,
            exchange_ciphers: 1 << 9,
            endpoint_ciphers: 1 << 9,
        },
    }
}

/// The plain announcement of a participant in recorded datagrams.
fn announced_in(recorded: &[Vec<u8>], prefix: GuidPrefix) -> ParticipantData {
    for bytes in recorded.iter().filter(|bytes| bytes.get(8..20) == Some(&prefix.0)) {
        for submessage in Message::parse(bytes).unwrap().submessages().flatten() {
            match submessage {
                Submessage::Data(data) if data.writer_id == EntityId::SPDP_WRITER => {
                    let SerializedPayload::Data(payload) = data.payload else { continue };
                    return ParticipantData::decode(payload, prefix).unwrap().data;
                }
                _ => {}
            }
        }
    }
    panic!("{prefix} has announced nothing")
}

/// The forger copies the announcements of both sides, and changes their algorithms. Each side hears it before and
/// between the true announcements.
#[test]
fn forged_algorithms_neither_weaken_a_handshake_nor_prevent_it() {
    let (p256, p384) = (KeyAlgorithm::EcP256, KeyAlgorithm::EcP384);
    for algorithms in [[p256, p384], [p384, p256], [p256, p256]] {
        let (world, kinds) = (World::new(23), Kinds { rtps: "SIGN", ..Kinds::NONE });
        let mut keystore = Keystore::new(&[], kinds, |text| text);
        let (passed, is_cut) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(true)));
        let (sink, cut) = (Arc::clone(&passed), Arc::clone(&is_cut));
        world.simulation.intercept(move |passing| {
            sink.lock().unwrap().push(passing.bytes.clone());
            !cut.load(Ordering::Relaxed)
        });
        let [robot, station] = [("robot", algorithms[0]), ("station", algorithms[1])].map(|(name, algorithm)| {
            keystore.add(name, algorithm);
            let node = world.node();
            let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials(name));
            (node.build(builder), node)
        });
        world.pass(Duration::from_secs(1));
        let recorded = std::mem::take(&mut *passed.lock().unwrap());
        is_cut.store(false, Ordering::Relaxed);
        let sides = [(&robot, &station), (&station, &robot)];
        let announced = sides.map(|(from, _)| announced_in(&recorded, from.0.guid().prefix));
        let meet = (0..3_000).any(|round| {
            for ((_, (_, victim)), true_data) in sides.iter().zip(&announced) {
                let mut data = true_data.clone();
                data.security.as_mut().unwrap().algorithms = Some(forged_algorithms(round));
                victim.feed(&announcement(&data), Socket::MetatrafficUnicast);
            }
            world.pass(Duration::from_millis(10));
            sides.iter().all(|(side, _)| side.0.discovered_participants().len() == 1)
        });
        assert!(meet, "{algorithms:?}: forged algorithms keep the participants from each other");
        let recorded = passed.lock().unwrap().clone();
        for ((participant, _), _) in sides {
            let prefix = participant.guid().prefix;
            let sent: Vec<_> = recorded.iter().filter(|bytes| bytes.get(8..20) == Some(&prefix.0)).cloned().collect();
            for reply in steps(&handshake_messages(&sent), "+Reply") {
                let is_strong = reply.tokens[0].binary("c.kagree_algo") == Some(b"ECDHE-CEUM+P384");
                assert!(is_strong || !algorithms.contains(&p384), "{algorithms:?}: the agreement is weaker than a key");
            }
        }
        Stage { world, initiator: robot, replier: station, replier_name: "station", keystore }.goes_on("behind");
    }
}

/// A Request without a certificate fails before any operation with public keys. So it takes no budget.
#[test]
fn junk_requests_keep_no_participant_out() {
    let (world, keystore) = (World::new(9), Keystore::with(Kinds { rtps: "SIGN", ..Kinds::NONE }));
    let build = |name: &str| {
        let node = world.node();
        let builder = DomainParticipant::builder(0).linger(Duration::ZERO).credentials(keystore.credentials(name));
        (node.build(builder), node)
    };
    let robot = build("robot");
    let mut count = 0_u32;
    let mut flood = || {
        for _ in 0..8 {
            count += 1;
            // Each name begins otherwise, as those of different identities.
            let prefix = pretender(1 + count % 8).prefix;
            let mut token = dds_security::authentication::DataHolder::new("DDS:Auth:PKI-DH:1.0+Req");
            for (name, value) in [("dh1", vec![4; 65]), ("challenge1", [&count.to_le_bytes()[..], &[7; 28]].concat())] {
                token.binary_properties.push((name.to_owned(), value.into()));
            }
            let request = GenericMessage {
                identity: (dds_rtps::types::Guid::new(prefix, EntityId::PARTICIPANT).to_bytes(), count.into()),
                destination_participant: robot.0.guid().to_bytes(),
                class_id: GenericMessage::AUTHENTICATION.to_owned(),
                tokens: vec![token],
                ..GenericMessage::default()
            };
            robot.1.send(&stateless(prefix, &request), Socket::MetatrafficUnicast);
        }
        world.pass(Duration::from_millis(1));
    };
    (1..=8).for_each(|number| robot.1.feed(&announcement(&pretender(number)), Socket::MetatrafficUnicast));
    (0..500).for_each(|_| flood());
    let station = build("station");
    let knows = |participant: &DomainParticipant| participant.discovered_participants().len() == 1;
    let meet = (0..3_000).any(|_| {
        flood();
        knows(&robot.0) && knows(&station.0)
    });
    assert!(meet, "the forger keeps the station out");
}

/// A participant with a higher GUID gets a Request, whose key costs an operation. Anyone can announce one.
#[test]
fn announcements_cost_a_bounded_number_of_keys() {
    let stage = Stage::new(Kinds { rtps: "SIGN", ..Kinds::NONE });
    stage.initiator.1.record();
    for number in 0..900_u32 {
        let mut data = pretender(1);
        data.prefix.0[0] = 0xff;
        data.prefix.0[1..5].copy_from_slice(&number.to_be_bytes());
        stage.initiator.1.send(&announcement(&data), Socket::MetatrafficUnicast);
        if number % 50 == 0 {
            stage.world.pass(Duration::from_millis(5));
        }
    }
    stage.world.pass(Duration::from_millis(200));
    let messages = handshake_messages(&stage.initiator.1.recorded());
    let challenges: BTreeSet<_> = steps(&messages, "+Req").map(|request| request.destination_participant).collect();
    println!("{} of 900 forged announcements draw a Request", challenges.len());
    // 256 at once, and 200 in a second.
    assert!((1..=330).contains(&challenges.len()), "{} keys", challenges.len());
    stage.goes_on("behind");
}

const PROTECTED_ANNOUNCEMENTS: Kinds = Kinds { discovery: "SIGN", ..Kinds::NONE };

/// Plain announcements of a vouched participant change nothing, but one that has restarted has no other way back.
#[test]
fn vouched_participant_returns_at_another_port() {
    let stage = Stage::new(PROTECTED_ANNOUNCEMENTS);
    let returned = stage.restart_at(0, announced_address());
    assert!(returned.keys_present > 0, "{returned:?}");
}

/// Forged announcements arrive between each message of the handshake and its answer.
#[test]
fn forged_announcements_lock_no_restarted_participant_out() {
    for forged in [1, 7] {
        let stage = Stage::new(PROTECTED_ANNOUNCEMENTS);
        let returned = stage.restart_at(forged, announced_address());
        assert!(returned.keys_present > 0, "{forged}: {returned:?}");
        assert_eq!(returned.keys_elsewhere, 0, "{returned:?}");
    }
}

/// The participant restarts where it was, and a forged announcement names the address of a victim.
#[test]
fn renewed_proof_moves_no_participant_to_a_forged_address() {
    let stage = Stage::new(PROTECTED_ANNOUNCEMENTS);
    let former = Locator::from(std::net::SocketAddr::from((stage.replier.1.address(), 7_410)));
    let returned = stage.restart_at(0, former);
    assert!(returned.keys_present > 0, "{returned:?}");
    assert_eq!(returned.keys_elsewhere, 0, "{returned:?}");
}

/// The address that plain announcements name.
fn announced_address() -> Locator {
    Locator::udp_v4([10, 77, 0, 98].into(), 9_000)
}

/// Datagrams with keys after the proof of a restarted participant.
#[derive(Debug, Default)]
struct Returned {
    /// To where it is.
    keys_present: usize,
    keys_elsewhere: usize,
}

impl Stage {
    /// The replier restarts at an address with the same GUID, while plain announcements name [`announced_address`].
    ///
    /// Behind each message to it, forged announcements name this many others.
    fn restart_at(&self, forged: u8, address: Locator) -> Returned {
        self.goes_on("before");
        self.world.pass(Duration::from_secs(8));
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let (sink, prefix) = (Arc::clone(&arrived), self.replier.0.guid().prefix);
        self.replier.1.unplug();
        let former = Locator::from(std::net::SocketAddr::from((self.replier.1.address(), 7_410)));
        self.world.simulation.intercept(move |passing| {
            sink.lock().unwrap().push((Locator::from(passing.to), passing.bytes.clone()));
            true
        });
        let announce = |address: Locator| {
            let mut data = ParticipantData { prefix, ..pretender(1) };
            (data.metatraffic_unicast, data.default_unicast) = (vec![address], vec![address]);
            data.builtin_endpoints = data
                .builtin_endpoints
                .union(BuiltinEndpoints::VOLATILE_MESSAGE_READER)
                .union(BuiltinEndpoints::VOLATILE_MESSAGE_WRITER);
            self.initiator.1.feed(&announcement(&data), Socket::MetatrafficUnicast);
        };
        let (mut side, begun) = (restarted(self), self.world.simulation.now());
        let (mut number, mut related, mut returned) = (0, Default::default(), Returned::default());
        for round in 0..300 {
            if round % 20 == 0 {
                announce(announced_address());
            }
            self.world.pass(Duration::from_millis(100));
            let unix = begun.as_unix_nanos() / 1_000_000_000;
            let now = HandshakeTime { elapsed: std::time::Duration::from_millis(100 * round), unix };
            let datagrams = std::mem::take(&mut *arrived.lock().unwrap());
            let sent_to = |is_wanted: &dyn Fn(Locator) -> bool| -> Vec<Vec<u8>> {
                datagrams.iter().filter(|sent| is_wanted(sent.0)).map(|sent| sent.1.clone()).collect()
            };
            let messages = handshake_messages(&sent_to(&|to| to == address));
            for message in &messages {
                if side.handle(&message.tokens[0], now).is_ok() {
                    related = message.identity;
                }
            }
            if !messages.is_empty() {
                (0..forged).for_each(|host| announce(Locator::udp_v4([10, 77, 9, host].into(), 9_000)));
            }
            while let Some(token) = side.poll(now) {
                let is_request = token.class_id.ends_with("+AuthReq");
                let class =
                    if is_request { GenericMessage::AUTHENTICATION_REQUEST } else { GenericMessage::AUTHENTICATION };
                number += 1;
                let message = GenericMessage {
                    identity: (dds_rtps::types::Guid::new(prefix, EntityId::PARTICIPANT).to_bytes(), number),
                    related,
                    destination_participant: self.initiator.0.guid().to_bytes(),
                    class_id: class.to_owned(),
                    tokens: vec![token],
                    ..GenericMessage::default()
                };
                self.initiator.1.feed(&stateless(prefix, &message), Socket::MetatrafficUnicast);
            }
            // Keys follow the proof, often at once.
            if side.peer().is_some() {
                let keys = |is_wanted: &dyn Fn(Locator) -> bool| {
                    sent_to(is_wanted).iter().filter(|bytes| has_protected(bytes)).count()
                };
                returned.keys_present += keys(&|to| to == address);
                returned.keys_elsewhere += keys(&|to| to != address && to != former);
            }
            if returned.keys_present > 0 {
                break;
            }
        }
        returned
    }
}

/// The handshake of the replier, as it begins after a restart with the same GUID.
fn restarted(stage: &Stage) -> PeerHandshake {
    let folder = stage.keystore.enclave(stage.replier_name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let unix = stage.world.simulation.now().as_unix_nanos() / 1_000_000_000;
    let permissions = read("permissions.p7s").into_bytes();
    let files = (read("identity_ca.cert.pem"), read("cert.pem"), read("key.pem"));
    let identity = LocalIdentity::new(&files.0, &files.1, &files.2, permissions, unix).unwrap();
    let (guid, other) = (stage.replier.0.guid().to_bytes(), stage.initiator.0.guid().to_bytes());
    let participant_data = [&[0, 0x50, 0, 16][..], &guid, &[0, 1, 0, 0]].concat();
    let local = Arc::new(LocalParticipant { identity, guid, participant_data });
    PeerHandshake::new(local, HandshakeRemote { guid: other, vendor: [1, 0xdd] }, [7; 32])
}

/// Each Request with a valid certificate costs a signature. A forger has certificates from the wire.
#[test]
fn copied_certificates_cost_a_bounded_number_of_signatures() {
    let stage = Stage::new(Kinds { rtps: "SIGN", ..Kinds::NONE });
    let requests = handshake_messages(&stage.initiator.1.recorded());
    let request = steps(&requests, "+Req").next().expect("the initiator has sent a Request").clone();
    stage.replier.1.record();
    for number in 0..60_u8 {
        let mut prefix = stage.initiator.0.guid().prefix;
        prefix.0[6..].copy_from_slice(&[number, 9, 9, 9, 9, 9]);
        let guid = dds_rtps::types::Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
        stage.replier.1.feed(&announcement(&ParticipantData { prefix, ..pretender(1) }), Socket::MetatrafficUnicast);
        for copy in 0..8 {
            let mut forged = request.clone();
            forged.identity.0 = guid;
            forged.destination_participant = stage.replier.0.guid().to_bytes();
            let token = &mut forged.tokens[0];
            token.binary_properties.retain(|(name, _)| name != "hash_c1");
            for (name, value) in &mut token.binary_properties {
                match name.as_str() {
                    "challenge1" => value[0] ^= copy + 1,
                    "c.pdata" => {
                        let at = value.windows(12).position(|part| *part == request.identity.0[..12]).unwrap();
                        value[at..at + 12].copy_from_slice(&prefix.0);
                    }
                    _ => {}
                }
            }
            stage.replier.1.feed(&stateless(prefix, &forged), Socket::MetatrafficUnicast);
        }
    }
    stage.world.pass(Duration::from_millis(200));
    let answers = handshake_messages(&stage.replier.1.recorded());
    let challenges = |message: &GenericMessage| message.tokens[0].binary("challenge2").map(<[u8]>::to_vec);
    let signed: BTreeSet<_> =
        steps(&answers, "+Reply").map(|reply| (reply.destination_participant, challenges(reply))).collect();
    println!("{} of 480 forged Requests are answered", signed.len());
    assert!((1..=160).contains(&signed.len()), "{} signatures", signed.len());
    stage.goes_on("behind");
}

/// Both sides share the key of the handshake, so a forger can send back what one side sent.
#[test]
fn reflected_keys_are_no_keys_of_the_other_side() {
    let stage = Stage::new(Kinds { metadata: "SIGN", ..Kinds::NONE });
    let (own, other) = (stage.initiator.0.guid().prefix, stage.replier.0.guid().prefix);
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = Arc::clone(&is_cut);
    stage.world.damage(move |bytes| {
        // From the replier nothing protected arrives now, so its keys are late.
        if cut.load(Ordering::Relaxed) && bytes.get(8..20) == Some(&other.0) && has_protected(bytes) {
            bytes.clear();
        }
    });
    is_cut.store(true, Ordering::Relaxed);
    stage.initiator.1.record();
    let (writer, reader) = stage.endpoints("late");
    stage.world.pass(Duration::from_millis(500));
    let recorded = stage.initiator.1.recorded();
    let protected = recorded.iter().filter(|bytes| has_protected(bytes));
    let mut count = 0;
    for bytes in protected {
        // The header and INFO_DST have the GUID prefixes, which the key of the handshake does not cover.
        let mut reflected = bytes.clone();
        for at in
            (0..reflected.len() - 12).filter(|at| bytes[*at..*at + 12] == own.0 || bytes[*at..*at + 12] == other.0)
        {
            let is_own = bytes[at..at + 12] == own.0;
            reflected[at..at + 12].copy_from_slice(if is_own { &other.0 } else { &own.0 });
        }
        stage.initiator.1.feed(&reflected, Socket::MetatrafficUnicast);
        count += 1;
    }
    assert!(count > 0, "the initiator has sent keys");
    is_cut.store(false, Ordering::Relaxed);
    stage.samples_pass(&writer, &reader);
}

/// Whether a datagram has a protected submessage behind its header and INFO_DST or INFO_TS.
fn has_protected(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(20..).unwrap_or_default();
    while let Some([id, _, low, high]) = rest.first_chunk::<4>() {
        if *id == 0x31 {
            return true;
        }
        rest = rest.get(4 + usize::from(u16::from_le_bytes([*low, *high]))..).unwrap_or_default();
    }
    false
}
