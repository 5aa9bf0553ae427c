//! State that all handles of one endpoint share, without the type of its samples.

use crate::actor::{Caller, Capacity, Cell, Effects, EnterError};
use crate::context::{EndpointGroup, GroupedEndpoint, ListenerPlace, NewListener, ParticipantContext, ParticipantCore};
use crate::endpoint::listener::resolve_listeners;
use crate::endpoint::{EndpointActor, NewEndpoint};
use crate::infrastructure::{
    About, Awaited, CreateError, CreateErrorKind, Delivery, Ending, LiveQos, Missing, QosError, StatusCondition,
    StatusMask, Subject,
};
use crate::qos::{DataReaderQos, DataWriterQos};
use crate::topic::TopicHandle;
use dds_rtps::discovery::data::DataTags;
use dds_rtps::qos::QosErrorKind;
use dds_rtps::types::Guid;
use dds_rtps::xtypes::TypeGraph;
use std::any::TypeId;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// QoS of an endpoint.
pub(crate) trait EndpointPolicies: Clone {
    fn check(&self) -> Result<(), QosErrorKind>;
    fn check_change(&self, new: &Self) -> Result<(), QosErrorKind>;
}

/// The shared state of a reader or a writer: [`EndpointCore`] and the properties of its kind.
pub(crate) trait Endpoint:
    GroupedEndpoint<Qos: EndpointPolicies> + Deref<Target = EndpointCore<Self>> + Send + Sync + 'static
{
    type Actor: EndpointActor;
    /// Values that are fixed when the endpoint is enabled.
    type Enabled: Send + Sync;

    /// Name of its listener in the log.
    const LISTENER: &'static str;
    /// Name of the listener of its group in the log.
    const GROUP_LISTENER: &'static str;

    /// Adds the new endpoint to the tables of its participant.
    fn enter(self: &Arc<Self>) -> Result<(), CreateErrorKind>;

    /// Builds the present QoS into the protocol's state. Called once.
    fn fix_qos(&self) -> Self::Enabled;

    /// Announces the endpoint, which was enabled.
    fn announce(&self) -> Result<(), CreateErrorKind>;

    /// Applies the present QoS to the protocol of an enabled endpoint.
    fn apply_qos(&self);

    /// Logs why a wait for matched peers or samples may take long.
    fn warn_of_wait(awaited: Awaited, matched: usize, why: &str);

    /// Returns the missing part of a wait that has matches.
    fn missing_of_matched(&self, awaited: Awaited, matched: usize) -> Missing;

    /// Returns the statuses for the listeners of the endpoint, its group and its participant.
    fn level_masks(&self) -> [StatusMask; 3] {
        [StatusMask::ALL; 3]
    }

    /// Resolves the listeners that the endpoint notifies.
    fn refresh_listeners(self: &Arc<Self>) {
        resolve_listeners(self);
    }

    /// Replaces the listener.
    fn change_listener(self: &Arc<Self>, new: Option<NewListener>) -> Result<(), CreateError> {
        let (is_closed, refresh) = (|| self.is_closed(), || self.refresh_listeners());
        self.core().set_listener(self.listener(), new, self.ending(), is_closed, refresh).about(self.subject())
    }

    /// Changes the QoS and announces it.
    fn set_qos(&self, qos: Self::Qos) -> Result<(), QosError> {
        if self.is_enabled() {
            self.change_qos(qos).about(self.subject())?;
        } else {
            // `enable` must not see the QoS change in the middle.
            let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
            self.change_qos(qos).about(self.subject())?;
        }
        // Checked again: another thread may have enabled the endpoint since.
        if self.is_enabled() {
            self.apply_qos();
            // Changed policies such as DEADLINE may turn mismatches into matches (DDS 1.4, 2.2.3).
            self.announce_again();
        }
        Ok(())
    }
}

/// Enables an endpoint with its present QoS. Has no effect on an enabled endpoint.
pub(crate) fn enable<E: Endpoint>(endpoint: &E) -> Result<(), CreateErrorKind> {
    if endpoint.is_enabled() {
        return Ok(());
    }
    let core = endpoint.core();
    // Report a closed or forked participant before the state of the endpoint.
    core.check_open()?;
    if endpoint.is_closed() {
        return Err(CreateErrorKind::Closed);
    }
    let is_factory_enabled = match endpoint.group() {
        Some(group) => group.is_enabled(),
        None => core.is_enabled(),
    };
    if !is_factory_enabled {
        return Err(CreateErrorKind::FactoryNotEnabled);
    }
    {
        // The lock is held for some lines, which call no foreign code.
        let _turn = endpoint.enabling.lock().unwrap_or_else(PoisonError::into_inner);
        if endpoint.is_enabled() {
            // Another thread was first, and announces the endpoint.
            return Ok(());
        }
        let is_first = endpoint.enabled.set(endpoint.fix_qos()).is_ok();
        debug_assert!(is_first, "only the holder of the lock enables the endpoint");
    }
    // Without the lock, because the participant calls back into the endpoint.
    endpoint.announce()
}

/// State that all handles of one endpoint share.
pub(crate) struct EndpointCore<E: Endpoint> {
    participant: Arc<E::Context>,
    core: Arc<ParticipantCore>,
    cell: Arc<Cell<E::Actor>>,
    subject: Arc<Subject>,
    type_name: String,
    sample_type: TypeId,
    types: Option<Arc<TypeGraph>>,
    qos: LiveQos<E::Qos>,
    group: Option<Arc<EndpointGroup<E>>>,
    topic: Option<Arc<TopicHandle>>,
    span: tracing::Span,
    enabled: OnceLock<E::Enabled>,
    enabling: Mutex<()>,
    listener: ListenerPlace,
    delivery: Delivery,
    data_tags: DataTags,
    status_condition: OnceLock<StatusCondition>,
    closed: AtomicBool,
    /// [`has_matched`](Self::has_matched) has returned `true`.
    has_matched: AtomicBool,
    ending: Arc<Ending>,
}

impl<E: Endpoint> EndpointCore<E> {
    pub(crate) fn new(new: NewEndpoint<E>, actor: E::Actor) -> Self {
        let core = Arc::clone(new.participant.core());
        Self {
            cell: Cell::new(actor, Capacity::default(), Arc::clone(core.driver().run_queue())),
            core,
            participant: new.participant,
            subject: new.subject,
            type_name: new.type_name,
            sample_type: new.sample_type,
            types: new.types,
            qos: LiveQos::new(new.qos),
            group: new.group,
            topic: new.topic,
            span: new.span,
            enabled: OnceLock::new(),
            enabling: Mutex::default(),
            listener: ListenerPlace::default(),
            delivery: new.delivery,
            data_tags: new.data_tags,
            status_condition: OnceLock::new(),
            closed: AtomicBool::new(false),
            has_matched: AtomicBool::new(false),
            ending: Ending::new(),
        }
    }

    /// The participant, with the requests of this kind of endpoint.
    pub(crate) fn participant(&self) -> &Arc<E::Context> {
        &self.participant
    }

    pub(crate) fn core(&self) -> &Arc<ParticipantCore> {
        &self.core
    }

    pub(crate) fn cell(&self) -> &Arc<Cell<E::Actor>> {
        &self.cell
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    pub(crate) fn topic_name(&self) -> &str {
        &self.subject.topic
    }

    pub(crate) fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Returns whether `T` is the Rust type of the samples.
    pub(crate) fn is_of<T: 'static>(&self) -> bool {
        self.sample_type == TypeId::of::<T>()
    }

    /// Announced description of the type. `None` announces only its name.
    pub(crate) fn types(&self) -> Option<&Arc<TypeGraph>> {
        self.types.as_ref()
    }

    pub(crate) fn qos(&self) -> &LiveQos<E::Qos> {
        &self.qos
    }

    fn change_qos(&self, qos: E::Qos) -> Result<(), QosErrorKind> {
        self.qos.change(qos, E::Qos::check_change, E::Qos::check)
    }

    /// Publisher or subscriber of the endpoint. `None` means the implicit one.
    pub(crate) fn group(&self) -> Option<&Arc<EndpointGroup<E>>> {
        self.group.as_ref()
    }

    /// Names and values, on which permissions decide.
    pub(crate) fn data_tags(&self) -> &DataTags {
        &self.data_tags
    }

    /// Topic that the endpoint was created with. `None` if it was created by a topic name.
    pub(crate) fn topic(&self) -> Option<&Arc<TopicHandle>> {
        self.topic.as_ref()
    }

    /// Version of the announced data. It grows with each change.
    pub(crate) fn version(&self) -> u64 {
        let mut version = self.qos.version();
        // Each part only grows, so that the sum grows whenever one of them changes.
        if let Some(group) = &self.group {
            version += group.version();
        }
        if let Some(topic) = &self.topic {
            version += topic.version();
        }
        version
    }

    pub(crate) fn span(&self) -> &tracing::Span {
        &self.span
    }

    /// Values that were fixed when the endpoint was enabled. `None` before that.
    #[inline]
    pub(crate) fn enabled(&self) -> Option<&E::Enabled> {
        self.enabled.get()
    }

    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.get().is_some()
    }

    /// Returns whether the creation enables the endpoint.
    pub(crate) fn is_autoenabled(&self) -> bool {
        match &self.group {
            Some(group) => group.autoenables(),
            None => self.core.autoenables(),
        }
    }

    pub(crate) fn listener(&self) -> &ListenerPlace {
        &self.listener
    }

    /// The thread that calls the listener.
    pub(crate) fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// Returns the only status condition of the endpoint. The first call creates it.
    pub(crate) fn status_condition(&self) -> &StatusCondition {
        self.status_condition.get_or_init(|| StatusCondition::new(self.guid(), Arc::clone(&self.cell) as _))
    }

    pub(crate) fn is_closed(&self) -> bool {
        // A panic in a handler closes the cell, and nothing else.
        self.closed.load(Ordering::Acquire) || self.cell.is_closed()
    }

    /// Begins to close the endpoint. Returns `false` if there is nothing to do.
    pub(crate) fn begin_close(&self) -> bool {
        if self.closed.swap(true, Ordering::AcqRel) {
            return false;
        }
        // The parent process announces the disposal. A forked child only drops its memory.
        !self.core.is_forked()
    }

    pub(crate) fn ending(&self) -> &Arc<Ending> {
        &self.ending
    }

    /// Returns the matched endpoints. Empty for a closed endpoint.
    pub(crate) fn matched_peers(&self) -> Vec<Guid> {
        self.visit(|actor, _| actor.endpoint().peers().to_vec()).unwrap_or_default()
    }

    /// Returns whether an earlier call has found a match, or this one does.
    pub(crate) fn has_matched(&self) -> bool {
        // Only a yes is stored, so the visit is made until the first match.
        if self.has_matched.load(Ordering::Relaxed) {
            return true;
        }
        let has_matched = !self.matched_peers().is_empty();
        self.has_matched.store(has_matched, Ordering::Relaxed);
        has_matched
    }

    /// Reads a status, which then no longer counts as changed.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn read_status<R>(&self, mark: u32, read: impl FnOnce(&mut E::Actor) -> R) -> Result<R, EnterError> {
        self.visit(|actor, _| {
            actor.endpoint().notifier.observers().status_read(mark);
            read(actor)
        })
    }

    /// Runs `visit` in the cell of an open endpoint, and its effects afterward.
    ///
    /// For calls that no sample takes: all of them share one copy of the code that enters the cell.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn visit<R>(&self, visit: impl FnOnce(&mut E::Actor, &mut Effects) -> R) -> Result<R, EnterError> {
        let visited = self.cell.visit(|actor, effects| {
            // Checked inside of the cell, so that no thread starts to wait after `close` has woken all waiters.
            if actor.is_open() { Some(visit(actor, effects)) } else { None }
        });
        visited?.ok_or(EnterError::Closed)
    }

    /// As [`visit`](Self::visit), but also reaches a closed endpoint that still has its state.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn visit_cell<R>(&self, visit: impl FnOnce(&mut E::Actor, &mut Effects) -> R) -> Result<R, EnterError> {
        self.cell.visit(visit)
    }

    /// As [`visit`](Self::visit), with its own copy of the code for each caller. For the path of a sample.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn visit_inlined<R>(
        &self,
        visit: impl FnOnce(&mut E::Actor, &mut Effects) -> R,
    ) -> Result<R, EnterError> {
        let caller = Caller::here();
        let visited = Effects::scope(|effects| {
            self.cell.with_from(caller, effects, |actor, effects| {
                // Checked inside of the cell, as in `visit`.
                if actor.is_open() { Some(visit(actor, effects)) } else { None }
            })
        });
        visited?.ok_or(EnterError::Closed)
    }
}

macro_rules! endpoint_qos {
    ($($qos:ident)*) => {$(
        impl EndpointPolicies for $qos {
            fn check(&self) -> Result<(), QosErrorKind> {
                $qos::check(self)
            }

            fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
                $qos::check_change(self, new)
            }
        }
    )*};
}

endpoint_qos!(DataReaderQos DataWriterQos);
