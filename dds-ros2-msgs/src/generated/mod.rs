// Written by `tests/messages/committed.rs`.

#[cfg(feature = "action_msgs")]
#[rustfmt::skip]
pub mod action_msgs;
#[cfg(feature = "actionlib_msgs")]
#[rustfmt::skip]
pub mod actionlib_msgs;
#[cfg(feature = "builtin_interfaces")]
#[rustfmt::skip]
pub mod builtin_interfaces;
#[cfg(feature = "composition_interfaces")]
#[rustfmt::skip]
pub mod composition_interfaces;
#[cfg(feature = "diagnostic_msgs")]
#[rustfmt::skip]
pub mod diagnostic_msgs;
#[cfg(feature = "example_interfaces")]
#[rustfmt::skip]
pub mod example_interfaces;
#[cfg(feature = "geometry_msgs")]
#[rustfmt::skip]
pub mod geometry_msgs;
#[cfg(feature = "lifecycle_msgs")]
#[rustfmt::skip]
pub mod lifecycle_msgs;
#[cfg(feature = "nav_msgs")]
#[rustfmt::skip]
pub mod nav_msgs;
#[cfg(feature = "rcl_interfaces")]
#[rustfmt::skip]
pub mod rcl_interfaces;
#[cfg(feature = "rmw_dds_common")]
#[rustfmt::skip]
pub mod rmw_dds_common;
#[cfg(feature = "rosgraph_msgs")]
#[rustfmt::skip]
pub mod rosgraph_msgs;
#[cfg(feature = "sensor_msgs")]
#[rustfmt::skip]
pub mod sensor_msgs;
#[cfg(feature = "service_msgs")]
#[rustfmt::skip]
pub mod service_msgs;
#[cfg(feature = "shape_msgs")]
#[rustfmt::skip]
pub mod shape_msgs;
#[cfg(feature = "statistics_msgs")]
#[rustfmt::skip]
pub mod statistics_msgs;
#[cfg(feature = "std_msgs")]
#[rustfmt::skip]
pub mod std_msgs;
#[cfg(feature = "std_srvs")]
#[rustfmt::skip]
pub mod std_srvs;
#[cfg(feature = "stereo_msgs")]
#[rustfmt::skip]
pub mod stereo_msgs;
#[cfg(feature = "tf2_msgs")]
#[rustfmt::skip]
pub mod tf2_msgs;
#[cfg(feature = "trajectory_msgs")]
#[rustfmt::skip]
pub mod trajectory_msgs;
#[cfg(feature = "type_description_interfaces")]
#[rustfmt::skip]
pub mod type_description_interfaces;
#[cfg(feature = "unique_identifier_msgs")]
#[rustfmt::skip]
pub mod unique_identifier_msgs;
#[cfg(feature = "visualization_msgs")]
#[rustfmt::skip]
pub mod visualization_msgs;

/// The types of all packages of this build.
#[rustfmt::skip]
pub(crate) const PACKAGES: &[&[crate::RosTypeEntry]] = &[
    #[cfg(feature = "action_msgs")]
    action_msgs::TYPES,
    #[cfg(feature = "actionlib_msgs")]
    actionlib_msgs::TYPES,
    #[cfg(feature = "builtin_interfaces")]
    builtin_interfaces::TYPES,
    #[cfg(feature = "composition_interfaces")]
    composition_interfaces::TYPES,
    #[cfg(feature = "diagnostic_msgs")]
    diagnostic_msgs::TYPES,
    #[cfg(feature = "example_interfaces")]
    example_interfaces::TYPES,
    #[cfg(feature = "geometry_msgs")]
    geometry_msgs::TYPES,
    #[cfg(feature = "lifecycle_msgs")]
    lifecycle_msgs::TYPES,
    #[cfg(feature = "nav_msgs")]
    nav_msgs::TYPES,
    #[cfg(feature = "rcl_interfaces")]
    rcl_interfaces::TYPES,
    #[cfg(feature = "rmw_dds_common")]
    rmw_dds_common::TYPES,
    #[cfg(feature = "rosgraph_msgs")]
    rosgraph_msgs::TYPES,
    #[cfg(feature = "sensor_msgs")]
    sensor_msgs::TYPES,
    #[cfg(feature = "service_msgs")]
    service_msgs::TYPES,
    #[cfg(feature = "shape_msgs")]
    shape_msgs::TYPES,
    #[cfg(feature = "statistics_msgs")]
    statistics_msgs::TYPES,
    #[cfg(feature = "std_msgs")]
    std_msgs::TYPES,
    #[cfg(feature = "std_srvs")]
    std_srvs::TYPES,
    #[cfg(feature = "stereo_msgs")]
    stereo_msgs::TYPES,
    #[cfg(feature = "tf2_msgs")]
    tf2_msgs::TYPES,
    #[cfg(feature = "trajectory_msgs")]
    trajectory_msgs::TYPES,
    #[cfg(feature = "type_description_interfaces")]
    type_description_interfaces::TYPES,
    #[cfg(feature = "unique_identifier_msgs")]
    unique_identifier_msgs::TYPES,
    #[cfg(feature = "visualization_msgs")]
    visualization_msgs::TYPES,
];
