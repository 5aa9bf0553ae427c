//! When a writer asks its reliable readers what they have.
//!
//! A HEARTBEAT makes every reliable reader answer: one more datagram, and one more thread woken, on either side. So none
//! goes out with each sample, but only
//!
//! - with every sample, until each reader has answered once, or for 200 datagrams: a reader that has not may not even know
//!   the writer yet;
//! - with a sample, if half a period has passed since the last one: the timer then never fires while samples flow;
//! - with a sample, after as many samples as the history makes necessary, and before it is full;
//! - alone, by the timer, a period after the last one while something is unacknowledged.

use crate::history::HistoryLimits;
use crate::types::{Duration, Instant};

/// KEEP_ALL: samples between two HEARTBEATs. Their answers free the memory.
const STRIDE_KEEP_ALL: u32 = 64;
/// KEEP_LAST: at least so many samples between two HEARTBEATs, whatever the depth. A shallow history forgets what is
/// missing before it can be asked for.
const STRIDE_KEEP_LAST_MIN: u32 = 8;
/// HEARTBEATs that a stride asks for are at least so far apart: at a million samples per second a stride is nothing.
const SPACING_KEEP_ALL: Duration = Duration::from_millis(1);
const SPACING_KEEP_LAST: Duration = Duration::from_millis(5);
/// So many HEARTBEATs in a row may stay unanswered before the period grows: a network that loses every fifth datagram
/// loses every third answer.
pub(super) const PATIENCE: u32 = 3;
/// The period doubles so many times at most: a reader that comes back is found within eight periods.
pub(super) const BACKOFF_MAX: u32 = 3;
/// … and so many times if those that owe an answer have never given one, as far as the writer allows.
const BACKOFF_MAX_UNHEARD: u32 = 16;
/// Discovery: for each so many that owe an answer at the same time each of them is asked a period later. They are as busy with
/// each other as with us, and a crowd that starts at once would get ever slower by being asked.
const CROWD: u32 = 8;
/// While somebody waits the period is so many times shorter.
const HURRY: u32 = 8;

/// When the next HEARTBEAT is due, and its count.
#[derive(Debug)]
pub(super) struct HeartbeatSchedule {
    period: Duration,
    /// The longest pause while those that owe an answer have never given one.
    unheard_max: Duration,
    stride: u32,
    /// After so many samples time does not matter: the history would be full before the answer comes.
    stride_forced: u32,
    spacing: Duration,
    sent_at: Option<Instant>,
    /// Samples sent since the last HEARTBEAT.
    unannounced: u32,
    /// Timer HEARTBEATs in a row without an answer.
    unanswered: u32,
    /// Somebody waits, for room or for acknowledgements.
    hurried: bool,
    /// Those that owe an answer have never given one.
    only_strangers: bool,
    /// How many owe one.
    owing: u32,
    deadline: Option<Instant>,
    due: bool,
    count: i32,
    fragment_count: i32,
}

impl HeartbeatSchedule {
    pub(super) fn new(period: Duration, unheard_max: Duration, limits: &HistoryLimits, keyed: bool) -> Self {
        let capacity = u32::try_from(limits.capacity(keyed)).unwrap_or(u32::MAX);
        let (stride, stride_forced, spacing) = match limits.depth {
            None => (STRIDE_KEEP_ALL.min(capacity / 4).max(1), (capacity / 4).max(1), SPACING_KEEP_ALL),
            Some(depth) => {
                let half = u32::try_from(depth / 2).unwrap_or(u32::MAX);
                (half.clamp(STRIDE_KEEP_LAST_MIN, STRIDE_KEEP_ALL), u32::MAX, SPACING_KEEP_LAST)
            }
        };
        Self {
            period,
            unheard_max,
            stride,
            stride_forced,
            spacing,
            sent_at: None,
            unannounced: 0,
            unanswered: 0,
            hurried: false,
            only_strangers: false,
            owing: 0,
            deadline: None,
            due: false,
            count: 0,
            fragment_count: 0,
        }
    }

    /// When [`HeartbeatSchedule::handle_timeout`] is to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether one has to go out, with or without samples.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Samples have gone out that somebody has to acknowledge.
    pub(super) fn note_samples(&mut self, now: Instant, count: u32) {
        self.unannounced = self.unannounced.saturating_add(count);
        self.expect_answer(now);
    }

    /// Somebody has something to acknowledge, or has never said anything.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        if self.deadline.is_none() || std::mem::take(&mut self.only_strangers) {
            let soon = now.after(self.interval());
            self.deadline = self.deadline.min(soon).or(soon).or(self.deadline);
        }
    }

    /// A reader has come: it is asked as if everything had been answered so far.
    pub(super) fn welcome(&mut self, now: Instant) {
        self.unanswered = 0;
        self.only_strangers = true;
        self.expect_answer(now);
    }

    /// Whether all that owe an answer have never given one.
    pub(super) fn set_only_strangers(&mut self, only_strangers: bool) {
        self.only_strangers = only_strangers;
    }

    /// So many owe an answer.
    pub(super) fn set_owing(&mut self, owing: usize) {
        self.owing = u32::try_from(owing).unwrap_or(u32::MAX);
    }

    /// Whether the samples that are about to go out should carry one.
    pub(super) fn pays_now(&self, now: Instant) -> bool {
        let since = self.sent_at.map_or(Duration::INFINITE, |sent_at| now.since(sent_at));
        self.due
            || self.unannounced >= self.stride_forced
            || since >= self.period.scale(1, 2)
            || (self.unannounced >= self.stride && since >= self.spacing)
    }

    /// One is laid out for all readers: its count. `pending`: an answer is expected.
    pub(super) fn send(&mut self, now: Instant, pending: bool) -> i32 {
        self.due = false;
        self.unannounced = 0;
        self.sent_at = Some(now);
        self.deadline = if pending { now.after(self.interval()) } else { None };
        self.next_count()
    }

    /// The count of a HEARTBEAT, also of one for a single reader.
    pub(super) fn next_count(&mut self) -> i32 {
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// The count of a HEARTBEAT_FRAG.
    pub(super) fn next_fragment_count(&mut self) -> i32 {
        self.fragment_count = self.fragment_count.wrapping_add(1);
        self.fragment_count
    }

    /// A reader has answered. `pending`: an answer is still expected of some reader.
    pub(super) fn note_answer(&mut self, now: Instant, pending: bool) {
        let slow = std::mem::take(&mut self.unanswered) > PATIENCE;
        if !pending {
            self.deadline = None;
            self.due = false;
            self.hurried = false;
        } else if slow {
            self.deadline = now.after(self.interval());
        }
    }

    /// Somebody waits for an answer: asks at once if there is something new to ask for, or about to leave, and more often
    /// from now on.
    pub(super) fn hurry(&mut self, now: Instant, has_news: bool) {
        self.hurried = true;
        self.due |= has_news || self.unannounced > 0;
        if let Some(soon) = now.after(self.interval()) {
            self.deadline = Some(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
        }
    }

    /// Nobody waits any more.
    pub(super) fn relax(&mut self) {
        self.hurried = false;
    }

    /// Time has passed. `pending`: an answer is expected.
    pub(super) fn handle_timeout(&mut self, now: Instant, pending: bool) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.due = pending;
        self.unanswered = self.unanswered.saturating_add(1);
        self.deadline = if pending { now.after(self.interval()) } else { None };
    }

    /// Nobody was to be asked this time, though somebody owes an answer.
    pub(super) fn postpone(&mut self, now: Instant) {
        self.due = false;
        self.deadline = now.after(self.interval());
    }

    /// How often each reader is asked that owes an answer.
    pub(super) fn pace(&self) -> Duration {
        let pace = self.period.scale(1, if self.hurried { HURRY } else { 1 });
        pace.scale(1 + self.owing / CROWD, 1).min(self.unheard_max).max(pace)
    }

    /// How long an answer is waited for.
    fn interval(&self) -> Duration {
        let doubled = self.unanswered.saturating_sub(PATIENCE);
        let usual = self.pace().scale(1 << doubled.min(BACKOFF_MAX), 1);
        if !self.only_strangers {
            return usual;
        }
        self.pace().scale(1 << doubled.min(BACKOFF_MAX_UNHEARD), 1).min(self.unheard_max).max(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{History, ResourceLimits};

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    fn schedule(history: History, max_samples: Option<u32>) -> HeartbeatSchedule {
        let limits = HistoryLimits::new(history, ResourceLimits { max_samples, ..ResourceLimits::default() });
        HeartbeatSchedule::new(Duration::from_millis(100), Duration::ZERO, &limits, false)
    }

    #[test]
    fn samples_in_quick_succession_carry_one_per_half_period() {
        let mut schedule = schedule(History::KeepLast { depth: 1 }, None);
        let mut sent = Vec::new();
        for ms in 0..200 {
            schedule.note_samples(at(ms), 1);
            if schedule.unannounced < STRIDE_KEEP_LAST_MIN && schedule.pays_now(at(ms)) {
                sent.push(ms);
                schedule.send(at(ms), true);
            }
            schedule.unannounced = 0;
        }
        assert_eq!(sent, [0, 50, 100, 150]);
    }

    #[test]
    fn a_small_history_asks_before_it_is_full() {
        let mut schedule = schedule(History::KeepAll, Some(16));
        schedule.send(at(0), true);
        schedule.note_samples(at(0), 3);
        assert!(!schedule.pays_now(at(0)));
        schedule.note_samples(at(0), 1);
        assert!(schedule.pays_now(at(0)));
    }

    #[test]
    fn the_timer_backs_off_while_nobody_answers_and_recovers_with_an_answer() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.note_samples(at(0), 1);
        let mut fired = Vec::new();
        for _ in 0..8 {
            let deadline = schedule.deadline().unwrap();
            schedule.handle_timeout(deadline, true);
            assert!(schedule.is_due());
            schedule.send(deadline, true);
            fired.push(deadline.as_nanos() / MS);
        }
        assert_eq!(fired, [100, 200, 300, 400, 600, 1000, 1800, 2600]);
        schedule.note_answer(at(2700), true);
        assert_eq!(schedule.deadline(), Some(at(2800)));
        schedule.note_answer(at(2701), false);
        assert_eq!(schedule.deadline(), None);
    }

    #[test]
    fn the_more_owe_an_answer_the_more_time_each_has_in_discovery() {
        let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
        let of = |unheard_max| HeartbeatSchedule::new(Duration::from_millis(100), unheard_max, &limits, false);
        let (mut discovery, mut other) = (of(Duration::from_secs(1)), of(Duration::ZERO));
        for (owing, ms) in [(0, 100), (7, 100), (8, 200), (40, 600), (1_000, 1_000)] {
            discovery.set_owing(owing);
            other.set_owing(owing);
            assert_eq!(discovery.pace(), Duration::from_millis(ms), "{owing} owe an answer");
            assert_eq!(other.pace(), Duration::from_millis(100));
        }
        discovery.note_samples(at(0), 1);
        assert_eq!(discovery.deadline(), Some(at(1_000)));
    }

    #[test]
    fn counts_wrap() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.count = i32::MAX;
        assert_eq!(schedule.next_count(), i32::MIN);
    }
}
