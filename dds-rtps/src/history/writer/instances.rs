//! The instances of one writer: their changes, registrations, keys and deadlines.

use super::NONE;
use crate::concurrent::Payload;
use crate::history::age_list::{AgeList, TIMER_RUN_MAX};
use crate::history::key_store::{KeyPayload, KeyStore};
use crate::history::{ChangeKind, MissedDeadlines};
use crate::types::{Duration, HashSeed, InstanceHandle, Instant, KeyedState};
use std::collections::{HashMap, VecDeque};

/// Stale entries that the list of disposed instances may always have.
const STALE_MIN: usize = 64;

/// One instance of a writer. Its changes form a chain through the slots of the change store.
#[derive(Debug)]
pub(super) struct WriterInstance {
    pub(super) handle: InstanceHandle,
    pub(super) oldest: u32,
    pub(super) newest: u32,
    pub(super) len: usize,
    /// The last change was not an unregister.
    pub(super) is_registered: bool,
    /// The last change was a sample. The instance is then registered as well.
    pub(super) is_alive: bool,
    /// The last change was a dispose, and the application has not registered the instance again.
    is_disposed: bool,
    /// The instance stands in the list of disposed instances, which it may have left since.
    is_listed: bool,
    /// Payload to decode the key from.
    pub(super) key: Option<KeyPayload>,
}

/// All instances of one writer.
///
/// Life cycle: the application or the first change registers an instance. It is known until it is unregistered and its
/// last change has left (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.7). A disposed instance without changes is known until
/// another instance needs its place.
#[derive(Debug)]
pub(super) struct WriterInstances {
    instances: Vec<WriterInstance>,
    free: Vec<u32>,
    by_handle: HashMap<InstanceHandle, u32, KeyedState>,
    /// The instance found last, or [`NONE`]. Many writers have only one, or update the same one repeatedly.
    last_found: u32,
    keys: KeyStore,
    /// Disposed instances whose last change has left, the oldest first. The application may write them again, so they
    /// stay until another instance needs the place. Some entries may have changed since. Bound: twice the instances,
    /// and [`STALE_MIN`].
    disposed: VecDeque<InstanceHandle>,
    /// DEADLINE: the alive instances in the order of their last samples.
    deadlines: AgeList,
    missed: MissedDeadlines,
}

impl WriterInstances {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self {
            instances: Vec::new(),
            free: Vec::new(),
            by_handle: HashMap::with_hasher(seed.state()),
            last_found: NONE,
            keys: KeyStore::new(),
            disposed: VecDeque::new(),
            deadlines: AgeList::of_deadline(Duration::INFINITE),
            missed: MissedDeadlines::default(),
        }
    }

    /// How many instances are known.
    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// The instance at an index; `None` for [`NONE`].
    pub(super) fn get(&self, at: u32) -> Option<&WriterInstance> {
        self.instances.get(at as usize)
    }

    /// The instance at an index, mutable; `None` for [`NONE`].
    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut WriterInstance> {
        self.instances.get_mut(at as usize)
    }

    pub(super) fn find(&self, handle: InstanceHandle) -> Option<u32> {
        self.by_handle.get(&handle).copied()
    }

    /// Like [`WriterInstances::find`], but tries the last instance found first.
    #[inline]
    pub(super) fn find_cached(&mut self, handle: InstanceHandle) -> Option<u32> {
        // `release_if_unused` clears `last_found`, so this is never a freed entry.
        if let Some(instance) = self.instances.get(self.last_found as usize) {
            if instance.handle == handle {
                return Some(self.last_found);
            }
        }
        let at = self.find(handle)?;
        self.last_found = at;
        Some(at)
    }

    /// The registered instance with this handle.
    pub(super) fn registered(&self, handle: InstanceHandle) -> Option<&WriterInstance> {
        let instance = self.get(self.find(handle)?)?;
        if instance.is_registered { Some(instance) } else { None }
    }

    /// The first alive instance at index `from` or later, the index after it, and its key.
    pub(super) fn next_alive(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        // Free entries are not alive.
        for (at, instance) in self.instances.iter().enumerate().skip(from) {
            if instance.is_alive {
                return Some((at + 1, instance.handle, instance.key.as_ref()));
            }
        }
        None
    }

    /// Creates a registered instance.
    pub(super) fn insert(&mut self, handle: InstanceHandle) -> u32 {
        let instance = WriterInstance {
            handle,
            oldest: NONE,
            newest: NONE,
            len: 0,
            is_registered: true,
            is_alive: false,
            is_disposed: false,
            is_listed: false,
            key: None,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.instances[at as usize] = instance;
                at
            }
            None => {
                self.instances.push(instance);
                (self.instances.len() - 1) as u32
            }
        };
        let former = self.by_handle.insert(handle, at);
        debug_assert!(former.is_none(), "an instance is inserted once");
        at
    }

    /// Applies a change to its instance. Returns whether the instance is still registered.
    pub(super) fn note_change(&mut self, at: u32, kind: ChangeKind, payload: Option<&Payload>) -> bool {
        let is_registered = matches!(kind, ChangeKind::Alive | ChangeKind::NotAliveDisposed);
        let is_alive = kind == ChangeKind::Alive;
        // A dispose and an unregistration carry the key, a sample carries all members.
        self.keep_key(at, payload, !is_alive);
        if let Some(instance) = self.get_mut(at) {
            instance.is_registered = is_registered;
            instance.is_alive = is_alive;
            instance.is_disposed = kind == ChangeKind::NotAliveDisposed;
        }
        is_registered
    }

    /// Registers an instance without a change. `key` is its serialized key.
    pub(super) fn note_registration(&mut self, at: u32, key: &Payload) {
        self.keep_key(at, Some(key), true);
        if let Some(instance) = self.get_mut(at) {
            instance.is_registered = true;
            instance.is_disposed = false;
        }
    }

    fn keep_key(&mut self, at: u32, payload: Option<&Payload>, is_key: bool) {
        let (Some(instance), Some(payload)) = (self.instances.get_mut(at as usize), payload) else { return };
        if KeyStore::should_store(instance.key.as_ref(), is_key) && !instance.handle.is_nil() {
            // Without space the key is unknown, and that is all.
            let _ = self.keys.keep(&mut instance.key, payload, is_key);
        }
    }

    /// Frees an instance without changes that is not registered, or lists it if it is disposed.
    pub(super) fn release_if_unused(&mut self, at: u32) {
        let Some(instance) = self.instances.get_mut(at as usize) else {
            debug_assert!(false, "the caller found the instance");
            return;
        };
        // Its changes still name the instance. The removal of the last one comes here again.
        if instance.len > 0 {
            return;
        }
        if !instance.is_registered {
            self.release(at);
        } else if instance.is_disposed && !instance.is_listed {
            self.list_disposed(at);
        }
    }

    fn list_disposed(&mut self, at: u32) {
        let Self { instances, by_handle, disposed, .. } = self;
        if disposed.len() >= 2 * by_handle.len() + STALE_MIN {
            // A freed instance leaves its entry behind. The first entry of each instance stays.
            let mut kept = Vec::new();
            disposed.retain(|handle| {
                let Some(&index) = by_handle.get(handle) else { return false };
                let is_first = std::mem::take(&mut instances[index as usize].is_listed);
                if is_first {
                    kept.push(index);
                }
                is_first
            });
            for index in kept {
                instances[index as usize].is_listed = true;
            }
        }
        instances[at as usize].is_listed = true;
        disposed.push_back(instances[at as usize].handle);
    }

    /// Frees the oldest disposed instance without changes. Returns whether it found one.
    pub(super) fn release_disposed(&mut self) -> bool {
        while let Some(handle) = self.disposed.pop_front() {
            let Some(at) = self.find(handle) else { continue };
            let instance = &mut self.instances[at as usize];
            let was_listed = std::mem::take(&mut instance.is_listed);
            if was_listed && instance.is_disposed && instance.len == 0 {
                self.release(at);
                return true;
            }
        }
        false
    }

    fn release(&mut self, at: u32) {
        let instance = &mut self.instances[at as usize];
        // The walk over the alive instances passes free entries too.
        (instance.is_registered, instance.is_alive) = (false, false);
        self.keys.release(&mut instance.key);
        self.by_handle.remove(&instance.handle);
        self.deadlines.forget(at);
        self.free.push(at);
        if self.last_found == at {
            self.last_found = NONE;
        }
    }

    /// Changes DEADLINE. Instances that had none count from now.
    pub(super) fn set_deadline(&mut self, now: Instant, deadline: Duration) {
        let had_deadline = self.has_deadline();
        self.deadlines.set_delay_of_deadline(deadline);
        // The present moments stay: a new DEADLINE counts from the last samples.
        if had_deadline {
            return;
        }
        for &at in self.by_handle.values() {
            if self.instances[at as usize].is_alive {
                self.deadlines.note(at, now);
            }
        }
    }

    /// Whether DEADLINE is finite.
    pub(super) const fn has_deadline(&self) -> bool {
        self.deadlines.is_on()
    }

    /// When [`WriterInstances::count_missed`] has to be called.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.deadline()
    }

    /// Restarts the deadline of an instance after a sample, or ends it after another change.
    pub(super) fn note_update(&mut self, handle: InstanceHandle, now: Instant) {
        if !self.has_deadline() {
            return;
        }
        // An unregistered instance without changes has left the table, and its deadline with it.
        let Some(at) = self.find_cached(handle) else { return };
        if self.instances[at as usize].is_alive {
            self.deadlines.note(at, now);
        } else {
            self.deadlines.forget(at);
        }
    }

    /// Counts the periods in which instances were not updated.
    pub(super) fn count_missed(&mut self, now: Instant) {
        if !self.deadlines.is_due(now) {
            return;
        }
        for _ in 0..TIMER_RUN_MAX {
            let Some((at, periods)) = self.deadlines.next_missed(now) else { break };
            self.missed.note(self.instances[at as usize].handle, periods);
        }
        self.deadlines.end_run(now);
    }

    /// The deadlines missed since the last call.
    pub(super) fn take_missed(&mut self) -> Option<MissedDeadlines> {
        self.missed.take()
    }

    /// How many entries the table has, free ones included.
    #[cfg(test)]
    pub(super) fn table_len(&self) -> usize {
        self.instances.len()
    }
}
