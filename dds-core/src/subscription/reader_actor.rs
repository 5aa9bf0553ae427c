//! State of a reader in its cell: the protocol's reader, waiters and statuses.

use crate::actor::{Actor, Awaitable, Cell, Effects, Poke, Signals, Spill, Ticket, Wakers};
use crate::delivery::{LocalBegin, LocalParcel, LocalPath, LocalTerms};
use crate::driver::{Driver, Flushed, Outgoing};
use crate::infrastructure::{
    Audience, Awaited, DeadlineCounter, IncompatibleQosStatus, ListenerPanics, LivelinessRead, MatchCounter, Observed,
    Observers, SampleLostStatus, SampleRejectedStatus, mark,
};
use crate::qos::PolicyId;
use crate::subscription::group_access::GroupMembership;
use crate::subscription::spilled::{CHANGES_SPILLED, SpilledChanges};
use crate::subscription::{ParsedRun, SubmessageRun, SubmessageRunEnd};
use dds_rtps::concurrent::{Payload, PayloadSource};
use dds_rtps::filter::Filter;
use dds_rtps::history::{CacheChange, HistorySample, Operation, ReaderTiming, Selection};
use dds_rtps::reader::{
    InPlaceFragment, LocalOutcome, ReaderEvent as ProtocolEvent, Source, StatefulReader, WriterProxyConfig,
};
use dds_rtps::types::{Guid, InstanceHandle, Instant, Now, SequenceNumber, Time};
use dds_rtps::wire::{Message, Submessage};
use std::sync::{Arc, Weak};
use std::task::Waker;

/// Cell of a reader.
pub(crate) type ReaderCell = Cell<ReaderActor>;

/// Mail of a reader.
pub(crate) enum ReaderMail {
    /// Change of a local writer.
    Local {
        /// The change. Its payload is the writer's own slot.
        change: CacheChange,
        /// Sequence number of the change that the writer delivered before. Changes in between no longer exist.
        ///
        /// A full reader refuses changes, and later ones must not overtake them.
        previous: SequenceNumber,
        /// Path back to the writer, if both endpoints are reliable.
        path: Option<Arc<LocalPath>>,
    },
    /// Submessages that arrived while the cell was occupied.
    Packet {
        /// Datagram, shared with the receive buffer.
        packet: Payload,
        /// Position of the submessages in the datagram.
        run: SubmessageRun,
    },
    /// Fragment that was received in place while the cell was occupied.
    InPlace {
        /// Place of the fragment in its assembly.
        fragment: Option<InPlaceFragment>,
        /// Sender of the fragment.
        source: Source,
    },
}

impl ReaderMail {
    /// Creates mail from a change that the reader could not process in place.
    pub(crate) fn local(parcel: LocalParcel<'_>) -> Self {
        let LocalParcel { change, previous, path } = parcel;
        Self::Local { change: change.take(), previous, path: path.cloned() }
    }

    /// Returns the local writer of the change.
    pub(crate) fn local_writer(&self) -> Option<Guid> {
        if let Self::Local { change, .. } = self { Some(change.writer) } else { None }
    }
}

/// Matched local writer.
pub(super) struct LocalWriter {
    pub(super) guid: Guid,
    path: Arc<LocalPath>,
    /// Last change that it had written before the match.
    pub(super) history_end: SequenceNumber,
    /// Time at which all of its history has expired that this reader has not received.
    pub(super) history_expires: Option<Instant>,
}

/// State of a reader.
pub(crate) struct ReaderActor {
    pub(super) rtps: StatefulReader,
    pub(super) spilled: Arc<SpilledChanges>,
    driver: Arc<dyn Driver>,
    pub(super) last: Now,
    created_at: Time,
    outgoing: Outgoing,
    pub(super) local_writers: Vec<LocalWriter>,
    pub(super) publications: Vec<Guid>,
    matched: MatchCounter,
    incompatible: IncompatibleQosStatus,
    pub(super) lost: SampleLostStatus,
    pub(super) lost_read: u64,
    pub(super) rejected: SampleRejectedStatus,
    pub(super) rejected_read: u64,
    pub(super) liveliness_read: LivelinessRead,
    pub(super) deadlines: DeadlineCounter,
    audience: Audience,
    panics: ListenerPanics,
    observers: Observers,
    waiting_for_data: Wakers,
    waiting_for_match: Wakers,
    pub(super) waiting_for_history: Wakers,
    /// Membership in the gate of the subscriber, under PRESENTATION scope GROUP.
    pub(super) membership: Option<Box<GroupMembership>>,
    /// Number of writers that had not delivered their history when the waits for it were last woken.
    pub(super) histories_pending: usize,
}

/// A local writer found the inbox full and must be notified when it has room.
pub(crate) const WRITER_STARVES: Signals = Signals::own(0);

/// The liveliness of a local writer changed.
pub(crate) const WRITER_LIVELINESS: Signals = Signals::own(2);

impl ReaderActor {
    pub(crate) fn new(rtps: StatefulReader, driver: Arc<dyn Driver>, outgoing: Outgoing) -> Self {
        let now = driver.now();
        Self {
            rtps,
            spilled: Arc::new(SpilledChanges::new()),
            last: now,
            created_at: now.time,
            driver,
            outgoing,
            local_writers: Vec::new(),
            publications: Vec::new(),
            matched: MatchCounter::default(),
            incompatible: IncompatibleQosStatus::default(),
            lost: SampleLostStatus::default(),
            lost_read: 0,
            rejected: SampleRejectedStatus::default(),
            rejected_read: 0,
            liveliness_read: LivelinessRead::default(),
            deadlines: DeadlineCounter::default(),
            audience: Audience::default(),
            panics: ListenerPanics::default(),
            observers: Observers::default(),
            waiting_for_data: Wakers::new(),
            waiting_for_match: Wakers::new(),
            waiting_for_history: Wakers::new(),
            membership: None,
            histories_pending: 0,
        }
    }

    /// Replaces the protocol's reader before the reader is enabled. Returns the old one, which the caller drops outside
    /// of the cell.
    pub(crate) fn replace_protocol(&mut self, rtps: StatefulReader) -> StatefulReader {
        debug_assert!(self.publications.is_empty(), "a disabled reader matches no writer");
        std::mem::replace(&mut self.rtps, rtps)
    }

    /// Sets the cell of the actor.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>) {
        self.outgoing.attach(cell);
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

    /// Returns the time of the current batch of effects. It never goes back.
    pub(super) fn now(&mut self, effects: &mut Effects) -> Now {
        let now = effects.now(|| self.driver.now());
        self.last.instant = self.last.instant.max(now.instant);
        self.last.time = now.time;
        self.last
    }

    /// Processes a change of a local writer.
    pub(crate) fn receive_local(&mut self, parcel: LocalParcel<'_>, effects: &mut Effects) {
        let now = self.now(effects);
        if self.rtps.liveliness().not_alive > 0 {
            // A writer that becomes alive again does so before its change is processed.
            self.follow_local_writers(now, false);
        }
        let outcome = self.rtps.handle_local(now, parcel.change, parcel.previous);
        if let (LocalOutcome::Accepted, Some(path)) = (outcome, parcel.path) {
            path.progressed(effects);
        }
        self.follow_up(now, effects);
    }

    /// Processes submessages of a matched writer in place, on the borrowed datagram. Returns where they end.
    pub(crate) fn receive(
        &mut self,
        run: &SubmessageRun,
        parsed: ParsedRun<'_, '_>,
        packet: &dyn PayloadSource,
        effects: &mut Effects,
    ) -> SubmessageRunEnd {
        let end = run.walk_on(parsed, |source, submessage| self.handle_submessage(source, submessage, packet, effects));
        let now = self.last;
        self.follow_up(now, effects);
        end
    }

    fn handle_submessage(
        &mut self,
        source: &Source,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
        effects: &mut Effects,
    ) {
        let now = self.now(effects);
        match submessage {
            Submessage::Data(data) => self.rtps.handle_data(now, source, data, packet),
            Submessage::DataFrag(data) => self.rtps.handle_data_frag(now, source, data),
            Submessage::Heartbeat(heartbeat) => self.rtps.handle_heartbeat(now, source, heartbeat),
            Submessage::HeartbeatFrag(heartbeat) => self.rtps.handle_heartbeat_frag(now, source, heartbeat),
            Submessage::Gap(gap) => self.rtps.handle_gap(now, source, gap),
            _ => return,
        };
    }

    /// Completes every visit that may have changed the protocol's state: sends, reports events and sets the next
    /// deadline.
    pub(super) fn follow_up(&mut self, now: Now, effects: &mut Effects) {
        self.pass_gate(now, effects);
        self.take_events(effects);
        self.send(now);
    }

    #[inline]
    fn take_events(&mut self, effects: &mut Effects) {
        // Most visits report only new data, which needs no queue of events.
        if !self.rtps.has_only_data() {
            self.take_all_events(effects);
        } else if self.rtps.take_data_available() {
            self.note_data(effects);
        }
        if !self.waiting_for_history.is_empty() {
            self.notify_history_waits(effects);
        }
    }

    fn note_data(&mut self, effects: &mut Effects) {
        if !self.waiting_for_data.is_empty() {
            self.waiting_for_data.wake_all(effects);
        }
        self.mark(mark::DATA, effects);
    }

    fn take_all_events(&mut self, effects: &mut Effects) {
        while let Some(event) = self.rtps.poll_event() {
            match event {
                ProtocolEvent::DataAvailable => self.note_data(effects),
                ProtocolEvent::SampleLost { count, .. } => {
                    self.lost.total_count = self.lost.total_count.saturating_add(count);
                    self.mark(mark::SAMPLE_LOST, effects);
                }
                ProtocolEvent::SampleRejected { instance, reason, count, .. } => {
                    self.rejected.note(count, reason, instance);
                    self.mark(mark::SAMPLE_REJECTED, effects);
                }
                ProtocolEvent::DeadlineMissed(missed) => {
                    self.deadlines.note(missed);
                    self.mark(mark::DEADLINE_MISSED, effects);
                }
                ProtocolEvent::LocalSpace { writer } => self.note_space(writer, effects),
                ProtocolEvent::LivelinessChanged => self.mark(mark::LIVELINESS_CHANGED, effects),
                _ => {}
            }
        }
    }

    /// Sends the protocol's messages and sets the timer.
    #[inline]
    pub(super) fn send(&mut self, now: Now) {
        let is_awaited = self.membership.is_some() || !self.waiting_for_history.is_empty();
        // Most visits leave nothing to send and no timer to set.
        if is_awaited || !self.rtps.is_at_rest() || !self.outgoing.is_at_rest() {
            self.send_and_set_timer(now);
        }
    }

    fn send_and_set_timer(&mut self, now: Now) {
        let asking = self.membership.as_ref().and_then(|membership| membership.deadline());
        let history = self.next_history_expiry();
        let expiry = asking.into_iter().chain(history).min();
        if self.rtps.is_at_rest() && self.outgoing.is_at_rest() && expiry.is_none() {
            return;
        }
        let rtps = &mut self.rtps;
        if self.outgoing.flush(|datagram| rtps.poll_transmit(now, datagram)) == Flushed::More {
            self.outgoing.come_back();
        }
        let deadline = self.rtps.deadline();
        self.outgoing.set_deadline(deadline.min(expiry).or(deadline).or(expiry));
    }

    fn mark(&mut self, mark: u32, effects: &mut Effects) {
        self.observers.status_changed(mark, effects);
        self.audience.mark(mark, effects);
    }

    pub(crate) fn match_remote(&mut self, writer: WriterProxyConfig, effects: &mut Effects) {
        let now = self.now(effects);
        let guid = writer.guid;
        self.add_remote_to_gate(&writer);
        if self.rtps.match_writer(now, writer) {
            self.note_match(guid, effects);
        }
        self.follow_up(now, effects);
    }

    /// Matches a local writer, which delivers from `begin` on.
    pub(crate) fn match_local(&mut self, guid: Guid, begin: LocalBegin, path: Arc<LocalPath>, effects: &mut Effects) {
        let now = self.now(effects);
        let mut writer = local_proxy(guid, begin.terms);
        writer.reliable = begin.reliable;
        let link = begin.reliable.then(|| Arc::clone(&path.link));
        self.rtps.match_local_writer(now, writer, begin.first, link);
        self.add_local_to_gate(guid, &begin);
        let LocalBegin { history_end, history_expires, .. } = begin;
        self.local_writers.push(LocalWriter { guid, path, history_end, history_expires });
        self.note_match(guid, effects);
        self.follow_local_writers(now, true);
        self.follow_up(now, effects);
    }

    /// Updates the policies of a local writer that matches already.
    pub(crate) fn set_terms_of(&mut self, writer: Guid, terms: LocalTerms, effects: &mut Effects) {
        let now = self.now(effects);
        if self.local_writers.iter().any(|known| known.guid == writer) {
            self.rtps.match_writer(now, local_proxy(writer, terms));
        }
    }

    /// Updates the liveliness of local writers. Without `all`, only of those that are alive again.
    fn follow_local_writers(&mut self, now: Now, all: bool) {
        for writer in &self.local_writers {
            let alive = writer.path.is_alive();
            if alive || all {
                self.rtps.set_writer_alive(now, writer.guid, alive);
            }
        }
    }

    /// Checks writers that do not count as alive, after their participants sent a message.
    pub(crate) fn recheck_lost_writers(&mut self, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.recheck_lost_writers(now);
        self.follow_up(now, effects);
    }

    /// Sets the content filter for later samples.
    pub(crate) fn set_filter(&mut self, filter: Arc<Filter>) {
        self.rtps.set_filter(Some(filter));
    }

    /// Updates the reader's own policies of time.
    pub(crate) fn set_timing(&mut self, timing: ReaderTiming, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.set_timing(now, timing);
        self.follow_up(now, effects);
    }

    fn note_match(&mut self, writer: Guid, effects: &mut Effects) {
        if self.publications.contains(&writer) {
            return;
        }
        self.publications.push(writer);
        self.matched.matched(InstanceHandle::from(writer));
        self.waiting_for_match.wake_all(effects);
        self.mark(mark::MATCHED, effects);
    }

    pub(crate) fn unmatch(&mut self, writer: Guid, effects: &mut Effects) {
        let now = self.now(effects);
        // The proxy knows which sequence numbers are lost, so this comes before its removal.
        self.settle_spilled();
        self.rtps.unmatch_writer(now, writer);
        self.leave_gate(writer, now, effects);
        self.local_writers.retain(|known| known.guid != writer);
        if let Some(at) = self.publications.iter().position(|known| *known == writer) {
            self.publications.swap_remove(at);
            self.matched.unmatched(InstanceHandle::from(writer));
            self.mark(mark::MATCHED, effects);
        }
        self.follow_up(now, effects);
    }

    pub(crate) fn note_incompatible(&mut self, policies: &[PolicyId], effects: &mut Effects) {
        self.incompatible.note(policies);
        self.mark(mark::INCOMPATIBLE_QOS, effects);
    }

    /// Reads or takes into `list`.
    pub(crate) fn select(
        &mut self,
        selection: &Selection<'_>,
        operation: Operation,
        list: &mut Vec<HistorySample>,
        effects: &mut Effects,
    ) {
        // The history usually contains nothing that depends on time. Then the clock is not read.
        let now = if self.rtps.needs_clock() { self.now(effects) } else { self.last };
        self.rtps.select(now, selection, operation, list);
        self.observers.status_read(mark::DATA);
        self.observers.notify(mark::SELECTED, effects);
        self.follow_up(now, effects);
    }

    /// Returns whether a selected sample exists. Does not mark it as read.
    pub(crate) fn has_matching(&mut self, selection: &Selection<'_>, effects: &mut Effects) -> bool {
        let now = if self.rtps.needs_clock() { self.now(effects) } else { self.last };
        let found = self.rtps.has_matching(now, selection);
        // Expired samples may have left room.
        self.follow_up(now, effects);
        found
    }

    /// Notifies a local writer whose change was refused that there is room.
    fn note_space(&mut self, writer: Guid, effects: &mut Effects) {
        if let Some(writer) = self.local_writers.iter().find(|known| known.guid == writer) {
            writer.path.call(effects);
        }
    }

    /// Returns whether the awaited event has happened, and registers the waiter if not.
    pub(crate) fn wait(
        &mut self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: Waker,
        effects: &mut Effects,
    ) -> bool {
        let (there, wakers) = match awaited {
            Awaited::Matched(count) => (self.matched.current() as usize >= count, &mut self.waiting_for_match),
            _ => (self.rtps.history().not_read_len() > 0, &mut self.waiting_for_data),
        };
        if there {
            wakers.finish(ticket, effects);
            effects.discard(waker);
        } else {
            wakers.register(ticket, waker, effects);
        }
        there
    }

    /// Registers a waiter for samples without checking for samples.
    pub(super) fn wait_for_data(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        self.waiting_for_data.register(ticket, waker, effects);
    }

    /// Wakes the waits for `enable`. From now on they wait for samples.
    pub(super) fn note_enabled(&mut self, effects: &mut Effects) {
        self.waiting_for_data.wake_all(effects);
    }

    pub(crate) fn abandon(&mut self, awaited: Awaited, ticket: Ticket, effects: &mut Effects) {
        let wakers = match awaited {
            Awaited::Matched(_) => &mut self.waiting_for_match,
            Awaited::History => &mut self.waiting_for_history,
            _ => &mut self.waiting_for_data,
        };
        wakers.abandon(&mut Some(ticket), effects);
    }

    /// Notifies the listener if data arrived since the last read.
    pub(crate) fn notify_of_data(&mut self, effects: &mut Effects) {
        if self.observers.changed() & mark::DATA != 0 {
            self.audience.mark_data_available(effects);
        }
    }

    pub(crate) fn observers(&mut self) -> &mut Observers {
        &mut self.observers
    }

    /// Time at which the reader was created.
    pub(crate) fn created_at(&self) -> Time {
        self.created_at
    }

    pub(crate) fn rtps(&self) -> &StatefulReader {
        &self.rtps
    }

    pub(crate) fn matched(&mut self) -> &mut MatchCounter {
        &mut self.matched
    }

    pub(crate) fn incompatible(&mut self) -> &mut IncompatibleQosStatus {
        &mut self.incompatible
    }

    pub(crate) fn publications(&self) -> &[Guid] {
        &self.publications
    }
}

/// Writer proxy of a local writer.
fn local_proxy(writer: Guid, terms: LocalTerms) -> WriterProxyConfig {
    let LocalTerms { lifespan, ownership_strength } = terms;
    WriterProxyConfig { lifespan, ownership_strength, ..WriterProxyConfig::new(writer) }
}

impl Observed for ReaderCell {
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool {
        self.with(effects, |actor, effects| visit(&mut actor.observers, effects)).is_ok()
    }
}

impl Awaitable for ReaderActor {
    fn wake_everybody(&mut self, effects: &mut Effects) {
        self.observers.close(effects);
        self.waiting_for_data.wake_all(effects);
        self.waiting_for_match.wake_all(effects);
        self.waiting_for_history.wake_all(effects);
    }
}

impl Actor for ReaderActor {
    type Mail = ReaderMail;

    fn handle(&mut self, mail: ReaderMail, effects: &mut Effects) {
        match mail {
            ReaderMail::Local { mut change, previous, path } => {
                self.receive_local(LocalParcel { change: &mut change, previous, path: path.as_ref() }, effects);
            }
            ReaderMail::InPlace { fragment, source } => {
                if let Some(fragment) = fragment {
                    // No thread receives here, so drop the next place.
                    drop(self.receive_in_place(&source, fragment, effects));
                }
            }
            ReaderMail::Packet { packet, run } => {
                // The datagram parsed before it became mail.
                if let Ok(message) = Message::parse(packet.bytes()) {
                    run.walk(&message, |source, submessage| {
                        self.handle_submessage(source, submessage, &packet, effects)
                    });
                    self.pass_gate(self.last, effects);
                    self.take_events(effects);
                    // The signal after all mail answers once for all of it.
                    self.outgoing.come_back();
                }
            }
        }
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_everybody(effects);
    }

    fn handle_signals(&mut self, signals: Signals, effects: &mut Effects) {
        let now = self.now(effects);
        if signals.has(WRITER_STARVES) {
            // A visitor has emptied the inbox, so it has room again.
            for writer in &self.local_writers {
                writer.path.progressed(effects);
            }
        }
        if signals.has(CHANGES_SPILLED) {
            self.settle_spilled();
        }
        if signals.has(WRITER_LIVELINESS) {
            self.follow_local_writers(now, true);
        }
        // If a local writer starves, do not repeat refused requests of other writers. They would send the same changes,
        // starve again, and so on.
        if signals != WRITER_STARVES {
            self.rtps.handle_timeout(now);
        }
        self.follow_up(now, effects);
    }

    fn spill(&self) -> Option<Arc<dyn Spill<ReaderMail>>> {
        Some(Arc::clone(&self.spilled) as Arc<dyn Spill<ReaderMail>>)
    }

    fn mail_bytes(mail: &ReaderMail) -> usize {
        match mail {
            ReaderMail::Local { change, .. } => change.payload.as_ref().map_or(0, Payload::len),
            ReaderMail::Packet { packet, .. } => packet.len(),
            ReaderMail::InPlace { fragment, .. } => fragment.as_ref().map_or(0, InPlaceFragment::len),
        }
    }
}
