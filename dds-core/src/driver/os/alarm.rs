//! Waits for an instant on the driver's thread and wakes it only once.
//!
//! In: an instant of the [`Clock`]. Out: the end of a wait. Owned: a system timer.
//!
//! Tokio keeps its timers in a hierarchy of wheels. A timer that is seconds away wakes the thread three times, twice of
//! them to move to a finer wheel. For an idle participant these wakes were most of its work.
//!
//! A system timer (`timerfd`, Linux) wakes the thread once and does not round to milliseconds. But setting it costs a
//! system call, so near instants are left to tokio. Tokio serves all instants where there is no system timer.

use super::clock::Clock;
use dds_rtps::types::{Duration, Instant};
#[cfg(target_os = "linux")]
use std::{future::poll_fn, pin::pin, task::Poll};

/// Nearer instants use tokio's finest wheel, or the next one.
const NEAR: Duration = Duration::from_millis(32);

/// One timer, for one task.
#[derive(Debug)]
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    far: Option<system::Timer>,
}

impl Alarm {
    /// Creates a timer of the current runtime.
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            far: match system::Timer::new() {
                Ok(timer) => Some(timer),
                Err(error) => {
                    tracing::debug!(%error, "timers wake the thread more often");
                    None
                }
            },
        }
    }

    /// Returns when `woken` does, or at `until`. May return earlier, and hardly ever returns later.
    pub(super) async fn wait(&mut self, clock: &Clock, until: Instant, woken: impl Future<Output = ()>) {
        let is_near = match clock.now().instant.after(NEAR) {
            Some(near) => until <= near,
            None => true,
        };
        #[cfg(target_os = "linux")]
        if let (false, Some(far), Some(at)) = (is_near, &mut self.far, clock.to_system(until)) {
            // The system may refuse timers in a container. Then tokio's timer serves this wait.
            if far.set(at) {
                let mut woken = pin!(woken);
                return poll_fn(|context| match woken.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => far.poll_rung(context),
                })
                .await;
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = is_near;
        // Woken or due: the caller checks in both cases.
        drop(tokio::time::timeout_at(clock.to_tokio(until), woken).await);
    }

    /// Returns after `pause`.
    #[cfg(feature = "udp")]
    pub(super) async fn sleep(&mut self, clock: &Clock, pause: Duration) {
        let Some(until) = clock.now().instant.after(pause) else { return std::future::pending().await };
        while clock.now().instant < until {
            self.wait(clock, until, std::future::pending()).await;
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, RawFd};
    use std::task::{Context, Poll};
    use std::time::Duration;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer that the runtime waits for. It is never read, because setting it again clears it.
    #[derive(Debug)]
    pub(super) struct Timer {
        descriptor: AsyncFd<Descriptor>,
        /// Time of expiration, on the system's monotonic clock.
        set_to: Option<Duration>,
    }

    #[derive(Debug)]
    struct Descriptor(TimerFd);

    impl AsRawFd for Descriptor {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            #[allow(
                deprecated,
                reason = "what replaces it is unsafe, and not in tokio 1.47; a `Timer` keeps its one descriptor open as long as it lives"
            )]
            let descriptor = AsyncFd::with_interest(Descriptor(timer), Interest::READABLE)?;
            Ok(Self { descriptor, set_to: None })
        }

        /// Sets the expiration to `at` on the system's monotonic clock. Returns false if the system refuses.
        pub(super) fn set(&mut self, at: Duration) -> bool {
            // Most waits of an idle participant end at the same instant, so the system call can be skipped.
            if self.set_to == Some(at) {
                return true;
            }
            let once = Expiration::OneShot(TimeSpec::from_duration(at));
            let set = self.descriptor.get_ref().0.set(once, TimerSetTimeFlags::TFD_TIMER_ABSTIME);
            self.set_to = if set.is_ok() { Some(at) } else { None };
            set.is_ok()
        }

        /// Ready if the timer has expired since the last call that was ready.
        pub(super) fn poll_rung(&mut self, context: &mut Context<'_>) -> Poll<()> {
            let Poll::Ready(ready) = self.descriptor.poll_read_ready(context) else { return Poll::Pending };
            // An error means that the runtime is ending.
            if let Ok(mut ready) = ready {
                ready.clear_ready();
            }
            // Forget the time, so that the next `set` arms the timer again.
            self.set_to = None;
            Poll::Ready(())
        }
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::sync::Notify;

    fn run(test: impl AsyncFnOnce(Alarm, Clock)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
        runtime.block_on(async { test(Alarm::new(), Clock::new()).await });
    }

    /// Waits like the driver, which checks after each wake. Returns the number of waits.
    async fn reach(alarm: &mut Alarm, clock: &Clock, until: Instant) -> usize {
        let mut waits = 0;
        while clock.now().instant < until {
            alarm.wait(clock, until, pending()).await;
            waits += 1;
        }
        waits
    }

    #[test]
    fn a_moment_comes_whether_it_is_near_or_far() {
        run(async |mut alarm, clock| {
            for pause in [0, 1, 31, 33, 80, 5, 100].map(Duration::from_millis) {
                let until = clock.now().instant.after(pause).unwrap();
                // A wait may end once because of the previous expiration.
                assert!(reach(&mut alarm, &clock, until).await <= 2, "{pause:?}");
            }
        });
    }

    #[test]
    fn woken_alarm_waits_for_new_deadline() {
        run(async |mut alarm, clock| {
            let (wake, far) =
                (Notify::new(), |seconds| clock.now().instant.after(Duration::from_secs(seconds)).unwrap());
            for seconds in [3_600, 7_200, 3_600] {
                wake.notify_one();
                alarm.wait(&clock, far(seconds), wake.notified()).await;
                assert!(clock.now().instant < far(60), "woken, not due");
            }
            // The timer is set to an hour ahead, and is now set to a near instant.
            let soon = clock.now().instant.after(Duration::from_millis(50)).unwrap();
            reach(&mut alarm, &clock, soon).await;
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn missed_deadline_does_not_end_next_wait() {
        run(async |mut alarm, clock| {
            let (wake, now) = (Notify::new(), clock.now().instant);
            wake.notify_one();
            alarm.wait(&clock, now.after(Duration::from_millis(40)).unwrap(), wake.notified()).await;
            let rung = now.after(Duration::from_millis(60)).unwrap();
            while clock.now().instant < rung {
                std::hint::spin_loop();
            }
            let until = clock.now().instant.after(Duration::from_millis(60)).unwrap();
            assert_eq!(reach(&mut alarm, &clock, until).await, 1);
        });
    }
}
