//! A handle that does not keep its participant alive.

use crate::context::ParticipantRef;
use crate::participant::{DomainParticipant, ParticipantHandle};
use std::fmt;
use std::sync::Weak;

/// Handle of a [`DomainParticipant`] that does not keep it alive, from [`DomainParticipant::downgrade`].
///
/// Use it in objects that the participant owns. For example, a listener with a strong handle of its own participant
/// would keep both alive forever.
///
/// ```
/// use dds_core::{DomainParticipant, Scope};
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let weak = participant.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(participant);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct WeakDomainParticipant {
    handle: Weak<ParticipantHandle>,
}

impl WeakDomainParticipant {
    pub(crate) fn new(handle: Weak<ParticipantHandle>) -> Self {
        Self { handle }
    }

    /// Returns the participant, unless its last handle was dropped. It may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<DomainParticipant> {
        ParticipantRef::upgrade(&self.handle).map(DomainParticipant::from_ref)
    }
}

impl fmt::Debug for WeakDomainParticipant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakDomainParticipant").finish_non_exhaustive()
    }
}
