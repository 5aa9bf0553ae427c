//! Logs of the writers' actions and the readers' samples.

use super::filters::Filter;
use dds_core::qos::{DataReaderQos, DataWriterQos, History, Ownership, Presentation};
use dds_core::{Duration, Guid, InstanceHandle, InstanceState, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Any writer may write instances from this number on. Each instance below has one writer.
pub(crate) const SHARED: u32 = 1_000_000;

/// Time until a writer knows its reader's filter or has lost the reader.
///
/// It holds in a world where links are cut and restored.
const WRITER_HEARS_WITHIN: Duration = Duration::from_secs(20);

/// Number of no instance.
const NOBODYS: u32 = u32::MAX;

/// An action of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Data,
    Dispose,
    /// With or without the policy that disposes as well.
    Unregister {
        disposes: bool,
    },
    /// Of a coherent set: a number without a change.
    EndOfSet,
}

/// One action of a writer. Its index in the log plus one is its sequence number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) instance: u32,
    pub(crate) what: Written,
    pub(crate) at: Time,
    pub(crate) lifespan: Duration,
    /// Its coherent set, if any.
    pub(crate) set: Option<usize>,
}

pub(crate) struct WriterLog {
    pub(crate) id: u32,
    pub(crate) guid: Guid,
    pub(crate) topic: &'static str,
    pub(crate) qos: DataWriterQos,
    pub(crate) presentation: Presentation,
    pub(crate) entries: Vec<Entry>,
    /// The open coherent set, and the number of sets so far.
    open_set: Option<usize>,
    sets: usize,
    /// For each reader: the begin of its uninterrupted match, and the first sequence number since.
    pub(crate) matched_since: BTreeMap<InstanceHandle, (u64, i64)>,
    matches: u32,
    /// Closed or crashed.
    pub(crate) ended: bool,
    /// It has or had a lifespan. Readers apply the lifespan that they know to every sample.
    is_mortal: bool,
    /// It does not wait for slow readers.
    pub(crate) demotes: bool,
    /// Readers learn of another lifespan when discovery succeeds.
    pub(crate) lifespan_changed: bool,
}

/// A sample that a reader got.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) writer: InstanceHandle,
    pub(crate) sequence: i64,
    pub(crate) state: InstanceState,
    pub(crate) instance: InstanceHandle,
    pub(crate) at: Time,
    /// Number of complete takes before this one.
    pub(crate) round: usize,
    /// Writer, number, instance, and whether the padding is correct.
    pub(crate) data: Option<(u32, u32, u32, bool)>,
}

pub(crate) struct ReaderLog {
    pub(crate) id: u32,
    pub(crate) guid: Guid,
    pub(crate) topic: &'static str,
    pub(crate) qos: DataReaderQos,
    pub(crate) presentation: Presentation,
    /// Its content filters, and since when each applies. Empty: no filter.
    pub(crate) filters: Vec<(Time, Filter)>,
    pub(crate) got: Vec<Got>,
    /// Number of complete takes.
    pub(crate) rounds: usize,
    /// For each writer: whether it is matched now, how often the match ended, and when last.
    matched: BTreeMap<InstanceHandle, Match>,
    /// Ended matches of writers that the test never saw matched.
    unseen: Match,
    matches: u32,
    pub(crate) ended: bool,
    /// Errors that were detected at once.
    pub(crate) complaints: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Match {
    pub(crate) now: bool,
    pub(crate) partings: usize,
    pub(crate) parted_at: u64,
}

fn handles(guids: &[Guid]) -> BTreeSet<InstanceHandle> {
    guids.iter().map(|guid| InstanceHandle::from(*guid)).collect()
}

impl WriterLog {
    pub(crate) fn new(id: u32, guid: Guid, topic: &'static str, qos: DataWriterQos) -> Self {
        let (entries, matched_since, is_mortal) = (Vec::new(), BTreeMap::new(), qos.lifespan != Duration::INFINITE);
        Self {
            id,
            guid,
            topic,
            qos,
            presentation: Presentation::default(),
            entries,
            open_set: None,
            sets: 0,
            matched_since,
            matches: 0,
            ended: false,
            is_mortal,
            demotes: false,
            lifespan_changed: false,
        }
    }

    pub(crate) fn set_qos(&mut self, qos: DataWriterQos) {
        self.is_mortal |= qos.lifespan != Duration::INFINITE;
        // Readers with the old lifespan and readers with the new one exist at the same time.
        self.lifespan_changed |= qos.lifespan != self.qos.lifespan;
        self.qos = qos;
    }

    /// Returns whether any of its samples may expire.
    pub(crate) fn is_mortal(&self) -> bool {
        self.is_mortal
    }

    /// The number in the next sample: its sequence number.
    pub(crate) fn next_number(&self) -> u32 {
        self.entries.len() as u32 + 1
    }

    pub(crate) fn note(&mut self, instance: u32, what: Written, at: Time) {
        self.entries.push(Entry { instance, what, at, lifespan: self.qos.lifespan, set: self.open_set });
    }

    /// Begins a coherent set of the following samples.
    pub(crate) fn begin_set(&mut self) {
        self.open_set = Some(self.sets);
        self.sets += 1;
    }

    /// Ends the set. A set with samples uses a sequence number for its end.
    pub(crate) fn end_set(&mut self, at: Time) {
        let Some(set) = self.open_set.take() else { return };
        // An empty set uses no sequence number.
        if self.entries.last().is_some_and(|entry| entry.set == Some(set)) {
            self.note(NOBODYS, Written::EndOfSet, at);
        }
    }

    /// Its coherent sets: the number of the first change of each, and those of all its samples.
    pub(crate) fn sets(&self) -> Vec<(i64, Vec<i64>)> {
        let mut sets: Vec<(i64, Vec<i64>)> = vec![(0, Vec::new()); self.sets];
        for (number, entry) in self.numbered() {
            let Some((first, samples)) = entry.set.and_then(|set| sets.get_mut(set)) else { continue };
            *first = if *first == 0 { number } else { *first };
            if entry.what == Written::Data {
                samples.push(number);
            }
        }
        sets
    }

    /// Records the readers that are matched at this moment. `total` counts all matches so far.
    pub(crate) fn watch(&mut self, moment: u64, matched: &[Guid], total: u32) {
        let matched = handles(matched);
        let new = matched.iter().filter(|reader| !self.matched_since.contains_key(reader)).count() as u32;
        if total - self.matches != new {
            // An unknown reader left and returned between two checks.
            self.matched_since.clear();
        }
        self.matches = total;
        let next = i64::from(self.next_number());
        // A reader that left loses its entry, so that a new match begins with the next sequence number.
        self.matched_since.retain(|reader, _| matched.contains(reader));
        for reader in matched {
            self.matched_since.entry(reader).or_insert((moment, next));
        }
    }

    /// The sequence numbers from `first` on that a reader must have received in the end.
    ///
    /// These are all numbers, or the newest of each instance that both histories keep. There are two exceptions:
    /// - a particular sample of an instance with several writers, for a reader with KEEP_LAST or exclusive ownership
    /// - samples before the unregister of their instance, for a reader that came after `since`
    pub(crate) fn owed(&self, first: i64, since: i64, log: &ReaderLog) -> BTreeSet<i64> {
        let reader = &log.qos;
        let mut kept: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for (number, entry) in self.numbered().filter(|(_, entry)| entry.what != Written::EndOfSet) {
            kept.entry(entry.instance).or_default().push(number);
        }
        // TIME_BASED_FILTER shows the first and the last sample of a burst.
        let filtered = (reader.time_based_filter > Duration::ZERO).then_some(1);
        let depths = [depth(self.qos.history), depth(reader.history).into_iter().chain(filtered).min()];
        // Other writers decide which samples of a shared instance remain.
        if depth_of(reader).is_some() || filtered.is_some() || reader.ownership == Ownership::Exclusive {
            kept.retain(|instance, _| *instance < SHARED);
        }
        // A reader releases delayed samples when their writer seems to have died. Without room these are lost.
        let is_let_go = filtered.is_some()
            && reader.resource_limits.max_samples.is_some()
            && !self.qos.liveliness.lease_duration.is_infinite();
        if is_let_go {
            kept.clear();
        }
        // Samples that fail the filter replace no sample that passes.
        let newest = |numbers: Vec<i64>| {
            let seen: Vec<i64> =
                numbers.iter().copied().filter(|number| log.may_see(self.id, self.entry(*number), *number)).collect();
            let tail = |numbers: &[i64], depth: Option<u32>| {
                let keep = depth.map_or(numbers.len(), |depth| depth as usize).min(numbers.len());
                numbers[numbers.len() - keep..].to_vec()
            };
            let by_writer = tail(&numbers, depths[0]);
            tail(&seen, depths[1]).into_iter().filter(|number| by_writer.contains(number)).collect::<Vec<i64>>()
        };
        let broken = self.sets_not_owed(first, since, log);
        let unregistered = self.ends();
        // The exceptions in detail: purged history, broken sets, filtered and expired samples.
        let lasts = |number: &i64| {
            let entry = &self.entries[*number as usize - 1];
            let is_purged = *number < since && unregistered.get(&entry.instance).is_some_and(|end| number < end);
            let is_broken = entry.set.is_some_and(|set| broken.contains(&set));
            let is_owed = !is_purged && !is_broken && log.must_see(self.id, entry, *number);
            *number >= first && is_owed && entry.what == Written::Data && !self.is_mortal
        };
        kept.into_values().flat_map(newest).filter(lasts).collect()
    }

    /// The coherent sets that a reader need not get.
    ///
    /// These are sets that it may get in part, or has no room for. A part is lost if an instance was unregistered
    /// before the reader came.
    pub(crate) fn sets_not_owed(&self, first: i64, since: i64, reader: &ReaderLog) -> BTreeSet<usize> {
        if !reader.presentation.coherent_access {
            return BTreeSet::new();
        }
        let ends = self.ends();
        let is_purged = |(number, entry): (i64, &Entry)| {
            number < since && ends.get(&entry.instance).is_some_and(|end| number <= *end)
        };
        let purged = self.numbered().filter(|purged| is_purged(*purged)).filter_map(|(_, entry)| entry.set);
        let mut not_owed: BTreeSet<usize> = purged.collect();
        // Each of these may remove one sample of a set before a reader gets it.
        let may_lose_some = depth(self.qos.history).is_some() || self.demotes || self.is_mortal;
        let has_room = reader.qos.resource_limits.max_samples.is_none();
        for (set, (from, _)) in self.sets().into_iter().enumerate() {
            if may_lose_some || !has_room || from < first {
                not_owed.insert(set);
            }
        }
        not_owed
    }

    /// The last unregister of each instance.
    fn ends(&self) -> BTreeMap<u32, i64> {
        let ends = self.numbered().filter(|(_, entry)| matches!(entry.what, Written::Unregister { .. }));
        ends.map(|(number, entry)| (entry.instance, number)).collect()
    }

    fn entry(&self, number: i64) -> &Entry {
        &self.entries[number as usize - 1]
    }

    /// The last action on each of its instances, with its sequence number.
    pub(crate) fn last_of_instances(&self) -> BTreeMap<u32, (i64, Written)> {
        let mut last: BTreeMap<u32, (i64, Written)> = BTreeMap::new();
        for (number, entry) in self.numbered().filter(|(_, entry)| entry.what != Written::EndOfSet) {
            // An instance without writers stays disposed.
            let was_disposed = matches!(
                last.get(&entry.instance),
                Some((_, Written::Dispose | Written::Unregister { disposes: true }))
            );
            let what = match entry.what {
                Written::Unregister { disposes } => Written::Unregister { disposes: disposes || was_disposed },
                what => what,
            };
            last.insert(entry.instance, (number, what));
        }
        last
    }

    /// Returns whether a reader with `received` may have missed the last life of an instance.
    ///
    /// That life began after a dispose and ended with the unregister `end`. All of its samples may be lost or expired,
    /// and the reader got none of them.
    pub(crate) fn last_life_may_be_unseen(
        &self,
        instance: u32,
        end: i64,
        received: &BTreeSet<i64>,
        reader: &ReaderLog,
    ) -> bool {
        let earlier = self.numbered().filter(|(number, entry)| entry.instance == instance && *number < end);
        let life = |what: Written| what != Written::Dispose && what != Written::Unregister { disposes: true };
        let entries: Vec<_> = earlier.collect();
        let Some(dispose) = entries.iter().rposition(|(_, entry)| !life(entry.what)) else { return false };
        let mut last_life = entries[dispose + 1..].iter().filter(|(_, entry)| entry.what == Written::Data);
        last_life.all(|(number, entry)| self.may_be_gone(*number, entry, reader) && !received.contains(number))
    }

    /// Returns whether a reader with `received` may have missed the return of this writer to an instance.
    ///
    /// The reader saw the writer leave the instance. The writer returned, and disposed of it with `end`. The reader got
    /// no sample of that life, and all of its samples may be gone.
    pub(crate) fn return_may_be_unseen(
        &self,
        instance: u32,
        end: i64,
        received: &BTreeSet<i64>,
        reader: &ReaderLog,
    ) -> bool {
        let of_instance = self.numbered().filter(|(number, entry)| entry.instance == instance && *number < end);
        let samples: Vec<_> = of_instance.filter(|(_, entry)| entry.what == Written::Data).collect();
        let seen = samples.iter().rposition(|(number, _)| received.contains(number)).map_or(0, |at| at + 1);
        let unseen = &samples[seen..];
        let leaves = !self.qos.liveliness.lease_duration.is_infinite();
        leaves && !unseen.is_empty() && unseen.iter().all(|(number, entry)| self.may_be_gone(*number, entry, reader))
    }

    /// Returns whether a sample may have been replaced or expired before the reader took it.
    fn may_be_gone(&self, number: i64, entry: &Entry, reader: &ReaderLog) -> bool {
        let is_replaced = depth(self.qos.history).is_some();
        is_replaced || entry.lifespan != Duration::INFINITE || !reader.must_see(self.id, entry, number)
    }

    /// Returns whether this action unregisters an instance without a dispose.
    pub(crate) fn is_plain_end(&self, number: i64) -> bool {
        self.entries.get(number as usize - 1).is_some_and(|entry| entry.what == Written::Unregister { disposes: false })
    }

    fn numbered(&self) -> impl Iterator<Item = (i64, &Entry)> {
        (1..).zip(&self.entries)
    }
}

pub(crate) fn depth(history: History) -> Option<u32> {
    match history {
        History::KeepLast { depth } => Some(depth),
        History::KeepAll => None,
    }
}

/// Samples of an instance that a reader keeps, if its history limits them.
pub(crate) fn depth_of(reader: &DataReaderQos) -> Option<u32> {
    depth(reader.history)
}

fn lets_in(filter: &Filter, writer: u32, entry: &Entry, number: i64) -> bool {
    match entry.what {
        Written::Data => filter.passes(writer, number as u32, entry.instance),
        Written::Dispose | Written::Unregister { .. } => filter.passes_end(entry.instance),
        Written::EndOfSet => true,
    }
}

impl ReaderLog {
    pub(crate) fn new(id: u32, guid: Guid, topic: &'static str, qos: DataReaderQos) -> Self {
        let (got, matched, complaints) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self {
            id,
            guid,
            topic,
            qos,
            presentation: Presentation::default(),
            filters: Vec::new(),
            got,
            rounds: 0,
            matched,
            unseen: Match::default(),
            matches: 0,
            ended: false,
            complaints,
        }
    }

    /// Returns whether one of its filters accepts an action of a writer. Without filters all pass.
    pub(crate) fn may_see(&self, writer: u32, entry: &Entry, number: i64) -> bool {
        self.filters.is_empty() || self.filters_from(entry.at).any(|filter| lets_in(filter, writer, entry, number))
    }

    /// Returns whether all filters accept the action, including outdated ones that the writer may still use.
    pub(crate) fn must_see(&self, writer: u32, entry: &Entry, number: i64) -> bool {
        let since = entry.at.as_unix_nanos() - WRITER_HEARS_WITHIN.as_nanos();
        self.filters_from(Time::from_unix_nanos(since)).all(|filter| lets_in(filter, writer, entry, number))
    }

    /// The filters that may apply to samples of this time.
    fn filters_from(&self, at: Time) -> impl Iterator<Item = &Filter> {
        let ends = self.filters.iter().skip(1).map(|(since, _)| Some(*since)).chain([None]);
        let held = self.filters.iter().zip(ends).filter(move |(_, end)| end.is_none_or(|end| end >= at));
        held.map(|((_, filter), _)| filter)
    }

    /// Records the writers that are matched at this moment. `total` counts all matches so far.
    pub(crate) fn watch(&mut self, moment: u64, matched: &[Guid], total: u32) {
        let matched = handles(matched);
        let is_new = |writer: &&InstanceHandle| !self.matched.get(writer).is_some_and(|known| known.now);
        let unseen = total - self.matches - matched.iter().filter(is_new).count() as u32;
        self.matches = total;
        if unseen > 0 {
            // Unknown writers came and went between two checks.
            self.unseen.partings += unseen as usize;
            self.unseen.parted_at = moment;
        }
        for (writer, known) in &mut self.matched {
            if known.now && !matched.contains(writer) {
                known.partings += 1;
                known.parted_at = moment;
                known.now = false;
            }
        }
        matched.into_iter().for_each(|writer| self.matched.entry(writer).or_default().now = true);
    }

    pub(crate) fn with(&self, writer: &WriterLog) -> Match {
        let seen = self.matched.get(&InstanceHandle::from(writer.guid)).copied().unwrap_or_default();
        Match {
            partings: seen.partings + self.unseen.partings,
            parted_at: seen.parted_at.max(self.unseen.parted_at),
            ..seen
        }
    }

    /// Checks that a complete take contains no more samples than the reader may keep.
    pub(crate) fn check_bounds(&mut self, batch: &[Got]) {
        let mut of_instance: BTreeMap<InstanceHandle, u32> = BTreeMap::new();
        let with_data = batch.iter().filter(|got| got.data.is_some());
        with_data.for_each(|got| *of_instance.entry(got.instance).or_default() += 1);
        let all: u32 = of_instance.values().sum();
        let largest = of_instance.values().max().copied().unwrap_or(0);
        if self.qos.resource_limits.max_samples.is_some_and(|max| all > max)
            || depth_of(&self.qos).is_some_and(|depth| largest > depth)
        {
            self.complaints.push(format!("reader {} kept {all} samples, {largest} of one instance", self.id));
        }
    }
}
