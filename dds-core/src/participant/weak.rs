//! A handle that keeps no participant alive.

use crate::context::ParticipantRef;
use crate::participant::{DomainParticipant, ParticipantHandle};
use std::fmt;
use std::sync::Weak;

/// A [`DomainParticipant`] that does not keep it alive; from [`DomainParticipant::downgrade`].
///
/// For what lives longer than the participant, or is kept alive by it: a listener's closure with a strong handle of its own
/// participant would keep both for ever.
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

    /// The participant, unless its last handle is gone. It may have been closed.
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
