//! What writers have in common for which one reader and one writer of the service can stand in.
//!
//! Written down as the announcement of such a writer, in the form that it has on the wire (RTPS 2.5, 9.6.3), without all that
//! makes no difference: equal bytes, equal groups. It is also how the database names them, so a group is there again before any
//! of its writers.

use crate::qos::{DataRepresentation, DataWriterQos, Durability, History, ResourceLimits, example_of, is_pattern};
use crate::topic::PublicationBuiltinTopicData;
use dds_rtps::discovery::data::{EndpointData, PublicationData};
use dds_rtps::types::{Duration, EntityId, EntityKind, Guid, GuidPrefix};

/// The writer in a key, which nobody is.
const NOBODY: GuidPrefix = GuidPrefix([0; 12]);

/// What stands for any name in a partition in which only the service reads.
const READING: &str = "(durability service)";

/// The bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct GroupKey(pub(super) Vec<u8>);

impl GroupKey {
    /// The group of a writer.
    pub(super) fn of(writer: &PublicationBuiltinTopicData) -> Self {
        let is_keyed = writer.key.entity_id.kind() != EntityKind::WriterNoKey;
        let id = EntityId([0, 0, 1, if is_keyed { 0x02 } else { 0x03 }]);
        let mut endpoint = EndpointData::new(Guid::new(NOBODY, id), &*writer.topic_name, &*writer.type_name);
        endpoint.presentation = writer.presentation;
        endpoint.partition = writer.partition.clone();
        endpoint.partition.sort_unstable();
        endpoint.partition.dedup();
        let qos = &writer.qos;
        let representation = qos.representation.first().copied().unwrap_or(DataRepresentation::Xcdr1);
        let qos = DataWriterQos::default()
            .durability(qos.durability)
            .durability_service(qos.durability_service)
            .deadline(qos.deadline)
            .latency_budget(qos.latency_budget)
            .liveliness(qos.liveliness)
            .reliability(qos.reliability)
            .destination_order(qos.destination_order)
            .ownership(qos.ownership)
            .representation([representation]);
        let mut bytes = Vec::new();
        PublicationData { endpoint, qos }.encode(&mut bytes);
        Self(bytes)
    }

    /// What the writers of the group announce; `None`: it is no key.
    pub(super) fn decode(&self) -> Option<PublicationData> {
        PublicationData::decode(&self.0, NOBODY).ok().map(|decoded| decoded.data)
    }
}

/// In which partitions writers of these are met. A pattern never meets a pattern (DDS 1.4, 2.2.3.13), so where they have one, it
/// is met by a name that it fits and that nobody else has. `None`: there is no such name.
pub(super) fn reading_partition(writers: &[String]) -> Option<Vec<String>> {
    writers.iter().map(|name| if is_pattern(name) { example_of(name, READING) } else { Some(name.clone()) }).collect()
}

/// What the service's own writer of a group announces.
pub(super) fn stand_in(qos: &DataWriterQos, durability: Durability) -> DataWriterQos {
    let mut qos = qos.clone().durability(durability).lifespan(Duration::INFINITE);
    qos.history = History::KeepAll;
    qos.resource_limits = ResourceLimits::default();
    // A living writer goes before what is kept.
    qos.ownership_strength = i32::MIN;
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    qos
}
