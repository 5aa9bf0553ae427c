// Written by `tests/messages/committed.rs` from the interface files of `rosgraph_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `rosgraph_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// This message communicates the current time.
    ///
    /// For more information, see https://design.ros2.org/articles/clock_and_time.html.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rosgraph_msgs::msg::dds_::Clock_")]
    pub struct Clock {
        pub clock: crate::builtin_interfaces::msg::Time,
    }

    impl crate::RosMessage for Clock {
        const ROS_NAME: &'static str = "rosgraph_msgs/msg/Clock";
        const TYPE_HASH: &'static str = "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[crate::RosTypeEntry::of::<msg::Clock>()];
