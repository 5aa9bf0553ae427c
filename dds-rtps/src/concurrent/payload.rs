//! Encoded samples that several threads share.
//!
//! Life cycle: a [`SlotMut`] belongs to one owner, which fills it once and freezes it into a [`Payload`]. Payloads are
//! reference-counted and never change. When the last payload of a slot is gone, the [`SlotPool`](super::SlotPool)
//! reuses its memory.

use super::borrowed::{BorrowedBytes, BorrowedMut, BorrowedRef};
use crate::cdr::copy_of;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The memory of one sample.
#[derive(Debug, Default)]
pub(super) struct PayloadSlot {
    bytes: Vec<u8>,
}

impl PayloadSlot {
    /// How many bytes the slot occupies, for any content. Constant while the slot is in a ring, because only
    /// its sole owner may write.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }

    /// Whether the caller has the only reference. Stays so, because only an owner can create another one.
    pub(super) fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// The memory of a payload.
#[derive(Clone)]
enum PayloadMemory {
    /// A slot, which its pool reuses.
    Slot(Arc<PayloadSlot>),
    /// Memory of another owner, which gets it back with the last payload.
    Borrowed(BorrowedRef),
}

impl PayloadMemory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Slot(slot) => &slot.bytes,
            Self::Borrowed(borrowed) => borrowed.bytes(),
        }
    }
}

/// An immutable part of a slot, or of borrowed memory. A clone costs one atomic operation.
#[derive(Clone)]
pub struct Payload {
    memory: PayloadMemory,
    /// Offsets of 32 bits, so that the kind of memory makes no payload larger. No sample is longer (RTPS 2.5, 9.4.5.5).
    start: u32,
    end: u32,
}

impl Payload {
    /// The bytes, from the encapsulation header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let bytes = self.memory.bytes();
        debug_assert!(self.start <= self.end && self.end as usize <= bytes.len(), "a payload lies in its memory");
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// A part of this payload in the same slot. The range is clamped to the payload.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        // A range beyond the payload would show bytes of other messages in the slot.
        let start = self.start.saturating_add(offset_of(range.start)).min(self.end);
        let end = self.start.saturating_add(offset_of(range.end)).clamp(start, self.end);
        Self { memory: self.memory.clone(), start, end }
    }

    /// Whether this part uses less than half of the memory that it keeps occupied.
    #[must_use]
    pub fn is_small_part(&self) -> bool {
        let occupied = match &self.memory {
            // The capacity counts, because the whole memory stays occupied.
            PayloadMemory::Slot(slot) => slot.bytes.capacity(),
            PayloadMemory::Borrowed(borrowed) => borrowed.bytes().len(),
        };
        self.len() < occupied / 2
    }

    /// Bytes that this payload keeps occupied.
    pub(crate) fn memory(&self) -> usize {
        match &self.memory {
            PayloadMemory::Slot(slot) => slot.memory(),
            PayloadMemory::Borrowed(borrowed) => borrowed.bytes().len(),
        }
    }

    /// Turns the payload back into a writable slot, if it has the only reference.
    ///
    /// # Errors
    /// The payload, if another payload or a ring shares the slot, or if its memory is borrowed.
    pub fn into_slot(self) -> Result<SlotMut, Self> {
        let (start, end) = (self.start, self.end);
        match self.memory {
            PayloadMemory::Slot(slot) => {
                SlotMut::of(slot).map_err(|slot| Self { memory: PayloadMemory::Slot(slot), start, end })
            }
            memory => Err(Self { memory, start, end }),
        }
    }

    /// Turns the payload back into writable memory, if it is borrowed and this is the only reference.
    ///
    /// # Errors
    /// The payload, in any other case.
    pub fn into_borrowed(self) -> Result<BorrowedMut, Self> {
        let (start, end) = (self.start, self.end);
        match self.memory {
            PayloadMemory::Borrowed(memory) => {
                BorrowedMut::of(memory).map_err(|memory| Self { memory: PayloadMemory::Borrowed(memory), start, end })
            }
            memory => Err(Self { memory, start, end }),
        }
    }

    /// Whether the memory is borrowed.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.memory, PayloadMemory::Borrowed(_))
    }

    /// The borrowed memory, if it is of the kind `B`. `None` for a part of it.
    #[must_use]
    pub fn borrowed_from<B: BorrowedBytes>(&self) -> Option<&B> {
        match &self.memory {
            PayloadMemory::Borrowed(memory) if self.len() == memory.bytes().len() => memory.kind(),
            _ => None,
        }
    }

    /// Copies `bytes` into a slot outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self::whole(Arc::new(PayloadSlot { bytes: copy_of(bytes) }))
    }

    /// The whole content of a slot.
    pub(super) fn whole(slot: Arc<PayloadSlot>) -> Self {
        let end = offset_of(slot.bytes.len());
        Self { memory: PayloadMemory::Slot(slot), start: 0, end }
    }

    /// The whole borrowed memory.
    pub(super) fn borrowed(memory: BorrowedRef) -> Self {
        let end = offset_of(memory.bytes().len());
        Self { memory: PayloadMemory::Borrowed(memory), start: 0, end }
    }

    /// The slot. `None` if the memory is borrowed.
    pub(super) fn slot(&self) -> Option<&Arc<PayloadSlot>> {
        match &self.memory {
            PayloadMemory::Slot(slot) => Some(slot),
            PayloadMemory::Borrowed(_) => None,
        }
    }
}

/// An offset in a payload.
#[inline]
fn offset_of(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
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

/// A slot with one owner, which may write it.
#[derive(Debug)]
pub struct SlotMut {
    slot: Arc<PayloadSlot>,
}

impl SlotMut {
    /// A writable slot, if `slot` is the only reference.
    pub(super) fn of(slot: Arc<PayloadSlot>) -> Result<Self, Arc<PayloadSlot>> {
        // `buffer` checks this again.
        if slot.is_free() { Ok(Self { slot }) } else { Err(slot) }
    }

    /// An empty slot without memory.
    pub(super) fn new() -> Self {
        Self { slot: Arc::default() }
    }

    /// Copies `bytes` into a slot outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self { slot: Arc::new(PayloadSlot { bytes: copy_of(bytes) }) }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.slot.bytes
    }

    /// The memory. It contains the bytes of its last use, unless the owner has cleared it.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        // `SlotMut` is not `Clone` and is created only for a slot without other references. If that were ever wrong, a
        // new slot would replace this one.
        debug_assert!(self.slot.is_free(), "a writable slot has one reference");
        if !self.slot.is_free() {
            self.slot = Arc::default();
        }
        &mut Arc::get_mut(&mut self.slot).expect("one strong reference, and no weak ones exist").bytes
    }

    /// Ends writing. Returns the whole slot as a payload.
    #[must_use]
    pub fn freeze(self) -> Payload {
        Payload::whole(self.slot)
    }

    pub(super) fn memory(&self) -> usize {
        self.slot.memory()
    }

    pub(super) fn share(&self) -> Arc<PayloadSlot> {
        Arc::clone(&self.slot)
    }

    pub(super) fn into_shared(self) -> Arc<PayloadSlot> {
        self.slot
    }
}

/// The packet of a received payload, which may allow to keep the payload without a copy.
///
/// Small payloads are copied into slots of the reader. Large ones share the receive buffer, if the packet allows it.
pub trait PayloadSource {
    /// Shares `bytes`, which lie in this packet, as a payload; `None` if the packet cannot be shared.
    fn share(&self, bytes: &[u8]) -> Option<Payload>;
}

/// A packet that cannot be shared. Every payload is copied.
impl PayloadSource for () {
    fn share(&self, _bytes: &[u8]) -> Option<Payload> {
        None
    }
}

/// A packet in a slot. Its parts share the slot.
impl PayloadSource for Payload {
    fn share(&self, bytes: &[u8]) -> Option<Payload> {
        let base = self.bytes().as_ptr() as usize;
        // Only the addresses are compared: bytes of another packet are no part of this slot.
        let start = (bytes.as_ptr() as usize).checked_sub(base)?;
        let end = start.checked_add(bytes.len())?;
        if end <= self.len() { Some(self.slice(start..end)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_becomes_slot_only_for_last_owner() {
        let payload = SlotMut::copy_of(b"abc").freeze();
        let other = payload.slice(1..2);
        let payload = payload.into_slot().unwrap_err();
        assert_eq!((payload.bytes(), other.bytes()), (&b"abc"[..], &b"b"[..]));
        drop(other);
        assert_eq!(payload.into_slot().unwrap().buffer(), b"abc");
    }

    #[test]
    fn packet_shares_only_its_own_bytes() {
        let packet = Payload::copy_of(b"0123456789");
        let part = packet.bytes().get(3..6).unwrap();
        assert_eq!(packet.share(part).unwrap().bytes(), b"345");
        assert!(packet.share(&[0; 4]).is_none());
        assert_eq!(packet.slice(8..20).bytes(), b"89");
    }
}
