// Written by `tests/messages/committed.rs` from the interface files of `std_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `std_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Bool_")]
    pub struct Bool {
        pub data: bool,
    }

    impl crate::RosMessage for Bool {
        const ROS_NAME: &'static str = "std_msgs/msg/Bool";
        const TYPE_HASH: &'static str = "RIHS01_feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Byte_")]
    pub struct Byte {
        #[dds(octet)]
        pub data: u8,
    }

    impl crate::RosMessage for Byte {
        const ROS_NAME: &'static str = "std_msgs/msg/Byte";
        const TYPE_HASH: &'static str = "RIHS01_41e1a3345f73fe93ede006da826a6ee274af23dd4653976ff249b0f44e3e798f";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::ByteMultiArray_")]
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
        const ROS_NAME: &'static str = "std_msgs/msg/ByteMultiArray";
        const TYPE_HASH: &'static str = "RIHS01_972fec7f50ab3c1d06783c228e79e8a9a509021708c511c059926261ada901d4";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Char_")]
    pub struct Char {
        pub data: u8,
    }

    impl crate::RosMessage for Char {
        const ROS_NAME: &'static str = "std_msgs/msg/Char";
        const TYPE_HASH: &'static str = "RIHS01_3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9";
    }

    /// `std_msgs/msg/ColorRGBA`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::ColorRGBA_")]
    pub struct ColorRGBA {
        pub r: f32,
        pub g: f32,
        pub b: f32,
        pub a: f32,
    }

    impl crate::RosMessage for ColorRGBA {
        const ROS_NAME: &'static str = "std_msgs/msg/ColorRGBA";
        const TYPE_HASH: &'static str = "RIHS01_77a7a5b9ae477306097665106e0413ba74440245b1f3d0c6d6405fe5c7813fe8";
    }

    /// `std_msgs/msg/Empty`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Empty_")]
    pub struct Empty {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for Empty {
        const ROS_NAME: &'static str = "std_msgs/msg/Empty";
        const TYPE_HASH: &'static str = "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Float32_")]
    pub struct Float32 {
        pub data: f32,
    }

    impl crate::RosMessage for Float32 {
        const ROS_NAME: &'static str = "std_msgs/msg/Float32";
        const TYPE_HASH: &'static str = "RIHS01_7170d3d8f841f7be3172ce5f4f59f3a4d7f63b0447e8b33327601ad64d83d6e2";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Float32MultiArray_")]
    pub struct Float32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<f32>,
    }

    impl crate::RosMessage for Float32MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Float32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_0599f6f85b4bfca379873a0b4375a0aca022156bd2d7021275d116ed1fa8bfe0";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Float64_")]
    pub struct Float64 {
        pub data: f64,
    }

    impl crate::RosMessage for Float64 {
        const ROS_NAME: &'static str = "std_msgs/msg/Float64";
        const TYPE_HASH: &'static str = "RIHS01_705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Float64MultiArray_")]
    pub struct Float64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<f64>,
    }

    impl crate::RosMessage for Float64MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Float64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f";
    }

    /// Standard metadata for higher-level stamped data types.
    /// This is generally used to communicate timestamped data
    /// in a particular coordinate frame.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Header_")]
    pub struct Header {
        /// Two-integer timestamp that is expressed as seconds and nanoseconds.
        pub stamp: crate::builtin_interfaces::msg::Time,
        /// Transform frame with which this data is associated.
        pub frame_id: ::std::string::String,
    }

    impl crate::RosMessage for Header {
        const ROS_NAME: &'static str = "std_msgs/msg/Header";
        const TYPE_HASH: &'static str = "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int16_")]
    pub struct Int16 {
        pub data: i16,
    }

    impl crate::RosMessage for Int16 {
        const ROS_NAME: &'static str = "std_msgs/msg/Int16";
        const TYPE_HASH: &'static str = "RIHS01_1dcc3464e47c288a55f943a389d337cdb06804de3f5cd7a266b0de718eee17e5";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int16MultiArray_")]
    pub struct Int16MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i16>,
    }

    impl crate::RosMessage for Int16MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Int16MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_b58810e8e5b90fb19a5062469eb8409f5ab11a446d60de7157a1457e52a076ce";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int32_")]
    pub struct Int32 {
        pub data: i32,
    }

    impl crate::RosMessage for Int32 {
        const ROS_NAME: &'static str = "std_msgs/msg/Int32";
        const TYPE_HASH: &'static str = "RIHS01_b6578ded3c58c626cfe8d1a6fb6e04f706f97e9f03d2727c9ff4e74b1cef0deb";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int32MultiArray_")]
    pub struct Int32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i32>,
    }

    impl crate::RosMessage for Int32MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Int32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_84a7346323525d1b4dfca899df3820f245e54009dac5a6b69217d14fdefd1701";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int64_")]
    pub struct Int64 {
        pub data: i64,
    }

    impl crate::RosMessage for Int64 {
        const ROS_NAME: &'static str = "std_msgs/msg/Int64";
        const TYPE_HASH: &'static str = "RIHS01_8cd1048c2f186b6bd9a92472dc1ce51723c0833a221e2b7aecfff111774f4b49";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int64MultiArray_")]
    pub struct Int64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i64>,
    }

    impl crate::RosMessage for Int64MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Int64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_e60f9fe34d697f0939ad49d33158693c1277fbac0e2f04b7c2995dc21c89b422";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int8_")]
    pub struct Int8 {
        pub data: i8,
    }

    impl crate::RosMessage for Int8 {
        const ROS_NAME: &'static str = "std_msgs/msg/Int8";
        const TYPE_HASH: &'static str = "RIHS01_26525065a403d972cb672f0777e333f0c799ad444ae5fcd79e43d1e73bd0f440";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::Int8MultiArray_")]
    pub struct Int8MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<i8>,
    }

    impl crate::RosMessage for Int8MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/Int8MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_f21998d4b492abd63330765d75d5831238d400740386f651f13a872a4d2188db";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::MultiArrayDimension_")]
    pub struct MultiArrayDimension {
        /// label of given dimension
        pub label: ::std::string::String,
        /// size of given dimension (in type units)
        pub size: u32,
        /// stride of given dimension
        pub stride: u32,
    }

    impl crate::RosMessage for MultiArrayDimension {
        const ROS_NAME: &'static str = "std_msgs/msg/MultiArrayDimension";
        const TYPE_HASH: &'static str = "RIHS01_5e773a60a4c7fc8a54985f307c7837aa2994252a126c301957a24e31282c9cbe";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::MultiArrayLayout_")]
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
        const ROS_NAME: &'static str = "std_msgs/msg/MultiArrayLayout";
        const TYPE_HASH: &'static str = "RIHS01_4c66e6f78e740ac103a94cf63259f968e48c617e7699e829b63c21a5cb50dac6";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::String_")]
    pub struct String {
        pub data: ::std::string::String,
    }

    impl crate::RosMessage for String {
        const ROS_NAME: &'static str = "std_msgs/msg/String";
        const TYPE_HASH: &'static str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt16_")]
    pub struct UInt16 {
        pub data: u16,
    }

    impl crate::RosMessage for UInt16 {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt16";
        const TYPE_HASH: &'static str = "RIHS01_08a406e4b022bc22e907f985d6a9e9dd1d4fbecae573549cf49350113e7757b1";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt16MultiArray_")]
    pub struct UInt16MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u16>,
    }

    impl crate::RosMessage for UInt16MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt16MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_94fe73428ec63baecc774f8fb82406123e9291cf728f1b7c91caf5335129492b";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt32_")]
    pub struct UInt32 {
        pub data: u32,
    }

    impl crate::RosMessage for UInt32 {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt32";
        const TYPE_HASH: &'static str = "RIHS01_a5c874829b752bc5fa190024b0ad76f578cc278271e855c7d02a818b3516fb4a";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt32MultiArray_")]
    pub struct UInt32MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u32>,
    }

    impl crate::RosMessage for UInt32MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt32MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_6c2577c7ad3cbdcc2164a41c12f1d5ad314ea320f3fb1ee47e78019fe16bb5b0";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt64_")]
    pub struct UInt64 {
        pub data: u64,
    }

    impl crate::RosMessage for UInt64 {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt64";
        const TYPE_HASH: &'static str = "RIHS01_fbdc52018fc13755dce18024d1a671c856aa8b4aaf63adfb095b608f98e8c943";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt64MultiArray_")]
    pub struct UInt64MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u64>,
    }

    impl crate::RosMessage for UInt64MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt64MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_fc1c685c2f76bdc6983da025cb25d2db5fb5157b059e300f6d957d86f981b366";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt8_")]
    pub struct UInt8 {
        pub data: u8,
    }

    impl crate::RosMessage for UInt8 {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt8";
        const TYPE_HASH: &'static str = "RIHS01_6138bd83d8c3569cb80a667db03cfc1629f529fee79d944c39c34e352e72f010";
    }

    /// This was originally provided as an example message.
    /// It is deprecated as of Foxy
    /// It is recommended to create your own semantically meaningful message.
    /// However if you would like to continue using this please use the equivalent in example_msgs.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "std_msgs::msg::dds_::UInt8MultiArray_")]
    pub struct UInt8MultiArray {
        /// Please look at the MultiArrayLayout message definition for
        /// documentation on all multiarrays.
        /// specification of data layout
        pub layout: MultiArrayLayout,
        /// array of data
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for UInt8MultiArray {
        const ROS_NAME: &'static str = "std_msgs/msg/UInt8MultiArray";
        const TYPE_HASH: &'static str = "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Bool>(),
    crate::RosTypeEntry::of::<msg::Byte>(),
    crate::RosTypeEntry::of::<msg::ByteMultiArray>(),
    crate::RosTypeEntry::of::<msg::Char>(),
    crate::RosTypeEntry::of::<msg::ColorRGBA>(),
    crate::RosTypeEntry::of::<msg::Empty>(),
    crate::RosTypeEntry::of::<msg::Float32>(),
    crate::RosTypeEntry::of::<msg::Float32MultiArray>(),
    crate::RosTypeEntry::of::<msg::Float64>(),
    crate::RosTypeEntry::of::<msg::Float64MultiArray>(),
    crate::RosTypeEntry::of::<msg::Header>(),
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
];
