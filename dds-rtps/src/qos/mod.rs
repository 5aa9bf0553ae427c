//! Quality of service: policies as plain data, what fits together, and what does not.
//!
//! In: an entity's QoS, a peer's announced QoS. Out: whether one entity's policies contradict each other
//! ([`QosErrorKind`]), whether a writer's offer meets a reader's request ([`incompatible_policies`]), whether their
//! partitions meet ([`partitions_match`]). Owned: nothing; every type here is a value.
//!
//! One struct per entity holds the policies that DDS 1.4 gives to that entity, with the defaults of its tables
//! (DDS 1.4, 2.2.3). They are `#[non_exhaustive]`: begin with `Default::default()` or a [`Preset`] and chain setters.
//!
//! ```
//! use dds_rtps::qos::{
//!     DataReaderQos, DataRepresentation, Durability, OfferedQos, PolicyId, Presentation, Preset, RequestedQos,
//!     incompatible_policies,
//! };
//! let writer = Preset::State.writer().keep_last(3);
//! let reader = DataReaderQos::default().reliable().durability(Durability::Transient);
//! // The reader wants more than the writer offers.
//! let (presentation, representation) = (Presentation::default(), DataRepresentation::Xcdr1);
//! let conflicts = incompatible_policies(
//!     &OfferedQos { qos: &writer, presentation: &presentation, representation, type_is_known: true },
//!     &RequestedQos { qos: &reader, presentation: &presentation, representations: &[representation] },
//! );
//! assert_eq!(conflicts[..], [PolicyId::Durability]);
//! ```

#[cfg(test)]
mod book;
mod consistency;
mod group_qos;
mod matching;
mod participant_qos;
mod partition;
mod policy;
mod policy_id;
mod preset;
mod reader_qos;
mod setters;
mod topic_qos;
mod writer_qos;

pub use consistency::{PARTITION_BYTES_MAX, PARTITION_NAME_MAX, QosErrorKind, USER_DATA_MAX};
pub use group_qos::{PublisherQos, SubscriberQos};
pub use matching::{OfferedQos, RequestedQos, incompatible_policies};
pub use participant_qos::DomainParticipantQos;
pub use partition::{example_of, is_pattern, partitions_match};
pub use policy::{
    AccessScope, DataRepresentation, DestinationOrder, Durability, DurabilityService, EntityFactory, History,
    Liveliness, LivelinessKind, Ownership, Presentation, ReaderDataLifecycle, Reliability, ResourceLimits,
    WriterDataLifecycle,
};
pub use policy_id::PolicyId;
pub use preset::Preset;
pub use reader_qos::DataReaderQos;
pub use topic_qos::TopicQos;
pub use writer_qos::DataWriterQos;

pub use dds_cdr::xtypes::{TypeConsistency, TypeConsistencyKind};

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;
    use crate::types::Duration;

    #[test]
    fn a_configuration_names_only_what_differs() {
        let text =
            r#"{ "history": { "keep_last": { "depth": 5 } }, "reliability": "best_effort", "deadline": "20ms" }"#;
        let qos: DataReaderQos = serde_json::from_str(text).unwrap();
        assert_eq!(qos, DataReaderQos::default().keep_last(5).deadline(Duration::from_millis(20)));
        let again = serde_json::to_string(&qos).unwrap();
        assert_eq!(serde_json::from_str::<DataReaderQos>(&again).unwrap(), qos);
    }

    #[test]
    fn a_misspelt_policy_is_refused() {
        assert!(serde_json::from_str::<DataWriterQos>(r#"{ "histori": "keep_all" }"#).is_err());
    }
}
