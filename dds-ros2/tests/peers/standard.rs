//! What every node has: parameters, `use_sim_time` and `/rosout`, with `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::rcl_interfaces::msg::{Log, LoggerLevel};
use dds_ros2::msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsRequest, SetLoggerLevels, SetLoggerLevelsRequest,
};
use dds_ros2::msgs::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use dds_ros2::{Context, QosProfile, RosMessage, Time};
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

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn levels_of_loggers_are_set_in_both_directions() {
    let context = context(61);
    let node = context.node_builder("drive").logger_services(true).build().unwrap();
    let mut peer = Peer::start(61, "tuner", "/");
    let set = |level: u32| json!({"command": "set_logger_level", "node": "/drive", "name": "drive", "level": level});
    assert_eq!(peer.ask(set(10))["successful"], json!([true]));
    assert_eq!(peer.ask(set(11))["successful"], json!([false]));
    peer.tell(json!({"command": "hear_logs"}));
    peer.wait_for("hearing", |_| true);
    node.logger().debug("details");
    peer.wait_for("log", |log| log["text"] == "details" && log["level"] == 10);
    let got = peer.ask(json!({"command": "logger_levels", "node": "/drive", "names": ["drive", "drive.arm", ""]}));
    assert_eq!(got["levels"], json!({"drive": 10, "drive.arm": 0, "": 20}));

    let change = node.client::<SetLoggerLevels>("/tuner/set_logger_levels").unwrap();
    let level = |level| SetLoggerLevelsRequest { levels: vec![LoggerLevel { name: "tuner".into(), level }] };
    let results = [40, 41].map(|number| change.call(level(number)).block_for(LIMIT).unwrap().results[0].successful);
    assert_eq!(results, [true, false]);
    let get = node.client::<GetLoggerLevels>("/tuner/get_logger_levels").unwrap();
    let request = GetLoggerLevelsRequest { names: vec!["tuner".into(), "tuner.arm".into()] };
    let levels = get.call(request).block_for(LIMIT).unwrap().levels;
    assert_eq!(levels.iter().map(|one| one.level).collect::<Vec<_>>(), [40, 0]);
}
