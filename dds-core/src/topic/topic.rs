//! A topic of a participant as an object (DDS 1.4, 2.2.2.3.2).

use crate::actor::{Effects, Ticket};
use crate::context::{ListenerPlace, NewListener, ParticipantContext, ParticipantRef};
use crate::driver::Driver;
use crate::infrastructure::{
    About, Awaited, Callback, CountStatus, Counter, CreateError, CreateErrorKind, Ending, Entity, ListenedEntity,
    ListenerSet, LiveQos, QosError, StatusCondition, StatusMask, Subject, Upgrade, WaitErrorKind, WaitSource, Waiting,
    Watched, mark,
};
use crate::qos::TopicQos;
use dds_rtps::cdr::{AnyType, DdsType, TypeDescription};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::types::{EntityKind, Guid};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// A topic of a participant: its name, its type, and its QoS.
///
/// Most programs need only the name. A topic object is necessary:
///
/// - for topics without a Rust type ([`raw_topic`](crate::DomainParticipant::raw_topic)),
/// - for [`topic_data`](TopicQos::topic_data),
/// - to reserve the type of a name while there are no endpoints.
///
/// It is a handle: a clone is cheap, and keeps its participant alive. Endpoints of another participant may use it: they
/// take its name, its type and its current TOPIC_DATA.
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

/// Services that topics use from their participant.
pub(crate) trait TopicContext: ParticipantContext {
    fn add_topic(&self, topic: &Arc<TopicHandle>);

    /// Announces the endpoints of a topic again, with its new QoS.
    fn update_endpoints_of(&self, topic: &Arc<TopicHandle>);
}

/// State that all handles of a topic share. The last dropped handle releases the type of the name.
pub(crate) struct TopicHandle {
    participant: Arc<dyn TopicContext>,
    pub(super) name: Box<str>,
    pub(super) type_name: Box<str>,
    pub(super) ty: Option<AnyType>,
    pub(super) qos: LiveQos<TopicQos>,
    subject: Arc<Subject>,
    inconsistent: Mutex<Counter>,
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
        // RTPS does not announce topics, so no peer ever sees this GUID.
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(EntityKind::Other));
        let subject = Subject::new("topic", name, guid);
        qos.check().map_err(CreateErrorKind::InconsistentQos).about(&subject)?;
        participant.use_topic(name, type_name).about(&subject)?;
        let watched = Arc::<Watched>::default();
        // From here on the drop of the handle releases the name.
        let handle = TopicHandle {
            participant: Arc::clone(participant),
            name: name.into(),
            type_name: type_name.into(),
            ty,
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
        // Before it is enabled, so that a participant that is enabled now enables it too.
        participant.add_topic(&handle);
        if participant.core().autoenables() {
            handle.enable().about(&subject)?;
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

    /// Returns the name of the topic.
    #[must_use]
    #[doc(alias = "get_name")]
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// Returns the announced type name.
    #[must_use]
    #[doc(alias = "get_type_name")]
    pub fn type_name(&self) -> &str {
        &self.handle.type_name
    }

    /// Returns a handle that does not keep the topic alive.
    #[must_use]
    pub fn downgrade(&self) -> crate::infrastructure::Weak<Self> {
        crate::infrastructure::Weak::new(&self.handle)
    }

    /// Returns the QoS of the topic.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> TopicQos {
        self.handle.qos.get()
    }

    /// Changes the QoS, as far as DDS 1.4 (2.2.3) allows.
    ///
    /// - TOPIC_DATA: every endpoint of this topic announces the new value.
    /// - DEADLINE, LATENCY_BUDGET, TRANSPORT_PRIORITY and LIFESPAN: endpoints take them over on demand.
    ///
    /// # Errors
    /// Fails without a change. [`QosErrorKind::Immutable`](crate::error::QosErrorKind::Immutable) names a policy that
    /// cannot change, and other kinds name contradictory policies.
    pub fn set_qos(&self, qos: TopicQos) -> Result<(), QosError> {
        self.handle.set_qos(qos)
    }
}

/// Receives the events of a topic (DDS 1.4, 2.2.2.3.5). Methods without an implementation do nothing.
pub trait TopicListener: Send + 'static {
    /// A peer uses the name of the topic with another type.
    fn on_inconsistent_topic(&mut self, topic: &str, status: CountStatus) {
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
        // The listener set of a topic is resolved for each change, so there is nothing to refresh.
        if let Some(topic) = self.topic.upgrade() {
            topic.participant.core().drop_panicked(&topic.listener, || ());
        }
    }
}

impl TopicHandle {
    fn read_inconsistent(&self) -> CountStatus {
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

    pub(super) fn inconsistent(&self) -> MutexGuard<'_, Counter> {
        self.inconsistent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the constant description of the type, if the program has one.
    pub(super) fn description(&self) -> Option<&'static TypeDescription> {
        self.ty.as_ref().and_then(AnyType::description)
    }

    pub(crate) fn qos(&self) -> TopicQos {
        self.qos.get()
    }

    pub(crate) fn version(&self) -> u64 {
        self.qos.version()
    }

    /// Adds the data of the topic to an endpoint's announcement. Returns their version.
    pub(crate) fn describe(&self, endpoint: &mut EndpointData) -> u64 {
        let (qos, version) = self.qos.versioned();
        endpoint.topic_data = qos.topic_data;
        version
    }

    fn set_qos(self: &Arc<Self>, qos: TopicQos) -> Result<(), QosError> {
        self.qos.change(qos, TopicQos::check_change, TopicQos::check).about(&self.subject)?;
        // TOPIC_DATA is part of the announcement of each endpoint (RTPS 2.5, 9.6.3).
        self.participant.update_endpoints_of(self);
        Ok(())
    }

    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    /// Returns whether its samples have the encoding of `T`.
    pub(crate) fn is_of<T: DdsType>(&self) -> bool {
        match self.description() {
            // The name alone does not protect from a second Rust type that has taken it.
            Some(ty) => *self.type_name == *T::TYPE_NAME && ty.is_encoded_like(T::DESCRIPTION),
            None => false,
        }
    }

    fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// Enables the topic. From now on its QoS changes only within limits, and its status may change.
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        self.participant.core().check_open()?;
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        if !self.participant.core().is_enabled() {
            return Err(CreateErrorKind::FactoryNotEnabled);
        }
        // Policies that peers know are fixed from now on.
        self.qos.settle();
        self.enabled.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Releases the type of the name. Endpoints of the topic remain open.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) || self.participant.core().is_forked() {
            return;
        }
        self.participant.remove_entity(self.guid().entity_id);
        // Endpoints hold the name on their own, so they survive the topic object.
        self.participant.release_topic(&self.name);
        self.listener.close();
        self.watched.close();
        self.ending.close();
    }

    /// Counts a remote endpoint that uses the name with another type.
    pub(crate) fn note_inconsistent(self: &Arc<Self>, effects: &mut Effects) {
        // A disabled entity has no status changes (DDS 1.4, 2.2.2.1.1.7).
        if !self.is_enabled() {
            return;
        }
        self.inconsistent().note(1);
        self.watched.observers().status_changed(mark::INCONSISTENT_TOPIC, effects);
        self.listeners().mark(mark::INCONSISTENT_TOPIC, effects);
    }

    /// Returns the listeners that the topic notifies. Resolved for each change, because changes are rare.
    fn listeners(self: &Arc<Self>) -> ListenerSet {
        let entity = || Arc::downgrade(self) as Weak<dyn ListenedEntity>;
        // A topic has no group, so there are two levels.
        let (own, top) = (self.listener.level(entity), self.participant.core().top_listener().level(entity));
        ListenerSet::resolve([own, top].into_iter().flatten())
    }

    /// Calls a listener of the topic or of its participant.
    pub(crate) fn tell<L: TopicListener>(&self, listener: &mut L) {
        // A listener call counts as reading the status (DDS 1.4, 2.2.4.2.2).
        let status = self.read_inconsistent();
        listener.on_inconsistent_topic(&self.name, status);
    }

    fn change_listener(self: &Arc<Self>, new: Option<NewListener>) -> Result<(), CreateError> {
        let participant = self.participant.core();
        let is_closed = || self.is_closed() || participant.is_closed();
        participant.set_listener(&self.listener, new, &self.ending, is_closed, || ()).about(&self.subject)
    }
}

impl<T> Topic<T> {
    /// Calls `listener` with the statuses in `mask`. It replaces an earlier one, which is not called again.
    ///
    /// The thread is that of the participant's [`delivery`](crate::DomainParticipantBuilder::delivery). The listener
    /// belongs to this topic object. Other topic objects of the same name have their own.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`] or [`CreateErrorKind::Closed`].
    pub fn set_listener(&self, mask: StatusMask, listener: impl TopicListener) -> Result<(), CreateError> {
        self.handle.change_listener(Some(NewListener {
            name: "topic listener",
            mask,
            delivery: self.handle.participant.core().config().delivery,
            callback: Box::new(TopicCallback { topic: Arc::downgrade(&self.handle), listener }),
            members: None,
        }))
    }

    /// Removes the listener. No call of it begins after this function returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // A topic of a closed participant has none.
        let _ = self.handle.change_listener(None);
    }

    /// Returns the number of remote endpoints that use the name with another type.
    #[must_use]
    #[doc(alias = "get_inconsistent_topic_status")]
    pub fn inconsistent_topic(&self) -> CountStatus {
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
        tracing::warn!(?awaited, "still waiting for the topic to close");
    }
}

crate::infrastructure::entity_methods!(Topic<T>, "topic", with statuses);

impl<T> Entity for Topic<T> {
    fn guid(&self) -> Guid {
        self.handle.guid()
    }

    fn enable(&self) -> Result<(), CreateError> {
        self.handle.enable().about(&self.handle.subject)
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

    /// Releases the type of the name. The topic then cannot create entities. Its endpoints remain open.
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

impl<T> Upgrade for Topic<T> {
    type Shared = TopicHandle;

    fn upgrade(shared: &std::sync::Weak<TopicHandle>) -> Option<Self> {
        let topic = Self::from_handle(shared.upgrade()?);
        // `user` is `None` if only a running listener still holds the topic. The application has dropped its handles.
        if topic.user.is_some() { Some(topic) } else { None }
    }
}
