//! Unregistered instances of a writer that keeps acknowledged changes.

use super::change_store::ChangeStore;
use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Unregistering changes that wait for acknowledgment, after which their instances are removed.
#[derive(Debug, Default)]
pub(super) struct Departures {
    waiting: VecDeque<SequenceNumber>,
    /// How many of them stay after acknowledgment.
    kept: usize,
    /// Instances were removed with their changes.
    has_removed: bool,
}

impl Departures {
    /// Sets how many unregistered instances stay after acknowledgment.
    pub(super) fn set_kept(&mut self, kept: usize) {
        self.kept = kept;
    }

    /// Notes a change that unregisters its instance.
    pub(super) fn note(&mut self, number: SequenceNumber, changes: &ChangeStore) {
        // Replaced changes leave their sequence numbers behind. Drop those once they are the majority.
        if self.waiting.len() > 2 * changes.len() + 64 {
            self.waiting.retain(|&number| changes.contains(number));
        }
        debug_assert!(self.waiting.back().is_none_or(|&last| last < number), "sequence numbers grow");
        self.waiting.push_back(number);
    }

    /// The next unregistering change that is acknowledged and need not be kept.
    pub(super) fn pop_up_to(&mut self, acknowledged: SequenceNumber) -> Option<SequenceNumber> {
        if self.waiting.len() <= self.kept {
            return None;
        }
        match self.waiting.front() {
            Some(&number) if number <= acknowledged => self.waiting.pop_front(),
            _ => None,
        }
    }

    /// Notes whether instances were removed.
    pub(super) fn note_removal(&mut self, has_removed: bool) {
        self.has_removed |= has_removed;
    }

    /// Whether instances were ever removed.
    pub(super) fn has_removed(&self) -> bool {
        self.has_removed
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}
