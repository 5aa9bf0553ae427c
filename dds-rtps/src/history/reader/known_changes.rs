//! The changes that a reader has received, for changes that can arrive more than once.
//!
//! A durability service keeps changes for late joiners and hands them over under the name of their writer (RTPS 2.5,
//! 9.6.4.8, PID_ORIGINAL_WRITER_INFO). A change may then arrive from its writer and from several services.
//!
//! Life cycle: an entry per writer, from its first change on. It outlives the writer, because services speak for it
//! later. Bound: [`WRITERS_MAX`] writers and [`RANGES_MAX`] ranges in all, 1 MiB. Beyond it the least recently used
//! entry is evicted and counted. Its changes could be delivered twice, which is better than not at all.

use crate::types::{Guid, HashSeed, KeyedState, SequenceNumber};
use crate::wire::SampleIdentity;
use std::collections::HashMap;

/// As many writers as a reader matches at a time.
const WRITERS_MAX: usize = 4096;

/// The most ranges of all writers. A writer whose changes arrive in order needs one. Many arise only if a late joiner
/// gets instances in another order than they were written.
const RANGES_MAX: usize = 1 << 16;

/// The received sequence numbers `first ..= last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReceivedRange {
    first: SequenceNumber,
    last: SequenceNumber,
}

/// The received changes of one writer: ranges in order, with at least one missing sequence number between them.
#[derive(Debug, Default)]
struct KnownWriter {
    ranges: Vec<ReceivedRange>,
    /// When a change was noted last.
    last_use: u64,
}

/// The received changes of all writers.
#[derive(Debug)]
pub(super) struct KnownChanges {
    writers: HashMap<Guid, KnownWriter, KeyedState>,
    /// Ranges of all writers.
    ranges: usize,
    uses: u64,
    ranges_max: usize,
    forgotten: u64,
}

impl KnownChanges {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self { writers: HashMap::with_hasher(seed.state()), ranges: 0, uses: 0, ranges_max: RANGES_MAX, forgotten: 0 }
    }

    /// Whether a change was received before.
    pub(super) fn contains(&self, identity: SampleIdentity) -> bool {
        let Some(writer) = self.writers.get(&identity.writer) else { return false };
        let number = identity.sequence_number;
        let before = writer.ranges_from(number);
        before > 0 && writer.ranges[before - 1].last >= number
    }

    /// Notes that a change was received.
    pub(super) fn note(&mut self, identity: SampleIdentity) {
        self.uses += 1;
        if self.writers.len() >= WRITERS_MAX && !self.writers.contains_key(&identity.writer) {
            self.evict_writer(None);
        }
        let writer = self.writers.entry(identity.writer).or_default();
        writer.last_use = self.uses;
        let before = writer.ranges.len();
        writer.note(identity.sequence_number);
        self.ranges = self.ranges + writer.ranges.len() - before;
        // At most one range was added, so evicting one entry suffices.
        if self.ranges <= self.ranges_max {
            return;
        }
        if writer.ranges.len() <= 1 {
            self.evict_writer(Some(identity.writer));
        } else {
            // The lowest sequence numbers are the oldest.
            writer.ranges.remove(0);
            self.ranges -= 1;
            self.forgotten += 1;
        }
    }

    /// How many ranges were evicted.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Evicts the least recently used writer other than `except`.
    fn evict_writer(&mut self, except: Option<Guid>) {
        let others = self.writers.iter().filter(|(writer, _)| Some(**writer) != except);
        let Some((&oldest, _)) = others.min_by_key(|(_, known)| known.last_use) else { return };
        let Some(evicted) = self.writers.remove(&oldest) else {
            debug_assert!(false, "the oldest writer is in the table that named it");
            return;
        };
        debug_assert!(self.ranges >= evicted.ranges.len(), "every range is counted");
        self.ranges -= evicted.ranges.len();
        self.forgotten += evicted.ranges.len() as u64;
    }
}

impl KnownWriter {
    /// How many ranges begin at or before `number`.
    fn ranges_from(&self, number: SequenceNumber) -> usize {
        match self.ranges.last() {
            // Most changes are new.
            Some(last) if last.first <= number => self.ranges.len(),
            _ => self.ranges.partition_point(|range| range.first <= number),
        }
    }

    /// Adds a sequence number: extends, joins or inserts a range.
    fn note(&mut self, number: SequenceNumber) {
        let at = self.ranges_from(number);
        // The end of the next range, if the number closes the gap before it.
        let joined = match self.ranges.get(at) {
            Some(next) if number.next() == next.first => Some(next.last),
            _ => None,
        };
        let previous = match at.checked_sub(1) {
            Some(before) => self.ranges.get_mut(before),
            None => None,
        };
        if let Some(previous) = previous {
            if number <= previous.last {
                return;
            }
            if previous.last.next() == number {
                previous.last = joined.unwrap_or(number);
                if joined.is_some() {
                    self.ranges.remove(at);
                }
                return;
            }
        }
        if joined.is_some() {
            self.ranges[at].first = number;
        } else {
            self.ranges.insert(at, ReceivedRange { first: number, last: number });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(writer: u8, number: i64) -> SampleIdentity {
        SampleIdentity { writer: Guid::from_bytes([writer; 16]), sequence_number: SequenceNumber(number) }
    }

    #[test]
    fn ranges_equal_a_set_of_numbers_in_any_order() {
        let mut random = crate::types::SplitMix64::new(7);
        for _ in 0..200 {
            let mut known = KnownChanges::new(HashSeed::fixed(0));
            let mut model = std::collections::BTreeSet::new();
            for _ in 0..60 {
                let number = (random.draw() % 40) as i64 + 1;
                assert_eq!(known.contains(identity(1, number)), model.contains(&number));
                known.note(identity(1, number));
                model.insert(number);
            }
            for number in 0..=42 {
                assert_eq!(known.contains(identity(1, number)), model.contains(&number));
            }
            let ranges = model.iter().filter(|&&number| !model.contains(&(number - 1))).count();
            assert_eq!(known.ranges, ranges);
        }
    }

    #[test]
    fn least_recently_used_writer_is_evicted_and_counted() {
        let mut known = KnownChanges { ranges_max: 4, ..KnownChanges::new(HashSeed::fixed(0)) };
        for (writer, number) in [(1, 1), (2, 1), (2, 3), (2, 5), (3, 7)] {
            known.note(identity(writer, number));
        }
        assert_eq!((known.ranges, known.forgotten), (4, 1));
        assert!(!known.contains(identity(1, 1)) && known.contains(identity(3, 7)));
        known.note(identity(2, 9));
        assert!(!known.contains(identity(2, 1)) && known.contains(identity(2, 9)), "its own lowest range is evicted");
        assert_eq!((known.ranges, known.forgotten), (4, 2));
    }

    #[test]
    fn known_writers_have_a_limit() {
        let mut known = KnownChanges::new(HashSeed::fixed(0));
        for number in 0..(WRITERS_MAX as i64 + 10) {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            let writer = Guid::from_bytes(bytes);
            known.note(SampleIdentity { writer, sequence_number: SequenceNumber(1) });
        }
        assert_eq!((known.writers.len(), known.forgotten), (WRITERS_MAX, 10));
    }
}
