//! Who owns each instance of a reader with exclusive ownership (DDS 1.4, 2.2.3.9.2).
//!
//! The owner is the strongest of the writers that write the instance and are alive; among equals the one of the lowest
//! GUID, so that all readers agree (as Cyclone DDS and Fast DDS have it). It moves
//!
//! | when | to |
//! |---|---|
//! | a stronger writer writes or disposes of the instance | that one |
//! | the owner unregisters the instance, is gone, or is no longer alive | the strongest of the others that write it |
//! | the owner has missed its deadline on the instance | whoever writes it next; none of the others has shown itself since |
//! | a strength changes | the strongest of those that write it |
//!
//! and stays when the owner disposes: a disposed instance is still the owner's.
//!
//! Bound: a strength for each matched writer, an owner for each place of an instance. A reader with shared ownership has
//! none of this.

use super::instance::Instance;
use crate::types::Guid;
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The owners of all instances, by the instances' places.
#[derive(Debug)]
pub(super) struct Ownership {
    strengths: HashMap<Guid, i32, FixedState>,
    owners: Vec<Owner>,
    /// Grows with each change of a strength: an owner found before it may be none any more.
    epoch: u32,
}

/// Who owns one instance. Only writers of it are named here, so that of an instance which nobody writes nothing is left for the
/// next one in its place.
#[derive(Debug, Default)]
struct Owner {
    writer: Option<Guid>,
    epoch: u32,
    /// The writers of the instance that have not written since a deadline of it was missed. Mostly empty.
    lapsed: Vec<Guid>,
}

impl Ownership {
    pub(super) fn new(seed: u64) -> Self {
        Self { strengths: HashMap::with_hasher(FixedState::with_seed(seed)), owners: Vec::new(), epoch: 0 }
    }

    /// What a matched writer has announced.
    pub(super) fn set_strength(&mut self, writer: Guid, strength: i32) {
        if self.strengths.insert(writer, strength) != Some(strength) {
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    /// The writer is matched no more. To be called after its instances have lost it.
    pub(super) fn forget_writer(&mut self, writer: Guid) {
        self.strengths.remove(&writer);
    }

    /// Whether a change by `writer` counts. `instance` knows who writes it.
    pub(super) fn admits(&mut self, at: u32, instance: &Instance, writer: Guid) -> bool {
        let epoch = self.epoch;
        let owner = self.owner(at);
        if owner.writer == Some(writer) && owner.epoch == epoch && owner.lapsed.is_empty() {
            return true;
        }
        if owner.epoch != epoch {
            owner.epoch = epoch;
            if owner.writer.is_some() {
                self.choose(at, instance);
            }
        }
        match self.owner(at).writer {
            Some(owner) if owner != writer => self.rank(writer) > self.rank(owner),
            _ => true,
        }
    }

    /// `writer`, whose change counts, has made it: the instance is its own.
    pub(super) fn claim(&mut self, at: u32, writer: Guid) {
        let owner = self.owner(at);
        owner.writer = Some(writer);
        owner.lapsed.retain(|&lapsed| lapsed != writer);
    }

    /// A writer writes the instance, though it is not its own: it may be so later.
    pub(super) fn note_bid(&mut self, at: u32, writer: Guid) {
        self.owner(at).lapsed.retain(|&lapsed| lapsed != writer);
    }

    /// A writer writes the instance no more; `instance` knows that already.
    pub(super) fn release(&mut self, at: u32, instance: &Instance, writer: Guid) {
        let owner = self.owner(at);
        owner.lapsed.retain(|&lapsed| lapsed != writer);
        if owner.writer == Some(writer) {
            self.choose(at, instance);
        }
    }

    /// A deadline of the instance was missed, and by its owner, for others' changes do not count.
    pub(super) fn lapse(&mut self, at: u32, instance: &Instance) {
        let owner = self.owner(at);
        owner.writer = None;
        owner.lapsed.clear();
        owner.lapsed.extend_from_slice(instance.writers());
    }

    fn choose(&mut self, at: u32, instance: &Instance) {
        let lapsed = std::mem::take(&mut self.owner(at).lapsed);
        let standing = instance.writers().iter().filter(|writer| !lapsed.contains(writer));
        let strongest = standing.copied().max_by_key(|&writer| self.rank(writer));
        let owner = self.owner(at);
        owner.writer = strongest;
        owner.lapsed = lapsed;
    }

    fn rank(&self, writer: Guid) -> (i32, Reverse<Guid>) {
        (self.strengths.get(&writer).copied().unwrap_or_default(), Reverse(writer))
    }

    fn owner(&mut self, at: u32) -> &mut Owner {
        let at = at as usize;
        if at >= self.owners.len() {
            self.owners.resize_with(at + 1, Owner::default);
        }
        &mut self.owners[at]
    }
}
