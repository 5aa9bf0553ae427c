//! Scope GROUP: the changes of one writer go to the gate of the subscriber instead of the history (DDS 1.4, 2.2.3.6;
//! RTPS 2.5, 8.7.6).
//!
//! Bound: the history counts the changes on their way to the gate as withheld, until it gets them back. A reliable
//! reader that may withhold no more accepts no changes, and its writer waits.

use super::group_gate::GroupItem;
use super::writer_sets::{BYTES_MAX, WriterSets, is_blank, payload_len};
use crate::history::{PresentationInfo, ReceivedChange, RejectReason, RejectedChange};
use crate::reader::delivery::ChangeDelivery;
use crate::types::{Guid, SequenceNumber};

/// Progress of one writer in the group sequence numbers of its publisher.
#[derive(Debug)]
pub(crate) struct GroupProgress {
    /// Whether access is coherent; otherwise only the order counts.
    coherent: bool,
    /// From a HEARTBEAT: with the first number the writer has written everything up to the second, a group number.
    announced: Option<(SequenceNumber, SequenceNumber)>,
    /// Last group sequence number up to which all changes of the writer arrived.
    reached: Option<SequenceNumber>,
}

impl GroupProgress {
    pub(super) fn new(coherent: bool) -> Self {
        Self { coherent, announced: None, reached: None }
    }

    /// The reader is not entitled to changes up to this group sequence number.
    pub(crate) fn start_after(&mut self, reached: SequenceNumber) {
        self.reached = Some(reached);
    }

    /// A HEARTBEAT announced `last`, and `group_number` as the last number of the group.
    pub(crate) fn announce(&mut self, last: SequenceNumber, group_number: SequenceNumber) {
        self.announced = Some((last, group_number));
    }

    /// The reader expects `next` from the writer. Returns the group sequence number that the writer has reached by
    /// that.
    pub(crate) fn advance_to(&mut self, next: SequenceNumber) -> Option<SequenceNumber> {
        let (_, reached) = self.announced.take_if(|(last, _)| next > *last)?;
        self.reached = self.reached.max(Some(reached));
        Some(reached)
    }

    /// Whether the reader is known to have all changes of the writer before this set of the group.
    fn has_all_before(&self, set: Option<SequenceNumber>) -> bool {
        match (self.reached, set) {
            (Some(reached), Some(set)) => reached < set,
            _ => false,
        }
    }
}

/// Place of a change among those of its publisher.
struct GroupPlace {
    /// Its group sequence number.
    number: Option<SequenceNumber>,
    /// The set that it names.
    named: Option<SequenceNumber>,
    /// The set that it belongs to. The end of a set names the set and is not a part of it.
    set: Option<SequenceNumber>,
}

impl GroupPlace {
    fn of(presented: PresentationInfo, is_coherent: bool) -> Self {
        let (number, set) = match presented.group {
            Some(position) => (Some(position.number), position.set),
            None => (None, None),
        };
        let named = if is_coherent { set } else { None };
        Self { number, named, set: if presented.is_end { None } else { named } }
    }
}

impl WriterSets {
    /// Delivers the next change of the writer to the gate of the subscriber.
    pub(super) fn deliver_to_group(
        &mut self,
        change: ReceivedChange,
        tried: bool,
        delivery: &mut ChangeDelivery<'_>,
    ) -> Result<(), ReceivedChange> {
        let Some(group) = &self.group else {
            debug_assert!(false, "only called under scope GROUP");
            return Ok(());
        };
        let (writer, number) = (change.change.writer, change.change.sequence_number);
        let presented = change.change.presented.as_deref().copied().unwrap_or_default();
        let GroupPlace { number: group_number, named, set } = GroupPlace::of(presented, group.coherent);
        let follows_on = self.follows_on(number);
        // A reader that began within a set has missed a part of it.
        let has_beginning = number == SequenceNumber::FIRST || group.has_all_before(named);
        // The first change of the writer may be in the middle of a set.
        let begins_well = follows_on || (self.next.is_none() && has_beginning);
        let continues = self.is_open(set);
        let is_plain = set.is_none() && !presented.is_end && !is_blank(&change, presented);
        if is_plain && !delivery.history.withhold(1, payload_len(&change), BYTES_MAX) {
            return delivery.reject(RejectedChange { reason: RejectReason::Samples, received: change }, tried);
        }
        if !continues {
            let ends_open_set = named.is_some() && self.is_open(named);
            self.close_group_set(writer, follows_on, group_number, delivery);
            if let (Some(set), true, false) = (named, presented.is_end, ends_open_set) {
                // The writer ends a set to which it contributed nothing.
                let end = group_number.unwrap_or(set);
                let item = GroupItem::SetEnded { set, end, changes: Vec::new(), is_whole: begins_well };
                delivery.events.push_group(writer, item);
            }
        }
        match set {
            Some(set) => {
                if !continues {
                    // The gate must know of the open set before its end arrives.
                    delivery.events.push_group(writer, GroupItem::SetBegun { set });
                }
                let is_whole =
                    if continues { follows_on } else { begins_well || self.has_filtered_beginning(presented, number) };
                self.add_to_set(set, is_whole, change, delivery);
            }
            None if presented.is_end => delivery.tally.count_irrelevant(1),
            None if is_plain => {
                delivery.events.push_group(writer, GroupItem::Change { number: group_number, change });
            }
            None => {}
        }
        // A change in a set or in the gate shows the progress of the writer by itself.
        if let (Some(reached), None, false) = (group_number, set, is_plain) {
            delivery.events.push_group(writer, GroupItem::Reached(reached));
        }
        self.advance_past(number);
        Ok(())
    }

    /// Whether the writer filtered all changes of the set before `number` for this reader.
    fn has_filtered_beginning(&self, presented: PresentationInfo, number: SequenceNumber) -> bool {
        match presented.set {
            Some(first) if first <= number => self.is_filtered(first, number),
            _ => false,
        }
    }

    /// The open set of the writer ended before the change with group sequence number `end`.
    fn close_group_set(
        &mut self,
        writer: Guid,
        follows_on: bool,
        end: Option<SequenceNumber>,
        delivery: &mut ChangeDelivery<'_>,
    ) {
        let Some(mut open) = self.open.take() else { return };
        if !follows_on && !open.is_broken {
            open.break_up(writer, delivery);
        }
        let item = GroupItem::SetEnded {
            set: open.name,
            end: end.unwrap_or(open.name),
            changes: open.changes,
            is_whole: !open.is_broken,
        };
        delivery.events.push_group(writer, item);
    }
}
