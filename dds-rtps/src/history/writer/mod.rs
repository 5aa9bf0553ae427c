//! The history cache of one writer (RTPS 2.5, 8.2.2).
//!
//! In: changes in the order of their sequence numbers, and the sequence number up to which all readers have
//! acknowledged. Out: changes by sequence number. Owned: the changes, and the chain, registration and key of each
//! instance.
//!
//! Life cycle of a change: inserted, then removed for one of these reasons. KEEP_LAST replaces it; all readers of a
//! volatile writer acknowledged it; its instance was unregistered and all readers know; or its LIFESPAN ended.
//!
//! Bound: the [`HistoryLimits`]. A KEEP_ALL history without limits grows with the changes that the slowest reliable
//! reader has not acknowledged. Without an instance limit it grows with the instances that are neither unregistered nor
//! disposed. Beyond [`DISPOSED_MAX`] instances, or at the limit, the oldest disposed ones without changes make space.
//! Slots of removed changes and instances are reused, so a steady state allocates nothing.

mod change_store;
mod departures;
mod instances;
mod sequence_index;
mod set_ends;

use super::{CacheChange, ChangeKind, HistoryLimits, KeyPayload, MissedDeadlines};
use crate::concurrent::Payload;
use crate::types::{Duration, HashSeed, InstanceHandle, Instant, SequenceNumber};
use change_store::ChangeStore;
use departures::Departures;
use instances::{WriterInstance, WriterInstances};
use set_ends::SetEnds;

/// Instances of a writer without a limit up to which all disposed ones stay registered.
///
/// As many as a reader without a limit keeps. An application that disposes of each key and never unregisters it would
/// otherwise fill the memory, with 180 bytes for each key.
const DISPOSED_MAX: usize = 1 << 18;

/// No slot, no instance.
const NONE: u32 = u32::MAX;

/// A change in the cache.
#[derive(Debug)]
pub struct StoredChange {
    /// The change.
    pub change: CacheChange,
    /// When the LIFESPAN of the change ends; `None`: never.
    pub expires: Option<Instant>,
    /// Bytes per fragment after the first transmission in fragments, otherwise 0. All readers and repairs use the same
    /// fragments.
    pub fragment_size: u16,
    instance: u32,
    /// Slot of the next older change of the instance.
    older: u32,
    /// Slot of the next newer change of the instance.
    newer: u32,
}

/// Why a change was not inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFull {
    /// KEEP_ALL, and the limit is used up by changes that a reader has not acknowledged. Waiting helps.
    Unacknowledged,
    /// The sample limit is used up. Waiting does not help.
    SamplesMax,
    /// The instance limit is used up. Waiting does not help.
    InstancesMax,
}

/// The pinned change.
#[derive(Debug, Clone, Copy)]
struct PinnedChange {
    number: SequenceNumber,
    /// KEEP_LAST has replaced it, and it belongs to no instance any more.
    is_replaced: bool,
}

/// The history cache of one writer.
#[derive(Debug)]
pub struct WriterHistory {
    limits: HistoryLimits,
    /// Acknowledged changes stay for readers that join late.
    keeps_acknowledged: bool,
    changes: ChangeStore,
    instances: WriterInstances,
    /// The change that is being sent in fragments. See [`WriterHistory::pin`].
    pinned: Option<PinnedChange>,
    departures: Departures,
    set_ends: SetEnds,
}

impl WriterHistory {
    /// Creates an empty cache.
    ///
    /// `keeps_acknowledged`: acknowledged changes stay for readers that join late (TRANSIENT_LOCAL). `seed`: seed of
    /// the hash map.
    #[must_use]
    pub fn new(limits: HistoryLimits, keeps_acknowledged: bool, seed: HashSeed) -> Self {
        Self {
            limits,
            keeps_acknowledged,
            changes: ChangeStore::default(),
            instances: WriterInstances::new(seed),
            pinned: None,
            departures: Departures::default(),
            set_ends: SetEnds::default(),
        }
    }

    /// Sets how many unregistered instances are kept although all present readers know. Default: 0.
    ///
    /// The latest ones are kept, for readers that were here before and come back. Has no effect unless acknowledged
    /// changes are kept.
    pub fn keep_departures(&mut self, count: usize) {
        self.departures.set_kept(count);
    }

    /// How many changes are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether no change is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence number of the oldest stored change.
    #[must_use]
    pub fn first(&self) -> Option<SequenceNumber> {
        self.changes.first()
    }

    /// The sequence number of the newest stored change.
    #[must_use]
    pub fn last(&self) -> Option<SequenceNumber> {
        self.changes.last()
    }

    /// A stored change.
    #[must_use]
    pub fn get(&self, number: SequenceNumber) -> Option<&StoredChange> {
        self.changes.get(number)
    }

    /// A stored change, to note how it was sent.
    pub fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut StoredChange> {
        self.changes.get_mut(number)
    }

    /// The lowest stored sequence number that is at least `number`.
    #[must_use]
    pub fn next_from(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        self.changes.next_from(number)
    }

    /// The stored changes from `number` on, in order.
    pub fn iter_from(&self, number: SequenceNumber) -> impl Iterator<Item = &StoredChange> + '_ {
        self.changes.iter_from(number)
    }

    /// Checks whether [`WriterHistory::insert`] of a change of `instance` would succeed.
    ///
    /// # Errors
    /// The reason why it would not.
    pub fn check_room(&mut self, instance: InstanceHandle, acknowledged: SequenceNumber) -> Result<(), HistoryFull> {
        // The path of most writers: no look at the instance.
        if self.limits.is_boundless() || self.limits.admits_any_instance(self.len()) {
            return Ok(());
        }
        let known = self.instances.find(instance);
        self.make_space_for_instance(known);
        // `insert` chooses the victim again: until then, readers may acknowledge more.
        self.victim(known, acknowledged)?;
        Ok(())
    }

    /// Frees the oldest disposed instance without changes, if a new instance needs its place.
    fn make_space_for_instance(&mut self, known: Option<u32>) {
        let max = if self.limits.instances_max == usize::MAX { DISPOSED_MAX } else { self.limits.instances_max };
        if known.is_none() && self.instances.len() >= max {
            self.instances.release_disposed();
        }
    }

    /// The change that [`WriterHistory::insert`] of one of `instance` would replace.
    #[must_use]
    pub fn next_replaced(&self, instance: InstanceHandle, acknowledged: SequenceNumber) -> Option<SequenceNumber> {
        if self.limits.admits_any(self.len()) {
            return None;
        }
        self.victim(self.instances.find(instance), acknowledged).unwrap_or(None)
    }

    /// Inserts a change with a higher sequence number than all before. Returns the change that it replaced.
    ///
    /// All readers have acknowledged the changes up to `acknowledged`, which may free space.
    ///
    /// # Errors
    /// [`HistoryFull`]. Nothing has changed then.
    pub fn insert(
        &mut self,
        change: CacheChange,
        expires: Option<Instant>,
        acknowledged: SequenceNumber,
    ) -> Result<Option<SequenceNumber>, HistoryFull> {
        let known = self.instances.find_cached(change.instance);
        // First, because `victim` fails at the limit of instances.
        self.make_space_for_instance(known);
        let replaced = self.victim(known, acknowledged)?;
        // The new change joins its instance before the replaced one leaves. Otherwise the instance could be freed in
        // between.
        let instance = match known {
            Some(instance) => instance,
            None => self.instances.insert(change.instance),
        };
        let number = change.sequence_number;
        let is_registered = self.instances.note_change(instance, change.kind, change.payload.as_ref());
        // Without late joiners, an acknowledged change leaves in any case.
        if !is_registered && self.keeps_acknowledged {
            self.departures.note(number, &self.changes);
        }
        let stored = StoredChange { change, expires, fragment_size: 0, instance, older: NONE, newer: NONE };
        let slot = self.changes.push(stored);
        self.link_newest(instance, slot);
        match replaced {
            Some(replaced) if self.replace(replaced) => Ok(Some(replaced)),
            _ => Ok(None),
        }
    }

    /// Inserts the end of the coherent set that began with `first` (RTPS 2.5, 8.7.5).
    ///
    /// It belongs to no instance and counts for no limit. It is removed with the last sample of its set, or later when
    /// other sets end. All readers have acknowledged the changes up to `acknowledged`.
    pub fn insert_end_of_set(&mut self, change: CacheChange, first: SequenceNumber, acknowledged: SequenceNumber) {
        debug_assert!(change.is_end_of_set(), "any other change belongs to an instance");
        let number = change.sequence_number;
        // It counts toward no limit, so it always fits (`changes_without_space`).
        self.changes.push(StoredChange {
            change,
            expires: None,
            fragment_size: 0,
            instance: NONE,
            older: NONE,
            newer: NONE,
        });
        if self.set_ends.add(first, number) {
            for useless in self.set_ends.review(acknowledged, &self.changes) {
                self.remove(useless);
            }
        }
    }

    /// Pins a change, so that it stays although KEEP_LAST replaces it. Unpins the former one and returns it if it
    /// leaves.
    ///
    /// A large sample takes a while to send, and a writer faster than the network would never finish one. The pinned
    /// change may exceed the limits by one.
    pub fn pin(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        // One change at a time: the former one is sent, or given up.
        let removed = self.unpin_up_to(SequenceNumber::MAX);
        self.pinned = Some(PinnedChange { number, is_replaced: false });
        removed
    }

    /// Unpins the pinned change if its sequence number is at most `number`. Returns it if it leaves.
    pub fn unpin_up_to(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        let pinned = self.pinned.take_if(|pinned| pinned.number <= number)?;
        if !pinned.is_replaced {
            return None;
        }
        if self.remove(pinned.number) { Some(pinned.number) } else { None }
    }

    /// Removes a replaced change, or only takes it out of its instance if it is pinned. Returns whether it has left.
    fn replace(&mut self, number: SequenceNumber) -> bool {
        match &mut self.pinned {
            Some(pinned) if pinned.number == number => pinned.is_replaced = true,
            _ => return self.remove(number),
        }
        let Some(stored) = self.changes.get_mut(number) else {
            debug_assert!(false, "the pinned change is stored");
            return true;
        };
        // It stays for its readers, but its instance continues with the newer change.
        let chain = ChangeLinks::take_from(stored);
        self.unlink(chain);
        false
    }

    /// Registers an instance before its first change, and keeps its serialized key.
    ///
    /// # Errors
    /// [`HistoryFull::InstancesMax`]. Nothing has changed then.
    pub fn register(&mut self, instance: InstanceHandle, key: &Payload) -> Result<(), HistoryFull> {
        let known = self.instances.find_cached(instance);
        self.make_space_for_instance(known);
        let at = match known {
            Some(at) => at,
            None if self.instances.len() >= self.limits.instances_max => return Err(HistoryFull::InstancesMax),
            None => self.instances.insert(instance),
        };
        self.instances.note_registration(at, key);
        Ok(())
    }

    /// Changes DEADLINE (DDS 1.4, 2.2.3.7). Instances that had none count from now.
    pub fn set_deadline(&mut self, now: Instant, deadline: Duration) {
        self.instances.set_deadline(now, deadline);
    }

    /// Whether DEADLINE is finite.
    #[must_use]
    pub const fn watches_deadline(&self) -> bool {
        self.instances.has_deadline()
    }

    /// When [`WriterHistory::miss_deadlines`] has to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.instances.next_deadline()
    }

    /// Restarts the deadline of an instance after a sample, or ends it after another change.
    ///
    /// A registration alone starts no deadline, because there is nothing to update yet.
    pub fn meet_deadline(&mut self, instance: InstanceHandle, now: Instant) {
        self.instances.note_update(instance, now);
    }

    /// Counts the periods in which instances were not updated.
    pub fn miss_deadlines(&mut self, now: Instant) {
        self.instances.count_missed(now);
    }

    /// The deadlines missed since the last call; `None` if there are none.
    pub fn take_missed(&mut self) -> Option<MissedDeadlines> {
        self.instances.take_missed()
    }

    /// Applies a change that is not stored to its instance.
    pub fn note_unstored(&mut self, instance: InstanceHandle, kind: ChangeKind, payload: Option<&Payload>) {
        let known = self.instances.find_cached(instance);
        self.make_space_for_instance(known);
        let at = match known {
            Some(at) => at,
            None => self.instances.insert(instance),
        };
        self.instances.note_change(at, kind, payload);
        self.instances.release_if_unused(at);
    }

    /// Whether the instance was registered or written, and not unregistered since.
    #[must_use]
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.instances.registered(instance).is_some()
    }

    /// A payload to decode the key of a registered instance from.
    ///
    /// `None` for other instances, for keyless topics, and if there was no space for the key.
    #[must_use]
    pub fn instance_key_payload(&self, instance: InstanceHandle) -> Option<&KeyPayload> {
        self.instances.registered(instance)?.key.as_ref()
    }

    /// The first alive instance at index `from` or later, the index after it, and its key.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        self.instances.next_alive(from)
    }

    /// Removes a change. Returns whether it was stored.
    pub fn remove(&mut self, number: SequenceNumber) -> bool {
        let Some(slot) = self.changes.take_slot(number) else { return false };
        self.forget(slot);
        true
    }

    /// Forgets the change in a slot, whose sequence number has left the change store.
    fn forget(&mut self, slot: u32) {
        let Some(stored) = self.changes.at_mut(slot) else {
            debug_assert!(false, "a slot with a sequence number is occupied");
            return;
        };
        match self.pinned {
            Some(pinned) if pinned.number == stored.change.sequence_number => self.pinned = None,
            _ => {}
        }
        if stored.change.is_end_of_set() {
            self.set_ends.note_removed();
        }
        let links = ChangeLinks::take_from(stored);
        self.changes.empty_slot(slot);
        self.unlink(links);
    }

    /// Removes the changes up to `acknowledged` that no reader needs any more. Returns whether it removed any.
    ///
    /// All readers have acknowledged the changes up to `acknowledged`.
    pub fn retire(&mut self, acknowledged: SequenceNumber) -> bool {
        if self.keeps_acknowledged {
            return self.retire_departed(acknowledged);
        }
        let mut has_removed = false;
        while let Some(slot) = self.changes.take_first_slot(acknowledged) {
            self.forget(slot);
            has_removed = true;
        }
        has_removed
    }

    /// The change that has to leave for a new one of the instance.
    fn victim(&self, known: Option<u32>, acknowledged: SequenceNumber) -> Result<Option<SequenceNumber>, HistoryFull> {
        // The path of KEEP_ALL below its limits.
        if known.is_some() && self.limits.admits_any(self.len()) {
            return Ok(None);
        }
        let (mut len, mut oldest) = (0, None);
        if let Some(at) = known {
            if let Some(instance) = self.instances.get(at) {
                (len, oldest) = (instance.len, self.number_at(instance.oldest));
            }
        }
        match self.limits.depth {
            // KEEP_LAST replaces the oldest sample, acknowledged or not (DDS 1.4, 2.2.3.18).
            Some(depth) if len >= depth => return Ok(oldest),
            None if len >= self.limits.samples_per_instance_max => return acknowledged_or_full(oldest, acknowledged),
            _ => {}
        }
        if known.is_none() && self.instances.len() >= self.limits.instances_max {
            return Err(HistoryFull::InstancesMax);
        }
        if self.len() - self.changes_without_space() < self.limits.samples_max {
            return Ok(None);
        }
        // KEEP_LAST never waits for a reader.
        if self.limits.depth.is_some() {
            return Err(HistoryFull::SamplesMax);
        }
        // KEEP_ALL for late joiners gives up the oldest change that all present readers have.
        acknowledged_or_full(self.first_to_replace(), acknowledged)
    }

    /// How many stored changes take no space: a replaced change that is pinned, and ends of coherent sets.
    fn changes_without_space(&self) -> usize {
        let replaced = usize::from(self.pinned.is_some_and(|pinned| pinned.is_replaced));
        debug_assert!(replaced + self.set_ends.stored() <= self.len(), "they are stored");
        replaced + self.set_ends.stored()
    }

    /// The change that must be acknowledged before a full KEEP_ALL history has space for one of the instance.
    #[must_use]
    pub fn first_blocking(&self, instance: InstanceHandle) -> Option<SequenceNumber> {
        if let Some(known) = self.instance(instance) {
            if known.len >= self.limits.samples_per_instance_max {
                return self.number_at(known.oldest);
            }
        }
        self.first_to_replace()
    }

    fn instance(&self, handle: InstanceHandle) -> Option<&WriterInstance> {
        self.instances.get(self.instances.find(handle)?)
    }

    /// The oldest change that takes space.
    fn first_to_replace(&self) -> Option<SequenceNumber> {
        for stored in self.iter_from(SequenceNumber::FIRST) {
            let number = stored.change.sequence_number;
            let is_replaced = self.pinned.is_some_and(|pinned| pinned.is_replaced && pinned.number == number);
            if !is_replaced && !stored.change.is_end_of_set() {
                return Some(number);
            }
        }
        None
    }

    /// Removes the instances whose unregistration has been acknowledged, with all of their changes.
    ///
    /// Late joiners do not need them. Otherwise every instance ever unregistered would stay. See
    /// [`WriterHistory::keep_departures`] for exceptions.
    fn retire_departed(&mut self, acknowledged: SequenceNumber) -> bool {
        let mut has_removed = false;
        while let Some(number) = self.departures.pop_up_to(acknowledged) {
            // HISTORY or LIFESPAN may have removed the change before.
            let Some(stored) = self.changes.get(number) else { continue };
            // A newer change registered the instance again.
            if stored.newer != NONE {
                continue;
            }
            // From the newest change of the instance to its oldest.
            let mut next = Some(number);
            while let Some(number) = next {
                next = match self.changes.get(number) {
                    Some(stored) => self.number_at(stored.older),
                    None => None,
                };
                has_removed |= self.remove(number);
            }
        }
        self.departures.note_removal(has_removed);
        has_removed
    }

    /// Whether instances were removed with their changes. A reader that still lacks those does not get them.
    #[must_use]
    pub fn has_removed_instances(&self) -> bool {
        self.departures.has_removed()
    }

    fn number_at(&self, slot: u32) -> Option<SequenceNumber> {
        Some(self.changes.at(slot)?.change.sequence_number)
    }

    /// Appends a change to the chain of its instance.
    fn link_newest(&mut self, instance: u32, slot: u32) {
        let Some(instance) = self.instances.get_mut(instance) else {
            debug_assert!(false, "a change is stored after its instance");
            return;
        };
        let older = std::mem::replace(&mut instance.newest, slot);
        instance.len += 1;
        if older == NONE {
            instance.oldest = slot;
        }
        if let Some(stored) = self.changes.at_mut(older) {
            stored.newer = slot;
        }
        if let Some(stored) = self.changes.at_mut(slot) {
            stored.older = older;
        }
    }

    /// Removes a change from the chain of its instance. Frees an unused instance.
    fn unlink(&mut self, links: ChangeLinks) {
        if let Some(older) = self.changes.at_mut(links.older) {
            older.newer = links.newer;
        }
        if let Some(newer) = self.changes.at_mut(links.newer) {
            newer.older = links.older;
        }
        // A replaced change and the end of a coherent set belong to no instance.
        let Some(instance) = self.instances.get_mut(links.instance) else { return };
        if links.older == NONE {
            instance.oldest = links.newer;
        }
        if links.newer == NONE {
            instance.newest = links.older;
        }
        debug_assert!(instance.len > 0, "the change was in the chain");
        instance.len -= 1;
        if instance.len == 0 {
            self.instances.release_if_unused(links.instance);
        }
    }
}

/// The place of a change in the chain of its instance.
struct ChangeLinks {
    instance: u32,
    older: u32,
    newer: u32,
}

impl ChangeLinks {
    /// Takes the links of a change, which then belongs to no instance.
    fn take_from(stored: &mut StoredChange) -> Self {
        Self {
            instance: std::mem::replace(&mut stored.instance, NONE),
            older: std::mem::replace(&mut stored.older, NONE),
            newer: std::mem::replace(&mut stored.newer, NONE),
        }
    }
}

/// The change to replace if all readers have acknowledged it.
fn acknowledged_or_full(
    oldest: Option<SequenceNumber>,
    acknowledged: SequenceNumber,
) -> Result<Option<SequenceNumber>, HistoryFull> {
    match oldest {
        Some(number) if number <= acknowledged => Ok(Some(number)),
        _ => Err(HistoryFull::Unacknowledged),
    }
}

#[cfg(test)]
mod tests;
