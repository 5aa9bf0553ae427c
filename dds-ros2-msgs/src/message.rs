//! Traits of the generated types.

#[cfg(feature = "service_msgs")]
use crate::{builtin_interfaces::msg::Time, service_msgs::msg::ServiceEventInfo};
use dds_cdr::cdr::{DdsType, DecodeOwned, TypeDescription};
use std::fmt;

/// A message, or a part of a service or an action.
///
/// The name in DDS is that of [`TypeInfo::DESCRIPTION`](dds_cdr::cdr::TypeInfo::DESCRIPTION).
pub trait RosMessage: DdsType + DecodeOwned + Clone + fmt::Debug + Default + PartialEq + Send + Sync {
    /// The name in ROS: `std_msgs/msg/String`.
    const ROS_NAME: &'static str;
    /// The hash of the type, which endpoints announce as `typehash=RIHS01_…;`.
    const TYPE_HASH: &'static str;
}

/// A service (feature `service_msgs`).
#[cfg(feature = "service_msgs")]
pub trait RosService: Sized + 'static {
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

    /// Creates an event, with or without the request and the response.
    fn event(info: ServiceEventInfo, request: Option<Self::Request>, response: Option<Self::Response>) -> Self::Event;
}

/// An action (feature `service_msgs`).
///
/// The messages that ROS derives from an action contain its parts. The functions create and open these messages, so
/// that generic code can send any action.
///
/// ```
/// # #[cfg(feature = "tf2_msgs")] {
/// use dds_ros2_msgs::{RosAction, SendGoalRequest, tf2_msgs};
///
/// fn request<A: RosAction>(goal: A::Goal) -> SendGoalRequest<A> {
///     A::send_goal_request([7; 16], goal)
/// }
///
/// let goal = tf2_msgs::action::LookupTransformGoal { target_frame: "map".into(), ..Default::default() };
/// let sent = request::<tf2_msgs::action::LookupTransform>(goal);
/// assert_eq!(sent.goal_id.uuid, [7; 16]);
/// # }
/// ```
#[cfg(feature = "service_msgs")]
pub trait RosAction: Sized + 'static {
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

    /// Creates the request that sends a goal.
    fn send_goal_request(goal_id: [u8; 16], goal: Self::Goal) -> SendGoalRequest<Self>;

    /// Returns the id and the goal of a request.
    fn open_send_goal_request(request: SendGoalRequest<Self>) -> ([u8; 16], Self::Goal);

    /// Creates the response to a goal. `stamp` is the time of the acceptance.
    fn send_goal_response(accepted: bool, stamp: Time) -> SendGoalResponse<Self>;

    /// Returns whether the server accepted the goal, and when.
    fn open_send_goal_response(response: SendGoalResponse<Self>) -> (bool, Time);

    /// Creates the request for the result of a goal.
    fn get_result_request(goal_id: [u8; 16]) -> GetResultRequest<Self>;

    /// Returns the id of the goal.
    fn open_get_result_request(request: GetResultRequest<Self>) -> [u8; 16];

    /// Creates the response with a result. `status` is a constant of `action_msgs/msg/GoalStatus`.
    fn get_result_response(status: i8, result: Self::Result) -> GetResultResponse<Self>;

    /// Returns the status of the goal and its result.
    fn open_get_result_response(response: GetResultResponse<Self>) -> (i8, Self::Result);

    /// Creates the message of the feedback topic.
    fn feedback_message(goal_id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage;

    /// Returns the id of the goal and its feedback.
    fn open_feedback_message(message: Self::FeedbackMessage) -> ([u8; 16], Self::Feedback);
}

/// The request that sends a goal of the action `A`.
#[cfg(feature = "service_msgs")]
pub type SendGoalRequest<A> = <<A as RosAction>::SendGoal as RosService>::Request;

/// The response to a goal of the action `A`.
#[cfg(feature = "service_msgs")]
pub type SendGoalResponse<A> = <<A as RosAction>::SendGoal as RosService>::Response;

/// The request for a result of the action `A`.
#[cfg(feature = "service_msgs")]
pub type GetResultRequest<A> = <<A as RosAction>::GetResult as RosService>::Request;

/// The response with a result of the action `A`.
#[cfg(feature = "service_msgs")]
pub type GetResultResponse<A> = <<A as RosAction>::GetResult as RosService>::Response;

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

    /// Returns the entry of the type with this name in ROS, if this build has its package.
    ///
    /// ```
    /// use dds_ros2_msgs::RosTypeEntry;
    ///
    /// let entry = RosTypeEntry::find("std_msgs/msg/String").expect("the package is a default feature");
    /// assert!(entry.type_hash.starts_with("RIHS01_df668c74"));
    /// assert!(RosTypeEntry::find("std_msgs/msg/Strnig").is_none());
    /// ```
    #[must_use]
    pub fn find(ros_name: &str) -> Option<&'static Self> {
        crate::generated::PACKAGES.iter().copied().flatten().find(|entry| entry.ros_name == ros_name)
    }
}
