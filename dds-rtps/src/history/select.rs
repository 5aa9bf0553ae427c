//! Reading and taking: which samples, in which order, with which ranks (DDS 1.4, 2.2.2.5.3.8).
//!
//! A selection goes twice over what it hands out: first it picks, counting per instance; then it hands out, when the
//! number of samples that follow in the batch is known. All samples of an instance carry the states that it had when the
//! selection began.

use super::origins::shown_as;
use super::reader::{HistorySample, ReaderHistory};
use super::removals::Removal;
use super::sample_list::{NOWHERE, Stored};
use super::timing::LOOKS_MAX;
use super::{
    CacheChange, ChangeKind, InstanceSelection, InstanceState, Operation, SampleInfo, SampleState, Selection,
    SelectionOrder, ViewState,
};
use crate::filter::Filter;
use crate::types::{Duration, InstanceHandle, Instant, Now, SequenceNumber, Time};

/// How often the timer looks for expired samples at most: a look may cost a system call, and serves only memory.
const EXPIRY_INTERVAL: Duration = Duration::from_millis(50);

impl ReaderHistory {
    /// Appends what is asked for to `into`, and says how many samples that were.
    ///
    /// A read marks them as read, a take removes them; both make their instances' view state NOT_NEW. Allocates only if
    /// `into`, or the largest selection so far, grows.
    pub fn select(
        &mut self,
        now: Now,
        selection: &Selection<'_>,
        operation: Operation,
        into: &mut Vec<HistorySample>,
    ) -> usize {
        self.release_departed();
        self.pick(now.instant, selection);
        let picked = std::mem::take(&mut self.picked);
        into.reserve(picked.len());
        for &sample in &picked {
            into.push(self.hand_out(sample, operation));
        }
        let count = picked.len();
        self.picked = picked;
        self.picked.clear();
        count
    }

    /// How many samples are asked for. Looks at each sample once.
    #[must_use]
    pub fn count_matching(&mut self, now: Now, selection: &Selection<'_>) -> usize {
        let picked = self.picked_by(now, selection);
        let count = picked.len();
        self.picked = picked;
        self.picked.clear();
        count
    }

    /// The samples that are asked for, by their places.
    pub(super) fn picked_by(&mut self, now: Now, selection: &Selection<'_>) -> Vec<u32> {
        self.pick(now.instant, selection);
        let picked = std::mem::take(&mut self.picked);
        for &sample in &picked {
            let instance = self.samples.get(sample).instance;
            self.instances.get_mut(instance).picked = 0;
        }
        picked
    }

    /// Whether anything is asked for. Stops at the first sample found.
    #[must_use]
    pub fn has_matching(&mut self, now: Now, selection: &Selection<'_>) -> bool {
        let samples_max = selection.samples_max.min(1);
        self.count_matching(now, &Selection { samples_max, ..*selection }) > 0
    }

    /// Fills `self.picked`, and each instance's `picked` and `picked_generation`.
    fn pick(&mut self, now: Instant, selection: &Selection<'_>) {
        self.picked.clear();
        if !self.expiry.is_empty() {
            self.remove_expired(now, usize::MAX);
        }
        if self.timing.is_some() {
            self.let_due_in(now, usize::MAX);
            self.pass_time(now);
        }
        let only_unread = !selection.states.admits_sample(SampleState::Read);
        if self.is_empty() || selection.samples_max == 0 || (only_unread && self.not_read == 0) {
            return;
        }
        match (selection.instance, selection.order) {
            (InstanceSelection::This(handle), _) => {
                if let Some(at) = self.instances.find(handle) {
                    self.pick_instance(at, selection);
                }
            }
            (InstanceSelection::Next(handle), _) => self.pick_next_instance(handle, selection),
            // One sample has only one order.
            (InstanceSelection::Any, _) if self.len() == 1 => self.pick_by_arrival(selection),
            (InstanceSelection::Any, SelectionOrder::ByArrival) => self.pick_by_arrival(selection),
            (InstanceSelection::Any, SelectionOrder::ByInstance) => self.pick_by_instance(selection),
        }
    }

    /// The first of all samples to look at. Those that were read are mostly the older ones, and may be many: who asks for
    /// unread ones goes back from the newest until all of these are found.
    fn first_arrival(&self, selection: &Selection<'_>) -> u32 {
        if selection.states.admits_sample(SampleState::Read) || self.not_read == self.len() {
            return self.samples.arrivals.first;
        }
        let previous = |sample| self.samples.previous_arrival(sample);
        self.oldest_unread(self.samples.arrivals.last, self.not_read, previous)
    }

    /// The first sample of an instance to look at.
    fn first_sibling(&self, at: u32, selection: &Selection<'_>) -> u32 {
        let instance = self.instances.get(at);
        if selection.states.admits_sample(SampleState::Read) || instance.not_read == instance.samples.len {
            return instance.samples.first;
        }
        let previous = |sample| self.samples.previous_sibling(sample);
        self.oldest_unread(instance.samples.last, instance.not_read, previous)
    }

    /// The oldest of `count` unread samples, backwards from the newest of a list.
    fn oldest_unread(&self, newest: u32, count: usize, previous: impl Fn(u32) -> u32) -> u32 {
        let (mut sample, mut oldest, mut left) = (newest, NOWHERE, count);
        while sample != NOWHERE && left > 0 {
            if !self.samples.get(sample).read {
                (oldest, left) = (sample, left - 1);
            }
            sample = previous(sample);
        }
        oldest
    }

    fn pick_next_instance(&mut self, handle: InstanceHandle, selection: &Selection<'_>) {
        let states = selection.states;
        let mut after = handle;
        loop {
            let found = self.instances.after(after).find(|&at| {
                let instance = self.instances.get(at);
                let unread = states.admits_sample(SampleState::NotRead) && instance.not_read > 0;
                let read = states.admits_sample(SampleState::Read) && instance.samples.len > instance.not_read;
                (unread || read) && states.admits_instance(instance.view, instance.state)
            });
            let Some(at) = found else { return };
            self.pick_instance(at, selection);
            // By its states it is the one, but none of its samples may have the contents.
            if !self.picked.is_empty() || selection.filter.is_none() {
                return;
            }
            after = self.instances.get(at).handle;
        }
    }

    fn pick_by_arrival(&mut self, selection: &Selection<'_>) {
        let mut sample = self.first_arrival(selection);
        while sample != NOWHERE && self.picked.len() < selection.samples_max {
            let instance = self.instances.get(self.samples.get(sample).instance);
            if selection.states.admits_instance(instance.view, instance.state) {
                self.pick_sample(sample, selection);
            }
            sample = self.samples.next_arrival(sample);
        }
    }

    fn pick_by_instance(&mut self, selection: &Selection<'_>) {
        self.visit += 1;
        let with_read = selection.states.admits_sample(SampleState::Read);
        let mut sample = self.first_arrival(selection);
        while sample != NOWHERE && self.picked.len() < selection.samples_max {
            let stored = self.samples.get(sample);
            let at = stored.instance;
            if !with_read && stored.read {
                sample = self.samples.next_arrival(sample);
                continue;
            }
            if std::mem::replace(&mut self.instances.get_mut(at).visit, self.visit) != self.visit {
                self.pick_siblings(sample, selection);
            }
            sample = self.samples.next_arrival(sample);
        }
    }

    fn pick_instance(&mut self, at: u32, selection: &Selection<'_>) {
        self.pick_siblings(self.first_sibling(at, selection), selection);
    }

    /// Of an instance, from this sample on.
    fn pick_siblings(&mut self, first: u32, selection: &Selection<'_>) {
        if first == NOWHERE {
            return;
        }
        let instance = self.instances.get(self.samples.get(first).instance);
        if !selection.states.admits_instance(instance.view, instance.state) {
            return;
        }
        let mut sample = first;
        while sample != NOWHERE && self.picked.len() < selection.samples_max {
            self.pick_sample(sample, selection);
            sample = self.samples.next_sibling(sample);
        }
    }

    fn pick_sample(&mut self, sample: u32, selection: &Selection<'_>) {
        let stored = self.samples.get(sample);
        let state = if stored.read { SampleState::Read } else { SampleState::NotRead };
        if !selection.states.admits_sample(state) {
            return;
        }
        if selection.filter.is_some_and(|filter| !self.has_contents(sample, filter)) {
            return;
        }
        let instance = self.instances.get_mut(stored.instance);
        instance.picked += 1;
        instance.picked_generation = stored.generation();
        self.picked.push(sample);
    }

    /// Whether a sample has contents that pass; of one without data, the key decides what it can.
    fn has_contents(&self, sample: u32, filter: &Filter) -> bool {
        let stored = self.samples.get(sample);
        if stored.valid {
            return stored.payload.as_ref().is_none_or(|payload| filter.passes(payload.bytes()));
        }
        let key = self.instances.get(stored.instance).key.as_ref();
        key.is_none_or(|key| filter.passes_key_of(key.payload.bytes(), key.is_key))
    }

    fn hand_out(&mut self, sample: u32, operation: Operation) -> HistorySample {
        if self.is_by_source() {
            self.note_handed_out(sample);
        }
        let as_log = self.config.as_log;
        let stored = self.samples.get_mut(sample);
        let at = stored.instance;
        let instance = self.instances.get_mut(at);
        instance.picked -= 1;
        let generation = stored.generation();
        let origin = stored.origin.as_deref().filter(|_| !as_log);
        let shown = shown_as(origin, stored.writer, stored.sequence_number);
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
            publication_handle: shown.writer.into(),
            sequence_number: shown.sequence_number,
            related_sample: stored.related_sample,
            valid_data: stored.valid,
        };
        let kind = stored.kind;
        let origin = if operation == Operation::Take { stored.origin.take() } else { stored.origin.clone() };
        let key = if stored.valid { None } else { instance.key.clone() };
        let payload_is_key = key.as_ref().is_some_and(|key| key.is_key);
        if instance.picked == 0 {
            instance.view = ViewState::NotNew;
        }
        let payload = match operation {
            Operation::Take => self.remove(sample),
            Operation::Read => {
                if !std::mem::replace(&mut stored.read, true) {
                    instance.not_read -= 1;
                    self.not_read -= 1;
                }
                stored.payload.clone()
            }
        };
        if self.instances.get(at).is_idle() {
            self.departed.push(at);
        }
        HistorySample { payload: payload.or(key.map(|key| key.payload)), payload_is_key, info, kind, origin }
    }

    /// When [`ReaderHistory::handle_timeout`] is to be called, if nobody selects before that.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let expiry = self.next_look();
        match self.timing_deadline() {
            Some(due) => Some(expiry.map_or(due, |expiry| expiry.min(due))),
            None => expiry,
        }
    }

    /// Whether [`ReaderHistory::deadline`] is some moment.
    #[must_use]
    #[inline]
    pub fn has_deadline(&self) -> bool {
        self.expiry.first().is_some() || (self.has_timing() && self.timing_deadline().is_some())
    }

    /// When the timer is to look for expired samples.
    fn next_look(&self) -> Option<Instant> {
        self.expiry.first().map(|expiry| expiry.max(self.expiry_floor))
    }

    /// Removes the samples whose lifespan is over, and does what else is due. What is selected is never expired, whether this
    /// is called or not: it frees memory early. `true`: there is something new to see.
    pub fn handle_timeout(&mut self, now: Now) -> bool {
        if self.next_look().is_some_and(|look| look <= now.instant) {
            let all = self.remove_expired(now.instant, LOOKS_MAX);
            self.expiry_floor = now.instant.after(EXPIRY_INTERVAL).filter(|_| all).unwrap_or(now.instant);
        }
        self.pass_time(now.instant)
    }

    /// What the application has still to learn of an instance with this sample, unless another unread one says so: that an
    /// instance that it has seen alive is not so any more.
    fn untold_end(&self, sample: u32, at: u32) -> Option<CacheChange> {
        let (stored, instance) = (self.samples.get(sample), self.instances.get(at));
        let kind = match instance.state {
            InstanceState::Alive => return None,
            InstanceState::NotAliveDisposed => ChangeKind::NotAliveDisposed,
            InstanceState::NotAliveNoWriters => ChangeKind::NotAliveUnregistered,
        };
        // One that has come back may have been seen in its earlier life, whose end nobody was told either.
        let was_seen = instance.view == ViewState::NotNew || instance.generation() > 0;
        let end = CacheChange {
            kind,
            writer: stored.writer,
            sequence_number: SequenceNumber::UNKNOWN,
            instance: instance.handle,
            source_timestamp: Time::INVALID,
            related_sample: None,
            origin: None,
            presented: None,
            payload: None,
        };
        (!stored.read && was_seen).then_some(end)
    }

    /// Removes at most `max` samples whose lifespan is over, in the order in which it ended; the others cost nothing. `true`:
    /// that were all.
    fn remove_expired(&mut self, now: Instant, max: usize) -> bool {
        for _ in 0..max {
            let Some(sample) = self.expiry.first_due(now) else { return true };
            let Stored { writer, instance, reception_timestamp, .. } = *self.samples.get(sample);
            self.counters.expired += 1;
            self.removals.note(writer, Removal::Expired);
            let untold = self.untold_end(sample, instance);
            drop(self.remove(sample));
            if let Some(end) = untold {
                self.announce_state(instance, &end, reception_timestamp);
            }
            self.release(instance);
        }
        self.expiry.first_due(now).is_none()
    }
}
