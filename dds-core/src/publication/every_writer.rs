//! Wait for all writers of a publisher, one after the other.

use crate::actor::Ticket;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Missing, Subject, WaitErrorKind, WaitSource};
use crate::publication::{PublisherGroup, WriterHandle};
use dds_rtps::types::SequenceNumber;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

/// Wait for the acknowledgment of what all writers of a publisher had written at one time.
///
/// Acknowledgments are final, so the wait can visit one writer after the other. One ticket is enough, for the current
/// writer.
pub(super) struct EveryWriter<'a> {
    group: &'a PublisherGroup,
    /// Writers with their last sequence numbers. Weak, because the wait must not keep a writer alive that the
    /// application drops.
    writers: Vec<(Weak<WriterHandle>, SequenceNumber)>,
    /// Index of the current writer.
    next: AtomicUsize,
}

impl<'a> EveryWriter<'a> {
    pub(super) fn new(group: &'a PublisherGroup) -> Self {
        let mut writers = Vec::new();
        for writer in group.members() {
            // Samples written after this moment do not count (DDS 1.4, 2.2.2.4.1.12).
            writers.push((Arc::downgrade(&writer), writer.last_sequence_number()));
        }
        Self { writers, group, next: AtomicUsize::new(0) }
    }

    /// Returns the current writer, if it still exists, and the awaited sequence number.
    fn current(&self) -> Option<(Option<Arc<WriterHandle>>, Awaited)> {
        let (writer, number) = self.writers.get(self.next.load(Ordering::Relaxed))?;
        Some((writer.upgrade(), Awaited::Acknowledged(*number)))
    }
}

impl WaitSource<()> for EveryWriter<'_> {
    fn poll_wait(&self, _: Awaited, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        if !self.group.is_enabled() && !self.group.is_closed() {
            return Poll::Ready(Err(WaitErrorKind::NotEnabled));
        }
        while let Some((writer, awaited)) = self.current() {
            if let Some(writer) = writer {
                match writer.poll_wait(awaited, ticket, waker) {
                    Poll::Pending => return Poll::Pending,
                    // A closed writer holds up no wait, and one that is not enabled has written nothing.
                    Poll::Ready(Ok(()) | Err(WaitErrorKind::Closed | WaitErrorKind::NotEnabled)) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                }
            }
            // The ticket belonged to this writer and is used up.
            *ticket = None;
            let before = self.next.fetch_add(1, Ordering::Relaxed);
            debug_assert!(before < self.writers.len(), "the current writer exists");
        }
        Poll::Ready(if self.group.is_closed() { Err(WaitErrorKind::Closed) } else { Ok(()) })
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        if let Some((Some(writer), awaited)) = self.current() {
            writer.abandon(awaited, ticket);
        }
    }

    fn driver(&self) -> &dyn Driver {
        &**self.group.participant().core().driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        self.group.subject()
    }

    fn complain(&self, _: Awaited) {
        if let Some((Some(writer), awaited)) = self.current() {
            writer.complain(awaited);
        }
    }

    fn missing_at_a_glance(&self, _: Awaited) -> Missing {
        match self.current() {
            Some((Some(writer), awaited)) => WaitSource::<()>::missing_at_a_glance(&*writer, awaited),
            _ => Missing::Event,
        }
    }
}
