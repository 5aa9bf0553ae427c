//! Groups: the common part of publishers and subscribers. A group has a QoS for all of its endpoints, which may change.
//!
//! Life cycle: an endpoint keeps its group alive, and the group knows its endpoints weakly. Bound: the application's
//! own endpoints. Dropped ones are removed when the list would have to grow.

use crate::actor::Ticket;
use crate::context::{ListenerPlace, ParticipantContext};
use crate::driver::Driver;
use crate::infrastructure::{
    About, Awaited, CreateError, CreateErrorKind, DefaultQos, Ending, QosError, StatusCondition, Subject,
    WaitErrorKind, WaitSource, Watched,
};
use crate::qos::{Presentation, PublisherQos, SubscriberQos};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::qos::QosErrorKind;
use dds_rtps::types::{EntityKind, Guid};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// The QoS of a group.
pub(crate) trait GroupQos: Clone {
    fn check(&self) -> Result<(), QosErrorKind>;
    fn check_change(&self, new: &Self) -> Result<(), QosErrorKind>;
    fn presentation(&self) -> Presentation;
    fn autoenables(&self) -> bool;
    fn partition(&self) -> &[String];
    fn group_data(&self) -> &[u8];
}

/// An endpoint in a group.
pub(crate) trait GroupedEndpoint: Sized {
    type Qos: Clone + Default + Send;
    /// QoS of the group.
    type GroupQos: GroupQos + Default + Send;
    /// The participant as its members use it.
    type Context: ParticipantContext + ?Sized;
    /// State that members share under some kinds of PRESENTATION.
    type Presented: Send + Sync;
    /// Other state that members share.
    type Common: Default + Send + Sync;

    /// Creates the shared state that `presentation` needs, if any.
    fn presented(presentation: Presentation) -> Option<Arc<Self::Presented>>;

    /// Deletes the endpoint.
    fn close(&self);
    /// Announces the endpoint again, because the QoS of the group has changed.
    fn announce_again(&self);
    /// Enables the endpoint.
    fn enable(&self) -> Result<(), CreateErrorKind>;
}

/// A publisher or subscriber, without the types of its endpoints.
pub(crate) struct EndpointGroup<M: GroupedEndpoint> {
    participant: Arc<M::Context>,
    subject: Arc<Subject>,
    state: Mutex<GroupState<M>>,
    /// Default QoS of new endpoints.
    default_qos: DefaultQos<M::Qos>,
    enabled: AtomicBool,
    closed: AtomicBool,
    ending: Arc<Ending>,
    watched: Arc<Watched>,
    listener: ListenerPlace,
    common: M::Common,
    status_condition: StatusCondition,
}

struct GroupState<M: GroupedEndpoint> {
    qos: M::GroupQos,
    /// Grows with each change of the QoS, so that a thread notices that it announces an old one.
    version: u64,
    members: Vec<Weak<M>>,
    presented: Option<Arc<M::Presented>>,
}

impl<M: GroupedEndpoint> EndpointGroup<M> {
    pub(crate) fn new(
        participant: &Arc<M::Context>,
        name: &'static str,
        kind: EntityKind,
        qos: M::GroupQos,
    ) -> Result<Arc<Self>, CreateError> {
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(kind));
        let subject = Subject::new(name, "", guid);
        debug_assert!(guid.entity_id.kind() == kind, "the kind of an entity is part of its id");
        // Report a closed participant before a wrong QoS.
        participant.core().check_open().about(&subject)?;
        qos.check().map_err(CreateErrorKind::InconsistentQos).about(&subject)?;
        Ok(Self::open(participant, subject, qos))
    }

    /// Creates a group with the default QoS. It starts closed if the participant is closed.
    pub(crate) fn always(participant: &Arc<M::Context>, name: &'static str, kind: EntityKind) -> Arc<Self> {
        let guid = Guid::new(participant.core().prefix(), participant.core().new_entity_id(kind));
        Self::open(participant, Subject::new(name, "", guid), M::GroupQos::default())
    }

    fn open(participant: &Arc<M::Context>, subject: Arc<Subject>, qos: M::GroupQos) -> Arc<Self> {
        let watched = Arc::<Watched>::default();
        Arc::new(Self {
            ending: Ending::new(),
            status_condition: StatusCondition::new(subject.guid, Arc::clone(&watched) as _),
            watched,
            listener: ListenerPlace::default(),
            common: M::Common::default(),
            participant: Arc::clone(participant),
            state: Mutex::new(GroupState {
                presented: M::presented(qos.presentation()),
                qos,
                version: 0,
                members: Vec::new(),
            }),
            default_qos: DefaultQos::default(),
            subject,
            enabled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        })
    }

    /// Locks the state, for a few lines and without any call to other code.
    fn state(&self) -> MutexGuard<'_, GroupState<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn participant(&self) -> &Arc<M::Context> {
        &self.participant
    }

    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.participant.core().is_closed()
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// Whether new endpoints are enabled when they are created.
    pub(crate) fn autoenables(&self) -> bool {
        self.is_enabled() && self.state().qos.autoenables()
    }

    /// Enables the group, and its endpoints if its QoS requires that. Does nothing if it is enabled already.
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        self.participant.core().check_open()?;
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        if !self.participant.core().is_enabled() {
            return Err(CreateErrorKind::FactoryNotEnabled);
        }
        let (was_enabled, autoenables) = {
            // Under the lock: a thread that adds an endpoint now sees the flag, or the endpoint is in the list.
            let state = self.state();
            (self.enabled.swap(true, Ordering::AcqRel), state.qos.autoenables())
        };
        // A second call enables no members: the application may have left some disabled on purpose.
        if !was_enabled && autoenables {
            // Ignore the results, because only endpoints that were closed since then fail.
            for member in self.members() {
                let _ = member.enable();
            }
        }
        Ok(())
    }

    pub(crate) fn presentation(&self) -> Presentation {
        self.state().qos.presentation()
    }

    /// State that members share under some kinds of PRESENTATION.
    pub(crate) fn presented(&self) -> Option<Arc<M::Presented>> {
        self.state().presented.clone()
    }

    pub(crate) fn qos(&self) -> M::GroupQos {
        self.state().qos.clone()
    }

    /// Replaces the QoS and announces all endpoints with it.
    pub(crate) fn set_qos(&self, qos: M::GroupQos) -> Result<(), QosError> {
        {
            let mut state = self.state();
            if self.is_enabled() {
                // Policies that peers have seen cannot change.
                state.qos.check_change(&qos).about(&self.subject)?;
            } else {
                qos.check().about(&self.subject)?;
            }
            if state.qos.presentation() != qos.presentation() {
                // Allowed only before the group is enabled. Its endpoints start with the new state.
                state.presented = M::presented(qos.presentation());
            }
            state.qos = qos;
            state.version += 1;
        }
        // Outside of the lock, because each member reads the new QoS from the group.
        for member in self.members() {
            member.announce_again();
        }
        Ok(())
    }

    /// Adds a new endpoint, before it is announced.
    pub(crate) fn add(&self, member: &Arc<M>) -> Result<(), CreateErrorKind> {
        let mut state = self.state();
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        // Sweep only when the list would grow, so that the cost per endpoint stays constant.
        if state.members.len() == state.members.capacity() {
            state.members.retain(|member| member.strong_count() > 0);
        }
        // Weak: the members keep the group alive, and a strong reference would be a circle.
        state.members.push(Arc::downgrade(member));
        Ok(())
    }

    /// Present endpoints, in order of creation.
    pub(crate) fn members(&self) -> Vec<Arc<M>> {
        self.state().members.iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    /// Writes the group's properties into an endpoint's announcement. Returns the version of the QoS.
    pub(crate) fn describe(&self, endpoint: &mut EndpointData) -> u64 {
        let state = self.state();
        endpoint.presentation = state.qos.presentation();
        // Peers need the ID of the group only if they present its members together.
        if endpoint.presentation.is_of_group() {
            endpoint.group = self.guid().entity_id;
        }
        endpoint.partition = state.qos.partition().to_vec();
        endpoint.group_data = state.qos.group_data().to_vec();
        state.version
    }

    pub(crate) fn close_contained(&self) {
        for member in self.members() {
            member.close();
        }
    }

    /// Closes the group and its endpoints. It accepts no further endpoints.
    pub(crate) fn close(&self) {
        if self.participant.core().is_forked() {
            return;
        }
        {
            // The lock excludes threads that are about to add an endpoint.
            let _state = self.state();
            if self.closed.swap(true, Ordering::AcqRel) {
                return;
            }
        }
        // Members first: their listeners may still ask the group.
        self.close_contained();
        // After the members, so that `contains_entity` never finds a member without its group.
        self.participant.remove_entity(self.guid().entity_id);
        self.listener.close();
        self.watched.close();
        // Last, because it wakes waits for the end of all of the above.
        self.ending.close();
    }

    pub(crate) fn default_qos(&self) -> &DefaultQos<M::Qos> {
        &self.default_qos
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(crate) fn ending(&self) -> &Arc<Ending> {
        &self.ending
    }

    pub(crate) fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }

    pub(crate) fn common(&self) -> &M::Common {
        &self.common
    }

    pub(crate) fn listener(&self) -> &ListenerPlace {
        &self.listener
    }

    pub(crate) fn status_condition(&self) -> &StatusCondition {
        &self.status_condition
    }
}

impl<M: GroupedEndpoint> Drop for EndpointGroup<M> {
    fn drop(&mut self) {
        // A forked child frees its memory only: the entity belongs to the parent.
        if self.participant.core().is_forked() {
            return;
        }
        // A group that was closed before has done both, and the calls find nothing.
        self.listener.close();
        self.participant.remove_entity(self.subject.guid.entity_id);
    }
}

impl<M: GroupedEndpoint + Send + Sync> WaitSource<()> for EndpointGroup<M> {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        self.ending.poll(ticket, waker)
    }

    fn abandon(&self, _awaited: Awaited, ticket: Ticket) {
        self.ending.abandon(ticket);
    }

    fn driver(&self) -> &dyn Driver {
        &**self.participant.core().driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    fn complain(&self, awaited: Awaited) {
        tracing::warn!(?awaited, "still waiting for a {} to end", self.subject.entity);
    }
}

macro_rules! group_qos {
    ($($qos:ident)*) => {$(
        impl GroupQos for $qos {
            fn check(&self) -> Result<(), QosErrorKind> {
                $qos::check(self)
            }

            fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
                $qos::check_change(self, new)
            }

            fn presentation(&self) -> Presentation {
                self.presentation
            }

            fn autoenables(&self) -> bool {
                self.entity_factory.autoenable_created_entities
            }

            fn partition(&self) -> &[String] {
                &self.partition
            }

            fn group_data(&self) -> &[u8] {
                &self.group_data
            }
        }
    )*};
}

group_qos!(PublisherQos SubscriberQos);
