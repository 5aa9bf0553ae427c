//! Blocking on top of async: a waker that unparks a thread, or rings a bell if the thread [polls](super::polling).

use super::{Arc, AtomicU32, Ordering};
use std::cell::Cell;
use std::task::{Wake, Waker};
use std::time::Duration;

#[cfg(dds_loom)]
use loom::thread::{self, Thread};
#[cfg(not(dds_loom))]
use std::thread::{self, Thread};

#[cfg(not(dds_loom))]
std::thread_local! {
    /// The parker of this thread, absent while a call waits.
    ///
    /// So a nested wait gets a parker of its own and does not consume the outer wake. The value has a destructor. While
    /// the thread ends, new parkers replace it.
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
    pub(super) unparker: Arc<Unparker>,
    waker: Waker,
}

/// The thread runs, or sleeps without a bell. A wake unparks it.
pub(super) const PARKING: u32 = 0;
/// The waker was called, and the thread has not consumed the wake yet.
pub(super) const WOKEN: u32 = 1;

#[derive(Debug)]
pub(super) struct Unparker {
    /// One of the states above, or one of the states of a thread that polls.
    pub(super) word: AtomicU32,
    thread: Thread,
    /// Set while the thread checks or polls.
    #[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
    pub(super) bell: super::Lock<Option<Arc<super::Bell>>>,
}

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Only the first wake needs a system call: later ones find `WOKEN`.
        match self.word.swap(WOKEN, Ordering::AcqRel) {
            PARKING => self.thread.unpark(),
            #[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
            super::polling::POLLING => self.ring(),
            _ => {}
        }
    }
}

impl Parker {
    /// Creates a parker of the calling thread.
    #[must_use]
    pub fn new() -> Self {
        let unparker = Arc::new(Unparker {
            word: AtomicU32::new(PARKING),
            thread: thread::current(),
            #[cfg(any(dds_loom, all(feature = "udp", target_os = "linux")))]
            bell: super::Lock::new(None),
        });
        let waker = Waker::from(Arc::clone(&unparker));
        Self { unparker, waker }
    }

    /// Calls `f` with the calling thread's own parker, which is created once.
    pub fn with_current<R>(f: impl FnOnce(&Self) -> R) -> R {
        // Taken, not borrowed: a nested wait on this thread finds no spare and creates a parker of its own.
        let parker = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let result = f(&parker);
        // While the thread ends there is no place to keep the parker, so it is dropped.
        let _ = SPARE.try_with(|spare| spare.set(Some(parker)));
        result
    }

    /// The waker that ends [`Parker::park`].
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Consumes an earlier wake. Returns whether there was one.
    pub fn take_wake(&self) -> bool {
        self.unparker.word.swap(PARKING, Ordering::AcqRel) == WOKEN
    }

    /// Sleeps until the waker is called or `timeout` has passed. Returns whether the waker was called.
    ///
    /// `None` means no limit. May return early without a wake.
    ///
    /// Only a [`Driver`](crate::driver::Driver) may call this, because no thread sleeps under a simulated one.
    #[allow(clippy::disallowed_methods, reason = "the one place where a thread parks")]
    pub fn park(&self, timeout: Option<Duration>) -> bool {
        // A wake between the check of the condition and this call must not be lost.
        if self.take_wake() {
            return true;
        }
        match timeout {
            None => thread::park(),
            #[cfg(not(dds_loom))]
            Some(timeout) => thread::park_timeout(timeout),
            // A model has no clock: the timeout may pass at any step.
            #[cfg(dds_loom)]
            Some(_) => thread::yield_now(),
        }
        self.take_wake()
    }
}

/// Shows other threads whether the waker of a [`Parker`] was called.
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
    /// Observes whether the waker was called, without consuming the wake.
    pub(crate) fn woken(&self) -> Woken {
        Woken(Arc::clone(&self.unparker))
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
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
