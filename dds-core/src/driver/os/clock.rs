//! The system's clocks, and random numbers.

use crate::sync::{AtomicU32, AtomicU64, Ordering, Process};
use dds_rtps::types::{Instant, Now, Time};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;
use std::time;

/// Maximum age of the offset between the clocks, in nanoseconds.
///
/// Both clocks run at the same rate, because the kernel slews both. They diverge only when the real-time clock is set.
/// This driver notices that with this delay at most.
const OFFSET_AGE_MAX: u64 = 1_000_000;

/// Instead of a number of forks, in a child that was not counted.
const FORKED: u32 = u32::MAX;

/// Number of measurements of the offset, if each one is interrupted.
const TRIES: usize = 4;

/// A longer measurement, in nanoseconds, was interrupted.
const UNDISTURBED: u64 = 2_000;

/// One origin for the whole process, so that its participants can compare their instants.
static ORIGIN: OnceLock<ClockOrigin> = OnceLock::new();

/// The origin on both representations of the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct ClockOrigin {
    instant: time::Instant,
    /// Nanoseconds of the system's clock, or 0 where it is not read directly.
    ///
    /// Not later than `instant`. So an instant that is converted for tokio may be late by the difference, but never
    /// early.
    nanos: u64,
}

impl ClockOrigin {
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    fn new() -> Self {
        let nanos = system_nanos().unwrap_or(0);
        Self { instant: time::Instant::now(), nanos }
    }

    /// Nanoseconds since the origin.
    #[inline]
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    fn age(&self) -> u64 {
        if let Some(nanos) = system_nanos() {
            return nanos.saturating_sub(self.nanos);
        }
        let elapsed = self.instant.elapsed();
        elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
    }
}

/// Monotonic clock of this process, in nanoseconds since its origin.
pub(super) fn nanos() -> u64 {
    ORIGIN.get_or_init(ClockOrigin::new).age()
}

/// Reads the monotonic clock of the system.
///
/// [`time::Instant`] uses the same clock, but its subtraction costs as much again.
#[cfg(target_os = "linux")]
#[inline]
fn system_nanos() -> Option<u64> {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).ok()?;
    Some(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// On other systems `time::Instant` may use another clock.
#[cfg(not(target_os = "linux"))]
#[inline]
const fn system_nanos() -> Option<u64> {
    None
}

/// Reads both clocks at the cost of one.
#[derive(Debug)]
pub(super) struct Clock {
    origin: ClockOrigin,
    /// Real time minus monotonic time, in nanoseconds (wrapping).
    offset: AtomicU64,
    /// Time of the last measurement of the offset, on the monotonic clock.
    measured: AtomicU64,
    process: Process,
    /// Number of forks of `process`, or `FORKED` in a child.
    forks: AtomicU32,
}

impl Clock {
    pub(super) fn new() -> Self {
        let origin = *ORIGIN.get_or_init(ClockOrigin::new);
        let process = Process::current();
        let clock = Self {
            origin,
            offset: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            process,
            forks: AtomicU32::new(Process::known_forks()),
        };
        clock.measure_offset();
        clock
    }

    #[inline]
    pub(super) fn now(&self) -> Now {
        let monotonic = self.monotonic();
        // Usually the stored offset is recent enough, and only one clock is read.
        if monotonic.wrapping_sub(self.measured.load(Ordering::Relaxed)) > OFFSET_AGE_MAX {
            self.measure_offset();
        }
        let real = monotonic.wrapping_add(self.offset.load(Ordering::Relaxed));
        Now { instant: Instant::from_nanos(monotonic), time: Time::from_unix_nanos(real as i64) }
    }

    /// Whether this is a child of the process that created the clock.
    pub(super) fn is_forked(&self) -> bool {
        self.was_forked() || self.note_forked(self.process.is_left())
    }

    fn note_forked(&self, forked: bool) -> bool {
        if forked {
            self.forks.store(FORKED, Ordering::Relaxed);
        }
        forked
    }

    /// Whether that is known already.
    #[inline]
    pub(super) fn was_forked(&self) -> bool {
        self.forks.load(Ordering::Relaxed) != Process::known_forks()
    }

    /// Converts to tokio's clock.
    pub(super) fn to_tokio(&self, instant: Instant) -> tokio::time::Instant {
        let since = time::Duration::from_nanos(instant.as_nanos());
        // An instant beyond the clock's range is replaced by one that is a year away.
        const YEAR: time::Duration = time::Duration::from_secs(365 * 24 * 3600);
        let origin = self.origin.instant;
        origin.checked_add(since).or(origin.checked_add(YEAR)).unwrap_or(origin).into()
    }

    /// Converts to the system's monotonic clock. `None` if that is another clock.
    #[cfg(target_os = "linux")]
    pub(super) fn to_system(&self, instant: Instant) -> Option<time::Duration> {
        if self.origin.nanos == 0 {
            return None;
        }
        Some(time::Duration::from_nanos(self.origin.nanos.saturating_add(instant.as_nanos())))
    }

    #[inline]
    fn monotonic(&self) -> u64 {
        self.origin.age()
    }

    #[cold]
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    fn measure_offset(&self) {
        // Checked here as well, so that a child that only writes also notices the fork, however it was forked.
        self.note_forked(self.process.has_other_id());
        for _ in 0..TRIES {
            let before = self.monotonic();
            let real = Time::from(time::SystemTime::now()).as_unix_nanos() as u64;
            let after = self.monotonic();
            // Pair the real time with the middle of both readings, which halves the error.
            self.offset.store(real.wrapping_sub(before.midpoint(after)), Ordering::Relaxed);
            self.measured.store(after, Ordering::Relaxed);
            if after - before < UNDISTURBED {
                return;
            }
        }
    }
}

/// Returns a number that no other call returns: not in another process, after a restart, or in a forked child.
pub(super) fn random(now: Now) -> u64 {
    // The keys of the hasher come from the system's generator, and change with every new state. A forked child inherits
    // them, so the process ID and the time are added.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_i64(now.time.as_unix_nanos());
    hasher.write_u64(now.instant.as_nanos());
    hasher.finish()
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_forward_together() {
        let clock = Clock::new();
        let first = clock.now();
        let mut last = first;
        while last.instant.as_nanos() - first.instant.as_nanos() < 3 * OFFSET_AGE_MAX {
            let now = clock.now();
            assert!(now.instant >= last.instant);
            last = now;
        }
        let real: Time = Time::now();
        assert!((real - last.time).as_nanos() < 1_000_000_000);
    }

    #[test]
    fn random_numbers_differ() {
        let now = Clock::new().now();
        assert_ne!(random(now), random(now));
    }
}
