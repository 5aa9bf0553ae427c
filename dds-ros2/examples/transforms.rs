//! The place of a camera on a moving robot, as `tf2` knows it. Needs the feature `tf2`.

use dds_ros2::tf::{Isometry, StaticTransformBroadcaster, TransformBroadcaster, TransformListener};
use dds_ros2::{Context, Result, Time};

fn at(seconds: i64) -> Time {
    Time::from_unix_nanos(seconds * 1_000_000_000)
}

fn shift(x: f64) -> Isometry {
    Isometry::from_translation([x, 0.0, 0.0].into())
}

fn main() -> Result<()> {
    let node = Context::from_env()?.node("robot")?;
    let listener = TransformListener::new(&node)?;
    // Late listeners get its transforms as long as it lives.
    let fixed = StaticTransformBroadcaster::new(&node)?;
    fixed.send(&[shift(0.5).stamped("base_link", "camera", at(0))])?;
    let odometry = TransformBroadcaster::new(&node)?;
    for seconds in 10..=12 {
        odometry.send(&[shift(seconds as f64).stamped("odom", "base_link", at(seconds))])?;
    }
    // Between two messages, the place is interpolated.
    let time = Time::from_unix_nanos(11_500_000_000);
    let found = listener.wait_for_transform("odom", "camera", time).block()?;
    println!("the camera is at x = {} m", found.isometry.translation.x);
    Ok(())
}
