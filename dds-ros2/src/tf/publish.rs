//! Publishers of transforms.

use crate::Result;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::topic::Publisher;
use dds_ros2_msgs::geometry_msgs::msg::TransformStamped;
use dds_ros2_msgs::tf2_msgs::msg::TFMessage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    sent: Arc<Mutex<Sent>>,
}

#[derive(Debug, Default)]
struct Sent {
    /// The transforms by their child frames.
    transforms: BTreeMap<String, TransformStamped>,
    /// The transforms differ from the last published message.
    is_changed: bool,
    /// A thread publishes the transforms, and then the next ones.
    is_publishing: bool,
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
        {
            let mut sent = self.sent();
            let named = transforms.iter().map(|transform| (transform.child_frame_id.clone(), transform.clone()));
            sent.transforms.extend(named);
            sent.is_changed = true;
        }
        let mut published = Ok(());
        // One thread at a time: an older message after a newer one would take back a transform. The lock is not held
        // during the call, because a listener of this program may receive the message.
        loop {
            let message = {
                let mut sent = self.sent();
                if sent.is_publishing || !sent.is_changed {
                    return published;
                }
                sent.is_changed = false;
                sent.is_publishing = true;
                TFMessage { transforms: sent.transforms.values().cloned().collect() }
            };
            published = published.and(self.publisher.publish(&message));
            self.sent().is_publishing = false;
        }
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
