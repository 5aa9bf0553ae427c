//! Coherent sets, and the order among all writers of a publisher (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! The writers of a publisher share a [`PresentationClock`]. It knows whether a set is open, and assigns the group
//! sequence numbers. A writer reads it for each change, inside its own cell. The result goes with the change, to remote
//! readers as inline QoS. A set of a writer ends with a sequence number of its own that carries no change.
//!
//! Bound: the writers of one publisher.

use super::config::WriterConfig;
use crate::concurrent::{EndedSet, PresentationClock, PresentationStamp};
use crate::history::{PresentationInfo, WriterHistory};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::HeartbeatGroupInfo;
use std::sync::Arc;

/// Presentation state of one writer.
#[derive(Debug)]
pub(crate) struct WriterPresentation {
    clock: Arc<PresentationClock>,
    writer: EntityId,
    /// The set of the last change, and the sequence number of its first change in it.
    set: Option<(u64, SequenceNumber)>,
}

impl WriterPresentation {
    pub(crate) fn new(config: &WriterConfig) -> Option<Box<Self>> {
        let clock = config.presentation.clone()?;
        let writer = config.guid.entity_id;
        clock.add(writer);
        Some(Box::new(Self { clock, writer, set: None }))
    }

    /// Returns the presentation of the change with this sequence number.
    pub(crate) fn present(&mut self, number: SequenceNumber) -> Option<Box<PresentationInfo>> {
        let PresentationStamp { set, group } = self.clock.stamp(self.writer);
        self.set = match (set, self.set) {
            // A change outside of any set ends the previous set.
            (None, _) => None,
            (Some(open), Some((known, first))) if known == open => Some((open, first)),
            (Some(open), _) => Some((open, number)),
        };
        let set = self.set.map(|(_, first)| first);
        if set.is_none() && group.is_none() {
            return None;
        }
        Some(Box::new(PresentationInfo { set, group, is_end: false }))
    }

    /// Returns the first change of a set that ends, and the presentation of the end.
    ///
    /// `None` if this writer has no set to end. Under GROUP each writer announces the end, because the announcement of
    /// another one may be lost.
    pub(crate) fn present_end(&mut self, ended: EndedSet) -> Option<(Option<SequenceNumber>, Box<PresentationInfo>)> {
        let first = self.set.take_if(|(set, _)| *set == ended.set).map(|(_, first)| first);
        let group = if self.clock.is_group() { self.clock.stamp_end(self.writer, ended) } else { None };
        if first.is_none() && group.is_none() {
            return None;
        }
        Some((first, Box::new(PresentationInfo { set: None, group, is_end: true })))
    }

    /// Returns the clock of the group, for a local reader that receives the changes from `first` on.
    ///
    /// The reader expects no change of this writer up to the returned group sequence number. `None` without a group.
    pub(crate) fn presented_before(
        &self,
        history: &WriterHistory,
        first: SequenceNumber,
    ) -> Option<(Arc<PresentationClock>, SequenceNumber)> {
        if !self.clock.is_group() {
            return None;
        }
        let reached = match group_number(history, history.next_from(first)) {
            Some(kept) => kept.previous(),
            None => self.clock.group_info().0,
        };
        Some((Arc::clone(&self.clock), reached))
    }

    /// Returns the group information of a HEARTBEAT (RTPS 2.5, 8.3.8.6), before the unsent change `next`.
    pub(crate) fn group_info(&self, history: &WriterHistory, next: SequenceNumber) -> Option<HeartbeatGroupInfo> {
        if !self.clock.is_group() {
            return None;
        }
        // The clock counts changes of all writers of the publisher, unsent ones included.
        let (mut current_gsn, writer_set) = self.clock.group_info();
        if let Some(unsent) = group_number(history, history.next_from(next)) {
            // Changes that are still held back are not announced.
            current_gsn = unsent.previous();
        }
        Some(HeartbeatGroupInfo {
            current_gsn,
            first_gsn: group_number(history, history.first()).unwrap_or(SequenceNumber::ZERO),
            last_gsn: group_number(history, history.last()).unwrap_or(SequenceNumber::ZERO),
            writer_set,
            secure_writer_set: [0; 4],
        })
    }
}

/// Returns the group sequence number of a kept change.
fn group_number(history: &WriterHistory, number: Option<SequenceNumber>) -> Option<SequenceNumber> {
    Some(history.get(number?)?.change.presented.as_deref()?.group?.number)
}
