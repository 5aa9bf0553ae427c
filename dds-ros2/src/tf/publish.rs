//! Publishers of transforms.

use crate::Result;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::topic::Publisher;
use dds_ros2_msgs::geometry_msgs::msg::TransformStamped;
use dds_ros2_msgs::tf2_msgs::msg::TFMessage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Publishes transforms that change, on `/tf`.
#[derive(Debug, Clone)]
pub struct TransformBroadcaster {
    publisher: Publisher<TFMessage>,
}

impl TransformBroadcaster {
    /// Creates a broadcaster, with the QoS of `tf2_ros`: reliable, keep last 100.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn new(node: &Node) -> Result<Self> {
        Ok(Self { publisher: node.publisher_with("/tf", QosProfile::DEFAULT.keep_last(100))? })
    }

    /// Publishes transforms.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub fn send(&self, transforms: &[TransformStamped]) -> Result<()> {
        self.publisher.publish(&TFMessage { transforms: transforms.to_vec() })
    }
}

/// Publishes transforms that do not change, on `/tf_static`. Late listeners get them.
#[derive(Debug, Clone)]
pub struct StaticTransformBroadcaster {
    publisher: Publisher<TFMessage>,
    /// The transforms by their child frames.
    sent: Arc<Mutex<BTreeMap<String, TransformStamped>>>,
}

impl StaticTransformBroadcaster {
    /// Creates a broadcaster, with the QoS of `tf2_ros`: reliable, transient local, keep last 1.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn new(node: &Node) -> Result<Self> {
        let qos = QosProfile::DEFAULT.keep_last(1).transient_local();
        Ok(Self { publisher: node.publisher_with("/tf_static", qos)?, sent: Arc::default() })
    }

    /// Publishes transforms with all earlier ones. A transform replaces an earlier one of the same child frame.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub fn send(&self, transforms: &[TransformStamped]) -> Result<()> {
        let message = {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.extend(transforms.iter().map(|transform| (transform.child_frame_id.clone(), transform.clone())));
            TFMessage { transforms: sent.values().cloned().collect() }
        };
        self.publisher.publish(&message)
    }
}
