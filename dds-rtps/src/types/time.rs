//! Durations, wall-clock time and the monotonic clock (RTPS 2.5, 8.3.5.5, 9.3.2.1; DDS 1.4, 2.2.3).
//!
//! In memory all three are 64-bit nanoseconds. The wire counts fractions of 2^-32 s. Conversion to the wire rounds up,
//! so that whole nanoseconds are restored exactly.

use std::fmt;
use std::ops::{Add, Sub};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A duration in nanoseconds, or infinite. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Duration(i64);

impl Duration {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Longer than any other duration.
    pub const INFINITE: Self = Self(i64::MAX);

    /// Whole nanoseconds; negative values count as zero.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        if nanos < 0 { Self::ZERO } else { Self(nanos) }
    }

    /// Whole microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self::from_u64(micros, 1_000)
    }

    /// Whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self::from_u64(millis, 1_000_000)
    }

    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self::from_u64(seconds, NANOS_PER_SECOND)
    }

    const fn from_u64(count: u64, unit_nanos: i64) -> Self {
        if count > (i64::MAX / unit_nanos) as u64 {
            return Self::INFINITE;
        }
        Self(count as i64 * unit_nanos)
    }

    /// Nanoseconds; [`i64::MAX`] for [`Duration::INFINITE`].
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whether this is [`Duration::INFINITE`].
    #[must_use]
    pub const fn is_infinite(self) -> bool {
        self.0 == i64::MAX
    }

    /// The duration of the standard library; `None` for [`Duration::INFINITE`].
    #[must_use]
    pub const fn to_std(self) -> Option<std::time::Duration> {
        if self.is_infinite() { None } else { Some(std::time::Duration::from_nanos(self.0 as u64)) }
    }

    /// `self * numerator / denominator`; infinite stays infinite.
    #[must_use]
    pub const fn scale(self, numerator: u32, denominator: u32) -> Self {
        if self.is_infinite() || denominator == 0 {
            return Self::INFINITE;
        }
        // 128 bits hold the product of any two factors, so only the result is clamped.
        let scaled = self.0 as i128 * numerator as i128 / denominator as i128;
        if scaled >= i64::MAX as i128 { Self::INFINITE } else { Self(scaled as i64) }
    }

    /// Seconds (signed) and fraction of the wire; infinite is `7fffffff.ffffffff`.
    #[must_use]
    pub const fn to_wire(self) -> (i32, u32) {
        let seconds = self.0 / NANOS_PER_SECOND;
        // The wire ends at 68 years. A longer duration must not wrap to a short one.
        if self.is_infinite() || seconds > i32::MAX as i64 {
            return (i32::MAX, u32::MAX);
        }
        (seconds as i32, fraction_of((self.0 % NANOS_PER_SECOND) as u64))
    }

    /// The inverse of [`Duration::to_wire`]. `7fffffff.7fffffff`, which some peers send, is infinite too; negative
    /// values are zero.
    #[must_use]
    pub const fn from_wire(seconds: i32, fraction: u32) -> Self {
        if seconds == i32::MAX && (fraction == u32::MAX || fraction == 0x7fff_ffff) {
            return Self::INFINITE;
        }
        if seconds < 0 {
            return Self::ZERO;
        }
        // The sum fits: 31 bits of seconds are less than a quarter of all nanoseconds.
        Self(seconds as i64 * NANOS_PER_SECOND + nanos_of(fraction))
    }
}

/// Converts nanoseconds below one second to units of 2^-32 s, rounded up.
const fn fraction_of(nanos: u64) -> u32 {
    ((nanos << 32).div_ceil(NANOS_PER_SECOND as u64)) as u32
}

/// Converts units of 2^-32 s to nanoseconds, rounded down: the inverse of [`fraction_of`].
const fn nanos_of(fraction: u32) -> i64 {
    ((fraction as u64 * NANOS_PER_SECOND as u64) >> 32) as i64
}

impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        i64::try_from(duration.as_nanos()).map_or(Self::INFINITE, Self)
    }
}

/// [`Duration::INFINITE`] becomes the longest duration of the standard library. All others keep their value.
impl From<Duration> for std::time::Duration {
    fn from(duration: Duration) -> Self {
        duration.to_std().unwrap_or(Self::MAX)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_std() {
            Some(duration) => fmt::Debug::fmt(&duration, f),
            None => f.write_str("infinite"),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A point in wall-clock time: nanoseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(i64);

impl Time {
    /// TIME_INVALID: `ffffffff.ffffffff` on the wire.
    pub const INVALID: Self = Self(i64::MIN);

    /// The current time of the system's clock.
    ///
    /// The protocol never calls this; its caller passes the time. It is for applications that stamp samples themselves.
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        reason = "the one door for applications; the protocol takes `Now` as an argument"
    )]
    pub fn now() -> Self {
        std::time::SystemTime::now().into()
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn as_unix_nanos(self) -> i64 {
        self.0
    }

    /// Whether this is not [`Time::INVALID`].
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.0 != i64::MIN
    }

    /// Seconds and fraction of the wire. Times outside of 1970 to 2106 are clamped.
    #[must_use]
    pub const fn to_wire(self) -> (u32, u32) {
        if !self.is_valid() {
            return (u32::MAX, u32::MAX);
        }
        // The seconds on the wire are unsigned and begin in 1970.
        if self.0 < 0 {
            return (0, 0);
        }
        let seconds = self.0 / NANOS_PER_SECOND;
        // The highest number of seconds is left to TIME_INVALID.
        if seconds >= u32::MAX as i64 {
            return (u32::MAX - 1, u32::MAX);
        }
        (seconds as u32, fraction_of((self.0 % NANOS_PER_SECOND) as u64))
    }

    /// The inverse of [`Time::to_wire`].
    #[must_use]
    pub const fn from_wire(seconds: u32, fraction: u32) -> Self {
        if seconds == u32::MAX && fraction == u32::MAX {
            return Self::INVALID;
        }
        // The sum fits: 32 bits of seconds are less than half of all nanoseconds.
        Self(seconds as i64 * NANOS_PER_SECOND + nanos_of(fraction))
    }
}

impl From<std::time::SystemTime> for Time {
    fn from(time: std::time::SystemTime) -> Self {
        let nanos = match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            // `i64::MIN` is TIME_INVALID, so times before 1970 end one above it.
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN + 1, |nanos| -nanos),
        };
        Self(nanos)
    }
}

impl Sub for Time {
    type Output = Duration;
    /// The duration from `other` to `self`; zero if `other` is later.
    fn sub(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_valid() {
            return f.write_str("invalid");
        }
        write!(f, "{}.{:09}", self.0.div_euclid(NANOS_PER_SECOND), self.0.rem_euclid(NANOS_PER_SECOND))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A point on the monotonic clock: nanoseconds since a fixed moment of the process.
///
/// The clock stops while the host sleeps, so leases and deadlines do not expire all at once afterward.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Instant(u64);

impl Instant {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);

    /// Nanoseconds since the start of the clock.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// `self + duration`; `None` if the duration is infinite.
    #[must_use]
    pub fn after(self, duration: Duration) -> Option<Self> {
        if duration.is_infinite() {
            return None;
        }
        Some(Self(self.0.saturating_add(duration.0 as u64)))
    }

    /// The duration from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        let nanos = self.0.saturating_sub(earlier.0);
        Duration::from_nanos(if nanos > i64::MAX as u64 { i64::MAX } else { nanos as i64 })
    }
}

/// The earlier of two instants, where `None` is never.
#[inline]
pub(crate) fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", std::time::Duration::from_nanos(self.0))
    }
}

/// Both clocks, read at the same moment. Every entry point of the protocol takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// For deadlines, leases and timers.
    pub instant: Instant,
    /// For source and reception timestamps.
    pub time: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_the_wire() {
        for nanos in [0, 1, 999_999_999, 123_456_789, 1_000_000_001, 86_400_000_000_007] {
            let (seconds, fraction) = Duration::from_nanos(nanos).to_wire();
            assert_eq!(Duration::from_wire(seconds, fraction).as_nanos(), nanos);
            let (seconds, fraction) = Time::from_unix_nanos(nanos).to_wire();
            assert_eq!(Time::from_wire(seconds, fraction).as_unix_nanos(), nanos);
        }
    }

    #[test]
    fn infinity_is_infinite_both_ways() {
        assert_eq!(Duration::INFINITE.to_wire(), (i32::MAX, u32::MAX));
        assert_eq!(Duration::from_wire(i32::MAX, 0x7fff_ffff), Duration::INFINITE);
        assert_eq!(Instant::ZERO.after(Duration::INFINITE), None);
        assert_eq!(Duration::from_secs(u64::MAX), Duration::INFINITE);
    }

    #[test]
    fn invalid_time_survives_the_wire() {
        assert_eq!(Time::INVALID.to_wire(), (u32::MAX, u32::MAX));
        assert_eq!(Time::from_wire(u32::MAX, u32::MAX), Time::INVALID);
    }

    #[test]
    fn duration_becomes_that_of_the_standard_library() {
        let millis = std::time::Duration::from_millis(1500);
        assert_eq!(std::time::Duration::from(Duration::from_millis(1500)), millis);
        assert_eq!(std::time::Duration::from(Duration::INFINITE), std::time::Duration::MAX);
        assert_eq!(Duration::from(std::time::Duration::MAX), Duration::INFINITE);
    }

    #[test]
    fn scale_does_not_overflow() {
        assert_eq!(Duration::from_secs(20).scale(8, 10), Duration::from_secs(16));
        assert_eq!(Duration::from_nanos(i64::MAX - 1).scale(3, 1), Duration::INFINITE);
    }
}
