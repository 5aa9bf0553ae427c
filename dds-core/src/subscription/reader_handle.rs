//! State that all handles of one reader share, without the type of its samples.

use crate::actor::{Caller, Effects, EnterError, Ticket, close_cell};
use crate::cdr::TypeDescription;
use crate::context::{ListenerPlace, Member, ParticipantCore};
use crate::driver::Driver;
use crate::infrastructure::{
    Awaited, CreateErrorKind, DeadlineMissedStatus, Delivery, Ending, Events, IncompatibleQosStatus, ListenedEntity,
    LiveQos, LivelinessChangedStatus, QosError, ReadError, ReadErrorKind, SampleLostStatus, SampleRejectedStatus,
    StatusCondition, Subject, SubscriptionMatchedStatus, WaitErrorKind, WaitSource, mark,
};
use crate::qos::{DataReaderQos, Presentation};
use crate::subscription::losses::LossContext;
use crate::subscription::reader_actor::{ReaderActor, ReaderCell};
use crate::subscription::samples::BatchPool;
use crate::subscription::{
    AnyReader, DataOnReaders, GroupAccess, ReaderEvent, ReaderFeed, ReaderLosses, SubscriberGroup, SubscriptionContext,
};
use crate::topic::{BuiltinKind, FilteredReader, FilteredTopic, TopicHandle};
use dds_rtps::history::{HistorySample, KeyPayload, Operation, Selection, SelectionOrder, States};
use dds_rtps::reader::{KeySource, ReaderCounters};
use dds_rtps::types::{Guid, InstanceHandle};
use dds_rtps::xtypes::TypeGraph;
use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Poll, Waker};

/// State that all handles of one reader share. Dropping the last handle deletes the reader.
pub(crate) struct ReaderHandle {
    pub(super) participant: Arc<dyn SubscriptionContext>,
    pub(super) core: Arc<ParticipantCore>,
    pub(super) cell: Arc<ReaderCell>,
    pub(super) subject: Arc<Subject>,
    pub(super) type_name: String,
    /// Rust type of the samples.
    pub(super) sample_type: TypeId,
    pub(super) qos: LiveQos<DataReaderQos>,
    /// Source of the keys of the samples.
    pub(super) key: KeySource,
    /// Description of the type. `None` if it is unknown to this process.
    pub(super) description: Option<&'static TypeDescription>,
    /// Content-filtered topic of the reader.
    pub(super) filtered: Option<Arc<FilteredTopic>>,
    /// Announced description of the type. `None` announces only its name.
    pub(super) types: Option<Arc<TypeGraph>>,
    /// Kind of the built-in topic, for a reader of one.
    pub(super) builtin: Option<BuiltinKind>,
    pub(super) enabled: AtomicBool,
    pub(super) enabling: Mutex<()>,
    /// Gate that the readers of a subscriber with PRESENTATION scope GROUP share. Set when the reader is enabled.
    pub(super) access: OnceLock<Arc<GroupAccess>>,
    pub(super) group: Option<Arc<SubscriberGroup>>,
    /// Topic, if the reader was created from a [`Topic`](crate::Topic).
    pub(super) topic: Option<Arc<TopicHandle>>,
    pub(super) span: tracing::Span,
    pub(super) batches: Arc<BatchPool>,
    pub(super) listener: ListenerPlace,
    pub(super) delivery: Delivery,
    /// Creates a typed handle, for callers that do not know the type.
    pub(super) erase: fn(Arc<Self>) -> Box<dyn AnyReader>,
    /// As `erase`, but lends the handle to a listener.
    pub(super) lend: fn(Arc<Self>) -> Box<dyn AnyReader>,
    pub(super) status_condition: OnceLock<StatusCondition>,
    pub(super) closed: AtomicBool,
    pub(super) ending: Arc<Ending>,
}

impl ReaderHandle {
    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    pub(crate) fn cell(&self) -> &Arc<ReaderCell> {
        &self.cell
    }

    /// Announced description of the type.
    pub(crate) fn types(&self) -> Option<&Arc<TypeGraph>> {
        self.types.as_ref()
    }

    pub(crate) fn topic_name(&self) -> &str {
        &self.subject.topic
    }

    /// Subscriber of the reader. `None` means the implicit one.
    pub(crate) fn group(&self) -> Option<&Arc<SubscriberGroup>> {
        self.group.as_ref()
    }

    /// Version of the announced data. It grows with each change.
    pub(crate) fn version(&self) -> u64 {
        let group = self.group.as_ref().map_or(0, |group| group.version());
        let filter = self.filtered.as_ref().map_or(0, |filtered| filtered.version());
        self.qos.version() + group + self.topic.as_ref().map_or(0, |topic| topic.version()) + filter
    }

    /// Topic that the reader was created with. `None` if it was created by a topic name.
    pub(crate) fn topic(&self) -> Option<&Arc<TopicHandle>> {
        self.topic.as_ref()
    }

    /// Content-filtered topic of the reader, if any.
    pub(crate) fn filtered(&self) -> Option<&Arc<FilteredTopic>> {
        self.filtered.as_ref()
    }

    /// Description of the type, if it is known to this process.
    pub(super) fn description(&self) -> Option<&'static TypeDescription> {
        self.description
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// Returns whether `T` is the Rust type of the samples.
    pub(crate) fn is_of<T: 'static>(&self) -> bool {
        self.sample_type == TypeId::of::<T>()
    }

    pub(crate) fn type_name(&self) -> &str {
        &self.type_name
    }

    pub(crate) fn qos(&self) -> &LiveQos<DataReaderQos> {
        &self.qos
    }

    pub(crate) fn batches(&self) -> &Arc<BatchPool> {
        &self.batches
    }

    pub(crate) fn listener(&self) -> &ListenerPlace {
        &self.listener
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.cell.is_closed()
    }

    pub(crate) fn read_error(&self, kind: ReadErrorKind) -> ReadError {
        ReadError::new(&self.subject, kind)
    }

    /// Selects one sample, in the order of arrival.
    pub(crate) fn next_selection(states: States) -> Selection<'static> {
        Selection { samples_max: 1, order: SelectionOrder::ByArrival, states, ..Selection::default() }
    }

    /// Runs `visit` in the cell of the reader, and its effects afterward.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn visit<R>(&self, visit: impl FnOnce(&mut ReaderActor, &mut Effects) -> R) -> Result<R, ReadError> {
        let caller = Caller::here();
        Effects::scope(|effects| self.cell.with_from(caller, effects, visit)).map_err(|error| {
            self.read_error(match error {
                EnterError::Closed => ReadErrorKind::Closed,
                EnterError::Forked => ReadErrorKind::Forked,
                EnterError::Failed => ReadErrorKind::Internal { message: "a panic has closed the reader; see the log" },
                EnterError::Reentrant => ReadErrorKind::Internal { message: "called from inside a reader" },
            })
        })
    }

    /// Reads or takes into `list`.
    pub(crate) fn select_into(
        &self,
        selection: &Selection<'_>,
        operation: Operation,
        list: &mut Vec<HistorySample>,
    ) -> Result<(), ReadError> {
        if !self.is_enabled() {
            return Err(self.not_enabled());
        }
        if self.access.get().is_some_and(|access| !access.is_open()) {
            return Err(self.read_error(ReadErrorKind::OutsideAccess));
        }
        self.visit(|actor, effects| actor.select(selection, operation, list, effects))
    }

    #[cold]
    fn not_enabled(&self) -> ReadError {
        self.read_error(if self.is_closed() { ReadErrorKind::Closed } else { ReadErrorKind::NotEnabled })
    }

    /// Reads or takes into a list of the pool.
    pub(crate) fn select(
        &self,
        selection: &Selection<'_>,
        operation: Operation,
    ) -> Result<Vec<HistorySample>, ReadError> {
        let mut list = self.batches.list();
        self.select_into(selection, operation, &mut list).map(|()| list)
    }

    /// Returns whether the reader has samples in these states. A closed reader has none.
    pub(super) fn has_matching(&self, states: States) -> bool {
        let selection = Selection { states, ..Selection::default() };
        self.visit(|actor, effects| actor.has_matching(&selection, effects)).unwrap_or(false)
    }

    /// Returns whether the reader knows the instance. A closed reader knows none.
    pub(super) fn knows_instance(&self, instance: InstanceHandle) -> bool {
        self.visit(|actor, _| actor.rtps().history().knows_instance(instance)).unwrap_or(false)
    }

    /// Payload from which the key of an instance can be decoded.
    pub(super) fn instance_payload(&self, instance: InstanceHandle) -> Option<KeyPayload> {
        self.visit(|actor, _| actor.rtps().history().instance_key_payload(instance).cloned()).ok().flatten()
    }

    pub(crate) fn subscription_matched(&self) -> Result<SubscriptionMatchedStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::MATCHED);
            actor.matched().read_subscription()
        })
    }

    pub(crate) fn requested_incompatible_qos(&self) -> Result<IncompatibleQosStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::INCOMPATIBLE_QOS);
            actor.incompatible().read()
        })
    }

    pub(crate) fn sample_lost(&self) -> Result<SampleLostStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::SAMPLE_LOST);
            actor.read_lost()
        })
    }

    pub(crate) fn losses(&self) -> Result<ReaderLosses, ReadError> {
        let (losses, from_future, since) =
            self.visit(|actor, _| (actor.losses(), actor.rtps().history().counters().from_future, actor.created_at()))?;
        let context = LossContext {
            from_future,
            socket_dropped: self.core.network().dropped(),
            receive_buffer: self.core.network().receive_buffer_granted(),
            inbox_dropped: self.participant.inbox_dropped(),
            since,
            until: self.core.driver().now().time,
        };
        Ok(ReaderLosses::new(losses, context))
    }

    pub(crate) fn counters(&self) -> Result<ReaderCounters, ReadError> {
        self.visit(|actor, _| actor.rtps().counters())
    }

    pub(crate) fn sample_rejected(&self) -> Result<SampleRejectedStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::SAMPLE_REJECTED);
            actor.read_rejected()
        })
    }

    pub(crate) fn liveliness_changed(&self) -> Result<LivelinessChangedStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::LIVELINESS_CHANGED);
            actor.read_liveliness()
        })
    }

    pub(crate) fn requested_deadline_missed(&self) -> Result<DeadlineMissedStatus, ReadError> {
        self.visit(|actor, _| {
            actor.observers().status_read(mark::DEADLINE_MISSED);
            actor.deadlines().read()
        })
    }

    /// Notifies the listener if data arrived since the last read.
    pub(super) fn notify_of_data(&self) {
        // Ignore the error, because a closed reader has no data.
        let _ = self.visit(ReaderActor::notify_of_data);
    }

    pub(crate) fn set_qos(&self, qos: DataReaderQos) -> Result<(), QosError> {
        let error = |kind| QosError::new(&self.subject, kind);
        let mut qos = qos;
        if let Some(topic) = &self.topic {
            topic.narrow(&mut qos.representation).map_err(error)?;
        }
        // `enable` must not see the QoS change in the middle.
        let turn = (!self.is_enabled()).then(|| self.enabling.lock().unwrap_or_else(PoisonError::into_inner));
        self.qos.change(qos, DataReaderQos::check_change, DataReaderQos::check).map_err(error)?;
        drop(turn);
        if !self.is_enabled() {
            return Ok(());
        }
        // Ignore the error, because a closed reader keeps its QoS. The QoS is read inside of the cell, so that the last
        // of two concurrent changes applies.
        let _ = self.visit(|actor, effects| actor.set_timing(self.qos.read(|qos| qos.into()), effects));
        self.participant.update_reader(self);
        Ok(())
    }

    pub(crate) fn events(&self) -> Events<ReaderEvent> {
        let feed = Box::new(ReaderFeed::new(Arc::clone(&self.cell)));
        let driver = Arc::clone(self.core.driver());
        Events::new(feed, Arc::clone(&self.cell) as _, driver, Arc::clone(&self.subject))
    }

    /// Returns the matched writers. Empty for a closed reader.
    pub(crate) fn matched_writers(&self) -> Vec<Guid> {
        self.visit(|actor, _| actor.publications().to_vec()).unwrap_or_default()
    }

    pub(crate) fn participant(&self) -> &Arc<dyn SubscriptionContext> {
        &self.participant
    }

    /// Returns the only status condition of the reader. The first call creates it.
    pub(crate) fn status_condition(&self) -> &StatusCondition {
        self.status_condition.get_or_init(|| StatusCondition::new(self.guid(), Arc::clone(&self.cell) as _))
    }

    /// Returns whether the awaited event has happened, and registers the waker if not.
    pub(crate) fn poll_ready(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if !self.is_enabled() {
            return Poll::Ready(Err(wait_error(self.not_enabled().kind())));
        }
        let waker = waker.clone();
        match self.visit(|actor, effects| actor.wait(awaited, ticket, waker, effects)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(wait_error(error.kind()))),
        }
    }

    /// Returns whether the reader is enabled. Registers the waker if not, in the queue of waits for samples.
    pub(super) fn poll_enabled(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        if self.is_enabled() {
            return Poll::Ready(Ok(()));
        }
        let waker = waker.clone();
        // Checked again inside of the cell, where `enable` wakes the waiters.
        let enabled = self.visit(|actor, effects| {
            let is_enabled = self.is_enabled();
            if is_enabled {
                effects.discard(waker);
            } else {
                actor.wait_for_data(ticket, waker, effects);
            }
            is_enabled
        });
        match enabled {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(wait_error(error.kind()))),
        }
    }

    /// Returns whether these writers have delivered their history, and removes those that have.
    ///
    /// Registers the waker if a writer has not.
    pub(super) fn poll_history(
        &self,
        writers: &mut Vec<Guid>,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if !self.is_enabled() {
            return Poll::Ready(Err(wait_error(self.not_enabled().kind())));
        }
        let waker = waker.clone();
        match self.visit(|actor, effects| actor.wait_for_history(writers, ticket, waker, effects)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(wait_error(error.kind()))),
        }
    }

    pub(super) fn span(&self) -> &tracing::Span {
        &self.span
    }

    pub(crate) fn abandon_wait(&self, awaited: Awaited, ticket: Ticket) {
        // Ignore the error, because a closed reader has no waiters.
        let _ = self.visit(|actor, effects| actor.abandon(awaited, ticket, effects));
    }

    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        if self.core.is_forked() {
            // The parent process announces the disposal. A forked child only drops its memory.
            return;
        }
        self.participant.remove_entity(self.guid().entity_id);
        // This comes first, so that the writers of the reader do not count as having left.
        self.leave_group();
        self.participant.delete_reader(self.guid().entity_id, self.topic_name());
        close_cell(&self.cell);
        self.listener.close();
        self.ending.close();
        self.span.in_scope(|| tracing::debug!("reader closed"));
    }
}

/// Converts the error of a read into the error of a wait.
pub(super) fn wait_error(kind: &ReadErrorKind) -> WaitErrorKind {
    match kind {
        ReadErrorKind::Internal { message } => WaitErrorKind::Internal { message },
        ReadErrorKind::Forked => WaitErrorKind::Forked,
        ReadErrorKind::NotEnabled => WaitErrorKind::NotEnabled,
        ReadErrorKind::OutsideAccess => WaitErrorKind::OutsideAccess,
        _ => WaitErrorKind::Closed,
    }
}

impl WaitSource<()> for ReaderHandle {
    fn poll_wait(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        match awaited {
            Awaited::Closed => self.ending.poll(ticket, waker),
            _ => self.poll_ready(awaited, ticket, waker),
        }
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        match awaited {
            Awaited::Closed => self.ending.abandon(ticket),
            _ => self.abandon_wait(awaited, ticket),
        }
    }

    fn driver(&self) -> &dyn Driver {
        &**self.core.driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    fn complain(&self, awaited: Awaited) {
        if awaited == Awaited::Closed {
            return self
                .span
                .in_scope(|| tracing::warn!(?awaited, "still waiting for the reader to close; it is open"));
        }
        if !self.is_enabled() {
            return self.span.in_scope(|| tracing::warn!(?awaited, "still waiting; the reader is not enabled yet"));
        }
        let matched = self.matched_writers().len();
        let why = self.participant.why_waiting(self.guid());
        self.span.in_scope(|| tracing::warn!(?awaited, matched_writers = matched, "still waiting; {why}"));
    }
}

impl FilteredReader for ReaderHandle {
    fn follow_filter(&self, topic: &FilteredTopic) {
        // Ignore the error, because a closed reader keeps its filter. The filter is read inside of the cell, so that
        // the last of two concurrent changes applies.
        let _ = Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.set_filter(topic.filter())));
        if self.is_enabled() {
            self.participant.update_reader(self);
        }
    }
}

impl ListenedEntity for ReaderHandle {
    fn note_listener_panic(&self, message: &str) {
        // Ignore the error, because a closed reader has no events.
        let _ = self.visit(|actor, effects| actor.note_listener_panic(message, effects));
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Member for ReaderHandle {
    type Qos = DataReaderQos;
    type Context = dyn SubscriptionContext;
    type Presented = GroupAccess;
    type Common = OnceLock<Arc<DataOnReaders>>;

    fn presented(presentation: Presentation) -> Option<Arc<GroupAccess>> {
        let Presentation { coherent_access, ordered_access, .. } = presentation;
        if presentation.is_of_group() { Some(GroupAccess::new(coherent_access, ordered_access)) } else { None }
    }

    fn close(&self) {
        Self::close(self);
    }

    fn announce_again(&self) {
        if self.is_enabled() {
            self.participant.update_reader(self);
        }
    }

    fn enable(&self) -> Result<(), CreateErrorKind> {
        Self::enable(self)
    }
}

impl Drop for ReaderHandle {
    fn drop(&mut self) {
        self.close();
    }
}
