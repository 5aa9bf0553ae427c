//! Encoded samples that several threads share.
//!
//! Life cycle: a [`SlotMut`] belongs to one owner, which fills it once and freezes it into a [`Payload`]. Payloads are
//! reference-counted and never change. When the last payload of a slot is gone, the [`SlotPool`](super::SlotPool)
//! reuses its memory.

use super::borrowed::BorrowedSlot;
use crate::cdr::copy_of;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The memory of one sample.
pub(super) enum PayloadSlot {
    /// Memory of the heap, which a pool reuses.
    Own(Vec<u8>),
    /// Memory of another owner, which gets it back with the last payload.
    Borrowed(Box<BorrowedSlot>),
}

impl Default for PayloadSlot {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl PayloadSlot {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Borrowed(borrowed) => borrowed.bytes(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.capacity(),
            Self::Borrowed(borrowed) => borrowed.bytes().len(),
        }
    }

    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self, Self::Borrowed(_))
    }

    /// How many bytes the slot occupies, for any content. Constant while the slot is in a ring, because only
    /// its sole owner may write.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.capacity()
    }

    /// Whether the caller has the only reference. Stays so, because only an owner can create another one.
    pub(super) fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// A reference of a payload to its slot.
#[derive(Clone)]
struct SlotRef(Arc<PayloadSlot>);

impl Drop for SlotRef {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_borrowed() {
            BorrowedSlot::leave(&mut self.0);
        }
    }
}

/// An immutable part of a slot. A clone costs one atomic operation.
#[derive(Clone)]
pub struct Payload {
    slot: SlotRef,
    start: usize,
    end: usize,
}

impl Payload {
    /// The bytes, from the encapsulation header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let bytes = self.slot.0.bytes();
        debug_assert!(self.start <= self.end && self.end <= bytes.len(), "a payload lies in its slot");
        bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
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
        let start = self.start.saturating_add(range.start).min(self.end);
        let end = self.start.saturating_add(range.end).clamp(start, self.end);
        Self { slot: self.slot.clone(), start, end }
    }

    /// Whether this part uses less than half of the memory of its slot.
    #[must_use]
    pub fn is_small_part(&self) -> bool {
        // The capacity counts, because the whole memory stays occupied.
        self.len() < self.slot.0.capacity() / 2
    }

    /// Bytes of the slot that this payload keeps occupied.
    pub(crate) fn memory(&self) -> usize {
        self.slot.0.memory()
    }

    /// Turns the payload back into a writable slot, if it has the only reference.
    ///
    /// # Errors
    /// The payload, if another payload or a ring shares the slot.
    pub fn into_slot(self) -> Result<SlotMut, Self> {
        let (start, end) = (self.start, self.end);
        let slot = Arc::clone(&self.slot.0);
        // Not before the clone, because the last payload of a borrowed slot returns its memory.
        drop(self);
        SlotMut::of(slot).map_err(|slot| Self { slot: SlotRef(slot), start, end })
    }

    /// Copies `bytes` into a slot outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self::whole(Arc::new(PayloadSlot::Own(copy_of(bytes))))
    }

    /// The whole content of a slot.
    pub(super) fn whole(slot: Arc<PayloadSlot>) -> Self {
        let end = slot.bytes().len();
        Self { slot: SlotRef(slot), start: 0, end }
    }

    pub(super) fn slot(&self) -> &Arc<PayloadSlot> {
        &self.slot.0
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for PayloadSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self, Self::Own(_)) { "own" } else { "borrowed" };
        write!(f, "{} bytes, {kind}", self.bytes().len())
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
    /// A writable slot, if `slot` is the only reference and its memory is not borrowed.
    pub(super) fn of(slot: Arc<PayloadSlot>) -> Result<Self, Arc<PayloadSlot>> {
        // `buffer` checks this again.
        if slot.is_free() && !slot.is_borrowed() { Ok(Self { slot }) } else { Err(slot) }
    }

    /// An empty slot without memory.
    pub(super) fn new() -> Self {
        Self { slot: Arc::default() }
    }

    /// Copies `bytes` into a slot outside of any pool.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self { slot: Arc::new(PayloadSlot::Own(copy_of(bytes))) }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.slot.bytes()
    }

    /// The memory. It contains the bytes of its last use, unless the owner has cleared it.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        // `SlotMut` is not `Clone` and is created only for a slot without other references. If that were ever wrong, a
        // new slot would replace this one.
        let is_writable = self.slot.is_free() && !self.slot.is_borrowed();
        debug_assert!(is_writable, "a writable slot has one reference and its own memory");
        if !is_writable {
            self.slot = Arc::default();
        }
        let bytes = match Arc::get_mut(&mut self.slot) {
            Some(PayloadSlot::Own(bytes)) => Some(bytes),
            _ => None,
        };
        bytes.expect("its own memory, one strong reference, and no weak ones exist")
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
