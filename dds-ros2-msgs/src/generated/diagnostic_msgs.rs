// Written by `tests/messages/committed.rs` from the interface files of `diagnostic_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `diagnostic_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// This message is used to send diagnostic information about the state of the robot.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::msg::dds_::DiagnosticArray_"
    )]
    pub struct DiagnosticArray {
        /// for timestamp
        pub header: crate::std_msgs::msg::Header,
        /// an array of components being reported on
        pub status: ::std::vec::Vec<DiagnosticStatus>,
    }

    impl crate::RosMessage for DiagnosticArray {
        const ROS_NAME: &'static str = "diagnostic_msgs/msg/DiagnosticArray";
        const TYPE_HASH: &'static str = "RIHS01_5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e";
    }

    /// This message holds the status of an individual component of the robot.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::msg::dds_::DiagnosticStatus_"
    )]
    pub struct DiagnosticStatus {
        /// Level of operation enumerated above.
        #[dds(octet)]
        pub level: u8,
        /// A description of the test/component reporting.
        pub name: ::std::string::String,
        /// A description of the status.
        pub message: ::std::string::String,
        /// A hardware unique string.
        pub hardware_id: ::std::string::String,
        /// An array of values associated with the status.
        pub values: ::std::vec::Vec<KeyValue>,
    }

    impl DiagnosticStatus {
        /// Possible levels of operations.
        pub const OK: u8 = 0;
        pub const WARN: u8 = 1;
        pub const ERROR: u8 = 2;
        pub const STALE: u8 = 3;
    }

    impl crate::RosMessage for DiagnosticStatus {
        const ROS_NAME: &'static str = "diagnostic_msgs/msg/DiagnosticStatus";
        const TYPE_HASH: &'static str = "RIHS01_b0e3e692ea2d54a8af2f4ef1930e81556a2db55216b771f8a7d2724ed47bf0e4";
    }

    /// What to label this value when viewing.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "diagnostic_msgs::msg::dds_::KeyValue_")]
    pub struct KeyValue {
        pub key: ::std::string::String,
        /// A value to track over time.
        pub value: ::std::string::String,
    }

    impl crate::RosMessage for KeyValue {
        const ROS_NAME: &'static str = "diagnostic_msgs/msg/KeyValue";
        const TYPE_HASH: &'static str = "RIHS01_d68081eaa540288c5440753baecef0c4e16e81a5f78ad68902ded5100413bb42";
    }
}

pub mod srv {
    /// This service is used as part of the process for loading analyzers at runtime,
    /// and should be used by a loader script or program, not as a standalone service.
    /// Information about dynamic addition of analyzers can be found at
    /// http://wiki.ros.org/diagnostics/Tutorials/Adding%20Analyzers%20at%20Runtime
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::srv::dds_::AddDiagnostics_Request_"
    )]
    pub struct AddDiagnosticsRequest {
        /// The load_namespace parameter defines the namespace where parameters for the
        /// initialization of analyzers in the diagnostic aggregator have been loaded. The
        /// value should be a global name (i.e. /my/name/space), not a relative
        /// (my/name/space) or private (~my/name/space) name. Analyzers will not be added
        /// if a non-global name is used. The call will also fail if the namespace
        /// contains parameters that follow a namespace structure that does not conform to
        /// that expected by the analyzer definitions. See
        /// http://wiki.ros.org/diagnostics/Tutorials/Configuring%20Diagnostic%20Aggregators
        /// and http://wiki.ros.org/diagnostics/Tutorials/Using%20the%20GenericAnalyzer
        /// for examples of the structure of yaml files which are expected to have been
        /// loaded into the namespace.
        pub load_namespace: ::std::string::String,
    }

    impl crate::RosMessage for AddDiagnosticsRequest {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/AddDiagnostics_Request";
        const TYPE_HASH: &'static str = "RIHS01_e0b6572a07c2b3ca2c4f2acf742297661f6ceb50f5baa4f9305b6094cf950146";
    }

    /// `diagnostic_msgs/srv/AddDiagnostics_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::srv::dds_::AddDiagnostics_Response_"
    )]
    pub struct AddDiagnosticsResponse {
        /// True if diagnostic aggregator was updated with new diagnostics, False
        /// otherwise. A false return value means that either there is a bond in the
        /// aggregator which already used the requested namespace, or the initialization
        /// of analyzers failed.
        pub success: bool,
        /// Message with additional information about the success or failure
        pub message: ::std::string::String,
    }

    impl crate::RosMessage for AddDiagnosticsResponse {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/AddDiagnostics_Response";
        const TYPE_HASH: &'static str = "RIHS01_e7070a2373c892c4cf071dcd90405d7696187eb2ff0e40d8b6472a04a4b73d22";
    }

    /// `diagnostic_msgs/srv/AddDiagnostics_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::srv::dds_::AddDiagnostics_Event_"
    )]
    pub struct AddDiagnosticsEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<AddDiagnosticsRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<AddDiagnosticsResponse>,
    }

    impl crate::RosMessage for AddDiagnosticsEvent {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/AddDiagnostics_Event";
        const TYPE_HASH: &'static str = "RIHS01_21ac801810297ae86b5e5dcc665bbd1918bf71b19615c031c4c6e755ada80c7c";
    }

    /// The service `diagnostic_msgs/srv/AddDiagnostics`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct AddDiagnostics;

    impl crate::RosService for AddDiagnostics {
        type Request = AddDiagnosticsRequest;
        type Response = AddDiagnosticsResponse;
        type Event = AddDiagnosticsEvent;
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/AddDiagnostics";
        const TYPE_HASH: &'static str = "RIHS01_6b91084c9f8bffd9b0c1f6883e0e8e491a831f4fc6c6aec77a4efaf3f1ea90b5";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            AddDiagnosticsEvent {
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

    /// `diagnostic_msgs/srv/SelfTest_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::srv::dds_::SelfTest_Request_"
    )]
    pub struct SelfTestRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for SelfTestRequest {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/SelfTest_Request";
        const TYPE_HASH: &'static str = "RIHS01_3bb94b497e74e9beed2dddc7212d3ae596696d30413bd1550fe932fc20efb8a4";
    }

    /// `diagnostic_msgs/srv/SelfTest_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "diagnostic_msgs::srv::dds_::SelfTest_Response_"
    )]
    pub struct SelfTestResponse {
        pub id: ::std::string::String,
        #[dds(octet)]
        pub passed: u8,
        pub status: ::std::vec::Vec<super::msg::DiagnosticStatus>,
    }

    impl crate::RosMessage for SelfTestResponse {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/SelfTest_Response";
        const TYPE_HASH: &'static str = "RIHS01_489da82e00dce6671cb0ff423a0f0939b546336fbfe49d6c7e64c9b89f898f57";
    }

    /// `diagnostic_msgs/srv/SelfTest_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "diagnostic_msgs::srv::dds_::SelfTest_Event_")]
    pub struct SelfTestEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SelfTestRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SelfTestResponse>,
    }

    impl crate::RosMessage for SelfTestEvent {
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/SelfTest_Event";
        const TYPE_HASH: &'static str = "RIHS01_949f4bd418dae483879d649012beff105276e5b75b3c7445693c70dca1687718";
    }

    /// The service `diagnostic_msgs/srv/SelfTest`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SelfTest;

    impl crate::RosService for SelfTest {
        type Request = SelfTestRequest;
        type Response = SelfTestResponse;
        type Event = SelfTestEvent;
        const ROS_NAME: &'static str = "diagnostic_msgs/srv/SelfTest";
        const TYPE_HASH: &'static str = "RIHS01_df1e4e54a814a16ccc77471e9239618d46818e8d0e3b45ad6f8c34c6e2abfef6";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SelfTestEvent {
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
    crate::RosTypeEntry::of::<msg::DiagnosticArray>(),
    crate::RosTypeEntry::of::<msg::DiagnosticStatus>(),
    crate::RosTypeEntry::of::<msg::KeyValue>(),
    crate::RosTypeEntry::of::<srv::AddDiagnosticsRequest>(),
    crate::RosTypeEntry::of::<srv::AddDiagnosticsResponse>(),
    crate::RosTypeEntry::of::<srv::AddDiagnosticsEvent>(),
    crate::RosTypeEntry::of::<srv::SelfTestRequest>(),
    crate::RosTypeEntry::of::<srv::SelfTestResponse>(),
    crate::RosTypeEntry::of::<srv::SelfTestEvent>(),
];
