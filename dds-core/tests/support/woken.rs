//! A waker that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Wake;

/// Counts its wakes.
#[derive(Default)]
pub(crate) struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    /// Wakes so far.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Wakes since the last call.
    pub(crate) fn news(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
