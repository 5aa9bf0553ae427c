//! End of an entity: it is closed, none of its listeners runs, and their closures are dropped.
//!
//! Life cycle: created with the entity. The closure of each listener holds a [`Stake`]. [`Ending::close`] is called
//! after the entity is closed. Bound of the waiters: one for each wait of the application.

use crate::actor::{Effects, Ticket, Wakers};
use crate::infrastructure::WaitErrorKind;
use crate::sync::InCallOf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// The end of one entity.
pub(crate) struct Ending {
    id: u64,
    state: Mutex<EndingState>,
}

#[derive(Default)]
struct EndingState {
    closed: bool,
    stakes: usize,
    waiters: Wakers,
}

/// Delays the end of an entity. Dropped after the closure of its listener.
pub(crate) struct Stake(Arc<Ending>);

impl Ending {
    pub(crate) fn new() -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), state: Mutex::default() })
    }

    /// Locked for a few lines that call no foreign code.
    fn state(&self) -> MutexGuard<'_, EndingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stake(self: &Arc<Self>) -> Stake {
        self.state().stakes += 1;
        Stake(Arc::clone(self))
    }

    /// Marks that the calling thread runs a listener of the entity, until the value is dropped.
    pub(crate) fn enter_call(&self) -> InCallOf {
        InCallOf::enter(self.id)
    }

    /// Records that the entity is closed.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.wake_if_come();
    }

    fn wake_if_come(&self) {
        Effects::scope(|effects| {
            let mut state = self.state();
            // Another thread may have seen it first. A waiter that was woken before finds its end and is gone.
            if state.has_come() {
                state.waiters.wake_all(effects);
            }
        });
    }

    /// Returns whether the end has come, or registers the waiter.
    ///
    /// Fails inside a listener of the entity, because the listener would wait for itself.
    pub(crate) fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        // The listener holds a stake, so the end cannot come before it returns.
        if InCallOf::is_set(self.id) {
            return Poll::Ready(Err(WaitErrorKind::WouldDeadlock));
        }
        // Cloning runs code of the application, so it comes before the lock.
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut state = self.state();
            if state.has_come() {
                state.waiters.finish(ticket, effects);
                effects.discard(waker);
                return Poll::Ready(Ok(()));
            }
            state.waiters.register(ticket, waker, effects);
            Poll::Pending
        })
    }

    pub(crate) fn abandon(&self, ticket: Ticket) {
        Effects::scope(|effects| self.state().waiters.abandon(&mut Some(ticket), effects));
    }
}

impl EndingState {
    fn has_come(&self) -> bool {
        self.closed && self.stakes == 0
    }
}

impl Drop for Stake {
    fn drop(&mut self) {
        {
            let mut state = self.0.state();
            debug_assert!(state.stakes > 0, "each stake has counted itself");
            state.stakes -= 1;
        }
        self.0.wake_if_come();
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_ends_after_close_and_last_stake() {
        let ending = Ending::new();
        let has_come = || ending.poll(&mut None, Waker::noop()).is_ready();
        let stakes = [ending.stake(), ending.stake()];
        let early = ending.stake();
        drop(early);
        assert!(!has_come());
        ending.close();
        for stake in stakes {
            assert!(!has_come());
            drop(stake);
        }
        assert!(has_come());
    }

    /// Counts its wakes.
    #[derive(Default)]
    struct Woken(AtomicU64);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn end_wakes_all_but_abandoned_waits() {
        let ending = Ending::new();
        let (woken, gone) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        let (mut ticket, mut abandoned) = (None, None);
        assert!(ending.poll(&mut ticket, &Waker::from(Arc::clone(&woken))).is_pending());
        assert!(ending.poll(&mut abandoned, &Waker::from(Arc::clone(&gone))).is_pending());
        ending.abandon(abandoned.unwrap());
        let stake = ending.stake();
        ending.close();
        assert_eq!(woken.0.load(Ordering::Relaxed), 0, "one has still a stake in it");
        drop(stake);
        assert_eq!((woken.0.load(Ordering::Relaxed), gone.0.load(Ordering::Relaxed)), (1, 0));
        assert!(ending.poll(&mut ticket, Waker::noop()).is_ready() && ticket.is_none());
    }

    #[test]
    fn own_listener_must_not_wait_for_the_end() {
        let (own, other) = (Ending::new(), Ending::new());
        other.close();
        let call = own.enter_call();
        assert_eq!(own.poll(&mut None, Waker::noop()), Poll::Ready(Err(WaitErrorKind::WouldDeadlock)));
        assert_eq!(other.poll(&mut None, Waker::noop()), Poll::Ready(Ok(())));
        drop(call);
        assert_eq!(own.poll(&mut None, Waker::noop()), Poll::Pending);
    }
}
