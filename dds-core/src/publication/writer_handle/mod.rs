//! State that all handles of one writer share, without the type of its samples.
//!
//! - `mod`: creation, enabling, QoS, statuses and the end.
//! - `write`: the paths of a write.

mod write;

use crate::context::GroupedEndpoint;
use crate::endpoint::{AnyEndpoint, Endpoint, EndpointActor, EndpointCore, enable};
use crate::infrastructure::{
    Awaited, CountStatus, CreateErrorKind, DeadlineMissedStatus, IncompatibleQosStatus, Missing, PeerStatus,
    WriteError, WriteErrorKind, mark,
};
use crate::publication::PublicationContext;
use crate::publication::builder::{Behavior, writer_protocol};
use crate::publication::encoder::SampleEncoder;
use crate::publication::loan::Loans;
use crate::publication::writer_actor::WriterActor;
use crate::qos::{DataWriterQos, Durability, Presentation, PublisherQos};
use dds_rtps::cdr::{AnyType, Encoding};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::KeyPayload;
use dds_rtps::types::{InstanceHandle, LatencyHistogram, SequenceNumber};
use dds_rtps::writer::{EndedSet, PresentationClock, WriterCounters};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
pub(crate) use write::WriteAttempt;

/// State that all handles of one writer share. Dropping the last handle deletes the writer.
pub(crate) struct WriterHandle {
    endpoint: EndpointCore<Self>,
    encoder: SampleEncoder,
    loans: Loans,
    behavior: Behavior,
    /// Time of the last warning about a reader that held up a write, in nanoseconds; 0 before the first.
    warned_at: AtomicU64,
    /// Creates a typed handle, for listeners that do not know the type.
    lend: fn(Arc<Self>) -> Box<dyn AnyEndpoint>,
}

impl WriterHandle {
    pub(super) fn new(
        endpoint: EndpointCore<Self>,
        encoder: SampleEncoder,
        behavior: Behavior,
        lend: fn(Arc<Self>) -> Box<dyn AnyEndpoint>,
    ) -> Arc<Self> {
        Arc::new(Self { endpoint, encoder, loans: Loans::default(), behavior, warned_at: AtomicU64::new(0), lend })
    }

    /// Type of the samples. `None` for raw topics.
    pub(super) fn ty(&self) -> Option<&AnyType> {
        self.encoder.ty()
    }

    pub(super) fn encoder(&self) -> &SampleEncoder {
        &self.encoder
    }

    pub(super) fn loans(&self) -> &Loans {
        &self.loans
    }

    /// Returns a typed handle for the duration of a listener's call.
    pub(super) fn lend_typed(self: &Arc<Self>) -> Box<dyn AnyEndpoint> {
        (self.lend)(Arc::clone(self))
    }

    /// Returns the encoding of the samples.
    ///
    /// # Errors
    /// The writer is not enabled yet.
    #[inline]
    pub(crate) fn encoding(&self) -> Result<Encoding, WriteErrorKind> {
        match self.endpoint.enabled() {
            Some(encoding) => Ok(*encoding),
            None => Err(self.not_enabled()),
        }
    }

    #[cold]
    fn not_enabled(&self) -> WriteErrorKind {
        if self.is_closed() { WriteErrorKind::Closed } else { WriteErrorKind::NotEnabled }
    }

    pub(crate) fn write_error(&self, kind: impl Into<WriteErrorKind>) -> WriteError {
        WriteError::new(self.subject(), kind.into())
    }

    /// Adds the writer to the error of a result.
    #[inline]
    pub(super) fn write_result<R>(&self, result: Result<R, impl Into<WriteErrorKind>>) -> Result<R, WriteError> {
        match result {
            Ok(value) => Ok(value),
            Err(kind) => Err(self.write_error(kind)),
        }
    }

    /// Reads a status, which then no longer counts as changed. A closed entity has an empty one.
    #[cfg_attr(debug_assertions, track_caller)]
    fn status<R: Default>(&self, mark: u32, read: impl FnOnce(&mut WriterActor) -> R) -> R {
        self.read_status(mark, read).unwrap_or_default()
    }

    pub(super) fn publication_matched(&self) -> PeerStatus {
        self.status(mark::MATCHED, |actor| actor.endpoint().matched().read())
    }

    pub(super) fn offered_incompatible_qos(&self) -> IncompatibleQosStatus {
        self.status(mark::INCOMPATIBLE_QOS, |actor| actor.endpoint().incompatible().read())
    }

    pub(super) fn slow_readers(&self) -> PeerStatus {
        self.status(mark::SLOW_READER, |actor| actor.slow_readers().read())
    }

    pub(super) fn liveliness_lost(&self) -> CountStatus {
        self.status(mark::LIVELINESS_LOST, WriterActor::read_liveliness_lost)
    }

    pub(super) fn offered_deadline_missed(&self) -> DeadlineMissedStatus {
        self.status(mark::DEADLINE_MISSED, |actor| actor.endpoint().deadlines().read())
    }

    pub(super) fn counters(&self) -> WriterCounters {
        self.visit(|actor, _| actor.rtps().counters()).unwrap_or_default()
    }

    pub(super) fn acknowledgment_latency(&self) -> LatencyHistogram {
        self.visit(|actor, _| actor.rtps().acknowledgment_latency().clone()).unwrap_or_default()
    }

    pub(super) fn assert_liveliness(&self) -> Result<(), WriteError> {
        self.write_result(self.encoding())?;
        self.write_result(self.visit(WriterActor::assert_liveliness))
    }

    pub(super) fn register(&self, instance: InstanceHandle, key: &Payload) -> Result<InstanceHandle, WriteErrorKind> {
        match self.visit(|actor, _| actor.rtps_mut().register_instance(instance, key))? {
            Ok(()) => Ok(instance),
            Err(refused) => Err(self.refusal(refused)),
        }
    }

    /// Returns whether the instance is registered. A closed writer has no instances.
    pub(super) fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.visit(|actor, _| actor.rtps().is_registered(instance)).unwrap_or(false)
    }

    /// Payload from which the key of a registered instance can be decoded.
    pub(super) fn instance_key(&self, instance: InstanceHandle) -> Option<KeyPayload> {
        self.visit(|actor, _| actor.rtps().instance_key_payload(instance).cloned()).ok()?
    }

    /// Sequence number of the newest change. Zero for a closed writer, which no caller can wait for.
    pub(super) fn last_sequence_number(&self) -> SequenceNumber {
        self.visit(|actor, _| actor.last_sequence_number()).unwrap_or(SequenceNumber::ZERO)
    }

    /// Removes changes from the history that need not be kept any more.
    pub(crate) fn withdraw(&self, numbers: &[SequenceNumber]) -> Result<(), WriteError> {
        self.write_result(self.visit(|actor, effects| actor.withdraw(numbers, effects)))
    }

    /// Sends the samples that were held back while the publisher was suspended.
    pub(super) fn send_held(&self) {
        // Ignore the error, because a closed writer has sent everything.
        let _ = self.visit(WriterActor::send_held);
    }

    /// Ends a coherent set of the publisher.
    pub(super) fn end_set(&self, ended: EndedSet) -> Result<(), WriteErrorKind> {
        // Readers show the set once they know its end, so the end must not wait for a later write.
        let flushed = self.visit(|actor, effects| actor.end_set(ended, effects))?;
        self.send_rest(flushed, false)
    }

    /// Closes the writer.
    ///
    /// The participant keeps a reliable writer with matched readers until they have acknowledged its samples.
    pub(crate) fn close(&self) {
        if !self.begin_close() {
            return;
        }
        let id = self.guid().entity_id;
        self.warn_of_unkept_samples();
        // The writer leaves the sets of its publisher, which must not wait for it.
        if let Some(group) = self.group() {
            if let Some(clock) = group.presented() {
                clock.remove(id);
            }
        }
        self.participant().remove_entity(id);
        self.listener().close();
        self.ending().close();
        // Ignore the error, because a failed writer has no observers.
        let _ = self.visit_cell(WriterActor::close);
        self.participant().release_topic(self.topic_name());
        // The participant closes the cell once the readers have acknowledged the samples.
        self.participant().drain(id, Arc::clone(self.cell()));
        tracing::debug!(parent: self.span(), "writer closed");
    }

    /// Warns if samples end with the writer although its QoS offers to keep them.
    ///
    /// DDS makes the durability service optional, so there may be none. The caller must call this before the writer is
    /// closed.
    fn warn_of_unkept_samples(&self) {
        // Only TRANSIENT and PERSISTENT promise samples that outlive their writer (DDS 1.4, 2.2.3.4).
        let durability = self.qos().read(|qos| qos.durability);
        if durability <= Durability::TransientLocal || self.core().config().is_durability_service() {
            return;
        }
        let state = self.visit(|actor, _| (actor.endpoint().peers().to_vec(), actor.rtps().history_len()));
        let Ok((readers, kept)) = state else { return };
        if kept == 0 {
            // Nothing is lost, so there is nothing to warn of.
            return;
        }
        let services = self.participant().durability_services();
        if readers.iter().any(|reader| services.contains(&reader.prefix)) {
            // A service has matched, so it keeps the samples.
            return;
        }
        tracing::warn!(
            parent: self.span(),
            ?durability,
            kept,
            "its samples end with this writer: no durability service has matched it"
        );
    }
}

impl Deref for WriterHandle {
    type Target = EndpointCore<Self>;

    #[inline]
    fn deref(&self) -> &EndpointCore<Self> {
        &self.endpoint
    }
}

impl Endpoint for WriterHandle {
    type Actor = WriterActor;
    /// Encoding that follows from the QoS.
    type Enabled = Encoding;

    const LISTENER: &'static str = "writer listener";
    const GROUP_LISTENER: &'static str = "publisher listener";

    fn enter(self: &Arc<Self>) -> Result<(), CreateErrorKind> {
        self.participant().enter_writer(self)
    }

    fn fix_qos(&self) -> Encoding {
        let has_changed = self.qos().settle();
        let qos = self.qos().fixed();
        let group = self.group();
        let (protocol, encoding) = writer_protocol(self.core(), self.subject(), self.ty(), qos, self.behavior, group);
        // Immutable policies are built into the protocol's state for speed, so a changed QoS needs a new state.
        // PRESENTATION of the publisher may have changed since the creation.
        if has_changed || group.is_some_and(|group| group.version() > 0) {
            // No caller has used the initial protocol writer. Ignore the error, because a closed writer needs no
            // replacement.
            let old = self.visit_cell(|actor, _| actor.replace_protocol(protocol, qos));
            drop(old);
        }
        encoding
    }

    fn announce(&self) -> Result<(), CreateErrorKind> {
        self.participant().announce_writer(self)
    }

    fn apply_qos(&self) {
        // Ignore the error, because a closed writer keeps its QoS. The QoS is read inside of the cell, so that the last
        // of two concurrent changes applies.
        let _ = self.visit(|actor, effects| {
            let budget = self.qos().read(|qos| {
                actor.set_qos(qos, effects);
                qos.latency_budget
            });
            actor.set_batch_window(self.behavior.batching.unwrap_or(budget), effects);
        });
    }

    fn missing_of_matched(&self, awaited: Awaited, matched: usize) -> Missing {
        match awaited {
            Awaited::Acknowledged(_) => Missing::Acknowledgment { readers: matched },
            Awaited::Matched(wanted) => Missing::Matches { matched, wanted },
            _ => Missing::Event,
        }
    }

    fn warn_of_wait(awaited: Awaited, matched: usize, why: &str) {
        tracing::warn!(?awaited, matched_readers = matched, "still waiting; {why}");
    }
}

impl GroupedEndpoint for WriterHandle {
    type Qos = DataWriterQos;
    type GroupQos = PublisherQos;
    type Context = dyn PublicationContext;
    type Presented = PresentationClock;
    /// Number of active suspensions of the publisher.
    type Common = Arc<AtomicUsize>;

    fn presented(presentation: Presentation) -> Option<Arc<PresentationClock>> {
        PresentationClock::new(presentation)
    }

    fn close(&self) {
        Self::close(self);
    }

    fn announce_again(&self) {
        if self.is_enabled() {
            self.participant().update_writer(self);
        }
    }

    fn enable(&self) -> Result<(), CreateErrorKind> {
        enable(self)
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        self.close();
    }
}
