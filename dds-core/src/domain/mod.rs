//! The participant: entry to a domain, owner of discovery (DDS 1.4, 2.2.2.2).

mod builtin;
mod closing;
mod config;
mod contained;
#[cfg(feature = "profiles")]
mod dds_xml;
mod default_qos;
mod discovered_type;
mod domain_participant;
mod draining;
#[cfg(feature = "dynamic")]
mod dynamic_topic;
mod endpoint_info;
mod endpoints;
mod event_thread;
mod explain;
mod filtered;
mod finding;
mod group;
mod ignoring;
mod inspection;
mod knowledge;
mod landing;
mod leaving;
mod listener;
mod listening;
mod liveliness;
#[cfg(all(test, feature = "udp", not(dds_loom)))]
mod lonely;
mod match_report;
mod matches;
#[cfg(feature = "serde")]
mod named_qos;
mod neighbours;
mod outgoing;
mod participant_actor;
mod participant_builder;
mod participant_handle;
mod participant_ref;
mod peer_address;
#[cfg(feature = "serde")]
mod profiles;
mod receive;
mod routes;
mod traffic;
mod weak;

pub(crate) use closing::{Awaitable, close_cell};
pub(crate) use config::DURABILITY_SERVICE;
pub use config::{Receiving, Scope};
pub(crate) use contained::Contained;
#[cfg(feature = "dynamic")]
pub(crate) use discovered_type::DiscoverType;
pub use discovered_type::DiscoveredType;
pub use domain_participant::DomainParticipant;
pub(crate) use draining::SETTLE;
pub use endpoint_info::{EndpointInfo, EndpointQos};
pub(crate) use event_thread::EventThread;
pub(crate) use finding::FindTopic;
pub(crate) use group::{Group, Member};
pub use listener::DomainParticipantListener;
pub(crate) use listening::{ListenerPlace, NewListener};
pub use match_report::{MatchReport, Obstacle, Verdict};
pub(crate) use outgoing::{Flushed, Outgoing};
pub(crate) use participant_actor::WRITER_IS_ALIVE;
pub use participant_builder::DomainParticipantBuilder;
pub(crate) use participant_handle::ParticipantHandle;
pub(crate) use participant_ref::ParticipantRef;
#[cfg(feature = "serde")]
pub(crate) use profiles::Profiles;
pub(crate) use routes::Routes;
pub use traffic::TrafficCounters;
pub use weak::WeakDomainParticipant;
