//! Matched readers of a writer, their messages, and its liveliness (LIVELINESS; DDS 1.4, 2.2.3.11).

use crate::actor::{Effects, Poke};
use crate::context::WRITER_IS_ALIVE;
use crate::delivery::{LocalBegin, LocalDemands, LocalPath};
use crate::publication::audience::WriterPeers;
use crate::publication::local_reader::MatchedLocalReader;
use crate::publication::writer_actor::WriterActor;
use crate::subscription::ReaderCell;
use dds_rtps::types::Guid;
use dds_rtps::wire::{AckNack, NackFrag};
use dds_rtps::writer::{Asker, ReaderProxyConfig};
use std::sync::Arc;

impl WriterActor {
    /// Matches a remote reader. `is_unaware` means that the remote participant has not yet acknowledged the writer.
    pub(crate) fn match_remote(&mut self, reader: ReaderProxyConfig, is_unaware: bool, effects: &mut Effects) {
        let guid = reader.guid;
        if !self.audience.admits(guid.prefix) {
            return;
        }
        let now = self.endpoint.read_clock(effects);
        // The protocol may refuse a proxy for the reader. Then the reader does not count as matched, and no caller
        // waits for it.
        if self.rtps.match_reader(now, reader) {
            self.reachable.add(guid, is_unaware);
            self.note_match(guid, effects);
        }
        self.follow_up_and_come_back(now, effects);
    }

    /// Sets the remote participants whose readers match. Ends the matches with the others.
    pub(crate) fn set_audience(&mut self, audience: WriterPeers, effects: &mut Effects) {
        self.audience = audience;
        let is_excluded =
            |reader: &&Guid| !self.local_readers.contains(**reader) && !self.audience.admits(reader.prefix);
        let excluded: Vec<Guid> = self.endpoint.peers().iter().filter(is_excluded).copied().collect();
        for reader in excluded {
            self.unmatch(reader, false, effects);
        }
    }

    /// Matches a remote reader of the audience, unless it matches already.
    pub(crate) fn admit(&mut self, reader: ReaderProxyConfig, is_unaware: bool, effects: &mut Effects) {
        if !self.endpoint.peers().contains(&reader.guid) {
            self.match_remote(reader, is_unaware, effects);
        }
    }

    /// Matches a local reader. Returns the terms that the reader must know before the first delivery.
    ///
    /// Returns `None` if the reader is matched already.
    pub(crate) fn match_local(
        &mut self,
        guid: Guid,
        cell: Arc<ReaderCell>,
        path: Arc<LocalPath>,
        demands: LocalDemands,
        effects: &mut Effects,
    ) -> Option<LocalBegin> {
        if self.local_readers.contains(guid) {
            return None;
        }
        let now = self.endpoint.read_clock(effects);
        let LocalDemands { reliable, wants_history } = demands;
        // The weaker of the two decides, as between hosts.
        let reliable = reliable && self.rtps.is_reliable();
        let first = self.rtps.match_local(now, Arc::clone(&path.link), guid, reliable, wants_history);
        path.set_alive(self.alive);
        self.local_readers.add(MatchedLocalReader {
            guid,
            cell,
            path,
            reliable,
            delivered: first.previous(),
            // The reader does not know the writer yet, and would drop its changes.
            begun: false,
            behind_from: Some(first),
        });
        self.note_match(guid, effects);
        self.follow_up_and_come_back(now, effects);
        // Changes written after this point do not belong to the history.
        let history_end = match self.rtps.newest_kept() {
            Some(newest) => newest.max(first.previous()),
            None => first.previous(),
        };
        let history_expires = self.rtps.history_expires(first);
        let presented = self.rtps.presented_before(first);
        Some(LocalBegin { first, history_end, history_expires, reliable, terms: self.terms, presented })
    }

    /// Starts delivery to a local reader that knows the writer now. It gets its share of the history, and then each new
    /// change.
    pub(crate) fn begin_delivery(&mut self, reader: Guid, effects: &mut Effects) {
        self.local_readers.begin(reader);
        self.redeliver(effects);
    }

    /// Continues with local readers that have fallen behind.
    pub(super) fn redeliver(&mut self, effects: &mut Effects) {
        if self.local_readers.redeliver(&self.rtps, &self.slow_readers, effects) {
            self.endpoint.outgoing.come_back();
        }
    }

    fn note_match(&mut self, reader: Guid, effects: &mut Effects) {
        // An unreachable reader counts once its participant has acknowledged the writer.
        self.endpoint.note_match(reader, self.reachable.contains(reader), effects);
    }

    /// Notes that the participant of the reader knows the writer.
    pub(crate) fn note_known_to(&mut self, reader: Guid, effects: &mut Effects) {
        self.reachable.remove(reader);
        self.endpoint.waiting_for_match.wake_all(effects);
    }

    /// Ends the match with a reader. `may_return` means that the reader may return, because it was not disposed.
    pub(crate) fn unmatch(&mut self, reader: Guid, may_return: bool, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        if may_return {
            self.rtps.lose_reader(now, reader);
        } else {
            self.rtps.unmatch_reader(now, reader);
        }
        self.local_readers.remove(reader);
        // The reader no longer holds back acknowledgments or room, so all waiters below check again.
        self.reachable.remove(reader);
        self.note_not_demoted(reader, effects);
        self.endpoint.note_unmatch(reader, effects);
        self.waiting_for_acknowledgment.wake_all(effects);
        self.waiting_for_room.wake_one(effects);
        self.follow_up_and_come_back(now, effects);
    }

    pub(crate) fn receive_ack_nack(&mut self, asker: Asker, message: &AckNack, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.rtps.handle_acknack(now, asker, message);
        self.follow_up_and_come_back(now, effects);
    }

    pub(crate) fn receive_nack_frag(&mut self, asker: Asker, message: &NackFrag, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.rtps.handle_nack_frag(now, asker, message);
        self.follow_up_and_come_back(now, effects);
    }

    /// Asserts liveliness for the application.
    pub(crate) fn assert_liveliness(&mut self, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.rtps.assert_liveliness(now);
        self.follow_liveliness(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Checks the liveliness again after the participant has asserted its own.
    pub(crate) fn recheck_liveliness(&mut self, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.rtps.look_at_liveliness(now);
        self.follow_liveliness(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Notifies local readers and the participant if the liveliness has changed.
    #[inline]
    pub(super) fn follow_liveliness(&mut self, effects: &mut Effects) {
        if self.rtps.is_alive() != self.alive {
            self.alive = self.rtps.is_alive();
            self.local_readers.notify_liveliness(self.alive, effects);
        }
        if self.rtps.take_call() {
            self.signal_participant(effects);
        }
    }

    #[cold]
    fn signal_participant(&mut self, effects: &mut Effects) {
        if let Some(participant) = self.participant.upgrade() {
            participant.signal(WRITER_IS_ALIVE);
            effects.poke(participant as Arc<dyn Poke>);
        }
    }
}
