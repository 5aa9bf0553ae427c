//! Announcements of a reliable writer: GAP and HEARTBEAT.

use super::{NumberRange, ReliableState, StreamStart};
use crate::reader::config::ReaderConfig;
use crate::reader::delivery::ChangeDelivery;
use crate::reader::event::StatefulReaderEvent;
use crate::reader::ledger::distance;
use crate::reader::proxy::plausibility::{Denial, ReaderPosition, SkippedRange};
use crate::types::{EntityId, Instant, Now, SequenceNumber};
use crate::wire::{Gap, Heartbeat, HeartbeatFrag};

/// Most numbers that one range of a GAP marks in the window. A GAP takes 32 bytes, and must not take much time.
const MARKED_MAX: i64 = 1024;

impl ReliableState {
    pub(crate) fn handle_gap(&mut self, now: Now, gap: &Gap, delivery: &mut ChangeDelivery<'_>, config: &ReaderConfig) {
        match self.start {
            StreamStart::Named => return,
            // The GAP separates history from relevant changes only if it begins with the history.
            StreamStart::AfterHistory if gap.gap_start > SequenceNumber::FIRST => return,
            StreamStart::AfterHistory => self.start = StreamStart::Known,
            StreamStart::Known | StreamStart::FirstAnnounced => {}
        }
        self.acknacks.reset_retry(config);
        self.mark_irrelevant(gap.gap_start, gap.gap_list.base(), config);
        let mut range: Option<NumberRange> = None;
        for number in gap.gap_list.iter() {
            match &mut range {
                // Consecutive members become one range.
                Some(range) if range.end == number => range.end = number.next(),
                _ => {
                    if let Some(range) = range {
                        self.mark_irrelevant(range.start, range.end, config);
                    }
                    range = Some(NumberRange { start: number, end: number.next() });
                }
            }
        }
        if let Some(range) = range {
            self.mark_irrelevant(range.start, range.end, config);
        }
        self.deliver_ready(now, delivery);
        self.request_more_if_answered(now.instant);
    }

    /// Declares `start .. end` irrelevant.
    fn mark_irrelevant(&mut self, start: SequenceNumber, end: SequenceNumber, config: &ReaderConfig) {
        if end <= self.window.next() || end <= start {
            return;
        }
        // Numbers in the window are marked one by one, a bounded count for each GAP. The rest becomes a range if it
        // continues them. Otherwise it is forgotten: the reader requests it, and the writer declares it irrelevant
        // again.
        let window_end = self.window.end();
        let start = start.max(self.window.next());
        let mut marked_end = end.min(start.plus(MARKED_MAX));
        if start <= window_end {
            marked_end = marked_end.min(window_end);
        }
        self.window.mark_irrelevant(start, marked_end, config.reorder_max);
        let marked_end = marked_end.min(self.window.end());
        if marked_end >= start && end > marked_end {
            self.remember_gap(NumberRange { start: marked_end, end });
        }
    }

    /// Remembers one range: the union if two touch, else the lower one.
    fn remember_gap(&mut self, range: NumberRange) {
        self.gap = Some(match self.gap {
            Some(known) if range.start <= known.end && known.start <= range.end => {
                NumberRange { start: known.start.min(range.start), end: known.end.max(range.end) }
            }
            // Of two separate ranges the lower one is reached first. The writer repeats the other one on request.
            Some(known) if known.start <= range.start => known,
            _ => range,
        });
    }

    /// Whether a HEARTBEAT_FRAG differs from the one before.
    pub(crate) fn is_new_heartbeat_frag(&mut self, heartbeat: &HeartbeatFrag) -> bool {
        self.last_heartbeats.fragments.replace(heartbeat.clone()).as_ref() != Some(heartbeat)
    }

    /// Handles a HEARTBEAT. `false`: it is a duplicate.
    pub(crate) fn handle_heartbeat(
        &mut self,
        now: Now,
        heartbeat: &Heartbeat,
        delivery: &mut ChangeDelivery<'_>,
        config: &ReaderConfig,
    ) -> bool {
        let answer_at = now.instant.after(config.heartbeat_response_delay);
        if self.awaits_name && !is_addressed(heartbeat.reader_id, config) {
            // It may be for other readers. An answer shows the writer that this reader still waits for its own one,
            // which has the first relevant sequence number.
            if !heartbeat.is_final {
                self.acknacks.answer_at(answer_at);
            }
            return true;
        }
        // Only the same count again is a duplicate. Some writers count per reader, so a lower count may be new, and
        // to answer an old HEARTBEAT does no harm.
        if self.last_heartbeats.count.replace(heartbeat.count) == Some(heartbeat.count) {
            return false;
        }
        self.check_denial(now.instant, heartbeat.last_sn, delivery);
        self.check_unconfirmed(now.instant, heartbeat.last_sn, delivery, config);
        let is_first = self.acknacks.note_heartbeat();
        if is_first {
            self.note_known(delivery, config);
        }
        self.begin_stream(is_first, heartbeat, config);
        self.announced.history_end.get_or_insert(heartbeat.last_sn);
        self.announced.last = self.announced.last.max(heartbeat.last_sn);
        self.deliver_ready(now, delivery);
        if !heartbeat.is_final {
            self.acknacks.answer_at(answer_at);
        } else if self.is_missing_numbers() {
            self.acknacks.check_at(answer_at);
        }
        true
    }

    /// The writer has answered this reader, so it knows the reader.
    fn note_known(&mut self, delivery: &mut ChangeDelivery<'_>, config: &ReaderConfig) {
        self.awaits_name = false;
        if config.awaits_writers {
            delivery.events.push(StatefulReaderEvent::KnownToWriter);
        }
    }

    /// Fixes the start of the stream at the first HEARTBEAT, and raises the floor at each one.
    fn begin_stream(&mut self, is_first: bool, heartbeat: &Heartbeat, config: &ReaderConfig) {
        let begin = match self.start {
            StreamStart::Known | StreamStart::FirstAnnounced | StreamStart::Named => heartbeat.first_sn,
            // Changes up to there may be older than the match, and are not for a volatile reader.
            StreamStart::AfterHistory => heartbeat.last_sn.next(),
        };
        // The writer may have been matched before, up to the floor.
        let begin = if self.start == StreamStart::Known { begin } else { begin.max(self.announced.floor) };
        if self.start == StreamStart::Named {
            self.window.restart_at(begin, config.reorder_max);
            self.first = begin;
            self.start = StreamStart::Known;
            self.plausibility.start_with_heartbeat(begin);
        }
        if is_first || self.start != StreamStart::Known {
            // Earlier numbers were never promised: they are irrelevant, not lost.
            self.mark_irrelevant(SequenceNumber::FIRST, begin, config);
            self.start = StreamStart::Known;
        }
        self.announced.floor = self.announced.floor.max(begin);
    }

    /// Compares a HEARTBEAT with earlier announcements, which may have been forged.
    fn check_denial(&mut self, now: Instant, last: SequenceNumber, delivery: &mut ChangeDelivery<'_>) {
        let reader = ReaderPosition {
            next: self.window.next(),
            window_is_empty: self.window.is_empty(),
            announced: self.announced.last,
            is_refused: self.is_refused,
        };
        match self.plausibility.check_denial(now, last, reader) {
            Denial::None => {}
            Denial::RequestHeartbeatAt(at) => self.acknacks.request_heartbeat_at(at),
            Denial::Retract(skipped) => {
                delivery.counters.retracted += 1;
                self.retract(skipped, delivery);
            }
            Denial::Forget { is_astray } => {
                delivery.counters.retracted += 1;
                self.forget_announced(last, is_astray, delivery);
            }
        }
    }

    /// Expects skipped numbers again.
    fn retract(&mut self, skipped: SkippedRange, delivery: &mut ChangeDelivery<'_>) {
        self.window.move_back(skipped.from);
        self.announced.floor = skipped.from;
        self.announced.last = skipped.from.previous();
        self.gap = None;
        self.first = skipped.first;
        delivery.tally.retract(skipped.lost, skipped.irrelevant, skipped.known_before);
    }

    /// Expects no number after `last`. If the reader is astray, it begins again after `last`.
    fn forget_announced(&mut self, last: SequenceNumber, is_astray: bool, delivery: &mut ChangeDelivery<'_>) {
        self.announced.last = last.max(self.window.end().previous());
        self.gap = None;
        if let Some(end) = &mut self.announced.history_end {
            *end = last.min(*end);
        }
        if is_astray {
            // All changes that the writer really sends lie before the window.
            delivery.tally.restart(distance(self.first, self.window.next()));
            let begin = last.next();
            self.window.move_back(begin);
            // The ledger begins a new row range where the writer is.
            (self.first, self.announced.floor, self.announced.last) = (begin, begin, last);
        }
    }
}

/// Whether a submessage names this reader, and not all readers of its participant.
fn is_addressed(reader: EntityId, config: &ReaderConfig) -> bool {
    reader == config.guid.entity_id
}
