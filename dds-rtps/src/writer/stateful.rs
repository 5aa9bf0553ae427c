//! The writer with a proxy for each reader (RTPS 2.5, 8.4.7 and 8.4.9).

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

/// Most remote readers of a writer. Each match and unmatch visits all of them.
pub const READERS_MAX: usize = 4096;

/// A best-effort or reliable writer, with its history and its matched readers.
///
/// Use: call [`write`](Self::write) or another input. Then call [`poll_transmit`](Self::poll_transmit) until it returns
/// `false`, [`poll_event`](Self::poll_event) until it returns `None`, and [`handle_timeout`](Self::handle_timeout) at
/// [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct StatefulWriter {
    pub(super) config: WriterConfig,
    pub(super) history: WriterHistory,
    /// Last assigned sequence number.
    pub(super) last: SequenceNumber,
    /// Next change to send to all readers, and its next fragment, from 1.
    pub(super) next: SequenceNumber,
    pub(super) next_fragment: u32,
    pub(super) batch: Batch,
    /// Bytes of whole changes in flight that the proxies' windows do not include yet.
    pub(super) not_noted: usize,
    /// The windows may be full: check them before the next change.
    pub(super) way_is_full: bool,
    pub(super) proxies: Vec<ReaderProxy>,
    by_guid: HashMap<Guid, usize, FixedState>,
    pub(super) locals: Vec<LocalReader>,
    pub(super) destinations: Destinations,
    pub(super) addressees: Addressees,
    /// Indexes of the proxies with data to send, each once, served in turns.
    pub(super) queue: VecDeque<usize>,
    /// The queue is served before new changes, once.
    pub(super) queue_first: bool,
    /// When to check which proxies belong into the queue.
    waiting_until: Option<Instant>,
    /// Pacing of large samples to best-effort readers.
    pub(super) pace: Pace,
    pub(super) heartbeat: HeartbeatSchedule,
    pub(super) liveliness_due: bool,
    pub(super) promise: Promise,
    pub(super) absent: Absent,
    /// `None` without coherent sets and without an order beyond the writer's own.
    pub(super) presentation: Option<Box<WriterPresentation>>,
    /// All awaited reliable proxies have the changes up to this one; [`SequenceNumber::MAX`] without such proxies.
    pub(super) remote_acknowledged: SequenceNumber,
    /// All reliable proxies, awaited or not, have the changes up to this one.
    pub(super) remote_received: SequenceNumber,
    /// Reliable proxies, ordered by their acknowledged sequence number.
    pub(super) progress: Ranking<SequenceNumber>,
    pub(super) slow_readers: SlowReaders,
    /// Number of awaited reliable proxies that never answered.
    pub(super) unheard: usize,
    /// Number of datagrams with samples that may still carry a HEARTBEAT for readers that never answered.
    pub(super) helps_left: u32,
    /// Number of reliable proxies whose initial handshake is incomplete.
    pub(super) strangers: usize,
    /// Last sequence number reported by [`WriterEvent::Acknowledged`].
    reported: SequenceNumber,
    pub(super) acknowledged_event: bool,
    /// A write was refused, and no room has appeared since.
    pub(super) refused: bool,
    pub(super) space_freed_event: bool,
    /// See [`StatefulWriter::write_through`]. Updated when readers come and go.
    pub(super) writes_through: bool,
    /// The writer has, or has had, a finite lifespan.
    pub(super) mortal: bool,
    /// No change before this one has a lifespan.
    pub(super) mortal_from: SequenceNumber,
    pub(super) counters: WriterCounters,
}

impl StatefulWriter {
    /// Creates a writer without readers.
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

    /// Returns the GUID of the writer.
    #[must_use]
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Adds a change to the history, from which it can be sent. The caller passes [`Self::change`] of it to local
    /// readers.
    ///
    /// The newest change stays in the history at least until the next write.
    ///
    /// # Errors
    /// [`WriteRefused`]. The writer is unchanged, except that a HEARTBEAT may have become due. Poll for datagrams then,
    /// because the readers make no room otherwise.
    pub fn write(&mut self, now: Now, mut change: NewChange) -> Result<SequenceNumber, WriteRefused> {
        self.try_write(now, &mut change)
    }

    /// As [`Self::write`], but a refused change keeps its payload for another attempt.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn try_write(&mut self, now: Now, change: &mut NewChange) -> Result<SequenceNumber, WriteRefused> {
        // DATA_FRAG carries the length in 32 bits.
        if change.payload.as_ref().is_some_and(|payload| u32::try_from(payload.len()).is_err()) {
            self.counters.refused += 1;
            return Err(WriteRefused::TooLarge);
        }
        if self.lacks_registration(change) {
            self.counters.refused += 1;
            return Err(WriteRefused::UnknownInstance);
        }
        let mut acknowledged = self.acknowledged();
        // Drop finished changes first, so that the check of the room sees only needed ones.
        self.history.retire(self.finished_up_to(self.received(acknowledged)));
        if let Err(no_room) = self.history.check_room(change.instance, acknowledged) {
            acknowledged =
                self.make_room(now, change.instance, no_room).map_err(|no_room| self.refuse(now, no_room))?;
        }
        let source_timestamp = change.source_timestamp.unwrap_or(now.time);
        let sequence_number = self.last.next();
        // A refused change must not use up a group sequence number, so the clock is read after the check of the room.
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
        // A dispose or unregister never expires, because late readers could not learn of it otherwise.
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
        // Only an accepted sample meets the deadline of its instance.
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

    /// Returns the sender's fields of a message for all readers.
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

    /// Returns a change while it is in the history.
    #[must_use]
    pub fn change(&self, sequence_number: SequenceNumber) -> Option<&CacheChange> {
        self.history.get(sequence_number).map(|stored| &stored.change)
    }

    /// Returns the changes of the history from `sequence_number` on, in order.
    ///
    /// For a local reader that joins late or asks again.
    pub fn changes_from(&self, sequence_number: SequenceNumber) -> impl Iterator<Item = &CacheChange> + '_ {
        self.history.iter_from(sequence_number).map(|stored| &stored.change)
    }

    /// Returns the sequence number of the newest change; [`SequenceNumber::ZERO`] before the first.
    #[must_use]
    pub fn last_sequence_number(&self) -> SequenceNumber {
        self.last
    }

    /// Returns the sequence number of the newest change in the history.
    #[must_use]
    pub fn newest_kept(&self) -> Option<SequenceNumber> {
        self.history.last()
    }

    /// Returns the number of changes in the history.
    #[must_use]
    pub fn history_len(&self) -> usize {
        self.history.len()
    }

    /// Returns the last change that was sent to all remote readers.
    ///
    /// Later changes wait for `poll_transmit`, or for room in the congestion window ([`FlowConfig`]).
    #[must_use]
    pub fn sent_up_to(&self) -> SequenceNumber {
        self.next.previous()
    }

    /// Returns whether the writer repairs samples that reliable readers miss.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.config.reliable
    }

    /// Returns the number of matched remote readers.
    #[must_use]
    pub fn remote_readers(&self) -> usize {
        self.proxies.len()
    }

    /// Returns the counters of the writer.
    #[must_use]
    pub fn counters(&self) -> WriterCounters {
        self.counters
    }

    /// Matches a remote reader. A reader that already matches takes the new locators and QoS, and keeps its state.
    ///
    /// Returns `false` if [`READERS_MAX`] readers already match, and counts that in
    /// [`WriterCounters::readers_refused`].
    pub fn match_reader(&mut self, now: Now, reader: ReaderProxyConfig) -> bool {
        let reliable = reader.reliable && self.config.reliable;
        let index = self.by_guid.get(&reader.guid).copied();
        if index.is_none() && self.proxies.len() >= READERS_MAX {
            self.counters.readers_refused += 1;
            return false;
        }
        // A new QoS keeps the compiled filter if its expression is the same.
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
            // A late joiner must not receive instances that ended.
            self.forget_finished();
            let wants_history = reader.wants_history && self.config.durability > Durability::Volatile;
            let first = self.history.first().filter(|_| wants_history).unwrap_or(self.last.next());
            let index = self.proxies.len();
            self.by_guid.insert(reader.guid, index);
            let FlowConfig { same_host, network, .. } = self.config.flow;
            let window = if reader.same_host { same_host } else { network };
            // The history keeps the departures until this reader acknowledges them, because `first` includes them.
            self.welcome_back(now, reader.guid);
            let mut proxy = ReaderProxy::new(reader, reliable, first, window);
            proxy.filtered = filtered;
            proxy.last_relevant = if proxy.config.live { SequenceNumber::MAX } else { self.last };
            // Unsent changes go to all readers, this one included.
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

    /// Sets how many unregistered instances are kept for readers that come back.
    ///
    /// See [`WriterHistory::keep_departures`].
    pub fn keep_departures(&mut self, count: usize) {
        self.history.keep_departures(count);
        self.retire();
    }

    /// Removes a local or remote reader. Returns whether it matched.
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
        // `swap_remove` moved the last proxy to this index.
        let moved = self.proxies.len();
        if let Some(proxy) = self.proxies.get(index) {
            self.by_guid.insert(proxy.config.guid, index);
        }
        self.queue.retain(|&queued| queued != index);
        // The queue holds indexes, so it must follow the move as well.
        self.queue.iter_mut().filter(|queued| **queued == moved).for_each(|queued| *queued = index);
        self.readers_changed(now);
        true
    }

    /// Matches a local reader. Returns its first relevant sequence number.
    ///
    /// The caller passes it [`Self::changes_from`] that number, and then each change as it is written.
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

    /// Notes that a local reader acknowledged more on its link.
    ///
    /// `write` reads the links itself. This call serves a writer that waits for room or for acknowledgements.
    pub fn handle_local_progress(&mut self, now: Now) {
        self.settle(now);
    }

    /// Requests acknowledgements now, and more often until they arrive. For a caller that waits for them.
    pub fn request_acknowledgments(&mut self, now: Now) {
        let waits = self.batch.is_on() && self.next <= self.last;
        // A change in an open batch would delay the acknowledgements by the batch window.
        self.flush();
        if self.expects_answer() || waits {
            self.heartbeat.hurry(now.instant, waits);
        }
    }

    /// Sets the parameters for readers that expect inline QoS ([`WriterConfig::inline_qos`]).
    pub fn set_inline_qos(&mut self, parameters: &[u8]) {
        self.config.inline_qos.clear();
        self.config.inline_qos.extend_from_slice(parameters);
    }

    /// Returns whether the writer has no remote readers and no deadlines.
    ///
    /// The caller then needs no polling for datagrams or deadlines.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let until = self.waiting_until.or(self.slow_readers.deadline()).or(self.promise.deadline());
        self.proxies.is_empty()
            && self.config.lifespan.is_infinite()
            && until.is_none()
            && !self.history.watches_deadline()
    }

    /// Returns when to call [`Self::handle_timeout`].
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let expiry = if self.mortal { self.next_expiring().and_then(|stored| stored.expires) } else { None };
        // Compared one by one: a chain of iterators costs as much as laying out a sample.
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

    /// Advances time. Early and late calls are harmless.
    pub fn handle_timeout(&mut self, now: Now) {
        // Silent readers alone get longer pauses between HEARTBEATs.
        if self.unheard > 0 {
            self.note_who_owes();
        }
        self.heartbeat.handle_timeout(now.instant, self.expects_answer());
        self.batch.handle_timeout(now.instant, self.last);
        if self.waiting_until.is_some_and(|until| until <= now.instant) {
            self.waiting_until = None;
            // One deadline serves all proxies, because the deadline of each changes with every answer.
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

    /// Returns the next event; `None` if there is no other.
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
        // The acknowledged number falls when a late joiner matches. Later acknowledgements of that reader are then
        // news.
        let before = std::mem::replace(&mut self.reported, acknowledged);
        (acknowledged > before).then_some(WriterEvent::Acknowledged(acknowledged))
    }

    /// Puts a proxy into the queue if it has data to send, or notes when it will have.
    pub(super) fn enqueue(&mut self, now: Now, index: usize) {
        let Some(proxy) = self.proxies.get_mut(index).filter(|proxy| !proxy.queued) else { return };
        let suppression = self.config.nack_suppression;
        // An overdue answer makes a HEARTBEAT due, which is work for the queue.
        proxy.ask_if_stuck(now.instant);
        if proxy.has_work(now.instant, suppression) {
            proxy.queued = true;
            self.queue.push_back(index);
        }
        // Overdue work is sent now, and then calls this function again.
        if let Some(later) = proxy.work_later(now.instant, suppression).filter(|&later| later > now.instant) {
            self.wait_until(later);
        }
    }

    /// Schedules a check of the proxies at `later` or earlier.
    pub(super) fn wait_until(&mut self, later: Instant) {
        self.waiting_until = Some(self.waiting_until.map_or(later, |until| until.min(later)));
    }

    /// Returns the index of a reliable reader's proxy.
    pub(super) fn reliable_proxy(&self, guid: Guid) -> Option<usize> {
        let index = *self.by_guid.get(&guid)?;
        self.proxies.get(index).filter(|proxy| proxy.reliable).map(|_| index)
    }

    /// Skips all unsent changes if there are no remote readers.
    pub(super) fn skip_if_nobody_listens(&mut self) {
        if !self.destinations.anywhere {
            self.next = self.last.next();
            self.next_fragment = 1;
            self.flush();
        }
    }

    pub(super) fn settle(&mut self, now: Now) {
        // Cached here, because each write reads it.
        self.writes_through = self.can_write_through();
        if self.slow_readers.any() {
            self.review_slow_readers(now);
        }
        self.retire();
        self.drop_expired(now);
        self.acknowledged_event = true;
        // A writer that waits for room learns of it here.
        if self.refused && !self.history_is_stuck() {
            self.free_space();
        }
    }

    /// Notifies a writer that waits for room.
    pub(super) fn free_space(&mut self) {
        self.refused = false;
        self.space_freed_event = true;
        self.heartbeat.relax();
    }

    /// Updates the state after a match of the last reader.
    ///
    /// It visits no other reader. When hundreds of participants meet, such visits would take most of the time.
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
        // A best-effort reader never answers, so its match must not start the timer.
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
                // Readers cannot acknowledge a change that waits in a batch.
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

    /// Creates a writer whose last sequence number is `last`.
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
