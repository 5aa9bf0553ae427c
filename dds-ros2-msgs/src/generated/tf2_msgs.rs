// Written by `tests/messages/committed.rs` from the interface files of `tf2_msgs`.
// SPDX-License-Identifier: BSD-3-Clause

//! Interfaces of the ROS 2 package `tf2_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `tf2_msgs/msg/TF2Error`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "tf2_msgs::msg::dds_::TF2Error_")]
    pub struct TF2Error {
        pub error: u8,
        pub error_string: ::std::string::String,
    }

    impl TF2Error {
        pub const NO_ERROR: u8 = 0;
        pub const LOOKUP_ERROR: u8 = 1;
        pub const CONNECTIVITY_ERROR: u8 = 2;
        pub const EXTRAPOLATION_ERROR: u8 = 3;
        pub const INVALID_ARGUMENT_ERROR: u8 = 4;
        pub const TIMEOUT_ERROR: u8 = 5;
        pub const TRANSFORM_ERROR: u8 = 6;
    }

    impl crate::RosMessage for TF2Error {
        const ROS_NAME: &'static str = "tf2_msgs/msg/TF2Error";
        const TYPE_HASH: &'static str = "RIHS01_db2485e7d6a0ec75bf087e058ee45df682acc3a621ca7780503d10aac141809a";
    }

    /// `tf2_msgs/msg/TFMessage`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "tf2_msgs::msg::dds_::TFMessage_")]
    pub struct TFMessage {
        pub transforms: ::std::vec::Vec<crate::geometry_msgs::msg::TransformStamped>,
    }

    impl crate::RosMessage for TFMessage {
        const ROS_NAME: &'static str = "tf2_msgs/msg/TFMessage";
        const TYPE_HASH: &'static str = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087";
    }
}

pub mod srv {
    /// `tf2_msgs/srv/FrameGraph_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "tf2_msgs::srv::dds_::FrameGraph_Request_")]
    pub struct FrameGraphRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for FrameGraphRequest {
        const ROS_NAME: &'static str = "tf2_msgs/srv/FrameGraph_Request";
        const TYPE_HASH: &'static str = "RIHS01_4cc565da6b64726d0b0be1ce20f3a3a695679b841a79abfca2fcdc94f562b08d";
    }

    /// `tf2_msgs/srv/FrameGraph_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "tf2_msgs::srv::dds_::FrameGraph_Response_")]
    pub struct FrameGraphResponse {
        pub frame_yaml: ::std::string::String,
    }

    impl crate::RosMessage for FrameGraphResponse {
        const ROS_NAME: &'static str = "tf2_msgs/srv/FrameGraph_Response";
        const TYPE_HASH: &'static str = "RIHS01_e33d5473ce0fac04c66203779f2b719a9de0f8388b248852d3a47a019e62e36d";
    }

    /// `tf2_msgs/srv/FrameGraph_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "tf2_msgs::srv::dds_::FrameGraph_Event_")]
    pub struct FrameGraphEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<FrameGraphRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<FrameGraphResponse>,
    }

    impl crate::RosMessage for FrameGraphEvent {
        const ROS_NAME: &'static str = "tf2_msgs/srv/FrameGraph_Event";
        const TYPE_HASH: &'static str = "RIHS01_97e5494f0af64046abdb3f1fc91a91f0a3ac7f1132dcfe32f350601227daa817";
    }

    /// The service `tf2_msgs/srv/FrameGraph`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FrameGraph;

    impl crate::RosService for FrameGraph {
        type Request = FrameGraphRequest;
        type Response = FrameGraphResponse;
        type Event = FrameGraphEvent;
        const ROS_NAME: &'static str = "tf2_msgs/srv/FrameGraph";
        const TYPE_HASH: &'static str = "RIHS01_0d1fbc6222c018ba5f33822904a2fdd4063705289956d3fdde07cd8c50fe8067";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            FrameGraphEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }
}

pub mod action {
    /// Simple API
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_Goal_"
    )]
    pub struct LookupTransformGoal {
        pub target_frame: ::std::string::String,
        pub source_frame: ::std::string::String,
        pub source_time: crate::builtin_interfaces::msg::Time,
        pub timeout: crate::builtin_interfaces::msg::Duration,
        /// Advanced API
        pub target_time: crate::builtin_interfaces::msg::Time,
        pub fixed_frame: ::std::string::String,
        /// Whether or not to use the advanced API
        pub advanced: bool,
    }

    impl crate::RosMessage for LookupTransformGoal {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_Goal";
        const TYPE_HASH: &'static str = "RIHS01_815efc294ad17c813c6043cdde781ff55810d49da02ed07f9237dcd20e88d498";
    }

    /// `tf2_msgs/action/LookupTransform_Result`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_Result_"
    )]
    pub struct LookupTransformResult {
        pub transform: crate::geometry_msgs::msg::TransformStamped,
        pub error: super::msg::TF2Error,
    }

    impl crate::RosMessage for LookupTransformResult {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_Result";
        const TYPE_HASH: &'static str = "RIHS01_061d4423af5352ff5314c8effef8faab133991a78f1b2bcd1fecabad80871225";
    }

    /// `tf2_msgs/action/LookupTransform_Feedback`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_Feedback_"
    )]
    pub struct LookupTransformFeedback {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for LookupTransformFeedback {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_Feedback";
        const TYPE_HASH: &'static str = "RIHS01_2da0b02f990f04404ab8c98a2a68cf5bbc773ae747f96911f2d55499cfb51542";
    }

    /// `tf2_msgs/action/LookupTransform_SendGoal_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_SendGoal_Request_"
    )]
    pub struct LookupTransformSendGoalRequest {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
        pub goal: LookupTransformGoal,
    }

    impl crate::RosMessage for LookupTransformSendGoalRequest {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_SendGoal_Request";
        const TYPE_HASH: &'static str = "RIHS01_eb1312eb7aab35e35c71bb87c2ba3a94747c5a6544ea32bb2b32b0f75775b8ca";
    }

    /// `tf2_msgs/action/LookupTransform_SendGoal_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_SendGoal_Response_"
    )]
    pub struct LookupTransformSendGoalResponse {
        pub accepted: bool,
        pub stamp: crate::builtin_interfaces::msg::Time,
    }

    impl crate::RosMessage for LookupTransformSendGoalResponse {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_SendGoal_Response";
        const TYPE_HASH: &'static str = "RIHS01_c1ada93304793c08813657255e7bde2e40e2114aa634b702c3f8d4b72ae098bc";
    }

    /// `tf2_msgs/action/LookupTransform_SendGoal_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_SendGoal_Event_"
    )]
    pub struct LookupTransformSendGoalEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<LookupTransformSendGoalRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<LookupTransformSendGoalResponse>,
    }

    impl crate::RosMessage for LookupTransformSendGoalEvent {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_SendGoal_Event";
        const TYPE_HASH: &'static str = "RIHS01_5ab93d3d6c35b56390325099cb088c73bae176a39123f2f6dfe119582436acc5";
    }

    /// `tf2_msgs/action/LookupTransform_GetResult_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_GetResult_Request_"
    )]
    pub struct LookupTransformGetResultRequest {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
    }

    impl crate::RosMessage for LookupTransformGetResultRequest {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_GetResult_Request";
        const TYPE_HASH: &'static str = "RIHS01_148f9bdc01f98922d6fb2072cb64468b89c57c7825d9d83b932c183deaa4697d";
    }

    /// `tf2_msgs/action/LookupTransform_GetResult_Response`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_GetResult_Response_"
    )]
    pub struct LookupTransformGetResultResponse {
        pub status: i8,
        pub result: LookupTransformResult,
    }

    impl crate::RosMessage for LookupTransformGetResultResponse {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_GetResult_Response";
        const TYPE_HASH: &'static str = "RIHS01_954de3efc36b164c4d21116abdbdcc52746e454fd9c169b55d9cfd89e83d299d";
    }

    /// `tf2_msgs/action/LookupTransform_GetResult_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_GetResult_Event_"
    )]
    pub struct LookupTransformGetResultEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<LookupTransformGetResultRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<LookupTransformGetResultResponse>,
    }

    impl crate::RosMessage for LookupTransformGetResultEvent {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_GetResult_Event";
        const TYPE_HASH: &'static str = "RIHS01_3260115e0f6a676d621f191f85a72a0c82f9fcb1483965c1fbaaab0b1d651a9e";
    }

    /// `tf2_msgs/action/LookupTransform_FeedbackMessage`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "tf2_msgs::action::dds_::LookupTransform_FeedbackMessage_"
    )]
    pub struct LookupTransformFeedbackMessage {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
        pub feedback: LookupTransformFeedback,
    }

    impl crate::RosMessage for LookupTransformFeedbackMessage {
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_FeedbackMessage";
        const TYPE_HASH: &'static str = "RIHS01_10cb89922dcb103e95c185d43e8a5efa3d38db996f733151a2f3e2ac133f4839";
    }

    /// The action `tf2_msgs/action/LookupTransform`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LookupTransform;

    impl crate::RosAction for LookupTransform {
        type Goal = LookupTransformGoal;
        type Result = LookupTransformResult;
        type Feedback = LookupTransformFeedback;
        type FeedbackMessage = LookupTransformFeedbackMessage;
        type SendGoal = LookupTransformSendGoal;
        type GetResult = LookupTransformGetResult;
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform";
        const TYPE_HASH: &'static str = "RIHS01_0b8adf6bc0b5958879e3265b41a457e03558fe523890a81252c70eba97a82c5d";
        fn send_goal_request(
            goal_id: [u8; 16],
            goal: Self::Goal,
        ) -> LookupTransformSendGoalRequest {
            LookupTransformSendGoalRequest {
                goal_id: crate::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                goal,
            }
        }
        fn open_send_goal_request(
            request: LookupTransformSendGoalRequest,
        ) -> ([u8; 16], Self::Goal) {
            (request.goal_id.uuid, request.goal)
        }
        fn send_goal_response(
            accepted: bool,
            stamp: crate::builtin_interfaces::msg::Time,
        ) -> LookupTransformSendGoalResponse {
            LookupTransformSendGoalResponse {
                accepted,
                stamp,
            }
        }
        fn open_send_goal_response(
            response: LookupTransformSendGoalResponse,
        ) -> (bool, crate::builtin_interfaces::msg::Time) {
            (response.accepted, response.stamp)
        }
        fn get_result_request(goal_id: [u8; 16]) -> LookupTransformGetResultRequest {
            LookupTransformGetResultRequest {
                goal_id: crate::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
            }
        }
        fn open_get_result_request(
            request: LookupTransformGetResultRequest,
        ) -> [u8; 16] {
            request.goal_id.uuid
        }
        fn get_result_response(
            status: i8,
            result: Self::Result,
        ) -> LookupTransformGetResultResponse {
            LookupTransformGetResultResponse {
                status,
                result,
            }
        }
        fn open_get_result_response(
            response: LookupTransformGetResultResponse,
        ) -> (i8, Self::Result) {
            (response.status, response.result)
        }
        fn feedback_message(
            goal_id: [u8; 16],
            feedback: Self::Feedback,
        ) -> Self::FeedbackMessage {
            LookupTransformFeedbackMessage {
                goal_id: crate::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                feedback,
            }
        }
        fn open_feedback_message(
            message: Self::FeedbackMessage,
        ) -> ([u8; 16], Self::Feedback) {
            (message.goal_id.uuid, message.feedback)
        }
    }

    /// The service `tf2_msgs/action/LookupTransform_SendGoal`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LookupTransformSendGoal;

    impl crate::RosService for LookupTransformSendGoal {
        type Request = LookupTransformSendGoalRequest;
        type Response = LookupTransformSendGoalResponse;
        type Event = LookupTransformSendGoalEvent;
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_SendGoal";
        const TYPE_HASH: &'static str = "RIHS01_4646ff5706c86b04d0a1098d329951a9731a7517e16702905de6073cc72c8530";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            LookupTransformSendGoalEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// The service `tf2_msgs/action/LookupTransform_GetResult`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LookupTransformGetResult;

    impl crate::RosService for LookupTransformGetResult {
        type Request = LookupTransformGetResultRequest;
        type Response = LookupTransformGetResultResponse;
        type Event = LookupTransformGetResultEvent;
        const ROS_NAME: &'static str = "tf2_msgs/action/LookupTransform_GetResult";
        const TYPE_HASH: &'static str = "RIHS01_3cd1715751899e3167b5aec3e4ac194f7da9e8493a77285f9f6a4c914f5e8b24";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            LookupTransformGetResultEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::TF2Error>(),
    crate::RosTypeEntry::of::<msg::TFMessage>(),
    crate::RosTypeEntry::of::<srv::FrameGraphRequest>(),
    crate::RosTypeEntry::of::<srv::FrameGraphResponse>(),
    crate::RosTypeEntry::of::<srv::FrameGraphEvent>(),
    crate::RosTypeEntry::of::<action::LookupTransformGoal>(),
    crate::RosTypeEntry::of::<action::LookupTransformResult>(),
    crate::RosTypeEntry::of::<action::LookupTransformFeedback>(),
    crate::RosTypeEntry::of::<action::LookupTransformSendGoalRequest>(),
    crate::RosTypeEntry::of::<action::LookupTransformSendGoalResponse>(),
    crate::RosTypeEntry::of::<action::LookupTransformSendGoalEvent>(),
    crate::RosTypeEntry::of::<action::LookupTransformGetResultRequest>(),
    crate::RosTypeEntry::of::<action::LookupTransformGetResultResponse>(),
    crate::RosTypeEntry::of::<action::LookupTransformGetResultEvent>(),
    crate::RosTypeEntry::of::<action::LookupTransformFeedbackMessage>(),
];
