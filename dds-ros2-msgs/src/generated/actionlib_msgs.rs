// Written by `tests/messages/committed.rs` from the interface files of `actionlib_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `actionlib_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `actionlib_msgs/msg/GoalID`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "actionlib_msgs::msg::dds_::GoalID_")]
    pub struct GoalID {
        /// The stamp should store the time at which this goal was requested.
        /// It is used by an action server when it tries to preempt all
        /// goals that were requested before a certain time
        pub stamp: crate::builtin_interfaces::msg::Time,
        /// The id provides a way to associate feedback and
        /// result message with specific goal requests. The id
        /// specified must be unique.
        pub id: ::std::string::String,
    }

    impl crate::RosMessage for GoalID {
        const ROS_NAME: &'static str = "actionlib_msgs/msg/GoalID";
        const TYPE_HASH: &'static str = "RIHS01_140ea4a1bad4781edc32030c7983ab3a62c675f861c61c9b2200ae5e5398be24";
    }

    /// `actionlib_msgs/msg/GoalStatus`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "actionlib_msgs::msg::dds_::GoalStatus_")]
    pub struct GoalStatus {
        pub goal_id: GoalID,
        pub status: u8,
        /// Allow for the user to associate a string with GoalStatus for debugging.
        pub text: ::std::string::String,
    }

    impl GoalStatus {
        /// The goal has yet to be processed by the action server.
        pub const PENDING: u8 = 0;

        /// The goal is currently being processed by the action server.
        pub const ACTIVE: u8 = 1;

        /// The goal received a cancel request after it started executing
        /// and has since completed its execution (Terminal State).
        pub const PREEMPTED: u8 = 2;

        /// The goal was achieved successfully by the action server
        /// (Terminal State).
        pub const SUCCEEDED: u8 = 3;

        /// The goal was aborted during execution by the action server due
        /// to some failure (Terminal State).
        pub const ABORTED: u8 = 4;

        /// The goal was rejected by the action server without being processed,
        /// because the goal was unattainable or invalid (Terminal State).
        pub const REJECTED: u8 = 5;

        /// The goal received a cancel request after it started executing
        /// and has not yet completed execution.
        pub const PREEMPTING: u8 = 6;

        /// The goal received a cancel request before it started executing, but
        /// the action server has not yet confirmed that the goal is canceled.
        pub const RECALLING: u8 = 7;

        /// The goal received a cancel request before it started executing
        /// and was successfully cancelled (Terminal State).
        pub const RECALLED: u8 = 8;

        /// An action client can determine that a goal is LOST. This should not
        /// be sent over the wire by an action server.
        pub const LOST: u8 = 9;
    }

    impl crate::RosMessage for GoalStatus {
        const ROS_NAME: &'static str = "actionlib_msgs/msg/GoalStatus";
        const TYPE_HASH: &'static str = "RIHS01_c90c64230954d90ee079cbdd22a14bca3650b3d403f5cc3faf0eee992c6ae9ff";
    }

    /// Stores the statuses for goals that are currently being tracked
    /// by an action server
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "actionlib_msgs::msg::dds_::GoalStatusArray_")]
    pub struct GoalStatusArray {
        pub header: crate::std_msgs::msg::Header,
        pub status_list: ::std::vec::Vec<GoalStatus>,
    }

    impl crate::RosMessage for GoalStatusArray {
        const ROS_NAME: &'static str = "actionlib_msgs/msg/GoalStatusArray";
        const TYPE_HASH: &'static str = "RIHS01_f3230208e8daec53eb7b8da6df1c1d1d4eb095f3082be922661c29a1f855a1bc";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::GoalID>(),
    crate::RosTypeEntry::of::<msg::GoalStatus>(),
    crate::RosTypeEntry::of::<msg::GoalStatusArray>(),
];
