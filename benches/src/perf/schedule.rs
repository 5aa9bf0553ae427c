//! When the samples of an open loop are due.
//!
//! - In: the rate.
//! - Out: the time of each send, counted from the start.
//!
//! The times do not depend on earlier sends. A delayed sender sends overdue samples at once, and their latency counts
//! from the time at which they were due. So a stall affects each sample that it delays (no coordinated omission).

/// The times at which samples are due, in nanoseconds from the start.
#[derive(Debug, Clone)]
pub struct Schedule {
    period: f64,
    due: u64,
    sent: u64,
}

impl Schedule {
    /// Creates a schedule of `per_second` samples. The first one is due at once.
    #[must_use]
    pub fn new(per_second: f64) -> Self {
        Self { period: 1e9 / per_second, due: 0, sent: 0 }
    }

    /// Time at which the next sample is due.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Advances to the next sample.
    pub fn advance(&mut self) {
        self.sent += 1;
        // Computed from the count, so rounding errors do not add up.
        self.due = (self.sent as f64 * self.period).round() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        let due = std::iter::repeat_with(|| {
            let due = schedule.due();
            schedule.advance();
            due
        });
        due.take(count).collect()
    }

    #[test]
    fn samples_are_due_one_period_apart() {
        assert_eq!(first(&mut Schedule::new(1000.0), 4), [0, 1_000_000, 2_000_000, 3_000_000]);
    }

    #[test]
    fn fractional_period_does_not_drift() {
        let mut schedule = Schedule::new(3.0);
        let due = first(&mut schedule, 3_000_001);
        assert_eq!(due.last(), Some(&1_000_000_000_000_000));
    }

    #[test]
    fn stall_does_not_move_due_times() {
        // The sender slept for ten periods. The due time of the eleventh sample does not change.
        let mut schedule = Schedule::new(1e6);
        let now = 10_500;
        let overdue = std::iter::from_fn(|| {
            let due = schedule.due();
            (due <= now).then(|| schedule.advance()).map(|()| due)
        });
        assert_eq!(overdue.count(), 11);
        assert_eq!(schedule.due(), 11_000);
    }
}
