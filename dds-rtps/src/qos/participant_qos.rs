//! QoS of a DomainParticipant.

use super::EntityFactory;
use super::setters::setters;

/// The policies of a DomainParticipant (DDS 1.4, 2.2.3).
///
/// ```
/// # mod dds_core { pub use dds_rtps::qos; }
/// use dds_core::qos::DomainParticipantQos;
/// let qos = DomainParticipantQos::default().user_data(*b"arm 3");
/// assert!(qos.entity_factory.autoenable_created_entities);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DomainParticipantQos {
    /// USER_DATA, announced with the participant. At most [`USER_DATA_MAX`](super::USER_DATA_MAX) bytes.
    pub user_data: Vec<u8>,
    /// Whether contained entities are enabled when they are created. Default: true.
    pub entity_factory: EntityFactory,
}

setters!(DomainParticipantQos {
    user_data: Vec<u8>,
    entity_factory: EntityFactory,
});
