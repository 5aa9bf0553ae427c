//! Writers that belong together (DDS 1.4, 2.2.2.4.1).

use crate::actor::Poke;
use crate::context::{Group, ParticipantContext, ParticipantRef};
use crate::infrastructure::{Awaited, CreateError, CreateErrorKind, Entity, QosError, StatusCondition, Waiting};
use crate::publication::every_writer::EveryWriter;
use crate::publication::{DataWriter, DataWriterBuilder, WeakPublisher, WriterCell, WriterHandle};
use crate::qos::{DataWriterQos, PublisherQos};
use crate::topic::{SubscriptionBuiltinTopicData, TopicRef};
use dds_rtps::types::{EntityId, EntityKind, Guid, GuidPrefix, InstanceHandle, SequenceNumber};
use std::fmt;
use std::sync::{Arc, Weak};

/// Writers that are announced with the same partitions and the same octets of the application.
///
/// Only needed for those: [`DomainParticipant::writer`](crate::DomainParticipant::writer) makes writers in no partition without
/// one. A handle: cloning it is cheap, it keeps its participant alive, and its writers keep it alive.
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
    /// `None`: lent to a call.
    pub(super) user: Option<ParticipantRef<dyn PublicationContext>>,
}

/// What writers and publishers ask of their participant.
pub(crate) trait PublicationContext: ParticipantContext {
    fn add_publisher(&self, publisher: &Arc<PublisherGroup>);

    /// Enters a new writer into the table of the participant, and resolves its listeners.
    fn enter_writer(&self, writer: &Arc<WriterHandle>) -> Result<(), CreateErrorKind>;

    /// Announces a writer that is enabled now.
    fn announce_writer(&self, writer: &WriterHandle) -> Result<(), CreateErrorKind>;

    /// Announces a writer again, with its present QoS and those of its publisher and topic.
    fn update_writer(&self, writer: &WriterHandle);

    /// Deletes a writer as soon as its readers have acknowledged its samples.
    fn drain(&self, id: EntityId, cell: Arc<WriterCell>);

    /// The announcement of a reader.
    fn subscription_data(&self, reader: InstanceHandle) -> Option<SubscriptionBuiltinTopicData>;

    /// The participants that discovery knows as durability services.
    fn durability_services(&self) -> Vec<GuidPrefix>;

    /// The cell that must hear of liveliness assertions.
    fn discovery_cell(&self) -> Weak<dyn Poke>;
}

/// What all handles of one publisher share.
pub(crate) type PublisherGroup = Group<PublisherQos, WriterHandle>;

impl Publisher {
    pub(crate) fn new(participant: &Arc<dyn PublicationContext>, qos: PublisherQos) -> Result<Self, CreateError> {
        let group = Group::new(participant, "publisher", EntityKind::WriterGroup, qos)?;
        participant.add_publisher(&group);
        if participant.core().is_closed() {
            // Whoever has closed it may have looked before.
            group.close();
        }
        if participant.core().autoenables() {
            group.enable().map_err(|kind| CreateError::new(group.subject(), kind))?;
        }
        Ok(Self::from_group(group))
    }

    pub(crate) fn group(&self) -> &Arc<PublisherGroup> {
        &self.group
    }

    /// One of the application's own.
    pub(super) fn from_group(group: Arc<PublisherGroup>) -> Self {
        let user = ParticipantRef::join(group.participant());
        Self { group, user }
    }

    /// Makes a writer of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataWriterBuilder::build`].
    #[doc(alias = "create_datawriter")]
    pub fn writer<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataWriter<T>, CreateError> {
        self.writer_builder(topic).build()
    }

    /// Makes a writer of `topic` with a QoS and listeners of its own.
    pub fn writer_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataWriterBuilder<'t, T> {
        let default = self.group.default_qos().get();
        DataWriterBuilder::new(self.group.participant(), topic.into(), default).group(Arc::clone(&self.group))
    }

    /// The QoS of the writers that are made with it from now on, unless they or their topic say otherwise
    /// ([`TopicSpec`](crate::TopicSpec)). Those that are there keep theirs. Default: that of DDS 1.4.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    #[doc(alias = "set_default_datawriter_qos")]
    pub fn set_default_writer_qos(&self, qos: impl Into<DataWriterQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().map_err(|kind| QosError::new(self.group.subject(), kind))?;
        self.group.default_qos().set(qos);
        Ok(())
    }

    /// The QoS of writers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_datawriter_qos")]
    pub fn default_writer_qos(&self) -> DataWriterQos {
        self.group.default_qos().get()
    }

    /// A writer of this publisher by its topic: the one that was made first of those that are there; `None` if there is none of
    /// this topic with the type `T`.
    #[must_use]
    pub fn lookup_datawriter<T: 'static>(&self, topic: &str) -> Option<DataWriter<T>> {
        let is_meant =
            |writer: &WriterHandle| writer.topic_name() == topic && writer.is_of::<T>() && !writer.is_closed();
        self.group.members().into_iter().find(|writer| is_meant(writer)).map(DataWriter::from_handle)
    }

    /// A handle that does not keep the publisher alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakPublisher {
        WeakPublisher::new(&self.group)
    }

    /// The QoS that the publisher has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> PublisherQos {
        self.group.qos()
    }

    /// Changes the QoS, and announces every writer again: writers meet others, or part from them, as the new partitions
    /// say. Without effect once the publisher is closed.
    ///
    /// # Errors
    /// Nothing has changed: a policy is too long to be announced, or PRESENTATION, which must stay, is another one.
    pub fn set_qos(&self, qos: PublisherQos) -> Result<(), QosError> {
        self.group.set_qos(qos)
    }

    /// As [`DataWriter::flush`], for all writers that it has now.
    pub fn flush(&self) {
        // Closed ones have nothing that waits.
        self.group.members().iter().for_each(|writer| drop(writer.flush()));
    }

    /// Waits until every reliable reader that matches has acknowledged all that the writers of this publisher have written
    /// before this call. Writers that are closed meanwhile are not waited for.
    #[doc(alias = "wait_for_acknowledgments")]
    pub fn acknowledged(&self) -> Waiting<'_, ()> {
        let everything = Awaited::Acknowledged(SequenceNumber::MAX);
        Waiting::of_own(Box::new(EveryWriter::new(&self.group)), everything)
    }

    /// Closes all writers that it has now. Does not wait.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.group.close_contained();
    }
}

impl Entity for Publisher {
    fn guid(&self) -> Guid {
        self.group.guid()
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.group.enable().map_err(|kind| CreateError::new(self.group.subject(), kind))
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

    /// Closes its writers as well.
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
