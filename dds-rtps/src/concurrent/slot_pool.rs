//! Pools of payload memory.
//!
//! A pool keeps at most `capacity` slots, and more while all of them together have at most `budget` bytes. The slots of
//! a deep history of small samples are then reused as well. Further slots are freed when their last payload is dropped.
//! Slots outlive the pool, so samples may outlive their reader.

use super::payload::PayloadSlot;
use super::{Payload, SlotMut};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many slots at the front of a ring are tried before a new one is created. Slots become free nearly in the order
/// in which they were acquired, so mostly the first one is free.
const TRIES: usize = 4;

/// How often a slot may be found occupied before it moves to the occupied ones.
///
/// The last slot of an instance is often found occupied once or twice, because its successor is filled first.
const MISSES_MAX: u8 = 3;

/// Reusable slots for one thread at a time. [`SlotPool`] is for several.
///
/// A slot that is repeatedly found occupied moves to a second queue, which is searched only if no recent slot is free.
/// The last samples of a thousand quiet instances must not block one busy instance. Both queues keep the order of
/// acquisition, which is mostly the order in which slots become free.
#[derive(Debug)]
pub struct SlotRing {
    recent: VecDeque<RecentSlot>,
    occupied: VecDeque<Arc<PayloadSlot>>,
    capacity: usize,
    /// The most bytes of all slots together, if there are more than `capacity`.
    budget: usize,
    /// The bytes of all slots together.
    bytes: usize,
    /// The position in `occupied` that was searched last.
    cursor: usize,
    /// Slots created because none was free.
    made: u64,
}

#[derive(Debug)]
struct RecentSlot {
    slot: Arc<PayloadSlot>,
    /// How often it was among the first while none was free.
    misses: u8,
}

impl SlotRing {
    /// A ring that keeps at most `capacity` slots. Allocates nothing yet.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self::with_budget(capacity, 0)
    }

    /// A ring that keeps `capacity` slots, and more while all of them have at most `budget` bytes.
    #[must_use]
    pub const fn with_budget(capacity: usize, budget: usize) -> Self {
        Self { recent: VecDeque::new(), occupied: VecDeque::new(), capacity, budget, bytes: 0, cursor: 0, made: 0 }
    }

    fn len(&self) -> usize {
        self.recent.len() + self.occupied.len()
    }

    /// How many slots were created because none was free.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }

    /// Keeps a slot, if there is space for it.
    fn push(&mut self, slot: Arc<PayloadSlot>) {
        let bytes = self.bytes.saturating_add(slot.memory());
        // A slot beyond both limits is freed with its last payload.
        if self.len() < self.capacity || bytes <= self.budget {
            self.bytes = bytes;
            self.recent.push_back(RecentSlot { slot, misses: 0 });
        }
    }

    /// A writable slot, which contains the bytes of its last use.
    pub fn acquire(&mut self) -> SlotMut {
        let Some(free) = self.first_slot().or_else(|| self.free_slot()) else {
            self.made += 1;
            return SlotMut::new();
        };
        // The owner may change its size, so it counts again when it returns.
        self.bytes = self.bytes.saturating_sub(free.memory());
        free
    }

    /// The oldest slot, if it is free. A history frees its slots in the order in which they were acquired.
    #[inline]
    fn first_slot(&mut self) -> Option<SlotMut> {
        if !self.recent.front()?.slot.is_free() {
            return None;
        }
        SlotMut::of(self.recent.pop_front()?.slot).ok()
    }

    /// Another free slot. Searches a few after the first, and others each time.
    fn free_slot(&mut self) -> Option<SlotMut> {
        if let Some(at) = self.recent.iter().take(TRIES).position(|recent| recent.slot.is_free()) {
            return SlotMut::of(self.recent.remove(at)?.slot).ok();
        }
        if let Some(at) = self.occupied.iter().take(TRIES).position(|slot| slot.is_free()) {
            return SlotMut::of(self.occupied.remove(at)?).ok();
        }
        for _ in 0..TRIES.min(self.occupied.len()) {
            // The search goes on behind the last one, so each occupied slot has its turn.
            self.cursor = if self.cursor + 1 < self.occupied.len() { self.cursor + 1 } else { 0 };
            if self.occupied[self.cursor].is_free() {
                // The first slot, which is occupied, moves into the gap.
                return SlotMut::of(self.occupied.swap_remove_front(self.cursor)?).ok();
            }
        }
        // The caller creates a slot. The first ones may stay occupied for long.
        for recent in self.recent.iter_mut().take(TRIES) {
            recent.misses += 1;
        }
        while let Some(recent) = self.recent.front() {
            if recent.misses <= MISSES_MAX {
                break;
            }
            let Some(recent) = self.recent.pop_front() else {
                debug_assert!(false, "the loop condition saw a first slot");
                break;
            };
            self.occupied.push_back(recent.slot);
        }
        None
    }

    /// Ends writing, and keeps the slot for reuse.
    pub fn freeze(&mut self, slot: SlotMut) -> Payload {
        self.push(slot.share());
        slot.freeze()
    }

    /// Acquires a slot, fills it with `fill` and freezes it. The slot is free again if `fill` fails or panics.
    ///
    /// # Errors
    /// The error of `fill`.
    pub fn fill<E>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Payload, E> {
        let mut guard = FillGuard { ring: self, slot: None };
        let slot = guard.slot.insert(guard.ring.acquire());
        fill(slot.buffer())?;
        // The guard returns the slot to the ring.
        Ok(Payload::whole(slot.share()))
    }

    /// Returns an unused slot.
    pub fn give_back(&mut self, slot: SlotMut) {
        drop(self.freeze(slot));
    }

    /// Keeps the slot of a payload that was frozen without the ring. It is reused when all of its payloads are gone.
    pub fn remember(&mut self, payload: Payload) {
        // Borrowed memory belongs to no ring.
        if let Some(slot) = payload.slot() {
            self.push(Arc::clone(slot));
        }
    }
}

/// Returns a slot to its ring after it was filled, or after that failed.
struct FillGuard<'a> {
    ring: &'a mut SlotRing,
    slot: Option<SlotMut>,
}

impl Drop for FillGuard<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.ring.push(slot.into_shared());
        }
    }
}

/// A [`SlotRing`] for several threads.
#[derive(Debug)]
pub struct SlotPool {
    ring: Mutex<SlotRing>,
}

impl SlotPool {
    /// A pool that keeps at most `capacity` slots. Allocates nothing yet.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self::with_budget(capacity, 0)
    }

    /// A pool that keeps `capacity` slots, and more while all of them have at most `budget` bytes.
    #[must_use]
    pub const fn with_budget(capacity: usize, budget: usize) -> Self {
        Self { ring: Mutex::new(SlotRing::with_budget(capacity, budget)) }
    }

    fn ring(&self) -> MutexGuard<'_, SlotRing> {
        // A panic leaves a ring that is usable.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writable slot, which contains the bytes of its last use.
    pub fn acquire(&self) -> SlotMut {
        self.ring().acquire()
    }

    /// How many slots were created because none was free.
    pub fn made(&self) -> u64 {
        self.ring().made()
    }

    /// Ends writing, and keeps the slot for reuse.
    pub fn freeze(&self, slot: SlotMut) -> Payload {
        self.ring().freeze(slot)
    }

    /// Returns an unused slot.
    pub fn give_back(&self, slot: SlotMut) {
        self.ring().give_back(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_is_reused_after_its_last_payload() {
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
    fn slot_returns_after_panic_of_fill() {
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
                    assert_eq!(buffer.capacity(), 1_000, "it is the same slot");
                    // Prints nothing, unlike `panic!`.
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
    fn pool_keeps_no_more_than_its_capacity() {
        let pool = SlotPool::new(2);
        let kept: Vec<Payload> = (0..10).map(|_| pool.freeze(pool.acquire())).collect();
        assert_eq!(pool.ring.lock().unwrap().len(), 2);
        drop(kept);
    }

    /// Writes `count` samples of `len` bytes into a history of `depth`. Returns how many slots were created.
    fn slots_created(
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
    fn slots_of_deep_history_are_reused_within_budget() {
        let (mut ring, mut history) = (SlotRing::with_budget(100, 1 << 20), VecDeque::new());
        assert!(slots_created(&mut ring, &mut history, 5_000, 64, 20_000) >= 5_000);
        assert_eq!(slots_created(&mut ring, &mut history, 5_000, 64, 20_000), 0);
        let memory: usize =
            ring.recent.iter().map(|recent| &recent.slot).chain(&ring.occupied).map(|slot| slot.memory()).sum();
        assert_eq!(ring.bytes, memory);
        // Larger slots leave space for fewer.
        slots_created(&mut ring, &mut history, 5_000, 1_000, 20_000);
        assert!(ring.bytes <= 1 << 20, "{} bytes", ring.bytes);
        assert!((900..1_100).contains(&ring.len()), "{} slots", ring.len());
    }

    #[test]
    fn occupied_slots_do_not_block_free_ones() {
        let pool = SlotPool::new(100);
        let kept: Vec<Payload> = (0..50).map(|_| pool.freeze(pool.acquire())).collect();
        // Each attempt skips some occupied slots, until none is left in front.
        for _ in 0..200 {
            drop(pool.freeze(pool.acquire()));
        }
        let mut memory = Vec::new();
        for _ in 0..20 {
            let slot = pool.acquire();
            memory.push(Arc::as_ptr(&slot.share()));
            drop(pool.freeze(slot));
        }
        memory.sort_unstable();
        memory.dedup();
        assert!(memory.len() < 20, "a slot was used twice");
        let before = pool.ring.lock().unwrap().len();
        drop(kept);
        for _ in 0..100 {
            drop(pool.freeze(pool.acquire()));
        }
        assert_eq!(pool.ring.lock().unwrap().len(), before);
    }

    #[test]
    fn rememberd_payload_is_reused_after_drop() {
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
}
