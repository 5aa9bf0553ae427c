//! Waits for a moment on the driver's thread, at the price of one wake.
//!
//! In: a moment of the [`Clock`]. Out: the end of a wait. Owned: a timer of the system.
//!
//! Tokio keeps its timers in a wheel of wheels, and a moment seconds ahead wakes the thread three times: twice to step down to a finer
//! wheel. At rest that was most of what a participant did. A timer of the system (`timerfd`, Linux) comes once, and does not round
//! to milliseconds; setting it is a system call, so what is near is still left to tokio, and so is all of it where there is none.

use super::clock::Clock;
use dds_rtps::types::{Duration, Instant};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What is nearer than this comes by tokio's finest wheel, or the one above it.
const NEAR: Duration = Duration::from_millis(32);

/// One timer, for one task.
#[derive(Debug)]
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    far: Option<system::Timer>,
}

impl Alarm {
    /// Of the runtime in which this is called.
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            far: system::Timer::new()
                .map_err(|error| tracing::debug!(%error, "timers wake the thread more often"))
                .ok(),
        }
    }

    /// Returns when `woken` does, and at `until` at the latest, hardly later; now and then before both.
    pub(super) async fn wait(&mut self, clock: &Clock, until: Instant, woken: impl Future<Output = ()>) {
        let is_near = clock.now().instant.after(NEAR).is_none_or(|near| until <= near);
        #[cfg(target_os = "linux")]
        if let (false, Some(far), Some(at)) = (is_near, &mut self.far, clock.to_system(until)) {
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
        // Woken or due, the caller looks again.
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

    /// A timer that the runtime waits for. It is never read: setting it anew makes it quiet.
    #[derive(Debug)]
    pub(super) struct Timer {
        descriptor: AsyncFd<Descriptor>,
        /// When it will ring, on the system's monotonic clock.
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

        /// Lets it ring at `at`, on the system's monotonic clock. False: the system refuses.
        pub(super) fn set(&mut self, at: Duration) -> bool {
            if self.set_to == Some(at) {
                return true;
            }
            let once = Expiration::OneShot(TimeSpec::from_duration(at));
            let set = self.descriptor.get_ref().0.set(once, TimerSetTimeFlags::TFD_TIMER_ABSTIME);
            self.set_to = set.is_ok().then_some(at);
            set.is_ok()
        }

        /// Whether it has rung since it was last found to have.
        pub(super) fn poll_rung(&mut self, context: &mut Context<'_>) -> Poll<()> {
            let Poll::Ready(ready) = self.descriptor.poll_read_ready(context) else { return Poll::Pending };
            // An error says that the runtime is ending.
            if let Ok(mut ready) = ready {
                ready.clear_ready();
            }
            self.set_to = None;
            Poll::Ready(())
        }
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::sync::Notify;

    fn run(test: impl AsyncFnOnce(Alarm, Clock)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
        runtime.block_on(async { test(Alarm::new(), Clock::new()).await });
    }

    /// Waits as the driver does, who looks again whenever he is woken. How many waits it took.
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
                // What is far may once be taken for the ring of the one before.
                assert!(reach(&mut alarm, &clock, until).await <= 2, "{pause:?}");
            }
        });
    }

    #[test]
    fn who_is_woken_looks_again_and_waits_for_another_moment() {
        run(async |mut alarm, clock| {
            let (wake, far) =
                (Notify::new(), |seconds| clock.now().instant.after(Duration::from_secs(seconds)).unwrap());
            for seconds in [3_600, 7_200, 3_600] {
                wake.notify_one();
                alarm.wait(&clock, far(seconds), wake.notified()).await;
                assert!(clock.now().instant < far(60), "woken, not due");
            }
            // Set for an hour ahead, it is set anew for a moment.
            let soon = clock.now().instant.after(Duration::from_millis(50)).unwrap();
            reach(&mut alarm, &clock, soon).await;
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_moment_that_has_passed_while_nobody_waited_is_no_ring_for_the_next() {
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
