//! The action `test_msgs/action/Fibonacci`. The wheels of ROS 2 lack `example_interfaces`.
//!
//! As `dds-ros2-msgs` has it of `example_interfaces`, with the names and the hashes of `test_msgs`.

/// Goal
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_Goal_")]
pub(crate) struct FibonacciGoal {
    pub order: i32,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciGoal {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Goal";
    const TYPE_HASH: &'static str = "RIHS01_e58ef5a8f4f039ab522a740823547c460b1d5aed8031c8b7825d33d345d90df8";
}

/// Result
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_Result_")]
pub(crate) struct FibonacciResult {
    pub sequence: ::std::vec::Vec<i32>,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciResult {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Result";
    const TYPE_HASH: &'static str = "RIHS01_0774b095467813c6904d475498b5486b7ebd4cda6a4569f97e8de8c862689049";
}

/// Feedback
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_Feedback_")]
pub(crate) struct FibonacciFeedback {
    pub sequence: ::std::vec::Vec<i32>,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciFeedback {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Feedback";
    const TYPE_HASH: &'static str = "RIHS01_7d1110f2efa019ad5ad8ad2244db98d862f39dc9fae8c976814b0065fa2f32d5";
}

/// `test_msgs/action/Fibonacci_SendGoal_Request`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_SendGoal_Request_")]
pub(crate) struct FibonacciSendGoalRequest {
    pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
    pub goal: FibonacciGoal,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalRequest {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Request";
    const TYPE_HASH: &'static str = "RIHS01_dfe75c73dc2c090cbc8fd8c45039bfa279d16aa6aadd348f812c6adad26e669e";
}

/// `test_msgs/action/Fibonacci_SendGoal_Response`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_SendGoal_Response_")]
pub(crate) struct FibonacciSendGoalResponse {
    pub accepted: bool,
    pub stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalResponse {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Response";
    const TYPE_HASH: &'static str = "RIHS01_1e7e84f7edf1fb020d9e51c7842bceef4cbdbd847f354125f3227cf4f314a683";
}

/// `test_msgs/action/Fibonacci_SendGoal_Event`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_SendGoal_Event_")]
pub(crate) struct FibonacciSendGoalEvent {
    pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
    #[dds(bound = 1)]
    pub request: ::std::vec::Vec<FibonacciSendGoalRequest>,
    #[dds(bound = 1)]
    pub response: ::std::vec::Vec<FibonacciSendGoalResponse>,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalEvent {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Event";
    const TYPE_HASH: &'static str = "RIHS01_a20e708c6aae7a99d1eb0e930a0916f596bb5bae93a342a61752e13135be2c44";
}

/// `test_msgs/action/Fibonacci_GetResult_Request`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_GetResult_Request_")]
pub(crate) struct FibonacciGetResultRequest {
    pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultRequest {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Request";
    const TYPE_HASH: &'static str = "RIHS01_c65e93c4c4328d7f1abd6ace83dba8e5fa0f32de76b4d2c96b5c655d94803b92";
}

/// `test_msgs/action/Fibonacci_GetResult_Response`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_GetResult_Response_")]
pub(crate) struct FibonacciGetResultResponse {
    pub status: i8,
    pub result: FibonacciResult,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultResponse {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Response";
    const TYPE_HASH: &'static str = "RIHS01_ef88159d47a3d21d9bf4bec690cf668939d9542db28a9cfd77dbcd97eaf1add2";
}

/// `test_msgs/action/Fibonacci_GetResult_Event`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_GetResult_Event_")]
pub(crate) struct FibonacciGetResultEvent {
    pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
    #[dds(bound = 1)]
    pub request: ::std::vec::Vec<FibonacciGetResultRequest>,
    #[dds(bound = 1)]
    pub response: ::std::vec::Vec<FibonacciGetResultResponse>,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultEvent {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Event";
    const TYPE_HASH: &'static str = "RIHS01_fe0aa5843ef10550a9b322aeeccd5b11e78bca05b3571cf6999c51bff30c1e23";
}

/// `test_msgs/action/Fibonacci_FeedbackMessage`.
#[derive(Debug, Clone, PartialEq, Default, Eq, Hash, ::dds_core::DdsType)]
#[dds(name = "test_msgs::action::dds_::Fibonacci_FeedbackMessage_")]
pub(crate) struct FibonacciFeedbackMessage {
    pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
    pub feedback: FibonacciFeedback,
}

impl ::dds_ros2_msgs::RosMessage for FibonacciFeedbackMessage {
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_FeedbackMessage";
    const TYPE_HASH: &'static str = "RIHS01_37487bae8cea358366b97003c1ef1ca7ce7c08df36f9e8cca496624226aee64e";
}

/// The action `test_msgs/action/Fibonacci`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Fibonacci;

impl ::dds_ros2_msgs::RosAction for Fibonacci {
    type Goal = FibonacciGoal;
    type Result = FibonacciResult;
    type Feedback = FibonacciFeedback;
    type FeedbackMessage = FibonacciFeedbackMessage;
    type SendGoal = FibonacciSendGoal;
    type GetResult = FibonacciGetResult;
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci";
    const TYPE_HASH: &'static str = "RIHS01_be9273e3557225044b4a040811112491f7079326e3a573f83258b0b4c30bd069";

    fn send_goal_request(goal_id: [u8; 16], goal: Self::Goal) -> FibonacciSendGoalRequest {
        FibonacciSendGoalRequest { goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID { uuid: goal_id }, goal }
    }

    fn open_send_goal_request(request: FibonacciSendGoalRequest) -> ([u8; 16], Self::Goal) {
        (request.goal_id.uuid, request.goal)
    }

    fn send_goal_response(
        accepted: bool,
        stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    ) -> FibonacciSendGoalResponse {
        FibonacciSendGoalResponse { accepted, stamp }
    }

    fn open_send_goal_response(
        response: FibonacciSendGoalResponse,
    ) -> (bool, ::dds_ros2_msgs::builtin_interfaces::msg::Time) {
        (response.accepted, response.stamp)
    }

    fn get_result_request(goal_id: [u8; 16]) -> FibonacciGetResultRequest {
        FibonacciGetResultRequest { goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID { uuid: goal_id } }
    }

    fn open_get_result_request(request: FibonacciGetResultRequest) -> [u8; 16] {
        request.goal_id.uuid
    }

    fn get_result_response(status: i8, result: Self::Result) -> FibonacciGetResultResponse {
        FibonacciGetResultResponse { status, result }
    }

    fn open_get_result_response(response: FibonacciGetResultResponse) -> (i8, Self::Result) {
        (response.status, response.result)
    }

    fn feedback_message(goal_id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage {
        FibonacciFeedbackMessage {
            goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID { uuid: goal_id },
            feedback,
        }
    }

    fn open_feedback_message(message: Self::FeedbackMessage) -> ([u8; 16], Self::Feedback) {
        (message.goal_id.uuid, message.feedback)
    }
}

/// The service `test_msgs/action/Fibonacci_SendGoal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct FibonacciSendGoal;

impl ::dds_ros2_msgs::RosService for FibonacciSendGoal {
    type Request = FibonacciSendGoalRequest;
    type Response = FibonacciSendGoalResponse;
    type Event = FibonacciSendGoalEvent;
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal";
    const TYPE_HASH: &'static str = "RIHS01_d807633803e38e164276573cd97e9fbd71e109c290bbf4cc312a0a1c9da7bbd9";

    fn event(
        info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        request: ::core::option::Option<Self::Request>,
        response: ::core::option::Option<Self::Response>,
    ) -> Self::Event {
        FibonacciSendGoalEvent {
            info,
            request: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(request)),
            response: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(response)),
        }
    }
}

/// The service `test_msgs/action/Fibonacci_GetResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct FibonacciGetResult;

impl ::dds_ros2_msgs::RosService for FibonacciGetResult {
    type Request = FibonacciGetResultRequest;
    type Response = FibonacciGetResultResponse;
    type Event = FibonacciGetResultEvent;
    const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult";
    const TYPE_HASH: &'static str = "RIHS01_5d30fdeb21d20e117aa5f36c7b4f0b6874f1a8cf7a9c038d58f1156c5737b209";

    fn event(
        info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        request: ::core::option::Option<Self::Request>,
        response: ::core::option::Option<Self::Response>,
    ) -> Self::Event {
        FibonacciGetResultEvent {
            info,
            request: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(request)),
            response: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(response)),
        }
    }
}
