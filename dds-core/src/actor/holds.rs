//! Counts the work done in one hold of a cell, which blocks other visitors.
//!
//! Work is counted in steps, not in time, so that tests can assert on it. A step takes about a microsecond or more: a
//! piece of mail, a sent datagram, a redelivered change. Exists only in builds with debug assertions.

use std::cell::Cell;
use std::fmt;

/// Work done while a cell is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldStep {
    /// A datagram was given to the kernel, or refused by it.
    Datagram,
    /// A change was delivered again to a slow local reader.
    Redelivery,
}

/// Powers of two, from 0 on: 0, 1, 2 to 3, 4 to 7, … and everything from 512 on.
const BUCKETS: usize = 11;

/// All holds of one cell so far, by length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holds {
    /// By pieces of served mail, most of them for other senders.
    pub mail: HoldHistogram,
    /// By datagrams.
    pub datagrams: HoldHistogram,
    /// By redelivered changes.
    pub redeliveries: HoldHistogram,
}

/// Number of holds by number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HoldHistogram {
    buckets: [u64; BUCKETS],
    max: u32,
}

thread_local! {
    /// Steps of the present hold.
    static DONE: Cell<[u32; 2]> = const { Cell::new([0; 2]) };
}

/// Counts a step of the calling thread's present hold.
#[inline]
pub fn note_step(step: HeldStep) {
    if cfg!(debug_assertions) {
        let mut done = DONE.get();
        done[step as usize] += 1;
        DONE.set(done);
    }
}

impl Holds {
    /// Begins a hold.
    #[cfg(debug_assertions)]
    pub(super) fn begin() {
        DONE.set([0; 2]);
    }

    /// Returns the steps of the present hold, before a nested hold of another cell begins.
    #[cfg(debug_assertions)]
    pub(super) fn pause() -> [u32; 2] {
        DONE.get()
    }

    /// Returns to the outer hold, to which the steps of the nested one count as well.
    #[cfg(debug_assertions)]
    pub(super) fn resume(before: [u32; 2]) {
        let inside = DONE.get();
        DONE.set([before[0] + inside[0], before[1] + inside[1]]);
    }

    /// Ends a hold that served `mail` pieces.
    #[cfg(debug_assertions)]
    pub(super) fn end(&mut self, mail: usize) {
        let [datagrams, redeliveries] = DONE.get();
        self.mail.note(u32::try_from(mail).unwrap_or(u32::MAX));
        self.datagrams.note(datagrams);
        self.redeliveries.note(redeliveries);
    }

    /// Returns the sum over several cells.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            mail: self.mail.join(other.mail),
            datagrams: self.datagrams.join(other.datagrams),
            redeliveries: self.redeliveries.join(other.redeliveries),
        }
    }
}

impl HoldHistogram {
    #[cfg(any(all(test, not(dds_loom)), debug_assertions))]
    fn note(&mut self, steps: u32) {
        // Powers of two: the order of magnitude of a hold matters, and a histogram must not grow.
        let bucket = (u32::BITS - steps.leading_zeros()) as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.max = self.max.max(steps);
    }

    fn join(mut self, other: Self) -> Self {
        for (own, other) in self.buckets.iter_mut().zip(other.buckets) {
            *own += other;
        }
        self.max = self.max.max(other.max);
        self
    }

    /// Most steps in one hold.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.max
    }

    /// Number of holds.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

impl fmt::Display for HoldHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bucket, &count) in self.buckets.iter().enumerate() {
            let from = if bucket == 0 { 0 } else { 1_u32 << (bucket - 1) };
            if count > 0 {
                write!(f, "{from}+: {count}  ")?;
            }
        }
        write!(f, "max: {}", self.max)
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "mail          {}", self.mail)?;
        writeln!(f, "datagrams     {}", self.datagrams)?;
        write!(f, "redeliveries  {}", self.redeliveries)
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_fall_into_powers_of_two() {
        let mut histogram = HoldHistogram::default();
        [0, 1, 2, 3, 4, 7, 8, 512, 100_000].iter().for_each(|&steps| histogram.note(steps));
        assert_eq!(histogram.to_string(), "0+: 1  1+: 1  2+: 2  4+: 2  8+: 1  512+: 2  max: 100000");
        assert_eq!((histogram.count(), histogram.join(histogram).count()), (9, 18));
    }
}
