//! What a reliable reader knows of one reliable writer's numbers (RTPS 2.5, 8.4.12.2).
//!
//! Everything below the window's first number has been delivered, is lost or is irrelevant, and is acknowledged. A GAP or
//! HEARTBEAT may declare 2^60 numbers irrelevant at once: such a range is two numbers, never a loop.
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
use super::sink::Sink;
use super::window::{Front, Window};
use crate::history::ReceivedChange;
use crate::types::{Guid, Instant, Now, SequenceNumber};
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
}

/// Numbers `start .. end` that will never come.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: SequenceNumber,
    end: SequenceNumber,
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
                None => self.window.pass(number, number.next(), config.reorder_max),
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
        let mut lost: u64 = 0;
        while !self.refused {
            match self.window.pop() {
                Front::Passed => {}
                Front::Change(change) => self.deliver(now, change, sink),
                Front::Missing if self.is_in_gap(self.window.next()) => self.window.skip(),
                Front::Missing if self.window.next() < self.floor => {
                    lost += 1;
                    self.window.skip();
                }
                Front::Empty => {
                    let next = self.window.next();
                    match self.gap {
                        Some(gap) if gap.contains(next) => self.window.jump(gap.end),
                        _ if next >= self.floor => break,
                        Some(gap) if next < gap.start && gap.start < self.floor => {
                            lost = lost.saturating_add(distance(next, gap.start));
                            self.window.jump(gap.start);
                        }
                        _ => {
                            lost = lost.saturating_add(distance(next, self.floor));
                            self.window.jump(self.floor);
                        }
                    }
                }
                Front::Missing => break,
            }
        }
        if self.gap.is_some_and(|gap| gap.end <= self.window.next()) {
            self.gap = None;
        }
        if self.begun {
            sink.lost(self.writer, lost, LossCause::NeverArrived);
        }
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
        let (missing, held) = self.window.outstanding();
        if !self.begun {
            return held;
        }
        let end = self.window.end();
        let announced = distance(end, self.announced.next());
        let irrelevant = self.gap.map_or(0, |gap| distance(gap.start.max(end), gap.end.min(self.announced.next())));
        held + missing.saturating_add(announced - irrelevant.min(announced))
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

/// How many numbers lie in `from .. to`.
fn distance(from: SequenceNumber, to: SequenceNumber) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}
