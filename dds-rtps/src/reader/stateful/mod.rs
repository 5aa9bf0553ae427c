//! The stateful reader (RTPS 2.5, 8.4.12): its parts, the match with writers, timeouts, datagrams and events.
//!
//! [`incoming`] handles submessages and local changes, [`access`] the calls of the application.

mod access;
pub(crate) mod incoming;

use super::change_builder::ChangeBuilder;
use super::config::{ReaderConfig, WriterProxyConfig};
use super::delivery::ChangeDelivery;
use super::event::{PendingEvents, ReaderCounters, StatefulReaderEvent};
use super::ledger::tally::UnmatchedRows;
use super::liveliness::LivelinessMonitor;
use super::proxy::{ProxyContext, WriterProxy};
use super::space::SpaceWait;
use super::writers::{MatchedWriter, WriterTable};
use crate::concurrent::LocalLink;
use crate::filter::Filter;
use crate::history::{ReaderHistory, ReaderTiming, ReceivedChange};
use crate::output::Datagram;
use crate::types::{Guid, Instant, Locator, Now, SequenceNumber, earliest};
use std::collections::VecDeque;
use std::sync::Arc;

/// A reader with a proxy for each matched writer.
///
/// In: submessages and changes of matched writers, the clock. Out: samples in the history, [`StatefulReaderEvent`]s,
/// ACKNACK and NACK_FRAG datagrams, the next deadline. After each `handle_*`, `match_*` or [`StatefulReader::select`]
/// the owner polls: datagrams until there are none, events until there are none, then the deadline.
///
/// Each call does bounded work for any numbers that a peer sends. In steady state nothing allocates.
#[derive(Debug)]
pub struct StatefulReader {
    pub(super) config: ReaderConfig,
    history: ReaderHistory,
    pub(super) writers: WriterTable,
    /// Rows of the ledger for unmatched writers.
    unmatched: UnmatchedRows,
    builder: ChangeBuilder,
    pub(super) events: PendingEvents,
    counters: ReaderCounters,
    liveliness: LivelinessMonitor,
    /// No fragmented best-effort sample is stale before this instant.
    next_stale: Option<Instant>,
    space: SpaceWait,
    /// Changes that the gate of the subscriber released and that wait for space in the history.
    released: VecDeque<ReceivedChange>,
}

/// Most locators that the answers to one writer go to.
const ANSWERED_AT_MAX: usize = 16;

impl StatefulReader {
    /// A reader without matched writers.
    #[must_use]
    pub fn new(config: ReaderConfig) -> Self {
        Self {
            history: ReaderHistory::new(config.history()),
            writers: WriterTable::new(config.hash_seed, config.wants_history),
            unmatched: UnmatchedRows::default(),
            builder: ChangeBuilder::new(config.key.clone(), config.filter.clone(), config.spare_bytes),
            events: PendingEvents::default(),
            counters: ReaderCounters::default(),
            liveliness: LivelinessMonitor::default(),
            next_stale: None,
            space: SpaceWait::default(),
            released: VecDeque::new(),
            config,
        }
    }

    /// GUID of the reader.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Whether the reader requests lost samples.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.config.reliable
    }

    /// Whether the owner awaits that the writers know this reader.
    #[must_use]
    pub fn awaits_writers(&self) -> bool {
        self.config.awaits_writers
    }

    /// Whether a rejected sample is not acknowledged, so that a reliable writer keeps it and sends it again.
    #[must_use]
    pub fn withholds_acknowledgment(&self) -> bool {
        self.config.withholds_acknowledgment()
    }

    /// Matches a writer of another participant, or updates a matched one: locators, lifespan, ownership strength.
    ///
    /// The reliability of a matched writer does not change. Returns `false` if the reader is reliable and the writer is
    /// not, or if there are [`WRITERS_MAX`](super::WRITERS_MAX) writers already, which
    /// [`ReaderCounters::writers_refused`] counts.
    pub fn match_writer(&mut self, now: Now, writer: WriterProxyConfig) -> bool {
        if let Some(at) = self.writers.find(writer.guid) {
            self.history.set_ownership_strength(writer.guid, writer.ownership_strength);
            let proxy = &mut self.writers.at_mut(at).proxy;
            // RELIABILITY cannot change while a writer is matched, and the state of the proxy depends on it.
            proxy.config = WriterProxyConfig { reliable: proxy.config.reliable, ..writer };
            // The locators are new: an old INFO_REPLY may point elsewhere.
            proxy.reply = None;
            return true;
        }
        if self.config.reliable && !writer.reliable {
            return false;
        }
        let mut proxy = WriterProxy::remote(now.instant, writer, &self.config);
        let position = self.writers.take_position(proxy.guid());
        if let Some(reliable) = proxy.reliable_mut() {
            if let Some(next) = position {
                reliable.resume_at(next);
            }
            // The writer may have kept its proxy of this reader, and would ignore lower counts as old.
            reliable.acknacks.continue_from(self.writers.counts_of_unmatched());
            reliable.acknacks.lengthen_preemptive_pause(self.writers.count_awaiting_heartbeat(), &self.config);
        }
        self.insert(proxy)
    }

    /// Matches a local writer. Its changes arrive by [`StatefulReader::handle_local`] and begin with `first`.
    ///
    /// `link`: `Some` if both are reliable. Returns `false` if there are [`WRITERS_MAX`](super::WRITERS_MAX) already.
    pub fn match_local_writer(
        &mut self,
        _now: Now,
        writer: WriterProxyConfig,
        first: SequenceNumber,
        link: Option<Arc<LocalLink>>,
    ) -> bool {
        if let Some(at) = self.writers.find(writer.guid) {
            self.history.set_ownership_strength(writer.guid, writer.ownership_strength);
            self.writers.at_mut(at).proxy.config = writer;
            return true;
        }
        self.insert(WriterProxy::local(writer, first, link))
    }

    fn insert(&mut self, proxy: WriterProxy) -> bool {
        if self.writers.is_full() {
            self.counters.writers_refused += 1;
            return false;
        }
        let writer = proxy.guid();
        self.history.set_ownership_strength(writer, proxy.config.ownership_strength);
        // From now on the history counts removed samples of this writer.
        self.history.follow_writer(writer);
        let at = self.writers.insert(MatchedWriter::new(proxy, &self.config));
        self.liveliness.writer_matched(writer, &self.writers.at(at).proxy.lease);
        self.events.liveliness_changed();
        true
    }

    /// Unmatches a writer. Returns `false` if it was not matched.
    ///
    /// Its samples stay. Instances without another writer become NOT_ALIVE_NO_WRITERS. Missing changes, changes that
    /// wait for them, and incomplete samples are lost.
    pub fn unmatch_writer(&mut self, now: Now, writer: Guid) -> bool {
        let Some(mut matched) = self.writers.remove(writer) else { return false };
        let MatchedWriter { proxy, tally, sets } = &mut matched;
        let mut delivery = ChangeDelivery {
            history: &mut self.history,
            events: &mut self.events,
            counters: &mut self.counters,
            tally,
            sets: sets.as_deref_mut(),
            withholds_acknowledgment: self.config.withholds_acknowledgment(),
        };
        proxy.close(now.instant, self.builder.large_slots(), &mut delivery);
        if let Some(sets) = delivery.sets.take() {
            sets.close(writer, &mut delivery);
        }
        // The history forgets its counts for the writer, so they move into the row.
        let mut row = matched.losses(&self.history.unfollow_writer(writer));
        row.close(matched.proxy.is_entitled());
        self.unmatched.push(row);
        self.liveliness.writer_unmatched(writer, matched.proxy.lease.is_alive());
        self.events.liveliness_changed();
        // Instances without another writer change their state, which the application sees.
        if self.history.writer_lost(now, writer) {
            self.events.data_available();
        }
        self.retry_refused(now);
        true
    }

    /// A participant announced itself: repeats the pre-emptive ACKNACK if its writer never sent a HEARTBEAT.
    ///
    /// Returns false if the writer has sent none yet.
    pub fn repeat_preemptive(&mut self, now: Now, writer: Guid) -> bool {
        let Some(at) = self.writers.find(writer) else { return true };
        let Some(reliable) = self.writers.at_mut(at).proxy.reliable_mut() else { return true };
        if !reliable.acknacks.awaits_heartbeat() {
            return true;
        }
        reliable.acknacks.repeat_preemptive(now.instant);
        self.writers.note_due(at);
        false
    }

    /// Sends the answers to a writer also to these locators. Its next match replaces them.
    pub fn add_locators(&mut self, writer: Guid, locators: &[Locator]) {
        let Some(at) = self.writers.find(writer) else { return };
        let unicast = &mut self.writers.at_mut(at).proxy.config.unicast;
        for locator in locators {
            if unicast.len() < ANSWERED_AT_MAX && !unicast.contains(locator) {
                unicast.push(*locator);
            }
        }
    }

    /// Requests the progress of a writer's group (PRESENTATION scope GROUP).
    pub fn request_progress(&mut self, now: Now, writer: Guid) {
        let Some(at) = self.writers.find(writer) else { return };
        if let Some(reliable) = self.writers.at_mut(at).proxy.reliable_mut() {
            reliable.acknacks.request_heartbeat_at(Some(now.instant));
            self.writers.note_due(at);
        }
    }

    /// Sets whether a matched writer is alive. For local writers, which have no lease here.
    pub fn set_writer_alive(&mut self, now: Now, writer: Guid, alive: bool) {
        let Some(at) = self.writers.find(writer) else { return };
        if self.writers.at(at).proxy.lease.is_alive() != alive {
            self.change_liveliness(now, at, alive);
        }
    }

    /// Checks the writers that are not alive: a participant asserted its liveliness (RTPS 2.5, 8.4.13.5).
    pub fn recheck_lost_writers(&mut self, now: Now) {
        if self.liveliness.counts().not_alive == 0 {
            return;
        }
        for at in 0..self.writers.len() {
            if self.writers.at(at).proxy.lease.can_renew(now.instant) {
                self.change_liveliness(now, at, true);
            }
        }
    }

    /// A writer lost or regained its liveliness.
    #[cold]
    fn change_liveliness(&mut self, now: Now, at: usize, alive: bool) {
        let proxy = &mut self.writers.at_mut(at).proxy;
        let writer = proxy.guid();
        self.liveliness.writer_changed(writer, &mut proxy.lease, alive);
        // Its instances become NOT_ALIVE_NO_WRITERS. They recover with its next sample.
        if !alive && self.history.writer_not_alive(now, writer) {
            self.events.data_available();
        }
        self.events.liveliness_changed();
    }

    /// Finds leases that have ended.
    fn check_leases(&mut self, now: Now) {
        let Some(is_late) = self.liveliness.begin_check(now.instant) else { return };
        let mut has_lost = false;
        for at in 0..self.writers.len() {
            let lease = &mut self.writers.at_mut(at).proxy.lease;
            if lease.has_ended(now.instant, is_late) {
                has_lost = true;
                self.change_liveliness(now, at, false);
            } else {
                self.liveliness.watch(lease);
            }
        }
        if has_lost {
            // An assertion may have arrived just before the ended lease began to wait for it.
            self.recheck_lost_writers(now);
        }
    }

    /// The proxy of a writer, and where it delivers to.
    fn proxy_and_delivery(&mut self, at: usize) -> (&mut WriterProxy, ChangeDelivery<'_>, ProxyContext<'_>) {
        let MatchedWriter { proxy, tally, sets } = self.writers.at_mut(at);
        let delivery = ChangeDelivery {
            history: &mut self.history,
            events: &mut self.events,
            counters: &mut self.counters,
            tally,
            sets: sets.as_deref_mut(),
            withholds_acknowledgment: self.config.withholds_acknowledgment(),
        };
        (proxy, delivery, ProxyContext { config: &self.config, slots: self.builder.large_slots() })
    }

    /// Does all work that is due: expired samples, ended leases, stale fragments.
    ///
    /// A call too early, too late or twice does no harm.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.history.handle_timeout(now) {
            self.events.data_available();
        }
        self.check_leases(now);
        if self.config.awaits_writers {
            self.note_silent_writers();
        }
        if self.next_stale.is_some_and(|stale| stale <= now.instant) {
            self.drop_stale(now);
        }
        self.retry_refused(now);
    }

    /// Reports writers that will not say whether they know the reader.
    fn note_silent_writers(&mut self) {
        let is_silent = |writer: &MatchedWriter| writer.proxy.awaits_heartbeat() && writer.proxy.knows_reader();
        if self.writers.iter().any(is_silent) {
            self.events.push(StatefulReaderEvent::KnownToWriter);
        }
    }

    /// Gives up the best-effort samples of which no fragment arrived for a while.
    fn drop_stale(&mut self, now: Now) {
        let timeout = self.config.assembly_timeout;
        self.next_stale = None;
        for at in 0..self.writers.len() {
            if !self.writers.at(at).proxy.is_best_effort() {
                continue;
            }
            let (proxy, mut delivery, context) = self.proxy_and_delivery(at);
            proxy.drop_stale(now.instant, timeout, context.slots, &mut delivery);
            // Samples with later fragments are stale later.
            let stale_at = proxy.assemblies.stale_at(timeout);
            self.next_stale = earliest(self.next_stale, stale_at);
        }
    }

    /// Changes DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub fn set_timing(&mut self, now: Now, timing: ReaderTiming) {
        if timing != std::mem::replace(&mut self.config.timing, timing) && self.history.set_timing(now, timing) {
            self.events.data_available();
        }
    }

    /// Changes the content filter. Samples in the history stay.
    pub fn set_filter(&mut self, filter: Option<Arc<Filter>>) {
        self.builder.set_filter(filter);
    }

    /// Whether there is no deadline and nothing to send: the owner need not poll.
    #[must_use]
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        !self.has_deadline()
    }

    /// Whether [`Self::select`] needs the current time.
    ///
    /// Samples may expire, changes may wait for space, or it is time to measure how long samples wait for the program.
    #[must_use]
    #[inline]
    pub fn needs_clock(&self) -> bool {
        self.space.is_waiting() || self.has_deadline() || self.history.measures_selection()
    }

    /// Whether [`Self::deadline`] would return one. Does not search for the earliest one.
    #[inline]
    fn has_deadline(&self) -> bool {
        self.writers.deadline().is_some()
            || self.next_stale.is_some()
            || self.liveliness.deadline().is_some()
            || self.history.has_deadline()
    }

    /// When to call [`StatefulReader::handle_timeout`] and [`StatefulReader::poll_transmit`] at the latest.
    ///
    /// May be earlier than necessary, never later.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = earliest(earliest(self.writers.deadline(), self.next_stale), self.liveliness.deadline());
        earliest(own, self.history.deadline())
    }

    /// Writes one datagram and its destinations, and replaces the content of `datagram`.
    ///
    /// Returns `false` if there is nothing to send now; then `datagram` does not change.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let Self { config, writers, counters, .. } = self;
        writers.transmit_next(now.instant, |proxy| proxy.poll_transmit(now.instant, config, counters, datagram))
    }

    /// Whether no event waits but, perhaps, [`StatefulReaderEvent::DataAvailable`]: the state after almost every
    /// sample.
    ///
    /// Then [`StatefulReader::take_data_available`] replaces [`StatefulReader::poll_event`].
    #[must_use]
    #[inline]
    pub fn has_only_data(&self) -> bool {
        self.events.has_only_data() && !self.history.has_timing()
    }

    /// Takes [`StatefulReaderEvent::DataAvailable`]. Returns `false` if it does not wait.
    #[must_use]
    #[inline]
    pub fn take_data_available(&mut self) -> bool {
        self.events.take_data_available()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<StatefulReaderEvent> {
        match self.history.take_missed() {
            // The history collects missed deadlines itself, as it knows the instances.
            Some(missed) => Some(StatefulReaderEvent::DeadlineMissed(missed)),
            None => self.events.pop(),
        }
    }
}
