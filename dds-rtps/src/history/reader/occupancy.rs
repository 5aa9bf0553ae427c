//! How full a reader history is, in the terms of RESOURCE_LIMITS.

/// What occupies space in a reader history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Occupancy {
    pub(super) samples: usize,
    pub(super) instances: usize,
    pub(super) withheld: usize,
}

impl Occupancy {
    /// Whether something has left the history since `earlier`.
    pub(crate) fn has_shrunk_since(&self, earlier: &Self) -> bool {
        self.samples < earlier.samples || self.instances < earlier.instances || self.withheld < earlier.withheld
    }
}
