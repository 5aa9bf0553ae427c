//! A participant without peers, for the unit tests of this room.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use crate::participant::DomainParticipant;
use crate::settings::Scope;

/// Type of a topic.
#[cfg(feature = "derive")]
#[derive(crate::DdsType)]
pub(crate) struct Count {
    pub(crate) count: u64,
}

/// Creates a participant that sees only participants of this process with the same `name`.
pub(crate) fn lonely(name: &str) -> DomainParticipant {
    let tag = format!("{name}-{}", std::process::id());
    DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag).build().unwrap()
}
