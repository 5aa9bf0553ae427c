// Written by `tests/messages/committed.rs` from the interface files of `action_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `action_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Goal ID
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "action_msgs::msg::dds_::GoalInfo_")]
    pub struct GoalInfo {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
        /// Time when the goal was accepted
        pub stamp: crate::builtin_interfaces::msg::Time,
    }

    impl crate::RosMessage for GoalInfo {
        const ROS_NAME: &'static str = "action_msgs/msg/GoalInfo";
        const TYPE_HASH: &'static str = "RIHS01_6398fe763154554353930716b225947f93b672f0fb2e49fdd01bb7a7e37933e9";
    }

    /// An action goal can be in one of these states after it is accepted by an action
    /// server.
    ///
    /// For more information, see http://design.ros2.org/articles/actions.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "action_msgs::msg::dds_::GoalStatus_")]
    pub struct GoalStatus {
        /// Goal info (contains ID and timestamp).
        pub goal_info: GoalInfo,
        /// Action goal state-machine status.
        pub status: i8,
    }

    impl GoalStatus {
        /// Indicates status has not been properly set.
        pub const STATUS_UNKNOWN: i8 = 0;

        /// The goal has been accepted and is awaiting execution.
        pub const STATUS_ACCEPTED: i8 = 1;

        /// The goal is currently being executed by the action server.
        pub const STATUS_EXECUTING: i8 = 2;

        /// The client has requested that the goal be canceled and the action server has
        /// accepted the cancel request.
        pub const STATUS_CANCELING: i8 = 3;

        /// The goal was achieved successfully by the action server.
        pub const STATUS_SUCCEEDED: i8 = 4;

        /// The goal was canceled after an external request from an action client.
        pub const STATUS_CANCELED: i8 = 5;

        /// The goal was terminated by the action server without an external request.
        pub const STATUS_ABORTED: i8 = 6;
    }

    impl crate::RosMessage for GoalStatus {
        const ROS_NAME: &'static str = "action_msgs/msg/GoalStatus";
        const TYPE_HASH: &'static str = "RIHS01_32f4cfd717735d17657e1178f24431c1ce996c878c515230f6c5b3476819dbb9";
    }

    /// An array of goal statuses.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "action_msgs::msg::dds_::GoalStatusArray_")]
    pub struct GoalStatusArray {
        pub status_list: ::std::vec::Vec<GoalStatus>,
    }

    impl crate::RosMessage for GoalStatusArray {
        const ROS_NAME: &'static str = "action_msgs/msg/GoalStatusArray";
        const TYPE_HASH: &'static str = "RIHS01_6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e";
    }
}

pub mod srv {
    /// Cancel one or more goals with the following policy:
    ///
    /// - If the goal ID is zero and timestamp is zero, cancel all goals.
    /// - If the goal ID is zero and timestamp is not zero, cancel all goals accepted
    /// at or before the timestamp.
    /// - If the goal ID is not zero and timestamp is zero, cancel the goal with the
    /// given ID regardless of the time it was accepted.
    /// - If the goal ID is not zero and timestamp is not zero, cancel the goal with
    /// the given ID and all goals accepted at or before the timestamp.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "action_msgs::srv::dds_::CancelGoal_Request_")]
    pub struct CancelGoalRequest {
        /// Goal info describing the goals to cancel, see above.
        pub goal_info: super::msg::GoalInfo,
    }

    impl crate::RosMessage for CancelGoalRequest {
        const ROS_NAME: &'static str = "action_msgs/srv/CancelGoal_Request";
        const TYPE_HASH: &'static str = "RIHS01_3d3c84653c1f96918086887e1dcb236faec88b81a5b14fd4cf4840065bcdf8af";
    }

    /// Return codes.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "action_msgs::srv::dds_::CancelGoal_Response_"
    )]
    pub struct CancelGoalResponse {
        /// Return code, see above definitions.
        pub return_code: i8,
        /// Goals that accepted the cancel request.
        pub goals_canceling: ::std::vec::Vec<super::msg::GoalInfo>,
    }

    impl CancelGoalResponse {
        /// Indicates the request was accepted without any errors.
        ///
        /// One or more goals have transitioned to the CANCELING state. The
        /// goals_canceling list is not empty.
        pub const ERROR_NONE: i8 = 0;

        /// Indicates the request was rejected.
        ///
        /// No goals have transitioned to the CANCELING state. The goals_canceling list is
        /// empty.
        pub const ERROR_REJECTED: i8 = 1;

        /// Indicates the requested goal ID does not exist.
        ///
        /// No goals have transitioned to the CANCELING state. The goals_canceling list is
        /// empty.
        pub const ERROR_UNKNOWN_GOAL_ID: i8 = 2;

        /// Indicates the goal is not cancelable because it is already in a terminal state.
        ///
        /// No goals have transitioned to the CANCELING state. The goals_canceling list is
        /// empty.
        pub const ERROR_GOAL_TERMINATED: i8 = 3;
    }

    impl crate::RosMessage for CancelGoalResponse {
        const ROS_NAME: &'static str = "action_msgs/srv/CancelGoal_Response";
        const TYPE_HASH: &'static str = "RIHS01_35e682cf3f510e83c70a82a4aac888496dedee56773bf9d8e5e0aa81f9e1c960";
    }

    /// `action_msgs/srv/CancelGoal_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "action_msgs::srv::dds_::CancelGoal_Event_")]
    pub struct CancelGoalEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<CancelGoalRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<CancelGoalResponse>,
    }

    impl crate::RosMessage for CancelGoalEvent {
        const ROS_NAME: &'static str = "action_msgs/srv/CancelGoal_Event";
        const TYPE_HASH: &'static str = "RIHS01_178f81615ce6be41ad328211d7a56b08b00e73f41f0b8aec256b2f3ff97a5e7e";
    }

    /// The service `action_msgs/srv/CancelGoal`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct CancelGoal;

    impl crate::RosService for CancelGoal {
        type Request = CancelGoalRequest;
        type Response = CancelGoalResponse;
        type Event = CancelGoalEvent;
        const ROS_NAME: &'static str = "action_msgs/srv/CancelGoal";
        const TYPE_HASH: &'static str = "RIHS01_573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            CancelGoalEvent {
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
    crate::RosTypeEntry::of::<msg::GoalInfo>(),
    crate::RosTypeEntry::of::<msg::GoalStatus>(),
    crate::RosTypeEntry::of::<msg::GoalStatusArray>(),
    crate::RosTypeEntry::of::<srv::CancelGoalRequest>(),
    crate::RosTypeEntry::of::<srv::CancelGoalResponse>(),
    crate::RosTypeEntry::of::<srv::CancelGoalEvent>(),
];
