//! The policies of each kind of entity, element by element: what a file does not name stays as it is.

use super::reading::{ProfileResult, Reading, each_element, elements, normal};
use crate::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, DomainParticipantQos, Durability,
    DurabilityService, EntityFactory, History, Liveliness, LivelinessKind, Ownership, Presentation, PublisherQos,
    ReaderDataLifecycle, Reliability, ResourceLimits, SubscriberQos, TopicQos, TypeConsistency, TypeConsistencyKind,
    WriterDataLifecycle,
};
use dds_rtps::types::Duration;
use roxmltree::Node;

pub(super) fn writer(reading: &mut Reading<'_>, qos: &mut DataWriterQos, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for policy in node {
        "durability" => durability(reading, &mut qos.durability, policy)?,
        "durability_service" => durability_service(reading, &mut qos.durability_service, policy)?,
        "deadline" => time(reading, "period", &mut qos.deadline, policy)?,
        "latency_budget" => time(reading, "duration", &mut qos.latency_budget, policy)?,
        "liveliness" => liveliness(reading, &mut qos.liveliness, policy)?,
        "reliability" => reliability(reading, &mut qos.reliability, policy)?,
        "destination_order" => destination_order(reading, &mut qos.destination_order, policy)?,
        "history" => history(reading, &mut qos.history, policy)?,
        "resource_limits" => resource_limits(reading, &mut qos.resource_limits, policy)?,
        "transport_priority" => number(reading, &mut qos.transport_priority, policy)?,
        "lifespan" => time(reading, "duration", &mut qos.lifespan, policy)?,
        "user_data" => octets(reading, &mut qos.user_data, policy)?,
        "ownership" => ownership(reading, &mut qos.ownership, policy)?,
        "ownership_strength" => number(reading, &mut qos.ownership_strength, policy)?,
        "writer_data_lifecycle" => writer_data_lifecycle(reading, &mut qos.writer_data_lifecycle, policy)?,
        "data_representation" => representation(reading, &mut qos.representation, policy)?,
        "representation" => representation(reading, &mut qos.representation, policy)?,
    });
    Ok(())
}

pub(super) fn reader(reading: &mut Reading<'_>, qos: &mut DataReaderQos, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for policy in node {
        "durability" => durability(reading, &mut qos.durability, policy)?,
        "deadline" => time(reading, "period", &mut qos.deadline, policy)?,
        "latency_budget" => time(reading, "duration", &mut qos.latency_budget, policy)?,
        "liveliness" => liveliness(reading, &mut qos.liveliness, policy)?,
        "reliability" => reliability(reading, &mut qos.reliability, policy)?,
        "destination_order" => destination_order(reading, &mut qos.destination_order, policy)?,
        "history" => history(reading, &mut qos.history, policy)?,
        "resource_limits" => resource_limits(reading, &mut qos.resource_limits, policy)?,
        "user_data" => octets(reading, &mut qos.user_data, policy)?,
        "ownership" => ownership(reading, &mut qos.ownership, policy)?,
        "time_based_filter" => time(reading, "minimum_separation", &mut qos.time_based_filter, policy)?,
        "reader_data_lifecycle" => reader_data_lifecycle(reading, &mut qos.reader_data_lifecycle, policy)?,
        "data_representation" => representation(reading, &mut qos.representation, policy)?,
        "representation" => representation(reading, &mut qos.representation, policy)?,
        "type_consistency_enforcement" => type_consistency(reading, &mut qos.type_consistency, policy)?,
        "type_consistency" => type_consistency(reading, &mut qos.type_consistency, policy)?,
    });
    Ok(())
}

pub(super) fn topic(reading: &mut Reading<'_>, qos: &mut TopicQos, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for policy in node {
        "topic_data" => octets(reading, &mut qos.topic_data, policy)?,
        "durability" => durability(reading, &mut qos.durability, policy)?,
        "durability_service" => durability_service(reading, &mut qos.durability_service, policy)?,
        "deadline" => time(reading, "period", &mut qos.deadline, policy)?,
        "latency_budget" => time(reading, "duration", &mut qos.latency_budget, policy)?,
        "liveliness" => liveliness(reading, &mut qos.liveliness, policy)?,
        "reliability" => reliability(reading, &mut qos.reliability, policy)?,
        "destination_order" => destination_order(reading, &mut qos.destination_order, policy)?,
        "history" => history(reading, &mut qos.history, policy)?,
        "resource_limits" => resource_limits(reading, &mut qos.resource_limits, policy)?,
        "transport_priority" => number(reading, &mut qos.transport_priority, policy)?,
        "lifespan" => time(reading, "duration", &mut qos.lifespan, policy)?,
        "ownership" => ownership(reading, &mut qos.ownership, policy)?,
        "data_representation" => representation(reading, &mut qos.representation, policy)?,
        "representation" => representation(reading, &mut qos.representation, policy)?,
    });
    Ok(())
}

macro_rules! group {
    ($name:ident, $qos:ident) => {
        pub(super) fn $name(reading: &mut Reading<'_>, qos: &mut $qos, node: Node<'_, '_>) -> ProfileResult<()> {
            each_element!(reading, for policy in node {
                "presentation" => presentation(reading, &mut qos.presentation, policy)?,
                "partition" => partition(reading, &mut qos.partition, policy)?,
                "group_data" => octets(reading, &mut qos.group_data, policy)?,
                "entity_factory" => entity_factory(reading, &mut qos.entity_factory, policy)?,
            });
            Ok(())
        }
    };
}
group!(publisher, PublisherQos);
group!(subscriber, SubscriberQos);

pub(super) fn participant(
    reading: &mut Reading<'_>,
    qos: &mut DomainParticipantQos,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    each_element!(reading, for policy in node {
        "user_data" => octets(reading, &mut qos.user_data, policy)?,
        "entity_factory" => entity_factory(reading, &mut qos.entity_factory, policy)?,
    });
    Ok(())
}

fn durability(reading: &mut Reading<'_>, value: &mut Durability, node: Node<'_, '_>) -> ProfileResult<()> {
    let kinds = [
        ("VOLATILE", Durability::Volatile),
        ("TRANSIENT_LOCAL", Durability::TransientLocal),
        ("TRANSIENT", Durability::Transient),
        ("PERSISTENT", Durability::Persistent),
    ];
    each_element!(reading, for leaf in node {
        "kind" => *value = reading.kind(leaf, "DURABILITY", &kinds)?,
    });
    Ok(())
}

fn durability_service(
    reading: &mut Reading<'_>,
    value: &mut DurabilityService,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    // A file may name the kind or the depth alone. The other keeps the value of its base.
    let (mut all, mut depth) = history_parts(value.history);
    each_element!(reading, for leaf in node {
        "service_cleanup_delay" => value.cleanup_delay = reading.duration(leaf)?,
        "history_kind" => all = reading.kind(leaf, "HISTORY", &HISTORY_KINDS)?,
        "history_depth" => depth = reading.count(leaf)?,
        "max_samples" => value.resource_limits.max_samples = reading.limit(leaf)?,
        "max_instances" => value.resource_limits.max_instances = reading.limit(leaf)?,
        "max_samples_per_instance" => value.resource_limits.max_samples_per_instance = reading.limit(leaf)?,
    });
    value.history = if all { History::KeepAll } else { History::KeepLast { depth } };
    Ok(())
}

/// DEADLINE, LATENCY_BUDGET, LIFESPAN and TIME_BASED_FILTER are a time each, with another name.
fn time(reading: &mut Reading<'_>, name: &'static str, value: &mut Duration, node: Node<'_, '_>) -> ProfileResult<()> {
    for leaf in elements(node) {
        if normal(leaf.tag_name().name()) == normal(name) {
            *value = reading.duration(leaf)?;
        } else {
            reading.unknown(leaf, &[name])?;
        }
    }
    Ok(())
}

fn liveliness(reading: &mut Reading<'_>, value: &mut Liveliness, node: Node<'_, '_>) -> ProfileResult<()> {
    let kinds = [
        ("AUTOMATIC", LivelinessKind::Automatic),
        ("MANUAL_BY_PARTICIPANT", LivelinessKind::ManualByParticipant),
        ("MANUAL_BY_TOPIC", LivelinessKind::ManualByTopic),
    ];
    each_element!(reading, for leaf in node {
        "kind" => value.kind = reading.kind(leaf, "LIVELINESS", &kinds)?,
        "lease_duration" => value.lease_duration = reading.duration(leaf)?,
    });
    Ok(())
}

fn reliability(reading: &mut Reading<'_>, value: &mut Reliability, node: Node<'_, '_>) -> ProfileResult<()> {
    let mut reliable = value.is_reliable();
    // A switch to RELIABLE takes the default blocking time, unless the file names one.
    let before = if reliable { *value } else { Reliability::RELIABLE };
    let mut blocking_time = None;
    each_element!(reading, for leaf in node {
        "kind" => reliable = reading.kind(leaf, "RELIABILITY", &[("BEST_EFFORT", false), ("RELIABLE", true)])?,
        "max_blocking_time" => blocking_time = Some(reading.duration(leaf)?),
    });
    // A file may name only one of the two. The other keeps its value, also that of a base.
    *value = match blocking_time {
        _ if !reliable => Reliability::BestEffort,
        Some(max_blocking_time) => Reliability::Reliable { max_blocking_time },
        None => before,
    };
    Ok(())
}

fn destination_order(reading: &mut Reading<'_>, value: &mut DestinationOrder, node: Node<'_, '_>) -> ProfileResult<()> {
    let kinds = [
        ("BY_RECEPTION_TIMESTAMP", DestinationOrder::ByReceptionTimestamp),
        ("BY_SOURCE_TIMESTAMP", DestinationOrder::BySourceTimestamp),
    ];
    each_element!(reading, for leaf in node {
        "kind" => *value = reading.kind(leaf, "DESTINATIONORDER", &kinds)?,
    });
    Ok(())
}

/// `true`: all.
const HISTORY_KINDS: [(&str, bool); 2] = [("KEEP_LAST", false), ("KEEP_ALL", true)];

fn history_parts(history: History) -> (bool, u32) {
    match history {
        // The default depth (DDS 1.4, 2.2.3.18), for a derived profile that switches to KEEP_LAST.
        History::KeepAll => (true, 1),
        History::KeepLast { depth } => (false, depth),
    }
}

pub(super) fn history(reading: &mut Reading<'_>, value: &mut History, node: Node<'_, '_>) -> ProfileResult<()> {
    let (mut all, mut depth) = history_parts(*value);
    each_element!(reading, for leaf in node {
        "kind" => all = reading.kind(leaf, "HISTORY", &HISTORY_KINDS)?,
        "depth" => depth = reading.count(leaf)?,
    });
    *value = if all { History::KeepAll } else { History::KeepLast { depth } };
    Ok(())
}

pub(super) fn resource_limits(
    reading: &mut Reading<'_>,
    value: &mut ResourceLimits,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "max_samples" => value.max_samples = reading.limit(leaf)?,
        "max_instances" => value.max_instances = reading.limit(leaf)?,
        "max_samples_per_instance" => value.max_samples_per_instance = reading.limit(leaf)?,
    });
    Ok(())
}

/// TRANSPORT_PRIORITY and OWNERSHIP_STRENGTH are a number each.
fn number(reading: &mut Reading<'_>, value: &mut i32, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "value" => *value = reading.integer(leaf)?,
    });
    Ok(())
}

fn octets(reading: &mut Reading<'_>, value: &mut Vec<u8>, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "value" => *value = reading.octets(leaf)?,
    });
    Ok(())
}

fn ownership(reading: &mut Reading<'_>, value: &mut Ownership, node: Node<'_, '_>) -> ProfileResult<()> {
    let kinds = [("SHARED", Ownership::Shared), ("EXCLUSIVE", Ownership::Exclusive)];
    each_element!(reading, for leaf in node {
        "kind" => *value = reading.kind(leaf, "OWNERSHIP", &kinds)?,
    });
    Ok(())
}

fn writer_data_lifecycle(
    reading: &mut Reading<'_>,
    value: &mut WriterDataLifecycle,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "autodispose_unregistered_instances" => value.autodispose_unregistered_instances = reading.boolean(leaf)?,
    });
    Ok(())
}

fn reader_data_lifecycle(
    reading: &mut Reading<'_>,
    value: &mut ReaderDataLifecycle,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "autopurge_nowriter_samples_delay" => value.autopurge_nowriter_samples_delay = reading.duration(leaf)?,
        "autopurge_disposed_samples_delay" => value.autopurge_disposed_samples_delay = reading.duration(leaf)?,
    });
    Ok(())
}

fn representation(
    reading: &mut Reading<'_>,
    value: &mut Vec<DataRepresentation>,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    let kinds = [
        ("XCDR", DataRepresentation::Xcdr1),
        ("XCDR1", DataRepresentation::Xcdr1),
        ("XCDR2", DataRepresentation::Xcdr2),
        ("XML", DataRepresentation::Xml),
    ];
    each_element!(reading, for leaf in node {
        "value" => {
            let mut ids = Vec::new();
            each_element!(reading, for element in leaf {
                "element" => ids.push(reading.kind(element, "DATA_REPRESENTATION", &kinds)?),
            });
            // Fast DDS lists elements, other vendors write one kind.
            if ids.is_empty() {
                ids.push(reading.kind(leaf, "DATA_REPRESENTATION", &kinds)?);
            }
            // The order is a preference, so the list replaces that of the base.
            *value = ids;
        },
    });
    Ok(())
}

fn type_consistency(reading: &mut Reading<'_>, value: &mut TypeConsistency, node: Node<'_, '_>) -> ProfileResult<()> {
    let kinds = [
        ("DISALLOW_TYPE_COERCION", TypeConsistencyKind::DisallowTypeCoercion),
        ("ALLOW_TYPE_COERCION", TypeConsistencyKind::AllowTypeCoercion),
    ];
    each_element!(reading, for leaf in node {
        "kind" => value.kind = reading.kind(leaf, "TYPE_CONSISTENCY", &kinds)?,
        "ignore_sequence_bounds" => value.ignore_sequence_bounds = reading.boolean(leaf)?,
        "ignore_string_bounds" => value.ignore_string_bounds = reading.boolean(leaf)?,
        "ignore_member_names" => value.ignore_member_names = reading.boolean(leaf)?,
        "prevent_type_widening" => value.prevent_type_widening = reading.boolean(leaf)?,
        "force_type_validation" => value.force_type_validation = reading.boolean(leaf)?,
    });
    Ok(())
}

fn presentation(reading: &mut Reading<'_>, value: &mut Presentation, node: Node<'_, '_>) -> ProfileResult<()> {
    let scopes = [("INSTANCE", AccessScope::Instance), ("TOPIC", AccessScope::Topic), ("GROUP", AccessScope::Group)];
    each_element!(reading, for leaf in node {
        "access_scope" => value.access_scope = reading.kind(leaf, "PRESENTATION", &scopes)?,
        "coherent_access" => value.coherent_access = reading.boolean(leaf)?,
        "ordered_access" => value.ordered_access = reading.boolean(leaf)?,
    });
    Ok(())
}

fn partition(reading: &mut Reading<'_>, value: &mut Vec<String>, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "name" => *value = reading.texts(leaf),
        "names" => *value = reading.texts(leaf),
    });
    Ok(())
}

fn entity_factory(reading: &mut Reading<'_>, value: &mut EntityFactory, node: Node<'_, '_>) -> ProfileResult<()> {
    each_element!(reading, for leaf in node {
        "autoenable_created_entities" => value.autoenable_created_entities = reading.boolean(leaf)?,
    });
    Ok(())
}
