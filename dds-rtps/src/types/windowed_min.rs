//! Windowed minimum of recent durations.

use super::Duration;

/// Durations per half of the window.
const HALF_LEN: u8 = 16;

/// The minimum of the last 16 to 32 durations.
///
/// A shorter duration counts at once. A longer one counts when all shorter ones have expired.
#[derive(Debug, Default)]
pub(crate) struct WindowedMin {
    min: Option<Duration>,
    /// Minimum of the durations since the last half ended. `count` is their number.
    min_of_half: Option<Duration>,
    count: u8,
}

impl WindowedMin {
    /// Adds a duration.
    pub(crate) fn note(&mut self, duration: Duration) {
        self.min = Some(lower(self.min, duration));
        self.min_of_half = Some(lower(self.min_of_half, duration));
        self.count += 1;
        // The values before this half expire, so the window covers 16 to 32 durations.
        if self.count >= HALF_LEN {
            self.count = 0;
            self.min = self.min_of_half.take();
        }
    }

    /// Returns the minimum; `None` before the first duration.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.min
    }
}

fn lower(min: Option<Duration>, duration: Duration) -> Duration {
    match min {
        Some(min) => min.min(duration),
        None => duration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windowed_min_drops_at_once_and_rises_after_expiry() {
        let mut min = WindowedMin::default();
        assert_eq!(min.get(), None);
        for (ms, known) in [(60, 60), (300, 60), (40, 40)] {
            min.note(Duration::from_millis(ms));
            assert_eq!(min.get(), Some(Duration::from_millis(known)));
        }
        for _ in 0..32 {
            min.note(Duration::from_millis(50));
        }
        assert_eq!(min.get(), Some(Duration::from_millis(50)));
    }

    #[test]
    fn windowed_min_forgets_value_one_half_after_its_own() {
        for place in 0..HALF_LEN {
            let mut min = WindowedMin::default();
            for at in 0..2 * HALF_LEN {
                min.note(Duration::from_millis(if at == place { 10 } else { 50 }));
                let is_known = place <= at && at + 1 < 2 * HALF_LEN;
                let expected = Duration::from_millis(if is_known { 10 } else { 50 });
                assert_eq!(min.get(), Some(expected), "{place}, {at}");
            }
        }
    }
}
