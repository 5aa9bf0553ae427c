//! Delivery to readers of the same process.

use crate::actor::{Effects, Poke, PushError, Step, note_step};
use crate::delivery::{LocalParcel, LocalPath};
use crate::publication::writer_actor::WriterActor;
use crate::subscription::{ReaderActor, ReaderCell, ReaderMail, WRITER_STARVES};
use dds_rtps::history::CacheChange;
use dds_rtps::types::{Guid, SequenceNumber};
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
        let path = self.reliable.then_some(&self.path);
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
        let path = self.reliable.then_some(&self.path);
        match self.cell.push(ReaderMail::local(LocalParcel { change, previous, path })) {
            Ok(()) => effects.poke(Arc::clone(&self.cell) as Arc<dyn Poke>),
            Err(PushError::Closed(_)) => {}
            Err(PushError::Full(mail)) => self.push_to_full_inbox(mail, previous, effects),
        }
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

impl WriterActor {
    /// Delivers a change without history to all local readers.
    pub(super) fn deliver_through(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        debug_assert!(
            self.local_readers.iter().all(|reader| reader.behind_from.is_none()),
            "a change without history cannot be delivered again"
        );
        if self.local_readers.len() > IN_PLACE_MAX {
            for reader in &mut self.local_readers {
                reader.deliver_by_mail(&mut change.clone(), effects);
            }
            return;
        }
        let Some((last, others)) = self.local_readers.split_last_mut() else { return };
        for reader in others {
            reader.deliver(&mut change.clone(), effects);
        }
        last.deliver(change, effects);
    }

    /// Delivers a new change to all local readers.
    ///
    /// This cell is held during the delivery, so that each reader sees the order of the sequence numbers. A
    /// reader that gets the change as mail is poked after release.
    pub(super) fn deliver_locally(&mut self, number: SequenceNumber, effects: &mut Effects) {
        if self.local_readers.is_empty() {
            return;
        }
        let Some(change) = self.rtps.change(number) else { return };
        let in_place = self.local_readers.len() <= IN_PLACE_MAX;
        for reader in self.local_readers.iter_mut().filter(|reader| reader.behind_from.is_none()) {
            let mut change = change.clone();
            if in_place { reader.deliver(&mut change, effects) } else { reader.deliver_by_mail(&mut change, effects) }
        }
    }

    /// Continues with local readers that have fallen behind. Returns whether more changes can be delivered at once.
    pub(super) fn redeliver(&mut self, effects: &mut Effects) -> bool {
        let mut more = false;
        for reader in self.local_readers.iter_mut().filter(|reader| reader.begun) {
            if let Some(from) = reader.path.link.take_request() {
                reader.behind_from = Some(reader.behind_from.map_or(from, |behind| behind.min(from)));
            }
            let Some(from) = reader.behind_from.take() else { continue };
            // The first repeated change must not name a previous one that the reader has not accepted.
            reader.delivered = reader.delivered.min(from.previous());
            // A demoted reader counts the samples that the history no longer has as lost.
            if self.slow_readers.contains(reader.guid) {
                let kept = self.rtps.changes_from(from).next().map(|change| change.sequence_number);
                let kept = kept.unwrap_or(self.rtps.last_sequence_number().next());
                reader.path.link.give_up_before(kept);
            }
            for (count, change) in self.rtps.changes_from(from).enumerate() {
                if count == REDELIVERED_PER_VISIT {
                    reader.behind_from = Some(change.sequence_number);
                    more = true;
                    break;
                }
                debug_assert!(change.sequence_number >= from, "the history starts at the requested change");
                note_step(Step::Redelivery);
                reader.deliver_by_mail(&mut change.clone(), effects);
                // The inbox is full again. The reader asks for the rest when it has room.
                if reader.behind_from.is_some() {
                    break;
                }
            }
        }
        more
    }
}
