//! Long runs that go to memory of their own, so that they are copied once.
//!
//! Such memory cannot grow, unlike the buffer of an encoder. So the encoder fills its buffer as usual. With a long run,
//! the content of the buffer moves first, and then the run. The rest stays in the buffer.

use super::Encoder;
use crate::cdr::{ByteOrder, Encoding};

/// Takes long runs of bytes, and what was encoded before them.
pub trait LongRuns: std::fmt::Debug {
    /// Appends both. Returns false, and appends nothing, if there is no room.
    fn append(&mut self, before: &[u8], run: &[u8]) -> bool;

    /// Replaces bytes that were appended before, from `at` on.
    fn overwrite(&mut self, at: usize, bytes: &[u8]);
}

impl<'b> Encoder<'b> {
    /// As [`Encoder::new`], for an empty alignment at the present end. Long runs go to `long`, behind the content of
    /// `buffer`.
    pub(in crate::cdr) fn with_long_runs(
        buffer: &'b mut Vec<u8>,
        encoding: Encoding,
        order: ByteOrder,
        long: &'b mut dyn LongRuns,
    ) -> Self {
        Self { long: Some(long), ..Self::new(buffer, encoding, order) }
    }

    /// Moves the content of the buffer and a run, if there is memory for long runs.
    #[cold]
    pub(super) fn moves(&mut self, run: &[u8]) -> bool {
        let Some(long) = &mut self.long else { return false };
        if self.open_parameters > 0 || !long.append(self.buffer, run) {
            return false;
        }
        self.moved += self.buffer.len() + run.len();
        // The distance from the origin to the end stays the same.
        let position = self.buffer.len().wrapping_sub(self.origin).wrapping_add(run.len());
        self.origin = 0_usize.wrapping_sub(position);
        self.buffer.clear();
        true
    }

    /// Replaces bytes, from a position since the start.
    #[inline]
    pub(in crate::cdr) fn overwrite_at<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        match (at.checked_sub(self.moved), &mut self.long) {
            (Some(at), _) => self.overwrite(at, bytes),
            // A field moves as a whole, because no run ends within it.
            (None, Some(long)) => long.overwrite(at, &bytes),
            (None, None) => debug_assert!(false, "bytes move only to memory for long runs"),
        }
    }
}
