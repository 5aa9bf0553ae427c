//! The entry to a domain (DDS 1.4, 2.2.2.2.1).

use crate::context::{EndpointGroup, ParticipantRef};
#[cfg(doc)]
use crate::infrastructure::CreateErrorKind;
use crate::infrastructure::{
    About, Awaited, CreateError, Entity, ListenerCounters, QosError, StatusCondition, Upgrade, Waiting, Weak,
};
use crate::introspection::MatchReport;
use crate::participant::{DomainParticipantBuilder, FindTopic, ParticipantHandle};
#[cfg(feature = "security-pki")]
use crate::protection::CredentialsError;
use crate::publication::{DataWriter, DataWriterBuilder, Publisher};
use crate::qos::{DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos};
use crate::reception::TrafficCounters;
use crate::subscription::{DataReader, DataReaderBuilder, Subscriber};
use crate::topic::{ParticipantBuiltinTopicData, Topic, TopicBuiltinTopicData, TopicRef};
use dds_rtps::cdr::{DdsType, Raw};
use dds_rtps::participant::ParticipantCounters;
use dds_rtps::types::{EntityId, EntityKind, Guid, InstanceHandle, Time};
use std::fmt;
use std::sync::Arc;

/// Membership of a domain. Discovers other participants, and creates readers and writers.
///
/// It is a handle: a clone is cheap, and every clone and every endpoint keeps the participant alive. There is no
/// factory and no global state. A process may have several participants, of one domain or of several.
///
/// Dropping the last handle may block if a dropped reliable writer has unacknowledged samples. It blocks for at most
/// [`linger`](DomainParticipantBuilder::linger). Other functions here do not block.
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

    /// Creates a handle from an existing reference.
    pub(crate) fn from_ref(handle: ParticipantRef<ParticipantHandle>) -> Self {
        Self { handle }
    }

    pub(crate) fn handle(&self) -> &Arc<ParticipantHandle> {
        &self.handle
    }

    /// Joins a domain with the default settings.
    ///
    /// [`DomainParticipantBuilder`] has the settings, and the environment variables that change them.
    ///
    /// # Errors
    /// - [`CreateErrorKind::InvalidDomain`] for a domain above 232.
    /// - [`CreateErrorKind::Transport`] if no socket can be opened.
    /// - [`CreateErrorKind::Thread`] if the system refuses a thread.
    /// - [`CreateErrorKind::Tap`] if the capture file cannot be written.
    /// - [`CreateErrorKind::Environment`] if the value of a variable is invalid.
    #[doc(alias = "create_participant")]
    pub fn new(domain_id: u32) -> Result<Self, CreateError> {
        Self::builder(domain_id).build()
    }

    /// Joins the domain of the environment variable `DDS_DOMAIN`.
    ///
    /// Without the variable, it joins the domain of the profile file, or else domain 0. Otherwise as
    /// [`new`](Self::new). [`DomainParticipantBuilder::default`] adds settings.
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

    /// Returns a builder that joins a domain with other settings.
    pub fn builder(domain_id: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::new(domain_id)
    }

    /// Creates a writer of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataWriterBuilder::build`].
    #[doc(alias = "create_datawriter")]
    pub fn writer<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataWriter<T>, CreateError> {
        self.writer_builder(topic).build()
    }

    /// Creates a reader of `topic` with the default QoS, or that of its [`TopicSpec`](crate::TopicSpec).
    ///
    /// # Errors
    /// As [`DataReaderBuilder::build`].
    #[doc(alias = "create_datareader")]
    pub fn reader<'t, T: 'static>(&self, topic: impl Into<TopicRef<'t, T>>) -> Result<DataReader<T>, CreateError> {
        self.reader_builder(topic).build()
    }

    /// Returns a builder of a writer of `topic`, for a QoS and listeners.
    pub fn writer_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataWriterBuilder<'t, T> {
        DataWriterBuilder::new(&self.handle.as_publication_context(), topic.into(), self.default_writer_qos())
    }

    /// Returns a builder of a reader of `topic`, for a QoS and listeners.
    pub fn reader_builder<'t, T>(&self, topic: impl Into<TopicRef<'t, T>>) -> DataReaderBuilder<'t, T> {
        DataReaderBuilder::new(&self.handle.as_subscription_context(), topic.into(), self.default_reader_qos())
    }

    /// Creates a publisher, for writers with common partitions, group data or coherent sets.
    ///
    /// Other writers need none. `None` means the [default QoS](Self::default_publisher_qos).
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

    /// Creates a subscriber, for readers with common partitions, group data or access.
    ///
    /// Other readers need none. `None` means the [default QoS](Self::default_subscriber_qos).
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

    /// Creates a topic of type `T`, if a name alone does not suffice; see [`Topic`].
    ///
    /// `None` means the [default QoS](Self::default_topic_qos).
    ///
    /// # Errors
    /// - [`CreateErrorKind::InconsistentQos`] and [`CreateErrorKind::InvalidTopicName`].
    /// - [`CreateErrorKind::TypeConflict`] if this participant uses the name with another type.
    /// - [`CreateErrorKind::Closed`] if the participant is closed.
    #[doc(alias = "create_topic")]
    #[doc(alias = "register_type")]
    pub fn topic<T: DdsType>(&self, name: &str, qos: impl Into<Option<TopicQos>>) -> Result<Topic<T>, CreateError> {
        let qos = qos.into().unwrap_or_else(|| self.default_topic_qos());
        Topic::new(&self.handle.as_topic_context(), name, T::TYPE_NAME, Some(T::DESCRIPTION.into()), qos)
    }

    /// Creates a topic of encoded samples, for recorders and bridges.
    ///
    /// Its readers return [`Raw`] values, and its writers take [`write_encoded`](DataWriter::write_encoded).
    ///
    /// It matches every topic of the same name and type name. The participant does not know the type, so the topic is
    /// keyless:
    ///
    /// - All samples belong to one instance.
    /// - A dispose arrives as a sample without data, which does not name the instance.
    /// - Some peers do not match keyless endpoints with keyed ones.
    ///
    /// A reader should keep more samples than the default of one.
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
    /// As [`topic`](DomainParticipant::topic). [`CreateErrorKind::InvalidTypeName`] if the type name is empty, longer
    /// than 255 bytes, or has a NUL.
    pub fn raw_topic(&self, name: &str, type_name: &str, qos: TopicQos) -> Result<Topic<Raw>, CreateError> {
        Topic::new(&self.handle.as_topic_context(), name, type_name, None, qos)
    }

    /// Returns the QoS of the participant.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> DomainParticipantQos {
        self.handle.core.qos().get()
    }

    /// Changes and announces the QoS. Each policy may change (DDS 1.4, 2.2.3).
    ///
    /// It has no effect if the participant is closed.
    ///
    /// # Errors
    /// Fails without a change if USER_DATA is too long.
    pub fn set_qos(&self, qos: DomainParticipantQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }

    /// Returns the subscriber of the built-in topics (DDS 1.4, 2.2.5).
    ///
    /// Its [`lookup_datareader`](Subscriber::lookup_datareader) returns the standard readers. [`reader`](Self::reader)
    /// creates more of them, with a QoS and listeners; see [`BuiltinTopic`](crate::builtin::BuiltinTopic).
    ///
    /// ```
    /// use dds_core::{DomainParticipant, Scope};
    /// use dds_core::builtin::{BuiltinTopic, ParticipantBuiltinTopicData};
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let builtin = participant.builtin_subscriber();
    /// let participants = builtin.lookup_datareader::<ParticipantBuiltinTopicData>(BuiltinTopic::PARTICIPANT.name());
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
        let make = || EndpointGroup::always(&participant, "subscriber", EntityKind::ReaderGroup);
        let group = self.handle.discovery().builtin().subscriber(make);
        // Again at each call, which replaces the entry: the last group may have been dropped.
        self.handle.contained().add_subscriber(&group);
        // A disabled participant enables it later, and a closed one never does, so the error is ignored.
        drop(group.enable());
        Subscriber::from_group(group)
    }

    /// Waits until any participant has the topic `name` with the type `T`, and returns it.
    ///
    /// The topic has the QoS that it has there.
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
    /// The wait fails with [`WaitErrorKind::OtherType`](crate::error::WaitErrorKind::OtherType) if this participant
    /// uses the topic with another type. It fails with [`WaitErrorKind::Closed`](crate::error::WaitErrorKind::Closed)
    /// if the participant is closed.
    pub fn find_topic<T: DdsType + 'static>(&self, name: &str) -> Waiting<'_, Topic<T>> {
        Waiting::of_own(Box::new(FindTopic::new(&self.handle, name)), Awaited::Topic)
    }

    /// Returns the oldest topic object of this participant with this name and type.
    ///
    /// It does not wait, and ignores topics without a topic object; see [`find_topic`](Self::find_topic).
    #[must_use]
    #[doc(alias = "lookup_topicdescription")]
    pub fn lookup_topic<T: DdsType>(&self, name: &str) -> Option<Topic<T>> {
        for topic in self.handle.contained().topics_named(name) {
            // The table is sorted by entity ID, so this is the oldest one.
            if topic.is_of::<T>() {
                return Some(Topic::from_handle(topic));
            }
        }
        None
    }

    /// Returns the domain.
    #[must_use]
    #[doc(alias = "get_domain_id")]
    pub fn domain_id(&self) -> u32 {
        self.handle.core.config().domain_id
    }

    /// Returns the announced data of all known remote participants. Empty after `close`.
    #[must_use]
    #[doc(alias = "get_discovered_participants")]
    #[doc(alias = "get_discovered_participant_data")]
    pub fn discovered_participants(&self) -> Vec<ParticipantBuiltinTopicData> {
        self.handle.discovery().discovered_participants()
    }

    /// Returns the topics of all remote endpoints, by name. Empty after `close`.
    #[must_use]
    #[doc(alias = "get_discovered_topics")]
    #[doc(alias = "get_discovered_topic_data")]
    pub fn discovered_topics(&self) -> Vec<TopicBuiltinTopicData> {
        self.handle.discovery().discovered_topics()
    }

    /// Returns a report for each known writer and reader of `topic`.
    ///
    /// A report explains why the two match or not. See [`MatchReport`]. Pairs with a local endpoint come first, then at
    /// most 1024 pairs of other participants. For a pair of others, only the announced data decides. The first call
    /// requests the types of the topic from the peers, so that later reports compare them.
    #[must_use]
    pub fn explain(&self, topic: &str) -> Vec<MatchReport> {
        self.handle.explain(topic)
    }

    /// Returns why protection keeps other participants or their datagrams apart, with the next steps.
    ///
    /// The text names the first three participants that DDS Security refuses. `None` if it keeps none apart. Without
    /// credentials or a pre-shared key, the text is about protected datagrams and participants with identities.
    #[must_use]
    pub fn explain_protection(&self) -> Option<String> {
        Some(self.handle.refused_report()).filter(|report| !report.is_empty())
    }

    /// Ignores a remote participant with all its endpoints, for the lifetime of this one.
    ///
    /// Returns `false` without effect if the handle does not name a remote participant, or if this one is closed or not
    /// enabled.
    pub fn ignore_participant(&self, participant: InstanceHandle) -> bool {
        self.handle.ignore(participant, |kind| kind == EntityId::PARTICIPANT)
    }

    /// Ignores a remote writer for the lifetime of this participant.
    ///
    /// Returns `false` without effect if the handle does not name a remote writer, or if this participant is closed.
    pub fn ignore_publication(&self, publication: InstanceHandle) -> bool {
        self.handle.ignore(publication, EntityId::is_writer)
    }

    /// Ignores a remote reader for the lifetime of this participant.
    ///
    /// Returns `false` without effect if the handle does not name a remote reader, or if this participant is closed.
    pub fn ignore_subscription(&self, subscription: InstanceHandle) -> bool {
        self.handle.ignore(subscription, EntityId::is_reader)
    }

    /// Ignores all remote endpoints with this topic and type, for the lifetime of this participant.
    ///
    /// The handle is that of [`discovered_topics`](Self::discovered_topics) and
    /// [`BuiltinTopic::TOPIC`](crate::builtin::BuiltinTopic::TOPIC). Returns `false` without effect if no remote
    /// endpoint has this topic, or if this participant is closed.
    pub fn ignore_topic(&self, topic: InstanceHandle) -> bool {
        self.handle.ignore_topic(topic)
    }

    /// Reads `crl.pem` and `ocsp.der` of the [credentials](crate::security::Credentials::from_enclave) again, or the
    /// file of the property `dds.sec.auth.builtin.PKI-DH.identity_crl`.
    ///
    /// Participants whose certificates they revoke are cut off at once, and the keys change that they know. Call it
    /// after these files have changed; `dds security revoke` makes `crl.pem`.
    ///
    /// # Errors
    /// [`CredentialsError`](crate::security::CredentialsError) if a file is faulty or revokes the own certificate. Then
    /// the earlier files still count. Also if the participant has no credentials, or
    /// those of properties that name no such file.
    #[cfg(feature = "security-pki")]
    pub fn reload_revocations(&self) -> std::result::Result<(), CredentialsError> {
        self.handle.reload_revocations()
    }

    /// Returns whether the handle names an open entity of this participant.
    ///
    /// Entities are publishers, subscribers, topics, writers and readers.
    #[must_use]
    pub fn contains_entity(&self, entity: InstanceHandle) -> bool {
        let Some(bytes) = entity.as_bytes() else { return false };
        let guid = Guid::from_bytes(*bytes);
        guid.prefix == self.handle.core.prefix() && self.handle.contained().has(guid.entity_id)
    }

    /// Closes all entities of this participant. Does not block.
    #[doc(alias = "delete_contained_entities")]
    pub fn close_contained(&self) {
        self.handle.contained().close();
    }

    /// Closes the participant, and waits until its threads have ended.
    ///
    /// It first waits for acknowledgments of reliable writers' samples, at most for
    /// [`linger`](DomainParticipantBuilder::linger). The wait for the threads takes at most another second.
    ///
    /// Async code must not block, so it uses this function. The last drop does not block after it. A future that is
    /// dropped early has started the shutdown if it was polled.
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
    /// The wait fails with [`WaitErrorKind::WouldDeadlock`](crate::error::WaitErrorKind::WouldDeadlock) on one of the
    /// participant's own threads, for example in a listener. Then nothing is closed.
    pub fn shutdown(&self) -> Waiting<'_, ()> {
        Waiting::new(self, Awaited::Shutdown)
    }

    /// Returns a handle that does not keep the participant alive.
    #[must_use]
    pub fn downgrade(&self) -> Weak<Self> {
        Weak::new(&self.handle)
    }

    /// Returns the counters of listener calls in this participant.
    #[must_use]
    pub fn listener_counters(&self) -> ListenerCounters {
        self.handle.core.event_thread().counters()
    }

    /// Returns the counters of sent, received and ignored datagrams.
    #[must_use]
    pub fn traffic(&self) -> TrafficCounters {
        self.handle.reception().traffic()
    }

    /// Returns the counters of ignored discovery data, by reason. `None` after `close`.
    #[must_use]
    pub fn discovery_counters(&self) -> Option<ParticipantCounters> {
        self.handle.discovery().counters()
    }

    /// Asserts the liveliness of all writers with
    /// [`ManualByParticipant`](crate::qos::LivelinessKind::ManualByParticipant).
    ///
    /// Call it more often than the shortest of their leases (DDS 1.4, 2.2.2.2.1.21). A write of one of these writers
    /// asserts it too. Peers learn of the first assertion at once, and then at most four times per lease. It has no
    /// effect if the participant is closed.
    pub fn assert_liveliness(&self) {
        self.handle.assert_liveliness();
    }

    /// Returns the current time of the clock that timestamps samples.
    #[must_use]
    #[doc(alias = "get_current_time")]
    pub fn now(&self) -> Time {
        self.handle.core.driver().now().time
    }
}

crate::infrastructure::entity_methods!(DomainParticipant, "participant", with statuses);

impl Entity for DomainParticipant {
    fn guid(&self) -> Guid {
        self.handle.core.subject().guid
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.handle.enable().about(self.handle.core.subject())
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

    /// Closes the participant and all its entities.
    ///
    /// Unacknowledged samples of reliable writers are retransmitted in the background, for at most
    /// [`linger`](DomainParticipantBuilder::linger). Then the participant announces its disposal.
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

impl Upgrade for DomainParticipant {
    type Shared = ParticipantHandle;

    fn upgrade(shared: &std::sync::Weak<ParticipantHandle>) -> Option<Self> {
        ParticipantRef::upgrade(shared).map(Self::from_ref)
    }
}
