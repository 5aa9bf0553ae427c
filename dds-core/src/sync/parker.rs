//! Blocking as a case of async: a waker that unparks a thread, or rings a bell while that waits for sockets as well.

use super::{Arc, AtomicU32, Bell, Lock, Mutation, Ordering, mutated};
use std::cell::Cell;
use std::task::{Wake, Waker};
use std::time::Duration;

#[cfg(dds_loom)]
use loom::thread::{self, Thread};
#[cfg(not(dds_loom))]
use std::thread::{self, Thread};

#[cfg(not(dds_loom))]
std::thread_local! {
    /// Taken while a call of this thread waits, so that a wait inside of a wait gets a parker of its own and does not
    /// swallow the outer one's wake. It has a destructor; while the thread ends, fresh parkers take its place.
    static SPARE: Cell<Option<Parker>> = const { Cell::new(None) };
}
#[cfg(dds_loom)]
loom::thread_local! {
    static SPARE: Cell<Option<Parker>> = Cell::new(None);
}

/// Lets one thread sleep until its [`Waker`] is called.
///
/// Does not rely on the thread's own park token, which the application may use as well.
#[derive(Debug)]
pub struct Parker {
    unparker: Arc<Unparker>,
    waker: Waker,
}

/// The thread runs, or sleeps by itself: who wakes it unparks it.
const PARKING: u32 = 0;
/// The waker was called, and nobody has taken note of it yet.
const WOKEN: u32 = 1;
/// The thread looks for a wake before it sleeps again: who wakes it has nothing else to do.
const LOOKING: u32 = 2;
/// The thread waits for sockets and its bell: who wakes it rings.
const POLLING: u32 = 3;

#[derive(Debug)]
struct Unparker {
    word: AtomicU32,
    thread: Thread,
    /// There while the thread looks or polls.
    bell: Lock<Option<Arc<Bell>>>,
}

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match self.word.swap(WOKEN, Ordering::AcqRel) {
            PARKING => self.thread.unpark(),
            POLLING => self.ring(),
            _ => {}
        }
    }
}

impl Unparker {
    #[cold]
    fn ring(&self) {
        // Gone if the thread has left its poll meanwhile: it has seen the word then.
        let bell = self.bell.lock().clone();
        if let Some(bell) = bell {
            bell.ring();
        }
    }
}

/// A thread that waits in the system for something beside its waker. See [`Parker::poll_with`].
pub(crate) struct Polling<'a> {
    unparker: &'a Unparker,
}

impl Polling<'_> {
    /// Calls `sleep`, which returns when the bell rings, if not for something else; not if there has been a wake. True: there was
    /// one.
    #[cfg_attr(not(any(dds_loom, target_os = "linux")), allow(dead_code))]
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
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
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

impl Parker {
    /// A parker of the calling thread.
    #[must_use]
    pub fn new() -> Self {
        let unparker =
            Arc::new(Unparker { word: AtomicU32::new(PARKING), thread: thread::current(), bell: Lock::new(None) });
        let waker = Waker::from(Arc::clone(&unparker));
        Self { unparker, waker }
    }

    /// Calls `f` with the calling thread's own parker, which is made once.
    pub fn with_current<R>(f: impl FnOnce(&Self) -> R) -> R {
        let parker = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let result = f(&parker);
        // While the thread ends there is no place to keep it; then it is simply dropped.
        let _ = SPARE.try_with(|spare| spare.set(Some(parker)));
        result
    }

    /// What ends [`Parker::park`].
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Takes note of a wake that has come already.
    pub fn take_wake(&self) -> bool {
        self.unparker.word.swap(PARKING, Ordering::AcqRel) == WOKEN
    }

    /// Lets the waker ring `bell` while this thread sleeps in [`Polling::sleep`], which is to wait for that bell.
    #[cfg_attr(not(any(dds_loom, target_os = "linux")), allow(dead_code))]
    pub(crate) fn poll_with(&self, bell: &Arc<Bell>) -> Polling<'_> {
        *self.unparker.bell.lock() = Some(Arc::clone(bell));
        let polling = Polling { unparker: &self.unparker };
        // Fails if there has been a wake, which the first sleep sees.
        polling.step(PARKING, LOOKING);
        polling
    }

    /// Sleeps until the waker is called, at most for `timeout` (`None`: as long as it takes). True if it was called.
    ///
    /// Only a [`Driver`](crate::driver::Driver) may call this: under a simulated one no thread sleeps. It may return
    /// early without a wake.
    #[allow(clippy::disallowed_methods, reason = "the one place where a thread parks")]
    pub fn park(&self, timeout: Option<Duration>) -> bool {
        if self.take_wake() {
            return true;
        }
        match timeout {
            None => thread::park(),
            #[cfg(not(dds_loom))]
            Some(timeout) => thread::park_timeout(timeout),
            #[cfg(dds_loom)]
            Some(_) => thread::yield_now(),
        }
        self.take_wake()
    }
}

/// Whether somebody has called the waker of a [`Parker`], for others than its thread to see.
#[cfg(feature = "sim")]
#[derive(Debug, Clone)]
pub(crate) struct Woken(Arc<Unparker>);

#[cfg(feature = "sim")]
impl Woken {
    pub(crate) fn is_set(&self) -> bool {
        self.0.word.load(Ordering::Acquire) == WOKEN
    }
}

#[cfg(feature = "sim")]
impl Parker {
    /// Whether the waker was called, without taking note of it.
    pub(crate) fn woken(&self) -> Woken {
        Woken(Arc::clone(&self.unparker))
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    #[test]
    fn a_wake_before_the_park_is_not_lost() {
        Parker::with_current(|parker| {
            parker.waker().wake_by_ref();
            assert!(parker.park(None));
            assert!(!parker.take_wake());
        });
    }

    #[test]
    fn a_wait_inside_of_a_wait_leaves_the_outer_wake_alone() {
        Parker::with_current(|outer| {
            outer.waker().wake_by_ref();
            Parker::with_current(|inner| assert!(!inner.take_wake()));
            assert!(outer.take_wake());
        });
    }

    #[test]
    fn the_parker_of_a_thread_is_made_once() {
        let first = Parker::with_current(|parker| Arc::as_ptr(&parker.unparker));
        let second = Parker::with_current(|parker| Arc::as_ptr(&parker.unparker));
        assert_eq!(first, second);
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::mutate;

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
