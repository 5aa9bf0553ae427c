//! State of a writer in its cell: the protocol's writer, local readers, waiters and statuses.

use crate::actor::{Actor, Awaitable, Cell, Effects, Poke, Signals, Ticket, Wakers};
use crate::delivery::{LocalBegin, LocalDemands, LocalPath, LocalTerms};
use crate::driver::{Driver, Flushed, Outgoing};
use crate::infrastructure::{
    Audience, Awaited, DeadlineCounter, IncompatibleQosStatus, ListenerPanics, LivelinessLostStatus, MatchCounter,
    Observers, mark,
};
use crate::publication::WriterMail;
use crate::publication::demoted_readers::DemotedReaders;
use crate::publication::local_reader::MatchedLocalReader;
use crate::publication::reachable::ReachableReaders;
use crate::qos::{DataWriterQos, PolicyId};
use crate::subscription::ReaderCell;
use dds_rtps::types::{Duration, Guid, InstanceHandle, Now, SequenceNumber};
use dds_rtps::wire::{AckNack, NackFrag};
use dds_rtps::writer::{
    Asker, EndedSet, NewChange, ReaderProxyConfig, StatefulWriter, WriteRefused, WriterEvent as ProtocolEvent,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

/// Cell of a writer.
pub(crate) type WriterCell = Cell<WriterActor>;

/// State of a writer.
pub(crate) struct WriterActor {
    pub(super) rtps: StatefulWriter,
    driver: Arc<dyn Driver>,
    last: Now,
    pub(super) outgoing: Outgoing,
    pub(super) terms: LocalTerms,
    pub(super) suspensions: Option<Arc<AtomicUsize>>,
    /// More changes follow that share datagrams with the ones written so far.
    pub(super) gathers: bool,
    pub(super) local_readers: Vec<MatchedLocalReader>,
    /// Participant, which asserts liveliness for writers that are manual by participant.
    pub(super) participant: Option<Weak<dyn Poke>>,
    /// Liveliness of the writer as reported to local readers.
    pub(super) alive: bool,
    subscriptions: Vec<Guid>,
    pub(super) reachable: ReachableReaders,
    matched: MatchCounter,
    pub(super) slow_readers: DemotedReaders,
    incompatible: IncompatibleQosStatus,
    pub(super) liveliness_lost: LivelinessLostStatus,
    pub(super) liveliness_lost_read: u32,
    pub(super) deadlines: DeadlineCounter,
    audience: Audience,
    panics: ListenerPanics,
    observers: Observers,
    pub(super) waiting_for_match: Wakers,
    waiting_for_acknowledgment: Wakers,
    waiting_for_room: Wakers,
    /// Callers that have written a large sample and wait until it is sent.
    waiting_for_send: Wakers,
    /// Highest sequence number that was sent when `waiting_for_send` was last woken.
    sent_up_to: SequenceNumber,
}

impl WriterActor {
    pub(crate) fn new(rtps: StatefulWriter, driver: Arc<dyn Driver>, outgoing: Outgoing, qos: &DataWriterQos) -> Self {
        let mut actor = Self {
            rtps,
            last: driver.now(),
            driver,
            outgoing,
            terms: LocalTerms::default(),
            suspensions: None,
            gathers: false,
            local_readers: Vec::new(),
            participant: None,
            alive: true,
            subscriptions: Vec::new(),
            reachable: ReachableReaders::default(),
            matched: MatchCounter::default(),
            slow_readers: DemotedReaders::default(),
            incompatible: IncompatibleQosStatus::default(),
            liveliness_lost: LivelinessLostStatus::default(),
            liveliness_lost_read: 0,
            deadlines: DeadlineCounter::default(),
            audience: Audience::default(),
            panics: ListenerPanics::default(),
            observers: Observers::default(),
            waiting_for_match: Wakers::new(),
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
    pub(crate) fn replace_protocol(&mut self, rtps: StatefulWriter, qos: &DataWriterQos) -> StatefulWriter {
        debug_assert_eq!(self.rtps.last_sequence_number(), SequenceNumber::ZERO, "a disabled writer writes nothing");
        debug_assert!(self.subscriptions.is_empty(), "a disabled writer matches no reader");
        self.apply_terms(qos);
        std::mem::replace(&mut self.rtps, rtps)
    }

    /// Sets the cell of the actor and the participant.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>, participant: Weak<dyn Poke>) {
        self.outgoing.attach(cell);
        self.participant = Some(participant);
    }

    /// Sends the samples that were held back, because the publisher is no longer suspended.
    pub(crate) fn send_held(&mut self, effects: &mut Effects) {
        self.rtps.set_suspended(false);
        let now = self.now(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Sends the gathered samples, unless the publisher is suspended.
    pub(super) fn send_gathered(&mut self, effects: &mut Effects) -> Flushed {
        self.gathers = false;
        self.rtps.set_suspended(self.is_suspended());
        let now = self.now(effects);
        self.follow_up(now, effects)
    }

    fn is_suspended(&self) -> bool {
        self.gathers || self.suspensions.as_ref().is_some_and(|suspensions| suspensions.load(Ordering::Acquire) > 0)
    }

    /// Sets the listeners to notify. Returns the old set, which the caller drops outside of the cell.
    pub(crate) fn set_audience(&mut self, audience: Audience) -> Audience {
        std::mem::replace(&mut self.audience, audience)
    }

    pub(crate) fn note_listener_panic(&mut self, message: &str, effects: &mut Effects) {
        self.panics.note(message);
        self.observers.notify(mark::LISTENER_PANICKED, effects);
    }

    pub(crate) fn listener_panics(&self) -> &ListenerPanics {
        &self.panics
    }

    /// Reads the time inside of the cell, so that timestamps have the order of the sequence numbers.
    ///
    /// The instant never goes back. The real-time clock goes back only if it is set back.
    pub(super) fn now(&mut self, effects: &mut Effects) -> Now {
        let now = effects.read_clock(|| self.driver.now());
        self.last.instant = self.last.instant.max(now.instant);
        self.last.time = now.time;
        self.last
    }

    /// Sets how long later small samples may wait for others.
    pub(crate) fn set_batch_window(&mut self, window: Duration, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.set_batch_window(window);
        self.follow_up_and_come_back(now, effects);
    }

    /// Sends the samples that wait for others.
    pub(crate) fn flush(&mut self, effects: &mut Effects) -> Flushed {
        let now = self.now(effects);
        self.rtps.flush();
        self.follow_up(now, effects)
    }

    /// Sets the parameters for readers that expect inline QoS.
    pub(crate) fn set_inline_qos(&mut self, parameters: &[u8]) {
        self.rtps.set_inline_qos(parameters);
    }

    /// Adds a change to the history, delivers it to local readers and passes it to the kernel.
    ///
    /// `ticket` is the caller's place in the queue for room. No write overtakes the queue.
    pub(crate) fn write(
        &mut self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        effects: &mut Effects,
    ) -> Result<Flushed, WriteRefused> {
        // Earlier waiters go first.
        if !self.waiting_for_room.is_next(*ticket) {
            return Err(WriteRefused::Full);
        }
        let now = self.now(effects);
        // A volatile writer with only local best-effort readers needs no history, because no reader can request the
        // change. The history would cost a sixth of the write.
        if self.local_readers.iter().all(|reader| reader.behind_from.is_none()) {
            if let Some(change) = &mut self.rtps.write_through(now, change) {
                self.waiting_for_room.finish(ticket, effects);
                self.follow_liveliness(effects);
                self.deliver_through(change, effects);
                return Ok(Flushed::Done);
            }
        }
        self.rtps.set_suspended(self.is_suspended());
        // A waiting sample must be sent before the new one replaces it in a KEEP_LAST history.
        if self.rtps.would_drop_waiting(change) {
            self.rtps.flush();
            self.follow_up(now, effects);
        }
        // A suspension holds back only datagrams. Local readers gain nothing from a batch and get each change at once.
        let number = match self.write_to_history(now, change) {
            Ok(number) => number,
            Err(refused) => {
                // The protocol may have to ask the readers for acknowledgements to make room.
                self.follow_up_and_come_back(now, effects);
                return Err(refused);
            }
        };
        debug_assert_eq!(number, self.rtps.last_sequence_number(), "a write takes the next sequence number");
        self.waiting_for_room.finish(ticket, effects);
        // The next writer in the queue may also find room.
        self.waiting_for_room.wake_one(effects);
        self.follow_liveliness(effects);
        self.deliver_locally(number, effects);
        if self.rtps.has_only_gathered() {
            // The timer is set for the first sample of a batch. Later samples need nothing else.
            return Ok(Flushed::Done);
        }
        Ok(self.follow_up(now, effects))
    }

    /// Ends a coherent set of the publisher. Notifies the readers if the set has changes of this writer.
    pub(crate) fn end_set(&mut self, ended: EndedSet, effects: &mut Effects) -> Flushed {
        let now = self.now(effects);
        self.rtps.set_suspended(self.is_suspended());
        let Some(number) = self.rtps.end_set(now, ended) else { return Flushed::Done };
        self.deliver_locally(number, effects);
        self.follow_up(now, effects)
    }

    fn write_to_history(&mut self, now: Now, change: &mut NewChange) -> Result<SequenceNumber, WriteRefused> {
        match self.rtps.try_write(now, change) {
            Err(WriteRefused::Full) if !self.local_readers.is_empty() => {
                // From here on local readers report their progress. Their progress up to now counts already.
                self.request_local_progress();
                self.rtps.try_write(now, change)
            }
            outcome => outcome,
        }
    }

    /// Makes local readers report their progress.
    fn request_local_progress(&self) {
        for reader in &self.local_readers {
            reader.path.set_starving();
        }
    }

    /// Registers a waiter for room. The caller must be in the same visit in which the write was refused.
    pub(crate) fn wait_for_room(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        self.waiting_for_room.register(ticket, waker, effects);
    }

    pub(crate) fn abandon_room(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.waiting_for_room.abandon(ticket, effects);
    }

    /// Completes every visit that may have changed the protocol's state: sends, reports events and sets the next
    /// deadline.
    fn follow_up(&mut self, now: Now, effects: &mut Effects) -> Flushed {
        self.take_events(effects);
        // Most visits leave nothing to send and no timer to set.
        if self.rtps.is_at_rest() && self.outgoing.is_at_rest() {
            return Flushed::Done;
        }
        let rtps = &mut self.rtps;
        let mut flushed = self.outgoing.flush(|datagram| rtps.poll_transmit(now, datagram));
        // Best-effort readers never answer, so the writer queries the receive buffers of those on this host.
        let wanted_room = self.rtps.waits_for_room(now);
        if let (Some(locators), Flushed::Done) = (wanted_room, flushed) {
            let room = self.outgoing.room_at(locators);
            if self.rtps.note_room(now, room) {
                flushed = Flushed::More;
            }
        }
        self.outgoing.set_deadline(self.rtps.deadline());
        if !self.waiting_for_send.is_empty() && self.rtps.sent_up_to() > self.sent_up_to {
            self.sent_up_to = self.rtps.sent_up_to();
            self.waiting_for_send.wake_all(effects);
        }
        if flushed == Flushed::Done && self.is_paced() {
            return Flushed::Paced;
        }
        flushed
    }

    /// Returns whether written samples wait for acknowledgements or for the clock before they are sent.
    pub(super) fn is_paced(&self) -> bool {
        self.rtps.has_more_to_send() && self.outgoing.has_room()
    }

    /// Returns whether all changes up to `number` are sent, and registers the waiter if not. `number` defaults to the
    /// newest change.
    pub(crate) fn wait_until_sent(
        &mut self,
        number: &mut Option<SequenceNumber>,
        ticket: &mut Option<Ticket>,
        waker: Waker,
        effects: &mut Effects,
    ) -> bool {
        let number = *number.get_or_insert(self.rtps.last_sequence_number());
        if self.rtps.sent_up_to() >= number || !self.is_paced() {
            self.waiting_for_send.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        self.sent_up_to = self.rtps.sent_up_to();
        self.waiting_for_send.register(ticket, waker, effects);
        false
    }

    pub(crate) fn abandon_sent(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.waiting_for_send.abandon(ticket, effects);
    }

    fn take_events(&mut self, effects: &mut Effects) {
        while let Some(event) = self.rtps.poll_event() {
            match event {
                ProtocolEvent::Acknowledged(_) => self.waiting_for_acknowledgment.wake_all(effects),
                ProtocolEvent::SpaceFreed => self.waiting_for_room.wake_one(effects),
                ProtocolEvent::ReaderDemoted { reader, behind } => self.note_demoted(reader, behind, effects),
                ProtocolEvent::ReaderRestored { reader } => self.note_not_demoted(reader, effects),
                ProtocolEvent::LivelinessLost => self.note_liveliness_lost(effects),
                ProtocolEvent::DeadlineMissed(missed) => self.note_missed(missed, effects),
                _ => {}
            }
        }
    }

    /// The writer no longer waits for this reader.
    fn note_demoted(&mut self, reader: Guid, behind: u64, effects: &mut Effects) {
        self.slow_readers.add(self.rtps.guid(), reader, behind, effects);
        // The progress of the reader matters again, because it shows when the reader has caught up.
        self.request_local_progress();
        self.mark(mark::SLOW_READER, effects);
    }

    /// The reader has caught up or left.
    fn note_not_demoted(&mut self, reader: Guid, effects: &mut Effects) {
        if self.slow_readers.remove(reader) {
            self.mark(mark::SLOW_READER, effects);
        }
    }

    /// As [`WriterActor::follow_up`], for callers that do not send the rest themselves.
    pub(super) fn follow_up_and_come_back(&mut self, now: Now, effects: &mut Effects) {
        if self.follow_up(now, effects) == Flushed::More {
            // The rest is sent by a later visit, so that this caller does not hold the cell for too long.
            self.outgoing.come_back();
        }
    }

    /// Sends the next part after [`Flushed::More`].
    pub(crate) fn send_on(&mut self, effects: &mut Effects) -> Flushed {
        let now = self.now(effects);
        self.follow_up(now, effects)
    }

    /// Matches a remote reader. `is_unaware` means that the remote participant has not yet acknowledged the writer.
    pub(crate) fn match_remote(&mut self, reader: ReaderProxyConfig, is_unaware: bool, effects: &mut Effects) {
        let now = self.now(effects);
        let guid = reader.guid;
        // The protocol may refuse a proxy for the reader. Then the reader does not count as matched, and no caller
        // waits for it.
        if self.rtps.match_reader(now, reader) {
            self.reachable.add(guid, is_unaware);
            self.note_match(guid, effects);
        }
        self.follow_up_and_come_back(now, effects);
    }

    /// Matches a local reader. Returns the terms that the reader must know before the first delivery.
    ///
    /// Returns `None` if the reader is matched already.
    pub(crate) fn match_local(
        &mut self,
        guid: Guid,
        cell: Arc<ReaderCell>,
        path: Arc<LocalPath>,
        demands: LocalDemands,
        effects: &mut Effects,
    ) -> Option<LocalBegin> {
        if self.local_readers.iter().any(|known| known.guid == guid) {
            return None;
        }
        let now = self.now(effects);
        let LocalDemands { reliable, wants_history } = demands;
        let reliable = reliable && self.rtps.is_reliable();
        let first = self.rtps.match_local(now, Arc::clone(&path.link), guid, reliable, wants_history);
        path.set_alive(self.alive);
        self.local_readers.push(MatchedLocalReader {
            guid,
            cell,
            path,
            reliable,
            delivered: first.previous(),
            begun: false,
            behind_from: Some(first),
        });
        self.note_match(guid, effects);
        self.follow_up_and_come_back(now, effects);
        // Changes written after this point do not belong to the history.
        let history_end = self.rtps.newest_kept().map_or(first.previous(), |newest| newest.max(first.previous()));
        let history_expires = self.rtps.history_expires(first);
        let presented = self.rtps.presented_before(first);
        Some(LocalBegin { first, history_end, history_expires, reliable, terms: self.terms, presented })
    }

    /// Starts delivery to a local reader that knows the writer now. It gets its share of the history, and then each new
    /// change.
    pub(crate) fn begin_delivery(&mut self, reader: Guid, effects: &mut Effects) {
        for known in &mut self.local_readers {
            if known.guid == reader {
                known.begun = true;
            }
        }
        if self.redeliver(effects) {
            self.outgoing.come_back();
        }
    }

    fn note_match(&mut self, reader: Guid, effects: &mut Effects) {
        if self.subscriptions.contains(&reader) {
            return;
        }
        self.subscriptions.push(reader);
        self.matched.matched(InstanceHandle::from(reader));
        // The others count once their participant has acknowledged the writer.
        if self.reachable.contains(reader) {
            self.waiting_for_match.wake_all(effects);
        }
        self.mark(mark::MATCHED, effects);
    }

    /// Ends the match with a reader. `comes_back` means that the reader may return, because it was not disposed.
    pub(crate) fn unmatch(&mut self, reader: Guid, comes_back: bool, effects: &mut Effects) {
        let now = self.now(effects);
        if comes_back {
            self.rtps.lose_reader(now, reader);
        } else {
            self.rtps.unmatch_reader(now, reader);
        }
        self.local_readers.retain(|known| known.guid != reader);
        // The reader no longer holds back acknowledgements or room, so all waiters below check again.
        self.reachable.remove(reader);
        self.note_not_demoted(reader, effects);
        if let Some(at) = self.subscriptions.iter().position(|known| *known == reader) {
            self.subscriptions.swap_remove(at);
            self.matched.unmatched(InstanceHandle::from(reader));
            self.mark(mark::MATCHED, effects);
        }
        self.waiting_for_acknowledgment.wake_all(effects);
        self.waiting_for_room.wake_one(effects);
        self.follow_up_and_come_back(now, effects);
    }

    pub(crate) fn note_incompatible(&mut self, policies: &[PolicyId], effects: &mut Effects) {
        self.incompatible.note(policies);
        self.mark(mark::INCOMPATIBLE_QOS, effects);
    }

    pub(super) fn mark(&mut self, mark: u32, effects: &mut Effects) {
        self.observers.status_changed(mark, effects);
        self.audience.mark(mark, effects);
    }

    /// Returns whether the awaited event has happened, and registers the waiter if not.
    pub(crate) fn wait(
        &mut self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: Waker,
        effects: &mut Effects,
    ) -> bool {
        let acknowledged = matches!(awaited, Awaited::Acknowledged(_));
        if acknowledged {
            // Set before the check, so that no progress after it goes unnoticed.
            self.request_local_progress();
        }
        let there = match awaited {
            Awaited::Matched(count) => self.reachable.count_of(self.subscriptions.len()) >= count,
            // A best-effort reader acknowledges nothing, but the samples for it must be sent.
            Awaited::Acknowledged(number) => self.rtps.is_acknowledged(number) && self.rtps.sent_up_to() >= number,
            // The writer has no other awaited events.
            _ => true,
        };
        let wakers = self.wakers(awaited);
        if there {
            wakers.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        wakers.register(ticket, waker, effects);
        if acknowledged {
            // Request acknowledgements now. Otherwise the last samples wait for the next heartbeat.
            let now = self.now(effects);
            self.rtps.request_acknowledgments(now);
            self.follow_up_and_come_back(now, effects);
        }
        false
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

    fn wakers(&mut self, awaited: Awaited) -> &mut Wakers {
        match awaited {
            Awaited::Matched(_) => &mut self.waiting_for_match,
            _ => &mut self.waiting_for_acknowledgment,
        }
    }

    pub(crate) fn abandon(&mut self, awaited: Awaited, ticket: Ticket, effects: &mut Effects) {
        self.wakers(awaited).abandon(&mut Some(ticket), effects);
    }

    pub(crate) fn receive_ack_nack(&mut self, asker: Asker, message: &AckNack, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.handle_acknack(now, asker, message);
        self.follow_up_and_come_back(now, effects);
    }

    pub(crate) fn receive_nack_frag(&mut self, asker: Asker, message: &NackFrag, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.handle_nack_frag(now, asker, message);
        self.follow_up_and_come_back(now, effects);
    }

    /// Closes the writer for the application and wakes all waiters. The writer may still wait for acknowledgements.
    pub(super) fn close(&mut self, effects: &mut Effects) {
        let before = self.last.instant;
        let now = self.now(effects);
        self.reachable.close(&self.rtps, before, now.instant);
        self.rtps.flush();
        self.follow_up_and_come_back(now, effects);
        self.observers.close(effects);
        self.wake_everybody(effects);
    }

    /// Returns whether the application has closed the writer.
    pub(super) fn is_closed(&self) -> bool {
        self.observers.is_closed()
    }

    pub(crate) fn observers(&mut self) -> &mut Observers {
        &mut self.observers
    }

    pub(crate) fn matched(&mut self) -> &mut MatchCounter {
        &mut self.matched
    }

    pub(crate) fn slow_readers(&mut self) -> &mut MatchCounter {
        self.slow_readers.counter()
    }

    pub(crate) fn incompatible(&mut self) -> &mut IncompatibleQosStatus {
        &mut self.incompatible
    }

    pub(crate) fn subscriptions(&self) -> &[Guid] {
        &self.subscriptions
    }
}

impl Awaitable for WriterActor {
    fn wake_everybody(&mut self, effects: &mut Effects) {
        self.waiting_for_match.wake_all(effects);
        self.waiting_for_acknowledgment.wake_all(effects);
        self.waiting_for_room.wake_all(effects);
        self.waiting_for_send.wake_all(effects);
    }
}

impl Actor for WriterActor {
    type Mail = WriterMail;

    fn handle(&mut self, mail: WriterMail, effects: &mut Effects) {
        let now = self.now(effects);
        match mail {
            WriterMail::AckNack(asker, message) => self.rtps.handle_acknack(now, asker, &message),
            WriterMail::NackFrag(asker, message) => self.rtps.handle_nack_frag(now, asker, &message),
        }
        self.take_events(effects);
        // The signal after all mail sends once. A visitor may find an inbox full of requests, and must not send a whole
        // visit's share of datagrams for each of them.
        self.outgoing.come_back();
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_everybody(effects);
    }

    fn handle_signals(&mut self, _signals: Signals, effects: &mut Effects) {
        let now = self.now(effects);
        if !self.slow_readers.is_empty() {
            // Set before the check, so that no progress after it goes unnoticed.
            self.request_local_progress();
        }
        self.rtps.handle_local_progress(now);
        self.rtps.handle_timeout(now);
        self.follow_liveliness(effects);
        if !self.waiting_for_acknowledgment.is_empty() {
            self.waiting_for_acknowledgment.wake_all(effects);
        }
        self.waiting_for_room.wake_one(effects);
        if self.redeliver(effects) {
            self.outgoing.come_back();
        }
        self.follow_up_and_come_back(now, effects);
    }
}
