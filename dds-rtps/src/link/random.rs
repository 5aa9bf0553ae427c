//! Random decisions from a seed.

use crate::types::{Duration, SplitMix64};

/// Generator of random decisions that a seed determines.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// Creates a generator; equal seeds give equal sequences.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Draws any number.
    pub fn draw(&mut self) -> u64 {
        self.0.draw()
    }

    /// Returns true with the probability `share`, from 0 to 1.
    ///
    /// Draws nothing if the share is 0, so a seed keeps its meaning when another fault is switched off.
    pub fn happens(&mut self, share: f64) -> bool {
        // 53 bits: the precision of a float.
        share > 0.0 && ((self.draw() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// Draws a number from 0 to below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end.max(1)
    }

    /// Draws a duration from zero to `most`, uniformly. Draws nothing if `most` is zero.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        if most == Duration::ZERO {
            return most;
        }
        let end = u64::try_from(most.as_nanos()).unwrap_or(0).saturating_add(1);
        Duration::from_nanos(i64::try_from(self.below(end)).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_5_percent_happens_about_as_often() {
        let mut random = Random::new(3);
        let happened = (0..100_000).filter(|_| random.happens(0.05)).count();
        assert!((4_700..5_300).contains(&happened), "{happened}");
        assert!((0..1000).all(|_| random.happens(1.0) && !random.happens(0.0)));
    }

    #[test]
    fn drawn_number_stays_below_its_end() {
        let mut random = Random::new(4);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.up_to(Duration::ZERO), Duration::ZERO);
        let most = Duration::from_nanos(3);
        let drawn: Vec<Duration> = (0..100).map(|_| random.up_to(most)).collect();
        assert!(drawn.iter().all(|drawn| *drawn <= most) && drawn.contains(&most) && drawn.contains(&Duration::ZERO));
    }
}
