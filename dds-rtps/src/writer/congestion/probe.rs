//! HEARTBEATs whose answers move the congestion window, and their timeouts.
//!
//! - The writer awaits one answer at a time, because an ACKNACK does not name the HEARTBEAT that it answers.
//! - If an answer is missing, the writer repeats the HEARTBEAT, whether the window is full or not. After
//!   [`ATTEMPTS_MAX`] attempts it stops waiting. A silent reader then receives its data slowly, but does not stop the
//!   writer.
//! - The wait for a lost HEARTBEAT is no RTT sample.
//! - The first repetition comes soon. While a sample is incomplete, Cyclone DDS delays its answer by 100 ms if the
//!   HEARTBEAT comes within 10 ms of its last ACKNACK. It answers the next HEARTBEAT at once. If the late answers were
//!   RTT samples, all later answers would stay late.

use super::long_path::LONG_PATH_RTT_MAX;
use crate::types::{Duration, Instant};

/// Shortest time until the writer repeats a HEARTBEAT.
///
/// It doubles with each attempt, so a fast network soon makes up for a lost HEARTBEAT or answer. The second attempt
/// comes after the 10 ms in which Cyclone DDS sends no second answer.
const TIMEOUT_MIN: Duration = Duration::from_millis(4);

/// [`TIMEOUT_MIN`] for readers that answer at once, as those of this implementation do.
const PROMPT_TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// Longest time until the first repetition. Shorter than the delay of a postponed answer of Cyclone DDS.
const FIRST_TIMEOUT_MAX: Duration = Duration::from_millis(60);

/// Most attempts for one answer. Either constant makes the writer wait for an eighth of a second.
const ATTEMPTS_MAX: u32 = 5;
const PROMPT_ATTEMPTS_MAX: u32 = 7;

/// A HEARTBEAT without an answer after this time counts as lost.
///
/// The next answer belongs to the next HEARTBEAT.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(5);

/// The largest plausible RTT of a short path.
///
/// A longer answer time more likely shows that the network was down for a while. Without new announcements the writer
/// does not notice that the network is back, and would treat answers as too early.
const SHORT_PATH_RTT_MAX: Duration = Duration::from_millis(100);

/// The awaited answer of one reader, and the answer times.
#[derive(Debug)]
pub(crate) struct ProbeSchedule {
    probe: Option<Probe>,
    /// Time of the last HEARTBEAT, and the bytes sent before it.
    last_at: Option<Instant>,
    last_position: u64,
    /// Number of unanswered HEARTBEATs.
    unanswered: u8,
    /// The reader answers each HEARTBEAT at once.
    is_prompt: bool,
    /// Smoothed RTT; zero if unknown.
    smoothed_rtt: Duration,
    /// Smoothed time from the last HEARTBEAT to the next answer; zero if unknown.
    answer_time: Duration,
}

/// A HEARTBEAT whose answer the writer awaits.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// Bytes sent before it.
    position: u64,
    at: Instant,
    /// Time of the first attempt. `at` is the time of the latest.
    first_at: Instant,
    attempts: u32,
    /// Outstanding answers that belong to earlier HEARTBEATs.
    behind: u8,
}

impl ProbeSchedule {
    pub(crate) const fn new(is_prompt: bool) -> Self {
        Self {
            probe: None,
            last_at: None,
            last_position: 0,
            unanswered: 0,
            is_prompt,
            smoothed_rtt: Duration::ZERO,
            answer_time: Duration::ZERO,
        }
    }

    /// Returns whether the writer awaits an answer.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.probe.is_some()
    }

    /// Returns the bytes sent before the last HEARTBEAT.
    #[inline]
    pub(crate) fn last_position(&self) -> u64 {
        self.last_position
    }

    /// Returns the smoothed RTT; zero if unknown.
    #[inline]
    pub(crate) fn smoothed_rtt(&self) -> Duration {
        self.smoothed_rtt
    }

    /// Notes a HEARTBEAT, sent after `sent` bytes of which `settled` are not in flight any more.
    ///
    /// A prompt reader answers each HEARTBEAT. So a new one counts only if the earlier answer is overdue. Other readers
    /// may answer several at once. For them, a new one also counts if the window is full.
    pub(crate) fn note_heartbeat(&mut self, now: Instant, sent: u64, settled: u64, is_open: bool, rtt_bound: Duration) {
        let before = self.last_at.replace(now);
        let answer_time_max = ANSWER_TIME_MAX.max(self.smoothed_rtt.scale(2, 1));
        // Answers still awaited precede the answer to this HEARTBEAT, unless they are so old that they count as lost.
        let is_recent = before.is_some_and(|before| now.since(before) < answer_time_max);
        let behind = if is_recent { self.unanswered } else { 0 };
        self.unanswered = behind.saturating_add(1);
        self.last_position = sent;
        if sent == settled {
            // Without bytes in flight, no answer can open the window.
            return;
        }
        // A prompt reader sends one answer for each HEARTBEAT. The answer to an earlier one must not count for this
        // one: bytes that the reader has not received would leave the flight.
        let keeps_probe = (is_open || self.is_prompt) && !self.is_due(now, rtt_bound);
        match &mut self.probe {
            None => self.probe = Some(Probe { position: sent, at: now, first_at: now, attempts: 1, behind }),
            Some(_) if keeps_probe => {}
            // The answer may belong to the first attempt.
            Some(probe) => *probe = Probe { at: now, attempts: probe.attempts + 1, behind: 0, ..*probe },
        }
    }

    /// Notes an answer of the reader. `rtt` is the RTT estimate.
    ///
    /// Returns the position up to which it settles the bytes in flight; `None` if it answers an earlier HEARTBEAT.
    pub(crate) fn note_answer(&mut self, now: Instant, rtt: Duration) -> Option<u64> {
        // An answer much sooner belongs to an earlier HEARTBEAT. Half of the RTT estimate tolerates jitter.
        let soonest = rtt.min(SHORT_PATH_RTT_MAX).scale(1, 2);
        if self.probe.is_some_and(|probe| now.since(probe.first_at) < soonest) {
            return None;
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        // No answer is awaited: it may answer a HEARTBEAT that an ACKNACK made superfluous.
        let probe = self.probe.as_mut()?;
        if probe.behind > 0 {
            probe.behind -= 1;
            return None;
        }
        let probe = self.probe.take()?;
        let (sample, answer_time) = (self.rtt_sample(now, probe), now.since(probe.at));
        let is_first = self.smoothed_rtt == Duration::ZERO;
        self.smoothed_rtt = if is_first { sample } else { smoothed(self.smoothed_rtt, sample) };
        self.answer_time = if is_first { answer_time } else { smoothed(self.answer_time, answer_time) };
        Some(probe.position)
    }

    /// Notes an answer on a long path, to a HEARTBEAT that was sent `took` ago.
    pub(crate) fn note_long_path_answer(&mut self, took: Duration) {
        let is_first = self.smoothed_rtt == Duration::ZERO;
        self.smoothed_rtt = if is_first { took } else { smoothed(self.smoothed_rtt, took) };
        // The answer belongs to one HEARTBEAT of several in flight, so both times are the same.
        self.answer_time = self.smoothed_rtt;
        self.unanswered = 0;
    }

    /// Drops the probe if the bytes before it are settled, and then awaits the last HEARTBEAT instead.
    pub(crate) fn drop_settled(&mut self, settled: u64) {
        if self.probe.is_some_and(|probe| probe.position <= settled) {
            self.probe = None;
            self.await_last(settled);
        }
    }

    /// Awaits the last HEARTBEAT that was sent after the answered one.
    pub(crate) fn await_last(&mut self, settled: u64) {
        let Some(at) = self.last_at else { return };
        if self.last_position > settled {
            let behind = self.unanswered.saturating_sub(1);
            self.probe = Some(Probe { position: self.last_position, at, first_at: at, attempts: 1, behind });
        }
    }

    /// Stops waiting: the reader has all data.
    pub(crate) fn clear(&mut self) {
        self.probe = None;
        self.unanswered = 0;
    }

    /// Returns when the awaited answer is overdue; `None` if no answer is awaited.
    #[inline]
    pub(crate) fn deadline(&self, rtt_bound: Duration) -> Option<Instant> {
        let probe = self.probe?;
        let timeout_min = if self.is_prompt { PROMPT_TIMEOUT_MIN } else { TIMEOUT_MIN };
        let timeout_max = FIRST_TIMEOUT_MAX.max(rtt_bound.min(LONG_PATH_RTT_MAX).scale(3, 2));
        let timeout = self.answer_time.scale(2, 1).clamp(timeout_min, timeout_max);
        // The timeout doubles with each attempt.
        probe.at.after(timeout.scale(1 << (probe.attempts.clamp(1, self.attempts_max()) - 1), 1))
    }

    /// Returns whether the awaited answer is overdue.
    pub(crate) fn is_due(&self, now: Instant, rtt_bound: Duration) -> bool {
        self.deadline(rtt_bound).is_some_and(|deadline| deadline <= now)
    }

    /// Returns whether the writer may repeat the HEARTBEAT. After the last attempt, it stops waiting for the answer.
    pub(crate) fn try_again(&mut self) -> bool {
        let may_repeat = self.probe.is_some_and(|probe| probe.attempts < self.attempts_max());
        if !may_repeat {
            self.probe = None;
        }
        may_repeat
    }

    fn attempts_max(&self) -> u32 {
        if self.is_prompt { PROMPT_ATTEMPTS_MAX } else { ATTEMPTS_MAX }
    }

    /// Returns the RTT sample of an answer to `probe`.
    ///
    /// After a repetition, the answered attempt is unknown. The wait for a lost HEARTBEAT must not count, because each
    /// wait would then prolong the next one.
    fn rtt_sample(&self, now: Instant, probe: Probe) -> Duration {
        let since_first = now.since(probe.first_at);
        if probe.attempts <= 1 || self.smoothed_rtt == Duration::ZERO {
            return since_first;
        }
        // The sample is at least the present estimate, so that a repetition cannot shorten it.
        now.since(probe.at).max(self.smoothed_rtt.min(since_first))
    }

    /// Repeats the awaited HEARTBEAT at `at`, as after a timeout.
    #[cfg(test)]
    pub(crate) fn repeat_at(&mut self, at: Instant) {
        if let Some(probe) = &mut self.probe {
            probe.at = at;
            probe.attempts += 1;
        }
    }
}

/// Returns the exponential moving average over eight values, as in RFC 6298.
fn smoothed(average: Duration, value: Duration) -> Duration {
    average.scale(7, 8) + value.scale(1, 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader is prompt, and the window is full at the last HEARTBEAT.
    #[test]
    fn earlier_answers_settle_no_later_bytes() {
        let at = Instant::from_nanos;
        let mut probes = ProbeSchedule::new(true);
        for sent in 1..=3 {
            probes.note_heartbeat(at(sent), sent, 0, true, Duration::ZERO);
        }
        assert_eq!(probes.note_answer(at(10), Duration::ZERO), Some(1));
        // The writer awaits the answer to the third HEARTBEAT, which follows that to the second one.
        probes.await_last(1);
        probes.note_heartbeat(at(11), 4, 1, false, Duration::ZERO);
        assert_eq!(probes.note_answer(at(12), Duration::ZERO), None);
        assert_eq!(probes.note_answer(at(13), Duration::ZERO), Some(3));
    }
}
