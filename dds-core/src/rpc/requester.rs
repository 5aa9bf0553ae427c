//! The side of a service that asks.

use crate::infrastructure::{Awaited, CreateError, Delivery, Missing, WaitErrorKind, WaitSource, Waiting};
use crate::participant::DomainParticipant;
use crate::publication::DataWriter;
use crate::qos::{DataReaderQos, DataWriterQos};
use crate::rpc::call::{Calling, Progress, ReplierMatch, Replies, RequestSend, RequesterWait};
use crate::rpc::calls_in_flight::{CallsInFlight, Limits};
use crate::rpc::correlation;
use crate::rpc::service::{SLOW_PEER, Service};
use crate::subscription::DataReader;
use dds_rtps::cdr::{DdsType, DecodeOwned};
use dds_rtps::types::{Guid, GuidPrefix};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Sends requests of the type `Q` to repliers, and receives replies of the type `R`.
///
/// A handle: clones are cheap and refer to the same requester. Dropping the last clone deletes its endpoints. Several
/// requests may be in flight, from several threads.
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
/// # let replier = Replier::<Number, Number>::new(&participant, "square")?;
/// # std::thread::spawn(move || replier.serve(|number| Number { value: number.value * number.value }));
/// let requester = Requester::<Number, Number>::new(&participant, "square")?;
/// let limit = Duration::from_secs(10);
/// assert_eq!(requester.call(&Number { value: 7 }).block_for(limit)?.value, 49);
///
/// // Several requests at once. The replies of one request come from all repliers.
/// let requests = [2, 3].map(|value| requester.call_all(&Number { value }).block_for(limit));
/// for (request, square) in requests.into_iter().zip([4, 9]) {
///     assert_eq!(request?.next_reply().block_for(limit)?.value, square);
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "client")]
pub struct Requester<Q, R> {
    pub(super) asking: Arc<Asking<Q, R>>,
}

/// State that the handles of one requester share.
pub(super) struct Asking<Q, R> {
    pub(super) writer: DataWriter<Q>,
    pub(super) reader: DataReader<R>,
    pub(super) calls: Arc<CallsInFlight<R>>,
}

impl<Q, R> Requester<Q, R>
where
    Q: DdsType,
    R: DdsType + DecodeOwned + Send + 'static,
{
    /// Creates a requester of `service` with the default settings.
    ///
    /// # Errors
    /// As [`RequesterBuilder::build`].
    pub fn new(participant: &DomainParticipant, service: &str) -> Result<Self, CreateError>
    where
        Q: 'static,
    {
        Self::builder(participant, service).build()
    }

    /// Returns a builder of a requester of `service`, for topic names, QoS and limits.
    pub fn builder(participant: &DomainParticipant, service: &str) -> RequesterBuilder<Q, R> {
        RequesterBuilder {
            participant: participant.clone(),
            service: Service::new(service),
            limits: Limits { requests: 1024, replies: 64 },
            marker: PhantomData,
        }
    }

    /// Waits for a replier, sends `request`, and waits for its first reply.
    ///
    /// It sends the request once a replier matches both ways, so no reply is lost at start-up. With several repliers,
    /// the first reply is returned and the others are ignored. Dropping the wait cancels the call.
    ///
    /// If a replier does not acknowledge earlier requests and the history is full, the wait includes that for room.
    ///
    /// Errors of the wait: [`WaitErrorKind::Timeout`] says which part was missing. With
    /// [`WaitErrorKind::RepliersGone`], every replier that received the request has left. Also
    /// [`WaitErrorKind::NotSent`], [`WaitErrorKind::NotDecodable`], and [`WaitErrorKind::OutOfResources`] if too many
    /// requests are in flight.
    #[doc(alias = "send_request")]
    #[doc(alias = "receive_reply")]
    pub fn call<'a>(&'a self, request: &'a Q) -> Waiting<'a, R>
    where
        Q: Sync,
    {
        Waiting::of_own(Box::new(RequesterWait::new(Calling::new(&self.asking, request))), Awaited::Reply)
    }

    /// Waits for a replier and sends `request`. Returns the replies of all repliers, one after the other.
    ///
    /// Also use it to send several requests before the first reply. Errors of the wait: as [`call`](Self::call).
    #[doc(alias = "send_request")]
    pub fn call_all<'a>(&'a self, request: &'a Q) -> Waiting<'a, Replies<Q, R>>
    where
        Q: Sync,
    {
        Waiting::of_own(Box::new(RequesterWait::new(RequestSend::new(&self.asking, request))), Awaited::Replier)
    }

    /// Waits until a replier matches both ways.
    #[doc(alias = "wait_for_service")]
    pub fn wait_for_replier(&self) -> Waiting<'_, ()> {
        Waiting::of_own(Box::new(RequesterWait::new(ReplierMatch { asking: &self.asking })), Awaited::Replier)
    }

    /// Returns how many participants have a replier that matches both ways.
    #[must_use]
    #[doc(alias = "service_is_ready")]
    pub fn repliers(&self) -> usize {
        self.asking.repliers().len()
    }

    /// Returns how many requests are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.asking.calls.len()
    }

    /// Returns the writer of the requests.
    #[must_use]
    pub fn request_writer(&self) -> &DataWriter<Q> {
        &self.asking.writer
    }

    /// Returns the reader of the replies. The requester takes every sample as it arrives.
    #[must_use]
    pub fn reply_reader(&self) -> &DataReader<R> {
        &self.asking.reader
    }

    /// Closes the requester. Calls in flight end with [`WaitErrorKind::Closed`].
    pub fn close(&self) {
        self.asking.writer.close();
        self.asking.reader.close();
    }
}

impl<Q, R> Asking<Q, R> {
    /// Participants whose replier matches both ways.
    pub(super) fn repliers(&self) -> Vec<GuidPrefix> {
        let back = self.reader.handle().matched_peers();
        let there = self.writer.handle().matched_peers();
        let mut both: Vec<_> = there.iter().map(|reader| reader.prefix).collect();
        // A replier has both endpoints in one participant. A reply cannot arrive if only one way matches.
        both.retain(|prefix| back.iter().any(|writer| writer.prefix == *prefix));
        // A replier with several endpoints counts once.
        both.sort_unstable();
        both.dedup();
        both
    }

    /// Returns the missing part of a call, without the reason of a missing match.
    pub(super) fn missing_at_a_glance(&self, progress: Progress) -> Missing {
        let there = self.writer.handle().matched_peers().len();
        match progress {
            Progress::Sent(number) => return Missing::Reply { repliers: self.calls.asked(number) },
            // The history of the writer is full, so a replier does not take its requests.
            Progress::Full => return Missing::Acknowledgment { readers: there },
            Progress::Matching => {}
        }
        let back = self.reader.handle().matched_peers().len();
        match (there, back) {
            (0, 0) => Missing::Matches { matched: 0, wanted: 1 },
            (1.., 1..) => Missing::Replier { requests: there, replies: back },
            _ => Missing::OneWay { requests: there, replies: back },
        }
    }

    /// Returns the missing part of a call, with the reason of a missing match.
    pub(super) fn missing(&self, progress: Progress) -> Missing {
        match self.missing_at_a_glance(progress) {
            Missing::Matches { .. } => WaitSource::<()>::missing(&**self.writer.handle(), Awaited::Matched(1)),
            // The writer of the replies may be there, and not know the reader yet.
            Missing::OneWay { replies: 0, requests } => {
                match WaitSource::<()>::missing(&**self.reader.handle(), Awaited::Matched(1)) {
                    incomplete @ Missing::Completion { .. } => incomplete,
                    _ => Missing::OneWay { replies: 0, requests },
                }
            }
            missing => missing,
        }
    }
}

/// Builds a [`Requester`]. See [`Requester::builder`].
#[must_use = "a builder creates nothing until `build` is called"]
pub struct RequesterBuilder<Q, R> {
    participant: DomainParticipant,
    service: Service,
    limits: Limits,
    marker: PhantomData<fn(Q) -> R>,
}

impl<Q, R> RequesterBuilder<Q, R>
where
    Q: DdsType + 'static,
    R: DdsType + DecodeOwned + Send + 'static,
{
    /// Sets the names of both topics. Default: `<service>_Request` and `<service>_Reply`.
    pub fn topics(mut self, request: impl Into<String>, reply: impl Into<String>) -> Self {
        self.service.request_topic = request.into();
        self.service.reply_topic = reply.into();
        self
    }

    /// Sets the QoS of the writer of requests and of the reader of replies.
    ///
    /// Default: reliable, volatile, and keep all, with at most 1024 samples. `max_blocking_time` is 3 s.
    pub fn qos(mut self, requests: impl Into<DataWriterQos>, replies: impl Into<DataReaderQos>) -> Self {
        self.service.writer_qos = requests.into();
        self.service.reader_qos = replies.into();
        self
    }

    /// Sets how many requests may be in flight. Default: 1024.
    ///
    /// Further calls fail with [`WaitErrorKind::OutOfResources`].
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.limits.requests = requests;
        self
    }

    /// Sets how many replies of one request may wait for the application. Default: 64.
    ///
    /// The requester drops further replies, and [`Replies::next_reply`] then reports
    /// [`WaitErrorKind::OutOfResources`] once.
    pub fn max_replies(mut self, replies: usize) -> Self {
        self.limits.replies = replies.max(1);
        self
    }

    /// Creates the requester and announces its endpoints.
    ///
    /// # Errors
    /// As [`DataWriterBuilder::build`](crate::DataWriterBuilder::build).
    pub fn build(self) -> Result<Requester<Q, R>, CreateError> {
        let Self { participant, service, limits, .. } = self;
        let calls = Arc::new(CallsInFlight::new(limits));
        let matched = Arc::clone(&calls);
        let writer = participant
            .writer_builder::<Q>(&service.request_topic)
            .qos(service.writer_qos)
            .slow_reader(SLOW_PEER)
            .delivery(Delivery::Inline)
            .on_event(move |_, _| matched.wake_matching())
            .build()?;
        let (received, rematch) = (Arc::clone(&calls), Arc::clone(&calls));
        // Repliers name a request by the writer or by the reader of the requester.
        let own = writer.guid();
        let reader = participant
            .reader_builder::<R>(&service.reply_topic)
            .qos(service.reader_qos)
            // Not every replier waits for the reader of its reply.
            .match_both_ways()
            .delivery(Delivery::Inline)
            .on_data(move |reader| receive(reader, own, &received))
            .on_event(move |reader, _| rematch.rematch(|| reader.handle().matched_peers()))
            .build()?;
        Ok(Requester { asking: Arc::new(Asking { writer, reader, calls }) })
    }
}

/// Takes the replies that have arrived, and hands the own ones to their calls.
fn receive<R: DecodeOwned>(reader: &DataReader<R>, writer: Guid, calls: &CallsInFlight<R>) {
    let own = [writer, reader.guid()];
    // The only error means that the reader is closed.
    let Ok(samples) = reader.take() else { return };
    for sample in &samples {
        let Some(number) = correlation::replied_request(sample.info().related_sample, own) else { continue };
        // Every requester of the service receives all replies, so most are for others. Do not decode those.
        if !calls.awaits(number) {
            continue;
        }
        // The end of an instance is no reply.
        if let Some(reply) = sample.decode() {
            calls.receive(number, reply.map_err(WaitErrorKind::NotDecodable));
        }
    }
}

impl<Q, R> Clone for Requester<Q, R> {
    fn clone(&self) -> Self {
        Self { asking: Arc::clone(&self.asking) }
    }
}

impl<Q, R> fmt::Debug for Requester<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Requester(\"{}\")", self.asking.writer.topic_name())
    }
}

impl<Q, R> fmt::Debug for RequesterBuilder<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequesterBuilder").field("service", &self.service).finish_non_exhaustive()
    }
}
