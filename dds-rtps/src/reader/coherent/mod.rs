//! Coherent sets (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5): of one writer, and of all writers of a publisher.

pub(crate) mod group;
pub(crate) mod group_gate;
pub(crate) mod set;
