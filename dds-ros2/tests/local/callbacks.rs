//! Callbacks that wait for something that comes from other programs, or from other nodes of this one.

use super::{LIMIT, builder};
use dds_ros2::msgs::builtin_interfaces::msg::Time as Stamp;
use dds_ros2::msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use dds_ros2::msgs::std_msgs::msg::Empty;
use dds_ros2::{Context, QosProfile, Result, Time};
use std::sync::mpsc::channel;

/// Calls `wait` in the callback of a subscription. `change` begins after it, and lets the wait end.
fn in_callback(context: &Context, wait: impl FnOnce() -> Result<()> + Send + 'static, change: impl FnOnce()) {
    let node = context.node("waiter").unwrap();
    let (start, started) = channel();
    let (end, ended) = channel();
    let mut wait = Some(wait);
    let callback = move |_: Empty| {
        start.send(()).unwrap();
        end.send(wait.take().unwrap()()).unwrap();
    };
    let _subscription = node.subscription_builder("trigger").on_message(callback).build().unwrap();
    let trigger = node.publisher::<Empty>("trigger").unwrap();
    trigger.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    trigger.publish(&Empty::default()).unwrap();
    started.recv_timeout(LIMIT).unwrap();
    change();
    ended.recv_timeout(2 * LIMIT).unwrap().unwrap();
}

#[test]
fn graph_changes_during_a_callback() {
    let [context, other] = [(); 2].map(|()| builder("callback-graph").build().unwrap());
    let graph = context.graph();
    let mut late = None;
    in_callback(
        &context,
        move || graph.wait_for_node("/late").block_for(LIMIT),
        || late = other.node_builder("late").bare().build().ok(),
    );
    assert!(late.is_some());
}

#[test]
fn simulated_time_advances_during_a_callback() {
    let context = builder("callback-clock").parameter("use_sim_time", true).build().unwrap();
    let node = context.node("planner").unwrap();
    let simulator = context.node_builder("simulator").bare().build().unwrap();
    let publisher = simulator.publisher_with::<ClockMessage>("/clock", QosProfile::DEFAULT).unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    in_callback(
        &context,
        move || node.clock().sleep_until(Time::from_unix_nanos(5_000_000_000)).block_for(LIMIT),
        || publisher.publish(&ClockMessage { clock: Stamp { sec: 5, nanosec: 0 } }).unwrap(),
    );
}

/// A callback waits for another one of the same program.
#[test]
fn message_reaches_another_callback_during_a_callback() {
    let context = builder("callback-callback").build().unwrap();
    let node = context.node("robot").unwrap();
    let (sender, received) = channel();
    let callback = move |_: Empty| sender.send(()).unwrap();
    let _other = node.subscription_builder("other").on_message(callback).build().unwrap();
    let publisher = node.publisher::<Empty>("other").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    in_callback(
        &context,
        move || {
            received.recv_timeout(LIMIT).unwrap();
            Ok(())
        },
        || publisher.publish(&Empty::default()).unwrap(),
    );
}

#[cfg(feature = "tf2")]
#[test]
fn transform_arrives_during_a_callback() {
    use dds_ros2::tf::{Isometry, LATEST, StaticTransformBroadcaster, TransformListener};
    let context = builder("callback-tf").build().unwrap();
    let node = context.node("robot").unwrap();
    let listener = TransformListener::new(&node).unwrap();
    let broadcaster = StaticTransformBroadcaster::new(&node).unwrap();
    let transform = Isometry::from_translation([1.0, 0.0, 0.0].into()).stamped("map", "base", Time::from_unix_nanos(1));
    in_callback(
        &context,
        move || listener.wait_for_transform("map", "base", LATEST).block_for(LIMIT).map(drop),
        || broadcaster.send(&[transform]).unwrap(),
    );
}

#[test]
fn callback_about_parameters_changes_those_of_another_node() {
    let context = builder("callback-parameters").build().unwrap();
    let [leader, follower, tuner] = ["leader", "follower", "tuner"].map(|name| context.node(name).unwrap());
    let _speed = leader.parameter("speed", 1.0).declare().unwrap();
    let followed = follower.parameter("speed", 1.0).declare().unwrap();
    let ours = leader.parameters_of("/follower").unwrap().within(LIMIT);
    let follow = ours.clone();
    // Both nodes are in this program, and each change passes on to the next one.
    let before = leader.before_parameters_change(move |_| {
        let list = ours.list().block().map_err(|error| error.to_string())?;
        if list.iter().any(|name| name == "speed") { Ok(()) } else { Err("the follower has no speed".to_owned()) }
    });
    let _before = before.unwrap();
    let (sender, results) = channel();
    let after = leader.after_parameters_change(move |changes| {
        sender.send(follow.set(&changes[0].0, changes[0].1.clone()).block()).unwrap();
    });
    let _after = after.unwrap();
    let remote = tuner.parameters_of("/leader").unwrap().within(2 * LIMIT);
    for speed in [2.0, 3.0] {
        remote.set("speed", speed).block().unwrap();
        results.recv_timeout(LIMIT).unwrap().unwrap();
        assert_eq!(followed.get(), speed);
    }
}
