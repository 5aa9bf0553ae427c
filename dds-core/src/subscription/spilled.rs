//! What there was no room for while a reader was occupied.
//!
//! In: mail that was dropped beside the reader's cell, and in it the reader's visits. Out: rows of the loss ledger. Owned: runs of
//! numbers until the reader has come so far that it knows them to be missing.
//!
//! Bound: [`RUNS_MAX`] runs, which the reader settles with its next visit. What is dropped beyond that counts as never come.

use crate::actor::{Signals, Spill};
use crate::subscription::{ReaderActor, ReaderMail};
use crate::sync::{Lock, LockGuard, Process};
use dds_rtps::reader::Losses;
use dds_rtps::types::{Guid, SequenceNumber};
use dds_rtps::wire::{Message, Submessage};

/// How many runs of numbers are kept: one for each writer and each time that the reader was occupied.
const RUNS_MAX: usize = 64;

/// Something waits in [`Spilled`].
pub(super) const SPILLED: Signals = Signals::own(3);

/// Changes of one writer with numbers in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpilledRun {
    writer: Guid,
    first: SequenceNumber,
    last: SequenceNumber,
}

/// Which changes were dropped.
#[derive(Debug)]
pub(crate) struct Spilled {
    runs: Lock<Vec<SpilledRun>>,
    process: Process,
}

impl Spilled {
    pub(super) fn new() -> Self {
        Self { runs: Lock::new(Vec::new()), process: Process::current() }
    }

    /// The runs, as soon as nobody else has them. `None` in a forked child, if a thread that does not exist here had them.
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
        match runs.iter_mut().rev().find(|run| run.writer == writer) {
            // It came twice.
            Some(run) if (run.first..=run.last).contains(&number) => {}
            Some(run) if run.last.next() == number => run.last = number,
            _ if !is_full => runs.push(SpilledRun { writer, first: number, last: number }),
            _ => {}
        }
    }
}

impl Spill<ReaderMail> for Spilled {
    fn note(&self, mail: &ReaderMail) -> Signals {
        match mail {
            ReaderMail::Local { change, .. } => self.add(change.writer, change.sequence_number),
            ReaderMail::Packet { packet, run } => {
                // It was parsed before.
                let Ok(message) = Message::parse(packet.bytes()) else { return Signals::default() };
                run.walk(&message, |source, submessage| {
                    if let Submessage::Data(data) = submessage {
                        self.add(source.writer, data.writer_sn);
                    }
                });
            }
            // Of a sample in pieces nobody knows whether it would have been whole.
            ReaderMail::Landed { .. } => return Signals::default(),
        }
        SPILLED
    }
}

impl ReaderActor {
    /// Takes what was dropped into the ledger, as far as the reader has come.
    pub(super) fn settle_spilled(&mut self) {
        let Self { rtps, spilled, .. } = self;
        let Some(mut runs) = spilled.runs() else { return };
        runs.retain_mut(|run| match rtps.note_overflow(run.writer, run.first, run.last) {
            Some(rest) => {
                run.first = rest;
                true
            }
            None => false,
        });
    }

    pub(super) fn losses(&mut self) -> Losses {
        self.settle_spilled();
        self.rtps.losses()
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use dds_rtps::types::{EntityId, GuidPrefix};

    #[test]
    fn there_are_only_so_many_runs_of_dropped_changes() {
        let spilled = Spilled::new();
        let writer = |number: usize| Guid::new(GuidPrefix([number as u8; 12]), EntityId([0, 0, 1, 3]));
        for (number, twice) in [(1, false), (2, false), (3, true)] {
            spilled.add(writer(0), SequenceNumber(number));
            if twice {
                spilled.add(writer(0), SequenceNumber(number));
            }
        }
        (1..RUNS_MAX + 10).for_each(|number| spilled.add(writer(number), SequenceNumber(7)));
        spilled.add(writer(0), SequenceNumber(4));
        let runs = spilled.runs().unwrap();
        assert_eq!(runs.len(), RUNS_MAX);
        assert_eq!(runs[0], SpilledRun { writer: writer(0), first: SequenceNumber(1), last: SequenceNumber(4) });
    }
}
