//! Publishers of lifecycle nodes.

use super::machine::LifecycleState;
use super::node::LifecycleNode;
use crate::Result;
use crate::topic::Publisher;
use dds_ros2_msgs::RosMessage;

/// A publisher that publishes only while its node is active.
#[derive(Debug, Clone)]
pub struct LifecyclePublisher<T> {
    publisher: Publisher<T>,
    node: LifecycleNode,
}

impl<T: RosMessage + 'static> LifecyclePublisher<T> {
    pub(super) fn new(publisher: Publisher<T>, node: LifecycleNode) -> Self {
        Self { publisher, node }
    }

    /// Publishes a message if the node is active. Returns whether it is.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub fn publish(&self, message: &T) -> Result<bool> {
        if self.node.state() != LifecycleState::Active {
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
