//! Quality of service: policies as plain data, their consistency and their compatibility.
//!
//! In: an entity's QoS, a peer's announced QoS. Out: whether the policies of one entity contradict each other
//! ([`QosErrorKind`]), whether a writer's offer satisfies a reader's request ([`incompatible_policies`]), whether
//! their partitions match ([`partitions_match`]). Owned: nothing; each type is a value.
//!
//! One struct per entity contains the policies that DDS 1.4 gives to that entity, with the defaults of its tables
//! (DDS 1.4, 2.2.3). The structs are `#[non_exhaustive]`: start with `Default::default()` or a [`Preset`] and chain
//! setters.
//!
//! ```
//! use dds_rtps::qos::{
//!     DataReaderQos, DataRepresentation, Durability, OfferedQos, PolicyId, Presentation, Preset, RequestedQos,
//!     incompatible_policies,
//! };
//! let writer = Preset::State.writer().keep_last(3);
//! let reader = DataReaderQos::default().reliable().durability(Durability::Transient);
//! // The reader requests more than the writer offers.
//! let (presentation, representation) = (Presentation::default(), DataRepresentation::Xcdr1);
//! let conflicts = incompatible_policies(
//!     &OfferedQos { qos: &writer, presentation: &presentation, representation, type_is_known: true },
//!     &RequestedQos { qos: &reader, presentation: &presentation, representations: &[representation] },
//! );
//! assert_eq!(conflicts[..], [PolicyId::Durability]);
//! ```

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
#[cfg(feature = "serde")]
mod short_forms;
#[cfg(test)]
mod tests;
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
mod serde_tests {
    use super::*;
    use crate::types::Duration;

    #[test]
    fn configuration_lists_changed_policies_only() {
        let text =
            r#"{ "history": { "keep_last": { "depth": 5 } }, "reliability": "best_effort", "deadline": "20ms" }"#;
        let qos: DataReaderQos = serde_json::from_str(text).unwrap();
        assert_eq!(qos, DataReaderQos::default().keep_last(5).deadline(Duration::from_millis(20)));
        let again = serde_json::to_string(&qos).unwrap();
        assert_eq!(serde_json::from_str::<DataReaderQos>(&again).unwrap(), qos);
    }

    #[test]
    fn misspelled_policy_is_rejected() {
        assert!(serde_json::from_str::<DataWriterQos>(r#"{ "histori": "keep_all" }"#).is_err());
    }
}
