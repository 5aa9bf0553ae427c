//! Remembers disposed participants, so that a late announcement does not bring one back.

use crate::types::{Duration, GuidPrefix, Instant, SequenceNumber};
use std::collections::VecDeque;

/// How long a disposal is remembered. An announcement may arrive after it, by another path or socket, but not a whole
/// period late. A participant that reuses a prefix is discovered again after this time. The standard forbids reuse,
/// but containers cause it.
const REMEMBERED_FOR: Duration = Duration::from_secs(3);

/// Most remembered disposals; the oldest is forgotten first. This is the number of participants known at a time.
const REMEMBERED_MAX: usize = 1_024;

/// Disposed participants, with the sequence number of the disposal.
#[derive(Debug, Default)]
pub(super) struct Disposals {
    /// In the order of their arrival.
    last: VecDeque<Disposal>,
}

#[derive(Debug)]
struct Disposal {
    prefix: GuidPrefix,
    sequence_number: SequenceNumber,
    at: Instant,
}

impl Disposals {
    /// Adds a disposal. Returns true if another one was forgotten early to make room.
    pub(super) fn insert(&mut self, now: Instant, prefix: GuidPrefix, sequence_number: SequenceNumber) -> bool {
        self.last.retain(|disposal| disposal.prefix != prefix && !disposal.is_old(now));
        let is_full = self.last.len() == REMEMBERED_MAX;
        if is_full {
            self.last.pop_front();
        }
        debug_assert!(self.last.len() < REMEMBERED_MAX, "the memory of disposals is bounded");
        self.last.push_back(Disposal { prefix, sequence_number, at: now });
        is_full
    }

    /// Whether an announcement with this sequence number was sent before the participant's disposal.
    pub(super) fn is_late(&self, now: Instant, prefix: GuidPrefix, sequence_number: SequenceNumber) -> bool {
        for disposal in &self.last {
            if disposal.prefix == prefix && !disposal.is_old(now) {
                return sequence_number <= disposal.sequence_number;
            }
        }
        false
    }
}

impl Disposal {
    fn is_old(&self, now: Instant) -> bool {
        now.since(self.at) > REMEMBERED_FOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn announcement_before_disposal_is_late() {
        let (prefix, mut disposals) = (GuidPrefix([1; 12]), Disposals::default());
        disposals.insert(at(1), prefix, SequenceNumber(5));
        assert!(disposals.is_late(at(2), prefix, SequenceNumber(5)));
        assert!(!disposals.is_late(at(2), prefix, SequenceNumber(6)), "it has come back");
        assert!(!disposals.is_late(at(2), GuidPrefix([2; 12]), SequenceNumber(5)));
        assert!(!disposals.is_late(at(5), prefix, SequenceNumber(5)));
    }

    #[test]
    fn memory_is_bounded_and_old_entries_go() {
        let mut disposals = Disposals::default();
        for number in 0..2_000_u32 {
            let mut prefix = [0; 12];
            prefix[..4].copy_from_slice(&number.to_le_bytes());
            let forgets = disposals.insert(at(1), GuidPrefix(prefix), SequenceNumber(1));
            assert_eq!(forgets, number as usize >= REMEMBERED_MAX);
        }
        assert_eq!(disposals.last.len(), REMEMBERED_MAX);
        disposals.insert(at(9), GuidPrefix([1; 12]), SequenceNumber(1));
        assert_eq!(disposals.last.len(), 1);
    }
}
