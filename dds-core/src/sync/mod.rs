//! The only source of locks, atomics, fences and parking for [`actor`](crate::actor) and [`driver`](crate::driver).
//!
//! By default these are from the standard library. Under `--cfg dds_loom` they are from loom, which tries every
//! interleaving. A lock never reports poison: a cell catches a panic inside it, and then closes.

#[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
mod bell;
mod cache_line;
mod fence;
mod fork_count;
mod lock;
mod parker;
#[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
mod polling;
#[cfg(all(feature = "rt", not(dds_loom)))]
mod priority_inheritance;
mod process;
#[cfg(all(test, dds_loom))]
mod shared_models;
mod thread_flags;

#[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
pub(crate) use bell::Bell;
pub(crate) use cache_line::CacheLine;
pub(crate) use fence::full_fence;
pub(crate) use lock::{Lock, LockGuard};
pub use parker::Parker;
#[cfg(feature = "sim")]
pub(crate) use parker::Woken;
#[cfg(all(feature = "udp", target_os = "linux", not(dds_loom)))]
pub(crate) use polling::Polling;
pub(crate) use process::Process;
pub(crate) use thread_flags::{InCallOf, InCell, InListener};

#[cfg(dds_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(dds_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use std::sync::{Arc, Weak};

/// Defects that a model plants, to prove that it would notice. Takes effect under `--cfg dds_loom` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A pusher and a leaving visitor no longer fence before they check each other's writes.
    NoFence,
    /// A visitor does not serve the waiting mail before its own work.
    Overtake,
    /// Close leaves the inbox open.
    OpenInbox,
    /// A panic leaves the state in its cell.
    SurvivePanic,
    /// A waiter that gives up keeps its wake.
    SwallowWake,
    /// A cell may enter the run queue again only after its present turn has ended.
    ForgetTurn,
    /// Deferred user code runs before the pokes of its frame.
    JobsFirst,
    /// A timer reads its entry before it has stored the new deadline.
    LookThenStore,
    /// A wait set checks its conditions before it has registered the waiter.
    LookThenRegister,
    /// An idle condition counts as idle up to the end of the check, not its start.
    VersionAfterLook,
    /// A wait set skips a condition that was idle although it was poked during the check.
    ForgetReady,
    /// The events of a member are taken before it can be posted again.
    TakeBeforeRelease,
    /// A thread waits for its bell without checking whether it was woken.
    #[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
    PollUnseen,
}

#[cfg(dds_loom)]
std::thread_local! {
    static MUTATION: std::cell::Cell<Option<Mutation>> = const { std::cell::Cell::new(None) };
}

/// Whether the model on this thread has planted `mutation`. Always false outside of models.
#[inline(always)]
pub(crate) fn mutated(mutation: Mutation) -> bool {
    #[cfg(dds_loom)]
    return MUTATION.get() == Some(mutation);
    #[cfg(not(dds_loom))]
    {
        let _ = mutation;
        false
    }
}

/// Plants a defect for this thread from now on.
#[cfg(all(test, dds_loom))]
pub(crate) fn mutate(mutation: Mutation) {
    MUTATION.set(Some(mutation));
}
