//! A topic of a participant as an object (DDS 1.4, 2.2.2.3.2).

use crate::actor::{Effects, Ticket};
use crate::cdr::{AnyType, DdsType, TypeDescription};
use crate::context::{ListenerPlace, NewListener, ParticipantContext, ParticipantRef};
use crate::driver::Driver;
use crate::infrastructure::{
    Audience, Awaited, Callback, CreateError, CreateErrorKind, Ending, Entity, InconsistentTopicStatus, ListenedEntity,
    LiveQos, QosError, StatusCondition, StatusMask, Subject, WaitErrorKind, WaitSource, Waiting, Watched, mark,
};
use crate::qos::{DataRepresentation, PolicyId, QosErrorKind, TopicQos};
use crate::topic::{WeakTopic, narrow_representations};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::types::{EntityKind, Guid};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// A topic of a participant: its name, its type, and what is announced with each of its endpoints.
///
/// Needed only for topics whose type has no Rust type ([`raw_topic`](crate::DomainParticipant::raw_topic)), for
/// [`topic_data`](TopicQos::topic_data), and to hold a name's type while there are no endpoints: a name is enough for
/// everything else. A handle: cloning it is cheap, and it keeps its participant alive. Another participant may make endpoints
/// of it too: for those it is a name, a type and their first TOPIC_DATA.
///
/// ```
/// use dds_core::qos::{DataWriterQos, TopicQos};
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
/// let topic = participant.topic::<Pose>("robot/pose", TopicQos::default().reliable())?;
/// let writer = participant.writer(&topic)?;
/// // The policies of a topic are a suggestion, which an endpoint takes over on demand.
/// let qos = DataWriterQos::default().copy_from_topic(&topic.qos());
/// let other = participant.writer_builder(&topic).qos(qos).build()?;
/// # Ok(())
/// # }
/// ```
pub struct Topic<T> {
    handle: Arc<TopicHandle>,
    /// Dropped after the handle, as the end of a participant is that of its entities.
    pub(super) user: Option<ParticipantRef<dyn TopicContext>>,
    marker: PhantomData<fn() -> T>,
}

/// What topics ask of their participant.
pub(crate) trait TopicContext: ParticipantContext {
    fn add_topic(&self, topic: &Arc<TopicHandle>);

    /// Announces the endpoints of a topic again, with its new QoS.
    fn update_endpoints_of(&self, topic: &Arc<TopicHandle>);
}

/// What all handles of one topic share. The last one dropped no longer holds the name's type.
pub(crate) struct TopicHandle {
    participant: Arc<dyn TopicContext>,
    pub(super) name: Box<str>,
    pub(super) type_name: Box<str>,
    pub(super) ty: Option<AnyType>,
    /// The only encodings that its samples can have; empty: any that we have.
    pub(super) representations: &'static [DataRepresentation],
    pub(super) qos: LiveQos<TopicQos>,
    subject: Arc<Subject>,
    inconsistent: Mutex<InconsistentTopicStatus>,
    watched: Arc<Watched>,
    status_condition: StatusCondition,
    listener: ListenerPlace,
    enabled: AtomicBool,
    closed: AtomicBool,
    ending: Arc<Ending>,
}

impl<T> Topic<T> {
    pub(crate) fn new(
        participant: &Arc<dyn TopicContext>,
        name: &str,
        type_name: &str,
        ty: Option<AnyType>,
        qos: TopicQos,
    ) -> Result<Self, CreateError> {
        Self::with_representations(participant, name, type_name, ty, &[], qos)
    }

    /// One whose samples cannot have every encoding.
    pub(crate) fn with_representations(
        participant: &Arc<dyn TopicContext>,
        name: &str,
        type_name: &str,
        ty: Option<AnyType>,
        representations: &'static [DataRepresentation],
        qos: TopicQos,
    ) -> Result<Self, CreateError> {
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(EntityKind::Other));
        let subject = Subject::new("topic", name, guid);
        let error = |kind| CreateError::new(&subject, kind);
        qos.check().map_err(|kind| error(CreateErrorKind::InconsistentQos(kind)))?;
        participant.use_topic(name, type_name).map_err(error)?;
        let watched = Arc::<Watched>::default();
        let handle = TopicHandle {
            participant: Arc::clone(participant),
            name: name.into(),
            type_name: type_name.into(),
            ty,
            representations,
            qos: LiveQos::new(qos),
            subject: Arc::clone(&subject),
            inconsistent: Mutex::default(),
            status_condition: StatusCondition::new(guid, Arc::clone(&watched) as _),
            watched,
            listener: ListenerPlace::default(),
            enabled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            ending: Ending::new(),
        };
        let handle = Arc::new(handle);
        participant.add_topic(&handle);
        if participant.core().autoenables() {
            handle.enable().map_err(error)?;
        }
        Ok(Self::from_handle(handle))
    }

    pub(crate) fn from_handle(handle: Arc<TopicHandle>) -> Self {
        let user = ParticipantRef::join(&handle.participant);
        Self { handle, user, marker: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Arc<TopicHandle> {
        &self.handle
    }

    /// The topic's name.
    #[must_use]
    #[doc(alias = "get_name")]
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// The topic's type, as it is announced.
    #[must_use]
    #[doc(alias = "get_type_name")]
    pub fn type_name(&self) -> &str {
        &self.handle.type_name
    }

    /// A handle that does not keep the topic alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakTopic<T> {
        WeakTopic::new(&self.handle)
    }

    /// The QoS that the topic has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> TopicQos {
        self.handle.qos.get()
    }

    /// Changes the QoS, as far as DDS 1.4 (2.2.3) lets it change: TOPIC_DATA, which every endpoint made of this topic is
    /// announced with anew, DEADLINE, LATENCY_BUDGET, TRANSPORT_PRIORITY and LIFESPAN, which endpoints take over on demand.
    ///
    /// # Errors
    /// Nothing has changed: [`QosErrorKind::Immutable`](crate::qos::QosErrorKind::Immutable) names a policy that must
    /// stay, another kind what contradicts itself.
    pub fn set_qos(&self, qos: TopicQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }
}

/// Is told of what happens to a topic (DDS 1.4, 2.2.2.3.5). Methods that are not written do nothing.
pub trait TopicListener: Send + 'static {
    /// Somebody uses the name of the topic with another type.
    fn on_inconsistent_topic(&mut self, topic: &str, status: InconsistentTopicStatus) {
        let _ = (topic, status);
    }
}

struct TopicCallback<L> {
    topic: Weak<TopicHandle>,
    listener: L,
}

impl<L: TopicListener> Callback for TopicCallback<L> {
    fn call(&mut self, _marks: u32) {
        if let Some(topic) = self.topic.upgrade() {
            topic.tell(&mut self.listener);
        }
    }

    fn panicked(&mut self, _message: &str) {
        // It is resolved anew for each change whom a topic tells what.
        if let Some(topic) = self.topic.upgrade() {
            topic.participant.core().drop_panicked(&topic.listener, || ());
        }
    }
}

impl TopicHandle {
    fn read_inconsistent(&self) -> InconsistentTopicStatus {
        self.watched.observers().status_read(mark::INCONSISTENT_TOPIC);
        self.inconsistent().read()
    }

    pub(crate) fn participant(&self) -> &Arc<dyn TopicContext> {
        &self.participant
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(super) fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }

    pub(super) fn inconsistent(&self) -> MutexGuard<'_, InconsistentTopicStatus> {
        self.inconsistent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program knows of the type as constant data.
    pub(super) fn description(&self) -> Option<&'static TypeDescription> {
        self.ty.as_ref().and_then(AnyType::description)
    }

    pub(crate) fn qos(&self) -> TopicQos {
        self.qos.get()
    }

    pub(crate) fn version(&self) -> u64 {
        self.qos.version()
    }

    /// Puts what the topic says into an endpoint's announcement. The version that it was.
    pub(crate) fn describe(&self, endpoint: &mut EndpointData) -> u64 {
        let (qos, version) = self.qos.versioned();
        endpoint.topic_data = qos.topic_data;
        version
    }

    fn set_qos(self: &Arc<Self>, qos: TopicQos) -> Result<(), QosError> {
        let changed = self.qos.change(qos, TopicQos::check_change, TopicQos::check);
        changed.map_err(|kind| QosError::new(&self.subject, kind))?;
        self.participant.update_endpoints_of(self);
        Ok(())
    }

    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    /// Whether its samples are encoded as those of `T`.
    pub(crate) fn is_of<T: DdsType>(&self) -> bool {
        *self.type_name == *T::TYPE_NAME && self.description().is_some_and(|ty| ty.is_encoded_like(T::DESCRIPTION))
    }

    /// Leaves an endpoint only the encodings that the topic's samples can have.
    pub(crate) fn narrow(&self, wanted: &mut Vec<DataRepresentation>) -> Result<(), QosErrorKind> {
        narrow_representations(wanted, self.representations)
            .map_err(|_| QosErrorKind::Unsupported { policy: PolicyId::DataRepresentation })
    }

    fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// From now on the QoS may change no more than while a topic lives, and the status may change.
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        self.participant.core().check_open()?;
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        if !self.participant.core().is_enabled() {
            return Err(CreateErrorKind::FactoryNotEnabled);
        }
        self.qos.settle();
        self.enabled.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The name's type is no longer held. Endpoints that were made of it live on.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) || self.participant.core().is_forked() {
            return;
        }
        self.participant.remove_entity(self.guid().entity_id);
        self.participant.release_topic(&self.name);
        self.listener.close();
        self.watched.close();
        self.ending.close();
    }

    /// An endpoint elsewhere uses the name with another type.
    pub(crate) fn note_inconsistent(self: &Arc<Self>, effects: &mut Effects) {
        if !self.is_enabled() {
            return;
        }
        self.inconsistent().note();
        self.watched.observers().status_changed(mark::INCONSISTENT_TOPIC, effects);
        self.listeners().mark(mark::INCONSISTENT_TOPIC, effects);
    }

    /// The listeners that the topic notifies. Resolved for each change, because changes are rare.
    fn listeners(self: &Arc<Self>) -> Audience {
        let entity = || Arc::downgrade(self) as Weak<dyn ListenedEntity>;
        let (own, top) = (self.listener.level(entity), self.participant.core().top_listener().level(entity));
        Audience::resolve([own, top].into_iter().flatten())
    }

    /// Calls a listener of the topic or of its participant.
    pub(crate) fn tell<L: TopicListener>(&self, listener: &mut L) {
        let status = self.read_inconsistent();
        listener.on_inconsistent_topic(&self.name, status);
    }

    fn change_listener(self: &Arc<Self>, new: Option<NewListener>) -> Result<(), CreateError> {
        let participant = self.participant.core();
        let is_closed = || self.is_closed() || participant.is_closed();
        let set = participant.set_listener(&self.listener, new, &self.ending, is_closed, || ());
        set.map_err(|kind| CreateError::new(&self.subject, kind))
    }
}

impl<T> Topic<T> {
    /// Calls `listener` with the statuses in `mask`. Replaces an earlier one, of which no call begins any more.
    ///
    /// It is called on the thread that the participant's [`delivery`](crate::DomainParticipantBuilder::delivery) says, and belongs to
    /// this topic object: another one of the same name has its own.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`] or [`CreateErrorKind::Closed`].
    pub fn set_listener(&self, mask: StatusMask, listener: impl TopicListener) -> Result<(), CreateError> {
        self.handle.change_listener(Some(NewListener {
            name: "topic listener",
            mask,
            delivery: self.handle.participant.core().config().delivery,
            callback: Box::new(TopicCallback { topic: Arc::downgrade(&self.handle), listener }),
            post: None,
        }))
    }

    /// Removes the listener: no call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // That of a closed participant has none.
        let _ = self.handle.change_listener(None);
    }

    /// Endpoints elsewhere that use the topic's name with another type.
    #[must_use]
    #[doc(alias = "get_inconsistent_topic_status")]
    pub fn inconsistent_topic(&self) -> InconsistentTopicStatus {
        self.handle.read_inconsistent()
    }
}

impl ListenedEntity for TopicHandle {
    /// A topic has no events. The log has the panic.
    fn note_listener_panic(&self, _message: &str) {}

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Drop for TopicHandle {
    fn drop(&mut self) {
        self.close();
    }
}

impl WaitSource<()> for TopicHandle {
    fn poll_wait(&self, _: Awaited, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        self.ending.poll(ticket, waker)
    }

    fn abandon(&self, _: Awaited, ticket: Ticket) {
        self.ending.abandon(ticket);
    }

    fn driver(&self) -> &dyn Driver {
        &**self.participant.core().driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    fn complain(&self, awaited: Awaited) {
        tracing::warn!(?awaited, "still waiting for a topic to end");
    }
}

impl<T> Entity for Topic<T> {
    fn guid(&self) -> Guid {
        self.handle.guid()
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.handle.enable().map_err(|kind| CreateError::new(&self.handle.subject, kind))
    }

    fn is_enabled(&self) -> bool {
        self.handle.is_enabled()
    }

    fn status_condition(&self) -> StatusCondition {
        self.handle.status_condition.clone()
    }

    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// It no longer holds its name's type, and nothing can be made of it any more. What has been made of it lives on.
    #[doc(alias = "delete_topic")]
    fn close(&self) {
        self.handle.close();
    }

    fn closed(&self) -> Waiting<'_, ()> {
        Waiting::new(&*self.handle, Awaited::Closed)
    }
}

impl<T> crate::infrastructure::Sealed for Topic<T> {}

impl<T> Clone for Topic<T> {
    fn clone(&self) -> Self {
        Self::from_handle(Arc::clone(&self.handle))
    }
}

impl<T> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic(\"{}\" of type `{}`)", self.name(), self.type_name())
    }
}
