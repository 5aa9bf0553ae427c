//! The reader's cache: samples by instance, with the states of the DDS book (DDS 1.4, 2.2.2.5.1).
//!
//! In: changes in the order in which the reader accepts them, the loss of writers, reads and takes. Out: samples with
//! their [`SampleInfo`], and for each change what became of it. Owned: the samples and the instance table.
//!
//! Life cycle of a sample: added, perhaps read, then taken, replaced by a newer one (KEEP_LAST) or expired (LIFESPAN). Of
//! an instance: made by its first change, freed when it has neither samples nor writers.
//!
//! Bound: HISTORY and RESOURCE_LIMITS; where these set no limit, [`SAMPLES_MAX`] and [`INSTANCES_MAX`]. What does not fit:
//!
//! | | no room for the sample | no room for the instance |
//! |---|---|---|
//! | KEEP_LAST | replaces the oldest sample of its own instance; rejected if there is none | rejected |
//! | KEEP_ALL | rejected | rejected |
//!
//! What a rejection means is the reader's business. Under KEEP_ALL a reliable reader keeps it from being acknowledged, and
//! gets it when there is room: nothing is lost, and a writer without room of its own waits (DDS 1.4, 2.2.3.19). Under
//! KEEP_LAST it is told (SAMPLE_REJECTED), counted and acknowledged: such a reader does not promise to show everything, and
//! a reader that never takes must not hold up a writer for ever (RTI Connext loses what meets max_instances as well).

use super::instance::{Instance, Instances};
use super::origins::Origins;
use super::ownership::Ownership;
use super::reader_counters::ReaderHistoryCounters;
use super::removals::{Removal, Removals};
use super::sample_list::{NOWHERE, Samples, Stored};
use super::source_order::{Position, is_from_future};
use super::timing::Timing;
use super::unseen::Unseen;
use super::{CacheChange, ChangeKind, HistoryLimits, InstanceState, KeyPayload, OriginalWriterInfo, ReaderTiming};
use crate::concurrent::Payload;
use crate::qos::{self, DestinationOrder};
use crate::types::{Agenda, InstanceHandle, Instant, Now, Time};

/// The most samples of a reader without limits. An application that does not take what it receives under KEEP_ALL would
/// else fill the memory; a million samples are minutes of a fast topic.
pub const SAMPLES_MAX: usize = 1 << 20;

/// The most instances of a reader that sets no limit itself: any peer can invent keys, and an instance with a short key takes
/// 600 bytes with its last sample (at the writer 410; `docs/instances.md`). RESOURCE_LIMITS may ask for more.
pub const INSTANCES_MAX: usize = 1 << 18;

/// How a [`ReaderHistory`] works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderHistoryConfig {
    /// HISTORY and RESOURCE_LIMITS.
    pub limits: HistoryLimits,
    /// Under [`DestinationOrder::BySourceTimestamp`] the samples of an instance are sorted by their source timestamps, and
    /// what is older than something that was handed out is superseded; `source_order.rs` has the details.
    pub destination_order: DestinationOrder,
    /// Under [`Exclusive`](qos::Ownership::Exclusive) only the changes of an instance's owner count.
    pub ownership: qos::Ownership,
    /// DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub timing: ReaderTiming,
    /// Whether changes are remembered by who wrote them, because they may come from others as well: of DURABILITY transient
    /// and persistent.
    pub outlives_writers: bool,
    /// Whether each change is kept and handed out as it is, ends of instances among them: for a service that passes them on.
    pub as_log: bool,
    /// Makes the order of the maps this history's own.
    pub seed: u64,
}

impl ReaderHistoryConfig {
    /// These limits, and the default of every other policy.
    #[must_use]
    pub const fn new(limits: HistoryLimits) -> Self {
        Self {
            limits,
            destination_order: DestinationOrder::ByReceptionTimestamp,
            ownership: qos::Ownership::Shared,
            timing: ReaderTiming::NONE,
            outlives_writers: false,
            as_log: false,
            seed: 0,
        }
    }
}

/// Why a change was rejected (DDS 1.4, 2.2.4.1: SAMPLE_REJECTED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectReason {
    /// RESOURCE_LIMITS max_samples.
    Samples,
    /// RESOURCE_LIMITS max_instances.
    Instances,
    /// RESOURCE_LIMITS max_samples_per_instance.
    SamplesPerInstance,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Admission {
    /// There is something new to see: a sample, or an instance's state.
    Visible,
    /// It was here before: it has come from its own writer, or from another one that stands in for it.
    Known,
    /// Nothing to see: an unregistration while others write, or a state that the instance has already.
    Unchanged,
    /// Its lifespan was over when it arrived.
    Expired,
    /// Under order by source timestamp: older than what was handed out of its instance, than what KEEP_LAST has kept in its
    /// place, or, if it ends the instance, than the newest change.
    Superseded,
    /// Another writer owns the instance, under exclusive ownership.
    NotOwner,
    /// Kept back by TIME_BASED_FILTER, until it is let in or a newer one takes its place.
    Held,
    /// It ends an instance that is not known. There was nothing to end.
    UnknownInstance,
}

/// A change on its way into the history.
#[derive(Debug, Clone)]
pub struct ReceivedChange {
    /// The change.
    pub change: CacheChange,
    /// Whether the payload is a whole sample, rather than a key. A sample that comes with a change that is not alive is
    /// added first: a write and a dispose in one.
    pub has_data: bool,
    /// When the sample is too old to be handed out, by the monotonic clock.
    pub expires: Option<Instant>,
    /// When it arrived.
    pub reception_timestamp: Time,
}

/// A sample as it leaves the history.
#[derive(Debug, Clone)]
pub struct HistorySample {
    /// The encoded sample if [`SampleInfo::valid_data`](super::SampleInfo::valid_data); else what the instance's key can be decoded from, if anything.
    pub payload: Option<Payload>,
    /// Whether the payload is a serialized key. A sample without data may also carry a whole sample to take the key from.
    pub payload_is_key: bool,
    /// What is known about it.
    pub info: super::SampleInfo,
    /// What the writer did.
    pub kind: ChangeKind,
    /// Who wrote it, if another writer has handed it over.
    pub origin: Option<Box<OriginalWriterInfo>>,
}

/// A change that did not fit, given back.
#[derive(Debug, Clone)]
pub struct RejectedChange {
    /// Which limit was reached.
    pub reason: RejectReason,
    /// The change.
    pub received: ReceivedChange,
}

/// The reader's cache. The module's documentation says what it does.
#[derive(Debug)]
pub struct ReaderHistory {
    pub(super) config: ReaderHistoryConfig,
    pub(super) samples: Samples,
    pub(super) instances: Instances,
    pub(super) not_read: usize,
    pub(super) valid: usize,
    /// The samples whose lifespan ends.
    pub(super) expiry: Agenda,
    /// The timer does not look for expired samples before this.
    pub(super) expiry_floor: Instant,
    /// Numbers the selections.
    pub(super) visit: u64,
    /// The samples that a selection has found. Kept for its memory.
    pub(super) picked: Vec<u32>,
    /// Instances whose last sample was taken and that nobody writes. They are forgotten at the next selection, or with the
    /// next change of theirs: until then the application can ask for the keys of what it has taken, and nothing else is to
    /// be seen of them. Bound: the instances.
    pub(super) departed: Vec<u32>,
    /// `None`: shared, nobody owns anything.
    pub(super) ownership: Option<Box<Ownership>>,
    /// `None`: nothing happens by time alone, but LIFESPAN.
    pub(super) timing: Option<Box<Timing>>,
    /// `None`: nothing has come yet that somebody else had written.
    pub(super) origins: Option<Box<Origins>>,
    pub(super) counters: ReaderHistoryCounters,
    pub(super) removals: Removals,
    /// What is held back until it can be seen together.
    pub(super) unseen: Unseen,
    /// Whether the order of source timestamps is followed at all; follows from the configuration.
    pub(super) by_source: bool,
}

impl ReaderHistory {
    /// An empty history. Allocates nothing yet.
    #[must_use]
    pub fn new(config: ReaderHistoryConfig) -> Self {
        Self {
            config,
            samples: Samples::new(),
            instances: Instances::new(config.seed),
            not_read: 0,
            valid: 0,
            expiry: Agenda::new(),
            expiry_floor: Instant::ZERO,
            visit: 0,
            picked: Vec::new(),
            departed: Vec::new(),
            ownership: (config.ownership == qos::Ownership::Exclusive).then(|| Box::new(Ownership::new(config.seed))),
            timing: config.timing.start(),
            origins: config.outlives_writers.then(Box::default),
            counters: ReaderHistoryCounters::default(),
            removals: Removals::new(config.seed),
            unseen: Unseen::default(),
            by_source: config.destination_order == DestinationOrder::BySourceTimestamp
                || (config.outlives_writers && !config.as_log),
        }
    }

    /// How many samples lie here, those without data included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.arrivals.len
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many samples have not been read yet. Some may have expired and not been removed yet.
    #[must_use]
    pub fn not_read_len(&self) -> usize {
        self.not_read
    }

    /// How many instances are known.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// What has happened so far.
    #[must_use]
    pub fn counters(&self) -> ReaderHistoryCounters {
        self.counters
    }

    /// Whether the instance is known; its state, if it is.
    #[must_use]
    pub fn lookup_instance(&self, handle: InstanceHandle) -> Option<InstanceState> {
        self.instances.find(handle).map(|at| self.instances.get(at).state)
    }

    /// Whether there are samples of the instance, or a writer.
    #[must_use]
    pub fn knows_instance(&self, handle: InstanceHandle) -> bool {
        self.instances.find(handle).is_some()
    }

    /// Something from which the key of a known instance can be decoded; `None` for unknown instances, for keyless topics,
    /// and for instances of which only a key hash was ever received.
    #[must_use]
    pub fn instance_key_payload(&self, handle: InstanceHandle) -> Option<&KeyPayload> {
        self.instances.find(handle).and_then(|at| self.instances.get(at).key.as_ref())
    }

    /// Adds a change.
    ///
    /// # Errors
    ///
    /// Gives the change back if it does not fit; the history is as before, but for the count of rejections.
    pub fn add(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        if !self.departed.is_empty() {
            self.release_departed_one(received.change.instance);
        }
        if self.origins.is_some() || received.change.origin.is_some() {
            return self.add_once(now, received);
        }
        let is_plain = received.expires.is_none() && received.change.kind == ChangeKind::Alive;
        if is_plain && self.timing.is_none() && !self.by_source && !self.config.as_log {
            // The way of nearly every sample.
            return self.add_sample(received);
        }
        self.add_anyway(now, received)
    }

    /// As [`Self::add`], whether or not it was here before.
    pub(super) fn add_anyway(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        if received.expires.is_some_and(|expires| expires <= now.instant) {
            self.counters.expired += 1;
            return Ok(Admission::Expired);
        }
        if received.expires.is_some() || self.is_by_source() {
            let source_timestamp = received.change.source_timestamp;
            self.counters.from_future += u64::from(is_from_future(source_timestamp, received.reception_timestamp));
        }
        let kind = received.change.kind;
        let timed = self.timing.is_some();
        if self.config.as_log {
            return self.add_to_log(received);
        }
        if kind == ChangeKind::Alive {
            return if timed { self.add_in_time(now.instant, received) } else { self.add_sample(received) };
        }
        let known = if timed { self.instances.find(received.change.instance) } else { None };
        let writer = received.change.writer;
        let visible = match known.map_or(Ok(false), |at| self.let_held_in(at, now.instant)) {
            Ok(visible) => visible,
            Err(refused) => return Err(RejectedChange { received, ..refused }),
        };
        let admission = match received.has_data {
            true => self.add_sample_and_end(now.instant, received, kind)?,
            false => self.end_instance(now.instant, received, kind)?,
        };
        Ok(if visible { self.seen_by_another(writer, admission) } else { admission })
    }

    /// A sample and the end of its instance in one.
    fn add_sample_and_end(
        &mut self,
        now: Instant,
        received: ReceivedChange,
        kind: ChangeKind,
    ) -> Result<Admission, RejectedChange> {
        let end = ReceivedChange { change: CacheChange { payload: None, ..received.change.clone() }, ..received };
        let unregisters = kind != ChangeKind::NotAliveDisposed;
        match self.add_sample(received)? {
            Admission::Visible => self.end_instance(now, end, kind).map(|_| Admission::Visible),
            admission => match self.instances.find(end.change.instance) {
                Some(at) => Ok(self.leave(now, at, &end, unregisters, admission)),
                None => Ok(admission),
            },
        }
    }

    pub(super) fn add_sample(&mut self, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let known = self.instances.find_again(received.change.instance);
        if self.ownership.is_some() && known.is_some_and(|at| !self.is_admitted(at, received.change.writer)) {
            return Ok(Admission::NotOwner);
        }
        let mut position = Position::Last;
        if self.is_by_source() {
            if let Some(at) = known {
                position = self.position(at, &received);
                if position == Position::Superseded {
                    return Ok(self.supersede(at, &received));
                }
            }
        }
        match self.find_room(known) {
            Ok(Room::Free) => {}
            Ok(Room::InPlaceOf(oldest)) => match known {
                Some(at) if self.is_oldest(at, position) => return Ok(self.supersede(at, &received)),
                _ => self.overwrite(oldest),
            },
            Err(reason) => {
                self.counters.rejected += 1;
                return Err(RejectedChange { reason, received });
            }
        }
        let at = known.unwrap_or_else(|| self.instances.insert(received.change.instance));
        let is_newest = !self.is_by_source() || self.note_order(at, &received);
        let change = received.change;
        // Of a dispose that is newer than a late sample the news stay, and the instance stays disposed of.
        if is_newest || self.instances.get(at).state != InstanceState::NotAliveDisposed {
            position = self.beside_invalid(at, position);
            self.remove_invalid(at);
            self.instances.get_mut(at).revive();
        }
        if known.is_none() {
            self.keep_key(at, change.payload.as_ref(), false);
        }
        // Mostly it is who wrote it before.
        if self.ownership.is_some() || !self.instances.get(at).was_last_written_by(change.writer) {
            self.claim(at, change.writer);
        }
        let instance = self.instances.get_mut(at);
        let stored = Stored {
            kind: change.kind,
            writer: change.writer,
            sequence_number: change.sequence_number,
            source_timestamp: change.source_timestamp,
            reception_timestamp: received.reception_timestamp,
            expires: received.expires,
            related_sample: change.related_sample,
            origin: change.origin,
            payload: change.payload,
            valid: true,
            read: false,
            disposed_generations: instance.disposed_generations,
            no_writers_generations: instance.no_writers_generations,
            instance: at,
        };
        instance.not_read += 1;
        let sample = self.samples.push(&mut instance.samples, stored);
        if let Some(expires) = received.expires {
            self.expiry.note(sample, expires);
        }
        if let Position::Before(before) = position {
            self.samples.bring_forward(&mut instance.samples, before);
            instance.last_late = sample;
        }
        self.not_read += 1;
        self.valid += 1;
        Ok(Admission::Visible)
    }

    /// A change that comes too late to be seen: its writer is one of the instance's all the same.
    fn supersede(&mut self, at: u32, received: &ReceivedChange) -> Admission {
        self.counters.superseded += 1;
        self.register(at, received.change.writer);
        Admission::Superseded
    }

    /// A dispose, an unregistration, or both.
    fn end_instance(
        &mut self,
        now: Instant,
        received: ReceivedChange,
        kind: ChangeKind,
    ) -> Result<Admission, RejectedChange> {
        let disposes = kind != ChangeKind::NotAliveUnregistered;
        let unregisters = kind != ChangeKind::NotAliveDisposed;
        let known = self.instances.find(received.change.instance);
        let at = match known {
            Some(at) if disposes && !self.is_admitted(at, received.change.writer) => {
                return Ok(self.leave(now, at, &received, unregisters, Admission::NotOwner));
            }
            Some(at) if disposes && self.is_superseded(at, &received) => {
                let admission = self.supersede(at, &received);
                return Ok(self.leave(now, at, &received, unregisters, admission));
            }
            Some(at) => at,
            // Only a payload says which instance this is: a bare hash may be a hash of nothing, and the application could
            // not learn the key.
            None if !disposes || received.change.payload.is_none() => {
                self.counters.unknown_instance += 1;
                return Ok(Admission::UnknownInstance);
            }
            None if !self.has_room_for_instance() => {
                self.counters.rejected += 1;
                return Err(RejectedChange { reason: RejectReason::Instances, received });
            }
            None => self.instances.insert(received.change.instance),
        };
        let change = &received.change;
        self.keep_key(at, change.payload.as_ref(), true);
        let mut changed = false;
        if disposes {
            if self.is_by_source() {
                self.note_order(at, &received);
            }
            let instance = self.instances.get_mut(at);
            if instance.state == InstanceState::NotAliveNoWriters {
                instance.revive();
            }
            changed = instance.state != InstanceState::NotAliveDisposed;
            instance.state = InstanceState::NotAliveDisposed;
            // Also one that leaves at once has owned it.
            if !unregisters || self.ownership.is_some() {
                self.claim(at, change.writer);
            }
        }
        if unregisters {
            changed |= self.unregister(at, change.writer);
        }
        if changed {
            self.announce_state(at, change, received.reception_timestamp);
        }
        self.note_end(at, now);
        self.release(at);
        Ok(if changed { Admission::Visible } else { Admission::Unchanged })
    }

    /// Sees to it that the new state of an instance is handed out: by a sample that waits to be read anyway, or by one
    /// without data.
    pub(super) fn announce_state(&mut self, at: u32, change: &CacheChange, reception_timestamp: Time) {
        if self.instances.get(at).not_read > 0 {
            return;
        }
        self.remove_invalid(at);
        let instance = self.instances.get_mut(at);
        let stored = Stored {
            kind: change.kind,
            writer: change.writer,
            sequence_number: change.sequence_number,
            source_timestamp: change.source_timestamp,
            reception_timestamp,
            expires: None,
            related_sample: change.related_sample,
            origin: change.origin.clone(),
            payload: None,
            valid: false,
            read: false,
            disposed_generations: instance.disposed_generations,
            no_writers_generations: instance.no_writers_generations,
            instance: at,
        };
        instance.not_read += 1;
        instance.invalid = self.samples.push(&mut instance.samples, stored);
        self.not_read += 1;
    }

    fn keep_key(&mut self, at: u32, payload: Option<&Payload>, is_key: bool) {
        if payload.is_some_and(|payload| !self.instances.keep_key(at, payload, is_key)) {
            self.counters.keys_dropped += 1;
        }
    }

    fn remove_invalid(&mut self, at: u32) {
        let invalid = self.instances.get(at).invalid;
        if invalid != NOWHERE {
            drop(self.remove(invalid));
        }
    }

    /// Takes a sample out of all lists. Does not free the instance.
    pub(super) fn remove(&mut self, sample: u32) -> Option<Payload> {
        let stored = self.samples.get(sample);
        let (valid, read) = (stored.valid, stored.read);
        if stored.expires.is_some() {
            self.expiry.forget(sample);
        }
        let instance = self.instances.get_mut(stored.instance);
        if !read {
            self.not_read -= 1;
            instance.not_read -= 1;
        }
        if valid {
            self.valid -= 1;
        } else {
            instance.invalid = NOWHERE;
        }
        if instance.last_late == sample {
            instance.last_late = NOWHERE;
        }
        self.samples.remove(&mut instance.samples, sample)
    }

    fn has_room_for_instance(&mut self) -> bool {
        let max = match self.config.limits.instances_max {
            usize::MAX => INSTANCES_MAX,
            // Who asks for more gets it, as many as a place can number.
            max => max.min(NOWHERE as usize),
        };
        if self.instances.len() >= max {
            self.release_departed();
        }
        self.instances.len() < max
    }

    /// Where one sample of the instance has room, or why there is none.
    fn find_room(&mut self, known: Option<u32>) -> Result<Room, RejectReason> {
        let limits = self.config.limits;
        let full = self.valid >= limits.samples_max.min(SAMPLES_MAX);
        let Some(at) = known else {
            if !self.has_room_for_instance() {
                return Err(RejectReason::Instances);
            }
            return if full { Err(RejectReason::Samples) } else { Ok(Room::Free) };
        };
        let instance = self.instances.get(at);
        let valid = instance.valid_len();
        let Some(depth) = limits.depth else {
            if valid >= limits.samples_per_instance_max {
                return Err(RejectReason::SamplesPerInstance);
            }
            return if full { Err(RejectReason::Samples) } else { Ok(Room::Free) };
        };
        if !full && valid < depth.min(limits.samples_per_instance_max) {
            return Ok(Room::Free);
        }
        self.oldest_valid(instance).map(Room::InPlaceOf).ok_or(RejectReason::Samples)
    }

    /// Removes a sample for a newer one of its instance.
    fn overwrite(&mut self, oldest: u32) {
        let Stored { read, writer, .. } = *self.samples.get(oldest);
        self.counters.overwritten += 1;
        self.counters.overwritten_unread += u64::from(!read);
        self.removals.note(writer, Removal::Overwritten { read });
        drop(self.remove(oldest));
    }

    /// Whether a sample at this position would be the oldest with data.
    fn is_oldest(&self, at: u32, position: Position) -> bool {
        let instance = self.instances.get(at);
        match position {
            Position::Before(before) => before == instance.samples.first || Some(before) == self.oldest_valid(instance),
            _ => false,
        }
    }

    fn oldest_valid(&self, instance: &Instance) -> Option<u32> {
        let first = instance.samples.first;
        // The one sample without data may lie in front; no second one can follow it.
        let oldest =
            if first != NOWHERE && first == instance.invalid { self.samples.next_sibling(first) } else { first };
        (oldest != NOWHERE).then_some(oldest)
    }
}

/// Where a sample has room.
#[derive(Debug, Clone, Copy)]
enum Room {
    /// Beside all others.
    Free,
    /// In the place of this one, under KEEP_LAST.
    InPlaceOf(u32),
}
