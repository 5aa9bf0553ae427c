//! Reorder window of one reliable writer: the sequence numbers from the first undelivered one on.
//!
//! Life cycle: while all changes arrive in order the window is empty and costs nothing. A change ahead of a missing one
//! waits here until the missing one arrives, or is known never to arrive. Bound: the bytes of the waiting changes, and
//! [`REORDER_MAX`](crate::reader::REORDER_MAX) numbers. The missing numbers at the front take no memory: until the
//! first HEARTBEAT of a writer arrives, its first change may be far ahead. The changes are stored apart.

use crate::concurrent::Payload;
use crate::history::{ChangeKind, ReceivedChange};
use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Numbers and waiting changes for which an empty window keeps memory. After many losses it returns the memory.
const SPARE_CHANGES: usize = 1024;

/// State of one sequence number in the window.
#[derive(Debug, Default, Clone, Copy)]
enum NumberState {
    /// Not received.
    #[default]
    Missing,
    /// Will never arrive.
    Irrelevant,
    /// Received, without a change to deliver.
    Empty,
    /// Received, and waiting for earlier ones. The change lies at this place of [`WaitingChanges`].
    Waiting(u32),
}

/// Changes that wait for earlier ones, in any order. The next change takes a free place.
#[derive(Debug, Default)]
struct WaitingChanges {
    places: Vec<Option<ReceivedChange>>,
    free: Vec<u32>,
}

impl WaitingChanges {
    fn insert(&mut self, change: ReceivedChange) -> u32 {
        if let Some(place) = self.free.pop() {
            if let Some(slot) = self.places.get_mut(place as usize) {
                *slot = Some(change);
                return place;
            }
            debug_assert!(false, "a free place exists");
        }
        self.places.push(Some(change));
        // There are at most as many changes as numbers in a window.
        (self.places.len() - 1) as u32
    }

    fn get(&self, place: u32) -> Option<&ReceivedChange> {
        self.places.get(place as usize)?.as_ref()
    }

    fn take(&mut self, place: u32) -> Option<ReceivedChange> {
        let change = self.places.get_mut(place as usize)?.take();
        debug_assert!(change.is_some(), "a waiting number has a change");
        self.free.push(place);
        change
    }
}

/// Result of [`ReorderWindow::pop`].
#[derive(Debug)]
pub(crate) enum WindowFront {
    /// The window is empty.
    Empty,
    /// The first number is missing, later ones are known.
    Missing,
    /// The first number was irrelevant. The window moved past it.
    Irrelevant,
    /// The first number was received without a change. The window moved past it.
    NoChange,
    /// The change of the first number. The window moved past it.
    Change(ReceivedChange),
}

/// Counts of the numbers in a window, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WindowCounts {
    pub(crate) missing: u64,
    pub(crate) irrelevant: u64,
    /// Received without a change that the application can see.
    pub(crate) empty: u64,
}

/// Numbers that [`ReorderWindow::truncate`] forgot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TruncatedNumbers {
    pub(crate) all: u64,
    /// Received without a change that the application can see.
    pub(crate) empty: u64,
}

/// Limits of a window, from the configuration of its reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowLimits {
    pub(crate) numbers_max: usize,
    pub(crate) bytes_max: usize,
}

/// Known sequence numbers from `next` on.
#[derive(Debug)]
pub(crate) struct ReorderWindow {
    /// First number that was not delivered, lost or declared irrelevant.
    next: SequenceNumber,
    /// Missing numbers from `next` on, before those in `numbers`.
    missing: usize,
    /// The numbers after those.
    numbers: VecDeque<NumberState>,
    changes: WaitingChanges,
    /// Waiting changes that the application will see.
    waiting: usize,
    /// Payload bytes of the waiting changes.
    bytes: usize,
}

impl ReorderWindow {
    pub(crate) fn new(next: SequenceNumber) -> Self {
        Self { next, missing: 0, numbers: VecDeque::new(), changes: WaitingChanges::default(), waiting: 0, bytes: 0 }
    }

    pub(crate) fn next(&self) -> SequenceNumber {
        self.next
    }

    /// Number after the last known one.
    pub(crate) fn end(&self) -> SequenceNumber {
        self.next.plus(self.len() as i64)
    }

    /// Numbers from `next` to the last known one.
    fn len(&self) -> usize {
        self.missing + self.numbers.len()
    }

    /// Index of `number`; `None`: it lies before the window.
    fn offset(&self, number: SequenceNumber) -> Option<usize> {
        usize::try_from(number.0.checked_sub(self.next.0)?).ok()
    }

    /// Whether a number that is not before the window was neither received nor declared irrelevant.
    pub(crate) fn is_missing(&self, number: SequenceNumber) -> bool {
        // Numbers before the window are settled.
        let Some(offset) = self.offset(number) else { return false };
        match offset.checked_sub(self.missing).and_then(|index| self.numbers.get(index)) {
            Some(state) => matches!(state, NumberState::Missing),
            // Among the missing numbers at the front, or after the window.
            None => true,
        }
    }

    /// Whether the window can keep change `number` with a payload of `len` bytes.
    pub(crate) fn has_room(&self, number: SequenceNumber, len: usize, limits: WindowLimits) -> bool {
        // One change always fits, however large it is.
        let fits = self.waiting == 0 || self.bytes.saturating_add(len) <= limits.bytes_max;
        match self.offset(number) {
            Some(offset) => fits && offset < limits.numbers_max,
            None => false,
        }
    }

    /// Keeps a change. The caller has checked [`Self::has_room`] and [`Self::is_missing`].
    pub(crate) fn hold(&mut self, number: SequenceNumber, change: ReceivedChange) {
        debug_assert!(self.is_missing(number), "the window would replace a waiting change");
        let state = self.keep(change);
        self.set(number, state);
    }

    /// Stores a waiting change.
    fn keep(&mut self, change: ReceivedChange) -> NumberState {
        // The application never sees a blank change, so it does not count as waiting.
        self.waiting += usize::from(!is_blank(&change));
        self.bytes += payload_len(&change);
        NumberState::Waiting(self.changes.insert(change))
    }

    /// Puts back the change of the number that the window moved past last.
    pub(crate) fn put_back(&mut self, change: ReceivedChange) {
        let state = self.keep(change);
        self.store_missing_from(0);
        self.next = self.next.previous();
        self.numbers.push_front(state);
    }

    /// Moves the missing numbers at the front, from this offset on, into the row.
    fn store_missing_from(&mut self, offset: usize) {
        while self.missing > offset {
            self.numbers.push_front(NumberState::Missing);
            self.missing -= 1;
        }
    }

    /// Marks a number as received without a change.
    pub(crate) fn mark_empty(&mut self, number: SequenceNumber) {
        debug_assert!(self.is_missing(number), "the window would replace a waiting change");
        self.set(number, NumberState::Empty);
    }

    fn set(&mut self, number: SequenceNumber, state: NumberState) {
        let Some(offset) = self.offset(number) else {
            debug_assert!(false, "the caller checked that the number is missing");
            return;
        };
        if self.numbers.is_empty() {
            self.missing = self.missing.max(offset);
        }
        self.store_missing_from(offset);
        let index = offset - self.missing;
        if index >= self.numbers.len() {
            // Numbers in between are missing. `has_room` bounds the offset.
            self.numbers.resize_with(index + 1, NumberState::default);
        }
        if let Some(place) = self.numbers.get_mut(index) {
            *place = state;
        }
    }

    /// Declares the missing numbers of `start .. end` irrelevant, up to `numbers_max` ahead of the front.
    ///
    /// Takes time for each number, so the caller bounds their count.
    pub(crate) fn mark_irrelevant(&mut self, start: SequenceNumber, end: SequenceNumber, numbers_max: usize) {
        let first = self.offset(start).unwrap_or(0);
        // A GAP may name 2^60 numbers: the loop is bounded by the window.
        let last = self.offset(end).unwrap_or(0).min(numbers_max);
        for offset in first..last {
            let number = self.next.plus(offset as i64);
            if self.is_missing(number) {
                self.set(number, NumberState::Irrelevant);
            }
        }
    }

    /// Counts the numbers up to the end by state.
    pub(crate) fn counts(&self) -> WindowCounts {
        let mut counts = WindowCounts { missing: self.missing as u64, ..WindowCounts::default() };
        for state in &self.numbers {
            match state {
                NumberState::Missing => counts.missing += 1,
                NumberState::Irrelevant => counts.irrelevant += 1,
                NumberState::Empty => counts.empty += 1,
                NumberState::Waiting(place) if self.changes.get(*place).is_some_and(is_blank) => counts.empty += 1,
                NumberState::Waiting(_) => {}
            }
        }
        counts
    }

    /// Counts the missing numbers of `start .. end` that lie before the end of the window.
    pub(crate) fn missing_between(&self, start: SequenceNumber, end: SequenceNumber) -> u64 {
        // The range may lie outside of the window. `clamp` needs its bounds in order, so `first` is limited as well.
        let first = self.offset(start).unwrap_or(0).min(self.len());
        let last = self.offset(end).unwrap_or(0).clamp(first, self.len());
        let (known_first, known_last) = (first.max(self.missing), last.max(self.missing));
        let mut missing = ((last - first) - (known_last - known_first)) as u64;
        for state in self.numbers.range(known_first - self.missing..known_last - self.missing) {
            missing += u64::from(matches!(state, NumberState::Missing));
        }
        missing
    }

    /// Waiting changes. Blank changes, which only show where a coherent set continues, are counted elsewhere.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting as u64
    }

    /// Whether no number from `next` on is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves back to an earlier number. The window must be empty.
    pub(crate) fn move_back(&mut self, number: SequenceNumber) {
        debug_assert!(self.is_empty(), "the window would forget changes");
        self.next = self.next.min(number);
    }

    /// Moves to `number` in either direction, and forgets all earlier numbers.
    ///
    /// If `number` lies more than `numbers_max` before the front, the window forgets everything.
    pub(crate) fn restart_at(&mut self, number: SequenceNumber, numbers_max: usize) {
        match usize::try_from(self.next.0.saturating_sub(number.0)) {
            // The numbers in between are missing.
            Ok(before) if before <= numbers_max => self.missing += before,
            // A forged number moved the window far away: no waiting change is near.
            Ok(_) => *self = Self::new(number),
            Err(_) => {
                while self.next < number && !self.is_empty() {
                    if matches!(self.pop(), WindowFront::Missing) {
                        self.skip_front();
                    }
                }
            }
        }
        self.next = number;
    }

    /// Takes the first number, unless it is missing.
    pub(crate) fn pop(&mut self) -> WindowFront {
        if self.missing > 0 {
            return WindowFront::Missing;
        }
        let Some(&front) = self.numbers.front() else { return WindowFront::Empty };
        match front {
            NumberState::Missing => WindowFront::Missing,
            NumberState::Irrelevant => {
                self.skip_front();
                WindowFront::Irrelevant
            }
            NumberState::Empty => {
                self.skip_front();
                WindowFront::NoChange
            }
            NumberState::Waiting(place) => {
                // Taken before the step, which may drop the memory of all changes.
                let change = self.changes.take(place);
                self.advance();
                let Some(change) = change else { return WindowFront::NoChange };
                self.waiting -= usize::from(!is_blank(&change));
                self.bytes -= payload_len(&change);
                WindowFront::Change(change)
            }
        }
    }

    /// Moves past the missing numbers at the front, at most up to `end`. It always moves past one number.
    pub(crate) fn skip_missing(&mut self, end: SequenceNumber) {
        // The last one of the row is skipped like any other number, which may free the memory.
        let skipped = self.offset(end).unwrap_or(0).min(self.missing).saturating_sub(1);
        self.missing -= skipped;
        self.next = self.next.plus(skipped as i64);
        self.skip_front();
    }

    /// Moves past the first number.
    pub(crate) fn skip_front(&mut self) {
        let is_waiting = self.missing == 0 && matches!(self.numbers.front(), Some(NumberState::Waiting(_)));
        debug_assert!(!is_waiting, "the window would forget a change");
        self.advance();
    }

    fn advance(&mut self) {
        match self.missing.checked_sub(1) {
            Some(missing) => self.missing = missing,
            None => _ = self.numbers.pop_front(),
        }
        self.next = self.next.next();
        // The memory of a burst is not kept for a writer that is in order again.
        let is_large = self.numbers.capacity().max(self.changes.places.capacity()) > SPARE_CHANGES;
        if is_large && self.numbers.is_empty() {
            self.numbers = VecDeque::new();
            self.changes = WaitingChanges::default();
        }
    }

    /// Forgets all numbers from `end` on. Returns how many of them were in which state.
    pub(crate) fn truncate(&mut self, end: SequenceNumber) -> TruncatedNumbers {
        let kept = self.offset(end).unwrap_or(0);
        let mut truncated = TruncatedNumbers { all: self.len().saturating_sub(kept) as u64, empty: 0 };
        let kept_known = kept.saturating_sub(self.missing);
        self.missing = self.missing.min(kept);
        while self.numbers.len() > kept_known {
            match self.numbers.pop_back() {
                Some(NumberState::Empty) => truncated.empty += 1,
                Some(NumberState::Waiting(place)) => {
                    let Some(change) = self.changes.take(place) else { continue };
                    self.waiting -= usize::from(!is_blank(&change));
                    self.bytes -= payload_len(&change);
                    truncated.empty += u64::from(is_blank(&change));
                }
                _ => {}
            }
        }
        truncated
    }

    /// Forgets the missing numbers at the end.
    pub(crate) fn drop_missing_end(&mut self) {
        while matches!(self.numbers.back(), Some(NumberState::Missing)) {
            self.numbers.pop_back();
        }
        if self.numbers.is_empty() {
            self.missing = 0;
        }
    }

    /// Moves forward to `number`. The window must be empty.
    pub(crate) fn jump_to(&mut self, number: SequenceNumber) {
        debug_assert!(self.is_empty(), "the window would forget changes");
        self.next = self.next.max(number);
    }
}

/// Whether a change only holds a place in a coherent set: it was filtered, or for another reader.
fn is_blank(received: &ReceivedChange) -> bool {
    let change = &received.change;
    change.kind == ChangeKind::Alive && change.payload.is_none() && !change.is_end_of_set()
}

fn payload_len(change: &ReceivedChange) -> usize {
    change.change.payload.as_ref().map_or(0, Payload::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{CacheChange, PresentationInfo};
    use crate::types::{Guid, InstanceHandle, Time};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const NUMBERS_MAX: usize = 24;
    const BYTES_MAX: usize = 40;
    const LIMITS: WindowLimits = WindowLimits { numbers_max: NUMBERS_MAX, bytes_max: BYTES_MAX };

    fn received(number: i64, len: Option<usize>, is_end: bool) -> ReceivedChange {
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: Guid::UNKNOWN,
            sequence_number: SequenceNumber(number),
            instance: InstanceHandle::NIL,
            source_timestamp: Time::from_unix_nanos(0),
            related_sample: None,
            origin: None,
            presented: is_end.then(|| Box::new(PresentationInfo { is_end, ..PresentationInfo::default() })),
            payload: len.map(|len| Payload::copy_of(&vec![0; len])),
        };
        ReceivedChange { has_data: len.is_some(), change, expires: None, reception_timestamp: Time::from_unix_nanos(0) }
    }

    /// State of a known number.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Known {
        Held(usize),
        /// Holds the place of a filtered change.
        Blank,
        EndOfSet,
        Spent,
        Irrelevant,
    }

    #[derive(Debug, Clone)]
    enum Act {
        Come(i64, Known),
        Pass(i64, i64),
        Pop,
        /// The change at the front does not fit into the history, and returns.
        Return,
        Leave,
        /// Forgets the numbers from here on.
        Truncate(i64),
        Refuse,
        /// Moves past missing numbers.
        Skip(i64),
        /// Moves by this distance.
        Restart(i64),
    }

    fn acts() -> impl Strategy<Value = Act> {
        let known = prop_oneof![
            (0..20_usize).prop_map(Known::Held),
            Just(Known::Blank),
            Just(Known::EndOfSet),
            Just(Known::Spent)
        ];
        prop_oneof![
            4 => (0..30_i64, known).prop_map(|(ahead, known)| Act::Come(ahead, known)),
            1 => (-3..30_i64, 0..12_i64).prop_map(|(from, count)| Act::Pass(from, count)),
            3 => Just(Act::Pop),
            1 => Just(Act::Return),
            1 => Just(Act::Leave),
            1 => (-2..20_i64).prop_map(Act::Truncate),
            1 => Just(Act::Refuse),
            1 => (-2..20_i64).prop_map(Act::Skip),
            1 => (-6..6_i64).prop_map(Act::Restart),
        ]
    }

    /// The window as a map.
    #[derive(Debug, Default)]
    struct Naive {
        next: i64,
        known: BTreeMap<i64, Known>,
    }

    impl Naive {
        fn count(&self, is: impl Fn(&Known) -> bool) -> u64 {
            self.known.values().filter(|known| is(known)).count() as u64
        }

        fn bytes(&self) -> usize {
            self.known.values().map(|known| if let Known::Held(len) = known { *len } else { 0 }).sum()
        }

        fn has_room(&self, number: i64, len: usize) -> bool {
            let has_none = self.count(|known| matches!(known, Known::Held(_) | Known::EndOfSet)) == 0;
            (has_none || self.bytes() + len <= BYTES_MAX) && number - self.next < NUMBERS_MAX as i64
        }
    }

    fn check(window: &ReorderWindow, naive: &Naive) {
        let held = naive.count(|known| matches!(known, Known::Held(_) | Known::EndOfSet));
        let irrelevant = naive.count(|known| *known == Known::Irrelevant);
        let spent = naive.count(|known| matches!(known, Known::Spent | Known::Blank));
        let end = naive.known.keys().next_back().map_or(naive.next, |last| last + 1);
        let missing = (end - naive.next) as u64 - held - irrelevant - spent;
        assert_eq!((window.next().0, window.waiting(), window.is_empty()), (naive.next, held, naive.known.is_empty()));
        assert_eq!((window.end().0, window.counts()), (end, WindowCounts { missing, irrelevant, empty: spent }));
        for number in naive.next - 2..end + 3 {
            let is_missing = number >= naive.next && !naive.known.contains_key(&number);
            assert_eq!(window.is_missing(SequenceNumber(number)), is_missing, "{number}");
        }
        for len in [0, 10, BYTES_MAX] {
            let number = naive.next + 5;
            let has_room = window.has_room(SequenceNumber(number), len, LIMITS);
            assert_eq!(has_room, naive.has_room(number, len), "{len} bytes");
        }
    }

    #[test]
    fn missing_front_takes_no_memory() {
        let mut window = ReorderWindow::new(SequenceNumber::FIRST);
        window.hold(SequenceNumber(60_000), received(60_000, Some(1), false));
        window.mark_empty(SequenceNumber(60_001));
        assert!(window.numbers.capacity() < 16, "{}", window.numbers.capacity());
        assert_eq!((window.end().0, window.counts().missing), (60_002, 59_999));
        // A number in between takes the memory of those after it. It is returned once the window is in order.
        window.mark_empty(SequenceNumber(30_000));
        assert!(window.numbers.capacity() >= 30_000);
        while !window.is_empty() {
            if matches!(window.pop(), WindowFront::Missing) {
                window.skip_front();
            }
        }
        assert!(window.numbers.capacity() <= SPARE_CHANGES, "{}", window.numbers.capacity());
    }

    proptest! {
        #[test]
        fn window_agrees_with_a_map(acts in vec(acts(), 1..200)) {
            let mut naive = Naive { next: 1, ..Naive::default() };
            let mut window = ReorderWindow::new(SequenceNumber::FIRST);
            for act in acts {
                match act {
                    Act::Come(ahead, known) => {
                        let number = SequenceNumber(naive.next + ahead);
                        let len = if let Known::Held(len) = known { len } else { 0 };
                        let fits = window.has_room(number, len, LIMITS) && window.is_missing(number);
                        prop_assert_eq!(fits, naive.has_room(number.0, len) && !naive.known.contains_key(&number.0));
                        if fits {
                            naive.known.insert(number.0, known);
                            match known {
                                Known::Held(len) => window.hold(number, received(number.0, Some(len), false)),
                                Known::Blank => window.hold(number, received(number.0, None, false)),
                                Known::EndOfSet => window.hold(number, received(number.0, None, true)),
                                Known::Spent | Known::Irrelevant => window.mark_empty(number),
                            }
                        }
                    }
                    Act::Pass(from, count) => {
                        let (from, to) = (naive.next + from, naive.next + from + count);
                        window.mark_irrelevant(SequenceNumber(from), SequenceNumber(to), NUMBERS_MAX);
                        for number in from.max(naive.next)..to.min(naive.next + NUMBERS_MAX as i64) {
                            naive.known.entry(number).or_insert(Known::Irrelevant);
                        }
                    }
                    Act::Pop | Act::Return => {
                        let front = naive.known.remove(&naive.next);
                        match (window.pop(), front) {
                            (WindowFront::Change(change), Some(Known::Held(_) | Known::Blank | Known::EndOfSet)) => {
                                prop_assert_eq!(change.change.sequence_number.0, naive.next);
                                if matches!(act, Act::Return) {
                                    window.put_back(change);
                                    naive.known.extend(front.map(|front| (naive.next, front)));
                                } else {
                                    naive.next += 1;
                                }
                            }
                            (WindowFront::NoChange, Some(Known::Spent)) | (WindowFront::Irrelevant, Some(Known::Irrelevant)) => naive.next += 1,
                            (WindowFront::Missing, None) => prop_assert!(!naive.known.is_empty()),
                            (WindowFront::Empty, None) => prop_assert!(naive.known.is_empty()),
                            (window, map) => prop_assert!(false, "{:?} instead of {:?}", window, map),
                        }
                    }
                    Act::Truncate(kept) => {
                        let end = naive.next + kept;
                        let forgotten = naive.known.split_off(&end);
                        let all = window.end().0 - end.max(naive.next);
                        let truncated = window.truncate(SequenceNumber(end));
                        window.drop_missing_end();
                        let empty = forgotten.values().filter(|known| matches!(known, Known::Spent | Known::Blank)).count();
                        prop_assert_eq!(truncated, TruncatedNumbers { all: all.max(0) as u64, empty: empty as u64 });
                    }
                    Act::Skip(ahead) => {
                        let missing = naive.known.keys().next().map_or(0, |first| first - naive.next);
                        if missing > 0 {
                            naive.next += ahead.clamp(1, missing);
                            let before = window.next();
                            window.skip_missing(before.plus(ahead));
                            // Missing numbers behind known ones that are gone may be more than one row.
                            while window.next().0 < naive.next {
                                window.skip_missing(SequenceNumber(naive.next));
                            }
                        }
                    }
                    Act::Refuse => {
                        // The change of the missing front arrives, and the history has no space for it.
                        if window.is_missing(window.next()) {
                            let first = window.next();
                            window.skip_front();
                            window.put_back(received(first.0, Some(3), false));
                            naive.known.insert(naive.next, Known::Held(3));
                        }
                    }
                    Act::Restart(ahead) => {
                        naive.next = (naive.next + ahead).max(1);
                        window.restart_at(SequenceNumber(naive.next), NUMBERS_MAX);
                        window.drop_missing_end();
                        naive.known = naive.known.split_off(&naive.next);
                    }
                    Act::Leave => {
                        if window.is_missing(window.next()) && !window.is_empty() {
                            window.skip_front();
                            naive.next += 1;
                        } else if window.is_empty() {
                            window.jump_to(SequenceNumber(naive.next + 7));
                            naive.next += 7;
                        }
                    }
                }
                check(&window, &naive);
            }
        }
    }
}
