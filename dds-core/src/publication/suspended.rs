//! Suspension of a publisher, to send its samples together (DDS 1.4, 2.2.2.4.1.8 and 2.2.2.4.1.9).

use crate::publication::PublisherGroup;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Suspension of a publisher. See [`Publisher::suspend_publications`](crate::Publisher::suspend_publications).
///
/// Dropping it sends the held samples.
#[must_use = "publications are resumed when this is dropped"]
pub struct Suspended<'p> {
    group: &'p Arc<PublisherGroup>,
}

impl<'p> Suspended<'p> {
    pub(super) fn new(group: &'p Arc<PublisherGroup>) -> Self {
        group.common().fetch_add(1, Ordering::AcqRel);
        Self { group }
    }
}

impl fmt::Debug for Suspended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suspended({})", self.group.guid())
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let before = self.group.common().fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "each guard has counted itself");
        if before == 1 {
            // A writer that saw the suspension has left its cell before `send_held` enters it.
            for writer in self.group.members() {
                writer.send_held();
            }
        }
    }
}
