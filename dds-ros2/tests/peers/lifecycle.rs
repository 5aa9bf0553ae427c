//! Lifecycle nodes: one of this crate, driven by `rclpy`, and one of `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::lifecycle_msgs::msg::{Transition, TransitionEvent};
use dds_ros2::msgs::lifecycle_msgs::srv::{ChangeState, ChangeStateRequest, GetState, GetStateRequest};
use dds_ros2::{LifecycleCallbacks, LifecycleNode, LifecycleState, TransitionResult};
use serde_json::json;

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
    let context = context(62);
    let node = context.node("lc").unwrap();
    let managed = LifecycleNode::new(&node, Counted::default()).unwrap();
    let mut peer = Peer::start(62, "manager", "/");
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
    let labels = ["configuring", "unconfigured", "configuring", "inactive", "activating", "active"];
    let all = [&labels[..], &["deactivating", "errorprocessing", "finalized"]].concat();
    // `rclpy` may handle the answer before the last event.
    let command = json!({"command": "lifecycle_events"});
    let seen = peer.ask_until(&command, |seen| seen["goals"].as_array().unwrap().len() >= all.len());
    assert_eq!(seen["goals"], json!(all));
    assert_eq!((&seen["states"], &seen["transitions"]), (&json!(11), &json!(25)));
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn lifecycle_node_of_rclpy_is_driven() {
    let context = context(63);
    let node = context.node("manager").unwrap();
    let events = node.subscription::<TransitionEvent>("/driven/transition_event").unwrap();
    let change = node.client::<ChangeState>("/driven/change_state").unwrap();
    let state = node.client::<GetState>("/driven/get_state").unwrap();
    let mut peer = Peer::start(63, "host", "/");
    peer.ask(json!({"command": "start_lifecycle", "name": "driven"}));
    events.wait_for_publishers(1).block_for(LIMIT).unwrap();
    for (label, expected) in
        [("configure", "inactive"), ("activate", "active"), ("deactivate", "inactive"), ("cleanup", "unconfigured")]
    {
        let transition = Transition { label: label.into(), ..Transition::default() };
        assert!(change.call(ChangeStateRequest { transition }).block_for(LIMIT).unwrap().success, "{label}");
        let current = state.call(GetStateRequest::default()).block_for(LIMIT).unwrap().current_state;
        assert_eq!(current.label, expected, "{label}");
    }
    let goals = [(); 4].map(|()| events.next_message().block_for(LIMIT).unwrap().goal_state.label);
    assert_eq!(goals, ["configuring", "inactive", "activating", "active"]);
}
