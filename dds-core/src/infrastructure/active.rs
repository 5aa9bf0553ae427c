//! What a wait set returns: the conditions that were triggered.

use crate::infrastructure::{Condition, ConditionId};
use smallvec::SmallVec;

/// How many triggered conditions one wait can tell of without an allocation.
const ACTIVE_IN_PLACE: usize = 64;

/// The conditions that were triggered when a wait ended; at least one.
#[derive(Debug, Clone)]
pub struct Active {
    pub(super) conditions: SmallVec<[ConditionId; ACTIVE_IN_PLACE]>,
}

#[expect(clippy::len_without_is_empty, reason = "it is never empty")]
impl Active {
    /// Whether this condition is among them.
    #[must_use]
    pub fn contains(&self, condition: &dyn Condition) -> bool {
        self.conditions.contains(&condition.trigger().id())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conditions.len()
    }
}
