//! Where accepted changes go: the history, and the events and counts that follow from it.

use crate::history::{Admission, ReaderHistory, ReceivedChange, RejectedChange};
use crate::reader::event::{Events, LossCause, ReaderCounters, ReaderEvent};
use crate::reader::ledger::tally::Tally;
use crate::types::{Guid, Now};

/// The parts of a reader that a writer proxy delivers into.
pub(crate) struct Sink<'a> {
    pub(crate) history: &'a mut ReaderHistory,
    pub(crate) events: &'a mut Events,
    pub(crate) counters: &'a mut ReaderCounters,
    /// Of the writer whose changes are delivered.
    pub(crate) tally: &'a mut Tally,
    /// Whether a change that does not fit is given back, to be tried again.
    pub(crate) holds_back: bool,
}

impl Sink<'_> {
    /// Hands a change to the history. Gives it back if it does not fit and is to be held back; `tried` says that this was
    /// reported before.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Now, change: ReceivedChange, tried: bool) -> Result<(), ReceivedChange> {
        if self.tally.sets.is_some() {
            return self.deliver_in_sets(now, change, tried);
        }
        self.admit(now, change, tried)
    }

    /// The same, whatever set it belongs to.
    #[inline]
    pub(crate) fn admit(&mut self, now: Now, change: ReceivedChange, tried: bool) -> Result<(), ReceivedChange> {
        match self.history.add(now, change) {
            Ok(admission) => {
                self.counters.accepted += 1;
                if admission == Admission::Visible {
                    self.events.data_available();
                } else {
                    self.tally.admit(admission);
                }
                Ok(())
            }
            Err(refused) => self.reject(refused, tried),
        }
    }

    #[cold]
    fn reject(&mut self, refused: RejectedChange, tried: bool) -> Result<(), ReceivedChange> {
        if !tried {
            let change = &refused.received.change;
            let (writer, instance) = (change.writer, change.instance);
            self.counters.rejected += 1;
            let reason = refused.reason;
            self.events.push(ReaderEvent::SampleRejected { writer, instance, reason, count: 1 });
        }
        if self.holds_back {
            return Err(refused.received);
        }
        self.tally.undelivered.reject(refused.reason);
        Ok(())
    }

    pub(crate) fn lost(&mut self, writer: Guid, count: u64, cause: LossCause) {
        if count > 0 {
            self.tally.lose(count, cause);
            self.announce_lost(writer, count, cause);
        }
    }

    /// Tells of a loss that the ledger knows of.
    pub(crate) fn announce_lost(&mut self, writer: Guid, count: u64, cause: LossCause) {
        if count > 0 {
            self.counters.lost = self.counters.lost.saturating_add(count);
            self.events.push(ReaderEvent::SampleLost { writer, count, cause });
        }
    }
}
