//! The side of a service that answers.

use crate::actor::{Effects, Ticket, Wakers};
use crate::driver::Driver;
use crate::infrastructure::{
    Awaited, CreateError, Delivery, Missing, Subject, WaitError, WaitErrorKind, WaitSource, Waiting,
};
use crate::participant::DomainParticipant;
use crate::publication::DataWriter;
use crate::qos::{DataReaderQos, DataWriterQos};
use crate::rpc::close_watch::CloseWatch;
use crate::rpc::correlation;
use crate::rpc::request::Request;
use crate::rpc::service::{SLOW_PEER, Service};
use crate::subscription::{DataReader, Sample, wait_error};
use dds_rtps::cdr::{DdsType, DecodeOwned};
use dds_rtps::types::{Duration, Guid, Instant};
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Requests that wait until the reader of their reply is known.
const HELD_MAX: usize = 1024;

/// How long such a request waits. Discovery of a reader that is there takes a fraction of it.
const HELD_FOR: Duration = Duration::from_secs(10);

/// Answers requests of the type `Q` with replies of the type `R`.
///
/// A handle: clones are cheap and refer to the same replier. Dropping the last clone and the last [`Request`] deletes
/// its endpoints. Several threads may take requests, and each request goes to one of them.
///
/// A request is handed out once the requester's reader matches, so that its reply is not lost.
///
/// ```
/// # use dds_core::rpc::{Replier, Requester};
/// # use dds_core::{DdsType, DomainParticipant, Duration, Scope};
/// #[derive(DdsType)]
/// struct Number {
///     value: i64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// # let participant = DomainParticipant::builder(0)
/// #     .scope(Scope::Host)
/// #     .domain_tag(std::process::id().to_string())
/// #     .build()?;
/// # let requester = Requester::<Number, Number>::new(&participant, "square")?;
/// let replier = Replier::<Number, Number>::new(&participant, "square")?;
/// # let client = std::thread::spawn(move || requester.call(&Number { value: 7 }).block_for(Duration::from_secs(10)));
/// let request = replier.next_request().block()?;
/// // The reply may come from any thread, and later.
/// let thread = std::thread::spawn(move || {
///     let value = request.data.value;
///     request.reply(&Number { value: value * value })
/// });
/// # thread.join().expect("no panic")?;
/// # assert_eq!(client.join().expect("no panic")?.value, 49);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "server")]
pub struct Replier<Q, R> {
    answering: Arc<Answering<Q, R>>,
}

/// State that the handles of one replier share.
struct Answering<Q, R> {
    reader: DataReader<Q>,
    writer: DataWriter<R>,
    inbox: Arc<RequestInbox<Q>>,
}

/// Requests that wait for their way back, and the waits for requests.
struct RequestInbox<Q> {
    /// Locked for a few lines that call no foreign code.
    state: Mutex<RequestInboxState<Q>>,
}

struct RequestInboxState<Q> {
    held: VecDeque<Held<Q>>,
    waiters: Wakers,
}

struct Held<Q> {
    sample: Sample<Q>,
    since: Instant,
}

impl<Q> RequestInbox<Q> {
    fn new() -> Arc<Self> {
        let state = RequestInboxState { held: VecDeque::new(), waiters: Wakers::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, RequestInboxState<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_all(&self) {
        Effects::scope(|effects| self.state().waiters.wake_all(effects));
    }

    fn register(&self, ticket: &mut Option<Ticket>, waker: &Waker) {
        // Cloning runs code of the application, so it comes before the lock.
        let waker = waker.clone();
        Effects::scope(|effects| self.state().waiters.register(ticket, waker, effects));
    }

    fn finish(&self, ticket: &mut Option<Ticket>) {
        Effects::scope(|effects| self.state().waiters.finish(ticket, effects));
    }

    fn abandon(&self, ticket: Ticket) {
        Effects::scope(|effects| self.state().waiters.abandon(&mut Some(ticket), effects));
    }

    /// Takes the first held request that has a way back to one of `readers`.
    fn take_held(&self, readers: &[Guid]) -> Option<Sample<Q>> {
        let mut state = self.state();
        // The oldest first, whichever reader has matched last.
        let index = state.held.iter().position(|held| has_way_back(&held.sample, readers))?;
        Some(state.held.remove(index)?.sample)
    }

    /// Holds a request back. Returns the requests that waited too long.
    fn hold(&self, sample: Sample<Q>, now: Instant) -> Vec<Held<Q>> {
        let mut state = self.state();
        // The caller logs them outside of the lock.
        let mut late = Vec::new();
        while let Some(first) = state.held.front() {
            if state.held.len() < HELD_MAX && now.since(first.since) < HELD_FOR {
                break;
            }
            // The oldest first: its requester has most likely given up.
            late.extend(state.held.pop_front());
        }
        state.held.push_back(Held { sample, since: now });
        late
    }
}

/// Returns whether one of `readers`, which match the writer of replies, receives the reply to this request.
fn has_way_back<Q>(sample: &Sample<Q>, readers: &[Guid]) -> bool {
    match correlation::reply_reader(sample.info.related_sample) {
        Some(reader) => readers.contains(&reader),
        // A requester has both endpoints in one participant.
        None => {
            let requester = sample.info.sample_identity().writer.prefix;
            readers.iter().any(|reader| reader.prefix == requester)
        }
    }
}

impl<Q, R> Replier<Q, R>
where
    Q: DdsType + DecodeOwned + Send + 'static,
    R: DdsType + 'static,
{
    /// Creates a replier of `service` with the default settings.
    ///
    /// # Errors
    /// As [`ReplierBuilder::build`].
    pub fn new(participant: &DomainParticipant, service: &str) -> Result<Self, CreateError> {
        Self::builder(participant, service).build()
    }

    /// Returns a builder of a replier of `service`, for topic names and QoS.
    pub fn builder(participant: &DomainParticipant, service: &str) -> ReplierBuilder<Q, R> {
        ReplierBuilder { participant: participant.clone(), service: Service::new(service), marker: PhantomData }
    }

    /// Waits for the next request.
    #[doc(alias = "receive_request")]
    #[doc(alias = "take_request")]
    pub fn next_request(&self) -> Waiting<'_, Request<Q, R>> {
        let wait = RequestWait { answering: &self.answering, closing: CloseWatch::default() };
        Waiting::of_own(Box::new(wait), Awaited::Request)
    }

    /// Answers each request with the result of `answer`, until the replier is closed. Blocks the calling thread.
    ///
    /// Several threads may serve. A reply that cannot be sent is logged, and its requester gets none.
    ///
    /// # Errors
    /// As [`Waiting::block`], except for [`WaitErrorKind::Closed`].
    pub fn serve(&self, mut answer: impl FnMut(Q) -> R) -> Result<(), WaitError> {
        loop {
            let request = match self.next_request().block() {
                Ok(request) => request,
                Err(error) if *error.kind() == WaitErrorKind::Closed => return Ok(()),
                Err(error) => return Err(error),
            };
            if let Err(error) = request.answer(&mut answer) {
                tracing::warn!(parent: self.answering.reader.handle().span(), "a reply was not sent: {error}");
            }
        }
    }

    /// Returns the reader of the requests. The replier takes its samples.
    #[must_use]
    pub fn request_reader(&self) -> &DataReader<Q> {
        &self.answering.reader
    }

    /// Returns the writer of the replies.
    #[must_use]
    pub fn reply_writer(&self) -> &DataWriter<R> {
        &self.answering.writer
    }

    /// Closes the replier. [`serve`](Self::serve) then returns, and other waits end with [`WaitErrorKind::Closed`].
    pub fn close(&self) {
        self.answering.reader.close();
        self.answering.writer.close();
    }
}

impl<Q: DecodeOwned, R> Answering<Q, R> {
    /// Takes the next request whose requester receives a reply.
    fn take(&self) -> Result<Option<Sample<Q>>, WaitErrorKind> {
        let readers = self.writer.handle().matched_peers();
        if let Some(sample) = self.inbox.take_held(&readers) {
            return Ok(Some(sample));
        }
        loop {
            let sample = match self.reader.take_first() {
                Ok(Some(sample)) => sample,
                Ok(None) => break,
                Err(error) => return Err(wait_error(error.kind())),
            };
            if sample.data.is_none() {
                // The end of an instance is no request.
                continue;
            }
            // The present matches, because a late look hands out a request too late, and an early one loses its reply.
            if has_way_back(&sample, &self.writer.handle().matched_peers()) {
                return Ok(Some(sample));
            }
            self.hold(sample);
        }
        // A reader may have matched while its request was put aside.
        Ok(self.inbox.take_held(&self.writer.handle().matched_peers()))
    }

    /// Holds a request back until the reader of its reply matches.
    fn hold(&self, sample: Sample<Q>) {
        let now = WaitSource::<()>::driver(&**self.reader.handle()).now().instant;
        for late in self.inbox.hold(sample, now) {
            let request = late.sample.info.sample_identity();
            tracing::warn!(
                parent: self.reader.handle().span(),
                requester = %request.writer,
                number = %request.sequence_number,
                "a request was dropped: no reader of its reply has matched; {HELD_MAX} requests wait for at most \
                 {HELD_FOR}"
            );
        }
    }
}

/// Wait for the next request.
struct RequestWait<'a, Q, R> {
    answering: &'a Answering<Q, R>,
    closing: CloseWatch,
}

impl<Q: DecodeOwned + Send, R> WaitSource<Request<Q, R>> for RequestWait<'_, Q, R> {
    fn poll_wait(
        &self,
        _: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Request<Q, R>, WaitErrorKind>> {
        let Answering { reader, writer, inbox } = self.answering;
        // Registered before the look, so that no request in between is missed.
        inbox.register(ticket, waker);
        let taken = self.answering.take();
        if let Ok(None) = taken {
            // Only after the look, so that requests that are here are still handed out.
            let is_closed = self.closing.is_closed(reader.handle(), waker);
            return if is_closed { Poll::Ready(Err(WaitErrorKind::Closed)) } else { Poll::Pending };
        }
        inbox.finish(ticket);
        match taken {
            Ok(Some(Sample { data: Some(data), info })) => {
                let name = correlation::request_name(info.sample_identity(), info.related_sample);
                Poll::Ready(Ok(Request::new(data, name, writer.clone())))
            }
            Ok(_) => {
                debug_assert!(false, "a request that is taken has data");
                Poll::Pending
            }
            Err(kind) => Poll::Ready(Err(kind)),
        }
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        self.answering.inbox.abandon(ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&**self.answering.reader.handle())
    }

    fn subject(&self) -> &Arc<Subject> {
        self.answering.reader.handle().subject()
    }

    /// A service may be idle for any time.
    fn warns_of(&self, _: Awaited) -> bool {
        false
    }

    fn complain(&self, _: Awaited) {}

    fn missing_at_a_glance(&self, _: Awaited) -> Missing {
        WaitSource::<()>::missing_at_a_glance(&**self.answering.reader.handle(), Awaited::Sample)
    }

    fn missing(&self, _: Awaited) -> Missing {
        WaitSource::<()>::missing(&**self.answering.reader.handle(), Awaited::Sample)
    }
}

impl<Q, R> Drop for RequestWait<'_, Q, R> {
    fn drop(&mut self) {
        self.closing.leave(self.answering.reader.handle());
    }
}

/// Builds a [`Replier`]. See [`Replier::builder`].
#[must_use = "a builder creates nothing until `build` is called"]
pub struct ReplierBuilder<Q, R> {
    participant: DomainParticipant,
    service: Service,
    marker: PhantomData<fn(Q) -> R>,
}

impl<Q, R> ReplierBuilder<Q, R>
where
    Q: DdsType + DecodeOwned + Send + 'static,
    R: DdsType + 'static,
{
    /// Sets the names of both topics. Default: `<service>_Request` and `<service>_Reply`.
    pub fn topics(mut self, request: impl Into<String>, reply: impl Into<String>) -> Self {
        self.service.request_topic = request.into();
        self.service.reply_topic = reply.into();
        self
    }

    /// Sets the QoS of the reader of requests and of the writer of replies.
    ///
    /// Default: reliable, volatile, and keep all, with at most 1024 samples. `max_blocking_time` is 3 s.
    pub fn qos(mut self, requests: impl Into<DataReaderQos>, replies: impl Into<DataWriterQos>) -> Self {
        self.service.reader_qos = requests.into();
        self.service.writer_qos = replies.into();
        self
    }

    /// Creates the replier and announces its endpoints.
    ///
    /// # Errors
    /// As [`DataReaderBuilder::build`](crate::DataReaderBuilder::build).
    pub fn build(self) -> Result<Replier<Q, R>, CreateError> {
        let Self { participant, service, .. } = self;
        let inbox = RequestInbox::new();
        let matched = Arc::clone(&inbox);
        // The writer first: a request that the reader receives at once can be answered.
        let writer = participant
            .writer_builder::<R>(&service.reply_topic)
            .qos(service.writer_qos)
            .slow_reader(SLOW_PEER)
            .delivery(Delivery::Inline)
            .on_event(move |_, _| matched.wake_all())
            .build()?;
        let received = Arc::clone(&inbox);
        let reader = participant
            .reader_builder::<Q>(&service.request_topic)
            .qos(service.reader_qos)
            .delivery(Delivery::Inline)
            .on_data(move |_| received.wake_all())
            .build()?;
        Ok(Replier { answering: Arc::new(Answering { reader, writer, inbox }) })
    }
}

impl<Q, R> Clone for Replier<Q, R> {
    fn clone(&self) -> Self {
        Self { answering: Arc::clone(&self.answering) }
    }
}

impl<Q, R> fmt::Debug for Replier<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replier(\"{}\")", self.answering.reader.topic_name())
    }
}

impl<Q, R> fmt::Debug for ReplierBuilder<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplierBuilder").field("service", &self.service).finish_non_exhaustive()
    }
}
