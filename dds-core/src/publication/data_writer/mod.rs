//! The typed handle of a writer (DDS 1.4, 2.2.2.4.2).
//!
//! - `mod`: waits, statuses, events, listeners and QoS.
//! - `write`: writes and loans.
//! - `instances`: registration, end and lookup of instances.

mod instances;
mod write;

use crate::context::{GroupedEndpoint, ParticipantRef};
use crate::endpoint::{Endpoint, new_listener};
#[cfg(doc)]
use crate::infrastructure::WriteErrorKind;
use crate::infrastructure::{
    About, Awaited, CountStatus, CreateError, DeadlineMissedStatus, Events, IncompatibleQosStatus, PeerStatus,
    QosError, StatusMask, Waiting, WriteError,
};
use crate::introspection::EndpointInfo;
use crate::publication::listener::dispatch_to_listener;
use crate::publication::{DataWriterListener, PublicationContext, Publisher, WriterEvent, WriterHandle};
use crate::qos::DataWriterQos;
use crate::topic::SubscriptionBuiltinTopicData;
use dds_rtps::types::{InstanceHandle, LatencyHistogram};
use dds_rtps::writer::WriterCounters;
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

    /// Waits until at least `count` readers match and can be reached.
    ///
    /// A best-effort reader of another process counts once it has acknowledged that it knows the writer. A program that
    /// publishes and exits without this wait reaches no reader.
    pub fn wait_for_readers(&self, count: usize) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Matched(count))
    }

    /// Waits until every matched reliable reader has acknowledged all samples written before this call.
    ///
    /// A KEEP_LAST reader also acknowledges a sample for which it had no room, and reports it as
    /// [`sample_rejected`](crate::DataReader::sample_rejected).
    #[doc(alias = "wait_for_acknowledgments")]
    pub fn acknowledged(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Acknowledged(self.handle.last_sequence_number()))
    }

    /// Returns how many readers match, and the change since the last call.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_publication_matched_status")]
    pub fn publication_matched(&self) -> PeerStatus {
        self.handle.publication_matched()
    }

    /// Returns how many readers are too slow, and the change since the last call.
    ///
    /// The writer does not wait for these reliable readers ([`SlowReader`](crate::writer::SlowReader)), or one of them
    /// holds up writes for 50 ms or more each. All counts are 0 after `close`.
    #[must_use]
    pub fn slow_readers(&self) -> PeerStatus {
        self.handle.slow_readers()
    }

    /// Returns how long samples took from their source timestamp to the acknowledgment of the last remote reader.
    ///
    /// Readers in this process, and best-effort readers, do not acknowledge over the network. Samples that were written
    /// before a reader matched do not count, and neither do samples that 64 unacknowledged ones precede. The histogram
    /// is empty after `close`.
    #[must_use]
    pub fn acknowledgment_latency(&self) -> LatencyHistogram {
        self.handle.acknowledgment_latency()
    }

    /// Returns counters of the protocol, including implausible requests of readers.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "metrics")]
    pub fn counters(&self) -> WriterCounters {
        self.handle.counters()
    }

    /// Returns how many readers of this topic have an incompatible QoS.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_offered_incompatible_qos_status")]
    pub fn offered_incompatible_qos(&self) -> IncompatibleQosStatus {
        self.handle.offered_incompatible_qos()
    }

    /// Returns how often this writer failed to assert its liveliness within its lease.
    ///
    /// This happens to a writer with manual LIVELINESS, or to a process that was stopped for longer than the lease.
    ///
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_liveliness_lost_status")]
    pub fn liveliness_lost(&self) -> CountStatus {
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
    /// let liveliness = Liveliness::manual_by_topic(lease_duration);
    /// let qos = DataWriterQos::default().liveliness(liveliness);
    /// let writer = participant.writer_builder::<Alarm>("alarms").qos(qos).build()?;
    /// // Twice in a lease, from the loop that would raise the alarm:
    /// writer.assert_liveliness()?;
    /// assert_eq!(writer.liveliness_lost().total_count, 0);
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
    /// All counts are 0 after `close`.
    #[must_use]
    #[doc(alias = "get_offered_deadline_missed_status")]
    pub fn offered_deadline_missed(&self) -> DeadlineMissedStatus {
        self.handle.offered_deadline_missed()
    }

    /// Returns the events of this writer, from its creation on. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<WriterEvent> {
        self.handle.events()
    }

    /// Returns the readers that match now, with their announced data. Empty after `close`.
    #[must_use]
    #[doc(alias = "get_matched_subscriptions")]
    pub fn matched_subscriptions(&self) -> Vec<EndpointInfo> {
        self.handle.participant().describe_endpoints(&self.handle.matched_peers())
    }

    /// Returns the announced data of a matched reader, or `None` if `subscription` does not match.
    #[must_use]
    #[doc(alias = "get_matched_subscription_data")]
    pub fn matched_subscription_data(&self, subscription: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        let is_matched = self.handle.matched_peers().into_iter().any(|guid| subscription == guid.into());
        if is_matched { self.handle.participant().subscription_data(subscription) } else { None }
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
    /// let writer = participant.writer::<Pose>("duty/pose")?;
    /// writer.set_qos(writer.qos().user_data(*b"on duty"))?;
    /// let error = writer.set_qos(writer.qos().keep_all()).unwrap_err();
    /// assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::History });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The QoS is unchanged. [`QosErrorKind::Immutable`](crate::error::QosErrorKind::Immutable) names a policy that
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
}

impl<T: 'static> DataWriter<T> {
    /// Calls `listener` with the statuses in `mask`.
    ///
    /// Replaces an earlier listener and the closure of the builder. Calls of these do not begin after this method
    /// returns.
    ///
    /// If the listener panics, the panic is caught and the listener is removed. The writer lives on and reports
    /// [`WriterEvent::ListenerPanicked`](crate::status::WriterEvent::ListenerPanicked).
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl DataWriterListener<T>) -> Result<(), CreateError> {
        self.handle.change_listener(Some(new_listener(&self.handle, mask, dispatch_to_listener(listener))))
    }
}

crate::endpoint::endpoint_methods!(DataWriter, WriterHandle, "writer", "reader");
