//! Wait for the history of the writers of a reader (DDS 1.4, 2.2.2.5.3.32).

use crate::actor::Ticket;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Missing, Subject, WaitErrorKind, WaitSource};
use crate::subscription::ReaderHandle;
use dds_rtps::types::Guid;
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

    fn missing_at_a_glance(&self, _: Awaited) -> Missing {
        Missing::History { writers: self.writers.lock().unwrap_or_else(PoisonError::into_inner).len() }
    }

    fn complain(&self, awaited: Awaited) {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tracing::warn!(
            parent: self.reader.span(),
            ?awaited,
            ?writers,
            "still waiting for the history of these writers; check the resource limits of the reader"
        );
    }
}
