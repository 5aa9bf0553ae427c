//! Who else is there, what they have, and what of it fits ours (RTPS 2.5, 8.5).
//!
//! The parts that a participant puts together; each is a state machine or a table of its own.
//!
//! | file | in | out |
//! |---|---|---|
//! | `data/` | payloads of SPDP and SEDP | what participants, writers and readers announce, and the way back |
//! | `announced` | | what writers and readers have in common |
//! | `spdp` | our own data, whom to answer | announcements, on time |
//! | `sedp` | our endpoints, peers, their submessages | their endpoints; acknowledgements and repairs |
//! | `liveliness` | leases of our writers | when to assert them, and the message |
//! | `lease` | who was heard when | who was not heard for too long |
//! | `reach` | announced locators, our interfaces | where to send |
//! | `reply` | INFO_REPLY, announced locators | where to answer |
//! | `matching` | endpoints that come, change and go | events: what fits, what does not, and why |
//! | `known_types` | types of endpoints, descriptions of others | whether types fit, and what to ask for |
//! | `type_lookup` | bytes | questions for descriptions of types and answers, and the way back |
//! | `verdict` | a writer and a reader of one topic | what stands between them |
//! | `proxy` | a discovered endpoint | what the local one that it matches has to know |

mod announced;
mod builtin;
pub mod data;
mod event;
mod known_types;
mod lease;
mod liveliness;
mod matching;
pub mod parameter_id;
mod proxy;
mod reach;
mod reply;
mod sedp;
mod spdp;
mod type_lookup;
mod verdict;

pub use announced::Announced;
pub use builtin::BuiltinEndpoints;
pub use event::{Discovered, DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
pub use known_types::KnownTypes;
pub use lease::Leases;
pub use liveliness::{AssertionSchedule, ManualSchedule, ParticipantMessage};
pub use matching::Matching;
pub use reach::{HostAddress, Reach, is_same_host};
pub use reply::ReplyTo;
pub use sedp::{BuiltinPair, BuiltinTopic};
pub use spdp::Announcer;
pub use type_lookup::{LookupCall, LookupReply, LookupRequest, LookupReturn};
pub use verdict::{Differences, Verdict};
