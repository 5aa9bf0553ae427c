//! Times as messages.

use dds_core::Time;
use dds_ros2_msgs::builtin_interfaces::msg::Time as Stamp;

/// Returns a time as a message. Times outside of its range are cut off.
pub(crate) fn stamp(time: Time) -> Stamp {
    let nanos = time.as_unix_nanos();
    let seconds = nanos.div_euclid(1_000_000_000);
    Stamp {
        sec: i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX }),
        nanosec: u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0),
    }
}

/// Returns the time of a message.
pub(crate) fn time_of(stamp: &Stamp) -> Time {
    Time::from_unix_nanos(i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec))
}
