//! Creation of readers.

use crate::context::{ParticipantCore, ParticipantRef};
use crate::endpoint::{
    EndpointCore, EndpointDispatch, NewEndpoint, check_qos, new_listener, new_subject, qos_setters, start,
};
use crate::infrastructure::{About, CreateError, CreateErrorKind, Delivery, StatusMask, mark};
use crate::qos::{
    DataReaderQos, DataRepresentation, DestinationOrder, Durability, History, Liveliness, Ownership,
    ReaderDataLifecycle, Reliability, ResourceLimits, TypeConsistency,
};
use crate::subscription::listener::dispatch_to_listener;
use crate::subscription::reader_actor::ReaderActor;
use crate::subscription::reader_handle::{SampleSource, TypedForms};
use crate::subscription::samples::BatchPool;
use crate::subscription::{
    DataReader, DataReaderListener, ReaderEvent, ReaderHandle, Sample, SubscriberGroup, SubscriptionContext,
};
use crate::topic::{FilterExpression, FilteredTopic, TopicRef};
use dds_rtps::cdr::DecodeOwned;
use dds_rtps::reader::{KeySource, ReaderConfig, StatefulReader};
use dds_rtps::types::{Duration, EntityKind, Guid};
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

/// Maximum number of instances of a built-in topic's reader, equal to discovery's limit for each kind.
const BUILTIN_INSTANCES_MAX: u32 = 65_536;

/// Samples that a listener of [`DataReaderBuilder::on_sample`] receives before other listeners have their turn.
///
/// A turn costs some tens of nanoseconds, so it adds about one to each of as many samples.
const SAMPLES_IN_A_ROW: usize = 32;

type OnData<T> = Box<dyn FnMut(&DataReader<T>) + Send>;
type OnEvent<T> = Box<dyn FnMut(&DataReader<T>, ReaderEvent) + Send>;

/// Builds a [`DataReader`]. See [`DomainParticipant::reader_builder`](crate::DomainParticipant::reader_builder).
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use std::sync::mpsc;
/// use std::time::Duration;
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
///     .reliable()
///     .keep_last(10)
///     .deadline(Duration::from_secs(1))
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
    listener: Option<(StatusMask, EndpointDispatch<ReaderHandle>)>,
    /// Source of the keys. `None` means the topic's.
    key: Option<KeySource>,
    /// An invalid filter is an error of `build`.
    filter: Option<Result<Arc<FilteredTopic>, CreateErrorKind>>,
    awaits_writers: bool,
    data_tags: Vec<(String, String)>,
}

impl<'t, T> DataReaderBuilder<'t, T> {
    /// Creates a builder. `default` applies if the topic has no preset.
    pub(crate) fn new(
        participant: &Arc<dyn SubscriptionContext>,
        topic: TopicRef<'t, T>,
        default: DataReaderQos,
    ) -> Self {
        let delivery = participant.core().config().delivery;
        let mut qos = topic.policies().reader(default);
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
            awaits_writers: false,
            data_tags: Vec::new(),
        }
    }

    /// Sets the QoS: a [`DataReaderQos`] or a [`Preset`](crate::qos::Preset). It replaces earlier setters.
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
    /// The expression is text, or a [`FilterExpression`] with parameters. The effect is that of a
    /// [`ContentFilteredTopic`](crate::filter::ContentFilteredTopic), which documents the language, but no topic is
    /// created. If the expression is invalid, [`build`](Self::build) returns an error.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    /// use dds_core::error::CreateErrorKind;
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
    /// let reader = participant.reader_builder::<Pose>("near/pose").filter("x < 10").build()?;
    /// let writer = participant.writer::<Pose>("near/pose")?;
    /// writer.wait_for_readers(1).block()?;
    /// writer.write(&Pose { robot: 1, x: 5.0 })?;
    /// writer.write(&Pose { robot: 2, x: 15.0 })?;
    /// assert_eq!(reader.take()?.into_data().collect::<Vec<_>>(), [Pose { robot: 1, x: 5.0 }]);
    ///
    /// let wrong = participant.reader_builder::<Pose>("near/pose").filter("z < 10").build();
    /// assert!(matches!(wrong.unwrap_err().kind(), CreateErrorKind::Filter(error) if error.position() == 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, expression: impl Into<FilterExpression>) -> Self {
        let topic = self.topic.name();
        // Built-in topics have a type description for programs that decode them, but use another encoding. A filter
        // cannot use that description.
        let ty = if self.topic.builtin().is_none() { self.topic.ty() } else { None };
        let name = FilteredTopic::derived_name(topic);
        let filtered = FilteredTopic::new(name, topic, ty, &expression.into());
        // `build` reports the error, with the reader as its subject.
        self.filter = Some(match filtered {
            Ok(filtered) => Ok(filtered),
            Err(error) => Err(error.kind().clone()),
        });
        self
    }

    /// Places the reader in a subscriber.
    pub(crate) fn group(mut self, group: Arc<SubscriberGroup>) -> Self {
        self.group = Some(group);
        self
    }

    /// Adds a data tag (DDS Security 1.1, 8.7). Discovery announces it, and permissions decide on it.
    ///
    /// The permissions of this participant and of its peers must allow all tags of the reader, and deny none of them.
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
    /// let reader = participant.reader_builder::<Pose>("robot/pose").data_tag("level", "secret").build()?;
    /// # drop(reader);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "security-pki")]
    pub fn data_tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.data_tags.push((name.into(), value.into()));
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
    pub fn listener(mut self, mask: StatusMask, listener: impl DataReaderListener<T>) -> Self
    where
        T: 'static,
    {
        self.listener = Some((mask, dispatch_to_listener(listener)));
        self
    }

    /// Reports the match of a reliable writer once that writer has matched this reader as well.
    ///
    /// Discovery finishes in one direction first. A volatile writer that sends a sample before it knows this reader
    /// does not send the sample here. With this setting, [`wait_for_writers`](DataReader::wait_for_writers), the status
    /// and the events of matches count a writer only once it has answered this reader. A client of a service needs it,
    /// so that no reply is lost.
    ///
    /// Writers of `dds-core` and of Cyclone DDS name the reader that they answer. For other vendors, any HEARTBEAT
    /// counts, and so does silence of about 0.7 s (longer beside many silent writers). Samples and changes of
    /// liveliness may come before the match.
    pub fn match_both_ways(mut self) -> Self {
        self.awaits_writers = true;
        self
    }

    /// Sets the source of the keys.
    ///
    /// For a reader of the durability service, which does not know the type.
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
    ///
    /// On the event thread, other listeners of the participant have their turn after 32 samples in a row. An inline
    /// listener takes up to 1024. While the listener works,
    /// KEEP_LAST may replace samples that it has not received yet.
    ///
    /// The last call of this method or [`on_data`](DataReaderBuilder::on_data) applies.
    pub fn on_sample(self, mut listener: impl FnMut(Sample<T>) + Send + 'static) -> Self
    where
        T: DecodeOwned,
    {
        self.on_data(move |reader| {
            for _ in 0..SAMPLES_IN_A_ROW {
                // An error means that the reader shows no sample now: it is closed, or its group has no open access.
                let Ok(Some(sample)) = reader.take_first() else { return };
                listener(sample);
            }
            // A faster writer must not keep the thread here, so the rest waits for the next call.
            reader.handle().notify_of_rest();
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
        let (awaits_writers, data_tags) = (self.awaits_writers, self.data_tags);
        let Self { participant, topic, qos, group, delivery, on_data, on_event, listener, key, filter, .. } = self;
        // A raw topic has no type. Its caller says by the source of the key that there is one.
        let has_key = topic.has_key() || !matches!(&key, None | Some(KeySource::None));
        // The entity kind tells peers whether instances exist (RTPS 2.5, 9.3.1.2).
        let kind = if has_key { EntityKind::ReaderWithKey } else { EntityKind::ReaderNoKey };
        let subject = new_subject(&**participant, "reader", topic.name(), kind);
        let qos = check_qos(qos, &topic).about(&subject)?;
        let filtered = match (filter, topic.filtered()) {
            (Some(_), Some(_)) => return Err(CreateError::new(&subject, CreateErrorKind::FilteredTwice)),
            (Some(filter), None) => Some(filter.about(&subject)?),
            (None, filtered) => filtered.cloned(),
        };
        // Within a participant, a topic name has one type.
        participant.use_topic(topic.name(), topic.type_name()).about(&subject)?;
        let core = participant.core();
        let guid = subject.guid;
        let builtin = topic.builtin();
        // Discovery serves built-in topics itself and announces no reader, so a type would reach no peer.
        let has_type_information = builtin.is_none() && core.config().type_information;
        let new = NewEndpoint {
            participant: Arc::clone(&participant),
            subject: Arc::clone(&subject),
            type_name: topic.type_name().to_owned(),
            sample_type: TypeId::of::<T>(),
            types: if has_type_information { topic.types() } else { None },
            qos,
            group,
            topic: topic.handle().cloned(),
            span: tracing::error_span!(parent: core.span(), "reader", %guid, topic = topic.name()),
            delivery,
            data_tags: data_tags.into(),
        };
        let source = SampleSource {
            key: match key {
                Some(key) => key,
                None => key_source(&topic),
            },
            filterable: if builtin.is_none() { topic.ty().cloned() } else { None },
            filtered,
            builtin,
            awaits_writers,
        };
        let forms = TypedForms {
            erase: |handle| Box::new(DataReader::<T>::from_handle(handle)),
            lend: |handle| Box::new(DataReader::<T>::lend(handle)),
        };
        let handle = new_handle(new, source, BatchPool::new(topic.ty().cloned()), forms);
        // A listener object replaces the closures.
        let listener = listener.or(join(on_data, on_event));
        let listener = listener.map(|(mask, dispatch)| new_listener(&handle, mask, dispatch));
        // On an error the handle is dropped, which reverts the steps so far.
        start(&handle, listener).about(&subject)?;
        Ok(DataReader::from_handle(handle))
    }
}

qos_setters!(DataReaderBuilder, DataReaderQos {
    durability: Durability,
    deadline: Duration,
    latency_budget: Duration,
    liveliness: Liveliness,
    reliability: Reliability,
    destination_order: DestinationOrder,
    history: History,
    resource_limits: ResourceLimits,
    user_data: Vec<u8>,
    ownership: Ownership,
    time_based_filter: Duration,
    reader_data_lifecycle: ReaderDataLifecycle,
    representation: Vec<DataRepresentation>,
    type_consistency: TypeConsistency,
});

fn new_handle(
    new: NewEndpoint<ReaderHandle>,
    source: SampleSource,
    batches: BatchPool,
    forms: TypedForms,
) -> Arc<ReaderHandle> {
    let core = new.participant.core();
    let protocol = reader_protocol(core, new.subject.guid, &source, &new.qos, new.group.as_ref());
    // `enable` replaces this protocol reader if the QoS changes before it.
    let actor = ReaderActor::new(protocol, Arc::clone(core.driver()), core.outgoing());
    ReaderHandle::new(EndpointCore::new(new, actor), source, batches, forms)
}

/// Source of the keys of a topic's samples.
fn key_source<T>(topic: &TopicRef<'_, T>) -> KeySource {
    // Announcements are parameter lists. Their key is a GUID in a parameter, or the key hash (RTPS 2.5, 9.6.4.8).
    if topic.builtin().is_some() {
        return KeySource::KeyHashOrGuidParameter;
    }
    match topic.ty() {
        Some(ty) if ty.has_key() => KeySource::Type(ty.clone()),
        _ => KeySource::None,
    }
}

/// Creates the protocol's reader for a QoS.
pub(super) fn reader_protocol(
    participant: &ParticipantCore,
    guid: Guid,
    source: &SampleSource,
    qos: &DataReaderQos,
    group: Option<&Arc<SubscriberGroup>>,
) -> StatefulReader {
    // Only built-in readers have such keys.
    let is_of_discovery = matches!(source.key, KeySource::KeyHashOrGuidParameter);
    let mut config = ReaderConfig::new(guid, source.key.clone(), qos);
    config.awaits_writers = source.awaits_writers;
    // The implicit subscriber has the default PRESENTATION.
    if let Some(group) = group {
        config.presentation = group.presentation();
    }
    if let Some(filtered) = &source.filtered {
        config.filter = Some(filtered.filter());
    }
    // Peers choose the keys of instances, and must not be able to choose colliding ones.
    config.hash_seed = participant.driver().hash_seed(participant.driver().random());
    // A durability service keeps the changes of all writers in their order, also those that replace each other.
    config.as_log = participant.config().is_durability_service() && !is_of_discovery;
    if !is_of_discovery && !config.as_log {
        config.latencies_since = Some(participant.driver().now().time);
    }
    StatefulReader::new(config)
}

/// Combines the closures of a builder into one callback. Returns it with its status mask.
fn join<T: 'static>(
    mut on_data: Option<OnData<T>>,
    mut on_event: Option<OnEvent<T>>,
) -> Option<(StatusMask, EndpointDispatch<ReaderHandle>)> {
    let mask = match (on_data.is_some(), on_event.is_some()) {
        (false, false) => return None,
        (true, false) => StatusMask::DATA_AVAILABLE,
        (false, true) => !StatusMask::DATA_AVAILABLE,
        (true, true) => StatusMask::ALL,
    };
    let dispatch: EndpointDispatch<ReaderHandle> = Box::new(move |handle, marks| {
        // Lent, because a counted handle here could become the application's last one.
        let reader = DataReader::lend(handle);
        if let Some(on_event) = &mut on_event {
            for event in reader.handle().changes(marks) {
                on_event(&reader, event);
            }
        }
        // After the statuses, so that the application knows the writers of the data.
        if marks & mark::DATA != 0 {
            if let Some(on_data) = &mut on_data {
                on_data(&reader);
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
