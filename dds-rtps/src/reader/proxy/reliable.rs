//! What a reliable reader knows of one reliable writer's numbers (RTPS 2.5, 8.4.12.2).
//!
//! Everything below the window's first number has been delivered, is lost or is irrelevant, and is acknowledged. A GAP or
//! HEARTBEAT may declare 2^60 numbers irrelevant at once: such a range is two numbers, never a loop.
//!
//! Whose word counts is in [`jumps`](crate::reader::proxy::plausibility).
//!
//! Where it begins:
//!
//! - A reader that wants history begins at 1 and delivers nothing above a hole before the first HEARTBEAT has said where
//!   the writer's history begins; newer samples that come earlier are kept, or asked for again.
//! - A volatile reader begins after the last number of the first HEARTBEAT, or with the first sample if that comes before
//!   it, as Cyclone DDS does: what was written before is history, which it must not get. A writer that is known to answer
//!   with a GAP for its history ([`WriterProxyConfig::gaps_history`](crate::reader::WriterProxyConfig::gaps_history)) draws the
//!   line itself, and nothing it wrote since its own match is lost. Ours draw it for each reader by name
//!   ([`WriterProxyConfig::names_beginning`](crate::reader::WriterProxyConfig::names_beginning)): before that a reader delivers nothing. It may hear what others
//!   of its participant are sent long before its writer knows of it, and what it misses of that nobody repairs.

use crate::history::ReceivedChange;
use crate::reader::assembly::Assemblies;
use crate::reader::config::{ReaderConfig, WriterProxyConfig};
use crate::reader::delivery::Sink;
use crate::reader::event::LossCause;
use crate::reader::ledger::{Extent, distance};
use crate::reader::proxy::acknack::Asking;
use crate::reader::proxy::plausibility::JUMP_MAX;
use crate::reader::proxy::window::{Front, Window};
use crate::types::{EntityId, Guid, Instant, Now, SequenceNumber};
use crate::wire::{Gap, Heartbeat, HeartbeatFrag, SET_BITS_MAX, SequenceNumberSet};

/// Where a volatile reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Known: the window's first number counts.
    Known,
    /// After the first HEARTBEAT's last number, or with the first sample.
    AfterHistory,
    /// With the first HEARTBEAT's first number; until then it is as if that were 1.
    FirstAnnounced,
    /// With the first number of the first HEARTBEAT that is addressed to this reader; until then nothing is delivered.
    Named,
}

/// Whether a number can be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
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
pub(crate) struct Range {
    start: SequenceNumber,
    end: SequenceNumber,
}

/// Numbers that were left out on the word of the writer, without a sample after them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Skipped {
    pub(crate) from: SequenceNumber,
    pub(crate) to: SequenceNumber,
    /// Where the ledger began before.
    pub(crate) first: SequenceNumber,
    pub(crate) lost: u64,
    pub(crate) irrelevant: u64,
    /// How many numbers left the ledger's row, because the writer was believed to have gone on elsewhere.
    pub(crate) known_before: u64,
}

impl Range {
    fn contains(self, number: SequenceNumber) -> bool {
        self.start <= number && number < self.end
    }
}

/// The state.
#[derive(Debug)]
pub(crate) struct Reliable {
    writer: Guid,
    pub(crate) window: Window,
    start: Start,
    /// Whether a number that the writer no longer has is a loss. To a volatile reader it may be history, until something
    /// has been delivered: a HEARTBEAT for several readers begins with what the eldest of them is to get.
    begun: bool,
    /// Below this the writer has nothing any more: what is missing there is lost.
    pub(crate) floor: SequenceNumber,
    /// A range that reaches beyond the window.
    pub(crate) gap: Option<Range>,
    /// The last number that a HEARTBEAT has announced.
    pub(crate) announced: SequenceNumber,
    last_heartbeat: Option<i32>,
    last_heartbeat_frag: Option<HeartbeatFrag>,
    /// The last number that the first HEARTBEAT has announced: up to there reaches what was written before.
    pub(crate) history_end: Option<SequenceNumber>,
    /// The history had no room for the first number.
    pub(crate) refused: bool,
    /// The first number that counts in the ledger.
    pub(crate) first: SequenceNumber,
    /// Where it begins was said by a sample, and no HEARTBEAT has said that the writer has come so far.
    pub(crate) is_unconfirmed: bool,
    /// The numbers before the window's first one that were left out on the writer's word alone.
    pub(crate) skipped: Option<Skipped>,
    /// Since when somebody has said that the writer is far ahead, and nothing has spoken against it.
    pub(crate) doubted_since: Option<Instant>,
    /// Below this so many losses were told and taken back: they are not told again.
    pub(crate) told: (SequenceNumber, u64),
    /// When the writer denied last to have said what led to `skipped`.
    pub(crate) denied_at: Option<Instant>,
    pub(crate) asking: Asking,
}

impl Reliable {
    pub(crate) fn new(now: Instant, writer: &WriterProxyConfig, config: &ReaderConfig) -> Self {
        let start = match config.wants_history {
            true => Start::Known,
            false if writer.names_beginning => Start::Named,
            false if writer.gaps_history => Start::FirstAnnounced,
            false => Start::AfterHistory,
        };
        Self {
            writer: writer.guid,
            window: Window::new(SequenceNumber::FIRST),
            start,
            begun: config.wants_history,
            floor: SequenceNumber::FIRST,
            gap: None,
            announced: SequenceNumber::ZERO,
            last_heartbeat: None,
            last_heartbeat_frag: None,
            history_end: None,
            refused: false,
            first: SequenceNumber::FIRST,
            is_unconfirmed: false,
            skipped: None,
            doubted_since: None,
            told: (SequenceNumber::ZERO, 0),
            denied_at: None,
            asking: Asking::new(now, config),
        }
    }

    /// The first number that has not been delivered, lost or declared irrelevant.
    pub(crate) fn next(&self) -> SequenceNumber {
        self.window.next()
    }

    /// Whether all that the writer had when it was first heard has been delivered.
    pub(crate) fn has_history(&self) -> bool {
        self.history_end.is_some_and(|end| end < self.window.next())
    }

    /// Whether a number that is missing is a loss.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether a HEARTBEAT has announced the number.
    pub(crate) fn is_announced(&self, number: SequenceNumber) -> bool {
        number <= self.announced
    }

    /// Whether the writer has yet to say where this reader begins. What comes before is kept, and counts once it has.
    pub(crate) fn awaits_beginning(&self) -> bool {
        self.start == Start::Named
    }

    /// Whether the writer has yet to say where this reader begins, and does not now: it speaks to `reader`.
    fn awaits_name(&self, reader: EntityId, config: &ReaderConfig) -> bool {
        self.start == Start::Named && reader != config.guid.entity_id
    }

    /// Something was not taken in that the writer will have to send again, if it is for this reader.
    pub(crate) fn note_postponed(&mut self, now: Instant) {
        if self.start != Start::Named {
            self.asking.schedule_retry(now);
        }
    }

    /// Whether a change `number` with a payload of `len` bytes can be taken in.
    pub(crate) fn fit(&mut self, number: SequenceNumber, len: usize, config: &ReaderConfig) -> Fit {
        if self.start == Start::Named {
            if self.window.is_empty() {
                self.window.begin_at(number, 0);
                self.first = number;
            }
            let fits = self.window.is_missing(number)
                && self.window.has_room(number, config.reorder_max, len, config.reorder_bytes_max);
            return if fits && !config.presents() { Fit::Fits } else { Fit::TooFar };
        }
        if self.start == Start::AfterHistory {
            self.window.jump(number);
            self.floor = number;
            self.first = number;
            self.start = Start::Known;
            self.is_unconfirmed = true;
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
    pub(crate) fn accept(
        &mut self,
        now: Now,
        number: SequenceNumber,
        change: Option<ReceivedChange>,
        sink: &mut Sink<'_>,
        config: &ReaderConfig,
    ) {
        self.asking.progress(config);
        self.asking.note_received(now.instant, number);
        if number != self.window.next() || self.awaits_beginning() {
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
    /// ledger begins after them. Of more than [`JUMP_MAX`] only that many count, and the row begins after them: nobody can
    /// tell what lies between from numbers that never were.
    fn leave(&mut self, from: SequenceNumber, is_lost: bool, skipped: &mut Skipped) {
        let next = self.window.next();
        let count = distance(from, next).min(JUMP_MAX);
        if self.first == from && !(is_lost && self.begun) {
            self.first = next;
            return;
        }
        if distance(from, next) > JUMP_MAX {
            skipped.known_before += distance(self.first, from) + JUMP_MAX;
            self.first = next;
        }
        if is_lost && self.begun {
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
        sink.tally.begin_again(skipped.known_before);
        let told = if skipped.from < self.told.0 { self.told.1.min(skipped.lost) } else { 0 };
        self.told.1 -= told;
        sink.announce_lost(self.writer, skipped.lost - told, LossCause::NeverArrived);
        self.skipped = Some(match self.skipped {
            Some(before) if before.to == skipped.from => Skipped {
                to,
                lost: before.lost.saturating_add(skipped.lost),
                irrelevant: before.irrelevant.saturating_add(skipped.irrelevant),
                known_before: before.known_before.saturating_add(skipped.known_before),
                ..before
            },
            _ => skipped,
        });
    }

    fn is_in_gap(&self, number: SequenceNumber) -> bool {
        self.gap.is_some_and(|gap| gap.contains(number))
    }

    /// If all that was asked for has come and more is known to be missing, that is asked for at once.
    fn ask_on(&mut self, now: Instant) {
        let next = self.window.next();
        if self.asking.take_answered(next) && self.is_announced(next) && !self.refused {
            self.asking.schedule(Some(now));
        }
    }

    /// Tries the history again. `true`: something was delivered, which the writer should learn.
    pub(crate) fn resume(&mut self, now: Now, sink: &mut Sink<'_>) -> bool {
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
    pub(crate) fn handle_gap(&mut self, now: Now, gap: &Gap, sink: &mut Sink<'_>, config: &ReaderConfig) {
        let base = gap.gap_list.base();
        if self.start == Start::Named {
            return;
        }
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

    /// Whether a HEARTBEAT_FRAG is none that was here just before. As of HEARTBEATs, only the very same one is a duplicate.
    pub(crate) fn is_new(&mut self, heartbeat: &HeartbeatFrag) -> bool {
        self.last_heartbeat_frag.replace(heartbeat.clone()).as_ref() != Some(heartbeat)
    }

    /// A HEARTBEAT. `false`: it was here before.
    pub(crate) fn handle_heartbeat(
        &mut self,
        now: Now,
        heartbeat: &Heartbeat,
        sink: &mut Sink<'_>,
        config: &ReaderConfig,
    ) -> bool {
        let at = now.instant.after(config.heartbeat_response_delay);
        if self.awaits_name(heartbeat.reader_id, config) {
            // It is meant for others of this participant. Whoever is asked shows that he is still to be told.
            if !heartbeat.is_final {
                self.asking.answer(at);
            }
            return true;
        }
        // Only the very same one is a duplicate. Later ones with a lower count come from writers that count per reader, and
        // answering an old one does no harm.
        if self.last_heartbeat.replace(heartbeat.count) == Some(heartbeat.count) {
            return false;
        }
        self.hear_denial(now.instant, heartbeat, sink);
        let first = self.asking.heard();
        let begin = match self.start {
            Start::Known => heartbeat.first_sn,
            Start::FirstAnnounced | Start::Named => heartbeat.first_sn,
            Start::AfterHistory => heartbeat.last_sn.next(),
        };
        if self.start == Start::Named {
            self.window.begin_at(begin, config.reorder_max);
            self.first = begin;
            self.start = Start::Known;
            // Taken back, if the writer denies to have said that.
            self.skipped = Some(Skipped { to: begin, ..Skipped::at(SequenceNumber::FIRST, SequenceNumber::FIRST) });
        }
        if first || self.start != Start::Known {
            // What lies before it was never promised: it is not lost.
            self.pass(SequenceNumber::FIRST, begin, config);
            self.start = Start::Known;
        }
        self.history_end.get_or_insert(heartbeat.last_sn);
        self.floor = self.floor.max(begin);
        self.announced = self.announced.max(heartbeat.last_sn);
        self.drain(now, sink);
        if !heartbeat.is_final {
            self.asking.answer(at);
        } else if self.is_something_missing() {
            self.asking.schedule(at);
        }
        true
    }

    /// The last number of which anything is known.
    pub(crate) fn known_end(&self) -> SequenceNumber {
        self.announced.max(self.window.end().previous())
    }

    /// How many numbers are known of that have not been delivered: lost, if the writer goes now. Of a writer of which
    /// nothing was delivered, what is missing may be history.
    pub(crate) fn outstanding(&self) -> u64 {
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
    pub(crate) fn extent(&self) -> Extent {
        let (_, irrelevant, spent) = self.window.census();
        let (next, end) = (self.window.next(), self.window.end());
        let last = if self.start == Start::Known { self.known_end() } else { end.previous() };
        // What is announced further ahead does not count before it is near: it may never have been.
        let last = last.min(end.plus(JUMP_MAX as i64));
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
    pub(crate) fn is_something_missing(&self) -> bool {
        !self.refused && self.start == Start::Known && self.window.next() <= self.known_end()
    }

    /// What an ACKNACK says: acknowledged below the base, and missing. Samples of which fragments are here are asked for by
    /// fragment; what has been asked for just now is left out.
    pub(crate) fn reader_state(
        &mut self,
        now: Instant,
        assemblies: &Assemblies,
        config: &ReaderConfig,
    ) -> SequenceNumberSet {
        let base = if self.awaits_beginning() { SequenceNumber::FIRST } else { self.window.next() };
        let mut set = SequenceNumberSet::empty(base);
        if !self.is_something_missing() {
            return set;
        }
        let end = self.known_end().min(base.plus(i64::from(SET_BITS_MAX) - 1));
        let mut number = base;
        while number <= end {
            let is_wanted = self.window.is_missing(number) && !self.is_in_gap(number) && !assemblies.contains(number);
            if is_wanted && !self.asking.has_asked(now, number, config) {
                set.insert(number);
                self.asking.note_asked(now, number, config);
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
        Self { from, to: from, first, lost: 0, irrelevant: 0, known_before: 0 }
    }
}
