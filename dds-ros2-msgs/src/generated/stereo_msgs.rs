// Written by `tests/messages/committed.rs` from the interface files of `stereo_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `stereo_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Separate header for compatibility with current TimeSynchronizer.
    /// Likely to be removed in a later release, use image.header instead.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "stereo_msgs::msg::dds_::DisparityImage_")]
    pub struct DisparityImage {
        pub header: crate::std_msgs::msg::Header,
        /// Floating point disparity image. The disparities are pre-adjusted for any
        /// x-offset between the principal points of the two cameras (in the case
        /// that they are verged). That is: d = x_l - x_r - (cx_l - cx_r)
        pub image: crate::sensor_msgs::msg::Image,
        /// Stereo geometry. For disparity d, the depth from the camera is Z = fT/d.
        /// Focal length, pixels
        pub f: f32,
        /// Baseline, world units
        pub t: f32,
        /// Subwindow of (potentially) valid disparity values.
        pub valid_window: crate::sensor_msgs::msg::RegionOfInterest,
        /// The range of disparities searched.
        /// In the disparity image, any disparity less than min_disparity is invalid.
        /// The disparity search range defines the horopter, or 3D volume that the
        /// stereo algorithm can "see". Points with Z outside of:
        /// Z_min = fT / max_disparity
        /// Z_max = fT / min_disparity
        /// could not be found.
        pub min_disparity: f32,
        pub max_disparity: f32,
        /// Smallest allowed disparity increment. The smallest achievable depth range
        /// resolution is delta_Z = (Z^2/fT)*delta_d.
        pub delta_d: f32,
    }

    impl crate::RosMessage for DisparityImage {
        const ROS_NAME: &'static str = "stereo_msgs/msg/DisparityImage";
        const TYPE_HASH: &'static str = "RIHS01_1ec1ff6b5bace919e4544a37f2d96ead9f81783701b7b7a4d97a09325ecf2711";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::DisparityImage>(),
];
