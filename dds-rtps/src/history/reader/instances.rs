//! The instances of a reader: states, generations, and the writers of each (DDS 1.4, 2.2.2.5.1).

use super::sample_store::{NO_SAMPLE, SampleIndex, SampleList};
use super::source_order::SourceOrder;
use super::{InstanceState, ViewState};
use crate::concurrent::Payload;
use crate::history::key_store::{KeyPayload, KeyStore};
use crate::types::{Guid, HashSeed, InstanceHandle, KeyedState};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;

/// Index of an instance in the [`InstanceTable`].
pub(super) type InstanceIndex = u32;

/// No instance.
pub(super) const NO_INSTANCE: InstanceIndex = u32::MAX;

/// The most writers that one instance remembers. The samples of further writers are delivered, but their loss goes
/// unnoticed.
///
/// A peer can announce any number of writers. No honest system has this many of one instance.
pub(super) const INSTANCE_WRITERS_MAX: usize = 1024;

/// One instance of a reader.
#[derive(Debug)]
pub(super) struct ReaderInstance {
    pub(super) handle: InstanceHandle,
    pub(super) state: InstanceState,
    pub(super) view: ViewState,
    pub(super) disposed_generations: u32,
    pub(super) no_writers_generations: u32,
    pub(super) samples: SampleList,
    /// The samples that have not been read yet, the notice included.
    pub(super) unread: usize,
    /// The notice: the one sample without data, which reports a new instance state. [`NO_SAMPLE`]: none.
    pub(super) notice: SampleIndex,
    /// Payload to decode the key from. It is set once, because a key never changes.
    pub(super) key: Option<KeyPayload>,
    /// Under order by source timestamp: the newest sample or dispose.
    pub(super) newest: Option<SourceOrder>,
    /// Under order by source timestamp: the newest that the application has seen.
    pub(super) handed_out: Option<SourceOrder>,
    /// Under order by source timestamp: the last sample that was sorted in, if it is still stored.
    pub(super) last_late: SampleIndex,
    /// Scratch memory of a selection: samples picked and not yet handed out.
    pub(super) picked: u32,
    /// Scratch memory of a selection: generation of the last sample picked.
    pub(super) picked_generation: u32,
    /// The number of the last selection that visited this instance.
    pub(super) visit: u64,
    /// The instance stands in the list of disposed instances, which it may have left since.
    is_listed: bool,
    /// The writers of the instance. The last one to write comes first.
    writers: SmallVec<[Guid; 2]>,
}

impl ReaderInstance {
    fn new(handle: InstanceHandle) -> Self {
        Self {
            handle,
            state: InstanceState::Alive,
            view: ViewState::New,
            disposed_generations: 0,
            no_writers_generations: 0,
            samples: SampleList::EMPTY,
            unread: 0,
            notice: NO_SAMPLE,
            key: None,
            newest: None,
            handed_out: None,
            last_late: NO_SAMPLE,
            picked: 0,
            picked_generation: 0,
            visit: 0,
            is_listed: false,
            writers: SmallVec::new(),
        }
    }

    /// The sum of both generation counts.
    pub(super) fn generation(&self) -> u32 {
        // Ranks are differences of generations, so the sum may wrap.
        self.disposed_generations.wrapping_add(self.no_writers_generations)
    }

    /// How many samples with data are stored.
    pub(super) fn samples_with_data(&self) -> usize {
        debug_assert!(self.samples.len > 0 || self.notice == NO_SAMPLE, "a notice is one of the samples");
        self.samples.len - usize::from(self.notice != NO_SAMPLE)
    }

    /// Makes the instance alive after a sample, perhaps in a new generation (DDS 1.4, 2.2.2.5.1.5 to 2.2.2.5.1.8).
    pub(super) fn revive(&mut self) {
        match self.state {
            InstanceState::Alive => return,
            InstanceState::NotAliveDisposed => self.disposed_generations = self.disposed_generations.wrapping_add(1),
            InstanceState::NotAliveNoWriters => {
                self.no_writers_generations = self.no_writers_generations.wrapping_add(1);
            }
        }
        self.state = InstanceState::Alive;
        self.view = ViewState::New;
    }

    fn register(&mut self, writer: Guid) -> Registration {
        if self.writers.first() == Some(&writer) {
            return Registration::Known;
        }
        match self.writers.iter().position(|&known| known == writer) {
            // `was_last_written_by` then finds it without a search.
            Some(at) => {
                self.writers.swap(0, at);
                Registration::Known
            }
            // A peer may create any number of writers, and each instance would remember all of them.
            None if self.writers.len() >= INSTANCE_WRITERS_MAX => Registration::NoSpace,
            None => {
                self.writers.push(writer);
                Registration::New
            }
        }
    }

    /// Forgets a writer. Returns whether an alive instance lost its last writer by that.
    fn unregister(&mut self, writer: Guid) -> bool {
        let Some(at) = self.writers.iter().position(|&known| known == writer) else { return false };
        // The first writer is only a shortcut, so any other one may take its place.
        self.writers.swap_remove(at);
        let has_lost_last = self.writers.is_empty() && self.state == InstanceState::Alive;
        if has_lost_last {
            self.state = InstanceState::NotAliveNoWriters;
        }
        has_lost_last
    }

    /// The writers of the instance.
    pub(super) fn writers(&self) -> &[Guid] {
        &self.writers
    }

    /// Whether `writer` was the last to write the instance.
    #[inline]
    pub(super) fn was_last_written_by(&self, writer: Guid) -> bool {
        self.writers.first() == Some(&writer)
    }

    fn is_written_by(&self, writer: Guid) -> bool {
        self.writers.contains(&writer)
    }

    /// Whether the instance is disposed and has no samples.
    fn is_disposed_and_empty(&self) -> bool {
        self.state == InstanceState::NotAliveDisposed && self.samples.len == 0 && self.picked == 0
    }

    /// Whether the instance has neither samples nor writers.
    pub(super) fn is_unused(&self) -> bool {
        self.samples.len == 0 && self.picked == 0 && self.writers.is_empty()
    }
}

/// Result of the registration of a writer for an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registration {
    Known,
    New,
    NoSpace,
}

/// The shortest list of a writer's instances that is searched for stale entries.
const STALE_SEARCH_MIN: usize = 64;

/// The instances that one writer has registered, so that its loss costs as much as it has written.
///
/// Instances that the writer has unregistered stay in the list until they are the majority.
#[derive(Debug, Default)]
struct RegisteredInstances {
    list: Vec<InstanceIndex>,
    /// From this length on, the list is searched for stale entries.
    limit: usize,
}

/// All instances of a reader.
///
/// Life cycle: the first change of an instance creates it. It is freed once it has neither samples nor writers, and its
/// memory is reused. Bound: the instance limit of the history.
#[derive(Debug)]
pub(super) struct InstanceTable {
    instances: Vec<ReaderInstance>,
    free: Vec<InstanceIndex>,
    by_handle: HashMap<InstanceHandle, InstanceIndex, KeyedState>,
    /// For iteration in the order of the handles.
    in_order: BTreeMap<InstanceHandle, InstanceIndex>,
    /// The instances that each writer has registered. Bound: the matched writers. A list has at most twice as many
    /// entries as its writer has instances, plus [`STALE_SEARCH_MIN`].
    by_writer: HashMap<Guid, RegisteredInstances, KeyedState>,
    /// The instance that was found last. Many topics have only one, and writers often update the same one repeatedly.
    last_found: InstanceIndex,
    keys: KeyStore,
    /// Instances without writers whose last sample was taken. The next selection frees them, or the next change of
    /// theirs. Until then the application can look up the keys of the samples it took. Bound: the instances.
    emptied: Vec<InstanceIndex>,
    /// Disposed instances whose last sample was taken, the oldest first. Their writers may write them again, so they
    /// stay until another instance needs the place. Some entries may have changed since. Bound: twice the instances,
    /// and [`STALE_SEARCH_MIN`].
    disposed: VecDeque<InstanceHandle>,
}

impl InstanceTable {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self {
            instances: Vec::new(),
            free: Vec::new(),
            by_handle: HashMap::with_hasher(seed.state()),
            in_order: BTreeMap::new(),
            by_writer: HashMap::with_hasher(seed.state()),
            last_found: NO_INSTANCE,
            keys: KeyStore::new(),
            emptied: Vec::new(),
            disposed: VecDeque::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    pub(super) fn find(&self, handle: InstanceHandle) -> Option<InstanceIndex> {
        self.by_handle.get(&handle).copied()
    }

    /// Like [`InstanceTable::find`], but tries the last instance found first.
    #[inline]
    pub(super) fn find_cached(&mut self, handle: InstanceHandle) -> Option<InstanceIndex> {
        // `release` clears `last_found`, so this is never a freed entry.
        if let Some(instance) = self.instances.get(self.last_found as usize) {
            if instance.handle == handle {
                return Some(self.last_found);
            }
        }
        self.find_other(handle)
    }

    fn find_other(&mut self, handle: InstanceHandle) -> Option<InstanceIndex> {
        let at = self.find(handle)?;
        self.last_found = at;
        Some(at)
    }

    pub(super) fn get(&self, at: InstanceIndex) -> &ReaderInstance {
        &self.instances[at as usize]
    }

    pub(super) fn get_mut(&mut self, at: InstanceIndex) -> &mut ReaderInstance {
        &mut self.instances[at as usize]
    }

    pub(super) fn insert(&mut self, handle: InstanceHandle) -> InstanceIndex {
        debug_assert!(!self.by_handle.contains_key(&handle), "an instance is inserted once");
        let at = match self.free.pop() {
            Some(at) => {
                self.instances[at as usize] = ReaderInstance::new(handle);
                at
            }
            None => {
                self.instances.push(ReaderInstance::new(handle));
                (self.instances.len() - 1) as InstanceIndex
            }
        };
        self.by_handle.insert(handle, at);
        // The hash table finds an instance, and the tree walks them in the order of their handles.
        self.in_order.insert(handle, at);
        at
    }

    /// Registers `writer` for an instance. Returns `false` if there is no space to remember it.
    pub(super) fn register(&mut self, at: InstanceIndex, writer: Guid) -> bool {
        let Self { instances, by_writer, .. } = self;
        match instances[at as usize].register(writer) {
            Registration::Known => return true,
            Registration::NoSpace => return false,
            Registration::New => {}
        }
        let own = by_writer.entry(writer).or_default();
        // Drop stale entries once the list has doubled, which makes the search O(1) per registration on average.
        if own.list.len() >= own.limit.max(STALE_SEARCH_MIN) {
            own.list.sort_unstable();
            own.list.dedup();
            own.list.retain(|&index| index != at && instances[index as usize].is_written_by(writer));
            own.limit = 2 * own.list.len();
        }
        own.list.push(at);
        true
    }

    /// Unregisters `writer` from an instance. Returns whether an alive instance lost its last writer by that.
    pub(super) fn unregister(&mut self, at: InstanceIndex, writer: Guid) -> bool {
        self.get_mut(at).unregister(writer)
    }

    /// Keeps a copy of `payload` to decode the key from; a serialized key replaces a sample. Returns `false` if there
    /// is no space.
    pub(super) fn keep_key(&mut self, at: InstanceIndex, payload: &Payload, is_key: bool) -> bool {
        let instance = &mut self.instances[at as usize];
        if instance.handle.is_nil() || !KeyStore::should_store(instance.key.as_ref(), is_key) {
            return true;
        }
        self.keys.keep(&mut instance.key, payload, is_key)
    }

    /// Frees the instance if it is unused. Returns whether it was. A disposed one without samples is listed.
    pub(super) fn release(&mut self, at: InstanceIndex) -> bool {
        let instance = &mut self.instances[at as usize];
        let handle = instance.handle;
        let (is_unused, is_disposed) = (instance.is_unused(), instance.is_disposed_and_empty() && !instance.is_listed);
        // The entry may be free already, while another entry has its handle.
        if !(is_unused || is_disposed) || self.by_handle.get(&handle) != Some(&at) {
            return false;
        }
        if !is_unused {
            self.list_disposed(at);
            return false;
        }
        let instance = &mut self.instances[at as usize];
        self.keys.release(&mut instance.key);
        self.by_handle.remove(&handle);
        self.in_order.remove(&handle);
        if self.last_found == at {
            self.last_found = NO_INSTANCE;
        }
        self.free.push(at);
        true
    }

    /// Notes that a take left an instance empty. It is freed if it is unused, or listed if it is disposed.
    pub(super) fn note_emptied(&mut self, at: InstanceIndex) {
        let instance = self.get(at);
        if instance.is_unused() {
            self.emptied.push(at);
        } else if instance.is_disposed_and_empty() && !instance.is_listed {
            self.list_disposed(at);
        }
    }

    fn list_disposed(&mut self, at: InstanceIndex) {
        let Self { instances, by_handle, disposed, .. } = self;
        if disposed.len() >= 2 * by_handle.len() + STALE_SEARCH_MIN {
            // An instance that was freed leaves its entry behind. The first entry of each instance stays.
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

    /// The oldest disposed instance without samples. It is no longer listed.
    ///
    /// Instances that `keeps` selects move to `kept` instead.
    pub(super) fn pop_disposed(
        &mut self,
        keeps: impl Fn(InstanceHandle) -> bool,
        kept: &mut Vec<InstanceHandle>,
    ) -> Option<InstanceIndex> {
        while let Some(handle) = self.disposed.pop_front() {
            let Some(at) = self.find(handle) else { continue };
            let instance = self.get_mut(at);
            if !instance.is_listed {
                continue;
            }
            if !instance.is_disposed_and_empty() {
                instance.is_listed = false;
            } else if keeps(handle) {
                kept.push(handle);
            } else {
                instance.is_listed = false;
                return Some(at);
            }
        }
        None
    }

    /// Returns kept instances to the front of the list of disposed ones.
    pub(super) fn restore_disposed(&mut self, kept: Vec<InstanceHandle>) {
        for handle in kept.into_iter().rev() {
            self.disposed.push_front(handle);
        }
    }

    /// Whether some instance was taken empty and not freed yet.
    #[inline]
    pub(super) fn has_emptied(&self) -> bool {
        !self.emptied.is_empty()
    }

    /// The next instance that was taken empty.
    #[inline]
    pub(super) fn pop_emptied(&mut self) -> Option<InstanceIndex> {
        self.emptied.pop()
    }

    /// All instances, in the order of their handles.
    pub(super) fn indices(&self) -> impl Iterator<Item = InstanceIndex> + '_ {
        self.in_order.values().copied()
    }

    /// The instances whose handles follow `handle`, in order. The nil handle also finds itself: it names the only
    /// instance of a keyless topic.
    pub(super) fn after(&self, handle: InstanceHandle) -> impl Iterator<Item = InstanceIndex> + '_ {
        let from = if handle.is_nil() { Bound::Included(handle) } else { Bound::Excluded(handle) };
        self.in_order.range((from, Bound::Unbounded)).map(|(_, &at)| at)
    }

    /// Removes and returns the instances of a writer that is lost, in the order of their handles.
    pub(super) fn take_written_by(&mut self, writer: Guid) -> Vec<InstanceIndex> {
        let mut list = self.by_writer.remove(&writer).unwrap_or_default().list;
        // Entries may be stale or repeated. The order of the handles makes the result independent of the history.
        list.retain(|&at| self.get(at).is_written_by(writer));
        list.sort_unstable_by_key(|&at| self.get(at).handle);
        list.dedup();
        list
    }

    /// How many entries the list of disposed instances has.
    #[cfg(test)]
    pub(super) fn listed_disposed(&self) -> usize {
        self.disposed.len()
    }

    /// How many entries the lists of all writers have.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.by_writer.values().map(|own| own.list.len()).sum()
    }
}
