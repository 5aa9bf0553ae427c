//! Long runs that go to memory of their own, so that they are copied once.
//!
//! Such memory cannot grow, unlike the buffer of an encoder. So the encoder fills its buffer as usual. With a long run,
//! the content of the buffer moves first, and then the run. The rest stays in the buffer.

/// Takes long runs of bytes, and the bytes before them.
pub trait LongRuns: std::fmt::Debug {
    /// Appends both. Returns false, and appends nothing, if there is no room.
    fn append(&mut self, before: &[u8], run: &[u8]) -> bool;

    /// Replaces bytes that were appended before, from `at` on.
    fn overwrite(&mut self, at: usize, bytes: &[u8]);
}
