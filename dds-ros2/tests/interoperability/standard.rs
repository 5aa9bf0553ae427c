//! What every node has: parameters, `use_sim_time` and `/rosout`, with `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::rcl_interfaces::msg::Log;
use dds_ros2::msgs::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use dds_ros2::{
    Context, LifecycleCallbacks, LifecycleNode, LifecycleState, QosProfile, RosMessage, Time, TransitionResult,
};
use serde_json::json;

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_sets_time_and_exchanges_logs() {
    let arguments = ["--ros-args", "-p", "speed:=2.5"];
    let context = Context::builder().ignore_environment().domain_id(60).arguments(arguments).build().unwrap();
    let node = context.node_builder("drive").namespace("/lab").build().unwrap();
    let speed = node.parameter("speed", 1.0).declare().unwrap();
    let rosout = node.subscription_with::<Log>("/rosout", QosProfile::ROSOUT).unwrap();
    let mut peer = Peer::start(60, "tuner", "/");
    // A message is valid for 10 s.
    node.logger().warn("before");
    peer.tell(json!({"command": "hear_logs"}));
    peer.wait_for("log", |log| log["text"] == "before" && log["name"] == "lab.drive" && log["level"] == 30);
    node.logger().error("after");
    peer.wait_for("log", |log| log["text"] == "after" && log["level"] == 40);
    peer.tell(json!({"command": "log", "text": "from rclpy"}));
    while rosout.next_message().block_for(LIMIT).unwrap().msg != "from rclpy" {}

    let describe = |name: &str| json!({"command": "describe", "node": "/lab/drive", "name": name, "hash": ""});
    peer.tell(describe(Log::ROS_NAME));
    let described = peer.wait_for("described_type", |_| true);
    assert_eq!(described["fields"][0], json!(["stamp", 1, "builtin_interfaces/msg/Time"]), "{described}");
    assert_eq!(described["nested"]["builtin_interfaces/msg/Time"], json!([["sec", 6, ""], ["nanosec", 7, ""]]));
    peer.tell(describe("std_msgs/msg/Empty"));
    let described = peer.wait_for("described_type", |_| true);
    assert_eq!(described["reason"], "Type not currently in use by this node");
    // As a client: the types of a node of `rclpy`.
    let types = node.client::<GetTypeDescription>("/tuner/get_type_description").unwrap();
    let request = GetTypeDescriptionRequest {
        type_name: Log::ROS_NAME.into(),
        type_hash: Log::TYPE_HASH.into(),
        include_type_sources: false,
    };
    let answer = types.call(request).block_for(LIMIT).unwrap();
    assert_eq!(answer.type_description.type_description.fields.len(), 7, "{}", answer.failure_reason);

    peer.tell(json!({"command": "get_parameters", "node": "/lab/drive", "names": ["speed", "use_sim_time"]}));
    assert_eq!(peer.wait_for("got", |_| true)["values"], json!([2.5, false]));
    assert_eq!(speed.get(), 2.5);
    peer.tell(json!({"command": "set_parameters", "node": "/lab/drive", "values": {"use_sim_time": true}}));
    assert_eq!(peer.wait_for("set", |_| true)["results"], json!([[true, ""]]));
    assert!(node.clock().is_simulated());
    let wait = node.clock().sleep_until(Time::from_unix_nanos(70_000_000_000));
    let sleeper = std::thread::spawn(move || wait.block_for(LIMIT));
    // The subscription is best effort: the first messages may come before it is connected.
    let mut seconds = 60;
    while !sleeper.is_finished() {
        peer.ask(json!({"command": "clock", "seconds": seconds}));
        seconds += 1;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    sleeper.join().unwrap().unwrap();
    assert!(node.now() >= Time::from_unix_nanos(70_000_000_000) && node.now().as_unix_nanos() % 1_000_000_000 == 0);
}

/// Counts the calls of `on_configure`, and fails the first.
#[derive(Default)]
struct Counted {
    configured: u8,
}

impl LifecycleCallbacks for Counted {
    fn on_configure(&mut self, _: &LifecycleNode) -> TransitionResult {
        self.configured += 1;
        if self.configured == 1 { TransitionResult::Failure } else { TransitionResult::Success }
    }

    fn on_deactivate(&mut self, _: &LifecycleNode) -> TransitionResult {
        TransitionResult::Error
    }

    fn on_error(&mut self, _: &LifecycleNode) -> TransitionResult {
        TransitionResult::Failure
    }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_drives_a_lifecycle_node() {
    let context = context(61);
    let node = context.node("lc").unwrap();
    let managed = LifecycleNode::new(&node, Counted::default()).unwrap();
    let mut peer = Peer::start(61, "manager", "/");
    peer.tell(json!({"command": "watch_lifecycle", "node": "/lc"}));
    peer.wait_for("watching_lifecycle", |_| true);
    let mut change = |label: &str| {
        peer.tell(json!({"command": "change_state", "node": "/lc", "label": label}));
        let changed = peer.wait_for("changed_state", |_| true);
        (changed["success"].as_bool().unwrap(), changed["state"].as_str().unwrap().to_owned())
    };
    let state = |success, label: &str| (success, label.to_owned());
    assert_eq!(change("activate"), state(false, "unconfigured"));
    assert_eq!(change("configure"), state(false, "unconfigured"));
    assert_eq!(change("configure"), state(true, "inactive"));
    assert_eq!(change("activate"), state(true, "active"));
    assert_eq!(managed.state(), LifecycleState::Active);
    // An error without recovery ends the node.
    assert_eq!(change("deactivate"), state(false, "finalized"));
    let seen = peer.ask(json!({"command": "lifecycle_events"}));
    let labels = ["configuring", "unconfigured", "configuring", "inactive", "activating", "active"];
    let all = [&labels[..], &["deactivating", "errorprocessing", "finalized"]].concat();
    assert_eq!(seen["goals"], json!(all));
    assert_eq!((&seen["states"], &seen["transitions"]), (&json!(11), &json!(25)));
}
