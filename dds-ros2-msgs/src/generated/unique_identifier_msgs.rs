// Written by `tests/messages/committed.rs` from the interface files of `unique_identifier_msgs`.
// SPDX-License-Identifier: BSD-3-Clause

//! Interfaces of the ROS 2 package `unique_identifier_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// A universally unique identifier (UUID).
    ///
    /// http://en.wikipedia.org/wiki/Universally_unique_identifier
    /// http://tools.ietf.org/html/rfc4122.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "unique_identifier_msgs::msg::dds_::UUID_")]
    pub struct UUID {
        pub uuid: [u8; 16],
    }

    impl crate::RosMessage for UUID {
        const ROS_NAME: &'static str = "unique_identifier_msgs/msg/UUID";
        const TYPE_HASH: &'static str = "RIHS01_1b8e8aca958cbea28fe6ef60bf6c19b683c97a9ef60bb34752067d0f2f7ab437";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[crate::RosTypeEntry::of::<msg::UUID>()];
