// Written by `tests/messages/committed.rs` from the interface files of `service_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `service_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `service_msgs/msg/ServiceEventInfo`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "service_msgs::msg::dds_::ServiceEventInfo_")]
    pub struct ServiceEventInfo {
        /// The type of event this message represents
        pub event_type: u8,
        /// Timestamp for when the event occurred (sent or received time)
        pub stamp: crate::builtin_interfaces::msg::Time,
        /// Unique identifier for the client that sent the service request
        /// Note, this is only unique for the current session.
        /// The size here has to match the size of rmw_dds_common/msg/Gid,
        /// but unfortunately we cannot use that message directly due to a
        /// circular dependency.
        pub client_gid: [u8; 16],
        /// Sequence number for the request
        /// Combined with the client ID, this creates a unique ID for the service transaction
        pub sequence_number: i64,
    }

    impl ServiceEventInfo {
        pub const REQUEST_SENT: u8 = 0;
        pub const REQUEST_RECEIVED: u8 = 1;
        pub const RESPONSE_SENT: u8 = 2;
        pub const RESPONSE_RECEIVED: u8 = 3;
    }

    impl crate::RosMessage for ServiceEventInfo {
        const ROS_NAME: &'static str = "service_msgs/msg/ServiceEventInfo";
        const TYPE_HASH: &'static str = "RIHS01_41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::ServiceEventInfo>(),
];
