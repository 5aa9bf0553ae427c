//! Participants that have said farewell, so that no announcement of theirs that comes late brings back a ghost.

use crate::types::{Duration, GuidPrefix, Instant, SequenceNumber};
use std::collections::VecDeque;

/// For how long a farewell is remembered: an announcement overtakes it on its way, or by another socket, but does not come
/// a whole period late. Whoever reuses a prefix, which the standard does not allow but containers bring about, is found
/// again by then.
const REMEMBERED_FOR: Duration = Duration::from_secs(3);

/// How many are remembered; the oldest are forgotten first. As many as participants are known at a time.
const REMEMBERED_MAX: usize = 1_024;

/// Who has left, and with which number of its announcing writer.
#[derive(Debug, Default)]
pub(super) struct Departed {
    /// In the order of their farewells.
    last: VecDeque<Farewell>,
}

#[derive(Debug)]
struct Farewell {
    prefix: GuidPrefix,
    number: SequenceNumber,
    at: Instant,
}

impl Departed {
    /// This participant has left. Returns whether another one had to be forgotten for it before its time.
    pub(super) fn insert(&mut self, now: Instant, prefix: GuidPrefix, number: SequenceNumber) -> bool {
        self.last.retain(|farewell| farewell.prefix != prefix && !farewell.is_old(now));
        let is_full = self.last.len() == REMEMBERED_MAX;
        if is_full {
            self.last.pop_front();
        }
        self.last.push_back(Farewell { prefix, number, at: now });
        is_full
    }

    /// Whether an announcement with this number was made before its participant left.
    pub(super) fn is_late(&self, now: Instant, prefix: GuidPrefix, number: SequenceNumber) -> bool {
        let is_of = |farewell: &&Farewell| farewell.prefix == prefix && !farewell.is_old(now);
        self.last.iter().find(is_of).is_some_and(|farewell| number <= farewell.number)
    }
}

impl Farewell {
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
    fn what_was_said_before_the_farewell_is_late_for_a_while() {
        let (prefix, mut departed) = (GuidPrefix([1; 12]), Departed::default());
        departed.insert(at(1), prefix, SequenceNumber(5));
        assert!(departed.is_late(at(2), prefix, SequenceNumber(5)));
        assert!(!departed.is_late(at(2), prefix, SequenceNumber(6)), "it has come back");
        assert!(!departed.is_late(at(2), GuidPrefix([2; 12]), SequenceNumber(5)));
        assert!(!departed.is_late(at(5), prefix, SequenceNumber(5)));
    }

    #[test]
    fn memory_is_bounded_and_old_entries_go() {
        let mut departed = Departed::default();
        for number in 0..2_000_u32 {
            let mut prefix = [0; 12];
            prefix[..4].copy_from_slice(&number.to_le_bytes());
            let forgets = departed.insert(at(1), GuidPrefix(prefix), SequenceNumber(1));
            assert_eq!(forgets, number as usize >= REMEMBERED_MAX);
        }
        assert_eq!(departed.last.len(), REMEMBERED_MAX);
        departed.insert(at(9), GuidPrefix([1; 12]), SequenceNumber(1));
        assert_eq!(departed.last.len(), 1);
    }
}
