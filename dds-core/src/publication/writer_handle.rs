//! State that all handles of one writer share, without the type of its samples.

use crate::actor::{Caller, Effects, EnterError, Ticket, in_listener};
use crate::cdr::{AnyType, Encode, EncodeError, Encoding, KeyHasher, TypeInfo, encode_payload};
use crate::context::{ListenerPlace, Member, ParticipantCore};
use crate::driver::{Driver, Flushed, block_on, role};
use crate::infrastructure::{
    Awaited, CreateErrorKind, Delivery, Ending, Events, ListenedEntity, LiveQos, QosError, StatusCondition, Subject,
    WaitErrorKind, WaitSource, WriteError, WriteErrorKind,
};
use crate::publication::builder::Behaviour;
use crate::publication::loan::Loans;
use crate::publication::writer_actor::WriterActor;
use crate::publication::{AnyWriter, PublicationContext, PublisherGroup, WriterCell, WriterEvent, WriterFeed};
use crate::qos::{DataWriterQos, History, Presentation, Reliability};
use crate::topic::TopicHandle;
use dds_rtps::concurrent::{Payload, SlotRing};
use dds_rtps::history::KeyPayload;
use dds_rtps::types::{Duration, Guid, InstanceHandle, SequenceNumber};
use dds_rtps::writer::{NewChange, PresentationClock, ReaderLag, WriteRefused};
use dds_rtps::xtypes::TypeGraph;
use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

/// State that all handles of one writer share. Dropping the last handle deletes the writer.
pub(crate) struct WriterHandle {
    pub(super) participant: Arc<dyn PublicationContext>,
    pub(super) core: Arc<ParticipantCore>,
    pub(super) cell: Arc<WriterCell>,
    pub(super) subject: Arc<Subject>,
    pub(super) type_name: String,
    /// Rust type of the samples.
    pub(super) sample_type: TypeId,
    /// Type of the samples. `None` for raw topics, whose type is unknown.
    pub(super) ty: Option<AnyType>,
    /// Announced description of the type. `None` announces only its name.
    pub(crate) types: Option<Arc<TypeGraph>>,
    pub(super) qos: LiveQos<DataWriterQos>,
    pub(super) group: Option<Arc<PublisherGroup>>,
    /// Topic, if the writer was created from a [`Topic`](crate::Topic).
    pub(super) topic: Option<Arc<TopicHandle>>,
    /// Encoding that follows from the QoS. Set when the writer is enabled.
    pub(super) encoding: OnceLock<Encoding>,
    pub(super) enabling: Mutex<()>,
    pub(super) hasher: KeyHasher,
    pub(super) span: tracing::Span,
    /// Used by the thread that encodes. Other threads use temporary buffers.
    pub(super) encode_buffers: Mutex<EncodeBuffers>,
    pub(super) loans: Loans,
    pub(super) listener: ListenerPlace,
    pub(super) delivery: Delivery,
    pub(super) behaviour: Behaviour,
    /// Creates a typed handle, for listeners that do not know the type.
    pub(super) lend: fn(Arc<Self>) -> Box<dyn AnyWriter>,
    pub(super) status_condition: OnceLock<StatusCondition>,
    pub(super) closed: AtomicBool,
    pub(super) ending: Arc<Ending>,
}

/// Buffers that encoding a sample needs.
pub(super) struct EncodeBuffers {
    /// Slots for encoded samples. The history and the readers of this process share them.
    pub(super) slots: SlotRing,
    /// Buffer for keys that are encoded to be hashed.
    pub(super) scratch: Vec<u8>,
}

impl EncodeBuffers {
    /// Creates buffers that take their slots from `slots`.
    pub(super) const fn new(slots: SlotRing) -> Self {
        Self { slots, scratch: Vec::new() }
    }

    /// Encodes into a slot, outside of the cell, because the encoder may be user code.
    ///
    /// If `encode` fails or panics, the slot is free again.
    pub(super) fn encode<E>(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Payload, E> {
        self.slots.fill(encode)
    }
}

/// Result of one attempt to write.
pub(super) enum WriteAttempt {
    /// The change is written with this sequence number.
    Written(SequenceNumber, Flushed),
    Refused(WriteRefused),
    /// The caller waits in the queue for room.
    Waiting,
    /// The write was not tried, because an earlier large sample is still being sent.
    BehindLargeSample,
}

impl WriterHandle {
    pub(crate) fn guid(&self) -> Guid {
        self.subject.guid
    }

    pub(crate) fn cell(&self) -> &Arc<WriterCell> {
        &self.cell
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(crate) fn topic_name(&self) -> &str {
        &self.subject.topic
    }

    /// Publisher of the writer. `None` means the implicit one.
    pub(crate) fn group(&self) -> Option<&Arc<PublisherGroup>> {
        self.group.as_ref()
    }

    /// Version of the announced data. It grows with each change.
    pub(crate) fn version(&self) -> u64 {
        let group = self.group.as_ref().map_or(0, |group| group.version());
        self.qos.version() + group + self.topic.as_ref().map_or(0, |topic| topic.version())
    }

    /// Topic that the writer was created with. `None` if it was created by a topic name.
    pub(crate) fn topic(&self) -> Option<&Arc<TopicHandle>> {
        self.topic.as_ref()
    }

    /// Returns whether `T` is the Rust type of the samples.
    pub(super) fn is_of<T: 'static>(&self) -> bool {
        self.sample_type == TypeId::of::<T>()
    }

    pub(crate) fn type_name(&self) -> &str {
        &self.type_name
    }

    pub(crate) fn qos(&self) -> &LiveQos<DataWriterQos> {
        &self.qos
    }

    pub(crate) fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// Returns the encoding of the samples.
    ///
    /// # Errors
    /// The writer is not enabled yet.
    pub(crate) fn encoding(&self) -> Result<Encoding, WriteErrorKind> {
        self.encoding.get().copied().ok_or_else(|| self.not_enabled())
    }

    #[cold]
    fn not_enabled(&self) -> WriteErrorKind {
        if self.is_closed() { WriteErrorKind::Closed } else { WriteErrorKind::NotEnabled }
    }

    /// Calls `encode` with the buffers of the writer, or with temporary ones if these are in use.
    ///
    /// They are in use by another thread, or by an encoder of the application that writes a sample itself.
    pub(super) fn with_encode_buffers<R>(&self, encode: impl FnOnce(&mut EncodeBuffers) -> R) -> R {
        match self.encode_buffers.try_lock() {
            Ok(mut buffers) => encode(&mut buffers),
            // An encoder panicked, which freed its slot. The buffers stay usable.
            Err(TryLockError::Poisoned(buffers)) => encode(&mut buffers.into_inner()),
            Err(TryLockError::WouldBlock) => encode(&mut EncodeBuffers::new(SlotRing::new(0))),
        }
    }

    pub(crate) fn listener(&self) -> &ListenerPlace {
        &self.listener
    }

    /// Encodes a sample, outside of the cell, and computes its instance.
    pub(super) fn encode<S: Encode + TypeInfo>(&self, sample: &S) -> Result<NewChange, WriteErrorKind> {
        let encoding = self.encoding()?;
        // A value of a dynamic type may belong to another topic.
        if !sample.is_of(self.ty.as_ref()) {
            return Err(WriteErrorKind::Encode(EncodeError::OtherType));
        }
        self.with_encode_buffers(|buffers| {
            let instance = self.hasher.of_sample(sample, &mut buffers.scratch)?;
            let payload = buffers.encode(|buffer| encode_payload(sample, encoding, buffer))?;
            Ok(NewChange::alive(instance, payload))
        })
        .map_err(WriteErrorKind::Encode)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.cell.is_closed()
    }

    pub(crate) fn write_error(&self, kind: WriteErrorKind) -> WriteError {
        WriteError::new(&self.subject, kind)
    }

    /// Runs `visit` in the cell of the writer, and its effects afterward.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn visit<R>(
        &self,
        visit: impl FnOnce(&mut WriterActor, &mut Effects) -> R,
    ) -> Result<R, WriteErrorKind> {
        // The cell lives on after `close` until all samples are acknowledged. The check is inside of the cell, so that
        // no thread starts to wait after `close` has woken all waiters.
        let caller = Caller::here();
        let entered = Effects::scope(|effects| {
            let visit =
                |actor: &mut WriterActor, effects: &mut Effects| (!actor.is_closed()).then(|| visit(actor, effects));
            self.cell.with_from(caller, effects, visit)
        });
        match entered {
            Ok(Some(result)) => Ok(result),
            Ok(None) | Err(EnterError::Closed) => Err(WriteErrorKind::Closed),
            Err(EnterError::Forked) => Err(WriteErrorKind::Forked),
            Err(EnterError::Failed) => {
                Err(WriteErrorKind::Internal { message: "a panic has closed the writer; see the log" })
            }
            Err(EnterError::Reentrant) => Err(WriteErrorKind::Internal { message: "called from inside a writer" }),
        }
    }

    /// Publishes a change and returns its sequence number.
    ///
    /// If `may_wait` is true and the QoS allows it, the call waits for room in the history.
    pub(crate) fn publish(&self, mut change: NewChange, may_wait: bool) -> Result<SequenceNumber, WriteError> {
        // Evaluated only if there is a reason to wait.
        let may_wait = || may_wait && role().may_wait() && !in_listener();
        let attempt = self.attempt(&mut change, &mut None, None);
        debug_assert!(
            !matches!(attempt, Ok(WriteAttempt::Waiting | WriteAttempt::BehindLargeSample)),
            "an attempt without a waker never waits"
        );
        match attempt {
            Ok(WriteAttempt::Written(number, Flushed::Done)) => Ok(number),
            Ok(WriteAttempt::Written(number, flushed)) => {
                // Fragments wait for readers, because the kernel silently drops datagrams without buffer space.
                self.send_rest(flushed, may_wait()).map_err(|kind| self.write_error(kind))?;
                Ok(number)
            }
            Ok(WriteAttempt::Refused(WriteRefused::Full)) => match self.blocking_limit() {
                Some(limit) if may_wait() => self.publish_with_wait(&mut change, limit),
                _ => Err(self.write_error(self.refusal(WriteRefused::Full))),
            },
            Ok(WriteAttempt::Refused(refused)) => Err(self.write_error(self.refusal(refused))),
            Ok(WriteAttempt::Waiting | WriteAttempt::BehindLargeSample) => {
                Err(self.write_error(self.refusal(WriteRefused::Full)))
            }
            Err(kind) => Err(self.write_error(kind)),
        }
    }

    /// Returns how long a write may wait for room, or for a large sample to be sent. `None` means that it never waits.
    ///
    /// Only a reliable writer that keeps all samples waits. A writer that keeps the last samples never waits for a
    /// reader, and replaces samples that it has not sent yet.
    pub(super) fn blocking_limit(&self) -> Option<Duration> {
        // A writer that is not enabled writes nothing, and its QoS may still change.
        self.encoding.get()?;
        let qos = self.qos.fixed();
        match qos.reliability {
            Reliability::Reliable { max_blocking_time } if qos.history == History::KeepAll => Some(max_blocking_time),
            _ => None,
        }
    }

    /// Tries to write once. If there is no room and a waker is given, the caller is put into the queue for room.
    pub(super) fn attempt(
        &self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        waker: Option<&Waker>,
    ) -> Result<WriteAttempt, WriteErrorKind> {
        // Cloned before the visit, because a waker is user code.
        let waker = waker.cloned();
        self.visit(|actor, effects| Self::attempt_in_cell(actor, change, ticket, waker, effects))
    }

    /// As [`WriterHandle::attempt`], but does not write while an earlier large sample is being sent.
    pub(super) fn attempt_after_large_sample(
        &self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        waker: Option<&Waker>,
    ) -> Result<WriteAttempt, WriteErrorKind> {
        let waker = waker.cloned();
        self.visit(|actor, effects| {
            if actor.is_paced() {
                return WriteAttempt::BehindLargeSample;
            }
            Self::attempt_in_cell(actor, change, ticket, waker, effects)
        })
    }

    fn attempt_in_cell(
        actor: &mut WriterActor,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        waker: Option<Waker>,
        effects: &mut Effects,
    ) -> WriteAttempt {
        match actor.write(change, ticket, effects) {
            Ok(flushed) => WriteAttempt::Written(actor.last_sequence_number(), flushed),
            Err(WriteRefused::Full) => match waker {
                Some(waker) => {
                    actor.wait_for_room(ticket, waker, effects);
                    WriteAttempt::Waiting
                }
                None => WriteAttempt::Refused(WriteRefused::Full),
            },
            Err(refused) => WriteAttempt::Refused(refused),
        }
    }

    fn publish_with_wait(&self, change: &mut NewChange, limit: Duration) -> Result<SequenceNumber, WriteError> {
        let driver = self.core.driver();
        let started = driver.now().instant;
        let mut ticket = None;
        // A ticket keeps the place in the queue between the polls.
        let outcome = block_on(&**driver, started.after(limit), |context| {
            match self.attempt(change, &mut ticket, Some(context.waker())) {
                Ok(WriteAttempt::Written(number, flushed)) => Poll::Ready(Ok((number, flushed))),
                Ok(WriteAttempt::Refused(refused)) => Poll::Ready(Err(self.refusal(refused))),
                Ok(WriteAttempt::Waiting | WriteAttempt::BehindLargeSample) => Poll::Pending,
                Err(kind) => Poll::Ready(Err(kind)),
            }
        });
        // A successful write has left the queue already. A write that was refused for another reason than room has not.
        self.abandon_room(&mut ticket);
        let outcome = outcome.unwrap_or_else(|| Err(self.timeout(driver.now().instant.since(started))));
        let sent = outcome.and_then(|(number, flushed)| self.send_rest(flushed, true).map(|()| number));
        sent.map_err(|kind| self.write_error(kind))
    }

    /// Sends the samples that were held back while the publisher was suspended.
    pub(super) fn send_held(&self) {
        // Ignore the error, because a closed writer has sent everything.
        let _ = self.visit(WriterActor::send_held);
    }

    /// Leaves the queue for room.
    pub(super) fn abandon_room(&self, ticket: &mut Option<Ticket>) {
        if ticket.is_some() {
            // Ignore the error, because a closed writer has no queue.
            let _ = self.visit(|actor, effects| actor.abandon_room(ticket, effects));
        }
    }

    pub(super) fn register(&self, instance: InstanceHandle, key: &Payload) -> Result<InstanceHandle, WriteErrorKind> {
        let registered = self.visit(|actor, _| actor.rtps_mut().register_instance(instance, key))?;
        registered.map(|()| instance).map_err(|refused| self.refusal(refused))
    }

    /// Returns whether the instance is registered. A closed writer has no instances.
    pub(super) fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.visit(|actor, _| actor.rtps_mut().is_registered(instance)).unwrap_or(false)
    }

    /// Payload from which the key of a registered instance can be decoded.
    pub(super) fn instance_key(&self, instance: InstanceHandle) -> Option<KeyPayload> {
        self.visit(|actor, _| actor.rtps_mut().instance_key_payload(instance).cloned()).ok().flatten()
    }

    /// Sequence number of the newest change. Zero for a closed writer, which no caller can wait for.
    pub(super) fn last_sequence_number(&self) -> SequenceNumber {
        self.visit(|actor, _| actor.last_sequence_number()).unwrap_or(SequenceNumber::ZERO)
    }

    /// Sends the rest of a large sample in several visits, so that acknowledgements are processed in between.
    ///
    /// A paced rest is sent whether the caller waits or not. A caller that waits cannot write faster than the readers
    /// receive.
    pub(super) fn send_rest(&self, mut flushed: Flushed, may_wait: bool) -> Result<(), WriteErrorKind> {
        while flushed == Flushed::More {
            flushed = self.visit(WriterActor::send_on)?;
        }
        if may_wait && flushed == Flushed::Paced {
            if let Some(limit) = self.blocking_limit() {
                self.wait_until_sent(limit);
            }
        }
        if flushed == Flushed::Forked { Err(WriteErrorKind::Forked) } else { Ok(()) }
    }

    /// Sends the samples that wait to share a datagram. If a socket is full, they follow as soon as it has room.
    pub(super) fn flush(&self) -> Result<(), WriteErrorKind> {
        let flushed = self.visit(WriterActor::flush)?;
        self.send_rest(flushed, false)
    }

    /// Waits until the written samples are sent, at most `limit`. The samples count as written in any case.
    fn wait_until_sent(&self, limit: Duration) {
        let driver = self.core.driver();
        let (mut number, mut ticket) = (None, None);
        let poll = |context: &mut Context<'_>| {
            let waker = context.waker().clone();
            match self.poll_sent(&mut number, &mut ticket, waker) {
                Ok(false) => Poll::Pending,
                Ok(true) | Err(_) => Poll::Ready(()),
            }
        };
        if block_on(&**driver, driver.now().instant.after(limit), poll).is_none() {
            self.abandon_sent(&mut ticket);
        }
    }

    /// Returns whether the changes up to `number`, or up to now, are sent. Registers the waker if they are not.
    pub(super) fn poll_sent(
        &self,
        number: &mut Option<SequenceNumber>,
        ticket: &mut Option<Ticket>,
        waker: Waker,
    ) -> Result<bool, WriteErrorKind> {
        self.visit(|actor, effects| actor.wait_until_sent(number, ticket, waker, effects))
    }

    /// Leaves the queue of callers that wait until samples are sent.
    pub(super) fn abandon_sent(&self, ticket: &mut Option<Ticket>) {
        if ticket.is_some() {
            // Ignore the error, because a closed writer has no queue.
            let _ = self.visit(|actor, effects| actor.abandon_sent(ticket, effects));
        }
    }

    /// Error of a write that waited for room for `waited`.
    pub(super) fn timeout(&self, waited: Duration) -> WriteErrorKind {
        WriteErrorKind::Timeout { waited, slowest: self.slowest_reader() }
    }

    /// Reader that holds the oldest sample in the history.
    fn slowest_reader(&self) -> Option<ReaderLag> {
        self.visit(|actor, _| actor.rtps().slowest_reader()).ok().flatten()
    }

    pub(super) fn refusal(&self, refused: WriteRefused) -> WriteErrorKind {
        let limits = self.qos.fixed().resource_limits;
        let value = |limit: Option<u32>| limit.map_or(u64::MAX, u64::from);
        match refused {
            WriteRefused::Full => WriteErrorKind::Full { slowest: self.slowest_reader() },
            WriteRefused::SamplesMax => {
                WriteErrorKind::OutOfResources { limit: "max_samples", value: value(limits.max_samples) }
            }
            WriteRefused::InstancesMax => {
                WriteErrorKind::OutOfResources { limit: "max_instances", value: value(limits.max_instances) }
            }
            WriteRefused::UnknownInstance => WriteErrorKind::UnknownInstance,
            WriteRefused::TooLarge => {
                WriteErrorKind::OutOfResources { limit: "the size of a sample", value: u64::from(u32::MAX) }
            }
        }
    }

    pub(crate) fn set_qos(&self, qos: DataWriterQos) -> Result<(), QosError> {
        let error = |kind| QosError::new(&self.subject, kind);
        let mut qos = qos;
        // The topic may offer fewer representations than this QoS.
        if let Some(topic) = &self.topic {
            topic.narrow(&mut qos.representation).map_err(error)?;
        }
        // `enable` must not see the QoS change in the middle.
        let turn = (!self.is_enabled()).then(|| self.enabling.lock().unwrap_or_else(PoisonError::into_inner));
        self.qos.change(qos, DataWriterQos::check_change, DataWriterQos::check).map_err(error)?;
        drop(turn);
        if !self.is_enabled() {
            return Ok(());
        }
        // Ignore the error, because a closed writer keeps its QoS. The QoS is read inside of the cell, so that the last
        // of two concurrent changes applies.
        let _ = self.visit(|actor, effects| {
            let budget = self.qos.read(|qos| {
                actor.set_qos(qos, effects);
                qos.latency_budget
            });
            actor.set_batch_window(self.behaviour.batching.unwrap_or(budget), effects);
        });
        self.participant.update_writer(self);
        Ok(())
    }

    /// Closes the writer.
    ///
    /// The participant keeps a reliable writer with matched readers until they have acknowledged its samples.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        if self.core.is_forked() {
            // The parent process announces the disposal. A forked child only drops its memory.
            return;
        }
        self.warn_of_unkept_samples();
        self.leave_sets();
        self.participant.remove_entity(self.guid().entity_id);
        self.listener.close();
        self.ending.close();
        // Ignore the error, because a failed writer has no observers.
        let _ = Effects::scope(|effects| self.cell.with(effects, WriterActor::close));
        self.participant.release_topic(self.topic_name());
        // The participant closes the cell once the readers have acknowledged the samples.
        self.participant.drain(self.guid().entity_id, Arc::clone(&self.cell));
        self.span.in_scope(|| tracing::debug!("writer closed"));
    }

    /// Returns the only status condition of the writer. The first call creates it.
    pub(crate) fn status_condition(&self) -> &StatusCondition {
        self.status_condition.get_or_init(|| StatusCondition::new(self.guid(), Arc::clone(&self.cell) as _))
    }

    pub(crate) fn events(&self) -> Events<WriterEvent> {
        let feed = Box::new(WriterFeed::new(Arc::clone(&self.cell)));
        let driver = Arc::clone(self.core.driver());
        Events::new(feed, Arc::clone(&self.cell) as _, driver, Arc::clone(&self.subject))
    }

    pub(crate) fn assert_liveliness(&self) -> Result<(), WriteError> {
        self.encoding().and_then(|_| self.visit(WriterActor::assert_liveliness)).map_err(|kind| self.write_error(kind))
    }

    /// Returns the matched readers. Empty for a closed writer.
    pub(crate) fn matched_readers(&self) -> Vec<Guid> {
        self.visit(|actor, _| actor.subscriptions().to_vec()).unwrap_or_default()
    }

    pub(crate) fn participant(&self) -> &Arc<dyn PublicationContext> {
        &self.participant
    }
}

impl WaitSource<()> for WriterHandle {
    fn poll_wait(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if awaited == Awaited::Closed {
            return self.ending.poll(ticket, waker);
        }
        if !self.is_enabled() && !self.is_closed() {
            return Poll::Ready(Err(WaitErrorKind::NotEnabled));
        }
        let waker = waker.clone();
        match self.visit(|actor, effects| actor.wait(awaited, ticket, waker, effects)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(WriteErrorKind::Internal { message }) => Poll::Ready(Err(WaitErrorKind::Internal { message })),
            Err(WriteErrorKind::Forked) => Poll::Ready(Err(WaitErrorKind::Forked)),
            Err(_) => Poll::Ready(Err(WaitErrorKind::Closed)),
        }
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        if awaited == Awaited::Closed {
            return self.ending.abandon(ticket);
        }
        // Ignore the error, because a closed writer has no waiters.
        let _ = self.visit(|actor, effects| actor.abandon(awaited, ticket, effects));
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
                .in_scope(|| tracing::warn!(?awaited, "still waiting for the writer to close; it is open"));
        }
        let matched = self.matched_readers().len();
        let why = self.participant.why_waiting(self.guid());
        self.span.in_scope(|| tracing::warn!(?awaited, matched_readers = matched, "still waiting; {why}"));
    }
}

impl ListenedEntity for WriterHandle {
    fn note_listener_panic(&self, message: &str) {
        // Ignore the error, because a closed writer has no events.
        let _ = self.visit(|actor, effects| actor.note_listener_panic(message, effects));
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Member for WriterHandle {
    type Qos = DataWriterQos;
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
            self.participant.update_writer(self);
        }
    }

    fn enable(&self) -> Result<(), CreateErrorKind> {
        Self::enable(self)
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        self.close();
    }
}
