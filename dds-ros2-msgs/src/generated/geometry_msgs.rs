// Written by `tests/messages/committed.rs` from the interface files of `geometry_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `geometry_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// This expresses acceleration in free space broken into its linear and angular parts.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Accel_")]
    pub struct Accel {
        pub linear: Vector3,
        pub angular: Vector3,
    }

    impl crate::RosMessage for Accel {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Accel";
        const TYPE_HASH: &'static str = "RIHS01_dc448243ded9b1fcbcca24aba0c22f013dae06c354ba2d849571c0a2a3f57ca0";
    }

    /// An accel with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::AccelStamped_")]
    pub struct AccelStamped {
        pub header: crate::std_msgs::msg::Header,
        pub accel: Accel,
    }

    impl crate::RosMessage for AccelStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/AccelStamped";
        const TYPE_HASH: &'static str = "RIHS01_ef1df9eabae0a708cc049a061ebcddc4e2a5f745730100ba680e086a9698b165";
    }

    /// This expresses acceleration in free space with uncertainty.
    #[derive(Debug, Clone, PartialEq, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::AccelWithCovariance_"
    )]
    pub struct AccelWithCovariance {
        pub accel: Accel,
        /// Row-major representation of the 6x6 covariance matrix
        /// The orientation parameters use a fixed-axis representation.
        /// In order, the parameters are:
        /// (x, y, z, rotation about X axis, rotation about Y axis, rotation about Z axis)
        pub covariance: [f64; 36],
    }

    impl ::core::default::Default for AccelWithCovariance {
        fn default() -> Self {
            Self {
                accel: ::core::default::Default::default(),
                covariance: [0.0; 36],
            }
        }
    }

    impl crate::RosMessage for AccelWithCovariance {
        const ROS_NAME: &'static str = "geometry_msgs/msg/AccelWithCovariance";
        const TYPE_HASH: &'static str = "RIHS01_230d51bd53bc36f260574e73b42941cefe44684753480b6fc330c032c5db5997";
    }

    /// This represents an estimated accel with reference coordinate frame and timestamp.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::AccelWithCovarianceStamped_"
    )]
    pub struct AccelWithCovarianceStamped {
        pub header: crate::std_msgs::msg::Header,
        pub accel: AccelWithCovariance,
    }

    impl crate::RosMessage for AccelWithCovarianceStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/AccelWithCovarianceStamped";
        const TYPE_HASH: &'static str = "RIHS01_61c9ad8928e71dd95ce791b2f02809ee2a0bbcc42cd0e4047fd00a822a08e444";
    }

    /// Mass
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Inertia_")]
    pub struct Inertia {
        pub m: f64,
        /// Center of mass
        ///
        /// Unit: `m`
        pub com: Vector3,
        /// Inertia Tensor
        /// | ixx ixy ixz |
        /// I = | ixy iyy iyz |
        /// | ixz iyz izz |
        ///
        /// Unit: `kg-m^2`
        pub ixx: f64,
        pub ixy: f64,
        pub ixz: f64,
        pub iyy: f64,
        pub iyz: f64,
        pub izz: f64,
    }

    impl crate::RosMessage for Inertia {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Inertia";
        const TYPE_HASH: &'static str = "RIHS01_2ddd5dab5c347825ba2e56c895ddccfd0b8efe53ae931bf67f905529930b4bd7";
    }

    /// An Inertia with a time stamp and reference frame.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::InertiaStamped_")]
    pub struct InertiaStamped {
        pub header: crate::std_msgs::msg::Header,
        pub inertia: Inertia,
    }

    impl crate::RosMessage for InertiaStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/InertiaStamped";
        const TYPE_HASH: &'static str = "RIHS01_766be45976252babf7f9d8ac4ae7c912a7ceccf71035622529f27518b695aa09";
    }

    /// This contains the position of a point in free space
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Point_")]
    pub struct Point {
        pub x: f64,
        pub y: f64,
        pub z: f64,
    }

    impl crate::RosMessage for Point {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Point";
        const TYPE_HASH: &'static str = "RIHS01_6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881";
    }

    /// This contains the position of a point in free space(with 32 bits of precision).
    /// It is recommended to use Point wherever possible instead of Point32.
    ///
    /// This recommendation is to promote interoperability.
    ///
    /// This message is designed to take up less space when sending
    /// lots of points at once, as in the case of a PointCloud.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Point32_")]
    pub struct Point32 {
        pub x: f32,
        pub y: f32,
        pub z: f32,
    }

    impl crate::RosMessage for Point32 {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Point32";
        const TYPE_HASH: &'static str = "RIHS01_2fc4db7cae16a4582c79a56b66173a8d48d52c7dc520ddc55a0d4bcf2a4bfdbc";
    }

    /// This represents a Point with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::PointStamped_")]
    pub struct PointStamped {
        pub header: crate::std_msgs::msg::Header,
        pub point: Point,
    }

    impl crate::RosMessage for PointStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PointStamped";
        const TYPE_HASH: &'static str = "RIHS01_4c0296af86e01e562e9e0405d138a01537247580076c58ea38d7923ac1045897";
    }

    /// A specification of a polygon where the first and last points are assumed to be connected
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Polygon_")]
    pub struct Polygon {
        pub points: ::std::vec::Vec<Point32>,
    }

    impl crate::RosMessage for Polygon {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Polygon";
        const TYPE_HASH: &'static str = "RIHS01_3782f9f0bf044964d692d6c017d705e37611afb1f0bf6a9dee248a7dda0f784a";
    }

    /// A specification of a polygon where the first and last points are assumed to be connected
    /// It includes a unique identification field for disambiguating multiple instances
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::PolygonInstance_")]
    pub struct PolygonInstance {
        pub polygon: Polygon,
        pub id: i64,
    }

    impl crate::RosMessage for PolygonInstance {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PolygonInstance";
        const TYPE_HASH: &'static str = "RIHS01_fa1cb3dc774329865258afef74f65b0553d487510c6d0f93ba38cc32d62ac0e5";
    }

    /// This represents a Polygon with reference coordinate frame and timestamp
    /// It includes a unique identification field for disambiguating multiple instances
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::PolygonInstanceStamped_"
    )]
    pub struct PolygonInstanceStamped {
        pub header: crate::std_msgs::msg::Header,
        pub polygon: PolygonInstance,
    }

    impl crate::RosMessage for PolygonInstanceStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PolygonInstanceStamped";
        const TYPE_HASH: &'static str = "RIHS01_802f37ea4398d7ce547936aab1fd278923716a13c63373887cd896957434ce2f";
    }

    /// This represents a Polygon with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::PolygonStamped_")]
    pub struct PolygonStamped {
        pub header: crate::std_msgs::msg::Header,
        pub polygon: Polygon,
    }

    impl crate::RosMessage for PolygonStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PolygonStamped";
        const TYPE_HASH: &'static str = "RIHS01_b7cf07932f1523d4b4088075945c1a0141f7cd21da87cc940fc61652e9138b46";
    }

    /// A representation of pose in free space, composed of position and orientation.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Pose_")]
    pub struct Pose {
        pub position: Point,
        pub orientation: Quaternion,
    }

    impl crate::RosMessage for Pose {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Pose";
        const TYPE_HASH: &'static str = "RIHS01_d501954e9476cea2996984e812054b68026ae0bfae789d9a10b23daf35cc90fa";
    }

    /// Deprecated as of Foxy and will potentially be removed in any following release.
    /// Please use the full 3D pose.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Pose2D_")]
    pub struct Pose2D {
        /// In general our recommendation is to use a full 3D representation of everything and for 2D specific applications make the appropriate projections into the plane for their calculations but optimally will preserve the 3D information during processing.
        /// If we have parallel copies of 2D datatypes every UI and other pipeline will end up needing to have dual interfaces to plot everything. And you will end up with not being able to use 3D tools for 2D use cases even if they're completely valid, as you'd have to reimplement it with different inputs and outputs. It's not particularly hard to plot the 2D pose or compute the yaw error for the Pose message and there are already tools and libraries that can do this for you.# This expresses a position and orientation on a 2D manifold.
        pub x: f64,
        pub y: f64,
        pub theta: f64,
    }

    impl crate::RosMessage for Pose2D {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Pose2D";
        const TYPE_HASH: &'static str = "RIHS01_d68efa5b46e70f7b16ca23085474fdac5a44b638783ec42f661da64da4724ccc";
    }

    /// An array of poses with a header for global reference.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::PoseArray_")]
    pub struct PoseArray {
        pub header: crate::std_msgs::msg::Header,
        pub poses: ::std::vec::Vec<Pose>,
    }

    impl crate::RosMessage for PoseArray {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PoseArray";
        const TYPE_HASH: &'static str = "RIHS01_af0cc36d190e104d546d168d6b39df04fa4b4ccecf59cb4c9ed328d3d5004aa0";
    }

    /// A Pose with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::PoseStamped_")]
    pub struct PoseStamped {
        pub header: crate::std_msgs::msg::Header,
        pub pose: Pose,
    }

    impl crate::RosMessage for PoseStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PoseStamped";
        const TYPE_HASH: &'static str = "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8";
    }

    /// This represents a pose in free space with uncertainty.
    #[derive(Debug, Clone, PartialEq, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::PoseWithCovariance_"
    )]
    pub struct PoseWithCovariance {
        pub pose: Pose,
        /// Row-major representation of the 6x6 covariance matrix
        /// The orientation parameters use a fixed-axis representation.
        /// In order, the parameters are:
        /// (x, y, z, rotation about X axis, rotation about Y axis, rotation about Z axis)
        pub covariance: [f64; 36],
    }

    impl ::core::default::Default for PoseWithCovariance {
        fn default() -> Self {
            Self {
                pose: ::core::default::Default::default(),
                covariance: [0.0; 36],
            }
        }
    }

    impl crate::RosMessage for PoseWithCovariance {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PoseWithCovariance";
        const TYPE_HASH: &'static str = "RIHS01_9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb";
    }

    /// This expresses an estimated pose with a reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::PoseWithCovarianceStamped_"
    )]
    pub struct PoseWithCovarianceStamped {
        pub header: crate::std_msgs::msg::Header,
        pub pose: PoseWithCovariance,
    }

    impl crate::RosMessage for PoseWithCovarianceStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/PoseWithCovarianceStamped";
        const TYPE_HASH: &'static str = "RIHS01_26432f9803e43727d3c8f668d1fdb3c630f548af631e2f4e31382371bfea3b6e";
    }

    /// This represents an orientation in free space in quaternion form.
    #[derive(Debug, Clone, PartialEq, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Quaternion_")]
    pub struct Quaternion {
        pub x: f64,
        pub y: f64,
        pub z: f64,
        pub w: f64,
    }

    impl ::core::default::Default for Quaternion {
        fn default() -> Self {
            Self {
                x: 0.0,
                y: 0.0,
                z: 0.0,
                w: 1.0,
            }
        }
    }

    impl crate::RosMessage for Quaternion {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Quaternion";
        const TYPE_HASH: &'static str = "RIHS01_8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684";
    }

    /// This represents an orientation with reference coordinate frame and timestamp.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::QuaternionStamped_"
    )]
    pub struct QuaternionStamped {
        pub header: crate::std_msgs::msg::Header,
        pub quaternion: Quaternion,
    }

    impl crate::RosMessage for QuaternionStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/QuaternionStamped";
        const TYPE_HASH: &'static str = "RIHS01_381add86c6c3160644d228ca342182c7fd6c7fab11c7a85ad817a9cc22dbac6e";
    }

    /// This represents the transform between two coordinate frames in free space.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Transform_")]
    pub struct Transform {
        pub translation: Vector3,
        pub rotation: Quaternion,
    }

    impl crate::RosMessage for Transform {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Transform";
        const TYPE_HASH: &'static str = "RIHS01_beb83fbe698636351461f6f35d1abb20010c43d55374d81bd041f1ba2581fddc";
    }

    /// This expresses a transform from coordinate frame header.frame_id
    /// to the coordinate frame child_frame_id at the time of header.stamp
    ///
    /// This message is mostly used by the
    /// \<a href="https://docs.ros.org/en/rolling/p/tf2/"\>tf2\</a\> package.
    /// See its documentation for more information.
    ///
    /// The child_frame_id is necessary in addition to the frame_id
    /// in the Header to communicate the full reference for the transform
    /// in a self contained message.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::TransformStamped_")]
    pub struct TransformStamped {
        /// The frame id in the header is used as the reference frame of this transform.
        pub header: crate::std_msgs::msg::Header,
        /// The frame id of the child frame to which this transform points.
        pub child_frame_id: ::std::string::String,
        /// Translation and rotation in 3-dimensions of child_frame_id from header.frame_id.
        pub transform: Transform,
    }

    impl crate::RosMessage for TransformStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/TransformStamped";
        const TYPE_HASH: &'static str = "RIHS01_0a241f87d04668d94099cbb5ba11691d5ad32c2f29682e4eb5653424bd275206";
    }

    /// This expresses velocity in free space broken into its linear and angular parts.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Twist_")]
    pub struct Twist {
        pub linear: Vector3,
        pub angular: Vector3,
    }

    impl crate::RosMessage for Twist {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Twist";
        const TYPE_HASH: &'static str = "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a";
    }

    /// A twist with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::TwistStamped_")]
    pub struct TwistStamped {
        pub header: crate::std_msgs::msg::Header,
        pub twist: Twist,
    }

    impl crate::RosMessage for TwistStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/TwistStamped";
        const TYPE_HASH: &'static str = "RIHS01_5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64";
    }

    /// This expresses velocity in free space with uncertainty.
    #[derive(Debug, Clone, PartialEq, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::TwistWithCovariance_"
    )]
    pub struct TwistWithCovariance {
        pub twist: Twist,
        /// Row-major representation of the 6x6 covariance matrix
        /// The orientation parameters use a fixed-axis representation.
        /// In order, the parameters are:
        /// (x, y, z, rotation about X axis, rotation about Y axis, rotation about Z axis)
        pub covariance: [f64; 36],
    }

    impl ::core::default::Default for TwistWithCovariance {
        fn default() -> Self {
            Self {
                twist: ::core::default::Default::default(),
                covariance: [0.0; 36],
            }
        }
    }

    impl crate::RosMessage for TwistWithCovariance {
        const ROS_NAME: &'static str = "geometry_msgs/msg/TwistWithCovariance";
        const TYPE_HASH: &'static str = "RIHS01_49f574f033f095d8b6cd1beaca5ca7925e296e84af1716d16c89d38b059c8c18";
    }

    /// This represents an estimated twist with reference coordinate frame and timestamp.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "geometry_msgs::msg::dds_::TwistWithCovarianceStamped_"
    )]
    pub struct TwistWithCovarianceStamped {
        pub header: crate::std_msgs::msg::Header,
        pub twist: TwistWithCovariance,
    }

    impl crate::RosMessage for TwistWithCovarianceStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/TwistWithCovarianceStamped";
        const TYPE_HASH: &'static str = "RIHS01_77b67434531e6529b7a0091357b186b6ebdb17fd9ffd3e0c7ce9d3fb11a44563";
    }

    /// This represents a vector in free space.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Vector3_")]
    pub struct Vector3 {
        /// This is semantically different than a point.
        /// A vector is always anchored at the origin.
        /// When a transform is applied to a vector, only the rotational component is applied.
        pub x: f64,
        pub y: f64,
        pub z: f64,
    }

    impl crate::RosMessage for Vector3 {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Vector3";
        const TYPE_HASH: &'static str = "RIHS01_cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d";
    }

    /// This represents a Vector3 with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Vector3Stamped_")]
    pub struct Vector3Stamped {
        /// Note that this follows vector semantics with it always anchored at the origin,
        /// so the rotational elements of a transform are the only parts applied when transforming.
        pub header: crate::std_msgs::msg::Header,
        pub vector: Vector3,
    }

    impl crate::RosMessage for Vector3Stamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Vector3Stamped";
        const TYPE_HASH: &'static str = "RIHS01_d4829622288cbb443886e7ea94ea5671a3b1be6bab4ad04224432a65f7d7887a";
    }

    /// This expresses the timestamped velocity vector of a frame 'body_frame_id' in the reference frame 'reference_frame_id' expressed from arbitrary observation frame 'header.frame_id'.
    /// - If the 'body_frame_id' and 'header.frame_id' are identical, the velocity is observed and defined in the local coordinates system of the body
    /// which is the usual use-case in mobile robotics and is also known as a body twist.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::VelocityStamped_")]
    pub struct VelocityStamped {
        pub header: crate::std_msgs::msg::Header,
        pub body_frame_id: ::std::string::String,
        pub reference_frame_id: ::std::string::String,
        pub velocity: Twist,
    }

    impl crate::RosMessage for VelocityStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/VelocityStamped";
        const TYPE_HASH: &'static str = "RIHS01_55e7196186c8dbe4375278d7f1ac050dd8c9bacade1cf3eef8460fa667bd2457";
    }

    /// This represents force in free space, separated into its linear and angular parts.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::Wrench_")]
    pub struct Wrench {
        pub force: Vector3,
        pub torque: Vector3,
    }

    impl crate::RosMessage for Wrench {
        const ROS_NAME: &'static str = "geometry_msgs/msg/Wrench";
        const TYPE_HASH: &'static str = "RIHS01_018e8519d57c16adbe97c9fe1460ef21fec7e31bc541de3d653a35895677ce52";
    }

    /// A wrench with reference coordinate frame and timestamp
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "geometry_msgs::msg::dds_::WrenchStamped_")]
    pub struct WrenchStamped {
        pub header: crate::std_msgs::msg::Header,
        pub wrench: Wrench,
    }

    impl crate::RosMessage for WrenchStamped {
        const ROS_NAME: &'static str = "geometry_msgs/msg/WrenchStamped";
        const TYPE_HASH: &'static str = "RIHS01_8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Accel>(),
    crate::RosTypeEntry::of::<msg::AccelStamped>(),
    crate::RosTypeEntry::of::<msg::AccelWithCovariance>(),
    crate::RosTypeEntry::of::<msg::AccelWithCovarianceStamped>(),
    crate::RosTypeEntry::of::<msg::Inertia>(),
    crate::RosTypeEntry::of::<msg::InertiaStamped>(),
    crate::RosTypeEntry::of::<msg::Point>(),
    crate::RosTypeEntry::of::<msg::Point32>(),
    crate::RosTypeEntry::of::<msg::PointStamped>(),
    crate::RosTypeEntry::of::<msg::Polygon>(),
    crate::RosTypeEntry::of::<msg::PolygonInstance>(),
    crate::RosTypeEntry::of::<msg::PolygonInstanceStamped>(),
    crate::RosTypeEntry::of::<msg::PolygonStamped>(),
    crate::RosTypeEntry::of::<msg::Pose>(),
    crate::RosTypeEntry::of::<msg::Pose2D>(),
    crate::RosTypeEntry::of::<msg::PoseArray>(),
    crate::RosTypeEntry::of::<msg::PoseStamped>(),
    crate::RosTypeEntry::of::<msg::PoseWithCovariance>(),
    crate::RosTypeEntry::of::<msg::PoseWithCovarianceStamped>(),
    crate::RosTypeEntry::of::<msg::Quaternion>(),
    crate::RosTypeEntry::of::<msg::QuaternionStamped>(),
    crate::RosTypeEntry::of::<msg::Transform>(),
    crate::RosTypeEntry::of::<msg::TransformStamped>(),
    crate::RosTypeEntry::of::<msg::Twist>(),
    crate::RosTypeEntry::of::<msg::TwistStamped>(),
    crate::RosTypeEntry::of::<msg::TwistWithCovariance>(),
    crate::RosTypeEntry::of::<msg::TwistWithCovarianceStamped>(),
    crate::RosTypeEntry::of::<msg::Vector3>(),
    crate::RosTypeEntry::of::<msg::Vector3Stamped>(),
    crate::RosTypeEntry::of::<msg::VelocityStamped>(),
    crate::RosTypeEntry::of::<msg::Wrench>(),
    crate::RosTypeEntry::of::<msg::WrenchStamped>(),
];
