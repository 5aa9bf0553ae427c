//! Windowed minimum of recent durations.

use super::Duration;

/// Durations per half of the window.
const COUNT: u8 = 16;

/// The minimum of the last 16 to 32 durations.
///
/// A shorter duration counts at once. A longer one counts when all shorter ones have expired.
#[derive(Debug, Default)]
pub(crate) struct Shortest {
    shortest: Option<Duration>,
    /// Minimum of the durations since the last half ended. `count` is their number.
    since: Option<Duration>,
    count: u8,
}

impl Shortest {
    /// Adds a duration.
    pub(crate) fn note(&mut self, took: Duration) {
        let shorter = |known: Option<Duration>| Some(known.map_or(took, |known| known.min(took)));
        self.shortest = shorter(self.shortest);
        self.since = shorter(self.since);
        self.count += 1;
        // The values before `since` expire, so the window covers 16 to 32 durations.
        if self.count >= COUNT {
            self.count = 0;
            self.shortest = self.since.take();
        }
    }

    /// Returns the minimum; `None` before the first duration.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.shortest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_time_counts_at_once_and_a_longer_one_after_a_while() {
        let mut shortest = Shortest::default();
        assert_eq!(shortest.get(), None);
        for (ms, known) in [(60, 60), (300, 60), (40, 40)] {
            shortest.note(Duration::from_millis(ms));
            assert_eq!(shortest.get(), Some(Duration::from_millis(known)));
        }
        (0..32).for_each(|_| shortest.note(Duration::from_millis(50)));
        assert_eq!(shortest.get(), Some(Duration::from_millis(50)));
    }

    #[test]
    fn a_time_is_forgotten_with_the_sixteen_behind_its_own() {
        for place in 0..COUNT {
            let mut shortest = Shortest::default();
            for at in 0..2 * COUNT {
                shortest.note(Duration::from_millis(if at == place { 10 } else { 50 }));
                let is_known = place <= at && at + 1 < 2 * COUNT;
                assert_eq!(
                    shortest.get(),
                    Some(Duration::from_millis(if is_known { 10 } else { 50 })),
                    "{place}, {at}"
                );
            }
        }
    }
}
