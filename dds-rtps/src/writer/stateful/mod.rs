//! The writer with a proxy for each reader (RTPS 2.5, 8.4.7 and 8.4.9): its parts, writing, matches, time and events.
//!
//! [`acks`] handles the answers of readers, [`transmit`] lays out datagrams, and [`long`] longer messages.

mod acks;
mod long;
mod transmit;

use self::long::LongMessages;
use super::ack::WriterAcks;
use super::config::{NewChange, ReaderProxyConfig, StatefulWriterEvent, WriteRefused, WriterConfig, WriterCounters};
use super::heartbeat::HeartbeatSchedule;
use super::lifespan::WriterLifespan;
use super::liveliness::OfferedLiveliness;
use super::presentation::WriterPresentation;
use super::readers::ReaderTable;
use super::readers::handshake::OwedHeartbeat;
use super::readers::local_reader::LocalReader;
use super::readers::proxy::ReaderProxy;
use super::readers::unresponsive::DEPARTURES_MAX;
use super::send::cursor::SendCursor;
use super::send::gate::SendGate;
use super::send::layout::{Sender, room_for_changes};
use super::send::payload_len;
use crate::concurrent::{EndedSet, LocalLink, Payload, PresentationClock};
use crate::history::{CacheChange, ChangeKind, KeyPayload, PresentationInfo, WriterHistory};
use crate::qos::Durability;
use crate::types::{Duration, Guid, InstanceHandle, Instant, Now, SequenceNumber, earliest};
use std::sync::Arc;

/// A best-effort or reliable writer, with its history and its matched readers.
///
/// Use: call [`write`](Self::write) or another input. Then call [`poll_transmit`](Self::poll_transmit) until it returns
/// `false`, [`poll_event`](Self::poll_event) until it returns `None`, and [`handle_timeout`](Self::handle_timeout) at
/// [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct StatefulWriter {
    config: WriterConfig,
    history: WriterHistory,
    cursor: SendCursor,
    gate: SendGate,
    readers: ReaderTable,
    acks: WriterAcks,
    heartbeat: HeartbeatSchedule,
    liveliness: OfferedLiveliness,
    lifespan: WriterLifespan,
    /// `None` without coherent sets and without an order beyond the writer's own.
    presentation: Option<Box<WriterPresentation>>,
    counters: WriterCounters,
    long: LongMessages,
}

impl StatefulWriter {
    /// Creates a writer without readers.
    #[must_use]
    pub fn new(config: WriterConfig) -> Self {
        // Late joiners of a durable writer get acknowledged changes too.
        let keeps = config.durability > Durability::Volatile;
        let mut history = WriterHistory::new(config.limits, keeps, config.hash_seed);
        // Instances come later, so the start does not matter.
        history.set_deadline(Instant::ZERO, config.deadline);
        Self {
            history,
            cursor: SendCursor::new(config.batch_window),
            gate: SendGate::new(config.congestion.network),
            readers: ReaderTable::new(&config),
            acks: WriterAcks::new(config.measures_latency),
            heartbeat: HeartbeatSchedule::new(
                config.heartbeat_period,
                config.unheard_period_max,
                &config.limits,
                config.keyed,
            ),
            liveliness: OfferedLiveliness::new(config.liveliness, config.assertion_clock.clone()),
            lifespan: WriterLifespan::new(config.lifespan),
            presentation: WriterPresentation::new(&config),
            counters: WriterCounters::default(),
            long: LongMessages::default(),
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
            match self.make_room(now, change.instance, no_room) {
                Ok(up_to) => acknowledged = up_to,
                Err(no_room) => return Err(self.refuse(now, no_room)),
            }
        }
        let number = self.cursor.last().next();
        // A refused change must not use up a group sequence number, so the clock is read after the check of the room.
        let presented = match &mut self.presentation {
            Some(presentation) => presentation.present(number),
            None => None,
        };
        let change = self.numbered(now, number, change, presented);
        // A dispose or unregister never expires, because late readers could not learn of it otherwise.
        let expires = if change.kind == ChangeKind::Alive { self.lifespan.expiry(now, &change) } else { None };
        let (instance, len, source_timestamp) = (change.instance, payload_len(&change), change.source_timestamp);
        match self.history.insert(change, expires, acknowledged) {
            Ok(None) => {}
            Ok(Some(replaced)) => {
                self.counters.overwritten_unacknowledged += u64::from(replaced > acknowledged);
                self.note_given_up(replaced, acknowledged);
            }
            Err(no_room) => return Err(self.refuse(now, no_room)),
        }
        // Only an accepted sample meets the deadline of its instance.
        if self.history.watches_deadline() {
            self.history.meet_deadline(instance, now.instant);
        }
        self.cursor.set_last(number);
        if self.readers.destinations.reliable_count > 0 {
            self.acks.latency.note_written(number, source_timestamp);
        }
        if len > usize::from(self.readers.destinations.fragment_size) {
            self.long.note_large(number);
        }
        self.counters.written += 1;
        self.liveliness.assert(now.instant);
        self.release_newest(now);
        Ok(number)
    }

    /// Assigns a sequence number to a change without storing it, and returns it for the local readers.
    ///
    /// That is possible if no local reader is reliable, there are no remote readers, and late joiners get no history.
    /// Otherwise returns `None`, and the caller uses [`Self::try_write`].
    pub fn write_through(&mut self, now: Now, change: &mut NewChange) -> Option<CacheChange> {
        if !self.gate.writes_through || change.payload.as_ref().is_some_and(|payload| payload.len() > u32::MAX as usize)
        {
            return None;
        }
        if self.lacks_registration(change) {
            return None;
        }
        // A change that an earlier `write` stored has no reader left that could request it.
        if !self.history.is_empty() {
            self.history.retire(self.cursor.last());
        }
        if !change.instance.is_nil() {
            // The instance is alive or not, although no change of it is stored.
            self.history.note_unstored(change.instance, change.kind, change.payload.as_ref());
        }
        let number = self.cursor.last().next();
        self.cursor.set_last(number);
        self.counters.written += 1;
        self.liveliness.assert(now.instant);
        self.skip_without_readers();
        Some(self.numbered(now, number, change, None))
    }

    /// Creates the change with its sequence number. Takes the payload of `change`.
    #[inline]
    fn numbered(
        &self,
        now: Now,
        sequence_number: SequenceNumber,
        change: &mut NewChange,
        presented: Option<Box<PresentationInfo>>,
    ) -> CacheChange {
        CacheChange {
            kind: change.kind,
            writer: self.config.guid,
            sequence_number,
            instance: change.instance,
            source_timestamp: change.source_timestamp.unwrap_or(now.time),
            related_sample: change.related_sample,
            origin: change.origin.take(),
            presented,
            payload: change.payload.take(),
        }
    }

    /// Ends a set of the publisher, with a sequence number of its own if readers must be notified.
    ///
    /// The caller passes [`Self::change`] of it to local readers.
    pub fn end_set(&mut self, now: Now, ended: EndedSet) -> Option<SequenceNumber> {
        let (first, presented) = self.presentation.as_mut()?.present_end(ended)?;
        let number = self.cursor.last().next();
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: self.config.guid,
            sequence_number: number,
            instance: InstanceHandle::NIL,
            source_timestamp: now.time,
            related_sample: None,
            origin: None,
            presented: Some(presented),
            payload: None,
        };
        // The end of a set needs no room of its own, so a full history cannot refuse it.
        let acknowledged = self.acknowledged();
        self.history.insert_end_of_set(change, first.unwrap_or(number), acknowledged);
        self.cursor.set_last(number);
        self.release_newest(now);
        Some(number)
    }

    fn lacks_registration(&self, change: &NewChange) -> bool {
        change.must_be_registered && !self.history.is_registered(change.instance)
    }

    /// Adds the newest change to the batch, or releases it at once.
    #[inline]
    fn release_newest(&mut self, now: Now) {
        if self.cursor.batch.is_on() {
            self.add_to_batch(now);
        } else {
            self.cursor.flush();
        }
        self.skip_without_readers();
    }

    /// Adds the newest change to the batch, or releases all changes if it fills a datagram.
    fn add_to_batch(&mut self, now: Now) {
        let last = self.cursor.last();
        let Some(stored) = self.history.get(last) else {
            debug_assert!(false, "the history keeps the newest change until the next write");
            return self.cursor.flush();
        };
        if payload_len(&stored.change) > usize::from(self.readers.destinations.fragment_size) {
            return self.cursor.flush();
        }
        let room = room_for_changes(self.readers.destinations.message_len_max());
        let len = self.sender().len_of(&stored.change);
        self.cursor.batch.add(now.instant, last, len, room);
    }

    /// Returns the sender's fields of a message for all readers.
    fn sender(&self) -> Sender<'_> {
        Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: self.config.hashed_type.as_ref(),
            hides_keys: self.config.hides_keys,
            inline_qos: if self.readers.destinations.expects_inline_qos { &self.config.inline_qos } else { &[] },
        }
    }

    /// Skips all unsent changes if there are no remote readers.
    #[inline]
    fn skip_without_readers(&mut self) {
        if !self.readers.destinations.anywhere {
            self.cursor.skip_all();
        }
    }

    /// Removes a change from the history. Returns `false` if it is not there.
    ///
    /// A GAP answers later requests for it.
    pub fn withdraw(&mut self, now: Now, number: SequenceNumber) -> bool {
        let removed = self.history.remove(number);
        if removed {
            self.settle(now);
        }
        removed
    }

    /// Registers an instance with the serialized `key`. Sends nothing, and has no effect if the instance is known.
    ///
    /// # Errors
    /// [`WriteRefused::InstancesMax`].
    pub fn register_instance(&mut self, instance: InstanceHandle, key: &Payload) -> Result<(), WriteRefused> {
        // Retiring frees the places of instances that were unregistered.
        let acknowledged = self.acknowledged();
        self.history.retire(self.finished_up_to(self.received(acknowledged)));
        if self.history.register(instance, key).is_ok() {
            return Ok(());
        }
        // Departures that wait for unresponsive readers use up places of instances.
        if self.forget_unresponsive() && self.history.register(instance, key).is_ok() {
            return Ok(());
        }
        self.counters.refused += 1;
        Err(WriteRefused::InstancesMax)
    }

    /// Returns whether the instance was registered or written, and not unregistered since.
    #[must_use]
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.history.is_registered(instance)
    }

    /// Returns a payload that contains the key of a registered instance.
    #[must_use]
    pub fn instance_key_payload(&self, instance: InstanceHandle) -> Option<&KeyPayload> {
        self.history.instance_key_payload(instance)
    }

    /// Returns the first alive instance at or after the place `from` of the instance table.
    ///
    /// An alive instance was written, and neither disposed nor unregistered since. The result also has the next place
    /// of the walk, and the payload that contains the key.
    ///
    /// A walk from place 0 visits each instance once that stays alive. It may skip or visit instances that come or go
    /// during the walk.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        self.history.next_alive_instance(from)
    }

    /// Returns a change while it is in the history.
    #[must_use]
    pub fn change(&self, sequence_number: SequenceNumber) -> Option<&CacheChange> {
        Some(&self.history.get(sequence_number)?.change)
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
        self.cursor.last()
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

    /// Returns whether the writer repairs samples that reliable readers miss.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.config.reliable
    }

    /// Returns the number of matched remote readers.
    #[must_use]
    pub fn remote_readers(&self) -> usize {
        self.readers.proxies.len()
    }

    /// Returns whether a remote best-effort reader matches.
    #[must_use]
    pub fn has_best_effort_readers(&self) -> bool {
        self.readers.proxies.iter().any(|proxy| !proxy.reliable)
    }

    /// Returns the counters of the writer.
    #[must_use]
    pub fn counters(&self) -> WriterCounters {
        self.counters
    }

    /// Matches a remote reader. A reader that already matches takes the new locators and QoS, and keeps its state.
    ///
    /// Returns `false` if [`READERS_MAX`](super::READERS_MAX) readers already match, and counts that in
    /// [`WriterCounters::readers_refused`].
    pub fn match_reader(&mut self, now: Now, reader: ReaderProxyConfig) -> bool {
        let reliable = reader.reliable && self.config.reliable;
        let index = self.readers.index_of(reader.guid);
        if index.is_none() && self.readers.is_full() {
            self.counters.readers_refused += 1;
            return false;
        }
        let filter = self.readers.filter_of(&reader, &self.config);
        let Some(proxy) = index.and_then(|index| self.readers.proxies.get_mut(index)) else {
            self.forget_finished();
            let first = self.first_relevant(reader.wants_history);
            self.welcome_back(now, reader.guid);
            let congestion = &self.config.congestion;
            let window = if reader.same_host { congestion.same_host } else { congestion.network };
            let mut proxy = ReaderProxy::new(reader, reliable, first, window);
            proxy.filter = filter;
            self.add_reader(now, proxy);
            return true;
        };
        proxy.reconfigure(reader, reliable);
        proxy.filter = filter;
        self.note_readers_changed(now);
        true
    }

    /// Sends a matched reader, which could not be reached before, a HEARTBEAT if it lacks changes.
    ///
    /// `again`: the history comes first, although it was sent before.
    pub fn catch_up(&mut self, now: Now, reader: Guid, again: bool) {
        let Some(index) = self.readers.reliable_index(reader) else { return };
        let (sent, last) = (self.cursor.sent(), self.cursor.last());
        let Some(proxy) = self.readers.proxies.get_mut(index) else {
            debug_assert!(false, "the index names a matched reader");
            return;
        };
        if again {
            proxy.send_backlog(sent, self.config.unasked_max);
        }
        // A reader that has not answered yet may be about to, and the timer repeats its HEARTBEAT.
        if again || (proxy.handshake.is_heard() && proxy.acknowledged < last) {
            self.readers.owe_heartbeat(now.instant, index);
        }
    }

    /// Notes that a reader has just answered a HEARTBEAT of the caller. Without changes, it gets no other one.
    pub fn note_answered(&mut self, now: Now, reader: Guid) {
        let Some(index) = self.readers.reliable_index(reader) else { return };
        if !self.history.is_empty() {
            return;
        }
        let last = self.cursor.last();
        if let Some(proxy) = self.readers.proxies.get_mut(index) {
            proxy.handshake.note_answer(true);
            proxy.acknowledged = last;
            proxy.owed = OwedHeartbeat::None;
        }
        self.readers.count_handshakes();
        self.note_progress_of(index);
        self.heartbeat.note_answer(now.instant, self.expects_answer());
        self.settle(now);
    }

    /// Skips sequence numbers: no further change gets one up to `last`. Matched readers get a GAP.
    pub fn skip_numbers(&mut self, last: SequenceNumber) {
        if self.cursor.last() < last {
            self.cursor.skip_numbers(last);
            self.skip_without_readers();
        }
    }

    /// Returns the count of a HEARTBEAT that the caller sends in the name of this writer.
    pub fn next_heartbeat_count(&mut self) -> i32 {
        self.heartbeat.next_count()
    }

    /// Sets how many readers owe answers to other writers of this participant.
    ///
    /// The more there are, the rarer are HEARTBEATs without samples.
    pub fn set_owing_to_others(&mut self, owing: usize) {
        self.heartbeat.set_owing_to_others(owing);
    }

    /// Returns the first relevant sequence number of a reader that matches now.
    fn first_relevant(&self, wants_history: bool) -> SequenceNumber {
        let next = self.cursor.last().next();
        if wants_history && self.config.durability > Durability::Volatile {
            self.history.first().unwrap_or(next)
        } else {
            next
        }
    }

    /// Adds a remote reader that does not match yet.
    ///
    /// It compares the prefixes of the other readers and visits none. When hundreds of participants meet, visits would
    /// take most of the time.
    fn add_reader(&mut self, now: Now, mut proxy: ReaderProxy) {
        // A reader that is not live gets the history alone.
        if !proxy.config.live {
            proxy.relevant.last = self.cursor.last();
        }
        if proxy.reliable {
            // The reader could not acknowledge the changes of the time before its match.
            self.acks.latency.skip(self.cursor.last());
        }
        // Unsent changes go to all readers, this one included.
        proxy.send_backlog(self.cursor.sent(), self.config.unasked_max);
        self.readers.share_stream_start(&mut proxy);
        let index = self.readers.add(proxy);
        self.readers.enqueue(now.instant, index);
        self.readers.note_added(index);
        self.note_progress_of(index);
        self.note_readers_known(now);
    }

    /// Updates the state after a reader has left or changed.
    fn note_readers_changed(&mut self, now: Now) {
        self.readers.note_changed();
        self.acks.progress.note_all(&self.readers.proxies);
        self.note_readers_known(now);
    }

    fn note_readers_known(&mut self, now: Now) {
        self.gate.pacer.set_burst(self.readers.destinations.burst);
        self.skip_without_readers();
        // A best-effort reader never answers, so its match must not start the timer.
        if self.expects_answer() {
            self.heartbeat.welcome(now.instant);
        } else {
            self.heartbeat.note_answer(now.instant, false);
        }
        self.settle(now);
    }

    /// Removes a local or remote reader. Returns whether it matched.
    pub fn unmatch_reader(&mut self, now: Now, guid: Guid) -> bool {
        let was_local = self.readers.remove_local(guid);
        // A reader is local or remote, never both.
        if self.readers.remove(guid) {
            self.note_readers_changed(now);
            // The other readers had acknowledged these changes before: the one that has left was late.
            self.acks.latency.skip(self.finished_up_to(self.acks.progress.received()));
            return true;
        }
        if was_local {
            self.settle(now);
        }
        was_local
    }

    /// As [`StatefulWriter::unmatch_reader`], for a reader whose participant fell silent.
    ///
    /// The reader may come back without having noticed the interruption.
    pub fn lose_reader(&mut self, now: Now, reader: Guid) -> bool {
        // A volatile writer sends no history, so a returning reader could not learn of the departures.
        if self.config.durability > Durability::Volatile && self.readers.reliable_index(reader).is_some() {
            self.readers.unresponsive.add(now.instant, reader);
            self.history.keep_departures(DEPARTURES_MAX);
        }
        self.unmatch_reader(now, reader)
    }

    /// Handles the match of a reader that may have been unresponsive.
    ///
    /// The history keeps the departures until this reader acknowledges them: its first relevant sequence number
    /// includes them.
    fn welcome_back(&mut self, now: Now, reader: Guid) {
        if self.readers.unresponsive.remove_returned(now.instant, reader) {
            self.history.keep_departures(0);
        }
    }

    /// Forgets all unresponsive readers to gain room. Returns whether that may have made some.
    fn forget_unresponsive(&mut self) -> bool {
        if self.readers.unresponsive.is_empty() {
            return false;
        }
        self.readers.unresponsive.clear();
        self.history.keep_departures(0);
        self.history.retire(self.finished_up_to(self.received(self.acknowledged())))
    }

    /// Sets how many unregistered instances are kept for readers that come back.
    ///
    /// See [`WriterHistory::keep_departures`].
    pub fn keep_departures(&mut self, count: usize) {
        self.history.keep_departures(count);
        self.retire();
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
        let first_relevant = self.first_relevant(wants_history);
        self.readers.remove_local(guid);
        let reliable = reliable && self.config.reliable;
        self.readers.locals.push(LocalReader::new(guid, link, reliable, first_relevant));
        self.settle(now);
        first_relevant
    }

    /// Returns the clock of the group, for a local reader that receives the changes from `first` on.
    ///
    /// The reader expects no change of this writer up to the returned group sequence number. `None` without a group.
    #[must_use]
    pub fn presented_before(&self, first: SequenceNumber) -> Option<(Arc<PresentationClock>, SequenceNumber)> {
        self.presentation.as_ref()?.presented_before(&self.history, first)
    }

    /// Suspends or resumes the writer (DDS 1.4, 2.2.2.4.1.8).
    ///
    /// While it is suspended, small changes wait for each other, also more than fit into one datagram. They are sent
    /// when it resumes.
    pub fn set_suspended(&mut self, suspended: bool) {
        if self.cursor.batch.set_suspended(suspended) {
            self.flush();
        }
    }

    /// Releases all written changes now, regardless of LATENCY_BUDGET.
    pub fn flush(&mut self) {
        self.cursor.flush();
    }

    /// Sets how long small changes may wait for others ([`WriterConfig::batch_window`]), from the next one on.
    pub fn set_batch_window(&mut self, window: Duration) {
        self.cursor.batch.set_budget(window);
        self.flush();
    }

    /// Returns whether the newest change only joined other waiting changes.
    ///
    /// Then there is no new data, event or deadline. May return `false` although this is the case.
    #[must_use]
    #[inline]
    pub fn has_only_gathered(&self) -> bool {
        let has_events = self.acks.progress.is_changed() || self.acks.blocked.is_pending();
        let by_time = self.lifespan.is_used() || self.history.watches_deadline() || self.acks.slow.any();
        let has_data = self.cursor.has_more() || self.readers.queue_len() > 0;
        self.cursor.batch.has_joined() && !has_data && !has_events && !by_time
    }

    /// Returns whether writing `change` would drop an unsent change of the batch.
    ///
    /// Flush and send before the write, so that waiting in a batch causes no loss.
    #[must_use]
    pub fn would_drop_waiting(&self, change: &NewChange) -> bool {
        if !self.cursor.waits_in_batch() {
            return false;
        }
        let replaced = self.history.next_replaced(change.instance, self.acknowledged());
        match replaced {
            Some(replaced) => replaced >= self.cursor.next(),
            None => false,
        }
    }

    /// Sets the parameters for readers that expect inline QoS ([`WriterConfig::inline_qos`]).
    pub fn set_inline_qos(&mut self, parameters: &[u8]) {
        self.config.inline_qos.clear();
        self.config.inline_qos.extend_from_slice(parameters);
    }

    /// Sets LIFESPAN for changes that are written from now on.
    pub fn set_lifespan(&mut self, lifespan: Duration) {
        self.lifespan.set(lifespan);
    }

    /// Sets DEADLINE. If there was none before, the time starts now.
    pub fn set_deadline(&mut self, now: Now, deadline: Duration) {
        if deadline != std::mem::replace(&mut self.config.deadline, deadline) {
            self.history.set_deadline(now.instant, deadline);
            self.settle(now);
        }
    }

    /// Returns when the last of the kept changes from `first` on expires.
    ///
    /// `None` if some of them never expire, or if there are none.
    #[must_use]
    pub fn history_expires(&self, first: SequenceNumber) -> Option<Instant> {
        self.lifespan.last_expiry(&self.history, first)
    }

    /// Asserts the liveliness of the writer (DDS 1.4, 2.2.2.4.2.22). The first assertion starts its lease.
    ///
    /// If the writer is manual by topic, all remote readers receive a HEARTBEAT.
    pub fn assert_liveliness(&mut self, now: Now) {
        // Without remote readers, a HEARTBEAT would have no destination.
        if !self.readers.proxies.is_empty() {
            self.liveliness.assert_by_heartbeat();
        }
        self.liveliness.assert(now.instant);
    }

    /// Returns whether the participant must be notified of an assertion.
    ///
    /// It passes the assertion on to its peers, or to another of its writers.
    #[inline]
    pub fn take_call(&mut self) -> bool {
        self.liveliness.take_notification()
    }

    /// Returns whether the writer keeps the liveliness that it offers (LIVELINESS).
    #[inline]
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.liveliness.is_alive()
    }

    /// Checks the lease after an assertion of the participant, which may renew a manual-by-participant writer.
    pub fn look_at_liveliness(&mut self, now: Now) {
        self.liveliness.renew(now.instant);
    }

    /// Returns whether the writer has no remote readers and no deadlines.
    ///
    /// The caller then needs no polling for datagrams or deadlines.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let until = self.readers.deadline().or(self.acks.slow.deadline()).or(self.liveliness.deadline());
        self.readers.proxies.is_empty()
            && self.lifespan.is_infinite()
            && until.is_none()
            && !self.history.watches_deadline()
    }

    /// Returns when to call [`Self::handle_timeout`].
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        // Compared one by one: a chain of iterators costs as much as laying out a sample.
        let mut first = earliest(self.heartbeat.deadline(), self.readers.deadline());
        first = earliest(first, self.acks.slow.deadline());
        first = earliest(first, self.liveliness.deadline());
        first = earliest(first, self.lifespan.deadline(&self.history));
        first = earliest(first, self.cursor.batch.deadline());
        earliest(first, self.history.next_deadline())
    }

    /// Advances time. Early and late calls are harmless.
    pub fn handle_timeout(&mut self, now: Now) {
        // Silent readers alone get longer pauses between HEARTBEATs.
        if self.readers.handshakes.unheard > 0 {
            self.note_who_owes();
        }
        self.heartbeat.handle_timeout(now.instant, self.expects_answer());
        self.cursor.batch.handle_timeout(now.instant, self.cursor.last());
        self.readers.handle_timeout(now.instant);
        self.drop_expired(now);
        self.history.miss_deadlines(now.instant);
        match self.acks.slow.deadline() {
            Some(deadline) if deadline <= now.instant => {
                self.review_slow_readers(now);
                self.settle(now);
            }
            _ => {}
        }
        self.liveliness.check(now.instant);
    }

    /// Drops expired changes, the oldest first.
    fn drop_expired(&mut self, now: Now) {
        if !self.lifespan.is_used() {
            return;
        }
        let next = self.cursor.last().next();
        while self.lifespan.remove_expired(now, &mut self.history, next) {
            self.counters.expired += 1;
            self.acks.progress.note_change();
            // A blocked write may succeed now.
            if self.acks.blocked.is_waiting() {
                self.free_space();
            }
        }
    }

    /// Returns the next event; `None` if there is no other.
    pub fn poll_event(&mut self) -> Option<StatefulWriterEvent> {
        if let Some(missed) = self.history.take_missed() {
            return Some(StatefulWriterEvent::DeadlineMissed(missed));
        }
        if self.acks.blocked.take_event() {
            return Some(StatefulWriterEvent::SpaceFreed);
        }
        if let Some(event) = self.acks.slow.poll_event() {
            return Some(event);
        }
        if self.liveliness.take_event() {
            return Some(StatefulWriterEvent::LivelinessLost);
        }
        if !self.acks.progress.take_change() {
            return None;
        }
        let acknowledged = self.acknowledged();
        if self.acks.progress.report(acknowledged) {
            Some(StatefulWriterEvent::Acknowledged(acknowledged))
        } else {
            None
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
        writer.cursor.start_after(SequenceNumber(last));
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
    fn numbers_beyond_32_bits_are_sent_and_acknowledged() {
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
        writer.handle_acknack(NOW, READER.into(), &ack_nack);
        assert_eq!(sent(&mut writer), ["data 100000001", "heartbeat 100000001..100000001"]);
        assert_eq!(writer.acknowledged(), SequenceNumber(0x1_0000_0000));
    }

    #[test]
    fn departures_for_unresponsive_readers_are_bounded() {
        let now = NOW;
        let guid = |number: u8| Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 7]));
        let qos = DataWriterQos::default().transient_local();
        let mut writer = StatefulWriter::new(WriterConfig::new(guid(0), true, &qos));
        let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
        let reader = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(guid(1), vec![locator]) };
        assert!(writer.match_reader(now, reader) && writer.lose_reader(now, guid(1)));
        for number in 0..DEPARTURES_MAX as u64 + 10 {
            let instance = InstanceHandle::from_key_hash([number.to_be_bytes(); 2].concat().try_into().unwrap());
            let change = |kind| NewChange::not_alive(kind, instance, Payload::copy_of(&[0, 1, 0, 0]));
            writer.write(now, NewChange::alive(instance, Payload::copy_of(&[0, 1, 0, 0]))).unwrap();
            writer.write(now, change(ChangeKind::NotAliveDisposedUnregistered)).unwrap();
        }
        // The newest change stays as well, until the next write.
        assert!((DEPARTURES_MAX..=DEPARTURES_MAX + 1).contains(&writer.history_len()), "{}", writer.history_len());
    }
}
