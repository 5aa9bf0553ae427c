//! An instance as a reader sees it: states, generations, and who writes it.

use super::key_store::KeyStore;
use super::sample_list::{List, NOWHERE};
use super::source_order::SourceOrder;
use super::{InstanceState, KeyPayload, ViewState};
use crate::concurrent::Payload;
use crate::types::{Guid, InstanceHandle};
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

/// How many writers of one instance are remembered. Beyond it a writer's samples are delivered all the same, but its
/// going away is not noticed: a peer can announce writers without end, and there are never this many of one instance.
pub(super) const INSTANCE_WRITERS_MAX: usize = 1024;

/// One instance.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) handle: InstanceHandle,
    pub(super) state: InstanceState,
    pub(super) view: ViewState,
    pub(super) disposed_generations: u32,
    pub(super) no_writers_generations: u32,
    pub(super) samples: List,
    /// Of these, not read yet.
    pub(super) not_read: usize,
    /// The one sample without data, if there is one.
    pub(super) invalid: u32,
    /// Where the key comes from. Made once in the life of the instance, for a key never changes.
    pub(super) key: Option<KeyPayload>,
    /// Under order by source timestamp: the newest sample or dispose.
    pub(super) newest: Option<SourceOrder>,
    /// Under order by source timestamp: the newest that the application has seen.
    pub(super) handed_out: Option<SourceOrder>,
    /// Under order by source timestamp: the last sample that was sorted in, if it is still here.
    pub(super) last_late: u32,
    /// Scratch of a selection: samples picked and not yet handed out.
    pub(super) picked: u32,
    /// Scratch of a selection: generation of the last one picked.
    pub(super) picked_generation: u32,
    /// The selection that has last been here.
    pub(super) visit: u64,
    /// Who writes it; the one that wrote last comes first.
    writers: SmallVec<[Guid; 2]>,
}

impl Instance {
    fn new(handle: InstanceHandle) -> Self {
        Self {
            handle,
            state: InstanceState::Alive,
            view: ViewState::New,
            disposed_generations: 0,
            no_writers_generations: 0,
            samples: List::EMPTY,
            not_read: 0,
            invalid: NOWHERE,
            key: None,
            newest: None,
            handed_out: None,
            last_late: NOWHERE,
            picked: 0,
            picked_generation: 0,
            visit: 0,
            writers: SmallVec::new(),
        }
    }

    /// All generations so far.
    pub(super) fn generation(&self) -> u32 {
        self.disposed_generations.wrapping_add(self.no_writers_generations)
    }

    /// Samples with data.
    pub(super) fn valid_len(&self) -> usize {
        self.samples.len - usize::from(self.invalid != NOWHERE)
    }

    /// A writer has written: the instance is alive, perhaps again (DDS 1.4, 2.2.2.5.1.5 to 2.2.2.5.1.8).
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

    /// Notes that `writer` writes this instance.
    fn register(&mut self, writer: Guid) -> Registration {
        if self.writers.first() == Some(&writer) {
            return Registration::Known;
        }
        match self.writers.iter().position(|&known| known == writer) {
            Some(at) => {
                self.writers.swap(0, at);
                Registration::Known
            }
            None if self.writers.len() >= INSTANCE_WRITERS_MAX => Registration::NoRoom,
            None => {
                self.writers.push(writer);
                Registration::New
            }
        }
    }

    /// Forgets a writer. `true`: it was the last one of an instance that was alive, which now has no writers.
    fn unregister(&mut self, writer: Guid) -> bool {
        let Some(at) = self.writers.iter().position(|&known| known == writer) else { return false };
        self.writers.swap_remove(at);
        let orphaned = self.writers.is_empty() && self.state == InstanceState::Alive;
        if orphaned {
            self.state = InstanceState::NotAliveNoWriters;
        }
        orphaned
    }

    /// Who writes it.
    pub(super) fn writers(&self) -> &[Guid] {
        &self.writers
    }

    /// Whether that is who wrote it last.
    #[inline]
    pub(super) fn was_last_written_by(&self, writer: Guid) -> bool {
        self.writers.first() == Some(&writer)
    }

    fn is_written_by(&self, writer: Guid) -> bool {
        self.writers.contains(&writer)
    }

    /// Whether nobody needs it any more.
    pub(super) fn is_idle(&self) -> bool {
        self.samples.len == 0 && self.picked == 0 && self.writers.is_empty()
    }
}

/// What became of the note that a writer writes an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registration {
    Known,
    New,
    NoRoom,
}

/// Below so many places a list of them is not worth looking through for those that a writer has left.
const PLACES_MIN: usize = 64;

/// The places that one writer has registered, so that its going costs as much as it has written.
///
/// Those that it has left again stay in the list until there are more of them than of the others.
#[derive(Debug, Default)]
struct WriterPlaces {
    places: Vec<u32>,
    /// After so many places the list is looked through.
    limit: usize,
}

/// All instances of a reader.
///
/// Life cycle: an instance is made by the first change of it and freed once it has neither samples nor writers; its place
/// is used again. Bound: the history's limit of instances.
#[derive(Debug)]
pub(super) struct Instances {
    places: Vec<Instance>,
    free: Vec<u32>,
    by_handle: HashMap<InstanceHandle, u32, FixedState>,
    /// For the walk from handle to handle.
    in_order: BTreeMap<InstanceHandle, u32>,
    /// Where each writer is registered. Bound: the matched writers; a list has at most twice as many places as its writer
    /// has instances, and [`PLACES_MIN`].
    by_writer: HashMap<Guid, WriterPlaces, FixedState>,
    /// The instance that was found last: many topics have one, and others write the same one again and again.
    last: u32,
    keys: KeyStore,
}

impl Instances {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            by_handle: HashMap::with_hasher(FixedState::with_seed(seed)),
            in_order: BTreeMap::new(),
            by_writer: HashMap::with_hasher(FixedState::with_seed(seed)),
            last: NOWHERE,
            keys: KeyStore::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    pub(super) fn find(&self, handle: InstanceHandle) -> Option<u32> {
        self.by_handle.get(&handle).copied()
    }

    /// Like [`Instances::find`], for the way of every sample.
    #[inline]
    pub(super) fn find_again(&mut self, handle: InstanceHandle) -> Option<u32> {
        // A place that was freed is never the last one.
        if self.places.get(self.last as usize).is_some_and(|instance| instance.handle == handle) {
            return Some(self.last);
        }
        self.find_other(handle)
    }

    fn find_other(&mut self, handle: InstanceHandle) -> Option<u32> {
        let at = self.find(handle)?;
        self.last = at;
        Some(at)
    }

    pub(super) fn get(&self, at: u32) -> &Instance {
        &self.places[at as usize]
    }

    pub(super) fn get_mut(&mut self, at: u32) -> &mut Instance {
        &mut self.places[at as usize]
    }

    pub(super) fn insert(&mut self, handle: InstanceHandle) -> u32 {
        let at = match self.free.pop() {
            Some(at) => {
                self.places[at as usize] = Instance::new(handle);
                at
            }
            None => {
                self.places.push(Instance::new(handle));
                (self.places.len() - 1) as u32
            }
        };
        self.by_handle.insert(handle, at);
        self.in_order.insert(handle, at);
        at
    }

    /// Notes that `writer` writes an instance; `false` if there is no room to remember it.
    pub(super) fn register(&mut self, at: u32, writer: Guid) -> bool {
        let Self { places, by_writer, .. } = self;
        match places[at as usize].register(writer) {
            Registration::Known => return true,
            Registration::NoRoom => return false,
            Registration::New => {}
        }
        let own = by_writer.entry(writer).or_default();
        if own.places.len() >= own.limit.max(PLACES_MIN) {
            own.places.sort_unstable();
            own.places.dedup();
            own.places.retain(|&place| place != at && places[place as usize].is_written_by(writer));
            own.limit = 2 * own.places.len();
        }
        own.places.push(at);
        true
    }

    /// Forgets that `writer` writes an instance. `true`: it was the last one of an instance that was alive, which now has
    /// no writers.
    pub(super) fn unregister(&mut self, at: u32, writer: Guid) -> bool {
        self.get_mut(at).unregister(writer)
    }

    /// Keeps something that the instance's key can be decoded from; a serialized key takes the place of a sample.
    /// `false`: there is no room for it.
    pub(super) fn keep_key(&mut self, at: u32, payload: &Payload, is_key: bool) -> bool {
        let instance = &mut self.places[at as usize];
        if instance.handle.is_nil() || !KeyStore::is_wanted(instance.key.as_ref(), is_key) {
            return true;
        }
        self.keys.keep(&mut instance.key, payload, is_key)
    }

    /// Frees the instance, if nobody needs it; `true`: that was so. Harmless for a place that is free already, whoever has its
    /// handle by now.
    pub(super) fn release(&mut self, at: u32) -> bool {
        let instance = &mut self.places[at as usize];
        let handle = instance.handle;
        if !instance.is_idle() || self.by_handle.get(&handle) != Some(&at) {
            return false;
        }
        self.keys.give_up(&mut instance.key);
        self.by_handle.remove(&handle);
        self.in_order.remove(&handle);
        if self.last == at {
            self.last = NOWHERE;
        }
        self.free.push(at);
        true
    }

    /// The places of all instances.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.in_order.values().copied()
    }

    /// The instances whose handles follow `handle`, in their order. The nil handle follows itself, for it is the handle of
    /// the one instance of a keyless topic.
    pub(super) fn after(&self, handle: InstanceHandle) -> impl Iterator<Item = u32> + '_ {
        let from = if handle.is_nil() { Bound::Included(handle) } else { Bound::Excluded(handle) };
        self.in_order.range((from, Bound::Unbounded)).map(|(_, &at)| at)
    }

    /// The places of the instances that `writer` writes, in the order of their handles. For a writer that goes: the list is
    /// gone then.
    pub(super) fn take_written_by(&mut self, writer: Guid) -> Vec<u32> {
        let mut places = self.by_writer.remove(&writer).unwrap_or_default().places;
        places.retain(|&at| self.get(at).is_written_by(writer));
        places.sort_unstable_by_key(|&at| self.get(at).handle);
        places.dedup();
        places
    }

    /// How many places the lists of all writers have.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.by_writer.values().map(|own| own.places.len()).sum()
    }
}
