// Written by `tests/messages/committed.rs` from the interface files of `rmw_dds_common`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `rmw_dds_common`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `rmw_dds_common/msg/Gid`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rmw_dds_common::msg::dds_::Gid_")]
    pub struct Gid {
        pub data: [u8; 16],
    }

    impl crate::RosMessage for Gid {
        const ROS_NAME: &'static str = "rmw_dds_common/msg/Gid";
        const TYPE_HASH: &'static str = "RIHS01_ab6f21cfbb0a6dbb837161e1110c2051a2850ed9f9c53944d7115d9bcebedf71";
    }

    /// `rmw_dds_common/msg/NodeEntitiesInfo`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rmw_dds_common::msg::dds_::NodeEntitiesInfo_"
    )]
    pub struct NodeEntitiesInfo {
        #[dds(bound = 256)]
        pub node_namespace: ::std::string::String,
        #[dds(bound = 256)]
        pub node_name: ::std::string::String,
        pub reader_gid_seq: ::std::vec::Vec<Gid>,
        pub writer_gid_seq: ::std::vec::Vec<Gid>,
    }

    impl crate::RosMessage for NodeEntitiesInfo {
        const ROS_NAME: &'static str = "rmw_dds_common/msg/NodeEntitiesInfo";
        const TYPE_HASH: &'static str = "RIHS01_8ffef65ee2d088c63b1e8fcd31e800ba9fc8dbe0ee15ca60d1676de5218087a7";
    }

    /// `rmw_dds_common/msg/ParticipantEntitiesInfo`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
    )]
    pub struct ParticipantEntitiesInfo {
        pub gid: Gid,
        pub node_entities_info_seq: ::std::vec::Vec<NodeEntitiesInfo>,
    }

    impl crate::RosMessage for ParticipantEntitiesInfo {
        const ROS_NAME: &'static str = "rmw_dds_common/msg/ParticipantEntitiesInfo";
        const TYPE_HASH: &'static str = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Gid>(),
    crate::RosTypeEntry::of::<msg::NodeEntitiesInfo>(),
    crate::RosTypeEntry::of::<msg::ParticipantEntitiesInfo>(),
];
