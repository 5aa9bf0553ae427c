//! The door to the atomics that two threads hold something against each other by: the standard library's, and under
//! `--cfg dds_loom` those of loom, which tries every interleaving.

#[cfg(dds_loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(dds_loom))]
pub(crate) use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Stands between a sequentially consistent write and a sequentially consistent look at what another thread writes. The order
/// of these two is promised by that alone; loom, which takes both for acquire and release, has to be told.
#[inline(always)]
pub(crate) fn then_look() {
    #[cfg(dds_loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
