// Written by `tests/messages/committed.rs` from the interface files of `composition_interfaces`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `composition_interfaces`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod srv {
    /// `composition_interfaces/srv/ListNodes_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::ListNodes_Request_"
    )]
    pub struct ListNodesRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for ListNodesRequest {
        const ROS_NAME: &'static str = "composition_interfaces/srv/ListNodes_Request";
        const TYPE_HASH: &'static str = "RIHS01_57c879a1825b3fa15fd58e70d2e73223af6b9c45c7ae104cc107e73464d3a724";
    }

    /// List of full node names including namespace.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::ListNodes_Response_"
    )]
    pub struct ListNodesResponse {
        pub full_node_names: ::std::vec::Vec<::std::string::String>,
        /// corresponding unique ids (must have same length as full_node_names).
        pub unique_ids: ::std::vec::Vec<u64>,
    }

    impl crate::RosMessage for ListNodesResponse {
        const ROS_NAME: &'static str = "composition_interfaces/srv/ListNodes_Response";
        const TYPE_HASH: &'static str = "RIHS01_b7cd8401aedcd85c4cedce384944001d5c1ab611e0164a8207045cfcaf4a2584";
    }

    /// `composition_interfaces/srv/ListNodes_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::ListNodes_Event_"
    )]
    pub struct ListNodesEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<ListNodesRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<ListNodesResponse>,
    }

    impl crate::RosMessage for ListNodesEvent {
        const ROS_NAME: &'static str = "composition_interfaces/srv/ListNodes_Event";
        const TYPE_HASH: &'static str = "RIHS01_843ad4c80092060d68dbf8008ce53354314d98257cddddaf55df03abd7321b38";
    }

    /// The service `composition_interfaces/srv/ListNodes`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ListNodes;

    impl crate::RosService for ListNodes {
        type Request = ListNodesRequest;
        type Response = ListNodesResponse;
        type Event = ListNodesEvent;
        const ROS_NAME: &'static str = "composition_interfaces/srv/ListNodes";
        const TYPE_HASH: &'static str = "RIHS01_13f30d73a74c844ee4bacf78f3680f08777cad137f10fbd6a648544cc7b59d2a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            ListNodesEvent {
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

    /// The ROS package in which the composable node can be found.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::LoadNode_Request_"
    )]
    pub struct LoadNodeRequest {
        pub package_name: ::std::string::String,
        /// A plugin within the ROS package "package_name".
        pub plugin_name: ::std::string::String,
        /// The assigned name of the composable node. Leave empty to use the node's
        /// default name.
        pub node_name: ::std::string::String,
        /// The assigned namespace of the composable node. Leave empty to use the node's
        /// default namespace.
        pub node_namespace: ::std::string::String,
        /// The assigned log level of the composable node. Enum values are found in
        /// message rcl_interfaces/Log.
        pub log_level: u8,
        /// Remapping rules for this composable node.
        ///
        /// For more info about static_remapping rules and their syntax, see
        /// https://design.ros2.org/articles/static_remapping.html
        /// TODO(sloretz) rcl_interfaces message for remap rules?
        pub remap_rules: ::std::vec::Vec<::std::string::String>,
        /// The Parameters of this composable node to set.
        pub parameters: ::std::vec::Vec<crate::rcl_interfaces::msg::Parameter>,
        /// key/value arguments that are specific to a type of container process.
        pub extra_arguments: ::std::vec::Vec<crate::rcl_interfaces::msg::Parameter>,
    }

    impl crate::RosMessage for LoadNodeRequest {
        const ROS_NAME: &'static str = "composition_interfaces/srv/LoadNode_Request";
        const TYPE_HASH: &'static str = "RIHS01_7d3496175f54f92d652547e144c9b2a3b22afd604f84ed70adfcd1cfe35801b5";
    }

    /// True if the node was successfully loaded.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::LoadNode_Response_"
    )]
    pub struct LoadNodeResponse {
        pub success: bool,
        /// Human readable error message if success is false, else empty string.
        pub error_message: ::std::string::String,
        /// Name of the loaded composable node (including namespace).
        pub full_node_name: ::std::string::String,
        /// A unique identifier for the loaded node.
        pub unique_id: u64,
    }

    impl crate::RosMessage for LoadNodeResponse {
        const ROS_NAME: &'static str = "composition_interfaces/srv/LoadNode_Response";
        const TYPE_HASH: &'static str = "RIHS01_08cdf942efabec2448fd03c131f3627a33ed05376400612425f871feb87ca9fd";
    }

    /// `composition_interfaces/srv/LoadNode_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::LoadNode_Event_"
    )]
    pub struct LoadNodeEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<LoadNodeRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<LoadNodeResponse>,
    }

    impl crate::RosMessage for LoadNodeEvent {
        const ROS_NAME: &'static str = "composition_interfaces/srv/LoadNode_Event";
        const TYPE_HASH: &'static str = "RIHS01_db276d4eb31443e4d30cfb4b0c01bcd22af27fc95be8e1ba2cc56d7772219cd2";
    }

    /// The service `composition_interfaces/srv/LoadNode`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LoadNode;

    impl crate::RosService for LoadNode {
        type Request = LoadNodeRequest;
        type Response = LoadNodeResponse;
        type Event = LoadNodeEvent;
        const ROS_NAME: &'static str = "composition_interfaces/srv/LoadNode";
        const TYPE_HASH: &'static str = "RIHS01_2e521ef6066fba6d7fc3a3b175d486709f01b4d738d9a59188858546fc8e5acd";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            LoadNodeEvent {
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

    /// Container specific unique id of a loaded node.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::UnloadNode_Request_"
    )]
    pub struct UnloadNodeRequest {
        pub unique_id: u64,
    }

    impl crate::RosMessage for UnloadNodeRequest {
        const ROS_NAME: &'static str = "composition_interfaces/srv/UnloadNode_Request";
        const TYPE_HASH: &'static str = "RIHS01_95d5cfc357956740190c7685ac868d9c7c98dcb8c1416aae8eaa351422074e12";
    }

    /// True if the node existed and was unloaded.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::UnloadNode_Response_"
    )]
    pub struct UnloadNodeResponse {
        pub success: bool,
        /// Human readable error message if success is false, else empty string.
        pub error_message: ::std::string::String,
    }

    impl crate::RosMessage for UnloadNodeResponse {
        const ROS_NAME: &'static str = "composition_interfaces/srv/UnloadNode_Response";
        const TYPE_HASH: &'static str = "RIHS01_fa7fc38f9206220a6bc1558a3c019269e5aa592f7fae01dffbd19f56eb86d599";
    }

    /// `composition_interfaces/srv/UnloadNode_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "composition_interfaces::srv::dds_::UnloadNode_Event_"
    )]
    pub struct UnloadNodeEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<UnloadNodeRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<UnloadNodeResponse>,
    }

    impl crate::RosMessage for UnloadNodeEvent {
        const ROS_NAME: &'static str = "composition_interfaces/srv/UnloadNode_Event";
        const TYPE_HASH: &'static str = "RIHS01_448a525df1406f0c3dc653b03c68cb80d5c67cff48a8006a65f76f13e23e29cf";
    }

    /// The service `composition_interfaces/srv/UnloadNode`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct UnloadNode;

    impl crate::RosService for UnloadNode {
        type Request = UnloadNodeRequest;
        type Response = UnloadNodeResponse;
        type Event = UnloadNodeEvent;
        const ROS_NAME: &'static str = "composition_interfaces/srv/UnloadNode";
        const TYPE_HASH: &'static str = "RIHS01_dce562f83adc735ddcfe9dfb927b89293d4dd0fe2b8fc91e772fb83e970a43b0";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            UnloadNodeEvent {
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
    crate::RosTypeEntry::of::<srv::ListNodesRequest>(),
    crate::RosTypeEntry::of::<srv::ListNodesResponse>(),
    crate::RosTypeEntry::of::<srv::ListNodesEvent>(),
    crate::RosTypeEntry::of::<srv::LoadNodeRequest>(),
    crate::RosTypeEntry::of::<srv::LoadNodeResponse>(),
    crate::RosTypeEntry::of::<srv::LoadNodeEvent>(),
    crate::RosTypeEntry::of::<srv::UnloadNodeRequest>(),
    crate::RosTypeEntry::of::<srv::UnloadNodeResponse>(),
    crate::RosTypeEntry::of::<srv::UnloadNodeEvent>(),
];
