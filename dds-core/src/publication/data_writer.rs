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
/// A handle: cloning it is cheap, every clone speaks of the same writer, and the last one dropped deletes it. It keeps its
/// participant alive. Several threads may write with one writer; every reader sees the same order.
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
/// // Reliable, and nothing is replaced before it was read.
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Pose { robot: 7, x: 1.0 }));
/// // That robot is gone: its readers are told, by a sample without data.
/// writer.dispose(&7)?;
/// assert_eq!(reader.next_sample().block()?.info.instance_state, InstanceState::NotAliveDisposed);
/// # Ok(())
/// # }
/// ```
pub struct DataWriter<T> {
    pub(super) handle: Arc<WriterHandle>,
    /// Dropped after the handle, for the end of the participant is to find what that leaves. `None`: lent to a call.
    pub(super) user: Option<ParticipantRef<dyn PublicationContext>>,
    marker: PhantomData<fn(T)>,
}

impl<T> DataWriter<T> {
    /// One of the application's own.
    pub(crate) fn from_handle(handle: Arc<WriterHandle>) -> Self {
        let user = ParticipantRef::join(handle.participant());
        Self { handle, user, marker: PhantomData }
    }

    /// For as long as a call of a listener.
    pub(crate) fn lend(handle: Arc<WriterHandle>) -> Self {
        Self { handle, user: None, marker: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Arc<WriterHandle> {
        &self.handle
    }

    /// Publishes `sample`, on this thread: when it returns, the sample is in the history and with every matched reader of
    /// this process, and handed to the kernel for the others.
    ///
    /// Blocks only if the writer is reliable, for at most `max_blocking_time`: where it keeps all samples and its resource
    /// limits are reached, and where a large sample is on its way to readers elsewhere that take it more slowly than it is
    /// written. In the second case it is published, whether or not all of it is with the kernel when the time is over. On an
    /// inline listener's thread it never waits.
    ///
    /// # Errors
    /// Nothing was published: [`WriteErrorKind::Encode`], [`WriteErrorKind::Timeout`], [`WriteErrorKind::Full`],
    /// [`WriteErrorKind::OutOfResources`], or [`WriteErrorKind::Closed`].
    pub fn write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, WriteOptions::new(), true).map(drop)
    }

    /// As [`write`](DataWriter::write), but never waits.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write); where that would wait, [`WriteErrorKind::Full`].
    pub fn try_write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, WriteOptions::new(), false).map(drop)
    }

    /// As [`write`](DataWriter::write), with what [`WriteOptions`] say: a source timestamp, the instance, the sample that
    /// this one answers.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write); [`WriteErrorKind::OtherInstance`] and [`WriteErrorKind::UnknownInstance`] if the
    /// options name an instance that is not the sample's, or not registered.
    #[doc(alias = "write_w_timestamp")]
    pub fn write_with(&self, sample: &T, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.publish(sample, options, true).map(drop)
    }

    /// As [`write_with`](DataWriter::write_with), and returns the sample's name in the domain: a reply to it has that in
    /// its [`SampleInfo::related_sample`](crate::SampleInfo::related_sample).
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
    /// let asking = participant.writer_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let requests = participant.reader_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let replying = participant.writer_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    /// let replies = participant.reader_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    ///
    /// let request = asking.write_identified(&Number { value: 7 }, WriteOptions::new())?;
    /// let asked = requests.next_sample().block()?;
    /// let value = asked.data.map_or(0, |number| number.value * number.value);
    /// let reply = WriteOptions::new().related_sample(asked.info.sample_identity());
    /// replying.write_with(&Number { value }, reply)?;
    /// assert_eq!(replies.next_sample().block()?.info.related_sample, Some(request));
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

    /// Publishes a sample, or another value with the encoding of one. Returns its number.
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

    /// Lets samples leave that wait for others to share a datagram with (LATENCY_BUDGET,
    /// [`batching`](crate::DataWriterBuilder::batching)). Never waits, and does nothing where nothing waits.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.handle.flush().map_err(|kind| self.handle.write_error(kind))
    }

    /// Waits until at least `count` readers match, and can be reached: where one is best effort and of another process, until that one
    /// has acknowledged that it knows the writer. Without it, a program that publishes and exits reaches nobody.
    pub fn wait_for_readers(&self, count: usize) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Matched(count))
    }

    /// Waits until every reliable reader that matches has acknowledged all that was written before this call.
    #[doc(alias = "wait_for_acknowledgments")]
    pub fn acknowledged(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Acknowledged(self.handle.last_sequence_number()))
    }

    /// How many readers match, and how that changed since this was last called.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_publication_matched_status")]
    pub fn publication_matched(&self) -> Result<PublicationMatchedStatus, WriteError> {
        self.handle.publication_matched()
    }

    /// Reliable readers that this writer does not wait for, because they were too slow ([`SlowReader`](crate::SlowReader)),
    /// and how that changed since this was last called.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn slow_readers(&self) -> Result<SlowReaderStatus, WriteError> {
        self.handle.slow_readers()
    }

    /// What its protocol has done, and what it was asked that makes no sense.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "metrics")]
    pub fn counters(&self) -> Result<WriterCounters, WriteError> {
        self.handle.counters()
    }

    /// Readers of this topic whose QoS does not fit.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_offered_incompatible_qos_status")]
    pub fn offered_incompatible_qos(&self) -> Result<IncompatibleQosStatus, WriteError> {
        self.handle.offered_incompatible_qos()
    }

    /// How often this writer has not shown within its lease that it is alive. Only one whose LIVELINESS is manual can fail to,
    /// or one whose process was stopped for longer than its lease.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_liveliness_lost_status")]
    pub fn liveliness_lost(&self) -> Result<LivelinessLostStatus, WriteError> {
        self.handle.liveliness_lost()
    }

    /// Says that the writer is alive, without writing anything (DDS 1.4, 2.2.2.4.2.22). For writers whose LIVELINESS is
    /// [`ManualByTopic`](crate::qos::LivelinessKind::ManualByTopic), or
    /// [`ManualByParticipant`](crate::qos::LivelinessKind::ManualByParticipant): then for all such writers of the
    /// participant. Writing, disposing and unregistering say so as well.
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

    /// Instances that this writer has not written for longer than its DEADLINE says: once for each period, from the first
    /// sample of an instance on, until it is disposed of or unregistered.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "get_offered_deadline_missed_status")]
    pub fn offered_deadline_missed(&self) -> Result<DeadlineMissedStatus, WriteError> {
        self.handle.offered_deadline_missed()
    }

    /// What happens to this writer, from its creation on. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<WriterEvent> {
        self.handle.events()
    }

    /// The condition that a status of this writer has changed, for a [`WaitSet`](crate::WaitSet). There is one for all
    /// handles of the writer.
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

    /// The readers that match now, with what they announce; none after `close`.
    #[must_use]
    #[doc(alias = "get_matched_subscriptions")]
    pub fn matched_subscriptions(&self) -> Vec<EndpointInfo> {
        self.handle.participant().describe_endpoints(&self.handle.matched_readers())
    }

    /// What a reader that matches now announces; `None` if the handle is no such reader's.
    #[must_use]
    #[doc(alias = "get_matched_subscription_data")]
    pub fn matched_subscription_data(&self, subscription: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        let is_matched = self.handle.matched_readers().into_iter().any(|guid| subscription == guid.into());
        self.handle.participant().subscription_data(subscription).filter(|_| is_matched)
    }

    /// A report for each reader that is known of this topic: whether it matches, and if not, everything that is in the
    /// way. Readers of topics with a similar name, if there is none. None after `close` of the participant.
    #[must_use]
    pub fn explain_matches(&self) -> Vec<MatchReport> {
        self.handle.participant().explain_endpoint(self.handle.guid())
    }

    /// The QoS that the writer has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DataWriterQos {
        self.handle.qos().get()
    }

    /// Changes the QoS, as far as DDS 1.4 (2.2.3) lets it change while a writer lives: USER_DATA, DEADLINE,
    /// LATENCY_BUDGET, OWNERSHIP_STRENGTH, TRANSPORT_PRIORITY, LIFESPAN (of what is written from now on) and
    /// WRITER_DATA_LIFECYCLE, and announces
    /// it: peers match anew. Without effect once the writer is closed.
    ///
    /// ```
    /// # use dds_core::qos::{PolicyId, QosErrorKind};
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Pose { x: f64 }
    /// # fn main() -> dds_core::Result<()> {
    /// # let participant = DomainParticipant::builder(0).scope(Scope::Host).domain_tag(std::process::id().to_string()).build()?;
    /// let writer = participant.writer::<Pose>("duty/pose")?;
    /// writer.set_qos(writer.qos().user_data(*b"on duty"))?;
    /// let error = writer.set_qos(writer.qos().keep_all()).unwrap_err();
    /// assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Nothing has changed: [`QosErrorKind::Immutable`](crate::qos::QosErrorKind::Immutable) names a policy that must
    /// stay, another kind what contradicts itself.
    pub fn set_qos(&self, qos: DataWriterQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// The publisher that it was made in; `None`: the participant's implicit one, which has the default QoS.
    #[must_use]
    #[doc(alias = "get_publisher")]
    pub fn publisher(&self) -> Option<Publisher> {
        self.handle.group().cloned().map(Publisher::from_group)
    }

    /// The topic that it was made of; `None` if that was only named, or specified by a [`TopicSpec`](crate::TopicSpec).
    #[must_use]
    #[doc(alias = "get_topic")]
    pub fn topic(&self) -> Option<Topic<T>> {
        self.handle.topic().cloned().map(Topic::from_handle)
    }

    /// A handle that does not keep the writer alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakDataWriter<T> {
        WeakDataWriter::new(&self.handle)
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
