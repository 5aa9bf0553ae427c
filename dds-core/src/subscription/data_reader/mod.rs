//! The typed handle of a reader (DDS 1.4, 2.2.2.5.3).
//!
//! - `mod`: samples, waits, statuses, events, listeners and QoS.
//! - `instances`: lookup of instances.

mod instances;

use crate::actor::Ticket;
use crate::context::{GroupedEndpoint, ParticipantRef};
use crate::driver::Driver;
use crate::endpoint::{Endpoint, new_listener};
#[cfg(doc)]
use crate::infrastructure::ReadErrorKind;
use crate::infrastructure::{
    About, Awaited, CountStatus, CreateError, DeadlineMissedStatus, Events, IncompatibleQosStatus,
    LivelinessChangedStatus, Missing, PeerStatus, QosError, ReadError, SampleRejectedStatus, StatusMask, Subject,
    WaitErrorKind, WaitSource, Waiting,
};
use crate::introspection::EndpointInfo;
use crate::qos::{DataReaderQos, Durability};
use crate::subscription::listener::dispatch_to_listener;
use crate::subscription::reader_handle::wait_error;
use crate::subscription::samples::{BatchPool, decode_sample, decode_sample_into};
use crate::subscription::{
    Change, DataReaderListener, HistoryWait, Iter, QueryCondition, ReadCondition, ReaderEvent, ReaderHandle,
    ReaderLosses, Sample, SampleStream, Samples, Select, Subscriber, SubscriptionContext,
};
use crate::topic::{FilterExpression, PublicationBuiltinTopicData};
use dds_rtps::cdr::{DecodeOwned, Keyed};
use dds_rtps::history::{Operation, ReaderLatencies, Selection, States};
use dds_rtps::reader::ReaderCounters;
use dds_rtps::types::InstanceHandle;
pub(crate) use instances::decode_key;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Poll, Waker, ready};

/// Receives the samples of a topic.
///
/// A handle to a reader. Clones are cheap and refer to the same reader. Dropping the last clone deletes the reader. The
/// handle keeps its participant alive.
///
/// Several threads may take from one reader. Each sample goes to one of them.
///
/// Only [`Waiting::block`] and [`iter`](DataReader::iter) block.
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
/// // Wait for one sample ...
/// let sample = reader.next_sample().block()?;
/// assert_eq!((sample.data, sample.info.source_timestamp.is_valid()), (Some(Pose { robot: 7, x: 1.0 }), true));
/// // ... or take all available samples without waiting.
/// let poses: Vec<Pose> = reader.take()?.into_data().collect();
/// assert_eq!(poses.len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct DataReader<T> {
    handle: Arc<ReaderHandle>,
    /// Dropped after `handle`, because the end of the participant must find what `handle` leaves behind. `None` if the
    /// handle is lent to a listener.
    pub(super) user: Option<ParticipantRef<dyn SubscriptionContext>>,
    marker: PhantomData<fn() -> T>,
}

impl<T> DataReader<T> {
    /// Creates a handle that belongs to the application.
    pub(crate) fn from_handle(handle: Arc<ReaderHandle>) -> Self {
        let user = ParticipantRef::join(handle.participant());
        Self { handle, user, marker: PhantomData }
    }

    /// Creates a handle for the duration of a listener's call.
    pub(crate) fn lend(handle: Arc<ReaderHandle>) -> Self {
        Self { handle, user: None, marker: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Arc<ReaderHandle> {
        &self.handle
    }

    /// Takes all samples out of the reader, in the order of their arrival.
    ///
    /// Returns an empty batch if there are none. The batch holds encoded samples. The call copies and decodes nothing,
    /// and does not allocate in steady state.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn take(&self) -> Result<Samples<T>, ReadError> {
        self.batch(&Selection::default(), Operation::Take)
    }

    /// As [`take`](DataReader::take), but leaves the samples in the reader, marked as read.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn read(&self) -> Result<Samples<T>, ReadError> {
        self.batch(&Selection::default(), Operation::Read)
    }

    /// Reads or takes a selection of the samples, by state, instance, condition and number.
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

    /// Takes the next unread sample and decodes it. Returns `None` if there are no unread samples.
    ///
    /// It counts and skips samples that do not decode.
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

    /// Reads the next unread sample and decodes it. Returns `None` if there are no unread samples.
    ///
    /// It counts and skips samples that do not decode.
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

    /// Takes the oldest sample, read or unread.
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
                    // The sample is read or taken already, so the next turn finds another one.
                    Err(_) => self.handle.batches().note_not_decodable(),
                }
            }
        })
    }

    /// Takes all samples into `buffer` and returns their number.
    ///
    /// It reuses the elements of `buffer` with their allocations, and truncates `buffer` after the last sample.
    ///
    /// # Errors
    /// [`ReadErrorKind::Closed`] after `close`. Then `buffer` is unchanged.
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
                    // A sample that failed to decode leaves its element to the next one.
                    Ok(()) => filled += 1,
                    Err(_) => self.handle.batches().note_not_decodable(),
                }
            }
            buffer.truncate(filled);
            Ok(filled)
        })
    }

    /// Waits for the next sample and takes it. Dropping the wait loses no sample.
    pub fn next_sample(&self) -> Waiting<'_, Sample<T>>
    where
        T: DecodeOwned,
    {
        Waiting::new(self, Awaited::Sample)
    }

    /// Waits until there is an unread sample, and leaves it in the reader.
    pub fn readable(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Readable)
    }

    /// Waits until at least `count` writers match.
    pub fn wait_for_writers(&self, count: usize) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Matched(count))
    }

    /// Waits for the samples that were written before this reader existed.
    ///
    /// The wait ends when every writer that matches now has delivered its history. The history of a writer consists of
    /// the samples that it had when this reader first heard it, as far as it still has them. The wait ignores writers
    /// that leave or that match later. To wait for a match first, use
    /// [`wait_for_writers`](DataReader::wait_for_writers).
    ///
    /// A sample counts as delivered once it is in the reader. If the reader has no room for all of them, the rest
    /// arrives only as samples are taken.
    ///
    /// A volatile reader receives no earlier samples, and a best-effort reader cannot know which exist. For these
    /// readers the wait ends at once.
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
        // A volatile or best-effort reader gets no history, so there is nothing to wait for (DDS 1.4, 2.2.3.4).
        let qos = self.handle.qos().get();
        let has_history = qos.durability > Durability::Volatile && qos.reliability.is_reliable();
        // The writers of this moment: a later match must not prolong the wait.
        let writers = if has_history { self.handle.matched_peers() } else { Vec::new() };
        Waiting::of_own(Box::new(HistoryWait::new(&self.handle, writers)), Awaited::History)
    }

    /// Returns an iterator over the values as they arrive.
    ///
    /// It blocks until the reader is enabled and a value arrives. It ends when the reader is closed.
    pub fn iter(&self) -> impl Iterator<Item = T> + fmt::Debug + use<'_, T>
    where
        T: DecodeOwned,
    {
        Iter::new(self)
    }

    /// Returns the values as a [`Stream`](futures_core::Stream) that owns a handle.
    ///
    /// The stream ends when the reader is closed, and yields nothing until the reader is enabled.
    ///
    /// A flooded reader yields to other tasks. In a task of tokio, samples count against tokio's own budget. Elsewhere
    /// the stream pauses after 256 samples in a row.
    ///
    /// `SelectAll` of the crate `futures` merges the streams of many readers. Each reader wakes only itself, so a
    /// sample costs the same among 10 000 readers as alone.
    #[must_use]
    pub fn stream(&self) -> SampleStream<T, T>
    where
        T: DecodeOwned,
    {
        SampleStream::new(self.clone())
    }

    /// As [`stream`](DataReader::stream), with the [`SampleInfo`](crate::SampleInfo) of each value.
    #[must_use]
    pub fn sample_stream(&self) -> SampleStream<T>
    where
        T: DecodeOwned,
    {
        SampleStream::new(self.clone())
    }

    /// As [`stream`](DataReader::stream), with values and ends of instances. See [`Change`](crate::Change).
    ///
    /// The stream takes all samples at once, and drops with them those that it has not yielded yet.
    #[must_use]
    pub fn change_stream(&self) -> SampleStream<T, Change<T>>
    where
        T: DecodeOwned + Keyed,
    {
        SampleStream::new(self.clone())
    }

    /// Creates a condition that is true while the reader has samples in `states`.
    ///
    /// For a [`WaitSet`](crate::condition::WaitSet) and for [`Select::condition`].
    #[must_use]
    #[doc(alias = "create_readcondition")]
    pub fn read_condition(&self, states: States) -> ReadCondition {
        ReadCondition::new(&self.handle, states)
    }

    /// Creates a condition that is true while the reader has samples in `states` that match `expression`.
    ///
    /// The expression is text, or a [`FilterExpression`] with parameters. For a
    /// [`WaitSet`](crate::condition::WaitSet) and for [`Select::condition`].
    ///
    /// # Errors
    /// The expression is invalid or does not fit the topic's type ([`CreateErrorKind`](crate::error::CreateErrorKind)).
    /// Raw topics have no type, so they always fail.
    #[doc(alias = "create_querycondition")]
    pub fn query_condition(
        &self,
        states: States,
        expression: impl Into<FilterExpression>,
    ) -> Result<QueryCondition, CreateError> {
        ReadCondition::query(&self.handle, states, &expression.into())
    }

    /// Returns how many writers match, and the change since the last call.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_subscription_matched_status")]
    pub fn subscription_matched(&self) -> PeerStatus {
        self.handle.subscription_matched()
    }

    /// Returns how many writers of this topic have an incompatible QoS.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_requested_incompatible_qos_status")]
    pub fn requested_incompatible_qos(&self) -> IncompatibleQosStatus {
        self.handle.requested_incompatible_qos()
    }

    /// Returns how many samples were lost before they reached this reader.
    ///
    /// Samples that a reliable KEEP_LAST writer replaced do not count; [`losses`](Self::losses) has them.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_sample_lost_status")]
    pub fn sample_lost(&self) -> CountStatus {
        self.handle.sample_lost()
    }

    /// Explains which samples this reader did not get, by writer and cause. See [`ReaderLosses`].
    ///
    /// The call visits every matched writer and costs a system call for each socket. Do not call it for every sample.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    pub fn losses(&self) -> ReaderLosses {
        self.handle.losses()
    }

    /// Returns how long samples took from their write to this reader, and how long they waited in it.
    ///
    /// The reader always measures. The call copies at most 10 KB. See [`ReaderLatencies`].
    ///
    /// The histograms are empty after `close`.
    ///
    /// ```
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Pose { x: f64 }
    /// # let participant = DomainParticipant::builder(0)
    /// #   .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    /// #   .build()?;
    /// # let (writer, reader) = (participant.writer::<Pose>("pose")?, participant.reader::<Pose>("pose")?);
    /// writer.write(&Pose { x: 1.0 })?;
    /// reader.take_next()?;
    /// println!("{}", reader.latencies());
    /// # Ok::<(), dds_core::Error>(())
    /// ```
    #[must_use]
    pub fn latencies(&self) -> ReaderLatencies {
        self.handle.latencies()
    }

    /// Returns counters of the protocol, including implausible messages of writers.
    ///
    /// [`losses`](Self::losses) reports which samples were lost.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "metrics")]
    pub fn counters(&self) -> ReaderCounters {
        self.handle.counters()
    }

    /// Returns how many samples the reader rejected because of its resource limits.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_sample_rejected_status")]
    pub fn sample_rejected(&self) -> SampleRejectedStatus {
        self.handle.sample_rejected()
    }

    /// Returns how many matched writers are alive and not alive, and the change since the last call.
    ///
    /// The lease of a writer is the lease that the writer offers.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_liveliness_changed_status")]
    pub fn liveliness_changed(&self) -> LivelinessChangedStatus {
        self.handle.liveliness_changed()
    }

    /// Returns whether a matched writer is alive: it asserts its liveliness within the lease that it offers.
    ///
    /// `None` if the writer does not match. [`liveliness_changed`](Self::liveliness_changed) has the counts, and names
    /// only the writer of the last change.
    #[must_use]
    pub fn is_publication_alive(&self, publication: InstanceHandle) -> Option<bool> {
        let writer = self.handle.matched_peers().into_iter().find(|guid| publication == (*guid).into())?;
        self.handle.is_writer_alive(writer)
    }

    /// Returns how many deadlines the reader's instances have missed.
    ///
    /// An instance misses its deadline once for each period of DEADLINE without a new sample. It counts from its first
    /// sample, as long as it is alive.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_requested_deadline_missed_status")]
    pub fn requested_deadline_missed(&self) -> DeadlineMissedStatus {
        self.handle.requested_deadline_missed()
    }

    /// Returns the events of this reader other than data, from its creation on. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<ReaderEvent> {
        self.handle.events()
    }

    /// Returns how many samples did not decode as `T`.
    #[must_use]
    pub fn not_decodable(&self) -> u64 {
        self.handle.batches().not_decodable()
    }

    /// Returns the writers that match now, with their announced data.
    ///
    /// Empty after `close`, and for readers of built-in topics.
    #[must_use]
    #[doc(alias = "get_matched_publications")]
    pub fn matched_publications(&self) -> Vec<EndpointInfo> {
        self.handle.participant().describe_endpoints(&self.handle.matched_peers())
    }

    /// Returns the announced data of a matched writer, or `None` if `publication` does not match.
    #[must_use]
    #[doc(alias = "get_matched_publication_data")]
    pub fn matched_publication_data(&self, publication: InstanceHandle) -> Option<PublicationBuiltinTopicData> {
        let is_matched = self.handle.matched_peers().into_iter().any(|guid| publication == guid.into());
        if is_matched { self.handle.participant().publication_data(publication) } else { None }
    }

    /// Returns the QoS of the reader.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DataReaderQos {
        self.handle.qos().get()
    }

    /// Changes the QoS and announces it. Peers then match again.
    ///
    /// These policies can change while a reader lives (DDS 1.4, 2.2.3): USER_DATA, DEADLINE, LATENCY_BUDGET,
    /// TIME_BASED_FILTER and READER_DATA_LIFECYCLE. The call has no effect on a closed reader.
    ///
    /// ```
    /// # use dds_core::error::QosErrorKind;
    /// # use dds_core::qos::PolicyId;
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Pose { x: f64 }
    /// # fn main() -> dds_core::Result<()> {
    /// # let participant = DomainParticipant::builder(0)
    /// #     .scope(Scope::Host)
    /// #     .domain_tag(std::process::id().to_string())
    /// #     .build()?;
    /// let reader = participant.reader::<Pose>("seen/pose")?;
    /// reader.set_qos(reader.qos().user_data(*b"on duty"))?;
    /// let error = reader.set_qos(reader.qos().keep_all()).unwrap_err();
    /// assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The QoS is unchanged. [`QosErrorKind::Immutable`](crate::error::QosErrorKind::Immutable) names a policy that
    /// cannot change. Other kinds name inconsistent policies.
    pub fn set_qos(&self, qos: DataReaderQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// Returns the subscriber of the reader.
    ///
    /// `None` means the implicit subscriber of the participant, which has the default QoS.
    #[must_use]
    #[doc(alias = "get_subscriber")]
    pub fn subscriber(&self) -> Option<Subscriber> {
        self.handle.group().cloned().map(Subscriber::from_group)
    }
}

impl<T: 'static> DataReader<T> {
    /// Calls `listener` with the statuses in `mask`.
    ///
    /// Replaces an earlier listener and the closures of the builder. Calls of these do not begin after this method
    /// returns.
    ///
    /// If the listener panics, the panic is caught and the listener is removed. The reader lives on and reports
    /// [`ReaderEvent::ListenerPanicked`](crate::status::ReaderEvent::ListenerPanicked).
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl DataReaderListener<T>) -> Result<(), CreateError> {
        let handle = self.handle();
        handle.change_listener(Some(new_listener(handle, mask, dispatch_to_listener(listener))))
    }
}

crate::endpoint::endpoint_methods!(DataReader, ReaderHandle, "reader", "writer");

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
                    // The wake that this wait may have received belongs to the next waiter.
                    if let Some(ticket) = ticket.take() {
                        self.handle.abandon_wait(Awaited::Sample, ticket);
                    }
                    return Poll::Ready(Ok(sample));
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(wait_error(error.kind()))),
            }
            // Ready means that data arrived after `take_first`. Try again.
            ready!(self.handle.poll_awaited(Awaited::Sample, ticket, waker))?;
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

    fn warns_of(&self, awaited: Awaited) -> bool {
        WaitSource::<()>::warns_of(&*self.handle, awaited)
    }

    fn missing_at_a_glance(&self, awaited: Awaited) -> Missing {
        WaitSource::<()>::missing_at_a_glance(&*self.handle, awaited)
    }

    fn missing(&self, awaited: Awaited) -> Missing {
        WaitSource::<()>::missing(&*self.handle, awaited)
    }

    fn complain(&self, awaited: Awaited) {
        WaitSource::<()>::complain(&*self.handle, awaited);
    }
}
