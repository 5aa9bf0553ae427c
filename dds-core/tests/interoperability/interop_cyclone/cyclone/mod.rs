//! Cyclone DDS as the other side, with its types and policies.

pub(crate) mod agreement;
mod large;
pub(crate) mod peer;
mod policies;
pub(crate) mod types;
mod types_of_others;
