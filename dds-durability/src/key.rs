//! The properties that writers share if one reader and one writer of the service can stand in for them.
//!
//! The key is encoded as the announcement of such a writer in its wire format (RTPS 2.5, 9.6.3). Irrelevant properties
//! are left out, so equal bytes mean equal groups. The database stores the same bytes. A restarted service can restore
//! a group before any of its writers appears.

use dds_core::__private::qos::{example_of, is_pattern};
use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::qos::{DataRepresentation, DataWriterQos, Durability, History, ResourceLimits};
use dds_core::relay::{EndpointData, EntityId, EntityKind, GuidPrefix, PublicationData};
use dds_core::{Duration, Guid};

/// The GUID prefix of the writer in a key. No participant has it.
const NOBODY: GuidPrefix = GuidPrefix([0; 12]);

/// Replaces wildcards in the name of a partition in which only the service reads.
const READING: &str = "(durability service)";

/// The encoded announcement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey(pub(crate) Vec<u8>);

impl GroupKey {
    /// Returns the group of a writer.
    pub(crate) fn of(writer: &PublicationBuiltinTopicData) -> Self {
        let is_keyed = writer.key.entity_id.kind() != EntityKind::WriterNoKey;
        let id = EntityId([0, 0, 1, if is_keyed { 0x02 } else { 0x03 }]);
        let mut endpoint = EndpointData::new(Guid::new(NOBODY, id), &*writer.topic_name, &*writer.type_name);
        endpoint.presentation = writer.presentation;
        endpoint.partition = writer.partition.clone();
        // The order of partitions and their duplicates do not matter for matching.
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

    /// Decodes the announced properties of the group. Returns `None` if the key is malformed.
    pub(crate) fn decode(&self) -> Option<PublicationData> {
        PublicationData::decode(&self.0, NOBODY).ok().map(|decoded| decoded.data)
    }
}

/// Returns partitions in which a reader matches writers in these partitions.
///
/// A pattern never matches a pattern (DDS 1.4, 2.2.3.13). Each pattern is therefore replaced by a name that matches it
/// and that no other endpoint uses. Returns `None` if there is no such name.
pub(crate) fn reading_partition(writers: &[String]) -> Option<Vec<String>> {
    writers.iter().map(|name| if is_pattern(name) { example_of(name, READING) } else { Some(name.clone()) }).collect()
}

/// Returns the QoS of the writer by which the service stands in for a group.
pub(crate) fn stand_in(qos: &DataWriterQos, durability: Durability) -> DataWriterQos {
    let mut qos = qos.clone().durability(durability).lifespan(Duration::INFINITE);
    qos.history = History::KeepAll;
    qos.resource_limits = ResourceLimits::default();
    // Samples of a live writer take precedence over stored ones.
    qos.ownership_strength = i32::MIN;
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    qos
}
