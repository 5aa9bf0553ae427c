//! The cell of discovery, and its data of other participants.
//!
//! In: datagrams of the built-in topics, and changes of local endpoints. Out: events, announcements, samples of the
//! built-in topics. Owned: the protocol state of the participant, neighbors on the same host, and the built-in readers.

mod builtin;
mod discovery_handle;
mod knowledge;
mod loneliness;
mod neighbors;
mod participant_actor;

pub(crate) use builtin::BuiltinReaders;
pub(crate) use discovery_handle::Discovery;
pub(crate) use participant_actor::{ParticipantActor, ParticipantCell, ParticipantMail};
