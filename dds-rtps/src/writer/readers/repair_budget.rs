//! Bytes that one reader may request again and again.
//!
//! An ACKNACK of 70 bytes can request 256 changes, and anyone can send one in the name of a reader. The first repair of
//! a change is no amplification beyond its first transmission, so it is free. Repeated repairs use up a budget. It
//! grows with the bytes that the reader receives for the first time, and slowly with time. A reader that loses half of
//! all datagrams needs as many bytes again as it receives.

use crate::types::{Duration, Instant, SequenceNumber};

/// Most bytes of the budget, and its value at the match.
const BUDGET_MAX: i64 = 16 << 20;

/// Bytes for each byte that is sent for the first time.
const BYTES_PER_BYTE: u64 = 4;

/// Bytes for each second, for a reader on another host.
const BYTES_PER_SECOND: u64 = 1 << 20;

/// Bytes for each second, for a reader on this host.
///
/// Its repairs leave no host, so a forged request amplifies nothing. They cost a few percent of a processor. A reader
/// that gets no processor for long, and then misses many large changes, needs them.
const BYTES_PER_SECOND_ON_HOST: u64 = 64 << 20;

/// Budget of one reader for repeated repairs.
#[derive(Debug)]
pub(crate) struct RepairBudget {
    /// By which it grows, in bytes.
    per_second: u64,
    /// Bytes that may still be repeated. The answer to one request may exceed them, so the budget can be negative.
    left: i64,
    /// Time up to which the budget has grown; `None` before the first request.
    grown_at: Option<Instant>,
    /// First transmissions that the budget includes, in bytes.
    first_sent: u64,
    /// Bytes of repaired fragments, which the congestion window counts as sent too.
    repaired_fragments: u64,
    /// Highest change that was repaired.
    repaired_through: SequenceNumber,
}

impl RepairBudget {
    pub(crate) const fn new(same_host: bool) -> Self {
        Self {
            per_second: if same_host { BYTES_PER_SECOND_ON_HOST } else { BYTES_PER_SECOND },
            left: BUDGET_MAX,
            grown_at: None,
            first_sent: 0,
            repaired_fragments: 0,
            repaired_through: SequenceNumber::ZERO,
        }
    }

    /// Returns whether the writer may answer a request now. `sent`: bytes that the congestion window has counted.
    pub(crate) fn admits(&mut self, now: Instant, sent: u64) -> bool {
        let passed = match self.grown_at {
            Some(at) => now.since(at),
            None => Duration::ZERO,
        };
        let nanos = u64::try_from(passed.as_nanos()).unwrap_or(0);
        let by_time = nanos.saturating_mul(self.per_second) / 1_000_000_000;
        // Short times would be lost in the division.
        if by_time > 0 || self.grown_at.is_none() {
            self.grown_at = Some(now);
        }
        let first_sent = sent.saturating_sub(self.repaired_fragments);
        let by_data = first_sent.saturating_sub(self.first_sent).saturating_mul(BYTES_PER_BYTE);
        self.first_sent = self.first_sent.max(first_sent);
        self.grow(by_time.saturating_add(by_data));
        self.left > 0
    }

    fn grow(&mut self, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.left = self.left.saturating_add(bytes).min(BUDGET_MAX);
    }

    /// Notes that a repair of `number` begins. Returns whether it is a repetition.
    pub(crate) fn note_repair(&mut self, number: SequenceNumber) -> bool {
        let is_repeated = number <= self.repaired_through;
        self.repaired_through = self.repaired_through.max(number);
        is_repeated
    }

    /// Uses up the bytes of a repeated repair, and adds those of a first one.
    pub(crate) fn note_bytes(&mut self, len: usize, is_repeated: bool) {
        let len = len as u64;
        if is_repeated {
            self.left = self.left.saturating_sub(i64::try_from(len).unwrap_or(i64::MAX));
        } else {
            self.grow(len.saturating_mul(BYTES_PER_BYTE));
        }
    }

    /// Notes repaired fragments of `len` bytes, which the congestion window counts as sent.
    pub(crate) fn note_fragments(&mut self, len: usize) {
        self.repaired_fragments = self.repaired_fragments.saturating_add(len as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn repeated_repairs_use_up_the_budget() {
        let mut budget = RepairBudget::new(false);
        let mut repeated = 0;
        for ms in 0..10_000 {
            if budget.admits(at(ms), 0) {
                let is_repeated = budget.note_repair(SequenceNumber(1));
                budget.note_bytes(MIB / 2, is_repeated);
                repeated += usize::from(is_repeated) * MIB / 2;
            }
        }
        assert!((26 * MIB..28 * MIB).contains(&repeated), "16 MiB, and 1 MiB a second: {repeated}");
    }

    #[test]
    fn reader_on_this_host_waits_for_no_budget() {
        let mut budget = RepairBudget::new(true);
        for ms in (0..10_000).step_by(40) {
            assert!(budget.admits(at(ms), 0), "after {ms} ms");
            let _ = budget.note_repair(SequenceNumber(1));
            budget.note_bytes(2 * MIB, true);
        }
    }

    #[test]
    fn first_transmissions_fill_the_budget() {
        let mut budget = RepairBudget::new(false);
        for round in 0..1_000 {
            // One MiB for the first time, and three of repairs.
            assert!(budget.admits(at(0), (round + 1) * MIB as u64), "round {round}");
            assert!(!budget.note_repair(SequenceNumber(round as i64 + 1)));
            budget.note_bytes(3 * MIB, true);
        }
    }
}
