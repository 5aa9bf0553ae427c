//! How full a reader's cache is, as far as RESOURCE_LIMITS count it.

use super::reader::ReaderHistory;

/// What takes up room in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Occupancy {
    samples: usize,
    instances: usize,
    unseen: usize,
}

impl Occupancy {
    /// Whether something has left that was there.
    pub(crate) fn has_shrunk_since(&self, earlier: &Self) -> bool {
        self.samples < earlier.samples || self.instances < earlier.instances || self.unseen < earlier.unseen
    }
}

impl ReaderHistory {
    /// What takes up room.
    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy { samples: self.valid, instances: self.instances.len(), unseen: self.unseen.samples }
    }
}
