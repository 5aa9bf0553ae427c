//! QoS of a DataWriter.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, DurabilityService, History, Liveliness, Ownership, Reliability,
    ResourceLimits, TopicQos, WriterDataLifecycle,
};
use crate::types::Duration;

/// The policies of a DataWriter (DDS 1.4, 2.2.3). `Default`: reliable, last sample per instance, volatile.
///
/// ```
/// # mod dds_core { pub use dds_rtps::{qos, types::Duration}; }
/// use dds_core::Duration;
/// use dds_core::qos::{DataWriterQos, Durability, History};
/// let qos = DataWriterQos::default()
///     .durability(Durability::TransientLocal) // late joiners get the history
///     .keep_last(10)
///     .deadline(Duration::from_millis(20));
/// assert_eq!(qos.history, History::KeepLast { depth: 10 });
/// // The fields are public.
/// let mut urgent = qos.clone();
/// urgent.transport_priority = 4;
/// assert_ne!(urgent, qos);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DataWriterQos {
    /// Samples that a late joiner receives. Default: volatile, none. More costs the memory of the history.
    pub durability: Durability,
    /// Samples that a durability service keeps of a TRANSIENT or PERSISTENT writer. Default: the last sample of each
    /// live instance.
    ///
    /// The writer itself keeps no more for it.
    pub durability_service: DurabilityService,
    /// Longest time between two writes of an instance. Default: infinite.
    ///
    /// A reader matches if it requests no shorter one. Each period without a write of a live instance is counted
    /// (`offered_deadline_missed`).
    pub deadline: Duration,
    /// Acceptable delay of a sample. Default: zero, so each sample is sent at once. A reader matches if it requests
    /// no shorter one.
    ///
    /// Within this time, small samples for remote readers share datagrams: several times as many samples per second,
    /// each later by up to this time.
    pub latency_budget: Duration,
    /// How the writer asserts its liveliness. Default: automatic, with an infinite lease.
    ///
    /// Readers are notified when the lease ends, and so is a writer with manual liveliness (`liveliness_lost`).
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: reliable; `write` blocks for at most 100 ms.
    pub reliability: Reliability,
    /// Clock that orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// Samples of each instance that are kept for repair and for late joiners. Default: the last one.
    ///
    /// Memory grows with samples times instances.
    pub history: History,
    /// Limits of the writer. Default: none. Under KEEP_ALL, `write` blocks at a limit.
    pub resource_limits: ResourceLimits,
    /// Urgency of the writer's datagrams in the network; higher is more urgent. Default: 0, not urgent. It may change
    /// at any time.
    ///
    /// It is the codepoint (DSCP) of their IP headers, 1 to 63; 46 is "expedited" and 8 "background"
    /// ([`TrafficClass`](crate::types::TrafficClass)). Lower numbers count as 0, higher ones as 63. Switches and
    /// access points may ignore it. Readers of the same process receive no datagrams, so it has no effect on them.
    pub transport_priority: i32,
    /// Age, from the source timestamp, after which a sample is not sent, repaired or delivered. Default: infinite.
    pub lifespan: Duration,
    /// USER_DATA, announced with the writer. At most [`USER_DATA_MAX`](super::USER_DATA_MAX) bytes.
    pub user_data: Vec<u8>,
    /// Whether one writer at a time owns an instance. Default: shared, no owner.
    pub ownership: Ownership,
    /// Strength in exclusive ownership; the strongest writer owns an instance. Default: 0.
    pub ownership_strength: i32,
    /// Effect of unregistering an instance. Default: it disposes of the instance.
    pub writer_data_lifecycle: WriterDataLifecycle,
    /// Offered representations; the first one is used. Default: empty, for the automatic choice.
    pub representation: Vec<DataRepresentation>,
}

impl Default for DataWriterQos {
    fn default() -> Self {
        Self {
            durability: Durability::Volatile,
            durability_service: DurabilityService::default(),
            deadline: Duration::INFINITE,
            latency_budget: Duration::ZERO,
            liveliness: Liveliness::default(),
            reliability: Reliability::RELIABLE,
            destination_order: DestinationOrder::default(),
            history: History::default(),
            resource_limits: ResourceLimits::default(),
            transport_priority: 0,
            lifespan: Duration::INFINITE,
            user_data: Vec::new(),
            ownership: Ownership::Shared,
            ownership_strength: 0,
            writer_data_lifecycle: WriterDataLifecycle::default(),
            representation: Vec::new(),
        }
    }
}

setters!(DataWriterQos {
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
    user_data: Vec<u8>,
    ownership: Ownership,
    ownership_strength: i32,
    writer_data_lifecycle: WriterDataLifecycle,
    representation: Vec<DataRepresentation>,
});
choice_setters!(DataWriterQos);

impl DataWriterQos {
    /// Copies the policies that the topic has as well (DDS 1.4, 2.2.2.4.1.14).
    #[must_use]
    #[doc(alias = "copy_from_topic_qos")]
    pub fn copy_from_topic(mut self, topic: &TopicQos) -> Self {
        self.durability = topic.durability;
        self.durability_service = topic.durability_service;
        self.deadline = topic.deadline;
        self.latency_budget = topic.latency_budget;
        self.liveliness = topic.liveliness;
        self.reliability = topic.reliability;
        self.destination_order = topic.destination_order;
        self.history = topic.history;
        self.resource_limits = topic.resource_limits;
        self.transport_priority = topic.transport_priority;
        self.lifespan = topic.lifespan;
        self.ownership = topic.ownership;
        self.representation.clone_from(&topic.representation);
        self
    }

    /// Returns the representation that the writer uses: the first of its list, or the automatic choice.
    #[must_use]
    pub fn offered_representation(&self, type_is_final: bool) -> DataRepresentation {
        self.representation.first().copied().unwrap_or(DataRepresentation::automatic(type_is_final))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writer_defaults_are_those_of_the_standard() {
        let qos = DataWriterQos::default();
        assert_eq!(qos.reliability, Reliability::Reliable { max_blocking_time: Duration::from_millis(100) });
        assert_eq!(qos.history, History::KeepLast { depth: 1 });
        assert_eq!(qos.lifespan, Duration::INFINITE);
        assert!(qos.writer_data_lifecycle.autodispose_unregistered_instances);
    }

    #[test]
    fn an_empty_representation_list_depends_on_the_type() {
        let qos = DataWriterQos::default();
        assert_eq!(qos.offered_representation(true), DataRepresentation::Xcdr1);
        assert_eq!(qos.offered_representation(false), DataRepresentation::Xcdr2);
        let qos = qos.representation([DataRepresentation::Xcdr1, DataRepresentation::Xcdr2]);
        assert_eq!(qos.offered_representation(false), DataRepresentation::Xcdr1);
    }

    #[test]
    fn setters_chain_and_take_both_kinds_of_duration() {
        let qos = DataWriterQos::default()
            .best_effort()
            .keep_all()
            .deadline(std::time::Duration::from_secs(1))
            .lifespan(Duration::from_millis(5))
            .ownership_strength(7);
        assert_eq!(qos.reliability, Reliability::BestEffort);
        assert_eq!(qos.history, History::KeepAll);
        assert_eq!(qos.deadline, Duration::from_secs(1));
        assert_eq!(qos.ownership_strength, 7);
    }

    #[test]
    fn reliable_keeps_an_earlier_blocking_time() {
        let set = Reliability::Reliable { max_blocking_time: Duration::ZERO };
        assert_eq!(DataWriterQos::default().reliability(set).reliable().reliability, set);
        assert_eq!(DataWriterQos::default().best_effort().reliable().reliability, Reliability::RELIABLE);
    }
}
