//! Groups of writers (DDS 1.4, 2.2.2.4.1).

use crate::actor::Poke;
use crate::context::{EndpointGroup, ParticipantContext, ParticipantRef};
use crate::endpoint::{remove_group_listener, set_group_listener};
use crate::infrastructure::{
    About, Awaited, CreateError, CreateErrorKind, Entity, QosError, StatusCondition, StatusMask, Upgrade, Waiting,
    Weak, WriteError, WriteErrorKind,
};
use crate::publication::every_writer::EveryWriter;
use crate::publication::listener::dispatch_writer_to_group;
use crate::publication::{
    CoherentChanges, DataWriter, DataWriterBuilder, PublisherListener, Suspended, WriterCell, WriterHandle,
};
use crate::qos::{DataWriterQos, PublisherQos};
use crate::topic::{SubscriptionBuiltinTopicData, TopicRef};
use dds_rtps::types::{EntityId, EntityKind, Guid, GuidPrefix, InstanceHandle, SequenceNumber};
use std::fmt;
use std::sync::Arc;

/// Groups writers with common partitions, group data and presentation.
///
/// A writer without them needs no publisher: use [`DomainParticipant::writer`](crate::DomainParticipant::writer).
///
/// A handle to a publisher. Clones are cheap. It keeps its participant alive, and its writers keep it alive.
///
/// ```
/// use dds_core::qos::{PublisherQos, SubscriberQos};
/// use dds_core::{DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let publisher = participant.publisher(PublisherQos::default().partition(["robot/1"]))?;
/// let subscriber = participant.subscriber(SubscriberQos::default().partition(["robot/*"]))?;
/// let reader = subscriber.reader::<Pose>("pose")?;
/// let writer = publisher.writer::<Pose>("pose")?;
/// writer.write(&Pose { x: 1.0 })?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Pose { x: 1.0 }));
/// # Ok(())
/// # }
/// ```
pub struct Publisher {
    group: Arc<PublisherGroup>,
    /// `None` if the handle is lent to a listener.
    pub(super) user: Option<ParticipantRef<dyn PublicationContext>>,
}

/// Services that writers and publishers need from their participant.
pub(crate) trait PublicationContext: ParticipantContext {
    fn add_publisher(&self, publisher: &Arc<PublisherGroup>);

    /// Adds a new writer to the table of the participant, and resolves its listeners.
    fn enter_writer(&self, writer: &Arc<WriterHandle>) -> Result<(), CreateErrorKind>;

    /// Announces a writer that was enabled.
    fn announce_writer(&self, writer: &WriterHandle) -> Result<(), CreateErrorKind>;

    /// Announces a writer again, with its present QoS and those of its publisher and topic.
    fn update_writer(&self, writer: &WriterHandle);

    /// Deletes a writer as soon as its readers have acknowledged its samples.
    fn drain(&self, id: EntityId, cell: Arc<WriterCell>);

    /// Announced data of a reader.
    fn subscription_data(&self, reader: InstanceHandle) -> Option<SubscriptionBuiltinTopicData>;

    /// Participants that discovery knows as durability services.
    fn durability_services(&self) -> Vec<GuidPrefix>;

    /// Cell that must be notified of liveliness assertions.
    fn discovery_cell(&self) -> std::sync::Weak<dyn Poke>;
}

/// State that all handles of one publisher share.
pub(crate) type PublisherGroup = EndpointGroup<WriterHandle>;

impl Publisher {
    pub(crate) fn new(participant: &Arc<dyn PublicationContext>, qos: PublisherQos) -> Result<Self, CreateError> {
        let group = PublisherGroup::new(participant, "publisher", EntityKind::WriterGroup, qos)?;
        participant.add_publisher(&group);
        if participant.core().is_closed() {
            // The thread that closed the participant may have listed its publishers before this one was added.
            group.close();
        }
        if participant.core().autoenables() {
            group.enable().about(group.subject())?;
        }
        Ok(Self::from_group(group))
    }

    pub(crate) fn group(&self) -> &Arc<PublisherGroup> {
        &self.group
    }

    /// Creates a handle that belongs to the application.
    pub(super) fn from_group(group: Arc<PublisherGroup>) -> Self {
        let user = ParticipantRef::join(group.participant());
        Self { group, user }
    }

    /// Creates a writer of `topic` with the default QoS, or with that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataWriterBuilder::build`].
    #[doc(alias = "create_datawriter")]
    pub fn writer<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataWriter<T>, CreateError> {
        self.writer_builder(topic).build()
    }

    /// Returns a builder for a writer of `topic` with its own QoS and listeners.
    pub fn writer_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataWriterBuilder<'t, T> {
        let default = self.group.default_qos().get();
        DataWriterBuilder::new(self.group.participant(), topic.into(), default).group(Arc::clone(&self.group))
    }

    /// Sets the default QoS of later writers of this publisher.
    ///
    /// It applies to writers without a QoS of their own and without a [`TopicSpec`](crate::TopicSpec). Existing writers
    /// keep their QoS. Default: that of DDS 1.4.
    ///
    /// # Errors
    /// The QoS is unchanged because its policies are inconsistent.
    #[doc(alias = "set_default_datawriter_qos")]
    pub fn set_default_writer_qos(&self, qos: impl Into<DataWriterQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().about(self.group.subject())?;
        self.group.default_qos().set(qos);
        Ok(())
    }

    /// Returns the QoS of writers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_datawriter_qos")]
    pub fn default_writer_qos(&self) -> DataWriterQos {
        self.group.default_qos().get()
    }

    /// Returns the oldest open writer of `topic` with the type `T` in this publisher.
    #[must_use]
    pub fn lookup_datawriter<T: 'static>(&self, topic: &str) -> Option<DataWriter<T>> {
        for writer in self.group.members() {
            // A closed writer stays in the list until its last handle is dropped.
            if writer.topic_name() == topic && writer.is_of::<T>() && !writer.is_closed() {
                return Some(DataWriter::from_handle(writer));
            }
        }
        None
    }

    /// Returns a handle that does not keep the publisher alive.
    #[must_use]
    pub fn downgrade(&self) -> Weak<Self> {
        Weak::new(&self.group)
    }

    /// Returns the QoS of the publisher.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> PublisherQos {
        self.group.qos()
    }

    /// Changes the QoS and announces every writer again.
    ///
    /// Writers match and unmatch according to the new partitions. The call has no effect on a closed publisher.
    ///
    /// # Errors
    /// The QoS is unchanged. A policy is too long to be announced, or PRESENTATION differs, which cannot change.
    pub fn set_qos(&self, qos: PublisherQos) -> Result<(), QosError> {
        self.group.set_qos(qos)
    }

    /// As [`DataWriter::flush`], for all present writers.
    pub fn flush(&self) {
        for writer in self.group.members() {
            // Ignore the error, because a closed writer has no waiting samples.
            let _ = writer.flush();
        }
    }

    /// Holds back samples until the returned guard is dropped, to send them in few datagrams.
    ///
    /// If several guards exist, the last one sends the samples.
    ///
    /// The suspension is a hint, as in DDS. A writer holds at most 64 KiB, 1024 samples or the depth of its KEEP_LAST
    /// history, whichever is least. It sends at once if it has more, if it is closed, or if it must
    /// answer or ask a reader. A caller that waits for acknowledgments also makes it send. Therefore no sample is lost
    /// because of the suspension. Local readers receive all samples at once.
    ///
    /// ```
    /// use dds_core::qos::{Preset, PublisherQos};
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Joint {
    ///     #[dds(key)]
    ///     joint: u32,
    ///     angle: f32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let publisher = participant.publisher(PublisherQos::default())?;
    /// let writer = publisher.writer_builder::<Joint>("joints").qos(Preset::Command).build()?;
    /// let suspended = publisher.suspend_publications()?;
    /// for joint in 0..6 {
    ///     writer.write(&Joint { joint, angle: 0.5 })?;
    /// }
    /// drop(suspended); // one datagram for each reader's host
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::NotEnabled`] or [`WriteErrorKind::Closed`].
    #[doc(alias = "resume_publications")]
    pub fn suspend_publications(&self) -> Result<Suspended<'_>, WriteError> {
        self.check_can_write()?;
        Ok(Suspended::new(&self.group))
    }

    /// Begins a coherent set, which readers see completely or not at all.
    ///
    /// The set contains the changes that the writers of this publisher write until the returned guard is dropped. Sets
    /// that any thread begins during this time are parts of this one. The last guard ends it.
    ///
    /// PRESENTATION defines the sets. With `access_scope` `Instance` or `Topic`, the changes of each writer are a set.
    /// With `Group`, the changes of all writers of the publisher are one set. Without `coherent_access` in the QoS of
    /// the publisher, the guard has no effect. For readers without coherent access, each change is a set of its own
    /// (DDS 1.4, 2.2.3.6).
    ///
    /// DDS cannot cancel a set. Dropping the guard ends it as [`CoherentChanges::end`] does.
    ///
    /// The writer sends the changes as they are written. A reader keeps them until it knows that the set has ended and
    /// is complete. If a change can no longer arrive, the reader drops the whole set. Therefore a reliable writer
    /// should keep all changes of a set until they have arrived: use KEEP_ALL, or a depth that no set exceeds. Late
    /// readers of a transient-local writer get no part of a set that HISTORY has kept partially. A dropped set is
    /// counted ([`Undelivered::incoherent`](crate::stats::Undelivered::incoherent)) and raises SAMPLE_LOST.
    ///
    /// Each set costs each of its writers a sequence number and about 30 bytes on the wire. Each change costs 16 bytes
    /// more, or 48 bytes with `Group`.
    ///
    /// ```
    /// use dds_core::qos::{AccessScope, Presentation, Preset, PublisherQos, SubscriberQos};
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Joint {
    ///     #[dds(key)]
    ///     joint: u32,
    ///     angle: f32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let mut together = Presentation::default();
    /// (together.access_scope, together.coherent_access) = (AccessScope::Topic, true);
    /// let publisher = participant.publisher(PublisherQos::default().presentation(together))?;
    /// let subscriber = participant.subscriber(SubscriberQos::default().presentation(together))?;
    /// let writer = publisher.writer_builder::<Joint>("arm/joints").qos(Preset::Event).build()?;
    /// let reader = subscriber.reader_builder::<Joint>("arm/joints").qos(Preset::Event).build()?;
    /// let posture = publisher.coherent_changes()?;
    /// for joint in 0..6 {
    ///     writer.write(&Joint { joint, angle: 0.5 })?;
    /// }
    /// assert_eq!(reader.take()?.len(), 0);
    /// posture.end()?;
    /// assert_eq!(reader.take()?.len(), 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::NotEnabled`] or [`WriteErrorKind::Closed`].
    #[doc(alias = "begin_coherent_changes")]
    pub fn coherent_changes(&self) -> Result<CoherentChanges<'_>, WriteError> {
        self.check_can_write()?;
        Ok(CoherentChanges::new(&self.group))
    }

    fn check_can_write(&self) -> Result<(), WriteError> {
        let kind = if self.group.is_closed() {
            WriteErrorKind::Closed
        } else if !self.group.is_enabled() {
            WriteErrorKind::NotEnabled
        } else {
            return Ok(());
        };
        Err(WriteError::new(self.group.subject(), kind))
    }

    /// Calls `listener` with the statuses in `mask` of the publisher's writers.
    ///
    /// A status goes to the writer's own listener instead if its mask contains it. Replaces an earlier listener, whose
    /// calls do not begin any more.
    ///
    /// The participant's [`delivery`](crate::DomainParticipantBuilder::delivery) selects the thread. If the listener
    /// panics, the panic is caught and the listener is removed. The writer whose event it handled reports the panic as
    /// an event.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl PublisherListener) -> Result<(), CreateError> {
        set_group_listener(&self.group, mask, listener, dispatch_writer_to_group)
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        remove_group_listener(&self.group);
    }

    /// Waits until all matched reliable readers have acknowledged the samples of this publisher's writers.
    ///
    /// It covers the samples written before this call. It does not wait for writers that are closed during the wait.
    #[doc(alias = "wait_for_acknowledgments")]
    pub fn acknowledged(&self) -> Waiting<'_, ()> {
        // Only for the log. `EveryWriter` has the number of each writer.
        let everything = Awaited::Acknowledged(SequenceNumber::MAX);
        Waiting::of_own(Box::new(EveryWriter::new(&self.group)), everything)
    }

    /// Closes all present writers of the publisher. Does not wait.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.group.close_contained();
    }
}

crate::infrastructure::entity_methods!(Publisher, "publisher", with statuses);

impl Entity for Publisher {
    fn guid(&self) -> Guid {
        self.group.guid()
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.group.enable().about(self.group.subject())
    }

    fn is_enabled(&self) -> bool {
        self.group.is_enabled()
    }

    fn status_condition(&self) -> StatusCondition {
        self.group.status_condition().clone()
    }

    fn is_closed(&self) -> bool {
        self.group.is_closed()
    }

    /// Closes the publisher and its writers.
    fn close(&self) {
        self.group.close();
    }

    fn closed(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.group, Awaited::Closed)
    }
}

impl crate::infrastructure::Sealed for Publisher {}

impl Clone for Publisher {
    fn clone(&self) -> Self {
        Self::from_group(Arc::clone(&self.group))
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Publisher({})", self.guid())
    }
}

impl Upgrade for Publisher {
    type Shared = PublisherGroup;

    fn upgrade(shared: &std::sync::Weak<PublisherGroup>) -> Option<Self> {
        let publisher = Self::from_group(shared.upgrade()?);
        // `user` is `None` if only a running listener still holds the publisher. The application has dropped its
        // handles.
        if publisher.user.is_some() { Some(publisher) } else { None }
    }
}
