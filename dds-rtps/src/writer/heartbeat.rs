//! The heartbeat schedule: when a writer requests acknowledgements from its reliable readers.
//!
//! Every reliable reader answers a HEARTBEAT. That costs a datagram and a thread wake-up on each side. So a HEARTBEAT
//! goes out only in these cases:
//!
//! - With every sample until each reader has answered once, for at most 200 datagrams. A silent reader may not know the
//!   writer yet.
//! - With a sample, if half a period has passed since the last one. The timer then never fires while samples flow.
//! - With a sample, after as many samples as the history requires, and before it is full.
//! - Alone, by the timer, a period after the last one while a sample is unacknowledged.

use crate::history::HistoryLimits;
use crate::types::{Duration, Instant};

/// KEEP_ALL: samples between two HEARTBEATs. Their answers free the memory.
const STRIDE_KEEP_ALL: u32 = 64;
/// KEEP_LAST: fewest samples between two HEARTBEATs, for any depth.
///
/// A shallow history drops missing samples before a reader can request them.
const STRIDE_KEEP_LAST_MIN: u32 = 8;
/// Shortest time between two HEARTBEATs of a stride. At a million samples per second, a stride is very short.
const SPACING_KEEP_ALL: Duration = Duration::from_millis(1);
const SPACING_KEEP_LAST: Duration = Duration::from_millis(5);
/// Unanswered HEARTBEATs in a row before the period grows.
///
/// A network that loses every fifth datagram loses every third answer.
pub(super) const PATIENCE: u32 = 3;
/// Most doublings of the period, so that the writer notices a returning reader within eight periods.
pub(super) const BACKOFF_MAX: u32 = 3;
/// The same if the owing readers have never answered, within the writer's bound.
const BACKOFF_MAX_UNHEARD: u32 = 16;
/// Number of owing readers that lengthens the pause by one period, during discovery.
///
/// These readers are busy with each other as well. More HEARTBEATs would slow a starting crowd down further.
const CROWD: u32 = 8;
/// Divisor of the period while a caller waits.
const HURRY: u32 = 8;

/// The next HEARTBEAT's time and count.
#[derive(Debug)]
pub(super) struct HeartbeatSchedule {
    period: Duration,
    /// Longest pause while the owing readers have never answered.
    unheard_max: Duration,
    stride: u32,
    /// After this many samples the spacing does not matter, because the history would be full before the answer.
    stride_forced: u32,
    spacing: Duration,
    sent_at: Option<Instant>,
    /// Samples sent since the last HEARTBEAT.
    unannounced: u32,
    /// Timer HEARTBEATs in a row without an answer.
    unanswered: u32,
    /// A caller waits for room or for acknowledgements.
    hurried: bool,
    /// All owing readers have never answered.
    only_strangers: bool,
    /// Number of readers that owe an answer.
    owing: u32,
    deadline: Option<Instant>,
    due: bool,
    count: i32,
    fragment_count: i32,
}

impl HeartbeatSchedule {
    pub(super) fn new(period: Duration, unheard_max: Duration, limits: &HistoryLimits, keyed: bool) -> Self {
        let capacity = u32::try_from(limits.capacity(keyed)).unwrap_or(u32::MAX);
        // A KEEP_ALL history must request acknowledgements before it is full. A KEEP_LAST history must do so before it
        // replaces unacknowledged samples.
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

    /// Returns when to call [`HeartbeatSchedule::handle_timeout`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns whether a HEARTBEAT must go out, with or without samples.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Notes sent samples that readers must acknowledge.
    pub(super) fn note_samples(&mut self, now: Instant, count: u32) {
        self.unannounced = self.unannounced.saturating_add(count);
        self.expect_answer(now);
    }

    /// Notes that a reader must acknowledge changes, or has never answered.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        // A new reader ends the long pause that silent readers caused.
        if self.deadline.is_none() || std::mem::take(&mut self.only_strangers) {
            let soon = now.after(self.interval());
            self.deadline = self.deadline.min(soon).or(soon).or(self.deadline);
        }
    }

    /// Notes a new reader. It receives HEARTBEATs as if all earlier ones had been answered.
    pub(super) fn welcome(&mut self, now: Instant) {
        self.unanswered = 0;
        self.only_strangers = true;
        self.expect_answer(now);
    }

    /// Sets whether all owing readers have never answered.
    pub(super) fn set_only_strangers(&mut self, only_strangers: bool) {
        self.only_strangers = only_strangers;
    }

    /// Sets the number of readers that owe an answer.
    pub(super) fn set_owing(&mut self, owing: usize) {
        self.owing = u32::try_from(owing).unwrap_or(u32::MAX);
    }

    /// Returns whether the next samples should carry a HEARTBEAT.
    pub(super) fn pays_now(&self, now: Instant) -> bool {
        let since = self.sent_at.map_or(Duration::INFINITE, |sent_at| now.since(sent_at));
        self.due
            || self.unannounced >= self.stride_forced
            || since >= self.period.scale(1, 2)
            || (self.unannounced >= self.stride && since >= self.spacing)
    }

    /// Notes a HEARTBEAT for all readers and returns its count. `pending`: an answer is expected.
    pub(super) fn send(&mut self, now: Instant, pending: bool) -> i32 {
        self.due = false;
        self.unannounced = 0;
        self.sent_at = Some(now);
        self.deadline = if pending { now.after(self.interval()) } else { None };
        self.next_count()
    }

    /// Returns the count of a HEARTBEAT, also for one to a single reader.
    pub(super) fn next_count(&mut self) -> i32 {
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// Returns the count of a HEARTBEAT_FRAG.
    pub(super) fn next_fragment_count(&mut self) -> i32 {
        self.fragment_count = self.fragment_count.wrapping_add(1);
        self.fragment_count
    }

    /// Notes an answer. `pending`: an answer of another reader is still expected.
    pub(super) fn note_answer(&mut self, now: Instant, pending: bool) {
        // A long pause must end after an answer.
        let slow = std::mem::take(&mut self.unanswered) > PATIENCE;
        if !pending {
            self.deadline = None;
            self.due = false;
            self.hurried = false;
        } else if slow {
            self.deadline = now.after(self.interval());
        }
    }

    /// Sends HEARTBEATs more often, because a caller waits for answers.
    ///
    /// The first is due at once if there are unannounced samples, or samples about to be sent.
    pub(super) fn hurry(&mut self, now: Instant, has_news: bool) {
        self.hurried = true;
        self.due |= has_news || self.unannounced > 0;
        if let Some(soon) = now.after(self.interval()) {
            self.deadline = Some(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
        }
    }

    /// Notes that no caller waits any more.
    pub(super) fn relax(&mut self) {
        self.hurried = false;
    }

    /// Advances time. `pending`: an answer is expected.
    pub(super) fn handle_timeout(&mut self, now: Instant, pending: bool) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.due = pending;
        // The interval grows with the unanswered HEARTBEATs, so the count comes before the next deadline.
        self.unanswered = self.unanswered.saturating_add(1);
        self.deadline = if pending { now.after(self.interval()) } else { None };
    }

    /// Postpones a HEARTBEAT, because no owing reader is due yet.
    pub(super) fn postpone(&mut self, now: Instant) {
        self.due = false;
        self.deadline = now.after(self.interval());
    }

    /// Returns the time between two HEARTBEATs to a reader that owes an answer.
    pub(super) fn pace(&self) -> Duration {
        let pace = self.period.scale(1, if self.hurried { HURRY } else { 1 });
        pace.scale(1 + self.owing / CROWD, 1).min(self.unheard_max).max(pace)
    }

    /// Returns how long to wait for an answer.
    fn interval(&self) -> Duration {
        let doubled = self.unanswered.saturating_sub(PATIENCE);
        let usual = self.pace().scale(1 << doubled.min(BACKOFF_MAX), 1);
        // Only readers that have never answered may get a longer pause, because they may not exist.
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
