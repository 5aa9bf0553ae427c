//! Messages of types that this side learns at run time, between a node of this crate and one of `rclpy`.

use crate::peer::{LIMIT, Peer};
use crate::test_msgs::msg as test;
use crate::{context, is_kilted};
use dds_ros2::{Node, QosProfile, RosMessage};
use serde_json::json;

/// `rclpy` publishes a message of a type that this build lacks, and compares the answer with it.
fn exchange(node: &Node, peer: &mut Peer, name: &str, hash: &str) {
    let latched = QosProfile::DEFAULT.keep_last(1).transient_local();
    peer.tell(json!({"command": "exchange", "type": name}));
    let ty = node
        .discover_message_type(&format!("there/{name}"))
        .block_for(LIMIT)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((ty.name(), ty.type_hash()), (name, hash));
    let there = node.dynamic_subscription_builder(&format!("there/{name}"), &ty).qos(latched).build().unwrap();
    let received = there.next_message().block_for(LIMIT).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_ne!(received, ty.new_message(), "{name}");
    let back = node.dynamic_publisher_builder(&format!("back/{name}"), &ty).qos(latched).build().unwrap();
    back.publish(&received).unwrap();
    let event = peer.wait_for("exchanged", |event| event["type"] == name);
    assert_eq!(event["is_same"], true, "{event}");
    let info = peer.ask_until(&json!({"command": "topic_info", "topic": format!("/back/{name}")}), |info| {
        let endpoints = info["endpoints"].as_array().unwrap();
        endpoints.iter().any(|one| one["kind"] == "PUBLISHER" && one["node"] == "/mirror")
    });
    let own = info["endpoints"].as_array().unwrap().iter().find(|one| one["node"] == "/mirror").unwrap();
    assert_eq!((own["type"].as_str(), own["hash"].as_str()), (Some(name), Some(hash)));
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn messages_of_learned_types_pass_in_both_directions() {
    let context = context(75);
    let node = context.node("mirror").unwrap();
    let mut peer = Peer::start(75, "source", "/");
    for (name, hash) in [
        (test::Arrays::ROS_NAME, test::Arrays::TYPE_HASH),
        (test::BasicTypes::ROS_NAME, test::BasicTypes::TYPE_HASH),
        (test::BoundedSequences::ROS_NAME, test::BoundedSequences::TYPE_HASH),
        (test::MultiNested::ROS_NAME, test::MultiNested::TYPE_HASH),
        (test::Strings::ROS_NAME, test::Strings::TYPE_HASH),
        (test::UnboundedSequences::ROS_NAME, test::UnboundedSequences::TYPE_HASH),
        (test::WStrings::ROS_NAME, test::WStrings::TYPE_HASH),
    ] {
        exchange(&node, &mut peer, name, hash);
    }
}

/// Kilted describes a `wstring` as a `string`, and Jazzy describes no types.
#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn wide_strings_are_learned_without_the_service() {
    if !is_kilted() {
        return;
    }
    let context = context(76);
    let node = context.node("mirror").unwrap();
    let arguments = ["--ros-args", "-p", "start_type_description_service:=false"];
    let mut peer = Peer::start_with_arguments(76, "source", &arguments);
    exchange(&node, &mut peer, test::WStrings::ROS_NAME, test::WStrings::TYPE_HASH);
    exchange(&node, &mut peer, test::Builtins::ROS_NAME, test::Builtins::TYPE_HASH);
}
