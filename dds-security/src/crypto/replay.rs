//! Which numbers have come already.

/// How many numbers behind the highest one are remembered.
///
/// A datagram waits behind a full socket while other threads of its sender number theirs. At 100 000 datagrams a
/// second this is 80 ms. A datagram that is later counts as lost, and reliable samples are repaired.
const NUMBERS: u64 = 8192;

const WORDS: usize = (NUMBERS / 64) as usize;

/// Remembers the newest numbers of a sender, so that each number is accepted once.
///
/// It needs 1 KiB. Numbers may wrap around.
#[derive(Debug, Clone)]
pub struct ReplayWindow {
    /// The highest accepted number. `None` before the first one.
    highest: Option<u64>,
    /// A bit for each of the last numbers, at the number modulo the size.
    seen: [u64; WORDS],
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { highest: None, seen: [0; WORDS] }
    }
}

impl ReplayWindow {
    /// Accepts a number if it is new. Returns false for a known number, and for one that is too old to know.
    pub fn accept(&mut self, number: u64) -> bool {
        let Some(highest) = self.highest else {
            self.highest = Some(number);
            self.mark(number);
            return true;
        };
        debug_assert!(self.has(highest), "the highest number is marked");
        let ahead = number.wrapping_sub(highest);
        // Numbers wrap around, so the shorter way decides between ahead and behind.
        if ahead != 0 && ahead < 1 << 63 {
            self.forget(highest, ahead);
            self.highest = Some(number);
            self.mark(number);
            return true;
        }
        let behind = highest.wrapping_sub(number);
        if behind >= NUMBERS || self.has(number) {
            return false;
        }
        self.mark(number);
        true
    }

    /// Clears the bits of the numbers that now enter the window.
    fn forget(&mut self, highest: u64, ahead: u64) {
        // A sender may jump by 2^62, and the loop below would take as many steps.
        debug_assert!(ahead > 0, "the caller has checked the direction");
        if ahead >= NUMBERS {
            self.seen = [0; WORDS];
            return;
        }
        for step in 1..=ahead {
            let (word, bit) = place(highest.wrapping_add(step));
            self.seen[word] &= !bit;
        }
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.seen[word] & bit != 0
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.seen[word] |= bit;
    }
}

/// Returns the word and the bit of a number.
fn place(number: u64) -> (usize, u64) {
    let at = number % NUMBERS;
    ((at / 64) as usize, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn number_is_accepted_once_across_the_wrap() {
        let mut window = ReplayWindow::default();
        let start = u64::MAX - 3;
        for step in [0, 2, 1, 9, 5] {
            let number = start.wrapping_add(step);
            assert!(window.accept(number), "{step}");
            assert!(!window.accept(number), "{step} again");
        }
    }

    #[test]
    fn old_number_is_refused() {
        let mut window = ReplayWindow::default();
        assert!(window.accept(100_000));
        assert!(window.accept(100_000 - NUMBERS + 1));
        assert!(!window.accept(100_000 - NUMBERS));
        assert!(!window.accept(0));
        assert!(window.accept(100_000 + (1 << 62)));
        assert!(!window.accept(100_000));
    }

    proptest! {
        #[test]
        fn window_agrees_with_a_set(start in any::<u64>(), steps in proptest::collection::vec(0_u64..30_000, 1..400)) {
            let (mut window, mut known, mut highest) = (ReplayWindow::default(), BTreeSet::new(), None);
            for step in steps {
                let top: u64 = highest.unwrap_or(step);
                let expected = (step > top || top - step < NUMBERS) && known.insert(step);
                highest = Some(top.max(step));
                prop_assert_eq!(window.accept(start.wrapping_add(step)), expected);
            }
        }
    }
}
