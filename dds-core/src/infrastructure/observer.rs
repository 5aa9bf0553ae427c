//! Who is told that something has happened to an entity beside its waiters and its listener: wait sets, event streams.
//!
//! An [`Observer`] is registered with the entity once and stays there. The entity tells it inside of its cell, where nothing
//! may be run: a bit is set, a number raised, and the one behind it poked after release.
//!
//! Bound: one observer for each attached condition and each event stream; a peer cannot make any.

use crate::actor::{Effects, Poke};
use crate::infrastructure::mark;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// One who wants to know.
pub(crate) struct Observer {
    /// Of which marks; shared with the condition, which may change it.
    interest: Arc<AtomicU32>,
    /// What has happened since it was last asked.
    marks: AtomicU32,
    /// Raised whenever something happens.
    version: AtomicU64,
    /// Poked whenever something happens.
    target: Weak<dyn Poke>,
}

impl Observer {
    pub(crate) fn new(interest: Arc<AtomicU32>, target: Weak<dyn Poke>) -> Arc<Self> {
        Arc::new(Self { interest, marks: AtomicU32::new(0), version: AtomicU64::new(1), target })
    }

    fn notify(&self, marks: u32, effects: &mut Effects) {
        let marks = marks & (self.interest.load(Ordering::Acquire) | mark::LOOK_AGAIN);
        if marks == 0 {
            return;
        }
        self.marks.fetch_or(marks, Ordering::AcqRel);
        self.version.fetch_add(1, Ordering::AcqRel);
        if let Some(target) = self.target.upgrade() {
            effects.poke(target);
        }
    }

    /// What has happened since this was last called.
    pub(crate) fn take_marks(&self) -> u32 {
        self.marks.swap(0, Ordering::AcqRel)
    }

    /// How often something has happened, plus 1.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// The observers of one entity, and which of its statuses have changed since they were last read. Part of its state.
#[derive(Default)]
pub(crate) struct Observers {
    list: Vec<Arc<Observer>>,
    changed: u32,
    closed: bool,
}

impl Observers {
    pub(crate) fn add(&mut self, observer: Arc<Observer>) {
        self.list.push(observer);
    }

    pub(crate) fn remove(&mut self, observer: &Arc<Observer>) {
        self.list.retain(|known| !Arc::ptr_eq(known, observer));
    }

    /// The entity is closed, though its cell may live on to drain.
    pub(crate) fn close(&mut self, effects: &mut Effects) {
        self.closed = true;
        self.notify(mark::LOOK_AGAIN, effects);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// A status has changed.
    #[inline]
    pub(crate) fn status_changed(&mut self, mark: u32, effects: &mut Effects) {
        self.changed |= mark;
        self.notify(mark, effects);
    }

    /// The application has read a status, or data.
    #[inline]
    pub(crate) fn status_read(&mut self, mark: u32) {
        self.changed &= !mark;
    }

    /// The statuses that have changed since they were last read.
    pub(crate) fn changed(&self) -> u32 {
        self.changed
    }

    /// Tells of something that is no change of a status.
    #[inline]
    pub(crate) fn notify(&self, mark: u32, effects: &mut Effects) {
        if !self.list.is_empty() {
            self.notify_all(mark, effects);
        }
    }

    fn notify_all(&self, mark: u32, effects: &mut Effects) {
        for observer in &self.list {
            observer.notify(mark, effects);
        }
    }
}

/// An entity that can be observed: its cell.
pub(crate) trait Observed: Send + Sync {
    /// Runs `visit` in the cell; false if the entity is closed.
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool;
}

/// The observers of an entity without a cell: a participant, a publisher, a subscriber.
#[derive(Default)]
pub(crate) struct Watched {
    observers: Mutex<Observers>,
}

impl Watched {
    /// Nothing is done under this lock but what [`Observers`] does itself.
    pub(crate) fn observers(&self) -> MutexGuard<'_, Observers> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entity is closed.
    pub(crate) fn close(&self) {
        Effects::scope(|effects| self.observers().close(effects));
    }
}

impl Observed for Watched {
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool {
        let mut observers = self.observers();
        let open = !observers.is_closed();
        if open {
            visit(&mut observers, effects);
        }
        open
    }
}
