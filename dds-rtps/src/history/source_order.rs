//! Order by source timestamp (DDS 1.4, 2.2.3.17 and 2.2.2.5.3.8).
//!
//! All readers must end up with the same final value of an instance, and see its samples in the order of their source
//! timestamps. So a change that comes late, after newer ones of its instance, is sorted in among those that the application
//! has not seen; what is older than something that was handed out, read or taken, is superseded: an application that keeps
//! the last value it saw would else end up with an old one. (RTI Connext does so as well; Cyclone DDS drops whatever is
//! older than the newest.) Under KEEP_LAST the newest samples by this order are kept.
//!
//! A dispose that is older than the newest sample or dispose ends nothing. Its writer is one of the instance's all the same,
//! and an unregistration always counts: it says something of its writer, not of the value.
//!
//! A reader of what outlives its writers gets a change from a service later than newer ones from the writer itself. Such a
//! change is sorted in as well, whatever DESTINATION_ORDER says: what came first over a shorter way stays the newest. Seen it
//! must be all the same, unless one value is all that HISTORY asks for.
//!
//! Clocks: the writers' clocks must agree as far as the order of their writes matters. A source timestamp more than
//! [`FUTURE_TOLERANCE`] ahead of the reader's clock counts as the moment of its reception. One writer whose clock is years
//! ahead, or a reader that believes to be in 1970, would else supersede, or be superseded by, all others for ever.

use super::InstanceState;
use super::origins::shown_as;
use super::reader::{ReaderHistory, ReceivedChange};
use super::sample_list::{NOWHERE, Stored};
use crate::qos::DestinationOrder;
use crate::types::{Duration, Guid, SequenceNumber, Time};
use crate::wire::SampleIdentity;
use std::cmp::Reverse;

/// How far ahead of the reader's clock a source timestamp is believed. Clocks of machines that nobody has set well differ by
/// seconds; RTI Connext has the same default.
pub(super) const FUTURE_TOLERANCE: Duration = Duration::from_secs(30);

/// How many samples are looked at for the place of a late one, from the newest backwards and from where the last late one
/// went. One writer with a slow clock is found at once by the latter, however much waits. A change that is further away from
/// both is superseded: whoever sends timestamps at random must not make each sample cost as much as all that wait.
const STEPS_MAX: usize = 1024;

/// Where a change stands: of two with the same timestamp the one of the lower GUID is the newer, as for Cyclone DDS, so
/// that all readers agree; of one writer the later number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceOrder {
    time: Time,
    writer: Reverse<Guid>,
    number: SequenceNumber,
}

impl SourceOrder {
    pub(super) fn of(received: &ReceivedChange) -> Self {
        let SampleIdentity { writer, sequence_number } = received.change.identity();
        Self {
            time: order_time(received.change.source_timestamp, received.reception_timestamp),
            writer: Reverse(writer),
            number: sequence_number,
        }
    }

    fn of_stored(stored: &Stored) -> Self {
        let shown = shown_as(stored.origin.as_deref(), stored.writer, stored.sequence_number);
        Self {
            time: order_time(stored.source_timestamp, stored.reception_timestamp),
            writer: Reverse(shown.writer),
            number: shown.sequence_number,
        }
    }

    /// Whether this was once taken for a time that turns out to be in the future: the reader's clock was set back.
    fn is_ahead_of(self, now: Time) -> bool {
        self.time - now > FUTURE_TOLERANCE
    }
}

/// Whether a source timestamp is further ahead of the reader's clock than is believed.
pub(super) fn is_from_future(source_timestamp: Time, reception_timestamp: Time) -> bool {
    source_timestamp.is_valid() && source_timestamp - reception_timestamp > FUTURE_TOLERANCE
}

fn order_time(source_timestamp: Time, reception_timestamp: Time) -> Time {
    let is_believed = source_timestamp.is_valid() && !is_from_future(source_timestamp, reception_timestamp);
    if is_believed { source_timestamp } else { reception_timestamp }
}

/// Where a sample goes among those of its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// It is the newest.
    Last,
    /// Before this one.
    Before(u32),
    /// Nowhere: it comes too late.
    Superseded,
}

impl ReaderHistory {
    /// Whether the order of source timestamps is followed at all.
    #[inline]
    pub(super) fn is_by_source(&self) -> bool {
        self.by_source
    }

    /// Whether every change has its place in it.
    pub(super) fn is_all_by_source(&self) -> bool {
        self.config.destination_order == DestinationOrder::BySourceTimestamp
    }

    /// Whether this change has. One that does not is the newest when it comes.
    fn is_sorted(&self, received: &ReceivedChange) -> bool {
        self.is_all_by_source() || received.change.origin.is_some()
    }

    /// Where a sample of a known instance goes.
    pub(super) fn position(&self, at: u32, received: &ReceivedChange) -> Position {
        if !self.is_sorted(received) {
            return Position::Last;
        }
        let order = SourceOrder::of(received);
        let instance = self.instances.get(at);
        let is_final = self.is_all_by_source() || self.config.limits.depth == Some(1);
        let handed_out = instance.handed_out.filter(|seen| !seen.is_ahead_of(received.reception_timestamp));
        if is_final && handed_out.is_some_and(|seen| order < seen) {
            return Position::Superseded;
        }
        self.successor(self.newest_by_source(at), order)
            .or_else(|| self.successor_from(instance.last_late, order))
            .unwrap_or(Position::Superseded)
    }

    /// The newest sample of an instance. That its writers have gone was not said at any time of theirs: the news of it, which
    /// the sample that is on its way replaces, has no place in the order.
    fn newest_by_source(&self, at: u32) -> u32 {
        let instance = self.instances.get(at);
        let last = instance.samples.last;
        if last != NOWHERE && last == instance.invalid && instance.state != InstanceState::NotAliveDisposed {
            return self.samples.previous_sibling(last);
        }
        last
    }

    /// The place before the oldest sample that is newer, looked for from `newest` backwards.
    fn successor(&self, newest: u32, order: SourceOrder) -> Option<Position> {
        let (mut sample, mut before) = (newest, Position::Last);
        for _ in 0..STEPS_MAX {
            if sample == NOWHERE || SourceOrder::of_stored(self.samples.get(sample)) <= order {
                return Some(before);
            }
            before = Position::Before(sample);
            sample = self.samples.previous_sibling(sample);
        }
        None
    }

    /// The same, looked for from a sample in the midst of the others.
    fn successor_from(&self, start: u32, order: SourceOrder) -> Option<Position> {
        if start == NOWHERE {
            return None;
        }
        if SourceOrder::of_stored(self.samples.get(start)) > order {
            return self.successor(start, order);
        }
        let mut sample = start;
        for _ in 0..STEPS_MAX {
            sample = self.samples.next_sibling(sample);
            if sample == NOWHERE {
                return Some(Position::Last);
            }
            if SourceOrder::of_stored(self.samples.get(sample)) > order {
                return Some(Position::Before(sample));
            }
        }
        None
    }

    /// The same position, when the sample without data is gone: the news of an end is not always said at a time of the
    /// writer's, and may stand behind a sample that is newer than the end.
    pub(super) fn beside_invalid(&self, at: u32, position: Position) -> Position {
        let invalid = self.instances.get(at).invalid;
        if invalid == NOWHERE || position != Position::Before(invalid) {
            return position;
        }
        match self.samples.next_sibling(invalid) {
            NOWHERE => Position::Last,
            next => Position::Before(next),
        }
    }

    /// Whether a change that ends the instance is older than what has last been said of its value.
    pub(super) fn is_superseded(&self, at: u32, received: &ReceivedChange) -> bool {
        let newest = self.instances.get(at).newest.filter(|newest| !newest.is_ahead_of(received.reception_timestamp));
        self.is_sorted(received) && newest.is_some_and(|newest| SourceOrder::of(received) < newest)
    }

    /// Notes the newest of what says something of the instance's value. `true`: this is it.
    pub(super) fn note_order(&mut self, at: u32, received: &ReceivedChange) -> bool {
        let (order, is_sorted) = (SourceOrder::of(received), self.is_sorted(received));
        let instance = self.instances.get_mut(at);
        let newest = instance.newest.filter(|newest| !newest.is_ahead_of(received.reception_timestamp));
        let is_newest = newest.is_none_or(|newest| newest <= order);
        if is_newest {
            instance.newest = Some(order);
        }
        is_newest || !is_sorted
    }

    /// Notes that the application gets to see a sample, and with it the state of its instance.
    pub(super) fn note_handed_out(&mut self, sample: u32) {
        let stored = self.samples.get(sample);
        let seen = stored.valid.then(|| SourceOrder::of_stored(stored));
        let instance = self.instances.get_mut(stored.instance);
        let ended = instance.newest.filter(|_| instance.state == InstanceState::NotAliveDisposed);
        instance.handed_out = instance.handed_out.max(seen).max(ended);
    }
}
