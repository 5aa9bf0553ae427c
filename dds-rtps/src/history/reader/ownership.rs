//! The owner of each instance under EXCLUSIVE OWNERSHIP (DDS 1.4, 2.2.3.9.2).
//!
//! The owner is the strongest alive writer of the instance. Among equals it is the one with the lowest GUID, so that
//! all readers agree (as in Cyclone DDS and Fast DDS). The owner changes as follows:
//!
//! | event | new owner |
//! |---|---|
//! | a stronger writer writes or disposes of the instance | that writer |
//! | the owner unregisters the instance, is lost, or is not alive | the strongest other writer of the instance |
//! | the owner misses its deadline on the instance | the next writer that writes it |
//! | a strength changes | the strongest writer of the instance |
//!
//! A dispose does not change the owner.
//!
//! Bound: a strength per matched writer, and an owner per instance. A reader with SHARED ownership has no such state.

use super::instances::{InstanceIndex, ReaderInstance};
use crate::types::{Guid, HashSeed, KeyedState};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The owners of all instances.
#[derive(Debug)]
pub(super) struct InstanceOwners {
    strengths: HashMap<Guid, i32, KeyedState>,
    owners: Vec<InstanceOwner>,
    /// Grows with each change of a strength, after which the owners have to be chosen again.
    epoch: u32,
}

/// The owner of one instance.
///
/// It names only registered writers, so a freed instance leaves nothing behind for the next one at its index.
#[derive(Debug, Default)]
struct InstanceOwner {
    writer: Option<Guid>,
    epoch: u32,
    /// Writers of the instance that have not written since its last missed deadline. Mostly empty.
    lapsed: Vec<Guid>,
}

impl InstanceOwner {
    /// A change by `writer`: its missed deadline does not count any more.
    fn clear_lapse(&mut self, writer: Guid) {
        self.lapsed.retain(|&lapsed| lapsed != writer);
    }
}

impl InstanceOwners {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self { strengths: HashMap::with_hasher(seed.state()), owners: Vec::new(), epoch: 0 }
    }

    /// Sets the strength that a matched writer has announced.
    pub(super) fn set_strength(&mut self, writer: Guid, strength: i32) {
        if self.strengths.insert(writer, strength) != Some(strength) {
            // Each instance chooses its owner again at its next change, so this visits none of them.
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    /// Forgets an unmatched writer. Its instances must have been unregistered before.
    pub(super) fn forget_writer(&mut self, writer: Guid) {
        self.strengths.remove(&writer);
    }

    /// Whether a change by `writer` counts.
    pub(super) fn admits(&mut self, at: InstanceIndex, instance: &ReaderInstance, writer: Guid) -> bool {
        let epoch = self.epoch;
        let owner = self.owner_mut(at);
        // The path of an instance with one writer.
        if owner.writer == Some(writer) && owner.epoch == epoch && owner.lapsed.is_empty() {
            return true;
        }
        if owner.epoch != epoch {
            owner.epoch = epoch;
            // Without an owner the next writer takes the instance, at any strength.
            if owner.writer.is_some() {
                self.choose(at, instance);
            }
        }
        match self.owner_mut(at).writer {
            Some(owner) if owner != writer => self.rank(writer) > self.rank(owner),
            _ => true,
        }
    }

    /// Makes `writer` the owner after a change that counts.
    pub(super) fn claim(&mut self, at: InstanceIndex, writer: Guid) {
        let owner = self.owner_mut(at);
        owner.writer = Some(writer);
        owner.clear_lapse(writer);
    }

    /// Notes a change by a writer that is not the owner. It may become the owner later.
    pub(super) fn note_refused(&mut self, at: InstanceIndex, writer: Guid) {
        self.owner_mut(at).clear_lapse(writer);
    }

    /// Chooses another owner if `writer` was it. The writer is not registered for `instance` any more.
    pub(super) fn release(&mut self, at: InstanceIndex, instance: &ReaderInstance, writer: Guid) {
        let owner = self.owner_mut(at);
        owner.clear_lapse(writer);
        if owner.writer == Some(writer) {
            self.choose(at, instance);
        }
    }

    /// Removes the owner after a missed deadline.
    ///
    /// No other writer takes over at once: none of them has written since. The next one to write becomes the owner.
    pub(super) fn lapse(&mut self, at: InstanceIndex, instance: &ReaderInstance) {
        let owner = self.owner_mut(at);
        owner.writer = None;
        owner.lapsed.clear();
        owner.lapsed.extend_from_slice(instance.writers());
    }

    /// Makes the strongest writer that has not lapsed the owner.
    fn choose(&mut self, at: InstanceIndex, instance: &ReaderInstance) {
        // Taken out and put back, because `rank` borrows `self`.
        let lapsed = std::mem::take(&mut self.owner_mut(at).lapsed);
        let mut strongest = None;
        for &writer in instance.writers() {
            if lapsed.contains(&writer) {
                continue;
            }
            match strongest {
                Some(best) if self.rank(writer) <= self.rank(best) => {}
                _ => strongest = Some(writer),
            }
        }
        let owner = self.owner_mut(at);
        owner.writer = strongest;
        owner.lapsed = lapsed;
    }

    fn rank(&self, writer: Guid) -> (i32, Reverse<Guid>) {
        (self.strengths.get(&writer).copied().unwrap_or_default(), Reverse(writer))
    }

    fn owner_mut(&mut self, at: InstanceIndex) -> &mut InstanceOwner {
        let at = at as usize;
        if at >= self.owners.len() {
            self.owners.resize_with(at + 1, InstanceOwner::default);
        }
        &mut self.owners[at]
    }
}
