//! Threads, and what each of them may do.

use super::{Driver, block_on};
use crate::actor::{Effects, Wakers};
use crate::sync::{Arc, Lock};
use dds_rtps::types::Instant;
use std::cell::Cell;
use std::task::Poll;
#[cfg(feature = "sim")]
use std::task::Waker;

/// What a thread is for; decides which calls may wait on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The application's own. May wait.
    #[default]
    Application,
    /// A participant's event thread, which runs listeners. May wait; other listeners wait meanwhile.
    Event,
    /// The driver's thread for timers and discovery. Must not wait.
    Driver,
    /// Receives user data. Must not wait.
    Receive,
}

impl Role {
    /// Whether a call may wait on such a thread.
    #[must_use]
    pub const fn may_wait(self) -> bool {
        matches!(self, Self::Application | Self::Event)
    }
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Application) };
    static OWNER: Cell<u64> = const { Cell::new(0) };
}

/// The role of the calling thread.
#[must_use]
pub fn role() -> Role {
    ROLE.get()
}

/// Gives the calling thread, a new one, its role.
pub fn take_role(role: Role) {
    ROLE.set(role);
}

/// Runs `f` on the calling thread as one of another role would.
#[cfg(any(feature = "udp", feature = "sim"))]
pub(crate) fn as_role<R>(role: Role, f: impl FnOnce() -> R) -> R {
    struct Restore(Role);
    impl Drop for Restore {
        fn drop(&mut self) {
            ROLE.set(self.0);
        }
    }
    let _restore = Restore(ROLE.replace(role));
    f()
}

/// Notes which driver the calling thread, a new one, belongs to.
pub(super) fn take_owner(driver: u64) {
    OWNER.set(driver);
}

/// Whether the calling thread belongs to that driver.
pub(super) fn is_thread_of(driver: u64) -> bool {
    OWNER.get() == driver
}

/// A thread that was started; dropping it lets the thread go on.
#[derive(Debug, Clone)]
pub struct ThreadHandle(Arc<Lock<End>>);

/// Marks the end of a thread when it is dropped, by a panic as well.
#[derive(Debug)]
pub struct ThreadGuard(Arc<Lock<End>>);

#[derive(Debug, Default)]
struct End {
    has_ended: bool,
    waiters: Wakers,
}

impl ThreadHandle {
    /// A handle for a thread that is about to be started, and the guard that its body holds.
    #[must_use]
    pub fn new() -> (Self, ThreadGuard) {
        let end = Arc::new(Lock::default());
        (Self(Arc::clone(&end)), ThreadGuard(end))
    }

    /// Whether the thread's body has returned.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.lock().has_ended
    }

    /// Keeps `waker` until the thread's body has ended, and calls it then.
    #[cfg(feature = "sim")]
    pub(crate) fn when_ended(&self, waker: &Waker) {
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut end = self.0.lock();
            match end.has_ended {
                true => effects.wake(waker),
                false => end.waiters.register(&mut None, waker, effects),
            }
        });
    }

    /// Waits for the end of the thread's body, at most until `until` (`None`: as long as it takes); true if it has ended.
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
            end.has_ended = true;
            end.waiters.wake_all(effects);
        });
    }
}
