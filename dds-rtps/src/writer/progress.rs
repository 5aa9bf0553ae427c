//! How far the readers are, and what need not be kept for them any more.

use super::local_reader::LocalReader;
use super::stateful::StatefulWriter;
use crate::qos::Durability;
use crate::types::{Now, SequenceNumber};

impl StatefulWriter {
    /// Whether every matched reliable reader has everything up to `sequence_number`.
    #[must_use]
    pub fn is_acknowledged(&self, sequence_number: SequenceNumber) -> bool {
        sequence_number <= self.acknowledged()
    }

    /// Up to where every matched reliable reader has everything, but for those that are not waited for
    /// ([`SlowReader::Demote`](super::SlowReader::Demote)). Without such readers, up to the newest change.
    #[must_use]
    pub fn acknowledged(&self) -> SequenceNumber {
        let awaited = self.locals.iter().filter(|local| local.reliable && !local.standing.is_demoted());
        let local = awaited.map(|local| self.acknowledged_by(local)).min().unwrap_or(SequenceNumber::MAX);
        self.remote_acknowledged.min(local).min(self.last)
    }

    /// Up to where a reader of this process has everything that there is. What it has not been handed yet, or has refused, and
    /// what has expired or been forgotten since, it will never be handed and cannot acknowledge.
    fn acknowledged_by(&self, local: &LocalReader) -> SequenceNumber {
        let acknowledged = local.acknowledged();
        let is_whole = self.counters.expired == 0 && !self.history.has_forgotten();
        if is_whole || acknowledged >= self.last {
            return acknowledged;
        }
        let waiting = self.history.iter_from(acknowledged.next()).next();
        waiting.map_or(self.last, |stored| stored.change.sequence_number.previous())
    }

    /// Up to where every matched reliable reader has everything, also those that are not waited for; `acknowledged` is what
    /// [`Self::acknowledged`] says.
    pub(super) fn received(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        if !self.slow_readers.any() {
            return acknowledged;
        }
        let reliable = self.locals.iter().filter(|local| local.reliable);
        let local = reliable.map(|local| self.acknowledged_by(local)).min().unwrap_or(SequenceNumber::MAX);
        self.remote_received.min(local).min(acknowledged)
    }

    /// The first number that readers can still be sent, of those that have been sent once.
    pub(super) fn first_available(&self) -> SequenceNumber {
        let kept = self.history.first().unwrap_or(self.last.next());
        // The newest change stays for a while though nobody needs it.
        let needed = match self.config.durability {
            Durability::Volatile => self.finished_up_to(self.received(self.acknowledged())).next(),
            _ => SequenceNumber::FIRST,
        };
        kept.max(needed).min(self.next)
    }

    /// Whether a reliable reader of another process has something to acknowledge, or has never said anything.
    pub(super) fn expects_answer(&self) -> bool {
        self.unheard > 0 || self.remote_received < self.next.previous()
    }

    /// A reader has answered: takes in what that changes for all.
    pub(super) fn answered(&mut self, now: Now) {
        self.note_progress_of_all();
        self.heartbeat.note_answer(now.instant, self.expects_answer());
        self.settle(now);
    }

    /// Drops what nobody needs any more. The newest change stays: whoever wrote it may be about to look at it.
    pub(super) fn retire(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        // The change that was held back from being replaced is not needed any more.
        self.history.release_up_to(finished);
        self.history.retire(finished.min(self.last.previous()));
    }

    /// Drops what nobody needs any more, the newest change as well: a reader that comes now does not hear of instances that
    /// are over.
    pub(super) fn forget_finished(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        self.history.retire(finished);
    }

    /// Whether the oldest change is one that somebody has still to acknowledge, so that a full history stays full.
    pub(super) fn history_is_stuck(&self) -> bool {
        self.history.first().is_some_and(|first| first > self.acknowledged())
            && self.history.len() >= self.config.limits.capacity(self.config.keyed)
    }

    /// Up to where changes have been sent and acknowledged.
    pub(super) fn finished_up_to(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        acknowledged.min(self.next.previous())
    }

    /// Takes in how far the reliable readers of other processes are.
    pub(super) fn note_progress_of_all(&mut self) {
        (self.remote_acknowledged, self.remote_received) = (SequenceNumber::MAX, SequenceNumber::MAX);
        for proxy in self.proxies.iter().filter(|proxy| proxy.reliable) {
            self.remote_received = self.remote_received.min(proxy.acknowledged);
            if !proxy.standing.is_demoted() {
                self.remote_acknowledged = self.remote_acknowledged.min(proxy.acknowledged);
            }
        }
    }
}
