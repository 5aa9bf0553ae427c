//! The end of a goal as its client sees it.

use super::state::GoalState;
use dds_ros2_msgs::RosAction;
use std::fmt;

/// How a goal has ended, and its result.
pub struct GoalOutcome<A: RosAction> {
    /// [`GoalState::Succeeded`], [`GoalState::Canceled`] or [`GoalState::Aborted`].
    ///
    /// [`GoalState::Unknown`] if the server does not know the goal, for example after its result has expired.
    pub state: GoalState,
    /// The result. An aborted goal often has an empty one.
    pub result: A::Result,
}

impl<A: RosAction> Clone for GoalOutcome<A> {
    fn clone(&self) -> Self {
        Self { state: self.state, result: self.result.clone() }
    }
}

impl<A: RosAction> fmt::Debug for GoalOutcome<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalOutcome").field("state", &self.state).field("result", &self.result).finish()
    }
}
