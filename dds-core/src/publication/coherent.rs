//! Coherent sets of changes (DDS 1.4, 2.2.2.4.1.10, 2.2.2.4.1.11 and 2.2.3.6).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::PublisherGroup;
use std::fmt;
use std::sync::Arc;

/// An open coherent set. See [`Publisher::coherent_changes`](crate::Publisher::coherent_changes).
///
/// Dropping it ends the set.
#[must_use = "the set ends when this is dropped"]
pub struct CoherentChanges<'p> {
    group: &'p Arc<PublisherGroup>,
    has_ended: bool,
}

impl<'p> CoherentChanges<'p> {
    pub(super) fn new(group: &'p Arc<PublisherGroup>) -> Self {
        if let Some(clock) = group.presented() {
            clock.begin_set();
        }
        Self { group, has_ended: false }
    }

    /// Ends the set, unless it is part of another open set.
    ///
    /// # Errors
    /// The set has ended, but a writer could not announce it at once: [`WriteErrorKind::Forked`] or
    /// [`WriteErrorKind::Internal`]. A closed writer announces nothing and causes no error. Readers drop its part of
    /// the set.
    #[doc(alias = "end_coherent_changes")]
    pub fn end(mut self) -> Result<(), WriteError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        // Without PRESENTATION or after an inner set, nothing ends here.
        let Some(clock) = self.group.presented() else { return Ok(()) };
        let Some(ended) = clock.end_set() else { return Ok(()) };
        // Every writer ends its part, also after an error of another one.
        let mut outcome = Ok(());
        for writer in self.group.members() {
            match writer.end_set(ended) {
                Ok(()) | Err(WriteErrorKind::Closed) => {}
                Err(kind) => outcome = Err(writer.write_error(kind)),
            }
        }
        outcome
    }
}

impl fmt::Debug for CoherentChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoherentChanges({})", self.group.guid())
    }
}

impl Drop for CoherentChanges<'_> {
    fn drop(&mut self) {
        // Ignore the error. A caller that needs it calls `end`.
        let _ = self.finish();
    }
}
