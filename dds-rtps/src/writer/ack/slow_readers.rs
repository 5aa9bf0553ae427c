//! Slow readers ([`SlowReader`]): for which reliable readers the writer stops waiting, and when it waits again.
//!
//! A write that finds room does not use this module. Neither does a writer that waits for all of its readers.

use crate::types::{Guid, Instant, SequenceNumber, earliest};
#[cfg(doc)]
use crate::writer::SlowReader;
use crate::writer::config::{StatefulWriterEvent, WriterCounters};
use crate::writer::readers::ReaderTable;
use std::collections::VecDeque;

/// Whether the writer waits for a reliable reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    /// The writer waits for the reader.
    #[default]
    Awaited,
    /// The writer waits for the reader, which blocked it. It must acknowledge all changes up to `up_to` by `until`.
    Late { up_to: SequenceNumber, until: Instant },
    /// The writer does not wait for the reader.
    ///
    /// It waits again when the reader has all changes up to `up_to`, and no change was given up since.
    Demoted { up_to: SequenceNumber, given_up: u64 },
}

impl Standing {
    pub(crate) fn is_demoted(self) -> bool {
        matches!(self, Self::Demoted { .. })
    }

    /// Notes that the reader blocks the writer. It has all changes up to `acknowledged`.
    pub(crate) fn note_blocking(&mut self, acknowledged: SequenceNumber, last: SequenceNumber, until: Instant) {
        let is_new = match *self {
            Self::Awaited => true,
            Self::Late { up_to, .. } => up_to <= acknowledged,
            // A reader that missed an older target keeps its time limit. Otherwise each write would extend it.
            Self::Demoted { .. } => false,
        };
        if is_new {
            *self = Self::Late { up_to: last, until };
        }
    }

    /// Updates the standing at the time `now`.
    fn review(&mut self, acknowledged: SequenceNumber, now: Instant, last: SequenceNumber, given_up: u64) {
        *self = match *self {
            // Progress comes before the time limit: a reader that just made it stays awaited.
            Self::Late { up_to, .. } if up_to <= acknowledged => Self::Awaited,
            Self::Late { until, .. } if until <= now => Self::Demoted { up_to: last, given_up },
            Self::Demoted { up_to, given_up: before } if up_to <= acknowledged => {
                // Changes that were given up count as acknowledged, so this proves no recovery.
                if before == given_up { Self::Awaited } else { Self::Demoted { up_to: last, given_up } }
            }
            unchanged => unchanged,
        }
    }
}

/// State of all slow readers of a writer.
#[derive(Debug, Default)]
pub(crate) struct SlowReaders {
    /// Number of demoted readers.
    demoted: usize,
    /// Earliest time by which a late reader must have caught up.
    deadline: Option<Instant>,
    /// Events not polled yet. Bound: two for each reader, because the caller polls after each input.
    events: VecDeque<StatefulWriterEvent>,
}

impl SlowReaders {
    /// Returns whether there is a demoted reader.
    pub(crate) fn any(&self) -> bool {
        self.demoted > 0
    }

    /// Returns when to call [`Self::review`].
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn poll_event(&mut self) -> Option<StatefulWriterEvent> {
        self.events.pop_front()
    }

    /// Demotes late readers whose time is over, and restores demoted readers that have caught up.
    ///
    /// `last` is the newest change.
    pub(crate) fn review(
        &mut self,
        now: Instant,
        last: SequenceNumber,
        readers: &mut ReaderTable,
        counters: &mut WriterCounters,
    ) {
        // Counted again, because a demoted reader may have left since.
        self.demoted = 0;
        self.deadline = None;
        for reader in reliable_readers(readers) {
            let was_demoted = reader.standing.is_demoted();
            reader.standing.review(reader.acknowledged, now, last, counters.given_up);
            if let Standing::Late { until, .. } = *reader.standing {
                self.deadline = earliest(self.deadline, Some(until));
            }
            let is_demoted = reader.standing.is_demoted();
            self.demoted += usize::from(is_demoted);
            // The application learns of each change of the standing once, in the order of the readers.
            if is_demoted && !was_demoted {
                counters.readers_demoted += 1;
                let behind = samples_between(reader.acknowledged, last);
                self.events.push_back(StatefulWriterEvent::ReaderDemoted { reader: reader.guid, behind });
            }
            if was_demoted && !is_demoted {
                self.events.push_back(StatefulWriterEvent::ReaderRestored { reader: reader.guid });
            }
        }
    }
}

/// A reliable local or remote reader.
pub(crate) struct ReliableReader<'a> {
    pub(crate) guid: Guid,
    pub(crate) acknowledged: SequenceNumber,
    pub(crate) standing: &'a mut Standing,
}

/// Returns the reliable readers, remote ones first.
pub(crate) fn reliable_readers(readers: &mut ReaderTable) -> impl Iterator<Item = ReliableReader<'_>> {
    let remote = readers.proxies.iter_mut().filter(|proxy| proxy.reliable).map(|proxy| ReliableReader {
        guid: proxy.config.guid,
        acknowledged: proxy.acknowledged,
        standing: &mut proxy.standing,
    });
    let local = readers.locals.iter_mut().filter(|local| local.reliable).map(|local| ReliableReader {
        guid: local.guid,
        acknowledged: local.acknowledged(),
        standing: &mut local.standing,
    });
    remote.chain(local)
}

/// Returns the number of changes from `acknowledged` to `last`.
pub(crate) fn samples_between(acknowledged: SequenceNumber, last: SequenceNumber) -> u64 {
    u64::try_from(last.0.saturating_sub(acknowledged.0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn late_reader_is_demoted_when_its_time_is_over() {
        let mut standing = Standing::default();
        standing.note_blocking(SequenceNumber(2), SequenceNumber(9), at(100));
        // A later write does not extend the time.
        standing.note_blocking(SequenceNumber(3), SequenceNumber(12), at(200));
        standing.review(SequenceNumber(3), at(99), SequenceNumber(12), 0);
        assert!(!standing.is_demoted());
        standing.review(SequenceNumber(3), at(100), SequenceNumber(12), 0);
        assert!(standing.is_demoted());
    }

    #[test]
    fn demoted_reader_is_restored_without_given_up_changes() {
        let mut standing = Standing::Demoted { up_to: SequenceNumber(5), given_up: 1 };
        standing.review(SequenceNumber(5), at(0), SequenceNumber(8), 3);
        assert_eq!(standing, Standing::Demoted { up_to: SequenceNumber(8), given_up: 3 });
        standing.review(SequenceNumber(8), at(0), SequenceNumber(9), 3);
        assert_eq!(standing, Standing::Awaited);
    }
}
