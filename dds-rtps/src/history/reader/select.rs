//! Reading and taking: the samples, their order and their ranks (DDS 1.4, 2.2.2.5.3.8).
//!
//! A selection makes two passes. The first picks the samples and counts them per instance. The second hands them out,
//! when the ranks are known. All samples of an instance carry the states that it had when the selection began.

use super::cache::SampleCache;
use super::instances::InstanceIndex;
use super::sample_store::{NO_SAMPLE, SampleIndex};
use super::source_order::note_handed_out;
use super::{
    HistorySample, InstanceSelection, Operation, ReaderHistory, SampleInfo, SampleState, Selection, SelectionOrder,
    ViewState,
};
use crate::filter::Filter;
use crate::types::{Guid, InstanceHandle, Instant, Now, SequenceNumber};

impl ReaderHistory {
    /// Appends the selected samples to `into` and returns how many there are.
    ///
    /// A read marks them as read, a take removes them. Both make the view state of their instances NOT_NEW. Allocates
    /// only if `into` grows, or for the largest selection so far.
    pub fn select(
        &mut self,
        now: Now,
        selection: &Selection<'_>,
        operation: Operation,
        into: &mut Vec<HistorySample>,
    ) -> usize {
        // The application has had its chance to look up the keys of the samples that it took.
        self.release_emptied();
        self.pick(now.instant, selection);
        // Taken out for the loop, which changes the history, and returned below for its memory.
        let picked = std::mem::take(&mut self.selector.picked);
        into.reserve(picked.len());
        if !picked.is_empty() {
            self.measure_selection(now, &picked);
        }
        for &sample in &picked {
            into.push(self.hand_out(sample, operation));
        }
        self.selector.recycle(picked)
    }

    /// Measures how long the picked samples have waited, if it is the turn of this selection.
    fn measure_selection(&mut self, now: Now, picked: &[SampleIndex]) {
        if self.latencies.measures_selection() {
            for &sample in picked {
                let stored = self.cache.samples.get(sample);
                if stored.has_data && !stored.read {
                    self.latencies.note_selected(now.time, stored.reception_timestamp);
                }
            }
        }
        self.latencies.note_selection();
    }

    /// Whether [`Self::select`] measures how long its samples have waited, and so needs the present time.
    #[inline]
    pub(crate) fn measures_selection(&self) -> bool {
        self.latencies.measures_selection() && !self.is_empty()
    }

    /// How many samples match a selection. Visits each sample once.
    #[must_use]
    pub fn count_matching(&mut self, now: Now, selection: &Selection<'_>) -> usize {
        let picked = self.pick_only(now, selection);
        self.selector.recycle(picked)
    }

    /// Whether any sample matches a selection. Stops at the first one.
    #[must_use]
    pub fn has_matching(&mut self, now: Now, selection: &Selection<'_>) -> bool {
        let samples_max = selection.samples_max.min(1);
        self.count_matching(now, &Selection { samples_max, ..*selection }) > 0
    }

    /// The writers and sequence numbers of all samples, in the order of arrival.
    pub fn identities(&self) -> impl Iterator<Item = (Guid, SequenceNumber)> + '_ {
        let samples = &self.cache.samples;
        let mut next = samples.arrivals.first;
        std::iter::from_fn(move || {
            if next == NO_SAMPLE {
                return None;
            }
            let stored = samples.get(next);
            next = samples.next_arrival(next);
            Some((stored.writer, stored.sequence_number))
        })
    }

    /// The writers and sequence numbers of the selected samples. Marks nothing as read.
    pub fn identities_of(&mut self, now: Now, selection: &Selection<'_>) -> Vec<(Guid, SequenceNumber)> {
        let picked = self.pick_only(now, selection);
        let mut identities = Vec::with_capacity(picked.len());
        for at in picked {
            let stored = self.cache.samples.get(at);
            identities.push((stored.writer, stored.sequence_number));
        }
        identities
    }

    /// Picks the selected samples without handing them out.
    fn pick_only(&mut self, now: Now, selection: &Selection<'_>) -> Vec<SampleIndex> {
        self.pick(now.instant, selection);
        let picked = std::mem::take(&mut self.selector.picked);
        // Nothing is handed out, so the counts for the ranks end here.
        for &sample in &picked {
            let instance = self.cache.samples.get(sample).instance;
            self.cache.instances.get_mut(instance).picked = 0;
        }
        picked
    }

    /// Does all that is due by time and then picks the selected samples.
    fn pick(&mut self, now: Instant, selection: &Selection<'_>) {
        if !self.cache.samples.lifespans.is_empty() {
            // The application must never see an expired sample, so there is no limit here.
            self.remove_expired(now, usize::MAX);
        }
        if self.timing.is_some() {
            self.deliver_due(now, usize::MAX);
            self.run_time_policies(now);
        }
        self.selector.pick(&mut self.cache, selection);
    }

    /// Hands out one picked sample.
    fn hand_out(&mut self, sample: SampleIndex, operation: Operation) -> HistorySample {
        if self.ordering.is_active() {
            note_handed_out(&mut self.cache, sample);
        }
        let stored = self.cache.samples.get_mut(sample);
        let at = stored.instance;
        let instance = self.cache.instances.get_mut(at);
        debug_assert!(instance.picked > 0, "the sample was picked and not handed out yet");
        instance.picked -= 1;
        let generation = stored.generation();
        // A log shows the sender and the original writer side by side.
        let (writer, sequence_number) = match &stored.origin {
            Some(origin) if !self.config.as_log => (origin.identity.writer, origin.identity.sequence_number),
            _ => (stored.writer, stored.sequence_number),
        };
        let info = SampleInfo {
            sample_state: if stored.read { SampleState::Read } else { SampleState::NotRead },
            view_state: instance.view,
            instance_state: instance.state,
            disposed_generation_count: stored.disposed_generations,
            no_writers_generation_count: stored.no_writers_generations,
            sample_rank: instance.picked,
            generation_rank: instance.picked_generation.wrapping_sub(generation),
            absolute_generation_rank: instance.generation().wrapping_sub(generation),
            source_timestamp: stored.source_timestamp,
            reception_timestamp: stored.reception_timestamp,
            instance_handle: instance.handle,
            publication_handle: writer.into(),
            sequence_number,
            related_sample: stored.related_sample,
            valid_data: stored.has_data,
        };
        let kind = stored.kind;
        let key = if stored.has_data { None } else { instance.key.clone() };
        // Later samples of the same batch still carry the former view state.
        if instance.picked == 0 {
            instance.view = ViewState::NotNew;
        }
        let (origin, payload) = match operation {
            // A take moves origin and payload, a read shares them.
            Operation::Take => (stored.origin.take(), self.cache.remove(sample)),
            Operation::Read => {
                let read = (stored.origin.clone(), stored.payload.clone());
                self.cache.mark_read(sample);
                read
            }
        };
        self.cache.instances.note_emptied(at);
        let (payload, payload_is_key) = match key {
            Some(key) => (Some(key.payload), key.is_key),
            None => (payload, false),
        };
        HistorySample { payload, payload_is_key, info, kind, origin }
    }
}

/// Picks samples. Its memory is reused between selections.
#[derive(Debug, Default)]
pub(super) struct SampleSelector {
    /// The samples that the present selection has picked.
    picked: Vec<SampleIndex>,
    /// Numbers the selections.
    visit: u64,
}

impl SampleSelector {
    /// Keeps the memory of a selection for the next one. Returns how many samples it had.
    fn recycle(&mut self, mut picked: Vec<SampleIndex>) -> usize {
        let count = picked.len();
        picked.clear();
        self.picked = picked;
        count
    }

    /// Fills `picked`, and `picked` and `picked_generation` of each instance.
    fn pick(&mut self, cache: &mut SampleCache, selection: &Selection<'_>) {
        self.picked.clear();
        let only_unread = !selection.states.admits_sample(SampleState::Read);
        // Many takes find nothing and must be cheap.
        if cache.len() == 0 || selection.samples_max == 0 || (only_unread && cache.samples.unread() == 0) {
            return;
        }
        match (selection.instance, selection.order) {
            (InstanceSelection::This(handle), _) => {
                if let Some(at) = cache.instances.find(handle) {
                    self.pick_instance(cache, at, selection);
                }
            }
            // An instance has the same order under both.
            (InstanceSelection::Next(handle), _) => self.pick_next_instance(cache, handle, selection),
            // One sample has only one order.
            (InstanceSelection::Any, _) if cache.len() == 1 => self.pick_by_arrival(cache, selection),
            (InstanceSelection::Any, SelectionOrder::ByArrival) => self.pick_by_arrival(cache, selection),
            (InstanceSelection::Any, SelectionOrder::ByInstance) => self.pick_by_instance(cache, selection),
        }
    }

    /// Picks from the first instance after `handle` that has a selected sample.
    fn pick_next_instance(&mut self, cache: &mut SampleCache, handle: InstanceHandle, selection: &Selection<'_>) {
        let states = selection.states;
        let mut after = handle;
        loop {
            let found = cache.instances.after(after).find(|&at| {
                let instance = cache.instances.get(at);
                let unread = states.admits_sample(SampleState::NotRead) && instance.unread > 0;
                let read = states.admits_sample(SampleState::Read) && instance.samples.len > instance.unread;
                (unread || read) && states.admits_instance(instance.view, instance.state)
            });
            let Some(at) = found else { return };
            self.pick_instance(cache, at, selection);
            // The states match, but a content filter may reject every sample.
            if !self.picked.is_empty() || selection.filter.is_none() {
                return;
            }
            after = cache.instances.get(at).handle;
        }
    }

    fn pick_by_arrival(&mut self, cache: &mut SampleCache, selection: &Selection<'_>) {
        let mut sample = first_arrival(cache, selection);
        while sample != NO_SAMPLE && self.picked.len() < selection.samples_max {
            let instance = cache.instances.get(cache.samples.get(sample).instance);
            if selection.states.admits_instance(instance.view, instance.state) {
                self.pick_sample(cache, sample, selection);
            }
            sample = cache.samples.next_arrival(sample);
        }
    }

    fn pick_by_instance(&mut self, cache: &mut SampleCache, selection: &Selection<'_>) {
        self.visit += 1;
        let with_read = selection.states.admits_sample(SampleState::Read);
        let mut sample = first_arrival(cache, selection);
        while sample != NO_SAMPLE && self.picked.len() < selection.samples_max {
            let stored = cache.samples.get(sample);
            if with_read || !stored.read {
                let instance = cache.instances.get_mut(stored.instance);
                // The first sample of an instance brings all others of it along.
                if instance.visit != self.visit {
                    instance.visit = self.visit;
                    self.pick_siblings(cache, sample, selection);
                }
            }
            sample = cache.samples.next_arrival(sample);
        }
    }

    fn pick_instance(&mut self, cache: &mut SampleCache, at: InstanceIndex, selection: &Selection<'_>) {
        self.pick_siblings(cache, first_sibling(cache, at, selection), selection);
    }

    /// Picks from one instance, starting with the sample `first`.
    fn pick_siblings(&mut self, cache: &mut SampleCache, first: SampleIndex, selection: &Selection<'_>) {
        if first == NO_SAMPLE {
            return;
        }
        let instance = cache.instances.get(cache.samples.get(first).instance);
        if !selection.states.admits_instance(instance.view, instance.state) {
            return;
        }
        let mut sample = first;
        while sample != NO_SAMPLE && self.picked.len() < selection.samples_max {
            self.pick_sample(cache, sample, selection);
            sample = cache.samples.next_sibling(sample);
        }
    }

    /// Picks a sample if its state and content match.
    fn pick_sample(&mut self, cache: &mut SampleCache, sample: SampleIndex, selection: &Selection<'_>) {
        let stored = cache.samples.get(sample);
        let state = if stored.read { SampleState::Read } else { SampleState::NotRead };
        if !selection.states.admits_sample(state) {
            return;
        }
        if let Some(filter) = selection.filter {
            if !passes_filter(cache, sample, filter) {
                return;
            }
        }
        let instance = cache.instances.get_mut(stored.instance);
        instance.picked += 1;
        // The ranks refer to the last picked sample of the instance, so each one replaces the generation.
        instance.picked_generation = stored.generation();
        self.picked.push(sample);
    }
}

/// The first of all samples to visit.
///
/// Read samples are mostly older, and may be many. A selection of unread ones therefore goes back from the newest
/// sample.
fn first_arrival(cache: &SampleCache, selection: &Selection<'_>) -> SampleIndex {
    let SampleCache { samples, .. } = cache;
    // Without read samples to skip, the first one is the oldest.
    if selection.states.admits_sample(SampleState::Read) || samples.unread() == cache.len() {
        return samples.arrivals.first;
    }
    oldest_unread(cache, samples.arrivals.last, samples.unread(), |sample| samples.previous_arrival(sample))
}

/// The first sample of an instance to visit.
fn first_sibling(cache: &SampleCache, at: InstanceIndex, selection: &Selection<'_>) -> SampleIndex {
    let SampleCache { samples, instances } = cache;
    let instance = instances.get(at);
    if selection.states.admits_sample(SampleState::Read) || instance.unread == instance.samples.len {
        return instance.samples.first;
    }
    oldest_unread(cache, instance.samples.last, instance.unread, |sample| samples.previous_sibling(sample))
}

/// The oldest of `count` unread samples, searched backward from the newest of a list.
fn oldest_unread(
    cache: &SampleCache,
    newest: SampleIndex,
    count: usize,
    previous: impl Fn(SampleIndex) -> SampleIndex,
) -> SampleIndex {
    let (mut sample, mut oldest, mut left) = (newest, NO_SAMPLE, count);
    while sample != NO_SAMPLE && left > 0 {
        if !cache.samples.get(sample).read {
            (oldest, left) = (sample, left - 1);
        }
        sample = previous(sample);
    }
    debug_assert!(left == 0, "the list has as many unread samples as were counted");
    oldest
}

/// Whether the content of a sample passes a filter. Without data, the key decides as far as it can.
fn passes_filter(cache: &SampleCache, sample: SampleIndex, filter: &Filter) -> bool {
    let stored = cache.samples.get(sample);
    if stored.has_data {
        return match &stored.payload {
            Some(payload) => filter.passes(payload.bytes()),
            None => true,
        };
    }
    match &cache.instances.get(stored.instance).key {
        Some(key) => filter.passes_key_of(key.payload.bytes(), key.is_key),
        None => true,
    }
}
