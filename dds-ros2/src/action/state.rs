//! The states of a goal (`rcl_action/src/rcl_action/goal_state_machine.c`).

use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// The id of a goal: a random UUID that its client chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalId([u8; 16]);

impl GoalId {
    /// The id that stands for no goal in a request to cancel.
    pub(super) const NONE: Self = Self([0; 16]);

    /// Returns an id that no other goal has: a UUID of version 4.
    pub(super) fn random() -> Self {
        // The keys of each hasher come from the random numbers of the system.
        let mut bytes = [0; 16];
        for half in bytes.chunks_exact_mut(8) {
            half.copy_from_slice(&RandomState::new().hash_one(std::process::id()).to_ne_bytes());
        }
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }

    /// Returns the id with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if [4, 6, 8, 10].contains(&index) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// The state of a goal. The numbers are those of `action_msgs/msg/GoalStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GoalState {
    /// The server does not know the goal.
    Unknown = 0,
    /// Accepted, and not started yet.
    Accepted = 1,
    /// The server works on it.
    Executing = 2,
    /// A client has asked to cancel it, and the server is ending it.
    Canceling = 3,
    /// Ended as asked.
    Succeeded = 4,
    /// Ended because a client canceled it.
    Canceled = 5,
    /// Ended by the server without success.
    Aborted = 6,
}

impl GoalState {
    /// Returns the state with this number. Other numbers are [`Unknown`](Self::Unknown).
    #[must_use]
    pub const fn from_number(number: i8) -> Self {
        match number {
            1 => Self::Accepted,
            2 => Self::Executing,
            3 => Self::Canceling,
            4 => Self::Succeeded,
            5 => Self::Canceled,
            6 => Self::Aborted,
            _ => Self::Unknown,
        }
    }

    /// Returns the number of `action_msgs/msg/GoalStatus`.
    #[must_use]
    pub const fn number(self) -> i8 {
        self as i8
    }

    /// Returns whether the goal has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }

    /// Returns the state after an event, or `None` if the state does not allow it.
    ///
    /// ```
    /// use dds_ros2::{GoalEvent, GoalState};
    ///
    /// assert_eq!(GoalState::Accepted.after(GoalEvent::Execute), Some(GoalState::Executing));
    /// assert_eq!(GoalState::Executing.after(GoalEvent::Canceled), None); // A client must ask for it.
    /// ```
    #[must_use]
    pub const fn after(self, event: GoalEvent) -> Option<Self> {
        match (self, event) {
            (Self::Accepted, GoalEvent::Execute) => Some(Self::Executing),
            (Self::Accepted | Self::Executing, GoalEvent::CancelGoal) => Some(Self::Canceling),
            (Self::Executing | Self::Canceling, GoalEvent::Succeed) => Some(Self::Succeeded),
            (Self::Executing | Self::Canceling, GoalEvent::Abort) => Some(Self::Aborted),
            (Self::Canceling, GoalEvent::Canceled) => Some(Self::Canceled),
            _ => None,
        }
    }
}

impl fmt::Display for GoalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}

/// An event that changes the state of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GoalEvent {
    /// The server starts to work.
    Execute,
    /// A client asks to cancel.
    CancelGoal,
    /// The server ends the goal with success.
    Succeed,
    /// The server ends the goal without success.
    Abort,
    /// The server ends the goal because a client asked.
    Canceled,
}

impl fmt::Display for GoalEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Execute => "execute",
            Self::CancelGoal => "cancel_goal",
            Self::Succeed => "succeed",
            Self::Abort => "abort",
            Self::Canceled => "canceled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_has_the_form_of_a_random_uuid() {
        let [first, second] = [GoalId::random(), GoalId::random()];
        assert_ne!(first, second);
        let text = first.to_string();
        assert_eq!((text.len(), &text[14..15]), (36, "4"), "{text}");
        assert!("89ab".contains(&text[19..20]), "{text}");
    }

    #[test]
    fn numbers_survive() {
        for number in 0..=6 {
            assert_eq!(GoalState::from_number(number).number(), number);
        }
        assert_eq!(GoalState::from_number(-1), GoalState::Unknown);
    }
}
