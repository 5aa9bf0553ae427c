//! Times and durations.

use super::encoded_as;
use super::structs::Seconds;
use crate::cdr::EncodeError;
use std::time::{Duration, SystemTime};

/// Nanoseconds of a second.
pub(super) const NANOS: u32 = 1_000_000_000;

impl Seconds {
    /// Creates the wire value; an error beyond 32 bits of seconds.
    pub(super) fn new(sec: impl TryInto<i32>, nanosec: u32) -> Result<Self, EncodeError> {
        debug_assert!(nanosec < NANOS, "the seconds hold the rest");
        match sec.try_into() {
            Ok(sec) => Ok(Self { sec, nanosec }),
            Err(_) => Err(EncodeError::SecondsBeyond32Bits),
        }
    }

    /// Returns the seconds and nanoseconds; `None` if the nanoseconds are a second or more.
    pub(super) fn parts(&self) -> Option<(i32, u32)> {
        // A peer may send more, and constructors of `std` would panic or carry over.
        if self.nanosec < NANOS { Some((self.sec, self.nanosec)) } else { None }
    }

    /// Creates the wire value of a time relative to an epoch, before or after it.
    fn since_epoch(since: Result<Duration, Duration>) -> Result<Self, EncodeError> {
        match since {
            Ok(after) => Self::new(after.as_secs(), after.subsec_nanos()),
            Err(before) => {
                // The nanoseconds always count forward, so a time before the epoch starts one second earlier.
                let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                match before.subsec_nanos() {
                    0 => Self::new(-seconds, 0),
                    nanos => Self::new(-seconds - 1, NANOS - nanos),
                }
            }
        }
    }
}

fn system_time(wire: &Seconds) -> Option<SystemTime> {
    let (sec, nanosec) = wire.parts()?;
    let seconds = Duration::from_secs(sec.unsigned_abs().into());
    // The platform decides the range of a `SystemTime`.
    let whole = match sec {
        0.. => SystemTime::UNIX_EPOCH.checked_add(seconds),
        _ => SystemTime::UNIX_EPOCH.checked_sub(seconds),
    };
    whole?.checked_add(Duration::from_nanos(nanosec.into()))
}

fn duration(wire: &Seconds) -> Option<Duration> {
    let (sec, nanosec) = wire.parts()?;
    // A `Duration` has no sign, so a negative one does not fit.
    Some(Duration::new(u64::try_from(sec).ok()?, nanosec))
}

encoded_as! {
    Duration => Seconds, |value| Seconds::new(value.as_secs(), value.subsec_nanos()), |wire| duration(&wire);
    SystemTime => Seconds,
        |value| Seconds::since_epoch(value.duration_since(SystemTime::UNIX_EPOCH).map_err(|error| error.duration())),
        |wire| system_time(&wire);
}
