// Written by `tests/messages/committed.rs` from the interface files of `trajectory_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `trajectory_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// The header is used to specify the coordinate frame and the reference time for
    /// the trajectory durations
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "trajectory_msgs::msg::dds_::JointTrajectory_"
    )]
    pub struct JointTrajectory {
        pub header: crate::std_msgs::msg::Header,
        /// The names of the active joints in each trajectory point. These names are
        /// ordered and must correspond to the values in each trajectory point.
        pub joint_names: ::std::vec::Vec<::std::string::String>,
        /// Array of trajectory points, which describe the positions, velocities,
        /// accelerations and/or efforts of the joints at each time point.
        pub points: ::std::vec::Vec<JointTrajectoryPoint>,
    }

    impl crate::RosMessage for JointTrajectory {
        const ROS_NAME: &'static str = "trajectory_msgs/msg/JointTrajectory";
        const TYPE_HASH: &'static str = "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e";
    }

    /// Each trajectory point specifies either positions\[, velocities\[, accelerations\]\]
    /// or positions\[, effort\] for the trajectory to be executed.
    /// All specified values are in the same order as the joint names in JointTrajectory.msg.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "trajectory_msgs::msg::dds_::JointTrajectoryPoint_"
    )]
    pub struct JointTrajectoryPoint {
        /// Single DOF joint positions for each joint relative to their "0" position.
        /// The units depend on the specific joint type: radians for revolute or
        /// continuous joints, and meters for prismatic joints.
        pub positions: ::std::vec::Vec<f64>,
        /// The rate of change in position of each joint. Units are joint type dependent.
        /// Radians/second for revolute or continuous joints, and meters/second for
        /// prismatic joints.
        pub velocities: ::std::vec::Vec<f64>,
        /// Rate of change in velocity of each joint. Units are joint type dependent.
        /// Radians/second^2 for revolute or continuous joints, and meters/second^2 for
        /// prismatic joints.
        pub accelerations: ::std::vec::Vec<f64>,
        /// The torque or the force to be applied at each joint. For revolute/continuous
        /// joints effort denotes a torque in newton-meters. For prismatic joints, effort
        /// denotes a force in newtons.
        pub effort: ::std::vec::Vec<f64>,
        /// Desired time from the trajectory start to arrive at this trajectory point.
        pub time_from_start: crate::builtin_interfaces::msg::Duration,
    }

    impl crate::RosMessage for JointTrajectoryPoint {
        const ROS_NAME: &'static str = "trajectory_msgs/msg/JointTrajectoryPoint";
        const TYPE_HASH: &'static str = "RIHS01_de8907036d8bd45aac6f30cc9044a3d4a329c42cbf719aff7d95a584cfa532d7";
    }

    /// The header is used to specify the coordinate frame and the reference time for the trajectory durations
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "trajectory_msgs::msg::dds_::MultiDOFJointTrajectory_"
    )]
    pub struct MultiDOFJointTrajectory {
        pub header: crate::std_msgs::msg::Header,
        /// A representation of a multi-dof joint trajectory (each point is a transformation)
        /// Each point along the trajectory will include an array of positions/velocities/accelerations
        /// that has the same length as the array of joint names, and has the same order of joints as
        /// the joint names array.
        pub joint_names: ::std::vec::Vec<::std::string::String>,
        pub points: ::std::vec::Vec<MultiDOFJointTrajectoryPoint>,
    }

    impl crate::RosMessage for MultiDOFJointTrajectory {
        const ROS_NAME: &'static str = "trajectory_msgs/msg/MultiDOFJointTrajectory";
        const TYPE_HASH: &'static str = "RIHS01_3a18fd095292a65cfde8833c72985a30af981f3ec44494655c6267262b443a4a";
    }

    /// Each multi-dof joint can specify a transform (up to 6 DOF).
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "trajectory_msgs::msg::dds_::MultiDOFJointTrajectoryPoint_"
    )]
    pub struct MultiDOFJointTrajectoryPoint {
        pub transforms: ::std::vec::Vec<crate::geometry_msgs::msg::Transform>,
        /// There can be a velocity specified for the origin of the joint.
        pub velocities: ::std::vec::Vec<crate::geometry_msgs::msg::Twist>,
        /// There can be an acceleration specified for the origin of the joint.
        pub accelerations: ::std::vec::Vec<crate::geometry_msgs::msg::Twist>,
        /// Desired time from the trajectory start to arrive at this trajectory point.
        pub time_from_start: crate::builtin_interfaces::msg::Duration,
    }

    impl crate::RosMessage for MultiDOFJointTrajectoryPoint {
        const ROS_NAME: &'static str = "trajectory_msgs/msg/MultiDOFJointTrajectoryPoint";
        const TYPE_HASH: &'static str = "RIHS01_6ada1085b5ee64eaa069b074968e69f0e27c8c5e6f5bb0586dd1c834ef0e32b8";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::JointTrajectory>(),
    crate::RosTypeEntry::of::<msg::JointTrajectoryPoint>(),
    crate::RosTypeEntry::of::<msg::MultiDOFJointTrajectory>(),
    crate::RosTypeEntry::of::<msg::MultiDOFJointTrajectoryPoint>(),
];
