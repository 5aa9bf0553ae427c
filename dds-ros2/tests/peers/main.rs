//! Real nodes of ROS 2 (`rclpy`), Cyclone DDS, and the crate `ros2-client`, as peers.
//!
//! `.ci/run ros2` installs them and sets `DDS_TEST_ROS_PYTHON` and `DDS_TEST_PYTHON`. `.ci/run ros2_client` builds the
//! last one, and sets `DDS_TEST_ROS2_CLIENT`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod actions;
mod cyclone;
mod dynamic;
mod graph;
mod kills;
mod lifecycle;
mod parameters;
mod peer;
mod releases;
mod ros2_client;
mod services;
mod standard;
mod starts;
mod topics;
mod types;

// The code that `dds-idl` writes for a package of a user.
include!("../../../dds-ros2-msgs/tests/messages/own_packages/test_msgs.rs");

use dds_ros2::Context;
use peer::LIMIT;
use std::time::{Duration, Instant};

/// Whether the nodes of `rclpy` are of Kilted, and not of Jazzy.
fn is_kilted() -> bool {
    std::env::var("DDS_TEST_ROS_PYTHON").is_ok_and(|path| path.contains("kilted"))
}

/// Waits for something other than a change of the graph, such as a match: a wait for the graph may look before it.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A context for a test in its own domain.
fn context(domain: u32) -> Context {
    Context::builder().ignore_environment().domain_id(domain).build().unwrap()
}
