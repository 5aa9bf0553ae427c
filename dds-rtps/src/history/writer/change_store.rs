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

    /// Removes a change.
    pub(super) fn remove(&mut self, number: SequenceNumber) -> Option<StoredChange> {
        let slot = self.index.remove(number)?;
        self.empty_slot(slot)
    }

    /// Removes the change with the lowest sequence number, if that is at most `limit`.
    pub(super) fn pop_up_to(&mut self, limit: SequenceNumber) -> Option<StoredChange> {
        let slot = self.index.pop_up_to(limit)?;
        self.empty_slot(slot)
    }

    fn empty_slot(&mut self, slot: u32) -> Option<StoredChange> {
        let stored = self.slots[slot as usize].take();
        debug_assert!(stored.is_some(), "an indexed slot is occupied");
        self.free_slots.push(slot);
        stored
    }

    /// Whether any slot was ever used.
    #[cfg(test)]
    pub(super) fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }
}
