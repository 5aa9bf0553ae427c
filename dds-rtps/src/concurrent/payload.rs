//! Encoded samples in pooled, counted slots.
//!
//! Life cycle: [`SlotPool::acquire`] gives a [`SlotMut`] that only its holder can see; it is filled once and frozen into
//! [`Payload`]s, which are shared by counting and never changed. When the last payload of a slot is gone, the pool finds
//! the slot free again and hands it out with its memory as it is.
//!
//! Bound: a pool remembers at most its `capacity` of slots, and more as long as all of them together have no more memory than
//! its budget, so that the slots of a deep history of small samples are used again as well. What is beyond that lives on the
//! heap as long as somebody holds it. Slots outlive the pool, so a batch of samples may outlive its reader.

use crate::cdr::copy_of;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many slots at the front of a ring are tried before a new one is made. Slots come free nearly in the order in
/// which they were taken, so the first one is the rule.
const TRIES: usize = 4;

/// How often a slot may be among those that are found taken while none is free, before it counts as kept. The last slot of an
/// instance is often found taken once or twice, as its successor is filled before it is replaced.
const MISSES_MAX: u8 = 3;

/// The memory of one sample.
#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
}

impl Slot {
    /// How many bytes the slot takes, whatever is in it. Stays as it is while the slot is remembered, for only who has it alone
    /// may write.
    fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }

    /// Whether whoever asks has it alone. Stays so, for only a holder can make another reference.
    fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// A part of a slot that nobody changes any more: cheap to clone, one atomic.
#[derive(Clone)]
pub struct Payload {
    slot: Arc<Slot>,
    start: usize,
    end: usize,
}

impl Payload {
    /// The bytes, beginning with the encapsulation header.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.slot.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// A part of this payload, in the same slot. Clamped to what there is.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = self.start.saturating_add(range.start).min(self.end);
        let end = self.start.saturating_add(range.end).clamp(start, self.end);
        Self { slot: Arc::clone(&self.slot), start, end }
    }

    /// Whether most of the slot's memory is not of use for this part of it.
    #[must_use]
    pub fn is_small_part(&self) -> bool {
        self.len() < self.slot.bytes.capacity() / 2
    }

    /// The slot, to be written again, if nobody else has a part of it and no ring remembers it.
    ///
    /// # Errors
    /// The payload, if somebody does.
    pub fn into_slot(self) -> Result<SlotMut, Self> {
        let (start, end) = (self.start, self.end);
        SlotMut::of(self.slot).map_err(|slot| Self { slot, start, end })
    }

    /// A payload in a slot of its own, outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self { slot: Arc::new(Slot { bytes: copy_of(bytes) }), start: 0, end: bytes.len() }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

/// A slot that only its holder sees.
#[derive(Debug)]
pub struct SlotMut {
    slot: Arc<Slot>,
}

impl SlotMut {
    /// The slot, if nobody else has it.
    fn of(slot: Arc<Slot>) -> Result<Self, Arc<Slot>> {
        // `buffer` proves it again.
        if slot.is_free() { Ok(Self { slot }) } else { Err(slot) }
    }

    fn new() -> Self {
        Self { slot: Arc::default() }
    }

    /// A slot of its own, outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self { slot: Arc::new(Slot { bytes: copy_of(bytes) }) }
    }

    /// What has been written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.slot.bytes
    }

    /// The memory: filled with what the slot held before, or cleared, as the taker of it likes.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        // Nobody else can have it: `SlotMut` is not `Clone`, and is made only of a slot whose other references were seen to
        // be gone. Were it ever untrue, a fresh slot would take its place.
        if Arc::strong_count(&self.slot) != 1 {
            self.slot = Arc::default();
        }
        &mut Arc::get_mut(&mut self.slot).expect("one reference, and weak ones are never made").bytes
    }

    /// Ends the writing: the whole slot as a payload.
    #[must_use]
    pub fn freeze(self) -> Payload {
        let end = self.slot.bytes.len();
        Payload { slot: self.slot, start: 0, end }
    }
}

/// Slots that are used again, for one user at a time; see [`SlotPool`] for several.
///
/// A slot that is found still taken again and again goes over to the kept ones, which are looked at only when no young one
/// is free: the last samples of a thousand quiet instances must not stand in the way of one busy instance. Both stay in the
/// order in which they were taken, as long as that is the order in which they come free.
#[derive(Debug)]
pub struct SlotRing {
    young: VecDeque<Young>,
    kept: VecDeque<Arc<Slot>>,
    capacity: usize,
    /// Bytes that the remembered slots may have together where they are more than `capacity`.
    budget: usize,
    /// Bytes that they have.
    bytes: usize,
    /// The kept slot that was looked at last.
    cursor: usize,
    /// Slots made because none was free.
    made: u64,
}

#[derive(Debug)]
struct Young {
    slot: Arc<Slot>,
    /// How often it was among the first when none was free.
    misses: u8,
}

impl SlotRing {
    /// A ring that remembers at most `capacity` slots. Makes none before they are asked for.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self::with_budget(capacity, 0)
    }

    /// A ring that remembers `capacity` slots, and more as long as all of them have at most `budget` bytes of memory.
    #[must_use]
    pub const fn with_budget(capacity: usize, budget: usize) -> Self {
        Self { young: VecDeque::new(), kept: VecDeque::new(), capacity, budget, bytes: 0, cursor: 0, made: 0 }
    }

    fn len(&self) -> usize {
        self.young.len() + self.kept.len()
    }

    /// How many slots have been made because none was free.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }

    /// Remembers a slot, if there is room for it.
    fn push(&mut self, slot: Arc<Slot>) {
        let bytes = self.bytes.saturating_add(slot.memory());
        if self.len() < self.capacity || bytes <= self.budget {
            self.bytes = bytes;
            self.young.push_back(Young { slot, misses: 0 });
        }
    }

    /// A slot whose memory may be written, with the bytes of its last use in it.
    pub fn acquire(&mut self) -> SlotMut {
        let Some(free) = self.first_slot().or_else(|| self.free_slot()) else {
            self.made += 1;
            return SlotMut::new();
        };
        self.bytes = self.bytes.saturating_sub(free.slot.memory());
        free
    }

    /// The slot that was taken first, if it is free: a history lets go of its slots in the order in which they were taken.
    #[inline]
    fn first_slot(&mut self) -> Option<SlotMut> {
        if !self.young.front()?.slot.is_free() {
            return None;
        }
        self.young.pop_front().and_then(|young| SlotMut::of(young.slot).ok())
    }

    /// Another one. Some of those behind the first are looked at, others each time.
    fn free_slot(&mut self) -> Option<SlotMut> {
        if let Some(at) = self.young.iter().take(TRIES).position(|young| young.slot.is_free()) {
            return self.young.remove(at).and_then(|young| SlotMut::of(young.slot).ok());
        }
        if let Some(at) = self.kept.iter().take(TRIES).position(|slot| slot.is_free()) {
            return self.kept.remove(at).and_then(|slot| SlotMut::of(slot).ok());
        }
        for _ in 0..TRIES.min(self.kept.len()) {
            self.cursor = if self.cursor + 1 < self.kept.len() { self.cursor + 1 } else { 0 };
            if self.kept.get(self.cursor).is_some_and(|slot| slot.is_free()) {
                // The first one, which is in the way, takes its place.
                return self.kept.swap_remove_front(self.cursor).and_then(|slot| SlotMut::of(slot).ok());
            }
        }
        // A slot more is made. The first ones may not come free for long.
        self.young.iter_mut().take(TRIES).for_each(|young| young.misses += 1);
        while let Some(young) = self.young.pop_front() {
            if young.misses <= MISSES_MAX {
                self.young.push_front(young);
                break;
            }
            self.kept.push_back(young.slot);
        }
        None
    }

    /// Ends the writing, and remembers the slot for later use.
    pub fn freeze(&mut self, slot: SlotMut) -> Payload {
        let payload = slot.freeze();
        self.push(Arc::clone(&payload.slot));
        payload
    }

    /// Takes a slot, lets `fill` write it, and freezes it. If `fill` fails or panics, the slot is free again.
    ///
    /// # Errors
    /// That of `fill`.
    pub fn fill<E>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Payload, E> {
        let mut filling = Filling { ring: self, slot: None };
        let slot = filling.slot.insert(filling.ring.acquire());
        fill(slot.buffer())?;
        let end = slot.slot.bytes.len();
        Ok(Payload { slot: Arc::clone(&slot.slot), start: 0, end })
    }

    /// Gives a slot back unwritten.
    pub fn give_back(&mut self, slot: SlotMut) {
        drop(self.freeze(slot));
    }

    /// Remembers the slot of a payload that was frozen without the ring, for use once all of its payloads are gone.
    pub fn remember(&mut self, payload: Payload) {
        self.push(payload.slot);
    }
}

/// A slot that somebody fills. Afterwards its ring remembers it, whatever has become of it.
struct Filling<'a> {
    ring: &'a mut SlotRing,
    slot: Option<SlotMut>,
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        if let Some(SlotMut { slot }) = self.slot.take() {
            self.ring.push(slot);
        }
    }
}

/// A [`SlotRing`] that several threads use.
#[derive(Debug)]
pub struct SlotPool {
    ring: Mutex<SlotRing>,
}

impl SlotPool {
    /// A pool that remembers at most `capacity` slots. Makes none before they are asked for.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self::with_budget(capacity, 0)
    }

    /// A pool that remembers `capacity` slots, and more as long as all of them have at most `budget` bytes of memory.
    #[must_use]
    pub const fn with_budget(capacity: usize, budget: usize) -> Self {
        Self { ring: Mutex::new(SlotRing::with_budget(capacity, budget)) }
    }

    fn ring(&self) -> MutexGuard<'_, SlotRing> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot whose memory may be written, with the bytes of its last use in it.
    pub fn acquire(&self) -> SlotMut {
        self.ring().acquire()
    }

    /// How many slots have been made because none was free.
    pub fn made(&self) -> u64 {
        self.ring().made()
    }

    /// Ends the writing, and remembers the slot for later use.
    pub fn freeze(&self, slot: SlotMut) -> Payload {
        self.ring().freeze(slot)
    }

    /// Gives a slot back unwritten.
    pub fn give_back(&self, slot: SlotMut) {
        self.ring().give_back(slot);
    }
}

/// Where a payload that came in a datagram lies, and how to keep it.
///
/// Small payloads are copied into the reader's own slots; large ones are shared with the receive buffer itself, where it
/// allows that.
pub trait PayloadSource {
    /// `bytes`, which lie in this packet, as a payload that may be kept; `None` if the packet cannot be shared.
    fn share(&self, bytes: &[u8]) -> Option<Payload>;
}

/// A packet that cannot be shared: every payload is copied.
impl PayloadSource for () {
    fn share(&self, _bytes: &[u8]) -> Option<Payload> {
        None
    }
}

/// A packet that lies in a slot: its parts are shared.
impl PayloadSource for Payload {
    fn share(&self, bytes: &[u8]) -> Option<Payload> {
        let base = self.bytes().as_ptr() as usize;
        let start = (bytes.as_ptr() as usize).checked_sub(base)?;
        let end = start.checked_add(bytes.len())?;
        (end <= self.len()).then(|| self.slice(start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_once_its_payloads_are_gone() {
        let pool = SlotPool::new(8);
        let mut slot = pool.acquire();
        slot.buffer().extend_from_slice(&[1; 100]);
        let memory = slot.buffer().as_ptr();
        let payload = pool.freeze(slot);
        let other = pool.acquire();
        assert_ne!(memory, { other }.buffer().as_ptr());
        drop(payload);
        let mut again = pool.acquire();
        assert_eq!(again.buffer().as_ptr(), memory);
        assert_eq!(again.buffer().len(), 100);
    }

    #[test]
    fn a_slot_comes_back_from_whoever_panics_while_he_fills_it() {
        let mut ring = SlotRing::new(2);
        let filled: Result<Payload, ()> = ring.fill(|buffer| {
            buffer.resize(1_000, 7);
            Ok(())
        });
        assert_eq!(filled.unwrap().bytes(), [7; 1_000]);
        let (slots, bytes) = (ring.len(), ring.bytes);
        for turn in 0..1_000 {
            let fill = std::panic::AssertUnwindSafe(|| {
                ring.fill(|buffer| {
                    assert_eq!(buffer.capacity(), 1_000, "another slot");
                    // Without a word on the console, unlike `panic!`.
                    if turn % 2 == 0 { Err(()) } else { std::panic::resume_unwind(Box::new("on purpose")) }
                })
            });
            match std::panic::catch_unwind(fill) {
                Ok(filled) => assert!(filled.is_err() && turn % 2 == 0),
                Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"on purpose")),
            }
            assert_eq!((ring.len(), ring.bytes), (slots, bytes));
        }
    }

    #[test]
    fn a_pool_remembers_no_more_than_its_capacity() {
        let pool = SlotPool::new(2);
        let kept: Vec<Payload> = (0..10).map(|_| pool.freeze(pool.acquire())).collect();
        assert_eq!(pool.ring.lock().unwrap().len(), 2);
        drop(kept);
    }

    /// Writes `count` samples of `len` bytes into a history of `depth`; how many slots were made for them.
    fn slots_made(
        ring: &mut SlotRing,
        history: &mut VecDeque<Payload>,
        depth: usize,
        len: usize,
        count: usize,
    ) -> usize {
        let write = |_: &usize| {
            let mut slot = ring.acquire();
            let is_new = slot.buffer().capacity() == 0;
            slot.buffer().resize(len, 0);
            history.push_back(ring.freeze(slot));
            if history.len() > depth {
                history.pop_front();
            }
            is_new
        };
        (0..count).filter(write).count()
    }

    #[test]
    fn the_slots_of_a_deep_history_are_used_again_as_far_as_the_budget_goes() {
        let (mut ring, mut history) = (SlotRing::with_budget(100, 1 << 20), VecDeque::new());
        assert!(slots_made(&mut ring, &mut history, 5_000, 64, 20_000) >= 5_000);
        assert_eq!(slots_made(&mut ring, &mut history, 5_000, 64, 20_000), 0);
        let memory: usize =
            ring.young.iter().map(|young| &young.slot).chain(&ring.kept).map(|slot| slot.memory()).sum();
        assert_eq!(ring.bytes, memory);
        // Those that grow take the room of others.
        slots_made(&mut ring, &mut history, 5_000, 1_000, 20_000);
        assert!(ring.bytes <= 1 << 20, "{} bytes", ring.bytes);
        assert!((900..1_100).contains(&ring.len()), "{} slots", ring.len());
    }

    #[test]
    fn slots_that_are_kept_do_not_stand_in_the_way() {
        let pool = SlotPool::new(100);
        let kept: Vec<Payload> = (0..50).map(|_| pool.freeze(pool.acquire())).collect();
        // Each try passes over some of the kept ones, until none is left in front.
        (0..200).for_each(|_| drop(pool.freeze(pool.acquire())));
        let mut memory = Vec::new();
        for _ in 0..20 {
            let slot = pool.acquire();
            memory.push(Arc::as_ptr(&slot.slot));
            drop(pool.freeze(slot));
        }
        memory.sort_unstable();
        memory.dedup();
        assert!(memory.len() < 20, "a slot was used twice");
        let before = pool.ring.lock().unwrap().len();
        drop(kept);
        (0..100).for_each(|_| drop(pool.freeze(pool.acquire())));
        assert_eq!(pool.ring.lock().unwrap().len(), before);
    }

    #[test]
    fn a_payload_becomes_a_slot_again_only_for_its_last_holder() {
        let mut ring = SlotRing::new(8);
        let mut slot = ring.acquire();
        slot.buffer().extend_from_slice(b"abc");
        let payload = slot.freeze();
        let other = payload.slice(1..2);
        let payload = payload.into_slot().unwrap_err();
        assert_eq!((payload.bytes(), other.bytes()), (&b"abc"[..], &b"b"[..]));
        drop(other);
        assert_eq!(payload.into_slot().unwrap().buffer(), b"abc");
    }

    #[test]
    fn a_remembered_payload_is_used_again_once_it_is_gone() {
        let mut ring = SlotRing::new(8);
        let mut slot = ring.acquire();
        slot.buffer().extend_from_slice(b"abc");
        let memory = slot.buffer().as_ptr();
        let payload = slot.freeze();
        ring.remember(payload.clone());
        assert_ne!(ring.acquire().buffer().as_ptr(), memory);
        drop(payload);
        assert_eq!(ring.acquire().buffer().as_ptr(), memory);
    }

    #[test]
    fn a_packet_shares_only_what_lies_in_it() {
        let packet = Payload::copy_of(b"0123456789");
        let part = packet.bytes().get(3..6).unwrap();
        assert_eq!(packet.share(part).unwrap().bytes(), b"345");
        assert!(packet.share(&[0; 4]).is_none());
        assert_eq!(packet.slice(8..20).bytes(), b"89");
    }
}
