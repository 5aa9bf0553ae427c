//! Coherent sets, and the order over all writers of a publisher (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! The writers of a publisher share a [`PresentationClock`]: it knows whether a set is open and gives out the group sequence
//! numbers. A writer asks it for each change, inside its own cell; what it answers goes with the change, to readers elsewhere
//! as inline QoS. A set of a writer ends with a number of its own that carries no change.
//!
//! Bound: the writers of one publisher.

use super::config::WriterConfig;
use super::stateful::StatefulWriter;
use crate::concurrent::{EndedSet, PresentationClock, PresentationStamp};
use crate::history::{CacheChange, ChangeKind, PresentationInfo};
use crate::types::{EntityId, InstanceHandle, Now, SequenceNumber};
use crate::wire::HeartbeatGroupInfo;
use std::sync::Arc;

/// What one writer knows of it.
#[derive(Debug)]
pub(super) struct WriterPresentation {
    clock: Arc<PresentationClock>,
    writer: EntityId,
    /// The set in which it has written last, and the number of its first change in it.
    set: Option<(u64, SequenceNumber)>,
}

impl WriterPresentation {
    pub(super) fn new(config: &WriterConfig) -> Option<Box<Self>> {
        let clock = config.presentation.clone()?;
        let writer = config.guid.entity_id;
        clock.add(writer);
        Some(Box::new(Self { clock, writer, set: None }))
    }

    /// What goes with the change that gets this number.
    pub(super) fn present(&mut self, number: SequenceNumber) -> Option<Box<PresentationInfo>> {
        let PresentationStamp { set, group } = self.clock.stamp(self.writer);
        // A change outside of any set ends the one before by itself.
        self.set = set.map(|set| self.set.filter(|(open, _)| *open == set).unwrap_or((set, number)));
        let set = self.set.map(|(_, first)| first);
        (set.is_some() || group.is_some()).then(|| Box::new(PresentationInfo { set, group, is_end: false }))
    }

    /// What goes with the number that ends a set; `None`: this writer has nothing to end. Under GROUP each writer says so,
    /// for that of another one may be lost.
    fn present_end(&mut self, ended: EndedSet) -> Option<(Option<SequenceNumber>, Box<PresentationInfo>)> {
        let first = self.set.take_if(|(set, _)| *set == ended.set).map(|(_, first)| first);
        let group = if self.clock.is_group() { self.clock.stamp_end(self.writer, ended) } else { None };
        (first.is_some() || group.is_some())
            .then(|| (first, Box::new(PresentationInfo { set: None, group, is_end: true })))
    }
}

impl StatefulWriter {
    /// A set of the publisher has ended: uses up a number to tell the readers, if they have to be told. Local readers are
    /// given [`Self::change`] of it.
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

    /// What the writer shares with the others of its group, for a reader of this process that gets its changes from `first` on,
    /// and up to which group sequence number nothing of it is to be expected then.
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

    /// What a HEARTBEAT says of the group (RTPS 2.5, 8.3.8.6).
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
            // What has not left yet is not announced.
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
