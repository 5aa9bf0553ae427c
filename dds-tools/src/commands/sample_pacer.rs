//! Samples at a rate.

use crate::stop::Stop;
use std::time::{Duration, Instant};

/// Paces samples: each one has its own time, so that a late one does not delay the next ones.
pub(super) struct SamplePacer {
    next: Instant,
    period: Option<Duration>,
}

impl SamplePacer {
    /// Creates a pacer for samples at `rate` in hertz. Without a rate, it never waits.
    pub(super) fn new(rate: Option<f64>) -> Self {
        Self { next: Instant::now(), period: rate.map(|rate| Duration::from_secs_f64(1.0 / rate)) }
    }

    /// Waits for the time of the next sample, or until the command should end.
    pub(super) fn wait(&mut self, stop: &Stop) {
        let Some(period) = self.period else { return };
        stop.sleep(self.next.saturating_duration_since(Instant::now()));
        self.next += period;
    }
}
