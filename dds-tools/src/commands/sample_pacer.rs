//! Samples at a rate.

use crate::stop::Stop;
use std::time::{Duration, Instant};

/// Paces samples: each one has its own time, so that a late one does not delay the next ones.
pub(super) struct SamplePacer {
    next: Instant,
    period: Option<Duration>,
}

/// Lets the sleeps of this thread end in time. Linux may extend each by 50 µs to save energy.
pub(super) fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    // If this fails, samples are sent later, and the statistics show it.
    let _ = nix::sys::prctl::set_timerslack(1);
}

impl SamplePacer {
    /// Creates a pacer for samples at `rate` in hertz, for this thread. Without a rate, it never waits.
    pub(super) fn new(rate: Option<f64>) -> Self {
        if rate.is_some() {
            sleep_exactly();
        }
        Self { next: Instant::now(), period: rate.map(|rate| Duration::from_secs_f64(1.0 / rate)) }
    }

    /// Waits for the time of the next sample, or until the command should end.
    pub(super) fn wait(&mut self, stop: &Stop) {
        let Some(period) = self.period else { return };
        stop.sleep(self.next.saturating_duration_since(Instant::now()));
        self.next += period;
    }
}
