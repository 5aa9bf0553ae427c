//! What a writer knows of one reader of its own process, and how it hands changes over.

use crate::actor::{Effects, Poke, PushError, Step, note_step};
use crate::delivery::{LocalParcel, LocalPath};
use crate::publication::writer_actor::WriterActor;
use crate::subscription::{ReaderActor, ReaderCell, ReaderMail, WRITER_STARVES};
use dds_rtps::history::CacheChange;
use dds_rtps::types::{Guid, SequenceNumber};
use std::sync::Arc;

/// The most changes that one visit hands over again to a reader of this process that had fallen behind.
const REDELIVERED_PER_VISIT: usize = 64;

/// The most readers of this process that are served in place. Each holds the writer's cell for about a tenth of a
/// microsecond more.
const IN_PLACE_MAX: usize = 8;

/// A reader of this process that matches.
pub(super) struct LocalReader {
    pub(super) guid: Guid,
    pub(super) cell: Arc<ReaderCell>,
    pub(super) path: Arc<LocalPath>,
    pub(super) reliable: bool,
    /// The newest change that was handed over.
    pub(super) delivered: SequenceNumber,
    /// It knows of the writer. What is handed over before that is dropped, and nothing behind it could be taken.
    pub(super) begun: bool,
    /// Where to go on, if the reader could not take everything so far.
    pub(super) behind_from: Option<SequenceNumber>,
}

impl LocalReader {
    /// Gives a change to the reader, in place if it is free, else by its inbox; what does not fit there is remembered
    /// (reliable) or replaces the oldest of this writer (best effort).
    pub(super) fn deliver(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        let previous = std::mem::replace(&mut self.delivered, change.sequence_number);
        // Only a reliable reader has something to tell the writer.
        let path = self.reliable.then_some(&self.path);
        let parcel = LocalParcel { change, previous, path };
        match self.cell.hand_over(effects, parcel, ReaderActor::receive_local, ReaderMail::local) {
            Ok(()) | Err(PushError::Closed(_)) => {}
            Err(PushError::Full(mail)) => self.squeeze_in(mail, previous, effects),
        }
    }

    /// As [`LocalReader::deliver`], for one of many: by the inbox in any case, so that the writer's cell is not held for as long
    /// as they all take.
    fn post(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        let previous = std::mem::replace(&mut self.delivered, change.sequence_number);
        let path = self.reliable.then_some(&self.path);
        match self.cell.push(ReaderMail::local(LocalParcel { change, previous, path })) {
            Ok(()) => effects.poke(Arc::clone(&self.cell) as Arc<dyn Poke>),
            Err(PushError::Closed(_)) => {}
            Err(PushError::Full(mail)) => self.squeeze_in(mail, previous, effects),
        }
    }

    /// The inbox is full.
    #[cold]
    fn squeeze_in(&mut self, mail: ReaderMail, previous: SequenceNumber, effects: &mut Effects) {
        if self.reliable {
            // From here on the reader tells of its progress; room that came until now is used.
            self.path.set_starving();
            if self.cell.push(mail).is_err() {
                self.behind_from = Some(std::mem::replace(&mut self.delivered, previous));
                // All that fills the inbox may be others', whose progress is none of ours.
                self.cell.signal(WRITER_STARVES);
            }
        } else {
            let writer = mail.local_writer();
            let is_older = |waiting: &ReaderMail| waiting.local_writer() == writer;
            // If there is none of this writer to replace, the new one is dropped; the reader counts the gap as lost.
            let _ = self.cell.push_over(mail, is_older);
        }
        effects.poke(Arc::clone(&self.cell) as Arc<dyn Poke>);
    }
}

impl WriterActor {
    /// Hands a change that is in no history to every reader of this process.
    pub(super) fn deliver_through(&mut self, change: &mut CacheChange, effects: &mut Effects) {
        if self.local_readers.len() > IN_PLACE_MAX {
            return self.local_readers.iter_mut().for_each(|reader| reader.post(&mut change.clone(), effects));
        }
        let Some((last, others)) = self.local_readers.split_last_mut() else { return };
        for reader in others {
            reader.deliver(&mut change.clone(), effects);
        }
        last.deliver(change, effects);
    }

    /// Hands a new change to every reader of this process while this cell is held, so that each of them sees the
    /// order of the sequence numbers; whoever got it by mail is poked after release.
    pub(super) fn deliver_locally(&mut self, number: SequenceNumber, effects: &mut Effects) {
        if self.local_readers.is_empty() {
            return;
        }
        let Some(change) = self.rtps.change(number) else { return };
        let in_place = self.local_readers.len() <= IN_PLACE_MAX;
        for reader in self.local_readers.iter_mut().filter(|reader| reader.behind_from.is_none()) {
            let mut change = change.clone();
            if in_place { reader.deliver(&mut change, effects) } else { reader.post(&mut change, effects) }
        }
    }

    /// Goes on with the readers of this process that have fallen behind. True if there is more to do at once.
    pub(super) fn redeliver(&mut self, effects: &mut Effects) -> bool {
        let mut more = false;
        for reader in self.local_readers.iter_mut().filter(|reader| reader.begun) {
            if let Some(from) = reader.path.link.take_request() {
                reader.behind_from = Some(reader.behind_from.map_or(from, |behind| behind.min(from)));
            }
            let Some(from) = reader.behind_from.take() else { continue };
            reader.delivered = reader.delivered.min(from.previous());
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
                note_step(Step::Redelivery);
                reader.post(&mut change.clone(), effects);
                if reader.behind_from.is_some() {
                    break;
                }
            }
        }
        more
    }
}
