//! What a reliable reader knows of one reliable writer's numbers (RTPS 2.5, 8.4.12.2).
//!
//! Everything below the window's first number has been delivered, is lost or is irrelevant, and is acknowledged. A GAP or
//! HEARTBEAT may declare 2^60 numbers irrelevant at once: such a range is two numbers, never a loop.
//!
//! Whose word counts: numbers are left out because a GAP or HEARTBEAT says so, and anybody who can send a datagram can send
//! that in a writer's name. Without DDS Security a reader cannot know better, but it can see to it that the writer, as long as
//! it is there, has the last word. A reach of more than [`JUMP_MAX`] numbers must stand for a second in which the writer,
//! which is asked, does not speak of the old ones. Fewer are left out at once, and taken back when the writer says twice that
//! it has not come so far. What is lost all the same: samples that a writer has let go because such a reader had seemed to
//! acknowledge them; and whoever sends whole samples in a writer's name is believed.
//!
//! Where it begins:
//!
//! - A reader that wants history begins at 1 and delivers nothing above a hole before the first HEARTBEAT has said where
//!   the writer's history begins; newer samples that come earlier are kept, or asked for again.
//! - A volatile reader begins after the last number of the first HEARTBEAT, or with the first sample if that comes before
//!   it, as Cyclone DDS does: what was written before is history, which it must not get. A writer that is known to answer
//!   with a GAP for its history ([`WriterProxyConfig::gaps_history`](super::WriterProxyConfig::gaps_history)) draws the
//!   line itself, and nothing it wrote since its own match is lost.

use super::asking::Asking;
use super::assembly::Assemblies;
use super::config::ReaderConfig;
use super::event::LossCause;
use super::losses::{Extent, distance};
use super::sink::Sink;
use super::window::{Front, Window};
use crate::history::ReceivedChange;
use crate::types::{Duration, Guid, Instant, Now, SequenceNumber};
use crate::wire::{Gap, Heartbeat, SET_BITS_MAX, SequenceNumberSet};

/// Where a volatile reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Known: the window's first number counts.
    Known,
    /// After the first HEARTBEAT's last number, or with the first sample.
    AfterHistory,
    /// With the first HEARTBEAT's first number; until then it is as if that were 1.
    FirstAnnounced,
}

/// Whether a number can be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Yes.
    Fits,
    /// It was here before.
    Duplicate,
    /// Not now: it lies too far ahead, or there is no room. It is asked for again.
    TooFar,
    /// So far from where the writer was that the next one has to agree.
    Doubtful,
}

/// Numbers `start .. end` that will never come.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: SequenceNumber,
    end: SequenceNumber,
}

/// Numbers that were left out on the word of the writer, without a sample after them.
#[derive(Debug, Clone, Copy)]
struct Skipped {
    from: SequenceNumber,
    to: SequenceNumber,
    /// Where the ledger began before.
    first: SequenceNumber,
    lost: u64,
    irrelevant: u64,
}

impl Range {
    fn contains(self, number: SequenceNumber) -> bool {
        self.start <= number && number < self.end
    }
}

/// The state.
#[derive(Debug)]
pub(super) struct Reliable {
    writer: Guid,
    window: Window,
    start: Start,
    /// Whether a number that the writer no longer has is a loss. To a volatile reader it may be history, until something
    /// has been delivered: a HEARTBEAT for several readers begins with what the eldest of them is to get.
    begun: bool,
    /// Below this the writer has nothing any more: what is missing there is lost.
    floor: SequenceNumber,
    /// A range that reaches beyond the window.
    gap: Option<Range>,
    /// The last number that a HEARTBEAT has announced.
    announced: SequenceNumber,
    last_heartbeat: Option<i32>,
    /// The last number that the first HEARTBEAT has announced: up to there reaches what was written before.
    history_end: Option<SequenceNumber>,
    /// The history had no room for the first number.
    refused: bool,
    /// The first number that counts in the ledger.
    first: SequenceNumber,
    /// The numbers before the window's first one that were left out on the writer's word alone.
    skipped: Option<Skipped>,
    /// Since when somebody has said that the writer is far ahead, and nothing has spoken against it.
    doubted_since: Option<Instant>,
    /// Below this so many losses were told and taken back: they are not told again.
    told: (SequenceNumber, u64),
    /// When the writer denied last to have said what led to `skipped`.
    denied_at: Option<Instant>,
    pub(super) asking: Asking,
}

impl Reliable {
    pub(super) fn new(now: Instant, writer: Guid, gaps_history: bool, config: &ReaderConfig) -> Self {
        let start = match (config.wants_history, gaps_history) {
            (true, _) => Start::Known,
            (false, true) => Start::FirstAnnounced,
            (false, false) => Start::AfterHistory,
        };
        Self {
            writer,
            window: Window::new(SequenceNumber::FIRST),
            start,
            begun: config.wants_history,
            floor: SequenceNumber::FIRST,
            gap: None,
            announced: SequenceNumber::ZERO,
            last_heartbeat: None,
            history_end: None,
            refused: false,
            first: SequenceNumber::FIRST,
            skipped: None,
            doubted_since: None,
            told: (SequenceNumber::ZERO, 0),
            denied_at: None,
            asking: Asking::new(now, config),
        }
    }

    /// The first number that has not been delivered, lost or declared irrelevant.
    pub(super) fn next(&self) -> SequenceNumber {
        self.window.next()
    }

    /// Whether all that the writer had when it was first heard has been delivered.
    pub(super) fn has_history(&self) -> bool {
        self.history_end.is_some_and(|end| end < self.window.next())
    }

    /// Whether a number that is missing is a loss.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether a HEARTBEAT has announced the number.
    pub(super) fn is_announced(&self, number: SequenceNumber) -> bool {
        number <= self.announced
    }

    /// Whether a change `number` with a payload of `len` bytes can be taken in.
    pub(super) fn fit(&mut self, number: SequenceNumber, len: usize, config: &ReaderConfig) -> Fit {
        if self.start == Start::AfterHistory {
            self.window.jump(number);
            self.floor = number;
            self.first = number;
            self.start = Start::Known;
        }
        if number < self.window.next() {
            return Fit::Duplicate;
        }
        if !self.window.is_missing(number) {
            return Fit::Duplicate;
        }
        if number == self.window.next() {
            return Fit::Fits;
        }
        // While the history is full nothing is kept ahead: that would be a second, hidden history.
        if self.refused || !self.window.has_room(number, config.reorder_max, len, config.reorder_bytes_max) {
            return Fit::TooFar;
        }
        Fit::Fits
    }

    /// Takes in a number that fits; `None`: there is nothing to deliver for it.
    pub(super) fn accept(
        &mut self,
        now: Now,
        number: SequenceNumber,
        change: Option<ReceivedChange>,
        sink: &mut Sink<'_>,
        config: &ReaderConfig,
    ) {
        self.asking.progress(config);
        if number != self.window.next() {
            match change {
                Some(change) => self.window.hold(number, change),
                None => self.window.spend(number),
            }
            self.asking.schedule_retry(now.instant);
            return;
        }
        self.window.skip();
        self.begun = true;
        if let Some(change) = change {
            self.deliver(now, change, sink);
        }
        self.drain(now, sink);
        self.ask_on(now.instant);
    }

    /// The number before the window's first one goes to the history, or comes back to the window.
    fn deliver(&mut self, now: Now, change: ReceivedChange, sink: &mut Sink<'_>) {
        match sink.deliver(now, change, self.refused) {
            Ok(()) => self.refused = false,
            Err(change) => {
                self.window.put_back(change);
                self.refused = true;
            }
        }
    }

    /// Delivers and passes over what can be, until a number is missing or the history is full.
    fn drain(&mut self, now: Now, sink: &mut Sink<'_>) {
        if self.window.is_empty() && self.gap.is_none() && self.floor <= self.window.next() {
            return;
        }
        let mut skipped = Skipped::at(self.window.next(), self.first);
        while !self.refused {
            let next = self.window.next();
            match self.window.pop() {
                Front::Spent => {
                    self.note_skipped(skipped, next, sink);
                    skipped = Skipped::at(self.window.next(), self.first);
                }
                Front::Change(change) => {
                    self.note_skipped(skipped, next, sink);
                    self.deliver(now, change, sink);
                    skipped = Skipped::at(self.window.next(), self.first);
                }
                Front::Passed => self.leave(next, false, &mut skipped),
                Front::Missing if self.is_in_gap(next) => {
                    self.window.skip();
                    self.leave(next, false, &mut skipped);
                }
                Front::Missing if next < self.floor => {
                    self.window.skip();
                    self.leave(next, true, &mut skipped);
                }
                Front::Empty => {
                    let is_lost = match self.gap {
                        Some(gap) if gap.contains(next) => {
                            self.window.jump(gap.end);
                            false
                        }
                        _ if next >= self.floor => break,
                        Some(gap) if next < gap.start && gap.start < self.floor => {
                            self.window.jump(gap.start);
                            true
                        }
                        _ => {
                            self.window.jump(self.floor);
                            true
                        }
                    };
                    self.leave(next, is_lost, &mut skipped);
                }
                Front::Missing => break,
            }
        }
        if self.gap.is_some_and(|gap| gap.end <= self.window.next()) {
            self.gap = None;
        }
        self.note_skipped(skipped, self.window.next(), sink);
    }

    /// The numbers from `from` to the window's first one are left out. Before anything else has come they do not count: the
    /// ledger begins after them.
    fn leave(&mut self, from: SequenceNumber, is_lost: bool, skipped: &mut Skipped) {
        let count = distance(from, self.window.next());
        if self.first == from && !(is_lost && self.begun) {
            self.first = self.window.next();
        } else if is_lost && self.begun {
            skipped.lost = skipped.lost.saturating_add(count);
        } else {
            skipped.irrelevant = skipped.irrelevant.saturating_add(count);
        }
    }

    /// Counts what was left out until `to`, and remembers it as long as nothing has come after it.
    fn note_skipped(&mut self, mut skipped: Skipped, to: SequenceNumber, sink: &mut Sink<'_>) {
        skipped.to = to;
        if skipped.from >= to {
            return;
        }
        sink.tally.lose(skipped.lost, LossCause::NeverArrived);
        sink.tally.pass(skipped.irrelevant);
        let told = if skipped.from < self.told.0 { self.told.1.min(skipped.lost) } else { 0 };
        self.told.1 -= told;
        sink.announce_lost(self.writer, skipped.lost - told, LossCause::NeverArrived);
        self.skipped = Some(match self.skipped {
            Some(before) if before.to == skipped.from => Skipped {
                to,
                lost: before.lost.saturating_add(skipped.lost),
                irrelevant: before.irrelevant.saturating_add(skipped.irrelevant),
                ..before
            },
            _ => skipped,
        });
    }

    /// Whether a writer may say that its numbers reach as far as this. What is further away than any writer gets between two
    /// of its HEARTBEATs must stand for a while without the writer saying otherwise, and the writer is asked.
    pub(super) fn believes(&mut self, now: Instant, reach: SequenceNumber) -> bool {
        if self.asking.is_preemptive() || distance(self.known_end(), reach) <= JUMP_MAX {
            // It has been heard where it was.
            self.doubted_since = None;
            return true;
        }
        let since = *self.doubted_since.get_or_insert(now);
        if now.since(since) >= DOUBT {
            self.doubted_since = None;
            return true;
        }
        self.asking.doubt(now);
        false
    }

    /// A HEARTBEAT says that the writer has not written what it is said to have left out: if it says so twice, the reader
    /// goes back. `true`: it has gone back.
    fn hear_denial(&mut self, now: Instant, heartbeat: &Heartbeat, sink: &mut Sink<'_>, config: &ReaderConfig) -> bool {
        let next = self.window.next();
        let Some(skipped) = self.skipped.filter(|skipped| skipped.to == next && self.window.is_empty()) else {
            return false;
        };
        if heartbeat.last_sn.next() >= next || self.refused {
            return false;
        }
        // A single one may have been overtaken on its way.
        match self.denied_at {
            Some(at) if now.since(at) >= config.nack_period => {}
            Some(_) => return false,
            None => {
                self.denied_at = Some(now);
                self.asking.doubt(now);
                return false;
            }
        }
        self.window.go_back(skipped.from);
        (self.floor, self.announced) = (skipped.from, skipped.from.previous());
        (self.gap, self.skipped, self.denied_at) = (None, None, None);
        self.first = skipped.first;
        self.told = (skipped.to, skipped.lost);
        sink.tally.take_back(skipped.lost, skipped.irrelevant);
        sink.counters.retracted += 1;
        true
    }

    fn is_in_gap(&self, number: SequenceNumber) -> bool {
        self.gap.is_some_and(|gap| gap.contains(number))
    }

    /// If all that was asked for has come and more is known to be missing, that is asked for at once.
    fn ask_on(&mut self, now: Instant) {
        let Some((through, _)) = self.asking.asked else { return };
        if self.window.next() > through {
            self.asking.asked = None;
            if self.is_announced(self.window.next()) && !self.refused {
                self.asking.schedule(Some(now));
            }
        }
    }

    /// Tries the history again. `true`: something was delivered, which the writer should learn.
    pub(super) fn resume(&mut self, now: Now, sink: &mut Sink<'_>) -> bool {
        let before = self.window.next();
        if let Front::Change(change) = self.window.pop() {
            self.deliver(now, change, sink);
        } else {
            self.refused = false;
        }
        self.drain(now, sink);
        let moved = self.window.next() > before;
        if moved {
            self.asking.answer(Some(now.instant));
        }
        moved
    }

    /// A GAP.
    pub(super) fn handle_gap(&mut self, now: Now, gap: &Gap, sink: &mut Sink<'_>, config: &ReaderConfig) {
        let base = gap.gap_list.base();
        if self.start == Start::AfterHistory {
            // The writer draws the line between its history and what this reader is to get.
            if gap.gap_start > SequenceNumber::FIRST {
                return;
            }
            self.start = Start::Known;
        }
        self.asking.progress(config);
        self.pass(gap.gap_start, base, config);
        let mut run: Option<Range> = None;
        for number in gap.gap_list.iter() {
            match &mut run {
                Some(run) if run.end == number => run.end = number.next(),
                _ => {
                    run.into_iter().for_each(|run| self.pass(run.start, run.end, config));
                    run = Some(Range { start: number, end: number.next() });
                }
            }
        }
        run.into_iter().for_each(|run| self.pass(run.start, run.end, config));
        self.drain(now, sink);
        self.ask_on(now.instant);
    }

    /// Declares `start .. end` irrelevant.
    fn pass(&mut self, start: SequenceNumber, end: SequenceNumber, config: &ReaderConfig) {
        let next = self.window.next();
        if end <= next || end <= start {
            return;
        }
        // What the window knows about is passed in place; the rest is remembered as a range if it follows on that, and
        // forgotten if not: it will be asked for, and declared irrelevant again.
        let window_end = self.window.end();
        if start <= window_end {
            self.window.pass(start, end.min(window_end), config.reorder_max);
            let rest = Range { start: window_end, end };
            if end > window_end {
                self.remember(rest);
            }
        } else {
            self.window.pass(start, end, config.reorder_max);
            let window_end = self.window.end();
            if window_end > start && end > window_end {
                self.remember(Range { start: window_end, end });
            }
        }
    }

    /// One range is remembered: the union of two that touch, else the lower one.
    fn remember(&mut self, range: Range) {
        self.gap = Some(match self.gap {
            Some(known) if range.start <= known.end && known.start <= range.end => {
                Range { start: known.start.min(range.start), end: known.end.max(range.end) }
            }
            Some(known) if known.start <= range.start => known,
            _ => range,
        });
    }

    /// A HEARTBEAT. `false`: it was here before.
    pub(super) fn handle_heartbeat(
        &mut self,
        now: Now,
        heartbeat: &Heartbeat,
        sink: &mut Sink<'_>,
        config: &ReaderConfig,
    ) -> bool {
        // Only the very same one is a duplicate. Later ones with a lower count come from writers that count per reader, and
        // answering an old one does no harm.
        if self.last_heartbeat.replace(heartbeat.count) == Some(heartbeat.count) {
            return false;
        }
        self.hear_denial(now.instant, heartbeat, sink, config);
        let first = self.asking.heard();
        let begin = match self.start {
            Start::Known => heartbeat.first_sn,
            Start::FirstAnnounced => heartbeat.first_sn,
            Start::AfterHistory => heartbeat.last_sn.next(),
        };
        if first || self.start != Start::Known {
            // What lies before it was never promised: it is not lost.
            self.pass(SequenceNumber::FIRST, begin, config);
            self.start = Start::Known;
        }
        self.history_end.get_or_insert(heartbeat.last_sn);
        self.floor = self.floor.max(begin);
        self.announced = self.announced.max(heartbeat.last_sn);
        self.drain(now, sink);
        let at = now.instant.after(config.heartbeat_response_delay);
        if !heartbeat.is_final {
            self.asking.answer(at);
        } else if self.is_something_missing() {
            self.asking.schedule(at);
        }
        true
    }

    /// The last number of which anything is known.
    fn known_end(&self) -> SequenceNumber {
        self.announced.max(self.window.end().previous())
    }

    /// How many numbers are known of that have not been delivered: lost, if the writer goes now. Of a writer of which
    /// nothing was delivered, what is missing may be history.
    pub(super) fn outstanding(&self) -> u64 {
        let held = self.window.held();
        if !self.begun {
            return held;
        }
        let extent = self.extent();
        let known = distance(extent.next, extent.last.next());
        let spent = extent.received_ahead - extent.waiting;
        known.saturating_sub(extent.irrelevant_ahead).saturating_sub(spent)
    }

    /// How far it has come.
    pub(super) fn extent(&self) -> Extent {
        let (_, irrelevant, spent) = self.window.census();
        let (next, end) = (self.window.next(), self.window.end());
        let last = if self.start == Start::Known { self.known_end() } else { end.previous() };
        let gap = self.gap.map_or(0, |gap| distance(gap.start.max(end), gap.end.min(last.next())));
        let waiting = self.window.held();
        Extent {
            first: self.first,
            next,
            last,
            received_ahead: waiting + spent,
            irrelevant_ahead: irrelevant.saturating_add(gap),
            waiting,
        }
    }

    /// Whether a number is known to be missing.
    pub(super) fn is_something_missing(&self) -> bool {
        !self.refused && self.start == Start::Known && self.window.next() <= self.known_end()
    }

    /// What an ACKNACK says: acknowledged below the base, and missing. Samples of which fragments are here are asked for by
    /// fragment; what has been asked for just now is left out.
    pub(super) fn reader_state(
        &mut self,
        now: Instant,
        assemblies: &Assemblies,
        config: &ReaderConfig,
    ) -> SequenceNumberSet {
        let base = self.window.next();
        let mut set = SequenceNumberSet::empty(base);
        if !self.is_something_missing() {
            return set;
        }
        let end = self.known_end().min(base.plus(i64::from(SET_BITS_MAX) - 1));
        let mut number = match self.asking.asked {
            Some((through, at)) if now.since(at) < config.nack_suppression => base.max(through.next()),
            _ => base,
        };
        while number <= end {
            if self.window.is_missing(number) && !self.is_in_gap(number) && !assemblies.contains(number) {
                set.insert(number);
                self.asking.asked = Some((number, now));
            }
            if number == SequenceNumber::MAX {
                break;
            }
            number = number.next();
        }
        set
    }
}

impl Skipped {
    /// Nothing yet, from `from` on.
    const fn at(from: SequenceNumber, first: SequenceNumber) -> Self {
        Self { from, to: from, first, lost: 0, irrelevant: 0 }
    }
}

/// How far a writer may have come between two signs of it to be believed at once: a million samples, which is more than any
/// writer sends in the tenth of a second between two of its HEARTBEATs.
pub(super) const JUMP_MAX: u64 = 1 << 20;

/// How long it must stand that a writer has come further. A writer that is alive and is not there answers sooner: it is
/// asked at once.
const DOUBT: Duration = Duration::from_secs(1);
