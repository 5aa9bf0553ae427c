//! Matched writers of a reader, their liveliness and their history.

use crate::actor::{Effects, Ticket};
use crate::delivery::{LocalBegin, LocalPath, LocalTerms};
use crate::subscription::reader_actor::ReaderActor;
use dds_rtps::reader::WriterProxyConfig;
use dds_rtps::types::{Guid, Instant, Now, SequenceNumber};
use std::sync::Arc;
use std::task::Waker;

/// Matched local writer.
pub(super) struct LocalWriter {
    guid: Guid,
    path: Arc<LocalPath>,
    /// Last change that it had written before the match.
    history_end: SequenceNumber,
    /// Time at which all of its history has expired that this reader has not received.
    history_expires: Option<Instant>,
}

impl LocalWriter {
    /// Notifies the writer, if it waits, that the inbox has room.
    pub(super) fn note_progress(&self, effects: &mut Effects) {
        self.path.progressed(effects);
    }
}

impl ReaderActor {
    pub(crate) fn match_remote(&mut self, writer: WriterProxyConfig, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        let guid = writer.guid;
        if let Some(membership) = &self.membership {
            // Before the match, so that the gate knows the writer of each change.
            membership.match_remote(self.rtps.guid().entity_id, &writer, self.rtps.is_reliable());
        }
        if self.rtps.match_writer(now, writer) {
            self.note_match(guid, effects);
        }
        self.follow_up(now, effects);
    }

    /// Reports a match, or keeps it back until the writer knows this reader.
    fn note_match(&mut self, writer: Guid, effects: &mut Effects) {
        if !self.rtps.awaits_writers() || self.rtps.is_known_to(writer) {
            self.endpoint.note_match(writer, true, effects);
        } else if !self.unaware.contains(&writer) {
            // Bound: the writers of a reader.
            self.unaware.push(writer);
        }
    }

    /// Reports the matches of writers that know this reader by now.
    pub(super) fn report_aware_writers(&mut self, effects: &mut Effects) {
        let Self { rtps, unaware, endpoint, .. } = self;
        unaware.retain(|writer| {
            let is_aware = rtps.is_known_to(*writer);
            if is_aware {
                endpoint.note_match(*writer, true, effects);
            }
            !is_aware
        });
    }

    /// Matches a local writer, which delivers from `begin` on.
    pub(crate) fn match_local(&mut self, guid: Guid, begin: LocalBegin, path: Arc<LocalPath>, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        let mut writer = local_proxy(guid, begin.terms);
        writer.reliable = begin.reliable;
        // A best-effort reader reports no progress.
        let link = if begin.reliable { Some(Arc::clone(&path.link)) } else { None };
        self.rtps.match_local_writer(now, writer, begin.first, link);
        if let (Some(membership), Some((clock, reached))) = (&self.membership, &begin.presented) {
            self.rtps.start_group_after(guid, *reached);
            membership.match_local(clock, (guid, self.rtps.guid().entity_id), begin.reliable, *reached);
        }
        let LocalBegin { history_end, history_expires, .. } = begin;
        self.local_writers.push(LocalWriter { guid, path, history_end, history_expires });
        self.endpoint.note_match(guid, true, effects);
        // The writer may have lost its liveliness before the match.
        self.follow_local_writers(now, true);
        self.follow_up(now, effects);
    }

    /// Updates the policies of a local writer that matches already.
    pub(crate) fn set_terms_of(&mut self, writer: Guid, terms: LocalTerms, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        if self.local_writer(writer).is_some() {
            self.rtps.match_writer(now, local_proxy(writer, terms));
        }
    }

    fn local_writer(&self, guid: Guid) -> Option<&LocalWriter> {
        // A scan: a reader has few writers in its own process.
        self.local_writers.iter().find(|known| known.guid == guid)
    }

    pub(crate) fn unmatch(&mut self, writer: Guid, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        // The proxy knows which sequence numbers are lost, so this comes before its removal.
        self.spilled.settle(&mut self.rtps);
        self.rtps.unmatch_writer(now, writer);
        // Its last changes enter the gate before the writer leaves it.
        self.pass_gate(now, effects);
        if let Some(membership) = &self.membership {
            membership.unmatch(writer, self.rtps.guid().entity_id);
        }
        self.local_writers.retain(|known| known.guid != writer);
        self.unaware.retain(|known| *known != writer);
        self.endpoint.note_unmatch(writer, effects);
        self.follow_up(now, effects);
    }

    /// Updates the liveliness of local writers. Without `all`, only of those that are alive again.
    pub(super) fn follow_local_writers(&mut self, now: Now, all: bool) {
        for writer in &self.local_writers {
            let alive = writer.path.is_alive();
            if alive || all {
                self.rtps.set_writer_alive(now, writer.guid, alive);
            }
        }
    }

    /// Checks writers that do not count as alive, after their participants sent a message.
    pub(crate) fn recheck_lost_writers(&mut self, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        self.rtps.recheck_lost_writers(now);
        self.follow_up(now, effects);
    }

    /// Notifies a local writer whose change was refused that there is room.
    pub(super) fn note_space(&mut self, writer: Guid, effects: &mut Effects) {
        if let Some(writer) = self.local_writer(writer) {
            writer.path.call(effects);
        }
    }

    /// Wakes the waits for history if the number of writers without complete history has changed.
    pub(super) fn notify_history_waits(&mut self, effects: &mut Effects) {
        let pending = self.count_pending_histories();
        if pending != self.histories_pending {
            self.histories_pending = pending;
            self.waiting_for_history.wake_all(effects);
        }
    }

    fn count_pending_histories(&self) -> usize {
        self.endpoint.peers().iter().filter(|&&writer| !self.has_history_of(writer)).count()
    }

    /// Returns whether the reader has all of a writer's history that it will ever get. True for a writer that does not
    /// match.
    fn has_history_of(&self, writer: Guid) -> bool {
        let Some(local) = self.local_writer(writer) else { return self.rtps.has_history_of(writer) };
        if let Some(expires) = local.history_expires {
            if expires <= self.endpoint.last().instant {
                return true;
            }
        }
        match self.rtps.next_of_local(writer) {
            Some(next) => next > local.history_end,
            // The writer no longer matches, so no more of its history comes.
            None => true,
        }
    }

    /// Returns whether these writers have delivered their history, and removes those that have.
    ///
    /// Registers the waiter if a writer has not.
    pub(crate) fn wait_for_history(
        &mut self,
        writers: &mut Vec<Guid>,
        ticket: &mut Option<Ticket>,
        waker: Waker,
        effects: &mut Effects,
    ) -> bool {
        let now = self.endpoint.now(effects);
        writers.retain(|&writer| !self.has_history_of(writer));
        if writers.is_empty() {
            self.waiting_for_history.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        self.histories_pending = self.count_pending_histories();
        self.waiting_for_history.register(ticket, waker, effects);
        // Sets the timer for the next history that expires.
        self.send(now);
        false
    }

    /// Next time at which the rest of an awaited history has expired.
    pub(super) fn next_history_expiry(&self) -> Option<Instant> {
        if self.waiting_for_history.is_empty() {
            return None;
        }
        let mut next = None;
        for local in &self.local_writers {
            if let Some(expires) = local.history_expires {
                // The wait that a passed expiry ends has seen it already.
                if expires > self.endpoint.last().instant {
                    next = Some(next.map_or(expires, |next: Instant| next.min(expires)));
                }
            }
        }
        next
    }
}

/// Writer proxy of a local writer.
fn local_proxy(writer: Guid, terms: LocalTerms) -> WriterProxyConfig {
    let LocalTerms { lifespan, ownership_strength } = terms;
    WriterProxyConfig { lifespan, ownership_strength, ..WriterProxyConfig::new(writer) }
}
