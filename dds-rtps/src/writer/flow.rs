//! Congestion control: the congestion window of one reliable reader.
//!
//! A large sample is a burst of datagrams. A writer that is faster than its reader sends a burst of small samples too.
//! The reader's system silently drops the datagrams that do not fit into its receive buffer. So the writer keeps at
//! most one window of bytes in flight. The flight of bytes ends when the reader answers a HEARTBEAT that was sent after
//! them. By then they have left the receive buffer, received or lost.
//!
//! - The window starts with a size that fits into every receive buffer. While the window limits the writer and no bytes
//!   are lost, it grows by a quarter of the answered bytes. After the first loss it grows by a much smaller share.
//! - A request for missing data halves the window, at most once per window.
//! - The writer sends a HEARTBEAT after each quarter of the window. It awaits one answer at a time, because an ACKNACK
//!   does not name the HEARTBEAT that it answers.
//! - If an answer is missing, the writer repeats the HEARTBEAT, whether the window is full or not. After [`PROBES_MAX`]
//!   attempts it stops waiting. A silent reader then receives its data slowly, but does not stop the writer.
//! - The wait for a lost HEARTBEAT is no RTT sample.
//! - The first repetition comes soon. While a sample is incomplete, Cyclone DDS delays its answer by 100 ms if the
//!   HEARTBEAT comes within 10 ms of its last ACKNACK. It answers the next HEARTBEAT at once. If the late answers were
//!   RTT samples, all later answers would stay late.
//!
//! On a long path an answer takes milliseconds at any load, and the window is the amount of data on the path. A few
//! random losses would keep it small forever. There the window follows the share of lost bytes (see [`Afar`]). Losses
//! at the minimum window come from the network. While the share does not grow with the window, the window grows. The
//! writer sends HEARTBEATs without waiting for answers. It assigns an answer to the last HEARTBEAT that is at least
//! seven eighths of the RTT old.
//!
//! A receive buffer may have room for less than the minimum window. Waiting does not help then, because each round
//! loses what the round before lost. The retransmission loss distinguishes this case from a network with random losses.
//! If it exceeds one half, the minimum window shrinks ([`Again`]), down to one datagram.
//!
//! Small samples count too, in groups, each datagram with its cost in a receive buffer. The writer marks how many bytes
//! it had sent at certain sequence numbers. Bytes of acknowledged samples are not in flight, no matter which HEARTBEAT
//! the ACKNACK answers.

use crate::types::{Duration, Instant, SequenceNumber};
use std::collections::VecDeque;

/// The minimum window: about fifty datagrams of a network. On one host it holds two datagrams, to avoid a round trip
/// for each one.
///
/// A network that loses a tenth of all datagrams at random keeps the window there.
const WINDOW_MIN: u64 = 64 << 10;
const WINDOW_MIN_SAME_HOST: u64 = 96 << 10;

/// An answer from the same host that takes longer is delayed on purpose.
const SLOW_ANSWER: Duration = Duration::from_millis(2);

/// The largest window. No system grants a larger receive buffer by default, and more bytes in flight only cause more
/// repairs.
const WINDOW_MAX: u64 = 8 << 20;

/// Shortest time until the writer repeats a HEARTBEAT.
///
/// It doubles with each attempt, so a fast network soon makes up for a lost HEARTBEAT or answer. The second attempt
/// comes after the 10 ms in which Cyclone DDS sends no second answer.
const PATIENCE: Duration = Duration::from_millis(4);

/// [`PATIENCE`] for readers that answer at once, as those of this implementation do.
const PROMPT_PATIENCE: Duration = Duration::from_millis(1);

/// Longest time until the first repetition. Shorter than the delay of a postponed answer of Cyclone DDS.
const FIRST_PATIENCE_MAX: Duration = Duration::from_millis(60);

/// Most attempts for one answer. Either constant makes the writer wait for an eighth of a second.
const PROBES_MAX: u32 = 5;
const PROMPT_PROBES_MAX: u32 = 7;

/// A HEARTBEAT without an answer after this time counts as lost.
///
/// The next answer belongs to the next HEARTBEAT.
const ANSWER_MAX: Duration = Duration::from_millis(5);

/// The largest plausible RTT of a short path.
///
/// A longer answer time more likely shows that the network was down for a while. Without new announcements the writer
/// does not notice that the network is back, and would treat answers as too early.
const WAY_MAX: Duration = Duration::from_millis(100);

/// From this RTT on, a path is a long path. On a shorter path the answer time depends on the load.
const LONG_WAY: Duration = Duration::from_millis(20);

/// The largest plausible RTT of a long path: to the other side of the earth and back.
const LONG_WAY_MAX: Duration = Duration::from_millis(300);

/// HEARTBEATs per window on a long path.
const ASKS: u64 = 8;

/// HEARTBEATs that the writer remembers on a long path.
const ASKED_MAX: usize = 32;

/// Fewest bytes in one judgement of the losses. Fewer datagrams may lose twice the usual share by mere chance.
///
/// The writer judges at least one window of bytes.
const JUDGED_MIN: u64 = 128 << 10;

/// Bounds of the growth on a long path. The window doubles, but grows by at most one receive buffer at a time.
///
/// After the window was once too large, it grows by a sixteenth.
const LONG_GROWTH_MAX: u64 = 192 << 10;
const LONG_GROWTH: u64 = 16;

/// Margin of the tolerated losses, in thousandths.
///
/// A share of losses is too large if it exceeds 1.5 times the network's own share by more than this.
const SHARE_MARGIN: u64 = 60;

/// Lower bound of the minimum window. It allows one datagram, because the last one may exceed the window.
const WINDOW_FLOOR: u64 = 1 << 10;

/// Fewest retransmitted fragments that allow a judgement, for a small and a large window.
///
/// Of fewer fragments, chance alone sometimes loses one half. With only a few bytes in flight, more fragments would
/// take too long.
const AGAIN_MIN: u64 = 8;
const AGAIN_MAX: u64 = 32;

/// Share of the answered bytes by which the window grows, before and after the first loss.
///
/// The first is less than TCP's one half to one. Here the writer learns late of a lost window, and the loss costs a
/// repair.
const QUICK_GROWTH: u64 = 4;
const SLOW_GROWTH: u64 = 32;

/// Marks per window.
const MARKS: u64 = 16;

/// State of the congestion window of one reader.
#[derive(Debug)]
pub(super) struct Flow {
    /// Bytes sent since the match.
    sent: u64,
    /// Bytes of `sent` that are not in flight any more.
    settled: u64,
    window: u64,
    window_min: u64,
    /// The minimum window while the reader answers slowly.
    window_slow: u64,
    /// A loss occurred, so the window is close to the right size.
    has_lost: bool,
    /// The window was full at some time since the last answer.
    was_full: bool,
    /// The window already reflects losses of the bytes up to this position.
    lost_up_to: u64,
    probe: Option<Probe>,
    /// Sequence numbers with the bytes sent up to them. Bound: [`MARKS`] per window, and one more.
    marks: VecDeque<Mark>,
    /// Time of the last HEARTBEAT, and the number of unanswered ones.
    asked: Option<Instant>,
    awaited: u8,
    /// Bytes sent before the last HEARTBEAT.
    asked_up_to: u64,
    /// The reader answers each HEARTBEAT at once.
    is_prompt: bool,
    same_host: bool,
    /// Upper bound of the RTT; zero if unknown.
    way: Duration,
    afar: Afar,
    again: Again,
    /// Smoothed RTT; zero if unknown.
    round_trip: Duration,
    /// Smoothed time from the last HEARTBEAT to the next answer; zero if unknown.
    from_last: Duration,
}

/// State of a long path. Bound: [`ASKED_MAX`] HEARTBEATs.
#[derive(Debug)]
struct Afar {
    /// HEARTBEATs in flight, with the bytes sent before them.
    asked: VecDeque<(Instant, u64)>,
    /// Bytes up to this position were sent with another window.
    from: u64,
    from_place: (SequenceNumber, u32),
    /// Position of the last HEARTBEAT: a sequence number and the fragments of the next change.
    place: (SequenceNumber, u32),
    /// Start of the bytes that the writer judges now; `None` if bytes of another window are still in flight.
    judged_from: Option<u64>,
    /// Lost bytes since `judged_from`.
    lost: u64,
    /// Share of losses that the network itself causes, in thousandths.
    usual: u64,
    /// The window has been too large: its losses did not come from the network.
    has_been_large: bool,
    /// Share of losses that caused the last halving, if the last judgement halved the window.
    halved: Option<u64>,
}

impl Afar {
    const fn new() -> Self {
        Self {
            asked: VecDeque::new(),
            from: 0,
            from_place: (SequenceNumber::ZERO, 0),
            place: (SequenceNumber::ZERO, 0),
            judged_from: None,
            lost: 0,
            usual: 0,
            has_been_large: false,
            halved: None,
        }
    }
}

/// Outcome of retransmitted fragments, from which the retransmission loss follows.
#[derive(Debug)]
struct Again {
    /// Retransmitted fragments since the last judgement, and those of them that the reader requested again.
    sent: u64,
    lost: u64,
    /// Lower bound of the window after high retransmission loss; [`u64::MAX`] without such loss.
    limit: u64,
}

/// All changes up to `number` amount to `position` bytes.
#[derive(Debug, Clone, Copy)]
struct Mark {
    number: SequenceNumber,
    position: u64,
}

/// A HEARTBEAT whose answer the writer awaits.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// Bytes sent before it.
    position: u64,
    at: Instant,
    /// Time of the first attempt. `at` is the time of the latest.
    first_at: Instant,
    /// Attempts so far.
    count: u32,
    /// Outstanding answers that belong to earlier HEARTBEATs.
    behind: u8,
}

impl Flow {
    /// Creates the state with an initial window, for a reader on the same host or elsewhere.
    ///
    /// `is_prompt`: the reader answers each HEARTBEAT at once.
    pub(super) fn new(window: usize, same_host: bool, is_prompt: bool) -> Self {
        let window_min = if same_host { WINDOW_MIN_SAME_HOST } else { WINDOW_MIN };
        Self {
            sent: 0,
            settled: 0,
            window: (window as u64).clamp(window_min, WINDOW_MAX),
            window_min,
            window_slow: if same_host { (window as u64).clamp(window_min, WINDOW_MAX) } else { window_min },
            has_lost: false,
            was_full: false,
            lost_up_to: 0,
            probe: None,
            marks: VecDeque::new(),
            asked: None,
            awaited: 0,
            asked_up_to: 0,
            is_prompt,
            same_host,
            way: Duration::ZERO,
            afar: Afar::new(),
            again: Again { sent: 0, lost: 0, limit: u64::MAX },
            round_trip: Duration::ZERO,
            from_last: Duration::ZERO,
        }
    }

    fn under_way(&self) -> u64 {
        self.sent - self.settled
    }

    /// Returns the congestion window in bytes.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Returns whether the writer may send more. The last datagram may exceed the window.
    pub(super) fn is_open(&self) -> bool {
        self.under_way() < self.window
    }

    /// Counts `len` bytes as in flight.
    pub(super) fn note_sent(&mut self, len: usize) {
        self.sent += len as u64;
        self.was_full |= !self.is_open();
    }

    /// Marks that all bytes sent so far belong to changes up to `number`.
    pub(super) fn mark(&mut self, number: SequenceNumber) {
        let apart = self.window / MARKS;
        if self.marks.back().is_none_or(|last| self.sent - last.position >= apart) {
            // Keep one mark per sixteenth of a window: finer marks would only cost memory.
            if self.marks.len() as u64 > MARKS {
                self.marks.pop_front();
            }
            self.marks.push_back(Mark { number, position: self.sent });
        }
    }

    /// Notes that the reader has all changes up to `number`.
    pub(super) fn note_acknowledged(&mut self, number: SequenceNumber) {
        while let Some(mark) = self.marks.pop_front() {
            if mark.number > number {
                self.marks.push_front(mark);
                break;
            }
            self.settle(mark.position);
        }
        // The awaited answer is superfluous, because the ACKNACK covers its data.
        if self.probe.is_some_and(|probe| probe.position <= self.settled) {
            self.probe = None;
            self.await_last();
        }
    }

    /// Ends the flight of the bytes up to `position`.
    fn settle(&mut self, position: u64) {
        let answered = position.saturating_sub(self.settled);
        self.settled = self.settled.max(position);
        // On a long path the share of losses controls the window.
        if self.is_long() {
            return self.judge();
        }
        // An idle writer must not grow its window: no receive buffer proved to hold it.
        if std::mem::take(&mut self.was_full) {
            let growth = answered / if self.has_lost { SLOW_GROWTH } else { QUICK_GROWTH };
            self.window = (self.window + growth).min(WINDOW_MAX);
        }
    }

    /// Returns whether the reader is on a long path.
    pub(super) fn is_long(&self) -> bool {
        self.way >= LONG_WAY && !self.same_host
    }

    /// Judges the losses of bytes that were sent with the present window, once enough of them are answered.
    fn judge(&mut self) {
        if self.settled < self.afar.from {
            return;
        }
        let Some(judged_from) = self.afar.judged_from else {
            // Bytes of an earlier window have just left the path. The judgement starts here.
            (self.afar.judged_from, self.afar.lost) = (Some(self.settled), 0);
            return;
        };
        let judged = self.settled - judged_from;
        if judged < self.window.max(JUDGED_MIN) {
            return;
        }
        self.adapt((self.afar.lost * 1000 / judged).min(1000));
        // The next judgement needs a full window again, sent with the new size.
        self.was_full = false;
        (self.afar.from, self.afar.from_place, self.afar.judged_from) = (self.sent, self.afar.place, None);
    }

    /// Adapts the window to the share of lost bytes, in thousandths.
    fn adapt(&mut self, share: u64) {
        let usual = self.afar.usual;
        let is_usual = share <= usual + usual / 2 + SHARE_MARGIN;
        let halved = self.afar.halved.take();
        if is_usual {
            // A moving average over eight judgements.
            self.afar.usual = (7 * usual + share) / 8;
            if self.was_full {
                let growth = if self.afar.has_been_large { self.window / LONG_GROWTH } else { self.window };
                self.window = (self.window + growth.min(LONG_GROWTH_MAX)).min(WINDOW_MAX);
            }
            return;
        }
        // A loss at the minimum window is not caused by the window. The same holds if the halved window loses as large
        // a share as the whole one. A share above one half proves nothing, because half of such a window may still be
        // too large.
        let is_smallest = self.window <= self.least() + self.least() / 4;
        if is_smallest || halved.is_some_and(|before| before <= 500 && share * 10 >= before * 7) {
            self.afar.usual = share;
            self.afar.has_been_large = false;
            return;
        }
        self.window = (self.window / 2).max(self.least());
        self.afar.has_been_large = true;
        self.afar.halved = Some(share);
    }

    /// Notes that `len` bytes of a first transmission are lost.
    ///
    /// `place` is a sequence number, and the number of fragments of the next change.
    pub(super) fn note_lost(&mut self, place: (SequenceNumber, u32), len: u64) {
        // Losses of bytes that were sent with another window say nothing about this one, even if reported late.
        if place > self.afar.from_place {
            self.afar.lost += len;
        }
    }

    /// Returns whether a HEARTBEAT should follow the data sent so far.
    pub(super) fn wants_probe(&self) -> bool {
        if self.is_long() {
            return self.sent - self.asked_up_to.max(self.settled) >= self.window / ASKS;
        }
        self.probe.is_none() && self.under_way() >= self.window / 4
    }

    /// Returns whether the window is full and no answer is awaited.
    pub(super) fn is_stuck(&self) -> bool {
        self.probe.is_none() && !self.is_open()
    }

    /// Notes a HEARTBEAT that the reader must answer.
    ///
    /// While the writer awaits an earlier answer, which may be lost, a new HEARTBEAT counts only if the window is full.
    /// `place` is its position: a sequence number, and the number of fragments of the next change.
    pub(super) fn note_heartbeat(&mut self, now: Instant, place: (SequenceNumber, u32)) {
        self.afar.place = place;
        let before = self.asked.replace(now);
        let answer_max = ANSWER_MAX.max(self.round_trip.scale(2, 1));
        // Answers still awaited precede the answer to this HEARTBEAT, unless they are so old that they count as lost.
        let behind = if before.is_some_and(|before| now.since(before) < answer_max) { self.awaited } else { 0 };
        self.awaited = behind.saturating_add(1);
        self.asked_up_to = self.sent;
        if self.is_long() && self.afar.asked.len() < ASKED_MAX {
            self.afar.asked.push_back((now, self.sent));
        }
        // An open window does not need this answer, so the older probe stays.
        let goes_on = self.is_open() && !self.is_due(now);
        match &mut self.probe {
            _ if self.sent == self.settled => {}
            None => self.probe = Some(Probe { position: self.sent, at: now, first_at: now, count: 1, behind }),
            Some(_) if goes_on => {}
            // The answer may belong to the first attempt.
            Some(probe) => *probe = Probe { at: now, count: probe.count + 1, behind: 0, ..*probe },
        }
    }

    /// Returns the smoothed RTT; zero if unknown.
    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// Sets the upper bound of the RTT; zero if unknown.
    pub(super) fn note_way(&mut self, way: Duration) {
        self.way = way;
    }

    /// Notes an answer of the reader. `shortest` is the RTT estimate.
    ///
    /// An answer much sooner after a HEARTBEAT than that belongs to an earlier HEARTBEAT.
    pub(super) fn note_answer(&mut self, now: Instant, shortest: Duration) {
        if self.is_long() {
            return self.note_answer_from_afar(now);
        }
        // Half of the RTT estimate tolerates jitter.
        let soonest = shortest.min(WAY_MAX).scale(1, 2);
        if self.probe.is_some_and(|probe| now.since(probe.first_at) < soonest) {
            return;
        }
        self.awaited = self.awaited.saturating_sub(1);
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.behind > 0) {
            probe.behind -= 1;
            return;
        }
        let Some(probe) = self.probe.take() else { return };
        let is_first = self.round_trip == Duration::ZERO;
        let sample = self.sample(now, probe);
        self.round_trip = if is_first { sample } else { self.round_trip.scale(7, 8) + sample.scale(1, 8) };
        let from_last = now.since(probe.at);
        self.from_last = if is_first { from_last } else { self.from_last.scale(7, 8) + from_last.scale(1, 8) };
        self.settle(probe.position);
        self.await_last();
        // The minimum window may have grown, because the RTT estimate or the retransmission loss changed.
        self.window = self.window.max(self.least());
    }

    /// Notes an answer of a reader on a long path.
    ///
    /// It answers the last HEARTBEAT that the reader may have received. If it answers an earlier one, the next answer
    /// follows soon.
    fn note_answer_from_afar(&mut self, now: Instant) {
        // Seven eighths tolerate jitter.
        let soonest = self.way.min(LONG_WAY_MAX).scale(7, 8);
        let mut answered = None;
        while let Some(asked) = self.afar.asked.front().copied().filter(|(at, _)| now.since(*at) >= soonest) {
            self.afar.asked.pop_front();
            answered = Some(asked);
        }
        let Some((at, position)) = answered else { return };
        let took = now.since(at);
        let is_first = self.round_trip == Duration::ZERO;
        self.round_trip = if is_first { took } else { self.round_trip.scale(7, 8) + took.scale(1, 8) };
        self.from_last = self.round_trip;
        self.awaited = 0;
        self.settle(position);
        if self.probe.is_some_and(|probe| probe.position <= self.settled) {
            self.probe = None;
            self.await_last();
        }
        self.window = self.window.max(self.least());
    }

    /// Awaits the last HEARTBEAT that was sent after the answered one.
    fn await_last(&mut self) {
        if let Some(at) = self.asked.filter(|_| self.asked_up_to > self.settled) {
            let behind = self.awaited.saturating_sub(1);
            self.probe = Some(Probe { position: self.asked_up_to, at, first_at: at, count: 1, behind });
        }
    }

    /// Returns the RTT sample of an answer to `probe`.
    ///
    /// After a repetition, the answered attempt is unknown. The wait for a lost HEARTBEAT must not count, because each
    /// wait would then prolong the next one.
    fn sample(&self, now: Instant, probe: Probe) -> Duration {
        let since_first = now.since(probe.first_at);
        if probe.count <= 1 || self.round_trip == Duration::ZERO {
            return since_first;
        }
        // The sample is at least the present estimate, so that a repetition cannot shorten it.
        now.since(probe.at).max(self.round_trip.min(since_first))
    }

    /// Notes that the reader has all data ever sent, so no bytes are in flight.
    pub(super) fn note_all_received(&mut self) {
        self.settled = self.sent;
        self.probe = None;
        self.marks.clear();
        self.afar.asked.clear();
        self.awaited = 0;
    }

    /// Returns the minimum window.
    ///
    /// A reader on this host that answers after milliseconds does so on purpose, as Cyclone DDS does while a sample is
    /// incomplete. A small window would then slow the whole transfer.
    fn least(&self) -> u64 {
        self.usual_least().min(self.again.limit)
    }

    fn usual_least(&self) -> u64 {
        if self.round_trip >= SLOW_ANSWER { self.window_slow } else { self.window_min }
    }

    /// Returns whether retransmission loss has reduced the minimum window.
    pub(super) fn is_squeezed(&self) -> bool {
        self.again.limit < u64::MAX
    }

    /// Notes the outcome of `sent` retransmitted fragments: the reader requests `lost` of them again.
    pub(super) fn note_sent_again(&mut self, sent: u32, lost: u32) {
        let again = &mut self.again;
        (again.sent, again.lost) = (again.sent + u64::from(sent), again.lost + u64::from(lost));
        let enough = (again.limit / WINDOW_FLOOR).clamp(AGAIN_MIN, AGAIN_MAX);
        if again.sent < enough {
            return;
        }
        let (sent, lost) = (again.sent, again.lost.min(again.sent));
        (again.sent, again.lost) = (0, 0);
        let least = self.least();
        if 2 * lost > sent {
            // The share of received fragments shows how much the receive buffer can hold.
            let window = self.window.min(least);
            self.window = (window * (sent - lost) / sent).max(window / 4).max(WINDOW_FLOOR);
            self.again.limit = self.window;
        } else if self.is_squeezed() {
            // Recover fast with at most an eighth of loss, more slowly otherwise.
            let grown = least + (least / if 8 * lost <= sent { 2 } else { 4 }).max(1);
            self.again.limit = if grown < self.usual_least() { grown } else { u64::MAX };
        }
    }

    /// Notes that the reader misses some data.
    pub(super) fn note_loss(&mut self) {
        if self.is_long() {
            return;
        }
        // The bytes in flight were sent with the old window. A loss among them is no new information.
        if self.settled < self.lost_up_to || self.sent == 0 {
            return;
        }
        self.lost_up_to = self.sent;
        self.has_lost = true;
        self.window = (self.window / 2).max(self.least());
    }

    fn is_due(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// Returns when to call [`Flow::is_overdue`]; `None` if no answer is awaited.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let probe = self.probe?;
        let least = if self.is_prompt { PROMPT_PATIENCE } else { PATIENCE };
        let most = FIRST_PATIENCE_MAX.max(self.way.min(LONG_WAY_MAX).scale(3, 2));
        let patience = self.from_last.scale(2, 1).clamp(least, most);
        // The patience doubles with each attempt.
        probe.at.after(patience.scale(1 << (probe.count.clamp(1, self.probes_max()) - 1), 1))
    }

    fn probes_max(&self) -> u32 {
        if self.is_prompt { PROMPT_PROBES_MAX } else { PROBES_MAX }
    }

    /// Returns `true` if an answer is overdue and the writer must repeat its HEARTBEAT.
    ///
    /// After the last attempt, the writer stops waiting for the reader and opens the window.
    pub(super) fn is_overdue(&mut self, now: Instant) -> bool {
        if !self.is_due(now) {
            return false;
        }
        if self.probe.is_some_and(|probe| probe.count < self.probes_max()) {
            return true;
        }
        self.probe = None;
        // Give up the bytes in flight, or the silent reader would block the writer.
        if !self.is_open() {
            self.settled = self.sent;
            self.window = self.least();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const KIB: usize = 1 << 10;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    /// Sends datagrams of 10 KiB while the window is open. Returns their number.
    fn fill(flow: &mut Flow) -> usize {
        let mut count = 0;
        while flow.is_open() {
            flow.note_sent(10 * KIB);
            count += 1;
            if flow.wants_probe() {
                flow.note_heartbeat(at(0), (SequenceNumber::ZERO, 0));
            }
        }
        if flow.is_stuck() {
            flow.note_heartbeat(at(0), (SequenceNumber::ZERO, 0));
        }
        count
    }

    #[test]
    fn what_is_acknowledged_is_not_under_way_whichever_heartbeat_that_answers() {
        let mut flow = Flow::new(128 * KIB, false, false);
        for number in 1..=16 {
            flow.note_sent(8 * KIB);
            flow.mark(SequenceNumber(10 * number));
        }
        assert!(!flow.is_open());
        flow.note_acknowledged(SequenceNumber(9));
        assert_eq!(flow.under_way(), 128 << 10);
        flow.note_acknowledged(SequenceNumber(45));
        assert_eq!(flow.under_way(), 96 << 10);
        assert!(flow.is_open());
        // Marks are at least a sixteenth of a window apart.
        (0..1000).for_each(|number| {
            flow.note_sent(KIB);
            flow.mark(SequenceNumber(1000 + number));
        });
        assert!(flow.marks.len() as u64 <= MARKS + 1);
        flow.note_acknowledged(SequenceNumber(2000));
        assert!(flow.under_way() <= flow.window / MARKS);
    }

    #[test]
    fn on_a_long_way_only_so_many_heartbeats_wait_for_their_answer() {
        let mut flow = Flow::new(100 * KIB, false, false);
        flow.note_way(Duration::from_millis(200));
        (0..100).for_each(|ms| flow.note_heartbeat(at(ms), (SequenceNumber::ZERO, 0)));
        assert_eq!(flow.afar.asked.len(), ASKED_MAX);
    }

    #[test]
    fn a_window_is_sent_and_opens_by_what_is_answered() {
        let mut flow = Flow::new(100 * KIB, false, false);
        assert_eq!(fill(&mut flow), 10);
        // The HEARTBEAT followed the third datagram, and no datagram was lost.
        flow.note_answer(at(0), Duration::ZERO);
        assert_eq!(fill(&mut flow), 4);
        // A second answer to the same HEARTBEAT has no effect.
        flow.note_answer(at(0), Duration::ZERO);
        flow.note_answer(at(0), Duration::ZERO);
        assert_eq!(flow.under_way(), 30 << 10);
    }

    #[test]
    fn the_window_grows_only_where_it_is_the_limit() {
        let mut flow = Flow::new(100 * KIB, false, false);
        for _ in 0..100 {
            flow.note_sent(50 * KIB);
            flow.note_heartbeat(at(0), (SequenceNumber::ZERO, 0));
            flow.note_answer(at(0), Duration::ZERO);
        }
        assert_eq!(flow.window, 100 << 10);
        for _ in 0..100 {
            fill(&mut flow);
            flow.note_answer(at(0), Duration::ZERO);
        }
        assert_eq!(flow.window, WINDOW_MAX);
    }

    #[test]
    fn a_loss_halves_the_window_once_and_slows_its_growth() {
        let mut flow = Flow::new(1024 * KIB, false, false);
        fill(&mut flow);
        (0..10).for_each(|_| flow.note_loss());
        assert_eq!(flow.window, 512 << 10);
        flow.note_answer(at(0), Duration::ZERO);
        let before = flow.window;
        assert!(before < 600 << 10, "{before}");
        fill(&mut flow);
        flow.note_answer(at(0), Duration::ZERO);
        assert!(flow.window < 600 << 10);
        for _ in 0..20 {
            fill(&mut flow);
            flow.note_loss();
            flow.note_answer(at(0), Duration::ZERO);
        }
        assert!(flow.window < 80 << 10, "{}", flow.window);
    }

    #[test]
    fn what_is_lost_again_and_again_makes_the_smallest_window_smaller_until_it_comes_through() {
        let mut flow = Flow::new(WINDOW_MIN as usize, false, false);
        // A loss of one half may be chance, so the minimum window stays as it is.
        (0..100).for_each(|_| flow.note_sent_again(30, 15));
        assert_eq!((flow.least(), flow.is_squeezed()), (WINDOW_MIN, false));
        // 11 of 48 datagrams arrive.
        let mut flow = Flow::new(WINDOW_MIN as usize, false, false);
        flow.note_sent_again(48, 37);
        assert_eq!((flow.window, flow.least()), (WINDOW_MIN / 4, WINDOW_MIN / 4));
        (0..20).for_each(|_| flow.note_sent_again(40, 40));
        assert_eq!((flow.window, flow.least()), (WINDOW_FLOOR, WINDOW_FLOOR));
        flow.note_sent(1300);
        assert!(!flow.is_open(), "one datagram at a time");
        // With few bytes in flight, eight fragments suffice for a judgement.
        (0..80).for_each(|_| flow.note_sent_again(8, 2));
        assert_eq!((flow.least(), flow.is_squeezed()), (WINDOW_MIN, false));
    }

    #[test]
    fn on_one_host_two_datagrams_are_always_possible() {
        let mut flow = Flow::new(208 * KIB, true, false);
        for _ in 0..20 {
            fill(&mut flow);
            flow.note_loss();
            flow.note_answer(at(0), Duration::ZERO);
        }
        assert!((96 << 10..110 << 10).contains(&flow.window), "{}", flow.window);
    }

    #[test]
    fn an_answer_to_an_earlier_heartbeat_is_not_taken_for_the_one_that_is_awaited() {
        let mut flow = Flow::new(100 * KIB, false, false);
        flow.note_heartbeat(at(0), (SequenceNumber::ZERO, 0));
        fill(&mut flow);
        flow.note_answer(at(0), Duration::ZERO);
        assert!(!flow.is_open());
        flow.note_answer(at(0), Duration::ZERO);
        assert!(flow.is_open());
    }

    #[test]
    fn a_way_that_once_took_seconds_holds_no_answer_up_for_seconds() {
        let mut flow = Flow::new(100 * KIB, false, false);
        flow.note_answer(at(0), Duration::from_secs(4));
        fill(&mut flow);
        // With an RTT of 60 ms, an answer after 20 ms belongs to an earlier HEARTBEAT.
        flow.note_answer(at(20), Duration::from_millis(60));
        assert!(!flow.is_open());
        flow.note_answer(at(60), Duration::from_secs(4));
        assert!(flow.is_open());
    }

    /// Sends `bytes` to a reader that answers like Cyclone DDS while a sample is incomplete. Returns the milliseconds
    /// it took.
    ///
    /// The reader ignores a HEARTBEAT within 10 ms of its last answer until another HEARTBEAT comes, or for 100 ms.
    fn ms_to_a_reader_that_puts_answers_off(mut flow: Flow, bytes: u64, begin: u64) -> u64 {
        let end = flow.sent + bytes;
        let (mut answered_at, mut put_off_until) = (at(begin), None);
        let mut ms = begin;
        while flow.sent < end {
            let mut asks = flow.is_overdue(at(ms)) || flow.is_stuck();
            while flow.is_open() && !asks && flow.sent < end {
                flow.note_sent(64 * KIB);
                asks = flow.wants_probe();
            }
            if asks {
                flow.note_heartbeat(at(ms), (SequenceNumber::ZERO, 0));
                put_off_until = put_off_until.or(at(ms).after(Duration::from_millis(100)));
            }
            let answers_at_once = asks && at(ms).since(answered_at) >= Duration::from_millis(10);
            if answers_at_once || put_off_until.is_some_and(|until| until <= at(ms)) {
                flow.note_answer(at(ms), Duration::ZERO);
                (answered_at, put_off_until) = (at(ms), None);
            }
            ms += 1;
        }
        ms - begin
    }

    #[test]
    fn a_reader_that_puts_answers_off_is_asked_again_before_it_gives_them() {
        let mut flow = Flow::new(208 * KIB, false, false);
        // The second answer is late, because the reader was busy. It also reports a loss, so the window stays as it is.
        for (asked, answered) in [(0, 1), (2, 602)] {
            flow.note_sent(64 * KIB);
            flow.note_heartbeat(at(asked), (SequenceNumber::ZERO, 0));
            flow.note_answer(at(answered), Duration::ZERO);
        }
        flow.note_loss();
        let ms = ms_to_a_reader_that_puts_answers_off(flow, 16 << 20, 1_000);
        assert!(ms < 3_000, "{ms} ms");
    }

    #[test]
    fn a_reader_that_has_everything_has_nothing_under_way() {
        let mut flow = Flow::new(100 * KIB, false, false);
        fill(&mut flow);
        // The awaited HEARTBEAT followed the third datagram.
        flow.note_answer(at(0), Duration::ZERO);
        flow.note_all_received();
        assert_eq!(fill(&mut flow), 11);
    }

    #[test]
    fn a_silent_reader_is_asked_five_times_and_then_not_waited_for() {
        let mut flow = Flow::new(100 * KIB, false, false);
        fill(&mut flow);
        for (ms, last) in [(4, false), (12, false), (28, false), (60, false), (124, true)] {
            assert!(!flow.is_overdue(at(ms - 1)) && !flow.is_open());
            assert_eq!(flow.is_overdue(at(ms)), !last);
            flow.probe = flow.probe.map(|probe| Probe { at: at(ms), count: probe.count + 1, ..probe });
        }
        assert!(flow.is_open());
        assert_eq!(flow.window, WINDOW_MIN);
        assert_eq!(flow.deadline(), None);
    }

    /// Creates the window of a reader with an RTT of 60 ms.
    fn far() -> Flow {
        let mut flow = Flow::new(128 * KIB, false, true);
        flow.note_way(Duration::from_millis(60));
        flow
    }

    /// Judges a full window with this share of losses, in thousandths. Returns the new window in KiB.
    fn judged(flow: &mut Flow, share: u64) -> u64 {
        flow.was_full = true;
        flow.adapt(share);
        flow.window >> 10
    }

    #[test]
    fn far_away_the_share_that_is_lost_by_chance_does_not_hold_the_window() {
        for share in [10, 100, 300] {
            let mut flow = far();
            (0..60).for_each(|_| _ = judged(&mut flow, share));
            assert_eq!(flow.window, WINDOW_MAX, "with {share} of 1000 lost");
        }
    }

    #[test]
    fn far_away_what_a_window_loses_by_itself_halves_it_and_it_grows_slowly_from_then_on() {
        let mut flow = far();
        let grown: Vec<u64> = (0..4).map(|_| judged(&mut flow, 10)).collect();
        assert_eq!(grown, [256, 448, 640, 832]);
        assert_eq!(judged(&mut flow, 300), 416);
        assert_eq!(judged(&mut flow, 10), 442, "the half does not lose it: it was the window");
        // Half of a window that is much too large is too large as well. The losses do not come from the network.
        let mut flow = far();
        (0..60).for_each(|_| _ = judged(&mut flow, 10));
        assert_eq!([(); 4].map(|()| judged(&mut flow, 900)), [4096, 2048, 1024, 512]);
    }

    #[test]
    fn far_away_a_network_that_begins_to_lose_is_told_from_a_window_that_is_too_large() {
        let mut flow = far();
        (0..4).for_each(|_| _ = judged(&mut flow, 0));
        let shares = [150, 150, 150, 150];
        assert_eq!(shares.map(|share| judged(&mut flow, share)), [416, 416, 608, 800]);
    }

    #[test]
    fn far_away_an_answer_is_to_what_was_sent_long_enough_ago() {
        let mut flow = far();
        for ms in [0, 10, 20] {
            flow.note_sent(10 * KIB);
            flow.note_heartbeat(at(ms), (SequenceNumber::ZERO, 0));
        }
        flow.note_answer(at(30), Duration::ZERO);
        assert_eq!(flow.under_way(), 30 << 10, "it answers something earlier");
        flow.note_answer(at(60), Duration::ZERO);
        assert_eq!(flow.under_way(), 20 << 10);
        // The answer to the second HEARTBEAT was lost.
        flow.note_answer(at(80), Duration::ZERO);
        assert_eq!(flow.under_way(), 0);
    }

    #[test]
    fn far_away_what_was_sent_with_another_window_says_nothing_about_this_one() {
        let mut flow = far();
        flow.afar.from_place = (SequenceNumber(7), 3);
        flow.note_lost((SequenceNumber(7), 3), 1_000);
        flow.note_lost((SequenceNumber(7), 4), 10);
        flow.note_lost((SequenceNumber(8), 1), 1);
        assert_eq!(flow.afar.lost, 11);
    }
}
