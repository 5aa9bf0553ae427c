//! Data for one reader: repairs, history for a late joiner, and GAPs of irrelevant changes.

use super::layout::Layout;
use super::{DATAGRAM_COST, choose_fragment_size, fragment_count, payload_len};
use crate::history::WriterHistory;
use crate::types::{Duration, Now, SequenceNumber};
use crate::writer::config::WriterCounters;
use crate::writer::lifespan::{next_sendable, sendable};
use crate::writer::readers::destinations::Destinations;
use crate::writer::readers::proxy::{FragmentedResend, ReaderProxy};

/// The next datagram with changes for one reader: the parts of the writer that it needs.
pub(crate) struct ReaderRepair<'w> {
    pub(crate) now: Now,
    pub(crate) proxy: &'w mut ReaderProxy,
    pub(crate) history: &'w mut WriterHistory,
    pub(crate) counters: &'w mut WriterCounters,
    pub(crate) destinations: &'w Destinations,
    /// Next change to send to all readers.
    pub(crate) next: SequenceNumber,
    pub(crate) suppression: Duration,
}

impl ReaderRepair<'_> {
    /// Lays out the most urgent data of the reader.
    ///
    /// A change in progress comes first, except for single fragments of earlier changes. Then follow single fragments,
    /// whole changes, and history.
    pub(crate) fn lay_out(&mut self, layout: &mut Layout<'_>) {
        let now = self.now.instant;
        if let Some(resend) = self.proxy.repairs.resend {
            if !self.proxy.has_window() {
                return;
            }
            let may_respond = self.proxy.repairs.may_respond(now);
            let earlier = self.proxy.next_fragments(now).map(|request| request.sequence_number);
            if may_respond && earlier.is_some_and(|number| number < resend.sequence_number) {
                // Later fragments of the present change wait, because the reader needs the earlier change first.
                self.lay_out_fragments(layout);
            } else {
                self.lay_out_resend(resend, layout);
            }
            return;
        }
        if self.proxy.repairs.may_respond(now) {
            // The delay is over, and requests that came during it are answered together.
            self.proxy.repairs.respond_at = None;
            if self.proxy.has_window() && self.proxy.next_fragments(now).is_some() {
                return self.lay_out_fragments(layout);
            }
            if !self.lay_out_requested(layout) {
                return;
            }
        }
        self.lay_out_backlog(layout);
    }

    /// Lays out the next fragments of a change that the writer sends to this reader in full.
    fn lay_out_resend(&mut self, resend: FragmentedResend, layout: &mut Layout<'_>) {
        let FragmentedResend { sequence_number, next_fragment, is_repeated } = resend;
        let (mut more, mut len) = (None, 0);
        if let Some(stored) = sendable(self.history, self.now, sequence_number) {
            let left = fragment_count(stored).saturating_sub(next_fragment - 1);
            let count = self.destinations.fragments_per_datagram(stored.fragment_size).min(left);
            len = layout.fragments(&stored.change, stored.fragment_size, next_fragment, count as u16);
            if count < left {
                more = Some(FragmentedResend { next_fragment: next_fragment + count, ..resend });
            }
            self.counters.repairs += 1;
        } else {
            // The change has expired or left the history during its retransmission.
            layout.gap(sequence_number, sequence_number);
        }
        self.note_fragments(len, is_repeated);
        self.proxy.repairs.resend = more;
        // A HEARTBEAT after the repair lets the reader report further losses at once.
        if self.proxy.reliable {
            self.proxy.owed.owe();
        }
        if len > 0 {
            self.proxy.watch(self.now.instant, sequence_number, next_fragment);
        }
    }

    /// Lays out one run of single fragments that the reader misses.
    fn lay_out_fragments(&mut self, layout: &mut Layout<'_>) {
        let now = self.now.instant;
        let relevant = self.proxy.relevant;
        let Some(request) = self.proxy.next_fragments(now) else {
            debug_assert!(false, "the caller found a request");
            return;
        };
        let sequence_number = request.sequence_number;
        let is_relevant = relevant.first <= sequence_number && sequence_number <= relevant.last;
        let stored = if is_relevant { sendable(self.history, self.now, sequence_number) } else { None };
        let Some(stored) = stored else {
            // Without an answer, the reader would request the fragments forever.
            layout.gap(sequence_number, sequence_number);
            return self.proxy.forget_fragments(now, sequence_number);
        };
        if stored.fragment_size == 0 {
            // The change was never sent in fragments.
            self.counters.malformed += 1;
            return self.proxy.forget_fragments(now, sequence_number);
        }
        // The reader requests fragments beyond the end of the change.
        if request.missing.remove_from(i64::from(fragment_count(stored)) + 1) {
            self.counters.malformed += 1;
        }
        let count_max = self.destinations.fragments_per_datagram(stored.fragment_size);
        let first = request.missing.first_from(1).and_then(|first| u32::try_from(first).ok()).unwrap_or(0);
        let mut count = 0;
        while first > 0 && count < count_max && request.missing.contains(i64::from(first + count)) {
            request.missing.remove((first + count).into());
            count += 1;
        }
        if count > 0 {
            let len = layout.fragments(&stored.change, stored.fragment_size, first, count as u16);
            self.counters.repairs += 1;
            // Only the first run of a change is no repetition. All bytes of first transmissions make up for that.
            let is_repeated = self.proxy.repairs.budget.note_repair(sequence_number);
            self.note_fragments(len, is_repeated);
        }
        self.proxy.drop_answered_fragments(now);
        if count > 0 {
            self.proxy.watch(now, sequence_number, first);
        }
        // A change that is still being sent is not in any HEARTBEAT.
        if sequence_number < self.next {
            self.proxy.owed.owe();
        }
    }

    /// Lays out requested changes while there is room. Returns whether no request is left.
    fn lay_out_requested(&mut self, layout: &mut Layout<'_>) -> bool {
        let now = self.now.instant;
        while let Some(number) = self.proxy.next_requested(now, self.suppression) {
            let (found, is_filtered) = self.next_relevant(number);
            let (mut served, mut len) = (number, 0);
            if found > number {
                layout.gap_because(number, found.previous(), is_filtered);
                served = found.previous();
            } else if self.lay_out_change(number, layout) {
                len = self.payload_len(number);
            } else {
                return false;
            }
            // A GAP serves all requests that it covers.
            self.proxy.serve_up_to(now, served, self.suppression);
            self.proxy.repairs.changes.note_answered(len);
            self.proxy.owed.owe();
            // The rest of a fragmented change needs datagrams of its own.
            if self.proxy.repairs.resend.is_some() {
                return false;
            }
        }
        true
    }

    /// Lays out history for a late joiner, without a request, while there is room.
    fn lay_out_backlog(&mut self, layout: &mut Layout<'_>) {
        let reliable = self.proxy.reliable;
        while let Some(mut backlog) = self.proxy.repairs.backlog {
            let (found, is_filtered) = self.next_relevant(backlog.next);
            let found = found.min(backlog.last.next());
            if found > backlog.next {
                // A best-effort reader counts changes without a GAP as lost.
                if reliable || is_filtered {
                    layout.gap_because(backlog.next, found.previous(), is_filtered);
                }
                backlog.next = found;
            } else {
                let len = self.payload_len(found);
                // The reader requests the rest of the history itself, as its window allows.
                let within_budget = backlog.budget.is_none_or(|budget| len <= budget);
                if within_budget && !self.lay_out_change(found, layout) {
                    return;
                }
                if let Some(budget) = &mut backlog.budget {
                    *budget = budget.saturating_sub(len);
                }
                backlog.next = if within_budget { found.next() } else { backlog.last.next() };
            }
            self.proxy.repairs.backlog = if backlog.next <= backlog.last { Some(backlog) } else { None };
            if reliable {
                self.proxy.owed.owe();
            }
            // The rest of a fragmented change needs datagrams of its own.
            if self.proxy.repairs.resend.is_some() {
                return;
            }
        }
    }

    /// Lays out a change, or its first fragments. Returns `false` if there is no room left.
    fn lay_out_change(&mut self, number: SequenceNumber, layout: &mut Layout<'_>) -> bool {
        let Some(stored) = self.history.get_mut(number) else { return true };
        if !layout.has_room_for(&stored.change) {
            return false;
        }
        choose_fragment_size(stored, self.destinations.fragment_size);
        let budget = &mut self.proxy.repairs.budget;
        if stored.fragment_size == 0 {
            layout.change(&stored.change);
            self.counters.repairs += 1;
            let is_repeated = budget.note_repair(number);
            // The headers of a small change outweigh its payload.
            budget.note_bytes(payload_len(&stored.change) + DATAGRAM_COST / 8, is_repeated);
            return true;
        }
        // Fragments start in a datagram of their own.
        if layout.has_content() {
            return false;
        }
        let fragments = fragment_count(stored);
        let count = self.destinations.fragments_per_datagram(stored.fragment_size).min(fragments);
        let len = layout.fragments(&stored.change, stored.fragment_size, 1, count as u16);
        self.counters.repairs += 1;
        let is_repeated = budget.note_repair(number);
        self.note_fragments(len, is_repeated);
        if count < fragments {
            let next_fragment = count + 1;
            self.proxy.repairs.resend = Some(FragmentedResend { sequence_number: number, next_fragment, is_repeated });
        }
        true
    }

    /// Returns the bytes of payload of a kept change.
    fn payload_len(&self, number: SequenceNumber) -> usize {
        match self.history.get(number) {
            Some(stored) => payload_len(&stored.change),
            None => 0,
        }
    }

    /// Counts fragments that were laid out for this reader.
    fn note_fragments(&mut self, len: usize, is_repeated: bool) {
        self.counters.fragment_bytes_repaired += len as u64;
        self.proxy.repairs.budget.note_bytes(len, is_repeated);
        if self.proxy.reliable {
            self.proxy.congestion.note_sent(len);
            self.proxy.repairs.budget.note_fragments(len);
        }
    }

    /// Returns the lowest relevant change from `number` on that the writer may still send.
    ///
    /// If there is no such change, returns the number after all sent changes, or after all searched ones. The flag is
    /// true if only the reader's content filter excludes the changes before it.
    fn next_relevant(&self, number: SequenceNumber) -> (SequenceNumber, bool) {
        let relevant = self.proxy.relevant;
        if let Some(filter) = &self.proxy.filter {
            if number >= relevant.first {
                return filter.next_wanted(self.now, self.history, number, relevant.last, self.next);
            }
        }
        // Changes that left the history, and those after the last relevant one, become GAPs.
        let found = match next_sendable(self.history, self.now, number.max(relevant.first)) {
            Some(found) if found <= relevant.last => found.min(self.next),
            _ => self.next,
        };
        (found, false)
    }
}
