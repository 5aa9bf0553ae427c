// Written by `tests/messages/committed.rs` from the interface files of `rcl_interfaces`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `rcl_interfaces`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Represents bounds and a step value for a floating point typed parameter.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::FloatingPointRange_"
    )]
    pub struct FloatingPointRange {
        /// Start value for valid values, inclusive.
        pub from_value: f64,
        /// End value for valid values, inclusive.
        pub to_value: f64,
        /// Size of valid steps between the from and to bound.
        ///
        /// Step is considered to be a magnitude, therefore negative values are treated
        /// the same as positive values, and a step value of zero implies a continuous
        /// range of values.
        ///
        /// Ideally, the step would be less than or equal to the distance between the
        /// bounds, as well as an even multiple of the distance between the bounds, but
        /// neither are required.
        ///
        /// If the absolute value of the step is larger than or equal to the distance
        /// between the two bounds, then the bounds will be the only valid values. e.g. if
        /// the range is defined as {from_value: 1.0, to_value: 2.0, step: 5.0} then the
        /// valid values will be 1.0 and 2.0.
        ///
        /// If the step is less than the distance between the bounds, but the distance is
        /// not a multiple of the step, then the "to" bound will always be a valid value,
        /// e.g. if the range is defined as {from_value: 2.0, to_value: 5.0, step: 2.0}
        /// then the valid values will be 2.0, 4.0, and 5.0.
        pub step: f64,
    }

    impl crate::RosMessage for FloatingPointRange {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/FloatingPointRange";
        const TYPE_HASH: &'static str = "RIHS01_e6af23a23c177fee5f3075c8b1e435162a9b63c863d78c06017460b49684262d";
    }

    /// Represents bounds and a step value for an integer typed parameter.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::IntegerRange_")]
    pub struct IntegerRange {
        /// Start value for valid values, inclusive.
        pub from_value: i64,
        /// End value for valid values, inclusive.
        pub to_value: i64,
        /// Size of valid steps between the from and to bound.
        ///
        /// A step value of zero implies a continuous range of values. Ideally, the step
        /// would be less than or equal to the distance between the bounds, as well as an
        /// even multiple of the distance between the bounds, but neither are required.
        ///
        /// If the absolute value of the step is larger than or equal to the distance
        /// between the two bounds, then the bounds will be the only valid values. e.g. if
        /// the range is defined as {from_value: 1, to_value: 2, step: 5} then the valid
        /// values will be 1 and 2.
        ///
        /// If the step is less than the distance between the bounds, but the distance is
        /// not a multiple of the step, then the "to" bound will always be a valid value,
        /// e.g. if the range is defined as {from_value: 2, to_value: 5, step: 2} then
        /// the valid values will be 2, 4, and 5.
        pub step: u64,
    }

    impl crate::RosMessage for IntegerRange {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/IntegerRange";
        const TYPE_HASH: &'static str = "RIHS01_f7b7fdc0f65f07702e099218e13288c3963bcb9345bde78b560e6cd19800fc5a";
    }

    /// The resulting parameters under the given prefixes.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::ListParametersResult_"
    )]
    pub struct ListParametersResult {
        pub names: ::std::vec::Vec<::std::string::String>,
        /// The resulting prefixes under the given prefixes.
        /// TODO(wjwwood): link to prefix definition and rules.
        pub prefixes: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for ListParametersResult {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ListParametersResult";
        const TYPE_HASH: &'static str = "RIHS01_237ae3428413dcbcfb452b510c42355f3a2b021dc091afa3e18526d57022f1cd";
    }

    /// Severity level constants
    ///
    /// These logging levels follow the Python Standard
    /// https://docs.python.org/3/library/logging.html#logging-levels
    /// And are implemented in rcutils as well
    /// https://github.com/ros2/rcutils/blob/35f29850064e0c33a4063cbc947ebbfeada11dba/include/rcutils/logging.h#L164-L172
    /// This leaves space for other standard logging levels to be inserted in the middle in the future,
    /// as well as custom user defined levels.
    /// Since there are several other logging enumeration standard for different implementations,
    /// other logging implementations may need to provide level mappings to match their internal implementations.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::Log_")]
    pub struct Log {
        /// Fields
        ///
        /// Timestamp when this message was generated by the node.
        pub stamp: crate::builtin_interfaces::msg::Time,
        /// Corresponding log level, see above definitions.
        pub level: u8,
        /// The name representing the logger this message came from.
        pub name: ::std::string::String,
        /// The full log message.
        pub msg: ::std::string::String,
        /// The file the message came from.
        pub file: ::std::string::String,
        /// The function the message came from.
        pub function: ::std::string::String,
        /// The line in the file the message came from.
        pub line: u32,
    }

    impl Log {
        /// Debug is for pedantic information, which is useful when debugging issues.
        pub const DEBUG: u8 = 10;

        /// Info is the standard informational level and is used to report expected
        /// information.
        pub const INFO: u8 = 20;

        /// Warning is for information that may potentially cause issues or possibly unexpected
        /// behavior.
        pub const WARN: u8 = 30;

        /// Error is for information that this node cannot resolve.
        pub const ERROR: u8 = 40;

        /// Information about a impending node shutdown.
        pub const FATAL: u8 = 50;
    }

    impl crate::RosMessage for Log {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/Log";
        const TYPE_HASH: &'static str = "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac";
    }

    /// All available logger levels; these correspond to the enum in rcutils/logger.h
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::LoggerLevel_")]
    pub struct LoggerLevel {
        /// The logger name.
        pub name: ::std::string::String,
        /// The logger level
        pub level: u32,
    }

    impl LoggerLevel {
        pub const LOG_LEVEL_UNKNOWN: u8 = 0;
        pub const LOG_LEVEL_DEBUG: u8 = 10;
        pub const LOG_LEVEL_INFO: u8 = 20;
        pub const LOG_LEVEL_WARN: u8 = 30;
        pub const LOG_LEVEL_ERROR: u8 = 40;
        pub const LOG_LEVEL_FATAL: u8 = 50;
    }

    impl crate::RosMessage for LoggerLevel {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/LoggerLevel";
        const TYPE_HASH: &'static str = "RIHS01_95785cc42f048ab4f395af65035aeaf2181d8e1c7a44edb8ad4558445fdb43c0";
    }

    /// This is the message to communicate a parameter. It is an open struct with an enum in
    /// the descriptor to select which value is active.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::Parameter_")]
    pub struct Parameter {
        /// The full name of the parameter.
        pub name: ::std::string::String,
        /// The parameter's value which can be one of several types, see
        /// `ParameterValue.msg` and `ParameterType.msg`.
        pub value: ParameterValue,
    }

    impl crate::RosMessage for Parameter {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/Parameter";
        const TYPE_HASH: &'static str = "RIHS01_ddfe6442cffc462317adb5c92536a7b6dd55858c5c3e1e328165a6b73c2831af";
    }

    /// This is the message to communicate a parameter's descriptor.
    #[derive(Debug, Clone, PartialEq, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::ParameterDescriptor_"
    )]
    pub struct ParameterDescriptor {
        /// The name of the parameter.
        pub name: ::std::string::String,
        /// Enum values are defined in the `ParameterType.msg` message.
        pub r#type: u8,
        /// Description of the parameter, visible from introspection tools.
        pub description: ::std::string::String,
        /// Parameter constraints
        /// Plain English description of additional constraints which cannot be expressed
        /// with the available constraints, e.g. "only prime numbers".
        ///
        /// By convention, this should only be used to clarify constraints which cannot
        /// be completely expressed with the parameter constraints below.
        pub additional_constraints: ::std::string::String,
        /// If 'true' then the value cannot change after it has been initialized.
        pub read_only: bool,
        /// If true, the parameter is allowed to change type.
        pub dynamic_typing: bool,
        /// If any of the following sequences are not empty, then the constraint inside of
        /// them apply to this parameter.
        ///
        /// FloatingPointRange and IntegerRange are mutually exclusive.
        /// FloatingPointRange consists of a from_value, a to_value, and a step.
        #[dds(bound = 1)]
        pub floating_point_range: ::std::vec::Vec<FloatingPointRange>,
        /// IntegerRange consists of a from_value, a to_value, and a step.
        #[dds(bound = 1)]
        pub integer_range: ::std::vec::Vec<IntegerRange>,
    }

    impl ::core::default::Default for ParameterDescriptor {
        fn default() -> Self {
            Self {
                name: ::core::default::Default::default(),
                r#type: ::core::default::Default::default(),
                description: ::core::default::Default::default(),
                additional_constraints: ::core::default::Default::default(),
                read_only: false,
                dynamic_typing: false,
                floating_point_range: ::core::default::Default::default(),
                integer_range: ::core::default::Default::default(),
            }
        }
    }

    impl crate::RosMessage for ParameterDescriptor {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ParameterDescriptor";
        const TYPE_HASH: &'static str = "RIHS01_52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704";
    }

    /// This message contains a parameter event.
    /// Because the parameter event was an atomic update, a specific parameter name
    /// can only be in one of the three sets.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::ParameterEvent_")]
    pub struct ParameterEvent {
        /// The time stamp when this parameter event occurred.
        pub stamp: crate::builtin_interfaces::msg::Time,
        /// Fully qualified ROS path to node.
        pub node: ::std::string::String,
        /// New parameters that have been set for this node.
        pub new_parameters: ::std::vec::Vec<Parameter>,
        /// Parameters that have been changed during this event.
        pub changed_parameters: ::std::vec::Vec<Parameter>,
        /// Parameters that have been deleted during this event.
        pub deleted_parameters: ::std::vec::Vec<Parameter>,
    }

    impl crate::RosMessage for ParameterEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ParameterEvent";
        const TYPE_HASH: &'static str = "RIHS01_043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204";
    }

    /// This message contains descriptors of a parameter event.
    /// It was an atomic update.
    /// A specific parameter name can only be in one of the three sets.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::ParameterEventDescriptors_"
    )]
    pub struct ParameterEventDescriptors {
        pub new_parameters: ::std::vec::Vec<ParameterDescriptor>,
        pub changed_parameters: ::std::vec::Vec<ParameterDescriptor>,
        pub deleted_parameters: ::std::vec::Vec<ParameterDescriptor>,
    }

    impl crate::RosMessage for ParameterEventDescriptors {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ParameterEventDescriptors";
        const TYPE_HASH: &'static str = "RIHS01_456f90915d72ef69379e702ef3ba2a115098ff677eab9c0080fa11239c6b147e";
    }

    /// These types correspond to the value that is set in the ParameterValue message.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::ParameterType_")]
    pub struct ParameterType {
        pub structure_needs_at_least_one_member: u8,
    }

    impl ParameterType {
        /// Default value, which implies this is not a valid parameter.
        pub const PARAMETER_NOT_SET: u8 = 0;
        pub const PARAMETER_BOOL: u8 = 1;
        pub const PARAMETER_INTEGER: u8 = 2;
        pub const PARAMETER_DOUBLE: u8 = 3;
        pub const PARAMETER_STRING: u8 = 4;
        pub const PARAMETER_BYTE_ARRAY: u8 = 5;
        pub const PARAMETER_BOOL_ARRAY: u8 = 6;
        pub const PARAMETER_INTEGER_ARRAY: u8 = 7;
        pub const PARAMETER_DOUBLE_ARRAY: u8 = 8;
        pub const PARAMETER_STRING_ARRAY: u8 = 9;
    }

    impl crate::RosMessage for ParameterType {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ParameterType";
        const TYPE_HASH: &'static str = "RIHS01_df29ed057a834862187be24dd187d981790ff3ea6502f4cd27b432cbc42c6d46";
    }

    /// Used to determine which of the next *_value fields are set.
    /// ParameterType.PARAMETER_NOT_SET indicates that the parameter was not set
    /// (if gotten) or is uninitialized.
    /// Values are enumerated in `ParameterType.msg`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "rcl_interfaces::msg::dds_::ParameterValue_")]
    pub struct ParameterValue {
        /// The type of this parameter, which corresponds to the appropriate field below.
        pub r#type: u8,
        /// "Variant" style storage of the parameter value. Only the value corresponding
        /// the type field will have valid information.
        /// Boolean value, can be either true or false.
        pub bool_value: bool,
        /// Integer value ranging from -9,223,372,036,854,775,808 to
        /// 9,223,372,036,854,775,807.
        pub integer_value: i64,
        /// A double precision floating point value following IEEE 754.
        pub double_value: f64,
        /// A textual value with no practical length limit.
        pub string_value: ::std::string::String,
        /// An array of bytes, used for non-textual information.
        #[dds(octet)]
        pub byte_array_value: ::std::vec::Vec<u8>,
        /// An array of boolean values.
        pub bool_array_value: ::std::vec::Vec<bool>,
        /// An array of 64-bit integer values.
        pub integer_array_value: ::std::vec::Vec<i64>,
        /// An array of 64-bit floating point values.
        pub double_array_value: ::std::vec::Vec<f64>,
        /// An array of string values.
        pub string_array_value: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for ParameterValue {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/ParameterValue";
        const TYPE_HASH: &'static str = "RIHS01_115fc089a387e23c7ecd3525c9189c379109119d6ab82e8dfbde0fdf6a7f9b68";
    }

    /// True when succeed, false when failed.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::SetLoggerLevelsResult_"
    )]
    pub struct SetLoggerLevelsResult {
        pub successful: bool,
        /// Reason why the setting was either successful or a failure.
        pub reason: ::std::string::String,
    }

    impl crate::RosMessage for SetLoggerLevelsResult {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/SetLoggerLevelsResult";
        const TYPE_HASH: &'static str = "RIHS01_9316e5e679a5b72d2dd7fd80c539bae9e106fa0890a06dc5da3a8177a3ff6909";
    }

    /// A true value of the same index indicates that the parameter was set
    /// successfully. A false value indicates the change was rejected.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::msg::dds_::SetParametersResult_"
    )]
    pub struct SetParametersResult {
        pub successful: bool,
        /// Reason why the setting was a failure. On success, the contents of this field
        /// are undefined.  This should only be used for logging and user interfaces.
        pub reason: ::std::string::String,
    }

    impl crate::RosMessage for SetParametersResult {
        const ROS_NAME: &'static str = "rcl_interfaces/msg/SetParametersResult";
        const TYPE_HASH: &'static str = "RIHS01_cfcc0fb0371ee5159b403960ef4300f8f9d2f1fd6117c8666b7f9654d528a9b1";
    }
}

pub mod srv {
    /// A list of parameters of which to get the descriptor.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::DescribeParameters_Request_"
    )]
    pub struct DescribeParametersRequest {
        pub names: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for DescribeParametersRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/DescribeParameters_Request";
        const TYPE_HASH: &'static str = "RIHS01_05dd1c2bc87dec2627105c8070d6f9725c781a4f2ab852975bf105462b82b644";
    }

    /// A list of the descriptors of all parameters requested in the same order
    /// as they were requested. This list has the same length as the list of
    /// parameters requested.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::DescribeParameters_Response_"
    )]
    pub struct DescribeParametersResponse {
        pub descriptors: ::std::vec::Vec<super::msg::ParameterDescriptor>,
    }

    impl crate::RosMessage for DescribeParametersResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/DescribeParameters_Response";
        const TYPE_HASH: &'static str = "RIHS01_ad6747319613c6131589e062e095b469a46cc764f7d0f12a001a49e6cd893995";
    }

    /// `rcl_interfaces/srv/DescribeParameters_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::DescribeParameters_Event_"
    )]
    pub struct DescribeParametersEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<DescribeParametersRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<DescribeParametersResponse>,
    }

    impl crate::RosMessage for DescribeParametersEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/DescribeParameters_Event";
        const TYPE_HASH: &'static str = "RIHS01_3deba64c035093033c690184834441551a53128ea2539f71f2596fbc4ed9de43";
    }

    /// The service `rcl_interfaces/srv/DescribeParameters`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct DescribeParameters;

    impl crate::RosService for DescribeParameters {
        type Request = DescribeParametersRequest;
        type Response = DescribeParametersResponse;
        type Event = DescribeParametersEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/DescribeParameters";
        const TYPE_HASH: &'static str = "RIHS01_845b484d71eb0673dae682f2e3ba3c4851a65a3dcfb97bddd82c5b57e91e4cff";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            DescribeParametersEvent {
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

    /// A list of logger names to get.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetLoggerLevels_Request_"
    )]
    pub struct GetLoggerLevelsRequest {
        pub names: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for GetLoggerLevelsRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetLoggerLevels_Request";
        const TYPE_HASH: &'static str = "RIHS01_490ace424a5f5b14cb4e1e95030d7fe366d8df0fd9fe4d03b44d6009504fd2cc";
    }

    /// List of logger levels which is the same order as the provided names. If a
    /// logger was not yet set, the value will have 'unknown' as the value.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetLoggerLevels_Response_"
    )]
    pub struct GetLoggerLevelsResponse {
        pub levels: ::std::vec::Vec<super::msg::LoggerLevel>,
    }

    impl crate::RosMessage for GetLoggerLevelsResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetLoggerLevels_Response";
        const TYPE_HASH: &'static str = "RIHS01_228685d350911d213047abe756f5bf566d2f76b359c4e9fac16e5ef652aff910";
    }

    /// `rcl_interfaces/srv/GetLoggerLevels_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetLoggerLevels_Event_"
    )]
    pub struct GetLoggerLevelsEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetLoggerLevelsRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetLoggerLevelsResponse>,
    }

    impl crate::RosMessage for GetLoggerLevelsEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetLoggerLevels_Event";
        const TYPE_HASH: &'static str = "RIHS01_c835a586d832cb17c01c512f8ffd449fd5384f5bd33fb44d76329d875d1f0875";
    }

    /// The service `rcl_interfaces/srv/GetLoggerLevels`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetLoggerLevels;

    impl crate::RosService for GetLoggerLevels {
        type Request = GetLoggerLevelsRequest;
        type Response = GetLoggerLevelsResponse;
        type Event = GetLoggerLevelsEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetLoggerLevels";
        const TYPE_HASH: &'static str = "RIHS01_03bf1bebd0d6514c7ed0ba7c5e08dc9f2f39c759fe99e1e30ea4157d7674f72d";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetLoggerLevelsEvent {
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

    /// A list of parameter names.
    /// TODO(wjwwood): link to parameter naming rules.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameterTypes_Request_"
    )]
    pub struct GetParameterTypesRequest {
        pub names: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for GetParameterTypesRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameterTypes_Request";
        const TYPE_HASH: &'static str = "RIHS01_87d7ec5ef545d4daa289d500025d31fb2437bc8b8365ca367161c4dac4be33fd";
    }

    /// List of types which is the same length and order as the provided names.
    ///
    /// The type enum is defined in ParameterType.msg. ParameterType.PARAMETER_NOT_SET
    /// indicates that the parameter is not currently set.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameterTypes_Response_"
    )]
    pub struct GetParameterTypesResponse {
        pub types: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for GetParameterTypesResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameterTypes_Response";
        const TYPE_HASH: &'static str = "RIHS01_ac1335dce67c478e669434f6ac2fbff34fcd529580f272d3006785ba8b54e47f";
    }

    /// `rcl_interfaces/srv/GetParameterTypes_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameterTypes_Event_"
    )]
    pub struct GetParameterTypesEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetParameterTypesRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetParameterTypesResponse>,
    }

    impl crate::RosMessage for GetParameterTypesEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameterTypes_Event";
        const TYPE_HASH: &'static str = "RIHS01_9516adca0cc885d46a59c2362fb8eb5f4906b046518266f8c645b454b0dddc60";
    }

    /// The service `rcl_interfaces/srv/GetParameterTypes`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetParameterTypes;

    impl crate::RosService for GetParameterTypes {
        type Request = GetParameterTypesRequest;
        type Response = GetParameterTypesResponse;
        type Event = GetParameterTypesEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameterTypes";
        const TYPE_HASH: &'static str = "RIHS01_da199c878688b3e530bdfe3ca8f74cb9fa0c303101e980a9e8f260e25e1c80ca";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetParameterTypesEvent {
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

    /// TODO(wjwwood): Decide on the rules for grouping, nodes, and parameter "names"
    /// in general, then link to that.
    ///
    /// For more information about parameters and naming rules, see:
    /// https://design.ros2.org/articles/ros_parameters.html
    /// https://github.com/ros2/design/pull/241
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameters_Request_"
    )]
    pub struct GetParametersRequest {
        /// A list of parameter names to get.
        pub names: ::std::vec::Vec<::std::string::String>,
    }

    impl crate::RosMessage for GetParametersRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameters_Request";
        const TYPE_HASH: &'static str = "RIHS01_135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6";
    }

    /// List of values which is the same length and order as the provided names. If a
    /// parameter was not yet set, the value will have PARAMETER_NOT_SET as the
    /// type.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameters_Response_"
    )]
    pub struct GetParametersResponse {
        pub values: ::std::vec::Vec<super::msg::ParameterValue>,
    }

    impl crate::RosMessage for GetParametersResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameters_Response";
        const TYPE_HASH: &'static str = "RIHS01_9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a";
    }

    /// `rcl_interfaces/srv/GetParameters_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::GetParameters_Event_"
    )]
    pub struct GetParametersEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetParametersRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetParametersResponse>,
    }

    impl crate::RosMessage for GetParametersEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameters_Event";
        const TYPE_HASH: &'static str = "RIHS01_84eeb9247b09067c35bd8750d5c8555b700e394a616737c4624f15ae02e64c4d";
    }

    /// The service `rcl_interfaces/srv/GetParameters`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetParameters;

    impl crate::RosService for GetParameters {
        type Request = GetParametersRequest;
        type Response = GetParametersResponse;
        type Event = GetParametersEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/GetParameters";
        const TYPE_HASH: &'static str = "RIHS01_bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetParametersEvent {
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

    /// Recursively get parameters with unlimited depth.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::ListParameters_Request_"
    )]
    pub struct ListParametersRequest {
        /// The list of parameter prefixes to query.
        pub prefixes: ::std::vec::Vec<::std::string::String>,
        /// Relative depth from given prefixes to return.
        ///
        /// Use DEPTH_RECURSIVE to get the recursive parameters and prefixes for each prefix.
        pub depth: u64,
    }

    impl ListParametersRequest {
        pub const DEPTH_RECURSIVE: u64 = 0;
    }

    impl crate::RosMessage for ListParametersRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/ListParameters_Request";
        const TYPE_HASH: &'static str = "RIHS01_a1b0b5d6b967a5b8ac5bc8563c3ea678f349e312a6a4967227c5a96bc5ce38df";
    }

    /// The list of parameter names and their prefixes.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::ListParameters_Response_"
    )]
    pub struct ListParametersResponse {
        pub result: super::msg::ListParametersResult,
    }

    impl crate::RosMessage for ListParametersResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/ListParameters_Response";
        const TYPE_HASH: &'static str = "RIHS01_31b937b82de3612426be79f231e386259f97e8dc843e3f2845288b4bfa296bdd";
    }

    /// `rcl_interfaces/srv/ListParameters_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::ListParameters_Event_"
    )]
    pub struct ListParametersEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<ListParametersRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<ListParametersResponse>,
    }

    impl crate::RosMessage for ListParametersEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/ListParameters_Event";
        const TYPE_HASH: &'static str = "RIHS01_89c5b5aaf68ec925ae9bbc5569ee21de82959b4d1496dbd498792ad825b9b292";
    }

    /// The service `rcl_interfaces/srv/ListParameters`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ListParameters;

    impl crate::RosService for ListParameters {
        type Request = ListParametersRequest;
        type Response = ListParametersResponse;
        type Event = ListParametersEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/ListParameters";
        const TYPE_HASH: &'static str = "RIHS01_3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            ListParametersEvent {
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

    /// A list of loggers to set.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetLoggerLevels_Request_"
    )]
    pub struct SetLoggerLevelsRequest {
        pub levels: ::std::vec::Vec<super::msg::LoggerLevel>,
    }

    impl crate::RosMessage for SetLoggerLevelsRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetLoggerLevels_Request";
        const TYPE_HASH: &'static str = "RIHS01_4e7768e0f4c749205f35bc05449f83fad18c42de52c16b1934d66c2f68ffd862";
    }

    /// Indicates whether setting each logger succeeded or not and why.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetLoggerLevels_Response_"
    )]
    pub struct SetLoggerLevelsResponse {
        pub results: ::std::vec::Vec<super::msg::SetLoggerLevelsResult>,
    }

    impl crate::RosMessage for SetLoggerLevelsResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetLoggerLevels_Response";
        const TYPE_HASH: &'static str = "RIHS01_ba51739027e57cb9120015737f4618579684047d862b2b16a76bc399d987d6d3";
    }

    /// `rcl_interfaces/srv/SetLoggerLevels_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetLoggerLevels_Event_"
    )]
    pub struct SetLoggerLevelsEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetLoggerLevelsRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetLoggerLevelsResponse>,
    }

    impl crate::RosMessage for SetLoggerLevelsEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetLoggerLevels_Event";
        const TYPE_HASH: &'static str = "RIHS01_ce7d563c54edbff5addfea9ae8f8bcb7ba755673cdc0761064ec0d4adf18b6d9";
    }

    /// The service `rcl_interfaces/srv/SetLoggerLevels`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetLoggerLevels;

    impl crate::RosService for SetLoggerLevels {
        type Request = SetLoggerLevelsRequest;
        type Response = SetLoggerLevelsResponse;
        type Event = SetLoggerLevelsEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetLoggerLevels";
        const TYPE_HASH: &'static str = "RIHS01_3ff86cb4e91fbf9abae15c234ecc874448de6ece8e193401c077cf116e4f6d78";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetLoggerLevelsEvent {
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

    /// A list of parameters to set.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParameters_Request_"
    )]
    pub struct SetParametersRequest {
        pub parameters: ::std::vec::Vec<super::msg::Parameter>,
    }

    impl crate::RosMessage for SetParametersRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParameters_Request";
        const TYPE_HASH: &'static str = "RIHS01_130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932";
    }

    /// Indicates whether setting each parameter succeeded or not and why.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParameters_Response_"
    )]
    pub struct SetParametersResponse {
        pub results: ::std::vec::Vec<super::msg::SetParametersResult>,
    }

    impl crate::RosMessage for SetParametersResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParameters_Response";
        const TYPE_HASH: &'static str = "RIHS01_7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266";
    }

    /// `rcl_interfaces/srv/SetParameters_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParameters_Event_"
    )]
    pub struct SetParametersEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetParametersRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetParametersResponse>,
    }

    impl crate::RosMessage for SetParametersEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParameters_Event";
        const TYPE_HASH: &'static str = "RIHS01_5060f52369bcff7f9dbd6eca21ee521859e471e71b33a8a8df26d5236fe54a80";
    }

    /// The service `rcl_interfaces/srv/SetParameters`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetParameters;

    impl crate::RosService for SetParameters {
        type Request = SetParametersRequest;
        type Response = SetParametersResponse;
        type Event = SetParametersEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParameters";
        const TYPE_HASH: &'static str = "RIHS01_56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetParametersEvent {
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

    /// A list of parameters to set atomically.
    ///
    /// This call will either set all values, or none of the values.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParametersAtomically_Request_"
    )]
    pub struct SetParametersAtomicallyRequest {
        pub parameters: ::std::vec::Vec<super::msg::Parameter>,
    }

    impl crate::RosMessage for SetParametersAtomicallyRequest {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParametersAtomically_Request";
        const TYPE_HASH: &'static str = "RIHS01_db0bd950ed5ed867a0e90b225e44dea382d762c0762ff3e0ee842190042a59e5";
    }

    /// Indicates whether setting all of the parameters succeeded or not and why.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParametersAtomically_Response_"
    )]
    pub struct SetParametersAtomicallyResponse {
        pub result: super::msg::SetParametersResult,
    }

    impl crate::RosMessage for SetParametersAtomicallyResponse {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParametersAtomically_Response";
        const TYPE_HASH: &'static str = "RIHS01_31b1a38c5b0b9d893ee24da45f69638f4561c78461d82d52750f429b534502b8";
    }

    /// `rcl_interfaces/srv/SetParametersAtomically_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "rcl_interfaces::srv::dds_::SetParametersAtomically_Event_"
    )]
    pub struct SetParametersAtomicallyEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetParametersAtomicallyRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetParametersAtomicallyResponse>,
    }

    impl crate::RosMessage for SetParametersAtomicallyEvent {
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParametersAtomically_Event";
        const TYPE_HASH: &'static str = "RIHS01_42fc0821e6e8fcff2b150cefc7d8269f0ce65139e1dc715b15267a4bcf63a189";
    }

    /// The service `rcl_interfaces/srv/SetParametersAtomically`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetParametersAtomically;

    impl crate::RosService for SetParametersAtomically {
        type Request = SetParametersAtomicallyRequest;
        type Response = SetParametersAtomicallyResponse;
        type Event = SetParametersAtomicallyEvent;
        const ROS_NAME: &'static str = "rcl_interfaces/srv/SetParametersAtomically";
        const TYPE_HASH: &'static str = "RIHS01_0e192ef259c07fc3c07a13191d27002222e65e00ccec653ca05e856f79285fcd";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetParametersAtomicallyEvent {
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
    crate::RosTypeEntry::of::<msg::FloatingPointRange>(),
    crate::RosTypeEntry::of::<msg::IntegerRange>(),
    crate::RosTypeEntry::of::<msg::ListParametersResult>(),
    crate::RosTypeEntry::of::<msg::Log>(),
    crate::RosTypeEntry::of::<msg::LoggerLevel>(),
    crate::RosTypeEntry::of::<msg::Parameter>(),
    crate::RosTypeEntry::of::<msg::ParameterDescriptor>(),
    crate::RosTypeEntry::of::<msg::ParameterEvent>(),
    crate::RosTypeEntry::of::<msg::ParameterEventDescriptors>(),
    crate::RosTypeEntry::of::<msg::ParameterType>(),
    crate::RosTypeEntry::of::<msg::ParameterValue>(),
    crate::RosTypeEntry::of::<msg::SetLoggerLevelsResult>(),
    crate::RosTypeEntry::of::<msg::SetParametersResult>(),
    crate::RosTypeEntry::of::<srv::DescribeParametersRequest>(),
    crate::RosTypeEntry::of::<srv::DescribeParametersResponse>(),
    crate::RosTypeEntry::of::<srv::DescribeParametersEvent>(),
    crate::RosTypeEntry::of::<srv::GetLoggerLevelsRequest>(),
    crate::RosTypeEntry::of::<srv::GetLoggerLevelsResponse>(),
    crate::RosTypeEntry::of::<srv::GetLoggerLevelsEvent>(),
    crate::RosTypeEntry::of::<srv::GetParameterTypesRequest>(),
    crate::RosTypeEntry::of::<srv::GetParameterTypesResponse>(),
    crate::RosTypeEntry::of::<srv::GetParameterTypesEvent>(),
    crate::RosTypeEntry::of::<srv::GetParametersRequest>(),
    crate::RosTypeEntry::of::<srv::GetParametersResponse>(),
    crate::RosTypeEntry::of::<srv::GetParametersEvent>(),
    crate::RosTypeEntry::of::<srv::ListParametersRequest>(),
    crate::RosTypeEntry::of::<srv::ListParametersResponse>(),
    crate::RosTypeEntry::of::<srv::ListParametersEvent>(),
    crate::RosTypeEntry::of::<srv::SetLoggerLevelsRequest>(),
    crate::RosTypeEntry::of::<srv::SetLoggerLevelsResponse>(),
    crate::RosTypeEntry::of::<srv::SetLoggerLevelsEvent>(),
    crate::RosTypeEntry::of::<srv::SetParametersRequest>(),
    crate::RosTypeEntry::of::<srv::SetParametersResponse>(),
    crate::RosTypeEntry::of::<srv::SetParametersEvent>(),
    crate::RosTypeEntry::of::<srv::SetParametersAtomicallyRequest>(),
    crate::RosTypeEntry::of::<srv::SetParametersAtomicallyResponse>(),
    crate::RosTypeEntry::of::<srv::SetParametersAtomicallyEvent>(),
];
