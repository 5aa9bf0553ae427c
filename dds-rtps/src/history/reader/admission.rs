//! Adds changes to a reader history: duplicates, ownership, order, limits, TIME_BASED_FILTER, ends of instances.

use super::instances::InstanceIndex;
use super::known_changes::KnownChanges;
use super::removals::RemovalReason;
use super::sample_store::{SampleIndex, StoredSample};
use super::source_order::{SamplePosition, SourceOrder, is_from_future, position_without_notice};
use super::{Admission, InstanceState, ReaderHistory, ReceivedChange, RejectReason, RejectedChange};
use crate::concurrent::Payload;
use crate::history::{CacheChange, ChangeKind};
use crate::types::{Guid, Instant, Now};

/// Space for a new sample.
#[derive(Debug, Clone, Copy)]
enum SampleSpace {
    /// There is space beside all others.
    Free,
    /// The new sample replaces this one, under KEEP_LAST.
    InPlaceOf(SampleIndex),
}

impl ReaderHistory {
    /// Adds a change.
    ///
    /// # Errors
    ///
    /// Returns the change if it does not fit. Then nothing has changed but the count of rejections.
    ///
    /// Under KEEP_ALL a reliable reader does not acknowledge a rejected change and gets it again when there is space.
    /// Nothing is lost, and a writer with a full history blocks (DDS 1.4, 2.2.3.19). Under KEEP_LAST the reader reports
    /// it (SAMPLE_REJECTED) and acknowledges it. Such a reader does not promise to show everything. If it never takes,
    /// it must not block a writer forever. (RTI Connext also loses changes beyond max_instances.)
    pub fn add(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        if self.cache.instances.has_emptied() {
            self.release_emptied_instance(&received);
        }
        if self.known_changes.is_some() || received.change.origin.is_some() {
            return self.add_unless_known(now, received);
        }
        let is_plain = received.expires.is_none() && received.change.kind == ChangeKind::Alive;
        if is_plain && self.timing.is_none() && !self.ordering.is_active() && !self.config.as_log {
            // The path of nearly every sample.
            return self.add_sample(received);
        }
        self.add_new(now, received)
    }

    /// Frees the instance of a change if it was taken empty.
    ///
    /// The change then starts a new instance with generation counts of zero (DDS 1.4, 2.2.2.5.1.5). Whether a selection
    /// came in between is chance and must not matter.
    fn release_emptied_instance(&mut self, received: &ReceivedChange) {
        if let Some(at) = self.cache.instances.find(received.change.instance) {
            self.release(at);
        }
    }

    /// Adds a change, unless it was received before from another writer.
    fn add_unless_known(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let identity = received.change.identity();
        let is_known = match &self.known_changes {
            Some(known) => known.contains(identity),
            None => false,
        };
        if is_known {
            self.counters.known += 1;
            self.register_service(&received);
            return Ok(Admission::Known);
        }
        // Only an accepted change becomes known. A rejected one must be able to arrive again.
        let admission = self.add_new(now, received)?;
        let seed = self.config.hash_seed;
        let known = self.known_changes.get_or_insert_with(|| Box::new(KnownChanges::new(seed)));
        known.note(identity);
        self.counters.origins_forgotten = known.forgotten();
        Ok(admission)
    }

    /// Registers a service as a writer of the instance of a known change.
    ///
    /// A service stands in for the writers whose changes it hands over. It is registered for known changes as well, so
    /// that it does not matter which way was faster.
    fn register_service(&mut self, received: &ReceivedChange) {
        let is_end = received.change.kind == ChangeKind::NotAliveUnregistered;
        if self.config.as_log || is_end || received.change.origin.is_none() {
            return;
        }
        if let Some(at) = self.cache.instances.find(received.change.instance) {
            self.register(at, received.change.writer);
        }
    }

    /// Adds a change that was not received before.
    fn add_new(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        match received.expires {
            Some(expires) if expires <= now.instant => {
                self.counters.expired += 1;
                return Ok(Admission::Expired);
            }
            _ => {}
        }
        if received.expires.is_some() || self.ordering.is_active() {
            let is_from_future = is_from_future(received.change.source_timestamp, received.reception_timestamp);
            self.counters.from_future += u64::from(is_from_future);
        }
        if self.config.as_log {
            return self.add_to_log(received);
        }
        if received.change.kind == ChangeKind::Alive {
            return if self.timing.is_some() {
                self.add_filtered(now.instant, received)
            } else {
                self.add_sample(received)
            };
        }
        // The pending sample of the instance was written before its end.
        let mut visible = false;
        if self.timing.is_some() {
            if let Some(at) = self.cache.instances.find(received.change.instance) {
                match self.deliver_pending(at, now.instant) {
                    Ok(delivered) => visible = delivered,
                    Err(reason) => return Err(RejectedChange { reason, received }),
                }
            }
        }
        let writer = received.change.writer;
        let admission = if received.has_data {
            self.add_sample_and_end(now.instant, received)?
        } else {
            self.end_instance(now.instant, received)?
        };
        Ok(if visible { self.visible_despite(writer, admission) } else { admission })
    }

    /// Adds a change to a log. The application of a log interprets ends of instances itself.
    fn add_to_log(&mut self, mut received: ReceivedChange) -> Result<Admission, RejectedChange> {
        // Every change of a log is a sample, of any kind.
        let kind = received.change.kind;
        if received.has_data && kind != ChangeKind::Alive {
            // A whole sample cannot be handed over as a key. The key hash names the instance.
            received.change.payload = None;
        }
        let (instance, writer) = (received.change.instance, received.change.writer);
        let admission = self.add_sample(received)?;
        let unregisters = matches!(kind, ChangeKind::NotAliveUnregistered | ChangeKind::NotAliveDisposedUnregistered);
        // Without ownership a log does not need the writers, so an instance is freed when it is taken.
        if self.owners.is_none() || unregisters {
            if let Some(at) = self.cache.instances.find(instance) {
                self.unregister(at, writer);
            }
        }
        Ok(admission)
    }

    /// Adds a sample under the time-based policies.
    fn add_filtered(&mut self, now: Instant, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let instance = received.change.instance;
        let writer = received.change.writer;
        let mut visible = false;
        if let Some(at) = self.cache.instances.find_cached(instance) {
            if !self.is_early(at, now) {
                match self.deliver_pending(at, now) {
                    Ok(delivered) => visible = delivered,
                    Err(reason) => return Err(RejectedChange { reason, received }),
                }
            }
            // The delivery of a pending sample starts a new separation.
            if self.is_early(at, now) {
                let admission = self.hold(at, now, received);
                return Ok(if visible { self.visible_despite(writer, admission) } else { admission });
            }
        }
        let admission = self.add_sample(received)?;
        // A superseded or refused sample starts no separation and meets no deadline.
        if admission == Admission::Visible {
            if let (Some(at), Some(timing)) = (self.cache.instances.find_cached(instance), &mut self.timing) {
                timing.filter.close(at, now);
                timing.note_sample(at, now);
            }
        }
        Ok(admission)
    }

    /// Whether TIME_BASED_FILTER does not deliver a sample of the instance now.
    fn is_early(&self, at: InstanceIndex, now: Instant) -> bool {
        match &self.timing {
            Some(timing) => timing.filter.is_closed(at, now),
            None => false,
        }
    }

    /// Makes an early sample pending, so that the application sees the last sample of a burst.
    fn hold(&mut self, at: InstanceIndex, now: Instant, received: ReceivedChange) -> Admission {
        let writer = received.change.writer;
        if !self.is_admitted(at, writer) {
            return Admission::NotOwner;
        }
        // A pending sample was received: it registers its writer and meets the deadline.
        self.claim(at, writer);
        let Some(timing) = &mut self.timing else {
            debug_assert!(false, "only TIME_BASED_FILTER holds samples");
            return Admission::Held;
        };
        timing.note_sample(at, now);
        let is_older = match timing.filter.pending(at) {
            Some(pending) => self.ordering.is_for_all() && SourceOrder::of(&received) < SourceOrder::of(pending),
            None => false,
        };
        let dropped = if is_older { Some(received) } else { timing.filter.hold(at, received) };
        if let Some(dropped) = dropped {
            self.note_filtered(dropped.change.writer);
        }
        Admission::Held
    }

    /// Delivers the pending sample of an instance, if there is one. Returns whether the application can see it.
    ///
    /// # Errors
    /// The limit that was reached. The sample stays pending, and no later change of the instance may be added.
    fn deliver_pending(&mut self, at: InstanceIndex, now: Instant) -> Result<bool, RejectReason> {
        let Some(timing) = &mut self.timing else { return Ok(false) };
        let Some(pending) = timing.filter.take(at) else { return Ok(false) };
        if self.has_expired(&pending, now) {
            return Ok(false);
        }
        let writer = pending.change.writer;
        match self.add_sample(pending) {
            Ok(admission) => Ok(self.end_delivery(at, now, writer, admission)),
            Err(RejectedChange { reason, received }) => {
                // Lost samples of a burst would hide the last value, so it stays pending.
                if let Some(timing) = &mut self.timing {
                    timing.filter.hold_for_retry(at, now, received);
                }
                Err(reason)
            }
        }
    }

    /// Delivers a pending sample that cannot wait any longer. Returns whether the application can see it.
    ///
    /// Without space the sample is lost and counted as rejected.
    pub(super) fn deliver_or_drop(&mut self, at: InstanceIndex, pending: ReceivedChange, now: Instant) -> bool {
        if self.has_expired(&pending, now) {
            return false;
        }
        let writer = pending.change.writer;
        match self.add_sample(pending) {
            Ok(admission) => self.end_delivery(at, now, writer, admission),
            Err(_) => {
                self.removals.note(writer, RemovalReason::Rejected);
                false
            }
        }
    }

    /// Delivers the pending samples of at most `max` instances that are due. Returns whether the application can see
    /// one.
    pub(super) fn deliver_due(&mut self, now: Instant, max: usize) -> bool {
        let mut visible = false;
        for _ in 0..max {
            let Some(timing) = &mut self.timing else { break };
            let Some(at) = timing.filter.pop_due(now) else { break };
            // A sample without space stays pending and is tried again.
            visible |= self.deliver_pending(at, now).unwrap_or(false);
        }
        visible
    }

    /// Starts a new separation after a delivery. Returns whether the application can see the sample.
    fn end_delivery(&mut self, at: InstanceIndex, now: Instant, writer: Guid, admission: Admission) -> bool {
        // A sample that stays invisible delays no other one.
        if let (Admission::Visible, Some(timing)) = (admission, &mut self.timing) {
            timing.filter.close(at, now);
        }
        self.note_invisible(writer, admission);
        admission == Admission::Visible
    }

    /// Whether the LIFESPAN of a pending sample is over. Counts it then.
    fn has_expired(&mut self, pending: &ReceivedChange, now: Instant) -> bool {
        let has_expired = match pending.expires {
            Some(expires) => expires <= now,
            None => false,
        };
        if has_expired {
            self.counters.expired += 1;
            self.removals.note(pending.change.writer, RemovalReason::Expired);
        }
        has_expired
    }

    /// Counts a change whose admission the caller does not learn, if it stays invisible.
    fn note_invisible(&mut self, writer: Guid, admission: Admission) {
        match admission {
            Admission::NotOwner => self.removals.note(writer, RemovalReason::NotOwner),
            Admission::Superseded => self.removals.note(writer, RemovalReason::Superseded),
            _ => {}
        }
    }

    /// The admission of a change before which a pending sample became visible.
    ///
    /// Only one of both results can be returned, so the result of the change itself is counted here.
    fn visible_despite(&mut self, writer: Guid, admission: Admission) -> Admission {
        self.note_invisible(writer, admission);
        Admission::Visible
    }

    /// Adds a sample and ends its instance: a write and a dispose or unregister in one.
    fn add_sample_and_end(&mut self, now: Instant, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        // The payload is a whole sample, so it cannot be the key of the end.
        let end = ReceivedChange { change: CacheChange { payload: None, ..received.change.clone() }, ..received };
        let admission = self.add_sample(received)?;
        if admission == Admission::Visible {
            self.end_instance(now, end)?;
            return Ok(Admission::Visible);
        }
        match self.cache.instances.find(end.change.instance) {
            Some(at) => Ok(self.unregister_only(now, at, &end, admission)),
            None => Ok(admission),
        }
    }

    /// Adds a sample.
    fn add_sample(&mut self, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let known = self.cache.instances.find_cached(received.change.instance);
        let mut position = SamplePosition::Last;
        // A new instance has no owner and no order yet.
        if let Some(at) = known {
            if self.owners.is_some() && !self.is_admitted(at, received.change.writer) {
                return Ok(Admission::NotOwner);
            }
            if self.ordering.is_active() {
                position = self.ordering.position(&self.cache, at, &received);
                if position == SamplePosition::Superseded {
                    return Ok(self.supersede(at, &received));
                }
            }
        }
        match self.find_space(known) {
            Ok(SampleSpace::Free) => {}
            Ok(SampleSpace::InPlaceOf(oldest)) => match known {
                // KEEP_LAST keeps the newest samples, and this one would leave at once.
                Some(at) if self.is_oldest(at, position) => return Ok(self.supersede(at, &received)),
                _ => self.overwrite(oldest),
            },
            Err(reason) => {
                self.counters.rejected += 1;
                return Err(RejectedChange { reason, received });
            }
        }
        let at = match known {
            Some(at) => at,
            None => self.cache.instances.insert(received.change.instance),
        };
        let is_newest =
            !self.ordering.is_active() || self.ordering.note_change(self.cache.instances.get_mut(at), &received);
        // A sample older than a dispose leaves the notice of the dispose and the disposed state.
        if is_newest || self.cache.instances.get(at).state != InstanceState::NotAliveDisposed {
            position = position_without_notice(&self.cache, at, position);
            self.cache.remove_notice(at);
            self.cache.instances.get_mut(at).revive();
        }
        // A sample without data needs the key of its instance later.
        if known.is_none() {
            self.keep_key(at, received.change.payload.as_ref(), false);
        }
        // Mostly the same writer wrote before, and is registered.
        if self.owners.is_some() || !self.cache.instances.get(at).was_last_written_by(received.change.writer) {
            self.claim(at, received.change.writer);
        }
        self.push_sample(at, received, position);
        Ok(Admission::Visible)
    }

    /// Stores a sample at its position.
    #[inline]
    fn push_sample(&mut self, at: InstanceIndex, received: ReceivedChange, position: SamplePosition) {
        let change = received.change;
        self.latencies.note_received(change.source_timestamp, received.reception_timestamp);
        let instance = self.cache.instances.get(at);
        let sample = self.cache.push(StoredSample {
            kind: change.kind,
            writer: change.writer,
            sequence_number: change.sequence_number,
            source_timestamp: change.source_timestamp,
            reception_timestamp: received.reception_timestamp,
            expires: received.expires,
            related_sample: change.related_sample,
            origin: change.origin,
            payload: change.payload,
            has_data: true,
            read: false,
            disposed_generations: instance.disposed_generations,
            no_writers_generations: instance.no_writers_generations,
            instance: at,
        });
        if let SamplePosition::Before(before) = position {
            self.cache.move_newest_before(sample, before);
        }
    }

    /// Counts a change that is too late to be seen. It registers its writer.
    fn supersede(&mut self, at: InstanceIndex, received: &ReceivedChange) -> Admission {
        self.counters.superseded += 1;
        self.register(at, received.change.writer);
        Admission::Superseded
    }

    /// Disposes of an instance, unregisters its writer, or both.
    fn end_instance(&mut self, now: Instant, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let kind = received.change.kind;
        let disposes = kind != ChangeKind::NotAliveUnregistered;
        let unregisters = kind != ChangeKind::NotAliveDisposed;
        let at = match self.cache.instances.find(received.change.instance) {
            Some(at) if disposes && !self.is_admitted(at, received.change.writer) => {
                return Ok(self.unregister_only(now, at, &received, Admission::NotOwner));
            }
            Some(at) if disposes && self.ordering.is_superseded(self.cache.instances.get(at), &received) => {
                let admission = self.supersede(at, &received);
                return Ok(self.unregister_only(now, at, &received, admission));
            }
            Some(at) => at,
            // Without a payload the application could not learn the key, and a bare key hash may be invented.
            None if !disposes || received.change.payload.is_none() => {
                self.counters.unknown_instance += 1;
                return Ok(Admission::UnknownInstance);
            }
            None if !self.has_space_for_instance() => {
                self.counters.rejected += 1;
                return Err(RejectedChange { reason: RejectReason::Instances, received });
            }
            None => self.cache.instances.insert(received.change.instance),
        };
        let change = &received.change;
        self.keep_key(at, change.payload.as_ref(), true);
        let mut has_changed = false;
        if disposes {
            let instance = self.cache.instances.get_mut(at);
            if self.ordering.is_active() {
                self.ordering.note_change(instance, &received);
            }
            // The instance had a writer in between, which disposes of it.
            if instance.state == InstanceState::NotAliveNoWriters {
                instance.revive();
            }
            has_changed = instance.state != InstanceState::NotAliveDisposed;
            instance.state = InstanceState::NotAliveDisposed;
            // Under EXCLUSIVE ownership a writer that unregisters at the same time has still been the owner.
            if !unregisters || self.owners.is_some() {
                self.claim(at, change.writer);
            }
        }
        if unregisters {
            has_changed |= self.unregister(at, change.writer);
        }
        if has_changed {
            self.cache.announce_state(at, change, received.reception_timestamp);
        }
        // An instance without samples and writers leaves no trace.
        self.note_end(at, now);
        self.release(at);
        Ok(if has_changed { Admission::Visible } else { Admission::Unchanged })
    }

    /// Applies the unregistration of a change whose other effects do not count.
    ///
    /// It always counts, however late it is and whichever writer owns the instance. Returns the admission of the
    /// change.
    fn unregister_only(
        &mut self,
        now: Instant,
        at: InstanceIndex,
        received: &ReceivedChange,
        admission: Admission,
    ) -> Admission {
        if received.change.kind == ChangeKind::NotAliveDisposed {
            return admission;
        }
        let has_lost_last = self.unregister(at, received.change.writer);
        if has_lost_last {
            let change = CacheChange { kind: ChangeKind::NotAliveUnregistered, ..received.change.clone() };
            self.cache.announce_state(at, &change, received.reception_timestamp);
        }
        self.note_end(at, now);
        self.release(at);
        if has_lost_last { Admission::Visible } else { admission }
    }

    /// Whether a sample or dispose by `writer` counts. If another writer owns the instance, only registers `writer`.
    fn is_admitted(&mut self, at: InstanceIndex, writer: Guid) -> bool {
        let Some(owners) = &mut self.owners else { return true };
        if owners.admits(at, self.cache.instances.get(at), writer) {
            return true;
        }
        owners.note_refused(at, writer);
        self.counters.ownership += 1;
        // The writer exists, so the instance does not lose its last writer when the owner leaves.
        self.register(at, writer);
        false
    }

    /// Registers a writer for an instance. Returns `false` if there is no space to remember it.
    fn register(&mut self, at: InstanceIndex, writer: Guid) -> bool {
        let is_remembered = self.cache.instances.register(at, writer);
        self.counters.writers_forgotten += u64::from(!is_remembered);
        is_remembered
    }

    /// Registers a writer whose change counts, and makes it the owner.
    ///
    /// A writer that is not remembered never becomes the owner, because its loss would go unnoticed.
    fn claim(&mut self, at: InstanceIndex, writer: Guid) {
        let is_remembered = self.register(at, writer);
        if let (true, Some(owners)) = (is_remembered, &mut self.owners) {
            owners.claim(at, writer);
        }
    }

    fn keep_key(&mut self, at: InstanceIndex, payload: Option<&Payload>, is_key: bool) {
        let Some(payload) = payload else { return };
        if !self.cache.instances.keep_key(at, payload, is_key) {
            self.counters.keys_dropped += 1;
        }
    }

    fn has_space_for_instance(&mut self) -> bool {
        let max = self.config.instances_max();
        if self.cache.instances.len() >= max {
            // The new instance needs one place. The rest may stay.
            self.make_space_for_instances(max.saturating_sub(1), |_| false);
        }
        self.cache.instances.len() < max
    }

    /// Finds space for one sample of an instance, which may be unknown.
    fn find_space(&mut self, known: Option<InstanceIndex>) -> Result<SampleSpace, RejectReason> {
        let limits = self.config.limits;
        let is_full = self.cache.samples.with_data() >= self.config.samples_max();
        let Some(at) = known else {
            if !self.has_space_for_instance() {
                return Err(RejectReason::Instances);
            }
            // KEEP_LAST replaces only samples of the same instance, and a new instance has none.
            return if is_full { Err(RejectReason::Samples) } else { Ok(SampleSpace::Free) };
        };
        let instance = self.cache.instances.get(at);
        let stored = instance.samples_with_data();
        let Some(depth) = limits.depth else {
            if stored >= limits.samples_per_instance_max {
                return Err(RejectReason::SamplesPerInstance);
            }
            return if is_full { Err(RejectReason::Samples) } else { Ok(SampleSpace::Free) };
        };
        if !is_full && stored < depth.min(limits.samples_per_instance_max) {
            return Ok(SampleSpace::Free);
        }
        match self.cache.oldest_with_data(instance) {
            Some(oldest) => Ok(SampleSpace::InPlaceOf(oldest)),
            None => Err(RejectReason::Samples),
        }
    }

    /// Removes a sample in favor of a newer one of its instance.
    fn overwrite(&mut self, oldest: SampleIndex) {
        let StoredSample { read, writer, has_data, .. } = *self.cache.samples.get(oldest);
        debug_assert!(has_data, "a notice takes no space");
        self.counters.overwritten += 1;
        self.counters.overwritten_unread += u64::from(!read);
        self.removals.note(writer, RemovalReason::Overwritten { read });
        drop(self.cache.remove(oldest));
    }

    /// Whether a sample at this position would be the oldest one with data.
    fn is_oldest(&self, at: InstanceIndex, position: SamplePosition) -> bool {
        let SamplePosition::Before(before) = position else { return false };
        let instance = self.cache.instances.get(at);
        before == instance.samples.first || Some(before) == self.cache.oldest_with_data(instance)
    }
}
