//! Coherent sets of one writer: nothing of a set is seen before all of it is here (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5).
//!
//! What a writer's changes come to in their order stands here until the set that they belong to has ended, and then goes to
//! the history in one go. A set ends with a number that is none of it: one that carries no change, one that is in no set or
//! in another one. A number that is left out within a set, or on its way to its end, is a hole: what is known to be missing
//! may have been a part of it. A set with a hole is dropped as a whole and counted, for an application that asks for
//! coherent access must not see half of it. What a filter has left out is no hole.
//!
//! Bound: one open set for each writer. The open sets of all writers together have no more samples than the history may
//! have, and no more than [`BYTES_MAX`]; a set that does not fit is dropped as a whole as well.

use crate::history::{ChangeKind, PresentationInfo, ReceivedChange, SetRejection};
use crate::reader::coherent::group::WriterPart;
use crate::reader::delivery::Sink;
use crate::reader::event::{LossCause, ReaderEvent};
use crate::types::{Guid, Now, SequenceNumber};

/// How many bytes of payload may wait in the open sets of a reader. As much as the largest sample: a set of large samples has
/// to be cut smaller than a gigabyte, and whoever sends sets without an end fills no memory.
pub(crate) const BYTES_MAX: usize = 256 << 20;

/// How many runs of filtered numbers ahead are remembered. A GAP names at most some, and they are behind soon.
const EXCUSED_MAX: usize = 64;

/// The sets of one writer.
#[derive(Debug, Default)]
pub(crate) struct SetGate {
    /// Under scope GROUP: what this writer's part comes to.
    pub(crate) group: Option<WriterPart>,
    /// The number that follows on what has passed; `None`: nothing has.
    pub(crate) next: Option<SequenceNumber>,
    pub(crate) open: Option<OpenSet>,
    /// Numbers from `next` on that a filter has left out, as `start .. end`.
    excused: Vec<(SequenceNumber, SequenceNumber)>,
}

/// A set that has not ended.
#[derive(Debug)]
pub(crate) struct OpenSet {
    /// Its name: the number of its first change, under scope GROUP the group sequence number of that.
    pub(crate) name: SequenceNumber,
    pub(crate) changes: Vec<ReceivedChange>,
    bytes: usize,
    /// It has a hole, or did not fit: what else comes of it is dropped as well.
    pub(crate) broken: bool,
}

impl SetGate {
    pub(crate) fn new(group: Option<WriterPart>) -> Self {
        Self { group, ..Self::default() }
    }

    /// How many changes wait.
    pub(crate) fn held(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.changes.len() as u64)
    }

    /// A filter has left out `start .. end`: they are no holes.
    pub(crate) fn excuse(&mut self, start: SequenceNumber, end: SequenceNumber) {
        let next = self.next.unwrap_or(SequenceNumber::FIRST);
        self.excused.retain(|&(_, end)| end > next);
        if self.excused.len() < EXCUSED_MAX && end > next {
            self.excused.push((start, end));
            self.excused.sort_unstable();
        }
    }

    /// The number has passed.
    pub(crate) fn pass(&mut self, number: SequenceNumber) {
        self.next = Some(number.next());
        self.excused.retain(|&(_, end)| end > number.next());
    }

    /// Whether nothing is missing before `number`.
    pub(crate) fn follows_on(&self, number: SequenceNumber) -> bool {
        self.next.is_some_and(|next| next <= number && self.is_excused(next, number))
    }

    /// Whether a filter has left out all of `start .. end`.
    pub(crate) fn is_excused(&self, mut start: SequenceNumber, end: SequenceNumber) -> bool {
        for &(from, to) in &self.excused {
            if from <= start {
                start = start.max(to);
            }
        }
        start >= end
    }
}

impl Sink<'_> {
    /// As [`Sink::deliver`], for a reader with coherent access.
    pub(crate) fn deliver_in_sets(
        &mut self,
        now: Now,
        change: ReceivedChange,
        tried: bool,
    ) -> Result<(), ReceivedChange> {
        let Some(mut gate) = self.tally.sets.take() else { return self.admit(now, change, tried) };
        let outcome = self.pass_gate(now, &mut gate, change, tried);
        self.tally.sets = Some(gate);
        outcome
    }

    fn pass_gate(
        &mut self,
        now: Now,
        gate: &mut SetGate,
        change: ReceivedChange,
        tried: bool,
    ) -> Result<(), ReceivedChange> {
        if gate.group.is_some() {
            return self.pass_to_group(gate, change, tried);
        }
        let number = change.change.sequence_number;
        let presented = change.change.presented.as_deref().copied().unwrap_or_default();
        let follows_on = gate.follows_on(number);
        // A set that begins after one of its changes is none.
        let set = presented.set.filter(|&first| first.is_valid() && first <= number && !presented.is_end);
        let goes_on = gate.open.as_ref().is_some_and(|open| Some(open.name) == set);
        if !goes_on && gate.open.is_some() && !self.close_set(now, gate, follows_on, tried) {
            return Err(change);
        }
        match set {
            Some(first) => {
                let is_whole = if goes_on { follows_on } else { gate.is_excused(first, number) };
                self.add_to_set(gate, first, is_whole, change);
            }
            None if presented.is_end => self.tally.pass(1),
            None if is_empty(&change, presented) => {}
            None => self.admit(now, change, tried)?,
        }
        gate.pass(number);
        Ok(())
    }

    pub(crate) fn add_to_set(
        &mut self,
        gate: &mut SetGate,
        name: SequenceNumber,
        is_whole: bool,
        change: ReceivedChange,
    ) {
        let open = gate.open.get_or_insert_with(|| OpenSet { name, changes: Vec::new(), bytes: 0, broken: false });
        let writer = change.change.writer;
        if !is_whole {
            self.break_set(writer, open);
        }
        if change.change.kind == ChangeKind::Alive && change.change.payload.is_none() {
            // Filtered, or for another reader: it belongs to the set, and is nothing to see.
            return;
        }
        if !open.broken {
            let bytes = change.change.payload.as_ref().map_or(0, crate::concurrent::Payload::len);
            if self.history.withhold(1, bytes, BYTES_MAX) {
                open.bytes += bytes;
                open.changes.push(change);
                return;
            }
            self.break_set(writer, open);
        }
        self.lost(writer, 1, LossCause::Incoherent);
    }

    /// Drops what is here of a set.
    pub(crate) fn break_set(&mut self, writer: Guid, open: &mut OpenSet) {
        open.broken = true;
        self.history.release_withheld(open.changes.len(), open.bytes);
        self.lost(writer, open.changes.len() as u64, LossCause::Incoherent);
        (open.changes, open.bytes) = (Vec::new(), 0);
    }

    /// The open set has ended. `false`: it is whole and finds no room, but will.
    fn close_set(&mut self, now: Now, gate: &mut SetGate, follows_on: bool, tried: bool) -> bool {
        let Some(mut open) = gate.open.take() else { return true };
        let Some(writer) = open.changes.first().map(|first| first.change.writer) else { return true };
        let is_expired = |change: &ReceivedChange| change.expires.is_some_and(|expires| expires <= now.instant);
        if !follows_on || open.changes.iter().any(is_expired) {
            self.break_set(writer, &mut open);
            return true;
        }
        if let Err(misfit) = self.history.check_set(&open.changes) {
            let SetRejection { reason, instance, is_lasting } = misfit;
            if !tried {
                self.counters.rejected += 1;
                self.events.push(ReaderEvent::SampleRejected { writer, instance, reason, count: 1 });
            }
            if self.holds_back && !is_lasting {
                gate.open = Some(open);
                return false;
            }
            self.break_set(writer, &mut open);
            return true;
        }
        self.history.release_withheld(open.changes.len(), open.bytes);
        for change in open.changes {
            if self.admit(now, change, true).is_err() {
                // There was room for all of them.
                self.lost(writer, 1, LossCause::Incoherent);
            }
        }
        true
    }

    /// What follows on what is here was given up: the open set has a hole, or has ended unseen. No later change would find it whole.
    pub(crate) fn break_open_set(&mut self, writer: Guid) {
        let Some(mut gate) = self.tally.sets.take() else { return };
        if let Some(open) = gate.open.as_mut().filter(|open| !open.broken) {
            self.break_set(writer, open);
        }
        self.tally.sets = Some(gate);
    }

    /// The writer has gone: the set that it has not ended never will.
    pub(crate) fn abandon_set(&mut self, writer: Guid) {
        let Some(mut gate) = self.tally.sets.take() else { return };
        if let Some(open) = &mut gate.open {
            self.break_set(writer, open);
        }
    }
}

/// Whether there is nothing to see: what came was for another reader.
pub(crate) fn is_empty(change: &ReceivedChange, presented: PresentationInfo) -> bool {
    !presented.is_end && change.change.kind == ChangeKind::Alive && change.change.payload.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_runs_of_filtered_numbers_are_remembered() {
        let mut gate = SetGate::default();
        let run = |number: i64| (SequenceNumber(3 * number), SequenceNumber(3 * number + 1));
        for number in 1..=EXCUSED_MAX as i64 + 10 {
            let (start, end) = run(number);
            gate.excuse(start, end);
        }
        assert_eq!((gate.excused.len(), gate.excused.last()), (EXCUSED_MAX, Some(&run(EXCUSED_MAX as i64))));
        // What lies behind makes room.
        gate.pass(run(10).0);
        assert_eq!(gate.excused.len(), EXCUSED_MAX - 10);
    }
}
