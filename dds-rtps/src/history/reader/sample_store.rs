//! The samples of a reader: one slab with two lists through it, by arrival and by instance.
//!
//! Life cycle: a sample occupies a free slot, joins the list of all arrivals and the list of its instance, and leaves
//! both in one step. Its slot is reused. Adding and removing is O(1), and allocates only if the store holds more
//! samples than ever before. A sample with a LIFESPAN also enters a heap, which costs O(log n). Bound: the limits of
//! the history.

use super::instances::InstanceIndex;
use crate::concurrent::Payload;
use crate::history::{ChangeKind, OriginalWriterInfo};
use crate::types::{DueHeap, Duration, Guid, Instant, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// Index of a sample in the [`SampleStore`].
pub(super) type SampleIndex = u32;

/// No sample.
pub(super) const NO_SAMPLE: SampleIndex = u32::MAX;

/// The shortest time between two timer runs for expired samples. A run may cost a system call, and only frees memory.
const EXPIRY_INTERVAL: Duration = Duration::from_millis(50);

/// The links of a sample in one list.
#[derive(Debug, Clone, Copy)]
struct SampleLinks {
    previous: SampleIndex,
    next: SampleIndex,
}

/// A list of samples: its ends and its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampleList {
    pub(super) first: SampleIndex,
    pub(super) last: SampleIndex,
    pub(super) len: usize,
}

impl SampleList {
    pub(super) const EMPTY: Self = Self { first: NO_SAMPLE, last: NO_SAMPLE, len: 0 };
}

/// A sample in the store.
#[derive(Debug)]
pub(super) struct StoredSample {
    pub(super) kind: ChangeKind,
    pub(super) writer: Guid,
    pub(super) sequence_number: SequenceNumber,
    pub(super) source_timestamp: Time,
    pub(super) reception_timestamp: Time,
    /// When the LIFESPAN of the sample ends.
    pub(super) expires: Option<Instant>,
    pub(super) related_sample: Option<SampleIdentity>,
    pub(super) origin: Option<Box<OriginalWriterInfo>>,
    pub(super) payload: Option<Payload>,
    /// Whether the sample has data. A notice has none.
    pub(super) has_data: bool,
    pub(super) read: bool,
    pub(super) disposed_generations: u32,
    pub(super) no_writers_generations: u32,
    pub(super) instance: InstanceIndex,
}

impl StoredSample {
    /// The generation of the instance when the sample arrived.
    pub(super) fn generation(&self) -> u32 {
        self.disposed_generations.wrapping_add(self.no_writers_generations)
    }

    /// The original writer and its sequence number. The sender may be a durability service.
    pub(super) fn identity(&self) -> SampleIdentity {
        match &self.origin {
            Some(origin) => origin.identity,
            None => SampleIdentity { writer: self.writer, sequence_number: self.sequence_number },
        }
    }
}

#[derive(Debug)]
struct SampleSlot {
    sample: StoredSample,
    arrival: SampleLinks,
    sibling: SampleLinks,
}

/// The samples of a reader.
#[derive(Debug)]
pub(super) struct SampleStore {
    slots: Vec<SampleSlot>,
    /// The first free slot. Free slots are linked through `arrival.next`.
    free: SampleIndex,
    pub(super) arrivals: SampleList,
    /// Samples that have not been read yet, notices included.
    unread: usize,
    /// Samples with data.
    with_data: usize,
    /// The samples whose LIFESPAN ends.
    pub(super) lifespans: DueHeap,
    /// The timer does not run for expired samples before this.
    expiry_floor: Instant,
}

impl SampleStore {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: NO_SAMPLE,
            arrivals: SampleList::EMPTY,
            unread: 0,
            with_data: 0,
            lifespans: DueHeap::new(),
            expiry_floor: Instant::ZERO,
        }
    }

    /// How many samples have not been read yet, notices included.
    pub(super) fn unread(&self) -> usize {
        self.unread
    }

    /// How many samples with data are stored.
    pub(super) fn with_data(&self) -> usize {
        self.with_data
    }

    pub(super) fn get(&self, at: SampleIndex) -> &StoredSample {
        &self.slots[at as usize].sample
    }

    pub(super) fn get_mut(&mut self, at: SampleIndex) -> &mut StoredSample {
        &mut self.slots[at as usize].sample
    }

    /// The sample that arrived after this one.
    pub(super) fn next_arrival(&self, at: SampleIndex) -> SampleIndex {
        self.slots[at as usize].arrival.next
    }

    /// The sample that arrived before this one.
    pub(super) fn previous_arrival(&self, at: SampleIndex) -> SampleIndex {
        self.slots[at as usize].arrival.previous
    }

    /// The next sample of the same instance.
    pub(super) fn next_sibling(&self, at: SampleIndex) -> SampleIndex {
        self.slots[at as usize].sibling.next
    }

    /// The previous sample of the same instance.
    pub(super) fn previous_sibling(&self, at: SampleIndex) -> SampleIndex {
        self.slots[at as usize].sibling.previous
    }

    /// Marks a sample as read. Returns whether it was unread.
    pub(super) fn mark_read(&mut self, at: SampleIndex) -> bool {
        let was_unread = !std::mem::replace(&mut self.slots[at as usize].sample.read, true);
        // A sample may be read many times, and counts only once.
        self.unread -= usize::from(was_unread);
        was_unread
    }

    /// Moves the newest sample before another one of its instance, in both lists.
    pub(super) fn move_newest_before(&mut self, siblings: &mut SampleList, before: SampleIndex) {
        let at = siblings.last;
        debug_assert!(at == self.arrivals.last && before != at, "it was pushed just now");
        // Both previous neighbors exist: `before` lies in front of it in both lists.
        let SampleLinks { previous: arrival, .. } = self.slots[at as usize].arrival;
        let SampleLinks { previous: sibling, .. } = self.slots[at as usize].sibling;
        // First remove it from the end of both lists, then insert it before `before`.
        self.slots[arrival as usize].arrival.next = NO_SAMPLE;
        self.slots[sibling as usize].sibling.next = NO_SAMPLE;
        (self.arrivals.last, siblings.last) = (arrival, sibling);
        let next = &mut self.slots[before as usize];
        let arrival = std::mem::replace(&mut next.arrival.previous, at);
        let sibling = std::mem::replace(&mut next.sibling.previous, at);
        let slot = &mut self.slots[at as usize];
        slot.arrival = SampleLinks { previous: arrival, next: before };
        slot.sibling = SampleLinks { previous: sibling, next: before };
        match self.slots.get_mut(arrival as usize) {
            Some(previous) => previous.arrival.next = at,
            None => self.arrivals.first = at,
        }
        match self.slots.get_mut(sibling as usize) {
            Some(previous) => previous.sibling.next = at,
            None => siblings.first = at,
        }
    }

    /// Appends an unread sample to the arrivals and to `siblings`, the samples of its instance.
    #[inline]
    pub(super) fn push(&mut self, siblings: &mut SampleList, sample: StoredSample) -> SampleIndex {
        debug_assert!(!sample.read, "a new sample is unread");
        let arrival = SampleLinks { previous: self.arrivals.last, next: NO_SAMPLE };
        let sibling = SampleLinks { previous: siblings.last, next: NO_SAMPLE };
        let expires = sample.expires;
        self.with_data += usize::from(sample.has_data);
        self.unread += 1;
        let at = match self.slots.get_mut(self.free as usize) {
            Some(free) => {
                let next = free.arrival.next;
                // Field by field: a whole `SampleSlot` would be assembled on the stack and then copied.
                free.sample = sample;
                (free.arrival, free.sibling) = (arrival, sibling);
                std::mem::replace(&mut self.free, next)
            }
            None => {
                self.slots.push(SampleSlot { sample, arrival, sibling });
                (self.slots.len() - 1) as SampleIndex
            }
        };
        // `NO_SAMPLE` lies beyond all slots, so a missing neighbor needs no check of its own.
        match self.slots.get_mut(arrival.previous as usize) {
            Some(previous) => previous.arrival.next = at,
            None => self.arrivals.first = at,
        }
        match self.slots.get_mut(sibling.previous as usize) {
            Some(previous) => previous.sibling.next = at,
            None => siblings.first = at,
        }
        self.arrivals.last = at;
        self.arrivals.len += 1;
        siblings.last = at;
        siblings.len += 1;
        if let Some(expires) = expires {
            self.lifespans.note(at, expires);
        }
        at
    }

    /// Removes a sample from both lists and returns its payload.
    pub(super) fn remove(&mut self, siblings: &mut SampleList, at: SampleIndex) -> Option<Payload> {
        debug_assert!(self.arrivals.len > 0 && siblings.len > 0, "the sample is in both lists");
        let slot = &mut self.slots[at as usize];
        // A free slot must not keep the memory of a payload.
        let payload = slot.sample.payload.take();
        let (arrival, sibling) = (slot.arrival, slot.sibling);
        // The free slots form a list through this link.
        slot.arrival = SampleLinks { previous: NO_SAMPLE, next: self.free };
        self.free = at;
        self.with_data -= usize::from(slot.sample.has_data);
        self.unread -= usize::from(!slot.sample.read);
        if slot.sample.expires.is_some() {
            self.lifespans.forget(at);
        }
        match self.slots.get_mut(arrival.previous as usize) {
            Some(previous) => previous.arrival.next = arrival.next,
            None => self.arrivals.first = arrival.next,
        }
        match self.slots.get_mut(arrival.next as usize) {
            Some(next) => next.arrival.previous = arrival.previous,
            None => self.arrivals.last = arrival.previous,
        }
        self.arrivals.len -= 1;
        match self.slots.get_mut(sibling.previous as usize) {
            Some(previous) => previous.sibling.next = sibling.next,
            None => siblings.first = sibling.next,
        }
        match self.slots.get_mut(sibling.next as usize) {
            Some(next) => next.sibling.previous = sibling.previous,
            None => siblings.last = sibling.previous,
        }
        siblings.len -= 1;
        payload
    }

    /// When the timer has to run for expired samples.
    pub(super) fn expiry_deadline(&self) -> Option<Instant> {
        // The floor bounds how often samples with scattered ends wake the reader.
        Some(self.lifespans.first()?.max(self.expiry_floor))
    }

    /// Notes a run of the timer at `now`. If samples are left that have expired, the next run follows at once.
    pub(super) fn note_expiry_run(&mut self, now: Instant, is_complete: bool) {
        self.expiry_floor = if is_complete { now.after(EXPIRY_INTERVAL).unwrap_or(now) } else { now };
    }
}
