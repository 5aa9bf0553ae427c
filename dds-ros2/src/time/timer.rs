//! Timers that follow a clock.

use super::clock::{Clock, later};
use crate::wait::Wait;
use crate::{Error, Result};
use dds_core::{Duration, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ticks at a fixed rate of a clock.
///
/// Ticks that pass without a wait are skipped, as in `rcl`: the next one keeps the rate. After a jump back in time, the
/// next tick comes within one period.
///
/// A handle: clones are cheap and refer to the same timer, and each tick goes to one of them.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange};
/// # use std::time::Duration;
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node("control")?;
/// let timer = node.timer(Duration::from_millis(10))?;
/// for _ in 0..3 {
///     let tick = timer.next_tick().block()?;
///     assert!(tick.actual >= tick.expected);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[doc(alias = "Rate")]
pub struct Timer {
    clock: Clock,
    period: Duration,
    next: Arc<Mutex<Time>>,
}

/// A tick of a [`Timer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerTick {
    /// When the tick was due.
    pub expected: Time,
    /// When the timer noticed it.
    pub actual: Time,
    /// How many ticks were skipped before it.
    pub skipped: u64,
}

impl Timer {
    pub(super) fn new(clock: &Clock, period: Duration) -> Result<Self> {
        if period.as_nanos() <= 0 || period.is_infinite() {
            let reason = format!("{} ns is no period; expected a positive duration", period.as_nanos());
            return Err(Error::Setting { setting: "period of a timer", reason });
        }
        let next = Arc::new(Mutex::new(later(clock.now(), period)));
        Ok(Self { clock: clock.clone(), period, next })
    }

    /// Waits for the next tick.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    #[doc(alias = "sleep")]
    pub fn next_tick(&self) -> Wait<'static, TimerTick> {
        let (timer, due) = (self.clone(), Arc::clone(&self.next));
        self.clock.wait(move || Ok(timer.take_tick()), move || *lock(&due))
    }

    /// Returns the tick that is due, if there is one.
    #[must_use]
    pub fn take_tick(&self) -> Option<TimerTick> {
        let now = self.clock.now();
        tick(&mut lock(&self.next), now, self.period)
    }

    /// Starts a new period.
    pub fn reset(&self) {
        *lock(&self.next) = later(self.clock.now(), self.period);
    }

    /// Returns the period.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns the clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }
}

fn lock(next: &Mutex<Time>) -> MutexGuard<'_, Time> {
    next.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the tick that is due at `now`, and plans the next one.
fn tick(next: &mut Time, now: Time, period: Duration) -> Option<TimerTick> {
    let expected = *next;
    let late = now.as_unix_nanos().saturating_sub(expected.as_unix_nanos());
    if late < 0 {
        // After a jump back, the next tick must not stay as far away as the jump.
        if late < -period.as_nanos() {
            *next = later(now, period);
        }
        return None;
    }
    let skipped = late / period.as_nanos();
    *next = later(expected, Duration::from_nanos(period.as_nanos().saturating_mul(skipped.saturating_add(1))));
    Some(TimerTick { expected, actual: now, skipped: skipped.unsigned_abs() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_tick_skips_and_keeps_the_rate() {
        let period = Duration::from_nanos(10);
        let at = Time::from_unix_nanos;
        let mut next = at(10);
        assert_eq!(tick(&mut next, at(9), period), None);
        assert_eq!(tick(&mut next, at(10), period).map(|tick| tick.skipped), Some(0));
        assert_eq!(tick(&mut next, at(45), period).map(|tick| tick.skipped), Some(2));
        assert_eq!(next, at(50));
        // A jump back to 3.
        assert_eq!(tick(&mut next, at(3), period), None);
        assert_eq!(next, at(13));
    }
}
