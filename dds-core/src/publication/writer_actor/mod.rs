//! State of a writer in its cell: the protocol's writer, local readers, waiters and statuses.
//!
//! - `mod`: the state, its events and its waits.
//! - `write`: changes of the application, and their way to the network.
//! - `matching`: matched readers, their messages, and liveliness.

mod matching;
mod write;

use crate::actor::{Actor, Awaitable, Cell, Effects, Poke, Signals, Ticket, Wakers};
use crate::delivery::LocalTerms;
use crate::driver::{Driver, Outgoing};
use crate::endpoint::{EndpointActor, EndpointState};
use crate::infrastructure::{Awaited, CountStatus, Counter, MatchCounter, mark};
use crate::publication::audience::WriterPeers;
use crate::publication::demoted_readers::{DemotedReaders, Replaced};
use crate::publication::events::ReportedToWriterEvents;
use crate::publication::local_reader::LocalReaders;
use crate::publication::reachable::ReachableReaders;
use crate::publication::{WriterEvent, WriterMail};
use crate::qos::DataWriterQos;
use dds_rtps::types::{Guid, Instant, SequenceNumber, TrafficClass};
use dds_rtps::writer::{StatefulWriter, StatefulWriterEvent};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Weak};
use std::task::Waker;
pub(super) use write::INSTANCES_PER_VISIT;

/// Cell of a writer.
pub(crate) type WriterCell = Cell<WriterActor>;

/// State of a writer.
pub(crate) struct WriterActor {
    rtps: StatefulWriter,
    endpoint: EndpointState,
    terms: LocalTerms,
    /// Number of active suspensions of the publisher.
    suspensions: Option<Arc<AtomicUsize>>,
    /// More changes follow that share datagrams with the ones written so far.
    gathers: bool,
    local_readers: LocalReaders,
    /// Remote participants whose readers match.
    audience: WriterPeers,
    /// Participant, which asserts liveliness for writers that are manual by participant.
    participant: Weak<dyn Poke>,
    /// Liveliness of the writer as reported to local readers.
    alive: bool,
    reachable: ReachableReaders,
    slow_readers: DemotedReaders,
    liveliness_lost: Counter,
    has_told_of_replaced: bool,
    waiting_for_acknowledgment: Wakers,
    waiting_for_room: Wakers,
    /// Callers that have written a large sample and wait until it is sent.
    waiting_for_send: Wakers,
    /// Highest sequence number that was sent when `waiting_for_send` was last woken.
    sent_up_to: SequenceNumber,
}

/// Parts of a participant and a publisher that a writer uses in its cell.
pub(super) struct WriterEnvironment {
    pub(super) driver: Arc<dyn Driver>,
    pub(super) outgoing: Outgoing,
    /// Cell of discovery.
    pub(super) participant: Weak<dyn Poke>,
    /// Number of active suspensions of the publisher.
    pub(super) suspensions: Option<Arc<AtomicUsize>>,
}

impl WriterActor {
    pub(super) fn new(rtps: StatefulWriter, environment: WriterEnvironment, qos: &DataWriterQos) -> Self {
        let WriterEnvironment { driver, outgoing, participant, suspensions } = environment;
        let mut actor = Self {
            rtps,
            endpoint: EndpointState::new(driver, outgoing),
            terms: LocalTerms::default(),
            suspensions,
            gathers: false,
            local_readers: LocalReaders::default(),
            audience: WriterPeers::default(),
            participant,
            alive: true,
            reachable: ReachableReaders::default(),
            slow_readers: DemotedReaders::default(),
            liveliness_lost: Counter::default(),
            has_told_of_replaced: false,
            waiting_for_acknowledgment: Wakers::new(),
            waiting_for_room: Wakers::new(),
            waiting_for_send: Wakers::new(),
            sent_up_to: SequenceNumber::ZERO,
        };
        actor.apply_terms(qos);
        actor
    }

    /// Replaces the protocol's writer before the writer is enabled. Returns the old one, which the caller drops outside
    /// of the cell.
    pub(super) fn replace_protocol(&mut self, rtps: StatefulWriter, qos: &DataWriterQos) -> StatefulWriter {
        debug_assert_eq!(self.rtps.last_sequence_number(), SequenceNumber::ZERO, "a disabled writer writes nothing");
        debug_assert!(self.endpoint.peers().is_empty(), "a disabled writer matches no reader");
        debug_assert!(self.local_readers.is_empty(), "a disabled writer delivers to no reader");
        self.apply_terms(qos);
        std::mem::replace(&mut self.rtps, rtps)
    }

    /// Applies the policies that may change.
    pub(super) fn set_qos(&mut self, qos: &DataWriterQos, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.apply_terms(qos);
        self.rtps.set_lifespan(qos.lifespan);
        self.rtps.set_deadline(now, qos.deadline);
        self.follow_up_and_come_back(now, effects);
    }

    /// Applies the policies outside of the protocol: the terms for local readers, and the traffic class of datagrams.
    fn apply_terms(&mut self, qos: &DataWriterQos) {
        self.terms = qos.into();
        self.endpoint.outgoing.set_traffic_class(TrafficClass::of_priority(qos.transport_priority));
    }

    pub(crate) fn terms(&self) -> LocalTerms {
        self.terms
    }

    /// Sets the parameters for readers that expect inline QoS.
    pub(crate) fn set_inline_qos(&mut self, parameters: &[u8]) {
        self.rtps.set_inline_qos(parameters);
    }

    fn take_events(&mut self, effects: &mut Effects) {
        while let Some(event) = self.rtps.poll_event() {
            match event {
                StatefulWriterEvent::Acknowledged(_) => self.waiting_for_acknowledgment.wake_all(effects),
                // One waiter is enough: each successful write wakes the next one.
                StatefulWriterEvent::SpaceFreed => self.waiting_for_room.wake_one(effects),
                StatefulWriterEvent::ReaderDemoted { reader, behind } => self.note_demoted(reader, behind, effects),
                StatefulWriterEvent::ReaderRestored { reader } => self.note_not_demoted(reader, effects),
                StatefulWriterEvent::LivelinessLost => self.note_liveliness_lost(effects),
                StatefulWriterEvent::DeadlineMissed(missed) => self.endpoint.note_missed_deadlines(missed, effects),
                _ => {}
            }
        }
    }

    /// The writer no longer waits for this reader.
    fn note_demoted(&mut self, reader: Guid, behind: u64, effects: &mut Effects) {
        self.slow_readers.add(self.rtps.guid(), reader, behind, effects);
        // The progress of the reader matters again, because it shows when the reader has caught up.
        self.local_readers.request_progress();
        self.endpoint.mark(mark::SLOW_READER, effects);
    }

    /// Notes the reader that holds up writes, or that none does.
    fn note_holder(&mut self, holder: Option<Guid>, effects: &mut Effects) {
        if self.slow_readers.set_holder(holder) {
            self.endpoint.mark(mark::SLOW_READER, effects);
        }
    }

    /// Notes that the slowest reader has held up a write.
    pub(crate) fn note_slowest(&mut self, effects: &mut Effects) {
        // Set before the check, so that no progress after it goes unnoticed.
        self.local_readers.request_progress();
        if let Some(slowest) = self.rtps.slowest_reader() {
            self.note_holder(Some(slowest.reader), effects);
        }
    }

    /// Forgets the reader that held up writes once no reader is behind, even if the application writes nothing.
    fn release_holder(&mut self, effects: &mut Effects) {
        if self.slow_readers.has_holder() && self.rtps.slowest_reader().is_none() {
            self.note_holder(None, effects);
        }
    }

    /// Logs once that unacknowledged samples were replaced. A timer calls it, so the count has a meaning.
    fn tell_of_replaced(&mut self, effects: &mut Effects) {
        let replaced = self.rtps.counters().overwritten_unacknowledged;
        if replaced > 0 && !self.has_told_of_replaced {
            self.has_told_of_replaced = true;
            effects.defer(Arc::new(Replaced { writer: self.rtps.guid(), replaced }));
        }
    }

    /// The reader has caught up or left.
    fn note_not_demoted(&mut self, reader: Guid, effects: &mut Effects) {
        if self.slow_readers.remove(reader) {
            self.endpoint.mark(mark::SLOW_READER, effects);
        }
    }

    /// Counts a lease that expired without an assertion.
    pub(crate) fn note_liveliness_lost(&mut self, effects: &mut Effects) {
        self.liveliness_lost.note(1);
        self.endpoint.mark(mark::LIVELINESS_LOST, effects);
    }

    /// Returns the status and resets its changes.
    pub(super) fn read_liveliness_lost(&mut self) -> CountStatus {
        self.liveliness_lost.read()
    }

    /// Returns the count of slow readers.
    pub(super) fn slow_readers(&mut self) -> &mut MatchCounter {
        self.slow_readers.counter()
    }

    /// Sequence number of the newest change.
    pub(crate) fn last_sequence_number(&self) -> SequenceNumber {
        self.rtps.last_sequence_number()
    }

    /// The protocol's writer.
    pub(crate) fn rtps(&self) -> &StatefulWriter {
        &self.rtps
    }

    /// The protocol's writer, for calls that send nothing.
    pub(super) fn rtps_mut(&mut self) -> &mut StatefulWriter {
        &mut self.rtps
    }

    /// Time at which the last samples have reached best-effort readers. `None` if no wait is needed.
    pub(crate) fn settles_at(&self) -> Option<Instant> {
        self.reachable.settles_at()
    }

    fn wakers(&mut self, awaited: Awaited) -> &mut Wakers {
        match awaited {
            Awaited::Matched(_) => &mut self.endpoint.waiting_for_match,
            _ => &mut self.waiting_for_acknowledgment,
        }
    }

    /// Closes the writer for the application and wakes all waiters. The writer may still wait for acknowledgments.
    pub(super) fn close(&mut self, effects: &mut Effects) {
        let before = self.endpoint.last().instant;
        let now = self.endpoint.read_clock(effects);
        self.reachable.close(&self.rtps, before, now.instant);
        self.rtps.flush();
        self.follow_up_and_come_back(now, effects);
        // From here on no call of the application reaches the writer, and its waiters return.
        self.endpoint.notifier.observers().close(effects);
        self.wake_all_waiters(effects);
    }
}

impl EndpointActor for WriterActor {
    type Event = WriterEvent;
    type Reported = ReportedToWriterEvents;
    const STATUSES: &'static [u32] =
        &[mark::MATCHED, mark::INCOMPATIBLE_QOS, mark::SLOW_READER, mark::LIVELINESS_LOST, mark::DEADLINE_MISSED];

    fn endpoint(&mut self) -> &mut EndpointState {
        &mut self.endpoint
    }

    #[inline]
    fn is_open(&self) -> bool {
        // The cell of a closed writer lives on until its samples are acknowledged.
        !self.endpoint.notifier.is_closed()
    }

    fn read_event(&mut self, mark: u32) -> Option<WriterEvent> {
        Some(match mark {
            mark::MATCHED => WriterEvent::Matched(self.endpoint.matched().read()),
            mark::INCOMPATIBLE_QOS => WriterEvent::IncompatibleQos(self.endpoint.incompatible().read()),
            mark::SLOW_READER => WriterEvent::SlowReader(self.slow_readers().read()),
            mark::LIVELINESS_LOST => WriterEvent::LivelinessLost(self.read_liveliness_lost()),
            mark::DEADLINE_MISSED => WriterEvent::DeadlineMissed(self.endpoint.deadlines().read()),
            _ => return None,
        })
    }

    fn event_since(&mut self, mark: u32, reported: &mut ReportedToWriterEvents) -> Option<WriterEvent> {
        let Self { endpoint, slow_readers, liveliness_lost, .. } = self;
        match mark {
            mark::SLOW_READER => reported.slow_readers(slow_readers.counter()),
            mark::LIVELINESS_LOST => reported.liveliness_lost(liveliness_lost),
            _ => reported.common(mark, endpoint),
        }
    }

    fn wait(&mut self, awaited: Awaited, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) -> bool {
        let acknowledged = matches!(awaited, Awaited::Acknowledged(_));
        if acknowledged {
            // Set before the check, so that no progress after it goes unnoticed.
            self.local_readers.request_progress();
        }
        let there = match awaited {
            Awaited::Matched(count) => self.reachable.count_of(self.endpoint.peers().len()) >= count,
            // A best-effort reader acknowledges nothing, but the samples for it must be sent.
            Awaited::Acknowledged(number) => self.rtps.is_acknowledged(number) && self.rtps.sent_up_to() >= number,
            _ => {
                debug_assert!(false, "a writer has no {awaited:?}");
                true
            }
        };
        let wakers = self.wakers(awaited);
        if there {
            wakers.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        wakers.register(ticket, waker, effects);
        if acknowledged {
            // Request acknowledgments now. Otherwise the last samples wait for the next heartbeat.
            let now = self.endpoint.read_clock(effects);
            self.rtps.request_acknowledgments(now);
            self.follow_up_and_come_back(now, effects);
        }
        false
    }

    fn abandon(&mut self, awaited: Awaited, ticket: Ticket, effects: &mut Effects) {
        self.wakers(awaited).abandon(&mut Some(ticket), effects);
    }
}

impl Awaitable for WriterActor {
    fn wake_all_waiters(&mut self, effects: &mut Effects) {
        self.endpoint.waiting_for_match.wake_all(effects);
        self.waiting_for_acknowledgment.wake_all(effects);
        self.waiting_for_room.wake_all(effects);
        self.waiting_for_send.wake_all(effects);
    }
}

impl Actor for WriterActor {
    type Mail = WriterMail;

    fn handle(&mut self, mail: WriterMail, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        match mail {
            WriterMail::AckNack(asker, message) => self.rtps.handle_acknack(now, asker, &message),
            WriterMail::NackFrag(asker, message) => self.rtps.handle_nack_frag(now, asker, &message),
        }
        self.release_holder(effects);
        self.take_events(effects);
        // The signal after all mail sends once. A visitor may find an inbox full of requests, and must not send a whole
        // visit's share of datagrams for each of them.
        self.endpoint.outgoing.come_back();
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_all_waiters(effects);
    }

    fn handle_signals(&mut self, _signals: Signals, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        if !self.slow_readers.is_empty() || self.slow_readers.has_holder() {
            // Set before the check, so that no progress after it goes unnoticed.
            self.local_readers.request_progress();
        }
        self.rtps.handle_local_progress(now);
        self.rtps.handle_timeout(now);
        self.release_holder(effects);
        self.follow_liveliness(effects);
        if !self.waiting_for_acknowledgment.is_empty() {
            self.waiting_for_acknowledgment.wake_all(effects);
        }
        self.waiting_for_room.wake_one(effects);
        self.redeliver(effects);
        self.tell_of_replaced(effects);
        self.follow_up_and_come_back(now, effects);
    }
}
