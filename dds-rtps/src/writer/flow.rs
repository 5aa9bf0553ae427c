//! How many bytes may be under way to one reliable reader.
//!
//! A large sample is a burst of datagrams, as are small ones from a writer that is faster than its reader, and what does
//! not fit into the reader's receive buffer is dropped there by its system, without a word. So no more than a window is
//! sent before the reader has answered a HEARTBEAT that was sent behind some of it: then that has left its buffer,
//! whatever became of it.
//!
//! - The window begins with what a receive buffer surely takes. While it is what holds the writer back and nothing is
//!   lost, it grows by a quarter of what was answered; after the first loss by much less.
//! - A request for what is missing halves it, at most once for each window.
//! - A quarter of the window is between two HEARTBEATs. Only one is awaited at a time: an ACKNACK does not say what it
//!   answers.
//! - An answer that does not come is asked for again, whether the window is full or not, and after [`PROBES_MAX`] times not
//!   waited for: a reader that is silent gets its data slowly, and does not keep it from being sent. The wait for a
//!   HEARTBEAT that was lost says nothing about the way there and back. The first time is never far away: while a sample is
//!   incomplete, Cyclone DDS leaves a HEARTBEAT that comes within 10 ms of its last ACKNACK alone for 100 ms, but answers
//!   the next one at once. To take its late answers for the way there and back would keep all of them late.
//!
//! On a long way, where an answer takes milliseconds whatever is sent, the window is what is on its way, and a few losses by chance
//! would keep it small for ever. There it goes by shares (see [`Afar`]): what is lost at the smallest window is the network's
//! doing, and while the share does not grow with the window, the window does. HEARTBEATs follow each other without waiting for
//! an answer, and an answer is to the last one that was sent long enough ago.
//!
//! A receive buffer may have room for less than the smallest window, and no window is found by waiting for that: each round
//! loses what the one before has lost. What tells it from a network that loses by chance is the share of fragments that were sent
//! again and have to be sent once more: if that is more than a half, the smallest window becomes smaller ([`Again`]), in the end
//! a datagram.
//!
//! Small samples count as well, some at a time, each datagram with what it costs in a receive buffer. Of these it is
//! remembered up to which number how much was sent: whatever an ACKNACK answers, what it acknowledges is not under way.

use crate::types::{Duration, Instant, SequenceNumber};
use std::collections::VecDeque;

/// The smallest window: some fifty datagrams of a network, and on one host two, or it would go to and fro for each. A network
/// that loses a tenth of everything for no reason of ours keeps it there.
const WINDOW_MIN: u64 = 64 << 10;
const WINDOW_MIN_SAME_HOST: u64 = 96 << 10;

/// Nobody on this host is that far away.
const SLOW_ANSWER: Duration = Duration::from_millis(2);

/// The largest window: nobody grants a larger receive buffer unasked, and more under way only means more to repair.
const WINDOW_MAX: u64 = 8 << 20;

/// After how long an answer is asked for again at the earliest. It doubles each time: a HEARTBEAT or its answer that was lost
/// is soon made up for on a fast network. The second time is behind the 10 ms in which Cyclone DDS gives no second answer.
const PATIENCE: Duration = Duration::from_millis(4);

/// The same for readers that answer at once, as ours do.
const PROMPT_PATIENCE: Duration = Duration::from_millis(1);

/// After how long an answer is asked for again at the latest: sooner than Cyclone DDS gives one that it has put off.
const FIRST_PATIENCE_MAX: Duration = Duration::from_millis(60);

/// How often an answer is asked for: for an eighth of a second, either way.
const PROBES_MAX: u32 = 5;
const PROMPT_PROBES_MAX: u32 = 7;

/// A HEARTBEAT that was not answered for so long will not be, or its answer is that to the next one.
const ANSWER_MAX: Duration = Duration::from_millis(5);

/// The longest way there and back that is believed. What seems longer was more likely a network that was gone for a while: as
/// long as nothing new is announced nobody finds out that it is back, and answers would be held for early ones.
const WAY_MAX: Duration = Duration::from_millis(100);

/// From here on a way is long: what one host or one network takes to answer has to do with what it is sent.
const LONG_WAY: Duration = Duration::from_millis(20);

/// The longest way that is believed where ways are long: to the other end of the world and back.
const LONG_WAY_MAX: Duration = Duration::from_millis(300);

/// How often HEARTBEATs follow each other on a long way: so many in a window.
const ASKS: u64 = 8;

/// HEARTBEATs that are remembered on a long way.
const ASKED_MAX: usize = 32;

/// A window is judged by a window's worth, and by so many bytes at least: of fewer datagrams, twice as many are lost as usual by
/// mere chance.
const JUDGED_MIN: u64 = 128 << 10;

/// On a long way the window doubles, but grows by no more at once than a receive buffer takes; once it has been too large, by this
/// share of itself.
const LONG_GROWTH_MAX: u64 = 192 << 10;
const LONG_GROWTH: u64 = 16;

/// A share of losses is too large, in thousandths, if it is larger by a half than what the network itself loses, and this.
const SHARE_MARGIN: u64 = 60;

/// The smallest window of all: one datagram, as the last one may reach beyond it.
const WINDOW_FLOOR: u64 = 1 << 10;

/// Of fewer fragments that were sent again, a half is lost by mere chance now and then; where only a few are under
/// way, nobody can wait for so many.
const AGAIN_MIN: u64 = 8;
const AGAIN_MAX: u64 = 32;

/// The share of what was answered by which the window grows, before and after something was lost. The first is less than
/// TCP's one half to one: here the loss of a window comes to light late, and costs a repair.
const QUICK_GROWTH: u64 = 4;
const SLOW_GROWTH: u64 = 32;

/// So many marks are in a window.
const MARKS: u64 = 16;

/// What is under way to one reader.
#[derive(Debug)]
pub(super) struct Flow {
    /// Bytes sent since the beginning.
    sent: u64,
    /// Of these, bytes that are not under way any more.
    settled: u64,
    window: u64,
    window_min: u64,
    /// The smallest one to a reader that takes its time to answer.
    window_slow: u64,
    /// Something was lost: the window is about right.
    has_lost: bool,
    /// The window has been full since the last answer.
    was_full: bool,
    /// A loss of what was sent up to here has been taken into account.
    lost_up_to: u64,
    probe: Option<Probe>,
    /// Up to which numbers how much had been sent. Bound: [`MARKS`] in each window that is under way, and one more.
    marks: VecDeque<Mark>,
    /// When the last HEARTBEAT went out, and how many have not been answered.
    asked: Option<Instant>,
    awaited: u8,
    /// Bytes sent before the last HEARTBEAT.
    asked_up_to: u64,
    /// The reader answers at once.
    is_prompt: bool,
    same_host: bool,
    /// How long the way there and back is, as far as is known.
    way: Duration,
    afar: Afar,
    again: Again,
    /// How long an answer takes, smoothed; zero as long as nothing is known.
    round_trip: Duration,
    /// How long an answer takes after the last HEARTBEAT before it, smoothed; zero as long as nothing is known.
    from_last: Duration,
}

/// What is kept of a long way. Bound: [`ASKED_MAX`] HEARTBEATs.
#[derive(Debug)]
struct Afar {
    /// HEARTBEATs, and how many bytes had been sent before them.
    asked: VecDeque<(Instant, u64)>,
    /// What was sent up to here was sent with another window.
    from: u64,
    from_place: (SequenceNumber, u32),
    /// The place behind which the last HEARTBEAT stood.
    place: (SequenceNumber, u32),
    /// The first of what is judged by now, once that is under way no more.
    judged_from: Option<u64>,
    /// Bytes lost of what is judged.
    lost: u64,
    /// The share of losses, in thousandths, that the network itself is to blame for.
    usual: u64,
    /// The window has been too large, and not because it was the network.
    has_been_large: bool,
    /// The share of losses because of which the window was halved just now.
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

/// What becomes of that which is sent again.
#[derive(Debug)]
struct Again {
    /// Fragments since the last judgement, and how many of them the reader has asked for once more.
    sent: u64,
    lost: u64,
    /// Down to here the window may be halved; [`u64::MAX`]: as usual.
    limit: u64,
}

/// Everything up to a number had been sent, and so many bytes.
#[derive(Debug, Clone, Copy)]
struct Mark {
    number: SequenceNumber,
    position: u64,
}

/// A HEARTBEAT that the reader is to answer.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// Bytes sent before it.
    position: u64,
    at: Instant,
    /// When it was sent first.
    first_at: Instant,
    /// How often it was sent.
    count: u32,
    /// So many answers are to earlier ones.
    behind: u8,
}

impl Flow {
    /// With this window to begin with, to a reader on the same host or elsewhere. `is_prompt`: it answers each HEARTBEAT at
    /// once.
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

    /// Bytes that may be under way at once.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Whether more may be sent. The last datagram may reach beyond the window.
    pub(super) fn is_open(&self) -> bool {
        self.under_way() < self.window
    }

    /// Fragments have been laid out.
    pub(super) fn note_sent(&mut self, len: usize) {
        self.sent += len as u64;
        self.was_full |= !self.is_open();
    }

    /// All that has been noted as sent are changes up to `number`.
    pub(super) fn mark(&mut self, number: SequenceNumber) {
        let apart = self.window / MARKS;
        if self.marks.back().is_none_or(|last| self.sent - last.position >= apart) {
            if self.marks.len() as u64 > MARKS {
                self.marks.pop_front();
            }
            self.marks.push_back(Mark { number, position: self.sent });
        }
    }

    /// The reader has everything up to `number`.
    pub(super) fn note_acknowledged(&mut self, number: SequenceNumber) {
        while let Some(mark) = self.marks.pop_front() {
            if mark.number > number {
                self.marks.push_front(mark);
                break;
            }
            self.settle(mark.position);
        }
        if self.probe.is_some_and(|probe| probe.position <= self.settled) {
            self.probe = None;
            self.await_last();
        }
    }

    /// What was sent up to `position` is not under way any more.
    fn settle(&mut self, position: u64) {
        let answered = position.saturating_sub(self.settled);
        self.settled = self.settled.max(position);
        if self.is_long() {
            return self.judge();
        }
        if std::mem::take(&mut self.was_full) {
            let growth = answered / if self.has_lost { SLOW_GROWTH } else { QUICK_GROWTH };
            self.window = (self.window + growth).min(WINDOW_MAX);
        }
    }

    /// Whether the way there and back takes long, whatever is sent.
    pub(super) fn is_long(&self) -> bool {
        self.way >= LONG_WAY && !self.same_host
    }

    /// Looks at what was lost of that which was sent with the present window, once that is enough.
    fn judge(&mut self) {
        if self.settled < self.afar.from {
            return;
        }
        let Some(judged_from) = self.afar.judged_from else {
            (self.afar.judged_from, self.afar.lost) = (Some(self.settled), 0);
            return;
        };
        let judged = self.settled - judged_from;
        if judged < self.window.max(JUDGED_MIN) {
            return;
        }
        self.adapt((self.afar.lost * 1000 / judged).min(1000));
        self.was_full = false;
        (self.afar.from, self.afar.from_place, self.afar.judged_from) = (self.sent, self.afar.place, None);
    }

    /// A window has lost this share, in thousandths.
    fn adapt(&mut self, share: u64) {
        let usual = self.afar.usual;
        let is_usual = share <= usual + usual / 2 + SHARE_MARGIN;
        let halved = self.afar.halved.take();
        if is_usual {
            self.afar.usual = (7 * usual + share) / 8;
            if self.was_full {
                let growth = if self.afar.has_been_large { self.window / LONG_GROWTH } else { self.window };
                self.window = (self.window + growth.min(LONG_GROWTH_MAX)).min(WINDOW_MAX);
            }
            return;
        }
        // What so few bytes lose, they do not lose because they are too many; nor does a half of a window that loses as much as the
        // whole. (Of one that was more than twice too large, a half is too large as well.)
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

    /// The reader misses so many bytes that were sent once, and stood at `place`: a number, and so many fragments of the next one.
    pub(super) fn note_lost(&mut self, place: (SequenceNumber, u32), len: u64) {
        // What was sent with another window says nothing about this one, however late it comes to light.
        if place > self.afar.from_place {
            self.afar.lost += len;
        }
    }

    /// Whether a HEARTBEAT should follow what has been sent.
    pub(super) fn wants_probe(&self) -> bool {
        if self.is_long() {
            return self.sent - self.asked_up_to.max(self.settled) >= self.window / ASKS;
        }
        self.probe.is_none() && self.under_way() >= self.window / 4
    }

    /// Whether the window is full and nobody has been asked.
    pub(super) fn is_stuck(&self) -> bool {
        self.probe.is_none() && !self.is_open()
    }

    /// A HEARTBEAT that is to be answered is laid out. While the answer to an earlier one is awaited, which may be lost,
    /// it counts only once the window is full. It stands behind `place`: a number, and so many fragments of the next one.
    pub(super) fn note_heartbeat(&mut self, now: Instant, place: (SequenceNumber, u32)) {
        self.afar.place = place;
        let before = self.asked.replace(now);
        let answer_max = ANSWER_MAX.max(self.round_trip.scale(2, 1));
        let behind = if before.is_some_and(|before| now.since(before) < answer_max) { self.awaited } else { 0 };
        self.awaited = behind.saturating_add(1);
        self.asked_up_to = self.sent;
        if self.is_long() && self.afar.asked.len() < ASKED_MAX {
            self.afar.asked.push_back((now, self.sent));
        }
        let goes_on = self.is_open() && !self.is_due(now);
        match &mut self.probe {
            _ if self.sent == self.settled => {}
            None => self.probe = Some(Probe { position: self.sent, at: now, first_at: now, count: 1, behind }),
            Some(_) if goes_on => {}
            // The answer may be that to the first one.
            Some(probe) => *probe = Probe { at: now, count: probe.count + 1, behind: 0, ..*probe },
        }
    }

    /// How long the reader's answers take on their way, as far as is known.
    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// How long answers take at most, if nothing holds them up; zero as long as nothing is known.
    pub(super) fn note_way(&mut self, way: Duration) {
        self.way = way;
    }

    /// The reader has spoken. `shortest`: what answers took at least, as far as is known. What comes much sooner after a
    /// HEARTBEAT than that answers an earlier one.
    pub(super) fn note_answer(&mut self, now: Instant, shortest: Duration) {
        if self.is_long() {
            return self.note_answer_from_afar(now);
        }
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
        self.window = self.window.max(self.least());
    }

    /// The reader of a long way has spoken. It answers what it could have heard of by then; if it answers something earlier, the
    /// rest is a moment behind.
    fn note_answer_from_afar(&mut self, now: Instant) {
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

    /// Of the HEARTBEATs behind the one that was answered, the last one is awaited next.
    fn await_last(&mut self) {
        if let Some(at) = self.asked.filter(|_| self.asked_up_to > self.settled) {
            let behind = self.awaited.saturating_sub(1);
            self.probe = Some(Probe { position: self.asked_up_to, at, first_at: at, count: 1, behind });
        }
    }

    /// How long an answer took. When it was asked for again nobody knows which time is answered: the wait for a HEARTBEAT that
    /// was lost must not count, or each wait would make the next one longer.
    fn sample(&self, now: Instant, probe: Probe) -> Duration {
        let since_first = now.since(probe.first_at);
        if probe.count <= 1 || self.round_trip == Duration::ZERO {
            return since_first;
        }
        now.since(probe.at).max(self.round_trip.min(since_first))
    }

    /// The reader has everything that was ever sent, whichever HEARTBEAT this answers: nothing is under way.
    pub(super) fn note_all_received(&mut self) {
        self.settled = self.sent;
        self.probe = None;
        self.marks.clear();
        self.afar.asked.clear();
        self.awaited = 0;
    }

    /// The smallest window. A reader on this host that takes milliseconds to answer does so because it wants to, as Cyclone DDS
    /// does while a sample is incomplete: the less it is sent for each answer, the longer everything takes.
    fn least(&self) -> u64 {
        self.usual_least().min(self.again.limit)
    }

    fn usual_least(&self) -> u64 {
        if self.round_trip >= SLOW_ANSWER { self.window_slow } else { self.window_min }
    }

    /// Whether the smallest window has become smaller than usual.
    pub(super) fn is_squeezed(&self) -> bool {
        self.again.limit < u64::MAX
    }

    /// It is known what has become of so many fragments that were sent again: so many were lost once more.
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
            // What came through is what there was room for.
            let window = self.window.min(least);
            self.window = (window * (sent - lost) / sent).max(window / 4).max(WINDOW_FLOOR);
            self.again.limit = self.window;
        } else if self.is_squeezed() {
            let grown = least + (least / if 8 * lost <= sent { 2 } else { 4 }).max(1);
            self.again.limit = if grown < self.usual_least() { grown } else { u64::MAX };
        }
    }

    /// The reader misses some of what was sent.
    pub(super) fn note_loss(&mut self) {
        if self.is_long() {
            return;
        }
        // What is under way was sent with the old window: it is no news if some of that is lost, too.
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

    /// When [`Flow::is_overdue`] has to be looked at, if an answer is awaited.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let probe = self.probe?;
        let least = if self.is_prompt { PROMPT_PATIENCE } else { PATIENCE };
        let most = FIRST_PATIENCE_MAX.max(self.way.min(LONG_WAY_MAX).scale(3, 2));
        let patience = self.from_last.scale(2, 1).clamp(least, most);
        probe.at.after(patience.scale(1 << (probe.count.clamp(1, self.probes_max()) - 1), 1))
    }

    fn probes_max(&self) -> u32 {
        if self.is_prompt { PROMPT_PROBES_MAX } else { PROBES_MAX }
    }

    /// Whether an answer does not come. `true`: ask again. After the last time the reader is not waited for any more, and the
    /// window is open.
    pub(super) fn is_overdue(&mut self, now: Instant) -> bool {
        if !self.is_due(now) {
            return false;
        }
        if self.probe.is_some_and(|probe| probe.count < self.probes_max()) {
            return true;
        }
        self.probe = None;
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

    /// Sends datagrams of 10 KiB while that is allowed; how many.
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
        // Marks are no closer than a sixteenth of a window, and not more than that many.
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
        // The HEARTBEAT stood behind the third one, and nothing was lost.
        flow.note_answer(at(0), Duration::ZERO);
        assert_eq!(fill(&mut flow), 4);
        // Of two answers to one HEARTBEAT the second says nothing.
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
        // By chance a half is lost now and then, and a third always.
        (0..100).for_each(|_| flow.note_sent_again(30, 15));
        assert_eq!((flow.least(), flow.is_squeezed()), (WINDOW_MIN, false));
        // Of 48 datagrams 11 come through.
        let mut flow = Flow::new(WINDOW_MIN as usize, false, false);
        flow.note_sent_again(48, 37);
        assert_eq!((flow.window, flow.least()), (WINDOW_MIN / 4, WINDOW_MIN / 4));
        (0..20).for_each(|_| flow.note_sent_again(40, 40));
        assert_eq!((flow.window, flow.least()), (WINDOW_FLOOR, WINDOW_FLOOR));
        flow.note_sent(1300);
        assert!(!flow.is_open(), "one datagram at a time");
        // So few are a judgement when only few are under way.
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
        // On a way of 60 ms what comes after 20 answers something earlier.
        flow.note_answer(at(20), Duration::from_millis(60));
        assert!(!flow.is_open());
        flow.note_answer(at(60), Duration::from_secs(4));
        assert!(flow.is_open());
    }

    /// Sends a number of bytes to a reader that answers like Cyclone DDS while a sample is incomplete: a HEARTBEAT within
    /// 10 ms of its last answer is left until another one comes, or for 100 ms. Returns how long that takes.
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
        // The second answer comes late: the reader was busy. It lost something, too, so that the window stays as it is.
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
        // The HEARTBEAT that is awaited stood behind the third datagram.
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

    /// A window to a reader whose answers take 60 ms.
    fn far() -> Flow {
        let mut flow = Flow::new(128 * KIB, false, true);
        flow.note_way(Duration::from_millis(60));
        flow
    }

    /// The window is used up and judged, having lost this share, in thousandths.
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
        // Of one that is much too large a half is too large as well, and that is no sign of the network.
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
        // The answer to the second one was lost.
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
