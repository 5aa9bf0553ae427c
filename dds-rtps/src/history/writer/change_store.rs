//! The changes of one writer, by sequence number and by slot.

use super::sequence_index::SequenceIndex;
use super::{NONE, StoredChange};
use crate::types::SequenceNumber;

/// The changes of one writer. Slots of removed changes are reused.
#[derive(Debug, Default)]
pub(super) struct ChangeStore {
    index: SequenceIndex,
    slots: Vec<Option<StoredChange>>,
    free_slots: Vec<u32>,
}

impl ChangeStore {
    /// How many changes are stored.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The lowest sequence number.
    pub(super) fn first(&self) -> Option<SequenceNumber> {
        let (number, _) = self.index.first()?;
        Some(number)
    }

    /// The highest sequence number.
    pub(super) fn last(&self) -> Option<SequenceNumber> {
        let (number, _) = self.index.last()?;
        Some(number)
    }

    /// Whether a change is stored.
    pub(super) fn contains(&self, number: SequenceNumber) -> bool {
        self.index.get(number).is_some()
    }

    /// The change with a sequence number.
    pub(super) fn get(&self, number: SequenceNumber) -> Option<&StoredChange> {
        self.at(self.index.get(number)?)
    }

    /// The change with a sequence number, mutable.
    pub(super) fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut StoredChange> {
        self.at_mut(self.index.get(number)?)
    }

    /// The change in a slot.
    pub(super) fn at(&self, slot: u32) -> Option<&StoredChange> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The change in a slot, mutable.
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<&mut StoredChange> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The lowest stored sequence number that is at least `number`.
    pub(super) fn next_from(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        let (number, _) = self.index.iter_from(number).next()?;
        Some(number)
    }

    /// The changes from `number` on, in order.
    pub(super) fn iter_from(&self, number: SequenceNumber) -> impl Iterator<Item = &StoredChange> + '_ {
        self.index.iter_from(number).filter_map(|(_, slot)| self.at(slot))
    }

    /// Stores a change with a higher sequence number than all before. Returns its slot.
    pub(super) fn push(&mut self, stored: StoredChange) -> u32 {
        let number = stored.change.sequence_number;
        // A reused slot allocates nothing, which is the steady state.
        let slot = match self.free_slots.pop() {
            Some(slot) => {
                debug_assert!(self.slots[slot as usize].is_none(), "a free slot is empty");
                self.slots[slot as usize] = Some(stored);
                slot
            }
            None => {
                self.slots.push(Some(stored));
                (self.slots.len() - 1) as u32
            }
        };
        debug_assert!(slot != NONE, "a writer runs out of memory before it runs out of slots");
        self.index.push(number, slot);
        slot
    }

    /// Takes a sequence number out of the order. Returns its slot, which [`ChangeStore::empty_slot`] must follow.
    pub(super) fn take_slot(&mut self, number: SequenceNumber) -> Option<u32> {
        self.index.remove(number)
    }

    /// As [`ChangeStore::take_slot`], for the lowest sequence number if that is at most `limit`.
    pub(super) fn take_first_slot(&mut self, limit: SequenceNumber) -> Option<u32> {
        self.index.pop_up_to(limit)
    }

    /// Drops the change in a slot, which is free then.
    pub(super) fn empty_slot(&mut self, slot: u32) {
        if let Some(stored) = self.slots.get_mut(slot as usize) {
            debug_assert!(stored.is_some(), "an indexed slot is occupied");
            // Dropped in place: a move of the whole struct costs more than the rest of the removal.
            *stored = None;
            self.free_slots.push(slot);
        }
    }

    /// Whether any slot was ever used.
    #[cfg(test)]
    pub(super) fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }
}
