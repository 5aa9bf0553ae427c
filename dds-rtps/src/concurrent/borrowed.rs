//! Payloads in memory of another owner, such as a peer that shares memory.
//!
//! Life cycle: a [`BorrowedPool`] borrows memory and makes a payload of it. A [`BorrowedMut`] is filled before that.
//! When its last payload is gone, the memory returns to its owner, and the emptied slot to the pool. So a further
//! payload allocates nothing.

use super::Payload;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Empty slots that a pool keeps: about as many as a reader holds at a time.
const SPARE_SLOTS_MAX: usize = 32;

/// Bytes of another owner. They stay the same until they are given back, except through [`bytes_mut`](Self::bytes_mut).
pub trait BorrowedBytes: AsRef<[u8]> + AnyBytes + Send + Sync {
    /// The bytes, to fill before they become a payload. Empty if the owner lends them for reading.
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut []
    }

    /// Shortens bytes to write to the first `len`. Without effect on bytes for reading.
    fn truncate(&mut self, len: usize) {
        let _ = len;
    }

    /// Gives the bytes back, and is empty then.
    fn give_back(&mut self);
}

/// The conversion to [`Any`]. Rust 1.85 cannot convert a trait object to one of a supertrait.
pub trait AnyBytes: Any {
    /// This value.
    fn as_any(&self) -> &dyn Any;
    /// This value, to change.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Any> AnyBytes for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A reference of a payload to borrowed memory.
#[derive(Clone)]
pub(super) struct BorrowedRef(Arc<BorrowedSlot>);

/// Borrowed memory, and the pool to which the slot returns.
struct BorrowedSlot {
    bytes: Box<dyn BorrowedBytes>,
    pool: Weak<SpareSlots>,
}

/// Empty slots.
type SpareSlots = Mutex<Vec<Arc<BorrowedSlot>>>;

/// Slots for memory of the kind `B`.
pub struct BorrowedPool<B> {
    spare: Arc<SpareSlots>,
    _kind: PhantomData<fn() -> B>,
}

/// Borrowed memory with one owner, which may write it.
pub struct BorrowedMut(BorrowedRef);

impl BorrowedRef {
    pub(super) fn bytes(&self) -> &[u8] {
        (*self.0.bytes).as_ref()
    }

    /// The borrowed memory, if it is of the kind `B`.
    pub(super) fn kind<B: BorrowedBytes>(&self) -> Option<&B> {
        (*self.0.bytes).as_any().downcast_ref()
    }
}

impl BorrowedMut {
    /// The memory, if `memory` is the only reference.
    pub(super) fn of(mut memory: BorrowedRef) -> Result<Self, BorrowedRef> {
        // No further reference can come up, because only an owner of one can create another.
        if Arc::get_mut(&mut memory.0).is_some() { Ok(Self(memory)) } else { Err(memory) }
    }

    /// The bytes as they are now.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The bytes to fill. Empty if the memory is for reading.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let slot = Arc::get_mut(&mut self.0.0);
        debug_assert!(slot.is_some(), "writable memory has one reference");
        slot.map_or(&mut [], |slot| slot.bytes.bytes_mut())
    }

    /// Shortens the memory to its first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if let Some(slot) = Arc::get_mut(&mut self.0.0) {
            slot.bytes.truncate(len);
        }
    }

    /// Ends writing. Returns the whole memory as a payload.
    #[must_use]
    pub fn freeze(self) -> Payload {
        Payload::borrowed(self.0)
    }
}

impl fmt::Debug for BorrowedMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

impl Drop for BorrowedRef {
    fn drop(&mut self) {
        // Two payloads that end at once both see the other one. Then the end of the slot returns the bytes.
        let Some(slot) = Arc::get_mut(&mut self.0) else { return };
        slot.bytes.give_back();
        if let Some(pool) = slot.pool.upgrade() {
            keep_spare(&pool, Arc::clone(&self.0));
        }
    }
}

impl Drop for BorrowedSlot {
    fn drop(&mut self) {
        self.bytes.give_back();
    }
}

fn keep_spare(spare: &SpareSlots, slot: Arc<BorrowedSlot>) {
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

    /// Makes a payload of the bytes that `borrow` takes. The place for them is empty before.
    ///
    /// # Errors
    /// The error of `borrow`.
    pub fn fill<E>(&self, borrow: impl FnOnce(&mut B) -> Result<(), E>) -> Result<Payload, E> {
        Ok(self.lend(borrow)?.freeze())
    }

    /// As [`fill`](Self::fill), for bytes to write.
    ///
    /// # Errors
    /// The error of `borrow`.
    pub fn lend<E>(&self, borrow: impl FnOnce(&mut B) -> Result<(), E>) -> Result<BorrowedMut, E> {
        let mut slot = self.empty_slot();
        let bytes = match Arc::get_mut(&mut slot) {
            Some(slot) => (*slot.bytes).as_any_mut().downcast_mut::<B>(),
            None => None,
        };
        let borrowed = borrow(bytes.expect("a pool has slots of one kind, and an empty one has one reference"));
        match borrowed {
            Ok(()) => Ok(BorrowedMut(BorrowedRef(slot))),
            Err(error) => {
                keep_spare(&self.spare, slot);
                Err(error)
            }
        }
    }

    /// An empty slot with one reference.
    fn empty_slot(&self) -> Arc<BorrowedSlot> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match spare {
            // The thread that returned it may not have dropped its reference yet.
            Some(slot) if Arc::strong_count(&slot) == 1 => slot,
            _ => Arc::new(BorrowedSlot { bytes: Box::new(B::default()), pool: Arc::downgrade(&self.spare) }),
        }
    }
}

impl<B> fmt::Debug for BorrowedPool<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BorrowedPool").finish_non_exhaustive()
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
        fn bytes_mut(&mut self) -> &mut [u8] {
            &mut self.bytes
        }

        fn truncate(&mut self, len: usize) {
            self.bytes.truncate(len);
        }

        fn give_back(&mut self) {
            self.bytes = Vec::new();
            if let Some(returns) = self.returns.take() {
                returns.fetch_add(1, Ordering::Relaxed);
            }
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
        for round in 1..=5 {
            let packet = borrow(&pool, b"0123456789", &returns);
            assert_eq!(pool.spare.lock().unwrap().len(), 0, "the one slot is in use");
            let part = packet.share(&packet.bytes()[2..8]).unwrap();
            assert_eq!((part.bytes(), part.is_small_part()), (&b"234567"[..], false));
            assert!(part.slice(0..4).is_small_part());
            drop(packet);
            assert_eq!(returns.load(Ordering::Relaxed), round - 1);
            drop(part);
            assert_eq!(returns.load(Ordering::Relaxed), round);
        }
        assert_eq!(pool.spare.lock().unwrap().len(), 1, "one slot serves all");
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
    fn lent_memory_is_writable_until_it_is_a_payload_and_again_for_the_last_owner() {
        let (pool, returns) = (BorrowedPool::<Lent>::new(), Arc::new(AtomicUsize::new(0)));
        let lent = pool.lend(|lent| {
            (lent.bytes, lent.returns) = (vec![0; 5], Some(Arc::clone(&returns)));
            Ok::<(), Infallible>(())
        });
        let mut lent = lent.unwrap();
        lent.truncate(3);
        lent.bytes_mut().copy_from_slice(b"abc");
        let payload = lent.freeze();
        assert_eq!(payload.borrowed_from::<Lent>().unwrap().bytes, b"abc");
        assert!(
            payload.slice(0..2).borrowed_from::<Lent>().is_none()
                && Payload::copy_of(b"abc").borrowed_from::<Lent>().is_none()
        );
        let other = payload.clone();
        let payload = payload.into_borrowed().unwrap_err();
        drop(other);
        assert!(payload.slice(0..2).into_borrowed().is_err(), "two references");
        let mut lent = payload.into_borrowed().unwrap();
        lent.bytes_mut()[0] = b'x';
        assert_eq!((lent.bytes(), returns.load(Ordering::Relaxed)), (&b"xbc"[..], 0));
        drop(lent);
        assert_eq!((returns.load(Ordering::Relaxed), pool.spare.lock().unwrap().len()), (1, 1));
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
