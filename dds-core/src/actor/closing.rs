//! How the cell of an endpoint is closed.

use crate::actor::{Actor, Cell, Effects};
use crate::sync::Arc;

/// An actor that threads and futures wait for.
pub(crate) trait Awaitable: Actor {
    /// The endpoint is gone: whoever waits finds that out.
    fn wake_everybody(&mut self, effects: &mut Effects);
}

/// Takes the state out of a cell, lets whoever waits for it come back, and drops it where no cell is held.
pub(crate) fn close_cell<A: Awaitable>(cell: &Arc<Cell<A>>) {
    let actor = Effects::scope(|effects| {
        let mut actor = cell.close(effects);
        if let Some(actor) = &mut actor {
            actor.wake_everybody(effects);
        }
        actor
    });
    drop(actor);
}
