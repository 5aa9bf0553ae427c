//! QoS of a DataReader.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, History, Liveliness, Ownership, ReaderDataLifecycle, Reliability,
    ResourceLimits, TopicQos, TypeConsistency,
};
use crate::types::Duration;

/// The policies of a DataReader (DDS 1.4, 2.2.3). `Default`: best effort, last sample per instance, volatile.
///
/// ```
/// # mod dds_core { pub use dds_rtps::{qos, types::Duration}; }
/// use dds_core::Duration;
/// use dds_core::qos::{DataReaderQos, ResourceLimits};
/// let limits = ResourceLimits::NONE.max_samples(1000);
/// let qos = DataReaderQos::default()
///     .reliable()
///     .keep_all()
///     .resource_limits(limits) // a KEEP_ALL writer blocks at the limit
///     .time_based_filter(Duration::from_millis(100));
/// assert!(qos.reliability.is_reliable());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DataReaderQos {
    /// Samples that the reader receives when it joins late. Default: volatile, none.
    pub durability: Durability,
    /// Longest time between two samples of an instance. Default: infinite.
    ///
    /// A writer matches if it offers no longer one. Each period without a sample of a live instance is counted
    /// (`requested_deadline_missed`). Under EXCLUSIVE ownership a late owner loses the instance.
    pub deadline: Duration,
    /// Acceptable delay of a sample. Default: zero, so writers that delay samples to batch them do not match.
    ///
    /// A received sample is delivered at once.
    pub latency_budget: Duration,
    /// How writers must assert their liveliness. Default: automatic, with an infinite lease.
    ///
    /// A writer matches if it offers the same or a stronger kind, and no longer lease. The writer's lease applies.
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: best effort, not repaired.
    pub reliability: Reliability,
    /// Clock that orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// Samples of each instance that are kept until they are taken. Default: the last one.
    ///
    /// Memory grows with samples times instances.
    pub history: History,
    /// Limits of the reader. Default: none.
    ///
    /// A sample beyond a limit is rejected and counted (`sample_rejected`). A reliable writer sends it again when
    /// there is room.
    pub resource_limits: ResourceLimits,
    /// USER_DATA, announced with the reader. At most [`USER_DATA_MAX`](super::USER_DATA_MAX) bytes.
    pub user_data: Vec<u8>,
    /// Whether one writer at a time owns an instance. Default: shared, no owner.
    pub ownership: Ownership,
    /// Shortest time between two samples of an instance, by the reader's clock. Default: zero, for every sample.
    ///
    /// Of earlier samples the newest is kept, and delivered when the time is over.
    pub time_based_filter: Duration,
    /// Delay until instances that are not alive are forgotten. Default: infinite.
    pub reader_data_lifecycle: ReaderDataLifecycle,
    /// Accepted representations. Default: empty, which accepts XCDR1 and XCDR2.
    pub representation: Vec<DataRepresentation>,
    /// Permitted differences of a writer's type. Default: coercion is allowed, and bounds are ignored.
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
    /// Copies the policies that the topic has as well (DDS 1.4, 2.2.2.5.2.13).
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

    /// Returns the representations that the reader accepts: its list, or XCDR1 and XCDR2.
    #[must_use]
    pub fn accepted_representations(&self) -> &[DataRepresentation] {
        if self.representation.is_empty() { DataRepresentation::READABLE } else { &self.representation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_is_best_effort_by_default() {
        assert_eq!(DataReaderQos::default().reliability, Reliability::BestEffort);
        assert_eq!(DataReaderQos::default().reliable().reliability, Reliability::RELIABLE);
    }

    #[test]
    fn reader_without_list_accepts_both_encodings() {
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
