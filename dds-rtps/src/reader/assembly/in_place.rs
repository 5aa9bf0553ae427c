//! In-place reception of fragments: the kernel writes a fragment directly into its assembly.
//!
//! The fragments of a large sample arrive in order, so the next one is known in advance. The receive thread borrows its
//! place in the sample ([`InPlaceFragment`]), lets the kernel fill it, and returns it by
//! [`StatefulReader::handle_in_place`](crate::reader::StatefulReader::handle_in_place). Only the kernel copies bytes.
//!
//! Life cycle: an in-place fragment owns the slot of its sample exclusively. When it is dropped, it leaves the slot in
//! a [`SlotReturn`], where the assembly finds it. If the assembly is gone by then, the slot is dropped. Written bytes
//! count only after the fragment is returned: after a wrong guess they lie where bytes are missing anyway.
//!
//! Bound: one for each receive thread, with the memory of one sample. A fragment that arrives by another way while its
//! sample is lent has no space, and is requested again. After several of them the sample starts again in another slot.

use super::Assembled;
use crate::concurrent::SlotMut;
use crate::types::SequenceNumber;
use std::sync::{Arc, Mutex, PoisonError};

/// Place where a lent slot is left for its assembly.
#[derive(Debug, Default)]
pub(super) struct SlotReturn(Mutex<Option<SlotMut>>);

impl SlotReturn {
    pub(super) fn take(&self) -> Option<SlotMut> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, slot: SlotMut) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }
}

/// Memory of the next expected fragment, together with the slot of its sample.
#[derive(Debug)]
pub struct InPlaceFragment {
    /// `Some` until the fragment is dropped.
    slot: Option<SlotMut>,
    pub(super) slot_return: Arc<SlotReturn>,
    sequence_number: SequenceNumber,
    sample_size: u32,
    number: u32,
    fragment_size: u16,
}

impl InPlaceFragment {
    /// The slot has memory for the whole fragment.
    pub(super) fn new(
        slot: SlotMut,
        slot_return: Arc<SlotReturn>,
        sequence_number: SequenceNumber,
        number: u32,
        (sample_size, fragment_size): (u32, u16),
    ) -> Self {
        debug_assert!(number > 0 && fragment_size > 0, "a lent fragment has a number and bytes");
        Self { slot: Some(slot), slot_return, sequence_number, sample_size, number, fragment_size }
    }

    /// Number of the fragment, from 1.
    #[must_use]
    pub fn fragment_number(&self) -> u32 {
        self.number
    }

    /// Length of the fragment, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fragment_size.into()
    }

    /// Returns `false`: a fragment has bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fragment_size == 0
    }

    /// Memory of the fragment, [`InPlaceFragment::len`] bytes. The caller may overwrite it in any way.
    pub fn buffer(&mut self) -> &mut [u8] {
        let len = self.len();
        let start = (self.number.saturating_sub(1) as usize).saturating_mul(len);
        let Some(slot) = &mut self.slot else { return &mut [] };
        // The lender made the memory ready, so the range exists. An empty slice only costs a fragment.
        slot.buffer().get_mut(start..start.saturating_add(len)).unwrap_or_default()
    }

    pub(crate) fn sequence_number(&self) -> SequenceNumber {
        self.sequence_number
    }

    /// Size of the whole sample, in bytes.
    pub(crate) fn sample_size(&self) -> u32 {
        self.sample_size
    }

    pub(super) fn slot(&mut self) -> Option<&mut SlotMut> {
        self.slot.as_mut()
    }

    /// Moves on to fragment `number` of the same sample, for which the slot has memory.
    pub(super) fn move_to(&mut self, number: u32) {
        debug_assert!(self.number < number, "fragments are lent in order");
        self.number = number;
    }
}

impl Drop for InPlaceFragment {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            // The assembly may be gone: then the last owner of the place drops the slot.
            self.slot_return.put(slot);
        }
    }
}

/// Result of a fragment that was received in place.
#[derive(Debug)]
pub(crate) enum InPlaceOutcome {
    /// The fragment counts, and others are missing. Contains the memory of the next one if it can be lent.
    Added(Option<InPlaceFragment>),
    /// The fragment arrived before.
    Duplicate,
    /// The sample is not being assembled any more.
    Gone,
    /// The sample is complete.
    Complete(Assembled),
}
