//! Threads of the runtime. One at a time runs, and only when the world resumes it.

use crate::sync::Woken;
use dds_rtps::sim::HostId;
use dds_rtps::types::Instant;
use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// The simulated thread that runs here. `None` on threads of the application.
    static CURRENT: RefCell<Option<Arc<SimThread>>> = const { RefCell::new(None) };
}

/// A system thread that runs only while it holds the baton.
///
/// The world hands over the baton and waits until it is returned.
#[derive(Debug)]
pub(super) struct SimThread {
    /// Identifier of the driver that created the thread.
    pub(super) driver: u64,
    pub(super) host: HostId,
    baton: Mutex<Baton>,
    passed: Condvar,
}

#[derive(Debug)]
enum Baton {
    /// The world holds the baton and may hand it over at any time.
    Ready,
    /// The thread holds the baton.
    Running,
    /// The world holds the baton. It hands it over when the thread is woken or `until` is reached.
    Parked { woken: Woken, until: Option<Instant> },
    /// The thread has ended.
    Ended,
}

impl SimThread {
    pub(super) fn new(driver: u64, host: HostId) -> Arc<Self> {
        Arc::new(Self { driver, host, baton: Mutex::new(Baton::Ready), passed: Condvar::new() })
    }

    /// Returns the simulated thread that the caller runs on, or `None`.
    pub(super) fn current() -> Option<Arc<Self>> {
        // While a thread ends, it has no thread-local and belongs to no driver any more.
        CURRENT.try_with(|current| current.borrow().clone()).ok()?
    }

    /// Returns whether the thread has work at `now`, a time of its host.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        match &*self.lock() {
            Baton::Ready => true,
            Baton::Parked { woken, until } => woken.is_set() || until.is_some_and(|until| until <= now),
            Baton::Running | Baton::Ended => false,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(&*self.lock(), Baton::Ended)
    }

    /// Returns when the thread continues without a wake-up, by the time of its host.
    pub(super) fn until(&self) -> Option<Instant> {
        match &*self.lock() {
            Baton::Parked { until, .. } => *until,
            _ => None,
        }
    }

    /// Hands over the baton and waits until it is returned.
    pub(super) fn resume(&self) {
        let mut baton = self.lock();
        // An ended thread would never return the baton.
        if matches!(&*baton, Baton::Running | Baton::Ended) {
            return;
        }
        *baton = Baton::Running;
        self.passed.notify_all();
        while matches!(&*baton, Baton::Running) {
            baton = self.passed.wait(baton).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs on the thread itself: waits for the baton, calls `body` and returns the baton for good.
    pub(super) fn live(self: Arc<Self>, body: impl FnOnce()) {
        let _ = CURRENT.try_with(|current| current.replace(Some(Arc::clone(&self))));
        self.wait_for_baton(self.lock());
        body();
        // From here on the thread does not belong to the world.
        let _ = CURRENT.try_with(RefCell::take);
        *self.lock() = Baton::Ended;
        self.passed.notify_all();
    }

    /// Returns the baton until the thread is woken or its host reaches `until`.
    ///
    /// Only the thread itself calls it.
    pub(super) fn park(&self, woken: Woken, until: Option<Instant>) {
        let mut baton = self.lock();
        *baton = Baton::Parked { woken, until };
        self.passed.notify_all();
        self.wait_for_baton(baton);
    }

    fn wait_for_baton(&self, mut baton: MutexGuard<'_, Baton>) {
        while !matches!(&*baton, Baton::Running) {
            baton = self.passed.wait(baton).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Baton> {
        self.baton.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
