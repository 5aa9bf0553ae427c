//! The time, as several processes can speak of it.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Nanoseconds of the monotonic clock: the same for all processes of a host.
#[must_use]
pub fn now() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC)
}

/// What to add to [`now`] to get the time of day, in nanoseconds since 1970: how the clocks of two hosts are compared.
#[must_use]
pub fn to_time_of_day() -> i64 {
    nanoseconds(ClockId::CLOCK_REALTIME) as i64 - now() as i64
}

fn nanoseconds(clock: ClockId) -> u64 {
    // Every system has both clocks.
    clock_gettime(clock).map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// Takes back the 50 µs by which Linux may let this thread sleep longer, to save energy.
pub fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    // If it is refused, samples are sent later, and the results say how much.
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Sleeps until `due`, in nanoseconds of [`now`].
pub fn sleep_until(due: u64) {
    let ahead = due.saturating_sub(now());
    if ahead > 0 {
        std::thread::sleep(Duration::from_nanos(ahead));
    }
}

/// Works until `due` without sleeping.
pub fn spin_until(due: u64) {
    while now() < due {
        std::hint::spin_loop();
    }
}
