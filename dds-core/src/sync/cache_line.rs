//! Separates data that different threads write.

use std::ops::{Deref, DerefMut};

/// A value on its own cache lines.
///
/// All measured machines have lines of 64 bytes. Some prefetchers fetch pairs of lines, but an alignment to two lines
/// was no faster and doubled the size of a cell.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct CacheLine<T>(pub(crate) T);

impl<T> Deref for CacheLine<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CacheLine<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
