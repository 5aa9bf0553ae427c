//! Clocks that several processes share.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Nanoseconds of the monotonic clock, which all processes of a host share.
#[must_use]
pub fn now() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC)
}

/// Difference of [`now`] to the time of day, in nanoseconds. It relates the clocks of two hosts.
#[must_use]
pub fn to_time_of_day() -> i64 {
    nanoseconds(ClockId::CLOCK_REALTIME) as i64 - now() as i64
}

fn nanoseconds(clock: ClockId) -> u64 {
    // Both clocks exist on each system.
    clock_gettime(clock).map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// Removes the 50 µs by which Linux may extend each sleep of this thread to save energy.
pub fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    // If this fails, samples are sent later. The results report the delay.
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Sleeps until `due`, in nanoseconds of [`now`].
pub fn sleep_until(due: u64) {
    let ahead = due.saturating_sub(now());
    if ahead > 0 {
        std::thread::sleep(Duration::from_nanos(ahead));
    }
}

/// Spins until `due`.
pub fn spin_until(due: u64) {
    while now() < due {
        std::hint::spin_loop();
    }
}
