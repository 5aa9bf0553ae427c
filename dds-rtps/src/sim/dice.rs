//! Chance from a seed.

use crate::types::{Duration, SplitMix64};

/// What a seed decides.
#[derive(Debug, Clone)]
pub struct Dice(SplitMix64);

impl Dice {
    /// Dice that fall the same way each time for one seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Any number.
    pub fn draw(&mut self) -> u64 {
        self.0.draw()
    }

    /// True in this share of all cases, from 0 to 1. Draws nothing where it is 0, so that a seed keeps its meaning when
    /// another thing that may go wrong is left out.
    pub fn falls(&mut self, share: f64) -> bool {
        // 53 bits: all that a float can tell apart.
        share > 0.0 && ((self.draw() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// From 0 to below `end`; 0 if there is nothing below.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end.max(1)
    }

    /// From no time at all up to `most`, each as likely.
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
    fn shares_come_out_about_right() {
        let mut dice = Dice::new(3);
        let fallen = (0..100_000).filter(|_| dice.falls(0.05)).count();
        assert!((4_700..5_300).contains(&fallen), "{fallen}");
        assert!((0..1000).all(|_| dice.falls(1.0) && !dice.falls(0.0)));
    }

    #[test]
    fn a_draw_stays_below_its_end() {
        let mut dice = Dice::new(4);
        assert_eq!(dice.below(0), 0);
        assert_eq!(dice.up_to(Duration::ZERO), Duration::ZERO);
        let most = Duration::from_nanos(3);
        let drawn: Vec<Duration> = (0..100).map(|_| dice.up_to(most)).collect();
        assert!(drawn.iter().all(|drawn| *drawn <= most) && drawn.contains(&most) && drawn.contains(&Duration::ZERO));
    }
}
