//! When a reader speaks to a reliable writer.
//!
//! One instant says when the writer is to be looked at again; what is then said follows from the state at that moment, so
//! that one ACKNACK answers every HEARTBEAT before it, and nothing stale is ever sent.

use crate::reader::config::ReaderConfig;
use crate::types::{Duration, Instant, SequenceNumber, Shortest, earliest};
use crate::wire::Recent;

/// The shortest time for which what was asked for is not asked for again: a thread that is not run for a moment is no loss.
const SUPPRESSION_MIN: Duration = Duration::from_millis(1);

/// For each so many other writers that have never been heard, the pause after a pre-emptive ACKNACK is as long again: they are
/// as busy with each other as with us, and a crowd that starts at once would get ever slower by being asked.
const CROWD: u32 = 8;

/// The schedule of ACKNACKs and NACK_FRAGs to one writer.
#[derive(Debug)]
pub(crate) struct Asking {
    /// When to look again.
    due: Option<Instant>,
    /// The writer waits for an answer, whether anything is missing or not.
    respond: bool,
    /// When the writer is asked to say where it stands.
    doubt: Option<Instant>,
    /// No HEARTBEAT has come yet.
    preemptive: Option<Preemptive>,
    /// The last number that was asked for since nothing was missing.
    through: Option<SequenceNumber>,
    /// What was asked for a moment ago.
    asked: Recent,
    /// How long it takes until what was asked for is here.
    repair: Shortest,
    /// The pause before what is missing is asked for again.
    retry: Duration,
    ack_nacks: i32,
    nack_frags: i32,
}

/// When a writer is asked that has never been heard.
#[derive(Debug)]
struct Preemptive {
    /// The pause after the next pre-emptive ACKNACK.
    pause: Duration,
    /// … and after the first one: however often the writer shows itself, it has half of that to answer.
    first_pause: Duration,
    asked_at: Option<Instant>,
}

/// The numbers of the last ACKNACK and NACK_FRAG.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnswerCounts {
    ack_nacks: i32,
    nack_frags: i32,
}

impl AnswerCounts {
    /// The higher ones of both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { ack_nacks: self.ack_nacks.max(other.ack_nacks), nack_frags: self.nack_frags.max(other.nack_frags) }
    }
}

impl Asking {
    /// A reader that has just matched: it speaks at once, so that the writer answers with a HEARTBEAT.
    pub(crate) fn new(now: Instant, config: &ReaderConfig) -> Self {
        let pause = config.preemptive_period;
        Self {
            due: Some(now),
            respond: false,
            doubt: None,
            preemptive: Some(Preemptive { pause, first_pause: pause, asked_at: None }),
            through: None,
            asked: Recent::default(),
            repair: Shortest::default(),
            retry: config.nack_period,
            ack_nacks: 0,
            nack_frags: 0,
        }
    }

    /// Numbers the answers from here on. A writer that has not noticed that the reader had gone would else take all of them
    /// for old ones, until there are as many as before.
    pub(crate) fn count_on(&mut self, counts: AnswerCounts) {
        (self.ack_nacks, self.nack_frags) = (counts.ack_nacks, counts.nack_frags);
    }

    /// How many answers there have been.
    pub(crate) fn counts(&self) -> AnswerCounts {
        AnswerCounts { ack_nacks: self.ack_nacks, nack_frags: self.nack_frags }
    }

    /// So many writers have never been heard: each is given time for the others.
    pub(crate) fn give_time(&mut self, unheard: usize, config: &ReaderConfig) {
        let unheard = u32::try_from(unheard).unwrap_or(u32::MAX);
        if let Some(preemptive) = &mut self.preemptive {
            let pause = preemptive.first_pause.scale(1 + unheard / CROWD, 1);
            preemptive.first_pause = pause.min(config.preemptive_period_max);
            preemptive.pause = preemptive.first_pause;
        }
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        earliest(self.due, self.doubt)
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// Whether the writer has not been heard yet.
    pub(crate) fn is_preemptive(&self) -> bool {
        self.preemptive.is_some()
    }

    pub(crate) fn owes_answer(&self) -> bool {
        self.respond
    }

    /// Looks at the writer at `at`, or earlier.
    pub(crate) fn schedule(&mut self, at: Option<Instant>) {
        self.due = earliest(self.due, at);
    }

    /// Something was said in the writer's name that may not be its own word: it is to be asked at `at` where it stands.
    pub(crate) fn doubt(&mut self, at: Option<Instant>) {
        self.doubt = earliest(self.doubt, at);
    }

    /// Whether the writer is to be asked now where it stands; then it is.
    pub(crate) fn take_doubt(&mut self, now: Instant) -> bool {
        self.doubt.take_if(|at| *at <= now).is_some()
    }

    /// The first HEARTBEAT: no more pre-emptive ACKNACKs. `false`: it was not the first.
    pub(crate) fn heard(&mut self) -> bool {
        let first = self.preemptive.take().is_some();
        if first {
            self.due = None;
        }
        first
    }

    /// The writer is to be told at `at` where the reader stands.
    pub(crate) fn answer(&mut self, at: Option<Instant>) {
        self.respond = true;
        self.schedule(at);
    }

    /// Something that was missing has come: the next pause is a short one.
    pub(crate) fn progress(&mut self, config: &ReaderConfig) {
        self.retry = config.nack_period;
    }

    /// A number is being asked for.
    pub(crate) fn note_asked(&mut self, now: Instant, number: SequenceNumber, config: &ReaderConfig) {
        self.through = self.through.max(Some(number));
        self.asked.note(now, number.0, self.suppression(config));
    }

    /// A number has come.
    pub(crate) fn note_received(&mut self, now: Instant, number: SequenceNumber) {
        if let Some(asked_at) = self.through.filter(|&through| number <= through).and(self.asked.noted_at(number.0)) {
            self.repair.note(now.since(asked_at));
        }
    }

    /// How long a number that was asked for is not asked for again: no longer than it takes to come.
    fn suppression(&self, config: &ReaderConfig) -> Duration {
        let usual = config.nack_suppression;
        self.repair.get().map_or(usual, |shortest| shortest.scale(3, 1).clamp(SUPPRESSION_MIN.min(usual), usual))
    }

    /// Whether a number was asked for just now.
    pub(crate) fn has_asked(&self, now: Instant, number: SequenceNumber, config: &ReaderConfig) -> bool {
        self.asked.contains(now, number.0, self.suppression(config))
    }

    /// Whether all that was asked for lies before `next`; says so once.
    pub(crate) fn take_answered(&mut self, next: SequenceNumber) -> bool {
        self.through.take_if(|through| *through < next).is_some()
    }

    /// Something is missing that nobody has announced yet: it is asked for if it does not come by itself.
    pub(crate) fn schedule_retry(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = now.after(self.retry);
        }
    }

    /// The writer is there, as its participant has just shown: if it has never been heard, it is asked again.
    pub(crate) fn ask_again(&mut self, now: Instant) {
        let Some(preemptive) = &self.preemptive else { return };
        let had_time = |at| now.since(at) >= preemptive.first_pause.scale(1, 2);
        if preemptive.asked_at.is_none_or(had_time) {
            self.schedule(Some(now));
        }
    }

    /// A pre-emptive ACKNACK is laid out.
    pub(crate) fn preempted(&mut self, now: Instant, config: &ReaderConfig) {
        if let Some(preemptive) = &mut self.preemptive {
            self.due = now.after(preemptive.pause);
            preemptive.pause = preemptive.pause.scale(2, 1).min(config.preemptive_period_max);
            preemptive.asked_at = Some(now);
        }
    }

    /// An answer is laid out, or there was nothing to say. `missing`: something still is.
    pub(crate) fn settled(&mut self, now: Instant, missing: bool, spoke: bool, config: &ReaderConfig) {
        self.respond = false;
        self.due = if missing { now.after(self.retry) } else { None };
        if missing && spoke {
            self.retry = self.retry.scale(2, 1).min(config.nack_period_max);
        }
    }

    /// The number of the next ACKNACK.
    pub(crate) fn next_ack_nack(&mut self) -> i32 {
        self.ack_nacks = self.ack_nacks.wrapping_add(1);
        self.ack_nacks
    }

    /// The number of the next NACK_FRAG.
    pub(crate) fn next_nack_frag(&mut self) -> i32 {
        self.nack_frags = self.nack_frags.wrapping_add(1);
        self.nack_frags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::DataReaderQos;
    use crate::reader::KeySource;
    use crate::types::Guid;

    #[test]
    fn counts_wrap() {
        let config = ReaderConfig::new(Guid::UNKNOWN, KeySource::None, &DataReaderQos::default());
        let mut asking = Asking::new(Instant::ZERO, &config);
        (asking.ack_nacks, asking.nack_frags) = (i32::MAX, i32::MAX);
        assert_eq!((asking.next_ack_nack(), asking.next_nack_frag()), (i32::MIN, i32::MIN));
    }
}
