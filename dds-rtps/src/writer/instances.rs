//! The instances of a writer, one after the other.

use super::stateful::StatefulWriter;
use crate::history::KeyPayload;
use crate::types::InstanceHandle;

impl StatefulWriter {
    /// The first instance at or behind a place of the instance table that is alive: it was written, and neither disposed of
    /// nor unregistered since. With it the place behind it, where a walk goes on, and where its key can be decoded from.
    ///
    /// A walk from place 0 on meets each instance once that is alive all the while. Those that come or go meanwhile it may
    /// meet or not.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        self.history.next_alive_instance(from)
    }
}
