//! Participants that prove their identities by plugins that believe each of them.

use super::hostile::announcement;
use super::network::{Network, config, prefix};
use super::{reader, writer, writer_id};
use dds_rtps::discovery::data::{EndpointData, ParticipantData};
use dds_rtps::discovery::{
    BuiltinEndpoints, DiscoveredReader, DiscoveredWriter, MatchPermission, ParticipantEvent, ParticipantLoss,
    PeerAdmission, PeerSecurity, SecurityAction, SecurityChannel, SecurityReportKind,
};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, Instant, Locator, Now, SequenceNumber};
use dds_rtps::wire::{DataHeader, Heartbeat, Message, MessageBuilder, PayloadKind, SerializedPayload, Submessage};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Plugins whose messages are the numbers that they answer.
#[derive(Debug, Default)]
struct Credulous {
    actions: Mutex<VecDeque<SecurityAction>>,
    /// Participants take part without a proof.
    admits_all: bool,
}

impl PeerSecurity for Credulous {
    fn announce(&self, _: &mut ParticipantData) {}

    fn hides_details(&self) -> bool {
        false
    }

    fn peer_announced(&self, _: Now, data: &ParticipantData) -> PeerAdmission {
        if self.admits_all {
            return PeerAdmission::Unproved;
        }
        let (to, channel) = (data.prefix, SecurityChannel::Stateless);
        self.actions.lock().unwrap().push_back(SecurityAction::Send { to, channel, payload: vec![0; 8] });
        PeerAdmission::ByProof
    }

    fn peer_lost(&self, _: Now, _: GuidPrefix, _: ParticipantLoss) {}

    fn allows_unauthenticated(&self) -> bool {
        false
    }

    fn handle_message(&self, _: Now, prefix: GuidPrefix, channel: SecurityChannel, payload: &[u8]) {
        if channel == SecurityChannel::Stateless {
            let answers = i64::from_be_bytes(payload.try_into().unwrap());
            self.actions.lock().unwrap().push_back(SecurityAction::BeginKeyExchange { prefix, answers });
        }
    }

    fn with_number(&self, _: &[u8], number: i64) -> Option<Vec<u8>> {
        Some(number.to_be_bytes().to_vec())
    }

    fn local_endpoint(&self, _: &mut EndpointData) {}

    fn protects_announcements(&self) -> bool {
        false
    }

    fn protects_messages(&self) -> bool {
        false
    }

    fn protects_discovery_of(&self, _: &str) -> bool {
        false
    }

    fn protects_liveliness(&self) -> bool {
        false
    }

    fn check_match(&self, _: &DiscoveredWriter, _: &DiscoveredReader) -> MatchPermission {
        MatchPermission::Granted
    }

    fn check_others(&self, _: &EndpointData, _: &EndpointData) -> Result<(), Box<str>> {
        Ok(())
    }

    fn endpoint_removed(&self, guid: Guid) {
        let (kind, text) = (SecurityReportKind::KeysChanged, format!("{guid} has left").into());
        self.actions.lock().unwrap().push_back(SecurityAction::Report { kind, text });
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&self, _: Now) {}

    fn poll_action(&self) -> Option<SecurityAction> {
        self.actions.lock().unwrap().pop_front()
    }
}

/// A datagram with one change of a builtin writer.
fn change(source: GuidPrefix, (writer_id, reader_id): (EntityId, EntityId), payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(source);
    let (writer_sn, kind) = (SequenceNumber::FIRST, PayloadKind::Data);
    let header = DataHeader { reader_id, writer_id, writer_sn, payload: kind, non_standard_payload: false };
    let end = message.data(&header, payload.len(), |_| {});
    message.payload(payload, end);
    bytes
}

/// A datagram with the HEARTBEAT of a builtin writer that has one change.
fn heartbeat(source: GuidPrefix, (writer_id, reader_id): (EntityId, EntityId)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(source);
    let (first_sn, last_sn) = (SequenceNumber::FIRST, SequenceNumber::FIRST);
    let (is_final, liveliness, group_info) = (false, false, None);
    message.heartbeat(&Heartbeat {
        reader_id,
        writer_id,
        first_sn,
        last_sn,
        count: 1,
        is_final,
        liveliness,
        group_info,
    });
    bytes
}

/// Returns the payload of a handshake message.
fn handshake_message(bytes: &[u8]) -> Option<Vec<u8>> {
    let message = Message::parse(bytes).ok()?;
    message.submessages().flatten().find_map(|submessage| match submessage {
        Submessage::Data(data) if data.writer_id == EntityId::STATELESS_MESSAGE_WRITER => match data.payload {
            SerializedPayload::Data(payload) => Some(payload.to_vec()),
            _ => None,
        },
        _ => None,
    })
}

/// The plugins may give the place of the endpoint to another one.
#[test]
fn ignored_endpoint_frees_its_place_at_once() {
    let mut network = Network::new();
    let mut secure = config(1);
    secure.security = Some(Arc::new(Credulous { admits_all: true, ..Credulous::default() }));
    let a = network.start(secure);
    let b = network.start(config(2));
    for number in 1..=2 {
        network.with(b, |participant, now| participant.add_writer(now, writer(number, DataWriterQos::default())));
    }
    network.run_for(Duration::from_millis(500));
    let reports = |network: &mut Network| {
        let events = network.events(a).into_iter();
        events.filter(|event| matches!(event, ParticipantEvent::SecurityReport { .. })).count()
    };
    assert_eq!(reports(&mut network), 0);
    network.with(a, |participant, now| participant.ignore_endpoint(now, Guid::new(prefix(2), writer_id(1))));
    assert_eq!(reports(&mut network), 1);
    let left = writer(2, DataWriterQos::default()).endpoint;
    network.with(a, |participant, now| participant.ignore_topic(now, &left.topic_name, &left.type_name));
    assert_eq!(reports(&mut network), 1);
}

/// A forged announcement names the locators of victims beside that of the participant, which proves its identity.
#[test]
fn first_proof_makes_only_its_own_address_valid() {
    const STATELESS: (EntityId, EntityId) = (EntityId::STATELESS_MESSAGE_WRITER, EntityId::STATELESS_MESSAGE_READER);
    const KEYS: (EntityId, EntityId) = (EntityId::VOLATILE_MESSAGE_WRITER, EntityId::VOLATILE_MESSAGE_READER);
    const READERS: (EntityId, EntityId) = (EntityId::SEDP_SUBSCRIPTIONS_WRITER, EntityId::SEDP_SUBSCRIPTIONS_READER);
    let mut network = Network::new();
    let mut secure = config(1);
    secure.security = Some(Arc::new(Credulous::default()));
    let a = network.start(secure);
    network.with(a, |participant, now| participant.add_writer(now, writer(1, DataWriterQos::default())));
    let locators = [7, 8, 9].map(|host| Locator::udp_v4([192, 0, 2, host].into(), 7410));
    let announced = announcement(prefix(2), |data| {
        (data.metatraffic_unicast, data.default_unicast) = (locators.to_vec(), locators.to_vec());
        let keys = [BuiltinEndpoints::VOLATILE_MESSAGE_WRITER, BuiltinEndpoints::VOLATILE_MESSAGE_READER];
        data.builtin_endpoints = keys.into_iter().fold(data.builtin_endpoints, BuiltinEndpoints::union);
    });
    let mut answered = false;
    for _ in 0..3 {
        network.deliver(a, &announced);
        if let Some(message) = network.in_flight_to(locators[1]).iter().find_map(|bytes| handshake_message(bytes)) {
            network.deliver(a, &change(prefix(2), STATELESS, &message));
            answered = true;
        }
        network.run_for(Duration::from_millis(10));
    }
    assert!(answered);
    assert_eq!(network.participant(a).route(prefix(2)).unwrap().unicast.to_vec(), [locators[1]]);
    // The first message with keys admits it. Its endpoints are where the proof came from.
    network.deliver(a, &heartbeat(prefix(2), KEYS));
    let mut data = reader(1, DataReaderQos::default());
    data.endpoint.guid.prefix = prefix(2);
    let mut payload = Vec::new();
    data.encode(&mut payload);
    network.deliver(a, &change(prefix(2), READERS, &payload));
    network.deliver(a, &heartbeat(prefix(2), READERS));
    let matched = network.events(a).into_iter().find_map(|event| match event {
        ParticipantEvent::ReaderMatched { reader, .. } => Some(reader.route.unicast.to_vec()),
        _ => None,
    });
    assert_eq!(matched, Some(vec![locators[1]]));
}
