//! Clocks of the system, of no jumps, and of ROS.

use super::timer::Timer;
use crate::Result;
use crate::wait::{Signal, Wait, Waits};
use dds_core::{Duration, Time};
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// How often a wait for a time looks at the clock of the system, which may be set.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The origin of [`ClockKind::Steady`].
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Source of the time of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockKind {
    /// The time of the system.
    System,
    /// The time since an arbitrary point. It never jumps.
    Steady,
    /// The time of `/clock` with the parameter `use_sim_time`, and otherwise that of the system.
    Ros,
}

/// The source of the time of a [`ClockKind::Ros`] changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockChange {
    /// Simulated time before and after.
    RosTimeNoChange,
    /// From the time of the system to `/clock`.
    RosTimeActivated,
    /// From `/clock` to the time of the system.
    RosTimeDeactivated,
}

/// A jump of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeJump {
    /// Whether the source changed.
    pub change: ClockChange,
    /// The time after the jump minus the time before it, in nanoseconds. Negative: back in time.
    pub delta_ns: i64,
}

/// Which jumps a callback is for.
///
/// ```
/// use dds_ros2::{Duration, JumpThreshold};
///
/// let back = JumpThreshold::new().backward(Duration::from_nanos(1)).on_clock_change();
/// # let _ = back;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct JumpThreshold {
    forward: Option<Duration>,
    backward: Option<Duration>,
    is_for_changes: bool,
}

impl JumpThreshold {
    /// No jump.
    pub const fn new() -> Self {
        Self { forward: None, backward: None, is_for_changes: false }
    }

    /// Jumps forward by at least this duration.
    pub const fn forward(mut self, least: Duration) -> Self {
        self.forward = Some(least);
        self
    }

    /// Jumps back by at least this duration.
    pub const fn backward(mut self, least: Duration) -> Self {
        self.backward = Some(least);
        self
    }

    /// Changes of the source.
    pub const fn on_clock_change(mut self) -> Self {
        self.is_for_changes = true;
        self
    }

    fn includes(&self, jump: &TimeJump) -> bool {
        if jump.change != ClockChange::RosTimeNoChange {
            return self.is_for_changes;
        }
        let nanos = jump.delta_ns;
        self.forward.is_some_and(|least| nanos > 0 && nanos >= least.as_nanos())
            || self.backward.is_some_and(|least| nanos < 0 && nanos.saturating_neg() >= least.as_nanos())
    }
}

/// A clock.
///
/// A handle: clones are cheap and refer to the same clock.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange, Duration};
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node("planner")?;
/// let clock = node.clock();
/// let start = clock.now();
/// clock.sleep(Duration::from_millis(5)).block()?;
/// assert!(clock.now() > start);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Clock {
    pub(super) shared: Arc<Shared>,
    waits: Waits,
}

/// The part that the listener of `/clock` reaches.
pub(crate) struct Shared {
    kind: ClockKind,
    /// Notified of each change of simulated time.
    signal: Arc<Signal>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Simulated time, if it is in use. Zero before the first message.
    simulated: Option<Simulated>,
    /// The number of the last subscription of `/clock`.
    last_source: u64,
    /// The time of a message that this subscription received before its start.
    early: Option<Time>,
    next: u64,
    callbacks: Vec<(u64, JumpThreshold, Callback)>,
}

#[derive(Clone, Copy)]
struct Simulated {
    time: Time,
    /// The number of its subscription of `/clock`. A late listener of an older one changes nothing.
    source: u64,
}

/// The calls about a jump. Make them without locks.
#[must_use = "nothing learns the jump until `announce` is called"]
pub(crate) struct Announcement {
    signal: Arc<Signal>,
    jump: TimeJump,
    callbacks: Vec<Callback>,
}

impl Announcement {
    pub(crate) fn announce(self) {
        self.signal.notify();
        for callback in self.callbacks {
            callback(self.jump);
        }
    }
}

type Callback = Arc<dyn Fn(TimeJump) + Send + Sync>;

impl Clock {
    pub(crate) fn new(waits: &Waits, kind: ClockKind) -> Self {
        let shared = Shared { kind, signal: Arc::default(), state: Mutex::default() };
        Self { shared: Arc::new(shared), waits: waits.clone() }
    }

    /// Returns the source of the time.
    #[must_use]
    pub fn kind(&self) -> ClockKind {
        self.shared.kind
    }

    /// Returns the time. Simulated time is zero before the first message on `/clock`.
    #[must_use]
    pub fn now(&self) -> Time {
        match self.shared.kind {
            ClockKind::Steady => Time::from_unix_nanos(i64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(i64::MAX)),
            _ => {
                let simulated = self.shared.state().simulated;
                simulated.map_or_else(|| self.waits.participant.now(), |simulated| simulated.time)
            }
        }
    }

    /// Returns the time of the system.
    pub(super) fn system_now(&self) -> Time {
        self.waits.participant.now()
    }

    /// Returns whether the clock shows the time of `/clock`.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.shared.state().simulated.is_some()
    }

    /// Waits until the clock shows this time or a later one.
    ///
    /// It follows jumps: a jump back makes the wait longer.
    ///
    /// Errors of the wait: [`Error::Timeout`](crate::Error::Timeout), [`Error::Closed`](crate::Error::Closed).
    pub fn sleep_until(&self, time: Time) -> Wait<'static, ()> {
        let clock = self.clone();
        self.wait(move || Ok((clock.now() >= time).then_some(())), move || time)
    }

    /// Waits for this duration of the clock. See [`sleep_until`](Self::sleep_until).
    pub fn sleep(&self, duration: impl Into<Duration>) -> Wait<'static, ()> {
        self.sleep_until(later(self.now(), duration.into()))
    }

    /// Waits until the clock shows a time other than zero: with simulated time, for the first message on `/clock`.
    ///
    /// Errors of the wait: as of [`sleep_until`](Self::sleep_until).
    pub fn wait_until_started(&self) -> Wait<'static, ()> {
        self.sleep_until(Time::from_unix_nanos(1))
    }

    /// Returns a timer that follows this clock. Its first tick comes after one period.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if the period is not positive.
    pub fn timer(&self, period: impl Into<Duration>) -> Result<Timer> {
        Timer::new(self, period.into())
    }

    /// Calls `callback` after each jump of this kind, until the handle is dropped.
    ///
    /// The thread that receives `/clock` calls it, or the one that changes `use_sim_time`. It must neither block nor
    /// change `use_sim_time`.
    pub fn on_jump(&self, threshold: JumpThreshold, callback: impl Fn(TimeJump) + Send + Sync + 'static) -> JumpHandle {
        let mut state = self.shared.state();
        state.next += 1;
        let number = state.next;
        state.callbacks.push((number, threshold, Arc::new(callback)));
        JumpHandle { number, shared: Arc::downgrade(&self.shared) }
    }

    /// Returns a wait that looks again when simulated time changes, or when `due` may be reached.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        poll: impl FnMut() -> Result<Option<T>> + Send + 'static,
        due: impl Fn() -> Time + Send + Sync + Clone + 'static,
    ) -> Wait<'static, T> {
        let (clock, missing) = (self.clone(), due.clone());
        let rest = move || {
            if clock.is_simulated() {
                return Duration::INFINITE;
            }
            let nanos = due().as_unix_nanos().saturating_sub(clock.now().as_unix_nanos());
            Duration::from_nanos(nanos.clamp(1, LOOK_AGAIN.as_nanos()))
        };
        let missing = move || format!("the clock did not reach {} ns", missing().as_unix_nanos());
        Wait::new(&self.waits, &self.shared.signal, poll, missing).look_after(rest)
    }
}

/// Returns a later time. The largest one is the limit.
pub(super) fn later(time: Time, duration: Duration) -> Time {
    Time::from_unix_nanos(time.as_unix_nanos().saturating_add(duration.as_nanos()))
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of a new subscription of `/clock`, for [`start`](Self::start).
    pub(super) fn new_source(&self) -> u64 {
        let mut state = self.state();
        state.last_source += 1;
        state.early = None;
        state.last_source
    }

    /// Starts simulated time: that of the first message, and zero before. `system` is the time of the system.
    pub(super) fn start(&self, source: u64, system: Time) -> Option<Announcement> {
        let mut state = self.state();
        let time = state.early.take().unwrap_or(Time::from_unix_nanos(0));
        self.replace(&mut state, Some(Simulated { time, source }), system)
    }

    /// Returns to the time of the system, which is `system`, unless a newer subscription sets the time.
    pub(super) fn stop(&self, source: u64, system: Time) -> Option<Announcement> {
        let mut state = self.state();
        state.simulated.filter(|simulated| simulated.source == source)?;
        self.replace(&mut state, None, system)
    }

    /// Sets simulated time, unless the subscription was replaced or stopped.
    pub(super) fn advance(&self, source: u64, time: Time) {
        let announcement = {
            let mut state = self.state();
            match state.simulated {
                Some(simulated) if simulated.source == source => {
                    self.replace(&mut state, Some(Simulated { time, source }), time)
                }
                _ => {
                    if state.last_source == source {
                        state.early = Some(time);
                    }
                    None
                }
            }
        };
        if let Some(announcement) = announcement {
            announcement.announce();
        }
    }

    fn replace(&self, state: &mut State, simulated: Option<Simulated>, system: Time) -> Option<Announcement> {
        let before = std::mem::replace(&mut state.simulated, simulated);
        let change = match (before, simulated) {
            (None, None) => return None,
            (None, Some(_)) => ClockChange::RosTimeActivated,
            (Some(_), None) => ClockChange::RosTimeDeactivated,
            (Some(_), Some(_)) => ClockChange::RosTimeNoChange,
        };
        let nanos = |simulated: Option<Simulated>| simulated.map_or(system, |simulated| simulated.time).as_unix_nanos();
        let jump = TimeJump { change, delta_ns: nanos(simulated).saturating_sub(nanos(before)) };
        let called = state.callbacks.iter().filter(|(_, threshold, _)| threshold.includes(&jump));
        let callbacks = called.map(|(_, _, callback)| Arc::clone(callback)).collect();
        Some(Announcement { signal: Arc::clone(&self.signal), jump, callbacks })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("kind", &self.shared.kind).finish_non_exhaustive()
    }
}

/// Ends the calls of a callback when it is dropped. See [`Clock::on_jump`].
#[must_use = "dropping the handle ends the calls"]
pub struct JumpHandle {
    number: u64,
    shared: Weak<Shared>,
}

impl Drop for JumpHandle {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            // Dropped without the lock: a callback may own a clock.
            let removed = {
                let mut state = shared.state();
                let index = state.callbacks.iter().position(|(number, _, _)| *number == self.number);
                index.map(|index| state.callbacks.remove(index))
            };
            drop(removed);
        }
    }
}

impl fmt::Debug for JumpHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JumpHandle")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> Time {
        Time::from_unix_nanos(nanos)
    }

    #[test]
    fn callbacks_get_the_jumps_of_their_threshold() {
        let shared = Arc::new(Shared { kind: ClockKind::Ros, signal: Arc::default(), state: Mutex::default() });
        let seen = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&seen);
        let threshold =
            JumpThreshold::new().forward(Duration::from_nanos(10)).backward(Duration::from_nanos(5)).on_clock_change();
        let callback: Callback = Arc::new(move |jump: TimeJump| own.lock().unwrap().push(jump.delta_ns));
        shared.state().callbacks.push((1, threshold, callback));
        let announce = |announcement: Option<Announcement>| announcement.unwrap().announce();
        let old = shared.new_source();
        announce(shared.start(old, at(1000)));
        announce(shared.stop(old, at(1000)));
        seen.lock().unwrap().clear();
        let source = shared.new_source();
        shared.advance(source, at(100)); // Before the start.
        assert!(shared.state().simulated.is_none());
        announce(shared.start(source, at(1000)));
        for time in [109, 119, 115, 110, 200] {
            shared.advance(source, at(time));
            // A late listener of the old subscription.
            shared.advance(old, at(1));
        }
        assert!(shared.stop(old, at(1000)).is_none());
        announce(shared.stop(source, at(1000)));
        shared.advance(source, at(300));
        assert!(shared.state().simulated.is_none());
        assert_eq!(*seen.lock().unwrap(), [-900, 10, -5, 90, 800]);
        drop(JumpHandle { number: 1, shared: Arc::downgrade(&shared) });
        assert!(shared.state().callbacks.is_empty());
    }
}
