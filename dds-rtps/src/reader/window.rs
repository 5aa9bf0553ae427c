//! The numbers of one reliable writer from the first one that has not been delivered.
//!
//! Life cycle: while everything comes in order the window is empty and costs nothing. A change ahead of a missing one lies
//! here until the missing one has come, or is known never to come. Bound: [`REORDER_MAX`](super::REORDER_MAX) numbers, and
//! the bytes that the caller allows.

use crate::history::ReceivedChange;
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
pub(super) enum Front {
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
pub(super) struct Window {
    /// The first number that has not been delivered, lost or declared irrelevant.
    next: SequenceNumber,
    slots: VecDeque<Slot>,
    held: usize,
    bytes: usize,
}

impl Window {
    pub(super) fn new(next: SequenceNumber) -> Self {
        Self { next, slots: VecDeque::new(), held: 0, bytes: 0 }
    }

    pub(super) fn next(&self) -> SequenceNumber {
        self.next
    }

    /// The number after the last one that something is known about.
    pub(super) fn end(&self) -> SequenceNumber {
        self.next.plus(self.slots.len() as i64)
    }

    /// Where `number` lies in the window, if it is not behind it.
    fn offset(&self, number: SequenceNumber) -> Option<usize> {
        number.0.checked_sub(self.next.0).and_then(|offset| usize::try_from(offset).ok())
    }

    /// Whether nothing is known about a number that is not behind the window.
    pub(super) fn is_missing(&self, number: SequenceNumber) -> bool {
        let Some(offset) = self.offset(number) else { return false };
        self.slots.get(offset).is_none_or(|slot| matches!(slot, Slot::Missing))
    }

    /// Whether a change `number` of this many bytes could be kept.
    pub(super) fn has_room(&self, number: SequenceNumber, numbers_max: usize, len: usize, bytes_max: usize) -> bool {
        let fits = self.held == 0 || self.bytes.saturating_add(len) <= bytes_max;
        fits && self.offset(number).is_some_and(|offset| offset < numbers_max)
    }

    /// Keeps a change. The caller has asked [`Window::has_room`] and [`Window::is_missing`].
    pub(super) fn hold(&mut self, number: SequenceNumber, change: ReceivedChange) {
        self.held += 1;
        self.bytes += payload_len(&change);
        self.set(number, Slot::Held(change));
    }

    /// Puts the change back that [`Window::pop`] gave last.
    pub(super) fn put_back(&mut self, change: ReceivedChange) {
        self.held += 1;
        self.bytes += payload_len(&change);
        self.next = self.next.previous();
        self.slots.push_front(Slot::Held(change));
    }

    /// Notes that a number has come for which there is nothing to deliver.
    pub(super) fn spend(&mut self, number: SequenceNumber) {
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
    pub(super) fn pass(&mut self, start: SequenceNumber, end: SequenceNumber, numbers_max: usize) {
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
    pub(super) fn census(&self) -> (u64, u64, u64) {
        self.slots.iter().fold((0, 0, 0), |(missing, irrelevant, spent), slot| match slot {
            Slot::Missing => (missing + 1, irrelevant, spent),
            Slot::Irrelevant => (missing, irrelevant + 1, spent),
            Slot::Spent => (missing, irrelevant, spent + 1),
            Slot::Held(_) => (missing, irrelevant, spent),
        })
    }

    /// How many changes wait.
    pub(super) fn held(&self) -> u64 {
        self.held as u64
    }

    /// Whether nothing is known about any number that is not behind it.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Begins again at a number that lies behind it. The window must be empty.
    pub(super) fn go_back(&mut self, number: SequenceNumber) {
        debug_assert!(self.slots.is_empty(), "going back would forget changes");
        self.next = self.next.min(number);
    }

    /// Takes what stands at the front, unless it is missing.
    pub(super) fn pop(&mut self) -> Front {
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
                self.held -= 1;
                self.bytes -= payload_len(&change);
                self.skip();
                Front::Change(change)
            }
        }
    }

    /// Leaves the first number behind.
    pub(super) fn skip(&mut self) {
        self.slots.pop_front();
        self.next = self.next.next();
    }

    /// Begins again at `number`. The window must be empty.
    pub(super) fn jump(&mut self, number: SequenceNumber) {
        debug_assert!(self.slots.is_empty(), "a jump would forget changes");
        self.next = self.next.max(number);
    }
}

fn payload_len(change: &ReceivedChange) -> usize {
    change.change.payload.as_ref().map_or(0, crate::history::Payload::len)
}
