//! QoS of a Topic, as a template for its readers and writers.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, DurabilityService, History, Liveliness, Ownership, Reliability,
    ResourceLimits,
};
use crate::types::Duration;

/// The policies of a Topic (DDS 1.4, 2.2.3). An endpoint copies them with `copy_from_topic`.
///
/// They have no other effect, except `topic_data`, which is announced with each endpoint of the topic.
///
/// ```
/// # mod dds_core { pub use dds_rtps::qos; }
/// use dds_core::qos::{DataReaderQos, DataWriterQos, TopicQos};
/// let topic = TopicQos::default().reliable().keep_last(4);
/// let writer = DataWriterQos::default().copy_from_topic(&topic);
/// let reader = DataReaderQos::default().copy_from_topic(&topic).keep_all(); // with one difference
/// assert_eq!((writer.history, writer.reliability), (topic.history, reader.reliability));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct TopicQos {
    /// TOPIC_DATA, announced with each endpoint of the topic. At most [`USER_DATA_MAX`](super::USER_DATA_MAX) bytes.
    pub topic_data: Vec<u8>,
    /// Samples that a late joiner receives. Default: volatile, none.
    pub durability: Durability,
    /// Samples that a durability service keeps.
    pub durability_service: DurabilityService,
    /// Longest time between two samples of an instance. Default: infinite.
    pub deadline: Duration,
    /// Acceptable delay. Default: zero.
    pub latency_budget: Duration,
    /// How writers assert their liveliness. Default: automatic, with an infinite lease.
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: best effort, not repaired.
    pub reliability: Reliability,
    /// Clock that orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// Samples kept per instance. Default: the last one.
    pub history: History,
    /// Limits of an endpoint. Default: none.
    pub resource_limits: ResourceLimits,
    /// Urgency of datagrams ([`DataWriterQos::transport_priority`](super::DataWriterQos)). Default: 0, not urgent.
    pub transport_priority: i32,
    /// Age after which a sample is not delivered. Default: infinite.
    pub lifespan: Duration,
    /// Whether one writer at a time owns an instance. Default: shared, no owner.
    pub ownership: Ownership,
    /// Offered and accepted representations. Default: empty, for the automatic choice.
    pub representation: Vec<DataRepresentation>,
}

impl Default for TopicQos {
    fn default() -> Self {
        Self {
            topic_data: Vec::new(),
            durability: Durability::Volatile,
            durability_service: DurabilityService::default(),
            deadline: Duration::INFINITE,
            latency_budget: Duration::ZERO,
            liveliness: Liveliness::default(),
            reliability: Reliability::BestEffort,
            destination_order: DestinationOrder::default(),
            history: History::default(),
            resource_limits: ResourceLimits::default(),
            transport_priority: 0,
            lifespan: Duration::INFINITE,
            ownership: Ownership::Shared,
            representation: Vec::new(),
        }
    }
}

setters!(TopicQos {
    topic_data: Vec<u8>,
    durability: Durability,
    durability_service: DurabilityService,
    deadline: Duration,
    latency_budget: Duration,
    liveliness: Liveliness,
    reliability: Reliability,
    destination_order: DestinationOrder,
    history: History,
    resource_limits: ResourceLimits,
    transport_priority: i32,
    lifespan: Duration,
    ownership: Ownership,
    representation: Vec<DataRepresentation>,
});
choice_setters!(TopicQos);
