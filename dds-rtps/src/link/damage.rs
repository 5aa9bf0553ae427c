//! Changes to the bytes of a datagram.

use super::{Conditions, NetworkCounters, Random};

/// Change to the bytes of one copy of a datagram: it loses its end, or one bit flips, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// How many bytes remain.
    len: usize,
    flipped_bit: Option<usize>,
}

impl Damage {
    /// Draws the damage of one copy of a datagram of `len` bytes; `None` if it arrives as it was sent.
    pub fn draw(
        len: usize,
        conditions: &Conditions,
        random: &mut Random,
        counters: &mut NetworkCounters,
    ) -> Option<Self> {
        if len == 0 {
            return None;
        }
        let mut damage = Self { len, flipped_bit: None };
        if random.happens(conditions.truncated) {
            counters.truncated += 1;
            damage.len = random.below(len as u64) as usize;
        }
        // The flipped bit lies in the bytes that remain.
        if damage.len > 0 && random.happens(conditions.damaged) {
            counters.damaged += 1;
            damage.flipped_bit = Some(random.below(damage.len as u64 * 8) as usize);
        }
        let is_whole = damage.len == len && damage.flipped_bit.is_none();
        if is_whole { None } else { Some(damage) }
    }

    /// Applies the damage to the bytes that it was drawn for.
    pub fn apply(self, bytes: &mut Vec<u8>) {
        debug_assert!(self.len <= bytes.len(), "damage applies to the datagram that it was drawn for");
        bytes.truncate(self.len);
        let Some(bit) = self.flipped_bit else { return };
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_datagram_differs_in_one_bit() {
        let conditions = Conditions::immediate().damaging(1.0);
        let mut random = Random::new(1);
        let mut counters = NetworkCounters::default();
        for _ in 0..100 {
            let mut bytes = vec![0; 100];
            Damage::draw(100, &conditions, &mut random, &mut counters).unwrap().apply(&mut bytes);
            assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        }
        assert_eq!((counters.damaged, counters.truncated), (100, 0));
        assert_eq!(Damage::draw(0, &conditions, &mut random, &mut counters), None);
    }

    #[test]
    fn truncated_datagram_is_shorter() {
        let conditions = Conditions { truncated: 1.0, ..Conditions::immediate() };
        let mut counters = NetworkCounters::default();
        let mut bytes = vec![7; 100];
        Damage::draw(100, &conditions, &mut Random::new(1), &mut counters).unwrap().apply(&mut bytes);
        assert!(bytes.len() < 100 && bytes.iter().all(|byte| *byte == 7));
        assert_eq!(counters.truncated, 1);
    }
}
