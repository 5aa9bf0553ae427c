//! Threads of the runtime, of which one at a time runs, and only when the world lets it.

use crate::sync::Woken;
use dds_rtps::sim::HostId;
use dds_rtps::types::Instant;
use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// The thread of a world that this one is. Empty on the application's own.
    static CURRENT: RefCell<Option<Arc<SimThread>>> = const { RefCell::new(None) };
}

/// A thread of the system that runs while it has the baton. The world gives it, and waits until it comes back.
#[derive(Debug)]
pub(super) struct SimThread {
    /// Which driver has made it.
    pub(super) driver: u64,
    pub(super) host: HostId,
    baton: Mutex<Baton>,
    passed: Condvar,
}

#[derive(Debug)]
enum Baton {
    /// The world has it, and may give it at any time.
    Ready,
    /// The thread has it.
    Running,
    /// The world has it, and gives it when the thread is woken or its time is up.
    Parked { woken: Woken, until: Option<Instant> },
    /// The thread has ended.
    Ended,
}

impl SimThread {
    pub(super) fn new(driver: u64, host: HostId) -> Arc<Self> {
        Arc::new(Self { driver, host, baton: Mutex::new(Baton::Ready), passed: Condvar::new() })
    }

    /// The one that the caller is, if it is one.
    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// Whether it would do something with the baton, at this time of its host.
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

    /// When it wants the baton, by the time of its host, if nobody wakes it before.
    pub(super) fn until(&self) -> Option<Instant> {
        match &*self.lock() {
            Baton::Parked { until, .. } => *until,
            _ => None,
        }
    }

    /// Gives it the baton, and waits until it comes back.
    pub(super) fn resume(&self) {
        let mut baton = self.lock();
        if matches!(&*baton, Baton::Running | Baton::Ended) {
            return;
        }
        *baton = Baton::Running;
        self.passed.notify_all();
        while matches!(&*baton, Baton::Running) {
            baton = self.passed.wait(baton).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The life of the thread, on itself: waits for the baton, does its work, gives the baton back for good.
    pub(super) fn live(self: Arc<Self>, body: impl FnOnce()) {
        let _ = CURRENT.try_with(|current| current.replace(Some(Arc::clone(&self))));
        self.wait_for_baton(self.lock());
        body();
        let _ = CURRENT.try_with(RefCell::take);
        *self.lock() = Baton::Ended;
        self.passed.notify_all();
    }

    /// Gives the baton back until the thread is woken, or until that time of its host; on the thread itself.
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
