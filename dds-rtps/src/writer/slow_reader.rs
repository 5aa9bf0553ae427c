//! Slow readers ([`SlowReader`]): for which reliable readers the writer stops waiting, and when it waits again.
//!
//! A write that finds room does not use this module. Neither does a writer that waits for all of its readers.

use super::config::{ReaderLag, SlowReader, WriterEvent};
use super::local_reader::LocalReader;
use super::reader_proxy::ReaderProxy;
use super::stateful::StatefulWriter;
use crate::history::HistoryFull;
use crate::types::{Duration, Guid, InstanceHandle, Instant, Now, SequenceNumber};
use std::collections::VecDeque;

/// Whether the writer waits for a reliable reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Standing {
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
    pub(super) fn is_demoted(self) -> bool {
        matches!(self, Self::Demoted { .. })
    }

    /// Notes that the reader blocks the writer. It has all changes up to `acknowledged`.
    fn hold_up(&mut self, acknowledged: SequenceNumber, last: SequenceNumber, until: Instant) {
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
pub(super) struct SlowReaders {
    /// Number of demoted readers.
    demoted: usize,
    /// Earliest time by which a late reader must have caught up.
    deadline: Option<Instant>,
    /// Events not polled yet. Bound: two for each reader, because the caller polls after each input.
    events: VecDeque<WriterEvent>,
}

impl SlowReaders {
    /// Returns whether there is a demoted reader.
    pub(super) fn any(&self) -> bool {
        self.demoted > 0
    }

    /// Returns when to call [`StatefulWriter::review_slow_readers`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(super) fn poll_event(&mut self) -> Option<WriterEvent> {
        self.events.pop_front()
    }
}

/// A reliable local or remote reader.
struct Reliable<'a> {
    guid: Guid,
    acknowledged: SequenceNumber,
    standing: &'a mut Standing,
}

fn reliable<'a>(
    proxies: &'a mut [ReaderProxy],
    locals: &'a mut [LocalReader],
) -> impl Iterator<Item = Reliable<'a>> + 'a {
    let proxies = proxies.iter_mut().filter(|proxy| proxy.reliable);
    let proxies = proxies.map(|proxy| Reliable {
        guid: proxy.config.guid,
        acknowledged: proxy.acknowledged,
        standing: &mut proxy.standing,
    });
    let locals = locals.iter_mut().filter(|local| local.reliable);
    let locals = locals.map(|local| Reliable {
        guid: local.guid,
        acknowledged: local.acknowledged(),
        standing: &mut local.standing,
    });
    proxies.chain(locals)
}

impl StatefulWriter {
    /// Returns the awaited reliable reader with the largest lag; `None` if none has a lag.
    #[must_use]
    pub fn slowest_reader(&self) -> Option<ReaderLag> {
        self.lags(false).max_by_key(|lag| lag.samples)
    }

    /// Returns the lags of the demoted readers ([`SlowReader::Demote`]).
    pub fn demoted_readers(&self) -> impl Iterator<Item = ReaderLag> + '_ {
        self.lags(true)
    }

    fn lags(&self, demoted: bool) -> impl Iterator<Item = ReaderLag> + '_ {
        let proxies = self.proxies.iter().filter(|proxy| proxy.reliable);
        let proxies = proxies.map(|proxy| (proxy.config.guid, proxy.acknowledged, proxy.standing));
        let locals = self.locals.iter().filter(|local| local.reliable);
        let locals = locals.map(|local| (local.guid, local.acknowledged(), local.standing));
        let chosen = proxies.chain(locals).filter(move |(_, _, standing)| standing.is_demoted() == demoted);
        let lags = chosen.map(|(reader, acknowledged, _)| ReaderLag { reader, samples: self.behind(acknowledged) });
        lags.filter(move |lag| demoted || lag.samples > 0)
    }

    fn behind(&self, acknowledged: SequenceNumber) -> u64 {
        u64::try_from(self.last.0.saturating_sub(acknowledged.0)).unwrap_or(0)
    }

    /// Makes room for a change of this instance at the expense of slow readers.
    ///
    /// It does so only if the configuration allows it. Returns up to which change the other readers have acknowledged.
    pub(super) fn make_room(
        &mut self,
        now: Now,
        instance: InstanceHandle,
        no_room: HistoryFull,
    ) -> Result<SequenceNumber, HistoryFull> {
        // Departures kept for unresponsive readers yield first.
        if self.forget_absent() && self.history.check_room(instance, self.acknowledged()).is_ok() {
            return Ok(self.acknowledged());
        }
        let SlowReader::Demote { after } = self.config.slow_reader else { return Err(no_room) };
        // Only missing acknowledgements are the fault of a reader.
        if no_room == HistoryFull::Unacknowledged {
            self.note_held_up(now, instance, after);
        }
        if !self.slow_readers.any() {
            return Err(no_room);
        }
        let acknowledged = self.acknowledged();
        if self.history.check_room(instance, acknowledged).is_err() {
            // Dropping one change would not suffice. Drop all changes that only demoted readers still need.
            let before = self.history.len();
            self.history.retire(self.finished_up_to(acknowledged));
            self.counters.given_up += before.saturating_sub(self.history.len()) as u64;
            self.history.check_room(instance, acknowledged)?;
        }
        Ok(acknowledged)
    }

    /// Notes the readers whose missing acknowledgements block a change of this instance.
    fn note_held_up(&mut self, now: Now, instance: InstanceHandle, after: Duration) {
        let Some(until) = now.instant.after(after) else { return };
        let Some(awaited) = self.history.first_blocking(instance) else { return };
        // The time limit covers all changes written so far, not only the blocking one.
        let last = self.last;
        for reader in reliable(&mut self.proxies, &mut self.locals).filter(|reader| reader.acknowledged < awaited) {
            reader.standing.hold_up(reader.acknowledged, last, until);
        }
        self.review_slow_readers(now);
    }

    /// Demotes late readers whose time is over, and restores demoted readers that have caught up.
    pub(super) fn review_slow_readers(&mut self, now: Now) {
        let (last, given_up) = (self.last, self.counters.given_up);
        let (mut demoted, mut deadline) = (0, None::<Instant>);
        for reader in reliable(&mut self.proxies, &mut self.locals) {
            let was_demoted = reader.standing.is_demoted();
            reader.standing.review(reader.acknowledged, now.instant, last, given_up);
            if let Standing::Late { until, .. } = *reader.standing {
                deadline = Some(deadline.map_or(until, |deadline| deadline.min(until)));
            }
            let is_demoted = reader.standing.is_demoted();
            demoted += usize::from(is_demoted);
            let (reader, behind) = (reader.guid, u64::try_from(last.0 - reader.acknowledged.0).unwrap_or(0));
            match (was_demoted, is_demoted) {
                (false, true) => {
                    self.counters.readers_demoted += 1;
                    self.slow_readers.events.push_back(WriterEvent::ReaderDemoted { reader, behind });
                }
                (true, false) => self.slow_readers.events.push_back(WriterEvent::ReaderRestored { reader }),
                _ => {}
            }
        }
        self.slow_readers.demoted = demoted;
        self.slow_readers.deadline = deadline;
        // A demoted reader does not count as awaited any more.
        self.count_strangers();
        self.note_progress_of_all();
    }

    /// Counts a replaced change that all awaited readers had acknowledged, but some demoted reader had not.
    pub(super) fn note_given_up(&mut self, replaced: SequenceNumber, acknowledged: SequenceNumber) {
        if self.slow_readers.any() && replaced > self.received(acknowledged) {
            self.counters.given_up += 1;
        }
    }
}
