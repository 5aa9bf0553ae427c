//! Traits of the generated types.

use dds_cdr::cdr::{TypeDescription, TypeInfo};

/// A message, or a part of a service or an action.
pub trait RosMessage: TypeInfo {
    /// The name in ROS: `std_msgs/msg/String`.
    const ROS_NAME: &'static str;
    /// The hash of the type, which endpoints announce as `typehash=RIHS01_…;`.
    const TYPE_HASH: &'static str;
}

/// A service.
pub trait RosService {
    /// The request.
    type Request: RosMessage;
    /// The response.
    type Response: RosMessage;
    /// The event of service introspection.
    type Event: RosMessage;
    /// The name in ROS: `std_srvs/srv/SetBool`.
    const ROS_NAME: &'static str;
    /// The hash of the service.
    const TYPE_HASH: &'static str;
}

/// An action.
pub trait RosAction {
    /// The goal.
    type Goal: RosMessage;
    /// The result.
    type Result: RosMessage;
    /// The feedback.
    type Feedback: RosMessage;
    /// The feedback with the id of its goal: the type of the feedback topic.
    type FeedbackMessage: RosMessage;
    /// The service that sends a goal.
    type SendGoal: RosService;
    /// The service that waits for a result.
    type GetResult: RosService;
    /// The name in ROS: `tf2_msgs/action/LookupTransform`.
    const ROS_NAME: &'static str;
    /// The hash of the action.
    const TYPE_HASH: &'static str;
}

/// A type of a package: its names, its hash and its description.
#[derive(Debug, Clone, Copy)]
pub struct RosTypeEntry {
    /// The name in ROS.
    pub ros_name: &'static str,
    /// The hash.
    pub type_hash: &'static str,
    /// The members, and the name in DDS.
    pub description: &'static TypeDescription,
}

impl RosTypeEntry {
    /// Returns the entry of a type.
    #[must_use]
    pub const fn of<T: RosMessage>() -> Self {
        Self { ros_name: T::ROS_NAME, type_hash: T::TYPE_HASH, description: T::DESCRIPTION }
    }
}
