//! The way of accepted changes into the history, with the events and counts that follow from it.

use super::coherent::writer_sets::WriterSets;
use super::event::{LossCause, PendingEvents, ReaderCounters, StatefulReaderEvent};
use super::ledger::tally::WriterTally;
use crate::history::{Admission, ReaderHistory, ReceivedChange, RejectedChange};
use crate::types::{Guid, Now};

/// The parts of a reader into which a writer proxy delivers.
pub(crate) struct ChangeDelivery<'a> {
    pub(crate) history: &'a mut ReaderHistory,
    pub(crate) events: &'a mut PendingEvents,
    pub(crate) counters: &'a mut ReaderCounters,
    /// Counts of the writer whose changes are delivered.
    pub(crate) tally: &'a mut WriterTally,
    /// Coherent sets of that writer, if the reader presents changes together (PRESENTATION).
    pub(crate) sets: Option<&'a mut WriterSets>,
    /// Whether a change that does not fit is returned to the caller, which retries later.
    pub(crate) withholds_acknowledgment: bool,
}

impl ChangeDelivery<'_> {
    /// Delivers the next change of a writer: to its coherent sets if there are any, else to the history.
    ///
    /// `tried`: an earlier attempt reported the rejection already.
    ///
    /// # Errors
    ///
    /// Returns the change if it does not fit and [`ChangeDelivery::withholds_acknowledgment`] is set.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Now, change: ReceivedChange, tried: bool) -> Result<(), ReceivedChange> {
        // Taken out for the call, because the sets deliver through `self`.
        let Some(sets) = self.sets.take() else { return self.admit(now, change, tried) };
        let outcome = sets.deliver(now, change, tried, self);
        self.sets = Some(sets);
        outcome
    }

    /// Adds a change to the history.
    ///
    /// # Errors
    ///
    /// As [`ChangeDelivery::deliver`].
    #[inline]
    pub(crate) fn admit(&mut self, now: Now, change: ReceivedChange, tried: bool) -> Result<(), ReceivedChange> {
        match self.history.add(now, change) {
            Ok(admission) => {
                self.counters.accepted += 1;
                if admission == Admission::Visible {
                    self.events.data_available();
                } else {
                    // Only an admission without a visible change needs a count.
                    self.tally.count_admission(admission);
                }
                Ok(())
            }
            Err(refused) => self.reject(refused, tried),
        }
    }

    #[cold]
    pub(crate) fn reject(&mut self, refused: RejectedChange, tried: bool) -> Result<(), ReceivedChange> {
        let RejectedChange { reason, received } = refused;
        if !tried {
            self.counters.rejected += 1;
            let (writer, instance) = (received.change.writer, received.change.instance);
            self.events.push(StatefulReaderEvent::SampleRejected { writer, instance, reason, count: 1 });
        }
        // The reader does not acknowledge the change, and its proxy keeps it for a retry.
        if self.withholds_acknowledgment {
            return Err(received);
        }
        self.tally.undelivered.reject(reason);
        Ok(())
    }

    /// Counts lost samples in the ledger and reports them.
    pub(crate) fn lost(&mut self, writer: Guid, count: u64, cause: LossCause) {
        if count > 0 {
            self.tally.count_lost(count, cause);
            self.report_lost(writer, count, cause);
        }
    }

    /// Reports lost samples that the ledger counts already.
    pub(crate) fn report_lost(&mut self, writer: Guid, count: u64, cause: LossCause) {
        if count > 0 {
            let is_replaced = cause == LossCause::Replaced;
            let counter = if is_replaced { &mut self.counters.replaced } else { &mut self.counters.lost };
            *counter = counter.saturating_add(count);
            self.events.push(StatefulReaderEvent::SampleLost { writer, count, cause });
        }
    }

    /// Drops the open coherent set: a change that follows it was given up, so no later change finds the set complete.
    pub(crate) fn break_open_set(&mut self, writer: Guid) {
        if let Some(sets) = self.sets.take() {
            sets.break_open_set(writer, self);
            self.sets = Some(sets);
        }
    }
}
