//! What an entity needs of its participant, without knowing how the participant works.
//!
//! In: entities that are created, closed, or change their QoS or listener. Out: the services that every entity of a
//! participant uses. Owned: groups (publishers and subscribers without the types of their endpoints), the place of each
//! listener, and the count of the application's handles.

mod group;
mod listening;
mod participant_context;
mod participant_core;
mod participant_ref;
mod search;
mod wait_set;

pub(crate) use group::{EndpointGroup, GroupedEndpoint};
pub(crate) use listening::{ListenerPlace, NewListener};
pub(crate) use participant_context::ParticipantContext;
pub(crate) use participant_core::ParticipantCore;
pub(crate) use participant_ref::{ParticipantRef, Users};
pub use wait_set::WaitSet;

use crate::actor::Signals;

/// Signal to the cell of discovery: a writer that is manual by participant has asserted its liveliness.
pub(crate) const WRITER_IS_ALIVE: Signals = Signals::own(2);
