//! The reader's samples: one slab, and two lists through each sample.
//!
//! Life cycle: a sample is put into a free place of the slab, hangs in the list of all arrivals and in the list of its
//! instance, and leaves both in one step; its place is used again. Adding and removing is O(1) and allocates only when more
//! samples lie here than ever before. Bound: the history's limits.

use super::{ChangeKind, OriginalWriterInfo};
use crate::concurrent::Payload;
use crate::types::{Guid, Instant, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// No place.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The neighbours of a sample in one list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    previous: u32,
    next: u32,
}

/// A list of samples: its ends and its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) len: usize,
}

impl List {
    pub(super) const EMPTY: Self = Self { first: NOWHERE, last: NOWHERE, len: 0 };
}

/// What the history keeps of a sample.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) kind: ChangeKind,
    pub(super) writer: Guid,
    pub(super) sequence_number: SequenceNumber,
    pub(super) source_timestamp: Time,
    pub(super) reception_timestamp: Time,
    /// When the sample's lifespan ends.
    pub(super) expires: Option<Instant>,
    pub(super) related_sample: Option<SampleIdentity>,
    pub(super) origin: Option<Box<OriginalWriterInfo>>,
    pub(super) payload: Option<Payload>,
    /// Data, rather than only news of the instance's state.
    pub(super) valid: bool,
    pub(super) read: bool,
    pub(super) disposed_generations: u32,
    pub(super) no_writers_generations: u32,
    pub(super) instance: u32,
}

impl Stored {
    /// All generations of the instance that lie before the sample.
    pub(super) fn generation(&self) -> u32 {
        self.disposed_generations.wrapping_add(self.no_writers_generations)
    }
}

#[derive(Debug)]
struct Place {
    stored: Stored,
    arrival: Links,
    sibling: Links,
}

/// The slab.
#[derive(Debug)]
pub(super) struct Samples {
    places: Vec<Place>,
    /// The free places, linked through `arrival.next`.
    free: u32,
    pub(super) arrivals: List,
}

impl Samples {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: NOWHERE, arrivals: List::EMPTY }
    }

    pub(super) fn get(&self, at: u32) -> &Stored {
        &self.places[at as usize].stored
    }

    pub(super) fn get_mut(&mut self, at: u32) -> &mut Stored {
        &mut self.places[at as usize].stored
    }

    /// The sample that arrived after this one.
    pub(super) fn next_arrival(&self, at: u32) -> u32 {
        self.places[at as usize].arrival.next
    }

    /// The sample that arrived before this one.
    pub(super) fn previous_arrival(&self, at: u32) -> u32 {
        self.places[at as usize].arrival.previous
    }

    /// The next sample of the same instance.
    pub(super) fn next_sibling(&self, at: u32) -> u32 {
        self.places[at as usize].sibling.next
    }

    /// The sample of the same instance before this one.
    pub(super) fn previous_sibling(&self, at: u32) -> u32 {
        self.places[at as usize].sibling.previous
    }

    /// Moves the last of all samples before another one of its instance, in both lists.
    pub(super) fn bring_forward(&mut self, siblings: &mut List, before: u32) {
        let at = siblings.last;
        let (arrival, sibling) = (self.places[at as usize].arrival.previous, self.places[at as usize].sibling.previous);
        debug_assert!(at == self.arrivals.last && before != at, "it was pushed just now");
        // There is one before it: the one that it goes before, at the latest.
        self.places[arrival as usize].arrival.next = NOWHERE;
        self.places[sibling as usize].sibling.next = NOWHERE;
        (self.arrivals.last, siblings.last) = (arrival, sibling);
        let next = &mut self.places[before as usize];
        let arrival = std::mem::replace(&mut next.arrival.previous, at);
        let sibling = std::mem::replace(&mut next.sibling.previous, at);
        let place = &mut self.places[at as usize];
        place.arrival = Links { previous: arrival, next: before };
        place.sibling = Links { previous: sibling, next: before };
        match self.places.get_mut(arrival as usize) {
            Some(previous) => previous.arrival.next = at,
            None => self.arrivals.first = at,
        }
        match self.places.get_mut(sibling as usize) {
            Some(previous) => previous.sibling.next = at,
            None => siblings.first = at,
        }
    }

    /// Appends to the list of arrivals and to `siblings`, the list of the sample's instance.
    #[inline]
    pub(super) fn push(&mut self, siblings: &mut List, stored: Stored) -> u32 {
        let arrival = Links { previous: self.arrivals.last, next: NOWHERE };
        let sibling = Links { previous: siblings.last, next: NOWHERE };
        let at = match self.places.get_mut(self.free as usize) {
            Some(free) => {
                let next = free.arrival.next;
                // One by one: as a whole it would be put together elsewhere, and moved.
                free.stored = stored;
                (free.arrival, free.sibling) = (arrival, sibling);
                std::mem::replace(&mut self.free, next)
            }
            None => {
                self.places.push(Place { stored, arrival, sibling });
                (self.places.len() - 1) as u32
            }
        };
        match self.places.get_mut(arrival.previous as usize) {
            Some(previous) => previous.arrival.next = at,
            None => self.arrivals.first = at,
        }
        match self.places.get_mut(sibling.previous as usize) {
            Some(previous) => previous.sibling.next = at,
            None => siblings.first = at,
        }
        self.arrivals.last = at;
        self.arrivals.len += 1;
        siblings.last = at;
        siblings.len += 1;
        at
    }

    /// Takes a sample out of both lists and gives its payload.
    pub(super) fn remove(&mut self, siblings: &mut List, at: u32) -> Option<Payload> {
        let place = &mut self.places[at as usize];
        let payload = place.stored.payload.take();
        let (arrival, sibling) = (place.arrival, place.sibling);
        place.arrival = Links { previous: NOWHERE, next: self.free };
        self.free = at;
        match self.places.get_mut(arrival.previous as usize) {
            Some(previous) => previous.arrival.next = arrival.next,
            None => self.arrivals.first = arrival.next,
        }
        match self.places.get_mut(arrival.next as usize) {
            Some(next) => next.arrival.previous = arrival.previous,
            None => self.arrivals.last = arrival.previous,
        }
        self.arrivals.len -= 1;
        match self.places.get_mut(sibling.previous as usize) {
            Some(previous) => previous.sibling.next = sibling.next,
            None => siblings.first = sibling.next,
        }
        match self.places.get_mut(sibling.next as usize) {
            Some(next) => next.sibling.previous = sibling.previous,
            None => siblings.last = sibling.previous,
        }
        siblings.len -= 1;
        payload
    }
}
