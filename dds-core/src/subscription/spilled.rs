//! Changes that the inbox of an occupied reader had no room for.
//!
//! In: mail that was dropped beside the reader's cell, and the visits of the reader. Out: rows of the ledger of losses.
//! Owned: runs of sequence numbers, until the reader has processed the changes before them.
//!
//! Bound: [`RUNS_MAX`] runs, which the reader settles in its next visit. Changes dropped beyond them count as never
//! arrived.

use crate::actor::{Signals, Spill};
use crate::subscription::ReaderMail;
use crate::sync::{Lock, LockGuard, Process};
use dds_rtps::reader::StatefulReader;
use dds_rtps::types::{Guid, SequenceNumber};
use dds_rtps::wire::{Message, Submessage};

/// Maximum number of runs: one for each writer and each time that the reader was occupied.
const RUNS_MAX: usize = 64;

/// [`SpilledChanges`] has changes to settle.
pub(super) const CHANGES_SPILLED: Signals = Signals::own(3);

/// Dropped changes of one writer with consecutive sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpilledRun {
    writer: Guid,
    first: SequenceNumber,
    last: SequenceNumber,
}

/// Dropped changes of a reader.
#[derive(Debug)]
pub(crate) struct SpilledChanges {
    runs: Lock<Vec<SpilledRun>>,
    process: Process,
}

impl SpilledChanges {
    pub(super) fn new() -> Self {
        Self { runs: Lock::new(Vec::new()), process: Process::current() }
    }

    /// Locks the runs. `None` in a forked child if a thread of the parent process held the lock.
    fn runs(&self) -> Option<LockGuard<'_, Vec<SpilledRun>>> {
        match self.runs.try_lock() {
            None if self.process.is_left() => None,
            None => Some(self.runs.lock()),
            runs => runs,
        }
    }

    fn add(&self, writer: Guid, number: SequenceNumber) {
        let Some(mut runs) = self.runs() else { return };
        let is_full = runs.len() >= RUNS_MAX;
        // The newest run of a writer is the last one.
        match runs.iter_mut().rev().find(|run| run.writer == writer) {
            // The change arrived twice.
            Some(run) if (run.first..=run.last).contains(&number) => {}
            Some(run) if run.last.next() == number => run.last = number,
            _ if !is_full => runs.push(SpilledRun { writer, first: number, last: number }),
            _ => {}
        }
        debug_assert!(runs.len() <= RUNS_MAX, "the runs are bounded");
    }
}

impl SpilledChanges {
    /// Moves dropped changes to the ledger, as far as the reader has processed the changes before them.
    pub(super) fn settle(&self, rtps: &mut StatefulReader) {
        let Some(mut runs) = self.runs() else { return };
        runs.retain_mut(|run| match rtps.note_overflow(run.writer, run.first, run.last) {
            // The reader has not processed the changes before these yet. A later visit settles them.
            Some(rest) => {
                run.first = rest;
                true
            }
            None => false,
        });
    }
}

impl Spill<ReaderMail> for SpilledChanges {
    fn note(&self, mail: &ReaderMail) -> Signals {
        match mail {
            ReaderMail::Local { change, .. } => self.add(change.writer, change.sequence_number),
            ReaderMail::Packet { packet, run } => {
                let Ok(message) = Message::parse(packet.bytes()) else {
                    debug_assert!(false, "a datagram is parsed before it becomes mail");
                    return Signals::default();
                };
                run.walk(&message, |source, submessage| {
                    if let Submessage::Data(data) = submessage {
                        self.add(source.writer, data.writer_sn);
                    }
                });
            }
            // One fragment does not tell whether its sample would have become complete.
            ReaderMail::InPlace { .. } => return Signals::default(),
        }
        CHANGES_SPILLED
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use dds_rtps::types::{EntityId, GuidPrefix};

    #[test]
    fn number_of_spilled_runs_is_bounded() {
        let spilled = SpilledChanges::new();
        let writer = |number: usize| Guid::new(GuidPrefix([number as u8; 12]), EntityId([0, 0, 1, 3]));
        for (number, twice) in [(1, false), (2, false), (3, true)] {
            spilled.add(writer(0), SequenceNumber(number));
            if twice {
                spilled.add(writer(0), SequenceNumber(number));
            }
        }
        for number in 1..RUNS_MAX + 10 {
            spilled.add(writer(number), SequenceNumber(7));
        }
        spilled.add(writer(0), SequenceNumber(4));
        let runs = spilled.runs().unwrap();
        assert_eq!(runs.len(), RUNS_MAX);
        assert_eq!(runs[0], SpilledRun { writer: writer(0), first: SequenceNumber(1), last: SequenceNumber(4) });
    }
}
