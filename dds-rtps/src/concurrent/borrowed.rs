//! Payloads in memory of another owner, such as a peer that shares memory.
//!
//! Life cycle: a [`BorrowedPool`] borrows memory and makes a payload of it. When its last payload is gone, the memory
//! returns to its owner, and the emptied slot to the pool. So a further payload allocates nothing.

use super::Payload;
use super::payload::PayloadSlot;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Empty slots that a pool keeps: about as many as a reader holds at a time.
const SPARE_SLOTS_MAX: usize = 32;

/// Bytes of another owner. They stay the same until they are given back.
pub trait BorrowedBytes: AsRef<[u8]> + Any + Send + Sync {
    /// Gives the bytes back, and is empty then.
    fn give_back(&mut self);
}

/// Borrowed memory, and the pool to which the slot returns.
pub(super) struct BorrowedSlot {
    memory: Box<dyn BorrowedBytes>,
    pool: Weak<SpareSlots>,
}

/// Empty slots.
type SpareSlots = Mutex<Vec<Arc<PayloadSlot>>>;

/// Slots for memory of the kind `B`.
pub struct BorrowedPool<B> {
    spare: Arc<SpareSlots>,
    _kind: PhantomData<fn() -> B>,
}

impl BorrowedSlot {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        (*self.memory).as_ref()
    }

    /// A payload leaves the slot. The last one returns the memory, and the slot to its pool.
    #[cold]
    pub(super) fn leave(slot: &mut Arc<PayloadSlot>) {
        // Two payloads that leave at once both see the other one. Then the drop of the slot returns the memory.
        let Some(PayloadSlot::Borrowed(borrowed)) = Arc::get_mut(slot) else { return };
        borrowed.memory.give_back();
        if let Some(pool) = borrowed.pool.upgrade() {
            keep_spare(&pool, Arc::clone(slot));
        }
    }
}

fn keep_spare(spare: &SpareSlots, slot: Arc<PayloadSlot>) {
    let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
    if spare.len() < SPARE_SLOTS_MAX {
        spare.push(slot);
    }
}

impl<B: BorrowedBytes + Default> BorrowedPool<B> {
    /// An empty pool. Allocates a list of slots.
    #[must_use]
    pub fn new() -> Self {
        Self { spare: Arc::new(Mutex::new(Vec::with_capacity(SPARE_SLOTS_MAX))), _kind: PhantomData }
    }

    /// Makes a payload of the memory that `borrow` takes. The memory is empty before.
    ///
    /// # Errors
    /// The error of `borrow`.
    pub fn fill<E>(&self, borrow: impl FnOnce(&mut B) -> Result<(), E>) -> Result<Payload, E> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut slot = spare.unwrap_or_else(|| self.new_slot());
        let memory = match Arc::get_mut(&mut slot) {
            Some(PayloadSlot::Borrowed(borrowed)) => (&mut *borrowed.memory as &mut dyn Any).downcast_mut::<B>(),
            // The thread that returned the slot still has its reference.
            _ => None,
        };
        match memory {
            Some(memory) => {
                if let Err(error) = borrow(memory) {
                    keep_spare(&self.spare, slot);
                    return Err(error);
                }
            }
            None => {
                let mut memory = B::default();
                borrow(&mut memory)?;
                slot = self.slot_of(memory);
            }
        }
        Ok(Payload::whole(slot))
    }

    #[cold]
    fn new_slot(&self) -> Arc<PayloadSlot> {
        self.slot_of(B::default())
    }

    fn slot_of(&self, memory: B) -> Arc<PayloadSlot> {
        let pool = Arc::downgrade(&self.spare);
        Arc::new(PayloadSlot::Borrowed(Box::new(BorrowedSlot { memory: Box::new(memory), pool })))
    }
}

impl<B: BorrowedBytes + Default> Default for BorrowedPool<B> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::{PayloadSource, SlotRing};
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Memory of another owner, which counts the returns.
    #[derive(Default)]
    struct Lent {
        bytes: Vec<u8>,
        returns: Option<Arc<AtomicUsize>>,
    }

    impl AsRef<[u8]> for Lent {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }

    impl BorrowedBytes for Lent {
        fn give_back(&mut self) {
            self.bytes = Vec::new();
            if let Some(returns) = self.returns.take() {
                returns.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    impl Drop for Lent {
        fn drop(&mut self) {
            self.give_back();
        }
    }

    fn borrow(pool: &BorrowedPool<Lent>, bytes: &[u8], returns: &Arc<AtomicUsize>) -> Payload {
        let filled = pool.fill(|lent| {
            assert!(lent.bytes.is_empty() && lent.returns.is_none());
            (lent.bytes, lent.returns) = (bytes.to_vec(), Some(Arc::clone(returns)));
            Ok::<(), Infallible>(())
        });
        match filled {
            Ok(payload) => payload,
            Err(never) => match never {},
        }
    }

    #[test]
    fn memory_returns_with_its_last_payload_and_the_slot_is_reused() {
        let (pool, returns) = (BorrowedPool::new(), Arc::new(AtomicUsize::new(0)));
        let mut slots = Vec::new();
        for round in 1..=5 {
            let packet = borrow(&pool, b"0123456789", &returns);
            slots.push(Arc::as_ptr(packet.slot()));
            let part = packet.share(&packet.bytes()[2..8]).unwrap();
            assert_eq!((part.bytes(), part.is_small_part()), (&b"234567"[..], false));
            assert!(part.slice(0..4).is_small_part());
            drop(packet);
            assert_eq!(returns.load(Ordering::Relaxed), round - 1);
            drop(part);
            assert_eq!(returns.load(Ordering::Relaxed), round);
        }
        assert!(slots.windows(2).all(|pair| pair[0] == pair[1]), "one slot serves all");
    }

    #[test]
    fn borrowed_memory_is_never_written_and_no_ring_keeps_it() {
        let (pool, returns) = (BorrowedPool::new(), Arc::new(AtomicUsize::new(0)));
        let packet = borrow(&pool, b"abc", &returns).into_slot().unwrap_err();
        let mut ring = SlotRing::new(4);
        ring.remember(packet);
        assert_eq!(returns.load(Ordering::Relaxed), 1);
        assert!(ring.acquire().bytes().is_empty());
    }

    #[test]
    fn payload_outlives_its_pool() {
        let (pool, returns) = (BorrowedPool::new(), Arc::new(AtomicUsize::new(0)));
        let payload = borrow(&pool, b"abc", &returns);
        drop(pool);
        assert_eq!((payload.bytes(), returns.load(Ordering::Relaxed)), (&b"abc"[..], 0));
        drop(payload);
        assert_eq!(returns.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn memory_that_threads_share_returns_once() {
        let (pool, returns) = (BorrowedPool::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..2000 {
            let payload = borrow(&pool, b"abc", &returns);
            let other = payload.clone();
            std::thread::scope(|scope| {
                scope.spawn(move || drop(other));
                drop(payload);
            });
        }
        assert_eq!(returns.load(Ordering::Relaxed), 2000);
    }

    #[test]
    fn failed_borrow_leaves_an_empty_pool() {
        let (pool, returns) = (BorrowedPool::<Lent>::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            assert!(pool.fill(|_| Err::<(), _>("refused")).is_err());
            assert_eq!(pool.spare.lock().unwrap().len(), 1, "the slot is kept for the next one");
        }
        assert_eq!(borrow(&pool, b"abc", &returns).bytes(), b"abc");
    }
}
