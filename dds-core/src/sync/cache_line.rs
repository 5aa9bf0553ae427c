//! Keeps apart what different threads write.

use std::ops::{Deref, DerefMut};

/// A value on cache lines of its own. 64 bytes is the line of every machine we have measured; two lines, which the
/// prefetcher of some pairs up, gave nothing and doubled the size of a cell.
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
