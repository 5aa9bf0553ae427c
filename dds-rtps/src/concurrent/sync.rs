//! The atomics of this module: those of the standard library, or those of loom under `--cfg dds_loom`.

#[cfg(dds_loom)]
pub(super) use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
pub(super) use std::sync::atomic::Ordering;
#[cfg(not(dds_loom))]
pub(super) use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Separates a sequentially consistent write from a sequentially consistent read of another variable.
///
/// Their own ordering suffices. loom treats both as acquire and release, and needs a fence.
#[inline(always)]
pub(super) fn fence_before_read() {
    #[cfg(dds_loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
