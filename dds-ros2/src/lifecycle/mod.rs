//! Lifecycle nodes: other nodes configure, activate and stop them (`rcl_lifecycle`).
//!
//! Input: requests of the service `~/change_state`, and calls of the program. Output: calls of [`LifecycleCallbacks`],
//! messages on `~/transition_event`. Owns the state of one node.

mod machine;
mod node;
mod publisher;

pub use machine::{LifecycleState, LifecycleTransition, TransitionResult};
pub use node::{LifecycleCallbacks, LifecycleNode};
pub use publisher::LifecyclePublisher;
