//! What unit tests of this room begin with: a participant that sees nobody.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use crate::participant::DomainParticipant;
use crate::settings::Scope;

/// A topic's type.
#[cfg(feature = "derive")]
#[derive(crate::DdsType)]
pub(crate) struct Count {
    pub(crate) count: u64,
}

/// One that neither leaves this host nor sees another participant, but those made with the same `name` in this process.
pub(crate) fn lonely(name: &str) -> DomainParticipant {
    let tag = format!("{name}-{}", std::process::id());
    DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag).build().unwrap()
}
