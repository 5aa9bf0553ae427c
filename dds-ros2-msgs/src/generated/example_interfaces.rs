// Written by `tests/messages/committed.rs` from the interface files of `example_interfaces`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `example_interfaces`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// This is an example message of using a primitive datatype, bool.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Bool_")]
    pub struct Bool {
        pub data: bool,
    }

    impl crate::RosMessage for Bool {
        const ROS_NAME: &'static str = "example_interfaces/msg/Bool";
        const TYPE_HASH: &'static str = "RIHS01_4765c142500f8fd4e1a32fb3edd7b7d9d822a16ec270445f5120e772c5f9aed5";
    }

    /// This is an example message of using a primitive datatype, byte.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Byte_")]
    pub struct Byte {
        #[dds(octet)]
        pub data: u8,
    }

    impl crate::RosMessage for Byte {
        const ROS_NAME: &'static str = "example_interfaces/msg/Byte";
        const TYPE_HASH: &'static str = "RIHS01_f014e0424be54b8ba7c35490aea4198be92df1de4e88f4e19a2fbbce2e020bb9";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::ByteMultiArray_"
    )]
    pub struct ByteMultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        #[dds(octet)]
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for ByteMultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/ByteMultiArray";
        const TYPE_HASH: &'static str = "RIHS01_257fc3429b3c4dd0aea678c234f543665d1144b396f82c7ee60fed151e1dace3";
    }

    /// This is an example message of using a primitive datatype, char.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Char_")]
    pub struct Char {
        pub data: u8,
    }

    impl crate::RosMessage for Char {
        const ROS_NAME: &'static str = "example_interfaces/msg/Char";
        const TYPE_HASH: &'static str = "RIHS01_320dcd57e1183fb08463cc3ab50bf7e5ce0ecee39f64d15a9e9eeca3384c91a5";
    }

    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Empty_")]
    pub struct Empty {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for Empty {
        const ROS_NAME: &'static str = "example_interfaces/msg/Empty";
        const TYPE_HASH: &'static str = "RIHS01_73c22a7341eeccf8ef504a991e60d4078223f0931a5d5d212800e7c978903c58";
    }

    /// This is an example message of using a primitive datatype, float32.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Float32_")]
    pub struct Float32 {
        pub data: f32,
    }

    impl crate::RosMessage for Float32 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Float32";
        const TYPE_HASH: &'static str = "RIHS01_6a112d9235f8e8088d7a2bc77cb955341ac0d5c9870bdc592651a4186bb246f3";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Float32MultiArray_"
    )]
    pub struct Float32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<f32>,
    }

    impl crate::RosMessage for Float32MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Float32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_8705278e8d206a9711133794ce6466281e9698138331c4b3d91e6cc9e9dfee26";
    }

    /// This is an example message of using a primitive datatype, float64.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Float64_")]
    pub struct Float64 {
        pub data: f64,
    }

    impl crate::RosMessage for Float64 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Float64";
        const TYPE_HASH: &'static str = "RIHS01_74c137b7930c26339425a95fcfab441199bc41e0e572d3a0c9e95badd72b50da";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Float64MultiArray_"
    )]
    pub struct Float64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<f64>,
    }

    impl crate::RosMessage for Float64MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Float64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_62a0985e7920b7bc489d1392f08c06ba0080fff5b8eaa09b27dcac122f50ad95";
    }

    /// This is an example message of using a primitive datatype, int16.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Int16_")]
    pub struct Int16 {
        pub data: i16,
    }

    impl crate::RosMessage for Int16 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int16";
        const TYPE_HASH: &'static str = "RIHS01_332d94306732e4e35da38e5ae744ff35bbdaeca300908dc43488d3a844687cd6";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Int16MultiArray_"
    )]
    pub struct Int16MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i16>,
    }

    impl crate::RosMessage for Int16MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int16MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_d663e739410479619bfb7b9b94b0a764998acffadb8b7f5b200affa87b7ffdd2";
    }

    /// This is an example message of using a primitive datatype, int32.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Int32_")]
    pub struct Int32 {
        pub data: i32,
    }

    impl crate::RosMessage for Int32 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int32";
        const TYPE_HASH: &'static str = "RIHS01_5cd04cd7f3adb9d6c6064c316047b24c76622eb89144f300b536d657fd55e652";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Int32MultiArray_"
    )]
    pub struct Int32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i32>,
    }

    impl crate::RosMessage for Int32MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_b347aff8e38e2ce3f7f4023db7922d2d4abb9d593b03c40b1427640c26595bfa";
    }

    /// This is an example message of using a primitive datatype, int64.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Int64_")]
    pub struct Int64 {
        pub data: i64,
    }

    impl crate::RosMessage for Int64 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int64";
        const TYPE_HASH: &'static str = "RIHS01_1b3b9a6502f560d079520c73c685a9550e5a1838d2cefd537fe0aba75a3639a0";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Int64MultiArray_"
    )]
    pub struct Int64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i64>,
    }

    impl crate::RosMessage for Int64MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_ebce42c0d2b81bc5309deb0b2d83e30236aeb4899aea3cc7ddd18787af39c94a";
    }

    /// This is an example message of using a primitive datatype, in8.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::Int8_")]
    pub struct Int8 {
        pub data: i8,
    }

    impl crate::RosMessage for Int8 {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int8";
        const TYPE_HASH: &'static str = "RIHS01_2e9ef643d84ff37840fe787d1269aa06268960e294f4a0f5eb1e9d4eb21cbb57";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::Int8MultiArray_"
    )]
    pub struct Int8MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i8>,
    }

    impl crate::RosMessage for Int8MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/Int8MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_6d26932aefc0e5c0c473613376338609bac9925e3527dc4e8fab6b6783b6d680";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::MultiArrayDimension_"
    )]
    pub struct MultiArrayDimension {
        /// label of given dimension
        pub label: ::std::string::String,
        /// size of given dimension (in type units)
        pub size: u32,
        /// stride of given dimension
        pub stride: u32,
    }

    impl crate::RosMessage for MultiArrayDimension {
        const ROS_NAME: &'static str = "example_interfaces/msg/MultiArrayDimension";
        const TYPE_HASH: &'static str = "RIHS01_a785cb9839e177e3eb760260139a919fec87821edc3314c592f2725abbf0bfcd";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::MultiArrayLayout_"
    )]
    pub struct MultiArrayLayout {
        /// The multiarray declares a generic multi-dimensional array of a
        /// particular data type.  Dimensions are ordered from outer most
        /// to inner most.
        ///
        /// Accessors should ALWAYS be written in terms of dimension stride
        /// and specified outer-most dimension first.
        ///
        /// multiarray(i,j,k) = data\[data_offset + dim_stride\[1\]*i + dim_stride\[2\]*j + k\]
        ///
        /// A standard, 3-channel 640x480 image with interleaved color channels
        /// would be specified as:
        ///
        /// dim\[0\].label  = "height"
        /// dim\[0\].size   = 480
        /// dim\[0\].stride = 3*640*480 = 921600  (note dim\[0\] stride is just size of image)
        /// dim\[1\].label  = "width"
        /// dim\[1\].size   = 640
        /// dim\[1\].stride = 3*640 = 1920
        /// dim\[2\].label  = "channel"
        /// dim\[2\].size   = 3
        /// dim\[2\].stride = 3
        ///
        /// multiarray(i,j,k) refers to the ith row, jth column, and kth channel.
        /// Array of dimension properties
        pub dim: ::std::vec::Vec<MultiArrayDimension>,
        /// padding bytes at front of data
        pub data_offset: u32,
    }

    impl crate::RosMessage for MultiArrayLayout {
        const ROS_NAME: &'static str = "example_interfaces/msg/MultiArrayLayout";
        const TYPE_HASH: &'static str = "RIHS01_ba42ea30074e5826a1e91f70f3660dda2996937169487f877fc20a8a402e2c27";
    }

    /// This is an example message of using a primitive datatype, string.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::String_")]
    pub struct String {
        pub data: ::std::string::String,
    }

    impl crate::RosMessage for String {
        const ROS_NAME: &'static str = "example_interfaces/msg/String";
        const TYPE_HASH: &'static str = "RIHS01_5509d866a579951f2fc6c19577c32605ba16f308cae7b498341d79536d4eb06b";
    }

    /// This is an example message of using a primitive datatype, uint16.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::UInt16_")]
    pub struct UInt16 {
        pub data: u16,
    }

    impl crate::RosMessage for UInt16 {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt16";
        const TYPE_HASH: &'static str = "RIHS01_e123d0a691fa0ce58b682f1a4eee55137dd3f20c81665f0c556f53596c7fb377";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::UInt16MultiArray_"
    )]
    pub struct UInt16MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u16>,
    }

    impl crate::RosMessage for UInt16MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt16MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_507f6456c1965ef6eab8a9cfa8860bd484e1b7039b4c4ea2c75c648182fceade";
    }

    /// This is an example message of using a primitive datatype, uint32.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::UInt32_")]
    pub struct UInt32 {
        pub data: u32,
    }

    impl crate::RosMessage for UInt32 {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt32";
        const TYPE_HASH: &'static str = "RIHS01_e86cccba586f30c16498f3ccd3550a764b255239a6142be3a4d7a2fa9a43515c";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::UInt32MultiArray_"
    )]
    pub struct UInt32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u32>,
    }

    impl crate::RosMessage for UInt32MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_0683176c523a116c76141c6d4abd150dbff492b72185f1260ce38a18a35aafcf";
    }

    /// This is an example message of using a primitive datatype, unint64.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::UInt64_")]
    pub struct UInt64 {
        pub data: u64,
    }

    impl crate::RosMessage for UInt64 {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt64";
        const TYPE_HASH: &'static str = "RIHS01_6a3f8548c5818b7add62dd6cbbd840fd1ab17fbf9d73cad6690557b7326d8908";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::UInt64MultiArray_"
    )]
    pub struct UInt64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u64>,
    }

    impl crate::RosMessage for UInt64MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_c05a348bd887aac76a947c901f67f93bf9a7fa14b28dce02eb495dadeb8842e4";
    }

    /// This is an example message of using a primitive datatype, uint8.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::UInt8_")]
    pub struct UInt8 {
        pub data: u8,
    }

    impl crate::RosMessage for UInt8 {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt8";
        const TYPE_HASH: &'static str = "RIHS01_9255b6d0dd98f5b573afbff223131279b788ac45cf051fb462c12dd9a30f4061";
    }

    /// This is an example of using complex datatypes.
    /// It is not recommended to use directly.
    /// To use a similar datastruct please define a custom message with appropriate semantic meaning.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::msg::dds_::UInt8MultiArray_"
    )]
    pub struct UInt8MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for UInt8MultiArray {
        const ROS_NAME: &'static str = "example_interfaces/msg/UInt8MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_7a49ef5ed9b7182488303b4027d54719ba7266e776bd446dac30e79b56fb0a71";
    }

    /// This is an example message of using a primitive datatype, wstring.
    /// If you want to test with this that's fine, but if you are deploying
    /// it into a system you should create a semantically meaningful message type.
    /// If you want to embed it in another message, use the primitive data type instead.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "example_interfaces::msg::dds_::WString_")]
    pub struct WString {
        pub data: crate::export::cdr::RosWString,
    }

    impl crate::RosMessage for WString {
        const ROS_NAME: &'static str = "example_interfaces/msg/WString";
        const TYPE_HASH: &'static str = "RIHS01_32033e06d9dfe5468c5d6e1dc8b7a23c8910bad071cfd4e151a951d580e68dd8";
    }
}

pub mod srv {
    /// `example_interfaces/srv/AddTwoInts_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::AddTwoInts_Request_"
    )]
    pub struct AddTwoIntsRequest {
        pub a: i64,
        pub b: i64,
    }

    impl crate::RosMessage for AddTwoIntsRequest {
        const ROS_NAME: &'static str = "example_interfaces/srv/AddTwoInts_Request";
        const TYPE_HASH: &'static str = "RIHS01_000c5fd92d6b2e1a05949348f584d6d652adea1e92d691792011ac2273508302";
    }

    /// `example_interfaces/srv/AddTwoInts_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::AddTwoInts_Response_"
    )]
    pub struct AddTwoIntsResponse {
        pub sum: i64,
    }

    impl crate::RosMessage for AddTwoIntsResponse {
        const ROS_NAME: &'static str = "example_interfaces/srv/AddTwoInts_Response";
        const TYPE_HASH: &'static str = "RIHS01_de5c030d4af33cba2749310b249737b631594703f9300495f48bffb2b44dcc2f";
    }

    /// `example_interfaces/srv/AddTwoInts_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::AddTwoInts_Event_"
    )]
    pub struct AddTwoIntsEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<AddTwoIntsRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<AddTwoIntsResponse>,
    }

    impl crate::RosMessage for AddTwoIntsEvent {
        const ROS_NAME: &'static str = "example_interfaces/srv/AddTwoInts_Event";
        const TYPE_HASH: &'static str = "RIHS01_32c1d140259c71e5c355115942bcb31df98b4330e4d906b1b75ccb1c9b3ce6c8";
    }

    /// The service `example_interfaces/srv/AddTwoInts`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct AddTwoInts;

    impl crate::RosService for AddTwoInts {
        type Request = AddTwoIntsRequest;
        type Response = AddTwoIntsResponse;
        type Event = AddTwoIntsEvent;
        const ROS_NAME: &'static str = "example_interfaces/srv/AddTwoInts";
        const TYPE_HASH: &'static str = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            AddTwoIntsEvent {
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

    /// This is an example of a service to set a boolean value.
    /// This can be used for testing but a semantically meaningful
    /// one should be created to be built upon.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::SetBool_Request_"
    )]
    pub struct SetBoolRequest {
        /// e.g. for hardware enabling / disabling
        pub data: bool,
    }

    impl crate::RosMessage for SetBoolRequest {
        const ROS_NAME: &'static str = "example_interfaces/srv/SetBool_Request";
        const TYPE_HASH: &'static str = "RIHS01_db31a9146de9f58c3196ef92ebc43abc460199adfa57ece51550f37544c4ee58";
    }

    /// `example_interfaces/srv/SetBool_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::SetBool_Response_"
    )]
    pub struct SetBoolResponse {
        /// indicate successful run of triggered service
        pub success: bool,
        /// informational, e.g. for error messages
        pub message: ::std::string::String,
    }

    impl crate::RosMessage for SetBoolResponse {
        const ROS_NAME: &'static str = "example_interfaces/srv/SetBool_Response";
        const TYPE_HASH: &'static str = "RIHS01_fd35d6974b0ede7fad127f600619719eb7caf8b0ff8b02a4a5a103900479a619";
    }

    /// `example_interfaces/srv/SetBool_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::SetBool_Event_"
    )]
    pub struct SetBoolEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetBoolRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetBoolResponse>,
    }

    impl crate::RosMessage for SetBoolEvent {
        const ROS_NAME: &'static str = "example_interfaces/srv/SetBool_Event";
        const TYPE_HASH: &'static str = "RIHS01_0272d5150675582af790e0fbff2bb40112f61fcc62651ffff02074ec98b4dd2c";
    }

    /// The service `example_interfaces/srv/SetBool`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetBool;

    impl crate::RosService for SetBool {
        type Request = SetBoolRequest;
        type Response = SetBoolResponse;
        type Event = SetBoolEvent;
        const ROS_NAME: &'static str = "example_interfaces/srv/SetBool";
        const TYPE_HASH: &'static str = "RIHS01_a69782e5631b12e15c8e218410de1685bbf13e382718295adad14037a24afbe8";
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

    /// An example of a trigger service.
    /// This can be used for testing but a semantically meaningful
    /// one should be created to be built upon.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::Trigger_Request_"
    )]
    pub struct TriggerRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for TriggerRequest {
        const ROS_NAME: &'static str = "example_interfaces/srv/Trigger_Request";
        const TYPE_HASH: &'static str = "RIHS01_2521571bb7fb4de94da045720b069b2859084c689ee27382f48414ebf4dd3a8d";
    }

    /// `example_interfaces/srv/Trigger_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::Trigger_Response_"
    )]
    pub struct TriggerResponse {
        /// indicate successful run of triggered service
        pub success: bool,
        /// informational, e.g. for error messages.
        pub message: ::std::string::String,
    }

    impl crate::RosMessage for TriggerResponse {
        const ROS_NAME: &'static str = "example_interfaces/srv/Trigger_Response";
        const TYPE_HASH: &'static str = "RIHS01_3faa1e36b834f5705a7e9aa990c4720c082f0630bf28abedf315cc69f01dc8fc";
    }

    /// `example_interfaces/srv/Trigger_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::srv::dds_::Trigger_Event_"
    )]
    pub struct TriggerEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<TriggerRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<TriggerResponse>,
    }

    impl crate::RosMessage for TriggerEvent {
        const ROS_NAME: &'static str = "example_interfaces/srv/Trigger_Event";
        const TYPE_HASH: &'static str = "RIHS01_37216e82646e85e9dacb76811000fc4c5e303dd4ef29b4151c189a3fa734296f";
    }

    /// The service `example_interfaces/srv/Trigger`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Trigger;

    impl crate::RosService for Trigger {
        type Request = TriggerRequest;
        type Response = TriggerResponse;
        type Event = TriggerEvent;
        const ROS_NAME: &'static str = "example_interfaces/srv/Trigger";
        const TYPE_HASH: &'static str = "RIHS01_cfeeee47f8105dd7685e4c92d46d4074669cb1c477402be1dea37486542a69e0";
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

pub mod action {
    /// Goal
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_Goal_"
    )]
    pub struct FibonacciGoal {
        pub order: i32,
    }

    impl crate::RosMessage for FibonacciGoal {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_Goal";
        const TYPE_HASH: &'static str = "RIHS01_226cb437e4355dcd3e914f930382a3b0cc1da81545bd319ed554e95a03255f51";
    }

    /// Result
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_Result_"
    )]
    pub struct FibonacciResult {
        pub sequence: ::std::vec::Vec<i32>,
    }

    impl crate::RosMessage for FibonacciResult {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_Result";
        const TYPE_HASH: &'static str = "RIHS01_fea81394f25aa4502217953f1a021fb750e79c10bbd43f13dd94632da6569649";
    }

    /// Feedback
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_Feedback_"
    )]
    pub struct FibonacciFeedback {
        pub sequence: ::std::vec::Vec<i32>,
    }

    impl crate::RosMessage for FibonacciFeedback {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_Feedback";
        const TYPE_HASH: &'static str = "RIHS01_2b12e37361da6f408d4c85bc24a18de64333f29082f2ca34b5ee33dc4c8b42a9";
    }

    /// `example_interfaces/action/Fibonacci_SendGoal_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_SendGoal_Request_"
    )]
    pub struct FibonacciSendGoalRequest {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
        pub goal: FibonacciGoal,
    }

    impl crate::RosMessage for FibonacciSendGoalRequest {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_SendGoal_Request";
        const TYPE_HASH: &'static str = "RIHS01_3d088942b413247db536576f0286768c6be8fcd5d0c9a5d544f359fba090a238";
    }

    /// `example_interfaces/action/Fibonacci_SendGoal_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_SendGoal_Response_"
    )]
    pub struct FibonacciSendGoalResponse {
        pub accepted: bool,
        pub stamp: crate::builtin_interfaces::msg::Time,
    }

    impl crate::RosMessage for FibonacciSendGoalResponse {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_SendGoal_Response";
        const TYPE_HASH: &'static str = "RIHS01_d8c07bb3d5b766fe4b43159c9a5222af5214e2fcc29229b991d826166c512be1";
    }

    /// `example_interfaces/action/Fibonacci_SendGoal_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_SendGoal_Event_"
    )]
    pub struct FibonacciSendGoalEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<FibonacciSendGoalRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<FibonacciSendGoalResponse>,
    }

    impl crate::RosMessage for FibonacciSendGoalEvent {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_SendGoal_Event";
        const TYPE_HASH: &'static str = "RIHS01_d5e5b312dbf847307b0e876c2ecc9d80258e95b0d17f8f7bfc581c4a29c83484";
    }

    /// `example_interfaces/action/Fibonacci_GetResult_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_GetResult_Request_"
    )]
    pub struct FibonacciGetResultRequest {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
    }

    impl crate::RosMessage for FibonacciGetResultRequest {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_GetResult_Request";
        const TYPE_HASH: &'static str = "RIHS01_c8a4f5e7d13b81286ee1043e2ecd084281cecf1ff06aaa799464f5f15479f003";
    }

    /// `example_interfaces/action/Fibonacci_GetResult_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_GetResult_Response_"
    )]
    pub struct FibonacciGetResultResponse {
        pub status: i8,
        pub result: FibonacciResult,
    }

    impl crate::RosMessage for FibonacciGetResultResponse {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_GetResult_Response";
        const TYPE_HASH: &'static str = "RIHS01_6021dc98ab9b4bbe395e48aa4de81ee5f68eb570f88358affcc648146668b24f";
    }

    /// `example_interfaces/action/Fibonacci_GetResult_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_GetResult_Event_"
    )]
    pub struct FibonacciGetResultEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<FibonacciGetResultRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<FibonacciGetResultResponse>,
    }

    impl crate::RosMessage for FibonacciGetResultEvent {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_GetResult_Event";
        const TYPE_HASH: &'static str = "RIHS01_ac4e9cdb954c2e192c9f0753d46f59ab6f0101d5fb5b9542fd8ab2906e40c4d9";
    }

    /// `example_interfaces/action/Fibonacci_FeedbackMessage`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "example_interfaces::action::dds_::Fibonacci_FeedbackMessage_"
    )]
    pub struct FibonacciFeedbackMessage {
        pub goal_id: crate::unique_identifier_msgs::msg::UUID,
        pub feedback: FibonacciFeedback,
    }

    impl crate::RosMessage for FibonacciFeedbackMessage {
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_FeedbackMessage";
        const TYPE_HASH: &'static str = "RIHS01_c1de71afd52e49a89c53d8262366884185bc0a02f78ce051c4e46b0a7fe59bb2";
    }

    /// The action `example_interfaces/action/Fibonacci`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Fibonacci;

    impl crate::RosAction for Fibonacci {
        type Goal = FibonacciGoal;
        type Result = FibonacciResult;
        type Feedback = FibonacciFeedback;
        type FeedbackMessage = FibonacciFeedbackMessage;
        type SendGoal = FibonacciSendGoal;
        type GetResult = FibonacciGetResult;
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci";
        const TYPE_HASH: &'static str = "RIHS01_9508051da1ea4658de144b09bd0690ff3de52104683d847aed764d2915906f51";
        fn send_goal_request(
            goal_id: [u8; 16],
            goal: Self::Goal,
        ) -> FibonacciSendGoalRequest {
            FibonacciSendGoalRequest {
                goal_id: crate::unique_identifier_msgs::msg::UUID {
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
            stamp: crate::builtin_interfaces::msg::Time,
        ) -> FibonacciSendGoalResponse {
            FibonacciSendGoalResponse {
                accepted,
                stamp,
            }
        }
        fn open_send_goal_response(
            response: FibonacciSendGoalResponse,
        ) -> (bool, crate::builtin_interfaces::msg::Time) {
            (response.accepted, response.stamp)
        }
        fn get_result_request(goal_id: [u8; 16]) -> FibonacciGetResultRequest {
            FibonacciGetResultRequest {
                goal_id: crate::unique_identifier_msgs::msg::UUID {
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
                goal_id: crate::unique_identifier_msgs::msg::UUID {
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

    /// The service `example_interfaces/action/Fibonacci_SendGoal`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FibonacciSendGoal;

    impl crate::RosService for FibonacciSendGoal {
        type Request = FibonacciSendGoalRequest;
        type Response = FibonacciSendGoalResponse;
        type Event = FibonacciSendGoalEvent;
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_SendGoal";
        const TYPE_HASH: &'static str = "RIHS01_d1a57fb2a4afe8c21e34fb10db206f16ce6729b28531141472df92277c55b557";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
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

    /// The service `example_interfaces/action/Fibonacci_GetResult`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FibonacciGetResult;

    impl crate::RosService for FibonacciGetResult {
        type Request = FibonacciGetResultRequest;
        type Response = FibonacciGetResultResponse;
        type Event = FibonacciGetResultEvent;
        const ROS_NAME: &'static str = "example_interfaces/action/Fibonacci_GetResult";
        const TYPE_HASH: &'static str = "RIHS01_1b0de0d5d29dc955d92f546706568428632771db13ec84c15ec1c1a59f424a57";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
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
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Bool>(),
    crate::RosTypeEntry::of::<msg::Byte>(),
    crate::RosTypeEntry::of::<msg::ByteMultiArray>(),
    crate::RosTypeEntry::of::<msg::Char>(),
    crate::RosTypeEntry::of::<msg::Empty>(),
    crate::RosTypeEntry::of::<msg::Float32>(),
    crate::RosTypeEntry::of::<msg::Float32MultiArray>(),
    crate::RosTypeEntry::of::<msg::Float64>(),
    crate::RosTypeEntry::of::<msg::Float64MultiArray>(),
    crate::RosTypeEntry::of::<msg::Int16>(),
    crate::RosTypeEntry::of::<msg::Int16MultiArray>(),
    crate::RosTypeEntry::of::<msg::Int32>(),
    crate::RosTypeEntry::of::<msg::Int32MultiArray>(),
    crate::RosTypeEntry::of::<msg::Int64>(),
    crate::RosTypeEntry::of::<msg::Int64MultiArray>(),
    crate::RosTypeEntry::of::<msg::Int8>(),
    crate::RosTypeEntry::of::<msg::Int8MultiArray>(),
    crate::RosTypeEntry::of::<msg::MultiArrayDimension>(),
    crate::RosTypeEntry::of::<msg::MultiArrayLayout>(),
    crate::RosTypeEntry::of::<msg::String>(),
    crate::RosTypeEntry::of::<msg::UInt16>(),
    crate::RosTypeEntry::of::<msg::UInt16MultiArray>(),
    crate::RosTypeEntry::of::<msg::UInt32>(),
    crate::RosTypeEntry::of::<msg::UInt32MultiArray>(),
    crate::RosTypeEntry::of::<msg::UInt64>(),
    crate::RosTypeEntry::of::<msg::UInt64MultiArray>(),
    crate::RosTypeEntry::of::<msg::UInt8>(),
    crate::RosTypeEntry::of::<msg::UInt8MultiArray>(),
    crate::RosTypeEntry::of::<msg::WString>(),
    crate::RosTypeEntry::of::<srv::AddTwoIntsRequest>(),
    crate::RosTypeEntry::of::<srv::AddTwoIntsResponse>(),
    crate::RosTypeEntry::of::<srv::AddTwoIntsEvent>(),
    crate::RosTypeEntry::of::<srv::SetBoolRequest>(),
    crate::RosTypeEntry::of::<srv::SetBoolResponse>(),
    crate::RosTypeEntry::of::<srv::SetBoolEvent>(),
    crate::RosTypeEntry::of::<srv::TriggerRequest>(),
    crate::RosTypeEntry::of::<srv::TriggerResponse>(),
    crate::RosTypeEntry::of::<srv::TriggerEvent>(),
    crate::RosTypeEntry::of::<action::FibonacciGoal>(),
    crate::RosTypeEntry::of::<action::FibonacciResult>(),
    crate::RosTypeEntry::of::<action::FibonacciFeedback>(),
    crate::RosTypeEntry::of::<action::FibonacciSendGoalRequest>(),
    crate::RosTypeEntry::of::<action::FibonacciSendGoalResponse>(),
    crate::RosTypeEntry::of::<action::FibonacciSendGoalEvent>(),
    crate::RosTypeEntry::of::<action::FibonacciGetResultRequest>(),
    crate::RosTypeEntry::of::<action::FibonacciGetResultResponse>(),
    crate::RosTypeEntry::of::<action::FibonacciGetResultEvent>(),
    crate::RosTypeEntry::of::<action::FibonacciFeedbackMessage>(),
];
