//! The numbers of one reliable writer from the first one that has not been delivered.
//!
//! Life cycle: while everything comes in order the window is empty and costs nothing. A change ahead of a missing one lies
//! here until the missing one has come, or is known never to come. Bound: [`REORDER_MAX`](crate::reader::REORDER_MAX) numbers, and
//! the bytes that the caller allows.

use crate::history::{ChangeKind, ReceivedChange};
use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// One number ahead.
#[derive(Debug, Default)]
enum Slot {
    /// Not here.
    #[default]
    Missing,
    /// Nothing will come.
    Irrelevant,
    /// It came, and there is nothing to deliver for it.
    Spent,
    /// Here, and waiting for its turn.
    Held(ReceivedChange),
}

/// What stands at the front.
#[derive(Debug)]
pub(crate) enum Front {
    /// Nothing is known about the first number, nor about any other.
    Empty,
    /// The first number is missing, others are not.
    Missing,
    /// The first number was irrelevant and has been passed over.
    Passed,
    /// Nothing is to be delivered for the first number, which came; it has been passed over.
    Spent,
    /// The first number's change; the number has been passed over.
    Change(ReceivedChange),
}

/// The numbers from `next` on.
#[derive(Debug)]
pub(crate) struct Window {
    /// The first number that has not been delivered, lost or declared irrelevant.
    next: SequenceNumber,
    slots: VecDeque<Slot>,
    /// How many changes wait that there is something to see of.
    held: usize,
    bytes: usize,
}

impl Window {
    pub(crate) fn new(next: SequenceNumber) -> Self {
        Self { next, slots: VecDeque::new(), held: 0, bytes: 0 }
    }

    pub(crate) fn next(&self) -> SequenceNumber {
        self.next
    }

    /// The number after the last one that something is known about.
    pub(crate) fn end(&self) -> SequenceNumber {
        self.next.plus(self.slots.len() as i64)
    }

    /// Where `number` lies in the window, if it is not behind it.
    fn offset(&self, number: SequenceNumber) -> Option<usize> {
        number.0.checked_sub(self.next.0).and_then(|offset| usize::try_from(offset).ok())
    }

    /// Whether nothing is known about a number that is not behind the window.
    pub(crate) fn is_missing(&self, number: SequenceNumber) -> bool {
        let Some(offset) = self.offset(number) else { return false };
        self.slots.get(offset).is_none_or(|slot| matches!(slot, Slot::Missing))
    }

    /// Whether a change `number` of this many bytes could be kept.
    pub(crate) fn has_room(&self, number: SequenceNumber, numbers_max: usize, len: usize, bytes_max: usize) -> bool {
        let fits = self.held == 0 || self.bytes.saturating_add(len) <= bytes_max;
        fits && self.offset(number).is_some_and(|offset| offset < numbers_max)
    }

    /// Keeps a change. The caller has asked [`Window::has_room`] and [`Window::is_missing`].
    pub(crate) fn hold(&mut self, number: SequenceNumber, change: ReceivedChange) {
        self.held += usize::from(!is_blank(&change));
        self.bytes += payload_len(&change);
        self.set(number, Slot::Held(change));
    }

    /// Puts the change back that [`Window::pop`] gave last.
    pub(crate) fn put_back(&mut self, change: ReceivedChange) {
        self.held += usize::from(!is_blank(&change));
        self.bytes += payload_len(&change);
        self.next = self.next.previous();
        self.slots.push_front(Slot::Held(change));
    }

    /// Notes that a number has come for which there is nothing to deliver.
    pub(crate) fn spend(&mut self, number: SequenceNumber) {
        self.set(number, Slot::Spent);
    }

    fn set(&mut self, number: SequenceNumber, slot: Slot) {
        let Some(offset) = self.offset(number) else { return };
        if offset >= self.slots.len() {
            self.slots.resize_with(offset + 1, Slot::default);
        }
        if let Some(place) = self.slots.get_mut(offset) {
            *place = slot;
        }
    }

    /// Declares the missing ones of `start .. end` irrelevant, as far as they lie within `numbers_max` of the front.
    pub(crate) fn pass(&mut self, start: SequenceNumber, end: SequenceNumber, numbers_max: usize) {
        let first = self.offset(start).unwrap_or(0);
        let last = self.offset(end).unwrap_or(0).min(numbers_max);
        for offset in first..last {
            let number = self.next.plus(offset as i64);
            if self.is_missing(number) {
                self.set(number, Slot::Irrelevant);
            }
        }
    }

    /// How many numbers up to the end are missing, irrelevant, and spent.
    pub(crate) fn census(&self) -> (u64, u64, u64) {
        self.slots.iter().fold((0, 0, 0), |(missing, irrelevant, spent), slot| match slot {
            Slot::Missing => (missing + 1, irrelevant, spent),
            Slot::Irrelevant => (missing, irrelevant + 1, spent),
            Slot::Spent => (missing, irrelevant, spent + 1),
            Slot::Held(change) if is_blank(change) => (missing, irrelevant, spent + 1),
            Slot::Held(_) => (missing, irrelevant, spent),
        })
    }

    /// How many changes wait. What only says where a coherent set goes on is none: what became of it is counted already.
    pub(crate) fn held(&self) -> u64 {
        self.held as u64
    }

    /// Whether nothing is known about any number that is not behind it.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Begins again at a number that lies behind it. The window must be empty.
    pub(crate) fn go_back(&mut self, number: SequenceNumber) {
        debug_assert!(self.slots.is_empty(), "going back would forget changes");
        self.next = self.next.min(number);
    }

    /// Begins at `number`, wherever that lies: what is known of earlier ones is forgotten, and all of it if `number` lies more than
    /// `numbers_max` before the front.
    pub(crate) fn begin_at(&mut self, number: SequenceNumber, numbers_max: usize) {
        let before = self.next.0.saturating_sub(number.0);
        match usize::try_from(before) {
            Ok(before) if before <= numbers_max => (0..before).for_each(|_| self.slots.push_front(Slot::Missing)),
            Ok(_) => *self = Self::new(number),
            Err(_) => {
                while self.next < number && !self.slots.is_empty() {
                    if matches!(self.pop(), Front::Missing) {
                        self.skip();
                    }
                }
            }
        }
        self.next = number;
    }

    /// Takes what stands at the front, unless it is missing.
    pub(crate) fn pop(&mut self) -> Front {
        match self.slots.front_mut().map(std::mem::take) {
            None => Front::Empty,
            Some(Slot::Missing) => Front::Missing,
            Some(Slot::Irrelevant) => {
                self.skip();
                Front::Passed
            }
            Some(Slot::Spent) => {
                self.skip();
                Front::Spent
            }
            Some(Slot::Held(change)) => {
                self.held -= usize::from(!is_blank(&change));
                self.bytes -= payload_len(&change);
                self.skip();
                Front::Change(change)
            }
        }
    }

    /// Leaves the first number behind.
    pub(crate) fn skip(&mut self) {
        self.slots.pop_front();
        self.next = self.next.next();
    }

    /// Begins again at `number`. The window must be empty.
    pub(crate) fn jump(&mut self, number: SequenceNumber) {
        debug_assert!(self.slots.is_empty(), "a jump would forget changes");
        self.next = self.next.max(number);
    }
}

/// Whether a change only holds the place, in a coherent set, of what a filter has left out or what was for another reader.
fn is_blank(received: &ReceivedChange) -> bool {
    let change = &received.change;
    change.kind == ChangeKind::Alive && change.payload.is_none() && !change.is_end_of_set()
}

fn payload_len(change: &ReceivedChange) -> usize {
    change.change.payload.as_ref().map_or(0, crate::concurrent::Payload::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::history::{CacheChange, PresentationInfo};
    use crate::types::{Guid, InstanceHandle, Time};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const NUMBERS_MAX: usize = 24;
    const BYTES_MAX: usize = 40;

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

    /// What is known of a number.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Known {
        Held(usize),
        /// Holds the place of what a filter has left out.
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
        /// The change at the front finds no room, and comes back.
        Return,
        Leave,
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
        ]
    }

    /// The same with a map.
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

    fn check(window: &Window, naive: &Naive) {
        let held = naive.count(|known| matches!(known, Known::Held(_) | Known::EndOfSet));
        let irrelevant = naive.count(|known| *known == Known::Irrelevant);
        let spent = naive.count(|known| matches!(known, Known::Spent | Known::Blank));
        let end = naive.known.keys().next_back().map_or(naive.next, |last| last + 1);
        let missing = (end - naive.next) as u64 - held - irrelevant - spent;
        assert_eq!((window.next().0, window.held(), window.is_empty()), (naive.next, held, naive.known.is_empty()));
        assert_eq!((window.end().0, window.census()), (end, (missing, irrelevant, spent)));
        for number in naive.next - 2..end + 3 {
            let is_missing = number >= naive.next && !naive.known.contains_key(&number);
            assert_eq!(window.is_missing(SequenceNumber(number)), is_missing, "{number}");
        }
        for len in [0, 10, BYTES_MAX] {
            let number = naive.next + 5;
            let has_room = window.has_room(SequenceNumber(number), NUMBERS_MAX, len, BYTES_MAX);
            assert_eq!(has_room, naive.has_room(number, len), "{len} bytes");
        }
    }

    proptest! {
        #[test]
        fn it_knows_of_each_number_what_a_map_would(acts in vec(acts(), 1..200)) {
            let mut naive = Naive { next: 1, ..Naive::default() };
            let mut window = Window::new(SequenceNumber::FIRST);
            for act in acts {
                match act {
                    Act::Come(ahead, known) => {
                        let number = SequenceNumber(naive.next + ahead);
                        let len = if let Known::Held(len) = known { len } else { 0 };
                        let fits = window.has_room(number, NUMBERS_MAX, len, BYTES_MAX) && window.is_missing(number);
                        prop_assert_eq!(fits, naive.has_room(number.0, len) && !naive.known.contains_key(&number.0));
                        if fits {
                            naive.known.insert(number.0, known);
                            match known {
                                Known::Held(len) => window.hold(number, received(number.0, Some(len), false)),
                                Known::Blank => window.hold(number, received(number.0, None, false)),
                                Known::EndOfSet => window.hold(number, received(number.0, None, true)),
                                Known::Spent | Known::Irrelevant => window.spend(number),
                            }
                        }
                    }
                    Act::Pass(from, count) => {
                        let (from, to) = (naive.next + from, naive.next + from + count);
                        window.pass(SequenceNumber(from), SequenceNumber(to), NUMBERS_MAX);
                        for number in from.max(naive.next)..to.min(naive.next + NUMBERS_MAX as i64) {
                            naive.known.entry(number).or_insert(Known::Irrelevant);
                        }
                    }
                    Act::Pop | Act::Return => {
                        let front = naive.known.remove(&naive.next);
                        match (window.pop(), front) {
                            (Front::Change(change), Some(Known::Held(_) | Known::Blank | Known::EndOfSet)) => {
                                prop_assert_eq!(change.change.sequence_number.0, naive.next);
                                if matches!(act, Act::Return) {
                                    window.put_back(change);
                                    naive.known.extend(front.map(|front| (naive.next, front)));
                                } else {
                                    naive.next += 1;
                                }
                            }
                            (Front::Spent, Some(Known::Spent)) | (Front::Passed, Some(Known::Irrelevant)) => naive.next += 1,
                            (Front::Missing, None) => prop_assert!(!naive.known.is_empty()),
                            (Front::Empty, None) => prop_assert!(naive.known.is_empty()),
                            (window, map) => prop_assert!(false, "{:?} instead of {:?}", window, map),
                        }
                    }
                    Act::Leave => {
                        if window.is_missing(window.next()) && !window.is_empty() {
                            window.skip();
                            naive.next += 1;
                        } else if window.is_empty() {
                            window.jump(SequenceNumber(naive.next + 7));
                            naive.next += 7;
                        }
                    }
                }
                check(&window, &naive);
            }
        }
    }
}
