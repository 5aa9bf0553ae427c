//! Who else is there, what they have, and what of it fits ours (RTPS 2.5, 8.5).
//!
//! In: payloads of the builtin topics. Out: descriptions of participants, writers and readers.

mod builtin;
pub mod data;
mod event;
mod lease;
mod matching;
pub mod parameter_id;
pub mod port;
mod reach;

pub use builtin::BuiltinEndpoints;
pub use event::{Discovered, DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
pub use lease::Leases;
pub use matching::{Matching, Verdict};
pub use reach::{Interface, Reach, is_same_host};
