// Written by `tests/messages/committed.rs` from the interface files of `std_srvs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `std_srvs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod srv {
    /// `std_srvs/srv/Empty_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Empty_Request_")]
    pub struct EmptyRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for EmptyRequest {
        const ROS_NAME: &'static str = "std_srvs/srv/Empty_Request";
        const TYPE_HASH: &'static str = "RIHS01_458eaf200a3f63d9cc53d19436edebc0c140ef4c93ca75d5bd4ce19fd7759e35";
    }

    /// `std_srvs/srv/Empty_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Empty_Response_")]
    pub struct EmptyResponse {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for EmptyResponse {
        const ROS_NAME: &'static str = "std_srvs/srv/Empty_Response";
        const TYPE_HASH: &'static str = "RIHS01_0a2858b3f60df644a61d0fa44cfc923a3d3628e0ad9c8ad8534b1a2c92a413dc";
    }

    /// `std_srvs/srv/Empty_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Empty_Event_")]
    pub struct EmptyEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<EmptyRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<EmptyResponse>,
    }

    impl crate::RosMessage for EmptyEvent {
        const ROS_NAME: &'static str = "std_srvs/srv/Empty_Event";
        const TYPE_HASH: &'static str = "RIHS01_66fa7fcfb5f2bf04b9a8a55603318c5c402edfc4bd56bb0ed7b602990c29305a";
    }

    /// The service `std_srvs/srv/Empty`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Empty;

    impl crate::RosService for Empty {
        type Request = EmptyRequest;
        type Response = EmptyResponse;
        type Event = EmptyEvent;
        const ROS_NAME: &'static str = "std_srvs/srv/Empty";
        const TYPE_HASH: &'static str = "RIHS01_5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            EmptyEvent {
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

    /// `std_srvs/srv/SetBool_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::SetBool_Request_")]
    pub struct SetBoolRequest {
        /// e.g. for hardware enabling / disabling
        pub data: bool,
    }

    impl crate::RosMessage for SetBoolRequest {
        const ROS_NAME: &'static str = "std_srvs/srv/SetBool_Request";
        const TYPE_HASH: &'static str = "RIHS01_c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e";
    }

    /// `std_srvs/srv/SetBool_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::SetBool_Response_")]
    pub struct SetBoolResponse {
        /// indicate successful run of triggered service
        pub success: bool,
        /// informational, e.g. for error messages
        pub message: ::std::string::String,
    }

    impl crate::RosMessage for SetBoolResponse {
        const ROS_NAME: &'static str = "std_srvs/srv/SetBool_Response";
        const TYPE_HASH: &'static str = "RIHS01_d0814e7f7b4880ab77e9c57426c7aa1562ab69f11eef8e2e968812f9cbd0b059";
    }

    /// `std_srvs/srv/SetBool_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::SetBool_Event_")]
    pub struct SetBoolEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetBoolRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetBoolResponse>,
    }

    impl crate::RosMessage for SetBoolEvent {
        const ROS_NAME: &'static str = "std_srvs/srv/SetBool_Event";
        const TYPE_HASH: &'static str = "RIHS01_3c4c20015afb4303eafd347b1d6a786f171a89c814726961a9593ef10df878cf";
    }

    /// The service `std_srvs/srv/SetBool`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetBool;

    impl crate::RosService for SetBool {
        type Request = SetBoolRequest;
        type Response = SetBoolResponse;
        type Event = SetBoolEvent;
        const ROS_NAME: &'static str = "std_srvs/srv/SetBool";
        const TYPE_HASH: &'static str = "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetBoolEvent {
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

    /// `std_srvs/srv/Trigger_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Trigger_Request_")]
    pub struct TriggerRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for TriggerRequest {
        const ROS_NAME: &'static str = "std_srvs/srv/Trigger_Request";
        const TYPE_HASH: &'static str = "RIHS01_d010825374ce8918e72bfd826c82603e60f45419e932ea976f807b74a863a199";
    }

    /// `std_srvs/srv/Trigger_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Trigger_Response_")]
    pub struct TriggerResponse {
        /// indicate successful run of triggered service
        pub success: bool,
        /// informational, e.g. for error messages
        pub message: ::std::string::String,
    }

    impl crate::RosMessage for TriggerResponse {
        const ROS_NAME: &'static str = "std_srvs/srv/Trigger_Response";
        const TYPE_HASH: &'static str = "RIHS01_2d946c21e2fc3f1e9ca6986a8191d85fcc70097a8bb7771a053564bc47009cdf";
    }

    /// `std_srvs/srv/Trigger_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_srvs::srv::dds_::Trigger_Event_")]
    pub struct TriggerEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<TriggerRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<TriggerResponse>,
    }

    impl crate::RosMessage for TriggerEvent {
        const ROS_NAME: &'static str = "std_srvs/srv/Trigger_Event";
        const TYPE_HASH: &'static str = "RIHS01_ec4a1d26b0575e61906890342aba9523a2360e9845857c5590fa6e23bc39e1c2";
    }

    /// The service `std_srvs/srv/Trigger`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Trigger;

    impl crate::RosService for Trigger {
        type Request = TriggerRequest;
        type Response = TriggerResponse;
        type Event = TriggerEvent;
        const ROS_NAME: &'static str = "std_srvs/srv/Trigger";
        const TYPE_HASH: &'static str = "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            TriggerEvent {
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
    crate::RosTypeEntry::of::<srv::EmptyRequest>(),
    crate::RosTypeEntry::of::<srv::EmptyResponse>(),
    crate::RosTypeEntry::of::<srv::EmptyEvent>(),
    crate::RosTypeEntry::of::<srv::SetBoolRequest>(),
    crate::RosTypeEntry::of::<srv::SetBoolResponse>(),
    crate::RosTypeEntry::of::<srv::SetBoolEvent>(),
    crate::RosTypeEntry::of::<srv::TriggerRequest>(),
    crate::RosTypeEntry::of::<srv::TriggerResponse>(),
    crate::RosTypeEntry::of::<srv::TriggerEvent>(),
];
