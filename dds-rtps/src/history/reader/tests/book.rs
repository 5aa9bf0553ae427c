//! The cache against a model written from DDS 1.4, 2.2.2.5.1 and 2.2.2.5.5, as simply as possible.
//!
//! Both get the same random changes, losses, reads and takes from a seed and must return the same samples.
//!
//! Where the specification is silent, the model follows the documentation of the cache. An unread sample reports the
//! end of an instance, or else a notice. An emptied instance without writers can be looked up until the next selection
//! or change of it, and is new if it is written again. The table in `reader/mod.rs` decides rejections and
//! replacements.

use super::model::Chance;
use super::*;
use crate::qos::Ownership;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const KEYS: u8 = 5;
const WRITERS: u8 = 4;

/// A sample of the model.
#[derive(Debug, Clone)]
struct Sample {
    number: i64,
    writer: u8,
    valid: bool,
    read: bool,
    disposed: u32,
    no_writers: u32,
    /// Position among all arrivals.
    arrival: u64,
    expires: Option<u64>,
}

impl Sample {
    fn generation(&self) -> u32 {
        self.disposed + self.no_writers
    }
}

/// An instance of the model (2.2.2.5.1.2 to 2.2.2.5.1.8).
#[derive(Debug, Clone)]
struct Instance {
    state: InstanceState,
    view: ViewState,
    disposed: u32,
    no_writers: u32,
    samples: Vec<Sample>,
    writers: BTreeSet<u8>,
    owner: Option<u8>,
    /// It stands in the list of disposed instances.
    listed: bool,
}

impl Instance {
    fn new() -> Self {
        Self {
            state: InstanceState::Alive,
            view: ViewState::New,
            disposed: 0,
            no_writers: 0,
            samples: Vec::new(),
            writers: BTreeSet::new(),
            owner: None,
            listed: false,
        }
    }

    fn is_disposed_and_empty(&self) -> bool {
        self.state == InstanceState::NotAliveDisposed && self.samples.is_empty()
    }

    fn is_idle(&self) -> bool {
        self.samples.is_empty() && self.writers.is_empty()
    }

    fn valid(&self) -> usize {
        self.samples.iter().filter(|sample| sample.valid).count()
    }

    fn revive(&mut self) {
        match self.state {
            InstanceState::Alive => return,
            InstanceState::NotAliveDisposed => self.disposed += 1,
            InstanceState::NotAliveNoWriters => self.no_writers += 1,
        }
        (self.state, self.view) = (InstanceState::Alive, ViewState::New);
    }
}

/// The metadata of one sample.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    key: u8,
    number: i64,
    valid: bool,
    sample_state: SampleState,
    view: ViewState,
    state: InstanceState,
    counts: (u32, u32),
    /// Sample, generation and absolute generation rank.
    ranks: (u32, u32, u32),
}

#[derive(Debug)]
struct Book {
    depth: Option<usize>,
    limits: ResourceLimits,
    exclusive: bool,
    strengths: BTreeMap<u8, i32>,
    instances: BTreeMap<u8, Instance>,
    /// Emptied instances without writers, which the next selection frees.
    departed: BTreeSet<u8>,
    /// Disposed instances without samples, which make space for new ones.
    disposed: VecDeque<u8>,
    arrivals: u64,
}

impl Book {
    fn new(config: &ReaderHistoryConfig, limits: ResourceLimits) -> Self {
        Self {
            depth: config.limits.depth,
            limits,
            exclusive: config.ownership == Ownership::Exclusive,
            strengths: BTreeMap::new(),
            instances: BTreeMap::new(),
            departed: BTreeSet::new(),
            disposed: VecDeque::new(),
            arrivals: 0,
        }
    }

    fn rank(&self, writer: u8) -> (i32, std::cmp::Reverse<u8>) {
        (self.strengths.get(&writer).copied().unwrap_or(0), std::cmp::Reverse(writer))
    }

    fn strongest(&self, writers: &BTreeSet<u8>) -> Option<u8> {
        writers.iter().copied().max_by_key(|&writer| self.rank(writer))
    }

    fn set_strength(&mut self, writer: u8, strength: i32) {
        self.strengths.insert(writer, strength);
        let owners: Vec<_> = self.instances.iter().filter(|(_, instance)| instance.owner.is_some()).collect();
        let owners: Vec<_> = owners.iter().map(|(key, instance)| (**key, self.strongest(&instance.writers))).collect();
        for (key, owner) in owners {
            self.instances.get_mut(&key).unwrap().owner = owner;
        }
    }

    /// Whether another writer owns the instance. A writer that does not own it is registered all the same (2.2.3.9.2).
    fn is_foreign(&mut self, writer: u8, key: u8) -> bool {
        let owner = self.instances.get(&key).and_then(|instance| instance.owner);
        let foreign =
            self.exclusive && owner.is_some_and(|owner| owner != writer && self.rank(writer) < self.rank(owner));
        if foreign {
            self.instances.get_mut(&key).unwrap().writers.insert(writer);
        }
        foreign
    }

    fn claim(&mut self, writer: u8, key: u8) {
        let exclusive = self.exclusive;
        let instance = self.instances.get_mut(&key).unwrap();
        instance.writers.insert(writer);
        if exclusive {
            instance.owner = Some(writer);
        }
    }

    fn forget_if_idle(&mut self, key: u8) {
        let Some(instance) = self.instances.get_mut(&key) else { return };
        if instance.is_idle() {
            self.instances.remove(&key);
            self.departed.remove(&key);
        } else if instance.is_disposed_and_empty() && !std::mem::replace(&mut instance.listed, true) {
            self.disposed.push_back(key);
        }
    }

    fn forget_departed(&mut self) {
        for key in std::mem::take(&mut self.departed) {
            self.forget_if_idle(key);
        }
    }

    fn has_room_for_instance(&mut self) -> bool {
        let max = self.limits.max_instances.map_or(usize::MAX, |max| max as usize);
        if self.instances.len() >= max {
            self.forget_departed();
        }
        while self.instances.len() >= max {
            let Some(key) = self.disposed.pop_front() else { break };
            let Some(instance) = self.instances.get_mut(&key) else { continue };
            if std::mem::take(&mut instance.listed) && instance.is_disposed_and_empty() {
                self.instances.remove(&key);
            }
        }
        self.instances.len() < max
    }

    /// Space by the table in `reader/mod.rs`.
    fn make_room(&mut self, key: u8) -> Result<(), RejectReason> {
        let number = |limit: Option<u32>| limit.map_or(usize::MAX, |limit| limit as usize);
        let full = self.instances.values().map(Instance::valid).sum::<usize>() >= number(self.limits.max_samples);
        let per_instance = number(self.limits.max_samples_per_instance);
        let Some(valid) = self.instances.get(&key).map(Instance::valid) else {
            return match (self.has_room_for_instance(), full) {
                (false, _) => Err(RejectReason::Instances),
                (true, true) => Err(RejectReason::Samples),
                (true, false) => Ok(()),
            };
        };
        match self.depth {
            None if valid >= per_instance => Err(RejectReason::SamplesPerInstance),
            None if full => Err(RejectReason::Samples),
            None => Ok(()),
            Some(depth) if !full && valid < depth.min(per_instance) => Ok(()),
            Some(_) => {
                let samples = &mut self.instances.get_mut(&key).unwrap().samples;
                let oldest = samples.iter().position(|sample| sample.valid).ok_or(RejectReason::Samples)?;
                samples.remove(oldest);
                Ok(())
            }
        }
    }

    fn push(&mut self, key: u8, number: i64, writer: u8, valid: bool, expires: Option<u64>) {
        self.arrivals += 1;
        let instance = self.instances.get_mut(&key).unwrap();
        let (disposed, no_writers) = (instance.disposed, instance.no_writers);
        instance.samples.retain(|sample| sample.valid);
        instance.samples.push(Sample {
            number,
            writer,
            valid,
            read: false,
            disposed,
            no_writers,
            arrival: self.arrivals,
            expires,
        });
    }

    fn write(&mut self, writer: u8, key: u8, number: i64, expires: Option<u64>) -> Result<bool, RejectReason> {
        self.forget_if_idle(key);
        if self.is_foreign(writer, key) {
            return Ok(false);
        }
        self.make_room(key)?;
        self.instances.entry(key).or_insert_with(Instance::new).revive();
        self.claim(writer, key);
        self.push(key, number, writer, true, expires);
        Ok(true)
    }

    /// Reports the end of an instance (2.2.2.5.1.2, and the note on `valid_data` in 2.2.2.5.1.9).
    fn announce(&mut self, key: u8, number: i64, writer: u8) {
        if self.instances[&key].samples.iter().all(|sample| sample.read) {
            self.push(key, number, writer, false, None);
        }
    }

    /// Returns whether an alive instance lost its last writer.
    fn leave(&mut self, writer: u8, key: u8) -> bool {
        let mut instance = self.instances[&key].clone();
        let was_there = instance.writers.remove(&writer);
        if instance.owner == Some(writer) {
            instance.owner = self.strongest(&instance.writers);
        }
        let orphaned = was_there && instance.writers.is_empty() && instance.state == InstanceState::Alive;
        if orphaned {
            instance.state = InstanceState::NotAliveNoWriters;
        }
        self.instances.insert(key, instance);
        orphaned
    }

    fn end(&mut self, kind: ChangeKind, writer: u8, key: u8, number: i64) -> Result<bool, RejectReason> {
        let disposes = kind != ChangeKind::NotAliveUnregistered;
        let unregisters = kind != ChangeKind::NotAliveDisposed;
        self.forget_if_idle(key);
        if !self.instances.contains_key(&key) {
            if !disposes {
                return Ok(false);
            }
            if !self.has_room_for_instance() {
                return Err(RejectReason::Instances);
            }
            self.instances.insert(key, Instance::new());
        }
        let mut changed = false;
        if disposes && !self.is_foreign(writer, key) {
            let instance = self.instances.get_mut(&key).unwrap();
            if instance.state == InstanceState::NotAliveNoWriters {
                instance.revive();
            }
            changed = instance.state != InstanceState::NotAliveDisposed;
            instance.state = InstanceState::NotAliveDisposed;
            if !unregisters || self.exclusive {
                self.claim(writer, key);
            }
        }
        if unregisters {
            changed |= self.leave(writer, key);
        }
        if changed {
            self.announce(key, number, writer);
        }
        self.forget_if_idle(key);
        Ok(changed)
    }

    fn lose(&mut self, writer: u8) -> bool {
        let written = self.instances.iter().filter(|(_, instance)| instance.writers.contains(&writer));
        let mut visible = false;
        for key in written.map(|(key, _)| *key).collect::<Vec<_>>() {
            if self.leave(writer, key) {
                visible = true;
                self.announce(key, SequenceNumber::UNKNOWN.0, writer);
            }
            self.forget_if_idle(key);
        }
        self.strengths.remove(&writer);
        visible
    }

    /// Removes expired samples. A notice replaces one that alone would have reported an end.
    fn expire(&mut self, now: u64) {
        let has_expired = |sample: &Sample| sample.expires.is_some_and(|expires| expires <= now);
        let all = self.instances.iter().flat_map(|(key, instance)| {
            let expired = instance.samples.iter().filter(|sample| has_expired(sample));
            expired.map(|sample| (sample.expires, sample.arrival, *key))
        });
        // In the order of expiration, not of removal.
        let all: BTreeSet<(Option<u64>, u64, u8)> = all.collect();
        for (_, arrival, key) in all {
            let instance = self.instances.get_mut(&key).unwrap();
            let at = instance.samples.iter().position(|sample| sample.arrival == arrival).unwrap();
            let gone = instance.samples.remove(at);
            let others_tell = gone.read || instance.samples.iter().any(|sample| !sample.read);
            let was_seen = instance.view == ViewState::NotNew || instance.disposed + instance.no_writers > 0;
            if instance.state != InstanceState::Alive && !others_tell && was_seen {
                self.announce(key, SequenceNumber::UNKNOWN.0, gone.writer);
            }
            self.forget_if_idle(key);
        }
    }

    /// The selected samples in order: key, and index among the samples of the instance.
    fn find(&self, selection: &Selection) -> Vec<(u8, usize)> {
        let is_wanted = |key: u8, sample: &Sample| {
            let instance = &self.instances[&key];
            let read = if sample.read { SampleState::Read } else { SampleState::NotRead };
            selection.states.admits(read, instance.view, instance.state)
        };
        let all = self.instances.iter().flat_map(|(key, instance)| (0..instance.samples.len()).map(|at| (*key, at)));
        let sample = |&(key, at): &(u8, usize)| &self.instances[&key].samples[at];
        let mut found: Vec<(u8, usize)> = all.filter(|place| is_wanted(place.0, sample(place))).collect();
        match selection.instance {
            InstanceSelection::Any => {}
            InstanceSelection::This(this) => found.retain(|(key, _)| handle(*key) == this),
            InstanceSelection::Next(after) => {
                // The nil handle precedes all others, because no key of this test has it.
                let next = found.iter().map(|(key, _)| *key).find(|key| handle(*key) > after);
                found.retain(|(key, _)| Some(*key) == next);
            }
        }
        let is_by_instance = selection.order == SelectionOrder::ByInstance;
        found.sort_by_key(|place| {
            let with_read = selection.states.admits_sample(SampleState::Read);
            let first = self.instances[&place.0].samples.iter().find(|sample| with_read || !sample.read);
            let first = first.unwrap().arrival;
            (if is_by_instance { first } else { 0 }, sample(place).arrival)
        });
        found.truncate(selection.samples_max);
        found
    }

    fn select(&mut self, now: u64, selection: &Selection, operation: Operation) -> Vec<Told> {
        self.forget_departed();
        self.expire(now);
        let found = self.find(selection);
        let told = found.iter().enumerate().map(|(index, &(key, at))| {
            let instance = &self.instances[&key];
            let sample = &instance.samples[at];
            // MRSIC and MRS of 2.2.2.5.1.5 to 2.2.2.5.1.8.
            let followers: Vec<_> = found[index..].iter().filter(|(other, _)| *other == key).collect();
            let newest_here = &instance.samples[followers.last().unwrap().1];
            let current = instance.disposed + instance.no_writers;
            Told {
                key,
                number: sample.number,
                valid: sample.valid,
                sample_state: if sample.read { SampleState::Read } else { SampleState::NotRead },
                view: instance.view,
                state: instance.state,
                counts: (sample.disposed, sample.no_writers),
                ranks: (
                    followers.len() as u32 - 1,
                    newest_here.generation() - sample.generation(),
                    current - sample.generation(),
                ),
            }
        });
        let told: Vec<Told> = told.collect();
        let mut by_key: BTreeMap<u8, BTreeSet<usize>> = BTreeMap::new();
        for (key, at) in &found {
            by_key.entry(*key).or_default().insert(*at);
        }
        for (key, places) in by_key {
            let instance = self.instances.get_mut(&key).unwrap();
            instance.view = ViewState::NotNew;
            for at in places.into_iter().rev() {
                match operation {
                    Operation::Read => instance.samples[at].read = true,
                    Operation::Take => {
                        instance.samples.remove(at);
                    }
                }
            }
            if instance.is_idle() {
                self.departed.insert(key);
            }
        }
        if operation == Operation::Take {
            self.list_disposed(&told);
        }
        told
    }

    /// Lists the disposed instances whose last sample was taken, in the order of these samples.
    fn list_disposed(&mut self, told: &[Told]) {
        for (place, sample) in told.iter().enumerate() {
            let is_last = told[place + 1..].iter().all(|later| later.key != sample.key);
            let Some(instance) = self.instances.get_mut(&sample.key) else { continue };
            let is_unused = instance.is_idle();
            if is_last && !is_unused && instance.is_disposed_and_empty() && !instance.listed {
                instance.listed = true;
                self.disposed.push_back(sample.key);
            }
        }
    }
}

fn key_of(instance: InstanceHandle) -> u8 {
    (0..=KEYS).find(|key| handle(*key) == instance).unwrap()
}

fn told(samples: &[HistorySample]) -> Vec<Told> {
    let told = samples.iter().map(|sample| {
        let info = &sample.info;
        Told {
            key: key_of(info.instance_handle),
            number: info.sequence_number.0,
            valid: info.valid_data,
            sample_state: info.sample_state,
            view: info.view_state,
            state: info.instance_state,
            counts: (info.disposed_generation_count, info.no_writers_generation_count),
            ranks: (info.sample_rank, info.generation_rank, info.absolute_generation_rank),
        }
    });
    told.collect()
}

/// A selection of any kind.
fn selection(chance: &mut Chance) -> Selection<'static> {
    let one_of = |chance: &mut Chance, sets: &[States]| sets[chance.below(sets.len() as u64) as usize];
    let states = one_of(chance, &[States::ANY, States::ANY, States::READ, States::NOT_READ])
        & one_of(chance, &[States::ANY, States::ANY, States::NEW, States::NOT_NEW])
        & one_of(
            chance,
            &[
                States::ANY,
                States::ALIVE,
                States::NOT_ALIVE,
                States::NOT_ALIVE_DISPOSED,
                States::ALIVE | States::NOT_ALIVE_NO_WRITERS,
            ],
        );
    // Keys start at 1, so 0 is unknown.
    let any = handle(chance.below(u64::from(KEYS) + 1) as u8);
    Selection {
        filter: None,
        samples_max: [1, 2, 5, usize::MAX, usize::MAX][chance.below(5) as usize],
        states,
        instance: match chance.below(6) {
            0 => InstanceSelection::This(any),
            1 => InstanceSelection::Next(any),
            2 => InstanceSelection::Next(InstanceHandle::NIL),
            _ => InstanceSelection::Any,
        },
        order: if chance.below(2) == 0 { SelectionOrder::ByArrival } else { SelectionOrder::ByInstance },
    }
}

fn limits(chance: &mut Chance, depth: Option<u32>) -> ResourceLimits {
    let mut perhaps = |least: u32, most: u32| {
        (chance.below(2) == 0).then(|| least + chance.below(u64::from(most - least) + 1) as u32)
    };
    let max_samples_per_instance = perhaps(depth.unwrap_or(1), 6);
    ResourceLimits {
        max_samples: perhaps(max_samples_per_instance.unwrap_or(1), 8),
        max_instances: perhaps(1, u32::from(KEYS)),
        max_samples_per_instance,
    }
}

struct Run {
    cache: Cache,
    book: Book,
    chance: Chance,
    mortal: bool,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let depth = (chance.below(3) > 0).then(|| 1 + chance.below(3) as u32);
        let history = depth.map_or(History::KeepAll, |depth| History::KeepLast { depth });
        let limits = limits(&mut chance, depth);
        let ownership = if chance.below(2) == 0 { Ownership::Exclusive } else { Ownership::Shared };
        let config = ReaderHistoryConfig { ownership, ..ReaderHistoryConfig::new(HistoryLimits::new(history, limits)) };
        let book = Book::new(&config, limits);
        let mortal = chance.below(2) == 0;
        Self { cache: Cache::configured(config), book, chance, mortal }
    }

    fn step(&mut self) -> String {
        let (cache, book, chance) = (&mut self.cache, &mut self.book, &mut self.chance);
        let from = 1 + chance.below(u64::from(WRITERS)) as u8;
        let key = 1 + chance.below(u64::from(KEYS)) as u8;
        let step = chance.below(14);
        match step {
            0..5 => {
                let expires = (self.mortal && chance.below(3) == 0).then(|| cache.now + 1 + chance.below(20));
                let mut received = cache.received(ChangeKind::Alive, from, key);
                received.expires = expires.map(|expires| at(expires).instant);
                let added = cache.history.add(at(cache.now), received).map_err(|refused| refused.reason);
                let expected = book.write(from, key, cache.number, expires);
                assert_eq!(added.map(|admission| admission == Admission::Visible), expected);
                format!("{from} writes {key}")
            }
            5..9 => {
                let kind = match step {
                    5 => ChangeKind::NotAliveDisposed,
                    6 => ChangeKind::NotAliveDisposedUnregistered,
                    _ => ChangeKind::NotAliveUnregistered,
                };
                let added = cache.add(kind, from, key);
                let expected = book.end(kind, from, key, cache.number);
                assert_eq!(added.map(|admission| admission == Admission::Visible), expected, "{kind:?} {from} {key}");
                format!("{from} {kind:?} {key}")
            }
            9 => {
                let visible = cache.history.writer_lost(at(cache.now), writer(from));
                assert_eq!(visible, book.lose(from), "{from} is lost");
                format!("{from} is lost")
            }
            10 => {
                let strength = chance.below(4) as i32;
                cache.history.set_ownership_strength(writer(from), strength);
                book.set_strength(from, strength);
                format!("{from} has strength {strength}")
            }
            _ => {
                cache.now += chance.below(6);
                let selection = selection(chance);
                let operation = if chance.below(2) == 0 { Operation::Take } else { Operation::Read };
                let samples = told(&cache.select(selection, operation));
                assert_eq!(samples, book.select(cache.now, &selection, operation), "{operation:?} {selection:?}");
                format!("{operation:?} {selection:?}")
            }
        }
    }

    fn compare(&self) {
        let (cache, book) = (&self.cache.history, &self.book);
        for key in 0..=KEYS {
            let expected = book.instances.get(&key).map(|instance| instance.state);
            assert_eq!(cache.lookup_instance(handle(key)), expected, "state of {key}");
            assert_eq!(cache.contains_instance(handle(key)), expected.is_some());
        }
        let samples = || book.instances.values().flat_map(|instance| &instance.samples);
        assert_eq!(cache.len(), samples().count(), "samples");
        assert_eq!(cache.not_read_len(), samples().filter(|sample| !sample.read).count(), "not read");
        assert_eq!(cache.instance_count(), book.instances.len());
    }
}

#[test]
fn cache_equals_model_of_the_specification() {
    for seed in 0..200 {
        let mut run = Run::new(seed);
        let mut diary = Vec::new();
        for _ in 0..400 {
            let step = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let step = run.step();
                run.compare();
                step
            }));
            match step {
                Ok(step) => diary.push(step),
                Err(_) => {
                    let last: Vec<_> = diary.iter().rev().take(25).rev().collect();
                    panic!("seed {seed}, after {last:#?}\n{:?}\n{:#?}", run.cache.history.config, run.book);
                }
            }
        }
    }
}
