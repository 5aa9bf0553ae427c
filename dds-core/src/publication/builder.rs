//! Creation of writers.

use crate::actor::{Capacity, Cell, Effects, Poke};
use crate::cdr::{AnyType, Encoding, Extensibility, KeyHasher};
use crate::context::{ListenerPlace, ParticipantCore, ParticipantRef};
use crate::infrastructure::{CreateError, CreateErrorKind, Delivery, Ending, LiveQos, StatusMask, Subject};
use crate::publication::listener::{WriterDispatch, dispatch_to_listener, new_listener};
use crate::publication::loan::Loans;
use crate::publication::writer_actor::WriterActor;
use crate::publication::writer_handle::EncodeBuffers;
use crate::publication::{
    DataWriter, DataWriterListener, PublicationContext, PublisherGroup, WriterEvent, WriterHandle,
};
use crate::qos::{DataRepresentation, DataWriterQos, Preset};
use crate::topic::{TopicRef, narrow_representations};
use dds_rtps::concurrent::SlotRing;
use dds_rtps::types::{Duration, EntityKind, Guid};
use dds_rtps::writer::{FragmentSize, SlowReader, StatefulWriter, WriterConfig};
use std::any::TypeId;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// Maximum number of slots that a writer reuses.
///
/// It covers the usual history together with the batches of local readers. Slots beyond it, or beyond `SLOTS_BYTES`,
/// come from the heap.
const SLOTS_MAX: usize = 1024;

/// Memory up to which a writer reuses more slots, for a deep history of small samples.
///
/// Above 16 KiB a sample costs far more than its allocation.
const SLOTS_BYTES: usize = 16 << 20;

/// Builds a [`DataWriter`]. See [`DomainParticipant::writer_builder`](crate::DomainParticipant::writer_builder).
///
/// ```
/// use dds_core::qos::{DataWriterQos, Durability};
/// use dds_core::{DdsType, DomainParticipant, Duration, Scope, WriterEvent};
/// use std::sync::mpsc;
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
///     .qos(DataWriterQos::default().durability(Durability::TransientLocal).deadline(Duration::from_secs(1)))
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
    behaviour: Behaviour,
    delivery: Delivery,
    listener: Option<(StatusMask, WriterDispatch<T>)>,
    /// The topic has a key, but its type is unknown to this process.
    is_keyed: bool,
}

impl<'t, T> DataWriterBuilder<'t, T> {
    /// Creates a builder. `default` applies if the topic has no preset.
    pub(crate) fn new(
        participant: &Arc<dyn PublicationContext>,
        topic: TopicRef<'t, T>,
        default: DataWriterQos,
    ) -> Self {
        let delivery = participant.core().config().delivery;
        let qos = Ok(if topic.preset() == Preset::Default { default } else { topic.preset().writer() });
        let participant = ParticipantRef::new(participant);
        let behaviour = Behaviour { slow_reader: SlowReader::default(), batching: None };
        Self { participant, qos, topic, group: None, behaviour, delivery, listener: None, is_keyed: false }
    }

    /// Sets the QoS: a [`DataWriterQos`] or a [`Preset`](crate::qos::Preset).
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
    /// use dds_core::qos::{DataWriterQos, ResourceLimits};
    /// use dds_core::{DdsType, DomainParticipant, Duration, Scope, SlowReader};
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
    /// let limits = ResourceLimits { max_samples: Some(1000), ..ResourceLimits::default() };
    /// let writer = participant
    ///     .writer_builder::<Pose>("slow/pose")
    ///     .qos(DataWriterQos::default().keep_all().resource_limits(limits))
    ///     .slow_reader(SlowReader::Demote { after: Duration::from_secs(1) })
    ///     .build()?;
    /// assert_eq!(writer.slow_readers()?.current_count, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn slow_reader(mut self, slow_reader: SlowReader) -> Self {
        self.behaviour.slow_reader = slow_reader;
        self
    }

    /// Lets small samples wait up to `window` to share a datagram with others.
    ///
    /// Batching multiplies the rate of samples to remote readers, and delays each sample by up to `window`. Waiting
    /// samples leave early when the datagram is full, on [`DataWriter::flush`], and when a caller waits for
    /// acknowledgements or for room. With [`Duration::INFINITE`] they leave only then.
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
    pub fn batching(mut self, window: Duration) -> Self {
        self.behaviour.batching = Some(window);
        self
    }

    /// Sets whether the topic has a key.
    ///
    /// For a writer of the durability service, which does not know the type. Each of its changes names its instance.
    #[cfg(feature = "durability")]
    pub(crate) fn keyed(mut self, is_keyed: bool) -> Self {
        self.is_keyed = is_keyed;
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
    pub fn listener(mut self, mask: StatusMask, listener: impl DataWriterListener<T>) -> Self {
        self.listener = Some((mask, dispatch_to_listener(listener)));
        self
    }

    /// Calls `listener` with every event of the writer.
    #[doc(alias = "on_publication_matched")]
    #[doc(alias = "on_offered_incompatible_qos")]
    #[doc(alias = "on_liveliness_lost")]
    #[doc(alias = "on_offered_deadline_missed")]
    pub fn on_event(mut self, mut listener: impl FnMut(&DataWriter<T>, WriterEvent) + Send + 'static) -> Self {
        let dispatch: WriterDispatch<T> = Box::new(move |writer, marks| {
            for event in writer.handle.changes(marks) {
                listener(writer, event);
            }
        });
        self.listener = Some((StatusMask::ALL, dispatch));
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
        let Self { participant, topic, qos, group, behaviour, delivery, listener, is_keyed } = self;
        let kind = if topic.has_key() || is_keyed { EntityKind::WriterWithKey } else { EntityKind::WriterNoKey };
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(kind));
        let subject = Subject::new("writer", topic.name(), guid);
        let error = |kind| CreateError::new(&subject, kind);
        // A content-filtered topic is for readers only (DDS 1.4, 2.2.2.3.3).
        if topic.filtered().is_some() {
            return Err(error(CreateErrorKind::FilteredTopic));
        }
        // Only discovery writes built-in topics.
        if topic.builtin().is_some() {
            return Err(error(CreateErrorKind::BuiltinTopic));
        }
        let mut qos = qos.map_err(error)?;
        narrow_representations(&mut qos.representation, topic.representations()).map_err(error)?;
        qos.check().map_err(|kind| error(CreateErrorKind::InconsistentQos(kind)))?;
        if topic.handle().is_some_and(|topic| topic.is_closed()) {
            return Err(error(CreateErrorKind::Closed));
        }
        // Within a participant, a topic name has one type.
        participant.use_topic(topic.name(), topic.type_name()).map_err(error)?;
        let handle = make_handle(&participant, &topic, (qos, behaviour), group, delivery, &subject);
        let poke = Arc::downgrade(&handle.cell) as Weak<dyn Poke>;
        let owner = participant.discovery_cell();
        // This cannot fail, because a new cell is not closed.
        let _ = Effects::scope(|effects| {
            handle.cell.with(effects, |actor, _| {
                actor.attach(poke, owner);
                if let Some(group) = &handle.group {
                    actor.suspensions = Some(Arc::clone(group.common()));
                }
            })
        });
        let listener = listener.map(|(mask, dispatch)| new_listener(&handle, mask, dispatch));
        let core = participant.core();
        let announced = core
            .set_listener(&handle.listener, listener, &handle.ending, || core.is_closed(), || ())
            .and_then(|()| handle.group.as_ref().map_or(Ok(()), |group| group.add(&handle)))
            .and_then(|()| participant.enter_writer(&handle))
            .and_then(|()| if handle.is_autoenabled() { handle.enable() } else { Ok(()) });
        // On an error the handle is dropped, which reverts the steps so far.
        announced.map_err(error)?;
        handle.span.in_scope(|| tracing::info!("writer created"));
        Ok(DataWriter::from_handle(handle))
    }
}

/// Behavior of a writer that is not announced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behaviour {
    /// Treatment of slow readers.
    pub(super) slow_reader: SlowReader,
    /// Time that small samples wait for others. `None` means LATENCY_BUDGET.
    pub(super) batching: Option<Duration>,
}

fn make_handle<T: 'static>(
    participant: &Arc<dyn PublicationContext>,
    topic: &TopicRef<'_, T>,
    (qos, behaviour): (DataWriterQos, Behaviour),
    group: Option<Arc<PublisherGroup>>,
    delivery: Delivery,
    subject: &Arc<Subject>,
) -> Arc<WriterHandle> {
    let core = participant.core();
    let (protocol, _) = writer_protocol(core, subject.guid, topic.ty(), &qos, behaviour, group.as_ref());
    let actor = WriterActor::new(protocol, Arc::clone(core.driver()), core.outgoing(), &qos);
    let guid = subject.guid;
    let span = core.span().in_scope(|| tracing::info_span!("writer", %guid, topic = topic.name()));
    Arc::new(WriterHandle {
        participant: Arc::clone(participant),
        core: Arc::clone(core),
        cell: Cell::new(actor, Capacity::default(), Arc::clone(core.driver().run_queue())),
        subject: Arc::clone(subject),
        type_name: topic.type_name().to_owned(),
        sample_type: TypeId::of::<T>(),
        ty: topic.ty().cloned(),
        types: if core.config().type_information { topic.types() } else { None },
        qos: LiveQos::new(qos),
        group,
        topic: topic.handle().cloned(),
        encoding: OnceLock::new(),
        enabling: Mutex::default(),
        hasher: topic.ty().map_or(KeyHasher::keyless(), |ty| KeyHasher::new(ty.clone(), topic.has_key())),
        span,
        encode_buffers: Mutex::new(EncodeBuffers::new(SlotRing::with_budget(SLOTS_MAX, SLOTS_BYTES))),
        loans: Loans::default(),
        listener: ListenerPlace::default(),
        delivery,
        behaviour,
        lend: |handle| Box::new(DataWriter::<T>::lend(handle)),
        status_condition: OnceLock::new(),
        closed: AtomicBool::new(false),
        ending: Ending::new(),
    })
}

/// Creates the protocol's writer for a QoS. Returns it with the encoding that it offers.
pub(super) fn writer_protocol(
    participant: &ParticipantCore,
    guid: Guid,
    ty: Option<&AnyType>,
    qos: &DataWriterQos,
    behaviour: Behaviour,
    group: Option<&Arc<PublisherGroup>>,
) -> (StatefulWriter, Encoding) {
    let mut config = WriterConfig::new(guid, guid.entity_id.kind() == EntityKind::WriterWithKey, qos);
    config.slow_reader = behaviour.slow_reader;
    config.batch_window = behaviour.batching.unwrap_or(qos.latency_budget);
    config.presentation = group.and_then(|group| group.presented());
    config.seed = participant.driver().random();
    if let Some(size) = participant.config().fragment_size {
        config.fragment_size = FragmentSize { same_host: size, network: size };
    }
    config.assertion_clock = Some(Arc::clone(participant.assertion_clock()));
    // Peers of this implementation on this host are granted the same receive buffer as this participant.
    config.flow.same_host = config.flow.same_host.max(participant.network().receive_buffer_granted());
    // A writer offers one representation: other vendors send XCDR1 for final types and XCDR2 otherwise by default, and
    // accept exactly one identifier.
    let is_final = ty.is_none_or(|ty| ty.extensibility() == Extensibility::Final);
    let encoding = match qos.offered_representation(is_final) {
        DataRepresentation::Xcdr2 => Encoding::Xcdr2,
        _ => Encoding::Xcdr1,
    };
    // Instances are identified by the key hash of XCDR2. The key hash on the wire is that of the encoding.
    config.filtered_type = ty.and_then(AnyType::description);
    config.hashed_type = ty.filter(|ty| encoding == Encoding::Xcdr1 && !ty.key_hashes_agree()).cloned();
    (StatefulWriter::new(config), encoding)
}

impl<T> fmt::Debug for DataWriterBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataWriterBuilder").field("topic", &self.topic).field("qos", &self.qos).finish_non_exhaustive()
    }
}
