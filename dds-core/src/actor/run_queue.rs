//! Cells with mail left after a visitor has used up its budget. The driver runs them.
//!
//! Bound: each cell is in the queue at most once. Entries are weak. A cell with mail outside of the queue is a normal
//! state, so nothing is lost with the queue.

use super::{Capacity, Effects, Poke};
use crate::sync::{Lock, Process, Weak};
use std::collections::VecDeque;
use std::fmt;

/// Simulates other threads in the cells of a driver. A simulation on one thread has no real ones.
#[cfg(feature = "sim")]
pub(crate) trait Disturb: Send + Sync {
    /// Whether another visitor is inside a cell now, and leaves without seeing the newest mail.
    fn is_occupied(&self) -> bool;

    /// Amount of mail that a visitor serves before it leaves the rest.
    fn budget(&self, usual: usize) -> usize;

    /// Capacity of a new cell's inbox.
    fn capacity(&self, usual: Capacity) -> Capacity;
}

/// The queue between cells and the thread that runs them.
pub struct RunQueue {
    cells: Lock<VecDeque<Weak<dyn Poke>>>,
    kick: Box<dyn Fn() + Send + Sync>,
    process: Process,
    #[cfg(debug_assertions)]
    clock: Option<Box<dyn Fn() -> u64 + Send + Sync>>,
    #[cfg(feature = "sim")]
    disturb: Option<Box<dyn Disturb>>,
}

impl RunQueue {
    /// Creates a queue. `kick` notifies the serving thread when the queue becomes non-empty.
    ///
    /// A cell may call `kick` while it is held.
    #[must_use]
    pub fn new(kick: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            cells: Lock::default(),
            kick: Box::new(kick),
            process: Process::current(),
            #[cfg(debug_assertions)]
            clock: None,
            #[cfg(feature = "sim")]
            disturb: None,
        }
    }

    /// Sets the clock, in nanoseconds, that measures the holds of cells; see [`hold_times`](super::hold_times()).
    ///
    /// Without a clock, and in builds without debug assertions, holds are not measured.
    #[must_use]
    #[cfg_attr(not(debug_assertions), allow(unused_mut, reason = "there is no clock in such builds"))]
    pub fn measured_by(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        #[cfg(debug_assertions)]
        {
            self.clock = Some(Box::new(clock));
        }
        #[cfg(not(debug_assertions))]
        drop(clock);
        self
    }

    /// Reads that clock.
    #[cfg(all(debug_assertions, not(dds_loom)))]
    pub(super) fn nanos(&self) -> Option<u64> {
        let clock = self.clock.as_ref()?;
        Some(clock())
    }

    /// Creates a queue with simulated interference.
    #[cfg(feature = "sim")]
    pub(crate) fn disturbed(kick: impl Fn() + Send + Sync + 'static, disturb: Box<dyn Disturb>) -> Self {
        Self { disturb: Some(disturb), ..Self::new(kick) }
    }

    /// Whether a cell counts as occupied. Always false outside of a simulation.
    #[inline(always)]
    pub(super) fn is_occupied(&self) -> bool {
        #[cfg(feature = "sim")]
        if let Some(disturb) = &self.disturb {
            return disturb.is_occupied();
        }
        false
    }

    /// Budget of a visitor, `usual` outside of a simulation.
    #[inline(always)]
    pub(super) fn budget(&self, usual: usize) -> usize {
        #[cfg(feature = "sim")]
        if let Some(disturb) = &self.disturb {
            return disturb.budget(usual);
        }
        usual
    }

    /// Capacity of a new cell, `usual` outside of a simulation.
    pub(super) fn capacity(&self, usual: Capacity) -> Capacity {
        #[cfg(feature = "sim")]
        if let Some(disturb) = &self.disturb {
            return disturb.capacity(usual);
        }
        usual
    }

    /// Whether this is a child of the process that created the queue.
    pub(super) fn is_forked(&self) -> bool {
        self.process.is_left()
    }

    /// Adds a cell. The cell ensures that it is in the queue only once.
    pub(super) fn push(&self, cell: Weak<dyn Poke>) {
        let mut cells = self.cells.lock();
        cells.push_back(cell);
        let first = cells.len() == 1;
        drop(cells);
        // The serving thread empties the queue before it sleeps, so only the first entry needs a notification.
        if first {
            (self.kick)();
        }
    }

    /// Runs the oldest cell. Returns false if there was none.
    pub fn run_one(&self) -> bool {
        // The lock is free again: the cell may push itself while it runs.
        let Some(cell) = self.cells.lock().pop_front() else { return false };
        // A closed entity leaves a dead entry.
        if let Some(cell) = cell.upgrade() {
            Effects::scope(|effects| cell.resume(effects));
        }
        true
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.lock().is_empty()
    }
}

impl fmt::Debug for RunQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunQueue").finish_non_exhaustive()
    }
}
