//! Observers of an entity beside its waiters and its listener: wait sets and event streams.
//!
//! An entity registers an [`Observer`] once. It notifies the observer inside of its cell, where no other code may run.
//! It sets a bit, raises the version, and pokes the target after release.
//!
//! Bound: one observer for each attached condition and each event stream. A peer cannot create any.

use crate::actor::{Effects, Poke};
use crate::infrastructure::mark;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// An observer of the events of one entity.
pub(crate) struct Observer {
    /// The marks that it observes. Shared with the condition, which may change them.
    interest: Arc<AtomicU32>,
    /// Marks since the last `take_marks`.
    marks: AtomicU32,
    /// Raised by each event.
    version: AtomicU64,
    /// Poked after each event.
    target: Weak<dyn Poke>,
}

impl Observer {
    pub(crate) fn new(interest: Arc<AtomicU32>, target: Weak<dyn Poke>) -> Arc<Self> {
        Arc::new(Self { interest, marks: AtomicU32::new(0), version: AtomicU64::new(1), target })
    }

    fn notify(&self, marks: u32, effects: &mut Effects) {
        // `LOOK_AGAIN` passes every mask: it says that the mask or the entity itself has changed.
        let marks = marks & (self.interest.load(Ordering::Acquire) | mark::LOOK_AGAIN);
        if marks == 0 {
            return;
        }
        // The marks come before the version: a thread that sees the new version also sees them.
        self.marks.fetch_or(marks, Ordering::AcqRel);
        self.version.fetch_add(1, Ordering::AcqRel);
        if let Some(target) = self.target.upgrade() {
            effects.poke(target);
        }
    }

    /// Removes and returns the marks.
    pub(crate) fn take_marks(&self) -> u32 {
        self.marks.swap(0, Ordering::AcqRel)
    }

    /// Returns the number of events, plus 1.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// The observers of one entity, and its statuses that have changed since they were last read. Part of its state.
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

    /// Records that the entity is closed. Its cell may live on to drain.
    pub(crate) fn close(&mut self, effects: &mut Effects) {
        self.closed = true;
        // A wait set whose conditions are all closed ends with an error, so it must look.
        self.notify(mark::LOOK_AGAIN, effects);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Records and reports a changed status.
    #[inline]
    pub(crate) fn status_changed(&mut self, mark: u32, effects: &mut Effects) {
        self.changed |= mark;
        self.notify(mark, effects);
    }

    /// Records that the application has read a status or data.
    #[inline]
    pub(crate) fn status_read(&mut self, mark: u32) {
        // Reading resets the status for the condition, and leaves the marks of streams alone.
        self.changed &= !mark;
    }

    /// Returns the statuses that have changed since they were last read.
    pub(crate) fn changed(&self) -> u32 {
        self.changed
    }

    /// Reports an event that is not a change of a status.
    #[inline]
    pub(crate) fn notify(&self, mark: u32, effects: &mut Effects) {
        // Inlined on the path of a sample, where usually no observer exists.
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

/// An entity that can be observed, by its cell.
pub(crate) trait Observed: Send + Sync {
    /// Runs `visit` in the cell. Returns false if the entity is closed.
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool;
}

/// Adds an observer to an entity.
///
/// A closed entity changes no more, and the first look of the observer detects that.
pub(crate) fn observe(entity: Arc<dyn Observed>, observer: &Arc<Observer>) {
    Effects::scope(|effects| entity.with_observers(effects, &mut |observers, _| observers.add(Arc::clone(observer))));
}

/// Removes an observer from an entity. A closed entity has none.
pub(crate) fn stop_observing(entity: Arc<dyn Observed>, observer: &Arc<Observer>) {
    Effects::scope(|effects| entity.with_observers(effects, &mut |observers, _| observers.remove(observer)));
}

/// Reports an event that is not a change of a status to the observers of an entity.
pub(crate) fn notify_observers(entity: Arc<dyn Observed>, mark: u32) {
    Effects::scope(|effects| entity.with_observers(effects, &mut |observers, effects| observers.notify(mark, effects)));
}

/// The observers of an entity without a cell: a participant, a publisher, a subscriber.
#[derive(Default)]
pub(crate) struct Watched {
    observers: Mutex<Observers>,
}

impl Watched {
    /// Under this lock, only methods of [`Observers`] run.
    pub(crate) fn observers(&self) -> MutexGuard<'_, Observers> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the entity is closed.
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
