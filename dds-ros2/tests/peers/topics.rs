//! Topics between a node of this crate and one of `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_core::status::{Events, ReaderEvent, WriterEvent};
use dds_ros2::QosProfile;
use dds_ros2::msgs::std_msgs::msg::String as Text;
use serde_json::json;

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn talker_of_rclpy_is_heard_in_each_profile() {
    let context = context(10);
    let node = context.node("listener").unwrap();
    let mut peer = Peer::start(10, "talker", "/lab");
    for (profile, qos) in [
        ("default", QosProfile::DEFAULT),
        ("sensor_data", QosProfile::SENSOR_DATA),
        ("latched", QosProfile::DEFAULT.keep_last(1).transient_local()),
    ] {
        let topic = format!("/lab/{profile}");
        let subscription = node.subscription_with::<Text>(&topic, qos).unwrap();
        peer.tell(json!({"command": "publish", "topic": profile, "text": "first", "profile": profile}));
        subscription.wait_for_publishers(1).block_for(LIMIT).unwrap();
        // The first message of a volatile publisher may be older than the match, so it may be sent before.
        let mut found = String::new();
        for number in 0..100 {
            peer.tell(json!({"command": "publish", "topic": profile, "text": format!("naïve {number}")}));
            match subscription.next_message().block_for(std::time::Duration::from_millis(300)) {
                Ok(message) => {
                    found = message.data;
                    break;
                }
                Err(error) => assert!(matches!(error, dds_ros2::Error::Timeout { .. }), "{error}"),
            }
        }
        assert!(found.starts_with("naïve") || found == "first", "{profile}: {found:?}");
    }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn listener_of_rclpy_hears_in_each_profile() {
    let context = context(11);
    let node = context.node_builder("talker").namespace("lab").build().unwrap();
    let mut peer = Peer::start(11, "listener", "/lab");
    for (profile, qos) in [
        ("default", QosProfile::DEFAULT),
        ("sensor_data", QosProfile::SENSOR_DATA),
        ("latched", QosProfile::DEFAULT.keep_last(1).transient_local()),
    ] {
        let publisher = node.publisher_with::<Text>(profile, qos).unwrap();
        peer.tell(json!({"command": "subscribe", "topic": profile, "profile": profile}));
        peer.wait_for("subscribed", |_| true);
        publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
        for number in 0..5 {
            publisher.publish(&Text { data: format!("naïve {number}") }).unwrap();
        }
        peer.wait_for("heard", |event| event["topic"] == profile && event["text"] == "naïve 4");
    }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn late_listener_of_rclpy_gets_the_latched_message() {
    let context = context(12);
    let node = context.node("map_server").unwrap();
    let publisher = node.publisher_with::<Text>("map", QosProfile::DEFAULT.keep_last(1).transient_local()).unwrap();
    publisher.publish(&Text { data: "old".into() }).unwrap();
    publisher.publish(&Text { data: "map".into() }).unwrap();
    for _ in 0..3 {
        let mut peer = Peer::start(12, "viewer", "/");
        peer.tell(json!({"command": "subscribe", "topic": "map", "profile": "latched"}));
        match peer.find("heard", |_| true) {
            Ok(heard) => {
                assert_eq!(heard["text"], "map");
                return;
            }
            // `create_subscription` of rmw_fastrtps may never return if a sample arrives before its end. Its reader
            // has acknowledged the sample then.
            Err(events) => assert!(events.is_empty(), "{events:?}"),
        }
        peer.kill();
    }
    panic!("no process of rclpy could subscribe");
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn range_localhost_finds_nodes_without_multicast() {
    let context = dds_ros2::Context::builder()
        .ignore_environment()
        .domain_id(13)
        .discovery_range(dds_ros2::DiscoveryRange::Localhost)
        .build()
        .unwrap();
    let node = context.node("listener").unwrap();
    let subscription = node.subscription::<Text>("chatter").unwrap();
    // Readers of Fast DDS 2.14 may announce the port of its shared memory as a UDP port here, so the peer publishes.
    let mut peer = Peer::start_with(13, "talker", "/", &[("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]);
    let is_heard = (0..200).any(|_| {
        peer.tell(json!({"command": "publish", "topic": "chatter", "text": "near"}));
        subscription.next_message().block_for(std::time::Duration::from_millis(100)).is_ok()
    });
    assert!(is_heard);
    context.graph().wait_for_node("/talker").block_for(LIMIT).unwrap();
}

/// Waits for the event of a kind.
fn wait_for<E>(events: &Events<E>, is_it: impl Fn(&E) -> bool) {
    while !is_it(&events.next_event().block_for(LIMIT).unwrap()) {}
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn events_of_qos_arrive_on_both_sides() {
    let context = context(14);
    let node = context.node("lidar").unwrap();
    let mut peer = Peer::start(14, "monitor", "/");
    peer.tell(json!({"command": "watch_qos", "topic": "/scan"}));
    peer.wait_for("watch_qos", |_| true);

    // Without a deadline, a publisher does not match.
    let unpromised = node.publisher::<Text>("/scan").unwrap();
    wait_for(&unpromised.writer().events(), |event| matches!(event, WriterEvent::IncompatibleQos(_)));
    peer.wait_for("subscription_incompatible_qos", |event| event["count"] == 1);
    let deadline = dds_ros2::Duration::from_millis(100);
    let publisher = node.publisher_with::<Text>("/scan", QosProfile::DEFAULT.deadline(deadline)).unwrap();
    let events = publisher.writer().events();
    wait_for(&events, |event| matches!(event, WriterEvent::Matched(_)));
    peer.wait_for("subscription_matched", |event| event["count"] == 1);
    publisher.publish(&Text { data: "the only one".into() }).unwrap();
    wait_for(&events, |event| matches!(event, WriterEvent::DeadlineMissed(_)));
    peer.wait_for("subscription_deadline", |_| true);

    // The other direction.
    let strict = QosProfile::DEFAULT.deadline(deadline);
    let unheard = node.subscription_with::<Text>("/scan_back", strict).unwrap();
    wait_for(&unheard.reader().events(), |event| matches!(event, ReaderEvent::IncompatibleQos(_)));
    peer.wait_for("publisher_incompatible_qos", |event| event["count"] == 1);
    let patient = QosProfile::DEFAULT.deadline(dds_ros2::Duration::from_millis(300));
    let subscription = node.subscription_with::<Text>("/scan_back", patient).unwrap();
    let events = subscription.reader().events();
    wait_for(&events, |event| matches!(event, ReaderEvent::Matched(_)));
    peer.wait_for("publisher_matched", |event| event["count"] == 1);
    peer.tell(json!({"command": "publish", "topic": "/scan", "text": "the only one"}));
    wait_for(&events, |event| matches!(event, ReaderEvent::DeadlineMissed(_)));
    peer.wait_for("publisher_deadline", |_| true);
}
