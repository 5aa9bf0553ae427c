//! The history cache of one reader: samples by instance, with the states of DDS 1.4, 2.2.2.5.1.
//!
//! In: changes in the order in which the reader accepts them, the loss of writers, reads and takes. Out: samples with
//! their [`SampleInfo`], and an [`Admission`] per change. Owned: the samples and the instances.
//!
//! Life cycle of a sample: added, perhaps read, then taken, replaced by a newer one (KEEP_LAST), expired (LIFESPAN) or
//! purged. The first change of an instance creates it; it is freed when it has neither samples nor writers.
//!
//! Bound: HISTORY and RESOURCE_LIMITS, or [`SAMPLES_MAX`] and [`INSTANCES_MAX`] without limits. At a limit:
//!
//! | | no space for the sample | no space for the instance |
//! |---|---|---|
//! | KEEP_LAST | replaces the oldest sample of its instance; without one, rejected | rejected |
//! | KEEP_ALL | rejected | rejected |
//!
//! [`ReaderHistory::add`] explains what a rejection means for the reader.

mod admission;
mod cache;
mod change;
mod counters;
mod instances;
mod known_changes;
mod latencies;
mod occupancy;
mod ownership;
mod removals;
mod sample_info;
mod sample_store;
mod select;
mod selection;
mod source_order;
mod time_filter;
mod timing;
mod withheld;

pub use change::{Admission, HistorySample, ReceivedChange, RejectReason, RejectedChange};
pub use counters::ReaderHistoryCounters;
pub use latencies::ReaderLatencies;
pub(crate) use occupancy::Occupancy;
pub use removals::RemovalCounts;
pub use sample_info::{InstanceState, SampleInfo, SampleState, ViewState};
pub use selection::{InstanceSelection, Operation, Selection, SelectionOrder, States};
pub use timing::ReaderTiming;
pub(crate) use withheld::SetRejection;

use super::age_list::TIMER_RUN_MAX;
use super::{CacheChange, ChangeKind, HistoryLimits, KeyPayload, MissedDeadlines};
use crate::qos::{DestinationOrder, Ownership};
use crate::types::{Guid, HashSeed, InstanceHandle, Instant, KeyedState, Now, SequenceNumber, Time, earliest};
use cache::SampleCache;
use instances::{InstanceIndex, NO_INSTANCE};
use known_changes::KnownChanges;
use latencies::LatencyRecorder;
use ownership::InstanceOwners;
use removals::{RemovalReason, Removals};
use sample_store::NO_SAMPLE;
use select::SampleSelector;
use source_order::SourceOrdering;
use std::collections::HashMap;
use timing::TimePolicies;
use withheld::{SetDemand, WithheldSamples};

/// The most samples of a reader without limits.
///
/// A KEEP_ALL application that never takes would otherwise fill the memory. A million samples are minutes of a fast
/// topic.
pub const SAMPLES_MAX: usize = 1 << 20;

/// The most instances of a reader without limits. RESOURCE_LIMITS may ask for more.
///
/// Any peer can invent keys. An instance with a short key takes 600 bytes with its last sample (in a writer 410;
/// `docs/instances.md`).
pub const INSTANCES_MAX: usize = 1 << 18;

/// Configuration of a [`ReaderHistory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderHistoryConfig {
    /// HISTORY and RESOURCE_LIMITS.
    pub limits: HistoryLimits,
    /// The order of the samples of an instance.
    ///
    /// Under [`DestinationOrder::BySourceTimestamp`] a change older than one that was handed out is superseded. See
    /// `source_order.rs`.
    pub destination_order: DestinationOrder,
    /// Under [`Ownership::Exclusive`] only changes by the owner of an instance count.
    pub ownership: Ownership,
    /// DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub timing: ReaderTiming,
    /// Whether duplicates are detected by original writer, because services hand changes over: TRANSIENT and
    /// PERSISTENT.
    pub outlives_writers: bool,
    /// Whether every change is kept and handed out as it is, ends of instances included: for a durability service.
    pub as_log: bool,
    /// Samples that were written since this time have their latencies measured. `None`: no sample.
    pub latencies_since: Option<Time>,
    /// Seed of the hash tables.
    pub hash_seed: HashSeed,
}

impl ReaderHistoryConfig {
    /// These limits, and the default of every other policy.
    #[must_use]
    pub const fn new(limits: HistoryLimits) -> Self {
        Self {
            limits,
            destination_order: DestinationOrder::ByReceptionTimestamp,
            ownership: Ownership::Shared,
            timing: ReaderTiming::NONE,
            outlives_writers: false,
            as_log: false,
            latencies_since: None,
            hash_seed: HashSeed::fixed(0),
        }
    }

    /// The most samples of all instances.
    fn samples_max(&self) -> usize {
        self.limits.samples_max.min(SAMPLES_MAX)
    }

    /// The most instances.
    fn instances_max(&self) -> usize {
        // Without a limit of the application, the bound of this implementation protects the memory.
        match self.limits.instances_max {
            usize::MAX => INSTANCES_MAX,
            max => max.min(NO_INSTANCE as usize),
        }
    }
}

/// The history cache of one reader.
#[derive(Debug)]
pub struct ReaderHistory {
    config: ReaderHistoryConfig,
    cache: SampleCache,
    /// `None` under SHARED ownership.
    owners: Option<Box<InstanceOwners>>,
    /// `None` if no policy but LIFESPAN acts by time.
    timing: Option<Box<TimePolicies>>,
    /// `None` until a change arrives through another writer than its own.
    known_changes: Option<Box<KnownChanges>>,
    ordering: SourceOrdering,
    selector: SampleSelector,
    withheld: WithheldSamples,
    latencies: LatencyRecorder,
    counters: ReaderHistoryCounters,
    removals: Removals,
}

impl ReaderHistory {
    /// Creates an empty history. Allocates nothing yet.
    #[must_use]
    pub fn new(config: ReaderHistoryConfig) -> Self {
        // Most readers share instances, and need no memory for owners.
        let owners = match config.ownership {
            Ownership::Exclusive => Some(Box::new(InstanceOwners::new(config.hash_seed))),
            Ownership::Shared => None,
        };
        Self {
            config,
            cache: SampleCache::new(config.hash_seed),
            owners,
            timing: TimePolicies::new(config.timing),
            known_changes: if config.outlives_writers {
                Some(Box::new(KnownChanges::new(config.hash_seed)))
            } else {
                None
            },
            ordering: SourceOrdering::new(&config),
            selector: SampleSelector::default(),
            withheld: WithheldSamples::default(),
            latencies: LatencyRecorder::new(config.latencies_since),
            counters: ReaderHistoryCounters::default(),
            removals: Removals::new(config.hash_seed),
        }
    }

    /// How many samples are stored, samples without data included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether no sample is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many samples have not been read yet. Some of them may have expired.
    #[must_use]
    pub fn not_read_len(&self) -> usize {
        self.cache.samples.unread()
    }

    /// How many instances are known.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.cache.instances.len()
    }

    /// How long the samples took.
    #[must_use]
    pub fn latencies(&self) -> &ReaderLatencies {
        self.latencies.get()
    }

    /// The counters of this history.
    #[must_use]
    pub fn counters(&self) -> ReaderHistoryCounters {
        self.counters
    }

    /// The state of an instance; `None` if it is unknown.
    #[must_use]
    pub fn lookup_instance(&self, handle: InstanceHandle) -> Option<InstanceState> {
        let at = self.cache.instances.find(handle)?;
        Some(self.cache.instances.get(at).state)
    }

    /// Whether the instance has samples or writers.
    #[must_use]
    pub fn contains_instance(&self, handle: InstanceHandle) -> bool {
        self.cache.instances.find(handle).is_some()
    }

    /// A payload to decode the key of a known instance from.
    ///
    /// `None` for unknown instances, for keyless topics, and if only key hashes of the instance were received.
    #[must_use]
    pub fn instance_key_payload(&self, handle: InstanceHandle) -> Option<&KeyPayload> {
        let at = self.cache.instances.find(handle)?;
        self.cache.instances.get(at).key.as_ref()
    }

    /// What occupies space.
    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            samples: self.cache.samples.with_data(),
            instances: self.cache.instances.len(),
            withheld: self.withheld.len(),
        }
    }

    /// Counts samples that the reader withholds. Returns `false` and counts nothing if there is no space for them.
    pub(crate) fn withhold(&mut self, samples: usize, bytes: usize, bytes_max: usize) -> bool {
        self.withheld.add(samples, bytes, self.config.samples_max(), bytes_max)
    }

    /// Stops counting samples as withheld.
    pub(crate) fn release_withheld(&mut self, samples: usize, bytes: usize) {
        self.withheld.remove(samples, bytes);
    }

    /// Whether there is space for all of these changes, as [`ReaderHistory::add`] finds it for each.
    ///
    /// May reject a set that just fits in a certain order. Never accepts a set that does not fit.
    pub(crate) fn check_set(&mut self, changes: &[ReceivedChange]) -> Result<(), SetRejection> {
        let limits = self.config.limits;
        let (samples_max, instances_max) = (self.config.samples_max(), self.config.instances_max());
        // Notices take no space: they report a state and are bounded by the instances.
        let (samples, instances) = (self.cache.samples.with_data(), self.cache.instances.len());
        // The path of most sets: no look at the instances.
        let fits_in_any_case = limits.samples_per_instance_max == usize::MAX
            && samples.saturating_add(changes.len()) <= samples_max
            && instances.saturating_add(changes.len()) <= instances_max;
        if fits_in_any_case {
            return Ok(());
        }
        let mut per_instance: HashMap<InstanceHandle, usize, KeyedState> =
            HashMap::with_hasher(self.config.hash_seed.state());
        for received in changes {
            *per_instance.entry(received.change.instance).or_default() += usize::from(received.has_data);
        }
        let SetDemand { more, alone, new } = self.demand_of(&per_instance)?;
        // SAMPLE_REJECTED names one instance, so the last one stands for the set.
        let instance = match changes.last() {
            Some(last) => last.change.instance,
            None => InstanceHandle::NIL,
        };
        if samples.saturating_add(more) > samples_max {
            let is_lasting = alone > samples_max;
            return Err(SetRejection { reason: RejectReason::Samples, instance, is_lasting });
        }
        if self.cache.instances.len().saturating_add(new) > instances_max {
            // Unused instances make space at once. Some may be of the set, which creates these again.
            self.release_emptied();
            let mut new = 0_usize;
            for &instance in per_instance.keys() {
                new += usize::from(self.cache.instances.find(instance).is_none());
            }
            let count = instances_max.saturating_sub(new);
            self.make_space_for_instances(count, |instance| per_instance.contains_key(&instance));
            if self.cache.instances.len().saturating_add(new) > instances_max {
                let is_lasting = per_instance.len() > instances_max;
                return Err(SetRejection { reason: RejectReason::Instances, instance, is_lasting });
            }
        }
        Ok(())
    }

    /// Returns the space that a set needs, from its number of samples by instance.
    fn demand_of(&self, per_instance: &HashMap<InstanceHandle, usize, KeyedState>) -> Result<SetDemand, SetRejection> {
        let limits = self.config.limits;
        let kept_max = limits.depth.unwrap_or(usize::MAX).min(limits.samples_per_instance_max);
        let mut demand = SetDemand::default();
        for (&instance, &count) in per_instance {
            let stored = match self.cache.instances.find(instance) {
                Some(at) => self.cache.instances.get(at).samples_with_data(),
                None => {
                    demand.new += 1;
                    0
                }
            };
            if limits.depth.is_none() && stored + count > kept_max {
                let is_lasting = count > kept_max;
                return Err(SetRejection { reason: RejectReason::SamplesPerInstance, instance, is_lasting });
            }
            // KEEP_LAST replaces the samples beyond its depth, so these add nothing.
            demand.more += (stored + count).min(kept_max.max(stored)) - stored;
            demand.alone += count.min(kept_max);
        }
        Ok(demand)
    }

    /// Starts to count the removed samples of a matched writer.
    pub fn follow_writer(&mut self, writer: Guid) {
        // Only a writer that was matched before can have samples here.
        let inherited = if self.removals.has_former_writers() { self.samples_of(writer) } else { 0 };
        self.removals.follow(writer, inherited);
    }

    /// How many samples of a writer are stored or pending.
    fn samples_of(&self, writer: Guid) -> usize {
        let mut count = match &self.timing {
            Some(timing) => timing.filter.pending_of(writer),
            None => 0,
        };
        // A walk over all samples, which only a writer that returns costs.
        let mut sample = self.cache.samples.arrivals.first;
        while sample != NO_SAMPLE {
            count += usize::from(self.cache.samples.get(sample).writer == writer);
            sample = self.cache.samples.next_arrival(sample);
        }
        count
    }

    /// Ends the count for an unmatched writer and returns it. [`ReaderHistory::removed_of_others`] counts later
    /// removals.
    pub fn unfollow_writer(&mut self, writer: Guid) -> RemovalCounts {
        self.removals.unfollow(writer)
    }

    /// The samples of a matched writer that left without being taken.
    #[must_use]
    pub fn removed_of(&self, writer: Guid) -> RemovalCounts {
        self.removals.of(writer)
    }

    /// The samples of unmatched writers that left without being taken, since the writers were unmatched.
    #[must_use]
    pub fn removed_of_others(&self) -> RemovalCounts {
        self.removals.of_former_writers()
    }

    /// Sets the OWNERSHIP_STRENGTH of a matched writer: before its first change, and when it changes.
    ///
    /// Has no effect under SHARED ownership.
    pub fn set_ownership_strength(&mut self, writer: Guid, strength: i32) {
        if let Some(owners) = &mut self.owners {
            owners.set_strength(writer, strength);
        }
    }

    /// Unregisters a lost writer from all of its instances. Returns whether some instance lost its last writer.
    ///
    /// Never disposes, under any WRITER_DATA_LIFECYCLE: deleting a writer is no dispose (DDS 1.4,
    /// 2.2.3.21 as Fast DDS and the OMG's interoperability suite read it). The cost grows with the instances that this
    /// writer has written.
    pub fn writer_lost(&mut self, now: Now, writer: Guid) -> bool {
        let visible = self.writer_not_alive(now, writer);
        if let Some(owners) = &mut self.owners {
            owners.forget_writer(writer);
        }
        visible
    }

    /// Unregisters a writer that lost its liveliness. Returns whether some instance lost its last writer.
    ///
    /// Until the writer writes an instance again, it is neither a writer nor the owner of it (DDS 1.4, 2.2.2.5.1.3 and
    /// 2.2.3.9.2). Its return to liveliness alone changes nothing. Costs as much as [`ReaderHistory::writer_lost`].
    pub fn writer_not_alive(&mut self, now: Now, writer: Guid) -> bool {
        let mut visible = false;
        for at in self.cache.instances.take_written_by(writer) {
            // The samples of a lost writer precede the notice of its loss.
            if let Some(timing) = &mut self.timing {
                if let Some(pending) = timing.filter.take(at) {
                    visible |= self.deliver_or_drop(at, pending, now.instant);
                }
            }
            if self.unregister(at, writer) {
                visible = true;
                // No writer sent this change, so it has neither a number nor a source timestamp.
                let change = CacheChange {
                    kind: ChangeKind::NotAliveUnregistered,
                    writer,
                    sequence_number: SequenceNumber::UNKNOWN,
                    instance: self.cache.instances.get(at).handle,
                    source_timestamp: Time::INVALID,
                    related_sample: None,
                    origin: None,
                    presented: None,
                    payload: None,
                };
                self.cache.announce_state(at, &change, now.time);
                self.note_end(at, now.instant);
            }
            self.release(at);
        }
        visible
    }

    /// Changes the time-based policies. Returns whether the application can see something new.
    ///
    /// Deadlines and delays that were infinite before count from now.
    pub fn set_timing(&mut self, now: Now, timing: ReaderTiming) -> bool {
        let mut old = self.timing.take();
        let mut visible = false;
        if let Some(old) = &mut old {
            // The new filter does not know the time of the old one, so pending samples are delivered now.
            while let Some(at) = old.filter.first_pending() {
                if let Some(pending) = old.filter.take(at) {
                    visible |= self.deliver_or_drop(at, pending, now.instant);
                }
            }
        }
        self.timing = TimePolicies::new(timing);
        let Some(new) = &mut self.timing else { return visible };
        if let Some(old) = old {
            new.continue_from(*old);
        }
        for at in self.cache.instances.indices() {
            new.watch(at, self.cache.instances.get(at).state, now.instant);
        }
        visible
    }

    /// Whether a policy other than LIFESPAN acts by time.
    #[must_use]
    #[inline]
    pub const fn has_timing(&self) -> bool {
        self.timing.is_some()
    }

    /// The deadlines missed since the last call; `None` if there are none.
    #[inline]
    pub fn take_missed(&mut self) -> Option<MissedDeadlines> {
        self.timing.as_mut()?.missed_mut().take()
    }

    /// When [`ReaderHistory::handle_timeout`] has to be called, unless a selection comes first.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let expiry = self.cache.samples.expiry_deadline();
        match &self.timing {
            Some(timing) => earliest(expiry, timing.deadline()),
            None => expiry,
        }
    }

    /// Whether [`ReaderHistory::deadline`] returns an instant.
    #[must_use]
    #[inline]
    pub fn has_deadline(&self) -> bool {
        if !self.cache.samples.lifespans.is_empty() {
            return true;
        }
        match &self.timing {
            Some(timing) => timing.deadline().is_some(),
            None => false,
        }
    }

    /// Removes expired samples and acts on all policies that are due. Returns whether the application can see something
    /// new.
    ///
    /// A selection never returns expired samples, even without this call. It frees their memory early.
    pub fn handle_timeout(&mut self, now: Now) -> bool {
        match self.cache.samples.expiry_deadline() {
            Some(due) if due <= now.instant => {
                // Before the other policies: a pending sample may need the space of an expired one.
                let is_complete = self.remove_expired(now.instant, TIMER_RUN_MAX);
                self.cache.samples.note_expiry_run(now.instant, is_complete);
            }
            _ => {}
        }
        self.run_time_policies(now.instant)
    }

    /// Acts on the time-based policies that are due. Returns whether the application can see something new.
    fn run_time_policies(&mut self, now: Instant) -> bool {
        if self.timing.is_none() {
            return false;
        }
        // Deadlines come first: an owner that missed one must not own the samples delivered next.
        self.count_missed_deadlines(now);
        let visible = self.deliver_due(now, TIMER_RUN_MAX);
        self.purge_ended(now);
        visible
    }

    fn count_missed_deadlines(&mut self, now: Instant) {
        let Some(timing) = &mut self.timing else { return };
        if !timing.has_missed_deadlines(now) {
            return;
        }
        for _ in 0..TIMER_RUN_MAX {
            let Some((at, periods)) = timing.next_missed(now) else { break };
            let instance = self.cache.instances.get(at);
            timing.missed_mut().note(instance.handle, periods);
            // The owner missed it, since changes by other writers do not count.
            if let Some(owners) = &mut self.owners {
                owners.lapse(at, instance);
            }
        }
        timing.end_deadline_run(now);
    }

    /// Removes the samples of instances that ended long enough ago.
    fn purge_ended(&mut self, now: Instant) {
        for _ in 0..TIMER_RUN_MAX {
            let Some(timing) = &mut self.timing else { return };
            let Some(at) = timing.next_to_purge(now) else { break };
            loop {
                let sample = self.cache.instances.get(at).samples.first;
                if sample == NO_SAMPLE {
                    break;
                }
                let stored = self.cache.samples.get(sample);
                if stored.has_data {
                    self.counters.purged += 1;
                    self.removals.note(stored.writer, RemovalReason::Purged);
                }
                drop(self.cache.remove(sample));
            }
            self.release(at);
        }
        if let Some(timing) = &mut self.timing {
            timing.end_purge_run(now);
        }
    }

    /// Removes at most `max` expired samples, oldest expiry first. Returns whether none is left.
    fn remove_expired(&mut self, now: Instant, max: usize) -> bool {
        for _ in 0..max {
            let Some(sample) = self.cache.samples.lifespans.first_due(now) else { return true };
            let stored = self.cache.samples.get(sample);
            let (at, reception_timestamp) = (stored.instance, stored.reception_timestamp);
            self.counters.expired += 1;
            self.removals.note(stored.writer, RemovalReason::Expired);
            // The sample may be the only one to report the end of its instance.
            let end = self.cache.unreported_end(sample, at);
            drop(self.cache.remove(sample));
            if let Some(end) = end {
                self.cache.announce_state(at, &end, reception_timestamp);
            }
            self.release(at);
        }
        self.cache.samples.lifespans.first_due(now).is_none()
    }

    /// Notes that a change other than a sample may have changed the state of an instance.
    fn note_end(&mut self, at: InstanceIndex, now: Instant) {
        if let Some(timing) = &mut self.timing {
            timing.note_end(at, self.cache.instances.get(at).state, now);
        }
    }

    /// Unregisters a writer from an instance. Returns whether an alive instance lost its last writer by that.
    fn unregister(&mut self, at: InstanceIndex, writer: Guid) -> bool {
        let has_lost_last = self.cache.instances.unregister(at, writer);
        // After the table, so that the instance chooses its next owner among the other writers.
        if let Some(owners) = &mut self.owners {
            owners.release(at, self.cache.instances.get(at), writer);
        }
        has_lost_last
    }

    /// Frees an instance if it is unused.
    fn release(&mut self, at: InstanceIndex) {
        if !self.cache.instances.release(at) {
            return;
        }
        if let Some(timing) = &mut self.timing {
            // A pending sample registers its writer, so an instance is seldom freed with one.
            if let Some(pending) = timing.forget(at) {
                self.note_filtered(pending.change.writer);
            }
        }
    }

    /// Frees the instances that were taken empty.
    #[inline]
    fn release_emptied(&mut self) {
        while let Some(at) = self.cache.instances.pop_emptied() {
            self.release(at);
        }
    }

    /// Frees empty instances until at most `count` are left: those without writers, and the oldest disposed ones.
    ///
    /// A disposed instance that its writer writes again is then a new one. Disposed instances that `keeps` selects
    /// stay.
    fn make_space_for_instances(&mut self, count: usize, keeps: impl Fn(InstanceHandle) -> bool) {
        self.release_emptied();
        let mut kept = Vec::new();
        while self.cache.instances.len() > count {
            let Some(at) = self.cache.instances.pop_disposed(&keeps, &mut kept) else { break };
            // Only an instance without writers is freed.
            while let Some(&writer) = self.cache.instances.get(at).writers().first() {
                self.unregister(at, writer);
            }
            self.release(at);
        }
        self.cache.instances.restore_disposed(kept);
    }

    /// Counts a sample that TIME_BASED_FILTER never delivers.
    fn note_filtered(&mut self, writer: Guid) {
        self.counters.time_filtered += 1;
        self.removals.note(writer, RemovalReason::TooSoon);
    }
}

#[cfg(test)]
mod tests;
