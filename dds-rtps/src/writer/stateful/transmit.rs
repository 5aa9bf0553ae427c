//! Datagrams: new changes for all remote readers, data for one reader, and the HEARTBEATs that announce them.

use super::StatefulWriter;
use super::long::is_lent;
use crate::output::Datagram;
use crate::types::{EntityId, Guid, GuidPrefix, Locator, Now, SequenceNumber, earliest};
use crate::wire::{Heartbeat, HeartbeatGroupInfo, SET_BITS_MAX};
#[cfg(doc)]
use crate::writer::CongestionConfig;
use crate::writer::ack::slow_readers::samples_between;
use crate::writer::lifespan::{next_sendable, sendable};
use crate::writer::readers::content_filter::Recipients;
use crate::writer::readers::handshake::{HANDSHAKES_BESIDE_SAMPLES_MAX, OwedHeartbeat};
use crate::writer::readers::handshake_heartbeats::AnnouncedRange;
use crate::writer::readers::proxy::ReaderProxy;
use crate::writer::send::gate::SendPermission;
use crate::writer::send::layout::{Layout, Sender};
use crate::writer::send::repair::ReaderRepair;
use crate::writer::send::{DATAGRAM_COST, choose_fragment_size, fragment_count, payload_len};

/// Fewest datagrams of a sample that is always followed by a HEARTBEAT. Readers then request its losses soon.
const LONG_SAMPLE: u32 = 8;

/// Unsent bytes from which a caller waits, while readers answer. It writes faster than they receive.
const BACKLOG_MAX: u64 = 1 << 20;

/// The same while no reader answers. A reader that hangs must not slow the caller down, but memory is finite.
const BACKLOG_MAX_UNANSWERED: u64 = 64 << 20;

/// Content that [`StatefulWriter::lay_out_new`] has put into a datagram.
#[derive(Debug, Default)]
struct NewContent {
    /// Number of changes that are laid out completely.
    samples: u32,
    /// The only change of the datagram, if it is relevant to the earlier readers only.
    early: Option<SequenceNumber>,
    /// The only change of the datagram passes the content filters of some readers. It goes to the needed locators.
    is_for_some: bool,
    /// A HEARTBEAT must follow.
    asks: bool,
    /// A HEARTBEAT must ask a reader how much of a large change has left its receive buffer.
    probes: bool,
    /// The message is a long one, so nothing may follow in it.
    is_long: bool,
}

/// Treatment of the next change under content filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilterOutcome {
    /// It may be laid out for these recipients.
    To(Recipients),
    /// As `To`, but the GAPs in front of it have filled the datagram.
    After(Recipients),
    /// No reader wants it. The next change follows.
    Omitted,
    /// It needs a datagram of its own.
    Postponed,
}

/// Further purposes of a HEARTBEAT for all readers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeartbeatPurpose {
    /// It asserts the liveliness of the writer.
    liveliness: bool,
    /// Readers must answer it even if they acknowledged all changes.
    probes: bool,
}

impl StatefulWriter {
    /// Lays out the next datagram with its destinations, and replaces the content of `datagram`.
    ///
    /// Returns `false` and an empty datagram if there is no data to send now. With `true`, the datagram counts as sent.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let is_laid_out = self.transmit_next(now, datagram);
        if is_laid_out {
            self.counters.datagrams += 1;
        } else {
            datagram.clear();
        }
        is_laid_out
    }

    /// Serves new changes and the queue of single readers in turns, so that neither starves the other.
    fn transmit_next(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Some readers must not receive live changes, so each reader gets its changes alone.
        if self.readers.destinations.one_by_one {
            self.send_one_by_one(now);
        }
        // The payload of a long message ends it, so its HEARTBEAT comes in the next one.
        if let Some(purpose) = self.long.take_heartbeat() {
            if self.transmit_heartbeat_behind(now, purpose, datagram) {
                return true;
            }
        }
        let queue_first = self.cursor.take_queue_turn();
        if queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        if self.cursor.has_more() && self.transmit_new(now, datagram) {
            // A stream of new changes must not starve repairs.
            self.cursor.serve_queue_next();
            return true;
        }
        if !queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        (self.liveliness.is_heartbeat_due() || self.heartbeat.is_due()) && self.transmit_heartbeat(now, datagram)
    }

    /// Schedules the unsent changes for each reader alone, if they are relevant to it.
    ///
    /// The writer of a durability service forwards changes of other writers. A reader that ignores the original writer
    /// would receive samples twice, from that writer and from the service. So it receives the kept samples at its
    /// match, and none after that ([`ReaderProxyConfig::live`](super::ReaderProxyConfig::live)). With one such reader,
    /// every change goes to each other reader alone, as history goes to late joiners.
    fn send_one_by_one(&mut self, now: Now) {
        let first = self.cursor.next();
        while self.cursor.has_more() {
            self.cursor.advance_to(self.cursor.next().next());
        }
        let last = self.cursor.sent();
        if last < first {
            return;
        }
        let unasked_max = self.config.unasked_max;
        for index in 0..self.readers.proxies.len() {
            if let Some(proxy) = self.readers.proxies.get_mut(index) {
                proxy.extend_backlog(first, last, unasked_max);
            }
            self.readers.enqueue(now.instant, index);
        }
        // No datagram for all readers starts the heartbeat schedule, so it starts here.
        if self.expects_answer() {
            self.heartbeat.expect_answer(now.instant);
        }
    }

    fn transmit_new(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Moved out during the layout, so that the datagram may borrow from it.
        let inline_qos = std::mem::take(&mut self.config.inline_qos);
        let hashed_type = self.config.hashed_type.clone();
        let destinations = &self.readers.destinations;
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: hashed_type.as_ref(),
            hides_keys: self.config.hides_keys,
            inline_qos: if destinations.expects_inline_qos { &inline_qos } else { &[] },
        };
        let (before, was_early) = (self.cursor.next(), self.cursor.next() < destinations.relevant_from);
        let mut layout = Layout::new(datagram, sender, destinations.reader_id, destinations.message_len_max());
        if self.config.names_participant {
            debug_assert!(self.readers.proxies.len() <= 1, "all readers are of one participant");
            for proxy in &self.readers.proxies {
                layout.participant(proxy.config.guid.prefix);
            }
        }
        let mut content = self.lay_out_new(now, &mut layout);
        let has_reliable = self.readers.destinations.reliable_count > 0;
        if content.samples > 0 {
            // Only reliable readers acknowledge samples.
            if has_reliable {
                let unacknowledged = samples_between(self.acks.progress.received(), self.cursor.sent());
                self.heartbeat.note_samples(now.instant, content.samples, unacknowledged);
                content.asks |= self.expects_answer()
                    && (self.readers.handshakes.take_help() || self.heartbeat.pays_now(now.instant));
            }
            // Whole changes to best-effort readers are not paced: the application sets their rate. A long message is,
            // and its layout has counted it.
            if has_reliable || (self.cursor.batch.is_on() && !content.is_long) {
                let len = layout.datagram().len();
                content.probes |= self.gate.note_samples(self.cursor.next(), len, &mut self.readers);
            }
        }
        if content.asks || content.probes {
            let purpose = HeartbeatPurpose { probes: content.probes, liveliness: false };
            if content.is_long {
                self.long.owe_heartbeat(purpose);
            } else {
                self.lay_out_heartbeat_beside_samples(now, purpose, &mut layout);
            }
        }
        layout.finish_gaps();
        let has_content = layout.has_content();
        // The datagram may hold no other content than these GAPs.
        self.counters.gaps += layout.gaps();
        self.config.inline_qos = inline_qos;
        // The advance may have reached the first relevant sequence number of a reader.
        if was_early && self.readers.handshakes.incomplete > 0 {
            self.readers.owe_begun_handshakes(now.instant, before, self.cursor.next());
        }
        self.set_destinations(&content, datagram);
        // Without reliable readers, a sent change is finished at once.
        self.retire();
        has_content
    }

    /// Sets the destinations of a datagram with new changes.
    #[inline]
    fn set_destinations(&self, content: &NewContent, datagram: &mut Datagram) {
        let readers = &self.readers;
        match content.early {
            None if content.is_for_some => {
                for locator in readers.needed_locators() {
                    datagram.add_destination(locator);
                }
            }
            None => datagram.set_destinations(readers.destinations.locators(&readers.proxies)),
            Some(number) => {
                for proxy in &readers.proxies {
                    if proxy.relevant.first <= number {
                        add_destinations(datagram, proxy.config.reachable_by());
                    }
                }
            }
        }
    }

    /// Fills a message with new changes, and advances past them.
    fn lay_out_new(&mut self, now: Now, layout: &mut Layout<'_>) -> NewContent {
        let mut content = NewContent::default();
        while self.cursor.has_more() {
            let next = self.cursor.next();
            // In most cases the next change exists. Only search if it is gone.
            if sendable(&self.history, now, next).is_none() {
                let found = next_sendable(&self.history, now, next).unwrap_or(self.cursor.last().next());
                // Best-effort readers count missing changes by themselves.
                if self.readers.destinations.reliable_count > 0 {
                    layout.gap(next, found.previous());
                }
                self.cursor.advance_to(found);
                continue;
            }
            let early = next < self.readers.destinations.relevant_from;
            if early && !self.readers.proxies.iter().any(|proxy| proxy.relevant.first <= next) {
                // All readers of this early change have left.
                self.cursor.advance_to(next.next());
                continue;
            }
            if self.readers.destinations.filtered > 0 {
                // An early change needs a datagram of its own, because its destinations differ.
                if early && layout.has_content() {
                    break;
                }
                match self.filter_next(now, early, layout) {
                    FilterOutcome::To(recipients) => content.is_for_some = recipients == Recipients::Some,
                    FilterOutcome::After(recipients) => {
                        content.is_for_some = recipients == Recipients::Some;
                        break;
                    }
                    FilterOutcome::Omitted => continue,
                    FilterOutcome::Postponed => break,
                }
            }
            // The check visits all readers, so it runs only if a window may be full.
            if self.gate.needs_check() && !self.may_send(now) {
                break;
            }
            let Some(stored) = self.history.get_mut(next) else {
                debug_assert!(false, "the change was found above");
                break;
            };
            // The memory of a lent change is the message. Beside other changes, it would be copied.
            let is_alone = early || is_lent(stored);
            if (is_alone && layout.has_content()) || !layout.has_room_for(&stored.change) {
                break;
            }
            content.early = if early { Some(next) } else { None };
            if !early && self.long.takes(stored, &self.readers.destinations, layout) {
                if !layout.has_content() && self.may_send(now) {
                    self.lay_out_long_change(layout, &mut content);
                }
                break;
            }
            choose_fragment_size(stored, self.readers.destinations.fragment_size);
            if stored.fragment_size > 0 {
                // Fragments are large, so they check the windows each time.
                if !layout.has_content() && self.may_send(now) {
                    self.lay_out_new_fragments(layout, &mut content);
                }
                break;
            }
            layout.change(&stored.change);
            content.samples += 1;
            self.cursor.advance_to(next.next());
            if is_alone || content.is_for_some {
                break;
            }
        }
        content
    }

    /// Evaluates the content filters for the next change.
    ///
    /// `early`: the change is relevant only to readers that matched before others.
    fn filter_next(&mut self, now: Now, early: bool, layout: &mut Layout<'_>) -> FilterOutcome {
        let next = self.cursor.next();
        if early {
            self.readers.choose_early_recipients(next);
            let fits = self.readers.lay_out_omitted(Recipients::Some, layout);
            return if fits { FilterOutcome::To(Recipients::All) } else { FilterOutcome::After(Recipients::All) };
        }
        let recipients = match self.history.get(next) {
            Some(stored) => self.readers.choose_recipients(&stored.change),
            None => Recipients::All,
        };
        match recipients {
            Recipients::None => {
                self.counters.filtered += self.readers.omit_for_others(next);
                self.cursor.advance_to(next.next());
                // No datagram announces the omitted change, so a HEARTBEAT must.
                if self.readers.destinations.reliable_count > 0 {
                    self.heartbeat.expect_answer(now.instant);
                }
                return FilterOutcome::Omitted;
            }
            Recipients::Some if layout.has_content() => return FilterOutcome::Postponed,
            Recipients::Some => self.counters.filtered += self.readers.omit_for_others(next),
            Recipients::All => {}
        }
        let fits = self.readers.lay_out_omitted(recipients, layout);
        if fits { FilterOutcome::To(recipients) } else { FilterOutcome::After(recipients) }
    }

    /// Returns whether the writer may send more data to all readers. Otherwise schedules the next check.
    fn may_send(&mut self, now: Now) -> bool {
        let next = self.cursor.next();
        let len = self.history.get(next).map_or(0, |stored| payload_len(&stored.change));
        let SendPermission::Closed(until) = self.gate.check(now.instant, next, len, &self.readers) else {
            return true;
        };
        self.counters.paced += 1;
        if let Some(until) = until {
            self.readers.wait_until(until);
        }
        false
    }

    /// Lays out the next fragments of the present change.
    ///
    /// The last fragments count as as many samples as the change took datagrams. So a long sample that lost its tail
    /// need not wait for the timer's HEARTBEAT.
    fn lay_out_new_fragments(&mut self, layout: &mut Layout<'_>, content: &mut NewContent) {
        let (next, first) = (self.cursor.next(), self.cursor.next_fragment());
        let Some(stored) = self.history.get(next) else {
            debug_assert!(false, "the caller found the change");
            return;
        };
        let fragments = fragment_count(stored);
        let per_datagram = self.readers.destinations.fragments_per_datagram(stored.fragment_size);
        let count = per_datagram.min(fragments.saturating_sub(first - 1));
        let len = layout.fragments(&stored.change, stored.fragment_size, first, count as u16);
        self.counters.fragment_bytes += len as u64;
        // Noted before the window is checked for the next datagram.
        content.probes = self.gate.note_fragments(next, len, &mut self.readers);
        if first == 1 {
            // Keep the change in the history until all of its fragments are sent.
            let dropped = self.history.pin(next);
            let acknowledged = self.acknowledged();
            self.counters.overwritten_unacknowledged += u64::from(dropped.is_some_and(|number| number > acknowledged));
        }
        let has_reliable = self.readers.destinations.reliable_count > 0;
        let end = first + count;
        if end > fragments {
            self.cursor.advance_to(next.next());
            content.samples += fragments.div_ceil(per_datagram);
            content.probes |= has_reliable && fragments.div_ceil(per_datagram) >= LONG_SAMPLE;
            return;
        }
        // Sending a long change takes time. A HEARTBEAT_FRAG lets reliable readers request losses before the end of the
        // change. One NACK_FRAG must be able to cover all fragments since the last one. On a long path, every HEARTBEAT
        // gets one, because the share of losses controls the window.
        let fills_request = has_reliable && (first - 1) / SET_BITS_MAX != (end - 1) / SET_BITS_MAX;
        let is_long_path = content.probes && self.readers.reliable().any(|proxy| proxy.congestion.is_long_path());
        if (fills_request && !content.probes) || is_long_path {
            let count = self.heartbeat.next_fragment_count();
            layout.heartbeat_frag(next, end - 1, count);
        }
        self.cursor.advance_to_fragment(end);
    }

    /// Asks for the longest message to all readers, if an unsent large change may use it.
    ///
    /// A caller whose transport carries longer messages than UDP calls this before each transmission. A caller that
    /// transforms messages must answer with zero, which stands for the messages of UDP.
    pub fn update_long_message_max(&mut self, longest_to: impl FnOnce(&[Locator]) -> usize) {
        // Without a question, an earlier answer may be wrong: the transport of a reader may have changed since.
        let len_max = if self.wants_long_messages() {
            longest_to(self.readers.destinations.locators(&self.readers.proxies))
        } else {
            0
        };
        self.long.set_len_max(len_max);
    }

    /// The locators of all present readers.
    pub fn reader_locators(&self) -> &[Locator] {
        self.readers.destinations.locators(&self.readers.proxies)
    }

    fn wants_long_messages(&self) -> bool {
        // The cheapest condition comes first, because this runs for each write.
        self.long.has_large_from(self.cursor.next())
            && self.cursor.has_more()
            && self.readers.destinations.may_be_long()
    }

    /// Lays out the present change in a message of its own.
    ///
    /// It counts as as many samples as it would take datagrams, as the fragments of a change do.
    fn lay_out_long_change(&mut self, layout: &mut Layout<'_>, content: &mut NewContent) {
        let next = self.cursor.next();
        let Some(stored) = self.history.get(next) else {
            debug_assert!(false, "the caller found the change");
            return;
        };
        let len = payload_len(&stored.change);
        layout.change(&stored.change);
        let destinations = &self.readers.destinations;
        let has_reliable = destinations.reliable_count > 0;
        let datagrams = u32::try_from(len.div_ceil(destinations.fragment_size.into())).unwrap_or(u32::MAX);
        if !has_reliable {
            // With reliable readers, the caller counts all whole changes of a message.
            self.gate.note_fragments(next, len, &mut self.readers);
        }
        self.cursor.advance_to(next.next());
        content.samples += datagrams;
        content.probes |= has_reliable && datagrams >= LONG_SAMPLE;
        content.is_long = true;
    }

    /// Lays out the HEARTBEAT that belongs behind the last long message.
    fn transmit_heartbeat_behind(&mut self, now: Now, purpose: HeartbeatPurpose, datagram: &mut Datagram) -> bool {
        let destinations = &self.readers.destinations;
        let sender = Sender::of_heartbeats(self.config.guid);
        let mut layout = Layout::new(datagram, sender, destinations.reader_id, destinations.message_len_max());
        self.lay_out_heartbeat_beside_samples(now, purpose, &mut layout);
        let has_content = layout.has_content();
        datagram.set_destinations(self.readers.destinations.locators(&self.readers.proxies));
        has_content
    }

    /// Lays out a datagram for the next reader of the queue that has data to send.
    fn transmit_queued(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        for _ in 0..self.readers.queue_len() {
            let Some(index) = self.readers.take_queued() else { break };
            let is_laid_out = self.lay_out_for(now, index, datagram);
            // A reader with more data goes to the end of the queue, so no reader starves the others.
            self.readers.enqueue(now.instant, index);
            if is_laid_out {
                return true;
            }
        }
        false
    }

    fn lay_out_for(&mut self, now: Now, index: usize, datagram: &mut Datagram) -> bool {
        let Some(proxy) = self.readers.proxies.get_mut(index) else {
            debug_assert!(false, "the queue holds matched readers");
            return false;
        };
        // Moved out during the layout, so that the datagram may borrow from it.
        let inline_qos = std::mem::take(&mut self.config.inline_qos);
        let hashed_type = self.config.hashed_type.clone();
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: hashed_type.as_ref(),
            hides_keys: self.config.hides_keys,
            inline_qos: if proxy.config.expects_inline_qos { &inline_qos } else { &[] },
        };
        let destinations = &self.readers.destinations;
        let guid = proxy.config.guid;
        let mut layout = Layout::new(datagram, sender, guid.entity_id, destinations.message_len_max());
        layout.participant(guid.prefix);
        let mut repair = ReaderRepair {
            now,
            proxy,
            history: &mut self.history,
            counters: &mut self.counters,
            destinations,
            next: self.cursor.next(),
            suppression: self.config.nack_suppression,
        };
        repair.lay_out(&mut layout);
        self.lay_out_owed_heartbeat(now, index, &mut layout);
        layout.finish_gaps();
        self.counters.gaps += layout.gaps();
        let has_content = layout.has_content();
        self.config.inline_qos = inline_qos;
        if let Some(proxy) = self.readers.proxies.get(index) {
            add_destinations(datagram, proxy.reachable_by());
        }
        has_content
    }

    /// Lays out the HEARTBEAT of one reader, after the last data for it.
    fn lay_out_owed_heartbeat(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) {
        let Some(proxy) = self.readers.proxies.get_mut(index) else {
            debug_assert!(false, "the queue holds matched readers");
            return;
        };
        let probes = proxy.congestion.wants_probe() || proxy.congestion.is_overdue(now.instant);
        // A HEARTBEAT before the last repair would make the reader request the others again.
        let is_last = proxy.owed.is_some() && !proxy.has_changes_to_send(now.instant, self.config.nack_suppression);
        if !proxy.reliable || !(is_last || probes) {
            return;
        }
        let (is_owed_final, is_question) = (proxy.owed == OwedHeartbeat::Final, proxy.owed == OwedHeartbeat::Question);
        if is_last {
            proxy.owed = OwedHeartbeat::None;
        } else if is_owed_final {
            proxy.owed = OwedHeartbeat::Required;
        }
        // The HEARTBEAT follows when the irrelevant changes are sent.
        if proxy.is_handshake_early(self.cursor.next()) {
            return;
        }
        let last_sn = self.cursor.sent();
        // A reader that has all changes, or is about to answer, need not answer again.
        let needs_no_answer = proxy.acknowledged >= last_sn || is_owed_final;
        let is_final = proxy.handshake.is_heard() && needs_no_answer && !is_question && !probes;
        if !is_final {
            proxy.note_heartbeat(now.instant, self.cursor.position());
        }
        let range = self.announced_range();
        let Some(proxy) = self.readers.proxies.get(index) else {
            debug_assert!(false, "the reader was found above");
            return;
        };
        let (reader_id, first_sn) = (proxy.config.guid.entity_id, range.first_for(proxy));
        if self.readers.handshakes.incomplete > 0 {
            self.readers.lay_out_handshake_for(index, range, last_sn, &mut self.heartbeat, layout);
        }
        let heartbeat = Heartbeat {
            reader_id,
            writer_id: self.config.guid.entity_id,
            first_sn,
            last_sn,
            count: self.heartbeat.next_count(),
            is_final,
            liveliness: false,
            group_info: self.group_info(),
        };
        layout.heartbeat(&heartbeat);
        self.counters.heartbeats += 1;
    }

    /// Lays out a HEARTBEAT without samples, for the readers that owe an answer.
    fn transmit_heartbeat(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let liveliness = self.liveliness.take_heartbeat();
        let last = self.cursor.sent();
        let owing = self.readers.proxies.iter().filter(|proxy| proxy.owes_answer(last)).count();
        // The number of owing readers sets the pause between HEARTBEATs.
        self.heartbeat.set_owing(owing);
        let pace = self.heartbeat.answer_time();
        // A liveliness assertion must reach best-effort readers as well.
        let is_asked = |proxy: &ReaderProxy| {
            liveliness || (proxy.owes_answer(last) && proxy.asked.may_repeat(now.instant, last, pace))
        };
        let mut asked = self.readers.proxies.iter().enumerate().filter(|(_, proxy)| is_asked(proxy));
        let Some((index, proxy)) = asked.next() else {
            if owing > 0 {
                self.heartbeat.postpone(now.instant);
            } else {
                self.heartbeat.note_answer(now.instant, false);
            }
            return false;
        };
        // A HEARTBEAT for a single reader names it, so that no other reader answers.
        let is_for_one = asked.next().is_none() && !proxy.is_handshake_early(self.cursor.next());
        let range = self.announced_range();
        let (guid, first_sn) = if is_for_one {
            (proxy.config.guid, range.first_for(proxy))
        } else {
            (Guid::new(GuidPrefix::UNKNOWN, EntityId::UNKNOWN), SequenceNumber::FIRST)
        };
        let reader_id = guid.entity_id;
        let sender = Sender::of_heartbeats(self.config.guid);
        let mut layout = Layout::new(datagram, sender, reader_id, 0);
        if is_for_one {
            layout.participant(guid.prefix);
        }
        for proxy in &self.readers.proxies {
            if is_asked(proxy) {
                add_destinations(layout.datagram(), proxy.config.reachable_by());
            }
        }
        if self.readers.handshakes.incomplete > 0 {
            if is_for_one {
                self.readers.lay_out_handshake_for(index, range, last, &mut self.heartbeat, &mut layout);
            } else {
                self.readers.lay_out_handshakes(range, last, &mut self.heartbeat, &mut layout);
            }
        }
        let purpose = HeartbeatPurpose { liveliness, probes: false };
        let mut heartbeat = self.heartbeat_for(now, reader_id, purpose, is_asked);
        // A reader skips all changes below `first_sn`, so it must not exceed the next change.
        heartbeat.first_sn = heartbeat.first_sn.max(first_sn).min(self.cursor.next());
        layout.heartbeat(&heartbeat);
        true
    }

    /// Lays out a HEARTBEAT beside samples.
    ///
    /// If many readers lack the initial handshake, each receives a HEARTBEAT of its own instead.
    fn lay_out_heartbeat_beside_samples(&mut self, now: Now, purpose: HeartbeatPurpose, layout: &mut Layout<'_>) {
        let incomplete = self.readers.handshakes.incomplete;
        if incomplete > HANDSHAKES_BESIDE_SAMPLES_MAX {
            // It counts as sent, or each datagram of samples would do this again.
            self.heartbeat.send(now.instant, self.expects_answer());
            for index in 0..self.readers.proxies.len() {
                match self.readers.proxies.get(index) {
                    // Its own HEARTBEAT draws the line of each reader, and takes no space beside samples.
                    Some(proxy) if proxy.reliable => self.readers.owe_heartbeat(now.instant, index),
                    _ => {}
                }
            }
            return;
        }
        if incomplete > 0 {
            let range = self.announced_range();
            self.readers.lay_out_handshakes(range, self.cursor.sent(), &mut self.heartbeat, layout);
        }
        let heartbeat = self.heartbeat_for(now, self.readers.destinations.reader_id, purpose, |_| true);
        layout.heartbeat(&heartbeat);
    }

    /// Creates a HEARTBEAT that counts as sent to all readers. It is noted with those that `is_asked` selects.
    fn heartbeat_for(
        &mut self,
        now: Now,
        reader_id: EntityId,
        purpose: HeartbeatPurpose,
        is_asked: impl Fn(&ReaderProxy) -> bool,
    ) -> Heartbeat {
        let pending = self.expects_answer();
        self.note_who_owes();
        self.counters.heartbeats += 1;
        // A HEARTBEAT without an expected answer yields no RTT sample.
        if pending || purpose.probes {
            self.note_heartbeat(now, is_asked);
        }
        Heartbeat {
            reader_id,
            writer_id: self.config.guid.entity_id,
            first_sn: self.first_available(),
            last_sn: self.cursor.sent(),
            count: self.heartbeat.send(now.instant, pending),
            is_final: !pending && !purpose.probes,
            liveliness: purpose.liveliness,
            group_info: self.group_info(),
        }
    }

    /// Notes a HEARTBEAT with the readers that `is_asked` selects.
    fn note_heartbeat(&mut self, now: Now, is_asked: impl Fn(&ReaderProxy) -> bool) {
        let place = self.cursor.position();
        let (mut first, mut is_answered) = (None, false);
        for proxy in &mut self.readers.proxies {
            if is_asked(proxy) {
                proxy.note_heartbeat(now.instant, place);
            }
            if proxy.reliable {
                is_answered |= proxy.asked.is_answered();
                first = earliest(first, proxy.congestion.deadline());
            }
        }
        self.readers.set_answered(is_answered);
        if let Some(first) = first {
            self.readers.wait_until(first);
        }
    }

    /// Repeats the HEARTBEAT to a remote reader that has never answered.
    ///
    /// The caller has received a sign of life from its participant. Returns false if the reader has not answered yet.
    pub fn ask_again(&mut self, now: Now, reader: Guid) -> bool {
        let Some(index) = self.readers.reliable_index(reader) else { return true };
        let Some(proxy) = self.readers.proxies.get(index) else {
            debug_assert!(false, "the index names a matched reader");
            return true;
        };
        if proxy.handshake.is_heard() {
            return true;
        }
        if proxy.asked.may_repeat(now.instant, self.cursor.sent(), self.heartbeat.pace()) {
            self.readers.owe_heartbeat(now.instant, index);
        }
        false
    }

    /// Sends a remote reader a HEARTBEAT that it must answer, although nothing is missing.
    pub fn ask(&mut self, now: Now, reader: Guid) {
        if let Some(index) = self.readers.reliable_index(reader) {
            self.readers.owe_question(now.instant, index);
        }
    }

    /// Returns the sequence numbers that a HEARTBEAT announces now.
    fn announced_range(&self) -> AnnouncedRange {
        AnnouncedRange {
            writer_id: self.config.guid.entity_id,
            first_available: self.first_available(),
            next: self.cursor.next(),
        }
    }

    /// Returns the group information of a HEARTBEAT (RTPS 2.5, 8.3.8.6).
    fn group_info(&self) -> Option<HeartbeatGroupInfo> {
        self.presentation.as_ref()?.group_info(&self.history, self.cursor.next())
    }

    /// Returns whether a released change is unsent. It waits for answers of the readers, the pacer or the socket.
    #[must_use]
    pub fn has_more_to_send(&self) -> bool {
        self.cursor.has_more()
    }

    /// Returns whether the caller of a write should wait until more changes are sent.
    ///
    /// It should if a large change waits for readers. Small changes wait in the history, so the caller goes on until
    /// they amount to `BACKLOG_MAX` bytes, or `BACKLOG_MAX_UNANSWERED` if no reader answers. `has_waited`: the
    /// caller waits already, and goes on at half of that.
    #[must_use]
    pub fn makes_callers_wait(&self, has_waited: bool) -> bool {
        if !self.cursor.has_more() {
            return false;
        }
        // The first and the last change stand for those between them: this runs for each write.
        let len_of = |number| self.history.get(number).map_or(0, |stored| payload_len(&stored.change));
        let len = len_of(self.cursor.next()).max(len_of(self.cursor.last()));
        if len > usize::from(self.readers.destinations.fragment_size) {
            return true;
        }
        let unsent = samples_between(self.cursor.sent(), self.cursor.last());
        let bytes = unsent.saturating_mul((len + DATAGRAM_COST) as u64);
        let most = if self.readers.is_answered() { BACKLOG_MAX } else { BACKLOG_MAX_UNANSWERED };
        bytes > if has_waited { most / 2 } else { most }
    }

    /// Returns the last change that was sent to all remote readers.
    ///
    /// Later changes wait for `poll_transmit`, or for room in the congestion window ([`CongestionConfig`]).
    #[must_use]
    pub fn sent_up_to(&self) -> SequenceNumber {
        self.cursor.sent()
    }

    /// Returns the local locators whose free receive buffer the writer needs to know; `None` if it needs none now.
    ///
    /// Best-effort readers of this host listen there, and data waits for them. A caller that can read the free space
    /// reports it by [`StatefulWriter::note_room`].
    #[must_use]
    pub fn waits_for_room(&self, now: Now) -> Option<&[Locator]> {
        let destinations = &self.readers.destinations;
        let is_paced = destinations.reliable_count == 0 && self.cursor.has_more();
        if is_paced && self.gate.pacer.wants_report(now.instant) && destinations.same_host {
            Some(destinations.locators(&self.readers.proxies))
        } else {
            None
        }
    }

    /// Notes the largest free receive buffer, in bytes, among the locators of [`StatefulWriter::waits_for_room`].
    ///
    /// `None` if the system reports nothing: then the clock sets the rate. Returns whether the writer sends more now.
    pub fn note_room(&mut self, now: Now, room: Option<usize>) -> bool {
        // A lent change goes out as a whole, and is lost without room for all of it.
        let needed = self.long.len_of_lent(self.history.get(self.cursor.next()));
        let room = room.map(|room| if room < needed { 0 } else { room });
        let sends_more = self.gate.pacer.note_report(now.instant, room);
        if !sends_more {
            if let Some(until) = self.gate.pacer.opens_at(self.readers.destinations.rate) {
                self.readers.wait_until(until);
            }
        }
        sends_more
    }
}

fn add_destinations(datagram: &mut Datagram, locators: &[Locator]) {
    for locator in locators {
        datagram.add_destination(*locator);
    }
}
