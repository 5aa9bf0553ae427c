//! The typed handle of a reader (DDS 1.4, 2.2.2.5.3).

use crate::actor::Ticket;
use crate::cdr::DecodeOwned;
use crate::context::ParticipantRef;
use crate::driver::Driver;
#[cfg(doc)]
use crate::infrastructure::ReadErrorKind;
use crate::infrastructure::{
    Awaited, CreateError, DeadlineMissedStatus, Entity, Events, FilterError, IncompatibleQosStatus,
    LivelinessChangedStatus, QosError, ReadError, SampleLostStatus, SampleRejectedStatus, StatusCondition, StatusMask,
    Subject, SubscriptionMatchedStatus, WaitErrorKind, WaitSource, Waiting,
};
use crate::introspection::{EndpointInfo, MatchReport};
use crate::qos::{DataReaderQos, Durability};
use crate::subscription::reader_handle::wait_error;
use crate::subscription::samples::{BatchPool, decode_sample, decode_sample_into};
use crate::subscription::{
    DataStream, HistoryWait, Iter, QueryCondition, ReadCondition, ReaderEvent, ReaderHandle, ReaderLosses, Sample,
    SampleStream, Samples, Select, Subscriber, SubscriptionContext, WeakDataReader,
};
use crate::topic::{PublicationBuiltinTopicData, Topic, texts};
use dds_rtps::history::{Operation, Selection, States};
use dds_rtps::reader::ReaderCounters;
use dds_rtps::types::{Guid, InstanceHandle};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Poll, Waker, ready};

/// Receives the samples of a topic.
///
/// A handle: cloning it is cheap, every clone speaks of the same reader, and the last one dropped deletes it. It keeps its
/// participant alive. Several threads may take from one reader: each sample goes to one of them.
///
/// Nothing here blocks but [`Waiting::block`] and [`iter`](DataReader::iter).
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// for x in [1.0, 2.0, 3.0] {
///     writer.write(&Pose { robot: 7, x })?;
/// }
/// // One after the other, waiting for each ...
/// let sample = reader.next_sample().block()?;
/// assert_eq!((sample.data, sample.info.source_timestamp.is_valid()), (Some(Pose { robot: 7, x: 1.0 }), true));
/// // ... or all that have come, without waiting.
/// let poses: Vec<Pose> = reader.take()?.into_data().collect();
/// assert_eq!(poses.len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct DataReader<T> {
    handle: Arc<ReaderHandle>,
    /// Dropped after the handle, for the end of the participant is to find what that leaves. `None`: lent to a call.
    pub(super) user: Option<ParticipantRef<dyn SubscriptionContext>>,
    marker: PhantomData<fn() -> T>,
}

impl<T> DataReader<T> {
    /// One of the application's own.
    pub(crate) fn from_handle(handle: Arc<ReaderHandle>) -> Self {
        let user = ParticipantRef::join(handle.participant());
        Self { handle, user, marker: PhantomData }
    }

    /// For as long as a call of a listener.
    pub(crate) fn lend(handle: Arc<ReaderHandle>) -> Self {
        Self { handle, user: None, marker: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Arc<ReaderHandle> {
        &self.handle
    }

    /// Takes all samples out of the reader, in the order of their arrival. Nothing there: an empty batch.
    ///
    /// The batch holds the samples encoded; nothing is copied or decoded yet, and nothing is allocated in steady state.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn take(&self) -> Result<Samples<T>, ReadError> {
        self.batch(&Selection::default(), Operation::Take)
    }

    /// Like [`take`](DataReader::take), but leaves the samples in the reader, marked as read.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn read(&self) -> Result<Samples<T>, ReadError> {
        self.batch(&Selection::default(), Operation::Read)
    }

    /// Reads or takes a part of the samples: by state, instance, condition, and number.
    #[doc(alias = "read_instance")]
    #[doc(alias = "take_instance")]
    #[doc(alias = "read_next_instance")]
    #[doc(alias = "take_next_instance")]
    #[doc(alias = "read_w_condition")]
    #[doc(alias = "take_w_condition")]
    pub fn select(&self) -> Select<'_, T> {
        Select::new(self)
    }

    pub(crate) fn batch(&self, selection: &Selection<'_>, operation: Operation) -> Result<Samples<T>, ReadError> {
        let list = self.handle.select(selection, operation)?;
        Ok(Samples::new(list, Arc::clone(self.handle.batches())))
    }

    /// Takes the next sample that has not been read, decoded; `None` if there is none. One that does not decode is counted and
    /// passed over.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "take_next_sample")]
    pub fn take_next(&self) -> Result<Option<Sample<T>>, ReadError>
    where
        T: DecodeOwned,
    {
        self.next(Operation::Take, States::NOT_READ)
    }

    /// Reads the next sample that has not been read; `None` if there is none.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "read_next_sample")]
    pub fn read_next(&self) -> Result<Option<Sample<T>>, ReadError>
    where
        T: DecodeOwned,
    {
        self.next(Operation::Read, States::NOT_READ)
    }

    /// Takes the oldest sample, whether it has been read or not.
    pub(crate) fn take_first(&self) -> Result<Option<Sample<T>>, ReadError>
    where
        T: DecodeOwned,
    {
        self.next(Operation::Take, States::ANY)
    }

    fn next(&self, operation: Operation, states: States) -> Result<Option<Sample<T>>, ReadError>
    where
        T: DecodeOwned,
    {
        let selection = ReaderHandle::next_selection(states);
        BatchPool::with_list(|list| {
            loop {
                self.handle.select_into(&selection, operation, list)?;
                let Some(sample) = list.pop() else { return Ok(None) };
                match decode_sample(&sample, self.handle.batches().ty()) {
                    Ok(sample) => return Ok(Some(sample)),
                    Err(_) => self.handle.batches().note_not_decodable(),
                }
            }
        })
    }

    /// Takes all samples into `buffer`, whose elements are used again with their allocations; the rest of it is cut off.
    /// Returns how many there are.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`; then `buffer` is as it was.
    pub fn take_into(&self, buffer: &mut Vec<Sample<T>>) -> Result<usize, ReadError>
    where
        T: DecodeOwned,
    {
        BatchPool::with_list(|list| {
            self.handle.select_into(&Selection::default(), Operation::Take, list)?;
            let (mut filled, ty) = (0, self.handle.batches().ty());
            for sample in list.iter() {
                let decoded = match buffer.get_mut(filled) {
                    Some(element) => decode_sample_into(sample, element, ty),
                    None => decode_sample(sample, ty).map(|sample| buffer.push(sample)),
                };
                match decoded {
                    Ok(()) => filled += 1,
                    Err(_) => self.handle.batches().note_not_decodable(),
                }
            }
            buffer.truncate(filled);
            Ok(filled)
        })
    }

    /// Waits for the next sample and takes it. A wait that is dropped loses none.
    pub fn next_sample(&self) -> Waiting<'_, Sample<T>>
    where
        T: DecodeOwned,
    {
        Waiting::new(self, Awaited::Sample)
    }

    /// Waits until there is a sample that has not been read, and leaves it in the reader.
    pub fn readable(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Readable)
    }

    /// Waits until at least `count` writers match.
    pub fn wait_for_writers(&self, count: usize) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Matched(count))
    }

    /// Waits for what was written before this reader came: until every writer that matches now has delivered all that it
    /// had when this reader first heard it, as far as it still has it. Of a writer that leaves meanwhile nothing is
    /// waited for any more. Writers that match later do not count: wait for them to match first, with
    /// [`wait_for_writers`](DataReader::wait_for_writers).
    ///
    /// Delivered is what is in the reader. One that has no room for all of it gets the rest only as samples are taken.
    ///
    /// A volatile reader gets nothing that was written before, and a best-effort one cannot know what there was: they do
    /// not wait.
    ///
    /// ```
    /// use dds_core::qos::Preset;
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Map {
    ///     name: String,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let writer = participant.writer_builder::<Map>("history/map").qos(Preset::State).build()?;
    /// writer.write(&Map { name: "hall".into() })?;
    /// let reader = participant.reader_builder::<Map>("history/map").qos(Preset::State).build()?;
    /// reader.wait_for_writers(1).block()?;
    /// reader.historical_data().block()?;
    /// assert_eq!(reader.take()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "wait_for_historical_data")]
    pub fn historical_data(&self) -> Waiting<'_, ()> {
        let wants = |qos: &DataReaderQos| qos.durability > Durability::Volatile && qos.reliability.is_reliable();
        let has_history = self.handle.qos().read(wants);
        let writers = if has_history { self.handle.matched_writers() } else { Vec::new() };
        Waiting::of_own(Box::new(HistoryWait::new(&self.handle, writers)), Awaited::History)
    }

    /// The values as they come: blocks between them and until the reader is enabled, and ends when it is closed.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T>
    where
        T: DecodeOwned,
    {
        Iter::new(self)
    }

    /// The values as a [`Stream`](futures_core::Stream) that owns a handle and ends when the reader is closed. Nothing comes
    /// before it is enabled.
    ///
    /// A reader that is flooded leaves others their turn: in a task of tokio, samples count as what tokio's own channels hand out;
    /// elsewhere the stream pauses after 256 in a row. Many readers make one stream by `SelectAll` of the crate `futures`: each
    /// wakes only itself, so a sample costs as much among 10 000 readers as alone.
    #[must_use]
    pub fn stream(&self) -> DataStream<T>
    where
        T: DecodeOwned,
    {
        DataStream::new(self.sample_stream())
    }

    /// Like [`stream`](DataReader::stream), with each value's [`SampleInfo`](crate::SampleInfo).
    #[must_use]
    pub fn sample_stream(&self) -> SampleStream<T>
    where
        T: DecodeOwned,
    {
        SampleStream::new(self.clone())
    }

    /// A condition that is triggered as long as there are samples in these states, for a [`WaitSet`](crate::WaitSet) and
    /// for [`Select::condition`].
    #[must_use]
    #[doc(alias = "create_readcondition")]
    pub fn read_condition(&self, states: States) -> ReadCondition {
        ReadCondition::new(&self.handle, states)
    }

    /// A condition that is triggered as long as there are samples in these states whose contents meet `expression`, with
    /// `parameters` for `%0`, `%1`, …; for a [`WaitSet`](crate::WaitSet) and for [`Select::condition`].
    ///
    /// # Errors
    /// The expression is none, or does not fit the topic's type ([`FilterErrorKind`](crate::FilterErrorKind)); raw topics have
    /// no type that it could fit.
    #[doc(alias = "create_querycondition")]
    pub fn query_condition(
        &self,
        states: States,
        expression: &str,
        parameters: impl IntoIterator<Item: ToString>,
    ) -> Result<QueryCondition, FilterError> {
        ReadCondition::query(&self.handle, states, expression, &texts(parameters))
    }

    /// The condition that a status of this reader has changed, for a [`WaitSet`](crate::WaitSet). There is one for all
    /// handles of the reader.
    #[must_use]
    #[doc(alias = "get_statuscondition")]
    pub fn status_condition(&self) -> StatusCondition {
        self.handle.status_condition().clone()
    }

    /// The statuses that have changed since they were last read; none after `close`.
    #[must_use]
    #[doc(alias = "get_status_changes")]
    pub fn status_changes(&self) -> StatusMask {
        self.handle.status_condition().changes()
    }

    /// How many writers match, and how that changed since this was last called.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_subscription_matched_status")]
    pub fn subscription_matched(&self) -> Result<SubscriptionMatchedStatus, ReadError> {
        self.handle.subscription_matched()
    }

    /// Writers of this topic whose QoS does not fit.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_requested_incompatible_qos_status")]
    pub fn requested_incompatible_qos(&self) -> Result<IncompatibleQosStatus, ReadError> {
        self.handle.requested_incompatible_qos()
    }

    /// Samples that were lost on the way here.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_sample_lost_status")]
    pub fn sample_lost(&self) -> Result<SampleLostStatus, ReadError> {
        self.handle.sample_lost()
    }

    /// What this reader has not got, by writer and cause: see [`ReaderLosses`]. Goes over the matched writers and costs a
    /// system call per socket, so not for every sample.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn losses(&self) -> Result<ReaderLosses, ReadError> {
        self.handle.losses()
    }

    /// What its protocol has done, and what has come that makes no sense; [`losses`](Self::losses) say what of it was lost.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "metrics")]
    pub fn counters(&self) -> Result<ReaderCounters, ReadError> {
        self.handle.counters()
    }

    /// Samples for which this reader had no room, by its resource limits.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_sample_rejected_status")]
    pub fn sample_rejected(&self) -> Result<SampleRejectedStatus, ReadError> {
        self.handle.sample_rejected()
    }

    /// How many of the writers that match are alive, how many are not, and how that changed since this was last called. The
    /// lease of a writer is the one that it offers.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_liveliness_changed_status")]
    pub fn liveliness_changed(&self) -> Result<LivelinessChangedStatus, ReadError> {
        self.handle.liveliness_changed()
    }

    /// Instances that this reader has got no new sample of for longer than its DEADLINE says: once for each period, from the
    /// first sample of an instance on and as long as it is alive.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    #[doc(alias = "get_requested_deadline_missed_status")]
    pub fn requested_deadline_missed(&self) -> Result<DeadlineMissedStatus, ReadError> {
        self.handle.requested_deadline_missed()
    }

    /// What happens to this reader beside data, from its creation on. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<ReaderEvent> {
        self.handle.events()
    }

    /// Samples that arrived but did not decode as `T`.
    #[must_use]
    pub fn not_decodable(&self) -> u64 {
        self.handle.batches().not_decodable()
    }

    /// The writers that match now, with what they announce; none after `close`, and none of a built-in topic's reader.
    #[must_use]
    #[doc(alias = "get_matched_publications")]
    pub fn matched_publications(&self) -> Vec<EndpointInfo> {
        self.handle.participant().describe_endpoints(&self.handle.matched_writers())
    }

    /// What a writer that matches now announces; `None` if the handle is no such writer's.
    #[must_use]
    #[doc(alias = "get_matched_publication_data")]
    pub fn matched_publication_data(&self, publication: InstanceHandle) -> Option<PublicationBuiltinTopicData> {
        let is_matched = self.handle.matched_writers().into_iter().any(|guid| publication == guid.into());
        self.handle.participant().publication_data(publication).filter(|_| is_matched)
    }

    /// A report for each writer that is known of this topic: whether it matches, and if not, everything that is in the
    /// way. Writers of topics with a similar name, if there is none. None after `close` of the participant.
    #[must_use]
    pub fn explain_matches(&self) -> Vec<MatchReport> {
        self.handle.participant().explain_endpoint(self.handle.guid())
    }

    /// The QoS that the reader has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DataReaderQos {
        self.handle.qos().get()
    }

    /// Changes the QoS, as far as DDS 1.4 (2.2.3) lets it change while a reader lives: USER_DATA, DEADLINE,
    /// LATENCY_BUDGET, TIME_BASED_FILTER and READER_DATA_LIFECYCLE, and announces
    /// it: peers match anew. Without effect once the reader is closed.
    ///
    /// ```
    /// # use dds_core::qos::{PolicyId, QosErrorKind};
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Pose { x: f64 }
    /// # fn main() -> dds_core::Result<()> {
    /// # let participant = DomainParticipant::builder(0).scope(Scope::Host).domain_tag(std::process::id().to_string()).build()?;
    /// let reader = participant.reader::<Pose>("seen/pose")?;
    /// reader.set_qos(reader.qos().user_data(*b"on duty"))?;
    /// let error = reader.set_qos(reader.qos().keep_all()).unwrap_err();
    /// assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Nothing has changed: [`QosErrorKind::Immutable`](crate::qos::QosErrorKind::Immutable) names a policy that must
    /// stay, another kind what contradicts itself.
    pub fn set_qos(&self, qos: DataReaderQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// The subscriber that it was made in; `None`: the participant's implicit one, which has the default QoS.
    #[must_use]
    #[doc(alias = "get_subscriber")]
    pub fn subscriber(&self) -> Option<Subscriber> {
        self.handle.group().cloned().map(Subscriber::from_group)
    }

    /// The topic that it was made of; `None` if that was only named, or specified by a [`TopicSpec`](crate::TopicSpec).
    #[must_use]
    #[doc(alias = "get_topicdescription")]
    pub fn topic(&self) -> Option<Topic<T>> {
        self.handle.topic().cloned().map(Topic::from_handle)
    }

    /// A handle that does not keep the reader alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakDataReader<T> {
        WeakDataReader::new(&self.handle)
    }

    /// The topic's name.
    #[must_use]
    pub fn topic_name(&self) -> &str {
        self.handle.topic_name()
    }

    /// The topic's type, as it is announced.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.handle.type_name()
    }
}

impl<T> Entity for DataReader<T> {
    fn guid(&self) -> Guid {
        self.handle.guid()
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.handle.enable().map_err(|kind| CreateError::new(&self.handle.subject, kind))
    }

    fn is_enabled(&self) -> bool {
        self.handle.is_enabled()
    }

    fn status_condition(&self) -> StatusCondition {
        self.handle.status_condition().clone()
    }

    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn close(&self) {
        self.handle.close();
    }

    fn closed(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Closed)
    }
}

impl<T> crate::infrastructure::Sealed for DataReader<T> {}

impl<T: DecodeOwned> WaitSource<Sample<T>> for DataReader<T> {
    fn poll_wait(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Sample<T>, WaitErrorKind>> {
        if awaited == Awaited::SampleOnceEnabled {
            ready!(self.handle.poll_enabled(ticket, waker))?;
        }
        loop {
            match self.take_first() {
                Ok(Some(sample)) => {
                    if let Some(ticket) = ticket.take() {
                        self.handle.abandon_wait(Awaited::Sample, ticket);
                    }
                    return Poll::Ready(Ok(sample));
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(wait_error(error.kind()))),
            }
            // Ready now: data came in between.
            ready!(self.handle.poll_ready(Awaited::Sample, ticket, waker))?;
        }
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        self.handle.abandon_wait(awaited, ticket);
    }

    fn driver(&self) -> &dyn Driver {
        WaitSource::<()>::driver(&*self.handle)
    }

    fn subject(&self) -> &Arc<Subject> {
        WaitSource::<()>::subject(&*self.handle)
    }

    fn complain(&self, awaited: Awaited) {
        WaitSource::<()>::complain(&*self.handle, awaited);
    }
}

impl<T> Clone for DataReader<T> {
    fn clone(&self) -> Self {
        Self::from_handle(Arc::clone(&self.handle))
    }
}

impl<T> fmt::Debug for DataReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataReader({}, \"{}\")", self.handle.guid(), self.handle.topic_name())
    }
}

impl<'a, T: DecodeOwned> IntoIterator for &'a DataReader<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
