//! Waits for an endpoint: for its peers, its samples and its end.

use crate::actor::Ticket;
use crate::context::ParticipantContext;
use crate::driver::Driver;
use crate::endpoint::{Endpoint, EndpointActor, EndpointCore};
use crate::infrastructure::{Awaited, Missing, Subject, WaitErrorKind, WaitSource};
use std::sync::Arc;
use std::task::{Poll, Waker};

impl<E: Endpoint> EndpointCore<E> {
    /// Returns whether the awaited event has happened, and registers the waker if not.
    #[inline]
    pub(crate) fn poll_awaited(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if !self.is_enabled() {
            return Poll::Ready(Err(self.wait_not_enabled()));
        }
        // Cloned before the visit, because a waker is user code.
        let waker = waker.clone();
        match self.visit_inlined(|actor, effects| actor.wait(awaited, ticket, waker, effects)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Error of a wait for an endpoint that is not enabled.
    #[cold]
    pub(crate) fn wait_not_enabled(&self) -> WaitErrorKind {
        if self.is_closed() { WaitErrorKind::Closed } else { WaitErrorKind::NotEnabled }
    }

    /// Removes the waker of a wait that gives up.
    pub(crate) fn abandon_wait(&self, awaited: Awaited, ticket: Ticket) {
        // Ignore the error, because a closed endpoint has no waiters.
        let _ = self.visit(|actor, effects| actor.abandon(awaited, ticket, effects));
    }
}

impl<E: Endpoint> WaitSource<()> for E {
    fn poll_wait(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if awaited == Awaited::Closed {
            return self.ending().poll(ticket, waker);
        }
        self.poll_awaited(awaited, ticket, waker)
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        if awaited == Awaited::Closed {
            return self.ending().abandon(ticket);
        }
        self.abandon_wait(awaited, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        &**self.core().driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        EndpointCore::subject(self)
    }

    fn warns_of(&self, awaited: Awaited) -> bool {
        match awaited {
            // A matched writer may write at any time.
            Awaited::Readable | Awaited::Sample | Awaited::SampleOnceEnabled => !self.has_matched(),
            _ => true,
        }
    }

    fn missing_at_a_glance(&self, awaited: Awaited) -> Missing {
        if awaited == Awaited::Closed || !self.is_enabled() {
            return Missing::Event;
        }
        self.missing_of_matched(awaited, self.matched_peers().len())
    }

    fn missing(&self, awaited: Awaited) -> Missing {
        // With a match, the reason lies with the peer's data. Without one, with discovery.
        match self.missing_at_a_glance(awaited) {
            Missing::Matches { matched: 0, .. } | Missing::Sample { writers: 0, .. } => {
                self.participant().unmatched(self.guid())
            }
            missing => missing,
        }
    }

    fn complain(&self, awaited: Awaited) {
        let entity = self.subject().entity;
        // `warn_of_wait` logs as well, so the span is entered.
        self.span().in_scope(|| {
            if awaited == Awaited::Closed {
                tracing::warn!(?awaited, "still waiting for the {entity} to close; it is open");
            } else if !self.is_enabled() {
                tracing::warn!(?awaited, "still waiting; the {entity} is not enabled yet");
            } else {
                let why = self.participant().why_waiting(self.guid());
                E::warn_of_wait(awaited, self.matched_peers().len(), &why);
            }
        });
    }
}
