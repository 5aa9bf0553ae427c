//! Groups of readers (DDS 1.4, 2.2.2.5.2).

use crate::context::{EndpointGroup, ParticipantContext, ParticipantRef};
use crate::endpoint::{AnyEndpoint, remove_group_listener, set_group_listener};
use crate::infrastructure::{
    About, Awaited, CreateError, CreateErrorKind, Entity, QosError, ReadError, ReadErrorKind, StatusCondition,
    StatusMask, Upgrade, Waiting, Weak,
};
use crate::qos::{DataReaderQos, SubscriberQos};
use crate::subscription::listener::dispatch_reader_to_group;
use crate::subscription::{Access, DataReader, DataReaderBuilder, ReaderHandle, SubscriberListener};
use crate::topic::{BuiltinKind, PublicationBuiltinTopicData, TopicRef};
use dds_rtps::history::States;
use dds_rtps::types::{EntityId, EntityKind, Guid, InstanceHandle};
use std::fmt;
use std::sync::Arc;

/// Groups readers with common partitions, group data and presentation.
///
/// A reader without them needs no subscriber: use [`DomainParticipant::reader`](crate::DomainParticipant::reader).
///
/// A handle to a subscriber. Clones are cheap. It keeps its participant alive, and its readers keep it alive.
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
    /// `None` if the handle is lent to a listener.
    pub(super) user: Option<ParticipantRef<dyn SubscriptionContext>>,
}

/// Services that readers and subscribers need from their participant.
pub(crate) trait SubscriptionContext: ParticipantContext {
    fn add_subscriber(&self, subscriber: &Arc<SubscriberGroup>);

    fn is_builtin_subscriber(&self, subscriber: &Arc<SubscriberGroup>) -> bool;

    /// Adds a new reader to the table of the participant, and resolves its listeners.
    fn enter_reader(&self, reader: &Arc<ReaderHandle>) -> Result<(), CreateErrorKind>;

    /// Announces a reader that was enabled.
    fn announce_reader(&self, reader: &ReaderHandle) -> Result<(), CreateErrorKind>;

    /// Lets a reader receive the samples of a built-in topic.
    fn add_builtin_reader(&self, reader: &ReaderHandle, kind: BuiltinKind) -> Result<(), CreateErrorKind>;

    /// Announces a reader again, with its present QoS and filter and those of its subscriber and topic.
    fn update_reader(&self, reader: &ReaderHandle);

    fn delete_reader(&self, id: EntityId, topic: &str);

    /// Announced data of a writer.
    fn publication_data(&self, writer: InstanceHandle) -> Option<PublicationBuiltinTopicData>;

    /// Submessages that were dropped because the inbox of an endpoint was full.
    fn inbox_dropped(&self) -> u64;
}

/// State that all handles of one subscriber share.
pub(crate) type SubscriberGroup = EndpointGroup<ReaderHandle>;

impl Subscriber {
    pub(crate) fn new(participant: &Arc<dyn SubscriptionContext>, qos: SubscriberQos) -> Result<Self, CreateError> {
        let group = SubscriberGroup::new(participant, "subscriber", EntityKind::ReaderGroup, qos)?;
        participant.add_subscriber(&group);
        if participant.core().is_closed() {
            // The thread that closed the participant may have listed its subscribers before this one was added.
            group.close();
        }
        if participant.core().autoenables() {
            // ENTITY_FACTORY of the participant decides (DDS 1.4, 2.2.3.20).
            group.enable().about(group.subject())?;
        }
        Ok(Self::from_group(group))
    }

    pub(crate) fn group(&self) -> &Arc<SubscriberGroup> {
        &self.group
    }

    /// Creates a handle that belongs to the application.
    pub(crate) fn from_group(group: Arc<SubscriberGroup>) -> Self {
        let user = ParticipantRef::join(group.participant());
        Self { group, user }
    }

    /// Creates a handle for the duration of a listener's call.
    pub(super) fn lend(group: Arc<SubscriberGroup>) -> Self {
        Self { group, user: None }
    }

    /// Creates a reader of `topic` with the default QoS, or with that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataReaderBuilder::build`].
    #[doc(alias = "create_datareader")]
    pub fn reader<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataReader<T>, CreateError> {
        self.reader_builder(topic).build()
    }

    /// Returns a builder for a reader of `topic` with its own QoS and listeners.
    pub fn reader_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataReaderBuilder<'t, T> {
        let default = self.group.default_qos().get();
        DataReaderBuilder::new(self.group.participant(), topic.into(), default).group(Arc::clone(&self.group))
    }

    /// Returns the oldest reader of `topic` with the type `T` in this subscriber.
    ///
    /// The [built-in subscriber](crate::DomainParticipant::builtin_subscriber) has a reader of each built-in topic. The
    /// first lookup creates the reader, which then gets all data known so far. It lives as long as the application
    /// holds a handle to it.
    #[must_use]
    pub fn lookup_datareader<T: 'static>(&self, topic: &str) -> Option<DataReader<T>> {
        if let Some(reader) = self.find(topic) {
            return Some(reader);
        }
        let kind = BuiltinKind::of_name(topic)?;
        if !kind.is_of::<T>() || !self.is_builtin() {
            return None;
        }
        let participant = self.group.participant();
        let builder = DataReaderBuilder::new(participant, TopicRef::of_builtin(kind), DataReaderQos::default());
        // A closed participant has no built-in topics any more.
        let made = builder.group(Arc::clone(&self.group)).build().ok()?;
        // Another thread may have created a reader in between. All threads return the first one.
        self.find(topic).or(Some(made))
    }

    fn find<T: 'static>(&self, topic: &str) -> Option<DataReader<T>> {
        for reader in self.group.members() {
            if reader.topic_name() == topic && reader.is_of::<T>() {
                return Some(DataReader::from_handle(reader));
            }
        }
        None
    }

    fn is_builtin(&self) -> bool {
        self.group.participant().is_builtin_subscriber(&self.group)
    }

    /// Sets the default QoS of later readers of this subscriber.
    ///
    /// It applies to readers without a QoS of their own and without a [`TopicSpec`](crate::TopicSpec). Existing readers
    /// keep their QoS. Default: that of DDS 1.4.
    ///
    /// # Errors
    /// The QoS is unchanged because its policies are inconsistent.
    #[doc(alias = "set_default_datareader_qos")]
    pub fn set_default_reader_qos(&self, qos: impl Into<DataReaderQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().about(self.group.subject())?;
        self.group.default_qos().set(qos);
        Ok(())
    }

    /// Returns the QoS of readers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_datareader_qos")]
    pub fn default_reader_qos(&self) -> DataReaderQos {
        self.group.default_qos().get()
    }

    /// Returns the readers of this subscriber with samples in `states`, in the order of their creation.
    ///
    /// ```
    /// use dds_core::qos::SubscriberQos;
    /// use dds_core::reader::States;
    /// use dds_core::{DataReader, DdsType, DomainParticipant, Scope};
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
    pub fn readers(&self, states: States) -> Vec<Box<dyn AnyEndpoint>> {
        let mut readers = Vec::new();
        for reader in self.group.members() {
            if reader.has_matching(states) {
                readers.push(reader.erase_type());
            }
        }
        readers
    }

    /// Returns a handle that does not keep the subscriber alive.
    #[must_use]
    pub fn downgrade(&self) -> Weak<Self> {
        Weak::new(&self.group)
    }

    /// Returns the QoS of the subscriber.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> SubscriberQos {
        self.group.qos()
    }

    /// Changes the QoS and announces every reader again.
    ///
    /// Readers match and unmatch according to the new partitions. The call has no effect on a closed subscriber.
    ///
    /// # Errors
    /// The QoS is unchanged. A policy is too long to be announced, or PRESENTATION differs, which cannot change.
    pub fn set_qos(&self, qos: SubscriberQos) -> Result<(), QosError> {
        self.group.set_qos(qos)
    }

    /// Begins an access, which shows a consistent state of all readers of this subscriber.
    ///
    /// Until the returned guard is dropped, the readers show the samples of the time of this call, and no later ones.
    /// If several guards exist, the last one ends the access.
    ///
    /// With `access_scope` `Group` and coherent or ordered access, samples can be read only during an access. Other
    /// reads return [`ReadErrorKind::OutsideAccess`], because they could not relate the samples of one reader to those
    /// of another. DDS 1.4 demands an access for the scope alone. This implementation does not, because without
    /// coherent or ordered access it has no benefit.
    ///
    /// No access is needed to wait with [`readable`](crate::DataReader::readable), a condition or a listener.
    /// [`iter`](crate::DataReader::iter) and the streams take samples without an access, so they yield nothing here. A
    /// reader that joins later than another shows the earlier samples of its writers at once, without the other
    /// readers. Under other scopes an access has no effect.
    ///
    /// ```
    /// use dds_core::qos::{AccessScope, Presentation, Preset, PublisherQos, SubscriberQos};
    /// use dds_core::reader::States;
    /// use dds_core::{DataReader, DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Wheel {
    ///     speed: f32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let mut together = Presentation::default();
    /// (together.access_scope, together.coherent_access, together.ordered_access) = (AccessScope::Group, true, true);
    /// let publisher = participant.publisher(PublisherQos::default().presentation(together))?;
    /// let subscriber = participant.subscriber(SubscriberQos::default().presentation(together))?;
    /// let (left, right) = ("access/left", "access/right");
    /// let readers = [left, right].map(|topic| subscriber.reader_builder::<Wheel>(topic).qos(Preset::Event).build());
    /// let writers = [left, right].map(|topic| publisher.writer_builder::<Wheel>(topic).qos(Preset::Event).build());
    /// let ([Ok(left), Ok(right)], [Ok(_), Ok(seen)]) = (&writers, &readers) else { panic!("all were made") };
    /// let both = publisher.coherent_changes()?;
    /// right.write(&Wheel { speed: 1.0 })?;
    /// left.write(&Wheel { speed: 0.5 })?;
    /// right.write(&Wheel { speed: 1.5 })?;
    /// both.end()?;
    /// seen.readable().block()?;
    /// let access = subscriber.access()?;
    /// let mut speeds = Vec::new();
    /// for reader in access.readers(States::NOT_READ) {
    ///     let reader = reader.downcast_ref::<DataReader<Wheel>>().expect("all are of this type");
    ///     speeds.extend(reader.take_next()?.and_then(|sample| sample.data).map(|wheel| wheel.speed));
    /// }
    /// assert_eq!(speeds, [1.0, 0.5, 1.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ReadErrorKind::NotEnabled`] or [`ReadErrorKind::Closed`].
    #[doc(alias = "begin_access")]
    #[doc(alias = "end_access")]
    pub fn access(&self) -> Result<Access<'_>, ReadError> {
        let group = &self.group;
        let kind = if group.is_closed() {
            ReadErrorKind::Closed
        } else if !group.is_enabled() {
            ReadErrorKind::NotEnabled
        } else {
            return Ok(Access::begin(group));
        };
        Err(ReadError::new(group.subject(), kind))
    }

    /// Calls `listener` with the statuses in `mask` of the subscriber's readers.
    ///
    /// A status goes to the reader's own listener instead if its mask contains it. Replaces an earlier listener, whose
    /// calls do not begin any more.
    ///
    /// The participant's [`delivery`](crate::DomainParticipantBuilder::delivery) selects the thread. If the listener
    /// panics, the panic is caught and the listener is removed. The reader whose event it handled reports the panic as
    /// an event.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl SubscriberListener) -> Result<(), CreateError> {
        set_group_listener(&self.group, mask, listener, dispatch_reader_to_group)
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        remove_group_listener(&self.group);
    }

    /// Calls `on_data_available` for every reader with new data.
    ///
    /// New data has arrived since the last read or call. The call goes to the reader's own listener, or to the next
    /// level whose mask contains the status.
    pub fn notify_datareaders(&self) {
        for reader in self.group.members() {
            reader.notify_of_data();
        }
    }

    /// Closes all present readers of the subscriber. Does not wait.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.group.close_contained();
    }
}

crate::infrastructure::entity_methods!(Subscriber, "subscriber", with statuses);

impl Entity for Subscriber {
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
        self.group.watch_readers();
        self.group.status_condition().clone()
    }

    fn is_closed(&self) -> bool {
        self.group.is_closed()
    }

    /// Closes the subscriber and its readers.
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

impl Upgrade for Subscriber {
    type Shared = SubscriberGroup;

    fn upgrade(shared: &std::sync::Weak<SubscriberGroup>) -> Option<Self> {
        let subscriber = Self::from_group(shared.upgrade()?);
        // `user` is `None` if only a running listener still holds the subscriber. The application has dropped its
        // handles.
        if subscriber.user.is_some() { Some(subscriber) } else { None }
    }
}
