//! Which changes a reader has had that can come by more than one way: from their writer, and from services that keep them for
//! late joiners and hand them over with its name (RTPS 2.5, 9.6.4.8, PID_ORIGINAL_WRITER_INFO).
//!
//! In: names of changes, writer and number. Out: whether one was here before. Owned: per writer, the numbers that were here, as
//! runs.
//!
//! Life cycle: a row per writer, from its first change on. It outlives the writer, for that is when services speak for it.
//! Bound: [`WRITERS_MAX`] rows and [`RUNS_MAX`] runs in all, 1 MiB. Beyond it what was not looked at for the longest time goes,
//! is counted, and could be seen twice: that is better than not at all.

use super::reader::{Admission, ReaderHistory, ReceivedChange, RejectedChange};
use super::{ChangeKind, OriginalWriterInfo};
use crate::types::{Guid, Now, SequenceNumber};
use crate::wire::SampleIdentity;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// As many writers as a reader matches at a time.
const WRITERS_MAX: usize = 4096;

/// A writer whose changes come in order is one run. It takes a late joiner to a topic whose instances were updated in no order
/// to make many.
const RUNS_MAX: usize = 1 << 16;

/// Numbers `first ..= last` that were here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: SequenceNumber,
    last: SequenceNumber,
}

/// The runs of one writer, in order, with at least one number between two of them.
#[derive(Debug, Default)]
struct Row {
    runs: Vec<Run>,
    /// When it was last looked at.
    visit: u64,
}

/// The rows.
#[derive(Debug)]
pub(super) struct Origins {
    rows: HashMap<Guid, Row, FixedState>,
    /// Runs of all rows.
    runs: usize,
    visits: u64,
    runs_max: usize,
    forgotten: u64,
}

impl Default for Origins {
    fn default() -> Self {
        Self { rows: HashMap::default(), runs: 0, visits: 0, runs_max: RUNS_MAX, forgotten: 0 }
    }
}

impl Origins {
    /// Whether a change was here.
    fn contains(&self, identity: SampleIdentity) -> bool {
        let number = identity.sequence_number;
        self.rows.get(&identity.writer).is_some_and(|row| {
            let behind = row.behind(number);
            behind > 0 && row.runs[behind - 1].last >= number
        })
    }

    /// Notes that a change is here now.
    fn note(&mut self, identity: SampleIdentity) {
        self.visits += 1;
        if self.rows.len() >= WRITERS_MAX && !self.rows.contains_key(&identity.writer) {
            self.forget_row(None);
        }
        let row = self.rows.entry(identity.writer).or_default();
        row.visit = self.visits;
        let before = row.runs.len();
        row.note(identity.sequence_number);
        self.runs = self.runs + row.runs.len() - before;
        if self.runs > self.runs_max {
            match row.runs.len() {
                0 | 1 => self.forget_row(Some(identity.writer)),
                // Its lowest ones are its oldest.
                _ => {
                    row.runs.remove(0);
                    self.runs -= 1;
                    self.forgotten += 1;
                }
            }
        }
    }

    /// Forgets the writer that was not looked at for the longest time, but not `but`.
    fn forget_row(&mut self, but: Option<Guid>) {
        let others = self.rows.iter().filter(|(writer, _)| Some(**writer) != but);
        let Some(oldest) = others.min_by_key(|(_, row)| row.visit).map(|(writer, _)| *writer) else { return };
        let runs = self.rows.remove(&oldest).map_or(0, |row| row.runs.len());
        self.runs -= runs;
        self.forgotten += runs as u64;
    }
}

impl Row {
    /// How many runs begin at or before `number`.
    fn behind(&self, number: SequenceNumber) -> usize {
        match self.runs.last() {
            // Mostly changes are new.
            Some(last) if last.first <= number => self.runs.len(),
            _ => self.runs.partition_point(|run| run.first <= number),
        }
    }

    fn note(&mut self, number: SequenceNumber) {
        let at = self.behind(number);
        let next = self.runs.get(at).filter(|next| number.next() == next.first).copied();
        let previous = at.checked_sub(1).and_then(|at| self.runs.get_mut(at));
        match (previous, next) {
            (Some(previous), _) if number <= previous.last => {}
            (Some(previous), None) if previous.last.next() == number => previous.last = number,
            (Some(previous), Some(next)) if previous.last.next() == number => {
                previous.last = next.last;
                self.runs.remove(at);
            }
            (_, Some(_)) => self.runs[at].first = number,
            (_, None) => self.runs.insert(at, Run { first: number, last: number }),
        }
    }
}

impl ReaderHistory {
    /// As [`ReaderHistory::add`], of a change that may have been here before.
    pub(super) fn add_once(&mut self, now: Now, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let identity = received.change.identity();
        if self.origins.as_ref().is_some_and(|origins| origins.contains(identity)) {
            self.counters.known += 1;
            self.note_stand_in(&received);
            return Ok(Admission::Known);
        }
        let admission = self.add_anyway(now, received)?;
        let origins = self.origins.get_or_insert_default();
        origins.note(identity);
        self.counters.origins_forgotten = origins.forgotten;
        Ok(admission)
    }

    /// Whoever hands over what others have written stands in for them: as long as it is there, the instance has a writer. Said
    /// of what was here before as well, so that it makes no difference which way was the quicker one.
    fn note_stand_in(&mut self, received: &ReceivedChange) {
        let is_end = matches!(received.change.kind, ChangeKind::NotAliveUnregistered);
        if self.config.as_log || is_end || received.change.origin.is_none() {
            return;
        }
        if let Some(at) = self.instances.find(received.change.instance) {
            self.register(at, received.change.writer);
        }
    }

    /// Adds a change to a log: what it says of its instance is for others to follow.
    pub(super) fn add_to_log(&mut self, mut received: ReceivedChange) -> Result<Admission, RejectedChange> {
        if received.has_data && received.change.kind != ChangeKind::Alive {
            // A whole sample cannot be passed on as a key; the key hash says which instance ends.
            received.change.payload = None;
        }
        let (instance, writer) = (received.change.instance, received.change.writer);
        let leaves =
            matches!(received.change.kind, ChangeKind::NotAliveUnregistered | ChangeKind::NotAliveDisposedUnregistered);
        let admission = self.add_sample(received)?;
        // Without owners it is of no interest who writes what, and an instance is forgotten as it is taken.
        if self.ownership.is_none() || leaves {
            if let Some(at) = self.instances.find(instance) {
                self.unregister(at, writer);
            }
        }
        Ok(admission)
    }
}

/// What a sample shows of its writer, if another one has handed it over.
pub(super) fn shown_as(
    origin: Option<&OriginalWriterInfo>,
    writer: Guid,
    sequence_number: SequenceNumber,
) -> SampleIdentity {
    origin.map_or(SampleIdentity { writer, sequence_number }, |origin| origin.identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(writer: u8, number: i64) -> SampleIdentity {
        SampleIdentity { writer: Guid::from_bytes([writer; 16]), sequence_number: SequenceNumber(number) }
    }

    #[test]
    fn runs_are_what_a_set_of_numbers_says_in_whatever_order_they_come() {
        let mut dice = crate::types::SplitMix64::new(7);
        for _ in 0..200 {
            let mut origins = Origins::default();
            let mut model = std::collections::BTreeSet::new();
            for _ in 0..60 {
                let number = (dice.draw() % 40) as i64 + 1;
                assert_eq!(origins.contains(identity(1, number)), model.contains(&number));
                origins.note(identity(1, number));
                model.insert(number);
            }
            (0..=42).for_each(|number| assert_eq!(origins.contains(identity(1, number)), model.contains(&number)));
            let runs = model.iter().filter(|&&number| !model.contains(&(number - 1))).count();
            assert_eq!(origins.runs, runs);
        }
    }

    #[test]
    fn what_was_not_seen_for_the_longest_time_is_forgotten_and_counted() {
        let mut origins = Origins { runs_max: 4, ..Origins::default() };
        [(1, 1), (2, 1), (2, 3), (2, 5), (3, 7)].into_iter().for_each(|(writer, number)| {
            origins.note(identity(writer, number));
        });
        assert_eq!((origins.runs, origins.forgotten), (4, 1));
        assert!(!origins.contains(identity(1, 1)) && origins.contains(identity(3, 7)));
        origins.note(identity(2, 9));
        assert!(!origins.contains(identity(2, 1)) && origins.contains(identity(2, 9)), "its own lowest one");
        assert_eq!((origins.runs, origins.forgotten), (4, 2));
    }

    #[test]
    fn there_are_no_more_rows_than_writers_are_matched() {
        let mut origins = Origins::default();
        for number in 0..(WRITERS_MAX as i64 + 10) {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            let writer = Guid::from_bytes(bytes);
            origins.note(SampleIdentity { writer, sequence_number: SequenceNumber(1) });
        }
        assert_eq!((origins.rows.len(), origins.forgotten), (WRITERS_MAX, 10));
    }
}
