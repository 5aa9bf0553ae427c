//! Threads and the calls that they may make.

use super::{Driver, block_on};
use crate::actor::{Effects, Wakers};
use crate::sync::{Arc, Lock};
use dds_rtps::types::Instant;
use std::cell::Cell;
use std::task::Poll;
#[cfg(feature = "sim")]
use std::task::Waker;

/// Purpose of a thread. Decides which calls may block on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// A thread of the application. May block.
    #[default]
    Application,
    /// A participant's event thread, which runs listeners. May block. Then another one runs the others.
    Event,
    /// The driver's thread for timers and discovery. Must not block.
    Driver,
    /// Receives user data. Must not block.
    Receive,
}

impl Role {
    /// Whether a call may block on such a thread.
    #[must_use]
    pub const fn may_wait(self) -> bool {
        matches!(self, Self::Application | Self::Event)
    }
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Application) };
    static OWNER: Cell<u64> = const { Cell::new(0) };
}

/// Role of the calling thread.
#[must_use]
pub fn role() -> Role {
    ROLE.get()
}

/// Sets the role of the calling thread, which is new.
pub fn take_role(role: Role) {
    ROLE.set(role);
}

/// Runs `f` on the calling thread under another role.
#[cfg(any(all(feature = "udp", target_os = "linux", not(dds_loom)), feature = "sim"))]
pub(crate) fn as_role<R>(role: Role, f: impl FnOnce() -> R) -> R {
    struct Restore(Role);
    impl Drop for Restore {
        fn drop(&mut self) {
            ROLE.set(self.0);
        }
    }
    // Restored by a drop, so that a panic in `f` restores the role as well.
    let _restore = Restore(ROLE.replace(role));
    f()
}

/// Records the driver of the calling thread, which is new.
pub(super) fn take_owner(driver: u64) {
    OWNER.set(driver);
}

/// Whether the calling thread belongs to that driver.
pub(super) fn is_thread_of(driver: u64) -> bool {
    OWNER.get() == driver
}

/// A started thread. Dropping the handle detaches the thread.
#[derive(Debug, Clone)]
pub struct ThreadHandle(Arc<Lock<End>>);

/// Marks the end of a thread when it is dropped, also by a panic.
#[derive(Debug)]
pub struct ThreadGuard(Arc<Lock<End>>);

#[derive(Debug, Default)]
struct End {
    has_ended: bool,
    waiters: Wakers,
}

impl ThreadHandle {
    /// Creates a handle for a thread before its start, and the guard for its body.
    #[must_use]
    pub fn new() -> (Self, ThreadGuard) {
        let end = Arc::new(Lock::default());
        (Self(Arc::clone(&end)), ThreadGuard(end))
    }

    /// Whether the body of the thread has returned.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.lock().has_ended
    }

    /// Keeps `waker` and wakes it when the body of the thread has ended.
    #[cfg(feature = "sim")]
    pub(crate) fn when_ended(&self, waker: &Waker) {
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut end = self.0.lock();
            if end.has_ended {
                effects.wake(waker);
            } else {
                end.waiters.register(&mut None, waker, effects);
            }
        });
    }

    /// Waits for the end of the thread's body. Returns true if it has ended.
    ///
    /// Waits until `until` at most; `None` means no limit.
    pub fn wait(&self, driver: &dyn Driver, until: Option<Instant>) -> bool {
        let mut ticket = None;
        let ended = block_on(driver, until, |context| {
            let waker = context.waker().clone();
            Effects::scope(|effects| {
                let mut end = self.0.lock();
                if end.has_ended {
                    end.waiters.finish(&mut ticket, effects);
                    effects.discard(waker);
                    return Poll::Ready(());
                }
                end.waiters.register(&mut ticket, waker, effects);
                Poll::Pending
            })
        });
        // The wait ended at its limit, so its place in the queue must be released.
        if ended.is_none() {
            Effects::scope(|effects| self.0.lock().waiters.abandon(&mut ticket, effects));
        }
        ended.is_some()
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        Effects::scope(|effects| {
            let mut end = self.0.lock();
            // Under the lock, so that a waiter sees it or is in the list.
            end.has_ended = true;
            end.waiters.wake_all(effects);
        });
    }
}
