//! The participant: entry to a domain, owner of discovery (DDS 1.4, 2.2.2.2).
//!
//! In: calls of the application, events of discovery. Out: entities, matches between them, their shutdown. Owned: every
//! other part of a participant, the table of its entities, and the order of their shutdown.

mod audiences;
mod contained;
mod default_qos;
#[cfg(feature = "dynamic")]
mod discovered_type;
mod domain_participant;
mod draining;
#[cfg(feature = "dynamic")]
mod dynamic_topic;
mod endpoints;
mod explaining;
mod filtered;
mod finding;
mod ignoring;
mod inspection;
#[cfg(feature = "derive")]
mod latency_topic;
mod listener;
#[cfg(all(test, feature = "udp", not(dds_loom)))]
mod lonely;
mod matches;
#[cfg(feature = "serde")]
mod named_qos;
mod of_entities;
#[cfg(any(feature = "derive", feature = "security-pki"))]
mod own_topic;
mod participant_builder;
mod participant_handle;
mod receive_end;
#[cfg(feature = "security-pki")]
mod security_log;
mod shutdown;

pub(crate) use contained::Contained;
#[cfg(feature = "dynamic")]
pub(crate) use discovered_type::DiscoverType;
#[cfg(feature = "dynamic")]
pub use discovered_type::DiscoveredType;
pub use domain_participant::DomainParticipant;
pub(crate) use finding::FindTopic;
#[cfg(all(test, feature = "udp", not(dds_loom)))]
pub(crate) use lonely::lonely;
pub use participant_builder::DomainParticipantBuilder;
pub(crate) use participant_handle::ParticipantHandle;
