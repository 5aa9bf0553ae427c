//! Instances that their writer has unregistered, in a history that is kept for readers to come.
//!
//! Once all readers know that an instance has gone, its samples leave: a late joiner need not hear of what the writer has no
//! more to say about, and without this every instance ever unregistered would stay. Its end stays for a while: a reader may have
//! got samples of the instance before its match, from a datagram that was for others of its process, and would take it for
//! alive for ever if it did not hear of the end (seed 16853 of the oracle). A reader that has never seen the instance passes
//! the end over.
//!
//! Bound: [`ENDS_MAX`] ends, the latest ones, which yield to whatever the limits leave no room for; and as many departures with
//! their samples as [`WriterHistory::keep_departures`] says.

use super::writer::{NONE, WriterHistory};
use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// So many ends stay, of 200 bytes and a key each. Whoever unregisters more between the time that a reader hears the writer and the
/// time that the writer hears of the reader, which is a second or so, has readers that are used to it.
pub(super) const ENDS_MAX: usize = 256;

/// The unregistering changes of a history.
#[derive(Debug, Default)]
pub(super) struct Departures {
    /// Those that wait to be acknowledged, so that the samples of their instances can be forgotten.
    departing: VecDeque<SequenceNumber>,
    /// How many of them stay with their samples although they are acknowledged.
    kept: usize,
    /// Those that stay without.
    ends: VecDeque<SequenceNumber>,
    /// Samples have been forgotten.
    has_forgotten: bool,
}

impl Departures {
    /// Those up to `acknowledged` have left with everything else.
    pub(super) fn forget_up_to(&mut self, acknowledged: SequenceNumber) {
        while self.departing.front().is_some_and(|&number| number <= acknowledged) {
            self.departing.pop_front();
        }
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.departing.len()
    }
}

impl WriterHistory {
    /// How many unregistered instances are remembered, the latest ones, though all present readers know that they are gone;
    /// for readers that were here before and come back. Counts only if acknowledged changes are kept. Default: none.
    pub fn keep_departures(&mut self, count: usize) {
        self.departures.kept = count;
    }

    /// Whether instances have been forgotten with their samples: who was still to get those will not.
    #[must_use]
    pub fn has_forgotten(&self) -> bool {
        self.departures.has_forgotten
    }

    /// Forgets the ends of instances that are not there for anybody in particular. Returns whether that has made room.
    pub fn forget_ends(&mut self) -> bool {
        let before = self.len();
        while let Some(number) = self.departures.ends.pop_front() {
            self.remove(number);
        }
        self.len() < before
    }

    pub(super) fn note_departure(&mut self, number: SequenceNumber) {
        // Replaced changes leave their numbers behind; drop them once they are the greater part.
        if self.departures.departing.len() > 2 * self.len() + 64 {
            let index = &self.index;
            self.departures.departing.retain(|&number| index.get(number).is_some());
        }
        self.departures.departing.push_back(number);
    }

    /// Forgets the instances whose unregistering has been acknowledged, samples and all but for the latest ends. Returns whether
    /// anything was removed.
    pub(super) fn retire_departed(&mut self, acknowledged: SequenceNumber) -> bool {
        let mut removed = false;
        while self.departures.departing.len() > self.departures.kept {
            let Some(number) = self.departures.departing.pop_front() else { break };
            if number > acknowledged {
                self.departures.departing.push_front(number);
                break;
            }
            let Some(stored) = self.get(number) else { continue };
            // Written again since: it has come back.
            if stored.newer != NONE {
                continue;
            }
            let mut older = self.older(stored);
            while let Some(number) = older {
                older = self.get(number).and_then(|stored| self.older(stored));
                removed |= self.remove(number).is_some();
            }
            self.departures.ends.push_back(number);
            if self.departures.ends.len() > ENDS_MAX {
                let oldest = self.departures.ends.pop_front();
                removed |= oldest.is_some_and(|oldest| self.remove(oldest).is_some());
            }
        }
        self.departures.has_forgotten |= removed;
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{CacheChange, ChangeKind, HistoryLimits, Payload};
    use crate::types::{Guid, InstanceHandle, Time};

    fn history() -> WriterHistory {
        let limits = HistoryLimits {
            depth: Some(4),
            samples_max: usize::MAX,
            instances_max: usize::MAX,
            samples_per_instance_max: usize::MAX,
        };
        WriterHistory::new(limits, true, 1)
    }

    fn note(history: &mut WriterHistory, number: i64, instance: u16, kind: ChangeKind) {
        let [high, low] = instance.to_be_bytes();
        let mut key = [0; 16];
        [key[0], key[1]] = [high, low];
        let change = CacheChange {
            kind,
            writer: Guid::UNKNOWN,
            sequence_number: SequenceNumber(number),
            instance: InstanceHandle::from_key_hash(key),
            source_timestamp: Time::from_unix_nanos(0),
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(Payload::copy_of(&[high, low])),
        };
        history.insert(change, None, SequenceNumber::ZERO).unwrap();
    }

    fn numbers(history: &WriterHistory) -> Vec<i64> {
        history.iter_from(SequenceNumber::FIRST).map(|stored| stored.change.sequence_number.0).collect()
    }

    #[test]
    fn the_end_of_an_instance_stays_without_its_samples() {
        let mut history = history();
        for number in 1..=3 {
            note(&mut history, number, 1, ChangeKind::Alive);
        }
        note(&mut history, 4, 1, ChangeKind::NotAliveUnregistered);
        assert!(!history.retire(SequenceNumber(3)));
        assert_eq!(numbers(&history), [1, 2, 3, 4]);
        assert!(history.retire(SequenceNumber(4)));
        assert_eq!(numbers(&history), [4]);
    }

    #[test]
    fn the_latest_ends_stay_and_yield_when_there_is_no_room() {
        let mut history = history();
        let all = ENDS_MAX as i64 + 100;
        for instance in 1..=all {
            note(&mut history, 2 * instance - 1, instance as u16, ChangeKind::Alive);
            note(&mut history, 2 * instance, instance as u16, ChangeKind::NotAliveDisposedUnregistered);
            history.retire(SequenceNumber(2 * instance));
            assert!(history.len() <= ENDS_MAX);
        }
        assert_eq!(numbers(&history), (101..=all).map(|instance| 2 * instance).collect::<Vec<_>>());
        assert!(history.forget_ends() && history.is_empty());
        assert!(!history.forget_ends());
    }

    #[test]
    fn the_end_of_an_earlier_life_goes_in_its_time_though_the_instance_has_come_back() {
        let mut history = history();
        note(&mut history, 1, 1, ChangeKind::NotAliveUnregistered);
        history.retire(SequenceNumber(1));
        note(&mut history, 2, 1, ChangeKind::Alive);
        assert_eq!(numbers(&history), [1, 2]);
        assert!(history.forget_ends());
        assert_eq!(numbers(&history), [2]);
    }
}
