//! Cells that want another turn, because a visitor's budget was used up before their mail was.
//!
//! Bound: a cell is in here at most once. Entries are weak, and a cell with mail that is in no queue is a normal state, so
//! nothing is lost with the queue.

use super::{Capacity, Effects, Poke};
use crate::sync::{Lock, Process, Weak};
use std::collections::VecDeque;
use std::fmt;

/// What a simulated world lets others do to the cells of a driver. On one thread nobody else ever does anything.
#[cfg(feature = "sim")]
pub(crate) trait Disturb: Send + Sync {
    /// Whether somebody is inside a cell just now, and leaves without having seen what came meanwhile.
    fn is_occupied(&self) -> bool;

    /// How much mail a visitor serves before it leaves the rest to others.
    fn budget(&self, usual: usize) -> usize;

    /// How much mail may wait in a new cell.
    fn capacity(&self, usual: Capacity) -> Capacity;
}

/// The queue between cells and the thread that gives them turns.
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
    /// `kick` tells the thread that serves the queue that it has become non-empty. It may be called inside a cell.
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

    /// Says by which clock, of nanoseconds, the holds of the cells are measured; see [`hold_times`](super::hold_times()). Without
    /// one they are not, nor in builds without debug assertions.
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

    /// What that clock says.
    #[cfg(all(debug_assertions, not(dds_loom)))]
    pub(super) fn nanos(&self) -> Option<u64> {
        self.clock.as_ref().map(|clock| clock())
    }

    /// A queue whose cells are disturbed.
    #[cfg(feature = "sim")]
    pub(crate) fn disturbed(kick: impl Fn() + Send + Sync + 'static, disturb: Box<dyn Disturb>) -> Self {
        Self { disturb: Some(disturb), ..Self::new(kick) }
    }

    /// Whether a cell must be taken for occupied. Never, outside of a simulation.
    #[inline(always)]
    pub(super) fn is_occupied(&self) -> bool {
        #[cfg(feature = "sim")]
        return self.disturb.as_ref().is_some_and(|disturb| disturb.is_occupied());
        #[cfg(not(feature = "sim"))]
        false
    }

    /// What a visitor may spend, of `usual`.
    #[inline(always)]
    pub(super) fn budget(&self, usual: usize) -> usize {
        #[cfg(feature = "sim")]
        return self.disturb.as_ref().map_or(usual, |disturb| disturb.budget(usual));
        #[cfg(not(feature = "sim"))]
        usual
    }

    /// How much mail a new cell has room for, of `usual`.
    pub(super) fn capacity(&self, usual: Capacity) -> Capacity {
        #[cfg(feature = "sim")]
        return self.disturb.as_ref().map_or(usual, |disturb| disturb.capacity(usual));
        #[cfg(not(feature = "sim"))]
        usual
    }

    /// Whether this is a child of the process in which the queue was made.
    pub(super) fn is_forked(&self) -> bool {
        self.process.is_left()
    }

    /// Asks for a turn. The cell sees to it that it does so once.
    pub(super) fn push(&self, cell: Weak<dyn Poke>) {
        let mut cells = self.cells.lock();
        cells.push_back(cell);
        let first = cells.len() == 1;
        drop(cells);
        if first {
            (self.kick)();
        }
    }

    /// Gives the oldest cell its turn; false if there was none.
    pub fn run_one(&self) -> bool {
        let Some(cell) = self.cells.lock().pop_front() else { return false };
        if let Some(cell) = cell.upgrade() {
            Effects::scope(|effects| cell.resume(effects));
        }
        true
    }

    /// Whether no cell waits for a turn.
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
