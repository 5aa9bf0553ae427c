//! How a reader is made.

use crate::actor::{Capacity, Cell, Effects, Poke};
use crate::cdr::DecodeOwned;
use crate::domain::ParticipantHandle;
use crate::infrastructure::{Callback, CreateError, CreateErrorKind, Delivery, Subject, mark};
use crate::qos::DataReaderQos;
use crate::subscription::reader_actor::ReaderActor;
use crate::subscription::{DataReader, ReaderEvent, ReaderHandle, Sample, SubscriberGroup};
use crate::topic::TopicRef;
use dds_rtps::reader::{KeySource, ReaderConfig, StatefulReader};
use dds_rtps::types::{EntityKind, Guid};
use std::any::TypeId;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

/// The things that a reader of a built-in topic remembers at most; as many as discovery takes in of one kind.
const BUILTIN_INSTANCES_MAX: u32 = 65_536;

type OnData<T> = Box<dyn FnMut(&DataReader<T>) + Send>;
type OnEvent<T> = Box<dyn FnMut(&DataReader<T>, ReaderEvent) + Send>;

/// Makes a [`DataReader`]; from [`DomainParticipant::reader_builder`](crate::DomainParticipant::reader_builder).
#[must_use = "a builder makes nothing until `build` is called"]
pub struct DataReaderBuilder<'t, T> {
    participant: Arc<ParticipantHandle>,
    topic: TopicRef<'t, T>,
    qos: DataReaderQos,
    group: Option<Arc<SubscriberGroup>>,
    delivery: Delivery,
    on_data: Option<OnData<T>>,
    on_event: Option<OnEvent<T>>,
}

impl<'t, T> DataReaderBuilder<'t, T> {
    pub(crate) fn new(participant: Arc<ParticipantHandle>, topic: TopicRef<'t, T>) -> Self {
        let delivery = participant.config().delivery;
        let mut qos = topic.preset().reader();
        if topic.builtin().is_some() {
            qos.resource_limits.max_instances = Some(BUILTIN_INSTANCES_MAX);
        }
        Self { participant, qos, topic, group: None, delivery, on_data: None, on_event: None }
    }

    /// The QoS: a [`DataReaderQos`] or a [`Preset`](crate::qos::Preset). Default: that of the topic's
    /// [`TopicSpec`](crate::TopicSpec), else best effort, volatile, keep last 1.
    pub fn qos(mut self, qos: impl Into<DataReaderQos>) -> Self {
        self.qos = qos.into();
        self
    }

    /// Puts the reader into a subscriber.
    pub(crate) fn group(mut self, group: Arc<SubscriberGroup>) -> Self {
        self.group = Some(group);
        self
    }

    /// On which thread the listeners are called. Default: the participant's choice, which is its event thread.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Calls `listener` when data has arrived; it takes what it likes.
    ///
    /// Replaces [`on_sample`](DataReaderBuilder::on_sample), and the other way round.
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
            // The only error is that the reader has been closed: then there is nothing more to be told.
            while let Ok(Some(sample)) = reader.take_next() {
                listener(sample);
            }
        })
    }

    /// Calls `listener` with what happens to the reader beside data.
    #[doc(alias = "on_subscription_matched")]
    #[doc(alias = "on_requested_incompatible_qos")]
    #[doc(alias = "on_sample_lost")]
    #[doc(alias = "on_sample_rejected")]
    pub fn on_event(mut self, listener: impl FnMut(&DataReader<T>, ReaderEvent) + Send + 'static) -> Self {
        self.on_event = Some(Box::new(listener));
        self
    }

    /// Makes the reader and announces it.
    ///
    /// # Errors
    /// [`CreateErrorKind::InconsistentQos`], [`CreateErrorKind::InvalidTopicName`], [`CreateErrorKind::TypeConflict`],
    /// [`CreateErrorKind::Thread`], or [`CreateErrorKind::Closed`].
    pub fn build(self) -> Result<DataReader<T>, CreateError>
    where
        T: 'static,
    {
        let Self { participant, topic, qos, group, delivery, on_data, on_event } = self;
        let kind = if topic.has_key() { EntityKind::ReaderWithKey } else { EntityKind::ReaderNoKey };
        let guid = Guid::new(participant.prefix(), participant.new_entity_id(kind));
        let subject = Subject::new("reader", topic.name(), guid);
        let error = |kind| CreateError::new(&subject, kind);
        qos.check().map_err(|kind| error(CreateErrorKind::InconsistentQos(kind)))?;
        participant.use_topic(topic.name(), topic.type_name()).map_err(error)?;
        let handle = make_handle(&participant, &topic, qos, group, &subject);
        let callback = bind_listeners(&handle, on_data, on_event);
        let listener = callback.map(|callback| participant.listener("reader listener", callback, delivery));
        let announced = listener.transpose().and_then(|listener| {
            attach(&handle, listener);
            handle.group.as_ref().map_or(Ok(()), |group| group.add(&handle))?;
            match topic.builtin() {
                Some(kind) => participant.add_builtin_reader(&handle, kind),
                None => participant.add_reader(&handle),
            }
        });
        // Dropping the handle takes back what has been done so far.
        announced.map_err(error)?;
        handle.span.in_scope(|| tracing::info!("reader created"));
        Ok(DataReader::from_handle(handle))
    }
}

fn make_handle<T: 'static>(
    participant: &Arc<ParticipantHandle>,
    topic: &TopicRef<'_, T>,
    qos: DataReaderQos,
    group: Option<Arc<SubscriberGroup>>,
    subject: &Arc<Subject>,
) -> Arc<ReaderHandle> {
    let key = match topic.builtin() {
        Some(_) => KeySource::KeyHashOrGuidParameter,
        None => topic.description().filter(|ty| ty.has_key()).map_or(KeySource::None, KeySource::Type),
    };
    let mut config = ReaderConfig::new(subject.guid, key, &qos);
    config.seed = participant.driver().random();
    let protocol = StatefulReader::new(config);
    let actor = ReaderActor::new(protocol, Arc::clone(participant.driver()), participant.outgoing());
    let guid = subject.guid;
    let span = participant.span().in_scope(|| tracing::info_span!("reader", %guid, topic = topic.name()));
    Arc::new(ReaderHandle {
        participant: Arc::clone(participant),
        cell: Cell::new(actor, Capacity::default(), Arc::clone(participant.driver().run_queue())),
        subject: Arc::clone(subject),
        type_name: topic.type_name().to_owned(),
        sample_type: TypeId::of::<T>(),
        qos,
        group,
        topic_data: topic.topic_data().to_vec(),
        span,
        batches: Arc::default(),
        listener: OnceLock::new(),
        status_condition: OnceLock::new(),
        closed: AtomicBool::new(false),
    })
}

fn attach(handle: &Arc<ReaderHandle>, listener: Option<Arc<crate::infrastructure::Listener>>) {
    let poke = Arc::downgrade(&handle.cell) as Weak<dyn Poke>;
    if let Some(listener) = &listener {
        let _ = handle.listener.set(Arc::clone(listener));
    }
    // A new cell cannot be closed.
    let _ = Effects::scope(|effects| handle.cell.with(effects, |actor, _| actor.attach(poke, listener)));
}

/// One closure for everything, with a weak handle, so that a listener does not keep its own reader alive.
fn bind_listeners<T: 'static>(
    handle: &Arc<ReaderHandle>,
    mut on_data: Option<OnData<T>>,
    mut on_event: Option<OnEvent<T>>,
) -> Option<Callback> {
    if on_data.is_none() && on_event.is_none() {
        return None;
    }
    let handle = Arc::downgrade(handle);
    Some(Box::new(move |marks| {
        let Some(handle) = handle.upgrade() else { return };
        let reader = DataReader::from_handle(handle);
        if let Some(on_event) = &mut on_event {
            for event in events(&reader, marks) {
                on_event(&reader, event);
            }
        }
        if let Some(on_data) = on_data.as_mut().filter(|_| marks & mark::DATA != 0) {
            on_data(&reader);
        }
    }))
}

/// The events that the marks speak of. A reader that has been closed in the meantime has none.
fn events<T>(reader: &DataReader<T>, marks: u32) -> impl Iterator<Item = ReaderEvent> {
    let has = |bit| marks & bit != 0;
    let matched = has(mark::MATCHED).then(|| reader.subscription_matched().ok()).flatten();
    let incompatible = has(mark::INCOMPATIBLE_QOS).then(|| reader.requested_incompatible_qos().ok()).flatten();
    let lost = has(mark::SAMPLE_LOST).then(|| reader.sample_lost().ok()).flatten();
    let rejected = has(mark::SAMPLE_REJECTED).then(|| reader.sample_rejected().ok()).flatten();
    [
        matched.map(ReaderEvent::Matched),
        incompatible.map(ReaderEvent::IncompatibleQos),
        lost.map(ReaderEvent::SampleLost),
        rejected.map(ReaderEvent::SampleRejected),
    ]
    .into_iter()
    .flatten()
}

impl<T> fmt::Debug for DataReaderBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataReaderBuilder").field("topic", &self.topic).field("qos", &self.qos).finish_non_exhaustive()
    }
}
