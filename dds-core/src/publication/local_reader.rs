//! What a writer knows of one reader of its own process, and how it hands changes over.

use crate::actor::{Effects, PushError};
use crate::publication::LocalPath;
use crate::subscription::{ReaderCell, ReaderMail, WRITER_STARVES};
use dds_rtps::history::CacheChange;
use dds_rtps::types::{Guid, SequenceNumber};
use std::sync::Arc;

/// A reader of this process that matches.
pub(super) struct LocalReader {
    pub(super) guid: Guid,
    pub(super) cell: Arc<ReaderCell>,
    pub(super) path: Arc<LocalPath>,
    pub(super) reliable: bool,
    /// The newest change that was handed over.
    pub(super) delivered: SequenceNumber,
    /// Where to go on, if the reader could not take everything so far.
    pub(super) behind_from: Option<SequenceNumber>,
}

impl LocalReader {
    /// Pushes a change into the reader's inbox; what does not fit is remembered (reliable) or replaces the oldest of this
    /// writer (best effort).
    pub(super) fn deliver(&mut self, change: CacheChange, effects: &mut Effects) {
        let (number, writer) = (change.sequence_number, change.writer);
        let previous = std::mem::replace(&mut self.delivered, number);
        // Only a reliable reader has something to tell the writer.
        let path = self.reliable.then(|| Arc::clone(&self.path));
        let mail = ReaderMail::Local { change, previous, path };
        match self.cell.push(mail) {
            Ok(()) => {}
            Err(PushError::Full(mail)) if self.reliable => {
                // From here on the reader tells of its progress; room that came until now is used.
                self.path.set_starving();
                if self.cell.push(mail).is_err() {
                    self.delivered = previous;
                    self.behind_from = Some(number);
                    // All that fills the inbox may be others', whose progress is none of ours.
                    self.cell.signal(WRITER_STARVES);
                }
            }
            Err(PushError::Full(mail)) => {
                let is_older = |waiting: &ReaderMail| matches!(waiting, ReaderMail::Local { change, .. } if change.writer == writer);
                // If there is none of this writer to replace, the new one is dropped; the reader counts the gap as lost.
                let _ = self.cell.push_over(mail, is_older);
            }
            Err(PushError::Closed(_)) => return,
        }
        effects.poke(Arc::clone(&self.cell) as Arc<dyn crate::actor::Poke>);
    }
}
