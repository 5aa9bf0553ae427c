//! State of a reliable reader for one reliable writer (RTPS 2.5, 8.4.12.2).
//!
//! All numbers below the reorder window were delivered, are lost or irrelevant, and are acknowledged. A GAP or
//! HEARTBEAT may declare 2^60 numbers irrelevant: such a range is two numbers, never a loop.
//! [`plausibility`](crate::reader::proxy::plausibility) decides which announcements count.
//!
//! Where the stream begins:
//!
//! - A reader that requests history begins at 1. It delivers nothing above a hole before the first HEARTBEAT names the
//!   first available number. Samples that arrive earlier are kept, or requested again.
//! - A volatile reader must not get history. By default it begins after the last number of the first HEARTBEAT, or with
//!   the first sample if that arrives before, as Cyclone DDS does.
//! - A writer that separates its history
//!   ([`WriterProxyConfig::separates_history`](crate::reader::WriterProxyConfig::separates_history)) decides itself,
//!   and no sample written since its own match is lost.
//! - Our writers name the first relevant sequence number to each reader
//!   ([`WriterProxyConfig::names_first_relevant`](crate::reader::WriterProxyConfig::names_first_relevant)).

mod announcements;
mod unconfirmed;

use crate::history::ReceivedChange;
use crate::reader::assembly::Assemblies;
use crate::reader::config::{ReaderConfig, WriterProxyConfig};
use crate::reader::delivery::ChangeDelivery;
use crate::reader::event::LossCause;
use crate::reader::ledger::distance;
use crate::reader::ledger::tally::WriterPosition;
use crate::reader::proxy::acknack::AckNackScheduler;
use crate::reader::proxy::plausibility::{JUMP_MAX, Plausibility, SkippedRange};
use crate::reader::proxy::window::{ReorderWindow, WindowFront};
use crate::types::{Guid, Instant, Now, SequenceNumber, VendorId};
use crate::wire::{HeartbeatFrag, SET_BITS_MAX, SequenceNumberSet};
use unconfirmed::Unconfirmed;

/// How the reader determines its first relevant sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamStart {
    /// It is known: the first number of the window.
    Known,
    /// After the last number of the first HEARTBEAT, or with the first sample.
    AfterHistory,
    /// The first number of the first HEARTBEAT; until then it counts as 1.
    FirstAnnounced,
    /// The first number of the first HEARTBEAT addressed to this reader; until then nothing is delivered.
    ///
    /// Earlier traffic may be for other readers of this participant, and the writer does not repair its losses.
    Named,
}

/// Whether a reader can accept a sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberCheck {
    /// Yes: the number is new.
    New,
    /// No: it arrived before.
    Duplicate,
    /// Not now: it lies too far ahead, or there is no memory. It is requested again.
    TooFar,
    /// Not now: it is implausible, and the next number has to confirm it.
    Implausible,
}

/// Numbers `start .. end`.
#[derive(Debug, Clone, Copy)]
struct NumberRange {
    start: SequenceNumber,
    end: SequenceNumber,
}

impl NumberRange {
    fn contains(self, number: SequenceNumber) -> bool {
        self.start <= number && number < self.end
    }
}

/// Announcements of the writer's HEARTBEATs.
#[derive(Debug)]
struct WriterAnnouncement {
    /// The writer has no change below this number: missing ones are lost.
    floor: SequenceNumber,
    /// Last announced number.
    last: SequenceNumber,
    /// Last number of the first HEARTBEAT: history reaches up to it.
    history_end: Option<SequenceNumber>,
}

/// The last HEARTBEAT and HEARTBEAT_FRAG. Only an exact repetition is a duplicate.
#[derive(Debug, Default)]
struct LastHeartbeats {
    count: Option<i32>,
    fragments: Option<HeartbeatFrag>,
}

/// State for one reliable writer.
#[derive(Debug)]
pub(crate) struct ReliableState {
    writer: Guid,
    vendor: VendorId,
    /// Whether only a HEARTBEAT that names this reader ends the pre-emptive ACKNACKs.
    awaits_name: bool,
    /// Why the writer no longer has a change that the reader misses.
    loss_cause: LossCause,
    window: ReorderWindow,
    start: StreamStart,
    /// Whether a number that the writer no longer has is a loss.
    ///
    /// For a volatile reader it may be history until a change was delivered: a HEARTBEAT for several readers begins
    /// with the first relevant number of the earliest of them.
    is_entitled: bool,
    announced: WriterAnnouncement,
    last_heartbeats: LastHeartbeats,
    /// Irrelevant numbers beyond the window.
    gap: Option<NumberRange>,
    /// Whether the history had no space for the first change of the window.
    is_refused: bool,
    /// First number that counts in the ledger.
    first: SequenceNumber,
    plausibility: Plausibility,
    unconfirmed: Unconfirmed,
    pub(crate) acknacks: AckNackScheduler,
}

impl ReliableState {
    pub(crate) fn new(now: Instant, writer: &WriterProxyConfig, config: &ReaderConfig) -> Self {
        let start = if config.wants_history {
            StreamStart::Known
        } else if writer.names_first_relevant {
            StreamStart::Named
        } else if writer.separates_history {
            StreamStart::FirstAnnounced
        } else {
            StreamStart::AfterHistory
        };
        Self {
            writer: writer.guid,
            vendor: writer.vendor,
            awaits_name: start == StreamStart::Named || (config.awaits_writers && writer.answers_by_name),
            loss_cause: if writer.keeps_last { LossCause::Replaced } else { LossCause::NeverArrived },
            window: ReorderWindow::new(SequenceNumber::FIRST),
            start,
            is_entitled: config.wants_history,
            announced: WriterAnnouncement {
                floor: SequenceNumber::FIRST,
                last: SequenceNumber::ZERO,
                history_end: None,
            },
            last_heartbeats: LastHeartbeats::default(),
            gap: None,
            is_refused: false,
            first: SequenceNumber::FIRST,
            plausibility: Plausibility::default(),
            unconfirmed: Unconfirmed::default(),
            acknacks: AckNackScheduler::new(now, config),
        }
    }

    /// The writer was matched before, and no number before `next` may arrive again.
    ///
    /// A forged disposal of its participant, or the end of a lease, may have ended that match. A writer that restarted
    /// with the same GUID begins at 1 again: its HEARTBEATs deny the position, and the reader moves back.
    pub(crate) fn resume_at(&mut self, next: SequenceNumber) {
        debug_assert!(self.window.is_empty(), "nothing has arrived since the match");
        self.announced.floor = next;
        self.window.jump_to(next);
        self.first = next;
        self.plausibility.start_with_heartbeat(next);
    }

    /// First number that was not delivered, lost or declared irrelevant.
    pub(crate) fn next(&self) -> SequenceNumber {
        self.window.next()
    }

    /// Whether all changes of the first HEARTBEAT were delivered.
    pub(crate) fn has_history(&self) -> bool {
        match self.announced.history_end {
            Some(end) => end < self.window.next(),
            // Only a HEARTBEAT tells where the history ends.
            None => false,
        }
    }

    /// Whether a missing number is a loss.
    pub(crate) fn is_entitled(&self) -> bool {
        self.is_entitled
    }

    /// Whether the history had no space for the next change.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Last number that a HEARTBEAT announced.
    pub(crate) fn last_announced(&self) -> SequenceNumber {
        self.announced.last
    }

    /// Whether the writer still has to name the first relevant sequence number. Until then changes only wait.
    pub(crate) fn awaits_start(&self) -> bool {
        self.start == StreamStart::Named
    }

    /// A change was dropped that the writer must send again, if it is for this reader.
    pub(crate) fn note_postponed(&mut self, now: Instant) {
        if self.start != StreamStart::Named {
            self.acknacks.schedule_retry(now);
        }
    }

    /// Whether change `number` with a payload of `len` bytes can be accepted.
    pub(crate) fn check_number(&mut self, number: SequenceNumber, len: usize, config: &ReaderConfig) -> NumberCheck {
        if self.start != StreamStart::Known && number < self.announced.floor {
            return NumberCheck::Duplicate;
        }
        if self.start == StreamStart::Named {
            if self.window.is_empty() {
                // The window follows the traffic until the writer names the start.
                self.window.restart_at(number, 0);
                self.first = number;
            }
            let fits = self.window.is_missing(number) && self.window.has_room(number, len, config.window_limits());
            // Coherent sets need the start of the stream before any of their changes.
            return if fits && !config.has_presentation() { NumberCheck::New } else { NumberCheck::TooFar };
        }
        if self.start == StreamStart::AfterHistory {
            self.window.jump_to(number);
            self.announced.floor = number;
            self.first = number;
            self.start = StreamStart::Known;
            // The sample may be forged: HEARTBEATs have to confirm it.
            self.plausibility.start_with_sample();
        }
        if !self.window.is_missing(number) {
            // Before the window, or known in it.
            return NumberCheck::Duplicate;
        }
        if number == self.window.next() {
            return NumberCheck::New;
        }
        // A full history keeps nothing ahead: that would be a second, hidden history.
        if self.is_refused || !self.window.has_room(number, len, config.window_limits()) {
            return NumberCheck::TooFar;
        }
        NumberCheck::New
    }

    /// Accepts a new number. Without a `change` there is nothing to deliver for it.
    pub(crate) fn accept(
        &mut self,
        now: Now,
        number: SequenceNumber,
        change: Option<ReceivedChange>,
        delivery: &mut ChangeDelivery<'_>,
        config: &ReaderConfig,
    ) {
        self.acknacks.reset_retry(config);
        self.acknacks.note_received(now.instant, number);
        if number != self.window.next() || self.awaits_start() {
            self.note_held(number);
            match change {
                Some(change) => self.window.hold(number, change),
                // It still counts as received, and is not requested again.
                None => self.window.mark_empty(number),
            }
            self.acknacks.schedule_retry(now.instant);
            return;
        }
        self.window.skip_front();
        // With the first delivered change all later numbers are promised.
        self.is_entitled = true;
        if let Some(change) = change {
            self.deliver(now, change, delivery);
        }
        self.deliver_ready(now, delivery);
        self.request_more_if_answered(now.instant);
    }

    /// Delivers the change before the window, or puts it back if the history has no space.
    fn deliver(&mut self, now: Now, change: ReceivedChange, delivery: &mut ChangeDelivery<'_>) {
        debug_assert!(change.change.sequence_number.next() == self.window.next(), "changes are delivered in order");
        match delivery.deliver(now, change, self.is_refused) {
            Ok(()) => self.is_refused = false,
            Err(change) => {
                self.window.put_back(change);
                self.is_refused = true;
            }
        }
    }

    /// Delivers and skips numbers until one is missing or the history is full.
    fn deliver_ready(&mut self, now: Now, delivery: &mut ChangeDelivery<'_>) {
        // The usual case: all changes arrive in order.
        if self.window.is_empty() && self.gap.is_none() && self.announced.floor <= self.window.next() {
            return;
        }
        let mut skipped = SkippedRange::starting_at(self.window.next(), self.first);
        while !self.is_refused {
            let next = self.window.next();
            match self.window.pop() {
                WindowFront::NoChange => {
                    self.note_skipped(skipped, next, delivery);
                    skipped = SkippedRange::starting_at(self.window.next(), self.first);
                }
                WindowFront::Change(change) => {
                    self.note_skipped(skipped, next, delivery);
                    self.deliver(now, change, delivery);
                    skipped = SkippedRange::starting_at(self.window.next(), self.first);
                }
                WindowFront::Irrelevant => self.skip_from(next, false, &mut skipped),
                WindowFront::Missing => {
                    let is_lost = !self.is_in_gap(next);
                    let floor = self.announced.floor;
                    let end = match self.gap {
                        Some(gap) if !is_lost => gap.end,
                        // The numbers of a later gap were never meant for this reader.
                        Some(gap) if gap.start > next => floor.min(gap.start),
                        _ => floor,
                    };
                    if end <= next {
                        break;
                    }
                    self.window.skip_missing(end);
                    self.skip_from(next, is_lost, &mut skipped);
                }
                WindowFront::Empty => {
                    let Some((to, is_lost)) = self.jump_from(next) else { break };
                    self.window.jump_to(to);
                    self.skip_from(next, is_lost, &mut skipped);
                }
            }
        }
        match self.gap {
            Some(gap) if gap.end <= self.window.next() => self.gap = None,
            _ => {}
        }
        self.note_skipped(skipped, self.window.next(), delivery);
    }

    /// How far an empty window at `next` can jump, and whether the skipped numbers are lost. `None`: `next` is
    /// expected.
    fn jump_from(&self, next: SequenceNumber) -> Option<(SequenceNumber, bool)> {
        let floor = self.announced.floor;
        match self.gap {
            Some(gap) if gap.contains(next) => Some((gap.end, false)),
            _ if next >= floor => None,
            // Lost up to the gap; the next round skips the gap itself as irrelevant.
            Some(gap) if next < gap.start && gap.start < floor => Some((gap.start, true)),
            _ => Some((floor, true)),
        }
    }

    /// Adds the numbers from `from` to the window to `skipped`.
    ///
    /// Numbers before the first change do not count: the ledger begins after them. Of more than [`JUMP_MAX`] numbers
    /// only that many count, and the row begins after them: they cannot be told from numbers that never existed.
    fn skip_from(&mut self, from: SequenceNumber, is_lost: bool, skipped: &mut SkippedRange) {
        let next = self.window.next();
        debug_assert!(from <= next, "the window never moves back here");
        let is_loss = is_lost && self.is_entitled;
        // The row of the ledger has not begun: it starts behind them.
        if self.first == from && !is_loss {
            self.first = next;
            return;
        }
        let count = distance(from, next).min(JUMP_MAX);
        if distance(from, next) > JUMP_MAX {
            skipped.known_before += distance(self.first, from) + JUMP_MAX;
            self.first = next;
        }
        if is_loss {
            skipped.lost = skipped.lost.saturating_add(count);
        } else {
            skipped.irrelevant = skipped.irrelevant.saturating_add(count);
        }
    }

    /// Counts the numbers skipped up to `to`. They can be retracted as long as nothing has come after them.
    fn note_skipped(&mut self, mut skipped: SkippedRange, to: SequenceNumber, delivery: &mut ChangeDelivery<'_>) {
        if skipped.from >= to {
            return;
        }
        skipped.to = to;
        delivery.tally.count_lost(skipped.lost, self.loss_cause);
        delivery.tally.count_irrelevant(skipped.irrelevant);
        delivery.tally.restart(skipped.known_before);
        // Retracted losses were reported once already.
        let unreported = self.plausibility.note_skipped(skipped);
        delivery.report_lost(self.writer, unreported, self.loss_cause);
    }

    fn is_in_gap(&self, number: SequenceNumber) -> bool {
        match self.gap {
            Some(gap) => gap.contains(number),
            None => false,
        }
    }

    /// Requests more missing numbers at once if all requested ones arrived.
    fn request_more_if_answered(&mut self, now: Instant) {
        let next = self.window.next();
        // The window of 256 numbers per ACKNACK moves on without waiting for a HEARTBEAT.
        if self.acknacks.take_answered(next) && next <= self.announced.last && !self.is_refused {
            self.acknacks.check_at(Some(now));
        }
    }

    /// Tries the refused change again. `true`: changes were delivered, and the next ACKNACK must acknowledge them.
    pub(crate) fn retry(&mut self, now: Now, delivery: &mut ChangeDelivery<'_>) -> bool {
        let before = self.window.next();
        if let WindowFront::Change(change) = self.window.pop() {
            self.deliver(now, change, delivery);
        } else {
            self.is_refused = false;
        }
        self.deliver_ready(now, delivery);
        // The writer may block until it is acknowledged, so the answer leaves at once.
        let has_moved = self.window.next() > before;
        if has_moved {
            self.acknacks.answer_at(Some(now.instant));
        }
        has_moved
    }

    /// Whether `last` is a plausible number of the writer. Otherwise the reader requests a HEARTBEAT.
    pub(crate) fn is_plausible(&mut self, now: Instant, last: SequenceNumber) -> bool {
        if self.acknacks.awaits_heartbeat() {
            self.plausibility.clear_implausible();
            return true;
        }
        let is_plausible = self.plausibility.is_plausible(now, self.known_end(), last);
        if !is_plausible {
            self.acknacks.request_heartbeat_at(Some(now));
        }
        is_plausible
    }

    /// Last known number.
    fn known_end(&self) -> SequenceNumber {
        self.announced.last.max(self.window.end().previous())
    }

    /// Known numbers that were not delivered. They are lost if the writer leaves now.
    ///
    /// If nothing was delivered, missing numbers may be history: only received changes count.
    pub(crate) fn undelivered(&self) -> u64 {
        if !self.is_entitled {
            return self.window.waiting();
        }
        let position = self.position();
        let known = distance(position.next, position.last.next());
        let empty = position.received_ahead - position.waiting;
        known.saturating_sub(position.irrelevant_ahead).saturating_sub(empty)
    }

    pub(crate) fn position(&self) -> WriterPosition {
        let counts = self.window.counts();
        let (next, end) = (self.window.next(), self.window.end());
        let last = if self.start == StreamStart::Known { self.known_end() } else { end.previous() };
        // Numbers announced further ahead do not count before they are near: they may never have existed.
        let last = last.min(end.plus(JUMP_MAX as i64));
        let gap = match self.gap {
            Some(gap) => {
                let within = self.window.missing_between(gap.start, gap.end);
                within + distance(gap.start.max(end), gap.end.min(last.next()))
            }
            None => 0,
        };
        let waiting = self.window.waiting();
        WriterPosition {
            first: self.first,
            next,
            last,
            received_ahead: waiting + counts.empty,
            irrelevant_ahead: counts.irrelevant.saturating_add(gap),
            waiting,
        }
    }

    /// Whether a known number is missing.
    pub(crate) fn is_missing_numbers(&self) -> bool {
        !self.is_refused && self.start == StreamStart::Known && self.window.next() <= self.known_end()
    }

    /// `readerSNState` of an ACKNACK: acknowledges all numbers below its base, and requests its members.
    ///
    /// Samples with received fragments are requested by fragment. A writer of this implementation gets all missing
    /// numbers: it takes the members for all that the reader misses. It also ignores a repeated request while its
    /// answer is on the way. Other writers may send a change twice, so recently requested numbers are left out. If
    /// `must_answer`, the first missing number stays: without members an ACKNACK tells that none is missing. Without
    /// `must_answer` the set is empty if no number is new.
    pub(crate) fn reader_sn_state(
        &mut self,
        now: Instant,
        must_answer: bool,
        assemblies: &Assemblies,
        config: &ReaderConfig,
    ) -> SequenceNumberSet {
        let base = if self.awaits_start() { SequenceNumber::FIRST } else { self.window.next() };
        let mut set = SequenceNumberSet::empty(base);
        if !self.is_missing_numbers() {
            return set;
        }
        self.acknacks.forget_requests_below(base);
        let mut missing = set.clone();
        let end = self.known_end().min(base.plus(i64::from(SET_BITS_MAX) - 1));
        let mut number = base;
        while number <= end {
            // An assembly in progress requests its own fragments by NACK_FRAG.
            if self.window.is_missing(number) && !self.is_in_gap(number) && !assemblies.contains(number) {
                missing.insert(number);
                if !self.acknacks.was_requested(now, number, config) {
                    set.insert(number);
                    self.acknacks.note_requested(now, number, config);
                }
            }
            // The last number has no successor.
            if number == SequenceNumber::MAX {
                break;
            }
            number = number.next();
        }
        if set.is_empty() && !must_answer {
            return set;
        }
        if self.vendor == VendorId::OURS {
            return missing;
        }
        if set.is_empty() {
            if let Some(first) = missing.iter().next() {
                set.insert(first);
            }
        }
        set
    }
}
