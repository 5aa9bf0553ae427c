//! Publishers of lifecycle nodes.

use super::machine::{LifecycleState, SharedState};
use crate::Result;
use crate::topic::Publisher;
use dds_ros2_msgs::RosMessage;

/// A publisher that publishes only while its node is active.
///
/// It keeps the [`Node`](crate::Node) alive, but neither the lifecycle node nor its callbacks. So callbacks may own it.
#[derive(Debug, Clone)]
pub struct LifecyclePublisher<T> {
    publisher: Publisher<T>,
    state: SharedState,
}

impl<T: RosMessage + 'static> LifecyclePublisher<T> {
    pub(super) fn new(publisher: Publisher<T>, state: SharedState) -> Self {
        Self { publisher, state }
    }

    /// Publishes a message if the node is active. Returns whether it is.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub fn publish(&self, message: &T) -> Result<bool> {
        if self.state.get() != LifecycleState::Active {
            return Ok(false);
        }
        self.publisher.publish(message)?;
        Ok(true)
    }

    /// Returns the publisher itself, which publishes in each state.
    #[must_use]
    pub fn publisher(&self) -> &Publisher<T> {
        &self.publisher
    }
}
