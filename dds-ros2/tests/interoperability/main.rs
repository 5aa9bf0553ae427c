//! Real nodes of ROS 2 (`rclpy`), and Cyclone DDS, as peers.
//!
//! `.ci/run ros2` installs them and sets `DDS_TEST_ROS_PYTHON` and `DDS_TEST_PYTHON`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod actions;
mod cyclone;
mod graph;
mod parameters;
mod peer;
mod services;
mod standard;
#[allow(dead_code, reason = "a service has parts that actions do not use")]
mod test_msgs;
mod topics;

use dds_ros2::Context;

/// A context for a test in its own domain.
fn context(domain: u32) -> Context {
    Context::builder().ignore_environment().domain_id(domain).build().unwrap()
}
