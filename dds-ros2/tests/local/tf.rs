//! Transforms between nodes of this crate.

use super::{LIMIT, builder};
use dds_ros2::msgs::tf2_msgs::msg::TFMessage;
use dds_ros2::tf::{
    Isometry, LATEST, StaticTransformBroadcaster, TransformBroadcaster, TransformError, TransformListener,
};
use dds_ros2::{Error, QosProfile, Time};
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
    assert_eq!(listener.refused_transforms(), 1);
    let all = node.subscription_with::<TFMessage>("/tf_static", QosProfile::DEFAULT.transient_local()).unwrap();
    assert_eq!(all.next_message().block_for(LIMIT).unwrap().transforms.len(), 2);
}
