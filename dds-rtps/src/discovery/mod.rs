//! Discovery: other participants, their endpoints, and which of them match ours (RTPS 2.5, 8.5).
//!
//! Each file is one state machine or table; `participant` connects them.
//!
//! | file | in | out |
//! |---|---|---|
//! | `data/` | payloads of SPDP and SEDP | data of participants, writers and readers, and the reverse |
//! | `endpoint_announcement` | | the common part of writers and readers |
//! | `spdp` | our own data, peers to answer | announcements, on time |
//! | `sedp` | our endpoints, peers, their submessages | their endpoints; acknowledgments and repairs |
//! | `liveliness` | leases of our writers | when to assert them, and the message |
//! | `lease` | received traffic | participants that are silent for too long |
//! | `route` | announced locators, our interfaces | destinations |
//! | `reply` | INFO_REPLY, announced locators | the destination of an answer |
//! | `matching` | endpoints that appear, change and vanish | events: matches, and mismatches with their reasons |
//! | `known_types` | types of endpoints, descriptions of peers | whether types are compatible, and which to request |
//! | `match_result` | a writer and a reader of one topic | their differences |
//! | `type_lookup` | bytes | type requests and replies, and the reverse |
//! | `peer_security` | questions about participants and endpoints | decisions of the plugins of DDS Security |
//! | `proxy` | a discovered endpoint | the proxy configuration of the matched local endpoint |

mod builtin;
pub mod data;
mod endpoint_announcement;
mod event;
mod known_types;
mod lease;
mod liveliness;
mod match_result;
mod matching;
pub mod parameter_id;
mod peer_security;
mod proxy;
mod reply;
mod route;
mod sedp;
mod spdp;
mod type_lookup;

pub use builtin::BuiltinEndpoints;
pub use endpoint_announcement::EndpointAnnouncement;
pub use event::{Discovered, DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
pub use known_types::KnownTypes;
pub use lease::Leases;
pub use liveliness::{AssertionSchedule, LivelinessSchedules, ManualSchedule, ParticipantMessage};
pub use match_result::{Differences, MatchResult};
pub use matching::Matching;
pub use peer_security::{
    MatchPermission, PeerAdmission, PeerSecurity, SecurityAction, SecurityChannel, SecurityReportKind,
};
pub use reply::ReplyTo;
pub(crate) use route::stays_on_host;
pub use route::{HostAddress, Route, is_same_host};
pub use sedp::{AddressState, BuiltinPair, BuiltinPairTopic, PairProfile, SecurePairTopic};
pub use spdp::Announcer;
pub use type_lookup::{LookupCall, LookupReply, LookupRequest, LookupReturn};
