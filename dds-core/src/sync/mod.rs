//! The only door to locks, atomics, fences and parking of [`actor`](crate::actor) and [`driver`](crate::driver).
//!
//! By default these are the standard library's; under `--cfg dds_loom` they are loom's, which tries every interleaving.
//! A lock never reports poison: a panic inside a cell is caught by the cell, which then closes.

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

/// What a model breaks on purpose, to prove that it would notice. Exists under `--cfg dds_loom` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Pusher and leaver no longer fence before they look at each other.
    NoFence,
    /// A visitor does not serve the waiting mail before its own work.
    Overtake,
    /// Close leaves the inbox open.
    OpenInbox,
    /// A panic leaves the state in its cell.
    SurvivePanic,
    /// A waiter that leaves keeps the wake that it was given.
    SwallowWake,
    /// A cell may ask for another turn only when the present one has ended.
    ForgetTurn,
    /// Deferred user code runs before the pokes of its frame.
    JobsFirst,
    /// A timer looks at its entry before it has stored the new deadline.
    LookThenStore,
    /// A wait set looks at its conditions before it has registered who waits.
    LookThenRegister,
    /// A condition that was found idle counts as idle up to now, not up to when the look began.
    VersionAfterLook,
    /// A wait set leaves out what it has found idle although it was poked in the meantime.
    ForgetReady,
    /// What has happened to a member is taken before it can be posted again.
    TakeBeforeRelease,
    /// A thread goes to wait for its bell without a look whether it has been woken.
    #[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
    PollUnseen,
}

#[cfg(dds_loom)]
std::thread_local! {
    static MUTATION: std::cell::Cell<Option<Mutation>> = const { std::cell::Cell::new(None) };
}

/// Whether the model that runs on this thread has asked for `mutation`. Always false outside of models.
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

/// Breaks the code that runs on this thread from now on.
#[cfg(all(test, dds_loom))]
pub(crate) fn mutate(mutation: Mutation) {
    MUTATION.set(Some(mutation));
}
