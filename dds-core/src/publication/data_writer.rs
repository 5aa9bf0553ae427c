//! The typed handle of a writer (DDS 1.4, 2.2.2.4.2).

use crate::cdr::{Encode, TypeInfo};
use crate::context::ParticipantRef;
#[cfg(doc)]
use crate::infrastructure::WriteErrorKind;
use crate::infrastructure::{
    Awaited, CreateError, DeadlineMissedStatus, Entity, Events, IncompatibleQosStatus, LivelinessLostStatus,
    PublicationMatchedStatus, QosError, SlowReaderStatus, StatusCondition, StatusMask, Waiting, WriteError,
};
use crate::introspection::{EndpointInfo, MatchReport};
use crate::publication::{PublicationContext, Publisher, WeakDataWriter, WriteOptions, WriterEvent, WriterHandle};
use crate::qos::DataWriterQos;
use crate::topic::{SubscriptionBuiltinTopicData, Topic};
use dds_rtps::types::{Guid, InstanceHandle, SequenceNumber};
use dds_rtps::wire::SampleIdentity;
use dds_rtps::writer::WriterCounters;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Publishes the samples of a topic.
///
/// A handle to a writer. Clones are cheap and refer to the same writer. Dropping the last clone deletes the writer. The
/// handle keeps its participant alive.
///
/// Several threads may write with one writer. Every reader sees their samples in the same order.
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, InstanceState, Scope};
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
/// // Reliable, and keeps all samples until they are read.
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Pose { robot: 7, x: 1.0 }));
/// // That robot is gone. Readers receive a sample without data.
/// writer.dispose(&7)?;
/// assert_eq!(reader.next_sample().block()?.info.instance_state, InstanceState::NotAliveDisposed);
/// # Ok(())
/// # }
/// ```
pub struct DataWriter<T> {
    pub(super) handle: Arc<WriterHandle>,
    /// Dropped after `handle`, because the end of the participant must find what `handle` leaves behind. `None` if the
    /// handle is lent to a listener.
    pub(super) user: Option<ParticipantRef<dyn PublicationContext>>,
    marker: PhantomData<fn(T)>,
}

impl<T> DataWriter<T> {
    /// Creates a handle that belongs to the application.
    pub(crate) fn from_handle(handle: Arc<WriterHandle>) -> Self {
        let user = ParticipantRef::join(handle.participant());
        Self { handle, user, marker: PhantomData }
    }

    /// Creates a handle for the duration of a listener's call.
    pub(crate) fn lend(handle: Arc<WriterHandle>) -> Self {
        Self { handle, user: None, marker: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Arc<WriterHandle> {
        &self.handle
    }

    /// Publishes `sample` on the calling thread.
    ///
    /// When it returns, the sample is in the history, and every matched reader of this process has it. For the other
    /// readers, the kernel has it.
    ///
    /// It blocks only if the writer is reliable, and for at most `max_blocking_time`:
    ///
    /// - if the writer keeps all samples and has reached its resource limits. The write fails if no room appears in
    ///   time;
    /// - if remote readers accept a large sample more slowly than the writer sends it. The sample is published in any
    ///   case, even if the time ends before the kernel has all of it.
    ///
    /// It never blocks on the thread of an inline listener.
    ///
    /// # Errors
    /// The sample is not published: [`WriteErrorKind::Encode`], [`WriteErrorKind::Timeout`], [`WriteErrorKind::Full`],
    /// [`WriteErrorKind::OutOfResources`], or [`WriteErrorKind::Closed`].
    pub fn write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, WriteOptions::new(), true).map(drop)
    }

    /// As [`write`](DataWriter::write), but never blocks.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write), with [`WriteErrorKind::Full`] if `write` would block.
    pub fn try_write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, WriteOptions::new(), false).map(drop)
    }

    /// As [`write`](DataWriter::write), with [`WriteOptions`].
    ///
    /// The options set a source timestamp, the instance, or the sample that this one replies to.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write). [`WriteErrorKind::OtherInstance`] if the options name another instance than the
    /// sample's, and [`WriteErrorKind::UnknownInstance`] if the instance is not registered.
    #[doc(alias = "write_w_timestamp")]
    pub fn write_with(&self, sample: &T, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, options, true).map(drop)
    }

    /// As [`write_with`](DataWriter::write_with), but returns the identity of the sample.
    ///
    /// A reply to the sample carries this identity in
    /// [`SampleInfo::related_sample`](crate::SampleInfo::related_sample).
    ///
    /// ```
    /// use dds_core::qos::Preset;
    /// use dds_core::{DdsType, DomainParticipant, Scope, WriteOptions};
    ///
    /// #[derive(DdsType)]
    /// struct Number {
    ///     value: i64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let request_writer = participant.writer_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let request_reader = participant.reader_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let reply_writer = participant.writer_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    /// let reply_reader = participant.reader_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    ///
    /// let request = request_writer.write_identified(&Number { value: 7 }, WriteOptions::new())?;
    /// let received = request_reader.next_sample().block()?;
    /// let value = received.data.map_or(0, |number| number.value * number.value);
    /// let reply = WriteOptions::new().related_sample(received.info.sample_identity());
    /// reply_writer.write_with(&Number { value }, reply)?;
    /// assert_eq!(reply_reader.next_sample().block()?.info.related_sample, Some(request));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`write_with`](DataWriter::write_with).
    pub fn write_identified(&self, sample: &T, options: WriteOptions) -> Result<SampleIdentity, WriteError>
    where
        T: Encode + TypeInfo,
    {
        let sequence_number = self.publish(sample, options, true)?;
        Ok(SampleIdentity { writer: self.handle.guid(), sequence_number })
    }

    /// Publishes a sample, or another value with the same encoding. Returns the sequence number.
    pub(super) fn publish<S>(
        &self,
        sample: &S,
        options: WriteOptions,
        may_wait: bool,
    ) -> Result<SequenceNumber, WriteError>
    where
        S: Encode + TypeInfo,
    {
        let change = self.handle.encode(sample).and_then(|change| options.apply_to(change));
        self.handle.publish(change.map_err(|kind| self.handle.write_error(kind))?, may_wait)
    }

    /// Sends the samples that wait to share a datagram with others.
    ///
    /// Samples wait because of LATENCY_BUDGET or [`batching`](crate::DataWriterBuilder::batching). Never blocks. Has no
    /// effect if no sample waits.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.handle.flush().map_err(|kind| self.handle.write_error(kind))
    }

    /// Waits until at least `count` readers match and can be reached.
    ///
    /// A best-effort reader of another process counts once it has acknowledged that it knows the writer. A program that
    /// publishes and exits without this wait reaches no reader.
    pub fn wait_for_readers(&self, count: usize) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Matched(count))
    }

    /// Waits until every matched reliable reader has acknowledged all samples written before this call.
    #[doc(alias = "wait_for_acknowledgments")]
    pub fn acknowledged(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Acknowledged(self.handle.last_sequence_number()))
    }

    /// Returns how many readers match, and the change since the last call.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_publication_matched_status")]
    pub fn publication_matched(&self) -> Result<PublicationMatchedStatus, WriteError> {
        self.handle.publication_matched()
    }

    /// Returns how many readers are too slow, and the change since the last call.
    ///
    /// The writer does not wait for these reliable readers ([`SlowReader`](crate::SlowReader)).
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn slow_readers(&self) -> Result<SlowReaderStatus, WriteError> {
        self.handle.slow_readers()
    }

    /// Returns counters of the protocol, including implausible requests of readers.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "metrics")]
    pub fn counters(&self) -> Result<WriterCounters, WriteError> {
        self.handle.counters()
    }

    /// Returns how many readers of this topic have an incompatible QoS.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_offered_incompatible_qos_status")]
    pub fn offered_incompatible_qos(&self) -> Result<IncompatibleQosStatus, WriteError> {
        self.handle.offered_incompatible_qos()
    }

    /// Returns how often this writer failed to assert its liveliness within its lease.
    ///
    /// This happens to a writer with manual LIVELINESS, or to a process that was stopped for longer than the lease.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_liveliness_lost_status")]
    pub fn liveliness_lost(&self) -> Result<LivelinessLostStatus, WriteError> {
        self.handle.liveliness_lost()
    }

    /// Asserts liveliness without writing a sample (DDS 1.4, 2.2.2.4.2.22).
    ///
    /// Use it if LIVELINESS is [`ManualByTopic`](crate::qos::LivelinessKind::ManualByTopic) or
    /// [`ManualByParticipant`](crate::qos::LivelinessKind::ManualByParticipant). The latter asserts all such writers of
    /// the participant. Writing, disposing and unregistering assert liveliness as well.
    ///
    /// ```
    /// use dds_core::qos::{DataWriterQos, Liveliness, LivelinessKind};
    /// use dds_core::{DdsType, DomainParticipant, Duration, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Alarm {
    ///     text: String,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let lease_duration = Duration::from_millis(500);
    /// let liveliness = Liveliness { kind: LivelinessKind::ManualByTopic, lease_duration };
    /// let qos = DataWriterQos::default().liveliness(liveliness);
    /// let writer = participant.writer_builder::<Alarm>("alarms").qos(qos).build()?;
    /// // Twice in a lease, from the loop that would raise the alarm:
    /// writer.assert_liveliness()?;
    /// assert_eq!(writer.liveliness_lost()?.total_count, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn assert_liveliness(&self) -> Result<(), WriteError> {
        self.handle.assert_liveliness()
    }

    /// Returns how many deadlines this writer has missed.
    ///
    /// An instance misses its deadline once for each period of DEADLINE without a new sample. It counts from its first
    /// sample until it is disposed or unregistered.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_offered_deadline_missed_status")]
    pub fn offered_deadline_missed(&self) -> Result<DeadlineMissedStatus, WriteError> {
        self.handle.offered_deadline_missed()
    }

    /// Returns the events of this writer, from its creation on. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<WriterEvent> {
        self.handle.events()
    }

    /// Returns the status condition of this writer, for a [`WaitSet`](crate::WaitSet).
    ///
    /// All handles of the writer share one condition.
    #[must_use]
    #[doc(alias = "get_statuscondition")]
    pub fn status_condition(&self) -> StatusCondition {
        self.handle.status_condition().clone()
    }

    /// Returns the statuses that changed since they were last read. Empty after `close`.
    #[must_use]
    #[doc(alias = "get_status_changes")]
    pub fn status_changes(&self) -> StatusMask {
        self.handle.status_condition().changes()
    }

    /// Returns the readers that match now, with their announced data. Empty after `close`.
    #[must_use]
    #[doc(alias = "get_matched_subscriptions")]
    pub fn matched_subscriptions(&self) -> Vec<EndpointInfo> {
        self.handle.participant().describe_endpoints(&self.handle.matched_readers())
    }

    /// Returns the announced data of a matched reader, or `None` if `subscription` does not match.
    #[must_use]
    #[doc(alias = "get_matched_subscription_data")]
    pub fn matched_subscription_data(&self, subscription: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        let is_matched = self.handle.matched_readers().into_iter().any(|guid| subscription == guid.into());
        if is_matched { self.handle.participant().subscription_data(subscription) } else { None }
    }

    /// Explains for each known reader of this topic whether it matches.
    ///
    /// A report of a reader that does not match lists every reason. If the topic has no reader, the reports describe
    /// readers of topics with a similar name. Empty after `close` of the participant.
    #[must_use]
    pub fn explain_matches(&self) -> Vec<MatchReport> {
        self.handle.participant().explain_endpoint(self.handle.guid())
    }

    /// Returns the QoS of the writer.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DataWriterQos {
        self.handle.qos().get()
    }

    /// Changes the QoS and announces it. Peers then match again.
    ///
    /// These policies can change while a writer lives (DDS 1.4, 2.2.3): USER_DATA, DEADLINE, LATENCY_BUDGET,
    /// OWNERSHIP_STRENGTH, TRANSPORT_PRIORITY, LIFESPAN and WRITER_DATA_LIFECYCLE. LIFESPAN applies to later samples.
    /// The call has no effect on a closed writer.
    ///
    /// ```
    /// # use dds_core::qos::{PolicyId, QosErrorKind};
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Pose { x: f64 }
    /// # fn main() -> dds_core::Result<()> {
    /// # let participant = DomainParticipant::builder(0)
    /// #     .scope(Scope::Host)
    /// #     .domain_tag(std::process::id().to_string())
    /// #     .build()?;
    /// let writer = participant.writer::<Pose>("duty/pose")?;
    /// writer.set_qos(writer.qos().user_data(*b"on duty"))?;
    /// let error = writer.set_qos(writer.qos().keep_all()).unwrap_err();
    /// assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The QoS is unchanged. [`QosErrorKind::Immutable`](crate::qos::QosErrorKind::Immutable) names a policy that
    /// cannot change. Other kinds name inconsistent policies.
    pub fn set_qos(&self, qos: DataWriterQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// Returns the publisher of the writer.
    ///
    /// `None` means the implicit publisher of the participant, which has the default QoS.
    #[must_use]
    #[doc(alias = "get_publisher")]
    pub fn publisher(&self) -> Option<Publisher> {
        self.handle.group().cloned().map(Publisher::from_group)
    }

    /// Returns the topic that the writer was created with.
    ///
    /// `None` if the writer was created by a topic name or a [`TopicSpec`](crate::TopicSpec).
    #[must_use]
    #[doc(alias = "get_topic")]
    pub fn topic(&self) -> Option<Topic<T>> {
        self.handle.topic().cloned().map(Topic::from_handle)
    }

    /// Returns a handle that does not keep the writer alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakDataWriter<T> {
        WeakDataWriter::new(&self.handle)
    }

    /// Returns the name of the topic.
    #[must_use]
    pub fn topic_name(&self) -> &str {
        self.handle.topic_name()
    }

    /// Returns the announced type name of the topic.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.handle.type_name()
    }
}

impl<T> Entity for DataWriter<T> {
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

impl<T> crate::infrastructure::Sealed for DataWriter<T> {}

impl<T> Clone for DataWriter<T> {
    fn clone(&self) -> Self {
        Self::from_handle(Arc::clone(&self.handle))
    }
}

impl<T> fmt::Debug for DataWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataWriter({}, \"{}\")", self.handle.guid(), self.handle.topic_name())
    }
}
