//! A pseudo-random generator with a stable stream.

/// SplitMix64: a few operations per number, equally good from every seed. Not for cryptography.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn draw(&mut self) -> u64 {
        // The constants are those of the reference implementation, so equal seeds give its stream.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first outputs for the seed 1234567 of the reference implementation (S. Vigna, splitmix64.c).
        let mut numbers = SplitMix64::new(1_234_567);
        assert_eq!([numbers.draw(), numbers.draw()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
