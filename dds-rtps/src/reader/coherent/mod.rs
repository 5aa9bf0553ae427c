//! Changes that readers present together (PRESENTATION; DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5).
//!
//! - [`writer_sets`]: the coherent sets of one writer. They let a set into the history when it is complete.
//! - [`group_progress`]: under scope GROUP the same changes go to the gate of the subscriber instead.
//! - [`group_gate`]: the gate of a subscriber. It releases changes when all writers of their publisher allow it.

pub(crate) mod group_gate;
pub(crate) mod group_progress;
pub(crate) mod writer_sets;
