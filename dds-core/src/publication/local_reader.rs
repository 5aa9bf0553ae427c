//! Delivery to readers of the same process.

use crate::actor::{Effects, HeldStep, Poke, PushError, note_step};
use crate::delivery::{LocalParcel, LocalPath};
use crate::publication::demoted_readers::DemotedReaders;
use crate::subscription::{ReaderActor, ReaderCell, ReaderMail, WRITER_LIVELINESS, WRITER_STARVES};
use dds_rtps::history::CacheChange;
use dds_rtps::types::{Guid, SequenceNumber};
use dds_rtps::writer::StatefulWriter;
use std::sync::Arc;

/// Maximum number of changes that one visit delivers again to a local reader that has fallen behind.
const REDELIVERED_PER_VISIT: usize = 64;

/// Maximum number of local readers served in place. Each holds the writer's cell for about 0.1 us more.
const IN_PLACE_MAX: usize = 8;

/// Matched local reader.
pub(super) struct MatchedLocalReader {
    pub(super) guid: Guid,
    pub(super) cell: Arc<ReaderCell>,
    pub(super) path: Arc<LocalPath>,
    pub(super) reliable: bool,
    /// Newest change that was delivered.
    pub(super) delivered: SequenceNumber,
    /// The reader knows the writer. It would drop earlier changes, and could not accept the changes after them.
    pub(super) begun: bool,
    /// First change to deliver again, if the reader could not accept all changes so far.
    pub(super) behind_from: Option<SequenceNumber>,
}

impl MatchedLocalReader {
    /// Delivers a change, in place if the reader's cell is free, and otherwise to its inbox.
    ///
    /// If the inbox is full, a reliable reader gets the change later. For a best-effort reader it replaces the oldest
    /// change of this writer.
    pub(super) fn deliver(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        let previous = std::mem::replace(&mut self.delivered, change.sequence_number);
        debug_assert!(previous < change.sequence_number, "changes are delivered in order");
        // Only a reliable reader reports progress to the writer.
        let path = if self.reliable { Some(&self.path) } else { None };
        let parcel = LocalParcel { change, previous, path };
        match self.cell.hand_over(effects, parcel, ReaderActor::receive_local, ReaderMail::local) {
            // A closed reader is about to be unmatched and needs no change.
            Ok(()) | Err(PushError::Closed(_)) => {}
            Err(PushError::Full(mail)) => self.push_to_full_inbox(mail, previous, effects),
        }
    }

    /// As [`MatchedLocalReader::deliver`], but always to the inbox.
    ///
    /// With many readers the writer's cell is then not held for the work of all.
    fn deliver_by_mail(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        let previous = std::mem::replace(&mut self.delivered, change.sequence_number);
        debug_assert!(previous < change.sequence_number, "changes are delivered in order");
        let path = if self.reliable { Some(&self.path) } else { None };
        match self.cell.push(ReaderMail::local(LocalParcel { change, previous, path })) {
            Ok(()) => effects.poke(Arc::clone(&self.cell) as Arc<dyn Poke>),
            Err(PushError::Closed(_)) => {}
            Err(PushError::Full(mail)) => self.push_to_full_inbox(mail, previous, effects),
        }
    }

    /// Delivers the changes that the reader could not accept before. Returns whether more can be delivered at once.
    fn redeliver(&mut self, rtps: &StatefulWriter, slow_readers: &DemotedReaders, effects: &mut Effects) -> bool {
        if let Some(from) = self.path.link.take_request() {
            // The earlier of both, or the changes between them would be skipped.
            self.behind_from = match self.behind_from {
                Some(behind) if behind < from => Some(behind),
                _ => Some(from),
            };
        }
        let Some(from) = self.behind_from.take() else { return false };
        // The first repeated change must not name a previous one that the reader has not accepted.
        self.delivered = self.delivered.min(from.previous());
        // A demoted reader counts the samples that the history no longer has as lost.
        if slow_readers.contains(self.guid) {
            let kept = match rtps.changes_from(from).next() {
                Some(change) => change.sequence_number,
                None => rtps.last_sequence_number().next(),
            };
            self.path.link.give_up_before(kept);
        }
        for (count, change) in rtps.changes_from(from).enumerate() {
            if count == REDELIVERED_PER_VISIT {
                self.behind_from = Some(change.sequence_number);
                return true;
            }
            debug_assert!(change.sequence_number >= from, "the history starts at the requested change");
            note_step(HeldStep::Redelivery);
            self.deliver_by_mail(&mut change.clone(), effects);
            // The inbox is full again. The reader asks for the rest when it has room.
            if self.behind_from.is_some() {
                break;
            }
        }
        false
    }

    /// Handles a full inbox.
    #[cold]
    fn push_to_full_inbox(&mut self, mail: ReaderMail, previous: SequenceNumber, effects: &mut Effects) {
        if self.reliable {
            // From here on the reader reports its progress. The second push uses room that appeared until now.
            self.path.set_starving();
            if self.cell.push(mail).is_err() {
                self.behind_from = Some(std::mem::replace(&mut self.delivered, previous));
                // All mail in the inbox may come from other writers, whose progress this writer does not see.
                self.cell.signal(WRITER_STARVES);
            }
        } else {
            let writer = mail.local_writer();
            let is_older = |waiting: &ReaderMail| waiting.local_writer() == writer;
            // If the inbox has no change of this writer to replace, the new one is dropped. The reader counts the gap
            // as lost.
            let _ = self.cell.push_over(mail, is_older);
        }
        effects.poke(Arc::clone(&self.cell) as Arc<dyn Poke>);
    }
}

/// Matched readers of the same process.
///
/// Bound: the application's own readers.
#[derive(Default)]
pub(super) struct LocalReaders(Vec<MatchedLocalReader>);

impl LocalReaders {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, reader: Guid) -> bool {
        self.0.iter().any(|known| known.guid == reader)
    }

    pub(super) fn add(&mut self, reader: MatchedLocalReader) {
        debug_assert!(!self.contains(reader.guid), "a reader is matched once");
        debug_assert!(!reader.begun, "a reader must know the writer before the first delivery");
        self.0.push(reader);
    }

    pub(super) fn remove(&mut self, reader: Guid) {
        self.0.retain(|known| known.guid != reader);
    }

    /// Notes that a reader knows the writer and accepts its changes.
    pub(super) fn begin(&mut self, reader: Guid) {
        for known in &mut self.0 {
            if known.guid == reader {
                known.begun = true;
            }
        }
    }

    /// Makes the readers report their progress.
    pub(super) fn request_progress(&self) {
        for reader in &self.0 {
            reader.path.set_starving();
        }
    }

    /// Returns whether no reader has fallen behind.
    #[inline]
    pub(super) fn have_caught_up(&self) -> bool {
        self.0.iter().all(|reader| reader.behind_from.is_none())
    }

    #[cold]
    pub(super) fn notify_liveliness(&self, is_alive: bool, effects: &mut Effects) {
        for reader in &self.0 {
            reader.path.set_alive(is_alive);
            reader.cell.signal(WRITER_LIVELINESS);
            effects.poke(Arc::clone(&reader.cell) as Arc<dyn Poke>);
        }
    }

    /// Delivers a change without history to all readers.
    pub(super) fn deliver_through(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        debug_assert!(self.have_caught_up(), "a change without history cannot be delivered again");
        if self.0.len() > IN_PLACE_MAX {
            // The readers work on their own threads, after this cell is released.
            for reader in &mut self.0 {
                reader.deliver_by_mail(&mut change.clone(), effects);
            }
            return;
        }
        // The last reader takes the change itself, which saves a clone for the usual single reader.
        let Some((last, others)) = self.0.split_last_mut() else { return };
        for reader in others {
            reader.deliver(&mut change.clone(), effects);
        }
        last.deliver(change, effects);
    }

    /// Delivers a new change of the history to all readers.
    ///
    /// The writer's cell is held during the delivery, so that each reader sees the order of the sequence numbers. A
    /// reader that gets the change as mail is poked after release.
    pub(super) fn deliver(&mut self, rtps: &StatefulWriter, number: SequenceNumber, effects: &mut Effects) {
        if self.0.is_empty() {
            return;
        }
        let Some(change) = rtps.change(number) else { return };
        let in_place = self.0.len() <= IN_PLACE_MAX;
        for reader in &mut self.0 {
            // A reader that has fallen behind gets this change from the history, after the earlier ones.
            if reader.behind_from.is_some() {
                continue;
            }
            let mut change = change.clone();
            if in_place {
                reader.deliver(&mut change, effects);
            } else {
                reader.deliver_by_mail(&mut change, effects);
            }
        }
    }

    /// Continues with readers that have fallen behind. Returns whether more changes can be delivered at once.
    pub(super) fn redeliver(
        &mut self,
        rtps: &StatefulWriter,
        slow_readers: &DemotedReaders,
        effects: &mut Effects,
    ) -> bool {
        let mut more = false;
        for reader in &mut self.0 {
            if reader.begun {
                more |= reader.redeliver(rtps, slow_readers, effects);
            }
        }
        more
    }
}
