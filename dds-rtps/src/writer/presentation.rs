//! Coherent sets, and the order among all writers of a publisher (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! The writers of a publisher share a [`PresentationClock`]. It knows whether a set is open, and assigns the group
//! sequence numbers. A writer reads it for each change, inside its own cell. The result goes with the change, to remote
//! readers as inline QoS. A set of a writer ends with a sequence number of its own that carries no change.
//!
//! Bound: the writers of one publisher.

use super::config::WriterConfig;
use super::stateful::StatefulWriter;
use crate::concurrent::{EndedSet, PresentationClock, PresentationStamp};
use crate::history::{CacheChange, ChangeKind, PresentationInfo};
use crate::types::{EntityId, InstanceHandle, Now, SequenceNumber};
use crate::wire::HeartbeatGroupInfo;
use std::sync::Arc;

/// Presentation state of one writer.
#[derive(Debug)]
pub(super) struct WriterPresentation {
    clock: Arc<PresentationClock>,
    writer: EntityId,
    /// The set of the last change, and the sequence number of its first change in it.
    set: Option<(u64, SequenceNumber)>,
}

impl WriterPresentation {
    pub(super) fn new(config: &WriterConfig) -> Option<Box<Self>> {
        let clock = config.presentation.clone()?;
        let writer = config.guid.entity_id;
        clock.add(writer);
        Some(Box::new(Self { clock, writer, set: None }))
    }

    /// Returns the presentation of the change with this sequence number.
    pub(super) fn present(&mut self, number: SequenceNumber) -> Option<Box<PresentationInfo>> {
        let PresentationStamp { set, group } = self.clock.stamp(self.writer);
        // A change outside of any set ends the previous set.
        self.set = set.map(|set| self.set.filter(|(open, _)| *open == set).unwrap_or((set, number)));
        let set = self.set.map(|(_, first)| first);
        (set.is_some() || group.is_some()).then(|| Box::new(PresentationInfo { set, group, is_end: false }))
    }

    /// Returns the presentation of the end of a set; `None` if this writer has no set to end.
    ///
    /// Under GROUP each writer announces the end, because the announcement of another one may be lost.
    fn present_end(&mut self, ended: EndedSet) -> Option<(Option<SequenceNumber>, Box<PresentationInfo>)> {
        let first = self.set.take_if(|(set, _)| *set == ended.set).map(|(_, first)| first);
        let group = if self.clock.is_group() { self.clock.stamp_end(self.writer, ended) } else { None };
        (first.is_some() || group.is_some())
            .then(|| (first, Box::new(PresentationInfo { set: None, group, is_end: true })))
    }
}

impl StatefulWriter {
    /// Ends a set of the publisher, with a sequence number of its own if readers must be notified.
    ///
    /// The caller passes [`Self::change`] of it to local readers.
    pub fn end_set(&mut self, now: Now, ended: EndedSet) -> Option<SequenceNumber> {
        let (first, presented) = self.presentation.as_mut()?.present_end(ended)?;
        let sequence_number = self.last.next();
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: self.config.guid,
            sequence_number,
            instance: InstanceHandle::NIL,
            source_timestamp: now.time,
            related_sample: None,
            origin: None,
            presented: Some(presented),
            payload: None,
        };
        // The end of a set needs no room of its own, so a full history cannot refuse it.
        let acknowledged = self.acknowledged();
        self.history.insert_end_of_set(change, first.unwrap_or(sequence_number), acknowledged);
        self.last = sequence_number;
        if self.batch.is_on() {
            self.add_to_batch(now);
        } else {
            self.batch.release(sequence_number);
        }
        self.skip_if_nobody_listens();
        Some(sequence_number)
    }

    /// Returns the clock of the group, for a local reader that receives the changes from `first` on.
    ///
    /// The reader expects no change of this writer up to the returned group sequence number. `None` without a group.
    #[must_use]
    pub fn presented_before(&self, first: SequenceNumber) -> Option<(Arc<PresentationClock>, SequenceNumber)> {
        let clock = &self.presentation.as_ref()?.clock;
        if !clock.is_group() {
            return None;
        }
        let kept = self.history.iter_from(first).next();
        let presented = kept.and_then(|stored| stored.change.presented.as_deref()?.group);
        let reached = presented.map_or_else(|| clock.group_info().0, |group| group.number.previous());
        Some((Arc::clone(clock), reached))
    }

    /// Returns the group information of a HEARTBEAT (RTPS 2.5, 8.3.8.6).
    pub(super) fn group_info(&self) -> Option<HeartbeatGroupInfo> {
        let clock = &self.presentation.as_ref()?.clock;
        if !clock.is_group() {
            return None;
        }
        let (mut current_gsn, writer_set) = clock.group_info();
        let number_of = |number| {
            let presented = self.history.get(number)?.change.presented.as_deref();
            Some(presented?.group?.number)
        };
        if let Some(held_back) = self.history.next_from(self.next).and_then(number_of) {
            // Changes that are still held back are not announced.
            current_gsn = held_back.previous();
        }
        let gsn = |number: Option<SequenceNumber>| number.and_then(number_of).unwrap_or(SequenceNumber::ZERO);
        Some(HeartbeatGroupInfo {
            current_gsn,
            first_gsn: gsn(self.history.first()),
            last_gsn: gsn(self.history.last()),
            writer_set,
            secure_writer_set: [0; 4],
        })
    }
}
