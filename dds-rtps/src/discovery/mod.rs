//! Who else is there, what they have, and what of it fits ours (RTPS 2.5, 8.5).
//!
//! In: payloads of the builtin topics. Out: descriptions of participants, writers and readers.

mod builtin;
pub mod data;
pub mod parameter_id;

pub use builtin::BuiltinEndpoints;
