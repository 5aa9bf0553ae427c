//! Coherent sets of one writer: the application sees no change of a set before all of it arrived (DDS 1.4, 2.2.3.6;
//! RTPS 2.5, 8.7.5).
//!
//! Changes of the writer wait here, in order, until their set ends. Then the whole set enters the history at once. A
//! set ends with a number outside of it: one without a change, or one in no set or in another set. A number that is
//! skipped within a set, or before its end, is a hole: it may have been a part of the set. A set with a hole is dropped
//! and counted. Filtered numbers are no holes.
//!
//! Zenzen DDS repairs the end of a set by a GAP of its number. So one irrelevant number of its writers, directly before
//! the first number of the next set, ends a set that is otherwise whole. Other writers may mean a change.
//!
//! Bound: one open set for each writer. The open sets of all writers together have no more samples than the history may
//! have, and no more than [`BYTES_MAX`] bytes. A set that does not fit is dropped as a whole.

use super::group_progress::GroupProgress;
use crate::concurrent::Payload;
use crate::history::{ChangeKind, PresentationInfo, ReceivedChange, SetRejection};
use crate::reader::config::ReaderConfig;
use crate::reader::delivery::ChangeDelivery;
use crate::reader::event::{LossCause, StatefulReaderEvent};
use crate::types::{Guid, Now, SequenceNumber};

/// Most payload bytes in the open sets of a reader.
///
/// As much as four of the largest samples. So writers whose sets never end do not fill the memory.
pub(super) const BYTES_MAX: usize = 256 << 20;

/// Most ranges of filtered numbers ahead that are remembered, and most single irrelevant ones.
///
/// A GAP names few, and the stream passes them soon.
const FILTERED_MAX: usize = 64;

/// Coherent sets of one writer.
#[derive(Debug, Default)]
pub(crate) struct WriterSets {
    /// `Some` under scope GROUP: progress of the writer in its group.
    pub(super) group: Option<GroupProgress>,
    /// Number after the last delivered one; `None` before the first one.
    pub(super) next: Option<SequenceNumber>,
    pub(super) open: Option<OpenSet>,
    /// Filtered numbers from `next` on, as `start .. end`.
    filtered: Vec<(SequenceNumber, SequenceNumber)>,
    /// Single irrelevant numbers from `next` on: one of them may have ended a set.
    single_gaps: Vec<SequenceNumber>,
}

/// A set that has not ended.
#[derive(Debug)]
pub(super) struct OpenSet {
    /// Sequence number of its first change; under scope GROUP the group sequence number of that change.
    pub(super) name: SequenceNumber,
    pub(super) changes: Vec<ReceivedChange>,
    bytes: usize,
    /// The set has a hole or did not fit. Further changes of the set are dropped.
    pub(super) is_broken: bool,
}

impl WriterSets {
    pub(crate) fn new(config: &ReaderConfig) -> Self {
        let group =
            if config.is_group() { Some(GroupProgress::new(config.presentation.coherent_access)) } else { None };
        Self { group, ..Self::default() }
    }

    /// Progress of the writer in its group, under scope GROUP.
    pub(crate) fn group_mut(&mut self) -> Option<&mut GroupProgress> {
        self.group.as_mut()
    }

    /// How many changes wait for the end of their set.
    pub(crate) fn waiting(&self) -> u64 {
        match &self.open {
            Some(open) => open.changes.len() as u64,
            None => 0,
        }
    }

    /// Notes that a filter rejected `start .. end`: these numbers are not holes.
    pub(crate) fn mark_filtered(&mut self, start: SequenceNumber, end: SequenceNumber) {
        let next = self.next.unwrap_or(SequenceNumber::FIRST);
        self.filtered.retain(|&(_, end)| end > next);
        // A range beyond the bound becomes a hole: its set is dropped and counted.
        if self.filtered.len() < FILTERED_MAX && end > next {
            self.filtered.push((start, end));
            self.filtered.sort_unstable();
        }
    }

    /// Notes that a GAP declares `number` irrelevant, and neither of its neighbors.
    pub(crate) fn mark_single_gap(&mut self, number: SequenceNumber) {
        let next = self.next.unwrap_or(SequenceNumber::FIRST);
        self.single_gaps.retain(|&gap| gap >= next && gap != number);
        // A number beyond the bound becomes a hole: its set is dropped and counted.
        if self.single_gaps.len() < FILTERED_MAX && number >= next {
            self.single_gaps.push(number);
        }
    }

    /// Whether `set` begins with `number`, and only the irrelevant number before it is missing.
    fn follows_end_in_gap(&self, set: Option<SequenceNumber>, number: SequenceNumber) -> bool {
        let end = number.previous();
        set == Some(number) && self.single_gaps.contains(&end) && self.follows_on(end)
    }

    /// Moves past a number.
    pub(super) fn advance_past(&mut self, number: SequenceNumber) {
        self.next = Some(number.next());
        self.filtered.retain(|&(_, end)| end > number.next());
    }

    /// Whether no number is missing before `number`.
    pub(super) fn follows_on(&self, number: SequenceNumber) -> bool {
        match self.next {
            Some(next) => next <= number && self.is_filtered(next, number),
            None => false,
        }
    }

    /// Whether a filter rejected all of `start .. end`.
    pub(super) fn is_filtered(&self, mut start: SequenceNumber, end: SequenceNumber) -> bool {
        for &(from, to) in &self.filtered {
            if from <= start {
                start = start.max(to);
            }
        }
        start >= end
    }

    /// Whether the open set has this name.
    pub(super) fn is_open(&self, name: Option<SequenceNumber>) -> bool {
        match &self.open {
            Some(open) => Some(open.name) == name,
            None => false,
        }
    }

    /// Delivers the next change of the writer: to its set, to the gate of the group, or to the history.
    ///
    /// # Errors
    ///
    /// Returns the change if it, or the set that it ends, does not fit and
    /// [`ChangeDelivery::withholds_acknowledgment`] is set.
    pub(crate) fn deliver(
        &mut self,
        now: Now,
        change: ReceivedChange,
        tried: bool,
        delivery: &mut ChangeDelivery<'_>,
    ) -> Result<(), ReceivedChange> {
        if self.group.is_some() {
            return self.deliver_to_group(change, tried, delivery);
        }
        let number = change.change.sequence_number;
        let presented = change.change.presented.as_deref().copied().unwrap_or_default();
        let follows_on = self.follows_on(number);
        // A set cannot begin after one of its changes.
        let set = match presented.set {
            Some(first) if first.is_valid() && first <= number && !presented.is_end => Some(first),
            _ => None,
        };
        // Any number outside of the open set ends it.
        let continues = self.is_open(set);
        if !continues && self.open.is_some() {
            let is_whole = follows_on || self.follows_end_in_gap(set, number);
            if !self.close_set(now, is_whole, tried, delivery) {
                return Err(change);
            }
        }
        match set {
            Some(first) => {
                let is_whole = if continues { follows_on } else { self.is_filtered(first, number) };
                self.add_to_set(first, is_whole, change, delivery);
            }
            None if presented.is_end => delivery.tally.count_irrelevant(1),
            None if is_blank(&change, presented) => {}
            None => delivery.admit(now, change, tried)?,
        }
        self.advance_past(number);
        Ok(())
    }

    /// Adds a change to the open set `name`, which begins here if none is open.
    pub(super) fn add_to_set(
        &mut self,
        name: SequenceNumber,
        is_whole: bool,
        change: ReceivedChange,
        delivery: &mut ChangeDelivery<'_>,
    ) {
        let open = self.open.get_or_insert_with(|| OpenSet { name, changes: Vec::new(), bytes: 0, is_broken: false });
        debug_assert!(open.name == name, "the caller closes another set first");
        let writer = change.change.writer;
        if !is_whole {
            open.break_up(writer, delivery);
        }
        if is_blank(&change, PresentationInfo::default()) {
            // It belongs to the set, but the application sees nothing of it.
            return;
        }
        if !open.is_broken {
            let bytes = payload_len(&change);
            // The history reserves the space, so that open sets cannot exceed its limits.
            if delivery.history.withhold(1, bytes, BYTES_MAX) {
                open.bytes += bytes;
                open.changes.push(change);
                return;
            }
            open.break_up(writer, delivery);
        }
        delivery.lost(writer, 1, LossCause::Incoherent);
    }

    /// The open set has ended. `false`: it is complete and does not fit now, but will.
    fn close_set(&mut self, now: Now, is_whole: bool, tried: bool, delivery: &mut ChangeDelivery<'_>) -> bool {
        let Some(mut open) = self.open.take() else { return true };
        // A broken set keeps no changes: they were dropped and counted before.
        let Some(writer) = open.changes.first().map(|first| first.change.writer) else { return true };
        if !is_whole || open.changes.iter().any(|change| is_expired(change, now)) {
            open.break_up(writer, delivery);
            return true;
        }
        if let Err(rejection) = delivery.history.check_set(&open.changes) {
            let SetRejection { reason, instance, is_lasting } = rejection;
            if !tried {
                delivery.counters.rejected += 1;
                delivery.events.push(StatefulReaderEvent::SampleRejected { writer, instance, reason, count: 1 });
            }
            // The set stays open. The change that ended it is retried when there is space.
            if delivery.withholds_acknowledgment && !is_lasting {
                self.open = Some(open);
                return false;
            }
            open.break_up(writer, delivery);
            return true;
        }
        delivery.history.release_withheld(open.changes.len(), open.bytes);
        for change in open.changes {
            let admitted = delivery.admit(now, change, true);
            debug_assert!(admitted.is_ok(), "the history had space for the whole set");
            if admitted.is_err() {
                delivery.lost(writer, 1, LossCause::Incoherent);
            }
        }
        true
    }

    /// Drops the open set: later numbers were given up, so no later change finds it complete.
    pub(crate) fn break_open_set(&mut self, writer: Guid, delivery: &mut ChangeDelivery<'_>) {
        if let Some(open) = &mut self.open {
            if !open.is_broken {
                open.break_up(writer, delivery);
            }
        }
    }

    /// The writer is unmatched: its open set will never end.
    pub(crate) fn close(&mut self, writer: Guid, delivery: &mut ChangeDelivery<'_>) {
        if let Some(open) = &mut self.open {
            open.break_up(writer, delivery);
        }
    }
}

impl OpenSet {
    /// Drops the received changes of the set.
    pub(super) fn break_up(&mut self, writer: Guid, delivery: &mut ChangeDelivery<'_>) {
        self.is_broken = true;
        delivery.history.release_withheld(self.changes.len(), self.bytes);
        delivery.lost(writer, self.changes.len() as u64, LossCause::Incoherent);
        (self.changes, self.bytes) = (Vec::new(), 0);
    }
}

/// Whether the application sees nothing of a change: it was filtered, or for another reader.
pub(super) fn is_blank(change: &ReceivedChange, presented: PresentationInfo) -> bool {
    !presented.is_end && change.change.kind == ChangeKind::Alive && change.change.payload.is_none()
}

pub(super) fn is_expired(change: &ReceivedChange, now: Now) -> bool {
    change.expires.is_some_and(|expires| expires <= now.instant)
}

pub(super) fn payload_len(change: &ReceivedChange) -> usize {
    change.change.payload.as_ref().map_or(0, Payload::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filtered_ranges_are_bounded() {
        let mut sets = WriterSets::default();
        let range = |number: i64| (SequenceNumber(3 * number), SequenceNumber(3 * number + 1));
        for number in 1..=FILTERED_MAX as i64 + 10 {
            let (start, end) = range(number);
            sets.mark_filtered(start, end);
        }
        assert_eq!((sets.filtered.len(), sets.filtered.last()), (FILTERED_MAX, Some(&range(FILTERED_MAX as i64))));
        // Passed ranges make space.
        sets.advance_past(range(10).0);
        assert_eq!(sets.filtered.len(), FILTERED_MAX - 10);
    }
}
