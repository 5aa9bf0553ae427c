//! Data for one reader: repairs, history for a late joiner, and a HEARTBEAT of its own.

use super::layout::{Layout, Sender};
use super::reader_proxy::Resend;
use super::stateful::StatefulWriter;
use crate::history::StoredChange;
use crate::output::Datagram;
use crate::types::{Now, SequenceNumber};
use crate::wire::Heartbeat;

impl StatefulWriter {
    /// Lays out a datagram for the next reader of the queue that has data to send.
    pub(super) fn transmit_queued(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        for _ in 0..self.queue.len() {
            let Some(index) = self.queue.pop_front() else { break };
            if let Some(proxy) = self.proxies.get_mut(index) {
                proxy.queued = false;
            }
            let laid = self.lay_out_for(now, index, datagram);
            // A reader with more data goes to the end of the queue, so no reader starves the others.
            self.enqueue(now, index);
            if laid {
                return true;
            }
        }
        false
    }

    fn lay_out_for(&mut self, now: Now, index: usize, datagram: &mut Datagram) -> bool {
        let Some(proxy) = self.proxies.get(index) else { return false };
        let inline_qos = std::mem::take(&mut self.config.inline_qos);
        let hashed_type = self.config.hashed_type.clone();
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: hashed_type.as_ref(),
            inline_qos: if proxy.config.expects_inline_qos { &inline_qos } else { &[] },
        };
        let guid = proxy.config.guid;
        let mut layout = Layout::new(datagram, sender, guid.entity_id, self.destinations.message_len_max());
        layout.participant(guid.prefix);
        self.lay_out_changes(now, index, &mut layout);
        self.lay_out_owed_heartbeat(now, index, &mut layout);
        layout.finish_gaps();
        self.counters.gaps += layout.gaps();
        let has_content = layout.has_content();
        self.config.inline_qos = inline_qos;
        if let Some(proxy) = self.proxies.get(index) {
            proxy.reachable_by().iter().for_each(|locator| datagram.add_destination(*locator));
        }
        has_content
    }

    /// Lays out the most urgent data of a reader.
    ///
    /// A change in progress comes first, except for single fragments of earlier changes. Then follow single fragments,
    /// whole changes, and history.
    fn lay_out_changes(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) {
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        if let Some(resend) = proxy.resend {
            let may_respond = proxy.may_respond(now.instant);
            let before =
                proxy.next_fragments(now.instant).filter(|request| request.sequence_number < resend.sequence_number);
            if before.is_some() && may_respond {
                if proxy.has_window() {
                    // Later fragments of the present change wait, because the reader needs the earlier change first.
                    self.lay_out_fragments(now, index, layout);
                }
            } else if proxy.has_window() {
                self.lay_out_resend(now, index, resend, layout);
            }
            return;
        }
        if proxy.may_respond(now.instant) {
            proxy.respond_at = None;
            if proxy.has_window() && proxy.next_fragments(now.instant).is_some() {
                return self.lay_out_fragments(now, index, layout);
            }
            if !self.lay_out_requested(now, index, layout) {
                return;
            }
        }
        self.lay_out_backlog(now, index, layout);
    }

    /// Lays out the next fragments of a change that the writer sends to this reader in full.
    fn lay_out_resend(&mut self, now: Now, index: usize, resend: Resend, layout: &mut Layout<'_>) {
        let Resend { sequence_number, next_fragment } = resend;
        let (mut more, mut len) = (None, 0);
        match self.sendable(now, sequence_number) {
            Some(stored) => {
                let fragments = self.fragments_of(stored);
                let left = fragments.saturating_sub(next_fragment - 1);
                let count = u32::from(self.fragments_per_datagram(stored.fragment_size)).min(left);
                len = layout.fragments(&stored.change, stored.fragment_size, next_fragment, count as u16);
                if count < left {
                    more = Some(Resend { sequence_number, next_fragment: next_fragment + count });
                }
                self.counters.repairs += 1;
            }
            // The change has expired or left the history during its retransmission.
            None => layout.gap(sequence_number, sequence_number),
        }
        self.note_repaired(index, len);
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.resend = more;
            // A HEARTBEAT after the repair lets the reader report further losses at once.
            proxy.heartbeat_owed |= proxy.reliable;
            if len > 0 {
                proxy.watch(now.instant, sequence_number, next_fragment);
            }
        }
    }

    /// Lays out one run of single fragments that the reader misses.
    fn lay_out_fragments(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) {
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        let relevant = proxy.first_relevant..=proxy.last_relevant;
        let Some(sequence_number) = proxy.next_fragments(now.instant).map(|request| request.sequence_number) else {
            return;
        };
        let sendable = self.sendable(now, sequence_number).filter(|_| relevant.contains(&sequence_number));
        let Some(stored) = sendable else {
            layout.gap(sequence_number, sequence_number);
            return self.forget_fragments(now, index, sequence_number);
        };
        if stored.fragment_size == 0 {
            // The change was never sent in fragments.
            self.counters.malformed += 1;
            return self.forget_fragments(now, index, sequence_number);
        }
        let fragments = self.fragments_of(stored);
        let count_max = u32::from(self.fragments_per_datagram(stored.fragment_size));
        let (mut first, mut count) = (0, 0);
        if let Some(request) = self.proxies.get_mut(index).and_then(|proxy| proxy.next_fragments(now.instant)) {
            // The reader requests fragments beyond the end of the change.
            if request.missing.remove_from(i64::from(fragments) + 1) {
                self.counters.malformed += 1;
            }
            first = request.missing.first_from(1).and_then(|first| u32::try_from(first).ok()).unwrap_or(0);
            while first > 0 && count < count_max && request.missing.contains(i64::from(first + count)) {
                request.missing.remove((first + count).into());
                count += 1;
            }
        }
        if let Some(stored) = self.history.get(sequence_number).filter(|_| count > 0) {
            let len = layout.fragments(&stored.change, stored.fragment_size, first, count as u16);
            self.counters.repairs += 1;
            self.note_repaired(index, len);
        }
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.drop_fragments(now.instant, None);
            if count > 0 {
                proxy.watch(now.instant, sequence_number, first);
            }
            // A change that is still being sent is not in any HEARTBEAT.
            proxy.heartbeat_owed |= sequence_number < self.next;
        }
    }

    fn forget_fragments(&mut self, now: Now, index: usize, sequence_number: SequenceNumber) {
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.drop_fragments(now.instant, Some(sequence_number));
        }
    }

    /// Lays out requested changes while there is room. Returns whether no request is left.
    fn lay_out_requested(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) -> bool {
        let suppression = self.config.nack_suppression;
        loop {
            let Some(proxy) = self.proxies.get(index) else { return true };
            let Some(number) = proxy.next_requested(now.instant, suppression) else { return true };
            let (found, is_filtered) = self.next_relevant(now, index, number);
            let mut len = 0;
            let served = if found > number {
                layout.gap_because(number, found.previous(), is_filtered);
                found.previous()
            } else if self.lay_out_change(index, number, layout) {
                len = self.change(number).and_then(|change| change.payload.as_ref()).map_or(0, |payload| payload.len());
                number
            } else {
                return false;
            };
            if let Some(proxy) = self.proxies.get_mut(index) {
                // A GAP serves all requests that it covers.
                proxy.serve_up_to(now.instant, served, suppression);
                proxy.note_answered(len);
                proxy.heartbeat_owed = true;
                // The rest of a fragmented change needs datagrams of its own.
                if proxy.resend.is_some() {
                    return false;
                }
            }
        }
    }

    /// Lays out history for a late joiner, without a request, while there is room.
    fn lay_out_backlog(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) {
        while let Some(proxy) = self.proxies.get(index) {
            let Some(mut backlog) = proxy.backlog else { return };
            let reliable = proxy.reliable;
            let (found, is_filtered) = self.next_relevant(now, index, backlog.next);
            let found = found.min(backlog.last.next());
            if found > backlog.next {
                // A best-effort reader counts changes without a GAP as lost.
                if reliable || is_filtered {
                    layout.gap_because(backlog.next, found.previous(), is_filtered);
                }
                backlog.next = found;
            } else {
                let payload = self.change(found).and_then(|change| change.payload.as_ref());
                let len = payload.map_or(0, |payload| payload.len());
                // The reader requests the rest of the history itself, as its window allows.
                let within_budget = backlog.budget.is_none_or(|budget| len <= budget);
                if within_budget && !self.lay_out_change(index, found, layout) {
                    return;
                }
                backlog.budget = backlog.budget.map(|budget| budget.saturating_sub(len));
                backlog.next = if within_budget { found.next() } else { backlog.last.next() };
            }
            if let Some(proxy) = self.proxies.get_mut(index) {
                proxy.backlog = Some(backlog).filter(|backlog| backlog.next <= backlog.last);
                proxy.heartbeat_owed |= reliable;
                if proxy.resend.is_some() {
                    return;
                }
            }
        }
    }

    /// Lays out a change for one reader, or its first fragments. Returns `false` if there is no room left.
    fn lay_out_change(&mut self, index: usize, number: SequenceNumber, layout: &mut Layout<'_>) -> bool {
        let fragment_size = self.destinations.fragment_size;
        let Some(stored) = self.history.get_mut(number) else { return true };
        if !layout.has_room_for(&stored.change) {
            return false;
        }
        let len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
        if stored.fragment_size == 0 && len > usize::from(fragment_size) {
            stored.fragment_size = fragment_size;
        }
        self.counters.repairs += 1;
        if stored.fragment_size == 0 {
            layout.change(&stored.change);
            return true;
        }
        // Fragments start in a datagram of their own.
        if layout.has_content() {
            self.counters.repairs -= 1;
            return false;
        }
        let fragments = self.history.get(number).map_or(0, |stored| self.fragments_of(stored));
        let Some(stored) = self.history.get(number) else { return true };
        let count = u32::from(self.fragments_per_datagram(stored.fragment_size)).min(fragments);
        let len = layout.fragments(&stored.change, stored.fragment_size, 1, count as u16);
        self.note_repaired(index, len);
        if let Some(proxy) = self.proxies.get_mut(index).filter(|_| count < fragments) {
            proxy.resend = Some(Resend { sequence_number: number, next_fragment: count + 1 });
        }
        true
    }

    /// Lays out the HEARTBEAT of this reader, after the last data for it.
    fn lay_out_owed_heartbeat(&mut self, now: Now, index: usize, layout: &mut Layout<'_>) {
        let suppression = self.config.nack_suppression;
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        let asks = proxy.flow.wants_probe() || proxy.flow.is_overdue(now.instant);
        // A HEARTBEAT before the last repair would make the reader request the others again.
        let is_last = proxy.heartbeat_owed && !proxy.has_changes_to_send(now.instant, suppression);
        if !proxy.reliable || !(is_last || asks) {
            return;
        }
        proxy.heartbeat_owed &= !is_last;
        // The HEARTBEAT follows when the irrelevant changes are sent.
        if self.proxies.get(index).is_some_and(|proxy| self.is_too_early_for(proxy)) {
            return;
        }
        let Some(proxy) = self.proxies.get_mut(index) else { return };
        let last_sn = self.next.previous();
        let is_greeting = std::mem::take(&mut proxy.is_greeting);
        // A reader that has all changes, or is about to answer, need not answer again.
        let is_final = proxy.heard && (proxy.acknowledged >= last_sn || is_greeting) && !asks;
        if !is_final {
            proxy.note_heartbeat(now.instant, last_sn, self.next_fragment - 1);
        }
        let reader_id = proxy.config.guid.entity_id;
        let first_sn = self.proxies.get(index).map_or(SequenceNumber::FIRST, |proxy| self.first_for(proxy));
        if self.strangers > 0 {
            self.lay_out_opening_for(index, last_sn, layout);
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

    /// Counts fragments that were laid out for one reader.
    fn note_repaired(&mut self, index: usize, len: usize) {
        self.counters.fragment_bytes_repaired += len as u64;
        if let Some(proxy) = self.proxies.get_mut(index).filter(|proxy| proxy.reliable) {
            proxy.flow.note_sent(len);
        }
    }

    /// Returns the lowest relevant change from `number` on that the writer may still send.
    ///
    /// If there is no such change, returns the number after all sent changes, or after all searched ones. The flag is
    /// true if only the reader's content filter excludes the changes before it.
    fn next_relevant(&self, now: Now, index: usize, number: SequenceNumber) -> (SequenceNumber, bool) {
        let proxy = self.proxies.get(index);
        let all = (number, SequenceNumber::MAX);
        let (first, last) = proxy.map_or(all, |proxy| (proxy.first_relevant, proxy.last_relevant));
        if let Some(filtered) = proxy.and_then(|proxy| proxy.filtered.as_ref()).filter(|_| number >= first) {
            return self.next_wanted(now, filtered, number, last);
        }
        let found = self.next_sendable(now, number.max(first)).filter(|&found| found <= last);
        (found.unwrap_or(self.next).min(self.next), false)
    }

    /// Returns the number of fragments of a change.
    pub(super) fn fragments_of(&self, stored: &StoredChange) -> u32 {
        let len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
        // The length fits into 32 bits, so the number of fragments does too.
        len.div_ceil(usize::from(stored.fragment_size.max(1))) as u32
    }

    /// Returns how many fragments share a datagram: one, unless they are much smaller than a datagram.
    pub(super) fn fragments_per_datagram(&self, fragment_size: u16) -> u16 {
        let room = self.destinations.payload_len_max;
        u16::try_from(room / usize::from(fragment_size.max(1))).unwrap_or(u16::MAX).max(1)
    }
}
