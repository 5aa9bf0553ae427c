//! The writer that knows its readers (RTPS 2.5, 8.4.7 and 8.4.9).

use super::absent::Absent;
use super::batch::Batch;
use super::config::{
    FlowConfig, NewChange, ReaderProxyConfig, WriteRefused, WriterConfig, WriterCounters, WriterEvent,
};
use super::destinations::Destinations;
use super::filtered::Addressees;
use super::heartbeat::HeartbeatSchedule;
use super::layout::Sender;
use super::liveliness::Promise;
use super::local_reader::LocalReader;
use super::pace::Pace;
use super::presentation::WriterPresentation;
use super::reader_proxy::ReaderProxy;
use super::slow_reader::{SlowReaders, Standing};
use crate::concurrent::LocalLink;
use crate::history::{CacheChange, ChangeKind, HistoryFull, WriterHistory};
use crate::qos::Durability;
use crate::types::{Guid, Instant, Now, Ranking, SequenceNumber};
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Readers of other processes of a writer at a time. Each costs a walk over all of them when one comes or goes.
pub const READERS_MAX: usize = 4096;

/// A writer, best effort or reliable, with its history and its matched readers.
///
/// Use: [`write`](Self::write) or any other input, then [`poll_transmit`](Self::poll_transmit) until it answers `false`,
/// [`poll_event`](Self::poll_event) until it answers `None`, and [`handle_timeout`](Self::handle_timeout) at
/// [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct StatefulWriter {
    pub(super) config: WriterConfig,
    pub(super) history: WriterHistory,
    /// The last number given out.
    pub(super) last: SequenceNumber,
    /// The next number to send to all, and its next fragment, from 1.
    pub(super) next: SequenceNumber,
    pub(super) next_fragment: u32,
    pub(super) batch: Batch,
    /// Bytes of whole changes that are under way and not noted with the readers yet.
    pub(super) not_noted: usize,
    /// It may be that nothing more may go out now: to be looked at before the next change.
    pub(super) way_is_full: bool,
    pub(super) proxies: Vec<ReaderProxy>,
    by_guid: HashMap<Guid, usize, FixedState>,
    pub(super) locals: Vec<LocalReader>,
    pub(super) destinations: Destinations,
    pub(super) addressees: Addressees,
    /// Indexes of the proxies for which there is something to send, each once, served in turns.
    pub(super) queue: VecDeque<usize>,
    /// The queue goes before new changes, once.
    pub(super) queue_first: bool,
    /// When a proxy has to be put into the queue.
    waiting_until: Option<Instant>,
    /// How fast large samples go to readers that never answer.
    pub(super) pace: Pace,
    pub(super) heartbeat: HeartbeatSchedule,
    pub(super) liveliness_due: bool,
    pub(super) promise: Promise,
    pub(super) absent: Absent,
    /// `None`: no set, no order beyond its own.
    pub(super) presentation: Option<Box<WriterPresentation>>,
    /// Up to where all reliable proxies that are waited for have everything; [`SequenceNumber::MAX`] if there are none.
    pub(super) remote_acknowledged: SequenceNumber,
    /// The same of all reliable proxies.
    pub(super) remote_received: SequenceNumber,
    /// The reliable proxies by how far they are.
    pub(super) progress: Ranking<SequenceNumber>,
    pub(super) slow_readers: SlowReaders,
    /// Reliable proxies that are waited for and have never answered.
    pub(super) unheard: usize,
    /// So many datagrams with samples may still ask for their sake.
    pub(super) helps_left: u32,
    /// Reliable proxies that are still to be told where what they are to get begins.
    pub(super) strangers: usize,
    /// The last number reported by [`WriterEvent::Acknowledged`].
    reported: SequenceNumber,
    pub(super) acknowledged_event: bool,
    /// A write has been refused, and nothing has come free since.
    pub(super) refused: bool,
    pub(super) space_freed_event: bool,
    /// See [`StatefulWriter::write_through`]; decided anew when readers come and go.
    pub(super) writes_through: bool,
    /// It has, or has had, a lifespan.
    pub(super) mortal: bool,
    /// No change before this one has a lifespan.
    pub(super) mortal_from: SequenceNumber,
    pub(super) counters: WriterCounters,
}

impl StatefulWriter {
    /// A writer without readers.
    #[must_use]
    pub fn new(config: WriterConfig) -> Self {
        let keeps = config.durability > Durability::Volatile;
        let mut history = WriterHistory::new(config.limits, keeps, config.seed);
        history.set_deadline(Instant::ZERO, config.deadline);
        Self {
            history,
            last: SequenceNumber::ZERO,
            next: SequenceNumber::FIRST,
            next_fragment: 1,
            batch: Batch::new(config.batch_window),
            not_noted: 0,
            way_is_full: false,
            proxies: Vec::new(),
            by_guid: HashMap::with_hasher(FixedState::with_seed(config.seed)),
            locals: Vec::new(),
            destinations: Destinations::new(&[], config.fragment_size, config.flow),
            addressees: Addressees::default(),
            queue: VecDeque::new(),
            queue_first: false,
            waiting_until: None,
            pace: Pace::new(config.flow.network),
            heartbeat: HeartbeatSchedule::new(
                config.heartbeat_period,
                config.unheard_period_max,
                &config.limits,
                config.keyed,
            ),
            liveliness_due: false,
            promise: Promise::new(config.liveliness, config.assertion_clock.clone()),
            absent: Absent::default(),
            presentation: WriterPresentation::new(&config),
            remote_acknowledged: SequenceNumber::MAX,
            remote_received: SequenceNumber::MAX,
            progress: Ranking::new(),
            slow_readers: SlowReaders::default(),
            unheard: 0,
            helps_left: 0,
            strangers: 0,
            reported: SequenceNumber::ZERO,
            acknowledged_event: false,
            refused: false,
            space_freed_event: false,
            writes_through: false,
            mortal: !config.lifespan.is_infinite(),
            mortal_from: SequenceNumber::FIRST,
            counters: WriterCounters::default(),
            config,
        }
    }

    /// The writer's name.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Adds a change to the history; it can be sent from now on. Local readers are given [`Self::change`] of it.
    ///
    /// The newest change stays in the history at least until the next write.
    ///
    /// # Errors
    /// [`WriteRefused`], and nothing has changed but that a HEARTBEAT may have become due: poll for datagrams then, or
    /// the readers will not make room.
    pub fn write(&mut self, now: Now, mut change: NewChange) -> Result<SequenceNumber, WriteRefused> {
        self.try_write(now, &mut change)
    }

    /// As [`Self::write`], but the payload stays in `change` if it is refused, for another attempt.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn try_write(&mut self, now: Now, change: &mut NewChange) -> Result<SequenceNumber, WriteRefused> {
        if change.payload.as_ref().is_some_and(|payload| u32::try_from(payload.len()).is_err()) {
            self.counters.refused += 1;
            return Err(WriteRefused::TooLarge);
        }
        if self.lacks_registration(change) {
            self.counters.refused += 1;
            return Err(WriteRefused::UnknownInstance);
        }
        let mut acknowledged = self.acknowledged();
        self.history.retire(self.finished_up_to(self.received(acknowledged)));
        if let Err(no_room) = self.history.check_room(change.instance, acknowledged) {
            acknowledged =
                self.make_room(now, change.instance, no_room).map_err(|no_room| self.refuse(now, no_room))?;
        }
        let source_timestamp = change.source_timestamp.unwrap_or(now.time);
        let sequence_number = self.last.next();
        let presented = self.presentation.as_mut().and_then(|presentation| presentation.present(sequence_number));
        let change = CacheChange {
            kind: change.kind,
            writer: self.config.guid,
            sequence_number,
            instance: change.instance,
            source_timestamp,
            related_sample: change.related_sample,
            origin: change.origin.take(),
            presented,
            payload: change.payload.take(),
        };
        // An end does not run out: who still has to be told of it could not learn it otherwise.
        let expires = if change.kind == ChangeKind::Alive { self.expiry(now, &change) } else { None };
        let instance = change.instance;
        match self.history.insert(change, expires, acknowledged) {
            Ok(replaced) => {
                if let Some(replaced) = replaced {
                    self.counters.overwritten_unacknowledged += u64::from(replaced > acknowledged);
                    self.note_given_up(replaced, acknowledged);
                }
            }
            Err(no_room) => return Err(self.refuse(now, no_room)),
        }
        if self.history.watches_deadline() {
            self.history.meet_deadline(instance, now.instant);
        }
        self.last = sequence_number;
        self.counters.written += 1;
        self.promise.assert(now.instant);
        if self.batch.is_on() {
            self.add_to_batch(now);
        } else {
            self.batch.release(sequence_number);
        }
        self.skip_if_nobody_listens();
        Ok(sequence_number)
    }

    /// Who writes, as a message for all readers says it.
    pub(super) fn sender(&self) -> Sender<'_> {
        Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: self.config.hashed_type.as_ref(),
            inline_qos: if self.destinations.expects_inline_qos { &self.config.inline_qos } else { &[] },
        }
    }

    pub(super) fn lacks_registration(&self, change: &NewChange) -> bool {
        change.must_be_registered && !self.history.is_registered(change.instance)
    }

    /// A change, for as long as it is in the history.
    #[must_use]
    pub fn change(&self, sequence_number: SequenceNumber) -> Option<&CacheChange> {
        self.history.get(sequence_number).map(|stored| &stored.change)
    }

    /// The changes from `sequence_number` on that are in the history, in order: for a reader of this process that comes
    /// late or asks again.
    pub fn changes_from(&self, sequence_number: SequenceNumber) -> impl Iterator<Item = &CacheChange> + '_ {
        self.history.iter_from(sequence_number).map(|stored| &stored.change)
    }

    /// The number of the newest change; [`SequenceNumber::ZERO`] before the first.
    #[must_use]
    pub fn last_sequence_number(&self) -> SequenceNumber {
        self.last
    }

    /// The number of the newest change that is in the history.
    #[must_use]
    pub fn newest_kept(&self) -> Option<SequenceNumber> {
        self.history.last()
    }

    /// How many changes are in the history.
    #[must_use]
    pub fn history_len(&self) -> usize {
        self.history.len()
    }

    /// Up to where changes have been laid out for all readers of other processes. Behind it are changes that nobody has
    /// polled for, and large ones that wait for room on their way ([`FlowConfig`]).
    #[must_use]
    pub fn sent_up_to(&self) -> SequenceNumber {
        self.next.previous()
    }

    /// Whether the writer repairs what reliable readers miss.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.config.reliable
    }

    /// How many readers of other processes are matched.
    #[must_use]
    pub fn remote_readers(&self) -> usize {
        self.proxies.len()
    }

    /// What has been counted.
    #[must_use]
    pub fn counters(&self) -> WriterCounters {
        self.counters
    }

    /// Matches a reader of another process. One that is matched already takes on the new locators and QoS, and keeps its
    /// state.
    ///
    /// `false`: it is not matched, because there are [`READERS_MAX`] already; counted ([`WriterCounters::readers_refused`]).
    pub fn match_reader(&mut self, now: Now, reader: ReaderProxyConfig) -> bool {
        let reliable = reader.reliable && self.config.reliable;
        let index = self.by_guid.get(&reader.guid).copied();
        if index.is_none() && self.proxies.len() >= READERS_MAX {
            self.counters.readers_refused += 1;
            return false;
        }
        let known = index.and_then(|index| self.proxies.get_mut(index)).and_then(|proxy| proxy.filtered.take());
        let filtered = self.filter_of(&reader, known);
        if let Some(proxy) = index.and_then(|index| self.proxies.get_mut(index)) {
            proxy.config = reader;
            proxy.filtered = filtered;
            proxy.reply = None;
            proxy.reliable = reliable;
            proxy.heartbeat_owed &= reliable;
            proxy.note_knowledge(!proxy.knows_start);
        } else {
            self.forget_finished();
            let wants_history = reader.wants_history && self.config.durability > Durability::Volatile;
            let first = self.history.first().filter(|_| wants_history).unwrap_or(self.last.next());
            let index = self.proxies.len();
            self.by_guid.insert(reader.guid, index);
            let FlowConfig { same_host, network, .. } = self.config.flow;
            let window = if reader.same_host { same_host } else { network };
            self.welcome_back(now, reader.guid);
            let mut proxy = ReaderProxy::new(reader, reliable, first, window);
            proxy.filtered = filtered;
            proxy.last_relevant = if proxy.config.live { SequenceNumber::MAX } else { self.last };
            // What has not been sent to anybody yet will go to all, this reader included.
            proxy.send_backlog(self.next.previous(), self.config.unasked_max);
            self.settle_in(&mut proxy);
            self.proxies.push(proxy);
            self.enqueue(now, index);
            self.reader_came(now, index);
            return true;
        }
        self.readers_changed(now);
        true
    }

    /// How many unregistered instances are remembered for readers that were here before and come back; see
    /// [`WriterHistory::keep_departures`].
    pub fn keep_departures(&mut self, count: usize) {
        self.history.keep_departures(count);
        self.retire();
    }

    /// Forgets a reader, of this or another process. Returns whether it was matched.
    pub fn unmatch_reader(&mut self, now: Now, guid: Guid) -> bool {
        let locals = self.locals.len();
        self.locals.retain(|local| local.guid != guid);
        let was_local = self.locals.len() < locals;
        let Some(index) = self.by_guid.remove(&guid) else {
            if was_local {
                self.settle(now);
            }
            return was_local;
        };
        self.proxies.swap_remove(index);
        let moved = self.proxies.len();
        if let Some(proxy) = self.proxies.get(index) {
            self.by_guid.insert(proxy.config.guid, index);
        }
        self.queue.retain(|&queued| queued != index);
        self.queue.iter_mut().filter(|queued| **queued == moved).for_each(|queued| *queued = index);
        self.readers_changed(now);
        true
    }

    /// Matches a reader of this process, and says which number is the first that it is to get: from there on it is handed
    /// [`Self::changes_from`], and then each change as it is written.
    pub fn match_local(
        &mut self,
        now: Now,
        link: Arc<LocalLink>,
        guid: Guid,
        reliable: bool,
        wants_history: bool,
    ) -> SequenceNumber {
        self.forget_finished();
        let wants_history = wants_history && self.config.durability > Durability::Volatile;
        let first_relevant = self.history.first().filter(|_| wants_history).unwrap_or(self.last.next());
        let reliable = reliable && self.config.reliable;
        self.locals.retain(|local| local.guid != guid);
        let standing = Standing::default();
        self.locals.push(LocalReader { guid, link, reliable, first_relevant, standing });
        self.settle(now);
        first_relevant
    }

    /// A reader of this process has acknowledged more on its link. Writing looks by itself; this is for a writer that
    /// waits for room or for acknowledgements.
    pub fn handle_local_progress(&mut self, now: Now) {
        self.settle(now);
    }

    /// Somebody waits for acknowledgements: asks for them now, and more often until they have come.
    pub fn request_acknowledgments(&mut self, now: Now) {
        let waits = self.batch.is_on() && self.next <= self.last;
        self.flush();
        if self.expects_answer() || waits {
            self.heartbeat.hurry(now.instant, waits);
        }
    }

    /// Changes the parameters for readers that expect inline QoS ([`WriterConfig::inline_qos`]).
    pub fn set_inline_qos(&mut self, parameters: &[u8]) {
        self.config.inline_qos.clear();
        self.config.inline_qos.extend_from_slice(parameters);
    }

    /// Whether there is nobody to send to and nothing that time changes: no need to poll for datagrams or a deadline.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let until = self.waiting_until.or(self.slow_readers.deadline()).or(self.promise.deadline());
        self.proxies.is_empty()
            && self.config.lifespan.is_infinite()
            && until.is_none()
            && !self.history.watches_deadline()
    }

    /// When [`Self::handle_timeout`] is to be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let expiry = if self.mortal { self.next_expiring().and_then(|stored| stored.expires) } else { None };
        // One by one: as a chain of iterators it costs as much as laying out a sample.
        let mut earliest = self.heartbeat.deadline();
        let mut note = |deadline: Option<Instant>| {
            if let Some(deadline) = deadline {
                earliest = Some(earliest.map_or(deadline, |earliest| earliest.min(deadline)));
            }
        };
        note(self.waiting_until);
        note(self.slow_readers.deadline());
        note(self.promise.deadline());
        note(expiry);
        note(self.batch.deadline());
        note(self.history.next_deadline());
        earliest
    }

    /// Time has passed. Calling it early or late does no harm.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.unheard > 0 {
            self.note_who_owes();
        }
        self.heartbeat.handle_timeout(now.instant, self.expects_answer());
        self.batch.handle_timeout(now.instant, self.last);
        if self.waiting_until.is_some_and(|until| until <= now.instant) {
            self.waiting_until = None;
            (0..self.proxies.len()).for_each(|index| self.enqueue(now, index));
        }
        self.drop_expired(now);
        self.history.miss_deadlines(now.instant);
        if self.slow_readers.deadline().is_some_and(|deadline| deadline <= now.instant) {
            self.review_slow_readers(now);
            self.settle(now);
        }
        self.promise.check(now.instant);
    }

    /// What has happened since the last call; `None`: nothing more.
    pub fn poll_event(&mut self) -> Option<WriterEvent> {
        if let Some(missed) = self.history.take_missed() {
            return Some(WriterEvent::DeadlineMissed(missed));
        }
        if std::mem::take(&mut self.space_freed_event) {
            return Some(WriterEvent::SpaceFreed);
        }
        if let Some(event) = self.slow_readers.poll_event() {
            return Some(event);
        }
        if self.promise.take_event() {
            return Some(WriterEvent::LivelinessLost);
        }
        if !std::mem::take(&mut self.acknowledged_event) {
            return None;
        }
        let acknowledged = self.acknowledged();
        // It falls when a late joiner comes, and what that one acknowledges then is news again.
        let before = std::mem::replace(&mut self.reported, acknowledged);
        (acknowledged > before).then_some(WriterEvent::Acknowledged(acknowledged))
    }

    /// Puts a proxy into the queue if there is something to send, or notes when there will be.
    pub(super) fn enqueue(&mut self, now: Now, index: usize) {
        let Some(proxy) = self.proxies.get_mut(index).filter(|proxy| !proxy.queued) else { return };
        let suppression = self.config.nack_suppression;
        proxy.ask_if_stuck(now.instant);
        if proxy.has_work(now.instant, suppression) {
            proxy.queued = true;
            self.queue.push_back(index);
        }
        // What is overdue goes out now, and then comes here again.
        if let Some(later) = proxy.work_later(now.instant, suppression).filter(|&later| later > now.instant) {
            self.wait_until(later);
        }
    }

    /// Looks after the proxies at `later`, or earlier.
    pub(super) fn wait_until(&mut self, later: Instant) {
        self.waiting_until = Some(self.waiting_until.map_or(later, |until| until.min(later)));
    }

    /// The proxy of a reliable reader.
    pub(super) fn reliable_proxy(&self, guid: Guid) -> Option<usize> {
        let index = *self.by_guid.get(&guid)?;
        self.proxies.get(index).filter(|proxy| proxy.reliable).map(|_| index)
    }

    /// Without readers of other processes nothing is kept for sending.
    pub(super) fn skip_if_nobody_listens(&mut self) {
        if !self.destinations.anywhere {
            self.next = self.last.next();
            self.next_fragment = 1;
            self.flush();
        }
    }

    pub(super) fn settle(&mut self, now: Now) {
        self.writes_through = self.can_write_through();
        if self.slow_readers.any() {
            self.review_slow_readers(now);
        }
        self.retire();
        self.drop_expired(now);
        self.acknowledged_event = true;
        if self.refused && !self.history_is_stuck() {
            self.free_space();
        }
    }

    /// Tells whoever waits for room.
    pub(super) fn free_space(&mut self) {
        self.refused = false;
        self.space_freed_event = true;
        self.heartbeat.relax();
    }

    /// The last reader has just come. Nobody else is looked at: where hundreds of participants meet, that would be most of the
    /// work.
    fn reader_came(&mut self, now: Now, index: usize) {
        self.destinations.add_last(&self.proxies);
        self.count_stranger(index);
        self.note_progress_of(index);
        self.readers_are_known(now);
    }

    fn readers_changed(&mut self, now: Now) {
        self.destinations = Destinations::new(&self.proxies, self.config.fragment_size, self.config.flow);
        self.count_strangers();
        self.note_progress_of_all();
        self.readers_are_known(now);
    }

    fn readers_are_known(&mut self, now: Now) {
        self.pace.set_burst(self.destinations.burst);
        self.skip_if_nobody_listens();
        if self.expects_answer() {
            self.heartbeat.welcome(now.instant);
        } else {
            self.heartbeat.note_answer(now.instant, false);
        }
        self.settle(now);
    }

    fn refuse(&mut self, now: Now, no_room: HistoryFull) -> WriteRefused {
        self.counters.refused += 1;
        match no_room {
            HistoryFull::Unacknowledged => {
                self.refused = true;
                let waits = self.batch.is_on() && self.next <= self.last;
                self.flush();
                if self.expects_answer() || waits {
                    self.heartbeat.hurry(now.instant, waits);
                }
                WriteRefused::Full
            }
            HistoryFull::SamplesMax => WriteRefused::SamplesMax,
            HistoryFull::InstancesMax => WriteRefused::InstancesMax,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::output::Datagram;
    use crate::qos::DataWriterQos;
    use crate::types::{EntityId, GuidPrefix, InstanceHandle, Locator, Time};
    use crate::wire::{AckNack, Message, SequenceNumberSet, Submessage};

    const READER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 4]));
    const NOW: Now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };

    /// A writer that has written so many samples that only counting on is left.
    fn far_along(last: i64) -> StatefulWriter {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid, false, &DataWriterQos::default().keep_all()));
        writer.last = SequenceNumber(last);
        writer.skip_if_nobody_listens();
        let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
        let reader = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(READER, vec![locator]) };
        writer.match_reader(NOW, reader);
        writer
    }

    fn sent(writer: &mut StatefulWriter) -> Vec<String> {
        let (mut datagram, mut bytes, mut lines) = (Datagram::new(), Vec::new(), Vec::new());
        while writer.poll_transmit(NOW, &mut datagram) {
            bytes.clear();
            datagram.copy_to(&mut bytes);
            for submessage in Message::parse(&bytes).unwrap().submessages() {
                match submessage.unwrap() {
                    Submessage::Data(data) => lines.push(format!("data {:x}", data.writer_sn.0)),
                    Submessage::Heartbeat(heartbeat) => {
                        lines.push(format!("heartbeat {:x}..{:x}", heartbeat.first_sn.0, heartbeat.last_sn.0));
                    }
                    _ => {}
                }
            }
        }
        lines
    }

    #[test]
    fn numbers_beyond_32_bits_are_sent_asked_for_and_acknowledged() {
        let mut writer = far_along(0xffff_ffff);
        assert_eq!(sent(&mut writer), ["heartbeat 100000000..ffffffff"]);
        for _ in 0..2 {
            let payload = Payload::copy_of(&[0, 1, 0, 0]);
            writer.write(NOW, NewChange::alive(InstanceHandle::NIL, payload)).unwrap();
        }
        let heartbeats = ["heartbeat 100000000..ffffffff", "heartbeat 100000000..100000001"];
        assert_eq!(sent(&mut writer), ["data 100000000", "data 100000001", heartbeats[0], heartbeats[1]]);
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(0x1_0000_0001));
        assert!(reader_sn_state.insert(SequenceNumber(0x1_0000_0001)));
        let ack_nack = AckNack {
            reader_id: READER.entity_id,
            writer_id: writer.guid().entity_id,
            reader_sn_state,
            count: 1,
            is_final: true,
        };
        writer.handle_acknack(NOW, READER, &ack_nack);
        assert_eq!(sent(&mut writer), ["data 100000001", "heartbeat 100000001..100000001"]);
        assert_eq!(writer.acknowledged(), SequenceNumber(0x1_0000_0000));
    }
}
