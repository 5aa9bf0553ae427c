//! Scripts on a network in memory: participants discover each other, their endpoints match, and they part again.

mod captured;
mod finding;
mod hostile;
mod matching;
mod network;
mod parting;
mod proofs;
mod types;

use dds_rtps::discovery::ParticipantEvent;
use dds_rtps::discovery::data::{EndpointData, PublicationData, SubscriptionData};
use dds_rtps::qos::{DataReaderQos, DataWriterQos};
use dds_rtps::types::{EntityId, EntityKind, Guid, GuidPrefix};

/// Returns the id of the writer with this number.
fn writer_id(number: u32) -> EntityId {
    EntityId::user(number, EntityKind::WriterWithKey)
}

/// Returns the id of the reader with this number.
fn reader_id(number: u32) -> EntityId {
    EntityId::user(number, EntityKind::ReaderWithKey)
}

/// Describes a writer of the topic Square.
fn writer(number: u32, qos: DataWriterQos) -> PublicationData {
    let guid = Guid::new(GuidPrefix::UNKNOWN, writer_id(number));
    PublicationData::new(EndpointData::new(guid, "Square", "ShapeType"), qos, true)
}

/// Describes a reader of the topic Square.
fn reader(number: u32, qos: DataReaderQos) -> SubscriptionData {
    let guid = Guid::new(GuidPrefix::UNKNOWN, reader_id(number));
    SubscriptionData::new(EndpointData::new(guid, "Square", "ShapeType"), qos)
}

/// Formats the events in short.
fn told(events: &[ParticipantEvent]) -> Vec<String> {
    let short = |event: &ParticipantEvent| match event {
        ParticipantEvent::ParticipantDiscovered { participant } => format!("found {:02x}", participant.prefix.0[2]),
        ParticipantEvent::ParticipantLost { prefix, cause } => format!("lost {:02x} {cause:?}", prefix.0[2]),
        ParticipantEvent::ReaderMatched { reader, .. } => format!("reader {}", name(reader.data.endpoint.guid)),
        ParticipantEvent::ReaderUnmatched { reader, .. } => format!("no reader {}", name(*reader)),
        ParticipantEvent::WriterMatched { writer, .. } => format!("writer {}", name(writer.data.endpoint.guid)),
        ParticipantEvent::WriterUnmatched { writer, .. } => format!("no writer {}", name(*writer)),
        ParticipantEvent::OfferedIncompatibleQos { reader, policies, .. } => {
            format!("offered to {}: {policies:?}", name(*reader))
        }
        ParticipantEvent::RequestedIncompatibleQos { writer, policies, .. } => {
            format!("requested of {}: {policies:?}", name(*writer))
        }
        ParticipantEvent::InconsistentTopic { remote, .. } => format!("inconsistent {}", name(*remote)),
        ParticipantEvent::LivelinessAsserted { prefix, kind } => format!("alive {:02x} {kind:?}", prefix.0[2]),
        event => format!("{event:?}"),
    };
    events.iter().map(short).collect()
}

/// Formats as `participant/key`.
fn name(guid: Guid) -> String {
    format!("{:02x}/{}", guid.prefix.0[2], guid.entity_id.0[2])
}
