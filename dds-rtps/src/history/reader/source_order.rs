//! Order by source timestamp (DDS 1.4, 2.2.3.17 and 2.2.2.5.3.8).
//!
//! All readers must agree on the final value of an instance and see its samples in the order of their source
//! timestamps. A late change is therefore sorted in among the samples that the application has not seen. A change is
//! superseded if it is older than a sample that was read or taken: an application that keeps the last value would end
//! up with an old one. RTI Connext does the same; Cyclone DDS drops everything older than the newest. KEEP_LAST keeps
//! the newest in this order.
//!
//! A dispose that is older than the newest sample or dispose is ignored, but registers its writer. An unregistration
//! always counts, because it describes the writer and not the value.
//!
//! A reader of TRANSIENT or PERSISTENT data may get a change from a service later than newer ones from the writer
//! itself. Such a change is sorted in under every DESTINATION_ORDER. It is never superseded unless the HISTORY depth is
//! 1.
//!
//! Clocks: a source timestamp more than [`FUTURE_TOLERANCE`] ahead of the reader's clock counts as the time of
//! reception. Otherwise a writer whose clock is years ahead, or a reader with a clock of 1970, would suppress all
//! others forever.

use super::cache::SampleCache;
use super::instances::{InstanceIndex, ReaderInstance};
use super::sample_store::{NO_SAMPLE, SampleIndex, SampleStore, StoredSample};
use super::{InstanceState, ReaderHistoryConfig, ReceivedChange};
use crate::qos::DestinationOrder;
use crate::types::{Duration, Guid, SequenceNumber, Time};
use crate::wire::SampleIdentity;
use std::cmp::Reverse;

/// How far a source timestamp may be ahead of the reader's clock. Badly set clocks differ by seconds; RTI Connext has
/// the same default.
pub(super) const FUTURE_TOLERANCE: Duration = Duration::from_secs(30);

/// How many samples each search for the position of a late sample visits: one from the newest, one from the last late
/// sample.
///
/// The second search finds the position at once for a writer with a slow clock. A change further away from both is
/// superseded, so that random timestamps cannot make a sample cost as much as all that are stored.
const STEPS_MAX: usize = 1024;

/// The rank of a change: by time, then by writer, then by sequence number.
///
/// With equal timestamps the lower GUID is the newer one, as in Cyclone DDS, so that all readers agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceOrder {
    time: Time,
    writer: Reverse<Guid>,
    number: SequenceNumber,
}

impl SourceOrder {
    fn new(identity: SampleIdentity, source_timestamp: Time, reception_timestamp: Time) -> Self {
        let SampleIdentity { writer, sequence_number } = identity;
        let is_plausible = source_timestamp.is_valid() && !is_from_future(source_timestamp, reception_timestamp);
        let time = if is_plausible { source_timestamp } else { reception_timestamp };
        Self { time, writer: Reverse(writer), number: sequence_number }
    }

    pub(super) fn of(received: &ReceivedChange) -> Self {
        let change = &received.change;
        Self::new(change.identity(), change.source_timestamp, received.reception_timestamp)
    }

    fn of_stored(stored: &StoredSample) -> Self {
        Self::new(stored.identity(), stored.source_timestamp, stored.reception_timestamp)
    }

    /// Whether the time lies in the future. That happens if the reader's clock was set back in between.
    fn is_ahead_of(self, now: Time) -> bool {
        self.time - now > FUTURE_TOLERANCE
    }
}

/// Whether a source timestamp is implausibly far ahead of the reader's clock.
pub(super) fn is_from_future(source_timestamp: Time, reception_timestamp: Time) -> bool {
    source_timestamp.is_valid() && source_timestamp - reception_timestamp > FUTURE_TOLERANCE
}

/// The position of a new sample among the samples of its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SamplePosition {
    /// It is the newest.
    Last,
    /// It goes before this sample.
    Before(SampleIndex),
    /// It comes too late for any position.
    Superseded,
}

/// Which changes a reader orders by source timestamp.
#[derive(Debug)]
pub(super) struct SourceOrdering {
    /// Every change.
    all: bool,
    /// Some changes: every one, or those that a service hands over.
    any: bool,
    /// Nothing older than a sample that was handed out may follow it.
    newest_is_final: bool,
}

impl SourceOrdering {
    pub(super) fn new(config: &ReaderHistoryConfig) -> Self {
        let all = config.destination_order == DestinationOrder::BySourceTimestamp;
        Self {
            all,
            any: all || (config.outlives_writers && !config.as_log),
            newest_is_final: all || config.limits.depth == Some(1),
        }
    }

    /// Whether any change is ordered.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.any
    }

    /// Whether every change is ordered.
    pub(super) fn is_for_all(&self) -> bool {
        self.all
    }

    /// Whether this change is ordered. Any other change is the newest when it arrives.
    fn applies_to(&self, received: &ReceivedChange) -> bool {
        self.all || received.change.origin.is_some()
    }

    /// Finds the position of a new sample of a known instance.
    pub(super) fn position(&self, cache: &SampleCache, at: InstanceIndex, received: &ReceivedChange) -> SamplePosition {
        if !self.applies_to(received) {
            return SamplePosition::Last;
        }
        // The application keeps the last value that it saw, so nothing older may follow.
        let order = SourceOrder::of(received);
        let instance = cache.instances.get(at);
        if self.newest_is_final {
            if let Some(seen) = instance.handed_out {
                if order < seen && !seen.is_ahead_of(received.reception_timestamp) {
                    return SamplePosition::Superseded;
                }
            }
        }
        // Most late changes are only a little late.
        if let Some(position) = search_backward(&cache.samples, newest_by_source(cache, at), order) {
            return position;
        }
        // A service hands over old changes one after the other, so the last one of them is near.
        match search_around(&cache.samples, instance.last_late, order) {
            Some(position) => position,
            // A longer search would let a peer with old timestamps occupy this reader.
            None => SamplePosition::Superseded,
        }
    }

    /// Whether a change that ends the instance is older than the newest sample or dispose.
    pub(super) fn is_superseded(&self, instance: &ReaderInstance, received: &ReceivedChange) -> bool {
        let Some(newest) = instance.newest else { return false };
        !newest.is_ahead_of(received.reception_timestamp)
            && self.applies_to(received)
            && SourceOrder::of(received) < newest
    }

    /// Records a sample or dispose in its instance. Returns whether it is the newest.
    pub(super) fn note_change(&self, instance: &mut ReaderInstance, received: &ReceivedChange) -> bool {
        let order = SourceOrder::of(received);
        // An order from the future dates from before the clock was set back. It must not suppress new changes.
        let is_newest = match instance.newest {
            Some(newest) => newest.is_ahead_of(received.reception_timestamp) || newest <= order,
            None => true,
        };
        if is_newest {
            instance.newest = Some(order);
        }
        is_newest || !self.applies_to(received)
    }
}

/// The newest sample of an instance that has a place in the order.
///
/// The notice that an instance has lost its writers is skipped: no writer sent it, so it has no source timestamp.
fn newest_by_source(cache: &SampleCache, at: InstanceIndex) -> SampleIndex {
    let instance = cache.instances.get(at);
    let last = instance.samples.last;
    if last != NO_SAMPLE && last == instance.notice && instance.state != InstanceState::NotAliveDisposed {
        return cache.samples.previous_sibling(last);
    }
    last
}

/// Finds the position before the oldest newer sample, from `newest` backward.
fn search_backward(samples: &SampleStore, newest: SampleIndex, order: SourceOrder) -> Option<SamplePosition> {
    let (mut sample, mut position) = (newest, SamplePosition::Last);
    for _ in 0..STEPS_MAX {
        if sample == NO_SAMPLE || SourceOrder::of_stored(samples.get(sample)) <= order {
            return Some(position);
        }
        position = SamplePosition::Before(sample);
        sample = samples.previous_sibling(sample);
    }
    None
}

/// Finds the position from a sample in the middle of the list.
fn search_around(samples: &SampleStore, start: SampleIndex, order: SourceOrder) -> Option<SamplePosition> {
    if start == NO_SAMPLE {
        return None;
    }
    if SourceOrder::of_stored(samples.get(start)) > order {
        return search_backward(samples, start, order);
    }
    let mut sample = start;
    for _ in 0..STEPS_MAX {
        sample = samples.next_sibling(sample);
        if sample == NO_SAMPLE {
            return Some(SamplePosition::Last);
        }
        if SourceOrder::of_stored(samples.get(sample)) > order {
            return Some(SamplePosition::Before(sample));
        }
    }
    None
}

/// Corrects a position for the removal of the notice.
///
/// A notice need not carry a time of the writer, so it may stand after a sample that is newer than the end.
pub(super) fn position_without_notice(
    cache: &SampleCache,
    at: InstanceIndex,
    position: SamplePosition,
) -> SamplePosition {
    let notice = cache.instances.get(at).notice;
    if notice == NO_SAMPLE || position != SamplePosition::Before(notice) {
        return position;
    }
    match cache.samples.next_sibling(notice) {
        NO_SAMPLE => SamplePosition::Last,
        next => SamplePosition::Before(next),
    }
}

/// Records that the application sees a sample, and with it the state of its instance.
pub(super) fn note_handed_out(cache: &mut SampleCache, sample: SampleIndex) {
    let stored = cache.samples.get(sample);
    let instance = cache.instances.get_mut(stored.instance);
    if stored.has_data {
        instance.handed_out = instance.handed_out.max(Some(SourceOrder::of_stored(stored)));
    }
    if instance.state == InstanceState::NotAliveDisposed {
        instance.handed_out = instance.handed_out.max(instance.newest);
    }
}
