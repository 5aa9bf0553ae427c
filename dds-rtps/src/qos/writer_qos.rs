//! What a DataWriter offers.

use super::setters::{choice_setters, setters};
use super::{
    DataRepresentation, DestinationOrder, Durability, DurabilityService, History, Liveliness, Ownership, Reliability,
    ResourceLimits, TopicQos, WriterDataLifecycle,
};
use crate::types::Duration;

/// The policies of a DataWriter (DDS 1.4, 2.2.3). `Default`: reliable, last sample per instance, volatile.
///
/// ```
/// use dds_rtps::qos::{DataReaderQos, DataWriterQos, Durability, History};
/// use dds_rtps::types::Duration;
/// let qos = DataWriterQos::default()
///     .durability(Durability::TransientLocal) // who joins late gets what is kept
///     .keep_last(10)
///     .deadline(Duration::from_millis(20));
/// assert_eq!(qos.history, History::KeepLast { depth: 10 });
/// // The fields are public, to be read and set as well.
/// let mut urgent = qos.clone();
/// urgent.transport_priority = 4;
/// assert_ne!(urgent, qos);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DataWriterQos {
    /// What a reader gets that joins late. Default: volatile. More costs the memory of what the history holds.
    pub durability: Durability,
    /// What a durability service keeps of a transient or persistent writer. Default: the last sample of each instance, and of
    /// one that has ended nothing. The writer itself keeps no more for it.
    pub durability_service: DurabilityService,
    /// The longest time between two writes of an instance. Default: infinite. A reader matches if it asks for no shorter one;
    /// each period without a write of an instance that is alive is counted (`offered_deadline_missed`).
    pub deadline: Duration,
    /// How long a sample may be under way. Default: zero, it is sent at once. A reader matches if it asks for no shorter one.
    /// Within it, small samples for readers elsewhere wait for others to share a datagram with: several times as many
    /// samples per second, each up to so much later.
    pub latency_budget: Duration,
    /// How the writer shows that it is alive. Default: automatic, for ever. Readers are told when its lease has ended, and so
    /// is a writer that has to show it by hand (`liveliness_lost`).
    pub liveliness: Liveliness,
    /// Whether lost samples are repaired. Default: reliable, and a write waits for room for at most 100 ms.
    pub reliability: Reliability,
    /// Which clock orders samples. Default: the reader's.
    pub destination_order: DestinationOrder,
    /// How many samples of each instance are kept, for repair and for late joiners. Default: 1, a newer one replaces it.
    /// Memory grows with samples times instances.
    pub history: History,
    /// How much the writer may keep. Default: no limit. Under KEEP_ALL, a write waits for room beyond it.
    pub resource_limits: ResourceLimits,
    /// How urgent the writer's datagrams are to those who carry them, higher is more urgent. Default: 0, not at all. May be
    /// changed at any time.
    ///
    /// It is the codepoint (DSCP) of their IP headers, 1 to 63, of which 46 is "expedited" and 8 "background"
    /// ([`TrafficClass`](crate::types::TrafficClass)); numbers below count as 0, numbers above as 63. Whether switches and access
    /// points heed it is up to them. Readers of the same process get samples without a datagram, and as soon as ever.
    pub transport_priority: i32,
    /// When a sample is too old to be sent, repaired or given out, from its source timestamp on. Default: never.
    pub lifespan: Duration,
    /// Octets of the application, announced with the writer. At most [`USER_DATA_MAX`](super::USER_DATA_MAX).
    pub user_data: Vec<u8>,
    /// Whether one writer at a time owns an instance. Default: no.
    pub ownership: Ownership,
    /// Which writer wins an instance that is owned exclusively: the highest. Default: 0.
    pub ownership_strength: i32,
    /// What unregistering means. Default: it disposes.
    pub writer_data_lifecycle: WriterDataLifecycle,
    /// The encodings offered; the first one is used. Default: empty, the automatic choice.
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
    /// Takes over the policies that the topic has too (DDS 1.4, 2.2.2.4.1.14).
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

    /// The encoding that a writer with this QoS uses: the first of its list, or the automatic choice.
    #[must_use]
    pub fn offered_representation(&self, type_is_final: bool) -> DataRepresentation {
        self.representation.first().copied().unwrap_or(DataRepresentation::automatic(type_is_final))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_standard() {
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
    fn reliable_keeps_a_blocking_time_that_was_set() {
        let set = Reliability::Reliable { max_blocking_time: Duration::ZERO };
        assert_eq!(DataWriterQos::default().reliability(set).reliable().reliability, set);
        assert_eq!(DataWriterQos::default().best_effort().reliable().reliability, Reliability::RELIABLE);
    }
}
