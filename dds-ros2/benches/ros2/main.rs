//! Nodes of ROS 2 beside plain `dds-core` and `rclpy`: round trips between two processes, and a graph of 100 nodes.
//!
//! `DDS_TEST_ROS_PYTHON=PYTHON .ci/netns cargo bench -p dds-ros2 --bench ros2`, with the Python of an environment with
//! the wheels of `.ci/ros_jazzy.txt`. Without the variable, the bench leaves out `rclpy`. `-- --test` runs one short
//! round. `-- graph` measures the graph alone, and `-- trips` the round trips.
//!
//! Each implementation has two processes: one sends, and the other one sends the same message back. They take turns.
//! All use the default QoS of ROS 2 and their default transport, which is shared memory.

mod crowd;
mod process;
mod trips;

use std::error::Error;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    if let [role, implementation, ..] = &arguments[..] {
        match role.as_str() {
            "ping" => return trips::ping(implementation),
            "pong" => return trips::pong(implementation),
            "crowd" => return crowd::keep_nodes(implementation.parse()?),
            _ => {}
        }
    }
    let is_test = has("--test");
    if !has("graph") {
        trips::measure(is_test)?;
    }
    if !has("trips") {
        crowd::measure(if is_test { 5 } else { 50 }, is_test)?;
    }
    Ok(())
}
