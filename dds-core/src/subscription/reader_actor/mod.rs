//! State of a reader in its cell: the protocol's reader, waiters and statuses.
//!
//! - `mod`: the state, its events, its waits and the selection of samples.
//! - `receive`: changes and submessages on their way in.
//! - `matching`: matched writers, their liveliness and their history.

mod matching;
mod receive;

use crate::actor::{Actor, Awaitable, Cell, Effects, Signals, Spill, Ticket, Wakers};
use crate::delivery::LocalParcel;
use crate::driver::{Driver, Flushed, Outgoing};
use crate::endpoint::{EndpointActor, EndpointState};
use crate::infrastructure::{Awaited, mark};
use crate::subscription::events::ReportedToReaderEvents;
use crate::subscription::group_access::GroupMembership;
use crate::subscription::spilled::{CHANGES_SPILLED, SpilledChanges};
use crate::subscription::statuses::{Dropped, ReaderStatuses};
use crate::subscription::{ReaderEvent, ReaderMail};
use dds_rtps::filter::Filter;
use dds_rtps::history::{HistorySample, Operation, ReaderTiming, Selection};
use dds_rtps::reader::{LossCause, Losses, StatefulReader, StatefulReaderEvent};
use dds_rtps::types::{Guid, Now, Time};
use matching::LocalWriter;
use std::sync::Arc;
use std::task::Waker;

/// Cell of a reader.
pub(crate) type ReaderCell = Cell<ReaderActor>;

/// A local writer found the inbox full and must be notified when it has room.
pub(crate) const WRITER_STARVES: Signals = Signals::own(0);

/// The liveliness of a local writer changed.
pub(crate) const WRITER_LIVELINESS: Signals = Signals::own(2);

/// State of a reader.
pub(crate) struct ReaderActor {
    rtps: StatefulReader,
    endpoint: EndpointState,
    spilled: Arc<SpilledChanges>,
    created_at: Time,
    local_writers: Vec<LocalWriter>,
    /// Writers whose match the reader reports once they know the reader.
    unaware: Vec<Guid>,
    statuses: ReaderStatuses,
    waiting_for_data: Wakers,
    waiting_for_history: Wakers,
    /// Number of writers that had not delivered their history when the waits for it were last woken.
    histories_pending: usize,
    /// Membership in the gate of the subscriber, under PRESENTATION scope GROUP.
    membership: Option<Box<GroupMembership>>,
}

impl ReaderActor {
    pub(super) fn new(rtps: StatefulReader, driver: Arc<dyn Driver>, outgoing: Outgoing) -> Self {
        let endpoint = EndpointState::new(driver, outgoing);
        Self {
            rtps,
            spilled: Arc::new(SpilledChanges::new()),
            created_at: endpoint.last().time,
            endpoint,
            local_writers: Vec::new(),
            unaware: Vec::new(),
            statuses: ReaderStatuses::default(),
            waiting_for_data: Wakers::new(),
            waiting_for_history: Wakers::new(),
            histories_pending: 0,
            membership: None,
        }
    }

    /// Replaces the protocol's reader before the reader is enabled. Returns the old one, which the caller drops outside
    /// of the cell.
    pub(super) fn replace_protocol(&mut self, rtps: StatefulReader) -> StatefulReader {
        debug_assert!(self.endpoint.peers().is_empty(), "a disabled reader matches no writer");
        debug_assert!(self.local_writers.is_empty(), "a disabled reader gets no local change");
        std::mem::replace(&mut self.rtps, rtps)
    }

    /// Joins the gate of the subscriber.
    pub(super) fn set_membership(&mut self, membership: GroupMembership) {
        debug_assert!(self.membership.is_none(), "a reader is enabled once");
        self.membership = Some(Box::new(membership));
    }

    /// Completes every visit that may have changed the protocol's state: sends, reports events and sets the next
    /// deadline.
    fn follow_up(&mut self, now: Now, effects: &mut Effects) {
        self.pass_gate(now, effects);
        self.take_events(effects);
        self.send(now);
    }

    /// Adds new changes to the gate of the subscriber and moves released ones, if there is a gate.
    #[inline]
    fn pass_gate(&mut self, now: Now, effects: &mut Effects) {
        if let Some(membership) = &mut self.membership {
            membership.pass_group_gate(&mut self.rtps, now, effects);
        }
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
        self.endpoint.mark(mark::DATA, effects);
    }

    fn take_all_events(&mut self, effects: &mut Effects) {
        while let Some(event) = self.rtps.poll_event() {
            match event {
                StatefulReaderEvent::DataAvailable => self.note_data(effects),
                // Samples that their writer replaced are no alarm. The ledger counts them.
                StatefulReaderEvent::SampleLost { cause: LossCause::Replaced, .. } => {}
                StatefulReaderEvent::SampleLost { count, .. } => {
                    self.statuses.note_lost(count);
                    self.endpoint.mark(mark::SAMPLE_LOST, effects);
                }
                StatefulReaderEvent::SampleRejected { writer, instance, reason, count } => {
                    let is_first = self.statuses.note_rejected(count, reason, instance);
                    // Once, and only if the sample does not come again. Else the writer waits, and says so itself.
                    if is_first && !self.rtps.withholds_acknowledgment() {
                        effects.defer(Arc::new(Dropped { reader: self.rtps.guid(), writer, reason }));
                    }
                    self.endpoint.mark(mark::SAMPLE_REJECTED, effects);
                }
                StatefulReaderEvent::DeadlineMissed(missed) => self.endpoint.note_missed_deadlines(missed, effects),
                StatefulReaderEvent::LocalSpace { writer } => self.note_space(writer, effects),
                StatefulReaderEvent::KnownToWriter => self.report_aware_writers(effects),
                StatefulReaderEvent::LivelinessChanged => self.endpoint.mark(mark::LIVELINESS_CHANGED, effects),
                _ => {}
            }
        }
    }

    /// Sends the protocol's messages and sets the timer.
    #[inline]
    fn send(&mut self, now: Now) {
        let is_awaited = self.membership.is_some() || !self.waiting_for_history.is_empty();
        // Most visits leave nothing to send and no timer to set.
        if is_awaited || !self.rtps.is_at_rest() || !self.endpoint.outgoing.is_at_rest() {
            self.send_and_set_timer(now);
        }
    }

    fn send_and_set_timer(&mut self, now: Now) {
        let asking = match &self.membership {
            Some(membership) => membership.deadline(),
            None => None,
        };
        let history = self.next_history_expiry();
        let expiry = asking.into_iter().chain(history).min();
        let (rtps, outgoing) = (&mut self.rtps, &mut self.endpoint.outgoing);
        if rtps.is_at_rest() && outgoing.is_at_rest() && expiry.is_none() {
            return;
        }
        if outgoing.flush(|datagram| rtps.poll_transmit(now, datagram)) == Flushed::More {
            // The rest is sent by a later visit, so that this caller does not hold the cell for too long.
            outgoing.come_back();
        }
        let deadline = rtps.deadline();
        // `None` is less than any instant, so the minimum of both is right only if both exist.
        outgoing.set_deadline(deadline.min(expiry).or(deadline).or(expiry));
    }

    /// Sets the content filter for later samples.
    pub(super) fn set_filter(&mut self, filter: Arc<Filter>) {
        self.rtps.set_filter(Some(filter));
    }

    /// Updates the reader's own policies of time.
    pub(super) fn set_timing(&mut self, timing: ReaderTiming, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        self.rtps.set_timing(now, timing);
        self.follow_up(now, effects);
    }

    /// Reads or takes into `list`. Returns how many unread samples were ever replaced by newer ones.
    pub(super) fn select(
        &mut self,
        selection: &Selection<'_>,
        operation: Operation,
        list: &mut Vec<HistorySample>,
        effects: &mut Effects,
    ) -> u64 {
        let now = self.selection_time(effects);
        self.rtps.select(now, selection, operation, list);
        // Taking resets DATA_AVAILABLE, also if unread samples remain (DDS 1.4, 2.2.4.1).
        let observers = self.endpoint.notifier.observers();
        observers.status_read(mark::DATA);
        // Read conditions look at the states of samples, which have changed.
        observers.notify(mark::SELECTED, effects);
        self.follow_up(now, effects);
        self.rtps.history().counters().overwritten_unread
    }

    /// Returns whether a selected sample exists. Does not mark it as read.
    pub(super) fn has_matching(&mut self, selection: &Selection<'_>, effects: &mut Effects) -> bool {
        let now = self.selection_time(effects);
        let found = self.rtps.has_matching(now, selection);
        // Expired samples may have left room.
        self.follow_up(now, effects);
        found
    }

    /// The history usually contains nothing that depends on time. Then the clock is not read.
    #[inline]
    fn selection_time(&mut self, effects: &mut Effects) -> Now {
        if self.rtps.needs_clock() { self.endpoint.now(effects) } else { self.endpoint.last() }
    }

    /// Moves the changes that the gate of the subscriber has released.
    pub(super) fn pass_group_gate(&mut self, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        self.follow_up(now, effects);
    }

    /// Returns the ranks of the selected samples among those of all readers of the subscriber.
    pub(super) fn ranks(&mut self, selection: &Selection<'_>, effects: &mut Effects) -> Vec<u64> {
        let now = self.endpoint.now(effects);
        let names = self.rtps.history_mut().identities_of(now, selection);
        match &self.membership {
            Some(membership) => membership.ranks_of(&names),
            None => Vec::new(),
        }
    }

    /// Registers a waiter for samples without checking for samples.
    pub(super) fn wait_for_data(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        self.waiting_for_data.register(ticket, waker, effects);
    }

    /// Wakes the waits for `enable`. From now on they wait for samples.
    pub(super) fn note_enabled(&mut self, effects: &mut Effects) {
        self.waiting_for_data.wake_all(effects);
    }

    /// Notifies the listener if data arrived since the last read.
    pub(super) fn notify_of_data(&mut self, effects: &mut Effects) {
        self.endpoint.notifier.notify_of_data(effects);
    }

    /// Notifies the listener if samples remain, also if none arrived since the last read.
    pub(super) fn notify_of_rest(&mut self, effects: &mut Effects) {
        if self.has_matching(&Selection::default(), effects) {
            self.endpoint.notifier.notify_of_rest(effects);
        }
    }

    /// Returns what happened to the samples of the matched writers.
    pub(super) fn losses(&mut self) -> Losses {
        self.spilled.settle(&mut self.rtps);
        self.rtps.losses()
    }

    /// Statuses that only readers have.
    pub(super) fn statuses(&mut self) -> &mut ReaderStatuses {
        &mut self.statuses
    }

    /// Time at which the reader was created.
    pub(super) fn created_at(&self) -> Time {
        self.created_at
    }

    pub(crate) fn rtps(&self) -> &StatefulReader {
        &self.rtps
    }
}

impl EndpointActor for ReaderActor {
    type Event = ReaderEvent;
    type Reported = ReportedToReaderEvents;
    const STATUSES: &'static [u32] = &[
        mark::MATCHED,
        mark::INCOMPATIBLE_QOS,
        mark::SAMPLE_LOST,
        mark::SAMPLE_REJECTED,
        mark::LIVELINESS_CHANGED,
        mark::DEADLINE_MISSED,
    ];

    fn endpoint(&mut self) -> &mut EndpointState {
        &mut self.endpoint
    }

    fn read_event(&mut self, mark: u32) -> Option<ReaderEvent> {
        let Self { rtps, endpoint, statuses, .. } = self;
        Some(match mark {
            mark::MATCHED => ReaderEvent::Matched(endpoint.matched().read()),
            mark::INCOMPATIBLE_QOS => ReaderEvent::IncompatibleQos(endpoint.incompatible().read()),
            mark::SAMPLE_LOST => ReaderEvent::SampleLost(statuses.read_lost()),
            mark::SAMPLE_REJECTED => ReaderEvent::SampleRejected(statuses.read_rejected()),
            mark::LIVELINESS_CHANGED => ReaderEvent::LivelinessChanged(statuses.read_liveliness(rtps.liveliness())),
            mark::DEADLINE_MISSED => ReaderEvent::DeadlineMissed(endpoint.deadlines().read()),
            _ => return None,
        })
    }

    fn event_since(&mut self, mark: u32, reported: &mut ReportedToReaderEvents) -> Option<ReaderEvent> {
        match mark {
            mark::SAMPLE_LOST => reported.lost(&self.statuses),
            mark::SAMPLE_REJECTED => reported.rejected(&self.statuses),
            mark::LIVELINESS_CHANGED => reported.liveliness(self.rtps.liveliness()),
            _ => reported.common(mark, &mut self.endpoint),
        }
    }

    fn wait(&mut self, awaited: Awaited, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) -> bool {
        let (there, wakers) = match awaited {
            Awaited::Matched(count) => (self.endpoint.peers().len() >= count, &mut self.endpoint.waiting_for_match),
            // All waits for samples share one queue, also the wait for `enable`.
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

    fn abandon(&mut self, awaited: Awaited, ticket: Ticket, effects: &mut Effects) {
        let wakers = match awaited {
            Awaited::Matched(_) => &mut self.endpoint.waiting_for_match,
            Awaited::History => &mut self.waiting_for_history,
            _ => &mut self.waiting_for_data,
        };
        wakers.abandon(&mut Some(ticket), effects);
    }
}

impl Awaitable for ReaderActor {
    fn wake_all_waiters(&mut self, effects: &mut Effects) {
        self.endpoint.notifier.observers().close(effects);
        self.waiting_for_data.wake_all(effects);
        self.endpoint.waiting_for_match.wake_all(effects);
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
            ReaderMail::Packet { packet, run } => self.receive_packet(&packet, &run, effects),
        }
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_all_waiters(effects);
    }

    fn handle_signals(&mut self, signals: Signals, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        if signals.has(WRITER_STARVES) {
            // A visitor has emptied the inbox, so it has room again.
            for writer in &self.local_writers {
                writer.note_progress(effects);
            }
        }
        if signals.has(CHANGES_SPILLED) {
            self.spilled.settle(&mut self.rtps);
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
        mail.bytes()
    }
}
