//! Creation of readers.

use crate::actor::{Capacity, Cell, Effects, Poke};
use crate::cdr::DecodeOwned;
use crate::context::{ListenerPlace, ParticipantCore, ParticipantRef};
use crate::infrastructure::{
    CreateError, CreateErrorKind, Delivery, Ending, FilterErrorKind, LiveQos, StatusMask, Subject, mark,
};
use crate::qos::{DataReaderQos, Preset};
use crate::subscription::listener::{ReaderDispatch, dispatch_to_listener, new_listener};
use crate::subscription::reader_actor::ReaderActor;
use crate::subscription::samples::BatchPool;
use crate::subscription::{
    DataReader, DataReaderListener, ReaderEvent, ReaderHandle, Sample, SubscriberGroup, SubscriptionContext,
};
use crate::topic::{FilteredReader, FilteredTopic, TopicRef, narrow_representations, texts};
use dds_rtps::reader::{KeySource, ReaderConfig, StatefulReader};
use dds_rtps::types::{EntityKind, Guid};
use std::any::TypeId;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// Maximum number of instances of a built-in topic's reader, equal to discovery's limit for each kind.
const BUILTIN_INSTANCES_MAX: u32 = 65_536;

type OnData<T> = Box<dyn FnMut(&DataReader<T>) + Send>;
type OnEvent<T> = Box<dyn FnMut(&DataReader<T>, ReaderEvent) + Send>;

/// Builds a [`DataReader`]. See [`DomainParticipant::reader_builder`](crate::DomainParticipant::reader_builder).
///
/// ```
/// use dds_core::qos::{DataReaderQos, Preset};
/// use dds_core::{DdsType, DomainParticipant, Duration, Scope};
/// use std::sync::mpsc;
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
/// let (sender, receiver) = mpsc::channel();
/// let reader = participant
///     .reader_builder::<Pose>("robot/pose")
///     .qos(DataReaderQos::default().reliable().keep_last(10).deadline(Duration::from_secs(1)))
///     .on_sample(move |sample| drop(sender.send(sample.data)))
///     .build()?;
/// let qos = Preset::Event.writer().deadline(Duration::from_millis(500));
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(qos).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert_eq!(receiver.recv().unwrap(), Some(Pose { robot: 7, x: 1.0 }));
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder creates nothing until `build` is called"]
pub struct DataReaderBuilder<'t, T> {
    participant: ParticipantRef<dyn SubscriptionContext>,
    topic: TopicRef<'t, T>,
    /// The error of a missing profile is returned by `build`.
    qos: Result<DataReaderQos, CreateErrorKind>,
    group: Option<Arc<SubscriberGroup>>,
    delivery: Delivery,
    on_data: Option<OnData<T>>,
    on_event: Option<OnEvent<T>>,
    listener: Option<(StatusMask, ReaderDispatch<T>)>,
    /// Source of the keys. `None` means the topic's.
    key: Option<KeySource>,
    /// An invalid filter is an error of `build`.
    filter: Option<Result<Arc<FilteredTopic>, FilterErrorKind>>,
}

impl<'t, T> DataReaderBuilder<'t, T> {
    /// Creates a builder. `default` applies if the topic has no preset.
    pub(crate) fn new(
        participant: &Arc<dyn SubscriptionContext>,
        topic: TopicRef<'t, T>,
        default: DataReaderQos,
    ) -> Self {
        let delivery = participant.core().config().delivery;
        let mut qos = if topic.preset() == Preset::Default { default } else { topic.preset().reader() };
        if topic.builtin().is_some() {
            // Peers decide how many instances a built-in topic has, so they are bounded.
            qos.resource_limits.max_instances = Some(BUILTIN_INSTANCES_MAX);
        }
        let qos = Ok(qos);
        let participant = ParticipantRef::new(participant);
        Self {
            participant,
            qos,
            topic,
            group: None,
            delivery,
            on_data: None,
            on_event: None,
            listener: None,
            key: None,
            filter: None,
        }
    }

    /// Sets the QoS: a [`DataReaderQos`] or a [`Preset`](crate::qos::Preset).
    ///
    /// Default: the QoS of the [`TopicSpec`](crate::TopicSpec), or else of the factory
    /// ([`set_default_reader_qos`](crate::Subscriber::set_default_reader_qos)), or else best effort, volatile, keep
    /// last 1.
    pub fn qos(mut self, qos: impl Into<DataReaderQos>) -> Self {
        self.qos = Ok(qos.into());
        self
    }

    /// Sets the QoS to `[reader.NAME]` of the participant's profile file.
    ///
    /// The file comes from [`profiles`](crate::DomainParticipantBuilder::profiles) or `DDS_PROFILES`. The last call of
    /// this method or [`qos`](Self::qos) applies. If the file has no such profile, [`build`](Self::build) returns an
    /// error.
    #[cfg(feature = "serde")]
    pub fn profile(mut self, name: &str) -> Self {
        self.qos = self.participant.core().config().profiles.reader(name, self.topic.name());
        self
    }

    /// Receives only samples that match `expression`.
    ///
    /// `parameters` replace `%0`, `%1`, … of the expression. The effect is that of a
    /// [`ContentFilteredTopic`](crate::ContentFilteredTopic), which documents the language, but no topic is created. If
    /// the expression is invalid, [`build`](Self::build) returns an error.
    ///
    /// ```
    /// use dds_core::{CreateErrorKind, DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Pose {
    ///     robot: u32,
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader_builder::<Pose>("near/pose").filter("x < %0", [10]).build()?;
    /// let writer = participant.writer::<Pose>("near/pose")?;
    /// writer.wait_for_readers(1).block()?;
    /// writer.write(&Pose { robot: 1, x: 5.0 })?;
    /// writer.write(&Pose { robot: 2, x: 15.0 })?;
    /// assert_eq!(reader.take()?.into_data().collect::<Vec<_>>(), [Pose { robot: 1, x: 5.0 }]);
    ///
    /// let wrong = participant.reader_builder::<Pose>("near/pose").filter("z < 10", [0; 0]).build();
    /// assert!(matches!(wrong.unwrap_err().kind(), CreateErrorKind::Filter(error) if error.position() == 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, expression: &str, parameters: impl IntoIterator<Item: ToString>) -> Self {
        let topic = self.topic.name();
        // Built-in topics have a type description for programs that decode them, but use another encoding. A filter
        // cannot use that description.
        let description = if self.topic.builtin().is_none() { self.topic.description() } else { None };
        let name = FilteredTopic::derived_name(topic);
        let filtered = FilteredTopic::new(name, topic, description, expression, &texts(parameters));
        self.filter = Some(filtered.map_err(|error| error.kind().clone()));
        self
    }

    /// Places the reader in a subscriber.
    pub(crate) fn group(mut self, group: Arc<SubscriberGroup>) -> Self {
        self.group = Some(group);
        self
    }

    /// Sets the thread that calls the listeners. Default: the participant's setting, which defaults to its event
    /// thread.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Calls `listener` with the statuses in `mask`, from the reader's creation on.
    ///
    /// It replaces the closures of the builder, in either order of the calls.
    pub fn listener(mut self, mask: StatusMask, listener: impl DataReaderListener<T>) -> Self {
        self.listener = Some((mask, dispatch_to_listener(listener)));
        self
    }

    /// Sets the source of the keys.
    ///
    /// For a reader of the durability service, which does not know the type.
    #[cfg(feature = "durability")]
    pub(crate) fn key_source(mut self, key: KeySource) -> Self {
        self.key = Some(key);
        self
    }

    /// Calls `listener` when data has arrived. The listener reads or takes samples itself.
    ///
    /// The last call of this method or [`on_sample`](DataReaderBuilder::on_sample) applies.
    #[doc(alias = "on_data_available")]
    pub fn on_data(mut self, listener: impl FnMut(&DataReader<T>) + Send + 'static) -> Self {
        self.on_data = Some(Box::new(listener));
        self
    }

    /// Calls `listener` with every sample, taken and decoded.
    pub fn on_sample(self, mut listener: impl FnMut(Sample<T>) + Send + 'static) -> Self
    where
        T: DecodeOwned,
    {
        self.on_data(move |reader| {
            // The only error means that the reader is closed, and then no sample follows.
            while let Ok(Some(sample)) = reader.take_first() {
                listener(sample);
            }
        })
    }

    /// Calls `listener` with every event of the reader other than data.
    #[doc(alias = "on_subscription_matched")]
    #[doc(alias = "on_requested_incompatible_qos")]
    #[doc(alias = "on_sample_lost")]
    #[doc(alias = "on_sample_rejected")]
    #[doc(alias = "on_liveliness_changed")]
    #[doc(alias = "on_requested_deadline_missed")]
    pub fn on_event(mut self, listener: impl FnMut(&DataReader<T>, ReaderEvent) + Send + 'static) -> Self {
        self.on_event = Some(Box::new(listener));
        self
    }

    /// Creates the reader and announces it.
    ///
    /// If ENTITY_FACTORY of its subscriber or participant disables automatic enabling, the reader is created disabled.
    /// See [`Entity::enable`](crate::Entity::enable).
    ///
    /// # Errors
    /// [`CreateErrorKind::InconsistentQos`], [`CreateErrorKind::InvalidTopicName`], [`CreateErrorKind::TypeConflict`],
    /// [`CreateErrorKind::Filter`], [`CreateErrorKind::FilteredTwice`], [`CreateErrorKind::Thread`], or
    /// [`CreateErrorKind::Closed`].
    pub fn build(self) -> Result<DataReader<T>, CreateError>
    where
        T: 'static,
    {
        let Self { participant, topic, qos, group, delivery, on_data, on_event, listener, key, filter } = self;
        let has_key = topic.has_key() || !matches!(&key, None | Some(KeySource::None));
        let kind = if has_key { EntityKind::ReaderWithKey } else { EntityKind::ReaderNoKey };
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(kind));
        let subject = Subject::new("reader", topic.name(), guid);
        let error = |kind| CreateError::new(&subject, kind);
        let mut qos = qos.map_err(error)?;
        narrow_representations(&mut qos.representation, topic.representations()).map_err(error)?;
        qos.check().map_err(|kind| error(CreateErrorKind::InconsistentQos(kind)))?;
        if topic.handle().is_some_and(|topic| topic.is_closed()) {
            return Err(error(CreateErrorKind::Closed));
        }
        let filtered = match (filter, topic.filtered()) {
            (Some(_), Some(_)) => return Err(error(CreateErrorKind::FilteredTwice)),
            (Some(filter), None) => Some(filter.map_err(|kind| error(of_filter(kind)))?),
            (None, filtered) => filtered.cloned(),
        };
        // Within a participant, a topic name has one type.
        participant.use_topic(topic.name(), topic.type_name()).map_err(error)?;
        let key = key.unwrap_or_else(|| key_source(&topic));
        let handle = make_handle(&participant, &topic, (qos, key, filtered), group, delivery, &subject);
        let poke = Arc::downgrade(&handle.cell) as Weak<dyn Poke>;
        // This cannot fail, because a new cell is not closed.
        let _ = Effects::scope(|effects| handle.cell.with(effects, |actor, _| actor.attach(poke)));
        let listener = listener.or_else(|| join(on_data, on_event));
        let listener = listener.map(|(mask, dispatch)| new_listener(&handle, mask, dispatch));
        let core = participant.core();
        let announced = core
            .set_listener(&handle.listener, listener, &handle.ending, || core.is_closed(), || ())
            .and_then(|()| handle.group.as_ref().map_or(Ok(()), |group| group.add(&handle)))
            .and_then(|()| participant.enter_reader(&handle))
            .map(|()| {
                if let Some(filtered) = &handle.filtered {
                    filtered.add_reader(&(Arc::clone(&handle) as Arc<dyn FilteredReader>));
                }
            })
            .and_then(|()| if handle.is_autoenabled() { handle.enable() } else { Ok(()) });
        // On an error the handle is dropped, which reverts the steps so far.
        announced.map_err(error)?;
        handle.span.in_scope(|| tracing::info!("reader created"));
        Ok(DataReader::from_handle(handle))
    }
}

fn make_handle<T: 'static>(
    participant: &Arc<dyn SubscriptionContext>,
    topic: &TopicRef<'_, T>,
    (qos, key, filtered): (DataReaderQos, KeySource, Option<Arc<FilteredTopic>>),
    group: Option<Arc<SubscriberGroup>>,
    delivery: Delivery,
    subject: &Arc<Subject>,
) -> Arc<ReaderHandle> {
    let core = participant.core();
    let context = (group.as_ref(), filtered.as_ref());
    let protocol = reader_protocol(core, subject.guid, key.clone(), &qos, context);
    let actor = ReaderActor::new(protocol, Arc::clone(core.driver()), core.outgoing());
    let has_type_information = topic.builtin().is_none() && core.config().type_information;
    let guid = subject.guid;
    let span = core.span().in_scope(|| tracing::info_span!("reader", %guid, topic = topic.name()));
    Arc::new(ReaderHandle {
        participant: Arc::clone(participant),
        core: Arc::clone(core),
        cell: Cell::new(actor, Capacity::default(), Arc::clone(core.driver().run_queue())),
        subject: Arc::clone(subject),
        type_name: topic.type_name().to_owned(),
        sample_type: TypeId::of::<T>(),
        qos: LiveQos::new(qos),
        key,
        description: if topic.builtin().is_none() { topic.description() } else { None },
        filtered,
        types: if has_type_information { topic.types() } else { None },
        builtin: topic.builtin(),
        enabled: AtomicBool::new(false),
        enabling: Mutex::default(),
        access: OnceLock::new(),
        group,
        topic: topic.handle().cloned(),
        span,
        batches: Arc::new(BatchPool::new(topic.ty().cloned())),
        listener: ListenerPlace::default(),
        delivery,
        erase: |handle| Box::new(DataReader::<T>::from_handle(handle)),
        lend: |handle| Box::new(DataReader::<T>::lend(handle)),
        status_condition: OnceLock::new(),
        closed: AtomicBool::new(false),
        ending: Ending::new(),
    })
}

/// Converts the error of a filter into an error of the creation.
fn of_filter(kind: FilterErrorKind) -> CreateErrorKind {
    match kind {
        FilterErrorKind::Expression(error) => CreateErrorKind::Filter(error),
        FilterErrorKind::InvalidTopicName => CreateErrorKind::InvalidTopicName,
        FilterErrorKind::Closed => CreateErrorKind::Closed,
    }
}

/// Source of the keys of a topic's samples.
fn key_source<T>(topic: &TopicRef<'_, T>) -> KeySource {
    match topic.builtin() {
        Some(_) => KeySource::KeyHashOrGuidParameter,
        None => topic.ty().filter(|ty| ty.has_key()).cloned().map_or(KeySource::None, KeySource::Type),
    }
}

/// Creates the protocol's reader for a QoS.
pub(super) fn reader_protocol(
    participant: &ParticipantCore,
    guid: Guid,
    key: KeySource,
    qos: &DataReaderQos,
    (group, filtered): (Option<&Arc<SubscriberGroup>>, Option<&Arc<FilteredTopic>>),
) -> StatefulReader {
    let is_of_discovery = matches!(key, KeySource::KeyHashOrGuidParameter);
    let mut config = ReaderConfig::new(guid, key, qos);
    config.presentation = group.map(|group| group.presentation()).unwrap_or_default();
    config.filter = filtered.map(|filtered| filtered.filter());
    config.seed = participant.driver().random();
    config.as_log = participant.config().is_durability_service() && !is_of_discovery;
    StatefulReader::new(config)
}

/// Combines the closures of a builder into one callback. Returns it with its status mask.
fn join<T: 'static>(
    mut on_data: Option<OnData<T>>,
    mut on_event: Option<OnEvent<T>>,
) -> Option<(StatusMask, ReaderDispatch<T>)> {
    let mask = match (on_data.is_some(), on_event.is_some()) {
        (false, false) => return None,
        (true, false) => StatusMask::DATA_AVAILABLE,
        (false, true) => !StatusMask::DATA_AVAILABLE,
        (true, true) => StatusMask::ALL,
    };
    let dispatch: ReaderDispatch<T> = Box::new(move |reader, marks| {
        if let Some(on_event) = &mut on_event {
            for event in reader.handle().changes(marks) {
                on_event(reader, event);
            }
        }
        if marks & mark::DATA != 0 {
            if let Some(on_data) = &mut on_data {
                on_data(reader);
            }
        }
    });
    Some((mask, dispatch))
}

impl<T> fmt::Debug for DataReaderBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataReaderBuilder").field("topic", &self.topic).field("qos", &self.qos).finish_non_exhaustive()
    }
}
