//! Waits of a requester: for a replier, for the way to it, and for replies.

use crate::actor::Ticket;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Missing, Subject, Turn, WaitError, WaitErrorKind, WaitSource, Waiting};
use crate::publication::WriteAttempt;
use crate::rpc::calls_in_flight::Reservation;
use crate::rpc::close_watch::CloseWatch;
use crate::rpc::correlation;
use crate::rpc::requester::Asking;
use dds_rtps::cdr::{DdsType, DecodeOwned};
use dds_rtps::types::{GuidPrefix, SequenceNumber};
use dds_rtps::writer::{NewChange, WriteRefused};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// The part of a wait of a requester that differs between waits.
pub(super) trait CallStep: Send + Sync {
    type Request;
    type Reply;
    type Output;

    fn asking(&self) -> &Asking<Self::Request, Self::Reply>;

    /// Progress of the request.
    fn progress(&self) -> Progress;

    /// Looks for the event, or registers the waker.
    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<Self::Output, WaitErrorKind>>;
}

/// Progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// No replier matched both ways.
    Matching,
    /// The history of the writer is full.
    Full,
    /// The request is sent.
    Sent(SequenceNumber),
}

impl Progress {
    fn sent(self) -> Option<SequenceNumber> {
        match self {
            Self::Sent(number) => Some(number),
            Self::Matching | Self::Full => None,
        }
    }
}

/// A wait of a requester, which also ends when the requester is closed.
pub(super) struct RequesterWait<S: CallStep> {
    step: S,
    closing: CloseWatch,
}

impl<S: CallStep> RequesterWait<S> {
    pub(super) fn new(step: S) -> Self {
        Self { step, closing: CloseWatch::default() }
    }
}

impl<S: CallStep> WaitSource<S::Output> for RequesterWait<S> {
    fn poll_wait(
        &self,
        _: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<S::Output, WaitErrorKind>> {
        if self.step.asking().is_closed(&self.closing, waker) {
            return Poll::Ready(Err(WaitErrorKind::Closed));
        }
        self.step.poll(ticket, waker)
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        // Before the request is sent, the waiter is among those for a match.
        self.step.asking().calls.abandon(self.step.progress().sent(), ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.step.asking().writer.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.step.asking().writer.handle().subject()
    }

    fn complain(&self, _: Awaited) {
        let asking = self.step.asking();
        let missing = asking.missing(self.step.progress());
        tracing::warn!(parent: asking.writer.handle().span(), "still waiting for a reply: {missing}");
    }

    fn missing_at_a_glance(&self, _: Awaited) -> Missing {
        self.step.asking().missing_at_a_glance(self.step.progress())
    }

    fn missing(&self, _: Awaited) -> Missing {
        self.step.asking().missing(self.step.progress())
    }
}

impl<S: CallStep> Drop for RequesterWait<S> {
    fn drop(&mut self) {
        self.closing.leave(self.step.asking().reader.handle());
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

/// Waits for a replier.
pub(super) struct ReplierMatch<'a, Q, R> {
    pub(super) asking: &'a Asking<Q, R>,
}

impl<Q, R: Send> CallStep for ReplierMatch<'_, Q, R> {
    type Request = Q;
    type Reply = R;
    type Output = ();

    fn asking(&self) -> &Asking<Q, R> {
        self.asking
    }

    fn progress(&self) -> Progress {
        Progress::Matching
    }

    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        // The repliers of this moment are of no use: the request looks at the matches again.
        poll_repliers(self.asking, ticket, waker).map(|_| Ok(()))
    }
}

/// Waits for a replier and for room in the history, and sends the request.
pub(super) struct RequestSend<'a, Q, R> {
    asking: &'a Arc<Asking<Q, R>>,
    request: &'a Q,
    /// Locked only while the wait is polled or ends.
    state: Mutex<RequestState<R>>,
}

enum RequestState<R> {
    NotTried,
    Full(Box<PendingRequest<R>>),
    Sent(SequenceNumber),
}

/// An encoded request that waits for room in the history.
struct PendingRequest<R> {
    change: NewChange,
    /// Place in the queue for room.
    room: Option<Ticket>,
    reservation: Reservation<R>,
}

impl<'a, Q, R> RequestSend<'a, Q, R> {
    pub(super) fn new(asking: &'a Arc<Asking<Q, R>>, request: &'a Q) -> Self {
        // Nothing is encoded yet: a wait that is dropped before its first poll costs nothing.
        Self { asking, request, state: Mutex::new(RequestState::NotTried) }
    }

    fn state(&self) -> MutexGuard<'_, RequestState<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> Progress {
        match &*self.state() {
            RequestState::NotTried => Progress::Matching,
            RequestState::Full(_) => Progress::Full,
            RequestState::Sent(number) => Progress::Sent(*number),
        }
    }

    /// Sends the request once a replier matches and the history has room.
    fn poll_sent(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<SequenceNumber, WaitErrorKind>>
    where
        Q: DdsType,
    {
        let mut state = self.state();
        if let RequestState::Sent(number) = *state {
            return Poll::Ready(Ok(number));
        }
        let Poll::Ready(repliers) = poll_repliers(self.asking, ticket, waker) else {
            // A call that waits for a replier must not hold up the writes behind it.
            if let RequestState::Full(pending) = &mut *state {
                self.asking.writer.handle().abandon_room(&mut pending.room);
            }
            return Poll::Pending;
        };
        if matches!(*state, RequestState::NotTried) {
            *state = RequestState::Full(Box::new(self.asking.encode(self.request)?));
        }
        let RequestState::Full(pending) = &mut *state else {
            debug_assert!(false, "the request was encoded above");
            return Poll::Pending;
        };
        let number = ready!(self.asking.poll_send(pending, repliers, waker))?;
        *state = RequestState::Sent(number);
        Poll::Ready(Ok(number))
    }
}

impl<Q, R> Drop for RequestSend<'_, Q, R> {
    fn drop(&mut self) {
        if let RequestState::Full(pending) = &mut *self.state() {
            self.asking.writer.handle().abandon_room(&mut pending.room);
        }
    }
}

impl<Q, R> Asking<Q, R> {
    /// Encodes a request and reserves its place among the calls in flight.
    fn encode(&self, request: &Q) -> Result<PendingRequest<R>, WaitErrorKind>
    where
        Q: DdsType,
    {
        let options = correlation::request_options(self.reader.guid());
        let encoded = self.writer.handle().encode(request).and_then(|change| options.apply_to(change));
        match encoded {
            Ok(change) => Ok(PendingRequest { change, room: None, reservation: Reservation::new(&self.calls)? }),
            Err(kind) => Err(WaitErrorKind::NotSent(Box::new(kind))),
        }
    }

    /// Sends a request to `asked`, which match, or registers the waker for room in the history.
    fn poll_send(
        &self,
        pending: &mut PendingRequest<R>,
        asked: Vec<GuidPrefix>,
        waker: &Waker,
    ) -> Poll<Result<SequenceNumber, WaitErrorKind>> {
        let writer = self.writer.handle();
        let PendingRequest { change, room, reservation } = pending;
        // A writer that never waits refuses at once.
        let waker = if writer.blocking_limit().is_some() { Some(waker) } else { None };
        let sent = reservation.send(asked, || match writer.attempt(change, room, waker)? {
            WriteAttempt::Written(number, flushed) => {
                writer.send_rest(flushed, false)?;
                Ok(Some(number))
            }
            WriteAttempt::Refused(refused) => Err(writer.refusal(refused)),
            WriteAttempt::Waiting => Ok(None),
            WriteAttempt::BehindLargeSample => {
                debug_assert!(false, "this attempt does not wait for earlier samples");
                Err(writer.refusal(WriteRefused::Full))
            }
        });
        match sent {
            Ok(Some(number)) => {
                // A replier may have left between the look at the matches and the entry of the call.
                self.calls.retain_repliers(number, &self.reader.handle().matched_peers());
                Poll::Ready(Ok(number))
            }
            Ok(None) => Poll::Pending,
            Err(kind) => {
                writer.abandon_room(room);
                Poll::Ready(Err(WaitErrorKind::NotSent(Box::new(kind))))
            }
        }
    }

    /// Returns whether the requester is closed, and registers the waker if not.
    fn is_closed(&self, closing: &CloseWatch, waker: &Waker) -> bool {
        closing.is_closed(self.reader.handle(), waker) || self.writer.handle().is_closed()
    }
}

impl<Q: DdsType + Sync, R: Send> CallStep for RequestSend<'_, Q, R> {
    type Request = Q;
    type Reply = R;
    type Output = Replies<Q, R>;

    fn asking(&self) -> &Asking<Q, R> {
        self.asking
    }

    fn progress(&self) -> Progress {
        RequestSend::progress(self)
    }

    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<Replies<Q, R>, WaitErrorKind>> {
        self.poll_sent(ticket, waker).map_ok(|number| Replies::new(Arc::clone(self.asking), number))
    }
}

/// Sends a request and waits for its first reply.
pub(super) struct Calling<'a, Q, R> {
    sending: RequestSend<'a, Q, R>,
}

impl<'a, Q, R> Calling<'a, Q, R> {
    pub(super) fn new(asking: &'a Arc<Asking<Q, R>>, request: &'a Q) -> Self {
        Self { sending: RequestSend::new(asking, request) }
    }
}

impl<Q: DdsType + Sync, R: Send> CallStep for Calling<'_, Q, R> {
    type Request = Q;
    type Reply = R;
    type Output = R;

    fn asking(&self) -> &Asking<Q, R> {
        self.sending.asking
    }

    fn progress(&self) -> Progress {
        self.sending.progress()
    }

    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<R, WaitErrorKind>> {
        let number = ready!(self.sending.poll_sent(ticket, waker))?;
        self.sending.asking.calls.poll(number, ticket, waker)
    }
}

impl<Q, R> Drop for Calling<'_, Q, R> {
    fn drop(&mut self) {
        if let Progress::Sent(number) = self.sending.progress() {
            // Later replies to it are for no caller, and are dropped undecoded.
            self.sending.asking.calls.end(number);
        }
    }
}

/// The replies to one request. Dropping it cancels the request.
///
/// Returned by [`Requester::call_all`](crate::rpc::Requester::call_all). It is also a
/// [`Stream`](futures_core::Stream), which ends when every replier that received the request has left, or when the
/// requester is closed.
pub struct Replies<Q, R> {
    asking: Arc<Asking<Q, R>>,
    number: SequenceNumber,
    closing: CloseWatch,
    /// Place among the waiters of the stream.
    ticket: Option<Ticket>,
    turn: Turn,
}

impl<Q, R> Replies<Q, R> {
    fn new(asking: Arc<Asking<Q, R>>, number: SequenceNumber) -> Self {
        Self { asking, number, closing: CloseWatch::default(), ticket: None, turn: Turn::default() }
    }
}

impl<Q, R: DecodeOwned + Send> Replies<Q, R> {
    /// Waits for the next reply, of any replier.
    ///
    /// Errors of the wait: as [`Requester::call`](crate::rpc::Requester::call). After
    /// [`WaitErrorKind::RepliersGone`] no reply follows.
    pub fn next_reply(&mut self) -> Waiting<'_, R> {
        let step = NextReply { asking: &self.asking, number: self.number };
        Waiting::of_own(Box::new(RequesterWait::new(step)), Awaited::Reply)
    }

    /// Waits for the next reply, of any replier. `None` once no further reply can arrive.
    ///
    /// Outside of async code, and for time limits, use [`next_reply`](Self::next_reply).
    pub async fn next(&mut self) -> Option<Result<R, WaitError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<Q, R> Stream for Replies<Q, R> {
    type Item = Result<R, WaitError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<R, WaitError>>> {
        let this = &mut *self;
        let (asking, number, ticket) = (&*this.asking, this.number, &mut this.ticket);
        let writer = asking.writer.handle();
        WaitSource::<()>::driver(&**writer).attend();
        // First, because a closed requester has no calls to poll.
        if asking.is_closed(&this.closing, context.waker()) {
            return Poll::Ready(None);
        }
        let polled = this.turn.poll(context, |context| asking.calls.poll(number, ticket, context.waker()));
        Poll::Ready(match ready!(polled) {
            Ok(reply) => Some(Ok(reply)),
            Err(WaitErrorKind::RepliersGone | WaitErrorKind::Closed) => None,
            Err(kind) => Some(Err(WaitError::new(writer.subject(), kind))),
        })
    }
}

impl<Q, R> Unpin for Replies<Q, R> {}

impl<Q, R> Drop for Replies<Q, R> {
    fn drop(&mut self) {
        self.closing.leave(self.asking.reader.handle());
        self.asking.calls.end(self.number);
    }
}

impl<Q, R> fmt::Debug for Replies<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replies(\"{}\", {})", self.asking.writer.topic_name(), self.number)
    }
}

/// Waits for the next reply to a request.
struct NextReply<'a, Q, R> {
    asking: &'a Asking<Q, R>,
    number: SequenceNumber,
}

impl<Q, R: Send> CallStep for NextReply<'_, Q, R> {
    type Request = Q;
    type Reply = R;
    type Output = R;

    fn asking(&self) -> &Asking<Q, R> {
        self.asking
    }

    fn progress(&self) -> Progress {
        Progress::Sent(self.number)
    }

    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<R, WaitErrorKind>> {
        self.asking.calls.poll(self.number, ticket, waker)
    }
}
