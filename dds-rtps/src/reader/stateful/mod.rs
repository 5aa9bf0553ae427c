//! The stateful reader (RTPS 2.5, 8.4.12).

mod access;
pub(crate) mod incoming;

use crate::concurrent::LocalLink;
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind, ReaderHistory, ReaderTiming, ReceivedChange};
use crate::output::Datagram;
use crate::reader::config::{ReaderConfig, WriterProxyConfig};
use crate::reader::delivery::Sink;
use crate::reader::event::{Events, LossCause, ReaderCounters, ReaderEvent};
use crate::reader::ledger::tally::Tally;
use crate::reader::ledger::{Departed, distance};
use crate::reader::liveliness::LivelinessCounts;
use crate::reader::payload::{Intake, expiry};
use crate::reader::proxy::acknack::AnswerCounts;
use crate::reader::proxy::{Following, WriterProxy};
use crate::reader::stateful::access::WaitingForRoom;
use crate::types::{Agenda, Guid, Instant, Now, SequenceNumber, earliest};
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most writers that one reader matches. A peer can announce endpoints without end; this many writers of one topic are
/// a misconfiguration.
pub const WRITERS_MAX: usize = 4096;

/// What became of a change of a writer of the same process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalOutcome {
    /// It is in the history, or was rejected for good; acknowledged on the link.
    Accepted,
    /// There is no room, or it follows a change for which there was none: nothing is kept. When there is room, the link
    /// says from which number on changes are wanted again, and [`ReaderEvent::LocalSpace`] tells of it.
    Refused,
    /// Its writer is not matched.
    Unmatched,
}

/// A reader with a proxy for each matched writer.
///
/// In: submessages and changes of matched writers, the clock. Out: the history's content, [`ReaderEvent`]s, ACKNACK and
/// NACK_FRAG datagrams, the next deadline. After each `handle_*`, `match_*` or [`StatefulReader::select`] poll what comes
/// out: datagrams until there is none, events until there is none, then the deadline.
///
/// Every call does bounded work, whatever numbers a peer sends. In steady state nothing allocates.
#[derive(Debug)]
pub struct StatefulReader {
    pub(crate) config: ReaderConfig,
    pub(crate) history: ReaderHistory,
    pub(crate) proxies: Vec<WriterProxy>,
    /// What is counted of each of them.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) departed: Departed,
    /// The highest numbers of answers to writers that have gone: whoever is matched anew is not answered with lower ones.
    answered: AnswerCounts,
    pub(crate) by_guid: HashMap<Guid, usize, FixedState>,
    /// The proxy that was found last: most traffic comes in runs.
    pub(crate) last: usize,
    pub(crate) intake: Intake,
    pub(crate) events: Events,
    pub(crate) counters: ReaderCounters,
    /// When each writer is to be spoken to; a proxy that has settled since is looked at for nothing, once.
    pub(crate) agenda: Agenda,
    /// No fragmented best-effort sample is stale before this.
    pub(crate) next_stale: Option<Instant>,
    /// No writer's lease ends before this.
    pub(crate) next_lease: Option<Instant>,
    pub(crate) liveliness: LivelinessCounts,
    pub(crate) waiting: WaitingForRoom,
    /// What the gate of the subscriber has released and the history has no room for.
    pub(crate) released: VecDeque<ReceivedChange>,
}

impl StatefulReader {
    /// A reader that matches nobody yet.
    #[must_use]
    pub fn new(config: ReaderConfig) -> Self {
        Self {
            history: ReaderHistory::new(config.history()),
            proxies: Vec::new(),
            tallies: Vec::new(),
            departed: Departed::default(),
            answered: AnswerCounts::default(),
            by_guid: HashMap::with_hasher(FixedState::with_seed(config.seed)),
            last: 0,
            intake: Intake::new(config.key.clone(), config.filter.clone(), config.spare_bytes),
            events: Events::default(),
            counters: ReaderCounters::default(),
            agenda: Agenda::new(),
            next_stale: None,
            next_lease: None,
            liveliness: LivelinessCounts::default(),
            waiting: WaitingForRoom::default(),
            released: VecDeque::new(),
            config,
        }
    }

    /// The reader's name.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Whether it asks for what it misses.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.config.reliable
    }

    /// What has been received and not been taken.
    #[must_use]
    pub fn history(&self) -> &ReaderHistory {
        &self.history
    }

    /// The same, to count. To look and to take, use [`StatefulReader::has_matching`] and [`StatefulReader::select`], which let
    /// writers go on that wait for room: looking removes what has expired.
    pub fn history_mut(&mut self) -> &mut ReaderHistory {
        &mut self.history
    }

    /// What has been seen so far.
    #[must_use]
    pub fn counters(&self) -> ReaderCounters {
        ReaderCounters { slots_made: self.intake.slots_made(), ..self.counters }
    }

    /// The writers that are matched, local ones included.
    pub fn matched_writers(&self) -> impl ExactSizeIterator<Item = Guid> + '_ {
        self.proxies.iter().map(WriterProxy::guid)
    }

    /// Whether all matched reliable writers of other processes have been heard, and all that they had then is in the
    /// history. True without such writers.
    #[must_use]
    pub fn has_history(&self) -> bool {
        self.proxies.iter().all(|proxy| match &proxy.following {
            Following::Reliable(reliable) => reliable.has_history(),
            _ => true,
        })
    }

    /// Whether all that this writer had when it was first heard is in the history, or will never come. True of a writer
    /// that is not matched, of a best-effort one, of which nobody knows, and of one of this process
    /// ([`Self::next_of_local`]).
    #[must_use]
    pub fn has_history_of(&self, writer: Guid) -> bool {
        let proxy = self.by_guid.get(&writer).and_then(|&at| self.proxies.get(at));
        proxy.is_none_or(|proxy| match &proxy.following {
            Following::Reliable(reliable) => reliable.has_history(),
            _ => true,
        })
    }

    /// The number of the next change that is expected of a writer of this process.
    #[must_use]
    pub fn next_of_local(&self, writer: Guid) -> Option<SequenceNumber> {
        let proxy = self.by_guid.get(&writer).and_then(|&at| self.proxies.get(at))?;
        match &proxy.following {
            Following::Local(local) => Some(local.next),
            _ => None,
        }
    }

    /// Matches a writer of another participant, or updates what is known of one that is matched already: locators, lifespan
    /// and ownership strength; its reliability cannot change.
    ///
    /// `false`: it cannot be matched, because the reader is reliable and the writer is not, or because there are
    /// [`WRITERS_MAX`] already; these are counted ([`ReaderCounters::writers_refused`]).
    pub fn match_writer(&mut self, now: Now, writer: WriterProxyConfig) -> bool {
        if let Some(at) = self.find(writer.guid) {
            let reliable = self.proxies[at].config.reliable;
            self.history.set_ownership_strength(writer.guid, writer.ownership_strength);
            self.proxies[at].config = WriterProxyConfig { reliable, ..writer };
            self.proxies[at].reply = None;
            return true;
        }
        if self.config.reliable && !writer.reliable {
            return false;
        }
        let mut proxy = WriterProxy::remote(now.instant, writer, &self.config);
        if let Following::Reliable(reliable) = &mut proxy.following {
            reliable.asking.count_on(self.answered);
            let is_unheard = |proxy: &&WriterProxy| proxy.is_unheard();
            reliable.asking.give_time(self.proxies.iter().filter(is_unheard).count(), &self.config);
        }
        self.insert(proxy)
    }

    /// A writer of another process is there, as its participant has just shown: if it has never been heard, it is asked again.
    pub fn ask_again(&mut self, now: Now, writer: Guid) {
        let Some(at) = self.find(writer) else { return };
        if let Following::Reliable(reliable) = &mut self.proxies[at].following {
            reliable.asking.ask_again(now.instant);
            self.note_due(at);
        }
    }

    /// Matches a writer of the same process, whose changes come by [`StatefulReader::handle_local`] and begin with
    /// `first`, as the writer's own match has said. `link` is there if both are reliable.
    ///
    /// `false`: there are [`WRITERS_MAX`] already.
    pub fn match_local_writer(
        &mut self,
        _now: Now,
        writer: WriterProxyConfig,
        first: SequenceNumber,
        link: Option<Arc<LocalLink>>,
    ) -> bool {
        if let Some(at) = self.find(writer.guid) {
            self.history.set_ownership_strength(writer.guid, writer.ownership_strength);
            self.proxies[at].config = writer;
            return true;
        }
        self.insert(WriterProxy::local(writer, first, link))
    }

    fn insert(&mut self, proxy: WriterProxy) -> bool {
        if self.proxies.len() >= WRITERS_MAX {
            self.counters.writers_refused += 1;
            return false;
        }
        self.history.set_ownership_strength(proxy.guid(), proxy.config.ownership_strength);
        self.by_guid.insert(proxy.guid(), self.proxies.len());
        self.history.follow_writer(proxy.guid());
        self.proxies.push(proxy);
        self.tallies.push(Tally::new(&self.config));
        self.note_due(self.proxies.len() - 1);
        self.note_new_writer(self.proxies.len() - 1);
        true
    }

    /// Forgets a writer. Its instances lose it, and those that nobody else writes become NOT_ALIVE_NO_WRITERS; its samples
    /// stay. What is missing, what waited for it, and samples in pieces are lost. `false`: it was not matched.
    pub fn unmatch_writer(&mut self, now: Now, writer: Guid) -> bool {
        let Some(at) = self.by_guid.remove(&writer) else { return false };
        let mut proxy = self.proxies.swap_remove(at);
        let mut tally = self.tallies.swap_remove(at);
        if let Following::Reliable(reliable) = &proxy.following {
            self.answered = self.answered.max(reliable.asking.counts());
        }
        self.agenda.forget(at as u32);
        if let Some(moved) = self.proxies.get(at) {
            self.by_guid.insert(moved.guid(), at);
            self.agenda.relocate(self.proxies.len() as u32, at as u32);
        }
        let Self { config, history, events, counters, intake, .. } = self;
        let holds_back = config.holds_back();
        let mut sink = Sink { history, events, counters, tally: &mut tally, holds_back };
        proxy.abandon(&intake.large, &mut sink);
        sink.abandon_set(writer);
        self.close_row(&proxy, &tally);
        self.note_gone_writer(writer, proxy.lease.is_alive());
        if self.history.writer_lost(now, writer) {
            self.events.data_available();
        }
        self.resume(now);
        true
    }

    #[inline]
    pub(crate) fn find(&mut self, writer: Guid) -> Option<usize> {
        if self.proxies.get(self.last).is_some_and(|proxy| proxy.guid() == writer) {
            return Some(self.last);
        }
        self.find_other(writer)
    }

    fn find_other(&mut self, writer: Guid) -> Option<usize> {
        let at = self.by_guid.get(&writer).copied()?;
        self.last = at;
        Some(at)
    }

    /// A proxy has changed: its writer may have to be spoken to earlier than was known.
    #[inline]
    pub(crate) fn note_due(&mut self, at: usize) {
        if let Some(due) = self.proxies.get(at).and_then(WriterProxy::due) {
            self.agenda.bring_forward(at as u32, due);
        }
    }

    /// A change of a writer of the same process. Its payload is shared, not copied: it is taken out of `change`.
    ///
    /// `previous`: the number of the change that the writer handed over before this one; what lies between them does not
    /// exist any more. A reliable reader refuses what follows a change that it had to refuse.
    pub fn handle_local(&mut self, now: Now, change: &mut CacheChange, previous: SequenceNumber) -> LocalOutcome {
        let Some(at) = self.find(change.writer) else {
            self.counters.unmatched += 1;
            return LocalOutcome::Unmatched;
        };
        let Self { config, history, proxies, tallies, events, counters, intake, .. } = self;
        let lifespan = proxies[at].config.lifespan;
        let Following::Local(local) = &mut proxies[at].following else { return LocalOutcome::Unmatched };
        let number = change.sequence_number;
        if number < local.next {
            counters.duplicate += 1;
            return LocalOutcome::Accepted;
        }
        if local.link.is_some() && previous >= local.next {
            // It follows one that was refused: the writer goes back to that, so that the order stays.
            return LocalOutcome::Refused;
        }
        let has_data = change.kind == ChangeKind::Alive;
        let lifespan = change.origin.as_ref().map_or(lifespan, |origin| origin.lifespan);
        let expires = if has_data { expiry(now, change, lifespan) } else { None };
        let writer = change.writer;
        let is_end = change.is_end_of_set();
        let instance = if is_end { Some(change.instance) } else { intake.instance_of_local(change) };
        change.instance = instance.unwrap_or(change.instance);
        let is_wanted = is_end || intake.wants_local(change);
        if !is_wanted {
            // What is left of it says where a set goes on.
            (change.kind, change.payload) = (ChangeKind::Alive, None);
        }
        let has_data = has_data && is_wanted;
        let received = ReceivedChange { change: change.take(), has_data, expires, reception_timestamp: now.time };
        let holds_back = config.holds_back() && local.link.is_some();
        let mut sink = Sink { history, events, counters, tally: &mut tallies[at], holds_back };
        if instance.is_none() {
            sink.counters.not_decodable += 1;
            sink.lost(writer, 1, LossCause::NotDecodable);
        } else if is_end && sink.tally.sets.is_none() {
            // A set means nothing to this reader.
            sink.tally.pass(1);
        } else if !is_wanted && sink.tally.sets.is_none() {
            sink.tally.undelivered.filtered += 1;
        } else if sink.deliver(now, received, false).is_err() {
            local.refused = true;
            self.waiting.note(&self.history);
            return LocalOutcome::Refused;
        } else if !is_wanted {
            sink.tally.undelivered.filtered += 1;
        }
        let expected = std::mem::replace(&mut local.next, number.next());
        if let Some(link) = &local.link {
            link.acknowledge(number);
            if number > expected {
                // What the writer has replaced since does not exist any more; what it had to give up is lost.
                let given_up = distance(expected, link.given_up_before().min(number));
                sink.lost(writer, given_up, LossCause::NeverArrived);
                sink.tally.pass(distance(expected, number) - given_up);
            }
        } else {
            sink.lost(writer, distance(expected, number), LossCause::NeverArrived);
        }
        self.resume_if_room(now);
        LocalOutcome::Accepted
    }

    /// Does what is due: samples that expire, leases that end, fragments that no longer come. It means "look at your deadlines": calling it
    /// early, late or twice does no harm.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.history.handle_timeout(now) {
            self.events.data_available();
        }
        self.check_leases(now);
        if self.next_stale.is_some_and(|stale| stale <= now.instant) {
            self.next_stale = None;
            let Self { config, history, proxies, tallies, intake, events, counters, next_stale, .. } = self;
            let timeout = config.assembly_timeout;
            for (proxy, tally) in proxies.iter_mut().zip(tallies) {
                if !matches!(proxy.following, Following::BestEffort { .. }) {
                    continue;
                }
                let mut sink = Sink { history, events, counters, tally, holds_back: config.holds_back() };
                proxy.drop_stale(now.instant, timeout, &intake.large, &mut sink);
                *next_stale = earliest(*next_stale, proxy.assemblies.deadline(timeout));
            }
        }
        self.resume(now);
    }

    /// Changes DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub fn set_timing(&mut self, now: Now, timing: ReaderTiming) {
        if timing != std::mem::replace(&mut self.config.timing, timing) && self.history.set_timing(now, timing) {
            self.events.data_available();
        }
    }

    /// Which samples are wanted from now on, by their contents. Those that are kept stay.
    pub fn set_filter(&mut self, filter: Option<Arc<Filter>>) {
        self.intake.filter = filter;
    }

    /// Whether there is nothing to say to anybody and nothing that time changes: no need to poll for datagrams or a
    /// deadline.
    #[must_use]
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.is_timeless()
    }

    /// Whether a selection has a use for the time: something may expire, be asked for, or wait for room.
    #[must_use]
    #[inline]
    pub fn needs_clock(&self) -> bool {
        self.waiting.any() || !self.is_timeless()
    }

    /// Whether there is no deadline; as [`Self::deadline`] would say, without finding out which one is the earliest.
    #[inline]
    fn is_timeless(&self) -> bool {
        let own = self.agenda.is_empty() && self.next_stale.is_none() && self.next_lease.is_none();
        own && !self.history.has_deadline()
    }

    /// When [`StatefulReader::handle_timeout`] and [`StatefulReader::poll_transmit`] are to be called, if nothing else
    /// happens before. May be earlier than necessary, never later.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = earliest(earliest(self.agenda.first(), self.next_stale), self.next_lease);
        earliest(own, self.history.deadline())
    }

    /// Lays out one datagram, its destinations included, over what `datagram` held. `false`: there is nothing to say now,
    /// and `datagram` is as it was.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Who has waited longest goes first, so no writer is left out, however many there are. Each is looked at once: one that
        // says nothing may have to be looked at again at once.
        for _ in 0..self.proxies.len() {
            let Some(place) = self.agenda.first_due(now.instant) else { break };
            let Some(proxy) = self.proxies.get_mut(place as usize) else { break };
            let spoke = proxy.poll_transmit(now.instant, &self.config, &mut self.counters, datagram);
            self.agenda.set(place, proxy.due());
            if spoke {
                return true;
            }
        }
        false
    }

    /// Whether there is nothing to tell the owner but, perhaps, that there is data ([`StatefulReader::take_news_of_data`]): so it
    /// is after almost every sample.
    #[must_use]
    #[inline]
    pub fn has_only_data(&self) -> bool {
        self.events.is_only_data() && !self.history.has_timing()
    }

    /// Whether there is news of data; it is taken with that.
    #[must_use]
    #[inline]
    pub fn take_news_of_data(&mut self) -> bool {
        self.events.take_data()
    }

    /// What the owner should know, until there is nothing more.
    pub fn poll_event(&mut self) -> Option<ReaderEvent> {
        match self.history.take_missed() {
            Some(missed) => Some(ReaderEvent::DeadlineMissed(missed)),
            None => self.events.pop(),
        }
    }
}
