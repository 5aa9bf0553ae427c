//! Answers of readers: ACKNACK and NACK_FRAG (RTPS 2.5, 8.4.9 and 8.3.8.10), which are untrusted. And what follows from
//! them: acknowledged changes, changes that the history can drop, room for writes that wait.

use super::StatefulWriter;
use crate::history::{HistoryFull, WriterHistory};
use crate::qos::Durability;
use crate::types::{Duration, Guid, InstanceHandle, Instant, LatencyHistogram, Now, SequenceNumber};
use crate::wire::{AckNack, NackFrag, Window};
use crate::writer::ack::is_preemptive;
use crate::writer::ack::slow_readers::{reliable_readers, samples_between};
use crate::writer::config::{Asker, ReaderLag, SlowReader, WriteRefused, WriterCounters};
use crate::writer::congestion::StreamPosition;
use crate::writer::readers::handshake::OwedHeartbeat;
use crate::writer::readers::local_reader::LocalReader;
use crate::writer::readers::proxy::ReaderProxy;
use crate::writer::send::{DATAGRAM_COST, payload_len};

impl StatefulWriter {
    /// Handles an ACKNACK of a reader: the changes that it has and misses.
    ///
    /// An ACKNACK that is not newer than the last one is ignored, with one exception. A pre-emptive ACKNACK always gets
    /// a HEARTBEAT (base 0 or 1, no missing change, not final). Its reader may have lost its state and restarted its
    /// counts, also those of its NACK_FRAGs. It would wait for the HEARTBEAT forever.
    pub fn handle_acknack(&mut self, now: Now, asker: Asker, ack_nack: &AckNack) {
        let Some(index) = self.readers.reliable_index(asker.reader) else {
            self.counters.unknown_reader += 1;
            return;
        };
        let Some(proxy) = self.readers.proxies.get_mut(index) else {
            debug_assert!(false, "the index names a matched reader");
            return;
        };
        let base = ack_nack.reader_sn_state.base();
        // A reader cannot acknowledge changes that were never sent.
        if base < SequenceNumber::ZERO || base > self.cursor.next() {
            self.counters.malformed += 1;
            return;
        }
        let is_preemptive = is_preemptive(ack_nack);
        if !is_preemptive && !proxy.is_new_ack_nack(ack_nack.count) {
            self.counters.stale += 1;
            return;
        }
        let requested = admitted_requests(now, proxy, ack_nack, self.cursor.next(), &mut self.counters);
        // An INFO_REPLY holds for one request: the next one may come from another address.
        proxy.reply = asker.reply;
        let last_requested = requested.as_ref().and_then(Window::last);
        if let Some(last) = last_requested {
            // A requested change shows congestion, or at least a full receive buffer.
            proxy.congestion.note_lost_changes(SequenceNumber(last), self.cursor.sent());
        }
        // An ACKNACK shows that the reader knows of all changes up to its last request.
        let heard_of = base.previous().max(SequenceNumber(last_requested.unwrap_or(0)));
        if proxy.congestion.is_long_path() {
            note_lost_changes(proxy, &self.history, requested.as_ref(), heard_of);
        }
        let before = (proxy.handshake.is_heard(), proxy.needs_handshake());
        // The reader has all data only if no change is partly sent.
        let has_all = base == self.cursor.next() && self.cursor.next_fragment() == 1;
        proxy.note_answer_time(now.instant, base.previous(), heard_of, has_all);
        if proxy.congestion.is_long_path() {
            self.heartbeat.note_long_path();
        } else {
            self.heartbeat.note_rtt(proxy.rtt.estimate(), proxy.is_ours());
        }
        proxy.apply_ack_nack(now.instant, ack_nack.count, base.previous(), requested, is_preemptive);
        if last_requested.is_some() {
            proxy.repairs.schedule_answer(now.instant, self.config.nack_response_delay);
        } else if !ack_nack.is_final && (is_preemptive || proxy.acknowledged < self.cursor.sent()) {
            proxy.owed = heartbeat_in_answer(proxy, is_preemptive, now.instant, self.heartbeat.pace());
        }
        // The counts of silent readers change only with the handshake.
        if before != (proxy.handshake.is_heard(), proxy.needs_handshake()) {
            self.readers.count_handshakes();
        }
        if !is_preemptive {
            self.readers.set_answered(true);
        }
        // The answer may have opened the window, or requested data.
        self.readers.enqueue(now.instant, index);
        self.note_progress_of(index);
        let received = self.finished_up_to(self.acks.progress.received());
        self.acks.latency.note_acknowledged(now.time, received);
        self.heartbeat.note_answer(now.instant, self.expects_answer());
        self.settle(now);
    }

    /// Handles a NACK_FRAG of a reader: the fragments of a change that it misses.
    pub fn handle_nack_frag(&mut self, now: Now, asker: Asker, nack_frag: &NackFrag) {
        let Some(index) = self.readers.reliable_index(asker.reader) else {
            self.counters.unknown_reader += 1;
            return;
        };
        let Some(proxy) = self.readers.proxies.get_mut(index) else {
            debug_assert!(false, "the index names a matched reader");
            return;
        };
        if !proxy.accept_nack_frag_count(nack_frag.count) {
            self.counters.stale += 1;
            return;
        }
        proxy.reply = asker.reply;
        let sequence_number = nack_frag.writer_sn;
        let mut missing = Window::from(&nack_frag.fragment_number_state);
        // Fragment numbers start at 1.
        missing.remove_up_to(0);
        // Unsent fragments of the present change are not missing, and neither are later changes.
        let is_present = sequence_number == self.cursor.next();
        let sent_before = if is_present { i64::from(self.cursor.next_fragment()) } else { i64::MAX };
        let is_sent = sequence_number.is_valid() && sequence_number <= self.cursor.next();
        if !is_sent || missing.remove_from(sent_before) {
            self.counters.malformed += 1;
        }
        if !is_sent || missing.is_empty() {
            return;
        }
        if !proxy.repairs.budget.admits(now.instant, proxy.congestion.sent()) {
            self.counters.repairs_refused += 1;
            return;
        }
        // Fragment numbers have 32 bits, so the conversion fails for no valid request.
        let last = missing.last().and_then(|last| u32::try_from(last).ok()).unwrap_or(0);
        let known = StreamPosition { last: sequence_number.previous(), fragments: last };
        if proxy.congestion.is_long_path() {
            let fragment_size = self.history.get(sequence_number).map_or(0, |stored| stored.fragment_size);
            note_lost_fragments(proxy, sequence_number, &missing, fragment_size);
            proxy.know_losses(known);
        }
        proxy.rtt.note_arrived(now.instant, known.last, Some(&missing));
        proxy.rtt.note_nack_frag(now.instant, known);
        // A change in retransmission has counted as a loss already.
        match proxy.repairs.resend {
            Some(resend) if resend.sequence_number == sequence_number => {}
            _ => proxy.congestion.note_loss(),
        }
        if !proxy.apply_nack_frag(now.instant, sequence_number, missing, self.config.nack_suppression) {
            self.counters.fragment_requests_dropped += 1;
        }
        self.readers.enqueue(now.instant, index);
    }

    /// Returns how long the changes took from their write to the acknowledgment of the last remote reader.
    #[must_use]
    pub fn acknowledgment_latency(&self) -> &LatencyHistogram {
        self.acks.latency.histogram()
    }

    /// Returns whether every matched reliable reader has all changes up to `sequence_number`.
    #[must_use]
    pub fn is_acknowledged(&self, sequence_number: SequenceNumber) -> bool {
        sequence_number <= self.acknowledged()
    }

    /// Returns up to which change a remote reliable reader has acknowledged.
    ///
    /// Zero if it has never answered, `None` if it does not match.
    #[must_use]
    pub fn acknowledged_by_reader(&self, reader: Guid) -> Option<SequenceNumber> {
        let proxy = self.readers.proxies.get(self.readers.reliable_index(reader)?)?;
        Some(if proxy.handshake.is_heard() { proxy.acknowledged } else { SequenceNumber::ZERO })
    }

    /// Returns up to which change every awaited reliable reader has acknowledged. Without such readers, the newest
    /// change.
    ///
    /// Demoted readers do not count ([`SlowReader::Demote`]).
    #[must_use]
    pub fn acknowledged(&self) -> SequenceNumber {
        let mut acknowledged = self.acks.progress.acknowledged().min(self.cursor.last());
        for local in &self.readers.locals {
            if local.reliable && !local.standing.is_demoted() {
                acknowledged = acknowledged.min(self.acknowledged_by(local));
            }
        }
        acknowledged
    }

    /// Returns up to which change every matched reliable reader has acknowledged, demoted ones included.
    ///
    /// `acknowledged` is the result of [`Self::acknowledged`].
    pub(super) fn received(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        if !self.acks.slow.any() {
            return acknowledged;
        }
        let mut received = self.acks.progress.received().min(acknowledged);
        for local in &self.readers.locals {
            if local.reliable {
                received = received.min(self.acknowledged_by(local));
            }
        }
        received
    }

    /// Returns up to which change a local reader has all existing changes.
    ///
    /// It cannot acknowledge a change that it never received: one not handed over, refused, expired or forgotten.
    fn acknowledged_by(&self, local: &LocalReader) -> SequenceNumber {
        let acknowledged = local.acknowledged();
        let is_whole = self.counters.expired == 0 && !self.history.has_removed_instances();
        // Only an expired or forgotten change explains a missing acknowledgment here.
        if is_whole || acknowledged >= self.cursor.last() {
            return acknowledged;
        }
        match self.history.next_from(acknowledged.next()) {
            Some(waiting) => waiting.previous(),
            None => self.cursor.last(),
        }
    }

    /// Returns the first change that was sent and can still be repaired.
    pub(super) fn first_available(&self) -> SequenceNumber {
        let kept = self.history.first().unwrap_or(self.cursor.last().next());
        // The newest change may stay although no reader needs it.
        let needed = match self.config.durability {
            // Acknowledged changes are not repaired, although they may still be there.
            Durability::Volatile => self.finished_up_to(self.received(self.acknowledged())).next(),
            _ => SequenceNumber::FIRST,
        };
        kept.max(needed).min(self.cursor.next())
    }

    /// Returns whether a remote reliable reader owes an acknowledgment, or has never answered.
    #[inline]
    pub(super) fn expects_answer(&self) -> bool {
        self.readers.handshakes.unheard > 0 || self.acks.progress.received() < self.cursor.sent()
    }

    /// Records whether all readers that owe an answer have never given one.
    pub(super) fn note_who_owes(&mut self) {
        let only_unheard =
            self.readers.handshakes.unheard > 0 && !self.readers.has_heard_reader_behind(self.cursor.sent());
        self.heartbeat.set_only_unheard(only_unheard);
    }

    /// Updates the acknowledgment of one remote reader.
    pub(super) fn note_progress_of(&mut self, index: usize) {
        if self.acks.slow.any() {
            // Writers with demoted readers are rare.
            return self.acks.progress.note_all(&self.readers.proxies);
        }
        if let Some(proxy) = self.readers.proxies.get(index) {
            self.acks.progress.note_reader(index, proxy);
        }
    }

    /// Returns up to which change all are sent and acknowledged.
    #[inline]
    pub(super) fn finished_up_to(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        acknowledged.min(self.cursor.sent())
    }

    /// Drops changes that no reader needs. The newest one stays, because its author may still read it.
    pub(super) fn retire(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        // The pinned change, kept during its transmission, is not needed any more.
        self.history.unpin_up_to(finished);
        self.history.retire(finished.min(self.cursor.last().previous()));
    }

    /// Drops changes that no reader needs, including the newest one.
    ///
    /// A reader that matches now does not learn of instances that have ended.
    pub(super) fn forget_finished(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        self.history.retire(finished);
    }

    /// Updates the writer after readers have come, gone or answered.
    pub(super) fn settle(&mut self, now: Now) {
        // Cached here, because each write reads it.
        self.gate.writes_through = self.can_write_through();
        if self.acks.slow.any() {
            self.review_slow_readers(now);
        }
        self.retire();
        self.drop_expired(now);
        self.acks.progress.note_change();
        // A writer that waits for room learns of it here.
        if self.acks.blocked.is_waiting() && !self.history_is_stuck() {
            self.free_space();
        }
    }

    fn can_write_through(&self) -> bool {
        self.readers.proxies.is_empty()
            && self.presentation.is_none()
            && self.config.durability == Durability::Volatile
            && self.config.limits.is_boundless()
            && !self.readers.locals.iter().any(|local| local.reliable)
            && !self.history.watches_deadline()
    }

    /// Returns whether the history is full and its oldest change awaits an acknowledgment.
    fn history_is_stuck(&self) -> bool {
        match self.history.first() {
            // A write needs the place of the oldest change, which a reader has not acknowledged.
            Some(first) if first > self.acknowledged() => {
                self.history.len() >= self.config.limits.capacity(self.config.keyed)
            }
            _ => false,
        }
    }

    /// Notifies a writer that waits for room.
    pub(super) fn free_space(&mut self) {
        self.acks.blocked.free();
        // No caller waits for acknowledgments any more.
        self.heartbeat.relax();
    }

    /// Counts a refused write. If readers can make room, requests their acknowledgments.
    pub(super) fn refuse(&mut self, now: Now, no_room: HistoryFull) -> WriteRefused {
        self.counters.refused += 1;
        match no_room {
            HistoryFull::Unacknowledged => {
                self.acks.blocked.refuse();
                self.request_acknowledgments(now);
                WriteRefused::Full
            }
            HistoryFull::SamplesMax => WriteRefused::SamplesMax,
            HistoryFull::InstancesMax => WriteRefused::InstancesMax,
        }
    }

    /// Requests acknowledgments now, and more often until they arrive. For a caller that waits for them.
    pub fn request_acknowledgments(&mut self, now: Now) {
        // Readers cannot acknowledge a change that waits in a batch.
        let waits = self.cursor.waits_in_batch();
        self.flush();
        if self.expects_answer() || waits {
            self.heartbeat.hurry(now.instant, waits);
        }
    }

    /// Notes that a local reader acknowledged more on its link.
    ///
    /// `write` reads the links itself. This call serves a writer that waits for room or for acknowledgments.
    pub fn handle_local_progress(&mut self, now: Now) {
        self.settle(now);
    }

    /// Returns the awaited reliable reader with the largest lag; `None` if none has a lag.
    #[must_use]
    pub fn slowest_reader(&self) -> Option<ReaderLag> {
        self.lags(false).max_by_key(|lag| lag.samples)
    }

    /// Returns the lags of the demoted readers ([`SlowReader::Demote`]).
    pub fn demoted_readers(&self) -> impl Iterator<Item = ReaderLag> + '_ {
        self.lags(true)
    }

    fn lags(&self, demoted: bool) -> impl Iterator<Item = ReaderLag> + '_ {
        let last = self.cursor.last();
        let remote = self.readers.reliable().map(|proxy| (proxy.config.guid, proxy.acknowledged, proxy.standing));
        let local = self.readers.locals.iter().filter(|local| local.reliable);
        let local = local.map(|local| (local.guid, local.acknowledged(), local.standing));
        remote.chain(local).filter_map(move |(reader, acknowledged, standing)| {
            let samples = samples_between(acknowledged, last);
            // A reader without a lag is not slow, but a demoted one is reported until it is restored.
            let is_chosen = standing.is_demoted() == demoted && (demoted || samples > 0);
            if is_chosen { Some(ReaderLag { reader, samples }) } else { None }
        })
    }

    /// Makes room for a change of this instance at the expense of slow readers.
    ///
    /// It does so only if the configuration allows it. Returns up to which change the other readers have acknowledged.
    pub(super) fn make_room(
        &mut self,
        now: Now,
        instance: InstanceHandle,
        no_room: HistoryFull,
    ) -> Result<SequenceNumber, HistoryFull> {
        // Departures kept for unresponsive readers yield first.
        if self.forget_unresponsive() && self.history.check_room(instance, self.acknowledged()).is_ok() {
            return Ok(self.acknowledged());
        }
        let SlowReader::Demote { after } = self.config.slow_reader else { return Err(no_room) };
        // Only missing acknowledgments are the fault of a reader.
        if no_room == HistoryFull::Unacknowledged {
            self.note_blocking_readers(now, instance, after);
        }
        if !self.acks.slow.any() {
            return Err(no_room);
        }
        let acknowledged = self.acknowledged();
        if self.history.check_room(instance, acknowledged).is_err() {
            // Dropping one change would not suffice. Drop all changes that only demoted readers still need.
            let before = self.history.len();
            self.history.retire(self.finished_up_to(acknowledged));
            self.counters.given_up += before.saturating_sub(self.history.len()) as u64;
            self.history.check_room(instance, acknowledged)?;
        }
        Ok(acknowledged)
    }

    /// Notes the readers whose missing acknowledgments block a change of this instance.
    fn note_blocking_readers(&mut self, now: Now, instance: InstanceHandle, after: Duration) {
        let Some(until) = now.instant.after(after) else { return };
        // Room may be missing for another reason than an acknowledgment.
        let Some(awaited) = self.history.first_blocking(instance) else { return };
        // The time limit covers all changes written so far, not only the blocking one.
        let last = self.cursor.last();
        for reader in reliable_readers(&mut self.readers) {
            if reader.acknowledged < awaited {
                reader.standing.note_blocking(reader.acknowledged, last, until);
            }
        }
        self.review_slow_readers(now);
    }

    /// Demotes late readers whose time is over, and restores demoted readers that have caught up.
    pub(super) fn review_slow_readers(&mut self, now: Now) {
        self.acks.slow.review(now.instant, self.cursor.last(), &mut self.readers, &mut self.counters);
        // A demoted reader does not count as awaited any more.
        self.readers.count_handshakes();
        self.acks.progress.note_all(&self.readers.proxies);
    }

    /// Counts a replaced change that all awaited readers had acknowledged, but some demoted reader had not.
    pub(super) fn note_given_up(&mut self, replaced: SequenceNumber, acknowledged: SequenceNumber) {
        if self.acks.slow.any() && replaced > self.received(acknowledged) {
            self.counters.given_up += 1;
        }
    }
}

/// Returns the changes that a reader requests. `None`: its budget is used up. `next`: the first unsent change.
fn admitted_requests(
    now: Now,
    proxy: &mut ReaderProxy,
    ack_nack: &AckNack,
    next: SequenceNumber,
    counters: &mut WriterCounters,
) -> Option<Window> {
    let mut requested = Window::from(&ack_nack.reader_sn_state);
    // Unsent changes cannot be missing. There is no sequence number 0, although a base of 0 suggests one.
    if requested.remove_from(next.0) {
        counters.malformed += 1;
    }
    requested.remove_up_to(SequenceNumber::ZERO.0);
    if !requested.is_empty() && !proxy.repairs.budget.admits(now.instant, proxy.congestion.sent()) {
        counters.repairs_refused += 1;
        return None;
    }
    Some(requested)
}

/// Returns the HEARTBEAT that answers an ACKNACK without requests.
///
/// A pre-emptive ACKNACK is answered at once. That HEARTBEAT requires no answer if an earlier one is about to be
/// answered.
fn heartbeat_in_answer(proxy: &ReaderProxy, is_preemptive: bool, now: Instant, pace: Duration) -> OwedHeartbeat {
    let is_asked = !proxy.needs_handshake() && proxy.asked.is_recent(now, pace);
    if is_preemptive && is_asked && !proxy.owed.is_some() { OwedHeartbeat::Final } else { OwedHeartbeat::Required }
}

/// Notes which of these fragments of a change a reader misses for the first time.
fn note_lost_fragments(proxy: &mut ReaderProxy, number: SequenceNumber, missing: &Window, fragment_size: u16) {
    let mut from = missing.base();
    while let Some(fragment) = missing.first_from(from) {
        from = fragment + 1;
        // Fragment numbers have 32 bits, so the conversion fails for no valid request.
        let fragment = u32::try_from(fragment).unwrap_or(0);
        proxy.note_missing(number, fragment, fragment_size.into());
    }
}

/// Notes which of these changes a reader misses for the first time.
///
/// It would have requested all losses up to `heard_of`.
fn note_lost_changes(
    proxy: &mut ReaderProxy,
    history: &WriterHistory,
    requested: Option<&Window>,
    heard_of: SequenceNumber,
) {
    let mut from = i64::MIN;
    while let Some(number) = requested.and_then(|requested| requested.first_from(from)) {
        from = number + 1;
        let number = SequenceNumber(number);
        // A change that left the history counts as its datagram alone.
        let len = history.get(number).map_or(0, |stored| payload_len(&stored.change));
        proxy.note_missing(number, 0, len + DATAGRAM_COST);
    }
    proxy.know_losses(StreamPosition::after(heard_of));
}

#[cfg(test)]
mod tests {
    use crate::concurrent::Payload;
    use crate::output::Datagram;
    use crate::qos::DataWriterQos;
    use crate::types::{
        Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time,
    };
    use crate::wire::{AckNack, SequenceNumberSet};
    use crate::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};

    const READERS: u32 = 1000;
    const NOW: Now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };

    fn reader(number: u32) -> Guid {
        let mut prefix = [2; 12];
        prefix[..4].copy_from_slice(&number.to_be_bytes());
        Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 4]))
    }

    /// Creates a reliable writer with [`READERS`] matched readers.
    fn crowd() -> StatefulWriter {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid, false, &DataWriterQos::default().keep_all()));
        for number in 0..READERS {
            let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
            let reader = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(reader(number), vec![locator]) };
            writer.match_reader(NOW, reader);
        }
        writer
    }

    fn write(writer: &mut StatefulWriter) {
        writer.write(NOW, NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0]))).unwrap();
        let mut datagram = Datagram::new();
        while writer.poll_transmit(NOW, &mut datagram) {}
    }

    fn answer(writer: &mut StatefulWriter, number: u32, next: i64, count: i32) {
        answer_at(NOW, writer, number, next, count);
    }

    fn answer_at(now: Now, writer: &mut StatefulWriter, number: u32, next: i64, count: i32) {
        let ack_nack = AckNack {
            reader_id: reader(number).entity_id,
            writer_id: writer.guid().entity_id,
            reader_sn_state: SequenceNumberSet::empty(SequenceNumber(next)),
            count,
            is_final: true,
        };
        writer.handle_acknack(now, reader(number).into(), &ack_nack);
    }

    #[test]
    fn ack_nack_costs_no_visit_of_other_readers() {
        let mut writer = crowd();
        write(&mut writer);
        for number in 0..READERS {
            answer(&mut writer, number, 2, 1);
        }
        for round in 2..5_i32 {
            write(&mut writer);
            for number in 0..READERS {
                let before = writer.acks.progress.steps();
                assert_eq!(writer.acknowledged(), SequenceNumber(round.into()).previous(), "{number} has to answer");
                answer(&mut writer, number, i64::from(round) + 1, round);
                let steps = writer.acks.progress.steps() - before;
                assert!(steps <= 30, "{steps} comparisons, of {READERS} readers");
            }
            assert_eq!(writer.acknowledged(), SequenceNumber(round.into()));
        }
    }

    /// While the application occupies the writer's cell, the inbox holds 256 answers and drops the others.
    #[test]
    fn dropped_ack_nacks_are_requested_again_after_period() {
        const INBOX: u32 = 256;
        let (mut writer, mut now) = (crowd(), NOW);
        write(&mut writer);
        let mut datagram = Datagram::new();
        for first in (0..READERS).step_by(INBOX as usize) {
            assert_eq!(writer.acknowledged(), SequenceNumber::ZERO);
            for number in first..READERS.min(first + INBOX) {
                answer_at(now, &mut writer, number, 2, 1);
            }
            if first + INBOX >= READERS {
                break;
            }
            let due = writer.deadline().unwrap();
            let pause = due.since(now.instant);
            assert!(pause <= Duration::from_millis(200), "{pause:?}");
            now.instant = due;
            writer.handle_timeout(now);
            let heartbeats = writer.counters().heartbeats;
            while writer.poll_transmit(now, &mut datagram) {}
            assert!(writer.counters().heartbeats > heartbeats, "the rest is asked");
        }
        assert_eq!(writer.acknowledged(), SequenceNumber::FIRST);
    }

    /// A forged ACKNACK has 70 bytes. Its answers must not fill the network.
    #[test]
    fn storm_of_requests_is_answered_within_a_budget() {
        const MIB: usize = 1 << 20;
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid, false, &DataWriterQos::default().keep_all()));
        let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
        let config = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(reader(0), vec![locator]) };
        writer.match_reader(NOW, config);
        let (mut now, mut datagram, mut sent) = (NOW, Datagram::new(), 0);
        for _ in 0..256 {
            writer.write(now, NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0; 1000]))).unwrap();
        }
        while writer.poll_transmit(now, &mut datagram) {}
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber::FIRST);
        for number in 1..=256 {
            assert!(reader_sn_state.insert(SequenceNumber(number)));
        }
        for count in 1..=10_000 {
            now.instant = now.instant.after(Duration::from_millis(1)).unwrap();
            writer.handle_timeout(now);
            let ack_nack = AckNack {
                reader_id: reader(0).entity_id,
                writer_id: writer.guid().entity_id,
                reader_sn_state: reader_sn_state.clone(),
                count,
                is_final: true,
            };
            writer.handle_acknack(now, reader(0).into(), &ack_nack);
            while writer.poll_transmit(now, &mut datagram) {
                let mut bytes = Vec::new();
                datagram.copy_to(&mut bytes);
                sent += bytes.len();
            }
        }
        assert!(writer.counters().repairs_refused > 0);
        assert!(sent < 32 * MIB, "{sent} bytes in ten seconds");
    }

    /// Creates a writer of `count` changes that one reliable reader received.
    fn for_one(count: i64, change: impl Fn(i64) -> NewChange) -> StatefulWriter {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 2]));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid, true, &DataWriterQos::default().keep_all()));
        let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
        let config = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(reader(0), vec![locator]) };
        writer.match_reader(NOW, config);
        let mut datagram = Datagram::new();
        for number in 1..=count {
            writer.write(NOW, change(number)).unwrap();
            while writer.poll_transmit(NOW, &mut datagram) {}
        }
        writer
    }

    /// Requests these changes, and returns the bytes of the answer.
    fn request(now: Now, writer: &mut StatefulWriter, numbers: std::ops::RangeInclusive<i64>, count: i32) -> usize {
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(*numbers.start()));
        for number in numbers {
            assert!(reader_sn_state.insert(SequenceNumber(number)));
        }
        let (reader_id, writer_id) = (reader(0).entity_id, writer.guid().entity_id);
        let ack_nack = AckNack { reader_id, writer_id, reader_sn_state, count, is_final: true };
        writer.handle_acknack(now, reader(0).into(), &ack_nack);
        transmitted(now, writer)
    }

    fn transmitted(now: Now, writer: &mut StatefulWriter) -> usize {
        let (mut datagram, mut bytes, mut sent) = (Datagram::new(), Vec::new(), 0);
        while writer.poll_transmit(now, &mut datagram) {
            bytes.clear();
            datagram.copy_to(&mut bytes);
            sent += bytes.len();
        }
        sent
    }

    #[test]
    fn storm_of_requests_for_keys_is_answered_within_a_budget() {
        let mut writer = for_one(256, |number| {
            let instance = InstanceHandle::from_key_hash([number as u8; 16]);
            NewChange { payload: None, ..NewChange::alive(instance, Payload::copy_of(&[0, 1, 0, 0])) }
        });
        let (mut now, mut sent) = (NOW, 0);
        for count in 1..=10_000 {
            now.instant = now.instant.after(Duration::from_millis(1)).unwrap();
            sent += request(now, &mut writer, 1..=256, count);
        }
        assert!(writer.counters().repairs_refused > 0, "{sent} bytes in ten seconds");
    }

    #[test]
    fn refused_request_leaves_admitted_requests_open() {
        let mut writer = for_one(2, |number| {
            NewChange::alive(InstanceHandle::from_key_hash([number as u8; 16]), Payload::copy_of(&[0; 1000]))
        });
        let ack_nack = |writer: &StatefulWriter, count: i32| {
            let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(1));
            assert!(reader_sn_state.insert(SequenceNumber(1)) && reader_sn_state.insert(SequenceNumber(2)));
            let (reader_id, writer_id) = (reader(0).entity_id, writer.guid().entity_id);
            AckNack { reader_id, writer_id, reader_sn_state, count, is_final: true }
        };
        let admitted = ack_nack(&writer, 1);
        writer.handle_acknack(NOW, reader(0).into(), &admitted);
        // The budget ends before the answer leaves.
        writer.readers.proxies.first_mut().unwrap().repairs.budget.note_bytes(64 << 20, true);
        let refused = ack_nack(&writer, 2);
        writer.handle_acknack(NOW, reader(0).into(), &refused);
        assert_eq!(writer.counters().repairs_refused, 1);
        let now = Now { instant: NOW.instant.after(Duration::from_millis(5)).unwrap(), ..NOW };
        writer.handle_timeout(now);
        assert!(transmitted(now, &mut writer) > 2000, "the admitted request is answered");
    }

    #[test]
    fn check_before_write_visits_no_reader() {
        let mut writer = crowd();
        for _ in 0..20 {
            writer.write(NOW, NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0; 1000]))).unwrap();
            let before = writer.readers.walks();
            assert!(!writer.makes_callers_wait(false));
            assert_eq!(writer.readers.walks(), before);
        }
    }

    /// When a reader leaves, the last proxy takes its index.
    #[test]
    fn unmatched_reader_is_not_awaited() {
        let mut writer = crowd();
        write(&mut writer);
        for number in (0..READERS - 1).filter(|&number| number != 7) {
            answer(&mut writer, number, 2, 1);
        }
        assert_eq!(writer.acknowledged(), SequenceNumber::ZERO);
        writer.unmatch_reader(NOW, reader(7));
        assert_eq!(
            writer.acknowledged(),
            SequenceNumber::ZERO,
            "the last one, which stands in its place, is waited for"
        );
        answer(&mut writer, READERS - 1, 2, 1);
        assert_eq!(writer.acknowledged(), SequenceNumber::FIRST);
    }
}
