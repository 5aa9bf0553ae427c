// Written by `tests/messages/committed.rs` from the interface files of `type_description_interfaces`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `type_description_interfaces`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Represents a single field in a type.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::Field_"
    )]
    pub struct Field {
        /// Name of the field.
        pub name: ::std::string::String,
        /// Type of the field, including details about the type like length, nested name, etc.
        pub r#type: FieldType,
        /// Literal default value of the field as a string, as it appeared in the original
        /// message description file, whether that be .msg/.srv/.action or .idl.
        pub default_value: ::std::string::String,
    }

    impl crate::RosMessage for Field {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/Field";
        const TYPE_HASH: &'static str = "RIHS01_c0b01379cd4226281285ccaf6be46653968f855f7c5e41614ff5d7a854efef7c";
    }

    /// Represents the type of a field and related meta-data.
    #[derive(Debug, Clone, PartialEq, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::FieldType_"
    )]
    pub struct FieldType {
        /// Identifying number for the type of the field, using one of the above constants.
        pub type_id: u8,
        /// Only used when the type is an array or a bounded sequence.
        /// In the case of an array, this is the fixed capacity of the array.
        /// In the case of a bounded sequence, this is the maximum capacity of the sequence.
        /// In all other cases this field is unused.
        pub capacity: u64,
        /// Only used when the type is a fixed or bounded string/wstring, or a array/sequence of those.
        /// In the case of a fixed string/wstring, it is the fixed length of the string.
        /// In the case of a bounded string/wstring, it is the maximum capacity of the string.
        /// In the case of an array/sequence of fixed string/wstring, it is the fixed length of the strings.
        /// In the case of an array/sequence of bounded string/wstring, it is the maximum capacity of the strings.
        /// It is not currently possible to have different string capacities per element in the array/sequence.
        pub string_capacity: u64,
        /// Only used when the type is a nested type or array/sequence of nested types.
        /// This is limited to 255 characters.
        /// TODO(wjwwood): this 255 character limit was chosen due to this being the limit
        /// for DDSI-RTPS based middlewares, which is the most commonly used right now.
        /// We lack a ROS 2 specific limit in our design documents, but we should update
        /// this and/or link to the design doc when that is available.
        #[dds(bound = 255)]
        pub nested_type_name: ::std::string::String,
    }

    impl ::core::default::Default for FieldType {
        fn default() -> Self {
            Self {
                type_id: 0,
                capacity: ::core::default::Default::default(),
                string_capacity: ::core::default::Default::default(),
                nested_type_name: ::core::default::Default::default(),
            }
        }
    }

    impl FieldType {
        /// A constant for each type supported according to:
        /// http://design.ros2.org/articles/legacy_interface_definition.html
        /// and:
        /// http://design.ros2.org/articles/idl_interface_definition.html
        /// Order is loosely coupled to the order of appearance in the IDL 4.2 spec:
        /// https://www.omg.org/spec/IDL/4.2
        /// Layout of constants across the 0-255 decimal values in the uint8:
        ///
        /// - 000    : Reserved for "not set"
        /// - 001-048: Primitive types, strings, and reserved space for future primitive types
        /// - 049-096: Fixed sized array of primitive and string types
        /// - 097-144: Bounded Sequences of primitive and string types
        /// - 145-192: Unbounded Sequences of primitive and string types
        /// - 193-255: Reserved space for future array/sequence-like types
        pub const FIELD_TYPE_NOT_SET: u8 = 0;

        /// Nested type defined in other .msg/.idl files.
        pub const FIELD_TYPE_NESTED_TYPE: u8 = 1;

        /// Integer Types
        pub const FIELD_TYPE_INT8: u8 = 2;
        pub const FIELD_TYPE_UINT8: u8 = 3;
        pub const FIELD_TYPE_INT16: u8 = 4;
        pub const FIELD_TYPE_UINT16: u8 = 5;
        pub const FIELD_TYPE_INT32: u8 = 6;
        pub const FIELD_TYPE_UINT32: u8 = 7;
        pub const FIELD_TYPE_INT64: u8 = 8;
        pub const FIELD_TYPE_UINT64: u8 = 9;

        /// Floating-Point Types
        pub const FIELD_TYPE_FLOAT: u8 = 10;
        pub const FIELD_TYPE_DOUBLE: u8 = 11;
        pub const FIELD_TYPE_LONG_DOUBLE: u8 = 12;

        /// Char and WChar Types
        pub const FIELD_TYPE_CHAR: u8 = 13;
        pub const FIELD_TYPE_WCHAR: u8 = 14;

        /// Boolean Type
        pub const FIELD_TYPE_BOOLEAN: u8 = 15;

        /// Byte/Octet Type
        pub const FIELD_TYPE_BYTE: u8 = 16;

        /// String Types
        pub const FIELD_TYPE_STRING: u8 = 17;
        pub const FIELD_TYPE_WSTRING: u8 = 18;

        /// Fixed String Types
        pub const FIELD_TYPE_FIXED_STRING: u8 = 19;
        pub const FIELD_TYPE_FIXED_WSTRING: u8 = 20;

        /// Bounded String Types
        pub const FIELD_TYPE_BOUNDED_STRING: u8 = 21;
        pub const FIELD_TYPE_BOUNDED_WSTRING: u8 = 22;

        /// Fixed Sized Array Types
        pub const FIELD_TYPE_NESTED_TYPE_ARRAY: u8 = 49;
        pub const FIELD_TYPE_INT8_ARRAY: u8 = 50;
        pub const FIELD_TYPE_UINT8_ARRAY: u8 = 51;
        pub const FIELD_TYPE_INT16_ARRAY: u8 = 52;
        pub const FIELD_TYPE_UINT16_ARRAY: u8 = 53;
        pub const FIELD_TYPE_INT32_ARRAY: u8 = 54;
        pub const FIELD_TYPE_UINT32_ARRAY: u8 = 55;
        pub const FIELD_TYPE_INT64_ARRAY: u8 = 56;
        pub const FIELD_TYPE_UINT64_ARRAY: u8 = 57;
        pub const FIELD_TYPE_FLOAT_ARRAY: u8 = 58;
        pub const FIELD_TYPE_DOUBLE_ARRAY: u8 = 59;
        pub const FIELD_TYPE_LONG_DOUBLE_ARRAY: u8 = 60;
        pub const FIELD_TYPE_CHAR_ARRAY: u8 = 61;
        pub const FIELD_TYPE_WCHAR_ARRAY: u8 = 62;
        pub const FIELD_TYPE_BOOLEAN_ARRAY: u8 = 63;
        pub const FIELD_TYPE_BYTE_ARRAY: u8 = 64;
        pub const FIELD_TYPE_STRING_ARRAY: u8 = 65;
        pub const FIELD_TYPE_WSTRING_ARRAY: u8 = 66;
        pub const FIELD_TYPE_FIXED_STRING_ARRAY: u8 = 67;
        pub const FIELD_TYPE_FIXED_WSTRING_ARRAY: u8 = 68;
        pub const FIELD_TYPE_BOUNDED_STRING_ARRAY: u8 = 69;
        pub const FIELD_TYPE_BOUNDED_WSTRING_ARRAY: u8 = 70;

        /// Bounded Sequence Types
        pub const FIELD_TYPE_NESTED_TYPE_BOUNDED_SEQUENCE: u8 = 97;
        pub const FIELD_TYPE_INT8_BOUNDED_SEQUENCE: u8 = 98;
        pub const FIELD_TYPE_UINT8_BOUNDED_SEQUENCE: u8 = 99;
        pub const FIELD_TYPE_INT16_BOUNDED_SEQUENCE: u8 = 100;
        pub const FIELD_TYPE_UINT16_BOUNDED_SEQUENCE: u8 = 101;
        pub const FIELD_TYPE_INT32_BOUNDED_SEQUENCE: u8 = 102;
        pub const FIELD_TYPE_UINT32_BOUNDED_SEQUENCE: u8 = 103;
        pub const FIELD_TYPE_INT64_BOUNDED_SEQUENCE: u8 = 104;
        pub const FIELD_TYPE_UINT64_BOUNDED_SEQUENCE: u8 = 105;
        pub const FIELD_TYPE_FLOAT_BOUNDED_SEQUENCE: u8 = 106;
        pub const FIELD_TYPE_DOUBLE_BOUNDED_SEQUENCE: u8 = 107;
        pub const FIELD_TYPE_LONG_DOUBLE_BOUNDED_SEQUENCE: u8 = 108;
        pub const FIELD_TYPE_CHAR_BOUNDED_SEQUENCE: u8 = 109;
        pub const FIELD_TYPE_WCHAR_BOUNDED_SEQUENCE: u8 = 110;
        pub const FIELD_TYPE_BOOLEAN_BOUNDED_SEQUENCE: u8 = 111;
        pub const FIELD_TYPE_BYTE_BOUNDED_SEQUENCE: u8 = 112;
        pub const FIELD_TYPE_STRING_BOUNDED_SEQUENCE: u8 = 113;
        pub const FIELD_TYPE_WSTRING_BOUNDED_SEQUENCE: u8 = 114;
        pub const FIELD_TYPE_FIXED_STRING_BOUNDED_SEQUENCE: u8 = 115;
        pub const FIELD_TYPE_FIXED_WSTRING_BOUNDED_SEQUENCE: u8 = 116;
        pub const FIELD_TYPE_BOUNDED_STRING_BOUNDED_SEQUENCE: u8 = 117;
        pub const FIELD_TYPE_BOUNDED_WSTRING_BOUNDED_SEQUENCE: u8 = 118;

        /// Unbounded Sequence Types
        pub const FIELD_TYPE_NESTED_TYPE_UNBOUNDED_SEQUENCE: u8 = 145;
        pub const FIELD_TYPE_INT8_UNBOUNDED_SEQUENCE: u8 = 146;
        pub const FIELD_TYPE_UINT8_UNBOUNDED_SEQUENCE: u8 = 147;
        pub const FIELD_TYPE_INT16_UNBOUNDED_SEQUENCE: u8 = 148;
        pub const FIELD_TYPE_UINT16_UNBOUNDED_SEQUENCE: u8 = 149;
        pub const FIELD_TYPE_INT32_UNBOUNDED_SEQUENCE: u8 = 150;
        pub const FIELD_TYPE_UINT32_UNBOUNDED_SEQUENCE: u8 = 151;
        pub const FIELD_TYPE_INT64_UNBOUNDED_SEQUENCE: u8 = 152;
        pub const FIELD_TYPE_UINT64_UNBOUNDED_SEQUENCE: u8 = 153;
        pub const FIELD_TYPE_FLOAT_UNBOUNDED_SEQUENCE: u8 = 154;
        pub const FIELD_TYPE_DOUBLE_UNBOUNDED_SEQUENCE: u8 = 155;
        pub const FIELD_TYPE_LONG_DOUBLE_UNBOUNDED_SEQUENCE: u8 = 156;
        pub const FIELD_TYPE_CHAR_UNBOUNDED_SEQUENCE: u8 = 157;
        pub const FIELD_TYPE_WCHAR_UNBOUNDED_SEQUENCE: u8 = 158;
        pub const FIELD_TYPE_BOOLEAN_UNBOUNDED_SEQUENCE: u8 = 159;
        pub const FIELD_TYPE_BYTE_UNBOUNDED_SEQUENCE: u8 = 160;
        pub const FIELD_TYPE_STRING_UNBOUNDED_SEQUENCE: u8 = 161;
        pub const FIELD_TYPE_WSTRING_UNBOUNDED_SEQUENCE: u8 = 162;
        pub const FIELD_TYPE_FIXED_STRING_UNBOUNDED_SEQUENCE: u8 = 163;
        pub const FIELD_TYPE_FIXED_WSTRING_UNBOUNDED_SEQUENCE: u8 = 164;
        pub const FIELD_TYPE_BOUNDED_STRING_UNBOUNDED_SEQUENCE: u8 = 165;
        pub const FIELD_TYPE_BOUNDED_WSTRING_UNBOUNDED_SEQUENCE: u8 = 166;
    }

    impl crate::RosMessage for FieldType {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/FieldType";
        const TYPE_HASH: &'static str = "RIHS01_a70b6dd919645a03a3586f7f821defbc886ea3e531a1d95cc0f380a3973ccaa6";
    }

    /// Represents a single type, without the types it references, if any.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::IndividualTypeDescription_"
    )]
    pub struct IndividualTypeDescription {
        /// Name of the type.
        /// This is limited to 255 characters.
        /// TODO(wjwwood): this 255 character limit was chosen due to this being the limit
        /// for DDSI-RTPS based middlewares, which is the most commonly used right now.
        /// We lack a ROS 2 specific limit in our design documents, but we should update
        /// this and/or link to the design doc when that is available.
        #[dds(bound = 255)]
        pub type_name: ::std::string::String,
        /// Fields of the type.
        pub fields: ::std::vec::Vec<Field>,
    }

    impl crate::RosMessage for IndividualTypeDescription {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/IndividualTypeDescription";
        const TYPE_HASH: &'static str = "RIHS01_55c827d86c3c141bdd318fe6c22e11190e4d3b37c8f4f9751a084aa05ce96560";
    }

    /// Represents an arbitrary key-value pair for application-specific information.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::KeyValue_"
    )]
    pub struct KeyValue {
        pub key: ::std::string::String,
        pub value: ::std::string::String,
    }

    impl crate::RosMessage for KeyValue {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/KeyValue";
        const TYPE_HASH: &'static str = "RIHS01_274fe56bf14f33c7512e34c646a37579ee36779f745f049a9760763e817f0c42";
    }

    /// Represents a complete type description, including the type itself as well as the types it references.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::TypeDescription_"
    )]
    pub struct TypeDescription {
        /// Description of the type.
        pub type_description: IndividualTypeDescription,
        /// Descriptions of all referenced types, recursively.
        pub referenced_type_descriptions: ::std::vec::Vec<IndividualTypeDescription>,
    }

    impl crate::RosMessage for TypeDescription {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/TypeDescription";
        const TYPE_HASH: &'static str = "RIHS01_739f2508c9fa3a6f330913ff5b9d25fb74159a077da71e1087f51a60c12a080b";
    }

    /// Represents the original source of a ROS 2 interface definition.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::msg::dds_::TypeSource_"
    )]
    pub struct TypeSource {
        /// ROS interface type name, in PACKAGE/NAMESPACE/TYPENAME format.
        pub type_name: ::std::string::String,
        /// The type of the original source file, typically matching the file extension.
        /// Well-known encodings: "idl", "msg", "srv", "action", "dynamic", "implicit".
        /// "dynamic" specifies a type created programmatically by a user, thus having no source.
        /// "implicit" specifies a type created automatically as a subtype of a
        /// complex type (service or action) - such as the request message for a service.
        /// Implicit types will have no contents, the full source will be available on the parent srv/action.
        pub encoding: ::std::string::String,
        /// Dumped contents of the interface definition source file.
        /// If `encoding` is "dynamic" or "implicit", this field will be empty.
        pub raw_file_contents: ::std::string::String,
    }

    impl crate::RosMessage for TypeSource {
        const ROS_NAME: &'static str = "type_description_interfaces/msg/TypeSource";
        const TYPE_HASH: &'static str = "RIHS01_faeaec7596c04ecf5b6e99ad225e4c7cbb997ad5435f793526fb3984d011aae5";
    }
}

pub mod srv {
    /// ROS interface type name, in PACKAGE/NAMESPACE/TYPENAME format.
    #[derive(Debug, Clone, PartialEq, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::srv::dds_::GetTypeDescription_Request_"
    )]
    pub struct GetTypeDescriptionRequest {
        pub type_name: ::std::string::String,
        /// REP-2011 RIHS hash string.
        pub type_hash: ::std::string::String,
        /// Whether to return the original idl/msg/etc. source file(s) in the response.
        pub include_type_sources: bool,
    }

    impl ::core::default::Default for GetTypeDescriptionRequest {
        fn default() -> Self {
            Self {
                type_name: ::core::default::Default::default(),
                type_hash: ::core::default::Default::default(),
                include_type_sources: true,
            }
        }
    }

    impl crate::RosMessage for GetTypeDescriptionRequest {
        const ROS_NAME: &'static str = "type_description_interfaces/srv/GetTypeDescription_Request";
        const TYPE_HASH: &'static str = "RIHS01_470f56ccbcf13d55c78c8b735fb12da03e639e5acded994426c89d94778d9e28";
    }

    /// True if the type description information is available and populated in the response.
    /// If false, all other fields except `failure_reason` are considered undefined.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::srv::dds_::GetTypeDescription_Response_"
    )]
    pub struct GetTypeDescriptionResponse {
        pub successful: bool,
        /// If `successful` is false, contains a reason for failure.
        /// If `successful` is true, this is left empty.
        pub failure_reason: ::std::string::String,
        /// The parsed type description which can be used programmatically.
        pub type_description: super::msg::TypeDescription,
        /// A list containing the interface definition source text of the requested type,
        /// plus all types it recursively depends on.
        /// Each source text is a copy of the original contents of the
        /// .msg, .srv, .action, .idl, or other file if it exists, including comments and whitespace.
        /// Sources can be matched with IndividualTypeDescriptions by their `type_name`.
        /// The `encoding` field of each entry informs how to interpret its contents.
        pub type_sources: ::std::vec::Vec<super::msg::TypeSource>,
        /// Key-value pairs of extra information.
        pub extra_information: ::std::vec::Vec<super::msg::KeyValue>,
    }

    impl crate::RosMessage for GetTypeDescriptionResponse {
        const ROS_NAME: &'static str = "type_description_interfaces/srv/GetTypeDescription_Response";
        const TYPE_HASH: &'static str = "RIHS01_648c49d976240861a482f961c5621ddd0d2135d8cce6f297a76d4f6376d93b75";
    }

    /// `type_description_interfaces/srv/GetTypeDescription_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "type_description_interfaces::srv::dds_::GetTypeDescription_Event_"
    )]
    pub struct GetTypeDescriptionEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetTypeDescriptionRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetTypeDescriptionResponse>,
    }

    impl crate::RosMessage for GetTypeDescriptionEvent {
        const ROS_NAME: &'static str = "type_description_interfaces/srv/GetTypeDescription_Event";
        const TYPE_HASH: &'static str = "RIHS01_491e3350e7a0b11918fb16a523cf01a22d76fdaa53c43b52164fea14aabb5612";
    }

    /// The service `type_description_interfaces/srv/GetTypeDescription`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetTypeDescription;

    impl crate::RosService for GetTypeDescription {
        type Request = GetTypeDescriptionRequest;
        type Response = GetTypeDescriptionResponse;
        type Event = GetTypeDescriptionEvent;
        const ROS_NAME: &'static str = "type_description_interfaces/srv/GetTypeDescription";
        const TYPE_HASH: &'static str = "RIHS01_69b9c19c1021405984cc60dbbb1edceb147a6538b411d812ba6afabeed962cd5";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetTypeDescriptionEvent {
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
    crate::RosTypeEntry::of::<msg::Field>(),
    crate::RosTypeEntry::of::<msg::FieldType>(),
    crate::RosTypeEntry::of::<msg::IndividualTypeDescription>(),
    crate::RosTypeEntry::of::<msg::KeyValue>(),
    crate::RosTypeEntry::of::<msg::TypeDescription>(),
    crate::RosTypeEntry::of::<msg::TypeSource>(),
    crate::RosTypeEntry::of::<srv::GetTypeDescriptionRequest>(),
    crate::RosTypeEntry::of::<srv::GetTypeDescriptionResponse>(),
    crate::RosTypeEntry::of::<srv::GetTypeDescriptionEvent>(),
];
