//! A look-out for the end of a reader, for waits that watch something else as well.

use crate::actor::Ticket;
use crate::infrastructure::{Awaited, WaitSource};
use crate::subscription::ReaderHandle;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// The place of one wait among those for the end of a reader. Its owner calls [`leave`](Self::leave) when it ends.
#[derive(Default)]
pub(super) struct CloseWatch {
    /// Locked only while the wait is polled or ends.
    ticket: Mutex<Option<Ticket>>,
}

impl CloseWatch {
    fn ticket(&self) -> MutexGuard<'_, Option<Ticket>> {
        self.ticket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the reader is closed, and registers the waker if not.
    pub(super) fn is_closed(&self, reader: &ReaderHandle, waker: &Waker) -> bool {
        matches!(reader.poll_wait(Awaited::Closed, &mut self.ticket(), waker), Poll::Ready(Ok(())))
    }

    /// Removes the waker.
    pub(super) fn leave(&self, reader: &ReaderHandle) {
        // Taken out of the lock first, because the wake that `abandon` passes on is user code.
        let ticket = self.ticket().take();
        if let Some(ticket) = ticket {
            WaitSource::<()>::abandon(reader, Awaited::Closed, ticket);
        }
    }
}
