//! The time of a replay: its speed, pauses and single steps.
//!
//! In: keys, the present time, and the place of the next sample in the recording. Out: whether the sample is due.

use std::time::{Duration, Instant};

/// What a user wants of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayKey {
    /// Stop the time, or let it go on.
    Pause,
    /// Play the next sample, and stop the time after it.
    Step,
    /// End the replay.
    End,
}

/// Whether a sample is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayWait {
    /// It is.
    Due,
    /// In this time, unless a key changes that.
    In(Duration),
    /// Only a key makes it due.
    Paused,
}

/// A place in a recording that moves with the time.
#[derive(Debug)]
pub(super) struct PlayClock {
    rate: f64,
    /// The place at `running_since`, or while it stands still.
    place: Duration,
    /// `None` while it stands still.
    running_since: Option<Instant>,
    /// Samples to play although the time stands still.
    steps: u64,
}

impl PlayClock {
    /// Creates a running clock at the first sample. `rate` is its speed.
    pub(super) fn new(rate: f64, now: Instant) -> Self {
        Self { rate, place: Duration::ZERO, running_since: Some(now), steps: 0 }
    }

    /// Goes back to the first sample. A paused clock stays paused.
    pub(super) fn restart(&mut self, now: Instant) {
        self.place = Duration::ZERO;
        self.running_since = self.running_since.and(Some(now));
    }

    /// Returns the present place in the recording, from the first sample on.
    pub(super) fn place(&self, now: Instant) -> Duration {
        match self.running_since {
            Some(since) => self.place + now.saturating_duration_since(since).mul_f64(self.rate),
            None => self.place,
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        self.running_since.is_none()
    }

    /// Stops the time, or lets it go on from where it stands.
    pub(super) fn toggle(&mut self, now: Instant) {
        self.place = self.place(now);
        self.steps = 0;
        self.running_since = match self.running_since {
            Some(_) => None,
            None => Some(now),
        };
    }

    /// Makes the next sample due, and stops the time.
    pub(super) fn step(&mut self, now: Instant) {
        if !self.is_paused() {
            self.toggle(now);
        }
        self.steps += 1;
    }

    /// Returns when the sample at `due` may be played. [`PlayWait::Due`] uses up a step.
    pub(super) fn wait_for(&mut self, due: Duration, now: Instant) -> PlayWait {
        if self.is_paused() {
            if self.steps == 0 {
                return PlayWait::Paused;
            }
            self.steps -= 1;
            // The time goes on from the played sample.
            self.place = self.place.max(due);
            return PlayWait::Due;
        }
        match due.saturating_sub(self.place(now)) {
            Duration::ZERO => PlayWait::Due,
            left => PlayWait::In(left.div_f64(self.rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PlayClock, PlayWait};
    use std::time::{Duration, Instant};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn sample_is_due_by_the_rate() {
        let start = Instant::now();
        let mut clock = PlayClock::new(2.0, start);
        assert_eq!(clock.wait_for(Duration::ZERO, start), PlayWait::Due);
        assert_eq!(clock.wait_for(4 * SECOND, start), PlayWait::In(2 * SECOND));
        assert_eq!(clock.wait_for(4 * SECOND, start + SECOND), PlayWait::In(SECOND));
        assert_eq!(clock.wait_for(4 * SECOND, start + 2 * SECOND), PlayWait::Due);
    }

    #[test]
    fn pause_moves_all_later_samples() {
        let start = Instant::now();
        let mut clock = PlayClock::new(1.0, start);
        clock.toggle(start + SECOND);
        assert_eq!(clock.wait_for(Duration::ZERO, start + SECOND), PlayWait::Paused, "also a sample that is late");
        assert_eq!(clock.place(start + 100 * SECOND), SECOND);
        clock.toggle(start + 100 * SECOND);
        assert_eq!(clock.wait_for(3 * SECOND, start + 100 * SECOND), PlayWait::In(2 * SECOND));
        assert_eq!(clock.wait_for(3 * SECOND, start + 102 * SECOND), PlayWait::Due);
    }

    #[test]
    fn each_step_plays_one_sample_and_keeps_its_place() {
        let start = Instant::now();
        let mut clock = PlayClock::new(1.0, start);
        clock.step(start);
        clock.step(start);
        assert_eq!(clock.wait_for(5 * SECOND, start), PlayWait::Due);
        assert_eq!(clock.wait_for(9 * SECOND, start), PlayWait::Due);
        assert_eq!(clock.wait_for(10 * SECOND, start + 60 * SECOND), PlayWait::Paused);
        clock.toggle(start + 60 * SECOND);
        assert_eq!(clock.wait_for(10 * SECOND, start + 60 * SECOND), PlayWait::In(SECOND));
    }

    #[test]
    fn paused_clock_starts_the_next_round_paused() {
        let start = Instant::now();
        let mut clock = PlayClock::new(1.0, start);
        clock.restart(start + SECOND);
        assert_eq!(clock.wait_for(SECOND, start + SECOND), PlayWait::In(SECOND));
        clock.step(start + SECOND);
        assert_eq!(clock.wait_for(SECOND, start + SECOND), PlayWait::Due);
        clock.restart(start + SECOND);
        assert_eq!(
            (clock.wait_for(Duration::ZERO, start + SECOND), clock.place(start)),
            (PlayWait::Paused, Duration::ZERO)
        );
    }
}
