//! The bookkeeping of a group's stored changes, as DURABILITY_SERVICE configures it (DDS 1.4, 2.2.3.5).
//!
//! In: changes, writers that appear and disappear, the time. Out: changes that must be removed. Owned: the place of
//! each change. The changes themselves are in the history of the group's writer.
//!
//! A change is stored until one of these events:
//!
//! - Newer changes of its instance use up the depth.
//! - A resource limit is reached.
//! - Its lifespan ends.
//! - Its instance is removed.
//!
//! An instance exists from its first change until its last one is removed. It is also removed at the
//! end of the cleanup delay, if it is disposed and has no writer any more.
//!
//! Bound: HISTORY depth and RESOURCE_LIMITS of DURABILITY_SERVICE. If they set no limit, the bound is [`SAMPLES_MAX`].

use crate::change::RelayedChange;
use dds_core::qos::{self, History};
use dds_core::relay::{Instant, Now};
use dds_core::writer::{SampleIdentity, SequenceNumber};
use dds_core::{Duration, Guid, InstanceHandle, Time};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Most changes of a group that sets no limit. Without it a writer could fill the memory.
pub(crate) const SAMPLES_MAX: usize = 1 << 20;

/// Most changes whose instance is unknown.
///
/// Their topic has a key, but its writers send no key hash, and the service does not know its type. The last changes of
/// the topic are stored, of any instance.
pub(crate) const UNKNOWN_INSTANCE_MAX: usize = 4096;

/// Most writers that are remembered for an instance. Further ones count as gone.
const WRITERS_MAX: usize = 64;

/// Memory that a change takes in addition to its payload, in bytes.
///
/// It covers the tables of this module and the history of the group's writer. Without it, many small samples would
/// exceed the memory limit several times over.
const CHANGE_COST: usize = 512;

/// The same for an instance.
const INSTANCE_COST: usize = 512;

/// Why a change is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotKept {
    /// It is stored already.
    Known,
    /// Newer changes of its instance use up the depth.
    Older,
    /// Its lifespan has ended.
    Expired,
    /// DURABILITY_SERVICE max_instances is reached.
    Instances,
    /// The memory limit of the service is reached.
    Memory,
}

/// Removed changes and instances.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    /// The order of each change, and its sequence number in the group's writer.
    pub(crate) changes: Vec<(u64, Option<SequenceNumber>)>,
    /// Instances that have no changes left.
    pub(crate) instances: Vec<InstanceHandle>,
}

#[derive(Debug)]
struct KeptEntry {
    order: u64,
    timestamp: Time,
    disposes: bool,
}

#[derive(Debug, Default)]
struct KeptInstance {
    /// By source timestamp, oldest first.
    entries: VecDeque<KeptEntry>,
    /// Writers that write the instance now.
    writers: SmallVec<[Guid; 2]>,
    /// Since when it is disposed and without a writer.
    over_since: Option<Instant>,
}

#[derive(Debug)]
struct KeptPlace {
    instance: InstanceHandle,
    identity: SampleIdentity,
    len: usize,
    number: Option<SequenceNumber>,
    expires: Option<Instant>,
}

/// The stored changes of a group.
#[derive(Debug)]
pub(crate) struct Kept {
    per_instance: usize,
    samples_max: usize,
    instances_max: usize,
    cleanup_delay: Duration,
    is_keyed: bool,
    instances: HashMap<InstanceHandle, KeptInstance>,
    /// By order, oldest first.
    places: BTreeMap<u64, KeptPlace>,
    /// Identities of all stored changes.
    identities: HashSet<SampleIdentity>,
    /// Changes with a lifespan, by the time of their expiry.
    expiring: BTreeSet<(Instant, u64)>,
    /// Instances that are disposed and without a writer, and since when. Some were revived since.
    over: VecDeque<(Instant, InstanceHandle)>,
    bytes: usize,
}

impl Kept {
    pub(crate) fn new(service: &qos::DurabilityService, is_keyed: bool) -> Self {
        let limits = service.resource_limits;
        let depth = match service.history {
            History::KeepLast { depth } => depth as usize,
            History::KeepAll => usize::MAX,
        };
        Self {
            // A depth of 0 is invalid QoS. A peer may still announce it, and `take_in` relies on room for one change.
            per_instance: depth.min(limit(limits.max_samples_per_instance)).max(1),
            samples_max: limit(limits.max_samples).clamp(1, SAMPLES_MAX),
            instances_max: limit(limits.max_instances).clamp(1, SAMPLES_MAX),
            cleanup_delay: service.cleanup_delay,
            is_keyed,
            instances: HashMap::new(),
            places: BTreeMap::new(),
            identities: HashSet::new(),
            expiring: BTreeSet::new(),
            over: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Returns the number of payload bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the memory that all changes take: payloads and bookkeeping.
    pub(crate) fn cost(&self) -> usize {
        self.bytes + CHANGE_COST * self.places.len() + INSTANCE_COST * self.instances.len()
    }

    /// Returns by how much [`Kept::cost`] grows with `change`. The change that it replaces is subtracted.
    fn growth(&self, change: &RelayedChange, capacity: usize) -> usize {
        let cost = CHANGE_COST + change.len();
        let Some(instance) = self.instances.get(&change.instance) else { return cost + INSTANCE_COST };
        if instance.entries.len() < capacity {
            return cost;
        }
        // The instance is full, so the oldest change makes room for the new one.
        let Some(oldest) = instance.entries.front() else { return cost };
        debug_assert!(self.places.contains_key(&oldest.order), "each entry of an instance has a place");
        match self.places.get(&oldest.order) {
            Some(place) => cost.saturating_sub(CHANGE_COST + place.len),
            None => cost,
        }
    }

    /// Stores a change if `room` suffices. Returns the changes that it replaces.
    ///
    /// `order` must be higher than all orders before.
    pub(crate) fn take_in(
        &mut self,
        now: Now,
        change: &RelayedChange,
        order: u64,
        room: usize,
    ) -> Result<Gone, NotKept> {
        let expires = expiry(now, change);
        if expires.is_some_and(|expires| expires <= now.instant) {
            return Err(NotKept::Expired);
        }
        // Other writers and other services deliver the same change again.
        if self.identities.contains(&change.identity) {
            return Err(NotKept::Known);
        }
        // Without the instance the depth cannot be applied, so a bound for the whole topic replaces it.
        let capacity = match self.is_keyed && change.instance.is_nil() {
            true => UNKNOWN_INSTANCE_MAX.min(self.samples_max),
            false => self.per_instance,
        };
        let place = match self.instances.get(&change.instance) {
            Some(instance) => instance.place_of(change, capacity)?,
            None if self.instances.len() >= self.instances_max => return Err(NotKept::Instances),
            None => 0,
        };
        // Checked before anything changes, so a refused change leaves no trace.
        if self.growth(change, capacity) > room {
            return Err(NotKept::Memory);
        }
        let mut gone = Gone::default();
        let instance = self.instances.entry(change.instance).or_default();
        let entry = KeptEntry { order, timestamp: change.source_timestamp, disposes: change.disposes };
        instance.entries.insert(place, entry);
        let mut excess = None;
        if instance.entries.len() > capacity {
            excess = instance.entries.front().map(|oldest| oldest.order);
        }
        let RelayedChange { instance, identity, .. } = *change;
        self.places.insert(order, KeptPlace { instance, identity, len: change.len(), number: None, expires });
        self.identities.insert(identity);
        if let Some(expires) = expires {
            self.expiring.insert((expires, order));
        }
        self.bytes += change.len();
        // This is never the new change: `place_of` refuses one that is older than a full history.
        if let Some(oldest) = excess {
            self.remove(oldest, &mut gone);
        }
        // The limit of the group applies to all instances together: the oldest change is removed.
        if self.places.len() > self.samples_max {
            if let Some((&oldest, _)) = self.places.first_key_value() {
                self.remove(oldest, &mut gone);
            }
        }
        self.review(now, change.instance);
        Ok(gone)
    }

    pub(crate) fn contains(&self, order: u64) -> bool {
        self.places.contains_key(&order)
    }

    /// Records the sequence number that the change has in the group's writer.
    pub(crate) fn set_number(&mut self, order: u64, number: SequenceNumber) {
        if let Some(place) = self.places.get_mut(&order) {
            place.number = Some(number);
        }
    }

    /// Records whether `writer` writes `instance`.
    pub(crate) fn note_writer(&mut self, now: Now, instance: InstanceHandle, writer: Guid, writes: bool) {
        let Some(known) = self.instances.get_mut(&instance) else { return };
        known.writers.retain(|known| *known != writer);
        if writes && known.writers.len() < WRITERS_MAX {
            known.writers.push(writer);
        }
        self.review(now, instance);
    }

    /// Records that a writer is gone. It writes none of its instances any more.
    pub(crate) fn note_writer_gone(&mut self, now: Now, writer: Guid) {
        // Collected first, because `note_writer` changes the instances. Writers end rarely, so the scan is no cost.
        let mut instances = Vec::new();
        for (handle, instance) in &self.instances {
            if instance.writers.contains(&writer) {
                instances.push(*handle);
            }
        }
        for instance in instances {
            self.note_writer(now, instance, writer, false);
        }
    }

    /// Removes expired changes and instances.
    pub(crate) fn pass_time(&mut self, now: Now) -> Gone {
        let mut gone = Gone::default();
        while let Some(&(expires, order)) = self.expiring.first() {
            if expires > now.instant {
                break;
            }
            self.remove(order, &mut gone);
        }
        // All instances have the same delay, so the front is always due first.
        while let Some(&(since, handle)) = self.over.front() {
            if !self.is_due(since, now.instant) {
                break;
            }
            self.over.pop_front();
            let Some(instance) = self.instances.get(&handle) else { continue };
            // The entry is outdated if the instance was revived after `since`.
            if instance.over_since != Some(since) {
                continue;
            }
            let orders: Vec<u64> = instance.entries.iter().map(|entry| entry.order).collect();
            for order in orders {
                self.remove(order, &mut gone);
            }
        }
        gone
    }

    /// Returns when [`Kept::pass_time`] next has work.
    pub(crate) fn due(&self) -> Option<Instant> {
        let over = self.over.front().and_then(|(since, _)| since.after(self.cleanup_delay));
        let expiring = self.expiring.first().map(|(expires, _)| *expires);
        [over, expiring].into_iter().flatten().min()
    }

    fn is_due(&self, since: Instant, now: Instant) -> bool {
        since.after(self.cleanup_delay).is_some_and(|due| due <= now)
    }

    fn remove(&mut self, order: u64, gone: &mut Gone) {
        let Some(place) = self.places.remove(&order) else { return };
        self.bytes -= place.len;
        self.identities.remove(&place.identity);
        if let Some(expires) = place.expires {
            self.expiring.remove(&(expires, order));
        }
        gone.changes.push((order, place.number));
        debug_assert!(self.instances.contains_key(&place.instance), "the instance of a stored change is stored");
        let Some(instance) = self.instances.get_mut(&place.instance) else { return };
        // Removing the oldest change is the usual case, and needs no search.
        match instance.entries.front() {
            Some(oldest) if oldest.order == order => drop(instance.entries.pop_front()),
            _ => instance.entries.retain(|entry| entry.order != order),
        }
        if instance.entries.is_empty() {
            self.instances.remove(&place.instance);
            gone.instances.push(place.instance);
        }
    }

    /// Updates whether an instance is disposed and without a writer.
    fn review(&mut self, now: Now, handle: InstanceHandle) {
        let Some(instance) = self.instances.get_mut(&handle) else { return };
        // Only the newest change counts: a sample after the dispose revives the instance.
        let is_disposed = matches!(instance.entries.back(), Some(last) if last.disposes);
        // The nil handle collects changes of unknown instances. The dispose of one says nothing about the others.
        let is_over = self.is_keyed && instance.writers.is_empty() && is_disposed && !handle.is_nil();
        match (is_over, instance.over_since) {
            (true, None) => {
                instance.over_since = Some(now.instant);
                self.over.push_back((now.instant, handle));
            }
            // The entry in `over` stays, and `pass_time` recognizes it by its time.
            (false, Some(_)) => instance.over_since = None,
            _ => {}
        }
    }
}

/// Converts a limit of QoS. Absent means unlimited.
fn limit(limit: Option<u32>) -> usize {
    match limit {
        Some(limit) => limit as usize,
        None => usize::MAX,
    }
}

impl KeptInstance {
    /// Returns the position of `change` among the stored changes of the instance.
    fn place_of(&self, change: &RelayedChange, capacity: usize) -> Result<usize, NotKept> {
        // Changes usually arrive in the order of their timestamps, so the search starts at the newest.
        let mut place = self.entries.len();
        while place > 0 && self.entries[place - 1].timestamp > change.source_timestamp {
            place -= 1;
        }
        if place == 0 && self.entries.len() >= capacity { Err(NotKept::Older) } else { Ok(place) }
    }
}

/// Returns when a change expires by the monotonic clock.
///
/// A source timestamp in the future counts as now.
fn expiry(now: Now, change: &RelayedChange) -> Option<Instant> {
    // LIFESPAN applies to samples. A dispose is removed with its instance.
    if change.lifespan.is_infinite() || change.disposes {
        return None;
    }
    let age = if change.source_timestamp.is_valid() { now.time - change.source_timestamp } else { Duration::ZERO };
    now.instant.after(Duration::from_nanos(change.lifespan.as_nanos().saturating_sub(age.as_nanos()).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::qos::ResourceLimits;
    use dds_core::relay::{EntityId, GuidPrefix, Payload};

    impl Kept {
        /// Stores a change without a memory limit.
        fn add(&mut self, now: Now, change: &RelayedChange, order: u64) -> Result<Gone, NotKept> {
            self.take_in(now, change, order, usize::MAX)
        }
    }

    const WRITER: Guid = Guid::new(GuidPrefix([7; 12]), EntityId([7; 4]));

    fn at(seconds: u64) -> Now {
        let time = Time::from_unix_nanos(1_700_000_000_000_000_000 + seconds as i64 * 1_000_000_000);
        Now { instant: Instant::from_nanos(seconds * 1_000_000_000), time }
    }

    fn key(number: u8) -> InstanceHandle {
        InstanceHandle::from_key_hash([number; 16])
    }

    /// Creates a change with sequence number `number`, written in second `number`.
    fn change(number: u64, instance: InstanceHandle) -> RelayedChange {
        RelayedChange {
            disposes: false,
            instance,
            identity: SampleIdentity { writer: WRITER, sequence_number: SequenceNumber(number as i64) },
            source_timestamp: at(number).time,
            lifespan: Duration::INFINITE,
            payload: None,
        }
    }

    fn dispose(number: u64, instance: InstanceHandle) -> RelayedChange {
        RelayedChange { disposes: true, ..change(number, instance) }
    }

    fn kept(history: History, limits: ResourceLimits, cleanup_delay: Duration) -> Kept {
        Kept::new(
            &qos::DurabilityService::default().cleanup_delay(cleanup_delay).history(history).resource_limits(limits),
            true,
        )
    }

    fn last(depth: u32) -> Kept {
        kept(History::KeepLast { depth }, ResourceLimits::default(), Duration::ZERO)
    }

    fn orders(kept: &Kept) -> Vec<u64> {
        kept.places.keys().copied().collect()
    }

    fn writer(number: usize) -> Guid {
        let [low, high, ..] = number.to_le_bytes();
        Guid { entity_id: EntityId([0, low, high, 2]), ..WRITER }
    }

    #[test]
    fn instance_remembers_bounded_number_of_writers() {
        let mut kept = last(1);
        kept.add(at(1), &change(1, key(1)), 0).unwrap();
        (0..WRITERS_MAX + 10).for_each(|number| kept.note_writer(at(1), key(1), writer(number), true));
        assert_eq!(kept.instances[&key(1)].writers.len(), WRITERS_MAX);
        kept.add(at(2), &dispose(2, key(1)), 1).unwrap();
        (0..WRITERS_MAX - 1).for_each(|number| kept.note_writer_gone(at(3), writer(number)));
        assert_eq!(kept.due(), None, "one of them writes it");
        kept.note_writer_gone(at(3), writer(WRITERS_MAX - 1));
        kept.pass_time(at(3));
        assert_eq!(kept.instance_count(), 0);
    }

    #[test]
    fn newest_samples_of_instance_stay_by_source_timestamp() {
        let mut kept = last(2);
        for (order, number) in [(0, 5), (1, 9), (2, 7)] {
            kept.add(at(10), &change(number, key(1)), order).unwrap();
        }
        kept.add(at(10), &change(1, key(2)), 3).unwrap();
        assert_eq!(orders(&kept), [1, 2, 3]);
        assert_eq!(kept.add(at(10), &change(6, key(1)), 4), Err(NotKept::Older));
        assert_eq!(kept.add(at(10), &change(9, key(1)), 5), Err(NotKept::Known));
        assert_eq!((kept.len(), kept.instance_count()), (3, 2));
    }

    #[test]
    fn limits_remove_oldest_and_refuse_new_instances() {
        let limits = ResourceLimits::NONE.max_samples(3).max_instances(2).max_samples_per_instance(2);
        let mut kept = kept(History::KeepAll, limits, Duration::ZERO);
        for (order, instance) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
            kept.add(at(9), &change(order, key(instance)), order).unwrap();
            kept.set_number(order, SequenceNumber(order as i64 + 100));
        }
        assert_eq!(orders(&kept), [1, 2, 3]);
        assert_eq!(kept.add(at(9), &change(4, key(3)), 4), Err(NotKept::Instances));
        let gone = kept.add(at(9), &change(5, key(2)), 5).unwrap();
        assert_eq!(gone.changes, [(1, Some(SequenceNumber(101)))]);
        let gone = kept.add(at(9), &change(6, key(2)), 6).unwrap();
        assert_eq!((gone.changes[0].0, gone.changes.len()), (3, 1), "of its own instance");
        assert_eq!(kept.len(), 3);
    }

    #[test]
    fn disposed_instance_without_writer_ends_after_delay() {
        let delay = Duration::from_secs(10);
        let mut kept = kept(History::KeepLast { depth: 1 }, ResourceLimits::default(), delay);
        for instance in [1, 2, 3] {
            kept.add(at(0), &change(u64::from(instance), key(instance)), u64::from(instance)).unwrap();
            kept.note_writer(at(0), key(instance), WRITER, true);
        }
        kept.add(at(5), &dispose(5, key(1)), 5).unwrap();
        kept.add(at(5), &dispose(6, key(2)), 6).unwrap();
        assert_eq!(kept.due(), None, "its writer is there");
        kept.note_writer_gone(at(6), WRITER);
        assert_eq!(kept.due(), at(6).instant.after(delay));
        // A new sample revives the instance.
        kept.add(at(7), &change(7, key(2)), 7).unwrap();
        assert_eq!(kept.pass_time(at(15)), Gone::default());
        let gone = kept.pass_time(at(16));
        assert_eq!((gone.changes, gone.instances), (vec![(5, None)], vec![key(1)]));
        assert_eq!((orders(&kept), kept.due()), (vec![3, 7], None));
    }

    #[test]
    fn lifespan_counts_from_source_timestamp() {
        let mut kept = last(9);
        let mortal = |number| RelayedChange { lifespan: Duration::from_secs(5), ..change(number, key(1)) };
        kept.add(at(3), &mortal(2), 0).unwrap();
        kept.add(at(3), &mortal(3), 1).unwrap();
        assert_eq!(kept.add(at(7), &mortal(1), 2), Err(NotKept::Expired));
        assert_eq!(kept.due(), Some(at(7).instant));
        assert_eq!(kept.pass_time(at(7)).changes, [(0, None)]);
        let gone = kept.pass_time(at(8));
        assert_eq!((gone.changes, gone.instances), (vec![(1, None)], vec![key(1)]));
    }

    #[test]
    fn samples_of_unknown_instance_are_bounded() {
        let mut kept = last(1);
        for order in 0..(UNKNOWN_INSTANCE_MAX as u64 + 5) {
            kept.add(at(0), &change(order, InstanceHandle::NIL), order).unwrap();
        }
        assert_eq!((kept.len(), kept.places.first_key_value().unwrap().0), (UNKNOWN_INSTANCE_MAX, &5));
    }

    #[test]
    fn replacement_uses_space_of_replaced_sample() {
        let mut kept = last(1);
        let room = |kept: &Kept| 2 * (CHANGE_COST + INSTANCE_COST) - kept.cost();
        for (order, instance) in [(0, 1), (1, 2), (2, 1), (3, 2)] {
            let room = room(&kept);
            assert!(kept.take_in(at(9), &change(order, key(instance)), order, room).is_ok());
        }
        assert_eq!(orders(&kept), [2, 3]);
        let full = room(&kept);
        assert_eq!((full, kept.take_in(at(9), &change(4, key(3)), 4, full)), (0, Err(NotKept::Memory)));
        let longer = RelayedChange { payload: Some(Payload::copy_of(&[0])), ..change(5, key(1)) };
        assert_eq!(kept.take_in(at(9), &longer, 5, full), Err(NotKept::Memory));
        assert_eq!(kept.take_in(at(9), &change(3, key(3)), 6, full), Err(NotKept::Known), "that is said first");
    }
}
