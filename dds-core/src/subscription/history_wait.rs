//! Wait for the history of the writers of a reader (DDS 1.4, 2.2.2.5.3.32).

use crate::actor::{Effects, Ticket};
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Subject, WaitErrorKind, WaitSource};
use crate::subscription::ReaderHandle;
use crate::subscription::reader_actor::ReaderActor;
use dds_rtps::types::{Guid, Instant};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Writers that have not delivered their history yet, of those that matched when the wait was created.
pub(crate) struct HistoryWait<'a> {
    reader: &'a ReaderHandle,
    /// Locked only while the wait is polled, or a warning is written.
    writers: Mutex<Vec<Guid>>,
}

impl<'a> HistoryWait<'a> {
    /// Creates a wait for the history of `writers`.
    pub(crate) fn new(reader: &'a ReaderHandle, writers: Vec<Guid>) -> Self {
        Self { reader, writers: Mutex::new(writers) }
    }
}

impl WaitSource<()> for HistoryWait<'_> {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        // Handlers never take this lock, so this thread may hold it while it enters the cell.
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        self.reader.poll_history(&mut writers, ticket, waker)
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        self.reader.abandon_wait(awaited, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        self.reader.driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        self.reader.subject()
    }

    fn complain(&self, awaited: Awaited) {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.reader.span().in_scope(|| {
            tracing::warn!(
                ?awaited,
                ?writers,
                "still waiting for the history of these writers; check the resource limits of the reader"
            );
        });
    }
}

impl ReaderActor {
    /// Wakes the waits for history if the number of writers without complete history has changed.
    pub(super) fn notify_history_waits(&mut self, effects: &mut Effects) {
        let pending = self.publications.iter().filter(|&&writer| !self.has_history_of(writer)).count();
        if pending != std::mem::replace(&mut self.histories_pending, pending) {
            self.waiting_for_history.wake_all(effects);
        }
    }

    /// Returns whether the reader has all of a writer's history that it will ever get. True for a writer that does not
    /// match.
    fn has_history_of(&self, writer: Guid) -> bool {
        match self.local_writers.iter().find(|known| known.guid == writer) {
            Some(local) => {
                let has_expired = local.history_expires.is_some_and(|expires| expires <= self.last.instant);
                has_expired || self.rtps.next_of_local(writer).is_none_or(|next| next > local.history_end)
            }
            None => self.rtps.has_history_of(writer),
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
        let now = self.now(effects);
        writers.retain(|&writer| !self.has_history_of(writer));
        if writers.is_empty() {
            self.waiting_for_history.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        self.histories_pending = self.publications.iter().filter(|&&writer| !self.has_history_of(writer)).count();
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
        let expiries = self.local_writers.iter().filter_map(|local| local.history_expires);
        expiries.filter(|&expires| expires > self.last.instant).min()
    }
}
