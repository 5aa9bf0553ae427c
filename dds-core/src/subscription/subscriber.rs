//! Readers that belong together (DDS 1.4, 2.2.2.5.2).

use crate::context::{Group, ParticipantContext, ParticipantRef};
use crate::infrastructure::{Awaited, CreateError, CreateErrorKind, Entity, QosError, StatusCondition, Waiting};
use crate::qos::{DataReaderQos, SubscriberQos};
use crate::subscription::{AnyReader, DataReader, DataReaderBuilder, ReaderHandle, WeakSubscriber};
use crate::topic::{BuiltinKind, PublicationBuiltinTopicData, TopicRef};
use dds_rtps::history::States;
use dds_rtps::types::{EntityId, EntityKind, Guid, InstanceHandle};
use std::fmt;
use std::sync::Arc;

/// Readers that are announced with the same partitions and the same octets of the application.
///
/// Only needed for those: [`DomainParticipant::reader`](crate::DomainParticipant::reader) makes readers in no partition without
/// one. A handle: cloning it is cheap, it keeps its participant alive, and its readers keep it alive.
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
/// let reader = subscriber.reader::<Pose>("group/pose")?;
/// let writer = publisher.writer::<Pose>("group/pose")?;
/// writer.write(&Pose { x: 1.0 })?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Pose { x: 1.0 }));
/// # Ok(())
/// # }
/// ```
pub struct Subscriber {
    group: Arc<SubscriberGroup>,
    /// `None`: lent to a call.
    pub(super) user: Option<ParticipantRef<dyn SubscriptionContext>>,
}

/// What readers and subscribers ask of their participant.
pub(crate) trait SubscriptionContext: ParticipantContext {
    fn add_subscriber(&self, subscriber: &Arc<SubscriberGroup>);

    fn is_builtin_subscriber(&self, subscriber: &Arc<SubscriberGroup>) -> bool;

    /// Enters a new reader into the table of the participant, and resolves its listeners.
    fn enter_reader(&self, reader: &Arc<ReaderHandle>) -> Result<(), CreateErrorKind>;

    /// Announces a reader that is enabled now.
    fn announce_reader(&self, reader: &ReaderHandle) -> Result<(), CreateErrorKind>;

    /// Lets a reader receive the samples of a built-in topic.
    fn add_builtin_reader(&self, reader: &ReaderHandle, kind: BuiltinKind) -> Result<(), CreateErrorKind>;

    /// Announces a reader again, with its present QoS and filter and those of its subscriber and topic.
    fn update_reader(&self, reader: &ReaderHandle);

    fn delete_reader(&self, id: EntityId, topic: &str);

    /// The announcement of a writer.
    fn publication_data(&self, writer: InstanceHandle) -> Option<PublicationBuiltinTopicData>;

    /// Submessages dropped because the inbox of an endpoint was full.
    fn inbox_dropped(&self) -> u64;
}

/// What all handles of one subscriber share.
pub(crate) type SubscriberGroup = Group<SubscriberQos, ReaderHandle>;

impl Subscriber {
    pub(crate) fn new(participant: &Arc<dyn SubscriptionContext>, qos: SubscriberQos) -> Result<Self, CreateError> {
        let group = Group::new(participant, "subscriber", EntityKind::ReaderGroup, qos)?;
        participant.add_subscriber(&group);
        if participant.core().is_closed() {
            // Whoever has closed it may have looked before.
            group.close();
        }
        if participant.core().autoenables() {
            group.enable().map_err(|kind| CreateError::new(group.subject(), kind))?;
        }
        Ok(Self::from_group(group))
    }

    pub(crate) fn group(&self) -> &Arc<SubscriberGroup> {
        &self.group
    }

    /// One of the application's own.
    pub(crate) fn from_group(group: Arc<SubscriberGroup>) -> Self {
        let user = ParticipantRef::join(group.participant());
        Self { group, user }
    }

    /// For as long as a call of a listener.
    pub(super) fn lend(group: Arc<SubscriberGroup>) -> Self {
        Self { group, user: None }
    }

    /// Makes a reader of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataReaderBuilder::build`].
    #[doc(alias = "create_datareader")]
    pub fn reader<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataReader<T>, CreateError> {
        self.reader_builder(topic).build()
    }

    /// Makes a reader of `topic` with a QoS and listeners of its own.
    pub fn reader_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataReaderBuilder<'t, T> {
        let default = self.group.default_qos().get();
        DataReaderBuilder::new(self.group.participant(), topic.into(), default).group(Arc::clone(&self.group))
    }

    /// A reader of this subscriber by its topic: the one that was made first of those that are there; `None` if there is
    /// none of this topic with the type `T`.
    ///
    /// The [built-in subscriber](crate::DomainParticipant::builtin_subscriber) has a reader of each built-in topic: it is
    /// made when it is first looked up, gets what is known then, and lives as long as somebody has a handle of it.
    #[must_use]
    pub fn lookup_datareader<T: 'static>(&self, topic: &str) -> Option<DataReader<T>> {
        let find = || {
            let is_meant = |reader: &ReaderHandle| reader.topic_name() == topic && reader.is_of::<T>();
            self.group.members().into_iter().find(|reader| is_meant(reader)).map(DataReader::from_handle)
        };
        let builtin = BuiltinKind::of_name(topic).filter(|kind| kind.is_of::<T>());
        match (find(), builtin) {
            (None, Some(kind)) if self.is_builtin() => {
                let participant = self.group.participant();
                let builder = DataReaderBuilder::new(participant, TopicRef::of_builtin(kind), DataReaderQos::default());
                // A closed participant has no built-in topics any more.
                let made = builder.group(Arc::clone(&self.group)).build().ok()?;
                // Another thread may have made one in between: all get the same.
                find().or(Some(made))
            }
            (found, _) => found,
        }
    }

    fn is_builtin(&self) -> bool {
        self.group.participant().is_builtin_subscriber(&self.group)
    }

    /// The QoS of the readers that are made with it from now on, unless they or their topic say otherwise
    /// ([`TopicSpec`](crate::TopicSpec)). Those that are there keep theirs. Default: that of DDS 1.4.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    #[doc(alias = "set_default_datareader_qos")]
    pub fn set_default_reader_qos(&self, qos: impl Into<DataReaderQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().map_err(|kind| QosError::new(self.group.subject(), kind))?;
        self.group.default_qos().set(qos);
        Ok(())
    }

    /// The QoS of readers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_datareader_qos")]
    pub fn default_reader_qos(&self) -> DataReaderQos {
        self.group.default_qos().get()
    }

    /// The readers of this subscriber that have samples in these states, in the order in which they were made.
    ///
    /// ```
    /// use dds_core::qos::SubscriberQos;
    /// use dds_core::{DataReader, DdsType, DomainParticipant, Scope, States};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let subscriber = participant.subscriber(SubscriberQos::default())?;
    /// let (near, far) = (subscriber.reader::<Pose>("near/pose")?, subscriber.reader::<Pose>("far/pose")?);
    /// participant.writer::<Pose>("far/pose")?.write(&Pose { x: 1.0 })?;
    /// for reader in subscriber.readers(States::NOT_READ) {
    ///     assert_eq!(reader.topic_name(), "far/pose");
    ///     let reader = reader.downcast_ref::<DataReader<Pose>>().expect("all are of this type");
    ///     assert_eq!(reader.take()?.len(), 1);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "get_datareaders")]
    pub fn readers(&self, states: States) -> Vec<Box<dyn AnyReader>> {
        let members = self.group.members().into_iter().filter(|reader| reader.has_matching(states));
        members.map(|reader| (reader.erase)(reader)).collect()
    }

    /// A handle that does not keep the subscriber alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakSubscriber {
        WeakSubscriber::new(&self.group)
    }

    /// The QoS that the subscriber has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> SubscriberQos {
        self.group.qos()
    }

    /// Changes the QoS, and announces every reader again: readers meet others, or part from them, as the new partitions
    /// say. Without effect once the subscriber is closed.
    ///
    /// # Errors
    /// Nothing has changed: a policy is too long to be announced, or PRESENTATION, which must stay, is another one.
    pub fn set_qos(&self, qos: SubscriberQos) -> Result<(), QosError> {
        self.group.set_qos(qos)
    }

    /// Closes all readers that it has now. Does not wait.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.group.close_contained();
    }
}

impl Entity for Subscriber {
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
        self.group.watch_readers();
        self.group.status_condition().clone()
    }

    fn is_closed(&self) -> bool {
        self.group.is_closed()
    }

    /// Closes its readers as well.
    fn close(&self) {
        self.group.close();
    }

    fn closed(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.group, Awaited::Closed)
    }
}

impl crate::infrastructure::Sealed for Subscriber {}

impl Clone for Subscriber {
    fn clone(&self) -> Self {
        Self::from_group(Arc::clone(&self.group))
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscriber({})", self.guid())
    }
}
