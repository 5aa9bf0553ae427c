//! Discovery data of other implementations: this crate and tshark parse it alike, and it survives our encoding.

use crate::support::{CAPTURES, capture, vector_path};
use dds_rtps::discovery::data::{EndpointData, ParticipantData, PublicationData, SubscriptionData, guid_of_key};
use dds_rtps::qos::{History, ResourceLimits};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, Locator};
use dds_rtps::wire::{Data, Message, SerializedPayload, Submessage};
use std::fmt::Write as _;

#[test]
fn discovery_data_agrees_with_tshark() {
    for name in CAPTURES {
        let golden = std::fs::read_to_string(vector_path(&format!("{name}.discovery"))).unwrap();
        let mut lines = golden.lines();
        for_each_builtin(name, |number, prefix, data| {
            let expected = lines.next().unwrap_or_else(|| panic!("{name} {number}: not in the golden file"));
            assert_eq!(format!("{number} {}", summary(prefix, data)), expected, "{name}");
        });
        assert_eq!(lines.next(), None, "{name}");
    }
}

#[test]
fn discovery_data_survives_our_encoding() {
    let mut buffer = Vec::new();
    for name in CAPTURES {
        for_each_builtin(name, |_, prefix, data| {
            let SerializedPayload::Data(payload) = data.payload else { return };
            match data.writer_id {
                EntityId::SPDP_WRITER => {
                    let decoded = ParticipantData::decode(payload, prefix).unwrap();
                    decoded.data.encode(&mut buffer);
                    assert_eq!(ParticipantData::decode(&buffer, prefix), Ok(decoded), "{name}");
                }
                EntityId::SEDP_PUBLICATIONS_WRITER => {
                    let mut decoded = PublicationData::decode(payload, prefix).unwrap();
                    decoded.data.encode(&mut buffer);
                    // Our encoding always has HISTORY.
                    decoded.data.endpoint.omits_history = false;
                    assert_eq!(PublicationData::decode(&buffer, prefix), Ok(decoded), "{name}");
                }
                _ => {
                    let decoded = SubscriptionData::decode(payload, prefix).unwrap();
                    decoded.data.encode(&mut buffer);
                    assert_eq!(SubscriptionData::decode(&buffer, prefix), Ok(decoded), "{name}");
                }
            }
        });
    }
}

#[test]
fn damaged_discovery_data_is_at_worst_error() {
    // The generator of Numerical Recipes: its upper half is random enough and equal on all machines.
    let mut state = 0x0dd5_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for name in CAPTURES {
        for_each_builtin(name, |_, prefix, data| {
            let SerializedPayload::Data(payload) = data.payload else { return };
            for _ in 0..200 {
                let mut damaged = payload.to_vec();
                for _ in 0..=random(3) {
                    let at = random(damaged.len());
                    damaged[at] = [0, 0xff, damaged[at] ^ 1, 0x7f][random(4)];
                }
                damaged.truncate(1 + random(damaged.len() * 2));
                let _ = (ParticipantData::decode(&damaged, prefix), guid_of_key(&damaged));
                let _ = (PublicationData::decode(&damaged, prefix), SubscriptionData::decode(&damaged, prefix));
            }
        });
    }
}

/// Visits every DATA of SPDP and SEDP in a capture, with packet number and sender.
fn for_each_builtin(name: &str, mut visit: impl FnMut(usize, GuidPrefix, &Data<'_>)) {
    for packet in capture(name) {
        let message = Message::parse(&packet.payload).unwrap();
        for submessage in message.submessages() {
            let Ok(Submessage::Data(data)) = submessage else { continue };
            if matches!(
                data.writer_id,
                EntityId::SPDP_WRITER | EntityId::SEDP_PUBLICATIONS_WRITER | EntityId::SEDP_SUBSCRIPTIONS_WRITER
            ) {
                visit(packet.number, message.header.prefix, &data);
            }
        }
    }
}

/// Formats the data in the form of `make_discovery_golden.py`.
fn summary(prefix: GuidPrefix, data: &Data<'_>) -> String {
    let status = data.inline_qos.map_or(0, |qos| qos.status_info());
    if status != 0 {
        return gone(data, status);
    }
    let SerializedPayload::Data(payload) = data.payload else { panic!("data without a payload") };
    match data.writer_id {
        EntityId::SPDP_WRITER => participant(&ParticipantData::decode(payload, prefix).unwrap().data),
        EntityId::SEDP_PUBLICATIONS_WRITER => writer(&PublicationData::decode(payload, prefix).unwrap().data),
        _ => reader(&SubscriptionData::decode(payload, prefix).unwrap().data),
    }
}

fn gone(data: &Data<'_>, status: u32) -> String {
    let payload = match data.payload {
        SerializedPayload::None => None,
        SerializedPayload::Data(payload) | SerializedPayload::Key(payload) => Some(payload),
    };
    let hash = data.inline_qos.and_then(|qos| qos.key_hash()).map(Guid::from_bytes);
    let guid = payload.and_then(guid_of_key).or(hash).unwrap();
    let word = match data.writer_id {
        EntityId::SPDP_WRITER => "participant",
        EntityId::SEDP_PUBLICATIONS_WRITER => "writer",
        _ => "reader",
    };
    format!("gone {word} {} status={status}", hex(&guid.to_bytes()))
}

fn participant(data: &ParticipantData) -> String {
    let properties: Vec<String> = data.properties.iter().map(|(name, value)| format!("{name}:{value}")).collect();
    format!(
        "participant {} version={:?} vendor={:?} domain={} lease={} set={:08x} name={} mu={} mm={} du={} dm={} \
         properties={}",
        hex(&Guid::new(data.prefix, EntityId::PARTICIPANT).to_bytes()),
        data.protocol_version,
        data.vendor,
        data.domain_id.map_or("-".to_owned(), |id| id.to_string()),
        duration(data.lease_duration),
        data.builtin_endpoints.0,
        data.entity_name,
        locators(&data.metatraffic_unicast),
        locators(&data.metatraffic_multicast),
        locators(&data.default_unicast),
        locators(&data.default_multicast),
        properties.join(","),
    )
}

fn writer(data: &PublicationData) -> String {
    let qos = &data.qos;
    let numbers = [
        if qos.reliability.is_reliable() { 2 } else { 1 },
        qos.durability as u32,
        qos.ownership as u32,
        qos.destination_order as u32,
    ];
    let mut line = format!("writer {}", names(&data.endpoint));
    policies(&mut line, numbers, qos.deadline, qos.latency_budget);
    endpoint(&mut line, &data.endpoint, qos.representation.iter().map(|r| r.to_wire()).collect());
    keeping(&mut line, qos.history, qos.resource_limits);
    let _ = write!(line, " unicast={}", locators(&data.endpoint.unicast_locators));
    let _ = write!(line, " multicast={}", locators(&data.endpoint.multicast_locators));
    let _ = write!(line, " strength={} lifespan={}", qos.ownership_strength, duration(qos.lifespan));
    line
}

fn reader(data: &SubscriptionData) -> String {
    let qos = &data.qos;
    let numbers = [
        if qos.reliability.is_reliable() { 2 } else { 1 },
        qos.durability as u32,
        qos.ownership as u32,
        qos.destination_order as u32,
    ];
    let mut line = format!("reader {}", names(&data.endpoint));
    policies(&mut line, numbers, qos.deadline, qos.latency_budget);
    endpoint(&mut line, &data.endpoint, qos.representation.iter().map(|r| r.to_wire()).collect());
    keeping(&mut line, qos.history, qos.resource_limits);
    let _ = write!(line, " unicast={}", locators(&data.endpoint.unicast_locators));
    let _ = write!(line, " multicast={}", locators(&data.endpoint.multicast_locators));
    let _ = write!(line, " filter={}", duration(qos.time_based_filter));
    line
}

fn names(endpoint: &EndpointData) -> String {
    format!("{} {} {}", hex(&endpoint.guid.to_bytes()), endpoint.topic_name, endpoint.type_name)
}

fn policies(line: &mut String, numbers: [u32; 4], deadline: Duration, latency: Duration) {
    let [reliability, durability, ownership, order] = numbers;
    let _ = write!(line, " reliability={reliability} durability={durability} ownership={ownership} order={order}");
    let _ = write!(line, " deadline={} latency={}", duration(deadline), duration(latency));
}

fn endpoint(line: &mut String, endpoint: &EndpointData, representations: Vec<i16>) {
    let presentation = endpoint.presentation;
    let (scope, coherent, ordered) =
        (presentation.access_scope as u8, presentation.coherent_access as u8, presentation.ordered_access as u8);
    let ids: Vec<String> = representations.iter().map(ToString::to_string).collect();
    let _ = write!(line, " presentation={scope}/{coherent}/{ordered} partition={}", endpoint.partition.join(","));
    let _ = write!(line, " representation={}", ids.join(","));
}

fn keeping(line: &mut String, history: History, limits: ResourceLimits) {
    let limit = |limit: Option<u32>| limit.map_or(-1, i64::from);
    let history = match history {
        History::KeepLast { depth } => depth.to_string(),
        History::KeepAll => "all".to_owned(),
    };
    let (samples, instances) = (limit(limits.max_samples), limit(limits.max_instances));
    let per_instance = limit(limits.max_samples_per_instance);
    let _ = write!(line, " history={history} limits={samples}/{instances}/{per_instance}");
}

fn duration(duration: Duration) -> String {
    if duration.is_infinite() { "inf".to_owned() } else { duration.as_nanos().to_string() }
}

fn locators(locators: &[Locator]) -> String {
    let text = |locator: &Locator| match locator.to_socket_addr() {
        Some(address) if address.is_ipv4() => address.to_string(),
        _ => format!("kind{}", locator.kind.to_wire()),
    };
    locators.iter().map(text).collect::<Vec<_>>().join(",")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
