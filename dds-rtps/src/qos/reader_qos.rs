//! What a DataReader requests.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, History, Liveliness, Ownership, ReaderDataLifecycle, Reliability,
    ResourceLimits, TopicQos, TypeConsistency,
};
use crate::types::Duration;

/// The policies of a DataReader (DDS 1.4, 2.2.3). `Default`: best effort, last sample per instance, volatile.
///
/// ```
/// use dds_rtps::qos::{DataReaderQos, ResourceLimits};
/// use dds_rtps::types::Duration;
/// let mut limits = ResourceLimits::default();
/// limits.max_samples = Some(1000);
/// let qos = DataReaderQos::default()
///     .reliable()
///     .keep_all()
///     .resource_limits(limits) // a writer that keeps all waits when they are reached
///     .time_based_filter(Duration::from_millis(100));
/// assert!(qos.reliability.is_reliable());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DataReaderQos {
    /// What the reader gets when it joins late. Default: nothing.
    pub durability: Durability,
    /// The longest time between two samples of an instance. Default: infinite. A writer matches if it offers no longer one;
    /// each period without a sample of an instance that is alive is counted (`requested_deadline_missed`), and under
    /// EXCLUSIVE ownership a late owner loses the instance.
    pub deadline: Duration,
    /// How long a sample may be under way. Default: zero: writers that let samples wait for others do not match. What has
    /// arrived is delivered at once.
    pub latency_budget: Duration,
    /// How writers have to show that they are alive. Default: automatic, for ever. A writer matches if it offers the same or
    /// a stronger kind, and no longer lease; the lease that counts is the writer's.
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: no.
    pub reliability: Reliability,
    /// Which clock orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// How many samples of each instance are kept until they are taken. Default: 1, a newer one replaces it. Memory grows
    /// with samples times instances.
    pub history: History,
    /// How much the reader may keep. Default: no limit. What comes beyond it is rejected and counted (`sample_rejected`);
    /// reliable writers send it again when there is room.
    pub resource_limits: ResourceLimits,
    /// Octets of the application, announced with the reader. At most [`USER_DATA_MAX`](super::USER_DATA_MAX).
    pub user_data: Vec<u8>,
    /// Whether one writer at a time owns an instance. Default: no.
    pub ownership: Ownership,
    /// The shortest time between two samples of an instance, by the reader's clock. Default: zero, every sample. Of what
    /// comes earlier the newest is kept back, and seen when the time is over.
    pub time_based_filter: Duration,
    /// When instances that are not alive are forgotten. Default: never.
    pub reader_data_lifecycle: ReaderDataLifecycle,
    /// The encodings accepted. Default: empty, all that we can read.
    pub representation: Vec<DataRepresentation>,
    /// How far a writer's type may differ. Default: coercion allowed, bounds ignored.
    pub type_consistency: TypeConsistency,
}

impl Default for DataReaderQos {
    fn default() -> Self {
        Self {
            durability: Durability::Volatile,
            deadline: Duration::INFINITE,
            latency_budget: Duration::ZERO,
            liveliness: Liveliness::default(),
            reliability: Reliability::BestEffort,
            destination_order: DestinationOrder::default(),
            history: History::default(),
            resource_limits: ResourceLimits::default(),
            user_data: Vec::new(),
            ownership: Ownership::Shared,
            time_based_filter: Duration::ZERO,
            reader_data_lifecycle: ReaderDataLifecycle::default(),
            representation: Vec::new(),
            type_consistency: TypeConsistency::default(),
        }
    }
}

setters!(DataReaderQos {
    durability: Durability,
    deadline: Duration,
    latency_budget: Duration,
    liveliness: Liveliness,
    reliability: Reliability,
    destination_order: DestinationOrder,
    history: History,
    resource_limits: ResourceLimits,
    user_data: Vec<u8>,
    ownership: Ownership,
    time_based_filter: Duration,
    reader_data_lifecycle: ReaderDataLifecycle,
    representation: Vec<DataRepresentation>,
    type_consistency: TypeConsistency,
});
choice_setters!(DataReaderQos);

impl DataReaderQos {
    /// Takes over the policies that the topic has too (DDS 1.4, 2.2.2.5.2.13).
    #[must_use]
    #[doc(alias = "copy_from_topic_qos")]
    pub fn copy_from_topic(mut self, topic: &TopicQos) -> Self {
        self.durability = topic.durability;
        self.deadline = topic.deadline;
        self.latency_budget = topic.latency_budget;
        self.liveliness = topic.liveliness;
        self.reliability = topic.reliability;
        self.destination_order = topic.destination_order;
        self.history = topic.history;
        self.resource_limits = topic.resource_limits;
        self.ownership = topic.ownership;
        self.representation.clone_from(&topic.representation);
        self
    }

    /// The encodings that a reader with this QoS accepts: its list, or all that we can read.
    #[must_use]
    pub fn accepted_representations(&self) -> &[DataRepresentation] {
        if self.representation.is_empty() { DataRepresentation::READABLE } else { &self.representation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_best_effort_unless_told_otherwise() {
        assert_eq!(DataReaderQos::default().reliability, Reliability::BestEffort);
        assert_eq!(DataReaderQos::default().reliable().reliability, Reliability::RELIABLE);
    }

    #[test]
    fn a_reader_without_a_list_accepts_both_encodings() {
        let qos = DataReaderQos::default();
        assert_eq!(qos.accepted_representations(), [DataRepresentation::Xcdr1, DataRepresentation::Xcdr2]);
        let qos = qos.representation([DataRepresentation::Xcdr2]);
        assert_eq!(qos.accepted_representations(), [DataRepresentation::Xcdr2]);
    }

    #[test]
    fn topic_policies_are_taken_over() {
        let topic = TopicQos::default().reliable().keep_last(5).deadline(Duration::from_secs(2));
        let qos = DataReaderQos::default().copy_from_topic(&topic);
        assert_eq!((qos.reliability, qos.history), (topic.reliability, topic.history));
        assert_eq!(qos.deadline, Duration::from_secs(2));
    }
}
