//! Random values with a larger share of extreme ones.

use std::collections::BTreeMap;

/// A generator whose values follow from its seed (SplitMix64).
pub(crate) struct Random {
    state: u64,
    /// Nesting depth, within values of one type, of the value in creation.
    depth: usize,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, depth: 0 }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    pub(crate) fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// An integer that callers truncate. At each size, the minimum, the maximum and 0 are frequent.
    pub(crate) fn int(&mut self) -> i64 {
        let bits = *self.one_of(&[8, 16, 32, 64]);
        let top = i64::MIN >> (64 - bits);
        match self.below(8) {
            0 => 0,
            1 => -1,
            2 => top,
            3 => !top,
            _ => self.next() as i64 >> (64 - bits),
        }
    }

    pub(crate) fn f32(&mut self) -> f32 {
        let extremes =
            [0.0, -0.0, 1.0, f32::MIN, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::INFINITY, f32::NAN];
        if self.flag() { *self.one_of(&extremes) } else { self.next() as i32 as f32 / 1024.0 }
    }

    pub(crate) fn f64(&mut self) -> f64 {
        let extremes =
            [0.0, -0.0, 1.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::NEG_INFINITY, f64::NAN];
        if self.flag() { *self.one_of(&extremes) } else { self.next() as i64 as f64 / 1024.0 }
    }

    /// An ASCII letter, because Cyclone DDS's Python supports no others.
    pub(crate) fn letter(&mut self) -> char {
        char::from(self.below(128) as u8)
    }

    /// A UTF-16 unit that is a whole character, because Cyclone's C library refuses surrogates.
    pub(crate) fn wide(&mut self) -> u16 {
        let unit = self.int() as u16;
        if matches!(unit, 0xd800..=0xdfff) { unit - 0x800 } else { unit }
    }

    /// An ASCII string of at most `bound` bytes.
    pub(crate) fn ascii(&mut self, bound: usize) -> String {
        let len = *self.one_of(&[0, 1, bound / 2, bound]);
        (0..len).map(|_| char::from(b' ' + self.below(95) as u8)).collect()
    }

    pub(crate) fn text(&mut self) -> String {
        let len = *self.one_of(&[0, 1, 2, 3, 4, 5, 17, 300]);
        (0..len)
            .map(|_| *self.one_of(&['a', 'Z', ' ', '"', '\n', '\u{7f}', 'ß', '€', '語', '🦀', '\u{10ffff}']))
            .collect()
    }

    pub(crate) fn list<T>(&mut self, len_max: usize, element: impl Fn(&mut Self) -> T) -> Vec<T> {
        let len = match self.below(4) {
            0 => 0,
            1 => len_max,
            _ => self.below(len_max + 1),
        };
        (0..len).map(|_| element(self)).collect()
    }

    pub(crate) fn map<K: Ord, V>(
        &mut self,
        len_max: usize,
        key: impl Fn(&mut Self) -> K,
        value: impl Fn(&mut Self) -> V,
    ) -> BTreeMap<K, V> {
        self.list(len_max, |r| (key(r), value(r))).into_iter().collect()
    }

    /// A value that contains more of the present type: empty below three levels.
    pub(crate) fn deeper<T: Default>(&mut self, value: impl Fn(&mut Self) -> T) -> T {
        if self.depth == 3 {
            return T::default();
        }
        self.depth += 1;
        let made = value(self);
        self.depth -= 1;
        made
    }

    pub(crate) fn option<T>(&mut self, value: impl Fn(&mut Self) -> T) -> Option<T> {
        (!self.flag()).then(|| value(self))
    }
}
