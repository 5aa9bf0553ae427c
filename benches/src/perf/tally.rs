//! Classifies the samples of one writer: in order, late or repeated.
//!
//! - In: the numbers of the samples in the order of arrival.
//! - Out: the class of each sample.
//! - Owned: one bit for each of the last [`WINDOW`] numbers, which distinguishes late samples from repeated ones.

/// Largest distance to the newest sample at which a repetition is detected.
pub const WINDOW: u64 = 4096;

const WORD_BITS: u64 = 64;
const WORDS: usize = (WINDOW / WORD_BITS) as usize;

/// Class of a received sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Newer than all samples before it.
    InOrder,
    /// Received for the first time after a newer sample, or too far behind to know.
    Late,
    /// Received before.
    Repeated,
}

/// Received numbers of one writer, from 0.
#[derive(Debug, Clone)]
pub struct Tally {
    /// The highest received number plus one.
    next: u64,
    /// Bit `number % WINDOW` is set for each received number from `next - WINDOW` on.
    arrived: [u64; WORDS],
}

impl Default for Tally {
    fn default() -> Self {
        Self { next: 0, arrived: [0; WORDS] }
    }
}

impl Tally {
    /// Classifies the sample `number`.
    pub fn see(&mut self, number: u64) -> Arrival {
        if number >= self.next {
            self.forget_up_to(number);
            self.next = number + 1;
            self.mark(number);
            return Arrival::InOrder;
        }
        if self.next - number > WINDOW {
            return Arrival::Late;
        }
        if self.is_marked(number) {
            return Arrival::Repeated;
        }
        self.mark(number);
        Arrival::Late
    }

    /// Clears the bits of the numbers from `next` to `number`.
    fn forget_up_to(&mut self, number: u64) {
        if number - self.next >= WINDOW {
            self.arrived = [0; WORDS];
            return;
        }
        for skipped in self.next..=number {
            let (word, bit) = place(skipped);
            self.arrived[word] &= !bit;
        }
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.arrived[word] |= bit;
    }

    fn is_marked(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.arrived[word] & bit != 0
    }
}

fn place(number: u64) -> (usize, u64) {
    let at = number % WINDOW;
    ((at / WORD_BITS) as usize, 1 << (at % WORD_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{InOrder, Late, Repeated};

    fn see(numbers: &[u64]) -> Vec<Arrival> {
        let mut tally = Tally::default();
        numbers.iter().map(|number| tally.see(*number)).collect()
    }

    #[test]
    fn rising_numbers_are_in_order_despite_gaps() {
        assert_eq!(see(&[0, 1, 2, 7, 10_000, 1_000_000]), [InOrder; 6]);
    }

    #[test]
    fn overtaken_number_is_late_once() {
        assert_eq!(
            see(&[0, 3, 1, 2, 2, 3, 4, 1]),
            [InOrder, InOrder, Late, Late, Repeated, Repeated, InOrder, Repeated]
        );
    }

    #[test]
    fn number_differs_from_one_a_window_before() {
        let mut tally = Tally::default();
        for number in 0..WINDOW {
            assert_eq!(tally.see(number), InOrder);
        }
        assert_eq!(tally.see(WINDOW + 5), InOrder);
        assert_eq!(tally.see(WINDOW + 1), Late);
        assert_eq!(tally.see(WINDOW + 1), Repeated);
        assert_eq!(tally.see(10), Repeated);
    }

    #[test]
    fn number_behind_the_window_counts_as_late() {
        assert_eq!(see(&[0, 2 * WINDOW, 0]), [InOrder, InOrder, Late]);
    }
}
