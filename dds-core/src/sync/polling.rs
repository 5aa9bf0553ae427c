//! Wakes a thread that waits for sockets: a bell replaces unparking. Exists only where threads poll.

use super::parker::{PARKING, Parker, Unparker, WOKEN};
use super::{Arc, Bell, Mutation, Ordering, mutated};

/// The thread checks for a wake before it sleeps again, so a wake only sets the state.
const LOOKING: u32 = 2;
/// The thread waits for sockets and its bell. A wake rings the bell.
pub(super) const POLLING: u32 = 3;

/// A thread that waits in the system for something beside its waker. See [`Parker::poll_with`].
pub(crate) struct Polling<'a> {
    unparker: &'a Unparker,
}

impl Polling<'_> {
    /// Calls `sleep`, which must return when the bell rings, unless there was a wake. Returns whether there was one.
    pub(crate) fn sleep(&self, sleep: impl FnOnce()) -> bool {
        if mutated(Mutation::PollUnseen) {
            self.unparker.word.store(POLLING, Ordering::Release);
        } else if !self.step(LOOKING, POLLING) {
            return true;
        }
        sleep();
        !self.step(POLLING, LOOKING)
    }

    /// Whether there was a wake.
    #[cfg_attr(dds_loom, allow(dead_code, reason = "the models have no sockets"))]
    pub(crate) fn is_woken(&self) -> bool {
        self.unparker.word.load(Ordering::Acquire) == WOKEN
    }

    /// Changes the state. Returns false if there was a wake.
    fn step(&self, from: u32, to: u32) -> bool {
        self.unparker.word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        // The deadlock of the mutant is a panic, during which the objects of a model must not be used.
        #[cfg(dds_loom)]
        if std::thread::panicking() {
            return;
        }
        // Both fail after a wake, so that `take_wake` sees it.
        self.step(LOOKING, PARKING);
        self.step(POLLING, PARKING);
        drop(self.unparker.bell.lock().take());
    }
}

impl Unparker {
    #[cold]
    pub(super) fn ring(&self) {
        // `None` if the thread has left its poll since. Then it has seen the state.
        let bell = self.bell.lock().clone();
        if let Some(bell) = bell {
            bell.ring();
        }
    }
}

impl Parker {
    /// Makes the waker ring `bell` while this thread sleeps in [`Polling::sleep`], which must wait for that bell.
    pub(crate) fn poll_with(&self, bell: &Arc<Bell>) -> Polling<'_> {
        *self.unparker.bell.lock() = Some(Arc::clone(bell));
        let polling = Polling { unparker: &self.unparker };
        // Fails if there was a wake, which the first sleep sees.
        polling.step(PARKING, LOOKING);
        polling
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::{AtomicU32, mutate};
    use loom::thread;

    /// Another thread sets a flag and wakes. The polling thread checks the flag, and sleeps with its bell or without.
    fn wait_by_bell() {
        let bell = Arc::new(Bell::default());
        let is_true = Arc::new(AtomicU32::new(0));
        Parker::with_current(|parker| {
            parker.take_wake();
            let (waker, seen) = (parker.waker().clone(), Arc::clone(&is_true));
            let other = thread::spawn(move || {
                seen.store(1, Ordering::Release);
                waker.wake();
            });
            let mut turn = 0;
            while is_true.load(Ordering::Acquire) == 0 {
                turn += 1;
                if turn % 2 == 0 {
                    parker.park(None);
                    continue;
                }
                let polling = parker.poll_with(&bell);
                polling.sleep(|| bell.wait());
                drop(polling);
                parker.take_wake();
            }
            other.join().unwrap();
        });
    }

    #[test]
    fn wake_reaches_polling_thread() {
        loom::model(wait_by_bell);
    }

    #[test]
    #[should_panic = "deadlock"]
    fn poll_without_check_sleeps_forever() {
        loom::model(|| {
            mutate(Mutation::PollUnseen);
            wait_by_bell();
        });
    }
}
