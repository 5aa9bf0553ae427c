//! State that a participant shares with all of its entities.

use crate::context::{ListenerPlace, Users};
use crate::driver::{Driver, Network, Outgoing};
use crate::infrastructure::{CreateErrorKind, EventThread, LiveQos, Subject};
use crate::qos::DomainParticipantQos;
use crate::settings::Config;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::types::{EntityId, EntityKind, Guid, GuidPrefix};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Settings, identity and driver services that a participant shares with all of its entities.
pub(crate) struct ParticipantCore {
    config: Config,
    subject: Arc<Subject>,
    span: tracing::Span,
    driver: Arc<dyn Driver>,
    network: Arc<dyn Network>,
    /// Liveliness assertions of the application, for writers that are manual by participant.
    assertion_clock: Arc<AssertionClock>,
    qos: LiveQos<DomainParticipantQos>,
    event_thread: Arc<EventThread>,
    next_key: AtomicU32,
    users: Users,
    enabled: AtomicBool,
    /// The participant and its entities accept no calls any more.
    closed: AtomicBool,
    listener: ListenerPlace,
    listening: Mutex<()>,
}

impl ParticipantCore {
    pub(crate) fn new(
        config: Config,
        subject: Arc<Subject>,
        driver: Arc<dyn Driver>,
        network: Arc<dyn Network>,
    ) -> Arc<Self> {
        let guid = subject.guid;
        Arc::new(Self {
            // Spans have the highest level, so that every line names its participant and topic.
            span: tracing::error_span!("participant", %guid, domain = config.domain_id, name = %config.name),
            qos: LiveQos::new(config.qos.clone()),
            event_thread: EventThread::new(Arc::clone(&driver)),
            config,
            subject,
            driver,
            network,
            assertion_clock: Arc::default(),
            next_key: AtomicU32::new(1),
            users: Users::default(),
            enabled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            listener: ListenerPlace::default(),
            listening: Mutex::default(),
        })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    pub(crate) fn prefix(&self) -> GuidPrefix {
        self.subject.guid.prefix
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(crate) fn span(&self) -> &tracing::Span {
        &self.span
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    pub(crate) fn network(&self) -> &Arc<dyn Network> {
        &self.network
    }

    /// Liveliness assertions of the application, for writers that are manual by participant.
    pub(crate) fn assertion_clock(&self) -> &Arc<AssertionClock> {
        &self.assertion_clock
    }

    pub(crate) fn qos(&self) -> &LiveQos<DomainParticipantQos> {
        &self.qos
    }

    pub(crate) fn event_thread(&self) -> &Arc<EventThread> {
        &self.event_thread
    }

    pub(crate) fn users(&self) -> &Users {
        &self.users
    }

    /// The sending side of a new cell.
    pub(crate) fn outgoing(&self) -> Outgoing {
        Outgoing::new(Arc::clone(&self.driver), Arc::clone(&self.network), self.config.transform())
    }

    /// The id of a new endpoint.
    pub(crate) fn new_entity_id(&self, kind: EntityKind) -> EntityId {
        // Keys are never reused: peers know an entity by its GUID, and may still hold data of a closed one.
        EntityId::user(self.next_key.fetch_add(1, Ordering::Relaxed), kind)
    }

    /// The listener of the participant itself.
    pub(crate) fn top_listener(&self) -> &ListenerPlace {
        &self.listener
    }

    /// Held while the listener sets of endpoints are resolved.
    pub(crate) fn listening(&self) -> MutexGuard<'_, ()> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    pub(crate) fn set_enabled(&self) {
        self.enabled.store(true, Ordering::Release);
    }

    /// Whether a new entity of the participant is enabled when it is created.
    pub(crate) fn autoenables(&self) -> bool {
        self.is_enabled() && self.qos.read(|qos| qos.entity_factory.autoenable_created_entities)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Returns `false` if the participant was closed before.
    pub(crate) fn set_closed(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }

    /// Whether this process is a forked child of the one that created the participant. Costs a system call.
    pub(crate) fn is_forked(&self) -> bool {
        self.driver.is_forked()
    }

    /// Fails if the participant cannot create entities any more.
    pub(crate) fn check_open(&self) -> Result<(), CreateErrorKind> {
        // Forked comes first: the parent may have closed it since, and this process cannot know.
        if self.is_forked() {
            return Err(CreateErrorKind::Forked);
        }
        if self.is_closed() { Err(CreateErrorKind::Closed) } else { Ok(()) }
    }
}
