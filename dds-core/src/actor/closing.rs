//! Closing the cell of an endpoint.

use crate::actor::{Actor, Cell, Effects};
use crate::sync::Arc;

/// An actor for which threads and futures wait.
pub(crate) trait Awaitable: Actor {
    /// Wakes all waiters, because the endpoint is gone.
    fn wake_all_waiters(&mut self, effects: &mut Effects);
}

/// Takes the state out of a cell and wakes its waiters.
///
/// Drops the state where no cell is held.
pub(crate) fn close_cell<A: Awaitable>(cell: &Arc<Cell<A>>) {
    let actor = Effects::scope(|effects| {
        let mut actor = cell.close(effects);
        if let Some(actor) = &mut actor {
            actor.wake_all_waiters(effects);
        }
        actor
    });
    // After the scope: the waiters run first, and see the entity closed.
    drop(actor);
}
