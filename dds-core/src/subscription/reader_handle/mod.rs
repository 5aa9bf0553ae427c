//! State that all handles of one reader share, without the type of its samples.
//!
//! - `mod`: creation, enabling, QoS, statuses and the end.
//! - `select`: samples, instances, and waits for samples.

mod select;

use crate::actor::close_cell;
use crate::context::GroupedEndpoint;
use crate::endpoint::{AnyEndpoint, Endpoint, EndpointActor, EndpointCore, enable};
use crate::infrastructure::{
    Awaited, CountStatus, CreateErrorKind, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    Missing, PeerStatus, ReadError, ReadErrorKind, SampleRejectedStatus, StatusMask, mark,
};
use crate::qos::{DataReaderQos, Presentation, SubscriberQos};
use crate::subscription::builder::reader_protocol;
use crate::subscription::group_access::GroupMembership;
use crate::subscription::losses::LossContext;
use crate::subscription::reader_actor::ReaderActor;
use crate::subscription::samples::BatchPool;
use crate::subscription::{DataOnReaders, GroupAccess, ReaderLosses, SubscriptionContext};
use crate::topic::{BuiltinKind, FilteredReader, FilteredTopic};
use dds_rtps::cdr::AnyType;
use dds_rtps::history::ReaderLatencies;
use dds_rtps::reader::{KeySource, Losses, ReaderCounters};
use dds_rtps::types::Guid;
pub(crate) use select::wait_error;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

/// State that all handles of one reader share. Dropping the last handle deletes the reader.
pub(crate) struct ReaderHandle {
    endpoint: EndpointCore<Self>,
    source: SampleSource,
    batches: Arc<BatchPool>,
    forms: TypedForms,
    /// The log line about replaced unread samples is written.
    has_told_of_replaced: AtomicBool,
}

/// Origin and type of the samples of a reader.
pub(super) struct SampleSource {
    /// Source of the keys of the samples.
    pub(super) key: KeySource,
    /// The type. `None` if filters cannot find its members.
    pub(super) filterable: Option<AnyType>,
    /// Content-filtered topic of the reader.
    pub(super) filtered: Option<Arc<FilteredTopic>>,
    /// Kind of the built-in topic, for a reader of one.
    pub(super) builtin: Option<BuiltinKind>,
    /// Whether a writer matches only once it knows the reader.
    pub(super) awaits_writers: bool,
}

/// Functions that create typed handles, for callers that do not know the type.
pub(super) struct TypedForms {
    /// Creates a handle of the application.
    pub(super) erase: fn(Arc<ReaderHandle>) -> Box<dyn AnyEndpoint>,
    /// Lends a handle to a listener.
    pub(super) lend: fn(Arc<ReaderHandle>) -> Box<dyn AnyEndpoint>,
}

impl ReaderHandle {
    pub(super) fn new(
        endpoint: EndpointCore<Self>,
        source: SampleSource,
        batches: BatchPool,
        forms: TypedForms,
    ) -> Arc<Self> {
        Arc::new_cyclic(|reader| {
            // The batches find a key that a sample lacks through the reader.
            let batches = Arc::new(batches.of_reader(Weak::clone(reader)));
            Self { endpoint, source, batches, forms, has_told_of_replaced: AtomicBool::new(false) }
        })
    }

    /// Version of the announced data, with that of the filter. It grows with each change.
    pub(crate) fn version(&self) -> u64 {
        let version = self.endpoint.version();
        match self.filtered() {
            Some(filtered) => version + filtered.version(),
            None => version,
        }
    }

    /// Content-filtered topic of the reader, if any.
    pub(crate) fn filtered(&self) -> Option<&Arc<FilteredTopic>> {
        self.source.filtered.as_ref()
    }

    /// The type, if filters can find its members.
    pub(super) fn filterable(&self) -> Option<&AnyType> {
        self.source.filterable.as_ref()
    }

    #[inline]
    pub(crate) fn batches(&self) -> &Arc<BatchPool> {
        &self.batches
    }

    /// Returns a typed handle of the application.
    pub(super) fn erase_type(self: &Arc<Self>) -> Box<dyn AnyEndpoint> {
        (self.forms.erase)(Arc::clone(self))
    }

    /// Returns a typed handle for the duration of a listener's call.
    pub(super) fn lend_typed(self: &Arc<Self>) -> Box<dyn AnyEndpoint> {
        (self.forms.lend)(Arc::clone(self))
    }

    #[cold]
    pub(crate) fn read_error(&self, kind: impl Into<ReadErrorKind>) -> ReadError {
        ReadError::new(self.subject(), kind.into())
    }

    /// Adds the reader to the error of a result.
    #[inline]
    fn read_result<R>(&self, result: Result<R, impl Into<ReadErrorKind>>) -> Result<R, ReadError> {
        match result {
            Ok(value) => Ok(value),
            Err(kind) => Err(self.read_error(kind)),
        }
    }

    /// Reads a status, which then no longer counts as changed. A closed entity has an empty one.
    #[cfg_attr(debug_assertions, track_caller)]
    fn status<R: Default>(&self, mark: u32, read: impl FnOnce(&mut ReaderActor) -> R) -> R {
        self.read_status(mark, read).unwrap_or_default()
    }

    pub(super) fn subscription_matched(&self) -> PeerStatus {
        self.status(mark::MATCHED, |actor| actor.endpoint().matched().read())
    }

    pub(super) fn requested_incompatible_qos(&self) -> IncompatibleQosStatus {
        self.status(mark::INCOMPATIBLE_QOS, |actor| actor.endpoint().incompatible().read())
    }

    pub(super) fn sample_lost(&self) -> CountStatus {
        self.status(mark::SAMPLE_LOST, |actor| actor.statuses().read_lost())
    }

    pub(super) fn sample_rejected(&self) -> SampleRejectedStatus {
        self.status(mark::SAMPLE_REJECTED, |actor| actor.statuses().read_rejected())
    }

    pub(super) fn liveliness_changed(&self) -> LivelinessChangedStatus {
        self.status(mark::LIVELINESS_CHANGED, |actor| {
            let counts = actor.rtps().liveliness();
            actor.statuses().read_liveliness(counts)
        })
    }

    pub(super) fn is_writer_alive(&self, writer: Guid) -> Option<bool> {
        self.visit(|actor, _| actor.rtps().is_writer_alive(writer)).ok().flatten()
    }

    pub(super) fn requested_deadline_missed(&self) -> DeadlineMissedStatus {
        self.status(mark::DEADLINE_MISSED, |actor| actor.endpoint().deadlines().read())
    }

    pub(super) fn losses(&self) -> ReaderLosses {
        let visited =
            self.visit(|actor, _| (actor.losses(), actor.rtps().history().counters().from_future, actor.created_at()));
        // After the visit, so that the interval covers all that it has counted.
        let now = self.core().driver().now().time;
        // A closed reader has an empty ledger.
        let (losses, from_future, since) = visited.unwrap_or((Losses::default(), 0, now));
        let context = LossContext {
            from_future,
            socket_dropped: self.core().network().dropped(),
            receive_buffer: self.core().network().receive_buffer_granted(),
            inbox_dropped: self.participant().inbox_dropped(),
            since,
            until: now,
        };
        ReaderLosses::new(losses, context)
    }

    pub(super) fn latencies(&self) -> ReaderLatencies {
        self.visit(|actor, _| actor.rtps().history().latencies().clone()).unwrap_or_default()
    }

    pub(super) fn counters(&self) -> ReaderCounters {
        self.visit(|actor, _| actor.rtps().counters()).unwrap_or_default()
    }

    /// Notifies the listener if data arrived since the last read.
    pub(super) fn notify_of_data(&self) {
        // Ignore the error, because a closed reader has no data.
        let _ = self.visit(ReaderActor::notify_of_data);
    }

    /// Notifies the listener if samples remain, also if none arrived since the last read.
    pub(super) fn notify_of_rest(&self) {
        // Ignore the error, because a closed reader has no data.
        let _ = self.visit(ReaderActor::notify_of_rest);
    }

    /// Joins the gate of the subscriber, if it presents its readers together.
    fn join_group(&self) -> Option<Arc<GroupAccess>> {
        let access = self.group()?.presented()?;
        access.add_reader(self.guid().entity_id, Arc::downgrade(self.cell()));
        // Ignore the error, because a closed reader needs no membership.
        let _ = self.visit(|actor, _| actor.set_membership(GroupMembership::new(Arc::clone(&access))));
        Some(access)
    }

    /// Leaves the gate of the subscriber, which no longer waits for the changes of this reader.
    fn leave_group(&self) {
        let (Some(Some(access)), Some(group)) = (self.enabled(), self.group()) else { return };
        access.remove_reader(self.guid().entity_id);
        // The gate may have waited for a change of this reader, and lets the others pass now.
        for reader in group.members() {
            reader.pass_group_gate();
        }
    }

    /// Moves the changes that the gate of the subscriber has released.
    pub(super) fn pass_group_gate(&self) {
        // Ignore the error, because a closed reader shows no samples.
        let _ = self.visit(ReaderActor::pass_group_gate);
    }

    pub(crate) fn close(&self) {
        if !self.begin_close() {
            return;
        }
        let id = self.guid().entity_id;
        self.participant().remove_entity(id);
        // Before the unmatch, so that the writers of the reader do not count as having left.
        self.leave_group();
        self.participant().delete_reader(id, self.topic_name());
        // After the routes forget the reader, so that no datagram finds a closed cell.
        close_cell(self.cell());
        self.listener().close();
        self.ending().close();
        tracing::debug!(parent: self.span(), "reader closed");
    }
}

impl Deref for ReaderHandle {
    type Target = EndpointCore<Self>;

    #[inline]
    fn deref(&self) -> &EndpointCore<Self> {
        &self.endpoint
    }
}

impl Endpoint for ReaderHandle {
    type Actor = ReaderActor;
    /// Gate that the readers of a subscriber with PRESENTATION scope GROUP share.
    type Enabled = Option<Arc<GroupAccess>>;

    const LISTENER: &'static str = "reader listener";
    const GROUP_LISTENER: &'static str = "subscriber listener";

    fn enter(self: &Arc<Self>) -> Result<(), CreateErrorKind> {
        self.participant().enter_reader(self)?;
        if let Some(filtered) = self.filtered() {
            filtered.add_reader(&(Arc::clone(self) as Arc<dyn FilteredReader>));
        }
        Ok(())
    }

    fn fix_qos(&self) -> Option<Arc<GroupAccess>> {
        let group = self.group();
        // Immutable policies are built into the protocol's state for speed, so a changed QoS needs a new state.
        // PRESENTATION of the subscriber may have changed since the creation.
        let has_changed = self.qos().settle();
        if has_changed || group.is_some_and(|group| group.version() > 0) {
            let protocol = reader_protocol(self.core(), self.guid(), &self.source, self.qos().fixed(), group);
            // No caller has used the initial protocol reader. Ignore the error, because a closed reader needs no
            // replacement.
            let old = self.visit_cell(|actor, _| {
                let old = actor.replace_protocol(protocol);
                if let Some(filtered) = self.filtered() {
                    actor.set_filter(filtered.filter());
                }
                old
            });
            drop(old);
        }
        self.join_group()
    }

    fn announce(&self) -> Result<(), CreateErrorKind> {
        // Callers that wait in the cell have seen the reader disabled. Ignore the error, because a closed reader has no
        // waiters.
        let _ = self.visit(ReaderActor::note_enabled);
        match self.source.builtin {
            Some(kind) => self.participant().add_builtin_reader(self, kind),
            None => self.participant().announce_reader(self),
        }
    }

    fn apply_qos(&self) {
        // Ignore the error, because a closed reader keeps its QoS. The QoS is read inside of the cell, so that the last
        // of two concurrent changes applies.
        let _ = self.visit(|actor, effects| actor.set_timing(self.qos().read(|qos| qos.into()), effects));
    }

    fn missing_of_matched(&self, awaited: Awaited, matched: usize) -> Missing {
        match awaited {
            Awaited::Matched(wanted) => Missing::Matches { matched, wanted },
            _ => {
                let received = self.counters().accepted;
                Missing::Sample { writers: matched, received }
            }
        }
    }

    fn warn_of_wait(awaited: Awaited, matched: usize, why: &str) {
        tracing::warn!(?awaited, matched_writers = matched, "still waiting; {why}");
    }

    fn level_masks(&self) -> [StatusMask; 3] {
        // DATA_ON_READERS exists only for a subscriber that the application created.
        let top = if self.group().is_some() { StatusMask::ALL } else { !StatusMask::DATA_ON_READERS };
        [!StatusMask::DATA_ON_READERS, StatusMask::ALL, top]
    }
}

impl GroupedEndpoint for ReaderHandle {
    type Qos = DataReaderQos;
    type GroupQos = SubscriberQos;
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
            self.participant().update_reader(self);
        }
    }

    fn enable(&self) -> Result<(), CreateErrorKind> {
        enable(self)
    }
}

impl FilteredReader for ReaderHandle {
    fn follow_filter(&self, topic: &FilteredTopic) {
        // Ignore the error, because a closed reader keeps its filter. The filter is read inside of the cell, so that
        // the last of two concurrent changes applies.
        let _ = self.visit_cell(|actor, _| actor.set_filter(topic.filter()));
        self.announce_again();
    }
}

impl Drop for ReaderHandle {
    fn drop(&mut self) {
        self.close();
    }
}
