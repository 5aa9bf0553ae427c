//! Transforms between nodes of this crate.

use super::{LIMIT, builder};
use dds_ros2::msgs::builtin_interfaces::msg::Time as Stamp;
use dds_ros2::msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use dds_ros2::msgs::tf2_msgs::msg::TFMessage;
use dds_ros2::tf::{
    Isometry, LATEST, StaticTransformBroadcaster, TransformBroadcaster, TransformError, TransformListener,
};
use dds_ros2::{Error, JumpThreshold, QosProfile, Time};
use std::sync::mpsc::channel;
use std::time::Duration;

fn shift(x: f64) -> Isometry {
    Isometry::from_translation([x, 0.0, 0.0].into())
}

fn at(seconds: i64) -> Time {
    Time::from_unix_nanos(seconds * 1_000_000_000)
}

#[test]
fn moving_and_static_transforms_reach_a_late_listener() {
    let context = builder("tf").build().unwrap();
    let node = context.node("robot").unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    fixed.send(&[shift(1.0).stamped("base", "arm", at(1))]).unwrap();
    fixed.send(&[shift(2.0).stamped("base", "camera", at(1))]).unwrap();
    let listener = TransformListener::new(&node).unwrap();
    let found = listener.wait_for_transform("arm", "camera", LATEST).block_for(LIMIT).unwrap();
    assert_eq!((found.isometry.translation.x, found.time), (1.0, LATEST));

    let moving = TransformBroadcaster::new(&node).unwrap();
    let sender = std::thread::spawn(move || {
        for seconds in 10..13 {
            let transform = shift(seconds as f64).stamped("map", "base", at(seconds));
            moving.send(&[transform]).unwrap();
        }
        moving
    });
    let later = Time::from_unix_nanos(11_500_000_000);
    let found = listener.wait_for_transform("map", "camera", later).block_for(LIMIT).unwrap();
    assert_eq!(found.isometry.translation.x, 13.5);
    let moving = sender.join().unwrap();
    let past = listener.wait_for_transform("map", "camera", at(9)).block_for(LIMIT).unwrap_err();
    assert!(matches!(&past, Error::Transform(TransformError::Extrapolation { .. })), "{past}");
    let missing = listener.wait_for_transform("map", "foot", LATEST).block_for(Duration::from_millis(50)).unwrap_err();
    assert!(missing.to_string().contains("frame \"foot\" does not exist"), "{missing}");
    // A message of a peer with a wrong transform costs this transform alone.
    let wrong = [shift(f64::NAN).stamped("map", "x", at(13)), shift(0.0).stamped("map", "y", at(13))];
    moving.send(&wrong).unwrap();
    listener.wait_for_transform("map", "y", LATEST).block_for(LIMIT).unwrap();
    // The others of the message are there before.
    let start = std::time::Instant::now();
    while listener.refused_transforms() == 0 {
        assert!(start.elapsed() < LIMIT, "no transform was refused");
        std::thread::yield_now();
    }
    assert_eq!(listener.refused_transforms(), 1);
    let all = node.subscription_with::<TFMessage>("/tf_static", QosProfile::DEFAULT.transient_local()).unwrap();
    assert_eq!(all.next_message().block_for(LIMIT).unwrap().transforms.len(), 2);
}

#[test]
fn transforms_after_a_jump_back_are_found() {
    let context = builder("tf-jump").parameter("use_sim_time", true).build().unwrap();
    let node = context.node("robot").unwrap();
    let listener = TransformListener::new(&node).unwrap();
    let clock = node.publisher_with::<ClockMessage>("/clock", QosProfile::DEFAULT).unwrap();
    clock.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let moving = TransformBroadcaster::new(&node).unwrap();
    let show = |sec| clock.publish(&ClockMessage { clock: Stamp { sec, nanosec: 0 } }).unwrap();
    show(100);
    node.clock().sleep_until(at(100)).block_for(LIMIT).unwrap();
    moving.send(&[shift(1.0).stamped("map", "base", at(100))]).unwrap();
    listener.wait_for_transform("map", "base", at(100)).block_for(LIMIT).unwrap();
    moving.send(&[shift(1.0).stamped("map", "base", at(80)), shift(1.0).stamped("map", "x", at(80))]).unwrap();
    listener.wait_for_transform("map", "x", LATEST).block_for(LIMIT).unwrap();
    assert_eq!(listener.refused_transforms(), 1);
    let (sender, jumped) = channel();
    let back = JumpThreshold::new().backward(dds_ros2::Duration::from_nanos(1));
    let _handle = node.clock().on_jump(back, move |_| sender.send(()).unwrap());
    show(1);
    jumped.recv_timeout(LIMIT).unwrap();
    moving.send(&[shift(2.0).stamped("map", "base", at(2))]).unwrap();
    let found = listener.wait_for_transform("map", "base", at(2)).block_for(LIMIT).unwrap();
    assert_eq!(found.isometry.translation.x, 2.0);
}

#[test]
fn static_transforms_of_two_threads_are_kept() {
    let context = builder("tf-static").build().unwrap();
    let node = context.node("robot").unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    std::thread::scope(|scope| {
        for side in ["left", "right"] {
            let fixed = fixed.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    fixed.send(&[shift(1.0).stamped("base", &format!("{side}{number}"), at(1))]).unwrap();
                }
            });
        }
    });
    let all = node.subscription_with::<TFMessage>("/tf_static", QosProfile::DEFAULT.transient_local()).unwrap();
    assert_eq!(all.next_message().block_for(LIMIT).unwrap().transforms.len(), 100);
}
