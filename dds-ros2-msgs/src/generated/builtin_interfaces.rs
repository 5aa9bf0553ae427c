// Written by `tests/messages/committed.rs` from the interface files of `builtin_interfaces`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `builtin_interfaces`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Duration defines a period between two time points.
    /// Messages of this datatype are of ROS Time following this design:
    /// https://design.ros2.org/articles/clock_and_time.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "builtin_interfaces::msg::dds_::Duration_")]
    pub struct Duration {
        /// Seconds component, range is valid over any possible int32 value.
        pub sec: i32,
        /// Nanoseconds component in the range of \[0, 1e9).
        pub nanosec: u32,
    }

    impl crate::RosMessage for Duration {
        const ROS_NAME: &'static str = "builtin_interfaces/msg/Duration";
        const TYPE_HASH: &'static str = "RIHS01_e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b";
    }

    /// This message communicates ROS Time defined here:
    /// https://design.ros2.org/articles/clock_and_time.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "builtin_interfaces::msg::dds_::Time_")]
    pub struct Time {
        /// The seconds component, valid over all int32 values.
        pub sec: i32,
        /// The nanoseconds component, valid in the range \[0, 1e9).
        pub nanosec: u32,
    }

    impl crate::RosMessage for Time {
        const ROS_NAME: &'static str = "builtin_interfaces/msg/Time";
        const TYPE_HASH: &'static str = "RIHS01_b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Duration>(),
    crate::RosTypeEntry::of::<msg::Time>(),
];
