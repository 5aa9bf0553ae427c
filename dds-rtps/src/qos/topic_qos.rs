//! What a Topic suggests to its readers and writers.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, DurabilityService, History, Liveliness, Ownership, Reliability,
    ResourceLimits,
};
use crate::types::Duration;

/// The policies of a Topic (DDS 1.4, 2.2.3). They have no effect of their own but `topic_data`, which is announced with
/// every endpoint of the topic: an endpoint takes them over with `copy_from_topic`.
///
/// ```
/// use dds_rtps::qos::{DataReaderQos, DataWriterQos, TopicQos};
/// let topic = TopicQos::default().reliable().keep_last(4);
/// let writer = DataWriterQos::default().copy_from_topic(&topic);
/// let reader = DataReaderQos::default().copy_from_topic(&topic).keep_all(); // and what differs
/// assert_eq!((writer.history, writer.reliability), (topic.history, reader.reliability));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct TopicQos {
    /// Octets of the application, announced with every endpoint of the topic. At most
    /// [`USER_DATA_MAX`](super::USER_DATA_MAX).
    pub topic_data: Vec<u8>,
    /// What a reader gets that joins late. Default: nothing.
    pub durability: Durability,
    /// What a durability service keeps.
    pub durability_service: DurabilityService,
    /// The longest time between two samples of an instance. Default: infinite.
    pub deadline: Duration,
    /// The delay that is acceptable. Default: zero.
    pub latency_budget: Duration,
    /// How writers show that they are alive. Default: automatic, for ever.
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: no.
    pub reliability: Reliability,
    /// Which clock orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// How many samples are kept per instance. Default: 1.
    pub history: History,
    /// How much an endpoint may keep. Default: no limit.
    pub resource_limits: ResourceLimits,
    /// How urgent datagrams are ([`DataWriterQos::transport_priority`](super::DataWriterQos)). Default: 0, not at all.
    pub transport_priority: i32,
    /// When a sample is too old to be delivered. Default: never.
    pub lifespan: Duration,
    /// Whether one writer at a time owns an instance. Default: no.
    pub ownership: Ownership,
    /// The encodings offered and accepted. Default: empty, the automatic choice.
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
