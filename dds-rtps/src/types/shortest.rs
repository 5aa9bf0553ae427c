//! The shortest of the last few times that something took.

use super::Duration;

/// So many are looked at.
const COUNT: u8 = 16;

/// What something takes if nothing holds it up: the shortest of the last 16 to 32 times. A shorter time counts at once, a longer
/// one when it has become the rule.
#[derive(Debug, Default)]
pub(crate) struct Shortest {
    shortest: Option<Duration>,
    /// The shortest of those since it was found out last, and how many they are.
    since: Option<Duration>,
    count: u8,
}

impl Shortest {
    /// It took so long.
    pub(crate) fn note(&mut self, took: Duration) {
        let shorter = |known: Option<Duration>| Some(known.map_or(took, |known| known.min(took)));
        self.shortest = shorter(self.shortest);
        self.since = shorter(self.since);
        self.count += 1;
        if self.count >= COUNT {
            self.count = 0;
            self.shortest = self.since.take();
        }
    }

    /// The shortest time; `None` before the first one.
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
