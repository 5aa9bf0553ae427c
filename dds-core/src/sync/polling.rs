//! A thread that waits for sockets, and may be woken meanwhile: a bell takes the place of unparking. Only where somebody polls.

use super::parker::{PARKING, Parker, Unparker, WOKEN};
use super::{Arc, Bell, Mutation, Ordering, mutated};

/// The thread looks for a wake before it sleeps again: who wakes it has nothing else to do.
const LOOKING: u32 = 2;
/// The thread waits for sockets and its bell: who wakes it rings.
pub(super) const POLLING: u32 = 3;

/// A thread that waits in the system for something beside its waker. See [`Parker::poll_with`].
pub(crate) struct Polling<'a> {
    unparker: &'a Unparker,
}

impl Polling<'_> {
    /// Calls `sleep`, which returns when the bell rings, if not for something else; not if there has been a wake. True: there was
    /// one.
    pub(crate) fn sleep(&self, sleep: impl FnOnce()) -> bool {
        if mutated(Mutation::PollUnseen) {
            self.unparker.word.store(POLLING, Ordering::Release);
        } else if !self.step(LOOKING, POLLING) {
            return true;
        }
        sleep();
        !self.step(POLLING, LOOKING)
    }

    /// Whether there has been a wake.
    #[cfg_attr(dds_loom, allow(dead_code, reason = "the models have no sockets"))]
    pub(crate) fn is_woken(&self) -> bool {
        self.unparker.word.load(Ordering::Acquire) == WOKEN
    }

    /// False: there has been a wake.
    fn step(&self, from: u32, to: u32) -> bool {
        self.unparker.word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        // The mutant's deadlock is a panic, in which nothing of a model may be touched.
        #[cfg(dds_loom)]
        if std::thread::panicking() {
            return;
        }
        // A wake stays one.
        self.step(LOOKING, PARKING);
        self.step(POLLING, PARKING);
        drop(self.unparker.bell.lock().take());
    }
}

impl Unparker {
    #[cold]
    pub(super) fn ring(&self) {
        // Gone if the thread has left its poll meanwhile: it has seen the word then.
        let bell = self.bell.lock().clone();
        if let Some(bell) = bell {
            bell.ring();
        }
    }
}

impl Parker {
    /// Lets the waker ring `bell` while this thread sleeps in [`Polling::sleep`], which is to wait for that bell.
    pub(crate) fn poll_with(&self, bell: &Arc<Bell>) -> Polling<'_> {
        *self.unparker.bell.lock() = Some(Arc::clone(bell));
        let polling = Polling { unparker: &self.unparker };
        // Fails if there has been a wake, which the first sleep sees.
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

    /// Somebody makes it true and wakes; the thread that polls for it looks first, and sleeps by its bell or by itself.
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
    fn a_wake_reaches_who_polls() {
        loom::model(wait_by_bell);
    }

    #[test]
    #[should_panic = "deadlock"]
    fn a_poll_that_does_not_look_sleeps_for_ever() {
        loom::model(|| {
            mutate(Mutation::PollUnseen);
            wait_by_bell();
        });
    }
}
