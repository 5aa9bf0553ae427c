//! ACKNACK scheduler: when a reader sends ACKNACK and NACK_FRAG to a reliable writer.
//!
//! One instant says when to look at the writer again. The content then follows from the state at that moment: one
//! ACKNACK answers every HEARTBEAT before it, and nothing outdated is sent.

use crate::reader::config::ReaderConfig;
use crate::types::{Duration, Instant, SequenceNumber, WindowedMin, earliest};
use crate::wire::Recent;

/// Shortest time before a number is requested again. A thread that does not run for a moment is no loss.
const SUPPRESSION_MIN: Duration = Duration::from_millis(1);

/// The pause after a pre-emptive ACKNACK grows once for this many writers without a HEARTBEAT.
///
/// Hundreds of endpoints that start at once are busy with each other, and each further ACKNACK delays all answers.
const WRITERS_PER_PAUSE: u32 = 8;

/// Pre-emptive ACKNACKs without an answer after which a writer counts as one that knows the reader.
///
/// The reader notes that before the next one, 0.7 s after the first one. Discovery takes a fraction of that. RustDDS
/// answers none of them while it has no sample.
const UNANSWERED_MAX: u32 = 3;

/// Schedule of ACKNACKs and NACK_FRAGs to one writer.
#[derive(Debug)]
pub(crate) struct AckNackScheduler {
    /// When to look at the writer again.
    due: Option<Instant>,
    /// A HEARTBEAT requires an answer, whether numbers are missing or not.
    answer_required: bool,
    /// When to request a HEARTBEAT.
    heartbeat_request: Option<Instant>,
    /// `Some` until the first HEARTBEAT.
    preemptive: Option<Preemptive>,
    /// Last requested number since no number was missing.
    requested_through: Option<SequenceNumber>,
    /// Numbers that were requested recently.
    requested: Recent,
    /// Windowed minimum of the time from a request to its repair.
    repair_delay: WindowedMin,
    /// Pause before missing numbers are requested again.
    retry: Duration,
    counts: AckNackCounts,
}

/// Pre-emptive ACKNACKs to a writer that has not sent a HEARTBEAT yet.
#[derive(Debug)]
struct Preemptive {
    /// Pause after the next one.
    pause: Duration,
    /// Pause after the first one. The writer has half of it to answer, even if its participant announces itself more
    /// often.
    first_pause: Duration,
    sent_at: Option<Instant>,
    sent: u32,
}

/// Counts of the last ACKNACK and NACK_FRAG.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckNackCounts {
    ack_nacks: i32,
    nack_frags: i32,
}

impl AckNackCounts {
    /// The higher one of each count.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { ack_nacks: self.ack_nacks.max(other.ack_nacks), nack_frags: self.nack_frags.max(other.nack_frags) }
    }
}

impl AckNackScheduler {
    /// Schedule at the match: the reader sends first, so that the writer answers with a HEARTBEAT.
    pub(crate) fn new(now: Instant, config: &ReaderConfig) -> Self {
        let pause = config.preemptive_period;
        Self {
            due: Some(now),
            answer_required: false,
            heartbeat_request: None,
            preemptive: Some(Preemptive { pause, first_pause: pause, sent_at: None, sent: 0 }),
            requested_through: None,
            requested: Recent::default(),
            repair_delay: WindowedMin::default(),
            retry: config.nack_period,
            counts: AckNackCounts::default(),
        }
    }

    /// Continues from earlier counts. A writer that did not notice the unmatch ignores lower ones as old.
    pub(crate) fn continue_from(&mut self, counts: AckNackCounts) {
        self.counts = counts;
    }

    pub(crate) fn counts(&self) -> AckNackCounts {
        self.counts
    }

    /// Lengthens the pauses of pre-emptive ACKNACKs: `awaiting` other writers have not sent a HEARTBEAT either.
    pub(crate) fn lengthen_preemptive_pause(&mut self, awaiting: usize, config: &ReaderConfig) {
        let awaiting = u32::try_from(awaiting).unwrap_or(u32::MAX);
        if let Some(preemptive) = &mut self.preemptive {
            let pause = preemptive.first_pause.scale(1 + awaiting / WRITERS_PER_PAUSE, 1);
            preemptive.first_pause = pause.min(config.preemptive_period_max);
            preemptive.pause = preemptive.first_pause;
        }
    }

    /// When the reader must look at the writer.
    pub(crate) fn due(&self) -> Option<Instant> {
        earliest(self.due, self.heartbeat_request)
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        match self.due() {
            Some(due) => due <= now,
            None => false,
        }
    }

    /// Whether no HEARTBEAT of the writer has arrived yet.
    pub(crate) fn awaits_heartbeat(&self) -> bool {
        self.preemptive.is_some()
    }

    /// Whether the writer has left many pre-emptive ACKNACKs unanswered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.preemptive.as_ref().is_some_and(|preemptive| preemptive.sent >= UNANSWERED_MAX)
    }

    /// Whether a HEARTBEAT requires an answer.
    pub(crate) fn answer_required(&self) -> bool {
        self.answer_required
    }

    /// Looks at the writer at `at`, or earlier.
    pub(crate) fn check_at(&mut self, at: Option<Instant>) {
        self.due = earliest(self.due, at);
    }

    /// Requests a HEARTBEAT at `at`: it announces the real last number of the writer.
    pub(crate) fn request_heartbeat_at(&mut self, at: Option<Instant>) {
        self.heartbeat_request = earliest(self.heartbeat_request, at);
    }

    /// The awaited HEARTBEAT has arrived.
    pub(crate) fn cancel_heartbeat_request(&mut self) {
        self.heartbeat_request = None;
    }

    /// Takes a due request for a HEARTBEAT; `false`: none is due.
    pub(crate) fn take_heartbeat_request(&mut self, now: Instant) -> bool {
        self.heartbeat_request.take_if(|at| *at <= now).is_some()
    }

    /// A HEARTBEAT arrived: ends the pre-emptive ACKNACKs. `true`: it is the first one.
    pub(crate) fn note_heartbeat(&mut self) -> bool {
        let is_first = self.preemptive.take().is_some();
        // The pre-emptive schedule ends: from now on the HEARTBEAT decides when the reader answers.
        if is_first {
            self.due = None;
        }
        is_first
    }

    /// Answers the writer at `at`, even if no number is missing.
    pub(crate) fn answer_at(&mut self, at: Option<Instant>) {
        self.answer_required = true;
        self.check_at(at);
    }

    /// A missing number arrived: the next pause is the shortest one.
    pub(crate) fn reset_retry(&mut self, config: &ReaderConfig) {
        self.retry = config.nack_period;
    }

    /// A number is requested now.
    pub(crate) fn note_requested(&mut self, now: Instant, number: SequenceNumber, config: &ReaderConfig) {
        // Their repairs are measured, and the last one triggers the next request.
        self.requested_through = self.requested_through.max(Some(number));
        self.requested.note(now, number.0, self.suppression(config));
    }

    /// A number arrived: measures the delay of its repair.
    pub(crate) fn note_received(&mut self, now: Instant, number: SequenceNumber) {
        match self.requested_through {
            Some(through) if number <= through => {}
            // Not a repair, so it measures nothing.
            _ => return,
        }
        if let Some(requested_at) = self.requested.noted_at(number.0) {
            self.repair_delay.note(now.since(requested_at));
        }
    }

    /// How long a requested number is not requested again: no longer than repairs take.
    fn suppression(&self, config: &ReaderConfig) -> Duration {
        let longest = config.nack_suppression;
        match self.repair_delay.get() {
            // Three times the fastest repair: slower ones are likely lost.
            Some(delay) => delay.scale(3, 1).clamp(SUPPRESSION_MIN.min(longest), longest),
            None => longest,
        }
    }

    /// Whether a number was requested recently.
    pub(crate) fn was_requested(&self, now: Instant, number: SequenceNumber, config: &ReaderConfig) -> bool {
        self.requested.contains(now, number.0, self.suppression(config))
    }

    /// Whether all requested numbers lie before `next`. Returns `true` once.
    pub(crate) fn take_answered(&mut self, next: SequenceNumber) -> bool {
        self.requested_through.take_if(|through| *through < next).is_some()
    }

    /// All numbers below `next` are acknowledged: their requests need no record.
    pub(crate) fn forget_requests_below(&mut self, next: SequenceNumber) {
        self.requested.forget_below(next.0);
    }

    /// Requests missing numbers after the retry pause, unless they arrive or are announced before.
    pub(crate) fn schedule_retry(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = now.after(self.retry);
        }
    }

    /// The writer's participant announced itself: repeats the pre-emptive ACKNACK if the writer had time to answer the
    /// last one.
    pub(crate) fn repeat_preemptive(&mut self, now: Instant) {
        let Some(preemptive) = &self.preemptive else { return };
        match preemptive.sent_at {
            // The announcement of a peer may be forged, so it must not cause an ACKNACK each time.
            Some(sent) if now.since(sent) < preemptive.first_pause.scale(1, 2) => {}
            _ => self.check_at(Some(now)),
        }
    }

    /// A pre-emptive ACKNACK is sent now.
    pub(crate) fn note_preemptive_sent(&mut self, now: Instant, config: &ReaderConfig) {
        if let Some(preemptive) = &mut self.preemptive {
            self.due = now.after(preemptive.pause);
            preemptive.pause = preemptive.pause.scale(2, 1).min(config.preemptive_period_max);
            preemptive.sent_at = Some(now);
            preemptive.sent = preemptive.sent.saturating_add(1);
        }
    }

    /// The reader looked at the writer. `is_missing`: numbers are still missing; `has_sent`: it sent an ACKNACK.
    pub(crate) fn note_checked(&mut self, now: Instant, is_missing: bool, has_sent: bool, config: &ReaderConfig) {
        debug_assert!(self.preemptive.is_none(), "a writer that was never heard gets pre-emptive ACKNACKs only");
        self.answer_required = false;
        // Missing numbers are requested again after the pause even if no HEARTBEAT arrives.
        self.due = if is_missing { now.after(self.retry) } else { None };
        if is_missing && has_sent {
            self.retry = self.retry.scale(2, 1).min(config.nack_period_max);
        }
    }

    /// Count of the next ACKNACK.
    pub(crate) fn next_ack_nack(&mut self) -> i32 {
        self.counts.ack_nacks = self.counts.ack_nacks.wrapping_add(1);
        self.counts.ack_nacks
    }

    /// Count of the next NACK_FRAG.
    pub(crate) fn next_nack_frag(&mut self) -> i32 {
        self.counts.nack_frags = self.counts.nack_frags.wrapping_add(1);
        self.counts.nack_frags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::DataReaderQos;
    use crate::reader::KeySource;
    use crate::types::Guid;

    fn config() -> ReaderConfig {
        ReaderConfig::new(Guid::UNKNOWN, KeySource::None, &DataReaderQos::default())
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn counts_wrap() {
        let mut scheduler = AckNackScheduler::new(Instant::ZERO, &config());
        scheduler.continue_from(AckNackCounts { ack_nacks: i32::MAX, nack_frags: i32::MAX });
        assert_eq!((scheduler.next_ack_nack(), scheduler.next_nack_frag()), (i32::MIN, i32::MIN));
    }

    #[test]
    fn retry_pause_doubles_until_a_number_arrives() {
        let config = config();
        let mut scheduler = AckNackScheduler::new(at(0), &config);
        assert!(scheduler.note_heartbeat());
        for due in [100, 300, 700] {
            scheduler.note_checked(scheduler.due().unwrap_or(at(0)), true, true, &config);
            assert_eq!(scheduler.due(), Some(at(due)));
        }
        scheduler.reset_retry(&config);
        scheduler.note_checked(at(700), true, true, &config);
        assert_eq!(scheduler.due(), Some(at(800)));
    }
}
