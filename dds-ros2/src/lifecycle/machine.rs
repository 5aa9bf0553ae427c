//! The states and transitions of a lifecycle node (`rcl_lifecycle/src/default_state_machine.c`).

use dds_ros2_msgs::lifecycle_msgs::msg::{State, Transition, TransitionDescription};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A state of a lifecycle node. The numbers are those of `lifecycle_msgs/msg/State`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LifecycleState {
    /// No state.
    Unknown = 0,
    /// The first state.
    Unconfigured = 1,
    /// Configured, and not at work.
    Inactive = 2,
    /// At work.
    Active = 3,
    /// The last state.
    Finalized = 4,
    /// In [`LifecycleCallbacks::on_configure`](super::LifecycleCallbacks::on_configure).
    Configuring = 10,
    /// In [`LifecycleCallbacks::on_cleanup`](super::LifecycleCallbacks::on_cleanup).
    CleaningUp = 11,
    /// In [`LifecycleCallbacks::on_shutdown`](super::LifecycleCallbacks::on_shutdown).
    ShuttingDown = 12,
    /// In [`LifecycleCallbacks::on_activate`](super::LifecycleCallbacks::on_activate).
    Activating = 13,
    /// In [`LifecycleCallbacks::on_deactivate`](super::LifecycleCallbacks::on_deactivate).
    Deactivating = 14,
    /// In [`LifecycleCallbacks::on_error`](super::LifecycleCallbacks::on_error).
    ErrorProcessing = 15,
}

/// The state of a node, for the node and its publishers. It refers to neither.
#[derive(Debug, Clone)]
pub(super) struct SharedState(Arc<Mutex<LifecycleState>>);

impl SharedState {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(LifecycleState::Unconfigured)))
    }

    pub(super) fn get(&self) -> LifecycleState {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, state: LifecycleState) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// All states, in the order of `~/get_available_states`.
pub(super) const STATES: [LifecycleState; 11] = [
    LifecycleState::Unknown,
    LifecycleState::Unconfigured,
    LifecycleState::Inactive,
    LifecycleState::Active,
    LifecycleState::Finalized,
    LifecycleState::Configuring,
    LifecycleState::CleaningUp,
    LifecycleState::ShuttingDown,
    LifecycleState::Activating,
    LifecycleState::Deactivating,
    LifecycleState::ErrorProcessing,
];

impl LifecycleState {
    /// Returns the label, such as `inactive`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Configuring => "configuring",
            Self::CleaningUp => "cleaningup",
            Self::ShuttingDown => "shuttingdown",
            Self::Activating => "activating",
            Self::Deactivating => "deactivating",
            Self::ErrorProcessing => "errorprocessing",
        }
    }

    pub(super) fn to_message(self) -> State {
        State { id: self as u8, label: self.label().to_owned() }
    }
}

impl fmt::Display for LifecycleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A transition that a program or another node asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LifecycleTransition {
    /// From unconfigured to inactive.
    Configure,
    /// From inactive to unconfigured.
    Cleanup,
    /// From inactive to active.
    Activate,
    /// From active to inactive.
    Deactivate,
    /// From unconfigured, inactive or active to finalized.
    Shutdown,
}

impl LifecycleTransition {
    /// Returns the label, such as `configure`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Configure => "configure",
            Self::Cleanup => "cleanup",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::Shutdown => "shutdown",
        }
    }

    /// Returns the transition of a request in a state, by its label, or without one by its number.
    pub(super) fn of_request(request: &Transition, state: LifecycleState) -> Option<Self> {
        let all = [Self::Configure, Self::Cleanup, Self::Activate, Self::Deactivate, Self::Shutdown];
        let is_meant = |row: &&Row| match request.label.as_str() {
            "" => row.id == request.id,
            label => row.label == label,
        };
        let row = ROWS.iter().filter(|row| row.start == state).find(is_meant)?;
        all.into_iter().find(|transition| transition.label() == row.label)
    }
}

impl fmt::Display for LifecycleTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// The result of a callback of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TransitionResult {
    /// The node reaches the new state.
    #[default]
    Success,
    /// The node returns to the old state.
    Failure,
    /// The node calls [`LifecycleCallbacks::on_error`](super::LifecycleCallbacks::on_error).
    Error,
}

/// A row of the state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: u8,
    pub(super) label: &'static str,
    pub(super) start: LifecycleState,
    pub(super) goal: LifecycleState,
}

impl Row {
    pub(super) fn transition(&self) -> Transition {
        Transition { id: self.id, label: self.label.to_owned() }
    }

    pub(super) fn to_message(self) -> TransitionDescription {
        TransitionDescription {
            transition: self.transition(),
            start_state: self.start.to_message(),
            goal_state: self.goal.to_message(),
        }
    }
}

const fn row(id: u8, label: &'static str, start: LifecycleState, goal: LifecycleState) -> Row {
    Row { id, label, start, goal }
}

const SUCCESS: &str = "transition_success";
const FAILURE: &str = "transition_failure";
const ERROR: &str = "transition_error";

/// All transitions, in the order of `~/get_transition_graph`.
pub(super) const ROWS: [Row; 25] = {
    use LifecycleState as S;
    [
        row(1, "configure", S::Unconfigured, S::Configuring),
        row(10, SUCCESS, S::Configuring, S::Inactive),
        row(11, FAILURE, S::Configuring, S::Unconfigured),
        row(12, ERROR, S::Configuring, S::ErrorProcessing),
        row(2, "cleanup", S::Inactive, S::CleaningUp),
        row(20, SUCCESS, S::CleaningUp, S::Unconfigured),
        row(21, FAILURE, S::CleaningUp, S::Inactive),
        row(22, ERROR, S::CleaningUp, S::ErrorProcessing),
        row(3, "activate", S::Inactive, S::Activating),
        row(30, SUCCESS, S::Activating, S::Active),
        row(31, FAILURE, S::Activating, S::Inactive),
        row(32, ERROR, S::Activating, S::ErrorProcessing),
        row(4, "deactivate", S::Active, S::Deactivating),
        row(40, SUCCESS, S::Deactivating, S::Inactive),
        row(41, FAILURE, S::Deactivating, S::Active),
        row(42, ERROR, S::Deactivating, S::ErrorProcessing),
        row(5, "shutdown", S::Unconfigured, S::ShuttingDown),
        row(6, "shutdown", S::Inactive, S::ShuttingDown),
        row(7, "shutdown", S::Active, S::ShuttingDown),
        row(50, SUCCESS, S::ShuttingDown, S::Finalized),
        row(51, FAILURE, S::ShuttingDown, S::Finalized),
        row(52, ERROR, S::ShuttingDown, S::ErrorProcessing),
        row(60, SUCCESS, S::ErrorProcessing, S::Unconfigured),
        row(61, FAILURE, S::ErrorProcessing, S::Finalized),
        row(62, ERROR, S::ErrorProcessing, S::Finalized),
    ]
};

/// Returns the row for a label in a state.
pub(super) fn row_of(state: LifecycleState, label: &str) -> Option<Row> {
    ROWS.into_iter().find(|row| row.start == state && row.label == label)
}

/// Returns the row for the result of a callback in a state.
pub(super) fn row_of_result(state: LifecycleState, result: TransitionResult) -> Option<Row> {
    row_of(
        state,
        match result {
            TransitionResult::Success => SUCCESS,
            TransitionResult::Failure => FAILURE,
            TransitionResult::Error => ERROR,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_callback_state_has_all_results_and_primary_states_have_none() {
        for state in STATES {
            let is_callback = state as u8 >= 10;
            for result in [TransitionResult::Success, TransitionResult::Failure, TransitionResult::Error] {
                assert_eq!(row_of_result(state, result).is_some(), is_callback, "{state} {result:?}");
            }
            assert_eq!(row_of(state, "shutdown").is_some(), (1..=3).contains(&(state as u8)), "{state}");
        }
        let ids: std::collections::BTreeSet<u8> = ROWS.iter().map(|row| row.id).collect();
        assert_eq!(ids.len(), ROWS.len());
    }

    #[test]
    fn request_names_a_transition_of_its_state() {
        use LifecycleState as S;
        let request =
            |id, label: &str, state| LifecycleTransition::of_request(&Transition { id, label: label.into() }, state);
        assert_eq!(request(1, "", S::Unconfigured), Some(LifecycleTransition::Configure));
        assert_eq!(request(6, "", S::Inactive), Some(LifecycleTransition::Shutdown));
        assert_eq!(request(0, "activate", S::Inactive), Some(LifecycleTransition::Activate));
        for state in STATES {
            // The numbers of callbacks' results are no requests.
            assert_eq!((request(0, "", state), request(1, "fly", state), request(10, "", state)), (None, None, None));
            assert_eq!(request(7, "", state).is_some(), state == S::Active, "{state}");
            assert_eq!(request(0, "configure", state).is_some(), state == S::Unconfigured, "{state}");
        }
    }
}
