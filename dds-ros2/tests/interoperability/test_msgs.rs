// Written by `tests/generated` of `dds-ros2-msgs`.

//! The package `test_msgs`.

#![allow(dead_code, unreachable_pub, clippy::all, reason = "as in a crate of messages, of which tests use some")]

pub mod msg {
    /// Arrays of different types
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Arrays_")]
    pub struct Arrays {
        pub bool_values: [bool; 3],
        #[dds(octet)]
        pub byte_values: [u8; 3],
        pub char_values: [u8; 3],
        pub float32_values: [f32; 3],
        pub float64_values: [f64; 3],
        pub int8_values: [i8; 3],
        pub uint8_values: [u8; 3],
        pub int16_values: [i16; 3],
        pub uint16_values: [u16; 3],
        pub int32_values: [i32; 3],
        pub uint32_values: [u32; 3],
        pub int64_values: [i64; 3],
        pub uint64_values: [u64; 3],
        pub string_values: [::std::string::String; 3],
        pub basic_types_values: [BasicTypes; 3],
        pub constants_values: [Constants; 3],
        pub defaults_values: [Defaults; 3],
        pub bool_values_default: [bool; 3],
        #[dds(octet)]
        pub byte_values_default: [u8; 3],
        pub char_values_default: [u8; 3],
        pub float32_values_default: [f32; 3],
        pub float64_values_default: [f64; 3],
        pub int8_values_default: [i8; 3],
        pub uint8_values_default: [u8; 3],
        pub int16_values_default: [i16; 3],
        pub uint16_values_default: [u16; 3],
        pub int32_values_default: [i32; 3],
        pub uint32_values_default: [u32; 3],
        pub int64_values_default: [i64; 3],
        pub uint64_values_default: [u64; 3],
        pub string_values_default: [::std::string::String; 3],
        /// Regression test: check alignment of basic field after an array field is correct
        pub alignment_check: i32,
    }

    impl ::core::default::Default for Arrays {
        fn default() -> Self {
            Self {
                bool_values: [false; 3],
                byte_values: [0; 3],
                char_values: [0; 3],
                float32_values: [0.0; 3],
                float64_values: [0.0; 3],
                int8_values: [0; 3],
                uint8_values: [0; 3],
                int16_values: [0; 3],
                uint16_values: [0; 3],
                int32_values: [0; 3],
                uint32_values: [0; 3],
                int64_values: [0; 3],
                uint64_values: [0; 3],
                string_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                basic_types_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                constants_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                defaults_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                bool_values_default: [false, true, false],
                byte_values_default: [0, 1, 255],
                char_values_default: [0, 1, 127],
                float32_values_default: [1.125, 0.0, -1.125],
                float64_values_default: [3.1415, 0.0, -3.1415],
                int8_values_default: [0, 127, -128],
                uint8_values_default: [0, 1, 255],
                int16_values_default: [0, 32767, -32768],
                uint16_values_default: [0, 1, 65535],
                int32_values_default: [0, 2147483647, -2147483648],
                uint32_values_default: [0, 1, 4294967295],
                int64_values_default: [0, 9223372036854775807, -9223372036854775808],
                uint64_values_default: [0, 1, 18446744073709551615],
                string_values_default: [
                    ::core::convert::From::from(""),
                    ::core::convert::From::from("max value"),
                    ::core::convert::From::from("min value"),
                ],
                alignment_check: ::core::default::Default::default(),
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for Arrays {
        const ROS_NAME: &'static str = "test_msgs/msg/Arrays";
        const TYPE_HASH: &'static str = "RIHS01_8a321b80dae8c44dfd1ce558eaf1b1cd5ebbe5950863ed675836535511a7f91a";
    }

    /// `test_msgs/msg/BasicTypes`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::BasicTypes_")]
    pub struct BasicTypes {
        pub bool_value: bool,
        #[dds(octet)]
        pub byte_value: u8,
        pub char_value: u8,
        pub float32_value: f32,
        pub float64_value: f64,
        pub int8_value: i8,
        pub uint8_value: u8,
        pub int16_value: i16,
        pub uint16_value: u16,
        pub int32_value: i32,
        pub uint32_value: u32,
        pub int64_value: i64,
        pub uint64_value: u64,
    }

    impl ::dds_ros2_msgs::RosMessage for BasicTypes {
        const ROS_NAME: &'static str = "test_msgs/msg/BasicTypes";
        const TYPE_HASH: &'static str = "RIHS01_7c300afd4e796798d49bdd6cdaa0fa87fa0ed2ba3217d977e1faa87070d797ab";
    }

    /// Bounded sequences of different POD types
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::msg::dds_::BoundedPlainSequences_"
    )]
    pub struct BoundedPlainSequences {
        #[dds(bound = 3)]
        pub bool_values: ::std::vec::Vec<bool>,
        #[dds(octet, bound = 3)]
        pub byte_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub char_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub float32_values: ::std::vec::Vec<f32>,
        #[dds(bound = 3)]
        pub float64_values: ::std::vec::Vec<f64>,
        #[dds(bound = 3)]
        pub int8_values: ::std::vec::Vec<i8>,
        #[dds(bound = 3)]
        pub uint8_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub int16_values: ::std::vec::Vec<i16>,
        #[dds(bound = 3)]
        pub uint16_values: ::std::vec::Vec<u16>,
        #[dds(bound = 3)]
        pub int32_values: ::std::vec::Vec<i32>,
        #[dds(bound = 3)]
        pub uint32_values: ::std::vec::Vec<u32>,
        #[dds(bound = 3)]
        pub int64_values: ::std::vec::Vec<i64>,
        #[dds(bound = 3)]
        pub uint64_values: ::std::vec::Vec<u64>,
        #[dds(bound = 3)]
        pub basic_types_values: ::std::vec::Vec<BasicTypes>,
        #[dds(bound = 3)]
        pub constants_values: ::std::vec::Vec<Constants>,
        #[dds(bound = 3)]
        pub defaults_values: ::std::vec::Vec<Defaults>,
        #[dds(bound = 3)]
        pub bool_values_default: ::std::vec::Vec<bool>,
        #[dds(octet, bound = 3)]
        pub byte_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub char_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub float32_values_default: ::std::vec::Vec<f32>,
        #[dds(bound = 3)]
        pub float64_values_default: ::std::vec::Vec<f64>,
        #[dds(bound = 3)]
        pub int8_values_default: ::std::vec::Vec<i8>,
        #[dds(bound = 3)]
        pub uint8_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub int16_values_default: ::std::vec::Vec<i16>,
        #[dds(bound = 3)]
        pub uint16_values_default: ::std::vec::Vec<u16>,
        #[dds(bound = 3)]
        pub int32_values_default: ::std::vec::Vec<i32>,
        #[dds(bound = 3)]
        pub uint32_values_default: ::std::vec::Vec<u32>,
        #[dds(bound = 3)]
        pub int64_values_default: ::std::vec::Vec<i64>,
        #[dds(bound = 3)]
        pub uint64_values_default: ::std::vec::Vec<u64>,
        /// Regression test: check alignment of basic field after a sequence field is correct
        pub alignment_check: i32,
    }

    impl ::core::default::Default for BoundedPlainSequences {
        fn default() -> Self {
            Self {
                bool_values: ::core::default::Default::default(),
                byte_values: ::core::default::Default::default(),
                char_values: ::core::default::Default::default(),
                float32_values: ::core::default::Default::default(),
                float64_values: ::core::default::Default::default(),
                int8_values: ::core::default::Default::default(),
                uint8_values: ::core::default::Default::default(),
                int16_values: ::core::default::Default::default(),
                uint16_values: ::core::default::Default::default(),
                int32_values: ::core::default::Default::default(),
                uint32_values: ::core::default::Default::default(),
                int64_values: ::core::default::Default::default(),
                uint64_values: ::core::default::Default::default(),
                basic_types_values: ::core::default::Default::default(),
                constants_values: ::core::default::Default::default(),
                defaults_values: ::core::default::Default::default(),
                bool_values_default: ::std::vec![false, true, false],
                byte_values_default: ::std::vec![0, 1, 255],
                char_values_default: ::std::vec![0, 1, 127],
                float32_values_default: ::std::vec![1.125, 0.0, - 1.125],
                float64_values_default: ::std::vec![3.1415, 0.0, - 3.1415],
                int8_values_default: ::std::vec![0, 127, - 128],
                uint8_values_default: ::std::vec![0, 1, 255],
                int16_values_default: ::std::vec![0, 32767, - 32768],
                uint16_values_default: ::std::vec![0, 1, 65535],
                int32_values_default: ::std::vec![0, 2147483647, - 2147483648],
                uint32_values_default: ::std::vec![0, 1, 4294967295],
                int64_values_default: ::std::vec![
                    0, 9223372036854775807, - 9223372036854775808
                ],
                uint64_values_default: ::std::vec![0, 1, 18446744073709551615],
                alignment_check: ::core::default::Default::default(),
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for BoundedPlainSequences {
        const ROS_NAME: &'static str = "test_msgs/msg/BoundedPlainSequences";
        const TYPE_HASH: &'static str = "RIHS01_0670c010d33c1db2c5589ab5bbd208c551b5c72c88a76de80dfd0d2362255889";
    }

    /// Bounded sequences of different types
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::msg::dds_::BoundedSequences_"
    )]
    pub struct BoundedSequences {
        #[dds(bound = 3)]
        pub bool_values: ::std::vec::Vec<bool>,
        #[dds(octet, bound = 3)]
        pub byte_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub char_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub float32_values: ::std::vec::Vec<f32>,
        #[dds(bound = 3)]
        pub float64_values: ::std::vec::Vec<f64>,
        #[dds(bound = 3)]
        pub int8_values: ::std::vec::Vec<i8>,
        #[dds(bound = 3)]
        pub uint8_values: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub int16_values: ::std::vec::Vec<i16>,
        #[dds(bound = 3)]
        pub uint16_values: ::std::vec::Vec<u16>,
        #[dds(bound = 3)]
        pub int32_values: ::std::vec::Vec<i32>,
        #[dds(bound = 3)]
        pub uint32_values: ::std::vec::Vec<u32>,
        #[dds(bound = 3)]
        pub int64_values: ::std::vec::Vec<i64>,
        #[dds(bound = 3)]
        pub uint64_values: ::std::vec::Vec<u64>,
        #[dds(bound = 3)]
        pub string_values: ::std::vec::Vec<::std::string::String>,
        #[dds(bound = 3)]
        pub basic_types_values: ::std::vec::Vec<BasicTypes>,
        #[dds(bound = 3)]
        pub constants_values: ::std::vec::Vec<Constants>,
        #[dds(bound = 3)]
        pub defaults_values: ::std::vec::Vec<Defaults>,
        #[dds(bound = 3)]
        pub bool_values_default: ::std::vec::Vec<bool>,
        #[dds(octet, bound = 3)]
        pub byte_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub char_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub float32_values_default: ::std::vec::Vec<f32>,
        #[dds(bound = 3)]
        pub float64_values_default: ::std::vec::Vec<f64>,
        #[dds(bound = 3)]
        pub int8_values_default: ::std::vec::Vec<i8>,
        #[dds(bound = 3)]
        pub uint8_values_default: ::std::vec::Vec<u8>,
        #[dds(bound = 3)]
        pub int16_values_default: ::std::vec::Vec<i16>,
        #[dds(bound = 3)]
        pub uint16_values_default: ::std::vec::Vec<u16>,
        #[dds(bound = 3)]
        pub int32_values_default: ::std::vec::Vec<i32>,
        #[dds(bound = 3)]
        pub uint32_values_default: ::std::vec::Vec<u32>,
        #[dds(bound = 3)]
        pub int64_values_default: ::std::vec::Vec<i64>,
        #[dds(bound = 3)]
        pub uint64_values_default: ::std::vec::Vec<u64>,
        #[dds(bound = 3)]
        pub string_values_default: ::std::vec::Vec<::std::string::String>,
        /// Regression test: check alignment of basic field after a sequence field is correct
        pub alignment_check: i32,
    }

    impl ::core::default::Default for BoundedSequences {
        fn default() -> Self {
            Self {
                bool_values: ::core::default::Default::default(),
                byte_values: ::core::default::Default::default(),
                char_values: ::core::default::Default::default(),
                float32_values: ::core::default::Default::default(),
                float64_values: ::core::default::Default::default(),
                int8_values: ::core::default::Default::default(),
                uint8_values: ::core::default::Default::default(),
                int16_values: ::core::default::Default::default(),
                uint16_values: ::core::default::Default::default(),
                int32_values: ::core::default::Default::default(),
                uint32_values: ::core::default::Default::default(),
                int64_values: ::core::default::Default::default(),
                uint64_values: ::core::default::Default::default(),
                string_values: ::core::default::Default::default(),
                basic_types_values: ::core::default::Default::default(),
                constants_values: ::core::default::Default::default(),
                defaults_values: ::core::default::Default::default(),
                bool_values_default: ::std::vec![false, true, false],
                byte_values_default: ::std::vec![0, 1, 255],
                char_values_default: ::std::vec![0, 1, 127],
                float32_values_default: ::std::vec![1.125, 0.0, - 1.125],
                float64_values_default: ::std::vec![3.1415, 0.0, - 3.1415],
                int8_values_default: ::std::vec![0, 127, - 128],
                uint8_values_default: ::std::vec![0, 1, 255],
                int16_values_default: ::std::vec![0, 32767, - 32768],
                uint16_values_default: ::std::vec![0, 1, 65535],
                int32_values_default: ::std::vec![0, 2147483647, - 2147483648],
                uint32_values_default: ::std::vec![0, 1, 4294967295],
                int64_values_default: ::std::vec![
                    0, 9223372036854775807, - 9223372036854775808
                ],
                uint64_values_default: ::std::vec![0, 1, 18446744073709551615],
                string_values_default: ::std::vec![
                    ::core::convert::From::from(""),
                    ::core::convert::From::from("max value"),
                    ::core::convert::From::from("min value")
                ],
                alignment_check: ::core::default::Default::default(),
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for BoundedSequences {
        const ROS_NAME: &'static str = "test_msgs/msg/BoundedSequences";
        const TYPE_HASH: &'static str = "RIHS01_fb361a3b3827c76a142c2190126a20a92e7e510e047f880141a7e9ef867961ed";
    }

    /// `test_msgs/msg/Builtins`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Builtins_")]
    pub struct Builtins {
        pub duration_value: ::dds_ros2_msgs::builtin_interfaces::msg::Duration,
        pub time_value: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for Builtins {
        const ROS_NAME: &'static str = "test_msgs/msg/Builtins";
        const TYPE_HASH: &'static str = "RIHS01_9e61888e7521dda35c21ac6b6cabbcaff8dae88b6d67b25b9078fdb9abf56303";
    }

    /// `test_msgs/msg/Constants`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Constants_")]
    pub struct Constants {
        pub structure_needs_at_least_one_member: u8,
    }

    impl Constants {
        pub const BOOL_CONST: bool = true;
        pub const BYTE_CONST: u8 = 50;
        pub const CHAR_CONST: u8 = 100;
        pub const FLOAT32_CONST: f32 = 1.125;
        pub const FLOAT64_CONST: f64 = 1.125;
        pub const INT8_CONST: i8 = -50;
        pub const UINT8_CONST: u8 = 200;
        pub const INT16_CONST: i16 = -1000;
        pub const UINT16_CONST: u16 = 2000;
        pub const INT32_CONST: i32 = -30000;
        pub const UINT32_CONST: u32 = 60000;
        pub const INT64_CONST: i64 = -40000000;
        pub const UINT64_CONST: u64 = 50000000;
    }

    impl ::dds_ros2_msgs::RosMessage for Constants {
        const ROS_NAME: &'static str = "test_msgs/msg/Constants";
        const TYPE_HASH: &'static str = "RIHS01_983e7ae7099d65b3030c31c2890b0ec2b332484fae9f28c68e01340c8f61edcf";
    }

    /// `test_msgs/msg/Defaults`.
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Defaults_")]
    pub struct Defaults {
        pub bool_value: bool,
        #[dds(octet)]
        pub byte_value: u8,
        pub char_value: u8,
        pub float32_value: f32,
        pub float64_value: f64,
        pub int8_value: i8,
        pub uint8_value: u8,
        pub int16_value: i16,
        pub uint16_value: u16,
        pub int32_value: i32,
        pub uint32_value: u32,
        pub int64_value: i64,
        pub uint64_value: u64,
    }

    impl ::core::default::Default for Defaults {
        fn default() -> Self {
            Self {
                bool_value: true,
                byte_value: 50,
                char_value: 100,
                float32_value: 1.125,
                float64_value: 1.125,
                int8_value: -50,
                uint8_value: 200,
                int16_value: -1000,
                uint16_value: 2000,
                int32_value: -30000,
                uint32_value: 60000,
                int64_value: -40000000,
                uint64_value: 50000000,
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for Defaults {
        const ROS_NAME: &'static str = "test_msgs/msg/Defaults";
        const TYPE_HASH: &'static str = "RIHS01_a725ee02bf25a224cb7d14015a0245b6654ff591ae1ac277e2a2673f013ea6d2";
    }

    /// `test_msgs/msg/Empty`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Empty_")]
    pub struct Empty {
        pub structure_needs_at_least_one_member: u8,
    }

    impl ::dds_ros2_msgs::RosMessage for Empty {
        const ROS_NAME: &'static str = "test_msgs/msg/Empty";
        const TYPE_HASH: &'static str = "RIHS01_6587ceacfdb97a895b60774d021011c64f8c7299f53322404af4036dec6142dc";
    }

    /// Mulitple levels of nested messages
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::msg::dds_::MultiNested_"
    )]
    pub struct MultiNested {
        pub array_of_arrays: [Arrays; 3],
        pub array_of_bounded_sequences: [BoundedSequences; 3],
        pub array_of_unbounded_sequences: [UnboundedSequences; 3],
        #[dds(bound = 3)]
        pub bounded_sequence_of_arrays: ::std::vec::Vec<Arrays>,
        #[dds(bound = 3)]
        pub bounded_sequence_of_bounded_sequences: ::std::vec::Vec<BoundedSequences>,
        #[dds(bound = 3)]
        pub bounded_sequence_of_unbounded_sequences: ::std::vec::Vec<UnboundedSequences>,
        pub unbounded_sequence_of_arrays: ::std::vec::Vec<Arrays>,
        pub unbounded_sequence_of_bounded_sequences: ::std::vec::Vec<BoundedSequences>,
        pub unbounded_sequence_of_unbounded_sequences: ::std::vec::Vec<
            UnboundedSequences,
        >,
    }

    impl ::dds_ros2_msgs::RosMessage for MultiNested {
        const ROS_NAME: &'static str = "test_msgs/msg/MultiNested";
        const TYPE_HASH: &'static str = "RIHS01_9ee9cbfb17c2df991a750b761a56def78674034977c829449820ca07efd9758b";
    }

    /// `test_msgs/msg/Nested`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Nested_")]
    pub struct Nested {
        pub basic_types_value: BasicTypes,
    }

    impl ::dds_ros2_msgs::RosMessage for Nested {
        const ROS_NAME: &'static str = "test_msgs/msg/Nested";
        const TYPE_HASH: &'static str = "RIHS01_f964f9dc322022b7a681ee6933ee5c3c788025b942fedb7f4d7c018ed840cf86";
    }

    /// `test_msgs/msg/Strings`.
    #[derive(Debug, Clone, PartialEq, Eq, Hash, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::Strings_")]
    pub struct Strings {
        pub string_value: ::std::string::String,
        pub string_value_default1: ::std::string::String,
        pub string_value_default2: ::std::string::String,
        pub string_value_default3: ::std::string::String,
        pub string_value_default4: ::std::string::String,
        pub string_value_default5: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value_default1: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value_default2: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value_default3: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value_default4: ::std::string::String,
        #[dds(bound = 22)]
        pub bounded_string_value_default5: ::std::string::String,
    }

    impl ::core::default::Default for Strings {
        fn default() -> Self {
            Self {
                string_value: ::core::default::Default::default(),
                string_value_default1: ::core::convert::From::from("Hello world!"),
                string_value_default2: ::core::convert::From::from("Hello'world!"),
                string_value_default3: ::core::convert::From::from("Hello\"world!"),
                string_value_default4: ::core::convert::From::from("Hello'world!"),
                string_value_default5: ::core::convert::From::from("Hello\"world!"),
                bounded_string_value: ::core::default::Default::default(),
                bounded_string_value_default1: ::core::convert::From::from(
                    "Hello world!",
                ),
                bounded_string_value_default2: ::core::convert::From::from(
                    "Hello'world!",
                ),
                bounded_string_value_default3: ::core::convert::From::from(
                    "Hello\"world!",
                ),
                bounded_string_value_default4: ::core::convert::From::from(
                    "Hello'world!",
                ),
                bounded_string_value_default5: ::core::convert::From::from(
                    "Hello\"world!",
                ),
            }
        }
    }

    impl Strings {
        pub const STRING_CONST: &'static ::core::primitive::str = "Hello world!";
    }

    impl ::dds_ros2_msgs::RosMessage for Strings {
        const ROS_NAME: &'static str = "test_msgs/msg/Strings";
        const TYPE_HASH: &'static str = "RIHS01_eee55533636293ac7c94c62432eedb5777eb849847d2a17b4dcead8c4a20ab32";
    }

    /// Unbounded sequences of different types
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::msg::dds_::UnboundedSequences_"
    )]
    pub struct UnboundedSequences {
        pub bool_values: ::std::vec::Vec<bool>,
        #[dds(octet)]
        pub byte_values: ::std::vec::Vec<u8>,
        pub char_values: ::std::vec::Vec<u8>,
        pub float32_values: ::std::vec::Vec<f32>,
        pub float64_values: ::std::vec::Vec<f64>,
        pub int8_values: ::std::vec::Vec<i8>,
        pub uint8_values: ::std::vec::Vec<u8>,
        pub int16_values: ::std::vec::Vec<i16>,
        pub uint16_values: ::std::vec::Vec<u16>,
        pub int32_values: ::std::vec::Vec<i32>,
        pub uint32_values: ::std::vec::Vec<u32>,
        pub int64_values: ::std::vec::Vec<i64>,
        pub uint64_values: ::std::vec::Vec<u64>,
        pub string_values: ::std::vec::Vec<::std::string::String>,
        pub basic_types_values: ::std::vec::Vec<BasicTypes>,
        pub constants_values: ::std::vec::Vec<Constants>,
        pub defaults_values: ::std::vec::Vec<Defaults>,
        pub bool_values_default: ::std::vec::Vec<bool>,
        #[dds(octet)]
        pub byte_values_default: ::std::vec::Vec<u8>,
        pub char_values_default: ::std::vec::Vec<u8>,
        pub float32_values_default: ::std::vec::Vec<f32>,
        pub float64_values_default: ::std::vec::Vec<f64>,
        pub int8_values_default: ::std::vec::Vec<i8>,
        pub uint8_values_default: ::std::vec::Vec<u8>,
        pub int16_values_default: ::std::vec::Vec<i16>,
        pub uint16_values_default: ::std::vec::Vec<u16>,
        pub int32_values_default: ::std::vec::Vec<i32>,
        pub uint32_values_default: ::std::vec::Vec<u32>,
        pub int64_values_default: ::std::vec::Vec<i64>,
        pub uint64_values_default: ::std::vec::Vec<u64>,
        pub string_values_default: ::std::vec::Vec<::std::string::String>,
        /// Regression test: check alignment of basic field after a sequence field is correct
        pub alignment_check: i32,
    }

    impl ::core::default::Default for UnboundedSequences {
        fn default() -> Self {
            Self {
                bool_values: ::core::default::Default::default(),
                byte_values: ::core::default::Default::default(),
                char_values: ::core::default::Default::default(),
                float32_values: ::core::default::Default::default(),
                float64_values: ::core::default::Default::default(),
                int8_values: ::core::default::Default::default(),
                uint8_values: ::core::default::Default::default(),
                int16_values: ::core::default::Default::default(),
                uint16_values: ::core::default::Default::default(),
                int32_values: ::core::default::Default::default(),
                uint32_values: ::core::default::Default::default(),
                int64_values: ::core::default::Default::default(),
                uint64_values: ::core::default::Default::default(),
                string_values: ::core::default::Default::default(),
                basic_types_values: ::core::default::Default::default(),
                constants_values: ::core::default::Default::default(),
                defaults_values: ::core::default::Default::default(),
                bool_values_default: ::std::vec![false, true, false],
                byte_values_default: ::std::vec![0, 1, 255],
                char_values_default: ::std::vec![0, 1, 127],
                float32_values_default: ::std::vec![1.125, 0.0, - 1.125],
                float64_values_default: ::std::vec![3.1415, 0.0, - 3.1415],
                int8_values_default: ::std::vec![0, 127, - 128],
                uint8_values_default: ::std::vec![0, 1, 255],
                int16_values_default: ::std::vec![0, 32767, - 32768],
                uint16_values_default: ::std::vec![0, 1, 65535],
                int32_values_default: ::std::vec![0, 2147483647, - 2147483648],
                uint32_values_default: ::std::vec![0, 1, 4294967295],
                int64_values_default: ::std::vec![
                    0, 9223372036854775807, - 9223372036854775808
                ],
                uint64_values_default: ::std::vec![0, 1, 18446744073709551615],
                string_values_default: ::std::vec![
                    ::core::convert::From::from(""),
                    ::core::convert::From::from("max value"),
                    ::core::convert::From::from("min value")
                ],
                alignment_check: ::core::default::Default::default(),
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for UnboundedSequences {
        const ROS_NAME: &'static str = "test_msgs/msg/UnboundedSequences";
        const TYPE_HASH: &'static str = "RIHS01_a63975514293a2c6b24a807675bcbd9180bda1995dd4ee10f2698d45ff77db05";
    }

    /// `test_msgs/msg/WStrings`.
    #[derive(Debug, Clone, PartialEq, Eq, Hash, ::dds_ros2_msgs::export::DdsType)]
    #[dds(crate = "::dds_ros2_msgs::export", name = "test_msgs::msg::dds_::WStrings_")]
    pub struct WStrings {
        pub wstring_value: ::dds_ros2_msgs::export::cdr::RosWString,
        pub wstring_value_default1: ::dds_ros2_msgs::export::cdr::RosWString,
        pub wstring_value_default2: ::dds_ros2_msgs::export::cdr::RosWString,
        pub wstring_value_default3: ::dds_ros2_msgs::export::cdr::RosWString,
        /// wstring WSTRING_CONST="Hello world!"
        /// wstring\<=22 bounded_wstring_value
        /// wstring\<=22 bounded_wstring_value_default1 "Hello world!"
        pub array_of_wstrings: [::dds_ros2_msgs::export::cdr::RosWString; 3],
        #[dds(bound = 3)]
        pub bounded_sequence_of_wstrings: ::std::vec::Vec<
            ::dds_ros2_msgs::export::cdr::RosWString,
        >,
        pub unbounded_sequence_of_wstrings: ::std::vec::Vec<
            ::dds_ros2_msgs::export::cdr::RosWString,
        >,
    }

    impl ::core::default::Default for WStrings {
        fn default() -> Self {
            Self {
                wstring_value: ::core::default::Default::default(),
                wstring_value_default1: ::core::convert::From::from("Hello world!"),
                wstring_value_default2: ::core::convert::From::from("Hellö wörld!"),
                wstring_value_default3: ::core::convert::From::from(
                    "ハローワールド",
                ),
                array_of_wstrings: ::core::array::from_fn(|_| ::core::default::Default::default()),
                bounded_sequence_of_wstrings: ::core::default::Default::default(),
                unbounded_sequence_of_wstrings: ::core::default::Default::default(),
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for WStrings {
        const ROS_NAME: &'static str = "test_msgs/msg/WStrings";
        const TYPE_HASH: &'static str = "RIHS01_5a2c8ddb2054600023b9a180652f2ba895373217cad4b1f0fc1258c9e4424a79";
    }
}

pub mod srv {
    /// `test_msgs/srv/Arrays_Request`.
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Arrays_Request_"
    )]
    pub struct ArraysRequest {
        pub bool_values: [bool; 3],
        #[dds(octet)]
        pub byte_values: [u8; 3],
        pub char_values: [u8; 3],
        pub float32_values: [f32; 3],
        pub float64_values: [f64; 3],
        pub int8_values: [i8; 3],
        pub uint8_values: [u8; 3],
        pub int16_values: [i16; 3],
        pub uint16_values: [u16; 3],
        pub int32_values: [i32; 3],
        pub uint32_values: [u32; 3],
        pub int64_values: [i64; 3],
        pub uint64_values: [u64; 3],
        pub string_values: [::std::string::String; 3],
        pub basic_types_values: [super::msg::BasicTypes; 3],
        pub constants_values: [super::msg::Constants; 3],
        pub defaults_values: [super::msg::Defaults; 3],
        pub bool_values_default: [bool; 3],
        #[dds(octet)]
        pub byte_values_default: [u8; 3],
        pub char_values_default: [u8; 3],
        pub float32_values_default: [f32; 3],
        pub float64_values_default: [f64; 3],
        pub int8_values_default: [i8; 3],
        pub uint8_values_default: [u8; 3],
        pub int16_values_default: [i16; 3],
        pub uint16_values_default: [u16; 3],
        pub int32_values_default: [i32; 3],
        pub uint32_values_default: [u32; 3],
        pub int64_values_default: [i64; 3],
        pub uint64_values_default: [u64; 3],
        pub string_values_default: [::std::string::String; 3],
    }

    impl ::core::default::Default for ArraysRequest {
        fn default() -> Self {
            Self {
                bool_values: [false; 3],
                byte_values: [0; 3],
                char_values: [0; 3],
                float32_values: [0.0; 3],
                float64_values: [0.0; 3],
                int8_values: [0; 3],
                uint8_values: [0; 3],
                int16_values: [0; 3],
                uint16_values: [0; 3],
                int32_values: [0; 3],
                uint32_values: [0; 3],
                int64_values: [0; 3],
                uint64_values: [0; 3],
                string_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                basic_types_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                constants_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                defaults_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                bool_values_default: [false, true, false],
                byte_values_default: [0, 1, 255],
                char_values_default: [0, 1, 127],
                float32_values_default: [1.125, 0.0, -1.125],
                float64_values_default: [3.1415, 0.0, -3.1415],
                int8_values_default: [0, 127, -128],
                uint8_values_default: [0, 1, 255],
                int16_values_default: [0, 32767, -32768],
                uint16_values_default: [0, 1, 65535],
                int32_values_default: [0, 2147483647, -2147483648],
                uint32_values_default: [0, 1, 4294967295],
                int64_values_default: [0, 9223372036854775807, -9223372036854775808],
                uint64_values_default: [0, 1, 18446744073709551615],
                string_values_default: [
                    ::core::convert::From::from(""),
                    ::core::convert::From::from("max value"),
                    ::core::convert::From::from("min value"),
                ],
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for ArraysRequest {
        const ROS_NAME: &'static str = "test_msgs/srv/Arrays_Request";
        const TYPE_HASH: &'static str = "RIHS01_69e1d277b2efd1d2760e545a4057f11f62f7c6395c5faa17e50599399b4fb5d8";
    }

    /// `test_msgs/srv/Arrays_Response`.
    #[derive(Debug, Clone, PartialEq, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Arrays_Response_"
    )]
    pub struct ArraysResponse {
        pub bool_values: [bool; 3],
        #[dds(octet)]
        pub byte_values: [u8; 3],
        pub char_values: [u8; 3],
        pub float32_values: [f32; 3],
        pub float64_values: [f64; 3],
        pub int8_values: [i8; 3],
        pub uint8_values: [u8; 3],
        pub int16_values: [i16; 3],
        pub uint16_values: [u16; 3],
        pub int32_values: [i32; 3],
        pub uint32_values: [u32; 3],
        pub int64_values: [i64; 3],
        pub uint64_values: [u64; 3],
        pub string_values: [::std::string::String; 3],
        pub basic_types_values: [super::msg::BasicTypes; 3],
        pub constants_values: [super::msg::Constants; 3],
        pub defaults_values: [super::msg::Defaults; 3],
        pub bool_values_default: [bool; 3],
        #[dds(octet)]
        pub byte_values_default: [u8; 3],
        pub char_values_default: [u8; 3],
        pub float32_values_default: [f32; 3],
        pub float64_values_default: [f64; 3],
        pub int8_values_default: [i8; 3],
        pub uint8_values_default: [u8; 3],
        pub int16_values_default: [i16; 3],
        pub uint16_values_default: [u16; 3],
        pub int32_values_default: [i32; 3],
        pub uint32_values_default: [u32; 3],
        pub int64_values_default: [i64; 3],
        pub uint64_values_default: [u64; 3],
        pub string_values_default: [::std::string::String; 3],
    }

    impl ::core::default::Default for ArraysResponse {
        fn default() -> Self {
            Self {
                bool_values: [false; 3],
                byte_values: [0; 3],
                char_values: [0; 3],
                float32_values: [0.0; 3],
                float64_values: [0.0; 3],
                int8_values: [0; 3],
                uint8_values: [0; 3],
                int16_values: [0; 3],
                uint16_values: [0; 3],
                int32_values: [0; 3],
                uint32_values: [0; 3],
                int64_values: [0; 3],
                uint64_values: [0; 3],
                string_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                basic_types_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                constants_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                defaults_values: ::core::array::from_fn(|_| ::core::default::Default::default()),
                bool_values_default: [false, true, false],
                byte_values_default: [0, 1, 255],
                char_values_default: [0, 1, 127],
                float32_values_default: [1.125, 0.0, -1.125],
                float64_values_default: [3.1415, 0.0, -3.1415],
                int8_values_default: [0, 127, -128],
                uint8_values_default: [0, 1, 255],
                int16_values_default: [0, 32767, -32768],
                uint16_values_default: [0, 1, 65535],
                int32_values_default: [0, 2147483647, -2147483648],
                uint32_values_default: [0, 1, 4294967295],
                int64_values_default: [0, 9223372036854775807, -9223372036854775808],
                uint64_values_default: [0, 1, 18446744073709551615],
                string_values_default: [
                    ::core::convert::From::from(""),
                    ::core::convert::From::from("max value"),
                    ::core::convert::From::from("min value"),
                ],
            }
        }
    }

    impl ::dds_ros2_msgs::RosMessage for ArraysResponse {
        const ROS_NAME: &'static str = "test_msgs/srv/Arrays_Response";
        const TYPE_HASH: &'static str = "RIHS01_e0f59d6bd84546ebfb5ad76a0afe77f9fee9bd6f1fc8f8fca37890feaf27ee69";
    }

    /// `test_msgs/srv/Arrays_Event`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Arrays_Event_"
    )]
    pub struct ArraysEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<ArraysRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<ArraysResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for ArraysEvent {
        const ROS_NAME: &'static str = "test_msgs/srv/Arrays_Event";
        const TYPE_HASH: &'static str = "RIHS01_41be0bc3daa6dbbd6d1198678b362bd4b43a08cb75fe0a4f434fe79bad31f19e";
    }

    /// The service `test_msgs/srv/Arrays`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Arrays;

    impl ::dds_ros2_msgs::RosService for Arrays {
        type Request = ArraysRequest;
        type Response = ArraysResponse;
        type Event = ArraysEvent;
        const ROS_NAME: &'static str = "test_msgs/srv/Arrays";
        const TYPE_HASH: &'static str = "RIHS01_ae66e13b3ad1520bcd9fa5751c4a4521222bf27c2f845d79de0c76e4cbb41080";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            ArraysEvent {
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

    /// `test_msgs/srv/BasicTypes_Request`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::BasicTypes_Request_"
    )]
    pub struct BasicTypesRequest {
        pub bool_value: bool,
        #[dds(octet)]
        pub byte_value: u8,
        pub char_value: u8,
        pub float32_value: f32,
        pub float64_value: f64,
        pub int8_value: i8,
        pub uint8_value: u8,
        pub int16_value: i16,
        pub uint16_value: u16,
        pub int32_value: i32,
        pub uint32_value: u32,
        pub int64_value: i64,
        pub uint64_value: u64,
        pub string_value: ::std::string::String,
    }

    impl ::dds_ros2_msgs::RosMessage for BasicTypesRequest {
        const ROS_NAME: &'static str = "test_msgs/srv/BasicTypes_Request";
        const TYPE_HASH: &'static str = "RIHS01_1dafcf389e224692783e9c4f6066ba0db3fa75fdbd8f081ffbe7ed03144d73d4";
    }

    /// `test_msgs/srv/BasicTypes_Response`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::BasicTypes_Response_"
    )]
    pub struct BasicTypesResponse {
        pub bool_value: bool,
        #[dds(octet)]
        pub byte_value: u8,
        pub char_value: u8,
        pub float32_value: f32,
        pub float64_value: f64,
        pub int8_value: i8,
        pub uint8_value: u8,
        pub int16_value: i16,
        pub uint16_value: u16,
        pub int32_value: i32,
        pub uint32_value: u32,
        pub int64_value: i64,
        pub uint64_value: u64,
        pub string_value: ::std::string::String,
    }

    impl ::dds_ros2_msgs::RosMessage for BasicTypesResponse {
        const ROS_NAME: &'static str = "test_msgs/srv/BasicTypes_Response";
        const TYPE_HASH: &'static str = "RIHS01_8479b3defe554d969e81c6cf8cdaf0b97b4fcd76928b2d644c6813b032673c0d";
    }

    /// `test_msgs/srv/BasicTypes_Event`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::BasicTypes_Event_"
    )]
    pub struct BasicTypesEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<BasicTypesRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<BasicTypesResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for BasicTypesEvent {
        const ROS_NAME: &'static str = "test_msgs/srv/BasicTypes_Event";
        const TYPE_HASH: &'static str = "RIHS01_5b9988a4805a06ae22dff12903a774ccda710e9514926b826ffc884e3a9a982e";
    }

    /// The service `test_msgs/srv/BasicTypes`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct BasicTypes;

    impl ::dds_ros2_msgs::RosService for BasicTypes {
        type Request = BasicTypesRequest;
        type Response = BasicTypesResponse;
        type Event = BasicTypesEvent;
        const ROS_NAME: &'static str = "test_msgs/srv/BasicTypes";
        const TYPE_HASH: &'static str = "RIHS01_da348697437c103cc9a9322ac1bdbdcf8eb11a85de22f7f2492ca1df416e1a5f";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            BasicTypesEvent {
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

    /// `test_msgs/srv/Empty_Request`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Empty_Request_"
    )]
    pub struct EmptyRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl ::dds_ros2_msgs::RosMessage for EmptyRequest {
        const ROS_NAME: &'static str = "test_msgs/srv/Empty_Request";
        const TYPE_HASH: &'static str = "RIHS01_ab046f24c1ca55cdb5e77f81a5bf1ba92c4bd9a5f675601d4f9a48fef70a4e89";
    }

    /// `test_msgs/srv/Empty_Response`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Empty_Response_"
    )]
    pub struct EmptyResponse {
        pub structure_needs_at_least_one_member: u8,
    }

    impl ::dds_ros2_msgs::RosMessage for EmptyResponse {
        const ROS_NAME: &'static str = "test_msgs/srv/Empty_Response";
        const TYPE_HASH: &'static str = "RIHS01_7258f28034bb3747d3743b73f2e099d9eb739f92b4bf6d6957d1a8e9df043ad8";
    }

    /// `test_msgs/srv/Empty_Event`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::srv::dds_::Empty_Event_"
    )]
    pub struct EmptyEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<EmptyRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<EmptyResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for EmptyEvent {
        const ROS_NAME: &'static str = "test_msgs/srv/Empty_Event";
        const TYPE_HASH: &'static str = "RIHS01_3d58c387252dadcd6422bdd13bf920d3bdb2fe2789aae63bf9df38267ca15005";
    }

    /// The service `test_msgs/srv/Empty`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Empty;

    impl ::dds_ros2_msgs::RosService for Empty {
        type Request = EmptyRequest;
        type Response = EmptyResponse;
        type Event = EmptyEvent;
        const ROS_NAME: &'static str = "test_msgs/srv/Empty";
        const TYPE_HASH: &'static str = "RIHS01_9737679d04950fecab59b9e82ec2bf285f58446ce8e48d287e13b8a9f19f0823";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
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
}

pub mod action {
    /// goal definition
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_Goal_"
    )]
    pub struct FibonacciGoal {
        pub order: i32,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciGoal {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Goal";
        const TYPE_HASH: &'static str = "RIHS01_e58ef5a8f4f039ab522a740823547c460b1d5aed8031c8b7825d33d345d90df8";
    }

    /// result definition
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_Result_"
    )]
    pub struct FibonacciResult {
        pub sequence: ::std::vec::Vec<i32>,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciResult {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Result";
        const TYPE_HASH: &'static str = "RIHS01_0774b095467813c6904d475498b5486b7ebd4cda6a4569f97e8de8c862689049";
    }

    /// feedback
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_Feedback_"
    )]
    pub struct FibonacciFeedback {
        pub sequence: ::std::vec::Vec<i32>,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciFeedback {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_Feedback";
        const TYPE_HASH: &'static str = "RIHS01_7d1110f2efa019ad5ad8ad2244db98d862f39dc9fae8c976814b0065fa2f32d5";
    }

    /// `test_msgs/action/Fibonacci_SendGoal_Request`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_SendGoal_Request_"
    )]
    pub struct FibonacciSendGoalRequest {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
        pub goal: FibonacciGoal,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalRequest {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Request";
        const TYPE_HASH: &'static str = "RIHS01_dfe75c73dc2c090cbc8fd8c45039bfa279d16aa6aadd348f812c6adad26e669e";
    }

    /// `test_msgs/action/Fibonacci_SendGoal_Response`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_SendGoal_Response_"
    )]
    pub struct FibonacciSendGoalResponse {
        pub accepted: bool,
        pub stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalResponse {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Response";
        const TYPE_HASH: &'static str = "RIHS01_1e7e84f7edf1fb020d9e51c7842bceef4cbdbd847f354125f3227cf4f314a683";
    }

    /// `test_msgs/action/Fibonacci_SendGoal_Event`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_SendGoal_Event_"
    )]
    pub struct FibonacciSendGoalEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<FibonacciSendGoalRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<FibonacciSendGoalResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciSendGoalEvent {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal_Event";
        const TYPE_HASH: &'static str = "RIHS01_a20e708c6aae7a99d1eb0e930a0916f596bb5bae93a342a61752e13135be2c44";
    }

    /// `test_msgs/action/Fibonacci_GetResult_Request`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_GetResult_Request_"
    )]
    pub struct FibonacciGetResultRequest {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultRequest {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Request";
        const TYPE_HASH: &'static str = "RIHS01_c65e93c4c4328d7f1abd6ace83dba8e5fa0f32de76b4d2c96b5c655d94803b92";
    }

    /// `test_msgs/action/Fibonacci_GetResult_Response`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_GetResult_Response_"
    )]
    pub struct FibonacciGetResultResponse {
        pub status: i8,
        pub result: FibonacciResult,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultResponse {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Response";
        const TYPE_HASH: &'static str = "RIHS01_ef88159d47a3d21d9bf4bec690cf668939d9542db28a9cfd77dbcd97eaf1add2";
    }

    /// `test_msgs/action/Fibonacci_GetResult_Event`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_GetResult_Event_"
    )]
    pub struct FibonacciGetResultEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<FibonacciGetResultRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<FibonacciGetResultResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciGetResultEvent {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult_Event";
        const TYPE_HASH: &'static str = "RIHS01_fe0aa5843ef10550a9b322aeeccd5b11e78bca05b3571cf6999c51bff30c1e23";
    }

    /// `test_msgs/action/Fibonacci_FeedbackMessage`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::Fibonacci_FeedbackMessage_"
    )]
    pub struct FibonacciFeedbackMessage {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
        pub feedback: FibonacciFeedback,
    }

    impl ::dds_ros2_msgs::RosMessage for FibonacciFeedbackMessage {
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_FeedbackMessage";
        const TYPE_HASH: &'static str = "RIHS01_37487bae8cea358366b97003c1ef1ca7ce7c08df36f9e8cca496624226aee64e";
    }

    /// The action `test_msgs/action/Fibonacci`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Fibonacci;

    impl ::dds_ros2_msgs::RosAction for Fibonacci {
        type Goal = FibonacciGoal;
        type Result = FibonacciResult;
        type Feedback = FibonacciFeedback;
        type FeedbackMessage = FibonacciFeedbackMessage;
        type SendGoal = FibonacciSendGoal;
        type GetResult = FibonacciGetResult;
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci";
        const TYPE_HASH: &'static str = "RIHS01_be9273e3557225044b4a040811112491f7079326e3a573f83258b0b4c30bd069";
        fn send_goal_request(
            goal_id: [u8; 16],
            goal: Self::Goal,
        ) -> FibonacciSendGoalRequest {
            FibonacciSendGoalRequest {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                goal,
            }
        }
        fn open_send_goal_request(
            request: FibonacciSendGoalRequest,
        ) -> ([u8; 16], Self::Goal) {
            (request.goal_id.uuid, request.goal)
        }
        fn send_goal_response(
            accepted: bool,
            stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
        ) -> FibonacciSendGoalResponse {
            FibonacciSendGoalResponse {
                accepted,
                stamp,
            }
        }
        fn open_send_goal_response(
            response: FibonacciSendGoalResponse,
        ) -> (bool, ::dds_ros2_msgs::builtin_interfaces::msg::Time) {
            (response.accepted, response.stamp)
        }
        fn get_result_request(goal_id: [u8; 16]) -> FibonacciGetResultRequest {
            FibonacciGetResultRequest {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
            }
        }
        fn open_get_result_request(request: FibonacciGetResultRequest) -> [u8; 16] {
            request.goal_id.uuid
        }
        fn get_result_response(
            status: i8,
            result: Self::Result,
        ) -> FibonacciGetResultResponse {
            FibonacciGetResultResponse {
                status,
                result,
            }
        }
        fn open_get_result_response(
            response: FibonacciGetResultResponse,
        ) -> (i8, Self::Result) {
            (response.status, response.result)
        }
        fn feedback_message(
            goal_id: [u8; 16],
            feedback: Self::Feedback,
        ) -> Self::FeedbackMessage {
            FibonacciFeedbackMessage {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                feedback,
            }
        }
        fn open_feedback_message(
            message: Self::FeedbackMessage,
        ) -> ([u8; 16], Self::Feedback) {
            (message.goal_id.uuid, message.feedback)
        }
    }

    /// The service `test_msgs/action/Fibonacci_SendGoal`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FibonacciSendGoal;

    impl ::dds_ros2_msgs::RosService for FibonacciSendGoal {
        type Request = FibonacciSendGoalRequest;
        type Response = FibonacciSendGoalResponse;
        type Event = FibonacciSendGoalEvent;
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_SendGoal";
        const TYPE_HASH: &'static str = "RIHS01_d807633803e38e164276573cd97e9fbd71e109c290bbf4cc312a0a1c9da7bbd9";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            FibonacciSendGoalEvent {
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

    /// The service `test_msgs/action/Fibonacci_GetResult`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FibonacciGetResult;

    impl ::dds_ros2_msgs::RosService for FibonacciGetResult {
        type Request = FibonacciGetResultRequest;
        type Response = FibonacciGetResultResponse;
        type Event = FibonacciGetResultEvent;
        const ROS_NAME: &'static str = "test_msgs/action/Fibonacci_GetResult";
        const TYPE_HASH: &'static str = "RIHS01_5d30fdeb21d20e117aa5f36c7b4f0b6874f1a8cf7a9c038d58f1156c5737b209";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            FibonacciGetResultEvent {
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

    /// goal definition
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_Goal_"
    )]
    pub struct NestedMessageGoal {
        pub nested_field_no_pkg: super::msg::Builtins,
        pub nested_field: super::msg::BasicTypes,
        pub nested_different_pkg: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageGoal {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_Goal";
        const TYPE_HASH: &'static str = "RIHS01_88928767537b27c7f9c7c78442e95b78c8a9b8f35877496ec9ca40c3a4a14176";
    }

    /// result definition
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_Result_"
    )]
    pub struct NestedMessageResult {
        pub nested_field_no_pkg: super::msg::Builtins,
        pub nested_field: super::msg::BasicTypes,
        pub nested_different_pkg: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageResult {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_Result";
        const TYPE_HASH: &'static str = "RIHS01_c3356da873cd9b6f11cafaa25d6a9269a68751b937715cee506c3dbc051cdcfd";
    }

    /// feedback
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_Feedback_"
    )]
    pub struct NestedMessageFeedback {
        pub nested_field_no_pkg: super::msg::Builtins,
        pub nested_field: super::msg::BasicTypes,
        pub nested_different_pkg: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageFeedback {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_Feedback";
        const TYPE_HASH: &'static str = "RIHS01_d03aaba098e33076c53560da77017d777a79d45d135bb72886da6e5d8357718e";
    }

    /// `test_msgs/action/NestedMessage_SendGoal_Request`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_SendGoal_Request_"
    )]
    pub struct NestedMessageSendGoalRequest {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
        pub goal: NestedMessageGoal,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageSendGoalRequest {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_SendGoal_Request";
        const TYPE_HASH: &'static str = "RIHS01_e8d6d6d151e1b899137319c7784c420e6cae65767c10ca02cd129f76c5d7ea1b";
    }

    /// `test_msgs/action/NestedMessage_SendGoal_Response`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_SendGoal_Response_"
    )]
    pub struct NestedMessageSendGoalResponse {
        pub accepted: bool,
        pub stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageSendGoalResponse {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_SendGoal_Response";
        const TYPE_HASH: &'static str = "RIHS01_e78d269a75544304ab7f6d700ba1cb718875360bb84007906227267f9b124381";
    }

    /// `test_msgs/action/NestedMessage_SendGoal_Event`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_SendGoal_Event_"
    )]
    pub struct NestedMessageSendGoalEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<NestedMessageSendGoalRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<NestedMessageSendGoalResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageSendGoalEvent {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_SendGoal_Event";
        const TYPE_HASH: &'static str = "RIHS01_cc2d31baaf95995e00221e3ebb65f3ad0b5ba636db19223bade73b49f0d305e7";
    }

    /// `test_msgs/action/NestedMessage_GetResult_Request`.
    #[derive(
        Debug,
        Clone,
        PartialEq,
        Default,
        Eq,
        Hash,
        ::dds_ros2_msgs::export::DdsType
    )]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_GetResult_Request_"
    )]
    pub struct NestedMessageGetResultRequest {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageGetResultRequest {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_GetResult_Request";
        const TYPE_HASH: &'static str = "RIHS01_687ebbfa75d95d5d0f23ca800c213b4777fef311028d94a5d353ef7377f25741";
    }

    /// `test_msgs/action/NestedMessage_GetResult_Response`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_GetResult_Response_"
    )]
    pub struct NestedMessageGetResultResponse {
        pub status: i8,
        pub result: NestedMessageResult,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageGetResultResponse {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_GetResult_Response";
        const TYPE_HASH: &'static str = "RIHS01_663ca16d674f9c9557884d2cfa74b51e3d4720a8fd305d87d89369a087791c80";
    }

    /// `test_msgs/action/NestedMessage_GetResult_Event`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_GetResult_Event_"
    )]
    pub struct NestedMessageGetResultEvent {
        pub info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<NestedMessageGetResultRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<NestedMessageGetResultResponse>,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageGetResultEvent {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_GetResult_Event";
        const TYPE_HASH: &'static str = "RIHS01_5af20e11dfed8406b4d94837f1ea25424e811d1fdfa1157eb846e29c23130d1f";
    }

    /// `test_msgs/action/NestedMessage_FeedbackMessage`.
    #[derive(Debug, Clone, PartialEq, Default, ::dds_ros2_msgs::export::DdsType)]
    #[dds(
        crate = "::dds_ros2_msgs::export",
        name = "test_msgs::action::dds_::NestedMessage_FeedbackMessage_"
    )]
    pub struct NestedMessageFeedbackMessage {
        pub goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID,
        pub feedback: NestedMessageFeedback,
    }

    impl ::dds_ros2_msgs::RosMessage for NestedMessageFeedbackMessage {
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_FeedbackMessage";
        const TYPE_HASH: &'static str = "RIHS01_72ee5828e8083f3c42a56bc5d99fd9e7d5c86389850fc006f254ecdcaecb7d03";
    }

    /// The action `test_msgs/action/NestedMessage`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct NestedMessage;

    impl ::dds_ros2_msgs::RosAction for NestedMessage {
        type Goal = NestedMessageGoal;
        type Result = NestedMessageResult;
        type Feedback = NestedMessageFeedback;
        type FeedbackMessage = NestedMessageFeedbackMessage;
        type SendGoal = NestedMessageSendGoal;
        type GetResult = NestedMessageGetResult;
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage";
        const TYPE_HASH: &'static str = "RIHS01_edd4bac361b0ee01c5e228d7c065f1d64e1b11aa55c5c6efb4e5e10e40fde40a";
        fn send_goal_request(
            goal_id: [u8; 16],
            goal: Self::Goal,
        ) -> NestedMessageSendGoalRequest {
            NestedMessageSendGoalRequest {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                goal,
            }
        }
        fn open_send_goal_request(
            request: NestedMessageSendGoalRequest,
        ) -> ([u8; 16], Self::Goal) {
            (request.goal_id.uuid, request.goal)
        }
        fn send_goal_response(
            accepted: bool,
            stamp: ::dds_ros2_msgs::builtin_interfaces::msg::Time,
        ) -> NestedMessageSendGoalResponse {
            NestedMessageSendGoalResponse {
                accepted,
                stamp,
            }
        }
        fn open_send_goal_response(
            response: NestedMessageSendGoalResponse,
        ) -> (bool, ::dds_ros2_msgs::builtin_interfaces::msg::Time) {
            (response.accepted, response.stamp)
        }
        fn get_result_request(goal_id: [u8; 16]) -> NestedMessageGetResultRequest {
            NestedMessageGetResultRequest {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
            }
        }
        fn open_get_result_request(request: NestedMessageGetResultRequest) -> [u8; 16] {
            request.goal_id.uuid
        }
        fn get_result_response(
            status: i8,
            result: Self::Result,
        ) -> NestedMessageGetResultResponse {
            NestedMessageGetResultResponse {
                status,
                result,
            }
        }
        fn open_get_result_response(
            response: NestedMessageGetResultResponse,
        ) -> (i8, Self::Result) {
            (response.status, response.result)
        }
        fn feedback_message(
            goal_id: [u8; 16],
            feedback: Self::Feedback,
        ) -> Self::FeedbackMessage {
            NestedMessageFeedbackMessage {
                goal_id: ::dds_ros2_msgs::unique_identifier_msgs::msg::UUID {
                    uuid: goal_id,
                },
                feedback,
            }
        }
        fn open_feedback_message(
            message: Self::FeedbackMessage,
        ) -> ([u8; 16], Self::Feedback) {
            (message.goal_id.uuid, message.feedback)
        }
    }

    /// The service `test_msgs/action/NestedMessage_SendGoal`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct NestedMessageSendGoal;

    impl ::dds_ros2_msgs::RosService for NestedMessageSendGoal {
        type Request = NestedMessageSendGoalRequest;
        type Response = NestedMessageSendGoalResponse;
        type Event = NestedMessageSendGoalEvent;
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_SendGoal";
        const TYPE_HASH: &'static str = "RIHS01_8dea947216740e5b9e00eb537306bfe75af96492c688927d4f803afa5d81359b";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            NestedMessageSendGoalEvent {
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

    /// The service `test_msgs/action/NestedMessage_GetResult`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct NestedMessageGetResult;

    impl ::dds_ros2_msgs::RosService for NestedMessageGetResult {
        type Request = NestedMessageGetResultRequest;
        type Response = NestedMessageGetResultResponse;
        type Event = NestedMessageGetResultEvent;
        const ROS_NAME: &'static str = "test_msgs/action/NestedMessage_GetResult";
        const TYPE_HASH: &'static str = "RIHS01_0272bc330d08cbb96e6947dd9c2731c12ad7252823c7086978d117a802119e2b";
        fn event(
            info: ::dds_ros2_msgs::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            NestedMessageGetResultEvent {
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
pub const TYPES: &[::dds_ros2_msgs::RosTypeEntry] = &[
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Arrays>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::BasicTypes>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::BoundedPlainSequences>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::BoundedSequences>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Builtins>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Constants>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Defaults>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Empty>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::MultiNested>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Nested>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::Strings>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::UnboundedSequences>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<msg::WStrings>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::ArraysRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::ArraysResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::ArraysEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::BasicTypesRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::BasicTypesResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::BasicTypesEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::EmptyRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::EmptyResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<srv::EmptyEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciGoal>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciResult>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciFeedback>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciSendGoalRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciSendGoalResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciSendGoalEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciGetResultRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciGetResultResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciGetResultEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::FibonacciFeedbackMessage>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageGoal>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageResult>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageFeedback>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageSendGoalRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageSendGoalResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageSendGoalEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageGetResultRequest>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageGetResultResponse>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageGetResultEvent>(),
    ::dds_ros2_msgs::RosTypeEntry::of::<action::NestedMessageFeedbackMessage>(),
];
