//! Result of a wait set: the triggered conditions.

use crate::infrastructure::{Condition, ConditionId};
use smallvec::SmallVec;

/// Triggered conditions that one wait can return without an allocation.
const ACTIVE_IN_PLACE: usize = 64;

/// The conditions that were triggered when a wait ended. At least one.
#[derive(Debug, Clone)]
pub struct Active {
    pub(super) conditions: SmallVec<[ConditionId; ACTIVE_IN_PLACE]>,
}

#[expect(clippy::len_without_is_empty, reason = "it is never empty")]
impl Active {
    /// Returns whether `condition` was triggered.
    #[must_use]
    pub fn contains(&self, condition: &dyn Condition) -> bool {
        self.conditions.contains(&condition.trigger().id())
    }

    /// Returns the number of triggered conditions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conditions.len()
    }
}
