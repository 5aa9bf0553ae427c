//! Publishers and subscriptions: writers and readers of DDS with the names and the QoS of ROS 2.

mod builder;
mod publisher;
mod qos_overrides;
mod subscription;

pub(crate) use builder::Receiving;
pub use builder::{PublisherBuilder, SubscriptionBuilder};
pub use publisher::Publisher;
pub use subscription::Subscription;

use crate::user_data;
use dds_ros2_msgs::RosMessage;

/// USER_DATA of the endpoints of a topic.
pub(crate) fn user_data_of<T: RosMessage>() -> Vec<u8> {
    user_data_with(T::TYPE_HASH)
}

/// USER_DATA of an endpoint whose type has this hash.
pub(crate) fn user_data_with(type_hash: &str) -> Vec<u8> {
    user_data::entry(user_data::TYPE_HASH, type_hash).into_bytes()
}
