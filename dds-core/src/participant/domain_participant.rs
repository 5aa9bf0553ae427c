//! The entry to a domain (DDS 1.4, 2.2.2.2.1).

use crate::cdr::{DdsType, Raw};
use crate::context::{Group, ParticipantRef};
#[cfg(doc)]
use crate::infrastructure::CreateErrorKind;
use crate::infrastructure::{Awaited, CreateError, Entity, ListenerCounters, QosError, StatusCondition, Waiting};
use crate::introspection::MatchReport;
use crate::participant::{DomainParticipantBuilder, FindTopic, ParticipantHandle, WeakDomainParticipant};
use crate::publication::{DataWriter, DataWriterBuilder, Publisher};
use crate::qos::{DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos};
use crate::reception::TrafficCounters;
use crate::subscription::{DataReader, DataReaderBuilder, Subscriber};
use crate::topic::{ParticipantBuiltinTopicData, Topic, TopicBuiltinTopicData, TopicRef};
use dds_rtps::participant::ParticipantCounters;
use dds_rtps::types::{EntityId, EntityKind, Guid, InstanceHandle, Time};
use std::fmt;
use std::sync::Arc;

/// Membership of a domain: finds the other participants, and makes readers and writers.
///
/// A handle: cloning it is cheap, every clone and every endpoint keeps the participant alive. There is no factory and no
/// global: several participants, of one domain or of several, live side by side in a process.
///
/// Dropping the last handle blocks for at most [`linger`](DomainParticipantBuilder::linger), if a dropped reliable writer
/// has samples that nobody has acknowledged yet. Otherwise nothing here blocks.
///
/// ```
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
/// // `new(0)` instead has all defaults: it looks for others as far as multicast reaches.
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Pose { robot: 7, x: 1.0 }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "get_instance")]
#[doc(alias = "lookup_participant")]
pub struct DomainParticipant {
    handle: ParticipantRef<ParticipantHandle>,
}

impl DomainParticipant {
    pub(crate) fn from_handle(handle: &Arc<ParticipantHandle>) -> Self {
        Self { handle: ParticipantRef::new(handle) }
    }

    /// Of a share that there is.
    pub(crate) fn from_ref(handle: ParticipantRef<ParticipantHandle>) -> Self {
        Self { handle }
    }

    pub(crate) fn handle(&self) -> &Arc<ParticipantHandle> {
        &self.handle
    }

    /// Joins a domain with the default settings; see [`DomainParticipantBuilder`] for them and for the environment
    /// variables that change them.
    ///
    /// # Errors
    /// [`CreateErrorKind::InvalidDomain`] above 232, [`CreateErrorKind::Transport`] if no socket can be opened,
    /// [`CreateErrorKind::Thread`], [`CreateErrorKind::Tap`] if there should be a capture file and cannot be, or
    /// [`CreateErrorKind::Environment`] for a variable that cannot be understood.
    #[doc(alias = "create_participant")]
    pub fn new(domain_id: u32) -> Result<Self, CreateError> {
        Self::builder(domain_id).build()
    }

    /// Joins the domain that the environment names (`DDS_DOMAIN`), or else the profile file; domain 0 if neither does.
    /// Otherwise like [`new`](Self::new). With other settings: [`DomainParticipantBuilder::default`].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// ```no_run
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = dds_core::DomainParticipant::from_env()?; // DDS_DOMAIN=7 cargo run
    /// assert_eq!(participant.domain_id(), 7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_env() -> Result<Self, CreateError> {
        DomainParticipantBuilder::default().build()
    }

    /// Joins a domain with other settings.
    pub fn builder(domain_id: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::new(domain_id)
    }

    /// Makes a writer of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataWriterBuilder::build`].
    #[doc(alias = "create_datawriter")]
    pub fn writer<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataWriter<T>, CreateError> {
        self.writer_builder(topic).build()
    }

    /// Makes a reader of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataReaderBuilder::build`].
    #[doc(alias = "create_datareader")]
    pub fn reader<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataReader<T>, CreateError> {
        self.reader_builder(topic).build()
    }

    /// Makes a writer of `topic` with a QoS and listeners of its own.
    pub fn writer_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataWriterBuilder<'t, T> {
        DataWriterBuilder::new(&self.handle.as_publication_context(), topic.into(), self.default_writer_qos())
    }

    /// Makes a reader of `topic` with a QoS and listeners of its own.
    pub fn reader_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataReaderBuilder<'t, T> {
        DataReaderBuilder::new(&self.handle.as_subscription_context(), topic.into(), self.default_reader_qos())
    }

    /// Makes a publisher: writers with partitions, octets or coherent sets in common. No other writer needs one. `None` stands for
    /// the [default QoS](Self::default_publisher_qos).
    ///
    /// # Errors
    /// [`CreateErrorKind::InconsistentQos`] or [`CreateErrorKind::Closed`].
    #[doc(alias = "create_publisher")]
    pub fn publisher(&self, qos: impl Into<Option<PublisherQos>>) -> Result<Publisher, CreateError> {
        Publisher::new(
            &self.handle.as_publication_context(),
            qos.into().unwrap_or_else(|| self.default_publisher_qos()),
        )
    }

    /// Makes a subscriber: readers with partitions, octets or access in common. No other reader needs one. `None` stands for the
    /// [default QoS](Self::default_subscriber_qos).
    ///
    /// # Errors
    /// As [`publisher`](DomainParticipant::publisher).
    #[doc(alias = "create_subscriber")]
    pub fn subscriber(&self, qos: impl Into<Option<SubscriberQos>>) -> Result<Subscriber, CreateError> {
        Subscriber::new(
            &self.handle.as_subscription_context(),
            qos.into().unwrap_or_else(|| self.default_subscriber_qos()),
        )
    }

    /// Makes a topic of type `T`. Only needed for what a name alone cannot say; see [`Topic`]. `None` stands for the
    /// [default QoS](Self::default_topic_qos).
    ///
    /// # Errors
    /// [`CreateErrorKind::InconsistentQos`], [`CreateErrorKind::InvalidTopicName`], [`CreateErrorKind::TypeConflict`] if the
    /// name is in use here with another type, or [`CreateErrorKind::Closed`].
    #[doc(alias = "create_topic")]
    #[doc(alias = "register_type")]
    pub fn topic<T: DdsType>(&self, name: &str, qos: impl Into<Option<TopicQos>>) -> Result<Topic<T>, CreateError> {
        let qos = qos.into().unwrap_or_else(|| self.default_topic_qos());
        Topic::new(&self.handle.as_topic_context(), name, T::TYPE_NAME, Some(T::DESCRIPTION.into()), qos)
    }

    /// Makes a topic whose samples stay in their encoded form, for recorders and bridges. Readers of it give [`Raw`]
    /// values, writers take [`write_encoded`](DataWriter::write_encoded).
    ///
    /// It meets every topic of the same name and type name, but as nobody here knows the type it is keyless: all samples
    /// belong to one instance, a dispose arrives as a sample without data that does not say of what, and some peers do not
    /// match keyless endpoints with keyed ones. A reader of it should keep more than the one sample of the default.
    ///
    /// ```
    /// use dds_core::qos::{Preset, TopicQos};
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Text {
    ///     line: String,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let from = participant.raw_topic("from", "Text", TopicQos::default())?;
    /// let to = participant.raw_topic("to", "Text", TopicQos::default())?;
    /// let recorder = participant.reader_builder(&from).qos(Preset::Event).build()?;
    /// let player = participant.writer(&to)?;
    /// let reader = participant.reader::<Text>("to")?;
    /// let writer = participant.writer::<Text>("from")?;
    ///
    /// writer.write(&Text { line: "hello".to_owned() })?;
    /// let raw = recorder.next_sample().block()?.data.expect("keyless samples have data");
    /// player.write_encoded(raw.as_encoded())?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Text { line: "hello".to_owned() }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`topic`](DomainParticipant::topic); [`CreateErrorKind::InvalidTypeName`] for an empty type name, one longer than
    /// 255 bytes, or one with a NUL.
    pub fn raw_topic(&self, name: &str, type_name: &str, qos: TopicQos) -> Result<Topic<Raw>, CreateError> {
        Topic::new(&self.handle.as_topic_context(), name, type_name, None, qos)
    }

    /// The QoS that the participant has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DomainParticipantQos {
        self.handle.core.qos().get()
    }

    /// Changes the QoS, and announces it; all of it may change (DDS 1.4, 2.2.3). Without effect once the participant is
    /// closed.
    ///
    /// # Errors
    /// Nothing has changed: USER_DATA is too long to be announced.
    pub fn set_qos(&self, qos: DomainParticipantQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// The subscriber of the built-in topics (DDS 1.4, 2.2.5), for
    /// [`lookup_datareader`](Subscriber::lookup_datareader). [`reader`](Self::reader) makes readers of them as well, any
    /// number and with a QoS and listeners of their own; see [`BuiltinTopic`](crate::BuiltinTopic).
    ///
    /// ```
    /// use dds_core::{DCPS_PARTICIPANT, DomainParticipant, ParticipantBuiltinTopicData, Scope};
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let builtin = participant.builtin_subscriber();
    /// let participants = builtin.lookup_datareader::<ParticipantBuiltinTopicData>(DCPS_PARTICIPANT.name());
    /// for found in participants.expect("the participant is open").take()?.into_data() {
    ///     println!("{} at {:?}", found.name, found.locators);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "get_builtin_subscriber")]
    pub fn builtin_subscriber(&self) -> Subscriber {
        let participant = self.handle.as_subscription_context();
        let make = || Group::always(&participant, "subscriber", EntityKind::ReaderGroup);
        let group = self.handle.discovery().builtin().subscriber(make);
        self.handle.contained().add_subscriber(&group);
        // That of a disabled participant is enabled with it, that of a closed one never.
        drop(group.enable());
        Subscriber::from_group(group)
    }

    /// Waits until somebody has the topic `name` with the type `T`, in this participant or another one, and gives it with the
    /// QoS that it has there.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// # let tag = format!("find-topic-{}", std::process::id());
    /// # let builder = || DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag.clone());
    /// let (robot, station) = (builder().build()?, builder().build()?);
    /// let writer = robot.writer::<Pose>("pose")?;
    /// let topic = station.find_topic::<Pose>("pose").block()?;
    /// let reader = station.reader(&topic)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The wait ends with [`WaitErrorKind::OtherType`](crate::WaitErrorKind::OtherType) if the topic is in use in this
    /// participant with another type, and with [`WaitErrorKind::Closed`](crate::WaitErrorKind::Closed).
    pub fn find_topic<T: DdsType + 'static>(&self, name: &str) -> Waiting<'_, Topic<T>> {
        Waiting::of_own(Box::new(FindTopic::new(&self.handle, name)), Awaited::Topic)
    }

    /// A topic object of this participant by its name and type: the one that was made first of those that are there. Does not
    /// wait, and knows nothing of topics that are only named; see [`find_topic`](Self::find_topic).
    #[must_use]
    #[doc(alias = "lookup_topicdescription")]
    pub fn lookup_topic<T: DdsType>(&self, name: &str) -> Option<Topic<T>> {
        let topics = self.handle.contained().topics_named(name);
        topics.into_iter().filter(|topic| topic.is_of::<T>()).min_by_key(|topic| topic.guid()).map(Topic::from_handle)
    }

    /// Makes a topic of a type that has serde's `Serialize` and `Deserialize` rather than
    /// [`DdsType`](crate::DdsType); see [`Serde`](crate::Serde) for what its samples look like to others.
    ///
    /// ```
    /// use dds_core::qos::TopicQos;
    /// use dds_core::{DomainParticipant, Scope, Serde};
    ///
    /// #[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
    /// struct Goal {
    ///     position: (f64, f64),
    ///     note: Option<String>,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// # let tag = format!("serde-topic-{}", std::process::id());
    /// let builder = DomainParticipant::builder(0).scope(Scope::Host);
    /// # let builder = builder.domain_tag(tag);
    /// let participant = builder.build()?;
    /// let topic = participant.serde_topic::<Goal>("goal", "Goal", TopicQos::default())?;
    /// let (reader, writer) = (participant.reader(&topic)?, participant.writer(&topic)?);
    /// writer.write(&Serde(Goal { position: (1.0, 2.0), note: None }))?;
    /// let Some(Serde(goal)) = reader.next_sample().block()?.data else { panic!("keyless samples have data") };
    /// assert_eq!(goal.position, (1.0, 2.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`raw_topic`](DomainParticipant::raw_topic).
    #[cfg(feature = "serde")]
    pub fn serde_topic<T>(
        &self,
        name: &str,
        type_name: &str,
        qos: TopicQos,
    ) -> Result<Topic<crate::topic::Serde<T>>, CreateError> {
        Topic::with_representations(
            &self.handle.as_topic_context(),
            name,
            type_name,
            None,
            crate::topic::REPRESENTATIONS,
            qos,
        )
    }

    /// The domain.
    #[must_use]
    #[doc(alias = "get_domain_id")]
    pub fn domain_id(&self) -> u32 {
        self.handle.core.config().domain_id
    }

    /// The other participants of the domain that are known now, with what they announce; none after `close`.
    #[must_use]
    #[doc(alias = "get_discovered_participants")]
    #[doc(alias = "get_discovered_participant_data")]
    pub fn discovered_participants(&self) -> Vec<ParticipantBuiltinTopicData> {
        self.handle.discovery().discovered_participants()
    }

    /// The topics that other participants have readers or writers of, by name; none after `close`.
    #[must_use]
    #[doc(alias = "get_discovered_topics")]
    #[doc(alias = "get_discovered_topic_data")]
    pub fn discovered_topics(&self) -> Vec<TopicBuiltinTopicData> {
        self.handle.discovery().discovered_topics()
    }

    /// Why the endpoints of this participant that are of `topic` match others, or do not: a report for each pair that
    /// could match. See [`MatchReport`].
    #[must_use]
    pub fn explain(&self, topic: &str) -> Vec<MatchReport> {
        self.handle.explain(topic)
    }

    /// Forgets another participant with all its endpoints, now and for as long as this one lives.
    ///
    /// False, and nothing done, if the handle is no other participant's, or if this one is closed or not enabled.
    pub fn ignore_participant(&self, participant: InstanceHandle) -> bool {
        self.handle.ignore(participant, |kind| kind == EntityId::PARTICIPANT)
    }

    /// Forgets a writer of another participant, now and for as long as this one lives.
    ///
    /// False, and nothing done, if the handle is no such writer's, or if this participant is closed.
    pub fn ignore_publication(&self, publication: InstanceHandle) -> bool {
        self.handle.ignore(publication, EntityId::is_writer)
    }

    /// Forgets a reader of another participant, now and for as long as this one lives.
    ///
    /// False, and nothing done, if the handle is no such reader's, or if this participant is closed.
    pub fn ignore_subscription(&self, subscription: InstanceHandle) -> bool {
        self.handle.ignore(subscription, EntityId::is_reader)
    }

    /// Forgets every reader and writer of other participants that has this topic and type, now and for as long as this
    /// participant lives. The handle is that of [`discovered_topics`](Self::discovered_topics) and
    /// [`DCPS_TOPIC`](crate::DCPS_TOPIC).
    ///
    /// False, and nothing done, if nobody else has such a topic, or if this participant is closed.
    pub fn ignore_topic(&self, topic: InstanceHandle) -> bool {
        self.handle.ignore_topic(topic)
    }

    /// Whether the handle is that of a publisher, subscriber, writer or reader of this participant that is not closed.
    #[must_use]
    pub fn contains_entity(&self, entity: InstanceHandle) -> bool {
        let guid = entity.as_bytes().copied().map(Guid::from_bytes);
        guid.is_some_and(|guid| guid.prefix == self.handle.core.prefix() && self.handle.contained().has(guid.entity_id))
    }

    /// Closes everything that was made with this participant and is open now. Does not wait.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.handle.contained().close();
    }

    /// Closes the participant, and waits until it has taken leave: until what reliable writers have sent is acknowledged, at
    /// most for [`linger`](DomainParticipantBuilder::linger), and until its threads have ended, at most another second.
    ///
    /// For async code, which must not block: the last drop does not wait any more after it. Dropped before it is ready, it
    /// has begun the end all the same, if it was polled at all.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let writer = participant.writer::<Pose>("pose")?;
    /// writer.write(&Pose { x: 1.0 })?;
    /// participant.shutdown().await?;
    /// assert!(writer.write(&Pose { x: 2.0 }).is_err());
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    ///
    /// # Errors
    /// The wait ends with [`WaitErrorKind::WouldDeadlock`](crate::WaitErrorKind::WouldDeadlock) on one of the participant's own
    /// threads, such as in a listener; nothing is closed then.
    pub fn shutdown(&self) -> Waiting<'_, ()> {
        Waiting::new(self, Awaited::Shutdown)
    }

    /// A handle that does not keep the participant alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakDomainParticipant {
        WeakDomainParticipant::new(Arc::downgrade(&self.handle))
    }

    /// How the listeners in this participant have behaved.
    #[must_use]
    pub fn listener_counters(&self) -> ListenerCounters {
        self.handle.core.event_thread().counters()
    }

    /// What has been sent, received and left aside.
    #[must_use]
    pub fn traffic(&self) -> TrafficCounters {
        self.handle.reception().traffic()
    }

    /// What discovery has not taken in, and why. `None` after `close`.
    #[must_use]
    pub fn discovery_counters(&self) -> Option<ParticipantCounters> {
        self.handle.discovery().counters()
    }

    /// Says that the application is alive, for all writers of this participant whose LIVELINESS is
    /// [`ManualByParticipant`](crate::qos::LivelinessKind::ManualByParticipant) (DDS 1.4, 2.2.2.2.1.21); to be called more often
    /// than the shortest of their leases. What any of these writers writes says so as well. Others hear of it at once, and then
    /// at most four times in a lease. Without effect once the participant is closed.
    pub fn assert_liveliness(&self) {
        self.handle.assert_liveliness();
    }

    /// The present time of the clock that stamps samples.
    #[must_use]
    #[doc(alias = "get_current_time")]
    pub fn now(&self) -> Time {
        self.handle.core.driver().now().time
    }
}

impl Entity for DomainParticipant {
    fn guid(&self) -> Guid {
        self.handle.core.subject().guid
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.handle.enable().map_err(|kind| CreateError::new(self.handle.core.subject(), kind))
    }

    fn is_enabled(&self) -> bool {
        self.handle.core.is_enabled()
    }

    fn status_condition(&self) -> StatusCondition {
        self.handle.status_condition().clone()
    }

    fn is_closed(&self) -> bool {
        self.handle.core.is_closed()
    }

    /// Closes everything in it as well. What reliable writers have sent may still be acknowledged for
    /// [`linger`](DomainParticipantBuilder::linger), in the background; then the participant says farewell.
    fn close(&self) {
        self.handle.close();
    }

    fn closed(&self) -> Waiting<'_, ()> {
        Waiting::new(self, Awaited::Closed)
    }
}

impl crate::infrastructure::Sealed for DomainParticipant {}

impl fmt::Debug for DomainParticipant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DomainParticipant({}, domain {})", self.guid(), self.domain_id())
    }
}
