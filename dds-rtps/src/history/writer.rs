//! The cache of one writer (RTPS 2.5, 8.2.2).
//!
//! In: changes in the order of their numbers, and up to where everybody has acknowledged. Out: changes by number. Owned:
//! the stored changes and, per instance, the chain of its samples, whether it is registered, and its key.
//!
//! Life cycle of a change: inserted; then removed because KEEP_LAST replaced it, because all readers acknowledged it and
//! the writer is volatile, because its instance was unregistered and all readers know, or because its lifespan has passed.
//!
//! Life cycle of an instance: registered by the application or by its first change, and known until it is unregistered
//! and its last change has left (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.7).
//!
//! Bound: the [`HistoryLimits`]. A KEEP_ALL history without limits grows with what the slowest reliable reader has not
//! acknowledged, and without a limit of instances with those that the application never unregisters. Slots of removed
//! changes and instances are used again, so a steady state allocates nothing.

use super::age_list::AgeList;
use super::key_store::KeyStore;
use super::sequence_index::SequenceIndex;
use super::set_ends::SetEnds;
use super::timing::LOOKS_MAX;
use super::{CacheChange, ChangeKind, HistoryLimits, KeyPayload, MissedDeadlines};
use crate::concurrent::Payload;
use crate::types::{Duration, InstanceHandle, Instant, SequenceNumber};
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};

/// No slot, no instance.
pub(super) const NONE: u32 = u32::MAX;

/// A change in the cache.
#[derive(Debug)]
pub struct StoredChange {
    /// The change.
    pub change: CacheChange,
    /// When its lifespan ends; `None`: never.
    pub expires: Option<Instant>,
    /// Bytes per fragment, once it has been sent in fragments; 0 before that. All readers, and all repairs, see the
    /// same fragments.
    pub fragment_size: u16,
    pub(super) instance: u32,
    /// The slots of the next older and newer change of the instance.
    pub(super) older: u32,
    pub(super) newer: u32,
}

/// Why a change was not taken in. Nothing has changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFull {
    /// KEEP_ALL, and the limit is used up by changes that a reader has not acknowledged: room will come.
    Unacknowledged,
    /// The limit of samples is used up, and waiting cannot help.
    SamplesMax,
    /// The limit of instances is used up, and waiting cannot help.
    InstancesMax,
}

/// The samples of one instance, as a chain through the slots.
#[derive(Debug)]
struct Instance {
    handle: InstanceHandle,
    oldest: u32,
    newest: u32,
    len: usize,
    /// The last change of it was not an unregister.
    registered: bool,
    /// The last change of it was a sample; then it is registered as well.
    alive: bool,
    /// Where its key can be decoded from.
    key: Option<KeyPayload>,
}

/// The change that is held.
#[derive(Debug, Clone, Copy)]
struct Held {
    number: SequenceNumber,
    /// It has been replaced, and belongs to no instance any more.
    replaced: bool,
}

/// The cache of one writer.
#[derive(Debug)]
pub struct WriterHistory {
    limits: HistoryLimits,
    /// Acknowledged changes stay for readers that join late.
    keeps_acknowledged: bool,
    pub(super) index: SequenceIndex,
    slots: Vec<Option<StoredChange>>,
    free_slots: Vec<u32>,
    instances: Vec<Instance>,
    free_instances: Vec<u32>,
    by_handle: HashMap<InstanceHandle, u32, FixedState>,
    /// The change that is being sent in pieces: it is not replaced on its way. See [`WriterHistory::pin`].
    held: Option<Held>,
    /// The instance that was found last, or [`NONE`]: many writers have one, and others write the same one again and again.
    last_found: u32,
    keys: KeyStore,
    /// Unregistering changes that wait to be acknowledged, so that their instances can be forgotten: where acknowledged
    /// changes stay.
    departing: VecDeque<SequenceNumber>,
    /// How many of them stay although they are acknowledged.
    departures_kept: usize,
    /// Instances have been forgotten with their samples.
    has_forgotten: bool,
    /// DEADLINE: the instances that are alive, by their last samples.
    deadlines: AgeList,
    missed: MissedDeadlines,
    /// The numbers that end coherent sets.
    pub(super) set_ends: SetEnds,
}

impl WriterHistory {
    /// An empty cache. `keeps_acknowledged`: acknowledged changes stay for readers that join late (transient-local).
    /// `seed` makes the order of the instance map its own.
    #[must_use]
    pub fn new(limits: HistoryLimits, keeps_acknowledged: bool, seed: u64) -> Self {
        Self {
            limits,
            keeps_acknowledged,
            index: SequenceIndex::default(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            instances: Vec::new(),
            free_instances: Vec::new(),
            by_handle: HashMap::with_hasher(FixedState::with_seed(seed)),
            held: None,
            last_found: NONE,
            keys: KeyStore::new(),
            departing: VecDeque::new(),
            departures_kept: 0,
            has_forgotten: false,
            deadlines: AgeList::of_deadline(Duration::INFINITE),
            missed: MissedDeadlines::default(),
            set_ends: SetEnds::default(),
        }
    }

    /// How many unregistered instances are remembered, the latest ones, though all present readers know that they are gone;
    /// for readers that were here before and come back. Counts only if acknowledged changes are kept. Default: none.
    pub fn keep_departures(&mut self, count: usize) {
        self.departures_kept = count;
    }

    /// How many changes are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the oldest stored change.
    #[must_use]
    pub fn first(&self) -> Option<SequenceNumber> {
        self.index.first().map(|(number, _)| number)
    }

    /// The number of the newest stored change.
    #[must_use]
    pub fn last(&self) -> Option<SequenceNumber> {
        self.index.last().map(|(number, _)| number)
    }

    /// A stored change.
    #[must_use]
    pub fn get(&self, number: SequenceNumber) -> Option<&StoredChange> {
        self.stored(self.index.get(number)?)
    }

    /// A stored change, to note how it was sent.
    pub fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut StoredChange> {
        let slot = self.index.get(number)?;
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The lowest stored number that is at least `number`.
    #[must_use]
    pub fn next_from(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        self.index.iter_from(number).next().map(|(number, _)| number)
    }

    /// The stored changes from `number` on, in the order of their numbers.
    pub fn iter_from(&self, number: SequenceNumber) -> impl Iterator<Item = &StoredChange> + '_ {
        self.index.iter_from(number).filter_map(|(_, slot)| self.stored(slot))
    }

    /// Whether [`WriterHistory::insert`] of a change of `instance` would succeed.
    ///
    /// # Errors
    /// The reason why it would not.
    pub fn check_room(&self, instance: InstanceHandle, acknowledged: SequenceNumber) -> Result<(), HistoryFull> {
        let has_room = self.limits.is_boundless() || self.limits.admits_any_instance(self.len());
        if has_room { Ok(()) } else { self.victim(self.by_handle.get(&instance).copied(), acknowledged).map(|_| ()) }
    }

    /// Which change [`WriterHistory::insert`] of one of `instance` would replace, if any.
    #[must_use]
    pub fn next_replaced(&self, instance: InstanceHandle, acknowledged: SequenceNumber) -> Option<SequenceNumber> {
        let victim = || self.victim(self.by_handle.get(&instance).copied(), acknowledged).ok().flatten();
        if self.limits.admits_any(self.len()) { None } else { victim() }
    }

    /// Takes in a change, whose number must be greater than all before. All readers have acknowledged what lies up to
    /// `acknowledged`, so that this may make room. Returns the number of the change that it replaced.
    ///
    /// # Errors
    /// [`HistoryFull`], and nothing has changed.
    pub fn insert(
        &mut self,
        change: CacheChange,
        expires: Option<Instant>,
        acknowledged: SequenceNumber,
    ) -> Result<Option<SequenceNumber>, HistoryFull> {
        let known = self.find_again(change.instance);
        let replaced = self.victim(known, acknowledged)?;
        // The new change joins its instance before the replaced one leaves it, so that the instance is not forgotten and
        // made again in between.
        let instance = known.unwrap_or_else(|| self.add_instance(change.instance));
        let number = change.sequence_number;
        let registered = self.note_change(instance, change.kind, change.payload.as_ref());
        if !registered && self.keeps_acknowledged {
            self.note_departure(number);
        }
        let stored = StoredChange { change, expires, fragment_size: 0, instance, older: NONE, newer: NONE };
        let slot = self.add_slot(stored);
        self.index.push(number, slot);
        self.link_newest(instance, slot);
        Ok(replaced.filter(|&replaced| self.replace(replaced)))
    }

    /// Lets a change stay though KEEP_LAST replaces it, in place of the one that was held before: a large sample takes a
    /// while to leave, and a writer that is faster than the network would else never finish one. Beyond the limits, this
    /// is one change. Returns the number of the one that now goes, if it has been replaced.
    pub fn pin(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        let released = self.unpin_up_to(SequenceNumber::MAX);
        self.held = Some(Held { number, replaced: false });
        released
    }

    /// The change that is held need not be, if its number is at most `number`. Returns it if it now goes.
    pub fn unpin_up_to(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        let held = self.held.take_if(|held| held.number <= number).filter(|held| held.replaced)?;
        self.remove(held.number).map(|_| held.number)
    }

    /// A change has been replaced: it goes, or it is held, and then in no instance's chain any more. Returns whether it
    /// has gone.
    fn replace(&mut self, number: SequenceNumber) -> bool {
        let Some(held) = self.held.as_mut().filter(|held| held.number == number) else {
            return self.remove(number).is_some();
        };
        held.replaced = true;
        let Some(slot) = self.index.get(number).map(|slot| slot as usize) else { return true };
        if let Some(stored) = self.slots.get_mut(slot).and_then(Option::take) {
            self.unlink(&stored);
            self.slots[slot] = Some(StoredChange { instance: NONE, older: NONE, newer: NONE, ..stored });
        }
        false
    }

    /// The application will write this instance: it counts from now on, and `key`, its serialized key, is kept.
    ///
    /// # Errors
    /// [`HistoryFull::InstancesMax`], and nothing has changed.
    pub fn register(&mut self, instance: InstanceHandle, key: &Payload) -> Result<(), HistoryFull> {
        let known = self.find_again(instance);
        if known.is_none() && self.by_handle.len() >= self.limits.instances_max {
            return Err(HistoryFull::InstancesMax);
        }
        let at = known.unwrap_or_else(|| self.add_instance(instance));
        self.note_state(at, true, Some(key), true);
        Ok(())
    }

    /// Changes DEADLINE: how long an instance may go without a new sample (DDS 1.4, 2.2.3.7). Where there was none before, it
    /// counts from now.
    pub fn set_deadline(&mut self, now: Instant, deadline: Duration) {
        let was_on = self.watches_deadline();
        self.deadlines.set_delay_of_deadline(deadline);
        if !was_on {
            let alive = |at: &&u32| self.instances.get(**at as usize).is_some_and(|instance| instance.alive);
            self.by_handle.values().filter(alive).for_each(|&at| self.deadlines.note(at, now));
        }
    }

    /// Whether there is a DEADLINE.
    #[must_use]
    pub const fn watches_deadline(&self) -> bool {
        self.deadlines.is_on()
    }

    /// When [`WriterHistory::miss_deadlines`] is to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.deadline()
    }

    /// A change that was inserted has met the deadline of its instance, or has ended it: nobody has promised to update what
    /// does not exist. A registration alone begins none, for there is nothing to update yet.
    pub fn meet_deadline(&mut self, instance: InstanceHandle, now: Instant) {
        let Some(at) = self.find_again(instance).filter(|_| self.watches_deadline()) else { return };
        match self.instances.get(at as usize).is_some_and(|instance| instance.alive) {
            true => self.deadlines.note(at, now),
            false => self.deadlines.forget(at),
        }
    }

    /// Counts the periods in which instances were not updated.
    pub fn miss_deadlines(&mut self, now: Instant) {
        if self.deadlines.is_due(now) {
            let Self { deadlines, instances, missed, .. } = self;
            let all = deadlines.miss(now, LOOKS_MAX, |at, periods| {
                if let Some(instance) = instances.get(at as usize) {
                    missed.note(instance.handle, periods);
                }
            });
            deadlines.looked(now, all);
        }
    }

    /// Deadlines that were missed since this was last asked; `None`: none.
    pub fn take_missed(&mut self) -> Option<MissedDeadlines> {
        self.missed.take()
    }

    /// Notes a change that passes by without being stored.
    pub fn note_unstored(&mut self, instance: InstanceHandle, kind: ChangeKind, payload: Option<&Payload>) {
        let at = self.find_again(instance).unwrap_or_else(|| self.add_instance(instance));
        if !self.note_change(at, kind, payload) {
            self.forget_if_unused(at);
        }
    }

    /// Whether the instance has been registered, or written, and not unregistered since.
    #[must_use]
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.registered(instance).is_some()
    }

    /// Something from which the key of a registered instance can be decoded; `None` for others, for the one of a keyless
    /// topic, and where there was no room for it.
    #[must_use]
    pub fn instance_key_payload(&self, instance: InstanceHandle) -> Option<&KeyPayload> {
        self.registered(instance)?.key.as_ref()
    }

    /// The first instance from a place of the table on that is alive, the place behind it, and its key.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        let mut places = self.instances.iter().enumerate().skip(from);
        let (at, instance) = places.find(|(_, instance)| instance.alive)?;
        Some((at + 1, instance.handle, instance.key.as_ref()))
    }

    fn registered(&self, instance: InstanceHandle) -> Option<&Instance> {
        let at = *self.by_handle.get(&instance)?;
        self.instances.get(at as usize).filter(|instance| instance.registered)
    }

    /// Removes a change.
    pub fn remove(&mut self, number: SequenceNumber) -> Option<CacheChange> {
        let slot = self.index.remove(number)?;
        self.remove_slot(slot)
    }

    fn remove_slot(&mut self, slot: u32) -> Option<CacheChange> {
        let stored = self.slots.get_mut(slot as usize)?.take()?;
        let number = stored.change.sequence_number;
        self.held.take_if(|held| held.number == number);
        self.free_slots.push(slot);
        self.set_ends.stored -= usize::from(stored.change.is_end_of_set());
        self.unlink(&stored);
        Some(stored.change)
    }

    /// All readers have acknowledged what lies up to `acknowledged`: removes what nobody needs any more. Returns whether
    /// anything was removed.
    pub fn retire(&mut self, acknowledged: SequenceNumber) -> bool {
        if self.keeps_acknowledged {
            return self.retire_departed(acknowledged);
        }
        let mut removed = false;
        while let Some(slot) = self.index.pop_up_to(acknowledged) {
            removed |= self.remove_slot(slot).is_some();
        }
        removed
    }

    /// Which change has to go for a new one of the instance.
    fn victim(&self, known: Option<u32>, acknowledged: SequenceNumber) -> Result<Option<SequenceNumber>, HistoryFull> {
        if known.is_some() && self.limits.admits_any(self.len()) {
            return Ok(None);
        }
        let instance = known.and_then(|instance| self.instances.get(instance as usize));
        let oldest = instance.and_then(|instance| self.stored(instance.oldest));
        let oldest = oldest.map(|stored| stored.change.sequence_number);
        let len = instance.map_or(0, |instance| instance.len);
        match self.limits.depth {
            Some(depth) if len >= depth => return Ok(oldest),
            None if len >= self.limits.samples_per_instance_max => {
                return oldest.filter(|&number| number <= acknowledged).map(Some).ok_or(HistoryFull::Unacknowledged);
            }
            _ => {}
        }
        if instance.is_none() && self.by_handle.len() >= self.limits.instances_max {
            return Err(HistoryFull::InstancesMax);
        }
        let replaced = usize::from(self.held.is_some_and(|held| held.replaced));
        if self.len() - replaced - self.set_ends.stored < self.limits.samples_max {
            return Ok(None);
        }
        if self.limits.depth.is_some() {
            return Err(HistoryFull::SamplesMax);
        }
        // A KEEP_ALL history for late joiners gives up what all present readers have, oldest first.
        self.first_to_replace().filter(|&number| number <= acknowledged).map(Some).ok_or(HistoryFull::Unacknowledged)
    }

    /// Which change has to be acknowledged before one of the instance finds room in a KEEP_ALL history that has none.
    #[must_use]
    pub fn first_blocking(&self, instance: InstanceHandle) -> Option<SequenceNumber> {
        let known = self.by_handle.get(&instance).and_then(|&at| self.instances.get(at as usize));
        match known.filter(|known| known.len >= self.limits.samples_per_instance_max) {
            Some(full) => self.stored(full.oldest).map(|stored| stored.change.sequence_number),
            None => self.first_to_replace(),
        }
    }

    /// The oldest change that would go if it were replaced: not the one that is held although it has been replaced, and none
    /// that only ends a set, which takes no room.
    fn first_to_replace(&self) -> Option<SequenceNumber> {
        let is_held = |number| self.held.is_some_and(|held| held.replaced && held.number == number);
        let mut stored = self.iter_from(SequenceNumber::FIRST).map(|stored| &stored.change);
        let first = stored.find(|change| !change.is_end_of_set() && !is_held(change.sequence_number));
        first.map(|change| change.sequence_number)
    }

    /// Forgets the instances whose unregistering has been acknowledged, samples and all: a late joiner need not hear of
    /// what this writer has no more to say about. Without this, every instance ever unregistered would stay. Some may be
    /// remembered, see [`WriterHistory::keep_departures`].
    fn retire_departed(&mut self, acknowledged: SequenceNumber) -> bool {
        let mut removed = false;
        while self.departing.len() > self.departures_kept {
            let Some(number) = self.departing.pop_front() else { break };
            if number > acknowledged {
                self.departing.push_front(number);
                break;
            }
            let Some(stored) = self.get(number) else { continue };
            // Written again since: it has come back.
            if stored.newer != NONE {
                continue;
            }
            let mut last = Some(number);
            while let Some(number) = last {
                let older = self.get(number).and_then(|stored| self.stored(stored.older));
                last = older.map(|stored| stored.change.sequence_number);
                removed |= self.remove(number).is_some();
            }
        }
        self.has_forgotten |= removed;
        removed
    }

    /// Whether instances have been forgotten with their samples: who was still to get those will not.
    #[must_use]
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Takes in what a change says of its instance. Whether that is still registered.
    fn note_change(&mut self, at: u32, kind: ChangeKind, payload: Option<&Payload>) -> bool {
        let registered = matches!(kind, ChangeKind::Alive | ChangeKind::NotAliveDisposed);
        self.note_state(at, registered, payload, kind != ChangeKind::Alive);
        if let Some(instance) = self.instances.get_mut(at as usize) {
            instance.alive = kind == ChangeKind::Alive;
        }
        registered
    }

    fn note_state(&mut self, at: u32, registered: bool, payload: Option<&Payload>, is_key: bool) {
        let Some(instance) = self.instances.get_mut(at as usize) else { return };
        instance.registered = registered;
        if !KeyStore::is_wanted(instance.key.as_ref(), is_key) || instance.handle.is_nil() {
            return;
        }
        if let Some(payload) = payload {
            // Without room for it the key is not known, and nothing else.
            let _ = self.keys.keep(&mut instance.key, payload, is_key);
        }
    }

    fn note_departure(&mut self, number: SequenceNumber) {
        // Replaced changes leave their numbers behind; drop them once they are the greater part.
        if self.departing.len() > 2 * self.index.len() + 64 {
            let index = &self.index;
            self.departing.retain(|&number| index.get(number).is_some());
        }
        self.departing.push_back(number);
    }

    /// The instance with this handle.
    #[inline]
    fn find_again(&mut self, handle: InstanceHandle) -> Option<u32> {
        // A place that was freed is never the last one.
        if self.instances.get(self.last_found as usize).is_some_and(|instance| instance.handle == handle) {
            return Some(self.last_found);
        }
        let at = self.by_handle.get(&handle).copied()?;
        self.last_found = at;
        Some(at)
    }

    fn stored(&self, slot: u32) -> Option<&StoredChange> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(super) fn add_slot(&mut self, stored: StoredChange) -> u32 {
        if let Some(slot) = self.free_slots.pop() {
            if let Some(place) = self.slots.get_mut(slot as usize) {
                *place = Some(stored);
            }
            return slot;
        }
        self.slots.push(Some(stored));
        (self.slots.len() - 1) as u32
    }

    fn add_instance(&mut self, handle: InstanceHandle) -> u32 {
        let instance =
            Instance { handle, oldest: NONE, newest: NONE, len: 0, registered: true, alive: false, key: None };
        let number = match self.free_instances.pop() {
            Some(number) => {
                if let Some(place) = self.instances.get_mut(number as usize) {
                    *place = instance;
                }
                number
            }
            None => {
                self.instances.push(instance);
                (self.instances.len() - 1) as u32
            }
        };
        self.by_handle.insert(handle, number);
        number
    }

    fn link_newest(&mut self, instance: u32, slot: u32) {
        let Some(chain) = self.instances.get_mut(instance as usize) else { return };
        let older = std::mem::replace(&mut chain.newest, slot);
        chain.len += 1;
        if older == NONE {
            chain.oldest = slot;
        }
        if let Some(stored) = self.slots.get_mut(older as usize).and_then(Option::as_mut) {
            stored.newer = slot;
        }
        if let Some(stored) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) {
            stored.older = older;
        }
    }

    /// Takes a change that has left its slot out of its instance's chain.
    fn unlink(&mut self, stored: &StoredChange) {
        if let Some(older) = self.slots.get_mut(stored.older as usize).and_then(Option::as_mut) {
            older.newer = stored.newer;
        }
        if let Some(newer) = self.slots.get_mut(stored.newer as usize).and_then(Option::as_mut) {
            newer.older = stored.older;
        }
        let Some(chain) = self.instances.get_mut(stored.instance as usize) else { return };
        if stored.older == NONE {
            chain.oldest = stored.newer;
        }
        if stored.newer == NONE {
            chain.newest = stored.older;
        }
        chain.len -= 1;
        if !chain.registered {
            self.forget_if_unused(stored.instance);
        }
    }

    /// Frees an instance that is not registered, unless it still has changes.
    fn forget_if_unused(&mut self, at: u32) {
        let Some(instance) = self.instances.get_mut(at as usize).filter(|instance| instance.len == 0) else { return };
        self.keys.give_up(&mut instance.key);
        self.by_handle.remove(&instance.handle);
        self.deadlines.forget(at);
        self.free_instances.push(at);
        if self.last_found == at {
            self.last_found = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::types::{Guid, Time};

    const UNLIMITED: HistoryLimits = HistoryLimits {
        depth: None,
        samples_max: usize::MAX,
        instances_max: usize::MAX,
        samples_per_instance_max: usize::MAX,
    };
    const NOTHING: SequenceNumber = SequenceNumber::ZERO;

    fn key(number: u8) -> InstanceHandle {
        InstanceHandle::from_key_hash([number; 16])
    }

    fn change(number: i64, instance: InstanceHandle, kind: ChangeKind) -> CacheChange {
        CacheChange {
            kind,
            writer: Guid::UNKNOWN,
            sequence_number: SequenceNumber(number),
            instance,
            source_timestamp: Time::INVALID,
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(Payload::copy_of(&[number as u8])),
        }
    }

    fn insert(
        history: &mut WriterHistory,
        number: i64,
        instance: InstanceHandle,
        acknowledged: i64,
    ) -> Result<Option<i64>, HistoryFull> {
        let change = change(number, instance, ChangeKind::Alive);
        history.insert(change, None, SequenceNumber(acknowledged)).map(|replaced| replaced.map(|number| number.0))
    }

    fn numbers(history: &WriterHistory) -> Vec<i64> {
        history.iter_from(SequenceNumber::ZERO).map(|stored| stored.change.sequence_number.0).collect()
    }

    #[test]
    fn keep_last_replaces_the_oldest_of_the_same_instance_though_it_is_unacknowledged() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(2), ..UNLIMITED }, false, 1);
        assert_eq!(insert(&mut history, 1, key(1), 0), Ok(None));
        assert_eq!(insert(&mut history, 2, key(2), 0), Ok(None));
        assert_eq!(insert(&mut history, 3, key(1), 0), Ok(None));
        assert_eq!(insert(&mut history, 4, key(1), 0), Ok(Some(1)));
        assert_eq!(insert(&mut history, 5, key(1), 0), Ok(Some(3)));
        assert_eq!(numbers(&history), [2, 4, 5]);
        assert_eq!(history.next_from(SequenceNumber(3)), Some(SequenceNumber(4)));
    }

    #[test]
    fn keep_all_refuses_while_the_oldest_is_unacknowledged_and_then_makes_room() {
        let mut history = WriterHistory::new(HistoryLimits { samples_max: 2, ..UNLIMITED }, true, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        insert(&mut history, 2, key(2), 0).unwrap();
        assert_eq!(insert(&mut history, 3, key(3), 0), Err(HistoryFull::Unacknowledged));
        assert_eq!(history.check_room(key(3), NOTHING), Err(HistoryFull::Unacknowledged));
        assert_eq!(numbers(&history), [1, 2]);
        assert_eq!(history.check_room(key(3), SequenceNumber(1)), Ok(()));
        assert_eq!(insert(&mut history, 3, key(3), 1), Ok(Some(1)));
        assert_eq!(numbers(&history), [2, 3]);
    }

    #[test]
    fn keep_all_counts_the_samples_of_each_instance() {
        let mut history = WriterHistory::new(HistoryLimits { samples_per_instance_max: 1, ..UNLIMITED }, false, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        assert_eq!(insert(&mut history, 2, key(1), 0), Err(HistoryFull::Unacknowledged));
        assert_eq!(insert(&mut history, 2, key(2), 0), Ok(None));
        assert_eq!(insert(&mut history, 3, key(1), 1), Ok(Some(1)));
    }

    #[test]
    fn keep_last_at_a_limit_is_refused_for_good() {
        let limits = HistoryLimits { depth: Some(1), samples_max: 2, instances_max: 3, ..UNLIMITED };
        let mut history = WriterHistory::new(limits, false, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        insert(&mut history, 2, key(2), 0).unwrap();
        assert_eq!(insert(&mut history, 3, key(3), 2), Err(HistoryFull::SamplesMax));
        assert_eq!(insert(&mut history, 3, key(1), 0), Ok(Some(1)));
        let mut history = WriterHistory::new(HistoryLimits { instances_max: 1, ..limits }, false, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        assert_eq!(insert(&mut history, 2, key(2), 1), Err(HistoryFull::InstancesMax));
    }

    #[test]
    fn a_registered_instance_without_samples_counts_against_the_limit_until_it_is_unregistered() {
        let limits = HistoryLimits { depth: Some(1), instances_max: 1, ..UNLIMITED };
        let mut history = WriterHistory::new(limits, false, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        assert!(history.retire(SequenceNumber(1)));
        assert!(history.is_empty());
        assert_eq!(insert(&mut history, 2, key(2), 1), Err(HistoryFull::InstancesMax));
        history.insert(change(2, key(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
        history.retire(SequenceNumber(2));
        assert_eq!(insert(&mut history, 3, key(2), 2), Ok(None));
    }

    #[test]
    fn an_instance_is_known_until_it_is_unregistered_and_its_last_change_has_left() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, false, 1);
        assert!(!history.is_registered(key(1)));
        insert(&mut history, 1, key(1), 0).unwrap();
        history.retire(SequenceNumber(1));
        assert!(history.is_empty() && history.is_registered(key(1)));
        assert_eq!(history.instance_key_payload(key(1)).unwrap().payload.bytes(), [1]);
        history.insert(change(2, key(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
        assert!(!history.is_registered(key(1)) && history.instance_key_payload(key(1)).is_none());
        assert_eq!(history.by_handle.len(), 1, "its last change waits to be acknowledged");
        history.retire(SequenceNumber(2));
        assert_eq!(history.by_handle.len(), 0);
        insert(&mut history, 3, key(1), 2).unwrap();
        assert!(history.is_registered(key(1)), "its former place is not found any more");
    }

    #[test]
    fn instances_that_come_and_go_do_not_make_it_grow() {
        for passes_by in [false, true] {
            let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, false, 1);
            for number in 1..200 {
                let [alive, end] = [ChangeKind::Alive, ChangeKind::NotAliveDisposedUnregistered]
                    .map(|kind| change(number, key(number as u8), kind));
                for (change, number) in [(alive, 2 * number - 1), (end, 2 * number)] {
                    let sequence_number = SequenceNumber(number);
                    if passes_by {
                        history.note_unstored(change.instance, change.kind, change.payload.as_ref());
                    } else {
                        history.insert(CacheChange { sequence_number, ..change }, None, NOTHING).unwrap();
                        history.retire(sequence_number);
                    }
                }
            }
            assert_eq!((history.by_handle.len(), history.slots.len().min(1)), (0, usize::from(!passes_by)));
            assert!(history.instances.len() <= 2);
        }
    }

    #[test]
    fn registering_takes_part_in_the_limit_and_keeps_the_serialized_key() {
        let mut history = WriterHistory::new(HistoryLimits { instances_max: 1, ..UNLIMITED }, false, 1);
        let serialized = Payload::copy_of(b"key");
        assert_eq!(history.register(key(1), &serialized), Ok(()));
        assert_eq!(history.register(key(1), &serialized), Ok(()), "it is known already");
        assert_eq!(history.register(key(2), &serialized), Err(HistoryFull::InstancesMax));
        assert_eq!(insert(&mut history, 1, key(2), 0), Err(HistoryFull::InstancesMax));
        insert(&mut history, 1, key(1), 0).unwrap();
        let known = history.instance_key_payload(key(1)).unwrap();
        assert_eq!((known.payload.bytes(), known.is_key), (&b"key"[..], true));
    }

    #[test]
    fn an_unregistered_instance_leaves_a_transient_local_history_once_all_readers_know() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(4), ..UNLIMITED }, true, 1);
        insert(&mut history, 1, key(1), 0).unwrap();
        insert(&mut history, 2, key(2), 0).unwrap();
        insert(&mut history, 3, key(1), 0).unwrap();
        history.insert(change(4, key(1), ChangeKind::NotAliveDisposedUnregistered), None, NOTHING).unwrap();
        assert!(!history.retire(SequenceNumber(3)));
        assert_eq!(numbers(&history), [1, 2, 3, 4]);
        assert!(history.retire(SequenceNumber(4)));
        assert_eq!(numbers(&history), [2]);
        assert_eq!(history.by_handle.len(), 1);
    }

    #[test]
    fn an_instance_that_came_back_stays() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(4), ..UNLIMITED }, true, 1);
        history.insert(change(1, key(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
        insert(&mut history, 2, key(1), 0).unwrap();
        history.retire(SequenceNumber(2));
        assert_eq!(numbers(&history), [1, 2]);
    }

    #[test]
    fn coming_and_going_of_one_instance_does_not_grow_though_nobody_acknowledges() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, true, 1);
        for number in 1..1000 {
            history.insert(change(number, key(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
        }
        assert!(history.departing.len() < 100);
        assert_eq!(history.len(), 1);
    }

    #[test]
    fn departures_are_forgotten_though_their_changes_leave_all_at_once() {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, true, 1);
        for number in 1..=200 {
            let end = change(number, key(number as u8), ChangeKind::NotAliveUnregistered);
            history.insert(end, None, NOTHING).unwrap();
        }
        (1..=200).for_each(|number| drop(history.remove(SequenceNumber(number))));
        for number in 201..1000 {
            history.insert(change(number, key(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
        }
        assert!(history.departing.len() < 100);
    }
}
