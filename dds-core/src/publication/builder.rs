//! Creation of writers.

use crate::context::{ParticipantCore, ParticipantRef};
use crate::endpoint::{
    AnyEndpoint, EndpointCore, EndpointDispatch, NewEndpoint, check_qos, new_listener, new_subject, qos_setters, start,
};
use crate::infrastructure::{About, CreateError, CreateErrorKind, Delivery, StatusMask, Subject};
use crate::publication::encoder::SampleEncoder;
use crate::publication::listener::{dispatch_events, dispatch_to_listener};
use crate::publication::writer_actor::{WriterActor, WriterEnvironment};
use crate::publication::{
    DataWriter, DataWriterListener, PublicationContext, PublisherGroup, WriterEvent, WriterHandle,
};
use crate::qos::{
    DataRepresentation, DataWriterQos, DestinationOrder, Durability, DurabilityService, History, Liveliness, Ownership,
    Reliability, ResourceLimits, WriterDataLifecycle,
};
use crate::topic::TopicRef;
use dds_rtps::cdr::{AnyType, Encoding, Extensibility};
use dds_rtps::types::{Duration, EntityKind};
use dds_rtps::writer::{FragmentSize, SlowReader, StatefulWriter, WriterConfig};
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

/// Builds a [`DataWriter`]. See [`DomainParticipant::writer_builder`](crate::DomainParticipant::writer_builder).
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::status::WriterEvent;
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// #[derive(DdsType)]
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
/// let (sender, receiver) = mpsc::channel();
/// let writer = participant
///     .writer_builder::<Pose>("robot/pose")
///     .transient_local()
///     .keep_last(10)
///     .deadline(Duration::from_secs(1))
///     .on_event(move |_, event| drop(sender.send(event)))
///     .build()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// let _reader = participant.reader::<Pose>("robot/pose")?;
/// assert!(matches!(receiver.recv(), Ok(WriterEvent::Matched(status)) if status.current_count == 1));
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder creates nothing until `build` is called"]
pub struct DataWriterBuilder<'t, T> {
    participant: ParticipantRef<dyn PublicationContext>,
    topic: TopicRef<'t, T>,
    /// The error of a missing profile is returned by `build`.
    qos: Result<DataWriterQos, CreateErrorKind>,
    group: Option<Arc<PublisherGroup>>,
    behavior: Behavior,
    delivery: Delivery,
    listener: Option<(StatusMask, EndpointDispatch<WriterHandle>)>,
    /// The topic has a key, but its type is unknown to this process.
    is_keyed: bool,
    data_tags: Vec<(String, String)>,
}

impl<'t, T> DataWriterBuilder<'t, T> {
    /// Creates a builder. `default` applies if the topic has no preset.
    pub(crate) fn new(
        participant: &Arc<dyn PublicationContext>,
        topic: TopicRef<'t, T>,
        default: DataWriterQos,
    ) -> Self {
        let delivery = participant.core().config().delivery;
        let qos = Ok(topic.policies().writer(default));
        let participant = ParticipantRef::new(participant);
        let behavior = Behavior { slow_reader: SlowReader::default(), batching: None };
        Self {
            participant,
            qos,
            topic,
            group: None,
            behavior,
            delivery,
            listener: None,
            is_keyed: false,
            data_tags: Vec::new(),
        }
    }

    /// Sets the QoS: a [`DataWriterQos`] or a [`Preset`](crate::qos::Preset). It replaces earlier setters.
    ///
    /// Default: the QoS of the [`TopicSpec`](crate::TopicSpec), or else of the factory
    /// ([`set_default_writer_qos`](crate::Publisher::set_default_writer_qos)), or else reliable, volatile, keep last 1.
    pub fn qos(mut self, qos: impl Into<DataWriterQos>) -> Self {
        self.qos = Ok(qos.into());
        self
    }

    /// Sets the QoS to `[writer.NAME]` of the participant's profile file.
    ///
    /// The file comes from [`profiles`](crate::DomainParticipantBuilder::profiles) or `DDS_PROFILES`. The last call of
    /// this method or [`qos`](Self::qos) applies. If the file has no such profile, [`build`](Self::build) returns an
    /// error.
    #[cfg(feature = "serde")]
    pub fn profile(mut self, name: &str) -> Self {
        self.qos = self.participant.core().config().profiles.writer(name, self.topic.name());
        self
    }

    /// Places the writer in a publisher.
    pub(crate) fn group(mut self, group: Arc<PublisherGroup>) -> Self {
        self.group = Some(group);
        self
    }

    /// Sets the treatment of reliable readers that leave no room in the history.
    ///
    /// Default: the writer waits for such a reader, as DDS demands. This delays all other readers as well. With
    /// [`SlowReader::Demote`] the delay is bounded by the given duration.
    ///
    /// The setting affects only a reliable writer that keeps all samples within resource limits, because no other
    /// writer waits for readers.
    ///
    /// A demoted reader is reported by [`WriterEvent::SlowReader`], a warning in the log,
    /// [`slow_readers`](DataWriter::slow_readers) and [`explain_matches`](DataWriter::explain_matches).
    /// [`acknowledged`](DataWriter::acknowledged) does not wait for it. The reader counts the samples that it misses as
    /// lost.
    ///
    /// ```
    /// use dds_core::qos::ResourceLimits;
    /// use dds_core::{DdsType, DomainParticipant, Duration, Scope};
    /// use dds_core::writer::SlowReader;
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
    /// let writer = participant
    ///     .writer_builder::<Pose>("slow/pose")
    ///     .keep_all()
    ///     .resource_limits(ResourceLimits::NONE.max_samples(1000))
    ///     .slow_reader(SlowReader::demote(Duration::from_secs(1)))
    ///     .build()?;
    /// assert_eq!(writer.slow_readers().current_count, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn slow_reader(mut self, slow_reader: SlowReader) -> Self {
        self.behavior.slow_reader = slow_reader;
        self
    }

    /// Lets small samples wait up to `window` to share a datagram with others.
    ///
    /// Batching multiplies the rate of samples to remote readers, and delays each sample by up to `window`. Waiting
    /// samples leave early when the datagram is full, on [`DataWriter::flush`], and when a caller waits for
    /// acknowledgments or for room. With [`Duration::INFINITE`] they leave only then.
    ///
    /// Default: LATENCY_BUDGET of the QoS. That policy is announced, and a reader matches only if its own is at least
    /// as long. The window of this method is not announced.
    ///
    /// ```
    /// # use dds_core::{DdsType, DomainParticipant, Duration, Scope};
    /// # #[derive(DdsType)]
    /// # struct Reading { value: f32 }
    /// # fn main() -> dds_core::Result<()> {
    /// # let participant = DomainParticipant::builder(0)
    /// #     .scope(Scope::Host)
    /// #     .domain_tag(std::process::id().to_string())
    /// #     .build()?;
    /// let builder = participant.writer_builder::<Reading>("readings");
    /// let writer = builder.batching(Duration::from_millis(2)).build()?;
    /// for value in [0.5, 0.25, 0.125] {
    ///     writer.write(&Reading { value })?;
    /// }
    /// writer.flush()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn batching(mut self, window: impl Into<Duration>) -> Self {
        self.behavior.batching = Some(window.into());
        self
    }

    /// Sets whether the topic has a key.
    ///
    /// For a writer of the durability service, which does not know the type. Each of its changes names its instance.
    pub(crate) fn keyed(mut self, is_keyed: bool) -> Self {
        self.is_keyed = is_keyed;
        self
    }

    /// Adds a data tag (DDS Security 1.1, 8.7). Discovery announces it, and permissions decide on it.
    ///
    /// The permissions of this participant and of its peers must allow all tags of the writer, and deny none of them.
    /// [`build`](Self::build) returns an error for more than 32 tags, and for a name or a value of more than 256 bytes.
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
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let writer = participant.writer_builder::<Pose>("robot/pose").data_tag("level", "secret").build()?;
    /// # drop(writer);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "security-pki")]
    pub fn data_tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.data_tags.push((name.into(), value.into()));
        self
    }

    /// Sets the thread that calls the listener. Default: the participant's setting, which defaults to its event thread.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Calls `listener` with the statuses in `mask`, from the writer's creation on.
    ///
    /// The last call of this method or [`on_event`](DataWriterBuilder::on_event) applies.
    pub fn listener(mut self, mask: StatusMask, listener: impl DataWriterListener<T>) -> Self
    where
        T: 'static,
    {
        self.listener = Some((mask, dispatch_to_listener(listener)));
        self
    }

    /// Calls `listener` with every event of the writer.
    #[doc(alias = "on_publication_matched")]
    #[doc(alias = "on_offered_incompatible_qos")]
    #[doc(alias = "on_liveliness_lost")]
    #[doc(alias = "on_offered_deadline_missed")]
    pub fn on_event(mut self, listener: impl FnMut(&DataWriter<T>, WriterEvent) + Send + 'static) -> Self
    where
        T: 'static,
    {
        self.listener = Some((StatusMask::ALL, dispatch_events(listener)));
        self
    }

    /// Creates the writer and announces it.
    ///
    /// If ENTITY_FACTORY of its publisher or participant disables automatic enabling, the writer is created disabled.
    /// See [`Entity::enable`](crate::Entity::enable).
    ///
    /// # Errors
    /// [`CreateErrorKind::InconsistentQos`], [`CreateErrorKind::InvalidTopicName`], [`CreateErrorKind::TypeConflict`],
    /// [`CreateErrorKind::BuiltinTopic`], [`CreateErrorKind::Thread`], or [`CreateErrorKind::Closed`].
    pub fn build(self) -> Result<DataWriter<T>, CreateError>
    where
        T: 'static,
    {
        let Self { participant, topic, qos, group, behavior, delivery, listener, is_keyed, data_tags } = self;
        let kind = if topic.has_key() || is_keyed { EntityKind::WriterWithKey } else { EntityKind::WriterNoKey };
        let subject = new_subject(&**participant, "writer", topic.name(), kind);
        // A content-filtered topic is for readers only (DDS 1.4, 2.2.2.3.3).
        if topic.filtered().is_some() {
            return Err(CreateError::new(&subject, CreateErrorKind::FilteredTopic));
        }
        // Only discovery writes built-in topics.
        if topic.builtin().is_some() {
            return Err(CreateError::new(&subject, CreateErrorKind::BuiltinTopic));
        }
        let qos = check_qos(qos, &topic).about(&subject)?;
        // Within a participant, a topic name has one type.
        participant.use_topic(topic.name(), topic.type_name()).about(&subject)?;
        let core = participant.core();
        let guid = subject.guid;
        let new = NewEndpoint {
            participant: Arc::clone(&participant),
            subject: Arc::clone(&subject),
            type_name: topic.type_name().to_owned(),
            sample_type: TypeId::of::<T>(),
            types: if core.config().type_information { topic.types() } else { None },
            qos,
            group,
            topic: topic.handle().cloned(),
            span: tracing::error_span!(parent: core.span(), "writer", %guid, topic = topic.name()),
            delivery,
            data_tags: data_tags.into(),
        };
        let encoder = SampleEncoder::new(topic.ty().cloned(), topic.has_key());
        let handle = new_handle(new, encoder, behavior, |handle| Box::new(DataWriter::<T>::lend(handle)));
        let listener = listener.map(|(mask, dispatch)| new_listener(&handle, mask, dispatch));
        // On an error the handle is dropped, which reverts the steps so far.
        start(&handle, listener).about(&subject)?;
        Ok(DataWriter::from_handle(handle))
    }
}

qos_setters!(DataWriterBuilder, DataWriterQos {
    durability: Durability,
    durability_service: DurabilityService,
    deadline: Duration,
    latency_budget: Duration,
    liveliness: Liveliness,
    reliability: Reliability,
    destination_order: DestinationOrder,
    history: History,
    resource_limits: ResourceLimits,
    transport_priority: i32,
    lifespan: Duration,
    user_data: Vec<u8>,
    ownership: Ownership,
    ownership_strength: i32,
    writer_data_lifecycle: WriterDataLifecycle,
    representation: Vec<DataRepresentation>,
});

/// Behavior of a writer that is not announced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behavior {
    /// Treatment of slow readers.
    pub(super) slow_reader: SlowReader,
    /// Time that small samples wait for others. `None` means LATENCY_BUDGET.
    pub(super) batching: Option<Duration>,
}

fn new_handle(
    new: NewEndpoint<WriterHandle>,
    encoder: SampleEncoder,
    behavior: Behavior,
    lend: fn(Arc<WriterHandle>) -> Box<dyn AnyEndpoint>,
) -> Arc<WriterHandle> {
    let core = new.participant.core();
    let group = new.group.as_ref();
    let (protocol, _) = writer_protocol(core, &new.subject, encoder.ty(), &new.qos, behavior, group);
    let environment = WriterEnvironment {
        driver: Arc::clone(core.driver()),
        outgoing: core.outgoing(),
        participant: new.participant.discovery_cell(),
        suspensions: group.map(|group| Arc::clone(group.common())),
    };
    // `enable` replaces this protocol writer if the QoS changes before it.
    let actor = WriterActor::new(protocol, environment, &new.qos);
    WriterHandle::new(EndpointCore::new(new, actor), encoder, behavior, lend)
}

/// Creates the protocol's writer for a QoS. Returns it with the encoding that it offers.
pub(super) fn writer_protocol(
    participant: &ParticipantCore,
    subject: &Subject,
    ty: Option<&AnyType>,
    qos: &DataWriterQos,
    behavior: Behavior,
    group: Option<&Arc<PublisherGroup>>,
) -> (StatefulWriter, Encoding) {
    let guid = subject.guid;
    let mut config = WriterConfig::new(guid, guid.entity_id.kind() == EntityKind::WriterWithKey, qos);
    config.slow_reader = behavior.slow_reader;
    config.batch_window = behavior.batching.unwrap_or(qos.latency_budget);
    if let Some(group) = group {
        config.presentation = group.presented();
    }
    config.hash_seed = participant.driver().hash_seed(participant.driver().random());
    config.measures_latency = !guid.entity_id.is_builtin();
    if let Some(size) = participant.config().fragment_size {
        config.fragment_size = FragmentSize { same_host: size, network: size };
    }
    config.headroom = participant.config().transform().headroom();
    config.assertion_clock = Some(Arc::clone(participant.assertion_clock()));
    // Peers of this implementation on this host are granted the same receive buffer as this participant.
    config.congestion.same_host = config.congestion.same_host.max(participant.network().receive_buffer_granted());
    // A writer offers one representation: other vendors send XCDR1 for final types and XCDR2 otherwise by default, and
    // accept exactly one identifier.
    let is_final = match ty {
        Some(ty) => ty.extensibility() == Extensibility::Final,
        None => true,
    };
    let encoding = match qos.offered_representation(is_final) {
        DataRepresentation::Xcdr2 => Encoding::Xcdr2,
        _ => Encoding::Xcdr1,
    };
    // Instances are identified by the key hash of XCDR2. The key hash on the wire is that of the encoding.
    config.filtered_type = ty.and_then(AnyType::description);
    config.hides_keys = participant.config().hides_keys_of(&subject.topic);
    if let Some(ty) = ty {
        if encoding == Encoding::Xcdr1 && !ty.key_hashes_agree() || config.hides_keys {
            config.hashed_type = Some(ty.clone());
        }
    }
    (StatefulWriter::new(config), encoding)
}

impl<T> fmt::Debug for DataWriterBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataWriterBuilder").field("topic", &self.topic).field("qos", &self.qos).finish_non_exhaustive()
    }
}
