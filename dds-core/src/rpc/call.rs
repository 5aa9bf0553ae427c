//! Waits of a requester: for a replier, for the way to it, and for replies.

use crate::actor::Ticket;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Missing, Subject, WaitErrorKind, WaitSource, Waiting};
use crate::rpc::requester::Asking;
use dds_rtps::cdr::{DdsType, DecodeOwned};
use dds_rtps::types::{GuidPrefix, SequenceNumber};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Ends when the requester is closed. Every wait of a requester has one.
struct CloseWatch {
    /// Locked only while the wait is polled or ends.
    ticket: Mutex<Option<Ticket>>,
}

impl CloseWatch {
    fn new() -> Self {
        Self { ticket: Mutex::new(None) }
    }

    fn ticket(&self) -> MutexGuard<'_, Option<Ticket>> {
        self.ticket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the requester is closed, and registers the waker if not.
    fn is_closed<Q, R>(&self, asking: &Asking<Q, R>, waker: &Waker) -> bool {
        let closed = asking.reader.handle().poll_wait(Awaited::Closed, &mut self.ticket(), waker);
        asking.writer.handle().is_closed() || matches!(closed, Poll::Ready(Ok(())))
    }

    fn leave<Q, R>(&self, asking: &Asking<Q, R>) {
        if let Some(ticket) = self.ticket().take() {
            WaitSource::<()>::abandon(&**asking.reader.handle(), Awaited::Closed, ticket);
        }
    }
}

/// Returns the participants whose replier matches both ways, or registers the waiter.
fn poll_repliers<Q, R>(asking: &Asking<Q, R>, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Vec<GuidPrefix>> {
    // Registered before the look, so that no match in between is missed.
    asking.calls.register_matching(ticket, waker);
    let repliers = asking.repliers();
    if repliers.is_empty() {
        return Poll::Pending;
    }
    asking.calls.leave_matching(ticket);
    Poll::Ready(repliers)
}

/// Logs what a call misses.
fn complain<Q, R>(asking: &Asking<Q, R>, sent: Option<SequenceNumber>) {
    let missing = asking.missing(sent);
    asking.writer.handle().span().in_scope(|| tracing::warn!("still waiting for a reply: {missing}"));
}

/// Wait for a replier.
pub(super) struct MatchWait<'a, Q, R> {
    asking: &'a Asking<Q, R>,
    closing: CloseWatch,
}

impl<'a, Q, R> MatchWait<'a, Q, R> {
    pub(super) fn new(asking: &'a Asking<Q, R>) -> Self {
        Self { asking, closing: CloseWatch::new() }
    }
}

impl<Q, R: Send> WaitSource<()> for MatchWait<'_, Q, R> {
    fn poll_wait(&self, _: Awaited, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        if self.closing.is_closed(self.asking, waker) {
            return Poll::Ready(Err(WaitErrorKind::Closed));
        }
        poll_repliers(self.asking, ticket, waker).map(|_| Ok(()))
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        self.asking.calls.abandon(None, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.asking.writer.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.asking.writer.handle().subject()
    }

    fn complain(&self, _: Awaited) {
        complain(self.asking, None);
    }

    fn missing(&self, _: Awaited) -> Missing {
        self.asking.missing(None)
    }
}

impl<Q, R> Drop for MatchWait<'_, Q, R> {
    fn drop(&mut self) {
        self.closing.leave(self.asking);
    }
}

/// Wait for a replier, which then sends the request.
pub(super) struct SendWait<'a, Q, R> {
    asking: &'a Arc<Asking<Q, R>>,
    request: &'a Q,
    closing: CloseWatch,
}

impl<'a, Q, R> SendWait<'a, Q, R> {
    pub(super) fn new(asking: &'a Arc<Asking<Q, R>>, request: &'a Q) -> Self {
        Self { asking, request, closing: CloseWatch::new() }
    }

    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<SequenceNumber, WaitErrorKind>>
    where
        Q: DdsType,
    {
        if self.closing.is_closed(self.asking, waker) {
            return Poll::Ready(Err(WaitErrorKind::Closed));
        }
        poll_repliers(self.asking, ticket, waker).map(|repliers| self.asking.send(self.request, repliers))
    }
}

impl<Q: DdsType + Sync, R: Send> WaitSource<Replies<Q, R>> for SendWait<'_, Q, R> {
    fn poll_wait(
        &self,
        _: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Replies<Q, R>, WaitErrorKind>> {
        let replies = |number| Replies { asking: Arc::clone(self.asking), number };
        self.poll(ticket, waker).map_ok(replies)
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        self.asking.calls.abandon(None, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.asking.writer.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.asking.writer.handle().subject()
    }

    fn complain(&self, _: Awaited) {
        complain(self.asking, None);
    }

    fn missing(&self, _: Awaited) -> Missing {
        self.asking.missing(None)
    }
}

impl<Q, R> Drop for SendWait<'_, Q, R> {
    fn drop(&mut self) {
        self.closing.leave(self.asking);
    }
}

/// Wait for a replier, which then sends the request and waits for its first reply.
pub(super) struct ReplyWait<'a, Q, R> {
    sending: SendWait<'a, Q, R>,
    /// The request, once it is sent. Locked only while the wait is polled or ends.
    sent: Mutex<Option<SequenceNumber>>,
}

impl<'a, Q, R> ReplyWait<'a, Q, R> {
    pub(super) fn new(asking: &'a Arc<Asking<Q, R>>, request: &'a Q) -> Self {
        Self { sending: SendWait::new(asking, request), sent: Mutex::new(None) }
    }

    fn asking(&self) -> &Asking<Q, R> {
        self.sending.asking
    }

    fn sent(&self) -> MutexGuard<'_, Option<SequenceNumber>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: DdsType + Sync, R: Send> WaitSource<R> for ReplyWait<'_, Q, R> {
    fn poll_wait(&self, _: Awaited, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<R, WaitErrorKind>> {
        let mut sent = self.sent();
        let number = match *sent {
            Some(number) => {
                if self.sending.closing.is_closed(self.asking(), waker) {
                    return Poll::Ready(Err(WaitErrorKind::Closed));
                }
                number
            }
            None => match self.sending.poll(ticket, waker) {
                Poll::Ready(Ok(number)) => *sent.insert(number),
                Poll::Ready(Err(kind)) => return Poll::Ready(Err(kind)),
                Poll::Pending => return Poll::Pending,
            },
        };
        self.asking().calls.poll(number, ticket, waker)
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        let sent = *self.sent();
        self.asking().calls.abandon(sent, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.asking().writer.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.asking().writer.handle().subject()
    }

    fn complain(&self, _: Awaited) {
        let sent = *self.sent();
        complain(self.asking(), sent);
    }

    fn missing(&self, _: Awaited) -> Missing {
        let sent = *self.sent();
        self.asking().missing(sent)
    }
}

impl<Q, R> Drop for ReplyWait<'_, Q, R> {
    fn drop(&mut self) {
        let sent = *self.sent();
        if let Some(number) = sent {
            self.asking().calls.end(number);
        }
    }
}

/// The replies to one request. Dropping it cancels the request.
///
/// Returned by [`Requester::call_all`](crate::rpc::Requester::call_all).
pub struct Replies<Q, R> {
    asking: Arc<Asking<Q, R>>,
    number: SequenceNumber,
}

impl<Q, R: DecodeOwned + Send> Replies<Q, R> {
    /// Waits for the next reply, of any replier.
    ///
    /// Errors of the wait: as [`Requester::call`](crate::rpc::Requester::call). After
    /// [`WaitErrorKind::RepliersGone`] no reply follows.
    pub fn next_reply(&mut self) -> Waiting<'_, R> {
        Waiting::of_own(Box::new(NextReply { replies: self, closing: CloseWatch::new() }), Awaited::Reply)
    }
}

impl<Q, R> Drop for Replies<Q, R> {
    fn drop(&mut self) {
        self.asking.calls.end(self.number);
    }
}

impl<Q, R> fmt::Debug for Replies<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replies(\"{}\", {})", self.asking.writer.topic_name(), self.number)
    }
}

/// Wait for the next reply to a request.
struct NextReply<'a, Q, R> {
    replies: &'a Replies<Q, R>,
    closing: CloseWatch,
}

impl<Q, R: Send> WaitSource<R> for NextReply<'_, Q, R> {
    fn poll_wait(&self, _: Awaited, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<R, WaitErrorKind>> {
        let Replies { asking, number } = self.replies;
        if self.closing.is_closed(asking, waker) {
            return Poll::Ready(Err(WaitErrorKind::Closed));
        }
        asking.calls.poll(*number, ticket, waker)
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        self.replies.asking.calls.abandon(Some(self.replies.number), ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.replies.asking.writer.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.replies.asking.writer.handle().subject()
    }

    fn complain(&self, _: Awaited) {
        complain(&self.replies.asking, Some(self.replies.number));
    }

    fn missing(&self, _: Awaited) -> Missing {
        self.replies.asking.missing(Some(self.replies.number))
    }
}

impl<Q, R> Drop for NextReply<'_, Q, R> {
    fn drop(&mut self) {
        self.closing.leave(&self.replies.asking);
    }
}
