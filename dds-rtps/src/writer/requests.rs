//! Requests of readers: ACKNACK and NACK_FRAG (RTPS 2.5, 8.4.9 and 8.3.8.10), which are untrusted.

use super::config::Asker;
use super::stateful::StatefulWriter;
use super::transmit::DATAGRAM_COST;
use crate::types::{Duration, Now, SequenceNumber};
use crate::wire::{AckNack, NackFrag, Window};

impl StatefulWriter {
    /// Handles an ACKNACK of a reader: the changes that it has and misses.
    ///
    /// An ACKNACK that is not newer than the last one is ignored, with one exception. A pre-emptive ACKNACK always gets
    /// a HEARTBEAT (base 0 or 1, no missing change, not final). Its reader may have lost its state and restarted its
    /// counts, also those of its NACK_FRAGs. It would wait for the HEARTBEAT forever.
    pub fn handle_acknack(&mut self, now: Now, asker: impl Into<Asker>, ack_nack: &AckNack) {
        let asker = asker.into();
        let Some(index) = self.reliable_proxy(asker.reader) else {
            self.counters.unknown_reader += 1;
            return;
        };
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        let base = ack_nack.reader_sn_state.base();
        // A reader cannot acknowledge changes that were never sent.
        if base < SequenceNumber::ZERO || base > self.next {
            self.counters.malformed += 1;
            return;
        }
        let mut requested = Window::from(&ack_nack.reader_sn_state);
        let asks_anew = asks_anew(ack_nack);
        if !asks_anew && !proxy.is_new_acknack(ack_nack.count) {
            self.counters.stale += 1;
            return;
        }
        // Unsent changes cannot be missing. There is no sequence number 0, although a base of 0 suggests one.
        if requested.remove_from(self.next.0) {
            self.counters.malformed += 1;
        }
        requested.remove_up_to(SequenceNumber::ZERO.0);
        proxy.reply = asker.reply;
        let asks = !requested.is_empty();
        if asks {
            // A requested change shows congestion, or at least a full receive buffer.
            proxy.flow.note_loss();
        }
        // An ACKNACK shows that the reader knows of all changes up to its last request.
        let heard_of = base.previous().max(SequenceNumber(requested.last().unwrap_or(0)));
        if proxy.flow.is_long() {
            self.note_lost_changes(index, &requested, heard_of);
        }
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        proxy.look_at_watched(now.instant, base.previous(), None);
        proxy.round_trip.note_answer(now.instant, heard_of);
        proxy.way.note_answer(now.instant, heard_of, 0);
        proxy.flow.note_way(proxy.way.shortest());
        proxy.flow.note_answer(now.instant, proxy.round_trip.shortest());
        proxy.flow.note_acknowledged(base.previous());
        // The reader has all data only if no change is partly sent.
        if base == self.next && self.next_fragment == 1 {
            proxy.flow.note_all_received();
        }
        // The counts of silent readers change only with these two.
        let before = (proxy.heard, proxy.is_stranger());
        proxy.note_knowledge(asks_anew);
        if asks_anew {
            proxy.forget_nack_frag_count();
        }
        proxy.apply_acknack(now.instant, ack_nack.count, base.previous(), requested);
        if !asks_anew {
            proxy.note_answer();
        }
        if asks {
            // The reader requests the history window by window. Sending it without a request would send it twice.
            proxy.backlog = None;
            let delay = self.config.nack_response_delay;
            // Further requests within the delay join the same answer.
            if delay > Duration::ZERO && proxy.may_respond(now.instant) {
                proxy.respond_at = now.instant.after(delay);
            }
        } else if !ack_nack.is_final && (asks_anew || proxy.acknowledged < self.next.previous()) {
            // A pre-emptive ACKNACK is answered at once. That HEARTBEAT requires no answer if an earlier one is about
            // to be answered.
            let is_asked = !proxy.is_stranger() && proxy.was_just_asked(now.instant, self.heartbeat.pace());
            proxy.is_greeting = asks_anew && is_asked && !proxy.heartbeat_owed;
            proxy.heartbeat_owed = true;
        }
        if before != (proxy.heard, proxy.is_stranger()) {
            self.count_strangers();
        }
        self.enqueue(now, index);
        self.answered(now, index);
    }

    /// Handles a NACK_FRAG of a reader: the fragments of a change that it misses.
    pub fn handle_nack_frag(&mut self, now: Now, asker: impl Into<Asker>, nack_frag: &NackFrag) {
        let asker = asker.into();
        let Some(index) = self.reliable_proxy(asker.reader) else {
            self.counters.unknown_reader += 1;
            return;
        };
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        if !proxy.accept_nack_frag_count(nack_frag.count) {
            self.counters.stale += 1;
            return;
        }
        proxy.reply = asker.reply;
        let sequence_number = nack_frag.writer_sn;
        let mut missing = Window::from(&nack_frag.fragment_number_state);
        missing.remove_up_to(0);
        // Unsent fragments of the present change are not missing, and neither are later changes.
        let sent_before = if sequence_number == self.next { i64::from(self.next_fragment) } else { i64::MAX };
        let is_sent = sequence_number.is_valid() && sequence_number <= self.next;
        if !is_sent || missing.remove_from(sent_before) {
            self.counters.malformed += 1;
        }
        if !is_sent || missing.is_empty() {
            return;
        }
        // Fragment numbers have 32 bits, so the conversion fails for no valid request.
        let last = missing.last().and_then(|last| u32::try_from(last).ok()).unwrap_or(0);
        if proxy.flow.is_long() {
            let fragment_size = self.history.get(sequence_number).map_or(0, |stored| stored.fragment_size);
            let mut from = missing.base();
            while let Some(number) = missing.first_from(from) {
                let fragment = u32::try_from(number).unwrap_or(0);
                proxy.note_missing(sequence_number, fragment, fragment_size.into());
                from = number + 1;
            }
            proxy.know_losses(sequence_number.previous(), last);
        }
        proxy.look_at_watched(now.instant, sequence_number.previous(), Some(&missing));
        proxy.way.note_answer(now.instant, sequence_number.previous(), last);
        if proxy.resend.is_none_or(|resend| resend.sequence_number != sequence_number) {
            proxy.flow.note_loss();
        }
        if !proxy.apply_nack_frag(now.instant, sequence_number, missing, self.config.nack_suppression) {
            self.counters.fragment_requests_dropped += 1;
        }
        self.enqueue(now, index);
    }

    /// Notes which of these changes the reader misses for the first time.
    ///
    /// It would have requested all losses up to `heard_of`.
    fn note_lost_changes(&mut self, index: usize, requested: &Window, heard_of: SequenceNumber) {
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        let mut from = requested.base();
        while let Some(number) = requested.first_from(from) {
            from = number + 1;
            let number = SequenceNumber(number);
            let payload = self.history.get(number).and_then(|stored| stored.change.payload.as_ref());
            proxy.note_missing(number, 0, payload.map_or(0, |payload| payload.len()) + DATAGRAM_COST);
        }
        proxy.know_losses(heard_of, 0);
    }
}

/// Returns whether an ACKNACK is pre-emptive: the reader requests a HEARTBEAT and does not know the writer.
pub(super) fn asks_anew(ack_nack: &AckNack) -> bool {
    let missing = &ack_nack.reader_sn_state;
    missing.base() <= SequenceNumber::FIRST && missing.is_empty() && !ack_nack.is_final
}
