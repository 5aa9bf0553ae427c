//! Fairness of streams: a stream that is always ready must let other tasks of its executor run.

use std::task::{Context, Poll, ready};
use tokio::task::coop;

/// Items that a stream returns in a row if the executor does not count.
///
/// Twice the budget that tokio gives a task in one turn. In tokio, tokio's own limit is reached first.
const IN_A_ROW_MAX: u16 = 256;

/// Polls, and counts the result against the budget that tokio gives a task for one turn.
///
/// All work of the task in this turn shares the budget. When it is used up, the task is woken after timers and sockets
/// were served. Outside of tokio nothing is counted: a future that is polled by hand has no turn.
pub(crate) fn poll_within_turn<T>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    // Pending here means that tokio has woken the task for its next turn.
    let turn = ready!(coop::poll_proceed(context));
    let found = ready!(poll(context));
    // A poll that found nothing gives its unit back, because `turn` is dropped without this call.
    turn.made_progress();
    Poll::Ready(found)
}

/// As [`poll_within_turn`] for a stream, with a counter of its own for other executors.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    in_a_row: u16,
}

impl Turn {
    pub(crate) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        debug_assert!(self.in_a_row <= IN_A_ROW_MAX, "a turn ends at the limit");
        if self.in_a_row == IN_A_ROW_MAX {
            // Another task of the executor may be waiting.
            self.in_a_row = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let found = poll_within_turn(context, poll);
        self.in_a_row = if found.is_ready() { self.in_a_row + 1 } else { 0 };
        found
    }
}
