//! Announcements of participants and endpoints: parameter lists on the wire (RTPS 2.5, 8.5 and 9.6.3).
//!
//! In: the payload of an SPDP or SEDP sample. Out: [`ParticipantData`], [`PublicationData`], [`SubscriptionData`],
//! with each value in its type and each default filled in; and the reverse.
//!
//! Decoding is lenient where possible. Unknown parameters are ignored. Malformed informative ones (names, user data,
//! properties) are skipped and counted. A malformed value that decides about identity or matching rejects the whole:
//! a default instead could cause a match that neither side requested. Each list, string and octet sequence has a
//! bound.

mod decode;
mod endpoint;
mod key;
mod participant;
mod policies;
mod publication;
mod security;
mod security_algorithms;
mod subscription;

pub use decode::{Decoded, DiscoveryDataError};
pub use endpoint::EndpointData;
pub use key::{endpoint_key, guid_of_key, participant_key};
pub use participant::ParticipantData;
pub use publication::PublicationData;
pub use security::{DataTags, SecurityAnnouncement, SecurityInfo, SecurityToken};
pub use security_algorithms::{AlgorithmSets, SecurityAlgorithms};
pub use subscription::SubscriptionData;
