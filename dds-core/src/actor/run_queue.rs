//! Cells that want another turn, because a visitor's budget was used up before their mail was.
//!
//! Bound: a cell is in here at most once. Entries are weak, and a cell with mail that is in no queue is a normal state, so
//! nothing is lost with the queue.

use super::{Effects, Poke};
use crate::sync::{Lock, Weak};
use std::collections::VecDeque;
use std::fmt;

/// The queue between cells and the thread that gives them turns.
pub struct RunQueue {
    cells: Lock<VecDeque<Weak<dyn Poke>>>,
    kick: Box<dyn Fn() + Send + Sync>,
}

impl RunQueue {
    /// `kick` tells the thread that serves the queue that it has become non-empty. It may be called inside a cell.
    #[must_use]
    pub fn new(kick: impl Fn() + Send + Sync + 'static) -> Self {
        Self { cells: Lock::default(), kick: Box::new(kick) }
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
