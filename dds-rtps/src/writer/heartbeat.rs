//! The heartbeat schedule: when a writer requests acknowledgments from its reliable readers.
//!
//! Every reliable reader answers a HEARTBEAT. That costs a datagram and a thread wake-up on each side. So a HEARTBEAT
//! goes out only in these cases:
//!
//! - With every sample until each reader has answered once, for at most 200 datagrams. A silent reader may not know the
//!   writer yet.
//! - With a sample, if half a period has passed since the last one. The timer then never fires while samples flow. With
//!   an RTT estimate, a few RTTs suffice ([`QUICK_RTTS`]): a lost sample then costs no more time.
//! - With a sample, after as many samples as the history requires, and before it is full.
//! - Alone, by the timer, a period after the last one while a sample is unacknowledged. With an RTT estimate, up to ten
//!   tail loss probes precede it, as in TCP (RFC 8985): the loss of the last sample before a pause shows within a few
//!   RTTs.

use crate::history::HistoryLimits;
use crate::types::{Duration, Instant, earliest};

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
pub(crate) const PATIENCE: u32 = 3;
/// Most doublings of the period, so that the writer notices a returning reader within eight periods.
pub(crate) const BACKOFF_MAX: u32 = 3;
/// The same if the owing readers have never answered, within the writer's bound.
const BACKOFF_MAX_UNHEARD: u32 = 16;
/// Number of owing readers that lengthens the pause by one period, during discovery.
///
/// These readers are busy with each other as well. More HEARTBEATs would slow a starting crowd down further.
const CROWD: u32 = 8;
/// Divisor of the period while a caller waits.
const HURRY: u32 = 8;

/// Most unacknowledged samples with which the RTT decides. With more, the RTT includes the time in queues, and the
/// congestion window requests answers anyway.
pub(crate) const LIGHT_LOAD_MAX: u64 = 16;

/// RTTs from the last sample to the first tail loss probe, and the shortest such time. A reader may pause for a moment.
const TAIL_PROBE_RTTS: u32 = 3;
const TAIL_PROBE_MIN: Duration = Duration::from_millis(1);
/// Tail loss probes in a pause before the time between them doubles. With a loss of a fifth, one exchange in three
/// fails.
const TAIL_PROBES_STEADY: u32 = 4;
/// Most tail loss probes in a pause. The last one comes before a period has passed.
const TAIL_PROBES_MAX: u32 = 10;
/// RTTs between two HEARTBEATs with samples, and the shortest such time.
const QUICK_RTTS: u32 = 4;
const QUICK_MIN: Duration = Duration::from_millis(5);
/// Readers of other vendors delay their answers on purpose. Cyclone DDS delays them longer if HEARTBEATs come within
/// 10 ms.
const RTT_MIN_OF_OTHERS: Duration = Duration::from_millis(7);

/// The next HEARTBEAT's time and count.
#[derive(Debug)]
pub(crate) struct HeartbeatSchedule {
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
    /// A caller waits for room or for acknowledgments.
    hurried: bool,
    /// All owing readers have never answered.
    only_unheard: bool,
    /// Number of readers that owe an answer.
    owing: u32,
    /// Number of readers that owe answers to the other writers of a crowd.
    owing_to_others: u32,
    /// RTT of the slowest reader that answered lately; zero if unknown.
    rtt: Duration,
    /// Few samples are unacknowledged.
    is_light: bool,
    /// Time of the last sample.
    sampled_at: Option<Instant>,
    /// Tail loss probes since the last sample.
    tail_probes: u32,
    /// The due HEARTBEAT is a tail loss probe.
    is_tail_probe_due: bool,
    deadline: Option<Instant>,
    due: bool,
    count: i32,
    fragment_count: i32,
}

impl HeartbeatSchedule {
    pub(crate) fn new(period: Duration, unheard_max: Duration, limits: &HistoryLimits, keyed: bool) -> Self {
        let capacity = u32::try_from(limits.capacity(keyed)).unwrap_or(u32::MAX);
        // A KEEP_ALL history must request acknowledgments before it is full. A KEEP_LAST history must do so before it
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
            only_unheard: false,
            owing: 0,
            owing_to_others: 0,
            rtt: Duration::ZERO,
            is_light: false,
            sampled_at: None,
            tail_probes: 0,
            is_tail_probe_due: false,
            deadline: None,
            due: false,
            count: 0,
            fragment_count: 0,
        }
    }

    /// Returns when to call [`HeartbeatSchedule::handle_timeout`].
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns whether a HEARTBEAT must go out, with or without samples.
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Notes sent samples that readers must acknowledge. `unacknowledged`: all such samples.
    pub(crate) fn note_samples(&mut self, now: Instant, count: u32, unacknowledged: u64) {
        self.is_light = unacknowledged.max(count.into()) <= LIGHT_LOAD_MAX;
        self.unannounced = self.unannounced.saturating_add(count);
        self.tail_probes = 0;
        let before = self.sampled_at.replace(now);
        if self.deadline.is_none() && before.is_some_and(|before| now.since(before) < QUICK_MIN) {
            // While samples flow, they carry HEARTBEATs. The timer is for the end of the stream, and need not be exact.
            self.deadline = now.after(QUICK_MIN.max(self.pause()));
        }
        self.expect_answer(now);
    }

    /// Notes that a reader on a long path answered. There the period decides.
    pub(crate) fn note_long_path(&mut self) {
        // Zero switches the quick HEARTBEATs and the tail loss probes off.
        self.rtt = Duration::ZERO;
    }

    /// Notes the RTT estimate of a reader that answered; zero if unknown. `is_ours`: the reader answers at once.
    pub(crate) fn note_rtt(&mut self, rtt: Duration, is_ours: bool) {
        if rtt > Duration::ZERO {
            let rtt = if is_ours { rtt } else { rtt.max(RTT_MIN_OF_OTHERS) };
            // The slowest reader counts. If it leaves, its RTT fades away.
            self.rtt = rtt.max(self.rtt.scale(7, 8));
        }
    }

    /// Notes that a reader must acknowledge changes, or has never answered.
    pub(crate) fn expect_answer(&mut self, now: Instant) {
        // A new reader ends the long pause that silent readers caused.
        if self.deadline.is_none() || std::mem::take(&mut self.only_unheard) {
            let soon = now.after(self.pause());
            self.deadline = self.deadline.min(soon).or(soon).or(self.deadline);
        }
    }

    /// Notes a new reader. It receives HEARTBEATs as if all earlier ones had been answered.
    pub(crate) fn welcome(&mut self, now: Instant) {
        // The pause of silent readers is not for a new one, which answers as soon as it can.
        self.unanswered = 0;
        self.only_unheard = true;
        self.expect_answer(now);
    }

    /// Sets whether all owing readers have never answered.
    pub(crate) fn set_only_unheard(&mut self, only_unheard: bool) {
        self.only_unheard = only_unheard;
    }

    /// Sets the number of readers that owe an answer.
    pub(crate) fn set_owing(&mut self, owing: usize) {
        self.owing = u32::try_from(owing).unwrap_or(u32::MAX);
    }

    /// Sets the number of readers that owe answers to the other writers of a crowd.
    pub(crate) fn set_owing_to_others(&mut self, owing: usize) {
        self.owing_to_others = u32::try_from(owing).unwrap_or(u32::MAX);
    }

    /// Returns whether the next samples should carry a HEARTBEAT.
    pub(crate) fn pays_now(&self, now: Instant) -> bool {
        let since = match self.sent_at {
            Some(sent_at) => now.since(sent_at),
            // The first samples carry a HEARTBEAT at once.
            None => Duration::INFINITE,
        };
        self.due
            || self.unannounced >= self.stride_forced
            || since >= self.quick_spacing()
            || (self.unannounced >= self.stride && since >= self.spacing)
    }

    /// Notes a HEARTBEAT for all readers and returns its count. `pending`: an answer is expected.
    pub(crate) fn send(&mut self, now: Instant, pending: bool) -> i32 {
        self.due = false;
        self.is_tail_probe_due = false;
        self.unannounced = 0;
        self.sent_at = Some(now);
        self.deadline = if pending { now.after(self.pause()) } else { None };
        self.next_count()
    }

    /// Returns the count of a HEARTBEAT, also for one to a single reader.
    pub(crate) fn next_count(&mut self) -> i32 {
        // Readers compare counts with wrap-around, so the last count has a successor.
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// Returns the count of a HEARTBEAT_FRAG.
    pub(crate) fn next_fragment_count(&mut self) -> i32 {
        self.fragment_count = self.fragment_count.wrapping_add(1);
        self.fragment_count
    }

    /// Notes an answer. `pending`: an answer of another reader is still expected.
    pub(crate) fn note_answer(&mut self, now: Instant, pending: bool) {
        // A long pause must end after an answer.
        let slow = std::mem::take(&mut self.unanswered) > PATIENCE;
        if !pending {
            self.deadline = None;
            self.due = false;
            self.hurried = false;
        } else if slow {
            self.deadline = now.after(self.pause());
        }
    }

    /// Sends HEARTBEATs more often, because a caller waits for answers.
    ///
    /// The first is due at once if there are unannounced samples, or samples about to be sent.
    pub(crate) fn hurry(&mut self, now: Instant, has_news: bool) {
        self.hurried = true;
        // At once only if it announces something new. Otherwise the last HEARTBEAT has announced all.
        self.due |= has_news || self.unannounced > 0;
        self.deadline = earliest(self.deadline, now.after(self.interval()));
    }

    /// Notes that no caller waits any more.
    pub(crate) fn relax(&mut self) {
        self.hurried = false;
    }

    /// Advances time. `pending`: an answer is expected.
    pub(crate) fn handle_timeout(&mut self, now: Instant, pending: bool) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        let is_probing_tail = self.is_probing_tail();
        if let Some(sampled_at) = self.sampled_at {
            // The newest sample is on its way, and the next one carries a HEARTBEAT.
            if pending && is_probing_tail && now.since(sampled_at) < self.pause() {
                self.deadline = sampled_at.after(QUICK_MIN.max(self.pause()));
                return;
            }
        }
        // Without an expected answer, a HEARTBEAT would wake readers for nothing.
        self.due = pending;
        self.is_tail_probe_due = is_probing_tail;
        // The pause grows with the unanswered HEARTBEATs, so the count comes before the next deadline.
        if is_probing_tail {
            self.tail_probes += 1;
        } else {
            self.unanswered = self.unanswered.saturating_add(1);
        }
        self.deadline = if pending { now.after(self.pause()) } else { None };
    }

    /// Postpones a HEARTBEAT, because no owing reader is due yet.
    pub(crate) fn postpone(&mut self, now: Instant) {
        self.due = false;
        self.deadline = now.after(self.pause());
    }

    /// Returns the time between two HEARTBEATs to a reader that owes an answer.
    pub(crate) fn pace(&self) -> Duration {
        let pace = self.period.scale(1, if self.hurried { HURRY } else { 1 });
        // Each of these readers gets a HEARTBEAT of its own, so the pause grows with their number.
        let owing = self.owing.saturating_add(self.owing_to_others);
        pace.scale(1 + owing / CROWD, 1).min(self.unheard_max).max(pace)
    }

    /// Returns the time that a reader has to answer, before a HEARTBEAT alone is repeated.
    pub(crate) fn answer_time(&self) -> Duration {
        // The last tail loss probe is due, although no other follows.
        if self.is_probing_tail() || self.is_tail_probe_due { self.tail_pause().scale(1, 8) } else { self.pace() }
    }

    /// Returns the time between two HEARTBEATs with samples.
    fn quick_spacing(&self) -> Duration {
        let usual = self.period.scale(1, 2);
        if !self.may_probe_tail() {
            return usual;
        }
        QUICK_MIN.max(self.rtt.scale(QUICK_RTTS, 1)).min(usual)
    }

    /// Returns whether the RTT decides when HEARTBEATs are sent.
    ///
    /// During discovery, hundreds of readers are busy with each other, so the period decides.
    fn may_probe_tail(&self) -> bool {
        self.is_light && self.rtt > Duration::ZERO && self.unheard_max == Duration::ZERO && !self.only_unheard
    }

    /// Returns whether the next HEARTBEAT alone is a tail loss probe.
    fn is_probing_tail(&self) -> bool {
        self.may_probe_tail() && self.tail_probes < TAIL_PROBES_MAX
    }

    /// Returns the time until the next HEARTBEAT alone.
    fn pause(&self) -> Duration {
        if self.is_probing_tail() { self.tail_pause() } else { self.interval() }
    }

    /// Returns the time until the next tail loss probe.
    fn tail_pause(&self) -> Duration {
        let doubled = self.tail_probes.saturating_sub(TAIL_PROBES_STEADY);
        TAIL_PROBE_MIN.max(self.rtt.scale(TAIL_PROBE_RTTS, 1)).scale(1 << doubled, 1).min(self.interval())
    }

    /// Returns how long to wait for an answer without an RTT estimate.
    fn interval(&self) -> Duration {
        let doubled = self.unanswered.saturating_sub(PATIENCE);
        let usual = self.pace().scale(1 << doubled.min(BACKOFF_MAX), 1);
        // Only readers that have never answered may get a longer pause, because they may not exist.
        if !self.only_unheard {
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
    fn fast_samples_carry_one_heartbeat_per_half_period() {
        let mut schedule = schedule(History::KeepLast { depth: 1 }, None);
        let mut sent = Vec::new();
        for ms in 0..200 {
            schedule.note_samples(at(ms), 1, 1);
            if schedule.unannounced < STRIDE_KEEP_LAST_MIN && schedule.pays_now(at(ms)) {
                sent.push(ms);
                schedule.send(at(ms), true);
            }
            schedule.unannounced = 0;
        }
        assert_eq!(sent, [0, 50, 100, 150]);
    }

    #[test]
    fn small_history_requests_acks_before_it_is_full() {
        let mut schedule = schedule(History::KeepAll, Some(16));
        schedule.send(at(0), true);
        schedule.note_samples(at(0), 3, 1);
        assert!(!schedule.pays_now(at(0)));
        schedule.note_samples(at(0), 1, 1);
        assert!(schedule.pays_now(at(0)));
    }

    #[test]
    fn heartbeat_timer_backs_off_until_an_answer() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.note_samples(at(0), 1, 1);
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
    fn tail_probes_follow_a_sample_soon_and_back_off() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.note_rtt(Duration::from_micros(100), true);
        schedule.note_samples(at(0), 1, 1);
        let mut fired = Vec::new();
        for _ in 0..16 {
            let deadline = schedule.deadline().unwrap();
            schedule.handle_timeout(deadline, true);
            assert!(schedule.is_due());
            schedule.send(deadline, true);
            fired.push(deadline.as_nanos() / MS);
        }
        assert_eq!(fired, [1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 167, 267, 367, 467, 667, 1067]);
        // Answers without progress cause no further tail loss probes.
        schedule.note_answer(at(1100), true);
        assert_eq!(schedule.deadline(), Some(at(1200)));
        schedule.note_samples(at(1150), 1, 1);
        schedule.note_answer(at(1151), false);
        assert_eq!(schedule.deadline(), None);
    }

    #[test]
    fn each_tail_probe_leaves_soon_after_the_one_before() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.note_rtt(Duration::from_micros(100), true);
        schedule.note_samples(at(0), 1, 1);
        let mut sent_at = at(0);
        for number in 1..=TAIL_PROBES_MAX {
            let deadline = schedule.deadline().unwrap();
            schedule.handle_timeout(deadline, true);
            let since = deadline.since(sent_at);
            let answer_time = schedule.answer_time();
            assert!(answer_time.scale(2, 1) <= since, "{number}: {answer_time:?} of {since:?}");
            schedule.send(deadline, true);
            sent_at = deadline;
        }
        schedule.handle_timeout(schedule.deadline().unwrap(), true);
        assert_eq!(schedule.answer_time(), schedule.pace(), "a usual HEARTBEAT");
    }

    #[test]
    fn tail_probe_waits_for_the_end_of_a_stream() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.note_rtt(Duration::from_micros(100), true);
        schedule.send(at(0), false);
        let mut heartbeats = 0;
        for half_ms in 1..200 {
            let now = Instant::from_nanos(half_ms * MS / 2);
            schedule.note_samples(now, 1, 1);
            if schedule.pays_now(now) {
                heartbeats += 1;
                schedule.send(now, true);
            }
            schedule.handle_timeout(now, true);
            assert!(!schedule.is_due(), "after {half_ms} half milliseconds");
        }
        assert_eq!(heartbeats, 19, "one in five milliseconds");
        let deadline = schedule.deadline().unwrap();
        assert!(deadline <= at(105), "{deadline:?}");
        schedule.handle_timeout(deadline, true);
        assert!(schedule.is_due());
    }

    #[test]
    fn heartbeat_period_grows_with_owing_readers_in_discovery() {
        let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
        let of = |unheard_max| HeartbeatSchedule::new(Duration::from_millis(100), unheard_max, &limits, false);
        let (mut discovery, mut other) = (of(Duration::from_secs(1)), of(Duration::ZERO));
        for (owing, ms) in [(0, 100), (7, 100), (8, 200), (40, 600), (1_000, 1_000)] {
            discovery.set_owing(owing);
            other.set_owing(owing);
            assert_eq!(discovery.pace(), Duration::from_millis(ms), "{owing} owe an answer");
            assert_eq!(other.pace(), Duration::from_millis(100));
        }
        discovery.note_samples(at(0), 1, 1);
        assert_eq!(discovery.deadline(), Some(at(1_000)));
    }

    #[test]
    fn counts_wrap() {
        let mut schedule = schedule(History::KeepAll, None);
        schedule.count = i32::MAX;
        assert_eq!(schedule.next_count(), i32::MIN);
    }
}
