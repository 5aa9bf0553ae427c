//! Actions: long tasks with feedback, a result, and cancellation.
//!
//! An action consists of three services and two topics (`rcl_action`):
//!
//! | name | content |
//! |---|---|
//! | service `_action/send_goal` | a goal, and whether the server accepts it |
//! | service `_action/cancel_goal` | cancellation of one goal or of several |
//! | service `_action/get_result` | the state and the result, once the goal has ended |
//! | topic `_action/feedback` | progress, with the id of the goal |
//! | topic `_action/status` | the states of all goals of the server |

mod client;
mod goals;
mod outcome;
mod server;
mod state;

pub use client::{ActionClient, ClientGoal};
pub use outcome::GoalOutcome;
pub use server::{ActionServer, ActionServerBuilder, GoalRequest, ServerGoal};
pub use state::{GoalEvent, GoalId, GoalState};

/// The names of the parts of an action.
struct Names {
    send_goal: String,
    cancel_goal: String,
    get_result: String,
    feedback: String,
    status: String,
}

impl Names {
    fn of(action: &str) -> Self {
        let part = |name| format!("{action}/_action/{name}");
        Self {
            send_goal: part("send_goal"),
            cancel_goal: part("cancel_goal"),
            get_result: part("get_result"),
            feedback: part("feedback"),
            status: part("status"),
        }
    }
}
