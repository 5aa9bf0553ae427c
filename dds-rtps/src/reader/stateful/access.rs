//! Calls of the application, retries of changes that wait for space, the ledger of losses, and releases of the gate.

use super::StatefulReader;
use crate::concurrent::Payload;
use crate::history::{HistorySample, Operation, ReaderHistory, ReceivedChange, Selection, SelectionOrder};
use crate::reader::coherent::group_gate::{GroupItem, Release};
use crate::reader::delivery::ChangeDelivery;
use crate::reader::event::{LossCause, ReaderCounters, StatefulReaderEvent};
use crate::reader::ledger::tally::WriterTally;
use crate::reader::ledger::{Losses, distance};
use crate::reader::liveliness::LivelinessCounts;
use crate::reader::proxy::ProxyState;
use crate::types::{Guid, Now, SequenceNumber};

impl StatefulReader {
    /// Received samples that were not taken.
    #[must_use]
    pub fn history(&self) -> &ReaderHistory {
        &self.history
    }

    /// As [`StatefulReader::history`], to count samples: that removes expired ones.
    ///
    /// To read and take use [`StatefulReader::has_matching`] and [`StatefulReader::select`], which retry changes that
    /// wait for space.
    pub fn history_mut(&mut self) -> &mut ReaderHistory {
        &mut self.history
    }

    /// Counters since the reader was created.
    #[must_use]
    pub fn counters(&self) -> ReaderCounters {
        ReaderCounters { slots_made: self.builder.slots_created(), ..self.counters }
    }

    /// The matched writers, local ones included.
    pub fn matched_writers(&self) -> impl ExactSizeIterator<Item = Guid> + '_ {
        self.writers.iter().map(|writer| writer.proxy.guid())
    }

    /// Whether the history has all changes that the remote reliable writers first announced.
    ///
    /// True without such writers.
    #[must_use]
    pub fn has_history(&self) -> bool {
        self.writers.iter().all(|writer| writer.proxy.has_history())
    }

    /// Whether the history has all changes that this writer first announced.
    ///
    /// Changes that will never come count as well. True for a writer that is not matched, a best-effort one, and a
    /// local one ([`Self::next_of_local`]).
    #[must_use]
    pub fn has_history_of(&self, writer: Guid) -> bool {
        match self.writers.get(writer) {
            Some(writer) => writer.proxy.has_history(),
            // Nothing more can arrive from an unknown writer.
            None => true,
        }
    }

    /// Whether the writer has matched this reader as well, so that it sends its samples here.
    ///
    /// True for a best-effort writer, which does not say. True also for a writer that leaves several pre-emptive
    /// ACKNACKs unanswered, and may never answer. Complete only with
    /// [`ReaderConfig::awaits_writers`](crate::reader::ReaderConfig).
    #[must_use]
    pub fn is_known_to(&self, writer: Guid) -> bool {
        self.writers.get(writer).is_some_and(|writer| writer.proxy.knows_reader())
    }

    /// Next expected sequence number of a local writer.
    #[must_use]
    pub fn next_of_local(&self, writer: Guid) -> Option<SequenceNumber> {
        match &self.writers.get(writer)?.proxy.state {
            ProxyState::Local(local) => Some(local.next()),
            ProxyState::BestEffort(_) | ProxyState::Reliable(_) => None,
        }
    }

    /// Counts of alive and not alive writers.
    #[must_use]
    pub fn liveliness(&self) -> LivelinessCounts {
        self.liveliness.counts()
    }

    /// Whether a matched writer is alive; `None`: it is not matched.
    #[must_use]
    pub fn is_writer_alive(&self, writer: Guid) -> Option<bool> {
        Some(self.writers.get(writer)?.proxy.lease.is_alive())
    }

    /// Reads or takes samples; see [`ReaderHistory::select`]. Then retries changes that waited for space.
    ///
    /// Under ordered access with a scope wider than INSTANCE samples come in the order of arrival (DDS 1.4, 2.2.3.6).
    /// For each writer that is the order of its sequence numbers.
    pub fn select(
        &mut self,
        now: Now,
        selection: &Selection<'_>,
        operation: Operation,
        into: &mut Vec<HistorySample>,
    ) -> usize {
        let count = if self.config.is_ordered() {
            let in_order = Selection { order: SelectionOrder::ByArrival, ..*selection };
            self.history.select(now, &in_order, operation, into)
        } else {
            self.history.select(now, selection, operation, into)
        };
        if self.space.is_waiting() {
            // A take makes space in any case: no comparison needed.
            if count > 0 && operation == Operation::Take {
                self.retry_refused(now);
            } else {
                // A read removes expired samples.
                self.retry_if_space(now);
            }
        }
        count
    }

    /// Whether samples match a selection; see [`ReaderHistory::has_matching`].
    pub fn has_matching(&mut self, now: Now, selection: &Selection<'_>) -> bool {
        let found = self.history.has_matching(now, selection);
        self.retry_if_space(now);
        found
    }

    /// Retries the waiting changes if the history has become emptier.
    #[inline]
    pub(super) fn retry_if_space(&mut self, now: Now) {
        if self.space.is_waiting() && self.space.has_space(&self.history) {
            self.retry_refused(now);
        }
    }

    /// Retries the waiting changes of all writers.
    pub(super) fn retry_refused(&mut self, now: Now) {
        // Another round only follows if a retried change made the history emptier.
        while self.space.stop(&self.history) {
            for at in 0..self.writers.len() {
                self.retry_writer(now, at);
            }
            // An accepted change may end an instance, and so make space for another one.
            if !self.space.has_space(&self.history) {
                return;
            }
        }
    }

    /// Retries the refused change of one writer.
    fn retry_writer(&mut self, now: Now, at: usize) {
        let (proxy, mut delivery, context) = self.proxy_and_delivery(at);
        match &mut proxy.state {
            ProxyState::Reliable(reliable) if reliable.is_refused() => {
                // The change waits because the reader holds back.
                delivery.withholds_acknowledgment = true;
                let has_delivered = reliable.retry(now, &mut delivery);
                let (next, is_refused) = (reliable.next(), reliable.is_refused());
                proxy.drop_assemblies_below(next, context.slots, delivery.counters);
                if has_delivered {
                    self.writers.note_due(at);
                }
                if is_refused {
                    self.space.keep_waiting();
                }
            }
            ProxyState::Local(local) => {
                if local.request_refused() {
                    delivery.events.push(StatefulReaderEvent::LocalSpace { writer: proxy.config.guid });
                }
            }
            ProxyState::Reliable(_) | ProxyState::BestEffort(_) => {}
        }
    }

    /// The ledger of losses. Visits all matched writers, so do not call it for every sample.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let mut departed_before = self.unmatched.sum_of_earlier();
        departed_before.undelivered.add_removed(&self.history.removed_of_others());
        Losses {
            writers: self.writers.losses(&self.history),
            departed: self.unmatched.rows(),
            departed_before,
            doubtful: self.counters.doubtful,
        }
    }

    /// The inbox of the reader had no space for changes `first` to `last` of a writer.
    ///
    /// Changes of a best-effort writer that the reader misses therefore count as received and not delivered
    /// ([`Undelivered::inbox_overflow`](crate::reader::Undelivered::inbox_overflow)). A reliable writer repeats them.
    ///
    /// Returns the first number that the reader has not reached yet: report the range from there again later.
    pub fn note_overflow(
        &mut self,
        writer: Guid,
        first: SequenceNumber,
        last: SequenceNumber,
    ) -> Option<SequenceNumber> {
        let at = self.writers.find(writer)?;
        let writer = self.writers.at_mut(at);
        if writer.proxy.repairs() {
            return None;
        }
        let position = writer.proxy.position();
        let missed = distance(first.max(position.first), last.next().min(position.next));
        // The reader may have accepted a change that came twice.
        let missed = missed.min(writer.tally.not_received.never_came);
        // Moves them from "never arrived" to "received and not delivered".
        writer.tally.not_received.never_came -= missed;
        writer.tally.undelivered.inbox_overflow += missed;
        let rest = first.max(position.next);
        if rest <= last { Some(rest) } else { None }
    }

    /// Returns the next item for the gate of the subscriber (PRESENTATION scope GROUP).
    pub fn poll_group_item(&mut self) -> Option<(Guid, GroupItem)> {
        self.events.pop_group()
    }

    /// Accepts a release of the gate. An admitted change enters the history, or waits for space before later ones.
    pub fn handle_release(&mut self, now: Now, release: Release) {
        match release {
            Release::Admit { change, .. } => {
                self.released.push_back(change);
                self.admit_released(now);
            }
            Release::Drop(changes) => {
                for change in changes {
                    // The gate held the change on behalf of this reader, which counted it as withheld.
                    self.history.release_withheld(1, payload_len(&change));
                    let writer = change.change.writer;
                    self.deliver_released(writer, |delivery| delivery.lost(writer, 1, LossCause::Incoherent));
                }
            }
        }
    }

    /// Adds the released changes to the history, as far as it has space.
    pub fn admit_released(&mut self, now: Now) {
        while let Some(change) = self.released.pop_front() {
            let len = payload_len(&change);
            match self.deliver_released(change.change.writer, |delivery| delivery.admit(now, change, true)) {
                Ok(()) => self.history.release_withheld(1, len),
                Err(change) => {
                    // Later releases must not overtake it.
                    self.released.push_front(change);
                    break;
                }
            }
        }
        self.retry_if_space(now);
    }

    /// Delivers a change that the gate released. Its writer may be unmatched by now.
    fn deliver_released<R>(&mut self, writer: Guid, deliver: impl FnOnce(&mut ChangeDelivery<'_>) -> R) -> R {
        // An unmatched writer has no row any more: its counts go nowhere.
        let mut unmatched = WriterTally::default();
        let tally = match self.writers.find(writer) {
            Some(at) => &mut self.writers.at_mut(at).tally,
            None => &mut unmatched,
        };
        deliver(&mut ChangeDelivery {
            history: &mut self.history,
            events: &mut self.events,
            counters: &mut self.counters,
            tally,
            // The change has passed its coherent set.
            sets: None,
            withholds_acknowledgment: self.config.keeps_all(),
        })
    }

    /// A local writer was matched after its group had come to `reached`: the reader is not entitled to earlier changes.
    pub fn start_group_after(&mut self, writer: Guid, reached: SequenceNumber) {
        let Some(at) = self.writers.find(writer) else { return };
        if let Some(sets) = &mut self.writers.at_mut(at).sets {
            if let Some(group) = sets.group_mut() {
                group.start_after(reached);
            }
        }
    }
}

fn payload_len(change: &ReceivedChange) -> usize {
    change.change.payload.as_ref().map_or(0, Payload::len)
}
